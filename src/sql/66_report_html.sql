---------------------------------------------------------------------------
-- The report: text, numbers, tables and pictures of HTML.
---------------------------------------------------------------------------

/*
 * Text as it may stand in an element or an attribute of a page, whatever is in it.
 *
 * The page is ASCII, so that it is the same whatever client_encoding it is written in; all
 * other characters are references by number.  Control characters become the pictures that
 * Unicode has of them; what would change the direction of the text after it, or cannot be
 * told, becomes a replacement character.
 */
CREATE FUNCTION _tiered_storage.report_escape(value text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	safe CONSTANT text := '[]A-Za-z0-9 !#$%()*+,./:;=?@^_`{|}~[-]';
	result text := '';
	letter text;
	code integer;
	u bytea;
BEGIN
	IF value IS NULL OR value COLLATE "C" !~ '[^]A-Za-z0-9 !#$%()*+,./:;=?@^_`{|}~[-]' THEN
		RETURN value;
	END IF;
	FOREACH letter IN ARRAY string_to_array(value, NULL) LOOP
		IF letter COLLATE "C" ~ safe THEN
			result := result || letter;
			CONTINUE;
		END IF;
		code := 65533;
		IF octet_length(letter) = 1 AND ascii(letter) < 128 OR getdatabaseencoding() = 'UTF8' THEN
			code := ascii(letter);
		ELSIF getdatabaseencoding() <> 'SQL_ASCII' THEN
			BEGIN
				u := convert_to(letter, 'UTF8');
				/* A character of another encoding may be two of Unicode. */
				code := CASE
					WHEN length(u) = 1 THEN get_byte(u, 0)
					WHEN length(u) = 2 AND get_byte(u, 0) >= 192
						THEN ((get_byte(u, 0) & 31) << 6) + (get_byte(u, 1) & 63)
					WHEN length(u) = 3 AND get_byte(u, 0) >= 224
						THEN ((get_byte(u, 0) & 15) << 12) + ((get_byte(u, 1) & 63) << 6)
							+ (get_byte(u, 2) & 63)
					WHEN length(u) = 4 AND get_byte(u, 0) >= 240
						THEN ((get_byte(u, 0) & 7) << 18) + ((get_byte(u, 1) & 63) << 12)
							+ ((get_byte(u, 2) & 63) << 6) + (get_byte(u, 3) & 63)
					ELSE 65533 END;
			EXCEPTION WHEN untranslatable_character OR character_not_in_repertoire
				OR undefined_function THEN
				code := 65533;
			END;
		END IF;
		result := result || '&#' || CASE WHEN code < 32 THEN 9216 + code
			WHEN code = 127 THEN 9249
			WHEN code BETWEEN 128 AND 159 OR code IN (1564, 8206, 8207, 65534, 65535)
				OR code BETWEEN 8232 AND 8238 OR code BETWEEN 8294 AND 8297 THEN 65533
			ELSE code END || ';';
	END LOOP;
	RETURN result;
END
$$;

/*
 * A number as people read it, with its unit; bytes, shares and times in a unit that suits them.
 *
 * Three digits or more.
 */
CREATE FUNCTION _tiered_storage.report_words(value float8, unit text DEFAULT '') RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	size float8 := abs(value);
	power integer := 0;
BEGIN
	IF starts_with(unit, 'bytes') THEN
		WHILE size >= 999.5 AND size < 'Infinity' AND power < 5 LOOP
			size := size / 1024;
			power := power + 1;
		END LOOP;
		unit := (ARRAY['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'])[power + 1] || substr(unit, 6);
	ELSIF unit = '%' THEN
		size := size * 100;
	ELSIF unit = 'ms' AND size >= 60000 THEN
		size := size / 60000;
		unit := 'min';
	ELSIF unit = 'ms' AND size >= 1000 THEN
		size := size / 1000;
		unit := 's';
	ELSIF unit = 'days' AND size BETWEEN 1e-9 AND 0.05 THEN
		size := size * 1440;
		unit := 'min';
	ELSIF unit = 'days' AND size BETWEEN 0.05 AND 2 THEN
		size := size * 24;
		unit := 'hours';
	END IF;
	RETURN CASE WHEN value < 0 THEN '&minus;' ELSE '' END || CASE
		WHEN value = 'NaN' THEN 'not a number'
		WHEN size = 'Infinity' THEN 'infinite'
		WHEN size < 1000 AND size = floor(size) THEN size::text
		WHEN size < 0.0005 THEN '&lt;0.001'
		WHEN size < 0.9995 THEN to_char(size::numeric, 'FM0.000')
		WHEN size < 9.995 THEN to_char(size::numeric, 'FM0.00')
		WHEN size < 99.95 THEN to_char(size::numeric, 'FM00.0')
		WHEN size < 1e15 THEN to_char(size::numeric, 'FM999,999,999,999,999,990')
		ELSE size::text END || CASE WHEN unit = '' THEN '' ELSE '&nbsp;' || unit END;
END
$$;

/*
 * A value in a page: html, n (HTML of a number), text, name, tier (with the class of each),
 * why, code, time; else a number with that unit, # for none; null: a dash, and words for screen
 * readers.
 *
 * Whoever chose the name of a relation must not choose how the text around it is read; and the
 * element of a number has the value itself, for whoever reads the page with a program.
 */
CREATE FUNCTION _tiered_storage.report_cell(value text, format text DEFAULT '#',
	classes jsonb DEFAULT NULL)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF value IS NULL OR format = 'time' AND NOT isfinite(value::timestamptz) THEN
		RETURN '<span aria-hidden="true">&ndash;</span><span class="sr">' || CASE
			WHEN format = 'tier' THEN 'no tier'
			WHEN format IN ('name', 'text', 'why', 'code', 'html') THEN 'none'
			ELSE 'not known' END || '</span>';
	END IF;
	RETURN CASE format
		WHEN 'html' THEN value
		WHEN 'n' THEN value
		WHEN 'text' THEN _tiered_storage.report_escape(value)
		WHEN 'name' THEN '<bdi>' || _tiered_storage.report_escape(value) || '</bdi>'
		WHEN 'tier' THEN '<span class="tier"><i class="' || COALESCE(classes ->> value, 'tx')
			|| '" aria-hidden="true"></i><bdi>' || _tiered_storage.report_escape(value)
			|| '</bdi></span>'
		WHEN 'why' THEN '<span class="why">' || _tiered_storage.report_escape(value) || '</span>'
		WHEN 'code' THEN '<code>' || _tiered_storage.report_escape(value) || '</code>'
		WHEN 'time' THEN format('<time datetime="%s">%s</time>',
			to_char(value::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
			to_char(value::timestamptz, 'YYYY-MM-DD HH24:MI:SS'))
		ELSE '<data value="' || value::float8 || '">' || _tiered_storage.report_words(
			value::float8, CASE format WHEN '#' THEN '' ELSE format END) || '</data>' END;
END
$$;

/*
 * A table in a page, which scrolls by itself where it is too wide; its columns as "head|key of
 * the rows|format", see report_cell().
 *
 * The first column is what the row is about.
 */
CREATE FUNCTION _tiered_storage.report_table(id text, caption text, columns text[], rows jsonb,
	classes jsonb DEFAULT NULL)
RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH col AS MATERIALIZED (
		SELECT c.n, p.part[1] AS head, p.part[2] AS key, COALESCE(p.part[3], '#') AS format,
			CASE WHEN p.part[3] IN ('html', 'text', 'name', 'tier', 'why', 'code', 'time')
				THEN '' ELSE ' class="n"' END AS class
		FROM unnest(columns) WITH ORDINALITY c (spec, n)
		CROSS JOIN LATERAL (SELECT string_to_array(c.spec, '|') AS part) p),
	line AS (
		SELECT r.n, string_agg(CASE WHEN c.n = 1 THEN '<th scope="row">' || v.cell || '</th>'
			ELSE '<td' || c.class || '>' || v.cell || '</td>' END, '' ORDER BY c.n) AS cells
		FROM jsonb_array_elements(NULLIF(rows, 'null')) WITH ORDINALITY r (entry, n)
		CROSS JOIN col c CROSS JOIN LATERAL (
			SELECT _tiered_storage.report_cell(r.entry ->> c.key, c.format, classes) AS cell) v
		GROUP BY r.n)
	SELECT format('<div class="scroll" tabindex="0" role="region" aria-labelledby="%s-caption">'
			|| E'<table id="%1$s">\n<caption id="%1$s-caption"><span>%s</span></caption>'
			|| '<thead><tr>', id, caption)
		|| (SELECT string_agg('<th scope="col"' || c.class || '>' || c.head || '</th>', ''
			ORDER BY c.n) FROM col c)
		|| E'</tr></thead><tbody>\n'
		|| COALESCE((SELECT string_agg('<tr>' || l.cells || E'</tr>\n', '' ORDER BY l.n)
			FROM line l), '')
		|| E'</tbody></table></div>\n'
$$;

/* What the colours of a picture mean: "class|text" for each. */
CREATE FUNCTION _tiered_storage.report_legend(entries text[]) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT '<figcaption class="legend">' || string_agg(CASE WHEN e.entry LIKE '%|%'
		THEN format('<span><i class="%s" aria-hidden="true"></i>%s</span>',
			split_part(e.entry, '|', 1), substr(e.entry, strpos(e.entry, '|') + 1))
		ELSE '<span>' || e.entry || '</span>' END, ' ' ORDER BY e.n) || '</figcaption>'
	FROM unnest(entries) WITH ORDINALITY e (entry, n)
$$;

/* A picture in a page, with what a screen reader says of it. */
CREATE FUNCTION _tiered_storage.report_figure(id text, title text, description text,
	height float8, drawing text, legend text[] DEFAULT NULL)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN
	format('<figure><div class="scroll" tabindex="0" role="region" aria-label="%1$s">'
		|| '<svg class="chart" role="img" aria-labelledby="%2$s-title %2$s-desc" '
		|| E'viewBox="0 0 960 %3$s">\n<title id="%2$s-title">%1$s</title>'
		|| E'<desc id="%2$s-desc">%4$s The numbers are in the table below.</desc>\n',
		title, id, height, description)
		|| drawing || '</svg></div>' || COALESCE(_tiered_storage.report_legend(legend), '')
		|| E'</figure>\n';

/* A text in a picture; the label is HTML. */
CREATE FUNCTION _tiered_storage.report_label(x float8, y float8, class text, label text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN format('<text x="%s" y="%s" class="%s">%s</text>', round(x::numeric, 1),
		round(y::numeric, 1), class, label);
END
$$;

/* A rectangle in a picture. */
CREATE FUNCTION _tiered_storage.report_bar(x float8, y float8, width float8, height float8,
	class text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN format('<rect x="%s" y="%s" width="%s" height="%s" class="%s"/>', round(x::numeric, 1),
		round(y::numeric, 1), round(GREATEST(width, 0)::numeric, 1), round(height::numeric, 1),
		class);
END
$$;

/*
 * A picture of rows with a name and lines, each of which has a note and parts, an amount for
 * each class; null: nothing but zeros.
 */
CREATE FUNCTION _tiered_storage.report_bars(id text, title text, description text, rows jsonb,
	legend text[])
RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH line AS MATERIALIZED (
		SELECT r.n, l.n AS line, r.entry ->> 'name' AS name, l.entry ->> 'note' AS note,
			l.entry -> 'parts' AS parts, b.high, 8 + 40 * (r.n - 1) + (l.n - 1) * b.high AS y,
			(SELECT sum(p.value::float8) FROM jsonb_each_text(l.entry -> 'parts') p) AS total
		FROM jsonb_array_elements(rows) WITH ORDINALITY r (entry, n)
		CROSS JOIN LATERAL (SELECT 28.0 / jsonb_array_length(r.entry -> 'lines') AS high) b
		CROSS JOIN LATERAL jsonb_array_elements(r.entry -> 'lines') WITH ORDINALITY l (entry, n)),
	part AS (
		SELECT l.*, p.key AS class, p.value::float8 AS amount, sum(p.value::float8) OVER (
			PARTITION BY l.n, l.line ORDER BY p.key) - p.value::float8 AS starts
		FROM line l CROSS JOIN jsonb_each_text(l.parts) p WHERE p.value IS NOT NULL)
	SELECT _tiered_storage.report_figure(id, title, description, 8 + 40 * max(l.n),
		(SELECT string_agg(_tiered_storage.report_bar(110 + 700 * p.starts / max(l.total), p.y,
			700 * p.amount / max(l.total), p.high - 2, p.class), '' ORDER BY p.n, p.line, p.class)
			FROM part p)
		|| string_agg(CASE WHEN l.line = 1 THEN _tiered_storage.report_label(0,
			26 + 40 * (l.n - 1), 'name', l.name) ELSE '' END
			|| _tiered_storage.report_label(950, l.y + l.high / 2 + 4, 'note end', l.note), ''
			ORDER BY l.n, l.line), legend)
	FROM line l HAVING max(l.total) > 0
$$;

/*
 * Round numbers from 0 to the most, for the scale of a picture.
 *
 * At most about five steps of 1, 2 or 5.
 */
CREATE FUNCTION _tiered_storage.report_ticks(most float8) RETURNS SETOF float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT n * s.step
	FROM (SELECT power(10, floor(log(most / 5))) AS unit WHERE most > 0 AND most < 'Infinity') u
	CROSS JOIN LATERAL (SELECT u.unit * CASE WHEN most / 5 / u.unit <= 1.0001 THEN 1
		WHEN most / 5 / u.unit <= 2.0001 THEN 2 WHEN most / 5 / u.unit <= 5.0001 THEN 5
		ELSE 10 END AS step) s
	CROSS JOIN LATERAL generate_series(0, floor(most / s.step + 1e-9)::integer) n
$$;

/* Round times of a period, for the scale of a picture. */
CREATE FUNCTION _tiered_storage.report_time_ticks(from_at timestamptz, to_at timestamptz,
	OUT at timestamptz, OUT share float8, OUT label text)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	WITH length AS (
		SELECT date_part('epoch', to_at) - date_part('epoch', from_at) AS s
		WHERE isfinite(from_at) AND isfinite(to_at) AND to_at > from_at),
	step AS (
		SELECT i.step, date_part('epoch', i.step) AS s, l.s AS length_s
		FROM length l
		CROSS JOIN unnest('{10 s,30 s,1 min,2 min,5 min,10 min,15 min,30 min,1 h,2 h,3 h,6 h,12 h,
			1 day,2 days,7 days,14 days,30 days,90 days,1 year,10 years}'::interval[]) i (step)
		WHERE l.s / date_part('epoch', i.step) <= CASE WHEN i.step = '10 years' THEN 100
			ELSE 8 END
		ORDER BY i.step LIMIT 1)
	SELECT t.at, (date_part('epoch', t.at) - date_part('epoch', from_at)) / s.length_s,
		to_char(t.at, CASE WHEN s.s < 60 THEN 'HH24:MI:SS'
			WHEN s.s < 86400 AND s.length_s > 86400 THEN 'DD Mon HH24:MI'
			WHEN s.s < 86400 THEN 'HH24:MI'
			WHEN s.s <= 2592000 THEN 'DD Mon' ELSE 'Mon YYYY' END)
	FROM step s
	CROSS JOIN LATERAL generate_series(date_trunc(CASE WHEN s.s < 3600 THEN 'hour' ELSE 'day' END,
		from_at), to_at, s.step) t (at)
	WHERE t.at >= from_at
$$;

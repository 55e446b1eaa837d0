---------------------------------------------------------------------------
-- The report: text, numbers and tables of HTML.
---------------------------------------------------------------------------

/*
 * The page is ASCII, so that it is the same whatever client_encoding it is written in; all
 * other characters are references by number.  Control characters become the pictures that
 * Unicode has of them; what would change the direction of the text after it, or cannot be
 * told, becomes a replacement character.
 */
CREATE FUNCTION _tiered_storage.report_code_point(letter text) RETURNS integer
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
	SET jit = off
AS $$
DECLARE
	code integer := 65533;
	u bytea;
BEGIN
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
	RETURN CASE WHEN code < 32 THEN 9216 + code
		WHEN code = 127 THEN 9249
		WHEN code BETWEEN 128 AND 159 OR code IN (1564, 8206, 8207, 65534, 65535)
			OR code BETWEEN 8232 AND 8238 OR code BETWEEN 8294 AND 8297 THEN 65533
		ELSE code END;
END
$$;
COMMENT ON FUNCTION _tiered_storage.report_code_point(text) IS
'the Unicode character that stands for one character in a page';

CREATE FUNCTION _tiered_storage.report_escape(value text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	IF value IS NULL OR value COLLATE "C" !~ '[^]A-Za-z0-9 !#$%()*+,./:;=?@^_`{|}~[-]' THEN
		RETURN value;
	END IF;
	RETURN (SELECT string_agg(CASE
			WHEN s.c COLLATE "C" ~ '[]A-Za-z0-9 !#$%()*+,./:;=?@^_`{|}~[-]' THEN s.c
			ELSE '&#' || _tiered_storage.report_code_point(s.c) || ';' END, '' ORDER BY s.n)
		FROM string_to_table(value, NULL) WITH ORDINALITY s (c, n));
END
$$;
COMMENT ON FUNCTION _tiered_storage.report_escape(text) IS
'text as it may stand in an element or an attribute of a page, whatever is in it';

CREATE FUNCTION _tiered_storage.report_none(what text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	RETURN '<span aria-hidden="true">&ndash;</span><span class="sr">' || what || '</span>';
END
$$;
COMMENT ON FUNCTION _tiered_storage.report_none(text) IS
'a dash in a page, and the words that a screen reader reads instead';

/* Whoever chose the name of a relation must not choose how the text around it is read. */
CREATE FUNCTION _tiered_storage.report_name(value text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	RETURN COALESCE('<bdi>' || _tiered_storage.report_escape(value) || '</bdi>',
		_tiered_storage.report_none('none'));
END
$$;
COMMENT ON FUNCTION _tiered_storage.report_name(text) IS
'a name in a page, apart from the text around it; null: none';

/* The shortest unambiguous form that fits into so many characters. */
CREATE FUNCTION _tiered_storage.report_shorten(value text, at_most integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT CASE WHEN length(value) <= at_most THEN value
		ELSE left(value, at_most / 2 - 1) || '...' || right(value, (at_most + 1) / 2 - 2) END
$$;
COMMENT ON FUNCTION _tiered_storage.report_shorten(text, integer) IS
'a text without its middle, if it is too long';

/* Three digits or more. */
CREATE FUNCTION _tiered_storage.report_digits(value float8) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
	SET extra_float_digits = 1
AS $$
DECLARE
	size float8 := abs(value);
BEGIN
	RETURN CASE WHEN value < 0 THEN '&minus;' ELSE '' END || CASE
		WHEN value = 'NaN' THEN 'not a number'
		WHEN size = 'Infinity' THEN 'infinite'
		WHEN size < 1000 AND size = floor(size) THEN size::text
		WHEN size < 0.0005 THEN '&lt;0.001'
		WHEN size < 0.9995 THEN to_char(size::numeric, 'FM0.000')
		WHEN size < 9.995 THEN to_char(size::numeric, 'FM0.00')
		WHEN size < 99.95 THEN to_char(size::numeric, 'FM00.0')
		WHEN size < 1e15 THEN to_char(size::numeric, 'FM999,999,999,999,999,990')
		ELSE size::text END;
END
$$;
COMMENT ON FUNCTION _tiered_storage.report_digits(float8) IS
'a number as people read it: three digits at least, thousands apart';

CREATE FUNCTION _tiered_storage.report_words(value float8, unit text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	size float8 := abs(value);
	power integer := 0;
BEGIN
	IF starts_with(unit, 'bytes') THEN
		WHILE size >= 999.5 AND size < 'Infinity' AND power < 5 LOOP
			size := size / 1000;
			power := power + 1;
		END LOOP;
		RETURN _tiered_storage.report_digits(size * sign(value)) || '&nbsp;'
			|| (ARRAY['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'])[power + 1] || substr(unit, 6);
	ELSIF unit = '%' THEN
		RETURN _tiered_storage.report_digits(value * 100) || '&nbsp;%';
	ELSIF unit = 'ms' AND size >= 60000 THEN
		RETURN _tiered_storage.report_digits(value / 60000) || '&nbsp;min';
	ELSIF unit = 'ms' AND size >= 1000 THEN
		RETURN _tiered_storage.report_digits(value / 1000) || '&nbsp;s';
	ELSIF unit = 'days' AND size BETWEEN 1e-9 AND 0.05 THEN
		RETURN _tiered_storage.report_digits(value * 1440) || '&nbsp;min';
	ELSIF unit = 'days' AND size BETWEEN 0.05 AND 2 THEN
		RETURN _tiered_storage.report_digits(value * 24) || '&nbsp;hours';
	END IF;
	RETURN _tiered_storage.report_digits(value)
		|| CASE WHEN unit = '' THEN '' ELSE '&nbsp;' || unit END;
END
$$;
COMMENT ON FUNCTION _tiered_storage.report_words(float8, text) IS
'a number with its unit; bytes, shares and times in a unit that suits them';

/* The element has the value itself, for whoever reads the page with a program. */
CREATE FUNCTION _tiered_storage.report_value(value float8, unit text DEFAULT '') RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
	SET extra_float_digits = 1
AS $$
BEGIN
	RETURN CASE WHEN value IS NULL THEN '<span class="none">'
			|| _tiered_storage.report_none('not known') || '</span>'
		ELSE '<data value="' || value || '">' || _tiered_storage.report_words(value, unit)
			|| '</data>' END;
END
$$;
COMMENT ON FUNCTION _tiered_storage.report_value(float8, text) IS
'a number in a page, with its unit; null: not known';

CREATE FUNCTION _tiered_storage.report_time(value timestamptz) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	RETURN CASE WHEN isfinite(value) THEN format('<time datetime="%s">%s</time>',
			to_char(value AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
			to_char(value, 'YYYY-MM-DD HH24:MI:SS'))
		ELSE _tiered_storage.report_none('not known') END;
END
$$;
COMMENT ON FUNCTION _tiered_storage.report_time(timestamptz) IS
'a time in a page, in the time zone of the session; null: not known';

/* The first cell is what the row is about. */
CREATE FUNCTION _tiered_storage.report_row(VARIADIC cells text[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	result text := '<tr><th scope="row">' || cells[1] || '</th>';
	cell text;
BEGIN
	FOREACH cell IN ARRAY cells[2:] LOOP
		result := result || CASE
			WHEN starts_with(cell, '<data') OR starts_with(cell, '<span class="none"')
				THEN '<td class="n">' || cell || '</td>'
			ELSE '<td>' || COALESCE(cell, _tiered_storage.report_none('none')) || '</td>' END;
	END LOOP;
	RETURN result || E'</tr>\n';
END
$$;
COMMENT ON FUNCTION _tiered_storage.report_row(text[]) IS
'a row of a table in a page; its cells are HTML';

CREATE FUNCTION _tiered_storage.report_table(id text, caption text, heads text[], rows text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT format('<div class="scroll" tabindex="0" role="region" aria-labelledby="%s-caption">'
			|| E'<table id="%1$s">\n<caption id="%1$s-caption">%s</caption><thead><tr>', id,
				caption)
		|| string_agg(CASE WHEN starts_with(h.head, '#')
			THEN '<th scope="col" class="n">' || substr(h.head, 2)
			ELSE '<th scope="col">' || h.head END || '</th>', '' ORDER BY h.n)
		|| E'</tr></thead><tbody>\n' || COALESCE(rows, '') || E'</tbody></table></div>\n'
	FROM unnest(heads) WITH ORDINALITY h (head, n)
$$;
COMMENT ON FUNCTION _tiered_storage.report_table(text, text, text[], text) IS
'a table in a page, which scrolls by itself where it is too wide; a head with # is that of '
'numbers';

CREATE FUNCTION _tiered_storage.report_figure(id text, title text, description text,
	width integer, height float8, drawing text, legend text DEFAULT '')
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT format('<figure><div class="scroll" tabindex="0" role="region" aria-label="%1$s">'
		|| '<svg class="chart" role="img" aria-labelledby="%2$s-title %2$s-desc" '
		|| E'viewBox="0 0 %3$s %4$s">\n<title id="%2$s-title">%1$s</title>'
		|| E'<desc id="%2$s-desc">%5$s</desc>\n',
		title, id, width, height, description)
		|| drawing || E'</svg></div>' || legend || E'</figure>\n'
$$;
COMMENT ON FUNCTION _tiered_storage.report_figure(
	text, text, text, integer, float8, text, text) IS
'a picture in a page, with what a screen reader says of it';

CREATE FUNCTION _tiered_storage.report_label(x float8, y float8, class text, label text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	RETURN format('<text x="%s" y="%s" class="%s">%s</text>', round(x::numeric, 1),
		round(y::numeric, 1), class, label);
END
$$;
COMMENT ON FUNCTION _tiered_storage.report_label(float8, float8, text, text) IS
'a text in a picture; the label is HTML';

CREATE FUNCTION _tiered_storage.report_bar(x float8, y float8, width float8, height float8,
	class text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	RETURN format('<rect x="%s" y="%s" width="%s" height="%s" class="%s"/>', round(x::numeric, 1),
		round(y::numeric, 1), round(GREATEST(width, 0)::numeric, 1), round(height::numeric, 1),
		class);
END
$$;
COMMENT ON FUNCTION _tiered_storage.report_bar(float8, float8, float8, float8, text) IS
'a rectangle in a picture';

CREATE FUNCTION _tiered_storage.report_legend(VARIADIC entries text[]) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT '<figcaption class="legend">' || string_agg(CASE WHEN e.entry LIKE '%|%'
		THEN format('<span><i class="%s" aria-hidden="true"></i>%s</span>',
			split_part(e.entry, '|', 1), substr(e.entry, strpos(e.entry, '|') + 1))
		ELSE '<span>' || e.entry || '</span>' END, ' ' ORDER BY e.n) || '</figcaption>'
	FROM unnest(entries) WITH ORDINALITY e (entry, n)
$$;
COMMENT ON FUNCTION _tiered_storage.report_legend(text[]) IS
'what the colours of a picture mean: "class|text" for each';

/* At most about five steps of 1, 2 or 5. */
CREATE FUNCTION _tiered_storage.report_ticks(most float8) RETURNS SETOF float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT n * s.step
	FROM (SELECT power(10, floor(log(most / 5))) AS unit WHERE most > 0 AND most < 'Infinity') u
	CROSS JOIN LATERAL (SELECT u.unit * CASE WHEN most / 5 / u.unit <= 1.0001 THEN 1
		WHEN most / 5 / u.unit <= 2.0001 THEN 2 WHEN most / 5 / u.unit <= 5.0001 THEN 5
		ELSE 10 END AS step) s
	CROSS JOIN LATERAL generate_series(0, floor(most / s.step + 1e-9)::integer) n
$$;
COMMENT ON FUNCTION _tiered_storage.report_ticks(float8) IS
'round numbers from 0 to the most, for the scale of a picture';

CREATE FUNCTION _tiered_storage.report_time_ticks(from_at timestamptz, to_at timestamptz,
	OUT at timestamptz, OUT share float8, OUT label text)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
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
COMMENT ON FUNCTION _tiered_storage.report_time_ticks(timestamptz, timestamptz) IS
'round times of a period, for the scale of a picture';

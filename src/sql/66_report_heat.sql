---------------------------------------------------------------------------
-- The report: activity of relations over time.
---------------------------------------------------------------------------

/*
 * The step of a logarithmic scale that a value is on; null: on none.
 *
 * Steps of 1, 3, 10, 30, ...: the number of the last one that is not above the value.
 */
CREATE FUNCTION _tiered_storage.report_heat_step(value float8) RETURNS integer
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	decade integer;
BEGIN
	IF value > 0 AND value < 'Infinity' THEN
		decade := floor(log(value) + 1e-9);
		RETURN 2 * decade + CASE WHEN value >= 2.99999 * power(10, decade) THEN 1 ELSE 0 END;
	END IF;
	RETURN NULL;
END
$$;

/*
 * The section about the activity of relations over time.
 *
 * Each class of a row is one path, which is a tenth of what a rectangle for each cell would
 * take.
 */
CREATE FUNCTION _tiered_storage.report_heat_map(facts jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH given AS (
		SELECT facts -> 'heat' AS heat,
			jsonb_array_length(facts #> '{heat,rows}') AS n_rows,
			NULLIF(facts #> '{heat,others}', 'null') AS others,
			(facts ->> 'from')::timestamptz AS from_at, (facts ->> 'to')::timestamptz AS to_at,
			date_part('epoch', (facts ->> 'from')::timestamptz) AS from_s,
			date_part('epoch', (facts ->> 'to')::timestamptz) AS to_s,
			(facts #>> '{heat,start_s}')::float8 AS start_s,
			620.0 / jsonb_array_length(facts #> '{heat,parts}') AS cell,
			620.0 / jsonb_array_length(facts #> '{heat,parts}')
				/ (facts #>> '{heat,width_s}')::float8 AS pixels_per_s, 330.0 AS x0, 19 AS high),
	part AS MATERIALIZED (
		SELECT (p ->> 'part')::integer AS part, (p ->> 'at')::timestamptz AS at,
			(p ->> 'hours')::float8 AS hours
		FROM given g CROSS JOIN jsonb_array_elements(g.heat -> 'parts') p),
	line AS MATERIALIZED (
		SELECT n AS place, r AS entry, r -> 'parts' AS parts
		FROM given g CROSS JOIN jsonb_array_elements(g.heat -> 'rows') WITH ORDINALITY x (r, n)
		UNION ALL
		SELECT g.n_rows + 1, g.others, g.others -> 'parts' FROM given g
			WHERE g.others IS NOT NULL),
	cell AS MATERIALIZED (
		SELECT l.place, p.part, c.value::float8 / p.hours AS per_hour,
			_tiered_storage.report_heat_step(c.value::float8 / p.hours) AS step
		FROM line l CROSS JOIN jsonb_each_text(NULLIF(l.parts, 'null')) c
		JOIN part p ON p.part = c.key::integer
		WHERE p.hours > 0),
	top AS (SELECT max(c.step) AS step FROM cell c),
	painted AS (
		SELECT k.place, string_agg(k.path, '' ORDER BY k.class) AS paths
		FROM (SELECT c.place, v.class, format('<path class="h%s" d="%s"/>', v.class,
				string_agg(format('M%s %sh%sv13h-%3$sz',
					round((g.x0 + c.part * g.cell)::numeric, 1), 27 + (c.place - 1) * g.high,
					round((g.cell - 0.6)::numeric, 1)), '' ORDER BY c.part)) AS path
			FROM cell c CROSS JOIN given g CROSS JOIN top t
			CROSS JOIN LATERAL (SELECT GREATEST(1, 7 - t.step + c.step) AS class) v
			GROUP BY c.place, v.class) k
		GROUP BY k.place),
	moved AS MATERIALIZED (
		SELECT l.place, m ->> 'from_tier' AS from_tier, m ->> 'to_tier' AS to_tier,
			date_part('epoch', (m ->> 'at')::timestamptz) AS at_s,
			(m ->> 'at')::timestamptz AS at
		FROM line l CROSS JOIN jsonb_array_elements(NULLIF(l.entry -> 'moved', 'null')) m),
	stay AS (
		SELECT l.place, l.entry ->> 'tier_name' AS tier_name, g.from_s AS begins_s,
			g.to_s AS ends_s
		FROM line l CROSS JOIN given g
		WHERE l.place <= g.n_rows AND NOT EXISTS (SELECT FROM moved m WHERE m.place = l.place)
		UNION ALL
		(SELECT DISTINCT ON (m.place) m.place, m.from_tier, g.from_s, m.at_s
		FROM moved m CROSS JOIN given g ORDER BY m.place, m.at_s)
		UNION ALL
		SELECT m.place, m.to_tier, m.at_s, COALESCE(lead(m.at_s) OVER (PARTITION BY m.place
			ORDER BY m.at_s), g.to_s)
		FROM moved m CROSS JOIN given g),
	strip AS (
		SELECT s.place, string_agg(_tiered_storage.report_bar(
			g.x0 + (GREATEST(s.begins_s, g.from_s) - g.start_s) * g.pixels_per_s,
			40 + (s.place - 1) * g.high, (LEAST(s.ends_s, g.to_s) - GREATEST(s.begins_s,
				g.from_s))
				* g.pixels_per_s, 3, COALESCE(facts -> 'classes' ->> s.tier_name, 'tx')), ''
			ORDER BY s.begins_s) AS bars
		FROM stay s CROSS JOIN given g
		WHERE LEAST(s.ends_s, g.to_s) > GREATEST(s.begins_s, g.from_s) GROUP BY s.place),
	diamond AS (
		SELECT m.place, string_agg(format('<path class="moved" d="M%s %sl5 5l-5 5l-5 -5z"/>',
			round((g.x0 + (m.at_s - g.start_s) * g.pixels_per_s)::numeric, 1),
			28.5 + (m.place - 1) * g.high), '' ORDER BY m.at_s) AS paths
		FROM moved m CROSS JOIN given g WHERE m.at_s < g.to_s GROUP BY m.place),
	named AS MATERIALIZED (
		SELECT l.place, l.entry, CASE WHEN l.place > g.n_rows THEN format('%s others',
				l.entry ->> 'relations')
			WHEN l.entry ->> 'name' ~ '^[0-9]+$' THEN format('dropped, OID %s',
				l.entry ->> 'name')
			ELSE l.entry ->> 'name' END AS name
		FROM line l CROSS JOIN given g),
	drawn AS (
		SELECT string_agg('<g><title>' || _tiered_storage.report_escape(n.name) || '</title>'
			|| _tiered_storage.report_bar(g.x0, 27 + (n.place - 1) * g.high, 620, 13, 'track')
			|| format('<text x="0" y="%1$s" class="name">%2$s</text><text x="262" y="%1$s" '
				|| 'class="name dim">%3$s</text>', 38 + (n.place - 1) * g.high,
				_tiered_storage.report_escape(CASE WHEN length(n.name) > 40
					THEN left(n.name, 19) || '...' || right(n.name, 18) ELSE n.name END),
				_tiered_storage.report_escape(CASE WHEN length(n.entry ->> 'tier_name') > 10
					THEN left(n.entry ->> 'tier_name', 4) || '...'
						|| right(n.entry ->> 'tier_name', 3) ELSE n.entry ->> 'tier_name' END))
			|| COALESCE(p.paths, '') || COALESCE(s.bars, '') || COALESCE(d.paths, '')
			|| E'</g>\n', '' ORDER BY n.place) AS rows
		FROM named n CROSS JOIN given g LEFT JOIN painted p USING (place)
		LEFT JOIN strip s USING (place) LEFT JOIN diamond d USING (place)),
	axis AS (
		SELECT string_agg(format('<path class="grid" d="M%s 20v%s"/>', x.x,
				6 + g.high * (SELECT count(*) FROM line))
			|| _tiered_storage.report_label(x.x, 13, CASE WHEN t.share > 0.94 THEN 'tick end'
				ELSE 'tick mid' END, t.label), '' ORDER BY t.at)
			AS ticks
		FROM given g CROSS JOIN _tiered_storage.report_time_ticks(g.from_at, g.to_at) t
		CROSS JOIN LATERAL (SELECT round((g.x0 + (date_part('epoch', t.at) - g.start_s)
			* g.pixels_per_s)::numeric, 1) AS x) x),
	unknown AS (
		SELECT string_agg(_tiered_storage.report_bar(g.x0 + (u.begins_s - g.start_s)
			* g.pixels_per_s, 24, (u.ends_s - u.begins_s) * g.pixels_per_s,
			g.high * (SELECT count(*) FROM line), 'unknown'), '') AS bars
		FROM given g CROSS JOIN LATERAL (SELECT (x ->> 'from_s')::float8 AS begins_s,
				(x ->> 'to_s')::float8 AS ends_s
			FROM jsonb_array_elements(facts -> 'unsampled') x) u
		WHERE u.ends_s > u.begins_s + 0.002 * (g.to_s - g.from_s)),
	scale AS (
		SELECT array_agg(format('h%s|%s', k.class, CASE WHEN k.class = 1 THEN '&lt; '
				|| v.label ELSE v.label END) ORDER BY k.class)
			|| ARRAY['moved|move', 'unknown|not sampled'] AS entries
		FROM top t CROSS JOIN generate_series(1, 7) k (class)
		CROSS JOIN LATERAL (SELECT GREATEST(2, k.class) + t.step - 7 AS step) s
		CROSS JOIN LATERAL (SELECT _tiered_storage.report_words(power(10::float8,
			floor(s.step / 2.0)) * CASE WHEN s.step % 2 = 0 THEN 1 ELSE 3 END) AS label) v),
	tier_scale AS (
		SELECT array_agg(format('%s line|%s', facts -> 'classes' ->> (t ->> 'tier_name'),
			_tiered_storage.report_cell(t ->> 'tier_name', 'name')) ORDER BY n) AS entries
		FROM jsonb_array_elements(facts -> 'tiers') WITH ORDINALITY x (t, n)),
	totals AS (
		SELECT jsonb_agg(n.entry || jsonb_build_object('name', n.name, 'per_hour',
			((n.entry ->> 'reads')::float8 + (n.entry ->> 'writes')::float8) / (g.to_s - g.from_s)
				* 3600, 'moved', (SELECT string_agg(format('%s to %s at %s',
					_tiered_storage.report_cell(m.from_tier, 'name'),
					_tiered_storage.report_cell(m.to_tier, 'name'),
					_tiered_storage.report_cell(m.at::text, 'time')), ', ' ORDER BY m.at)
				FROM moved m WHERE m.place = n.place AND m.at_s < g.to_s)) ORDER BY n.place)
			AS rows
		FROM named n CROSS JOIN given g),
	numbers AS (
		SELECT jsonb_agg(jsonb_build_object('name', n.name) || (SELECT jsonb_object_agg(p.part,
				CASE WHEN p.hours > 0 THEN COALESCE(_tiered_storage.report_words(c.per_hour), '0')
				END)
			FROM part p LEFT JOIN cell c ON c.part = p.part AND c.place = n.place)
			ORDER BY n.place) AS rows
		FROM named n)
	SELECT _tiered_storage.report_figure('heat-map', 'Activity of the busiest relations over '
			'time',
			'One row for each relation, time from left to right; the darker or brighter a cell, '
			'the more blocks per hour.', 30 + g.high * (SELECT count(*) FROM line),
			COALESCE((SELECT a.ticks FROM axis a), '') || (SELECT d.rows FROM drawn d)
				|| COALESCE((SELECT u.bars FROM unknown u), ''),
			ARRAY['Blocks per hour from'] || s.entries || t.entries)
		|| '<details><summary>The numbers of this picture</summary>'
		|| _tiered_storage.report_table('heat-table', 'The busiest relations in the period',
			'{Relation|name|name,Kind|kind|text,Tier now|tier_name|tier,Size|size_bytes|bytes,
				Blocks read|reads,Pages written|writes,Blocks per hour|per_hour,Moved|moved|html}',
			(SELECT t.rows FROM totals t), facts -> 'classes')
		|| _tiered_storage.report_table('heat-numbers', 'Blocks per hour over time, each column '
			'from the time at its head on', ARRAY['Relation|name|name'] || (SELECT array_agg(
				format('%s|%s|n', to_char(p.at, 'DD Mon HH24:MI'), p.part) ORDER BY p.part)
				FROM part p), (SELECT n.rows FROM numbers n))
		|| '</details>'
	FROM given g CROSS JOIN scale s CROSS JOIN tier_scale t WHERE g.n_rows > 0
$$;

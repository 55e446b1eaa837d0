-- The files of docs/monitoring against the views that they are about: each column once, as a
-- label if it is text, a counter if it is called so, and described as in the catalog.
SET client_min_messages = warning;
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION tiered_storage;
SELECT plan(9);

CREATE TEMP VIEW wanted AS
	SELECT regexp_replace(c.relname, '^(.*)_metrics$', 'tiered_storage_\1') AS query, c.relname, a.attname,
		CASE WHEN a.atttypid = 'text'::regtype THEN 'LABEL' WHEN a.attname ~ '_total$' THEN 'COUNTER' ELSE 'GAUGE' END AS usage,
		regexp_replace(col_description(c.oid, a.attnum), '^label: ', '') AS help
	FROM pg_class c
	JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
	WHERE c.relnamespace = 'tiered_storage'::regnamespace AND c.relname ~ '_metrics$';
SELECT is(count(DISTINCT query), 4::bigint, 'there are four views') FROM wanted;

\set file `cat docs/monitoring/postgres_exporter.yml`
CREATE TEMP TABLE postgres_exporter AS
	SELECT split_part(part, ':', 1) AS query, m[1] AS attname, m[2] AS usage, replace(m[3], '''''', '''') AS help
	FROM regexp_split_to_table(:'file', '\n(?=tiered_storage_)') part,
		regexp_matches(part, '\n    - (\w+):\n        usage: (\w+)\n        description: ''([^\n]+)''', 'g') m;
SELECT bag_eq('SELECT query, attname, usage FROM postgres_exporter WHERE attname <> ''datname''', 'SELECT query, attname::text, usage FROM wanted',
	'postgres_exporter: the columns, and what they are');
SELECT is_empty('SELECT w.query, w.attname FROM wanted w JOIN postgres_exporter e ON e.query = w.query AND e.attname = w.attname AND e.help <> w.help',
	'postgres_exporter: their descriptions');
SELECT is(count(*), 4::bigint, 'postgres_exporter: each row says of which database it is') FROM postgres_exporter WHERE attname = 'datname' AND usage = 'LABEL';

\set file `cat docs/monitoring/sql_exporter.yml`
CREATE TEMP TABLE sql_exporter AS
	SELECT split_part(part, E'\n', 1) AS query, l[1] AS part_name, unnest(regexp_split_to_array(btrim(regexp_replace(l[2], '\n +- ', ' ', 'g')), ' ')) AS attname, part
	FROM regexp_split_to_table(:'file', '\n      - name: ') part, regexp_matches(part, '\n        (labels|values):((?:\n          - \w+)+)', 'g') l;
SELECT bag_eq('SELECT query, attname, part_name FROM sql_exporter',
	$$ SELECT query, attname::text, CASE usage WHEN 'LABEL' THEN 'labels' ELSE 'values' END FROM wanted $$, 'sql_exporter: the columns, and what they are');

-- Alerts and the dashboard name nothing that does not exist.
\set alerts `cat docs/monitoring/alerts.yml`
\set dashboard `cat docs/monitoring/grafana.json`
CREATE TEMP TABLE used AS SELECT DISTINCT source, m[1] AS metric
	FROM (VALUES ('alerts', :'alerts'), ('dashboard', :'dashboard')) f(source, content), regexp_matches(content, '\m(tiered_storage_[a-z_]+)', 'g') m;
SELECT is_empty('SELECT source, metric FROM used EXCEPT SELECT s, query || ''_'' || attname FROM wanted, (VALUES (''alerts''), (''dashboard'')) v(s)',
	'alerts and dashboard use metrics that exist');
SELECT ok(count(*) FILTER (WHERE source = 'alerts') > 5 AND count(*) FILTER (WHERE source = 'dashboard') > 8, 'and some of them') FROM used;

-- The long view has the values of the others.
SELECT isnt_empty('SELECT FROM tiered_storage.metrics', 'there are metrics');
SELECT is_empty($$ SELECT m.metric FROM tiered_storage.metrics m EXCEPT SELECT query || '_' || attname FROM wanted WHERE usage <> 'LABEL' $$,
	'of these columns');

SELECT * FROM finish();
ROLLBACK;

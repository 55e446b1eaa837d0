-- The files of docs/monitoring against the view metrics: each metric once, with its labels, a counter if it is called
-- so, and described as there.
SET client_min_messages = warning;
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION tiered_storage;
SELECT plan(9);

CREATE TABLE tap_relation AS SELECT 1 AS i;
CALL tiered_storage.sample();
CREATE TEMP TABLE wanted AS
	SELECT DISTINCT 'tiered_storage_' || split_part(m.name, '_', 1) AS query, substr(m.name, strpos(m.name, '_') + 1) AS attname,
		CASE WHEN m.name ~ '_total$' THEN 'COUNTER' ELSE 'GAUGE' END AS usage, m.help
	FROM _tiered_storage.metric_values() m
	UNION ALL
	SELECT DISTINCT 'tiered_storage_' || split_part(m.name, '_', 1), k, 'LABEL', NULL
	FROM _tiered_storage.metric_values() m, jsonb_object_keys(m.labels) k;
SELECT is(count(DISTINCT query), 4::bigint, 'there are four kinds of labels') FROM wanted;

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

-- All of it is in the view, but for what is not known.
SELECT isnt_empty('SELECT FROM tiered_storage.metrics', 'there are metrics');
SELECT is_empty($$ SELECT m.name, lower(w.usage) FROM tiered_storage.metrics m LEFT JOIN wanted w ON m.name = w.query || '_' || w.attname
	WHERE m.kind IS DISTINCT FROM lower(w.usage) OR m.help IS DISTINCT FROM w.help $$, 'of these kinds');

SELECT * FROM finish();
ROLLBACK;

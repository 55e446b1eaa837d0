-- An error of a user's mistake has no CONTEXT of ours: each function is called with each wrong value of each argument.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
SET client_min_messages = error;
CREATE TABLESPACE regress_x_slow LOCATION '';
SELECT tiered_storage.add_tier('regress_a', 'pg_default', profile => 'nvme'),
	tiered_storage.add_tier('regress_b', 'regress_x_slow', profile => 'hdd_7200') \g /dev/null
CREATE TABLE regress_x (i int PRIMARY KEY);
CREATE VIEW regress_x_view AS SELECT 1;
CREATE TABLE regress_x_parent (i int) PARTITION BY RANGE (i);
CREATE SEQUENCE regress_x_sequence;

-- The error of a statement; of its context only what is ours: functions, and statements beneath the one that is given.
CREATE FUNCTION pg_temp.error(statement text, OUT message text, OUT ours text) LANGUAGE plpgsql AS $$
DECLARE
	context text;
BEGIN
	EXECUTE statement;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT, message = MESSAGE_TEXT;
	IF context ~ 'function _?tiered_storage\.|(^|\n)SQL function "' OR regexp_count(context, '(^|\n)SQL statement "') > 1 THEN
		ours := context;
	END IF;
END
$$;

CREATE TEMP TABLE wrong (type text, value text);
INSERT INTO wrong SELECT t, unnest(v) FROM (VALUES
	('regclass', '{0::oid::regclass,999999::oid::regclass,''regress_x_view'',''regress_x_parent'',''regress_x_sequence'',''pg_class''}'::text[]),
	('name', '{''nosuch'',''''}'),
	('text', ARRAY['''nosuch''', '''''', '''{pg_default''']),
	('name[]', ARRAY['''{nosuch}''', '''{}''', '''{NULL}''']),
	('text[]', ARRAY['''{nosuch}''', '''{}''', '''{NULL}''']),
	('regclass[]', ARRAY['''{}''', 'ARRAY[0::oid::regclass]', 'ARRAY[NULL::regclass]', 'ARRAY[''regress_x_view''::regclass]']),
	('integer', '{-1,0,2147483647}'),
	('bigint', '{-1,9223372036854775807}'),
	('double precision', '{-1,''NaN'',''Infinity''}'),
	('numeric', '{-1,''NaN'',1e30}'),
	('interval', '{''-1 day'',''178000000 years''}'),
	('timestamp with time zone', '{''infinity'',''-infinity'',''1000-01-01''}'),
	('time without time zone', '{''24:00''}'),
	('boolean', '{}'),
	('jsonb', ARRAY['''[]''', '''1''', '''{"x": 1}''', '''{"regress_a": 1}''', '''{"regress_a": {"x": 1}}''',
		'''{"regress_a": {"random_read_ms": "abc"}}''', '''{"random_read_ms": "abc"}''', '''{"price_per_gb_month": "abc"}''',
		'''{"fsync_ms": "abc"}''', '''{"no_writes_for": "abc"}''', '''{"time_zone": "abc"}''', '''{"below_reads_per_hour": "abc"}''',
		'''{"include_indexes": "abc"}''', '''{"move_after": "abc"}''', '''{"low_watermark": "abc"}''', '''{"capacity_bytes": -1}'''])) w (t, v);
INSERT INTO wrong SELECT DISTINCT type, 'NULL' FROM wrong UNION ALL VALUES ('boolean', 'NULL');

-- What the other arguments are that have no default.
CREATE TEMP TABLE valid (name text, value text);
INSERT INTO valid VALUES ('relation', '''regress_x'''), ('tier', '''regress_b'''), ('target', '''regress_a'''), ('name', '''regress_a'''),
	('tablespaces', '''regress_x_slow'''), ('profile', '''regress_profile'''), ('device', '''{"random_read_ms": 1}'''), ('days', '''{mon}'''),
	('starts', '''22:00'''), ('ends', '''23:00'''), ('conninfo', '''host=/nowhere'''), ('from1', 'now() - interval ''2 hours'''),
	('to1', 'now() - interval ''1 hour'''), ('from2', 'now() - interval ''1 hour'''), ('to2', 'now()'), ('query', '''SELECT 1'''),
	('max_seconds', '0.1'), ('max_bytes', '8388608');

-- Procedures commit, so that they cannot be called here; they are written in C, and have no context.
CREATE TEMP TABLE statement AS
	WITH argument AS (
		SELECT p.oid, p.proname, p.proretset, a.name, format_type(a.type, NULL) AS type,
			a.n > p.pronargs - p.pronargdefaults AND p.proname <> 'calibrate_tier' AS has_default
		FROM pg_proc p, unnest(p.proargnames[:p.pronargs], p.proargtypes::oid[]) WITH ORDINALITY a (name, type, n)
		WHERE p.pronamespace = 'tiered_storage'::regnamespace AND p.prokind = 'f' AND p.pronargs > 0)
	SELECT format(CASE WHEN b.proretset THEN 'SELECT * FROM tiered_storage.%I(%s)' ELSE 'SELECT tiered_storage.%I(%s)' END, b.proname,
		concat_ws(', ', (SELECT string_agg(format('%I => %s', o.name, v.value), ', ') FROM argument o JOIN valid v ON v.name = o.name
			WHERE o.oid = b.oid AND o.name <> b.name AND NOT o.has_default), format('%I => %s', b.name, w.value))) AS statement
	FROM argument b JOIN wrong w ON w.type = b.type;
CREATE TEMP TABLE refused AS SELECT s.statement, e.* FROM statement s, pg_temp.error(s.statement) e WHERE e.message IS NOT NULL;
\set ECHO all
SELECT statement, message, ours FROM refused WHERE ours IS NOT NULL ORDER BY statement;
SELECT count(*) > 200 AS many, count(DISTINCT substring(statement FROM 'tiered_storage\.\w+')) > 25 AS of_many_functions FROM refused;
-- A function of the caller has its line.
\set ECHO none
CREATE FUNCTION regress_x_asks() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM * FROM tiered_storage.explain_placement('regress_x_view');
END
$$;
\set SHOW_CONTEXT errors
\set ECHO all
SELECT * FROM tiered_storage.explain_placement('regress_x_view');
SELECT regress_x_asks();
CALL tiered_storage.move_relation('regress_x_view', 'regress_b');
CALL tiered_storage.apply_placement(tiers => '{nosuch}');
CALL tiered_storage.undo_move(99);
CALL tiered_storage.migrate(NULL);
\set ECHO none
\set SHOW_CONTEXT never
DROP FUNCTION regress_x_asks();
DROP TABLE regress_x, regress_x_parent;
DROP VIEW regress_x_view;
DROP SEQUENCE regress_x_sequence;
DROP EXTENSION tiered_storage CASCADE;
DROP TABLESPACE regress_x_slow;

-- Pins: what stays on a tier, and what that means for advice, policies and moves.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
CREATE TABLESPACE regress_ts_fast LOCATION '';
CREATE TABLESPACE regress_ts_fast_too LOCATION '';
CREATE TABLESPACE regress_ts_slow LOCATION '';
CREATE TABLESPACE regress_ts_nowhere LOCATION '';
SET client_min_messages = warning;
DO $$
BEGIN
	PERFORM tiered_storage.add_tier('regress_fast', '{regress_ts_fast,regress_ts_fast_too}', profile => 'nvme', rank => 0, reserve_fraction => 0, price_per_gb_month => 1000000,
	device => '{"compressed": false}');
	PERFORM tiered_storage.add_tier('regress_slow', '{regress_ts_slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, price_per_gb_month => 100000,
	device => '{"compressed": false}');
END
$$;
RESET client_min_messages;
SET tiered_storage.test_now = '2030-01-01 00:00:00+00';
SET tiered_storage.cooldown = 0;
CREATE SCHEMA regress_pin;
SET search_path = regress_pin;

-- Hot tables are slow, cold ones fast; indexes are elsewhere than their tables.
CREATE TABLE cold (a text) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE INDEX cold_i ON cold (left(a, 1)) TABLESPACE regress_ts_slow;
CREATE TABLE hot (a text) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE INDEX hot_i ON hot (left(a, 1)) TABLESPACE regress_ts_slow;
CREATE MATERIALIZED VIEW "Mat ""V" TABLESPACE regress_ts_fast AS SELECT 1 AS a;
CREATE TABLE measure (at date NOT NULL) PARTITION BY RANGE (at);
CREATE TABLE measure_old PARTITION OF measure FOR VALUES FROM ('2010-01-01') TO ('2020-01-01') PARTITION BY RANGE (at);
CREATE TABLE m_2010 PARTITION OF measure_old FOR VALUES FROM ('2010-01-01') TO ('2011-01-01')
	TABLESPACE regress_ts_fast;
CREATE TABLE m_2011 PARTITION OF measure_old FOR VALUES FROM ('2011-01-01') TO ('2012-01-01')
	TABLESPACE regress_ts_fast;
CREATE INDEX m_2010_i ON m_2010 (at) TABLESPACE regress_ts_fast;
CREATE TABLE parent (a int) TABLESPACE regress_ts_fast;
CREATE TABLE child () INHERITS (parent) TABLESPACE regress_ts_fast;
INSERT INTO measure SELECT '2010-06-01'::date FROM generate_series(1, 1000);
INSERT INTO measure SELECT '2011-06-01'::date FROM generate_series(1, 1000);
DO $$
DECLARE
	r text;
BEGIN
	FOREACH r IN ARRAY '{cold,hot}'::text[] LOOP
		EXECUTE format('ALTER TABLE %s ALTER a SET STORAGE PLAIN', r);
		EXECUTE format('INSERT INTO %s SELECT repeat(''x'', 7000) FROM generate_series(1, 10)', r);
	END LOOP;
END
$$;
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
CREATE PROCEDURE regress_heat(since timestamptz DEFAULT '2029-12-01') LANGUAGE sql AS $$
	-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks; rows as a dump
	-- or another machine has left them.
	UPDATE _tiered_storage.relation_state SET evidence_interval_s = 0, heat_at = '2030-01-01 00:00:00+00',
		observed_since = '2020-01-01', sampled_since = since,
		random_fast = 0, random_slow = 0, sequential_fast = 0, sequential_slow = 0, sequential_low_slow = 0,
			sequential_high_slow = 0,
		hits_slow = 0, scans_slow = 0, changes_fast = 0, changes_slow = 0,
		device_random_fast = 0, device_random_slow = 0, device_sequential_fast = 0, device_sequential_slow = 0;
	UPDATE _tiered_storage.relation_state SET random_fast = 20000, random_slow = 20000, device_random_fast = 20000,
		device_random_slow = 20000
		WHERE relation_oid IN ('hot'::regclass, 'hot_i'::regclass);
$$;
CALL regress_heat();
CREATE VIEW advice AS
	SELECT relation, current_tier, recommended_tier, confidence FROM tiered_storage.recommend_placement()
	WHERE relation::text !~ 'm_20|child|parent|Mat' ORDER BY relation::text COLLATE "C";
CREATE VIEW pins AS
	SELECT relation, relation_name, tier_name, until, include_indexes, pinned_by = current_user AS mine,
		pinned_at > now() - interval '1 day' AS today,
		relations, is_on_tier, is_expired FROM _tiered_storage.pins ORDER BY relation_name COLLATE "C";
CREATE VIEW pinned AS
	SELECT tier_name, pinned_as, current_tier, is_on_tier, string_agg(relation::text, ', '
		ORDER BY relation::text COLLATE "C") AS relations
	FROM _tiered_storage.pinned_relations GROUP BY 1, 2, 3, 4 ORDER BY 1, 2::text COLLATE "C", 3;
CREATE VIEW places AS
	SELECT t.tier_name, string_agg(c.relname, ', ' ORDER BY c.relname COLLATE "C") AS relations FROM pg_class c LEFT
		JOIN _tiered_storage.tier_tablespaces t ON t.tablespace_oid = c.reltablespace
	WHERE c.relnamespace = 'regress_pin'::regnamespace AND c.relname ~ '^m_|cold|hot' AND c.relkind IN ('r', 'i', 'm')
	GROUP BY 1 ORDER BY 1;
SELECT * FROM advice;

\echo '-- Where it is now'

\echo '-- The index is elsewhere, and stays there by a pin of its own.'
SELECT tiered_storage.pin('cold') \g /dev/null
SELECT * FROM pins;
SELECT * FROM pinned;
SELECT * FROM advice;
SELECT regexp_replace(reason, '^.*cached\)', '...') AS reason FROM tiered_storage.recommend_placement(true)
	WHERE relation = 'cold'::regclass;
\echo '-- Without them.'
SELECT tiered_storage.pin('hot', include_indexes => false) \g /dev/null
SELECT * FROM advice;
SELECT tier_name, is_recommended, regexp_replace(reason, '^.*;', '...;') AS reason
	FROM _tiered_storage.explain_placement('hot');
\echo '-- A new index belongs to it only if the others do.'
CREATE INDEX hot_new ON hot (length(a)) TABLESPACE regress_ts_slow;
CREATE INDEX cold_new ON cold (length(a)) TABLESPACE regress_ts_slow;
SELECT * FROM pinned;
DROP INDEX hot_new, cold_new;
-- That they were built counts as an event, whenever the counters come.
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
CALL regress_heat();
\echo '-- Kinds of relation.'
SELECT tiered_storage.pin('"Mat ""V"'), tiered_storage.pin('m_2010_i'), tiered_storage.pin('parent') \g /dev/null
SELECT * FROM pins;
\echo '-- Children by inheritance are tables of their own.'
SELECT relation FROM _tiered_storage.pinned_relations WHERE relation IN ('parent'::regclass, 'child'::regclass);
SELECT tiered_storage.unpin('"Mat ""V"'), tiered_storage.unpin('m_2010_i'), tiered_storage.unpin('parent'),
	tiered_storage.unpin('hot'), tiered_storage.unpin('cold') \g /dev/null
SELECT count(*) FROM _tiered_storage.pin;

\echo '-- Elsewhere'

\echo '-- What a person says needs no observation; nothing else is sent to a slower tier so soon.'
CALL regress_heat('2029-12-31 23:00:00+00');
SELECT * FROM advice;
SELECT tiered_storage.pin('cold', 'regress_slow', '2099-01-01') \g /dev/null
SELECT * FROM pins;
SELECT relation, current_tier, recommended_tier, confidence, regexp_replace(reason, '^.*;', '...;') AS reason, command
	FROM tiered_storage.recommend_placement() WHERE relation::text ~ 'cold';
SELECT tier_name, is_recommended, regexp_replace(reason, '^.*;', '...;') AS reason
	FROM _tiered_storage.explain_placement('cold');
\echo '-- Where there is no room for it, it stays.'
SELECT tiered_storage.alter_tier('regress_slow', device => '{"capacity_bytes": 8192}') \g /dev/null
SELECT relation, current_tier, recommended_tier, confidence, regexp_replace(reason, '^.*cached\)', '...') AS reason
	FROM tiered_storage.recommend_placement(true) WHERE relation = 'cold'::regclass;
SELECT tiered_storage.alter_tier('regress_slow', device => '{"capacity_bytes": null}') \g /dev/null
\echo '-- The statement is complete.'
SELECT command FROM tiered_storage.recommend_placement() WHERE relation = 'cold'::regclass \gexec
SELECT * FROM pins;
SELECT * FROM advice;
\echo '-- Another pin replaces it, and what its indexes have of their own.'
SELECT tiered_storage.pin('cold_i', 'regress_fast') \g /dev/null
SELECT * FROM pinned;
SELECT tiered_storage.pin('cold', 'regress_fast', 'infinity', false) \g /dev/null
SELECT * FROM pinned;
SELECT tiered_storage.pin('cold', 'regress_fast', '2099-01-01', true) \g /dev/null
SELECT * FROM pinned;
SELECT * FROM pins;
SELECT tiered_storage.unpin('cold', true) \gset
\echo '-- An expired one does nothing, and a sample forgets it.'
SELECT tiered_storage.pin('cold', 'regress_fast', now() + interval '1 day') \g /dev/null
SELECT * FROM pinned;
UPDATE _tiered_storage.pin SET until = now() - interval '1 second';
SELECT relation, tier_name, relations, is_on_tier, is_expired FROM _tiered_storage.pins;
SELECT * FROM pinned;
SELECT count(*) FROM advice WHERE relation = 'cold'::regclass;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT count(*) FROM _tiered_storage.pin;
CALL regress_heat();

\echo '-- Partitioned tables'

SELECT tiered_storage.pin('measure') \g /dev/null
SELECT * FROM pins;
SELECT * FROM pinned;
\echo '-- Those of the future, too, on whatever level.'
CREATE TABLE m_2012 PARTITION OF measure_old FOR VALUES FROM ('2012-01-01') TO ('2013-01-01')
	TABLESPACE regress_ts_slow;
CREATE TABLE m_2020 (at date NOT NULL);
ALTER TABLE measure ATTACH PARTITION m_2020 FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
SELECT * FROM pins;
SELECT * FROM pinned;
\echo '-- The nearest pin counts, then its own.'
SELECT tiered_storage.pin('measure_old', 'regress_slow'), tiered_storage.pin('m_2011', 'regress_fast') \g /dev/null
SELECT * FROM pinned;
SELECT relation, relations, is_on_tier FROM pins;
ALTER TABLE measure_old DETACH PARTITION m_2010;
SELECT * FROM pinned;
ALTER TABLE measure_old ATTACH PARTITION m_2010 FOR VALUES FROM ('2010-01-01') TO ('2011-01-01');
SELECT tiered_storage.unpin('measure'), tiered_storage.unpin('measure_old'), tiered_storage.unpin('m_2011') \g /dev/null
\echo '-- On several tiers: which?'
\set VERBOSITY default
SELECT tiered_storage.pin('measure_old') \g /dev/null
DROP TABLE m_2012, m_2020;
ALTER INDEX m_2010_i SET TABLESPACE regress_ts_slow;
SELECT tiered_storage.pin('measure_old') \g /dev/null
SELECT tiered_storage.pin('measure_old', include_indexes => false) \g /dev/null
SELECT * FROM pinned;
SELECT tiered_storage.unpin('measure_old') \gset
ALTER INDEX m_2010_i SET TABLESPACE regress_ts_fast;
\echo '-- Without partitions it is where these would be made.'
CREATE TABLE none (at date NOT NULL) PARTITION BY RANGE (at) TABLESPACE regress_ts_slow;
SELECT tiered_storage.pin('none') \g /dev/null
SELECT * FROM pins;
DROP TABLE none;

\echo '-- Policies'

\set VERBOSITY terse
-- The size in its NOTICE depends on the major version.
SET client_min_messages = warning;
SELECT tiered_storage.add_tiering_policy('measure', '1 year', 'regress_slow') \g /dev/null
RESET client_min_messages;
SELECT tiered_storage.pin('m_2010') \g /dev/null
SELECT relation, verdict, to_tier, reason FROM _tiered_storage.evaluate_policies() ORDER BY relation::text COLLATE "C";
SELECT tiered_storage.pin('m_2011', include_indexes => false) \g /dev/null
CALL tiered_storage.migrate(dry_run => true);
CALL tiered_storage.migrate();
SELECT last_due, last_on_target, last_result FROM _tiered_storage.policies;
SELECT count(*) AS moves FROM _tiered_storage.moves;
\echo '-- Its table may go, its index stays.'
SELECT tiered_storage.unpin('m_2010'), tiered_storage.pin('m_2010_i') \g /dev/null
CALL tiered_storage.migrate();
SELECT relation, verdict, reason FROM _tiered_storage.evaluate_policies() ORDER BY relation::text COLLATE "C";
SELECT * FROM places;
\echo '-- A pin to the tier of the policy is none in its way.'
SELECT tiered_storage.pin('m_2011', 'regress_slow'), tiered_storage.unpin('m_2010_i') \g /dev/null
CALL tiered_storage.migrate();
SELECT * FROM places;
SELECT last_due, last_on_target, last_result FROM _tiered_storage.policies;
SELECT tiered_storage.remove_policy('measure') \g /dev/null
SELECT tiered_storage.unpin('m_2011') \gset

\echo '-- Moves by hand'

\set VERBOSITY default
SELECT tiered_storage.pin('hot') \g /dev/null
CALL tiered_storage.move_relation('hot', 'regress_fast');
\echo '-- It is its own pin, however names are quoted.'
SET quote_all_identifiers = on;
CALL tiered_storage.move_relation('hot', 'regress_fast');
RESET quote_all_identifiers;
CALL tiered_storage.move_relation('hot_i', 'regress_fast');
CALL tiered_storage.move_relation('hot', 'regress_slow', index_target => 'regress_fast');
CALL tiered_storage.move_relation('hot', 'regress_ts_nowhere');
CALL tiered_storage.move_relation('measure', 'regress_slow');
SELECT tiered_storage.pin('measure') \g /dev/null
CALL tiered_storage.move_relation('m_2010', 'regress_fast');
CALL tiered_storage.move_relation('measure', 'regress_fast');
SELECT tiered_storage.unpin('m_2010') \g /dev/null
SELECT tiered_storage.unpin('measure') \gset
\echo '-- Within the tier it may.'
SELECT tiered_storage.pin('cold', 'regress_fast', include_indexes => false) \g /dev/null
CALL tiered_storage.move_relation('cold', 'regress_ts_fast_too', include_indexes => false);
SELECT c.relname, s.spcname FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace
	WHERE c.oid = 'cold'::regclass;
SELECT * FROM places;
\echo '-- By ALTER it goes; then the advice is to move it back.'
ALTER TABLE cold SET TABLESPACE regress_ts_slow;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT relation, current_tier, recommended_tier, confidence FROM advice WHERE relation = 'cold'::regclass;
\echo '-- What was moved before it was pinned is not moved back.'
\set VERBOSITY terse
CALL tiered_storage.apply_placement();
SELECT * FROM places;
SELECT tiered_storage.unpin('cold'), tiered_storage.pin('cold') \g /dev/null
SELECT max(batch_id) AS batch FROM _tiered_storage.moves \gset
CALL tiered_storage.undo_move(:batch);
SELECT * FROM places;
SELECT state, error FROM _tiered_storage.moves WHERE reason ~ 'undo';
\set VERBOSITY default

\echo '-- Names'

SELECT tiered_storage.unpin(relation) FROM _tiered_storage.pins WHERE relation_name !~ '_i$' \g /dev/null
SELECT tiered_storage.pin('cold', 'regress_fast', include_indexes => false), tiered_storage.pin('hot',
	include_indexes => false) \g /dev/null
ALTER TABLE hot RENAME TO "Hot ""T";
ALTER TABLE cold RENAME TO hot;
SELECT relation, relation_name, tier_name FROM pins;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT schema_name, relation_name, tier_name FROM _tiered_storage.pin ORDER BY 2;
ALTER TABLE hot RENAME TO cold;
ALTER TABLE "Hot ""T" RENAME TO hot;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
\echo '-- A pin goes with its table; another one of that name is not adopted.'
CREATE TABLE hot_copy (a text);
INSERT INTO hot_copy TABLE hot;
DROP TABLE hot;
CREATE TABLE hot (a text) TABLESPACE regress_ts_slow;
SELECT relation, relation_name, relations, is_on_tier FROM pins;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT relation_name FROM _tiered_storage.pin;
DROP TABLE hot;
ALTER TABLE hot_copy RENAME TO hot;
CREATE INDEX hot_i ON hot (length(a));

\echo '-- Tiers'

SELECT tiered_storage.remove_tier('regress_fast');
SELECT tiered_storage.alter_tier('regress_fast', new_name => 'regress_faster') \g /dev/null
SELECT relation, tier_name FROM pins;
SELECT tiered_storage.alter_tier('regress_faster', new_name => 'regress_fast') \g /dev/null
\echo '-- Expired pins, and those of what does not exist, do not keep a tier.'
SET client_min_messages = warning;
SELECT tiered_storage.add_tier('regress_more', '{regress_ts_nowhere}', profile => 'nvme', reserve_fraction => 0,
	device => '{"compressed": false}') \g /dev/null
CREATE TABLE gone (a int);
SELECT tiered_storage.pin('gone', 'regress_more'), tiered_storage.pin('child', 'regress_more',
	now() + interval '1 day') \g /dev/null
RESET client_min_messages;
DROP TABLE gone;
UPDATE _tiered_storage.pin SET until = now() - interval '1 second' WHERE relation_name = 'child';
SELECT tiered_storage.remove_tier('regress_more') \gset
SELECT relation FROM pins;

\echo '-- Refused'

-- A tier that has lost its only tablespace.
CREATE TABLESPACE regress_ts_gone LOCATION '';
SET client_min_messages = warning;
SELECT tiered_storage.add_tier('regress_empty', '{regress_ts_gone}', profile => 'hdd_7200', reserve_fraction => 0,
	device => '{"compressed": false}') \g /dev/null
DROP TABLESPACE regress_ts_gone;
RESET client_min_messages;
-- Sizes in the details differ from version to version.
\set VERBOSITY terse
SELECT count(*) AS advised FROM tiered_storage.recommend_placement();
\set VERBOSITY default
CREATE VIEW v AS SELECT 1;
CREATE SEQUENCE s;
CREATE INDEX measure_i ON measure (at);
CREATE FOREIGN DATA WRAPPER regress_fdw;
CREATE SERVER regress_server FOREIGN DATA WRAPPER regress_fdw;
CREATE FOREIGN TABLE f (a int) SERVER regress_server;

SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.pin(NULL)
SELECT tiered_storage.unpin(NULL)
SELECT tiered_storage.pin(0)
SELECT tiered_storage.unpin(0)
SELECT tiered_storage.pin('nothing')
SELECT tiered_storage.pin('cold', 'nothing')
SELECT tiered_storage.pin('cold', '')
SELECT tiered_storage.pin('cold', 'regress_empty')
SELECT tiered_storage.pin('cold', until => now())
SELECT tiered_storage.pin('cold', until => '2000-01-01')
SELECT tiered_storage.pin('cold', until => '-infinity')
SELECT tiered_storage.pin('hot')
SELECT tiered_storage.pin('v')
SELECT tiered_storage.unpin('v')
SELECT tiered_storage.pin('s')
SELECT tiered_storage.pin('measure_i')
SELECT tiered_storage.pin('f')
SELECT tiered_storage.pin('pg_class')
$refused$);
CREATE TEMP TABLE t (a int);
DO $$
BEGIN
	PERFORM tiered_storage.pin('t');
EXCEPTION WHEN wrong_object_type THEN
	RAISE NOTICE '%', regexp_replace(SQLERRM, '[0-9]+', 'N');
END
$$;
DO $$
BEGIN
	PERFORM tiered_storage.pin(reltoastrelid::regclass) FROM pg_class WHERE oid = 'regress_pin.cold'::regclass;
EXCEPTION WHEN wrong_object_type THEN
	RAISE NOTICE '%', regexp_replace(SQLERRM, '[0-9]+', 'N');
END
$$;
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.unpin('hot')
SELECT tiered_storage.unpin('hot_i')
$refused$);
SELECT tiered_storage.pin('m_2010') \g /dev/null
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.unpin('m_2010_i')
SELECT tiered_storage.unpin('m_2010', include_indexes => false)
$refused$);
SELECT tiered_storage.unpin('m_2010') \gset
CREATE UNLOGGED TABLE unlogged (a int) TABLESPACE regress_ts_slow;
SELECT tiered_storage.pin('unlogged') \g /dev/null
SELECT relation, tier_name, is_on_tier FROM pins;

\echo '-- By whom?'
CREATE ROLE regress_pinner;
GRANT USAGE ON SCHEMA tiered_storage, regress_pin TO regress_pinner;
SET ROLE regress_pinner;
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.pin('cold')
SELECT tiered_storage.unpin('cold')
$refused$);
RESET ROLE;
GRANT EXECUTE ON FUNCTION tiered_storage.pin, tiered_storage.unpin TO regress_pinner;
SET ROLE regress_pinner;
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.pin('child')
SELECT tiered_storage.unpin('cold')
$refused$);
RESET ROLE;
ALTER TABLE child OWNER TO regress_pinner;
SET ROLE regress_pinner;
\echo '-- Where it is needs no right there; elsewhere does.'
SELECT tiered_storage.pin('child') \g /dev/null
SELECT tiered_storage.pin('child', 'regress_slow') \g /dev/null
RESET ROLE;
SELECT relation, pinned_by FROM _tiered_storage.pins WHERE relation = 'child'::regclass;
GRANT CREATE ON TABLESPACE regress_ts_slow TO regress_pinner;
SET ROLE regress_pinner;
SELECT tiered_storage.pin('child', 'regress_slow') \g /dev/null
SELECT tiered_storage.unpin('child') \gset
RESET ROLE;
\echo '-- A pin outlives who made it.'
SELECT tiered_storage.pin('child', include_indexes => false) \g /dev/null
SET ROLE regress_pinner;
SELECT tiered_storage.pin('child') \g /dev/null
RESET ROLE;
ALTER TABLE child OWNER TO CURRENT_USER;
REVOKE ALL ON TABLESPACE regress_ts_slow FROM regress_pinner;
REVOKE ALL ON FUNCTION tiered_storage.pin, tiered_storage.unpin FROM regress_pinner;
REVOKE ALL ON SCHEMA tiered_storage, regress_pin FROM regress_pinner;
DROP ROLE regress_pinner;
SELECT relation, tier_name, pinned_by FROM _tiered_storage.pins WHERE relation = 'child'::regclass;
SELECT tiered_storage.unpin('child') \gset

\echo '-- Nothing of it in a transaction that is rolled back.'
BEGIN;
SELECT tiered_storage.pin('child') \g /dev/null
ROLLBACK;
SELECT count(*) FROM pins WHERE relation = 'child'::regclass;

SET client_min_messages = warning;
RESET search_path;
DROP SCHEMA regress_pin CASCADE;
DROP FOREIGN DATA WRAPPER regress_fdw CASCADE;
DROP TABLE t;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_fast_too;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_nowhere;

-- Which tables would gain by being partitioned, by what, and how.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
SET extra_float_digits = 0;

SET client_min_messages = warning;
-- Prices with which a block of 8192 bytes costs 8.192, 0.8192 and 0.08192 a month.
SELECT tiered_storage.alter_tier('regress_fast', price_per_gb_month => 1000000),
	tiered_storage.alter_tier('regress_slow', price_per_gb_month => 100000),
	tiered_storage.alter_tier('regress_cheap', price_per_gb_month => 10000);
\set ECHO none
RESET client_min_messages;

-- One row to a block, so that the n-th row is in the n-th block.
CREATE FUNCTION regress_make(name text, blocks int, keys text, tablespace name DEFAULT 'regress_ts_fast') RETURNS void
	LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %I (at timestamptz, id bigint, day date, filler text) WITH (autovacuum_enabled = off) TABLESPACE %I', name, tablespace);
	EXECUTE format('ALTER TABLE %I ALTER filler SET STORAGE PLAIN', name);
	EXECUTE format('INSERT INTO %I (at, id, day, filler) SELECT %s, repeat(''x'', 6000) FROM generate_series(1, %s) i ORDER BY i', name, keys, blocks);
	EXECUTE format('ANALYZE %I', name);
END
$$;
-- Its blocks leave shared buffers with its files, and some come back.
CREATE FUNCTION regress_cache(name text, first_block int, last_block int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	home name := (SELECT spcname FROM pg_tablespace s JOIN pg_class c ON c.reltablespace = s.oid
		WHERE c.oid = name::regclass);
	found bigint;
BEGIN
	EXECUTE format('ALTER TABLE %s SET TABLESPACE pg_default', name::regclass);
	EXECUTE format('ALTER TABLE %s SET TABLESPACE %I', name::regclass, home);
	EXECUTE format('SELECT count(*) FROM %s WHERE ctid >= ''(%s,0)'' AND ctid < ''(%s,0)''', name::regclass,
		first_block, last_block + 1) INTO found;
	RETURN found;
END
$$;
\set ECHO all

SELECT regress_make('regress_t', 2000, $$'2020-01-01 00:00+00'::timestamptz + i * interval '1 day', i * 1000, NULL$$);
SELECT regress_make('regress_t shuffled', 200,
	$$'2020-01-01 00:00+00'::timestamptz + i * 7919 % 200 * interval '1 day',
	i * 7919 % 200, NULL$$);
SELECT regress_make('regress_t_spread', 200, $$'2020-01-01 00:00+00'::timestamptz + i * interval '1 day', i, NULL$$);
SELECT regress_make('regress_t_number', 400, $$NULL, i * 25, CASE WHEN i % 10 > 0 THEN '2020-01-01'::date + i END$$);
SELECT regress_make('regress_t_back', 200, $$NULL, NULL, '2020-01-01'::date - i$$, 'regress_ts_cheap');
SELECT regress_make('regress_t_short', 200, $$'2020-01-01 00:00+00'::timestamptz + i * interval '1 second', NULL,
	NULL$$);
SELECT regress_make('regress_t_few', 200, $$NULL, i % 2, '2020-01-01'::date + i / 40$$);
SELECT regress_make('regress_t_cold', 200, $$NULL, i, NULL$$);
SELECT regress_make('regress_t_unknown', 200, $$NULL, i, NULL$$);
DELETE FROM pg_statistic WHERE starelid = 'regress_t_unknown'::regclass;
SELECT regress_make('regress_t_small', 20, $$NULL, i, NULL$$);
CREATE TABLE regress_parent (id int) PARTITION BY RANGE (id);
CREATE TABLE regress_parent_1 PARTITION OF regress_parent FOR VALUES
	FROM (0) TO (1000000) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
INSERT INTO regress_parent SELECT i FROM generate_series(1, 50000) i;
CALL tiered_storage.sample();
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks.
UPDATE _tiered_storage.relation_state SET observed_since = now() - interval '1 year';

-- What it looks at: the cached blocks of each part.
SELECT regress_cache('regress_t', 1890, 1999);
SELECT * FROM _tiered_storage.hot_range('regress_t');

SELECT regress_cache('"regress_t shuffled"', 190, 199);
SELECT regress_cache('regress_t_spread', 0, 199);
SELECT regress_cache('regress_t_number', 100, 109);
SELECT regress_cache('regress_t_back', 190, 199);
SELECT regress_cache('regress_t_short', 190, 199);
SELECT regress_cache('regress_t_few', 190, 199);
SELECT regress_cache('regress_t_cold', 0, 0);
SELECT regress_cache('regress_t_unknown', 190, 199);
SELECT regress_cache('regress_t_small', 19, 19);
-- What cannot be partitioned in place is said instead of the command.
ALTER TABLE regress_t_number REPLICA IDENTITY FULL;
\x on
SELECT * FROM _tiered_storage.recommend_partitioning(min_size_bytes => 100 * 8192);
\x off
SELECT relation, hot_fraction, key_column, partition_interval, confidence, reason
	FROM _tiered_storage.recommend_partitioning(100 * 8192, include_all => true)
	WHERE cold_bytes IS NULL ORDER BY relation::text COLLATE "C";
-- One that is scanned from end to end has no cold part, whatever is cached.
BEGIN;
UPDATE _tiered_storage.relation_state SET observed_since = now() - interval '1 year', heat_at = now(),
	sequential_fast = 2500, sequential_slow = 2500, device_sequential_fast = 2500, device_sequential_slow = 2500
	WHERE relation_oid = 'regress_t'::regclass;
SELECT command IS NULL AS none, reason
	FROM _tiered_storage.recommend_partitioning(100 * 8192, include_all => true) WHERE relation = 'regress_t'::regclass;
ROLLBACK;
-- By default large ones only.
SELECT count(*) FROM _tiered_storage.recommend_partitioning();
\set ECHO none
BEGIN;
SET LOCAL client_min_messages = error;
CREATE TABLE regress_plain (at date NOT NULL, v int) WITH (autovacuum_enabled = off);
CREATE TABLE regress_obstacles (id int PRIMARY KEY, at date, up int REFERENCES regress_obstacles, v int,
	EXCLUDE USING btree (v WITH =), CHECK (v > 0) NO INHERIT) WITH (autovacuum_enabled = off);
ALTER TABLE regress_obstacles REPLICA IDENTITY FULL;
ALTER TABLE regress_obstacles ALTER v SET STATISTICS 10;
ALTER INDEX regress_obstacles_pkey SET (fillfactor = 50);
ALTER TABLE regress_obstacles ADD CONSTRAINT regress_not_valid CHECK (up > 0) NOT VALID;
CREATE RULE regress_rule AS ON DELETE TO regress_obstacles DO ALSO NOTHING;
CREATE FUNCTION regress_trigger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER regress_transition AFTER INSERT ON regress_obstacles REFERENCING NEW TABLE AS n
	FOR EACH STATEMENT EXECUTE FUNCTION regress_trigger();
CREATE TABLE regress_obstacles_old (o regress_obstacles);
CREATE CONSTRAINT TRIGGER regress_from AFTER INSERT ON regress_obstacles_old FROM regress_obstacles
	FOR EACH ROW EXECUTE FUNCTION regress_trigger();
CREATE VIEW regress_only AS SELECT id FROM ONLY regress_obstacles;
CREATE PUBLICATION regress_published FOR TABLE regress_obstacles;
CREATE TABLE regress_name_of_more_than_forty_bytes_in_all_x (at date) WITH (autovacuum_enabled = off);
CREATE INDEX regress_name_of_an_index_that_has_more_than_59_bytes_in_all_xxx ON regress_obstacles (at);
CREATE TABLE regress_above (at date NOT NULL) WITH (autovacuum_enabled = off);
CREATE TABLE regress_inherits () INHERITS (regress_above) WITH (autovacuum_enabled = off);
SELECT * FROM pg_temp.refused($refused$
SELECT * FROM _tiered_storage.recommend_partitioning(NULL)
SELECT * FROM _tiered_storage.recommend_partitioning(-1)
SELECT tiered_storage.partitioning_script(NULL, 'at', '1 month')
SELECT tiered_storage.partitioning_script('regress_only', 'id', '1 month')
SELECT tiered_storage.partitioning_script('regress_plain', 'id', '1 month')
SELECT tiered_storage.partitioning_script('regress_plain', 'at', '1 furlong')
SELECT tiered_storage.partitioning_script('regress_inherits', 'at', '1 month')
SELECT tiered_storage.partitioning_script('regress_name_of_more_than_forty_bytes_in_all_x', 'at', '1 month')
SELECT tiered_storage.partitioning_script('regress_obstacles', 'at', '1 month')
$refused$);
ROLLBACK;
\set ECHO all
-- The command can be run; test/t/104_partitioning_script.pl runs its script.
SELECT format('SELECT count(*) FROM regexp_matches((%s), $$TABLE public.regress_t_\S+ PARTITION OF public.regress_t $$, $$g$$)', command)
	FROM _tiered_storage.recommend_partitioning(100 * 8192) WHERE relation = 'regress_t'::regclass \gexec
-- A short time is not enough.
UPDATE _tiered_storage.relation_state SET observed_since = now();
SELECT DISTINCT confidence FROM _tiered_storage.recommend_partitioning(100 * 8192);

-- Who may not see a table's statistics is not told what is in them.
CREATE ROLE regress_monitor IN ROLE pg_monitor;
SET ROLE regress_monitor;
SELECT relation, key_column, reason FROM _tiered_storage.recommend_partitioning(1000 * 8192, include_all => true);
RESET ROLE;
GRANT SELECT ON regress_t TO regress_monitor;
SET ROLE regress_monitor;
SELECT relation, key_column FROM _tiered_storage.recommend_partitioning(1000 * 8192, include_all => true);
RESET ROLE;

-- Intervals: natural ones, round ones.
SELECT lowest, highest, p.* FROM (VALUES
	('2000-01-01', '2020-01-01'), ('2015-01-01', '2020-01-01'), ('2019-01-01', '2020-01-01'), ('2019-10-01',
		'2020-01-01'),
	('2020-01-01', '2020-01-12'), ('2020-01-01', '2020-01-02'), ('2020-01-01 00:00', '2020-01-01 09:00'), ('-infinity',
		'2020-01-01')) v (lowest, highest),
	_tiered_storage.partition_interval('timestamptz'::regtype, lowest, highest) p;
SELECT * FROM _tiered_storage.partition_interval('date'::regtype, '2020-01-01', '2020-01-09');
SELECT lowest, highest, p.* FROM (VALUES ('0', '99'), ('0', '100'), ('1', '12345'), ('-5000000', '5000000'),
	('-9223372036854775808', '9223372036854775807')) v (lowest, highest),
		_tiered_storage.partition_interval('int8'::regtype, lowest, highest) p;
-- The ends of the calendar, of which not all are times, nor all differences intervals.
SET TimeZone = 'America/New_York';
SELECT v.*, p.* FROM (VALUES
	('date'::regtype, '4713-01-02 BC', '5874897-12-31'), ('date', '-infinity', 'infinity'),
	('timestamp', '4713-01-01 00:00 BC', '294276-12-31 23:59:59'), ('timestamp', '-infinity', '2020-01-01'),
	('timestamptz', '4713-01-01 00:00+00 BC', '294276-12-31 23:59:59+00')) v (type, lowest, highest),
	_tiered_storage.partition_interval(type, lowest, highest) p;
RESET TimeZone;

\set ECHO none
SET client_min_messages = warning;
DROP TABLE regress_t, "regress_t shuffled", regress_t_spread, regress_t_number, regress_t_back, regress_t_short,
	regress_t_few, regress_t_cold, regress_t_unknown, regress_t_small, regress_parent;
DROP FUNCTION regress_make, regress_cache;
DROP EXTENSION tiered_storage;
DROP ROLE regress_monitor;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
\set ECHO all

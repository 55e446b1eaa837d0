-- The load of the database and the server, and the reads of standbys.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
SET extra_float_digits = 0;
SET jit = off;

-- Counters of this session arrive at once.
\set flush 'SELECT pg_stat_force_next_flush()'

\echo '-- What a sample remembers'

\echo '-- The session before may still be about to leave, and then counts what it has done.'
DO $$
DECLARE
	give_up_at timestamptz := clock_timestamp() + interval '3 minutes';
BEGIN
	WHILE EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
		AND backend_type = 'client backend')
	LOOP
		IF clock_timestamp() > give_up_at THEN
			RAISE EXCEPTION 'somebody else uses this database';
		END IF;
		PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
	END LOOP;
END
$$;
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks, the load of hours;
-- what a standby has told.
TRUNCATE _tiered_storage.sampler, _tiered_storage.relation_state, _tiered_storage.relation_history,
	_tiered_storage.load_state, _tiered_storage.load_history, _tiered_storage.history_hour, _tiered_storage.state_snapshot;
SET tiered_storage.test_now = '2030-01-01 00:00:00+00';
CREATE TABLE regress_l (id int, t text) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
\echo '-- Nothing can be said after one sample: its counters are all of the past.'
:flush \g /dev/null
SELECT count(*) FROM tiered_storage.load_profile(); \echo :SQLSTATE
CALL tiered_storage.sample();
SELECT observed_since, sampled_at FROM _tiered_storage.load_state;
SELECT count(*) FROM _tiered_storage.load_rows;
SELECT count(*) FROM tiered_storage.load_profile(); \echo :SQLSTATE

\echo '-- A minute with work: rows, a sort that does not fit into memory, WAL.'
INSERT INTO regress_l SELECT i, repeat(md5(i::text), 4) FROM generate_series(1, 3000) i;
UPDATE regress_l SET id = id WHERE id <= 100;
DELETE FROM regress_l WHERE id <= 10;
SET work_mem = '64kB';
SELECT count(*) FROM (SELECT * FROM regress_l ORDER BY t DESC, id OFFSET 0) s;
RESET work_mem;
BEGIN; SELECT 1 AS one; ROLLBACK;
:flush \g /dev/null
SET tiered_storage.test_now = '2030-01-01 00:01:00+00';
CALL tiered_storage.sample();
SELECT period_start, period_s, commits BETWEEN 5 AND 1000 AS commits, rollbacks BETWEEN 1 AND 1000 AS rollbacks,
	blocks_hit > 100 AND blocks_fetched >= blocks_hit AS blocks, rows_returned > 3000 AS returned,
	rows_inserted BETWEEN 3000 AND 10000 AS inserted, rows_updated BETWEEN 100 AND 10000 AS updated,
	rows_deleted BETWEEN 10 AND 10000 AS deleted, temp_files BETWEEN 1 AND 100 AS files, temp_bytes > 300000 AS bytes,
		deadlocks,
	wal_records > 3000 AS records, wal_bytes > 400000 AS wal, wal_full_page_images IS NOT NULL AS images,
		wal_writes IS NOT NULL AS writes,
	checkpoints_timed IS NOT NULL AND checkpoints_requested IS NOT NULL AS checkpoints,
	buffers_checkpointer IS NOT NULL AND buffers_bgwriter IS NOT NULL AND buffers_backends IS NOT NULL AS written,
	slru_reads IS NOT NULL AND slru_writes IS NOT NULL AS slru
	FROM _tiered_storage.load_rows;

\echo '-- An idle minute has a row, too.'
SET tiered_storage.test_now = '2030-01-01 00:02:00+00';
:flush \g /dev/null
CALL tiered_storage.sample();
SELECT count(*) AS rows, max(period_start) FROM _tiered_storage.load_rows;
SELECT sampled_at FROM _tiered_storage.load_state;

\echo '-- Counters that went back: what they show now is what happened since, in their group.'
\echo '-- Not so the SLRUs, which are added up, and each of which is reset by itself.'
UPDATE _tiered_storage.load_state SET counters[1] = 1000000000000000, counters[22] = 1000000000000000;
SELECT counters[13] AS wal_records FROM _tiered_storage.load_state \gset
UPDATE regress_l SET id = id WHERE id BETWEEN 101 AND 200;
:flush \g /dev/null
SET tiered_storage.test_now = '2030-01-01 00:03:00+00';
CALL tiered_storage.sample();
SELECT commits BETWEEN 1 AND 1000000000 AS commits, rows_inserted >= 3000 AS from_zero, wal_records < :wal_records
	AS others_not, slru_reads, slru_writes
	FROM _tiered_storage.load_rows ORDER BY period_start DESC LIMIT 1;
\echo '-- Counters of another version say nothing.'
UPDATE _tiered_storage.load_state SET counters = '{1, 2}';
UPDATE regress_l SET id = id WHERE id BETWEEN 101 AND 200;
:flush \g /dev/null
SET tiered_storage.test_now = '2030-01-01 00:04:00+00';
CALL tiered_storage.sample();
SELECT max(period_start) FROM _tiered_storage.load_rows;
SELECT cardinality(counters) FROM _tiered_storage.load_state;
\echo '-- If it cannot be stored, the sample is taken nonetheless, and the next one has the whole period.'
ALTER TABLE _tiered_storage.load_history ADD CONSTRAINT regress_none CHECK (false) NOT VALID;
SET tiered_storage.test_now = '2030-01-01 00:05:00+00';
SET client_min_messages = error;
CALL tiered_storage.sample();
RESET client_min_messages;
SELECT last_sample_at FROM _tiered_storage.sampler;
ALTER TABLE _tiered_storage.load_history DROP CONSTRAINT regress_none;
SET tiered_storage.test_now = '2030-01-01 00:06:00+00';
CALL tiered_storage.sample();
SELECT period_start, period_s FROM _tiered_storage.load_rows ORDER BY period_start DESC LIMIT 1;
\echo '-- A clock that was set back.'
SELECT count(*) AS rows_before FROM _tiered_storage.load_rows \gset
UPDATE regress_l SET id = id WHERE id BETWEEN 101 AND 200;
:flush \g /dev/null
SET tiered_storage.test_now = '2029-12-31 00:00:00+00';
CALL tiered_storage.sample();
SELECT count(*) - :rows_before AS new_rows FROM _tiered_storage.load_rows;
SELECT sampled_at FROM _tiered_storage.load_state;

\echo '-- The profile of a period'

\echo '-- Two hours of one sample each, idle ones, one sample of 10 minutes at 4 o''clock, and 50 lost minutes.'
TRUNCATE _tiered_storage.load_history, _tiered_storage.history_hour;
UPDATE _tiered_storage.load_state SET observed_since = '2030-02-01 00:00+00', sampled_at = '2030-02-01 06:00+00';
INSERT INTO _tiered_storage.load_history VALUES
	('2030-02-01 00:00+00', 3600, 7000, 200, 36000, 18000, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
		18, 19,
		3600000, 7200000, 3600000, 1800000, 900000, 360, 3600, 36, 0, 1),
	('2030-02-01 01:00+00', 3600, 3600, 0, 7200, 3600, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3600000, 0, 0, 0, 0, 0, 0, 0, 0,
		NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO _tiered_storage.load_history (period_start, period_s, commits, rollbacks, blocks_fetched, blocks_hit)
	VALUES ('2030-02-01 02:00+00', 7200, 0, 0, 0, 0), ('2030-02-01 04:00+00', 600, 60, 0, 100, 200),
	('2030-02-01 05:00+00', 3600, 0, 0, 0, 0);
SELECT * FROM tiered_storage.load_profile('2030-02-01 00:00+00', '2030-02-01 01:00+00');
\echo '-- Waits are unknown where nobody looked, and not made up.'
SELECT * FROM tiered_storage.load_profile('2030-02-01 01:00+00', '2030-02-01 02:00+00')
	WHERE metric ~ '^(period|prorated|transactions|block_|hit_ratio|server_wal_bytes|wait_(cpu|relations))';
\echo '-- Half of each of the two: in part.'
SELECT * FROM tiered_storage.load_profile('2030-02-01 00:30+00', '2030-02-01 01:30+00')
	WHERE metric ~ '^(period|prorated|transactions|block_|wait_cpu)';
\echo '-- Idle is nothing, not unknown.'
SELECT * FROM tiered_storage.load_profile('2030-02-01 02:00+00', '2030-02-01 04:00+00')
	WHERE metric ~ '^(period|prorated|transactions|block_|hit_ratio|wait_cpu)';
\echo '-- Hits that were counted before their fetch do not make reads negative.'
SELECT total FROM tiered_storage.load_profile('2030-02-01 04:00+00', '2030-02-01 04:10+00')
	WHERE metric = 'block_reads';
\echo '-- Without arguments the last hour that was sampled; with one of them an hour before, or up to the last sample.'
SELECT * FROM tiered_storage.load_profile() WHERE metric IN ('period', 'transactions');
SELECT * FROM tiered_storage.load_profile(to_at => '2030-02-01 02:00+00') WHERE metric IN ('period', 'transactions');
SELECT * FROM tiered_storage.load_profile('2030-02-01 01:00+00') WHERE metric IN ('period', 'transactions');
\echo '-- What a crash has lost is said, and no time of rest.'
SELECT * FROM tiered_storage.load_profile('2030-02-01 04:00+00', '2030-02-01 05:30+00')
	WHERE metric IN ('period', 'transactions');
SELECT * FROM tiered_storage.load_profile('2030-02-01 04:20+00', '2030-02-01 04:40+00');
\echo '-- What was not sampled is cut off, and said.'
SELECT * FROM tiered_storage.load_profile('2030-01-31 12:00+00', '2030-02-01 01:00+00')
	WHERE metric IN ('period', 'transactions');
SELECT * FROM tiered_storage.load_profile('2030-02-01 04:00+00', '2031-01-01')
	WHERE metric IN ('period', 'transactions');

SELECT * FROM tiered_storage.compare_load('2030-02-01 00:00+00', '2030-02-01 01:00+00', '2030-02-01 01:00+00',
	'2030-02-01 02:00+00')
	WHERE metric ~ '^(period|transactions|rollbacks|block_|hit_ratio|rows_inserted|server_wal_bytes|wait_cpu)';

\echo '-- Periods that are none.'
SELECT * FROM pg_temp.refused($refused$
SELECT * FROM tiered_storage.load_profile('2030-02-01 01:00+00', '2030-02-01 01:00+00')
SELECT * FROM tiered_storage.load_profile('2030-02-01 02:00+00', '2030-02-01 01:00+00')
SELECT * FROM tiered_storage.load_profile('-infinity', '2030-02-01 01:00+00')
SELECT * FROM tiered_storage.load_profile('2030-02-01 01:00+00', 'infinity')
SELECT * FROM tiered_storage.load_profile('2031-01-01', '2031-01-02')
SELECT * FROM tiered_storage.load_profile('2029-01-01', '2029-01-02')
SELECT * FROM tiered_storage.load_profile('2031-01-01')
SELECT * FROM tiered_storage.compare_load(NULL, '2030-02-01 01:00+00', '2030-02-01 01:00+00', '2030-02-01 02:00+00')
SELECT * FROM tiered_storage.compare_load('2030-02-01 00:00+00', '2030-02-01 01:00+00', '2030-02-01 02:00+00', '2030-02-01 01:00+00')
$refused$);

\echo '-- Roll-up'

TRUNCATE _tiered_storage.load_history, _tiered_storage.history_hour;
UPDATE _tiered_storage.sampler SET rolled_up_until = NULL;
INSERT INTO _tiered_storage.load_history (period_start, period_s, commits, wal_bytes, wait_sampled_ms, wait_wal_ms)
	SELECT '2030-03-01 00:00+00'::timestamptz + i * interval '1 minute', 60, 1, i, CASE WHEN i < 10 THEN 60000 END,
		CASE WHEN i < 10 THEN 6 END
	FROM generate_series(0, 239) i;
INSERT INTO _tiered_storage.load_history (period_start, period_s, commits) VALUES ('2029-12-02 00:00+00', 7200, 1);
SET tiered_storage.test_now = '2030-03-01 04:30:00+00';
CALL tiered_storage.sample();
\echo '-- The sample itself leaves a row if the server has counted by then what this session does.'
SELECT period_start, period_s, commits, wal_bytes, wait_sampled_ms, wait_wal_ms FROM _tiered_storage.load_rows
	WHERE period_s >= 3600 AND period_start <> '2030-02-01 06:00+00' ORDER BY 1;
SELECT count(*), min(period_start) FROM _tiered_storage.load_rows WHERE period_s = 60;

\echo '-- Files by class'

TRUNCATE _tiered_storage.load_history, _tiered_storage.relation_history, _tiered_storage.history_hour;
UPDATE _tiered_storage.load_state SET observed_since = '2030-02-01 00:00+00', sampled_at = '2030-02-01 02:00+00';
\echo '-- Nothing is known of nothing.'
SELECT file_class, CASE WHEN NOT is_total THEN tier_name END AS tier_name, CASE file_class
	WHEN 'relations' THEN reads_per_hour END AS reads_per_hour, CASE file_class
		WHEN 'relations' THEN read_bytes_per_hour END AS read_bytes_per_hour, wait_s_per_hour
			FROM _tiered_storage.file_class_io()
	WHERE is_total OR file_class = 'relations' ORDER BY 1, is_total DESC;
INSERT INTO _tiered_storage.load_history (period_start, period_s, commits, temp_bytes, wal_bytes, wal_writes,
		buffers_checkpointer, buffers_bgwriter, buffers_backends, slru_reads, slru_writes,
		wait_sampled_ms, wait_relations_ms, wait_wal_ms, wait_temp_ms, wait_slru_ms)
	VALUES ('2030-02-01 00:00+00', 7200, 1, 2000, 4000, 20, 100, 60, 40, 6, 8, 7200000, 10000, 20000, 30000, 40000);
INSERT INTO _tiered_storage.relation_history VALUES
	('2030-02-01 00:00+00', 'regress_l'::regclass, 3600, 0, 10, 20, 0, 0),
	('2030-02-01 01:00+00', 'regress_l'::regclass, 3600, 0, 30, 0, 0, 0),
	('2030-01-01 01:00+00', 'regress_l'::regclass, 3600, 0, 5000, 0, 0, 0),
	('2030-02-01 01:00+00', 1, 3600, 0, 40, 0, 0, 0);
SELECT file_class, CASE WHEN NOT is_total THEN tier_name END AS tier_name, CASE file_class
	WHEN 'relations' THEN reads_per_hour END AS reads_per_hour, CASE file_class
		WHEN 'relations' THEN read_bytes_per_hour END AS read_bytes_per_hour, wait_s_per_hour
			FROM _tiered_storage.file_class_io()
	WHERE is_total OR file_class = 'relations' ORDER BY 1, is_total DESC;

\echo '-- Reads of standbys'

CREATE TABLE regress_l_idle (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
SET tiered_storage.test_now = '2030-03-01 04:31:00+00';
CALL tiered_storage.sample();
TRUNCATE _tiered_storage.relation_history, _tiered_storage.history_hour;
\echo '-- What was pulled is added by the next sample, once; what belongs to nothing is forgotten.'
SELECT random_fast, last_used_at FROM _tiered_storage.relation_state
	WHERE relation_oid = 'regress_l_idle'::regclass;
INSERT INTO _tiered_storage.standby_reads VALUES ('regress_l_idle'::regclass, 0, 0, 5000, 1400), (1, 1, 1, 1, 1);
UPDATE _tiered_storage.sampler SET last_sample_at = '2030-03-01 05:00+00';
UPDATE _tiered_storage.relation_state SET heat_at = '2030-03-01 05:00+00'
	WHERE relation_oid = 'regress_l_idle'::regclass;
SET tiered_storage.test_now = '2030-03-01 06:00:00+00';
CALL tiered_storage.sample();
SELECT count(*) FROM _tiered_storage.standby_reads;
SELECT scans, blocks_fetched, random_fast::numeric(6, 1), last_used_at, last_written_at
	FROM _tiered_storage.relation_state WHERE relation_oid = 'regress_l_idle'::regclass;
SELECT random_reads, hits, row_changes FROM _tiered_storage.history_rows
	WHERE relation_oid = 'regress_l_idle'::regclass;
SET tiered_storage.test_now = '2030-03-01 07:00:00+00';
CALL tiered_storage.sample();
SELECT count(*) FROM _tiered_storage.history_rows WHERE relation_oid = 'regress_l_idle'::regclass;

SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_standby(NULL, 'host=x')
SELECT tiered_storage.add_standby('', 'host=x')
SELECT tiered_storage.add_standby('s', NULL)
SELECT tiered_storage.add_standby('s', 'host=x password=secret')
SELECT tiered_storage.add_standby('s', 'host=x,y')
SELECT tiered_storage.add_standby('s', 'host=' || repeat('x', 5000))
SELECT tiered_storage.remove_standby('s')
$refused$);
SELECT tiered_storage.remove_standby('s', if_exists => true) \gset
SELECT tiered_storage.remove_standby(NULL, if_exists => true); \echo :SQLSTATE
\echo '-- A connection string says where to connect and as whom, and nothing else.'
CREATE FUNCTION regress_add(conninfo text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM tiered_storage.add_standby('s', conninfo);
	PERFORM tiered_storage.remove_standby('s');
	RETURN 'added';
EXCEPTION WHEN OTHERS THEN
	RETURN format('%s: %s', SQLSTATE, SQLERRM);
END
$$;
SELECT conninfo, regress_add(conninfo) FROM unnest(ARRAY[
	'host=x', 'hostaddr=127.0.0.1 port=5433', ' host = ''a \'' b'' user=u dbname=d ', 'host=/tmp',
		'postgresql://u@h:5433/d?sslmode=require',
	'host=x port=1 dbname=d user=u sslmode=verify-full application_name=a connect_timeout=10',
	'', ' ', 'port=1', 'host=', 'x', 'host=x user', 'host=''open', 'host=x host=', '\', 'postgresql://',
	'host=x password=secret', 'user=''x''password=secret host=x', 'host=x PASSWORD=secret', 'host=x password = '' ''',
		E'host=x\t\npassword=secret', E'host=x\\password=secret',
	'postgresql://u:secret@h/d', 'postgres://h/?password=secret', 'postgresql://h/d?sslkey=/k',
		'postgresql://%68/d?pass%66ile=/f',
	'host=x passfile=/f', 'host=x service=s', 'service=s', 'host=x sslcert=/c', 'host=x sslkey=/k',
		'host=x sslpassword=p', 'host=x sslrootcert=/r', 'host=x options=-csearch_path=s',
	'host=x replication=database', 'host=x krbsrvname=k', 'host=x gssencmode=prefer', 'host=x requirepeer=p',
		'host=x client_encoding=auto', 'host=x target_session_attrs=any', 'host=x fallback_application_name=f',
	'host=x,y', 'postgresql://x,y/d', 'host=x port=1,2', 'hostaddr=127.0.0.1,127.0.0.2',
	'host=x connect_timeout=0', 'host=x connect_timeout=11', 'host=x connect_timeout=-1', 'host=x connect_timeout=1s',
		'host=x connect_timeout=99999999999999999999',
	'dbname=''host=y password=secret''', 'host=x dbname=''host=y password=secret''']) AS conninfo;
SELECT regress_add('host=' || repeat('x', 1018)) AS long, regress_add('host=' || repeat('x', 1019)) AS too_long,
	regress_add('host=' || repeat('x', 1000000)) AS far_too_long;
DROP FUNCTION regress_add;
SELECT count(tiered_storage.add_standby('standby' || i, 'host=x')) FROM generate_series(1, 16) i;
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_standby('standby17', 'host=x')
SELECT tiered_storage.add_standby('standby1', 'host=x')
$refused$);
SELECT * FROM _tiered_storage.standbys ORDER BY standby_name LIMIT 1;
SELECT count(tiered_storage.remove_standby(standby_name)) FROM _tiered_storage.standbys;
SELECT count(*) FROM _tiered_storage.standbys;

SET client_min_messages = warning;
DROP TABLE regress_l, regress_l_idle;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;

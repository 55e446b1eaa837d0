-- What keeps moves from beginning that nobody has asked for: checkpoints.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
SET client_min_messages = warning;
SELECT tiered_storage.alter_tier(t, low_watermark => 0.999, high_watermark => 1)
	FROM unnest('{regress_fast,regress_slow,regress_cheap}'::name[]) t \g /dev/null
CREATE TABLE regress_b (d date) PARTITION BY RANGE (d);
CREATE TABLE regress_b_1 PARTITION OF regress_b FOR VALUES
	FROM ('2020-01-01') TO ('2021-01-01') WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
INSERT INTO regress_b VALUES ('2020-01-01');
SELECT tiered_storage.add_tiering_policy('regress_b', '30 days', 'regress_slow') AS policy \gset
SET tiered_storage.test_now = '2026-11-24 12:00+00';
-- Made up, since no call makes it in the time of a test: the load of hours; moves of another time, size or end.
DELETE FROM _tiered_storage.load_history;
CREATE VIEW regress_reason AS
	SELECT CASE WHEN reason ~ '^waiting: ' THEN reason ELSE 'not under pressure' END AS reason
		FROM _tiered_storage.plan_moves();
\set ECHO all
SELECT * FROM regress_reason;

---------------------------------------------------------------------------
-- Checkpoints
---------------------------------------------------------------------------

CREATE PROCEDURE regress_load(at timestamptz, requested bigint, timed bigint, wal bigint) LANGUAGE sql AS $$
	INSERT INTO _tiered_storage.load_history (period_start, period_s, checkpoints_requested, checkpoints_timed,
		wal_bytes) VALUES (at, 60, requested, timed, wal)
$$;
CALL regress_load('2026-11-24 11:58+00', 3, 1, 1000000000000);
SELECT * FROM regress_reason;
SELECT replace(finding, E'\n', ' ') ~ 'automatic moves: waiting: the WAL forces checkpoints, 3 of the last 4' AS told
	FROM tiered_storage.preflight('regress_b_1', 'regress_slow', include_all => true) WHERE check_name = 'start';
SET client_min_messages = notice;
CALL tiered_storage.migrate();
CALL tiered_storage.migrate(dry_run => true);
SET client_min_messages = warning;
-- Somebody has called CHECKPOINT: there is not enough WAL to force one.
UPDATE _tiered_storage.load_history SET wal_bytes = 1000;
SELECT * FROM regress_reason;
-- As many by time, and long ago.
UPDATE _tiered_storage.load_history SET wal_bytes = 1000000000000, checkpoints_timed = 3;
SELECT * FROM regress_reason;
UPDATE _tiered_storage.load_history SET checkpoints_timed = 0, period_start = '2026-11-24 06:00+00';
SELECT * FROM regress_reason;
-- What our own moves have written.
UPDATE _tiered_storage.load_history SET period_start = '2026-11-24 11:58+00';
SELECT * FROM regress_reason;
CREATE TABLE regress_b_own (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CALL tiered_storage.move_relation('regress_b_own', 'regress_slow');
UPDATE _tiered_storage.move SET size_bytes = 1000000000000;
SELECT * FROM regress_reason;
DELETE FROM _tiered_storage.move;

---------------------------------------------------------------------------
-- A tier above the mark of its fullness policy
---------------------------------------------------------------------------

-- Three tables of 200 kB each on 1 MB: when one has left, the tier is below its high watermark.
SELECT format('CREATE TABLE regress_b_full_%s (x text) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast; INSERT INTO regress_b_full_%1$s SELECT repeat(''x'', 1900) FROM generate_series(1, 100)', i) FROM generate_series(1, 3) i \gexec
SET tiered_storage.cooldown = 0;
SELECT tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": 1000000}') \g /dev/null
SELECT reason = 'not under pressure' AS may_begin, count(*) FROM regress_reason GROUP BY 1;
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_slow', high_watermark => 0.5, low_watermark => 0.1)
	AS full_id \gset
SELECT cause, count(*) FROM _tiered_storage.plan_moves() WHERE reason !~ '^waiting: the WAL' GROUP BY 1 ORDER BY 1;
SELECT replace(finding, E'\n', ' ') ~ 'automatic moves: waiting: the WAL' AS told
	FROM tiered_storage.preflight('regress_b_1', 'regress_slow', include_all => true) WHERE check_name = 'start';
SET client_min_messages = notice;
CALL tiered_storage.migrate(dry_run => true);
SET client_min_messages = warning;
-- What is due comes first, as ever; then what is needed to be below the mark, and no more.
CALL tiered_storage.migrate();
SELECT policy_kind, count(*) FROM _tiered_storage.moves WHERE state = 'done' GROUP BY 1 ORDER BY 1;
SELECT regexp_replace(last_result, '[0-9.]+', 'N', 'g') AS last_result FROM _tiered_storage.fullness_policies;
CALL tiered_storage.migrate();
SELECT count(*) FROM _tiered_storage.moves WHERE state = 'done';
SELECT tiered_storage.remove_policy(tier => 'regress_fast'),
	tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": null}') \g /dev/null
DROP TABLE regress_b_full_1, regress_b_full_2, regress_b_full_3;
-- What is due does not wait until enough has left, and then it does: the queue and a dry run say so before.
CREATE TABLE regress_b_due (d date, x text) PARTITION BY RANGE (d);
SELECT format('CREATE TABLE regress_b_due_%1$s PARTITION OF regress_b_due FOR VALUES FROM (''201%1$s-01-01'') TO (''201%2$s-01-01'') WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast', i, i + 1) FROM generate_series(1, 6) i \gexec
INSERT INTO regress_b_due SELECT make_date(2010 + i, 6, 1), repeat('x', 1900)
	FROM generate_series(1, 6) i, generate_series(1, 100);
SELECT tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": 2000000}') \g /dev/null
SELECT tiered_storage.add_fullness_policy('regress_fast', 'regress_slow', high_watermark => 0.5, low_watermark => 0.1),
	tiered_storage.add_tiering_policy('regress_b_due', '30 days', 'regress_slow') AS due \gset
DELETE FROM _tiered_storage.move;
SELECT relation, cause, reason ~ '^waiting: the WAL' AS waits FROM _tiered_storage.plan_moves() ORDER BY place;
SET client_min_messages = notice;
CALL tiered_storage.migrate(dry_run => true);
SET client_min_messages = warning;
CALL tiered_storage.migrate();
SELECT relation, policy_kind, state FROM _tiered_storage.moves ORDER BY move_id;
\set ECHO none
SELECT tiered_storage.remove_policy(tier => 'regress_fast'), tiered_storage.remove_policy(policy_id => :due),
	tiered_storage.alter_tier('regress_fast', device => '{"capacity_bytes": null}') \g /dev/null
DROP TABLE regress_b_due;
DELETE FROM _tiered_storage.load_history;
CALL tiered_storage.migrate();
CALL tiered_storage.move_relation('regress_b_1', 'regress_fast');
DELETE FROM _tiered_storage.move;

-- A person who asks does not wait.
CALL regress_load('2026-11-24 11:58+00', 3, 1, 1000000000000);
CALL tiered_storage.migrate();
\set ECHO all
SELECT count(*) FROM _tiered_storage.plan_moves();
CALL tiered_storage.migrate(ignore_windows => true);
SELECT count(*) FROM _tiered_storage.plan_moves();

\set ECHO none
RESET tiered_storage.test_now;
DROP VIEW regress_reason;
DROP PROCEDURE regress_load;
DROP TABLE regress_b, regress_b_own;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
\set ECHO all

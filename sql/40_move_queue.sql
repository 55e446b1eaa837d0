-- The queue of moves: what wants to move, in its order, and what it waits for.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
SET client_min_messages = warning;
SELECT tiered_storage.alter_tier(t, low_watermark => 0.999, high_watermark => 1)
	FROM unnest('{regress_fast,regress_slow,regress_cheap}'::name[]) t \g /dev/null
-- When the next attempt is, and why nothing is moved by itself, differ.
CREATE VIEW regress_queue AS
	SELECT place, relation, from_tier, to_tier, to_tablespace, cause, state, failures,
		regexp_replace(regexp_replace(regexp_replace(reason, 'at \d{4}-\S+ \S+', 'at T'),
			'^(waiting for CALL.*\(\)): .*', '\1'), '[0-9.]+ (kB|bytes)', 'N', 'g') AS reason
	FROM _tiered_storage.plan_moves();
SELECT * FROM regress_queue;

\set ECHO none
CREATE TABLE regress_q (d date, a int) PARTITION BY RANGE (d);
CREATE TABLE regress_q_1 PARTITION OF regress_q FOR VALUES
	FROM ('2020-01-01') TO ('2021-01-01') WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE UNLOGGED TABLE regress_q_2 PARTITION OF regress_q FOR VALUES
	FROM ('2021-01-01') TO ('2022-01-01') WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE TABLE regress_q_3 PARTITION OF regress_q FOR VALUES
	FROM ('2022-01-01') TO ('2023-01-01') WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE INDEX ON regress_q_3 (a) TABLESPACE regress_ts_fast;
INSERT INTO regress_q SELECT date '2020-01-01' + i, i FROM generate_series(1, 1000) i;
SELECT tiered_storage.add_tiering_policy('regress_q', '30 days', 'regress_slow') AS policy \gset
SET tiered_storage.test_now = '2026-11-24 12:00+00';
\set ECHO all
SELECT * FROM regress_queue ORDER BY place;
SELECT bool_and(q.policy_id = :policy) AS policy,
	bool_and(size_bytes = pg_total_relation_size(relation) - pg_indexes_size(relation)) FILTER (WHERE relation <> 'regress_q_3_a_idx'::regclass) AS size, bool_and(next_attempt_at IS NULL AND last_error IS NULL) AS fresh, bool_and(from_tablespace = 'regress_ts_fast') AS tablespace FROM _tiered_storage.plan_moves() q;

---------------------------------------------------------------------------
-- What it waits for
---------------------------------------------------------------------------

SELECT tiered_storage.pause();
SELECT DISTINCT state, reason FROM regress_queue;
SELECT tiered_storage.resume();
SET timezone = 'Europe/Berlin';
SELECT tiered_storage.add_move_window('night', NULL, '22:00', '6:00', 'Europe/Berlin') \g /dev/null
SELECT DISTINCT state, reason FROM regress_queue;
-- preflight() asks the same.
SELECT replace(finding, E'\n', ' ') ~ 'waiting for window night, opens 2026-11-24 22:00 CET' AS told
	FROM tiered_storage.preflight('regress_q_1', 'regress_slow', include_all => true) WHERE check_name = 'start';
SET tiered_storage.test_now = '2026-11-24 23:00+01';
SELECT DISTINCT state, reason FROM regress_queue WHERE relation <> 'regress_q_2'::regclass;
SELECT replace(finding, E'\n', ' ') ~ 'waiting for window' AS told FROM tiered_storage.preflight('regress_q_1', 'regress_slow', include_all => true)
	WHERE check_name = 'start';
SELECT tiered_storage.remove_move_window('night') \g /dev/null
SET timezone = 'UTC';
SELECT tiered_storage.alter_tier('regress_slow', device => '{"capacity_bytes": 1}') \g /dev/null
SELECT relation, state, reason FROM regress_queue ORDER BY place;
SELECT tiered_storage.alter_tier('regress_slow', device => '{"capacity_bytes": 1000000000}') \g /dev/null
-- What is disabled, or pinned, does not want to move.
SELECT tiered_storage.alter_policy(policy_id => :policy, enabled => false) \g /dev/null
SELECT count(*) FROM regress_queue;
SELECT tiered_storage.alter_policy(policy_id => :policy, enabled => true) \g /dev/null
SELECT tiered_storage.pin('regress_q_1', 'regress_fast') \g /dev/null
SELECT relation FROM regress_queue ORDER BY place;
SELECT tiered_storage.unpin('regress_q_1') \g /dev/null

---------------------------------------------------------------------------
-- One that fails: others go on, it is tried again ever later, and success forgets it
---------------------------------------------------------------------------

CALL tiered_storage.migrate();
SELECT * FROM regress_queue;
CREATE FUNCTION regress_pause() RETURNS interval LANGUAGE sql AS $$
	SELECT date_trunc('minute', m.next_attempt_at - m.finished_at) FROM _tiered_storage.move m
		WHERE m.state = 'skipped'
$$;
SELECT regress_pause(), last_error FROM _tiered_storage.plan_moves();
CALL tiered_storage.migrate();
SELECT regress_pause(), failures FROM _tiered_storage.plan_moves();
-- Made up, since no call makes it in the time of a test: moves of another time, size or end.
UPDATE _tiered_storage.move SET failures = 100000, costly_failures = 100000 WHERE state = 'skipped' \g /dev/null
CALL tiered_storage.migrate();
SELECT regress_pause(), failures FROM _tiered_storage.plan_moves();
-- Calls by hand that find no room are failures, but it takes ten minutes at most; of the others in
-- the row the first two count.
UPDATE _tiered_storage.move SET failures = 1, costly_failures = 1 WHERE state = 'skipped' \g /dev/null
ALTER TABLE regress_q_2 SET LOGGED;
SELECT tiered_storage.alter_tier('regress_slow', device => '{"capacity_bytes": 1}') \g /dev/null
SET client_min_messages = error;
CALL tiered_storage.migrate();
SELECT regress_pause(), q.failures, m.sqlstate FROM _tiered_storage.plan_moves() q
	JOIN _tiered_storage.moves m ON m.relation = q.relation::text;
CALL tiered_storage.migrate();
CALL tiered_storage.migrate();
CALL tiered_storage.migrate();
CALL tiered_storage.migrate();
SELECT regress_pause(), failures FROM _tiered_storage.plan_moves();
SELECT tiered_storage.alter_tier('regress_slow', device => '{"capacity_bytes": 1000000000}') \g /dev/null
ALTER TABLE regress_q_2 SET UNLOGGED;
CALL tiered_storage.migrate();
SELECT regress_pause(), failures FROM _tiered_storage.plan_moves();
CALL tiered_storage.migrate();
SELECT regress_pause(), failures FROM _tiered_storage.plan_moves();
SET client_min_messages = warning;
-- When that time has come, it waits no longer, and is known to have failed.
UPDATE _tiered_storage.move SET next_attempt_at = now() - interval '1 s' WHERE state = 'skipped' \g /dev/null
SELECT state, reason, failures FROM regress_queue;
ALTER TABLE regress_q_2 SET LOGGED;
CALL tiered_storage.migrate();
SELECT * FROM regress_queue;
ALTER TABLE regress_q_2 SET TABLESPACE regress_ts_fast;
SELECT relation, failures FROM regress_queue;
ALTER TABLE regress_q_2 SET UNLOGGED;
CALL tiered_storage.migrate();
SELECT relation, state, failures FROM regress_queue;
-- A relation that is gone is not in it.
DROP TABLE regress_q_2;
SELECT count(*) FROM regress_queue;

---------------------------------------------------------------------------
-- Two policies for one relation, a tier that is too full, and rights
---------------------------------------------------------------------------

\set ECHO none
CREATE TABLE regress_q_full (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
INSERT INTO regress_q_full SELECT generate_series(1, 10000);
CREATE TABLE regress_q_2 PARTITION OF regress_q FOR VALUES
	FROM ('2021-01-01') TO ('2022-01-01') WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
INSERT INTO regress_q SELECT date '2021-01-01', i FROM generate_series(1, 10000) i;
ALTER TABLE regress_q_1 SET TABLESPACE regress_ts_fast;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
SELECT tiered_storage.alter_tier('regress_slow', low_watermark => 0.1, high_watermark => 0.2,
	device => '{"capacity_bytes": 500000}') \g /dev/null
SELECT tiered_storage.add_fullness_policy('regress_slow', 'regress_cheap') AS fullness \gset
SET tiered_storage.cooldown = 0;
\set ECHO all
SELECT relation, to_tier, cause, policy_id = :fullness AS by_fullness FROM _tiered_storage.plan_moves()
	WHERE relation IN ('regress_q_1'::regclass, 'regress_q_2'::regclass, 'regress_q_full'::regclass)
		ORDER BY relation::text;
SELECT array_agg(cause ORDER BY place) = array_agg(cause
	ORDER BY cause DESC, place) AS "the full tier first", max(place) = count(*) AS numbered FROM _tiered_storage.plan_moves();
-- By age and because the tier is full: once.
SELECT tiered_storage.add_tiering_policy('regress_q', '60 days', 'regress_cheap') \g /dev/null
SELECT cause, count(*) FROM _tiered_storage.plan_moves() WHERE relation = 'regress_q_2'::regclass GROUP BY 1;
SELECT count(*) - count(DISTINCT relation) AS twice FROM _tiered_storage.plan_moves();
-- What a run stores is what the view shows; it moves nothing while no window is open.
SELECT tiered_storage.add_move_window('never', NULL, '02:00', '03:00', 'UTC') \g /dev/null
CALL tiered_storage.migrate();
SELECT count(*) > 0 AS planned FROM _tiered_storage.move_queue_entries();
WITH stored AS (SELECT place, relation, from_tier, to_tier, from_tablespace, to_tablespace, size_bytes, cause, policy_id, state, reason FROM _tiered_storage.move_queue_entries()),
	made AS (SELECT place, relation, from_tier, to_tier, from_tablespace, to_tablespace, size_bytes, cause, policy_id, state, reason FROM _tiered_storage.plan_moves())
	(TABLE stored EXCEPT TABLE made) UNION (TABLE made EXCEPT TABLE stored);
SELECT tiered_storage.pause();
SELECT DISTINCT state, reason FROM _tiered_storage.move_queue_entries();
-- In the views for people that it waits is said once.
SELECT DISTINCT now FROM tiered_storage.activity WHERE part = 'queue' AND name <> '';
SELECT DISTINCT state, replace(note, E'\n', '/') AS note FROM tiered_storage.moves WHERE at IS NULL ORDER BY note;
SELECT tiered_storage.resume();
CREATE ROLE regress_nobody;
SET ROLE regress_nobody;
SELECT * FROM tiered_storage.moves;
RESET ROLE;
GRANT pg_monitor TO regress_nobody;
SET ROLE regress_nobody;
SELECT count(*) > 0 AS may FROM tiered_storage.moves;
\set ECHO none
RESET ROLE;
SELECT tiered_storage.remove_move_window('never') \g /dev/null
DROP ROLE regress_nobody;

-- What comes first uses up the bytes of a window, which opens later than anything is tried again.
SET tiered_storage.test_now = '2040-01-01 12:00+00';
SELECT tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.policies \g /dev/null
SELECT tiered_storage.remove_policy(policy_id => :fullness) \g /dev/null
\set ECHO all
-- What is stored of a policy goes with it.
SELECT count(*) FROM _tiered_storage.move_queue_entries() WHERE policy_id IS NOT NULL;
\set ECHO none
SELECT tiered_storage.alter_tier('regress_slow', device => '{"capacity_bytes": null}') \g /dev/null
DELETE FROM _tiered_storage.move;
CREATE TABLE regress_w (d date, v text) PARTITION BY RANGE (d);
\set ECHO all
SELECT format('CREATE TABLE regress_w_%s PARTITION OF regress_w FOR VALUES FROM (%L) TO (%L) TABLESPACE regress_ts_fast', y, y || '-01-01', y + 1 || '-01-01') FROM generate_series(2011, 2015) y \gexec
INSERT INTO regress_w SELECT make_date(y, 2, 2), repeat('x', 500)
	FROM generate_series(2011, 2015) y, generate_series(1, 100);
SELECT tiered_storage.add_tiering_policy('regress_w', '30 days', 'regress_slow') \g /dev/null
SELECT tiered_storage.add_move_window('all', NULL, '00:00', '24:00',
	max_bytes => (2.5 * pg_table_size('regress_w_2011'))::bigint) \g /dev/null
SELECT relation, reason ~ '^waiting for window "?all.* the open window has less than its .* left' AS held_back
	FROM _tiered_storage.plan_moves() ORDER BY place;
SET client_min_messages = warning;
CALL tiered_storage.migrate();
RESET client_min_messages;
SELECT relation, reason ~ '^waiting for window "?all.* the open window has less than its .* left' AS held_back
	FROM _tiered_storage.plan_moves() ORDER BY place;
-- What was given up as its window had closed waits for that, and has not failed.
UPDATE _tiered_storage.move SET relation_oid = 'regress_w_2013'::regclass, relation_name = 'public.regress_w_2013',
	state = 'skipped', attempts = 1, failures = 0,
	error = 'waiting for window all', next_attempt_at = clock_timestamp() + interval '1 minute'
	WHERE relation_name = 'public.regress_w_2011';
SELECT relation, state, reason ~ '^waiting for window' AS waits_for_window, next_attempt_at
	FROM _tiered_storage.plan_moves() WHERE relation = 'regress_w_2013'::regclass;
SELECT tiered_storage.remove_move_window('all') \g /dev/null
SELECT tiered_storage.add_move_window('all', NULL, '00:00', '24:00', max_bytes => 1000000000) \g /dev/null
SELECT state, reason ~ '^waiting for CALL' AS is_left_to_a_call FROM _tiered_storage.plan_moves()
	WHERE relation = 'regress_w_2013'::regclass;
\set ECHO none
DROP TABLE regress_w;

RESET tiered_storage.test_now;
\set ECHO all
-- A move whose process has ended is tried again at once, but later after further times: it may be what crashes the server.
-- What it has copied is not known, so that all of it counts.
INSERT INTO _tiered_storage.move (relation_oid, relation_name, kind, from_tablespace, to_tablespace, state,
		requested_by, reason, method, size_bytes, started_at, pid, backend_start, failures, costly_failures)
	SELECT r, r, 'table', 'a', 'b', 'running', 'c', 'd', 'online', 8192, now(), 1, now(), 4 * n - 4, 4 * n - 4
	FROM unnest('{regress_q,regress_q_full}'::regclass[]) WITH ORDINALITY r (r, n);
CALL tiered_storage.sample();
SELECT state, failures, date_trunc('second', next_attempt_at - finished_at) AS rests, copied_bytes
	FROM _tiered_storage.move WHERE requested_by = 'c' ORDER BY failures;
-- A crash of the server counts for the move that began last, which is not the last one of the record.
INSERT INTO _tiered_storage.move (relation_oid, relation_name, kind, from_tablespace, to_tablespace, state,
		requested_by, reason, method, size_bytes, started_at, pid, backend_start)
	SELECT r, r, 'table', 'a', 'b', 'running', 'e', 'd', 'online', 8192, now() - n * interval '1 minute', 1, '2000-01-01'
	FROM unnest('{regress_q,regress_q_full}'::regclass[]) WITH ORDINALITY r (r, n);
CALL tiered_storage.sample();
SELECT relation_name, state, crashes FROM _tiered_storage.move WHERE requested_by = 'e' ORDER BY move_id;
\set ECHO none
DROP FUNCTION regress_pause;
DROP VIEW regress_queue;
DROP TABLE regress_q, regress_q_full;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
\set ECHO all

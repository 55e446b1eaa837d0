-- Tiering policies: altered, disabled, enabled; and what they moved, undone.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql

\set ECHO none
SET tiered_storage.test_now = '2026-06-01 00:00:00+00';
CREATE TABLE regress_p (at date, v int) PARTITION BY RANGE (at);
CREATE TABLE regress_p_2024 PARTITION OF regress_p FOR VALUES
	FROM ('2024-01-01') TO ('2025-01-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_p_2025 PARTITION OF regress_p FOR VALUES
	FROM ('2025-01-01') TO ('2026-01-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_n (at int) PARTITION BY RANGE (at);
CREATE TABLE regress_n_1 PARTITION OF regress_n FOR VALUES FROM (0) TO (1000) TABLESPACE regress_ts_fast;
CREATE VIEW regress_where AS
	SELECT c.oid::regclass::text AS relation, t.spcname AS tablespace
	FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace
		WHERE c.relname LIKE 'regress\__\_%' AND c.relkind = 'r';
\set where 'SELECT * FROM regress_where ORDER BY relation COLLATE "C"'
SELECT tiered_storage.add_tiering_policy('regress_p', '3 years', 'regress_slow') AS slow \gset
SELECT tiered_storage.add_tiering_policy('regress_n', '1 day', 'regress_slow',
	options => '{"key_unit": "seconds"}') AS n \gset
\set ECHO all

---------------------------------------------------------------------------
-- Altered
---------------------------------------------------------------------------

-- What is not given stays as it is.  The worker waits before what a change causes, as with a new policy.
SELECT created_at AS added_at FROM _tiered_storage.policies WHERE policy_id = :slow \gset
SELECT tiered_storage.alter_policy('regress_p', changes => '{"move_after": "1 year"}') \gset
SELECT created_at > :'added_at' AS waits FROM _tiered_storage.policies WHERE policy_id = :slow;
SELECT tiered_storage.alter_policy(policy_id => :slow,
	changes => '{"include_indexes": false, "time_zone": "Europe/Berlin"}') \gset
SELECT move_after, tier_name, include_indexes, time_zone, enabled FROM _tiered_storage.policies
	WHERE policy_id = :slow;
SELECT tiered_storage.alter_policy('regress_p', 'regress_slow',
	changes => '{"tier": "regress_cheap", "time_zone": "UTC"}') \gset
SELECT move_after, tier_name, include_indexes, time_zone, enabled FROM _tiered_storage.policies
	WHERE policy_id = :slow;
SELECT tiered_storage.alter_policy('regress_p', changes => '{"tier": "regress_slow", "include_indexes": true}') \gset
SELECT tiered_storage.alter_policy('regress_n', changes => '{"key_unit": "yyyymmdd"}') \gset
SELECT key_unit FROM _tiered_storage.policies WHERE policy_id = :n;
-- What a tool sets again and again to the same values does not wait again each time.
CREATE TABLE regress_added AS SELECT policy_id, created_at FROM _tiered_storage.policies;
SELECT tiered_storage.alter_policy('regress_p', enabled => true, changes => '{"tier": "regress_slow",
	"move_after": "1 year", "idle_for": null, "time_zone": "UTC"}') \gset
SELECT tiered_storage.alter_policy('regress_n', changes => '{"key_unit": "yyyymmdd"}') \gset
SELECT count(*) AS as_before FROM _tiered_storage.policies JOIN regress_added USING (policy_id, created_at);
DROP TABLE regress_added;
-- Refused, and nothing is changed.
SELECT tiered_storage.add_tiering_policy('regress_p', '5 years', 'regress_cheap') AS cheap \gset
SELECT tiered_storage.alter_policy(policy_id => :cheap, changes => '{"tier": "regress_slow"}'); \echo :SQLSTATE
SELECT tiered_storage.alter_policy('regress_p', changes => '{"tier": "regress_fast"}'); \echo :SQLSTATE
SELECT tiered_storage.remove_policy(policy_id => :cheap) \gset
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.alter_policy('regress_p')
SELECT tiered_storage.alter_policy(enabled => false)
SELECT tiered_storage.alter_policy('regress_p', changes => '{"move_after": "-1 day"}')
SELECT tiered_storage.alter_policy('regress_p', changes => '{"tier": "regress_nowhere"}')
SELECT tiered_storage.alter_policy('regress_p', changes => '{"time_zone": "Nowhere/Land"}')
SELECT tiered_storage.alter_policy('regress_p', changes => '{"key_unit": "seconds"}')
SELECT tiered_storage.alter_policy('regress_n', changes => '{"key_unit": "lightyears"}')
SELECT tiered_storage.alter_policy('regress_p', 'regress_cheap', enabled => false)
SELECT tiered_storage.remove_policy('regress_p', tier => 'regress_cheap')
$refused$);
\set ECHO all
SELECT tiered_storage.remove_policy('regress_p', 'regress_cheap', policy_id => :slow, if_exists => true);
SELECT tiered_storage.alter_policy(policy_id => -1, enabled => false, if_exists => true);
SELECT move_after, tier_name, include_indexes, time_zone, enabled, last_result FROM _tiered_storage.policies
	WHERE policy_id = :slow;
-- How an age is told goes with move_after; nothing of it comes back with it.
SELECT tiered_storage.alter_policy('regress_n',
	changes => '{"key_unit": "seconds"}') \gset
SELECT tiered_storage.alter_policy('regress_n',
	changes => '{"move_after": null, "idle_for": "1 day", "key_unit": "seconds"}'); \echo :SQLSTATE
SELECT tiered_storage.alter_policy('regress_n', changes => '{"move_after": null, "idle_for": "1 day"}') \gset
SELECT move_after, idle_for, key_unit FROM _tiered_storage.policies
	WHERE policy_id = :n;
SELECT tiered_storage.alter_policy('regress_n', changes => '{"move_after": "1 day"}'); \echo :SQLSTATE
SELECT tiered_storage.alter_policy('regress_n', changes => '{"move_after": "1 day", "key_unit": "seconds"}') \gset
SELECT move_after, idle_for, key_unit FROM _tiered_storage.policies
	WHERE policy_id = :n;
SELECT tiered_storage.remove_policy(policy_id => :n) \gset

---------------------------------------------------------------------------
-- Disabled, enabled
---------------------------------------------------------------------------

SELECT tiered_storage.alter_policy('regress_p', enabled => false) \gset
SELECT enabled, last_result FROM _tiered_storage.policies WHERE policy_id = :slow;
SELECT relation, verdict FROM _tiered_storage.evaluate_policies() ORDER BY relation::text COLLATE "C";
CALL tiered_storage.migrate();
:where;
SELECT tiered_storage.alter_policy('regress_p', enabled => true) \gset
SELECT relation, verdict FROM _tiered_storage.evaluate_policies() ORDER BY relation::text COLLATE "C";
CALL tiered_storage.migrate();
:where;
-- Everything that is old is there, the rest is too young.
CALL tiered_storage.migrate();

---------------------------------------------------------------------------
-- What a policy moved is a batch, which can be undone
---------------------------------------------------------------------------

SELECT batch_id, kind, moves_done, effect IS NOT NULL AS has_effect, undo_command FROM _tiered_storage.move_batches;
\set ECHO none
-- Not by a stranger, whose attempts count as no failure of the relations.
CREATE ROLE regress_stranger;
GRANT USAGE ON SCHEMA tiered_storage TO regress_stranger;
GRANT EXECUTE ON PROCEDURE tiered_storage.undo_move TO regress_stranger;
SELECT count(*) AS moves FROM _tiered_storage.move \gset
SET ROLE regress_stranger;
\set ECHO all
CALL tiered_storage.undo_move(1, dry_run => true);
CALL tiered_storage.undo_move(1);
RESET ROLE;
SELECT count(*) = :moves AS nothing_is_recorded, count(next_attempt_at) AS backoffs FROM _tiered_storage.move;
REVOKE ALL ON SCHEMA tiered_storage FROM regress_stranger;
REVOKE ALL ON PROCEDURE tiered_storage.undo_move FROM regress_stranger;
DROP ROLE regress_stranger;
CALL tiered_storage.undo_move(1);
:where;
SELECT tiered_storage.alter_policy('regress_p', enabled => false) \gset
CALL tiered_storage.migrate();
:where;
SELECT batch_id, kind, moves_done, undo_of, undone_by FROM _tiered_storage.move_batches ORDER BY batch_id;
CALL tiered_storage.undo_move(1);
-- No advice was involved: what was moved is no part of move_limit_per_day, and no verdict on the advice.
SELECT m.batch_id, e.batch_id AS judged_as FROM _tiered_storage.move_effect e
	JOIN _tiered_storage.move m USING (move_id) ORDER BY 1;

---------------------------------------------------------------------------
-- Whose rights count
---------------------------------------------------------------------------

\set ECHO none
CREATE ROLE regress_owner;
CREATE ROLE regress_other;
GRANT USAGE ON SCHEMA tiered_storage TO regress_owner, regress_other;
GRANT EXECUTE ON FUNCTION tiered_storage.alter_policy TO regress_owner, regress_other;
GRANT CREATE ON TABLESPACE regress_ts_slow TO regress_owner;
ALTER TABLE regress_p OWNER TO regress_owner;
SET ROLE regress_other;
\set ECHO all
SELECT tiered_storage.alter_policy(policy_id => :slow, enabled => false); \echo :SQLSTATE
SELECT tiered_storage.alter_policy(policy_id => :slow, enabled => true); \echo :SQLSTATE
-- The owner may disable what an administrator made, and then it still is the administrator's.
SET ROLE regress_owner;
SELECT tiered_storage.alter_policy(policy_id => :slow, enabled => false) \gset
RESET ROLE;
SELECT created_by = current_user AS unchanged FROM _tiered_storage.policies WHERE policy_id = :slow;
-- What he asks for needs his rights: he has none on the other tier.
SET ROLE regress_owner;
SELECT tiered_storage.alter_policy(policy_id => :slow, enabled => true,
	changes => '{"tier": "regress_cheap"}'); \echo :SQLSTATE
SELECT tiered_storage.alter_policy(policy_id => :slow, enabled => true, changes => '{"move_after": "1 day"}') \gset
RESET ROLE;
SELECT created_by, enabled, move_after, tier_name FROM _tiered_storage.policies WHERE policy_id = :slow;
-- A restored policy that has no table can only be disabled and removed.
CALL tiered_storage.sample();
DROP TABLE regress_p;
-- Made up, since no call makes it in the time of a test: moves of another time, size or end; rows as a dump or
-- another machine has left them.
UPDATE _tiered_storage.policy SET database_oid = 0;
SELECT tiered_storage.alter_policy(policy_id => :slow, changes => '{"move_after": "1 day"}'); \echo :SQLSTATE
-- It has no OID any more by which it could be named.
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.alter_policy(0, enabled => false)
SELECT tiered_storage.remove_policy(0)
$refused$);
\set ECHO all
-- By its last owner, or an administrator.
GRANT EXECUTE ON FUNCTION tiered_storage.remove_policy TO regress_owner, regress_other;
SET ROLE regress_other;
SELECT tiered_storage.alter_policy(policy_id => :slow, enabled => false); \echo :SQLSTATE
SELECT tiered_storage.remove_policy(policy_id => :slow); \echo :SQLSTATE
\set ECHO none
-- Nor is it that of a table of another role with its name.
RESET ROLE;
CREATE TABLE regress_p (at date) PARTITION BY RANGE (at);
ALTER TABLE regress_p OWNER TO regress_other;
SET ROLE regress_other;
\set ECHO all
SELECT tiered_storage.alter_policy(policy_id => :slow, enabled => false); \echo :SQLSTATE
SELECT tiered_storage.alter_policy('regress_p', enabled => false); \echo :SQLSTATE
SET ROLE regress_owner;
SELECT tiered_storage.alter_policy(policy_id => :slow, enabled => false) \gset
SELECT tiered_storage.remove_policy(policy_id => :slow) \gset
RESET ROLE;
SELECT tiered_storage.add_tiering_policy('regress_p', '1 year', 'regress_slow') AS slow \gset
DROP TABLE regress_p;
UPDATE _tiered_storage.policy SET database_oid = 0;
SELECT tiered_storage.alter_policy(policy_id => :slow, enabled => false) \gset
-- What another cluster wrote down about owners counts for nothing in this one.
UPDATE _tiered_storage.policy SET system_identifier = 1;
SET ROLE regress_other;
SELECT tiered_storage.remove_policy(policy_id => :slow); \echo :SQLSTATE
RESET ROLE;
SELECT tiered_storage.remove_policy(policy_id => :slow) \gset

---------------------------------------------------------------------------
-- Several policies have moved something in one batch
---------------------------------------------------------------------------

\set ECHO none
CREATE TABLE regress_p (at date) PARTITION BY RANGE (at);
CREATE TABLE regress_p_1 PARTITION OF regress_p FOR VALUES
	FROM ('2024-01-01') TO ('2025-01-01') TABLESPACE regress_ts_fast;
CREATE TABLE regress_q (at date) PARTITION BY RANGE (at);
CREATE TABLE regress_q_1 PARTITION OF regress_q FOR VALUES
	FROM ('2024-01-01') TO ('2025-01-01') TABLESPACE regress_ts_fast;
ALTER SEQUENCE _tiered_storage.policy_policy_id_seq RESTART WITH 100;
\set ECHO all
SELECT tiered_storage.add_tiering_policy('regress_p', '1 year', 'regress_slow'),
	tiered_storage.add_tiering_policy('regress_q', '1 year', 'regress_cheap') \g /dev/null
CALL tiered_storage.migrate();
CALL tiered_storage.undo_move(3);
-- As the hint says.
SELECT tiered_storage.alter_policy(policy_id => id, enabled => false) FROM unnest('{100, 101}'::int[]) id \g /dev/null
CALL tiered_storage.migrate();
\set ECHO none
DROP TABLE regress_p, regress_q;

-- What is refused counts in a dry run and afterwards.
CREATE ROLE regress_stranger;
GRANT USAGE ON SCHEMA tiered_storage TO regress_stranger;
GRANT EXECUTE ON PROCEDURE tiered_storage.undo_move TO regress_stranger;
GRANT CREATE ON TABLESPACE regress_ts_fast TO regress_stranger;
CREATE TABLE regress_p_first (n int) TABLESPACE regress_ts_fast;
CREATE TABLE regress_p_own (n int) TABLESPACE regress_ts_fast;
CREATE TABLE regress_p_last (n int) TABLESPACE regress_ts_fast;
SET client_min_messages = warning;
CALL tiered_storage.move_relation('regress_p_first', 'regress_slow');
CALL tiered_storage.move_relation('regress_p_own', 'regress_slow');
CALL tiered_storage.move_relation('regress_p_last', 'regress_slow');
RESET client_min_messages;
UPDATE _tiered_storage.move SET batch_id = 1000 WHERE relation_name ~ '_(first|own|last)$';
ALTER TABLE regress_p_own OWNER TO regress_stranger;
SET ROLE regress_stranger;
\set ECHO all
CALL tiered_storage.undo_move(1000, dry_run => true);
CALL tiered_storage.undo_move(1000);
\set ECHO none
RESET ROLE;
DROP TABLE regress_p_first, regress_p_own, regress_p_last;
DROP OWNED BY regress_stranger;
DROP ROLE regress_stranger;

DROP TABLE regress_n;
DROP VIEW regress_where;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
DROP OWNED BY regress_owner, regress_other;
DROP ROLE regress_owner, regress_other;
\set ECHO all

-- Who may do what, and as whom code of others runs.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none

SET tiered_storage.test_now = '2026-06-01 00:00:00+00';
CREATE ROLE regress_nobody;
CREATE ROLE regress_owner;
CREATE ROLE regress_member IN ROLE regress_owner;
CREATE ROLE regress_stranger;
CREATE ROLE regress_monitor IN ROLE pg_monitor;
CREATE ROLE regress_admin;
-- What an owner needs to move what is his.
GRANT USAGE ON SCHEMA tiered_storage TO regress_owner, regress_stranger;
GRANT EXECUTE ON PROCEDURE tiered_storage.move_relation, tiered_storage.migrate TO regress_owner, regress_stranger;
GRANT EXECUTE ON FUNCTION tiered_storage.add_tiering_policy, tiered_storage.remove_policy TO regress_owner,
	regress_stranger;
GRANT CREATE ON TABLESPACE regress_ts_fast, regress_ts_slow TO regress_owner, regress_stranger;
-- What makes an administrator of tiers.
GRANT USAGE ON SCHEMA tiered_storage, _tiered_storage TO regress_admin;
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA tiered_storage, _tiered_storage TO regress_admin;
GRANT CREATE ON TABLESPACE regress_ts_slow TO regress_admin;
CREATE SCHEMA regress_s AUTHORIZATION regress_owner;
GRANT USAGE ON SCHEMA regress_s TO PUBLIC;
SET ROLE regress_owner;
CREATE TABLE regress_s.t (a int) TABLESPACE regress_ts_fast;
CREATE INDEX t_a ON regress_s.t (a) TABLESPACE regress_ts_fast;
CREATE TABLE regress_s.p (at date, a int) PARTITION BY RANGE (at);
CREATE TABLE regress_s.p_1 PARTITION OF regress_s.p FOR VALUES
	FROM ('2024-01-01') TO ('2025-01-01') TABLESPACE regress_ts_fast;
RESET ROLE;
CREATE VIEW regress_where AS
	SELECT c.oid::regclass::text AS relation, COALESCE(t.spcname, '(default)') AS tablespace
	FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
	WHERE c.relnamespace = 'regress_s'::regnamespace AND c.relkind IN ('r', 'i');
\set where 'SELECT * FROM regress_where ORDER BY relation COLLATE "C"'

\echo '-- Nobody in particular'

\set VERBOSITY terse
SET ROLE regress_nobody;
CALL tiered_storage.move_relation('pg_class', 'regress_slow');
RESET ROLE;
GRANT USAGE ON SCHEMA tiered_storage, _tiered_storage TO regress_nobody;
SET ROLE regress_nobody;
SELECT * FROM pg_temp.refused($refused$
SELECT * FROM tiered_storage.tiers
SELECT * FROM _tiered_storage.tier
SELECT * FROM _tiered_storage.policies
SELECT * FROM _tiered_storage.moves
SELECT * FROM _tiered_storage.heat
SELECT * FROM tiered_storage.workers
SELECT * FROM _tiered_storage.history_rows
SELECT * FROM tiered_storage.recommend_placement()
SELECT * FROM tiered_storage.explain_placement('pg_class')
SELECT * FROM tiered_storage.evaluate_policies()
SELECT * FROM _tiered_storage.tablespace_devices()
SELECT tiered_storage.add_tier('regress_new', '{pg_default}')
SELECT tiered_storage.discover_tiers()
$refused$);
CALL tiered_storage.move_relation('regress_s.t', 'regress_slow');
CALL tiered_storage.migrate();
SELECT * FROM pg_temp.refused($refused$
CALL tiered_storage.migrate(dry_run => true)
CALL tiered_storage.sample()
SELECT _tiered_storage.notify_launcher()
$refused$);
RESET ROLE;
\set VERBOSITY default

\echo '-- The owner, a member of that role, somebody else'

SET ROLE regress_stranger;
CALL tiered_storage.move_relation('regress_s.t', 'regress_slow'); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_s.t_a', 'regress_slow'); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_s.t', 'pg_default'); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_s.p', 'regress_slow'); \echo :SQLSTATE
SELECT tiered_storage.add_tiering_policy('regress_s.p', '1 day', 'regress_slow'); \echo :SQLSTATE
RESET ROLE;
\echo '-- It leaves no trace, in which a worker could see a failure.'
SELECT relation, state, requested_by FROM _tiered_storage.moves;
:where;
SET ROLE regress_owner;
CALL tiered_storage.move_relation('regress_s.t', 'regress_slow');
SELECT tiered_storage.add_tiering_policy('regress_s.p', '1 day', 'regress_slow') AS id \gset
RESET ROLE;
:where;
SET ROLE regress_member;
CALL tiered_storage.move_relation('regress_s.t', 'regress_fast');
SELECT tiered_storage.remove_policy('regress_s.p') \gset
SELECT tiered_storage.add_tiering_policy('regress_s.p', '1 day', 'regress_slow') AS id \gset
RESET ROLE;
:where;
SELECT relation, requested_by, state FROM _tiered_storage.moves ORDER BY move_id;
SET ROLE regress_stranger;
SELECT tiered_storage.remove_policy('regress_s.p'); \echo :SQLSTATE
SELECT tiered_storage.remove_policy(policy_id => :id); \echo :SQLSTATE
SELECT tiered_storage.add_tiering_policy('regress_s.p', '1 day', 'regress_slow',
	if_not_exists => true); \echo :SQLSTATE
RESET ROLE;
SELECT relation, tier_name, created_by FROM _tiered_storage.policies;

\echo '-- An owner who may not create in the tablespace, as in ALTER TABLE; his database''s own is free.'
SET ROLE regress_owner;
CALL tiered_storage.move_relation('regress_s.t', 'regress_cheap'); \echo :SQLSTATE
SELECT tiered_storage.add_tiering_policy('regress_s.p', '1 year', 'regress_cheap'); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_s.t', 'pg_default');
RESET ROLE;
:where;
\echo '-- migrate() acts for the one who made the policy, whoever calls.'
SET ROLE regress_stranger;
CALL tiered_storage.migrate();
RESET ROLE;
SELECT relation, state, requested_by, policy_id = :id AS by_policy FROM _tiered_storage.moves
	ORDER BY move_id DESC LIMIT 1;
SELECT tiered_storage.remove_policy('regress_s.p') \gset
-- Made up, since no call makes it in the time of a test: an empty record of moves.
TRUNCATE _tiered_storage.move;

\echo '-- pg_monitor reads everything, and changes nothing'

CALL tiered_storage.sample();
SET ROLE regress_monitor;
SELECT (SELECT count(*) FROM tiered_storage.tiers) AS tiers,
	(SELECT count(*) FROM _tiered_storage.tier_tablespaces) AS tablespaces,
	(SELECT count(*) FROM _tiered_storage.policies) AS policies, (SELECT count(*) FROM _tiered_storage.moves) AS moves,
	(SELECT count(*) FROM _tiered_storage.move_progress) AS progress,
	(SELECT count(*) > 0 FROM _tiered_storage.heat) AS heat,
	(SELECT count(*) FROM tiered_storage.history WHERE period_s < 0) AS history,
	(SELECT count(*) FROM _tiered_storage.tablespace_claims() WHERE tier_name IS NULL) AS claims,
	(SELECT count(*) FROM _tiered_storage.device_profiles()) AS profiles,
	_tiered_storage.smoothed_rate(1, 0, 1e9, 1) AS rate,
	(SELECT count(*) FROM _tiered_storage.mover_progress(pg_backend_pid())) AS mover, _tiered_storage.is_paused();
SELECT database_name = current_database() AS this, state IS NOT NULL AS state, reason IS NOT NULL AS reason
	FROM _tiered_storage.worker_status() WHERE database_name = current_database();
SELECT tablespace_name, path_exists, writable FROM _tiered_storage.tablespace_devices()
	WHERE tablespace_name LIKE 'regress%' ORDER BY 1;
SELECT (SELECT count(*) FROM tiered_storage.evaluate_policies()) AS verdicts,
	(SELECT count(*) > 0 FROM tiered_storage.recommend_placement(include_unchanged => true)) AS advice,
	(SELECT count(*) FROM tiered_storage.explain_placement('regress_s.p_1')) AS places;
\set VERBOSITY terse
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_tier('regress_new', '{pg_default}')
SELECT tiered_storage.alter_tier('regress_slow', rank => 7)
SELECT tiered_storage.remove_tier('regress_slow')
SELECT tiered_storage.discover_tiers()
SELECT tiered_storage.add_tiering_policy('regress_s.p', '1 day', 'regress_slow')
SELECT tiered_storage.remove_policy(policy_id => 1)
$refused$);
CALL tiered_storage.move_relation('regress_s.t', 'regress_slow');
CALL tiered_storage.migrate();
SELECT * FROM pg_temp.refused($refused$
CALL tiered_storage.sample()
SELECT _tiered_storage.notify_launcher()
SELECT tiered_storage.pause()
SELECT tiered_storage.resume()
SELECT * FROM _tiered_storage.move_file
UPDATE _tiered_storage.sampler SET samples = 0
DELETE FROM _tiered_storage.moves
INSERT INTO _tiered_storage.tier_tablespace VALUES ('x', 0, 0, 'regress_slow', false)
SELECT * FROM _tiered_storage.tier
$refused$);
\set VERBOSITY default
RESET ROLE;

\echo '-- The administrator of tiers is no superuser'

SET client_min_messages = warning;
SET ROLE regress_admin;
SELECT tiered_storage.alter_tier('regress_cheap', price_per_gb_month => 0.02) \g /dev/null
SELECT tiered_storage.alter_tier('regress_cheap', new_name => 'regress_cheaper') \g /dev/null
SELECT tiered_storage.remove_tier('regress_cheaper') \g /dev/null
SELECT tiered_storage.add_tier('regress_cheap', '{regress_ts_cheap}', reserve_fraction => 0) \g /dev/null
CALL tiered_storage.sample();
SELECT tiered_storage.pause();
SELECT _tiered_storage.is_paused();
SELECT tiered_storage.resume();
\echo '-- Others'' tables, where he may create.'
CALL tiered_storage.move_relation('regress_s.t', 'regress_slow');
CALL tiered_storage.move_relation('regress_s.t', 'regress_cheap'); \echo :SQLSTATE
SELECT tiered_storage.add_tiering_policy('regress_s.p', '1 day', 'regress_slow') AS id \gset
CALL tiered_storage.move_relation('pg_class', 'regress_slow'); \echo :SQLSTATE
\echo '-- What is beneath the functions is not his.'
\set VERBOSITY terse
SELECT * FROM pg_temp.refused($refused$
DELETE FROM _tiered_storage.move
DELETE FROM _tiered_storage.move_file
UPDATE _tiered_storage.policy SET created_by = current_user
$refused$);
\set VERBOSITY default
RESET ROLE;
:where;
SELECT relation, requested_by, state FROM _tiered_storage.moves ORDER BY move_id;
\echo '-- His policy still works when the owner may not create there.'
REVOKE CREATE ON TABLESPACE regress_ts_slow FROM regress_owner;
CALL tiered_storage.move_relation('regress_s.p', 'regress_fast');
CALL tiered_storage.migrate();
:where;
SELECT pg_get_userbyid(relowner) AS owner FROM pg_class WHERE oid IN ('regress_s.p_1'::regclass,
	'regress_s.t'::regclass);
GRANT CREATE ON TABLESPACE regress_ts_slow TO regress_owner;
SELECT tiered_storage.remove_policy(policy_id => :id) \gset
RESET client_min_messages;

\echo '-- Code of an owner does not run at all'

SET ROLE regress_owner;
CREATE TABLE regress_s.log (what text, who text);
GRANT INSERT ON regress_s.log TO PUBLIC;
CREATE FUNCTION regress_s.record(what text) RETURNS boolean VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog
	AS $$
BEGIN
	INSERT INTO regress_s.log VALUES (what, current_user);
	RETURN true;
END
$$;
CREATE FUNCTION regress_s.compare(int, int) RETURNS int IMMUTABLE LANGUAGE plpgsql
	AS $$ BEGIN PERFORM regress_s.record('comparison'); RETURN btint4cmp($1, $2); END $$;
CREATE FUNCTION regress_s.key(int) RETURNS int IMMUTABLE LANGUAGE plpgsql
	AS $$ BEGIN PERFORM regress_s.record('key'); RETURN $1; END $$;
RESET ROLE;
CREATE OPERATOR CLASS regress_s.ops FOR TYPE int USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =,
	OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 regress_s.compare(int, int);
\echo '-- Its bounds are compared by a function of his; the second column is one.'
SET ROLE regress_owner;
CREATE TABLE regress_s.k (k int) PARTITION BY RANGE (k regress_s.ops, regress_s.key(k));
CREATE TABLE regress_s.k_1 PARTITION OF regress_s.k FOR VALUES FROM (0, 0) TO (1, 0) TABLESPACE regress_ts_fast;
CREATE TABLE regress_s.k_2 PARTITION OF regress_s.k FOR VALUES FROM (1, 0) TO (2, 0) TABLESPACE regress_ts_fast;
CREATE INDEX ON regress_s.k (regress_s.key(k));
SELECT DISTINCT what, who FROM regress_s.log;
TRUNCATE regress_s.log;
SELECT tiered_storage.add_tiering_policy('regress_s.k', '1 day', 'regress_slow',
	options => '{"key_unit": "seconds"}') AS id \gset
RESET ROLE;
SELECT relation, verdict FROM tiered_storage.evaluate_policies();
CALL tiered_storage.migrate(dry_run => true);
CALL tiered_storage.migrate();
SELECT current_user = session_user AS still_me;
SELECT * FROM regress_s.log;
SELECT tiered_storage.remove_policy(policy_id => :id) \gset
DROP TABLE regress_s.k;
DROP OPERATOR FAMILY regress_s.ops USING btree;

\echo '-- Moving runs nothing of the owner at all.'
TRUNCATE regress_s.log;
SET ROLE regress_owner;
CREATE FUNCTION regress_s.expression(int) RETURNS int IMMUTABLE LANGUAGE plpgsql
	AS $$ BEGIN PERFORM regress_s.record('index expression'); RETURN $1; END $$;
CREATE FUNCTION regress_s.on_change() RETURNS trigger LANGUAGE plpgsql
	AS $$ BEGIN PERFORM regress_s.record('trigger'); RETURN NULL; END $$;
CREATE TABLE regress_s.e (a int CHECK (regress_s.expression(a) > 0), b text DEFAULT regress_s.record('default')::text)
	TABLESPACE regress_ts_fast;
INSERT INTO regress_s.e SELECT i, 'x' FROM generate_series(1, 10) i;
CREATE INDEX e_expression ON regress_s.e (regress_s.expression(a)) WHERE regress_s.expression(a) > 5;
CREATE TRIGGER on_change AFTER INSERT OR UPDATE OR DELETE
	OR TRUNCATE ON regress_s.e EXECUTE FUNCTION regress_s.on_change();
CREATE MATERIALIZED VIEW regress_s.mv TABLESPACE regress_ts_fast AS SELECT regress_s.expression(a) AS a
	FROM regress_s.e;
TRUNCATE regress_s.log;
RESET ROLE;
CALL tiered_storage.move_relation('regress_s.e', 'regress_slow');
CALL tiered_storage.move_relation('regress_s.mv', 'regress_slow');
CALL tiered_storage.sample();
SELECT count(*) > 0 AS advice FROM tiered_storage.recommend_placement(true);
SELECT * FROM regress_s.log;
SELECT relation, tablespace FROM regress_where WHERE relation IN ('regress_s.e', 'regress_s.e_expression') ORDER BY 1;

\echo '-- Names that are looked up in a schema of the attacker before ours or PostgreSQL''s.'
GRANT CREATE ON SCHEMA public TO regress_owner;
SET ROLE regress_owner;
CREATE FUNCTION public.regress_eq(name, name) RETURNS boolean LANGUAGE sql
	AS $$ SELECT regress_s.record('operator =') $$;
CREATE OPERATOR public.= (LEFTARG = name, RIGHTARG = name, FUNCTION = public.regress_eq);
CREATE FUNCTION public.regress_eq(text, text) RETURNS boolean LANGUAGE sql
	AS $$ SELECT regress_s.record('operator =') $$;
CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = text, FUNCTION = public.regress_eq);
CREATE FUNCTION public.regress_lt(float8, float8) RETURNS boolean LANGUAGE sql
	AS $$ SELECT regress_s.record('operator <') $$;
CREATE OPERATOR public.< (LEFTARG = float8, RIGHTARG = float8, FUNCTION = public.regress_lt);
CREATE FUNCTION public.format(text, text) RETURNS text LANGUAGE sql AS $$ SELECT regress_s.record('format')::text $$;
CREATE FUNCTION public.format(text, name) RETURNS text LANGUAGE sql AS $$ SELECT regress_s.record('format')::text $$;
CREATE FUNCTION public.now() RETURNS timestamptz LANGUAGE sql AS $$ SELECT CASE
	WHEN regress_s.record('now') THEN '2020-01-01'::timestamptz END $$;
CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT CASE
	WHEN regress_s.record('clock_timestamp') THEN '2020-01-01'::timestamptz END $$;
CREATE FUNCTION public.pg_control_system(OUT system_identifier bigint) LANGUAGE sql AS $$ SELECT CASE
	WHEN regress_s.record('pg_control_system') THEN 0 END $$;
CREATE FUNCTION public.array_position(name[], name) RETURNS int LANGUAGE sql AS $$ SELECT CASE
	WHEN regress_s.record('array_position') THEN 1 END $$;
CREATE FUNCTION public.unnest(name[]) RETURNS SETOF name LANGUAGE sql AS $$ SELECT CASE
	WHEN regress_s.record('unnest') THEN 'x' END::name $$;
CREATE TABLE public.pg_tablespace (oid oid, spcname name);
CREATE TABLE public.pg_class (oid oid, relname name);
TRUNCATE regress_s.log;
RESET ROLE;
CREATE TEMP TABLE pg_tablespace (oid oid, spcname name);
CREATE TEMP TABLE tier (tier_name name);
SET search_path = pg_temp, public, tiered_storage, pg_catalog;
SET client_min_messages = warning;
SELECT tiered_storage.alter_tier('regress_cheap', tablespaces => '{regress_ts_cheap}',
	price_per_gb_month => 0.5) \g /dev/null
SELECT tiered_storage.remove_tier('regress_cheap') \g /dev/null
SELECT tiered_storage.add_tier('regress_cheap', '{regress_ts_cheap}', profile => 'hdd_7200',
	reserve_fraction => 0) \g /dev/null
SELECT action FROM tiered_storage.discover_tiers() WHERE tablespace_name OPERATOR(pg_catalog.=) 'regress_ts_cheap';
SELECT tiered_storage.add_tiering_policy('regress_s.p', '1 day', 'regress_cheap') AS id \gset
SELECT pg_catalog.count(*) AS policies FROM _tiered_storage.policies;
SELECT pg_catalog.count(*) AS verdicts FROM tiered_storage.evaluate_policies();
CALL tiered_storage.migrate();
CALL tiered_storage.sample();
CALL tiered_storage.move_relation('regress_s.t', 'regress_fast');
SELECT pg_catalog.count(*) OPERATOR(pg_catalog.>) 3 AS advice FROM tiered_storage.recommend_placement(true);
SELECT pg_catalog.count(*) OPERATOR(pg_catalog.>) 3 AS heat FROM _tiered_storage.heat;
SELECT pg_catalog.count(*) OPERATOR(pg_catalog.>) 3 AS tiers FROM _tiered_storage.tiers;
SELECT pg_catalog.count(*) OPERATOR(pg_catalog.>) 3 AS moves FROM _tiered_storage.moves;
SELECT tiered_storage.remove_policy(policy_id => :id) \gset
RESET search_path;
SELECT * FROM regress_s.log;
DROP TABLE pg_temp.pg_tablespace, pg_temp.tier;
:where;

SET client_min_messages = warning;
DROP VIEW regress_where;
DROP EXTENSION tiered_storage;
DROP OWNED BY regress_nobody, regress_owner, regress_member, regress_stranger, regress_monitor, regress_admin CASCADE;
DROP ROLE regress_nobody, regress_owner, regress_member, regress_stranger, regress_monitor, regress_admin;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;

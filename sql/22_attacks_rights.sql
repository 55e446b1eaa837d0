-- Attacks that once led to somebody else's rights, and their like.
SET timezone = 'UTC';
SET datestyle = 'ISO, MDY';
SET intervalstyle = 'postgres';
SET client_min_messages = warning;
SET allow_in_place_tablespaces = true;
CREATE TABLESPACE regress_ts_fast LOCATION '';
CREATE TABLESPACE regress_ts_slow LOCATION '';
CREATE TABLESPACE regress_ts_cheap LOCATION '';
CREATE EXTENSION tiered_storage;
-- If there is a worker, its first look at this database is over before we go on;
-- what was discovered differs from machine to machine.
DO $$
DECLARE
	give_up_at timestamptz := clock_timestamp() + interval '1 minute';
BEGIN
	WHILE current_setting('shared_preload_libraries') ~ 'tiered_storage' AND
		((SELECT samples FROM tiered_storage.sampler) < 2
			OR EXISTS (SELECT FROM tiered_storage.workers WHERE database_name = current_database()
				AND state IN ('starting', 'running')))
	LOOP
		IF clock_timestamp() > give_up_at THEN
			RAISE EXCEPTION 'the worker does not come';
		END IF;
	END LOOP;
	PERFORM tiered_storage.remove_tier(tier_name) FROM tiered_storage.tiers;
	PERFORM tiered_storage.add_tier('regress_fast', '{regress_ts_fast}', profile => 'nvme', rank => 0, reserve_fraction => 0, compressed => false);
	PERFORM tiered_storage.add_tier('regress_slow', '{regress_ts_slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, compressed => false);
	PERFORM tiered_storage.add_tier('regress_cheap', '{regress_ts_cheap}', profile => 'hdd_7200', rank => 2, reserve_fraction => 0, price_per_gb_month => 0.01, compressed => false);
END
$$;
RESET client_min_messages;
\set SHOW_CONTEXT never

CREATE ROLE regress_super SUPERUSER;
CREATE ROLE regress_member IN ROLE regress_super;
CREATE ROLE regress_admin;
GRANT USAGE ON SCHEMA tiered_storage TO regress_admin, regress_member;
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA tiered_storage TO regress_admin, regress_member;
GRANT CREATE ON TABLESPACE regress_ts_fast, regress_ts_slow TO regress_admin;
CREATE SCHEMA regress_s AUTHORIZATION regress_admin;

---------------------------------------------------------------------------
-- add_standby(): a superuser's connection comes from a superuser's own session
---------------------------------------------------------------------------

-- By grant, and beneath it.
SET ROLE regress_admin;
SELECT tiered_storage.add_standby('evil', conninfo => 'host=/tmp'); \echo :SQLSTATE
SELECT tiered_storage.add_standby('evil', 'server'); \echo :SQLSTATE
INSERT INTO tiered_storage.standby (standby_name, conninfo, added_by, added_by_oid) VALUES ('evil', 'host=/tmp', current_user, 10); \echo :SQLSTATE
-- Code of his in a superuser's session: while an index is built again, a table
-- analyzed, a materialized view refreshed, a table moved.
CREATE FUNCTION regress_s.f(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	IF current_setting('regress.armed', true) = 'on' THEN
		PERFORM tiered_storage.add_standby('evil', conninfo => 'host=/tmp');
	END IF;
	RETURN $1;
EXCEPTION WHEN insufficient_privilege THEN
	RAISE WARNING 'is_superuser %, user %, session user %: %', current_setting('is_superuser'), current_user,
		CASE WHEN session_user = current_user THEN 'the same' ELSE 'another' END, SQLERRM;
	RETURN $1;
END
$$;
CREATE TABLE regress_s.t (a int) TABLESPACE regress_ts_fast;
INSERT INTO regress_s.t VALUES (1);
CREATE INDEX t_a ON regress_s.t (regress_s.f(a));
CREATE MATERIALIZED VIEW regress_s.mv AS SELECT regress_s.f(a) FROM regress_s.t;
RESET ROLE;
SET regress.armed = 'on';
REINDEX TABLE regress_s.t;
ANALYZE regress_s.t;
REFRESH MATERIALIZED VIEW regress_s.mv;
CALL tiered_storage.move_relation('regress_s.t', 'regress_slow');
-- A superuser's rights in somebody else's session, and others' in a superuser's.
CREATE FUNCTION regress_as_owner() RETURNS void LANGUAGE sql SECURITY DEFINER AS $$ SELECT tiered_storage.add_standby('evil', conninfo => 'host=/tmp') $$;
SELECT regress_as_owner(); \echo :SQLSTATE
SET ROLE regress_admin;
SELECT regress_as_owner(); \echo :SQLSTATE
RESET ROLE;
SET SESSION AUTHORIZATION regress_member;
SET ROLE regress_super;
SELECT current_setting('is_superuser') AS is_superuser;
SELECT tiered_storage.add_standby('evil', conninfo => 'host=/tmp'); \echo :SQLSTATE
RESET SESSION AUTHORIZATION;
SELECT count(*) AS standbys FROM tiered_storage.standby;
-- He himself: what stops him is not his rights.
SELECT tiered_storage.add_standby('', conninfo => 'host=/tmp'); \echo :SQLSTATE
SET SESSION AUTHORIZATION regress_super;
SELECT tiered_storage.add_standby('', conninfo => 'host=/tmp'); \echo :SQLSTATE
RESET SESSION AUTHORIZATION;
DROP FUNCTION regress_as_owner;
DROP MATERIALIZED VIEW regress_s.mv;
DROP TABLE regress_s.t;

-- END
SET client_min_messages = warning;
DROP EXTENSION tiered_storage;
DROP OWNED BY regress_admin, regress_member CASCADE;
DROP ROLE regress_admin, regress_member, regress_super;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;

-- Attacks that once led to somebody else's rights, and their like.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql

\set ECHO none
CREATE ROLE regress_super SUPERUSER;
CREATE ROLE regress_member IN ROLE regress_super;
CREATE ROLE regress_admin;
-- More than an administrator needs: what is beneath, too.
GRANT USAGE ON SCHEMA tiered_storage, _tiered_storage TO regress_admin, regress_member;
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA tiered_storage, _tiered_storage TO regress_admin, regress_member;
GRANT CREATE ON TABLESPACE regress_ts_fast, regress_ts_slow TO regress_admin;
CREATE SCHEMA regress_s AUTHORIZATION regress_admin;
CREATE ROLE regress_writer IN ROLE pg_write_all_data, pg_read_all_data;
\set ECHO all

---------------------------------------------------------------------------
-- add_standby(): a superuser's connection comes from a superuser's own session
---------------------------------------------------------------------------

-- By grant, and beneath it.
SET ROLE regress_admin;
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_standby('evil', conninfo => 'host=/tmp')
SELECT tiered_storage.add_standby('evil', 'server')
INSERT INTO _tiered_storage.standby (standby_name, conninfo, added_by, added_by_oid) VALUES ('evil', 'host=/tmp', current_user, 10)
$refused$);
RESET ROLE;
-- Who may write all tables does not name others in ours, nor change what is known.
SET ROLE regress_writer;
SELECT * FROM pg_temp.refused($refused$
INSERT INTO _tiered_storage.standby (standby_name, conninfo, added_by, added_by_oid) VALUES ('evil', 'host=/tmp', current_user, 10)
UPDATE _tiered_storage.policy SET created_by_oid = 10
DELETE FROM _tiered_storage.move
INSERT INTO _tiered_storage.state_snapshot (id) VALUES (9223372036854775807)
DELETE FROM _tiered_storage.history_hour
$refused$);
RESET ROLE;
SET ROLE regress_admin;
\set ECHO all
\set ECHO none
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
\set ECHO all
REINDEX TABLE regress_s.t;
ANALYZE regress_s.t;
REFRESH MATERIALIZED VIEW regress_s.mv;
\set ECHO none
CALL tiered_storage.move_relation('regress_s.t', 'regress_slow');
-- A role that ends with the transaction would come back as the superuser after the first commit.
\set ECHO all
DO $$ BEGIN SET LOCAL ROLE regress_admin; CALL tiered_storage.move_relation('regress_s.t', 'regress_fast'); END $$;
DO $$ BEGIN SET LOCAL ROLE regress_admin; CALL tiered_storage.migrate(); END $$; \echo :SQLSTATE
\set ECHO none
-- A superuser's rights in somebody else's session, and others' in a superuser's.
CREATE FUNCTION regress_as_owner() RETURNS void LANGUAGE sql SECURITY DEFINER
	AS $$ SELECT tiered_storage.add_standby('evil', conninfo => 'host=/tmp') $$;
\set ECHO all
SELECT regress_as_owner(); \echo :SQLSTATE
SET ROLE regress_admin;
SELECT regress_as_owner(); \echo :SQLSTATE
RESET ROLE;
SET SESSION AUTHORIZATION regress_member;
SET ROLE regress_super;
SELECT current_setting('is_superuser') AS is_superuser;
SELECT tiered_storage.add_standby('evil', conninfo => 'host=/tmp'); \echo :SQLSTATE
RESET SESSION AUTHORIZATION;
SELECT count(*) AS standbys FROM _tiered_storage.standby;
-- He himself: what stops him is not his rights.
SELECT tiered_storage.add_standby('', conninfo => 'host=/tmp'); \echo :SQLSTATE
SET SESSION AUTHORIZATION regress_super;
SELECT tiered_storage.add_standby('', conninfo => 'host=/tmp'); \echo :SQLSTATE
\set ECHO none
RESET SESSION AUTHORIZATION;
DROP FUNCTION regress_as_owner;
DROP MATERIALIZED VIEW regress_s.mv;
DROP TABLE regress_s.t;
\set ECHO all

---------------------------------------------------------------------------
-- Statements that we write for others hold hostile names
---------------------------------------------------------------------------

\set ECHO none
-- What a statement is, without executing it: exactly one, of this kind, or an error.
CREATE FUNCTION regress_kind(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
BEGIN
	OPEN c FOR EXECUTE statement;
	CLOSE c;
	RETURN 'SELECT';
EXCEPTION WHEN invalid_cursor_definition THEN
	RETURN COALESCE(substring(SQLERRM FROM 'cannot open (.*) query as cursor'), SQLERRM);
WHEN OTHERS THEN
	RETURN SQLSTATE || ': ' || SQLERRM;
END
$$;
\set ECHO all
SELECT regress_kind('SELECT 1') AS query, regress_kind('CALL tiered_storage.migrate()') AS call,
	regress_kind('CREATE TABLE x (a int)') AS create, regress_kind('SELECT 1; SELECT 2') AS two,
		regress_kind('SELECT (') AS none;
\set ECHO none
-- The parts of what it prints that are statements.
CREATE FUNCTION regress_hint(statement text, pattern text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN COALESCE(substring(hint FROM pattern), SQLERRM || ' ' || hint);
END
$$;
SET client_min_messages = warning;
CREATE TABLE regress_canary (a int);
-- From 19 on, tablespaces and roles have no line breaks in their names.
CREATE TABLE regress_names (n int, name name, place name GENERATED ALWAYS AS (translate(name, E'\n\r', '')) STORED);
INSERT INTO regress_names VALUES (1, '1testts'), (2, 'test"ts'), (3, 'a*/b'), (4, '''; DROP TABLE regress_canary; --'),
	(5, E'new\nline\r\t'),
	(6, 'back\slash\'), (7, '表é😀'), (8, repeat('x', 63)), (9, repeat('表', 21)), (10, '%I %s %1$L'), (11, '$$'), (12,
		' Space '), (13, '/* a'), (14, '--'),
	(15, '*/; DROP TABLE regress_canary; /*'), (16, '"); DROP TABLE regress_canary; --'), (17, 'select'), (18,
		'{a,"b"}'), (19, E'\x01\x7f'), (20, '$1'), (21, ':x'), (22, E'a\\''); DROP TABLE regress_canary; --');
SELECT format('CREATE TABLESPACE %I LOCATION ''''', place) FROM regress_names ORDER BY n \gexec
-- Each is the name of a schema, a table, its columns, an index, a tier, a tablespace, a role.
DO $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT * FROM regress_names ORDER BY n LOOP
		EXECUTE format('CREATE SCHEMA %I', r.name);
		EXECUTE format('CREATE ROLE %I', r.place);
		PERFORM tiered_storage.add_tier(r.name, ARRAY[r.place]::text, profile => 'sata_ssd', price_per_gb_month => 1000000 + r.n, reserve_fraction => 0,
	device => '{"capacity_bytes": 1000000000}');
		EXECUTE format('CREATE TABLE %1$I.%1$I (%1$I bigint, "filler" text, "more'' ""*/" date) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast', r.name);
		EXECUTE format('ALTER TABLE %1$I.%1$I ALTER filler SET STORAGE PLAIN', r.name);
		EXECUTE format('INSERT INTO %1$I.%1$I (%1$I, filler) SELECT i, repeat(''x'', 6000) FROM generate_series(1, 120) i ORDER BY i', r.name);
		EXECUTE format('CREATE INDEX %2$I ON %1$I.%1$I (%1$I) TABLESPACE regress_ts_fast', r.name, left(r.name,
			10) || 'i');
		EXECUTE format('ANALYZE %1$I.%1$I', r.name);
	END LOOP;
END
$$;
CALL tiered_storage.sample();
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks; rows as a dump or
-- another machine has left them.
UPDATE _tiered_storage.relation_state SET observed_since = now() - interval '1 year';
-- recommend_partitioning(): the last blocks of each are in shared buffers.
DO $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT * FROM regress_names ORDER BY n LOOP
		EXECUTE format('ALTER TABLE %1$I.%1$I SET TABLESPACE regress_ts_slow', r.name);
		EXECUTE format('ALTER TABLE %1$I.%1$I SET TABLESPACE regress_ts_fast', r.name);
		EXECUTE format('SELECT count(*) FROM %1$I.%1$I WHERE ctid >= ''(110,0)'' AND ctid < ''(130,0)''', r.name);
	END LOOP;
END
$$;
\set ECHO all
SELECT p.key_column = n.name AS key, CASE WHEN p.command IS NOT NULL THEN regress_kind(p.command) END AS kind,
	position(quote_ident(n.name) IN p.reason) > 0 AS in_reason, count(*) AS names
	FROM regress_names n LEFT
		JOIN _tiered_storage.recommend_partitioning(100 * 8192) p ON p.relation = format('%1$I.%1$I', n.name)::regclass
			GROUP BY 1, 2, 3;
\set ECHO none
\getenv abs_builddir PG_ABS_BUILDDIR
\set script :abs_builddir '/results/23_attacks_rights.psql'
CREATE FUNCTION pg_temp.answer(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE command INTO answer;
	RETURN answer;
END
$$;
SELECT pg_temp.answer(p.command) FROM regress_names n
	JOIN _tiered_storage.recommend_partitioning(100 * 8192) p ON p.relation = format('%1$I.%1$I', n.name)::regclass
	WHERE p.command IS NOT NULL ORDER BY n.n \g (tuples_only=on) :script
\o /dev/null
\i :script
\o
\set ON_ERROR_STOP off
RESET search_path;
\set ECHO all
-- Their scripts run, and are undone.
SELECT count(*) AS made, count(*) FILTER (WHERE a.attname = n.name) AS by_this_column
	FROM regress_names n JOIN pg_namespace s ON s.nspname = n.name
	JOIN pg_class c ON c.relnamespace = s.oid AND c.relname = n.name
		JOIN pg_partitioned_table p ON p.partrelid = c.oid
	JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0];
\set ECHO none
\set tiered_storage_undo 1
\o /dev/null
\i :script
\o
\unset tiered_storage_undo
\set ON_ERROR_STOP off
RESET search_path;
RESET lock_timeout;
\set ECHO all
SELECT count(*) AS as_before, (SELECT count(*) FROM pg_inherits WHERE inhparent::regclass::text !~ '_tiered_storage') AS partitions
	FROM regress_names n WHERE EXISTS (SELECT FROM pg_class c
		WHERE c.oid = format('%1$I.%1$I', n.name)::regclass AND c.relkind = 'r');
-- recommend_placement(): each is wanted on the tier of its name.
SELECT count(*) AS pins FROM regress_names n CROSS JOIN LATERAL tiered_storage.pin(format('%1$I.%1$I',
	n.name)::regclass, n.name) p;
SELECT p.recommended_tier = n.name AS tier, regress_kind(p.command) AS kind, p.confidence, count(*) AS names
	FROM regress_names n LEFT JOIN tiered_storage.recommend_placement() p ON p.relation = format('%1$I.%1$I',
		n.name)::regclass GROUP BY 1, 2, 3;
SELECT count(*) AS kinds FROM tiered_storage.recommend_placement() p WHERE regress_kind(p.command) IS DISTINCT
	FROM 'CALL';
-- Hints: what a person is told to do.
SELECT count(*) AS names FROM regress_names n
	CROSS JOIN LATERAL regress_hint(format('SELECT tiered_storage.add_tier(''regress_new'', ARRAY[%L]::text)',
		n.place), '(tiered_storage.alter_tier.*)\.$') h (hint)
	WHERE h.hint = format('tiered_storage.alter_tier(%L, tablespaces => ...), or remove_tier(%L)', n.name, n.name);
\set ECHO none
-- Who may not is told how he might.
GRANT USAGE ON SCHEMA tiered_storage, """); DROP TABLE regress_canary; --" TO """); DROP TABLE regress_canary; --";
GRANT EXECUTE ON PROCEDURE tiered_storage.move_relation TO """); DROP TABLE regress_canary; --";
ALTER TABLE """); DROP TABLE regress_canary; --"."""); DROP TABLE regress_canary; --" OWNER TO """); DROP TABLE regress_canary; --";
SET ROLE """); DROP TABLE regress_canary; --";
\set ECHO all
CALL tiered_storage.move_relation('"""); DROP TABLE regress_canary; --"."""); DROP TABLE regress_canary; --"',
	'"); DROP TABLE regress_canary; --');
\set ECHO none
RESET ROLE;
ALTER TABLE """); DROP TABLE regress_canary; --"."""); DROP TABLE regress_canary; --" OWNER TO CURRENT_USER;
REVOKE ALL ON SCHEMA tiered_storage FROM """); DROP TABLE regress_canary; --";
REVOKE ALL ON PROCEDURE tiered_storage.move_relation FROM """); DROP TABLE regress_canary; --";
\set ECHO all
-- What is pinned: its name is a name again.
SELECT n.n FROM regress_names n WHERE NOT EXISTS (SELECT FROM _tiered_storage.pins p
	WHERE p.relation_name::regclass = format('%1$I.%1$I', n.name)::regclass AND p.tier_name = n.name);
-- recommend_settings(): of each tablespace.
SELECT count(DISTINCT s.tablespace_name) AS tablespaces, count(*) FILTER (WHERE regress_kind(s.command) IS DISTINCT
	FROM 'ALTER TABLESPACE'
		OR NOT starts_with(s.command, format('ALTER TABLESPACE %I SET (', n.place))) AS wrong
	FROM _tiered_storage.recommend_settings() s JOIN regress_names n ON n.place = s.tablespace_name;
-- Done, and taken back.  On a busy machine it says that something is moved later in the batch.
CALL tiered_storage.apply_placement();
SELECT count(*) AS moved FROM regress_names n JOIN pg_class c ON c.oid = format('%1$I.%1$I', n.name)::regclass
	JOIN pg_tablespace s ON s.oid = c.reltablespace AND s.spcname = n.place;
SELECT count(*) AS names FROM regress_names n JOIN _tiered_storage.moves m ON m.state = 'done'
	AND m.relation = format('%1$I.%1$I', n.name)::regclass::text AND m.to_tier = n.name;
SELECT tiered_storage.unpin(relation) > 0 FROM _tiered_storage.pins \g /dev/null
SELECT regress_kind(undo_command) AS kind FROM _tiered_storage.move_batches;
SELECT undo_command FROM _tiered_storage.move_batches \gexec
SELECT count(*) AS back FROM regress_names n JOIN pg_class c ON c.oid = format('%1$I.%1$I', n.name)::regclass
	JOIN pg_tablespace s ON s.oid = c.reltablespace AND s.spcname = 'regress_ts_fast';
SELECT count(*) AS canary FROM regress_canary;

---------------------------------------------------------------------------
-- A policy and a pin go with their relation; restored ones mean one of the same owner and kind
---------------------------------------------------------------------------

\set ECHO none
SET client_min_messages = warning;
CREATE ROLE regress_alice;
CREATE ROLE regress_bob;
CREATE SCHEMA regress_shared;
GRANT ALL ON SCHEMA regress_shared TO regress_alice, regress_bob;
CREATE VIEW regress_bound AS
	SELECT (SELECT relation FROM _tiered_storage.policies) AS policy_of, (SELECT last_result
		FROM _tiered_storage.policies) AS last_result,
		(SELECT relation FROM _tiered_storage.pins WHERE relation_name = 'regress_shared.p') AS pin_of,
		(SELECT relation FROM _tiered_storage.pins WHERE relation_name = 'regress_shared.m') AS pin_of_m;
CREATE FUNCTION regress_make(who name) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SET LOCAL ROLE %I', who);
	CREATE TABLE regress_shared.p (at date) PARTITION BY RANGE (at);
	CREATE TABLE regress_shared.p_1 PARTITION OF regress_shared.p FOR VALUES
		FROM ('2001-01-01') TO ('2001-02-01') TABLESPACE regress_ts_fast;
	RESET ROLE;
	/* As a restore leaves them. */
	UPDATE _tiered_storage.policy SET database_oid = 0;
	UPDATE _tiered_storage.pin SET database_oid = 0;
END
$$;
GRANT CREATE ON TABLESPACE regress_ts_fast TO regress_alice, regress_bob;
\set ECHO all
SELECT regress_make('regress_alice');
CREATE MATERIALIZED VIEW regress_shared.m TABLESPACE regress_ts_fast AS SELECT 1;
-- By an administrator, whose rights on the tablespace his policy uses.
SELECT tiered_storage.pin('regress_shared.p', 'regress_slow'), tiered_storage.pin('regress_shared.m', 'regress_slow');
SELECT tiered_storage.add_tiering_policy('regress_shared.p', '1 day', 'regress_slow') > 0 AS added \gset
SELECT * FROM regress_bound;
-- Of a table that another role has created.
DROP TABLE regress_shared.p;
SELECT * FROM regress_bound;
SELECT regress_make('regress_bob');
SELECT * FROM regress_bound;
SELECT relation, verdict FROM tiered_storage.evaluate_policies();
CALL tiered_storage.sample();
CALL tiered_storage.migrate();
SELECT * FROM regress_bound;
SELECT count(*) AS moves FROM _tiered_storage.moves WHERE relation LIKE 'regress_shared.%';
-- Of a table of the same owner.
DROP TABLE regress_shared.p;
SELECT regress_make('regress_alice');
SELECT * FROM regress_bound;
SELECT relation, verdict FROM tiered_storage.evaluate_policies();
\set ECHO none
-- Known by its OID, the policy stays with the table when its owner changes.
CALL tiered_storage.sample();
ALTER TABLE regress_shared.p OWNER TO regress_bob;
CALL tiered_storage.sample();
\set ECHO all
SELECT * FROM regress_bound;
DROP TABLE regress_shared.p;
SELECT regress_make('regress_alice');
SELECT * FROM regress_bound;
DROP TABLE regress_shared.p;
SELECT regress_make('regress_bob');
SELECT * FROM regress_bound;
\set ECHO none
-- Another role of that name is another one; the same one with another name is not.
CALL tiered_storage.sample();
DROP TABLE regress_shared.p;
ALTER ROLE regress_bob RENAME TO regress_robert;
CREATE ROLE regress_bob;
GRANT ALL ON SCHEMA regress_shared TO regress_bob;
GRANT CREATE ON TABLESPACE regress_ts_fast TO regress_bob;
\set ECHO all
SELECT regress_make('regress_bob');
SELECT * FROM regress_bound;
DROP TABLE regress_shared.p;
SELECT regress_make('regress_robert');
SELECT * FROM regress_bound;
\set ECHO none
-- Of another kind.
DROP MATERIALIZED VIEW regress_shared.m;
CREATE TABLE regress_shared.m () TABLESPACE regress_ts_fast;
DROP TABLE regress_shared.p;
CREATE TABLE regress_shared.p ();
ALTER TABLE regress_shared.p OWNER TO regress_robert;
\set ECHO all
SELECT * FROM regress_bound;
DROP TABLE regress_shared.p;
SELECT regress_make('regress_robert');
\set ECHO none
DROP TABLE regress_shared.m;
CREATE MATERIALIZED VIEW regress_shared.m TABLESPACE regress_ts_fast AS SELECT 1;
-- From another cluster, where OIDs are others: the owner's name counts.
CALL tiered_storage.sample();
UPDATE _tiered_storage.policy SET system_identifier = 1, relation_oid = 1, owner_oid = 1;
UPDATE _tiered_storage.pin SET system_identifier = 1, relation_oid = pin_id, owner_oid = 1;
\set ECHO all
SELECT * FROM regress_bound;
UPDATE _tiered_storage.policy SET owner_name = 'regress_alice', owner_oid = 'regress_robert'::regrole;
UPDATE _tiered_storage.pin SET owner_name = 'regress_alice', owner_oid = 'regress_robert'::regrole;
SELECT * FROM regress_bound;
\set ECHO none
DELETE FROM _tiered_storage.policy;
DELETE FROM _tiered_storage.pin;
DROP VIEW regress_bound;
DROP SCHEMA regress_shared CASCADE;
DROP FUNCTION regress_make;
REVOKE ALL ON TABLESPACE regress_ts_fast FROM regress_alice, regress_bob, regress_robert;
DROP ROLE regress_alice, regress_bob, regress_robert;

-- END
SET client_min_messages = warning;
DO $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT * FROM regress_names LOOP
		EXECUTE format('DROP SCHEMA %I CASCADE', r.name);
		EXECUTE format('DROP ROLE %I', r.place);
	END LOOP;
END
$$;
SELECT format('DROP TABLESPACE %I', place) FROM regress_names ORDER BY n \gexec
DROP TABLE regress_names, regress_canary;
DROP FUNCTION regress_kind, regress_hint;
DROP EXTENSION tiered_storage;
-- Who owns the tables says in whose name the worker moves.
SET client_min_messages = error;
SET ROLE regress_super;
CREATE EXTENSION tiered_storage;
RESET ROLE;
RESET client_min_messages;
\set ECHO all
ALTER ROLE regress_super NOSUPERUSER;
CALL tiered_storage.sample(); \echo :SQLSTATE
CALL tiered_storage.migrate();
ALTER ROLE regress_super SUPERUSER;
CALL tiered_storage.sample();
-- Whoever can create a schema could take the place of a renamed one.
ALTER SCHEMA _tiered_storage RENAME TO regress_renamed;
CREATE SCHEMA _tiered_storage;
CALL tiered_storage.sample(); \echo :SQLSTATE
DROP SCHEMA _tiered_storage;
ALTER SCHEMA regress_renamed RENAME TO _tiered_storage;
CALL tiered_storage.sample();
DROP EXTENSION tiered_storage;
\set ECHO none
DROP OWNED BY regress_admin, regress_member CASCADE;
DROP ROLE regress_writer, regress_admin, regress_member, regress_super;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
\set ECHO all

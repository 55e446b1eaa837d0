-- What a restore inserts, statement by statement, in whatever order it comes.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
CREATE TABLESPACE regress_r_1 LOCATION '';
CREATE TABLESPACE regress_r_2 LOCATION '';
CREATE TABLESPACE regress_r_3 LOCATION '';
SELECT tiered_storage.add_tier('regress a', '{regress_r_1}', rank => 0, device => '{"random_read_ms": 50}'),
	tiered_storage.add_tier('regress b', '{regress_r_2}', rank => 1, device => '{"random_read_ms": 60}'),
	tiered_storage.add_tier('regress c', '{regress_r_3}', rank => 2, device => '{"random_read_ms": 70}') \g /dev/null
\set ECHO none
SELECT tiered_storage.add_fullness_policy('regress a', 'regress b') \g /dev/null
CREATE TABLE regress_r_pinned (i integer);
SELECT tiered_storage.pin('regress_r_pinned', 'regress a') \g /dev/null
CREATE TEMPORARY TABLE dumped_pin AS SELECT * FROM _tiered_storage.pin;
CREATE TEMPORARY TABLE dumped_tier AS SELECT * FROM _tiered_storage.tier;
CREATE TEMPORARY TABLE dumped_tablespace AS SELECT * FROM _tiered_storage.tier_tablespace;
CREATE TEMPORARY TABLE dumped_fullness AS SELECT * FROM _tiered_storage.fullness_policy;
CREATE FUNCTION regress_empty() RETURNS void LANGUAGE sql AS $$
	-- Made up, since no call makes it in the time of a test: rows as a dump or another machine has left them.
	DELETE FROM _tiered_storage.fullness_policy;
	DELETE FROM _tiered_storage.pin;
	DELETE FROM _tiered_storage.tier
$$;
CREATE FUNCTION regress_discover(tier name, tablespace name) RETURNS void LANGUAGE sql AS $$
	SELECT _tiered_storage.tier_insert_discovered(tier, 'sata_ssd', false, false);
	INSERT INTO _tiered_storage.tier_tablespace SELECT spcname, oid, system_identifier, tier, true
		FROM pg_tablespace, pg_control_system() WHERE spcname = tablespace
$$;
SELECT regress_empty() \g /dev/null
CREATE VIEW regress_tiers AS
	SELECT t.tier_name, t.rank, t.profile, t.discovered, ARRAY(SELECT tt.tablespace_name
		FROM _tiered_storage.tier_tablespace tt
		WHERE tt.tier_name = t.tier_name ORDER BY 1) AS tablespaces
	FROM _tiered_storage.tier t ORDER BY t.rank, t.tier_name;

-- A tier that is discovered there is faster than the others, and has the rank of one of them: they all move down.
BEGIN;
SELECT regress_discover('regress found', 'pg_default') \g /dev/null
INSERT INTO _tiered_storage.tier SELECT * FROM dumped_tier WHERE rank = 0;
\set ECHO all
SELECT tier_name, rank FROM regress_tiers;
INSERT INTO _tiered_storage.tier_tablespace SELECT * FROM dumped_tablespace WHERE tablespace_name = 'regress_r_1';
INSERT INTO _tiered_storage.tier SELECT * FROM dumped_tier WHERE rank = 1;
SELECT tier_name, rank FROM regress_tiers;
INSERT INTO _tiered_storage.tier SELECT * FROM dumped_tier WHERE rank = 2;
INSERT INTO _tiered_storage.tier_tablespace SELECT * FROM dumped_tablespace WHERE tablespace_name <> 'regress_r_1';
SELECT tier_name, rank, tablespaces FROM regress_tiers;
ROLLBACK;
-- What names tiers comes first, and the tiers backwards.
BEGIN;
SELECT regress_discover('regress found', 'pg_default') \g /dev/null
INSERT INTO _tiered_storage.fullness_policy SELECT * FROM dumped_fullness;
INSERT INTO _tiered_storage.tier_tablespace SELECT * FROM dumped_tablespace WHERE tablespace_name = 'regress_r_3';
SELECT tier_name, profile, tablespaces FROM regress_tiers ORDER BY 1;
INSERT INTO _tiered_storage.tier SELECT * FROM dumped_tier WHERE rank = 2;
INSERT INTO _tiered_storage.tier SELECT * FROM dumped_tier WHERE rank = 1;
INSERT INTO _tiered_storage.tier SELECT * FROM dumped_tier WHERE rank = 0;
INSERT INTO _tiered_storage.tier_tablespace SELECT * FROM dumped_tablespace WHERE tablespace_name <> 'regress_r_3';
SELECT * FROM regress_tiers;
ROLLBACK;
-- Ranks that a person gives stay, whatever is restored afterwards.
BEGIN;
INSERT INTO _tiered_storage.tier SELECT * FROM dumped_tier;
SELECT tiered_storage.alter_tier('regress c', rank => 7);
INSERT INTO _tiered_storage.tier_tablespace SELECT * FROM dumped_tablespace;
SELECT tier_name, rank FROM regress_tiers;
\set ECHO none
ROLLBACK;

-- As many tiers as are possible: one that is discovered there makes room, unless something that was restored names it.
BEGIN;
SELECT regress_discover('regress found', 'pg_default'), regress_discover('regress a', 'regress_r_1') \g /dev/null
INSERT INTO _tiered_storage.tier_tablespace SELECT * FROM dumped_tablespace WHERE tier_name = 'regress a';
INSERT INTO _tiered_storage.pin SELECT * FROM dumped_pin;
INSERT INTO _tiered_storage.tier SELECT (jsonb_populate_record(d, jsonb_build_object('tier_name', format('regress %s',
	i), 'rank', i))).*
	FROM dumped_tier d, generate_series(1, 31) i WHERE d.rank = 0;
\set ECHO all
SELECT count(*), count(*) FILTER (WHERE tier_name = 'regress found') AS found,
	count(*) FILTER (WHERE tier_name = 'regress a') AS a FROM regress_tiers;
INSERT INTO _tiered_storage.tier SELECT * FROM dumped_tier WHERE rank = 0;
SELECT tier_name, discovered, tablespaces FROM regress_tiers WHERE tier_name IN ('regress a', 'regress found');
SELECT relation_name, tier_name FROM _tiered_storage.pin;
INSERT INTO _tiered_storage.tier SELECT * FROM dumped_tier WHERE rank = 1;
ROLLBACK;

-- In parts, and somebody defines a tier in between: what has come stays, for what may come.
BEGIN;
INSERT INTO _tiered_storage.pin SELECT * FROM dumped_pin;
INSERT INTO _tiered_storage.tier SELECT (jsonb_populate_record(d,
	'{"tier_name": "regress hot", "profile": "cloud_gp3", "discovered": true}')).*
	FROM dumped_tier d WHERE d.rank = 0;
SELECT tiered_storage.add_tier('regress mine', '{regress_r_3}', profile => 'hdd_7200', reserve_fraction => 0);
INSERT INTO _tiered_storage.tier SELECT * FROM dumped_tier WHERE rank = 0;
INSERT INTO _tiered_storage.tier_tablespace SELECT (jsonb_populate_record(d,
	'{"tier_name": "regress hot", "discovered": true}')).*
	FROM dumped_tablespace d WHERE d.tablespace_name = 'regress_r_2';
SELECT tier_name, profile, discovered, tablespaces FROM regress_tiers ORDER BY 1;
SELECT relation_name, tier_name FROM _tiered_storage.pin;
-- One that a person takes the last tablespace from goes, as if it had been discovered here.
SELECT tiered_storage.add_tier('regress too', '{regress_r_2}', profile => 'hdd_7200', reserve_fraction => 0);
SELECT tier_name, tablespaces FROM regress_tiers ORDER BY 1;
ROLLBACK;

-- pg_dump --on-conflict-do-nothing.
BEGIN;
INSERT INTO _tiered_storage.tier SELECT * FROM dumped_tier ON CONFLICT DO NOTHING;
INSERT INTO _tiered_storage.tier_tablespace SELECT * FROM dumped_tablespace ON CONFLICT DO NOTHING;
INSERT INTO _tiered_storage.tier_tablespace SELECT * FROM dumped_tablespace ON CONFLICT DO NOTHING;
SELECT tier_name, tablespaces FROM regress_tiers;
-- Names that were exchanged since.
ALTER TABLESPACE regress_r_1 RENAME TO regress_r_0;
ALTER TABLESPACE regress_r_2 RENAME TO regress_r_1;
ALTER TABLESPACE regress_r_0 RENAME TO regress_r_2;
SELECT _tiered_storage.refresh_tablespaces();
SELECT tier_name, tablespaces FROM regress_tiers;
ROLLBACK;

-- One transaction at a time restores; nobody else can lock what they wait for.
BEGIN;
INSERT INTO _tiered_storage.tier_tablespace SELECT * FROM dumped_tablespace WHERE false;
SELECT l.locktype, l.relation::regclass, l.mode FROM pg_locks l
	WHERE l.pid = pg_backend_pid() AND l.mode = 'ExclusiveLock' AND l.locktype <> 'virtualxid' ORDER BY 1;
ROLLBACK;
CREATE ROLE regress_r_role IN ROLE pg_monitor;
SET ROLE regress_r_role;
BEGIN;
LOCK TABLE _tiered_storage.restore_turn IN ACCESS SHARE MODE;
\set ECHO none
ROLLBACK;
RESET ROLE;

SELECT regress_empty() \g /dev/null
DROP VIEW regress_tiers;
DROP TABLE regress_r_pinned;
DROP FUNCTION regress_empty, regress_discover;
DROP ROLE regress_r_role;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_r_1;
DROP TABLESPACE regress_r_2;
DROP TABLESPACE regress_r_3;
\set ECHO all

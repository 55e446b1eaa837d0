\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\pset format unaligned
\pset fieldsep ' | '
\pset footer off
-- Tiers: discovered, added, altered, removed, and everything refused.
SET timezone = 'UTC';
SET datestyle = 'ISO, MDY';
\set SHOW_CONTEXT never
SET client_min_messages = error;
SET allow_in_place_tablespaces = true;
CREATE TABLESPACE regress_ts_a LOCATION '';
CREATE EXTENSION tiered_storage;
RESET client_min_messages;
\i :abs_srcdir/sql/include/refused.sql
\set ECHO none

\echo '-- A tablespace that was there at CREATE EXTENSION has been discovered.'
SELECT t.tier_name = d.tier_name AS with_its_neighbour, t.discovered
	FROM _tiered_storage.tier_tablespaces t, _tiered_storage.tier_tablespaces d
	WHERE t.tablespace_name = 'regress_ts_a' AND d.tablespace_name = 'pg_default';
\echo '-- One that came later is found when asked, and known from then on.'
CREATE TABLESPACE regress_ts_b LOCATION '';
SELECT tablespace_name, split_part(action, ';', 1) AS action
	FROM tiered_storage.discover_tiers() WHERE tablespace_name LIKE 'regress%' ORDER BY 1;
SELECT tablespace_name, action
	FROM tiered_storage.discover_tiers() WHERE tablespace_name LIKE 'regress%' ORDER BY 1;

\echo '-- A mistake has no context but the caller''s own.'
\set SHOW_CONTEXT always
SELECT tiered_storage.add_tier('regress_tier', '{regress_ts_nowhere}');
DO $$ BEGIN PERFORM tiered_storage.add_tier('regress_tier', '{regress_ts_nowhere}'); END $$;
SELECT * FROM pg_temp.refused($refused$
SELECT _tiered_storage.refuse('undefined_object', 'called at the top')
SELECT _tiered_storage.refuse(NULL, NULL)
$refused$);
\set SHOW_CONTEXT errors

-- The discovered tier's name depends on the machine: from here on it does not.
DO $$
BEGIN
	-- Made up, since no call makes it in the time of a test: a tier that was discovered, whatever tiers the
	-- machine has.
	UPDATE _tiered_storage.tier SET tier_name = 'regress_found', rank = 0, compressed = false
		WHERE tier_name = (SELECT tier_name FROM _tiered_storage.tier_tablespaces
			WHERE tablespace_name = 'pg_default');
	PERFORM tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers WHERE tier_name <> 'regress_found';
END
$$;
\set ours 'tier_name, rank, tablespaces, profile, random_read_ms, price_per_gb_month AS price, price_is_assumed AS assumed, reserve_fraction AS reserve, low_watermark AS low, high_watermark AS high, discovered'

\echo '-- add_tier'

\echo '-- What a person says counts more than what was discovered.'
SELECT tiered_storage.add_tier('regress_slow', '{regress_ts_a}', profile => 'hdd_7200', reserve_fraction => 0,
	device => '{"compressed": false}') \gset
SELECT :ours FROM _tiered_storage.tiers WHERE tier_name = 'regress_slow';
SELECT tablespaces, discovered FROM _tiered_storage.tiers WHERE tier_name = 'regress_found';
\echo '-- A discovered tier that has lost all its tablespaces goes.'
SELECT tiered_storage.add_tier('regress_rest', '{pg_default,regress_ts_b}', profile => 'nvme', reserve_fraction => 0,
	device => '{"compressed": false}') \gset
SELECT tier_name, tablespaces, discovered FROM _tiered_storage.tiers ORDER BY rank;
\echo '-- One that is altered, or added under its own name, belongs to the person from then on.'
UPDATE _tiered_storage.tier SET discovered = true WHERE tier_name = 'regress_rest';
UPDATE _tiered_storage.tier_tablespace SET discovered = true WHERE tier_name = 'regress_rest';
SELECT tiered_storage.alter_tier('regress_rest', device => '{"parallelism": 2}') \gset
SELECT t.discovered, array_agg(tt.discovered) FROM _tiered_storage.tier t
	JOIN _tiered_storage.tier_tablespace tt USING (tier_name)
	WHERE tier_name = 'regress_rest' GROUP BY 1;
UPDATE _tiered_storage.tier SET discovered = true WHERE tier_name = 'regress_rest';
UPDATE _tiered_storage.tier_tablespace SET discovered = true WHERE tier_name = 'regress_rest';
SELECT tiered_storage.add_tier('regress_rest', '{pg_default}', profile => 'sata_ssd', price_per_gb_month => 3) \gset
SELECT :ours FROM _tiered_storage.tiers WHERE tier_name = 'regress_rest';
SELECT count(*) AS tiers_of_b FROM _tiered_storage.tier_tablespaces WHERE tablespace_name = 'regress_ts_b';
SELECT tiered_storage.remove_tier('regress_rest') \gset
\echo '-- Every property.'
SELECT tiered_storage.add_tier('regress_fast', '{regress_ts_b}', profile => 'nvme', rank => 0, price_per_gb_month => 0.25, reserve_fraction => 0, low_watermark => 0.5, high_watermark => 0.6,
	device => '{"random_read_ms": 0.5, "random_write_ms": 0.6, "sequential_read_mb_per_s": 1000,
	"sequential_write_mb_per_s": 900, "fsync_ms": 0.7, "parallelism": 4, "capacity_bytes": 1000000, "endurance_tbw": 600, "endurance_dwpd": 0.3, "compressed": true}') \gset
SELECT tier_name, rank, tablespaces, profile, compressed, random_read_ms, random_write_ms,
	sequential_read_mb_per_s, sequential_write_mb_per_s, fsync_ms, parallelism,
	price_per_gb_month, price_is_assumed, capacity_bytes, relation_bytes, relations,
	reserve_fraction, low_watermark, high_watermark, endurance_tbw, endurance_dwpd, discovered
	FROM _tiered_storage.tiers WHERE tier_name = 'regress_fast';
\echo '-- Figures that are not given are the profile''s.'
SELECT t.tier_name, (t.random_read_ms, t.random_write_ms, t.sequential_read_mb_per_s,
		t.sequential_write_mb_per_s, t.fsync_ms, t.parallelism, t.price_per_gb_month, t.endurance_dwpd)
	IS NOT DISTINCT FROM (p.random_read_ms, p.random_write_ms, p.sequential_read_mb_per_s,
		p.sequential_write_mb_per_s, p.fsync_ms, p.parallelism, p.price_per_gb_month, p.endurance_dwpd) AS like_profile
	FROM _tiered_storage.tiers t JOIN _tiered_storage.device_profiles() p USING (profile)
	ORDER BY t.rank;
SELECT profile, random_read_ms, random_write_ms, sequential_read_mb_per_s, sequential_write_mb_per_s, fsync_ms,
	parallelism, price_per_gb_month, endurance_dwpd
	FROM _tiered_storage.device_profiles();

\echo '-- What cannot be a tier.  Nothing may change in between.'
CREATE TEMP VIEW everything AS
	SELECT md5(string_agg(x::text, '' ORDER BY x::text)) AS state FROM (
		SELECT to_jsonb(t) FROM _tiered_storage.tier t
		UNION ALL SELECT to_jsonb(t) FROM _tiered_storage.tier_tablespace t
		UNION ALL SELECT to_jsonb(p) FROM _tiered_storage.policy p) x (x);
SELECT state AS before FROM everything \gset
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_tier(NULL, '{pg_default}')
SELECT tiered_storage.add_tier('', '{pg_default}')
SELECT tiered_storage.add_tier('regress_new', NULL)
SELECT tiered_storage.add_tier('regress_new', '{}')
SELECT tiered_storage.add_tier('regress_new', '{NULL}')
SELECT tiered_storage.add_tier('regress_new', '{pg_default,NULL}')
SELECT tiered_storage.add_tier('regress_new', '{{pg_default}}')
SELECT tiered_storage.add_tier('regress_new', '{no_such_tablespace}')
SELECT tiered_storage.add_tier('regress_new', '{pg_default,no_such_tablespace}')
SELECT tiered_storage.add_tier('regress_new', 'no_such_tablespace')
SELECT tiered_storage.add_tier('regress_new', '{pg_default')
SELECT tiered_storage.add_tier('regress_new', '{pg_global}')
SELECT tiered_storage.add_tier('regress_new', '{regress_ts_a}')
SELECT tiered_storage.add_tier('regress_slow', '{pg_default}')
SELECT tiered_storage.add_tier('regress_new', '{regress_ts_A}')
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', profile => 'floppy')
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', profile => 'nvm')
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', device => '{"random_read_ms": "fast"}')
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', rank => -1)
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', device => '{"random_read_ms": 0}')
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', device => '{"random_write_ms": -1}')
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', device => '{"sequential_read_mb_per_s": "NaN"}')
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', device => '{"sequential_write_mb_per_s": "Infinity"}')
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', device => '{"fsync_ms": "-Infinity"}')
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', device => '{"parallelism": 0}')
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', device => '{"endurance_tbw": 0}')
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', device => '{"endurance_dwpd": "NaN"}')
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', price_per_gb_month => -0.01)
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', price_per_gb_month => 'NaN')
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', price_per_gb_month => 'Infinity')
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', device => '{"capacity_bytes": 0}')
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', device => '{"capacity_bytes": -1}')
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', reserve_fraction => 1)
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', reserve_fraction => -0.1)
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', reserve_fraction => 'NaN')
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', low_watermark => 0.9, high_watermark => 0.8)
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', low_watermark => 0.9, high_watermark => 0.9)
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', low_watermark => 0)
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', high_watermark => 1.01)
SELECT tiered_storage.add_tier('regress_new', '{pg_default}', high_watermark => 'NaN')
$refused$);
\echo '-- The detail has the size of the file system in it.'
\set VERBOSITY terse
SELECT tiered_storage.add_tier('regress_new', '{pg_default}',
	device => '{"capacity_bytes": 9223372036854775807}'); \echo :SQLSTATE
\set VERBOSITY default
SELECT state = :'before' AS unchanged FROM everything;

\echo '-- The same limits, from inside.'
SELECT tiered_storage.add_tier('regress_new', '{pg_default,pg_default}', profile => 'nvme', rank => 1000000, price_per_gb_month => 0, reserve_fraction => 0, low_watermark => 0.01, high_watermark => 1,
	device => '{"capacity_bytes": 1}') \gset
SELECT :ours FROM _tiered_storage.tiers ORDER BY rank, tier_name;
SELECT tiered_storage.remove_tier('regress_new') \gset

\echo '-- A tier of that speed belongs between: the slower ones make room.'
SELECT tiered_storage.add_tier('regress_mid', '{pg_default}', profile => 'sata_ssd', reserve_fraction => 0,
	device => '{"compressed": false}') \gset
SELECT tier_name, rank, compressed, random_read_ms FROM _tiered_storage.tiers ORDER BY rank, tier_name;
SELECT tiered_storage.remove_tier('regress_mid') \gset

\echo '-- alter_tier'

SELECT tiered_storage.alter_tier('regress_slow', price_per_gb_month => 0.02,
	device => '{"capacity_bytes": 500000, "endurance_tbw": 5, "endurance_dwpd": 6}') \gset
SELECT price_per_gb_month, price_is_assumed, capacity_bytes, endurance_tbw, endurance_dwpd
	FROM _tiered_storage.tiers WHERE tier_name = 'regress_slow';
\echo '-- Nothing given, nothing changed.'
SELECT state AS before FROM everything \gset
SELECT tiered_storage.alter_tier('regress_slow') \gset
SELECT tiered_storage.alter_tier('regress_slow', new_name => 'regress_slow') \gset
SELECT state = :'before' AS unchanged FROM everything;
\echo '-- A profile brings its figures, but not its price where there is a real one.'
SELECT tiered_storage.alter_tier('regress_slow', profile => 'hdd_15k', device => '{"fsync_ms": 9}') \gset
SELECT profile, random_read_ms, fsync_ms, price_per_gb_month, endurance_dwpd FROM _tiered_storage.tiers
	WHERE tier_name = 'regress_slow';
\echo '-- unset: back to what is assumed.'
SELECT tiered_storage.alter_tier('regress_slow',
	device => '{"capacity_bytes": null, "endurance_tbw": null, "endurance_dwpd": null}') \gset
SELECT t.capacity_bytes = d.total_bytes AS capacity_is_file_system, t.endurance_tbw, t.endurance_dwpd
	FROM _tiered_storage.tiers t JOIN _tiered_storage.tablespace_devices() d ON d.tablespace_name = ANY (t.tablespaces)
		WHERE t.tier_name = 'regress_slow';
\echo '-- What is used and what is free is what df says, but for what others write in between.'
CREATE TABLE regress_df (used float8, avail float8);
COPY regress_df FROM PROGRAM 'df -P -k . | awk ''NR == 2 { print $3 * 1024, $4 * 1024 }''' (DELIMITER ' ');
SELECT abs(t.used_bytes - f.used) < 0.01 * t.capacity_bytes AS used,
	abs(t.free_bytes - f.avail) < 0.01 * t.capacity_bytes AS free
	FROM _tiered_storage.tiers t, regress_df f WHERE t.tier_name = 'regress_slow';
DROP TABLE regress_df;

SELECT state AS before FROM everything \gset
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.alter_tier('no_such_tier', rank => 1)
SELECT tiered_storage.alter_tier(NULL, rank => 1)
SELECT tiered_storage.alter_tier('regress_slow', profile => 'floppy')
SELECT tiered_storage.alter_tier('regress_slow', device => '{"price_per_gb_month": null}')
SELECT tiered_storage.alter_tier('regress_slow', device => '{"capacity_byte": 1000}')
SELECT tiered_storage.alter_tier('regress_slow', device => '{"fsync_ms": null}')
SELECT tiered_storage.alter_tier('regress_slow', device => '{"fsync_ms": [1]}')
SELECT tiered_storage.alter_tier('regress_slow', device => '[]')
SELECT tiered_storage.alter_tier('regress_slow', device => '{"written_bytes": -1}')
SELECT tiered_storage.alter_tier('regress_slow', device => '{"used_fraction": 2.56}')
SELECT tiered_storage.alter_tier('regress_slow', device => '{"device": "no such", "used_fraction": 0.1}')
SELECT tiered_storage.alter_tier('regress_slow', new_name => '')
SELECT tiered_storage.alter_tier('regress_slow', new_name => 'regress_fast')
SELECT tiered_storage.alter_tier('regress_slow', tablespaces => '{}')
SELECT tiered_storage.alter_tier('regress_slow', tablespaces => '{regress_ts_a,regress_ts_b}')
SELECT tiered_storage.alter_tier('regress_slow', tablespaces => '{pg_global}')
SELECT tiered_storage.alter_tier('regress_slow', price_per_gb_month => 'NaN')
SELECT tiered_storage.alter_tier('regress_slow', low_watermark => 0.95)
SELECT tiered_storage.alter_tier('regress_slow', device => '{"random_read_ms": -3}')
$refused$);
\set VERBOSITY terse
SELECT tiered_storage.alter_tier('regress_slow', device => '{"capacity_bytes": 9223372036854775807}'); \echo :SQLSTATE
\set VERBOSITY default
SELECT state = :'before' AS unchanged FROM everything;

\echo '-- Tablespaces come and go; what leaves a tier can go to another.'
SELECT tiered_storage.alter_tier('regress_slow', tablespaces => '{regress_ts_a,pg_default}') \gset
SELECT tier_name, tablespaces FROM _tiered_storage.tiers ORDER BY rank;
SET client_min_messages = warning;
SELECT tiered_storage.alter_tier('regress_slow', tablespaces => '{pg_default}') \gset
SELECT tiered_storage.alter_tier('regress_fast', tablespaces => '{regress_ts_b,regress_ts_a}') \gset
SELECT tier_name, tablespaces FROM _tiered_storage.tiers ORDER BY rank;
SELECT tiered_storage.alter_tier('regress_fast', tablespaces => '{regress_ts_b}') \gset
SELECT tiered_storage.alter_tier('regress_slow', tablespaces => '{regress_ts_a}') \gset
RESET client_min_messages;

\echo '-- remove_tier'

SELECT tiered_storage.remove_tier('no_such_tier'); \echo :SQLSTATE
SELECT tiered_storage.remove_tier('no_such_tier', if_exists => true) \gset
SELECT tiered_storage.remove_tier(NULL); \echo :SQLSTATE
CREATE TABLE regress_readings (at date, v int) PARTITION BY RANGE (at);
SELECT tiered_storage.add_tiering_policy('regress_readings', '30 days', 'regress_slow') AS policy_id \gset
ALTER TABLE regress_readings RENAME TO "regress Readings";
SELECT state AS before FROM everything \gset
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.remove_tier('regress_slow')
SELECT tiered_storage.remove_tier('regress_slow', if_exists => true)
$refused$);
SELECT state = :'before' AS unchanged FROM everything;
\echo '-- A policy follows a tier to its new name.'
SELECT tiered_storage.alter_tier('regress_slow', new_name => 'regress_slower') \gset
SELECT relation, tier_name FROM _tiered_storage.policies;
SELECT tier_name, tablespaces FROM _tiered_storage.tiers ORDER BY rank;
SELECT tiered_storage.remove_policy(policy_id => :policy_id) \gset
DROP TABLE "regress Readings";
SELECT tiered_storage.remove_tier('regress_slower') \gset
SELECT tier_name FROM _tiered_storage.tiers;
SELECT tablespace_name FROM _tiered_storage.tier_tablespaces;

\echo '-- Hostile names'

CREATE TABLESPACE "regress_1 ts" LOCATION '';
CREATE TABLESPACE "regress""ts" LOCATION '';
CREATE TABLESPACE "regress'ts" LOCATION '';
CREATE TABLESPACE "Regress_Ts" LOCATION '';
CREATE TABLESPACE "regress{,}\ts" LOCATION '';
CREATE TABLESPACE "regress_größe_温" LOCATION '';
CREATE TABLESPACE regress_2345678901234567890123456789012345678901234567890123456 LOCATION '';
SELECT octet_length(spcname::text) FROM pg_tablespace WHERE spcname LIKE 'regress\_2345%';
SELECT s.spcname, tiered_storage.add_tier(s.spcname, ARRAY[s.spcname]::text, profile => 'nvme', rank => 5,
	reserve_fraction => 0)
	FROM (SELECT spcname FROM pg_tablespace
		WHERE spcname IN ('regress_1 ts', 'regress"ts', 'regress''ts', 'Regress_Ts', 'regress{,}\ts',
			'regress_größe_温')
			OR spcname LIKE 'regress\_2345%' ORDER BY spcname COLLATE "C" LIMIT 1) s;
SET client_min_messages = warning;
SELECT count(tiered_storage.add_tier(s.spcname, ARRAY[s.spcname]::text, profile => 'nvme', rank => 5, reserve_fraction => 0))
	FROM (SELECT spcname FROM pg_tablespace
		WHERE spcname IN ('regress_1 ts', 'regress"ts', 'regress''ts', 'regress{,}\ts', 'regress_größe_温')
			OR spcname LIKE 'regress\_2345%' ORDER BY spcname COLLATE "C") s;
RESET client_min_messages;
SELECT tier_name, tablespaces FROM _tiered_storage.tiers ORDER BY tier_name COLLATE "C";
\echo '-- Messages quote them, and the hint can be pasted.'
SELECT tiered_storage.add_tier('regress_new', 'regress''ts', reserve_fraction => 0);
SELECT tiered_storage.add_tier('regress"ts', '{pg_default}');
SELECT tiered_storage.alter_tier('regress_ts', rank => 1);
SELECT tiered_storage.alter_tier('Regress_Ts', new_name => 'regress"; DROP TABLE x; --') \gset
SELECT tier_name FROM _tiered_storage.tiers WHERE 'Regress_Ts' = ANY (tablespaces);

\echo '-- Tablespaces that are renamed or dropped'

SET client_min_messages = warning;
SELECT count(tiered_storage.remove_tier(tier_name)) AS removed FROM _tiered_storage.tiers
	WHERE tier_name <> 'regress_fast';
SELECT tiered_storage.add_tier('regress_slow', '{regress_ts_a}', profile => 'hdd_7200', reserve_fraction => 0,
	device => '{"compressed": false}') \gset
RESET client_min_messages;
ALTER TABLESPACE regress_ts_a RENAME TO regress_ts_renamed;
SELECT tier_name, tablespaces FROM _tiered_storage.tiers ORDER BY rank;
\echo '-- A new tablespace with the old name is another one.'
CREATE TABLESPACE regress_ts_a LOCATION '';
SELECT tier_name, tablespaces FROM _tiered_storage.tiers ORDER BY rank;
SET client_min_messages = warning;
SELECT tiered_storage.add_tier('regress_other', '{regress_ts_a}', profile => 'hdd_15k', reserve_fraction => 0,
	device => '{"compressed": false}') \gset
RESET client_min_messages;
CALL tiered_storage.sample();
SELECT tier_name, tablespaces FROM _tiered_storage.tiers ORDER BY rank;
\echo '-- Two that swap their names keep their tiers.'
ALTER TABLESPACE regress_ts_a RENAME TO regress_ts_third;
ALTER TABLESPACE regress_ts_b RENAME TO regress_ts_a;
ALTER TABLESPACE regress_ts_third RENAME TO regress_ts_b;
SELECT tier_name, tablespaces FROM _tiered_storage.tiers ORDER BY rank;
CALL tiered_storage.sample();
SELECT tier_name, tablespaces FROM _tiered_storage.tiers ORDER BY rank;
SELECT tier_name, tablespace_name, stored_name FROM _tiered_storage.tier_tablespaces ORDER BY rank;
\echo '-- discover_tiers() sees the new one behind an old name, too.'
ALTER TABLESPACE regress_ts_b RENAME TO regress_ts_third;
CREATE TABLESPACE regress_ts_b LOCATION '';
SELECT tablespace_name, CASE WHEN tier_name LIKE 'regress%' THEN tier_name END AS tier_name, split_part(action, ';', 1)
	AS action
	FROM tiered_storage.discover_tiers() WHERE tablespace_name LIKE 'regress\_ts\__'
		OR tablespace_name = 'regress_ts_third' ORDER BY 1;
SELECT tier_name, tablespaces FROM _tiered_storage.tiers WHERE NOT discovered ORDER BY rank;
\echo '-- One that is dropped leaves a tier without tablespaces, to which nothing can move.'
DROP TABLESPACE regress_ts_renamed;
SELECT tier_name, tablespaces FROM _tiered_storage.tiers WHERE tier_name = 'regress_slow';
CALL tiered_storage.sample();
SELECT count(*) AS rows_of_it FROM _tiered_storage.tier_tablespace WHERE tier_name = 'regress_slow';
SELECT tiered_storage.alter_tier('regress_slow', price_per_gb_month => 1) \gset
CREATE TABLE regress_readings (at date, v int) PARTITION BY RANGE (at);
SELECT tiered_storage.add_tiering_policy('regress_readings', '30 days', 'regress_slow'); \echo :SQLSTATE
CALL tiered_storage.move_relation('regress_readings', 'regress_slow'); \echo :SQLSTATE
SELECT * FROM tiered_storage.calibrate_tier('regress_slow'); \echo :SQLSTATE
DROP TABLE regress_readings;

DROP VIEW everything;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_a;
DROP TABLESPACE regress_ts_b;
DROP TABLESPACE regress_ts_third;
DROP TABLESPACE "regress_1 ts";
DROP TABLESPACE "regress""ts";
DROP TABLESPACE "regress'ts";
DROP TABLESPACE "Regress_Ts";
DROP TABLESPACE "regress{,}\ts";
DROP TABLESPACE "regress_größe_温";
DROP TABLESPACE regress_2345678901234567890123456789012345678901234567890123456;

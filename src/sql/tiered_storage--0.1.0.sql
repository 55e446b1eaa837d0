/*
 * tiered_storage: catalog and SQL interface.  The Makefile concatenates the topics of
 * src/sql in the order of their numbers.
 *
 * Every name outside a function body is qualified; every function in SQL or PL/pgSQL pins
 * its search_path and turns jit off.  Nothing that changes anything is granted to PUBLIC
 * (see 90_rights.sql).
 */
\echo Use "CREATE EXTENSION tiered_storage" to load this file. \quit

/*
 * Two schemas: tiered_storage has what users call and read, _tiered_storage the tables and
 * helper functions.
 *
 * An unprivileged user may have created schemas of these names before.  The owner of a
 * schema could add functions beside ours, or rename it later and put tables where
 * functions with more rights look for ours.  CREATE EXTENSION creates the first schema if
 * it does not exist, and a dump includes it; the second one is created here and belongs to
 * the extension, so that no dump includes it.
 */
DO $$
BEGIN
	IF EXISTS (SELECT FROM pg_catalog.pg_namespace n
			JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) n.nspowner
			WHERE n.nspname OPERATOR(pg_catalog.=) 'tiered_storage'
				AND NOT r.rolsuper AND r.rolname OPERATOR(pg_catalog.<>) CURRENT_USER)
		OR EXISTS (SELECT FROM pg_catalog.pg_depend d
			WHERE d.refclassid
					OPERATOR(pg_catalog.=) 'pg_catalog.pg_namespace'::pg_catalog.regclass
				AND d.refobjid OPERATOR(pg_catalog.=) 'tiered_storage'::pg_catalog.regnamespace
				AND d.deptype OPERATOR(pg_catalog.=) 'n'
				AND d.classid
					OPERATOR(pg_catalog.<>) 'pg_catalog.pg_extension'::pg_catalog.regclass)
	THEN
		RAISE EXCEPTION 'schema "tiered_storage" exists already and is not empty, '
			'or its owner is not a superuser'
			USING ERRCODE = 'duplicate_schema',
				HINT = 'Drop or rename that schema; CREATE EXTENSION makes its own.';
	END IF;
	IF EXISTS (SELECT FROM pg_catalog.pg_namespace n
		WHERE n.nspname OPERATOR(pg_catalog.=) '_tiered_storage') THEN
		RAISE EXCEPTION 'schema "_tiered_storage" exists already'
			USING ERRCODE = 'duplicate_schema',
				HINT = 'Drop or rename that schema; CREATE EXTENSION makes its own.';
	END IF;
END
$$;

CREATE SCHEMA _tiered_storage;
COMMENT ON SCHEMA _tiered_storage IS
'tables and helper functions of tiered_storage; internal: not for direct use, and any of it may '
'change';
COMMENT ON SCHEMA tiered_storage IS
'storage tiering: the functions to call and the views to read';

CREATE FUNCTION _tiered_storage.require_writable(what text) RETURNS void
LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'tier_require_writable_sql';
COMMENT ON FUNCTION _tiered_storage.require_writable(text) IS
'raises an error on a standby and in a read-only transaction; what is the name of the function '
'that changes something';
---------------------------------------------------------------------------
-- Tiers: their figures, their tablespaces, and the devices beneath these.
---------------------------------------------------------------------------

/*
 * The limits of the numbers of a tier, for the table and for tier_check_values(), which
 * has the error messages.  A value beyond them is a typing error, or meant to make every
 * later computation fail.  NaN is above all of them.
 */
CREATE FUNCTION _tiered_storage.tier_limits(OUT property text, OUT lowest numeric,
	OUT highest numeric)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	VALUES
		('rank'::text,                0::numeric, 1000000::numeric),
		('random_read_ms',            1e-6,       1e6),
		('random_write_ms',           1e-6,       1e6),
		('sequential_read_mb_per_s',  1e-6,       1e9),
		('sequential_write_mb_per_s', 1e-6,       1e9),
		('scan_start_ms',             1e-6,       1e6),
		('fsync_ms',                  1e-6,       1e6),
		('parallelism',               1e-3,       1e6),
		('price_per_gb_month',        1e-9,       1e9),	-- or 0
		('capacity_bytes',            1,          1152921504606846976),
		('reserve_fraction',          0,          1),	-- but less than 1
		('endurance_tbw',             1e-9,       1e12),
		('endurance_dwpd',            1e-9,       1e6),
		('compression_ratio',         1,          1e6)
$$;
COMMENT ON FUNCTION _tiered_storage.tier_limits() IS
'lower and upper limit of each number of a tier';

CREATE FUNCTION _tiered_storage.tier_value_fits(property text, value numeric) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT CASE property
		WHEN 'price_per_gb_month' THEN value = 0 OR value BETWEEN l.lowest AND l.highest
		WHEN 'reserve_fraction' THEN value >= l.lowest AND value < l.highest
		ELSE value BETWEEN l.lowest AND l.highest END
	FROM _tiered_storage.tier_limits() l WHERE l.property = tier_value_fits.property
$$;
COMMENT ON FUNCTION _tiered_storage.tier_value_fits(text, numeric) IS
'whether this number of a tier is within its limits; null if the number is null';

CREATE FUNCTION _tiered_storage.tier_watermarks_fit(low float8, high float8) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT low > 0 AND low < high AND high <= 1
$$;
COMMENT ON FUNCTION _tiered_storage.tier_watermarks_fit(float8, float8) IS
'whether these are possible watermarks: fractions of the capacity, the low one below the high one';

CREATE TABLE _tiered_storage.tier
(
	tier_name name NOT NULL PRIMARY KEY CHECK (tier_name OPERATOR(pg_catalog.<>) ''),
	rank integer NOT NULL
		CHECK (_tiered_storage.tier_value_fits('rank', rank::pg_catalog.numeric)),
	profile text NOT NULL,
	random_read_ms float8 NOT NULL
		CHECK (_tiered_storage.tier_value_fits('random_read_ms',
			random_read_ms::pg_catalog.numeric)),
	random_write_ms float8 NOT NULL
		CHECK (_tiered_storage.tier_value_fits('random_write_ms',
			random_write_ms::pg_catalog.numeric)),
	sequential_read_mb_per_s float8 NOT NULL
		CHECK (_tiered_storage.tier_value_fits('sequential_read_mb_per_s',
			sequential_read_mb_per_s::pg_catalog.numeric)),
	sequential_write_mb_per_s float8 NOT NULL
		CHECK (_tiered_storage.tier_value_fits('sequential_write_mb_per_s',
			sequential_write_mb_per_s::pg_catalog.numeric)),
	fsync_ms float8 NOT NULL
		CHECK (_tiered_storage.tier_value_fits('fsync_ms', fsync_ms::pg_catalog.numeric)),
	parallelism float8 NOT NULL
		CHECK (_tiered_storage.tier_value_fits('parallelism', parallelism::pg_catalog.numeric)),
	price_per_gb_month numeric NOT NULL
		CHECK (_tiered_storage.tier_value_fits('price_per_gb_month', price_per_gb_month)),
	price_is_assumed boolean NOT NULL,
	capacity_bytes bigint
		CHECK (_tiered_storage.tier_value_fits('capacity_bytes',
			capacity_bytes::pg_catalog.numeric)),
	reserve_fraction float8 NOT NULL
		CHECK (_tiered_storage.tier_value_fits('reserve_fraction',
			reserve_fraction::pg_catalog.numeric)),
	low_watermark float8 NOT NULL,
	high_watermark float8 NOT NULL,
	endurance_tbw float8
		CHECK (_tiered_storage.tier_value_fits('endurance_tbw',
			endurance_tbw::pg_catalog.numeric)),
	endurance_dwpd float8
		CHECK (_tiered_storage.tier_value_fits('endurance_dwpd',
			endurance_dwpd::pg_catalog.numeric)),
	compressed boolean NOT NULL,
	compression_ratio float8
		CHECK (_tiered_storage.tier_value_fits('compression_ratio',
			compression_ratio::pg_catalog.numeric)),
	discovered boolean NOT NULL,
	scan_start_ms float8
		CHECK (_tiered_storage.tier_value_fits('scan_start_ms',
			scan_start_ms::pg_catalog.numeric)),
	CHECK (_tiered_storage.tier_watermarks_fit(low_watermark, high_watermark))
);
COMMENT ON TABLE _tiered_storage.tier IS
'storage tiers of this database; read them in the view tiered_storage.tiers, change them with '
'add_tier() and alter_tier()';
COMMENT ON COLUMN _tiered_storage.tier.discovered IS
'created by discover_tiers() and never changed by a person since: not dumped, and replaced when '
'a person defines a tier of this name';

/*
 * The name survives dump and restore, the OID survives a rename: in the cluster that wrote
 * the row (system_identifier) the OID counts, elsewhere the name.  refresh_tablespaces()
 * updates both.
 */
CREATE TABLE _tiered_storage.tier_tablespace
(
	tablespace_name name NOT NULL PRIMARY KEY DEFERRABLE,	-- names may be exchanged
	tablespace_oid oid NOT NULL,
	system_identifier bigint NOT NULL,
	tier_name name NOT NULL REFERENCES _tiered_storage.tier ON UPDATE CASCADE ON DELETE CASCADE,
	discovered boolean NOT NULL,
	UNIQUE (tablespace_oid, system_identifier) DEFERRABLE
);
CREATE INDEX tier_tablespace_tier_name_idx ON _tiered_storage.tier_tablespace (tier_name);
/* Replication cannot identify rows by a deferrable key. */
ALTER TABLE _tiered_storage.tier_tablespace REPLICA IDENTITY FULL;
COMMENT ON TABLE _tiered_storage.tier_tablespace IS
'the tier of each tablespace; a tablespace belongs to one tier at most';

/*
 * The name is not set: an UPDATE that names a key column takes a stronger row lock, even
 * if the value stays the same, and would wait for open transactions that have pinned
 * something to the tier.
 */
CREATE FUNCTION _tiered_storage.tier_overwrite(t _tiered_storage.tier, only_discovered boolean)
RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	UPDATE _tiered_storage.tier x SET
			rank = t.rank, profile = t.profile,
			random_read_ms = t.random_read_ms, random_write_ms = t.random_write_ms,
			sequential_read_mb_per_s = t.sequential_read_mb_per_s,
			sequential_write_mb_per_s = t.sequential_write_mb_per_s,
			fsync_ms = t.fsync_ms, parallelism = t.parallelism,
			price_per_gb_month = t.price_per_gb_month, price_is_assumed = t.price_is_assumed,
			capacity_bytes = t.capacity_bytes, reserve_fraction = t.reserve_fraction,
			low_watermark = t.low_watermark, high_watermark = t.high_watermark,
			endurance_tbw = t.endurance_tbw, endurance_dwpd = t.endurance_dwpd,
			compressed = t.compressed, compression_ratio = t.compression_ratio,
			discovered = t.discovered, scan_start_ms = t.scan_start_ms
		WHERE x.tier_name = t.tier_name AND (x.discovered OR NOT only_discovered);
	RETURN FOUND;
END
$$;
COMMENT ON FUNCTION _tiered_storage.tier_overwrite(_tiered_storage.tier, boolean) IS
'gives the tier of that name, if it exists, all other values of t; policies and pins keep '
'referring to it';

/*
 * A restore first runs CREATE EXTENSION, which discovers tiers, and then loads the dumped
 * rows, which replace what was only discovered.  The row of a discovered tier is
 * overwritten in place, because policies may refer to it.
 */
CREATE FUNCTION _tiered_storage.tier_before_insert() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	IF TG_TABLE_NAME = 'tier_tablespace' THEN
		DELETE FROM _tiered_storage.tier_tablespace t
			WHERE t.tablespace_name = NEW.tablespace_name AND t.discovered;
		RETURN NEW;
	END IF;
	IF (SELECT count(*) FROM _tiered_storage.tier) >= 32
		AND NOT EXISTS (SELECT FROM _tiered_storage.tier t WHERE t.tier_name = NEW.tier_name) THEN
		RAISE EXCEPTION 'there are too many tiers'
			USING ERRCODE = 'program_limit_exceeded', DETAIL = 'At most 32 are possible.',
				HINT = 'A tier can have more than one tablespace.';
	END IF;
	RETURN CASE WHEN _tiered_storage.tier_overwrite(NEW, true) THEN NULL ELSE NEW END;
END
$$;
COMMENT ON FUNCTION _tiered_storage.tier_before_insert() IS
'trigger: a discovered tier or tablespace gives way to one that is restored or defined by a '
'person';
CREATE TRIGGER tier_before_insert BEFORE INSERT ON _tiered_storage.tier
	FOR EACH ROW EXECUTE FUNCTION _tiered_storage.tier_before_insert();
CREATE TRIGGER tier_tablespace_before_insert BEFORE INSERT ON _tiered_storage.tier_tablespace
	FOR EACH ROW EXECUTE FUNCTION _tiered_storage.tier_before_insert();

/*
 * After a restore has given all tablespaces of a discovered tier to others, that tier is
 * nothing any more.  Not before the whole table has been loaded: a discovered tier that is
 * restored has its tablespaces only then.
 */
CREATE FUNCTION _tiered_storage.tier_after_insert() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	PERFORM _tiered_storage.remove_unused_tiers(NULL);
	RETURN NULL;
END
$$;
COMMENT ON FUNCTION _tiered_storage.tier_after_insert() IS
'trigger: removes discovered tiers that have lost their last tablespace';
CREATE TRIGGER tier_tablespace_after_insert AFTER INSERT ON _tiered_storage.tier_tablespace
	FOR EACH STATEMENT EXECUTE FUNCTION _tiered_storage.tier_after_insert();

/* A discovered tier that a policy or a pin uses is dumped together with it. */
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.tier',
	'WHERE NOT discovered OR tier_name OPERATOR(pg_catalog.=) ANY (SELECT pg_catalog.unnest('
		'ARRAY[p.tier_name, p.index_tier, p.new_partitions_on]) FROM '
		'_tiered_storage.policy p UNION ALL SELECT p.tier_name FROM _tiered_storage.pin p '
		'UNION ALL SELECT f.tier_name FROM _tiered_storage.fullness_policy f '
		'UNION ALL SELECT f.target_name FROM _tiered_storage.fullness_policy f)');
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.tier_tablespace',
	'WHERE NOT discovered OR tier_name OPERATOR(pg_catalog.=) ANY (SELECT pg_catalog.unnest('
		'ARRAY[p.tier_name, p.index_tier, p.new_partitions_on]) FROM '
		'_tiered_storage.policy p UNION ALL SELECT p.tier_name FROM _tiered_storage.pin p '
		'UNION ALL SELECT f.tier_name FROM _tiered_storage.fullness_policy f '
		'UNION ALL SELECT f.target_name FROM _tiered_storage.fullness_policy f)');

CREATE FUNCTION tiered_storage.tablespace_devices(
	OUT tablespace_name name, OUT tablespace_oid oid, OUT path text,
	OUT path_exists boolean, OUT writable boolean, OUT device text,
	OUT filesystem text, OUT mount_point text, OUT kind text,
	OUT rotational boolean, OUT is_virtual boolean, OUT compressed boolean,
	OUT file_system_id bigint, OUT total_bytes bigint, OUT used_bytes bigint,
	OUT free_bytes bigint,
	OUT profile text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_tablespace_devices';
COMMENT ON FUNCTION tiered_storage.tablespace_devices() IS
'the directory, device and file system of each tablespace except pg_global';

CREATE FUNCTION _tiered_storage.tablespace_claims(
	OUT tablespace_oid oid, OUT database_oid oid, OUT tier_name name)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_tablespace_claims';
COMMENT ON FUNCTION _tiered_storage.tablespace_claims() IS
'which database has assigned a tablespace to which tier, as published by the workers; empty '
'without shared_preload_libraries';

/*
 * Priors from published measurements, until calibration or the user replaces them.  The
 * time of a random operation is its latency; parallelism is how many operations the device
 * serves at the same time.  Prices only give the curves a shape until the user sets real
 * ones.
 */
CREATE FUNCTION tiered_storage.device_profiles(
	OUT profile text, OUT random_read_ms float8, OUT random_write_ms float8,
	OUT sequential_read_mb_per_s float8, OUT sequential_write_mb_per_s float8,
	OUT fsync_ms float8, OUT parallelism float8, OUT price_per_gb_month numeric,
	OUT endurance_dwpd float8)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	VALUES
		('memory'::text,   0.001::float8, 0.001::float8, 8000::float8, 8000::float8, 0.001::float8,
			8::float8, 2.0::numeric, NULL::float8),
		('nvme',           0.09,  0.16,  6500, 3500, 0.1, 32, 0.10,  1.3),
		('sata_ssd',       0.15,  0.33,  530,  500,  0.5, 10, 0.08,  1.0),
		('cloud_gp3',      1.0,   1.0,   131,  131,  2.0, 3,  0.08,  NULL),
		('cloud_st1',      2.0,   2.0,   40,   40,   10,  1,  0.045, NULL),
		('hdd_15k',        4.9,   5.0,   200,  200,  5.0, 1,  0.05,  NULL),
		('hdd_7200',       12.4,  10.0,  150,  150,  8.0, 1,  0.025, NULL)
$$;
COMMENT ON FUNCTION tiered_storage.device_profiles() IS
'the device profiles that add_tier() accepts, with the figures that are assumed until they are '
'given or measured';

/* Which tablespace of this cluster a row means, also after a restore or a rename. */
CREATE VIEW _tiered_storage.tier_tablespaces AS
	SELECT tt.tier_name, t.rank, ts.oid AS tablespace_oid, ts.spcname AS tablespace_name,
		tt.discovered, tt.tablespace_name AS stored_name
	FROM _tiered_storage.tier_tablespace tt
	JOIN _tiered_storage.tier t ON t.tier_name OPERATOR(pg_catalog.=) tt.tier_name
	CROSS JOIN pg_catalog.pg_control_system() c
	JOIN pg_catalog.pg_tablespace ts
		ON CASE WHEN tt.system_identifier OPERATOR(pg_catalog.=) c.system_identifier
			THEN ts.oid OPERATOR(pg_catalog.=) tt.tablespace_oid
			ELSE ts.spcname OPERATOR(pg_catalog.=) tt.tablespace_name END;
COMMENT ON VIEW _tiered_storage.tier_tablespaces IS
'the existing tablespaces of each tier, with renames and restores into another cluster resolved';
---------------------------------------------------------------------------
-- Tiers that are discovered by the devices beneath the tablespaces.
---------------------------------------------------------------------------

/* Makes room for a tier of this speed in the order of ranks, and returns its rank. */
CREATE FUNCTION _tiered_storage.tier_make_rank(name name, random_read_ms float8,
	compressed boolean) RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	new_rank integer;
BEGIN
	/* If the highest rank is taken, the ranks are numbered from 0 again, in the same order. */
	IF EXISTS (SELECT FROM _tiered_storage.tier t WHERE t.rank >= 1000000) THEN
		UPDATE _tiered_storage.tier t SET rank = r.place
			FROM (SELECT x.tier_name, dense_rank() OVER (ORDER BY x.rank) - 1 AS place
				FROM _tiered_storage.tier x) r
			WHERE r.tier_name = t.tier_name;
	END IF;
	SELECT COALESCE(max(t.rank) + 1, 0) INTO new_rank
		FROM _tiered_storage.tier t
		WHERE (t.compressed, t.random_read_ms) <= (tier_make_rank.compressed,
			tier_make_rank.random_read_ms)
			AND t.tier_name <> tier_make_rank.name;
	UPDATE _tiered_storage.tier t SET rank = t.rank + 1
		WHERE t.rank >= new_rank
			AND EXISTS (SELECT FROM _tiered_storage.tier o
				WHERE o.rank = new_rank AND o.tier_name <> tier_make_rank.name);
	RETURN new_rank;
END
$$;
COMMENT ON FUNCTION _tiered_storage.tier_make_rank(name, float8, boolean) IS
'returns the rank of a new tier of this speed; slower tiers move down by one';

CREATE FUNCTION _tiered_storage.discovered_name(kind text, compressed boolean, has_sata boolean)
RETURNS name
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT CASE
		WHEN compressed THEN 'compressed'
		WHEN kind = 'hdd' THEN 'hdd'
		WHEN kind = 'sata_ssd' THEN 'ssd'
		WHEN kind = 'nvme' AND has_sata THEN 'nvme'
		WHEN kind = 'nvme' THEN 'ssd'
		WHEN kind = 'memory' THEN 'memory'
		ELSE 'unknown' END
$$;
COMMENT ON FUNCTION _tiered_storage.discovered_name(text, boolean, boolean) IS
'the name of a discovered tier, by the kind of its device; an NVMe tier is called ssd unless the '
'server has SATA SSDs too';

CREATE FUNCTION _tiered_storage.tier_new(name name, compressed boolean, discovered boolean)
RETURNS _tiered_storage.tier
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	t _tiered_storage.tier;
BEGIN
	t.tier_name := name;
	t.price_is_assumed := true;
	t.reserve_fraction := 0.15;
	t.low_watermark := 0.80;
	t.high_watermark := 0.90;
	t.compressed := COALESCE(tier_new.compressed, false);
	t.discovered := tier_new.discovered;
	RETURN t;
END
$$;
COMMENT ON FUNCTION _tiered_storage.tier_new(name, boolean, boolean) IS
'a tier with this name and the default values; its rank, profile and figures are still missing';

/* A device of unknown kind is assumed to be a decent one until somebody sets its profile. */
CREATE FUNCTION _tiered_storage.tier_insert_discovered(
	name name, profile text, is_virtual boolean, compressed boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	t _tiered_storage.tier := _tiered_storage.tier_new(name, compressed, true);
BEGIN
	t := _tiered_storage.tier_with_profile(t, COALESCE(tier_insert_discovered.profile,
		CASE WHEN is_virtual THEN 'cloud_gp3' ELSE 'sata_ssd' END));
	t.rank := _tiered_storage.tier_make_rank(name, t.random_read_ms, t.compressed);
	PERFORM _tiered_storage.tier_insert(t);
END
$$;
COMMENT ON FUNCTION _tiered_storage.tier_insert_discovered(name, text, boolean, boolean) IS
'creates the tier of a device that was found';

CREATE FUNCTION _tiered_storage.discover_tablespace(
	tablespace_name name, tablespace_oid oid, tier name,
	profile text, is_virtual boolean, compressed boolean)
RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	is_new boolean := NOT EXISTS (SELECT FROM _tiered_storage.tier t WHERE t.tier_name = tier);
BEGIN
	IF is_new THEN
		PERFORM _tiered_storage.tier_insert_discovered(tier, profile, is_virtual, compressed);
	END IF;
	INSERT INTO _tiered_storage.tier_tablespace
			(tablespace_name, tablespace_oid, system_identifier, tier_name, discovered)
		SELECT discover_tablespace.tablespace_name, discover_tablespace.tablespace_oid,
			c.system_identifier, t.tier_name, t.discovered
		FROM _tiered_storage.tier t, pg_catalog.pg_control_system() c
		WHERE t.tier_name = tier;
	RETURN CASE WHEN is_new THEN 'tier created' ELSE 'added to tier' END ||
		CASE WHEN is_virtual
			THEN '; virtual disk: what is beneath cannot be known, set its profile with '
				'alter_tier()'
			ELSE '' END;
END
$$;
COMMENT ON FUNCTION _tiered_storage.discover_tablespace(name, oid, name, text, boolean, boolean) IS
'assigns a tablespace to the tier of its device, which is created if it does not exist; returns '
'what was done';

CREATE FUNCTION tiered_storage.discover_tiers(
	OUT tier_name name, OUT tablespace_name name, OUT device text,
	OUT kind text, OUT action text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp SET jit = off
	SET lock_timeout = '30s' SET session_replication_role = origin
AS $$
#variable_conflict use_column
DECLARE
	d record;
	has_sata boolean;
BEGIN
	PERFORM _tiered_storage.require_writable('tiered_storage.discover_tiers()');
	LOCK TABLE _tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE;
	PERFORM _tiered_storage.refresh_tablespaces();

	has_sata := EXISTS (SELECT FROM tiered_storage.tablespace_devices() x
		WHERE x.kind = 'sata_ssd' AND NOT x.compressed);

	FOR d IN
		SELECT x.*, r.tier_name AS known_tier, c.tier_name AS claimed_tier
		FROM tiered_storage.tablespace_devices() x
		LEFT JOIN _tiered_storage.tier_tablespaces r ON r.tablespace_oid = x.tablespace_oid
		LEFT JOIN LATERAL (
			SELECT k.tier_name FROM _tiered_storage.tablespace_claims() k
			WHERE k.tablespace_oid = x.tablespace_oid
				AND k.database_oid <> (SELECT b.oid FROM pg_catalog.pg_database b
					WHERE b.datname = pg_catalog.current_database())
			LIMIT 1) c ON true
		ORDER BY x.tablespace_oid
	LOOP
		tablespace_name := d.tablespace_name;
		device := d.device;
		kind := d.kind;
		IF d.known_tier IS NOT NULL THEN
			tier_name := d.known_tier;
			action := 'known';
		ELSIF NOT d.path_exists THEN
			tier_name := NULL;
			action := pg_catalog.format('skipped: directory "%s" cannot be read', d.path);
		ELSE
			/* The name that another database of the cluster uses, otherwise by the device. */
			tier_name := COALESCE(d.claimed_tier,
				_tiered_storage.discovered_name(d.kind, d.compressed, has_sata));
			action := _tiered_storage.discover_tablespace(d.tablespace_name, d.tablespace_oid,
				discover_tiers.tier_name, d.profile, d.is_virtual, d.compressed);
		END IF;
		RETURN NEXT;
	END LOOP;
END
$$;
COMMENT ON FUNCTION tiered_storage.discover_tiers() IS
'assigns each tablespace that belongs to no tier to one, by the device it is on, and creates '
'that tier if necessary; returns all tablespaces and what was done';
---------------------------------------------------------------------------
-- Checks and changes of one tier: its numbers, its profile, its tablespaces.
---------------------------------------------------------------------------

/* The error names the argument; the limits are those of the table. */
CREATE FUNCTION _tiered_storage.tier_check_values(t _tiered_storage.tier) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	bad text;
BEGIN
	SELECT pg_catalog.format('%s is %s, and must be between %s and %s', v.property, v.value,
		l.lowest, l.highest) INTO bad
	FROM (VALUES
		('random_read_ms', t.random_read_ms),
		('random_write_ms', t.random_write_ms),
		('sequential_read_mb_per_s', t.sequential_read_mb_per_s),
		('sequential_write_mb_per_s', t.sequential_write_mb_per_s),
		('scan_start_ms', t.scan_start_ms),
		('fsync_ms', t.fsync_ms),
		('parallelism', t.parallelism),
		('endurance_tbw', t.endurance_tbw),
		('endurance_dwpd', t.endurance_dwpd)) v (property, value)
	JOIN _tiered_storage.tier_limits() l ON l.property = v.property
	WHERE NOT _tiered_storage.tier_value_fits(v.property, v.value::numeric)
	LIMIT 1;
	IF bad IS NOT NULL THEN
		RAISE EXCEPTION 'invalid device profile for tier "%"', t.tier_name
			USING ERRCODE = 'invalid_parameter_value', DETAIL = bad || '.',
				HINT = 'Times, rates, parallelism and endurance are positive finite numbers.';
	END IF;
	IF NOT _tiered_storage.tier_value_fits('price_per_gb_month', t.price_per_gb_month) THEN
		RAISE EXCEPTION 'invalid price for tier "%": %', t.tier_name,
			left(t.price_per_gb_month::text, 40)
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'The price per GB and month is zero, or between 0.000000001 and '
					'1000000000.';
	END IF;
	IF NOT _tiered_storage.tier_value_fits('rank', t.rank) THEN
		RAISE EXCEPTION 'invalid rank for tier "%": %', t.tier_name, t.rank
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'Ranks count from 0, the fastest tier, and are at most a million.';
	END IF;
	IF NOT _tiered_storage.tier_value_fits('reserve_fraction', t.reserve_fraction::numeric) THEN
		RAISE EXCEPTION 'invalid reserve fraction for tier "%": %', t.tier_name, t.reserve_fraction
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'The reserve is a fraction of the capacity: at least 0 and below 1.';
	END IF;
	IF NOT _tiered_storage.tier_watermarks_fit(t.low_watermark, t.high_watermark) THEN
		RAISE EXCEPTION 'invalid watermarks for tier "%": low % and high %',
			t.tier_name, t.low_watermark, t.high_watermark
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'Watermarks are fractions of the capacity with 0 < low < high <= 1.';
	END IF;
	IF NOT _tiered_storage.tier_value_fits('compression_ratio', t.compression_ratio::numeric) OR
		t.compression_ratio IS NOT NULL AND NOT t.compressed THEN
		RAISE EXCEPTION 'invalid compression ratio for tier "%": %', t.tier_name,
			t.compression_ratio
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'On a compressed tier, it is how many bytes fit into one: from 1 to 1e6.';
	END IF;
	IF NOT _tiered_storage.tier_value_fits('capacity_bytes', t.capacity_bytes) THEN
		RAISE EXCEPTION 'invalid capacity for tier "%": % bytes', t.tier_name, t.capacity_bytes
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'It is positive, and an exbibyte at most. Leave capacity_bytes out to use '
					'the size of the file system.';
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.tier_check_values(_tiered_storage.tier) IS
'raises an error for numbers that a tier cannot have';

CREATE FUNCTION _tiered_storage.tier_require(name name) RETURNS _tiered_storage.tier
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	t _tiered_storage.tier;
BEGIN
	SELECT * INTO t FROM _tiered_storage.tier x WHERE x.tier_name = tier_require.name;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'tier "%" does not exist', name
			USING ERRCODE = 'undefined_object',
				HINT = 'SELECT tier_name FROM tiered_storage.tiers lists the tiers.';
	END IF;
	RETURN t;
END
$$;
COMMENT ON FUNCTION _tiered_storage.tier_require(name) IS
'the tier of that name; raises an error if there is none';

CREATE FUNCTION _tiered_storage.tier_check_name(name name) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	IF name IS NULL OR name = '' THEN
		RAISE EXCEPTION 'tier name must not be null or empty'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.tier_check_name(name) IS
'raises an error for a tier name that is null or empty';

CREATE FUNCTION _tiered_storage.tier_with_profile(t _tiered_storage.tier, profile text)
RETURNS _tiered_storage.tier
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	p record;
BEGIN
	SELECT * INTO p FROM tiered_storage.device_profiles() q
		WHERE q.profile = tier_with_profile.profile;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'device profile "%" does not exist', profile
			USING ERRCODE = 'undefined_object',
				HINT = 'SELECT profile FROM tiered_storage.device_profiles() lists the profiles.';
	END IF;
	t.profile := p.profile;
	t.random_read_ms := p.random_read_ms;
	t.random_write_ms := p.random_write_ms;
	t.sequential_read_mb_per_s := p.sequential_read_mb_per_s;
	t.sequential_write_mb_per_s := p.sequential_write_mb_per_s;
	t.scan_start_ms := NULL;
	t.fsync_ms := p.fsync_ms;
	t.parallelism := p.parallelism;
	IF t.price_is_assumed THEN
		t.price_per_gb_month := p.price_per_gb_month;
	END IF;
	RETURN t;
END
$$;
COMMENT ON FUNCTION _tiered_storage.tier_with_profile(_tiered_storage.tier, text) IS
'the tier with the figures of a device profile, and with the price of the profile unless one was '
'given';

/*
 * What is null in `given` stays unchanged, but without compression there is no ratio, and the
 * start of a scan was measured together with a random read.
 */
CREATE FUNCTION _tiered_storage.tier_with_values(t _tiered_storage.tier,
	given _tiered_storage.tier) RETURNS _tiered_storage.tier
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	t.rank := COALESCE(given.rank, t.rank);
	t.random_read_ms := COALESCE(given.random_read_ms, t.random_read_ms);
	t.random_write_ms := COALESCE(given.random_write_ms, t.random_write_ms);
	t.sequential_read_mb_per_s := COALESCE(given.sequential_read_mb_per_s,
		t.sequential_read_mb_per_s);
	t.sequential_write_mb_per_s := COALESCE(given.sequential_write_mb_per_s,
		t.sequential_write_mb_per_s);
	t.scan_start_ms := COALESCE(given.scan_start_ms, CASE WHEN given.random_read_ms IS NULL
		THEN t.scan_start_ms END);
	t.fsync_ms := COALESCE(given.fsync_ms, t.fsync_ms);
	t.parallelism := COALESCE(given.parallelism, t.parallelism);
	t.price_per_gb_month := COALESCE(given.price_per_gb_month, t.price_per_gb_month);
	t.price_is_assumed := t.price_is_assumed AND given.price_per_gb_month IS NULL;
	t.capacity_bytes := COALESCE(given.capacity_bytes, t.capacity_bytes);
	t.reserve_fraction := COALESCE(given.reserve_fraction, t.reserve_fraction);
	t.low_watermark := COALESCE(given.low_watermark, t.low_watermark);
	t.high_watermark := COALESCE(given.high_watermark, t.high_watermark);
	t.endurance_tbw := COALESCE(given.endurance_tbw, t.endurance_tbw);
	t.endurance_dwpd := COALESCE(given.endurance_dwpd, t.endurance_dwpd);
	t.compressed := COALESCE(given.compressed, t.compressed);
	t.compression_ratio := COALESCE(given.compression_ratio, CASE WHEN t.compressed
		THEN t.compression_ratio END);
	RETURN t;
END
$$;
COMMENT ON FUNCTION _tiered_storage.tier_with_values(_tiered_storage.tier, _tiered_storage.tier) IS
'the tier with those values that are not null in given';

CREATE FUNCTION _tiered_storage.tier_without(t _tiered_storage.tier, unset text[])
RETURNS _tiered_storage.tier
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	u text;
BEGIN
	FOREACH u IN ARRAY COALESCE(unset, '{}') LOOP
		CASE u
			WHEN 'capacity_bytes' THEN t.capacity_bytes := NULL;
			WHEN 'endurance_tbw' THEN t.endurance_tbw := NULL;
			WHEN 'endurance_dwpd' THEN t.endurance_dwpd := NULL;
			WHEN 'compression_ratio' THEN t.compression_ratio := NULL;
			WHEN 'scan_start_ms' THEN t.scan_start_ms := NULL;
			ELSE
				RAISE EXCEPTION 'property "%" of a tier cannot be unset', u
					USING ERRCODE = 'invalid_parameter_value',
						HINT = 'capacity_bytes, endurance_tbw, endurance_dwpd, '
							'compression_ratio and scan_start_ms can be unset.';
		END CASE;
	END LOOP;
	RETURN t;
END
$$;
COMMENT ON FUNCTION _tiered_storage.tier_without(_tiered_storage.tier, text[]) IS
'the tier without the values that are to be unset';

CREATE FUNCTION _tiered_storage.tier_insert(t _tiered_storage.tier) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	INSERT INTO _tiered_storage.tier
			(tier_name, rank, profile, random_read_ms, random_write_ms,
			sequential_read_mb_per_s, sequential_write_mb_per_s, fsync_ms, parallelism,
			price_per_gb_month, price_is_assumed, capacity_bytes,
			reserve_fraction, low_watermark, high_watermark,
			endurance_tbw, endurance_dwpd, compressed, compression_ratio, discovered,
			scan_start_ms)
		VALUES (t.tier_name, t.rank, t.profile, t.random_read_ms, t.random_write_ms,
			t.sequential_read_mb_per_s, t.sequential_write_mb_per_s, t.fsync_ms, t.parallelism,
			t.price_per_gb_month, t.price_is_assumed, t.capacity_bytes,
			t.reserve_fraction, t.low_watermark, t.high_watermark,
			t.endurance_tbw, t.endurance_dwpd, t.compressed, t.compression_ratio, t.discovered,
			t.scan_start_ms);
END
$$;
COMMENT ON FUNCTION _tiered_storage.tier_insert(_tiered_storage.tier) IS
'stores a new tier';

CREATE FUNCTION _tiered_storage.tier_check_tablespace(tier name, spc name, given boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	spc_oid oid;
	other record;
BEGIN
	SELECT s.oid INTO spc_oid FROM pg_catalog.pg_tablespace s WHERE s.spcname = spc;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'tablespace "%" does not exist', spc
			USING ERRCODE = 'undefined_object',
				HINT = 'SELECT spcname FROM pg_tablespace lists the tablespaces.';
	END IF;
	IF spc = 'pg_global' THEN
		RAISE EXCEPTION 'tablespace "pg_global" cannot belong to a tier'
			USING ERRCODE = 'invalid_parameter_value',
				DETAIL = 'It holds the shared system catalogs, which cannot be moved.';
	END IF;
	SELECT r.tier_name, t.discovered INTO other
		FROM _tiered_storage.tier_tablespaces r
		JOIN _tiered_storage.tier t ON t.tier_name = r.tier_name
		WHERE r.tablespace_oid = spc_oid AND r.tier_name <> tier;
	IF FOUND THEN
		IF NOT other.discovered THEN
			RAISE EXCEPTION 'tablespace "%" already belongs to tier "%"', spc, other.tier_name
				USING ERRCODE = 'object_in_use',
					HINT = pg_catalog.format('Take it out of that tier first with '
						'tiered_storage.alter_tier(%L, tablespaces => ...), or remove_tier(%1$L).',
						other.tier_name);
		END IF;
		RAISE NOTICE 'tablespace "%" is taken over from the discovered tier "%"', spc,
			other.tier_name;
	END IF;
	SELECT c.tier_name, b.datname INTO other
		FROM _tiered_storage.tablespace_claims() c
		JOIN pg_catalog.pg_database b ON b.oid = c.database_oid
		WHERE given AND c.tablespace_oid = spc_oid AND c.tier_name <> tier
			AND b.datname <> pg_catalog.current_database();
	IF FOUND THEN
		RAISE EXCEPTION 'tablespace "%" belongs to tier "%" in database "%"', spc, other.tier_name,
			other.datname
			USING ERRCODE = 'object_in_use',
				DETAIL = 'A tablespace is shared by all databases, which must agree on its tier.',
				HINT = 'Use the same tier name here, or change it there first.';
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.tier_check_tablespace(name, name, boolean) IS
'raises an error if a tablespace cannot belong to this tier, and a notice if it is taken from a '
'discovered tier';

CREATE FUNCTION _tiered_storage.tier_check_capacity(tier name, tablespaces name[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	total bigint;
	capacity bigint;
BEGIN
	SELECT sum(f.total_bytes) INTO total FROM (
		SELECT DISTINCT d.file_system_id, d.total_bytes
		FROM tiered_storage.tablespace_devices() d
		WHERE d.tablespace_name = ANY (tablespaces) AND d.total_bytes >= 0) f;
	SELECT t.capacity_bytes INTO capacity FROM _tiered_storage.tier t WHERE t.tier_name = tier;
	IF capacity > total THEN
		RAISE EXCEPTION 'capacity of tier "%" is larger than its file systems', tier
			USING ERRCODE = 'invalid_parameter_value',
				DETAIL = pg_catalog.format('The capacity is %s bytes, the file systems have %s '
					'bytes.', capacity, total),
				HINT = 'Leave capacity_bytes out to use the size of the file system.';
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.tier_check_capacity(name, name[]) IS
'raises an error if the capacity of a tier exceeds the size of its file systems';

/*
 * Assigns `tablespaces` to the tier.  They may be taken from a tier that was only
 * discovered, not from one that a person defined.  If they are not `given` but already
 * belong to the tier, the assignments of other databases are no reason to refuse: a tier
 * that two databases define differently has to be renamed in one of them first, and until
 * then their workers move nothing.
 */
CREATE FUNCTION _tiered_storage.tier_set_tablespaces(tier name, tablespaces name[], given boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	spc name;
	other record;
	left_out name[];
BEGIN
	IF tablespaces IS NULL OR cardinality(tablespaces) = 0 THEN
		RAISE EXCEPTION 'tier "%" needs at least one tablespace', tier
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'Create one with CREATE TABLESPACE; pg_default is a tablespace too.';
	END IF;
	IF array_ndims(tablespaces) <> 1 OR array_position(tablespaces, NULL) IS NOT NULL THEN
		RAISE EXCEPTION 'tablespaces of tier "%" must be a one-dimensional array without nulls',
			tier
			USING ERRCODE = 'invalid_parameter_value';
	END IF;

	FOREACH spc IN ARRAY tablespaces LOOP
		PERFORM _tiered_storage.tier_check_tablespace(tier, spc, given);
	END LOOP;

	left_out := ARRAY(SELECT r.tablespace_name FROM _tiered_storage.tier_tablespaces r
		WHERE r.tier_name = tier AND r.tablespace_name <> ALL (tablespaces)
		ORDER BY r.tablespace_name);
	IF left_out <> '{}' THEN
		RAISE NOTICE 'no longer in tier "%", and in no other: %', tier,
			(SELECT string_agg(format('tablespace "%s"', s.spcname), ', ' ORDER BY s.spcname)
				FROM unnest(left_out) s (spcname))
			USING DETAIL = 'Nothing is advised for what is in a tablespace without a tier.',
				HINT = format('To keep them there: SELECT tiered_storage.alter_tier(%L, '
					'tablespaces => %L); otherwise add_tier() defines another tier.', tier,
					(SELECT array_agg(s.spcname ORDER BY s.spcname)
						FROM unnest(tablespaces || left_out) s (spcname)));
	END IF;
	DELETE FROM _tiered_storage.tier_tablespace tt
		USING _tiered_storage.tier_tablespaces r
		WHERE tt.tablespace_name = r.stored_name
			AND (r.tier_name = tier OR r.tablespace_name = ANY (tablespaces));
	DELETE FROM _tiered_storage.tier_tablespace tt WHERE tt.tablespace_name = ANY (tablespaces);
	INSERT INTO _tiered_storage.tier_tablespace
			(tablespace_name, tablespace_oid, system_identifier, tier_name, discovered)
		SELECT DISTINCT s.spcname, s.oid, c.system_identifier, tier, false
		FROM pg_catalog.pg_tablespace s, pg_catalog.pg_control_system() c
		WHERE s.spcname = ANY (tablespaces);
	PERFORM _tiered_storage.remove_unused_tiers(tier);
	PERFORM _tiered_storage.tier_check_capacity(tier, tablespaces);

	FOR other IN
		SELECT DISTINCT r.tier_name
		FROM tiered_storage.tablespace_devices() d
		JOIN tiered_storage.tablespace_devices() e ON e.file_system_id = d.file_system_id
		JOIN _tiered_storage.tier_tablespaces r ON r.tablespace_oid = e.tablespace_oid
		WHERE given AND d.tablespace_name = ANY (tablespaces) AND r.tier_name <> tier
		ORDER BY 1
	LOOP
		RAISE NOTICE 'tiers "%" and "%" share a file system', tier, other.tier_name
			USING HINT = 'Moving data between them frees no space.';
	END LOOP;
END
$$;
COMMENT ON FUNCTION _tiered_storage.tier_set_tablespaces(name, name[], boolean) IS
'checks and stores the tablespaces of a tier';
---------------------------------------------------------------------------
-- Tiers that a person defines, changes and removes.
---------------------------------------------------------------------------

/*
 * The arguments of add_tier() and alter_tier() are spelled out in both, and put into a
 * row of the table in the order of its columns: SQL has no other way to name them.
 */
CREATE FUNCTION tiered_storage.add_tier(
	name name,
	tablespaces name[],
	profile text DEFAULT NULL,
	rank integer DEFAULT NULL,
	random_read_ms float8 DEFAULT NULL,
	random_write_ms float8 DEFAULT NULL,
	sequential_read_mb_per_s float8 DEFAULT NULL,
	sequential_write_mb_per_s float8 DEFAULT NULL,
	fsync_ms float8 DEFAULT NULL,
	parallelism float8 DEFAULT NULL,
	price_per_gb_month numeric DEFAULT NULL,
	capacity_bytes bigint DEFAULT NULL,
	reserve_fraction float8 DEFAULT 0.15,
	low_watermark float8 DEFAULT 0.80,
	high_watermark float8 DEFAULT 0.90,
	endurance_tbw float8 DEFAULT NULL,
	endurance_dwpd float8 DEFAULT NULL,
	compressed boolean DEFAULT NULL,
	compression_ratio float8 DEFAULT NULL,
	scan_start_ms float8 DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp SET jit = off
	SET lock_timeout = '30s' SET session_replication_role = origin
AS $$
DECLARE
	given _tiered_storage.tier := ROW(name, rank, profile, random_read_ms, random_write_ms,
			sequential_read_mb_per_s, sequential_write_mb_per_s, fsync_ms, parallelism,
			price_per_gb_month, NULL, capacity_bytes, reserve_fraction,
			low_watermark, high_watermark,
			endurance_tbw, endurance_dwpd, compressed, compression_ratio, NULL, scan_start_ms);
	t _tiered_storage.tier;
	d record;
BEGIN
	PERFORM _tiered_storage.require_writable('tiered_storage.add_tier()');
	PERFORM _tiered_storage.tier_check_name(name);
	LOCK TABLE _tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE;
	PERFORM _tiered_storage.refresh_tablespaces();
	IF EXISTS (SELECT FROM _tiered_storage.tier x WHERE x.tier_name = add_tier.name
		AND NOT x.discovered) THEN
		RAISE EXCEPTION 'tier "%" already exists', name
			USING ERRCODE = 'duplicate_object',
				HINT = 'Use tiered_storage.alter_tier() to change it.';
	END IF;
	/* The first tablespace whose device is known gives the profile. */
	SELECT x.profile, x.compressed INTO d
		FROM pg_catalog.unnest(tablespaces) WITH ORDINALITY s (spcname, i)
		JOIN tiered_storage.tablespace_devices() x ON x.tablespace_name = s.spcname
		ORDER BY s.i LIMIT 1;

	t := _tiered_storage.tier_new(name, d.compressed, false);
	t := _tiered_storage.tier_with_profile(t, COALESCE(add_tier.profile, d.profile, 'sata_ssd'));
	t := _tiered_storage.tier_with_values(t, given);
	PERFORM _tiered_storage.tier_check_values(t);
	t.rank := COALESCE(add_tier.rank, _tiered_storage.tier_make_rank(name, t.random_read_ms,
		t.compressed));

	PERFORM _tiered_storage.tier_insert(t);
	PERFORM _tiered_storage.tier_set_tablespaces(name, tablespaces, true);
END
$$;
COMMENT ON FUNCTION tiered_storage.add_tier(
	name, name[], text, integer, float8, float8, float8, float8, float8, float8, numeric, bigint,
	float8, float8, float8, float8, float8, boolean, float8, float8) IS
'creates a tier: a class of storage made of one or more tablespaces; figures that are not given '
'come from the device profile, and the profile from the device';

CREATE FUNCTION tiered_storage.alter_tier(
	name name,
	new_name name DEFAULT NULL,
	tablespaces name[] DEFAULT NULL,
	profile text DEFAULT NULL,
	rank integer DEFAULT NULL,
	random_read_ms float8 DEFAULT NULL,
	random_write_ms float8 DEFAULT NULL,
	sequential_read_mb_per_s float8 DEFAULT NULL,
	sequential_write_mb_per_s float8 DEFAULT NULL,
	fsync_ms float8 DEFAULT NULL,
	parallelism float8 DEFAULT NULL,
	price_per_gb_month numeric DEFAULT NULL,
	capacity_bytes bigint DEFAULT NULL,
	reserve_fraction float8 DEFAULT NULL,
	low_watermark float8 DEFAULT NULL,
	high_watermark float8 DEFAULT NULL,
	endurance_tbw float8 DEFAULT NULL,
	endurance_dwpd float8 DEFAULT NULL,
	compressed boolean DEFAULT NULL,
	unset text[] DEFAULT NULL,
	compression_ratio float8 DEFAULT NULL,
	scan_start_ms float8 DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp SET jit = off
	SET lock_timeout = '30s' SET session_replication_role = origin
AS $$
DECLARE
	given _tiered_storage.tier := ROW(name, rank, profile, random_read_ms, random_write_ms,
			sequential_read_mb_per_s, sequential_write_mb_per_s, fsync_ms, parallelism,
			price_per_gb_month, NULL, capacity_bytes, reserve_fraction,
			low_watermark, high_watermark,
			endurance_tbw, endurance_dwpd, compressed, compression_ratio, NULL, scan_start_ms);
	t _tiered_storage.tier;
BEGIN
	PERFORM _tiered_storage.require_writable('tiered_storage.alter_tier()');
	LOCK TABLE _tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE;
	PERFORM _tiered_storage.refresh_tablespaces();
	t := _tiered_storage.tier_require(name);
	IF alter_tier.profile IS NOT NULL THEN
		t := _tiered_storage.tier_with_profile(t, alter_tier.profile);
	END IF;
	t := _tiered_storage.tier_with_values(t, given);
	t := _tiered_storage.tier_without(t, unset);
	PERFORM _tiered_storage.tier_check_values(t);
	t.discovered := false;
	PERFORM _tiered_storage.tier_overwrite(t, false);
	UPDATE _tiered_storage.tier_tablespace x SET discovered = false
		WHERE x.tier_name = alter_tier.name;
	IF new_name <> name THEN
		PERFORM _tiered_storage.tier_check_name(new_name);
		IF EXISTS (SELECT FROM _tiered_storage.tier x WHERE x.tier_name = new_name) THEN
			RAISE EXCEPTION 'tier "%" already exists', new_name
				USING ERRCODE = 'duplicate_object';
		END IF;
		UPDATE _tiered_storage.tier x SET tier_name = new_name WHERE x.tier_name = alter_tier.name;
		t.tier_name := new_name;
	END IF;
	/* Also without a new list, because the capacity is checked against the file systems. */
	IF tablespaces IS NOT NULL
		OR EXISTS (SELECT FROM _tiered_storage.tier_tablespaces r WHERE r.tier_name = t.tier_name)
			THEN
		PERFORM _tiered_storage.tier_set_tablespaces(t.tier_name,
			COALESCE(tablespaces, (SELECT pg_catalog.array_agg(r.tablespace_name
				ORDER BY r.tablespace_name)
				FROM _tiered_storage.tier_tablespaces r WHERE r.tier_name = t.tier_name)),
			tablespaces IS NOT NULL);
	END IF;
END
$$;
COMMENT ON FUNCTION tiered_storage.alter_tier(
	name, name, name[], text, integer, float8, float8, float8, float8, float8, float8, numeric,
	bigint, float8, float8, float8, float8, float8, boolean, text[], float8, float8) IS
'changes a tier; null arguments leave their property unchanged; unset => ''{capacity_bytes}'' '
'returns to the size of the file systems';

CREATE FUNCTION _tiered_storage.tier_require_unused(name name) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	users text;
BEGIN
	SELECT pg_catalog.string_agg(p.relation_name, ', ' ORDER BY p.policy_id) INTO users
		FROM tiered_storage.policies p
		WHERE tier_require_unused.name IN (p.tier_name, p.index_tier, p.new_partitions_on,
			p.return_tier);
	IF users IS NOT NULL THEN
		RAISE EXCEPTION 'tier "%" is used by a tiering policy', name
			USING ERRCODE = 'dependent_objects_still_exist',
				DETAIL = pg_catalog.format('Policies on %s move there.', users),
				HINT = 'Remove them first with tiered_storage.remove_tiering_policy().';
	END IF;
	SELECT pg_catalog.string_agg(v.relation_name, ', ' ORDER BY v.pin_id) INTO users
		FROM _tiered_storage.pin_targets v WHERE v.tier_name = tier_require_unused.name;
	IF users IS NOT NULL THEN
		RAISE EXCEPTION 'tier "%" is used by a pin', name
			USING ERRCODE = 'dependent_objects_still_exist',
				DETAIL = pg_catalog.format('It is where %s is pinned.', users),
				HINT = 'Remove the pins first with tiered_storage.unpin().';
	END IF;
	SELECT pg_catalog.string_agg(pg_catalog.format('from %s to %s', f.tier_name, f.target_name),
			', ' ORDER BY f.policy_id) INTO users
		FROM _tiered_storage.fullness_policy f
		WHERE tier_require_unused.name IN (f.tier_name, f.target_name);
	IF users IS NOT NULL THEN
		RAISE EXCEPTION 'tier "%" is used by a fullness policy', name
			USING ERRCODE = 'dependent_objects_still_exist',
				DETAIL = pg_catalog.format('Relations are moved %s.', users),
				HINT = 'Remove it first with tiered_storage.remove_fullness_policy().';
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.tier_require_unused(name) IS
'an error if a policy or a pin uses the tier, which names what has it';

CREATE FUNCTION tiered_storage.remove_tier(name name, if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp SET jit = off
	SET lock_timeout = '30s' SET session_replication_role = origin
AS $$
BEGIN
	PERFORM _tiered_storage.require_writable('tiered_storage.remove_tier()');
	LOCK TABLE _tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE;
	PERFORM _tiered_storage.refresh_tablespaces();
	IF if_exists AND NOT EXISTS (SELECT FROM _tiered_storage.tier x
		WHERE x.tier_name = remove_tier.name) THEN
		RAISE NOTICE 'tier "%" does not exist, skipping', name;
		RETURN;
	END IF;
	PERFORM _tiered_storage.tier_require(name);
	/* Nobody can remove a pin whose relation does not exist any more. */
	DELETE FROM _tiered_storage.pin p USING _tiered_storage.pin_targets v
		WHERE v.pin_id = p.pin_id AND p.tier_name = remove_tier.name
			AND (v.relation_oid IS NULL OR v.until <= now());
	PERFORM _tiered_storage.tier_require_unused(name);
	BEGIN
		DELETE FROM _tiered_storage.tier x WHERE x.tier_name = remove_tier.name;
	EXCEPTION WHEN foreign_key_violation THEN
		/* By a transaction that has committed while we waited; only a new snapshot shows it. */
		PERFORM _tiered_storage.tier_require_unused(name);
		RAISE EXCEPTION 'tier "%" is used by a policy or a pin that was added meanwhile', name
			USING ERRCODE = 'dependent_objects_still_exist',
				HINT = 'Try again in another transaction to see which.';
	END;
END
$$;
COMMENT ON FUNCTION tiered_storage.remove_tier(name, boolean) IS
'removes the definition of a tier; its tablespaces and their data stay unchanged';

/*
 * To be typed as they are: names are quoted, nothing is taken from a tier that a person
 * defined without saying so, and nothing that another database has given to a tier.
 */
CREATE FUNCTION _tiered_storage.second_tier_statements() RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	one record;
	members name[];		-- its tablespaces that another tier may have
	others name[];		-- those of no tier
	fast name[];
	slow name[];
	new_tier text;
BEGIN
	SELECT t.* INTO one FROM _tiered_storage.tier t;
	SELECT array_agg(d.tablespace_name ORDER BY d.tablespace_oid)
			FILTER (WHERE r.tier_name IS NOT NULL),
		array_agg(d.tablespace_name ORDER BY d.tablespace_oid) FILTER (WHERE r.tier_name IS NULL)
		INTO members, others
		FROM tiered_storage.tablespace_devices() d
		LEFT JOIN _tiered_storage.tier_tablespaces r ON r.tablespace_oid = d.tablespace_oid
		WHERE d.path_exists AND NOT EXISTS (SELECT FROM _tiered_storage.tablespace_claims() c
			JOIN pg_database b ON b.oid = c.database_oid AND b.datname <> current_database()
			WHERE c.tablespace_oid = d.tablespace_oid);
	new_tier := CASE WHEN one.tier_name = 'slow'
		THEN 'SELECT tiered_storage.add_tier(''fast'', %L, profile => ''nvme'');'
		ELSE 'SELECT tiered_storage.add_tier(''slow'', %L, profile => ''hdd_7200'');' END;
	IF one.discovered AND cardinality(members || others) > 1 THEN
		/* Which of them are the slow ones only their names say, if these do. */
		slow := ARRAY(SELECT m.name FROM unnest(members || others) WITH ORDINALITY m (name, i)
			WHERE m.name ~* 'slow|hdd|sata|archiv|cold|bulk|capacity|history' ORDER BY m.i);
		fast := ARRAY(SELECT m.name FROM unnest(members || others) WITH ORDINALITY m (name, i)
			WHERE m.name <> ALL (slow) ORDER BY m.i);
		IF slow = '{}' OR fast = '{}' THEN
			slow := (members || others)[2:];
			fast := (members || others)[1:1];
		END IF;
		RETURN format('SELECT tiered_storage.add_tier(''fast'', %L, profile => ''nvme''); '
			'SELECT tiered_storage.add_tier(''slow'', %L, profile => ''hdd_7200'');',
			fast, slow);
	ELSIF others <> '{}' THEN
		RETURN format(new_tier, others[1:1]);
	ELSIF members <> '{}'
		AND (SELECT count(*) FROM _tiered_storage.tier_tablespaces) > 1 THEN
		RETURN format('SELECT tiered_storage.alter_tier(%L, tablespaces => %L%s); ' || new_tier,
			one.tier_name, (SELECT array_agg(r.tablespace_name ORDER BY r.tablespace_oid)
				FROM _tiered_storage.tier_tablespaces r
				WHERE r.tablespace_name <> members[cardinality(members)]),
			CASE WHEN one.capacity_bytes IS NOT NULL THEN ', unset => ''{capacity_bytes}''' END,
			members[cardinality(members):]);
	END IF;
	RETURN NULL;
END
$$;
COMMENT ON FUNCTION _tiered_storage.second_tier_statements() IS
'statements that make two tiers of the tablespaces that there are, where there is one tier; null: '
'there is no second tablespace for that';
---------------------------------------------------------------------------
-- Calibration: measuring the devices of a tier, and the planner settings that fit.
---------------------------------------------------------------------------

/*
 * Results describe this machine and are not dumped; previous is the figure that the tier
 * had at the time of the measurement.
 */
CREATE TABLE _tiered_storage.tier_calibration
(
	tier_name name NOT NULL REFERENCES _tiered_storage.tier ON UPDATE CASCADE ON DELETE CASCADE,
	calibrated_at timestamptz NOT NULL,
	measurement text NOT NULL,
	unit text NOT NULL,
	measured float8 NOT NULL CHECK (measured OPERATOR(pg_catalog.>=) 0
		AND measured OPERATOR(pg_catalog.<) 'Infinity'),
	previous float8,
	prior float8,
	tablespace_name name NOT NULL,
	PRIMARY KEY (tier_name, calibrated_at, measurement)
);
COMMENT ON TABLE _tiered_storage.tier_calibration IS
'results of the last ten calibrations of each tier, with the figures that the tier had before '
'and those of its device profile';

CREATE VIEW tiered_storage.tier_calibration AS
	SELECT c.tier_name, c.calibrated_at, c.measurement, c.unit, c.measured, c.previous, c.prior,
		c.tablespace_name
	FROM _tiered_storage.tier_calibration c;
COMMENT ON VIEW tiered_storage.tier_calibration IS
'results of the last ten calibrations of each tier, with the figures that the tier had before '
'and those of its device profile';
COMMENT ON COLUMN tiered_storage.tier_calibration.tier_name IS 'name of the tier';
COMMENT ON COLUMN tiered_storage.tier_calibration.calibrated_at IS 'time of the measurement';
COMMENT ON COLUMN tiered_storage.tier_calibration.measurement IS
'what was measured: the name of a figure in the view tiers, or another result of calibrate_tier()';
COMMENT ON COLUMN tiered_storage.tier_calibration.unit IS 'unit of measured, previous and prior';
COMMENT ON COLUMN tiered_storage.tier_calibration.measured IS 'measured value';
COMMENT ON COLUMN tiered_storage.tier_calibration.previous IS
'value that the tier had before; null: it had none, or the measurement is no figure of a tier';
COMMENT ON COLUMN tiered_storage.tier_calibration.prior IS
'value in the device profile of the tier; null: the profile has none';
COMMENT ON COLUMN tiered_storage.tier_calibration.tablespace_name IS
'tablespace in which the scratch file was written';

CREATE FUNCTION _tiered_storage.measure_device(
	tablespace_oid oid, max_seconds float8, max_bytes bigint, reserve_fraction float8,
	compressed boolean, parallelism float8, sample_relation oid,
	OUT measurement text, OUT value float8, OUT unit text)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'tier_measure_device';
COMMENT ON FUNCTION
_tiered_storage.measure_device(oid, float8, bigint, float8, boolean, float8, oid) IS
'measures reads, writes and syncs with a scratch file in a tablespace; see calibrate_tier()';

/*
 * Random reads distinguish devices best, so they weigh most.  A figure that differs by
 * more than a factor of five does not come from a device of the same kind.
 */
CREATE FUNCTION _tiered_storage.calibration_verdict(
	profile text, random_read_ms float8, sequential_read_mb_per_s float8,
	OUT nearest_profile text, OUT contradiction text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH compared AS (
		SELECT q.*,
			abs(ln(q.random_read_ms / calibration_verdict.random_read_ms)) AS random_distance,
			abs(ln(q.sequential_read_mb_per_s / calibration_verdict.sequential_read_mb_per_s))
				AS sequential_distance
		FROM tiered_storage.device_profiles() q),
	nearest AS (
		SELECT c.profile FROM compared c ORDER BY c.random_distance + c.sequential_distance / 4,
			c.profile LIMIT 1)
	SELECT n.profile, CASE WHEN n.profile <> c.profile THEN NULLIF(concat_ws(' ',
		CASE WHEN c.random_distance > ln(5) THEN format('A random read takes %s ms, not %s.',
			round(calibration_verdict.random_read_ms::numeric, 3), c.random_read_ms) END,
		CASE WHEN c.sequential_distance > ln(5)
			THEN format('Sequential reads reach %s MB/s, not %s.',
			round(calibration_verdict.sequential_read_mb_per_s::numeric, 1),
			c.sequential_read_mb_per_s) END), '') END
	FROM nearest n LEFT JOIN compared c ON c.profile = calibration_verdict.profile
$$;
COMMENT ON FUNCTION _tiered_storage.calibration_verdict(text, float8, float8) IS
'the device profile nearest to the measured figures, and how they contradict the given profile; '
'contradiction is null if they do not';

CREATE FUNCTION _tiered_storage.calibration_tablespace(tier name, OUT tablespace_oid oid,
	OUT tablespace_name name)
RETURNS record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
#variable_conflict use_column
BEGIN
	/* Free bytes of one file system may differ between two looks at it, hence the maximum. */
	SELECT tt.tablespace_oid, tt.tablespace_name
		INTO calibration_tablespace.tablespace_oid, calibration_tablespace.tablespace_name
		FROM _tiered_storage.tier_tablespaces tt
		JOIN tiered_storage.tablespace_devices() d ON d.tablespace_oid = tt.tablespace_oid
		WHERE tt.tier_name = calibration_tablespace.tier
		ORDER BY d.path_exists AND d.writable DESC,
			max(d.free_bytes) OVER (PARTITION BY d.file_system_id) DESC NULLS LAST,
			tt.tablespace_name LIMIT 1;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'tier "%" has no tablespace', tier
			USING ERRCODE = 'object_not_in_prerequisite_state',
				HINT = 'Give it one with tiered_storage.alter_tier(name, tablespaces => ...).';
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.calibration_tablespace(name) IS
'the tablespace for the scratch file of a calibration: the writable one with the most free space';

/* The figures that were not measured stay unchanged. */
CREATE FUNCTION _tiered_storage.calibration_store(name name, figures jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	UPDATE _tiered_storage.tier x SET
			random_read_ms = COALESCE((figures ->> 'random_read_ms')::float8, x.random_read_ms),
			random_write_ms = COALESCE((figures ->> 'random_write_ms')::float8, x.random_write_ms),
			sequential_read_mb_per_s = COALESCE((figures ->> 'sequential_read_mb_per_s')::float8,
				x.sequential_read_mb_per_s),
			sequential_write_mb_per_s = COALESCE((figures ->> 'sequential_write_mb_per_s')::float8,
				x.sequential_write_mb_per_s),
			scan_start_ms = COALESCE((figures ->> 'scan_start_ms')::float8, x.scan_start_ms),
			fsync_ms = COALESCE((figures ->> 'fsync_ms')::float8, x.fsync_ms),
			parallelism = COALESCE((figures ->> 'parallelism')::float8, x.parallelism)
		WHERE x.tier_name = calibration_store.name;
	DELETE FROM _tiered_storage.tier_calibration x
		WHERE x.tier_name = calibration_store.name AND x.calibrated_at < (
			SELECT min(k.calibrated_at) FROM (SELECT DISTINCT y.calibrated_at
				FROM _tiered_storage.tier_calibration y WHERE y.tier_name = calibration_store.name
				ORDER BY 1 DESC LIMIT 10) k);
END
$$;
COMMENT ON FUNCTION _tiered_storage.calibration_store(name, jsonb) IS
'stores the measured figures of a tier and deletes all but its last ten calibrations';

CREATE FUNCTION _tiered_storage.calibration_warn(t _tiered_storage.tier, figures jsonb)
RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	verdict record;
	other record;
BEGIN
	SELECT * INTO verdict FROM _tiered_storage.calibration_verdict(t.profile,
		(figures ->> 'random_read_ms')::float8, (figures ->> 'sequential_read_mb_per_s')::float8);
	IF verdict.contradiction IS NOT NULL THEN
		RAISE WARNING 'measurement contradicts profile "%" of tier "%"', t.profile, t.tier_name
			USING DETAIL = verdict.contradiction,
				HINT = pg_catalog.format('It is more like "%s". A cache in the device or a limit '
					'of a virtual machine can be the reason.', verdict.nearest_profile);
	END IF;
	/* Ranks say which tier is the faster one; so do the figures. */
	FOR other IN
		SELECT o.tier_name, o.rank, o.random_read_ms,
			(figures ->> 'random_read_ms')::float8 AS measured_ms,
			EXISTS (SELECT FROM _tiered_storage.tier_calibration c
				WHERE c.tier_name = o.tier_name) AS is_measured
		FROM _tiered_storage.tier o
		WHERE o.tier_name <> t.tier_name AND o.compressed = t.compressed
			AND CASE WHEN o.rank < t.rank
				THEN o.random_read_ms > (figures ->> 'random_read_ms')::float8 * 1.5
				WHEN o.rank > t.rank
				THEN o.random_read_ms * 1.5 < (figures ->> 'random_read_ms')::float8 END
		ORDER BY o.rank
	LOOP
		RAISE WARNING 'measurement contradicts the order of the tiers: "%" is %, but has rank %, '
			'and "%" has rank %', t.tier_name,
			CASE WHEN other.rank < t.rank THEN 'faster' ELSE 'slower' END, t.rank,
			other.tier_name, other.rank
			USING DETAIL = pg_catalog.format(
				'A random read takes %s ms there, and %s ms on "%s"%s.',
				round(other.measured_ms::numeric, 3), round(other.random_read_ms::numeric, 3),
				other.tier_name, CASE WHEN other.is_measured THEN ''
					ELSE ', which has not been calibrated' END),
				HINT = CASE WHEN other.is_measured THEN pg_catalog.format(
					'If that is what the devices can do, SELECT tiered_storage.alter_tier(%L, '
					'rank => %s), tiered_storage.alter_tier(%L, rank => %s); if not, calibrate '
					'both while nothing else uses them.',
					t.tier_name, other.rank, other.tier_name, t.rank)
				ELSE pg_catalog.format('Calibrate the other one, too: SELECT * FROM '
					'tiered_storage.calibrate_tier(%L).', other.tier_name) END;
	END LOOP;
END
$$;
COMMENT ON FUNCTION _tiered_storage.calibration_warn(_tiered_storage.tier, jsonb) IS
'raises a warning if the measured figures contradict the profile of the tier, or the order of the '
'tiers';

CREATE FUNCTION tiered_storage.calibrate_tier(
	name name,
	max_seconds float8 DEFAULT 20,
	max_bytes bigint DEFAULT 268435456,
	dry_run boolean DEFAULT false,
	OUT measurement text, OUT unit text, OUT prior float8, OUT previous float8,
	OUT measured float8)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp SET jit = off
	SET lock_timeout = '30s' SET session_replication_role = origin SET extra_float_digits = 1
AS $$
#variable_conflict use_column
DECLARE
	t _tiered_storage.tier;
	prior_figures jsonb;
	spc record;
	m record;
	sample_oid oid := 0;
	now_at timestamptz := pg_catalog.clock_timestamp();
	figures jsonb;
BEGIN
	IF calibrate_tier.name IS NULL OR calibrate_tier.max_seconds IS NULL
		OR calibrate_tier.max_bytes IS NULL OR calibrate_tier.dry_run IS NULL THEN
		RAISE EXCEPTION 'arguments of calibrate_tier() must not be null'
			USING ERRCODE = 'null_value_not_allowed';
	END IF;
	t := _tiered_storage.tier_require(calibrate_tier.name);
	spc := _tiered_storage.calibration_tablespace(t.tier_name);
	IF t.compressed THEN
		/* As compressible as the largest table of this database. */
		sample_oid := COALESCE((SELECT r.relation_oid FROM _tiered_storage.relation_state r
			WHERE r.kind IN ('r', 'm', 't') AND r.size_bytes > 0
			ORDER BY r.size_bytes DESC LIMIT 1), 'pg_catalog.pg_proc'::regclass);
	END IF;

	prior_figures := (SELECT pg_catalog.to_jsonb(q) FROM tiered_storage.device_profiles() q
		WHERE q.profile = t.profile);
	FOR m IN
		SELECT * FROM _tiered_storage.measure_device(spc.tablespace_oid,
			calibrate_tier.max_seconds,
			calibrate_tier.max_bytes, t.reserve_fraction, t.compressed, t.parallelism, sample_oid)
	LOOP
		measurement := m.measurement;
		unit := m.unit;
		measured := m.value;
		prior := (prior_figures ->> m.measurement)::float8;
		previous := (pg_catalog.to_jsonb(t) ->> m.measurement)::float8;
		IF NOT dry_run THEN
			INSERT INTO _tiered_storage.tier_calibration
					(tier_name, calibrated_at, measurement, unit, measured, previous, prior,
						tablespace_name)
				VALUES (t.tier_name, now_at, measurement, unit, measured, previous, prior,
					spc.tablespace_name);
		END IF;
		IF pg_catalog.to_jsonb(t) ? m.measurement THEN
			figures := COALESCE(figures, '{}')
				|| pg_catalog.jsonb_build_object(measurement, measured);
		END IF;
		RETURN NEXT;
	END LOOP;

	PERFORM _tiered_storage.calibration_warn(t, figures);
	IF NOT dry_run THEN
		PERFORM _tiered_storage.calibration_store(t.tier_name, figures);
	END IF;
END
$$;
COMMENT ON FUNCTION tiered_storage.calibrate_tier(name, float8, bigint, boolean) IS
'measures the devices of a tier with a scratch file of at most max_bytes in about max_seconds, '
'and stores the results as figures of the tier unless dry_run is set; returns them beside the '
'previous figures and those of the profile';

/*
 * The planner needs the average cost of a page read at random relative to one read
 * sequentially.  The server's default of 4 stands for a disk that is 40 times slower at
 * random, with nine of ten reads found in memory.  The same rule gives the other costs,
 * with two limits: a backend needs 5 us for a page however fast it arrives, and above 10
 * no plan gets better.
 */
CREATE FUNCTION tiered_storage.recommend_settings(
	OUT tier_name name, OUT tablespace_name name, OUT setting text,
	OUT current_value text, OUT recommended_value text, OUT calibrated_at timestamptz,
	OUT reason text, OUT command text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH figures AS (
		SELECT t.*,
			GREATEST(0.005, 8192 / 1e3 / t.sequential_read_mb_per_s) AS sequential_page_ms,
			(SELECT GREATEST(0.005, min(8192 / 1e3 / f.sequential_read_mb_per_s))
				FROM tiered_storage.tiers f) AS fastest_page_ms
		FROM tiered_storage.tiers t),
	costs AS (
		SELECT f.*,
			/* One read of ten reaches the device, on each tier. */
			round((1 + 0.1 * (f.sequential_page_ms / f.fastest_page_ms - 1))::numeric, 2)
				AS seq_page_cost,
			round(LEAST(10, GREATEST(1.1, 0.1 * f.random_read_ms / f.sequential_page_ms))::numeric
				* (1 + 0.1 * (f.sequential_page_ms / f.fastest_page_ms - 1))::numeric, 2)
					AS random_page_cost,
			LEAST(1000, GREATEST(1, round(f.parallelism)))::integer AS io_concurrency
		FROM figures f),
	advice AS (
		SELECT c.tier_name, tt.tablespace_name, s.spcoptions, c.calibrated_at, a.setting, a.value,
			a.reason
		FROM costs c
		JOIN _tiered_storage.tier_tablespaces tt ON tt.tier_name = c.tier_name
		JOIN pg_tablespace s ON s.oid = tt.tablespace_oid
		CROSS JOIN LATERAL (VALUES
			('seq_page_cost', c.seq_page_cost::text,
				format('a page in sequence takes %s us, on the fastest tier %s us; one of ten is '
					'taken to come from the device',
					round((c.sequential_page_ms * 1000)::numeric, 1),
					round((c.fastest_page_ms * 1000)::numeric, 1))),
			('random_page_cost', c.random_page_cost::text,
				format('a page at random takes %s ms, that is %s times as long as one in '
					'sequence; one of ten is taken to come from the device',
					round(c.random_read_ms::numeric, 3),
					round((c.random_read_ms / c.sequential_page_ms)::numeric))),
			('effective_io_concurrency', c.io_concurrency::text,
				format('the device serves %s requests at once', round(c.parallelism::numeric, 1)))
		) a (setting, value, reason)),
	compared AS (
		SELECT a.*, COALESCE(
			(SELECT o.option_value FROM pg_options_to_table(a.spcoptions) o
				WHERE o.option_name = a.setting),
			current_setting(a.setting)) AS current_value
		FROM advice a)
	SELECT c.tier_name, c.tablespace_name, c.setting, c.current_value, c.value, c.calibrated_at,
		c.reason || CASE WHEN c.calibrated_at IS NULL THEN ' (by its profile: not calibrated)'
			ELSE '' END,
		format('ALTER TABLESPACE %I SET (%s = %s);', c.tablespace_name, c.setting, c.value)
	FROM compared c
	WHERE c.current_value::numeric <> c.value::numeric
	ORDER BY c.tier_name, c.tablespace_name, c.setting
$$;
COMMENT ON FUNCTION tiered_storage.recommend_settings() IS
'planner settings of each tablespace that do not fit the figures of its tier, the recommended '
'values, and the statements that set them; changes nothing';
---------------------------------------------------------------------------
-- What samples store of relations, and the views of it.
---------------------------------------------------------------------------

/*
 * One row per relation: the counters at the last sample, and smoothed rates as of heat_at.
 * The row of an idle relation is not touched: rates decay with time when they are read.
 */
CREATE TABLE _tiered_storage.relation_state
(
	relation_oid oid NOT NULL PRIMARY KEY,
	tablespace_oid oid NOT NULL,
	file_number oid NOT NULL,
	kind "char" NOT NULL,
	size_bytes bigint NOT NULL,
	tuples float8 NOT NULL,
	cached_buffers integer NOT NULL,
	dirty_buffers integer NOT NULL,
	os_cached_bytes bigint NOT NULL,
	scans bigint NOT NULL,
	tuples_read bigint NOT NULL,
	blocks_fetched bigint NOT NULL,
	blocks_hit bigint NOT NULL,
	row_changes bigint NOT NULL,
	counters_reset_at timestamptz,
	heat_at timestamptz NOT NULL,
	observed_since timestamptz NOT NULL,
	sampled_since timestamptz NOT NULL,
	proven_since timestamptz NOT NULL DEFAULT now(),
	last_read_at timestamptz,
	last_used_at timestamptz,
	last_written_at timestamptz,
	rewritten_at timestamptz,
	placed_at timestamptz,
	random_fast float8 NOT NULL,
	random_slow float8 NOT NULL,
	sequential_fast float8 NOT NULL,
	sequential_slow float8 NOT NULL,
	sequential_low_slow float8 NOT NULL,
	sequential_high_slow float8 NOT NULL,
	hits_slow float8 NOT NULL,
	scans_slow float8 NOT NULL,
	standby_fast float8 NOT NULL,
	changes_fast float8 NOT NULL,
	changes_slow float8 NOT NULL,
	previous_tablespace_oid oid NOT NULL,
	previous_file_number oid NOT NULL,
	vacuums bigint NOT NULL,
	page_writes_fast float8 NOT NULL,
	page_writes_slow float8 NOT NULL,
	merged_writes_fast float8 NOT NULL DEFAULT 0,
	merged_writes_slow float8 NOT NULL DEFAULT 0,
	maintenance_writes_fast float8 NOT NULL,
	wal_bytes_fast float8 NOT NULL,
	image_bytes_fast float8 NOT NULL,
	device_random_fast float8 NOT NULL,
	device_random_slow float8 NOT NULL,
	device_sequential_fast float8 NOT NULL,
	device_sequential_slow float8 NOT NULL,
	source "char" NOT NULL DEFAULT 's',
	maintenance bigint NOT NULL DEFAULT 0,
	maintenance_reads_fast float8 NOT NULL DEFAULT 0,
	maintenance_reads_slow float8 NOT NULL DEFAULT 0,
	unclaimed_growth bigint NOT NULL DEFAULT 0,
	unclaimed_at timestamptz NOT NULL DEFAULT '2000-01-01 00:00:00+00',
	maintained_at timestamptz,
	evidence_began_at timestamptz NOT NULL DEFAULT '2000-01-01 00:00:00+00',
	evidence_interval_s float8 NOT NULL DEFAULT 0,
	evidence_reads bytea NOT NULL DEFAULT '',
	evidence_writes bytea NOT NULL DEFAULT '',
	evidence_growth bytea NOT NULL DEFAULT '',
	total_random_reads float8 NOT NULL DEFAULT 0,
	total_sequential_reads float8 NOT NULL DEFAULT 0,
	total_scans float8 NOT NULL DEFAULT 0,
	total_page_writes float8 NOT NULL DEFAULT 0,
	total_merged_writes float8 NOT NULL DEFAULT 0,
	total_row_changes float8 NOT NULL DEFAULT 0,
	CHECK (pg_catalog.isfinite(heat_at) AND pg_catalog.isfinite(observed_since)
		AND pg_catalog.isfinite(sampled_since) AND pg_catalog.isfinite(proven_since))
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.1);
COMMENT ON TABLE _tiered_storage.relation_state IS
'counters and smoothed rates of each relation at the last sample; use the view '
'tiered_storage.heat';
COMMENT ON COLUMN _tiered_storage.relation_state.observed_since IS
'start of the time that the rates cover; before the first sample if the server''s statistics '
'reach back further';
COMMENT ON COLUMN _tiered_storage.relation_state.sampled_since IS
'time of the first sample that included this relation';
COMMENT ON COLUMN _tiered_storage.relation_state.total_random_reads IS
'blocks read from the device since the first sample, as estimated; this and the other totals of '
'a table include its TOAST table';
COMMENT ON COLUMN _tiered_storage.relation_state.counters_reset_at IS
'when the server reset the counters of this relation alone; null: never, or before 19';
COMMENT ON COLUMN _tiered_storage.relation_state.maintained_at IS
'when a vacuum or analyze of it was seen whose reads may still come; null: none';
COMMENT ON COLUMN _tiered_storage.relation_state.proven_since IS
'since when what no counter shows is known not to have happened: the statistics counted, and '
'the relation existed; not after the first sample';
COMMENT ON COLUMN _tiered_storage.relation_state.unclaimed_growth IS
'blocks that were added to the file and that no counter has yet, since their transaction '
'has not ended';
COMMENT ON COLUMN _tiered_storage.relation_state.unclaimed_at IS
'when growth without a counter was seen last, or a transaction that may have that counter; '
'without one, the growth is given up after two samples and a minute';
COMMENT ON COLUMN _tiered_storage.relation_state.evidence_reads IS
'reads in each of 16 intervals of evidence_interval_s that begin at evidence_began_at, which '
'tell a rate from an event; 4-byte floats';
COMMENT ON COLUMN _tiered_storage.relation_state.evidence_growth IS
'bytes by which the file grew, or shrank, in each of these intervals; 4-byte floats';
COMMENT ON COLUMN _tiered_storage.relation_state.placed_at IS
'when the relation came to this tablespace, or was first seen there; null: it has been there '
'since the first sample';
COMMENT ON COLUMN _tiered_storage.relation_state.os_cached_bytes IS
'bytes of the file in the operating system''s page cache when last examined; -1: unknown';

/*
 * One row for each tablespace with relations of this database.  What a relation grows by is
 * in its own row above; here is what came to the tablespace and went from it, new and dropped
 * relations included.  Moves are neither.
 */
CREATE TABLE _tiered_storage.tablespace_growth
(
	tablespace_oid oid NOT NULL PRIMARY KEY,
	evidence_began_at timestamptz NOT NULL,
	evidence_interval_s float8 NOT NULL,
	evidence_growth bytea NOT NULL
);
COMMENT ON TABLE _tiered_storage.tablespace_growth IS
'bytes by which the relations of each tablespace grew or shrank together, in each of 16 intervals '
'of evidence_interval_s that begin at evidence_began_at';

/*
 * Every table of the extension has a key: without one, UPDATE and DELETE fail as soon as
 * somebody creates a publication FOR ALL TABLES.  Here the key costs 28 bytes for a row of
 * 92 and is written at its right end only.  REPLICA IDENTITY FULL would cost nothing here,
 * but a subscriber would read its whole table for each deleted row.  The key also finds
 * the first period, and the rows that are too old.
 */
CREATE TABLE _tiered_storage.relation_history
(
	period_start timestamptz NOT NULL CHECK (pg_catalog.isfinite(period_start)),
	relation_oid oid NOT NULL,
	period_s integer NOT NULL,
	scans bigint NOT NULL,
	random_reads bigint NOT NULL,
	sequential_reads bigint NOT NULL,
	hits bigint NOT NULL,
	row_changes bigint NOT NULL,
	page_writes bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (period_start, relation_oid)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.2);
COMMENT ON TABLE _tiered_storage.relation_history IS
'activity of each relation by period: one sample each at first, once rolled up the part of an '
'hour in which it was active; a relation that was idle has no row';

/*
 * One row about the last sample.  It helps to tell a reset of the statistics from a quiet
 * hour.
 */
CREATE TABLE _tiered_storage.sampler
(
	singleton boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (singleton),
	last_sample_at timestamptz NOT NULL CHECK (pg_catalog.isfinite(last_sample_at)),
	last_duration_ms float8 NOT NULL,
	last_relations integer NOT NULL,
	last_active integer NOT NULL,
	samples bigint NOT NULL,
	counter_resets bigint NOT NULL,
	rolled_up_until timestamptz,
	history_since timestamptz,
	wal_position pg_lsn,
	wal_since timestamptz,
	last_wal_bytes bigint,
	last_wal_read_bytes bigint,
	last_wal_scale float8,
	last_wal_unattributed_bytes bigint,
	changed_pages bytea,
	counts_since timestamptz,
	system_identifier bigint,
	timeline integer,
	clock_ahead_until timestamptz
);
COMMENT ON TABLE _tiered_storage.sampler IS
'the last sample: time, duration, number of active relations';
COMMENT ON COLUMN _tiered_storage.sampler.counts_since IS
'since when no count of use can have been lost: by a reset, a crash, a restore, another server';
COMMENT ON COLUMN _tiered_storage.sampler.clock_ahead_until IS
'the clock was set back after a sample at this time, and has not reached it again; null: not so';
COMMENT ON COLUMN _tiered_storage.sampler.timeline IS
'with system_identifier the server whose statistics the last sample read';

COMMENT ON COLUMN _tiered_storage.sampler.wal_position IS
'the WAL before this position has been processed, all or a part of it; null while '
'tiered_storage.wal_read_limit is 0';
COMMENT ON COLUMN _tiered_storage.sampler.wal_since IS
'when counting the writes of relations from the WAL began; null: they are not counted';
COMMENT ON COLUMN _tiered_storage.sampler.last_wal_bytes IS
'bytes of WAL that the server wrote between the last two samples';
COMMENT ON COLUMN _tiered_storage.sampler.last_wal_read_bytes IS
'bytes of that WAL that were read, at most tiered_storage.wal_read_limit';
COMMENT ON COLUMN _tiered_storage.sampler.last_wal_scale IS
'factor by which the counts were multiplied to stand for all of the WAL; null: none of the WAL '
'could be read any more';
COMMENT ON COLUMN _tiered_storage.sampler.last_wal_unattributed_bytes IS
'bytes of WAL that belong to no sampled relation: catalogs, other databases, commits, new files '
'not yet assigned to a relation';
COMMENT ON COLUMN _tiered_storage.sampler.changed_pages IS
'a sample of the pages changed since the last checkpoint, and which of them lie side by side';

/*
 * Whoever reads history over a window shares the rows that reach beyond it in proportion:
 * windows side by side then have together what they have as one.
 */
CREATE FUNCTION _tiered_storage.period_share(period_start timestamptz, period_s float8,
	from_at timestamptz, until_at timestamptz)
RETURNS float8
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_period_share_sql';
COMMENT ON FUNCTION _tiered_storage.period_share(timestamptz, float8, timestamptz,
	timestamptz) IS
'the part of a period that lies from from_at to before until_at, between 0 and 1';

CREATE VIEW tiered_storage.relation_history AS
	SELECT h.period_start, h.relation_oid, h.period_s, h.scans, h.random_reads, h.sequential_reads,
		h.hits, h.row_changes, h.page_writes
	FROM _tiered_storage.relation_history h;
COMMENT ON VIEW tiered_storage.relation_history IS
'activity of each relation by period: one sample each at first, once rolled up the part of an '
'hour in which it was active; a relation that was idle has no row';
COMMENT ON COLUMN tiered_storage.relation_history.period_start IS 'start of the period';
COMMENT ON COLUMN tiered_storage.relation_history.relation_oid IS 'OID of the relation';
COMMENT ON COLUMN tiered_storage.relation_history.period_s IS 'length of the period in seconds';
COMMENT ON COLUMN tiered_storage.relation_history.scans IS 'number of scans started';
COMMENT ON COLUMN tiered_storage.relation_history.random_reads IS
'blocks read at random that missed shared buffers';
COMMENT ON COLUMN tiered_storage.relation_history.sequential_reads IS
'blocks read sequentially that missed shared buffers';
COMMENT ON COLUMN tiered_storage.relation_history.hits IS 'blocks found in shared buffers';
COMMENT ON COLUMN tiered_storage.relation_history.row_changes IS
'rows inserted, updated and deleted';
COMMENT ON COLUMN tiered_storage.relation_history.page_writes IS
'pages written, counted from the WAL; 0 while the WAL is not read';

CREATE VIEW tiered_storage.sampler AS
	SELECT s.last_sample_at, s.last_duration_ms, s.last_relations, s.last_active, s.samples,
		s.counter_resets, s.rolled_up_until, s.history_since,
		s.wal_position, s.wal_since, s.last_wal_bytes, s.last_wal_read_bytes, s.last_wal_scale,
		s.last_wal_unattributed_bytes
	FROM _tiered_storage.sampler s;
COMMENT ON VIEW tiered_storage.sampler IS
'the last sample: time, duration, number of active relations, and how much of the WAL was read';
COMMENT ON COLUMN tiered_storage.sampler.last_sample_at IS 'time of the last sample';
COMMENT ON COLUMN tiered_storage.sampler.last_duration_ms IS 'duration of the last sample in ms';
COMMENT ON COLUMN tiered_storage.sampler.last_relations IS
'number of relations in the last sample';
COMMENT ON COLUMN tiered_storage.sampler.last_active IS
'number of relations used between the last two samples';
COMMENT ON COLUMN tiered_storage.sampler.samples IS 'number of samples so far';
COMMENT ON COLUMN tiered_storage.sampler.counter_resets IS
'how often the server''s statistics were found to have been reset';
COMMENT ON COLUMN tiered_storage.sampler.rolled_up_until IS
'history before this time has one row per relation and hour; null: nothing is rolled up yet';
COMMENT ON COLUMN tiered_storage.sampler.history_since IS
'history that ended before this time is deleted; null: none has been yet';
COMMENT ON COLUMN tiered_storage.sampler.wal_position IS
'the WAL before this position has been processed, all or a part of it; null while '
'tiered_storage.wal_read_limit is 0';
COMMENT ON COLUMN tiered_storage.sampler.wal_since IS
'when counting the writes of relations from the WAL began; null: they are not counted';
COMMENT ON COLUMN tiered_storage.sampler.last_wal_bytes IS
'bytes of WAL that the server wrote between the last two samples; null while the WAL is not read';
COMMENT ON COLUMN tiered_storage.sampler.last_wal_read_bytes IS
'bytes of that WAL that were read, at most tiered_storage.wal_read_limit; null while the WAL is '
'not read';
COMMENT ON COLUMN tiered_storage.sampler.last_wal_scale IS
'factor by which the counts were multiplied to stand for all of the WAL; null: none of the WAL '
'could be read any more';
COMMENT ON COLUMN tiered_storage.sampler.last_wal_unattributed_bytes IS
'bytes of WAL that belong to no sampled relation: catalogs, other databases, commits, new files '
'not yet assigned to a relation';

CREATE PROCEDURE tiered_storage.sample()
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_sample_sql';
COMMENT ON PROCEDURE tiered_storage.sample() IS
'takes a sample: adds the counters, sizes and cached blocks of all relations of this database to '
'the history; the worker does the same in each cycle';

CREATE FUNCTION tiered_storage.relation_buffers(
	OUT relation regclass, OUT tablespace_oid oid, OUT file_number oid,
	OUT cached_buffers bigint, OUT dirty_buffers bigint, OUT usage_sum bigint,
	OUT standard_error float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_relation_buffers';
COMMENT ON FUNCTION tiered_storage.relation_buffers() IS
'blocks of each relation of this database in shared buffers, and how many of them are dirty; '
'with more than 4 million buffers a random sample is examined, and standard_error is the error '
'of cached_buffers';
---------------------------------------------------------------------------
-- Reads that the executor counts.
---------------------------------------------------------------------------

CREATE FUNCTION tiered_storage.access_statistics(
	OUT relation regclass, OUT random_reads float8, OUT sequential_reads float8,
	OUT ignored_reads float8, OUT hits float8, OUT plans bigint, OUT standard_error float8,
	OUT measured_reads float8, OUT device_reads float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_access_statistics';
COMMENT ON FUNCTION tiered_storage.access_statistics() IS
'blocks that tracked plans have read of each relation of this database since the last sample, '
'extrapolated to all plans: at random, sequentially, by ignored applications, and from shared '
'buffers; plans is the number of tracked plans, standard_error that of random_reads + '
'sequential_reads; measured_reads are the sequential reads that the kernel was asked about, '
'device_reads those of them that came from a device; both are null until it was asked';

CREATE FUNCTION tiered_storage.access_tracking(
	OUT available boolean, OUT enabled boolean, OUT complete boolean, OUT sample_rate float8,
	OUT relations integer, OUT max_relations integer, OUT dropped_reads float8)
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_access_tracking';
COMMENT ON FUNCTION tiered_storage.access_tracking() IS
'state of the tracking of reads by the executor: available with shared_preload_libraries, '
'enabled by tiered_storage.track_access, complete since the last sample; relations tracked in '
'all databases and how many there is room for; reads of this database that found no room since '
'the last sample';
---------------------------------------------------------------------------
-- Heat: what relations do per hour.
---------------------------------------------------------------------------

CREATE FUNCTION _tiered_storage.smoothed_rate(rate float8, idle_s float8, observed_s float8,
	half_life_s float8)
RETURNS float8
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_smoothed_rate';
COMMENT ON FUNCTION _tiered_storage.smoothed_rate(float8, float8, float8, float8) IS
'an exponentially smoothed rate idle_s seconds after its last update, for a relation observed '
'for observed_s seconds';

CREATE FUNCTION _tiered_storage.activity_pattern(began_at timestamptz, interval_s float8,
	amounts bytea, at timestamptz)
RETURNS text
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_activity_pattern';
COMMENT ON FUNCTION _tiered_storage.activity_pattern(timestamptz, float8, bytea, timestamptz) IS
'rate, event or unclear, as evidence of relation_state says at that time; null: it says nothing';

CREATE FUNCTION _tiered_storage.growth_per_hour(began_at timestamptz, interval_s float8,
	growth bytea, at timestamptz)
RETURNS float8
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_growth_per_hour';
COMMENT ON FUNCTION _tiered_storage.growth_per_hour(timestamptz, float8, bytea, timestamptz) IS
'bytes per hour by which a relation goes on growing, as evidence of relation_state says at that '
'time; null: it says nothing';

CREATE VIEW tiered_storage.heat AS
	SELECT s.relation_oid::pg_catalog.regclass AS relation,
		CASE s.kind WHEN 'r' THEN 'table' WHEN 'i' THEN 'index' WHEN 't' THEN 'toast table'
			WHEN 'm' THEN 'materialized view' ELSE s.kind::pg_catalog.text END AS kind,
		tt.tier_name,
		s.size_bytes,
		_tiered_storage.smoothed_rate(s.random_fast, a.idle_s, a.observed_s, 86400)
			AS random_reads_per_hour,
		_tiered_storage.smoothed_rate(s.sequential_fast, a.idle_s, a.observed_s, 86400)
			AS sequential_reads_per_hour,
		_tiered_storage.smoothed_rate(s.device_random_fast, a.idle_s, a.observed_s, 86400)
			AS device_random_reads_per_hour,
		_tiered_storage.smoothed_rate(s.device_sequential_fast, a.idle_s, a.observed_s, 86400)
			AS device_sequential_reads_per_hour,
		_tiered_storage.smoothed_rate(s.changes_fast, a.idle_s, a.observed_s, 86400)
			AS writes_per_hour,
		_tiered_storage.smoothed_rate(s.random_slow, a.idle_s, a.observed_s, 1209600)
			AS random_reads_14d_per_hour,
		_tiered_storage.smoothed_rate(s.sequential_slow, a.idle_s, a.observed_s, 1209600)
			AS sequential_reads_14d_per_hour,
		_tiered_storage.smoothed_rate(s.changes_slow, a.idle_s, a.observed_s, 1209600)
			AS writes_14d_per_hour,
		_tiered_storage.smoothed_rate(s.sequential_low_slow, a.idle_s, a.observed_s, 1209600)
			AS sequential_reads_low_14d_per_hour,
		_tiered_storage.smoothed_rate(s.sequential_high_slow, a.idle_s, a.observed_s, 1209600)
			AS sequential_reads_high_14d_per_hour,
		_tiered_storage.smoothed_rate(s.maintenance_reads_fast, a.idle_s, a.observed_s, 86400)
			AS maintenance_reads_per_hour,
		_tiered_storage.smoothed_rate(s.maintenance_reads_slow, a.idle_s, a.observed_s, 1209600)
			AS maintenance_reads_14d_per_hour,
		_tiered_storage.smoothed_rate(s.hits_slow, a.idle_s, a.observed_s, 1209600)
			AS hits_14d_per_hour,
		CASE WHEN s.size_bytes OPERATOR(pg_catalog.>) 0 THEN
			LEAST(1.0, s.cached_buffers OPERATOR(pg_catalog.*) 8192.0
				OPERATOR(pg_catalog./) s.size_bytes)::pg_catalog.float8 END AS cached_fraction,
		CASE WHEN s.size_bytes OPERATOR(pg_catalog.>) 0
			AND s.os_cached_bytes OPERATOR(pg_catalog.>=) 0 THEN
			LEAST(1.0, s.os_cached_bytes OPERATOR(pg_catalog.*) 1.0
				OPERATOR(pg_catalog./) s.size_bytes)::pg_catalog.float8 END AS os_cached_fraction,
		s.dirty_buffers,
		s.last_used_at, s.last_written_at, s.rewritten_at, s.placed_at,
		s.sampled_since, s.observed_since, s.heat_at,
		_tiered_storage.smoothed_rate(s.standby_fast, a.idle_s, a.observed_s, 86400)
			AS standby_reads_per_hour,
		CASE s.source WHEN 'e' THEN 'executor' ELSE 'statistics' END AS source,
		_tiered_storage.smoothed_rate(s.page_writes_fast, a.idle_s, w.observed_s, 86400)
			AS page_writes_per_hour,
		_tiered_storage.smoothed_rate(s.page_writes_slow, a.idle_s, w.observed_s, 1209600)
			AS page_writes_14d_per_hour,
		_tiered_storage.smoothed_rate(s.merged_writes_fast, a.idle_s, w.observed_s, 86400)
			AS merged_writes_per_hour,
		_tiered_storage.smoothed_rate(s.maintenance_writes_fast, a.idle_s, w.observed_s, 86400)
			AS maintenance_writes_per_hour,
		_tiered_storage.smoothed_rate(s.wal_bytes_fast, a.idle_s, w.observed_s, 86400)
			AS wal_bytes_per_hour,
		_tiered_storage.smoothed_rate(s.image_bytes_fast, a.idle_s, w.observed_s, 86400)
			AS full_page_image_bytes_per_hour,
		CASE WHEN w.observed_s IS NULL THEN 'statistics' ELSE 'wal' END AS write_source,
		_tiered_storage.activity_pattern(s.evidence_began_at, s.evidence_interval_s,
			s.evidence_reads, pg_catalog.now()) AS read_pattern,
		_tiered_storage.activity_pattern(s.evidence_began_at, s.evidence_interval_s,
			s.evidence_writes, pg_catalog.now()) AS write_pattern,
		24 OPERATOR(pg_catalog.*) COALESCE(_tiered_storage.growth_per_hour(s.evidence_began_at,
			s.evidence_interval_s, s.evidence_growth, pg_catalog.now()), 0) AS growth_bytes_per_day
	FROM _tiered_storage.relation_state s
	JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) s.relation_oid
	LEFT JOIN _tiered_storage.tier_tablespaces tt
		ON tt.tablespace_oid OPERATOR(pg_catalog.=) s.tablespace_oid
	CROSS JOIN LATERAL (SELECT
		GREATEST(0, EXTRACT(epoch FROM pg_catalog.now()
			OPERATOR(pg_catalog.-) s.heat_at))::pg_catalog.float8 AS idle_s,
		GREATEST(3600, EXTRACT(epoch FROM pg_catalog.now()
			OPERATOR(pg_catalog.-) s.observed_since))::pg_catalog.float8 AS observed_s) a
	LEFT JOIN LATERAL (SELECT
		GREATEST(3600, EXTRACT(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-)
			GREATEST(x.wal_since, s.observed_since)))::pg_catalog.float8 AS observed_s
		FROM _tiered_storage.sampler x
		WHERE x.wal_since IS NOT NULL AND c.relpersistence OPERATOR(pg_catalog.=) 'p') w ON true;
COMMENT ON VIEW tiered_storage.heat IS
'smoothed activity of each relation per hour, as of now, with a half-life of 1 day, or of 14 '
'days in the *_14d columns; reads count blocks; less than an hour of observation counts as an '
'hour';
COMMENT ON COLUMN tiered_storage.heat.relation IS
'table, partition, materialized view, index or TOAST table';
COMMENT ON COLUMN tiered_storage.heat.kind IS
'kind of relation: table, index, toast table or materialized view';
COMMENT ON COLUMN tiered_storage.heat.tier_name IS
'current tier; null: its tablespace belongs to no tier';
COMMENT ON COLUMN tiered_storage.heat.size_bytes IS
'size of the main fork in bytes at the last sample';
COMMENT ON COLUMN tiered_storage.heat.random_reads_per_hour IS
'blocks read at random per hour that missed shared buffers, half-life 1 day';
COMMENT ON COLUMN tiered_storage.heat.sequential_reads_per_hour IS
'blocks read sequentially per hour that missed shared buffers, half-life 1 day';
COMMENT ON COLUMN tiered_storage.heat.device_random_reads_per_hour IS
'part of random_reads_per_hour that missed the page cache too and reached the device';
COMMENT ON COLUMN tiered_storage.heat.device_sequential_reads_per_hour IS
'part of sequential_reads_per_hour that missed the page cache too and reached the device';
COMMENT ON COLUMN tiered_storage.heat.writes_per_hour IS 'rows changed per hour, half-life 1 day';
COMMENT ON COLUMN tiered_storage.heat.random_reads_14d_per_hour IS
'like random_reads_per_hour, half-life 14 days';
COMMENT ON COLUMN tiered_storage.heat.sequential_reads_14d_per_hour IS
'like sequential_reads_per_hour, half-life 14 days';
COMMENT ON COLUMN tiered_storage.heat.writes_14d_per_hour IS
'like writes_per_hour, half-life 14 days';
COMMENT ON COLUMN tiered_storage.heat.sequential_reads_low_14d_per_hour IS
'lower bound of sequential_reads_14d_per_hour';
COMMENT ON COLUMN tiered_storage.heat.sequential_reads_high_14d_per_hour IS
'upper bound of sequential_reads_14d_per_hour';
COMMENT ON COLUMN tiered_storage.heat.maintenance_reads_per_hour IS
'blocks read per hour by maintenance and dumps, not by queries, half-life 1 day';
COMMENT ON COLUMN tiered_storage.heat.maintenance_reads_14d_per_hour IS
'like maintenance_reads_per_hour, half-life 14 days';
COMMENT ON COLUMN tiered_storage.heat.hits_14d_per_hour IS
'blocks found in shared buffers per hour, half-life 14 days';
COMMENT ON COLUMN tiered_storage.heat.cached_fraction IS
'fraction of its blocks in shared buffers at the last sample; null: it is empty';
COMMENT ON COLUMN tiered_storage.heat.os_cached_fraction IS
'fraction of its file in the page cache when last examined; null: unknown, or it is empty';
COMMENT ON COLUMN tiered_storage.heat.dirty_buffers IS
'number of its dirty blocks in shared buffers at the last sample';
COMMENT ON COLUMN tiered_storage.heat.last_used_at IS
'end of the last period in which it was used; null: not used since it was first observed';
COMMENT ON COLUMN tiered_storage.heat.last_written_at IS
'end of the last period in which it was changed; null: not changed since it was first observed';
COMMENT ON COLUMN tiered_storage.heat.rewritten_at IS
'when it last got a new file in the same tablespace (TRUNCATE, VACUUM FULL, ...); null: not '
'since it was first observed';
COMMENT ON COLUMN tiered_storage.heat.placed_at IS
'when it was moved to its tablespace, or was first seen there; null: it has been there since the '
'first sample';
COMMENT ON COLUMN tiered_storage.heat.sampled_since IS 'time of the first sample that included it';
COMMENT ON COLUMN tiered_storage.heat.observed_since IS
'start of the time that the rates cover; before sampled_since if the server''s statistics reach '
'back further';
COMMENT ON COLUMN tiered_storage.heat.heat_at IS
'when the rates were last updated; they decay from then on';
COMMENT ON COLUMN tiered_storage.heat.standby_reads_per_hour IS
'part of its reads per hour that came from standbys, half-life 1 day';
COMMENT ON COLUMN tiered_storage.heat.source IS
'how random and sequential reads were told apart: executor or statistics';
COMMENT ON COLUMN tiered_storage.heat.page_writes_per_hour IS
'pages that checkpoints write per hour, counted from the WAL, half-life 1 day; null: see '
'write_source';
COMMENT ON COLUMN tiered_storage.heat.page_writes_14d_per_hour IS
'like page_writes_per_hour, half-life 14 days';
COMMENT ON COLUMN tiered_storage.heat.merged_writes_per_hour IS
'of page_writes_per_hour those that lie beside another page that the same checkpoint writes, so '
'that one request writes both; null: see write_source';
COMMENT ON COLUMN tiered_storage.heat.maintenance_writes_per_hour IS
'pages written per hour by vacuum and rewrites, half-life 1 day; null: see write_source';
COMMENT ON COLUMN tiered_storage.heat.wal_bytes_per_hour IS
'bytes of WAL per hour for its changes, half-life 1 day; null: see write_source';
COMMENT ON COLUMN tiered_storage.heat.full_page_image_bytes_per_hour IS
'part of wal_bytes_per_hour that is full-page images; null: see write_source';
COMMENT ON COLUMN tiered_storage.heat.write_source IS
'where page writes come from: wal, or statistics if the WAL is not read or has nothing about it '
'(unlogged); page writes and WAL bytes are null then';
COMMENT ON COLUMN tiered_storage.heat.read_pattern IS
'whether its reads came again: rate, event (a load, a restore, one report: the numbers per hour '
'tell what it was, not what will be), or unclear; null: it was not read';
COMMENT ON COLUMN tiered_storage.heat.write_pattern IS
'the same for its writes; null: it was not written';
COMMENT ON COLUMN tiered_storage.heat.growth_bytes_per_day IS
'bytes by which it goes on growing per day; 0 of what was loaded once, or grows and shrinks again';
---------------------------------------------------------------------------
-- What the kernel counts for the devices, and block ranges of a relation.
---------------------------------------------------------------------------

/*
 * One row per device beneath a tablespace: what the kernel had counted at the last sample,
 * and how well the reads and writes predicted for the relations explain it.  A fit is the
 * sums over periods of x * x, x * y and y * y, where x is the prediction and y what the
 * device did: fit_* in bytes, request_fit_* in requests of a block; write_* the same of
 * writes.
 */
CREATE TABLE _tiered_storage.device_state
(
	device text NOT NULL PRIMARY KEY,
	instance text NOT NULL,
	tablespaces oid[] NOT NULL,
	counters_at timestamptz,
	observed_since timestamptz,
	window_since timestamptz,
	fit_at timestamptz,
	reads bigint NOT NULL,
	read_bytes bigint NOT NULL,
	writes bigint NOT NULL,
	write_bytes bigint NOT NULL,
	busy_ms bigint NOT NULL,
	read_ms bigint NOT NULL,
	write_ms bigint NOT NULL,
	period_s float8 NOT NULL,
	last_reads bigint NOT NULL,
	last_read_bytes bigint NOT NULL,
	last_writes bigint NOT NULL,
	last_write_bytes bigint NOT NULL,
	last_busy_ms bigint NOT NULL,
	last_read_ms bigint NOT NULL,
	last_write_ms bigint NOT NULL,
	predicted_bytes float8 NOT NULL,
	predicted_reads float8 NOT NULL,
	foreign_bytes float8 NOT NULL,
	reads_fast float8 NOT NULL,
	read_bytes_fast float8 NOT NULL,
	writes_fast float8 NOT NULL,
	write_bytes_fast float8 NOT NULL,
	busy_ms_fast float8 NOT NULL,
	device_ms_fast float8 NOT NULL,
	total_reads float8 NOT NULL,
	total_read_bytes float8 NOT NULL,
	total_writes float8 NOT NULL,
	total_write_bytes float8 NOT NULL,
	total_device_ms float8 NOT NULL,
	window_predicted float8 NOT NULL,
	window_read float8 NOT NULL,
	window_predicted_reads float8 NOT NULL,
	window_reads float8 NOT NULL,
	window_foreign float8 NOT NULL,
	fit_xx float8 NOT NULL,
	fit_xy float8 NOT NULL,
	fit_yy float8 NOT NULL,
	fit_periods float8 NOT NULL,
	request_fit_xx float8 NOT NULL,
	request_fit_xy float8 NOT NULL,
	request_fit_yy float8 NOT NULL,
	request_fit_periods float8 NOT NULL,
	write_redo bigint NOT NULL,
	write_window_since timestamptz,
	window_checkpoints bigint NOT NULL,
	window_pages float8 NOT NULL,
	window_requests float8 NOT NULL,
	window_foreign_pages float8 NOT NULL,
	window_written float8 NOT NULL,
	window_writes float8 NOT NULL,
	write_fit_xx float8 NOT NULL,
	write_fit_xy float8 NOT NULL,
	write_fit_yy float8 NOT NULL,
	write_fit_periods float8 NOT NULL,
	write_request_fit_xx float8 NOT NULL,
	write_request_fit_xy float8 NOT NULL,
	write_request_fit_yy float8 NOT NULL,
	write_request_fit_periods float8 NOT NULL,
	write_fit_at timestamptz,
	cluster_blocks_read bigint NOT NULL,
	cluster_temp_bytes bigint NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE _tiered_storage.device_state IS
'counters, smoothed rates and fit of each device at the last sample; use the view '
'tiered_storage.device_io';
COMMENT ON COLUMN _tiered_storage.device_state.total_device_ms IS
'time in ms in which the device worked in all periods since observed_since: the shorter of its '
'busy time and the sum of its request times';
COMMENT ON COLUMN _tiered_storage.device_state.counters_at IS
'when the counters were read; null: the device has none';

CREATE FUNCTION _tiered_storage.device_fit(
	fit_xx float8, fit_xy float8, fit_yy float8, fit_periods float8,
	OUT factor float8, OUT residual float8, OUT explained boolean)
RETURNS record
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_device_fit';
COMMENT ON FUNCTION _tiered_storage.device_fit(float8, float8, float8, float8) IS
'how well predicted and counted reads of a device agree, from the sums in device_state: bytes '
'read per byte predicted, the fraction of its bytes that this leaves unexplained, and whether '
'that is good enough; null: not known yet';

CREATE VIEW tiered_storage.device_io AS
	SELECT s.device,
		t.tier_name, t.tablespaces,
		s.counters_at AS sampled_at,
		NULLIF(s.period_s, 0) AS period_s,
		s.last_reads OPERATOR(pg_catalog./) p.period_s AS reads_per_s,
		s.last_read_bytes OPERATOR(pg_catalog./) p.period_s AS read_bytes_per_s,
		s.last_writes OPERATOR(pg_catalog./) p.period_s AS writes_per_s,
		s.last_write_bytes OPERATOR(pg_catalog./) p.period_s AS write_bytes_per_s,
		CASE WHEN s.period_s OPERATOR(pg_catalog.>) 0 THEN
			LEAST(1.0, s.last_busy_ms OPERATOR(pg_catalog./) 1000.0
				OPERATOR(pg_catalog./) s.period_s)::pg_catalog.float8 END AS busy_fraction,
		_tiered_storage.smoothed_rate(s.reads_fast, p.idle_s, p.observed_s, 86400)
			OPERATOR(pg_catalog./) 3600 AS reads_1d_per_s,
		_tiered_storage.smoothed_rate(s.read_bytes_fast, p.idle_s, p.observed_s, 86400)
			OPERATOR(pg_catalog./) 3600 AS read_bytes_1d_per_s,
		_tiered_storage.smoothed_rate(s.writes_fast, p.idle_s, p.observed_s, 86400)
			OPERATOR(pg_catalog./) 3600 AS writes_1d_per_s,
		_tiered_storage.smoothed_rate(s.write_bytes_fast, p.idle_s, p.observed_s, 86400)
			OPERATOR(pg_catalog./) 3600 AS write_bytes_1d_per_s,
		CASE WHEN p.idle_s IS NOT NULL THEN
			LEAST(1.0, _tiered_storage.smoothed_rate(s.busy_ms_fast, p.idle_s, p.observed_s, 86400)
				OPERATOR(pg_catalog./) 3600000)::pg_catalog.float8 END AS busy_1d_fraction,
		CASE WHEN s.period_s OPERATOR(pg_catalog.>) 0 THEN s.last_read_bytes END AS read_bytes,
		CASE WHEN s.period_s OPERATOR(pg_catalog.>) 0
			THEN s.predicted_bytes END AS predicted_read_bytes,
		CASE WHEN s.period_s OPERATOR(pg_catalog.>) 0
			THEN s.foreign_bytes END AS foreign_read_bytes,
		f.factor AS fit_factor, f.residual AS fit_residual,
		r.factor AS request_fit_factor, r.residual AS request_fit_residual, s.fit_periods,
		f.explained AND COALESCE(r.explained, true) AS explained,
		w.factor AS write_fit_factor, w.residual AS write_fit_residual,
		q.factor AS write_request_fit_factor, q.residual AS write_request_fit_residual,
		s.write_fit_periods, w.explained AND q.explained AS writes_explained
	FROM _tiered_storage.device_state s
	CROSS JOIN LATERAL _tiered_storage.device_fit(s.fit_xx, s.fit_xy, s.fit_yy, s.fit_periods) f
	CROSS JOIN LATERAL _tiered_storage.device_fit(s.request_fit_xx, s.request_fit_xy,
		s.request_fit_yy, s.request_fit_periods) r
	CROSS JOIN LATERAL _tiered_storage.device_fit(s.write_fit_xx, s.write_fit_xy,
		s.write_fit_yy, s.write_fit_periods) w
	CROSS JOIN LATERAL _tiered_storage.device_fit(s.write_request_fit_xx, s.write_request_fit_xy,
		s.write_request_fit_yy, s.write_request_fit_periods) q
	CROSS JOIN LATERAL (SELECT NULLIF(s.period_s, 0) AS period_s,
		CASE WHEN s.counters_at IS NOT NULL AND s.observed_since IS NOT NULL THEN
			GREATEST(0, EXTRACT(epoch FROM pg_catalog.now()
				OPERATOR(pg_catalog.-) s.counters_at))::pg_catalog.float8 END AS idle_s,
		GREATEST(3600, EXTRACT(epoch FROM pg_catalog.now()
			OPERATOR(pg_catalog.-) s.observed_since))::pg_catalog.float8 AS observed_s) p
	LEFT JOIN LATERAL (
		SELECT pg_catalog.array_agg(x.spcname::pg_catalog.text ORDER BY x.spcname) AS tablespaces,
			CASE WHEN pg_catalog.count(DISTINCT tt.tier_name) OPERATOR(pg_catalog.=) 1
				THEN pg_catalog.min(tt.tier_name::pg_catalog.text)::pg_catalog.name END
				AS tier_name
		FROM pg_catalog.pg_tablespace x
		LEFT JOIN _tiered_storage.tier_tablespaces tt
			ON tt.tablespace_oid OPERATOR(pg_catalog.=) x.oid
		WHERE x.oid OPERATOR(pg_catalog.=) ANY (s.tablespaces)) t ON true;
COMMENT ON VIEW tiered_storage.device_io IS
'activity of each device beneath a tablespace, between the last two samples and smoothed with a '
'half-life of 1 day, and how well it agrees with the reads predicted for this database';
COMMENT ON COLUMN tiered_storage.device_io.device IS
'block device beneath one or more tablespaces';
COMMENT ON COLUMN tiered_storage.device_io.tier_name IS
'tier of its tablespaces; null: none, or more than one';
COMMENT ON COLUMN tiered_storage.device_io.tablespaces IS 'tablespaces on the device';
COMMENT ON COLUMN tiered_storage.device_io.sampled_at IS
'when its counters were last read; null: it has none';
COMMENT ON COLUMN tiered_storage.device_io.period_s IS
'seconds between the last two samples; null, as all figures of the period: not known yet';
COMMENT ON COLUMN tiered_storage.device_io.reads_per_s IS 'read requests per second in the period';
COMMENT ON COLUMN tiered_storage.device_io.read_bytes_per_s IS
'bytes read per second in the period';
COMMENT ON COLUMN tiered_storage.device_io.writes_per_s IS
'write requests per second in the period';
COMMENT ON COLUMN tiered_storage.device_io.write_bytes_per_s IS
'bytes written per second in the period';
COMMENT ON COLUMN tiered_storage.device_io.busy_fraction IS
'fraction of the period in which it was busy';
COMMENT ON COLUMN tiered_storage.device_io.reads_1d_per_s IS
'read requests per second, half-life 1 day; null: not known yet';
COMMENT ON COLUMN tiered_storage.device_io.read_bytes_1d_per_s IS
'bytes read per second, half-life 1 day; null: not known yet';
COMMENT ON COLUMN tiered_storage.device_io.writes_1d_per_s IS
'write requests per second, half-life 1 day; null: not known yet';
COMMENT ON COLUMN tiered_storage.device_io.write_bytes_1d_per_s IS
'bytes written per second, half-life 1 day; null: not known yet';
COMMENT ON COLUMN tiered_storage.device_io.busy_1d_fraction IS
'fraction of the time in which it was busy, half-life 1 day; null: not known yet';
COMMENT ON COLUMN tiered_storage.device_io.read_bytes IS 'bytes read in the period';
COMMENT ON COLUMN tiered_storage.device_io.predicted_read_bytes IS
'bytes that this database is predicted to have read from it in the period';
COMMENT ON COLUMN tiered_storage.device_io.foreign_read_bytes IS
'bytes that other processes read in the period, from any device';
COMMENT ON COLUMN tiered_storage.device_io.fit_factor IS
'bytes read from the device per byte predicted; null: not known yet';
COMMENT ON COLUMN tiered_storage.device_io.fit_residual IS
'fraction of its bytes that the prediction leaves unexplained; null: not known yet';
COMMENT ON COLUMN tiered_storage.device_io.request_fit_factor IS
'read requests of the device per random read predicted; null: not known yet';
COMMENT ON COLUMN tiered_storage.device_io.request_fit_residual IS
'fraction of its requests that the prediction leaves unexplained; null: not known yet';
COMMENT ON COLUMN tiered_storage.device_io.fit_periods IS
'number of periods in the fit, older ones with less weight';
COMMENT ON COLUMN tiered_storage.device_io.explained IS
'whether prediction and counters agree; null: not known yet';
COMMENT ON COLUMN tiered_storage.device_io.write_fit_factor IS
'bytes that the device wrote per byte of a page that the WAL says was changed; null: not known '
'yet, or pg_wal is on the device';
COMMENT ON COLUMN tiered_storage.device_io.write_fit_residual IS
'fraction of the written bytes that this leaves unexplained; null: not known yet';
COMMENT ON COLUMN tiered_storage.device_io.write_request_fit_factor IS
'write requests of the device per request that the changed pages should take; null: not known yet';
COMMENT ON COLUMN tiered_storage.device_io.write_request_fit_residual IS
'fraction of the write requests that this leaves unexplained; null: not known yet';
COMMENT ON COLUMN tiered_storage.device_io.write_fit_periods IS
'number of periods in the fit of writes, older ones with less weight; each has four checkpoints';
COMMENT ON COLUMN tiered_storage.device_io.writes_explained IS
'whether the writes of the device agree with what the WAL says, so that the factors are applied; '
'null: not known yet';

CREATE FUNCTION tiered_storage.block_heat(
	relation regclass, buckets integer DEFAULT 100,
	OUT bucket integer, OUT first_block bigint, OUT last_block bigint,
	OUT cached_buffers bigint, OUT dirty_buffers bigint, OUT usage_sum bigint,
	OUT os_cached_bytes bigint, OUT heat float8, OUT standard_error float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_block_heat';
COMMENT ON FUNCTION tiered_storage.block_heat(regclass, integer) IS
'which parts of a relation are hot: its blocks in ranges of equal length, and what of each is in '
'shared buffers and in the page cache; heat goes from 0 (in neither) to 1 (in both, and always '
'used)';
---------------------------------------------------------------------------
-- How full the tiers are.
---------------------------------------------------------------------------

CREATE FUNCTION _tiered_storage.tier_corrections(
	OUT tier_name name, OUT random_read_correction float8, OUT sequential_read_correction float8,
	OUT write_correction float8, OUT measurements integer)
RETURNS SETOF record
LANGUAGE C STABLE PARALLEL UNSAFE ROWS 8
AS 'MODULE_PATHNAME', 'tier_tier_corrections';
COMMENT ON FUNCTION _tiered_storage.tier_corrections() IS
'how many times as long as their figures say the devices of tiers take, as learned from measured '
'moves; tiers of which nothing is known are left out';

CREATE VIEW tiered_storage.tiers AS
	SELECT t.tier_name, t.rank, s.tablespaces, t.profile, s.devices, t.compressed,
		t.random_read_ms, t.random_write_ms,
		t.sequential_read_mb_per_s, t.sequential_write_mb_per_s,
		t.fsync_ms, t.parallelism,
		t.price_per_gb_month, t.price_is_assumed,
		COALESCE(t.capacity_bytes, f.total_bytes) AS capacity_bytes,
		f.used_bytes,
		f.free_bytes,
		COALESCE(r.relation_bytes, 0)::pg_catalog.int8 AS relation_bytes,
		COALESCE(r.relations, 0) AS relations,
		t.reserve_fraction, t.low_watermark, t.high_watermark,
		t.endurance_tbw, t.endurance_dwpd, t.discovered, t.compression_ratio,
		(SELECT pg_catalog.max(k.calibrated_at) FROM _tiered_storage.tier_calibration k
			WHERE k.tier_name OPERATOR(pg_catalog.=) t.tier_name) AS calibrated_at,
		l.random_read_correction, l.sequential_read_correction, l.write_correction,
		COALESCE(l.measurements, 0) AS corrected_by,
		t.scan_start_ms
	FROM _tiered_storage.tier t
	LEFT JOIN _tiered_storage.tier_corrections() l
		ON l.tier_name OPERATOR(pg_catalog.=) t.tier_name
	LEFT JOIN LATERAL (
		SELECT pg_catalog.array_agg(tt.tablespace_name::pg_catalog.text
			ORDER BY tt.tablespace_name) AS tablespaces,
			pg_catalog.array_agg(DISTINCT d.device) FILTER (WHERE d.device IS NOT NULL) AS devices
		FROM _tiered_storage.tier_tablespaces tt
		JOIN tiered_storage.tablespace_devices() d
			ON d.tablespace_oid OPERATOR(pg_catalog.=) tt.tablespace_oid
		WHERE tt.tier_name OPERATOR(pg_catalog.=) t.tier_name) s ON true
	LEFT JOIN LATERAL (
		SELECT pg_catalog.sum(x.total_bytes)::pg_catalog.int8 AS total_bytes,
			pg_catalog.sum(x.used_bytes)::pg_catalog.int8 AS used_bytes,
			pg_catalog.sum(x.free_bytes)::pg_catalog.int8 AS free_bytes
		FROM (SELECT DISTINCT ON (d.file_system_id) d.total_bytes, d.used_bytes, d.free_bytes
			FROM _tiered_storage.tier_tablespaces tt
			JOIN tiered_storage.tablespace_devices() d
				ON d.tablespace_oid OPERATOR(pg_catalog.=) tt.tablespace_oid
			WHERE tt.tier_name OPERATOR(pg_catalog.=) t.tier_name
				AND d.total_bytes OPERATOR(pg_catalog.>=) 0) x) f ON true
	LEFT JOIN LATERAL (
		SELECT pg_catalog.sum(rs.size_bytes) AS relation_bytes, pg_catalog.count(*) AS relations
		FROM _tiered_storage.tier_tablespaces tt
		JOIN _tiered_storage.relation_state rs
			ON rs.tablespace_oid OPERATOR(pg_catalog.=) tt.tablespace_oid
		WHERE tt.tier_name OPERATOR(pg_catalog.=) t.tier_name) r ON true
	ORDER BY t.rank, t.tier_name;
COMMENT ON VIEW tiered_storage.tiers IS
'the storage tiers: tablespaces, devices, performance figures, price and how full they are';
COMMENT ON COLUMN tiered_storage.tiers.tier_name IS 'name of the tier';
COMMENT ON COLUMN tiered_storage.tiers.rank IS 'place in the order of tiers; 0 is the fastest';
COMMENT ON COLUMN tiered_storage.tiers.tablespaces IS 'its tablespaces; null: none';
COMMENT ON COLUMN tiered_storage.tiers.profile IS
'device profile, the source of figures that are neither given nor measured';
COMMENT ON COLUMN tiered_storage.tiers.devices IS
'devices beneath its tablespaces; null: none known';
COMMENT ON COLUMN tiered_storage.tiers.compressed IS 'whether its file system compresses';
COMMENT ON COLUMN tiered_storage.tiers.random_read_ms IS 'latency of a random block read in ms';
COMMENT ON COLUMN tiered_storage.tiers.random_write_ms IS 'latency of a random block write in ms';
COMMENT ON COLUMN tiered_storage.tiers.sequential_read_mb_per_s IS
'sequential read rate in MB per second';
COMMENT ON COLUMN tiered_storage.tiers.sequential_write_mb_per_s IS
'sequential write rate in MB per second';
COMMENT ON COLUMN tiered_storage.tiers.scan_start_ms IS
'what a sequential scan takes beside its bytes in ms, until it reads at the full rate; null: as '
'long as one random read';
COMMENT ON COLUMN tiered_storage.tiers.fsync_ms IS 'duration of an fsync in ms';
COMMENT ON COLUMN tiered_storage.tiers.parallelism IS
'number of requests that the device serves at the same time';
COMMENT ON COLUMN tiered_storage.tiers.price_per_gb_month IS
'price per GB and month, in a currency of your choice';
COMMENT ON COLUMN tiered_storage.tiers.price_is_assumed IS
'whether the price is that of the profile because none was given';
COMMENT ON COLUMN tiered_storage.tiers.capacity_bytes IS
'capacity in bytes as given, otherwise the size of its file systems; null: unknown';
COMMENT ON COLUMN tiered_storage.tiers.used_bytes IS
'bytes used on its file systems, by everything on them; what these reserve is neither used nor '
'free; null: unknown';
COMMENT ON COLUMN tiered_storage.tiers.free_bytes IS
'bytes free on its file systems; null: unknown';
COMMENT ON COLUMN tiered_storage.tiers.relation_bytes IS
'bytes of this database''s relations on the tier at the last sample';
COMMENT ON COLUMN tiered_storage.tiers.relations IS
'number of this database''s relations on the tier at the last sample';
COMMENT ON COLUMN tiered_storage.tiers.reserve_fraction IS
'fraction of the capacity that is to stay free';
COMMENT ON COLUMN tiered_storage.tiers.low_watermark IS
'fraction of the capacity down to which a tier that is too full is to be emptied';
COMMENT ON COLUMN tiered_storage.tiers.high_watermark IS
'fraction of the capacity above which the tier is too full';
COMMENT ON COLUMN tiered_storage.tiers.endurance_tbw IS
'TB that may be written in the life of the device; null: unknown';
COMMENT ON COLUMN tiered_storage.tiers.endurance_dwpd IS
'how often the capacity may be written per day; null: unknown';
COMMENT ON COLUMN tiered_storage.tiers.discovered IS
'whether discover_tiers() created it and nobody has changed it since';
COMMENT ON COLUMN tiered_storage.tiers.compression_ratio IS
'bytes of data per byte stored on a compressed tier; null: not given';
COMMENT ON COLUMN tiered_storage.tiers.calibrated_at IS
'when calibrate_tier() last measured it; null: never';
COMMENT ON COLUMN tiered_storage.tiers.random_read_correction IS
'how many times as long as the figure a random read takes, as learned from measured moves, 0.5 to '
'2; the advice multiplies by it; null: nothing was measured';
COMMENT ON COLUMN tiered_storage.tiers.sequential_read_correction IS
'the same of sequential reads';
COMMENT ON COLUMN tiered_storage.tiers.write_correction IS 'the same of writes';
COMMENT ON COLUMN tiered_storage.tiers.corrected_by IS
'number of measurements that the corrections rest on: one for each day and tablespace';
---------------------------------------------------------------------------
-- What the database and the server did in a period.
---------------------------------------------------------------------------

/*
 * One row per sample in which this database was not idle; rows of finished hours are
 * rolled up like those of relation_history.  Statistics are of this database, waits of its
 * backends; WAL, checkpoints, written buffers and SLRU are of the whole server.
 */
CREATE TABLE _tiered_storage.load_history
(
	period_start timestamptz NOT NULL PRIMARY KEY,
	period_s float8 NOT NULL CHECK (period_s OPERATOR(pg_catalog.>) 0
		AND period_s OPERATOR(pg_catalog.<) 1e10),
	commits bigint,
	rollbacks bigint,
	blocks_fetched bigint,
	blocks_hit bigint,
	rows_returned bigint,
	rows_fetched bigint,
	rows_inserted bigint,
	rows_updated bigint,
	rows_deleted bigint,
	temp_files bigint,
	temp_bytes bigint,
	deadlocks bigint,
	wal_records bigint,
	wal_full_page_images bigint,
	wal_bytes bigint,
	wal_writes bigint,
	checkpoints_timed bigint,
	checkpoints_requested bigint,
	buffers_checkpointer bigint,
	buffers_bgwriter bigint,
	buffers_backends bigint,
	slru_reads bigint,
	slru_writes bigint,
	wait_sampled_ms bigint,
	wait_cpu_ms bigint,
	wait_relations_ms bigint,
	wait_wal_ms bigint,
	wait_temp_ms bigint,
	wait_slru_ms bigint,
	wait_other_io_ms bigint,
	wait_lock_ms bigint,
	wait_lwlock_ms bigint,
	wait_other_ms bigint
);
COMMENT ON TABLE _tiered_storage.load_history IS
'activity of this database and of the server by period: one sample each at first, once rolled up '
'the part of an hour in which they were active; a period in which the database was idle has no '
'row; use load_profile()';
COMMENT ON COLUMN _tiered_storage.load_history.wait_sampled_ms IS
'time in ms within the period in which the waits of the backends were sampled';

/*
 * What a sample cannot have written is not known.  All sums of what it can fit in a bigint; and
 * no wait is of more backends than there can ever be, 2^18, at once.
 */
CREATE FUNCTION _tiered_storage.load_is_possible(l _tiered_storage.load_history)
RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT LEAST(0, l.commits, l.rollbacks, l.blocks_fetched, l.blocks_hit, l.rows_returned,
		l.rows_fetched, l.rows_inserted, l.rows_updated, l.rows_deleted, l.temp_files,
		l.temp_bytes, l.deadlocks, l.wal_records, l.wal_full_page_images, l.wal_bytes,
		l.wal_writes, l.checkpoints_timed, l.checkpoints_requested, l.buffers_checkpointer,
		l.buffers_bgwriter, l.buffers_backends, l.slru_reads, l.slru_writes, l.wait_sampled_ms,
		w.lowest) >= 0
		AND GREATEST(0, l.commits, l.rollbacks, l.blocks_fetched, l.blocks_hit, l.rows_returned,
		l.rows_fetched, l.rows_inserted, l.rows_updated, l.rows_deleted, l.temp_files,
		l.temp_bytes, l.deadlocks, l.wal_records, l.wal_full_page_images, l.wal_bytes,
		l.wal_writes, l.checkpoints_timed, l.checkpoints_requested, l.buffers_checkpointer,
		l.buffers_bgwriter, l.buffers_backends, l.slru_reads, l.slru_writes, l.wait_sampled_ms,
		w.highest) <= 1e16::bigint
		AND COALESCE(w.highest, 0) <= 262144.0 * COALESCE(l.wait_sampled_ms, 0)
	FROM (SELECT min(ms) AS lowest, max(ms) AS highest FROM unnest(ARRAY[l.wait_cpu_ms,
		l.wait_relations_ms, l.wait_wal_ms, l.wait_temp_ms, l.wait_slru_ms, l.wait_other_io_ms,
		l.wait_lock_ms, l.wait_lwlock_ms, l.wait_other_ms]) ms) w
$$;
COMMENT ON FUNCTION _tiered_storage.load_is_possible(_tiered_storage.load_history) IS
'whether a sample can have written this row: nothing is negative, or more than there can be';

CREATE TABLE _tiered_storage.load_state
(
	singleton boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (singleton),
	observed_since timestamptz NOT NULL,
	sampled_at timestamptz NOT NULL,
	counters bigint[] NOT NULL
);
COMMENT ON TABLE _tiered_storage.load_state IS
'the cumulative counters at the last sample, in the order of the columns of load_history';

CREATE FUNCTION tiered_storage.wait_times(
	OUT wait_class text, OUT wait_s float8, OUT sampled_s float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_wait_times';
COMMENT ON FUNCTION tiered_storage.wait_times() IS
'seconds that the backends of this database have waited since the server started, by class of '
'file, sampled every tiered_storage.wait_sample_interval; empty without shared_preload_libraries';

CREATE FUNCTION _tiered_storage.load_period(from_at timestamptz, to_at timestamptz,
	OUT begins_at timestamptz, OUT ends_at timestamptz)
RETURNS record
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	observed_since timestamptz;
	sampled_at timestamptz;
BEGIN
	IF NOT isfinite(from_at) OR NOT isfinite(to_at) THEN
		RAISE EXCEPTION 'a period must have a finite begin and end'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	IF from_at >= to_at THEN
		RAISE EXCEPTION 'the period must end after it has begun'
			USING ERRCODE = 'invalid_parameter_value',
				DETAIL = format('It would begin at %s and end at %s.', from_at, to_at);
	END IF;
	SELECT GREATEST(s.observed_since, s.sampled_at
		- current_setting('tiered_storage.history_retention', true)::interval), s.sampled_at
		INTO observed_since, sampled_at FROM _tiered_storage.load_state s;
	IF sampled_at IS NULL OR sampled_at <= observed_since THEN
		RAISE EXCEPTION 'there are no two samples yet that a load could be computed from'
			USING ERRCODE = 'object_not_in_prerequisite_state',
				HINT = 'The worker takes one each tiered_storage.sample_interval; or use CALL '
					'tiered_storage.sample().';
	END IF;
	ends_at := LEAST(to_at, sampled_at);
	begins_at := GREATEST(COALESCE(from_at, GREATEST(COALESCE(to_at, sampled_at), observed_since)
		- interval '1 hour'), observed_since);
	IF begins_at >= ends_at THEN
		RAISE EXCEPTION 'the load of that period was not sampled'
			USING ERRCODE = 'no_data_found',
				DETAIL = format('The load is known from %s to %s.', observed_since, sampled_at);
	END IF;
	IF from_at < begins_at OR to_at > ends_at THEN
		RAISE NOTICE 'the load is known from % to % only', observed_since, sampled_at
			USING DETAIL = format('The figures are those from %s to %s.', begins_at, ends_at);
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.load_period(timestamptz, timestamptz) IS
'checks a period and cuts it to the time that has been sampled';

/*
 * A sample that reaches beyond the period counts in proportion.  Where there is no row,
 * the database was idle.
 */
CREATE FUNCTION _tiered_storage.load_sums(
	begins_at timestamptz, ends_at timestamptz,
	OUT commits float8, OUT rollbacks float8, OUT blocks_read float8, OUT blocks_hit float8,
	OUT rows_returned float8, OUT rows_fetched float8, OUT rows_inserted float8,
	OUT rows_updated float8, OUT rows_deleted float8, OUT temp_files float8,
	OUT temp_bytes float8, OUT deadlocks float8, OUT wal_records float8,
	OUT wal_full_page_images float8, OUT wal_bytes float8, OUT wal_writes float8,
	OUT checkpoints_timed float8, OUT checkpoints_requested float8,
	OUT buffers_checkpointer float8, OUT buffers_bgwriter float8, OUT buffers_backends float8,
	OUT slru_reads float8, OUT slru_writes float8, OUT cpu_ms float8, OUT relations_ms float8,
	OUT wal_ms float8, OUT temp_ms float8, OUT slru_ms float8, OUT other_io_ms float8,
	OUT lock_ms float8, OUT lwlock_ms float8, OUT other_ms float8, OUT prorated_s float8)
RETURNS record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH part AS (
		SELECT h.*, p.share, p.share * h.period_s AS inside_s
		FROM _tiered_storage.load_history h
		CROSS JOIN LATERAL (SELECT _tiered_storage.period_share(h.period_start, h.period_s,
			begins_at, ends_at) AS share) p
		WHERE h.period_start < ends_at AND p.share > 0
			AND _tiered_storage.load_is_possible(h)
	)
	SELECT
		sum(commits * share), sum(rollbacks * share),
		sum(GREATEST(blocks_fetched - blocks_hit, 0) * share), sum(blocks_hit * share),
		sum(rows_returned * share), sum(rows_fetched * share), sum(rows_inserted * share),
		sum(rows_updated * share), sum(rows_deleted * share), sum(temp_files * share),
		sum(temp_bytes * share), sum(deadlocks * share), sum(wal_records * share),
		sum(wal_full_page_images * share), sum(wal_bytes * share), sum(wal_writes * share),
		sum(checkpoints_timed * share), sum(checkpoints_requested * share),
		sum(buffers_checkpointer * share), sum(buffers_bgwriter * share),
		sum(buffers_backends * share), sum(slru_reads * share), sum(slru_writes * share),
		sum(wait_cpu_ms * share), sum(wait_relations_ms * share), sum(wait_wal_ms * share),
		sum(wait_temp_ms * share), sum(wait_slru_ms * share), sum(wait_other_io_ms * share),
		sum(wait_lock_ms * share), sum(wait_lwlock_ms * share), sum(wait_other_ms * share),
		COALESCE(sum(inside_s) FILTER (WHERE share < 1), 0)
	FROM part
$$;
COMMENT ON FUNCTION _tiered_storage.load_sums(timestamptz, timestamptz) IS
'sums of load_history in a period; a sample that reaches beyond the period counts in proportion, '
'prorated_s is how much of it does';

CREATE FUNCTION _tiered_storage.load_totals(begins_at timestamptz, ends_at timestamptz,
	OUT place integer, OUT metric text, OUT unit text, OUT total float8)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT v.*
	FROM _tiered_storage.load_sums(begins_at, ends_at) t
	CROSS JOIN LATERAL (VALUES
		(1, 'period', 's', EXTRACT(epoch FROM ends_at - begins_at)::float8),
		(2, 'prorated', 's', t.prorated_s),
		(3, 'transactions', 'transactions', COALESCE(t.commits + t.rollbacks, 0)),
		(4, 'rollbacks', 'transactions', COALESCE(t.rollbacks, 0)),
		(5, 'block_reads', 'blocks', COALESCE(t.blocks_read, 0)),
		(6, 'block_hits', 'blocks', COALESCE(t.blocks_hit, 0)),
		(7, 'hit_ratio', 'ratio', t.blocks_hit / NULLIF(t.blocks_hit + t.blocks_read, 0)),
		(8, 'rows_returned', 'rows', COALESCE(t.rows_returned, 0)),
		(9, 'rows_fetched', 'rows', COALESCE(t.rows_fetched, 0)),
		(10, 'rows_inserted', 'rows', COALESCE(t.rows_inserted, 0)),
		(11, 'rows_updated', 'rows', COALESCE(t.rows_updated, 0)),
		(12, 'rows_deleted', 'rows', COALESCE(t.rows_deleted, 0)),
		(13, 'temp_files', 'files', COALESCE(t.temp_files, 0)),
		(14, 'temp_bytes', 'bytes', COALESCE(t.temp_bytes, 0)),
		(15, 'deadlocks', 'deadlocks', COALESCE(t.deadlocks, 0)),
		(16, 'server_wal_records', 'records', COALESCE(t.wal_records, 0)),
		(17, 'server_wal_full_page_images', 'images', COALESCE(t.wal_full_page_images, 0)),
		(18, 'server_wal_bytes', 'bytes', COALESCE(t.wal_bytes, 0)),
		(19, 'server_wal_writes', 'writes', t.wal_writes),
		(20, 'server_checkpoints_timed', 'checkpoints', COALESCE(t.checkpoints_timed, 0)),
		(21, 'server_checkpoints_requested', 'checkpoints', COALESCE(t.checkpoints_requested, 0)),
		(22, 'server_buffers_checkpointer', 'blocks', COALESCE(t.buffers_checkpointer, 0)),
		(23, 'server_buffers_bgwriter', 'blocks', COALESCE(t.buffers_bgwriter, 0)),
		(24, 'server_buffers_backends', 'blocks', COALESCE(t.buffers_backends, 0)),
		(25, 'server_slru_reads', 'blocks', COALESCE(t.slru_reads, 0)),
		(26, 'server_slru_writes', 'blocks', COALESCE(t.slru_writes, 0)),
		(27, 'wait_cpu', 's', t.cpu_ms / 1000),
		(28, 'wait_relations', 's', t.relations_ms / 1000),
		(29, 'wait_wal', 's', t.wal_ms / 1000),
		(30, 'wait_temp', 's', t.temp_ms / 1000),
		(31, 'wait_slru', 's', t.slru_ms / 1000),
		(32, 'wait_other_io', 's', t.other_io_ms / 1000),
		(33, 'wait_lock', 's', t.lock_ms / 1000),
		(34, 'wait_lwlock', 's', t.lwlock_ms / 1000),
		(35, 'wait_other', 's', t.other_ms / 1000)) v
$$;
COMMENT ON FUNCTION _tiered_storage.load_totals(timestamptz, timestamptz) IS
'the load of a period, one row per metric';

CREATE FUNCTION tiered_storage.load_profile(
	from_at timestamptz DEFAULT NULL, to_at timestamptz DEFAULT NULL,
	OUT metric text, OUT total float8, OUT per_second float8, OUT per_transaction float8,
	OUT unit text)
RETURNS SETOF record
LANGUAGE plpgsql STABLE ROWS 35 SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
#variable_conflict use_column
DECLARE
	period record;
	period_s float8;
	transactions float8;
BEGIN
	SELECT * INTO period FROM _tiered_storage.load_period(from_at, to_at);
	SELECT max(t.total) FILTER (WHERE t.metric = 'period'),
		NULLIF(max(t.total) FILTER (WHERE t.metric = 'transactions'), 0)
		INTO period_s, transactions FROM _tiered_storage.load_totals(period.begins_at,
			period.ends_at) t;
	RETURN QUERY
		SELECT t.metric, t.total,
			CASE WHEN t.unit <> 'ratio' AND t.place > 2 THEN t.total / period_s END,
			CASE WHEN t.unit <> 'ratio' AND t.place > 2 THEN t.total / transactions END,
			t.unit
		FROM _tiered_storage.load_totals(period.begins_at, period.ends_at) t
		ORDER BY t.place;
END
$$;
COMMENT ON FUNCTION tiered_storage.load_profile(timestamptz, timestamptz) IS
'the load of this database in a period: in total, per second and per transaction; waits per '
'second are average active sessions; server_* metrics are of the whole server; without arguments '
'the last sampled hour';

CREATE FUNCTION tiered_storage.compare_load(
	from1 timestamptz, to1 timestamptz, from2 timestamptz, to2 timestamptz,
	OUT metric text, OUT first_per_s float8, OUT second_per_s float8, OUT per_second_ratio float8,
	OUT first_per_transaction float8, OUT second_per_transaction float8,
	OUT per_transaction_ratio float8, OUT unit text)
RETURNS SETOF record
LANGUAGE plpgsql STABLE ROWS 35 SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
#variable_conflict use_column
BEGIN
	IF from1 IS NULL OR to1 IS NULL OR from2 IS NULL OR to2 IS NULL THEN
		RAISE EXCEPTION 'both periods must have a begin and an end'
			USING ERRCODE = 'null_value_not_allowed';
	END IF;
	RETURN QUERY
		SELECT f.metric, f.value, s.value, s.value / NULLIF(f.value, 0),
			f.per_transaction, s.per_transaction, s.per_transaction / NULLIF(f.per_transaction, 0),
			f.unit
		FROM (SELECT *, CASE WHEN per_second IS NULL THEN total ELSE per_second END AS value
			FROM tiered_storage.load_profile(from1, to1) WITH ORDINALITY) f
		JOIN (SELECT *, CASE WHEN per_second IS NULL THEN total ELSE per_second END AS value
			FROM tiered_storage.load_profile(from2, to2)) s USING (metric)
		ORDER BY f.ordinality;
END
$$;
COMMENT ON FUNCTION tiered_storage.compare_load(
	timestamptz, timestamptz, timestamptz, timestamptz) IS
'the load of two periods side by side; ratios are second to first; metrics that are no rates '
'(length of the period, hit ratio) are compared by value';
---------------------------------------------------------------------------
-- I/O by file class: relations, WAL, temporary files and the rest.
---------------------------------------------------------------------------

/* Of the relations there may be less history than of the load: its size is limited. */
CREATE VIEW tiered_storage.file_class_io AS
	WITH span AS (
		SELECT p.ends_at, p.begins_at,
			NULLIF(EXTRACT(epoch FROM p.ends_at
				OPERATOR(pg_catalog.-) p.begins_at)::pg_catalog.float8 OPERATOR(pg_catalog./) 3600,
				0) AS hours
		FROM (SELECT s.sampled_at AS ends_at,
				GREATEST(s.observed_since, s.sampled_at
					OPERATOR(pg_catalog.-) '1 day'::pg_catalog.interval) AS begins_at
			FROM _tiered_storage.load_state s) p
	), load AS (
		SELECT t.metric, t.total OPERATOR(pg_catalog./) s.hours AS per_hour
		FROM span s CROSS JOIN LATERAL _tiered_storage.load_totals(s.begins_at, s.ends_at) t
		WHERE s.hours OPERATOR(pg_catalog.>) 0
	), kept AS (
		SELECT k.begins_at, s.ends_at, EXTRACT(epoch FROM s.ends_at
				OPERATOR(pg_catalog.-) k.begins_at)::pg_catalog.float8
				OPERATOR(pg_catalog./) 3600 AS hours,
			COALESCE((SELECT pg_catalog.max(b.period_start)
				FROM _tiered_storage.relation_history b
				WHERE b.period_start OPERATOR(pg_catalog.<) k.begins_at)
				OPERATOR(pg_catalog.-) '1 hour'::pg_catalog.interval, k.begins_at) AS first_start
		FROM span s
		CROSS JOIN LATERAL (SELECT GREATEST(s.begins_at, (SELECT p.history_since
			FROM _tiered_storage.sampler p)) AS begins_at) k
		WHERE k.begins_at OPERATOR(pg_catalog.<) s.ends_at
	), relations AS (
		SELECT tt.tier_name, GROUPING(tt.tier_name) AS is_total,
			pg_catalog.sum((h.random_reads OPERATOR(pg_catalog.+) h.sequential_reads)
				OPERATOR(pg_catalog.*) _tiered_storage.period_share(h.period_start, h.period_s,
					s.begins_at, s.ends_at))
				OPERATOR(pg_catalog./) pg_catalog.max(s.hours) AS per_hour
		FROM kept s
		JOIN _tiered_storage.relation_history h
			ON h.period_start OPERATOR(pg_catalog.>=) s.first_start
			AND h.period_start OPERATOR(pg_catalog.<) s.ends_at
		LEFT JOIN _tiered_storage.relation_state r
			ON r.relation_oid OPERATOR(pg_catalog.=) h.relation_oid
		LEFT JOIN _tiered_storage.tier_tablespaces tt
			ON tt.tablespace_oid OPERATOR(pg_catalog.=) r.tablespace_oid
		GROUP BY GROUPING SETS ((tt.tier_name), ())
	), block AS (
		SELECT pg_catalog.current_setting('block_size')::pg_catalog.float8 AS bytes
	)
	SELECT 'relations'::pg_catalog.text AS file_class, r.tier_name,
		r.per_hour AS reads_per_hour, r.per_hour OPERATOR(pg_catalog.*) b.bytes
			AS read_bytes_per_hour,
		NULL::pg_catalog.float8 AS writes_per_hour,
			NULL::pg_catalog.float8 AS write_bytes_per_hour,
		NULL::pg_catalog.float8 AS wait_s_per_hour
	FROM relations r CROSS JOIN block b
	WHERE r.is_total OPERATOR(pg_catalog.=) 0 AND r.tier_name IS NOT NULL
	UNION ALL
	SELECT c.file_class, NULL,
		CASE c.file_class
			WHEN 'relations' THEN (SELECT COALESCE((SELECT pg_catalog.max(r.per_hour)
				FROM relations r WHERE r.is_total OPERATOR(pg_catalog.=) 1), 0) FROM kept)
			WHEN 'slru' THEN l.slru_reads END,
		CASE c.file_class
			WHEN 'relations' THEN (SELECT COALESCE((SELECT pg_catalog.max(r.per_hour)
				FROM relations r WHERE r.is_total OPERATOR(pg_catalog.=) 1), 0) FROM kept)
				OPERATOR(pg_catalog.*) b.bytes
			WHEN 'slru' THEN l.slru_reads OPERATOR(pg_catalog.*) b.bytes END,
		CASE c.file_class WHEN 'relations' THEN l.buffers
			WHEN 'wal' THEN l.wal_writes WHEN 'slru' THEN l.slru_writes END,
		CASE c.file_class WHEN 'relations' THEN l.buffers OPERATOR(pg_catalog.*) b.bytes
			WHEN 'wal' THEN l.wal_bytes
			WHEN 'temp' THEN l.temp_bytes
			WHEN 'slru' THEN l.slru_writes OPERATOR(pg_catalog.*) b.bytes END,
		CASE c.file_class WHEN 'relations' THEN l.wait_relations WHEN 'wal' THEN l.wait_wal
			WHEN 'temp' THEN l.wait_temp WHEN 'slru' THEN l.wait_slru END
	FROM (SELECT
			pg_catalog.sum(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.~~) E'server\\_buffers\\_%') AS buffers,
			pg_catalog.max(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.=) 'server_wal_writes') AS wal_writes,
			pg_catalog.max(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.=) 'server_wal_bytes') AS wal_bytes,
			pg_catalog.max(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.=) 'temp_bytes') AS temp_bytes,
			pg_catalog.max(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.=) 'server_slru_reads') AS slru_reads,
			pg_catalog.max(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.=) 'server_slru_writes') AS slru_writes,
			pg_catalog.max(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.=) 'wait_relations') AS wait_relations,
			pg_catalog.max(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.=) 'wait_wal') AS wait_wal,
			pg_catalog.max(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.=) 'wait_temp') AS wait_temp,
			pg_catalog.max(per_hour)
				FILTER (WHERE metric OPERATOR(pg_catalog.=) 'wait_slru') AS wait_slru
		FROM load) l
	CROSS JOIN block b
	CROSS JOIN (VALUES ('relations'::pg_catalog.text), ('wal'), ('temp'), ('slru')) c (file_class);
COMMENT ON VIEW tiered_storage.file_class_io IS
'reads, writes and waits per hour by class of file over the last sampled day; all writes, and '
'wal and slru, are of the whole server, the rest of this database; null: not counted';
COMMENT ON COLUMN tiered_storage.file_class_io.file_class IS 'relations, wal, temp or slru';
COMMENT ON COLUMN tiered_storage.file_class_io.tier_name IS
'tier of these relations; null: the whole class';
COMMENT ON COLUMN tiered_storage.file_class_io.reads_per_hour IS
'blocks read per hour, for relations those that missed shared buffers; null: not counted';
COMMENT ON COLUMN tiered_storage.file_class_io.read_bytes_per_hour IS
'bytes read per hour; null: not counted';
COMMENT ON COLUMN tiered_storage.file_class_io.writes_per_hour IS
'blocks (relations, slru) or requests (wal) written per hour; null: not counted';
COMMENT ON COLUMN tiered_storage.file_class_io.write_bytes_per_hour IS
'bytes written per hour; null: not counted';
COMMENT ON COLUMN tiered_storage.file_class_io.wait_s_per_hour IS
'seconds per hour that backends of this database waited for this class; null: not sampled';
---------------------------------------------------------------------------
-- When relations are read: hours, days, bursts.
---------------------------------------------------------------------------

/*
 * Hours and days are those of the session's time zone.  An hour in which a relation was
 * observed and has no row is an hour without reads, and counts.
 */
CREATE FUNCTION tiered_storage.seasonality(
	only_relation regclass DEFAULT NULL,
	OUT relation regclass, OUT cycle text, OUT value integer,
	OUT reads_per_hour float8, OUT share float8, OUT active_days integer,
	OUT observed_days integer)
RETURNS SETOF record
LANGUAGE C STABLE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_seasonality';
COMMENT ON FUNCTION tiered_storage.seasonality(regclass) IS
'when relations are read: mean reads per hour by hour of the day, day of the week (1 is Monday), '
'day of the month and days to the end of the month, in the time zone of the session, over the '
'history that is kept; without an argument all relations that were read';

CREATE FUNCTION _tiered_storage.find_heat_peaks(
	OUT relation regclass, OUT peak_at timestamptz, OUT peak_reads_per_hour float8,
	OUT mean_reads_per_hour float8, OUT busiest_day_of_month integer,
	OUT busiest_days_to_end_of_month integer,
	OUT active_days integer, OUT observed_days integer, OUT burst_share float8,
	OUT is_burst boolean)
RETURNS SETOF record
LANGUAGE C STABLE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_heat_peaks';
COMMENT ON FUNCTION _tiered_storage.find_heat_peaks() IS
'the rows of the view heat_peaks';

CREATE VIEW tiered_storage.heat_peaks AS
	SELECT * FROM _tiered_storage.find_heat_peaks();
COMMENT ON VIEW tiered_storage.heat_peaks IS
'the busiest hour and day of each relation in the history that is kept, and whether it is read '
'in bursts; days are those of the session''s time zone';
COMMENT ON COLUMN tiered_storage.heat_peaks.relation IS
'table, partition, materialized view, index or TOAST table';
COMMENT ON COLUMN tiered_storage.heat_peaks.peak_at IS 'start of its busiest hour';
COMMENT ON COLUMN tiered_storage.heat_peaks.peak_reads_per_hour IS
'blocks read in its busiest hour';
COMMENT ON COLUMN tiered_storage.heat_peaks.mean_reads_per_hour IS
'blocks read per hour, mean over the history';
COMMENT ON COLUMN tiered_storage.heat_peaks.busiest_day_of_month IS
'day of the month with the most reads per hour';
COMMENT ON COLUMN tiered_storage.heat_peaks.busiest_days_to_end_of_month IS
'the same counted from the end of the month; 0 is its last day';
COMMENT ON COLUMN tiered_storage.heat_peaks.active_days IS 'number of days on which it was read';
COMMENT ON COLUMN tiered_storage.heat_peaks.observed_days IS
'number of days on which it was observed';
COMMENT ON COLUMN tiered_storage.heat_peaks.burst_share IS
'fraction of its reads on the busiest tenth of the observed days';
COMMENT ON COLUMN tiered_storage.heat_peaks.is_burst IS
'whether more than half of its reads fell on the busiest tenth of at least ten observed days';
---------------------------------------------------------------------------
-- Standbys whose reads count here.
---------------------------------------------------------------------------

CREATE TABLE _tiered_storage.standby
(
	standby_name name NOT NULL PRIMARY KEY CHECK (standby_name OPERATOR(pg_catalog.<>) ''),
	server_name name,
	conninfo text,
	added_by name NOT NULL,
	added_by_oid oid NOT NULL,
	added_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
	CHECK ((server_name IS NULL) OPERATOR(pg_catalog.<>) (conninfo IS NULL))
);
COMMENT ON TABLE _tiered_storage.standby IS
'standbys whose reads are counted; use add_standby() and the view tiered_storage.standbys';
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.standby', '');

CREATE TABLE _tiered_storage.standby_state
(
	standby_name name NOT NULL PRIMARY KEY REFERENCES _tiered_storage.standby ON DELETE CASCADE,
	system_identifier bigint,
	in_recovery boolean,
	last_attempt_at timestamptz NOT NULL,
	last_pull_at timestamptz,
	next_pull_at timestamptz NOT NULL,
	failures integer NOT NULL,
	relations bigint,
	error text
);
COMMENT ON TABLE _tiered_storage.standby_state IS
'result of the last pull from each standby; use the view tiered_storage.standbys';

CREATE TABLE _tiered_storage.standby_counters
(
	standby_name name NOT NULL REFERENCES _tiered_storage.standby ON DELETE CASCADE,
	relation_oid oid NOT NULL,
	scans bigint NOT NULL,
	tuples_read bigint NOT NULL,
	blocks_fetched bigint NOT NULL,
	blocks_hit bigint NOT NULL,
	held boolean NOT NULL,
	PRIMARY KEY (standby_name, relation_oid)
);
COMMENT ON TABLE _tiered_storage.standby_counters IS
'counters in the statistics of each standby at the last pull';
COMMENT ON COLUMN _tiered_storage.standby_counters.held IS
'a transaction there had locked it, and may have read what is not counted yet; false once it is '
'stored';

/* Each sample empties it, so it need not store which reads have been added already. */
CREATE TABLE _tiered_storage.standby_reads
(
	relation_oid oid NOT NULL PRIMARY KEY,
	scans bigint NOT NULL,
	tuples_read bigint NOT NULL,
	blocks_fetched bigint NOT NULL,
	blocks_hit bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.1);
COMMENT ON TABLE _tiered_storage.standby_reads IS
'reads of the standbys since the last sample, which takes them from here; all zero: a transaction '
'there had it locked';

CREATE VIEW tiered_storage.standbys AS
	SELECT s.standby_name,
		CASE WHEN s.server_name IS NULL THEN 'connection string'
			ELSE 'server '
			OPERATOR(pg_catalog.||) pg_catalog.quote_ident(s.server_name::pg_catalog.text) END
			AS connection,
		t.system_identifier OPERATOR(pg_catalog.=) c.system_identifier
			AS system_identifier_matches,
		t.in_recovery, t.relations, t.last_pull_at, t.last_attempt_at, t.next_pull_at, t.failures,
			t.error
	FROM _tiered_storage.standby s
	CROSS JOIN pg_catalog.pg_control_system() c
	LEFT JOIN _tiered_storage.standby_state t
		ON t.standby_name OPERATOR(pg_catalog.=) s.standby_name;
COMMENT ON VIEW tiered_storage.standbys IS
'standbys whose reads are added to those of this server, and the result of the last pull of '
'their statistics';
COMMENT ON COLUMN tiered_storage.standbys.standby_name IS 'name given to add_standby()';
COMMENT ON COLUMN tiered_storage.standbys.connection IS
'how the standby is reached: a foreign server or a connection string';
COMMENT ON COLUMN tiered_storage.standbys.system_identifier_matches IS
'whether it belongs to this cluster; null: not known yet';
COMMENT ON COLUMN tiered_storage.standbys.in_recovery IS
'whether it was a standby at the last contact; null: not known yet';
COMMENT ON COLUMN tiered_storage.standbys.relations IS
'number of relations in its statistics; null: never pulled';
COMMENT ON COLUMN tiered_storage.standbys.last_pull_at IS
'when its statistics were last read; null: never';
COMMENT ON COLUMN tiered_storage.standbys.last_attempt_at IS
'when a pull was last attempted; null: never';
COMMENT ON COLUMN tiered_storage.standbys.next_pull_at IS
'the worker does not try again before this time';
COMMENT ON COLUMN tiered_storage.standbys.failures IS 'number of failed attempts in a row';
COMMENT ON COLUMN tiered_storage.standbys.error IS 'error of the last attempt; null: it succeeded';

CREATE FUNCTION _tiered_storage.standby_check(added_by_oid oid, added_by name, server name,
	dblink_schema name) RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_check_standby';
COMMENT ON FUNCTION _tiered_storage.standby_check(oid, name, name, name) IS
'raises an error unless superusers alone decide about the connection to a standby: the role that '
'added it, and the owner of the foreign server if there is one';

CREATE FUNCTION _tiered_storage.standby_check_server(server name) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	s pg_foreign_server;
BEGIN
	SELECT * INTO s FROM pg_foreign_server f WHERE f.srvname = server;
	IF NOT EXISTS (SELECT FROM pg_user_mapping m WHERE m.umserver = s.oid
			AND m.umuser IN (0, (SELECT r.oid FROM pg_roles r WHERE r.rolname = current_user)))
				THEN
		RAISE EXCEPTION 'server "%" has no user mapping for role "%"', server, current_user
			USING ERRCODE = 'undefined_object',
				DETAIL = 'Statistics are pulled with the rights of the owner of the extension.',
				HINT = format('Use CREATE USER MAPPING FOR %I SERVER %I OPTIONS (user ..., '
					'password ...).', current_user, server);
	END IF;
	IF NOT EXISTS (SELECT FROM pg_options_to_table(s.srvoptions) o
		WHERE o.option_name = 'connect_timeout' AND o.option_value ~ '^ *[1-9][0-9]? *$') THEN
		RAISE EXCEPTION 'server "%" has no connect_timeout between 1 and 99 seconds', server
			USING ERRCODE = 'invalid_parameter_value',
				DETAIL = 'A standby that is down must not hold the worker up.',
				HINT = format('Use ALTER SERVER %I OPTIONS (ADD connect_timeout ''3'').', server);
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_check_server(name) IS
'raises an error unless a foreign server can be used to pull statistics';

/*
 * Runs with the rights of the extension's owner, after the rights of the caller were
 * checked.
 */
CREATE FUNCTION _tiered_storage.standby_add(name name, server name, conninfo text,
	added_by_oid oid) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
#variable_conflict use_column
DECLARE
	adder name := pg_get_userbyid(standby_add.added_by_oid);
BEGIN
	IF standby_add.name IS NULL OR standby_add.name = '' THEN
		RAISE EXCEPTION 'the name of a standby must not be null or empty'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	IF (standby_add.server IS NULL) = (standby_add.conninfo IS NULL) THEN
		RAISE EXCEPTION 'give either a foreign server or a connection string'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	PERFORM _tiered_storage.standby_check(standby_add.added_by_oid, adder, standby_add.server,
		(SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
			WHERE e.extname = 'dblink'));
	IF standby_add.server IS NOT NULL THEN
		PERFORM _tiered_storage.standby_check_server(standby_add.server);
	ELSE
		IF standby_add.conninfo ~* E'^\\s*postgres(ql)?://' THEN
			RAISE EXCEPTION 'the connection string must be of keywords and values'
				USING ERRCODE = 'invalid_parameter_value',
					HINT = 'For example ''host=standby1 user=monitor''.';
		END IF;
		IF standby_add.conninfo ~* E'(^|\\s)(ssl)?password\\s*=' THEN
			RAISE EXCEPTION 'the connection string must not contain a password'
				USING ERRCODE = 'invalid_parameter_value',
					DETAIL = 'It would be stored in a table, and in dumps.',
					HINT = 'Use a foreign server with a user mapping, or a password file.';
		END IF;
	END IF;
	IF EXISTS (SELECT FROM _tiered_storage.standby s WHERE s.standby_name = standby_add.name) THEN
		RAISE EXCEPTION 'standby "%" exists already', standby_add.name
			USING ERRCODE = 'duplicate_object';
	END IF;
	IF (SELECT count(*) FROM _tiered_storage.standby) >= 16 THEN
		RAISE EXCEPTION 'there are too many standbys'
			USING ERRCODE = 'program_limit_exceeded',
				DETAIL = 'At most 16 are possible.';
	END IF;
	INSERT INTO _tiered_storage.standby (standby_name, server_name, conninfo, added_by,
		added_by_oid)
		VALUES (standby_add.name, standby_add.server, standby_add.conninfo, adder,
			standby_add.added_by_oid);
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_add(name, name, text, oid) IS
'stores a standby, after add_standby() has checked that its caller may add one';

CREATE FUNCTION tiered_storage.add_standby(name name, server name DEFAULT NULL,
	conninfo text DEFAULT NULL) RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_add_standby';
COMMENT ON FUNCTION tiered_storage.add_standby(name, name, text) IS
'counts the reads of a physical standby together with those of this server from now on; by a '
'foreign server that a superuser owns, or by a connection string; superusers only, whatever is '
'granted; requires the extension dblink';

CREATE FUNCTION tiered_storage.remove_standby(name name, if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	PERFORM _tiered_storage.require_writable('tiered_storage.remove_standby()');
	DELETE FROM _tiered_storage.standby s WHERE s.standby_name = remove_standby.name;
	IF NOT FOUND AND remove_standby.if_exists IS NOT TRUE THEN
		RAISE EXCEPTION 'standby "%" does not exist', remove_standby.name
			USING ERRCODE = 'undefined_object';
	END IF;
END
$$;
COMMENT ON FUNCTION tiered_storage.remove_standby(name, boolean) IS
'stops counting the reads of a standby; its reads until now stay in the heat and fade';
---------------------------------------------------------------------------
-- How the statistics of standbys are pulled.
---------------------------------------------------------------------------

/*
 * The wait is on this side, so that neither a hanging standby nor a dead network can block
 * it.
 */
CREATE FUNCTION _tiered_storage.standby_wait(dblink_schema name, connection text, statement text)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	give_up_at timestamptz := clock_timestamp() + interval '15 seconds';
	pause_s float8 := 0.001;
	sent integer;
	busy integer;
BEGIN
	EXECUTE format('SELECT %I.dblink_send_query($1, $2)', dblink_schema) INTO sent
		USING connection, statement;
	IF sent <> 1 THEN
		RAISE EXCEPTION 'the connection to the standby was lost'
			USING ERRCODE = 'connection_failure';
	END IF;
	LOOP
		EXECUTE format('SELECT %I.dblink_is_busy($1)', dblink_schema) INTO busy USING connection;
		EXIT WHEN busy = 0;
		IF clock_timestamp() > give_up_at THEN
			RAISE EXCEPTION 'the standby did not answer in time'
				USING ERRCODE = 'connection_failure';
		END IF;
		PERFORM pg_sleep(pause_s);
		pause_s := LEAST(pause_s * 2, 0.1);
	END LOOP;
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_wait(name, text, text) IS
'sends a statement to a standby and waits a limited time for its result';

CREATE FUNCTION _tiered_storage.standby_connect(
	dblink_schema name, connection text, s _tiered_storage.standby)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	database_name text := replace(replace(current_database(), E'\\', E'\\\\'), '''', E'\\''');
BEGIN
	-- The last value of a keyword counts.
	EXECUTE format('SELECT %I.dblink_connect($1, $2)', dblink_schema) USING connection,
		CASE WHEN s.server_name IS NOT NULL THEN s.server_name::text
			ELSE format('dbname=''%s'' application_name=tiered_storage %s connect_timeout=3 '
				'keepalives=1 keepalives_idle=5 keepalives_interval=2 keepalives_count=3',
				database_name, s.conninfo) END;
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_connect(name, text, _tiered_storage.standby) IS
'opens the connection to a standby';

CREATE FUNCTION _tiered_storage.standby_identify(
	dblink_schema name, connection text,
	OUT system_identifier bigint, OUT in_recovery boolean, OUT problem text)
RETURNS record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	here record;
	there record;
BEGIN
	PERFORM _tiered_storage.standby_wait(dblink_schema, connection,
		'SELECT pg_catalog.set_config(''statement_timeout'', ''10s'', false),
			pg_catalog.set_config(''stats_fetch_consistency'', ''none'', false),
			c.system_identifier, pg_catalog.pg_is_in_recovery(),
			d.oid::pg_catalog.int8, d.datname::pg_catalog.text
		FROM pg_catalog.pg_control_system() c, pg_catalog.pg_database d
		WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()');
	EXECUTE format('SELECT * FROM %I.dblink_get_result($1) AS t (a text, b text, '
		'system_identifier bigint, in_recovery boolean, database bigint, database_name text)',
		dblink_schema) INTO there USING connection;
	EXECUTE format('SELECT * FROM %I.dblink_get_result($1) AS t (a text)', dblink_schema)
		USING connection;
	IF there.system_identifier IS NULL THEN
		RAISE EXCEPTION 'the standby did not say which cluster it belongs to'
			USING ERRCODE = 'connection_failure';
	END IF;
	SELECT c.system_identifier, d.oid::bigint AS database, d.datname INTO here
		FROM pg_control_system() c, pg_database d WHERE d.datname = current_database();
	system_identifier := there.system_identifier;
	in_recovery := there.in_recovery;
	problem := CASE
		WHEN there.system_identifier <> here.system_identifier THEN
			format('the connection leads to another cluster: its system identifier is %s, '
				'that of this one %s', there.system_identifier, here.system_identifier)
		WHEN NOT there.in_recovery THEN 'the connection leads to a server that is no standby'
		WHEN there.database <> here.database THEN
			format('the connection leads to database "%s" instead of "%s"',
				there.database_name, here.datname) END;
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_identify(name, text) IS
'the cluster that a standby belongs to and whether it is in recovery; problem is null if it is a '
'standby of this database';

/* A standby that is the wrong one is a problem; what fails on the way is an error. */
CREATE FUNCTION _tiered_storage.standby_fetch(
	dblink_schema name, s _tiered_storage.standby,
	OUT system_identifier bigint, OUT in_recovery boolean, OUT problem text,
	OUT counters _tiered_storage.standby_counters[])
RETURNS record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	connection constant text := 'tiered_storage standby';
BEGIN
	PERFORM _tiered_storage.standby_connect(dblink_schema, connection, s);
	BEGIN
		SELECT i.system_identifier, i.in_recovery, i.problem
			INTO standby_fetch.system_identifier, standby_fetch.in_recovery, standby_fetch.problem
			FROM _tiered_storage.standby_identify(dblink_schema, connection) i;
		IF standby_fetch.problem IS NULL THEN
			PERFORM _tiered_storage.standby_wait(dblink_schema, connection,
				'WITH held AS MATERIALIZED (SELECT DISTINCT l.relation FROM pg_catalog.pg_locks l
					JOIN pg_catalog.pg_stat_activity a USING (pid)
					WHERE l.locktype OPERATOR(pg_catalog.=) ''relation''
						AND l.database OPERATOR(pg_catalog.=) (SELECT d.oid
							FROM pg_catalog.pg_database d WHERE d.datname
								OPERATOR(pg_catalog.=) pg_catalog.current_database())
						AND a.pid OPERATOR(pg_catalog.<>) pg_catalog.pg_backend_pid()
						AND a.backend_type OPERATOR(pg_catalog.<>) ''startup'')
				SELECT c.oid, pg_catalog.pg_stat_get_numscans(c.oid),
					pg_catalog.pg_stat_get_tuples_returned(c.oid),
					pg_catalog.pg_stat_get_blocks_fetched(c.oid),
					pg_catalog.pg_stat_get_blocks_hit(c.oid),
					EXISTS (SELECT FROM held h WHERE h.relation OPERATOR(pg_catalog.=) c.oid)
				FROM pg_catalog.pg_class c
				WHERE c.oid OPERATOR(pg_catalog.>=) 16384
					AND c.relkind OPERATOR(pg_catalog.=) ANY (''{r,i,m,t}''::pg_catalog."char"[])
					AND (pg_catalog.pg_stat_get_blocks_fetched(c.oid) OPERATOR(pg_catalog.>) 0
						OR c.oid OPERATOR(pg_catalog.=) ANY (SELECT h.relation FROM held h))');
			EXECUTE format('SELECT COALESCE(array_agg(ROW($2, t.relation_oid, t.scans,
					t.tuples_read, t.blocks_fetched, t.blocks_hit, t.held)
					::_tiered_storage.standby_counters), ''{}'')
				FROM %I.dblink_get_result($1) AS t (relation_oid oid, scans bigint,
					tuples_read bigint, blocks_fetched bigint, blocks_hit bigint, held boolean)',
				dblink_schema) INTO counters USING connection, s.standby_name;
		END IF;
	EXCEPTION WHEN OTHERS OR query_canceled THEN
		EXECUTE format('SELECT %I.dblink_disconnect($1)', dblink_schema) USING connection;
		RAISE;
	END;
	EXECUTE format('SELECT %I.dblink_disconnect($1)', dblink_schema) USING connection;
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_fetch(name, _tiered_storage.standby) IS
'reads the statistics of one standby; problem is null if they can be used';

CREATE FUNCTION _tiered_storage.standby_note_result(
	name name, system_identifier bigint, in_recovery boolean, relations bigint, problem text)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	IF problem IS NULL THEN
		INSERT INTO _tiered_storage.standby_state
			(standby_name, system_identifier, in_recovery, last_attempt_at, last_pull_at,
				next_pull_at, failures, relations, error)
			VALUES (standby_note_result.name, standby_note_result.system_identifier,
				standby_note_result.in_recovery,
				clock_timestamp(), clock_timestamp(), now(), 0, standby_note_result.relations,
				NULL)
			ON CONFLICT ON CONSTRAINT standby_state_pkey DO UPDATE SET
				system_identifier = EXCLUDED.system_identifier, in_recovery = EXCLUDED.in_recovery,
				last_attempt_at = EXCLUDED.last_attempt_at, last_pull_at = EXCLUDED.last_pull_at,
				next_pull_at = EXCLUDED.next_pull_at,
				failures = 0, relations = EXCLUDED.relations, error = NULL;
	ELSE
		INSERT INTO _tiered_storage.standby_state AS t
			(standby_name, last_attempt_at, next_pull_at, failures, error)
			VALUES (standby_note_result.name, clock_timestamp(), now() + interval '1 minute', 1,
				problem)
			ON CONFLICT ON CONSTRAINT standby_state_pkey DO UPDATE
				SET last_attempt_at = EXCLUDED.last_attempt_at,
				next_pull_at = now() + LEAST(interval '1 minute' * 2 ^ LEAST(t.failures, 10),
					interval '1 hour'),
				failures = t.failures + 1, error = EXCLUDED.error;
		UPDATE _tiered_storage.standby_state t
			SET system_identifier = standby_note_result.system_identifier,
				in_recovery = standby_note_result.in_recovery
			WHERE t.standby_name = standby_note_result.name
				AND standby_note_result.system_identifier IS NOT NULL;
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_note_result(name, bigint, boolean, bigint, text) IS
'stores the result of a pull from a standby, and the time of the next attempt if there was a '
'problem';

/*
 * The growth of the counters since the last pull is what the standby has read.  The first
 * pull only stores the counters.  A counter that went back was reset.
 */
CREATE FUNCTION _tiered_storage.standby_add_reads(
	pulled _tiered_storage.standby_counters[], pulled_names name[], new_names name[])
RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH new AS MATERIALIZED (
		SELECT * FROM unnest(pulled)
	), changed AS MATERIALIZED (
		SELECT n.*, o.scans AS old_scans, o.tuples_read AS old_tuples_read,
			o.blocks_fetched AS old_blocks_fetched, o.blocks_hit AS old_blocks_hit,
			o.standby_name IS NULL OR n.scans < o.scans OR n.tuples_read < o.tuples_read
				OR n.blocks_fetched < o.blocks_fetched OR n.blocks_hit < o.blocks_hit AS from_zero
		FROM new n LEFT JOIN _tiered_storage.standby_counters o USING (standby_name, relation_oid)
		WHERE o.standby_name IS NULL OR n.held
			OR (n.scans, n.tuples_read, n.blocks_fetched, n.blocks_hit)
				IS DISTINCT FROM (o.scans, o.tuples_read, o.blocks_fetched, o.blocks_hit)
	), gone AS (
		DELETE FROM _tiered_storage.standby_counters o
		WHERE o.standby_name = ANY (pulled_names)
			AND NOT EXISTS (SELECT FROM new n WHERE n.standby_name = o.standby_name
				AND n.relation_oid = o.relation_oid)
	), stored AS (
		INSERT INTO _tiered_storage.standby_counters (standby_name, relation_oid, scans,
			tuples_read, blocks_fetched, blocks_hit, held)
			SELECT c.standby_name, c.relation_oid, c.scans, c.tuples_read, c.blocks_fetched,
				c.blocks_hit, false FROM changed c
			ON CONFLICT (standby_name, relation_oid) DO UPDATE SET scans = EXCLUDED.scans,
				tuples_read = EXCLUDED.tuples_read,
				blocks_fetched = EXCLUDED.blocks_fetched, blocks_hit = EXCLUDED.blocks_hit
	)
	INSERT INTO _tiered_storage.standby_reads AS r (relation_oid, scans, tuples_read,
		blocks_fetched, blocks_hit)
		SELECT c.relation_oid,
			sum(c.scans - CASE WHEN c.from_zero THEN 0 ELSE c.old_scans END),
			sum(c.tuples_read - CASE WHEN c.from_zero THEN 0 ELSE c.old_tuples_read END),
			sum(c.blocks_fetched - CASE WHEN c.from_zero THEN 0 ELSE c.old_blocks_fetched END),
			sum(c.blocks_hit - CASE WHEN c.from_zero THEN 0 ELSE c.old_blocks_hit END)
		FROM changed c
		WHERE c.standby_name <> ALL (new_names)
		GROUP BY c.relation_oid
		ORDER BY c.relation_oid
		ON CONFLICT (relation_oid) DO UPDATE SET scans = r.scans + EXCLUDED.scans,
			tuples_read = r.tuples_read + EXCLUDED.tuples_read,
			blocks_fetched = r.blocks_fetched + EXCLUDED.blocks_fetched,
			blocks_hit = r.blocks_hit + EXCLUDED.blocks_hit;
$$;
COMMENT ON FUNCTION _tiered_storage.standby_add_reads(
	_tiered_storage.standby_counters[], name[], name[]) IS
'adds what standbys have read since the last pull and stores their counters; the first pull from '
'a standby only stores them';

CREATE FUNCTION _tiered_storage.standby_pull_one(
	dblink_schema name, s _tiered_storage.standby,
	OUT system_identifier bigint, OUT in_recovery boolean, OUT problem text,
	OUT counters _tiered_storage.standby_counters[])
RETURNS record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	detail text;
BEGIN
	PERFORM _tiered_storage.standby_check(s.added_by_oid, s.added_by, s.server_name,
		dblink_schema);
	IF s.server_name IS NOT NULL THEN
		PERFORM _tiered_storage.standby_check_server(s.server_name);
	END IF;
	SELECT f.system_identifier, f.in_recovery, f.problem, f.counters
		INTO standby_pull_one.system_identifier, standby_pull_one.in_recovery,
			standby_pull_one.problem, standby_pull_one.counters
		FROM _tiered_storage.standby_fetch(dblink_schema, s) f;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
	problem := left(concat_ws(': ', problem, NULLIF(detail, '')), 500);
	system_identifier := NULL;
	in_recovery := NULL;
	counters := NULL;
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_pull_one(name, _tiered_storage.standby) IS
'pulls from one standby; an error is returned as problem, so that the other standbys are pulled '
'nevertheless';

CREATE PROCEDURE tiered_storage.pull_standby_statistics(force boolean DEFAULT true)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	began_at timestamptz := clock_timestamp();
	dblink_schema name;
	standby _tiered_storage.standby;
	answer record;
	pulled _tiered_storage.standby_counters[] := '{}';
	pulled_names name[] := '{}';
	new_names name[] := '{}';
BEGIN
	IF pg_is_in_recovery() THEN
		RAISE EXCEPTION 'statistics of standbys are pulled by the primary'
			USING ERRCODE = 'read_only_sql_transaction';
	END IF;
	LOCK TABLE _tiered_storage.standby_counters IN SHARE UPDATE EXCLUSIVE MODE;
	SELECT n.nspname INTO dblink_schema
		FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
		WHERE e.extname = 'dblink';

	-- The network comes first; what others may wait for is short and comes last.
	FOR standby IN
		SELECT s.*
		FROM _tiered_storage.standby s
		LEFT JOIN _tiered_storage.standby_state t USING (standby_name)
		WHERE force IS NOT FALSE OR t.next_pull_at IS NULL
			OR t.next_pull_at NOT BETWEEN now() AND now() + interval '1 hour'
		ORDER BY t.last_attempt_at NULLS FIRST, s.standby_name
	LOOP
		-- Those that are left come first the next time.
		EXIT WHEN clock_timestamp() > began_at + interval '30 seconds';
		SELECT * INTO answer FROM _tiered_storage.standby_pull_one(dblink_schema, standby);
		IF answer.problem IS NULL THEN
			pulled := pulled || answer.counters;
			pulled_names := pulled_names || standby.standby_name;
			IF NOT EXISTS (SELECT FROM _tiered_storage.standby_state t
					WHERE t.standby_name = standby.standby_name AND t.last_pull_at IS NOT NULL)
						THEN
				new_names := new_names || standby.standby_name;
			END IF;
		END IF;
		PERFORM _tiered_storage.standby_note_result(standby.standby_name, answer.system_identifier,
			answer.in_recovery, cardinality(answer.counters), answer.problem);
	END LOOP;
	PERFORM _tiered_storage.standby_add_reads(pulled, pulled_names, new_names);
END
$$;
COMMENT ON PROCEDURE tiered_storage.pull_standby_statistics(boolean) IS
'reads the statistics of the standbys, so that the next sample counts their reads; errors appear '
'in the view standbys; with force => false standbys are skipped whose next attempt is not due; '
'the worker calls it in each cycle';
---------------------------------------------------------------------------
-- Recommendations: the tier of each relation, and what if.
---------------------------------------------------------------------------

/*
 * These functions have the same options, and so the same arguments, which SQL has to spell
 * out in each: tiers that may receive relations, figures of tiers to replace, the time in
 * which a move has to pay off, the objective (time, money, balanced) and the price of an
 * hour of waiting, which relations may move, and a time in the past.
 */
CREATE FUNCTION tiered_storage.recommend_placement(
	include_unchanged boolean DEFAULT false,
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	price_per_wait_hour float8 DEFAULT NULL,
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	as_of timestamptz DEFAULT NULL,
	OUT relation regclass, OUT kind text, OUT current_tier name, OUT recommended_tier name,
	OUT size_bytes bigint, OUT saved_io_s_per_hour float8, OUT saved_wait_s_per_hour float8,
	OUT price_delta_per_month float8,
	OUT move_cost_s float8, OUT confidence text, OUT reason text, OUT command text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_recommend_placement';
COMMENT ON FUNCTION tiered_storage.recommend_placement(
	boolean, name[], jsonb, interval, text, float8, name[], regclass[], timestamptz) IS
'the recommended tier of each table, index and partition, what that saves in device time and '
'money, how certain it is, and the statement that moves it; only what should move, unless '
'include_unchanged is set';

/* As wide as a terminal: what is in recommend_placement() beyond that is for those who ask. */
CREATE VIEW tiered_storage.recommendations AS
	SELECT r.relation, pg_catalog.pg_size_pretty(r.size_bytes) AS size,
		r.current_tier AS from_tier, r.recommended_tier AS to_tier,
		CASE WHEN pg_catalog.abs(r.saved_io_s_per_hour) OPERATOR(pg_catalog.>=) 0.05
				OR r.price_delta_per_month OPERATOR(pg_catalog.>) (-0.005)
			THEN pg_catalog.round(r.saved_io_s_per_hour::pg_catalog.numeric, 1)
				OPERATOR(pg_catalog.||) ' s/h'
			ELSE pg_catalog.round((OPERATOR(pg_catalog.-) r.price_delta_per_month)
				::pg_catalog.numeric, 2) OPERATOR(pg_catalog.||) ' a month' END AS saves,
		r.confidence
	FROM tiered_storage.recommend_placement() r
	ORDER BY r.saved_io_s_per_hour DESC, r.price_delta_per_month, r.relation;
COMMENT ON VIEW tiered_storage.recommendations IS
'what should move, what saves most first: recommend_placement() in few columns';
COMMENT ON COLUMN tiered_storage.recommendations.relation IS 'table, index or materialized view';
COMMENT ON COLUMN tiered_storage.recommendations.size IS 'its size, with its TOAST table';
COMMENT ON COLUMN tiered_storage.recommendations.from_tier IS 'tier that it is on';
COMMENT ON COLUMN tiered_storage.recommendations.to_tier IS 'tier that it should be on';
COMMENT ON COLUMN tiered_storage.recommendations.saves IS
'device time saved, seconds per hour, or money saved per month if next to no time is; negative: '
'it makes room for others';
COMMENT ON COLUMN tiered_storage.recommendations.confidence IS
'how certain it is: firm, tentative or insufficient data';

CREATE FUNCTION tiered_storage.explain_placement(
	relation regclass,
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	price_per_wait_hour float8 DEFAULT NULL,
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	as_of timestamptz DEFAULT NULL,
	OUT tier_name name, OUT is_current boolean, OUT is_recommended boolean,
	OUT io_s_per_hour float8, OUT random_read_s_per_hour float8,
	OUT sequential_read_s_per_hour float8, OUT write_s_per_hour float8,
	OUT price_per_month float8, OUT move_cost_s float8,
	OUT available_bytes bigint, OUT fits boolean, OUT reason text,
	OUT wait_s_per_hour float8, OUT written_bytes_per_day float8, OUT stored_bytes bigint)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_explain_placement';
COMMENT ON FUNCTION tiered_storage.explain_placement(
	regclass, name[], jsonb, interval, text, float8, name[], regclass[], timestamptz) IS
'the cost of a relation on each tier side by side, which is why recommend_placement() says what '
'it does';

CREATE FUNCTION tiered_storage.placement_summary(
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	price_per_wait_hour float8 DEFAULT NULL,
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	as_of timestamptz DEFAULT NULL,
	OUT tier_name name, OUT relations integer, OUT advised_relations integer,
	OUT used_bytes bigint, OUT advised_bytes bigint, OUT available_bytes bigint,
	OUT io_s_per_hour float8, OUT advised_io_s_per_hour float8,
	OUT busy_fraction float8, OUT advised_busy_fraction float8,
	OUT queue_s_per_hour float8, OUT advised_queue_s_per_hour float8,
	OUT wait_s_per_hour float8, OUT advised_wait_s_per_hour float8,
	OUT price_per_month float8, OUT advised_price_per_month float8,
	OUT written_bytes_per_day float8, OUT advised_written_bytes_per_day float8,
	OUT endurance_bytes_per_day float8, OUT limited_by text,
	OUT next_gb_saves_per_hour float8, OUT missing_bytes bigint,
	OUT objective_value float8, OUT lower_bound float8, OUT gap float8,
	OUT effective_price_per_wait_hour float8, OUT growth_bytes_per_day float8,
	OUT days_until_reserve float8, OUT days_until_full float8,
	OUT reason text, OUT device_wait_fraction float8,
	OUT advised_saved_wait_s_per_hour_low float8, OUT advised_saved_wait_s_per_hour_high float8,
	OUT advised_speedup_low float8, OUT advised_speedup_high float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_placement_summary';
COMMENT ON FUNCTION tiered_storage.placement_summary(
	name[], jsonb, interval, text, float8, name[], regclass[], timestamptz) IS
'each tier now and after the recommendation, and all of them in the row whose tier_name is null; '
'there, no placement is better than lower_bound and gap is the distance to it; '
'next_gb_saves_per_hour is what one more GB of the tier would save: seconds of device time per '
'hour, or money per month (objective money)';

CREATE FUNCTION tiered_storage.simulate_placement(
	changes jsonb DEFAULT '{}',
	load_factor float8 DEFAULT 1,
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	price_per_wait_hour float8 DEFAULT NULL,
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	as_of timestamptz DEFAULT NULL,
	OUT tier_name name, OUT used_bytes bigint, OUT advised_bytes bigint,
	OUT simulated_bytes bigint,
	OUT available_bytes bigint, OUT simulated_available_bytes bigint,
	OUT io_s_per_hour float8, OUT advised_io_s_per_hour float8, OUT simulated_io_s_per_hour float8,
	OUT advised_busy_fraction float8, OUT simulated_busy_fraction float8,
	OUT advised_queue_s_per_hour float8, OUT simulated_queue_s_per_hour float8,
	OUT price_per_month float8, OUT advised_price_per_month float8,
	OUT simulated_price_per_month float8,
	OUT advised_written_bytes_per_day float8, OUT simulated_written_bytes_per_day float8,
	OUT limited_by text, OUT reason text, OUT device_wait_fraction float8,
	OUT simulated_saved_wait_s_per_hour_low float8,
	OUT simulated_saved_wait_s_per_hour_high float8,
	OUT simulated_speedup_low float8, OUT simulated_speedup_high float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_simulate_placement';
COMMENT ON FUNCTION tiered_storage.simulate_placement(
	jsonb, float8, name[], jsonb, interval, text, float8, name[], regclass[], timestamptz) IS
'what if: the placement recommended if tiers were different (changes, such as {"ssd": '
'{"capacity_bytes": 200000000000}}) or the load were load_factor times as high, beside the '
'current recommendation; one row per tier, and one for all with tier_name null, which says what '
'clients gain compared with how it is now: from a load that stays as it is to clients that go on '
'as soon as they have their answer';

CREATE FUNCTION tiered_storage.tier_size_curve(
	tier name,
	points integer DEFAULT 21,
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	price_per_wait_hour float8 DEFAULT NULL,
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	as_of timestamptz DEFAULT NULL,
	OUT capacity_bytes bigint, OUT used_bytes bigint, OUT io_s_per_hour float8,
	OUT queue_s_per_hour float8,
	OUT saved_s_per_hour float8, OUT price_per_month float8, OUT next_gb_saves_per_hour float8,
	OUT next_gb_price_per_month float8, OUT is_current boolean, OUT is_knee boolean,
	OUT gap float8, OUT reason text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_size_curve';
COMMENT ON FUNCTION tiered_storage.tier_size_curve(
	name, integer, name[], jsonb, interval, text, float8, name[], regclass[], timestamptz) IS
'how much capacity of a tier pays off: the capacities from which on something more fits, '
'each with the device time of its best placement and what that saves compared with how it is now; '
'the placements do not depend on where things are now; is_knee marks the capacity beyond which '
'more brings little; reason names limits that no placement can keep with it; price_per_month is '
'the price of that capacity and of the data on the other tiers; at most `points` rows';

CREATE FUNCTION tiered_storage.unused_relations(
	unused_for interval DEFAULT NULL,
	OUT relation regclass, OUT kind text, OUT tier_name name, OUT unread_since timestamptz,
	OUT size_bytes bigint, OUT page_writes_per_hour float8, OUT cheapest_tier name,
	OUT saved_price_per_month float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_unused_relations';
COMMENT ON FUNCTION tiered_storage.unused_relations(interval) IS
'tables, materialized views and indexes that nobody has read for this long (default: '
'tiered_storage.observation_period), since when, and what the cheapest tier would save per month; '
'the server''s statistics from before the first sample count';
---------------------------------------------------------------------------
-- Which tables should be partitioned, and how.
---------------------------------------------------------------------------

CREATE FUNCTION _tiered_storage.cached_ranges(
	relation regclass, ranges integer,
	OUT range integer, OUT first_block bigint, OUT blocks bigint, OUT cached_blocks bigint)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_cached_ranges';
COMMENT ON FUNCTION _tiered_storage.cached_ranges(regclass, integer) IS
'number of blocks in shared buffers for each of so many parts of equal length of a relation';

/*
 * The shortest run of parts of the relation that has nine tenths of its cached blocks;
 * parts count from 1.
 */
CREATE FUNCTION _tiered_storage.hot_range(
	relation regclass,
	OUT cached_blocks bigint, OUT parts integer, OUT first_part integer, OUT last_part integer)
RETURNS record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	cached bigint[];
	needed bigint;
	inside bigint := 0;
	head integer := 1;
BEGIN
	SELECT array_agg(c.cached_blocks ORDER BY c.range), sum(c.cached_blocks), count(*)
		INTO cached, cached_blocks, parts FROM _tiered_storage.cached_ranges(relation, 100) c;
	IF COALESCE(cached_blocks, 0) = 0 THEN
		RETURN;
	END IF;
	needed := ceil(0.9 * cached_blocks);
	FOR tail IN 1 .. parts LOOP
		inside := inside + cached[tail];
		WHILE inside - cached[head] >= needed LOOP
			inside := inside - cached[head];
			head := head + 1;
		END LOOP;
		IF inside >= needed AND (first_part IS NULL OR tail - head < last_part - first_part) THEN
			first_part := head;
			last_part := tail;
		END IF;
	END LOOP;
END
$$;
COMMENT ON FUNCTION _tiered_storage.hot_range(regclass) IS
'where nine tenths of the cached blocks of a relation lie together';

/*
 * An interval that makes ten partitions or a few more: natural for times, round for
 * numbers.  Null if the range of values is too small.
 */
CREATE FUNCTION _tiered_storage.partition_interval(
	column_type oid, lowest text, highest text,
	OUT step text, OUT partitions integer)
RETURNS record
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	span numeric;
	power numeric;
BEGIN
	IF column_type IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) THEN
		span := highest::numeric - lowest::numeric;
		IF span < 100 THEN
			RETURN;
		END IF;
		power := 10::numeric ^ (trunc(log(span)) - 1);
		SELECT trim_scale(x.step)::text, ceil(span / x.step) INTO step, partitions
			FROM (SELECT power * m AS step FROM unnest('{1, 2, 5, 10}'::integer[]) m) x
			WHERE span / x.step >= 10 ORDER BY x.step DESC LIMIT 1;
	ELSIF isfinite(lowest::timestamptz) AND isfinite(highest::timestamptz) THEN
		span := EXTRACT(epoch FROM highest::timestamptz - lowest::timestamptz);
		SELECT u.step, ceil(span / u.seconds) INTO step, partitions
			FROM (VALUES ('1 year', 31556952), ('3 months', 7889238), ('1 month', 2629746),
				('1 week', 604800), ('1 day', 86400), ('1 hour', 3600)) u (step, seconds)
			WHERE span / u.seconds >= 10 AND (column_type <> 'date'::regtype OR u.seconds >= 86400)
			ORDER BY u.seconds DESC LIMIT 1;
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.partition_interval(oid, text, text) IS
'a natural interval for range partitions of these values; null: their range is too small';

/* By the server's statistics, as far as the caller may see them; times come before numbers. */
CREATE FUNCTION _tiered_storage.partition_key(
	relation regclass,
	OUT attname name, OUT atttypid oid, OUT correlation float8, OUT lowest text, OUT highest text,
	OUT others text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT a.attname, a.atttypid, s.correlation, s.lowest, s.highest,
		string_agg(format('%I (%s)', a.attname, round(s.correlation::numeric, 3)),
			', ') OVER (ORDER BY s.is_time DESC, abs(s.correlation) DESC, a.attnum
			ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS others
		FROM pg_class c
		JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_attribute a ON a.attrelid = c.oid
		JOIN LATERAL (SELECT p.correlation, a.atttypid IN ('date'::regtype, 'timestamp'::regtype,
			'timestamptz'::regtype) AS is_time,
				(p.histogram_bounds::text::text[])[1] AS lowest,
				(p.histogram_bounds::text::text[])[cardinality(p.histogram_bounds::text::text[])]
					AS highest
			FROM pg_stats p
			WHERE p.schemaname = n.nspname AND p.tablename = c.relname AND p.attname = a.attname
				AND NOT p.inherited
				AND p.null_frac <= 0.01 AND abs(p.correlation) >= 0.9
					AND p.histogram_bounds IS NOT NULL) s ON true
		WHERE c.oid = relation AND a.attnum > 0 AND NOT a.attisdropped
			AND a.atttypid IN ('date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype,
				'int2'::regtype, 'int4'::regtype, 'int8'::regtype)
		ORDER BY s.is_time DESC, abs(s.correlation) DESC, a.attnum
		LIMIT 1
$$;
COMMENT ON FUNCTION _tiered_storage.partition_key(regclass) IS
'the column of a table that follows the order of its blocks best, its lowest and highest value, '
'and the other columns that follow it; no row: there is none';

CREATE FUNCTION _tiered_storage.partition_saving(
	tier name, cold_bytes bigint,
	OUT cold_tier name, OUT saved_per_month float8)
RETURNS record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT c.tier_name, cold_bytes / 1e9 * (h.price_per_gb_month - c.price_per_gb_month)
	FROM tiered_storage.tiers h
	JOIN tiered_storage.tiers c ON c.price_per_gb_month < h.price_per_gb_month
		AND c.free_bytes - c.reserve_fraction * c.capacity_bytes >= cold_bytes
	WHERE h.tier_name = tier
	ORDER BY c.price_per_gb_month, c.rank LIMIT 1
$$;
COMMENT ON FUNCTION _tiered_storage.partition_saving(name, bigint) IS
'the cheapest tier with room for this many bytes of a tier, and what moving them there saves per '
'month; null: there is none';

/*
 * Without a comment, because a name could end it.  The new name is valid even if the old
 * one has to be cut.
 */
CREATE FUNCTION _tiered_storage.partition_command(relation regclass, key_column name) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT format('CREATE TABLE %I.%I (LIKE %s INCLUDING ALL EXCLUDING INDEXES) PARTITION BY '
		'RANGE (%I)',
		n.nspname, (SELECT left(c.relname, max(i)) FROM generate_series(0, 63) i
			WHERE octet_length(left(c.relname, i)) <= 51) || '_partitioned',
		relation, key_column)
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE c.oid = relation
$$;
COMMENT ON FUNCTION _tiered_storage.partition_command(regclass, name) IS
'the statement that creates a partitioned table like this one';

CREATE FUNCTION _tiered_storage.partition_heat(
	t tiered_storage.heat,
	OUT cached_blocks bigint, OUT parts integer, OUT first_part integer, OUT last_part integer,
	OUT hot_fraction float8, OUT reason text)
RETURNS record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
#variable_conflict use_column
BEGIN
	SELECT h.cached_blocks, h.parts, h.first_part, h.last_part
		INTO cached_blocks, parts, first_part, last_part
		FROM _tiered_storage.hot_range(t.relation) h;
	IF first_part IS NULL
		OR cached_blocks < LEAST(100, t.size_bytes / current_setting('block_size')::bigint / 100
			+ 1)
	THEN
		reason := format('only %s of its blocks are in shared buffers, which says nothing about '
			'which are used', COALESCE(cached_blocks, 0));
		RETURN;
	END IF;
	hot_fraction := (last_part - first_part + 1)::float8 / parts;
	IF hot_fraction > 0.3 THEN
		reason := format('its heat is spread: nine tenths of its cached blocks take %s %% of it',
			round((hot_fraction * 100)::numeric));
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.partition_heat(tiered_storage.heat) IS
'how much of a table is hot and where, and why that speaks against partitions; reason is null if '
'it does not';

CREATE FUNCTION _tiered_storage.partition_column(
	t tiered_storage.heat, hot_fraction float8,
	OUT key_column name, OUT key_correlation float8, OUT other_keys text,
	OUT partition_interval text, OUT partitions integer, OUT reason text)
RETURNS record
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
#variable_conflict use_column
DECLARE
	key record;
BEGIN
	SELECT * INTO key FROM _tiered_storage.partition_key(t.relation);
	IF key.attname IS NULL THEN
		reason := CASE
			WHEN NOT EXISTS (SELECT FROM pg_stats p JOIN pg_class c ON c.oid = t.relation
				WHERE p.schemaname = c.relnamespace::regnamespace::name
					AND p.tablename = c.relname)
			THEN 'it was never analyzed, or its statistics are not visible to you'
			ELSE format('nine tenths of its cached blocks take %s %% of it, but no date, '
				'timestamp or '
				'integer column with more than a few values follows the order of its blocks '
				'(correlation of at least 0.9, at most 1 %% null)',
				round((hot_fraction * 100)::numeric)) END;
		RETURN;
	END IF;
	key_column := key.attname;
	key_correlation := key.correlation;
	other_keys := key.others;
	SELECT p.step, p.partitions INTO partition_interval, partitions
		FROM _tiered_storage.partition_interval(key.atttypid, key.lowest, key.highest) p;
	IF partition_interval IS NULL THEN
		reason := format('the values of %I span too little for partitions', key_column);
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.partition_column(tiered_storage.heat, float8) IS
'the column and interval to partition a table by; reason is null if there are such';

CREATE FUNCTION _tiered_storage.partition_confidence(
	cached_blocks bigint, observed_since timestamptz, key_correlation float8)
RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT CASE
		WHEN cached_blocks < 100 OR now() - observed_since
				< current_setting('tiered_storage.observation_period', true)::interval
			THEN 'insufficient data'
		WHEN cached_blocks < 1000 OR abs(key_correlation) < 0.99 THEN 'tentative'
		ELSE 'firm' END
$$;
COMMENT ON FUNCTION _tiered_storage.partition_confidence(bigint, timestamptz, float8) IS
'how certain a recommendation to partition is';

CREATE FUNCTION _tiered_storage.partition_advice(
	t tiered_storage.heat, include_all boolean,
	OUT hot_fraction float8, OUT key_column name, OUT key_correlation float8, OUT other_keys text,
	OUT partition_interval text, OUT partitions integer, OUT cold_bytes bigint,
	OUT cold_tier name, OUT saved_per_month float8,
	OUT confidence text, OUT reason text, OUT command text)
RETURNS record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
#variable_conflict use_column
DECLARE
	hot record;
	key record;
	place text;
BEGIN
	confidence := 'insufficient data';

	-- 1. Is the heat in one place?
	SELECT * INTO hot FROM _tiered_storage.partition_heat(t);
	hot_fraction := hot.hot_fraction;
	reason := hot.reason;
	IF reason IS NOT NULL AND include_all IS NOT TRUE THEN
		RETURN;
	END IF;

	-- 2. Which column follows the order of the blocks?
	SELECT * INTO key FROM _tiered_storage.partition_column(t, hot_fraction);
	key_column := key.key_column;
	key_correlation := key.key_correlation;
	other_keys := key.other_keys;
	partition_interval := key.partition_interval;
	partitions := key.partitions;
	reason := COALESCE(reason, key.reason);
	IF reason IS NOT NULL THEN
		RETURN;
	END IF;

	-- 3. What does it bring?
	cold_bytes := t.size_bytes * (1 - hot_fraction);
	SELECT v.cold_tier, v.saved_per_month INTO cold_tier, saved_per_month
		FROM _tiered_storage.partition_saving(t.tier_name, cold_bytes) v;
	confidence := _tiered_storage.partition_confidence(hot.cached_blocks, t.observed_since,
		key_correlation);
	place := CASE
		WHEN hot.last_part = hot.parts AND key_correlation > 0
			OR hot.first_part = 1 AND key_correlation < 0 THEN 'the highest values of'
		WHEN hot.first_part = 1 OR hot.last_part = hot.parts THEN 'the lowest values of'
		ELSE 'a middle range of' END;
	reason := format('nine tenths of its cached blocks are in %s %% of it, by %s %I (correlation '
		'%s); '
		'in partitions of %s (about %s), %s would be cold%s',
		round((hot_fraction * 100)::numeric), place, key_column,
		round(key_correlation::numeric, 3), partition_interval, partitions,
		pg_size_pretty(cold_bytes),
		CASE WHEN saved_per_month IS NULL THEN ', but no cheaper tier has room for it'
			ELSE format(' and cost %s less per month on tier %I',
				round(saved_per_month::numeric, 2), cold_tier) END);
	command := _tiered_storage.partition_command(t.relation, key_column);
END
$$;
COMMENT ON FUNCTION _tiered_storage.partition_advice(tiered_storage.heat, boolean) IS
'the row of recommend_partitioning() for one table; incomplete unless include_all is set or '
'partitioning is recommended';

CREATE FUNCTION tiered_storage.recommend_partitioning(
	min_size_bytes bigint DEFAULT 1073741824, include_all boolean DEFAULT false,
	OUT relation regclass, OUT size_bytes bigint, OUT hot_fraction float8,
	OUT key_column name, OUT key_correlation float8, OUT other_keys text,
	OUT partition_interval text, OUT partitions integer, OUT cold_bytes bigint,
	OUT current_tier name, OUT cold_tier name, OUT saved_per_month float8,
	OUT confidence text, OUT reason text, OUT command text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
#variable_conflict use_column
BEGIN
	IF min_size_bytes IS NULL OR min_size_bytes < 0 THEN
		RAISE EXCEPTION '"min_size_bytes" must not be null or negative'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN QUERY
		SELECT h.relation, h.size_bytes, a.hot_fraction, a.key_column, a.key_correlation,
			a.other_keys,
			a.partition_interval, a.partitions, a.cold_bytes, h.tier_name, a.cold_tier,
			a.saved_per_month,
			a.confidence, a.reason, a.command
		FROM tiered_storage.heat h
		JOIN pg_class c ON c.oid = h.relation
		CROSS JOIN LATERAL _tiered_storage.partition_advice(h, include_all) a
		WHERE c.relkind = 'r' AND NOT c.relispartition AND h.size_bytes >= min_size_bytes
			AND h.size_bytes > 0
			AND NOT EXISTS (SELECT FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent))
			AND (a.command IS NOT NULL OR include_all)
		ORDER BY h.size_bytes DESC, h.relation::text COLLATE "C";
	IF NOT FOUND THEN
		RAISE NOTICE 'partitioning is recommended for no table'
			USING DETAIL = format('%s of the tables have %s or more and are not partitioned.',
					(SELECT count(*) FROM tiered_storage.heat h
						JOIN pg_class c ON c.oid = h.relation
						WHERE c.relkind = 'r' AND NOT c.relispartition
							AND h.size_bytes >= min_size_bytes),
					pg_size_pretty(min_size_bytes)),
				HINT = 'recommend_partitioning(0, include_all => true) says why not.';
	END IF;
END
$$;
COMMENT ON FUNCTION tiered_storage.recommend_partitioning(bigint, boolean) IS
'large tables whose cached blocks lie together: the column and interval to partition them by, '
'what would become cold and what that saves; with include_all also the tables for which '
'partitions bring nothing, and why';
---------------------------------------------------------------------------
-- Tiering policies: moves by age, idleness and heat.
---------------------------------------------------------------------------

/*
 * In the database that wrote the row (system_identifier, database_oid) the OID identifies
 * the relation, as long as it is of the same kind.  Otherwise (after a restore, or when
 * it was dropped and created again) the name does, if the owner and the kind are the same:
 * else anybody who can give a table that name could have it moved with the rights of the
 * role that created the policy.  The role is identified likewise, but a role that was
 * dropped is gone: another role of that name does not get its rights.  The owner is
 * identified by OID in this cluster, and by name where the row was restored.
 *
 * A policy may be on all tables of a schema, on those with names like a pattern, or on both:
 * then relation_oid is 0, relation_name '', and schema_oid or names_like is not null.  Its schema
 * (all of them: '' and null) is identified as a relation is, and owner_* is the owner of the
 * schema, or whoever added a policy on all schemas.
 */
CREATE TABLE _tiered_storage.policy
(
	policy_id integer NOT NULL GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	relation_oid oid NOT NULL,
	schema_name name NOT NULL,
	relation_name name NOT NULL,
	relation_kind "char" NOT NULL DEFAULT 'p',
	system_identifier bigint NOT NULL,
	database_oid oid NOT NULL,
	schema_oid oid,
	names_like text CHECK (names_like OPERATOR(pg_catalog.<>) ''),
	tier_name name NOT NULL REFERENCES _tiered_storage.tier ON UPDATE CASCADE,
	index_tier name REFERENCES _tiered_storage.tier ON UPDATE CASCADE,
	new_partitions_on name REFERENCES _tiered_storage.tier ON UPDATE CASCADE,
	move_after interval CHECK (move_after OPERATOR(pg_catalog.>=) '0'
		AND move_after OPERATOR(pg_catalog.<=) '10000 years'),
	idle_for interval CHECK (idle_for OPERATOR(pg_catalog.>) '0'
		AND idle_for OPERATOR(pg_catalog.<=) '10000 years'),
	no_writes_for interval CHECK (no_writes_for OPERATOR(pg_catalog.>) '0'
		AND no_writes_for OPERATOR(pg_catalog.<=) '10000 years'),
	below_reads_per_hour float8 CHECK (below_reads_per_hour OPERATOR(pg_catalog.>) 0
		AND below_reads_per_hour OPERATOR(pg_catalog.<) 'Infinity'),
	return_reads_per_hour float8 CHECK (return_reads_per_hour OPERATOR(pg_catalog.>) 0
		AND return_reads_per_hour OPERATOR(pg_catalog.<) 'Infinity'),
	return_after interval CHECK (return_after OPERATOR(pg_catalog.>) '0'
		AND return_after OPERATOR(pg_catalog.<=) '1 year'),
	return_tier name REFERENCES _tiered_storage.tier ON UPDATE CASCADE,
	include_indexes boolean NOT NULL,
	age_from text NOT NULL CHECK (age_from OPERATOR(pg_catalog.=) ANY ('{now,newest}')),
	key_unit text CHECK (key_unit OPERATOR(pg_catalog.=) ANY ('{seconds,milliseconds,microseconds,'
		'nanoseconds,yyyymmdd,yyyymm,yyyy,uuidv7}')),
	key_epoch timestamptz,
	key_shift integer,
	time_zone text NOT NULL,
	created_by name NOT NULL,
	created_by_oid oid NOT NULL,
	created_at timestamptz NOT NULL,
	owner_name name NOT NULL,
	owner_oid oid NOT NULL,
	last_evaluated_at timestamptz,
	last_due integer,
	last_on_target integer,
	last_result text,
	enabled boolean NOT NULL DEFAULT true,
	UNIQUE NULLS NOT DISTINCT (relation_oid, tier_name, database_oid, system_identifier,
		schema_oid, names_like),
	CHECK ((relation_oid OPERATOR(pg_catalog.=) 0)
		OPERATOR(pg_catalog.=) (schema_oid IS NOT NULL OR names_like IS NOT NULL)),
	CHECK (pg_catalog.num_nonnulls(move_after, idle_for, no_writes_for, below_reads_per_hour)
		OPERATOR(pg_catalog.>) 0),
	CHECK (return_reads_per_hour IS NOT NULL OR (return_after IS NULL AND return_tier IS NULL))
);
CREATE INDEX policy_tier_name_idx ON _tiered_storage.policy (tier_name);
CREATE INDEX policy_index_tier_idx ON _tiered_storage.policy (index_tier);
CREATE INDEX policy_new_partitions_on_idx ON _tiered_storage.policy (new_partitions_on);
CREATE INDEX policy_return_tier_idx ON _tiered_storage.policy (return_tier);
COMMENT ON TABLE _tiered_storage.policy IS
'tiering policies; read them in the view tiered_storage.policies, add them with '
'add_tiering_policy()';
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.policy', '');
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.policy_policy_id_seq', '');

/* The schema of each policy on a schema; null: it does not exist. */
CREATE VIEW _tiered_storage.policy_schemas AS
	SELECT p.policy_id, n.oid AS schema_oid, n.nspname AS schema_name, n.nspowner AS owner_oid
	FROM _tiered_storage.policy p
	CROSS JOIN pg_catalog.pg_control_system() cs
	JOIN pg_catalog.pg_database d ON d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
	LEFT JOIN pg_catalog.pg_namespace n
		ON n.oid OPERATOR(pg_catalog.=) CASE
			WHEN p.system_identifier OPERATOR(pg_catalog.=) cs.system_identifier
				AND p.database_oid OPERATOR(pg_catalog.=) d.oid
				AND EXISTS (SELECT FROM pg_catalog.pg_namespace x
					WHERE x.oid OPERATOR(pg_catalog.=) p.schema_oid)
			THEN p.schema_oid
			ELSE (SELECT x.oid FROM pg_catalog.pg_namespace x
				WHERE x.nspname OPERATOR(pg_catalog.=) p.schema_name
					AND CASE WHEN p.system_identifier OPERATOR(pg_catalog.=) cs.system_identifier
						THEN x.nspowner OPERATOR(pg_catalog.=) p.owner_oid
						ELSE pg_catalog.pg_get_userbyid(x.nspowner)
							OPERATOR(pg_catalog.=) p.owner_name END) END
	WHERE p.schema_oid IS NOT NULL;
COMMENT ON VIEW _tiered_storage.policy_schemas IS
'the schemas that tiering policies are on';

CREATE VIEW tiered_storage.policies AS
	SELECT p.policy_id, c.oid::pg_catalog.regclass AS relation,
		CASE WHEN p.relation_oid OPERATOR(pg_catalog.=) 0
			THEN pg_catalog.concat(COALESCE(pg_catalog.quote_ident(COALESCE(g.schema_name,
				NULLIF(p.schema_name, ''))), '*'), '.', COALESCE(p.names_like, '*'))
			ELSE pg_catalog.format('%I.%I', COALESCE(n.nspname, p.schema_name),
				COALESCE(c.relname, p.relation_name)) END AS relation_name,
		p.move_after, p.tier_name, p.include_indexes, p.age_from, p.key_unit, p.key_epoch,
			p.key_shift, p.time_zone,
		COALESCE(a.rolname, p.created_by) AS created_by, p.created_at,
		p.last_evaluated_at, p.last_due, p.last_on_target,
		CASE WHEN c.oid IS NOT NULL AND NOT p.enabled THEN 'disabled'
			WHEN p.relation_oid OPERATOR(pg_catalog.=) 0 THEN CASE
				WHEN p.schema_oid IS NOT NULL AND g.schema_oid IS NULL
				THEN 'the schema does not exist'
				WHEN p.enabled THEN p.last_result ELSE 'disabled' END
			WHEN c.oid IS NOT NULL THEN p.last_result
			WHEN EXISTS (SELECT FROM pg_catalog.pg_class x
				JOIN pg_catalog.pg_namespace y ON y.oid OPERATOR(pg_catalog.=) x.relnamespace
				WHERE y.nspname OPERATOR(pg_catalog.=) p.schema_name
					AND x.relname OPERATOR(pg_catalog.=) p.relation_name)
			THEN 'the relation of that name has another owner, or is of another kind'
			ELSE 'the relation does not exist' END AS last_result,
		a.oid AS created_by_oid, p.enabled, p.idle_for, p.no_writes_for, p.below_reads_per_hour,
			p.index_tier, p.new_partitions_on,
		CASE WHEN p.schema_oid IS NOT NULL THEN COALESCE(g.schema_name, p.schema_name) END
			AS in_schema, p.names_like,
		p.return_reads_per_hour AS return_when_reads_per_hour,
		CASE WHEN p.return_reads_per_hour IS NOT NULL
			THEN COALESCE(p.return_after, '3 days') END AS return_after,
		p.return_tier
	FROM _tiered_storage.policy p
	CROSS JOIN pg_catalog.pg_control_system() cs
	JOIN pg_catalog.pg_database d ON d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
	LEFT JOIN _tiered_storage.policy_schemas g
		ON g.policy_id OPERATOR(pg_catalog.=) p.policy_id
	LEFT JOIN pg_catalog.pg_roles a ON CASE
		WHEN p.system_identifier OPERATOR(pg_catalog.=) cs.system_identifier
		THEN a.oid OPERATOR(pg_catalog.=) p.created_by_oid
		ELSE a.rolname OPERATOR(pg_catalog.=) p.created_by END
	LEFT JOIN (pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n
		ON n.oid OPERATOR(pg_catalog.=) c.relnamespace)
		ON c.oid OPERATOR(pg_catalog.=) CASE
			WHEN p.system_identifier OPERATOR(pg_catalog.=) cs.system_identifier
				AND p.database_oid OPERATOR(pg_catalog.=) d.oid
				AND EXISTS (SELECT FROM pg_catalog.pg_class x
					WHERE x.oid OPERATOR(pg_catalog.=) p.relation_oid
						AND x.relkind OPERATOR(pg_catalog.=) p.relation_kind)
			THEN p.relation_oid
			ELSE (SELECT x.oid FROM pg_catalog.pg_class x
				JOIN pg_catalog.pg_namespace y ON y.oid OPERATOR(pg_catalog.=) x.relnamespace
				WHERE y.nspname OPERATOR(pg_catalog.=) p.schema_name
					AND x.relname OPERATOR(pg_catalog.=) p.relation_name
					AND x.relkind OPERATOR(pg_catalog.=) p.relation_kind
					AND CASE WHEN p.system_identifier OPERATOR(pg_catalog.=) cs.system_identifier
						THEN x.relowner OPERATOR(pg_catalog.=) p.owner_oid
						ELSE pg_catalog.pg_get_userbyid(x.relowner)
							OPERATOR(pg_catalog.=) p.owner_name END) END;
COMMENT ON VIEW tiered_storage.policies IS
'the tiering policies and the result of their last evaluation; evaluate_policies() has it for '
'each partition';
COMMENT ON COLUMN tiered_storage.policies.policy_id IS 'number of the policy';
COMMENT ON COLUMN tiered_storage.policies.relation IS
'table or materialized view; null: it does not exist, or the policy is on several';
COMMENT ON COLUMN tiered_storage.policies.relation_name IS
'its qualified name, also if it does not exist; or which tables the policy is on';
COMMENT ON COLUMN tiered_storage.policies.move_after IS
'age at which a partition is moved; null: at any age';
COMMENT ON COLUMN tiered_storage.policies.tier_name IS 'tier that is moved to';
COMMENT ON COLUMN tiered_storage.policies.include_indexes IS
'whether indexes are moved with their partition';
COMMENT ON COLUMN tiered_storage.policies.age_from IS
'what the age counts from: now, or newest (the end of the newest partition)';
COMMENT ON COLUMN tiered_storage.policies.key_unit IS
'how a number or uuid encodes the time; null: the key is a date or timestamp';
COMMENT ON COLUMN tiered_storage.policies.key_epoch IS
'start of the count of a numeric key; null: 1970-01-01 UTC';
COMMENT ON COLUMN tiered_storage.policies.key_shift IS
'number of low bits of a numeric key that are not part of the count';
COMMENT ON COLUMN tiered_storage.policies.time_zone IS
'time zone in which dates and timestamps without time zone are read';
COMMENT ON COLUMN tiered_storage.policies.created_by IS
'role that created the policy or altered it last, and whose rights it needs';
COMMENT ON COLUMN tiered_storage.policies.created_at IS 'when it was created';
COMMENT ON COLUMN tiered_storage.policies.last_evaluated_at IS
'when the worker or migrate() last evaluated it; null: never';
COMMENT ON COLUMN tiered_storage.policies.last_due IS
'number of partitions or tables that were due then; null: never evaluated';
COMMENT ON COLUMN tiered_storage.policies.last_on_target IS
'number of those that were on the tier already; null: never evaluated';
COMMENT ON COLUMN tiered_storage.policies.last_result IS
'result of the last evaluation; null: never evaluated';
COMMENT ON COLUMN tiered_storage.policies.created_by_oid IS
'OID of that role; null: it no longer exists';
COMMENT ON COLUMN tiered_storage.policies.enabled IS
'whether it is obeyed; alter_tiering_policy() disables and enables it';
COMMENT ON COLUMN tiered_storage.policies.idle_for IS
'for how long it must have been neither read nor written; null: that does not matter';
COMMENT ON COLUMN tiered_storage.policies.no_writes_for IS
'for how long it must not have been written; null: that does not matter';
COMMENT ON COLUMN tiered_storage.policies.below_reads_per_hour IS
'its reads per hour must be below this; null: they do not matter';
COMMENT ON COLUMN tiered_storage.policies.index_tier IS
'tier that indexes are moved to; null: that of their table';
COMMENT ON COLUMN tiered_storage.policies.new_partitions_on IS
'tier that new partitions are created on; null: the policy does not say';
COMMENT ON COLUMN tiered_storage.policies.in_schema IS
'schema of the tables of a policy on several; null: any, or the policy is on a relation';
COMMENT ON COLUMN tiered_storage.policies.names_like IS
'pattern of LIKE that the names of the tables of a policy on several match; null: any';
COMMENT ON COLUMN tiered_storage.policies.return_when_reads_per_hour IS
'reads per hour at which what it has moved returns; null: nothing returns';
COMMENT ON COLUMN tiered_storage.policies.return_after IS
'for how long it must have been read so much, without a break; null: nothing returns';
COMMENT ON COLUMN tiered_storage.policies.return_tier IS
'tier that it returns to; null: the one from which the policy has moved it';

CREATE FUNCTION tiered_storage.add_tiering_policy(
	relation regclass DEFAULT NULL,
	move_after interval DEFAULT NULL,
	tier name DEFAULT NULL,
	include_indexes boolean DEFAULT true,
	age_from text DEFAULT 'now',
	key_unit text DEFAULT NULL,
	key_epoch timestamptz DEFAULT NULL,
	key_shift integer DEFAULT 0,
	time_zone text DEFAULT NULL,
	if_not_exists boolean DEFAULT false,
	idle_for interval DEFAULT NULL,
	no_writes_for interval DEFAULT NULL,
	below_reads_per_hour float8 DEFAULT NULL,
	index_tier name DEFAULT NULL,
	new_partitions_on name DEFAULT NULL,
	in_schema name DEFAULT NULL,
	names_like text DEFAULT NULL,
	return_when_reads_per_hour float8 DEFAULT NULL,
	return_after interval DEFAULT NULL,
	return_tier name DEFAULT NULL)
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_add_tiering_policy';
COMMENT ON FUNCTION tiered_storage.add_tiering_policy(
	regclass, interval, name, boolean, text, text, timestamptz, integer, text, boolean, interval,
	interval, float8, name, name, name, text, float8, interval, name) IS
'moves the partitions of a table, or the tables in_schema with names_like, to a tier once all '
'conditions hold that are given: everything in '
'them is older than move_after, counted from now or from the end of the newest partition '
'(age_from => ''newest''); they were neither read nor written for idle_for; not written for '
'no_writes_for; they have fewer reads per hour than below_reads_per_hour; '
'indexes go to index_tier, by default to the same tier; what it has moved returns, to return_tier '
'or where it came from, when it has had return_when_reads_per_hour for return_after (3 days); '
'new partitions are created on new_partitions_on; '
'key_unit says how a number or uuid encodes the time, key_epoch where a count starts (default '
'1970-01-01 UTC), key_shift how many low bits are not part of it; dates are read in time_zone '
'(default that of the session); returns the number of the policy';

CREATE FUNCTION tiered_storage.remove_tiering_policy(
	relation regclass DEFAULT NULL,
	tier name DEFAULT NULL,
	policy_id integer DEFAULT NULL,
	if_exists boolean DEFAULT false)
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_remove_tiering_policy';
COMMENT ON FUNCTION tiered_storage.remove_tiering_policy(regclass, name, integer, boolean) IS
'removes the policies of a relation, only the one for this tier if given, or the policy with '
'this number; moved partitions stay where they are; returns how many policies were removed';

CREATE FUNCTION tiered_storage.alter_tiering_policy(
	relation regclass DEFAULT NULL,
	tier name DEFAULT NULL,
	policy_id integer DEFAULT NULL,
	enabled boolean DEFAULT NULL,
	move_after interval DEFAULT NULL,
	new_tier name DEFAULT NULL,
	include_indexes boolean DEFAULT NULL,
	age_from text DEFAULT NULL,
	key_unit text DEFAULT NULL,
	key_epoch timestamptz DEFAULT NULL,
	key_shift integer DEFAULT NULL,
	time_zone text DEFAULT NULL,
	if_exists boolean DEFAULT false,
	idle_for interval DEFAULT NULL,
	no_writes_for interval DEFAULT NULL,
	below_reads_per_hour float8 DEFAULT NULL,
	index_tier name DEFAULT NULL,
	new_partitions_on name DEFAULT NULL,
	unset text[] DEFAULT NULL,
	return_when_reads_per_hour float8 DEFAULT NULL,
	return_after interval DEFAULT NULL,
	return_tier name DEFAULT NULL)
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_alter_tiering_policy';
COMMENT ON FUNCTION tiered_storage.alter_tiering_policy(regclass, name, integer, boolean, interval,
	name, boolean, text, text, timestamptz, integer, text, boolean, interval, interval, float8,
	name, name, text[], float8, interval, name) IS
'changes the policies of a relation, only the one for this tier if given, or the policy with this '
'number; null arguments leave their property unchanged; unset => ''{new_partitions_on}'' takes '
'it away; enabled => false lets a policy rest '
'without removing it; whoever alters a policy other than by disabling it is the one whose rights '
'it needs from then on; returns how many policies were changed';

CREATE FUNCTION tiered_storage.evaluate_policies(
	OUT policy_id integer, OUT relation regclass, OUT verdict text,
	OUT lower_bound timestamptz, OUT upper_bound timestamptz,
	OUT from_tier name, OUT from_tablespace name, OUT to_tier name, OUT to_tablespace name,
	OUT size_bytes bigint, OUT reason text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_evaluate_policies';
COMMENT ON FUNCTION tiered_storage.evaluate_policies() IS
'what the policies say now: one row per partition, whether it is due, and why or why not, also of '
'disabled policies; and, for new_partitions_on, one per partitioned table and index; changes '
'nothing';
---------------------------------------------------------------------------
-- Fullness policies: what leaves a tier that has become too full.
---------------------------------------------------------------------------

/*
 * The numbers are those of tiering policies, so that one number means one policy in the
 * record of moves.  The role is identified as in _tiered_storage.policy, for information
 * only: moves need the rights of the owners of what is moved.
 */
CREATE TABLE _tiered_storage.fullness_policy
(
	policy_id integer NOT NULL PRIMARY KEY
		DEFAULT pg_catalog.nextval('_tiered_storage.policy_policy_id_seq'),
	tier_name name NOT NULL UNIQUE REFERENCES _tiered_storage.tier ON UPDATE CASCADE,
	target_name name NOT NULL REFERENCES _tiered_storage.tier ON UPDATE CASCADE,
	high_watermark float8,
	low_watermark float8,
	created_by name NOT NULL,
	created_by_oid oid NOT NULL,
	system_identifier bigint NOT NULL,
	created_at timestamptz NOT NULL,
	last_evaluated_at timestamptz,
	last_fill float8,
	last_leaving integer,
	last_result text,
	enabled boolean NOT NULL DEFAULT true,
	CHECK (tier_name OPERATOR(pg_catalog.<>) target_name),
	CHECK (_tiered_storage.tier_watermarks_fit(
		COALESCE(low_watermark, high_watermark OPERATOR(pg_catalog./) 2::float8, 0.25),
		COALESCE(high_watermark, 1)))
);
CREATE INDEX fullness_policy_target_name_idx ON _tiered_storage.fullness_policy (target_name);
COMMENT ON TABLE _tiered_storage.fullness_policy IS
'fullness policies; read them in the view tiered_storage.fullness_policies, add them with '
'add_fullness_policy()';
COMMENT ON COLUMN _tiered_storage.fullness_policy.high_watermark IS
'share of the capacity; null: that of the tier';
COMMENT ON COLUMN _tiered_storage.fullness_policy.low_watermark IS
'share of the capacity; null: that of the tier';
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.fullness_policy', '');

CREATE VIEW tiered_storage.fullness_policies AS
	SELECT p.policy_id, p.tier_name, p.target_name,
		COALESCE(p.high_watermark, t.high_watermark) AS high_watermark,
		COALESCE(p.low_watermark, t.low_watermark) AS low_watermark,
		p.high_watermark IS NULL OR p.low_watermark IS NULL AS follows_tier,
		COALESCE(a.rolname, p.created_by) AS created_by, p.created_at,
		p.last_evaluated_at, p.last_fill, p.last_leaving,
		CASE WHEN p.enabled THEN p.last_result ELSE 'disabled' END AS last_result,
		a.oid AS created_by_oid, p.enabled
	FROM _tiered_storage.fullness_policy p
	JOIN _tiered_storage.tier t ON t.tier_name OPERATOR(pg_catalog.=) p.tier_name
	CROSS JOIN pg_catalog.pg_control_system() cs
	LEFT JOIN pg_catalog.pg_roles a ON CASE
		WHEN p.system_identifier OPERATOR(pg_catalog.=) cs.system_identifier
		THEN a.oid OPERATOR(pg_catalog.=) p.created_by_oid
		ELSE a.rolname OPERATOR(pg_catalog.=) p.created_by END;
COMMENT ON VIEW tiered_storage.fullness_policies IS
'the fullness policies and the result of their last evaluation; evaluate_fullness() has it for '
'each relation';
COMMENT ON COLUMN tiered_storage.fullness_policies.policy_id IS
'number of the policy; no tiering policy has the same';
COMMENT ON COLUMN tiered_storage.fullness_policies.tier_name IS 'tier that is emptied';
COMMENT ON COLUMN tiered_storage.fullness_policies.target_name IS
'tier that relations are moved to';
COMMENT ON COLUMN tiered_storage.fullness_policies.high_watermark IS
'share of the capacity above which the tier is too full';
COMMENT ON COLUMN tiered_storage.fullness_policies.low_watermark IS
'share of the capacity down to which it is emptied then';
COMMENT ON COLUMN tiered_storage.fullness_policies.follows_tier IS
'whether a watermark was not given, and is that of the tier';
COMMENT ON COLUMN tiered_storage.fullness_policies.created_by IS
'role that created the policy or altered it last';
COMMENT ON COLUMN tiered_storage.fullness_policies.created_at IS 'when it was created';
COMMENT ON COLUMN tiered_storage.fullness_policies.last_evaluated_at IS
'when the worker or migrate() last evaluated it; null: never';
COMMENT ON COLUMN tiered_storage.fullness_policies.last_fill IS
'share of the capacity that was taken then; null: never evaluated, or not known';
COMMENT ON COLUMN tiered_storage.fullness_policies.last_leaving IS
'number of relations that had to leave then; null: never evaluated';
COMMENT ON COLUMN tiered_storage.fullness_policies.last_result IS
'result of the last evaluation, with a warning when the tier will be too full although all leaves '
'that may; null: never evaluated';
COMMENT ON COLUMN tiered_storage.fullness_policies.created_by_oid IS
'OID of that role; null: it no longer exists';
COMMENT ON COLUMN tiered_storage.fullness_policies.enabled IS
'whether it is obeyed; alter_fullness_policy() disables and enables it';

CREATE FUNCTION tiered_storage.add_fullness_policy(
	tier name,
	target name,
	high_watermark float8 DEFAULT NULL,
	low_watermark float8 DEFAULT NULL,
	if_not_exists boolean DEFAULT false)
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_add_fullness_policy';
COMMENT ON FUNCTION tiered_storage.add_fullness_policy(name, name, float8, float8, boolean) IS
'empties a tier to a slower one whenever it is above its high watermark, until it is at its low '
'one, the coldest relations first; watermarks are shares of the capacity, and those of the tier '
'where none is given; returns the number of the policy';

CREATE FUNCTION tiered_storage.alter_fullness_policy(
	tier name DEFAULT NULL,
	policy_id integer DEFAULT NULL,
	enabled boolean DEFAULT NULL,
	new_target name DEFAULT NULL,
	high_watermark float8 DEFAULT NULL,
	low_watermark float8 DEFAULT NULL,
	unset text[] DEFAULT NULL,
	if_exists boolean DEFAULT false)
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_alter_fullness_policy';
COMMENT ON FUNCTION tiered_storage.alter_fullness_policy(name, integer, boolean, name, float8,
	float8, text[], boolean) IS
'changes the fullness policy of a tier, or the one with this number; null arguments leave their '
'property unchanged; unset => ''{high_watermark,low_watermark}'' returns to those of the tier; '
'enabled => false lets it rest without removing it; returns how many policies were changed';

CREATE FUNCTION tiered_storage.remove_fullness_policy(
	tier name DEFAULT NULL,
	policy_id integer DEFAULT NULL,
	if_exists boolean DEFAULT false)
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_remove_fullness_policy';
COMMENT ON FUNCTION tiered_storage.remove_fullness_policy(name, integer, boolean) IS
'removes the fullness policy of a tier, or the one with this number; what has left stays where it '
'is; returns how many policies were removed';

CREATE FUNCTION tiered_storage.evaluate_fullness(
	OUT policy_id integer, OUT relation regclass, OUT verdict text, OUT place integer,
	OUT from_tier name, OUT to_tier name, OUT to_tablespace name,
	OUT size_bytes bigint, OUT lost_io_s_per_hour float8, OUT reason text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_evaluate_fullness';
COMMENT ON FUNCTION tiered_storage.evaluate_fullness() IS
'what the fullness policies say now: one row per relation of their tiers, whether it leaves, '
'after how many others, and why or why not, also of disabled policies; changes nothing';
---------------------------------------------------------------------------
-- Pins: relations that stay on a tier.
---------------------------------------------------------------------------

/* The relation, its owner and the role are identified like those of a policy. */
CREATE TABLE _tiered_storage.pin
(
	pin_id integer NOT NULL GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	relation_oid oid NOT NULL,
	schema_name name NOT NULL,
	relation_name name NOT NULL,
	system_identifier bigint NOT NULL,
	database_oid oid NOT NULL,
	tier_name name NOT NULL REFERENCES _tiered_storage.tier ON UPDATE CASCADE,
	until timestamptz CHECK (pg_catalog.isfinite(until)),	-- null: for ever
	include_indexes boolean NOT NULL,
	pinned_by name NOT NULL,
	pinned_by_oid oid NOT NULL,
	pinned_at timestamptz NOT NULL,
	owner_name name NOT NULL,
	owner_oid oid NOT NULL,
	relation_kind "char" NOT NULL
		CHECK (relation_kind OPERATOR(pg_catalog.=) ANY ('{r,m,i,p}'::pg_catalog."char"[])),
	missing_since timestamptz,
	UNIQUE (relation_oid, database_oid, system_identifier)
);
CREATE INDEX pin_tier_name_idx ON _tiered_storage.pin (tier_name);
CREATE INDEX pin_relation_name_idx ON _tiered_storage.pin (relation_name, schema_name);
COMMENT ON TABLE _tiered_storage.pin IS
'relations that stay on a tier; read them in the view tiered_storage.pins, change them with '
'pin() and unpin()';
COMMENT ON COLUMN _tiered_storage.pin.missing_since IS
'since when the relation does not exist; the pin is deleted after 30 days';
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.pin', '');
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.pin_pin_id_seq', '');

CREATE VIEW _tiered_storage.pin_targets AS
	SELECT p.pin_id, c.oid AS relation_oid,
		pg_catalog.format('%I.%I', COALESCE(n.nspname, p.schema_name),
			COALESCE(c.relname, p.relation_name)) AS relation_name,
		p.tier_name, p.until, p.include_indexes,
		COALESCE(a.rolname, p.pinned_by) AS pinned_by, a.oid AS pinned_by_oid, p.pinned_at
	FROM _tiered_storage.pin p
	CROSS JOIN pg_catalog.pg_control_system() cs
	JOIN pg_catalog.pg_database d ON d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
	LEFT JOIN pg_catalog.pg_roles a ON CASE
		WHEN p.system_identifier OPERATOR(pg_catalog.=) cs.system_identifier
		THEN a.oid OPERATOR(pg_catalog.=) p.pinned_by_oid
		ELSE a.rolname OPERATOR(pg_catalog.=) p.pinned_by END
	CROSS JOIN LATERAL (SELECT COALESCE(
		(SELECT x.oid FROM pg_catalog.pg_class x
			WHERE p.system_identifier OPERATOR(pg_catalog.=) cs.system_identifier
				AND p.database_oid OPERATOR(pg_catalog.=) d.oid
				AND x.oid OPERATOR(pg_catalog.=) p.relation_oid
				AND x.relkind OPERATOR(pg_catalog.=) p.relation_kind),
		(SELECT x.oid FROM pg_catalog.pg_class x
			JOIN pg_catalog.pg_namespace y ON y.oid OPERATOR(pg_catalog.=) x.relnamespace
			WHERE y.nspname OPERATOR(pg_catalog.=) p.schema_name
				AND x.relname OPERATOR(pg_catalog.=) p.relation_name
				AND x.relkind OPERATOR(pg_catalog.=) p.relation_kind
				AND CASE WHEN p.system_identifier OPERATOR(pg_catalog.=) cs.system_identifier
					THEN x.relowner OPERATOR(pg_catalog.=) p.owner_oid
					ELSE pg_catalog.pg_get_userbyid(x.relowner) OPERATOR(pg_catalog.=) p.owner_name
						END)) AS oid) t
	LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) t.oid
	LEFT JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace;
COMMENT ON VIEW _tiered_storage.pin_targets IS
'the relation of this database that each pin means, null if it does not exist; see the view pins';

/*
 * Partition trees are read from pg_inherits, because the functions for them lock all
 * partitions.
 */
CREATE VIEW tiered_storage.pinned_relations AS
	WITH RECURSIVE covered AS (
		SELECT v.pin_id, v.relation_oid, 0 AS distance, v.include_indexes
		FROM _tiered_storage.pin_targets v
		WHERE v.relation_oid IS NOT NULL
			AND (v.until IS NULL OR v.until OPERATOR(pg_catalog.>) pg_catalog.now())
		UNION ALL
		SELECT v.pin_id, i.inhrelid, v.distance OPERATOR(pg_catalog.+) 1, v.include_indexes
		FROM covered v
		JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) v.relation_oid
			AND c.relkind OPERATOR(pg_catalog.=) 'p'
		JOIN pg_catalog.pg_inherits i ON i.inhparent OPERATOR(pg_catalog.=) c.oid
			AND NOT i.inhdetachpending
	), member AS (
		SELECT v.pin_id, v.relation_oid, v.distance
		FROM covered v
		UNION ALL
		SELECT v.pin_id, i.indexrelid, v.distance OPERATOR(pg_catalog.+) 1
		FROM covered v
		JOIN pg_catalog.pg_index i ON i.indrelid OPERATOR(pg_catalog.=) v.relation_oid
		WHERE v.include_indexes
	), nearest AS (
		SELECT DISTINCT ON (m.relation_oid) m.relation_oid, m.pin_id
		FROM member m
		ORDER BY m.relation_oid, m.distance, m.pin_id DESC
	)
	SELECT c.oid::pg_catalog.regclass AS relation, v.tier_name, v.until,
		v.relation_oid::pg_catalog.regclass AS pinned_as,
		tt.tier_name AS current_tier,
		(tt.tier_name OPERATOR(pg_catalog.=) v.tier_name) IS TRUE AS is_on_tier,
		v.pin_id
	FROM nearest n
	JOIN _tiered_storage.pin_targets v ON v.pin_id OPERATOR(pg_catalog.=) n.pin_id
	JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) n.relation_oid
		AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,m,i}'::pg_catalog."char"[])
	JOIN pg_catalog.pg_database d ON d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
	LEFT JOIN _tiered_storage.tier_tablespaces tt ON tt.tablespace_oid OPERATOR(pg_catalog.=)
		CASE WHEN c.reltablespace OPERATOR(pg_catalog.=) 0::pg_catalog.oid THEN d.dattablespace
			ELSE c.reltablespace END;
COMMENT ON VIEW tiered_storage.pinned_relations IS
'each table, partition, materialized view and index that a pin holds now, its tier, and what was '
'pinned';
COMMENT ON COLUMN tiered_storage.pinned_relations.relation IS 'relation that the pin holds';
COMMENT ON COLUMN tiered_storage.pinned_relations.tier_name IS 'tier that it stays on';
COMMENT ON COLUMN tiered_storage.pinned_relations.until IS 'end of the pin; null: no end';
COMMENT ON COLUMN tiered_storage.pinned_relations.pinned_as IS
'relation that was pinned: itself, its table, or the nearest partitioned table above it';
COMMENT ON COLUMN tiered_storage.pinned_relations.current_tier IS 'tier that it is on; null: none';
COMMENT ON COLUMN tiered_storage.pinned_relations.is_on_tier IS
'whether it is on the tier it is pinned to';
COMMENT ON COLUMN tiered_storage.pinned_relations.pin_id IS 'number of the pin';

CREATE VIEW tiered_storage.pins AS
	SELECT v.relation_oid::pg_catalog.regclass AS relation, v.relation_name, v.tier_name, v.until,
		v.include_indexes,
		v.pinned_by, v.pinned_at, COALESCE(r.relations, 0) AS relations, r.is_on_tier,
		(v.until OPERATOR(pg_catalog.<=) pg_catalog.now()) IS TRUE AS is_expired
	FROM _tiered_storage.pin_targets v
	LEFT JOIN (SELECT x.pin_id, pg_catalog.count(*) AS relations,
		pg_catalog.bool_and(x.is_on_tier) AS is_on_tier
		FROM tiered_storage.pinned_relations x GROUP BY x.pin_id) r
			ON r.pin_id OPERATOR(pg_catalog.=) v.pin_id;
COMMENT ON VIEW tiered_storage.pins IS
'the pins: what stays on which tier, until when, set by which role, and whether it is there';
COMMENT ON COLUMN tiered_storage.pins.relation IS 'pinned relation; null: it does not exist';
COMMENT ON COLUMN tiered_storage.pins.relation_name IS
'its qualified name, also if it does not exist';
COMMENT ON COLUMN tiered_storage.pins.tier_name IS 'tier that it stays on';
COMMENT ON COLUMN tiered_storage.pins.until IS 'end of the pin; null: no end';
COMMENT ON COLUMN tiered_storage.pins.include_indexes IS 'whether its indexes stay with it';
COMMENT ON COLUMN tiered_storage.pins.pinned_by IS 'role that set the pin';
COMMENT ON COLUMN tiered_storage.pins.pinned_at IS 'when it was set';
COMMENT ON COLUMN tiered_storage.pins.relations IS 'number of relations that the pin holds';
COMMENT ON COLUMN tiered_storage.pins.is_on_tier IS
'whether all of them are on the tier; null: there are none';
COMMENT ON COLUMN tiered_storage.pins.is_expired IS 'whether the pin has ended';

CREATE FUNCTION tiered_storage.pin(
	relation regclass,
	tier name DEFAULT NULL,
	until timestamptz DEFAULT NULL,
	include_indexes boolean DEFAULT true)
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_pin';
COMMENT ON FUNCTION tiered_storage.pin(regclass, name, timestamptz, boolean) IS
'keeps a table, materialized view, index, or all present and future partitions of a partitioned '
'table on a tier (default: the current one) until a time (default: no end); only ALTER moves it '
'elsewhere; replaces an earlier pin; returns the number of pins set: more than one if indexes '
'are on other tiers than their table';

CREATE FUNCTION tiered_storage.unpin(
	relation regclass,
	include_indexes boolean DEFAULT true)
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_unpin';
COMMENT ON FUNCTION tiered_storage.unpin(regclass, boolean) IS
'removes the pin of a relation and the pins of its indexes; nothing is moved; returns how many '
'pins were removed';
---------------------------------------------------------------------------
-- Where new partitions are created: what was there before a policy said so.
---------------------------------------------------------------------------

/*
 * A partitioned table or index whose tablespace, in which the server creates what is new of
 * it, was set for a policy.  before_* is what it was until then, and what it will be when no
 * policy says so any more; set_* what it was set to: if it is anything else now, somebody
 * has changed it, and then it is left alone.  0 and null mean the database's own tablespace.
 * Relation and tablespaces are identified as those of policies and tiers.
 */
CREATE TABLE _tiered_storage.partition_default
(
	relation_oid oid NOT NULL,
	schema_name name NOT NULL,
	relation_name name NOT NULL,
	relation_kind "char" NOT NULL,
	system_identifier bigint NOT NULL,
	database_oid oid NOT NULL,
	before_oid oid NOT NULL,
	before_name name,
	set_oid oid NOT NULL,
	set_name name,
	PRIMARY KEY (relation_oid, database_oid, system_identifier)
);
COMMENT ON TABLE _tiered_storage.partition_default IS
'partitioned tables and indexes whose tablespace was set for new_partitions_on of a policy, and '
'what it was before';
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.partition_default', '');

/* Null: that does not exist here. */
CREATE VIEW _tiered_storage.partition_defaults AS
	SELECT p.relation_oid AS stored_oid, p.system_identifier, p.database_oid,
		c.oid AS relation_oid, n.nspname AS schema_name, c.relname AS relation_name,
		CASE WHEN p.before_name IS NULL THEN 0 ELSE b.oid END AS before_oid,
		b.spcname AS before_name,
		CASE WHEN p.set_name IS NULL THEN 0 ELSE s.oid END AS set_oid, s.spcname AS set_name,
		h.system_identifier AS this_system, h.database_oid AS this_database
	FROM _tiered_storage.partition_default p
	CROSS JOIN (SELECT cs.system_identifier, d.oid AS database_oid
		FROM pg_catalog.pg_control_system() cs
		JOIN pg_catalog.pg_database d
			ON d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()) h
	LEFT JOIN (pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n
		ON n.oid OPERATOR(pg_catalog.=) c.relnamespace)
		ON c.relkind OPERATOR(pg_catalog.=) p.relation_kind
		AND CASE WHEN p.system_identifier OPERATOR(pg_catalog.=) h.system_identifier
				AND p.database_oid OPERATOR(pg_catalog.=) h.database_oid
			THEN c.oid OPERATOR(pg_catalog.=) p.relation_oid
			ELSE n.nspname OPERATOR(pg_catalog.=) p.schema_name
				AND c.relname OPERATOR(pg_catalog.=) p.relation_name END
	LEFT JOIN pg_catalog.pg_tablespace b ON CASE
		WHEN p.system_identifier OPERATOR(pg_catalog.=) h.system_identifier
		THEN b.oid OPERATOR(pg_catalog.=) p.before_oid
		ELSE b.spcname OPERATOR(pg_catalog.=) p.before_name END
	LEFT JOIN pg_catalog.pg_tablespace s ON CASE
		WHEN p.system_identifier OPERATOR(pg_catalog.=) h.system_identifier
		THEN s.oid OPERATOR(pg_catalog.=) p.set_oid
		ELSE s.spcname OPERATOR(pg_catalog.=) p.set_name END;
COMMENT ON VIEW _tiered_storage.partition_defaults IS
'what partition_default means in this database';

/*
 * Of a relation that is gone nothing is to be given back.  Rows of another database stay
 * until their relation is found: a restore creates indexes after it has brought the rows.
 */
CREATE FUNCTION _tiered_storage.refresh_partition_defaults() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM _tiered_storage.partition_default) THEN
		RETURN;
	END IF;
	WITH gone AS MATERIALIZED (
		SELECT p.relation_oid, p.database_oid, p.system_identifier
		FROM _tiered_storage.partition_default p
		JOIN _tiered_storage.partition_defaults v ON v.stored_oid = p.relation_oid
			AND v.database_oid = p.database_oid AND v.system_identifier = p.system_identifier
		WHERE v.relation_oid IS NULL AND p.database_oid = v.this_database
			AND p.system_identifier = v.this_system
		FOR UPDATE OF p SKIP LOCKED)
	DELETE FROM _tiered_storage.partition_default p USING gone g
		WHERE (p.relation_oid, p.database_oid, p.system_identifier)
			= (g.relation_oid, g.database_oid, g.system_identifier);
	WITH changed AS MATERIALIZED (
		SELECT v.*
		FROM _tiered_storage.partition_default p
		JOIN _tiered_storage.partition_defaults v ON v.stored_oid = p.relation_oid
			AND v.database_oid = p.database_oid AND v.system_identifier = p.system_identifier
		WHERE v.relation_oid IS NOT NULL
			AND (p.before_name IS NULL OR v.before_name IS NOT NULL)
			AND (p.set_name IS NULL OR v.set_name IS NOT NULL)
			AND (p.relation_oid, p.schema_name, p.relation_name, p.system_identifier,
				p.database_oid, p.before_oid, p.before_name, p.set_oid, p.set_name)
			IS DISTINCT FROM (v.relation_oid, v.schema_name, v.relation_name, v.this_system,
				v.this_database, v.before_oid, v.before_name, v.set_oid, v.set_name)
			AND (v.relation_oid = p.relation_oid AND v.this_database = p.database_oid
					AND v.this_system = p.system_identifier
				OR NOT EXISTS (SELECT FROM _tiered_storage.partition_default o
					WHERE o.relation_oid = v.relation_oid AND o.database_oid = v.this_database
						AND o.system_identifier = v.this_system))
		FOR UPDATE OF p SKIP LOCKED)
	UPDATE _tiered_storage.partition_default p
		SET relation_oid = c.relation_oid, schema_name = c.schema_name,
			relation_name = c.relation_name, system_identifier = c.this_system,
			database_oid = c.this_database, before_oid = c.before_oid,
			before_name = c.before_name, set_oid = c.set_oid, set_name = c.set_name
		FROM changed c
		WHERE (p.relation_oid, p.database_oid, p.system_identifier)
			= (c.stored_oid, c.database_oid, c.system_identifier);
END
$$;
COMMENT ON FUNCTION _tiered_storage.refresh_partition_defaults() IS
'updates the stored names and OIDs of partitioned tables and indexes whose tablespace was set for '
'a policy';
---------------------------------------------------------------------------
-- Which objects tiers, policies and pins mean after renames, drops and restores.
---------------------------------------------------------------------------

CREATE FUNCTION _tiered_storage.tier_in_use(tier name) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT EXISTS (SELECT FROM _tiered_storage.policy p
			WHERE tier IN (p.tier_name, p.index_tier, p.new_partitions_on, p.return_tier))
		OR EXISTS (SELECT FROM _tiered_storage.pin p WHERE p.tier_name = tier)
		OR EXISTS (SELECT FROM _tiered_storage.fullness_policy f
			WHERE tier IN (f.tier_name, f.target_name))
$$;
COMMENT ON FUNCTION _tiered_storage.tier_in_use(name) IS
'whether a policy or a pin refers to the tier';

/* A row that somebody has locked is left for the next time. */
CREATE FUNCTION _tiered_storage.remove_unused_tiers(except_tier name) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	DELETE FROM _tiered_storage.tier t
		WHERE t.tier_name IN (SELECT x.tier_name FROM _tiered_storage.tier x
			WHERE x.discovered AND x.tier_name IS DISTINCT FROM except_tier
				AND NOT EXISTS (SELECT FROM _tiered_storage.tier_tablespace tt
					WHERE tt.tier_name = x.tier_name)
				AND NOT _tiered_storage.tier_in_use(x.tier_name)
			FOR UPDATE OF x SKIP LOCKED)
$$;
COMMENT ON FUNCTION _tiered_storage.remove_unused_tiers(name) IS
'removes discovered tiers that have no tablespace and that no policy or pin refers to, except '
'the named one';

/*
 * Brings the stored names and OIDs of tablespaces, policies and pins up to date after
 * renames and restores.  A row that a restore brought gives way to a row that this
 * cluster has for the same object.
 *
 * Policies and pins are refreshed by samples and migrations only, not by what
 * people do to a tier, a policy or a pin: their transactions may stay open, and
 * then nobody else could do it.  For the same reason a row that somebody has
 * locked is left for the next time.
 */
CREATE FUNCTION _tiered_storage.refresh_tablespaces() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	this_system bigint := (SELECT c.system_identifier FROM pg_control_system() c);
BEGIN
	DELETE FROM _tiered_storage.tier_tablespace t
		WHERE t.tablespace_name IN (SELECT x.tablespace_name FROM _tiered_storage.tier_tablespace x
			WHERE x.system_identifier = this_system
				AND NOT EXISTS (SELECT FROM pg_tablespace s WHERE s.oid = x.tablespace_oid)
			FOR UPDATE OF x SKIP LOCKED);
	DELETE FROM _tiered_storage.tier_tablespace t
		WHERE t.tablespace_name IN (SELECT x.tablespace_name FROM _tiered_storage.tier_tablespace x
			JOIN pg_tablespace s ON s.spcname = x.tablespace_name
			JOIN _tiered_storage.tier_tablespace o
				ON o.system_identifier = this_system AND o.tablespace_oid = s.oid
			WHERE x.system_identifier <> this_system
			FOR UPDATE OF x SKIP LOCKED);
	/* Names may be exchanged, so all rows are updated or none. */
	IF EXISTS (SELECT FROM _tiered_storage.tier_tablespace t
			JOIN _tiered_storage.tier_tablespaces r ON r.stored_name = t.tablespace_name
			WHERE (t.tablespace_oid, t.tablespace_name, t.system_identifier)
				IS DISTINCT FROM (r.tablespace_oid, r.tablespace_name, this_system))
		AND (SELECT count(*)
			FROM (SELECT FROM _tiered_storage.tier_tablespace x FOR UPDATE SKIP LOCKED) l)
			= (SELECT count(*) FROM _tiered_storage.tier_tablespace) THEN
		UPDATE _tiered_storage.tier_tablespace t
			SET tablespace_oid = r.tablespace_oid, tablespace_name = r.tablespace_name,
				system_identifier = this_system
			FROM _tiered_storage.tier_tablespaces r
			WHERE t.tablespace_name = r.stored_name
				AND (t.tablespace_oid, t.tablespace_name, t.system_identifier)
					IS DISTINCT FROM (r.tablespace_oid, r.tablespace_name, this_system);
	END IF;
	PERFORM _tiered_storage.refresh_claimed();
END
$$;
COMMENT ON FUNCTION _tiered_storage.refresh_tablespaces() IS
'updates the stored names and OIDs of the tablespaces of tiers';

/*
 * What was only discovered here follows what somebody defines in another database,
 * unless a policy or a pin relies on it.
 */
CREATE FUNCTION _tiered_storage.claimed_elsewhere() RETURNS SETOF name
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT t.tablespace_name
	FROM _tiered_storage.tier_tablespace t
	JOIN _tiered_storage.tablespace_claims() c ON c.tablespace_oid = t.tablespace_oid
	WHERE t.discovered AND c.tier_name <> t.tier_name
		AND c.database_oid <> (SELECT d.oid FROM pg_database d
			WHERE d.datname = current_database())
		AND NOT _tiered_storage.tier_in_use(t.tier_name)
$$;
COMMENT ON FUNCTION _tiered_storage.claimed_elsewhere() IS
'discovered tablespaces that belong to a tier in another database and that no policy or pin here '
'relies on';

CREATE FUNCTION _tiered_storage.refresh_claimed() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM _tiered_storage.claimed_elsewhere()) THEN
		RETURN;
	END IF;
	BEGIN
		LOCK TABLE _tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE NOWAIT;
		DELETE FROM _tiered_storage.tier_tablespace t
			WHERE t.tablespace_name IN (SELECT x.tablespace_name
				FROM _tiered_storage.tier_tablespace x
				WHERE x.tablespace_name IN (SELECT _tiered_storage.claimed_elsewhere())
				FOR UPDATE OF x SKIP LOCKED);
		IF FOUND THEN
			PERFORM tiered_storage.discover_tiers();
			PERFORM _tiered_storage.remove_unused_tiers(NULL);
		END IF;
	EXCEPTION WHEN lock_not_available THEN
		NULL;	-- somebody is changing the tiers
	END;
END
$$;
COMMENT ON FUNCTION _tiered_storage.refresh_claimed() IS
'gives up discovered tiers whose tablespaces belong to a tier in another database';

CREATE VIEW _tiered_storage.relation_identities AS
	SELECT c.oid AS relation_oid, n.nspname AS schema_name, c.relname AS relation_name,
		pg_catalog.pg_get_userbyid(c.relowner) AS owner_name, c.relowner AS owner_oid,
		cs.system_identifier, d.oid AS database_oid
	FROM pg_catalog.pg_class c
	JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
	CROSS JOIN pg_catalog.pg_control_system() cs
	JOIN pg_catalog.pg_database d
		ON d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database();
COMMENT ON VIEW _tiered_storage.relation_identities IS
'what policies and pins store of a relation: names, owner, cluster and database';

CREATE FUNCTION _tiered_storage.refresh_policies() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	/* Of several policies that have come to mean the same, the first stays. */
	DELETE FROM _tiered_storage.policy p
		WHERE p.policy_id IN (SELECT x.policy_id FROM _tiered_storage.policy x
			WHERE x.policy_id IN (SELECT d.policy_id FROM (
				SELECT v.policy_id, row_number() OVER (
						PARTITION BY v.relation, v.tier_name ORDER BY v.policy_id) AS place
				FROM tiered_storage.policies v WHERE v.relation IS NOT NULL) d WHERE d.place > 1)
			FOR UPDATE OF x SKIP LOCKED);
	WITH changed AS MATERIALIZED (
		SELECT p.policy_id, o.*, v.created_by, COALESCE(v.created_by_oid, 0) AS created_by_oid
		FROM _tiered_storage.policy p
		JOIN tiered_storage.policies v ON v.policy_id = p.policy_id
		JOIN _tiered_storage.relation_identities o ON o.relation_oid = v.relation::oid
		WHERE (p.relation_oid, p.schema_name, p.relation_name, p.owner_name, p.owner_oid,
				p.system_identifier, p.database_oid, p.created_by, p.created_by_oid)
			IS DISTINCT FROM (o.relation_oid, o.schema_name, o.relation_name, o.owner_name,
				o.owner_oid,
				o.system_identifier, o.database_oid, v.created_by, COALESCE(v.created_by_oid, 0))
		FOR UPDATE OF p SKIP LOCKED)
	UPDATE _tiered_storage.policy p
		SET relation_oid = c.relation_oid, schema_name = c.schema_name,
			relation_name = c.relation_name, owner_name = c.owner_name, owner_oid = c.owner_oid,
			system_identifier = c.system_identifier, database_oid = c.database_oid,
			created_by = c.created_by, created_by_oid = c.created_by_oid
		FROM changed c WHERE c.policy_id = p.policy_id;
	WITH changed AS MATERIALIZED (
		SELECT p.policy_id, v.created_by, COALESCE(v.created_by_oid, 0) AS created_by_oid,
			cs.system_identifier, d.oid AS database_oid, g.schema_oid,
			COALESCE(g.schema_name, '') AS schema_name,
			COALESCE(pg_get_userbyid(g.owner_oid), v.created_by) AS owner_name,
			COALESCE(g.owner_oid, v.created_by_oid, 0) AS owner_oid
		FROM _tiered_storage.policy p
		JOIN tiered_storage.policies v ON v.policy_id = p.policy_id
		LEFT JOIN _tiered_storage.policy_schemas g ON g.policy_id = p.policy_id
		CROSS JOIN pg_control_system() cs
		JOIN pg_database d ON d.datname = current_database()
		WHERE p.relation_oid = 0 AND (p.schema_oid IS NULL OR g.schema_oid IS NOT NULL)
			AND NOT EXISTS (SELECT FROM _tiered_storage.policy o
				WHERE o.policy_id <> p.policy_id AND o.relation_oid = 0
					AND o.tier_name = p.tier_name
					AND o.names_like IS NOT DISTINCT FROM p.names_like
					AND o.schema_oid IS NOT DISTINCT FROM g.schema_oid)
		FOR UPDATE OF p SKIP LOCKED)
	UPDATE _tiered_storage.policy p
		SET created_by = c.created_by, created_by_oid = c.created_by_oid,
			system_identifier = c.system_identifier, database_oid = c.database_oid,
			schema_oid = c.schema_oid, schema_name = c.schema_name,
			owner_name = c.owner_name, owner_oid = c.owner_oid
		FROM changed c WHERE c.policy_id = p.policy_id
			AND (p.created_by, p.created_by_oid, p.system_identifier, p.database_oid, p.schema_oid,
				p.schema_name, p.owner_name, p.owner_oid)
			IS DISTINCT FROM (c.created_by, c.created_by_oid, c.system_identifier, c.database_oid,
				c.schema_oid, c.schema_name, c.owner_name, c.owner_oid);
	WITH changed AS MATERIALIZED (
		SELECT p.policy_id, v.created_by, COALESCE(v.created_by_oid, 0) AS created_by_oid,
			cs.system_identifier
		FROM _tiered_storage.fullness_policy p
		JOIN tiered_storage.fullness_policies v ON v.policy_id = p.policy_id
		CROSS JOIN pg_control_system() cs
		WHERE (p.created_by, p.created_by_oid, p.system_identifier)
			IS DISTINCT FROM (v.created_by, COALESCE(v.created_by_oid, 0), cs.system_identifier)
		FOR UPDATE OF p SKIP LOCKED)
	UPDATE _tiered_storage.fullness_policy p
		SET created_by = c.created_by, created_by_oid = c.created_by_oid,
			system_identifier = c.system_identifier
		FROM changed c WHERE c.policy_id = p.policy_id;
END
$$;
COMMENT ON FUNCTION _tiered_storage.refresh_policies() IS
'updates the stored names and OIDs of policies';

/*
 * Pins that have ended are deleted, and those of a relation that has not existed for
 * long enough: until then it may be created again.  Of several that have come to mean
 * the same, the latest stays.
 */
CREATE FUNCTION _tiered_storage.refresh_pins() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM _tiered_storage.pin) THEN
		RETURN;
	END IF;
	DELETE FROM _tiered_storage.pin p
		WHERE p.pin_id IN (SELECT x.pin_id FROM _tiered_storage.pin x
			WHERE x.until <= now() OR x.missing_since < now() - interval '30 days'
			FOR UPDATE OF x SKIP LOCKED);
	DELETE FROM _tiered_storage.pin p
		WHERE p.pin_id IN (SELECT x.pin_id FROM _tiered_storage.pin x
			WHERE x.pin_id IN (SELECT d.pin_id FROM (
				SELECT v.pin_id, row_number() OVER (
						PARTITION BY v.relation_oid ORDER BY v.pinned_at DESC, v.pin_id DESC)
							AS place
				FROM _tiered_storage.pin_targets v WHERE v.relation_oid IS NOT NULL) d
				WHERE d.place > 1)
			FOR UPDATE OF x SKIP LOCKED);
	WITH changed AS MATERIALIZED (
		SELECT p.pin_id, o.*, v.pinned_by, COALESCE(v.pinned_by_oid, 0) AS pinned_by_oid
		FROM _tiered_storage.pin p
		JOIN _tiered_storage.pin_targets v ON v.pin_id = p.pin_id
		JOIN _tiered_storage.relation_identities o ON o.relation_oid = v.relation_oid
		WHERE p.missing_since IS NOT NULL
			OR (p.relation_oid, p.schema_name, p.relation_name, p.owner_name, p.owner_oid,
				p.system_identifier, p.database_oid, p.pinned_by, p.pinned_by_oid)
			IS DISTINCT FROM (o.relation_oid, o.schema_name, o.relation_name, o.owner_name,
				o.owner_oid,
				o.system_identifier, o.database_oid, v.pinned_by, COALESCE(v.pinned_by_oid, 0))
		FOR UPDATE OF p SKIP LOCKED)
	UPDATE _tiered_storage.pin p
		SET relation_oid = c.relation_oid, schema_name = c.schema_name,
			relation_name = c.relation_name, owner_name = c.owner_name, owner_oid = c.owner_oid,
			system_identifier = c.system_identifier, database_oid = c.database_oid,
			pinned_by = c.pinned_by, pinned_by_oid = c.pinned_by_oid, missing_since = NULL
		FROM changed c WHERE c.pin_id = p.pin_id;
	UPDATE _tiered_storage.pin t SET missing_since = now()
		WHERE t.pin_id IN (SELECT p.pin_id
			FROM _tiered_storage.pin p
			JOIN _tiered_storage.pin_targets v ON v.pin_id = p.pin_id
			WHERE v.relation_oid IS NULL AND p.missing_since IS NULL
			FOR UPDATE OF p SKIP LOCKED);
END
$$;
COMMENT ON FUNCTION _tiered_storage.refresh_pins() IS
'updates the stored names and OIDs of pins and deletes pins that have ended';

CREATE FUNCTION _tiered_storage.refresh_identities() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	PERFORM _tiered_storage.refresh_tablespaces();
	PERFORM _tiered_storage.refresh_policies();
	PERFORM _tiered_storage.refresh_partition_defaults();
	PERFORM _tiered_storage.refresh_pins();
END
$$;
COMMENT ON FUNCTION _tiered_storage.refresh_identities() IS
'updates the stored names and OIDs of tiers, policies and pins, and deletes pins that have ended';
---------------------------------------------------------------------------
-- Move windows: the hours in which moves begin that nobody has asked for.
---------------------------------------------------------------------------

CREATE TABLE _tiered_storage.move_window
(
	window_name name NOT NULL PRIMARY KEY CHECK (window_name OPERATOR(pg_catalog.<>) ''),
	days text[] CHECK (days OPERATOR(pg_catalog.<@) '{mon,tue,wed,thu,fri,sat,sun}'
		AND pg_catalog.cardinality(days) OPERATOR(pg_catalog.>) 0),	-- null: every day
	starts time NOT NULL CHECK (starts OPERATOR(pg_catalog.<) '24:00'),
	ends time NOT NULL CHECK (ends OPERATOR(pg_catalog.<>) starts),
	time_zone text NOT NULL,
	max_bytes bigint CHECK (max_bytes OPERATOR(pg_catalog.>) 0),
	jitter interval NOT NULL CHECK (jitter OPERATOR(pg_catalog.>=) '0'
		AND jitter OPERATOR(pg_catalog.<) '24 hours'),
	enabled boolean NOT NULL
);
COMMENT ON TABLE _tiered_storage.move_window IS
'hours in which moves begin that nobody has asked for; use the view tiered_storage.move_windows, '
'add_move_window(), alter_move_window() and remove_move_window()';
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.move_window', '');

CREATE FUNCTION _tiered_storage.move_window_state(
	OUT window_name name, OUT is_open boolean, OUT opens_at timestamptz, OUT closes_at timestamptz,
	OUT moved_bytes bigint)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_move_window_state';
COMMENT ON FUNCTION _tiered_storage.move_window_state() IS
'what the clock says of each window; see the view move_windows';

CREATE VIEW tiered_storage.move_windows AS
	SELECT w.window_name, w.days, w.starts, w.ends, w.time_zone, w.max_bytes, w.jitter, w.enabled,
		COALESCE(s.is_open, false) AS is_open, s.opens_at, s.closes_at, s.moved_bytes
	FROM _tiered_storage.move_window w
	LEFT JOIN _tiered_storage.move_window_state() s
		ON s.window_name OPERATOR(pg_catalog.=) w.window_name;
COMMENT ON VIEW tiered_storage.move_windows IS
'the hours in which moves begin that nobody has asked for: those of the worker and of migrate(); '
'if there is no window, they may begin at any time';
COMMENT ON COLUMN tiered_storage.move_windows.window_name IS 'name of the window';
COMMENT ON COLUMN tiered_storage.move_windows.days IS
'days on which it opens; null: every day';
COMMENT ON COLUMN tiered_storage.move_windows.starts IS 'time of day at which it opens';
COMMENT ON COLUMN tiered_storage.move_windows.ends IS
'time of day at which it closes; before starts: on the next day';
COMMENT ON COLUMN tiered_storage.move_windows.time_zone IS 'time zone of these times';
COMMENT ON COLUMN tiered_storage.move_windows.max_bytes IS
'bytes that may be moved in one opening; null: no limit';
COMMENT ON COLUMN tiered_storage.move_windows.jitter IS
'it opens up to this much later, always by the same time in a database, by another one in others';
COMMENT ON COLUMN tiered_storage.move_windows.enabled IS
'whether it opens at all; alter_move_window() disables and enables it';
COMMENT ON COLUMN tiered_storage.move_windows.is_open IS 'whether it is open now';
COMMENT ON COLUMN tiered_storage.move_windows.opens_at IS
'when it opens next, with its jitter; null: never, or not within three weeks';
COMMENT ON COLUMN tiered_storage.move_windows.closes_at IS
'when it closes: now if it is open, else the next time';
COMMENT ON COLUMN tiered_storage.move_windows.moved_bytes IS
'bytes moved since it opened, whoever asked for it; null: it is not open';

/* The name of the zone as pg_timezone_names has it; that of the session if none is named. */
CREATE FUNCTION _tiered_storage.move_window_zone(time_zone text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	wanted text := COALESCE(time_zone, current_setting('TimeZone'));
	found text := (SELECT z.name FROM pg_timezone_names z WHERE lower(z.name) = lower(wanted)
		ORDER BY z.name <> wanted LIMIT 1);
BEGIN
	IF found IS NULL THEN
		RAISE EXCEPTION 'time zone "%" not recognized', wanted
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'The view pg_timezone_names lists them.';
	END IF;
	RETURN found;
END
$$;
COMMENT ON FUNCTION _tiered_storage.move_window_zone(text) IS
'the time zone of that name, or an error';

/* In the order of the week, each once. */
CREATE FUNCTION _tiered_storage.move_window_days(days text[]) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	week CONSTANT text[] := '{mon,tue,wed,thu,fri,sat,sun}';
	unknown text;
BEGIN
	IF days IS NULL THEN
		RETURN NULL;
	END IF;
	SELECT COALESCE(d, 'null') INTO unknown FROM unnest(days) d
		WHERE (lower(d) = ANY (week)) IS NOT TRUE LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'invalid day "%"', unknown
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'Days are mon, tue, wed, thu, fri, sat and sun; null means every day.';
	END IF;
	IF cardinality(days) = 0 THEN
		RAISE EXCEPTION 'a move window without days would never open'
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'Null means every day; enabled => false keeps a window closed.';
	END IF;
	RETURN (SELECT array_agg(w.day ORDER BY w.n) FROM unnest(week) WITH ORDINALITY w(day, n)
		WHERE w.day IN (SELECT lower(d) FROM unnest(days) d));
END
$$;
COMMENT ON FUNCTION _tiered_storage.move_window_days(text[]) IS
'the days as they are stored, or an error';

CREATE FUNCTION _tiered_storage.move_window_check(w _tiered_storage.move_window) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	IF COALESCE(w.window_name, '') = '' THEN
		RAISE EXCEPTION 'the name of a move window must not be empty'
			USING ERRCODE = 'invalid_parameter_value';
	ELSIF w.starts IS NULL OR w.ends IS NULL THEN
		RAISE EXCEPTION '"starts" and "ends" must not be null'
			USING ERRCODE = 'null_value_not_allowed';
	ELSIF w.starts = '24:00' THEN
		RAISE EXCEPTION 'a move window cannot start at 24:00'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Use 00:00 of the next day.';
	ELSIF w.starts = w.ends THEN
		RAISE EXCEPTION 'a move window that ends when it starts is empty'
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'Use starts => ''00:00'', ends => ''24:00'' for whole days.';
	ELSIF w.max_bytes <= 0 THEN
		RAISE EXCEPTION 'max_bytes must be positive'
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'Leave it out for no limit; enabled => false keeps a window closed.';
	ELSIF EXTRACT(year FROM w.jitter) <> 0 OR EXTRACT(month FROM w.jitter) <> 0
		OR EXTRACT(day FROM w.jitter) <> 0 THEN
		RAISE EXCEPTION 'jitter must be hours, minutes and seconds'
			USING ERRCODE = 'invalid_parameter_value',
				DETAIL = 'Days, months and years are not always equally long.',
				HINT = 'For example ''20 minutes''.';
	ELSIF w.jitter < '0' THEN
		RAISE EXCEPTION 'jitter must not be negative'
			USING ERRCODE = 'invalid_parameter_value';
	ELSIF (w.jitter >= w.ends - w.starts
		+ CASE WHEN w.ends < w.starts THEN interval '24 hours' ELSE '0' END) THEN
		RAISE EXCEPTION 'jitter must be less than the move window is long'
			USING ERRCODE = 'invalid_parameter_value',
				DETAIL = 'It would be over before it opens.';
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.move_window_check(_tiered_storage.move_window) IS
'an error if the move window makes no sense';

CREATE FUNCTION tiered_storage.add_move_window(
	name name,
	days text[],
	starts time,
	ends time,
	time_zone text DEFAULT NULL,
	max_bytes bigint DEFAULT NULL,
	jitter interval DEFAULT '0',
	enabled boolean DEFAULT true)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp SET jit = off
	SET lock_timeout = '30s' SET session_replication_role = origin
AS $$
DECLARE
	most CONSTANT integer := 64;
	w _tiered_storage.move_window;
BEGIN
	PERFORM _tiered_storage.require_writable('tiered_storage.add_move_window()');
	w := ROW(name, _tiered_storage.move_window_days(days), starts, ends,
		_tiered_storage.move_window_zone(time_zone), max_bytes, COALESCE(jitter, '0'),
		COALESCE(enabled, true));
	PERFORM _tiered_storage.move_window_check(w);
	LOCK TABLE _tiered_storage.move_window IN SHARE ROW EXCLUSIVE MODE;
	IF EXISTS (SELECT FROM _tiered_storage.move_window x WHERE x.window_name = name) THEN
		RAISE EXCEPTION 'move window "%" already exists', name
			USING ERRCODE = 'duplicate_object',
				HINT = 'Use tiered_storage.alter_move_window() to change it.';
	ELSIF (SELECT count(*) FROM _tiered_storage.move_window) >= most THEN
		RAISE EXCEPTION 'there are % move windows already', most
			USING ERRCODE = 'program_limit_exceeded';
	END IF;
	INSERT INTO _tiered_storage.move_window SELECT w.*;
END
$$;
COMMENT ON FUNCTION tiered_storage.add_move_window(
	name, text[], time, time, text, bigint, interval, boolean) IS
'moves that nobody has asked for begin in this window from now on, or in another one: on days '
'such as ''{sat,sun}'' (null: every day), from starts to ends (if that is not later, on the '
'next day) in time_zone (default that of the session), at most max_bytes in each opening; it '
'opens up to jitter later, by another time in each database and cluster';

CREATE FUNCTION tiered_storage.alter_move_window(
	name name,
	days text[] DEFAULT NULL,
	starts time DEFAULT NULL,
	ends time DEFAULT NULL,
	time_zone text DEFAULT NULL,
	max_bytes bigint DEFAULT NULL,
	jitter interval DEFAULT NULL,
	enabled boolean DEFAULT NULL,
	unset text[] DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp SET jit = off
	SET lock_timeout = '30s' SET session_replication_role = origin
AS $$
DECLARE
	w _tiered_storage.move_window;
	unknown text;
BEGIN
	PERFORM _tiered_storage.require_writable('tiered_storage.alter_move_window()');
	SELECT COALESCE(u, 'null') INTO unknown FROM unnest(unset) u
		WHERE (u IN ('days', 'max_bytes')) IS NOT TRUE LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'property "%" of a move window cannot be unset', unknown
			USING ERRCODE = 'invalid_parameter_value', HINT = 'These can: days, max_bytes.';
	ELSIF (days IS NOT NULL AND 'days' = ANY (unset))
		OR (max_bytes IS NOT NULL AND 'max_bytes' = ANY (unset)) THEN
		RAISE EXCEPTION 'a property cannot be set and unset at once'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	SELECT x.* INTO w FROM _tiered_storage.move_window x WHERE x.window_name = name FOR UPDATE;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'move window "%" does not exist', name
			USING ERRCODE = 'undefined_object',
				HINT = 'SELECT window_name FROM tiered_storage.move_windows lists them.';
	END IF;
	w.days := CASE WHEN 'days' = ANY (unset) THEN NULL
		ELSE COALESCE(_tiered_storage.move_window_days(days), w.days) END;
	w.starts := COALESCE(starts, w.starts);
	w.ends := COALESCE(ends, w.ends);
	w.time_zone := CASE WHEN time_zone IS NULL THEN w.time_zone
		ELSE _tiered_storage.move_window_zone(time_zone) END;
	w.max_bytes := CASE WHEN 'max_bytes' = ANY (unset) THEN NULL
		ELSE COALESCE(max_bytes, w.max_bytes) END;
	w.jitter := COALESCE(jitter, w.jitter);
	w.enabled := COALESCE(enabled, w.enabled);
	PERFORM _tiered_storage.move_window_check(w);
	UPDATE _tiered_storage.move_window x
		SET (days, starts, ends, time_zone, max_bytes, jitter, enabled)
			= (w.days, w.starts, w.ends, w.time_zone, w.max_bytes, w.jitter, w.enabled)
		WHERE x.window_name = name;
END
$$;
COMMENT ON FUNCTION tiered_storage.alter_move_window(
	name, text[], time, time, text, bigint, interval, boolean, text[]) IS
'changes a move window; null arguments leave their property unchanged; enabled => false keeps it '
'closed; unset => ''{days,max_bytes}'' means every day and no limit again';

CREATE FUNCTION tiered_storage.remove_move_window(name name, if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp SET jit = off
	SET lock_timeout = '30s' SET session_replication_role = origin
AS $$
BEGIN
	PERFORM _tiered_storage.require_writable('tiered_storage.remove_move_window()');
	DELETE FROM _tiered_storage.move_window x WHERE x.window_name = name;
	IF FOUND THEN
		RETURN;
	ELSIF if_exists THEN
		RAISE NOTICE 'move window "%" does not exist, skipping', name;
		RETURN;
	END IF;
	RAISE EXCEPTION 'move window "%" does not exist', name
		USING ERRCODE = 'undefined_object',
			HINT = 'SELECT window_name FROM tiered_storage.move_windows lists them.';
END
$$;
COMMENT ON FUNCTION tiered_storage.remove_move_window(name, boolean) IS
'removes a move window; without the last one moves may begin at any time';
---------------------------------------------------------------------------
-- Moves: the record of those that run or ran, and their effect.
---------------------------------------------------------------------------

CREATE TABLE _tiered_storage.move
(
	move_id bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	relation_oid oid NOT NULL,
	relation_name text NOT NULL,
	kind text NOT NULL,
	from_tablespace name NOT NULL,
	to_tablespace name NOT NULL,
	from_tablespace_oid oid NOT NULL DEFAULT 0,
	to_tablespace_oid oid NOT NULL DEFAULT 0,
	from_tier name,
	to_tier name,
	state text NOT NULL CHECK (state OPERATOR(pg_catalog.=) ANY ('{running,done,failed,skipped}')),
	requested_by name NOT NULL,
	policy_id integer,
	batch_id bigint,
	undo_of bigint,
	policy_kind text CHECK (policy_kind OPERATOR(pg_catalog.=) ANY ('{tiering,fullness}')),
	reason text NOT NULL,
	method text NOT NULL,
	size_bytes bigint NOT NULL,
	before_io_s_per_hour float8,
	predicted_io_s_per_hour float8,
	predicted_saved_io_s_per_hour float8,
	started_at timestamptz NOT NULL,
	finished_at timestamptz,
	attempts integer NOT NULL DEFAULT 0,
	failures integer NOT NULL DEFAULT 0,
	next_attempt_at timestamptz,
	lock_wait_ms float8,
	lock_held_ms float8,
	lock_flush_ms float8,
	copied_bytes bigint,
	failed_at timestamptz[],
	failed_bytes bigint[],
	elapsed_ms float8,
	waited_ms float8,
	error text,
	sqlstate text,
	pid integer,
	backend_start timestamptz
);
COMMENT ON COLUMN _tiered_storage.move.from_tablespace_oid IS
'the tablespace, whatever it is named by now; the name is that of before for one that is gone';
COMMENT ON COLUMN _tiered_storage.move.waited_ms IS
'part of elapsed_ms in which moves were paused, or too many others moved something';
CREATE INDEX move_relation_oid_idx ON _tiered_storage.move (relation_oid, move_id);
CREATE INDEX move_batch_id_idx ON _tiered_storage.move (batch_id) WHERE batch_id IS NOT NULL;
CREATE SEQUENCE _tiered_storage.move_batch;
COMMENT ON SEQUENCE _tiered_storage.move_batch IS
'numbers of the batches of apply_placement(), migrate(), the worker and undo_move()';
CREATE INDEX move_undo_of_idx ON _tiered_storage.move (undo_of) WHERE undo_of IS NOT NULL;
CREATE INDEX move_running_idx ON _tiered_storage.move (move_id)
	WHERE state OPERATOR(pg_catalog.=) 'running';

/*
 * Files that are being created and that no relation has yet.  The row is committed before
 * the file is created, so that it is known after a crash.  Only move/pending_row.c reads
 * and writes this table, below SQL, by the order of its columns.
 */
CREATE TABLE _tiered_storage.move_file
(
	tablespace_oid oid NOT NULL,
	file_number oid NOT NULL,
	relation_oid oid NOT NULL,
	pid integer NOT NULL,
	created_at timestamptz NOT NULL,
	system_identifier bigint NOT NULL,
	PRIMARY KEY (tablespace_oid, file_number)
) USING heap;
COMMENT ON COLUMN _tiered_storage.move_file.tablespace_oid IS
'tablespace of the file; 0: the default tablespace of the database';
COMMENT ON COLUMN _tiered_storage.move_file.pid IS
'process that registered the file; it may have ended';
COMMENT ON COLUMN _tiered_storage.move_file.system_identifier IS
'cluster that the file is in; pg_upgrade copies the entries but not the files';
COMMENT ON TABLE _tiered_storage.move_file IS
'pending files of moves that have not ended; the worker removes those that a crash left behind';
COMMENT ON COLUMN _tiered_storage.move.failed_at IS
'when earlier tries of the last 24 hours ended that advice had asked for, one entry for each hour';
COMMENT ON COLUMN _tiered_storage.move.failed_bytes IS
'bytes that these have copied: the limit of a day is about what is written, for whatever';
COMMENT ON TABLE _tiered_storage.move IS
'running and past moves; use the views tiered_storage.moves and tiered_storage.move_progress';

/*
 * One row for each move that is done; deleted after the row of the move.  Written when the
 * move is done, when its load begins to be measured (observed_since), and when it is
 * settled: measured, or found to be not measurable.  Profiles are random read and write
 * ms, sequential read and write MB/s, fsync ms and parallelism of the tiers at the time of
 * the move, with the compression ratio, whether it is calibrated, and the corrections; totals
 * and device_totals are the total_* columns of relation_state and device_state at
 * observed_since.
 */
CREATE TABLE _tiered_storage.move_effect
(
	move_id bigint NOT NULL PRIMARY KEY,
	batch_id bigint,
	relation_oid oid NOT NULL,
	to_tablespace_oid oid NOT NULL,
	from_profile float8[] NOT NULL,
	to_profile float8[] NOT NULL,
	from_factor float8,
	observed_since timestamptz,
	totals float8[],
	device text,
	device_totals float8[],
	settled_at timestamptz,
	not_measurable text,
	source text,
	unmoved_io_s_per_hour float8,
	measured_io_s_per_hour float8,
	batch_effect text,
	scans_before float8[],
	scans float8[],
	plan_change text,
	from_tablespace_oid oid,
	from_work float8[],
	to_work float8[]
) WITH (fillfactor = 70);
CREATE INDEX move_effect_open_idx ON _tiered_storage.move_effect (observed_since)
	WHERE settled_at IS NULL;
CREATE INDEX move_effect_relation_oid_idx ON _tiered_storage.move_effect (relation_oid)
	WHERE settled_at IS NULL;
CREATE INDEX move_effect_batch_id_idx ON _tiered_storage.move_effect (batch_id)
	WHERE batch_id IS NOT NULL;
CREATE INDEX move_effect_device_idx ON _tiered_storage.move_effect (move_id)
	WHERE source OPERATOR(pg_catalog.=) 'device';
CREATE INDEX move_effect_unjudged_idx ON _tiered_storage.move_effect (batch_id)
	WHERE batch_id IS NOT NULL AND batch_effect IS NULL;
COMMENT ON TABLE _tiered_storage.move_effect IS
'what completed moves are measured against, and the result; use the views tiered_storage.moves '
'and tiered_storage.move_batches';
COMMENT ON COLUMN _tiered_storage.move_effect.from_factor IS
'measured time of the old tier''s device as a multiple of its profile''s, before the move; null: '
'its figures are not reliable';
COMMENT ON COLUMN _tiered_storage.move_effect.batch_effect IS
'verdict on the batch when it was settled; null: not yet';

COMMENT ON COLUMN _tiered_storage.move_effect.scans_before IS
'sequential scans of the table and scans of its indexes before the move, and in how many hours';
COMMENT ON COLUMN _tiered_storage.move_effect.scans IS
'counters of these at observed_since';
COMMENT ON COLUMN _tiered_storage.move_effect.from_work IS
'what from_factor was measured of: requests, random reads, bytes read sequentially, random '
'writes, bytes written sequentially, and the device time in ms; null: not reliable';
COMMENT ON COLUMN _tiered_storage.move_effect.to_work IS
'the same of the new tier''s device while the move was measured';

CREATE FUNCTION _tiered_storage.effect_verdict(
	predicted_saved_io_s_per_hour float8, unmoved_io_s_per_hour float8,
	measured_io_s_per_hour float8)
RETURNS text
LANGUAGE C STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_effect_verdict';
COMMENT ON FUNCTION _tiered_storage.effect_verdict(float8, float8, float8) IS
'the verdict in the views moves and move_batches: how the measured cost compares with the '
'predicted saving; unmoved is the cost of the same load on the old tier';

CREATE VIEW tiered_storage.moves AS
	SELECT m.move_id, COALESCE(c.oid::pg_catalog.regclass::pg_catalog.text, m.relation_name)
		AS relation, m.kind,
		m.from_tier, m.to_tier,
		COALESCE((SELECT t.spcname FROM pg_catalog.pg_tablespace t
			WHERE t.oid OPERATOR(pg_catalog.=) m.from_tablespace_oid), m.from_tablespace)
			AS from_tablespace,
		COALESCE((SELECT t.spcname FROM pg_catalog.pg_tablespace t
			WHERE t.oid OPERATOR(pg_catalog.=) m.to_tablespace_oid), m.to_tablespace)
			AS to_tablespace,
		CASE WHEN m.state OPERATOR(pg_catalog.=) 'running' AND a.pid IS NULL THEN 'interrupted'
			ELSE m.state END AS state,
		m.requested_by, m.policy_id, m.reason, m.method, m.size_bytes,
		m.started_at, m.finished_at, m.elapsed_ms, m.attempts, m.failures, m.next_attempt_at,
		m.lock_wait_ms, m.lock_held_ms, m.lock_flush_ms, m.copied_bytes, m.error, m.sqlstate,
		m.batch_id, m.predicted_saved_io_s_per_hour,
		m.before_io_s_per_hour, m.predicted_io_s_per_hour,
		CASE WHEN e.not_measurable IS NULL THEN e.settled_at END AS measured_at,
		e.source AS effect_source,
		e.unmoved_io_s_per_hour, e.measured_io_s_per_hour,
		e.unmoved_io_s_per_hour OPERATOR(pg_catalog.-) e.measured_io_s_per_hour
			AS measured_saved_io_s_per_hour,
		CASE WHEN m.state OPERATOR(pg_catalog.<>) 'done' THEN NULL
			WHEN e.not_measurable IS NOT NULL THEN 'not measurable: '
				OPERATOR(pg_catalog.||) e.not_measurable
			ELSE _tiered_storage.effect_verdict(m.predicted_saved_io_s_per_hour,
				e.unmoved_io_s_per_hour, e.measured_io_s_per_hour)
			END AS effect,
		e.plan_change,
		m.undo_of, m.policy_kind
	FROM _tiered_storage.move m
	LEFT JOIN _tiered_storage.move_effect e ON e.move_id OPERATOR(pg_catalog.=) m.move_id
	LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) m.relation_oid
	LEFT JOIN pg_catalog.pg_stat_activity a
		ON a.pid OPERATOR(pg_catalog.=) m.pid
			AND a.backend_start OPERATOR(pg_catalog.=) m.backend_start;
COMMENT ON VIEW tiered_storage.moves IS
'running and past moves, one row per relation moved; a relation that cannot be moved has one '
'row, with the number of failures and the time of the next attempt; costs are in seconds of '
'device time per hour';
COMMENT ON COLUMN tiered_storage.moves.move_id IS 'number of the move';
COMMENT ON COLUMN tiered_storage.moves.relation IS
'current name of the relation, or its name at the time of the move if it was dropped';
COMMENT ON COLUMN tiered_storage.moves.kind IS 'kind of relation: table, index, ...';
COMMENT ON COLUMN tiered_storage.moves.from_tier IS 'tier that it was on; null: none';
COMMENT ON COLUMN tiered_storage.moves.to_tier IS 'tier that it was to move to; null: none';
COMMENT ON COLUMN tiered_storage.moves.from_tablespace IS
'tablespace that it was in, by the name that it has now';
COMMENT ON COLUMN tiered_storage.moves.to_tablespace IS
'tablespace that it was to move to, by the name that it has now';
COMMENT ON COLUMN tiered_storage.moves.state IS
'running, done, failed, skipped, or interrupted (the process that moved it is gone)';
COMMENT ON COLUMN tiered_storage.moves.requested_by IS 'role that requested it';
COMMENT ON COLUMN tiered_storage.moves.policy_id IS 'policy that requested it; null: none';
COMMENT ON COLUMN tiered_storage.moves.reason IS 'why it was moved';
COMMENT ON COLUMN tiered_storage.moves.method IS
'online, or set tablespace (under a lock for the whole copy)';
COMMENT ON COLUMN tiered_storage.moves.size_bytes IS 'size in bytes of all forks, TOAST included';
COMMENT ON COLUMN tiered_storage.moves.started_at IS 'when the last attempt started';
COMMENT ON COLUMN tiered_storage.moves.finished_at IS
'when the last attempt ended; null: it is running';
COMMENT ON COLUMN tiered_storage.moves.elapsed_ms IS
'duration of the last attempt in ms, also of what it waited while moves were paused or too many '
'others moved something; null: it is running';
COMMENT ON COLUMN tiered_storage.moves.attempts IS
'number of attempts to get the strong lock, of all parts of the relation';
COMMENT ON COLUMN tiered_storage.moves.failures IS 'number of failures in a row';
COMMENT ON COLUMN tiered_storage.moves.next_attempt_at IS
'the worker does not try again before this time; null: no retry is planned';
COMMENT ON COLUMN tiered_storage.moves.lock_wait_ms IS
'time in ms that the last attempt waited for the strong lock';
COMMENT ON COLUMN tiered_storage.moves.lock_held_ms IS
'longest time in ms that the last attempt held the strong lock';
COMMENT ON COLUMN tiered_storage.moves.lock_flush_ms IS
'part of lock_held_ms that went into flushing WAL';
COMMENT ON COLUMN tiered_storage.moves.copied_bytes IS
'bytes copied, with those that had to be copied again';
COMMENT ON COLUMN tiered_storage.moves.error IS 'error message; null: it has not failed';
COMMENT ON COLUMN tiered_storage.moves.sqlstate IS
'SQLSTATE of the error; null: it has not failed';
COMMENT ON COLUMN tiered_storage.moves.batch_id IS
'batch of apply_placement(), migrate(), the worker or undo_move() that it belongs to; null: none';
COMMENT ON COLUMN tiered_storage.moves.predicted_saved_io_s_per_hour IS
'predicted saving in seconds of device time per hour; null: none was predicted';
COMMENT ON COLUMN tiered_storage.moves.before_io_s_per_hour IS
'cost of the relation before, in seconds of device time per hour; null: not known';
COMMENT ON COLUMN tiered_storage.moves.predicted_io_s_per_hour IS
'predicted cost afterwards, in seconds of device time per hour; null: not known';
COMMENT ON COLUMN tiered_storage.moves.measured_at IS
'when its effect was measured; null: not measured';
COMMENT ON COLUMN tiered_storage.moves.effect_source IS
'what the measurement rests on: device (its counters) or profile (the figures of the tier); '
'null: not measured';
COMMENT ON COLUMN tiered_storage.moves.unmoved_io_s_per_hour IS
'what the load since the move would have cost on the old tier, in seconds of device time per '
'hour; null: not measured';
COMMENT ON COLUMN tiered_storage.moves.measured_io_s_per_hour IS
'what the load since the move costs on the new tier, in seconds of device time per hour; null: '
'not measured';
COMMENT ON COLUMN tiered_storage.moves.measured_saved_io_s_per_hour IS
'measured saving: unmoved_io_s_per_hour - measured_io_s_per_hour';
COMMENT ON COLUMN tiered_storage.moves.effect IS
'verdict on its effect in words; null: it is not done';
COMMENT ON COLUMN tiered_storage.moves.plan_change IS
'how its table is scanned since the move, if in another way than before: a likely cause where '
'the effect is not as predicted; null: no change seen';
COMMENT ON COLUMN tiered_storage.moves.undo_of IS 'batch that it undoes; null: it is not an undo';
COMMENT ON COLUMN tiered_storage.moves.policy_kind IS
'kind of that policy: tiering (see the view policies) or fullness (fullness_policies); null: none';

CREATE VIEW tiered_storage.move_batches AS
	SELECT b.batch_id,
		CASE WHEN b.undo_of IS NOT NULL THEN 'undo'
			WHEN b.policy_kind OPERATOR(pg_catalog.=) 'fullness' THEN 'fullness'
			WHEN b.policy_id IS NOT NULL THEN 'policy'
			ELSE 'placement' END AS kind,
		b.requested_by, b.started_at,
		CASE WHEN b.moves_running OPERATOR(pg_catalog.=) 0 THEN b.finished_at END AS finished_at,
		b.moves_done, b.moves_failed, b.moves_skipped, b.moves_running,
		b.moved_bytes, b.predicted_saved_io_s_per_hour, b.measured_saved_io_s_per_hour,
		b.measured_moves,
		CASE WHEN b.moves_done OPERATOR(pg_catalog.=) 0 THEN NULL
			WHEN b.moves_running OPERATOR(pg_catalog.>) 0 OR b.open_moves OPERATOR(pg_catalog.>) 0
				THEN _tiered_storage.effect_verdict(NULL, NULL, NULL)
			WHEN b.measured_moves OPERATOR(pg_catalog.=) 0 THEN 'not measurable'
			ELSE _tiered_storage.effect_verdict(b.predicted_of_measured, b.unmoved, b.measured) END
				AS effect,
		b.plan_changes,
		CASE WHEN EXISTS (SELECT FROM _tiered_storage.move d
				JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) d.relation_oid
				JOIN pg_catalog.pg_database x
					ON x.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
					AND d.to_tablespace_oid OPERATOR(pg_catalog.=) CASE c.reltablespace WHEN 0
						THEN x.dattablespace ELSE c.reltablespace END
				JOIN pg_catalog.pg_tablespace f
					ON f.oid OPERATOR(pg_catalog.=) d.from_tablespace_oid
				WHERE d.batch_id OPERATOR(pg_catalog.=) b.batch_id
					AND d.state OPERATOR(pg_catalog.=) 'done')
			THEN pg_catalog.format('CALL tiered_storage.undo_move(%s)', b.batch_id) END
				AS undo_command,
		b.undo_of,
		(SELECT pg_catalog.max(u.batch_id) FROM _tiered_storage.move u
			WHERE u.undo_of OPERATOR(pg_catalog.=) b.batch_id
				AND u.state OPERATOR(pg_catalog.=) 'done') AS undone_by
	FROM (
		SELECT m.batch_id, pg_catalog.min(m.undo_of) AS undo_of,
			pg_catalog.min(m.policy_id) AS policy_id,
			pg_catalog.min(m.policy_kind) AS policy_kind,
			pg_catalog.min(m.requested_by::pg_catalog.text)::pg_catalog.name AS requested_by,
			pg_catalog.min(m.started_at) AS started_at,
			pg_catalog.max(m.finished_at) AS finished_at,
			pg_catalog.count(*) FILTER (WHERE m.state OPERATOR(pg_catalog.=) 'done') AS moves_done,
			pg_catalog.count(*) FILTER (WHERE m.state OPERATOR(pg_catalog.=) 'failed')
				AS moves_failed,
			pg_catalog.count(*) FILTER (WHERE m.state OPERATOR(pg_catalog.=) 'skipped')
				AS moves_skipped,
			pg_catalog.count(*) FILTER (WHERE m.state OPERATOR(pg_catalog.=) 'running')
				AS moves_running,
			pg_catalog.count(e.measured_io_s_per_hour) AS measured_moves,
			pg_catalog.count(e.plan_change) AS plan_changes,
			pg_catalog.count(*) FILTER (WHERE m.state OPERATOR(pg_catalog.=) 'done'
				AND e.settled_at IS NULL) AS open_moves,
			COALESCE(pg_catalog.sum(m.size_bytes)
				FILTER (WHERE m.state OPERATOR(pg_catalog.=) 'done'), 0)::pg_catalog.int8
				AS moved_bytes,
			pg_catalog.sum(m.predicted_saved_io_s_per_hour)
				FILTER (WHERE m.state OPERATOR(pg_catalog.=) 'done')
				AS predicted_saved_io_s_per_hour,
			pg_catalog.sum(e.unmoved_io_s_per_hour OPERATOR(pg_catalog.-) e.measured_io_s_per_hour)
				AS measured_saved_io_s_per_hour,
			CASE WHEN pg_catalog.bool_and(m.predicted_saved_io_s_per_hour IS NOT NULL)
				FILTER (WHERE e.measured_io_s_per_hour IS NOT NULL)
				THEN pg_catalog.sum(m.predicted_saved_io_s_per_hour)
					FILTER (WHERE e.measured_io_s_per_hour IS NOT NULL)
				END AS predicted_of_measured,
			pg_catalog.sum(e.unmoved_io_s_per_hour) AS unmoved,
				pg_catalog.sum(e.measured_io_s_per_hour) AS measured
		FROM _tiered_storage.move m
		LEFT JOIN _tiered_storage.move_effect e ON e.move_id OPERATOR(pg_catalog.=) m.move_id
		WHERE m.batch_id IS NOT NULL
		GROUP BY m.batch_id) b;
COMMENT ON VIEW tiered_storage.move_batches IS
'moves made together by apply_placement(), migrate(), the worker or undo_move(): how many, how '
'much, the predicted and the measured saving';
COMMENT ON COLUMN tiered_storage.move_batches.batch_id IS 'number of the batch';
COMMENT ON COLUMN tiered_storage.move_batches.kind IS 'placement, policy, fullness or undo';
COMMENT ON COLUMN tiered_storage.move_batches.requested_by IS 'role that requested it';
COMMENT ON COLUMN tiered_storage.move_batches.started_at IS 'when its first move started';
COMMENT ON COLUMN tiered_storage.move_batches.finished_at IS
'when its last move ended; null: some are running';
COMMENT ON COLUMN tiered_storage.move_batches.moves_done IS 'number of moves done';
COMMENT ON COLUMN tiered_storage.move_batches.moves_failed IS 'number of moves that failed';
COMMENT ON COLUMN tiered_storage.move_batches.moves_skipped IS 'number of moves skipped';
COMMENT ON COLUMN tiered_storage.move_batches.moves_running IS
'number of moves running or interrupted';
COMMENT ON COLUMN tiered_storage.move_batches.moved_bytes IS 'bytes of the relations moved';
COMMENT ON COLUMN tiered_storage.move_batches.predicted_saved_io_s_per_hour IS
'predicted saving of the moves done, in seconds of device time per hour; null: none was predicted';
COMMENT ON COLUMN tiered_storage.move_batches.measured_saved_io_s_per_hour IS
'measured saving of the moves measured, in seconds of device time per hour; null: none was '
'measured';
COMMENT ON COLUMN tiered_storage.move_batches.measured_moves IS 'number of moves measured';
COMMENT ON COLUMN tiered_storage.move_batches.effect IS
'verdict on the measured moves in words, once no measurement is open; null: no move is done';
COMMENT ON COLUMN tiered_storage.move_batches.plan_changes IS
'number of measured moves whose table is scanned in another way since; see plan_change of moves';
COMMENT ON COLUMN tiered_storage.move_batches.undo_command IS
'statement that undoes the batch; null: there is nothing to undo';
COMMENT ON COLUMN tiered_storage.move_batches.undo_of IS
'batch that it undoes; null: it is not an undo';
COMMENT ON COLUMN tiered_storage.move_batches.undone_by IS
'last batch that undid a part of it; null: none';
---------------------------------------------------------------------------
-- Running moves, and the calls that make, pause and undo moves.
---------------------------------------------------------------------------

CREATE FUNCTION _tiered_storage.mover_progress(
	pid integer, OUT part_oid oid, OUT phase text, OUT blocks_total bigint, OUT blocks_done bigint,
	OUT copied_bytes bigint, OUT catch_up_rounds integer, OUT attempts integer,
	OUT restarts integer,
	OUT started_at timestamptz)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_mover_progress';
COMMENT ON FUNCTION _tiered_storage.mover_progress(integer) IS
'progress of the move that this process runs; no row if it runs none; see the view move_progress';

CREATE FUNCTION tiered_storage.orphaned_files(
	OUT tablespace_name name, OUT file_number oid, OUT path text, OUT size_bytes bigint,
	OUT written_at timestamptz, OUT is_registered boolean)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_orphaned_files';
COMMENT ON FUNCTION tiered_storage.orphaned_files() IS
'files of this database that no relation uses and that no open transaction can have created, '
'such as a crash leaves behind; the next move or worker cycle removes those that are registered, '
'the others are for you to judge';

CREATE VIEW tiered_storage.move_progress AS
	SELECT m.move_id, COALESCE(c.oid::pg_catalog.regclass::pg_catalog.text, m.relation_name)
		AS relation, m.kind,
		m.from_tablespace, m.to_tablespace, a.pid, m.method,
		pg_catalog.to_regclass(p.part_oid::pg_catalog.regclass::pg_catalog.text) AS part,
		COALESCE(p.phase, 'starting') AS phase,
		p.blocks_total, p.blocks_done,
		GREATEST(p.blocks_total OPERATOR(pg_catalog.-) p.blocks_done, 0) AS blocks_to_go,
		p.copied_bytes OPERATOR(pg_catalog./) NULLIF(t.part_s, 0) AS bytes_per_s,
		CASE WHEN p.blocks_done OPERATOR(pg_catalog.>) 0 THEN
			t.part_s OPERATOR(pg_catalog.*) GREATEST(p.blocks_total
				OPERATOR(pg_catalog.-) p.blocks_done, 0)
			OPERATOR(pg_catalog./) p.blocks_done END AS remaining_s,
		p.catch_up_rounds, p.attempts, p.restarts,
		m.size_bytes, m.started_at,
		(EXTRACT(epoch FROM pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) m.started_at)
			OPERATOR(pg_catalog.*) 1000)::pg_catalog.float8 AS elapsed_ms
	FROM _tiered_storage.move m
	JOIN pg_catalog.pg_stat_activity a
		ON a.pid OPERATOR(pg_catalog.=) m.pid
			AND a.backend_start OPERATOR(pg_catalog.=) m.backend_start
	LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) m.relation_oid
	LEFT JOIN LATERAL _tiered_storage.mover_progress(m.pid) p ON true
	LEFT JOIN LATERAL (SELECT EXTRACT(epoch FROM pg_catalog.clock_timestamp()
		OPERATOR(pg_catalog.-) p.started_at)::pg_catalog.float8 AS part_s) t ON true
	WHERE m.state OPERATOR(pg_catalog.=) 'running';
COMMENT ON VIEW tiered_storage.move_progress IS
'running moves: the part of the relation that is being copied, how many of its blocks are done, '
'how fast, and how long the rest will take at this rate';
COMMENT ON COLUMN tiered_storage.move_progress.move_id IS 'number of the move';
COMMENT ON COLUMN tiered_storage.move_progress.relation IS 'relation that is being moved';
COMMENT ON COLUMN tiered_storage.move_progress.kind IS 'kind of relation: table, index, ...';
COMMENT ON COLUMN tiered_storage.move_progress.from_tablespace IS 'tablespace that it is in';
COMMENT ON COLUMN tiered_storage.move_progress.to_tablespace IS 'tablespace that it moves to';
COMMENT ON COLUMN tiered_storage.move_progress.pid IS 'process that moves it';
COMMENT ON COLUMN tiered_storage.move_progress.method IS
'online, or set tablespace (under a lock for the whole copy)';
COMMENT ON COLUMN tiered_storage.move_progress.part IS
'part that is being copied: the relation, its TOAST table, or the index of that; null: not '
'started';
COMMENT ON COLUMN tiered_storage.move_progress.phase IS 'what is happening to this part now';
COMMENT ON COLUMN tiered_storage.move_progress.blocks_total IS
'number of blocks of this part; null: not started';
COMMENT ON COLUMN tiered_storage.move_progress.blocks_done IS
'number of its blocks that are copied; null: not started';
COMMENT ON COLUMN tiered_storage.move_progress.blocks_to_go IS
'number of its blocks that are not copied yet';
COMMENT ON COLUMN tiered_storage.move_progress.bytes_per_s IS
'bytes of this part copied per second; null: not started';
COMMENT ON COLUMN tiered_storage.move_progress.remaining_s IS
'estimated seconds for the rest of this part at this rate, without blocks that change and must '
'be copied again; null: nothing is copied yet';
COMMENT ON COLUMN tiered_storage.move_progress.catch_up_rounds IS
'number of rounds that copied blocks changed meanwhile; null: not started';
COMMENT ON COLUMN tiered_storage.move_progress.attempts IS
'number of attempts to get the strong lock; null: not started';
COMMENT ON COLUMN tiered_storage.move_progress.restarts IS
'how often the copy had to start again; null: not started';
COMMENT ON COLUMN tiered_storage.move_progress.size_bytes IS
'size in bytes of all forks of the relation, TOAST included';
COMMENT ON COLUMN tiered_storage.move_progress.started_at IS 'when the move started';
COMMENT ON COLUMN tiered_storage.move_progress.elapsed_ms IS 'time in ms since the move started';

CREATE PROCEDURE tiered_storage.move_relation(
	relation regclass, target name, include_indexes boolean DEFAULT true,
	allow_lock boolean DEFAULT false, index_target name DEFAULT NULL,
	dry_run boolean DEFAULT false)
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_move_relation';
COMMENT ON PROCEDURE tiered_storage.move_relation(
	regclass, name, boolean, boolean, name, boolean) IS
'moves a table, materialized view or index, or all leaf partitions of a partitioned table, to a '
'tier or tablespace while it is in use, with its indexes (to index_target if given); a relation '
'that cannot be moved online (unlogged, unknown access method) is moved only with allow_lock, '
'which locks it for the whole copy; dry_run only reports what would be moved, and what not and '
'why; else it cannot run in a transaction block';

CREATE FUNCTION tiered_storage.preflight(
	relation regclass, target name, include_indexes boolean DEFAULT true,
	allow_lock boolean DEFAULT false, index_target name DEFAULT NULL,
	OUT check_name text, OUT verdict text, OUT finding text, OUT remedy text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_preflight_sql';
COMMENT ON FUNCTION tiered_storage.preflight(regclass, name, boolean, boolean, name) IS
'what move_relation() with the same arguments would meet: a row for each check (ok, warning, '
'blocks) with what was found and what to do about it, and what the move would take; locks '
'nothing, waits for nobody and changes nothing';

CREATE PROCEDURE tiered_storage.apply_placement(
	min_confidence text DEFAULT 'firm', max_bytes bigint DEFAULT NULL,
	dry_run boolean DEFAULT false,
	tiers name[] DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	price_per_wait_hour float8 DEFAULT NULL,
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL)
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_apply_placement';
COMMENT ON PROCEDURE tiered_storage.apply_placement(
	text, bigint, boolean, name[], interval, text, float8, name[], regclass[]) IS
'applies the recommendations of recommend_placement() with the same arguments as one batch of '
'moves, in an order in which no tier overflows: those with at least this confidence (firm, '
'tentative, insufficient data), at most max_bytes of them, the highest saving for each second '
'of moving first; what is in use is tried again after the others; dry_run only reports them';

CREATE PROCEDURE tiered_storage.undo_move(batch_id bigint, dry_run boolean DEFAULT false)
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_undo_move';
COMMENT ON PROCEDURE tiered_storage.undo_move(bigint, boolean) IS
'undoes a batch of apply_placement(), its last move first; relations that have moved elsewhere '
'since are left alone; dry_run only reports what would be moved back';

CREATE FUNCTION tiered_storage.pause() RETURNS boolean
LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'tier_pause';
COMMENT ON FUNCTION tiered_storage.pause() IS
'pauses all moves of this server at once, running ones included, until resume(), across '
'restarts; returns false if they were paused already';

CREATE FUNCTION tiered_storage.resume() RETURNS boolean
LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'tier_resume';
COMMENT ON FUNCTION tiered_storage.resume() IS
'lets moves continue after pause(); returns false if they were not paused';

CREATE FUNCTION tiered_storage.is_paused() RETURNS boolean
LANGUAGE C STABLE AS 'MODULE_PATHNAME', 'tier_is_paused';
COMMENT ON FUNCTION tiered_storage.is_paused() IS
'whether the moves of this server are paused; see pause()';

CREATE PROCEDURE tiered_storage.migrate(
	dry_run boolean DEFAULT false,
	ignore_windows boolean DEFAULT false)
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_migrate';
COMMENT ON PROCEDURE tiered_storage.migrate(boolean, boolean) IS
'moves each partition that is due by a tiering policy, in a transaction for each relation, if a '
'move window is open and the server not under pressure, or ignore_windows is true; dry_run only '
'reports them';
---------------------------------------------------------------------------
-- Writes, moves included: amplification, and the writes of the whole server.
---------------------------------------------------------------------------

/* The server's own counters, from views that differ between versions. */
CREATE FUNCTION _tiered_storage.server_write_counters(
	OUT checkpoint_bytes bigint, OUT bgwriter_bytes bigint, OUT backend_bytes bigint,
	OUT buffers_since timestamptz, OUT wal_bytes bigint, OUT full_page_images bigint,
	OUT wal_since timestamptz,
	OUT temp_bytes bigint, OUT temp_since timestamptz)
RETURNS record
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	block_size bigint := pg_catalog.current_setting('block_size')::bigint;
	bgwriter jsonb := (SELECT pg_catalog.to_jsonb(b) FROM pg_catalog.pg_stat_bgwriter b);
	checkpointer jsonb;
BEGIN
	IF pg_catalog.to_regclass('pg_catalog.pg_stat_checkpointer') IS NULL THEN
		checkpoint_bytes := (bgwriter ->> 'buffers_checkpoint')::bigint * block_size;
		backend_bytes := (bgwriter ->> 'buffers_backend')::bigint * block_size;
		buffers_since := (bgwriter ->> 'stats_reset')::timestamptz;
	ELSE
		EXECUTE 'SELECT pg_catalog.to_jsonb(c) FROM pg_catalog.pg_stat_checkpointer c'
			INTO checkpointer;
		EXECUTE $sql$
			SELECT pg_catalog.sum(COALESCE((j ->> 'write_bytes')::numeric,
				(j ->> 'writes')::numeric * (j ->> 'op_bytes')::numeric, 0)
				+ COALESCE((j ->> 'extend_bytes')::numeric,
					(j ->> 'extends')::numeric * (j ->> 'op_bytes')::numeric, 0))::bigint
			FROM pg_catalog.pg_stat_io i, LATERAL pg_catalog.to_jsonb(i) j
			WHERE i.object = 'relation' AND i.backend_type NOT IN ('checkpointer',
				'background writer')$sql$
			INTO backend_bytes;
		checkpoint_bytes := (checkpointer ->> 'buffers_written')::bigint * block_size;
		buffers_since := GREATEST((checkpointer ->> 'stats_reset')::timestamptz,
			(bgwriter ->> 'stats_reset')::timestamptz);
	END IF;
	bgwriter_bytes := (bgwriter ->> 'buffers_clean')::bigint * block_size;
	SELECT LEAST(w.wal_bytes, 9223372036854775807)::bigint, w.wal_fpi, w.stats_reset
		INTO server_write_counters.wal_bytes, full_page_images, wal_since
		FROM pg_catalog.pg_stat_wal w;
	SELECT pg_catalog.sum(d.temp_bytes)::bigint, pg_catalog.max(d.stats_reset)
		INTO server_write_counters.temp_bytes, temp_since
		FROM pg_catalog.pg_stat_database d;
END
$$;
COMMENT ON FUNCTION _tiered_storage.server_write_counters() IS
'what the whole server has written since its counters were reset; see the view server_writes';

CREATE VIEW tiered_storage.write_amplification AS
	WITH relation AS (
		SELECT h.tier_name,
			CASE WHEN h.kind OPERATOR(pg_catalog.<>) 'index'
				THEN h.writes_per_hour END AS row_changes,
			CASE WHEN h.kind OPERATOR(pg_catalog.<>) 'index' AND s.tuples OPERATOR(pg_catalog.>) 0
				THEN h.writes_per_hour OPERATOR(pg_catalog.*) s.size_bytes
					OPERATOR(pg_catalog./) s.tuples END AS row_bytes,
			h.page_writes_per_hour OPERATOR(pg_catalog.*) b.block_size AS page_bytes,
			h.maintenance_writes_per_hour OPERATOR(pg_catalog.*) b.block_size AS maintenance_bytes,
			h.wal_bytes_per_hour, h.full_page_image_bytes_per_hour
		FROM tiered_storage.heat h
		JOIN _tiered_storage.relation_state s
			ON s.relation_oid OPERATOR(pg_catalog.=) h.relation::pg_catalog.oid
		CROSS JOIN (SELECT pg_catalog.current_setting('block_size')::pg_catalog.float8
			AS block_size) b
		WHERE h.write_source OPERATOR(pg_catalog.=) 'wal'),
	tier AS (
		SELECT r.tier_name, false AS is_total, pg_catalog.sum(r.row_changes) AS row_changes,
			pg_catalog.sum(r.row_bytes) AS row_bytes,
			pg_catalog.sum(r.page_bytes) AS page_bytes,
			pg_catalog.sum(r.maintenance_bytes) AS maintenance_bytes,
			pg_catalog.sum(r.wal_bytes_per_hour) AS wal_bytes,
			pg_catalog.sum(r.full_page_image_bytes_per_hour) AS image_bytes
		FROM relation r GROUP BY r.tier_name
		UNION ALL
		SELECT NULL, true, pg_catalog.sum(r.row_changes), pg_catalog.sum(r.row_bytes),
			pg_catalog.sum(r.page_bytes), pg_catalog.sum(r.maintenance_bytes),
			pg_catalog.sum(r.wal_bytes_per_hour), pg_catalog.sum(r.full_page_image_bytes_per_hour)
		FROM relation r),
	moved AS (
		SELECT m.to_tier, pg_catalog.sum(m.copied_bytes
			OPERATOR(pg_catalog.*) _tiered_storage.period_share(m.started_at,
				EXTRACT(epoch FROM m.finished_at
					OPERATOR(pg_catalog.-) m.started_at)::pg_catalog.float8,
				pg_catalog.now() OPERATOR(pg_catalog.-) '1 day'::pg_catalog.interval,
				pg_catalog.now())) AS bytes
		FROM _tiered_storage.move m
		WHERE m.finished_at OPERATOR(pg_catalog.>) (pg_catalog.now()
			OPERATOR(pg_catalog.-) '1 day'::pg_catalog.interval)
		GROUP BY m.to_tier)
	SELECT t.tier_name, t.is_total,
		COALESCE(t.row_changes, 0) AS row_changes_per_hour,
		COALESCE(t.row_bytes, 0) AS row_bytes_per_hour,
		COALESCE(t.page_bytes, 0) AS page_write_bytes_per_hour,
		COALESCE(t.maintenance_bytes, 0) AS maintenance_write_bytes_per_hour,
		COALESCE(m.bytes, 0) OPERATOR(pg_catalog./) 24 AS moved_bytes_per_hour,
		COALESCE(t.wal_bytes, 0) AS wal_bytes_per_hour,
		COALESCE(t.image_bytes, 0) AS full_page_image_bytes_per_hour,
		CASE WHEN w.bytes OPERATOR(pg_catalog.>=) t.row_bytes
			THEN w.bytes OPERATOR(pg_catalog./) NULLIF(t.row_bytes, 0) END AS amplification
	FROM tier t
	CROSS JOIN LATERAL (SELECT t.page_bytes OPERATOR(pg_catalog.+) t.maintenance_bytes
		OPERATOR(pg_catalog.+) t.wal_bytes AS bytes) w
	LEFT JOIN LATERAL (SELECT pg_catalog.sum(x.bytes) AS bytes FROM moved x
		WHERE t.is_total OR NOT (x.to_tier IS DISTINCT FROM t.tier_name)) m ON true;
COMMENT ON VIEW tiered_storage.write_amplification IS
'bytes that the permanent relations of this database write per hour, by tier and in total; empty '
'while the WAL is not read';
COMMENT ON COLUMN tiered_storage.write_amplification.tier_name IS
'tier; null: relations that are on no tier, or the total, see is_total';
COMMENT ON COLUMN tiered_storage.write_amplification.is_total IS
'whether the row is the total of all relations';
COMMENT ON COLUMN tiered_storage.write_amplification.row_changes_per_hour IS
'rows changed per hour';
COMMENT ON COLUMN tiered_storage.write_amplification.row_bytes_per_hour IS
'size of the changed rows in bytes per hour';
COMMENT ON COLUMN tiered_storage.write_amplification.page_write_bytes_per_hour IS
'pages written for them, in bytes per hour';
COMMENT ON COLUMN tiered_storage.write_amplification.maintenance_write_bytes_per_hour IS
'pages written by vacuum and rewrites, in bytes per hour';
COMMENT ON COLUMN tiered_storage.write_amplification.moved_bytes_per_hour IS
'bytes per hour copied to the tier by moves, mean of the last day';
COMMENT ON COLUMN tiered_storage.write_amplification.wal_bytes_per_hour IS
'bytes of WAL per hour for all of this';
COMMENT ON COLUMN tiered_storage.write_amplification.full_page_image_bytes_per_hour IS
'part of wal_bytes_per_hour that is full-page images';
COMMENT ON COLUMN tiered_storage.write_amplification.amplification IS
'bytes of pages, maintenance and WAL per byte of changed rows, at least 1; null: no rows changed, '
'or not all that was written for them has been counted';

CREATE VIEW tiered_storage.server_writes AS
	SELECT c.checkpoint_bytes, c.bgwriter_bytes, c.backend_bytes, c.buffers_since,
		c.wal_bytes, c.full_page_images, c.wal_since, c.temp_bytes, c.temp_since,
		m.bytes AS moved_bytes, m.since AS moved_since
	FROM _tiered_storage.server_write_counters() c
	CROSS JOIN (SELECT COALESCE(pg_catalog.sum(x.copied_bytes), 0)::pg_catalog.int8 AS bytes,
			pg_catalog.min(x.started_at) AS since FROM _tiered_storage.move x) m;
COMMENT ON VIEW tiered_storage.server_writes IS
'bytes that the whole server has written, each kind since the time beside it, and bytes that '
'moves of this database have copied';
COMMENT ON COLUMN tiered_storage.server_writes.checkpoint_bytes IS
'bytes of buffers written by checkpoints';
COMMENT ON COLUMN tiered_storage.server_writes.bgwriter_bytes IS
'bytes of buffers written by the background writer';
COMMENT ON COLUMN tiered_storage.server_writes.backend_bytes IS
'bytes of buffers written by backends and other processes';
COMMENT ON COLUMN tiered_storage.server_writes.buffers_since IS
'when these three counters were reset; null: never';
COMMENT ON COLUMN tiered_storage.server_writes.wal_bytes IS 'bytes of WAL written';
COMMENT ON COLUMN tiered_storage.server_writes.full_page_images IS
'number of full-page images in that WAL';
COMMENT ON COLUMN tiered_storage.server_writes.wal_since IS
'when these two counters were reset; null: never';
COMMENT ON COLUMN tiered_storage.server_writes.temp_bytes IS 'bytes of temporary files written';
COMMENT ON COLUMN tiered_storage.server_writes.temp_since IS
'when this counter was last reset in a database; null: never';
COMMENT ON COLUMN tiered_storage.server_writes.moved_bytes IS
'bytes copied by those moves of this database that the view moves shows';
COMMENT ON COLUMN tiered_storage.server_writes.moved_since IS
'when the first of these moves started; null: there are none';
---------------------------------------------------------------------------
-- The queue: all that wants to move, and what it waits for.
---------------------------------------------------------------------------

CREATE FUNCTION _tiered_storage.move_queue_entries(
	OUT place integer, OUT relation regclass, OUT from_tier name, OUT to_tier name,
	OUT from_tablespace name, OUT to_tablespace name, OUT size_bytes bigint, OUT cause text,
	OUT policy_id integer, OUT state text, OUT reason text, OUT failures integer,
	OUT next_attempt_at timestamptz, OUT last_error text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_move_queue';
COMMENT ON FUNCTION _tiered_storage.move_queue_entries() IS
'the rows of the view move_queue';

CREATE VIEW tiered_storage.move_queue AS
	SELECT * FROM _tiered_storage.move_queue_entries();
COMMENT ON VIEW tiered_storage.move_queue IS
'all that wants to move, in the order in which it will be tried: what runs, what policies ask '
'for, and with auto_migrate = placement what is advised; each with what it waits for';
COMMENT ON COLUMN tiered_storage.move_queue.place IS 'place in the queue, from 1';
COMMENT ON COLUMN tiered_storage.move_queue.relation IS 'relation that moves, or wants to';
COMMENT ON COLUMN tiered_storage.move_queue.from_tier IS 'tier that it is on; null: none';
COMMENT ON COLUMN tiered_storage.move_queue.to_tier IS 'tier that it goes to; null: none';
COMMENT ON COLUMN tiered_storage.move_queue.from_tablespace IS 'tablespace that it is in';
COMMENT ON COLUMN tiered_storage.move_queue.to_tablespace IS
'tablespace that it goes to; null: the tier has none that can be used';
COMMENT ON COLUMN tiered_storage.move_queue.size_bytes IS
'size in bytes of all forks of the relation, TOAST included';
COMMENT ON COLUMN tiered_storage.move_queue.cause IS
'who asks for it: tiering policy, fullness policy, advice, or request (somebody''s CALL)';
COMMENT ON COLUMN tiered_storage.move_queue.policy_id IS
'policy that asks for it; null: none';
COMMENT ON COLUMN tiered_storage.move_queue.state IS
'running, ready (the next run of the worker moves it), waiting (it would not begin now), or '
'failed (it was tried, and will be again at next_attempt_at)';
COMMENT ON COLUMN tiered_storage.move_queue.reason IS 'why it is in this state';
COMMENT ON COLUMN tiered_storage.move_queue.failures IS
'number of failures in a row; the pause after them is a minute, doubled each time, at most an '
'hour';
COMMENT ON COLUMN tiered_storage.move_queue.next_attempt_at IS
'when the worker tries it again; null: it need not wait for that';
COMMENT ON COLUMN tiered_storage.move_queue.last_error IS
'error of the last try; null: it has not failed, or has succeeded since';
---------------------------------------------------------------------------
-- The worker: whether it runs, and why not.
---------------------------------------------------------------------------

CREATE FUNCTION _tiered_storage.worker_status(
	OUT database_name name, OUT state text, OUT reason text, OUT pid integer,
	OUT last_started_at timestamptz, OUT last_finished_at timestamptz,
	OUT next_run_at timestamptz, OUT failures integer, OUT last_error text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_worker_status';
COMMENT ON FUNCTION _tiered_storage.worker_status() IS
'the rows of the view workers';

CREATE VIEW tiered_storage.workers AS
	SELECT * FROM _tiered_storage.worker_status();
COMMENT ON VIEW tiered_storage.workers IS
'the worker of each database: whether it runs, when it runs next, and if not, why';
COMMENT ON COLUMN tiered_storage.workers.database_name IS 'database of the worker';
COMMENT ON COLUMN tiered_storage.workers.state IS 'what the worker does now';
COMMENT ON COLUMN tiered_storage.workers.reason IS
'what it waits for, or why it moves nothing or does not run; null: nothing to say';
COMMENT ON COLUMN tiered_storage.workers.pid IS 'its process; null: it does not run';
COMMENT ON COLUMN tiered_storage.workers.last_started_at IS
'when its last cycle started; null: never';
COMMENT ON COLUMN tiered_storage.workers.last_finished_at IS
'when its last cycle ended; null: never';
COMMENT ON COLUMN tiered_storage.workers.next_run_at IS
'when its next cycle starts; null: none is planned';
COMMENT ON COLUMN tiered_storage.workers.failures IS 'number of failed cycles in a row';
COMMENT ON COLUMN tiered_storage.workers.last_error IS
'error of the last cycle that failed; null: none has failed';

CREATE FUNCTION _tiered_storage.notify_launcher() RETURNS void
LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'tier_notify_launcher';
COMMENT ON FUNCTION _tiered_storage.notify_launcher() IS
'wakes the launcher for this database; does nothing without shared_preload_libraries';
---------------------------------------------------------------------------
-- Logical replication must not bring rows of another server.
---------------------------------------------------------------------------

/*
 * Rows of a publisher describe its storage, not that of the subscriber.  The trigger fires
 * only while session_replication_role is replica, as in an apply worker; other sessions do
 * not pay for it.
 */
CREATE FUNCTION _tiered_storage.ignore_replicated() RETURNS trigger
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_ignore_replicated';
COMMENT ON FUNCTION _tiered_storage.ignore_replicated() IS
'trigger: ignores rows that logical replication brings, because they describe the storage of '
'another server';

DO $$
DECLARE
	t record;
BEGIN
	FOR t IN SELECT c.relname FROM pg_catalog.pg_class c
		WHERE c.relnamespace OPERATOR(pg_catalog.=) '_tiered_storage'::pg_catalog.regnamespace
			AND c.relkind OPERATOR(pg_catalog.=) 'r'
		ORDER BY c.relname
	LOOP
		EXECUTE pg_catalog.format('CREATE TRIGGER ignore_replicated BEFORE INSERT OR UPDATE OR '
			'DELETE ON _tiered_storage.%I '
			'FOR EACH ROW EXECUTE FUNCTION _tiered_storage.ignore_replicated()', t.relname);
		EXECUTE pg_catalog.format('ALTER TABLE _tiered_storage.%I ENABLE REPLICA TRIGGER '
			'ignore_replicated', t.relname);
	END LOOP;
	IF EXISTS (SELECT FROM pg_catalog.pg_publication p WHERE p.puballtables) THEN
		RAISE WARNING 'a publication FOR ALL TABLES includes the tables of tiered_storage'
			USING DETAIL = 'Replication to a subscriber that does not have the extension stops at '
				'the next sample.',
				HINT = 'Run CREATE EXTENSION tiered_storage on each subscriber: it ignores these '
					'rows, and replication goes on. Or publish FOR TABLES IN SCHEMA.';
	END IF;
END
$$;
---------------------------------------------------------------------------
-- Rights.
---------------------------------------------------------------------------

/*
 * No role has rights except those granted here, or later by somebody who meant these
 * objects: neither PUBLIC, nor roles of ALTER DEFAULT PRIVILEGES, nor roles that could
 * create in a schema that existed before.  A role that can write our tables has the rights
 * of the roles named in them.
 */
DO $$
DECLARE
	revoke_all text;
BEGIN
	FOR revoke_all IN
		SELECT pg_catalog.format('REVOKE ALL ON %s FROM %s', o.object,
			CASE WHEN a.grantee OPERATOR(pg_catalog.=) 0::pg_catalog.oid THEN 'PUBLIC'
				ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)::pg_catalog.text)
					END)
		FROM (
			SELECT pg_catalog.format('SCHEMA %I', n.nspname) AS object, n.nspacl AS acl,
				n.nspowner AS owner
			FROM pg_catalog.pg_namespace n
			WHERE n.nspname OPERATOR(pg_catalog.=) ANY ('{tiered_storage,_tiered_storage}')
			UNION ALL
			SELECT pg_catalog.format('%s %I.%I', CASE c.relkind WHEN 'S' THEN 'SEQUENCE'
				ELSE 'TABLE' END,
				n.nspname, c.relname), c.relacl, c.relowner
			FROM pg_catalog.pg_class c
			JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
			WHERE n.nspname OPERATOR(pg_catalog.=) ANY ('{tiered_storage,_tiered_storage}')
				AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,v,S}'::pg_catalog."char"[])
			UNION ALL
			SELECT pg_catalog.format('ROUTINE %s', p.oid::pg_catalog.regprocedure),
				COALESCE(p.proacl, pg_catalog.acldefault('f', p.proowner)), p.proowner
			FROM pg_catalog.pg_proc p
			WHERE p.pronamespace OPERATOR(pg_catalog.=)
				ANY ('{tiered_storage,_tiered_storage}'::pg_catalog.regnamespace[])
		) o
		CROSS JOIN LATERAL pg_catalog.aclexplode(o.acl) a
		WHERE a.grantee OPERATOR(pg_catalog.<>) o.owner
		GROUP BY o.object, a.grantee
	LOOP
		EXECUTE revoke_all;
	END LOOP;
END
$$;

/* pg_monitor may use what only reads. */
GRANT USAGE ON SCHEMA tiered_storage TO pg_monitor;
GRANT SELECT ON tiered_storage.tiers, tiered_storage.tier_calibration,
	tiered_storage.heat, tiered_storage.relation_history, tiered_storage.sampler,
	tiered_storage.device_io, tiered_storage.file_class_io, tiered_storage.heat_peaks,
	tiered_storage.write_amplification, tiered_storage.server_writes, tiered_storage.standbys,
	tiered_storage.policies, tiered_storage.fullness_policies, tiered_storage.pins,
	tiered_storage.pinned_relations,
	tiered_storage.moves, tiered_storage.move_batches, tiered_storage.move_progress,
	tiered_storage.move_windows, tiered_storage.move_queue,
	tiered_storage.recommendations, tiered_storage.workers TO pg_monitor;
GRANT EXECUTE ON FUNCTION tiered_storage.tablespace_devices(), tiered_storage.device_profiles(),
	tiered_storage.recommend_settings(),
	tiered_storage.relation_buffers(), tiered_storage.block_heat(regclass, integer),
	tiered_storage.access_statistics(), tiered_storage.access_tracking(),
	tiered_storage.wait_times(),
	tiered_storage.load_profile(timestamptz, timestamptz),
	tiered_storage.compare_load(timestamptz, timestamptz, timestamptz, timestamptz),
	tiered_storage.unused_relations(interval),
	tiered_storage.seasonality(regclass),
	tiered_storage.recommend_placement(boolean, name[], jsonb, interval, text, float8, name[],
		regclass[], timestamptz),
	tiered_storage.explain_placement(regclass, name[], jsonb, interval, text, float8, name[],
		regclass[], timestamptz),
	tiered_storage.placement_summary(name[], jsonb, interval, text, float8, name[], regclass[],
		timestamptz),
	tiered_storage.simulate_placement(jsonb, float8, name[], jsonb, interval, text, float8, name[],
		regclass[], timestamptz),
	tiered_storage.tier_size_curve(name, integer, name[], jsonb, interval, text, float8, name[],
		regclass[], timestamptz),
	tiered_storage.recommend_partitioning(bigint, boolean),
	tiered_storage.evaluate_policies(), tiered_storage.evaluate_fullness(),
	tiered_storage.preflight(regclass, name, boolean, boolean, name),
	tiered_storage.orphaned_files(), tiered_storage.is_paused() TO pg_monitor;

/*
 * And what these depend on, where it runs with the rights of the caller: a view checks
 * EXECUTE for the caller, and a function that is not SECURITY DEFINER checks everything.
 */
GRANT USAGE ON SCHEMA _tiered_storage TO pg_monitor;
GRANT SELECT ON _tiered_storage.tier_tablespaces,
	_tiered_storage.load_history, _tiered_storage.load_state TO pg_monitor;
GRANT EXECUTE ON FUNCTION _tiered_storage.tablespace_claims(),
	_tiered_storage.smoothed_rate(float8, float8, float8, float8),
	_tiered_storage.period_share(timestamptz, float8, timestamptz, timestamptz),
	_tiered_storage.activity_pattern(timestamptz, float8, bytea, timestamptz),
	_tiered_storage.growth_per_hour(timestamptz, float8, bytea, timestamptz),
	_tiered_storage.device_fit(float8, float8, float8, float8),
	_tiered_storage.tier_corrections(),
	_tiered_storage.server_write_counters(),
	_tiered_storage.load_period(timestamptz, timestamptz),
	_tiered_storage.load_is_possible(_tiered_storage.load_history),
	_tiered_storage.load_sums(timestamptz, timestamptz),
	_tiered_storage.load_totals(timestamptz, timestamptz),
	_tiered_storage.find_heat_peaks(),
	_tiered_storage.cached_ranges(regclass, integer), _tiered_storage.hot_range(regclass),
	_tiered_storage.partition_interval(oid, text, text), _tiered_storage.partition_key(regclass),
	_tiered_storage.partition_saving(name, bigint),
	_tiered_storage.partition_command(regclass, name),
	_tiered_storage.partition_heat(tiered_storage.heat),
	_tiered_storage.partition_column(tiered_storage.heat, float8),
	_tiered_storage.partition_confidence(bigint, timestamptz, float8),
	_tiered_storage.partition_advice(tiered_storage.heat, boolean),
	_tiered_storage.effect_verdict(float8, float8, float8),
	_tiered_storage.mover_progress(integer),
	_tiered_storage.move_window_state(), _tiered_storage.move_queue_entries(),
	_tiered_storage.worker_status() TO pg_monitor;
---------------------------------------------------------------------------
-- The first look, so that there is something to see at once.
---------------------------------------------------------------------------

SELECT pg_catalog.count(*) FROM tiered_storage.discover_tiers();
CALL tiered_storage.sample();
SELECT _tiered_storage.notify_launcher();

/*
 * The planner takes a table that was never analyzed for ten pages.  Autovacuum leaves these
 * alone, they are so small, and views that join several would be thought to be dear enough
 * to be compiled.
 */
ANALYZE _tiered_storage.tier, _tiered_storage.tier_tablespace, _tiered_storage.sampler,
	_tiered_storage.tier_calibration;

/*
 * tiered_storage 0.1.0: catalog and SQL interface, in the order of the data
 * flow: tiers, observation, advice, policies, pins, moves, worker, rights.
 *
 * Every name outside a function body is qualified; every function that is not
 * a C function pins its search_path.  Nothing that changes anything is granted
 * to PUBLIC (see the end).
 */
\echo Use "CREATE EXTENSION tiered_storage" to load this file. \quit

/*
 * A schema of that name may have been prepared by somebody who owns it and
 * could put his own functions beside ours.
 */
DO $$
BEGIN
	IF EXISTS (SELECT FROM pg_catalog.pg_namespace n
			JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) n.nspowner
			WHERE n.nspname OPERATOR(pg_catalog.=) 'tiered_storage'
				AND NOT r.rolsuper AND r.rolname OPERATOR(pg_catalog.<>) CURRENT_USER)
		OR EXISTS (SELECT FROM pg_catalog.pg_depend d
			WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_namespace'::pg_catalog.regclass
				AND d.refobjid OPERATOR(pg_catalog.=) 'tiered_storage'::pg_catalog.regnamespace
				AND d.deptype OPERATOR(pg_catalog.=) 'n'
				AND d.classid OPERATOR(pg_catalog.<>) 'pg_catalog.pg_extension'::pg_catalog.regclass)
	THEN
		RAISE EXCEPTION 'schema "tiered_storage" exists already and is not empty or belongs to a user who is no superuser'
			USING ERRCODE = 'duplicate_schema',
				HINT = 'Drop or rename that schema; CREATE EXTENSION makes its own.';
	END IF;
END
$$;

---------------------------------------------------------------------------
-- Tiers
---------------------------------------------------------------------------

/*
 * What a number may be is said here, for whatever writes it: beyond these limits it
 * is a slip of the pen, or made to have every later computation fail.  NaN is
 * above all of them.  tier_check_values() says the same in words.
 */
CREATE TABLE tiered_storage.tier
(
	tier_name name NOT NULL PRIMARY KEY CHECK (tier_name OPERATOR(pg_catalog.<>) ''),
	rank integer NOT NULL CHECK (rank OPERATOR(pg_catalog.>=) 0 AND rank OPERATOR(pg_catalog.<=) 1000000),
	profile text NOT NULL,
	random_read_ms float8 NOT NULL CHECK (random_read_ms OPERATOR(pg_catalog.>=) 1e-6 AND random_read_ms OPERATOR(pg_catalog.<=) 1e6),
	random_write_ms float8 NOT NULL CHECK (random_write_ms OPERATOR(pg_catalog.>=) 1e-6 AND random_write_ms OPERATOR(pg_catalog.<=) 1e6),
	sequential_read_mb_per_s float8 NOT NULL CHECK (sequential_read_mb_per_s OPERATOR(pg_catalog.>=) 1e-6 AND sequential_read_mb_per_s OPERATOR(pg_catalog.<=) 1e9),
	sequential_write_mb_per_s float8 NOT NULL CHECK (sequential_write_mb_per_s OPERATOR(pg_catalog.>=) 1e-6 AND sequential_write_mb_per_s OPERATOR(pg_catalog.<=) 1e9),
	fsync_ms float8 NOT NULL CHECK (fsync_ms OPERATOR(pg_catalog.>=) 1e-6 AND fsync_ms OPERATOR(pg_catalog.<=) 1e6),
	parallelism float8 NOT NULL CHECK (parallelism OPERATOR(pg_catalog.>=) 1e-3 AND parallelism OPERATOR(pg_catalog.<=) 1e6),
	price_per_gb_month numeric NOT NULL
		CHECK (price_per_gb_month OPERATOR(pg_catalog.=) 0 OR price_per_gb_month OPERATOR(pg_catalog.>=) 1e-9 AND price_per_gb_month OPERATOR(pg_catalog.<=) 1e9),
	price_is_assumed boolean NOT NULL,
	capacity_bytes bigint CHECK (capacity_bytes OPERATOR(pg_catalog.>) 0 AND capacity_bytes OPERATOR(pg_catalog.<=) 1152921504606846976),
	reserve_fraction float8 NOT NULL CHECK (reserve_fraction OPERATOR(pg_catalog.>=) 0 AND reserve_fraction OPERATOR(pg_catalog.<) 1),
	low_watermark float8 NOT NULL,
	high_watermark float8 NOT NULL,
	endurance_tbw float8 CHECK (endurance_tbw OPERATOR(pg_catalog.>=) 1e-9 AND endurance_tbw OPERATOR(pg_catalog.<=) 1e12),
	endurance_dwpd float8 CHECK (endurance_dwpd OPERATOR(pg_catalog.>=) 1e-9 AND endurance_dwpd OPERATOR(pg_catalog.<=) 1e6),
	compressed boolean NOT NULL,
	compression_ratio float8 CHECK (compression_ratio OPERATOR(pg_catalog.>=) 1 AND compression_ratio OPERATOR(pg_catalog.<=) 1e6),
	discovered boolean NOT NULL,
	CHECK (low_watermark OPERATOR(pg_catalog.>) 0 AND low_watermark OPERATOR(pg_catalog.<) high_watermark
		AND high_watermark OPERATOR(pg_catalog.<=) 1)
);
COMMENT ON TABLE tiered_storage.tier IS
'storage tiers of this database; use the view tiered_storage.tiers to read, add_tier() and alter_tier() to change';
COMMENT ON COLUMN tiered_storage.tier.discovered IS
'made by discover_tiers() and never changed by hand since: not dumped, and gives way to a tier that a person defines';

/*
 * The name survives dump and restore, the OID survives a rename: inside the
 * cluster that wrote the row (system_identifier) the OID counts, elsewhere the
 * name.  refresh_tablespaces() brings both up to date.
 */
CREATE TABLE tiered_storage.tier_tablespace
(
	tablespace_name name NOT NULL PRIMARY KEY DEFERRABLE,	-- names may be exchanged
	tablespace_oid oid NOT NULL,
	system_identifier bigint NOT NULL,
	tier_name name NOT NULL REFERENCES tiered_storage.tier ON UPDATE CASCADE ON DELETE CASCADE,
	discovered boolean NOT NULL
);
CREATE INDEX tier_tablespace_tier_name_idx ON tiered_storage.tier_tablespace (tier_name);
/* A deferrable key cannot be what replication finds a row by. */
ALTER TABLE tiered_storage.tier_tablespace REPLICA IDENTITY FULL;
COMMENT ON TABLE tiered_storage.tier_tablespace IS
'which tablespace belongs to which tier; a tablespace belongs to one tier at most';

/*
 * A restore first runs CREATE EXTENSION, which discovers tiers, and then loads
 * the dumped rows: what was only discovered steps aside for them.  The row of
 * a discovered tier is overwritten in place, since policies may refer to it.
 */
CREATE FUNCTION tiered_storage.tier_before_insert() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF TG_TABLE_NAME = 'tier_tablespace' THEN
		DELETE FROM tiered_storage.tier_tablespace t
			WHERE t.tablespace_name = NEW.tablespace_name AND t.discovered;
		RETURN NEW;
	END IF;
	IF (SELECT count(*) FROM tiered_storage.tier) >= 32
		AND NOT EXISTS (SELECT FROM tiered_storage.tier t WHERE t.tier_name = NEW.tier_name) THEN
		RAISE EXCEPTION 'there are too many tiers'
			USING ERRCODE = 'program_limit_exceeded', DETAIL = 'At most 32 are possible.',
				HINT = 'A tier can have more than one tablespace.';
	END IF;
	UPDATE tiered_storage.tier t SET
			rank = NEW.rank, profile = NEW.profile,
			random_read_ms = NEW.random_read_ms, random_write_ms = NEW.random_write_ms,
			sequential_read_mb_per_s = NEW.sequential_read_mb_per_s,
			sequential_write_mb_per_s = NEW.sequential_write_mb_per_s,
			fsync_ms = NEW.fsync_ms, parallelism = NEW.parallelism,
			price_per_gb_month = NEW.price_per_gb_month, price_is_assumed = NEW.price_is_assumed,
			capacity_bytes = NEW.capacity_bytes, reserve_fraction = NEW.reserve_fraction,
			low_watermark = NEW.low_watermark, high_watermark = NEW.high_watermark,
			endurance_tbw = NEW.endurance_tbw, endurance_dwpd = NEW.endurance_dwpd,
			compressed = NEW.compressed, compression_ratio = NEW.compression_ratio,
			discovered = NEW.discovered
		WHERE t.tier_name = NEW.tier_name AND t.discovered;
	RETURN CASE WHEN FOUND THEN NULL ELSE NEW END;
END
$$;
COMMENT ON FUNCTION tiered_storage.tier_before_insert() IS
'trigger: a discovered tier or tablespace assignment gives way to one that is dumped or made by hand';
CREATE TRIGGER tier_before_insert BEFORE INSERT ON tiered_storage.tier
	FOR EACH ROW EXECUTE FUNCTION tiered_storage.tier_before_insert();
CREATE TRIGGER tier_tablespace_before_insert BEFORE INSERT ON tiered_storage.tier_tablespace
	FOR EACH ROW EXECUTE FUNCTION tiered_storage.tier_before_insert();

/* A discovered tier that a policy or a pin uses has to come along with it. */
SELECT pg_catalog.pg_extension_config_dump('tiered_storage.tier',
	'WHERE NOT discovered OR tier_name OPERATOR(pg_catalog.=) ANY (SELECT p.tier_name FROM tiered_storage.policy p UNION ALL SELECT p.tier_name FROM tiered_storage.pin p)');
SELECT pg_catalog.pg_extension_config_dump('tiered_storage.tier_tablespace',
	'WHERE NOT discovered OR tier_name OPERATOR(pg_catalog.=) ANY (SELECT p.tier_name FROM tiered_storage.policy p UNION ALL SELECT p.tier_name FROM tiered_storage.pin p)');

CREATE FUNCTION tiered_storage.tablespace_devices(
	OUT tablespace_name name, OUT tablespace_oid oid, OUT path text,
	OUT path_exists boolean, OUT writable boolean, OUT device text,
	OUT filesystem text, OUT mount_point text, OUT kind text,
	OUT rotational boolean, OUT is_virtual boolean, OUT compressed boolean,
	OUT file_system_id bigint, OUT total_bytes bigint, OUT free_bytes bigint,
	OUT profile text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_tablespace_devices';
COMMENT ON FUNCTION tiered_storage.tablespace_devices() IS
'the directory, device and file system beneath each tablespace but pg_global';

CREATE FUNCTION tiered_storage.tablespace_claims(
	OUT tablespace_oid oid, OUT database_oid oid, OUT tier_name name)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_tablespace_claims';
COMMENT ON FUNCTION tiered_storage.tablespace_claims() IS
'which database defines a tablespace as part of which tier, as the workers have published it; empty without shared_preload_libraries';

/*
 * Priors from published measurements; calibration and the user replace them.
 * The time of a random operation is its latency, parallelism how many the
 * device serves at once.  Prices only give the curves a shape until the user
 * sets his own.
 */
CREATE FUNCTION tiered_storage.device_profiles(
	OUT profile text, OUT random_read_ms float8, OUT random_write_ms float8,
	OUT sequential_read_mb_per_s float8, OUT sequential_write_mb_per_s float8,
	OUT fsync_ms float8, OUT parallelism float8, OUT price_per_gb_month numeric,
	OUT endurance_dwpd float8)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	VALUES
		('memory'::text,   0.001::float8, 0.001::float8, 8000::float8, 8000::float8, 0.001::float8, 8::float8, 2.0::numeric, NULL::float8),
		('nvme',           0.09,  0.16,  6500, 3500, 0.1, 32, 0.10,  1.3),
		('sata_ssd',       0.15,  0.33,  530,  500,  0.5, 10, 0.08,  1.0),
		('cloud_gp3',      1.0,   1.0,   131,  131,  2.0, 3,  0.08,  NULL),
		('cloud_st1',      2.0,   2.0,   40,   40,   10,  1,  0.045, NULL),
		('hdd_15k',        4.9,   5.0,   200,  200,  5.0, 1,  0.05,  NULL),
		('hdd_7200',       12.4,  10.0,  150,  150,  8.0, 1,  0.025, NULL)
$$;
COMMENT ON FUNCTION tiered_storage.device_profiles() IS
'device profiles to choose from in add_tier(), with the figures assumed until they are measured or given';

/* Restores and renames included: which tablespace of this cluster a row means. */
CREATE VIEW tiered_storage.tier_tablespaces AS
	SELECT tt.tier_name, t.rank, ts.oid AS tablespace_oid, ts.spcname AS tablespace_name,
		tt.discovered, tt.tablespace_name AS stored_name
	FROM tiered_storage.tier_tablespace tt
	JOIN tiered_storage.tier t ON t.tier_name OPERATOR(pg_catalog.=) tt.tier_name
	CROSS JOIN pg_catalog.pg_control_system() c
	JOIN pg_catalog.pg_tablespace ts
		ON CASE WHEN tt.system_identifier OPERATOR(pg_catalog.=) c.system_identifier
			THEN ts.oid OPERATOR(pg_catalog.=) tt.tablespace_oid
			ELSE ts.spcname OPERATOR(pg_catalog.=) tt.tablespace_name END;
COMMENT ON VIEW tiered_storage.tier_tablespaces IS
'the existing tablespaces of each tier; renames and restores into another cluster are resolved';

/* Makes room in the order of ranks for a tier of that speed, and says where. */
CREATE FUNCTION tiered_storage.tier_make_rank(name name, random_read_ms float8, compressed boolean) RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	new_rank integer;
BEGIN
	/* Where there is no room for one more, they are numbered anew in their order. */
	IF EXISTS (SELECT FROM tiered_storage.tier t WHERE t.rank >= 1000000) THEN
		UPDATE tiered_storage.tier t SET rank = r.place
			FROM (SELECT x.tier_name, dense_rank() OVER (ORDER BY x.rank) - 1 AS place FROM tiered_storage.tier x) r
			WHERE r.tier_name = t.tier_name;
	END IF;
	SELECT COALESCE(max(t.rank) + 1, 0) INTO new_rank
		FROM tiered_storage.tier t
		WHERE (t.compressed, t.random_read_ms) <= (tier_make_rank.compressed, tier_make_rank.random_read_ms)
			AND t.tier_name <> tier_make_rank.name;
	UPDATE tiered_storage.tier t SET rank = t.rank + 1
		WHERE t.rank >= new_rank
			AND EXISTS (SELECT FROM tiered_storage.tier o
				WHERE o.rank = new_rank AND o.tier_name <> tier_make_rank.name);
	RETURN new_rank;
END
$$;
COMMENT ON FUNCTION tiered_storage.tier_make_rank(name, float8, boolean) IS
'internal: the rank at which a new tier of this speed belongs; slower tiers are shifted by one';

CREATE FUNCTION tiered_storage.discover_tiers(
	OUT tier_name name, OUT tablespace_name name, OUT device text,
	OUT kind text, OUT action text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '30s' SET session_replication_role = origin
AS $$
#variable_conflict use_column
DECLARE
	d record;
	p record;
	has_sata boolean;
	is_new boolean;
BEGIN
	LOCK TABLE tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE;
	PERFORM tiered_storage.refresh_tablespaces();

	has_sata := EXISTS (SELECT FROM tiered_storage.tablespace_devices() x
		WHERE x.kind = 'sata_ssd' AND NOT x.compressed);

	FOR d IN
		SELECT x.*, r.tier_name AS known_tier, c.tier_name AS claimed_tier
		FROM tiered_storage.tablespace_devices() x
		LEFT JOIN tiered_storage.tier_tablespaces r ON r.tablespace_oid = x.tablespace_oid
		LEFT JOIN LATERAL (
			SELECT k.tier_name FROM tiered_storage.tablespace_claims() k
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
			RETURN NEXT;
			CONTINUE;
		END IF;
		IF NOT d.path_exists THEN
			tier_name := NULL;
			action := pg_catalog.format('skipped: directory "%s" cannot be read', d.path);
			RETURN NEXT;
			CONTINUE;
		END IF;

		/* What another database of the cluster calls it, else by the device. */
		tier_name := COALESCE(d.claimed_tier,
			CASE
				WHEN d.compressed THEN 'compressed'
				WHEN d.kind = 'hdd' THEN 'hdd'
				WHEN d.kind = 'sata_ssd' THEN 'ssd'
				WHEN d.kind = 'nvme' AND has_sata THEN 'nvme'
				WHEN d.kind = 'nvme' THEN 'ssd'
				WHEN d.kind = 'memory' THEN 'memory'
				ELSE 'unknown'
			END);

		is_new := NOT EXISTS (SELECT FROM tiered_storage.tier t
			WHERE t.tier_name = discover_tiers.tier_name);
		IF is_new THEN
			/* A device of unknown kind is taken for a decent one until somebody says. */
			SELECT * INTO STRICT p FROM tiered_storage.device_profiles() q
				WHERE q.profile = COALESCE(d.profile, CASE WHEN d.is_virtual THEN 'cloud_gp3' ELSE 'sata_ssd' END);
			INSERT INTO tiered_storage.tier
				VALUES (discover_tiers.tier_name,
					tiered_storage.tier_make_rank(discover_tiers.tier_name, p.random_read_ms, COALESCE(d.compressed, false)),
					p.profile, p.random_read_ms, p.random_write_ms,
					p.sequential_read_mb_per_s, p.sequential_write_mb_per_s,
					p.fsync_ms, p.parallelism, p.price_per_gb_month, true,
					NULL, 0.15, 0.80, 0.90, NULL, NULL, COALESCE(d.compressed, false), NULL, true);
		END IF;
		INSERT INTO tiered_storage.tier_tablespace
			SELECT d.tablespace_name, d.tablespace_oid, c.system_identifier, discover_tiers.tier_name,
				(SELECT t.discovered FROM tiered_storage.tier t
					WHERE t.tier_name = discover_tiers.tier_name)
			FROM pg_catalog.pg_control_system() c;
		action := CASE WHEN is_new THEN 'tier created' ELSE 'added to tier' END
			|| CASE WHEN d.is_virtual
				THEN '; virtual disk: what is beneath cannot be known, set its profile with alter_tier()'
				ELSE '' END;
		RETURN NEXT;
	END LOOP;
END
$$;
COMMENT ON FUNCTION tiered_storage.discover_tiers() IS
'puts each tablespace that belongs to no tier yet into one by the device beneath it, creating the tier where needed; returns what it found and did';

/* One place for what a tier's numbers may be; names the argument it refuses. */
CREATE FUNCTION tiered_storage.tier_check_values(t tiered_storage.tier) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	bad text;
BEGIN
	SELECT pg_catalog.format('%s is %s, and must be between %s and %s', v.what, v.value, v.least, v.most) INTO bad
	FROM (VALUES
		('random_read_ms', t.random_read_ms, 1e-6, 1e6),
		('random_write_ms', t.random_write_ms, 1e-6, 1e6),
		('sequential_read_mb_per_s', t.sequential_read_mb_per_s, 1e-6, 1e9),
		('sequential_write_mb_per_s', t.sequential_write_mb_per_s, 1e-6, 1e9),
		('fsync_ms', t.fsync_ms, 1e-6, 1e6),
		('parallelism', t.parallelism, 1e-3, 1e6),
		('endurance_tbw', t.endurance_tbw, 1e-9, 1e12),
		('endurance_dwpd', t.endurance_dwpd, 1e-9, 1e6)) v (what, value, least, most)
	WHERE NOT v.value BETWEEN v.least AND v.most
	LIMIT 1;
	IF bad IS NOT NULL THEN
		RAISE EXCEPTION 'invalid device profile for tier "%"', t.tier_name
			USING ERRCODE = 'invalid_parameter_value', DETAIL = bad || '.',
				HINT = 'Times, rates, parallelism and endurance are positive finite numbers.';
	END IF;
	IF NOT (t.price_per_gb_month = 0 OR t.price_per_gb_month BETWEEN 1e-9 AND 1e9) THEN
		RAISE EXCEPTION 'invalid price for tier "%": %', t.tier_name, left(t.price_per_gb_month::text, 40)
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'The price per GB and month is zero, or between 0.000000001 and 1000000000.';
	END IF;
	IF NOT t.rank BETWEEN 0 AND 1000000 THEN
		RAISE EXCEPTION 'invalid rank for tier "%": %', t.tier_name, t.rank
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'Ranks count from 0, the fastest tier, and are at most a million.';
	END IF;
	IF NOT (t.reserve_fraction >= 0 AND t.reserve_fraction < 1) THEN
		RAISE EXCEPTION 'invalid reserve fraction for tier "%": %', t.tier_name, t.reserve_fraction
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'The reserve is a fraction of the capacity: at least 0 and below 1.';
	END IF;
	IF NOT (t.low_watermark > 0 AND t.low_watermark < t.high_watermark AND t.high_watermark <= 1) THEN
		RAISE EXCEPTION 'invalid watermarks for tier "%": low % and high %',
			t.tier_name, t.low_watermark, t.high_watermark
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'Watermarks are fractions of the capacity with 0 < low < high <= 1.';
	END IF;
	IF NOT t.compression_ratio BETWEEN 1 AND 1e6 OR
		t.compression_ratio IS NOT NULL AND NOT t.compressed THEN
		RAISE EXCEPTION 'invalid compression ratio for tier "%": %', t.tier_name, t.compression_ratio
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'On a compressed tier, it is how many bytes fit into one: from 1 to 1e6.';
	END IF;
	IF NOT t.capacity_bytes BETWEEN 1 AND 1152921504606846976 THEN
		RAISE EXCEPTION 'invalid capacity for tier "%": % bytes', t.tier_name, t.capacity_bytes
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'It is positive, and an exbibyte at most. Leave capacity_bytes out to use the size of the file system.';
	END IF;
END
$$;
COMMENT ON FUNCTION tiered_storage.tier_check_values(tiered_storage.tier) IS
'internal: refuses numbers that a tier cannot have';

/*
 * Makes `tablespaces` the tablespaces of the tier.  Takes them over from a
 * tier that was only discovered; one that a person defined keeps its own.  If
 * they are not `given`, but the tier's own already, what other databases call
 * them is no reason to refuse: a tier that two databases have must be renamed
 * in one of them first.  Until then their workers move nothing.
 */
CREATE FUNCTION tiered_storage.tier_set_tablespaces(tier name, tablespaces name[], given boolean) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	spc name;
	spc_oid oid;
	other record;
	total bigint;
	capacity bigint;
BEGIN
	IF tablespaces IS NULL OR cardinality(tablespaces) = 0 THEN
		RAISE EXCEPTION 'tier "%" needs at least one tablespace', tier
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'Create one with CREATE TABLESPACE; pg_default is a tablespace too.';
	END IF;
	IF array_ndims(tablespaces) <> 1 OR array_position(tablespaces, NULL) IS NOT NULL THEN
		RAISE EXCEPTION 'tablespaces of tier "%" must be a one-dimensional array without nulls', tier
			USING ERRCODE = 'invalid_parameter_value';
	END IF;

	FOREACH spc IN ARRAY tablespaces LOOP
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
			FROM tiered_storage.tier_tablespaces r
			JOIN tiered_storage.tier t ON t.tier_name = r.tier_name
			WHERE r.tablespace_oid = spc_oid AND r.tier_name <> tier;
		IF FOUND THEN
			IF NOT other.discovered THEN
				RAISE EXCEPTION 'tablespace "%" already belongs to tier "%"', spc, other.tier_name
					USING ERRCODE = 'object_in_use',
						HINT = pg_catalog.format('Take it out of that tier first with tiered_storage.alter_tier(%L, tablespaces => ...), or remove_tier(%1$L).', other.tier_name);
			END IF;
			RAISE NOTICE 'tablespace "%" is taken over from the discovered tier "%"', spc, other.tier_name;
		END IF;
		SELECT c.tier_name, b.datname INTO other
			FROM tiered_storage.tablespace_claims() c
			JOIN pg_catalog.pg_database b ON b.oid = c.database_oid
			WHERE given AND c.tablespace_oid = spc_oid AND c.tier_name <> tier
				AND b.datname <> pg_catalog.current_database();
		IF FOUND THEN
			RAISE EXCEPTION 'tablespace "%" belongs to tier "%" in database "%"', spc, other.tier_name, other.datname
				USING ERRCODE = 'object_in_use',
					DETAIL = 'A tablespace is shared by all databases, which must agree on its tier.',
					HINT = 'Use the same tier name here, or change it there first.';
		END IF;
	END LOOP;

	DELETE FROM tiered_storage.tier_tablespace tt
		USING tiered_storage.tier_tablespaces r
		WHERE tt.tablespace_name = r.stored_name
			AND (r.tier_name = tier OR r.tablespace_name = ANY (tablespaces));
	DELETE FROM tiered_storage.tier_tablespace tt WHERE tt.tablespace_name = ANY (tablespaces);
	INSERT INTO tiered_storage.tier_tablespace
		SELECT DISTINCT s.spcname, s.oid, c.system_identifier, tier, false
		FROM pg_catalog.pg_tablespace s, pg_catalog.pg_control_system() c
		WHERE s.spcname = ANY (tablespaces);
	DELETE FROM tiered_storage.tier t
		WHERE t.discovered AND t.tier_name <> tier
			AND NOT EXISTS (SELECT FROM tiered_storage.tier_tablespace tt WHERE tt.tier_name = t.tier_name)
			AND NOT EXISTS (SELECT FROM tiered_storage.policy p WHERE p.tier_name = t.tier_name)
			AND NOT EXISTS (SELECT FROM tiered_storage.pin p WHERE p.tier_name = t.tier_name);

	SELECT sum(f.total_bytes) INTO total FROM (
		SELECT DISTINCT d.file_system_id, d.total_bytes
		FROM tiered_storage.tablespace_devices() d
		WHERE d.tablespace_name = ANY (tablespaces) AND d.total_bytes >= 0) f;
	SELECT t.capacity_bytes INTO capacity FROM tiered_storage.tier t WHERE t.tier_name = tier;
	IF capacity > total THEN
		RAISE EXCEPTION 'capacity of tier "%" is larger than its file systems', tier
			USING ERRCODE = 'invalid_parameter_value',
				DETAIL = pg_catalog.format('The capacity is %s bytes, the file systems have %s bytes.', capacity, total),
				HINT = 'Leave capacity_bytes out to use the size of the file system.';
	END IF;

	FOR other IN
		SELECT DISTINCT r.tier_name
		FROM tiered_storage.tablespace_devices() d
		JOIN tiered_storage.tablespace_devices() e ON e.file_system_id = d.file_system_id
		JOIN tiered_storage.tier_tablespaces r ON r.tablespace_oid = e.tablespace_oid
		WHERE given AND d.tablespace_name = ANY (tablespaces) AND r.tier_name <> tier
		ORDER BY 1
	LOOP
		RAISE NOTICE 'tiers "%" and "%" share a file system', tier, other.tier_name
			USING HINT = 'Moving data between them frees no space.';
	END LOOP;
END
$$;
COMMENT ON FUNCTION tiered_storage.tier_set_tablespaces(name, name[], boolean) IS
'internal: checks and stores the tablespaces of a tier';

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
	compression_ratio float8 DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '30s' SET session_replication_role = origin
AS $$
DECLARE
	t tiered_storage.tier;
	p record;
	d record;
BEGIN
	IF name IS NULL OR name = '' THEN
		RAISE EXCEPTION 'tier name must not be null or empty'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	LOCK TABLE tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE;
	PERFORM tiered_storage.refresh_tablespaces();
	IF EXISTS (SELECT FROM tiered_storage.tier x WHERE x.tier_name = add_tier.name AND NOT x.discovered) THEN
		RAISE EXCEPTION 'tier "%" already exists', name
			USING ERRCODE = 'duplicate_object',
				HINT = 'Use tiered_storage.alter_tier() to change it.';
	END IF;
	/* The kind of the first tablespace that can be looked at gives the prior. */
	SELECT x.profile, x.compressed INTO d
		FROM pg_catalog.unnest(tablespaces) WITH ORDINALITY s (spcname, i)
		JOIN tiered_storage.tablespace_devices() x ON x.tablespace_name = s.spcname
		ORDER BY s.i LIMIT 1;
	t.profile := COALESCE(add_tier.profile, d.profile, 'sata_ssd');
	SELECT * INTO p FROM tiered_storage.device_profiles() q WHERE q.profile = t.profile;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'device profile "%" does not exist', t.profile
			USING ERRCODE = 'undefined_object',
				HINT = 'SELECT profile FROM tiered_storage.device_profiles() lists the profiles.';
	END IF;

	t.tier_name := add_tier.name;
	t.random_read_ms := COALESCE(add_tier.random_read_ms, p.random_read_ms);
	t.random_write_ms := COALESCE(add_tier.random_write_ms, p.random_write_ms);
	t.sequential_read_mb_per_s := COALESCE(add_tier.sequential_read_mb_per_s, p.sequential_read_mb_per_s);
	t.sequential_write_mb_per_s := COALESCE(add_tier.sequential_write_mb_per_s, p.sequential_write_mb_per_s);
	t.fsync_ms := COALESCE(add_tier.fsync_ms, p.fsync_ms);
	t.parallelism := COALESCE(add_tier.parallelism, p.parallelism);
	t.price_per_gb_month := COALESCE(add_tier.price_per_gb_month, p.price_per_gb_month);
	t.price_is_assumed := add_tier.price_per_gb_month IS NULL;
	t.capacity_bytes := add_tier.capacity_bytes;
	t.reserve_fraction := COALESCE(add_tier.reserve_fraction, 0.15);
	t.low_watermark := COALESCE(add_tier.low_watermark, 0.80);
	t.high_watermark := COALESCE(add_tier.high_watermark, 0.90);
	t.endurance_tbw := add_tier.endurance_tbw;
	t.endurance_dwpd := add_tier.endurance_dwpd;
	t.compressed := COALESCE(add_tier.compressed, d.compressed, false);
	t.compression_ratio := add_tier.compression_ratio;
	t.discovered := false;
	t.rank := add_tier.rank;
	PERFORM tiered_storage.tier_check_values(t);
	t.rank := COALESCE(add_tier.rank, tiered_storage.tier_make_rank(name, t.random_read_ms, t.compressed));

	INSERT INTO tiered_storage.tier SELECT t.*;
	PERFORM tiered_storage.tier_set_tablespaces(name, tablespaces, true);
END
$$;
COMMENT ON FUNCTION tiered_storage.add_tier(name, name[], text, integer, float8, float8, float8, float8, float8, float8, numeric, bigint, float8, float8, float8, float8, float8, boolean, float8) IS
'defines a tier: a class of storage made of one or more tablespaces; figures that are not given come from the profile, and the profile from the device';

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
	compression_ratio float8 DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '30s' SET session_replication_role = origin
AS $$
DECLARE
	t tiered_storage.tier;
	p record;
	u text;
BEGIN
	LOCK TABLE tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE;
	PERFORM tiered_storage.refresh_tablespaces();
	SELECT * INTO t FROM tiered_storage.tier x WHERE x.tier_name = alter_tier.name;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'tier "%" does not exist', name
			USING ERRCODE = 'undefined_object',
				HINT = 'SELECT tier_name FROM tiered_storage.tiers lists the tiers.';
	END IF;
	IF alter_tier.profile IS NOT NULL THEN
		SELECT * INTO p FROM tiered_storage.device_profiles() q WHERE q.profile = alter_tier.profile;
		IF NOT FOUND THEN
			RAISE EXCEPTION 'device profile "%" does not exist', alter_tier.profile
				USING ERRCODE = 'undefined_object',
					HINT = 'SELECT profile FROM tiered_storage.device_profiles() lists the profiles.';
		END IF;
		t.profile := p.profile;
		t.random_read_ms := p.random_read_ms;
		t.random_write_ms := p.random_write_ms;
		t.sequential_read_mb_per_s := p.sequential_read_mb_per_s;
		t.sequential_write_mb_per_s := p.sequential_write_mb_per_s;
		t.fsync_ms := p.fsync_ms;
		t.parallelism := p.parallelism;
		IF t.price_is_assumed THEN
			t.price_per_gb_month := p.price_per_gb_month;
		END IF;
	END IF;
	t.rank := COALESCE(alter_tier.rank, t.rank);
	t.random_read_ms := COALESCE(alter_tier.random_read_ms, t.random_read_ms);
	t.random_write_ms := COALESCE(alter_tier.random_write_ms, t.random_write_ms);
	t.sequential_read_mb_per_s := COALESCE(alter_tier.sequential_read_mb_per_s, t.sequential_read_mb_per_s);
	t.sequential_write_mb_per_s := COALESCE(alter_tier.sequential_write_mb_per_s, t.sequential_write_mb_per_s);
	t.fsync_ms := COALESCE(alter_tier.fsync_ms, t.fsync_ms);
	t.parallelism := COALESCE(alter_tier.parallelism, t.parallelism);
	t.price_per_gb_month := COALESCE(alter_tier.price_per_gb_month, t.price_per_gb_month);
	t.price_is_assumed := t.price_is_assumed AND alter_tier.price_per_gb_month IS NULL;
	t.capacity_bytes := COALESCE(alter_tier.capacity_bytes, t.capacity_bytes);
	t.reserve_fraction := COALESCE(alter_tier.reserve_fraction, t.reserve_fraction);
	t.low_watermark := COALESCE(alter_tier.low_watermark, t.low_watermark);
	t.high_watermark := COALESCE(alter_tier.high_watermark, t.high_watermark);
	t.endurance_tbw := COALESCE(alter_tier.endurance_tbw, t.endurance_tbw);
	t.endurance_dwpd := COALESCE(alter_tier.endurance_dwpd, t.endurance_dwpd);
	t.compressed := COALESCE(alter_tier.compressed, t.compressed);
	t.compression_ratio := COALESCE(alter_tier.compression_ratio, CASE WHEN t.compressed THEN t.compression_ratio END);
	FOREACH u IN ARRAY COALESCE(unset, '{}') LOOP
		CASE u
			WHEN 'capacity_bytes' THEN t.capacity_bytes := NULL;
			WHEN 'endurance_tbw' THEN t.endurance_tbw := NULL;
			WHEN 'endurance_dwpd' THEN t.endurance_dwpd := NULL;
			WHEN 'compression_ratio' THEN t.compression_ratio := NULL;
			ELSE
				RAISE EXCEPTION 'property "%" of a tier cannot be unset', u
					USING ERRCODE = 'invalid_parameter_value',
						HINT = 'capacity_bytes, endurance_tbw, endurance_dwpd and compression_ratio can be unset.';
		END CASE;
	END LOOP;
	PERFORM tiered_storage.tier_check_values(t);

	UPDATE tiered_storage.tier x SET
			rank = t.rank, profile = t.profile,
			random_read_ms = t.random_read_ms, random_write_ms = t.random_write_ms,
			sequential_read_mb_per_s = t.sequential_read_mb_per_s,
			sequential_write_mb_per_s = t.sequential_write_mb_per_s,
			fsync_ms = t.fsync_ms, parallelism = t.parallelism,
			price_per_gb_month = t.price_per_gb_month, price_is_assumed = t.price_is_assumed,
			capacity_bytes = t.capacity_bytes, reserve_fraction = t.reserve_fraction,
			low_watermark = t.low_watermark, high_watermark = t.high_watermark,
			endurance_tbw = t.endurance_tbw, endurance_dwpd = t.endurance_dwpd,
			compressed = t.compressed, compression_ratio = t.compression_ratio, discovered = false
		WHERE x.tier_name = alter_tier.name;
	UPDATE tiered_storage.tier_tablespace x SET discovered = false WHERE x.tier_name = alter_tier.name;
	IF new_name IS NOT NULL AND new_name <> name THEN
		IF new_name = '' THEN
			RAISE EXCEPTION 'tier name must not be null or empty'
				USING ERRCODE = 'invalid_parameter_value';
		END IF;
		IF EXISTS (SELECT FROM tiered_storage.tier x WHERE x.tier_name = new_name) THEN
			RAISE EXCEPTION 'tier "%" already exists', new_name
				USING ERRCODE = 'duplicate_object';
		END IF;
		UPDATE tiered_storage.tier x SET tier_name = new_name WHERE x.tier_name = alter_tier.name;
		t.tier_name := new_name;
	END IF;
	/* Also without a new list: the capacity is checked against the file systems. */
	IF tablespaces IS NOT NULL
		OR EXISTS (SELECT FROM tiered_storage.tier_tablespaces r WHERE r.tier_name = t.tier_name) THEN
		PERFORM tiered_storage.tier_set_tablespaces(t.tier_name,
			COALESCE(tablespaces, (SELECT pg_catalog.array_agg(r.tablespace_name ORDER BY r.tablespace_name)
				FROM tiered_storage.tier_tablespaces r WHERE r.tier_name = t.tier_name)),
			tablespaces IS NOT NULL);
	END IF;
END
$$;
COMMENT ON FUNCTION tiered_storage.alter_tier(name, name, name[], text, integer, float8, float8, float8, float8, float8, float8, numeric, bigint, float8, float8, float8, float8, float8, boolean, text[], float8) IS
'changes a tier; arguments that are null stay as they are, unset => ''{capacity_bytes}'' goes back to the file system''s size';

CREATE FUNCTION tiered_storage.remove_tier(name name, if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '30s' SET session_replication_role = origin
AS $$
DECLARE
	users text;
BEGIN
	LOCK TABLE tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE;
	PERFORM tiered_storage.refresh_tablespaces();
	IF NOT EXISTS (SELECT FROM tiered_storage.tier x WHERE x.tier_name = remove_tier.name) THEN
		IF if_exists THEN
			RAISE NOTICE 'tier "%" does not exist, skipping', name;
			RETURN;
		END IF;
		RAISE EXCEPTION 'tier "%" does not exist', name
			USING ERRCODE = 'undefined_object',
				HINT = 'SELECT tier_name FROM tiered_storage.tiers lists the tiers.';
	END IF;
	SELECT pg_catalog.string_agg(p.relation_name, ', ' ORDER BY p.policy_id) INTO users
		FROM tiered_storage.policies p WHERE p.tier_name = remove_tier.name;
	IF users IS NOT NULL THEN
		RAISE EXCEPTION 'tier "%" is used by a tiering policy', name
			USING ERRCODE = 'dependent_objects_still_exist',
				DETAIL = pg_catalog.format('Policies on %s move partitions there.', users),
				HINT = 'Remove them first with tiered_storage.remove_tiering_policy().';
	END IF;
	/* What is pinned by nothing any more cannot be unpinned either. */
	DELETE FROM tiered_storage.pin p USING tiered_storage.pin_targets v
		WHERE v.pin_id = p.pin_id AND p.tier_name = remove_tier.name
			AND (v.relation_oid IS NULL OR v.until <= now());
	SELECT pg_catalog.string_agg(v.relation_name, ', ' ORDER BY v.pin_id) INTO users
		FROM tiered_storage.pin_targets v WHERE v.tier_name = remove_tier.name;
	IF users IS NOT NULL THEN
		RAISE EXCEPTION 'tier "%" is used by a pin', name
			USING ERRCODE = 'dependent_objects_still_exist',
				DETAIL = pg_catalog.format('It is where %s is pinned.', users),
				HINT = 'Remove the pins first with tiered_storage.unpin().';
	END IF;
	DELETE FROM tiered_storage.tier x WHERE x.tier_name = remove_tier.name;
END
$$;
COMMENT ON FUNCTION tiered_storage.remove_tier(name, boolean) IS
'forgets a tier; its tablespaces and the data in them stay as they are';

/*
 * What was measured, newest first by calibrated_at; previous is what the tier
 * had then.  Belongs to this machine: not dumped.
 */
CREATE TABLE tiered_storage.tier_calibration
(
	tier_name name NOT NULL REFERENCES tiered_storage.tier ON UPDATE CASCADE ON DELETE CASCADE,
	calibrated_at timestamptz NOT NULL,
	measurement text NOT NULL,
	unit text NOT NULL,
	measured float8 NOT NULL CHECK (measured OPERATOR(pg_catalog.>=) 0 AND measured OPERATOR(pg_catalog.<) 'Infinity'),
	previous float8,
	prior float8,
	tablespace_name name NOT NULL,
	PRIMARY KEY (tier_name, calibrated_at, measurement)
);
COMMENT ON TABLE tiered_storage.tier_calibration IS
'what calibrate_tier() measured: the last ten times of each tier, with what the tier''s figures were before, and those of its device profile';

CREATE FUNCTION tiered_storage.measure_device(
	tablespace_oid oid, max_seconds float8, max_bytes bigint, reserve_fraction float8,
	compressed boolean, sample_relation oid,
	OUT measurement text, OUT value float8, OUT unit text)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'tier_measure_device';
COMMENT ON FUNCTION tiered_storage.measure_device(oid, float8, bigint, float8, boolean, oid) IS
'internal: measures reads, writes and syncs on a scratch file in a tablespace; see calibrate_tier()';

/*
 * A device is told by its slowest habit, which is to seek.  More than five times
 * off is no other device of the same kind.
 */
CREATE FUNCTION tiered_storage.calibration_verdict(
	profile text, random_read_ms float8, sequential_read_mb_per_s float8,
	OUT nearest_profile text, OUT contradiction text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	WITH compared AS (
		SELECT q.*,
			abs(ln(q.random_read_ms / calibration_verdict.random_read_ms)) AS random_distance,
			abs(ln(q.sequential_read_mb_per_s / calibration_verdict.sequential_read_mb_per_s)) AS sequential_distance
		FROM tiered_storage.device_profiles() q),
	nearest AS (
		SELECT c.profile FROM compared c ORDER BY c.random_distance + c.sequential_distance / 4, c.profile LIMIT 1)
	SELECT n.profile, CASE WHEN n.profile <> c.profile THEN NULLIF(concat_ws(' ',
		CASE WHEN c.random_distance > ln(5) THEN format('A random read takes %s ms, not %s.',
			round(calibration_verdict.random_read_ms::numeric, 3), c.random_read_ms) END,
		CASE WHEN c.sequential_distance > ln(5) THEN format('Sequential reads reach %s MB/s, not %s.',
			round(calibration_verdict.sequential_read_mb_per_s::numeric, 1), c.sequential_read_mb_per_s) END), '') END
	FROM nearest n LEFT JOIN compared c ON c.profile = calibration_verdict.profile
$$;
COMMENT ON FUNCTION tiered_storage.calibration_verdict(text, float8, float8) IS
'internal: which device profile is nearest to what was measured, and what contradicts the given one';

CREATE FUNCTION tiered_storage.calibrate_tier(
	name name,
	max_seconds float8 DEFAULT 20,
	max_bytes bigint DEFAULT 268435456,
	dry_run boolean DEFAULT false,
	OUT measurement text, OUT unit text, OUT prior float8, OUT previous float8, OUT measured float8)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '30s' SET session_replication_role = origin SET extra_float_digits = 1
AS $$
#variable_conflict use_column
DECLARE
	t tiered_storage.tier;
	p record;
	spc record;
	m record;
	sample_oid oid := 0;
	verdict record;
	now_at timestamptz := pg_catalog.clock_timestamp();
	figures jsonb;
BEGIN
	IF calibrate_tier.name IS NULL OR calibrate_tier.max_seconds IS NULL
		OR calibrate_tier.max_bytes IS NULL OR calibrate_tier.dry_run IS NULL THEN
		RAISE EXCEPTION 'arguments of calibrate_tier() must not be null'
			USING ERRCODE = 'null_value_not_allowed';
	END IF;
	SELECT * INTO t FROM tiered_storage.tier x WHERE x.tier_name = calibrate_tier.name;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'tier "%" does not exist', calibrate_tier.name
			USING ERRCODE = 'undefined_object',
				HINT = 'SELECT tier_name FROM tiered_storage.tiers lists the tiers.';
	END IF;
	/* One file system may have another amount free with each look. */
	SELECT tt.tablespace_oid, tt.tablespace_name INTO spc
		FROM tiered_storage.tier_tablespaces tt
		JOIN tiered_storage.tablespace_devices() d ON d.tablespace_oid = tt.tablespace_oid
		WHERE tt.tier_name = t.tier_name
		ORDER BY d.path_exists AND d.writable DESC,
			max(d.free_bytes) OVER (PARTITION BY d.file_system_id) DESC NULLS LAST, tt.tablespace_name LIMIT 1;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'tier "%" has no tablespace', t.tier_name
			USING ERRCODE = 'object_not_in_prerequisite_state',
				HINT = 'Give it one with tiered_storage.alter_tier(name, tablespaces => ...).';
	END IF;
	IF t.compressed THEN
		/* Compressible as this database's own largest table is. */
		SELECT r.relation_oid INTO sample_oid FROM tiered_storage.relation_state r
			WHERE r.kind IN ('r', 'm', 't') AND r.size_bytes > 0
			ORDER BY r.size_bytes DESC LIMIT 1;
		sample_oid := COALESCE(sample_oid, 'pg_catalog.pg_proc'::regclass);
	END IF;

	SELECT * INTO p FROM tiered_storage.device_profiles() q WHERE q.profile = t.profile;
	FOR m IN
		SELECT * FROM tiered_storage.measure_device(spc.tablespace_oid, calibrate_tier.max_seconds,
			calibrate_tier.max_bytes, t.reserve_fraction, t.compressed, sample_oid)
	LOOP
		measurement := m.measurement;
		unit := m.unit;
		measured := m.value;
		prior := CASE m.measurement
			WHEN 'random_read_ms' THEN p.random_read_ms WHEN 'random_write_ms' THEN p.random_write_ms
			WHEN 'sequential_read_mb_per_s' THEN p.sequential_read_mb_per_s
			WHEN 'sequential_write_mb_per_s' THEN p.sequential_write_mb_per_s
			WHEN 'fsync_ms' THEN p.fsync_ms WHEN 'parallelism' THEN p.parallelism END;
		previous := CASE m.measurement
			WHEN 'random_read_ms' THEN t.random_read_ms WHEN 'random_write_ms' THEN t.random_write_ms
			WHEN 'sequential_read_mb_per_s' THEN t.sequential_read_mb_per_s
			WHEN 'sequential_write_mb_per_s' THEN t.sequential_write_mb_per_s
			WHEN 'fsync_ms' THEN t.fsync_ms WHEN 'parallelism' THEN t.parallelism END;
		IF NOT dry_run THEN
			INSERT INTO tiered_storage.tier_calibration
				VALUES (t.tier_name, now_at, measurement, unit, measured, previous, prior, spc.tablespace_name);
		END IF;
		IF previous IS NOT NULL THEN
			figures := COALESCE(figures, '{}') || pg_catalog.jsonb_build_object(measurement, measured);
		END IF;
		RETURN NEXT;
	END LOOP;

	SELECT * INTO verdict FROM tiered_storage.calibration_verdict(t.profile,
		(figures ->> 'random_read_ms')::float8, (figures ->> 'sequential_read_mb_per_s')::float8);
	IF verdict.contradiction IS NOT NULL THEN
		RAISE WARNING 'what was measured contradicts the profile "%" of tier "%"', t.profile, t.tier_name
			USING DETAIL = verdict.contradiction,
				HINT = pg_catalog.format('It is more like "%s". Caches in the device and limits of a virtual machine can be the reason.', verdict.nearest_profile);
	END IF;
	IF dry_run THEN
		RETURN;
	END IF;

	UPDATE tiered_storage.tier x SET
			random_read_ms = COALESCE((figures ->> 'random_read_ms')::float8, x.random_read_ms),
			random_write_ms = COALESCE((figures ->> 'random_write_ms')::float8, x.random_write_ms),
			sequential_read_mb_per_s = COALESCE((figures ->> 'sequential_read_mb_per_s')::float8, x.sequential_read_mb_per_s),
			sequential_write_mb_per_s = COALESCE((figures ->> 'sequential_write_mb_per_s')::float8, x.sequential_write_mb_per_s),
			fsync_ms = COALESCE((figures ->> 'fsync_ms')::float8, x.fsync_ms),
			parallelism = COALESCE((figures ->> 'parallelism')::float8, x.parallelism)
		WHERE x.tier_name = t.tier_name;
	DELETE FROM tiered_storage.tier_calibration x
		WHERE x.tier_name = t.tier_name AND x.calibrated_at < (
			SELECT min(k.calibrated_at) FROM (SELECT DISTINCT y.calibrated_at
				FROM tiered_storage.tier_calibration y WHERE y.tier_name = t.tier_name
				ORDER BY 1 DESC LIMIT 10) k);
END
$$;
COMMENT ON FUNCTION tiered_storage.calibrate_tier(name, float8, bigint, boolean) IS
'measures the devices of a tier on a scratch file of at most max_bytes, in about max_seconds, and takes what it finds for the tier''s figures, unless dry_run; shows them beside those of before and of the profile';

/*
 * What the planner is told of a tablespace.  It wants the price of a page read at
 * random relative to one read in sequence, as it is on average: the server's
 * default of 4 stands for a disk that is 40 times slower at random, and nine
 * reads of ten found in memory.  The same rule gives the others; but a backend
 * takes 5 us for a page however fast it comes, and above 10 no plan changes for the
 * better.
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
			(SELECT GREATEST(0.005, min(8192 / 1e3 / f.sequential_read_mb_per_s)) FROM tiered_storage.tiers f) AS fastest_page_ms
		FROM tiered_storage.tiers t),
	costs AS (
		SELECT f.*,
			/* One read of ten reaches the device, of a tier as of the fastest one. */
			round((1 + 0.1 * (f.sequential_page_ms / f.fastest_page_ms - 1))::numeric, 2) AS seq_page_cost,
			round(LEAST(10, GREATEST(1.1, 0.1 * f.random_read_ms / f.sequential_page_ms))::numeric
				* (1 + 0.1 * (f.sequential_page_ms / f.fastest_page_ms - 1))::numeric, 2) AS random_page_cost,
			LEAST(1000, GREATEST(1, round(f.parallelism)))::integer AS io_concurrency
		FROM figures f),
	advice AS (
		SELECT c.tier_name, tt.tablespace_name, s.spcoptions, c.calibrated_at, a.setting, a.value, a.reason
		FROM costs c
		JOIN tiered_storage.tier_tablespaces tt ON tt.tier_name = c.tier_name
		JOIN pg_tablespace s ON s.oid = tt.tablespace_oid
		CROSS JOIN LATERAL (VALUES
			('seq_page_cost', c.seq_page_cost::text,
				format('a page in sequence takes %s us, on the fastest tier %s us; one of ten is taken to come from the device',
					round((c.sequential_page_ms * 1000)::numeric, 1), round((c.fastest_page_ms * 1000)::numeric, 1))),
			('random_page_cost', c.random_page_cost::text,
				format('a page at random takes %s ms, that is %s times as long as one in sequence; one of ten is taken to come from the device',
					round(c.random_read_ms::numeric, 3), round((c.random_read_ms / c.sequential_page_ms)::numeric))),
			('effective_io_concurrency', c.io_concurrency::text,
				format('the device serves %s requests at once', round(c.parallelism::numeric, 1)))
		) a (setting, value, reason)),
	compared AS (
		SELECT a.*, COALESCE(
			(SELECT o.option_value FROM pg_options_to_table(a.spcoptions) o WHERE o.option_name = a.setting),
			current_setting(a.setting)) AS current_value
		FROM advice a)
	SELECT c.tier_name, c.tablespace_name, c.setting, c.current_value, c.value, c.calibrated_at,
		c.reason || CASE WHEN c.calibrated_at IS NULL THEN ' (by its profile: not calibrated)' ELSE '' END,
		format('ALTER TABLESPACE %I SET (%s = %s);', c.tablespace_name, c.setting, c.value)
	FROM compared c
	WHERE c.current_value::numeric <> c.value::numeric
	ORDER BY c.tier_name, c.tablespace_name, c.setting
$$;
COMMENT ON FUNCTION tiered_storage.recommend_settings() IS
'what the planner should know of each tablespace, by the figures of its tier, where that differs from what is set now, and the statement that sets it; nothing is changed';

---------------------------------------------------------------------------
-- Observation
---------------------------------------------------------------------------

/*
 * One row per relation: the counters at the last look, and the smoothed rates
 * that were right at heat_at.  An idle relation's row is not touched: rates
 * decay by the clock when they are read.
 */
CREATE TABLE tiered_storage.relation_state
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
	heat_at timestamptz NOT NULL,
	observed_since timestamptz NOT NULL,
	sampled_since timestamptz NOT NULL,
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
	maintenance_writes_fast float8 NOT NULL,
	wal_bytes_fast float8 NOT NULL,
	image_bytes_fast float8 NOT NULL,
	device_random_fast float8 NOT NULL,
	device_random_slow float8 NOT NULL,
	device_sequential_fast float8 NOT NULL,
	device_sequential_slow float8 NOT NULL,
	source "char" NOT NULL DEFAULT 's',
	maintenance bigint NOT NULL DEFAULT 0,
	other_fast float8 NOT NULL DEFAULT 0,
	other_slow float8 NOT NULL DEFAULT 0,
	total_random_reads float8 NOT NULL DEFAULT 0,
	total_sequential_reads float8 NOT NULL DEFAULT 0,
	total_scans float8 NOT NULL DEFAULT 0,
	total_page_writes float8 NOT NULL DEFAULT 0,
	total_row_changes float8 NOT NULL DEFAULT 0
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.1);
COMMENT ON TABLE tiered_storage.relation_state IS
'counters and smoothed rates of each relation at the last sample; use the view tiered_storage.heat';
COMMENT ON COLUMN tiered_storage.relation_state.observed_since IS
'begin of the time that the rates speak of, the time before the first sample included where the server''s statistics covered it';
COMMENT ON COLUMN tiered_storage.relation_state.sampled_since IS
'the first sample that saw this relation';
COMMENT ON COLUMN tiered_storage.relation_state.total_random_reads IS
'reads that are taken to have reached the device since the first sample; this and the other totals include those of a table''s TOAST table';
COMMENT ON COLUMN tiered_storage.relation_state.placed_at IS
'when it came to this tablespace, or was first seen there; NULL: it has been there since the first sample';
COMMENT ON COLUMN tiered_storage.relation_state.os_cached_bytes IS
'how much of the file was in the page cache of the operating system when it was last looked at; -1: unknown';

/*
 * Every table of ours has a key, also those that only grow at one end and are
 * emptied at the other: without one, UPDATE and DELETE fail as soon as somebody
 * makes a publication FOR ALL TABLES.  Here the key costs 28 bytes beside a row
 * of 92 and is written at its right end only.  REPLICA IDENTITY FULL would cost
 * nothing here, but a subscriber would read its whole table for each row that is
 * deleted.  The key also finds the first period, and what is too old.
 */
CREATE TABLE tiered_storage.relation_history
(
	period_start timestamptz NOT NULL,
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
COMMENT ON TABLE tiered_storage.relation_history IS
'what each active relation did in a period; idle relations have no row; recent rows are one sample, older ones are rolled up to an hour';

/* One row: when, how long, how much; what tells a reset from a slow hour. */
CREATE TABLE tiered_storage.sampler
(
	singleton boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (singleton),
	last_sample_at timestamptz NOT NULL,
	last_duration_ms float8 NOT NULL,
	last_relations integer NOT NULL,
	last_active integer NOT NULL,
	samples bigint NOT NULL,
	counter_resets bigint NOT NULL,
	rolled_up_until timestamptz,
	wal_position pg_lsn,
	wal_since timestamptz,
	last_wal_bytes bigint,
	last_wal_read_bytes bigint,
	last_wal_scale float8,
	last_wal_unattributed_bytes bigint,
	changed_pages bytea
);
COMMENT ON TABLE tiered_storage.sampler IS 'the last sample: when, how long it took, how many relations were active';

COMMENT ON COLUMN tiered_storage.sampler.wal_position IS
'the WAL before this position was looked at, all or a part of it; NULL while tiered_storage.wal_sample_size is 0';
COMMENT ON COLUMN tiered_storage.sampler.wal_since IS
'since when the writes of the relations are counted from the WAL';
COMMENT ON COLUMN tiered_storage.sampler.last_wal_bytes IS
'WAL that the server wrote between the last two samples';
COMMENT ON COLUMN tiered_storage.sampler.last_wal_read_bytes IS
'as much of it as was read; tiered_storage.wal_sample_size is the limit';
COMMENT ON COLUMN tiered_storage.sampler.last_wal_scale IS
'what was counted was multiplied by this, to stand for all of the WAL; NULL when none of it could be read any more';
COMMENT ON COLUMN tiered_storage.sampler.last_wal_unattributed_bytes IS
'WAL that belongs to no relation that is sampled: catalogs, other databases, commits, new files that no relation had yet';
COMMENT ON COLUMN tiered_storage.sampler.changed_pages IS
'internal: a sample of the pages changed since the last checkpoint, while full_page_writes is off';

CREATE PROCEDURE tiered_storage.sample()
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_sample_sql';
COMMENT ON PROCEDURE tiered_storage.sample() IS
'reads the counters, sizes and cached blocks of all relations of this database and adds them to the history; the worker calls the same code';

CREATE FUNCTION tiered_storage.relation_buffers(
	OUT relation regclass, OUT tablespace_oid oid, OUT file_number oid,
	OUT cached_buffers bigint, OUT dirty_buffers bigint, OUT usage_sum bigint,
	OUT standard_error float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_relation_buffers';
COMMENT ON FUNCTION tiered_storage.relation_buffers() IS
'how many blocks of each relation of this database are in shared buffers, and how many of them are dirty; of more than 4 million buffers a random sample is looked at, and standard_error says how sure cached_buffers is';

CREATE FUNCTION tiered_storage.smoothed_rate(rate float8, idle_s float8, observed_s float8, half_life_s float8)
RETURNS float8
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_smoothed_rate';
COMMENT ON FUNCTION tiered_storage.smoothed_rate(float8, float8, float8, float8) IS
'an exponentially smoothed rate as it is idle_s seconds after it was last advanced, for something observed for observed_s seconds';

CREATE VIEW tiered_storage.heat AS
	SELECT s.relation_oid::pg_catalog.regclass AS relation,
		CASE s.kind WHEN 'r' THEN 'table' WHEN 'i' THEN 'index' WHEN 't' THEN 'toast table'
			WHEN 'm' THEN 'materialized view' ELSE s.kind::pg_catalog.text END AS kind,
		tt.tier_name,
		s.size_bytes,
		tiered_storage.smoothed_rate(s.random_fast, a.idle_s, a.observed_s, 86400) AS random_reads_per_hour,
		tiered_storage.smoothed_rate(s.sequential_fast, a.idle_s, a.observed_s, 86400) AS sequential_reads_per_hour,
		tiered_storage.smoothed_rate(s.device_random_fast, a.idle_s, a.observed_s, 86400) AS device_random_reads_per_hour,
		tiered_storage.smoothed_rate(s.device_sequential_fast, a.idle_s, a.observed_s, 86400) AS device_sequential_reads_per_hour,
		tiered_storage.smoothed_rate(s.changes_fast, a.idle_s, a.observed_s, 86400) AS writes_per_hour,
		tiered_storage.smoothed_rate(s.random_slow, a.idle_s, a.observed_s, 1209600) AS random_reads_14d_per_hour,
		tiered_storage.smoothed_rate(s.sequential_slow, a.idle_s, a.observed_s, 1209600) AS sequential_reads_14d_per_hour,
		tiered_storage.smoothed_rate(s.changes_slow, a.idle_s, a.observed_s, 1209600) AS writes_14d_per_hour,
		tiered_storage.smoothed_rate(s.sequential_low_slow, a.idle_s, a.observed_s, 1209600) AS sequential_reads_low_14d_per_hour,
		tiered_storage.smoothed_rate(s.sequential_high_slow, a.idle_s, a.observed_s, 1209600) AS sequential_reads_high_14d_per_hour,
		tiered_storage.smoothed_rate(s.other_fast, a.idle_s, a.observed_s, 86400) AS other_reads_per_hour,
		tiered_storage.smoothed_rate(s.other_slow, a.idle_s, a.observed_s, 1209600) AS other_reads_14d_per_hour,
		tiered_storage.smoothed_rate(s.hits_slow, a.idle_s, a.observed_s, 1209600) AS hits_14d_per_hour,
		CASE WHEN s.size_bytes OPERATOR(pg_catalog.>) 0 THEN
			LEAST(1.0, s.cached_buffers OPERATOR(pg_catalog.*) 8192.0 OPERATOR(pg_catalog./) s.size_bytes)::pg_catalog.float8 END AS cached_fraction,
		CASE WHEN s.size_bytes OPERATOR(pg_catalog.>) 0 AND s.os_cached_bytes OPERATOR(pg_catalog.>=) 0 THEN
			LEAST(1.0, s.os_cached_bytes OPERATOR(pg_catalog.*) 1.0 OPERATOR(pg_catalog./) s.size_bytes)::pg_catalog.float8 END AS os_cached_fraction,
		s.dirty_buffers,
		s.last_used_at, s.last_written_at, s.rewritten_at, s.placed_at,
		s.sampled_since, s.observed_since, s.heat_at,
		tiered_storage.smoothed_rate(s.standby_fast, a.idle_s, a.observed_s, 86400) AS standby_reads_per_hour,
		CASE s.source WHEN 'e' THEN 'executor' ELSE 'statistics' END AS source,
		tiered_storage.smoothed_rate(s.page_writes_fast, a.idle_s, w.observed_s, 86400) AS page_writes_per_hour,
		tiered_storage.smoothed_rate(s.page_writes_slow, a.idle_s, w.observed_s, 1209600) AS page_writes_14d_per_hour,
		tiered_storage.smoothed_rate(s.maintenance_writes_fast, a.idle_s, w.observed_s, 86400) AS maintenance_writes_per_hour,
		tiered_storage.smoothed_rate(s.wal_bytes_fast, a.idle_s, w.observed_s, 86400) AS wal_bytes_per_hour,
		tiered_storage.smoothed_rate(s.image_bytes_fast, a.idle_s, w.observed_s, 86400) AS full_page_image_bytes_per_hour,
		CASE WHEN w.observed_s IS NULL THEN 'statistics' ELSE 'wal' END AS write_source
	FROM tiered_storage.relation_state s
	JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) s.relation_oid
	LEFT JOIN tiered_storage.tier_tablespaces tt ON tt.tablespace_oid OPERATOR(pg_catalog.=) s.tablespace_oid
	CROSS JOIN LATERAL (SELECT
		GREATEST(0, EXTRACT(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-) s.heat_at))::pg_catalog.float8 AS idle_s,
		GREATEST(3600, EXTRACT(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-) s.observed_since))::pg_catalog.float8 AS observed_s) a
	LEFT JOIN LATERAL (SELECT
		GREATEST(3600, EXTRACT(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-)
			GREATEST(x.wal_since, s.observed_since)))::pg_catalog.float8 AS observed_s
		FROM tiered_storage.sampler x
		WHERE x.wal_since IS NOT NULL AND c.relpersistence OPERATOR(pg_catalog.=) 'p') w ON true;
COMMENT ON VIEW tiered_storage.heat IS
'each relation''s smoothed rates per hour as of now: reads are blocks that missed shared buffers, device reads those of them that the page cache did not have either, writes are changed rows; half-life 1 day, and 14 days in the *_14d columns; less than an hour of observation counts as an hour; placed_at is when it was moved where it is, NULL if it has not been moved; page writes (those of vacuum and rewrites are maintenance) and WAL are counted from the WAL, and NULL where write_source is not ''wal''; standby_reads_per_hour are those of the reads that came from standbys; other reads are those of maintenance, which no query needed; source says how random and sequential were told apart when the relation was last active';

CREATE FUNCTION tiered_storage.access_statistics(
	OUT relation regclass, OUT random_reads float8, OUT sequential_reads float8,
	OUT ignored_reads float8, OUT hits float8, OUT plans bigint, OUT standard_error float8,
	OUT measured_reads float8, OUT device_reads float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_access_statistics';
COMMENT ON FUNCTION tiered_storage.access_statistics() IS
'what tracked plans have read of each relation of this database since the last sample, in blocks, extrapolated to all plans: random, sequential, by applications that are ignored, and from shared buffers; the number of these plans, and the standard error of random + sequential reads; measured_reads are those of the sequential ones of which the kernel counted what came from a device, device_reads what did, both NULL until it has counted any';

CREATE FUNCTION tiered_storage.access_tracking(
	OUT available boolean, OUT enabled boolean, OUT complete boolean, OUT sample_rate float8,
	OUT relations integer, OUT max_relations integer, OUT dropped_reads float8)
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_access_tracking';
COMMENT ON FUNCTION tiered_storage.access_tracking() IS
'whether the executor''s reads are tracked: available with shared_preload_libraries, enabled by tiered_storage.track_access, complete since the last sample; relations of all databases that are tracked now and that fit, and reads of this database that found no room since then';

/*
 * One row per device beneath a tablespace: what the kernel counted until the
 * last sample, and how well that is explained by what we say that relations
 * read.  A fit is the sums over periods of x * x, x * y and y * y, where x is
 * what was predicted and y what the device did: fit_* for bytes, random_fit_* for
 * requests, in blocks.
 */
CREATE TABLE tiered_storage.device_state
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
	random_fit_xx float8 NOT NULL,
	random_fit_xy float8 NOT NULL,
	random_fit_yy float8 NOT NULL,
	random_fit_periods float8 NOT NULL,
	cluster_blocks_read bigint NOT NULL,
	cluster_temp_bytes bigint NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE tiered_storage.device_state IS
'counters, smoothed rates and fit of each device at the last sample; use the view tiered_storage.device_io';
COMMENT ON COLUMN tiered_storage.device_state.total_device_ms IS
'time in which the device worked, in all periods since observed_since: no more than it was busy, no more than its requests took together';
COMMENT ON COLUMN tiered_storage.device_state.counters_at IS
'when the counters were read; null: there are none';

CREATE FUNCTION tiered_storage.device_fit(
	fit_xx float8, fit_xy float8, fit_yy float8, fit_periods float8,
	OUT factor float8, OUT residual float8, OUT explained boolean)
RETURNS record
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_device_fit';
COMMENT ON FUNCTION tiered_storage.device_fit(float8, float8, float8, float8) IS
'what the sums in device_state say: bytes of the device for each byte predicted, how much of them that leaves unexplained, and whether that is good enough; null: not known yet';

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
			LEAST(1.0, s.last_busy_ms OPERATOR(pg_catalog./) 1000.0 OPERATOR(pg_catalog./) s.period_s)::pg_catalog.float8 END AS busy_fraction,
		tiered_storage.smoothed_rate(s.reads_fast, p.idle_s, p.observed_s, 86400) OPERATOR(pg_catalog./) 3600 AS reads_1d_per_s,
		tiered_storage.smoothed_rate(s.read_bytes_fast, p.idle_s, p.observed_s, 86400) OPERATOR(pg_catalog./) 3600 AS read_bytes_1d_per_s,
		tiered_storage.smoothed_rate(s.writes_fast, p.idle_s, p.observed_s, 86400) OPERATOR(pg_catalog./) 3600 AS writes_1d_per_s,
		tiered_storage.smoothed_rate(s.write_bytes_fast, p.idle_s, p.observed_s, 86400) OPERATOR(pg_catalog./) 3600 AS write_bytes_1d_per_s,
		CASE WHEN p.idle_s IS NOT NULL THEN
			LEAST(1.0, tiered_storage.smoothed_rate(s.busy_ms_fast, p.idle_s, p.observed_s, 86400) OPERATOR(pg_catalog./) 3600000)::pg_catalog.float8 END AS busy_1d_fraction,
		CASE WHEN s.period_s OPERATOR(pg_catalog.>) 0 THEN s.last_read_bytes END AS read_bytes,
		CASE WHEN s.period_s OPERATOR(pg_catalog.>) 0 THEN s.predicted_bytes END AS predicted_read_bytes,
		CASE WHEN s.period_s OPERATOR(pg_catalog.>) 0 THEN s.foreign_bytes END AS foreign_read_bytes,
		f.factor AS fit_factor, f.residual AS fit_residual,
		r.factor AS random_fit_factor, r.residual AS random_fit_residual, s.fit_periods,
		f.explained AND COALESCE(r.explained, true) AS explained
	FROM tiered_storage.device_state s
	CROSS JOIN LATERAL tiered_storage.device_fit(s.fit_xx, s.fit_xy, s.fit_yy, s.fit_periods) f
	CROSS JOIN LATERAL tiered_storage.device_fit(s.random_fit_xx, s.random_fit_xy, s.random_fit_yy, s.random_fit_periods) r
	CROSS JOIN LATERAL (SELECT NULLIF(s.period_s, 0) AS period_s,
		CASE WHEN s.counters_at IS NOT NULL AND s.observed_since IS NOT NULL THEN
			GREATEST(0, EXTRACT(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-) s.counters_at))::pg_catalog.float8 END AS idle_s,
		GREATEST(3600, EXTRACT(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-) s.observed_since))::pg_catalog.float8 AS observed_s) p
	LEFT JOIN LATERAL (
		SELECT pg_catalog.array_agg(x.spcname ORDER BY x.spcname) AS tablespaces,
			CASE WHEN pg_catalog.count(DISTINCT tt.tier_name) OPERATOR(pg_catalog.=) 1 THEN pg_catalog.min(tt.tier_name::pg_catalog.text)::pg_catalog.name END AS tier_name
		FROM pg_catalog.pg_tablespace x
		LEFT JOIN tiered_storage.tier_tablespaces tt ON tt.tablespace_oid OPERATOR(pg_catalog.=) x.oid
		WHERE x.oid OPERATOR(pg_catalog.=) ANY (s.tablespaces)) t ON true;
COMMENT ON VIEW tiered_storage.device_io IS
'each device beneath a tablespace: what it did between the last two samples, and smoothed with a half-life of a day; what of its reads this database should have caused, what others read from it or another device, and whether the two agree; tier_name is null if it belongs to several';

CREATE FUNCTION tiered_storage.block_heat(
	relation regclass, buckets integer DEFAULT 100,
	OUT bucket integer, OUT first_block bigint, OUT last_block bigint,
	OUT cached_buffers bigint, OUT dirty_buffers bigint, OUT usage_sum bigint,
	OUT os_cached_bytes bigint, OUT heat float8, OUT standard_error float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_block_heat';
COMMENT ON FUNCTION tiered_storage.block_heat(regclass, integer) IS
'which parts of a relation are hot: its blocks in equal ranges, with what of each is in shared buffers and in the page cache; heat is 0 for what is in neither, and 1 for what is in both and used all the time';

CREATE VIEW tiered_storage.tiers AS
	SELECT t.tier_name, t.rank, s.tablespaces, t.profile, s.devices, t.compressed,
		t.random_read_ms, t.random_write_ms,
		t.sequential_read_mb_per_s, t.sequential_write_mb_per_s,
		t.fsync_ms, t.parallelism,
		t.price_per_gb_month, t.price_is_assumed,
		COALESCE(t.capacity_bytes, f.total_bytes) AS capacity_bytes,
		f.total_bytes OPERATOR(pg_catalog.-) f.free_bytes AS used_bytes,
		f.free_bytes,
		COALESCE(r.relation_bytes, 0)::pg_catalog.int8 AS relation_bytes,
		COALESCE(r.relations, 0) AS relations,
		t.reserve_fraction, t.low_watermark, t.high_watermark,
		t.endurance_tbw, t.endurance_dwpd, t.discovered, t.compression_ratio,
		(SELECT pg_catalog.max(k.calibrated_at) FROM tiered_storage.tier_calibration k
			WHERE k.tier_name OPERATOR(pg_catalog.=) t.tier_name) AS calibrated_at
	FROM tiered_storage.tier t
	LEFT JOIN LATERAL (
		SELECT pg_catalog.array_agg(tt.tablespace_name ORDER BY tt.tablespace_name) AS tablespaces,
			pg_catalog.array_agg(DISTINCT d.device) FILTER (WHERE d.device IS NOT NULL) AS devices
		FROM tiered_storage.tier_tablespaces tt
		JOIN tiered_storage.tablespace_devices() d ON d.tablespace_oid OPERATOR(pg_catalog.=) tt.tablespace_oid
		WHERE tt.tier_name OPERATOR(pg_catalog.=) t.tier_name) s ON true
	LEFT JOIN LATERAL (
		SELECT pg_catalog.sum(x.total_bytes)::pg_catalog.int8 AS total_bytes, pg_catalog.sum(x.free_bytes)::pg_catalog.int8 AS free_bytes
		FROM (SELECT DISTINCT ON (d.file_system_id) d.total_bytes, d.free_bytes
			FROM tiered_storage.tier_tablespaces tt
			JOIN tiered_storage.tablespace_devices() d ON d.tablespace_oid OPERATOR(pg_catalog.=) tt.tablespace_oid
			WHERE tt.tier_name OPERATOR(pg_catalog.=) t.tier_name AND d.total_bytes OPERATOR(pg_catalog.>=) 0) x) f ON true
	LEFT JOIN LATERAL (
		SELECT pg_catalog.sum(rs.size_bytes) AS relation_bytes, pg_catalog.count(*) AS relations
		FROM tiered_storage.tier_tablespaces tt
		JOIN tiered_storage.relation_state rs ON rs.tablespace_oid OPERATOR(pg_catalog.=) tt.tablespace_oid
		WHERE tt.tier_name OPERATOR(pg_catalog.=) t.tier_name) r ON true;
COMMENT ON VIEW tiered_storage.tiers IS
'the tiers with their tablespaces, devices, figures and fill: used and free bytes are those of the file systems, relation_bytes those of this database''s relations at the last sample';

/* What the server's own counters say about writing, whatever its version. */
CREATE FUNCTION tiered_storage.server_write_counters(
	OUT checkpoint_bytes bigint, OUT bgwriter_bytes bigint, OUT backend_bytes bigint,
	OUT buffers_since timestamptz, OUT wal_bytes bigint, OUT full_page_images bigint, OUT wal_since timestamptz,
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
		EXECUTE 'SELECT pg_catalog.to_jsonb(c) FROM pg_catalog.pg_stat_checkpointer c' INTO checkpointer;
		EXECUTE $sql$
			SELECT pg_catalog.sum(COALESCE((j ->> 'write_bytes')::numeric, (j ->> 'writes')::numeric * (j ->> 'op_bytes')::numeric, 0)
				+ COALESCE((j ->> 'extend_bytes')::numeric, (j ->> 'extends')::numeric * (j ->> 'op_bytes')::numeric, 0))::bigint
			FROM pg_catalog.pg_stat_io i, LATERAL pg_catalog.to_jsonb(i) j
			WHERE i.object = 'relation' AND i.backend_type NOT IN ('checkpointer', 'background writer')$sql$
			INTO backend_bytes;
		checkpoint_bytes := (checkpointer ->> 'buffers_written')::bigint * block_size;
		buffers_since := GREATEST((checkpointer ->> 'stats_reset')::timestamptz, (bgwriter ->> 'stats_reset')::timestamptz);
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
COMMENT ON FUNCTION tiered_storage.server_write_counters() IS
'internal: what the whole server has written since its counters were reset, from views that differ between versions; see the view server_writes';

---------------------------------------------------------------------------
-- Load
---------------------------------------------------------------------------

/*
 * One row per sample in which this database was not idle; rows of finished
 * hours are rolled up as those of relation_history.  Statistics of this
 * database and waits of its backends; WAL, checkpoints, written buffers and
 * SLRU are those of the whole server.
 */
CREATE TABLE tiered_storage.load_history
(
	period_start timestamptz NOT NULL PRIMARY KEY,
	period_s float8 NOT NULL CHECK (period_s OPERATOR(pg_catalog.>) 0),
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
COMMENT ON TABLE tiered_storage.load_history IS
'what this database and the server did in a period; an idle database has no row; recent rows are one sample, older ones are rolled up to an hour; use load_profile()';
COMMENT ON COLUMN tiered_storage.load_history.wait_sampled_ms IS
'for how long of the period somebody looked what the backends wait for';

CREATE TABLE tiered_storage.load_state
(
	singleton boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (singleton),
	observed_since timestamptz NOT NULL,
	sampled_at timestamptz NOT NULL,
	counters bigint[] NOT NULL
);
COMMENT ON TABLE tiered_storage.load_state IS
'the cumulative counters at the last sample, in the order of the columns of load_history';

CREATE FUNCTION tiered_storage.wait_times(
	OUT wait_class text, OUT wait_s float8, OUT sampled_s float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_wait_times';
COMMENT ON FUNCTION tiered_storage.wait_times() IS
'what the backends of this database have waited for since the server started, by class of file, from a look each tiered_storage.wait_sample_interval; empty without shared_preload_libraries';

CREATE FUNCTION tiered_storage.load_period(from_at timestamptz, to_at timestamptz, OUT begins_at timestamptz, OUT ends_at timestamptz)
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
	SELECT GREATEST(s.observed_since, s.sampled_at - current_setting('tiered_storage.history_retention', true)::interval), s.sampled_at
		INTO observed_since, sampled_at FROM tiered_storage.load_state s;
	IF sampled_at IS NULL OR sampled_at <= observed_since THEN
		RAISE EXCEPTION 'there are no two samples yet that a load could be computed from'
			USING ERRCODE = 'object_not_in_prerequisite_state',
				HINT = 'The worker takes one each tiered_storage.sample_interval; or use CALL tiered_storage.sample().';
	END IF;
	ends_at := LEAST(to_at, sampled_at);
	begins_at := GREATEST(COALESCE(from_at, COALESCE(to_at, sampled_at) - interval '1 hour'), observed_since);
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
COMMENT ON FUNCTION tiered_storage.load_period(timestamptz, timestamptz) IS
'internal: checks a period and cuts it to what has been sampled';

/*
 * A sample that reaches beyond the period counts in part.  Where no row is,
 * the database was idle.
 */
CREATE FUNCTION tiered_storage.load_totals(begins_at timestamptz, ends_at timestamptz,
	OUT place integer, OUT metric text, OUT unit text, OUT total float8)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH part AS (
		SELECT h.*, p.inside_s / h.period_s AS share, p.inside_s
		FROM tiered_storage.load_history h
		CROSS JOIN LATERAL (SELECT h.period_start + h.period_s * interval '1 second' AS period_end) e
		CROSS JOIN LATERAL (SELECT EXTRACT(epoch FROM LEAST(e.period_end, ends_at) - GREATEST(h.period_start, begins_at))::float8 AS inside_s) p
		WHERE h.period_start < ends_at AND e.period_end > begins_at
	), total AS (
		SELECT sum(commits * share) AS commits, sum(rollbacks * share) AS rollbacks,
			sum(GREATEST(blocks_fetched - blocks_hit, 0) * share) AS blocks_read, sum(blocks_hit * share) AS blocks_hit,
			sum(rows_returned * share) AS rows_returned, sum(rows_fetched * share) AS rows_fetched,
			sum(rows_inserted * share) AS rows_inserted, sum(rows_updated * share) AS rows_updated, sum(rows_deleted * share) AS rows_deleted,
			sum(temp_files * share) AS temp_files, sum(temp_bytes * share) AS temp_bytes, sum(deadlocks * share) AS deadlocks,
			sum(wal_records * share) AS wal_records, sum(wal_full_page_images * share) AS wal_full_page_images,
			sum(wal_bytes * share) AS wal_bytes, sum(wal_writes * share) AS wal_writes,
			sum(checkpoints_timed * share) AS checkpoints_timed, sum(checkpoints_requested * share) AS checkpoints_requested,
			sum(buffers_checkpointer * share) AS buffers_checkpointer, sum(buffers_bgwriter * share) AS buffers_bgwriter,
			sum(buffers_backends * share) AS buffers_backends,
			sum(slru_reads * share) AS slru_reads, sum(slru_writes * share) AS slru_writes,
			sum(wait_cpu_ms * share) AS cpu, sum(wait_relations_ms * share) AS relations, sum(wait_wal_ms * share) AS wal,
			sum(wait_temp_ms * share) AS temp, sum(wait_slru_ms * share) AS slru, sum(wait_other_io_ms * share) AS other_io,
			sum(wait_lock_ms * share) AS lock, sum(wait_lwlock_ms * share) AS lwlock, sum(wait_other_ms * share) AS other,
			COALESCE(sum(inside_s) FILTER (WHERE share < 1), 0) AS prorated_s
		FROM part
	)
	SELECT v.*
	FROM total t
	CROSS JOIN LATERAL (VALUES
		(1, 'period', 's', EXTRACT(epoch FROM ends_at - begins_at)::float8),
		(2, 'prorated', 's', prorated_s),
		(3, 'transactions', 'transactions', COALESCE(commits + rollbacks, 0)),
		(4, 'rollbacks', 'transactions', COALESCE(rollbacks, 0)),
		(5, 'block_reads', 'blocks', COALESCE(blocks_read, 0)),
		(6, 'block_hits', 'blocks', COALESCE(blocks_hit, 0)),
		(7, 'hit_ratio', 'ratio', blocks_hit / NULLIF(blocks_hit + blocks_read, 0)),
		(8, 'rows_returned', 'rows', COALESCE(rows_returned, 0)),
		(9, 'rows_fetched', 'rows', COALESCE(rows_fetched, 0)),
		(10, 'rows_inserted', 'rows', COALESCE(rows_inserted, 0)),
		(11, 'rows_updated', 'rows', COALESCE(rows_updated, 0)),
		(12, 'rows_deleted', 'rows', COALESCE(rows_deleted, 0)),
		(13, 'temp_files', 'files', COALESCE(temp_files, 0)),
		(14, 'temp_bytes', 'bytes', COALESCE(temp_bytes, 0)),
		(15, 'deadlocks', 'deadlocks', COALESCE(deadlocks, 0)),
		(16, 'server_wal_records', 'records', COALESCE(wal_records, 0)),
		(17, 'server_wal_full_page_images', 'images', COALESCE(wal_full_page_images, 0)),
		(18, 'server_wal_bytes', 'bytes', COALESCE(wal_bytes, 0)),
		(19, 'server_wal_writes', 'writes', wal_writes),
		(20, 'server_checkpoints_timed', 'checkpoints', COALESCE(checkpoints_timed, 0)),
		(21, 'server_checkpoints_requested', 'checkpoints', COALESCE(checkpoints_requested, 0)),
		(22, 'server_buffers_checkpointer', 'blocks', COALESCE(buffers_checkpointer, 0)),
		(23, 'server_buffers_bgwriter', 'blocks', COALESCE(buffers_bgwriter, 0)),
		(24, 'server_buffers_backends', 'blocks', COALESCE(buffers_backends, 0)),
		(25, 'server_slru_reads', 'blocks', COALESCE(slru_reads, 0)),
		(26, 'server_slru_writes', 'blocks', COALESCE(slru_writes, 0)),
		(27, 'wait_cpu', 's', cpu / 1000),
		(28, 'wait_relations', 's', relations / 1000),
		(29, 'wait_wal', 's', wal / 1000),
		(30, 'wait_temp', 's', temp / 1000),
		(31, 'wait_slru', 's', slru / 1000),
		(32, 'wait_other_io', 's', other_io / 1000),
		(33, 'wait_lock', 's', lock / 1000),
		(34, 'wait_lwlock', 's', lwlock / 1000),
		(35, 'wait_other', 's', other / 1000)) v
$$;
COMMENT ON FUNCTION tiered_storage.load_totals(timestamptz, timestamptz) IS
'internal: the load of a period by metric; samples that reach beyond it count in part';

CREATE FUNCTION tiered_storage.load_profile(
	from_at timestamptz DEFAULT NULL, to_at timestamptz DEFAULT NULL,
	OUT metric text, OUT total float8, OUT per_second float8, OUT per_transaction float8, OUT unit text)
RETURNS SETOF record
LANGUAGE plpgsql STABLE ROWS 35 SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
#variable_conflict use_column
DECLARE
	period record;
	period_s float8;
	transactions float8;
BEGIN
	SELECT * INTO period FROM tiered_storage.load_period(from_at, to_at);
	SELECT max(t.total) FILTER (WHERE t.metric = 'period'), NULLIF(max(t.total) FILTER (WHERE t.metric = 'transactions'), 0)
		INTO period_s, transactions FROM tiered_storage.load_totals(period.begins_at, period.ends_at) t;
	RETURN QUERY
		SELECT t.metric, t.total,
			CASE WHEN t.unit <> 'ratio' AND t.place > 2 THEN t.total / period_s END,
			CASE WHEN t.unit <> 'ratio' AND t.place > 2 THEN t.total / transactions END,
			t.unit
		FROM tiered_storage.load_totals(period.begins_at, period.ends_at) t
		ORDER BY t.place;
END
$$;
COMMENT ON FUNCTION tiered_storage.load_profile(timestamptz, timestamptz) IS
'what this database did in a period, in total, per second and per transaction; waits per second are average active sessions; without arguments the last hour that was sampled; server_* is the whole server';

CREATE FUNCTION tiered_storage.compare_load(
	from1 timestamptz, to1 timestamptz, from2 timestamptz, to2 timestamptz,
	OUT metric text, OUT first_per_second float8, OUT second_per_second float8, OUT per_second_ratio float8,
	OUT first_per_transaction float8, OUT second_per_transaction float8, OUT per_transaction_ratio float8, OUT unit text)
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
			f.per_transaction, s.per_transaction, s.per_transaction / NULLIF(f.per_transaction, 0), f.unit
		FROM (SELECT *, CASE WHEN per_second IS NULL THEN total ELSE per_second END AS value
			FROM tiered_storage.load_profile(from1, to1) WITH ORDINALITY) f
		JOIN (SELECT *, CASE WHEN per_second IS NULL THEN total ELSE per_second END AS value
			FROM tiered_storage.load_profile(from2, to2)) s USING (metric)
		ORDER BY f.ordinality;
END
$$;
COMMENT ON FUNCTION tiered_storage.compare_load(timestamptz, timestamptz, timestamptz, timestamptz) IS
'the load of two periods side by side, ratio is second to first; for the length of the periods and for ratios the value itself stands in place of its rate';

CREATE VIEW tiered_storage.file_class_io AS
	WITH span AS (
		SELECT p.ends_at, p.begins_at,
			NULLIF(EXTRACT(epoch FROM p.ends_at OPERATOR(pg_catalog.-) p.begins_at)::pg_catalog.float8 OPERATOR(pg_catalog./) 3600, 0) AS hours
		FROM (SELECT s.sampled_at AS ends_at,
				GREATEST(s.observed_since, s.sampled_at OPERATOR(pg_catalog.-) '1 day'::pg_catalog.interval) AS begins_at
			FROM tiered_storage.load_state s) p
	), load AS (
		SELECT t.metric, t.total OPERATOR(pg_catalog./) s.hours AS per_hour
		FROM span s CROSS JOIN LATERAL tiered_storage.load_totals(s.begins_at, s.ends_at) t
		WHERE s.hours OPERATOR(pg_catalog.>) 0
	), relations AS (
		SELECT tt.tier_name, GROUPING(tt.tier_name) AS is_total,
			pg_catalog.sum(h.random_reads OPERATOR(pg_catalog.+) h.sequential_reads)::pg_catalog.float8
				OPERATOR(pg_catalog./) pg_catalog.max(s.hours) AS per_hour
		FROM span s
		JOIN tiered_storage.relation_history h ON h.period_start OPERATOR(pg_catalog.>=) s.begins_at AND h.period_start OPERATOR(pg_catalog.<) s.ends_at
		LEFT JOIN tiered_storage.relation_state r ON r.relation_oid OPERATOR(pg_catalog.=) h.relation_oid
		LEFT JOIN tiered_storage.tier_tablespaces tt ON tt.tablespace_oid OPERATOR(pg_catalog.=) r.tablespace_oid
		GROUP BY GROUPING SETS ((tt.tier_name), ())
	), block AS (
		SELECT pg_catalog.current_setting('block_size')::pg_catalog.float8 AS bytes
	)
	SELECT 'relations'::pg_catalog.text AS file_class, r.tier_name,
		r.per_hour AS reads_per_hour, r.per_hour OPERATOR(pg_catalog.*) b.bytes AS read_bytes_per_hour,
		NULL::pg_catalog.float8 AS writes_per_hour, NULL::pg_catalog.float8 AS write_bytes_per_hour,
		NULL::pg_catalog.float8 AS wait_s_per_hour
	FROM relations r CROSS JOIN block b
	WHERE r.is_total OPERATOR(pg_catalog.=) 0 AND r.tier_name IS NOT NULL
	UNION ALL
	SELECT c.file_class, NULL,
		CASE c.file_class
			WHEN 'relations' THEN (SELECT COALESCE(pg_catalog.max(r.per_hour), 0) FROM relations r WHERE r.is_total OPERATOR(pg_catalog.=) 1)
			WHEN 'slru' THEN l.slru_reads END,
		CASE c.file_class
			WHEN 'relations' THEN (SELECT COALESCE(pg_catalog.max(r.per_hour), 0) FROM relations r WHERE r.is_total OPERATOR(pg_catalog.=) 1) OPERATOR(pg_catalog.*) b.bytes
			WHEN 'slru' THEN l.slru_reads OPERATOR(pg_catalog.*) b.bytes END,
		CASE c.file_class WHEN 'relations' THEN l.buffers WHEN 'wal' THEN l.wal_writes WHEN 'slru' THEN l.slru_writes END,
		CASE c.file_class WHEN 'relations' THEN l.buffers OPERATOR(pg_catalog.*) b.bytes WHEN 'wal' THEN l.wal_bytes
			WHEN 'temp' THEN l.temp_bytes WHEN 'slru' THEN l.slru_writes OPERATOR(pg_catalog.*) b.bytes END,
		CASE c.file_class WHEN 'relations' THEN l.wait_relations WHEN 'wal' THEN l.wait_wal
			WHEN 'temp' THEN l.wait_temp WHEN 'slru' THEN l.wait_slru END
	FROM (SELECT
			pg_catalog.sum(per_hour) FILTER (WHERE metric OPERATOR(pg_catalog.~~) E'server\\_buffers\\_%') AS buffers,
			pg_catalog.max(per_hour) FILTER (WHERE metric OPERATOR(pg_catalog.=) 'server_wal_writes') AS wal_writes,
			pg_catalog.max(per_hour) FILTER (WHERE metric OPERATOR(pg_catalog.=) 'server_wal_bytes') AS wal_bytes,
			pg_catalog.max(per_hour) FILTER (WHERE metric OPERATOR(pg_catalog.=) 'temp_bytes') AS temp_bytes,
			pg_catalog.max(per_hour) FILTER (WHERE metric OPERATOR(pg_catalog.=) 'server_slru_reads') AS slru_reads,
			pg_catalog.max(per_hour) FILTER (WHERE metric OPERATOR(pg_catalog.=) 'server_slru_writes') AS slru_writes,
			pg_catalog.max(per_hour) FILTER (WHERE metric OPERATOR(pg_catalog.=) 'wait_relations') AS wait_relations,
			pg_catalog.max(per_hour) FILTER (WHERE metric OPERATOR(pg_catalog.=) 'wait_wal') AS wait_wal,
			pg_catalog.max(per_hour) FILTER (WHERE metric OPERATOR(pg_catalog.=) 'wait_temp') AS wait_temp,
			pg_catalog.max(per_hour) FILTER (WHERE metric OPERATOR(pg_catalog.=) 'wait_slru') AS wait_slru
		FROM load) l
	CROSS JOIN block b
	CROSS JOIN (VALUES ('relations'::pg_catalog.text), ('wal'), ('temp'), ('slru')) c (file_class);
COMMENT ON VIEW tiered_storage.file_class_io IS
'reads, writes and waits per hour by class of file, of the last day that was sampled; reads of relations are blocks that missed shared buffers, their row without a tier is all of them together; writes and wal and slru are of the whole server, all else of this database; null is what the server does not count';

---------------------------------------------------------------------------
-- Rhythm
---------------------------------------------------------------------------

/*
 * By the clock of the reader: hours and days are those of his time zone.  An
 * hour in which a relation was observed and has no row is an hour without
 * reads, and counts.
 */
CREATE FUNCTION tiered_storage.rhythm(
	only_relation regclass DEFAULT NULL,
	OUT relation regclass, OUT unit text, OUT value integer,
	OUT reads_per_hour float8, OUT share float8, OUT active_days integer, OUT observed_days integer)
RETURNS SETOF record
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
#variable_conflict use_column
BEGIN
	IF only_relation IS NOT NULL AND NOT EXISTS (SELECT FROM tiered_storage.heat h WHERE h.relation = only_relation) THEN
		RAISE EXCEPTION 'relation % is not observed', only_relation
			USING ERRCODE = 'undefined_object',
				HINT = 'Tables, partitions, materialized views, indexes and TOAST tables are, from the next sample on, but for temporary and system ones.';
	END IF;
	RETURN QUERY
		WITH span AS MATERIALIZED (
			SELECT s.last_sample_at AS ends_at, (SELECT min(h.period_start) FROM tiered_storage.relation_history h) AS begins_at
			FROM tiered_storage.sampler s
		), observed AS MATERIALIZED (
			SELECT h.relation, date_trunc('hour', GREATEST(h.sampled_since, s.begins_at)) AS begins_at
			FROM tiered_storage.heat h CROSS JOIN span s
			WHERE only_relation IS NULL OR h.relation = only_relation
		), hour AS MATERIALIZED (
			SELECT t, u.unit, u.value
			FROM span s
			CROSS JOIN LATERAL generate_series((SELECT min(o.begins_at) FROM observed o), s.ends_at, interval '1 hour') t
			CROSS JOIN LATERAL (VALUES
				('hour of day', EXTRACT(hour FROM t)::integer),
				('day of week', EXTRACT(isodow FROM t)::integer),
				('day of month', EXTRACT(day FROM t)::integer),
				('days to end of month', (date_trunc('month', t) + interval '1 month' - interval '1 day')::date - t::date)) u (unit, value)
			WHERE t < s.ends_at
		), slot AS MATERIALIZED (
			SELECT b.begins_at, h.unit, h.value, count(DISTINCT h.t::date)::integer AS days,
				sum(LEAST(1, EXTRACT(epoch FROM s.ends_at - h.t)::float8 / 3600)) AS hours
			FROM (SELECT DISTINCT o.begins_at FROM observed o) b
			JOIN hour h ON h.t >= b.begins_at
			CROSS JOIN span s
			GROUP BY b.begins_at, h.unit, h.value
		), read AS MATERIALIZED (
			SELECT r.relation_oid, date_trunc('hour', r.period_start + n * interval '1 hour') AS t,
				sum((r.random_reads + r.sequential_reads)::float8 / p.hours) AS reads
			FROM tiered_storage.relation_history r
			CROSS JOIN LATERAL (SELECT LEAST(GREATEST(ceil(r.period_s / 3600.0), 1), 10000)::integer AS hours) p
			CROSS JOIN LATERAL generate_series(0, p.hours - 1) n
			WHERE (only_relation IS NULL OR r.relation_oid = only_relation) AND r.random_reads + r.sequential_reads > 0
			GROUP BY 1, 2
		), done AS (
			SELECT r.relation_oid, h.unit, h.value, sum(r.reads) AS reads, count(DISTINCT h.t::date)::integer AS days
			FROM read r JOIN hour h ON h.t = r.t
			GROUP BY 1, 2, 3
		)
		SELECT o.relation, s.unit, s.value, COALESCE(d.reads, 0) / s.hours,
			COALESCE(d.reads / NULLIF(sum(d.reads) OVER (PARTITION BY o.relation, s.unit), 0), 0),
			COALESCE(d.days, 0), s.days
		FROM observed o
		JOIN slot s ON s.begins_at = o.begins_at
		LEFT JOIN done d ON d.relation_oid = o.relation AND d.unit = s.unit AND d.value = s.value
		WHERE only_relation IS NOT NULL OR EXISTS (SELECT FROM done x WHERE x.relation_oid = o.relation)
		ORDER BY o.relation::text COLLATE "C",
			array_position('{hour of day,day of week,day of month,days to end of month}'::text[], s.unit), s.value;
END
$$;
COMMENT ON FUNCTION tiered_storage.rhythm(regclass) IS
'when a relation is read: mean reads per hour in each hour of the day, day of the week (1 is Monday), day of the month and day before its end, in the time zone of the reader, over the history that is kept; without an argument all relations that were read';

CREATE FUNCTION tiered_storage.find_heat_peaks(
	OUT relation regclass, OUT peak_at timestamptz, OUT peak_reads_per_hour float8,
	OUT mean_reads_per_hour float8, OUT busiest_day_of_month integer, OUT busiest_days_to_end_of_month integer,
	OUT active_days integer, OUT observed_days integer, OUT burst_share float8, OUT is_burst boolean)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH span AS (
		SELECT s.last_sample_at AS ends_at, (SELECT min(h.period_start) FROM tiered_storage.relation_history h) AS begins_at
		FROM tiered_storage.sampler s
	), read AS MATERIALIZED (
		SELECT r.relation_oid, date_trunc('hour', r.period_start + n * interval '1 hour') AS t,
			sum((r.random_reads + r.sequential_reads)::float8 / p.hours) AS reads
		FROM tiered_storage.relation_history r
		CROSS JOIN LATERAL (SELECT LEAST(GREATEST(ceil(r.period_s / 3600.0), 1), 10000)::integer AS hours) p
		CROSS JOIN LATERAL generate_series(0, p.hours - 1) n
		WHERE r.random_reads + r.sequential_reads > 0
		GROUP BY 1, 2
	), peak AS (
		SELECT DISTINCT ON (relation_oid) relation_oid, t, reads FROM read ORDER BY relation_oid, reads DESC, t
	), day AS (
		SELECT relation_oid, t::date AS day, sum(reads) AS reads FROM read GROUP BY 1, 2
	), ranked AS (
		SELECT d.relation_oid, d.reads, row_number() OVER (PARTITION BY d.relation_oid ORDER BY d.reads DESC) AS place,
			(SELECT (s.ends_at - interval '1 microsecond')::date FROM span s) - GREATEST(h.sampled_since, (SELECT s.begins_at FROM span s))::date + 1 AS days,
			h.relation, EXTRACT(epoch FROM (SELECT s.ends_at FROM span s) - GREATEST(h.sampled_since, (SELECT s.begins_at FROM span s)))::float8 / 3600 AS hours
		FROM day d JOIN tiered_storage.heat h ON h.relation = d.relation_oid
	), summed AS (
		SELECT relation, relation_oid, sum(reads) AS reads, count(*)::integer AS active_days, max(days) AS days, max(hours) AS hours,
			sum(reads) FILTER (WHERE place <= ceil(days / 10.0)) / sum(reads) AS burst_share
		FROM ranked GROUP BY relation, relation_oid
	), slot AS MATERIALIZED (
		SELECT DISTINCT ON (r.relation, r.unit) r.relation, r.unit, r.value
		FROM tiered_storage.rhythm() r
		WHERE r.unit IN ('day of month', 'days to end of month')
		ORDER BY r.relation, r.unit, r.reads_per_hour DESC, r.value
	)
	SELECT s.relation, p.t, p.reads, s.reads / GREATEST(s.hours, 1), m.value, e.value,
		s.active_days, s.days, s.burst_share, s.days >= 10 AND s.burst_share > 0.5
	FROM summed s
	JOIN peak p ON p.relation_oid = s.relation_oid
	LEFT JOIN slot m ON m.relation = s.relation AND m.unit = 'day of month'
	LEFT JOIN slot e ON e.relation = s.relation AND e.unit = 'days to end of month'
$$;
COMMENT ON FUNCTION tiered_storage.find_heat_peaks() IS 'see the view heat_peaks';

CREATE VIEW tiered_storage.heat_peaks AS
	SELECT * FROM tiered_storage.find_heat_peaks();
COMMENT ON VIEW tiered_storage.heat_peaks IS
'the busiest hour of each relation in the history that is kept, its busiest day of the month, and whether it works in bursts: more than half of its reads on the busiest tenth of at least ten observed days; days are those of the reader''s time zone';

---------------------------------------------------------------------------
-- Standbys
---------------------------------------------------------------------------

CREATE TABLE tiered_storage.standby
(
	standby_name name NOT NULL PRIMARY KEY CHECK (standby_name OPERATOR(pg_catalog.<>) ''),
	server_name name,
	conninfo text,
	added_by name NOT NULL,
	added_by_oid oid NOT NULL,
	added_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
	CHECK ((server_name IS NULL) OPERATOR(pg_catalog.<>) (conninfo IS NULL))
);
COMMENT ON TABLE tiered_storage.standby IS
'standbys whose reads count, too; use tiered_storage.add_standby() and the view tiered_storage.standbys';
SELECT pg_catalog.pg_extension_config_dump('tiered_storage.standby', '');

CREATE TABLE tiered_storage.standby_state
(
	standby_name name NOT NULL PRIMARY KEY REFERENCES tiered_storage.standby ON DELETE CASCADE,
	system_identifier bigint,
	in_recovery boolean,
	last_attempt_at timestamptz NOT NULL,
	last_pull_at timestamptz,
	next_pull_at timestamptz NOT NULL,
	failures integer NOT NULL,
	relations bigint,
	error text
);
COMMENT ON TABLE tiered_storage.standby_state IS
'how the last pull from each standby went; use the view tiered_storage.standbys';

CREATE TABLE tiered_storage.standby_counters
(
	standby_name name NOT NULL REFERENCES tiered_storage.standby ON DELETE CASCADE,
	relation_oid oid NOT NULL,
	scans bigint NOT NULL,
	tuples_read bigint NOT NULL,
	blocks_fetched bigint NOT NULL,
	blocks_hit bigint NOT NULL,
	PRIMARY KEY (standby_name, relation_oid)
);
COMMENT ON TABLE tiered_storage.standby_counters IS
'what the statistics of each standby showed at the last pull';

/* Emptied by each sample, so it needs no memory of its own of what was added. */
CREATE TABLE tiered_storage.standby_reads
(
	relation_oid oid NOT NULL PRIMARY KEY,
	scans bigint NOT NULL,
	tuples_read bigint NOT NULL,
	blocks_fetched bigint NOT NULL,
	blocks_hit bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.1);
COMMENT ON TABLE tiered_storage.standby_reads IS
'what standbys have read since the last sample, which takes it from here';

CREATE VIEW tiered_storage.standbys AS
	SELECT s.standby_name,
		CASE WHEN s.server_name IS NULL THEN 'connection string' ELSE 'server ' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(s.server_name::pg_catalog.text) END AS connection,
		t.system_identifier OPERATOR(pg_catalog.=) c.system_identifier AS system_identifier_matches,
		t.in_recovery, t.relations, t.last_pull_at, t.last_attempt_at, t.next_pull_at, t.failures, t.error
	FROM tiered_storage.standby s
	CROSS JOIN pg_catalog.pg_control_system() c
	LEFT JOIN tiered_storage.standby_state t ON t.standby_name OPERATOR(pg_catalog.=) s.standby_name;
COMMENT ON VIEW tiered_storage.standbys IS
'standbys whose reads are added to those of this server, and how the last pull of their statistics went';

CREATE FUNCTION tiered_storage.standby_check(added_by_oid oid, added_by name, server name, dblink_schema name) RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_check_standby';
COMMENT ON FUNCTION tiered_storage.standby_check(oid, name, name, name) IS
'internal: raises an error unless a connection to a standby that this role has added, by this foreign server if any, comes from superusers alone';

CREATE FUNCTION tiered_storage.standby_check_server(server name) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	s pg_foreign_server;
BEGIN
	SELECT * INTO s FROM pg_foreign_server f WHERE f.srvname = server;
	IF NOT EXISTS (SELECT FROM pg_user_mapping m WHERE m.umserver = s.oid
			AND m.umuser IN (0, (SELECT r.oid FROM pg_roles r WHERE r.rolname = current_user))) THEN
		RAISE EXCEPTION 'server "%" has no user mapping for role "%"', server, current_user
			USING ERRCODE = 'undefined_object',
				DETAIL = 'Statistics are pulled with the rights of the owner of the extension.',
				HINT = format('Use CREATE USER MAPPING FOR %I SERVER %I OPTIONS (user ..., password ...).', current_user, server);
	END IF;
	IF NOT EXISTS (SELECT FROM pg_options_to_table(s.srvoptions) o WHERE o.option_name = 'connect_timeout' AND o.option_value ~ '^ *[1-9][0-9]? *$') THEN
		RAISE EXCEPTION 'server "%" has no connect_timeout between 1 and 99 seconds', server
			USING ERRCODE = 'invalid_parameter_value',
				DETAIL = 'A standby that is down must not hold the worker up.',
				HINT = format('Use ALTER SERVER %I OPTIONS (ADD connect_timeout ''3'').', server);
	END IF;
END
$$;
COMMENT ON FUNCTION tiered_storage.standby_check_server(name) IS
'internal: raises an error unless a foreign server can be used to pull statistics';

/* With the rights of the owner of the extension, after who may was checked. */
CREATE FUNCTION tiered_storage.standby_add(name name, server name, conninfo text, added_by_oid oid) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
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
	PERFORM tiered_storage.standby_check(standby_add.added_by_oid, adder, standby_add.server,
		(SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'dblink'));
	IF standby_add.server IS NOT NULL THEN
		PERFORM tiered_storage.standby_check_server(standby_add.server);
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
	IF EXISTS (SELECT FROM tiered_storage.standby s WHERE s.standby_name = standby_add.name) THEN
		RAISE EXCEPTION 'standby "%" exists already', standby_add.name
			USING ERRCODE = 'duplicate_object';
	END IF;
	IF (SELECT count(*) FROM tiered_storage.standby) >= 16 THEN
		RAISE EXCEPTION 'there are too many standbys'
			USING ERRCODE = 'program_limit_exceeded',
				DETAIL = 'At most 16 are possible.';
	END IF;
	INSERT INTO tiered_storage.standby (standby_name, server_name, conninfo, added_by, added_by_oid)
		VALUES (standby_add.name, standby_add.server, standby_add.conninfo, adder, standby_add.added_by_oid);
END
$$;
COMMENT ON FUNCTION tiered_storage.standby_add(name, name, text, oid) IS
'internal: what add_standby() does once it knows that its caller may';

CREATE FUNCTION tiered_storage.add_standby(name name, server name DEFAULT NULL, conninfo text DEFAULT NULL) RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_add_standby';
COMMENT ON FUNCTION tiered_storage.add_standby(name, name, text) IS
'adds the reads of a physical standby to those of this server from now on; by a foreign server that belongs to a superuser, or a connection string; superusers only, whatever is granted; needs the extension dblink';

CREATE FUNCTION tiered_storage.remove_standby(name name, if_exists boolean DEFAULT false) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	DELETE FROM tiered_storage.standby s WHERE s.standby_name = remove_standby.name;
	IF NOT FOUND AND remove_standby.if_exists IS NOT TRUE THEN
		RAISE EXCEPTION 'standby "%" does not exist', remove_standby.name
			USING ERRCODE = 'undefined_object';
	END IF;
END
$$;
COMMENT ON FUNCTION tiered_storage.remove_standby(name, boolean) IS
'takes no more reads of a standby; what it has read until now stays in the heat, and fades';

/* One statement there; waits here, so that neither a hang nor a dead network can hold us. */
CREATE FUNCTION tiered_storage.standby_wait(dblink_schema name, connection text, statement text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	give_up_at timestamptz := clock_timestamp() + interval '15 seconds';
	pause_s float8 := 0.001;
	sent integer;
	busy integer;
BEGIN
	EXECUTE format('SELECT %I.dblink_send_query($1, $2)', dblink_schema) INTO sent USING connection, statement;
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
COMMENT ON FUNCTION tiered_storage.standby_wait(name, text, text) IS
'internal: sends a statement to a standby and waits a bounded time for its result';

/*
 * Connects, checks, reads.  What is wrong with the standby comes back as
 * problem, what is wrong on the way as an error.
 */
CREATE FUNCTION tiered_storage.standby_fetch(
	dblink_schema name, s tiered_storage.standby,
	OUT system_identifier bigint, OUT in_recovery boolean, OUT problem text,
	OUT counters tiered_storage.standby_counters[])
RETURNS record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	connection constant text := 'tiered_storage standby';
	here record;
	there record;
BEGIN
	-- The last value of a keyword counts.
	EXECUTE format('SELECT %I.dblink_connect($1, $2)', dblink_schema) USING connection,
		CASE WHEN s.server_name IS NOT NULL THEN s.server_name::text
			ELSE format('dbname=''%s'' application_name=tiered_storage %s connect_timeout=3 keepalives=1 keepalives_idle=5 keepalives_interval=2 keepalives_count=3',
				replace(replace(current_database(), E'\\', E'\\\\'), '''', E'\\'''), s.conninfo) END;
	BEGIN
		PERFORM tiered_storage.standby_wait(dblink_schema, connection,
			'SELECT pg_catalog.set_config(''statement_timeout'', ''10s'', false), pg_catalog.set_config(''stats_fetch_consistency'', ''none'', false),
				c.system_identifier, pg_catalog.pg_is_in_recovery(), d.oid::pg_catalog.int8, d.datname::pg_catalog.text
			FROM pg_catalog.pg_control_system() c, pg_catalog.pg_database d
			WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()');
		EXECUTE format('SELECT * FROM %I.dblink_get_result($1) AS t (a text, b text, system_identifier bigint, in_recovery boolean, database bigint, database_name text)',
			dblink_schema) INTO there USING connection;
		EXECUTE format('SELECT * FROM %I.dblink_get_result($1) AS t (a text)', dblink_schema) USING connection;
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
				format('the connection leads to another cluster: its system identifier is %s, that of this one %s', there.system_identifier, here.system_identifier)
			WHEN NOT there.in_recovery THEN 'the connection leads to a server that is no standby'
			WHEN there.database <> here.database THEN
				format('the connection leads to database "%s" instead of "%s"', there.database_name, here.datname) END;
		IF problem IS NULL THEN
			PERFORM tiered_storage.standby_wait(dblink_schema, connection,
				'SELECT c.oid, pg_catalog.pg_stat_get_numscans(c.oid), pg_catalog.pg_stat_get_tuples_returned(c.oid),
					pg_catalog.pg_stat_get_blocks_fetched(c.oid), pg_catalog.pg_stat_get_blocks_hit(c.oid)
				FROM pg_catalog.pg_class c
				WHERE c.oid OPERATOR(pg_catalog.>=) 16384 AND c.relkind OPERATOR(pg_catalog.=) ANY (''{r,i,m,t}''::pg_catalog."char"[])
					AND pg_catalog.pg_stat_get_blocks_fetched(c.oid) OPERATOR(pg_catalog.>) 0');
			EXECUTE format('SELECT COALESCE(array_agg(ROW($2, t.relation_oid, t.scans, t.tuples_read, t.blocks_fetched, t.blocks_hit)::tiered_storage.standby_counters), ''{}'')
				FROM %I.dblink_get_result($1) AS t (relation_oid oid, scans bigint, tuples_read bigint, blocks_fetched bigint, blocks_hit bigint)',
				dblink_schema) INTO counters USING connection, s.standby_name;
		END IF;
	EXCEPTION WHEN OTHERS OR query_canceled THEN
		EXECUTE format('SELECT %I.dblink_disconnect($1)', dblink_schema) USING connection;
		RAISE;
	END;
	EXECUTE format('SELECT %I.dblink_disconnect($1)', dblink_schema) USING connection;
END
$$;
COMMENT ON FUNCTION tiered_storage.standby_fetch(name, tiered_storage.standby) IS
'internal: reads the statistics of one standby';

CREATE PROCEDURE tiered_storage.pull_standby_statistics(force boolean DEFAULT true)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	began_at timestamptz := clock_timestamp();
	dblink_schema name;
	standby tiered_storage.standby;
	answer record;
	problem text;
	detail text;
	pulled tiered_storage.standby_counters[] := '{}';
	pulled_names name[] := '{}';
	new_names name[] := '{}';
BEGIN
	IF pg_is_in_recovery() THEN
		RAISE EXCEPTION 'statistics of standbys are pulled by the primary'
			USING ERRCODE = 'read_only_sql_transaction';
	END IF;
	LOCK TABLE tiered_storage.standby_counters IN SHARE UPDATE EXCLUSIVE MODE;
	SELECT n.nspname INTO dblink_schema FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
		WHERE e.extname = 'dblink';

	-- First the network, and then, quickly, what others may wait for.
	FOR standby IN
		SELECT s.* FROM tiered_storage.standby s LEFT JOIN tiered_storage.standby_state t USING (standby_name)
		WHERE force IS NOT FALSE OR t.next_pull_at IS NULL
			OR t.next_pull_at NOT BETWEEN now() AND now() + interval '1 hour'
		ORDER BY t.last_attempt_at NULLS FIRST, s.standby_name
	LOOP
		-- The rest is first the next time.
		EXIT WHEN clock_timestamp() > began_at + interval '30 seconds';
		answer := NULL;
		problem := NULL;
		BEGIN
			PERFORM tiered_storage.standby_check(standby.added_by_oid, standby.added_by, standby.server_name, dblink_schema);
			IF standby.server_name IS NOT NULL THEN
				PERFORM tiered_storage.standby_check_server(standby.server_name);
			END IF;
			SELECT * INTO answer FROM tiered_storage.standby_fetch(dblink_schema, standby);
			problem := answer.problem;
		EXCEPTION WHEN OTHERS THEN
			GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
			problem := left(concat_ws(': ', problem, NULLIF(detail, '')), 500);
			SELECT NULL::bigint AS system_identifier, NULL::boolean AS in_recovery INTO answer;
		END;
		IF problem IS NULL THEN
			pulled := pulled || answer.counters;
			pulled_names := pulled_names || standby.standby_name;
			IF NOT EXISTS (SELECT FROM tiered_storage.standby_state t
					WHERE t.standby_name = standby.standby_name AND t.last_pull_at IS NOT NULL) THEN
				new_names := new_names || standby.standby_name;
			END IF;
			INSERT INTO tiered_storage.standby_state
				(standby_name, system_identifier, in_recovery, last_attempt_at, last_pull_at, next_pull_at, failures, relations, error)
				VALUES (standby.standby_name, answer.system_identifier, answer.in_recovery, clock_timestamp(), clock_timestamp(), now(), 0,
					cardinality(answer.counters), NULL)
				ON CONFLICT (standby_name) DO UPDATE SET system_identifier = EXCLUDED.system_identifier, in_recovery = EXCLUDED.in_recovery,
					last_attempt_at = EXCLUDED.last_attempt_at, last_pull_at = EXCLUDED.last_pull_at, next_pull_at = EXCLUDED.next_pull_at,
					failures = 0, relations = EXCLUDED.relations, error = NULL;
		ELSE
			INSERT INTO tiered_storage.standby_state AS t
				(standby_name, last_attempt_at, next_pull_at, failures, error)
				VALUES (standby.standby_name, clock_timestamp(), now() + interval '1 minute', 1, problem)
				ON CONFLICT (standby_name) DO UPDATE SET last_attempt_at = EXCLUDED.last_attempt_at,
					next_pull_at = now() + LEAST(interval '1 minute' * 2 ^ LEAST(t.failures, 10), interval '1 hour'),
					failures = t.failures + 1, error = EXCLUDED.error;
			UPDATE tiered_storage.standby_state t
				SET system_identifier = answer.system_identifier, in_recovery = answer.in_recovery
				WHERE t.standby_name = standby.standby_name AND answer.system_identifier IS NOT NULL;
		END IF;
	END LOOP;

	/*
	 * What has grown since the last pull is what it read since.  The first pull
	 * tells where it stood.  A relation whose counters went back was reset.
	 */
	WITH new AS MATERIALIZED (
		SELECT * FROM unnest(pulled)
	), changed AS MATERIALIZED (
		SELECT n.*, o.scans AS old_scans, o.tuples_read AS old_tuples_read, o.blocks_fetched AS old_blocks_fetched, o.blocks_hit AS old_blocks_hit,
			o.standby_name IS NULL OR n.scans < o.scans OR n.tuples_read < o.tuples_read
				OR n.blocks_fetched < o.blocks_fetched OR n.blocks_hit < o.blocks_hit AS from_zero
		FROM new n LEFT JOIN tiered_storage.standby_counters o USING (standby_name, relation_oid)
		WHERE o.standby_name IS NULL OR (n.scans, n.tuples_read, n.blocks_fetched, n.blocks_hit)
			IS DISTINCT FROM (o.scans, o.tuples_read, o.blocks_fetched, o.blocks_hit)
	), gone AS (
		DELETE FROM tiered_storage.standby_counters o
		WHERE o.standby_name = ANY (pulled_names)
			AND NOT EXISTS (SELECT FROM new n WHERE n.standby_name = o.standby_name AND n.relation_oid = o.relation_oid)
	), stored AS (
		INSERT INTO tiered_storage.standby_counters (standby_name, relation_oid, scans, tuples_read, blocks_fetched, blocks_hit)
			SELECT c.standby_name, c.relation_oid, c.scans, c.tuples_read, c.blocks_fetched, c.blocks_hit FROM changed c
			ON CONFLICT (standby_name, relation_oid) DO UPDATE SET scans = EXCLUDED.scans, tuples_read = EXCLUDED.tuples_read,
				blocks_fetched = EXCLUDED.blocks_fetched, blocks_hit = EXCLUDED.blocks_hit
	)
	INSERT INTO tiered_storage.standby_reads AS r (relation_oid, scans, tuples_read, blocks_fetched, blocks_hit)
		SELECT c.relation_oid,
			sum(c.scans - CASE WHEN c.from_zero THEN 0 ELSE c.old_scans END),
			sum(c.tuples_read - CASE WHEN c.from_zero THEN 0 ELSE c.old_tuples_read END),
			sum(c.blocks_fetched - CASE WHEN c.from_zero THEN 0 ELSE c.old_blocks_fetched END),
			sum(c.blocks_hit - CASE WHEN c.from_zero THEN 0 ELSE c.old_blocks_hit END)
		FROM changed c
		WHERE c.standby_name <> ALL (new_names)
		GROUP BY c.relation_oid
		ORDER BY c.relation_oid
		ON CONFLICT (relation_oid) DO UPDATE SET scans = r.scans + EXCLUDED.scans, tuples_read = r.tuples_read + EXCLUDED.tuples_read,
			blocks_fetched = r.blocks_fetched + EXCLUDED.blocks_fetched, blocks_hit = r.blocks_hit + EXCLUDED.blocks_hit;
END
$$;
COMMENT ON PROCEDURE tiered_storage.pull_standby_statistics(boolean) IS
'reads the statistics of the standbys, so that the next sample counts their reads; errors are in the view standbys; without force not those that are not due yet after a failure; the worker calls it in each cycle';

---------------------------------------------------------------------------
-- Advice about partitioning
---------------------------------------------------------------------------

CREATE FUNCTION tiered_storage.cached_ranges(
	relation regclass, ranges integer,
	OUT range integer, OUT first_block bigint, OUT blocks bigint, OUT cached_blocks bigint)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_cached_ranges';
COMMENT ON FUNCTION tiered_storage.cached_ranges(regclass, integer) IS
'internal: how many blocks of each of so many equal parts of a relation are in shared buffers';

/*
 * The shortest run of the relation's parts that has nine tenths of its cached
 * blocks; parts count from 1.
 */
CREATE FUNCTION tiered_storage.hot_range(
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
		INTO cached, cached_blocks, parts FROM tiered_storage.cached_ranges(relation, 100) c;
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
COMMENT ON FUNCTION tiered_storage.hot_range(regclass) IS
'internal: where nine tenths of the cached blocks of a relation lie together';

/*
 * An interval that makes ten partitions or a few more: a natural one of times,
 * a round one of numbers.  NULL when the values span too little.
 */
CREATE FUNCTION tiered_storage.partition_interval(
	column_type oid, lowest text, highest text,
	OUT step text, OUT partitions integer)
RETURNS record
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
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
			FROM (VALUES ('1 year', 31556952), ('3 months', 7889238), ('1 month', 2629746), ('1 week', 604800), ('1 day', 86400), ('1 hour', 3600)) u (step, seconds)
			WHERE span / u.seconds >= 10 AND (column_type <> 'date'::regtype OR u.seconds >= 86400)
			ORDER BY u.seconds DESC LIMIT 1;
	END IF;
END
$$;
COMMENT ON FUNCTION tiered_storage.partition_interval(oid, text, text) IS
'internal: a natural interval for range partitions over these values';

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
DECLARE
	t record;
	hot record;
	key record;
	place text;
	price numeric;
	cold_price numeric;
BEGIN
	IF min_size_bytes IS NULL OR min_size_bytes < 0 THEN
		RAISE EXCEPTION '"min_size_bytes" must not be null or negative'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	FOR t IN
		SELECT h.relation, h.size_bytes, h.tier_name, h.observed_since, c.relname, n.nspname
		FROM tiered_storage.heat h
		JOIN pg_class c ON c.oid = h.relation
		JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind = 'r' AND NOT c.relispartition AND h.size_bytes >= min_size_bytes AND h.size_bytes > 0
			AND NOT EXISTS (SELECT FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent))
		ORDER BY h.size_bytes DESC, h.relation::text COLLATE "C"
	LOOP
		relation := t.relation;
		size_bytes := t.size_bytes;
		current_tier := t.tier_name;
		hot_fraction := NULL;
		key_column := NULL;
		key_correlation := NULL;
		other_keys := NULL;
		partition_interval := NULL;
		partitions := NULL;
		cold_bytes := NULL;
		cold_tier := NULL;
		saved_per_month := NULL;
		confidence := 'insufficient data';
		reason := NULL;
		command := NULL;

		-- 1. Is the heat in one place?
		SELECT * INTO hot FROM tiered_storage.hot_range(t.relation);
		IF hot.first_part IS NULL OR hot.cached_blocks < LEAST(100, t.size_bytes / current_setting('block_size')::bigint / 100 + 1) THEN
			reason := format('only %s of its blocks are in shared buffers, which says nothing about which are used', COALESCE(hot.cached_blocks, 0));
		ELSE
			hot_fraction := (hot.last_part - hot.first_part + 1)::float8 / hot.parts;
			IF hot_fraction > 0.3 THEN
				reason := format('its heat is spread: nine tenths of its cached blocks take %s %% of it', round((hot_fraction * 100)::numeric));
			END IF;
		END IF;
		IF reason IS NOT NULL AND include_all IS NOT TRUE THEN
			CONTINUE;
		END IF;

		-- 2. Which column follows the order of the blocks?
		SELECT a.attname, a.atttypid, s.correlation, s.lowest, s.highest,
			string_agg(format('%I (%s)', a.attname, round(s.correlation::numeric, 3)), ', ') OVER (ORDER BY s.is_time DESC, abs(s.correlation) DESC, a.attnum
				ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS others
			INTO key
			FROM pg_attribute a
			JOIN LATERAL (SELECT p.correlation, a.atttypid IN ('date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype) AS is_time,
					(p.histogram_bounds::text::text[])[1] AS lowest,
					(p.histogram_bounds::text::text[])[cardinality(p.histogram_bounds::text::text[])] AS highest
				FROM pg_stats p
				WHERE p.schemaname = t.nspname AND p.tablename = t.relname AND p.attname = a.attname AND NOT p.inherited
					AND p.null_frac <= 0.01 AND abs(p.correlation) >= 0.9 AND p.histogram_bounds IS NOT NULL) s ON true
			WHERE a.attrelid = t.relation AND a.attnum > 0 AND NOT a.attisdropped
				AND a.atttypid IN ('date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype, 'int2'::regtype, 'int4'::regtype, 'int8'::regtype)
			ORDER BY s.is_time DESC, abs(s.correlation) DESC, a.attnum
			LIMIT 1;
		IF key.attname IS NULL AND reason IS NULL THEN
			reason := CASE
				WHEN NOT EXISTS (SELECT FROM pg_stats p WHERE p.schemaname = t.nspname AND p.tablename = t.relname) THEN
					'it was never analyzed, or its statistics are not visible to you'
				ELSE format('nine tenths of its cached blocks take %s %% of it, but no date, timestamp or integer column with more than a few values follows the order of its blocks (correlation of at least 0.9, at most 1 %% null)',
					round((hot_fraction * 100)::numeric)) END;
		END IF;
		IF key.attname IS NOT NULL THEN
			key_column := key.attname;
			key_correlation := key.correlation;
			other_keys := key.others;
			SELECT p.step, p.partitions INTO partition_interval, partitions
				FROM tiered_storage.partition_interval(key.atttypid, key.lowest, key.highest) p;
			IF partition_interval IS NULL AND reason IS NULL THEN
				reason := format('the values of %I span too little for partitions', key_column);
			END IF;
		END IF;

		-- 3. What does it bring?
		IF reason IS NULL THEN
			cold_bytes := t.size_bytes * (1 - hot_fraction);
			SELECT r.price_per_gb_month INTO price FROM tiered_storage.tiers r WHERE r.tier_name = t.tier_name;
			SELECT r.tier_name, r.price_per_gb_month INTO cold_tier, cold_price
				FROM tiered_storage.tiers r
				WHERE r.price_per_gb_month < price
					AND r.free_bytes - r.reserve_fraction * r.capacity_bytes >= cold_bytes
				ORDER BY r.price_per_gb_month, r.rank LIMIT 1;
			saved_per_month := cold_bytes / 1e9 * (price - cold_price);
			confidence := CASE
				WHEN hot.cached_blocks < 100 OR now() - t.observed_since < current_setting('tiered_storage.observation_period', true)::interval
					THEN 'insufficient data'
				WHEN hot.cached_blocks < 1000 OR abs(key_correlation) < 0.99 THEN 'tentative'
				ELSE 'firm' END;
			place := CASE
				WHEN hot.last_part = hot.parts AND key_correlation > 0 OR hot.first_part = 1 AND key_correlation < 0 THEN 'the highest values of'
				WHEN hot.first_part = 1 OR hot.last_part = hot.parts THEN 'the lowest values of'
				ELSE 'a middle range of' END;
			reason := format('nine tenths of its cached blocks are in %s %% of it, by %s %I (correlation %s); in partitions of %s (about %s), %s would be cold%s',
				round((hot_fraction * 100)::numeric), place, key_column, round(key_correlation::numeric, 3), partition_interval, partitions, pg_size_pretty(cold_bytes),
				CASE WHEN saved_per_month IS NULL THEN ', but no cheaper tier has room for it'
					ELSE format(' and cost %s less per month on tier %I', round(saved_per_month::numeric, 2), cold_tier) END);
			-- No comment in it: a name could end one.  The new name is one even if it has to be cut.
			command := format('CREATE TABLE %I.%I (LIKE %s INCLUDING ALL EXCLUDING INDEXES) PARTITION BY RANGE (%I)',
				t.nspname, (SELECT left(t.relname, max(i)) FROM generate_series(0, 63) i WHERE octet_length(left(t.relname, i)) <= 51) || '_partitioned',
				t.relation, key_column);
		END IF;
		IF command IS NOT NULL OR include_all THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END
$$;
COMMENT ON FUNCTION tiered_storage.recommend_partitioning(bigint, boolean) IS
'large tables whose cached blocks lie together, with the column that they would be partitioned by, the interval, what would be cold then and what that saves; with include_all also those for which it would bring nothing, and why';

---------------------------------------------------------------------------
-- Advice
---------------------------------------------------------------------------

/*
 * All of these take the same options: tiers that may take something in, what a
 * tier would be if it were another one, the time in which a move has to pay,
 * what is wished for (time, money, balanced) and what an hour of waiting is worth,
 * which relations may move, and a moment in the past up to which to look.
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
	OUT size_bytes bigint, OUT saved_io_s_per_hour float8, OUT price_delta_per_month float8,
	OUT move_cost_s float8, OUT confidence text, OUT reason text, OUT command text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_recommend_placement';
COMMENT ON FUNCTION tiered_storage.recommend_placement(boolean, name[], jsonb, interval, text, float8, name[], regclass[], timestamptz) IS
'where each table, index and partition should live, what that saves in device time and money, how sure that is, and the statement that does it; only what should change, unless include_unchanged';

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
COMMENT ON FUNCTION tiered_storage.explain_placement(regclass, name[], jsonb, interval, text, float8, name[], regclass[], timestamptz) IS
'why a relation should live where recommend_placement() says: its cost on each tier side by side';

CREATE FUNCTION tiered_storage.placement_summary(
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	price_per_wait_hour float8 DEFAULT NULL,
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	as_of timestamptz DEFAULT NULL,
	OUT tier_name name, OUT relations integer, OUT relations_after integer,
	OUT used_bytes bigint, OUT used_after_bytes bigint, OUT available_bytes bigint,
	OUT io_s_per_hour float8, OUT io_after_s_per_hour float8,
	OUT busy_fraction float8, OUT busy_after_fraction float8,
	OUT queue_s_per_hour float8, OUT queue_after_s_per_hour float8,
	OUT wait_s_per_hour float8, OUT wait_after_s_per_hour float8,
	OUT price_per_month float8, OUT price_after_per_month float8,
	OUT written_bytes_per_day float8, OUT written_after_bytes_per_day float8,
	OUT endurance_bytes_per_day float8, OUT limited_by text,
	OUT next_gb_saves_per_hour float8, OUT missing_bytes bigint,
	OUT objective_value float8, OUT lower_bound float8, OUT gap float8, OUT wait_hour_price float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_placement_summary';
COMMENT ON FUNCTION tiered_storage.placement_summary(name[], jsonb, interval, text, float8, name[], regclass[], timestamptz) IS
'what recommend_placement() comes to: each tier now and after it, then all of them (tier_name is null) with how good the placement is: no other one is below lower_bound, gap is how far it may be from the best; next_gb_saves_per_hour is what one more GB of the tier would save, in device-seconds per hour (objective time) or money per month';

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
	OUT tier_name name, OUT used_bytes bigint, OUT advised_bytes bigint, OUT simulated_bytes bigint,
	OUT available_bytes bigint, OUT simulated_available_bytes bigint,
	OUT io_s_per_hour float8, OUT advised_io_s_per_hour float8, OUT simulated_io_s_per_hour float8,
	OUT advised_busy_fraction float8, OUT simulated_busy_fraction float8,
	OUT advised_queue_s_per_hour float8, OUT simulated_queue_s_per_hour float8,
	OUT price_per_month float8, OUT advised_price_per_month float8, OUT simulated_price_per_month float8,
	OUT advised_written_bytes_per_day float8, OUT simulated_written_bytes_per_day float8,
	OUT limited_by text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_simulate_placement';
COMMENT ON FUNCTION tiered_storage.simulate_placement(jsonb, float8, name[], jsonb, interval, text, float8, name[], regclass[], timestamptz) IS
'what if: the placement that would be advised if tiers were others (changes, such as {"ssd": {"capacity_bytes": 200000000000}}) or the load were load_factor times what it is, beside the one that is advised; by tier, and all of them where tier_name is null';

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
	OUT capacity_bytes bigint, OUT used_bytes bigint, OUT io_s_per_hour float8, OUT queue_s_per_hour float8,
	OUT saved_s_per_hour float8, OUT price_per_month float8, OUT next_gb_saves_per_hour float8,
	OUT next_gb_price_per_month float8, OUT is_current boolean, OUT is_knee boolean)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_size_curve';
COMMENT ON FUNCTION tiered_storage.tier_size_curve(name, integer, name[], jsonb, interval, text, float8, name[], regclass[], timestamptz) IS
'how much of a tier is worth having: the best placement''s device time with more and more capacity of it; is_knee is where more begins to bring little; price_per_month is that of all of the capacity and of what is on the other tiers';

---------------------------------------------------------------------------
-- Policies
---------------------------------------------------------------------------

/*
 * The relation is known by its OID inside the database that wrote the row
 * (system_identifier, database_oid) while that is a partitioned table; else,
 * after a restore or when it was dropped and made anew, by its name, if it has
 * the same owner and is of the same kind: else anybody who can give a table
 * that name would have what was meant for another one moved, with the rights of
 * who made the policy.  Likewise the role that made the policy, but a role that
 * was dropped is gone: another one of that name does not get its rights.  So is
 * the owner known: by OID in this cluster, by name where the row was restored.
 */
CREATE TABLE tiered_storage.policy
(
	policy_id integer NOT NULL GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	relation_oid oid NOT NULL,
	schema_name name NOT NULL,
	relation_name name NOT NULL,
	system_identifier bigint NOT NULL,
	database_oid oid NOT NULL,
	tier_name name NOT NULL REFERENCES tiered_storage.tier ON UPDATE CASCADE,
	move_after interval NOT NULL CHECK (move_after OPERATOR(pg_catalog.>=) '0' AND move_after OPERATOR(pg_catalog.<=) '10000 years'),
	include_indexes boolean NOT NULL,
	age_from text NOT NULL CHECK (age_from OPERATOR(pg_catalog.=) ANY ('{now,newest}')),
	key_unit text CHECK (key_unit OPERATOR(pg_catalog.=) ANY ('{seconds,milliseconds,microseconds,nanoseconds,yyyymmdd,yyyymm,yyyy,uuidv7}')),
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
	UNIQUE (relation_oid, tier_name, database_oid, system_identifier)
);
CREATE INDEX policy_tier_name_idx ON tiered_storage.policy (tier_name);
COMMENT ON TABLE tiered_storage.policy IS
'tiering policies; use the view tiered_storage.policies to read, add_tiering_policy() to add';
SELECT pg_catalog.pg_extension_config_dump('tiered_storage.policy', '');
SELECT pg_catalog.pg_extension_config_dump('tiered_storage.policy_policy_id_seq', '');

CREATE VIEW tiered_storage.policies AS
	SELECT p.policy_id, c.oid::pg_catalog.regclass AS relation,
		pg_catalog.format('%I.%I', COALESCE(n.nspname, p.schema_name), COALESCE(c.relname, p.relation_name)) AS relation_name,
		p.move_after, p.tier_name, p.include_indexes, p.age_from, p.key_unit, p.key_epoch, p.key_shift, p.time_zone,
		COALESCE(a.rolname, p.created_by) AS created_by, p.created_at,
		p.last_evaluated_at, p.last_due, p.last_on_target,
		CASE WHEN c.oid IS NOT NULL THEN p.last_result
			WHEN EXISTS (SELECT FROM pg_catalog.pg_class x
				JOIN pg_catalog.pg_namespace y ON y.oid OPERATOR(pg_catalog.=) x.relnamespace
				WHERE y.nspname OPERATOR(pg_catalog.=) p.schema_name AND x.relname OPERATOR(pg_catalog.=) p.relation_name)
			THEN 'the relation of that name has another owner, or is of another kind'
			ELSE 'the relation does not exist' END AS last_result,
		a.oid AS created_by_oid
	FROM tiered_storage.policy p
	CROSS JOIN pg_catalog.pg_control_system() cs
	JOIN pg_catalog.pg_database d ON d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
	LEFT JOIN pg_catalog.pg_roles a ON CASE WHEN p.system_identifier OPERATOR(pg_catalog.=) cs.system_identifier
		THEN a.oid OPERATOR(pg_catalog.=) p.created_by_oid
		ELSE a.rolname OPERATOR(pg_catalog.=) p.created_by END
	LEFT JOIN (pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace)
		ON c.oid OPERATOR(pg_catalog.=) CASE
			WHEN p.system_identifier OPERATOR(pg_catalog.=) cs.system_identifier
				AND p.database_oid OPERATOR(pg_catalog.=) d.oid
				AND EXISTS (SELECT FROM pg_catalog.pg_class x
					WHERE x.oid OPERATOR(pg_catalog.=) p.relation_oid AND x.relkind OPERATOR(pg_catalog.=) 'p')
			THEN p.relation_oid
			ELSE (SELECT x.oid FROM pg_catalog.pg_class x
				JOIN pg_catalog.pg_namespace y ON y.oid OPERATOR(pg_catalog.=) x.relnamespace
				WHERE y.nspname OPERATOR(pg_catalog.=) p.schema_name
					AND x.relname OPERATOR(pg_catalog.=) p.relation_name
					AND x.relkind OPERATOR(pg_catalog.=) 'p'
					AND CASE WHEN p.system_identifier OPERATOR(pg_catalog.=) cs.system_identifier
						THEN x.relowner OPERATOR(pg_catalog.=) p.owner_oid
						ELSE pg_catalog.pg_get_userbyid(x.relowner) OPERATOR(pg_catalog.=) p.owner_name END) END;
COMMENT ON VIEW tiered_storage.policies IS
'the tiering policies, and what their last evaluation said; evaluate_policies() says it for each partition';

/*
 * Names and OIDs of tablespaces and policies as they are now, after renames
 * and restores.  A row that a restore brought for what has a row of this
 * cluster already gives way to it.
 *
 * Policies and pins are refreshed by samples and migrations only, not by what
 * people do to a tier, a policy or a pin: their transactions may stay open, and
 * then nobody else could do it.  For the same reason a row that somebody has
 * locked is left for the next time.
 */
CREATE FUNCTION tiered_storage.refresh_tablespaces() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	this_system bigint := (SELECT c.system_identifier FROM pg_catalog.pg_control_system() c);
	this_database oid := (SELECT d.oid FROM pg_catalog.pg_database d
		WHERE d.datname = pg_catalog.current_database());
BEGIN
	DELETE FROM tiered_storage.tier_tablespace t
		WHERE t.tablespace_name IN (SELECT x.tablespace_name FROM tiered_storage.tier_tablespace x
			WHERE x.system_identifier = this_system
				AND NOT EXISTS (SELECT FROM pg_catalog.pg_tablespace s WHERE s.oid = x.tablespace_oid)
			FOR UPDATE OF x SKIP LOCKED);
	DELETE FROM tiered_storage.tier_tablespace t
		WHERE t.tablespace_name IN (SELECT x.tablespace_name FROM tiered_storage.tier_tablespace x
			JOIN pg_catalog.pg_tablespace s ON s.spcname = x.tablespace_name
			JOIN tiered_storage.tier_tablespace o ON o.system_identifier = this_system AND o.tablespace_oid = s.oid
			WHERE x.system_identifier <> this_system
			FOR UPDATE OF x SKIP LOCKED);
	/* Names may be exchanged, so it is all of them or none. */
	IF EXISTS (SELECT FROM tiered_storage.tier_tablespace t
			JOIN tiered_storage.tier_tablespaces r ON r.stored_name = t.tablespace_name
			WHERE (t.tablespace_oid, t.tablespace_name, t.system_identifier)
				IS DISTINCT FROM (r.tablespace_oid, r.tablespace_name, this_system))
		AND (SELECT count(*) FROM (SELECT FROM tiered_storage.tier_tablespace x FOR UPDATE SKIP LOCKED) l)
			= (SELECT count(*) FROM tiered_storage.tier_tablespace) THEN
		UPDATE tiered_storage.tier_tablespace t
			SET tablespace_oid = r.tablespace_oid, tablespace_name = r.tablespace_name,
				system_identifier = this_system
			FROM tiered_storage.tier_tablespaces r
			WHERE t.tablespace_name = r.stored_name
				AND (t.tablespace_oid, t.tablespace_name, t.system_identifier)
					IS DISTINCT FROM (r.tablespace_oid, r.tablespace_name, this_system);
	END IF;

	/*
	 * What was only discovered here follows what somebody defines in another
	 * database, unless a policy or a pin relies on it.
	 */
	IF EXISTS (SELECT FROM tiered_storage.tier_tablespace t
			JOIN tiered_storage.tablespace_claims() c ON c.tablespace_oid = t.tablespace_oid
			WHERE t.discovered AND c.database_oid <> this_database AND c.tier_name <> t.tier_name
				AND NOT EXISTS (SELECT FROM tiered_storage.policy p WHERE p.tier_name = t.tier_name)
				AND NOT EXISTS (SELECT FROM tiered_storage.pin p WHERE p.tier_name = t.tier_name)) THEN
		BEGIN
			LOCK TABLE tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE NOWAIT;
			DELETE FROM tiered_storage.tier_tablespace t
				WHERE t.tablespace_name IN (SELECT x.tablespace_name FROM tiered_storage.tier_tablespace x
					JOIN tiered_storage.tablespace_claims() c ON c.tablespace_oid = x.tablespace_oid
					WHERE x.discovered AND c.database_oid <> this_database AND c.tier_name <> x.tier_name
						AND NOT EXISTS (SELECT FROM tiered_storage.policy p WHERE p.tier_name = x.tier_name)
						AND NOT EXISTS (SELECT FROM tiered_storage.pin p WHERE p.tier_name = x.tier_name)
					FOR UPDATE OF x SKIP LOCKED);
			IF FOUND THEN
				PERFORM tiered_storage.discover_tiers();
				DELETE FROM tiered_storage.tier t
					WHERE t.tier_name IN (SELECT x.tier_name FROM tiered_storage.tier x
						WHERE x.discovered
							AND NOT EXISTS (SELECT FROM tiered_storage.tier_tablespace tt WHERE tt.tier_name = x.tier_name)
							AND NOT EXISTS (SELECT FROM tiered_storage.policy p WHERE p.tier_name = x.tier_name)
							AND NOT EXISTS (SELECT FROM tiered_storage.pin p WHERE p.tier_name = x.tier_name)
						FOR UPDATE OF x SKIP LOCKED);
			END IF;
		EXCEPTION WHEN lock_not_available THEN
			NULL;	-- somebody changes the tiers just now
		END;
	END IF;
END
$$;
COMMENT ON FUNCTION tiered_storage.refresh_tablespaces() IS
'internal: brings the names and OIDs that tiers remember up to date';

CREATE FUNCTION tiered_storage.refresh_identities() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	this_system bigint := (SELECT c.system_identifier FROM pg_catalog.pg_control_system() c);
	this_database oid := (SELECT d.oid FROM pg_catalog.pg_database d
		WHERE d.datname = pg_catalog.current_database());
	locked integer[];
BEGIN
	PERFORM tiered_storage.refresh_tablespaces();

	/* Of several policies that have come to mean the same, the first stays. */
	DELETE FROM tiered_storage.policy p
		WHERE p.policy_id IN (SELECT x.policy_id FROM tiered_storage.policy x
			WHERE x.policy_id IN (SELECT d.policy_id FROM (
				SELECT v.policy_id, row_number() OVER (PARTITION BY v.relation, v.tier_name ORDER BY v.policy_id) AS place
				FROM tiered_storage.policies v WHERE v.relation IS NOT NULL) d WHERE d.place > 1)
			FOR UPDATE OF x SKIP LOCKED);
	locked := ARRAY(SELECT p.policy_id
		FROM tiered_storage.policy p, tiered_storage.policies v, pg_catalog.pg_class c, pg_catalog.pg_namespace n
		WHERE v.policy_id = p.policy_id AND c.oid = v.relation::pg_catalog.oid
			AND n.oid = c.relnamespace
			AND (p.relation_oid, p.schema_name, p.relation_name, p.system_identifier, p.database_oid,
					p.created_by, p.created_by_oid, p.owner_name, p.owner_oid)
				IS DISTINCT FROM (c.oid, n.nspname, c.relname, this_system, this_database,
					v.created_by, COALESCE(v.created_by_oid, 0), pg_get_userbyid(c.relowner), c.relowner)
		FOR UPDATE OF p SKIP LOCKED);
	IF locked <> '{}' THEN
		UPDATE tiered_storage.policy p
			SET relation_oid = c.oid, schema_name = n.nspname, relation_name = c.relname,
				system_identifier = this_system, database_oid = this_database,
				created_by = v.created_by, created_by_oid = COALESCE(v.created_by_oid, 0),
				owner_name = pg_get_userbyid(c.relowner), owner_oid = c.relowner
			FROM tiered_storage.policies v, pg_catalog.pg_class c, pg_catalog.pg_namespace n
			WHERE v.policy_id = p.policy_id AND c.oid = v.relation::pg_catalog.oid
				AND n.oid = c.relnamespace AND p.policy_id = ANY (locked);
	END IF;

	/*
	 * Pins that have expired go, and those of a relation that has not been
	 * there for long enough: until then it may be made anew.  Of several that
	 * have come to mean the same, the latest stays.
	 */
	IF NOT EXISTS (SELECT FROM tiered_storage.pin) THEN
		RETURN;
	END IF;
	DELETE FROM tiered_storage.pin p
		WHERE p.pin_id IN (SELECT x.pin_id FROM tiered_storage.pin x
			WHERE x.until <= now() OR x.missing_since < now() - interval '30 days'
			FOR UPDATE OF x SKIP LOCKED);
	DELETE FROM tiered_storage.pin p
		WHERE p.pin_id IN (SELECT x.pin_id FROM tiered_storage.pin x
			WHERE x.pin_id IN (SELECT d.pin_id FROM (
				SELECT v.pin_id, row_number() OVER (PARTITION BY v.relation_oid ORDER BY v.pinned_at DESC, v.pin_id DESC) AS place
				FROM tiered_storage.pin_targets v WHERE v.relation_oid IS NOT NULL) d WHERE d.place > 1)
			FOR UPDATE OF x SKIP LOCKED);
	locked := ARRAY(SELECT p.pin_id
		FROM tiered_storage.pin p, tiered_storage.pin_targets v, pg_catalog.pg_class c, pg_catalog.pg_namespace n
		WHERE v.pin_id = p.pin_id AND c.oid = v.relation_oid
			AND n.oid = c.relnamespace
			AND (p.relation_oid, p.schema_name, p.relation_name, p.system_identifier, p.database_oid,
					p.pinned_by, p.pinned_by_oid, p.owner_name, p.owner_oid, p.missing_since)
				IS DISTINCT FROM (c.oid, n.nspname, c.relname, this_system, this_database,
					v.pinned_by, COALESCE(v.pinned_by_oid, 0), pg_get_userbyid(c.relowner), c.relowner, NULL)
		FOR UPDATE OF p SKIP LOCKED);
	IF locked <> '{}' THEN
		UPDATE tiered_storage.pin p
			SET relation_oid = c.oid, schema_name = n.nspname, relation_name = c.relname,
				system_identifier = this_system, database_oid = this_database,
				pinned_by = v.pinned_by, pinned_by_oid = COALESCE(v.pinned_by_oid, 0),
				owner_name = pg_get_userbyid(c.relowner), owner_oid = c.relowner, missing_since = NULL
			FROM tiered_storage.pin_targets v, pg_catalog.pg_class c, pg_catalog.pg_namespace n
			WHERE v.pin_id = p.pin_id AND c.oid = v.relation_oid
				AND n.oid = c.relnamespace AND p.pin_id = ANY (locked);
	END IF;
	locked := ARRAY(SELECT p.pin_id
		FROM tiered_storage.pin p, tiered_storage.pin_targets v
		WHERE v.pin_id = p.pin_id AND v.relation_oid IS NULL AND p.missing_since IS NULL
		FOR UPDATE OF p SKIP LOCKED);
	UPDATE tiered_storage.pin p SET missing_since = now()
		WHERE p.pin_id = ANY (locked);
END
$$;
COMMENT ON FUNCTION tiered_storage.refresh_identities() IS
'internal: brings the names and OIDs that tiers, policies and pins remember up to date, and forgets pins that have expired';

CREATE FUNCTION tiered_storage.add_tiering_policy(
	relation regclass,
	move_after interval,
	tier name,
	include_indexes boolean DEFAULT true,
	age_from text DEFAULT 'now',
	key_unit text DEFAULT NULL,
	key_epoch timestamptz DEFAULT NULL,
	key_shift integer DEFAULT 0,
	time_zone text DEFAULT NULL,
	if_not_exists boolean DEFAULT false)
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_add_tiering_policy';
COMMENT ON FUNCTION tiered_storage.add_tiering_policy(regclass, interval, name, boolean, text, text, timestamptz, integer, text, boolean) IS
'moves partitions of a range-partitioned table to a tier once everything in them is older than move_after; age counts from now, or from the end of the newest partition (age_from => ''newest''); key_unit says how a number or uuid tells the time; key_epoch what a count begins at (left out: 1970-01-01 UTC), key_shift how many bits are beneath it; dates begin in time_zone (left out: that of the session); returns the policy''s id';

CREATE FUNCTION tiered_storage.remove_tiering_policy(
	relation regclass DEFAULT NULL,
	tier name DEFAULT NULL,
	policy_id integer DEFAULT NULL,
	if_exists boolean DEFAULT false)
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_remove_tiering_policy';
COMMENT ON FUNCTION tiered_storage.remove_tiering_policy(regclass, name, integer, boolean) IS
'removes the policies of a relation, the one for a tier, or the one with this id; moved partitions stay where they are; returns how many were removed';

CREATE FUNCTION tiered_storage.evaluate_policies(
	OUT policy_id integer, OUT relation regclass, OUT verdict text,
	OUT lower_bound timestamptz, OUT upper_bound timestamptz,
	OUT from_tier name, OUT from_tablespace name, OUT to_tier name, OUT to_tablespace name,
	OUT size_bytes bigint, OUT reason text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_evaluate_policies';
COMMENT ON FUNCTION tiered_storage.evaluate_policies() IS
'what the policies say now: one row for each partition, whether it is due, and why or why not; changes nothing';

---------------------------------------------------------------------------
-- Pins
---------------------------------------------------------------------------

/* The relation, its owner and the role are known as those of a policy are. */
CREATE TABLE tiered_storage.pin
(
	pin_id integer NOT NULL GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	relation_oid oid NOT NULL,
	schema_name name NOT NULL,
	relation_name name NOT NULL,
	system_identifier bigint NOT NULL,
	database_oid oid NOT NULL,
	tier_name name NOT NULL REFERENCES tiered_storage.tier ON UPDATE CASCADE,
	until timestamptz CHECK (pg_catalog.isfinite(until)),	-- null: for ever
	include_indexes boolean NOT NULL,
	pinned_by name NOT NULL,
	pinned_by_oid oid NOT NULL,
	pinned_at timestamptz NOT NULL,
	owner_name name NOT NULL,
	owner_oid oid NOT NULL,
	relation_kind "char" NOT NULL CHECK (relation_kind OPERATOR(pg_catalog.=) ANY ('{r,m,i,p}'::pg_catalog."char"[])),
	missing_since timestamptz,
	UNIQUE (relation_oid, database_oid, system_identifier)
);
CREATE INDEX pin_tier_name_idx ON tiered_storage.pin (tier_name);
CREATE INDEX pin_relation_name_idx ON tiered_storage.pin (relation_name, schema_name);
COMMENT ON TABLE tiered_storage.pin IS
'relations that stay on a tier; use the view tiered_storage.pins to read, pin() and unpin() to change';
COMMENT ON COLUMN tiered_storage.pin.missing_since IS
'since when there is no such relation; after 30 days the pin is forgotten';
SELECT pg_catalog.pg_extension_config_dump('tiered_storage.pin', '');
SELECT pg_catalog.pg_extension_config_dump('tiered_storage.pin_pin_id_seq', '');

CREATE VIEW tiered_storage.pin_targets AS
	SELECT p.pin_id, c.oid AS relation_oid,
		pg_catalog.format('%I.%I', COALESCE(n.nspname, p.schema_name), COALESCE(c.relname, p.relation_name)) AS relation_name,
		p.tier_name, p.until, p.include_indexes,
		COALESCE(a.rolname, p.pinned_by) AS pinned_by, a.oid AS pinned_by_oid, p.pinned_at
	FROM tiered_storage.pin p
	CROSS JOIN pg_catalog.pg_control_system() cs
	JOIN pg_catalog.pg_database d ON d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
	LEFT JOIN pg_catalog.pg_roles a ON CASE WHEN p.system_identifier OPERATOR(pg_catalog.=) cs.system_identifier
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
					ELSE pg_catalog.pg_get_userbyid(x.relowner) OPERATOR(pg_catalog.=) p.owner_name END)) AS oid) t
	LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) t.oid
	LEFT JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace;
COMMENT ON VIEW tiered_storage.pin_targets IS
'which relation of this database each pin means, null when it does not exist; see the view pins';

/*
 * The partition trees are read from pg_inherits, because the functions that know
 * them lock all partitions.
 */
CREATE VIEW tiered_storage.pinned_relations AS
	WITH RECURSIVE covered AS (
		SELECT v.pin_id, v.relation_oid, 0 AS distance, v.include_indexes
		FROM tiered_storage.pin_targets v
		WHERE v.relation_oid IS NOT NULL
			AND (v.until IS NULL OR v.until OPERATOR(pg_catalog.>) pg_catalog.now())
		UNION ALL
		SELECT v.pin_id, i.inhrelid, v.distance OPERATOR(pg_catalog.+) 1, v.include_indexes
		FROM covered v
		JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) v.relation_oid AND c.relkind OPERATOR(pg_catalog.=) 'p'
		JOIN pg_catalog.pg_inherits i ON i.inhparent OPERATOR(pg_catalog.=) c.oid AND NOT i.inhdetachpending
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
	JOIN tiered_storage.pin_targets v ON v.pin_id OPERATOR(pg_catalog.=) n.pin_id
	JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) n.relation_oid
		AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,m,i}'::pg_catalog."char"[])
	JOIN pg_catalog.pg_database d ON d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
	LEFT JOIN tiered_storage.tier_tablespaces tt ON tt.tablespace_oid OPERATOR(pg_catalog.=)
		CASE WHEN c.reltablespace OPERATOR(pg_catalog.=) 0::pg_catalog.oid THEN d.dattablespace ELSE c.reltablespace END;
COMMENT ON VIEW tiered_storage.pinned_relations IS
'each table, partition, materialized view and index that a pin holds now: the tier, where it is, and what was pinned: itself, its table, or the nearest partitioned table above it';

CREATE VIEW tiered_storage.pins AS
	SELECT v.relation_oid::pg_catalog.regclass AS relation, v.relation_name, v.tier_name, v.until, v.include_indexes,
		v.pinned_by, v.pinned_at, COALESCE(r.relations, 0) AS relations, r.is_on_tier,
		(v.until OPERATOR(pg_catalog.<=) pg_catalog.now()) IS TRUE AS is_expired
	FROM tiered_storage.pin_targets v
	LEFT JOIN (SELECT x.pin_id, pg_catalog.count(*) AS relations, pg_catalog.bool_and(x.is_on_tier) AS is_on_tier
		FROM tiered_storage.pinned_relations x GROUP BY x.pin_id) r ON r.pin_id OPERATOR(pg_catalog.=) v.pin_id;
COMMENT ON VIEW tiered_storage.pins IS
'what is pinned to which tier, until when, and by whom; how many relations the pin holds, and whether all of them are on the tier';

CREATE FUNCTION tiered_storage.pin(
	relation regclass,
	tier name DEFAULT NULL,
	until timestamptz DEFAULT NULL,
	include_indexes boolean DEFAULT true)
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_pin';
COMMENT ON FUNCTION tiered_storage.pin(regclass, name, timestamptz, boolean) IS
'keeps a table, materialized view, index, or all partitions of a partitioned table, those of the future included, on a tier (null: where it is now), until a time or for ever: nothing moves it elsewhere but ALTER; replaces the pin that it has; returns the number of pins set, more than one when indexes are on other tiers than their table';

CREATE FUNCTION tiered_storage.unpin(
	relation regclass,
	include_indexes boolean DEFAULT true)
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_unpin';
COMMENT ON FUNCTION tiered_storage.unpin(regclass, boolean) IS
'removes the pin of a relation, and those that its indexes have of their own; it stays where it is; returns the number of pins removed';

---------------------------------------------------------------------------
-- Moves
---------------------------------------------------------------------------

CREATE TABLE tiered_storage.move
(
	move_id bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	relation_oid oid NOT NULL,
	relation_name text NOT NULL,
	kind text NOT NULL,
	from_tablespace name NOT NULL,
	to_tablespace name NOT NULL,
	from_tier name,
	to_tier name,
	state text NOT NULL CHECK (state OPERATOR(pg_catalog.=) ANY ('{running,done,failed,skipped}')),
	requested_by name NOT NULL,
	policy_id integer,
	batch_id bigint,
	undo_of bigint,
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
	elapsed_ms float8,
	error text,
	sqlstate text,
	pid integer,
	backend_start timestamptz
);
CREATE INDEX move_relation_oid_idx ON tiered_storage.move (relation_oid, move_id);
CREATE INDEX move_batch_id_idx ON tiered_storage.move (batch_id) WHERE batch_id IS NOT NULL;
CREATE SEQUENCE tiered_storage.move_batch;
COMMENT ON SEQUENCE tiered_storage.move_batch IS 'numbers of the batches that apply_placement() and undo_move() make';
CREATE INDEX move_undo_of_idx ON tiered_storage.move (undo_of) WHERE undo_of IS NOT NULL;
CREATE INDEX move_running_idx ON tiered_storage.move (move_id) WHERE state OPERATOR(pg_catalog.=) 'running';

/*
 * Files that are being made and that no relation has yet.  Committed before
 * the file is created, so that after a crash somebody knows of it.  Read and
 * written by move/pending_file.c alone, below SQL, by the order of the columns.
 */
CREATE TABLE tiered_storage.move_file
(
	tablespace_oid oid NOT NULL,
	file_number oid NOT NULL,
	relation_oid oid NOT NULL,
	pid integer NOT NULL,
	created_at timestamptz NOT NULL,
	system_identifier bigint NOT NULL,
	PRIMARY KEY (tablespace_oid, file_number)
) USING heap;
COMMENT ON COLUMN tiered_storage.move_file.tablespace_oid IS '0: the default tablespace of the database';
COMMENT ON COLUMN tiered_storage.move_file.pid IS 'the process that made the entry; it need not run any more';
COMMENT ON COLUMN tiered_storage.move_file.system_identifier IS 'the cluster that the file is in; pg_upgrade brings entries along, and not their files';
COMMENT ON TABLE tiered_storage.move_file IS 'files of moves that are under way or did not end; the worker removes what a crash has left';
COMMENT ON TABLE tiered_storage.move IS 'moves that run or ran; use the views tiered_storage.moves and tiered_storage.move_progress';

/*
 * One row for each move that is done; it is deleted after that of the move.
 * Written when the move is done, when its load begins to be measured
 * (observed_since), and when it is settled: measured, or found to be not
 * measurable.  Profiles are random read and write ms, sequential read and write
 * MB/s, fsync ms and parallelism of the tiers at the time of the move; totals and
 * device_totals are the total_* columns of relation_state and device_state at
 * observed_since.
 */
CREATE TABLE tiered_storage.move_effect
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
	batch_effect text
) WITH (fillfactor = 70);
CREATE INDEX move_effect_open_idx ON tiered_storage.move_effect (observed_since) WHERE settled_at IS NULL;
CREATE INDEX move_effect_relation_oid_idx ON tiered_storage.move_effect (relation_oid) WHERE settled_at IS NULL;
CREATE INDEX move_effect_batch_id_idx ON tiered_storage.move_effect (batch_id) WHERE batch_id IS NOT NULL;
CREATE INDEX move_effect_unjudged_idx ON tiered_storage.move_effect (batch_id)
	WHERE batch_id IS NOT NULL AND batch_effect IS NULL;
COMMENT ON TABLE tiered_storage.move_effect IS
'what moves that are done are measured against, and what came of them; use the views tiered_storage.moves and tiered_storage.move_batches';
COMMENT ON COLUMN tiered_storage.move_effect.from_factor IS
'how many times as long as its profile says the device beneath the old tier took, as measured before the move; null: its figures are not to be believed';
COMMENT ON COLUMN tiered_storage.move_effect.batch_effect IS
'the verdict on the batch at the time when it was made; null: not yet';

CREATE FUNCTION tiered_storage.effect_verdict(
	predicted_saved_io_s_per_hour float8, unmoved_io_s_per_hour float8, measured_io_s_per_hour float8)
RETURNS text
LANGUAGE C STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_effect_verdict';
COMMENT ON FUNCTION tiered_storage.effect_verdict(float8, float8, float8) IS
'internal: what the views moves and move_batches call it: what a measured cost says of what was predicted to be saved, where unmoved is what the same load would have cost on the old tier';

CREATE VIEW tiered_storage.moves AS
	SELECT m.move_id, COALESCE(c.oid::pg_catalog.regclass::pg_catalog.text, m.relation_name) AS relation, m.kind,
		m.from_tier, m.to_tier, m.from_tablespace, m.to_tablespace,
		CASE WHEN m.state OPERATOR(pg_catalog.=) 'running' AND a.pid IS NULL THEN 'interrupted' ELSE m.state END AS state,
		m.requested_by, m.policy_id, m.reason, m.method, m.size_bytes,
		m.started_at, m.finished_at, m.elapsed_ms, m.attempts, m.failures, m.next_attempt_at,
		m.lock_wait_ms, m.lock_held_ms, m.lock_flush_ms, m.copied_bytes, m.error, m.sqlstate,
		m.batch_id, m.predicted_saved_io_s_per_hour,
		m.before_io_s_per_hour, m.predicted_io_s_per_hour,
		CASE WHEN e.not_measurable IS NULL THEN e.settled_at END AS measured_at,
		e.source AS effect_source,
		e.unmoved_io_s_per_hour, e.measured_io_s_per_hour,
		e.unmoved_io_s_per_hour OPERATOR(pg_catalog.-) e.measured_io_s_per_hour AS measured_saved_io_s_per_hour,
		CASE WHEN m.state OPERATOR(pg_catalog.<>) 'done' THEN NULL
			WHEN e.not_measurable IS NOT NULL THEN 'not measurable: ' OPERATOR(pg_catalog.||) e.not_measurable
			ELSE tiered_storage.effect_verdict(m.predicted_saved_io_s_per_hour, e.unmoved_io_s_per_hour, e.measured_io_s_per_hour)
			END AS effect,
		m.undo_of
	FROM tiered_storage.move m
	LEFT JOIN tiered_storage.move_effect e ON e.move_id OPERATOR(pg_catalog.=) m.move_id
	LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) m.relation_oid
	LEFT JOIN pg_catalog.pg_stat_activity a
		ON a.pid OPERATOR(pg_catalog.=) m.pid AND a.backend_start OPERATOR(pg_catalog.=) m.backend_start;
COMMENT ON VIEW tiered_storage.moves IS
'each relation that was moved, or could not be: when, why, how long it was locked, and the error; a relation that cannot be moved has one row, with the number of failures and the time of the next attempt; and what it cost before, what was predicted and what was measured afterwards, in seconds of device time per hour: measured_* of the load since the move where it is now, unmoved_* of the same load where it was';

CREATE VIEW tiered_storage.move_batches AS
	SELECT b.batch_id,
		CASE WHEN b.undo_of IS NULL THEN 'placement' ELSE 'undo' END AS kind,
		b.requested_by, b.started_at,
		CASE WHEN b.moves_running OPERATOR(pg_catalog.=) 0 THEN b.finished_at END AS finished_at,
		b.moves_done, b.moves_failed, b.moves_skipped, b.moves_running,
		b.moved_bytes, b.predicted_saved_io_s_per_hour, b.measured_saved_io_s_per_hour, b.measured_moves,
		CASE WHEN b.moves_done OPERATOR(pg_catalog.=) 0 THEN NULL
			WHEN b.moves_running OPERATOR(pg_catalog.>) 0 OR b.open_moves OPERATOR(pg_catalog.>) 0
				THEN tiered_storage.effect_verdict(NULL, NULL, NULL)
			WHEN b.measured_moves OPERATOR(pg_catalog.=) 0 THEN 'not measurable'
			ELSE tiered_storage.effect_verdict(b.predicted_of_measured, b.unmoved, b.measured) END AS effect,
		CASE WHEN EXISTS (SELECT FROM tiered_storage.move d
				JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) d.relation_oid
				JOIN pg_catalog.pg_database x ON x.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
				JOIN pg_catalog.pg_tablespace t ON t.spcname OPERATOR(pg_catalog.=) d.to_tablespace
					AND t.oid OPERATOR(pg_catalog.=) CASE c.reltablespace WHEN 0 THEN x.dattablespace ELSE c.reltablespace END
				JOIN pg_catalog.pg_tablespace f ON f.spcname OPERATOR(pg_catalog.=) d.from_tablespace
				WHERE d.batch_id OPERATOR(pg_catalog.=) b.batch_id AND d.state OPERATOR(pg_catalog.=) 'done')
			THEN pg_catalog.format('CALL tiered_storage.undo_move(%s)', b.batch_id) END AS undo_command,
		b.undo_of,
		(SELECT pg_catalog.max(u.batch_id) FROM tiered_storage.move u
			WHERE u.undo_of OPERATOR(pg_catalog.=) b.batch_id AND u.state OPERATOR(pg_catalog.=) 'done') AS undone_by
	FROM (
		SELECT m.batch_id, pg_catalog.min(m.undo_of) AS undo_of,
			pg_catalog.min(m.requested_by::pg_catalog.text)::pg_catalog.name AS requested_by,
			pg_catalog.min(m.started_at) AS started_at, pg_catalog.max(m.finished_at) AS finished_at,
			pg_catalog.count(*) FILTER (WHERE m.state OPERATOR(pg_catalog.=) 'done') AS moves_done,
			pg_catalog.count(*) FILTER (WHERE m.state OPERATOR(pg_catalog.=) 'failed') AS moves_failed,
			pg_catalog.count(*) FILTER (WHERE m.state OPERATOR(pg_catalog.=) 'skipped') AS moves_skipped,
			pg_catalog.count(*) FILTER (WHERE m.state OPERATOR(pg_catalog.=) 'running') AS moves_running,
			pg_catalog.count(e.measured_io_s_per_hour) AS measured_moves,
			pg_catalog.count(*) FILTER (WHERE m.state OPERATOR(pg_catalog.=) 'done' AND e.settled_at IS NULL) AS open_moves,
			COALESCE(pg_catalog.sum(m.size_bytes) FILTER (WHERE m.state OPERATOR(pg_catalog.=) 'done'), 0)::pg_catalog.int8 AS moved_bytes,
			pg_catalog.sum(m.predicted_saved_io_s_per_hour) FILTER (WHERE m.state OPERATOR(pg_catalog.=) 'done') AS predicted_saved_io_s_per_hour,
			pg_catalog.sum(e.unmoved_io_s_per_hour OPERATOR(pg_catalog.-) e.measured_io_s_per_hour) AS measured_saved_io_s_per_hour,
			CASE WHEN pg_catalog.bool_and(m.predicted_saved_io_s_per_hour IS NOT NULL) FILTER (WHERE e.measured_io_s_per_hour IS NOT NULL)
				THEN pg_catalog.sum(m.predicted_saved_io_s_per_hour) FILTER (WHERE e.measured_io_s_per_hour IS NOT NULL)
				END AS predicted_of_measured,
			pg_catalog.sum(e.unmoved_io_s_per_hour) AS unmoved, pg_catalog.sum(e.measured_io_s_per_hour) AS measured
		FROM tiered_storage.move m
		LEFT JOIN tiered_storage.move_effect e ON e.move_id OPERATOR(pg_catalog.=) m.move_id
		WHERE m.batch_id IS NOT NULL
		GROUP BY m.batch_id) b;
COMMENT ON VIEW tiered_storage.move_batches IS
'moves that were made together, by apply_placement() or undo_move(): how many, how much, what they were predicted to save and what was measured, in seconds of device time per hour; effect is about those that were measured, once nothing is left to be measured; undo_command is there as long as there is something to take back';

CREATE FUNCTION tiered_storage.mover_progress(
	pid integer, OUT part_oid oid, OUT phase text, OUT blocks_total bigint, OUT blocks_done bigint,
	OUT copied_bytes bigint, OUT catch_up_rounds integer, OUT attempts integer, OUT restarts integer,
	OUT started_at timestamptz)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_mover_progress';
COMMENT ON FUNCTION tiered_storage.mover_progress(integer) IS
'how far the process is with what it moves now; no row when it moves nothing; see the view move_progress';

CREATE FUNCTION tiered_storage.orphaned_files(
	OUT tablespace_name name, OUT file_number oid, OUT path text, OUT size_bytes bigint,
	OUT written_at timestamptz, OUT is_registered boolean)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_orphaned_files';
COMMENT ON FUNCTION tiered_storage.orphaned_files() IS
'files of this database that no relation uses and no open transaction can have made, as a crash leaves them; those that are registered are removed by the next move or worker cycle, the others are for you to judge';

CREATE VIEW tiered_storage.move_progress AS
	SELECT m.move_id, COALESCE(c.oid::pg_catalog.regclass::pg_catalog.text, m.relation_name) AS relation, m.kind,
		m.from_tablespace, m.to_tablespace, a.pid, m.method,
		pg_catalog.to_regclass(p.part_oid::pg_catalog.regclass::pg_catalog.text) AS part,
		COALESCE(p.phase, 'starting') AS phase,
		p.blocks_total, p.blocks_done,
		GREATEST(p.blocks_total OPERATOR(pg_catalog.-) p.blocks_done, 0) AS blocks_to_go,
		p.copied_bytes OPERATOR(pg_catalog./) NULLIF(t.part_s, 0) AS bytes_per_s,
		CASE WHEN p.blocks_done OPERATOR(pg_catalog.>) 0 THEN
			t.part_s OPERATOR(pg_catalog.*) GREATEST(p.blocks_total OPERATOR(pg_catalog.-) p.blocks_done, 0)
			OPERATOR(pg_catalog./) p.blocks_done END AS remaining_s,
		p.catch_up_rounds, p.attempts, p.restarts,
		m.size_bytes, m.started_at,
		(EXTRACT(epoch FROM pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) m.started_at) OPERATOR(pg_catalog.*) 1000)::pg_catalog.float8 AS elapsed_ms
	FROM tiered_storage.move m
	JOIN pg_catalog.pg_stat_activity a
		ON a.pid OPERATOR(pg_catalog.=) m.pid AND a.backend_start OPERATOR(pg_catalog.=) m.backend_start
	LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) m.relation_oid
	LEFT JOIN LATERAL tiered_storage.mover_progress(m.pid) p ON true
	LEFT JOIN LATERAL (SELECT EXTRACT(epoch FROM pg_catalog.clock_timestamp()
		OPERATOR(pg_catalog.-) p.started_at)::pg_catalog.float8 AS part_s) t ON true
	WHERE m.state OPERATOR(pg_catalog.=) 'running';
COMMENT ON VIEW tiered_storage.move_progress IS
'the moves that are under way now: which part of the relation (the table, its TOAST table, the index of that), in which phase, how many of its blocks are copied, how fast, and how long it will still take at this rate';

CREATE PROCEDURE tiered_storage.move_relation(
	relation regclass, target name, include_indexes boolean DEFAULT true,
	allow_lock boolean DEFAULT false, index_target name DEFAULT NULL)
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_move_relation';
COMMENT ON PROCEDURE tiered_storage.move_relation(regclass, name, boolean, boolean, name) IS
'moves a table, materialized view or index, or all leaf partitions of a partitioned table, to a tier or tablespace, indexes along (to index_target, if given), while they are used; what cannot be moved so (unlogged, unknown access method) only with allow_lock, which locks it for the whole copy; cannot run in a transaction block';

CREATE PROCEDURE tiered_storage.apply_placement(
	min_confidence text DEFAULT 'firm', max_bytes bigint DEFAULT NULL, dry_run boolean DEFAULT false,
	tiers name[] DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	price_per_wait_hour float8 DEFAULT NULL,
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL)
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_apply_placement';
COMMENT ON PROCEDURE tiered_storage.apply_placement(text, bigint, boolean, name[], interval, text, float8, name[], regclass[]) IS
'does what recommend_placement() says with the same arguments, as one batch of moves in an order in which no tier overflows on the way: what is at least this sure (firm, tentative, insufficient data), at most max_bytes of it, most gain for each byte first; dry_run only says what it would do';

CREATE PROCEDURE tiered_storage.undo_move(batch_id bigint)
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_undo_move';
COMMENT ON PROCEDURE tiered_storage.undo_move(bigint) IS
'moves back what a batch of apply_placement() has moved, the last first; leaves alone what is somewhere else by now';

CREATE FUNCTION tiered_storage.pause() RETURNS boolean
LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'tier_pause';
COMMENT ON FUNCTION tiered_storage.pause() IS
'pauses all moves of this server at once, those under way included, until resume(); also across restarts; false when they were paused already';

CREATE FUNCTION tiered_storage.resume() RETURNS boolean
LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'tier_resume';
COMMENT ON FUNCTION tiered_storage.resume() IS
'lets moves go on where pause() has stopped them; false when they were not paused';

CREATE FUNCTION tiered_storage.is_paused() RETURNS boolean
LANGUAGE C STABLE AS 'MODULE_PATHNAME', 'tier_is_paused';
COMMENT ON FUNCTION tiered_storage.is_paused() IS 'whether all moves of this server are paused; see pause()';

CREATE PROCEDURE tiered_storage.migrate(dry_run boolean DEFAULT false)
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_migrate';
COMMENT ON PROCEDURE tiered_storage.migrate(boolean) IS
'does what the tiering policies ask for: moves each partition that is due, one transaction for each relation; dry_run only says what it would do';

/* Observation, which needs the record of moves. */
CREATE VIEW tiered_storage.write_amplification AS
	WITH relation AS (
		SELECT h.tier_name,
			CASE WHEN h.kind OPERATOR(pg_catalog.<>) 'index' THEN h.writes_per_hour END AS row_changes,
			CASE WHEN h.kind OPERATOR(pg_catalog.<>) 'index' AND s.tuples OPERATOR(pg_catalog.>) 0
				THEN h.writes_per_hour OPERATOR(pg_catalog.*) s.size_bytes OPERATOR(pg_catalog./) s.tuples END AS row_bytes,
			h.page_writes_per_hour OPERATOR(pg_catalog.*) b.block_size AS page_bytes,
			h.maintenance_writes_per_hour OPERATOR(pg_catalog.*) b.block_size AS maintenance_bytes,
			h.wal_bytes_per_hour, h.full_page_image_bytes_per_hour
		FROM tiered_storage.heat h
		JOIN tiered_storage.relation_state s ON s.relation_oid OPERATOR(pg_catalog.=) h.relation::pg_catalog.oid
		CROSS JOIN (SELECT pg_catalog.current_setting('block_size')::pg_catalog.float8 AS block_size) b
		WHERE h.write_source OPERATOR(pg_catalog.=) 'wal'),
	tier AS (
		SELECT r.tier_name, false AS is_total, pg_catalog.sum(r.row_changes) AS row_changes, pg_catalog.sum(r.row_bytes) AS row_bytes,
			pg_catalog.sum(r.page_bytes) AS page_bytes, pg_catalog.sum(r.maintenance_bytes) AS maintenance_bytes,
			pg_catalog.sum(r.wal_bytes_per_hour) AS wal_bytes, pg_catalog.sum(r.full_page_image_bytes_per_hour) AS image_bytes
		FROM relation r GROUP BY r.tier_name
		UNION ALL
		SELECT NULL, true, pg_catalog.sum(r.row_changes), pg_catalog.sum(r.row_bytes),
			pg_catalog.sum(r.page_bytes), pg_catalog.sum(r.maintenance_bytes),
			pg_catalog.sum(r.wal_bytes_per_hour), pg_catalog.sum(r.full_page_image_bytes_per_hour)
		FROM relation r),
	moved AS (
		SELECT m.to_tier, pg_catalog.sum(m.copied_bytes) AS bytes
		FROM tiered_storage.move m
		WHERE m.finished_at OPERATOR(pg_catalog.>) (pg_catalog.now() OPERATOR(pg_catalog.-) '1 day'::pg_catalog.interval)
		GROUP BY m.to_tier)
	SELECT t.tier_name, t.is_total,
		COALESCE(t.row_changes, 0) AS row_changes_per_hour,
		COALESCE(t.row_bytes, 0) AS row_bytes_per_hour,
		COALESCE(t.page_bytes, 0) AS page_write_bytes_per_hour,
		COALESCE(t.maintenance_bytes, 0) AS maintenance_write_bytes_per_hour,
		COALESCE(m.bytes, 0)::pg_catalog.float8 OPERATOR(pg_catalog./) 24 AS moved_bytes_per_hour,
		COALESCE(t.wal_bytes, 0) AS wal_bytes_per_hour,
		COALESCE(t.image_bytes, 0) AS full_page_image_bytes_per_hour,
		(t.page_bytes OPERATOR(pg_catalog.+) t.maintenance_bytes OPERATOR(pg_catalog.+) t.wal_bytes)
			OPERATOR(pg_catalog./) NULLIF(t.row_bytes, 0) AS amplification
	FROM tier t
	LEFT JOIN LATERAL (SELECT pg_catalog.sum(x.bytes) AS bytes FROM moved x
		WHERE t.is_total OR NOT (x.to_tier IS DISTINCT FROM t.tier_name)) m ON true;
COMMENT ON VIEW tiered_storage.write_amplification IS
'for each tier, and for all of them (is_total), what this database''s permanent relations write per hour: rows that change and the space they take, pages, pages of vacuum and rewrites, moves to the tier (of the last day), and the WAL for it, of which full-page images; amplification is pages, maintenance and WAL over the space of the changed rows';

CREATE VIEW tiered_storage.server_writes AS
	SELECT c.checkpoint_bytes, c.bgwriter_bytes, c.backend_bytes, c.buffers_since,
		c.wal_bytes, c.full_page_images, c.wal_since, c.temp_bytes, c.temp_since,
		m.bytes AS moved_bytes, m.since AS moved_since
	FROM tiered_storage.server_write_counters() c
	CROSS JOIN (SELECT COALESCE(pg_catalog.sum(x.copied_bytes), 0)::pg_catalog.int8 AS bytes,
			pg_catalog.min(x.started_at) AS since FROM tiered_storage.move x) m;
COMMENT ON VIEW tiered_storage.server_writes IS
'what the whole server has written, each kind since the time beside it (NULL: ever): buffers by checkpoints, background writer and backends, WAL, temporary files; and what moves of this database have copied, as far as they are remembered';

---------------------------------------------------------------------------
-- Worker
---------------------------------------------------------------------------

CREATE FUNCTION tiered_storage.worker_status(
	OUT database_name name, OUT state text, OUT reason text, OUT pid integer,
	OUT last_started_at timestamptz, OUT last_finished_at timestamptz,
	OUT next_run_at timestamptz, OUT failures integer, OUT last_error text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_worker_status';
COMMENT ON FUNCTION tiered_storage.worker_status() IS 'one row for each database: see the view workers';

CREATE VIEW tiered_storage.workers AS
	SELECT * FROM tiered_storage.worker_status();
COMMENT ON VIEW tiered_storage.workers IS
'for each database whether its worker runs, when it runs next, and why not';

CREATE FUNCTION tiered_storage.notify_launcher() RETURNS void
LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'tier_notify_launcher';
COMMENT ON FUNCTION tiered_storage.notify_launcher() IS
'tells the launcher to look at this database now; does nothing without shared_preload_libraries';

---------------------------------------------------------------------------
-- Logical replication
---------------------------------------------------------------------------

/*
 * What a publisher with the extension says of its storage is not true of a
 * subscriber's.  Fired only while session_replication_role is "replica", as that
 * of an apply worker is; nobody else pays for it.
 */
CREATE FUNCTION tiered_storage.ignore_replicated() RETURNS trigger
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_ignore_replicated';
COMMENT ON FUNCTION tiered_storage.ignore_replicated() IS
'trigger: rows that logical replication brings from another server are ignored, since they speak of the storage of that one';

DO $$
DECLARE
	t record;
BEGIN
	FOR t IN SELECT c.relname FROM pg_catalog.pg_class c
		WHERE c.relnamespace OPERATOR(pg_catalog.=) 'tiered_storage'::pg_catalog.regnamespace AND c.relkind OPERATOR(pg_catalog.=) 'r'
		ORDER BY c.relname
	LOOP
		EXECUTE pg_catalog.format('CREATE TRIGGER ignore_replicated BEFORE INSERT OR UPDATE OR DELETE ON tiered_storage.%I '
			'FOR EACH ROW EXECUTE FUNCTION tiered_storage.ignore_replicated()', t.relname);
		EXECUTE pg_catalog.format('ALTER TABLE tiered_storage.%I ENABLE REPLICA TRIGGER ignore_replicated', t.relname);
	END LOOP;
	IF EXISTS (SELECT FROM pg_catalog.pg_publication p WHERE p.puballtables) THEN
		RAISE WARNING 'a publication FOR ALL TABLES includes the tables of tiered_storage'
			USING DETAIL = 'Replication to a subscriber that does not have the extension stops at the next sample.',
				HINT = 'Run CREATE EXTENSION tiered_storage on each subscriber: it ignores these rows, and replication goes on. Or publish FOR TABLES IN SCHEMA.';
	END IF;
END
$$;

---------------------------------------------------------------------------
-- Rights
---------------------------------------------------------------------------

/*
 * Nobody has rights that were not given to him here, or later by somebody who
 * meant these objects: neither PUBLIC, nor whoever ALTER DEFAULT PRIVILEGES
 * names, nor who could create in a schema that was there before.  Whoever
 * writes our tables has the rights of those that are named in them.
 */
DO $$
DECLARE
	revoke_all text;
BEGIN
	FOR revoke_all IN
		SELECT pg_catalog.format('REVOKE ALL ON %s FROM %s', o.object,
			CASE WHEN a.grantee OPERATOR(pg_catalog.=) 0::pg_catalog.oid THEN 'PUBLIC'
				ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)::pg_catalog.text) END)
		FROM (
			SELECT 'SCHEMA tiered_storage' AS object, n.nspacl AS acl, n.nspowner AS owner
			FROM pg_catalog.pg_namespace n
			WHERE n.nspname OPERATOR(pg_catalog.=) 'tiered_storage'
			UNION ALL
			SELECT pg_catalog.format('%s tiered_storage.%I', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.relname), c.relacl, c.relowner
			FROM pg_catalog.pg_class c
			WHERE c.relnamespace OPERATOR(pg_catalog.=) 'tiered_storage'::pg_catalog.regnamespace
				AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,v,S}'::pg_catalog."char"[])
			UNION ALL
			SELECT pg_catalog.format('ROUTINE %s', p.oid::pg_catalog.regprocedure), COALESCE(p.proacl, pg_catalog.acldefault('f', p.proowner)), p.proowner
			FROM pg_catalog.pg_proc p
			WHERE p.pronamespace OPERATOR(pg_catalog.=) 'tiered_storage'::pg_catalog.regnamespace
		) o
		CROSS JOIN LATERAL pg_catalog.aclexplode(o.acl) a
		WHERE a.grantee OPERATOR(pg_catalog.<>) o.owner
		GROUP BY o.object, a.grantee
	LOOP
		EXECUTE revoke_all;
	END LOOP;
END
$$;

GRANT USAGE ON SCHEMA tiered_storage TO pg_monitor;
GRANT SELECT ON tiered_storage.tiers, tiered_storage.tier_tablespaces,
	tiered_storage.heat, tiered_storage.device_io, tiered_storage.relation_history, tiered_storage.sampler,
	tiered_storage.policies, tiered_storage.pins, tiered_storage.pinned_relations, tiered_storage.pin_targets,
	tiered_storage.moves, tiered_storage.move_batches, tiered_storage.move_progress,
	tiered_storage.workers, tiered_storage.tier_calibration,
	tiered_storage.load_history, tiered_storage.load_state, tiered_storage.file_class_io,
	tiered_storage.heat_peaks, tiered_storage.standbys TO pg_monitor;
GRANT EXECUTE ON FUNCTION tiered_storage.wait_times(),
	tiered_storage.load_period(timestamptz, timestamptz),
	tiered_storage.load_totals(timestamptz, timestamptz),
	tiered_storage.load_profile(timestamptz, timestamptz),
	tiered_storage.compare_load(timestamptz, timestamptz, timestamptz, timestamptz),
	tiered_storage.rhythm(regclass), tiered_storage.find_heat_peaks(),
	tiered_storage.cached_ranges(regclass, integer), tiered_storage.hot_range(regclass),
	tiered_storage.partition_interval(oid, text, text),
	tiered_storage.recommend_partitioning(bigint, boolean) TO pg_monitor;
GRANT SELECT ON tiered_storage.write_amplification, tiered_storage.server_writes TO pg_monitor;
GRANT EXECUTE ON FUNCTION tiered_storage.server_write_counters() TO pg_monitor;
GRANT EXECUTE ON FUNCTION tiered_storage.tablespace_devices(),
	tiered_storage.tablespace_claims(), tiered_storage.device_profiles(),
	tiered_storage.relation_buffers(),
	tiered_storage.block_heat(regclass, integer),
	tiered_storage.device_fit(float8, float8, float8, float8),
	tiered_storage.access_statistics(), tiered_storage.access_tracking(),
	tiered_storage.smoothed_rate(float8, float8, float8, float8),
	tiered_storage.recommend_placement(boolean, name[], jsonb, interval, text, float8, name[], regclass[], timestamptz),
	tiered_storage.explain_placement(regclass, name[], jsonb, interval, text, float8, name[], regclass[], timestamptz),
	tiered_storage.placement_summary(name[], jsonb, interval, text, float8, name[], regclass[], timestamptz),
	tiered_storage.simulate_placement(jsonb, float8, name[], jsonb, interval, text, float8, name[], regclass[], timestamptz),
	tiered_storage.tier_size_curve(name, integer, name[], jsonb, interval, text, float8, name[], regclass[], timestamptz),
	tiered_storage.evaluate_policies(),
	tiered_storage.effect_verdict(float8, float8, float8),
	tiered_storage.mover_progress(integer), tiered_storage.orphaned_files(), tiered_storage.is_paused(),
	tiered_storage.recommend_settings(),
	tiered_storage.worker_status() TO pg_monitor;

---------------------------------------------------------------------------
-- First look
---------------------------------------------------------------------------

SELECT pg_catalog.count(*) FROM tiered_storage.discover_tiers();
CALL tiered_storage.sample();
SELECT tiered_storage.notify_launcher();

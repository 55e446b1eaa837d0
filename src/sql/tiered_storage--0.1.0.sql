/*
 * tiered_storage 0.1.0: catalog and SQL interface, in the order of the data
 * flow: tiers, observation, advice, policies, moves, worker, rights.
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

CREATE TABLE tiered_storage.tier
(
	tier_name name NOT NULL PRIMARY KEY CHECK (tier_name OPERATOR(pg_catalog.<>) ''),
	rank integer NOT NULL CHECK (rank OPERATOR(pg_catalog.>=) 0),
	profile text NOT NULL,
	random_read_ms float8 NOT NULL,
	random_write_ms float8 NOT NULL,
	sequential_read_mb_per_s float8 NOT NULL,
	sequential_write_mb_per_s float8 NOT NULL,
	fsync_ms float8 NOT NULL,
	parallelism float8 NOT NULL,
	price_per_gb_month numeric NOT NULL,
	price_is_assumed boolean NOT NULL,
	capacity_bytes bigint CHECK (capacity_bytes OPERATOR(pg_catalog.>) 0),
	reserve_fraction float8 NOT NULL,
	low_watermark float8 NOT NULL,
	high_watermark float8 NOT NULL,
	endurance_tbw float8,
	endurance_dwpd float8,
	compressed boolean NOT NULL,
	discovered boolean NOT NULL
);
COMMENT ON TABLE tiered_storage.tier IS
'storage tiers of this database; use the view tiered_storage.tiers to read, add_tier() and alter_tier() to change';
COMMENT ON COLUMN tiered_storage.tier.discovered IS
'made by discover_tiers() and never changed by hand since: not dumped, and gives way to a tier that a person defines';

/*
 * The name survives dump and restore, the OID survives a rename: inside the
 * cluster that wrote the row (system_identifier) the OID counts, elsewhere the
 * name.  refresh_identities() brings both up to date.
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
			compressed = NEW.compressed, discovered = NEW.discovered
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

/* A discovered tier that a policy uses has to come along with the policy. */
SELECT pg_catalog.pg_extension_config_dump('tiered_storage.tier',
	'WHERE NOT discovered OR tier_name OPERATOR(pg_catalog.=) ANY (SELECT p.tier_name FROM tiered_storage.policy p)');
SELECT pg_catalog.pg_extension_config_dump('tiered_storage.tier_tablespace',
	'WHERE NOT discovered OR tier_name OPERATOR(pg_catalog.=) ANY (SELECT p.tier_name FROM tiered_storage.policy p)');

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
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	d record;
	p record;
	has_sata boolean;
	is_new boolean;
BEGIN
	LOCK TABLE tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE;
	PERFORM tiered_storage.refresh_identities();

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
					NULL, 0.15, 0.80, 0.90, NULL, p.endurance_dwpd, COALESCE(d.compressed, false), true);
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
	/* NaN sorts above Infinity, so "< Infinity" refuses both. */
	SELECT pg_catalog.format('%s is %s', v.what, v.value) INTO bad
	FROM (VALUES
		('random_read_ms', t.random_read_ms),
		('random_write_ms', t.random_write_ms),
		('sequential_read_mb_per_s', t.sequential_read_mb_per_s),
		('sequential_write_mb_per_s', t.sequential_write_mb_per_s),
		('fsync_ms', t.fsync_ms),
		('parallelism', t.parallelism),
		('endurance_tbw', t.endurance_tbw),
		('endurance_dwpd', t.endurance_dwpd)) v (what, value)
	WHERE NOT (v.value > 0 AND v.value < 'Infinity')
	LIMIT 1;
	IF bad IS NOT NULL THEN
		RAISE EXCEPTION 'invalid device profile for tier "%"', t.tier_name
			USING ERRCODE = 'invalid_parameter_value', DETAIL = bad || '.',
				HINT = 'Times, rates, parallelism and endurance are positive finite numbers.';
	END IF;
	IF NOT (t.price_per_gb_month >= 0 AND t.price_per_gb_month < 'Infinity') THEN
		RAISE EXCEPTION 'invalid price for tier "%": %', t.tier_name, t.price_per_gb_month
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'The price per GB and month is zero or a positive finite number.';
	END IF;
	IF t.rank < 0 THEN
		RAISE EXCEPTION 'invalid rank for tier "%": %', t.tier_name, t.rank
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'Ranks count from 0, the fastest tier.';
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
	IF t.capacity_bytes <= 0 THEN
		RAISE EXCEPTION 'invalid capacity for tier "%": % bytes', t.tier_name, t.capacity_bytes
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'Leave capacity_bytes out to use the size of the file system.';
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
			AND NOT EXISTS (SELECT FROM tiered_storage.policy p WHERE p.tier_name = t.tier_name);

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
	compressed boolean DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
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
	PERFORM tiered_storage.refresh_identities();
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
	t.endurance_dwpd := COALESCE(add_tier.endurance_dwpd, p.endurance_dwpd);
	t.compressed := COALESCE(add_tier.compressed, d.compressed, false);
	t.discovered := false;
	t.rank := add_tier.rank;
	PERFORM tiered_storage.tier_check_values(t);
	t.rank := COALESCE(add_tier.rank, tiered_storage.tier_make_rank(name, t.random_read_ms, t.compressed));

	INSERT INTO tiered_storage.tier SELECT t.*;
	PERFORM tiered_storage.tier_set_tablespaces(name, tablespaces, true);
END
$$;
COMMENT ON FUNCTION tiered_storage.add_tier(name, name[], text, integer, float8, float8, float8, float8, float8, float8, numeric, bigint, float8, float8, float8, float8, float8, boolean) IS
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
	unset text[] DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	t tiered_storage.tier;
	p record;
	u text;
BEGIN
	LOCK TABLE tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE;
	PERFORM tiered_storage.refresh_identities();
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
		t.endurance_dwpd := p.endurance_dwpd;
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
	FOREACH u IN ARRAY COALESCE(unset, '{}') LOOP
		CASE u
			WHEN 'capacity_bytes' THEN t.capacity_bytes := NULL;
			WHEN 'endurance_tbw' THEN t.endurance_tbw := NULL;
			WHEN 'endurance_dwpd' THEN t.endurance_dwpd := NULL;
			ELSE
				RAISE EXCEPTION 'property "%" of a tier cannot be unset', u
					USING ERRCODE = 'invalid_parameter_value',
						HINT = 'capacity_bytes, endurance_tbw and endurance_dwpd can be unset.';
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
			compressed = t.compressed, discovered = false
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
COMMENT ON FUNCTION tiered_storage.alter_tier(name, name, name[], text, integer, float8, float8, float8, float8, float8, float8, numeric, bigint, float8, float8, float8, float8, float8, boolean, text[]) IS
'changes a tier; arguments that are null stay as they are, unset => ''{capacity_bytes}'' goes back to the file system''s size';

CREATE FUNCTION tiered_storage.remove_tier(name name, if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	users text;
BEGIN
	LOCK TABLE tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE;
	PERFORM tiered_storage.refresh_identities();
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
	DELETE FROM tiered_storage.tier x WHERE x.tier_name = remove_tier.name;
END
$$;
COMMENT ON FUNCTION tiered_storage.remove_tier(name, boolean) IS
'forgets a tier; its tablespaces and the data in them stay as they are';

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
	random_fast float8 NOT NULL,
	random_slow float8 NOT NULL,
	sequential_fast float8 NOT NULL,
	sequential_slow float8 NOT NULL,
	sequential_low_slow float8 NOT NULL,
	sequential_high_slow float8 NOT NULL,
	hits_slow float8 NOT NULL,
	scans_slow float8 NOT NULL,
	changes_fast float8 NOT NULL,
	changes_slow float8 NOT NULL
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.1);
COMMENT ON TABLE tiered_storage.relation_state IS
'counters and smoothed rates of each relation at the last sample; use the view tiered_storage.heat';
COMMENT ON COLUMN tiered_storage.relation_state.observed_since IS
'begin of the time that the rates speak of, the time before the first sample included where the server''s statistics covered it';
COMMENT ON COLUMN tiered_storage.relation_state.sampled_since IS
'the first sample that saw this relation';

CREATE TABLE tiered_storage.relation_history
(
	period_start timestamptz NOT NULL,
	relation_oid oid NOT NULL,
	period_s integer NOT NULL,
	scans bigint NOT NULL,
	random_reads bigint NOT NULL,
	sequential_reads bigint NOT NULL,
	hits bigint NOT NULL,
	row_changes bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.2);
CREATE INDEX relation_history_period_start_idx ON tiered_storage.relation_history
	USING brin (period_start) WITH (pages_per_range = 16);
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
	rolled_up_until timestamptz
);
COMMENT ON TABLE tiered_storage.sampler IS 'the last sample: when, how long it took, how many relations were active';

CREATE PROCEDURE tiered_storage.sample()
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_sample_sql';
COMMENT ON PROCEDURE tiered_storage.sample() IS
'reads the counters, sizes and cached blocks of all relations of this database and adds them to the history; the worker calls the same code';

CREATE FUNCTION tiered_storage.relation_buffers(
	OUT relation regclass, OUT tablespace_oid oid, OUT file_number oid,
	OUT cached_buffers bigint, OUT dirty_buffers bigint, OUT usage_sum bigint)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_relation_buffers';
COMMENT ON FUNCTION tiered_storage.relation_buffers() IS
'how many blocks of each relation of this database are in shared buffers, and how many of them are dirty';

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
		tiered_storage.smoothed_rate(s.changes_fast, a.idle_s, a.observed_s, 86400) AS writes_per_hour,
		tiered_storage.smoothed_rate(s.random_slow, a.idle_s, a.observed_s, 1209600) AS random_reads_14d_per_hour,
		tiered_storage.smoothed_rate(s.sequential_slow, a.idle_s, a.observed_s, 1209600) AS sequential_reads_14d_per_hour,
		tiered_storage.smoothed_rate(s.changes_slow, a.idle_s, a.observed_s, 1209600) AS writes_14d_per_hour,
		tiered_storage.smoothed_rate(s.hits_slow, a.idle_s, a.observed_s, 1209600) AS hits_14d_per_hour,
		CASE WHEN s.size_bytes OPERATOR(pg_catalog.>) 0 THEN
			LEAST(1.0, s.cached_buffers OPERATOR(pg_catalog.*) 8192.0 OPERATOR(pg_catalog./) s.size_bytes)::pg_catalog.float8 END AS cached_fraction,
		s.dirty_buffers,
		s.last_used_at, s.last_written_at, s.rewritten_at,
		s.sampled_since, s.observed_since, s.heat_at,
		'statistics'::pg_catalog.text AS source
	FROM tiered_storage.relation_state s
	JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) s.relation_oid
	LEFT JOIN tiered_storage.tier_tablespaces tt ON tt.tablespace_oid OPERATOR(pg_catalog.=) s.tablespace_oid
	CROSS JOIN LATERAL (SELECT
		GREATEST(0, EXTRACT(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-) s.heat_at))::pg_catalog.float8 AS idle_s,
		GREATEST(3600, EXTRACT(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-) s.observed_since))::pg_catalog.float8 AS observed_s) a;
COMMENT ON VIEW tiered_storage.heat IS
'each relation''s smoothed rates per hour as of now: reads are blocks that missed shared buffers, writes are changed rows; half-life 1 day, and 14 days in the *_14d columns; less than an hour of observation counts as an hour';

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
		t.endurance_tbw, t.endurance_dwpd, t.discovered
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

---------------------------------------------------------------------------
-- Advice
---------------------------------------------------------------------------

CREATE FUNCTION tiered_storage.recommend_placement(
	include_unchanged boolean DEFAULT false,
	OUT relation regclass, OUT kind text, OUT current_tier name, OUT recommended_tier name,
	OUT size_bytes bigint, OUT saved_io_s_per_hour float8, OUT price_delta_per_month float8,
	OUT move_cost_s float8, OUT confidence text, OUT reason text, OUT command text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_recommend_placement';
COMMENT ON FUNCTION tiered_storage.recommend_placement(boolean) IS
'where each table, index and partition should live, what that saves in device time and money, how sure that is, and the statement that does it; only what should change, unless include_unchanged';

CREATE FUNCTION tiered_storage.explain_placement(
	relation regclass,
	OUT tier_name name, OUT is_current boolean, OUT is_recommended boolean,
	OUT io_s_per_hour float8, OUT random_read_s_per_hour float8,
	OUT sequential_read_s_per_hour float8, OUT write_s_per_hour float8,
	OUT price_per_month float8, OUT move_cost_s float8,
	OUT available_bytes bigint, OUT fits boolean, OUT reason text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_explain_placement';
COMMENT ON FUNCTION tiered_storage.explain_placement(regclass) IS
'why a relation should live where recommend_placement() says: its cost on each tier side by side';

---------------------------------------------------------------------------
-- Policies
---------------------------------------------------------------------------

/*
 * The relation is known by its OID inside the database that wrote the row
 * (system_identifier, database_oid) while that is a partitioned table; else,
 * after a restore or when it was dropped and made anew, by its name.  Likewise
 * the role that made the policy, but a role that was dropped is gone: another
 * one of that name does not get its rights.
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
	move_after interval NOT NULL,
	include_indexes boolean NOT NULL,
	age_from text NOT NULL CHECK (age_from OPERATOR(pg_catalog.=) ANY ('{now,newest}')),
	key_unit text CHECK (key_unit OPERATOR(pg_catalog.=) ANY ('{seconds,milliseconds,microseconds,nanoseconds}')),
	key_function text,
	created_by name NOT NULL,
	created_by_oid oid NOT NULL,
	created_at timestamptz NOT NULL,
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
		p.move_after, p.tier_name, p.include_indexes, p.age_from, p.key_unit, p.key_function,
		COALESCE(a.rolname, p.created_by) AS created_by, p.created_at,
		p.last_evaluated_at, p.last_due, p.last_on_target,
		CASE WHEN c.oid IS NULL THEN 'the relation does not exist' ELSE p.last_result END AS last_result,
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
					AND x.relkind OPERATOR(pg_catalog.=) 'p') END;
COMMENT ON VIEW tiered_storage.policies IS
'the tiering policies, and what their last evaluation said; evaluate_policies() says it for each partition';

/*
 * Names and OIDs of tablespaces and policies as they are now, after renames
 * and restores.  A row that a restore brought for what has a row of this
 * cluster already gives way to it.
 */
CREATE FUNCTION tiered_storage.refresh_identities() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	this_system bigint := (SELECT c.system_identifier FROM pg_catalog.pg_control_system() c);
	this_database oid := (SELECT d.oid FROM pg_catalog.pg_database d
		WHERE d.datname = pg_catalog.current_database());
BEGIN
	DELETE FROM tiered_storage.tier_tablespace t
		WHERE t.system_identifier = this_system
			AND NOT EXISTS (SELECT FROM pg_catalog.pg_tablespace s WHERE s.oid = t.tablespace_oid);
	DELETE FROM tiered_storage.tier_tablespace t
		USING pg_catalog.pg_tablespace s, tiered_storage.tier_tablespace o
		WHERE t.system_identifier <> this_system AND s.spcname = t.tablespace_name
			AND o.system_identifier = this_system AND o.tablespace_oid = s.oid;
	UPDATE tiered_storage.tier_tablespace t
		SET tablespace_oid = r.tablespace_oid, tablespace_name = r.tablespace_name,
			system_identifier = this_system
		FROM tiered_storage.tier_tablespaces r
		WHERE t.tablespace_name = r.stored_name
			AND (t.tablespace_oid, t.tablespace_name, t.system_identifier)
				IS DISTINCT FROM (r.tablespace_oid, r.tablespace_name, this_system);

	/*
	 * What was only discovered here follows what somebody defines in another
	 * database, unless a policy relies on it.
	 */
	DELETE FROM tiered_storage.tier_tablespace t
		USING tiered_storage.tablespace_claims() c
		WHERE t.discovered AND t.tablespace_oid = c.tablespace_oid
			AND c.database_oid <> this_database AND c.tier_name <> t.tier_name
			AND NOT EXISTS (SELECT FROM tiered_storage.policy p WHERE p.tier_name = t.tier_name);
	IF FOUND THEN
		PERFORM tiered_storage.discover_tiers();
		DELETE FROM tiered_storage.tier t
			WHERE t.discovered
				AND NOT EXISTS (SELECT FROM tiered_storage.tier_tablespace tt WHERE tt.tier_name = t.tier_name)
				AND NOT EXISTS (SELECT FROM tiered_storage.policy p WHERE p.tier_name = t.tier_name);
	END IF;

	/* Of several policies that have come to mean the same, the first stays. */
	DELETE FROM tiered_storage.policy p
		USING tiered_storage.policies v, tiered_storage.policies o
		WHERE v.policy_id = p.policy_id AND o.relation = v.relation
			AND o.tier_name = v.tier_name AND o.policy_id < v.policy_id;
	UPDATE tiered_storage.policy p
		SET relation_oid = c.oid, schema_name = n.nspname, relation_name = c.relname,
			system_identifier = this_system, database_oid = this_database,
			created_by = v.created_by, created_by_oid = COALESCE(v.created_by_oid, 0)
		FROM tiered_storage.policies v, pg_catalog.pg_class c, pg_catalog.pg_namespace n
		WHERE v.policy_id = p.policy_id AND c.oid = v.relation::pg_catalog.oid
			AND n.oid = c.relnamespace
			AND (p.relation_oid, p.schema_name, p.relation_name, p.system_identifier, p.database_oid,
					p.created_by, p.created_by_oid)
				IS DISTINCT FROM (c.oid, n.nspname, c.relname, this_system, this_database,
					v.created_by, COALESCE(v.created_by_oid, 0));
END
$$;
COMMENT ON FUNCTION tiered_storage.refresh_identities() IS
'internal: brings the names and OIDs that tiers and policies remember up to date';

CREATE FUNCTION tiered_storage.add_tiering_policy(
	relation regclass,
	move_after interval,
	tier name,
	include_indexes boolean DEFAULT true,
	age_from text DEFAULT 'now',
	key_unit text DEFAULT NULL,
	key_function regprocedure DEFAULT NULL,
	if_not_exists boolean DEFAULT false)
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_add_tiering_policy';
COMMENT ON FUNCTION tiered_storage.add_tiering_policy(regclass, interval, name, boolean, text, text, regprocedure, boolean) IS
'moves partitions of a range-partitioned table to a tier once everything in them is older than move_after; age counts from now, or from the end of the newest partition (age_from => ''newest''); an integer key needs key_unit or key_function; returns the policy''s id';

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
	reason text NOT NULL,
	method text NOT NULL,
	size_bytes bigint NOT NULL,
	started_at timestamptz NOT NULL,
	finished_at timestamptz,
	attempts integer NOT NULL DEFAULT 0,
	failures integer NOT NULL DEFAULT 0,
	next_attempt_at timestamptz,
	lock_wait_ms float8,
	lock_held_ms float8,
	elapsed_ms float8,
	error text,
	sqlstate text,
	pid integer,
	backend_start timestamptz
);
CREATE INDEX move_relation_oid_idx ON tiered_storage.move (relation_oid, move_id);
CREATE INDEX move_running_idx ON tiered_storage.move (move_id) WHERE state OPERATOR(pg_catalog.=) 'running';
COMMENT ON TABLE tiered_storage.move IS 'moves that run or ran; use the views tiered_storage.moves and tiered_storage.move_progress';

CREATE VIEW tiered_storage.moves AS
	SELECT m.move_id, COALESCE(c.oid::pg_catalog.regclass::pg_catalog.text, m.relation_name) AS relation, m.kind,
		m.from_tier, m.to_tier, m.from_tablespace, m.to_tablespace,
		CASE WHEN m.state OPERATOR(pg_catalog.=) 'running' AND a.pid IS NULL THEN 'interrupted' ELSE m.state END AS state,
		m.requested_by, m.policy_id, m.reason, m.method, m.size_bytes,
		m.started_at, m.finished_at, m.elapsed_ms, m.attempts, m.failures, m.next_attempt_at,
		m.lock_wait_ms, m.lock_held_ms, m.error, m.sqlstate
	FROM tiered_storage.move m
	LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) m.relation_oid
	LEFT JOIN pg_catalog.pg_stat_activity a
		ON a.pid OPERATOR(pg_catalog.=) m.pid AND a.backend_start OPERATOR(pg_catalog.=) m.backend_start;
COMMENT ON VIEW tiered_storage.moves IS
'each relation that was moved, or could not be: when, why, how long it was locked, and the error; a relation that cannot be moved has one row, with the number of failures and the time of the next attempt';

CREATE VIEW tiered_storage.move_progress AS
	SELECT m.move_id, COALESCE(c.oid::pg_catalog.regclass::pg_catalog.text, m.relation_name) AS relation, m.kind,
		m.from_tablespace, m.to_tablespace, a.pid,
		CASE WHEN a.wait_event_type OPERATOR(pg_catalog.=) 'Lock' THEN 'waiting for the lock' ELSE 'moving' END AS phase,
		m.size_bytes, m.attempts, m.started_at,
		(EXTRACT(epoch FROM pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) m.started_at) OPERATOR(pg_catalog.*) 1000)::pg_catalog.float8 AS elapsed_ms
	FROM tiered_storage.move m
	JOIN pg_catalog.pg_stat_activity a
		ON a.pid OPERATOR(pg_catalog.=) m.pid AND a.backend_start OPERATOR(pg_catalog.=) m.backend_start
	LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) m.relation_oid
	WHERE m.state OPERATOR(pg_catalog.=) 'running';
COMMENT ON VIEW tiered_storage.move_progress IS 'the moves that are under way now';

CREATE PROCEDURE tiered_storage.move_relation(
	relation regclass, target name, include_indexes boolean DEFAULT true)
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_move_relation';
COMMENT ON PROCEDURE tiered_storage.move_relation(regclass, name, boolean) IS
'moves a table, materialized view or index, or all leaf partitions of a partitioned table, to a tier or tablespace, indexes along; one transaction for each relation; cannot run in a transaction block';

CREATE PROCEDURE tiered_storage.migrate(dry_run boolean DEFAULT false)
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_migrate';
COMMENT ON PROCEDURE tiered_storage.migrate(boolean) IS
'does what the tiering policies ask for: moves each partition that is due, one transaction for each relation; dry_run only says what it would do';

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
-- Rights
---------------------------------------------------------------------------

REVOKE ALL ON ALL ROUTINES IN SCHEMA tiered_storage FROM PUBLIC;

GRANT USAGE ON SCHEMA tiered_storage TO pg_monitor;
GRANT SELECT ON tiered_storage.tiers, tiered_storage.tier_tablespaces,
	tiered_storage.heat, tiered_storage.relation_history, tiered_storage.sampler,
	tiered_storage.policies, tiered_storage.moves, tiered_storage.move_progress,
	tiered_storage.workers TO pg_monitor;
GRANT EXECUTE ON FUNCTION tiered_storage.tablespace_devices(),
	tiered_storage.tablespace_claims(), tiered_storage.device_profiles(),
	tiered_storage.relation_buffers(),
	tiered_storage.smoothed_rate(float8, float8, float8, float8),
	tiered_storage.recommend_placement(boolean),
	tiered_storage.explain_placement(regclass),
	tiered_storage.evaluate_policies(),
	tiered_storage.worker_status() TO pg_monitor;

---------------------------------------------------------------------------
-- First look
---------------------------------------------------------------------------

SELECT pg_catalog.count(*) FROM tiered_storage.discover_tiers();
CALL tiered_storage.sample();
SELECT tiered_storage.notify_launcher();

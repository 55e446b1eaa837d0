---------------------------------------------------------------------------
-- Tiers that a person defines, changes and removes.
---------------------------------------------------------------------------

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

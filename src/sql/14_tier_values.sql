---------------------------------------------------------------------------
-- Checks and changes of one tier: its numbers, its profile, its tablespaces.
---------------------------------------------------------------------------

/* Raises an error for a name or numbers that a tier cannot have. */
CREATE FUNCTION _tiered_storage.tier_check_values(t _tiered_storage.tier) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	bad record;
BEGIN
	SELECT * INTO bad FROM _tiered_storage.tier_misfit(to_jsonb(t));
	IF COALESCE(t.tier_name, '') = '' THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			'the name of a tier must not be null or empty');
	ELSIF bad.property IS NOT NULL THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			format('invalid %s for tier "%s"', bad.property, t.tier_name), detail => bad.detail);
	ELSIF NOT _tiered_storage.tier_watermarks_fit(t.low_watermark, t.high_watermark) THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			format('invalid watermarks for tier "%s": low %s and high %s', t.tier_name,
				t.low_watermark, t.high_watermark),
			hint => 'Watermarks are shares of the capacity with 0 < low < high <= 1.');
	ELSIF t.compression_ratio IS NOT NULL AND NOT t.compressed THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			format('invalid compression_ratio for tier "%s"', t.tier_name),
			detail => 'The tier is not compressed.');
	END IF;
END
$$;

/* Are the names the same but for upper and lower case, and for a letter? */
CREATE FUNCTION _tiered_storage.is_alike(name, name) RETURNS boolean
LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'tier_is_alike';

/* The tier of that name; raises an error if there is none. */
CREATE FUNCTION _tiered_storage.tier_require(name name) RETURNS _tiered_storage.tier
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	t _tiered_storage.tier;
BEGIN
	IF name IS NULL THEN
		PERFORM _tiered_storage.refuse('null_value_not_allowed',
			'the name of a tier must not be null');
	END IF;
	SELECT * INTO t FROM _tiered_storage.tier x WHERE x.tier_name = tier_require.name;
	IF NOT FOUND THEN
		PERFORM _tiered_storage.refuse('undefined_object',
			format('tier "%s" does not exist', name),
			hint => COALESCE('Did you mean "' || (SELECT x.tier_name FROM _tiered_storage.tier x
				WHERE _tiered_storage.is_alike(x.tier_name, tier_require.name)
				ORDER BY x.rank LIMIT 1) || '"?',
				'SELECT tier_name FROM tiered_storage.tiers lists the tiers; '
				'add_tier() defines one.'));
	END IF;
	RETURN t;
END
$$;

/*
 * The tier with the figures of a device profile, and with the price of the profile unless one
 * was given.
 */
CREATE FUNCTION _tiered_storage.tier_with_profile(t _tiered_storage.tier, profile text)
RETURNS _tiered_storage.tier
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	p record;
BEGIN
	SELECT * INTO p FROM _tiered_storage.device_profiles() q
		WHERE q.profile = tier_with_profile.profile;
	IF NOT FOUND THEN
		PERFORM _tiered_storage.refuse('undefined_object',
			format('device profile "%s" does not exist', profile),
			hint => COALESCE('Did you mean "' || (SELECT q.profile
				FROM _tiered_storage.device_profiles() q
				WHERE _tiered_storage.is_alike(q.profile::name, tier_with_profile.profile::name)
				LIMIT 1) || '"?',
				'SELECT profile FROM tiered_storage.device_profiles() lists the profiles.'));
	END IF;
	/* The endurance of a tier is given, never assumed. */
	RETURN jsonb_populate_record(t, to_jsonb(p) - 'endurance_dwpd'::text
		- CASE WHEN t.price_is_assumed THEN '' ELSE 'price_per_gb_month' END);
END
$$;

/*
 * The tier with those values that are not null in given.
 *
 * What is null in `given` stays unchanged, but without compression there is no ratio, and the
 * start of a scan belongs to the random read that it was measured or assumed with: of a new
 * one no more is known than how the profile has them.
 */
CREATE FUNCTION _tiered_storage.tier_with_values(t _tiered_storage.tier,
	given _tiered_storage.tier) RETURNS _tiered_storage.tier
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	t := jsonb_populate_record(t, jsonb_strip_nulls(to_jsonb(given)));
	t.price_is_assumed := t.price_is_assumed AND given.price_per_gb_month IS NULL;
	IF NOT t.compressed THEN
		t.compression_ratio := given.compression_ratio;
	END IF;
	RETURN t;
END
$$;

/* The tier without the figures that are null in device. */
CREATE FUNCTION _tiered_storage.tier_without(t _tiered_storage.tier, device jsonb)
RETURNS _tiered_storage.tier
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	nulls jsonb := (SELECT jsonb_object_agg(e.key, e.value) FROM jsonb_each(device) e
		WHERE jsonb_typeof(e.value) = 'null');
	needed text := (SELECT min(k) FROM jsonb_object_keys(nulls - '{capacity_bytes,endurance_tbw,
		endurance_dwpd,price_per_million_reads,compression_ratio}'::text[]) k);
BEGIN
	IF needed IS NOT NULL THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			format('key "%s" of device must not be null', needed),
			hint => 'capacity_bytes, endurance_tbw, endurance_dwpd, '
				'price_per_million_reads and compression_ratio can be null.');
	END IF;
	RETURN jsonb_populate_record(t, COALESCE(nulls, '{}'));
END
$$;

/*
 * Checks and stores the tablespaces of a tier.
 *
 * Assigns `tablespaces` to the tier.  They may be taken from a tier that was only
 * discovered, not from one that a person defined.  If they are not `given` but already
 * belong to the tier, the assignments of other databases are no reason to refuse: a tier
 * that two databases define differently has to be renamed in one of them first, and until
 * then their workers move nothing.
 */
CREATE FUNCTION _tiered_storage.tier_set_tablespaces(tier name, tablespaces name[], given boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	spc name;
	spc_oid oid;
	other record;
	left_out name[];
BEGIN
	IF tablespaces IS NULL OR cardinality(tablespaces) = 0 THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			format('tier "%s" needs at least one tablespace', tier),
			hint => 'Create one with CREATE TABLESPACE; pg_default is a tablespace too.');
	END IF;
	IF array_ndims(tablespaces) <> 1 OR array_position(tablespaces, NULL) IS NOT NULL THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			format('tablespaces of tier "%s" must be a one-dimensional array without nulls',
				tier));
	END IF;

	FOREACH spc IN ARRAY tablespaces LOOP
		SELECT s.oid INTO spc_oid FROM pg_catalog.pg_tablespace s WHERE s.spcname = spc;
		IF NOT FOUND THEN
			PERFORM _tiered_storage.refuse('undefined_object',
				format('tablespace "%s" does not exist', spc),
				hint => COALESCE('Did you mean "' || (SELECT s.spcname
					FROM pg_catalog.pg_tablespace s
					WHERE _tiered_storage.is_alike(s.spcname, spc) LIMIT 1) || '"?',
					format('CREATE TABLESPACE %I LOCATION ''/a/directory''; creates it; '
					'SELECT spcname FROM pg_tablespace lists the tablespaces.', spc)));
		END IF;
		IF spc = 'pg_global' THEN
			PERFORM _tiered_storage.refuse('invalid_parameter_value',
				'tablespace "pg_global" cannot belong to a tier',
				detail => 'It holds the shared system catalogs, which cannot be moved.');
		END IF;
		SELECT r.tier_name, t.discovered INTO other
			FROM _tiered_storage.tier_tablespaces r
			JOIN _tiered_storage.tier t ON t.tier_name = r.tier_name
			WHERE r.tablespace_oid = spc_oid AND r.tier_name <> tier;
		IF FOUND THEN
			IF NOT other.discovered THEN
				PERFORM _tiered_storage.refuse('object_in_use',
					format('tablespace "%s" already belongs to tier "%s"', spc, other.tier_name),
					hint => pg_catalog.format('Take it out of that tier first with '
						'tiered_storage.alter_tier(%L, tablespaces => ...), or remove_tier(%1$L).',
						other.tier_name));
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
			PERFORM _tiered_storage.refuse('object_in_use',
				format('tablespace "%s" belongs to tier "%s" in database "%s"', spc,
					other.tier_name, other.datname),
				detail => 'A tablespace is shared by all databases, which must agree on its tier.',
				hint => 'Use the same tier name here, or change it there first. If the extension '
					'was dropped there, try again after tiered_storage.sample_interval.');
		END IF;
	END LOOP;

	left_out := ARRAY(SELECT r.tablespace_name FROM _tiered_storage.tier_tablespaces r
		WHERE r.tier_name = tier AND r.tablespace_name <> ALL (tablespaces)
		ORDER BY r.tablespace_name);
	IF left_out <> '{}' THEN
		RAISE NOTICE 'tier "%" no longer includes %', tier,
			(SELECT string_agg(format('tablespace "%s"', s.spcname), ', ' ORDER BY s.spcname)
				FROM unnest(left_out) s (spcname))
			USING DETAIL = 'Relations in a tablespace without a tier get no recommendations.',
				HINT = format('To keep them there: SELECT tiered_storage.alter_tier(%L, '
					'tablespaces => %L); otherwise add_tier() defines another tier.', tier,
					(SELECT array_agg(s.spcname ORDER BY s.spcname)
						FROM unnest(tablespaces || left_out) s (spcname)));
	END IF;
	/* A discovered tier that a restore has brought, and that loses what it has, is complete. */
	UPDATE _tiered_storage.tier t SET restored = false
		WHERE t.discovered AND t.restored AND t.tier_name IN (SELECT r.tier_name
			FROM _tiered_storage.tier_tablespaces r WHERE r.tablespace_name = ANY (tablespaces));
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
	SELECT t.capacity_bytes AS given_bytes, (SELECT sum(f.total_bytes) FROM (
			SELECT DISTINCT d.file_system_id, d.total_bytes
			FROM _tiered_storage.tablespace_devices() d
			WHERE d.tablespace_name = ANY (tablespaces) AND d.total_bytes >= 0) f) AS bytes
		INTO other FROM _tiered_storage.tier t WHERE t.tier_name = tier;
	IF other.given_bytes > other.bytes THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			format('capacity of tier "%s" is larger than its file systems', tier),
			detail => pg_catalog.format('The capacity is %s bytes, the file systems have %s '
				'bytes.', other.given_bytes, other.bytes),
			hint => 'Leave capacity_bytes out to use the size of the file system.');
	END IF;

	FOR other IN
		SELECT r.tier_name, min(d.device) AS device,
			bool_or(e.file_system_id = d.file_system_id) AS is_one_file_system
		FROM _tiered_storage.tablespace_devices() d
		JOIN _tiered_storage.tablespace_devices() e
			ON e.file_system_id = d.file_system_id OR e.device = d.device
		JOIN _tiered_storage.tier_tablespaces r ON r.tablespace_oid = e.tablespace_oid
		WHERE given AND d.tablespace_name = ANY (tablespaces)
			AND r.tier_name <> tier
		GROUP BY r.tier_name ORDER BY r.tier_name
	LOOP
		IF other.is_one_file_system THEN
			RAISE NOTICE 'tiers "%" and "%" share a file system', tier, other.tier_name
				USING HINT = 'Moving data between them frees no space and makes nothing faster.';
		ELSE
			RAISE NOTICE 'tiers "%" and "%" are on the same device, %', tier, other.tier_name,
				other.device
				USING HINT = 'Moving data between them makes nothing faster.';
		END IF;
	END LOOP;
END
$$;

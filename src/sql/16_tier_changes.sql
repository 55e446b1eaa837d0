---------------------------------------------------------------------------
-- Tiers that a person defines, changes and removes.
---------------------------------------------------------------------------

/*
 * The figures in the argument "device" of add_tier() and alter_tier(), as a row of which only
 * these are set.
 */
CREATE FUNCTION _tiered_storage.tier_figures(device jsonb) RETURNS _tiered_storage.tier
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	known CONSTANT text[] := '{random_read_ms,random_write_ms,sequential_read_mb_per_s,
		sequential_write_mb_per_s,fsync_ms,parallelism,capacity_bytes,compressed,
		compression_ratio,endurance_tbw,endurance_dwpd,price_per_million_reads,
		device,written_bytes,used_fraction}';
	unknown text;
BEGIN
	IF device IS NOT NULL AND jsonb_typeof(device) <> 'object' THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value', 'device must be an object',
			hint => 'For example {"random_read_ms": 0.1}.');
	END IF;
	SELECT k INTO unknown FROM jsonb_object_keys(device) k WHERE k <> ALL (known) LIMIT 1;
	IF FOUND THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			format('device has no key "%s"', unknown),
			hint => COALESCE('Did you mean "' || (SELECT k FROM unnest(known) k
				WHERE _tiered_storage.is_alike(k::name, unknown::name) LIMIT 1) || '"?',
				'Valid keys are ' || array_to_string(known, ', ') || '.'));
	END IF;
	SELECT k INTO unknown FROM jsonb_each(device) e (k, v)
		WHERE jsonb_typeof(v) IN ('object', 'array') LIMIT 1;
	IF FOUND THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			format('key "%s" of device must have a string, a number or a boolean', unknown));
	END IF;
	RETURN jsonb_populate_record(NULL::_tiered_storage.tier, device);
EXCEPTION WHEN invalid_text_representation OR numeric_value_out_of_range THEN
	PERFORM _tiered_storage.refuse('invalid_parameter_value', 'device: ' || SQLERRM);
END
$$;

/* The tablespaces that add_tier() and alter_tier() are given: a name, or an array of names. */
CREATE FUNCTION _tiered_storage.tablespace_names(tablespaces text) RETURNS name[]
LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN CASE WHEN starts_with(tablespaces, '{') THEN tablespaces::name[]
		ELSE ARRAY[tablespaces::name] END;
EXCEPTION WHEN invalid_text_representation THEN
	PERFORM _tiered_storage.refuse('invalid_parameter_value',
		format('invalid array of tablespaces: %s', tablespaces),
		hint => 'Give one name, such as ''fast'', or several, such as ''{fast,faster}''.');
END
$$;

CREATE FUNCTION tiered_storage.add_tier(
	name name,
	tablespaces text,
	profile text DEFAULT NULL,
	rank integer DEFAULT NULL,
	price_per_gb_month numeric DEFAULT NULL,
	reserve_fraction float8 DEFAULT 0.15,
	low_watermark float8 DEFAULT 0.80,
	high_watermark float8 DEFAULT 0.90,
	device jsonb DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp
	SET lock_timeout = '30s'
AS $$
DECLARE
	given _tiered_storage.tier := _tiered_storage.tier_figures(device);
	members name[] := _tiered_storage.tablespace_names(tablespaces);
	ranks jsonb := _tiered_storage.tier_begin_change('tiered_storage.add_tier()');
	t _tiered_storage.tier;
	d record;
BEGIN
	given.rank := add_tier.rank;
	given.price_per_gb_month := add_tier.price_per_gb_month;
	given.reserve_fraction := add_tier.reserve_fraction;
	given.low_watermark := add_tier.low_watermark;
	given.high_watermark := add_tier.high_watermark;
	IF EXISTS (SELECT FROM _tiered_storage.tier x WHERE x.tier_name = add_tier.name
		AND NOT x.discovered) THEN
		PERFORM _tiered_storage.refuse('duplicate_object',
			format('tier "%s" already exists', name),
			hint => 'Use tiered_storage.alter_tier() to change it.');
	END IF;
	/* The first tablespace whose device is known gives the profile. */
	SELECT x.profile, x.compressed INTO d
		FROM pg_catalog.unnest(members) WITH ORDINALITY s (spcname, i)
		JOIN _tiered_storage.tablespace_devices() x ON x.tablespace_name = s.spcname
		ORDER BY s.i LIMIT 1;

	t := _tiered_storage.tier_new(name, d.compressed, false);
	t := _tiered_storage.tier_with_profile(t, COALESCE(add_tier.profile, d.profile, 'sata_ssd'));
	t := _tiered_storage.tier_with_values(t, given);
	PERFORM _tiered_storage.tier_check_values(t);
	/* A person gives tiers ranks: those that a restore has brought count no more. */
	UPDATE _tiered_storage.tier x SET restored_rank = NULL
		WHERE x.restored_rank IS NOT NULL;
	t.rank := COALESCE(add_tier.rank, _tiered_storage.tier_make_rank(name, t.random_read_ms,
		t.compressed));

	INSERT INTO _tiered_storage.tier SELECT t.*;
	PERFORM _tiered_storage.tier_set_tablespaces(name, members, true);
	PERFORM _tiered_storage.tier_say_ranks(ranks);
	PERFORM _tiered_storage.tier_set_wear(name, device);
END
$$;
COMMENT ON FUNCTION tiered_storage.add_tier IS
'creates a tier, a class of storage made of a tablespace or of several, as an array such as '
'{fast,faster}; figures that are not given'
' come from the device profile, and the profile from the device; keys of device: '
'random_read_ms, random_write_ms, sequential_read_mb_per_s, sequential_write_mb_per_s, '
'fsync_ms, parallelism, capacity_bytes, compressed, compression_ratio, '
'endurance_tbw, endurance_dwpd, price_per_million_reads, and from SMART: written_bytes, '
'used_fraction, device';

CREATE FUNCTION tiered_storage.alter_tier(
	name name,
	new_name name DEFAULT NULL,
	tablespaces text DEFAULT NULL,
	profile text DEFAULT NULL,
	rank integer DEFAULT NULL,
	price_per_gb_month numeric DEFAULT NULL,
	reserve_fraction float8 DEFAULT NULL,
	low_watermark float8 DEFAULT NULL,
	high_watermark float8 DEFAULT NULL,
	device jsonb DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp
	SET lock_timeout = '30s'
AS $$
DECLARE
	given _tiered_storage.tier := _tiered_storage.tier_figures(device);
	members name[] := _tiered_storage.tablespace_names(tablespaces);
	ranks jsonb := _tiered_storage.tier_begin_change('tiered_storage.alter_tier()');
	t _tiered_storage.tier;
BEGIN
	given.rank := alter_tier.rank;
	given.price_per_gb_month := alter_tier.price_per_gb_month;
	given.reserve_fraction := alter_tier.reserve_fraction;
	given.low_watermark := alter_tier.low_watermark;
	given.high_watermark := alter_tier.high_watermark;
	t := _tiered_storage.tier_require(name);
	IF alter_tier.profile IS NOT NULL THEN
		t := _tiered_storage.tier_with_profile(t, alter_tier.profile);
	END IF;
	t := _tiered_storage.tier_with_values(t, given);
	t := _tiered_storage.tier_without(t, device);
	PERFORM _tiered_storage.tier_check_values(t);
	t.discovered := false;
	IF alter_tier.rank IS NOT NULL THEN
		UPDATE _tiered_storage.tier x SET restored_rank = NULL
			WHERE x.restored_rank IS NOT NULL;
		t.restored_rank := NULL;
	END IF;
	PERFORM _tiered_storage.tier_overwrite(t, false);
	UPDATE _tiered_storage.tier_tablespace x SET discovered = false
		WHERE x.tier_name = alter_tier.name;
	IF new_name <> name THEN
		t.tier_name := new_name;
		PERFORM _tiered_storage.tier_check_values(t);
		IF EXISTS (SELECT FROM _tiered_storage.tier x WHERE x.tier_name = new_name) THEN
			PERFORM _tiered_storage.refuse('duplicate_object',
				format('tier "%s" already exists', new_name));
		END IF;
		UPDATE _tiered_storage.tier x SET tier_name = new_name WHERE x.tier_name = alter_tier.name;
	END IF;
	/* Also without a new list, because the capacity is checked against the file systems. */
	IF members IS NOT NULL
		OR EXISTS (SELECT FROM _tiered_storage.tier_tablespaces r WHERE r.tier_name = t.tier_name)
			THEN
		PERFORM _tiered_storage.tier_set_tablespaces(t.tier_name,
			COALESCE(members, (SELECT pg_catalog.array_agg(r.tablespace_name
				ORDER BY r.tablespace_name)
				FROM _tiered_storage.tier_tablespaces r WHERE r.tier_name = t.tier_name)),
			members IS NOT NULL);
	END IF;
	PERFORM _tiered_storage.tier_say_ranks(ranks);
	PERFORM _tiered_storage.tier_set_wear(t.tier_name, device);
END
$$;
COMMENT ON FUNCTION tiered_storage.alter_tier IS
'changes a tier; null arguments leave their property unchanged; device has the keys of '
'add_tier(), where null removes a figure';

/* An error if a policy or a pin uses the tier, which names what has it. */
CREATE FUNCTION _tiered_storage.tier_require_unused(name name) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	users text := (SELECT string_agg(u.who, ', ' ORDER BY u.place, u.number) FROM (
		SELECT 1, p.policy_id, format('policy %s on %s', p.policy_id, p.relation_name)
		FROM _tiered_storage.policies p WHERE name IN (p.tier_name, p.index_tier, p.return_tier)
		UNION ALL
		SELECT 2, f.policy_id, format('policy %s from %s to %s', f.policy_id, f.tier_name,
			f.target_name)
		FROM _tiered_storage.fullness_policy f WHERE name IN (f.tier_name, f.target_name)
		UNION ALL
		SELECT 3, v.pin_id, 'the pin of ' || v.relation_name
		FROM _tiered_storage.pin_targets v WHERE v.tier_name = name) u (place, number, who));
BEGIN
	IF users IS NOT NULL THEN
		PERFORM _tiered_storage.refuse('dependent_objects_still_exist',
			format('tier "%s" is used by policies or pins', name),
			detail => format('By %s.', users),
			hint => 'remove_policy(policy_id => ...), alter_policy() and unpin() free it.');
	END IF;
END
$$;

CREATE FUNCTION tiered_storage.remove_tier(name name, if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp
	SET lock_timeout = '30s'
AS $$
BEGIN
	PERFORM _tiered_storage.tier_begin_change('tiered_storage.remove_tier()');
	IF if_exists AND NOT EXISTS (SELECT FROM _tiered_storage.tier x
		WHERE x.tier_name = remove_tier.name) THEN
		RAISE NOTICE 'tier "%" does not exist, skipping', name;
		RETURN;
	END IF;
	PERFORM _tiered_storage.tier_require(name);
	PERFORM _tiered_storage.remove_ownerless();
	/* unpin() cannot name these. */
	DELETE FROM _tiered_storage.pin p USING _tiered_storage.pin_targets v
		WHERE v.pin_id = p.pin_id AND p.tier_name = remove_tier.name
			AND (v.relation_oid IS NULL OR v.until <= now());
	PERFORM _tiered_storage.tier_require_unused(name);
	BEGIN
		DELETE FROM _tiered_storage.tier x WHERE x.tier_name = remove_tier.name;
	EXCEPTION WHEN foreign_key_violation THEN
		/* By a transaction that has committed while we waited; only a new snapshot shows it. */
		PERFORM _tiered_storage.tier_require_unused(name);
		PERFORM _tiered_storage.refuse('dependent_objects_still_exist',
			format('tier "%s" is used by a policy or a pin that was added concurrently', name),
			hint => 'Try again in another transaction to see which.');
	END;
END
$$;
COMMENT ON FUNCTION tiered_storage.remove_tier IS
'removes the definition of a tier; its tablespaces and their data stay unchanged';

/*
 * The statement that makes a fast or a slow tier of these tablespaces, beside a tier of this
 * latency; null: there is none beside it.
 *
 * A virtual disk does not show what it is, so it is taken for what clouds offer, as
 * discover_tiers() does; unless that is not on the right side of the tier that stays.
 */
CREATE FUNCTION _tiered_storage.second_tier_statement(
	is_fast boolean, tablespaces name[], other_random_read_ms float8) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	profile text := CASE WHEN is_fast THEN 'nvme' ELSE 'hdd_7200' END;
	cloud record;
BEGIN
	SELECT p.* INTO cloud FROM _tiered_storage.device_profiles() p
		WHERE p.profile = CASE WHEN is_fast THEN 'cloud_gp3' ELSE 'cloud_st1' END;
	IF EXISTS (SELECT FROM _tiered_storage.tablespace_devices() d
			WHERE d.tablespace_name = ANY (tablespaces) AND d.is_virtual AND d.profile IS NULL)
		AND (other_random_read_ms IS NULL OR CASE WHEN is_fast
			THEN cloud.random_read_ms < other_random_read_ms
			ELSE cloud.random_read_ms > other_random_read_ms END) THEN
		profile := cloud.profile;
	END IF;
	RETURN format('SELECT tiered_storage.add_tier(%L, %L, profile => %L);',
		CASE WHEN is_fast THEN 'fast' ELSE 'slow' END, tablespaces, profile);
END
$$;

/*
 * Statements that make two tiers of the tablespaces that there are, where there is one tier;
 * null: there is no second tablespace for that.
 *
 * To be typed as they are: names are quoted, nothing is taken from a tier that a person
 * defined without saying so, and nothing that another database has given to a tier.
 */
CREATE FUNCTION _tiered_storage.second_tier_statements() RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	one record;
	members name[];		-- its tablespaces that another tier may have
	others name[];		-- those of no tier
	fast name[];
	slow name[];
	given name[];		-- what the tier gets that is added to one; null: nothing
	taken text := '';	-- and the statement that takes it from that one
BEGIN
	SELECT t.* INTO one FROM _tiered_storage.tier t;
	SELECT array_agg(d.tablespace_name ORDER BY d.tablespace_oid)
			FILTER (WHERE r.tier_name IS NOT NULL),
		array_agg(d.tablespace_name ORDER BY d.tablespace_oid) FILTER (WHERE r.tier_name IS NULL)
		INTO members, others
		FROM _tiered_storage.tablespace_devices() d
		LEFT JOIN _tiered_storage.tier_tablespaces r ON r.tablespace_oid = d.tablespace_oid
		WHERE d.path_exists AND NOT EXISTS (SELECT FROM _tiered_storage.tablespace_claims() c
			JOIN pg_database b ON b.oid = c.database_oid AND b.datname <> current_database()
			WHERE c.tablespace_oid = d.tablespace_oid);
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
		RETURN _tiered_storage.second_tier_statement(true, fast, NULL) || ' ' ||
			_tiered_storage.second_tier_statement(false, slow, NULL);
	ELSIF others <> '{}' THEN
		given := others[1:1];
	ELSIF members <> '{}'
		AND (SELECT count(*) FROM _tiered_storage.tier_tablespaces) > 1 THEN
		given := members[cardinality(members):];
		taken := format('SELECT tiered_storage.alter_tier(%L, tablespaces => %L%s); ',
			one.tier_name, (SELECT array_agg(r.tablespace_name ORDER BY r.tablespace_oid)
				FROM _tiered_storage.tier_tablespaces r
				WHERE r.tablespace_name <> members[cardinality(members)]),
			CASE WHEN one.capacity_bytes IS NOT NULL
				THEN ', device => ''{"capacity_bytes": null}''' END);
	END IF;
	IF given IS NULL THEN
		RETURN NULL;
	END IF;
	RETURN taken || _tiered_storage.second_tier_statement(one.tier_name = 'slow', given,
		one.random_read_ms);
END
$$;

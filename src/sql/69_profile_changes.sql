---------------------------------------------------------------------------
-- Changes of device profiles and prices.
---------------------------------------------------------------------------

/*
 * Raises an error for figures and prices that a device profile cannot have.
 *
 * An error if a device cannot have these figures or prices.
 */
CREATE FUNCTION _tiered_storage.profile_check(p _tiered_storage.device_profile) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	bad text;
	missing text;
BEGIN
	/* The name is the key of an index, and both are shown in tables; before they are part of a
	 * message. */
	SELECT format('It has %s bytes, and may have %s.', octet_length(v.value), v.most), v.property
		INTO bad, missing
	FROM (VALUES ('profile', p.profile, 63), ('price_source', p.price_source, 1024))
		v (property, value, most)
	WHERE octet_length(v.value) > v.most
	LIMIT 1;
	IF bad IS NOT NULL THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			format('%s is too long', missing), detail => bad);
	END IF;
	bad := (_tiered_storage.tier_misfit(to_jsonb(p))).detail;
	IF bad IS NOT NULL THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			format('invalid device profile "%s"', p.profile), detail => bad);
	END IF;
	SELECT string_agg(figure, ', ') INTO missing
	FROM unnest('{random_read_ms,random_write_ms,sequential_read_mb_per_s,
		sequential_write_mb_per_s,fsync_ms,parallelism,price_per_gb_month}'::text[]) figure
	WHERE jsonb_typeof(to_jsonb(p) -> figure) = 'null'
		AND NOT EXISTS (SELECT FROM _tiered_storage.default_profiles() d
			WHERE d.profile = p.profile);
	IF missing IS NOT NULL THEN
		PERFORM _tiered_storage.refuse('null_value_not_allowed',
			format('device profile "%s" is new, and not all of its figures are given', p.profile),
			detail => format('Missing: %s.', missing),
			hint => 'SELECT * FROM tiered_storage.device_profiles() shows those of others.');
	END IF;
END
$$;

CREATE FUNCTION tiered_storage.alter_device_profile(profile text, device jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp
	SET lock_timeout = '30s'
AS $$
DECLARE
	p _tiered_storage.device_profile;
	keys text;
	users text;
BEGIN
	PERFORM _tiered_storage.require_writable('tiered_storage.alter_device_profile()');
	IF COALESCE(profile, '') = '' THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			'profile must not be null or empty');
	END IF;
	LOCK TABLE _tiered_storage.tier IN SHARE ROW EXCLUSIVE MODE;
	SELECT d.* INTO p FROM _tiered_storage.device_profile d
		WHERE d.profile = alter_device_profile.profile;
	IF device IS NULL THEN
		IF NOT EXISTS (SELECT FROM _tiered_storage.device_profiles() d
			WHERE d.profile = alter_device_profile.profile) THEN
			PERFORM _tiered_storage.refuse('undefined_object',
				format('device profile "%s" does not exist', profile),
				hint => 'SELECT profile FROM '
					'tiered_storage.device_profiles() lists the profiles.');
		END IF;
		SELECT string_agg(quote_ident(t.tier_name), ', ' ORDER BY t.tier_name) INTO users
			FROM _tiered_storage.tier t WHERE t.profile = alter_device_profile.profile
				AND NOT EXISTS (SELECT FROM _tiered_storage.default_profiles() d
					WHERE d.profile = alter_device_profile.profile);
		IF users IS NOT NULL THEN
			PERFORM _tiered_storage.refuse('dependent_objects_still_exist',
				format('device profile "%s" is used by a tier', profile),
				detail => format('Tiers: %s.', users), hint => 'Change it with '
					'tiered_storage.alter_tier(name, profile => ...).');
		END IF;
	ELSE
		IF jsonb_typeof(device) = 'object' THEN
			SELECT string_agg(quote_literal(k), ', ') INTO keys FROM jsonb_object_keys(device) k
				WHERE k = 'profile' OR NOT to_jsonb(jsonb_populate_record(p, '{}')) ? k;
		END IF;
		IF jsonb_typeof(device) <> 'object' OR keys IS NOT NULL THEN
			PERFORM _tiered_storage.refuse('invalid_parameter_value',
				format('invalid figures of device profile "%s"', profile), detail => COALESCE(
					'Not known: ' || keys || '.', 'They are not a JSON object.'),
				hint => (SELECT format('Known keys: %s.', string_agg(k, ', '))
					FROM jsonb_object_keys(to_jsonb(jsonb_populate_record(p, '{}'))) k
					WHERE k <> 'profile'));
		END IF;
		BEGIN
			p := jsonb_populate_record(p, device);
			p.profile := profile;
			/* Another price is another list. */
			IF device ?| '{price_per_gb_month,price_per_million_reads}' THEN
				p.price_source := COALESCE(device ->> 'price_source',
					format('alter_device_profile(), %s', current_date));
			END IF;
		EXCEPTION WHEN data_exception THEN
			PERFORM _tiered_storage.refuse('invalid_parameter_value',
				format('invalid figures of device profile "%s"', profile),
				detail => SQLERRM || '.');
		END;
		PERFORM _tiered_storage.profile_check(p);
	END IF;
	DELETE FROM _tiered_storage.device_profile d
		WHERE d.profile = alter_device_profile.profile;
	IF device IS NOT NULL THEN
		INSERT INTO _tiered_storage.device_profile SELECT p.*;
	END IF;
	/* Tiers have copies of the figures, which may have been measured; an assumed price follows. */
	UPDATE _tiered_storage.tier t SET price_per_gb_month = d.price_per_gb_month
		FROM _tiered_storage.device_profiles() d
		WHERE d.profile = alter_device_profile.profile AND t.profile = d.profile
			AND t.price_is_assumed AND t.price_per_gb_month <> d.price_per_gb_month;
END
$$;
COMMENT ON FUNCTION tiered_storage.alter_device_profile IS
'changes figures and prices of a device profile, or adds a profile; a key of device with null '
'restores its built-in value; device null restores a built-in profile or removes an added one';

---------------------------------------------------------------------------
-- recommend_settings(): what the functions of 38_settings.sql say, and what forbids it.
---------------------------------------------------------------------------

/*
 * Whether the command line sets a setting, whether nothing that recommend_settings() could say
 * would set it, and what to know of who has set it.
 *
 * ALTER SYSTEM is read after all other files, so that it wins over what is included; it does not
 * over the command line, which containers and cluster managers use, nor over databases and roles,
 * and may be forbidden.  ALTER DATABASE wins over the command line, but not over roles.  What a
 * tablespace has of its own wins over all of them.
 */
CREATE FUNCTION _tiered_storage.setting_obstacle(setting text, tablespace_name name,
	has_command boolean, OUT is_fixed boolean, OUT is_blocked boolean, OUT note text)
RETURNS record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH source AS (
		SELECT k.kind, s.source, has_command AND pg_is_in_recovery() AS on_standby,
			COALESCE(has_command AND k.kind = 'system' AND s.source = 'command line', false)
				AS is_fixed,
			COALESCE(has_command AND k.kind = 'system' AND s.source IS NOT NULL
				AND NOT current_setting('allow_alter_system', true)::boolean, false)
				AS is_forbidden,
			has_command AND EXISTS (SELECT FROM pg_db_role_setting r
				CROSS JOIN unnest(r.setconfig) c
				WHERE starts_with(c, setting_obstacle.setting || '=')
					AND CASE k.kind WHEN 'system' THEN true WHEN 'database' THEN r.setrole <> 0
						AND r.setdatabase IN (0, (SELECT d.oid FROM pg_database d
							WHERE d.datname = current_database())) END) AS has_own,
			EXISTS (SELECT FROM pg_tablespace t CROSS JOIN pg_options_to_table(t.spcoptions) o
				WHERE t.spcname = setting_obstacle.tablespace_name
					AND o.option_name = setting_obstacle.setting) AS has_option
		FROM (SELECT CASE WHEN tablespace_name IS NOT NULL THEN 'tablespace'
			WHEN setting = 'temp_tablespaces' THEN 'database' ELSE 'system' END AS kind) k
		LEFT JOIN pg_settings s ON s.name = setting_obstacle.setting)
	SELECT s.is_fixed, s.is_fixed OR s.is_forbidden OR s.on_standby,
		NULLIF(concat_ws('; ',
			CASE WHEN s.is_fixed THEN 'it is set on the server''s command line, which wins over '
					'ALTER SYSTEM: change it there'
				WHEN s.is_forbidden THEN 'allow_alter_system is off: set it where the server''s '
					'configuration comes from'
				WHEN s.on_standby THEN 'this is a standby: it is changed on the primary'
				WHEN s.has_own AND s.kind = 'system'
					THEN 'where ALTER DATABASE or ALTER ROLE has set it, that stays'
				WHEN s.has_own THEN 'where ALTER ROLE has set it, that stays' END,
			CASE WHEN s.kind <> 'database' AND NOT s.has_option
				AND setting NOT LIKE '%cost' THEN CASE
				WHEN s.source = 'client' THEN 'the current value is only this session''s: its '
					'client has set it (PGOPTIONS)'
				WHEN s.source IN ('session', 'interactive')
					THEN 'the current value is only this session''s, by SET'
				WHEN s.source IN ('user', 'database user')
					THEN format('the current value is that of role %s, by ALTER ROLE',
						session_user) END END), '')
	FROM source s
$$;

/* Of the server as a whole only where it runs: a standby has other devices. */
CREATE FUNCTION _tiered_storage.recommend_settings(
	include_all boolean DEFAULT false)
RETURNS SETOF _tiered_storage.setting_advice
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY
		WITH advice AS (
			SELECT 1 AS place, a.* FROM _tiered_storage.settings_of_tablespaces() a
			UNION ALL
			SELECT 2, a.* FROM (SELECT COALESCE(include_all, false) AS all_of_them) i
			CROSS JOIN LATERAL (
				SELECT * FROM _tiered_storage.settings_of_temp(i.all_of_them)
				UNION ALL SELECT * FROM _tiered_storage.settings_of_wal_place(i.all_of_them)
				UNION ALL SELECT * FROM _tiered_storage.settings_of_wal_sync(i.all_of_them)
				UNION ALL SELECT * FROM _tiered_storage.settings_of_images(i.all_of_them)) a
			WHERE NOT pg_is_in_recovery())
		SELECT a.tier_name, a.tablespace_name, a.setting, a.current_value, a.recommended_value,
			a.calibrated_at, concat_ws('; ', a.reason, o.note),
			CASE WHEN NOT o.is_blocked THEN a.command END, a.effect, a.expected_ratio,
			CASE WHEN o.is_fixed THEN 'restart' ELSE a.requires END
		FROM advice a
		CROSS JOIN LATERAL _tiered_storage.setting_obstacle(a.setting, a.tablespace_name,
			a.command IS NOT NULL) o
		ORDER BY a.place, a.tier_name, a.tablespace_name, a.setting;
	IF NOT FOUND AND NOT EXISTS (SELECT FROM _tiered_storage.tiers) THEN
		RAISE NOTICE 'no setting is recommended: there is no tier'
			USING DETAIL = 'Most settings follow from the figures of the devices.',
				HINT = 'SELECT * FROM tiered_storage.discover_tiers() finds the devices; '
					   'add_tier() defines tiers.';
	END IF;
END
$$;

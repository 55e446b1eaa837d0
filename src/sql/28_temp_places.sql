---------------------------------------------------------------------------
-- Where temporary files are.
---------------------------------------------------------------------------

/*
 * The roles that may use this database and have no temporary files in a tablespace, also if
 * temp_tablespaces names it.
 */
CREATE FUNCTION _tiered_storage.roles_without_create(tablespace name) RETURNS name[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT COALESCE(array_agg(r.rolname ORDER BY r.rolname), '{}')
	FROM pg_database d
	JOIN pg_tablespace t ON t.spcname = tablespace AND t.oid <> d.dattablespace
	JOIN pg_roles r ON r.rolcanlogin AND NOT r.rolsuper
		AND has_database_privilege(r.oid, d.oid, 'CONNECT')
		AND NOT has_tablespace_privilege(r.oid, t.oid, 'CREATE')
	WHERE d.datname = current_database()
$$;

/*
 * The tablespaces of the temporary files of this database; empty: not known, see null_reason.
 *
 * Where sessions of this database have their temporary files.  A role that has a setting of its
 * own may have them anywhere.  Of more than one tablespace a session takes them in turn.  Those
 * that do not exist, or in which a role may not create, are passed over, and if none is left, the
 * database's is taken.
 */
CREATE FUNCTION _tiered_storage.temp_places(OUT places text[], OUT null_reason text)
RETURNS record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH setting AS (
		SELECT COALESCE(
			(SELECT substr(c, length('temp_tablespaces=') + 1)
				FROM pg_db_role_setting s CROSS JOIN unnest(s.setconfig) c
				WHERE s.setdatabase = d.oid AND s.setrole = 0
					AND starts_with(c, 'temp_tablespaces=')),
			(SELECT p.reset_val FROM pg_settings p WHERE p.name = 'temp_tablespaces')) AS names,
			d.oid, d.dattablespace, h.spcname::text AS default_place
		FROM pg_database d JOIN pg_tablespace h ON h.oid = d.dattablespace
		WHERE d.datname = current_database()),
	place AS (
		SELECT t.spcname::text AS place,
			cardinality(_tiered_storage.roles_without_create(t.spcname)) > 0 AS is_closed
		FROM setting s CROSS JOIN string_to_table(s.names, ',') n
		JOIN pg_tablespace t ON quote_ident(t.spcname) = btrim(n) OR t.spcname = btrim(n)
		UNION
		SELECT s.default_place, false FROM setting s WHERE btrim(s.names) IN ('', '""')),
	found AS (
		SELECT array_agg(p.place ORDER BY p.place) AS places, bool_or(p.is_closed) AS is_closed,
			EXISTS (SELECT FROM setting s JOIN pg_db_role_setting r
				ON r.setdatabase IN (0, s.oid) AND r.setrole <> 0
				CROSS JOIN unnest(r.setconfig) c WHERE starts_with(c, 'temp_tablespaces='))
				AS roles_have_own
		FROM place p)
	SELECT CASE WHEN r.reason IS NULL THEN COALESCE(f.places, ARRAY[s.default_place])
			ELSE '{}' END, r.reason
	FROM setting s CROSS JOIN found f
	CROSS JOIN LATERAL (SELECT CASE
		WHEN f.roles_have_own THEN 'place: some roles set temp_tablespaces'
		WHEN f.is_closed
			THEN 'place: not all roles have CREATE on a tablespace of temp_tablespaces'
		END AS reason) r
$$;

---------------------------------------------------------------------------
-- What room standbys have where something would go.
---------------------------------------------------------------------------

/*
 * Null: not told, as by a role that may not ask; what the standby reads is known all the same.
 * What it had not replayed yet is not in its free bytes.
 */
CREATE FUNCTION _tiered_storage.standby_fetch_rooms(
	dblink_schema name, s _tiered_storage.standby, connection text, patience interval)
RETURNS _tiered_storage.standby_room[]
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	asked_at timestamptz := clock_timestamp();
	asked_lsn pg_lsn := pg_current_wal_lsn();
	rooms _tiered_storage.standby_room[];
BEGIN
	PERFORM _tiered_storage.standby_wait(dblink_schema, connection,
		'SELECT d.tablespace_oid, d.path, d.path_exists AND d.writable, d.file_system_id,
			d.free_bytes, d.total_bytes, pg_catalog.pg_last_wal_replay_lsn(),
			pg_catalog.pg_last_xact_replay_timestamp()
		FROM tiered_storage.tablespace_devices() d', patience);
	EXECUTE format('SELECT COALESCE(array_agg(ROW($2, t.tablespace_oid, t.path,
			COALESCE(t.is_usable, false), t.file_system_id, t.free_bytes, t.total_bytes, $3,
			CASE WHEN t.replayed_lsn >= $4 THEN $3
				ELSE COALESCE(t.replayed_at, $3 - interval ''1 day'') END)
			::_tiered_storage.standby_room), ''{}'')
		FROM %I.dblink_get_result($1) AS t (tablespace_oid oid, path text, is_usable boolean,
			file_system_id bigint, free_bytes bigint, total_bytes bigint, replayed_lsn pg_lsn,
			replayed_at timestamptz)', dblink_schema)
		INTO rooms USING connection, s.standby_name, asked_at, asked_lsn;
	RETURN rooms;
EXCEPTION WHEN OTHERS THEN
	RETURN NULL;
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_fetch_rooms(
	name, _tiered_storage.standby, text, interval) IS
'the directories of the tablespaces on one standby, over a connection that is open; null: it '
'does not tell';

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

/* Fails if that standby cannot say: who asks has the problem named. */
CREATE FUNCTION _tiered_storage.standby_ask_room(
	dblink_schema name, s _tiered_storage.standby, tablespaces oid[],
	OUT tablespace_oid oid, OUT path text, OUT path_exists boolean, OUT writable boolean,
	OUT free_bytes bigint, OUT total_bytes bigint)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	connection constant text := 'tiered_storage standby';
	patience constant interval := '5 seconds';
	problem text;
BEGIN
	PERFORM _tiered_storage.standby_check(s.added_by_oid, s.added_by, s.server_name,
		dblink_schema);
	IF s.server_name IS NOT NULL THEN
		PERFORM _tiered_storage.standby_check_server(s.server_name);
	END IF;
	PERFORM _tiered_storage.standby_connect(dblink_schema, connection, s);
	BEGIN
		SELECT i.problem INTO problem
			FROM _tiered_storage.standby_identify(dblink_schema, connection, patience) i;
		IF problem IS NOT NULL THEN
			RAISE EXCEPTION '%', problem USING ERRCODE = 'connection_failure';
		END IF;
		PERFORM _tiered_storage.standby_wait(dblink_schema, connection, format(
			'SELECT d.tablespace_oid, d.path, d.path_exists, d.writable, d.free_bytes, '
				'd.total_bytes FROM tiered_storage.tablespace_devices() d '
				'WHERE d.tablespace_oid OPERATOR(pg_catalog.=) ANY (%L::pg_catalog.oid[]) '
				'ORDER BY d.tablespace_oid', tablespaces), patience);
		RETURN QUERY EXECUTE format('SELECT * FROM %I.dblink_get_result($1) AS t '
			'(tablespace_oid oid, path text, path_exists boolean, writable boolean, '
			'free_bytes bigint, total_bytes bigint)', dblink_schema) USING connection;
	EXCEPTION WHEN OTHERS OR query_canceled THEN
		EXECUTE format('SELECT %I.dblink_disconnect($1)', dblink_schema) USING connection;
		RAISE;
	END;
	EXECUTE format('SELECT %I.dblink_disconnect($1)', dblink_schema) USING connection;
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_ask_room(name, _tiered_storage.standby, oid[]) IS
'the directories of these tablespaces on one standby, and the room that their file systems have '
'there; raises an error if the standby cannot be asked';

/*
 * A standby that did not answer the worker lately is not asked again before the worker does,
 * and all of them together have some seconds.
 */
CREATE FUNCTION _tiered_storage.standby_rooms(tablespaces oid[],
	OUT standby_name name, OUT problem text, OUT tablespace_oid oid, OUT path text,
	OUT path_exists boolean, OUT writable boolean, OUT free_bytes bigint, OUT total_bytes bigint)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
#variable_conflict use_column
DECLARE
	began_at timestamptz := clock_timestamp();
	dblink_schema name;
	standby _tiered_storage.standby;
	failed _tiered_storage.standby_state;
BEGIN
	SELECT n.nspname INTO dblink_schema
		FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
		WHERE e.extname = 'dblink';
	FOR standby IN SELECT s.* FROM _tiered_storage.standby s ORDER BY s.standby_name LOOP
		standby_rooms.standby_name := standby.standby_name;
		standby_rooms.problem := NULL;
		SELECT * INTO failed FROM _tiered_storage.standby_state t
			WHERE t.standby_name = standby.standby_name AND t.error IS NOT NULL
				AND now() < t.next_pull_at AND t.next_pull_at <= now() + interval '1 hour';
		IF FOUND THEN
			standby_rooms.problem := failed.error;
		ELSIF clock_timestamp() > began_at + interval '10 seconds' THEN
			standby_rooms.problem := 'it was not asked, as the others took too long';
		ELSE
			BEGIN
				RETURN QUERY SELECT standby.standby_name, NULL::text, a.*
					FROM _tiered_storage.standby_ask_room(dblink_schema, standby, tablespaces) a;
			EXCEPTION WHEN OTHERS THEN
				standby_rooms.problem := left(SQLERRM, 500);
			END;
		END IF;
		IF standby_rooms.problem IS NOT NULL THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_rooms(oid[]) IS
'for each standby its directories of these tablespaces and the room there, or the problem for '
'which that is not known';

---------------------------------------------------------------------------
-- How the statistics of standbys are pulled.
---------------------------------------------------------------------------

/*
 * The wait is on this side, so that neither a hanging standby nor a dead network can block
 * it.
 */
CREATE FUNCTION _tiered_storage.standby_wait(dblink_schema name, connection text, statement text,
	patience interval)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	give_up_at timestamptz := clock_timestamp() + patience;
	pause_s float8 := 0.001;
	sent integer;
	busy integer;
BEGIN
	EXECUTE format('SELECT %I.dblink_send_query($1, $2)', dblink_schema) INTO sent
		USING connection, statement;
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
COMMENT ON FUNCTION _tiered_storage.standby_wait(name, text, text, interval) IS
'sends a statement to a standby and waits a limited time for its result';

CREATE FUNCTION _tiered_storage.standby_connect(
	dblink_schema name, connection text, s _tiered_storage.standby)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	database_name text := replace(replace(current_database(), E'\\', E'\\\\'), '''', E'\\''');
BEGIN
	-- The last value of a keyword counts.
	EXECUTE format('SELECT %I.dblink_connect($1, $2)', dblink_schema) USING connection,
		CASE WHEN s.server_name IS NOT NULL THEN s.server_name::text
			ELSE format('dbname=''%s'' application_name=tiered_storage %s connect_timeout=3 '
				'keepalives=1 keepalives_idle=5 keepalives_interval=2 keepalives_count=3',
				database_name, s.conninfo) END;
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_connect(name, text, _tiered_storage.standby) IS
'opens the connection to a standby';

CREATE FUNCTION _tiered_storage.standby_identify(
	dblink_schema name, connection text, patience interval,
	OUT system_identifier bigint, OUT in_recovery boolean, OUT problem text)
RETURNS record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
-- All may set these; the last one of the settings is one of Citus, and nothing without it.
DECLARE
	here record;
	there record;
BEGIN
	PERFORM _tiered_storage.standby_wait(dblink_schema, connection,
		'SELECT pg_catalog.set_config(''statement_timeout'', ''10s'', false),
			pg_catalog.set_config(''stats_fetch_consistency'', ''none'', false),
			pg_catalog.set_config(''citus.override_table_visibility'', ''off'', false),
			c.system_identifier, pg_catalog.pg_is_in_recovery(),
			d.oid::pg_catalog.int8, d.datname::pg_catalog.text
		FROM pg_catalog.pg_control_system() c, pg_catalog.pg_database d
		WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()', patience);
	EXECUTE format('SELECT * FROM %I.dblink_get_result($1) AS t (a text, b text, c text, '
		'system_identifier bigint, in_recovery boolean, database bigint, database_name text)',
		dblink_schema) INTO there USING connection;
	EXECUTE format('SELECT * FROM %I.dblink_get_result($1) AS t (a text)', dblink_schema)
		USING connection;
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
			format('the connection leads to another cluster: its system identifier is %s, '
				'that of this one %s', there.system_identifier, here.system_identifier)
		WHEN NOT there.in_recovery THEN 'the connection leads to a server that is no standby'
		WHEN there.database <> here.database THEN
			format('the connection leads to database "%s" instead of "%s"',
				there.database_name, here.datname) END;
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_identify(name, text, interval) IS
'the cluster that a standby belongs to and whether it is in recovery; problem is null if it is a '
'standby of this database';

/*
 * A standby that is the wrong one is a problem; what fails on the way is an error.  It is
 * standby_identify() that sees to it that Citus hides no shard from the query on pg_class.
 */
CREATE FUNCTION _tiered_storage.standby_fetch(
	dblink_schema name, s _tiered_storage.standby,
	OUT system_identifier bigint, OUT in_recovery boolean, OUT problem text,
	OUT counters _tiered_storage.standby_counters[], OUT rooms _tiered_storage.standby_room[])
RETURNS record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	connection constant text := 'tiered_storage standby';
	patience constant interval := '15 seconds';
BEGIN
	PERFORM _tiered_storage.standby_connect(dblink_schema, connection, s);
	BEGIN
		SELECT i.system_identifier, i.in_recovery, i.problem
			INTO standby_fetch.system_identifier, standby_fetch.in_recovery, standby_fetch.problem
			FROM _tiered_storage.standby_identify(dblink_schema, connection, patience) i;
		IF standby_fetch.problem IS NULL THEN
			PERFORM _tiered_storage.standby_wait(dblink_schema, connection,
				'WITH held AS MATERIALIZED (SELECT DISTINCT l.relation FROM pg_catalog.pg_locks l
					JOIN pg_catalog.pg_stat_activity a USING (pid)
					WHERE l.locktype OPERATOR(pg_catalog.=) ''relation''
						AND l.database OPERATOR(pg_catalog.=) (SELECT d.oid
							FROM pg_catalog.pg_database d WHERE d.datname
								OPERATOR(pg_catalog.=) pg_catalog.current_database())
						AND a.pid OPERATOR(pg_catalog.<>) pg_catalog.pg_backend_pid()
						AND a.backend_type OPERATOR(pg_catalog.<>) ''startup'')
				SELECT c.oid, pg_catalog.pg_stat_get_numscans(c.oid),
					pg_catalog.pg_stat_get_tuples_returned(c.oid),
					pg_catalog.pg_stat_get_blocks_fetched(c.oid),
					pg_catalog.pg_stat_get_blocks_hit(c.oid),
					EXISTS (SELECT FROM held h WHERE h.relation OPERATOR(pg_catalog.=) c.oid)
				FROM pg_catalog.pg_class c
				WHERE c.oid OPERATOR(pg_catalog.>=) 16384
					AND c.relkind OPERATOR(pg_catalog.=) ANY (''{r,i,m,t}''::pg_catalog."char"[])
					AND (pg_catalog.pg_stat_get_blocks_fetched(c.oid) OPERATOR(pg_catalog.>) 0
						OR c.oid OPERATOR(pg_catalog.=) ANY (SELECT h.relation FROM held h))',
				patience);
			EXECUTE format('SELECT COALESCE(array_agg(ROW($2, t.relation_oid, t.scans,
					t.tuples_read, t.blocks_fetched, t.blocks_hit, t.held)
					::_tiered_storage.standby_counters), ''{}'')
				FROM %I.dblink_get_result($1) AS t (relation_oid oid, scans bigint,
					tuples_read bigint, blocks_fetched bigint, blocks_hit bigint, held boolean)',
				dblink_schema) INTO counters USING connection, s.standby_name;
			EXECUTE format('SELECT * FROM %I.dblink_get_result($1) AS t (a text)', dblink_schema)
				USING connection;
			rooms := _tiered_storage.standby_fetch_rooms(dblink_schema, s, connection, patience);
		END IF;
	EXCEPTION WHEN OTHERS OR query_canceled THEN
		EXECUTE format('SELECT %I.dblink_disconnect($1)', dblink_schema) USING connection;
		RAISE;
	END;
	EXECUTE format('SELECT %I.dblink_disconnect($1)', dblink_schema) USING connection;
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_fetch(name, _tiered_storage.standby) IS
'reads the statistics of one standby; problem is null if they can be used';

CREATE FUNCTION _tiered_storage.standby_note_result(
	name name, system_identifier bigint, in_recovery boolean, relations bigint, problem text)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	IF problem IS NULL THEN
		INSERT INTO _tiered_storage.standby_state
			(standby_name, system_identifier, in_recovery, last_attempt_at, last_pull_at,
				next_pull_at, failures, relations, error)
			VALUES (standby_note_result.name, standby_note_result.system_identifier,
				standby_note_result.in_recovery,
				clock_timestamp(), clock_timestamp(), now(), 0, standby_note_result.relations,
				NULL)
			ON CONFLICT ON CONSTRAINT standby_state_pkey DO UPDATE SET
				system_identifier = EXCLUDED.system_identifier, in_recovery = EXCLUDED.in_recovery,
				last_attempt_at = EXCLUDED.last_attempt_at, last_pull_at = EXCLUDED.last_pull_at,
				next_pull_at = EXCLUDED.next_pull_at,
				failures = 0, relations = EXCLUDED.relations, error = NULL;
	ELSE
		INSERT INTO _tiered_storage.standby_state AS t
			(standby_name, last_attempt_at, next_pull_at, failures, error)
			VALUES (standby_note_result.name, clock_timestamp(), now() + interval '1 minute', 1,
				problem)
			ON CONFLICT ON CONSTRAINT standby_state_pkey DO UPDATE
				SET last_attempt_at = EXCLUDED.last_attempt_at,
				next_pull_at = now() + LEAST(interval '1 minute' * 2 ^ LEAST(t.failures, 10),
					interval '1 hour'),
				failures = t.failures + 1, error = EXCLUDED.error;
		UPDATE _tiered_storage.standby_state t
			SET system_identifier = standby_note_result.system_identifier,
				in_recovery = standby_note_result.in_recovery
			WHERE t.standby_name = standby_note_result.name
				AND standby_note_result.system_identifier IS NOT NULL;
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_note_result(name, bigint, boolean, bigint, text) IS
'stores the result of a pull from a standby, and the time of the next attempt if there was a '
'problem';

/*
 * The growth of the counters since the last pull is what the standby has read.  The first
 * pull only stores the counters.  A counter that went back was reset.
 */
CREATE FUNCTION _tiered_storage.standby_add_reads(
	pulled _tiered_storage.standby_counters[], pulled_names name[], new_names name[])
RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH new AS MATERIALIZED (
		SELECT * FROM unnest(pulled)
	), changed AS MATERIALIZED (
		SELECT n.*, o.scans AS old_scans, o.tuples_read AS old_tuples_read,
			o.blocks_fetched AS old_blocks_fetched, o.blocks_hit AS old_blocks_hit,
			o.standby_name IS NULL OR n.scans < o.scans OR n.tuples_read < o.tuples_read
				OR n.blocks_fetched < o.blocks_fetched OR n.blocks_hit < o.blocks_hit AS from_zero
		FROM new n LEFT JOIN _tiered_storage.standby_counters o USING (standby_name, relation_oid)
		WHERE o.standby_name IS NULL OR n.held
			OR (n.scans, n.tuples_read, n.blocks_fetched, n.blocks_hit)
				IS DISTINCT FROM (o.scans, o.tuples_read, o.blocks_fetched, o.blocks_hit)
	), gone AS (
		DELETE FROM _tiered_storage.standby_counters o
		WHERE o.standby_name = ANY (pulled_names)
			AND NOT EXISTS (SELECT FROM new n WHERE n.standby_name = o.standby_name
				AND n.relation_oid = o.relation_oid)
	), stored AS (
		INSERT INTO _tiered_storage.standby_counters (standby_name, relation_oid, scans,
			tuples_read, blocks_fetched, blocks_hit, held)
			SELECT c.standby_name, c.relation_oid, c.scans, c.tuples_read, c.blocks_fetched,
				c.blocks_hit, false FROM changed c
			ON CONFLICT (standby_name, relation_oid) DO UPDATE SET scans = EXCLUDED.scans,
				tuples_read = EXCLUDED.tuples_read,
				blocks_fetched = EXCLUDED.blocks_fetched, blocks_hit = EXCLUDED.blocks_hit
	)
	INSERT INTO _tiered_storage.standby_reads AS r (relation_oid, scans, tuples_read,
		blocks_fetched, blocks_hit)
		SELECT c.relation_oid,
			sum(c.scans - CASE WHEN c.from_zero THEN 0 ELSE c.old_scans END),
			sum(c.tuples_read - CASE WHEN c.from_zero THEN 0 ELSE c.old_tuples_read END),
			sum(c.blocks_fetched - CASE WHEN c.from_zero THEN 0 ELSE c.old_blocks_fetched END),
			sum(c.blocks_hit - CASE WHEN c.from_zero THEN 0 ELSE c.old_blocks_hit END)
		FROM changed c
		WHERE c.standby_name <> ALL (new_names)
		GROUP BY c.relation_oid
		ORDER BY c.relation_oid
		ON CONFLICT (relation_oid) DO UPDATE SET scans = r.scans + EXCLUDED.scans,
			tuples_read = r.tuples_read + EXCLUDED.tuples_read,
			blocks_fetched = r.blocks_fetched + EXCLUDED.blocks_fetched,
			blocks_hit = r.blocks_hit + EXCLUDED.blocks_hit;
$$;
COMMENT ON FUNCTION _tiered_storage.standby_add_reads(
	_tiered_storage.standby_counters[], name[], name[]) IS
'adds what standbys have read since the last pull and stores their counters; the first pull from '
'a standby only stores them';

CREATE FUNCTION _tiered_storage.standby_pull_one(
	dblink_schema name, s _tiered_storage.standby,
	OUT system_identifier bigint, OUT in_recovery boolean, OUT problem text,
	OUT counters _tiered_storage.standby_counters[], OUT rooms _tiered_storage.standby_room[])
RETURNS record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	detail text;
BEGIN
	PERFORM _tiered_storage.standby_check(s.added_by_oid, s.added_by, s.server_name,
		dblink_schema);
	IF s.server_name IS NOT NULL THEN
		PERFORM _tiered_storage.standby_check_server(s.server_name);
	END IF;
	SELECT f.system_identifier, f.in_recovery, f.problem, f.counters, f.rooms
		INTO standby_pull_one.system_identifier, standby_pull_one.in_recovery,
			standby_pull_one.problem, standby_pull_one.counters, standby_pull_one.rooms
		FROM _tiered_storage.standby_fetch(dblink_schema, s) f;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
	problem := left(concat_ws(': ', problem, NULLIF(detail, '')), 500);
	system_identifier := NULL;
	in_recovery := NULL;
	counters := NULL;
	rooms := NULL;
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_pull_one(name, _tiered_storage.standby) IS
'pulls from one standby; an error is returned as problem, so that the other standbys are pulled '
'nevertheless';

CREATE PROCEDURE tiered_storage.pull_standby_statistics(force boolean DEFAULT true)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	began_at timestamptz := clock_timestamp();
	dblink_schema name;
	standby _tiered_storage.standby;
	answer record;
	pulled _tiered_storage.standby_counters[] := '{}';
	pulled_names name[] := '{}';
	new_names name[] := '{}';
	rooms _tiered_storage.standby_room[] := '{}';
BEGIN
	IF pg_is_in_recovery() THEN
		RAISE EXCEPTION 'statistics of standbys are pulled by the primary'
			USING ERRCODE = 'read_only_sql_transaction';
	END IF;
	LOCK TABLE _tiered_storage.standby_counters IN SHARE UPDATE EXCLUSIVE MODE;
	SELECT n.nspname INTO dblink_schema
		FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
		WHERE e.extname = 'dblink';

	-- The network comes first; what others may wait for is short and comes last.
	FOR standby IN
		SELECT s.*
		FROM _tiered_storage.standby s
		LEFT JOIN _tiered_storage.standby_state t USING (standby_name)
		WHERE force IS NOT FALSE OR t.next_pull_at IS NULL
			OR t.next_pull_at NOT BETWEEN now() AND now() + interval '1 hour'
		ORDER BY t.last_attempt_at NULLS FIRST, s.standby_name
	LOOP
		-- Those that are left come first the next time.
		EXIT WHEN clock_timestamp() > began_at + interval '30 seconds';
		SELECT * INTO answer FROM _tiered_storage.standby_pull_one(dblink_schema, standby);
		IF answer.problem IS NULL THEN
			pulled := pulled || answer.counters;
			pulled_names := pulled_names || standby.standby_name;
			rooms := rooms || answer.rooms;
			IF NOT EXISTS (SELECT FROM _tiered_storage.standby_state t
					WHERE t.standby_name = standby.standby_name AND t.last_pull_at IS NOT NULL)
						THEN
				new_names := new_names || standby.standby_name;
			END IF;
		END IF;
		PERFORM _tiered_storage.standby_note_result(standby.standby_name, answer.system_identifier,
			answer.in_recovery, cardinality(answer.counters), answer.problem);
	END LOOP;
	PERFORM _tiered_storage.standby_add_reads(pulled, pulled_names, new_names);
	DELETE FROM _tiered_storage.standby_room r WHERE r.standby_name = ANY (pulled_names)
		AND NOT EXISTS (SELECT FROM unnest(rooms) n WHERE n.standby_name = r.standby_name
			AND n.tablespace_oid = r.tablespace_oid);
	INSERT INTO _tiered_storage.standby_room AS r SELECT n.* FROM unnest(rooms) n
		ORDER BY n.standby_name, n.tablespace_oid
		ON CONFLICT ON CONSTRAINT standby_room_pkey DO UPDATE SET path = EXCLUDED.path,
			is_usable = EXCLUDED.is_usable, file_system_id = EXCLUDED.file_system_id,
			free_bytes = EXCLUDED.free_bytes, total_bytes = EXCLUDED.total_bytes,
			looked_at = EXCLUDED.looked_at, replayed_until = EXCLUDED.replayed_until;
END
$$;
COMMENT ON PROCEDURE tiered_storage.pull_standby_statistics(boolean) IS
'reads the statistics of the standbys, so that the next sample counts their reads, and which '
'room their tablespaces have, so that no move stops them; errors appear '
'in the view standbys; with force => false standbys are skipped whose next attempt is not due; '
'the worker calls it in each cycle';

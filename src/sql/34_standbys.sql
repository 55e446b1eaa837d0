---------------------------------------------------------------------------
-- Standbys whose reads count here.
---------------------------------------------------------------------------

CREATE TABLE _tiered_storage.standby
(
	standby_name name NOT NULL PRIMARY KEY CHECK (standby_name OPERATOR(pg_catalog.<>) ''),
	server_name name,
	conninfo text,
	added_by name NOT NULL,
	added_by_oid oid NOT NULL,
	added_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
	CHECK ((server_name IS NULL) OPERATOR(pg_catalog.<>) (conninfo IS NULL))
);
COMMENT ON TABLE _tiered_storage.standby IS
'standbys whose reads are counted; use add_standby() and the view tiered_storage.standbys';
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.standby', '');

CREATE TABLE _tiered_storage.standby_state
(
	standby_name name NOT NULL PRIMARY KEY REFERENCES _tiered_storage.standby ON DELETE CASCADE,
	system_identifier bigint,
	in_recovery boolean,
	last_attempt_at timestamptz NOT NULL,
	last_pull_at timestamptz,
	next_pull_at timestamptz NOT NULL,
	failures integer NOT NULL,
	relations bigint,
	error text
);
COMMENT ON TABLE _tiered_storage.standby_state IS
'result of the last pull from each standby; use the view tiered_storage.standbys';

CREATE TABLE _tiered_storage.standby_counters
(
	standby_name name NOT NULL REFERENCES _tiered_storage.standby ON DELETE CASCADE,
	relation_oid oid NOT NULL,
	scans bigint NOT NULL,
	tuples_read bigint NOT NULL,
	blocks_fetched bigint NOT NULL,
	blocks_hit bigint NOT NULL,
	held boolean NOT NULL,
	PRIMARY KEY (standby_name, relation_oid)
);
COMMENT ON TABLE _tiered_storage.standby_counters IS
'counters in the statistics of each standby at the last pull';
COMMENT ON COLUMN _tiered_storage.standby_counters.held IS
'a transaction there had locked it, and may have read what is not counted yet; false once it is '
'stored';

/* Each sample empties it, so it need not store which reads have been added already. */
CREATE TABLE _tiered_storage.standby_reads
(
	relation_oid oid NOT NULL PRIMARY KEY,
	scans bigint NOT NULL,
	tuples_read bigint NOT NULL,
	blocks_fetched bigint NOT NULL,
	blocks_hit bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.1);
COMMENT ON TABLE _tiered_storage.standby_reads IS
'reads of the standbys since the last sample, which takes them from here; all zero: a transaction '
'there had it locked';

/* By the last pull that was told; what has been moved there since counts in addition. */
CREATE TABLE _tiered_storage.standby_room
(
	standby_name name NOT NULL REFERENCES _tiered_storage.standby ON DELETE CASCADE,
	tablespace_oid oid NOT NULL,
	path text,
	is_usable boolean NOT NULL,
	file_system_id bigint,
	free_bytes bigint,
	total_bytes bigint,
	looked_at timestamptz NOT NULL,
	replayed_until timestamptz NOT NULL,
	PRIMARY KEY (standby_name, tablespace_oid)
);
COMMENT ON TABLE _tiered_storage.standby_room IS
'the directory of each tablespace on each standby, and the room there, by the last pull';
COMMENT ON COLUMN _tiered_storage.standby_room.is_usable IS
'whether the directory is there and can be written to';
COMMENT ON COLUMN _tiered_storage.standby_room.replayed_until IS
'moves that had ended by then were in free_bytes; by the clock of this server';

CREATE VIEW tiered_storage.standbys AS
	SELECT s.standby_name,
		CASE WHEN s.server_name IS NULL THEN 'connection string'
			ELSE 'server '
			OPERATOR(pg_catalog.||) pg_catalog.quote_ident(s.server_name::pg_catalog.text) END
			AS connection,
		t.system_identifier OPERATOR(pg_catalog.=) c.system_identifier
			AS system_identifier_matches,
		t.in_recovery, t.relations, t.last_pull_at, t.last_attempt_at, t.next_pull_at, t.failures,
			t.error
	FROM _tiered_storage.standby s
	CROSS JOIN pg_catalog.pg_control_system() c
	LEFT JOIN _tiered_storage.standby_state t
		ON t.standby_name OPERATOR(pg_catalog.=) s.standby_name;
COMMENT ON VIEW tiered_storage.standbys IS
'standbys whose reads are added to those of this server, and the result of the last pull of '
'their statistics';
COMMENT ON COLUMN tiered_storage.standbys.standby_name IS 'name given to add_standby()';
COMMENT ON COLUMN tiered_storage.standbys.connection IS
'how the standby is reached: a foreign server or a connection string';
COMMENT ON COLUMN tiered_storage.standbys.system_identifier_matches IS
'whether it belongs to this cluster; null: not known yet';
COMMENT ON COLUMN tiered_storage.standbys.in_recovery IS
'whether it was a standby at the last contact; null: not known yet';
COMMENT ON COLUMN tiered_storage.standbys.relations IS
'number of relations in its statistics; null: never pulled';
COMMENT ON COLUMN tiered_storage.standbys.last_pull_at IS
'when its statistics were last read; null: never';
COMMENT ON COLUMN tiered_storage.standbys.last_attempt_at IS
'when a pull was last attempted; null: never';
COMMENT ON COLUMN tiered_storage.standbys.next_pull_at IS
'the worker does not try again before this time';
COMMENT ON COLUMN tiered_storage.standbys.failures IS 'number of failed attempts in a row';
COMMENT ON COLUMN tiered_storage.standbys.error IS 'error of the last attempt; null: it succeeded';

CREATE FUNCTION _tiered_storage.standby_check(added_by_oid oid, added_by name, server name,
	dblink_schema name) RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_check_standby';
COMMENT ON FUNCTION _tiered_storage.standby_check(oid, name, name, name) IS
'raises an error unless superusers alone decide about the connection to a standby: the role that '
'added it, and the owner of the foreign server if there is one';

CREATE FUNCTION _tiered_storage.standby_check_server(server name) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
	s pg_foreign_server;
BEGIN
	SELECT * INTO s FROM pg_foreign_server f WHERE f.srvname = server;
	IF NOT EXISTS (SELECT FROM pg_user_mapping m WHERE m.umserver = s.oid
			AND m.umuser IN (0, (SELECT r.oid FROM pg_roles r WHERE r.rolname = current_user)))
				THEN
		RAISE EXCEPTION 'server "%" has no user mapping for role "%"', server, current_user
			USING ERRCODE = 'undefined_object',
				DETAIL = 'Statistics are pulled with the rights of the owner of the extension.',
				HINT = format('Use CREATE USER MAPPING FOR %I SERVER %I OPTIONS (user ..., '
					'password ...).', current_user, server);
	END IF;
	IF NOT EXISTS (SELECT FROM pg_options_to_table(s.srvoptions) o
		WHERE o.option_name = 'connect_timeout' AND o.option_value ~ '^ *[1-9][0-9]? *$') THEN
		RAISE EXCEPTION 'server "%" has no connect_timeout between 1 and 99 seconds', server
			USING ERRCODE = 'invalid_parameter_value',
				DETAIL = 'A standby that is down must not hold the worker up.',
				HINT = format('Use ALTER SERVER %I OPTIONS (ADD connect_timeout ''3'').', server);
	END IF;
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_check_server(name) IS
'raises an error unless a foreign server can be used to pull statistics';

/*
 * Runs with the rights of the extension's owner, after the rights of the caller were
 * checked.
 */
CREATE FUNCTION _tiered_storage.standby_add(name name, server name, conninfo text,
	added_by_oid oid) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
#variable_conflict use_column
DECLARE
	adder name := pg_get_userbyid(standby_add.added_by_oid);
BEGIN
	IF standby_add.name IS NULL OR standby_add.name = '' THEN
		RAISE EXCEPTION 'the name of a standby must not be null or empty'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	IF (standby_add.server IS NULL) = (standby_add.conninfo IS NULL) THEN
		RAISE EXCEPTION 'give either a foreign server or a connection string'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	PERFORM _tiered_storage.standby_check(standby_add.added_by_oid, adder, standby_add.server,
		(SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
			WHERE e.extname = 'dblink'));
	IF standby_add.server IS NOT NULL THEN
		PERFORM _tiered_storage.standby_check_server(standby_add.server);
	ELSE
		IF standby_add.conninfo ~* E'^\\s*postgres(ql)?://' THEN
			RAISE EXCEPTION 'the connection string must be of keywords and values'
				USING ERRCODE = 'invalid_parameter_value',
					HINT = 'For example ''host=standby1 user=monitor''.';
		END IF;
		IF standby_add.conninfo ~* E'(^|\\s)(ssl)?password\\s*=' THEN
			RAISE EXCEPTION 'the connection string must not contain a password'
				USING ERRCODE = 'invalid_parameter_value',
					DETAIL = 'It would be stored in a table, and in dumps.',
					HINT = 'Use a foreign server with a user mapping, or a password file.';
		END IF;
	END IF;
	IF EXISTS (SELECT FROM _tiered_storage.standby s WHERE s.standby_name = standby_add.name) THEN
		RAISE EXCEPTION 'standby "%" exists already', standby_add.name
			USING ERRCODE = 'duplicate_object';
	END IF;
	IF (SELECT count(*) FROM _tiered_storage.standby) >= 16 THEN
		RAISE EXCEPTION 'there are too many standbys'
			USING ERRCODE = 'program_limit_exceeded',
				DETAIL = 'At most 16 are possible.';
	END IF;
	INSERT INTO _tiered_storage.standby (standby_name, server_name, conninfo, added_by,
		added_by_oid)
		VALUES (standby_add.name, standby_add.server, standby_add.conninfo, adder,
			standby_add.added_by_oid);
END
$$;
COMMENT ON FUNCTION _tiered_storage.standby_add(name, name, text, oid) IS
'stores a standby, after add_standby() has checked that its caller may add one';

CREATE FUNCTION tiered_storage.add_standby(name name, server name DEFAULT NULL,
	conninfo text DEFAULT NULL) RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_add_standby';
COMMENT ON FUNCTION tiered_storage.add_standby(name, name, text) IS
'counts the reads of a physical standby together with those of this server from now on; by a '
'foreign server that a superuser owns, or by a connection string; superusers only, whatever is '
'granted; requires the extension dblink';

CREATE FUNCTION tiered_storage.remove_standby(name name, if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
BEGIN
	PERFORM _tiered_storage.require_writable('tiered_storage.remove_standby()');
	IF remove_standby.name IS NULL THEN
		RAISE EXCEPTION 'the name of a standby must not be null'
			USING ERRCODE = 'null_value_not_allowed';
	END IF;
	DELETE FROM _tiered_storage.standby s WHERE s.standby_name = remove_standby.name;
	IF NOT FOUND AND remove_standby.if_exists IS NOT TRUE THEN
		RAISE EXCEPTION 'standby "%" does not exist', remove_standby.name
			USING ERRCODE = 'undefined_object';
	END IF;
END
$$;
COMMENT ON FUNCTION tiered_storage.remove_standby(name, boolean) IS
'stops counting the reads of a standby; its reads until now stay in the heat and fade';

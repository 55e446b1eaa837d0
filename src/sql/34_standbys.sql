---------------------------------------------------------------------------
-- Standbys whose reads count here.
---------------------------------------------------------------------------

/* Standbys whose reads are counted; use add_standby() and the view tiered_storage.standbys. */
CREATE TABLE _tiered_storage.standby
(
	standby_name name NOT NULL PRIMARY KEY CHECK (standby_name OPERATOR(pg_catalog.<>) ''),
	conninfo text NOT NULL,
	added_by name NOT NULL,
	added_by_oid oid NOT NULL,
	added_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.standby', '');

/* Result of the last pull from each standby; use the view tiered_storage.standbys. */
CREATE UNLOGGED TABLE _tiered_storage.standby_state
(
	standby_name name NOT NULL PRIMARY KEY,
	last_attempt_at timestamptz NOT NULL,
	last_pull_at timestamptz,
	next_pull_at timestamptz NOT NULL,
	failures integer NOT NULL,
	relations bigint,
	-- max_standby_streaming_delay there, -1: for ever; null: it does not tell who uses what
	conflict_delay_ms bigint,
	error text
) WITH (autovacuum_analyze_threshold = 2147483647);
SELECT _tiered_storage.define_stored('standby_state');

/* Counters in the statistics of each standby at the last pull. */
CREATE UNLOGGED TABLE _tiered_storage.standby_counters
(
	standby_name name NOT NULL,
	relation_oid oid NOT NULL,
	scans bigint NOT NULL,
	tuples_read bigint NOT NULL,
	blocks_fetched bigint NOT NULL,
	blocks_hit bigint NOT NULL,
	held_ms bigint,	-- so long the oldest transaction was open that had it locked; null: none had
	PRIMARY KEY (standby_name, relation_oid)
) WITH (autovacuum_analyze_threshold = 2147483647);
SELECT _tiered_storage.define_stored('standby_counters');

/*
 * Reads of the standbys since the last sample, which takes them from here; all zero: a
 * transaction there had it locked.
 *
 * Each sample empties it, so it need not store which reads have been added already.
 */
CREATE UNLOGGED TABLE _tiered_storage.standby_reads
(
	relation_oid oid NOT NULL PRIMARY KEY,
	scans bigint NOT NULL,
	tuples_read bigint NOT NULL,
	blocks_fetched bigint NOT NULL,
	blocks_hit bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.1, autovacuum_analyze_threshold = 2147483647);
SELECT _tiered_storage.define_stored('standby_reads');

/*
 * The directory of each tablespace on each standby, and the room there, by the last pull.
 *
 * By the last pull that was told; what has been moved there since counts in addition.
 */
CREATE UNLOGGED TABLE _tiered_storage.standby_room
(
	standby_name name NOT NULL,
	tablespace_oid oid NOT NULL,
	is_usable boolean NOT NULL,	-- whether the directory is there and can be written to
	file_system_id bigint,
	free_bytes bigint,
	total_bytes bigint,
	looked_at timestamptz NOT NULL,
	-- moves that had ended by then were in free_bytes; by the clock of this server
	replayed_until timestamptz NOT NULL,
	PRIMARY KEY (standby_name, tablespace_oid)
) WITH (autovacuum_analyze_threshold = 2147483647);
SELECT _tiered_storage.define_stored('standby_room');

CREATE VIEW _tiered_storage.standbys AS
	SELECT s.standby_name, s.conninfo, t.relations, t.last_pull_at, t.last_attempt_at,
		t.next_pull_at, t.failures, t.error
	FROM _tiered_storage.standby s
	LEFT JOIN _tiered_storage.stored_standby_state() t ON t.standby_name = s.standby_name;

CREATE FUNCTION tiered_storage.add_standby(name name, conninfo text) RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_add_standby';
COMMENT ON FUNCTION tiered_storage.add_standby IS
'adds the reads of a physical standby to those of this server; the worker connects to it with '
'each sample; only superusers can call it';

/* What is known of standbys that were removed. */
CREATE FUNCTION _tiered_storage.forget_standbys() RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
	DELETE FROM _tiered_storage.standby_state t
		WHERE t.standby_name NOT IN (SELECT s.standby_name FROM _tiered_storage.standby s);
	DELETE FROM _tiered_storage.standby_counters t
		WHERE t.standby_name NOT IN (SELECT s.standby_name FROM _tiered_storage.standby s);
	DELETE FROM _tiered_storage.standby_room t
		WHERE t.standby_name NOT IN (SELECT s.standby_name FROM _tiered_storage.standby s);
$$;

CREATE FUNCTION tiered_storage.remove_standby(name name, if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM _tiered_storage.require_writable('tiered_storage.remove_standby()');
	IF remove_standby.name IS NULL THEN
		PERFORM _tiered_storage.refuse('null_value_not_allowed',
			'the name of a standby must not be null');
	END IF;
	DELETE FROM _tiered_storage.standby s WHERE s.standby_name = remove_standby.name;
	IF NOT FOUND AND remove_standby.if_exists IS NOT TRUE THEN
		PERFORM _tiered_storage.refuse('undefined_object',
			format('standby "%s" does not exist', remove_standby.name));
	END IF;
	PERFORM _tiered_storage.forget_standbys();
END
$$;
COMMENT ON FUNCTION tiered_storage.remove_standby IS
'stops adding the reads of a standby; its earlier reads fade';

---------------------------------------------------------------------------
-- State: what samples change, and its snapshots.
---------------------------------------------------------------------------

/*
 * A row version that is removed from a logged table cancels queries on a standby that might
 * still see it, if hot_standby_feedback is off there.  So what samples and the worker change by
 * themselves is in unlogged tables, and what they log is only ever added: once an hour a
 * snapshot of all unlogged tables of this schema, and the history of the hours that have ended.
 * A crash, a restored backup and a promotion leave unlogged tables empty; the next sample
 * loads the last snapshot.  On a standby, which cannot read them, the snapshot is what there is.
 *
 * These tables are not analyzed, because the statistics would be updated in a logged catalog.
 * Logged ones are not vacuumed either: nothing in them is dead, and pages that become
 * all-visible cancel queries on a standby, too.
 */

/* The hourly snapshots of state; the last one counts.  A ring of two members. */
CREATE TABLE _tiered_storage.state_snapshot
(
	member smallint NOT NULL,
	id bigint NOT NULL,	-- of the snapshot, ascending
	written_at timestamptz NOT NULL,
	table_name name NOT NULL,
	part integer NOT NULL,
	rows jsonb NOT NULL,	-- at most 1000
	PRIMARY KEY (id, table_name, part, member)
) PARTITION BY LIST (member);

/*
 * Activity of the hours that have ended, see history_rows; a ring of eight members.
 *
 * A row has up to 1000 relations as parallel arrays, or the load and the I/O of files of the
 * hour.
 */
CREATE TABLE _tiered_storage.history_hour
(
	member smallint NOT NULL,
	id bigint NOT NULL,	-- of the row, ascending
	written_at timestamptz NOT NULL,
	hour timestamptz NOT NULL,	-- in which the periods began
	relation_oids oid[],
	starts_ms integer[],	-- after the beginning of the hour
	periods_s integer[],
	scans real[],
	random_reads real[],
	sequential_reads real[],
	hits real[],
	row_changes real[],
	page_writes real[],
	load jsonb,	-- of load_history
	files jsonb,	-- of file_history
	PRIMARY KEY (hour, id, member)
) PARTITION BY LIST (member);

DO $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT t.ring, m.member FROM (VALUES ('state_snapshot', 2), ('history_hour', 8))
			t (ring, members)
		CROSS JOIN LATERAL pg_catalog.generate_series(0,
			t.members OPERATOR(pg_catalog.-) 1) m (member)
	LOOP
		EXECUTE pg_catalog.format('CREATE TABLE _tiered_storage.%1$I PARTITION OF '
			'_tiered_storage.%2$I FOR VALUES IN (%3$s) '
			'WITH (autovacuum_enabled = off, toast.autovacuum_enabled = off)',
			pg_catalog.format('%s_%s', r.ring, r.member), r.ring, r.member);
	END LOOP;
END
$$;

/*
 * Empties a member of a ring; false: another session has it locked.
 *
 * As TRUNCATE does, but for logical replication, which would empty the member of a subscriber.
 */
CREATE FUNCTION _tiered_storage.empty_member(member regclass) RETURNS boolean
LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'tier_empty_member';

/*
 * The member of a ring that rows are added to now.
 *
 * When the last one is full or old, the next one is emptied and takes its turn.  If another
 * session reads that one, rows are still added to the last one until the next hour.
 */
CREATE FUNCTION _tiered_storage.ring_member(ring text, members integer, most_bytes float8,
	most_s float8, at timestamptz)
RETURNS smallint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	last_member smallint;
	next_member smallint;
	began_at timestamptz;
	is_used boolean;
BEGIN
	EXECUTE format('SELECT r.member, (SELECT min(f.written_at) FROM _tiered_storage.%1$I f '
		'WHERE f.member = r.member) FROM _tiered_storage.%1$I r ORDER BY r.id DESC LIMIT 1', ring)
		INTO last_member, began_at;
	IF last_member IS NULL THEN
		RETURN 0;
	END IF;
	IF began_at > at - most_s * interval '1 second' AND pg_total_relation_size(
			format('_tiered_storage.%I', ring || '_' || last_member)::regclass) < most_bytes THEN
		RETURN last_member;
	END IF;
	next_member := (last_member + 1) % members;
	EXECUTE format('SELECT EXISTS (SELECT FROM _tiered_storage.%I)', ring || '_' || next_member)
		INTO is_used;
	IF is_used AND NOT _tiered_storage.empty_member(
			format('_tiered_storage.%I', ring || '_' || next_member)::regclass) THEN
		RETURN last_member;
	END IF;
	RETURN next_member;
END
$$;

/* The unlogged tables of this schema but the plan; stored_TABLE() is defined for each. */
CREATE FUNCTION _tiered_storage.state_tables() RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT '{device_state, device_wear, device_wear_day, file_history, file_state, load_history,
		load_state, policy_result, rebuilt_index, relation_history, relation_state, sampler,
		standby_counters, standby_reads, standby_room, standby_state, tablespace_growth}'::text[]
$$;

CREATE FUNCTION _tiered_storage.take_snapshot(at timestamptz, most_bytes float8) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	member smallint := _tiered_storage.ring_member('state_snapshot', 2, most_bytes, 1e9, at);
	id bigint := COALESCE((SELECT max(s.id) FROM _tiered_storage.state_snapshot s), 0) + 1;
	t text;
BEGIN
	FOREACH t IN ARRAY _tiered_storage.state_tables()
	LOOP
		EXECUTE format('INSERT INTO _tiered_storage.state_snapshot '
			'SELECT $1, $2, $3, %1$L, r.part, jsonb_agg(r.fields) '
			'FROM (SELECT to_jsonb(s) AS fields, (row_number() OVER () - 1) / 1000 AS part '
			'FROM _tiered_storage.%1$I s) r GROUP BY r.part', t) USING member, id, at;
	END LOOP;
END
$$;

/*
 * Loads the last snapshot into empty tables; once more what was not observed since does not
 * count.  What cannot be loaded is forgotten.
 */
CREATE FUNCTION _tiered_storage.restore_state() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	last_id bigint := (SELECT max(s.id) FROM _tiered_storage.state_snapshot s);
	t text;
BEGIN
	FOREACH t IN ARRAY _tiered_storage.state_tables()
	LOOP
		EXECUTE format('INSERT INTO _tiered_storage.%1$I SELECT r.* '
			'FROM _tiered_storage.state_snapshot s CROSS JOIN LATERAL '
			'jsonb_populate_recordset(NULL::_tiered_storage.%1$I, s.rows) r '
			'WHERE s.id = $1 AND s.table_name = %1$L', t) USING last_id;
	END LOOP;
EXCEPTION WHEN data_exception OR integrity_constraint_violation THEN
	RAISE WARNING 'could not load the last snapshot of the state: %', SQLERRM;
END
$$;

/*
 * Defines stored_TABLE(), which has the rows of a table of state: those of the last snapshot
 * where they cannot be read, or are lost.  One function for each table, since a type that the
 * caller chooses must not come in here: its domains run functions of whoever made them.
 * Called once for each table, by this script alone.
 */
CREATE FUNCTION _tiered_storage.define_stored(table_name text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $define$
BEGIN
	EXECUTE format($create$
CREATE FUNCTION _tiered_storage.stored_%1$s() RETURNS SETOF _tiered_storage.%1$s
LANGUAGE plpgsql STABLE SECURITY DEFINER COST 10
	SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF NOT pg_is_in_recovery() THEN
		IF EXISTS (SELECT FROM _tiered_storage.sampler) THEN
			RETURN QUERY SELECT * FROM _tiered_storage.%1$s;
			RETURN;
		END IF;
	END IF;
	RETURN QUERY SELECT r.* FROM _tiered_storage.state_snapshot s
		CROSS JOIN LATERAL jsonb_populate_recordset(NULL::_tiered_storage.%1$s, s.rows) r
		WHERE s.table_name = %1$L
			AND s.id = (SELECT max(m.id) FROM _tiered_storage.state_snapshot m);
END
$$$create$, table_name);
END
$define$;

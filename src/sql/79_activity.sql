---------------------------------------------------------------------------
-- Short forms, for people who watch: a hundred columns wide.
---------------------------------------------------------------------------

/* The beginning of a text, in one line, that a screen shows in at most so many columns. */
CREATE FUNCTION _tiered_storage.first_columns(what text, width integer) RETURNS text
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'tier_first_columns';

/* A text in one line of at most so many columns of a screen. */
CREATE FUNCTION _tiered_storage.clip(what text, width integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN length(t) = length(clip.what) THEN t
		ELSE _tiered_storage.first_columns(t, clip.width - 3) || '...' END
	FROM _tiered_storage.first_columns(clip.what, clip.width) t
$$;

/*
 * A text in lines of at most so many columns of a screen, broken between words.
 *
 * One with a statement is broken outside of its quotes only, and no word of it is cut: it can be
 * executed as it is.
 */
CREATE FUNCTION _tiered_storage.wrap(what text, width integer, has_statement boolean DEFAULT false)
RETURNS text
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'tier_wrap';

/*
 * A number with about two digits in the unit that fits; each is so many times the one before.
 *
 * Three digits at most, so that its width is bounded.
 */
CREATE FUNCTION _tiered_storage.short_quantity(number float8, step float8, VARIADIC units text[])
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN
	_tiered_storage.short_number(number / step ^ width_bucket(number / 999.5,
		(ARRAY[1, step, step ^ 2, step ^ 3, step ^ 4])[:cardinality(units) - 1]))
	|| units[1 + width_bucket(number / 999.5,
		(ARRAY[1, step, step ^ 2, step ^ 3, step ^ 4])[:cardinality(units) - 1])];

/* Bytes with about two digits, in at most six characters. */
CREATE FUNCTION _tiered_storage.short_bytes(bytes float8) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN _tiered_storage.short_quantity(bytes, 1024, ' B', ' kB', ' MB', ' GB', ' TB', ' PB');

/*
 * Rows of tiered_storage.activity, each text in one line.
 *
 * What was read lately is that of the last sample; how it is called in psql: watch.
 */
CREATE FUNCTION _tiered_storage.activity_rows(OUT part text, OUT name text, OUT now text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	most CONSTANT integer := 5;
	r record;
	n integer;
BEGIN
	part := 'worker';
	SELECT w.database_name, concat_ws(': ', w.state, w.reason) INTO name, now
		FROM _tiered_storage.worker_status() w
		WHERE w.database_name = current_database();
	name := COALESCE(name, current_database());
	now := CASE WHEN _tiered_storage.is_paused() THEN 'moves are paused; ' ELSE '' END
		|| COALESCE(now, 'not running: the library is not in shared_preload_libraries');
	RETURN NEXT;

	FOR r IN SELECT t.*, (SELECT max(d.busy_fraction) FROM _tiered_storage.device_io d
				WHERE d.device = ANY (t.devices)) AS busy_ratio
			FROM _tiered_storage.tiers t ORDER BY t.rank
	LOOP
		part := 'tier';
		name := r.tier_name;
		/* A capacity that is given ends before the file systems do; others may use it, too. */
		now := concat_ws(', ',
			CASE WHEN r.capacity_bytes < r.used_bytes + r.free_bytes
				THEN format('%s of %s used here', pg_size_pretty(r.relation_bytes),
					pg_size_pretty(r.capacity_bytes))
				ELSE round(100 * r.used_fraction::numeric) || ' % full, '
					|| pg_size_pretty(r.free_bytes) || ' free' END,
			round(100 * r.busy_ratio::numeric) || ' % busy',
			'missing, or its file system does not answer: ' || r.unreachable,
			/* Of an object store: its tables were frozen. */
			(SELECT format('tables written since they arrived: %s, such as %s', count(*),
					min(s.relation_oid::regclass::text))
				FROM _tiered_storage.stored_relation_state() s
				JOIN _tiered_storage.tier_tablespaces t ON t.tablespace_oid = s.tablespace_oid
				WHERE r.profile = 'object_store' AND t.tier_name = r.tier_name
					AND s.kind IN ('r', 'm')
					AND s.last_written_at > GREATEST(s.placed_at, s.sampled_since)
				HAVING count(*) > 0));
		now := COALESCE(NULLIF(now, ''), 'its devices are unknown');
		RETURN NEXT;
	END LOOP;

	FOR r IN SELECT p.* FROM _tiered_storage.move_progress p ORDER BY p.started_at
	LOOP
		part := 'move';
		name := r.relation;
		now := concat_ws(', ', 'to ' || r.to_tablespace,
			round(100.0 * r.blocks_done / NULLIF(r.blocks_total, 0)) || ' % of '
				|| pg_size_pretty(r.size_bytes),
			pg_size_pretty(r.bytes_per_s::bigint) || '/s', COALESCE(r.waits_for, r.phase));
		RETURN NEXT;
	END LOOP;

	n := 0;
	FOR r IN SELECT q.* FROM _tiered_storage.move_queue_entries() q
		WHERE q.state <> 'running' ORDER BY q.place
	LOOP
		n := n + 1;
		CONTINUE WHEN n > most;
		part := 'queue';
		name := r.relation::text;
		now := concat_ws(', ', 'to ' || COALESCE(r.to_tier, r.to_tablespace), NULLIF(r.state,
			'waiting'), COALESCE(r.last_error, r.reason));
		RETURN NEXT;
	END LOOP;
	IF n <> least(n, most) THEN
		name := (n - most) || ' more';
		now := 'SELECT * FROM tiered_storage.moves';
		RETURN NEXT;
	END IF;

	n := 0;
	FOR r IN SELECT x.relation_oid::regclass AS relation, x.reads_per_s, x.changes_per_s,
			t.tier_name
		FROM (SELECT h.relation_oid,
				sum(h.random_reads + h.sequential_reads) / max(h.period_s) AS reads_per_s,
				sum(h.row_changes) / max(h.period_s) AS changes_per_s
			FROM _tiered_storage.last_sample s
			JOIN tiered_storage.history h
				ON h.period_s > 0
				AND h.hour >= (SELECT x.last_sample_at - interval '2 hours'
					FROM _tiered_storage.last_sample x)
				AND h.period_start >= s.last_sample_at - interval '1 hour'
				AND h.period_start + make_interval(secs => h.period_s)
					>= s.last_sample_at - interval '1 second'
			GROUP BY h.relation_oid
			HAVING sum(h.random_reads + h.sequential_reads) > 0
			ORDER BY 2 DESC, 1 LIMIT most) x
		CROSS JOIN LATERAL _tiered_storage.relation_entry(x.relation_oid) e
		LEFT JOIN _tiered_storage.tier_tablespaces t ON t.tablespace_oid
			= COALESCE(NULLIF(e.reltablespace, 0),
				(SELECT d.dattablespace FROM pg_database d WHERE d.datname = current_database()))
		ORDER BY 2 DESC, 1
	LOOP
		n := n + 1;
		part := 'hot';
		name := r.relation::text;
		now := concat_ws(', ', 'on ' || r.tier_name,
			_tiered_storage.short_number(r.reads_per_s) || ' buffer misses/s',
			_tiered_storage.short_number(NULLIF(r.changes_per_s, 0)) || ' rows/s changed');
		RETURN NEXT;
	END LOOP;
	IF n = 0 THEN
		part := 'hot';
		name := '';
		now := COALESCE((SELECT 'no buffer misses in the last sample, '
				|| _tiered_storage.short_number(
					EXTRACT(epoch FROM clock_timestamp() - s.last_sample_at)::float8) || ' s ago'
			FROM _tiered_storage.last_sample s), 'there is no sample yet');
		RETURN NEXT;
	END IF;
END
$$;

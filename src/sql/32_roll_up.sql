---------------------------------------------------------------------------
-- The roll-up: hours that have ended become rows of history_hour.
---------------------------------------------------------------------------

/*
 * Splits the samples that began before a moment and reach into the next hour, in proportion:
 * whole numbers stay whole, and sums what they are.  Several of one relation may: a sample counts
 * at least a second.  One that is longer than an hour is as coarse already, and left alone.
 */
CREATE FUNCTION _tiered_storage.split_samples(until_at timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	samples regclass;
	fields text;
	first_part text;
	rest text;
	updates text;
	keys text;
	key text;
BEGIN
	FOREACH samples IN ARRAY '{_tiered_storage.relation_history, _tiered_storage.load_history,
		_tiered_storage.file_history}'::regclass[]
	LOOP
		key := (SELECT quote_ident(c.conname) FROM pg_constraint c
			WHERE c.conrelid = samples AND c.contype = 'p');
		SELECT string_agg(a.field, ', '), string_agg(x.part, ', '),
			string_agg(CASE WHEN a.is_key THEN 'c.' || a.field
				WHEN x.part = 'c.' || a.field THEN format('(array_agg(c.%s))[1]', a.field)
				ELSE format('sum(c.%s - %s)::%s', a.field, x.part, a.type) END, ', '),
			string_agg(format('%1$s = h.%1$s + EXCLUDED.%1$s', a.field), ', ')
				FILTER (WHERE x.part <> 'c.' || a.field),
			COALESCE(string_agg(', c.' || a.field, '') FILTER (WHERE a.is_key), '')
			INTO fields, first_part, rest, updates, keys
			FROM (SELECT quote_ident(attname) AS field, atttypid::regtype AS type,
					attnum = ANY ((SELECT c.conkey FROM pg_constraint c
						WHERE c.conrelid = samples AND c.contype = 'p')::int2[]) AS is_key
				FROM pg_attribute WHERE attrelid = samples AND attnum > 0 AND NOT attisdropped
					AND attname NOT IN ('period_start', 'period_s')) a
			CROSS JOIN LATERAL (SELECT CASE a.type WHEN 'bigint'::regtype
				THEN format('(c.%s * c.share)::bigint', a.field)
				WHEN 'float8'::regtype THEN format('(c.%s * c.share)', a.field)
				ELSE 'c.' || a.field END AS part) x;
		EXECUTE format('WITH whole AS (DELETE FROM %1$s WHERE period_start < $1 '
			'AND period_s <= 3600 AND period_start + period_s * interval ''1 second'' '
			'> date_trunc(''hour'', period_start, ''UTC'') + interval ''1 hour'' RETURNING *), '
			'c AS (SELECT w.*, e.hour_end, extract(epoch FROM e.hour_end - w.period_start)'
			'::float8 AS first_s, _tiered_storage.period_share(w.period_start, w.period_s, '
			'w.period_start, e.hour_end) AS share FROM whole w CROSS JOIN LATERAL '
			'(SELECT date_trunc(''hour'', w.period_start, ''UTC'') + interval ''1 hour'' '
			'AS hour_end) e) '
			'INSERT INTO %1$s AS h (period_start, period_s, %2$s) '
			'SELECT c.period_start, c.first_s, %3$s FROM c UNION ALL '
			'SELECT c.hour_end, max(c.period_s - c.first_s), %4$s FROM c GROUP BY c.hour_end%7$s '
			'ON CONFLICT ON CONSTRAINT %5$s DO UPDATE '
			'SET period_s = greatest(h.period_s, EXCLUDED.period_s), %6$s',
			samples, fields, first_part, rest, key, updates, keys) USING until_at;
	END LOOP;
END
$$;

/*
 * Adds what began before a moment to history_hour, and deletes the samples.  One that is longer
 * than an hour stays a row of its own.
 */
CREATE FUNCTION _tiered_storage.roll_up(until_at timestamptz, at timestamptz, most_bytes float8,
	most_s float8)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	most CONSTANT numeric := 9e18;	-- that a bigint holds
	oldest timestamptz := (SELECT min(h.hour) FROM _tiered_storage.history_hour h);
	into_member smallint := _tiered_storage.ring_member('history_hour', 8, most_bytes, most_s, at);
	last_id bigint := COALESCE((SELECT max(h.id) FROM _tiered_storage.history_hour h), 0);
	oldest_left timestamptz := (SELECT min(h.hour) FROM _tiered_storage.history_hour h);
BEGIN
	IF oldest IS DISTINCT FROM oldest_left THEN
		UPDATE _tiered_storage.sampler SET history_since = COALESCE(oldest_left, until_at);
	END IF;
	PERFORM _tiered_storage.split_samples(until_at);
	WITH relation AS (
		DELETE FROM _tiered_storage.relation_history WHERE period_start < until_at RETURNING *),
	load AS (
		DELETE FROM _tiered_storage.load_history WHERE period_start < until_at RETURNING *),
	file AS (
		DELETE FROM _tiered_storage.file_history WHERE period_start < until_at RETURNING *),
	summed AS (
		SELECT date_trunc('hour', r.period_start, 'UTC') AS hour, r.relation_oid,
			min(r.period_start) AS starts_at,
			max(r.period_start + r.period_s * interval '1 second') AS ends_at,
			least(sum(r.scans), most) AS scans, least(sum(r.random_reads), most) AS random_reads,
			least(sum(r.sequential_reads), most) AS sequential_reads,
			least(sum(r.hits), most) AS hits, least(sum(r.row_changes), most) AS row_changes,
			least(sum(r.page_writes), most) AS page_writes,
			(row_number() OVER (PARTITION BY date_trunc('hour', r.period_start, 'UTC')
				ORDER BY r.relation_oid) - 1) / 1000 AS part
		FROM relation r
		GROUP BY 1, r.relation_oid, CASE WHEN r.period_s > 3600 THEN r.period_start END),
	rolled AS (
		SELECT s.hour, array_agg(s.relation_oid ORDER BY s.relation_oid) AS relation_oids,
			array_agg((extract(epoch FROM s.starts_at - s.hour) * 1000)::integer
				ORDER BY s.relation_oid) AS starts_ms,
			array_agg(greatest(1, extract(epoch FROM s.ends_at - s.starts_at))::integer
				ORDER BY s.relation_oid) AS periods_s,
			array_agg(s.scans::real ORDER BY s.relation_oid) AS scans,
			array_agg(s.random_reads::real ORDER BY s.relation_oid) AS random_reads,
			array_agg(s.sequential_reads::real ORDER BY s.relation_oid) AS sequential_reads,
			array_agg(s.hits::real ORDER BY s.relation_oid) AS hits,
			array_agg(s.row_changes::real ORDER BY s.relation_oid) AS row_changes,
			array_agg(s.page_writes::real ORDER BY s.relation_oid) AS page_writes,
			NULL::jsonb AS load, NULL::jsonb AS files
		FROM summed s GROUP BY s.hour, s.part
		UNION ALL
		SELECT l.hour, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
			jsonb_object_agg(l.key, l.total) || jsonb_build_object('period_start',
				min(l.starts_at), 'period_s', extract(epoch FROM max(l.ends_at)
					- min(l.starts_at))), NULL
		FROM (
			SELECT date_trunc('hour', h.period_start, 'UTC') AS hour,
				CASE WHEN h.period_s > 3600 THEN h.period_start END AS long_one, e.key,
				min(h.period_start) AS starts_at,
				max(h.period_start + h.period_s * interval '1 second') AS ends_at,
				sum(e.value::text::numeric) AS total
			FROM load h CROSS JOIN LATERAL jsonb_each(jsonb_strip_nulls(to_jsonb(h))
				- '{period_start,period_s}'::text[]) e
			WHERE _tiered_storage.load_is_possible(h)
			GROUP BY 1, 2, 3) l
		GROUP BY l.hour, l.long_one
		UNION ALL
		SELECT f.hour, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
			jsonb_agg(to_jsonb(f) - 'hour')
		FROM (
			SELECT date_trunc('hour', h.period_start, 'UTC') AS hour,
				min(h.period_start) AS period_start,
				extract(epoch FROM max(h.period_start + h.period_s * interval '1 second')
					- min(h.period_start))::float8 AS period_s, h.file_class, h.place,
				CASE WHEN count(h.reads) = count(*) THEN sum(h.reads) END AS reads,
				CASE WHEN count(h.read_bytes) = count(*) THEN sum(h.read_bytes) END AS read_bytes,
				CASE WHEN count(h.writes) = count(*) THEN sum(h.writes) END AS writes,
				CASE WHEN count(h.write_bytes) = count(*) THEN sum(h.write_bytes) END
					AS write_bytes,
				CASE WHEN count(h.fsyncs) = count(*) THEN sum(h.fsyncs) END AS fsyncs,
				CASE WHEN count(h.io_ms) = count(*) THEN sum(h.io_ms) END AS io_ms
			FROM file h
			GROUP BY 1, h.file_class, h.place,
				CASE WHEN h.period_s > 3600 THEN h.period_start END) f
		GROUP BY f.hour)
	INSERT INTO _tiered_storage.history_hour
	SELECT into_member, last_id + row_number() OVER (ORDER BY r.hour), at, r.*
	FROM rolled r;
END
$$;

---------------------------------------------------------------------------
-- The report: what it is about, read once.
---------------------------------------------------------------------------

/*
 * Each of these reads what a section of the page needs, and nothing else reads anything.  An
 * object has either its rows or a "why" that there are none.
 */

/*
 * What the report says of the activity of relations in a period: so many of the busiest, and
 * the others together.
 *
 * Time is cut into at most 54 equal parts, whose hours are those that were sampled.  There may
 * be millions of rows, which are read once.
 */
CREATE FUNCTION _tiered_storage.report_heat(from_at timestamptz, to_at timestamptz,
	unsampled jsonb, at_most integer)
RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	from_s float8 := date_part('epoch', from_at);
	until_s float8 := date_part('epoch', to_at);
	width_s float8;
	start_s float8;
	result jsonb;
BEGIN
	SELECT min(w) INTO width_s
		FROM unnest('{10,30,60,120,300,600,900,1800,3600,7200,10800,14400,21600,
		28800,43200,86400,172800,604800,1209600,2592000,7776000,31536000}'::float8[]) w
		WHERE (until_s - from_s) / w <= 53;
	width_s := COALESCE(width_s, (until_s - from_s) / 54);
	start_s := date_part('epoch', date_trunc('day', from_at));
	start_s := start_s + floor((from_s - start_s) / width_s) * width_s;
	WITH part AS MATERIALIZED (
		SELECT h.relation_oid, p.part,
			p.share * (h.random_reads + h.sequential_reads) AS reads,
			p.share * COALESCE(h.page_writes, 0) AS writes
		FROM tiered_storage.history h
		CROSS JOIN LATERAL (SELECT x.part, _tiered_storage.period_share(h.period_start,
				h.period_s, GREATEST(from_at, to_timestamp(start_s + x.part * width_s)),
				LEAST(to_at, to_timestamp(start_s + (x.part + 1) * width_s))) AS share
			FROM (SELECT (date_part('epoch', h.period_start) - start_s) / width_s AS at) b
			CROSS JOIN LATERAL generate_series(GREATEST(0, floor(b.at))::integer,
				LEAST(64, ceil(b.at + h.period_s / width_s))::integer - 1) x (part)) p
		WHERE h.hour >= (SELECT _tiered_storage.first_hour(from_at))
			AND h.period_start < to_at AND p.share > 0),
	ranked AS MATERIALIZED (
		SELECT p.relation_oid, row_number() OVER (ORDER BY sum(p.reads + p.writes) DESC,
			p.relation_oid) AS rank
		FROM part p GROUP BY 1 HAVING sum(p.reads + p.writes) > 0),
	busy AS MATERIALIZED (
		SELECT c.place, sum(c.reads) AS reads, sum(c.writes) AS writes, max(c.rank) AS last_rank,
			CASE WHEN c.place > at_most THEN 0 ELSE max(c.oid) END::oid AS relation_oid,
			jsonb_object_agg(c.part, c.reads + c.writes) FILTER (WHERE c.reads + c.writes > 0)
				AS parts
		FROM (SELECT LEAST(r.rank, at_most + 1) AS place, p.part, sum(p.reads) AS reads,
				sum(p.writes) AS writes, max(r.rank) AS rank, max(p.relation_oid::bigint) AS oid
			FROM part p JOIN ranked r USING (relation_oid) GROUP BY 1, 2) c
		GROUP BY c.place),
	moved AS MATERIALIZED (
		SELECT m.relation, m.finished_at, m.from_tier, m.to_tier FROM _tiered_storage.moves m
		WHERE m.state = 'done' AND m.finished_at >= from_at),
	named AS (
		SELECT r.relation_oid, r.place, r.reads, r.writes, r.parts, n.name, h.kind, h.tier_name,
			h.size_bytes,
			(SELECT jsonb_agg(jsonb_build_object('at', m.finished_at, 'from_tier', m.from_tier,
					'to_tier', m.to_tier) ORDER BY m.finished_at)
				FROM moved m WHERE m.relation = n.name) AS moved
		FROM busy r CROSS JOIN LATERAL (SELECT r.relation_oid::regclass::text AS name) n
		LEFT JOIN _tiered_storage.heat h ON h.relation = r.relation_oid
			AND h.relation::oid = ANY (ARRAY(SELECT b.relation_oid FROM busy b))
		WHERE r.relation_oid <> 0)
	SELECT jsonb_build_object('rows', COALESCE((SELECT jsonb_agg(to_jsonb(n) ORDER BY n.place)
			FROM named n), '[]'),
		'others', (SELECT jsonb_build_object('relations', b.last_rank - at_most, 'reads', b.reads,
				'writes', b.writes, 'parts', b.parts)
			FROM busy b WHERE b.relation_oid = 0),
		'width_s', width_s, 'start_s', start_s,
		'parts', (SELECT jsonb_agg(jsonb_build_object('part', p.part, 'at',
				to_timestamp(start_s + p.part * width_s), 'hours', p.sampled_s / 3600)
				ORDER BY p.part)
			FROM (SELECT g.part, LEAST(until_s, start_s + (g.part + 1) * width_s)
					- GREATEST(from_s, start_s + g.part * width_s)
					- COALESCE(sum(GREATEST(0, LEAST((u ->> 'to_s')::float8,
						start_s + (g.part + 1) * width_s) - GREATEST((u ->> 'from_s')::float8,
						start_s + g.part * width_s))) FILTER (WHERE u IS NOT NULL), 0) AS sampled_s
				FROM generate_series(0, ceil((until_s - start_s) / width_s)::integer - 1) g (part)
				LEFT JOIN jsonb_array_elements(unsampled) u ON true
				GROUP BY g.part) p))
		INTO result;
	RETURN result;
END
$$;

/*
 * What the report says of the load of a period and of the one before it.
 *
 * As far as both periods were sampled; what is not must not be taken for idleness.
 */
CREATE FUNCTION _tiered_storage.report_load(from_at timestamptz, to_at timestamptz) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	known_from timestamptz;
	known_to timestamptz;
	begins_at timestamptz;
	ends_at timestamptz;
	before_at timestamptz;
BEGIN
	SELECT GREATEST(s.observed_since, s.sampled_at
			- pg_catalog.current_setting('tiered_storage.history_retention')::interval),
		s.sampled_at
		INTO known_from, known_to FROM _tiered_storage.last_load s;
	begins_at := GREATEST(from_at, known_from);
	ends_at := LEAST(to_at, known_to);
	before_at := GREATEST(from_at - (to_at - from_at), known_from);
	IF known_from IS NULL OR known_from >= known_to THEN
		RETURN jsonb_build_object('why',
			'There are fewer than two samples to compute a load from.');
	ELSIF begins_at >= ends_at THEN
		RETURN jsonb_build_object('why', format('The load is known from %s to %s only.',
			to_char(known_from, 'YYYY-MM-DD HH24:MI'), to_char(known_to, 'YYYY-MM-DD HH24:MI')));
	ELSIF before_at < from_at AND begins_at = from_at THEN
		RETURN jsonb_build_object('from', begins_at, 'to', ends_at, 'before', before_at,
			'cut', ends_at < to_at OR before_at > from_at - (to_at - from_at),
			'rows', (SELECT jsonb_agg(to_jsonb(c) ORDER BY c.ordinality)
				FROM tiered_storage.compare_load(before_at, from_at, begins_at, ends_at)
				WITH ORDINALITY c));
	END IF;
	RETURN jsonb_build_object('from', begins_at, 'to', ends_at, 'cut', true,
		'rows', (SELECT jsonb_agg(jsonb_build_object('metric', p.metric, 'unit', p.unit,
				'second_per_s', COALESCE(p.per_second, p.total),
				'second_per_xact', p.per_transaction) ORDER BY p.ordinality)
			FROM tiered_storage.load_profile(begins_at, ends_at) WITH ORDINALITY p
			WHERE COALESCE(p.per_second, p.total) IS NOT NULL));
END
$$;

/* All that the report says, before it is made a page. */
CREATE FUNCTION _tiered_storage.report_facts(from_at timestamptz, to_at timestamptz)
RETURNS jsonb
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT jsonb_build_object(
		'from', from_at, 'to', to_at, 'now', now(), 'zone', current_setting('TimeZone'),
		'database', current_database(), 'server', current_setting('server_version'),
		'cluster', NULLIF(current_setting('cluster_name'), ''),
		'version', (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'tiered_storage'),
		'standby', pg_is_in_recovery(),
		'settings', (SELECT jsonb_object_agg(substr(s.name, 16), current_setting(s.name))
			FROM pg_settings s WHERE s.name IN ('tiered_storage.observation_period',
				'tiered_storage.history_retention', 'tiered_storage.history_max_size',
				'tiered_storage.auto_migrate')),
		'sampler', (SELECT to_jsonb(s) FROM _tiered_storage.last_sample s),
		'load_since', (SELECT s.observed_since FROM _tiered_storage.last_load s),
		'worker', (SELECT to_jsonb(w) FROM _tiered_storage.worker_status() w
			WHERE w.database_name = current_database() LIMIT 1),
		'tiers', COALESCE((SELECT jsonb_agg(to_jsonb(t) ORDER BY t.rank, t.tier_name)
			FROM _tiered_storage.tiers t), '[]'),
		'classes', COALESCE((SELECT jsonb_object_agg(t.tier_name, 't' || LEAST(5, t.n - 1))
			FROM (SELECT tier_name, row_number() OVER (ORDER BY rank, tier_name) AS n
				FROM _tiered_storage.tiers) t), '{}'),
		'devices', COALESCE((SELECT jsonb_agg(to_jsonb(d) ORDER BY d.tier_name, d.device)
			FROM _tiered_storage.device_io d), '[]'),
		'paused', _tiered_storage.is_paused(),
		'wear', COALESCE((SELECT jsonb_agg(to_jsonb(w) ORDER BY w.device, w.tier_name)
			FROM _tiered_storage.wear_state() w), '[]'),
		/* The placement is what takes longest here, and is computed once. */
		'advice', (WITH summary AS MATERIALIZED (
			SELECT s.*, row_number() OVER () AS place FROM _tiered_storage.placement_summary() s),
		advice AS MATERIALIZED (
			SELECT r.*, m.query, row_number() OVER (ORDER BY r.saved_io_s_per_hour DESC NULLS
				LAST, r.price_delta_per_month, r.size_bytes DESC, r.relation) AS place
			FROM tiered_storage.recommend_placement() r
			LEFT JOIN _tiered_storage.main_queries() m ON m.relation_oid = r.relation::oid),
		total AS (
			SELECT count(*) AS moves, COALESCE(sum(a.size_bytes), 0) AS size_bytes,
				count(*) FILTER (WHERE a.confidence = 'firm') AS firm,
				count(*) FILTER (WHERE a.confidence = 'tentative') AS tentative,
				count(*) FILTER (WHERE a.confidence = 'provisional') AS provisional,
				count(*) FILTER (WHERE a.place > 100) AS others,
				sum(a.size_bytes) FILTER (WHERE a.place > 100) AS others_bytes,
				sum(a.saved_io_s_per_hour) FILTER (WHERE a.place > 100) AS others_io_s,
				sum(a.saved_wait_s_per_hour) FILTER (WHERE a.place > 100) AS others_wait_s,
				sum(a.price_delta_per_month) FILTER (WHERE a.place > 100) AS others_price,
				sum(a.move_cost_s) FILTER (WHERE a.place > 100) AS others_cost_s
			FROM advice a)
		SELECT to_jsonb(t) || jsonb_build_object(
			'tiers', COALESCE((SELECT jsonb_agg(to_jsonb(s) ORDER BY s.place) FROM summary s
				WHERE s.tier_name IS NOT NULL), '[]'),
			'all', (SELECT to_jsonb(s) FROM summary s WHERE s.tier_name IS NULL),
			'rows', COALESCE((SELECT jsonb_agg(to_jsonb(a) ORDER BY a.place) FROM advice a
				WHERE a.place <= 100), '[]'))
		FROM total t),
		/* Of the fastest tier that something can be placed on, if there is another; where each
			point takes long, there are fewer. */
		'curve', COALESCE((SELECT jsonb_build_object('tier_name', f.tier_name,
				'rows', (SELECT jsonb_agg(to_jsonb(c) ORDER BY c.capacity_bytes)
					FROM _tiered_storage.tier_size_curve(f.tier_name,
						CASE WHEN f.relations > 3000 THEN 9 ELSE 21 END) c))
			FROM (SELECT t.tier_name, count(*) OVER () AS n,
				(SELECT sum(x.relations) FROM _tiered_storage.tiers x) AS relations
				FROM _tiered_storage.tiers t WHERE t.tablespaces IS NOT NULL
				ORDER BY t.rank, t.random_read_ms, t.tier_name LIMIT 1) f WHERE f.n > 1),
			jsonb_build_object('why',
				'There are no two tiers with tablespaces whose sizes could be compared.')),
		'unsampled', u.parts,
		'heat', _tiered_storage.report_heat(from_at, to_at, u.parts, 60),
		'moves', (WITH moves AS MATERIALIZED (
			SELECT m.*, row_number() OVER (ORDER BY m.started_at DESC, m.move_id DESC) AS place,
				m.finished_at >= to_at - interval '24 hours' AS is_of_last_day
			FROM _tiered_storage.moves m
			WHERE m.started_at < to_at AND (m.finished_at IS NULL OR m.finished_at >= from_at)),
		total AS (
			SELECT count(*) AS moves, count(*) FILTER (WHERE m.state = 'done') AS done,
				count(*) FILTER (WHERE m.state = 'failed') AS failed,
				count(*) FILTER (WHERE m.state = 'skipped') AS skipped,
				count(*) FILTER (WHERE m.state = 'running') AS running,
				count(*) FILTER (WHERE m.state = 'interrupted') AS interrupted,
				COALESCE(sum(m.size_bytes) FILTER (WHERE m.state = 'done'), 0) AS done_bytes,
				count(*) FILTER (WHERE m.state = 'done' AND m.is_of_last_day) AS day_done,
				count(*) FILTER (WHERE m.state = 'failed' AND m.is_of_last_day) AS day_failed,
				COALESCE(sum(m.size_bytes) FILTER (WHERE m.state = 'done' AND m.is_of_last_day), 0)
					AS day_done_bytes,
				max(m.lock_held_ms) AS longest_lock_ms,
				percentile_disc(0.5) WITHIN GROUP (ORDER BY m.lock_held_ms) AS median_lock_ms,
				count(m.measured_saved_io_s_per_hour) AS measured,
				count(*) FILTER (WHERE m.state = 'done' AND m.measured_saved_io_s_per_hour IS NULL
					AND m.effect NOT LIKE 'not measurable%') AS unmeasured,
				count(*) FILTER (WHERE m.effect LIKE 'not measurable%') AS not_measurable,
				sum(m.predicted_saved_io_s_per_hour)
					FILTER (WHERE m.measured_saved_io_s_per_hour IS NOT NULL) AS predicted_io_s,
				sum(m.measured_saved_io_s_per_hour) AS measured_io_s
			FROM moves m)
		SELECT to_jsonb(t) || jsonb_build_object(
			'rows', COALESCE((SELECT jsonb_agg(to_jsonb(m) ORDER BY m.place) FROM moves m
				WHERE m.place <= 100), '[]'),
			'points', COALESCE((SELECT jsonb_agg(jsonb_build_object('started_at', m.started_at,
					'finished_at', m.finished_at, 'lock_held_ms', m.lock_held_ms, 'state', m.state)
					ORDER BY m.place) FROM moves m WHERE m.place <= 1000), '[]'),
			'effects', COALESCE((SELECT jsonb_agg(to_jsonb(e) ORDER BY e.size DESC) FROM (
				SELECT m.relation, m.predicted_saved_io_s_per_hour, m.measured_saved_io_s_per_hour,
					m.effect, GREATEST(abs(m.predicted_saved_io_s_per_hour),
						abs(m.measured_saved_io_s_per_hour)) AS size
				FROM moves m WHERE m.measured_saved_io_s_per_hour IS NOT NULL
				ORDER BY 5 DESC LIMIT 20) e), '[]'))
		FROM total t),
		'load', _tiered_storage.report_load(from_at, to_at),
		'files', COALESCE((SELECT jsonb_agg(to_jsonb(f) ORDER BY c.place, f.is_total DESC,
				f.tier_name, f.place)
			FROM _tiered_storage.file_class_io() f
			LEFT JOIN (VALUES (1, 'relations'), (2, 'wal'), (3, 'temp'), (4, 'slru'))
				c (place, file_class) USING (file_class)), '[]'),
		'writes', COALESCE((SELECT jsonb_agg(to_jsonb(w) ORDER BY w.is_total, t.rank, w.tier_name)
			FROM _tiered_storage.write_amplification w
			LEFT JOIN _tiered_storage.tiers t ON t.tier_name = w.tier_name), '[]'))
	FROM (SELECT COALESCE(jsonb_agg(jsonb_build_object('from_s', date_part('epoch', u.from_at),
			'to_s', date_part('epoch', u.to_at)) ORDER BY u.from_at), '[]') AS parts
		FROM _tiered_storage.unsampled(from_at, to_at) u) u
$$;

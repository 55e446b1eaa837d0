---------------------------------------------------------------------------
-- The views that people read: no wider than a terminal; functions and metrics have more.
-- First those of tiers, of what is observed, advised and ruled.
---------------------------------------------------------------------------

/* A share of a whole in percent; null: not known. */
CREATE FUNCTION _tiered_storage.percent(part float8, whole float8) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN round((100 * part / NULLIF(whole, 0))::numeric) || ' %';

/* The number with three significant digits. */
CREATE FUNCTION _tiered_storage.significant(number float8) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN
	CASE WHEN number = 0 THEN 0 ELSE trim_scale(round(number::numeric,
		LEAST(2 - floor(log(abs(number)))::integer, 12))) END;

/* The number as an integer, or with three significant digits where it has fewer. */
CREATE FUNCTION _tiered_storage.readable(number float8) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN
	CASE WHEN abs(number) >= 99.95 THEN round(number::numeric)
		ELSE _tiered_storage.significant(number) END;

/* Bytes per hour in short; null: none, or not known. */
CREATE FUNCTION _tiered_storage.short_rate(bytes float8) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN _tiered_storage.short_bytes(NULLIF(bytes, 0)) || '/h';

/* Seconds per hour in short. */
CREATE FUNCTION _tiered_storage.short_seconds(seconds float8) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN
	CASE WHEN seconds <= -999.5 THEN '-' ELSE '' END || _tiered_storage.short_quantity(
		CASE WHEN seconds <= -999.5 THEN -seconds ELSE seconds END, 1000, '', 'k', 'M', 'G')
		|| ' s/h';

/* What is saved, in short: device time, or the price per month where that is next to none. */
CREATE FUNCTION _tiered_storage.short_saving(seconds float8, price_per_month float8) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN
	CASE WHEN abs(seconds) >= 0.05 OR NOT COALESCE(price_per_month >= 0.005, false)
		THEN _tiered_storage.short_seconds(seconds)
		ELSE _tiered_storage.short_quantity(price_per_month, 1000, '', 'k', 'M', 'G')
			|| ' a month' END;

/* What a move saves, in short: the price, too, where it costs device time; null: not known. */
CREATE FUNCTION _tiered_storage.short_savings(seconds float8, price_per_month float8) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN
	NULLIF(concat_ws(', ', CASE WHEN seconds <= -0.05
			THEN NULLIF(_tiered_storage.short_saving(0, price_per_month), '0 s/h') END,
		CASE WHEN seconds IS NULL AND price_per_month > 0 AND price_per_month < 0.005
			THEN 'under 0.01 a month'
			ELSE _tiered_storage.short_saving(seconds, price_per_month) END), '');

/* From where to where, both in at most eight columns of a screen. */
CREATE FUNCTION _tiered_storage.from_to(from_name text, to_name text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN concat(_tiered_storage.clip(from_name, 8), ' > ', _tiered_storage.clip(to_name, 8));

/* Month, day and time, in eleven characters. */
CREATE FUNCTION _tiered_storage.short_time(at timestamptz) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN to_char(at, 'MM-DD HH24:MI');

CREATE VIEW tiered_storage.tiers AS
	SELECT t.tier_name, t.rank,
		_tiered_storage.wrap(array_to_string(t.tablespaces, ', '), 24) AS tablespaces,
		_tiered_storage.clip(t.profile, 17) AS profile,
		_tiered_storage.short_bytes(t.capacity_bytes) AS capacity,
		_tiered_storage.short_bytes(t.free_bytes) AS free,
		_tiered_storage.percent(t.used_fraction, 1) AS used
	FROM _tiered_storage.tiers t ORDER BY t.rank, t.tier_name;
COMMENT ON VIEW tiered_storage.tiers IS
'storage tiers, fastest first, and how full they are';
COMMENT ON COLUMN tiered_storage.tiers.tier_name IS 'name of the tier';
COMMENT ON COLUMN tiered_storage.tiers.rank IS 'order of tiers, the lowest is the fastest';
COMMENT ON COLUMN tiered_storage.tiers.tablespaces IS
'its tablespaces; null: none';
COMMENT ON COLUMN tiered_storage.tiers.profile IS
'device profile, the source of figures that are neither given nor measured';
COMMENT ON COLUMN tiered_storage.tiers.capacity IS
'given capacity, otherwise the size of its file systems; null: unknown';
COMMENT ON COLUMN tiered_storage.tiers.free IS 'free on its file systems; null: unknown';
COMMENT ON COLUMN tiered_storage.tiers.used IS
'used share of its file systems, or of the given capacity by relations of this database, '
'whichever is more; null: unknown';

CREATE VIEW tiered_storage.devices AS
	SELECT w.tier_name, _tiered_storage.clip(w.device, 12) AS device,
		_tiered_storage.percent(d.busy_fraction, 1) AS busy,
		_tiered_storage.significant(t.random_read_ms) AS read_ms,
		_tiered_storage.significant(t.price_per_gb_month::float8) AS price,
		to_char((SELECT max(k.calibrated_at)
			FROM _tiered_storage.tier_calibration k
			WHERE k.tier_name = t.tier_name), 'YYYY-MM-DD') AS calibrated,
		_tiered_storage.short_bytes(w.written_bytes_per_day) AS written_a_day,
		_tiered_storage.percent(w.used_fraction, 1) AS worn,
		CASE WHEN w.expected_life_years IS NOT NULL
			THEN _tiered_storage.short_number(LEAST(w.expected_life_years, 999)) END AS life_years
	FROM _tiered_storage.wear_state() w
	LEFT JOIN _tiered_storage.tier t ON t.tier_name = w.tier_name
	LEFT JOIN _tiered_storage.device_io d ON d.device = w.device
	ORDER BY t.rank, w.tier_name, w.device;
COMMENT ON VIEW tiered_storage.devices IS
'devices of the tiers: load, figures and wear; null: unknown, and report() says why';
COMMENT ON COLUMN tiered_storage.devices.tier_name IS 'tier on the device; null: none';
COMMENT ON COLUMN tiered_storage.devices.device IS
'block device of its tablespaces; null: unknown';
COMMENT ON COLUMN tiered_storage.devices.busy IS
'share of the time between the last two samples in which it was busy';
COMMENT ON COLUMN tiered_storage.devices.read_ms IS 'time of a random read in ms';
COMMENT ON COLUMN tiered_storage.devices.price IS 'price per GB and month';
COMMENT ON COLUMN tiered_storage.devices.calibrated IS
'day of the last calibrate_tier(); null: never';
COMMENT ON COLUMN tiered_storage.devices.written_a_day IS
'bytes written per day, mean of the last seven days counted';
COMMENT ON COLUMN tiered_storage.devices.worn IS 'used share of its life';
COMMENT ON COLUMN tiered_storage.devices.life_years IS
'years until its life is used up at the present rate of writes';

/* No row; says why there is none in the view heat before anything was sampled. */
CREATE FUNCTION _tiered_storage.no_heat() RETURNS SETOF _tiered_storage.placed_heat
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM _tiered_storage.stored_relation_state() s
		WHERE s.size_bytes > 0) THEN
		RAISE NOTICE 'only empty relations have been sampled so far'
			USING DETAIL = format('The last sample was at %s.', (SELECT date_trunc('second',
				s.last_sample_at) FROM _tiered_storage.last_sample s)),
			HINT = 'The worker takes one every sample_interval, CALL tiered_storage.sample() one '
				'now.';
	END IF;
END
$$;

CREATE VIEW tiered_storage.heat AS
	SELECT _tiered_storage.clip(h.relation::text, 130) AS relation,
		_tiered_storage.clip(h.tier_name::text, 130) AS tier_name,
		_tiered_storage.short_bytes(h.size_bytes) AS size,
		_tiered_storage.significant(h.random_reads_per_hour) AS random_reads_per_hour,
		_tiered_storage.significant(h.sequential_reads_per_hour) AS sequential_reads_per_hour
	FROM (SELECT * FROM _tiered_storage.placed_heat
		UNION ALL SELECT * FROM _tiered_storage.no_heat()) h
	CROSS JOIN (SELECT current_setting('block_size')::int4 AS size) b
	LEFT JOIN _tiered_storage.tier t ON t.tier_name = h.tier_name
	WHERE h.size_bytes > 0
	ORDER BY h.random_reads_per_hour * COALESCE(t.random_read_ms, 1) + h.sequential_reads_per_hour
		* b.size / 1000
		/ COALESCE(t.sequential_read_mb_per_s, 100) DESC NULLS LAST,
		h.size_bytes DESC, h.relation;
COMMENT ON VIEW tiered_storage.heat IS
'relations that are not empty, highest device time of reads first; rates per hour with a '
'half-life of one day';
COMMENT ON COLUMN tiered_storage.heat.relation IS
'table, partition or materialized view with its TOAST table, or index';
COMMENT ON COLUMN tiered_storage.heat.tier_name IS 'tier; null: none';
COMMENT ON COLUMN tiered_storage.heat.size IS 'size of all forks';
COMMENT ON COLUMN tiered_storage.heat.random_reads_per_hour IS
'blocks per hour read at random from the device, until the last sample';
COMMENT ON COLUMN tiered_storage.heat.sequential_reads_per_hour IS
'blocks per hour read by scans from the device, until the last sample';

CREATE VIEW tiered_storage.file_class_io AS
	SELECT f.file_class, f.tier_name, _tiered_storage.wrap(f.place, 20) AS place,
		_tiered_storage.short_rate(f.read_bytes_per_hour) AS read,
		_tiered_storage.short_rate(f.write_bytes_per_hour) AS written,
		_tiered_storage.short_quantity(NULLIF(f.fsyncs_per_hour, 0), 1000, '', 'k', 'M', 'G')
			|| '/h' AS fsyncs,
		_tiered_storage.short_seconds(f.wait_s_per_hour) AS waits,
		_tiered_storage.short_seconds(f.saved_s_per_hour) AS saves
	FROM _tiered_storage.file_class_io() f;
COMMENT ON VIEW tiered_storage.file_class_io IS
'I/O of relations, WAL, temporary files, SLRU and log per hour of the last sampled day, and '
'what moving them would save; null: none, or unknown';
COMMENT ON COLUMN tiered_storage.file_class_io.file_class IS 'relations, wal, temp or slru';
COMMENT ON COLUMN tiered_storage.file_class_io.tier_name IS
'tier of these files; null: several, or none';
COMMENT ON COLUMN tiered_storage.file_class_io.place IS
'tablespaces or directory';
COMMENT ON COLUMN tiered_storage.file_class_io.read IS 'bytes read per hour';
COMMENT ON COLUMN tiered_storage.file_class_io.written IS
'bytes written per hour; of a tier: pages that changed, each once for a checkpoint';
COMMENT ON COLUMN tiered_storage.file_class_io.fsyncs IS 'fsyncs per hour';
COMMENT ON COLUMN tiered_storage.file_class_io.waits IS
'seconds per hour that backends of this database waited for them';
COMMENT ON COLUMN tiered_storage.file_class_io.saves IS
'waits that the tier with the lowest rank would save';

CREATE VIEW tiered_storage.write_amplification AS
	SELECT w.tier_name, w.relation,
		_tiered_storage.short_rate(w.row_bytes_per_hour) AS rows,
		_tiered_storage.short_rate(w.page_bytes) AS pages,
		_tiered_storage.short_rate(w.maintenance_write_bytes_per_hour) AS upkeep,
		_tiered_storage.short_rate(w.wal_bytes_per_hour) AS wal,
		_tiered_storage.short_rate(w.full_page_image_bytes_per_hour) AS images,
		_tiered_storage.short_quantity(w.amplification, 1000, '', 'k', 'M') AS factor
	FROM (
		SELECT t.tier_name, NULL::regclass AS relation, t.row_bytes_per_hour,
			t.page_write_bytes_per_hour AS page_bytes, t.maintenance_write_bytes_per_hour,
			t.wal_bytes_per_hour, t.full_page_image_bytes_per_hour, t.amplification,
			CASE WHEN t.is_total THEN 0 ELSE 1 END AS place
		FROM _tiered_storage.write_amplification t
		UNION ALL
		SELECT r.tier_name, r.relation, r.row_bytes_per_hour,
			r.page_write_bytes_per_hour, r.maintenance_write_bytes_per_hour, r.wal_bytes_per_hour,
			r.full_page_image_bytes_per_hour, r.amplification, 2
		FROM _tiered_storage.relation_write_amplification() r
		WHERE r.wal_bytes_per_hour > 0) w
	ORDER BY w.place, w.page_bytes DESC NULLS LAST, w.tier_name, w.relation;
COMMENT ON VIEW tiered_storage.write_amplification IS
'bytes written per hour for row changes: in total, by tier, and by table with its TOAST table '
'and indexes; empty while the WAL is not read';
COMMENT ON COLUMN tiered_storage.write_amplification.tier_name IS 'tier; null: all, or none';
COMMENT ON COLUMN tiered_storage.write_amplification.relation IS
'table or materialized view; null: the whole tier';
COMMENT ON COLUMN tiered_storage.write_amplification.rows IS
'bytes of the changed rows; null: unknown, such as before the first ANALYZE';
COMMENT ON COLUMN tiered_storage.write_amplification.pages IS 'bytes of pages written for them';
COMMENT ON COLUMN tiered_storage.write_amplification.upkeep IS
'bytes of pages written by vacuum and rewrites';
COMMENT ON COLUMN tiered_storage.write_amplification.wal IS 'bytes of WAL records';
COMMENT ON COLUMN tiered_storage.write_amplification.images IS 'part of wal in full-page images';
COMMENT ON COLUMN tiered_storage.write_amplification.factor IS
'bytes of pages, upkeep and WAL per byte of changed rows; null: unknown';

CREATE VIEW tiered_storage.standbys AS
	SELECT s.standby_name, s.relations, _tiered_storage.short_time(s.last_pull_at) AS last_pull,
		_tiered_storage.short_time(s.next_pull_at) AS next_pull, s.failures,
		_tiered_storage.wrap(s.error, 40) AS error
	FROM _tiered_storage.standbys s;
COMMENT ON VIEW tiered_storage.standbys IS
'standbys whose reads are added to those of this server, and the last pull of their statistics';
COMMENT ON COLUMN tiered_storage.standbys.standby_name IS 'name given to add_standby()';
COMMENT ON COLUMN tiered_storage.standbys.relations IS
'number of relations in its statistics; null: never pulled';
COMMENT ON COLUMN tiered_storage.standbys.last_pull IS 'time of the last pull; null: never';
COMMENT ON COLUMN tiered_storage.standbys.next_pull IS 'earliest time of the next attempt';
COMMENT ON COLUMN tiered_storage.standbys.failures IS 'failed attempts in a row';
COMMENT ON COLUMN tiered_storage.standbys.error IS 'error of the last attempt; null: none';

CREATE VIEW tiered_storage.recommendations AS
	SELECT r.relation, r.size, r.move, r.saves, r.confidence, r.firm_when, r.reason
	FROM _tiered_storage.short_recommendations() r;
COMMENT ON VIEW tiered_storage.recommendations IS
'recommended moves, highest saving first; recommend_placement() has the whole reason and the '
'command';
COMMENT ON COLUMN tiered_storage.recommendations.relation IS 'table, index or materialized view';
COMMENT ON COLUMN tiered_storage.recommendations.size IS 'size with its TOAST table';
COMMENT ON COLUMN tiered_storage.recommendations.move IS
'present and recommended tier; only the latter, or shortened, where names are long';
COMMENT ON COLUMN tiered_storage.recommendations.saves IS
'device time saved per hour, or money per month if that is next to nothing; negative: it makes '
'room for others';
COMMENT ON COLUMN tiered_storage.recommendations.confidence IS
'firm, tentative (applied on request) or provisional (never applied)';
COMMENT ON COLUMN tiered_storage.recommendations.firm_when IS
'condition under which it becomes firm; null: it is firm';
COMMENT ON COLUMN tiered_storage.recommendations.reason IS 'deciding reason, shortened to fit';

CREATE VIEW tiered_storage.policies AS
	SELECT p.policy_id, 'tiering' AS kind, _tiered_storage.clip(COALESCE(
			p.relation::text, p.relation_name), 130) AS relation,
		_tiered_storage.clip(p.tier_name::text, 130) AS tier_name,
		_tiered_storage.wrap(concat_ws(', ', 'older than ' || p.move_after,
			'idle for ' || p.idle_for, 'unwritten for ' || p.no_writes_for, 'under '
			|| _tiered_storage.short_number(p.below_reads_per_hour) || ' reads/h'), 18)
			AS condition,
		_tiered_storage.wrap(concat(p.last_result, ' (' || _tiered_storage.short_time(
			p.last_evaluated_at) || ')'), 20) AS last_result
	FROM _tiered_storage.policies p
	UNION ALL
	SELECT f.policy_id, 'fullness', _tiered_storage.clip(f.tier_name::text, 130),
		_tiered_storage.clip(f.target_name::text, 130),
		_tiered_storage.wrap(concat('over ', _tiered_storage.percent(f.high_watermark, 1),
			', down to ', _tiered_storage.percent(f.low_watermark, 1)), 18),
		_tiered_storage.wrap(concat(f.last_result, ' (' || _tiered_storage.short_time(
			f.last_evaluated_at) || ')'), 20)
	FROM _tiered_storage.fullness_policies f
	ORDER BY 1;
COMMENT ON VIEW tiered_storage.policies IS
'policies of both kinds and the result of their last evaluation; evaluate_policies() has it for'
' each relation';
COMMENT ON COLUMN tiered_storage.policies.policy_id IS 'number of the policy';
COMMENT ON COLUMN tiered_storage.policies.kind IS 'tiering or fullness';
COMMENT ON COLUMN tiered_storage.policies.relation IS
'table, or tables (`schema.*`); of a fullness policy the emptied tier';
COMMENT ON COLUMN tiered_storage.policies.tier_name IS 'target tier';
COMMENT ON COLUMN tiered_storage.policies.condition IS 'condition for a move';
COMMENT ON COLUMN tiered_storage.policies.last_result IS
'result of the last evaluation, and when that was; empty: never evaluated';

CREATE VIEW tiered_storage.pins AS
	SELECT _tiered_storage.clip(COALESCE(p.relation::text, p.relation_name), 130)
			AS relation, p.tier_name,
		to_char(p.until, 'YYYY-MM-DD') AS until, p.pinned_by, p.relations,
		CASE WHEN p.is_expired THEN 'expired' WHEN p.is_on_tier THEN 'there'
			WHEN p.is_on_tier IS NULL THEN 'gone' ELSE 'not there' END AS state
	FROM _tiered_storage.pins p;
COMMENT ON VIEW tiered_storage.pins IS
'pinned relations: their tier, end, role and state';
COMMENT ON COLUMN tiered_storage.pins.relation IS 'pinned relation';
COMMENT ON COLUMN tiered_storage.pins.tier_name IS 'tier that it stays on';
COMMENT ON COLUMN tiered_storage.pins.until IS 'last day of the pin; null: no end';
COMMENT ON COLUMN tiered_storage.pins.pinned_by IS 'role that set the pin';
COMMENT ON COLUMN tiered_storage.pins.relations IS 'number of relations that the pin holds';
COMMENT ON COLUMN tiered_storage.pins.state IS
'there, not there (some are on another tier), expired, or gone (nothing is held)';

---------------------------------------------------------------------------
-- The views that people read: moves, the worker, and metrics.
---------------------------------------------------------------------------

CREATE VIEW tiered_storage.move_windows AS
	SELECT w.window_name, COALESCE(array_to_string(w.days, ','), 'every day') AS days,
		concat(to_char(w.starts::interval, 'HH24:MI'), '-', CASE WHEN w.ends = '24:00' THEN '24:00'
				ELSE to_char(w.ends::interval, 'HH24:MI') END) AS hours,
		_tiered_storage.clip(w.time_zone, 16) AS time_zone,
		_tiered_storage.short_bytes(w.max_bytes) AS at_most,
		CASE WHEN NOT w.enabled THEN 'disabled' WHEN w.is_open THEN 'open' ELSE 'closed' END
			AS state, _tiered_storage.short_time(w.opens_at) AS opens
	FROM _tiered_storage.move_windows w;
COMMENT ON VIEW tiered_storage.move_windows IS
'windows in which automatic moves may begin; without any window, they may begin at any time';
COMMENT ON COLUMN tiered_storage.move_windows.window_name IS 'name of the window';
COMMENT ON COLUMN tiered_storage.move_windows.days IS 'days on which it opens';
COMMENT ON COLUMN tiered_storage.move_windows.hours IS
'start and end, which is on the next day if not later';
COMMENT ON COLUMN tiered_storage.move_windows.time_zone IS 'time zone of these times';
COMMENT ON COLUMN tiered_storage.move_windows.at_most IS
'bytes that may be moved in one opening; null: no limit';
COMMENT ON COLUMN tiered_storage.move_windows.state IS 'open, closed or disabled';
COMMENT ON COLUMN tiered_storage.move_windows.opens IS
'next opening; null: none within three weeks';

/* Why a relation is moved: what asked for it, and the reason of a policy or of the advice. */
CREATE FUNCTION _tiered_storage.move_cause(m _tiered_storage.moves) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN
	CASE WHEN m.undo_of IS NOT NULL OR m.reason = 'undo' THEN m.reason
		WHEN m.batch_id IS NULL AND m.policy_kind IS NULL THEN 'by hand'
		ELSE concat(CASE WHEN m.policy_kind IS NULL THEN 'advice'
			ELSE format('policy %s', m.policy_id) END, ': ',
			-- In short: days without their time, and how long ago they are.
			regexp_replace(regexp_replace(m.reason, E', that is (more .*) before now \\(.*$',
				E', \\1 ago'), ' [0-9]{2}:[0-9]{2}:[0-9.]+[+-][0-9:]+', '', 'g')) END;

CREATE VIEW tiered_storage.moves AS
	WITH queue AS MATERIALIZED (
		SELECT q.*, _tiered_storage.clip(q.relation::text, 130) AS relation_name
		FROM _tiered_storage.move_queue_entries() q),
	price AS MATERIALIZED (
		SELECT t.tier_name, t.price_per_gb_month
				/ CASE WHEN t.compressed THEN t.compression_ratio ELSE 1 END AS per_stored_gb
			FROM _tiered_storage.tiers t)
	SELECT m.at, m.relation, m.move, m.size, m.state, m.batch_id AS batch, m.note
	FROM (
		SELECT NULL AS at, q.relation_name AS relation, _tiered_storage.from_to(
				COALESCE(q.from_tier, q.from_tablespace)::text,
				COALESCE(q.to_tier, q.to_tablespace)::text) AS move,
			_tiered_storage.short_bytes(q.size_bytes) AS size, q.state,
			concat_ws(E'\n', CASE WHEN q.policy_id IS NOT NULL
					THEN format('policy %s (%s)', q.policy_id, q.cause)
					ELSE replace(q.cause, 'request', 'by hand') END,
				_tiered_storage.wrap(COALESCE(q.last_error,
					regexp_replace(q.reason, '^waiting: ', '')), 21)) AS note,
			q.place, NULL::timestamptz AS started_at, NULL::int8 AS batch_id, NULL::int8 AS move_id
		FROM queue q
		UNION ALL
		SELECT _tiered_storage.short_time(h.started_at), n.relation_name,
			_tiered_storage.from_to(
				COALESCE(h.from_tier, h.from_tablespace)::text,
				COALESCE(h.to_tier, h.to_tablespace)::text),
			_tiered_storage.short_bytes(h.size_bytes), h.state,
			concat_ws(E'\n', _tiered_storage.wrap(_tiered_storage.move_cause(h.*), 21),
				_tiered_storage.wrap('saves ' || _tiered_storage.short_savings(
					h.predicted_saved_io_s_per_hour,
					h.size_bytes / 1e9 * (f.per_stored_gb - t.per_stored_gb)), 21),
				'saved ' || _tiered_storage.short_seconds(h.measured_saved_io_s_per_hour),
				CASE WHEN h.state = 'done' THEN concat_ws(', ',
					CASE WHEN h.elapsed_ms < 59950
						THEN _tiered_storage.short_quantity(h.elapsed_ms, 1000, ' ms', ' s')
						ELSE _tiered_storage.short_quantity(h.elapsed_ms / 6e4, 60, ' min', ' h')
						END,
					concat('locked ', _tiered_storage.short_quantity(h.lock_held_ms, 1000,
						' ms', ' s')))
					ELSE _tiered_storage.wrap(h.error, 21) END),
			NULL, h.started_at, h.batch_id, h.move_id
		FROM _tiered_storage.moves h
		CROSS JOIN LATERAL (SELECT _tiered_storage.clip(h.relation, 130) AS relation_name) n
		LEFT JOIN price f ON f.tier_name = h.from_tier AND h.state IN ('done', 'running')
		LEFT JOIN price t ON t.tier_name = h.to_tier
		WHERE NOT EXISTS (SELECT FROM queue q
			WHERE q.relation_name = n.relation_name AND q.state = h.state)) m
	ORDER BY m.place, m.started_at DESC, m.move_id DESC;
COMMENT ON VIEW tiered_storage.moves IS
'running and planned moves in their order, then past moves, latest first';
COMMENT ON COLUMN tiered_storage.moves.at IS
'start of the last attempt; null: running or planned';
COMMENT ON COLUMN tiered_storage.moves.relation IS
'current name of the relation, or its last known name';
COMMENT ON COLUMN tiered_storage.moves.move IS 'source and target tier or tablespace';
COMMENT ON COLUMN tiered_storage.moves.size IS 'size of all forks, TOAST included';
COMMENT ON COLUMN tiered_storage.moves.state IS
'running, ready (for the next run of the worker), waiting, failed (for good, or before another '
'attempt), done, skipped, or interrupted (its process is gone)';
COMMENT ON COLUMN tiered_storage.moves.batch IS
'number of its batch, for undo_move(); null: none, use undo_move(relation => ...)';
COMMENT ON COLUMN tiered_storage.moves.note IS
'why it is moved (policy, advice, by hand, undo); saving that was expected, of device time or '
'price; saving that was measured, a day later; duration and longest strong lock, otherwise the '
'error or the reason for waiting';

CREATE VIEW tiered_storage.move_progress AS
	SELECT _tiered_storage.clip(p.relation, 130) AS relation,
		_tiered_storage.clip(p.to_tablespace::text, 16) AS target, p.pid,
		_tiered_storage.wrap(COALESCE(p.waits_for, p.phase), 20) AS phase,
		_tiered_storage.percent(p.blocks_done, p.blocks_total) AS done,
		_tiered_storage.short_bytes(p.size_bytes) AS size,
		_tiered_storage.short_bytes(p.bytes_per_s) || '/s' AS speed,
		_tiered_storage.short_quantity(p.remaining_s, 60, ' s', ' min', ' h') AS remaining
	FROM _tiered_storage.move_progress p;
COMMENT ON VIEW tiered_storage.move_progress IS
'running moves: share copied, speed and remaining time';
COMMENT ON COLUMN tiered_storage.move_progress.relation IS 'relation';
COMMENT ON COLUMN tiered_storage.move_progress.target IS 'target tablespace';
COMMENT ON COLUMN tiered_storage.move_progress.pid IS 'process ID of the mover';
COMMENT ON COLUMN tiered_storage.move_progress.phase IS
'current phase, or the reason why the copy waits';
COMMENT ON COLUMN tiered_storage.move_progress.done IS
'share of its blocks that are copied; null: not started';
COMMENT ON COLUMN tiered_storage.move_progress.size IS 'size of all forks, TOAST included';
COMMENT ON COLUMN tiered_storage.move_progress.speed IS
'bytes copied per second; null: not started';
COMMENT ON COLUMN tiered_storage.move_progress.remaining IS
'estimated remaining time, without blocks that change and are copied again; null: nothing is '
'copied yet';

CREATE VIEW tiered_storage.move_batches AS
	SELECT b.batch_id, b.kind, _tiered_storage.clip(b.requested_by::text, 16) AS requested_by,
		_tiered_storage.short_time(b.started_at) AS started,
		_tiered_storage.clip(concat_ws(', ', concat(b.moves_done, ' done'),
			CASE WHEN b.moves_running > 0 THEN concat(b.moves_running, ' to go') END,
			CASE WHEN b.moves_failed > 0 THEN concat(b.moves_failed, ' failed') END), 18) AS moves,
		_tiered_storage.short_bytes(b.moved_bytes) AS moved,
		_tiered_storage.short_savings(b.predicted_saved_io_s_per_hour, b.saved_price_per_month)
			AS predicted,
		_tiered_storage.short_seconds(b.measured_saved_io_s_per_hour) AS measured,
		CASE WHEN b.undone_by IS NOT NULL THEN 'undone'
			WHEN b.undo_command IS NOT NULL THEN 'can be' ELSE 'no' END AS undo
	FROM _tiered_storage.move_batches b ORDER BY b.batch_id DESC;
COMMENT ON VIEW tiered_storage.move_batches IS
'batches of apply_placement(), migrate(), the worker or undo_move(), latest first, with '
'predicted and measured savings';
COMMENT ON COLUMN tiered_storage.move_batches.batch_id IS
'number of the batch, for undo_move()';
COMMENT ON COLUMN tiered_storage.move_batches.kind IS 'placement, policy, fullness or undo';
COMMENT ON COLUMN tiered_storage.move_batches.requested_by IS 'role that requested it';
COMMENT ON COLUMN tiered_storage.move_batches.started IS 'start of its first move';
COMMENT ON COLUMN tiered_storage.move_batches.moves IS
'number of moves done, running or interrupted, and failed';
COMMENT ON COLUMN tiered_storage.move_batches.moved IS 'bytes of the relations moved';
COMMENT ON COLUMN tiered_storage.move_batches.predicted IS
'predicted saving of device time per hour, otherwise of the storage price per month; null: '
'unknown';
COMMENT ON COLUMN tiered_storage.move_batches.measured IS
'measured saving of device time per hour; null: not measured';
COMMENT ON COLUMN tiered_storage.move_batches.undo IS
'can be (by undo_move()), undone, or no (nothing to undo)';

CREATE VIEW tiered_storage.activity AS
	SELECT a.part, _tiered_storage.clip(a.name, 34) AS name,
		_tiered_storage.wrap(a.now, 52) AS now
	FROM _tiered_storage.activity_rows() a;
COMMENT ON VIEW tiered_storage.activity IS
E'current activity on one screen, for \\watch: worker, tiers, running moves, queue, hot '
'relations';
COMMENT ON COLUMN tiered_storage.activity.part IS
'worker, tier, move (running), queue or hot (relation)';
COMMENT ON COLUMN tiered_storage.activity.name IS
'database, tier or relation, in at most 34 columns of a screen';
COMMENT ON COLUMN tiered_storage.activity.now IS
'current state, in at most 52 columns of a screen';

CREATE VIEW tiered_storage.workers AS
	SELECT w.database_name, w.state, w.pid,
		_tiered_storage.short_time(w.last_started_at) AS last_run,
		_tiered_storage.short_time(w.next_run_at) AS next_run,
		_tiered_storage.wrap(NULLIF(concat_ws('; ',
			w.last_error, w.reason,
			CASE WHEN w.left_out > 0
				THEN concat('left out: ', w.left_out_why) END), ''), 38) AS note
	FROM _tiered_storage.worker_status() w;
COMMENT ON VIEW tiered_storage.workers IS
'worker of each database: its state, its next run, and the reason if it does not run';
COMMENT ON COLUMN tiered_storage.workers.database_name IS 'database';
COMMENT ON COLUMN tiered_storage.workers.state IS 'current state';
COMMENT ON COLUMN tiered_storage.workers.pid IS 'process ID; null: not running';
COMMENT ON COLUMN tiered_storage.workers.last_run IS 'start of its last cycle; null: never';
COMMENT ON COLUMN tiered_storage.workers.next_run IS
'start of its next cycle; null: none is planned';
COMMENT ON COLUMN tiered_storage.workers.note IS
'error of the last cycle, reason for not moving or not running, or relations left out because '
'of their errors; null: nothing to report';

CREATE VIEW tiered_storage.metrics AS
	SELECT concat('tiered_storage_', m.name) AS name, m.labels, m.value,
		CASE WHEN m.name ~ '_total$' THEN 'counter' ELSE 'gauge' END AS kind,
		m.help
	FROM _tiered_storage.metric_values() m WHERE m.value IS NOT NULL;
COMMENT ON VIEW tiered_storage.metrics IS
'all metrics in the shape of Prometheus, one value per row';
COMMENT ON COLUMN tiered_storage.metrics.name IS 'name of the metric';
COMMENT ON COLUMN tiered_storage.metrics.labels IS 'labels and their values';
COMMENT ON COLUMN tiered_storage.metrics.value IS 'the value';
COMMENT ON COLUMN tiered_storage.metrics.kind IS 'gauge or counter';
COMMENT ON COLUMN tiered_storage.metrics.help IS 'description, with the unit';

---------------------------------------------------------------------------
-- Move windows: the hours in which automatic moves begin.
---------------------------------------------------------------------------

/*
 * Hours in which automatic moves begin; use the view _tiered_storage.move_windows,
 * add_move_window() and remove_move_window().
 */
CREATE TABLE _tiered_storage.move_window
(
	window_name name NOT NULL PRIMARY KEY CHECK (window_name OPERATOR(pg_catalog.<>) ''),
	days text[] CHECK (days OPERATOR(pg_catalog.<@) '{mon,tue,wed,thu,fri,sat,sun}'
		AND pg_catalog.cardinality(days) OPERATOR(pg_catalog.>) 0),	-- null: every day
	starts time NOT NULL CHECK (starts OPERATOR(pg_catalog.<) '24:00'),
	ends time NOT NULL CHECK (ends OPERATOR(pg_catalog.<>) starts),
	time_zone text NOT NULL,
	max_bytes bigint CHECK (max_bytes OPERATOR(pg_catalog.>) 0),
	enabled boolean NOT NULL
);
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.move_window', '');

/* Bytes that moves have written in the last seconds, by their record. */
CREATE FUNCTION _tiered_storage.moved_within(seconds float8) RETURNS float8
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	/*
	 * A running move may have begun before; all of it is written by its end.  Failed attempts
	 * have written bytes, too.
	 */
	SELECT COALESCE(sum(CASE WHEN m.state IN ('running', 'done')
			THEN greatest(m.size_bytes, m.copied_bytes) ELSE COALESCE(m.copied_bytes, 0) END
		+ COALESCE((SELECT sum(u.bytes) FROM unnest(m.failed_at, m.failed_bytes) u (at, bytes)
			WHERE u.at >= clock_timestamp() - make_interval(secs => seconds)), 0)), 0)::float8
	FROM _tiered_storage.move m
	WHERE m.state = 'running' OR m.started_at >= clock_timestamp() - make_interval(secs => seconds)
$$;

/*
 * The openings of enabled windows that have not ended, for three weeks: each window opens at
 * least once a week, and a move may have to wait for more than one of them.  moved_bytes is
 * null before it opens.  A time that clocks skip or show twice is the one that the server takes.
 */
CREATE FUNCTION _tiered_storage.move_window_openings(
	OUT window_name name, OUT opens_at timestamptz, OUT closes_at timestamptz,
	OUT moved_bytes float8)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
	SET TimeZone = 'UTC'
AS $$
DECLARE
	at timestamptz := COALESCE(
		NULLIF(current_setting('tiered_storage.test_now', true), '')::timestamptz,
		clock_timestamp());
	w _tiered_storage.move_window;
BEGIN
	FOR w IN SELECT x.* FROM _tiered_storage.move_window x WHERE x.enabled
	LOOP
		BEGIN
			/* AT TIME ZONE would take CET for an abbreviation, without daylight saving. */
			PERFORM set_config('TimeZone', w.time_zone, true);

			/* By the clock that tests set as much time has passed as by that of the moves. */
			RETURN QUERY
				SELECT w.window_name, o.opens_at, o.closes_at, CASE WHEN o.opens_at <= at
					THEN _tiered_storage.moved_within(EXTRACT(epoch FROM at - o.opens_at)::float8)
					END
				FROM (SELECT at::date + n AS day
					FROM generate_series(-2, 21) n) d
				CROSS JOIN LATERAL (SELECT (d.day + w.starts)::timestamptz AS opens_at,
					(d.day + (w.ends < w.starts)::integer + w.ends)::timestamptz AS closes_at) o
				WHERE (w.days IS NULL OR to_char(d.day, 'dy') = ANY (w.days))
					AND o.opens_at < o.closes_at AND o.closes_at > at;
		EXCEPTION WHEN invalid_parameter_value THEN
			NULL;	-- this server does not have its time zone
		END;
	END LOOP;
END
$$;

CREATE VIEW _tiered_storage.move_windows AS
	SELECT w.window_name, w.days, w.starts, w.ends, w.time_zone, w.max_bytes, w.enabled,
		o.is_open, o.opens_at, o.closes_at, o.moved_bytes
	FROM _tiered_storage.move_window w
	LEFT JOIN LATERAL (SELECT count(s.moved_bytes) > 0 AS is_open,
			min(s.opens_at) FILTER (WHERE s.moved_bytes IS NULL) AS opens_at,
			min(s.closes_at) AS closes_at, min(s.moved_bytes)::int8 AS moved_bytes
		FROM _tiered_storage.move_window_openings() s
		WHERE s.window_name = w.window_name) o ON true;

CREATE FUNCTION tiered_storage.add_move_window(
	name name,
	days text[],
	starts time,
	ends time,
	time_zone text DEFAULT NULL,
	max_bytes bigint DEFAULT NULL,
	enabled boolean DEFAULT true)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp
	SET lock_timeout = '30s'
AS $$
DECLARE
	most CONSTANT integer := 64;
	week CONSTANT text[] := '{mon,tue,wed,thu,fri,sat,sun}';
	unknown text;
	wanted text := COALESCE(time_zone, current_setting('TimeZone'));
	w _tiered_storage.move_window;
BEGIN
	PERFORM _tiered_storage.require_writable('tiered_storage.add_move_window()');
	SELECT COALESCE(d, 'null') INTO unknown FROM unnest(days) d
		WHERE (lower(d) = ANY (week)) IS NOT TRUE LIMIT 1;
	IF FOUND THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			format('invalid day "%s"', unknown),
			hint => 'Days are mon, tue, wed, thu, fri, sat and sun; null means every day.');
	ELSIF cardinality(days) = 0 THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			'a move window without days would never open',
			hint => 'Null means every day; enabled => false keeps a window closed.');
	END IF;
	w := ROW(name, (SELECT array_agg(d.day ORDER BY d.n)
			FROM unnest(week) WITH ORDINALITY d(day, n)
			WHERE d.day IN (SELECT lower(x) FROM unnest(days) x)), starts, ends,
		(SELECT z.name FROM pg_timezone_names z WHERE lower(z.name) = lower(wanted)
			ORDER BY z.name <> wanted LIMIT 1), max_bytes, COALESCE(enabled, true));
	IF w.time_zone IS NULL THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			format('time zone "%s" not recognized', wanted),
			hint => 'The view pg_timezone_names lists them.');
	END IF;
	IF COALESCE(w.window_name, '') = '' THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			'the name of a move window must not be null or empty');
	ELSIF w.starts IS NULL OR w.ends IS NULL THEN
		PERFORM _tiered_storage.refuse('null_value_not_allowed',
			'"starts" and "ends" must not be null');
	ELSIF w.starts = '24:00' THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			'a move window cannot start at 24:00', hint => 'Use 00:00 of the next day.');
	ELSIF w.starts = w.ends THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			'a move window that ends when it starts is empty',
			hint => 'Use starts => ''00:00'', ends => ''24:00'' for whole days.');
	ELSIF w.max_bytes <= 0 THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value', 'max_bytes must be positive',
			hint => 'Omit max_bytes for no limit; enabled => false keeps a window closed.');
	END IF;
	LOCK TABLE _tiered_storage.move_window IN SHARE ROW EXCLUSIVE MODE;
	IF EXISTS (SELECT FROM _tiered_storage.move_window x WHERE x.window_name = name) THEN
		PERFORM _tiered_storage.refuse('duplicate_object',
			format('move window "%s" already exists', name),
			hint => 'Remove it first, to define it anew: SELECT '
				'tiered_storage.remove_move_window(...).');
	ELSIF (SELECT count(*) FROM _tiered_storage.move_window) >= most THEN
		PERFORM _tiered_storage.refuse('program_limit_exceeded',
			'too many move windows',
			detail => format('At most %s move windows can be added.', most));
	END IF;
	INSERT INTO _tiered_storage.move_window SELECT w.*;
END
$$;
COMMENT ON FUNCTION tiered_storage.add_move_window IS
'adds a window in which automatic moves may begin: on days such as ''{sat,sun}'' (null: every '
'day), from starts to ends (on the next day if not later) in time_zone (default: that of the '
'session), at most max_bytes in each opening';

CREATE FUNCTION tiered_storage.remove_move_window(name name, if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp
	SET lock_timeout = '30s'
AS $$
BEGIN
	PERFORM _tiered_storage.require_writable('tiered_storage.remove_move_window()');
	DELETE FROM _tiered_storage.move_window x WHERE x.window_name = name;
	IF FOUND THEN
		RETURN;
	ELSIF if_exists THEN
		RAISE NOTICE 'move window "%" does not exist, skipping', name;
		RETURN;
	END IF;
	PERFORM _tiered_storage.refuse('undefined_object',
		format('move window "%s" does not exist', name),
		hint => 'SELECT window_name FROM tiered_storage.move_windows lists them.');
END
$$;
COMMENT ON FUNCTION tiered_storage.remove_move_window IS
'removes a move window; without any window, automatic moves may begin at any time';

---------------------------------------------------------------------------
-- How fast devices wear out.
---------------------------------------------------------------------------

/*
 * Bytes written to each device since counted_since; use the view tiered_storage.devices.
 *
 * The ledger: what each device beneath a tablespace was written since it was first seen, by
 * whomever, as the kernel counts it; across boots, after which the kernel begins again.  Of
 * this database, like its samples: each database of a cluster has one of the whole device, so
 * two are never added up.  Only samples write it.
 */
CREATE UNLOGGED TABLE _tiered_storage.device_wear
(
	device text NOT NULL PRIMARY KEY,
	tablespaces oid[] NOT NULL,
	counted_since timestamptz NOT NULL,
	counted_at timestamptz NOT NULL,
	written_bytes float8 NOT NULL,
	warned_at timestamptz
) WITH (fillfactor = 50, autovacuum_analyze_threshold = 2147483647);
SELECT _tiered_storage.define_stored('device_wear');

/*
 * Bytes written to each device on a day (UTC), in period_s seconds that were counted, and of
 * these by moves.
 *
 * Of the last seven days, see below; what they had before is in the total.
 */
CREATE UNLOGGED TABLE _tiered_storage.device_wear_day
(
	device text NOT NULL,
	day date NOT NULL,
	period_s float8 NOT NULL,
	written_bytes float8 NOT NULL,
	moved_bytes float8 NOT NULL,
	PRIMARY KEY (device, day)
) WITH (fillfactor = 50, autovacuum_analyze_threshold = 2147483647);
SELECT _tiered_storage.define_stored('device_wear_day');

/*
 * Wear of a device as given to alter_tier(), and the sum of the ledger at that time.
 *
 * What a person or SMART says.  Not in the ledger, so that a transaction which has told
 * something and stays open holds up no sample.
 */
CREATE TABLE _tiered_storage.device_wear_given
(
	device text NOT NULL PRIMARY KEY,
	given_at timestamptz NOT NULL,
	written_bytes bigint,
	used_fraction float8,
	ledger_bytes float8 NOT NULL
);

/*
 * Deletes the ledgers of devices, and what was told of them: unless a transaction is telling it
 * now, for which no sample waits.
 */
CREATE FUNCTION _tiered_storage.forget_wear(devices text[]) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
	DELETE FROM _tiered_storage.device_wear w WHERE w.device = ANY (devices);
	DELETE FROM _tiered_storage.device_wear_day d WHERE d.device = ANY (devices);
	DELETE FROM _tiered_storage.device_wear_given x WHERE x.device IN (SELECT g.device
		FROM _tiered_storage.device_wear_given g WHERE g.device = ANY (devices)
		FOR UPDATE SKIP LOCKED);
$$;

/*
 * Puts what a device was written in a period into the ledger, and how much of it by moves.
 *
 * A device with none of its former tablespaces is another one, as in device_state.
 */
CREATE FUNCTION _tiered_storage.count_wear(at timestamptz, device text, written_bytes float8,
	period_s float8)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	kept_days CONSTANT integer := 7;
	places oid[] := (SELECT s.tablespaces FROM _tiered_storage.device_state s
		WHERE s.device = count_wear.device);
	today date := (at AT TIME ZONE 'UTC')::date;
	moved float8;
	w _tiered_storage.device_wear;
BEGIN
	SELECT x.* INTO w FROM _tiered_storage.device_wear x WHERE x.device = count_wear.device;
	IF w.device IS NOT NULL AND NOT w.tablespaces && places THEN
		PERFORM _tiered_storage.forget_wear(ARRAY[device]);
		w := NULL;
	END IF;
	IF w.device IS NULL THEN
		INSERT INTO _tiered_storage.device_wear (device, tablespaces, counted_since, counted_at,
			written_bytes) VALUES (count_wear.device, places, at, at, 0);
		RETURN;
	END IF;
	UPDATE _tiered_storage.device_wear x SET tablespaces = places, counted_at = at,
		written_bytes = x.written_bytes + count_wear.written_bytes
		WHERE x.device = count_wear.device;
	IF period_s > 0 THEN
		SELECT COALESCE(sum(m.copied_bytes), 0) INTO moved FROM _tiered_storage.move m
			WHERE m.finished_at > w.counted_at AND m.finished_at <= at
				AND m.to_tablespace_oid = ANY (places);
		INSERT INTO _tiered_storage.device_wear_day AS d (device, day, period_s, written_bytes,
			moved_bytes)
			VALUES (count_wear.device, today, count_wear.period_s, count_wear.written_bytes, moved)
			ON CONFLICT ON CONSTRAINT device_wear_day_pkey DO UPDATE SET
				period_s = d.period_s + EXCLUDED.period_s,
				written_bytes = d.written_bytes + EXCLUDED.written_bytes,
				moved_bytes = d.moved_bytes + EXCLUDED.moved_bytes;
		DELETE FROM _tiered_storage.device_wear_day d
			WHERE d.device = count_wear.device
				AND d.day NOT BETWEEN today - kept_days + 1 AND today;
	END IF;
END
$$;

/*
 * How fast each device wears out; see the view wear.
 *
 * The pace is the mean of the seven days that were counted last.  Of less than a day it is
 * what was written so far, as if nothing more were to come: a load of a minute is not
 * extrapolated, but a budget of a whole day that is exceeded is reported at once.
 *
 * TBW is that of all devices of a tier, each by the size of its file systems, and stated for
 * five years.  Tiers on one device share its life: the least that one of them tells counts.
 *
 * A standby has the ledger of the primary, whose devices are others, also of the same name.
 */
CREATE FUNCTION _tiered_storage.wear_state(
	OUT device text, OUT tier_name name, OUT counted_since timestamptz,
	OUT written_bytes bigint, OUT written_bytes_per_day float8, OUT moved_bytes_per_day float8,
	OUT endurance_bytes_per_day float8, OUT used_fraction float8,
	OUT expected_life_years float8, OUT wear_exceeded boolean, OUT reason text)
RETURNS SETOF record
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
	WITH place AS MATERIALIZED (
		SELECT d.device, tt.tier_name, d.file_system_id, d.filesystem, d.path_exists,
			CASE WHEN d.total_bytes > 0 THEN d.total_bytes::float8 END AS total_bytes
		FROM _tiered_storage.tablespace_devices() d
		LEFT JOIN _tiered_storage.tier_tablespaces tt ON tt.tablespace_oid = d.tablespace_oid),
	whole AS (
		SELECT x.device, sum(x.total_bytes) AS total_bytes
		FROM (SELECT DISTINCT p.device, p.file_system_id, p.total_bytes FROM place p
			WHERE p.device IS NOT NULL) x
		GROUP BY x.device),
	part AS (
		SELECT x.device, x.tier_name, COALESCE(
			sum(x.total_bytes) / sum(sum(x.total_bytes)) OVER (PARTITION BY x.tier_name),
			1.0 / count(*) OVER (PARTITION BY x.tier_name))::float8 AS fraction
		FROM (SELECT DISTINCT p.device, p.tier_name, p.file_system_id, p.total_bytes FROM place p
			WHERE p.device IS NOT NULL) x
		GROUP BY x.device, x.tier_name),
	limits AS (
		SELECT p.device, min(LEAST(t.endurance_tbw * 1e12 * p.fraction / (5 * 365.25),
			t.endurance_dwpd * w.total_bytes)) AS per_day
		FROM part p JOIN whole w ON w.device = p.device
		LEFT JOIN _tiered_storage.tier t ON t.tier_name = p.tier_name
		GROUP BY p.device),
	lately AS (
		SELECT x.device, x.period_s, x.written_bytes * x.factor AS written,
			x.moved_bytes * x.factor AS moved
		FROM (SELECT d.device, sum(d.period_s) AS period_s, sum(d.written_bytes) AS written_bytes,
				sum(d.moved_bytes) AS moved_bytes,
				86400 / GREATEST(sum(d.period_s), 86400) AS factor
			FROM _tiered_storage.stored_device_wear_day() d
			GROUP BY d.device) x),
	life AS (
		SELECT l.device, l.per_day, l.per_day * 5 * 365.25 AS bytes, w.counted_since,
			w.written_bytes, d.period_s, d.written, d.moved, g.given_at,
			g.written_bytes AS given_bytes, g.used_fraction AS given_fraction,
			GREATEST(0, COALESCE(w.written_bytes, 0) - COALESCE(g.ledger_bytes, 0)) AS since_given,
			s.device IS NOT NULL AND s.counters_at IS NULL AS has_no_counters, c.own
		FROM limits l
		CROSS JOIN (SELECT NOT pg_is_in_recovery() AS own) c
		LEFT JOIN _tiered_storage.stored_device_wear() w
			ON w.device = l.device AND c.own
		LEFT JOIN lately d ON d.device = l.device AND c.own
		LEFT JOIN _tiered_storage.device_wear_given g ON g.device = l.device AND c.own
		LEFT JOIN _tiered_storage.stored_device_state() s
			ON s.device = l.device AND c.own),
	used AS (
		SELECT f.*, CASE WHEN f.given_fraction IS NOT NULL
				THEN f.given_fraction + COALESCE(f.since_given / f.bytes, 0)
			WHEN f.given_bytes IS NOT NULL THEN (f.given_bytes + f.since_given) / f.bytes
			WHEN f.written_bytes IS NOT NULL THEN f.written_bytes / f.bytes END AS fraction
		FROM life f)
	SELECT u.device, p.tier_name, u.counted_since, u.written_bytes::bigint, u.written, u.moved,
		u.per_day, u.fraction,
		CASE WHEN u.fraction >= 1 THEN 0 WHEN u.period_s >= 86400
			THEN (1 - u.fraction) * u.bytes / NULLIF(u.written, 0) / 365.25 END,
		CASE WHEN u.fraction >= 1 THEN true ELSE u.written > u.per_day END,
		NULLIF(concat_ws('; ',
			CASE WHEN NOT u.own
				THEN 'a standby counts no writes; the primary counts those to its own devices'
				WHEN u.has_no_counters THEN 'the kernel does not count writes to it'
				WHEN u.period_s IS NULL THEN 'fewer than two samples have counted writes to it'
				WHEN u.period_s < 86400 THEN 'less than a day was counted'
				WHEN u.written = 0 THEN 'it had no recent writes' END,
			CASE WHEN u.per_day IS NULL THEN
				'its endurance is not configured: alter_tier(device => {"endurance_tbw": ...})'
				WHEN u.own AND u.given_at IS NULL
				THEN 'used_fraction: without writes before counted_since' END), '')
	FROM used u JOIN part p ON p.device = u.device
	UNION ALL
	SELECT NULL, t.tier_name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
		'the device of its tablespaces is not known: '
			|| CASE WHEN f.filesystem IS NOT NULL
					THEN 'none is found in /sys beneath ' || f.filesystem
				WHEN f.exist THEN 'the server does not see /proc/self/mountinfo'
				WHEN f.n > 0 THEN 'their directories are not visible'
				ELSE 'it has none' END
	FROM _tiered_storage.tier t
	CROSS JOIN LATERAL (SELECT min(p.filesystem) AS filesystem, bool_or(p.path_exists) AS exist,
			count(*) AS n
		FROM place p WHERE p.tier_name = t.tier_name) f
	WHERE NOT EXISTS (SELECT FROM part p WHERE p.tier_name = t.tier_name)
$$;

/*
 * Takes what SMART says of a device of a tier: bytes written in its life, fraction of its life
 * that is used.  It counts instead of what was counted until now, and replaces what was given
 * before.  What is beneath a tablespace now need not have been sampled yet.
 */
CREATE FUNCTION _tiered_storage.tier_set_wear(tier name, figures jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	given_bytes bigint := figures ->> 'written_bytes';
	given_fraction float8 := figures ->> 'used_fraction';
	devices text[];
BEGIN
	IF given_bytes IS NULL AND given_fraction IS NULL THEN
		RETURN;
	END IF;
	IF given_bytes < 0 THEN
		PERFORM _tiered_storage.refuse('numeric_value_out_of_range',
			format('written_bytes must not be negative: %s', given_bytes));
	END IF;
	/* NaN is greater than all numbers. */
	IF given_fraction < 0 OR given_fraction > 2.55 THEN
		PERFORM _tiered_storage.refuse('numeric_value_out_of_range',
			format('used_fraction must be between 0 and 2.55: %s', given_fraction),
			hint => 'It is a fraction: 0.03 for 3 %.');
	END IF;
	devices := ARRAY(SELECT DISTINCT d.device FROM _tiered_storage.tablespace_devices() d
		JOIN _tiered_storage.tier_tablespaces t ON t.tablespace_oid = d.tablespace_oid
		WHERE t.tier_name = tier AND d.device = COALESCE(figures ->> 'device', d.device)
		ORDER BY 1);
	IF cardinality(devices) <> 1 THEN
		PERFORM _tiered_storage.refuse('undefined_object',
			format('tier "%s" has %s devices to choose from', tier, cardinality(devices)),
			hint => 'Name a device that the view tiered_storage.devices lists for the '
				'tier: {"device": ..., "used_fraction": ...}.');
	END IF;
	INSERT INTO _tiered_storage.device_wear_given (device, given_at, written_bytes, used_fraction,
		ledger_bytes)
		VALUES (devices[1], now(), given_bytes, given_fraction,
			COALESCE((SELECT w.written_bytes FROM _tiered_storage.device_wear w
				WHERE w.device = devices[1]), 0))
		ON CONFLICT ON CONSTRAINT device_wear_given_pkey DO UPDATE SET
			given_at = EXCLUDED.given_at, written_bytes = EXCLUDED.written_bytes,
			used_fraction = EXCLUDED.used_fraction, ledger_bytes = EXCLUDED.ledger_bytes;
END
$$;

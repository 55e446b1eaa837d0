-- What bench/page looks at: a database whose relations are empty, and a history of them that
-- is made up.
CREATE TABLESPACE ssd LOCATION '';
CREATE TABLESPACE hdd LOCATION '';
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('ssd', '{ssd}', profile => 'nvme', rank => 0, price_per_gb_month => 0.20, device => jsonb_build_object('capacity_bytes', 60000000000, 'endurance_dwpd', 1)),
	tiered_storage.add_tier('hdd', '{hdd,pg_default}', profile => 'hdd_7200', rank => 1, price_per_gb_month => 0.03, device => jsonb_build_object('capacity_bytes', 200000000000));
SELECT set_config('page.relations', :'relations', false);
DO $$
BEGIN
	FOR i IN 1..current_setting('page.relations')::integer / 2 LOOP
		EXECUTE format('CREATE TABLE %s (a int) TABLESPACE %s',
			(ARRAY['orders', 'events', 'sessions', 'invoices', 'measurements'])[1 + i % 5] || '_' || i,
			CASE WHEN i % 4 = 0 THEN 'ssd' ELSE 'hdd' END);
		EXECUTE format('CREATE INDEX ON %s (a) TABLESPACE hdd',
			(ARRAY['orders', 'events', 'sessions', 'invoices', 'measurements'])[1 + i % 5] || '_' || i);
		IF i % 500 = 0 THEN COMMIT; END IF;
	END LOOP;
END
$$;
SELECT setseed(0.25);
-- How hot each is: the n-th hottest as 1/n, together less than what the hard disk can do; and
-- files of nothing but holes, 150 GB together.
CREATE TEMP TABLE heat AS
	SELECT oid AS relation_oid, row_number() OVER (ORDER BY random()) AS n, exp(6 * random()) AS size FROM pg_class
	WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i');
COPY (SELECT current_setting('data_directory') || '/' || pg_relation_filepath(h.relation_oid),
		8192 * LEAST(131072, ceil(h.size / (SELECT sum(size) FROM heat) * 1.5e11 / 8192))::bigint FROM heat h)
	TO PROGRAM 'perl -ane ''truncate($F[0], $F[1])''';
CALL tiered_storage.sample();
UPDATE _tiered_storage.relation_state s SET evidence_interval_s = 0, heat_at = now(),
	observed_since = now() - :days * interval '1 day', sampled_since = now() - :days * interval '1 day',
	proven_since = now() - :days * interval '1 day',
	tuples = s.size_bytes / 100.0,
	hits_slow = 0, scans_slow = 0, random_slow = 1.6e4 / h.n, random_fast = 1.6e4 / h.n,
	sequential_slow = 3.2e4 / h.n, sequential_fast = 3.2e4 / h.n, sequential_low_slow = 2.4e4 / h.n,
	sequential_high_slow = 4e4 / h.n, device_random_fast = 1.6e4 / h.n, device_random_slow = 1.6e4 / h.n,
	device_sequential_fast = 3.2e4 / h.n, device_sequential_slow = 3.2e4 / h.n,
	changes_fast = 1e4 / h.n, changes_slow = 1e4 / h.n, page_writes_fast = 5e3 / h.n,
	page_writes_slow = 5e3 / h.n, wal_bytes_fast = 4e7 / h.n, image_bytes_fast = 2.5e7 / h.n
	FROM heat h WHERE h.relation_oid = s.relation_oid;
UPDATE _tiered_storage.sampler SET last_sample_at = now(), history_since = now() - :days * interval '1 day',
	wal_since = now() - :days * interval '1 day';
-- By day more than by night, on Sundays little; some come only later, some go out of use.
INSERT INTO _tiered_storage.relation_history
	SELECT date_trunc('hour', now()) - hour * interval '1 hour', h.relation_oid, 3600, 10,
		(1.6e4 / h.n * day.factor * (0.5 + random()))::bigint, (3.2e4 / h.n * day.factor)::bigint, 1000, 10,
		(5e3 / h.n * day.factor)::bigint
	FROM heat h
	CROSS JOIN generate_series(1, :days * 24, GREATEST(1, (:days * 24.0 * :relations / :rows)::integer)) step
	CROSS JOIN LATERAL (SELECT LEAST(:days * 24, step + h.n % 7) AS hour) t
	CROSS JOIN LATERAL (SELECT now() - hour * interval '1 hour' AS at) a
	CROSS JOIN LATERAL (SELECT (1 + sin((extract(hour FROM a.at) - 9) * 0.2618)) ^ 2 / 2
		* CASE WHEN extract(isodow FROM a.at) = 7 THEN 0.1 ELSE 1 END
		* CASE h.n % 5 WHEN 0 THEN exp(-hour / 400.0) WHEN 1 THEN LEAST(1, hour / 800.0) ELSE 1 END AS factor) day
	ON CONFLICT DO NOTHING;
INSERT INTO _tiered_storage.load_state
	SELECT true, now() - :days * interval '1 day', now(), s.counters FROM _tiered_storage.load_state s
	ON CONFLICT (singleton) DO UPDATE SET observed_since = excluded.observed_since, sampled_at = excluded.sampled_at;
INSERT INTO _tiered_storage.load_history (period_start, period_s, commits, rollbacks, blocks_fetched, blocks_hit,
		rows_returned, rows_fetched, rows_inserted, rows_updated, rows_deleted, temp_files, temp_bytes, deadlocks,
		wal_records, wal_full_page_images, wal_bytes, wal_writes, wait_sampled_ms, wait_cpu_ms, wait_relations_ms,
		wait_wal_ms, wait_temp_ms, wait_slru_ms, wait_other_io_ms, wait_lock_ms, wait_lwlock_ms, wait_other_ms)
	SELECT date_trunc('hour', now()) - hour * interval '1 hour', 3600, 400000 * f, 200 * f, 9e7 * f, 8.4e7 * f,
		5e7 * f, 2e7 * f, 3e5 * f, 2e5 * f, 4e4 * f, 30 * f, 4e9 * f, 0, 4e6 * f, 2e5 * f, 2e9 * f, 4e5 * f, 3600000,
		2e6 * f, 3e6 * f, 5e5 * f, 2e5 * f, 1e3 * f, 1e4 * f, 8e4 * f, 2e4 * f, 6e4 * f
	FROM generate_series(1, :days * 24) hour CROSS JOIN LATERAL (SELECT 0.4 + random() AS f) l ON CONFLICT DO NOTHING;
-- What is on the SSD has come there, one every eight hours; what is older than a day is measured.
INSERT INTO _tiered_storage.move (relation_oid, relation_name, kind, from_tablespace, to_tablespace, from_tier, to_tier,
		state, requested_by, reason, method, size_bytes, before_io_s_per_hour, predicted_io_s_per_hour,
		predicted_saved_io_s_per_hour, started_at, finished_at, attempts, lock_wait_ms, lock_held_ms, copied_bytes,
		elapsed_ms, waited_ms, error, sqlstate, batch_id)
	SELECT h.relation_oid, h.relation_oid::regclass::text, 'table', 'hdd', 'ssd', 'hdd', 'ssd',
		CASE WHEN h.n % 40 = 7 THEN 'failed' ELSE 'done' END, 'postgres',
		'reads 12,000 blocks an hour at random, which takes 80 s of an hour here and 1 s there', 'online', 4e9 / h.n,
		80.0 / h.n, 2.0 / h.n, 78.0 / h.n, t.at, t.at + interval '1 s' * (600.0 / h.n + 5), 1, 20 * random(),
		exp(4 * random()), 4e9 / h.n, 600000.0 / h.n + 5000, 0,
		CASE WHEN h.n % 40 = 7 THEN 'could not get the lock in 10 attempts' END, CASE WHEN h.n % 40 = 7 THEN '55P03' END, h.n / 10 + 1
	FROM (SELECT h.relation_oid, row_number() OVER (ORDER BY h.n) AS n FROM heat h JOIN pg_class c ON c.oid = h.relation_oid
		JOIN pg_tablespace s ON s.oid = c.reltablespace WHERE s.spcname = 'ssd') h
	CROSS JOIN LATERAL (SELECT now() - interval '8 hours' * h.n AS at) t WHERE h.n < :days * 3;
INSERT INTO _tiered_storage.move_effect (move_id, batch_id, relation_oid, to_tablespace_oid,
		settled_at, source, unmoved_io_s_per_hour, measured_io_s_per_hour)
	SELECT m.move_id, m.batch_id, m.relation_oid, 0, m.finished_at + interval '1 day', 'device',
		m.before_io_s_per_hour * (0.6 + 0.6 * random()), m.predicted_io_s_per_hour * (0.5 + random())
	FROM _tiered_storage.move m WHERE m.state = 'done' AND m.finished_at < now() - interval '1 day';
-- The hours that have ended, as the worker stores them.
SELECT _tiered_storage.roll_up(date_trunc('hour', now(), 'UTC'), now(), 1e12, 1e12);
ANALYZE _tiered_storage.relation_history, _tiered_storage.relation_state, _tiered_storage.move;

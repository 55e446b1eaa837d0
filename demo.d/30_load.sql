-- A load, and a worker that watches it
-- TPC-H queries on the newest months, look-ups of recent orders, corrections of old ones,
-- and pgbench's bank. shared_buffers is 32 MB, so there is something to read, and
-- test_page_cache is off: here the page cache holds all of it, which on a large database
-- it does not.
\set ECHO none
SELECT set_config('demo.seconds', :'seconds', false) \gset ignored_
DO $$
DECLARE
	seconds int := current_setting('demo.seconds');
	began timestamptz := clock_timestamp();
	before bigint := (SELECT samples FROM _tiered_storage.sampler);
	taken bigint := 0;
BEGIN
	-- On a slow machine the first sample may take longer than the load.
	WHILE clock_timestamp() < began + seconds * interval '1 s' OR taken = 0 LOOP
		IF clock_timestamp() > began + (seconds + 30) * interval '1 s' THEN
			RAISE EXCEPTION 'the worker has taken no sample in % s', seconds + 30
				USING DETAIL = concat((SELECT string_agg(w::text, E'\n') FROM _tiered_storage.worker_status() w));
		END IF;
		PERFORM pg_sleep(0.5);
		taken := (SELECT samples FROM _tiered_storage.sampler) - before;
		COMMIT;
	END LOOP;
END
$$;
\set ECHO queries
SELECT samples AS samples_taken, (SELECT xact_commit FROM pg_stat_database
       WHERE datname = current_database()) AS transactions_so_far FROM _tiered_storage.sampler;

-- The worker moves them by itself, while the load goes on
\set ECHO none
DO $$
DECLARE
	began timestamptz := clock_timestamp();
	changed timestamptz := began;
	told timestamptz := '-infinity';
	before bigint := -1;
	moved bigint;
	total bigint;
	moved_bytes numeric;
	total_bytes numeric;
BEGIN
	LOOP
		SELECT count(*) FILTER (WHERE on_slow), count(*),
				COALESCE(sum(pg_relation_size(oid)) FILTER (WHERE on_slow), 0),
				sum(pg_relation_size(oid))
			INTO moved, total, moved_bytes, total_bytes FROM cold;
		IF moved <> before THEN
			before := moved;
			changed := clock_timestamp();
		END IF;
		IF moved = total OR clock_timestamp() > told + interval '3 s' THEN
			RAISE NOTICE '% of % relations, % of %', lpad(moved::text, 3), total,
				pg_size_pretty(moved_bytes), pg_size_pretty(total_bytes);
			told := clock_timestamp();
		END IF;
		EXIT WHEN moved = total;
		-- In vain for 30 s, or never to end: a fault.
		IF clock_timestamp() > LEAST(changed + interval '30 s', began + interval '5 min') THEN
			RAISE EXCEPTION 'the worker has moved % of % relations, and no more for % s', moved, total,
					extract(epoch FROM clock_timestamp() - changed)::int
				USING DETAIL = (SELECT string_agg('Left: ' || relation, E'\n') FROM cold WHERE NOT on_slow),
					HINT = concat_ws(E'\n', (SELECT string_agg(w::text, E'\n') FROM _tiered_storage.worker_status() w),
						(SELECT string_agg(DISTINCT m.error, E'\n') FROM _tiered_storage.moves m
							WHERE m.state <> 'done'));
		END IF;
		COMMIT;
		PERFORM pg_sleep(0.3);
	END LOOP;
	-- The policies' own account is that of their last evaluation.
	WHILE NOT (SELECT bool_and(last_on_target > 0) FROM _tiered_storage.policies) LOOP
		IF clock_timestamp() > changed + interval '30 s' THEN
			RAISE EXCEPTION 'the worker has not evaluated the policies again';
		END IF;
		COMMIT;
		PERFORM pg_sleep(0.3);
	END LOOP;
END
$$;

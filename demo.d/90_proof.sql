-- Is everything where it belongs, and whole?
\set ECHO none
/* One snapshot for all, since the last transactions of the load may still be committing. */
BEGIN ISOLATION LEVEL REPEATABLE READ;
DO $$
BEGIN
	IF EXISTS (SELECT FROM cold WHERE NOT on_slow) THEN
		RAISE EXCEPTION 'left behind on the SSD: %', (SELECT string_agg(relation::text, ', ') FROM cold WHERE NOT on_slow);
	END IF;
	IF EXISTS (SELECT FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace
			WHERE s.spcname = 'slow' AND c.oid NOT IN (SELECT oid FROM cold)) THEN
		RAISE EXCEPTION 'moved, but younger than two years: %', (SELECT string_agg(c.oid::regclass::text, ', ')
			FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace
			WHERE s.spcname = 'slow' AND c.oid NOT IN (SELECT oid FROM cold));
	END IF;
	RAISE NOTICE 'every index is where its table is, and nothing younger was moved';
	IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'amcheck') THEN
		CREATE EXTENSION amcheck;
		PERFORM bt_index_check(oid, true) FROM cold WHERE relkind = 'i';
		RAISE NOTICE 'amcheck: % moved indexes are sound and complete', (SELECT count(*) FROM cold WHERE relkind = 'i');
	END IF;
	IF (SELECT sum(abalance) FROM pgbench_accounts) <> (SELECT sum(bbalance) FROM pgbench_branches)
		OR (SELECT sum(tbalance) FROM pgbench_tellers) <> (SELECT sum(delta) FROM pgbench_history)
		OR (SELECT sum(tbalance) FROM pgbench_tellers) <> (SELECT sum(abalance) FROM pgbench_accounts) THEN
		RAISE EXCEPTION 'pgbench''s accounts do not balance';
	END IF;
	RAISE NOTICE 'pgbench''s accounts balance';
END
$$;
COMMIT;

-- Is everything where it belongs, and whole?
\set ECHO none
/* One snapshot for all: the last transactions of the load may still be committing. */
BEGIN ISOLATION LEVEL REPEATABLE READ;
DO $$
DECLARE
	relations text;
BEGIN
	SELECT string_agg(relation::text, ', ') INTO relations FROM cold WHERE NOT on_slow;
	IF relations IS NOT NULL THEN
		RAISE EXCEPTION 'left behind on the SSD: %', relations;
	END IF;
	SELECT string_agg(c.oid::regclass::text, ', ') INTO relations
		FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace
		WHERE s.spcname = 'slow' AND c.oid NOT IN (SELECT oid FROM cold);
	IF relations IS NOT NULL THEN
		RAISE EXCEPTION 'moved, but younger than two years: %', relations;
	END IF;
	RAISE NOTICE 'every index is where its table is, and nothing younger was moved';
	IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'amcheck') THEN
		CREATE EXTENSION amcheck;
		PERFORM bt_index_check(oid, true) FROM cold WHERE relkind = 'i';
		RAISE NOTICE 'amcheck: % moved indexes are sound and complete',
			(SELECT count(*) FROM cold WHERE relkind = 'i');
	END IF;
	IF (SELECT count(DISTINCT total) FROM (
			SELECT sum(abalance) FROM pgbench_accounts UNION ALL
			SELECT sum(bbalance) FROM pgbench_branches UNION ALL
			SELECT sum(tbalance) FROM pgbench_tellers UNION ALL
			SELECT sum(delta) FROM pgbench_history) s (total)) <> 1 THEN
		RAISE EXCEPTION 'pgbench''s accounts do not balance';
	END IF;
	RAISE NOTICE 'pgbench''s accounts balance';
END
$$;
COMMIT;

-- The data: TPC-H, orders and their lines by month, and pgbench
SELECT p.oid::regclass AS table, sum(c.reltuples)::bigint AS rows,
       pg_size_pretty(sum(pg_total_relation_size(c.oid))) AS size, count(*) AS partitions
FROM pg_class p JOIN pg_inherits i ON i.inhparent = p.oid JOIN pg_class c ON c.oid = i.inhrelid
WHERE p.relkind = 'p' GROUP BY p.oid ORDER BY 1;
SELECT pg_size_pretty(pg_database_size(current_database())) AS all_of_it;
\set ECHO none
/*
 * What has to move in the end, worked out without the extension: partitions that by their
 * names ended two years before the newest one did, their indexes and their TOAST tables.
 */
CREATE VIEW cold AS
	SELECT c.oid, c.oid::regclass AS relation, c.relkind,
			COALESCE(s.spcname = 'slow', false) AS on_slow
		FROM (VALUES ('lineitem'::regclass, date '1996-12-01'),
			('orders', '1996-08-01')) p (parent, last)
		JOIN pg_inherits i ON i.inhparent = p.parent
		JOIN pg_class part ON part.oid = i.inhrelid
		JOIN pg_class c ON c.oid IN (part.oid, part.reltoastrelid)
			OR c.oid IN (SELECT x.indexrelid FROM pg_index x
				WHERE x.indrelid IN (part.oid, part.reltoastrelid))
		LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
		WHERE to_date(substring(part.relname FROM '\d{4}m\d\d$'), 'YYYY"m"MM')
			<= p.last;
/* What loading did is not what these tables are used for. */
SELECT pg_stat_reset() \gset ignored_

-- One line for each table: its rows, and a checksum that does not depend on their order.
SELECT format('SELECT %L AS name, count(*) AS rows, sum(hash_record_extended(t, 0)::numeric) '
		'AS checksum FROM %s t', c.relname, c.oid::regclass)
	FROM pg_class c
	WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
		AND c.relname IN ('region', 'nation', 'part', 'supplier', 'partsupp', 'customer',
			'orders', 'lineitem')
	ORDER BY c.reltuples DESC
\gexec

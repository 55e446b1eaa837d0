---------------------------------------------------------------------------
-- From 0.1.0.
---------------------------------------------------------------------------

/*
 * 0.1.0 knew partitioned relations that a restore brought by their name alone.  Rows of this
 * database are of this table, as they were of the one that it replaces; their owner is the
 * relation's, who could have changed since, but then 0.1.0 would not have seen that either.
 */
INSERT INTO _tiered_storage_before.new_value (table_name, column_name, expression) VALUES
	('relation_state', 'standby_sequential_fast', '0'),
	-- The next sample looks.
	('relation_state', 'maps_bytes', '-1'),
	('relation_state', 'heap_oid', '0'),
	('move', 'costly_failures', 'x.failures'),
	('relation_state', 'name_hash', '0'),
	('partition_default', 'store_oid',
		'CASE WHEN x.database_oid OPERATOR(pg_catalog.=) (SELECT d.oid FROM '
		'pg_catalog.pg_database d WHERE d.datname '
		'OPERATOR(pg_catalog.=) pg_catalog.current_database()) THEN '
		'''_tiered_storage.partition_default''::pg_catalog.regclass::pg_catalog.oid '
		'ELSE x.tableoid END'),
	('partition_default', 'owner_oid',
		'COALESCE((SELECT c.relowner FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n '
		'ON n.oid OPERATOR(pg_catalog.=) c.relnamespace WHERE n.nspname '
		'OPERATOR(pg_catalog.=) x.schema_name AND c.relname '
		'OPERATOR(pg_catalog.=) x.relation_name), 0)'),
	('partition_default', 'owner_name',
		'COALESCE((SELECT pg_catalog.pg_get_userbyid(c.relowner) FROM pg_catalog.pg_class c '
		'JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace WHERE '
		'n.nspname OPERATOR(pg_catalog.=) x.schema_name AND c.relname '
		'OPERATOR(pg_catalog.=) x.relation_name), '''')');

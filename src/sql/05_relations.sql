---------------------------------------------------------------------------
-- Relations, as the server's cache has them.
---------------------------------------------------------------------------

/*
 * The row of a relation in pg_class, without a query on it; no row: it does not exist.
 *
 * Views and statements of ours use these, and not pg_class: another extension may rewrite
 * queries on it (Citus hides shards from them).
 */
CREATE FUNCTION _tiered_storage.relation_entry(
	relation oid, OUT oid oid, OUT nspname name, OUT relname name, OUT relkind "char",
	OUT relpersistence "char", OUT relowner oid, OUT reltablespace oid, OUT relfilenode oid,
	OUT reltoastrelid oid, OUT relpages integer, OUT relallvisible integer)
RETURNS SETOF record
LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 1
AS 'MODULE_PATHNAME', 'tier_relation_entry';

/* The same for a relation by its schema and name. */
CREATE FUNCTION _tiered_storage.relation_entry(
	schema_name name, relation_name name, OUT oid oid, OUT nspname name, OUT relname name,
	OUT relkind "char", OUT relpersistence "char", OUT relowner oid, OUT reltablespace oid,
	OUT relfilenode oid, OUT reltoastrelid oid, OUT relpages integer, OUT relallvisible integer)
RETURNS SETOF record
LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 1
AS 'MODULE_PATHNAME', 'tier_relation_entry_named';

/* Relpersistence of a relation; null: it does not exist. */
CREATE FUNCTION _tiered_storage.relation_persistence(relation oid)
RETURNS "char"
LANGUAGE C STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_relation_persistence';

/* What it takes with its TOAST table, by its files, without a lock; null: it does not exist. */
CREATE FUNCTION _tiered_storage.relation_bytes(relation oid)
RETURNS bigint
LANGUAGE C VOLATILE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_relation_bytes';

/*
 * By which an index is found again once it has been rebuilt as another relation; one row, of
 * nulls for what is no index.
 */
CREATE FUNCTION _tiered_storage.index_identity(
	relation oid, OUT table_oid oid, OUT index_name name, OUT definition_hash bigint,
	OUT other_indexes oid[])
RETURNS SETOF record
LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 1
AS 'MODULE_PATHNAME', 'tier_index_identity';

/*
 * The distributed or reference table of Citus that a shard, or an index or TOAST table
 * of one, is a part of; null: it is no shard.
 */
CREATE FUNCTION _tiered_storage.distributed_table(relation regclass)
RETURNS regclass
LANGUAGE C STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_distributed_table';

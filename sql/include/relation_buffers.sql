-- How the library counts the blocks of each file of this database in shared buffers: the extension
-- needs only the sums that samples store.
CREATE FUNCTION pg_temp.relation_buffers(
	OUT tablespace_oid oid, OUT file_number oid,
	OUT cached_buffers bigint, OUT dirty_buffers bigint, OUT usage_sum bigint,
	OUT standard_error float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS '$libdir/tiered_storage', 'tier_relation_buffers';

---------------------------------------------------------------------------
-- The script as it is printed.
---------------------------------------------------------------------------

/* The template has @ instead of backslashes: what they mean in a literal depends on settings. */
CREATE FUNCTION tiered_storage.partitioning_script(
	relation regclass, key_column name, step text, tier name DEFAULT NULL, bound text DEFAULT NULL)
RETURNS text LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	obstacles text := (SELECT string_agg(o, '; ')
		FROM _tiered_storage.partition_obstacles(relation, key_column) o);
	body text;
BEGIN
	IF obstacles IS NOT NULL THEN
		PERFORM _tiered_storage.refuse('object_not_in_prerequisite_state',
			format('table %s cannot be partitioned without rewriting it', relation), obstacles);
	END IF;
	SELECT b.lower INTO bound
		FROM _tiered_storage.partition_bounds(relation, key_column, step, bound) b LIMIT 1;
	IF bound IS NULL THEN
		PERFORM _tiered_storage.refuse('object_not_in_prerequisite_state',
			'no bound is known for the rows of the table', NULL, 'Analyze it, or give a bound.');
	END IF;
	body := _tiered_storage.partition_switch(relation, key_column, step, bound);
	RETURN format(replace($script$-- Partitions a table without rewriting it.
-- Read it, then: psql -X -f FILE
-- Each step is done or not done.  After an error or an interruption run it again.
-- It waits at most 1 s for a lock, and in a deadlock it is the one that fails.
-- To undo it after any step: psql -X -v undo=1 -f FILE
@set ON_ERROR_STOP on
%1$s
SELECT relkind = 'p' AS switched FROM pg_class WHERE oid = %2$L::regclass @gset
@if :{?undo}
@if :switched
-- Undo of 4.  ACCESS EXCLUSIVE on all of it, while the rows of the new partitions are copied back.
-- Privileges, indexes, triggers and the like that were added to it since then are lost.
%3$s
COMMIT;
@else
-- Undo of 2 and 3.  ACCESS EXCLUSIVE, for milliseconds.
ALTER TABLE %2$s DROP CONSTRAINT IF EXISTS tiered_storage_bound;
@endif
@else
@if :switched
@else
-- 1. Do all rows fit?  ACCESS SHARE, while the table, or an index with the column, is read.
DO %4$L;
-- 2. Rows without a key, or from the bound on, are refused from here to 4.
-- ACCESS EXCLUSIVE, for milliseconds.  Undo: drop the constraint.
ALTER TABLE %2$s DROP CONSTRAINT IF EXISTS tiered_storage_bound,
ADD CONSTRAINT tiered_storage_bound CHECK (%5$I IS NOT NULL AND %5$I < %6$L) NOT VALID;
-- 3. SHARE UPDATE EXCLUSIVE, while the table is read once: others read and write it.
ALTER TABLE %2$s VALIDATE CONSTRAINT tiered_storage_bound;
-- 4. The switch, in one transaction that reads no row.  ACCESS EXCLUSIVE on the table and its
-- views, SHARE ROW EXCLUSIVE on tables that it references, for well under a second.
-- From here on a BEFORE ROW trigger must not change the partition of a row.
%7$s
DO %8$L;
%9$s
COMMIT;
@endif
-- 5. Statistics of the whole.  SHARE UPDATE EXCLUSIVE, while a sample is read.
ANALYZE %2$s;
-- 6. The policy.  Undo: tiered_storage.remove_policy().
%10$s
-- Create later partitions in time, as above.  Rows beyond the last one go to the default
-- partition, and keep a partition for them from being created.
@endif
$script$, '@', E'\\'), (SELECT string_agg(format('SET %I = %L;', name, setting), E'\n') FROM (
			SELECT name, setting FROM pg_settings WHERE name = ANY ('{client_encoding,DateStyle,
				IntervalStyle,TimeZone,bytea_output,extra_float_digits,quote_all_identifiers}')
			UNION ALL VALUES ('search_path', ''), ('lock_timeout', '1s'),
				('deadlock_timeout', '100ms')) s), relation,
		(SELECT string_agg(u, E'\n') FROM _tiered_storage.partition_undo(relation) u),
		format('BEGIN IF EXISTS (SELECT FROM %s WHERE %I IS NULL OR %2$I >= %L) THEN '
			'RAISE EXCEPTION ''rows have no key, or one from the bound on''; END IF; END',
			relation, key_column, bound), key_column, bound,
		_tiered_storage.partition_locks(relation),
		format('BEGIN IF md5(_tiered_storage.partition_switch(%L::regclass, %L, %L, %L)) <> %L '
			'THEN RAISE EXCEPTION ''the table was changed: print the script again''; END IF; END',
			relation, key_column, step, bound, md5(body)), body,
		CASE WHEN tier IS NOT NULL THEN format('SELECT tiered_storage.add_tiering_policy(%L, %s, '
			'tier => %L, if_not_exists => true);', relation, CASE WHEN step ~ '^[0-9]+$'
			THEN 'idle_for => ''30 days'''
			ELSE format('move_after => %L', 3 * step::interval) END, tier) END);
END
$$;
COMMENT ON FUNCTION tiered_storage.partitioning_script IS
'prints a script for psql that partitions a table without rewriting it, and undoes that';

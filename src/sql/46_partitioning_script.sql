---------------------------------------------------------------------------
-- The script as it is printed.
---------------------------------------------------------------------------

/*
 * What the script begins with: expressions of the table, and of who can put another into its
 * place, run with the rights of all roles that the session has or can go back to.
 */
CREATE FUNCTION _tiered_storage.partition_owner_check(relation regclass) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
	SELECT format($check$BEGIN
IF NOT EXISTS (SELECT FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
	WHERE c.oid = %1$s AND c.relkind = 'r' AND COALESCE(i.inhparent, c.oid) = %2$L::regclass) THEN
	RAISE EXCEPTION 'the table of the script does not exist: print the script again';
END IF;
IF (SELECT bool_and(pg_has_role(u.oid, 'pg_monitor', 'USAGE')
		AND (u.oid = o.oid OR u.rolsuper AND o.rolsuper) AND (s.oid = o.oid OR s.rolsuper))
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	JOIN pg_database d ON d.datname = current_database()
	JOIN pg_roles o ON o.oid = c.relowner JOIN pg_roles s ON s.oid = CASE n.nspowner
		WHEN 'pg_database_owner'::regrole THEN d.datdba ELSE n.nspowner END
	JOIN pg_roles u ON u.rolname = session_user
		OR u.oid = (SELECT usesysid FROM pg_stat_activity WHERE pid = pg_backend_pid())
	WHERE c.oid IN (%1$s, %2$L::regclass)) IS NOT TRUE THEN
	RAISE EXCEPTION 'must be logged in as the owner of the table and be a member of pg_monitor'
		USING HINT = 'The schema must belong to the owner of the table or to a superuser.';
END IF;
PERFORM pg_advisory_lock(hashtextextended('tiered_storage', %1$s)); -- One script at a time.
COMMIT; -- In a transaction this fails: each step has to release its locks.
END$check$, relation::oid, relation)
$$;

/* The template has @ instead of backslashes: what they mean in a literal depends on settings. */
CREATE FUNCTION tiered_storage.partitioning_script(
	relation regclass, key_column name, step text, tier name DEFAULT NULL, bound text DEFAULT NULL)
RETURNS text LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	undo text := (SELECT string_agg(u, E'\n') FROM _tiered_storage.partition_undo(relation) u);
	body text;
	policy text;
BEGIN
	PERFORM _tiered_storage.refuse('invalid_parameter_value',
			'"relation", "key_column" and "step" must not be null')
		WHERE num_nulls(relation, key_column, step) > 0;
	PERFORM _tiered_storage.refuse('object_not_in_prerequisite_state',
			format('table %s cannot be partitioned without rewriting it', relation),
			string_agg(o, '; ' ORDER BY o COLLATE "C"))
		FROM _tiered_storage.partition_obstacles(relation, key_column) o HAVING count(*) > 0;
	SELECT b.lower INTO bound
		FROM _tiered_storage.partition_bounds(relation, key_column, step, bound) b LIMIT 1;
	PERFORM _tiered_storage.refuse('object_not_in_prerequisite_state',
			'no bound is known for the rows of the table', NULL, 'Analyze it, or give a bound.')
		WHERE bound IS NULL;
	body := _tiered_storage.partition_switch(relation, key_column, step, bound);
	PERFORM _tiered_storage.refuse('object_not_in_prerequisite_state',
			format('psql would replace %s of table %s (rename that column)', m[1], relation))
		FROM regexp_matches(undo || body, '[^:](:"[A-Z0-9_]+")') m;
	policy := CASE WHEN tier IS NULL THEN 'None: the call names no slower tier.'
		ELSE format('SELECT tiered_storage.add_tiering_policy(%L, %s, tier => %L, '
		'if_not_exists => true);', relation, CASE WHEN step ~ '^[0-9]+$' THEN
		'idle_for => ''30 days''' ELSE format('move_after => %L', 3 * step::interval) END, tier)
		END;
	RETURN format(replace($script$-- Partitions a table without rewriting it.
-- Read it, then log in as the owner, a member of pg_monitor: psql -X -U OWNER -f FILE
-- Each step is done or not done.  After an error or an interruption run it again.  It waits at
-- most 0.5 s for each lock, so that in a deadlock, or while the table is vacuumed, it fails.
-- To undo it after any step, as long as no row is in a new partition:
-- psql -X -U OWNER -v tiered_storage_undo=1 -f FILE
-- What changes: a trigger's TG_TABLE_NAME and tableoid are those of a partition, COPY table TO
-- fails before PostgreSQL 19, and an UPDATE of the key may be a DELETE and an INSERT.  The old
-- table keeps its privileges and policies: change them there too.
@set ON_ERROR_STOP on
%1$s
DO %11$L;
SELECT NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = %12$s) AS tiered_storage_whole,
NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = %12$s AND conname = 'tiered_storage_bound'
	AND obj_description(oid, 'pg_constraint') = %6$L) AS tiered_storage_unread @gset
@if :{?tiered_storage_undo}
@if :tiered_storage_whole
-- Undo of 2 and 3.  ACCESS EXCLUSIVE, for milliseconds.
ALTER TABLE %2$s DROP CONSTRAINT IF EXISTS tiered_storage_bound;
@else
-- Undo of 4.  ACCESS EXCLUSIVE on all of it, for at most a second.  Views, triggers, identities
-- and privileges become what they were when this was printed; what was added since is lost.
%3$s
COMMIT;
@endif
@else
@if :tiered_storage_whole
@if :tiered_storage_unread
-- 1. Do all rows fit?  ACCESS SHARE, while the table, or an index with the column, is read.
DO %4$L;
-- 2. Rows without a key, or from the bound on, are refused from here to 4.
-- ACCESS EXCLUSIVE, for milliseconds.  Undo: drop the constraint.
ALTER TABLE %2$s DROP CONSTRAINT IF EXISTS tiered_storage_bound,
ADD CONSTRAINT tiered_storage_bound CHECK (%5$I IS NOT NULL AND %5$I < %6$L) NOT VALID;
-- 3. SHARE UPDATE EXCLUSIVE, while the table is read once: others read and write it.
ALTER TABLE %2$s VALIDATE CONSTRAINT tiered_storage_bound;
COMMENT ON CONSTRAINT tiered_storage_bound ON %2$s IS %6$L;
@endif
-- 4. The switch, in one transaction that reads no row.  ACCESS EXCLUSIVE on the table and its
-- views, SHARE ROW EXCLUSIVE on tables that it references, for at most a second.
-- From here on a BEFORE ROW trigger must not change the partition of a row.
%7$s
DO %8$L;
%9$s
COMMIT;
@endif
-- 5. Statistics of the whole.  SHARE UPDATE EXCLUSIVE, while a sample is read.
ANALYZE %2$s;
-- 6. The policy, for an administrator.  Undo: tiered_storage.remove_policy().
%10$s
-- Create later partitions in time, as above.  Rows beyond the last one go to the default
-- partition, and keep a partition for them from being created.
@endif
$script$, '@', E'\\'), (SELECT string_agg(format('SET %I = %L;', name, setting), E'\n') FROM (
			SELECT name, setting FROM pg_settings WHERE name = ANY ('{client_encoding,DateStyle,
				IntervalStyle,TimeZone,array_nulls,bytea_output,extra_float_digits,lc_monetary,
				quote_all_identifiers,standard_conforming_strings}')
			UNION ALL SELECT 'role', pg_get_userbyid(relowner)
				FROM _tiered_storage.relation_entry(relation)
			UNION ALL VALUES ('search_path', ''), ('lock_timeout', '0.5s')) s), relation, undo,
		format('BEGIN IF EXISTS (SELECT FROM %1$s WHERE %2$I IS NULL OR %2$I >= %3$L) THEN '
			'RAISE EXCEPTION ''rows have a null key, or one at or above the bound''; END IF; END',
			relation, key_column, bound), key_column, bound,
		_tiered_storage.partition_locks(relation),
		format('BEGIN IF %1$L::regclass <> %6$s '
			'OR EXISTS (SELECT FROM _tiered_storage.partition_obstacles(%1$L::regclass, %2$L)) '
			'OR md5(_tiered_storage.partition_switch(%1$L::regclass, %2$L, %3$L, %4$L)) <> %5$L '
			'THEN RAISE EXCEPTION ''the table was changed: print the script again''; END IF; END',
			relation, key_column, step, bound, md5(body), relation::oid), body,
		/* A name can end the comment. */
		CASE WHEN policy !~ E'[\n\r]' THEN '-- ' || policy END,
		_tiered_storage.partition_owner_check(relation), relation::oid);
END
$$;
COMMENT ON FUNCTION tiered_storage.partitioning_script IS
'prints a script for psql that partitions a table without rewriting it, and undoes that';

---------------------------------------------------------------------------
-- Writes of our tables that are not ours: of another server, and by other roles.
---------------------------------------------------------------------------

/*
 * The first publication FOR ALL TABLES with a table of the extension; null: there is none.
 *
 * The tables of such a publication that pg_publication_rel lists are those that it excepts.
 */
CREATE FUNCTION _tiered_storage.publication_of_all() RETURNS name
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT min(p.pubname::text)::name FROM pg_publication p
	WHERE p.puballtables AND EXISTS (SELECT FROM pg_class c
		WHERE c.relnamespace = '_tiered_storage'::regnamespace AND c.relkind = 'r'
			AND c.relpersistence = 'p'
			AND NOT EXISTS (SELECT FROM pg_publication_rel r
				WHERE r.prpubid = p.oid AND r.prrelid = c.oid))
$$;

/*
 * Trigger: ignores rows that logical replication brings, because they describe the storage of
 * another server.
 *
 * Rows of a publisher describe its storage, not that of the subscriber.  It fires always, because
 * a trigger of others can change session_replication_role of an apply worker.
 */
CREATE FUNCTION _tiered_storage.ignore_replicated() RETURNS trigger
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_ignore_replicated';

/*
 * Trigger: refuses statements of roles other than the owner and superusers.
 *
 * pg_write_all_data may write each table, but what is written here names roles in whose name
 * something is moved.
 */
CREATE FUNCTION _tiered_storage.refuse_other_roles() RETURNS trigger
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_refuse_other_roles';

DO $$
DECLARE
	t record;
BEGIN
	FOR t IN SELECT c.relname, c.relkind FROM pg_catalog.pg_class c
		WHERE c.relnamespace OPERATOR(pg_catalog.=) '_tiered_storage'::pg_catalog.regnamespace
			AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p}'::pg_catalog."char"[])
		ORDER BY c.relname
	LOOP
		EXECUTE pg_catalog.format('CREATE TRIGGER refuse_other_roles BEFORE INSERT OR UPDATE OR '
			'DELETE OR TRUNCATE ON _tiered_storage.%I '
			'EXECUTE FUNCTION _tiered_storage.refuse_other_roles()', t.relname);
		EXECUTE pg_catalog.format('ALTER TABLE _tiered_storage.%I ENABLE ALWAYS TRIGGER '
			'refuse_other_roles', t.relname);
		CONTINUE WHEN t.relkind OPERATOR(pg_catalog.=) 'p';
		EXECUTE pg_catalog.format('CREATE TRIGGER ignore_replicated BEFORE INSERT OR UPDATE OR '
			'DELETE ON _tiered_storage.%I '
			'FOR EACH ROW EXECUTE FUNCTION _tiered_storage.ignore_replicated()', t.relname);
		EXECUTE pg_catalog.format('ALTER TABLE _tiered_storage.%I ENABLE ALWAYS TRIGGER '
			'ignore_replicated', t.relname);
	END LOOP;
	IF _tiered_storage.publication_of_all() IS NOT NULL THEN
		RAISE WARNING 'a publication FOR ALL TABLES includes the tables of tiered_storage'
			USING DETAIL = 'Replication to a subscriber that does not have the extension stops at '
				'the next sample.',
				HINT = 'Run CREATE EXTENSION tiered_storage on each subscriber: it ignores these '
					'rows, and replication goes on. Or publish FOR TABLES IN SCHEMA, or from '
					'PostgreSQL 19 on FOR ALL TABLES EXCEPT.';
	END IF;
END
$$;

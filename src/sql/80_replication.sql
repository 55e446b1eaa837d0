---------------------------------------------------------------------------
-- Logical replication must not bring rows of another server.
---------------------------------------------------------------------------

/*
 * Trigger: ignores rows that logical replication brings, because they describe the storage of
 * another server.
 *
 * Rows of a publisher describe its storage, not that of the subscriber.  The trigger fires
 * only while session_replication_role is replica, as in an apply worker; other sessions do
 * not pay for it.
 */
CREATE FUNCTION _tiered_storage.ignore_replicated() RETURNS trigger
LANGUAGE C AS 'MODULE_PATHNAME', 'tier_ignore_replicated';

DO $$
DECLARE
	t record;
BEGIN
	FOR t IN SELECT c.relname FROM pg_catalog.pg_class c
		WHERE c.relnamespace OPERATOR(pg_catalog.=) '_tiered_storage'::pg_catalog.regnamespace
			AND c.relkind OPERATOR(pg_catalog.=) 'r'
		ORDER BY c.relname
	LOOP
		EXECUTE pg_catalog.format('CREATE TRIGGER ignore_replicated BEFORE INSERT OR UPDATE OR '
			'DELETE ON _tiered_storage.%I '
			'FOR EACH ROW EXECUTE FUNCTION _tiered_storage.ignore_replicated()', t.relname);
		EXECUTE pg_catalog.format('ALTER TABLE _tiered_storage.%I ENABLE REPLICA TRIGGER '
			'ignore_replicated', t.relname);
	END LOOP;
	IF EXISTS (SELECT FROM pg_catalog.pg_publication p WHERE p.puballtables) THEN
		RAISE WARNING 'a publication FOR ALL TABLES includes the tables of tiered_storage'
			USING DETAIL = 'Replication to a subscriber that does not have the extension stops at '
				'the next sample.',
				HINT = 'Run CREATE EXTENSION tiered_storage on each subscriber: it ignores these '
					'rows, and replication goes on. Or publish FOR TABLES IN SCHEMA.';
	END IF;
END
$$;

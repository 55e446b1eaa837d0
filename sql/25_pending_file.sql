-- What is registered as unfinished, and is in use all the same, is not removed.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
CREATE TABLESPACE regress_pending LOCATION '';
CREATE TABLE live (id int PRIMARY KEY, v text) TABLESPACE regress_pending;
INSERT INTO live SELECT i, 'row ' || i FROM generate_series(1, 1000) i;
CREATE TABLE live_here AS SELECT * FROM live;
CREATE TABLE other (id int);
INSERT INTO other VALUES (1);
CREATE VIEW files AS SELECT c.relname, f.pid FROM _tiered_storage.move_file f
	LEFT JOIN pg_class c ON c.reltablespace = f.tablespace_oid AND c.relfilenode = f.file_number;
-- Any move sweeps, and this one has nothing else to do.
CREATE PROCEDURE sweep() LANGUAGE plpgsql AS $$
BEGIN
	CALL tiered_storage.move_relation('other', 'pg_default');
END
$$;
CREATE FUNCTION register(relation regclass, system_offset int8 DEFAULT 0) RETURNS void LANGUAGE sql AS $$
	-- Made up, since no call makes it in the time of a test: moves of another time, size or end.
	INSERT INTO _tiered_storage.move_file (tablespace_oid, file_number, relation_oid, pid, created_at,
		system_identifier)
	SELECT c.reltablespace, c.relfilenode, c.oid, pg_backend_pid(), now(), s.system_identifier + system_offset
	FROM pg_class c, pg_control_system() s WHERE c.oid = relation
$$;
\set ECHO all

-- In both kinds of tablespaces, whatever the process is said to be.
SELECT register('live'), register('live_here');
CALL sweep();
SELECT * FROM files;
SELECT count(*), count(DISTINCT v) FROM live;
SELECT count(*), count(DISTINCT v) FROM live_here;

-- Also with the snapshot of a transaction that began before the file was in use;
-- a sweep looks for itself.
SET default_transaction_isolation = 'repeatable read';
SELECT register('live');
CALL sweep();
RESET default_transaction_isolation;
SELECT * FROM files;
CHECKPOINT;
SELECT count(*), count(DISTINCT v) FROM live;

-- pg_upgrade brings entries along: the file of that number is somebody else's.
SELECT register('live', 1);
CALL sweep();
SELECT * FROM files;
SELECT count(*), count(DISTINCT v) FROM live;

-- A rule, a trigger and row security of others change nothing of what is found.
SELECT register('live');
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
CREATE TRIGGER refuse BEFORE INSERT OR DELETE ON _tiered_storage.move_file FOR EACH ROW EXECUTE FUNCTION refuse();
ALTER TABLE _tiered_storage.move_file ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CALL tiered_storage.move_relation('other', 'regress_pending');
CALL sweep();
SELECT count(*) FROM _tiered_storage.move_file;
SELECT count(*), count(DISTINCT v) FROM live;
ALTER TABLE _tiered_storage.move_file DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY;
DROP TRIGGER refuse ON _tiered_storage.move_file;

-- Nor does an index that an unfinished REINDEX CONCURRENTLY has left; any other one could run code.
CREATE UNIQUE INDEX remnant ON _tiered_storage.move_file (tablespace_oid, file_number);
CALL tiered_storage.move_relation('other', 'regress_pending');
UPDATE pg_index SET indisvalid = false WHERE indexrelid = '_tiered_storage.remnant'::regclass;
CALL tiered_storage.move_relation('other', 'regress_pending');
CALL sweep();
DROP INDEX _tiered_storage.remnant;

-- What nobody uses and does not exist any more is forgotten.
INSERT INTO _tiered_storage.move_file (tablespace_oid, file_number, relation_oid, pid, created_at, system_identifier)
SELECT t, 4294967290 + n, 1, 1, now(), system_identifier
FROM pg_control_system(), unnest(ARRAY[0, 4294967295]::oid[]) WITH ORDINALITY u (t, n);
CALL sweep();
SELECT count(*) FROM _tiered_storage.move_file;

\set ECHO none
CREATE TABLE turns (id int PRIMARY KEY) PARTITION BY RANGE (id);
SELECT format('CREATE TABLE turns_%s PARTITION OF turns FOR VALUES FROM (%s) TO (%s)', i, i, i + 1) FROM generate_series(1, 20) i
\gexec
INSERT INTO turns SELECT generate_series(1, 20);
CALL tiered_storage.move_relation('turns', 'regress_pending', include_indexes => false);
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT pg_stat_get_tuples_inserted('_tiered_storage.move_file'::regclass) AS before \gset
\set ECHO all
-- Two targets in turn: 20 tables, 20 indexes, and at most 9 files ahead, none of which is left.
CALL tiered_storage.move_relation('turns', 'pg_default', index_target => 'regress_pending');
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT pg_stat_get_tuples_inserted('_tiered_storage.move_file'::regclass) - :before BETWEEN 40 AND 49 AS few,
	(SELECT count(*) FROM _tiered_storage.move_file WHERE relation_oid = 0) AS ahead;
\set ECHO none
DROP TABLE turns;
-- Another table of that name is none of ours, wherever it is.
CREATE TABLE public.move_file (LIKE _tiered_storage.move_file INCLUDING INDEXES);
CREATE TABLE tiered_storage.move_file (LIKE _tiered_storage.move_file INCLUDING INDEXES);
CREATE TEMPORARY TABLE move_file (LIKE _tiered_storage.move_file INCLUDING INDEXES);
INSERT INTO public.move_file SELECT 0, 4294967295, 1, 1, now(), system_identifier FROM pg_control_system();
INSERT INTO tiered_storage.move_file SELECT * FROM public.move_file;
INSERT INTO pg_temp.move_file SELECT * FROM public.move_file;
SET search_path = pg_temp, tiered_storage, public;
\set ECHO all
CALL public.sweep();
RESET search_path;
SELECT (SELECT count(*) FROM public.move_file) AS public, (SELECT count(*) FROM tiered_storage.move_file) AS face,
	(SELECT count(*) FROM pg_temp.move_file) AS temporary;
\set ECHO none
DROP TABLE pg_temp.move_file, tiered_storage.move_file, public.move_file;

DROP FUNCTION refuse;
DROP VIEW files;
DROP PROCEDURE sweep;
DROP FUNCTION register;
DROP TABLE live, live_here, other;
SET client_min_messages = warning;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_pending;
\set ECHO all

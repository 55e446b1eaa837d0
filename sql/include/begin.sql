\set ECHO none
-- What tests begin with: the extension is there, nothing has been moved or sampled that a
-- worker is still busy with, there is no tier, and output is the same everywhere.
--
-- The path is that of the sources, also when the tests run from another folder:
--
--     \getenv abs_srcdir PG_ABS_SRCDIR
--     \i :abs_srcdir/sql/include/begin.sql
--
-- ECHO is none while this is read, so that expected files do not repeat it; the error of
-- a statement in here shows with this file's name and the number of its line.
\set SHOW_CONTEXT never
-- A row that changes changes one line of the expected file.
\pset format unaligned
\pset fieldsep ' | '
\pset footer off
SET timezone = 'UTC';
SET datestyle = 'ISO, MDY';
SET intervalstyle = 'postgres';
SET allow_in_place_tablespaces = true;
-- As long as a commit is not flushed, VACUUM sets no hint bits, and who reads the page later changes it.
SET synchronous_commit = on;
-- Neither that the library is not preloaded, nor how long each move has taken.
SET client_min_messages = error;
SET tiered_storage.log_moves = off;
CREATE EXTENSION tiered_storage;

-- If there is a worker, its first look at this database is over before we go on; the tiers
-- that it discovers differ from machine to machine.
DO $$
DECLARE
	give_up_at timestamptz := clock_timestamp() + interval '3 minutes';
BEGIN
	WHILE current_setting('shared_preload_libraries') ~ 'tiered_storage' AND
		((SELECT samples FROM _tiered_storage.sampler) < 2
			OR EXISTS (SELECT FROM _tiered_storage.worker_status() WHERE database_name = current_database()
				AND state IN ('starting', 'running')))
	LOOP
		IF clock_timestamp() > give_up_at THEN
			RAISE EXCEPTION 'the worker does not come';
		END IF;
		PERFORM pg_sleep(0.01);
	END LOOP;
	PERFORM tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
END
$$;
RESET client_min_messages;
\ir refused.sql
\set ECHO all

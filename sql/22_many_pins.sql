-- What a pin costs does not grow with the number of pins: counted in rows that are
-- read, in one transaction, catalogs included.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
SET client_min_messages = warning;
DO $$ BEGIN
	PERFORM tiered_storage.add_tier('regress_fast', '{pg_default}', profile => 'nvme', reserve_fraction => 0);
	FOR i IN 1..40 LOOP
		EXECUTE format('CREATE TABLE regress_pin_%s (id int PRIMARY KEY)', i);
	END LOOP;
END $$;
RESET client_min_messages;

CREATE FUNCTION pg_temp.rows_read() RETURNS bigint LANGUAGE sql AS $$
	SELECT sum(COALESCE(seq_tup_read, 0) + COALESCE(idx_tup_fetch, 0))::bigint FROM pg_stat_xact_all_tables
$$;
-- Rows read while the tables from .. to are pinned, or unpinned.
CREATE FUNCTION pg_temp.work(what text, from_table int, to_table int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	before bigint := pg_temp.rows_read();
BEGIN
	FOR i IN from_table..to_table LOOP
		EXECUTE format('SELECT tiered_storage.%I(%L)', what, format('regress_pin_%s', i));
	END LOOP;
	RETURN pg_temp.rows_read() - before;
END $$;

BEGIN;
SELECT pg_temp.work('pin', 1, 20) AS first_pins \gset
-- As many of others, which are nobody's business.
-- Made up, since no call makes it in the time of a test: rows as a dump or another machine has left them.
INSERT INTO _tiered_storage.pin SELECT (jsonb_populate_record(p, jsonb_build_object('pin_id', 1000 + i,
		'relation_oid', 'regress_pin_40'::regclass::oid::bigint + 100000 + i, 'relation_name',
			'regress_other_' || i))).*
	FROM _tiered_storage.pin p, generate_series(1, 5000) i WHERE p.relation_name = 'regress_pin_1';
ANALYZE _tiered_storage.pin;
\set ECHO all
SELECT pg_temp.work('pin', 21, 40) < 2 * :first_pins AS no_more_work_than_before;
-- Again, and no more.
SELECT pg_temp.work('pin', 1, 20) < 2 * :first_pins AS no_more_work_than_before;
SELECT pg_temp.work('unpin', 1, 20) < 2 * :first_pins AS no_more_work_than_before;
SELECT count(*) FROM _tiered_storage.pin;
\set ECHO none
ROLLBACK;

SET client_min_messages = warning;
DO $$ BEGIN
	FOR i IN 1..40 LOOP
		EXECUTE format('DROP TABLE regress_pin_%s', i);
	END LOOP;
END $$;
DROP EXTENSION tiered_storage;
\set ECHO all

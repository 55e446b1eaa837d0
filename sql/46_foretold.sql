-- What is planned comes true: the plan that is made, the one that a run stores and what it moves are the same, in the
-- same order.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
CREATE TABLESPACE regress_ts_1 LOCATION '';
CREATE TABLESPACE regress_ts_2 LOCATION '';
CREATE TABLESPACE regress_ts_3 LOCATION '';
SET client_min_messages = error;
SELECT tiered_storage.add_tier('regress_1', '{regress_ts_1}', profile => 'nvme', rank => 0, reserve_fraction => 0,
	device => '{"compressed": false}'),
	tiered_storage.add_tier('regress_2', '{regress_ts_2}', profile => 'sata_ssd', rank => 1, reserve_fraction => 0,
	device => '{"compressed": false}'),
	tiered_storage.add_tier('regress_3', '{regress_ts_3}', profile => 'hdd_7200', rank => 2, reserve_fraction => 0,
	device => '{"compressed": false}') \g /dev/null
SET tiered_storage.cooldown = 0;
SET tiered_storage.test_now = '2026-01-01 12:00:00+00';
SELECT setseed(0.27182) \g /dev/null
CREATE FUNCTION regress_any(n int) RETURNS int LANGUAGE sql VOLATILE AS 'SELECT 1 + floor(random() * n)::int';

-- Tables and partitions of any size, with an index or without, on any of two tiers, some of them pinned or such as
-- cannot be moved online.
CREATE PROCEDURE regress_tables() LANGUAGE plpgsql AS $$
DECLARE
	name text;
BEGIN
	FOR i IN 1..3 + regress_any(6) LOOP
		name := 'regress_o_' || i;
		EXECUTE format('CREATE %s TABLE %I (a int, t text) TABLESPACE regress_ts_%s', CASE
			WHEN regress_any(8) = 1 THEN 'UNLOGGED' ELSE '' END, name, regress_any(2));
		EXECUTE format('INSERT INTO %I SELECT n, repeat(''x'', 500) FROM generate_series(1, %s) n', name,
			20 * regress_any(20));
		IF regress_any(2) = 1 THEN
			EXECUTE format('CREATE INDEX %I ON %I (a) TABLESPACE regress_ts_%s', name || '_i', name, regress_any(2));
		END IF;
	END LOOP;
	CREATE TABLE regress_o (d date, t text) PARTITION BY RANGE (d);
	FOR year IN 2020..2020 + regress_any(4) LOOP
		EXECUTE format('CREATE TABLE regress_o_%s PARTITION OF regress_o FOR VALUES FROM (%L) TO (%L) TABLESPACE regress_ts_%s', year, year || '-01-01', year + 1 || '-01-01', regress_any(2));
		EXECUTE format('INSERT INTO regress_o SELECT %L::date, repeat(''x'', 500) FROM generate_series(1, %s)',
			year || '-02-02', 20 * regress_any(20));
		IF regress_any(4) = 1 THEN
			EXECUTE format('ALTER TABLE regress_o_%s SET UNLOGGED', year);
		END IF;
	END LOOP;
	PERFORM tiered_storage.pin(c.oid, ('regress_' || regress_any(3))::name, include_indexes => regress_any(2) = 1)
		FROM pg_class c WHERE c.relname ~ '^regress_o_' AND c.relkind = 'r' AND regress_any(8) = 1;
END
$$;

-- Tiers that are too full or not, a window with bytes to spare or none, and a limit for what returns.
CREATE PROCEDURE regress_rules() LANGUAGE plpgsql AS $$
DECLARE
	n int := regress_any(3);
BEGIN
	PERFORM tiered_storage.alter_tier('regress_1', high_watermark => 0.5 + 0.1 * regress_any(4), low_watermark => 0.1 * regress_any(4),
	device => jsonb_build_object('capacity_bytes', 100000 * regress_any(20))),
		tiered_storage.alter_tier('regress_2', high_watermark => 0.5 + 0.1 * regress_any(4), low_watermark => 0.1 * regress_any(4),
	device => jsonb_build_object('capacity_bytes', 100000 * regress_any(20))),
		tiered_storage.alter_tier('regress_3',
	device => jsonb_build_object('capacity_bytes', 100000 * (10 + regress_any(30))));
	IF regress_any(5) > 1 THEN
		PERFORM tiered_storage.add_fullness_policy('regress_1', ('regress_' || 1 + regress_any(2))::name);
	END IF;
	IF regress_any(3) > 1 THEN
		PERFORM tiered_storage.add_fullness_policy('regress_2', 'regress_3');
	END IF;
	FOR i IN 1..regress_any(3) - 1 LOOP
		PERFORM tiered_storage.add_tiering_policy('regress_o', 365 * regress_any(6) * interval '1 day',
			('regress_' || 1 + regress_any(2))::name, if_not_exists => true);
	END LOOP;
	IF n > 1 THEN
		PERFORM tiered_storage.add_move_window('regress_w', NULL, '00:00', CASE n WHEN 2 THEN time '24:00'
			ELSE '06:00' END, max_bytes => 50000 * regress_any(20));
	END IF;
END
$$;

CREATE VIEW regress_queue AS SELECT q.place, q.relation::text AS relation, q.to_tier::text AS tier
	FROM _tiered_storage.plan_moves() q
	WHERE q.state = 'ready' OR q.reason ~ '^waiting for CALL tiered_storage.migrate';
CREATE VIEW regress_moved AS SELECT m.move_id AS place, m.relation, m.to_tier::text AS tier FROM _tiered_storage.moves m
	WHERE m.state = 'done';
CREATE TABLE regress_rounds (round int, said text[], stored text[], moved text[], waiting bigint);
CREATE PROCEDURE regress_rounds(n int) LANGUAGE plpgsql AS $$
DECLARE
	said text[];
	waiting bigint;
BEGIN
	FOR round IN 1..n LOOP
		CALL regress_tables();
		CALL regress_rules();
		COMMIT;
		CALL tiered_storage.sample();
		-- Made up, since no call makes it in the time of a test: an empty record of moves.
		DELETE FROM _tiered_storage.move;
		SELECT array_agg(concat(relation, ' to ', tier) ORDER BY place) INTO said FROM regress_queue;
		SELECT count(*) INTO waiting FROM _tiered_storage.plan_moves() q
			WHERE q.reason !~ '^waiting for CALL tiered_storage.migrate';
		COMMIT;
		CALL tiered_storage.migrate();
		INSERT INTO regress_rounds SELECT round, said, (SELECT array_agg(concat(relation_oid::regclass, ' to ', to_tier)
			ORDER BY place) FROM _tiered_storage.planned_move WHERE waits_for IS NULL),
			(SELECT array_agg(concat(replace(relation, 'public.', ''), ' to ', tier) ORDER BY place) FROM regress_moved),
			waiting;
		PERFORM tiered_storage.unpin(p.relation) FROM _tiered_storage.pins p JOIN pg_class c ON c.oid = p.relation
			WHERE c.relkind = 'r';
		PERFORM tiered_storage.unpin(relation) FROM _tiered_storage.pins;
		EXECUTE (SELECT 'DROP TABLE ' || string_agg(format('%I', relname), ', ') FROM pg_class
			WHERE relname ~ '^regress_o(_[0-9]{1,2})?$' AND relkind IN ('r', 'p'));
		PERFORM tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.policies;
		PERFORM tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.fullness_policies;
		PERFORM tiered_storage.remove_move_window(window_name) FROM _tiered_storage.move_windows;
		COMMIT;
	END LOOP;
END
$$;
CALL regress_rounds(25);
\set ECHO all
SELECT count(*) AS rounds, sum(cardinality(said)) > 25 AS "there was something to move", sum(waiting) > 10
	AS "and what has to wait" FROM regress_rounds;
SELECT round, said, stored, moved FROM regress_rounds WHERE said IS DISTINCT FROM moved OR stored IS DISTINCT FROM said;
\set ECHO none
DROP TABLE regress_rounds;
DROP VIEW regress_queue, regress_moved;
DROP PROCEDURE regress_rounds, regress_rules, regress_tables;
DROP FUNCTION regress_any;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_1;
DROP TABLESPACE regress_ts_2;
DROP TABLESPACE regress_ts_3;
\set ECHO all

-- One policy decides for each relation: what migrate() has moved it does not move again.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
CREATE TABLESPACE regress_ts_1 LOCATION '';
CREATE TABLESPACE regress_ts_2 LOCATION '';
CREATE TABLESPACE regress_ts_3 LOCATION '';
CREATE TABLESPACE regress_ts_4 LOCATION '';
SET client_min_messages = warning;
-- Two tiers of one rank: they are ordered by name.
SELECT tiered_storage.add_tier('regress_1', '{regress_ts_1}', profile => 'nvme', rank => 0, reserve_fraction => 0,
	device => '{"compressed": false}'),
	tiered_storage.add_tier('regress_2', '{regress_ts_2}', profile => 'sata_ssd', rank => 1, reserve_fraction => 0,
	device => '{"compressed": false}'),
	tiered_storage.add_tier('regress_3', '{regress_ts_3}', profile => 'hdd_7200', rank => 2, reserve_fraction => 0,
	device => '{"compressed": false}'),
	tiered_storage.add_tier('regress_4', '{regress_ts_4}', profile => 'hdd_7200', rank => 2, reserve_fraction => 0,
	device => '{"compressed": false}') \g /dev/null
SET tiered_storage.log_moves = off;
SET tiered_storage.test_now = '2026-01-01 00:00:00+00';
CREATE VIEW regress_f_places AS
	SELECT c.relname, c.relkind, right(t.tier_name, 1)::int AS place
	FROM pg_class c JOIN _tiered_storage.tier_tablespaces t ON t.tablespace_oid = c.reltablespace
		WHERE c.relname LIKE 'regress\_f\_%';
\set ECHO all

---------------------------------------------------------------------------
-- What went to and fro
---------------------------------------------------------------------------

CREATE TABLE regress_f (d date, a int) PARTITION BY RANGE (d);
CREATE TABLE regress_f_old PARTITION OF regress_f FOR VALUES
	FROM ('2020-01-01') TO ('2021-01-01') TABLESPACE regress_ts_1;
CREATE INDEX regress_f_old_i ON regress_f_old (a) TABLESPACE regress_ts_1;
SELECT tiered_storage.add_tiering_policy('regress_f', '30 days', 'regress_2'),
	tiered_storage.add_tiering_policy('regress_f', '365 days', 'regress_3') \g /dev/null

-- The table is pinned, its index is not.
SELECT tiered_storage.pin('regress_f_old', 'regress_1', include_indexes => false) \g /dev/null
CALL tiered_storage.migrate();
SELECT * FROM regress_f_places ORDER BY 1;
RESET client_min_messages;
CALL tiered_storage.migrate();
SELECT tiered_storage.unpin('regress_f_old') \g /dev/null

-- The stronger policy leaves indexes out: the other one decides for them.
SET client_min_messages = warning;
SELECT tiered_storage.alter_policy('regress_f', 'regress_3', changes => '{"include_indexes": false}') \g /dev/null
ALTER INDEX regress_f_old_i SET TABLESPACE regress_ts_1;
CALL tiered_storage.migrate();
SELECT * FROM regress_f_places ORDER BY 1;
RESET client_min_messages;
CALL tiered_storage.migrate();

-- An index on a slower tier than its policy's is not brought back.
ALTER INDEX regress_f_old_i SET TABLESPACE regress_ts_4;
CALL tiered_storage.migrate();
SELECT relation, from_tier, to_tier, verdict FROM _tiered_storage.evaluate_policies() ORDER BY to_tier;

-- Two tiers of one rank.
SET client_min_messages = warning;
SELECT tiered_storage.add_tiering_policy('regress_f', '400 days', 'regress_4') \g /dev/null
CALL tiered_storage.migrate();
SELECT * FROM regress_f_places ORDER BY 1;
RESET client_min_messages;
CALL tiered_storage.migrate();
DROP TABLE regress_f;
SELECT tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.policies \g /dev/null

-- A policy for an age brings a tier above the mark of its fullness policy, which sends on what
-- was there before, then, after the cooldown, what came: further down, and nothing back.
SET client_min_messages = warning;
SET tiered_storage.cooldown = 0;
CREATE TABLE regress_f (d date, t text) PARTITION BY RANGE (d);
SELECT format('CREATE TABLE regress_f_%s PARTITION OF regress_f FOR VALUES FROM (%L) TO (%L) TABLESPACE regress_ts_1',
	i, date '2020-01-01' + i, date '2020-01-02' + i) FROM generate_series(1, 6) i \gexec
INSERT INTO regress_f SELECT date '2020-01-01' + i, repeat('x', 1900)
	FROM generate_series(1, 6) i, generate_series(1, 100);
SELECT tiered_storage.add_tiering_policy('regress_f', '30 days', 'regress_2') AS age_id,
	tiered_storage.alter_tier('regress_2', high_watermark => 0.3, low_watermark => 0.15,
	device => '{"capacity_bytes": 4000000}') \gset
SELECT tiered_storage.add_fullness_policy('regress_2', 'regress_3') AS full_id \gset
CALL tiered_storage.migrate();
SELECT place, count(*) FROM regress_f_places WHERE relkind = 'r' GROUP BY 1;
CALL tiered_storage.migrate();
SELECT place, count(*) > 0 AS some FROM regress_f_places WHERE relkind = 'r' GROUP BY 1 ORDER BY 1;
SELECT max(move_id) AS last_id FROM _tiered_storage.moves \gset
CALL tiered_storage.migrate();
SELECT (SELECT count(*) FROM _tiered_storage.moves WHERE move_id > :last_id) AS more,
	(SELECT count(*) FROM _tiered_storage.moves WHERE relation LIKE 'regress_f%' AND from_tier >= to_tier) AS back;
SELECT tiered_storage.remove_policy(tier => 'regress_2'), tiered_storage.remove_policy(policy_id => :age_id),
	tiered_storage.alter_tier('regress_2', high_watermark => 0.9, low_watermark => 0.8,
	device => '{"capacity_bytes": null}') \g /dev/null
DROP TABLE regress_f;
RESET tiered_storage.cooldown;

---------------------------------------------------------------------------
-- The advice has what is younger
---------------------------------------------------------------------------

\set ECHO none
SET client_min_messages = warning;
SET tiered_storage.cooldown = 0;
SET tiered_storage.track_access = off;
CREATE TABLE regress_f (d date, a int) PARTITION BY RANGE (d);
CREATE TABLE regress_f_new PARTITION OF regress_f FOR VALUES
	FROM ('2026-01-01') TO ('2027-01-01') TABLESPACE regress_ts_3;
CREATE TABLE regress_f_moved PARTITION OF regress_f FOR VALUES
	FROM ('2020-01-01') TO ('2021-01-01') TABLESPACE regress_ts_3;
CREATE TABLE regress_f_slower PARTITION OF regress_f FOR VALUES
	FROM ('2021-01-01') TO ('2022-01-01') TABLESPACE regress_ts_4;
CREATE TABLE regress_f_due PARTITION OF regress_f FOR VALUES
	FROM ('2022-01-01') TO ('2023-01-01') TABLESPACE regress_ts_2;
CREATE TABLE regress_f_soon PARTITION OF regress_f FOR VALUES
	FROM ('2024-01-01') TO ('2025-01-15') TABLESPACE regress_ts_3;
INSERT INTO regress_f SELECT make_date(year, 2, 2), 1 FROM unnest('{2020,2021,2022,2024,2026}'::int[]) year;
SELECT tiered_storage.add_tiering_policy('regress_f', '365 days', 'regress_3') \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks; rows as a dump or
-- another machine has left them.
UPDATE _tiered_storage.relation_state SET heat_at = '2026-01-01', evidence_interval_s = 0,
	observed_since = '2020-01-01', sampled_since = '2020-01-01', proven_since = '2020-01-01',
	random_fast = 100000, random_slow = 100000, device_random_fast = 100000, device_random_slow = 100000
		WHERE relation_oid::regclass::text LIKE 'regress\_f\_%';
\set ECHO all
-- All are as hot.  What a policy has moved stays, what it will move does not go to where it would have to come back
-- from.
SELECT relation, current_tier, recommended_tier FROM tiered_storage.recommend_placement(true)
	WHERE relation::text LIKE 'regress\_f\_%' ORDER BY relation::text;
SELECT tier_name, left(reason, 60) AS reason FROM _tiered_storage.explain_placement('regress_f_due')
	WHERE tier_name IN ('regress_1', 'regress_4');
-- What will be due before the horizon ends, in which a move has to pay, stays, too.
SELECT relation, recommended_tier FROM tiered_storage.recommend_placement(true, horizon => '10 days')
	WHERE relation = 'regress_f_soon'::regclass;
-- A policy that is disabled is as if it were not there.
SELECT tiered_storage.alter_policy('regress_f', enabled => false) \g /dev/null
SELECT relation, current_tier, recommended_tier FROM tiered_storage.recommend_placement(true)
	WHERE relation::text LIKE 'regress\_f\_%' ORDER BY relation::text;
DROP TABLE regress_f;
SELECT tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.policies \g /dev/null

---------------------------------------------------------------------------
-- Whatever there is: the second time nothing is moved, and nothing has come to a faster tier
-- but what is read and returns
---------------------------------------------------------------------------

\set ECHO none
SET client_min_messages = warning;
SELECT setseed(0.31415) \g /dev/null
CREATE FUNCTION regress_any(n int) RETURNS int LANGUAGE sql VOLATILE AS 'SELECT 1 + floor(random() * n)::int';
CREATE PROCEDURE regress_tree() LANGUAGE plpgsql AS $$
DECLARE
	with_indexes boolean;
BEGIN
	CREATE TABLE regress_f (d date, e date, a int) PARTITION BY RANGE (d);
	IF regress_any(2) = 1 THEN
		CREATE INDEX regress_f_d ON regress_f (d);
	END IF;
	FOR year IN 2021 - regress_any(3)..2025 LOOP
		IF regress_any(4) = 1 THEN
			EXECUTE format('CREATE TABLE regress_f_%1$s PARTITION OF regress_f FOR VALUES FROM (%2$L) TO (%3$L) PARTITION BY RANGE (d)', year, year || '-01-01', year + 1 || '-01-01');
			EXECUTE format('CREATE TABLE regress_f_%1$s_a PARTITION OF regress_f_%1$s FOR VALUES FROM (%2$L) TO (%3$L) TABLESPACE regress_ts_%4$s', year, year || '-01-01', year || '-07-01', regress_any(4));
			EXECUTE format('CREATE TABLE regress_f_%1$s_b PARTITION OF regress_f_%1$s FOR VALUES FROM (%2$L) TO (%3$L) TABLESPACE regress_ts_%4$s', year, year || '-07-01', year + 1 || '-01-01', regress_any(4));
			EXECUTE format('CREATE INDEX regress_f_%1$s_i ON regress_f_%1$s_a (a) TABLESPACE regress_ts_%2$s', year,
				regress_any(4));
		ELSE
			EXECUTE format('CREATE TABLE regress_f_%1$s PARTITION OF regress_f FOR VALUES FROM (%2$L) TO (%3$L) TABLESPACE regress_ts_%4$s', year, year || '-01-01', year + 1 || '-01-01', regress_any(4));
			EXECUTE format('CREATE INDEX regress_f_%1$s_i ON regress_f_%1$s (a) TABLESPACE regress_ts_%2$s', year,
				regress_any(4));
		END IF;
	END LOOP;
	FOR i IN 1..regress_any(4) LOOP
		with_indexes := regress_any(2) = 1;
		PERFORM tiered_storage.add_tiering_policy('regress_f', regress_any(1200) * interval '1 day', ('regress_' || regress_any(4))::name, index_tier => CASE WHEN with_indexes
				AND regress_any(2) = 1 THEN 'regress_' || regress_any(4) END::name, if_not_exists => true,
	options => jsonb_build_object('return_when_reads_per_hour', CASE WHEN regress_any(3) > 1 THEN 100 END, 'below_reads_per_hour', CASE
				WHEN regress_any(4) = 1 THEN 50 END, 'include_indexes', with_indexes));
	END LOOP;
	PERFORM tiered_storage.pin(c.oid, ('regress_' || regress_any(4))::name, include_indexes => c.relkind = 'r'
		AND regress_any(2) = 1)
		FROM pg_class c WHERE c.relname LIKE 'regress\_f\_%' AND c.relkind IN ('r', 'i') AND regress_any(5) = 1;
END
$$;
-- Many are read, for some of the days that it takes to return, and more or less than it takes.
CREATE PROCEDURE regress_use() LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	UPDATE _tiered_storage.policy SET return_tier = 'regress_1'
		WHERE return_when_reads_per_hour IS NOT NULL AND tier_name <> 'regress_1' AND regress_any(3) = 1;
	UPDATE _tiered_storage.relation_state SET sampled_since = '2020-01-01', proven_since = '2020-01-01',
		observed_since = '2020-01-01', heat_at = '2026-01-01', random_fast = 0, random_slow = 0, sequential_fast = 0,
			sequential_slow = 0;
	UPDATE _tiered_storage.sampler SET counts_since = '2020-01-01';
	FOR r IN SELECT relation_oid, (ARRAY[40, 70, 90, 110, 500])[regress_any(5)] AS rate, regress_any(5) > 1
		AS is_steady FROM _tiered_storage.relation_state s
		JOIN pg_class c ON c.oid = s.relation_oid WHERE c.relname LIKE 'regress\_f\_%' AND regress_any(3) > 1
			ORDER BY c.relname LOOP
		UPDATE _tiered_storage.relation_state SET random_fast = r.rate WHERE relation_oid = r.relation_oid;
		INSERT INTO _tiered_storage.relation_history (period_start, relation_oid, period_s, scans, random_reads,
			sequential_reads, hits, row_changes)
			SELECT '2026-01-01'::timestamptz - h * interval '1 hour', r.relation_oid, 3600, 1, r.rate, 0, 0, 0
				FROM generate_series(1, CASE WHEN r.is_steady THEN 72 ELSE 40 END) h;
	END LOOP;
END
$$;
CREATE TABLE regress_rounds (round int, moved int, brought_back int, moved_again int, returned int, moved_after int);
CREATE TABLE regress_before (relname name, place int);
CREATE PROCEDURE regress_rounds(n int) LANGUAGE plpgsql AS $$
DECLARE
	moved int;
	brought_back int;
	moved_again int;
	returned int;
	moved_after int;
BEGIN
	FOR round IN 1..n LOOP
		CALL regress_tree();
		DELETE FROM regress_before;
		INSERT INTO regress_before SELECT relname, place FROM regress_f_places;
		COMMIT;
		CALL tiered_storage.migrate();
		SELECT count(*) FILTER (WHERE p.place <> b.place), count(*) FILTER (WHERE p.place < b.place) INTO moved,
			brought_back
			FROM regress_f_places p JOIN regress_before b USING (relname);
		DELETE FROM regress_before;
		INSERT INTO regress_before SELECT relname, place FROM regress_f_places;
		COMMIT;
		CALL tiered_storage.migrate();
		SELECT count(*) INTO moved_again FROM regress_f_places p JOIN regress_before b USING (relname)
			WHERE p.place <> b.place;
		DELETE FROM regress_before;
		INSERT INTO regress_before SELECT relname, place FROM regress_f_places;
		COMMIT;
		CALL tiered_storage.sample();
		CALL regress_use();
		COMMIT;
		CALL tiered_storage.migrate();
		SELECT count(*) INTO returned FROM regress_f_places p JOIN regress_before b USING (relname)
			WHERE p.place < b.place;
		DELETE FROM regress_before;
		INSERT INTO regress_before SELECT relname, place FROM regress_f_places;
		COMMIT;
		CALL tiered_storage.migrate();
		SELECT count(*) INTO moved_after FROM regress_f_places p JOIN regress_before b USING (relname)
			WHERE p.place <> b.place;
		INSERT INTO regress_rounds VALUES (round, moved, brought_back, moved_again, returned, moved_after);
		DELETE FROM _tiered_storage.relation_history;
		PERFORM tiered_storage.unpin(p.relation) FROM _tiered_storage.pins p JOIN pg_class c ON c.oid = p.relation
			WHERE c.relkind = 'r';
		PERFORM tiered_storage.unpin(relation) FROM _tiered_storage.pins;
		DROP TABLE regress_f;
		PERFORM tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.policies;
		COMMIT;
	END LOOP;
END
$$;
CALL regress_rounds(16);
\set ECHO all
SELECT count(*) AS rounds, sum(moved) > 20 AS "there was something to move", sum(brought_back) AS brought_back,
	sum(moved_again) AS moved_again,
	sum(returned) > 2 AS "something returned", sum(moved_after) AS moved_after FROM regress_rounds;
\set ECHO none
DROP TABLE regress_rounds, regress_before;
DROP VIEW regress_f_places;
DROP PROCEDURE regress_rounds, regress_tree, regress_use;
DROP FUNCTION regress_any;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_1;
DROP TABLESPACE regress_ts_2;
DROP TABLESPACE regress_ts_3;
DROP TABLESPACE regress_ts_4;
\set ECHO all

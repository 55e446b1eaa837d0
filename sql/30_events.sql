-- Events are no rates; what does not matter is left out; what nobody reads.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
SET tiered_storage.track_access = off;
SET tiered_storage.test_page_cache = off;
SET tiered_storage.test_now = '2029-12-31 23:00:00+00';
CALL tiered_storage.sample();
SET tiered_storage.test_now = '2030-01-01 00:00:00+00';

CREATE TABLE regress_v_a (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_v_b (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_v_empty (a int) TABLESPACE regress_ts_fast;
INSERT INTO regress_v_a SELECT generate_series(1, 30000);
INSERT INTO regress_v_b SELECT generate_series(1, 30000);
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
\set ECHO all

---------------------------------------------------------------------------
-- What a sample finds is one event, whatever it finds
---------------------------------------------------------------------------

\set ECHO none
-- 10000 reads of regress_v_a in one sample; 2500 of regress_v_b in each of four, an hour apart.
CREATE PROCEDURE regress_read(relation regclass, reads bigint) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT count(*) FROM %s', relation);
	PERFORM pg_stat_force_next_flush();
	-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks.
	UPDATE _tiered_storage.relation_state SET blocks_fetched = blocks_fetched - reads WHERE relation_oid = relation;
END $$;
CREATE VIEW regress_load AS
	SELECT relation, kind, recommended_tier, confidence, regexp_replace(reason, '[0-9][0-9,.]*', 'N', 'g') AS reason
	FROM tiered_storage.recommend_placement(true) WHERE relation::text LIKE 'regress\_v\__';
SET tiered_storage.observation_period = 0;
CALL regress_read('regress_v_a', 10000);
CALL regress_read('regress_v_b', 2500);
SET tiered_storage.test_now = '2030-01-01 01:00:00+00';
CALL tiered_storage.sample();
\set ECHO all
-- Each has had one event.
SELECT relation, recommended_tier, reason FROM regress_load ORDER BY 1;
\set ECHO none
CALL regress_read('regress_v_b', 2500);
SET tiered_storage.test_now = '2030-01-01 02:00:00+00';
CALL tiered_storage.sample();
CALL regress_read('regress_v_b', 2500);
SET tiered_storage.test_now = '2030-01-01 03:00:00+00';
CALL tiered_storage.sample();
CALL regress_read('regress_v_b', 2500);
SET tiered_storage.test_now = '2030-01-01 04:00:00+00';
CALL tiered_storage.sample();
\set ECHO all
-- The same number of reads: of one table they were a burst, of the other they come again.
SELECT relation, recommended_tier, reason FROM regress_load ORDER BY 1;
SELECT relation, random_misses_per_hour + sequential_misses_per_hour > 1000 AS "hot by its rate"
	FROM _tiered_storage.heat
	WHERE relation::text LIKE 'regress\_v\__' ORDER BY 1;
\set ECHO none
-- Three days later regress_v_a is read as often, six times.
DO $$
BEGIN
	FOR hour IN 0..5 LOOP
		CALL regress_read('regress_v_a', 10000);
		PERFORM set_config('tiered_storage.test_now',
			(timestamptz '2030-01-04 00:00+00' + hour * interval '12 hours')::text, false);
		CALL tiered_storage.sample();
	END LOOP;
END
$$;
\set ECHO all
SELECT relation, recommended_tier FROM regress_load ORDER BY 1;
DROP TABLE regress_v_empty;

---------------------------------------------------------------------------
-- What does not matter
---------------------------------------------------------------------------

SELECT relation FROM tiered_storage.recommend_placement() WHERE relation::text LIKE 'regress\_v\__' ORDER BY 1;
\set ECHO none
-- Numbers in the details differ from version to version.
\set VERBOSITY terse
-- A small relation that saves much by itself matters, and one that does not, does not.
CREATE FUNCTION regress_reads(relation regclass, reads float8, bytes bigint) RETURNS void LANGUAGE sql AS $$
	UPDATE _tiered_storage.relation_state SET size_bytes = bytes, random_fast = reads, random_slow = reads,
		device_random_fast = reads,
		device_random_slow = reads, sequential_fast = 0, sequential_slow = 0, device_sequential_fast = 0,
			device_sequential_slow = 0
		WHERE relation_oid = $1
$$;
BEGIN;
SELECT regress_reads('regress_v_a', 1000, 1000000), regress_reads('regress_v_b', 2, 1000000) \g /dev/null
\set ECHO all
SELECT relation FROM tiered_storage.recommend_placement(relations => '{regress_v_a,regress_v_b}');
SELECT regress_reads('regress_v_a', 2, 1000000) \g /dev/null
SELECT relation FROM tiered_storage.recommend_placement(relations => '{regress_v_a,regress_v_b}');
SELECT relation, reason FROM regress_load ORDER BY 1;
-- All that is left if they move is little: a share of that is less than what the second saves.
SELECT regress_reads('regress_v_a', 25000, 1100000), regress_reads('regress_v_b', 100, 1100000) \g /dev/null
SELECT count(*) FROM tiered_storage.recommend_placement(relations => '{regress_v_a,regress_v_b}');
ROLLBACK;
SELECT reason ~ '^[12] moves?: [0-9,.]+ s/h of device time saved' AS headline FROM _tiered_storage.placement_summary()
	WHERE tier_name IS NULL;
\set VERBOSITY default
-- A pin is no question of size.
BEGIN;
SELECT regress_reads('regress_v_a', 0, 8192), regress_reads('regress_v_b', 0, 8192) \g /dev/null
SELECT tiered_storage.pin('regress_v_a', 'regress_fast') \g /dev/null
SELECT relation, recommended_tier, confidence, reason FROM tiered_storage.recommend_placement();
ROLLBACK;

---------------------------------------------------------------------------
-- Reasons are short, whatever the names are
---------------------------------------------------------------------------

SELECT bool_and(length(reason) BETWEEN 1 AND 120) AS short FROM tiered_storage.recommend_placement(true);
SELECT tiered_storage.add_tier(repeat('ö', 31), '{pg_default}', profile => 'hdd_7200') \g /dev/null
SELECT tiered_storage.pin('regress_v_a', repeat('ö', 31)) \g /dev/null
SELECT bool_and(length(reason) BETWEEN 1 AND 120) AS short FROM tiered_storage.recommend_placement(true);
\set ECHO none
SELECT tiered_storage.unpin('regress_v_a') \g /dev/null
-- Nor does it matter what the numbers are: each objective at each price, with each load, known for minutes and for
-- years.
SELECT tiered_storage.alter_tier('regress_fast', new_name => repeat('é', 31)),
	tiered_storage.alter_tier('regress_slow',
	new_name => repeat('w', 63)) \g /dev/null
CREATE FUNCTION regress_sentences() RETURNS TABLE (source text, sentence text) LANGUAGE plpgsql AS $$
DECLARE
	goal text;
	price float8;
	rate float8;
	known interval;
	tiers jsonb;
BEGIN
	SET LOCAL client_min_messages = warning;
	FOREACH rate IN ARRAY '{0,0.07,300,1e6,1e15}'::float8[] LOOP
		FOREACH known IN ARRAY '{20 minutes,4000 days}'::interval[] LOOP
			UPDATE _tiered_storage.relation_state SET observed_since = heat_at - known,
				sampled_since = heat_at - known,
				proven_since = heat_at - known,
				random_fast = rate, random_slow = rate, device_random_fast = rate, device_random_slow = rate,
					hits_slow = rate * 1e5,
				sequential_fast = rate / 3, sequential_slow = rate / 3, device_sequential_fast = rate / 3,
					device_sequential_slow = rate / 3,
				changes_fast = rate / 7, changes_slow = rate / 7;
			FOREACH price IN ARRAY '{0.3,1e6}'::float8[] LOOP
				tiers := jsonb_build_object(repeat('é', 31), jsonb_build_object('price_per_gb_month', price),
					repeat('w', 63), jsonb_build_object('price_per_gb_month', price / 3));
				FOREACH goal IN ARRAY '{time,money}'::text[] LOOP
					RETURN QUERY SELECT 'recommend_placement', r.reason FROM tiered_storage.recommend_placement(true,
						overrides => tiers, objective => goal) r
						UNION ALL SELECT 'headline', s.reason FROM _tiered_storage.placement_summary(overrides => tiers,
							objective => goal) s WHERE s.tier_name IS NULL
						UNION ALL SELECT 'tier', s.reason FROM _tiered_storage.placement_summary(overrides => tiers,
							objective => goal) s WHERE s.tier_name IS NOT NULL
						UNION ALL SELECT 'simulate_placement', s.reason
							FROM _tiered_storage.simulate_placement(load_factor => 1e6, overrides => tiers,
								objective => goal) s
						UNION ALL SELECT 'explain_placement', e.reason
							FROM _tiered_storage.explain_placement('regress_v_a', overrides => tiers,
								objective => goal) e;
				END LOOP;
			END LOOP;
			RETURN QUERY SELECT 'recommendations', concat_ws(' ', r.saves, r.reason)
				FROM tiered_storage.recommendations r;
		END LOOP;
	END LOOP;
END
$$;
BEGIN;
\set ECHO all
SELECT source, count(DISTINCT sentence) > 3 AS many, bool_and(length(sentence) <= 120)
		FILTER (WHERE source IN ('recommend_placement', 'recommendations')) AS short,
	bool_or(sentence ~ '[0-9]e[+-]?[0-9]|\m(inf|nan)\M') AS exponent
	FROM regress_sentences() WHERE sentence IS NOT NULL GROUP BY source ORDER BY source COLLATE "C";
ROLLBACK;
DROP FUNCTION regress_sentences();
SELECT tiered_storage.alter_tier(repeat('é', 31), new_name => 'regress_fast'), tiered_storage.alter_tier(repeat('w',
	63), new_name => 'regress_slow') \g /dev/null

---------------------------------------------------------------------------
-- What nobody reads
---------------------------------------------------------------------------

CREATE TABLE regress_v_cold (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
INSERT INTO regress_v_cold SELECT generate_series(1, 30000);
SELECT pg_stat_force_next_flush() \g /dev/null
SET tiered_storage.test_now = '2030-02-01 00:00:00+00';
CALL tiered_storage.sample();
SET tiered_storage.test_now = '2030-03-01 00:00:00+00';
SET tiered_storage.observation_period = '7d';
SELECT relation, kind, tier_name, unread_since, size_bytes = pg_table_size(relation) AS size, cheapest_tier,
	saved_price_per_month > 0 AS cheaper
	FROM _tiered_storage.unused_relations() WHERE relation::text LIKE 'regress\_v\_%'
		ORDER BY relation::text COLLATE "C";
SELECT relation FROM _tiered_storage.unused_relations('40 days') WHERE relation::text LIKE 'regress\_v\_%'
	ORDER BY relation::text COLLATE "C";
-- An index that is read is a table that is read; one that is not, is not.
CREATE INDEX regress_v_cold_i ON regress_v_cold (a) TABLESPACE regress_ts_slow;
SELECT count(*) FROM _tiered_storage.unused_relations('1 year');
\set VERBOSITY verbose
SELECT count(*) FROM _tiered_storage.unused_relations('-1 day'); \echo :SQLSTATE
\set ECHO none
\set VERBOSITY default

SET client_min_messages = warning;
DROP VIEW regress_load;
DROP FUNCTION regress_reads(regclass, float8, bigint);
DROP TABLE regress_v_a, regress_v_b, regress_v_cold;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
\set ECHO all

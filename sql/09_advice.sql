-- Advice: where each relation should live, and why.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
-- What is counted is made up here; the executor knows nothing of it.
SET tiered_storage.track_access = off;
SET tiered_storage.observation_period = '7d';

SET tiered_storage.test_now = '2030-01-01 00:00:00+00';
SET client_min_messages = warning;
-- Prices with which 1 MB, as which a block of 8192 bytes counts, costs 8.192, 0.8192 and 0.08192 a month.
SELECT tiered_storage.alter_tier('regress_fast', price_per_gb_month => 7812.5),
	tiered_storage.alter_tier('regress_slow', price_per_gb_month => 781.25),
	tiered_storage.alter_tier('regress_cheap', price_per_gb_month => 78.125);
RESET client_min_messages;

---------------------------------------------------------------------------
-- The situation
---------------------------------------------------------------------------

\set ECHO none
CREATE TABLE regress_a_hot (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_a_hotter (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_a_cold (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE TABLE regress_a_young (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_fast;
CREATE TABLE regress_a_young_hot (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_cheap;
CREATE TABLE regress_a_doubtful (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_a_scanned (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_a_nowhere (a int) WITH (autovacuum_enabled = off);
CREATE TABLE "regress_a Quoted'Name" (a int) WITH (autovacuum_enabled = off) TABLESPACE regress_ts_slow;
CREATE TABLE regress_a_p (at date) PARTITION BY RANGE (at);
CREATE TABLE regress_a_p1 PARTITION OF regress_a_p FOR VALUES
	FROM ('2020-01-01') TO ('2021-01-01') TABLESPACE regress_ts_cheap;
DO $$
DECLARE
	r text;
BEGIN
	FOR r IN SELECT oid::regclass FROM pg_class WHERE relname LIKE 'regress\_a%' AND relkind = 'r' ORDER BY 1 LOOP
		IF r = 'regress_a_p1' THEN
			INSERT INTO regress_a_p1 VALUES ('2020-06-01');
		ELSE
			EXECUTE 'INSERT INTO ' || r || ' VALUES (1)';
		END IF;
	END LOOP;
END
$$;
CREATE INDEX regress_a_cold_index ON regress_a_cold (a) TABLESPACE regress_ts_slow;
SELECT tiered_storage.add_tiering_policy('regress_a_p', '1 year', 'regress_cheap') AS policy \gset
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
CALL tiered_storage.sample();
-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks.
UPDATE _tiered_storage.relation_state SET size_bytes = 128 * size_bytes, evidence_interval_s = 0,
	heat_at = '2030-01-01 00:00:00+00', observed_since = '2020-01-01', sampled_since = '2029-12-01',
	random_fast = 0, random_slow = 0, sequential_fast = 0, sequential_slow = 0, sequential_low_slow = 0,
		sequential_high_slow = 0,
	hits_slow = 0, scans_slow = 0, changes_fast = 0, changes_slow = 0;
UPDATE _tiered_storage.relation_state SET random_fast = 10000, random_slow = 10000
	WHERE relation_oid IN ('regress_a_hot'::regclass, 'regress_a_nowhere'::regclass, 'regress_a_p1'::regclass,
		'"regress_a Quoted''Name"'::regclass);
-- What was hot in the last days counts, also when it is quiet today, but that it lasts is not certain; hits are no
-- I/O.
UPDATE _tiered_storage.relation_state SET random_slow = 20000, random_fast = 5, hits_slow = 60000
	WHERE relation_oid = 'regress_a_hotter'::regclass;
UPDATE _tiered_storage.relation_state SET sampled_since = '2029-12-31 23:55+00'
	WHERE relation_oid = 'regress_a_young'::regclass;
UPDATE _tiered_storage.relation_state SET sampled_since = '2029-12-31 23:00+00', random_fast = 5000
	WHERE relation_oid = 'regress_a_young_hot'::regclass;
-- A thousand blocks an hour are little if they are sequential, and much if they are not.
UPDATE _tiered_storage.relation_state SET random_slow = 500, sequential_slow = 500, sequential_high_slow = 1000
	WHERE relation_oid = 'regress_a_doubtful'::regclass;
UPDATE _tiered_storage.relation_state SET sequential_fast = 1000000, sequential_slow = 1000000,
	sequential_low_slow = 1000000, sequential_high_slow = 1000000, scans_slow = 100
	WHERE relation_oid = 'regress_a_scanned'::regclass;
-- All of it reaches the device.
UPDATE _tiered_storage.relation_state SET device_random_fast = random_fast, device_random_slow = random_slow,
	device_sequential_fast = sequential_fast, device_sequential_slow = sequential_slow;
\set ECHO all

---------------------------------------------------------------------------
-- recommend_placement()
---------------------------------------------------------------------------

CREATE VIEW regress_advice AS
	SELECT relation, kind, current_tier, recommended_tier, size_bytes,
		round(saved_io_s_per_hour::numeric, 3) AS saved, round(price_delta_per_month::numeric, 3) AS price,
			move_cost_s < 0.1 AS quick, confidence
	FROM tiered_storage.recommend_placement() ORDER BY relation::text COLLATE "C";
-- Hot: 10000 * (12.4 ms - 0.09 ms) are 123.1 s an hour, for 7.3728 more a month.
SELECT * FROM regress_advice;
SELECT relation, regexp_replace(reason, '[(][0-9]+% cached[)]', '(...)') AS reason, command
	FROM tiered_storage.recommend_placement() ORDER BY relation::text COLLATE "C";
-- The others stay, and why.
SELECT relation, current_tier, recommended_tier, round(saved_io_s_per_hour::numeric, 3) AS saved, price_delta_per_month
	AS price, move_cost_s AS move, confidence, command,
	regexp_replace(reason, '[(][0-9]+% cached[)]', '(...)') AS reason
	FROM tiered_storage.recommend_placement(include_unchanged => true)
	WHERE recommended_tier IS NOT DISTINCT FROM current_tier ORDER BY relation::text COLLATE "C";
SELECT count(*) FROM tiered_storage.recommend_placement(NULL);
-- What has been observed for ten minutes may go, if somebody asks for it.
SELECT relation, recommended_tier, confidence FROM tiered_storage.recommend_placement(true, objective => 'money')
	WHERE relation = 'regress_a_young'::regclass;
UPDATE _tiered_storage.relation_state SET sampled_since = '2029-12-31 23:50+00'
	WHERE relation_oid = 'regress_a_young'::regclass;
SELECT relation, recommended_tier, confidence, firm_when FROM tiered_storage.recommend_placement(objective => 'money')
	WHERE relation = 'regress_a_young'::regclass;
UPDATE _tiered_storage.relation_state SET sampled_since = '2029-12-31 23:55+00'
	WHERE relation_oid = 'regress_a_young'::regclass;
-- With another patience nothing is certain.
SET tiered_storage.observation_period = '100d';
SELECT relation, recommended_tier, confidence FROM regress_advice;
SET tiered_storage.observation_period = '7d';
-- It changes nothing, and can be asked where nothing may be changed.
SELECT md5(string_agg(s::text, '' ORDER BY relation_oid)) AS before FROM _tiered_storage.relation_state s \gset
BEGIN READ ONLY;
SELECT count(*) FROM tiered_storage.recommend_placement();
COMMIT;
SELECT md5(string_agg(s::text, '' ORDER BY relation_oid)) = :'before' AS unchanged
	FROM _tiered_storage.relation_state s;

---------------------------------------------------------------------------
-- explain_placement()
---------------------------------------------------------------------------

CREATE FUNCTION regress_explain(regclass) RETURNS TABLE (tier name, current boolean, recommended boolean, io numeric,
	random numeric, sequential numeric,
	write numeric, price numeric, quick boolean, fits boolean, reason text) LANGUAGE sql AS $$
	SELECT tier_name, is_current, is_recommended, round(io_s_per_hour::numeric, 3),
		round(random_read_s_per_hour::numeric, 3),
		round(sequential_read_s_per_hour::numeric, 3), round(write_s_per_hour::numeric, 3),
			round(price_per_month::numeric, 3), move_cost_s < 0.1, fits,
		regexp_replace(reason, '[(][0-9]+% cached[)]', '(...)')
	FROM _tiered_storage.explain_placement($1)
$$;
SELECT * FROM regress_explain('regress_a_hot');
SELECT * FROM regress_explain('regress_a_cold');
SELECT * FROM regress_explain('regress_a_cold_index');
SELECT * FROM regress_explain('regress_a_young');
SELECT * FROM regress_explain('regress_a_scanned');
SELECT * FROM regress_explain('regress_a_p1');
CREATE VIEW regress_a_view AS SELECT 1;
CREATE SEQUENCE regress_a_sequence;
CREATE TEMP TABLE regress_a_temp (a int);
CREATE TABLE regress_a_toast (t text) TABLESPACE regress_ts_slow;
SELECT reltoastrelid AS toast FROM pg_class WHERE oid = 'regress_a_toast'::regclass \gset
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT * FROM _tiered_storage.explain_placement(NULL)
SELECT * FROM _tiered_storage.explain_placement(0)
SELECT * FROM _tiered_storage.explain_placement('regress_a_view')
SELECT * FROM _tiered_storage.explain_placement('regress_a_sequence')
SELECT * FROM _tiered_storage.explain_placement('regress_a_p')
SELECT * FROM _tiered_storage.explain_placement('pg_class')
SELECT * FROM _tiered_storage.explain_placement('_tiered_storage.tier')
SELECT * FROM _tiered_storage.explain_placement('regress_a_nowhere')
$refused$);
\set ECHO all
\set VERBOSITY sqlstate
SELECT * FROM _tiered_storage.explain_placement(:toast);
SELECT * FROM _tiered_storage.explain_placement('regress_a_temp');
\set VERBOSITY default
-- A relation that no sample has seen is advised on as well, with no confidence.
SELECT tier, current, recommended, price FROM regress_explain('regress_a_toast');
SELECT kind, current_tier, recommended_tier, confidence FROM tiered_storage.recommend_placement(true)
	WHERE relation = 'regress_a_toast'::regclass;
DROP TABLE regress_a_toast;

---------------------------------------------------------------------------
-- Limits
---------------------------------------------------------------------------

-- Two tables on the fast tier: one holds what must not leave, the other is for
-- what gains most: a million sequential blocks are 54 s on a disk, 20000 random ones 248 s.
SET client_min_messages = warning;
SELECT tiered_storage.alter_tier('regress_fast',
	device => jsonb_build_object('capacity_bytes', 128 * 16384)) \g /dev/null
RESET client_min_messages;
SELECT relation, current_tier, recommended_tier, reason LIKE '%regress_fast is full' AS full
	FROM tiered_storage.recommend_placement(true) WHERE current_tier IS NOT NULL ORDER BY relation::text COLLATE "C";
SELECT tier, current, recommended, fits, reason FROM regress_explain('regress_a_hot');
-- The reserve counts: half of it is nobody's.
SET client_min_messages = warning;
SELECT tiered_storage.alter_tier('regress_fast', reserve_fraction => 0.5) \g /dev/null
RESET client_min_messages;
SELECT relation, current_tier, recommended_tier FROM tiered_storage.recommend_placement(true)
	WHERE 'regress_fast' IN (current_tier, recommended_tier) ORDER BY relation::text COLLATE "C";
SET client_min_messages = warning;
SELECT tiered_storage.alter_tier('regress_fast', reserve_fraction => 0,
	device => '{"capacity_bytes": null}') \g /dev/null
RESET client_min_messages;

---------------------------------------------------------------------------
-- The command does it
---------------------------------------------------------------------------

SELECT command FROM tiered_storage.recommend_placement() ORDER BY relation::text COLLATE "C" \gexec
SELECT * FROM regress_advice;
SELECT relation, current_tier FROM tiered_storage.recommend_placement(true) ORDER BY relation::text COLLATE "C";
SELECT relation, from_tier, to_tier, state FROM _tiered_storage.moves ORDER BY relation COLLATE "C";

-- Without tiers there is nothing to advise; without relations too.
SELECT tiered_storage.remove_policy(policy_id => :policy);
SELECT tiered_storage.remove_tier('regress_fast'), tiered_storage.remove_tier('regress_slow'),
	tiered_storage.remove_tier('regress_cheap');
SELECT count(*) FROM tiered_storage.recommend_placement();
SELECT DISTINCT current_tier, recommended_tier, saved_io_s_per_hour AS saved, command, reason
	FROM tiered_storage.recommend_placement(true);
SELECT * FROM _tiered_storage.explain_placement('regress_a_hot'); \echo :SQLSTATE

SET client_min_messages = warning;
DROP VIEW regress_advice, regress_a_view;
DROP FUNCTION regress_explain;
DROP SEQUENCE regress_a_sequence;
DROP TABLE regress_a_hot, regress_a_hotter, regress_a_cold, regress_a_young, regress_a_young_hot, regress_a_doubtful,
	regress_a_scanned, regress_a_nowhere,
	"regress_a Quoted'Name", regress_a_p, regress_a_temp;
SELECT count(*) FROM tiered_storage.recommend_placement(true);
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;

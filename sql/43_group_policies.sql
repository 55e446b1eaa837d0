-- Policies on a schema.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
\echo '-- However full the disks of this machine are.'
SELECT count(tiered_storage.alter_tier(tier_name,
	device => '{"capacity_bytes": 1000000000}')) FROM _tiered_storage.tiers
	WHERE tier_name LIKE 'regress%';
SET tiered_storage.test_now = '2026-06-01 00:00:00+00';
CREATE SCHEMA regress_g;
CREATE SCHEMA "regress G 2";
CREATE VIEW regress_says AS
	SELECT policy_id, relation, verdict, to_tier FROM _tiered_storage.evaluate_policies();

\echo '-- Refused'

CREATE TABLE regress_g.t (a int);
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_tiering_policy(tier => 'regress_slow', options => '{"no_writes_for": "1 day"}')
SELECT tiered_storage.add_tiering_policy('regress_g.t', tier => 'regress_slow', in_schema => 'regress_g', options => '{"no_writes_for": "1 day"}')
SELECT tiered_storage.add_tiering_policy(in_schema => 'regress_nothing', tier => 'regress_slow', options => '{"no_writes_for": "1 day"}')
SELECT tiered_storage.add_tiering_policy(in_schema => '', tier => 'regress_slow', options => '{"no_writes_for": "1 day"}')
SELECT tiered_storage.add_tiering_policy(in_schema => 'pg_catalog', tier => 'regress_slow', options => '{"no_writes_for": "1 day"}')
SELECT tiered_storage.add_tiering_policy(in_schema => 'information_schema', tier => 'regress_slow', options => '{"no_writes_for": "1 day"}')
SELECT tiered_storage.add_tiering_policy(in_schema => '_tiered_storage', tier => 'regress_slow', options => '{"no_writes_for": "1 day"}')
SELECT tiered_storage.add_tiering_policy(in_schema => 'regress_g', tier => 'regress_slow')
SELECT tiered_storage.add_tiering_policy(in_schema => 'regress_g', move_after => '1 day', tier => 'regress_slow', options => '{"key_unit": "fortnights"}')
SELECT tiered_storage.add_tiering_policy(in_schema => 'regress_g', move_after => '1 day', tier => 'regress_nothing')
$refused$);
SELECT count(*) FROM _tiered_storage.policies;

\echo '-- By age: partitioned tables of a time, each by its own key; what comes later, too'

SELECT tiered_storage.add_tiering_policy(in_schema => 'regress_g', move_after => '90 days', tier => 'regress_slow')
	AS schema \gset
SELECT relation, relation_name, in_schema, tier_name, last_result FROM _tiered_storage.policies;
SELECT tiered_storage.add_tiering_policy(in_schema => 'regress_g', move_after => '30 days',
	tier => 'regress_slow'); \echo :SQLSTATE
SELECT tiered_storage.add_tiering_policy(in_schema => 'regress_g', move_after => '30 days', tier => 'regress_slow',
	if_not_exists => true) = :schema AS same;
SELECT tiered_storage.alter_policy(policy_id => :schema, changes => '{"key_unit": "fortnights"}'); \echo :SQLSTATE
CREATE TABLE regress_g.log_d (at date) PARTITION BY RANGE (at);
CREATE TABLE regress_g.log_d_old PARTITION OF regress_g.log_d FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
CREATE TABLE regress_g.log_d_new PARTITION OF regress_g.log_d FOR VALUES FROM ('2026-05-01') TO ('2026-06-01');
\echo '-- A partition elsewhere belongs to its table, which is not of that schema.'
CREATE TABLE "regress G 2".elsewhere PARTITION OF regress_g.log_d FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
CREATE TABLE regress_g.stamps (at timestamptz, a int) PARTITION BY RANGE (at);
CREATE TABLE regress_g.stamps_old PARTITION OF regress_g.stamps FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
CREATE TABLE regress_g.numbers (n int) PARTITION BY RANGE (n);
CREATE TABLE regress_g.numbers_1 PARTITION OF regress_g.numbers FOR VALUES FROM (0) TO (9);
CREATE TABLE "regress G 2".other (at date) PARTITION BY RANGE (at);
CREATE TABLE regress_g.other_1 PARTITION OF "regress G 2".other FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
CREATE UNLOGGED TABLE regress_g.unlogged (a int);
CREATE VIEW regress_g.view AS SELECT 1 AS a;
CREATE SEQUENCE regress_g.sequence;
CREATE TEMP TABLE regress_temporary (a int);
CREATE MATERIALIZED VIEW regress_g.matview AS SELECT 1 AS a;
SELECT relation, verdict, to_tier FROM regress_says ORDER BY relation::text;
CALL tiered_storage.migrate();
CALL tiered_storage.migrate();
SELECT relation, verdict FROM regress_says WHERE verdict NOT IN ('no age', 'too young') ORDER BY relation::text;
SELECT last_due, last_on_target, last_result FROM _tiered_storage.policies ORDER BY policy_id;

\echo '-- The nearest policy decides: of a table, of a schema'

SELECT tiered_storage.add_tiering_policy('regress_g.stamps', move_after => '10 years', tier => 'regress_cheap')
	AS own \gset
SELECT relation_name FROM _tiered_storage.policies ORDER BY policy_id;
SELECT CASE policy_id WHEN :schema THEN 'schema' ELSE 'own' END AS policy, relation, verdict
	FROM regress_says ORDER BY relation::text;
CALL tiered_storage.migrate();
CALL tiered_storage.migrate();
\echo '-- A policy that is disabled is as if it were not there.'
SELECT tiered_storage.alter_policy(policy_id => :own, enabled => false) \gset
SELECT CASE policy_id WHEN :schema THEN 'schema' ELSE 'own' END AS policy, relation, verdict
	FROM regress_says WHERE relation::text LIKE '%stamps%' ORDER BY 1;
\echo '-- That of a table above is nearer, too; also of a single partition.'
SELECT tiered_storage.alter_policy(policy_id => :own, enabled => true) \gset
SELECT tiered_storage.add_tiering_policy('regress_g.log_d_new', tier => 'regress_cheap',
	options => '{"no_writes_for": "1 day"}')
	AS leaf \gset
SELECT relation, policy_id = :leaf AS own FROM regress_says WHERE relation::text LIKE '%log_d%'
	ORDER BY relation::text;
SELECT tiered_storage.remove_policy(policy_id => :leaf),
	tiered_storage.remove_policy(policy_id => :own);

\echo '-- By use: plain tables, materialized views, inheritance'

SELECT tiered_storage.alter_policy(policy_id => :schema, enabled => false) \gset
CREATE TABLE "regress G 2".parent (a int) TABLESPACE regress_ts_fast;
INSERT INTO "regress G 2".parent DEFAULT VALUES;
SELECT FROM pg_stat_force_next_flush();
CREATE TABLE "regress G 2".child () INHERITS ("regress G 2".parent) TABLESPACE regress_ts_fast;
CREATE TABLE regress_g.child () INHERITS ("regress G 2".parent) TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy(in_schema => 'regress G 2', tier => 'regress_cheap',
	options => '{"no_writes_for": "1 day"}')
	AS use \gset
SELECT relation_name FROM _tiered_storage.policies WHERE policy_id = :use;
SELECT relation, verdict FROM regress_says WHERE policy_id = :use ORDER BY relation::text;
CALL tiered_storage.sample();
\echo '-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks; rows as a dump or'
\echo '-- another machine has left them.'
UPDATE _tiered_storage.relation_state SET sampled_since = '2020-01-01', proven_since = '2020-01-01',
	rewritten_at = NULL, last_read_at = NULL, last_written_at = NULL;
UPDATE _tiered_storage.sampler SET counts_since = '2020-01-01';
SELECT relation, verdict FROM regress_says WHERE policy_id = :use ORDER BY relation::text;
CALL tiered_storage.migrate();
SELECT relation, verdict FROM regress_says WHERE policy_id = :use ORDER BY relation::text;
CALL tiered_storage.migrate();

\echo '-- What inherits belongs to its tables, wherever it is; and so do their policies decide.'
SELECT tiered_storage.alter_policy(policy_id => :schema, enabled => true) \gset
SELECT relation, policy_id = :use AS as_its_parent FROM regress_says
	WHERE relation::text LIKE '%child%' OR relation::text LIKE '%parent%' ORDER BY relation::text;
ALTER TABLE regress_g.child NO INHERIT "regress G 2".parent;
SELECT relation, CASE policy_id WHEN :use THEN 'parent' ELSE 'schema' END AS policy
	FROM regress_says
	WHERE relation::text LIKE '%child%' OR relation::text LIKE '%parent%' ORDER BY relation::text;
ALTER TABLE regress_g.child INHERIT "regress G 2".parent;
SELECT tiered_storage.alter_policy(policy_id => :schema, enabled => false) \gset

\echo '-- Renamed, dropped, created again'

ALTER SCHEMA "regress G 2" RENAME TO regress_g_3;
SELECT relation_name, in_schema, last_result FROM _tiered_storage.policies WHERE policy_id = :use;
CALL tiered_storage.sample();
SELECT schema_name, schema_oid = 'regress_g_3'::regnamespace AS same FROM _tiered_storage.policy
	WHERE policy_id = :use;
SET client_min_messages = warning;
DROP SCHEMA regress_g_3 CASCADE;
RESET client_min_messages;
SELECT count(*) FROM _tiered_storage.policies WHERE policy_id = :use;
\echo '-- Restored, it has no schema.'
UPDATE _tiered_storage.policy SET database_oid = 0 WHERE policy_id = :use;
SELECT relation_name, in_schema, last_result FROM _tiered_storage.policies WHERE policy_id = :use;
SELECT relation, verdict FROM regress_says WHERE policy_id = :use;
SELECT tiered_storage.alter_policy(policy_id => :use, changes => '{"no_writes_for": "2 days"}'); \echo :SQLSTATE
CALL tiered_storage.migrate();
CREATE ROLE regress_g_owner;
CREATE SCHEMA regress_g_3 AUTHORIZATION regress_g_owner;
SELECT last_result FROM _tiered_storage.policies WHERE policy_id = :use;
ALTER SCHEMA regress_g_3 OWNER TO CURRENT_USER;
CREATE TABLE regress_g_3.t (a int);
SELECT relation, verdict FROM regress_says WHERE policy_id = :use;
\echo '-- As after a restore: names count.'
UPDATE _tiered_storage.policy SET system_identifier = 1, schema_oid = 1, owner_oid = 1 WHERE policy_id = :use;
SELECT relation, verdict FROM regress_says WHERE policy_id = :use;
CALL tiered_storage.sample();
SELECT schema_oid = 'regress_g_3'::regnamespace AS same FROM _tiered_storage.policy WHERE policy_id = :use;
\echo '-- Of several that a restore brings with one name, the first stays; others are brought up to date.'
CREATE SCHEMA regress_g_4;
SELECT tiered_storage.add_tiering_policy(in_schema => 'regress_g_4', idle_for => '1 day',
	tier => 'regress_cheap') AS second \gset
SELECT policy_id AS others FROM _tiered_storage.policies WHERE policy_id NOT IN (:use, :second) LIMIT 1 \gset
UPDATE _tiered_storage.policy SET schema_name = 'regress_stale' WHERE policy_id = :others;
UPDATE _tiered_storage.policy SET schema_name = 'regress_g_3', schema_oid = policy_id::oid, database_oid = 0
	WHERE policy_id IN (:use, :second);
CALL tiered_storage.sample();
SELECT policy_id = :use AS is_first, schema_oid = 'regress_g_3'::regnamespace AS same
	FROM _tiered_storage.policy WHERE policy_id IN (:use, :second);
SELECT schema_name FROM _tiered_storage.policy WHERE policy_id = :others;
DROP SCHEMA regress_g_4;
SELECT tiered_storage.remove_policy(policy_id => :use) \gset

\echo '-- Rights'

CREATE ROLE regress_g_other;
GRANT USAGE ON SCHEMA tiered_storage TO regress_g_owner, regress_g_other;
GRANT EXECUTE ON FUNCTION tiered_storage.add_tiering_policy, tiered_storage.alter_policy,
	tiered_storage.remove_policy TO regress_g_owner, regress_g_other;
GRANT CREATE ON TABLESPACE regress_ts_slow TO regress_g_owner, regress_g_other;
ALTER SCHEMA regress_g_3 OWNER TO regress_g_owner;
CREATE TABLE regress_g_3.mine (at date) PARTITION BY RANGE (at);
CREATE TABLE regress_g_3.mine_old PARTITION OF regress_g_3.mine FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
ALTER TABLE regress_g_3.mine OWNER TO regress_g_owner;
ALTER TABLE regress_g_3.mine_old OWNER TO regress_g_owner;
CREATE TABLE regress_g_3.theirs (at date) PARTITION BY RANGE (at);
CREATE TABLE regress_g_3.theirs_old PARTITION OF regress_g_3.theirs FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
ALTER TABLE regress_g_3.theirs OWNER TO regress_g_other;
ALTER TABLE regress_g_3.theirs_old OWNER TO regress_g_other;
SET ROLE regress_g_other;
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.add_tiering_policy(in_schema => 'regress_g_3', move_after => '1 day', tier => 'regress_slow')
$refused$);
SET ROLE regress_g_owner;
SELECT tiered_storage.add_tiering_policy(in_schema => 'regress_g_3', move_after => '1 day', tier => 'regress_slow')
	AS id \gset
SET ROLE regress_g_other;
SELECT tiered_storage.remove_policy(policy_id => :id); \echo :SQLSTATE
SELECT tiered_storage.alter_policy(policy_id => :id, enabled => false); \echo :SQLSTATE
RESET ROLE;
SELECT relation, verdict, reason FROM _tiered_storage.evaluate_policies() WHERE policy_id = :id ORDER BY relation::text;
CALL tiered_storage.migrate();
SELECT c.relname, t.spcname FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
	WHERE c.relname IN ('mine_old', 'theirs_old') ORDER BY 1;
\echo '-- The role is gone: nobody else''s rights are used.'
ALTER TABLE regress_g_3.mine_old SET TABLESPACE pg_default;
REASSIGN OWNED BY regress_g_owner TO regress_g_other;
DROP OWNED BY regress_g_owner;
DROP ROLE regress_g_owner;
SELECT relation, verdict, reason FROM _tiered_storage.evaluate_policies() WHERE policy_id = :id ORDER BY relation::text;
CALL tiered_storage.migrate();
SELECT tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.policies \g /dev/null

\echo '-- Whatever there is: the second time nothing is moved'

SET client_min_messages = warning;
DROP SCHEMA regress_g, regress_g_3 CASCADE;
CREATE SCHEMA regress_g;
SELECT setseed(0.27182) \g /dev/null
CREATE FUNCTION regress_any(n int) RETURNS int LANGUAGE sql VOLATILE AS 'SELECT 1 + floor(random() * n)::int';
CREATE FUNCTION regress_tier() RETURNS name LANGUAGE sql VOLATILE
	AS $$SELECT ('{regress_fast,regress_slow,regress_cheap}'::name[])[regress_any(3)]$$;
CREATE VIEW regress_places AS SELECT c.oid::regclass::text AS relation,
	COALESCE(array_position('{regress_ts_fast,regress_ts_slow,regress_ts_cheap}', t.spcname), 0) AS place
	FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE c.relnamespace = 'regress_g'::regnamespace;
CREATE TABLE regress_rounds (round int, moved int, brought_back int, moved_again int);
CREATE TABLE regress_before (relation text, place int);
CREATE PROCEDURE regress_rounds(n int) LANGUAGE plpgsql AS $$
DECLARE
	moved int;
	brought_back int;
	moved_again int;
BEGIN
	FOR round IN 1..n LOOP
		FOR i IN 1..3 LOOP
			EXECUTE format('CREATE TABLE regress_g.t_%s (d date) PARTITION BY RANGE (d)', i);
			FOR year IN 2023..2025 LOOP
				EXECUTE format('CREATE TABLE regress_g.t_%1$s_%2$s PARTITION OF regress_g.t_%1$s FOR VALUES FROM (%3$L) TO (%4$L) TABLESPACE regress_ts_%5$s',
					i, year, year || '-01-01', year + 1 || '-01-01', ('{fast,slow,cheap}'::text[])[regress_any(3)]);
				EXECUTE format('CREATE INDEX ON regress_g.t_%s_%s (d) TABLESPACE regress_ts_%s', i, year,
					('{fast,slow,cheap}'::text[])[regress_any(3)]);
			END LOOP;
		END LOOP;
		FOR i IN 1..regress_any(5) LOOP
			CASE regress_any(2)
				WHEN 1 THEN PERFORM tiered_storage.add_tiering_policy('regress_g.t_' || regress_any(3),
					regress_any(1200) * interval '1 day', regress_tier(), if_not_exists => true);
				ELSE PERFORM tiered_storage.add_tiering_policy(NULL, regress_any(1200) * interval '1 day',
					regress_tier(), if_not_exists => true, in_schema => 'regress_g');
			END CASE;
		END LOOP;
		PERFORM tiered_storage.pin(c.oid, regress_tier(), include_indexes => c.relkind = 'r' AND regress_any(2) = 1)
			FROM pg_class c WHERE c.relnamespace = 'regress_g'::regnamespace AND c.relkind IN ('r', 'i')
				AND regress_any(5) = 1;
		DELETE FROM regress_before;
		INSERT INTO regress_before SELECT * FROM regress_places;
		COMMIT;
		CALL tiered_storage.migrate();
		SELECT count(*) FILTER (WHERE p.place <> b.place), count(*) FILTER (WHERE p.place < b.place) INTO moved,
			brought_back
			FROM regress_places p JOIN regress_before b USING (relation);
		DELETE FROM regress_before;
		INSERT INTO regress_before SELECT * FROM regress_places;
		COMMIT;
		CALL tiered_storage.migrate();
		SELECT count(*) INTO moved_again FROM regress_places p JOIN regress_before b USING (relation)
			WHERE p.place <> b.place;
		INSERT INTO regress_rounds VALUES (round, moved, brought_back, moved_again);
		PERFORM tiered_storage.unpin(p.relation) FROM _tiered_storage.pins p JOIN pg_class c ON c.oid = p.relation
			WHERE c.relkind = 'r';
		PERFORM tiered_storage.unpin(relation) FROM _tiered_storage.pins;
		DROP TABLE regress_g.t_1, regress_g.t_2, regress_g.t_3;
		PERFORM tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.policies;
		COMMIT;
	END LOOP;
END
$$;
CALL regress_rounds(20);
SELECT count(*) AS rounds, sum(moved) > 20 AS "there was something to move", sum(brought_back) AS brought_back,
	sum(moved_again) AS moved_again FROM regress_rounds;
DROP TABLE regress_rounds, regress_before;
DROP PROCEDURE regress_rounds;
DROP VIEW regress_places, regress_says;
DROP FUNCTION regress_tier, regress_any;
DROP SCHEMA regress_g;
DROP OWNED BY regress_g_other;
DROP ROLE regress_g_other;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;

\set ECHO none
-- Three tiers, after begin.sql, whose fill is counted in blocks, tables of so many blocks with so
-- many reads, and what fullness policies say and do.
CREATE TABLESPACE regress_ts_fast LOCATION '';
CREATE TABLESPACE regress_ts_slow LOCATION '';
CREATE TABLESPACE regress_ts_cold LOCATION '';
SET client_min_messages = warning;
-- A hundred blocks, four hundred, and a thousand: of the first one, a per cent is a block.
SELECT tiered_storage.add_tier('regress_fast', '{regress_ts_fast}', profile => 'nvme', rank => 0, reserve_fraction => 0,
	device => jsonb_build_object('compressed', false, 'capacity_bytes', 100 * 8192)),
	tiered_storage.add_tier('regress_slow', '{regress_ts_slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0,
	device => jsonb_build_object('compressed', false, 'capacity_bytes', 400 * 8192)),
	tiered_storage.add_tier('regress_cold', '{regress_ts_cold}', profile => 'hdd_7200', rank => 2, reserve_fraction => 0,
	device => jsonb_build_object('compressed', false, 'capacity_bytes', 1000 * 8192)) \g /dev/null
RESET client_min_messages;
SET tiered_storage.track_access = off;
SET tiered_storage.test_now = '2026-01-01 00:00:00+00';

-- Tables of some blocks, one row in each but those of the free space map; observed for a month, with so many random
-- reads an hour.
CREATE TABLE regress_heat (name text PRIMARY KEY, reads float8);
CREATE PROCEDURE regress_grow(name text, blocks int) LANGUAGE plpgsql AS $$
DECLARE
	size bigint := pg_table_size(name) + blocks * 8192;
BEGIN
	WHILE pg_table_size(name) < size LOOP
		EXECUTE format('INSERT INTO %I SELECT %s', name, (SELECT string_agg('''x''', ', ')
			FROM generate_series(1, 14)));
	END LOOP;
	PERFORM pg_stat_force_next_flush();
END
$$;
CREATE PROCEDURE regress_table(name text, blocks int, reads float8, tablespace text DEFAULT 'regress_ts_fast')
	LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %I (%s) WITH (autovacuum_enabled = off, fillfactor = 10) TABLESPACE %I', name,
		(SELECT string_agg('n' || i || ' name', ', ') FROM generate_series(1, 14) i), tablespace);
	INSERT INTO regress_heat VALUES (name,
		reads) ON CONFLICT ON CONSTRAINT regress_heat_pkey DO UPDATE SET reads = EXCLUDED.reads;
	CALL regress_grow(name, blocks);
END
$$;
CREATE PROCEDURE regress_observe(since timestamptz DEFAULT '2025-12-01') LANGUAGE plpgsql AS $$
BEGIN
	CALL tiered_storage.sample();
	UPDATE _tiered_storage.relation_state SET heat_at = current_setting('tiered_storage.test_now')::timestamptz,
		evidence_interval_s = 0, observed_since = '2020-01-01',
		sampled_since = since, proven_since = since, random_fast = 0, random_slow = 0, device_random_fast = 0,
			device_random_slow = 0;
	UPDATE _tiered_storage.relation_state s SET random_fast = h.reads, random_slow = h.reads,
		device_random_fast = h.reads, device_random_slow = h.reads FROM regress_heat h
		WHERE relation_oid = to_regclass(h.name);
END
$$;
CREATE VIEW regress_fill AS SELECT t.tier_name, (sum(pg_table_size(c.oid)) / 8192)::int AS blocks,
	string_agg(c.relname,
	' ' ORDER BY c.relname COLLATE "C") AS relations
	FROM pg_class c JOIN _tiered_storage.tier_tablespaces t ON t.tablespace_oid = c.reltablespace
		WHERE c.relname ~ '^regress_[a-z][a-z0-9_]*$' GROUP BY 1 ORDER BY 1;
CREATE VIEW regress_says AS SELECT relation, verdict, place, to_tier, size_bytes / 8192 AS blocks,
	round(lost_io_s_per_hour::numeric, 1) AS lost, reason
	FROM _tiered_storage.evaluate_policies() WHERE policy_id IN (SELECT policy_id FROM _tiered_storage.fullness_policy)
	ORDER BY from_tier, place, relation::text COLLATE "C";
CREATE VIEW regress_result AS SELECT tier_name, round(last_fill::numeric, 3) AS fill, last_leaving AS leaving,
	last_result FROM _tiered_storage.fullness_policies ORDER BY policy_id;

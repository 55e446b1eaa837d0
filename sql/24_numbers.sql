-- Numbers that nobody expects, as each numeric argument of what writes and of
-- what computes: a clean error or a clean answer, and everything works afterwards.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
SET client_min_messages = warning;
CREATE TABLESPACE regress_n_slow LOCATION '';
CREATE TABLE regress_n (at timestamptz, id bigint) PARTITION BY RANGE (at);
CREATE TABLE regress_n_1 PARTITION OF regress_n FOR VALUES FROM ('2001-01-01') TO ('2001-02-01');
CREATE TABLE regress_n_id (id bigint) PARTITION BY RANGE (id);
CREATE TABLE regress_n_id_1 PARTITION OF regress_n_id FOR VALUES FROM (0) TO (1000000000);
INSERT INTO regress_n_1 SELECT '2001-01-01'::timestamptz + i * interval '1 minute', i FROM generate_series(1, 3000) i;
SELECT tiered_storage.add_tier('a', '{pg_default}', profile => 'nvme', reserve_fraction => 0);
\set ECHO none
CALL tiered_storage.sample();

CREATE TABLE regress_n_value (type text, value text);
INSERT INTO regress_n_value VALUES
	('double precision', 'NaN'), ('double precision', 'Infinity'), ('double precision', '-Infinity'),
	('double precision', '0'), ('double precision', '-0'), ('double precision', '-1'), ('double precision', '1e308'),
	('double precision', '5e-324'), ('double precision', '1e-300'), ('double precision', '2147483648'),
		('double precision', '1'),
	('numeric', 'NaN'), ('numeric', 'Infinity'), ('numeric', '-Infinity'), ('numeric', '1e400'), ('numeric', '-1e400'),
	('numeric', '1e-400'), ('numeric', '1e308'), ('numeric', '0'), ('numeric', '-1'), ('numeric',
		'99999999999999999999'),
	('integer', '2147483647'), ('integer', '-2147483648'), ('integer', '-1'), ('integer', '0'), ('integer', '1000000'),
		('integer', '63'),
	('bigint', '9223372036854775807'), ('bigint', '-9223372036854775808'), ('bigint', '-1'), ('bigint', '0'),
		('bigint',
		'1'),
	('bigint', '1152921504606846976'),
	('interval', '178000000 years'), ('interval', '-178000000 years'), ('interval', '1000000 months -30000000 days'),
	('interval', '2147483647 days'), ('interval', '9223372036854 seconds'), ('interval', '0'), ('interval',
		'-1 microsecond'),
	('interval', '4000 years'), ('interval', '1 microsecond'),
	('timestamp with time zone', 'infinity'), ('timestamp with time zone', '-infinity'), ('timestamp with time zone',
		'294276-12-31 23:59:59+00'),
	('timestamp with time zone', '4713-01-01 00:00:00+00 BC'), ('timestamp with time zone', '2000-01-01 00:00:00+00');

-- Each call with each of its numeric arguments.
CREATE FUNCTION regress_n_calls() RETURNS TABLE (call text, argument text, type text, template text) LANGUAGE sql AS $$
	SELECT c.name, a.name, a.type, format('%s tiered_storage.%I(%s%I => %%L)',
		CASE p.prokind WHEN 'p' THEN 'CALL' ELSE 'SELECT count(*) FROM' END, p.proname, c.fixed || CASE c.fixed
			WHEN '' THEN '' ELSE ', ' END, a.name)
	FROM (VALUES
		('add_tier', 'name => ''b'', tablespaces => ''{regress_n_slow}'''),
		('alter_tier', 'name => ''a'''),
		('pin', 'relation => ''regress_n_1'''),
		('add_tiering_policy', 'relation => ''regress_n'', tier => ''a'''),
		('add_tiering_policy', 'relation => ''regress_n_id'', tier => ''a'', move_after => ''1 day'',
	options => ''{"key_unit": "milliseconds"}'''),
		('recommend_placement', 'include_unchanged => true'),
		('placement_summary', ''),
		('simulate_placement', 'tiers => ''{}'''),
		('tier_size_curve', 'tier => ''a'''),
		('explain_placement', 'relation => ''regress_n_1'''),
		('block_heat', 'relation => ''regress_n_1'''),
		('recommend_partitioning', ''),
		('load_profile', 'from_at => ''2000-01-01'''),
		('smoothed_rate', 'rate => 1, idle_s => 1, observed_s => 1, half_life_s => 1'),
		('calibrate_tier', 'name => ''a'', dry_run => true')) c (name, fixed)
	JOIN pg_proc p ON p.pronamespace = 'tiered_storage'::regnamespace AND p.proname = c.name
	CROSS JOIN LATERAL (SELECT u.name, format_type(u.type, NULL) AS type
		FROM unnest(p.proargnames[1:p.pronargs], p.proargtypes::oid[]) u (name, type)) a
	WHERE a.type IN (SELECT v.type FROM regress_n_value v) AND position(a.name || ' =>' IN c.fixed) = 0
		AND (p.proname <> 'add_tiering_policy' OR a.name = 'move_after' OR c.fixed ~ 'move_after')
	UNION ALL
	SELECT c.name, k.name, k.type, format('SELECT tiered_storage.%I(%s, %I => %L::jsonb || jsonb_build_object(%L, %%L::%s))',
		c.name, c.fixed, c.object, c.others, k.name, k.type)
	FROM (VALUES
		('add_tier', 'name => ''b'', tablespaces => ''{regress_n_slow}''', 'device', '{}', '{random_read_ms,random_write_ms,
			sequential_read_mb_per_s,sequential_write_mb_per_s,fsync_ms,parallelism,endurance_tbw,endurance_dwpd}',
			'double precision'),
		('alter_tier', 'name => ''a''', 'device', '{}', '{random_read_ms,random_write_ms,sequential_read_mb_per_s,
			sequential_write_mb_per_s,fsync_ms,parallelism,endurance_tbw,endurance_dwpd}', 'double precision'),
		('alter_tier', 'name => ''a''', 'device', '{}', '{capacity_bytes}', 'bigint'),
		('alter_tier', 'name => ''a''', 'device', '{"compressed": true}', '{compression_ratio}', 'double precision'),
		('add_tiering_policy', 'relation => ''regress_n'', tier => ''a''', 'options', '{}', '{below_reads_per_hour}',
			'double precision'),
		('add_tiering_policy', 'relation => ''regress_n'', tier => ''a''', 'options', '{}', '{no_writes_for}', 'interval'),
		('add_tiering_policy', 'relation => ''regress_n'', tier => ''a'', move_after => ''1 day''', 'options', '{}',
			'{return_when_reads_per_hour}', 'double precision'),
		('add_tiering_policy', 'relation => ''regress_n'', tier => ''a'', move_after => ''1 day''', 'options',
			'{"return_when_reads_per_hour": 1}', '{return_after}', 'interval')) c (name, fixed, object, others, keys, type)
	CROSS JOIN LATERAL (SELECT key AS name, c.type FROM unnest(c.keys::text[]) key) k
$$;

-- What is not clean: an error that comes from inside, or what fails afterwards.
CREATE FUNCTION regress_n_fuzz() RETURNS TABLE (what text, value text, state text, message text) LANGUAGE plpgsql AS $$
DECLARE
	c record;
	stage text;
BEGIN
	FOR c IN SELECT k.*, v.value FROM regress_n_calls() k JOIN regress_n_value v ON v.type = k.type
		-- A calibration does what it is told, for as long as it is told.
		WHERE NOT (k.call = 'calibrate_tier' AND v.value IN ('1e308', '2147483648', '1', '9223372036854775807',
			'1152921504606846976', '1e-300', '5e-324'))
		ORDER BY 1, 2, 3, 4, 5 LOOP
		BEGIN
			stage := c.call || '(' || c.argument || ')';
			EXECUTE format(c.template, c.value);
			stage := stage || ': sample';
			CALL tiered_storage.sample();
			stage := stage || ', advice';
			PERFORM count(*) FROM tiered_storage.recommend_placement(true);
			PERFORM count(*) FROM _tiered_storage.placement_summary();
			PERFORM count(*) FROM _tiered_storage.tier_size_curve('a');
			PERFORM count(*) FROM _tiered_storage.recommend_settings();
			stage := stage || ', policies';
			PERFORM count(*) FROM _tiered_storage.evaluate_policies();
			stage := stage || ', views';
			PERFORM count(*) FROM (SELECT * FROM _tiered_storage.tiers) t WHERE t::text = '';
			PERFORM count(*) FROM (SELECT * FROM _tiered_storage.pins) t WHERE t::text = '';
			PERFORM count(*) FROM (SELECT * FROM _tiered_storage.policies) t WHERE t::text = '';
			stage := stage || ', another tier';
			PERFORM tiered_storage.remove_tier('b', true);
			PERFORM tiered_storage.add_tier('c', '{regress_n_slow}');
			RAISE EXCEPTION 'undone' USING ERRCODE = 'TS000';
		EXCEPTION WHEN OTHERS THEN
			IF SQLSTATE NOT IN ('TS000', '22023', '22004', '55000') OR SQLSTATE <> 'TS000' AND stage ~ ':' THEN
				what := stage;
				value := c.value;
				state := SQLSTATE;
				message := SQLERRM;
				RETURN NEXT;
			END IF;
		END;
	END LOOP;
END $$;
SET tiered_storage.test_now = '2026-06-01 00:00:00+00';
\set ECHO all
SELECT count(*) > 200 AS calls FROM regress_n_calls() k JOIN regress_n_value v ON v.type = k.type;
SELECT * FROM regress_n_fuzz();

\set ECHO none
-- The table itself: what no function lets through, a restore or a superuser does not either.
CREATE FUNCTION regress_n_table() RETURNS TABLE (what text, value text, state text) LANGUAGE plpgsql AS $$
DECLARE
	c record;
BEGIN
	FOR c IN SELECT a.attname, v.value FROM pg_attribute a JOIN regress_n_value v ON v.type = format_type(a.atttypid,
		NULL)
		WHERE a.attrelid = '_tiered_storage.tier'::regclass AND a.attnum > 0
			AND v.value IN ('NaN', 'Infinity', '-Infinity', '-1', '1e308', '5e-324', '1e400', '1e-400', '2147483647',
				'-2147483648', '9223372036854775807')
		ORDER BY 1, 2 LOOP
		BEGIN
			-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks, the
			-- load of hours; rows as a dump or another machine has left them.
			EXECUTE format('UPDATE _tiered_storage.tier SET %I = %L', c.attname, c.value);
			state := 'stored';
		EXCEPTION WHEN OTHERS THEN
			state := SQLSTATE;
		END;
		IF state <> '23514' THEN
			what := c.attname;
			value := c.value;
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
BEGIN;
\set ECHO all
SELECT * FROM regress_n_table();
\set ECHO none
ROLLBACK;

-- Nor times that cannot be subtracted.
INSERT INTO _tiered_storage.relation_history VALUES ('2026-05-31 00:00:00+00', 1, 60, 0, 0, 0, 0, 0, 0);
CREATE FUNCTION regress_n_times() RETURNS TABLE (what text, value text, state text) LANGUAGE plpgsql AS $$
DECLARE
	c record;
BEGIN
	FOR c IN SELECT a.attrelid::regclass AS relation, a.attname, v.value FROM pg_attribute a
			CROSS JOIN (VALUES ('infinity'), ('-infinity')) v (value)
		WHERE (a.attrelid, a.attname) IN (('_tiered_storage.relation_state'::regclass, 'heat_at'),
			('_tiered_storage.relation_state'::regclass, 'observed_since'),
			('_tiered_storage.relation_state'::regclass, 'sampled_since'), ('_tiered_storage.relation_state'::regclass,
				'proven_since'),
			('_tiered_storage.relation_history'::regclass, 'period_start'), ('_tiered_storage.sampler'::regclass,
				'last_sample_at'))
		ORDER BY 1, 2, 3 LOOP
		BEGIN
			EXECUTE format('UPDATE %s SET %I = %L', c.relation, c.attname, c.value);
			state := 'stored';
		EXCEPTION WHEN OTHERS THEN
			state := SQLSTATE;
		END;
		what := c.relation || '.' || c.attname;
		value := c.value;
		RETURN NEXT;
	END LOOP;
END $$;
\set ECHO all
SELECT * FROM regress_n_times();

-- Ranks go on where there is no room for one more.
SELECT tiered_storage.alter_tier('a', rank => 1000000);
SELECT tiered_storage.add_tier('b', '{regress_n_slow}', profile => 'hdd_7200');
SELECT tier_name, rank FROM _tiered_storage.tiers ORDER BY rank;
\set ECHO none
SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.alter_tier('b', rank => 1000001)
SELECT tiered_storage.alter_tier('b', device => '{"random_read_ms": 1e308}')
SELECT tiered_storage.alter_tier('b', price_per_gb_month => 1e400)
SELECT tiered_storage.add_tiering_policy('regress_n', '1000000 months -30000000 days', 'b')
$refused$);
\set ECHO all

\set ECHO none
-- What the owner of the tables, or a damaged file, has put into what was sampled: it is not known, and nothing comes
-- of it.
SET client_min_messages = warning;
CREATE FUNCTION regress_n_damage(of_table regclass, value text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	changes text;
BEGIN
	SELECT string_agg(format('%I = %L', attname, CASE atttypid::regtype::text
		WHEN 'bytea' THEN '\x' || repeat('0000c07f0000807f000080ff000080bf', 4)
			ELSE lower(value) END), ', ') INTO changes FROM pg_attribute
		WHERE attrelid = of_table AND attnum > 0 AND (atttypid = 'float8'::regtype OR atttypid = 'bytea'::regtype
			OR (atttypid = 'timestamptz'::regtype AND value ~ 'Infinity' AND (of_table::text ~ 'device'
				OR attname NOT IN ('heat_at', 'observed_since', 'sampled_since', 'proven_since'))));
	EXECUTE format('UPDATE %s SET %s', of_table, changes);
END $$;
CREATE FUNCTION regress_n_absurd(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	absurd bigint;
BEGIN
	EXECUTE format($q$SELECT count(*) FROM (%s) r, jsonb_each_text(to_jsonb(r)) f (name, value)
		WHERE f.name <> 'reason' AND (f.value ~* '^-?(nan|infinity)$' OR f.value ~ '^-?[0-9.]+e\+?[0-9]{3}$'
			OR f.value ~ '^[-0-9.]{30}'
			OR f.value ~ '^\\x.*(c07f|807f|80ff)')$q$, query) INTO absurd;
	RETURN absurd;
END $$;
CREATE FUNCTION regress_n_damaged() RETURNS TABLE (value text, advice bigint, summary bigint, simulated bigint,
	curve bigint, firm bigint, stored bigint) LANGUAGE plpgsql AS $$
BEGIN
	FOREACH value IN ARRAY '{NaN,Infinity,-Infinity,1e308,-1e308}'::text[] LOOP
		PERFORM regress_n_damage('_tiered_storage.relation_state', value),
			regress_n_damage('_tiered_storage.device_state', value);
		advice := regress_n_absurd('SELECT * FROM tiered_storage.recommend_placement(true)');
		summary := regress_n_absurd('SELECT * FROM _tiered_storage.placement_summary()');
		simulated := regress_n_absurd('SELECT * FROM _tiered_storage.simulate_placement(''{}'', 2)');
		curve := regress_n_absurd('SELECT * FROM _tiered_storage.tier_size_curve(''a'')');
		SELECT count(*) INTO firm FROM tiered_storage.recommend_placement(true) WHERE confidence = 'firm';
		-- It grows, so that it is stored again.
		INSERT INTO regress_n_1 SELECT '2001-01-02', i FROM generate_series(1, 1000) i;
		CALL tiered_storage.sample();
		stored := regress_n_absurd('SELECT * FROM _tiered_storage.relation_state WHERE relation_oid = ''regress_n_1''::regclass') +
			regress_n_absurd('SELECT * FROM _tiered_storage.device_state');
		RETURN NEXT;
	END LOOP;
END $$;
\set ECHO all
SELECT * FROM regress_n_damaged();

\set ECHO none
-- Nor is what can be computed with, but cannot be: negative amounts, more of them than there are, growth of 10^38
-- bytes.
CREATE FUNCTION regress_n_impossible() RETURNS TABLE (value text, device_s float8, growth float8)
	LANGUAGE plpgsql AS $$
BEGIN
	FOREACH value IN ARRAY '{-5,1e50}'::text[] LOOP
		PERFORM regress_n_damage('_tiered_storage.relation_state', value);
		UPDATE _tiered_storage.relation_state SET heat_at = s.at, observed_since = s.at - interval '15 hours',
			sampled_since = s.at - interval '30 hours',
			evidence_began_at = s.at - interval '15 hours', evidence_interval_s = 3600,
				evidence_reads = decode(repeat('0000803f',
					16),
					'hex')
			FROM (SELECT current_setting('tiered_storage.test_now')::timestamptz AS at) s;
		UPDATE _tiered_storage.tablespace_growth SET evidence_growth = decode(repeat('ffff7f7f', 16), 'hex');
		SELECT sum(io_s_per_hour), sum(growth_bytes_per_day) INTO device_s, growth
			FROM _tiered_storage.placement_summary() WHERE tier_name IS NULL;
		RETURN NEXT;
	END LOOP;
END $$;
BEGIN;
\set ECHO all
SELECT * FROM regress_n_impossible();
\set ECHO none
ROLLBACK;

-- A period of the load that no sample has written: who waits is not known from it, its hour can be rolled up, and it
-- is no load.
CREATE FUNCTION regress_n_load() RETURNS TABLE (value text, known boolean, advice bigint, commits float8, kept bigint)
	LANGUAGE plpgsql AS $$
BEGIN
	CALL tiered_storage.sample();
	FOREACH value IN ARRAY '{-1,-9223372036854775808,9223372036854775807}'::text[] LOOP
		DELETE FROM _tiered_storage.load_history;
		EXECUTE format('INSERT INTO _tiered_storage.load_history (period_start, period_s, wait_sampled_ms, %1$s) SELECT s.sampled_at - n * interval ''1 minute'', 60, 60000, %2$s
			FROM _tiered_storage.load_state s, generate_series(1, 59) n', (SELECT string_agg(quote_ident(attname),
				', ') FROM pg_attribute
				WHERE attrelid = '_tiered_storage.load_history'::regclass AND attnum > 2
					AND attname <> 'wait_sampled_ms'),
			(SELECT string_agg(quote_literal(value), ', ') FROM pg_attribute
				WHERE attrelid = '_tiered_storage.load_history'::regclass AND attnum > 2
					AND attname <> 'wait_sampled_ms'));
		UPDATE _tiered_storage.load_state SET observed_since = sampled_at - interval '1 hour';
		SELECT device_wait_fraction IS NOT NULL INTO known FROM _tiered_storage.placement_summary()
			WHERE tier_name IS NULL;
		advice := regress_n_absurd('SELECT * FROM _tiered_storage.placement_summary()');
		SELECT sum(p.total) INTO commits FROM _tiered_storage.load_state s,
			_tiered_storage.load_totals(s.observed_since, s.sampled_at) p WHERE p.metric = 'commits';
		PERFORM set_config('tiered_storage.test_now',
			(current_setting('tiered_storage.test_now')::timestamptz + interval '4 hours')::text, false);
		CALL tiered_storage.sample();
		SELECT count(*) INTO kept FROM _tiered_storage.load_rows h WHERE h.commits < 0 OR h.commits > 1e16;
		RETURN NEXT;
	END LOOP;
END $$;
\set ECHO all
SELECT * FROM regress_n_load();
\set VERBOSITY terse
INSERT INTO _tiered_storage.load_history (period_start, period_s) VALUES (now(), 'NaN'); \echo :SQLSTATE
\set VERBOSITY default

-- Statistics of the server that are no numbers: pg_restore_relation_stats() takes them from an owner.
INSERT INTO regress_n_1 VALUES ('2001-01-02', 1);
SELECT FROM pg_stat_force_next_flush();
UPDATE pg_class SET reltuples = 'NaN' WHERE oid = 'regress_n_1'::regclass;
CALL tiered_storage.sample();
SELECT tuples FROM _tiered_storage.relation_state WHERE relation_oid = 'regress_n_1'::regclass;

DROP TABLE regress_n, regress_n_id, regress_n_value;
DROP FUNCTION regress_n_calls, regress_n_fuzz, regress_n_table, regress_n_times, regress_n_damage, regress_n_absurd,
	regress_n_damaged, regress_n_impossible, regress_n_load;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_n_slow;

-- The ends of the calendar, days on which clocks are set, and whose time zone counts.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\i :abs_srcdir/sql/include/three_tiers.sql

\set ECHO none
SET client_min_messages = warning;
SET tiered_storage.test_now = '2026-06-01 00:00:00+00';
CREATE TABLE regress_zones (zone text, n int);
-- The last two are as far from UTC as a zone can be.
INSERT INTO regress_zones VALUES ('UTC', 1), ('Pacific/Kiritimati', 2), ('America/New_York', 3), ('Asia/Kathmandu', 4),
	('Pacific/Pago_Pago', 5), ('<east>-167', 6), ('<west>167', 7);
CREATE VIEW regress_verdicts AS
	SELECT e.relation::text COLLATE "C" AS relation, e.verdict, e.upper_bound, p.time_zone
	FROM _tiered_storage.evaluate_policies() e JOIN _tiered_storage.policies p USING (policy_id);
-- What people in all these zones are told, in instants: the same.
CREATE FUNCTION regress_told() RETURNS TABLE (session_zone text, relation text, verdict text, instant float8,
	reason text) LANGUAGE plpgsql AS $$
DECLARE
	mine text := current_setting('timezone');
BEGIN
	FOR session_zone IN SELECT zone FROM regress_zones ORDER BY n LOOP
		PERFORM set_config('timezone', session_zone, false);
		RETURN QUERY SELECT session_zone, e.relation::text, e.verdict, extract(epoch
			FROM e.upper_bound)::float8, e.reason FROM _tiered_storage.evaluate_policies() e;
	END LOOP;
	PERFORM set_config('timezone', mine, false);
END
$$;
CREATE FUNCTION regress_differences() RETURNS bigint LANGUAGE sql AS
	'SELECT count(*) FROM (SELECT relation FROM regress_told() GROUP BY relation HAVING count(DISTINCT (verdict, instant, reason)) <> 1) d';
\set ECHO all

---------------------------------------------------------------------------
-- The ends of the calendar
---------------------------------------------------------------------------

\set ECHO none
CREATE FUNCTION regress_edges(type text, bounds text[], columns int, time_zone text) RETURNS void LANGUAGE plpgsql
	AS $$
DECLARE
	lower text := CASE columns WHEN 1 THEN 'MINVALUE' ELSE 'MINVALUE, MINVALUE' END;
	upper text;
BEGIN
	EXECUTE format('CREATE TABLE regress_c (at %s, n int) PARTITION BY RANGE (at%s)', type, CASE columns
		WHEN 2 THEN ', n' END);
	FOR i IN 1..cardinality(bounds) LOOP
		upper := quote_literal(bounds[i]) || CASE columns WHEN 2 THEN ', 5' ELSE '' END;
		EXECUTE format('CREATE TABLE regress_c_%s PARTITION OF regress_c FOR VALUES FROM (%s) TO (%s) TABLESPACE regress_ts_fast', i, lower, upper);
		lower := upper;
	END LOOP;
	PERFORM tiered_storage.add_tiering_policy('regress_c', '30 days', 'regress_slow',
	options => jsonb_build_object('time_zone', time_zone));
END
$$;
CREATE PROCEDURE regress_forget() LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE regress_c;
	PERFORM tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.policies;
END
$$;
-- One to four have a bound long ago, the others in the future; in each zone, by each key.
CREATE TABLE regress_seen (type text, columns int, zone text, relation text, verdict text, differences bigint);
DO $$
DECLARE
	bounds text[] := '{4714-11-24 BC,4714-11-25 BC,4714-12-03 BC,2020-01-01,294276-12-20,294276-12-31}';
	k record;
BEGIN
	FOR k IN SELECT t.type, c.columns, z.zone FROM unnest('{date,timestamp,timestamptz}'::text[]) t (type),
		generate_series(1, 2) c (columns), regress_zones z LOOP
		PERFORM regress_edges(k.type, bounds || CASE k.type WHEN 'date' THEN '{5874897-12-31,infinity}'
			ELSE '{294276-12-31 23:59:59.999999,infinity}' END::text[], k.columns, k.zone);
		INSERT INTO regress_seen SELECT k.type, k.columns, k.zone, relation, verdict, (SELECT regress_differences())
			FROM regress_verdicts;
		CALL regress_forget();
	END LOOP;
END
$$;
\set ECHO all
SELECT type, columns, relation, string_agg(DISTINCT verdict, ', ') AS verdicts, count(*) AS zones, sum(differences)
	AS differences FROM regress_seen GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
-- Infinity as the end of all: no time, and never due.
CREATE TABLE regress_c (at timestamp, n int) PARTITION BY RANGE (at, n);
CREATE TABLE regress_c_1 PARTITION OF regress_c FOR VALUES
	FROM (MINVALUE, MINVALUE) TO ('-infinity', MAXVALUE) TABLESPACE regress_ts_fast;
CREATE TABLE regress_c_2 PARTITION OF regress_c FOR VALUES
	FROM ('-infinity', MAXVALUE) TO ('2020-01-01', 0) TABLESPACE regress_ts_fast;
CREATE TABLE regress_c_3 PARTITION OF regress_c FOR VALUES
	FROM ('infinity', 0) TO ('infinity', MAXVALUE) TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy('regress_c', '30 days', 'regress_slow') > 0 AS added \gset
SELECT relation, verdict, upper_bound FROM regress_verdicts ORDER BY relation;
CALL regress_forget();
-- As old as the calendar is not as old as an age that reaches beyond it.
SELECT regress_edges('timestamptz', '{4714-11-24 BC,2020-01-01}', 1, 'UTC');
SELECT tiered_storage.alter_policy('regress_c', changes => '{"move_after": "6700 years"}') \gset
SELECT relation, verdict, reason FROM _tiered_storage.evaluate_policies() ORDER BY relation::text;
-- Nor does it matter that an interval takes the long way.
SELECT tiered_storage.alter_policy('regress_c',
	changes => '{"move_after": "-3600 mons 109600 days"}') \gset
SELECT relation, verdict FROM regress_verdicts ORDER BY relation;
CALL regress_forget();

---------------------------------------------------------------------------
-- Days on which clocks are set
---------------------------------------------------------------------------

\set ECHO none
-- New York puts them forward on 2026-03-08 at 02:00 (07:00 UTC), and back on 2026-11-01 at 02:00
-- (06:00 UTC).  A bound is where the last row that can be before it is, by the server's own cast.
CREATE TABLE regress_hours (at timestamp, n int) PARTITION BY RANGE (at, n);
CREATE TABLE regress_switch (bound timestamp);
INSERT INTO regress_switch SELECT '2026-03-07 23:00'::timestamp + n * interval '30 minutes'
	FROM generate_series(0, 12) n;
INSERT INTO regress_switch SELECT '2026-10-31 23:00'::timestamp + n * interval '30 minutes'
	FROM generate_series(0, 12) n;
DO $$
DECLARE
	s record;
BEGIN
	FOR s IN SELECT bound, row_number() OVER (ORDER BY bound) AS i, lag(bound, 1, '2026-01-01') OVER (ORDER BY bound)
		AS before FROM regress_switch LOOP
		EXECUTE format('CREATE TABLE regress_hours_%s PARTITION OF regress_hours FOR VALUES FROM (%L, 5) TO (%L, 5) TABLESPACE regress_ts_fast', s.i + 100, s.before, s.bound);
	END LOOP;
END
$$;
\set ECHO all
SELECT tiered_storage.add_tiering_policy('regress_hours', '30 days', 'regress_slow',
	options => '{"time_zone": "America/New_York"}') > 0 AS added \gset
SET timezone = 'America/New_York';
-- Rows up to the bound itself; to the microsecond.
SELECT s.bound, v.upper_bound AT TIME ZONE 'UTC' AS ends_utc,
	v.upper_bound = (SELECT max((t - d * interval '1 microsecond')::timestamptz)
		FROM generate_series(s.bound - interval '2 hours', s.bound, '1 minute') t, generate_series(0,
			1) d) + interval '1 microsecond' AS after_all_rows
	FROM (SELECT bound, 'regress_hours_' || 100 + row_number() OVER (ORDER BY bound) AS relation FROM regress_switch) s
		JOIN regress_verdicts v USING (relation) ORDER BY s.bound;
SET timezone = 'UTC';
SELECT regress_differences();
DROP TABLE regress_hours;
SELECT tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.policies \g /dev/null
-- Of a key of one column the bound is no row: it ends before, and on the way to winter time not an hour later than
-- that.
SELECT regress_edges('timestamp',
	'{2026-03-08 02:00,2026-03-08 03:00,2026-03-08 04:00,2026-11-01 00:00,2026-11-01 01:00,2026-11-01 02:00,2026-11-01 03:00}', 1, 'America/New_York');
SELECT relation, upper_bound FROM regress_verdicts ORDER BY relation;
SELECT regress_differences();
CALL regress_forget();
-- Dates end with their day, which has 23, 24 or 25 hours, or none where a zone has left one out.
SELECT regress_edges('date', '{1994-12-30,1994-12-31,1995-01-01,2026-03-07,2026-03-08,2026-11-01}', 2, zone)
	FROM regress_zones WHERE zone = 'America/New_York';
SELECT relation, upper_bound FROM regress_verdicts ORDER BY relation;
SELECT tiered_storage.alter_policy('regress_c', changes => '{"time_zone": "Pacific/Kiritimati"}') \gset
SELECT relation, upper_bound FROM regress_verdicts ORDER BY relation;
SELECT regress_differences();
CALL regress_forget();
-- Where midnight is left out, and where it is there twice.
SELECT regress_edges('date', '{2018-11-04,2018-11-05}', 1, 'America/Sao_Paulo');
SELECT relation, upper_bound FROM regress_verdicts ORDER BY relation;
SELECT tiered_storage.alter_policy('regress_c', changes => '{"time_zone": "America/Havana"}') \gset
SELECT relation, upper_bound FROM regress_verdicts ORDER BY relation;
CALL regress_forget();
-- What a key_unit makes of a number that rows may equal, to the microsecond.
CREATE TABLE regress_c (k bigint, n int) PARTITION BY RANGE (k, n);
CREATE TABLE regress_c_1 PARTITION OF regress_c FOR VALUES FROM (0, 0) TO (20260308, 5) TABLESPACE regress_ts_fast;
SELECT tiered_storage.add_tiering_policy('regress_c', '30 days', 'regress_slow',
	options => '{"key_unit": "yyyymmdd", "time_zone": "America/New_York"}') > 0 AS added \gset
SELECT relation, upper_bound FROM regress_verdicts;
CREATE FUNCTION regress_upper(unit text) RETURNS timestamptz LANGUAGE plpgsql AS $$
BEGIN
	PERFORM tiered_storage.alter_policy('regress_c', changes => jsonb_build_object('key_unit', unit));
	RETURN (SELECT upper_bound FROM regress_verdicts);
END
$$;
SELECT unit, regress_upper(unit) FROM unnest('{seconds,milliseconds,microseconds,nanoseconds}'::text[]) unit;
CALL regress_forget();

-- Months and days are taken off in the zone of the policy, whoever asks: 30 days before a noon in New York are 719
-- hours across the switch.
SELECT regress_edges('timestamptz', '{2026-02-20 12:00-05,2026-02-20 13:00-05,2026-02-20 13:00:00.000001-05}', 1,
	'America/New_York');
SET tiered_storage.test_now = '2026-03-22 16:00:00+00';
SELECT relation, verdict FROM regress_verdicts ORDER BY relation;
SELECT tiered_storage.alter_policy('regress_c', changes => '{"move_after": "719 hours"}') \gset
SELECT relation, verdict FROM regress_verdicts ORDER BY relation;
SELECT regress_differences();
-- The zone of the session when it was added is the policy's from then on.
CALL regress_forget();
SET timezone = 'Pacific/Kiritimati';
SELECT regress_edges('date', '{2026-02-20}', 1, NULL);
SET timezone = 'UTC';
SELECT relation, upper_bound, time_zone FROM regress_verdicts;
SELECT regress_differences();
\set ECHO none
CALL regress_forget();

DROP VIEW regress_verdicts;
DROP TABLE regress_zones, regress_seen, regress_switch;
DROP FUNCTION regress_told, regress_differences, regress_edges, regress_upper;
DROP PROCEDURE regress_forget;
DROP EXTENSION tiered_storage;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;
\set ECHO all

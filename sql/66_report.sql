-- The report: its numbers are those of the views, nothing that somebody chose is markup, and an
-- empty answer says why. What it looks like, test/report shows.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
\pset null '(null)'

-- The tables of a page, by their ids: the numbers of each row.
CREATE FUNCTION regress_numbers(page text, id text) RETURNS TABLE (n bigint, numbers float8[]) LANGUAGE sql AS $$
	SELECT row_number() OVER (ORDER BY r.n), ARRAY(SELECT m[1]::float8
		FROM regexp_matches(r.line, '<data value="([^"]*)"', 'g') m)
	FROM regexp_split_to_table(substring(page FROM '<table id="' || id || '">(.*?)</table>'),
		'</tr>') WITH ORDINALITY r (line, n)
	WHERE r.line ~ '<th scope="row"'
$$;
-- What there is to read in a section that shows nothing.
CREATE FUNCTION regress_reasons(page text) RETURNS TABLE (section text, reason text) LANGUAGE sql AS $$
	SELECT split_part(s.part, '"', 1), regexp_replace(split_part(e.part, '</p>', 1), '<[^>]*>', '', 'g')
	FROM regexp_split_to_table(page, '<section id="') WITH ORDINALITY s (part, n)
	CROSS JOIN LATERAL regexp_split_to_table(s.part,
		'<p class="empty"><strong>Nothing to show.</strong> ') WITH ORDINALITY e (part, n)
	WHERE e.n > 1 ORDER BY s.n, e.n
$$;
-- A page whose elements all end, in the order in which they began: how many are open at the end.
CREATE FUNCTION regress_open(page text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	tags text[] := '{}';
	tag text[];
BEGIN
	FOR tag IN SELECT regexp_matches(page, '<(/?)([a-z0-9]+)[^<>]*?(/?)>', 'g') LOOP
		IF tag[2] = ANY ('{meta,link}') OR tag[3] = '/' THEN
			CONTINUE;
		ELSIF tag[1] = '' THEN
			tags := tags || tag[2];
		ELSIF tags[cardinality(tags)] IS DISTINCT FROM tag[2] THEN
			RETURN format('</%s> ends <%s>', tag[2], tags[cardinality(tags)]);
		ELSE
			tags := tags[:cardinality(tags) - 1];
		END IF;
	END LOOP;
	RETURN array_to_string(tags, ' ');
END
$$;

-- Each row of a table has as many cells as the table has heads: tables where that is not so.
CREATE FUNCTION regress_ragged(page text) RETURNS TABLE (id text, heads bigint, cells bigint) LANGUAGE sql AS $$
	SELECT DISTINCT t.m[1], h.n, c.n
	FROM regexp_matches(page, '<table id="([^"]*?)">(.*?)</table>', 'g') t (m)
	CROSS JOIN LATERAL (SELECT count(*) FROM regexp_matches(t.m[2], '<th scope="col"', 'g')) h (n)
	CROSS JOIN LATERAL regexp_split_to_table(t.m[2], '</tr>') r (line)
	CROSS JOIN LATERAL (SELECT count(*) FROM regexp_matches(r.line, '<(th scope="row"|td)', 'g')) c (n)
	WHERE r.line ~ '<th scope="row"' AND h.n <> c.n
$$;

\echo '-- What cannot be a period'

SELECT * FROM pg_temp.refused($refused$
SELECT tiered_storage.report(NULL)
SELECT tiered_storage.report(to_at => NULL)
SELECT tiered_storage.report('-infinity')
SELECT tiered_storage.report(to_at => 'infinity')
SELECT tiered_storage.report('2026-01-02', '2026-01-01')
SELECT tiered_storage.report('2026-01-02', '2026-01-02')
SELECT tiered_storage.report('2026-01-02 00:00:00', '2026-01-02 00:00:09')
SELECT tiered_storage.report('1026-01-02', '2026-01-02')
SELECT tiered_storage.report('4026-01-02', '4026-01-03')
$refused$);

\echo '-- It begins when the samples do.'
SELECT substring(tiered_storage.report(to_at => now() + interval '1 hour') FROM 'Period: (.*?) to ')
	= _tiered_storage.report_cell((SELECT LEAST(l.observed_since, s.last_sample_at)::text FROM _tiered_storage.last_sample s
		LEFT JOIN _tiered_storage.last_load l ON true), 'time') AS begins_with_samples;

\echo '-- Nothing: no tier, no sample, no move'

-- Made up, since no call makes it in the time of a test: rates, and history of days and weeks, the load of hours;
-- moves of another time, size or end.
TRUNCATE _tiered_storage.sampler, _tiered_storage.relation_state, _tiered_storage.relation_history,
	_tiered_storage.load_state, _tiered_storage.load_history, _tiered_storage.file_state, _tiered_storage.file_history,
	_tiered_storage.move, _tiered_storage.move_effect, _tiered_storage.device_state, _tiered_storage.history_hour, _tiered_storage.state_snapshot;
SELECT tiered_storage.report() AS page \gset
SELECT section, reason FROM regress_reasons(:'page') WHERE section <> 'moves';
SELECT regress_open(:'page') AS open, :'page' ~ '<p class="answer">Define tiers first' AS answer;

\echo '-- What the answer says in each state'

CREATE FUNCTION regress_answer(advice jsonb, total jsonb DEFAULT '{}', facts jsonb DEFAULT '{}') RETURNS text
	LANGUAGE sql AS $$
	SELECT replace(regexp_replace(regexp_replace(split_part(_tiered_storage.report_answer(
		'{"tiers": [{"tier_name": "fast", "tablespaces": ["a"]}, {"tier_name": "slow", "tablespaces": ["b"]}], "sampler": {}, "standby": false,
			"paused": false, "moves": {"done": 3, "failed": 0, "longest_lock_ms": 2.5}}'::jsonb
		|| jsonb_build_object('advice',
			'{"moves": 0, "firm": 0, "tentative": 0, "provisional": 0, "size_bytes": 0, "tiers": []}'::jsonb || advice
			|| jsonb_build_object('all',
				'{"relations": 7, "io_s_per_hour": 100, "advised_io_s_per_hour": 100, "price_per_month": 20,
				"advised_price_per_month": 20, "growth_bytes_per_day": 0}'::jsonb || total)) || facts), '<dl', 1), '^.*?</h2>|<[^>]*>', '', 'g'),
					'\s*\n', ' | ', 'g'), '&nbsp;', ' ')
$$;
SELECT state, regress_answer(advice::jsonb, total::jsonb, facts::jsonb) FROM (VALUES
	(1, 'no tiers', '{}', '{}', '{"tiers": []}'),
	(2, 'tiers without a tablespace', '{}', '{}',
		'{"tiers": [{"tier_name": "fast", "tablespaces": null}, {"tier_name": "slow", "tablespaces": null}]}'),
	(3, 'one tier', '{}', '{}', '{"tiers": [{"tier_name": "only<1>", "tablespaces": ["a"]}]}'),
	(4, 'no sample', '{}', '{}', '{"sampler": null}'),
	(5, 'no sample, a standby', '{}', '{}', '{"sampler": null, "standby": true}'),
	(6, 'too little is known', '{"moves": 2, "provisional": 2, "size_bytes": 5242880}',
		'{"advised_io_s_per_hour": 60}', '{}'),
	(7, 'nothing to do', '{}', '{"reason": "no move; all is where it should be"}', '{}'),
	(8, 'nothing costs anything', '{}', '{"io_s_per_hour": 0, "advised_io_s_per_hour": 0}', '{}'),
	(8.5, 'installed an hour ago, and empty',
		'{"tiers": [{"tier_name": "fast"}]}',
		'{"relations": 0, "io_s_per_hour": 0, "advised_io_s_per_hour": 0, "growth_bytes_per_day": null}', '{}'),
	(9, 'tentative', '{"moves": 2, "tentative": 1, "provisional": 1, "size_bytes": 5242880}',
		'{"advised_io_s_per_hour": 60}', '{}'),
	(10, 'firm', '{"moves": 1, "firm": 1, "size_bytes": 5242880, "tiers": [{"tier_name": "fast", "days_until_full": 12, "growth_bytes_per_day": 1024}]}',
		'{"advised_io_s_per_hour": 60, "advised_price_per_month": 25, "advised_speedup_low": 1.1, "advised_speedup_high": 1.3}', '{}'),
	(11, 'firm, and nothing is saved',
		'{"moves": 1, "firm": 1, "size_bytes": 5242880, "tiers": [{"tier_name": "fast", "days_until_full": 0}]}',
		'{"io_s_per_hour": 0, "advised_io_s_per_hour": 0, "advised_speedup_low": 1, "advised_speedup_high": 1}', '{}'),
	(12, 'room at the expense of time', '{"moves": 1, "firm": 1, "size_bytes": 5242880}',
		'{"advised_io_s_per_hour": 101, "advised_price_per_month": 21}', '{}'),
	(13, 'money at the expense of time', '{"moves": 1, "firm": 1, "size_bytes": 5242880}',
		'{"advised_io_s_per_hour": 101, "advised_price_per_month": 5}', '{}'),
	(14, 'paused', '{"moves": 1, "firm": 1, "size_bytes": 5242880}', '{"advised_io_s_per_hour": 60}',
		'{"paused": true}'),
	(15, 'failed', '{}', '{}', '{"moves": {"done": 0, "failed": 2}}'),
	(16, 'standby', '{"moves": 1, "firm": 1, "size_bytes": 5242880}', '{"advised_io_s_per_hour": 60}',
		'{"standby": true}'),
	(17, 'more reasons than have room', '{}',
		'{"reason": "no move; 22 smaller than 64kB; 67 observed for too short a time; ..."}', '{}')
	) v (n, state, advice, total, facts) ORDER BY n;
DROP FUNCTION regress_answer;
\echo '-- And beside the gauge of a tier: what it is said of it, and no part that is larger than the whole.'
SELECT n, regexp_replace(replace(_tiered_storage.report_tiers(jsonb_build_object('classes', '{}'::jsonb,
		'tiers', jsonb_build_array(jsonb_build_object('tier_name', 't<ier', 'used_bytes', 60 * 2^30, 'free_bytes', 40 * 2^30,
			'capacity_bytes', 100 * 2^30,
			'relation_bytes', relations, 'low_watermark', 0.8, 'high_watermark', 0.9, 'reserve_fraction', 0.1)),
		'advice', jsonb_build_object('tiers', jsonb_build_array(jsonb_build_object('tier_name', 't<ier', 'reason',
			reason))))),
		'&nbsp;', ' '), '<[^>]*>', '|', 'g') ~ what AS said
	FROM (VALUES (1, 50 * 2^30, NULL, '60 GB[|]* used of [|]*100 GB[|]*, [|]*50 GB[|]* of it by this database[|]'), (2,
		70 * 2^30,
		NULL, '60 GB[|]* used of [|]*100 GB[|]*, although .*70 GB[|]*: they are compressed'),
		(3, 50 * 2^30, 'is too full by 2 <GB>', 't&#60;ier[|]* is too full by 2 &#60;GB&#62;[.]')) v (n, relations, reason,
			what) ORDER BY n;

\echo '-- Two periods, of which the figures are known'

\i :abs_srcdir/sql/include/three_tiers.sql
\set ECHO none
SET tiered_storage.track_access = off;
SET tiered_storage.test_page_cache = off;
-- What somebody calls a table, an index, a schema, a tier, an error, must not be markup.
SET standard_conforming_strings = on;
CREATE SCHEMA "<script>alert(1)</script>";
CREATE TABLE "<script>alert(1)</script>"."""><img src=x onerror=alert('1')>&amp;" (a text) TABLESPACE regress_ts_slow;
SELECT format('CREATE TABLE %I (a text) TABLESPACE regress_ts_slow', E'-->\n]]>\t</table></svg>\x01\x7f')
	AS statement \gset
:statement;
CREATE TABLE regress_plain (a text) TABLESPACE regress_ts_slow;
CREATE TABLE regress_loved (a text) TABLESPACE regress_ts_fast;
INSERT INTO regress_plain SELECT repeat(md5(i::text), 60) FROM generate_series(1, 2000) i;
COMMENT ON TABLE regress_plain IS '<script>alert(2)</script>';
SELECT tiered_storage.alter_tier('regress_cheap', new_name => '</style><b>"''&cheap') \gset
-- What this session has done until here is over before the first sample.
SELECT pg_stat_force_next_flush() \g /dev/null
SET tiered_storage.test_now = '2030-01-01 00:00:00+00';
CALL tiered_storage.sample();
SET tiered_storage.test_now = '2030-01-05 00:00:00+00';
CALL tiered_storage.sample();
UPDATE _tiered_storage.relation_state SET evidence_interval_s = 0, evidence_reads = '', evidence_writes = '',
	evidence_growth = '', heat_at = '2030-01-05', last_read_at = '2030-01-05', last_used_at = '2030-01-05',
	observed_since = '2029-12-01', sampled_since = '2029-12-01', proven_since = '2029-12-01',
		device_random_fast = 5000,
		device_random_slow = 5000, random_fast = 5000, random_slow = 5000,
	changes_fast = 100, changes_slow = 100
	WHERE relation_oid = 'regress_plain'::regclass;
TRUNCATE _tiered_storage.relation_history, _tiered_storage.load_history, _tiered_storage.history_hour;
INSERT INTO _tiered_storage.relation_history (period_start, relation_oid, period_s, scans, random_reads,
	sequential_reads, hits, row_changes, page_writes)
	SELECT t, c.oid, 3600, 1, 100 * c.n, 10 * c.n, 7, 3, c.n
	FROM (SELECT oid, row_number() OVER (ORDER BY relname COLLATE "C") AS n FROM pg_class
		WHERE relkind = 'r' AND reltablespace <> 0
		AND relnamespace <> 'pg_catalog'::regnamespace) c
	CROSS JOIN generate_series('2030-01-02'::timestamptz, '2030-01-04 18:00', '1 hour') t;
-- One that reaches over several parts of the picture, one that begins before the period, one of a relation that is
-- gone.
INSERT INTO _tiered_storage.relation_history VALUES ('2030-01-04 19:30', 'regress_plain'::regclass, 10800, 1, 900, 0,
	0,
	0, 0),
	('2030-01-02 22:30', 'regress_loved'::regclass, 7200, 1, 500, 0, 0, 0, 0), ('2030-01-03 12:00', 4294900000, 3600,
		1,
		5, 0, 0, 0, 0);
INSERT INTO _tiered_storage.load_history (period_start, period_s, commits, rollbacks, blocks_fetched, blocks_hit,
	wal_bytes, wait_sampled_ms,
		wait_cpu_ms, wait_relations_ms, wait_wal_ms, wait_temp_ms, wait_slru_ms, wait_other_io_ms, wait_lock_ms,
			wait_lwlock_ms, wait_other_ms)
	SELECT t, 3600, 1000 + 10 * date_part('day', t), 5, 90000, 80000, 123456, 3600000, 1000, 2000, 300, 0, 0, 1, 2, 3,
		4
	FROM generate_series('2030-01-01'::timestamptz, '2030-01-04 23:00', '1 hour') t;
INSERT INTO _tiered_storage.move (relation_oid, relation_name, kind, from_tablespace, to_tablespace, from_tier,
	to_tier,
	state, requested_by,
		reason, method, size_bytes, predicted_saved_io_s_per_hour, started_at, finished_at, lock_wait_ms, lock_held_ms,
			copied_bytes, elapsed_ms,
		waited_ms, error, sqlstate)
	VALUES ('regress_loved'::regclass, 'regress_loved', 'table', 'regress_ts_slow', 'regress_ts_fast', 'regress_slow',
		'regress_fast', 'done',
			'postgres', '<i>because', 'online', 123456, 12.5, '2030-01-03 10:00', '2030-01-03 10:01', 1.5, 2.25,
				123456,
				60000, 0, NULL, NULL),
		(1, '<b>gone', 'table', 'regress_ts_slow', 'regress_ts_fast', 'regress_slow', '</style>gone', 'failed', '"<b>',
			'why not', 'online', 99, NULL,
			'2030-01-04 10:00', '2030-01-04 11:00', 3, 4, 5, 3600000, 0, '<script>alert(3)</script>', 'XX000');
INSERT INTO _tiered_storage.move_effect (move_id, relation_oid, to_tablespace_oid, settled_at, source,
		unmoved_io_s_per_hour, measured_io_s_per_hour)
	SELECT m.move_id, m.relation_oid, 0, '2030-01-04', 'device', 20, 9.5 FROM _tiered_storage.move m
		WHERE m.state = 'done';
SELECT tiered_storage.report('2029-01-01', '2029-02-01'); \echo :SQLSTATE
SELECT tiered_storage.report('2030-01-03', '2030-01-05') AS page \gset
\echo '-- What the last night brought; where that is all of the period, it has been said.'
SELECT regexp_replace((regexp_match(:'page', 'last 24 h: (.*?)</small>'))[1], '<[^>]*>', '', 'g') AS last_day,
	tiered_storage.report('2030-01-04', '2030-01-05') ~ 'last 24 h' AS in_a_day;
SELECT * FROM regress_reasons(:'page') WHERE section <> 'writes';

\echo '-- The tags and attributes of the page, whatever names there are; ASCII only, and nothing that'
\echo '-- is no text.'
SELECT string_agg(DISTINCT m[1], ' ' ORDER BY m[1]) AS tags FROM regexp_matches(:'page', '<([^\s/>!]+)', 'g') m;
SELECT string_agg(DISTINCT a[1], ' ' ORDER BY a[1]) AS attributes
FROM regexp_matches(:'page', '<[a-z0-9]+ [^<>]*>', 'g') t CROSS
	JOIN regexp_matches(t[1], '\s([^\s="'']+)="[^"]*"', 'g') a;
SELECT :'page' ~ E'[^\\n\\t -~]' AS other_characters, :'page' ~* 'https?://|url\(|@import' AS external,
	regress_open(:'page') AS open;
SELECT * FROM regress_ragged(:'page');
SELECT DISTINCT m[1] FROM regexp_matches(:'page', '<bdi>([^<]*(?:script|img|table|cheap|gone)[^<]*)</bdi>', 'g') m
	ORDER BY 1;
SELECT _tiered_storage.report_escape(E'a<b>&"''\x01\x1f\x7f\r\n`=') AS escaped, _tiered_storage.report_escape('')
	AS empty, _tiered_storage.report_escape(NULL) AS "null";
SELECT _tiered_storage.report_escape(chr(228) || chr(8238) || chr(128) || chr(128512)) FROM pg_database
WHERE datname = current_database() AND encoding = pg_char_to_encoding('UTF8');

\echo '-- The numbers of its tables are those of the views.'
\echo '-- (What is used and free on a file system is another thing at each look.)'
SELECT count(*) AS tiers, bool_and(p.numbers[:2] || p.numbers[5:8] = t.numbers) AS same
FROM regress_numbers(:'page', 'tiers-table') p FULL JOIN (SELECT row_number() OVER (ORDER BY rank, tier_name) AS n,
	ARRAY[relations,
	relation_bytes, capacity_bytes, reserve_fraction, low_watermark, high_watermark] AS numbers
		FROM _tiered_storage.tiers) t USING (n);
SELECT count(*) AS summary, bool_and(p.numbers = s.numbers) AS same
FROM regress_numbers(:'page', 'placement-table') p FULL JOIN (SELECT row_number() OVER () AS n,
	array_remove(ARRAY[io_s_per_hour, advised_io_s_per_hour,
	busy_fraction, advised_busy_fraction, wait_s_per_hour, advised_wait_s_per_hour, used_bytes, advised_bytes,
		price_per_month,
	advised_price_per_month], NULL) AS numbers FROM _tiered_storage.placement_summary()) s USING (n);
SELECT count(*) AS recommendations, bool_and(p.numbers = r.numbers) AS same
FROM regress_numbers(:'page', 'recommendations-table') p FULL
	JOIN (SELECT row_number() OVER (ORDER BY saved_io_s_per_hour DESC) AS n, ARRAY[size_bytes,
	saved_io_s_per_hour, price_delta_per_month] AS numbers
		FROM tiered_storage.recommend_placement()) r USING (n);
SELECT count(*) > 1 AS curve, bool_and(p.numbers = c.numbers) AS same
FROM regress_numbers(:'page', 'curve-table') p FULL JOIN (SELECT row_number() OVER () AS n,
	array_remove(ARRAY[capacity_bytes, used_bytes, io_s_per_hour,
	queue_s_per_hour, saved_s_per_hour, price_per_month], NULL) AS numbers
		FROM _tiered_storage.tier_size_curve('regress_fast')) c USING (n);
SELECT count(*) AS moves, bool_and(p.numbers = m.numbers) AS same
FROM regress_numbers(:'page', 'moves-table') p FULL JOIN (SELECT row_number() OVER (ORDER BY started_at DESC) AS n,
	array_remove(ARRAY[size_bytes, elapsed_ms,
	lock_held_ms], NULL) AS numbers
		FROM _tiered_storage.moves) m USING (n);
SELECT * FROM regress_numbers(:'page', 'effects-table');
SELECT count(*) > 0 AS wear, bool_and(p.numbers = w.numbers) AS same
FROM regress_numbers(:'page', 'wear-table') p FULL JOIN (SELECT row_number() OVER (ORDER BY device, tier_name) AS n,
	array_remove(ARRAY[written_bytes_per_day,
	moved_bytes_per_day, endurance_bytes_per_day,
		written_bytes_per_day / NULLIF(endurance_bytes_per_day, 0),
	used_fraction, expected_life_years], NULL) AS numbers FROM _tiered_storage.wear_state()) w USING (n);
SELECT count(*) AS metrics, bool_and(p.numbers = l.numbers) AS same
FROM regress_numbers(:'page', 'load-table') p FULL JOIN (SELECT row_number() OVER () AS n,
	array_remove(ARRAY[first_per_s, second_per_s, ratio,
	first_per_xact, second_per_xact]::float8[], NULL) AS numbers
		FROM tiered_storage.compare_load('2030-01-01', '2030-01-03', '2030-01-03', '2030-01-05')
		WHERE metric NOT IN ('period', 'prorated')) l USING (n);
\echo '-- By relation: what the history has of the period, the one that is gone included; and the cells have the same sum.'
SELECT p.n, p.numbers[cardinality(p.numbers) - 2:] AS numbers FROM regress_numbers(:'page', 'heat-table') p;
SELECT r ->> 'name' AS name, h.reads, h.writes, (r ->> 'reads')::float8 = h.reads
	AND (r ->> 'writes')::float8 = h.writes AS same,
	abs((SELECT sum(value::float8) FROM jsonb_each_text(r -> 'parts')) - h.reads - h.writes) < 0.001 AS cells,
		r #>> '{moved,0,to_tier}' AS moved_to
FROM jsonb_array_elements(_tiered_storage.report_heat('2030-01-03', '2030-01-05', '[]', 60) -> 'rows') r
JOIN (SELECT relation_oid, sum((random_reads + sequential_reads) * s.share) AS reads, sum(page_writes * s.share)
	AS writes FROM tiered_storage.history
	CROSS JOIN LATERAL _tiered_storage.period_share(period_start, period_s, '2030-01-03', '2030-01-05') s (share)
		GROUP BY 1) h
	ON h.relation_oid = (r ->> 'relation_oid')::oid ORDER BY (r ->> 'place')::int;
\echo '-- What reaches over several parts is shared among them.'
SELECT (p ->> 'at')::timestamptz AS at, h #> ARRAY['rows', '0', 'parts', p ->> 'part'] AS blocks
FROM _tiered_storage.report_heat('2030-01-03', '2030-01-05', '[]', 60) h CROSS JOIN jsonb_array_elements(h -> 'parts') p
WHERE (p ->> 'at')::timestamptz BETWEEN '2030-01-04 18:00' AND '2030-01-04 23:00' ORDER BY 1;
\echo '-- The busiest two, and the others together.'
SELECT jsonb_array_length(h -> 'rows') AS rows, h -> 'others' ->> 'relations' AS others, h -> 'others' -> 'reads'
	AS reads
FROM _tiered_storage.report_heat('2030-01-03', '2030-01-05', '[]', 2) h;
\echo '-- A period is cut into parts of a round length, at most 54.'
SELECT h ->> 'width_s' AS width_s, jsonb_array_length(h -> 'parts') AS parts,
	(SELECT round(sum((p ->> 'hours')::numeric), 6) FROM jsonb_array_elements(h -> 'parts') p) AS hours
FROM (VALUES ('1 minute'::interval), ('1 hour'), ('25 hours'), ('30 days'), ('90 days'), ('50 years')) v (length)
CROSS JOIN LATERAL _tiered_storage.report_heat('2030-01-05 00:00:30', '2030-01-05 00:00:30'::timestamptz + v.length,
	'[]', 60) h;
\echo '-- What a crash has lost is no time of rest.'
BEGIN;
DELETE FROM _tiered_storage.load_history WHERE period_start >= '2030-01-03 06:00' AND period_start < '2030-01-03 08:00';
DELETE FROM _tiered_storage.relation_history WHERE period_start >= '2030-01-03 06:00'
	AND period_start < '2030-01-03 08:00';
SELECT * FROM _tiered_storage.unsampled('2030-01-03', '2030-01-05');
SELECT tiered_storage.report('2030-01-03', '2030-01-05') AS gap \gset
SELECT count(*) AS bars FROM regexp_matches(:'gap', '<rect [^>]*class="unknown"', 'g');
SELECT m[1] AS what FROM regexp_matches(:'gap', '(Activity from [0-9][^<]*)<', 'g') m;
ROLLBACK;

\echo '-- Where history begins is asked once for each that reads it, not for each row.'
BEGIN;
SET LOCAL track_functions = 'all';
SELECT tiered_storage.report('2030-01-03', '2030-01-05') \g /dev/null
SELECT pg_stat_get_xact_function_calls('_tiered_storage.first_hour(timestamptz)'::regprocedure) < 60 AS few,
	(SELECT count(*) > 100 FROM tiered_storage.history) AS of_many_rows;
COMMIT;

\echo '-- Numbers, as people read them.'
SELECT v, _tiered_storage.report_words(v, '') AS plain, _tiered_storage.report_words(v, 'bytes/h') AS bytes,
	_tiered_storage.report_words(v, '%') AS percent,
	_tiered_storage.report_words(v, 'ms') AS ms, _tiered_storage.report_words(v, 'days') AS days
FROM unnest('{0,0.0001,0.5,1,-3,9.999,99.99,999.9,1000,12345.6,1e12,1e17,Infinity,NaN}'::float8[]) v;
SELECT t, array_agg(k ORDER BY k) FROM unnest('{0.003,10,7,50,123456}'::float8[]) t, _tiered_storage.report_ticks(t) k
	GROUP BY 1 ORDER BY 1;
SELECT v, _tiered_storage.report_heat_step(v) FROM unnest('{0,0.5,1,2.9,3,9.9,10,30,1000,3e5}'::float8[]) v;

\echo '-- Rights'

CREATE ROLE regress_report_monitor IN ROLE pg_monitor;
CREATE ROLE regress_report_nobody;
SET ROLE regress_report_monitor;
SELECT count(*) AS sections FROM regexp_matches(tiered_storage.report('2030-01-03', '2030-01-05'), '<section ', 'g');
SET ROLE regress_report_nobody;
SELECT tiered_storage.report('2030-01-03', '2030-01-05'); \echo :SQLSTATE
RESET ROLE;

DROP ROLE regress_report_monitor, regress_report_nobody;
SET client_min_messages = error;
RESET tiered_storage.test_now;
DROP SCHEMA "<script>alert(1)</script>" CASCADE;
SELECT format('DROP TABLE %I', E'-->\n]]>\t</table></svg>\x01\x7f') AS statement \gset
:statement;
DROP TABLE regress_plain, regress_loved;
DROP FUNCTION regress_numbers, regress_reasons, regress_open, regress_ragged;
DROP EXTENSION tiered_storage CASCADE;
DROP TABLESPACE regress_ts_fast;
DROP TABLESPACE regress_ts_slow;
DROP TABLESPACE regress_ts_cheap;

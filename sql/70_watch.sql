-- Short forms for people who watch: what they show, and that it fits a screen.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
\set ECHO none
SET client_min_messages = error;
CREATE TABLESPACE regress_w_slow LOCATION '';
SELECT tiered_storage.add_tier('regress_w_a_long_name_of_a_tier', '{regress_w_slow}', profile => 'hdd_7200',
	reserve_fraction => 0) \g /dev/null
SELECT tiered_storage.add_tier('fast', '{pg_default}', profile => 'nvme') \g /dev/null

CREATE TABLE regress_w_big AS SELECT i, repeat('x', 500) AS filler FROM generate_series(1, 2000) i;
CREATE TABLE "regress_w a name of
several lines that is longer than what a screen has room for" AS SELECT 1 AS i;
CREATE TABLE regress_w_表の名前がとても長くて端末の幅に AS SELECT i, repeat('x', 500) AS filler FROM generate_series(1, 1000) i;
DO $$ BEGIN EXECUTE format('CREATE TABLE %I AS SELECT 1 AS i', E'regress_w_\x1b[31mred'); END $$;
CREATE INDEX regress_w_index_with_a_long_name_that_is_clipped ON regress_w_big (i);
CALL tiered_storage.sample();
CALL tiered_storage.move_relation('regress_w_big', 'regress_w_a_long_name_of_a_tier', include_indexes => false);
CALL tiered_storage.move_relation('regress_w_表の名前がとても長くて端末の幅に', 'regress_w_a_long_name_of_a_tier');
\set ECHO all
SELECT relation, move, size ~ '^[0-9.]+ [kM]B$' AS size, state, note ~ E'^by hand\n(saves .*\n)?[0-9.]+ m?s, locked [0-9.]+ ms$' AS note
	FROM tiered_storage.moves;
SELECT at = to_char(now(), 'MM-DD HH24:MI') OR at = to_char(now() - interval '1 minute', 'MM-DD HH24:MI') AS at
	FROM tiered_storage.moves;
SELECT relation, tier_name, size ~ '^[0-9.]+ [kM]B$' AS size FROM tiered_storage.heat
	WHERE relation ~ 'regress_w' ORDER BY relation COLLATE "C";

SELECT tiered_storage.pause() \g /dev/null
SELECT name = current_database() AS name, now ~ '^moves are paused; ' AS now FROM tiered_storage.activity
	WHERE part = 'worker';
SELECT tiered_storage.resume() \g /dev/null
SELECT name, now ~ '^[0-9]+ % full, [0-9]+ [A-Za-z]+ free' AS now FROM tiered_storage.activity
	WHERE part = 'tier' AND name IN ('fast', 'regress_w_a_long_name_of_a_tier');
SELECT count(*) > 0 AS is_something_hot FROM tiered_storage.activity WHERE part = 'hot';
SELECT count(*) AS lines FROM tiered_storage.activity WHERE name ~ '[\n\x1b]' OR now ~ '\x1b';
SELECT count(*) AS lines FROM tiered_storage.heat WHERE relation ~ '[\n\x1b]';

SELECT n, _tiered_storage.short_bytes(n) AS bytes, _tiered_storage.short_quantity(n, 1000, '', 'k', 'M') AS count,
	_tiered_storage.short_quantity(n, 60, ' s', ' min', ' h') AS time
	FROM unnest('{0,0.001,0.5,9.94,9.95,999.4,999.5,1023,1024,999.5e3,1e6,1e15,1e300,-1,NULL}'::float8[]) n;
SELECT _tiered_storage.clip(E'one\nof\ttwo', 20), _tiered_storage.clip(repeat('x', 21), 20),
	length(_tiered_storage.clip(repeat('ä', 21), 20)), _tiered_storage.clip(NULL, 20) IS NULL;
-- Columns of a screen, not characters: wide letters, accents of their own, what moves the cursor.
SELECT v, _tiered_storage.clip(v, 9)
	FROM unnest(ARRAY[repeat('表', 4), repeat('表', 5), 'x' || repeat('表', 4), repeat(U&'e\0301', 9), repeat(U&'e\0301',
		10), '表の 名前']) v;
SELECT _tiered_storage.clip(E'a\x1b[31mb\x7f\u0085c\u2028d', 20) COLLATE "C" ~ '^a \[31mb  c' AS harmless,
	_tiered_storage.clip('ab', 0), _tiered_storage.first_columns('ab', -1) = '' AS nothing;
-- Sentences are shown in several lines.
SELECT replace(_tiered_storage.wrap(w, 20), E'\n', '/') FROM unnest(ARRAY['twenty letters in it', 'one word too many, here',
	'short ' || repeat('x', 45) || ' end', E'a\nline  and\x1b one more line', '', NULL,
	'表の名前がとても長くて端末の幅に', 'wide letters: 表の名前がとても長くて']) w;

DROP TABLE regress_w_big, "regress_w a name of
several lines that is longer than what a screen has room for", regress_w_表の名前がとても長くて端末の幅に;
DO $$ BEGIN EXECUTE format('DROP TABLE %I', E'regress_w_\x1b[31mred'); END $$;
DROP EXTENSION tiered_storage CASCADE;
DROP TABLESPACE regress_w_slow;

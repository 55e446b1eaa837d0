-- Short forms for people who watch: what they show, and that it fits a screen.
\getenv abs_srcdir PG_ABS_SRCDIR
\i :abs_srcdir/sql/include/begin.sql
SET client_min_messages = error;
CREATE TABLESPACE regress_w_slow LOCATION '';
SELECT tiered_storage.add_tier('regress_w_a_long_name_of_a_tier', '{regress_w_slow}', profile => 'hdd_7200', reserve_fraction => 0) \g /dev/null
SELECT tiered_storage.add_tier('fast', '{pg_default}', profile => 'nvme') \g /dev/null

-- As psql shows it: the widest value of each column, and what stands between them.
CREATE FUNCTION regress_width(relation regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	width bigint;
BEGIN
	EXECUTE format('SELECT sum(w) + 3 * count(*) - 1 FROM (SELECT key, greatest(max(length(value)), length(key)) AS w
		FROM %s r, jsonb_each_text(to_jsonb(r)) GROUP BY key) c', relation) INTO width;
	RETURN width;
END
$$;

CREATE TABLE regress_w_big AS SELECT i, repeat('x', 500) AS filler FROM generate_series(1, 2000) i;
CREATE TABLE "regress_w a name of
several lines that is longer than what a screen has room for" AS SELECT 1 AS i;
CREATE INDEX regress_w_index_with_a_long_name_that_is_clipped ON regress_w_big (i);
CALL tiered_storage.sample();
CALL tiered_storage.move_relation('regress_w_big', 'regress_w_a_long_name_of_a_tier', include_indexes => false);
SELECT relation, move, size ~ '^[0-9]+ kB$' AS size, took ~ '^[0-9.]+ s$' AS took, locked ~ '^[0-9.]+ ms$' AS locked, state FROM tiered_storage.recent_moves;
SELECT at = to_char(now(), 'MM-DD HH24:MI') OR at = to_char(now() - interval '1 minute', 'MM-DD HH24:MI') AS at FROM tiered_storage.recent_moves;
SELECT relation, tier, regexp_replace(size, '[0-9]+', 'N') AS size FROM tiered_storage.hot_relations WHERE relation ~ 'regress_w' ORDER BY relation COLLATE "C";

SELECT tiered_storage.pause() \g /dev/null
SELECT name = current_database() AS name, now ~ '^moves are paused; ' AS now FROM tiered_storage.activity WHERE part = 'worker';
SELECT tiered_storage.resume() \g /dev/null
SELECT name, now ~ '^[0-9]+ % full, [0-9]+ [A-Za-z]+ free' AS now FROM tiered_storage.activity WHERE part = 'tier' AND name IN ('fast', 'regress_w_a_long_name_of_a_tier');
SELECT count(*) > 0 AS is_something_hot FROM tiered_storage.activity WHERE part = 'hot';
SELECT count(*) AS lines FROM tiered_storage.activity WHERE name ~ '\n' OR now ~ '\n';

SELECT v AS view, regress_width(v) BETWEEN 40 AND 100 AS fits FROM unnest('{tiered_storage.activity,tiered_storage.recent_moves,tiered_storage.hot_relations}'::regclass[]) v;
SELECT _tiered_storage.clip(E'one\nof\ttwo', 20), _tiered_storage.clip(repeat('x', 21), 20), length(_tiered_storage.clip(repeat('ä', 21), 20)), _tiered_storage.clip(NULL, 20) IS NULL;
-- Sentences lose whole words, unless one word is most of it.
SELECT _tiered_storage.clip_words(w, 20) FROM unnest(ARRAY['twenty letters in it', 'one word too many, here', 'one word that, breaks', 'one word too much.and',
	'short ' || repeat('x', 20), E'a\nline and one more line', NULL]) w;

DROP TABLE regress_w_big, "regress_w a name of
several lines that is longer than what a screen has room for";
DROP FUNCTION regress_width;
DROP EXTENSION tiered_storage CASCADE;
DROP TABLESPACE regress_w_slow;

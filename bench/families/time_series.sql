-- Time series: ten periods; rows are appended to the newest, and read by series and by
-- time, nearly always of the newest two.
SELECT setseed(:seed / 100000.0);
CREATE TABLE series (series_id int PRIMARY KEY, name text, unit text);
INSERT INTO series SELECT i, md5(i::text), 'unit' FROM generate_series(1, 500) i;
CREATE TABLE reading (read_at timestamptz NOT NULL, series_id int NOT NULL, value float8, note text) PARTITION BY RANGE (read_at);
SELECT format($$CREATE TABLE reading_%s PARTITION OF reading FOR VALUES FROM (%L) TO (%s)$$, p,
	timestamptz '2026-01-01 00:00+00' + p * interval '300000 s',
	CASE WHEN p = 9 THEN 'MAXVALUE' ELSE quote_literal(timestamptz '2026-01-01 00:00+00' + (p + 1) * interval '300000 s') END)
FROM generate_series(0, 9) p \gexec
INSERT INTO reading
SELECT timestamptz '2026-01-01 00:00+00' + n * interval '1 s', 1 + n % 500, random(), md5(n::text)
FROM generate_series(0, 2999999) n;
CREATE INDEX reading_series ON reading (series_id, read_at);
CREATE INDEX reading_time ON reading USING brin (read_at) WITH (pages_per_range = 16);
CREATE SEQUENCE tick MINVALUE 3000000 CACHE 20;
CREATE FUNCTION moment(n bigint) RETURNS timestamptz IMMUTABLE LANGUAGE sql AS
	$$SELECT timestamptz '2026-01-01 00:00+00' + n * interval '1 s'$$;

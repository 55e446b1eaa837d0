-- A fleet: positions by periods with btree, BRIN, and GiST; messages with large payloads out of line; alerts; zones.
SELECT setseed(:seed / 100000.0);
CREATE TABLE vehicle (vehicle_id int PRIMARY KEY, model int, data text);
INSERT INTO vehicle SELECT i, i % 30, repeat(md5(i::text), 12) FROM generate_series(1, 60000) i;
CREATE TABLE position (at bigint NOT NULL, vehicle_id int NOT NULL, place point, speed int, note text) PARTITION BY RANGE (at);
SELECT format('CREATE TABLE position_%s PARTITION OF position FOR VALUES FROM (%s) TO (%s)', p, p * 120000,
	CASE WHEN p = 7 THEN 'MAXVALUE' ELSE ((p + 1) * 120000)::text END) FROM generate_series(0, 7) p \gexec
INSERT INTO position SELECT n, 1 + (n * 7919::bigint) % 60000, point(random() * 1000, random() * 1000), n % 130, md5(n::text)
FROM generate_series(0, 959999) n;
CREATE INDEX position_vehicle ON position (vehicle_id, at);
CREATE INDEX position_at ON position USING brin (at) WITH (pages_per_range = 8);
CREATE INDEX position_7_place ON position_7 USING gist (place);
CREATE INDEX position_6_place ON position_6 USING gist (place);
CREATE TABLE message (quarter int NOT NULL, message_id int NOT NULL, vehicle_id int, payload text) PARTITION BY LIST (quarter);
SELECT format('CREATE TABLE message_%1$s PARTITION OF message FOR VALUES IN (%1$s)', q) FROM generate_series(1, 4) q \gexec
ALTER TABLE message ALTER payload SET STORAGE EXTERNAL;
SELECT format('ALTER TABLE message_%s ALTER payload SET STORAGE EXTERNAL', q) FROM generate_series(1, 4) q \gexec
INSERT INTO message SELECT 1 + i % 4, i / 4, 1 + (i * 31) % 60000, repeat(md5(i::text), 120) FROM generate_series(0, 39999) i;
ALTER TABLE message ADD PRIMARY KEY (quarter, message_id);
CREATE INDEX message_vehicle ON message (vehicle_id);
CREATE TABLE alert (alert_id bigint PRIMARY KEY, vehicle_id int, state int, text text);
INSERT INTO alert SELECT i, 1 + (i * 13) % 60000, i % 5, repeat(md5(i::text), 5) FROM generate_series(1, 120000) i;
CREATE INDEX alert_vehicle ON alert (vehicle_id);
CREATE TABLE zone (zone_id int PRIMARY KEY, area box, name text);
INSERT INTO zone SELECT i, box(point(i % 100 * 10, i / 100 * 10), point(i % 100 * 10 + 12, i / 100 * 10 + 12)), repeat(md5(i::text), 8)
FROM generate_series(0, 9999) i;
CREATE INDEX zone_area ON zone USING gist (area);
CREATE SEQUENCE tick MINVALUE 960000 CACHE 20;

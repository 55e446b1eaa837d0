-- Eight tenants, each with documents (JSONB, out of line) and a log that is appended to.
-- The tenants' shares of the load are far from equal, and not in the order of their sizes.
SELECT setseed(:seed / 100000.0);
CREATE FUNCTION body(n bigint) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$
	SELECT jsonb_build_object('n', n, 'body', string_agg(md5(n || '/' || i), '')) FROM generate_series(1, 95) i
$$;
CREATE TABLE document (tenant_id int NOT NULL, document_id int NOT NULL, changed_at timestamptz, body jsonb)
	PARTITION BY LIST (tenant_id);
CREATE TABLE log (tenant_id int NOT NULL, entry_id bigint NOT NULL, written_at timestamptz, body jsonb)
	PARTITION BY LIST (tenant_id);
SELECT format('CREATE TABLE document_%1$s PARTITION OF document FOR VALUES IN (%1$s)', t),
	format('CREATE TABLE log_%1$s PARTITION OF log FOR VALUES IN (%1$s)', t) FROM generate_series(1, 8) t \gexec
ALTER TABLE document ALTER body SET STORAGE EXTERNAL;
SELECT format('ALTER TABLE document_%s ALTER body SET STORAGE EXTERNAL', t) FROM generate_series(1, 8) t \gexec
-- 3,000 documents of one tenant to 13,000 of another.
INSERT INTO document
SELECT t, n, now(), body(n) FROM generate_series(1, 8) t, generate_series(1, 13000) n WHERE n <= 3000 + (t * 5 % 8) * 1430;
INSERT INTO log
SELECT t, n, now(), jsonb_build_object('n', n, 'what', md5(n::text), 'who', md5((n / 7)::text), 'detail', repeat(md5((n / 3)::text), 4))
FROM generate_series(1, 40000) n, generate_series(1, 8) t;
ALTER TABLE document ADD PRIMARY KEY (tenant_id, document_id);
CREATE INDEX log_entry ON log (tenant_id, entry_id);
CREATE SEQUENCE entry MINVALUE 40001 CACHE 20;

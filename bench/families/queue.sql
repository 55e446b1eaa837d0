-- A queue with churn: jobs are put in, claimed by their state, and go to what is done; beside it sessions that are
-- updated all the time, an audit trail by months, and accounts.
SELECT setseed(:seed / 100000.0);
CREATE SEQUENCE ticket MINVALUE 40001 CACHE 20;
SELECT format('CREATE TABLE job_%1$s (job_id bigint PRIMARY KEY, state int, run_at bigint, payload text)', q) FROM generate_series(1, 3) q \gexec
SELECT format($$INSERT INTO job_%1$s SELECT i, CASE WHEN i %% %2$s = 0 THEN 0 ELSE 1 END, i, repeat(md5(i::text), 16) FROM generate_series(1, 40000) i$$,
	q, q * 4) FROM generate_series(1, 3) q \gexec
SELECT format('CREATE INDEX job_%1$s_ready ON job_%1$s (run_at) WHERE state = 0', q) FROM generate_series(1, 3) q \gexec
CREATE TABLE done (queue int, job_id bigint, done_at bigint, result text);
INSERT INTO done SELECT 1 + i % 3, i, i, repeat(md5(i::text), 14) FROM generate_series(1, 150000) i;
CREATE INDEX done_job ON done (queue, job_id);
CREATE INDEX done_at ON done (done_at);
CREATE TABLE session (session_id int PRIMARY KEY, account_id int, seen_at timestamptz, data text) WITH (fillfactor = 80);
INSERT INTO session SELECT i, (i * 7919::bigint) % 120000, now(), repeat(md5(i::text), 8) FROM generate_series(1, 120000) i;
CREATE INDEX session_account ON session (account_id);
CREATE TABLE account (account_id int PRIMARY KEY, email text, data text);
INSERT INTO account SELECT i, md5(i::text), repeat(md5(i::text), 20) FROM generate_series(0, 119999) i;
CREATE INDEX account_email ON account (email);
CREATE TABLE audit (month int NOT NULL, event_id bigint, account_id int, what text) PARTITION BY LIST (month);
SELECT format('CREATE TABLE audit_%1$s PARTITION OF audit FOR VALUES IN (%1$s)', m) FROM generate_series(1, 6) m \gexec
INSERT INTO audit SELECT 1 + i % 6, i, floor(random() * 120000)::int, repeat(md5(i::text), 4) FROM generate_series(1, 360000) i;
CREATE INDEX audit_account ON audit (account_id);
CREATE INDEX audit_event ON audit (event_id);

-- One job is put in and one is done.
CREATE FUNCTION work(q int, a int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	ticket bigint := nextval('ticket');
	job bigint;
BEGIN
	EXECUTE format('INSERT INTO job_%s VALUES ($1, 0, $1, repeat(md5($1::text), 16))', q) USING ticket;
	EXECUTE format('DELETE FROM job_%1$s WHERE job_id = (SELECT job_id FROM job_%1$s WHERE state = 0 ORDER BY run_at LIMIT 1'
		' FOR UPDATE SKIP LOCKED) RETURNING job_id', q) INTO job;
	INSERT INTO done VALUES (q, job, ticket, repeat(md5(ticket::text), 14));
	INSERT INTO audit VALUES (6, ticket, a, repeat(md5(ticket::text), 4));
	RETURN job;
END $$;

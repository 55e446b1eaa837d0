-- A star: twelve months of sales, scanned one at a time and looked up by customer, and
-- dimensions of which two are large.
SELECT setseed(:seed / 100000.0);
CREATE TABLE product (product_id int PRIMARY KEY, category int, data text);
INSERT INTO product SELECT i, i % 40, repeat(md5(i::text), 10) FROM generate_series(1, 80000) i;
CREATE TABLE customer (customer_id int PRIMARY KEY, region int, data text);
INSERT INTO customer SELECT i, i % 12, repeat(md5(i::text), 12) FROM generate_series(1, 200000) i;
CREATE TABLE store (store_id int PRIMARY KEY, region int);
INSERT INTO store SELECT i, i % 12 FROM generate_series(1, 200) i;
CREATE TABLE sales (sold_on date NOT NULL, customer_id int, product_id int, store_id int, quantity int, amount float8, note text)
	PARTITION BY RANGE (sold_on);
SELECT format('CREATE TABLE sales_%s PARTITION OF sales FOR VALUES FROM (%L) TO (%L)', m,
	date '2025-01-01' + (m - 1) * interval '1 month', date '2025-01-01' + m * interval '1 month') FROM generate_series(1, 12) m \gexec
INSERT INTO sales
SELECT date '2025-01-01' + n / 4932, 1 + floor(random() * 200000)::int, 1 + floor(80000 * power(random(), 3))::int,
	1 + n % 200, 1, random() * 100, md5(n::text)
FROM generate_series(0, 1799999) n;
CREATE INDEX sales_customer ON sales (customer_id);
CREATE INDEX sales_product ON sales (product_id);

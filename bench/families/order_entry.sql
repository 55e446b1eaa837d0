-- Order entry: ten warehouses, scattered updates of stock and customers, orders
-- and their lines appended.  The order of what is read and changed is the pgbench
-- script's; what one order consists of follows from its seed.
SELECT setseed(:seed / 100000.0);
CREATE TABLE item AS
SELECT i AS item_id, random() * 100 AS price, repeat(md5(i::text), 2) AS name FROM generate_series(1, 30000) i;
ALTER TABLE item ADD PRIMARY KEY (item_id);

CREATE TABLE stock (warehouse_id int, item_id int, quantity int, sold int, data text) WITH (fillfactor = 85);
INSERT INTO stock
SELECT w, i, 50, 0, repeat(md5(w || '/' || i), 9) FROM generate_series(1, 10) w, generate_series(1, 30000) i;
ALTER TABLE stock ADD PRIMARY KEY (warehouse_id, item_id);

CREATE TABLE customer (warehouse_id int, district_id int, customer_id int, name text, balance numeric, data text)
	WITH (fillfactor = 85);
INSERT INTO customer
SELECT w, d, c, 'name' || (c * 7919) % 1500, 0, repeat(md5(w || '/' || d || '/' || c), 16)
FROM generate_series(1, 10) w, generate_series(1, 10) d, generate_series(1, 1500) c;
ALTER TABLE customer ADD PRIMARY KEY (warehouse_id, district_id, customer_id);
CREATE INDEX customer_name ON customer (warehouse_id, district_id, name);

CREATE TABLE district (warehouse_id int, district_id int, next_order int, taken numeric, PRIMARY KEY (warehouse_id, district_id))
	WITH (fillfactor = 20);
INSERT INTO district SELECT w, d, 1501, 0 FROM generate_series(1, 10) w, generate_series(1, 10) d;

CREATE TABLE orders (warehouse_id int, district_id int, order_id int, customer_id int, entered_at timestamptz, line_count int);
INSERT INTO orders
SELECT w, d, o, 1 + floor(random() * 1500)::int, now(), 10
FROM generate_series(1, 1500) o, generate_series(1, 10) w, generate_series(1, 10) d;
ALTER TABLE orders ADD PRIMARY KEY (warehouse_id, district_id, order_id);
CREATE INDEX orders_customer ON orders (warehouse_id, district_id, customer_id, order_id);

CREATE TABLE order_line (warehouse_id int, district_id int, order_id int, line int, item_id int, quantity int, amount numeric, info text);
INSERT INTO order_line
SELECT warehouse_id, district_id, order_id, l, 1 + floor(random() * 30000)::int, 5, 42, repeat('i', 24)
FROM orders, generate_series(1, 10) l;
ALTER TABLE order_line ADD PRIMARY KEY (warehouse_id, district_id, order_id, line);

CREATE TABLE new_order (warehouse_id int, district_id int, order_id int, PRIMARY KEY (warehouse_id, district_id, order_id));
INSERT INTO new_order
SELECT w, d, o FROM generate_series(1, 10) w, generate_series(1, 10) d, generate_series(1001, 1500) o;

CREATE TABLE payment (warehouse_id int, district_id int, customer_id int, paid_at timestamptz, amount numeric, info text);
INSERT INTO payment
SELECT w, d, c, now(), 10, 'payment' FROM generate_series(1, 10) w, generate_series(1, 10) d, generate_series(1, 1500) c;

CREATE FUNCTION enter_order(w int, d int, c int, seed float8) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	o int;
	i int;
	cost float8;
BEGIN
	PERFORM setseed(seed);
	UPDATE district SET next_order = next_order + 1 WHERE warehouse_id = w AND district_id = d RETURNING next_order - 1 INTO o;
	INSERT INTO orders VALUES (w, d, o, c, now(), 8);
	INSERT INTO new_order VALUES (w, d, o);
	FOR l IN 1 .. 8 LOOP
		i := 1 + floor(random() * 3000 + 27000 * power(random(), 2))::int % 30000;
		SELECT price INTO cost FROM item WHERE item_id = i;
		UPDATE stock SET quantity = CASE WHEN quantity > 10 THEN quantity - 1 ELSE 60 END, sold = sold + 1
		WHERE warehouse_id = w AND item_id = i;
		INSERT INTO order_line VALUES (w, d, o, l, i, 1, cost, repeat('i', 24));
	END LOOP;
	RETURN o;
END $$;

CREATE FUNCTION pay(w int, d int, c int) RETURNS void LANGUAGE sql AS $$
	UPDATE district SET taken = taken + 10 WHERE warehouse_id = w AND district_id = d;
	UPDATE customer SET balance = balance - 10 WHERE warehouse_id = w AND district_id = d AND customer_id = c;
	INSERT INTO payment VALUES (w, d, c, now(), 10, 'payment');
$$;

CREATE FUNCTION order_status(w int, d int, c text) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM order_line l WHERE warehouse_id = w AND district_id = d AND order_id =
		(SELECT max(order_id) FROM orders o JOIN customer USING (warehouse_id, district_id, customer_id)
		WHERE o.warehouse_id = w AND o.district_id = d AND name = c);
$$;

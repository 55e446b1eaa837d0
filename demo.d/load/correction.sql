\set customer random(1, :customers)
UPDATE orders SET o_comment = o_comment
	WHERE o_custkey = :customer AND o_orderdate < date '1996-01-01';

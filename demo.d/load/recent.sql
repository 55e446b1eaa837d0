\set customer random(1, :customers)
SELECT o_orderkey, o_orderstatus, o_totalprice FROM orders
	WHERE o_custkey = :customer AND o_orderdate >= date '1997-06-01';

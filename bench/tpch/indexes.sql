-- TPC-H's primary keys (with the partition key where PostgreSQL demands it) and
-- indexes on the foreign keys of the two large tables.

ALTER TABLE region ADD PRIMARY KEY (r_regionkey);
ALTER TABLE nation ADD PRIMARY KEY (n_nationkey);
ALTER TABLE part ADD PRIMARY KEY (p_partkey);
ALTER TABLE supplier ADD PRIMARY KEY (s_suppkey);
ALTER TABLE partsupp ADD PRIMARY KEY (ps_partkey, ps_suppkey);
ALTER TABLE customer ADD PRIMARY KEY (c_custkey);
ALTER TABLE orders ADD PRIMARY KEY (o_orderkey, o_orderdate);
ALTER TABLE lineitem ADD PRIMARY KEY (l_orderkey, l_linenumber, l_shipdate);
CREATE INDEX orders_o_custkey_idx ON orders (o_custkey);
CREATE INDEX lineitem_l_partkey_l_suppkey_idx ON lineitem (l_partkey, l_suppkey);

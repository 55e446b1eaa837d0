-- TPC-H Q12, shipping modes and order priority.  The defaults are the validation values.
\if :{?date} \else
\set date 1994-01-01
\endif
SELECT l_shipmode,
	sum(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS high_line_count,
	sum(CASE WHEN o_orderpriority NOT IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS low_line_count
FROM orders, lineitem
WHERE o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP')
	AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
	AND l_receiptdate >= date :'date' AND l_receiptdate < date :'date' + interval '1 year'
GROUP BY l_shipmode
ORDER BY l_shipmode;

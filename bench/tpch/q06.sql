-- TPC-H Q6, forecasting revenue change.  The defaults are the validation values.
\if :{?date} \else
\set date 1994-01-01
\endif
SELECT sum(l_extendedprice * l_discount) AS revenue
FROM lineitem
WHERE l_shipdate >= date :'date' AND l_shipdate < date :'date' + interval '1 year'
	AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND l_quantity < 24;

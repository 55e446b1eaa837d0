\set ECHO none
-- Tiers of one's own, after begin.sql: a fast one, a slow one, and one that is as slow and
-- costs less.  The tablespaces lie in the data directory.
SET client_min_messages = warning;
CREATE TABLESPACE regress_ts_fast LOCATION '';
CREATE TABLESPACE regress_ts_slow LOCATION '';
CREATE TABLESPACE regress_ts_cheap LOCATION '';
DO $$
BEGIN
	PERFORM tiered_storage.add_tier('regress_fast', '{regress_ts_fast}', profile => 'nvme', rank => 0, reserve_fraction => 0, device => '{"compressed": false}');
	PERFORM tiered_storage.add_tier('regress_slow', '{regress_ts_slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, device => '{"compressed": false}');
	PERFORM tiered_storage.add_tier('regress_cheap', '{regress_ts_cheap}', profile => 'hdd_7200', rank => 2, reserve_fraction => 0, price_per_gb_month => 0.01, device => '{"compressed": false}');
END
$$;
RESET client_min_messages;
\set ECHO all

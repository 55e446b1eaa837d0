---------------------------------------------------------------------------
-- What other hardware would be worth, and what it costs.
---------------------------------------------------------------------------

CREATE FUNCTION tiered_storage.simulate_hardware(
	changes jsonb DEFAULT NULL,
	load_factor float8 DEFAULT 1,
	OUT option text, OUT changed jsonb,
	OUT price_per_month float8, OUT simulated_price_per_month float8,
	OUT price_delta_per_month float8, OUT simulated_price_per_gb_month float8,
	OUT io_s_per_hour float8, OUT simulated_io_s_per_hour float8,
	OUT saved_io_s_per_hour_low float8, OUT saved_io_s_per_hour_high float8,
	OUT saved_wait_s_per_hour_low float8, OUT saved_wait_s_per_hour_high float8,
	OUT less_waiting_low float8, OUT less_waiting_high float8,
	OUT speedup_low float8, OUT speedup_high float8,
	OUT price_performance float8, OUT bound_by text, OUT simulated_bound_by text,
	OUT reason text, OUT verdict text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_simulate_hardware';
COMMENT ON FUNCTION tiered_storage.simulate_hardware(jsonb, float8) IS
'what the measured load would come to on other hardware, and what that costs: changes is '
'{"ssd": {"add_gb": 200}}, or an array of such; without changes the usual options are tried and '
'come in the order of work per price, with what there is among them; all is placed best, and '
'compared with the best placement on what there is, which the row today compares with how it is';

CREATE FUNCTION _tiered_storage.short_options(
	OUT option text, OUT price text, OUT less_waiting text, OUT price_performance numeric,
	OUT bound_by text, OUT verdict text)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT h.option, _tiered_storage.short_number(h.simulated_price_per_month)
			|| CASE WHEN abs(h.price_delta_per_month) >= 0.005 THEN format(' (%s%s)',
				CASE WHEN h.price_delta_per_month > 0 THEN '+' ELSE '-' END,
				_tiered_storage.short_number(abs(h.price_delta_per_month))) ELSE '' END,
		CASE WHEN round(h.less_waiting_low::numeric, 2) = round(h.less_waiting_high::numeric, 2)
			THEN round(100 * h.less_waiting_low::numeric) || ' %'
			ELSE round(100 * h.less_waiting_low::numeric) || ' to '
				|| round(100 * h.less_waiting_high::numeric) || ' %' END,
		round(h.price_performance::numeric, 2), h.simulated_bound_by, h.verdict
	FROM tiered_storage.simulate_hardware() h
$$;
COMMENT ON FUNCTION _tiered_storage.short_options() IS
'rows of tiered_storage.purchase_options';

CREATE VIEW tiered_storage.purchase_options AS
	SELECT o.option, o.price, o.less_waiting, o.price_performance, o.bound_by, o.verdict
	FROM _tiered_storage.short_options() o;
COMMENT ON VIEW tiered_storage.purchase_options IS
'what to buy: the usual options in the order of work per price, with what there is among them; '
'simulate_hardware() has all numbers and takes other options';
COMMENT ON COLUMN tiered_storage.purchase_options.option IS
'what would be bought, replaced or left away; today: what there is';
COMMENT ON COLUMN tiered_storage.purchase_options.price IS
'money per month of all tiers, and the difference to today';
COMMENT ON COLUMN tiered_storage.purchase_options.less_waiting IS
'how much less clients wait for devices, at least and at most; negative: more; of today: by '
'moving alone; null: not known';
COMMENT ON COLUMN tiered_storage.purchase_options.price_performance IS
'work for the price of a GB, today''s mix is 1; null: not known';
COMMENT ON COLUMN tiered_storage.purchase_options.bound_by IS
'what most of clients'' time would go into: cpu, device, wal, temp, lock, other; null: not known';
COMMENT ON COLUMN tiered_storage.purchase_options.verdict IS
'how much less is waited, at what price, or why that is not known';

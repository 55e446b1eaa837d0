---------------------------------------------------------------------------
-- Where each relation should live, and what if.
---------------------------------------------------------------------------

/*
 * All of these take the same options: tiers that may take something in, what a
 * tier would be if it were another one, the time in which a move has to pay,
 * what is wished for (time, money, balanced) and what an hour of waiting is worth,
 * which relations may move, and a moment in the past up to which to look.
 */
CREATE FUNCTION tiered_storage.recommend_placement(
	include_unchanged boolean DEFAULT false,
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	price_per_wait_hour float8 DEFAULT NULL,
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	as_of timestamptz DEFAULT NULL,
	OUT relation regclass, OUT kind text, OUT current_tier name, OUT recommended_tier name,
	OUT size_bytes bigint, OUT saved_io_s_per_hour float8, OUT price_delta_per_month float8,
	OUT move_cost_s float8, OUT confidence text, OUT reason text, OUT command text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_recommend_placement';
COMMENT ON FUNCTION tiered_storage.recommend_placement(boolean, name[], jsonb, interval, text, float8, name[], regclass[], timestamptz) IS
'where each table, index and partition should live, what that saves in device time and money, how sure that is, and the statement that does it; only what should change, unless include_unchanged';

CREATE FUNCTION tiered_storage.explain_placement(
	relation regclass,
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	price_per_wait_hour float8 DEFAULT NULL,
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	as_of timestamptz DEFAULT NULL,
	OUT tier_name name, OUT is_current boolean, OUT is_recommended boolean,
	OUT io_s_per_hour float8, OUT random_read_s_per_hour float8,
	OUT sequential_read_s_per_hour float8, OUT write_s_per_hour float8,
	OUT price_per_month float8, OUT move_cost_s float8,
	OUT available_bytes bigint, OUT fits boolean, OUT reason text,
	OUT wait_s_per_hour float8, OUT written_bytes_per_day float8, OUT stored_bytes bigint)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_explain_placement';
COMMENT ON FUNCTION tiered_storage.explain_placement(regclass, name[], jsonb, interval, text, float8, name[], regclass[], timestamptz) IS
'why a relation should live where recommend_placement() says: its cost on each tier side by side';

CREATE FUNCTION tiered_storage.placement_summary(
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	price_per_wait_hour float8 DEFAULT NULL,
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	as_of timestamptz DEFAULT NULL,
	OUT tier_name name, OUT relations integer, OUT relations_after integer,
	OUT used_bytes bigint, OUT used_after_bytes bigint, OUT available_bytes bigint,
	OUT io_s_per_hour float8, OUT io_after_s_per_hour float8,
	OUT busy_fraction float8, OUT busy_after_fraction float8,
	OUT queue_s_per_hour float8, OUT queue_after_s_per_hour float8,
	OUT wait_s_per_hour float8, OUT wait_after_s_per_hour float8,
	OUT price_per_month float8, OUT price_after_per_month float8,
	OUT written_bytes_per_day float8, OUT written_after_bytes_per_day float8,
	OUT endurance_bytes_per_day float8, OUT limited_by text,
	OUT next_gb_saves_per_hour float8, OUT missing_bytes bigint,
	OUT objective_value float8, OUT lower_bound float8, OUT gap float8, OUT wait_hour_price float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_placement_summary';
COMMENT ON FUNCTION tiered_storage.placement_summary(name[], jsonb, interval, text, float8, name[], regclass[], timestamptz) IS
'what recommend_placement() comes to: each tier now and after it, then all of them (tier_name is null) with how good the placement is: no other one is below lower_bound, gap is how far it may be from the best; next_gb_saves_per_hour is what one more GB of the tier would save, in device-seconds per hour (objective time) or money per month';

CREATE FUNCTION tiered_storage.simulate_placement(
	changes jsonb DEFAULT '{}',
	load_factor float8 DEFAULT 1,
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	price_per_wait_hour float8 DEFAULT NULL,
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	as_of timestamptz DEFAULT NULL,
	OUT tier_name name, OUT used_bytes bigint, OUT advised_bytes bigint, OUT simulated_bytes bigint,
	OUT available_bytes bigint, OUT simulated_available_bytes bigint,
	OUT io_s_per_hour float8, OUT advised_io_s_per_hour float8, OUT simulated_io_s_per_hour float8,
	OUT advised_busy_fraction float8, OUT simulated_busy_fraction float8,
	OUT advised_queue_s_per_hour float8, OUT simulated_queue_s_per_hour float8,
	OUT price_per_month float8, OUT advised_price_per_month float8, OUT simulated_price_per_month float8,
	OUT advised_written_bytes_per_day float8, OUT simulated_written_bytes_per_day float8,
	OUT limited_by text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_simulate_placement';
COMMENT ON FUNCTION tiered_storage.simulate_placement(jsonb, float8, name[], jsonb, interval, text, float8, name[], regclass[], timestamptz) IS
'what if: the placement that would be advised if tiers were others (changes, such as {"ssd": {"capacity_bytes": 200000000000}}) or the load were load_factor times what it is, beside the one that is advised; by tier, and all of them where tier_name is null';

CREATE FUNCTION tiered_storage.tier_size_curve(
	tier name,
	points integer DEFAULT 21,
	tiers name[] DEFAULT NULL,
	overrides jsonb DEFAULT NULL,
	horizon interval DEFAULT '30 days',
	objective text DEFAULT 'time',
	price_per_wait_hour float8 DEFAULT NULL,
	schemas name[] DEFAULT NULL,
	relations regclass[] DEFAULT NULL,
	as_of timestamptz DEFAULT NULL,
	OUT capacity_bytes bigint, OUT used_bytes bigint, OUT io_s_per_hour float8, OUT queue_s_per_hour float8,
	OUT saved_s_per_hour float8, OUT price_per_month float8, OUT next_gb_saves_per_hour float8,
	OUT next_gb_price_per_month float8, OUT is_current boolean, OUT is_knee boolean)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_size_curve';
COMMENT ON FUNCTION tiered_storage.tier_size_curve(name, integer, name[], jsonb, interval, text, float8, name[], regclass[], timestamptz) IS
'how much of a tier is worth having: the best placement''s device time with more and more capacity of it; is_knee is where more begins to bring little; price_per_month is that of all of the capacity and of what is on the other tiers';

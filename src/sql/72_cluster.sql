---------------------------------------------------------------------------
-- The cluster: what all databases say of their tiers, and want of them.
---------------------------------------------------------------------------

CREATE FUNCTION _tiered_storage.published_tiers(
	OUT database_name name, OUT tier_name name, OUT tablespaces text[], OUT rank integer,
	OUT capacity_bytes bigint, OUT reserve_fraction float8, OUT price_per_gb_month float8,
	OUT random_read_ms float8, OUT sequential_read_mb_per_s float8, OUT used_bytes bigint,
	OUT busy_fraction float8, OUT wanted_bytes bigint, OUT wishes jsonb, OUT share_bytes bigint,
	OUT clearing_s_per_gb float8, OUT state text,
	OUT published_at timestamptz, OUT disagreement text, OUT command text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 32
AS 'MODULE_PATHNAME', 'tier_cluster_tiers';
COMMENT ON FUNCTION _tiered_storage.published_tiers() IS
'the rows of the view cluster_tiers, in no particular order';

CREATE VIEW tiered_storage.cluster_tiers AS
	SELECT * FROM _tiered_storage.published_tiers() t
	ORDER BY t.tier_name, t.database_name;
COMMENT ON VIEW tiered_storage.cluster_tiers IS
'the tiers of all databases side by side: what each says of them, has there, wants and gets, and '
'where they disagree with this database';
COMMENT ON COLUMN tiered_storage.cluster_tiers.database_name IS 'database that says so';
COMMENT ON COLUMN tiered_storage.cluster_tiers.tier_name IS
'name of the tier there; where that database has published nothing, as here';
COMMENT ON COLUMN tiered_storage.cluster_tiers.tablespaces IS 'its tablespaces there';
COMMENT ON COLUMN tiered_storage.cluster_tiers.rank IS 'its place in the order of tiers there';
COMMENT ON COLUMN tiered_storage.cluster_tiers.capacity_bytes IS
'its capacity there; null: unknown';
COMMENT ON COLUMN tiered_storage.cluster_tiers.reserve_fraction IS
'fraction of it that is to stay free';
COMMENT ON COLUMN tiered_storage.cluster_tiers.price_per_gb_month IS
'its price per GB and month there';
COMMENT ON COLUMN tiered_storage.cluster_tiers.random_read_ms IS
'latency of a random block read there, in ms';
COMMENT ON COLUMN tiered_storage.cluster_tiers.sequential_read_mb_per_s IS
'sequential read rate there, in MB per second';
COMMENT ON COLUMN tiered_storage.cluster_tiers.used_bytes IS
'bytes that the database has there, as stored: of its relations at its last sample, or of its '
'files, where it has published nothing';
COMMENT ON COLUMN tiered_storage.cluster_tiers.busy_fraction IS
'share of the device''s time that its relations there take';
COMMENT ON COLUMN tiered_storage.cluster_tiers.wanted_bytes IS
'bytes that it would have there if there were room; null: not known any more';
COMMENT ON COLUMN tiered_storage.cluster_tiers.wishes IS
'the same by what it saves: pairs of bytes and the device-seconds per hour that each GB of them '
'saves, the most first; null instead of the second: they have to be there';
COMMENT ON COLUMN tiered_storage.cluster_tiers.share_bytes IS
'bytes that it gets: its share at the clearing price, or all that it wants; null: it does not '
'share the tier with others of the same definition';
COMMENT ON COLUMN tiered_storage.cluster_tiers.clearing_s_per_gb IS
'device-seconds per hour that a GB has to save to get a place, the clearing price; 0: there is '
'room for all';
COMMENT ON COLUMN tiered_storage.cluster_tiers.state IS
'published; outdated, if its worker has not run for long: then it keeps what it has; or not '
'published';
COMMENT ON COLUMN tiered_storage.cluster_tiers.published_at IS
'when its worker published that; null: never';
COMMENT ON COLUMN tiered_storage.cluster_tiers.disagreement IS
'how its definition differs from that of this database; null: it does not';
COMMENT ON COLUMN tiered_storage.cluster_tiers.command IS
'statement that, run in that database, makes it agree with this one; null: there is none';

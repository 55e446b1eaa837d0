---------------------------------------------------------------------------
-- Fullness policies: what leaves a tier that has become too full.
---------------------------------------------------------------------------

/*
 * Fullness policies; read them in the view tiered_storage.policies, add them with
 * add_fullness_policy().
 *
 * The numbers are those of tiering policies, so that one number means one policy in the
 * record of moves.  The role is identified as in _tiered_storage.policy, for information
 * only: moves need the rights of the owners of what is moved.
 */
CREATE TABLE _tiered_storage.fullness_policy
(
	policy_id integer NOT NULL PRIMARY KEY
		DEFAULT pg_catalog.nextval('_tiered_storage.policy_policy_id_seq'),
	tier_name name NOT NULL UNIQUE REFERENCES _tiered_storage.tier ON UPDATE CASCADE,
	target_name name NOT NULL REFERENCES _tiered_storage.tier ON UPDATE CASCADE,
	high_watermark float8,	-- share of the capacity; null: that of the tier
	low_watermark float8,	-- share of the capacity; null: that of the tier
	created_by name NOT NULL,
	created_by_oid oid NOT NULL,
	system_identifier bigint NOT NULL,
	created_at timestamptz NOT NULL,
	enabled boolean NOT NULL DEFAULT true,
	CHECK (tier_name OPERATOR(pg_catalog.<>) target_name),
	CHECK (_tiered_storage.tier_watermarks_fit(
		COALESCE(low_watermark, high_watermark OPERATOR(pg_catalog./) 2::float8, 0.25),
		COALESCE(high_watermark, 1)))
);
CREATE INDEX fullness_policy_target_name_idx ON _tiered_storage.fullness_policy (target_name);
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.fullness_policy', '');
CREATE TRIGGER fullness_policy_restore_in_turn BEFORE INSERT ON _tiered_storage.fullness_policy
	FOR EACH STATEMENT EXECUTE FUNCTION _tiered_storage.restore_in_turn();
CREATE TRIGGER fullness_policy_expect_tiers BEFORE INSERT ON _tiered_storage.fullness_policy
	FOR EACH ROW EXECUTE FUNCTION _tiered_storage.expect_tiers('tier_name', 'target_name');

CREATE VIEW _tiered_storage.fullness_policies AS
	SELECT p.policy_id, p.tier_name, p.target_name,
		COALESCE(p.high_watermark, t.high_watermark) AS high_watermark,
		COALESCE(p.low_watermark, t.low_watermark) AS low_watermark,
		p.high_watermark IS NULL OR p.low_watermark IS NULL AS follows_tier,
		COALESCE(a.rolname, p.created_by) AS created_by, p.created_at,
		r.last_evaluated_at, r.last_fill, r.last_leaving,
		CASE WHEN p.enabled THEN r.last_result ELSE 'disabled' END AS last_result,
		a.oid AS created_by_oid, p.enabled
	FROM _tiered_storage.fullness_policy p
	JOIN _tiered_storage.tier t ON t.tier_name = p.tier_name
	CROSS JOIN pg_control_system() cs
	LEFT JOIN _tiered_storage.stored_policy_result() r ON r.policy_id = p.policy_id
	LEFT JOIN pg_roles a ON CASE WHEN p.system_identifier = cs.system_identifier
		THEN a.oid = p.created_by_oid
		ELSE a.rolname = p.created_by END;

CREATE FUNCTION tiered_storage.add_fullness_policy(
	tier name,
	target name,
	high_watermark float8 DEFAULT NULL,
	low_watermark float8 DEFAULT NULL,
	if_not_exists boolean DEFAULT false)
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tier_add_fullness_policy';
COMMENT ON FUNCTION tiered_storage.add_fullness_policy IS
'adds a policy: the coldest relations move to a slower tier whenever a tier is above its high '
'watermark, until it is at its low one; watermarks are shares of the capacity and default to '
'those of the tier; returns the number of the policy';

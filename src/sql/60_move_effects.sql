---------------------------------------------------------------------------
-- What moves were worth: the store, and the verdict.
---------------------------------------------------------------------------

/*
 * What completed moves are measured against, and the result; use the views _tiered_storage.moves
 * and _tiered_storage.move_batches.
 *
 * One row for each move that is done; deleted after the row of the move.  Written when the
 * move is done, when its load begins to be measured (observed_since), and when it is
 * settled: measured, or found to be not measurable.
 * totals and device_totals are the total_* columns of relation_state and device_state at
 * observed_since.
 */
CREATE TABLE _tiered_storage.move_effect
(
	move_id bigint NOT NULL PRIMARY KEY,
	batch_id bigint,
	relation_oid oid NOT NULL,
	to_tablespace_oid oid NOT NULL,
	-- measured time of the old tier's device as a multiple of its profile's, before the move;
	-- null: its figures are not reliable
	from_factor float8,
	observed_since timestamptz,
	totals float8[],
	device text,
	device_totals float8[],
	settled_at timestamptz,
	not_measurable text,
	source text,
	unmoved_io_s_per_hour float8,
	measured_io_s_per_hour float8,
	batch_effect text	-- verdict on the batch when it was settled; null: not yet
) WITH (fillfactor = 70);
CREATE INDEX move_effect_open_idx ON _tiered_storage.move_effect (observed_since)
	WHERE settled_at IS NULL;
CREATE INDEX move_effect_relation_oid_idx ON _tiered_storage.move_effect (relation_oid)
	WHERE settled_at IS NULL;
CREATE INDEX move_effect_batch_id_idx ON _tiered_storage.move_effect (batch_id)
	WHERE batch_id IS NOT NULL;
CREATE INDEX move_effect_unjudged_idx ON _tiered_storage.move_effect (batch_id)
	WHERE batch_id IS NOT NULL AND batch_effect IS NULL;

/*
 * The verdict in the views moves and move_batches: how the measured cost compares with the
 * predicted saving; unmoved is the cost of the same load on the old tier.
 */
CREATE FUNCTION _tiered_storage.effect_verdict(
	predicted_saved_io_s_per_hour float8, unmoved_io_s_per_hour float8,
	measured_io_s_per_hour float8)
RETURNS text
LANGUAGE C STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tier_effect_verdict';

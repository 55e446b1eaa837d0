/*-------------------------------------------------------------------------
 *
 * act/apply_sql.c
 *		The procedures that apply advice and undo it: check, call, return.
 *
 * Access is controlled by the EXECUTE privilege on each function (none is granted to PUBLIC)
 * and, for relations of other roles, by the checks of server/relation.c for the calling role.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "src/decide/advice_options.h"
#include "src/act/plan_notice.h"
#include "src/act/batch.h"
#include "src/act/call.h"
#include "src/act/claims.h"
#include "src/act/foresee.h"
#include "src/act/run.h"
#include "src/catalog/tables.h"
#include "src/act/move.h"
#include "src/move/pending_file.h"
#include "src/server/relation.h"
#include "src/base/sql.h"
#include "src/base/transaction.h"

PG_FUNCTION_INFO_V1(tier_apply_placement);
PG_FUNCTION_INFO_V1(tier_undo_move);

static TierConfidence
confidence_argument(const char *name)
{
	if (strcmp(name, tier_advice_confidence_text(TIER_CONFIDENCE_PROVISIONAL)) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("provisional recommendations cannot be applied"),
				 errdetail("They are based on statistics from before the first sample, or "
						   "on less than %.0f minutes of observation.",
						   TIER_PROVISIONAL_S / SECS_PER_MINUTE),
				 errhint("Use \"tentative\" later, or move a single relation now with "
						 "CALL tiered_storage.move_relation().")));
	if (strcmp(name, tier_advice_confidence_text(TIER_CONFIDENCE_TENTATIVE)) != 0 &&
		strcmp(name, tier_advice_confidence_text(TIER_CONFIDENCE_FIRM)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid confidence: \"%s\"", name),
				 errhint("Valid values are \"firm\" and \"tentative\".")));
	return strcmp(name, tier_advice_confidence_text(TIER_CONFIDENCE_FIRM)) == 0 ?
		TIER_CONFIDENCE_FIRM : TIER_CONFIDENCE_TENTATIVE;
}

Datum
tier_apply_placement(PG_FUNCTION_ARGS)
{
	TierApplyRequest request = {0};
	const TierPlanOptions how = {.ignore_windows = true,.apply = &request};
	TierRunSummary summary;
	TierAdviceOptions options;

	tier_require_argument(fcinfo, 0, "confidence");
	tier_require_argument(fcinfo, 2, "dry_run");
	request.least = confidence_argument(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	request.max_bytes = PG_ARGISNULL(1) ? INFINITY : PG_GETARG_INT64(1);
	if (request.max_bytes <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_bytes must be positive"),
				 errhint("Omit it to move all recommended relations.")));
	if (PG_GETARG_BOOL(2))
	{
		tier_advice_options_from(fcinfo, 3, false, &options);
		request.options = &options;
		summary = tier_run_dry(&how);
		tier_apply_report_dry_run(&summary.applied);
		PG_RETURN_NULL();
	}
	tier_connect_nonatomic(fcinfo, "CALL tiered_storage.apply_placement");
	tier_advice_options_from(fcinfo, 3, false, &options);
	request.options = &options;
	summary = tier_run(&how, NULL);
	tier_disconnect_nonatomic();
	tier_apply_report(&summary.applied);
	PG_RETURN_NULL();
}

/* A batch, or the last moves of a relation, to be undone, as they were when that was asked for. */
typedef struct Past
{
	const char *name;			/* "batch 1", "table s.t" */
	int64		batch_id;		/* 0: a relation's */
	Oid			relation_oid;	/* 0: a batch's */
	TierSet    *set;
	TierBatchMove *moves;		/* the last one first */
	int			n;
	int64		undone_by;		/* 0: no batch */
} Past;

/* Relations of the batch that are not moved back. */
typedef struct Left
{
	int			elsewhere;
	int			uncertain;		/* indexes that are gone, whose name another
								 * one has now */
	int			gone;
} Left;

/* For ereport and for a dry run; NULL: nothing. */
static char *
left_text(const Left *left)
{
	StringInfoData sentences;

	initStringInfo(&sentences);
	if (left->elsewhere > 0)
		appendStringInfo(&sentences, "Skipped because moved since: %d.", left->elsewhere);
	if (left->uncertain > 0)
		appendStringInfo(&sentences, "%sSkipped because another index has the name now: "
						 "%d.", sentences.len > 0 ? " " : "", left->uncertain);
	if (left->gone > 0)
		appendStringInfo(&sentences, "%sDropped since: %d.", sentences.len > 0 ? " " : "",
						 left->gone);
	return sentences.len == 0 ? NULL : sentences.data;
}

/* Of a batch all of whose relations are elsewhere, or that has moved none. */
static void
report_nothing_to_undo(const Past *past, const Left *left)
{
	ereport(NOTICE,
			(errmsg("%s: there is nothing to undo", past->name),
			 past->undone_by != 0 ?
			 errdetail("Batch " INT64_FORMAT " has undone it.", past->undone_by) :
			 past->n == 0 && OidIsValid(past->relation_oid) ?
			 errdetail("No move of it is recorded.") :
			 past->n == 0 ? errdetail("It has moved nothing.") :
			 left_text(left) == NULL ? 0 : errdetail_internal("%s", left_text(left))));
}

/*
 * Looks up the relation at this moment, since a batch may take hours.  False: it does not exist.
 */
static bool
look_up(const TierBatchMove *move, TierRelationInfo *info, Left *left)
{
	bool		is_uncertain;

	if (tier_relation_lookup(tier_relation_present(&move->identity, &is_uncertain), info))
		return true;
	(*(is_uncertain ? &left->uncertain : &left->gone))++;
	return false;
}

/* Returns true if the relation is where the batch has put it; else it is counted. */
static bool
is_in_place(const TierBatchMove *move, TierRelationInfo *info, Left *left)
{
	if (!look_up(move, info, left))
		return false;
	left->elsewhere += info->tablespace_oid != move->to_tablespace_oid;
	return info->tablespace_oid == move->to_tablespace_oid;
}

static void
load_past_of_relation(Past *past)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;
	TierRelationInfo info;
	List	   *family;
	Oid		   *oids;

	tier_relation_require(past->relation_oid, &info);
	past->name = psprintf("%s %s", tier_relation_kind_name(info.kind), info.name);
	family = tier_relation_members(&info, true, true);
	oids = palloc(sizeof(Oid) * Max(list_length(family), 1));
	for (int i = 0; i < list_length(family); i++)
		oids[i] = list_nth_oid(family, i);
	tier_catalog_enter(&scope);
	past->set = tier_catalog_load_tiers(context);
	past->moves = tier_catalog_load_last_call(context, oids, list_length(family), &past->n);
	tier_catalog_leave(&scope);
}

static void
load_past(Past *past)
{
	MemoryContext context = CurrentMemoryContext;
	TierCatalogScope scope;

	if (OidIsValid(past->relation_oid))
	{
		load_past_of_relation(past);
		return;
	}
	past->name = psprintf("batch " INT64_FORMAT, past->batch_id);
	tier_catalog_enter(&scope);
	if (!tier_catalog_batch_exists(past->batch_id))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("batch " INT64_FORMAT " does not exist", past->batch_id),
				 errhint("SELECT batch_id, undo "
						 "FROM tiered_storage.move_batches lists the batches.")));
	if (tier_batch_is_under_way(past->batch_id))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("batch " INT64_FORMAT " is still running", past->batch_id),
				 errhint("Wait until it ends, or cancel its process: SELECT * FROM "
						 "tiered_storage.move_progress shows running moves and their "
						 "processes.")));
	past->set = tier_catalog_load_tiers(context);
	past->moves = tier_catalog_load_batch(context, past->batch_id, &past->n);
	past->undone_by = tier_catalog_undone_by(past->batch_id);
	tier_catalog_leave(&scope);
}

/*
 * Checked before anything is recorded: a refusal for lack of rights, or for lack of a target,
 * must not count as a failure of the relation, since the worker would leave it alone.
 */
static bool
may_move_back(const TierRelationInfo *info, const TierBatchMove *move)
{
	TierObstacle obstacle = {
		.sqlstate = ERRCODE_UNDEFINED_OBJECT,
		.hint = "CALL tiered_storage.move_relation() moves it elsewhere."
	};

	if (OidIsValid(move->from_tablespace_oid))
		obstacle = tier_relation_refuse(info, GetUserId(), move->from_tablespace_oid);
	else
		obstacle.message = psprintf("its source tablespace \"%s\" no longer exists",
									NameStr(move->from_tablespace));
	if (obstacle.message != NULL)
		tier_obstacle_report(WARNING, &obstacle,
							 psprintf("%s is not moved back: %s", info->name, obstacle.message));
	return obstacle.message == NULL;
}

/* The state of an undo, and its result. */
typedef struct Undoing
{
	Past		past;
	TierForesight *foresight;	/* of a dry run; else NULL */
	TierMoveCounts counts;
	Left		left;
	bool		is_over;		/* the extension was replaced */
} Undoing;

static void
move_back(Undoing *undoing, TierMoveRequest *request)
{
	TierMoveReport report;

	if (undoing->foresight != NULL)
	{
		tier_foresee(undoing->foresight, request, NULL, &undoing->counts);
		return;
	}
	if (undoing->counts.batch_id == 0 && !OidIsValid(undoing->past.relation_oid))
		undoing->counts.batch_id = tier_batch_begin();
	request->batch_id = undoing->counts.batch_id;
	report = tier_move_one(request);
	tier_move_warn(&report, false);
	undoing->left.gone += report.is_gone;
}

static void
undo_all(void *argument)
{
	Undoing    *undoing = argument;
	const Past *past = &undoing->past;

	for (int i = 0; i < past->n; i++)
	{
		const TierBatchMove *move = &past->moves[i];
		TierMoveRequest request = {
			.tablespace_oid = move->from_tablespace_oid,.requester_oid = GetUserId(),
			.undo_of = past->batch_id,.predicted_s_per_hour = NAN,.counts = &undoing->counts
		};
		TierRelationInfo info;

		CHECK_FOR_INTERRUPTS();
		undoing->is_over = undoing->foresight == NULL && !tier_batch_may_go_on(false);
		if (undoing->is_over)
			break;
		if (!is_in_place(move, &info, &undoing->left))
			continue;
		request.relation_oid = info.relation_oid;
		request.reason = OidIsValid(past->relation_oid) ? "undo" :
			psprintf("undo of %s", past->name);
		if (may_move_back(&info, move))
			move_back(undoing, &request);
		else
			undoing->counts.not_moved++;
	}
}

Datum
tier_undo_move(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	MemoryContext old_context;
	Undoing		undoing = {0};
	Past	   *past = &undoing.past;
	const TierMoveCounts *counts = &undoing.counts;
	LOCKTAG		lock;
	char	   *policies;
	char	   *left_behind;
	TierPolicyKind kind;
	int			npolicies;

	tier_require_argument(fcinfo, 1, "dry_run");
	if (PG_ARGISNULL(0) == PG_ARGISNULL(2))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("exactly one of \"batch_id\" and \"relation\" must be given"),
				 errhint("The view tiered_storage.moves lists batches and relations.")));
	past->batch_id = PG_ARGISNULL(0) ? 0 : PG_GETARG_INT64(0);
	past->relation_oid = PG_ARGISNULL(0) ? PG_GETARG_OID(2) : InvalidOid;
	if (PG_GETARG_BOOL(1))
	{
		load_past(past);
		tier_claims_require(past->set, true);
		undoing.foresight = tier_foresight_create(past->set);
		undo_all(&undoing);
		if (counts->moved == 0 && counts->not_moved == 0)
			report_nothing_to_undo(past, &undoing.left);
		else
			tier_foresee_report(counts, left_text(&undoing.left));
		PG_RETURN_NULL();
	}
	tier_connect_nonatomic(fcinfo, "CALL tiered_storage.undo_move");

	/* Reported after SPI has ended. */
	old_context = MemoryContextSwitchTo(context);
	load_past(past);
	MemoryContextSwitchTo(old_context);
	tier_claims_require(past->set, false);
	tier_transaction_commit();
	tier_pending_sweep();
	tier_transaction_commit();

	if (!tier_batch_lock_alone(&lock))
		tier_apply_raise_busy();
	PG_TRY();
	{
		tier_batch_run(undo_all, &undoing);
	}
	PG_FINALLY();
	{
		LockRelease(&lock, ExclusiveLock, true);
	}
	PG_END_TRY();
	tier_disconnect_nonatomic();
	left_behind = left_text(&undoing.left);
	if (counts->moved == 0 && counts->batch_id == 0)
	{
		if (counts->not_moved > 0)
			ereport(NOTICE,
					(errmsg("%s is not undone: relations moved: 0, not moved: %d",
							past->name, counts->not_moved),
					 left_behind == NULL ? 0 : errdetail_internal("%s", left_behind)));
		else if (!undoing.is_over)
			report_nothing_to_undo(past, &undoing.left);
		PG_RETURN_NULL();
	}
	policies = tier_batch_policies(past->moves[0].batch_id, &npolicies, &kind);
	ereport(NOTICE,
			(errmsg("%s: relations moved: %d, not moved: %d", counts->batch_id == 0 ? past->name :
					psprintf("batch " INT64_FORMAT, counts->batch_id),
					counts->moved, counts->not_moved),
			 left_behind == NULL ? 0 : errdetail_internal("%s", left_behind),
			 policies == NULL ? 0 :
			 errhint("%s policies would move them again: "
					 "SELECT tiered_storage.alter_policy(policy_id => id, "
					 "enabled => false) FROM unnest('{%s}'::int[]) id prevents that.",
					 kind == TIER_POLICY_FULLNESS ? "Fullness" : "Tiering", policies)));
	PG_RETURN_NULL();
}

/*-------------------------------------------------------------------------
 *
 * act/queue_sql.c
 *		The rows of the view move_queue.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "fmgr.h"

#include "src/act/queue.h"
#include "src/base/sql.h"

PG_FUNCTION_INFO_V1(tier_move_queue);

static void
put_tier(TierResultRow *row, int column, const TierSet *set, int tier)
{
	if (tier >= 0)
		tier_row_name(row, column, NameStr(set->tiers[tier].name));
}

static void
put_entry(TierResultRow *row, const TierQueue *queue, int i)
{
	static const char *const causes[] = {
		[TIER_CAUSE_TIERING] = "tiering policy",
		[TIER_CAUSE_FULLNESS] = "fullness policy",
		[TIER_CAUSE_ADVICE] = "advice",
		[TIER_CAUSE_REQUEST] = "request",
	};
	static const char *const states[] = {
		[TIER_QUEUE_RUNNING] = "running",
		[TIER_QUEUE_READY] = "ready",
		[TIER_QUEUE_WAITING] = "waiting",
		[TIER_QUEUE_FAILED] = "failed",
	};
	const TierQueueEntry *entry = &queue->entries[i];

	tier_row_clear(row);
	tier_row_datum(row, 0, Int32GetDatum(i + 1));
	tier_row_datum(row, 1, ObjectIdGetDatum(entry->relation_oid));
	put_tier(row, 2, queue->set, entry->from_tier);
	put_tier(row, 3, queue->set, entry->to_tier);
	tier_row_name(row, 4, get_tablespace_name(entry->from_tablespace_oid));
	if (OidIsValid(entry->to_tablespace_oid))
		tier_row_name(row, 5, get_tablespace_name(entry->to_tablespace_oid));
	tier_row_datum(row, 6, Int64GetDatum((int64) entry->bytes));
	tier_row_text(row, 7, causes[entry->cause]);
	if (entry->policy_id != 0)
		tier_row_datum(row, 8, Int32GetDatum(entry->policy_id));
	tier_row_text(row, 9, states[entry->state]);
	tier_row_text(row, 10, entry->reason);
	tier_row_datum(row, 11, Int32GetDatum(entry->failures));
	tier_row_time(row, 12, entry->next_attempt_at);
	tier_row_text(row, 13, entry->last_error);
	tier_row_put(row);
}

Datum
tier_move_queue(PG_FUNCTION_ARGS)
{
	TierQueue	queue;
	TierResultRow row;

	tier_result_start(fcinfo, &row);
	queue = tier_queue_load();
	for (int i = 0; i < queue.n; i++)
		put_entry(&row, &queue, i);
	return (Datum) 0;
}

/*-------------------------------------------------------------------------
 *
 * tier_standby.c
 *		Reads of standbys, pulled and added to those of this server.
 *
 * pull_standby_statistics() (in SQL, by way of dblink) compares a standby's
 * counters with those of the last pull and adds the growth to standby_reads.
 * The next sample takes it from there as if it had happened on this server.
 * So a reset, a restart or the removal of a standby is never a step backwards
 * of a relation's counters here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "tier_catalog.h"
#include "tier_standby.h"
#include "tier_transaction.h"

void
tier_standby_take(TierRelationState *states, int nstates)
{
	MemoryContext context = CurrentMemoryContext;
	int			i = 0;
	uint64		n;

	/* Locked in the order in which a pull inserts. */
	n = tier_catalog_execute("WITH locked AS MATERIALIZED (SELECT relation_oid FROM tiered_storage.standby_reads "
							 "ORDER BY relation_oid FOR UPDATE SKIP LOCKED), "
							 "taken AS (DELETE FROM tiered_storage.standby_reads r USING locked l "
							 "WHERE r.relation_oid = l.relation_oid RETURNING r.*) "
							 "SELECT relation_oid, scans, tuples_read, blocks_fetched, blocks_hit "
							 "FROM taken ORDER BY relation_oid", 0, NULL, NULL, NULL);
	MemoryContextSwitchTo(context);
	for (uint64 row = 0; row < n; row++)
	{
		bool		isnull;
		Oid			relation_oid = DatumGetObjectId(tier_catalog_datum(row, 1, &isnull));

		while (i < nstates && states[i].relation_oid < relation_oid)
			i++;
		if (i == nstates || states[i].relation_oid != relation_oid)
			continue;
		states[i].standby.scans = DatumGetInt64(tier_catalog_datum(row, 2, &isnull));
		states[i].standby.tuples_read = DatumGetInt64(tier_catalog_datum(row, 3, &isnull));
		states[i].standby.blocks_fetched = DatumGetInt64(tier_catalog_datum(row, 4, &isnull));
		states[i].standby.blocks_hit = DatumGetInt64(tier_catalog_datum(row, 5, &isnull));
	}
}

void
tier_standby_pull(void)
{
	MemoryContext context = CurrentMemoryContext;

	PG_TRY();
	{
		TierCatalogScope scope;

		tier_transaction_start();
		PushActiveSnapshot(GetTransactionSnapshot());
		if (tier_catalog_try_enter(&scope))
		{
			if (tier_catalog_execute("SELECT FROM tiered_storage.standby LIMIT 1", 0, NULL, NULL, NULL) > 0)
				tier_catalog_execute("CALL tiered_storage.pull_standby_statistics(false)", 0, NULL, NULL, NULL);
			tier_catalog_leave(&scope);
		}
		PopActiveSnapshot();
		CommitTransactionCommand();
	}
	PG_CATCH();
	{
		/* Whoever ends the worker or its query means the cycle. */
		if (geterrcode() == ERRCODE_QUERY_CANCELED || geterrcode() == ERRCODE_ADMIN_SHUTDOWN)
			PG_RE_THROW();
		HOLD_INTERRUPTS();
		MemoryContextSwitchTo(context);
		EmitErrorReport();
		FlushErrorState();
		AbortOutOfAnyTransaction();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	pgstat_report_stat(true);
}

/*-------------------------------------------------------------------------
 *
 * observe/access_copy.c
 *		What COPY table TO reads, of an application that is ignored.
 *
 * Runs in the backend that copies.  COPY of a table, and with it pg_dump, reads
 * without a plan: the table from its beginning to its end, and for each value
 * that is not in its row the TOAST table, by its index.  As nothing else runs in the
 * process meanwhile, the difference of the counters that it has not handed on yet is
 * what was read.  COPY of a query, and of a table whose rows are not
 * all visible to the user, has a plan.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "storage/lockdefs.h"

#include "src/observe/access_copy.h"
#include "src/observe/access_counts.h"
#include "src/observe/access_plan.h"
#include "src/observe/access_plan_private.h"

void
tier_access_copy_begin(TierAccessCopy *copy, const CopyStmt *statement)
{
	Oid			relation_oid = RangeVarGetRelid(statement->relation, AccessShareLock, true);

	copy->n = 0;
	if (!OidIsValid(relation_oid))
		return;
	copy->n = tier_access_relations_of_table(relation_oid, copy->relation_oids);
	for (int i = 0; i < copy->n; i++)
		tier_compat_pending_block_counts(copy->relation_oids[i], &copy->before[i]);
}

void
tier_access_copy_end(const TierAccessCopy *copy)
{
	if (copy->n > 0)
		tier_access_counts_prepare(tier_access_plan_abandon);
	for (int i = 0; i < copy->n; i++)
	{
		const TierCompatBlockCounts *before = &copy->before[i];
		TierCompatBlockCounts counts;

		tier_compat_pending_block_counts(copy->relation_oids[i], &counts);
		counts.scans = Max(counts.scans - before->scans, 0);
		counts.tuples = Max(counts.tuples - before->tuples, 0);
		counts.fetched = Max(counts.fetched - before->fetched, 0);
		counts.hit = Min(Max(counts.hit - before->hit, 0), counts.fetched);
		tier_access_counts_add_ignored(copy->relation_oids[i], &counts);
	}
}

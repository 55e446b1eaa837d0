/*-------------------------------------------------------------------------
 *
 * observe/growth.c
 *		What came to each tablespace and went from it since the last sample.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "src/base/settings.h"
#include "src/observe/growth.h"

static TierTablespaceGrowth *
find(const TierGrowths *growths, Oid tablespace_oid)
{
	/* Tablespaces are few. */
	for (int i = 0; i < growths->ntablespaces; i++)
		if (growths->tablespaces[i].tablespace_oid == tablespace_oid)
			return &growths->tablespaces[i];
	return NULL;
}

const TierEvidence *
tier_growth_of(const TierGrowths *growths, Oid tablespace_oid)
{
	const TierTablespaceGrowth *growth = find(growths, tablespace_oid);

	return growth == NULL ? NULL : &growth->evidence;
}

static TierTablespaceGrowth *
find_or_add(TierGrowths *growths, Oid tablespace_oid)
{
	TierTablespaceGrowth *growth = find(growths, tablespace_oid);

	if (growth != NULL)
		return growth;
	growths->tablespaces = repalloc(growths->tablespaces, sizeof(TierTablespaceGrowth) *
									(growths->ntablespaces + 1));
	growth = &growths->tablespaces[growths->ntablespaces++];
	memset(growth, 0, sizeof(*growth));
	growth->tablespace_oid = tablespace_oid;
	growth->changed = true;
	return growth;
}

void
tier_growth_observe(TierGrowths *growths, const TierSampleMemory *memory,
					const TierSampleView *view)
{
	TimestampTz since = memory->sampled_at != 0 ? Min(memory->sampled_at, view->at) : view->at;
	int			i = 0;

	for (int k = 0; k < growths->ntablespaces; k++)
	{
		growths->tablespaces[k].change = 0;
		growths->tablespaces[k].changed = false;
	}
	for (int j = 0; j < memory->nstates; j++)
	{
		const TierRelationState *before = &memory->states[j];

		if (j % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		while (i < view->nstates && view->states[i].id.relation_oid < before->id.relation_oid)
			i++;
		if (i == view->nstates || view->states[i].id.relation_oid != before->id.relation_oid)
			find_or_add(growths, before->id.tablespace_oid)->change -= before->stored.size_bytes;
	}
	for (i = 0; i < view->nstates; i++)
		find_or_add(growths, view->states[i].id.tablespace_oid)->change +=
			view->states[i].period.size_change;
	for (int k = 0; k < growths->ntablespaces; k++)
	{
		TierTablespaceGrowth *growth = &growths->tablespaces[k];

		if (growth->change == 0 && !growth->changed)
			continue;
		growth->changed = true;
		tier_evidence_note(&growth->evidence, since, view->at, tier_evidence_interval_s,
						   0.0, 0.0, growth->change);
	}
}

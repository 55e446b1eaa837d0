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
tier_growth_observe(TierGrowths *growths, const TierRelationState *last, int nlast,
					TimestampTz since, const TierRelationState *states, int nstates,
					TimestampTz now)
{
	int			i = 0;

	for (int k = 0; k < growths->ntablespaces; k++)
	{
		growths->tablespaces[k].change = 0;
		growths->tablespaces[k].changed = false;
	}
	for (int j = 0; j < nlast; j++)
	{
		if (j % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		while (i < nstates && states[i].id.relation_oid < last[j].id.relation_oid)
			i++;
		if (i == nstates || states[i].id.relation_oid != last[j].id.relation_oid)
			find_or_add(growths, last[j].id.tablespace_oid)->change -= last[j].stored.size_bytes;
	}
	for (i = 0; i < nstates; i++)
		find_or_add(growths, states[i].id.tablespace_oid)->change += states[i].period.size_change;
	for (int k = 0; k < growths->ntablespaces; k++)
	{
		TierTablespaceGrowth *growth = &growths->tablespaces[k];

		if (growth->change == 0 && !growth->changed)
			continue;
		growth->changed = true;
		tier_evidence_note(&growth->evidence, since != 0 ? Min(since, now) : now, now,
						   tier_test_evidence_interval_s, 0.0, 0.0, growth->change);
	}
}

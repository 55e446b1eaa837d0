/*-------------------------------------------------------------------------
 *
 * observe/collect.c
 *		The first step of a sample: the current counters of all relations.
 *
 * One pass over pg_class, one over pg_index, one over the buffer headers; the statistics are
 * read entry by entry without building the server's own snapshot of them.  No user relation is
 * opened or locked, and no file is accessed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/rel.h"

#include "src/compat.h"
#include "src/base/by_oid.h"
#include "src/catalog/tables.h"
#include "src/model/split.h"
#include "src/observe/collect.h"
#include "src/server/buffers.h"
#include "src/server/relation.h"

/* A growing array of relations. */
typedef struct RelationList
{
	TierRelationState *relations;
	int			n;
	int			capacity;
} RelationList;

TierRelationState *
tier_collect_find(TierRelationState *states, int nstates, Oid relation_oid)
{
	return tier_by_oid_find(relation_oid, states, nstates, sizeof(TierRelationState));
}

static void
append_relation(RelationList *list, Form_pg_class form)
{
	TierRelationState *state;

	if (list->n == list->capacity)
	{
		list->capacity *= 2;
		list->relations = repalloc_huge(list->relations,
										sizeof(TierRelationState) * list->capacity);
	}
	state = &list->relations[list->n++];
	memset(state, 0, sizeof(TierRelationState));
	state->id.relation_oid = form->oid;
	state->id.heap_oid = form->oid;
	state->id.name_hash = (int32) (hash_bytes((const unsigned char *) NameStr(form->relname),
											  (int) strlen(NameStr(form->relname))) | 1);
	state->id.owner_oid = form->relowner;
	state->id.tablespace_oid = OidIsValid(form->reltablespace) ? form->reltablespace :
		MyDatabaseTableSpace;
	state->id.file_number = form->relfilenode;
	state->id.kind = form->relkind;
	state->id.persistence = form->relpersistence;

	/* A role that may set statistics can set it to NaN. */
	state->id.tuples = isfinite(form->reltuples) ? form->reltuples : -1;
	state->period.known_pages = (BlockNumber) form->relpages;
	state->stored.size_bytes = -1;
	state->stored.maps_bytes = -1;
	state->stored.os_cached_bytes = -1;
	state->stored.source = TIER_SOURCE_STATISTICS;
}

/* Pairs (toast table, its owner table), to be resolved when all are known. */
typedef struct ToastLink
{
	Oid			toast_oid;
	Oid			heap_oid;
} ToastLink;

static void
read_pg_class(RelationList *list, ToastLink **links, int *nlinks)
{
	Relation	rel = table_open(RelationRelationId, AccessShareLock);
	Oid			our_schema = get_namespace_oid(TIER_CATALOG_SCHEMA, true);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;
	int			capacity = 1024;

	*nlinks = 0;
	*links = palloc(sizeof(ToastLink) * capacity);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

		if (form->relpersistence == RELPERSISTENCE_TEMP ||
			form->oid < FirstNormalObjectId ||
			form->relnamespace == our_schema ||
			!OidIsValid(form->relfilenode))
			continue;
		switch (form->relkind)
		{
			case RELKIND_RELATION:
			case RELKIND_MATVIEW:
			case RELKIND_INDEX:
			case RELKIND_TOASTVALUE:
				append_relation(list, form);
				break;
			default:
				continue;
		}
		if (OidIsValid(form->reltoastrelid))
		{
			if (*nlinks == capacity)
			{
				capacity *= 2;
				*links = repalloc_huge(*links, sizeof(ToastLink) * capacity);
			}
			(*links)[*nlinks].toast_oid = form->reltoastrelid;
			(*links)[(*nlinks)++].heap_oid = form->oid;
		}
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

/*
 * Identifies an index whose name passes to another one when it is rebuilt.  An index that
 * cannot be used has no hash.
 */
static int32
index_hash(HeapTuple tuple, TupleDesc description, int32 name_hash)
{
	Form_pg_index form = (Form_pg_index) GETSTRUCT(tuple);
	bool		isnull;
	uint64		hash;

	if (!form->indisvalid)
		return TIER_INDEX_IS_INVALID;
	hash = tier_relation_hash_index(form,
									heap_getattr(tuple, Anum_pg_index_indcollation, description,
												 &isnull),
									heap_getattr(tuple, Anum_pg_index_indclass, description,
												 &isnull),
									heap_getattr(tuple, Anum_pg_index_indoption, description,
												 &isnull));
	return (int32) (hash_combine((uint32) name_hash, (uint32) hash) | 1);
}

/* Points each index at its table; also those of TOAST tables. */
static void
read_pg_index(TierRelationState *relations, int n)
{
	Relation	rel = table_open(IndexRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_index form = (Form_pg_index) GETSTRUCT(tuple);
		TierRelationState *index = tier_collect_find(relations, n, form->indexrelid);

		if (index == NULL)
			continue;
		index->id.heap_oid = form->indrelid;
		index->id.name_hash = index_hash(tuple, RelationGetDescr(rel), index->id.name_hash);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

/*
 * Drops what hangs on a relation that is not in the list, that is the TOAST
 * tables of our own tables and their indexes.
 */
static int
drop_orphans(TierRelationState *relations, int n)
{
	bool	   *has_table = palloc_extended(sizeof(bool) * Max(n, 1), MCXT_ALLOC_HUGE);
	int			kept = 0;

	for (int i = 0; i < n; i++)
	{
		TierRelationId *id = &relations[i].id;

		if (id->kind == RELKIND_TOASTVALUE && id->heap_oid == id->relation_oid)
			id->heap_oid = InvalidOid;
	}
	for (int i = 0; i < n; i++)
	{
		const TierRelationState *heap = &relations[i];

		/* An index of a TOAST table is two steps away from its table. */
		for (int step = 0; step < 2 && heap != NULL &&
			 heap->id.heap_oid != heap->id.relation_oid; step++)
			heap = OidIsValid(heap->id.heap_oid) ?
				tier_collect_find(relations, n, heap->id.heap_oid) : NULL;
		has_table[i] = heap != NULL;
	}
	for (int i = 0; i < n; i++)
		if (has_table[i])
			relations[kept++] = relations[i];
	pfree(has_table);
	return kept;
}

/* The cumulative counters of every relation. */
static void
read_counters(TierRelationState *relations, int n)
{
	/* Of each table: rows that each of its indexes had to take in. */
	int64	   *index_entries = palloc_extended(sizeof(int64) * Max(n, 1),
												MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	int			guc_level = NewGUCNestLevel();

	/* Else the server would copy all of them into this backend's memory. */
	(void) set_config_option("stats_fetch_consistency", "none",
							 PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);

	for (int i = 0; i < n; i++)
	{
		TierRelationState *state = &relations[i];
		TierCounters *counters = &state->stored.counters;
		TierCompatTableStats stats;

		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (!tier_compat_fetch_table_stats(state->id.relation_oid,
										   state->id.kind == RELKIND_INDEX, &stats))
			continue;
		counters->scans = stats.scans;
		counters->tuples_read = stats.tuples_returned;
		counters->blocks_fetched = stats.blocks_fetched;
		counters->blocks_hit = stats.blocks_hit;
		counters->row_changes = stats.tuples_inserted + stats.tuples_updated +
			stats.tuples_deleted;
		counters->maintenance = stats.maintenance;
		state->stored.vacuums = stats.vacuums;
		state->period.live_rows = Max(stats.live_tuples, 0);
		state->period.last_scan_at = stats.last_scan_at;
		counters->reset_at = stats.reset_at;
		index_entries[i] = stats.tuples_inserted + stats.tuples_updated - stats.tuples_hot_updated;
	}

	for (int i = 0; i < n; i++)
	{
		TierCounters *counters = &relations[i].stored.counters;
		const TierRelationState *heap;

		if (relations[i].id.kind != RELKIND_INDEX)
			continue;
		heap = tier_collect_find(relations, n, relations[i].id.heap_oid);
		counters->row_changes = heap == NULL ? 0 : index_entries[heap - relations];
		counters->maintenance = heap == NULL ? 0 : heap->stored.counters.maintenance;
		relations[i].period.live_rows = heap == NULL ? 0 : heap->period.live_rows;
	}
	AtEOXact_GUC(false, guc_level);
	pfree(index_entries);
}

/* Sets the numbers of blocks in shared buffers. */
static void
read_buffers(TierRelationState *relations, int n)
{
	TierBufferScan *buffers = tier_buffers_scan();

	for (int i = 0; i < n; i++)
	{
		const TierRelationId *id = &relations[i].id;
		TierRelationStored *stored = &relations[i].stored;
		const TierBufferCount *count = tier_buffers_find(buffers, id->tablespace_oid,
														 id->file_number);

		if (count != NULL)
		{
			stored->cached_buffers = (int32) Min(count->cached, PG_INT32_MAX);
			stored->dirty_buffers = (int32) Min(count->dirty, PG_INT32_MAX);
		}
	}
	tier_buffers_free(buffers);
}

TierRelationState *
tier_collect(int *nstates)
{
	RelationList list;
	ToastLink  *links;
	int			nlinks;

	list.n = 0;
	list.capacity = 1024;
	list.relations = palloc(sizeof(TierRelationState) * list.capacity);
	read_pg_class(&list, &links, &nlinks);
	qsort(list.relations, list.n, sizeof(TierRelationState), oid_cmp);

	for (int i = 0; i < nlinks; i++)
	{
		TierRelationState *toast = tier_collect_find(list.relations, list.n, links[i].toast_oid);

		if (toast != NULL)
			toast->id.heap_oid = links[i].heap_oid;
	}
	pfree(links);
	read_pg_index(list.relations, list.n);
	list.n = drop_orphans(list.relations, list.n);

	read_counters(list.relations, list.n);
	read_buffers(list.relations, list.n);
	*nstates = list.n;
	return list.relations;
}

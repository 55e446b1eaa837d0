/*-------------------------------------------------------------------------
 *
 * catalog/wal_position.c
 *		The store of the position up to which the WAL was read.
 *
 * See catalog/tables.h and observe/writes.h.  All of it is in the only row of
 * sampler, so that it is committed with the sample or not at all.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "executor/spi.h"
#include "utils/pg_lsn.h"
#include "utils/timestamp.h"

#include "src/catalog/tables.h"
#include "src/model/page_writes.h"

/* The set of pages as bytes: this, and then its members, as StoredGroup. */
typedef struct StoredPages
{
	XLogRecPtr	redo;
	uint32		level;
	uint32		count;
	uint32		full_page_writes;
	uint32		unused;
} StoredPages;

typedef struct StoredGroup
{
	uint16		hash_low;
	uint16		hash_high;
	uint16		pages;
} StoredGroup;

/* A damaged value does no harm: it is taken as a set of other pages, or an empty one. */
static void
read_pages(TierWritesMemory *memory, Datum value)
{
	bytea	   *bytes = DatumGetByteaPP(value);
	StoredPages header;
	StoredGroup stored[TIER_PAGE_SET_MAX];
	TierPageGroup members[TIER_PAGE_SET_MAX];
	Size		size = VARSIZE_ANY_EXHDR(bytes);

	if (size < sizeof(header))
		return;
	memcpy(&header, VARDATA_ANY(bytes), sizeof(header));
	memory->full_page_writes = header.full_page_writes != 0;
	size -= sizeof(header);
	if (header.count > TIER_PAGE_SET_MAX || size != header.count * sizeof(StoredGroup))
		return;
	memcpy(stored, VARDATA_ANY(bytes) + sizeof(header), size);
	for (uint32 i = 0; i < header.count; i++)
		members[i] = (TierPageGroup)
	{
		.hash = (uint32) stored[i].hash_high << 16 | stored[i].hash_low,
			.pages = stored[i].pages
	};
	memory->redo = header.redo;
	tier_page_set_restore(&memory->pages, header.level, members, header.count);
}

static Datum
pages_datum(const TierWritesMemory *memory)
{
	TierPageGroup members[TIER_PAGE_SET_MAX];
	StoredGroup stored[TIER_PAGE_SET_MAX];
	StoredPages header;
	bytea	   *bytes;
	Size		size;

	memset(&header, 0, sizeof(header));
	header.redo = memory->redo;
	header.full_page_writes = memory->full_page_writes;
	header.level = memory->pages.level;
	header.count = tier_page_set_members(&memory->pages, members);
	for (uint32 i = 0; i < header.count; i++)
		stored[i] = (StoredGroup)
	{
		.hash_low = (uint16) members[i].hash,
			.hash_high = (uint16) (members[i].hash >> 16),
			.pages = members[i].pages
	};
	size = sizeof(header) + header.count * sizeof(StoredGroup);
	bytes = palloc(VARHDRSZ + size);
	SET_VARSIZE(bytes, VARHDRSZ + size);
	memcpy(VARDATA(bytes), &header, sizeof(header));
	memcpy(VARDATA(bytes) + sizeof(header), stored, header.count * sizeof(StoredGroup));
	return PointerGetDatum(bytes);
}

void
tier_catalog_load_writes(TierWritesMemory *memory)
{
	static const char sql[] =
	"SELECT wal_position, wal_since, changed_pages FROM _tiered_storage.sampler "
	"WHERE wal_position IS NOT NULL AND wal_since IS NOT NULL";
	bool		isnull;
	Datum		value;

	memset(memory, 0, sizeof(TierWritesMemory));
	if (tier_query_plain(sql) == 0)
		return;
	memory->full_page_writes = fullPageWrites;
	memory->position = DatumGetLSN(tier_catalog_datum(0, 1, &isnull));
	memory->since = tier_get_time(0, 2);
	value = tier_catalog_datum(0, 3, &isnull);
	if (!isnull)
		read_pages(memory, value);
}

TimestampTz
tier_catalog_writes_since(void)
{
	return tier_query_plain("SELECT wal_since FROM _tiered_storage.sampler") == 0 ? 0 :
		tier_get_time(0, 1);
}

void
tier_catalog_store_writes(const TierWritesMemory *memory)
{
	static const char sql[] =
	"UPDATE _tiered_storage.sampler SET wal_position = $1, wal_since = $2, "
	"last_wal_bytes = $3, last_wal_read_bytes = $4, last_wal_scale = $5, "
	"last_wal_unattributed_bytes = $6, changed_pages = "

	/* An unchanged value keeps its stored copy. */
	"CASE WHEN changed_pages IS DISTINCT FROM $7 THEN $7 ELSE changed_pages END";
	bool		is_on = memory->position != InvalidXLogRecPtr;
	TierValue	values[] = {
		{LSNOID, LSNGetDatum(memory->position), false},
		tier_arg_time(memory->since),
		tier_arg_int8(memory->wal_bytes),
		tier_arg_int8(memory->read_bytes),
		tier_arg_if(memory->scale != 0.0, tier_arg_float8(memory->scale)),
		tier_arg_int8(memory->unattributed_bytes),
		{BYTEAOID, is_on ? pages_datum(memory) : (Datum) 0, false}
	};

	for (int i = 0; i < (int) lengthof(values); i++)
		values[i] = tier_arg_if(is_on, values[i]);
	tier_catalog_run(sql, values, lengthof(values));
}

void
tier_catalog_forget_write_rates(void)
{
	static const char sql[] =
	"UPDATE _tiered_storage.relation_state SET page_writes_fast = 0, page_writes_slow = 0, "
	"merged_writes_fast = 0, merged_writes_slow = 0, maintenance_writes_fast = 0, "
	"wal_bytes_fast = 0, image_bytes_fast = 0 "
	"WHERE page_writes_fast > 0 OR page_writes_slow > 0 OR maintenance_writes_fast > 0 "
	"OR wal_bytes_fast > 0 OR image_bytes_fast > 0";

	tier_query_plain(sql);
}

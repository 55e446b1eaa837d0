/*-------------------------------------------------------------------------
 *
 * catalog/pin.c
 *		The store of pins.  See catalog/tables.h.
 *
 * The view pinned_relations defines which relations a pin holds: a relation's own pin takes
 * precedence over that of its table, and that over those of partitioned tables above it, the
 * nearest first.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "src/base/by_oid.h"
#include "src/catalog/tables.h"

/*
 * The pins that mean the relation $1, by its OID or by its name; the work does not
 * grow with the number of pins.
 */
#define PINS_OF \
	"(SELECT v.* FROM _tiered_storage.pin_targets v " \
	"WHERE v.relation_oid = $1 AND v.pin_id = ANY (ARRAY(" \
	"SELECT c.pin_id FROM _tiered_storage.pin c WHERE c.relation_oid = $1 UNION ALL " \
	"SELECT c.pin_id FROM _tiered_storage.relation_entry($1) r " \
	"JOIN _tiered_storage.pin c ON c.relation_name = r.relname " \
	"AND c.schema_name = r.nspname)))"

/* Of one relation, or with 0 of all. */
static TierPins *
load_pins(MemoryContext context, Oid relation_oid)
{
	static const char sql[] =
	"SELECT r.relation::pg_catalog.oid, r.tier_name, v.relation_name "
	"FROM _tiered_storage.pinned_relations r "
	"JOIN _tiered_storage.pin_targets v ON v.pin_id = r.pin_id "
	"WHERE $1 IN (0, r.relation::pg_catalog.oid) ORDER BY r.relation::pg_catalog.oid";
	static const TierColumn fields[] = {
		TIER_FIELD(TierPinned, relation_oid, OIDOID),
		TIER_FIELD(TierPinned, tier_name, NAMEOID),
		TIER_FIELD(TierPinned, pinned_as, TEXTOID),
	};
	TierPins   *pins = MemoryContextAllocZero(context, sizeof(TierPins));

	/* Without pins the walk through the partitions is not worth its time. */
	if (tier_query_plain("SELECT FROM _tiered_storage.pin LIMIT 1") == 0)
		return pins;
	pins->nrelations = (int) tier_query(sql, tier_arg_oid(relation_oid));
	pins->relations = TIER_ROWS(context, TierPinned, fields, pins->nrelations);
	return pins;
}

TierPins *
tier_catalog_load_pins(MemoryContext context)
{
	return load_pins(context, InvalidOid);
}

TierPins *
tier_catalog_load_pin_of(MemoryContext context, Oid relation_oid)
{
	return load_pins(context, relation_oid);
}

const TierPinned *
tier_pins_find(const TierPins *pins, Oid relation_oid)
{
	return tier_by_oid_find(relation_oid, pins->relations, pins->nrelations, sizeof(TierPinned));
}

const TierPinned *
tier_pins_against(const TierPins *pins, const TierSet *set, Oid relation_oid, int tier)
{
	const TierPinned *pinned = tier_pins_find(pins, relation_oid);

	if (pinned == NULL || tier_set_find_tier(set, NameStr(pinned->tier_name)) == tier)
		return NULL;
	return pinned;
}

void
tier_catalog_set_pin(const TierCatalogScope *scope, const TierPinRow *row)
{
	static const char delete_sql[] =
	"DELETE FROM _tiered_storage.pin p USING " PINS_OF " v "
	"WHERE v.pin_id = p.pin_id "
	"AND (p.relation_oid, p.database_oid, p.system_identifier) <> ($1, $3, $2)";
	static const char insert_sql[] =
	"INSERT INTO _tiered_storage.pin (relation_oid, schema_name, relation_name, "
	"system_identifier, database_oid, tier_name, "
	"until, include_indexes, pinned_by, pinned_by_oid, "
	"owner_name, owner_oid, relation_kind, pinned_at, "
	"table_oid, definition_hash, other_indexes) "
	"SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, clock_timestamp(), "
	"i.table_oid, i.definition_hash, i.other_indexes FROM _tiered_storage.index_identity($1) i "
	"ON CONFLICT (relation_oid, database_oid, system_identifier) DO UPDATE SET "
	"tier_name = EXCLUDED.tier_name, until = EXCLUDED.until, "
	"include_indexes = EXCLUDED.include_indexes, "
	"pinned_by = EXCLUDED.pinned_by, pinned_by_oid = EXCLUDED.pinned_by_oid, "
	"owner_name = EXCLUDED.owner_name, owner_oid = EXCLUDED.owner_oid, "
	"relation_kind = EXCLUDED.relation_kind, table_oid = EXCLUDED.table_oid, "
	"definition_hash = EXCLUDED.definition_hash, other_indexes = EXCLUDED.other_indexes, "
	"pinned_at = EXCLUDED.pinned_at";
	TierIdentity identity;

	tier_catalog_identify(scope, row->relation_oid, row->owner_oid, &row->tier_name, &identity);
	tier_catalog_hold_tier(&row->tier_name);

	/* A pin of the same relation that comes from a restore is replaced. */
	tier_query(delete_sql, tier_arg_oid(row->relation_oid),
			   tier_arg_int8((int64) GetSystemIdentifier()), tier_arg_oid(MyDatabaseId));
	tier_query(insert_sql, TIER_IDENTITY_VALUES(&identity),
			   tier_arg_if(row->until != 0, tier_arg_time(row->until)),
			   tier_arg_bool(row->include_indexes), tier_arg_name(&identity.creator),
			   tier_arg_oid(scope->caller), tier_arg_name(&identity.owner),
			   tier_arg_oid(row->owner_oid), tier_arg_char(row->kind));
}

bool
tier_catalog_remove_pin(Oid relation_oid)
{
	static const char sql[] =
	"DELETE FROM _tiered_storage.pin p USING " PINS_OF " v "
	"WHERE v.pin_id = p.pin_id";

	return tier_query(sql, tier_arg_oid(relation_oid)) > 0;
}

bool
tier_catalog_has_pin(Oid relation_oid, bool *include_indexes)
{
	static const char sql[] =
	"SELECT v.include_indexes FROM " PINS_OF " v "
	"ORDER BY v.include_indexes DESC";

	if (tier_query(sql, tier_arg_oid(relation_oid)) == 0)
		return false;
	*include_indexes = tier_get_bool(0, 1);
	return true;
}

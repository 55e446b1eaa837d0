/*-------------------------------------------------------------------------
 *
 * server/relation_entry_sql.c
 *		SQL functions that replace pg_class in the extension's statements.
 *
 * Statements and views of the extension do not read pg_class, because another extension may
 * rewrite each query on it.  Citus does, and hides the shards, so that existing relations
 * would be taken for dropped.  These functions look into the system cache, one relation at a
 * time, so that the cost of a view grows with its own rows, not with the database.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "src/base/sql.h"
#include "src/server/relation.h"

PG_FUNCTION_INFO_V1(tier_relation_entry);
PG_FUNCTION_INFO_V1(tier_relation_entry_named);
PG_FUNCTION_INFO_V1(tier_relation_persistence);
PG_FUNCTION_INFO_V1(tier_index_identity);

/* Columns of the result. */
enum
{
	ENTRY_OID,
	ENTRY_SCHEMA,
	ENTRY_NAME,
	ENTRY_KIND,
	ENTRY_PERSISTENCE,
	ENTRY_OWNER,
	ENTRY_TABLESPACE,
	ENTRY_FILE_NUMBER,
	ENTRY_TOAST,
	ENTRY_PAGES,
	ENTRY_VISIBLE_PAGES
};

enum
{
	IDENTITY_TABLE,
	IDENTITY_NAME,
	IDENTITY_HASH,
	IDENTITY_OTHERS
};

/* One row, or none. */
static Datum
return_entry(FunctionCallInfo fcinfo, Oid relation_oid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation_oid));
	Form_pg_class form;
	TierResultRow row;

	tier_result_start(fcinfo, &row);
	if (!HeapTupleIsValid(tuple))
		return (Datum) 0;
	form = (Form_pg_class) GETSTRUCT(tuple);
	tier_row_clear(&row);
	tier_row_datum(&row, ENTRY_OID, ObjectIdGetDatum(form->oid));
	tier_row_name(&row, ENTRY_SCHEMA, get_namespace_name(form->relnamespace));
	tier_row_datum(&row, ENTRY_NAME, NameGetDatum(&form->relname));
	tier_row_datum(&row, ENTRY_KIND, CharGetDatum(form->relkind));
	tier_row_datum(&row, ENTRY_PERSISTENCE, CharGetDatum(form->relpersistence));
	tier_row_datum(&row, ENTRY_OWNER, ObjectIdGetDatum(form->relowner));
	tier_row_datum(&row, ENTRY_TABLESPACE, ObjectIdGetDatum(form->reltablespace));
	tier_row_datum(&row, ENTRY_FILE_NUMBER, ObjectIdGetDatum(form->relfilenode));
	tier_row_datum(&row, ENTRY_TOAST, ObjectIdGetDatum(form->reltoastrelid));
	tier_row_datum(&row, ENTRY_PAGES, Int32GetDatum(form->relpages));
	tier_row_datum(&row, ENTRY_VISIBLE_PAGES, Int32GetDatum(form->relallvisible));
	tier_row_put(&row);
	ReleaseSysCache(tuple);
	return (Datum) 0;
}

/* _tiered_storage.relation_entry(oid) */
Datum
tier_relation_entry(PG_FUNCTION_ARGS)
{
	return return_entry(fcinfo, PG_GETARG_OID(0));
}

/* _tiered_storage.relation_entry(schema name, relation name) */
Datum
tier_relation_entry_named(PG_FUNCTION_ARGS)
{
	Oid			schema_oid = get_namespace_oid(NameStr(*PG_GETARG_NAME(0)), true);

	return return_entry(fcinfo, OidIsValid(schema_oid) ?
						get_relname_relid(NameStr(*PG_GETARG_NAME(1)), schema_oid) : InvalidOid);
}

/* _tiered_storage.relation_persistence(oid) */
Datum
tier_relation_persistence(PG_FUNCTION_ARGS)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(PG_GETARG_OID(0)));
	char		persistence;

	if (!HeapTupleIsValid(tuple))
		PG_RETURN_NULL();
	persistence = ((Form_pg_class) GETSTRUCT(tuple))->relpersistence;
	ReleaseSysCache(tuple);
	PG_RETURN_CHAR(persistence);
}

/* _tiered_storage.index_identity(oid) */
Datum
tier_index_identity(PG_FUNCTION_ARGS)
{
	TierIndexIdentity identity;
	TierResultRow row;
	Datum	   *others;
	int			n;

	tier_relation_identify(PG_GETARG_OID(0), &identity);
	tier_result_start(fcinfo, &row);
	tier_row_clear(&row);
	if (OidIsValid(identity.table_oid))
	{
		n = list_length(identity.others);
		others = palloc(sizeof(Datum) * Max(n, 1));
		for (int i = 0; i < n; i++)
			others[i] = ObjectIdGetDatum(list_nth_oid(identity.others, i));
		tier_row_datum(&row, IDENTITY_TABLE, ObjectIdGetDatum(identity.table_oid));
		tier_row_datum(&row, IDENTITY_NAME, NameGetDatum(&identity.name));
		tier_row_datum(&row, IDENTITY_HASH, Int64GetDatum(identity.definition_hash));
		tier_row_datum(&row, IDENTITY_OTHERS,
					   PointerGetDatum(construct_array(others, n, OIDOID, sizeof(Oid), true,
													   TYPALIGN_INT)));
	}
	tier_row_put(&row);
	return (Datum) 0;
}

/*-------------------------------------------------------------------------
 *
 * server/counting.c
 *		Roles that the server's statistics do not count.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_db_role_setting.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "src/server/counting.h"

/* Of one role in one database; 0: of all. */
typedef struct Counting
{
	Oid			database_oid;
	Oid			role_oid;
	bool		counts;
} Counting;

/* Returns true if these settings include track_counts; then sets *counts to its value. */
static bool
find_setting(ArrayType *settings, bool *counts)
{
	static const char name[] = "track_counts=";
	Datum	   *values;
	bool	   *nulls;
	int			n;
	bool		found = false;

	deconstruct_array(settings, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		char	   *setting = nulls[i] ? "" : TextDatumGetCString(values[i]);

		if (pg_strncasecmp(setting, name, strlen(name)) == 0 &&
			parse_bool(setting + strlen(name), counts))
			found = true;
	}
	return found;
}

/* Those of this database and of all. */
static List *
load_settings(void)
{
	Relation	catalog = table_open(DbRoleSettingRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	List	   *found = NIL;
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_db_role_setting row = (Form_pg_db_role_setting) GETSTRUCT(tuple);
		bool		isnull;
		Datum		settings = heap_getattr(tuple, Anum_pg_db_role_setting_setconfig,
											RelationGetDescr(catalog), &isnull);
		bool		counts;

		if (isnull || (OidIsValid(row->setdatabase) && row->setdatabase != MyDatabaseId) ||
			!find_setting(DatumGetArrayTypeP(settings), &counts))
			continue;
		found = lappend(found, palloc(sizeof(Counting)));
		*(Counting *) llast(found) = (Counting)
		{
			row->setdatabase, row->setrole, counts
		};
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return found;
}

/* A value for the role in this database counts, and not the one for all databases. */
static bool
is_overruled(const Counting *setting, const List *all)
{
	ListCell   *cell;

	foreach(cell, all)
	{
		const Counting *other = lfirst(cell);

		if (!OidIsValid(setting->database_oid) && OidIsValid(other->database_oid) &&
			other->role_oid == setting->role_oid && other->counts)
			return true;
	}
	return false;
}

static bool
can_log_in(Oid role_oid)
{
	HeapTuple	tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(role_oid));
	bool		can = HeapTupleIsValid(tuple) &&
	((Form_pg_authid) GETSTRUCT(tuple))->rolcanlogin;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return can;
}

char *
tier_uncounted_roles(void)
{
	List	   *all = load_settings();
	ListCell   *cell;

	foreach(cell, all)
	{
		const Counting *setting = lfirst(cell);

		if (setting->counts || is_overruled(setting, all))
			continue;
		if (!OidIsValid(setting->role_oid))
			return pstrdup("any role");
		if (can_log_in(setting->role_oid))
			return psprintf("role \"%s\"", GetUserNameFromId(setting->role_oid, true));
	}
	return NULL;
}

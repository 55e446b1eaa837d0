/*-------------------------------------------------------------------------
 *
 * act/claims.c
 *		The tiers that the databases of a cluster assign their tablespaces to.
 *
 * A tablespace is shared by all databases: where two of them take it for parts of different tiers,
 * nothing is moved in the one that was second.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "src/act/claims.h"
#include "src/base/shmem.h"
#include "src/base/sql.h"

/* NULL, or why nothing may be moved; the claims of the set are published, or only compared. */
static char *
find_conflict(const TierSet *set, bool publishes)
{
	TierClaim  *claims = palloc(sizeof(TierClaim) * Max(set->ntablespaces, 1));
	Oid			database_oid;
	NameData	tier_name;
	char	   *database;
	int			conflict;

	for (int i = 0; i < set->ntablespaces; i++)
	{
		claims[i].tablespace_oid = set->tablespaces[i].oid;
		claims[i].database_oid = MyDatabaseId;
		claims[i].tier_name = set->tiers[set->tablespaces[i].tier].name;
		claims[i].is_weak = set->tablespaces[i].discovered;
	}
	conflict = tier_shmem_find_conflict(claims, set->ntablespaces, publishes, &database_oid,
										&tier_name);
	pfree(claims);
	if (conflict < 0)
		return NULL;
	database = get_database_name(database_oid);
	return psprintf("nothing is moved, because tablespace \"%s\" belongs to tier \"%s\" "
					"here, but to tier \"%s\" in database \"%s\"",
					NameStr(set->tablespaces[conflict].name),
					NameStr(set->tiers[set->tablespaces[conflict].tier].name),
					tier_foreign_text(NameStr(tier_name)), database ? database : "?");
}

char *
tier_claims_publish(const TierSet *set)
{
	return find_conflict(set, true);
}

char *
tier_claims_find_conflict(const TierSet *set)
{
	return find_conflict(set, false);
}

void
tier_claims_require(const TierSet *set, bool dry_run)
{
	char	   *conflict = find_conflict(set, !dry_run);

	if (conflict != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg_internal("%s", conflict),
				 errdetail("A tablespace is shared by all databases, "
						   "which must agree on its tier."),
				 errhint("Use tiered_storage.alter_tier() in one of them.")));
}

/*-------------------------------------------------------------------------
 *
 * tiered_storage_citus.c
 *		tiered_storage on all nodes of Citus: the library.
 *
 * A separate library, which need not be preloaded: a session loads it when it calls one of its
 * functions, and the core when it is asked about shards in a database that has this extension
 * (server/distributed.h).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"

#include "src/citus/ask.h"
#include "src/citus/shards.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	/* For tests; no list of settings shows it. */
	DefineCustomIntVariable("tiered_storage_citus.test_node_timeout",
							"Sets how long to wait for a node of Citus.",
							"For a connection to it, and again for its answer.",
							&tier_citus_test_node_timeout_ms,
							5000, 100, 600000,
							PGC_USERSET, GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE | GUC_UNIT_MS,
							NULL, NULL, NULL);
	MarkGUCPrefixReserved("tiered_storage_citus");
	tier_citus_shards_init();
}

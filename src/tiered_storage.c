/*-------------------------------------------------------------------------
 *
 * tiered_storage.c
 *		Storage tiering for PostgreSQL: wiring only.
 *
 *		observe  ->  remember  ->  decide  ->  act
 *		tier_sample  tier_catalog  tier_cost     tier_move
 *		tier_buffers tier_heat     tier_solver   tier_relation
 *		tier_device                tier_policy
 *
 * Loaded by shared_preload_libraries it brings a launcher and workers that do
 * this by themselves; loaded by a session it lets that session do it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"

#include "src/observe/access.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/base/settings.h"
#include "src/base/shmem.h"
#include "src/act/worker.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	tier_clock_init();
	tier_debug_init();
	tier_guc_init();			/* last of the settings: it closes the prefix */

	if (!process_shared_preload_libraries_in_progress)
		return;

	tier_shmem_init();

	/* pg_upgrade wants to be alone with the databases. */
	if (!IsBinaryUpgrade)
	{
		tier_access_init();
		tier_worker_init();
	}
}

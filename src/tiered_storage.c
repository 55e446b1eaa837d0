/*-------------------------------------------------------------------------
 *
 * tiered_storage.c
 *		Storage tiering for PostgreSQL: wiring only.
 *
 *		observe  ->  remember  ->  decide  ->  act  ->  verify
 *
 *		src/observe	takes samples, with the help of storage/ and server/
 *		src/catalog	remembers them in tables of the extension
 *		src/decide	advises and evaluates policies, by the rules of model/
 *		src/act		has relations moved by move/, and verifies the effect
 *		src/base	what any of them may use
 *
 * If loaded by shared_preload_libraries, the library starts a launcher and workers that do
 * this automatically.  If loaded by a session, only the functions that the session calls do
 * it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"

#include "src/observe/access.h"
#include "src/base/clock.h"
#include "src/base/debug.h"
#include "src/base/idle.h"
#include "src/base/session_settings.h"
#include "src/base/settings.h"
#include "src/base/shmem.h"
#include "src/act/launcher.h"
#include "src/decide/explain_plan.h"
#include "src/server/distributed.h"
#include "src/server/suppose.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	tier_clock_init();
	tier_debug_init();
	tier_distributed_init();
	tier_suppose_init();
	tier_explain_init();
	tier_guc_init();			/* last of the settings: it closes the prefix */
	tier_settings_init();

	if (!process_shared_preload_libraries_in_progress)
		return;

	tier_shmem_init();

	/* Under pg_upgrade nothing else may work on the databases. */
	if (!IsBinaryUpgrade)
	{
		tier_access_init();
		tier_idle_init();
		tier_launcher_init();
	}
}

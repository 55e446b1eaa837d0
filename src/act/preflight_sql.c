/*-------------------------------------------------------------------------
 *
 * act/preflight_sql.c
 *		preflight(): the obstacles to a call.
 *
 * Runs in the session that asks, in any transaction, also on a standby and while others have the
 * relations locked.  The mover's own checks decide whether a move would be refused, for each
 * relation of the call in its turn; a row sums up the results of one check for all of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "src/act/preflight_checks.h"
#include "src/base/sql.h"
#include "src/server/screen.h"
#include "src/storage/device.h"

PG_FUNCTION_INFO_V1(tier_preflight_sql);

/* The argument behind those of tier_call_read(). */
#define PREFLIGHT_ALL 5

/* Names, verdicts and these fit into 120 columns.  A remedy may be a statement, with a name. */
#define FINDING_COLUMNS 32
#define REMEDY_COLUMNS 56

/* ---------------------------------------------------------------------
 * Checks beyond those of the mover
 * ---------------------------------------------------------------------
 */

/*
 * Appended to a finding that applies to so many of them, of which one is named.  The partitioned
 * table that is in the call is none of them, and is counted if it is refused, too.
 */
static char *
count_text(const TierSurvey *survey, int n)
{
	return n <= 1 ? "" : psprintf(" (%d of %d)", Min(n, survey->relations), survey->relations);
}

static TierFinding
look_at_server(TierSurvey *survey)
{
	if (RecoveryInProgress())
		return tier_finding(TIER_PREFLIGHT_BLOCKS,
							"Call it on the primary, which knows its disks and its load.",
							"the server is a standby; the primary moves, and this server follows");
	if (DefaultXactReadOnly)
		return tier_finding(TIER_PREFLIGHT_BLOCKS, "SET default_transaction_read_only = off;",
							"default_transaction_read_only is on in this session");
	return tier_finding_ok("the server is a primary and accepts writes");
}

/* Describes the relations of the call. */
static char *
cargo_text(const TierSurvey *survey)
{
	const TierRelationInfo *info = &survey->call->info;
	int			n = survey->relations;
	char	   *size = tier_size_text(survey->bytes);

	if (n <= 1 && info->kind != RELKIND_PARTITIONED_TABLE)
		return psprintf("%s %s, %s", tier_relation_kind_name(info->kind), info->name, size);
	return psprintf("%s %s: %d %s, %s to move", tier_relation_kind_name(info->kind), info->name, n,
					n == 1 ? "relation" : "relations", size);
}

static TierFinding
look_at_relation(TierSurvey *survey)
{
	const TierRelationInfo *info = &survey->split_info;
	const char *where;

	if (survey->split == 0)
		return tier_finding_ok("%s", cargo_text(survey));
	where = tier_tablespace_name(info->tablespace_oid);
	return tier_finding_warn(psprintf("CALL tiered_storage.move_relation(%s, %s);",
									  quote_literal_cstr(info->name), quote_literal_cstr(where)),
							 "the TOAST table of %s is in another tablespace than the table: "
							 "pg_upgrade --swap would lose it%s", info->name,
							 count_text(survey, survey->split));
}

static TierFinding
look_at_place(TierSurvey *survey)
{
	const TierRoute *first = survey->moves == 0 ? NULL : linitial(survey->routes);
	const TierDevice *to;
	int			on_same_device = 0;
	ListCell   *cell;

	if (first == NULL)
		return tier_finding_warn("Name another tier or tablespace.", "nothing would be moved: %s",
								 tier_call_nothing_text(survey->call));
	foreach(cell, survey->routes)
	{
		const TierRoute *route = lfirst(cell);

		to = tier_call_device(survey->call, route->to_tablespace_oid);
		if (tier_device_is_shared(tier_call_device(survey->call, route->from_tablespace_oid), to))
			on_same_device += route->moves;
	}
	to = tier_call_device(survey->call, first->to_tablespace_oid);
	if (on_same_device > 0)
		return tier_finding_warn("See the view tiered_storage.devices.",
								 "tablespace \"%s\" is on the same device%s%s: "
								 "nothing gets faster%s",
								 tier_tablespace_name(first->to_tablespace_oid),
								 to->device == NULL ? "" : ", ",
								 to->device == NULL ? "" : to->device,
								 count_text(survey, on_same_device));
	return tier_finding_ok("from tablespace \"%s\" to tablespace \"%s\"%s",
						   tier_tablespace_name(first->from_tablespace_oid),
						   tier_tablespace_name(first->to_tablespace_oid),
						   list_length(survey->routes) == 1 ? "" : ", and others");
}

static TierFinding
look_at_method(TierSurvey *survey)
{
	if (survey->locked == 0)
		return tier_finding_ok("online: it stays in use while it is copied, and is locked for "
							   "at most %d ms and a WAL flush", TIER_LOCK_HOLD_LIMIT_MS);
	return tier_finding_warn("Leave allow_lock out to move only what can be moved online.",
							 "%d of %d relations, of at most %s, would be locked "
							 "for the whole copy",
							 survey->locked, survey->relations,
							 tier_size_text(survey->largest_locked_bytes));
}

static TierFinding
look_at_directory(TierSurvey *survey)
{
	const TierDevice *device = tier_call_device(survey->call,
												survey->call->destination[0].tablespace_oid);

	if (tier_device_why_not(device) == NULL)
		return tier_finding_ok("the directory of the tablespace is there and can be written to");
	return tier_finding_warn("Check that its file system is mounted read-write and accessible.",
							 "directory \"%s\" is %s", device->path,
							 tier_device_why_not(device));
}

static char *
others_text(double bytes)
{
	return bytes > 0 ?
		psprintf(", %s of them for other moves", tier_size_text(bytes)) : "";
}

static TierFinding
look_at_space(TierSurvey *survey)
{
	const TierSpace *space = &survey->space;
	TierSpaceNeed need;

	if (!OidIsValid(survey->space_oid))
		return tier_finding_ok("none is needed");
	if (!space->target.known)
		return tier_finding_warn("Check that it is mounted.",
								 "not known: no answer from the file system of tablespace \"%s\"",
								 tier_tablespace_name(survey->space_oid));
	need = tier_space_need(space, tier_preflight_reserve(survey->call->set, survey->space_oid),
						   survey->space_bytes, survey->logged_bytes);
	return tier_finding_ok("%s are needed at most at a time%s, %s are free%s, %s stay reserved",
						   tier_size_text(need.bytes), space->together ? " (with WAL)" : "",
						   tier_size_text(Max(space->target.free_bytes - space->earlier_bytes, 0)),
						   others_text(space->others_there_bytes),
						   tier_size_text(need.reserve_bytes));
}

/* How full the tier that most goes to will be, by the rule of the watermarks. */
static TierFinding
look_at_capacity(TierSurvey *survey)
{
	const TierSet *set = survey->call->set;
	TierFullnessQuestion question = {
		.flight = tier_foresight_flight,.argument = survey->foresight
	};
	int			to = tier_set_tier_of_tablespace(set, OidIsValid(survey->space_oid) ?
												 survey->space_oid :
												 survey->call->destination[0].tablespace_oid);
	TierFullnessLevel level;
	double		share;
	char	   *finding;

	if (to < 0)
		return tier_finding_ok("the tablespace belongs to no tier, so no capacity limits it");
	if (set->tiers[to].capacity_bytes <= 0)
		return tier_finding_warn("Set it: SELECT tiered_storage.alter_tier(..., "
								 "device => '{\"capacity_bytes\": ...}')",
								 "not known: the capacity of tier \"%s\"",
								 NameStr(set->tiers[to].name));
	level = tier_fullness_level(set, to, &question);
	share = tier_fullness_bytes(&level) / level.capacity_bytes;
	finding = psprintf("tier \"%s\" would be %.0f %% full; its high_watermark is %.0f %%",
					   NameStr(set->tiers[to].name), Max(share, 0) * 100,
					   set->tiers[to].high_watermark * 100);

	return share > set->tiers[to].high_watermark ?
		tier_finding_warn("Move something else away, or give it more room.", "%s", finding) :
		tier_finding_ok("%s", finding);
}

static TierFinding
look_at_wal(TierSurvey *survey)
{
	const TierSpace *space = &survey->space;
	TierSpaceNeed need;

	if (survey->wal_bytes <= 0)
		return tier_finding_ok(OidIsValid(survey->space_oid) ?
							   "the copy is not logged" : "no WAL is written");
	if (!space->wal.known)
		return tier_finding_warn("See the server log.",
								 "not known: the file system of pg_wal does not answer");
	need = tier_space_need(space, 0, survey->space_bytes, survey->logged_bytes);

	/*
	 * The mover admits each move by its own writes; the retained WAL adds up.
	 */
	if (tier_space_wal_is_retained() &&
		space->wal.free_bytes - survey->wal_bytes < need.wal_reserve_bytes)
		return tier_finding_warn("Move less at once, or make sure that WAL is consumed "
								 "and archived.",
								 "%s of WAL in all, unless it is read or archived during the "
								 "move; %s are free", tier_size_text(survey->wal_bytes),
								 tier_size_text(space->wal.free_bytes));
	return tier_finding_ok("%s of WAL at once%s, %s are free, %s stay reserved",
						   tier_size_text(need.wal_bytes),
						   others_text(need.wal_bytes - need.own_wal_bytes),
						   tier_size_text(space->wal.free_bytes),
						   tier_size_text(need.wal_reserve_bytes));
}

/*
 * A move is replayed by every standby, into the directory that the tablespace has there.  The
 * mover refuses by the result of the last pull; the row is absent if there is no standby.
 */
static TierFinding
look_at_standby_space(TierSurvey *survey)
{
	TierFinding none = {.verdict = TIER_PREFLIGHT_OK};
	TierCatalogScope scope;
	ListCell   *cell;
	int			known = INT_MAX;
	int			n = 0;

	tier_catalog_enter(&scope);
	foreach(cell, survey->routes)
	{
		const TierRoute *route = lfirst(cell);
		int			known_there;

		n = tier_catalog_count_standbys(route->to_tablespace_oid, &known_there);
		known = Min(known, known_there);
	}
	tier_catalog_leave(&scope);
	if (n > known)
		return tier_finding_warn("See the view tiered_storage.standbys.",
								 "not known for %d of %d standbys: the last pull failed, or is "
								 "older than a day", n - known, n);
	return n == 0 ? none :
		tier_finding_ok("%d of %d standbys have room, as of the last pull", known, n);
}

/* "It is so." goes on as "; it is so". */
static char *
detail_text(const char *detail)
{
	return detail == NULL ? "" :
		psprintf("; %c%.*s", pg_tolower((unsigned char) detail[0]), (int) strlen(detail) - 2,
				 detail + 1);
}

/*
 * The swap is replayed like an ALTER TABLE: it waits for queries on the relation there, and
 * cancels them.  The row is absent if there is no standby.
 */
static TierFinding
look_at_standby_users(TierSurvey *survey)
{
	const TierStandbyUser *there = &survey->there;
	TierFinding none = {.verdict = TIER_PREFLIGHT_OK};
	TierCatalogScope scope;
	int			known = 0;
	int			n;

	if (survey->moves == 0)
		return none;
	if (survey->used_there > 0)
		return tier_finding_warn("Wait until it has ended, as the worker and CALL migrate() do.",
								 "%s: %s%s%s", survey->there_of,
								 tier_preflight_standby_use_text(there, GetUserId()),
								 detail_text(tier_preflight_standby_conflict_text(there)),
								 count_text(survey, survey->used_there));
	tier_catalog_enter(&scope);
	n = tier_catalog_standbys_telling(&known);
	tier_catalog_leave(&scope);
	if (n > known)
		return tier_finding_warn("See the view tiered_storage.standbys.",
								 "not known for %d of %d standbys: the last pull failed, is older "
								 "than 10 minutes, or its role is not a member of pg_monitor",
								 n - known, n);
	return n == 0 ? none :
		tier_finding_ok("no long use on %d of %d standbys, as of the last pull",
						known, n);
}

static TierFinding
look_at_users(TierSurvey *survey)
{
	const TierHolder *user = &survey->user;

	if (survey->used == 0)
		return tier_finding_ok("it is not in use");

	/* Since when is for those whom pg_stat_activity tells that. */
	return tier_finding_warn(user->pid == 0 ? "COMMIT PREPARED or ROLLBACK PREPARED ends it." :
							 "The move waits for it at its end, and gives up after some attempts.",
							 "%s is in use by %s%s%s", survey->user_of,
							 tier_preflight_user_text(user, GetUserId()),
							 !tier_preflight_may_know_user(user, GetUserId()) ? "" :
							 psprintf(", open for %.0f s",
									  Max((GetCurrentTimestamp() - user->since) / 1e6, 0)),
							 count_text(survey, survey->used));
}

/* ---------------------------------------------------------------------
 * The list
 * ---------------------------------------------------------------------
 */

#define NOT_REFUSED TIER_CHECKS

static const struct
{
	const char *name;
	TierCheck	check;			/* of the mover, which may refuse it */
	bool		of_primary;		/* a standby does not see it */
	TierFinding (*look) (TierSurvey *survey);	/* NULL: nothing else to see */
	const char *ok;				/* then, if it is not refused */
}			checks[] = {
	{"server", NOT_REFUSED, false, look_at_server, NULL},
	{"relation", TIER_CHECK_OBJECT, false, look_at_relation, NULL},
	{"rights", TIER_CHECK_RIGHTS, false, NULL, "the current role may move it there"},
	{"pin", TIER_CHECK_PIN, false, NULL, "it has no pin on another tier"},
	{"place", NOT_REFUSED, false, look_at_place, NULL},
	{"method", TIER_CHECK_METHOD, false, look_at_method, NULL},
	{"frozen", TIER_CHECK_FROZEN, false, NULL, "the tier takes what is not frozen, or it is"},
	{"directory", TIER_CHECK_DIRECTORY, true, look_at_directory, NULL},
	{"space", TIER_CHECK_SPACE, true, look_at_space, NULL},
	{"capacity", TIER_CHECK_CAPACITY, true, look_at_capacity, NULL},
	{"wal", TIER_CHECK_WAL_SPACE, true, look_at_wal, NULL},
	{"standby_space", TIER_CHECK_STANDBYS, true, look_at_standby_space, NULL},
	{"standby_users", NOT_REFUSED, true, look_at_standby_users, NULL},
	{"locks", TIER_CHECK_USERS, true, look_at_users, NULL},
	{"time", NOT_REFUSED, false, tier_preflight_time, NULL},
	{"start", NOT_REFUSED, true, tier_preflight_start, NULL},
};

/* In the words of the refusal; what could be about any relation says which. */
static TierFinding
blocked_finding(const TierSurvey *survey, TierCheck check)
{
	const TierTally *tally = &survey->tallies[check];
	bool		names = check > TIER_CHECK_PIN && survey->relations > 1;
	TierFinding finding = {.verdict = TIER_PREFLIGHT_BLOCKS};

	finding.text = psprintf("%s%s%s%s%s", names ? tally->name : "", names ? ": " : "",
							tally->first.message, detail_text(tally->first.detail),
							count_text(survey, tally->blocked));
	finding.remedy = tally->first.hint;
	return finding;
}

static TierFinding
find(TierSurvey *survey, int i)
{
	TierCheck	check = checks[i].check;

	if (checks[i].of_primary && RecoveryInProgress())
		return tier_finding_warn("Ask the primary.", "not known: a standby does not see it");
	if (check != NOT_REFUSED && survey->tallies[check].blocked > 0)
		return blocked_finding(survey, check);
	return checks[i].look == NULL ? tier_finding(TIER_PREFLIGHT_OK, NULL, checks[i].ok) :
		checks[i].look(survey);
}

/*
 * Finds the readers of the WAL of the move, and the slots that keep it.  None of them is an
 * obstacle by itself.
 */
static TierWalFinding *
find_wal_readers(const TierSurvey *survey, int *n)
{
	MemoryContext context = CurrentMemoryContext;
	Oid			role_oid = GetUserId();
	TierCatalogScope scope;
	TierWalFinding *readers = NULL;

	*n = 0;
	if (RecoveryInProgress())
		return NULL;
	tier_catalog_enter(&scope);
	readers = tier_catalog_wal_readers(context, survey->wal_bytes, role_oid, n);
	tier_catalog_leave(&scope);
	return readers;
}

static void
put(TierResultRow *row, const char *check, const TierFinding *finding)
{
	static const char *const verdicts[] = {
		[TIER_PREFLIGHT_OK] = "ok",
		[TIER_PREFLIGHT_WARNING] = "warning",
		[TIER_PREFLIGHT_BLOCKS] = "blocks",
	};

	tier_row_clear(row);
	tier_row_text(row, 0, check);
	tier_row_text(row, 1, verdicts[finding->verdict]);
	tier_row_text(row, 2, tier_screen_wrap(finding->text, FINDING_COLUMNS, false));
	tier_row_text(row, 3, finding->remedy == NULL ? NULL :
				  tier_screen_wrap(finding->remedy, REMEDY_COLUMNS, true));
	tier_row_put(row);
}

/* The verdict, of the first finding that is as bad as any. */
static void
put_verdict(TierResultRow *row, const TierSurvey *survey, const TierFinding *findings, int n)
{
	TierFinding verdict = {.verdict = TIER_PREFLIGHT_OK};
	int			warnings = 0;

	for (int i = 0; i < n; i++)
	{
		warnings += findings[i].verdict == TIER_PREFLIGHT_WARNING;
		if (findings[i].verdict > verdict.verdict)
			verdict = findings[i];
	}
	if (verdict.verdict == TIER_PREFLIGHT_BLOCKS)
		verdict.text = psprintf("it would be refused: %s", verdict.text);
	else
		verdict.remedy = NULL;
	if (verdict.verdict != TIER_PREFLIGHT_BLOCKS && survey->moves > 0)
		verdict.text = psprintf("it can be moved: %s%s", cargo_text(survey),
								warnings == 0 ? "" : warnings == 1 ? "; 1 warning" :
								psprintf("; %d warnings", warnings));
	put(row, "verdict", &verdict);
}

Datum
tier_preflight_sql(PG_FUNCTION_ARGS)
{
	const char *names[lengthof(checks) + 4];
	TierFinding findings[lengthof(checks) + 4];
	TierMoveCall call;
	TierResultRow row;
	TierSurvey	survey = {0};
	TierWalFinding *readers = NULL;
	bool		all = !PG_ARGISNULL(PREFLIGHT_ALL) && PG_GETARG_BOOL(PREFLIGHT_ALL);
	int			nreaders = 0;
	int			n = 0;

	tier_result_start(fcinfo, &row);
	tier_call_read(fcinfo, &call);
	survey.call = &call;
	survey.context = CurrentMemoryContext;
	survey.foresight = tier_foresight_create(call.set);
	tier_preflight_survey(&survey);

	/* For a relation that cannot be moved at all, no other check applies. */
	for (int i = 0; i < (int) lengthof(checks) &&
		 (survey.tallies[TIER_CHECK_OBJECT].blocked == 0 || checks[i].check == TIER_CHECK_OBJECT ||
		  n == 0); i++)
	{
		names[n] = checks[i].name;
		findings[n++] = find(&survey, i);
	}
	if (survey.tallies[TIER_CHECK_OBJECT].blocked == 0)
		readers = find_wal_readers(&survey, &nreaders);
	for (int i = 0; i < nreaders; i++)
	{
		names[n] = readers[i].check;
		findings[n++] = (TierFinding)
		{
			readers[i].remedy == NULL ? TIER_PREFLIGHT_OK : TIER_PREFLIGHT_WARNING,
				readers[i].finding, readers[i].remedy
		};
	}
	put_verdict(&row, &survey, findings, n);
	for (int i = 0; i < n; i++)
		if (findings[i].text !=NULL && (all || findings[i].verdict != TIER_PREFLIGHT_OK))
			put(&row, names[i], &findings[i]);
	return (Datum) 0;
}

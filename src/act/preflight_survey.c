/*-------------------------------------------------------------------------
 *
 * act/preflight_survey.c
 *		preflight(): the relations of a call, and where they would go.
 *
 *
 * Asks the checks of the mover for each relation in its turn, without a lock on it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "src/act/preflight_checks.h"
#include "src/storage/file_size.h"

static void
note_obstacle(TierSurvey *survey, TierCheck check, const TierObstacle *obstacle, const char *name)
{
	TierTally  *tally = &survey->tallies[check];
	MemoryContext old_context;

	if (tally->blocked++ > 0)
		return;
	old_context = MemoryContextSwitchTo(survey->context);
	tally->first.message = pstrdup(obstacle->message);
	tally->first.detail = obstacle->detail == NULL ? NULL : pstrdup(obstacle->detail);
	tally->first.hint = obstacle->hint == NULL ? NULL : pstrdup(obstacle->hint);
	tally->name = pstrdup(name);
	MemoryContextSwitchTo(old_context);
}

static void
add_to_route(TierSurvey *survey, const TierRelationInfo *info, Oid to_oid, int64 size_bytes)
{
	MemoryContext old_context;
	TierRoute  *route = NULL;
	ListCell   *cell;

	foreach(cell, survey->routes)
	{
		TierRoute  *known = lfirst(cell);

		if (known->from_tablespace_oid == info->tablespace_oid &&
			known->to_tablespace_oid == to_oid)
			route = known;
	}
	if (route == NULL)
	{
		old_context = MemoryContextSwitchTo(survey->context);
		route = palloc0(sizeof(TierRoute));
		route->from_tablespace_oid = info->tablespace_oid;
		route->to_tablespace_oid = to_oid;
		survey->routes = lappend(survey->routes, route);
		MemoryContextSwitchTo(old_context);
		route->forecast = tier_forecast_between(survey->call->set, info->tablespace_oid, to_oid);
	}
	route->moves++;
	route->bytes += size_bytes;
	route->largest_bytes = Max(route->largest_bytes, size_bytes);
	if (info->persistence == RELPERSISTENCE_PERMANENT)
		survey->wal_bytes += tier_space_wal_bytes(size_bytes);
	if (tier_relation_why_not_online(info) != NULL)
	{
		survey->locked++;
		survey->largest_locked_bytes = Max(survey->largest_locked_bytes, size_bytes);
	}
}

/* Notes the present user of the relation that has used it for the longest time. */
static void
note_users(TierSurvey *survey, const TierRelationInfo *info)
{
	int			n;
	TierHolder *oldest = tier_preflight_oldest_user(info->relation_oid, &n);

	if (oldest == NULL)
		return;
	if (survey->used++ > 0 && survey->user.since <= oldest->since)
		return;
	survey->user = *oldest;
	survey->user.application = MemoryContextStrdup(survey->context, oldest->application);
	survey->user_of = MemoryContextStrdup(survey->context, info->name);
}

static void
note_standby_user(TierSurvey *survey, TierAdmission *admission)
{
	const TierStandbyUser *user = tier_preflight_standby_user(admission);

	if (user == NULL || survey->used_there++ > 0)
		return;
	survey->there = *user;
	survey->there_of = MemoryContextStrdup(survey->context, admission->info->name);
}

/* A state that PostgreSQL never makes, and that pg_upgrade --swap loses. */
static void
note_split(TierSurvey *survey, const TierRelationInfo *info)
{
	if (tier_relation_parts_elsewhere(info->relation_oid, info->tablespace_oid) == NIL ||
		survey->split++ > 0)
		return;
	survey->split_info = *info;
	survey->split_info.name = MemoryContextStrdup(survey->context, info->name);
}

/* Which checks are in the way of one relation. */
typedef bool Blocked[TIER_CHECKS];

/*
 * Makes the checks of the mover for one relation, except those that are already blocked; a
 * blocked relation is not moved.
 */
static void
survey_move(TierSurvey *survey, const TierRelationInfo *info, const TierMoveRequest *request,
			bool *blocked)
{
	int64		size_bytes = tier_relation_disk_bytes(info);
	TierAdmission admission;
	bool		is_blocked = false;

	tier_foresight_ask(survey->foresight, request, info, survey->call->pins, size_bytes,
					   &admission);
	for (int check = 0; check < TIER_CHECKS; check++)
	{
		TierObstacle obstacle = tier_preflight_check(&admission, (TierCheck) check);

		if (obstacle.message != NULL && !blocked[check])
			note_obstacle(survey, (TierCheck) check, &obstacle, info->name);
		is_blocked |= blocked[check] || obstacle.message != NULL;
	}
	if (!OidIsValid(survey->space_oid) || size_bytes > survey->space_bytes)
	{
		survey->space = *tier_preflight_space(&admission);
		survey->space_oid = request->tablespace_oid;
		survey->space_bytes = size_bytes;
	}
	if (info->persistence == RELPERSISTENCE_PERMANENT)
		survey->logged_bytes = Max(survey->logged_bytes, (double) size_bytes);
	note_users(survey, info);
	note_standby_user(survey, &admission);
	add_to_route(survey, info, request->tablespace_oid, size_bytes);
	survey->moves++;
	survey->bytes += size_bytes;
	if (!is_blocked)
		tier_foresight_count(survey->foresight, &admission);
}

static void
survey_relation(TierSurvey *survey, Oid relation_oid)
{
	const TierMoveCall *call = survey->call;
	Blocked		blocked = {false};
	TierRelationInfo info;
	TierMoveRequest request;

	if (!tier_relation_lookup(relation_oid, &info))
		return;
	survey->relations++;
	for (int check = 0; check <= TIER_CALL_LAST_CHECK; check++)
	{
		TierObstacle obstacle = tier_call_refusal_of(call, &info, (TierCheck) check);

		blocked[check] = obstacle.message != NULL;
		if (blocked[check])
			note_obstacle(survey, (TierCheck) check, &obstacle, info.name);

		/*
		 * For a relation that cannot be moved at all, no other check applies.
		 */
		if (blocked[check] && check == TIER_CHECK_OBJECT)
			return;
	}
	note_split(survey, &info);
	request = tier_call_request(call, &info, survey->foresight);
	if (tier_move_is_needed(relation_oid, request.tablespace_oid))
		survey_move(survey, &info, &request, blocked);
}

void
tier_preflight_survey(TierSurvey *survey)
{
	MemoryContext each = AllocSetContextCreate(survey->context, "tiered_storage preflight",
											   ALLOCSET_DEFAULT_SIZES);
	TierObstacle obstacle = tier_call_refusal(survey->call);
	ListCell   *cell;

	if (obstacle.message != NULL)
		note_obstacle(survey, TIER_CHECK_RIGHTS, &obstacle, survey->call->info.name);
	foreach(cell, survey->call->relations)
	{
		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(each);
		survey_relation(survey, lfirst_oid(cell));
		MemoryContextSwitchTo(survey->context);
		MemoryContextReset(each);
	}
	MemoryContextDelete(each);
}

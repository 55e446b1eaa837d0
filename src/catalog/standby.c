/*-------------------------------------------------------------------------
 *
 * catalog/standby.c
 *		Reports of standbys: reads, and free space.
 *
 * See catalog/standbys.h.  The result of a pull (catalog/standby_pull.c) is in standby_reads
 * until the next sample takes it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "src/catalog/tables.h"

/*
 * The time for which a standby's report of its space counts.  A standby that is away for a
 * while should find room when it returns; one that was removed for good must not block all
 * moves.
 */
#define STANDBY_ROOM_LIFE "1 day"

void
tier_catalog_take_standby_reads(TierRelationState *states, int nstates)
{
	/* Locked in the order in which a pull inserts. */
	static const char sql[] =
	"WITH locked AS MATERIALIZED (SELECT relation_oid FROM _tiered_storage.standby_reads "
	"ORDER BY relation_oid FOR UPDATE SKIP LOCKED), "
	"taken AS (DELETE FROM _tiered_storage.standby_reads r USING locked l "
	"WHERE r.relation_oid = l.relation_oid RETURNING r.*) "
	"SELECT relation_oid, scans, tuples_read, blocks_fetched, blocks_hit "
	"FROM taken ORDER BY relation_oid";
	MemoryContext context = CurrentMemoryContext;
	int			i = 0;
	uint64		n;

	n = tier_query_plain(sql);
	MemoryContextSwitchTo(context);
	for (uint64 row = 0; row < n; row++)
	{
		Oid			relation_oid = tier_get_oid(row, 1);
		TierCounters *standby;

		while (i < nstates && states[i].id.relation_oid < relation_oid)
			i++;
		if (i == nstates || states[i].id.relation_oid != relation_oid)
			continue;
		standby = &states[i].period.standby;
		states[i].period.held_on_standby = true;
		standby->scans = tier_get_int8(row, 2);
		standby->tuples_read = tier_get_int8(row, 3);
		standby->blocks_fetched = tier_get_int8(row, 4);
		standby->blocks_hit = tier_get_int8(row, 5);
	}
}

/* By the real clock, by which they are asked. */
TierStandbyUse
tier_catalog_load_standby_use(MemoryContext context, double lately_s)
{
	static const char sql[] =
	"SELECT s.added_at, COALESCE(t.failures = 0 "
	"AND t.last_pull_at > pg_catalog.now() - pg_catalog.make_interval(secs => $1), false), "
	"format('standby %s has reported its reads %s', s.standby_name, "
	"COALESCE('until ' || date_trunc('second', t.last_pull_at) || ' only', 'never')) "
	"FROM _tiered_storage.standby s "
	"LEFT JOIN _tiered_storage.standby_state t ON t.standby_name = s.standby_name "
	"ORDER BY s.standby_name";
	static const char reads_sql[] =
	"SELECT relation_oid FROM _tiered_storage.standby_reads ORDER BY relation_oid";
	TierStandbyUse use = {0};
	uint64		n = tier_query(sql, tier_arg_float8(lately_s));

	for (uint64 row = 0; row < n; row++)
	{
		TimestampTz added_at = tier_get_time(row, 1);

		use.known_since = Max(use.known_since, added_at);
		if (use.silent == NULL && !tier_get_bool(row, 2))
			use.silent = tier_get_text(context, row, 3);
	}
	if (n == 0)
		return use;
	n = tier_query_plain(reads_sql);
	use.read = MemoryContextAllocHuge(context, sizeof(Oid) * Max(n, 1));
	for (uint64 row = 0; row < n; row++)
		use.read[use.nread++] = tier_get_oid(row, 1);
	return use;
}

/*
 * The replay cancels a transaction after it has waited for the delay.  A transaction that has
 * been open for a third of that, or for ten seconds, may well stay open for as long again.
 */
#define LONG_USE_MS 10000

/* The maximum age of a pull's report on transactions. */
#define USE_LIFE "10 minutes"

bool
tier_standby_is_long(int64 open_ms, int64 delay_ms)
{
	return open_ms >= (delay_ms < 0 ? LONG_USE_MS : Min(delay_ms / 3, LONG_USE_MS));
}

TierStandbyUser *
tier_catalog_standby_users(MemoryContext context, int *nusers)
{
	/* By the real clock, by which they are asked. */
	static const char sql[] =
	"SELECT c.relation_oid, c.standby_name::text, c.held_ms, t.conflict_delay_ms "
	"FROM _tiered_storage.standby_counters c "
	"JOIN _tiered_storage.standby_state t ON t.standby_name = c.standby_name "
	"WHERE c.held_ms IS NOT NULL AND t.conflict_delay_ms IS NOT NULL AND t.failures = 0 "
	"AND t.last_pull_at > now() - interval '" USE_LIFE "' "
	"ORDER BY c.held_ms DESC, c.standby_name";
	uint64		n = tier_query_plain(sql);
	TierStandbyUser *users = MemoryContextAllocHuge(context, sizeof(TierStandbyUser) * Max(n, 1));

	*nusers = 0;
	for (uint64 row = 0; row < n; row++)
	{
		TierStandbyUser *user = &users[*nusers];

		user->relation_oid = tier_get_oid(row, 1);
		user->open_ms = tier_get_int8(row, 3);
		user->delay_ms = tier_get_int8(row, 4);
		if (!tier_standby_is_long(user->open_ms, user->delay_ms))
			continue;
		user->standby_name = tier_get_text(context, row, 2);
		(*nusers)++;
	}
	return users;
}

int
tier_catalog_standbys_telling(int *nknown)
{
	static const char sql[] =
	"SELECT count(*)::integer, count(*) FILTER (WHERE t.conflict_delay_ms IS NOT NULL "
	"AND t.failures = 0 AND t.last_pull_at > now() - interval '" USE_LIFE "')::integer "
	"FROM _tiered_storage.standby s "
	"LEFT JOIN _tiered_storage.standby_state t ON t.standby_name = s.standby_name";

	tier_query_plain(sql);
	*nknown = tier_get_int4(0, 2);
	return tier_get_int4(0, 1);
}

char *
tier_catalog_unknown_standby(MemoryContext context, int *n)
{
	/*
	 * A receiver that only stores WAL does not replay it; a subscriber has a
	 * logical slot.
	 */
	static const char sql[] =
	"WITH receiver AS MATERIALIZED (SELECT r.application_name AS name "
	"FROM pg_catalog.pg_stat_replication r WHERE r.replay_lsn IS NOT NULL "
	"AND NOT EXISTS (SELECT FROM pg_catalog.pg_replication_slots l "
	"WHERE l.active_pid = r.pid AND l.slot_type = 'logical')), "
	"unknown AS (SELECT count(*) AS n, min(name) AS name FROM receiver "
	"WHERE name NOT IN (SELECT standby_name::text FROM _tiered_storage.standby)), "
	"away AS (SELECT count(*) AS n FROM _tiered_storage.standby "
	"WHERE standby_name::text NOT IN (SELECT name FROM receiver)) "
	"SELECT (u.n - a.n)::integer, u.name FROM unknown u, away a WHERE u.n > a.n";

	*n = 0;
	if (tier_query_plain(sql) == 0)
		return NULL;
	*n = tier_get_int4(0, 1);
	return tier_get_text(context, 0, 2);
}

TierStandbyRoom *
tier_catalog_standby_rooms(MemoryContext context, Oid tablespace_oid, int *nrooms)
{
	/*
	 * Moves that have ended since the pull: bytes that arrived, less bytes
	 * that left, which a standby replays in the same order.  A move that may
	 * or may not have been replayed by then is counted if its bytes arrived,
	 * and is not if they left.
	 */
	static const char sql[] =
	"WITH place AS (SELECT r.*, ARRAY(SELECT o.tablespace_oid FROM _tiered_storage.standby_room o "
	"WHERE o.standby_name = r.standby_name AND (o.tablespace_oid = r.tablespace_oid "
	"OR o.file_system_id = r.file_system_id)) AS together "
	"FROM _tiered_storage.standby_room r "
	"WHERE r.tablespace_oid = $1 "
	"AND r.looked_at > now() - interval '" STANDBY_ROOM_LIFE "') "
	"SELECT p.standby_name::text, p.is_usable, CASE WHEN p.free_bytes IS NOT NULL "
	"THEN GREATEST(p.free_bytes - GREATEST((SELECT COALESCE(sum("
	"CASE WHEN m.to_tablespace_oid = ANY (p.together) THEN m.size_bytes ELSE 0 END "
	"- CASE WHEN m.state = 'done' AND m.finished_at > p.looked_at "
	"AND m.from_tablespace_oid = ANY (p.together) THEN m.size_bytes ELSE 0 END), 0) "
	"FROM _tiered_storage.move m "
	"WHERE (m.state = 'done' AND m.finished_at > p.replayed_until) "
	"OR (m.state = 'running' AND m.pid <> pg_backend_pid())), 0)::bigint, 0) ELSE -1 END::float8, "
	"COALESCE(p.total_bytes, -1)::float8, to_char(p.looked_at, 'YYYY-MM-DD HH24:MI:SSOF') "
	"FROM place p ORDER BY p.standby_name";
	static const TierColumn fields[] = {
		TIER_FIELD(TierStandbyRoom, standby_name, TEXTOID),
		TIER_FIELD(TierStandbyRoom, is_usable, BOOLOID),
		TIER_FIELD(TierStandbyRoom, free_bytes, TIER_FLOAT8_OR_NAN),
		TIER_FIELD(TierStandbyRoom, total_bytes, TIER_FLOAT8_OR_NAN),
		TIER_FIELD(TierStandbyRoom, looked_at, TEXTOID),
	};

	*nrooms = (int) tier_query(sql, tier_arg_oid(tablespace_oid));
	return TIER_ROWS(context, TierStandbyRoom, fields, *nrooms);
}

int
tier_catalog_count_standbys(Oid tablespace_oid, int *nknown)
{
	static const char sql[] =
	"SELECT count(*)::integer, "
	"count(*) FILTER (WHERE r.free_bytes IS NOT NULL AND t.error IS NULL)::integer "
	"FROM _tiered_storage.standby s "
	"LEFT JOIN _tiered_storage.standby_state t ON t.standby_name = s.standby_name "
	"LEFT JOIN _tiered_storage.standby_room r ON r.standby_name = s.standby_name "
	"AND r.tablespace_oid = $1 AND r.looked_at > now() - interval '" STANDBY_ROOM_LIFE "'";

	tier_query(sql, tier_arg_oid(tablespace_oid));
	*nknown = tier_get_int4(0, 2);
	return tier_get_int4(0, 1);
}

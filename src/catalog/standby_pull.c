/*-------------------------------------------------------------------------
 *
 * catalog/standby_pull.c
 *		Choosing the standbys to ask, and storing their answers.
 *
 * See catalog/standbys.h.  The growth of a standby's counters is in standby_reads until the
 * next sample takes it (catalog/standby.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "src/catalog/tables.h"

#define MOST_STANDBYS 16

/*
 * A standby that fails is asked again after one minute, two, four, and so on, up to this
 * interval.
 */
#define LONGEST_BACKOFF "10 minutes"

void
tier_catalog_add_standby(const char *name, const char *conninfo, Oid added_by_oid)
{
	static const char sql[] =
	"INSERT INTO _tiered_storage.standby (standby_name, conninfo, added_by, added_by_oid) "
	"SELECT $1, $2, $3, $4 WHERE (SELECT count(*) FROM _tiered_storage.standby) < $5 "
	"ON CONFLICT (standby_name) DO NOTHING";
	static const char exists_sql[] =
	"SELECT FROM _tiered_storage.standby WHERE standby_name = $1";

	if (tier_query(sql, tier_arg_name_text(name), tier_arg_text(conninfo),
				   tier_arg_name_text(GetUserNameFromId(added_by_oid, false)),
				   tier_arg_oid(added_by_oid), tier_arg_int4(MOST_STANDBYS)) > 0)
		return;
	if (tier_query(exists_sql, tier_arg_name_text(name)) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("standby \"%s\" already exists", name)));
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("too many standbys"),
			 errdetail("At most %d standbys can be added.", MOST_STANDBYS)));
}

TierStandby *
tier_catalog_due_standbys(MemoryContext context, int *n)
{
	static const char sql[] =
	"SELECT s.standby_name::text, s.conninfo, s.added_by_oid, s.added_by::text, s.added_at "
	"FROM _tiered_storage.standby s "
	"LEFT JOIN _tiered_storage.standby_state t ON t.standby_name = s.standby_name "
	"WHERE t.next_pull_at IS NULL "
	"OR t.next_pull_at NOT BETWEEN now() AND now() + interval '" LONGEST_BACKOFF "' "
	"ORDER BY t.last_attempt_at NULLS FIRST, s.standby_name";
	static const TierColumn fields[] = {
		TIER_FIELD(TierStandby, name, TEXTOID),
		TIER_FIELD(TierStandby, conninfo, TEXTOID),
		TIER_FIELD(TierStandby, added_by_oid, OIDOID),
		TIER_FIELD(TierStandby, added_by, TEXTOID),
		TIER_FIELD(TierStandby, added_at, TIMESTAMPTZOID),
	};

	*n = (int) tier_query_plain(sql);
	return TIER_ROWS(context, TierStandby, fields, *n);
}

/* ---------------------------------------------------------------------
 * Storing an answer
 * ---------------------------------------------------------------------
 */

/* Locks the row against removal.  Returns false if it was removed. */
static bool
lock_standby(const TierStandby *standby, bool *is_first)
{
	static const char sql[] =
	"SELECT t.last_pull_at IS NULL FROM _tiered_storage.standby s "
	"LEFT JOIN _tiered_storage.standby_state t ON t.standby_name = s.standby_name "
	"WHERE s.standby_name = $1::name AND s.added_at = $2 FOR KEY SHARE OF s";

	if (tier_query(sql, tier_arg_text(standby->name), tier_arg_time(standby->added_at)) == 0)
		return false;
	*is_first = tier_get_bool(0, 1);
	return true;
}

static void
note_problem(const char *name, const TierStandbyAnswer *answer)
{
	static const char sql[] =
	"INSERT INTO _tiered_storage.standby_state AS t "
	"(standby_name, last_attempt_at, next_pull_at, failures, error) "
	"VALUES ($1::name, clock_timestamp(), now() + interval '1 minute', 1, $2) "
	"ON CONFLICT (standby_name) DO UPDATE SET last_attempt_at = EXCLUDED.last_attempt_at, "
	"next_pull_at = now() + LEAST(interval '1 minute' * 2 ^ LEAST(t.failures, 10), "
	"interval '" LONGEST_BACKOFF "'), failures = t.failures + 1, error = EXCLUDED.error";
	static const char places_sql[] =
	"DELETE FROM _tiered_storage.standby_room WHERE standby_name = $1::name";

	tier_query(sql, tier_arg_text(name), tier_arg_text(tier_catalog_clip(answer->problem)));

	/*
	 * A server that is not a standby, for example after its promotion,
	 * replays nothing.
	 */
	if (answer->is_no_standby)
		tier_query(places_sql, tier_arg_text(name));
}

static void
note_success(const char *name, const TierStandbyAnswer *answer)
{
	static const char sql[] =
	"INSERT INTO _tiered_storage.standby_state "
	"(standby_name, last_attempt_at, last_pull_at, next_pull_at, failures, relations, "
	"conflict_delay_ms) "
	"VALUES ($1::name, clock_timestamp(), clock_timestamp(), now(), 0, $2, NULLIF($3, -2)) "
	"ON CONFLICT (standby_name) DO UPDATE SET last_attempt_at = EXCLUDED.last_attempt_at, "
	"last_pull_at = EXCLUDED.last_pull_at, next_pull_at = EXCLUDED.next_pull_at, failures = 0, "
	"relations = EXCLUDED.relations, conflict_delay_ms = EXCLUDED.conflict_delay_ms, "
	"error = NULL";

	tier_query(sql, tier_arg_text(name), tier_arg_int8(answer->ncounters),
			   tier_arg_int8(answer->conflict_delay_ms));
}

static const TierColumn counter_fields[] = {
	TIER_FIELD(TierStandbyCounters, relation_oid, OIDOID),
	TIER_FIELD(TierStandbyCounters, scans, INT8OID),
	TIER_FIELD(TierStandbyCounters, tuples_read, INT8OID),
	TIER_FIELD(TierStandbyCounters, blocks_fetched, INT8OID),
	TIER_FIELD(TierStandbyCounters, blocks_hit, INT8OID),
	TIER_FIELD(TierStandbyCounters, held_ms, INT8OID),
};

static const TierColumn place_fields[] = {
	TIER_FIELD(TierStandbyPlace, tablespace_oid, OIDOID),
	TIER_FIELD(TierStandbyPlace, is_usable, BOOLOID),
	TIER_FIELD(TierStandbyPlace, file_system_id, INT8OID),
	TIER_FIELD(TierStandbyPlace, free_bytes, INT8OID),
	TIER_FIELD(TierStandbyPlace, total_bytes, INT8OID),
	TIER_FIELD(TierStandbyPlace, replayed_until, TIMESTAMPTZOID),
};

/* Runs a statement whose parameters are $1, $2, and each field of all rows. */
static void
store_rows(const char *sql, const char *name, TierValue second, const void *rows, int n,
		   size_t row_bytes, const TierColumn *fields, int nfields)
{
	TierValue	values[FUNC_MAX_ARGS] = {tier_arg_text(name), second};

	for (int i = 0; i < nfields; i++)
		values[2 + i] = tier_arg_fields(rows, n, row_bytes, &fields[i]);
	tier_catalog_run(sql, values, 2 + nfields);
}

/*
 * The growth of the counters since the last pull gives the reads of the standby.  The first
 * pull only stores them.  A counter that went back was reset.
 */
static void
store_counters(const char *name, bool is_first, const TierStandbyAnswer *answer)
{
	static const char sql[] =
	"WITH new AS MATERIALIZED (SELECT * FROM unnest($3::oid[], $4::bigint[], $5::bigint[], "
	"$6::bigint[], $7::bigint[], $8::bigint[]) "
	"AS n (relation_oid, scans, tuples_read, blocks_fetched, blocks_hit, held_ms)), "
	"changed AS MATERIALIZED (SELECT n.*, o.scans AS old_scans, o.tuples_read AS old_tuples_read, "
	"o.blocks_fetched AS old_blocks_fetched, o.blocks_hit AS old_blocks_hit, "
	"o.standby_name IS NULL OR n.scans < o.scans OR n.tuples_read < o.tuples_read "
	"OR n.blocks_fetched < o.blocks_fetched OR n.blocks_hit < o.blocks_hit AS from_zero "
	"FROM new n LEFT JOIN _tiered_storage.standby_counters o "
	"ON o.standby_name = $1::name AND o.relation_oid = n.relation_oid "
	"WHERE o.standby_name IS NULL OR n.held_ms >= 0 OR o.held_ms IS NOT NULL "
	"OR (n.scans, n.tuples_read, n.blocks_fetched, n.blocks_hit) "
	"IS DISTINCT FROM (o.scans, o.tuples_read, o.blocks_fetched, o.blocks_hit)), "
	"gone AS (DELETE FROM _tiered_storage.standby_counters o WHERE o.standby_name = $1::name "
	"AND NOT EXISTS (SELECT FROM new n WHERE n.relation_oid = o.relation_oid)), "
	"stored AS (INSERT INTO _tiered_storage.standby_counters "
	"(standby_name, relation_oid, scans, tuples_read, blocks_fetched, blocks_hit, held_ms) "
	"SELECT $1::name, relation_oid, scans, tuples_read, blocks_fetched, blocks_hit, "
	"NULLIF(held_ms, -1) FROM changed "
	"ON CONFLICT (standby_name, relation_oid) DO UPDATE SET scans = EXCLUDED.scans, "
	"tuples_read = EXCLUDED.tuples_read, blocks_fetched = EXCLUDED.blocks_fetched, "
	"blocks_hit = EXCLUDED.blocks_hit, held_ms = EXCLUDED.held_ms) "
	"INSERT INTO _tiered_storage.standby_reads AS r "
	"(relation_oid, scans, tuples_read, blocks_fetched, blocks_hit) "
	"SELECT relation_oid, scans - CASE WHEN from_zero THEN 0 ELSE old_scans END, "
	"tuples_read - CASE WHEN from_zero THEN 0 ELSE old_tuples_read END, "
	"blocks_fetched - CASE WHEN from_zero THEN 0 ELSE old_blocks_fetched END, "
	"blocks_hit - CASE WHEN from_zero THEN 0 ELSE old_blocks_hit END "
	"FROM changed WHERE NOT $2 ORDER BY relation_oid "
	"ON CONFLICT (relation_oid) DO UPDATE SET scans = r.scans + EXCLUDED.scans, "
	"tuples_read = r.tuples_read + EXCLUDED.tuples_read, "
	"blocks_fetched = r.blocks_fetched + EXCLUDED.blocks_fetched, "
	"blocks_hit = r.blocks_hit + EXCLUDED.blocks_hit";

	store_rows(sql, name, tier_arg_bool(is_first), answer->counters, answer->ncounters,
			   sizeof(TierStandbyCounters), counter_fields, lengthof(counter_fields));
}

static void
store_places(const char *name, const TierStandbyAnswer *answer)
{
	static const char sql[] =
	"WITH new AS MATERIALIZED (SELECT * FROM unnest($3::oid[], $4::boolean[], $5::bigint[], "
	"$6::bigint[], $7::bigint[], $8::timestamptz[]) AS n (tablespace_oid, is_usable, "
	"file_system_id, free_bytes, total_bytes, replayed_until)), "
	"gone AS (DELETE FROM _tiered_storage.standby_room r WHERE r.standby_name = $1::name "
	"AND NOT EXISTS (SELECT FROM new n WHERE n.tablespace_oid = r.tablespace_oid)) "
	"INSERT INTO _tiered_storage.standby_room (standby_name, tablespace_oid, is_usable, "
	"file_system_id, free_bytes, total_bytes, looked_at, replayed_until) "
	"SELECT $1::name, tablespace_oid, is_usable, NULLIF(file_system_id, 0), "
	"NULLIF(free_bytes, -1), NULLIF(total_bytes, -1), $2, replayed_until "
	"FROM new ORDER BY tablespace_oid "
	"ON CONFLICT (standby_name, tablespace_oid) DO UPDATE SET is_usable = EXCLUDED.is_usable, "
	"file_system_id = EXCLUDED.file_system_id, free_bytes = EXCLUDED.free_bytes, "
	"total_bytes = EXCLUDED.total_bytes, looked_at = EXCLUDED.looked_at, "
	"replayed_until = EXCLUDED.replayed_until";

	store_rows(sql, name, tier_arg_time(answer->asked_at), answer->places, answer->nplaces,
			   sizeof(TierStandbyPlace), place_fields, lengthof(place_fields));
}

void
tier_catalog_store_standby(const TierStandby *standby, const TierStandbyAnswer *answer)
{
	bool		is_first;

	if (!lock_standby(standby, &is_first))
		return;
	if (answer->problem != NULL)
	{
		note_problem(standby->name, answer);
		return;
	}
	note_success(standby->name, answer);
	store_counters(standby->name, is_first, answer);
	if (answer->has_places)
		store_places(standby->name, answer);
}

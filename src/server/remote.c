/*-------------------------------------------------------------------------
 *
 * server/remote.c
 *		One connection to another server, by libpq; see server/remote.h.
 *
 * A connection string may only name the server and the user.  Other keywords add files and
 * passwords (service, passfile, sslkey, password), or settings of the remote session
 * (options).  Authentication is that of the operating system's user of this server, with its
 * password file and its certificates, as for primary_conninfo.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>
#include <sys/ioctl.h>

#include "libpq-fe.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/pg_bswap.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/builtins.h"

#include "src/compat.h"
#include "src/base/clock.h"
#include "src/base/sql.h"
#include "src/server/processes.h"
#include "src/server/remote.h"

/* The interval at which a wait checks for its end. */
#define LOOK_INTERVAL_MS 1000

#define CONNECT_S		3
#define MOST_CONNECT_S	10
#define ANSWER_S		10

/* A row that is asked for has a few hundred bytes, and libpq keeps it whole. */
#define LONGEST_ROW_BYTES	(1024 * 1024)

/* Bytes of a message of the other server, at most. */
#define MESSAGE_BYTES	400

/*
 * Settings of the remote session that override those of its database and role: it starts as
 * the given role and does not end while it waits for us; names are resolved safely, it is
 * read-only, and no statement runs for long after the connection is lost.  (Before 17, the
 * later of two limits of one name counts.)
 */
#define SESSION_OPTIONS \
	"-c local_preload_libraries= -c role=none -c idle_session_timeout=0 -c lock_timeout=0 " \
	"-c " TIER_COMPAT_TRANSACTION_TIMEOUT "=60s -c statement_timeout=10s " \
	"-c search_path=pg_catalog,pg_temp -c default_transaction_read_only=on " \
	"-c default_transaction_isolation=read\\ committed " \
	"-c stats_fetch_consistency=none -c client_min_messages=error"

struct TierRemote
{
	PGconn	   *connection;		/* NULL: none; with one external descriptor */
	bool		has_descriptor;
	PGresult   *result;			/* the row that is looked at, or NULL */
	int64		deadline_us;	/* monotonic */
	int			patience_s;		/* which that was at first */
};

/* Keywords that may be given; hint and reference list them as well. */
typedef enum Keyword
{
	HOST, HOSTADDR, PORT, DBNAME, USER_NAME, SSLMODE, APPLICATION_NAME, CONNECT_TIMEOUT,
	NKEYWORDS
} Keyword;

static const char *const keywords[NKEYWORDS] = {
	"host", "hostaddr", "port", "dbname", "user", "sslmode", "application_name",
	"connect_timeout"
};

typedef struct Address
{
	char	   *values[NKEYWORDS];	/* NULL: not given, or empty */
	int			connect_s;
} Address;

/* ---------------------------------------------------------------------
 * Connection strings
 * ---------------------------------------------------------------------
 */

/* One line, not too long, in our encoding; in the current memory context. */
static char *
message_text(const char *message)
{
	size_t		length = message == NULL ? 0 : strnlen(message, 2 * MESSAGE_BYTES);
	char	   *clean = pnstrdup(message == NULL ? "" : message,
								 pg_mbcliplen(message, (int) length, MESSAGE_BYTES));
	char	   *end = clean + strlen(clean);

	while (end > clean && isspace((unsigned char) end[-1]))
		*--end = '\0';
	for (char *c = clean; *c != '\0'; c++)
	{
		if ((unsigned char) *c < ' ')
			*c = ' ';
	}
	return tier_foreign_text(clean);
}

/* Copies the allowed options.  Returns the first keyword that is not allowed, else NULL. */
static char *
copy_options(const PQconninfoOption *options, Address *address)
{
	for (const PQconninfoOption *option = options; option->keyword != NULL; option++)
	{
		int			i = 0;

		if (option->val == NULL)
			continue;
		while (i < NKEYWORDS && strcmp(option->keyword, keywords[i]) != 0)
			i++;
		if (i == NKEYWORDS)
			return pstrdup(option->keyword);
		if (option->val[0] != '\0')
			address->values[i] = pstrdup(option->val);
	}
	return NULL;
}

/* libpq parses it as it will when it connects, without any default of the environment. */
static void
parse(const char *conninfo, Address *address)
{
	char	   *problem = NULL;
	PQconninfoOption *options = PQconninfoParse(conninfo, &problem);
	char	   *refused;

	if (options == NULL)
	{
		char	   *clean = message_text(problem == NULL ? "out of memory" : problem);

		PQfreemem(problem);
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid connection string: %s", clean)));
	}
	refused = copy_options(options, address);
	PQconninfoFree(options);
	if (refused != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("connection option \"%s\" is not allowed", refused),
				 strcmp(refused, "password") == 0 ?
				 errdetail("A password would be stored in a table, and in dumps.") : 0,
				 errhint("Allowed are host, hostaddr, port, dbname, user, sslmode, "
						 "application_name and connect_timeout. Passwords are read from the "
						 "password file of the operating system user that runs the server.")));
}

static void
parse_connect_timeout(Address *address)
{
	const char *value = address->values[CONNECT_TIMEOUT];
	char	   *end;
	long		seconds;

	address->connect_s = CONNECT_S;
	if (value == NULL)
		return;
	seconds = strtol(value, &end, 10);
	if (*end != '\0' || seconds < 1 || seconds > MOST_CONNECT_S)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("connect_timeout must be between 1 and %d seconds", MOST_CONNECT_S)));
	address->connect_s = (int) seconds;
}

static void
parse_address(const char *conninfo, Address *address)
{
	memset(address, 0, sizeof(Address));
	if (strlen(conninfo) >= TIER_REMOTE_ADDRESS_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("connection string is too long"),
				 errdetail("It must be shorter than %d bytes.", TIER_REMOTE_ADDRESS_BYTES)));
	parse(conninfo, address);
	parse_connect_timeout(address);
	if (address->values[HOST] == NULL && address->values[HOSTADDR] == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("connection string must contain host or hostaddr")));
	for (int i = HOST; i <= PORT; i++)
	{
		/* The counters of another one would look like reads. */
		if (address->values[i] != NULL && strchr(address->values[i], ',') != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("connection string must name a single server"),
					 errhint("Add each standby separately.")));
	}
}

void
tier_remote_check(const char *conninfo)
{
	Address		address;

	parse_address(conninfo, &address);
}

/* ---------------------------------------------------------------------
 * Connecting
 * ---------------------------------------------------------------------
 */

void
tier_remote_fail(const char *problem)
{
	ereport(ERROR, (errcode(ERRCODE_CONNECTION_FAILURE), errmsg_internal("%s", problem)));
}

static void
begin_waiting(TierRemote *remote, int seconds)
{
	remote->patience_s = seconds;
	remote->deadline_us = tier_clock_monotonic_us() + (int64) seconds * 1000000;
}

/* Until the socket is ready, or something else has happened: the caller looks. */
static void
wait_for_socket(TierRemote *remote, int event)
{
	int64		left_us = remote->deadline_us - tier_clock_monotonic_us();

	if (left_us <= 0)
		tier_remote_fail(psprintf("no answer within %d seconds", remote->patience_s));
	if (PQsocket(remote->connection) < 0)
		tier_remote_fail("connection was lost");
	(void) WaitLatchOrSocket(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH | event,
							 PQsocket(remote->connection),
							 (long) Min(left_us / 1000 + 1, LOOK_INTERVAL_MS),
							 PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
	if (tier_processes_database_is_wanted())
		tier_remote_fail("another session waited for the database");
}

/* libpq has no message for an answer that is in order, but not one to a query. */
static void
connection_error(TierRemote *remote)
{
	char	   *clean = message_text(PQerrorMessage(remote->connection));

	tier_remote_fail(clean[0] != '\0' ? clean : "the answer is unexpected");
}

static void
ignore_notice(void *argument, const PGresult *result)
{
}

/*
 * Variables from the environment in which the server was started must not reach libpq.  This
 * process is a worker, and ends after its cycle.
 */
static void
clear_environment(void)
{
	PQconninfoOption *options = PQconninfoParse("", NULL);

	if (options == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	for (PQconninfoOption *option = options; option->keyword != NULL; option++)
	{
		if (option->envvar != NULL)
			unsetenv(option->envvar);
	}
	PQconninfoFree(options);
	unsetenv("PGSERVICEFILE");
	unsetenv("PGDATESTYLE");
	unsetenv("PGTZ");
	unsetenv("PGGEQO");
}

/* The string gives none but those of the first two, which come before its own. */
#define NFIXED 6

/* If a name occurs twice, the later value counts; a value of NULL is not passed. */
static PGconn *
start_connection(const Address *address, const char *database)
{
	/*
	 * Of GSSAPI the library would wait for other servers, which nothing
	 * bounds.
	 */
	const char *names[NFIXED + NKEYWORDS + 1] = {
		"dbname", "application_name", "client_encoding", "options", "gssencmode", "require_auth"
	};

	/*
	 * A Kerberos ticket of the server's operating system user must not be
	 * offered to the remote server.
	 */
	const char *values[NFIXED + NKEYWORDS + 1] = {
		database, "tiered_storage", GetDatabaseEncodingName(), SESSION_OPTIONS, "disable",
		PQlibVersion() >= 160000 ? "!gss,!sspi" : NULL
	};

	memcpy(names + NFIXED, keywords, sizeof(keywords));
	memcpy(values + NFIXED, address->values, sizeof(address->values));
	return PQconnectStartParams(names, values, 0);
}

static void
establish(TierRemote *remote, const Address *address, const char *database)
{
	PostgresPollingStatusType state = PGRES_POLLING_WRITING;

	if (!AcquireExternalFD())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("too many files are open")));
	remote->has_descriptor = true;
	remote->connection = start_connection(address, database);
	if (remote->connection == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	PQsetNoticeReceiver(remote->connection, ignore_notice, NULL);
	if (PQstatus(remote->connection) == CONNECTION_BAD)
		connection_error(remote);
	while (state != PGRES_POLLING_OK)
	{
		wait_for_socket(remote, state == PGRES_POLLING_READING ?
						WL_SOCKET_READABLE : WL_SOCKET_WRITEABLE);
		state = PQconnectPoll(remote->connection);
		if (state == PGRES_POLLING_FAILED)
			connection_error(remote);
	}
	if (PQsetnonblocking(remote->connection, 1) != 0)
		connection_error(remote);
}

void
tier_remote_run(const char *conninfo, const char *database,
				void (*body) (TierRemote *remote, void *argument), void *argument)
{
	TierRemote *remote = palloc0(sizeof(TierRemote));
	Address		address;

	if (MyBackendType != B_BG_WORKER)
		elog(ERROR, "only a worker connects to other servers");
	parse_address(conninfo, &address);
	clear_environment();
	PG_TRY();
	{
		begin_waiting(remote, address.connect_s);
		establish(remote, &address, database);
		begin_waiting(remote, ANSWER_S);
		body(remote, argument);
	}
	PG_FINALLY();
	{
		PQclear(remote->result);
		PQfinish(remote->connection);
		if (remote->has_descriptor)
			ReleaseExternalFD();
	}
	PG_END_TRY();
}

/* ---------------------------------------------------------------------
 * Statements
 * ---------------------------------------------------------------------
 */

static void
send_statement(TierRemote *remote, const char *sql)
{
	int			unsent;

	if (PQsendQueryParams(remote->connection, sql, 0, NULL, NULL, NULL, NULL, 1) != 1 ||
		PQsetSingleRowMode(remote->connection) != 1)
		connection_error(remote);
	while ((unsent = PQflush(remote->connection)) > 0)
	{
		wait_for_socket(remote, WL_SOCKET_READABLE | WL_SOCKET_WRITEABLE);
		if (PQconsumeInput(remote->connection) != 1)
			connection_error(remote);
	}
	if (unsent < 0)
		connection_error(remote);
}

/*
 * Reads the data that has arrived.  Raises an error if there is more than a row takes and
 * still no complete row: libpq would wait for as much as the message claims to have.
 */
static void
consume(TierRemote *remote, int64 *incomplete_bytes)
{
	int			available = 0;

	(void) ioctl(PQsocket(remote->connection), FIONREAD, &available);
	if (PQconsumeInput(remote->connection) != 1)
		connection_error(remote);
	if (!PQisBusy(remote->connection))
		return;
	*incomplete_bytes += available;
	if (*incomplete_bytes > LONGEST_ROW_BYTES)
		tier_remote_fail(psprintf("the answer has a row of more than %d bytes",
								  LONGEST_ROW_BYTES));
}

/* The next result, which is the row that is looked at from now on; false: there is none. */
static bool
next_result(TierRemote *remote)
{
	int64		incomplete_bytes = 0;

	PQclear(remote->result);
	remote->result = NULL;
	while (PQisBusy(remote->connection))
	{
		wait_for_socket(remote, WL_SOCKET_READABLE);
		consume(remote, &incomplete_bytes);
	}
	remote->result = PQgetResult(remote->connection);
	return remote->result != NULL;
}

static void
check_columns(TierRemote *remote, const Oid *types, int ncolumns)
{
	bool		fits = PQnfields(remote->result) == ncolumns;

	for (int i = 0; i < ncolumns && fits; i++)
		fits = PQftype(remote->result, i) == types[i] && PQfformat(remote->result, i) == 1;
	if (!fits)
		tier_remote_fail("the answer has unexpected columns");
}

char *
tier_remote_query(TierRemote *remote, const char *sql, const Oid *types, int ncolumns,
				  int max_rows, void (*row) (TierRemote *remote, void *argument), void *argument)
{
	char	   *problem = NULL;
	int			nrows = 0;

	send_statement(remote, sql);
	while (next_result(remote))
	{
		ExecStatusType status = PQresultStatus(remote->result);

		CHECK_FOR_INTERRUPTS();
		if (status == PGRES_SINGLE_TUPLE || status == PGRES_TUPLES_OK)
		{
			check_columns(remote, types, ncolumns);
			nrows += PQntuples(remote->result);
			if (nrows > max_rows)
				tier_remote_fail(psprintf("the answer has more than %d rows", max_rows));
			if (status == PGRES_SINGLE_TUPLE)
				row(remote, argument);
		}
		else if (PQstatus(remote->connection) == CONNECTION_BAD || status != PGRES_FATAL_ERROR)
			connection_error(remote);
		else
			problem = message_text(PQresultErrorField(remote->result, PG_DIAG_MESSAGE_PRIMARY));
	}
	return problem;
}

/* ---------------------------------------------------------------------
 * Fields
 * ---------------------------------------------------------------------
 */

static const char *
field(TierRemote *remote, int column, int length)
{
	if (PQgetisnull(remote->result, 0, column) ||
		PQgetlength(remote->result, 0, column) != length)
		tier_remote_fail("the answer has a value that is not valid");
	return PQgetvalue(remote->result, 0, column);
}

Oid
tier_remote_oid(TierRemote *remote, int column)
{
	uint32		value;

	memcpy(&value, field(remote, column, sizeof(value)), sizeof(value));
	return (Oid) pg_ntoh32(value);
}

bool
tier_remote_bool(TierRemote *remote, int column)
{
	return *field(remote, column, 1) != 0;
}

int64
tier_remote_int64(TierRemote *remote, int column)
{
	uint64		value;

	memcpy(&value, field(remote, column, sizeof(value)), sizeof(value));
	return (int64) pg_ntoh64(value);
}

int64
tier_remote_int64_or(TierRemote *remote, int column, int64 if_null)
{
	return PQgetisnull(remote->result, 0, column) ? if_null : tier_remote_int64(remote, column);
}

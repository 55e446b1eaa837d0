/*-------------------------------------------------------------------------
 *
 * catalog/scope.h
 *		Common parts of all statements on the extension's tables: entering and leaving,
 *		columns, bulk writes.
 *
 * Part of catalog/tables.h, which says what holds for all of it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TIER_CATALOG_SCOPE_H
#define TIER_CATALOG_SCOPE_H

#include "postgres.h"

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "lib/stringinfo.h"
#include "storage/lockdefs.h"
#include "utils/float.h"

#define TIER_EXTENSION_NAME "tiered_storage"

/* Where the tables are; it belongs to the extension.  What users call is elsewhere. */
#define TIER_CATALOG_SCHEMA "_tiered_storage"

/* ---------------------------------------------------------------------
 * Scope
 * ---------------------------------------------------------------------
 */

/*
 * On the stack of the function that enters.  Set by enter, read by leave; between
 * them only `caller` is of interest to others.
 */
typedef struct TierCatalogScope
{
	Oid			caller;			/* the user whose privileges are to be checked */
	int			caller_context; /* security context to restore */
	int			guc_level;		/* settings of the scope end with it */
	bool		entered;		/* if not, the other fields mean nothing, and
								 * leave does nothing */
} TierCatalogScope;

typedef enum TierExtensionState
{
	TIER_EXTENSION_ABSENT,
	TIER_EXTENSION_OTHER_VERSION,	/* the SQL objects are not this library's */
	TIER_EXTENSION_PRESENT,
} TierExtensionState;

/*
 * The guard: a lock on this relation prevents DROP EXTENSION.  InvalidOid: there is none yet,
 * or no such extension.  Without a lock on it, it may be another one after an update of the
 * extension.
 *
 * The extension itself is not locked, and no lock on it is waited for.  The server locks it
 * exclusively before it looks at the rights of a DROP EXTENSION; and for ALTER FUNCTION ...
 * DEPENDS ON EXTENSION it looks at those on the function alone, which any user can create.
 * The locks on what belongs to the extension come after the rights.  They are taken in the
 * order of the index of pg_depend, and the guard is the first relation there.  So DROP EXTENSION
 * has none of our relations locked when it waits for the guard, and there is no deadlock.
 */
extern Oid	tier_catalog_guard_oid(Oid extension_oid);

/*
 * Looks the extension up and locks its guard (AccessShareLock until the end of the
 * transaction), so that it cannot be dropped while this transaction works on its tables.
 * Outside of a scope, in a transaction; needs no snapshot.  An error if its owner is no
 * superuser, or one of its schemas is missing.
 */
extern TierExtensionState tier_catalog_extension_state(void);

/*
 * Between enter and leave SPI is connected, a snapshot is active, search_path is pg_catalog,
 * pg_temp and the current user is the owner of the extension, with
 * SECURITY_RESTRICTED_OPERATION and SECURITY_LOCAL_USERID_CHANGE set; what our SQL relies on
 * has fixed values, whatever the session has set, and no wait for a lock lasts more than 30
 * seconds.  No function of a user may run in between.  An error needs no cleanup: the abort of
 * the (sub)transaction undoes everything.
 *
 * tier_catalog_enter raises an error when the extension is not there in this
 * version; tier_catalog_try_enter returns false instead.  Scopes do not nest; a
 * scope inside another connection to SPI, such as that of a procedure, is fine.
 */
extern void tier_catalog_enter(TierCatalogScope *scope);
extern bool tier_catalog_try_enter(TierCatalogScope *scope);
extern void tier_catalog_leave(TierCatalogScope *scope);

/*
 * Locks for writing the tables of the extension that samples write.  What reads tables of ours
 * and writes them later in its transaction asks for that first: REINDEX keeps writers out of a
 * table before it locks the indexes, so one that reads already would be in a deadlock with it.
 * In a scope, before the first statement.  A table that is not free within a second, for all
 * tables together, is left out: the sample then waits when it writes.
 */
extern void tier_catalog_lock_tables(void);

/*
 * Locks a relation as soon as it is free, without queueing; false: it is not within
 * *patience_ms, which are reduced by the wait.
 */
extern bool tier_catalog_lock_within(Oid relation_oid, LOCKMODE mode, int *patience_ms);

/*
 * true: from here to the end of the scope all statements see the changes that others had
 * committed when the scope was entered, and the scope's own changes, so that rows of several
 * tables fit together.
 * They only read: from a crash until the next sample, the state is that of its last snapshot.
 */
extern void tier_catalog_hold_snapshot(bool holds);

/*
 * Runs one statement inside a scope; returns the number of rows.  values may
 * be NULL when nargs is 0; nulls as in SPI (' ' or 'n') or NULL.  Leaves
 * CurrentMemoryContext in SPI's procedure context, whatever it was before.  In
 * recovery, where unlogged tables cannot be read, it reads their last snapshot.
 */
extern uint64 tier_catalog_execute(const char *sql, int nargs, const Oid *types,
								   const Datum *values, const char *nulls);

/*
 * Field of the last result; rows count from 0, columns from 1.  A value that is
 * passed by reference points into the result: it lives until the next statement,
 * or until the end of the scope.
 */
extern Datum tier_catalog_datum(uint64 row, int column, bool *isnull);

/*
 * A parameter of a statement.  Values that are passed by reference are not copied, names and
 * texts that are given as strings are.  NULL: a string that is NULL, a number that is NaN, and
 * what tier_arg_if() says.
 */
typedef struct TierValue
{
	Oid			type;
	Datum		datum;
	bool		isnull;
} TierValue;

#define TIER_VALUE(type, datum) ((TierValue) {(type), (datum), false})

#define tier_arg_int4(value) TIER_VALUE(INT4OID, Int32GetDatum(value))
#define tier_arg_int8(value) TIER_VALUE(INT8OID, Int64GetDatum(value))
#define tier_arg_oid(value) TIER_VALUE(OIDOID, ObjectIdGetDatum(value))
#define tier_arg_bool(value) TIER_VALUE(BOOLOID, BoolGetDatum(value))
#define tier_arg_char(value) TIER_VALUE(CHAROID, CharGetDatum(value))
#define tier_arg_time(value) TIER_VALUE(TIMESTAMPTZOID, TimestampTzGetDatum(value))
#define tier_arg_name(value) TIER_VALUE(NAMEOID, NameGetDatum(value))
#define tier_arg_interval(value) TIER_VALUE(INTERVALOID, IntervalPGetDatum(value))
extern TierValue tier_arg_float8(double value);
extern TierValue tier_arg_text(const char *value);
extern TierValue tier_arg_name_text(const char *value);
extern TierValue tier_arg_oids(const Oid *values, int n);
extern TierValue tier_arg_float8s(const void *doubles, int n);

static inline TierValue
tier_arg_if(bool known, TierValue value)
{
	value.isnull |= !known;
	return value;
}

/* tier_catalog_execute() with such parameters. */
extern uint64 tier_catalog_run(const char *sql, const TierValue *values, int nvalues);

#define tier_query(sql, ...) \
	tier_catalog_run((sql), (const TierValue[]) {__VA_ARGS__}, \
					 (int) (sizeof((const TierValue[]) {__VA_ARGS__}) / sizeof(TierValue)))
#define tier_query_plain(sql) tier_catalog_run((sql), NULL, 0)

/*
 * Fields of the last result as tier_catalog_datum() finds them; NULL is 0, false, NaN, an empty
 * name, and NULL.
 */
extern Datum tier_get_datum(uint64 row, int column, Datum if_null);
#define tier_get_int4(row, column) DatumGetInt32(tier_get_datum(row, column, 0))
#define tier_get_int8(row, column) \
	DatumGetInt64(tier_get_datum(row, column, Int64GetDatum(0)))
#define tier_get_oid(row, column) DatumGetObjectId(tier_get_datum(row, column, 0))
#define tier_get_bool(row, column) DatumGetBool(tier_get_datum(row, column, 0))
#define tier_get_time(row, column) \
	DatumGetTimestampTz(tier_get_datum(row, column, TimestampTzGetDatum(0)))
#define tier_get_float8_or(row, column, if_null) \
	DatumGetFloat8(tier_get_datum(row, column, Float8GetDatum(if_null)))
#define tier_get_float8(row, column) tier_get_float8_or(row, column, get_float8_nan())
extern char *tier_get_text(MemoryContext context, uint64 row, int column);

/* As many as there are; the others, and all where one is NULL, are 0. */
extern void tier_get_float8s(uint64 row, int column, void *doubles, int n);
extern NameData tier_get_name(uint64 row, int column);

/*
 * Inside a scope: when a prepared transaction of any database was prepared, and
 * its name, in the given context; false: it has ended.  And whether there is any.
 */
extern bool tier_catalog_prepared(MemoryContext context, TransactionId xid, const char **gid,
								  TimestampTz *prepared_at);
extern bool tier_catalog_any_prepared(void);

/*
 * Inside a scope: a publication of this database for all tables, in the given context; NULL:
 * there is none, or it was returned before.
 */
extern char *tier_catalog_new_publication_of_all(MemoryContext context);

/*
 * A copy of a message in the current context, cut after a whole character to the
 * 1000 bytes that one may take in our tables.  Inside a scope or outside.
 */
extern char *tier_catalog_clip(const char *message);

/*
 * The names that policies and pins store beside OIDs, to find their relation, tier and roles
 * again after a rename or a restore.
 */
typedef struct TierIdentity
{
	Oid			relation_oid;
	NameData	schema;
	NameData	relation;
	NameData	tier;
	NameData	creator;		/* the caller of the scope */
	NameData	owner;			/* of the relation */
} TierIdentity;

/* Raises an error if the relation was dropped, which no lock prevents.  Runs no statement. */
extern void tier_catalog_identify(const TierCatalogScope *scope, Oid relation_oid, Oid owner_oid,
								  const NameData *tier, TierIdentity *identity);

/* relation_oid, schema_name, relation_name, system_identifier, database_oid, tier_name */
#define TIER_IDENTITY_VALUES(identity) \
	tier_arg_oid((identity)->relation_oid), tier_arg_name(&(identity)->schema), \
	tier_arg_name(&(identity)->relation), tier_arg_int8((int64) GetSystemIdentifier()), \
	tier_arg_oid(MyDatabaseId), tier_arg_name(&(identity)->tier)

/* ---------------------------------------------------------------------
 * Columns: structs as rows
 * ---------------------------------------------------------------------
 */

/*
 * A column of a table or result and the field of a struct that it holds.  The type is one of
 * "char", bool, int4, int8, float8, oid, timestamptz and bytea; name and text are only read.  A
 * table has a constant array of these, which says all there is to know about its columns.
 */
typedef struct TierColumn
{
	const char *name;
	Oid			type;
	size_t		offset;			/* of the field in the struct */
	bool		null_if_zero;	/* times that may be unknown */
	size_t		bytes;			/* of the field, bytea only, an array of
								 * float: stored as it is in memory; of
								 * another length, read as zeros */
	bool		is_signed;		/* numbers in it may be negative; any other
								 * that is reads as 0, as do NaN and those
								 * that are too large */
	bool		is_amount;		/* float8 only: of bytes or operations, in all
								 * or in an hour; no square */
	size_t		has;			/* of a bool in the struct, false: NULL; 0:
								 * there is none */
} TierColumn;

#define TIER_FIELD(row, field, column_type) \
	{.type = (column_type), .offset = offsetof(row, field)}

/* The type of a double that is read as it is, NULL as NaN; no column of ours is a float4. */
#define TIER_FLOAT8_OR_NAN FLOAT4OID

/*
 * The n rows of the last result as an array of structs in the given context, with room for one at
 * least; strings are there, too.  NULL is 0, but see above.
 */
extern void *tier_rows(MemoryContext context, const TierColumn *columns, int ncolumns,
					   size_t row_bytes, uint64 n);

#define TIER_ROWS(context, row, columns, n) \
	((row *) tier_rows((context), (columns), lengthof(columns), sizeof(row), (n)))

/* Appends "a, b", with a prefix for each; "a = EXCLUDED.a, b = EXCLUDED.b"; and "$1, $2". */
extern void tier_columns_append(StringInfo sql, const char *prefix, const TierColumn *columns,
								int ncolumns);
extern void tier_columns_append_update(StringInfo sql, const TierColumn *columns, int ncolumns);
extern void tier_columns_append_parameters(StringInfo sql, int first, int n);

/*
 * Sets the fields of the struct at `row` from a row of the last result, in which
 * the columns begin at first_column (from 1).  A field whose column is NULL
 * stays as it is.  Texts come into CurrentMemoryContext.  The owner of the tables can write
 * anything into them, and a file may be damaged: a number that is not finite, or beyond all that
 * can be, is read as 0, as are negative amounts in a bytea where none may be, and a time
 * that is not finite as unknown, or where none may be, as now.
 */
extern void tier_columns_load(void *row, const TierColumn *columns, int ncolumns,
							  uint64 result_row, int first_column);

/* Sets one field to a value that is not NULL. */
extern void tier_column_set(void *row, const TierColumn *column, Datum value);

/* The fields of the struct at `row` as parameters, in the order of the columns. */
extern void tier_columns_args(const void *row, const TierColumn *columns, int ncolumns,
							  TierValue *values);

/* One field of n structs of so many bytes, as an array; no column of it may be NULL. */
extern TierValue tier_arg_fields(const void *rows, int n, size_t row_bytes,
								 const TierColumn *column);

/* ---------------------------------------------------------------------
 * Bulk writes: one statement for many rows, as arrays
 * ---------------------------------------------------------------------
 */

typedef struct TierBulk TierBulk;

/*
 * sql takes one array parameter for each value of a row.  It is not copied, nor are values
 * that are passed by reference: both have to stay until finish.  Rows are sent
 * in batches of 1000 as they come, so that add may run a statement, and may
 * leave CurrentMemoryContext in SPI's context.
 *
 * Lives in the memory context that is current at create; inside one scope.
 * finish sends the rest, and none if there is no row; the bulk ends with it.
 */
extern TierBulk *tier_bulk_create(const char *sql);
extern void tier_bulk_add(TierBulk *bulk, const TierValue *values, int nvalues);
extern void tier_bulk_finish(TierBulk *bulk);

#define tier_bulk_row(bulk, ...) \
	tier_bulk_add((bulk), (const TierValue[]) {__VA_ARGS__}, \
				  (int) (sizeof((const TierValue[]) {__VA_ARGS__}) / sizeof(TierValue)))

/* ---------------------------------------------------------------------
 * Tables whose rows are structs
 * ---------------------------------------------------------------------
 */

typedef struct TierTable
{
	const char *name;
	const TierColumn *columns;	/* the first one is the key */
	int			ncolumns;
	size_t		row_bytes;		/* of the struct */
} TierTable;

/*
 * The rows by their keys, with zeros in fields that are not stored, and room for one at least.
 * The condition is "", or " WHERE ..." with the argument as $1.  The array may exceed 1 GB.
 */
extern void *tier_table_load(MemoryContext context, const TierTable *table,
							 const char *condition, Oid argument, int *n);

/* A bulk that inserts or replaces rows, and adding one. */
extern TierBulk *tier_table_store(const TierTable *table);
extern void tier_table_add(TierBulk *bulk, const TierTable *table, const void *row);

#endif							/* TIER_CATALOG_SCOPE_H */

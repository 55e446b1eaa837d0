/*-------------------------------------------------------------------------
 *
 * storage/store.c
 *		Whether the file system of a tablespace answers; see storage/store.h.
 *
 * A call to a file system over a network, or in user space, lasts until that answers, and the
 * process in it obeys no signal: it could neither be canceled nor would the server stop.  So a
 * child process asks first: it writes a byte and flushes it, again and again while that is an
 * I/O error.  Without its store, a file system such as JuiceFS still answers what asks for no
 * data, and reads what it has in a cache.  The byte is a temporary file of the server, which a
 * restart removes and no backup has.
 *
 * The child has nothing of ours, such as shared memory or the connection of a client, and it is
 * not killed: it may be immune to that, and a postmaster that is process 1 would take the death
 * of an orphan for a crash.
 *
 * The child keeps a file of the store in pg_stat_tmp locked, with flock(), until it ends.  So
 * there is one child of a store at most, also after a restart of the server: while the file is
 * locked, there is no answer yet.  It was
 * modified when the store answered again.  Beside it is a second file from when the patience
 * with a child has ended until the next answer.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/file_perm.h"
#include "common/relpath.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/timestamp.h"

#include "src/base/clock.h"
#include "src/server/relation.h"
#include "src/storage/mount.h"
#include "src/storage/store.h"

#define PATIENCE_MS 5000
#define PATIENCE_IF_STALLED_MS 1000
#define POLL_MS 20

/* In the server's directory of the tablespace, $1; musl words the error otherwise. */
#define WRITE_A_BYTE \
	"exec >/dev/null 2>&1; f=$1/pgsql_tmp/pgsql_tmp.tiered_storage; mkdir ${f%/*}; " \
	"while LC_ALL=C dd if=/dev/zero of=$f bs=1 count=1 conv=fsync 2>&1 | " \
	"grep -q 'I.*/[Oo].* error'; do [ -s postmaster.pid ] || break; sleep 5; done; rm -f $f"

/* So long what a process has found counts for it; it is a chance to hang after all. */
#define VALID_US (2 * USECS_PER_SEC)

/* More descriptors than a process of the server has open. */
#define MAX_DESCRIPTORS 65536

/* A file system by the number of its device: one that is mounted anew has another. */
typedef struct Store
{
	unsigned	major;
	unsigned	minor;
} Store;

typedef struct Known
{
	Oid			tablespace_oid;
	bool		is_remote;
	Store		store;			/* if it is */
	bool		answers;
	bool		has_directory;
	int64		until_us;		/* by tier_clock_monotonic_us */
} Known;

/* Of this process, by the OID; others overwrite it. */
static Known known[64];

/* ---------------------------------------------------------------------
 * Files
 * ---------------------------------------------------------------------
 */

static void
lock_path(char *path, Store store, const char *suffix)
{
	snprintf(path, MAXPGPATH, PG_STAT_TMP_DIR "/tiered_storage_store.%u_%u%s", store.major,
			 store.minor, suffix);
}

static bool
has_stalled(Store store)
{
	char		path[MAXPGPATH];

	lock_path(path, store, ".stalled");
	return access(path, F_OK) == 0;
}

/* The WARNING is for the one who has made or removed the file. */
static void
note_change(Store store, Oid tablespace_oid, bool answers)
{
	char		path[MAXPGPATH];
	int			fd;

	lock_path(path, store, ".stalled");
	if (answers)
	{
		if (unlink(path) != 0)
			return;
		lock_path(path, store, "");
		(void) utimensat(AT_FDCWD, path, NULL, 0);
		ereport(WARNING,
				(errmsg("the file system of tablespace \"%s\" answers again",
						tier_tablespace_name(tablespace_oid))));
		return;
	}
	fd = OpenTransientFile(path, O_WRONLY | O_CREAT | O_EXCL | PG_BINARY);
	if (fd < 0)
		return;
	CloseTransientFile(fd);
	ereport(WARNING,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the file system of tablespace \"%s\" does not answer",
					tier_tablespace_name(tablespace_oid)),
			 errdetail("Its relations keep their last sampled values, and none is moved to or "
					   "from it until it answers."),
			 errhint("Until then, queries of its relations hang or fail.")));
}

/* ---------------------------------------------------------------------
 * The child
 * ---------------------------------------------------------------------
 */

/*
 * In the child: becomes the program, or ends, as with an answer.  Process 1 waits for it.  The
 * postmaster signals whole process groups, so it has a session of its own, and obeys SIGTERM
 * alone, by which a service manager ends what is left of a server.
 */
static void
become_writer(int locked, const char *path)
{
	sigset_t	most;
	int			ndescriptors = (int) Min(sysconf(_SC_OPEN_MAX), MAX_DESCRIPTORS);

	if (fork() != 0 || setsid() < 0 || dup2(locked, STDIN_FILENO) < 0)
		_exit(1);
	for (int fd = STDIN_FILENO + 1; fd < ndescriptors; fd++)
		(void) close(fd);
	(void) signal(SIGTERM, SIG_DFL);
	sigfillset(&most);
	sigdelset(&most, SIGTERM);
	sigprocmask(SIG_SETMASK, &most, NULL);
	execlp("sh", "sh", "-c", WRITE_A_BYTE, "sh", path, (char *) NULL);
	_exit(1);
}

/* The child asks, and keeps the lock of that descriptor until there is an answer. */
static void
start_child(int locked, const char *path)
{
	sigset_t	all;
	sigset_t	before;
	pid_t		child;

	/* The file's status, not the file, changes when a question is asked. */
	(void) fchmod(locked, pg_file_create_mode);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	child = fork();
	if (child == 0)
		become_writer(locked, path);
	sigprocmask(SIG_SETMASK, &before, NULL);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

/*
 * Waits until nobody has the lock; false: the question is too old.  Its age is by a clock that
 * can be set, so that nobody waits for longer than if it were new.
 */
static bool
await_lock(int fd, int64 patience_ms)
{
	struct stat st;
	int64		age_us = fstat(fd, &st) != 0 ? 0 :
	GetCurrentTimestamp() - time_t_to_timestamptz(st.st_ctim.tv_sec) -
	st.st_ctim.tv_nsec / 1000;
	int64		give_up_us = tier_clock_monotonic_us() + patience_ms * 1000 -
	Min(Max(age_us, 0), patience_ms * 1000);

	for (int ms = 1; flock(fd, LOCK_EX | LOCK_NB) != 0; ms = Min(ms * 2, POLL_MS))
	{
		if (tier_clock_monotonic_us() >= give_up_us)
			return false;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, ms,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return true;
}

/* ---------------------------------------------------------------------
 * The question
 * ---------------------------------------------------------------------
 */

/* A file-level restore may have left out its directory. */
static int
open_lock(const char *path)
{
	int			fd = OpenTransientFile(path, O_RDWR | O_CREAT | PG_BINARY);

	if (fd < 0 && errno == ENOENT && MakePGDirectory(PG_STAT_TMP_DIR) == 0)
		fd = OpenTransientFile(path, O_RDWR | O_CREAT | PG_BINARY);
	if (fd < 0)
		ereport(WARNING,
				(errcode_for_file_access(), errmsg("could not open file \"%s\": %m", path),
				 errdetail("File systems over a network are treated as if they did not answer.")));
	return fd;
}

/*
 * Who has seen the lock taken and then free has an answer, though not if it is an error but for a
 * missing directory.
 */
static bool
ask(Store store, Oid tablespace_oid, const char *directory)
{
	bool		had_stalled = has_stalled(store);
	bool		answers = !had_stalled;
	char		path[MAXPGPATH];
	struct stat st;
	int			fd;

	lock_path(path, store, "");
	fd = open_lock(path);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
	{
		start_child(fd, directory);
		CloseTransientFile(fd); /* the child has the lock, not we */
		fd = open_lock(path);
		answers = true;
	}
	if (fd < 0)
		return false;
	answers = answers &&
		await_lock(fd, had_stalled ? PATIENCE_IF_STALLED_MS : PATIENCE_MS) &&
		(stat(directory, &st) == 0 || errno == ENOENT);
	CloseTransientFile(fd);
	if (answers == had_stalled)
		note_change(store, tablespace_oid, answers);
	return answers;
}

static void
find_store(Known *slot, Oid tablespace_oid)
{
	char		path[MAXPGPATH];

	slot->tablespace_oid = InvalidOid;	/* until it is known */
	slot->until_us = 0;
	snprintf(path, sizeof(path), "%s/pg_tblspc/%u", DataDir, tablespace_oid);
	slot->is_remote = tier_mount_leads_to_remote(path, &slot->store.major, &slot->store.minor);
	slot->tablespace_oid = tablespace_oid;
}

bool
tier_store_answers(Oid tablespace_oid)
{
	Known	   *slot = &known[tablespace_oid % lengthof(known)];
	char		directory[MAXPGPATH];
	struct stat st;

	if (tablespace_oid == DEFAULTTABLESPACE_OID || tablespace_oid == GLOBALTABLESPACE_OID)
		return true;
	if (slot->tablespace_oid != tablespace_oid || tier_clock_monotonic_us() >= slot->until_us ||
		(!slot->answers && !has_stalled(slot->store)))
	{
		find_store(slot, tablespace_oid);
		snprintf(directory, sizeof(directory), "pg_tblspc/%u/" TABLESPACE_VERSION_DIRECTORY,
				 tablespace_oid);
		slot->answers = !slot->is_remote || ask(slot->store, tablespace_oid, directory);
		slot->has_directory = !slot->is_remote || (slot->answers && stat(directory, &st) == 0);
		slot->until_us = tier_clock_monotonic_us() + VALID_US;
	}
	return slot->answers && slot->has_directory;
}

bool
tier_store_has_stalled(Oid tablespace_oid)
{
	Known	   *slot = &known[tablespace_oid % lengthof(known)];

	if (slot->tablespace_oid != tablespace_oid)
		find_store(slot, tablespace_oid);
	return slot->is_remote && has_stalled(slot->store);
}

bool
tier_store_is_back_since(Oid tablespace_oid, TimestampTz since)
{
	const Known *slot = &known[tablespace_oid % lengthof(known)];
	char		path[MAXPGPATH];
	struct stat st;

	if (!tier_store_answers(tablespace_oid) || slot->tablespace_oid != tablespace_oid ||
		!slot->is_remote)
		return false;
	lock_path(path, slot->store, "");
	return stat(path, &st) == 0 && time_t_to_timestamptz(st.st_mtime + 1) >= since;
}

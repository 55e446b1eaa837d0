/*-------------------------------------------------------------------------
 *
 * fault_shim.c
 *		Counts the system calls of one process of a server on files, and
 *		makes some of them fail.
 *
 * Loaded by LD_PRELOAD into the postmaster, and so into all of its children.
 * What to do is in a file that all of them map, and that the test changes while
 * they run: server.py knows its layout, and README.md what the actions mean.
 *
 * Sockets, pipes and the server's log are not files here.  A call counts before
 * it is made.  As long as nothing is armed, a call costs a look at the file.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE

/* The checked variants of the C library would be defined twice. */
#undef _FORTIFY_SOURCE

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAGIC 0x54464c54
#define PATH_LENGTH 240
#define TRACE_LENGTH 8192

/* The armed process may be any one with this in its title. */
#define ANY_WITH_TITLE (-1)

typedef enum Class
{
	OPEN,						/* also of directories, and streams */
	READ,
	WRITE,
	SYNC,
	TRUNCATE,
	UNLINK,						/* and rmdir */
	ALLOCATE,
	SEEK,
	RENAME,						/* and link */
	CLOSE,
	MKDIR,
	STAT,
} Class;

typedef enum Action
{
	COUNT,						/* nothing but that */
	FAIL,						/* with `error`, nothing done */
	HALVE,						/* a read or write of half as much; else as
								 * FAIL */
	KILL,						/* the process ends before the call */
	HALVE_AND_KILL,				/* after half of a write; else as KILL */
} Action;

typedef struct Call
{
	uint32_t	class;
	uint32_t	flags;			/* of an open */
	char		name[16];
	char		path[PATH_LENGTH];
} Call;

/* server.py has the same layout. */
typedef struct Control
{
	uint32_t	magic;
	_Atomic int32_t pid;		/* 0: nothing is armed */
	uint32_t	classes;		/* bits */
	uint32_t	action;
	int32_t		error;
	uint32_t	first;			/* these calls, beginning with 1 */
	uint32_t	last;
	_Atomic uint32_t counted;
	_Atomic uint32_t fired;
	uint32_t	no_sync;		/* no sync of any process reaches the disk */
	uint32_t	trace;			/* remember all calls, not only what failed */
	char		title[36];
	char		no_sync_path[64];	/* nor any sync of such files */
	char		path[PATH_LENGTH];	/* only files with one of these in their
									 * path */
	Call		failed;			/* the first */
	Call		calls[TRACE_LENGTH];
} Control;

static Control *control = NULL;

/* The next definition of a function: the C library's. */
#define REAL(result, name, ...) \
	static result (*real_##name) (__VA_ARGS__) = NULL; \
	if (real_##name == NULL) \
		*(void **) &real_##name = dlsym(RTLD_NEXT, #name)

/* ---------------------------------------------------------------------
 * Is it this one?
 * ---------------------------------------------------------------------
 */

__attribute__((constructor))
static void
map_control(void)
{
	const char *path = getenv("TIER_FAULT_CONTROL");
	int			fd;
	void	   *address;

	if (path == NULL || (fd = (int) syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC)) < 0)
		return;
	address = mmap(NULL, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	syscall(SYS_close, fd);
	if (address != MAP_FAILED && ((Control *) address)->magic == MAGIC)
		control = address;
}

/* PostgreSQL writes the title over the arguments. */
static int
has_title(const char *title)
{
	char		line[256];
	int			fd = (int) syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline",
								   O_RDONLY | O_CLOEXEC);
	long		n;

	if (fd < 0)
		return 0;
	n = syscall(SYS_read, fd, line, sizeof(line) - 1);
	syscall(SYS_close, fd);
	line[n < 0 ? 0 : n] = '\0';
	return strstr(line, title) != NULL;
}

static int
is_armed(Class class)
{
	int32_t		pid;

	if (control == NULL || (pid = control->pid) == 0 || !(control->classes & (1u << class)))
		return 0;
	return pid == ANY_WITH_TITLE ? has_title(control->title) :
		pid == (int32_t) syscall(SYS_getpid);
}

/* Does the path have one of the parts, between which there are bars? */
static int
has_part(const char *path, const char *parts)
{
	while (*parts != '\0')
	{
		size_t		length = strcspn(parts, "|");

		if (memmem(path, strlen(path), parts, length) != NULL)
			return 1;
		parts += length + (parts[length] == '|');
	}
	return 0;
}

/*
 * Counts the call and says what becomes of it.  COUNT: it is made as always.
 * KILL does not return.
 */
static Action
judge(Class class, const char *name, const char *path, int flags)
{
	uint32_t	number;
	Call	   *call;

	if (control->path[0] != '\0' && !has_part(path, control->path))
		return COUNT;
	number = atomic_fetch_add(&control->counted, 1) + 1;
	if (control->trace && number <= TRACE_LENGTH)
		call = &control->calls[number - 1];
	else if (control->action != COUNT && number == control->first)
		call = &control->failed;
	else
		call = NULL;
	if (call != NULL)
	{
		call->class = class;
		call->flags = (uint32_t) flags;
		snprintf(call->name, sizeof(call->name), "%s", name);
		snprintf(call->path, sizeof(call->path), "%s", path);
	}
	if (control->action == COUNT || number < control->first || number > control->last)
		return COUNT;
	atomic_fetch_add(&control->fired, 1);
	if (control->action == KILL || (control->action == HALVE_AND_KILL && class != WRITE))
		for (;;)
			syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
	if (control->action == HALVE && class != READ && class != WRITE)
		return FAIL;
	return control->action;
}

static Action
judge_path(Class class, const char *name, const char *path, int flags)
{
	return is_armed(class) ? judge(class, name, path, flags) : COUNT;
}

/* Where the file is that is open; empty if nobody knows. */
static int
path_of(int fd, char *path)
{
	char		link[32];
	long		n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_LENGTH - 1);
	path[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

static Action
judge_file(Class class, const char *name, int fd)
{
	int			saved = errno;
	Action		action = COUNT;
	struct stat status;

	if (fd > STDERR_FILENO && is_armed(class) && syscall(SYS_fstat, fd, &status) == 0 &&
		(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
	{
		char		path[PATH_LENGTH];

		(void) path_of(fd, path);
		action = judge(class, name, path, 0);
	}
	errno = saved;
	return action;
}

static int
failure(void)
{
	errno = control->error;
	return -1;
}

static size_t
half_of(size_t size)
{
	return size > 1 ? size / 2 : size;
}

/* After half of a write was made. */
static ssize_t
halved(Action action, ssize_t n)
{
	if (action == HALVE_AND_KILL)
		for (;;)
			syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
	return n;
}

/* ---------------------------------------------------------------------
 * Opening and closing
 * ---------------------------------------------------------------------
 */

static int
open_file(const char *name, int directory, const char *path, int flags, mode_t mode)
{
	if (judge_path(OPEN, name, path, flags) != COUNT)
		return failure();
	return (int) syscall(SYS_openat, directory, path, flags, mode);
}

#define MODE_ARGUMENT(flags, mode) \
	do \
	{ \
		if ((flags) & (O_CREAT | O_TMPFILE)) \
		{ \
			va_list		arguments; \
			va_start(arguments, flags); \
			mode = va_arg(arguments, mode_t); \
			va_end(arguments); \
		} \
	} while (0)

int
open(const char *path, int flags,...)
{
	mode_t		mode = 0;

	MODE_ARGUMENT(flags, mode);
	return open_file("open", AT_FDCWD, path, flags, mode);
}

int
open64(const char *path, int flags,...)
{
	mode_t		mode = 0;

	MODE_ARGUMENT(flags, mode);
	return open_file("open", AT_FDCWD, path, flags, mode);
}

int
openat(int directory, const char *path, int flags,...)
{
	mode_t		mode = 0;

	MODE_ARGUMENT(flags, mode);
	return open_file("openat", directory, path, flags, mode);
}

int			__open_2(const char *path, int flags);

int
__open_2(const char *path, int flags)
{
	return open_file("open", AT_FDCWD, path, flags, 0);
}

int
creat(const char *path, mode_t mode)
{
	return open_file("creat", AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

FILE *
fopen(const char *path, const char *mode)
{
	REAL(FILE *, fopen, const char *, const char *);

	if (judge_path(OPEN, "fopen", path, 0) != COUNT)
	{
		failure();
		return NULL;
	}
	return real_fopen(path, mode);
}

DIR *
opendir(const char *path)
{
	REAL(DIR *, opendir, const char *);

	if (judge_path(OPEN, "opendir", path, 0) != COUNT)
	{
		failure();
		return NULL;
	}
	return real_opendir(path);
}

/* It is closed, whatever it says. */
int
close(int fd)
{
	Action		action = judge_file(CLOSE, "close", fd);
	int			result = (int) syscall(SYS_close, fd);

	return action == COUNT ? result : failure();
}

/* ---------------------------------------------------------------------
 * Reading and writing
 * ---------------------------------------------------------------------
 */

ssize_t
read(int fd, void *data, size_t size)
{
	Action		action = judge_file(READ, "read", fd);

	if (action == FAIL)
		return failure();
	return syscall(SYS_read, fd, data, action == COUNT ? size : half_of(size));
}

ssize_t		__read_chk(int fd, void *data, size_t size, size_t room);

ssize_t
__read_chk(int fd, void *data, size_t size, size_t room)
{
	if (size > room)
		abort();
	return read(fd, data, size);
}

ssize_t
pread(int fd, void *data, size_t size, off_t offset)
{
	Action		action = judge_file(READ, "pread", fd);

	if (action == FAIL)
		return failure();
	return syscall(SYS_pread64, fd, data, action == COUNT ? size : half_of(size), offset);
}

ssize_t
pread64(int fd, void *data, size_t size, off64_t offset)
{
	return pread(fd, data, size, offset);
}

ssize_t
preadv(int fd, const struct iovec *parts, int n, off_t offset)
{
	Action		action = judge_file(READ, "preadv", fd);

	if (action == FAIL)
		return failure();
	if (action != COUNT)
		return syscall(SYS_pread64, fd, parts[0].iov_base, half_of(parts[0].iov_len), offset);
	return syscall(SYS_preadv, fd, parts, n, offset, 0);
}

ssize_t
preadv64(int fd, const struct iovec *parts, int n, off64_t offset)
{
	return preadv(fd, parts, n, offset);
}

ssize_t
write(int fd, const void *data, size_t size)
{
	Action		action = judge_file(WRITE, "write", fd);

	if (action == FAIL)
		return failure();
	if (action != COUNT)
		return halved(action, syscall(SYS_write, fd, data, half_of(size)));
	return syscall(SYS_write, fd, data, size);
}

ssize_t
pwrite(int fd, const void *data, size_t size, off_t offset)
{
	Action		action = judge_file(WRITE, "pwrite", fd);

	if (action == FAIL)
		return failure();
	if (action != COUNT)
		return halved(action, syscall(SYS_pwrite64, fd, data, half_of(size), offset));
	return syscall(SYS_pwrite64, fd, data, size, offset);
}

ssize_t
pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	return pwrite(fd, data, size, offset);
}

ssize_t
pwritev(int fd, const struct iovec *parts, int n, off_t offset)
{
	Action		action = judge_file(WRITE, "pwritev", fd);

	if (action == FAIL)
		return failure();
	if (action != COUNT)
		return halved(action, syscall(SYS_pwrite64, fd, parts[0].iov_base,
									  half_of(parts[0].iov_len), offset));
	return syscall(SYS_pwritev, fd, parts, n, offset, 0);
}

ssize_t
pwritev64(int fd, const struct iovec *parts, int n, off64_t offset)
{
	return pwritev(fd, parts, n, offset);
}

off_t
lseek(int fd, off_t offset, int whence)
{
	if (judge_file(SEEK, "lseek", fd) != COUNT)
		return failure();
	return syscall(SYS_lseek, fd, offset, whence);
}

off64_t
lseek64(int fd, off64_t offset, int whence)
{
	return lseek(fd, offset, whence);
}

/* ---------------------------------------------------------------------
 * To the disk
 * ---------------------------------------------------------------------
 */

static int
is_never_synced(int fd)
{
	char		path[PATH_LENGTH];

	return control->no_sync_path[0] != '\0' && path_of(fd, path) &&
		has_part(path, control->no_sync_path);
}

static int
sync_file(const char *name, int fd, long number)
{
	if (judge_file(SYNC, name, fd) != COUNT)
		return failure();
	if (control != NULL && (control->no_sync || is_never_synced(fd)))
		return 0;
	return (int) syscall(number, fd);
}

int
fsync(int fd)
{
	return sync_file("fsync", fd, SYS_fsync);
}

int
fdatasync(int fd)
{
	return sync_file("fdatasync", fd, SYS_fdatasync);
}

int
syncfs(int fd)
{
	return sync_file("syncfs", fd, SYS_syncfs);
}

int
sync_file_range(int fd, off64_t offset, off64_t size, unsigned int flags)
{
	if (judge_file(SYNC, "sync_file_range", fd) != COUNT)
		return failure();
	return (int) syscall(SYS_sync_file_range, fd, offset, size, flags);
}

int
ftruncate(int fd, off_t size)
{
	if (judge_file(TRUNCATE, "ftruncate", fd) != COUNT)
		return failure();
	return (int) syscall(SYS_ftruncate, fd, size);
}

int
ftruncate64(int fd, off64_t size)
{
	return ftruncate(fd, size);
}

int
truncate(const char *path, off_t size)
{
	if (judge_path(TRUNCATE, "truncate", path, 0) != COUNT)
		return failure();
	return (int) syscall(SYS_truncate, path, size);
}

int
truncate64(const char *path, off64_t size)
{
	return truncate(path, size);
}

/* The error is what it returns. */
int
posix_fallocate(int fd, off_t offset, off_t size)
{
	REAL(int, posix_fallocate, int, off_t, off_t);

	if (judge_file(ALLOCATE, "posix_fallocate", fd) != COUNT)
		return control->error;
	return real_posix_fallocate(fd, offset, size);
}

int
posix_fallocate64(int fd, off64_t offset, off64_t size)
{
	return posix_fallocate(fd, offset, size);
}

int
fallocate(int fd, int mode, off_t offset, off_t size)
{
	if (judge_file(ALLOCATE, "fallocate", fd) != COUNT)
		return failure();
	return (int) syscall(SYS_fallocate, fd, mode, offset, size);
}

/* ---------------------------------------------------------------------
 * Names
 * ---------------------------------------------------------------------
 */

int
unlink(const char *path)
{
	if (judge_path(UNLINK, "unlink", path, 0) != COUNT)
		return failure();
	return (int) syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int
rmdir(const char *path)
{
	if (judge_path(UNLINK, "rmdir", path, 0) != COUNT)
		return failure();
	return (int) syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

int
rename(const char *from, const char *to)
{
	if (judge_path(RENAME, "rename", from, 0) != COUNT)
		return failure();
	return (int) syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int
link(const char *from, const char *to)
{
	if (judge_path(RENAME, "link", from, 0) != COUNT)
		return failure();
	return (int) syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int
mkdir(const char *path, mode_t mode)
{
	if (judge_path(MKDIR, "mkdir", path, 0) != COUNT)
		return failure();
	return (int) syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int
stat(const char *restrict path, struct stat *restrict status)
{
	REAL(int, stat, const char *, struct stat *);

	/*
	 * Whatever it says of a WAL segment, but that it is there, means to the
	 * server that it is not, and its checkpointer puts another one in its
	 * place.
	 */
	if (strstr(path, "pg_wal/") == NULL && judge_path(STAT, "stat", path, 0) != COUNT)
		return failure();
	return real_stat(path, status);
}

int
lstat(const char *restrict path, struct stat *restrict status)
{
	REAL(int, lstat, const char *, struct stat *);

	if (judge_path(STAT, "lstat", path, 0) != COUNT)
		return failure();
	return real_lstat(path, status);
}

/*-------------------------------------------------------------------------
 *
 * mountinfo.c
 *		The parser of mountinfo (storage/mount.c) for libFuzzer.
 *
 * No server: the module is compiled in here, with stand-ins for what it takes
 * from the backend.  The first two lines of the input are a device number and a
 * path, the rest is what /proc/self/mountinfo says.
 *
 *-------------------------------------------------------------------------
 */
#include "src/storage/mount.c"

#undef vsnprintf
#undef snprintf

#define MAX_ALLOCATIONS 4096

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

volatile sig_atomic_t InterruptPending = false;

static void *allocations[MAX_ALLOCATIONS];
static int	nallocations;
static const char *mountinfo;
static size_t mountinfo_length;

/*
 * Below the working directory: with a place for an overlay, and without /sys and
 * /dev of this machine.
 */
static char root[] = "root.XXXXXX";
static char upper[MAXPGPATH];

/* Each its own allocation, so that the address sanitizer sees its end. */
void *
palloc(Size size)
{
	if (nallocations == MAX_ALLOCATIONS)
		abort();
	return allocations[nallocations++] = malloc(size);
}

/* One file exists, and no directory. */
FILE *
AllocateFile(const char *name, const char *mode)
{
	size_t		length = strlen(name);
	const char *end = "/proc/self/mountinfo";

	if (length < strlen(end) || strcmp(name + length - strlen(end), end) != 0 ||
		mountinfo_length == 0)
		return NULL;
	return fmemopen((void *) mountinfo, mountinfo_length, mode);
}

int
FreeFile(FILE *file)
{
	return fclose(file);
}

DIR *
AllocateDir(const char *name)
{
	return NULL;
}

struct dirent *
ReadDirExtended(DIR *directory, const char *name, int level)
{
	abort();
}

int
FreeDir(DIR *directory)
{
	abort();
}

List *
lappend(List *list, void *datum)
{
	abort();
}

char *
pstrdup(const char *string)
{
	abort();
}

void
ProcessInterrupts(void)
{
}

int
pg_vsnprintf(char *string, size_t size, const char *format, va_list arguments)
{
	return vsnprintf(string, size, format, arguments);
}

#ifndef HAVE_STRLCPY
size_t
strlcpy(char *to, const char *from, size_t size)
{
	size_t		length = strlen(from);

	if (size > 0)
	{
		size_t		n = Min(length, size - 1);

		memcpy(to, from, n);
		to[n] = '\0';
	}
	return length;
}
#endif

/* What must be true of a mount that was found for the path. */
static void
check(const TierMount *mount, const char *path)
{
	if (path != NULL && !path_is_below(path, mount->mount_point))
		abort();
	if (strlen(mount->mount_point) >= MOUNT_LINE_BYTES ||
		strlen(mount->filesystem) >= MOUNT_LINE_BYTES ||
		strlen(mount->source) >= MOUNT_LINE_BYTES || strlen(mount->options) >= MOUNT_LINE_BYTES)
		abort();
	(void) tier_mount_is_compressed(mount);
	(void) tier_mount_is_memory(mount);
}

static void
remove_root(void)
{
	rmdir(upper);
	rmdir(root);
}

static void
make_root(void)
{
	if (mkdtemp(root) == NULL)
		abort();
	(void) tier_path_build(upper, "%s/u", root);
	if (mkdir(upper, 0700) != 0)
		abort();
	atexit(remove_root);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool has_root = false;
	char	   *input = malloc(size + 1);
	char	   *path;
	char	   *rest = NULL;
	unsigned	major = 0;
	unsigned	minor = 0;
	TierBacking backing;

	if (!has_root)
		make_root();
	has_root = true;
	memcpy(input, data, size);
	input[size] = '\0';
	if ((path = strchr(input, '\n')) != NULL && (rest = strchr(path + 1, '\n')) != NULL)
	{
		*path++ = '\0';
		*rest++ = '\0';
		(void) sscanf(input, "%u:%u", &major, &minor);
		mountinfo = rest;
		mountinfo_length = size - (rest - input);

		tier_mount_find_backing(root, major, minor, path, &backing);
		if (backing.has_mount)
		{
			check(&backing.mount, path);
			check(&backing.storage, NULL);
			(void) tier_mount_fs_id(&backing);
		}
	}
	for (int i = 0; i < nallocations; i++)
		free(allocations[i]);
	nallocations = 0;
	free(input);
	return 0;
}

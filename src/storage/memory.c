/*-------------------------------------------------------------------------
 *
 * storage/memory.c
 *		Check whether the server's memory is full.
 *
 * Reads /proc and /sys/fs/cgroup, which are not trusted to be small or well formed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "datatype/timestamp.h"
#include "miscadmin.h"
#include "storage/fd.h"

#include "src/base/clock.h"
#include "src/storage/memory.h"
#include "src/storage/mount.h"

/* Of /proc/meminfo. */
#define KILOBYTE				1024.0

/* So much is free as long as memory fills; the kernel keeps a little of it free always. */
#define FREE_PART				0.1

/* Of /proc/meminfo and /proc/self/cgroup. */
#define MAX_LINES				200
#define LINE_BYTES				4096

/* Far more than the kernel nests. */
#define MAX_DEPTH				64

/* Where cgroups of the second version are mounted, and the memory controller of the first. */
#define UNIFIED "/sys/fs/cgroup"
#define SEPARATE "/sys/fs/cgroup/memory"

static bool
read_number(const char *directory, const char *name, double *number)
{
	char		value[VALUE_BYTES];
	char	   *end;

	if (!tier_path_read_value(directory, name, value, sizeof(value)))
		return false;
	*number = strtod(value, &end);	/* "max" is none */
	return end != value;
}

static void
note(TierMemory *memory, double limit, double used)
{
	if (limit < memory->bytes)
		memory->bytes = limit;
	if (used > (1.0 - FREE_PART) * limit)
		memory->is_free = false;
}

static void
note_cgroup(TierMemory *memory, const char *directory)
{
	double		limit;
	double		used;

	if ((read_number(directory, "memory.max", &limit) &&
		 read_number(directory, "memory.current", &used)) ||
		(read_number(directory, "memory.limit_in_bytes", &limit) &&
		 read_number(directory, "memory.usage_in_bytes", &used)))
		note(memory, limit, used);
}

/*
 * A group counts against the limits of those above it.  In a container the names may be those
 * outside, and only the uppermost directory there.
 */
static void
note_cgroups(TierMemory *memory, const char *root, const char *mounted, char *name)
{
	char		directory[MAXPGPATH];

	for (int i = 0; i < MAX_DEPTH; i++)
	{
		char	   *slash;

		if (tier_path_build(directory, "%s%s%s", root, mounted, name))
			note_cgroup(memory, directory);
		if ((slash = strrchr(name, '/')) == NULL)
			break;
		*slash = '\0';
	}
}

/* Lines are "5:cpuset,memory:/name" and, of the second version, "0::/name". */
static void
note_cgroup_line(TierMemory *memory, const char *root, char *line)
{
	char	   *controllers = strchr(line, ':');
	char	   *name = controllers != NULL ? strchr(controllers + 1, ':') : NULL;

	if (name == NULL)
		return;
	*controllers++ = '\0';
	*name++ = '\0';
	name[strcspn(name, "\n")] = '\0';
	if (*controllers == '\0')
		note_cgroups(memory, root, UNIFIED, name);
	for (char *controller = strtok(controllers, ","); controller != NULL;
		 controller = strtok(NULL, ","))
		if (strcmp(controller, "memory") == 0)
			note_cgroups(memory, root, SEPARATE, name);
}

static bool
meminfo_line(const char *line, double *total, double *unused)
{
	if (strncmp(line, "MemTotal:", 9) == 0)
		*total = strtod(line + 9, NULL);
	else if (strncmp(line, "MemFree:", 8) == 0)
		*unused = strtod(line + 8, NULL);
	return *total > 0.0 && *unused >= 0.0;
}

static bool
note_machine(TierMemory *memory, const char *root)
{
	char		path[MAXPGPATH];
	char		line[LINE_BYTES];
	double		total = 0.0;
	double		unused = -1.0;
	bool		known = false;
	FILE	   *file;

	if (!tier_path_build(path, "%s/proc/meminfo", root) ||
		(file = AllocateFile(path, "r")) == NULL)
		return false;
	for (int i = 0; i < MAX_LINES && !known && fgets(line, sizeof(line), file) != NULL; i++)
		known = meminfo_line(line, &total, &unused);
	FreeFile(file);
	if (!known)
		return false;
	memory->bytes = total * KILOBYTE;
	memory->is_free = true;
	note(memory, memory->bytes, (total - unused) * KILOBYTE);
	return true;
}

static void
note_groups(TierMemory *memory, const char *root)
{
	char		path[MAXPGPATH];
	char		line[LINE_BYTES];
	FILE	   *file;

	if (!tier_path_build(path, "%s/proc/self/cgroup", root) ||
		(file = AllocateFile(path, "r")) == NULL)
		return;
	for (int i = 0; i < MAX_LINES && fgets(line, sizeof(line), file) != NULL; i++)
	{
		CHECK_FOR_INTERRUPTS();
		note_cgroup_line(memory, root, line);
	}
	FreeFile(file);
}

TierMemory
tier_memory_look(const char *root)
{
	TierMemory	memory = {false, false, 0.0};
	char		proc[MAXPGPATH];
	double		uptime_s;

	memory.is_new = !tier_clock_is_set() && tier_path_build(proc, "%s/proc", root) &&
		read_number(proc, "uptime", &uptime_s) && uptime_s < SECS_PER_DAY;
	if (note_machine(&memory, root))
		note_groups(&memory, root);
	return memory;
}

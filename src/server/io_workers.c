/*-------------------------------------------------------------------------
 *
 * server/io_workers.c
 *		Bytes that the server's I/O workers have read from devices.
 *
 * Runs in the process that takes a sample.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <stdio.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/proc.h"
#include "utils/timestamp.h"

#include "src/compat.h"
#include "src/base/debug.h"
#include "src/server/io_workers.h"
#include "src/server/processes.h"

#ifdef TIER_COMPAT_HAS_IO_WORKERS

/* See the kernel's Documentation/filesystems/proc.rst; false: it does not say. */
static bool
read_process_bytes(int pid, int64 *bytes)
{
	char		path[MAXPGPATH];
	char		line[128];
	long long	value;
	bool		found = false;
	FILE	   *file;

	snprintf(path, sizeof(path), "%s/proc/%d/io", tier_debug_root(), pid);
	file = AllocateFile(path, "r");
	if (file == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), file) != NULL)
		found = sscanf(line, "read_bytes: %lld", &value) == 1 && value >= 0;
	FreeFile(file);
	if (found)
		*bytes = value;
	return found;
}

void
tier_io_workers_read(TierIoWorkers *workers)
{
	memset(workers, 0, sizeof(*workers));
	if (io_method != IOMETHOD_WORKER)
		return;

	/* Before they are looked at: one that starts now has read nothing before. */
	workers->at = GetCurrentTimestamp();
	for (int i = MaxBackends; i < MaxBackends + NUM_AUXILIARY_PROCS; i++)
	{
		TierIoWorker *worker = &workers->workers[workers->n];
		PgBackendStatus status;

		if (workers->n == TIER_MAX_IO_WORKERS || !tier_processes_read(i, &status) ||
			status.st_backendType != B_IO_WORKER)
			continue;
		worker->pid = status.st_procpid;
		worker->started_at = status.st_proc_start_timestamp;
		if (read_process_bytes(worker->pid, &worker->read_bytes))
			workers->n++;
	}
}

#else

void
tier_io_workers_read(TierIoWorkers *workers)
{
	memset(workers, 0, sizeof(*workers));
}

#endif

static const TierIoWorker *
find_worker(const TierIoWorkers *workers, const TierIoWorker *wanted)
{
	for (int i = 0; i < workers->n; i++)
		if (workers->workers[i].pid == wanted->pid &&
			workers->workers[i].started_at == wanted->started_at)
			return &workers->workers[i];
	return NULL;
}

int64
tier_io_workers_bytes_between(const TierIoWorkers *before, const TierIoWorkers *after)
{
	int64		bytes = 0;

	if (before->at == 0 || after->at == 0)
		return 0;
	for (int i = 0; i < after->n; i++)
	{
		const TierIoWorker *now = &after->workers[i];
		const TierIoWorker *then = find_worker(before, now);

		if (then != NULL)
			bytes += Max(now->read_bytes - then->read_bytes, 0);
		else if (now->started_at >= before->at)
			bytes += now->read_bytes;
	}
	return bytes;
}

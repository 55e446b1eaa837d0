/*-------------------------------------------------------------------------
 *
 * fuse_disk.c
 *		Disks that remember what was written to them, and when it was flushed.
 *
 *		fuse_disk MOUNTPOINT LOG COUNTER IMAGE...
 *
 * Mounts a file system at MOUNTPOINT with one file for each image, "0", "1", ...
 * A loop device on such a file is a disk: what the kernel writes to it comes
 * here as FUSE_WRITE, in the order of completion, and a flush of the device's
 * cache as FUSE_FSYNC.  Both are appended to LOG, of all disks in one order, and
 * done to the image.  COUNTER is a file that is mapped; its first eight bytes
 * say how many records there are.  Ends when MOUNTPOINT is unmounted.
 *
 * Speaks the kernel's protocol itself: one process, one request at a time, so
 * that there is one order.  Needs root.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_DISKS 8
#define MAX_WRITE (256 * 1024)
#define FIRST_NODE 2			/* 1 is the directory */

/* run reads this. */
typedef struct Record
{
	uint32_t	disk;
	uint32_t	is_flush;
	uint64_t	offset;
	uint64_t	length;			/* so many bytes follow */
} Record;

static int	device;
static int	log_file;
static volatile uint64_t *counter;
static int	ndisks;
static int	images[MAX_DISKS];
static char request[MAX_WRITE + 4096];
static char data[MAX_WRITE];

static void
fail(const char *what)
{
	perror(what);
	exit(1);
}

static void
answer(const struct fuse_in_header *in, int error, const void *payload, size_t size)
{
	struct fuse_out_header out;
	struct iovec parts[2];

	out.len = (uint32_t) (sizeof(out) + (error ? 0 : size));
	out.error = -error;
	out.unique = in->unique;
	parts[0].iov_base = &out;
	parts[0].iov_len = sizeof(out);
	parts[1].iov_base = (void *) payload;
	parts[1].iov_len = size;

	/* Who asked may be gone. */
	if (writev(device, parts, error || size == 0 ? 1 : 2) < 0 && errno != ENOENT)
		fail("answer");
}

static void
append(uint32_t disk, uint32_t is_flush, uint64_t offset, const void *bytes, size_t length)
{
	Record		record = {disk, is_flush, offset, length};
	struct iovec parts[2];

	parts[0].iov_base = &record;
	parts[0].iov_len = sizeof(record);
	parts[1].iov_base = (void *) bytes;
	parts[1].iov_len = length;
	if (writev(log_file, parts, length > 0 ? 2 : 1) != (ssize_t) (sizeof(record) + length))
		fail("log");
	++*counter;
}

static void
fill_attributes(struct fuse_attr *attributes, uint64_t node)
{
	memset(attributes, 0, sizeof(*attributes));
	attributes->ino = node;
	attributes->nlink = 1;
	attributes->blksize = 4096;
	if (node < FIRST_NODE)
		attributes->mode = S_IFDIR | 0755;
	else
	{
		struct stat status;

		if (fstat(images[node - FIRST_NODE], &status) != 0)
			fail("image");
		attributes->mode = S_IFREG | 0644;
		attributes->size = (uint64_t) status.st_size;
		attributes->blocks = attributes->size / 512;
	}
}

static int
disk_of(const struct fuse_in_header *in)
{
	if (in->nodeid < FIRST_NODE || in->nodeid >= (uint64_t) (FIRST_NODE + ndisks))
		return -1;
	return (int) (in->nodeid - FIRST_NODE);
}

static void
greet(const struct fuse_in_header *in, const struct fuse_init_in *init)
{
	struct fuse_init_out out;

	memset(&out, 0, sizeof(out));
	out.major = FUSE_KERNEL_VERSION;
	out.minor = init->minor < FUSE_KERNEL_MINOR_VERSION ? init->minor : FUSE_KERNEL_MINOR_VERSION;
	out.max_readahead = init->max_readahead;
	out.flags = init->flags & (FUSE_BIG_WRITES | FUSE_MAX_PAGES | FUSE_ASYNC_READ);
	out.max_background = 16;
	out.congestion_threshold = 12;
	out.max_write = MAX_WRITE;
	out.max_pages = MAX_WRITE / 4096;
	out.time_gran = 1;
	answer(in, 0, &out, sizeof(out));
}

static void
look_up(const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out out;
	char	   *end;
	long		disk = strtol(name, &end, 10);

	if (in->nodeid != FUSE_ROOT_ID || *name == '\0' || *end != '\0' || disk < 0 || disk >= ndisks)
	{
		answer(in, ENOENT, NULL, 0);
		return;
	}
	memset(&out, 0, sizeof(out));
	out.nodeid = (uint64_t) (FIRST_NODE + disk);
	out.entry_valid = out.attr_valid = 3600;
	fill_attributes(&out.attr, out.nodeid);
	answer(in, 0, &out, sizeof(out));
}

static void
tell_attributes(const struct fuse_in_header *in)
{
	struct fuse_attr_out out;

	memset(&out, 0, sizeof(out));
	out.attr_valid = 3600;
	fill_attributes(&out.attr, in->nodeid);
	answer(in, 0, &out, sizeof(out));
}

static void
handle(const struct fuse_in_header *in, const void *body)
{
	int			disk = disk_of(in);
	ssize_t		n;

	switch (in->opcode)
	{
		case FUSE_INIT:
			greet(in, body);
			break;
		case FUSE_LOOKUP:
			look_up(in, body);
			break;
		case FUSE_GETATTR:
		case FUSE_SETATTR:
			if (disk < 0 && in->nodeid != FUSE_ROOT_ID)
				answer(in, ENOENT, NULL, 0);
			else
				tell_attributes(in);
			break;
		case FUSE_OPEN:
			{
				struct fuse_open_out out;

				memset(&out, 0, sizeof(out));
				out.fh = (uint64_t) disk;
				answer(in, disk < 0 ? ENOENT : 0, &out, sizeof(out));
				break;
			}
		case FUSE_READ:
			{
				const struct fuse_read_in *read_in = body;

				if (disk < 0 || read_in->size > MAX_WRITE ||
					(n = pread(images[disk], data, read_in->size, (off_t) read_in->offset)) < 0)
					answer(in, EIO, NULL, 0);
				else
					answer(in, 0, data, (size_t) n);
				break;
			}
		case FUSE_WRITE:
			{
				const struct fuse_write_in *write_in = body;
				const char *bytes = (const char *) (write_in + 1);
				struct fuse_write_out out;

				if (disk < 0 ||
					pwrite(images[disk], bytes, write_in->size, (off_t) write_in->offset) !=
					(ssize_t) write_in->size)
				{
					answer(in, EIO, NULL, 0);
					break;
				}
				append((uint32_t) disk, 0, write_in->offset, bytes, write_in->size);
				memset(&out, 0, sizeof(out));
				out.size = write_in->size;
				answer(in, 0, &out, sizeof(out));
				break;
			}
		case FUSE_FSYNC:
			append((uint32_t) disk, 1, 0, NULL, 0);
			answer(in, 0, NULL, 0);
			break;
		case FUSE_STATFS:
			{
				struct fuse_statfs_out out;

				memset(&out, 0, sizeof(out));
				out.st.bsize = out.st.frsize = 4096;
				out.st.namelen = 255;
				answer(in, 0, &out, sizeof(out));
				break;
			}
		case FUSE_FLUSH:
		case FUSE_RELEASE:
		case FUSE_OPENDIR:
		case FUSE_RELEASEDIR:
		case FUSE_ACCESS:
			if (in->opcode == FUSE_OPENDIR)
			{
				struct fuse_open_out out;

				memset(&out, 0, sizeof(out));
				answer(in, 0, &out, sizeof(out));
			}
			else
				answer(in, 0, NULL, 0);
			break;
		case FUSE_FORGET:
		case FUSE_BATCH_FORGET:
		case FUSE_INTERRUPT:
			break;				/* want no answer */
		case FUSE_FALLOCATE:
			answer(in, EOPNOTSUPP, NULL, 0);	/* zeros have to be written */
			break;
		default:
			answer(in, ENOSYS, NULL, 0);
	}
}

int
main(int argc, char **argv)
{
	char		options[128];
	int			counter_file;

	if (argc < 5 || argc - 4 > MAX_DISKS)
	{
		fprintf(stderr, "usage: fuse_disk MOUNTPOINT LOG COUNTER IMAGE...\n");
		return 2;
	}
	ndisks = argc - 4;
	for (int i = 0; i < ndisks; i++)
		if ((images[i] = open(argv[4 + i], O_RDWR)) < 0)
			fail(argv[4 + i]);
	if ((log_file = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644)) < 0)
		fail(argv[2]);
	if ((counter_file = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0644)) < 0 ||
		ftruncate(counter_file, 4096) != 0)
		fail(argv[3]);
	counter = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, counter_file, 0);
	if (counter == MAP_FAILED)
		fail("mmap");
	if ((device = open("/dev/fuse", O_RDWR)) < 0)
		fail("/dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
			 device);
	if (mount("fuse_disk", argv[1], "fuse", MS_NOSUID | MS_NODEV, options) != 0)
		fail(argv[1]);

	for (;;)
	{
		ssize_t		n = read(device, request, sizeof(request));

		if (n < 0 && errno == ENODEV)
			return 0;			/* unmounted */
		if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT))
			continue;
		if (n < (ssize_t) sizeof(struct fuse_in_header))
			fail("request");
		if (((struct fuse_in_header *) request)->opcode == FUSE_DESTROY)
			return 0;
		handle((struct fuse_in_header *) request, request + sizeof(struct fuse_in_header));
	}
}

# shellcheck shell=bash
#
# One device with a partition for each relation, so that the block layer says
# what each of them read.  To be sourced; needs root.
#
#   make_partitioned_device DIR OWNER MB COUNT   a device of COUNT partitions of MB each (sparse, in
#                                                memory when there is room), mounted at DIR/1, DIR/2, …
#   partition_counters NUMBER                    reads and blocks of 8 kB that it has served so far
#   remove_partitioned_device                    does nothing when none was made
#
# The image has no name once the device is there: nothing is left behind when the
# device is gone.

partitioned_device='' partitioned_image='' partitioned_dir=''

make_partitioned_device() { # directory owner MB count
	local place=$1 number sectors=$(($3 * 2048))
	partitioned_dir=$1
	mkdir -p "$1"
	if [ "$(df --output=avail -BM /dev/shm 2>/dev/null | tr -dc 0-9)" -gt $(($3 * $4)) ] 2>/dev/null &&
		[ "$(awk '/^MemAvailable:/ { printf "%d", $2 / 1024 }' /proc/meminfo)" -gt $(($3 * $4 + 256)) ]; then
		place=/dev/shm
	fi
	partitioned_image=$(umask 077 && mktemp "$place/tiered_storage.partitioned.XXXXXX")
	# A megabyte in front, as partitions are laid out.
	truncate -s $(($3 * $4 + 1))M "$partitioned_image"
	# Or the kernel gives a loop device no partitions.
	partitioned_device=$(losetup --find --show --partscan "$partitioned_image")
	partitioned_device=${partitioned_device#/dev/}
	rm "$partitioned_image"
	for ((number = 1; number <= $4; number++)); do
		addpart "/dev/$partitioned_device" "$number" $((2048 + (number - 1) * sectors)) "$sectors"
		mkfs.ext4 -q -m 0 -E lazy_itable_init=0,lazy_journal_init=0 "/dev/${partitioned_device}p$number"
		mkdir "$1/$number"
		mount -t ext4 -o noatime "/dev/${partitioned_device}p$number" "$1/$number"
		chown "$2" "$1/$number"
	done
	# After the mounts, which reset it.
	echo 128 >"/sys/block/$partitioned_device/queue/read_ahead_kb"
}

partition_counters() { # number
	awk '{ print $1, $3 * 512 / 8192 }' "/sys/class/block/${partitioned_device}p$1/stat"
}

remove_partitioned_device() {
	local mounted
	[ -z "$partitioned_image" ] || rm -f "$partitioned_image"
	[ -n "$partitioned_device" ] || return 0
	for mounted in "$partitioned_dir"/*/; do
		! mountpoint --quiet "$mounted" || umount "$mounted" || true
	done
	losetup --detach "/dev/$partitioned_device" || true
	partitioned_device=''
}

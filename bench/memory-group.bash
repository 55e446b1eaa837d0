# shellcheck shell=bash disable=SC2154 # dir: of the sourcing script
#
# A memory cgroup for a throw-away server, so that its data do not fit in the
# page cache.  To be sourced; needs root, and "dir", the caller's own directory.
#
#   make_memory_group NAME   an empty child of our own group, without a limit, and
#                            $dir/in-group, a command to start the server with
#   limit_memory MB          0 is no limit
#   remove_memory_group      when the server is down; does nothing without a group

group=''

make_memory_group() { # name
	local own
	if [ -w /sys/fs/cgroup/memory/cgroup.procs ]; then
		own=$(awk -F: '$2 ~ /(^|,)memory(,|$)/ { print $3 }' /proc/self/cgroup)
		group=/sys/fs/cgroup/memory${own%/}/tiered_storage.$1.$$
	else
		grep -qw memory /sys/fs/cgroup/cgroup.subtree_control 2>/dev/null || return 1
		group=/sys/fs/cgroup/tiered_storage.$1.$$
	fi
	mkdir "$group" 2>/dev/null || return 1
	# shellcheck disable=SC2016 # for that script to expand
	printf '#!/bin/sh\necho $$ >%s/cgroup.procs && exec "$@"\n' "'$group'" >"$dir/in-group"
	chmod 755 "$dir/in-group"
}

limit_memory() { # MB
	local bytes=$(($1 << 20))
	if [ -e "$group/memory.limit_in_bytes" ]; then
		[ "$1" != 0 ] || bytes=-1
		echo "$bytes" >"$group/memory.limit_in_bytes"
	else
		[ "$1" != 0 ] || bytes=max
		echo "$bytes" >"$group/memory.max"
	fi
}

remove_memory_group() {
	local i
	if [ -n "$group" ] && [ -d "$group" ]; then
		# The server's last process may not be quite gone.
		for ((i = 0; i < 50; i++)); do
			rmdir "$group" 2>/dev/null && break
			sleep 0.1
		done
	fi
}

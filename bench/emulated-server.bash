# shellcheck shell=bash disable=SC2154 # here, bindir, server_user: of who sources this
#
# A throw-away server whose data, WAL and temporary files are on emulated devices
# (root).  To be sourced, after throwaway-server.bash, report.bash and
# memory-group.bash.
#
#   begin_emulation NAME OPTION...   devices, with options of "bench/devices up", a memory
#                                    group and a build; a trap removes all of it.  Sets dir
#   make_emulated_server             the configuration on standard input; the data directory
#                                    is on the SSD, and each device has a tablespace of its name
#   restart_server MB                in so much memory; 0 is no limit
#   move_wal TIER                    to that device
#   calibrate TIER...                a tier for each of these, as measured on the limited
#                                    devices
#   observe                          the extension anew, with these tiers and a first sample
#   observed SECONDS                 the second sample: what was seen for so long stands for
#                                    an hour
#   advice SETTING [TIER]            what recommend_settings() says of it, as if that tier were
#                                    not there: current, recommended, expected ratio, command,
#                                    effect, reason

dir=''
load_pid=''

fail() { # exit code, message
	echo "${0##*/}: $2" >&2
	exit "$1"
}

remove_emulation() { # exit code
	trap '' INT TERM HUP
	trap - EXIT
	[ -z "$load_pid" ] || kill "$load_pid" 2>/dev/null || true
	stop_server
	remove_memory_group
	if [ -n "$dir" ]; then
		"$here/devices" down "$dir/devices" >/dev/null || true
		rm -rf --one-file-system "$dir"
	fi
	rm -f "$raw_file"
	exit "$1"
}

sql() { # statement...
	local statement arguments=()
	for statement; do arguments+=(--command="$statement"); done
	"$bindir/psql" --no-psqlrc --quiet --tuples-only --no-align --pset=pager=off \
		--field-separator=$'\t' --set=ON_ERROR_STOP=1 "${arguments[@]}"
}

# shellcheck disable=SC2120 # mostly without options
throttle() { "$here/devices" throttle "$@" "$dir/devices" >/dev/null; }
unthrottle() { "$here/devices" unthrottle "$dir/devices"; }

device_of() { # tier
	local source
	source=$(findmnt --noheadings --output SOURCE --mountpoint "$dir/devices/$1")
	echo "${source#/dev/}"
}

written_bytes() { # tier: by its device
	sync --file-system "$dir/devices/$1"
	awk '{ printf "%.0f\n", $7 * 512 }' "/sys/block/$(device_of "$1")/stat"
}

# What is clean is dropped, and all of it is after a checkpoint; of small catalogs it does not matter.
drop_page_cache() {
	find "$dir"/devices/* -type f \( -size +1M -o -path "*/tablespace/*" \) \
		-exec dd of={} oflag=nocache conv=notrunc,fdatasync count=0 status=none \;
}

seconds_since() { awk -v b="$1" -v e="$EPOCHREALTIME" 'BEGIN { printf "%.3f", e - b }'; }

# What the server writes to a loop device is charged to its memory cgroup when the image
# gets a new page for it.  So the images get all of theirs first.
fill_images() {
	local place
	for place in "$dir"/devices/*/; do
		dd if=/dev/zero of="$place/fill" bs=1M status=none 2>/dev/null || true
		sync "$place/fill"
		rm "$place/fill"
	done
}

begin_emulation() { # name, option...
	[ "$(id -u)" = 0 ] || fail 3 'emulated devices and memory cgroups need root'
	[ -w /sys/fs/cgroup/blkio/blkio.throttle.read_iops_device ] ||
		fail 3 'this needs the blkio controller of cgroup v1'
	find_server
	dir=$(mktemp -d "${TMPDIR:-/tmp}/tiered_storage-$1.XXXXXX")
	chmod 755 "$dir"
	trap 'remove_emulation $?' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	make_memory_group "$1" || fail 3 'there is no memory cgroup that we could use here'
	install_extension "$dir/build"
	mkdir "$dir/devices" "$dir/run"
	"$here/devices" up "${@:2}" --owner "$server_user" "$dir/devices" >"$dir/devices.log" ||
		fail 3 "no emulated devices: $(cat "$dir/devices.log")"
	fill_images
}

make_emulated_server() {
	local place
	mkdir "$dir/devices/ssd/data"
	chown "$server_user" "$dir/run" "$dir/devices/ssd/data"
	make_server "$dir/devices/ssd/data" "$dir/run" "$dir/server.log" < <(
		cat <<-CONF
			shared_preload_libraries = 'tiered_storage'
			tiered_storage.sample_interval = 86400s  # only the calls that we make
			tiered_storage.auto_migrate = off
			shared_buffers = 32MB
			max_wal_size = 600MB
			max_parallel_workers_per_gather = 0
			autovacuum = off
			jit = off
		CONF
		cat
	)
	start_server
	for place in "$dir"/devices/*/; do
		place=${place%/}
		mkdir "$place/tablespace"
		chown "$server_user" "$place/tablespace"
		sql "CREATE TABLESPACE ${place##*/} LOCATION '$place/tablespace'"
	done
}

stop_server_cleanly() {
	as_server_user "$bindir/pg_ctl" stop --mode=fast --wait --silent --timeout=300 --pgdata="$pgdata" >/dev/null
}

move_wal() { # tier
	local target=$dir/devices/$1/pg_wal
	[ "$(readlink -f "$pgdata/pg_wal")" != "$target" ] || return 0
	stop_server_cleanly
	rm -rf "$target"
	cp -aL "$pgdata/pg_wal" "$target"
	rm -rf "$pgdata/pg_wal"
	ln -s "$target" "$pgdata/pg_wal"
	start_server
}

restart_server() { # MB of memory
	stop_server_cleanly
	limit_memory "$1"
	# shellcheck disable=SC2034 # of throwaway-server.bash
	launcher=("$dir/in-group")
	start_server
}

calibrate() { # tier...
	local tier
	sql "CREATE EXTENSION tiered_storage" "SELECT tiered_storage.remove_tier(tier_name, true) FROM _tiered_storage.tiers" >/dev/null
	for tier; do
		sql "SELECT tiered_storage.add_tier('$tier', '{$tier}', profile => '$([ "$tier" = ssd ] && echo sata_ssd || echo hdd_7200)', reserve_fraction => 0)" >/dev/null
	done
	throttle
	for tier; do
		raw "calibrated $tier: $(sql "SELECT string_agg(format('%s %s %s', measurement, round(measured::numeric, 4), unit), ', ')
			FROM tiered_storage.calibrate_tier('$tier', max_seconds => 6, max_bytes => 64 << 20)")"
	done
	unthrottle
	sql "SELECT format('SELECT tiered_storage.add_tier(%L, %L, profile => %L, reserve_fraction => 0, device => %L);',
			tier_name, tier_name, profile, jsonb_build_object('random_read_ms', random_read_ms, 'random_write_ms', random_write_ms,
			'sequential_read_mb_per_s', sequential_read_mb_per_s, 'sequential_write_mb_per_s', sequential_write_mb_per_s,
			'fsync_ms', fsync_ms, 'parallelism', parallelism)) FROM _tiered_storage.tier
		UNION ALL SELECT format('INSERT INTO _tiered_storage.tier_calibration SELECT (%L::_tiered_storage.tier_calibration).*;', c)
			FROM _tiered_storage.tier_calibration c" >"$dir/tiers.sql"
	sql "DROP EXTENSION tiered_storage"
}

observe() {
	sql "SET client_min_messages = warning" "DROP EXTENSION IF EXISTS tiered_storage" "CREATE EXTENSION tiered_storage" \
		"SELECT tiered_storage.remove_tier(tier_name, true) FROM _tiered_storage.tiers" >/dev/null
	sql "$(cat "$dir/tiers.sql")" >/dev/null
	sql "CALL tiered_storage.sample()"
}

# A smoothed rate is that of an hour at least.
observed() { # seconds
	local rates='reads_fast,read_bytes_fast,writes_fast,write_bytes_fast,busy_ms_fast,device_ms_fast'
	sql "CALL tiered_storage.sample()" "UPDATE _tiered_storage.device_state
		SET ($rates) = ROW(${rates//,/ * 3600 / $1,} * 3600 / $1)"
}

advice() { # setting, tier that is not there
	sql "BEGIN" "DO \$\$ BEGIN PERFORM tiered_storage.remove_tier(tier_name, true) FROM _tiered_storage.tiers WHERE tier_name = '${2-}'; END \$\$" \
		"SELECT current_value, COALESCE(recommended_value, '-'), COALESCE(round(expected_ratio::numeric, 3)::text, '-'), COALESCE(command, '-'),
			COALESCE(effect, '-'), reason FROM _tiered_storage.recommend_settings(true) WHERE setting = '$1' LIMIT 1" "ROLLBACK"
}

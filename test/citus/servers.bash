# shellcheck shell=bash disable=SC2154 # root, work, bin, pg_config, user: of who sources this
#
# Servers with Citus, for test/citus/run and bench/citus.  Sourced, after private-install.sh,
# by scripts that set: root (this source tree), work (a directory), pg_config, bin (of the
# server that is used) and user (a command to put in front, if the caller is root).
#
#   build_citus DIR     Citus of a source tree, and the extension, into $work/server
#   make_node NODE      initdb, start, CREATE EXTENSION citus; conf: more lines
#   start NODE
#   stop_nodes NODE...  at once
#   q NODE SQL...       statements in one session; what they return

# Into $work/server, beside a copy of the server's programs.
build_citus() { # source
	local source=$1 tree=$work/citus header
	mkdir "$tree" "$work/extension"
	tar -C "$source" --exclude=./.git -cf - . | tar -C "$tree" --no-same-owner -xf -
	# Minors of 15 have come to export a function that Citus has for those that do not.
	header=$("$pg_config" --includedir-server)/commands/dbcommands.h
	if [[ $("$pg_config" --version) == 'PostgreSQL 15'* ]] &&
		grep -q 'extern bool have_createdb_privilege' "$header"; then
		sed -i 's/\bhave_createdb_privilege\b/citus_&/' "$tree/src/include/pg_version_compat.h" \
			"$tree/src/backend/distributed/commands/serialize_distributed_ddls.c"
	fi
	(cd "$tree" && ./configure PG_CONFIG="$pg_config" --without-libcurl &&
		make -s -j2 with_llvm=no &&
		make -s with_llvm=no DESTDIR="$work/server" install) >"$work/citus.log" 2>&1 || {
		tail -n 20 "$work/citus.log" >&2
		echo "test/citus/run: Citus cannot be built of $source" >&2
		return 1
	}
	tar -C "$root" --exclude='*.o' --exclude='*.so' --exclude='*.bc' -cf - Makefile META.json \
		tiered_storage.control tiered_storage_citus.control src | tar -C "$work/extension" --no-same-owner -xf -
	private_install "$pg_config" "$work/extension" "$work/server" >"$work/extension.log" 2>&1 || {
		tail -n 20 "$work/extension.log" >&2
		return 1
	}
	chmod -R a+rX "$work/server"
}

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

declare -A port

q() { # node statement...
	local node=$1 statement
	local -a commands=()
	shift
	for statement in "$@"; do
		commands+=(-c "$statement")
	done
	"${user[@]}" "$bin/psql" -XqAt -v ON_ERROR_STOP=1 -h "$work" -p "${port[$node]}" -d postgres \
		"${commands[@]}"
}

start() { # node
	# A server's own connections to the nodes take no options of the test's sessions.
	"${user[@]}" env -u PGOPTIONS "$bin/pg_ctl" -D "$work/$1" -l "$work/$1.log" -w -t 120 start >/dev/null
}

make_node() { # node
	local node=$1
	port[$node]=$(free_port)
	"${user[@]}" "$bin/initdb" -D "$work/$node" -A trust -N --no-locale -E UTF8 >/dev/null
	"${user[@]}" tee -a "$work/$node/postgresql.conf" >/dev/null <<-END
		shared_preload_libraries = 'citus,tiered_storage'
		port = ${port[$node]}
		listen_addresses = '127.0.0.1'
		unix_socket_directories = '$work'
		citus.node_conninfo = 'sslmode=disable'
		citus.shard_count = 4
		fsync = off
		wal_level = logical
		max_prepared_transactions = 100
		max_worker_processes = 32
		shared_buffers = 32MB
		allow_in_place_tablespaces = on
		tiered_storage.sample_interval = '1h'
		tiered_storage.auto_migrate = off
		${conf-}
	END
	start "$node"
	q "$node" "CREATE TABLESPACE near LOCATION ''" "CREATE TABLESPACE far LOCATION ''" \
		"CREATE EXTENSION citus" 2>/dev/null
}

stop_nodes() {
	local node
	for node; do
		[ ! -e "$work/$node/postmaster.pid" ] ||
			"${user[@]}" "$bin/pg_ctl" -D "$work/$node" stop -m immediate >/dev/null
	done
}

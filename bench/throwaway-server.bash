# shellcheck shell=bash
#
# A throw-away PostgreSQL server with the extension of this source tree, for the
# demonstration and the benchmarks.  To be sourced.
#
# The server belongs to an unprivileged user (initdb refuses root): "postgres"
# when the caller is root, else the caller.  It listens on a Unix socket only.
# Whoever sources this calls, in this order:
#
#   find_server           sets bindir, where its programs are
#   install_extension     builds a copy of the sources, and installs it into a copy of the
#                         server in $1
#   make_server           initdb in $1, socket directory $2, configuration on stdin
#   start_server          waits until it accepts connections
#   stop_server           at once, whatever runs; does nothing when it is down
#
# and reaches it through psql and pgbench by the PG* variables that make_server
# exports.  "launcher" may hold a command to put in front of what runs as the
# server's user when the caller is root, such as (bench/devices run DIR --).

launcher=()
bindir='' pgdata='' server_log='' server_user=''
source_tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../test/private-install.sh
. "$source_tree/test/private-install.sh"

# pg_config on PATH when its server is installed, else the newest of Debian's.
find_server() {
	local candidate
	for candidate in "$(pg_config --bindir 2>/dev/null || true)" \
		$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -t / -k 5,5nr); do
		if [ -x "$candidate/postgres" ] && [ -x "$candidate/initdb" ]; then
			bindir=$candidate
			break
		fi
	done
	[ -n "$bindir" ] || {
		echo "no PostgreSQL server found: neither pg_config on PATH nor /usr/lib/postgresql" >&2
		return 1
	}
	if [ "$(id -u)" = 0 ]; then
		server_user=postgres
		id -u postgres >/dev/null 2>&1 || server_user=nobody
	else
		server_user=$(id -un)
	fi
}

# From a directory that this user can enter: paths must be absolute.
as_server_user() {
	if [ "$(id -u)" = 0 ]; then
		(cd / && exec "${launcher[@]}" setpriv --reuid="$server_user" \
			--regid="$(id -g "$server_user")" --init-groups env HOME=/ "$@")
	else
		"$@"
	fi
}

# Builds a copy of the tree, and installs it into a copy of the server, whose programs are
# bindir then: nothing is installed into the machine's PostgreSQL.
install_extension() { # build directory
	local config=$bindir/pg_config
	[ -e "$("$config" --pgxs 2>/dev/null)" ] || {
		echo "$config finds no development files: install postgresql-server-dev-NN" >&2
		return 1
	}
	mkdir -p "$1"
	chmod 755 "$1"
	{
		build_copy "$source_tree" "$1/tree" PG_CONFIG="$config" &&
			private_install "$config" "$1/tree" "$1/server"
	} >"$1/build.log" 2>&1 || {
		tail -n 40 "$1/build.log" >&2
		return 1
	}
	bindir=$1/server$bindir
}

make_server() { # data directory, socket directory, log file; configuration on stdin
	pgdata=$1
	server_log=$3
	: >"$server_log"
	[ "$(id -u)" != 0 ] || chown "$server_user" "$server_log"
	export PGHOST=$2 PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
	unset PGSERVICE PGOPTIONS PGPASSFILE PGHOSTADDR PGAPPNAME
	as_server_user "$bindir/initdb" --pgdata="$pgdata" --username=postgres --auth=trust \
		--encoding=UTF8 --locale=C --no-sync >"$server_log" 2>&1 || {
		cat "$server_log" >&2
		return 1
	}
	{
		echo "listen_addresses = ''"
		echo "port = $PGPORT"
		echo "unix_socket_directories = '$PGHOST'"
		echo "unix_socket_permissions = 0700"
		cat
	} | as_server_user tee -a "$pgdata/postgresql.conf" >/dev/null
}

start_server() {
	as_server_user "$bindir/pg_ctl" start --wait --silent --timeout=60 \
		--pgdata="$pgdata" --log="$server_log" >/dev/null || {
		tail -n 20 "$server_log" >&2
		return 1
	}
}

stop_server() {
	local pid
	[ -n "$pgdata" ] && [ -s "$pgdata/postmaster.pid" ] || return 0
	pid=$(head -n 1 "$pgdata/postmaster.pid")
	as_server_user "$bindir/pg_ctl" stop --mode=immediate --wait --silent --timeout=20 \
		--pgdata="$pgdata" >/dev/null 2>&1 ||
		as_server_user kill -KILL "$pid" 2>/dev/null || true
}

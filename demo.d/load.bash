# shellcheck shell=bash disable=SC2154 # root, dir, bindir, psql: of the demo
#
# The load of the demonstration, and what must be the same after it.  To be sourced by it.
#
#   start_load, stop_load, is_loaded
#   reported               how many seconds pgbench has reported
#   report LABEL FROM TO   what it reported between two of them
#   checksums              one line for each table and query

load=()

# The load, for as long as the demonstration lasts: queries on recent data, and pgbench's own
# transactions.  One in twenty writes to an old order, so that moves meet writers.
start_load() {
	yes "\\i $root/demo.d/load/queries.sql" | psql >/dev/null 2>"$dir/load-queries.log" &
	load+=($!)
	"$bindir/pgbench" --no-vacuum --client=4 --rate=200 --time=3600 --progress=1 \
		--define=customers="$(psql -Atc 'SELECT count(*) FROM customer')" --builtin=tpcb-like@9 \
		--file="$root/demo.d/load/recent.sql@10" --file="$root/demo.d/load/correction.sql@1" \
		>"$dir/load.log" 2>&1 &
	load+=($!)
}

is_loaded() {
	local pid
	for pid in "${load[@]}"; do kill -0 "$pid" 2>/dev/null || return 1; done
}
stop_load() {
	[ "${#load[@]}" = 0 ] || kill -TERM "${load[@]}" 2>/dev/null || true
	load=()
}

# What pgbench reported from one second of its to another.
report() { # label first last
	awk -v label="$1" -v a="$2" -v b="$3" '
		/^progress:/ && ++n > a && n <= b {
			k++
			tps += $4
			ms += $7
			if ($7 > worst) worst = $7
		}
		END {
			if (k)
				printf "pgbench %s: %.0f transactions/s, latency %.1f ms (worst second %.1f ms)\n",
					label, tps / k, ms / k, worst
		}' "$dir/load.log"
}
reported() { grep -c '^progress:' "$dir/load.log" || true; }

# Rows and checksum of each table, and the answers of three queries.
checksums() {
	local query
	psql -Atf "$root/demo.d/checksums.sql"
	for query in q01 q03 q18; do
		echo "$query||$(psql -Atf "$root/bench/tpch/$query.sql" | md5sum | cut -c -32)"
	done
}

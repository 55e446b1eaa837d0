# shellcheck shell=bash disable=SC2154 # bindir, dir: of who sources this
#
# Loads TPC-H.  To be sourced, after throwaway-server.bash; needs "dir", the caller's own
# directory, and the PG* variables of a server.
#
#   load_tpch SCALE   tables, rows and indexes, without statistics

readonly TPCH_GENERATOR='tpchgen-cli==4.0.0'

# Sets tpchgen; from PyPI into the cache, unless it is there.
find_tpch_generator() {
	local cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/tiered_storage
	cache=${TIERED_STORAGE_CACHE:-$cache}/${TPCH_GENERATOR//==/-}
	tpchgen=$(command -v tpchgen-cli) && return
	if ! mkdir -p "$cache" 2>/dev/null || [ ! -w "$cache" ]; then
		cache=$dir/generator
	fi
	tpchgen=$cache/bin/tpchgen-cli
	[ ! -x "$tpchgen" ] || return 0
	echo "installing the generator $TPCH_GENERATOR from PyPI" >&2
	if ! { python3 -m venv --clear "$cache" &&
		"$cache/bin/pip" install --no-cache-dir --quiet --disable-pip-version-check "$TPCH_GENERATOR"; } \
		>"$dir/venv.log" 2>&1; then
		cat "$dir/venv.log" >&2
		return 1
	fi
}

load_tpch() { # scale
	local table tpchgen here=$source_tree/bench/tpch
	local -a psql=("$bindir/psql" --no-psqlrc --quiet --set=ON_ERROR_STOP=1)
	find_tpch_generator || return
	"${psql[@]}" --file="$here/schema.sql" &&
		"$tpchgen" csv --scale-factor "$1" --quiet --output-dir "$dir/tpch" || return
	for table in region nation part supplier partsupp customer orders lineitem; do
		"${psql[@]}" --command="COPY $table FROM STDIN (FORMAT csv, HEADER)" \
			<"$dir/tpch/$table.csv" || return
	done
	rm -r "$dir/tpch"
	"${psql[@]}" --file="$here/indexes.sql"
}

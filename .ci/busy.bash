# shellcheck shell=bash
#
# Sourced by what a person waits for.  Says each ten seconds how long something has been
# under way that prints nothing.
#
#   busy_begin WHAT [LOG]   begins to; with LOG only if nothing was added to that file
#   busy_end                ends it; does nothing if it has not begun
#   busy WHAT COMMAND...    runs a command between the two

busy_job=

busy_begin() { # what [log]
	local begin=$SECONDS size=0 before
	(
		trap 'kill "$!" 2>/dev/null; exit' TERM
		while sleep 10 & wait "$!"; do
			before=$size
			size=$(stat -c %s "${2:-}" 2>/dev/null) || size=0
			[ "$size" != "$before" ] || echo "  ... $1, $((SECONDS - begin)) s"
		done
	) &
	busy_job=$!
	# Nobody waits for it: in a trap, bash might do so for ever.
	disown "$busy_job"
}

busy_end() {
	[ -n "$busy_job" ] || return 0
	kill "$busy_job" 2>/dev/null || true
	busy_job=
}

busy() { # what command...
	local status=0
	busy_begin "$1"
	"${@:2}" || status=$?
	busy_end
	return "$status"
}

# shellcheck shell=bash
#
# Sourced by .ci/test, .ci/check-all and .ci/run: stages that run one after the other, what
# they printed, and a summary.  Whoever sources this has set -euo pipefail and calls
#
#   stages_begin NAME       makes $work, cleans up at the end and after an interrupt
#   stage NAME AGAIN CMD... runs a command; AGAIN is the command that runs the stage alone.
#                           Its status is always 0, because in front of a "||" bash would not
#                           stop at an error inside CMD either; stage_failed says how it was
#   skip NAME REASON        says that a stage is left out
#   summary                 the table, what failed, and the last line; status 1 if
#                           something failed
#
# The numbers of a stage are those of the last line of its output, "N passed, N failed" or
# "N passed, N failed, N skipped"; else those of the verdicts of test/run-suite; else the
# stage counts as one.

# shellcheck source=busy.bash
. "$(dirname "${BASH_SOURCE[0]}")/busy.bash"

passed=0 failed=0 skipped=0
failures=()	# the logs of the stages that failed
table=
work=
running=	# the job of the stage under way
current='' current_begin=0
stage_failed=0	# how many of the last one

stages_begin() { # name
	work=$(mktemp -d "${TMPDIR:-/tmp}/tiered_storage-$1.XXXXXX")
	chmod 755 "$work"	# servers of another user run in there
	mkdir "$work/log"
	trap stages_end EXIT
	trap 'interrupted 130' INT
	trap 'interrupted 143' TERM HUP
}

# A job has a process group of its own, so that an interrupt reaches all of it at once; each
# cleans up after itself.
stage_end() {
	busy_end
	if [ -n "$running" ]; then
		kill -TERM -- "-$running" 2>/dev/null
		# Its shell may be gone before what it started; dpkg takes a minute or two.
		for _ in {1..1800}; do
			kill -0 -- "-$running" 2>/dev/null || break
			sleep 0.1
		done
		kill -KILL -- "-$running" 2>/dev/null
		running=
	fi
}

stages_end() {
	set +e
	trap '' INT TERM HUP
	stage_end
	rm -rf --one-file-system "$work"
}

interrupted() { # exit status
	set +e
	trap '' INT TERM HUP
	stage_end
	[ -z "$current" ] || {
		failed=$((failed + 1))
		table+=$(printf '%-10s %5s s   interrupted' "$current" \
			"$((SECONDS - current_begin))")$'\n'
	}
	summary
	exit "$1"
}

stage() { # name command_for_it_alone command...
	local name=$1 again=$2 log=$work/log/$1 status=0 last
	local -a number=(0 0 0)
	shift 2
	echo
	echo "##### $name"
	current=$name current_begin=$SECONDS
	busy_begin "$name" "$log"
	set -m
	(
		"$@" </dev/null 2>&1 | (
			trap '' INT TERM
			exec tee "$log"
		)
	) &
	running=$!
	set +m
	wait "$running" || status=$?
	running='' current=''
	busy_end
	last=$(tail -n 1 "$log")
	if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
		number=("${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[4]:-0}")
		if [ -z "${BASH_REMATCH[3]}" ]; then
			number[2]=$(grep -cE '^[a-z]+ +SKIPPED: ' "$log" || true)
		fi
	elif grep -qE '^\[[0-9]+\] ' "$log"; then
		number[0]=$(grep -cE '^\[[0-9]+\] [a-z-]+ +ok ' "$log" || true)
		number[1]=$(grep -cE '^\[[0-9]+\] [a-z-]+ +FAILED ' "$log" || true)
		number[2]=$(grep -cE '^\[[0-9]+\] [a-z-]+ +SKIPPED ' "$log" || true)
	elif [ "$status" = 0 ]; then
		number[0]=1
		number[2]=$(grep -cE '^[a-z]+ +SKIPPED: ' "$log" || true)
	fi
	# Whatever it counted, a stage that failed has a failure.
	if [ "$status" != 0 ] && [ "${number[1]}" = 0 ]; then
		number[1]=1
	fi
	[ "${number[1]}" = 0 ] || failures+=("$log")
	passed=$((passed + number[0]))
	failed=$((failed + number[1]))
	skipped=$((skipped + number[2]))
	table+=$(printf '%-10s %5s s   %3s passed, %s failed, %s skipped    %s' "$name" \
		"$((SECONDS - current_begin))" "${number[@]}" "$again")$'\n'
	printf '##### %s: %s s\n' "$name" "$((SECONDS - current_begin))"
	# shellcheck disable=SC2034 # for the caller
	stage_failed=${number[1]}
}

skip() { # name reason
	echo
	echo "##### $1 SKIPPED: $2"
	skipped=$((skipped + 1))
	table+=$(printf '%-10s         SKIPPED: %s' "$1" "$2")$'\n'
}

# Who sees nothing but the last lines has to learn which test it was, what it said, and how to
# run it alone.  What a check of .ci/lint said stands before its verdict, after a line of
# "----"; what is indented or begins with "#" belongs to the line before.
reasons() {
	local log
	for log in "${failures[@]}"; do
		awk '
			/^---- [a-z]+ ----$/ { held = ""; lines = 0; holding = 1; follow = 0; next }
			/^FAILED [a-z-]+=/ { print; follow = 12; holding = 0; found = 1; next }
			/^( *FAULT|FOUND|Bail out|not ok|FAILED)/ || / FAILED( |$)/ {
				printf "%s", held; print; follow = 6; held = ""; holding = 0; found = 1; next
			}
			follow > 0 && /^([ \t]|#[^#])/ { print; follow--; next }
			{ follow = 0 }
			/^(\[[0-9>-]+\] )?[a-z-]+ +(ok|SKIPPED)/ { held = ""; holding = 0 }
			holding && lines++ < 6 { held = held "    | " $0 "\n" }
			END { exit !found }' "$log" >"$work/reasons" || tail -n 8 "$log" >"$work/reasons"
		head -n 40 "$work/reasons"
	done | cut -c -200
}

summary() {
	echo
	echo "##### summary"
	printf '%s' "$table"
	printf '%-10s %5s s\n' total "$SECONDS"
	grep -hE '^(\[[0-9>-]+\] )?[a-z0-9-]+ +SKIPPED' "$work"/log/* 2>/dev/null || true
	[ "$failed" = 0 ] || reasons
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
}

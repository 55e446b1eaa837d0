# shellcheck shell=bash disable=SC2154 # source_tree, bindir: of throwaway-server.bash
#
# What every benchmark's result file begins with, and a little statistics.  To
# be sourced, after throwaway-server.bash.
#
#   begin_report NAME   sends what follows on standard output to the terminal
#                       and to bench/results/NAME-DATE.txt, machine and versions
#                       first; raw values go to the file alone, by raw
#   raw TEXT            one line of raw runs
#   row TEXT...         a row of the table that bench/table makes: question, published,
#                       measured, said before, right or why not
#   end_report          appends the raw runs to the file
#
# "results" may be set to another directory before, by a run that is no result.

results=''
report_file='' raw_file=''

begin_report() { # name
	: "${results:=$source_tree/bench/results}"
	mkdir -p "$results"
	report_file=$results/$1-$(date +%Y-%m-%d).txt
	raw_file=$(mktemp)
	exec 3>&1 > >(tee "$report_file")
	cat <<-REPORT
		benchmark  $1
		date       $(date --utc +'%Y-%m-%d %H:%M UTC')
		machine    $(nproc) cores ($(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1)), $(awk '/^MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo) memory, Linux $(uname -r)
		server     $("$bindir/postgres" --version | sed 's/^[^0-9]*//')
		extension  tiered_storage $(sed -n "s/^default_version *= *'\(.*\)'/\1/p" "$source_tree/tiered_storage.control")$(git -C "$source_tree" rev-parse --short HEAD 2>/dev/null | sed 's/^/, commit /')

	REPORT
}

raw() { printf '%s\n' "$*" >>"$raw_file"; }

row() {
	local cell
	printf '|'
	for cell; do printf ' %s |' "${cell//|/\\|}"; done
	echo
}

end_report() {
	printf '\nWritten to %s\n' "${report_file#"$source_tree"/}" >&3
	exec >&3 3>&-
	# tee is a process of its own: the last line has to be in the file first.
	wait
	{
		printf '\nraw runs\n'
		cat "$raw_file"
	} >>"$report_file"
	rm -f "$raw_file"
}

# Of the numbers on standard input.
median() {
	sort -g | awk '{ a[NR] = $1 }
		END { print NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'
}

# shellcheck shell=bash
#
# Sourced by tests that want the release build in a server of their own.

# Builds a source tree and installs it, beside a copy of the server's programs, into
# a directory: PostgreSQL finds what belongs to it by its place relative to the
# program.  Programs are in root$(pg_config --bindir) then.
private_install() { # pg_config tree root
	local pg_config=$1 tree=$2 root=$3 directory
	for directory in "$("$pg_config" --bindir)" "$("$pg_config" --pkglibdir)" "$("$pg_config" --sharedir)"; do
		mkdir -p "$root$directory" || return
		tar -C "$directory" --exclude=./bitcode --exclude=./pgxs -chf - . | tar -C "$root$directory" -xf - || return
	done
	make -C "$tree" -s -j2 with_llvm=no PG_CONFIG="$pg_config" &&
		make -C "$tree" -s with_llvm=no PG_CONFIG="$pg_config" DESTDIR="$root" install
}

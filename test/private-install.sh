# shellcheck shell=bash
#
# Sourced by what tests or shows the extension on a server without installing into the
# machine's PostgreSQL.

# Copies a server's programs, libraries and shared files below a directory.  PostgreSQL finds
# what belongs to it by its place relative to the program, so root$(pg_config --bindir) has a
# complete server, and its pg_config serves PGXS: headers and PGXS are links.
private_server() { # pg_config root
	local pg_config=$1 root=$2 directory
	for directory in "$("$pg_config" --bindir)" "$("$pg_config" --pkglibdir)" \
		"$("$pg_config" --sharedir)"; do
		mkdir -p "$root$directory" || return
		tar -C "$directory" --exclude=./bitcode --exclude=./pgxs -chf - . |
			tar -C "$root$directory" --no-same-owner -xf - || return
	done
	# What the machine's server has of the extension is not what is tested.
	rm -f "$root$("$pg_config" --pkglibdir)"/tiered_storage* \
		"$root$("$pg_config" --sharedir)"/extension/tiered_storage*
	directory=$("$pg_config" --pkglibdir)/pgxs
	# Not into what it points to, if it is there already: that is the machine's.
	ln -sfn "$directory" "$root$directory" || return
	directory=$("$pg_config" --includedir)
	# Debian's is below /usr/include, another one's may hold what was copied.
	[ -e "$root$directory" ] || {
		mkdir -p "$root${directory%/*}" && ln -sfn "$directory" "$root$directory" || return
	}
	chmod 755 "$root"
}

# Builds a source tree and installs it into such a copy, which is made.
private_install() { # pg_config tree root
	private_server "$1" "$3" &&
		make -C "$2" -s -j2 with_llvm=no PG_CONFIG="$1" &&
		make -C "$2" -s with_llvm=no PG_CONFIG="$1" DESTDIR="$3" install
}

# Builds a copy of a source tree in a folder that is kept, so that the next time only what has
# changed is compiled.  The rest are arguments of make.
build_copy() { # source directory argument...
	local source=$1 directory=$2 file
	shift 2
	mkdir -p "$directory" || return
	(cd "$source" && tar --exclude='*.o' --exclude='*.so' --exclude='*.bc' -cf - \
		Makefile ./*.control src) | tar -C "$directory" --no-same-owner -xf - || return
	# What has gone from the sources.
	(cd "$directory" && find src -type f ! -name '*.o') | while read -r file; do
		[ -e "$source/$file" ] || rm -f "$directory/$file" "$directory/${file%.c}.o"
	done
	make -C "$directory" -s -j2 with_llvm=no "$@" </dev/null
}

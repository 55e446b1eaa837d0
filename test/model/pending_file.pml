/*
 * The files of moves: who registers, uses and removes them.
 *
 * One relation, two movers of it, two sweepers that remove what movers have left, and
 * what can go wrong: error, cancel, terminate, crash, promotion, a file that cannot be
 * unlinked.  A world has, besides, a DROP EXTENSION, or a user whose CREATE TABLE gets
 * a number that has been used before.
 *
 * A step is what nobody can see half done; between two steps anybody may do anything.
 * Each actor is a program counter and all stand in one process, so that a crash is an
 * assignment.  A rule that is taken away has a number in "without", which is chosen
 * first: one search is about all of them, and counts for each what went wrong
 * (report.pml).
 */

/* Rules, and what goes wrong without each.  "run" reads the comments. */
#define NOTHING 0				/* expect: */
#define OLD_SWEEP 1				/* expect: live_file_unlinked */
#define LOCK_FILE 2				/* expect: live_file_unlinked */
#define LOCK_OF_SESSION 3		/* expect: live_file_unlinked */
#define LEAVE_OWN_FILE 4		/* expect: own_file_lost */
#define SNAPSHOT_AFTER_LOCK 5	/* expect: live_file_unlinked */
#define LOOK_BEFORE_DISCARD 6	/* expect: live_file_unlinked */
#define CHECK_LOCK_AT_SWAP 7	/* expect: live_file_unlinked */
#define REGISTER_FIRST 8		/* expect: orphan */
#define REGISTER_FOR_GOOD 9		/* expect: orphan */
#define LOCK_BEFORE_ROW 10		/* expect: live_file_unlinked */
#define DROP_IS_LOGGED 11		/* expect: orphan */
#define ROW_GOES_LAST 12		/* expect: orphan */
#define SWAP_DELETES_ROW 13		/* expect: two_owners */
#define RECHECK_SOURCE 14		/* expect: stale_copy */
#define RELEASE_LOCK 15			/* expect: left_for_ever */
#define ONE_MOVER 16			/* expect: */
#define INTACT_AT_SWAP 17		/* expect: */
#define EXTENSION_LOCK 18		/* expect: orphan */
#define GIVE_WAY_CLEAN 19		/* expect: orphan */
#define RETAKE_AFTER_ABORT 20	/* expect: orphan */
#define ONLY_WHAT_WE_MADE 21	/* expect: live_file_unlinked */
#define REREAD_ROW 22			/* expect: live_file_unlinked */
#define DIRTY_LOOK 23			/* expect: live_file_unlinked */
#define LAST_RULE 23

#define has(rule) (without != rule)

/* Worlds. */
#define PLAIN 0
#define DROP_EXTENSION 1
#define NUMBERS_AGAIN 2

#ifndef TROUBLES
#define TROUBLES 2
#endif
#ifndef MOVES
#define MOVES 2
#endif

#define NMOVERS 2
#define NSWEEPERS 2
#define NFILES 4
#define FIRST_FILE 0			/* the relation's at the beginning */
#define LAST_MOVED 2			/* movers make 1 and 2 */
#define REWRITTEN 3				/* what ALTER TABLE makes */
#define NOBODY 255
#define sweeper_id(s) (NMOVERS + s)

/* What is on disk; an empty segment stays until the next checkpoint. */
#define GONE 0
#define EMPTY 1
#define FULL 2

/* What recovery finds in the WAL since the last checkpoint. */
#define NO_RECORD 0
#define CREATED 1
#define DROPPED 2

mtype = {
	/* movers */
	m_idle, m_numbered, m_create, m_register_late, m_copying, m_aborted, m_locked,
	m_swapping, m_unlink_old, m_forget, m_discard, m_discard_drop, m_discard_unlink,
	m_unregister, m_clean, m_own_sweep,
	/* sweepers */
	s_idle, s_listed, s_locked, s_look, s_drop, s_unlink,
	/* the user whose table gets an old number */
	u_idle, u_created, u_inserted, u_committed,
	/* DROP EXTENSION */
	d_idle, d_waiting, d_granted, d_done
};

byte without;
byte world;
byte troubles;					/* that may still come */
byte moves;						/* the same */
bool user_code;					/* of a mover has let go of all advisory locks */

/* Committed, and what a crash leaves of it. */
byte relation_file;
bool row[NFILES];				/* registered */
bool row_is_safe[NFILES];		/* the row survives a crash */
bool extension;
byte next_file;

byte disk[NFILES];
byte wal[NFILES];
bool on_standby[NFILES];

/* Locks. */
byte file_lock[NFILES];			/* L; of a mover, a sweeper or NOBODY */
byte relation_mover;			/* M */
byte strong_lock;				/* ACCESS EXCLUSIVE on the relation */

mtype mover[NMOVERS];
byte source[NMOVERS];
byte target[NMOVERS];
bool made[NMOVERS];				/* the file was created by us */
bool extension_held[NMOVERS];
bool after_abort[NMOVERS];		/* the extension's lock is lost by an abort */

mtype sweeper[NSWEEPERS];
byte swept[NSWEEPERS];
byte seen_file[NSWEEPERS];		/* the relation's, in the snapshot */
bool seen_row[NSWEEPERS];
bool seen_user[NSWEEPERS];		/* the row of pg_class of CREATE TABLE */

mtype user;
byte user_file;

mtype drop;

/* For the checks alone. */
bool was_used[NFILES];			/* by the relation: PostgreSQL removes it */
bool by_user[NFILES];			/* made by CREATE TABLE */
bool excused[NFILES];			/* a window that is known */

byte i;							/* of loops; 0 between steps */

#include "report.pml"

#define M mover[m]
#define T target[m]
#define S sweeper[s]
#define F swept[s]

inline release_file_lock(f, id)
{
	if
	:: file_lock[f] == id -> file_lock[f] = NOBODY
	:: else
	fi
}

/* The part of a commit that drops a file; the unlink comes later. */
inline log_drop(f)
{
	if
	:: has(DROP_IS_LOGGED) -> wal[f] = DROPPED; on_standby[f] = false
	:: else
	fi;
	if
	:: !has(ROW_GOES_LAST) -> row[f] = false; row_is_safe[f] = false
	:: else
	fi
}

inline unlink_file(f)
{
	if
	:: disk[f] == FULL -> disk[f] = EMPTY
	:: else
	fi
}

/* A transaction of the mover ends without a commit. */
inline abort_mover(m)
{
	if
	:: strong_lock == m -> strong_lock = NOBODY
	:: else
	fi;
	if
	:: extension_held[m] -> extension_held[m] = false; after_abort[m] = true
	:: else
	fi
}

inline end_mover(m)
{
	if
	:: has(RELEASE_LOCK) -> release_file_lock(T, m)
	:: else
	fi;
	if
	:: relation_mover == m -> relation_mover = NOBODY
	:: else
	fi;
	M = m_idle; source[m] = 0; T = 0; made[m] = false;
	extension_held[m] = false; after_abort[m] = false
}

inline step_mover(m)
{
	if
	/* Number, L and M. */
	:: M == m_idle && moves > 0 && next_file <= LAST_MOVED && extension && drop == d_idle &&
		(relation_mover == NOBODY || !has(ONE_MOVER)) ->
		moves--;
		T = next_file;
		next_file++;
		relation_mover = m;
		source[m] = relation_file;
		extension_held[m] = has(EXTENSION_LOCK);
		if
		:: has(LOCK_BEFORE_ROW) -> file_lock[T] = m
		:: else
		fi;
		M = (has(REGISTER_FIRST) -> m_numbered : m_create)

	/* The row; committed. */
	:: M == m_numbered && extension ->
		row[T] = true;
		row_is_safe[T] = has(REGISTER_FOR_GOOD);
		if
		:: !has(LOCK_OF_SESSION) -> release_file_lock(T, m)
		:: else
		fi;
		M = m_create

	/* The file, unless there is one: that is not ours. */
	:: M == m_create ->
		if
		:: !has(LOCK_BEFORE_ROW) && file_lock[T] == NOBODY -> file_lock[T] = m
		:: else
		fi;
		if
		:: disk[T] != GONE -> M = m_discard
		:: else ->
			disk[T] = FULL;
			wal[T] = CREATED;
			on_standby[T] = true;
			made[m] = true;
			M = (has(REGISTER_FIRST) -> m_copying : m_register_late)
		fi
	:: M == m_register_late && extension ->
		row[T] = true;
		row_is_safe[T] = true;
		M = m_copying

	/* Copying; then the strong lock. */
	:: M == m_copying && strong_lock == NOBODY ->
		strong_lock = m;
		M = m_locked

	/* The worker sweeps while its move rests. */
	:: M == m_copying && !has(LEAVE_OWN_FILE) && row[T] ->
		log_drop(T);
		M = m_own_sweep
	:: M == m_own_sweep ->
		unlink_file(T);
		M = m_copying

	/* A function of a user, in this session: pg_advisory_unlock_all(). */
	:: M == m_copying && !user_code && !was_used[REWRITTEN] && (without == NOTHING || without == CHECK_LOCK_AT_SWAP) &&
		world == PLAIN && troubles > 0 ->
		troubles--;
		user_code = true;
		release_file_lock(T, m)

	/* Somebody wants to drop the extension. */
	:: M == m_copying && drop == d_waiting && extension_held[m] ->
		if
		:: !has(GIVE_WAY_CLEAN) -> extension_held[m] = false
		:: else
		fi;
		M = m_discard

	/* Error or cancel; or just an attempt that is given up. */
	:: (M == m_copying || M == m_locked || M == m_swapping) && troubles > 0 ->
		troubles--;
		abort_mover(m);
		M = m_aborted
	:: M == m_aborted ->
		if
		:: !has(EXTENSION_LOCK) || !has(RETAKE_AFTER_ABORT) -> M = m_copying
		:: has(RETAKE_AFTER_ABORT) && drop == d_idle && extension ->
			extension_held[m] = true;
			after_abort[m] = false;
			M = m_copying
		:: else -> M = m_discard
		fi
	:: M == m_aborted -> M = m_discard

	/* Under the lock: everything is checked again. */
	:: M == m_locked ->
		if
		:: disk[T] != FULL && !user_code -> note(own_file_lost)
		:: else
		fi;
		if
		:: has(RECHECK_SOURCE) && relation_file != source[m] ->
			strong_lock = NOBODY;
			M = m_discard
		:: has(INTACT_AT_SWAP) && disk[T] != FULL && !(has(RECHECK_SOURCE) && relation_file != source[m]) ->
			strong_lock = NOBODY;
			M = m_discard
		:: has(CHECK_LOCK_AT_SWAP) && has(LOCK_OF_SESSION) && has(LOCK_BEFORE_ROW) && file_lock[T] != m ->
			/* A sweeper may have it: the file is his. */
			strong_lock = NOBODY;
			M = m_clean
		:: else -> M = m_swapping
		fi

	/* The commit.  The old file is unlinked after the locks are released. */
	:: M == m_swapping && !extension ->
		abort_mover(m);
		M = m_discard
	:: M == m_swapping && extension ->
		reached(swapped);
		if
		:: source[m] != relation_file -> wrong(stale_copy)
		:: else
		fi;
		source[m] = relation_file;
		relation_file = T;
		was_used[T] = true;
		if
		:: has(SWAP_DELETES_ROW) && without != OLD_SWEEP -> row[T] = false; row_is_safe[T] = false
		:: else
		fi;
		wal[source[m]] = DROPPED;
		on_standby[source[m]] = false;
		strong_lock = NOBODY;
		M = m_unlink_old
	:: M == m_unlink_old ->
		unlink_file(source[m]);
		M = (has(SWAP_DELETES_ROW) && without != OLD_SWEEP -> m_clean : m_forget)
	:: M == m_unlink_old && troubles > 0 && without != OLD_SWEEP ->
		troubles--;
		unlink_file(source[m]);
		M = m_discard
	:: M == m_forget ->
		row[T] = false;
		row_is_safe[T] = false;
		M = m_clean

	/* Removing what was not finished: a look, a commit, an unlink. */
	:: M == m_discard ->
		if
		:: has(LOOK_BEFORE_DISCARD) && relation_file == T -> M = m_clean
		:: !made[m] && has(ONLY_WHAT_WE_MADE) -> M = m_clean
		:: else -> M = m_discard_drop
		fi
	:: M == m_discard_drop ->
		reached(discarded);
		log_drop(T);
		M = m_discard_unlink
	:: M == m_discard_unlink ->
		unlink_file(T);
		made[m] = false;
		M = m_unregister

	/* Dropped and without a block is good enough; the commit may not be flushed. */
	:: M == m_unregister ->
		if
		:: disk[T] != FULL -> row[T] = false
		:: disk[T] != FULL -> row[T] = false; row_is_safe[T] = false
		:: else
		fi;
		M = m_clean
	:: (M == m_discard || M == m_discard_drop || M == m_discard_unlink) && troubles > 0 ->
		/* It fails, or the file system does; known when it was the last chance. */
		troubles--;
		excused[T] = excused[T] || !extension;
		M = m_clean
	:: M == m_clean -> end_mover(m)

	/* Terminate.  A commit is not interrupted. */
	:: M != m_idle && M != m_unlink_old && M != m_discard && M != m_discard_drop &&
		M != m_discard_unlink && M != m_own_sweep && M != m_clean && troubles > 0 ->
		reached(terminated);
		troubles--;
		abort_mover(m);
		M = (M == m_forget -> m_clean : m_discard)
	fi
}

inline end_sweep(s)
{
	release_file_lock(F, sweeper_id(s));
	S = s_idle; F = 0; seen_file[s] = 0; seen_row[s] = false; seen_user[s] = false
}

/* The snapshot: what is committed now. */
inline take_snapshot(s)
{
	seen_file[s] = relation_file;
	seen_row[s] = row[F];
	seen_user[s] = (user == u_committed && user_file == F)
}

/* What a snapshot does not show: somebody's open transaction. */
#define is_in_doubt(f) (((user == u_inserted || user == u_committed) && user_file == f) || \
	(mover[0] == m_swapping && target[0] == f) || (mover[1] == m_swapping && target[1] == f))

inline step_sweeper(s)
{
	if
	/* The list of rows. */
	:: S == s_idle && extension && drop != d_granted ->
		if
		:: row[1] -> F = 1
		:: row[2] -> F = 2
		fi;
		take_snapshot(s);
		S = s_listed
	:: S == s_listed ->
		if
		:: file_lock[F] != NOBODY && has(LOCK_FILE) -> end_sweep(s)
		:: else ->
			if
			:: file_lock[F] == NOBODY -> file_lock[F] = sweeper_id(s)
			:: else
			fi;
			S = s_locked
		fi
	:: S == s_locked ->
		if
		:: without == OLD_SWEEP -> seen_row[s] = row[F]		/* FOR UPDATE */
		:: has(SNAPSHOT_AFTER_LOCK) && without != OLD_SWEEP ->
			seen_file[s] = relation_file;
			seen_row[s] = (has(REREAD_ROW) -> row[F] : seen_row[s]);
			seen_user[s] = (user == u_committed && user_file == F)
		:: else
		fi;
		S = s_look
	:: S == s_look ->
		if
		:: !seen_row[s] -> end_sweep(s)
		:: seen_row[s] && (seen_file[s] == F || seen_user[s] || (is_in_doubt(F) && has(DIRTY_LOOK) && without != OLD_SWEEP)) ->
			/* In doubt it stays.  The old sweep knew no doubt, and deleted the row. */
			if
			:: without == OLD_SWEEP || !has(SWAP_DELETES_ROW) -> row[F] = false; row_is_safe[F] = false
			:: else
			fi;
			end_sweep(s)
		:: else ->
			if
			:: disk[F] == GONE -> row[F] = false; row_is_safe[F] = false; end_sweep(s)
			:: disk[F] == GONE -> row[F] = false; end_sweep(s)		/* not flushed */
			:: disk[F] != GONE ->
				/* Known: a CREATE TABLE that has not come to its row of pg_class. */
				if
				:: user == u_created && user_file == F && row[F] -> excused[F] = true; reached(known_window)
				:: else
				fi;
				S = s_drop
			fi
		fi
	:: S == s_drop ->
		reached(swept_one);
		log_drop(F);
		release_file_lock(F, sweeper_id(s));
		S = s_unlink
	:: S == s_unlink ->
		unlink_file(F);
		end_sweep(s)
	:: S == s_unlink && troubles > 0 -> troubles--; end_sweep(s)
	:: (S == s_locked || S == s_look || S == s_drop) && troubles > 0 -> troubles--; end_sweep(s)
	fi
}

inline step_drop_extension()
{
	if
	:: drop == d_idle && extension -> drop = d_waiting
	:: drop == d_waiting && !extension_held[0] && !extension_held[1] &&
		(sweeper[0] == s_idle || sweeper[0] == s_unlink) &&
		(sweeper[1] == s_idle || sweeper[1] == s_unlink) -> drop = d_granted
	:: drop == d_granted ->
		extension = false;
		for (i : 1 .. LAST_MOVED) {
			/* Nobody has swept since a crash, or something failed. */
			if
			:: row[i] && (file_lock[i] == NOBODY ||
				(file_lock[i] < NMOVERS && mover[file_lock[i]] == m_clean)) ->
				excused[i] = true;
				reached(known_leftover)
			:: else
			fi;
			row[i] = false;
			row_is_safe[i] = false
		}
		i = 0;
		reached(extension_dropped);
		drop = d_done
	:: drop == d_granted && troubles > 0 -> troubles--; drop = d_idle
	fi
}

/*
 * CREATE TABLE with a number that has been given before.  The counter does not come
 * round between a sweeper's look and its unlink.
 */
#define is_dropped_by(s, f) ((sweeper[s] == s_drop || sweeper[s] == s_unlink) && swept[s] == f)
#define can_come_again(f) \
	(disk[f] == GONE && next_file > f && !is_dropped_by(0, f) && !is_dropped_by(1, f))

inline step_user()
{
	if
	:: user == u_idle && next_file > 1 ->
		if
		:: can_come_again(1) -> user_file = 1
		:: can_come_again(2) -> user_file = 2
		fi;
		disk[user_file] = FULL;
		wal[user_file] = CREATED;
		on_standby[user_file] = true;
		by_user[user_file] = true;
		reached(number_again);
		user = u_created
	:: user == u_created -> user = u_inserted
	:: user == u_inserted -> user = u_committed
	fi
}

/* ALTER TABLE, VACUUM FULL, TRUNCATE ... */
inline step_rewrite()
{
	reached(rewritten);
	disk[REWRITTEN] = FULL;
	wal[REWRITTEN] = CREATED;
	on_standby[REWRITTEN] = true;
	was_used[REWRITTEN] = true;
	wal[relation_file] = DROPPED;
	on_standby[relation_file] = false;
	unlink_file(relation_file);
	relation_file = REWRITTEN
}

inline checkpoint()
{
	for (i : 0 .. NFILES - 1) {
		wal[i] = NO_RECORD;
		if
		:: disk[i] == EMPTY -> disk[i] = GONE
		:: else
		fi
	}
	i = 0
}

/* All processes are gone.  A standby that is promoted has seen the WAL alone. */
inline crash(promotion)
{
	for (i : 0 .. NFILES - 1) {
		if
		:: promotion -> disk[i] = (on_standby[i] -> FULL : GONE)
		:: !promotion && wal[i] == CREATED -> disk[i] = FULL
		:: !promotion && wal[i] == DROPPED -> disk[i] = GONE
		:: else
		fi;
		wal[i] = NO_RECORD;
		row[i] = row_is_safe[i];
		file_lock[i] = NOBODY
	}
	for (i : 0 .. NMOVERS - 1) {
		/* Known: an abort has let DROP EXTENSION in, and the discard has not come. */
		if
		:: !extension && after_abort[i] && (mover[i] == m_aborted || mover[i] == m_discard ||
			mover[i] == m_discard_drop || mover[i] == m_discard_unlink) ->
			excused[target[i]] = true;
			reached(known_crash)
		:: else
		fi;
		mover[i] = m_idle; source[i] = 0; target[i] = 0; made[i] = false;
		extension_held[i] = false; after_abort[i] = false
	}
	for (i : 0 .. NSWEEPERS - 1) {
		sweeper[i] = s_idle; swept[i] = 0; seen_file[i] = 0; seen_row[i] = false; seen_user[i] = false
	}
	relation_mover = NOBODY;
	strong_lock = NOBODY;
	if
	:: user == u_created || user == u_inserted -> user = u_idle
	:: else
	fi;
	if
	:: drop == d_waiting || drop == d_granted -> drop = d_idle
	:: else
	fi;
	i = 0
}

#define is_made_by(m, f) (mover[m] != m_idle && mover[m] != m_clean && target[m] == f)
#define is_unlinked_by(s, f) (sweeper[s] == s_unlink && swept[s] == f)

#define is_live_file_unlinked (disk[relation_file] != FULL || \
	(user != u_idle && disk[user_file] != FULL && !excused[user_file]))
#define has_two_owners ((row[relation_file] && without != OLD_SWEEP) || \
	(user != u_idle && user_file == relation_file))
#define is_orphan(f) (disk[f] == FULL && relation_file != f && !row[f] && !was_used[f] && \
	!by_user[f] && !excused[f] && !is_made_by(0, f) && !is_made_by(1, f) && \
	!is_unlinked_by(0, f) && !is_unlinked_by(1, f))
#define is_left(f) ((file_lock[f] == 0 && mover[0] == m_idle) || \
	(file_lock[f] == 1 && mover[1] == m_idle))

inline check()
{
	if
	:: is_live_file_unlinked -> wrong(live_file_unlinked)
	:: has_two_owners -> wrong(two_owners)
	:: is_orphan(1) || is_orphan(2) -> wrong(orphan)
	:: is_left(1) || is_left(2) -> wrong(left_for_ever)
	:: !is_live_file_unlinked && !has_two_owners && !is_orphan(1) && !is_orphan(2) &&
		!is_left(1) && !is_left(2)
	fi;
	go_on()
}

init {
	atomic {
		/* -DWITHOUT=N -DWORLD=N for one of them */
#ifdef WITHOUT
		without = WITHOUT;
#else
		select(without : NOTHING .. LAST_RULE);
#endif
		if
		:: without < EXTENSION_LOCK -> world = PLAIN
		:: without == NOTHING || (without >= EXTENSION_LOCK && without <= RETAKE_AFTER_ABORT) ->
			world = DROP_EXTENSION
		:: without == NOTHING || without >= ONLY_WHAT_WE_MADE -> world = NUMBERS_AGAIN
		fi;
#ifdef WORLD
		world == WORLD;
#endif
		troubles = TROUBLES;
		moves = MOVES;
		extension = true;
		next_file = 1;
		disk[0] = FULL;
		was_used[0] = true;
		on_standby[0] = true;
		relation_mover = NOBODY;
		strong_lock = NOBODY;
		for (i : 0 .. NFILES - 1) {
			file_lock[i] = NOBODY
		}
		for (i : 0 .. NMOVERS - 1) {
			mover[i] = m_idle
		}
		for (i : 0 .. NSWEEPERS - 1) {
			sweeper[i] = s_idle
		}
		user = u_idle;
		drop = d_idle;
		i = 0
	}
	do
	:: atomic { step_mover(0); check() }
	:: atomic { step_mover(1); check() }
	:: atomic { step_sweeper(0); check() }
	:: atomic { step_sweeper(1); check() }
	:: atomic { world == DROP_EXTENSION; step_drop_extension(); check() }
	:: atomic { world == NUMBERS_AGAIN; step_user(); check() }
	:: atomic { world == PLAIN && (without == NOTHING || without == RECHECK_SOURCE) &&
		strong_lock == NOBODY && !was_used[REWRITTEN] && !user_code; step_rewrite(); check() }
	:: atomic { (disk[0] == EMPTY || disk[1] == EMPTY || disk[2] == EMPTY || wal[0] != NO_RECORD ||
		wal[1] != NO_RECORD || wal[2] != NO_RECORD || disk[3] == EMPTY || wal[3] != NO_RECORD); d_step { checkpoint() }; check() }
	:: atomic { troubles > 0; troubles--; d_step { crash(false) }; reached(crashed); check() }
	:: atomic { troubles > 0; troubles--; d_step { crash(true) }; reached(promoted); check() }
	od
}

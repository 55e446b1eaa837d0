# Moves and the rest of the world: locks, readers, writers, cancels, crashes, and
# tablespaces that are missing, read-only, full or dropped.
#
# Made up in the tables, since no call makes it in the time of a test: moves of another
# time, size or end.
#
# On every major.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

# Attempts are counted below: none may fail because the machine is slow.
my $node = new_node(
	'main',
	conf => q(
max_prepared_transactions = 5
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1s'
tiered_storage.migrate_interval = '1s'
));
$node->start;

# "disk" is a directory that can be taken away.
my $disk = PostgreSQL::Test::Utils::tempdir;
create_in_place_tablespace($node, 'slow', 'small', 'doomed');
$node->safe_psql('postgres', "CREATE TABLESPACE disk LOCATION '$disk'");
$node->safe_psql('postgres', 'CREATE DATABASE app');
create_measurements($node, 'app', 1, 2, 3);
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
SELECT tiered_storage.add_tier('disk', '{disk}', profile => 'hdd_7200', reserve_fraction => 0);
SELECT tiered_storage.add_tier('doomed', '{doomed}', profile => 'hdd_7200', reserve_fraction => 0);
SELECT tiered_storage.add_tiering_policy('measure', '90 days', 'slow');
));
my $has_amcheck = $node->safe_psql('app',
	"SELECT count(*) FROM pg_available_extensions WHERE name = 'amcheck'");
$node->safe_psql('app', 'CREATE EXTENSION amcheck') if $has_amcheck;

my $impatient =
  "SET tiered_storage.move_lock_timeout = '50ms'; SET tiered_storage.debug_lock_attempts = 2";
my $patient = "SET tiered_storage.move_lock_timeout = '60s'";

# The record of a relation: what matters of it.
sub record_of
{
	my ($relation) = @_;
	return $node->safe_psql(
		'app', qq(
SELECT state, sqlstate, attempts, failures, next_attempt_at > now(), error
FROM _tiered_storage.moves WHERE relation = '$relation' ORDER BY move_id DESC LIMIT 1)
	);
}

# A session that reads a table and does not end its transaction.
sub reader_of
{
	my ($table) = @_;
	my $session = $node->background_psql('app');

	$session->query_safe('BEGIN');
	$session->query_safe("SELECT count(*) FROM $table");
	return $session;
}

# Until it has ended: the server takes a cancel that comes just when the time for a
# lock is over for that, and the move goes on.
sub cancel_move
{
	$node->poll_query_until('app',
		'SELECT count(pg_cancel_backend(pid)) = 0 FROM _tiered_storage.move_progress'
	) or die 'the move does not end';
	return;
}


# The tablespace of the table itself.  Its TOAST table is moved before it, so that
# it may be elsewhere after a move that was not completed.
sub tablespace_of
{
	my ($table) = @_;
	return $node->safe_psql('app',
		"SELECT COALESCE(spcname, 'pg_default') FROM pg_class LEFT JOIN pg_tablespace s ON s.oid = reltablespace WHERE relname = '$table'"
	);
}

# No file is on its way, or left behind by a move that has ended.
sub no_file_is_left
{
	my ($name) = @_;
	is( $node->safe_psql(
			'app', 'SELECT count(*) FROM _tiered_storage.move_file'),
		0,
		"$name: no file is left");
	return;
}

# Every b-tree agrees with its table, in both directions.
sub indexes_are_sound
{
	my ($name) = @_;

  SKIP:
	{
		skip 'amcheck is not available', 1 unless $has_amcheck;
		my ($rc, $out, $err) = $node->psql(
			'app', q(
SELECT bt_index_check(indexrelid, true) FROM pg_index JOIN pg_class c ON c.oid = indexrelid
WHERE c.relkind = 'i' AND indrelid IN (SELECT oid FROM pg_class WHERE relname LIKE 'm\_%'
	UNION SELECT reltoastrelid FROM pg_class WHERE relname LIKE 'm\_%')));
		is("$rc $err", '0 ', "$name: the indexes are sound");
	}
	return;
}

# ---------------------------------------------------------------------
note 'Locked by a reader';
# ---------------------------------------------------------------------

my %rows = map { $_ => fingerprint($node, 'app', $_) }
  qw(m_2001_01 m_2001_02 m_2001_03);
my $reader = reader_of('m_2001_02');
my $notices =
  notices_of($node, 'app', "$impatient; CALL tiered_storage.migrate()");
like(
	$notices,
	qr/WARNING:  55P03: could not move public.m_2001_02: could not lock the relation within 50 ms in 2 attempts/,
	'a relation that is in use is skipped with a warning');
is( record_of('m_2001_02'),
	'skipped|55P03|2|1|t|could not lock the relation within 50 ms in 2 attempts',
	'and a record that says when it is tried again');
is( $node->safe_psql(
		'app',
		"SELECT lock_wait_ms >= 90, elapsed_ms > lock_wait_ms FROM _tiered_storage.moves WHERE relation = 'm_2001_02'"
	),
	't|t',
	'which tells the time in the lock queue from the rest');
no_file_is_left('after a move that gave up');
is(tablespaces_of($node, 'app', 'm_2001_01', 'm_2001_03'),
	'slow', 'the other partitions are moved');
is(tablespace_of('m_2001_02'), 'pg_default',
	'the one in use is where it was');
is(fingerprint($node, 'app', $_), $rows{$_}, "$_ has the same rows")
  foreach sort keys %rows;

# The worker heeds the time of the next attempt, and then tries again; a reader
# locks the indexes too.
reload_with($node, 'tiered_storage.auto_migrate' => 'policies');
wait_for_cycle($node, 'app');
wait_for_cycle($node, 'app');
is( record_of('m_2001_02'),
	'skipped|55P03|2|1|t|could not lock the relation within 50 ms in 2 attempts',
	'the worker does not try before that time');
$reader->query_safe('COMMIT');
$node->safe_psql('app',
	"UPDATE _tiered_storage.move SET next_attempt_at = now() WHERE relation_name ~ '^public.m_2001_02'"
);
ok( $node->poll_query_until(
		'app',
		"SELECT count(*) = 3 FROM _tiered_storage.moves WHERE relation ~ '^m_2001_02' AND state = 'done'"
	),
	'and then moves it');
is(record_of('m_2001_02'), 'done||3|1||', 'in the same record');
is(tablespaces_of($node, 'app', 'm_2001_02'),
	'slow', 'with all that belongs to it');
is(fingerprint($node, 'app', 'm_2001_02'),
	$rows{m_2001_02}, 'and the same rows');
indexes_are_sound('after the moves');
reload_with($node, 'tiered_storage.auto_migrate' => 'off');
wait_for_cycle($node, 'app');
$reader->quit;

# ---------------------------------------------------------------------
note 'Readers behind a move';
# ---------------------------------------------------------------------

# While one reader keeps the move from its lock, others queue behind the move, but
# not for longer than one attempt takes: those that waited would wait for ever if it did
# not let go.
create_partition($node, 'app', 4);
$reader = reader_of('m_2001_04');
my $move = start_sql(
	$node,
	'app',
	"SET tiered_storage.move_lock_timeout = '500ms'",
	'SET tiered_storage.debug_lock_attempts = 1000',
	"CALL tiered_storage.move_relation('m_2001_04', 'slow')");
for (1 .. 3)
{
	wait_for_lock_wait($node, 'app', 'm_2001_04');
	is( $node->safe_psql(
			'app',
			"SET statement_timeout = '2min'; SELECT count(*) > 0 FROM m_2001_04"
		),
		't',
		'others read while a move waits for a reader');
}
is( $node->safe_psql(
		'app',
		"SELECT count(*) FROM _tiered_storage.move_progress WHERE relation = 'm_2001_04'"
	),
	1,
	'which goes on trying');
cancel_move();
like(
	finish_sql($move),
	qr/ERROR:  57014: canceling statement due to user request/,
	'until it is cancelled');
$reader->query_safe('COMMIT');
$reader->quit;

# ---------------------------------------------------------------------
note 'Cancel';
# ---------------------------------------------------------------------

$reader = reader_of('m_2001_04');
$move = start_sql($node, 'app', $patient,
	"CALL tiered_storage.move_relation('m_2001_04', 'slow')");
wait_for_lock_wait($node, 'app', 'm_2001_04');
cancel_move();
like(
	finish_sql($move),
	qr/ERROR:  57014: canceling statement due to user request/,
	'a move is cancelled while it waits for its lock');
like(
	record_of('m_2001_04'),
	qr/^failed\|57014\|\d+\|2\|t\|canceling statement due to user request$/,
	'which is recorded');
is(tablespace_of('m_2001_04'), 'pg_default', 'it is where it was');
no_file_is_left('after a cancel');

# In the pause, in a run of several: it ends the run.
create_partition($node, 'app', 5);
$move = start_sql(
	$node, 'app',
	"SET tiered_storage.move_lock_timeout = '1ms'",
	'SET tiered_storage.debug_lock_attempts = 100',
	'CALL tiered_storage.migrate()');
$node->poll_query_until('app',
	"SELECT count(*) = 1 FROM _tiered_storage.move_progress m JOIN pg_stat_activity a USING (pid) WHERE m.relation = 'm_2001_04' AND a.wait_event_type = 'Extension'"
) or die 'the move does not pause';
cancel_move();
like(
	finish_sql($move),
	qr/ERROR:  57014: canceling statement due to user request/,
	'migrate() is cancelled between two attempts');
like(record_of('m_2001_04'), qr/^failed\|57014\|/, 'which is recorded');
is(tablespace_of('m_2001_04'), 'pg_default', 'it is where it was');
is(tablespaces_of($node, 'app', 'm_2001_05'),
	'pg_default', 'and the next one is not begun');
no_file_is_left('after a cancel between two attempts');
is( $node->safe_psql(
		'app',
		"SELECT count(*) FROM _tiered_storage.move WHERE state = 'running'"),
	0,
	'nothing is left running');
$reader->query_safe('COMMIT');
$reader->quit;

# ---------------------------------------------------------------------
note 'Pinned while it is moved';
# ---------------------------------------------------------------------

# It waits for its lock, with a complete copy, and is not to have it any more.
$node->safe_psql('app',
	'CREATE TABLE m_pinned AS SELECT generate_series(1, 1000) AS id');
my $rows_of_pinned = fingerprint($node, 'app', 'm_pinned');
$reader = reader_of('m_pinned');
$move = start_sql(
	$node,
	'app',
	"SET tiered_storage.move_lock_timeout = '500ms'",
	'SET tiered_storage.debug_lock_attempts = 1000',
	"CALL tiered_storage.move_relation('m_pinned', 'slow')");
wait_for_lock_wait($node, 'app', 'm_pinned');
$node->safe_psql('app', "SELECT tiered_storage.pin('m_pinned', 'disk')");
my $given_up = finish_sql($move);
like(
	$given_up,
	qr/ERROR:  55000: could not move public.m_pinned: it was pinned to tier "disk" concurrently/,
	'a move is given up for a pin that was set after it began');
like($given_up,
	qr/HINT:  Use SELECT tiered_storage.unpin\('public.m_pinned'\) first/,
	'with a hint');
like(record_of('m_pinned'), qr/^skipped\|55000\|/, 'which is recorded');
no_file_is_left('after a move that was given up for a pin');

# So it is when its turn comes only now, whatever the method.
foreach my $table (qw(m_pinned m_unlogged))
{
	$node->safe_psql('app', 'CREATE UNLOGGED TABLE m_unlogged (id int)')
	  if $table eq 'm_unlogged';
	$node->safe_psql('app', "SELECT tiered_storage.unpin('$table')")
	  if $table eq 'm_pinned';
	$node->safe_psql('app', 'SELECT tiered_storage.pause()');
	$move = start_sql($node, 'app',
		"CALL tiered_storage.move_relation('$table', 'slow', allow_lock => true)"
	);
	$node->poll_query_until('app',
		"SELECT phase = 'paused' FROM _tiered_storage.move_progress WHERE relation = '$table'"
	) or die 'the move is not paused';
	$node->safe_psql('app', "SELECT tiered_storage.pin('$table', 'disk')");
	$node->safe_psql('app', 'SELECT tiered_storage.resume()');
	like(
		finish_sql($move),
		qr/ERROR:  55000: could not move public.$table: it was pinned to tier "disk" concurrently/,
		"one of $table that had to wait is not begun");
	is(tablespace_of($table), 'pg_default', 'it is where it was');
}
is(fingerprint($node, 'app', 'm_pinned'),
	$rows_of_pinned, 'with the same rows');
$reader->query_safe('COMMIT');
$reader->quit;

# A pin to where it goes is in nobody's way.
$node->safe_psql('app', "SELECT tiered_storage.pin('m_pinned', 'slow')");
$node->safe_psql('app',
	"CALL tiered_storage.move_relation('m_pinned', 'slow')");
is(tablespace_of('m_pinned'), 'slow', 'a pin to that tier lets it go there');
$node->safe_psql('app',
	"SELECT tiered_storage.unpin('m_pinned'), tiered_storage.unpin('m_unlogged')"
);
$node->safe_psql('app', 'DROP TABLE m_pinned, m_unlogged');

# ---------------------------------------------------------------------
note 'Server crash';
# ---------------------------------------------------------------------

$node->safe_psql('app',
	'CREATE UNLOGGED TABLE m_unlogged (id int PRIMARY KEY); INSERT INTO m_unlogged VALUES (1)'
);
$node->safe_psql('app',
	"CALL tiered_storage.move_relation('m_unlogged', 'slow', allow_lock => true)"
);
%rows = map { $_ => fingerprint($node, 'app', $_) } qw(m_2001_04 m_2001_05);
$reader = reader_of('m_2001_05');
$move = start_sql($node, 'app', $patient, 'CALL tiered_storage.migrate()');
wait_for_lock_wait($node, 'app', 'm_2001_05');
$node->stop('immediate');
eval { $reader->quit };
finish_sql($move);
$node->append_conf('postgresql.conf',
	"tiered_storage.sample_interval = '1h'");
$node->start;
ok( $node->poll_query_until(
		'app',
		"SELECT state IN ('interrupted', 'failed') FROM _tiered_storage.moves WHERE relation = 'm_2001_05'"
	),
	'the record of the interrupted move does not say "running"');
is(tablespaces_of($node, 'app', 'm_2001_04'),
	'slow', 'what was done stays done');
is(tablespace_of('m_2001_05'), 'pg_default', 'what was not is as before');
$node->safe_psql('app', 'CALL tiered_storage.sample()');
like(
	record_of('m_2001_05'),
	qr/^failed\|57P02\|0\|1\|f\|the process that moved it ended before it was done$/,
	'the next sample makes it a failure that can be tried again at once');

# A device that fails takes the server down with each move.
foreach (2, 3)
{
	$reader = reader_of('m_2001_05');
	$move =
	  start_sql($node, 'app', $patient, 'CALL tiered_storage.migrate()');
	wait_for_lock_wait($node, 'app', 'm_2001_05');
	$node->stop('immediate');
	eval { $reader->quit };
	finish_sql($move);
	$node->start;
	$node->safe_psql('app', 'CALL tiered_storage.sample()');
}
like(
	notices_of($node, 'app', 'CALL tiered_storage.migrate()'),
	qr/Waiting: the server restarted during the last moves; retry at 20/,
	'after three crashes moves that nobody calls for rest');
$node->safe_psql('app', 'CREATE TABLE t (id int)');
$node->safe_psql('app', "CALL tiered_storage.move_relation('t', 'slow')");
$node->safe_psql('app', 'DROP TABLE t');
like(
	notices_of($node, 'app', 'CALL tiered_storage.migrate()'),
	qr/partitions due: 1; relations moved: 3, not moved: 0/,
	'the next migrate() completes it');
is(record_of('m_2001_05'), 'done||1|3||', 'in the same record');

# The one that the crash has left was removed before; when the checkpointer has
# taken its name away, too, the next run forgets it.
$node->safe_psql('app', 'CHECKPOINT');
$node->safe_psql('app', 'CALL tiered_storage.migrate()');
no_file_is_left('after the crash');
is(tablespaces_of($node, 'app', 'm_2001_05'),
	'slow', 'with all that belongs to it');
is(fingerprint($node, 'app', $_), $rows{$_}, "$_ has the same rows")
  foreach sort keys %rows;
indexes_are_sound('after the crash');
is( $node->safe_psql(
		'app',
		'SELECT count(*) FROM m_unlogged; INSERT INTO m_unlogged VALUES (2), (3); SELECT count(*) FROM m_unlogged WHERE id > 0'
	),
	"0\n2",
	'an unlogged table was moved with what a crash resets it to');

# ---------------------------------------------------------------------
note 'Missing and read-only directories';
# ---------------------------------------------------------------------

# Each relation moves by itself: t stays complete whatever happens to the target.
$node->safe_psql('app',
	"CREATE TABLE t (id int PRIMARY KEY, value text); INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 500) i"
);
$rows{t} = fingerprint($node, 'app', 't');
rename $disk, "$disk.away" or die "could not rename $disk: $!";
my $error =
  error_of($node, 'app', "CALL tiered_storage.move_relation('t', 'disk')");
like(
	$error,
	qr/ERROR:  58P01: could not move public.t: directory ".*" of tablespace "disk" is missing.*HINT:  Check that its file system is mounted/s,
	'a missing directory is said so');
like(
	record_of('t'),
	qr/^skipped\|58P01\|0\|1\|t\|directory ".*" of tablespace "disk" is missing$/,
	'and recorded');
is(tablespaces_of($node, 'app', 't'), 'pg_default', 'nothing is moved');
is(fingerprint($node, 'app', 't'), $rows{t}, 'nothing is lost');
rename "$disk.away", $disk or die "could not rename $disk back: $!";
$node->safe_psql('app', "CALL tiered_storage.move_relation('t', 'disk')");
is(tablespaces_of($node, 'app', 't'),
	'disk', 'it works when the directory is back');
is(fingerprint($node, 'app', 't'), $rows{t}, 'with the same rows');
is(record_of('t'), 'done||1|1||', 'in the same record');
$node->safe_psql('app',
	"CALL tiered_storage.move_relation('t', 'pg_default')");

SKIP:
{
	skip 'root may write everywhere', 5 if $> == 0;

	# The version's own directory below is where files go.
	my ($version) = grep { -d } glob "$disk/PG_*";
	chmod 0500, $disk, $version or die "could not make $disk read-only: $!";
	$error = error_of($node, 'app',
		"CALL tiered_storage.move_relation('t', 'disk')");
	like(
		$error,
		qr/ERROR:  58P01: could not move public.t: directory ".*" of tablespace "disk" is not writable/,
		'a directory that cannot be written is said so');
	like(
		record_of('t'),
		qr/^skipped\|58P01\|0\|1\|t\|directory ".*" of tablespace "disk" is not writable$/,
		'and recorded');
	is(tablespaces_of($node, 'app', 't'), 'pg_default', 'nothing is moved');
	is(fingerprint($node, 'app', 't'), $rows{t}, 'nothing is lost');
	chmod 0700, $disk, $version or die "could not make $disk writable: $!";
	$node->safe_psql('app', "CALL tiered_storage.move_relation('t', 'disk')");
	is(tablespaces_of($node, 'app', 't'),
		'disk', 'it works when it can be written again');
}

# A database's own directory that cannot be written is found by the copy only.
SKIP:
{
	skip 'root may write everywhere', 4 if $> == 0;
	my ($directory) = grep { -d } glob "$disk/PG_*/*";
	$node->safe_psql('app',
		"CALL tiered_storage.move_relation('t', 'pg_default')");
	chmod 0500, $directory or die "could not make $directory read-only: $!";
	$error = error_of($node, 'app',
		"CALL tiered_storage.move_relation('t', 'disk')");
	like(
		$error,
		qr/ERROR:  \w+: could not move public.t: could not create file .* Permission denied/,
		'an error of the copy is passed on');
	like(
		record_of('t'),
		qr/^failed\|42501\|0\|1\|t\|could not create file/,
		'and recorded; no lock was asked for');
	no_file_is_left('after an error');
	is(tablespaces_of($node, 'app', 't'), 'pg_default', 'nothing is moved');
	is(fingerprint($node, 'app', 't'), $rows{t}, 'nothing is lost');
	chmod 0700, $directory or die "could not make $directory writable: $!";
}

# ---------------------------------------------------------------------
note 'A full tier';
# ---------------------------------------------------------------------

# Four partitions of about 410 kB; room for two.
$node->safe_psql(
	'app', q(
CREATE TABLE big (at date NOT NULL, filler text) PARTITION BY RANGE (at);
CREATE TABLE big_1 PARTITION OF big FOR VALUES FROM ('2001-01-01') TO ('2001-02-01');
CREATE TABLE big_2 PARTITION OF big FOR VALUES FROM ('2001-02-01') TO ('2001-03-01');
CREATE TABLE big_3 PARTITION OF big FOR VALUES FROM ('2001-03-01') TO ('2001-04-01');
CREATE TABLE big_4 PARTITION OF big FOR VALUES FROM ('2001-04-01') TO ('2001-05-01');
INSERT INTO big SELECT '2001-01-15'::date + interval '1 month' * m, repeat('x', 1900)
FROM generate_series(0, 3) m, generate_series(1, 200);
SELECT tiered_storage.add_tier('small', '{small}', profile => 'hdd_7200', reserve_fraction => 0, device => jsonb_build_object('capacity_bytes', 1000000));
SELECT tiered_storage.add_tiering_policy('big', '90 days', 'small');
CALL tiered_storage.sample();
));
my $in_small_sql =
  "SELECT count(*), COALESCE(sum(pg_table_size(c.oid)), 0) <= 1000000 FROM pg_class c JOIN pg_tablespace s ON s.oid = reltablespace WHERE relkind = 'r' AND spcname = 'small'";
$rows{big} = fingerprint($node, 'app', 'big');
$notices = notices_of($node, 'app', 'CALL tiered_storage.migrate()');
is($node->safe_psql('app', $in_small_sql),
	'2|t', 'a tier is filled up to its capacity and not beyond');
like(
	$notices,
	qr/WARNING:  53100: could not move public.big_\d: tier "small" is full: \d+ kB are needed, \d+ kB of the usable 977 kB are in use/,
	'what does not fit is reported');
is( $node->safe_psql(
		'app',
		"SELECT state, sqlstate, count(*) FROM _tiered_storage.moves WHERE relation ~ '^big' GROUP BY 1, 2 ORDER BY 1"
	),
	"done||2\nskipped|53100|2",
	'and recorded');
is(fingerprint($node, 'app', 'big'), $rows{big}, 'nothing is lost');
$node->safe_psql('app',
	"SELECT tiered_storage.alter_tier('small', device => jsonb_build_object('capacity_bytes', 2000000))"
);
notices_of($node, 'app', 'CALL tiered_storage.migrate()');
is( $node->safe_psql(
		'app',
		"SELECT count(*) FROM pg_class c JOIN pg_tablespace s ON s.oid = reltablespace WHERE relname ~ '^big' AND spcname = 'small'"
	),
	4,
	'with more room the rest follows');
is(fingerprint($node, 'app', 'big'), $rows{big}, 'with the same rows');
$node->safe_psql('app',
	"SELECT tiered_storage.remove_policy('big'); SELECT tiered_storage.alter_tier('slow', reserve_fraction => 0.9999)"
);
like(
	error_of(
		$node, 'app', "CALL tiered_storage.move_relation('big_1', 'slow')"),
	qr/ERROR:  53100: could not move public.big_1: not enough space in tablespace "slow": .* are needed.* and .* reserved, .* are free/,
	'the reserve of a file system is not touched');
$node->safe_psql('app',
	"SELECT tiered_storage.alter_tier('slow', reserve_fraction => 0)");

# ---------------------------------------------------------------------
note 'Changes while a move waits';
# ---------------------------------------------------------------------

# Runs statements in a transaction, lets a move of m_2001_<month> wait for it, runs
# $meanwhile, and commits.  Returns what the move had to say.
sub change_meanwhile
{
	my ($month, $change, $call, $meanwhile) = @_;
	my $session = $node->background_psql('app');

	create_partition($node, 'app', $month);
	$session->query_safe('BEGIN');
	$session->query_safe($change);
	my $run = start_sql($node, 'app', $patient, $call);
	$node->poll_query_until('app',
		"SELECT count(*) = 1 FROM _tiered_storage.move_progress m JOIN pg_locks l ON l.pid = m.pid WHERE NOT l.granted AND l.locktype = 'relation'"
	) or die 'no move waits for a lock';
	$meanwhile->() if defined $meanwhile;
	$session->query_safe('COMMIT');
	$session->quit;
	return finish_sql($run);
}

is( change_meanwhile(
		6,
		'DROP TABLE m_2001_06',
		"CALL tiered_storage.move_relation('m_2001_06', 'slow')"),
	'',
	'a table that is dropped meanwhile is no error');
is( $node->safe_psql(
		'app',
		"SELECT count(*) FROM _tiered_storage.moves WHERE relation ~ 'm_2001_06' AND state <> 'done'"
	),
	0,
	'nor a failure');
like(
	change_meanwhile(
		6,
		'DROP TABLE m_2001_06',
		'CALL tiered_storage.migrate()'),
	qr/^NOTICE:  00000: partitions due: 1; relations moved: 0, not moved: 0/,
	'nor for migrate()');

is( change_meanwhile(
		6,
		'ALTER TABLE m_2001_06 SET TABLESPACE slow',
		"CALL tiered_storage.move_relation('m_2001_06', 'slow')"),
	'',
	'a table that somebody else moves there meanwhile is no error');
is(tablespaces_of($node, 'app', 'm_2001_06'), 'slow', 'its indexes follow');
is( $node->safe_psql(
		'app',
		"SELECT string_agg(DISTINCT state, ',') FROM _tiered_storage.moves WHERE relation ~ 'm_2001_06'"
	),
	'done',
	'nothing has failed');

like(
	change_meanwhile(
		7,
		'ALTER TABLE m_2001_07 SET TABLESPACE disk',
		"CALL tiered_storage.move_relation('m_2001_07', 'slow')"),
	qr/m_2001_07: it was moved to another tablespace concurrently/,
	'a table that somebody moves elsewhere meanwhile');
like(tablespaces_of($node, 'app', 'm_2001_07'), qr/disk/, 'stays there');

is( change_meanwhile(
		8,
		'ALTER TABLE m_2001_08 RENAME TO m_renamed',
		"CALL tiered_storage.move_relation('m_2001_08', 'slow')"),
	'',
	'a table that is renamed meanwhile');
is(tablespaces_of($node, 'app', 'm_renamed'),
	'slow', 'is moved under its new name');
is(record_of('m_renamed'), 'done||1|0||', 'and the record shows that');

# Nothing but the file that is being made is there.
my $refusal;
is( change_meanwhile(
		9,
		'SELECT count(*) FROM m_2001_09',
		"CALL tiered_storage.move_relation('m_2001_09_pkey', 'doomed')",
		sub { $refusal = error_of($node, 'app', 'DROP TABLESPACE doomed') }),
	'',
	'somebody wants to drop the tablespace meanwhile');
like(
	$refusal,
	qr/ERROR:  55000: tablespace "doomed" is not empty/,
	'which is refused');
is(tablespace_of('m_2001_09_pkey'), 'doomed', 'so that the move succeeds');
is($node->safe_psql('app', 'SELECT count(*), count(value) FROM m_2001_09'),
	'200|200', 'nothing is lost');
indexes_are_sound('after that');
$node->safe_psql('app',
	"CALL tiered_storage.move_relation('m_2001_09_pkey', 'pg_default')");
$node->safe_psql('app', 'DROP TABLESPACE doomed');
$node->safe_psql('app', 'CALL tiered_storage.sample()');
is( $node->safe_psql(
		'app',
		"SELECT count(*) FROM _tiered_storage.tier_tablespace WHERE tablespace_name = 'doomed'"
	),
	0,
	'the next sample forgets a tablespace that is dropped');

# ---------------------------------------------------------------------
note 'Prepared transactions and transaction blocks';
# ---------------------------------------------------------------------

$node->safe_psql('app',
	"BEGIN; SELECT count(*) FROM m_2001_09; PREPARE TRANSACTION 'holder'");
like(
	error_of(
		$node,
		'app',
		"$impatient; CALL tiered_storage.move_relation('m_2001_09', 'slow')"),
	qr/ERROR:  55P03: could not move public.m_2001_09: could not lock the relation/,
	'a prepared transaction keeps a move away like others');
$node->safe_psql('app', "COMMIT PREPARED 'holder'");
$node->safe_psql('app',
	"CALL tiered_storage.move_relation('m_2001_09', 'slow')");
is(tablespaces_of($node, 'app', 'm_2001_09'),
	'slow', 'and no longer when it has ended');

foreach
  my $call ("CALL tiered_storage.move_relation('m_2001_09', 'pg_default')",
	'CALL tiered_storage.migrate()')
{
	like(
		error_of($node, 'app', "BEGIN; $call"),
		qr/ERROR:  25001: .* cannot run inside a transaction block or function/,
		"$call is refused in a transaction block");
	(my $quoted = $call) =~ s/'/''/g;
	like(
		error_of(
			$node,
			'app',
			"CREATE FUNCTION pg_temp.f() RETURNS void LANGUAGE plpgsql AS 'BEGIN $quoted; END'; SELECT pg_temp.f()"
		),
		qr/ERROR:  25001: .* cannot run inside a transaction block or function/,
		"$call is refused in a function");
}
is(tablespaces_of($node, 'app', 'm_2001_09'), 'slow', 'and nothing is moved');

# ---------------------------------------------------------------------
note 'Moves under load';
# ---------------------------------------------------------------------

# Two writers, for five seconds on any machine, while the table moves to and fro until they are done.
$node->safe_psql('app',
	'CREATE TABLE m_load (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, value text)'
);
my $script = $node->basedir . '/load.sql';
append_to_file($script,
	"INSERT INTO m_load (value) VALUES (md5(random()::text));\nUPDATE m_load SET value = value || 'x' WHERE id = (SELECT max(id) / 2 FROM m_load);\n"
);
my ($load_out, $load_err) = ('', '');
my $load = IPC::Run::start(
	[
		$node->installed_command('pgbench'),
		'-n', '-c', 2, '-t', 500, '-R', 200, '-f', $script,
		$node->connstr('app')
	],
	'<',
	\undef,
	'>',
	\$load_out,
	'2>',
	\$load_err,
	IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
my $moves = 0;
foreach my $round (1 .. 500)
{
	my $target = $round % 2 ? 'slow' : 'pg_default';
	my ($rc, $out, $err) = $node->psql('app',
		"$impatient; CALL tiered_storage.move_relation('m_load', '$target')");
	$moves++ if $rc == 0;
	die $err
	  if $rc != 0
	  && $err !~ /could not lock the relation|too much left to do/;
	last if $node->safe_psql('app', 'SELECT count(*) FROM m_load') >= 1000;
}
$load->finish;
unlike($load_err, qr/ERROR/, 'writers notice nothing of moves');
cmp_ok($moves, '>', 1, 'though there were some');
is( $node->safe_psql(
		'app', 'SELECT count(*), count(DISTINCT id) FROM m_load'),
	'1000|1000',
	'every row is there once');
indexes_are_sound('under load');
is( $node->safe_psql(
		'app',
		"SELECT count(*) FROM _tiered_storage.moves WHERE state IN ('running', 'interrupted')"
	),
	0,
	'no move is left open');
no_file_is_left('after the load');

# ---------------------------------------------------------------------
note 'wal_level = minimal';
# ---------------------------------------------------------------------

$node->append_conf('postgresql.conf',
	"wal_level = minimal\nmax_wal_senders = 0");
$node->restart;
my $at = tablespaces_of($node, 'app', 'm_load');
my $away = $at eq 'slow' ? 'pg_default' : 'slow';
like(
	error_of(
		$node, 'app', "CALL tiered_storage.move_relation('m_load', '$away')"),
	qr/ERROR:  0A000: could not move public.m_load: it cannot be moved online: wal_level is minimal.*HINT:  .*allow_lock/s,
	'nothing can be moved online, which is said');
is(tablespaces_of($node, 'app', 'm_load'), $at, 'nothing is moved');
$node->safe_psql('app',
	"CALL tiered_storage.move_relation('m_load', '$away', allow_lock => true)"
);
is(tablespaces_of($node, 'app', 'm_load'),
	$away, 'a lock for the whole copy can be allowed');
is( $node->safe_psql(
		'app', 'SELECT count(*), count(DISTINCT id) FROM m_load'),
	'1000|1000',
	'every row is there once');
is( $node->safe_psql(
		'app',
		"SELECT method FROM _tiered_storage.moves WHERE relation = 'm_load' ORDER BY move_id DESC LIMIT 1"
	),
	'set tablespace',
	'and the record says how');

$node->stop;
done_testing();

# Moves that end in the middle: at each of the points where the mover can be
# stopped it is killed, the server with it, or it is cancelled, terminated, or
# broken.  Whatever happens, nobody's rows are touched, each relation has one
# file, and in the end no file is left that nobody has.
#
# Made up in the tables, since no call makes it in the time of a test: moves of another
# time, size or end.
#
# On every major.  In make test.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

plan skip_all => 'no debug build of the library'
  unless $ENV{TIER_DEBUG_LIBDIR};

# In the order in which movers are started, see stop_move.
my @points =
  qw(discarding committed swapped locked caught_up catching_up copied copying file_created registered);
my @other_points = grep { $_ ne 'swapped' } @points;
my @kinds = sort keys %TierTest::kinds;
my @tables = map { "at_$_" } @points;

my $node = new_node(
	'main',
	conf => q(
max_connections = 60
checkpoint_timeout = '1h'
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = '1s'
tiered_storage.max_movers = 20
restart_after_crash = on
log_statement = none
));
$node->start;
create_in_place_tablespace($node, 'slow');
$node->safe_psql('postgres', 'CREATE DATABASE app');
prepare_matter($node, 'app');
create_matter($node, 'app', @tables);
$node->safe_psql('app',
	"CREATE EXTENSION tiered_storage; SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0)"
);

# One mover at each point; each round has other kinds of relations at them.
sub stop_everywhere
{
	my ($stops, $round, $target, @at) = @_;
	my @moves;

	# Small indexes have nothing to catch up with.
	my @kind_at = map {
		$at[$_] eq 'catching_up'
		  ? 'heap'
		  : $kinds[ ($_ + 2 * $round) % @kinds ]
	} 0 .. $#at;

	# Where it waits for a row, the session that holds it does nothing else.
	push @moves,
	  stop_move($node, 'app',
		$at[$_] eq 'committed' ? $stops->{for_row} : $stops,
		$at[$_], $kind_at[$_], $tables[$_], $target)
	  foreach 0 .. $#at;
	return @moves;
}

# A session that holds stop points, and one that keeps rows locked.
sub open_stops
{
	my $stops = new_stops($node, 'app');

	$stops->{for_row} = new_stops($node, 'app');
	return $stops;
}

sub close_stops
{
	my ($stops) = @_;

	foreach ($stops->{for_row}, $stops)
	{
		eval { $_->quit };
	}
	return;
}

# Waits until the writers have written something since now.
sub wait_for_writers
{
	my ($stops) = @_;
	my $from = $stops->query_safe('SELECT last_value FROM change_number');

	wait_for($stops, "SELECT last_value > $from + 20 FROM change_number");
	return;
}

# A client is told that its session ends before it has cleaned up.
sub wait_for_end
{
	my ($stops) = @_;

	wait_for($stops,
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE query ~ '^CALL tiered_storage.move_relation'"
	);
	return;
}

sub rows_are_sound
{
	my ($name) = @_;

	is(differences($node, 'app', @tables),
		'', "$name: all rows are there, by table and by index");
	is(unsound_indexes($node, 'app', @tables),
		'', "$name: tables and indexes are sound");
	is( $node->safe_psql(
			'app', q(SELECT string_agg(c.relname, ' ' ORDER BY c.relname)
				FROM pg_class c JOIN pg_class t ON t.oid = c.reltoastrelid
				JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class x ON x.oid = i.indexrelid
				WHERE (t.reltablespace, x.reltablespace) <> (c.reltablespace, c.reltablespace))
		),
		'',
		"$name: each table is where its TOAST table is");
	return;
}

# What a dead mover has left is removed by a cycle of the worker ("worker"), or
# by the next call that moves something ("call"); the entry of a removed file goes
# when the file has gone, with a checkpoint.
sub nothing_is_left
{
	my ($name, $sweeper) = @_;
	my $sweep =
	  $sweeper eq 'worker'
	  ? sub { run_cycle($node, 'app') }
	  : sub { $node->safe_psql('app', 'CALL tiered_storage.migrate()') };

	$sweep->();
	is(stray_files($node, 'app'), '', "$name: no file that no relation has");
	$sweep->();
	is( $node->safe_psql(
			'app', 'SELECT count(*) FROM _tiered_storage.move_file'),
		0,
		"$name: no file is registered");
	return;
}

sub records_say_so
{
	my ($name, $expected, @moves) = @_;

	foreach my $move (@moves)
	{
		like(
			record_of_move($node, 'app', $move->{relation}),
			# After a crash nobody has looked yet.
			$move->{point} eq 'committed' && $name ne 'crashed'
			? qr/^done\|$/
			: $expected,
			"$name at $move->{point} of $move->{kind}: the record says so");
	}
	return;
}

# Stops the mover that stands at "copying" by a pause instead.
sub pause_at_copying
{
	my ($stops, @moves) = @_;
	my ($move) = grep { $_->{point} eq 'copying' } @moves;

	# Without the NOTICE that names the session.
	$stops->query_safe('SET client_min_messages = warning');
	is($stops->query_safe('SELECT tiered_storage.pause()'),
		't', 'moves are paused');
	let_go($stops, 'copying');
	wait_for($stops,
		"SELECT phase = 'paused' FROM _tiered_storage.move_progress WHERE pid = $move->{pid}"
	);
	return;
}

sub moves_now
{
	my ($name, $target) = @_;

	$node->safe_psql(
		'app',
		join ';',
		map { "CALL tiered_storage.move_relation('$_', '$target')" } @tables);
	is(tablespaces_of($node, 'app', @tables),
		$target, "$name: a move of the same relations succeeds");
	is(differences($node, 'app', @tables),
		'', "$name, moved: all rows are there, by table and by index");
	$node->safe_psql('app', join ';', map { "VACUUM $_" } @tables);
	is(stray_files($node, 'app'),
		'', "$name, moved: no file that no relation has");
	return;
}

# ---------------------------------------------------------------------
note 'What the checks are worth';
# ---------------------------------------------------------------------

is(differences($node, 'app', @tables), '', 'tables and twins are the same');
foreach my $index (qw(pkey hash gin gist spgist brin))
{
	my %condition = (
		pkey => 'id = 5',
		hash => "h = 'x'",
		gin => "a \@> '{1}'",
		gist => "p <\@ box '((0, 0), (1, 20))'",
		spgist => "s = 'k5'",
		brin => 'b = 5');

	like(
		$node->safe_psql(
			'app',
			"SET enable_seqscan = off; EXPLAIN SELECT count(*) FROM at_copied WHERE $condition{$index}"
		),
		qr/at_copied_$index/,
		"the question to the $index index asks it");
}
$node->safe_psql('app',
	"CREATE TABLE probe AS SELECT 1; ALTER TABLE at_copied DISABLE TRIGGER twin; UPDATE at_copied SET b = 0 WHERE id = 7"
);
isnt(differences($node, 'app', 'at_copied'), '', 'a difference is found');
$node->safe_psql('app',
	'UPDATE at_copied SET b = 7 WHERE id = 7; ALTER TABLE at_copied ENABLE TRIGGER twin'
);
my ($probe) = grep { !/_/ } relation_files($node, 'app');
append_to_file($node->data_dir . '/' . ($probe =~ s!\d+$!999999999!r), 'x');
like(stray_files($node, 'app'), qr/999999999/, 'a stray file is found');
unlink $node->data_dir . '/' . ($probe =~ s!\d+$!999999999!r);
is(stray_files($node, 'app'), '', 'and no other');

# ---------------------------------------------------------------------
note 'Cancelled and terminated';
# ---------------------------------------------------------------------

my $stops = open_stops();
my $writers = start_writers($node, 'app', 200, @tables);
my @moves = stop_everywhere($stops, 0, 'slow', @points);
wait_for_writers($stops);
foreach my $move (@moves)
{
	# That one is being cancelled already.
	if ($move->{point} eq 'discarding')
	{
		let_go($stops, 'discarding');
	}
	else
	{
		$stops->query_safe("SELECT pg_cancel_backend($move->{pid})");

		# A move that is done is recorded in spite of it.
		$stops->{for_row}->query_safe('COMMIT')
		  if $move->{point} eq 'committed';
	}
	like(
		finish_sql($move->{run}),
		qr/57014: canceling statement/,
		"cancelled at $move->{point} of $move->{kind}: it ends");
}
stop_writers($writers);
close_stops($stops);
is(stray_files($node, 'app'), '', 'cancelled: each removes its file at once');
rows_are_sound('cancelled');
records_say_so('cancelled', qr/^failed\|57014$/, @moves);
nothing_is_left('cancelled', 'call');
moves_now('cancelled', 'slow');

$stops = open_stops();
$writers = start_writers($node, 'app', 200, @tables);
@moves = stop_everywhere($stops, 1, 'pg_default', @points);
pause_at_copying($stops, @moves);
wait_for_writers($stops);
foreach my $move (@moves)
{
	$stops->query_safe("SELECT pg_terminate_backend($move->{pid})");
	like(
		finish_sql($move->{run}),
		qr/57P01: terminating connection/,
		"terminated at $move->{point} of $move->{kind}: it ends");
}
wait_for_end($stops);
is($stops->query_safe('SELECT tiered_storage.resume()'),
	't', 'moves are not paused any more');
stop_writers($writers);
close_stops($stops);
is(stray_files($node, 'app'), '',
	'terminated: each removes its file at once');
rows_are_sound('terminated');
nothing_is_left('terminated', 'worker');
records_say_so('terminated', qr/^failed\|/, @moves);
moves_now('terminated', 'pg_default');

# ---------------------------------------------------------------------
note 'Broken';
# ---------------------------------------------------------------------

foreach my $fault ('error', 'fatal')
{
	foreach my $number (0 .. $#points)
	{
		my ($point, $table) = ($points[$number], $tables[$number]);

		# Reached by something else that goes wrong, and by that alone.
		next if $point eq 'discarding' || $point eq 'committed';

		my $move = start_move($node, 'app', $table, 'slow',
			"SET tiered_storage.debug_fault = '$point:$fault'");
		if ($point eq 'catching_up')
		{
			finish_sql($move);
			next;
		}
		like(
			finish_sql($move),
			$fault eq 'error'
			? qr/ERROR:  .*fault at "$point"/
			: qr/FATAL:  .*fault at "$point"/,
			"$fault at $point: it ends");
	}
	$stops = open_stops();
	wait_for_end($stops);
	close_stops($stops);
	is(stray_files($node, 'app'), '',
		"$fault: each removes its file at once");
}
rows_are_sound('broken');
nothing_is_left('broken', 'worker');
moves_now('broken', 'slow');
$node->safe_psql('app', join ';',
	map { "CALL tiered_storage.move_relation('$_', 'pg_default')" } @tables);

# ---------------------------------------------------------------------
note 'Killed, the whole server with it';
# ---------------------------------------------------------------------

$stops = open_stops();
$writers = start_writers($node, 'app', 200, @tables);
@moves = stop_everywhere($stops, 2, 'slow', @other_points);
wait_for_writers($stops);
my ($victim) = grep { $_->{point} eq 'copying' } @moves;
my $log_offset = -s $node->logfile;
kill 'KILL', $victim->{pid} or die "could not kill $victim->{pid}: $!";
finish_sql($_->{run}) foreach @moves;
$writers->{handle}->finish;
close_stops($stops);
$node->poll_query_until('postgres', undef, '')
  or die 'the server did not come back';
rows_are_sound('killed');
nothing_is_left('killed', 'worker');
like(
	log_lines($node, $log_offset, qr/removing \d+ files of unfinished moves/),
	qr/removing \d+ files/,
	'killed: there was something to remove, or this proves nothing');
records_say_so('killed', qr/^failed\|/, @moves);
moves_now('killed', 'slow');

# The next start is without preload, so that no worker is there to clean up.
$stops = open_stops();
$writers = start_writers($node, 'app', 200, @tables);
@moves = stop_everywhere($stops, 3, 'pg_default', @points);
pause_at_copying($stops, @moves);
wait_for_writers($stops);
my $crashes =
  $node->safe_psql('app', 'SELECT sum(crashes) FROM _tiered_storage.move');
$node->stop('immediate');
finish_sql($_->{run}) foreach @moves;
$writers->{handle}->finish;
close_stops($stops);
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "''");
$node->start;
isnt(stray_files($node, 'app'),
	'', 'crashed: something is left behind, or this proves nothing');
rows_are_sound('crashed');
records_say_so('crashed', qr/^interrupted\|/, @moves);
is( $node->safe_psql(
		'app',
		'CALL tiered_storage.sample(); SELECT sum(crashes) FROM _tiered_storage.move'
	),
	$crashes + 1,
	'one crash counts once, whatever was running');
is($node->safe_psql('app', 'SELECT _tiered_storage.is_paused()'),
	't', 'moves are still paused');
my $paused = start_move($node, 'app', 'at_copied', 'pg_default');
$node->poll_query_until('app',
	"SELECT phase = 'paused' FROM _tiered_storage.move_progress WHERE relation = 'at_copied'"
) or die 'the move does not pause';
is($node->safe_psql('app', 'SELECT tiered_storage.resume()'),
	't', 'until somebody lets them go on');
is(finish_sql($paused), '', 'and then they do');
nothing_is_left('crashed', 'call');
moves_now('crashed', 'pg_default');

# ---------------------------------------------------------------------
note 'The worker';
# ---------------------------------------------------------------------

$node->safe_psql('postgres', 'CREATE DATABASE measured');
prepare_matter($node, 'measured');
create_measurements($node, 'measured');
$node->safe_psql(
	'measured', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
SELECT tiered_storage.add_tiering_policy('measure', '90 days', 'slow');
));
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries',
	"'tiered_storage'");
$node->adjust_conf('postgresql.conf', 'tiered_storage.auto_migrate',
	'policies');
$node->adjust_conf('postgresql.conf', 'tiered_storage.sample_interval',
	"'1s'");
$node->restart;

my $month = 0;
foreach my $case (
	[ 'cancelled', 'copying' ],
	[ 'terminated', 'locked' ],
	[ 'killed', 'swapped' ])
{
	my ($how, $point) = @$case;
	my $table = sprintf 'm_2001_%02d', ++$month;

	$stops = new_stops($node, 'measured');
	hold($stops, $point);
	create_partition($node, 'measured', $month);
	my $rows = fingerprint($node, 'measured', $table);
	my $pid = wait_stopped($stops, $point);
	if ($how eq 'killed')
	{
		kill 'KILL', $pid or die "could not kill $pid: $!";
		$node->poll_query_until('postgres', undef, '')
		  or die 'the server did not come back';
		eval { $stops->quit };
	}
	else
	{
		$stops->query_safe(
			$how eq 'cancelled'
			? "SELECT pg_cancel_backend($pid)"
			: "SELECT pg_terminate_backend($pid)");
		let_go($stops, $point);
		wait_for($stops,
			"SELECT failures = 1 FROM _tiered_storage.moves WHERE relation = '$table'"
		);
		$stops->query_safe(
			"UPDATE _tiered_storage.move SET next_attempt_at = now() WHERE state = 'failed'"
		);
		$stops->quit;
	}
	ok( $node->poll_query_until(
			'measured',
			"SELECT count(*) = 3 AND sum(failures) = 1 FROM _tiered_storage.moves WHERE relation ~ '^$table' AND state = 'done'"
		),
		"$how at $point: the worker moves it all the same, later");
	is(fingerprint($node, 'measured', $table),
		$rows, "$how at $point: all rows are there");
	run_cycle($node, 'measured');
	is(stray_files($node, 'measured'),
		'', "$how at $point: no file that no relation has");
	run_cycle($node, 'measured');
	is( $node->safe_psql(
			'measured', 'SELECT count(*) FROM _tiered_storage.move_file'),
		0,
		"$how at $point: no file is registered");
}

# What nobody knows is found, and left to the person who looks.
my $directory =
	$node->data_dir
  . '/base/'
  . $node->safe_psql('measured',
	'SELECT oid FROM pg_database WHERE datname = current_database()');
my $orphans_sql =
  "SELECT tablespace_name, file_number, size_bytes, is_registered FROM _tiered_storage.orphaned_files()";
append_to_file("$directory/$_", 'x' x 8192)
  foreach qw(4000000001 4000000001_vm 4000000002 t1_4000000003);
utime 0, 0, map { "$directory/$_" } qw(4000000001 4000000001_vm);
is( $node->safe_psql('measured', $orphans_sql),
	'pg_default|4000000001|16384|f',
	'orphaned_files(): what is old and has no relation');
run_cycle($node, 'measured');
ok(-e "$directory/4000000001", 'and it is kept');

$node->stop;
done_testing();

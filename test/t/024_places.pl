# Who gets a place to move: one owner does not take them all, whoever waits lets
# others go first, and samples wait for no move, of any database.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

plan skip_all => 'no debug build of the library'
  unless $ENV{TIER_DEBUG_LIBDIR};

my $node = new_node(
	'places', conf => qq(
tiered_storage.max_movers = 2
tiered_storage.max_workers = 1
tiered_storage.sample_interval = '1s'
tiered_storage.auto_migrate = off
tiered_storage.migrate_interval = '1s'
));
$node->start;
create_in_place_tablespace($node, 'slow');
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach qw(app other);
prepare_matter($node, 'app');
$node->safe_psql('other', 'CREATE EXTENSION tiered_storage');
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
CREATE ROLE owner;
GRANT CREATE ON TABLESPACE slow, pg_default TO owner;
GRANT USAGE, CREATE ON SCHEMA public TO owner;
GRANT USAGE ON SCHEMA tiered_storage TO owner;
GRANT EXECUTE ON PROCEDURE tiered_storage.move_relation TO owner;
SET ROLE owner;
CREATE TABLE one AS SELECT i FROM generate_series(1, 1000) i;
CREATE TABLE two AS SELECT i FROM generate_series(1, 1000) i;
RESET ROLE;
CREATE TABLE mine AS SELECT i FROM generate_series(1, 1000) i;
CREATE TABLE also_mine AS SELECT i FROM generate_series(1, 1000) i;
CREATE TABLE forbidden AS SELECT i FROM generate_series(1, 1000) i;
));
create_measurements($node, 'app', 1);
my $stops = new_stops($node, 'app');

# The phase of the move of a relation.
sub wait_phase
{
	my ($relation, $phase) = @_;

	wait_for($stops,
		"SELECT count(*) = 1 FROM _tiered_storage.move_progress WHERE relation = '$relation' AND phase = '$phase'"
	);
	return;
}

sub where_is
{
	my ($relation) = @_;

	return $node->safe_psql('app',
		"SELECT COALESCE(spcname, 'pg_default') FROM pg_class c LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace WHERE c.oid = '$relation'::regclass"
	);
}

my @as_owner = (
	"SET tiered_storage.move_lock_timeout = '20ms'",
	'SET ROLE owner',
	'SET tiered_storage.debug_lock_attempts = 1000');

# ---------------------------------------------------------------------
# One at a time
# ---------------------------------------------------------------------

hold($stops, 'copying');
my $one = start_move($node, 'app', 'one', 'slow', @as_owner);
wait_stopped($stops, 'copying');
my $two = start_move($node, 'app', 'two', 'slow', @as_owner);
wait_phase('two', 'queued');
my $mine = start_move($node, 'app', 'mine', 'slow');
wait_for($stops,
	q(SELECT count(*) = 2 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND classid = 1953064306)
);
wait_phase('two', 'queued');
pass('an owner has one place; an administrator gets the other one');
my $also = start_move($node, 'app', 'also_mine', 'slow');
wait_phase('also_mine', 'queued');
pass('there are no more than max_movers');

# What was allowed before the wait may not be after it.
my $forbidden = start_move($node, 'app', 'forbidden', 'slow');
wait_phase('forbidden', 'queued');
$node->safe_psql('app', "SELECT tiered_storage.pin('forbidden')");
let_go($stops, 'copying');
like(finish_sql($forbidden), qr/pinned/,
	'a move that was forbidden while it waited is not made');
is( $node->safe_psql(
		'app',
		q(SELECT state, coalesce(copied_bytes, 0) FROM _tiered_storage.move WHERE relation_name LIKE '%forbidden')
	),
	'skipped|0',
	'and nothing of it is copied');
is(finish_sql($_), '', 'the moves are done') foreach $one, $two, $mine, $also;
is(where_is($_), 'slow', "$_ has moved") foreach qw(one two mine also_mine);

# ---------------------------------------------------------------------
# Who waits for a lock
# ---------------------------------------------------------------------

reload_with($node, 'tiered_storage.max_movers' => 1);
my $holder = $node->background_psql('app');
$holder->query_safe('BEGIN; LOCK TABLE one IN ROW EXCLUSIVE MODE');
hold($stops, 'backing_off');
$one = start_move($node, 'app', 'one', 'pg_default', @as_owner);
wait_stopped($stops, 'backing_off');
like(
	notices_of(
		$node, 'app',
		q(CALL tiered_storage.move_relation('mine', 'pg_default'))),
	qr/NOTICE:  00000: moved table public\.mine /,
	'the only place is free while its mover waits for a lock');
is(where_is('mine'), 'pg_default', 'so others move');
let_go($stops, 'backing_off');
$holder->query_safe('COMMIT');
$holder->quit;
is(finish_sql($one), '', 'it goes on when the lock is free');
is(where_is('one'), 'pg_default', 'and ends');

# Paused in the middle, where a lock keeps it from its end.
my $offset = -s $node->logfile;
$holder = $node->background_psql('app');
$holder->query_safe('BEGIN; LOCK TABLE one IN ROW EXCLUSIVE MODE');
hold($stops, 'backing_off');
$one = start_move($node, 'app', 'one', 'slow', @as_owner);
wait_stopped($stops, 'backing_off');
$node->safe_psql('app', 'SELECT tiered_storage.pause()');
let_go($stops, 'backing_off');
wait_phase('one', 'paused');
$holder->query_safe('COMMIT');
$holder->quit;
$node->safe_psql('app', 'SELECT tiered_storage.resume()');
like(
	finish_sql($one),
	qr/^(?!.*ERROR).*moves are paused/s,
	'a move that was paused gets a place again');
is( $node->safe_psql(
		'app',
		'SELECT waited_ms > 0, waited_ms < elapsed_ms FROM _tiered_storage.moves ORDER BY move_id DESC LIMIT 1'
	),
	't|t',
	'and says which part of its time that was, so that no forecast goes by it'
);

# The same in the record, in the log and on the screen.
my ($elapsed_ms, $waited_ms) = split /\|/,
  $node->safe_psql('app',
	'SELECT elapsed_ms, waited_ms FROM _tiered_storage.moves ORDER BY move_id DESC LIMIT 1'
  );
my $waited_s = sprintf '%.3f', $waited_ms / 1000;
like(
	$one->{err},
	qr/moved table public\.one .* in [\d.]+ s, paused or waiting for $waited_s s, locked for /,
	'its NOTICE leaves that out of its time, and names it');
like(
	log_lines($node, $offset, qr/LOG:  moved table public\.one /),
	qr/ in (\S+) s, paused or waiting for $waited_s s, locked for .*\n?\z/,
	'so does the server log');
my ($logged_s) =
  log_lines($node, $offset, qr/LOG:  moved table public\.one /) =~
  /.* in (\S+) s, paused/s;
cmp_ok(abs($logged_s + $waited_s - $elapsed_ms / 1000),
	'<', 0.0011, 'both are the time of the record');

# ---------------------------------------------------------------------
# Who fails between two attempts
# ---------------------------------------------------------------------

# The session goes on; the next move must find the only place free, and the record complete.
sub is_over
{
	my ($name, $relation, $expected) = @_;

	is( $node->safe_psql(
			'app',
			"SELECT state, sqlstate, elapsed_ms IS NOT NULL FROM _tiered_storage.moves WHERE relation = '$relation' ORDER BY move_id DESC LIMIT 1"
		),
		$expected,
		"$name: the record is complete");
	is( $node->safe_psql(
			'app', 'SELECT count(*) FROM _tiered_storage.move_progress'),
		0,
		"$name: no move is under way");
	foreach my $target (qw(pg_default slow))
	{
		like(
			notices_of(
				$node, 'app',
				"CALL tiered_storage.move_relation('also_mine', '$target')"),
			qr/moved table public\.also_mine /,
			"$name: somebody else moves to $target");
	}
	return;
}

$node->safe_psql('app', 'CREATE TABLE wide (t text)');
$node->safe_psql('app', 'SELECT tiered_storage.pause()');
my $mover = $node->background_psql('app', on_error_stop => 0);
my $pid = $mover->query_safe('SELECT pg_backend_pid()');
$mover->query_until(qr/begun/,
	"\\echo begun\nCALL tiered_storage.move_relation('wide', 'slow');\n");
wait_phase('wide', 'paused');
$stops->query_safe('BEGIN');
$stops->query_safe('LOCK TABLE pg_catalog.pg_index IN ACCESS EXCLUSIVE MODE');
$stops->query_safe('SELECT tiered_storage.resume()');
wait_for($stops,
	"SELECT count(*) > 0 FROM pg_locks WHERE pid = $pid AND NOT granted AND relation = 'pg_index'::regclass"
);
$stops->query_safe("SELECT pg_cancel_backend($pid)");
wait_for($stops,
	"SELECT count(*) = 0 FROM pg_locks WHERE pid = $pid AND NOT granted AND relation = 'pg_index'::regclass"
);
$stops->query_safe('ROLLBACK');
wait_for($stops,
	"SELECT state = 'idle' FROM pg_stat_activity WHERE pid = $pid");
is_over('a cancel while a catalog is locked', 'wide', 'failed|57014|t');
$mover->quit;

foreach
  my $case ([ 'registered', 'failed|XX000|t' ], [ 'recorded', 'done||t' ])
{
	my ($point, $expected) = @$case;

	$mover = $node->background_psql('app', on_error_stop => 0);
	$mover->query_safe("SET tiered_storage.debug_fault = '$point:error'");
	$mover->query("CALL tiered_storage.move_relation('wide', 'slow')");
	is_over("an error at $point", 'wide', $expected);
	$mover->quit;
}

# ---------------------------------------------------------------------
# Who has waited is asked again
# ---------------------------------------------------------------------

# What is due waits for the place of another move, and meanwhile something changes.
$node->safe_psql(
	'app', q(
CREATE TABLE asked (d date) PARTITION BY RANGE (d);
CREATE TABLE asked_1 PARTITION OF asked FOR VALUES FROM ('2001-01-01') TO ('2002-01-01');
INSERT INTO asked VALUES ('2001-05-05');
SELECT tiered_storage.add_tiering_policy('asked', '1 day', 'slow');
));

sub change_in_queue
{
	my ($name, $change, $target, $record) = @_;

	hold($stops, 'copying');
	my $first = start_move($node, 'app', 'also_mine', $target);
	wait_stopped($stops, 'copying');
	my $second = start_sql($node, 'app', 'CALL tiered_storage.migrate()');
	wait_phase('asked_1', 'queued');
	$node->safe_psql('app', $change);
	let_go($stops, 'copying');
	is(finish_sql($first), '', "$name: the move before it ends");
	unlike(finish_sql($second), qr/ERROR/,
		"$name: the one that has waited does, too");
	is(where_is('asked_1'), 'pg_default', "$name: and has moved nothing");
	like(
		$node->safe_psql(
			'app',
			"SELECT state, COALESCE(error, reason) FROM _tiered_storage.moves WHERE relation = 'asked_1' ORDER BY move_id DESC LIMIT 1"
		),
		$record,
		"$name: which the record says");
	return;
}

# A window that is open now, and one that is not.
$node->safe_psql('app',
	"SELECT tiered_storage.add_move_window('open', NULL, '0:00', '24:00', 'UTC'), tiered_storage.add_move_window('never', NULL, '0:00', '24:00', 'UTC', enabled => false)"
);
change_in_queue(
	'a window that closes',
	"SELECT tiered_storage.remove_move_window('open')",
	'pg_default',
	qr/^skipped\|waiting: all move windows are disabled/);
$node->safe_psql('app', "SELECT tiered_storage.remove_move_window('never')");
change_in_queue(
	'a policy that is removed',
	"SELECT tiered_storage.remove_policy('asked')",
	'slow',
	qr/^skipped\|the move is no longer requested/);

# ---------------------------------------------------------------------
# A worker whose move is queued
# ---------------------------------------------------------------------

sub samples_of
{
	return $node->safe_psql($_[0],
		'SELECT samples FROM _tiered_storage.sampler');
}

$node->safe_psql('app',
	"SELECT tiered_storage.add_tiering_policy('measure', '1 day', 'slow')");
hold($stops, 'copying');
$mine = start_move($node, 'app', 'mine', 'slow');
wait_stopped($stops, 'copying');
reload_with($node, 'tiered_storage.auto_migrate' => 'policies');
wait_for($stops,
	q(SELECT count(*) = 1 FROM _tiered_storage.move_progress p JOIN pg_stat_activity a USING (pid) WHERE a.backend_type = 'tiered_storage worker' AND p.phase = 'queued')
);
my %before = map { $_ => samples_of($_) } qw(app other);

foreach my $db (qw(app other))
{
	$node->poll_query_until($db,
		"SELECT samples > $before{$db} + 1 FROM _tiered_storage.sampler")
	  or die "no sample of $db";
	pass("$db is sampled while the worker of app waits for a place");
}
is( $node->safe_psql(
		'app',
		q(SELECT count(*) FROM _tiered_storage.move_progress p JOIN pg_stat_activity a USING (pid) WHERE a.backend_type = 'tiered_storage worker' AND p.phase = 'queued')
	),
	'1',
	'which it still does');
let_go($stops, 'copying');
is(finish_sql($mine), '', 'the one before it ends');
$node->poll_query_until('app',
	q(SELECT count(*) = 0 FROM _tiered_storage.evaluate_policies() WHERE verdict = 'due')
) or die 'the worker does not move';
is(tablespaces_of($node, 'app', 'm_2001_01'),
	'slow', 'and the worker moves what is due');
$stops->quit;
done_testing();

# The end of a batch: it can be undone from then on, however it ends, and not before.

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

# A worker looks when it is told to.
my $node = new_node(
	'main', conf => q(
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = 1
));
$node->start;
create_in_place_tablespace($node, 'fast', 'slow');
create_databases($node, 'app');

# Nothing has TOAST: each relation is one file.
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('ssd', '{fast}', profile => 'nvme', reserve_fraction => 0);
SELECT tiered_storage.add_tier('hdd', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
CREATE TABLE d (d date, n int) PARTITION BY RANGE (d);
SELECT tiered_storage.add_tiering_policy('d', '30 days', 'hdd');
));

my $stops = new_stops($node, 'app');

# A partition that is due, with rows.
sub create_due
{
	foreach my $n (@_)
	{
		my ($from, $to) = (2000 + $n, 2001 + $n);

		$node->safe_psql(
			'app', qq(
CREATE TABLE d_$n PARTITION OF d FOR VALUES FROM ('$from-01-01') TO ('$to-01-01') TABLESPACE fast;
INSERT INTO d SELECT '$from-01-01', i FROM generate_series(1, 1000) i;
));
	}
	return;
}

sub ends
{
	my ($moved, $what) = @_;
	my ($batch, $done) =
	  split /\|/,
	  $node->safe_psql('app',
		q(SELECT batch_id, count(*) FILTER (WHERE state = 'done') FROM _tiered_storage.moves GROUP BY batch_id ORDER BY batch_id DESC LIMIT 1)
	  );

	is($done, $moved, $what);
	unlike(error_of($node, 'app', foresee_undo($batch)),
		qr/under way/, '... and it is under way no more');
	return;
}

sub foresee_undo
{
	my ($batch_id) = @_;

	return "CALL tiered_storage.undo_move($batch_id, dry_run => true)";
}

# While a batch goes on that has moved something: it cannot be undone, nor foreseen.
sub cannot_be_undone
{
	my ($what) = @_;
	my $running = $stops->query_safe(
		q(SELECT max(batch_id) FROM _tiered_storage.move_batches));

	like(
		error_of($node, 'app', $_),
		qr/ERROR:  55006: batch $running is still running/,
		"$what: $_")
	  foreach foresee_undo($running),
	  "CALL tiered_storage.undo_move($running)";
	return;
}

# It has not ended before its process has gone.
sub terminate
{
	my ($stops, $pid) = @_;

	$stops->query_safe("SELECT pg_terminate_backend($pid)");
	wait_for($stops,
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid");
	return;
}

my ($run, $pid);
my $cancelled = 'canceling statement due to user request';

# ---------------------------------------------------------------------
note 'migrate()';
# ---------------------------------------------------------------------

# One has moved, the second is under way, the third not tried.
create_due(1 .. 3);
hold($stops, 'copied');
$run = start_sql($node, 'app', 'CALL tiered_storage.migrate()');
wait_stopped($stops, 'copied');
$pid = step_to($stops, 'copied', 'registered');
cannot_be_undone('while it moves something');
$stops->query_safe("SELECT pg_cancel_backend($pid)");
like(finish_sql($run), qr/ERROR:  57014: $cancelled/, 'a cancel ends a run');
ends(1, 'what had moved counts');
let_go($stops, 'registered');

# A cancel that comes when the relation has moved.
hold($stops, 'recorded');
$run = start_sql($node, 'app', 'CALL tiered_storage.migrate()');
$pid = wait_stopped($stops, 'recorded');
my $now = $stops->query_safe('SELECT clock_timestamp()');
$stops->query_safe("SELECT pg_cancel_backend($pid)");

# The record is completed all the same, past the same point.
wait_for($stops,
	"SELECT count(*) = 1 FROM pg_locks WHERE pid = $pid AND NOT granted AND waitstart > '$now'"
);
let_go($stops, 'recorded');
finish_sql($run);
ends(1, 'what has moved counts, though the run ended with it');

hold($stops, 'copied');
$run = start_sql($node, 'app', 'CALL tiered_storage.migrate()');
terminate($stops, wait_stopped($stops, 'copied'));
finish_sql($run);
ends(0, 'nothing that was not moved does, when its session is terminated');
let_go($stops, 'copied');
$node->safe_psql('app', 'CALL tiered_storage.migrate()');
ends(1, 'one that comes to its end');

# ---------------------------------------------------------------------
note 'Between two moves';
# ---------------------------------------------------------------------

create_due(8, 9);
hold($stops, 'copied');
$run = start_sql($node, 'app', 'CALL tiered_storage.migrate()');
wait_stopped($stops, 'copied');
$pid = step_to($stops, 'copied', 'between_moves');
is( $stops->query_safe(
		q(SELECT count(*) FROM _tiered_storage.move WHERE state = 'running')),
	0,
	'nothing is being moved');
cannot_be_undone('while it moves nothing');
terminate($stops, $pid);
finish_sql($run);
ends(1, 'a session that is terminated there');
let_go($stops, 'between_moves');
$node->safe_psql('app', 'CALL tiered_storage.migrate()');

# ---------------------------------------------------------------------
note 'The worker';
# ---------------------------------------------------------------------

create_due(4, 5);
reload_with($node, 'tiered_storage.auto_migrate' => 'policies');
hold($stops, 'copied');
$node->safe_psql('app', 'SELECT _tiered_storage.notify_launcher()');
wait_stopped($stops, 'copied');
$pid = step_to($stops, 'copied', 'registered');
terminate($stops, $pid);
ends(1, 'one that is terminated');
reload_with($node, 'tiered_storage.auto_migrate' => 'off');
let_go($stops, 'registered');
$node->safe_psql('app', 'CALL tiered_storage.migrate()');

# Switched off while one of two moves: that one is completed.
create_due(6, 7);
reload_with($node, 'tiered_storage.auto_migrate' => 'policies');
hold($stops, 'copied');
$node->safe_psql('app', 'SELECT _tiered_storage.notify_launcher()');
wait_stopped($stops, 'copied');
reload_with($node, 'tiered_storage.auto_migrate' => 'off');
let_go($stops, 'copied');
wait_for($stops,
	q(SELECT count(*) = 1 FROM _tiered_storage.move WHERE relation_oid = 'd_6'::regclass AND state = 'done')
);
ends(1, 'one that is switched off');
$node->safe_psql('app', 'CALL tiered_storage.migrate()');

# ---------------------------------------------------------------------
note 'undo_move()';
# ---------------------------------------------------------------------

my $batch = $node->safe_psql(
	'app', q(
SELECT batch_id FROM _tiered_storage.move_batches WHERE moves_done > 0 ORDER BY batch_id DESC LIMIT 1)
);
hold($stops, 'copied');
$run = start_sql($node, 'app', "CALL tiered_storage.undo_move($batch)");
$pid = wait_stopped($stops, 'copied');
$stops->query_safe("SELECT pg_cancel_backend($pid)");
finish_sql($run);
let_go($stops, 'copied');
ends(0, 'is cancelled');

# ---------------------------------------------------------------------
note 'Fullness policies, and an error between two moves';
# ---------------------------------------------------------------------

$node->safe_psql(
	'app', q(
SELECT tiered_storage.remove_policy('d');
CREATE TABLE f_1 TABLESPACE fast AS SELECT generate_series(1, 10000) n;
CREATE TABLE f_2 TABLESPACE fast AS SELECT generate_series(1, 10000) n;
CALL tiered_storage.sample();
SELECT tiered_storage.alter_tier('ssd', device => jsonb_build_object('capacity_bytes', 100000)),
	tiered_storage.add_fullness_policy('ssd', 'hdd', high_watermark => 0.5, low_watermark => 0.1);
));
like(
	error_of(
		$node,
		'app',
		q(SET tiered_storage.debug_fault = 'looked_at:error'; CALL tiered_storage.migrate())
	),
	qr/ERROR:  XX000: fault at "looked_at"/,
	'an error ends a run');
ends(1, 'what had moved counts');
$node->safe_psql(
	'app', q(
CALL tiered_storage.migrate();
SELECT tiered_storage.remove_policy(tier => 'ssd'),
	tiered_storage.alter_tier('ssd', device => jsonb_build_object('capacity_bytes', NULL)))
);

# ---------------------------------------------------------------------
note 'Advice';
# ---------------------------------------------------------------------

# What is pinned to another tier is advised to go there.
$node->safe_psql(
	'app', q(
SELECT tiered_storage.pin('f_1', 'ssd'), tiered_storage.pin('f_2', 'ssd');
CALL tiered_storage.sample()));
hold($stops, 'copied');
$run =
  start_sql($node, 'app', "CALL tiered_storage.apply_placement('tentative')");
wait_stopped($stops, 'copied');
$pid = step_to($stops, 'copied', 'registered');
$stops->query_safe("SELECT pg_cancel_backend($pid)");
finish_sql($run);
my ($first) = split /\n/, $node->safe_psql(
	'app', q(
SELECT c.relname FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE t.spcname = 'fast' AND c.relname ~ '^f_'
));
ends(1, 'a cancel ends apply_placement(), too');
let_go($stops, 'registered');

# ---------------------------------------------------------------------
note 'DROP EXTENSION, and an update';
# ---------------------------------------------------------------------

my $over = 'the extension was updated or dropped concurrently';

# As if: the library goes by the version.
sub set_version
{
	my ($version) = @_;

	$stops->query_safe(
		"UPDATE pg_extension SET extversion = '$version' WHERE extname = 'tiered_storage'"
	);
	return;
}

my $version = $node->safe_psql('app',
	"SELECT extversion FROM pg_extension WHERE extname = 'tiered_storage'");
$node->safe_psql('app',
	"DROP TABLE d; CREATE TABLE d (d date, n int) PARTITION BY RANGE (d); SELECT tiered_storage.add_tiering_policy('d', '30 days', 'hdd')"
);
create_due(1 .. 3);
hold($stops, 'copied');
$run = start_sql($node, 'app', 'CALL tiered_storage.migrate()');
wait_stopped($stops, 'copied');
set_version('99');
let_go($stops, 'copied');
like(
	finish_sql($run),
	qr/nothing more is moved: $over/,
	'an update ends a run');
set_version($version);
ends(0, 'nothing more is moved');

# Who drops it waits for what is under way, which gives way, or is done before it looks.
hold($stops, 'copied');
$run = start_sql($node, 'app', 'CALL tiered_storage.migrate()');
wait_stopped($stops, 'copied');
my $drop = start_sql($node, 'app', 'DROP EXTENSION tiered_storage');
wait_for($stops,
	"SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'relation' AND relation = '_tiered_storage.move_batch'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted"
);
let_go($stops, 'copied');
is(finish_sql($drop), '', 'the extension is dropped');
like(
	finish_sql($run),
	qr/nothing more is moved: $over/,
	'which ends a run, too');
$stops->quit;
$node->stop;
done_testing();

# Two databases and one tier: neither fills what the other one has or is about to have.

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

# Nobody is killed without the server noticing: it starts anew.
my $node = new_node(
	'main',
	conf => q(
restart_after_crash = on
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
));
$node->start;
create_in_place_tablespace($node, $_) foreach qw(shared more);

# Of 1,000,000 bytes each database wants 600 kB: there is room for either, not for both.
my $capacity = 1_000_000;
foreach my $db (qw(app other))
{
	$node->safe_psql('postgres', "CREATE DATABASE $db");
	prepare_matter($node, $db);
	$node->safe_psql(
		$db, qq(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('shared', '{shared,more}', profile => 'hdd_7200', capacity_bytes => $capacity, reserve_fraction => 0);
CREATE TABLE one AS SELECT i, repeat('x', 1900) AS filler FROM generate_series(1, 300) i;
CREATE TABLE two AS TABLE one;
));
}
$node->safe_psql('postgres', 'CREATE DATABASE stranger');

sub used
{
	my @files = glob($node->data_dir . '/pg_tblspc/*/PG_*/*/*');
	my $bytes = 0;

	$bytes += -s $_ // 0 foreach grep { -f $_ } @files;
	return $bytes;
}

sub try_move
{
	my ($db, $relation, $target) = @_;

	return error_of($node, $db,
		"CALL tiered_storage.move_relation('$relation', '$target')");
}

my $full =
  qr/ERROR:  53100: could not move public.\w+: tier "shared" is full: \d+ kB are needed, \d+ kB of 977 kB usable are taken/;
my $stops = new_stops($node, 'app');

# ---------------------------------------------------------------------
note 'What is there';
# ---------------------------------------------------------------------

like(try_move('app', 'one', 'shared'), qr/^no error:/, 'the first has room');
like(try_move('other', 'one', 'shared'),
	$full, 'what another database has is taken');
is( $node->safe_psql(
		'other',
		"SELECT verdict FROM tiered_storage.preflight('one', 'shared') WHERE check_name = 'capacity'"
	),
	'blocks',
	'which is foretold');
like(try_move('other', 'one', 'more'),
	$full, 'whichever tablespace of the tier it is in');
cmp_ok(used(), '<=', $capacity, 'the tier is not overfull');
$node->safe_psql('app',
	"CALL tiered_storage.move_relation('one', 'pg_default')");
$node->safe_psql('app', 'CHECKPOINT');
like(try_move('other', 'one', 'shared'),
	qr/^no error:/, 'what has left is free at once');
$node->safe_psql('other',
	"CALL tiered_storage.move_relation('one', 'pg_default')");

# A database without the extension.
$node->safe_psql('stranger',
	"CREATE TABLE t TABLESPACE more AS SELECT i, repeat('x', 1900) FROM generate_series(1, 300) i"
);
like(try_move('app', 'one', 'shared'),
	$full, 'a database without the extension counts as well');
$node->safe_psql('stranger', 'DROP TABLE t');
$node->safe_psql('stranger', 'CHECKPOINT');

# ---------------------------------------------------------------------
note 'What is under way';
# ---------------------------------------------------------------------

foreach my $tracking (qw(on off))
{
	my $move = stop_move($node, 'app', $stops, 'copying', 'heap', 'one',
		'shared', "SET track_activities = $tracking");

	like(try_move('other', 'one', 'shared'),
		$full, "track_activities $tracking: a move under way is counted");
	like(try_move('app', 'two', 'more'),
		$full, "track_activities $tracking: one of this database, too");
	let_go($stops, 'copying');
	is(finish_sql($move->{run}), '', 'which is the first to be there');
	cmp_ok(used(), '<=', $capacity, 'the tier is not overfull');
	$node->safe_psql('app',
		"CALL tiered_storage.move_relation('one', 'pg_default')");
	$node->safe_psql('app', 'CHECKPOINT');
}

# One that takes its time just when it announces itself is counted as earlier.
hold($stops, 'announcing');
my $slow = start_move($node, 'app', 'one', 'shared');
wait_stopped($stops, 'announcing');
like(try_move('other', 'one', 'shared'),
	$full, 'one that is just being announced is counted');
let_go($stops, 'announcing');
is(finish_sql($slow), '', 'and has the room');
cmp_ok(used(), '<=', $capacity, 'the tier is not overfull');
$node->safe_psql('app',
	"CALL tiered_storage.move_relation('one', 'pg_default')");
$node->safe_psql('app', 'CHECKPOINT');

# ---------------------------------------------------------------------
note 'What ended in the middle';
# ---------------------------------------------------------------------

my %ends = (
	'a cancel' => sub {
		$node->safe_psql('postgres', "SELECT pg_cancel_backend($_[0])");
	},
	'pg_terminate_backend' => sub {
		$node->safe_psql('postgres', "SELECT pg_terminate_backend($_[0])");
	});

foreach my $end (sort keys %ends)
{
	my $move =
	  stop_move($node, 'app', $stops, 'copying', 'heap', 'one', 'shared');

	$ends{$end}->($move->{pid});
	let_go($stops, 'copying');
	isnt(finish_sql($move->{run}), '', "$end ends the move");
	wait_for($stops,
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $move->{pid} AND state = 'active'"
	);
	$node->safe_psql('app', 'CHECKPOINT; CALL tiered_storage.migrate()');
	like(try_move('other', 'one', 'shared'),
		qr/^no error:/, "$end leaves nothing reserved");
	$node->safe_psql('other',
		"CALL tiered_storage.move_relation('one', 'pg_default')");
	$node->safe_psql('other', 'CHECKPOINT');
}

my $killed =
  stop_move($node, 'app', $stops, 'copying', 'heap', 'one', 'shared');
kill 'KILL', $killed->{pid};
finish_sql($killed->{run});
$stops->{run}->finish;
$node->poll_query_until('postgres', 'SELECT true')
  or die 'the server did not come back';
$node->safe_psql('app', 'CHECKPOINT; CALL tiered_storage.migrate()');
is(stray_files($node, 'app'), '', 'a crash leaves no file');
like(try_move('other', 'one', 'shared'),
	qr/^no error:/, 'nor anything reserved');
cmp_ok(used(), '<=', $capacity, 'the tier is not overfull');

$node->stop;
is(log_lines($node, 0, qr/PANIC|TRAP/), '', 'no panic');
done_testing();

# Two databases and one tier: neither fills what the other one has or is about to have.
#
# In make test.

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
tiered_storage.cooldown = 0
));
$node->start;
create_in_place_tablespace($node, $_) foreach qw(shared more);

# Of 1,000,000 bytes each database wants 600 kB: there is room for either, not for both.
my $capacity = 1_000_000;
create_databases($node, qw(app other));
foreach my $db (qw(app other))
{
	$node->safe_psql(
		$db, qq(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('shared', '{shared,more}', profile => 'hdd_7200', reserve_fraction => 0, device => jsonb_build_object('capacity_bytes', $capacity));
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
  qr/ERROR:  53100: could not move public.\w+: tier "shared" is full: \d+ kB are needed, \d+ kB of the usable 977 kB are in use/;
my $stops = new_stops($node, 'app');

# ---------------------------------------------------------------------
note 'What is there';
# ---------------------------------------------------------------------

like(try_move('app', 'one', 'shared'), qr/^no error:/, 'the first has room');
like(try_move('other', 'one', 'shared'),
	$full, 'what another database has is taken');
is( $node->safe_psql(
		'other',
		"SELECT verdict FROM tiered_storage.preflight('one', 'shared', include_all => true) WHERE check_name = 'capacity'"
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
note 'What a database that is gone has said';
# ---------------------------------------------------------------------

# Nothing wakes the launcher between the drop and the look, which comes first in each round: it
# removes the claims.
my $claims_sql =
  q(SELECT count(*) FROM _tiered_storage.tablespace_claims() WHERE tier_name = 'theirs');
my $add_sql =
  q(SELECT tiered_storage.add_tier('theirs', '{fresh}', reserve_fraction => 0));

sub create_claimant
{
	$node->safe_psql('postgres', 'CREATE DATABASE gone');
	$node->safe_psql('gone', "CREATE EXTENSION tiered_storage; $add_sql");
	run_cycle($node, 'gone');
	return;
}

create_in_place_tablespace($node, 'fresh');
create_claimant();
is($node->safe_psql('app', $claims_sql),
	'1', 'a database claims a tablespace');
$node->safe_psql('postgres', 'DROP DATABASE gone');
is($node->safe_psql('app', $claims_sql), '0', 'but not when it is gone');

create_claimant();
$node->safe_psql('postgres', $_)
  foreach 'DROP DATABASE gone', 'CREATE DATABASE gone';
$node->safe_psql('gone', 'CREATE EXTENSION tiered_storage');
is( $node->safe_psql(
		'gone',
		q(SELECT count(*), count(*) FILTER (WHERE tier_name = 'theirs') FROM _tiered_storage.tier_tablespaces WHERE tablespace_name = 'fresh')
	),
	'1|0',
	'a new one of its name does not discover its tiers');
$node->safe_psql('postgres', 'DROP DATABASE gone');

# They disagree by a rename.
create_claimant();
$node->safe_psql('app', $add_sql);
$node->safe_psql('app',
	q(SELECT tiered_storage.alter_tier('theirs', new_name => 'ours')));
run_cycle($node, 'app');
foreach my $options ('dry_run => true', '')
{
	my $call = "CALL tiered_storage.migrate($options)";

	like(
		error_of($node, 'app', $call),
		qr/belongs to tier "ours" here, but to tier "theirs" in database "gone"/,
		"$call: another name is in the way");
	$node->safe_psql('postgres', 'DROP DATABASE gone');
	like(error_of($node, 'app', $call),
		qr/^no error:/, "$call: until its database is gone");
	next if $options eq '';
	$node->safe_psql('app',
		q(SELECT tiered_storage.alter_tier('ours', new_name => 'theirs')));
	run_cycle($node, 'app');
	create_claimant();
	$node->safe_psql('app',
		q(SELECT tiered_storage.alter_tier('theirs', new_name => 'ours')));
	run_cycle($node, 'app');
}
$node->safe_psql('app', q(SELECT tiered_storage.remove_tier('ours')));
run_cycle($node, 'app');

# The server has not come to the end of its DROP DATABASE.
create_claimant();
$node->safe_psql('postgres',
	q(UPDATE pg_database SET datconnlimit = -2 WHERE datname = 'gone'));
is($node->safe_psql('app', $claims_sql),
	'0', 'nor does one whose drop was interrupted');
$node->safe_psql('postgres', $_)
  foreach q(UPDATE pg_database SET datconnlimit = -1 WHERE datname = 'gone'),
  'DROP DATABASE gone';
$node->safe_psql($_, 'CHECKPOINT') foreach qw(app other);

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
note 'Watermarks';
# ---------------------------------------------------------------------

# Of the shared tier each database may fill half, or three quarters, of 2,000,000 bytes.
sub set_mark
{
	my ($mark) = @_;

	$node->safe_psql($_,
		"SELECT tiered_storage.alter_tier('shared', high_watermark => $mark, low_watermark => 0.4, device => jsonb_build_object('capacity_bytes', 2000000))"
	) foreach qw(app other);
	return;
}

sub on_shared
{
	my ($db) = @_;

	return $node->safe_psql($db,
		"SELECT COALESCE(string_agg(relname, ' ' ORDER BY relname), '') FROM pg_class WHERE reltablespace = (SELECT oid FROM pg_tablespace WHERE spcname = 'shared') AND relkind = 'r'"
	);
}

sub bytes_of_shared
{
	return $node->safe_psql('app', "SELECT pg_tablespace_size('shared')");
}

# Each database has a fast tier of its own, which is too full for its table of 600 kB.
foreach my $db (qw(app other))
{
	create_in_place_tablespace($node, "fast_$db", "slow_$db");
	$node->safe_psql(
		$db, qq(
SELECT tiered_storage.add_tier('fast', '{fast_$db}', profile => 'nvme', rank => 0, high_watermark => 0.5, low_watermark => 0.1, reserve_fraction => 0, device => jsonb_build_object('capacity_bytes', 700000));
CREATE TABLE hot TABLESPACE fast_$db AS TABLE one;
SELECT tiered_storage.add_fullness_policy('fast', 'shared');
CALL tiered_storage.sample();
));
}
set_mark(0.5);

# The one has just begun to write.
hold($stops, 'copying');
my $emptying = start_sql($node, 'app', 'CALL tiered_storage.migrate()');
wait_stopped($stops, 'copying');
$node->safe_psql('other', 'CALL tiered_storage.migrate()');
is(on_shared('other'), '',
	'what a fullness policy of another database brings counts for the mark');
like(
	$node->safe_psql(
		'other', 'SELECT last_result FROM _tiered_storage.fullness_policies'),
	qr/and nothing can leave; tier "shared" has room for \d+ kB of \d+ kB/,
	'which the policy says');
let_go($stops, 'copying');
unlike(finish_sql($emptying), qr/WARNING|ERROR/, 'the first is done');
is(on_shared('app'), 'hot', 'and is there');
cmp_ok(bytes_of_shared(), '<=', 1_000_000, 'the tier is not above its mark');

# The one has decided, and not yet announced itself, when the other comes and goes.
$node->safe_psql('app',
	"CALL tiered_storage.move_relation('hot', 'fast_app')");
$node->safe_psql('app', 'CHECKPOINT');
hold($stops, 'leaving');
$emptying = start_sql($node, 'app', 'CALL tiered_storage.migrate()');
wait_stopped($stops, 'leaving');
$node->safe_psql('other', 'CALL tiered_storage.migrate()');
is(on_shared('other'), 'hot', 'who comes between is first');
let_go($stops, 'leaving');
like(
	finish_sql($emptying),
	qr/WARNING:  53100: could not move public.hot: tier "shared" would be above its watermark of 50 %/,
	'and the other one asks again');
is(on_shared('app'), '', 'so that it is not there, too');
cmp_ok(bytes_of_shared(), '<=', 1_000_000, 'the tier is not above its mark');
is( $node->safe_psql(
		'app',
		"SELECT state, sqlstate, (SELECT count(*) FROM _tiered_storage.plan_moves() WHERE state = 'failed lately') FROM _tiered_storage.moves ORDER BY move_id DESC LIMIT 1"
	),
	'skipped|53100|0',
	'that is no failure, after which it would have to wait');
$node->safe_psql('other',
	"CALL tiered_storage.move_relation('hot', 'fast_other')");
$node->safe_psql($_, "SELECT tiered_storage.remove_policy(tier => 'fast')")
  foreach qw(app other);

# What returns: two tables of 600 kB in each database, which are read again.
my $then = "SET tiered_storage.test_now = '2040-01-01 00:00:00+00'";
foreach my $db (qw(app other))
{
	$node->safe_psql(
		$db, qq(
SELECT tiered_storage.add_tier('slow', '{slow_$db}', profile => 'hdd_7200', rank => 9, reserve_fraction => 0);
CREATE TABLE r (k int, filler text) PARTITION BY LIST (k);
CREATE TABLE r1 PARTITION OF r FOR VALUES IN (1) TABLESPACE slow_$db;
CREATE TABLE r2 PARTITION OF r FOR VALUES IN (2) TABLESPACE slow_$db;
INSERT INTO r SELECT k, filler FROM one, generate_series(1, 2) k;
$then;
SELECT pg_stat_force_next_flush();
CALL tiered_storage.sample();
SELECT tiered_storage.add_tiering_policy('r', tier => 'slow', idle_for => '7 days', options => jsonb_build_object('return_when_reads_per_hour', 100, 'return_after', '1 day', 'return_tier', 'shared'));
));
	seem_read($node, $db, 'r1', 'r2');
}
set_mark(0.75);
# Nothing of it is written yet.
hold($stops, 'registered');
my $returning =
  start_sql($node, 'app', $then, 'CALL tiered_storage.migrate()');
wait_stopped($stops, 'registered');
set_mark(0.5);
is( $node->safe_psql(
		'other',
		"$then; SELECT count(*) FROM _tiered_storage.evaluate_policies() WHERE verdict <> 'returns' AND reason ~ 'tier \"shared\" has no room for it below its high watermark'"
	),
	'2',
	'what returns to another database counts for the mark');
set_mark(0.75);
$node->safe_psql('other', "$then; CALL tiered_storage.migrate()");
is(on_shared('other'), 'r1', 'there is room for one beside it');
let_go($stops, 'registered');
like(
	finish_sql($returning),
	qr/WARNING:  53100: could not move public.r2: tier "shared" would be above its watermark of 75 %/,
	'so that the second of the others, which was to return, stays');
is(on_shared('app'), 'r1', 'unlike the first');
cmp_ok(bytes_of_shared(), '<=', 1_500_000, 'the tier is not above its mark');
$node->safe_psql(
	$_, qq(
DROP TABLE r, hot;
SELECT tiered_storage.alter_tier('shared', device => jsonb_build_object('capacity_bytes', $capacity));
CHECKPOINT;
)) foreach qw(app other);

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

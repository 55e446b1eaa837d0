# A failover while relations wait, run and have failed: what the promoted server's queue says,
# and that its worker goes on, with nothing stuck and nothing lost.  063_queue has what is ready.
#
# Made up in the tables, since no call makes it in the time of a test: moves of another
# time, size or end.

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

# A worker looks when it is told to, and when a server starts or is promoted.  The clock of the
# windows is the test's.
my $primary = new_node(
	'primary',
	standby => 1,
	conf => q(
wal_keep_size = '1GB'
checkpoint_timeout = '1h'
tiered_storage.auto_migrate = policies
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = 1
tiered_storage.move_max_lag = -1
tiered_storage.test_now = '2030-01-01 12:00:00+00'
));
$primary->start;
create_in_place_tablespace($primary, 'fast', 'slow');
create_databases($primary, 'app');
$primary->backup('copy');
my %standby =
  map { $_ => PostgreSQL::Test::Cluster->new($_) } qw(window lag);
foreach my $name (sort keys %standby)
{
	$standby{$name}->init_from_backup($primary, 'copy', has_streaming => 1);
	$standby{$name}->start;
}
$primary->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('ssd', '{fast}', profile => 'nvme', reserve_fraction => 0);
SELECT tiered_storage.add_tier('hdd', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
CREATE TABLE d (d date, n int, t text) PARTITION BY RANGE (d);
ALTER TABLE d ALTER t SET STORAGE EXTERNAL;
SELECT tiered_storage.add_tiering_policy('d', '30 days', 'hdd');
));
age_policies($primary, 'app');

# Partitions that are due, with rows and TOAST.
sub create_due
{
	my ($kind, @numbers) = @_;

	foreach my $n (@numbers)
	{
		my ($from, $to) = (2000 + $n, 2001 + $n);

		$primary->safe_psql(
			'app', qq(
CREATE $kind TABLE d_$n PARTITION OF d FOR VALUES FROM ('$from-01-01') TO ('$to-01-01') TABLESPACE fast;
INSERT INTO d_$n SELECT '$from-01-01', i, repeat('x', CASE i % 500 WHEN 0 THEN 10000 ELSE 100 END) FROM generate_series(1, 5000) i;
));
	}
	return;
}

sub queue
{
	my ($server) = @_;

	return $server->safe_psql('app',
		"SELECT relation, state, failures, regexp_replace(reason, ' at \\d{4}-\\S+ \\S+', ' at T') FROM _tiered_storage.plan_moves() ORDER BY relation::text"
	);
}

# "relation state failures", of the record.
sub record
{
	my ($server, @relations) = @_;
	my $names = join ',', @relations;

	return $server->safe_psql('app',
		"SELECT relation, state, failures FROM _tiered_storage.moves WHERE relation = ANY ('{$names}') ORDER BY relation"
	);
}

# What is not logged is empty after a failover.
sub rows
{
	my ($server) = @_;

	return fingerprint($server, 'app',
		"(SELECT * FROM d WHERE d <> '2002-01-01')");
}

# A worker moves nothing before a sample is taken, and tells when it has looked.
sub wait_for_worker
{
	my ($server, $question, $what) = @_;

	$server->poll_query_until('app', $question)
	  or die "$what: " . queue($server);
	pass($what);
	return;
}

my $stops = new_stops($primary, 'app');
my $moving = "CALL tiered_storage.move_relation('%s', 'hdd')";
my $unlogged =
  'it cannot be moved online: it is unlogged, so changes during the copy cannot be tracked';

# ---------------------------------------------------------------------
note 'Waiting for a window';
# ---------------------------------------------------------------------

# Done, and failed with a long backoff.
create_due('', 1);
create_due('UNLOGGED', 2);
run_cycle($primary, 'app');
$primary->safe_psql('app',
	"UPDATE _tiered_storage.move SET next_attempt_at = '2031-01-01' WHERE state = 'skipped'"
);

# What nobody has asked for waits from now on.  Of what somebody has asked for, one has moved,
# which is not recorded yet, and one is being copied.
$primary->safe_psql('app',
	"SELECT tiered_storage.add_move_window('night', NULL, '03:00', '04:00', 'UTC')"
);
create_due('', 3 .. 5);
hold($stops, 'recorded');
my $swapped = start_sql($primary, 'app', sprintf $moving, 'd_5');
wait_stopped($stops, 'recorded');
hold($stops, 'copied');
my $copying = start_sql($primary, 'app', sprintf $moving, 'd_4');
wait_stopped($stops, 'copied');

my $window = 'waiting for window night, opens 2030-01-02 03:00 UTC';
my $failed =
  qr/d_2\|failed\|1\|next attempt at T after 1 failure: \Q$unlogged\E/;
like(
	queue($primary),
	qr/^$failed\nd_3\|waiting\|0\|$window\nd_4\|running\|0\|\S+.*\nd_5\|running\|0\|\S+.*$/,
	'the queue before the failover');
my $rows = rows($primary);
$primary->wait_for_catchup($standby{window});

# The primary is still there, as after a partition of the network.
my $promoted = $standby{window};
$promoted->promote;
wait_for_worker(
	$promoted,
	"SELECT count(*) = 0 FROM _tiered_storage.move WHERE state = 'running'",
	'nothing is left as running');
like(
	queue($promoted),
	qr/^$failed\nd_3\|waiting\|0\|$window\nd_4\|waiting\|1\|$window$/,
	'all the rest waits for the window, also what was interrupted');
is( record($promoted, qw(d_1 d_2 d_4 d_5)),
	"d_1|done|0\nd_2|skipped|1\nd_4|failed|1\nd_5|done|0",
	'the records say what had moved');
is( tablespaces_of($promoted, 'app', 'd_1', 'd_5') . ' '
	  . tablespaces_of($promoted, 'app', 'd_2', 'd_3') . ' '
	  . tablespaces_of($promoted, 'app', 'd_4'),
	'slow fast fast',
	'everything is where it was');
is(rows($promoted), $rows, 'with all rows');
$promoted->append_conf('postgresql.conf',
	"tiered_storage.test_now = '2030-01-02 03:30:00+00'");
$promoted->reload;
run_cycle($promoted, 'app');
like(queue($promoted), qr/^$failed$/,
	'what has waited is moved when the window opens');
is(tablespaces_of($promoted, 'app', map { "d_$_" } 1, 3 .. 5),
	'slow', 'to its place');
is(rows($promoted), $rows, 'with all rows');
is(stray_files($promoted, 'app'), '', 'and no file is left');
$promoted->stop;

# ---------------------------------------------------------------------
note 'Waiting for a standby, which is promoted';
# ---------------------------------------------------------------------

let_go($stops, 'copied', 'recorded');
finish_sql($_) foreach $swapped, $copying;
$primary->safe_psql('app',
	"SELECT tiered_storage.remove_move_window('night')");
run_cycle($primary, 'app');
like(queue($primary), qr/^$failed$/, 'the primary has gone on meanwhile');
reload_with(
	$primary,
	'tiered_storage.move_max_lag' => '1MB',
	'tiered_storage.debug_skip' => 'lag_interval gate_age');
create_due('', 6, 7);
$rows = rows($primary);
hold($stops, 'copying');
$primary->safe_psql('app', 'SELECT _tiered_storage.notify_launcher()');
wait_stopped($stops, 'copying');
$promoted = $standby{lag};
$primary->wait_for_catchup($promoted);
$promoted->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
$promoted->poll_query_until('postgres',
	"SELECT pg_get_wal_replay_pause_state() = 'paused'")
  or die 'replay is not paused';
$primary->safe_psql('app',
	'CREATE TABLE noise AS SELECT generate_series(1, 100000)');
$primary->poll_query_until('app',
	'SELECT sent_lsn - replay_lsn > 2000000 FROM pg_stat_replication')
  or die 'the standby does not fall behind';
let_go($stops, 'copying');
wait_for($stops,
	"SELECT phase = 'waiting' FROM _tiered_storage.move_progress");
my $lag =
  'waiting: standby "lag" is \d+ (?:kB|MB) behind \(move_max_lag is 1024 kB\)';
like(
	queue($primary),
	qr/^$failed\nd_6\|running\|0\|$lag.*\nd_7\|waiting\|0\|$lag$/,
	'the queue before the failover');
is($primary->safe_psql('app', 'SELECT count(*) FROM noise'),
	100000, 'with a table that was not replayed yet');
$primary->stop('immediate');
eval { $stops->quit };
$promoted->promote;
wait_for_worker(
	$promoted,
	"SELECT string_agg(relation::text, ' ') = 'd_2' FROM _tiered_storage.plan_moves()",
	'what has waited for the standby is moved by it');
like(queue($promoted), qr/^$failed$/, 'what has failed is known');
is(record($promoted, 'd_6', 'd_7'),
	"d_6|done|1\nd_7|done|0", 'what was interrupted was tried again');
is(tablespaces_of($promoted, 'app', map { "d_$_" } 1, 3 .. 7),
	'slow', 'everything is in its place');
is(rows($promoted), $rows, 'with all rows');
is($promoted->safe_psql('app', 'SELECT count(*) FROM noise'),
	100000, 'nor is anything else lost');
is(stray_files($promoted, 'app'), '', 'and no file is left');

$promoted->stop;
done_testing();

# A copy that nobody has asked for waits while a standby, a slot or the archive does not
# keep up with the WAL, says for whom, and is in nobody's way meanwhile; it goes on, can be
# cancelled, is given up after a time, and a crash leaves nothing of it.
#
# Made up in the tables, since no call makes it in the time of a test: rates, and
# history of days and weeks; moves of another time, size or end.

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
	'main',
	standby => 1,
	conf => q(
max_replication_slots = 5
wal_keep_size = '1GB'
archive_mode = on
archive_command = 'true'
checkpoint_timeout = '1h'
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = 1
tiered_storage.max_movers = 1
tiered_storage.move_max_lag = '1MB'
tiered_storage.debug_skip = 'lag_interval gate_age'
));
$node->start;
create_in_place_tablespace($node, 'fast', 'slow');
$node->safe_psql('postgres', 'CREATE DATABASE app');
prepare_matter($node, 'app');
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('ssd', '{fast}', profile => 'nvme', reserve_fraction => 0);
SELECT tiered_storage.add_tier('hdd', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
CREATE TABLE d (d date, t text) PARTITION BY RANGE (d);
-- No TOAST, which would be copied first.
ALTER TABLE d ALTER t SET STORAGE PLAIN;
SELECT tiered_storage.add_tiering_policy('d', '30 days', 'hdd');
CREATE TABLE by_hand TABLESPACE fast AS SELECT i FROM generate_series(1, 1000) i;
));
$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
my $stops = new_stops($node, 'app');

# A partition that is due, of several batches, all of them replayed.
sub create_due
{
	my ($n) = @_;
	my $year = 2000 + $n;

	$node->safe_psql(
		'app', qq(
CREATE TABLE d_$n PARTITION OF d FOR VALUES FROM ('$year-01-01') TO ('$year-12-31') TABLESPACE fast;
INSERT INTO d SELECT '$year-01-01', repeat('x', 100) || i FROM generate_series(1, 5000) i;
));
	$node->wait_for_catchup($standby);
	return;
}

# The standby is further behind than it may be.
sub fall_behind
{
	$standby->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
	$standby->poll_query_until('postgres',
		q(SELECT pg_get_wal_replay_pause_state() = 'paused'))
	  or die 'replay is not paused';
	$node->safe_psql('app',
		'CREATE TABLE noise AS SELECT generate_series(1, 100000); DROP TABLE noise'
	);
	$node->poll_query_until('app',
		'SELECT sent_lsn - replay_lsn > 2000000 FROM pg_stat_replication')
	  or die 'the standby does not fall behind';
	return;
}

sub catch_up
{
	$standby->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');
	$node->wait_for_catchup($standby);
	return;
}

# A move of what is due stands in the middle of its copy: the session.
sub start_migrate
{
	my $run;

	hold($stops, 'copying');
	$run = start_sql($node, 'app', 'CALL tiered_storage.migrate()');
	wait_stopped($stops, 'copying');
	return $run;
}

sub wait_held_up
{
	my ($why) = @_;

	wait_for($stops,
		"SELECT phase = 'waiting' AND waits_for ~ '^$why' AND blocks_done < blocks_total FROM _tiered_storage.move_progress"
	);
	return;
}

# As long as the killed one is not gone, there cannot be another one.
sub poll_start
{
	my ($server) = @_;
	my $attempts = 10 * $PostgreSQL::Test::Utils::timeout_default;

	while (!$server->start(fail_ok => 1))
	{
		die 'it does not start after a crash' if --$attempts == 0;
		select undef, undef, undef, 0.1;
		$server->stop('fast', fail_ok => 1);
	}
	return;
}

sub wait_ended
{
	wait_for($stops,
		'SELECT count(*) = 0 FROM _tiered_storage.move_progress');
	return;
}

sub place_of
{
	my ($relation) = @_;

	return $node->safe_psql('app',
		"SELECT spcname FROM pg_class c JOIN pg_tablespace s ON s.oid = reltablespace WHERE relname = '$relation'"
	);
}

sub last_move
{
	my ($relation) = @_;

	return $node->safe_psql('app',
		"SELECT state, failures, sqlstate, error FROM _tiered_storage.moves WHERE relation = '$relation' ORDER BY move_id DESC LIMIT 1"
	);
}

my $behind =
  'standby "standby" is \d+ (kB|MB) behind \(move_max_lag is 1024 kB\)';

# ---------------------------------------------------------------------
note 'A standby that lags';
# ---------------------------------------------------------------------

create_due(1);
my $rows = fingerprint($node, 'app', 'd_1');
my $run = start_migrate();
fall_behind();
let_go($stops, 'copying');
wait_held_up($behind);
pass('the copy waits for the standby');
like(
	$node->safe_psql(
		'app',
		'SELECT relation, state, reason FROM _tiered_storage.plan_moves()'),
	qr/^d_1\|running\|waiting: $behind; \d+ of \d+ blocks$/,
	'as move_queue says');
is( $node->safe_psql(
		'app', q(
SELECT count(*) FILTER (WHERE l.locktype IN ('relation', 'transactionid', 'tuple')
		AND l.relation IS DISTINCT FROM '_tiered_storage.move_batch'::regclass),
	count(a.backend_xmin), count(a.backend_xid)
FROM _tiered_storage.move_progress p JOIN pg_stat_activity a ON a.pid = p.pid LEFT JOIN pg_locks l ON l.pid = p.pid)
	),
	'0|0|0',
	'it has no lock but that which keeps the extension, no snapshot and no transaction ID'
);
$node->safe_psql('app',
	"BEGIN; LOCK TABLE d_1 IN ACCESS EXCLUSIVE MODE NOWAIT; INSERT INTO d_1 VALUES ('2001-02-01', 'new'); COMMIT"
);
$node->safe_psql('app',
	"CALL tiered_storage.move_relation('by_hand', 'hdd')");
is(place_of('by_hand'), 'slow',
	'what a person asks for does not wait, and has its place');
is(place_of('d_1'), 'fast', 'while the other one does');
catch_up();
like(
	finish_sql($run),
	qr/NOTICE:  00000: the move waits: $behind/,
	'whoever calls migrate() is told');
is(place_of('d_1'), 'slow', 'and it ends when the standby has caught up');
$node->safe_psql('app', "DELETE FROM d_1 WHERE t = 'new'");
is(fingerprint($node, 'app', 'd_1'), $rows, 'with its rows');
like(last_move('d_1'), qr/^done\|0\|/, 'at the first try');

# ---------------------------------------------------------------------
note 'A cancel meanwhile';
# ---------------------------------------------------------------------

create_due(2);
$run = start_migrate();
fall_behind();
let_go($stops, 'copying');
wait_held_up($behind);
$node->safe_psql('app',
	'SELECT pg_cancel_backend(pid) FROM _tiered_storage.move_progress');
like(finish_sql($run), qr/canceling statement due to user request/,
	'ends it');
is(place_of('d_2'), 'fast', 'it is where it was');
is(stray_files($node, 'app'), '', 'and its copy is gone');

# ---------------------------------------------------------------------
note 'One that does not come back';
# ---------------------------------------------------------------------

catch_up();
reload_with($node, 'tiered_storage.debug_lag_timeout' => 0);
$run = start_migrate();
fall_behind();
let_go($stops, 'copying');
like(
	finish_sql($run),
	qr/WARNING:  55000: could not move public.d_2: it waited for 0 s: $behind\nHINT: .*move_max_lag/,
	'the move is given up');
like(
	last_move('d_2'),
	qr/^skipped\|\d+\|55000\|it waited for 0 s: $behind$/,
	'which is recorded');
is(stray_files($node, 'app'), '', 'its copy is gone');
$node->safe_psql('app',
	"UPDATE _tiered_storage.move SET next_attempt_at = now() WHERE state = 'skipped'"
);
like(
	$node->safe_psql(
		'app', 'SELECT state, reason FROM _tiered_storage.plan_moves()'),
	qr/^waiting\|waiting: $behind$/,
	'and it does not begin again');
reload_with($node, 'tiered_storage.debug_lag_timeout' => '-1');
catch_up();

# ---------------------------------------------------------------------
note 'A crash meanwhile';
# ---------------------------------------------------------------------

hold($stops, 'copying');
reload_with($node, 'tiered_storage.auto_migrate' => 'policies');
$node->safe_psql('app', 'SELECT _tiered_storage.notify_launcher()');
wait_stopped($stops, 'copying');
fall_behind();
let_go($stops, 'copying');
wait_held_up($behind);
pass('the worker waits, too');
eval { $stops->quit };
$node->kill9;
poll_start($node);
$stops = new_stops($node, 'app');
catch_up();
$node->safe_psql('app', 'SELECT _tiered_storage.notify_launcher()');
$node->poll_query_until('app',
	'SELECT count(*) = 0 FROM _tiered_storage.plan_moves()')
  or die 'it is not moved after a crash';
is(place_of('d_2'), 'slow', 'it is moved after the crash');
is($node->safe_psql('app', 'SELECT count(*) FROM d_2'),
	5000, 'with its rows');
is(stray_files($node, 'app'), '', 'and no file is left');
reload_with($node, 'tiered_storage.auto_migrate' => 'off');

# A cycle that has begun before would move what comes now.
run_cycle($node, 'app');

# ---------------------------------------------------------------------
note 'A slot, and the archive';
# ---------------------------------------------------------------------

create_due(3);
$run = start_migrate();
$standby->stop;
$node->safe_psql('app',
	"SELECT pg_create_physical_replication_slot('idle', true); CREATE TABLE noise AS SELECT generate_series(1, 100000)"
);
let_go($stops, 'copying');
wait_held_up('replication slot "idle" keeps \d+ (kB|MB) of WAL');
pass('the copy waits for a slot');
$node->safe_psql('app', "SELECT pg_drop_replication_slot('idle')");
finish_sql($run);
is(place_of('d_3'), 'slow', 'and ends when that is dropped');

$standby->start;
create_due(4);
$run = start_migrate();
reload_with($node, archive_command => 'false');
$node->safe_psql('app', 'CREATE TABLE more_noise (); SELECT pg_switch_wal()');
$node->poll_query_until('app',
	'SELECT last_failed_time > last_archived_time FROM pg_stat_archiver')
  or die 'archiving does not fail';
let_go($stops, 'copying');
wait_held_up('WAL cannot be archived, last tried at \d{4}');
pass('the copy waits for the archive');
reload_with($node, archive_command => 'true');
finish_sql($run);
is(place_of('d_4'), 'slow', 'and ends when it works again');
wait_ended();

# ---------------------------------------------------------------------
note 'A tier that is emptied';
# ---------------------------------------------------------------------

# Of four tables, two have to leave, the coldest first.  Behind while the coldest is looked
# at, and not any more afterwards.
$node->safe_psql('app',
	"CREATE TABLE t$_ TABLESPACE fast AS SELECT i, repeat('x', 100) AS filler FROM generate_series(1, 4000) i"
) foreach 1 .. 4;
$node->safe_psql(
	'app', q(
SELECT tiered_storage.remove_policy('d');
DROP TABLE d, by_hand, noise, more_noise;
SELECT tiered_storage.alter_tier('ssd', device => jsonb_build_object('capacity_bytes', 10 * pg_table_size('t1') / 2));
SELECT tiered_storage.add_fullness_policy('ssd', 'hdd', high_watermark => 0.7, low_watermark => 0.5);
CALL tiered_storage.sample();
UPDATE _tiered_storage.relation_state s SET heat_at = now(), observed_since = now() - interval '30 days',
	sampled_since = now() - interval '30 days', proven_since = now() - interval '30 days',
	random_fast = 1000 * n, random_slow = 1000 * n, device_random_fast = 1000 * n, device_random_slow = 1000 * n
	FROM generate_series(1, 4) n WHERE relation_oid = ('t' || n)::regclass;
));
$node->wait_for_catchup($standby);

sub leaving
{
	return $node->safe_psql('app',
		"SELECT string_agg(relation::text, ' ' ORDER BY place) FROM _tiered_storage.evaluate_policies() WHERE verdict = 'leaves'"
	);
}

sub on_fast
{
	return $node->safe_psql('app',
		"SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relname ~ '^t[1-4]\$' AND reltablespace = (SELECT oid FROM pg_tablespace WHERE spcname = 'fast')"
	);
}

is(leaving(), 't1 t2', 'the coldest would leave');
hold($stops, 'leaving');
$run = start_sql($node, 'app', 'CALL tiered_storage.migrate()');
wait_stopped($stops, 'leaving');
fall_behind();
step_to($stops, 'leaving', 'looked_at');
catch_up();
let_go($stops, 'looked_at');
like(
	finish_sql($run),
	qr/2 relations are not moved now\nDETAIL:  Waiting: $behind.*relations moved: 0, not moved: 0/s,
	'a standby that lags for a moment ends the run');
is(on_fast(), 't1 t2 t3 t4', 'so that no hotter one leaves in their place');
like(
	$node->safe_psql(
		'app', 'SELECT last_result FROM _tiered_storage.fullness_policies'),
	qr/ % full, above 70\.0 %/,
	'the policy says what is to leave');

# The same of a copy that is given up because of it.
reload_with($node, 'tiered_storage.debug_lag_timeout' => 0);
hold($stops, 'copying');
$run = start_sql($node, 'app', 'CALL tiered_storage.migrate()');
wait_stopped($stops, 'copying');
fall_behind();
step_to($stops, 'copying', 'looked_at');
catch_up();
let_go($stops, 'looked_at');
like(
	finish_sql($run),
	qr/could not move public.t1: it waited for 0 s: $behind.*1 relation is not moved now.*relations moved: 0, not moved: 1/s,
	'a copy that is given up ends the run, too');
is(on_fast(), 't1 t2 t3 t4', 'and nothing leaves in its place');
$node->safe_psql('app', 'CALL tiered_storage.migrate()');
is(on_fast(), 't3 t4', 'the next run moves the coldest');

$stops->quit;
$standby->stop;
$node->stop;
done_testing();

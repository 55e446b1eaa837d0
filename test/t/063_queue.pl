# The queue of moves: what it says is what it was after a crash in each of its states, one
# that fails holds up no other, migrate() beside the worker moves nothing twice, and a
# server under pressure is left alone.
#
# Made up in the tables, since no call makes it in the time of a test: moves of another
# time, size or end.
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

# A worker looks when it is told to, and when the server starts.
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
SELECT tiered_storage.add_tiering_policy('d', '30 days', 'hdd');
));

# A partition that is due, with rows.
sub create_due
{
	my ($n, $kind) = @_;

	$kind //= '';
	$node->safe_psql('app',
			"CREATE $kind TABLE d_$n PARTITION OF d FOR VALUES FROM ('"
		  . (2000 + $n)
		  . "-01-01') TO ('"
		  . (2001 + $n)
		  . "-01-01') TABLESPACE fast; INSERT INTO d SELECT '"
		  . (2000 + $n)
		  . "-01-01', repeat('x', 100) FROM generate_series(1, 1000)");
	return;
}

sub queue
{
	my ($server) = @_;

	return ($server // $node)->safe_psql('app',
		"SELECT relation, state, failures, regexp_replace(reason, ' at \\d{4}-\\S+ \\S+', ' at T') FROM _tiered_storage.plan_moves() ORDER BY place"
	);
}

sub reason
{
	return $node->safe_psql('app',
		"SELECT reason FROM _tiered_storage.plan_moves() WHERE place = 1");
}

sub crash
{
	$node->stop('immediate');
	$node->start;
	return;
}

sub on_slow
{
	return $node->safe_psql('app',
		"SELECT string_agg(relname, ' ' ORDER BY oid) FROM pg_class WHERE relkind = 'r' AND reltablespace = (SELECT oid FROM pg_tablespace WHERE spcname = 'slow')"
	);
}

# ---------------------------------------------------------------------
note 'A crash in each state';
# ---------------------------------------------------------------------

create_due(1);
create_due(2, 'UNLOGGED');
create_due(3);
my $online =
  'it cannot be moved online: it is unlogged, so changes during the copy cannot be tracked';
my $off =
  'waiting for CALL tiered_storage.migrate(): the worker moves nothing, as auto_migrate is off';
is( queue(),
	"d_1|waiting|0|$off\nd_2|waiting|0|waiting: $online\nd_3|waiting|0|$off",
	'with auto_migrate = off all of it waits');
run_cycle($node, 'app');
my $stored =
  'SELECT relation, state, reason, planned_at FROM _tiered_storage.move_queue_entries() ORDER BY place';
my $shown = $node->safe_psql('app', $stored);
is(join("\n", map { (split /\|/)[0] } split /\n/, $shown),
	"d_1\nd_2\nd_3", 'the worker has stored it, which moves nothing');
run_cycle($node, 'app');
is($node->safe_psql('app', $stored),
	$shown, 'and writes nothing while it stays the same');

# Waiting.
$node->safe_psql('app', 'SELECT tiered_storage.pause()');
my $paused = join "\n",
  map { "d_$_|waiting|0|waiting: moves are paused, see resume()" } 1 .. 3;
is(queue(), $paused, 'moves are paused');
crash();
is(queue(), $paused, 'and are after a crash');

# One that fails, and others.
$node->safe_psql('app', 'SELECT tiered_storage.resume()');
age_policies($node, 'app');
reload_with($node, 'tiered_storage.auto_migrate' => 'policies');
run_cycle($node, 'app');
is(on_slow(), 'd_1 d_3', 'one that fails holds up no other');
is( queue(),
	"d_2|failed|1|next attempt at T after 1 failure: $online",
	'it is known, with its error');

# Failed.
$node->safe_psql('app',
	"UPDATE _tiered_storage.move SET next_attempt_at = now() + interval '1 day' WHERE state = 'skipped'"
);
my $as_it_was =
  "SELECT relation, state, failures, next_attempt_at, last_error FROM _tiered_storage.plan_moves()";
my $failed = $node->safe_psql('app', $as_it_was);
crash();
is($node->safe_psql('app', $as_it_was),
	$failed, 'the same after a crash: errors and next attempt');
run_cycle($node, 'app');
is($node->safe_psql('app', $as_it_was),
	$failed, 'and it is not tried before its time');
$node->safe_psql('app',
	"ALTER TABLE d_2 SET LOGGED; UPDATE _tiered_storage.move SET next_attempt_at = now() WHERE state = 'skipped'"
);
run_cycle($node, 'app');
is(queue(), '', 'but then, and a success forgets the failures');

# Running.
create_due(4);
my $stops = new_stops($node, 'app');
hold($stops, 'copied');
$node->safe_psql('app', 'SELECT _tiered_storage.notify_launcher()');
wait_stopped($stops, 'copied');
like(queue(), qr/^d_4\|running\|0\|\w.*$/, 'one that runs');
crash();
eval { $stops->quit };
$node->poll_query_until('app',
	'SELECT count(*) = 0 FROM _tiered_storage.plan_moves()')
  or die 'it is not moved after a crash';
is( $node->safe_psql(
		'app',
		"SELECT state, failures FROM _tiered_storage.moves WHERE relation = 'd_4'"
	),
	'done|1',
	'was interrupted, and is moved after the crash');

# Ready.
create_due(5);
like(queue(), qr/^d_5\|ready\|0\|the worker plans moves/,
	'one that is ready');
crash();
$node->poll_query_until('app',
	'SELECT count(*) = 0 FROM _tiered_storage.plan_moves()')
  or die 'it is not moved after a crash';
is(on_slow(), 'd_1 d_2 d_3 d_4 d_5', 'is moved after a crash, too');
is( $node->safe_psql('app', 'SELECT count(*) FROM d'),
	5000 - 1000 * $node->safe_psql(
		'app',
		'SELECT count(*) FROM (SELECT WHERE NOT EXISTS (SELECT FROM d_2)) e'),
	'no row is lost but those of a table that was not logged');
is(stray_files($node, 'app'), '', 'and no file is left');

# ---------------------------------------------------------------------
note 'migrate() beside the worker';
# ---------------------------------------------------------------------

create_due($_) foreach 6 .. 9;
$stops = new_stops($node, 'app');
hold($stops, 'copied');
$node->safe_psql('app', 'SELECT _tiered_storage.notify_launcher()');
wait_stopped($stops, 'copied');
my $run = start_sql($node, 'app', 'CALL tiered_storage.migrate()');
wait_for($stops,
	"SELECT count(*) = 2 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = point_key('copied')::oid"
);
is( $node->safe_psql(
		'app',
		"SELECT count(DISTINCT relation) FROM _tiered_storage.plan_moves() WHERE state = 'running'"
	),
	2,
	'two move, and not the same');
let_go($stops, 'copied');
unlike(finish_sql($run), qr/ERROR/, 'none fails');
run_cycle($node, 'app');
is(queue(), '', 'all is moved');
is( $node->safe_psql(
		'app',
		"SELECT relation, count(*) FILTER (WHERE state = 'done'), max(failures) FROM _tiered_storage.moves WHERE relation ~ 'd_[6-9]' GROUP BY 1 ORDER BY 1"
	),
	join("\n", map { "d_$_|1|0" } 6 .. 9),
	'each once');
is( $node->safe_psql('app', "SELECT count(*) FROM d WHERE d >= '2006-01-01'"),
	4000,
	'with all its rows');
$stops->quit;

# ---------------------------------------------------------------------
note 'Locked ones, all of one owner';
# ---------------------------------------------------------------------

# Three are in use for a long time, and come first.
create_due($_) foreach 11 .. 15;
reload_with(
	$node,
	'tiered_storage.move_lock_timeout' => '10ms',
	'tiered_storage.debug_lock_attempts' => 1);
my $user = $node->background_psql('app');
$user->query_safe('BEGIN');
$user->query_safe("LOCK TABLE ONLY d_$_ IN ACCESS SHARE MODE")
  foreach 11 .. 13;
run_cycle($node, 'app');
like(on_slow(), qr/d_14 d_15$/,
	'relations that are locked hold up none that is not');
is( $node->safe_psql(
		'app',
		"SELECT relation, state, failures, last_error ~ '^could not lock' FROM _tiered_storage.plan_moves() ORDER BY place"
	),
	"d_11|failed|1|t\nd_12|failed|1|t\nd_13|failed|1|t",
	'and each of them is tried again later');

# When the worker has no more time for them, they are not even copied.
my $again =
  "UPDATE _tiered_storage.move SET next_attempt_at = now() WHERE state = 'skipped'";
$node->safe_psql('app', $again);
create_due(16);
reload_with($node, 'tiered_storage.debug_skip' => 'owner_patience');
run_cycle($node, 'app');
like(on_slow(), qr/d_16$/, 'one that is free is moved all the same');
is( $node->safe_psql(
		'app', q(
SELECT q.relation, q.state, q.failures, m.error ~ '^it is in use', m.copied_bytes > 0
	FROM _tiered_storage.plan_moves() q JOIN _tiered_storage.move m ON m.relation_oid = q.relation::regclass ORDER BY place)
	),
	"d_11|failed|2|f|t\nd_12|failed|2|t|f\nd_13|failed|2|t|f",
	'the others are copied no more after the first');
$user->query_safe('COMMIT');
$user->quit;
$node->safe_psql('app', $again);
run_cycle($node, 'app');
is(queue(), '', 'and are moved when they are free');
reload_with(
	$node,
	'tiered_storage.debug_skip' => '',
	'tiered_storage.move_lock_timeout' => '200ms',
	'tiered_storage.debug_lock_attempts' => 30);

# ---------------------------------------------------------------------
note 'What is copied for nothing';
# ---------------------------------------------------------------------

# It counts for a move window: there is room for two tries, and not for a third.
create_due(20);
$node->safe_psql(
	'app', q(
SELECT tiered_storage.add_move_window('all day', NULL, '00:00', '24:00', 'UTC', max_bytes => 1000000000000);
SET tiered_storage.test_now = '2030-01-01 23:00+00';
SELECT moved_bytes + 5 * size_bytes / 2 AS most FROM _tiered_storage.move_windows, _tiered_storage.plan_moves() \gset
SELECT tiered_storage.remove_move_window('all day');
SELECT tiered_storage.add_move_window('all day', NULL, '00:00', '24:00', 'UTC', max_bytes => :most);
));
my $try =
  "SET tiered_storage.test_now = '2030-01-01 23:00+00'; SET tiered_storage.move_lock_timeout = '10ms'; SET tiered_storage.debug_lock_attempts = 1; CALL tiered_storage.migrate()";
my $holder = $node->background_psql('app');
$holder->query_safe('BEGIN');
$holder->query_safe('LOCK TABLE d_20 IN ACCESS SHARE MODE');
foreach my $n (1, 2)
{
	like(
		notices_of($node, 'app', $try),
		qr/could not move public\.d_20: could not lock the relation/,
		"try $n fails when it has copied everything");
}
$holder->query_safe('COMMIT');
$holder->quit;
like(
	notices_of($node, 'app', $try),
	qr/Waiting for window "all day", opens .*: the open window has less than its \d+ kB left/,
	'a third one waits, although it would succeed');
is( $node->safe_psql(
		'app',
		"SET tiered_storage.test_now = '2030-01-01 23:00+00'; SELECT max_bytes - moved_bytes < size_bytes, moved_bytes <= max_bytes FROM _tiered_storage.move_windows, _tiered_storage.plan_moves()"
	),
	't|t',
	'as the view says');
$node->safe_psql('app',
	"SELECT tiered_storage.remove_move_window('all day'); UPDATE _tiered_storage.move SET next_attempt_at = now() WHERE state = 'skipped'"
);
run_cycle($node, 'app');
is(queue(), '', 'without the window it is moved');

# ---------------------------------------------------------------------
note 'An update of the extension meanwhile';
# ---------------------------------------------------------------------

# What ALTER EXTENSION UPDATE does to the row, which waits for nobody.
sub set_version
{
	my ($version) = @_;

	$node->safe_psql('app',
		"UPDATE pg_extension SET extversion = '$version' WHERE extname = 'tiered_storage'"
	);
	return;
}

my $version = $node->safe_psql('app',
	"SELECT extversion FROM pg_extension WHERE extname = 'tiered_storage'");
create_due($_) foreach 21 .. 23;
$stops = new_stops($node, 'app');
hold($stops, 'copied');
$run = start_sql($node, 'app', 'CALL tiered_storage.migrate()');
wait_stopped($stops, 'copied');
set_version('99');
let_go($stops, 'copied');
like(
	finish_sql($run),
	qr/WARNING:  55000: nothing more is moved: the extension was updated or dropped concurrently/,
	'ends the run, which says so');
$stops->quit;
unlike(on_slow(), qr/d_2[123]/, 'and nothing is moved by the old library');
set_version($version);
run_cycle($node, 'app');
$node->safe_psql('app', 'CALL tiered_storage.migrate()');
like(on_slow(), qr/d_21 d_22 d_23$/, 'but by the next run');
is(queue(), '', 'which leaves nothing');
is(stray_files($node, 'app'), '', 'and no file');

# Just after a swap, of a table without TOAST: what has moved is not said to have failed.
$node->safe_psql('app', 'ALTER TABLE d ALTER t SET STORAGE PLAIN');
create_due(24);
$stops = new_stops($node, 'app');
hold($stops, 'swapped');
$run = start_sql($node, 'app', 'CALL tiered_storage.migrate()');
wait_stopped($stops, 'swapped');
set_version('99');
let_go($stops, 'swapped');
finish_sql($run);
$stops->quit;
like(on_slow(), qr/ d_24$/, 'one that ends just after its swap has moved');
set_version($version);
$node->safe_psql('app', 'CALL tiered_storage.migrate()');
is( $node->safe_psql(
		'app',
		"SELECT state, failures, next_attempt_at, error FROM _tiered_storage.moves WHERE relation = 'd_24'"
	),
	'done|0||',
	'as its record says');

# ---------------------------------------------------------------------
note 'Pressure';
# ---------------------------------------------------------------------

$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
is( $standby->safe_psql(
		'app', 'SELECT count(*) FROM _tiered_storage.move_queue_entries()'),
	0,
	'a standby has no stored plan, which is no error');
reload_with($node, 'tiered_storage.move_max_lag' => '1MB');
create_due(10);
$node->wait_for_catchup($standby);

sub write_wal
{
	$node->safe_psql('app',
		'CREATE TABLE noise AS SELECT generate_series(1, 100000); DROP TABLE noise'
	);
	return;
}

sub stays
{
	my ($why, $what) = @_;

	like(reason(), $why, $what);
	run_cycle($node, 'app');
	unlike(on_slow(), qr/d_10/, "$what: it is not moved");
	like(
		$node->safe_psql(
			'app',
			"SELECT replace(finding, E'\\n', ' ') FROM tiered_storage.preflight('d_10', 'hdd', include_all => true) WHERE check_name = 'start'"
		),
		qr/automatic moves: waiting: /,
		"$what: preflight() says so");
	return;
}

$standby->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
write_wal();
$node->poll_query_until('app',
	'SELECT sent_lsn - replay_lsn > 2000000 FROM pg_stat_replication')
  or die 'the standby does not fall behind';
stays(
	qr/^waiting: standby "standby" is \d+ (kB|MB) behind \(move_max_lag is 1024 kB\)$/,
	'a standby that lags');

# Its WAL would fill pg_wal, which is worse than a tier that is full.
$node->safe_psql(
	'app', q(
SELECT tiered_storage.alter_tier('ssd', device => jsonb_build_object('capacity_bytes', 100000)),
	tiered_storage.add_fullness_policy('ssd', 'hdd', high_watermark => 0.5, low_watermark => 0.1)
));
stays(
	qr/^waiting: standby "standby" is /,
	'also from a tier that is too full');
like(
	$node->safe_psql(
		'app', 'SELECT last_result FROM _tiered_storage.fullness_policies'),
	qr/ full, above 50\.0 %.*; waiting: standby "standby" is /,
	'which its policy says');
$node->safe_psql(
	'app', q(
SELECT tiered_storage.remove_policy(tier => 'ssd'),
	tiered_storage.alter_tier('ssd', device => jsonb_build_object('capacity_bytes', NULL))
));
$node->safe_psql(
	'app', q(
CREATE ROLE stranger;
GRANT USAGE ON SCHEMA tiered_storage TO stranger;
GRANT EXECUTE ON FUNCTION tiered_storage.preflight TO stranger;
));
like(
	$node->safe_psql(
		'app',
		"SET ROLE stranger; SELECT replace(finding, E'\\n', ' ') FROM tiered_storage.preflight('d_10', 'hdd', include_all => true) WHERE check_name = 'start'"
	),
	qr/waiting: a standby is too far behind/,
	'whose name, and how far it is, not everybody may know');
like(
	notices_of($node, 'app', 'CALL tiered_storage.migrate()'),
	qr/1 relation is not moved now\nDETAIL:  Waiting: standby "standby" is/,
	'migrate() waits, too');
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');
$node->wait_for_catchup($standby);
like(queue($standby),
	qr/^d_10\|waiting\|0\|waiting: the server is in recovery$/,
	'on a standby');
$standby->stop;

$node->safe_psql('app',
	"SELECT pg_create_physical_replication_slot('idle', true)");
write_wal();
stays(
	qr/^waiting: replication slot "idle" keeps \d+ (kB|MB) of WAL \(move_max_lag is 1024 kB\)$/,
	'a slot that nobody reads');
reload_with($node, 'tiered_storage.move_max_lag' => -1);
like(reason(), qr/^the worker plans/, 'however far, if that is allowed');
reload_with(
	$node,
	'tiered_storage.move_max_lag' => '1MB',
	archive_command => 'false');
$node->safe_psql('app', "SELECT pg_drop_replication_slot('idle')");
$node->safe_psql('app', 'CREATE TABLE more_noise (); SELECT pg_switch_wal()');
$node->poll_query_until('app',
	'SELECT last_failed_time > last_archived_time FROM pg_stat_archiver')
  or die 'archiving does not fail';
stays(qr/^waiting: WAL cannot be archived, last tried at \d{4}/,
	'an archive that fails');
reload_with($node, archive_command => 'true');
$node->poll_query_until('app',
	'SELECT last_failed_time < last_archived_time FROM pg_stat_archiver')
  or die 'archiving does not go on';
like(reason(), qr/^the worker plans/, 'nothing is in the way any more');
run_cycle($node, 'app');
like(on_slow(), qr/d_10/, 'and it is moved');

# ---------------------------------------------------------------------
note 'A failover with each state in the queue';
# ---------------------------------------------------------------------

# The first has failed, the second runs, the third is ready.
reload_with($node, 'tiered_storage.move_max_lag' => -1);
$standby->start;
create_due(17, 'UNLOGGED');
run_cycle($node, 'app');
create_due($_) foreach 18, 19;
$stops = new_stops($node, 'app');
hold($stops, 'copied');
$node->safe_psql('app', 'SELECT _tiered_storage.notify_launcher()');
wait_stopped($stops, 'copied');
is( $node->safe_psql(
		'app',
		"SELECT relation, state FROM _tiered_storage.plan_moves() ORDER BY relation::text"
	),
	"d_17|failed\nd_18|running\nd_19|ready",
	'before it');
$failed = $node->safe_psql('app',
	"SELECT failures, last_error FROM _tiered_storage.plan_moves() WHERE relation = 'd_17'::regclass"
);
$node->wait_for_catchup($standby);
$node->stop('immediate');
eval { $stops->quit };
$standby->promote;
$standby->poll_query_until('app',
	"SELECT string_agg(relation::text || ' ' || state, ', ') = 'd_17 failed' FROM _tiered_storage.plan_moves()"
) or die 'the promoted server does not go on: ' . queue($standby);
is( $standby->safe_psql(
		'app',
		"SELECT failures, last_error FROM _tiered_storage.plan_moves() WHERE relation = 'd_17'::regclass"
	),
	$failed,
	'the promoted server knows what has failed');
is(tablespaces_of($standby, 'app', 'd_18', 'd_19'),
	'slow', 'and has moved the rest');
is( $standby->safe_psql(
		'app',
		"SELECT count(*) FROM d WHERE d IN ('2018-01-01', '2019-01-01')"),
	2000,
	'with all rows');
is(stray_files($standby, 'app'), '', 'and no file is left');

$standby->stop;
done_testing();

# Settings that a role, a database or the server has for the statements of an
# application, and moves: isolation level, read-only, time limits.
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

my $node = new_node(
	'main',
	conf => q(
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1s'
tiered_storage.migrate_interval = '1s'
));
$node->start;
create_in_place_tablespace($node, 'slow');
$node->safe_psql('postgres', 'CREATE DATABASE app');
create_measurements($node, 'app', 1, 2);
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
SELECT tiered_storage.add_tiering_policy('measure', '90 days', 'slow');
));
prepare_matter($node, 'app');
create_matter($node, 'app', 'matter1');
my $stops = new_stops($node, 'app');

sub state_of
{
	my ($relation) = @_;
	return record_of_move($node, 'app', $relation);
}

# ---------------------------------------------------------------------
note 'Isolation level';
# ---------------------------------------------------------------------

# Somebody changes the record of a move while the move wants to complete it.  In a
# transaction of a higher level that could not be serialized.
my $target = 'slow';
foreach my $level ('repeatable read', 'serializable')
{
	my $move = stop_move(
		$node,
		'app',
		$stops,
		'copied',
		'heap',
		'm_next',
		$target,
		"SET default_transaction_isolation = '$level'",
		'SET default_transaction_deferrable = on');

	$stops->query_safe(
		"BEGIN; UPDATE _tiered_storage.move SET reason = 'changed' WHERE pid = $move->{pid}"
	);
	let_go($stops, 'copied');
	wait_for($stops,
		"SELECT count(*) = 1 FROM pg_locks WHERE pid = $move->{pid} AND locktype = 'transactionid' AND NOT granted"
	);
	$stops->query_safe('COMMIT');
	is(finish_sql($move->{run}), '', "$level: a move");
	is(state_of('m_next'), 'done|', "$level: and its record");
	$target = 'pg_default';
}

# Whoever calls from a DO block goes on with settings of his own.
like(
	notices_of(
		$node, 'app', q(
SET default_transaction_isolation = 'repeatable read';
SET lock_timeout = '1ms';
DO $$
BEGIN
	CALL tiered_storage.move_relation('m_next', 'slow');
	RAISE NOTICE '% % % %', current_setting('transaction_isolation'), current_setting('lock_timeout'),
		current_setting('deadlock_timeout'), current_setting('transaction_read_only');
END $$)),
	qr/repeatable read 1ms 1s off/,
	'what comes after the CALL has the settings of the session');
is(tablespaces_of($node, 'app', 'm_next'),
	'slow', 'and the table was moved with a lock_timeout of 1 ms');

# ---------------------------------------------------------------------
note 'Read only';
# ---------------------------------------------------------------------

my $moves =
  $node->safe_psql('app', 'SELECT count(*) FROM _tiered_storage.move');
foreach my $call (
	"move_relation('m_next', 'pg_default')", 'migrate()',
	'apply_placement()', 'undo_move(1)',
	'sample()')
{
	my ($name) = $call =~ /^(\w+)/;
	like(
		error_of(
			$node,
			'app',
			"SET default_transaction_read_only = on; CALL tiered_storage.$call"
		),
		qr/ERROR:  25006: cannot execute CALL tiered_storage.$name in a read-only transaction/,
		"$name() is refused in a read-only session");
}
is($node->safe_psql('app', 'SELECT count(*) FROM _tiered_storage.move'),
	$moves, 'before anything was done');

# Switched on when the move has begun, which looks at the configuration after
# each batch: it comes to its end.
my $run =
  stop_move($node, 'app', $stops, 'copying', 'heap', 'm_next', 'pg_default')
  ->{run};
reload_with($node, default_transaction_read_only => 'on');
$node->poll_query_until('app',
	"SELECT setting = 'on' FROM pg_settings WHERE name = 'default_transaction_read_only'"
) or die 'the configuration is not read';
let_go($stops, 'copying');
is(finish_sql($run), '', 'a move that has begun is not stopped by it');
is(state_of('m_next'), 'done|', 'nor its record');
{
	local $ENV{PGOPTIONS} = '-c default_transaction_read_only=off';
	$node->safe_psql('postgres',
		'ALTER SYSTEM RESET default_transaction_read_only');
	$node->reload;
}

# ---------------------------------------------------------------------
note 'Time limits of a session';
# ---------------------------------------------------------------------

# It stands at a stop point until its time is over.
hold($stops, 'copying');
like(
	error_of(
		$node,
		'app',
		"SET statement_timeout = '10s'; CALL tiered_storage.move_relation('matter1', 'slow', include_indexes => false)"
	),
	qr/ERROR:  57014: canceling statement due to statement timeout\nHINT:  statement_timeout applies to the whole CALL/,
	'statement_timeout ends the CALL, and says what it is for');
is(state_of('matter1'), 'failed|57014', 'it is in the record');
is( $node->safe_psql('app', 'SELECT count(*) FROM _tiered_storage.move_file'),
	0,
	'and no file is left behind');
let_go($stops, 'copying');
is(stray_files($node, 'app'), '', 'really');
is( notices_of(
		$node, 'app', q(
SET tiered_storage.log_moves = off;
SET statement_timeout = '1h';
SET idle_in_transaction_session_timeout = '1ms';
SET lock_timeout = '1ms';
CALL tiered_storage.move_relation('matter1', 'slow', include_indexes => false))
	),
	'',
	'limits that are for something else do not end a move');
is(state_of('matter1'), 'done|', 'which is done');

# A move takes many transactions, none of which gets old; without "patience" 100 ms
# are enough for that.
my $stop = stop_move($node, 'app', $stops, 'copying', 'heap', 'matter1',
	'pg_default', "SET tiered_storage.debug_skip = 'patience queueing'");
my $age = "SELECT xact_start FROM pg_stat_activity WHERE pid = $stop->{pid}";
my $first = $stops->query_safe($age);
wait_for($stops,
	"SELECT clock_timestamp() > xact_start + interval '150 ms' FROM pg_stat_activity WHERE pid = $stop->{pid}"
);
step_to($stops, 'copying', 'backing_off');
step_to($stops, 'backing_off', 'copied');
isnt($stops->query_safe($age),
	$first, 'a copy goes on in another transaction when the first is old');
let_go($stops, 'copied');
is(finish_sql($stop->{run}), '', 'and comes to its end');
is(state_of('matter1'), 'done|', 'as does its record');

SKIP:
{
	skip
	  '*** transaction_timeout is NOT TESTED: it needs a server of 17 or newer',
	  5
	  if $node->safe_psql(
		'postgres',
		"SELECT count(*) FROM pg_settings WHERE name = 'transaction_timeout'"
	  ) == 0;

	# The first one is long enough for a CALL to begin on a machine that has other work.
	foreach my $limit ('4s', '10min')
	{
		$stop = stop_move($node, 'app', $stops, 'copying', 'heap', 'matter1',
			'slow', "SET transaction_timeout = '$limit'");

		# Until it would have been ended, in the short one.
		wait_for($stops,
			"SELECT clock_timestamp() > xact_start + interval '4500 ms' FROM pg_stat_activity WHERE pid = $stop->{pid}"
		);
		let_go($stops, 'copying');
		is(finish_sql($stop->{run}), '', "transaction_timeout = $limit");
		is(state_of('matter1'), 'done|', 'does not end a move');
		$node->safe_psql('app',
			"CALL tiered_storage.move_relation('matter1', 'pg_default', include_indexes => false)"
		);
	}
	like(
		notices_of(
			$node, 'app', q(
SET transaction_timeout = '1h';
DO $$
BEGIN
	CALL tiered_storage.move_relation('m_next', 'slow');
	RAISE NOTICE 'timeout %', current_setting('transaction_timeout');
END $$)),
		qr/timeout 1h/,
		'what comes after the CALL has a limit again');
}

# ---------------------------------------------------------------------
note 'The server log';
# ---------------------------------------------------------------------

reload_with($node, 'tiered_storage.auto_migrate' => 'policies');
my $offset = -s $node->logfile;
ok( $node->poll_query_until(
		'app',
		"SELECT count(*) = 2 FROM _tiered_storage.moves WHERE relation IN ('m_2001_01', 'm_2001_02') AND state = 'done'"
	),
	'moves of the worker');
wait_for_cycle($node, 'app');
like(
	log_lines($node, $offset, qr/LOG:  moved/),
	qr/LOG:  moved table public.m_2001_01 from tablespace "pg_default" to tablespace "slow" for role "\w+" in [\d.]+ s, (paused or waiting for [\d.]+ s, )?locked for [\d.]+ ms\n/,
	'each move is in the server log');
$offset = -s $node->logfile;
my $said = notices_of($node, 'app',
	"SET client_min_messages = log; CALL tiered_storage.move_relation('m_2001_01', 'pg_default', include_indexes => false); SET tiered_storage.log_moves = off; CALL tiered_storage.move_relation('m_2001_01', 'slow', include_indexes => false)"
);
like(
	$said,
	qr/NOTICE:  00000: moved table public.m_2001_01 from tablespace "slow" to tablespace "pg_default": \d+ \w+ in [\d.]+ s, (paused or waiting for [\d.]+ s, )?locked for [\d.]+ ms\n/,
	'and on the screen of who asked for it');
unlike($said, qr/to tablespace "slow"|LOG:  00000: moved|failed/, 'once');
like(
	log_lines($node, $offset, qr/LOG:  moved/),
	qr/^.*from tablespace "slow" to tablespace "pg_default".*$/,
	'unless log_moves is off');
like(
	error_of(
		$node,
		'app',
		'CREATE ROLE nosy; SET ROLE nosy; SET tiered_storage.log_moves = off'
	),
	qr/ERROR:  42501/,
	'which not everybody may do');

# ---------------------------------------------------------------------
note 'Databases that nobody can connect to';
# ---------------------------------------------------------------------

$stops->quit;
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach qw(broken closed);
$node->safe_psql($_, 'CREATE EXTENSION tiered_storage')
  foreach qw(broken closed);
wait_for_cycle($node, 'broken');
wait_for_cycle($node, 'closed');

# What DROP DATABASE leaves when it is interrupted.
$node->safe_psql('postgres',
	"UPDATE pg_database SET datconnlimit = -2 WHERE datname = 'broken'");
$node->safe_psql('postgres', 'ALTER DATABASE closed ALLOW_CONNECTIONS false');
my %reasons = (
	broken =>
	  'not running|the database is invalid, because DROP DATABASE was interrupted; drop it',
	closed => 'not running|the database does not allow connections');
foreach my $when ('', ', also after a restart')
{
	is(worker_of($node, 'app', $_), $reasons{$_}, "the view says why$when")
	  foreach sort keys %reasons;
	next if $when ne '';
	$offset = -s $node->logfile;
	$node->restart;

	# The launcher starts workers for all databases that are due.
	wait_for_cycle($node, 'app');
	wait_for_cycle($node, 'app');
}
is(log_lines($node, $offset, qr/FATAL:  (?!terminating)/),
	'', 'no worker is started for them');
$node->safe_psql('postgres', 'DROP DATABASE broken');
is(worker_of($node, 'app', 'broken'), '', 'they can be dropped');

$node->stop;

done_testing();

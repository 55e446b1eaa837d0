# pause() and the worker: it gives up what it moves, leaves no file, and is out of the
# database, which can be a template, be renamed and dropped; resume() begins anew.  Calls
# of sessions wait, and pause() says so.
#
# On every major.  In make test.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

# Slow enough to be found in the middle of a copy.
my %slow = ('tiered_storage.move_rate_limit' => '1MB');

my $node = new_node(
	'main',
	conf => q(
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = 1
tiered_storage.move_lock_timeout = '10s'
));
$node->start;
create_in_place_tablespace($node, 'slow');
$node->safe_psql('postgres', 'CREATE DATABASE app');
prepare_matter($node, 'app');
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('hdd', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
CREATE TABLE m (d date, t text) PARTITION BY RANGE (d);
CREATE TABLE m_1 PARTITION OF m FOR VALUES FROM ('2020-01-01') TO ('2020-02-01');
INSERT INTO m SELECT '2020-01-05', repeat(md5(g::text), 8) FROM generate_series(1, 60000) g;
CREATE TABLE mine AS SELECT * FROM m;
));
my $rows = fingerprint($node, 'app', 'm_1');

sub start_worker_move
{
	$node->safe_psql('app', 'SELECT _tiered_storage.notify_launcher()');
	$node->poll_query_until('app',
		"SELECT phase = 'copying' AND blocks_done > 0 FROM _tiered_storage.move_progress WHERE relation = 'm_1'"
	) or die 'the worker moves nothing';
	return $node->safe_psql('app',
		"SELECT pid FROM _tiered_storage.move_progress WHERE relation = 'm_1'"
	);
}

sub is_left
{
	my ($name) = @_;

	is(stray_files($node, 'app'), '', "$name: no file is left of the copy");
	is(tablespaces_of($node, 'app', 'm_1'),
		'pg_default', "$name: the relation is where it was");
	return;
}

# ---------------------------------------------------------------------
note 'In the middle of a copy';
# ---------------------------------------------------------------------

reload_with($node, %slow);
$node->safe_psql('app',
	"SELECT tiered_storage.add_tiering_policy('m', '90 days', 'hdd')");
my $pid = start_worker_move();
my $offset = -s $node->logfile;
$node->safe_psql('postgres', $_)
  foreach 'ALTER DATABASE app RENAME TO app_renamed',
  'ALTER DATABASE app_renamed RENAME TO app';
pass('who renames a database does not have to pause its moves');

# The worker begins anew, and does not leave for a role without rights.  The server takes the lock
# before it looks at them, for a moment; a function of the owner makes that the five seconds for
# which RENAME waits for the worker.
$pid = start_worker_move();
$node->safe_psql(
	'postgres', q(CREATE ROLE other LOGIN;
CREATE FUNCTION rename_app() RETURNS void LANGUAGE sql SECURITY DEFINER
	AS 'ALTER DATABASE app RENAME TO taken';));
my (undef, undef, $error) = $node->psql(
	'postgres',
	'SELECT rename_app()',
	extra_params => [ '-U', 'other' ]);
like(
	$error,
	qr/database "app" is being accessed by other users/,
	'a role without rights does not stop the move');
is( $node->safe_psql(
		'app',
		"SELECT count(*) FROM _tiered_storage.move_progress WHERE pid = $pid"
	),
	1,
	'the move goes on');
is($node->safe_psql('app', 'SELECT tiered_storage.pause()'),
	't', 'moves are paused');
is( $node->safe_psql(
		'postgres', "SELECT count(*) FROM pg_stat_activity WHERE pid = $pid"),
	0,
	'the worker is not in the database');
is_left('paused');
is( $node->safe_psql(
		'app',
		'SELECT state, sqlstate, error FROM _tiered_storage.moves ORDER BY move_id DESC LIMIT 1'
	),
	'skipped|57014|moves were paused',
	'the record says why');
is( $node->safe_psql(
		'app',
		'SELECT relation, state, reason FROM _tiered_storage.plan_moves()'),
	'm_1|waiting|waiting: moves are paused, see resume()',
	'it is no failure');
$node->safe_psql('postgres', $_)
  foreach 'CREATE DATABASE app_copy TEMPLATE app',
  'ALTER DATABASE app RENAME TO app_renamed',
  'ALTER DATABASE app_renamed RENAME TO app',
  'DROP DATABASE app_copy';
pass('the database is a template, renamed, and a copy of it dropped');
run_cycle($node, 'app');
like(
	worker_of($node, 'app', 'app'),
	qr/^waiting\|until the next sample; moves nothing until/,
	'samples go on');
is_left('after a sample');
is(log_lines($node, $offset, qr/ (ERROR|FATAL): /),
	'', 'nothing of it is an error');

# ---------------------------------------------------------------------
note 'Resumed';
# ---------------------------------------------------------------------

reload_with($node, 'tiered_storage.move_rate_limit' => 0);
is($node->safe_psql('app', 'SELECT tiered_storage.resume()'),
	't', 'moves are resumed');
$node->poll_query_until('app',
	"SELECT count(*) > 0 FROM _tiered_storage.moves WHERE relation = 'm_1' AND state = 'done'"
) or die 'the worker does not move it';
is(tablespaces_of($node, 'app', 'm_1'), 'slow', 'the worker begins anew');
is(fingerprint($node, 'app', 'm_1'), $rows, 'with all rows');

# ---------------------------------------------------------------------
note 'Waiting for a lock';
# ---------------------------------------------------------------------

# A sample that waits for a table of ours does not look whether moves are paused.
my $locker = $node->background_psql('app');
$locker->query_safe(
	'BEGIN; LOCK TABLE _tiered_storage.tier IN ACCESS EXCLUSIVE MODE');
$node->safe_psql('app', 'SELECT _tiered_storage.notify_launcher()');
my $waiting =
  "SELECT count(*) > 0 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND backend_type = 'tiered_storage worker'";
$node->poll_query_until('postgres', $waiting)
  or die 'no worker waits for the lock';
$locker->query_safe('SET client_min_messages = error');
$locker->query_safe('SELECT tiered_storage.pause()');
is($locker->query_safe($waiting),
	't', 'in a transaction block pause() waits for nobody');
$node->safe_psql('app', 'SELECT tiered_storage.pause()');
is($locker->query_safe($waiting),
	'f', 'outside of one the worker is cancelled');
is( $locker->query_safe(
		"SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'tiered_storage worker' AND datname = 'app'"
	),
	0,
	'and gone');
$locker->query_safe('ROLLBACK');
$locker->quit;
is( $node->safe_psql(
		'app',
		"SELECT failures, last_error FROM _tiered_storage.worker_status() WHERE database_name = 'app'"
	),
	'0|',
	'which is no failure');

# ---------------------------------------------------------------------
note 'Sessions';
# ---------------------------------------------------------------------

my $call =
  start_sql($node, 'app', "CALL tiered_storage.move_relation('mine', 'hdd')");
$node->poll_query_until('app',
	"SELECT phase = 'paused' FROM _tiered_storage.move_progress WHERE relation = 'mine'"
) or die 'the call does not wait';
$pid = $node->safe_psql('app',
	"SELECT pid FROM _tiered_storage.move_progress WHERE relation = 'mine'");
like(
	notices_of($node, 'app', 'SELECT tiered_storage.pause()'),
	qr/NOTICE:  00000: 1 session waits with its move for tiered_storage\.resume\(\)\nDETAIL:  Its process is $pid\.\n/,
	'pause() says who is left');
is($node->safe_psql('app', 'SELECT tiered_storage.resume()'),
	't', 'moves are resumed');
finish_sql($call);
is(tablespaces_of($node, 'app', 'mine'), 'slow', 'the call goes on');

# ---------------------------------------------------------------------
note 'Names that change during a run';
# ---------------------------------------------------------------------

# A dump has them from the last sample, which is taken between the moves of the run.
$node->safe_psql(
	'app', q(
CREATE TABLE pinned (id int);
SELECT tiered_storage.pin('pinned');
CREATE TABLE n (d date, t text) PARTITION BY RANGE (d);
SELECT format('CREATE TABLE n_%s PARTITION OF n FOR VALUES FROM (%L) TO (%L)', i, date '2020-01-01' + i, date '2020-01-02' + i)
FROM generate_series(1, 60) i
\gexec
INSERT INTO n SELECT date '2020-01-01' + g % 60 + 1, repeat(md5(g::text), 8) FROM generate_series(1, 90000) g;
));
reload_with(
	$node,
	'tiered_storage.move_rate_limit' => '1MB',
	'tiered_storage.sample_interval' => '1s');
$node->safe_psql('app',
	"SELECT tiered_storage.add_tiering_policy('n', '90 days', 'hdd')");
my $done =
  "SELECT count(*) FROM _tiered_storage.moves WHERE relation ~ '^n_' AND state = 'done'";
$node->poll_query_until('app', "SELECT ($done) > 0")
  or die 'the worker moves nothing';
$node->safe_psql('app', 'ALTER TABLE pinned RENAME TO pinned_renamed');
$node->poll_query_until('app',
	"SELECT (SELECT relation_name = 'pinned_renamed' FROM _tiered_storage.pin) OR ($done) = 60"
) or die 'neither is the name stored, nor does the run end';
is( $node->safe_psql(
		'app',
		"SELECT relation_name FROM _tiered_storage.pin WHERE ($done) < 60"),
	'pinned_renamed',
	'a sample between moves stores a new name');

# ---------------------------------------------------------------------
note 'Nothing is left';
# ---------------------------------------------------------------------

reload_with($node, 'tiered_storage.sample_interval' => '1s');
$node->safe_psql('app', 'SELECT tiered_storage.pause()');
my $file = $node->data_dir . '/tiered_storage.paused';
wait_for_cycle($node, 'app');
ok(-e $file, 'a pause is kept while a database has the extension');
$node->safe_psql($_, 'DROP EXTENSION IF EXISTS tiered_storage')
  foreach split /\n/,
  $node->safe_psql(
	'postgres',
	'SELECT datname FROM pg_database WHERE datallowconn AND NOT datistemplate'
  );
# A start looks at all of them; else each is looked at again after ten minutes.
$node->restart;
for (my $i = 0; -e $file && $i < 1800; $i++)
{
	$node->safe_psql('postgres', 'SELECT pg_sleep(0.1)');
}
ok(!-e $file, 'and goes with the last one that has it');

$node->stop;
done_testing();

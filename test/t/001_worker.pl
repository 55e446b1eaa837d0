# The launcher and the workers: from CREATE EXTENSION to DROP DATABASE, through
# reloads, terminations and crashes.
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

# A worker that was stopped in the middle of a move tries again at once, one that
# waited for a lock in vain after a minute; the long timeout keeps it waiting for
# as long as a test needs it.
my $node = new_node(
	'main',
	conf => q(
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = '1h'
tiered_storage.auto_migrate = off
max_prepared_transactions = 2
));
$node->start;
create_in_place_tablespace($node, 'seen');
$node->safe_psql('postgres', "CREATE DATABASE $_")
  foreach qw(app other plain);

# The launcher looks at the databases when it starts.
$node->restart;

my $launcher_pid_sql =
  "SELECT pid FROM pg_stat_activity WHERE backend_type = 'tiered_storage launcher'";

sub samples
{
	my ($db) = @_;
	return $node->safe_psql($db,
		'SELECT samples FROM _tiered_storage.sampler');
}

# A worker of app that holds still: it waits for a lock on m_2001_09, which the
# session returned holds.  Its pid is the second value.
sub make_worker_wait
{
	my $session = $node->background_psql('app');

	create_partition($node, 'app', 9);
	$session->query_safe('BEGIN');
	$session->query_safe('LOCK TABLE m_2001_09 IN ACCESS SHARE MODE');
	reload_with($node, 'tiered_storage.auto_migrate' => 'policies');
	wait_for_lock_wait($node, 'app', 'm_2001_09');
	my $pid = $node->safe_psql('app',
		"SELECT pid FROM _tiered_storage.worker_status() WHERE database_name = 'app' AND state = 'running'"
	);
	isnt($pid, '', 'a worker at work is "running", with its pid');
	is( $node->safe_psql(
			'app', 'SELECT pid FROM _tiered_storage.move_progress'),
		$pid,
		'and it is the one that moves');
	return ($session, $pid);
}

sub wait_for_move
{
	my ($what) = @_;

	ok( $node->poll_query_until(
			'app',
			"SELECT count(*) = 3 FROM _tiered_storage.moves WHERE relation ~ '^m_2001_09' AND state = 'done'"
		),
		$what);
	is(tablespaces_of($node, 'app', 'm_2001_09'), 'slow', "$what: all of it");
	$node->safe_psql('app', 'DROP TABLE m_2001_09');
	return;
}

# ---------------------------------------------------------------------
note 'CREATE EXTENSION';
# ---------------------------------------------------------------------

ok( $node->poll_query_until(
		'postgres', "SELECT count(*) = 1 FROM ($launcher_pid_sql) l"),
	'the launcher runs');
create_measurements($node, 'app', 1, 2);
$node->safe_psql('app', 'CREATE EXTENSION tiered_storage');

# No interval has passed: without the notification the launcher would look again
# in ten minutes.
ok( $node->poll_query_until(
		'app',
		"SELECT state = 'waiting' AND last_finished_at IS NOT NULL FROM _tiered_storage.worker_status() WHERE database_name = 'app'"
	),
	'CREATE EXTENSION wakes the worker');
is( $node->safe_psql(
		'app',
		q(SELECT last_finished_at - c.created < interval '5 minutes', next_run_at - last_started_at, failures, last_error IS NULL
		FROM _tiered_storage.worker_status(), (SELECT min(sampled_since) AS created FROM _tiered_storage.relation_state) c
		WHERE database_name = 'app')),
	't|01:00:00|0|t',
	'at once, and the next run comes after the interval');
is(samples('app'), 2, 'one sample by CREATE EXTENSION, one by the worker');
is( worker_of($node, 'app', 'app'),
	'waiting|until the next sample; moves nothing, because tiered_storage.auto_migrate is off',
	'the view says why it moves nothing');
is( worker_of($node, 'app', 'plain'),
	'not running|the database does not have the extension',
	'a database without the extension');
is( worker_of($node, 'app', 'template1'),
	'not running|the database is a template',
	'a template');
is( worker_of($node, 'app', 'template0'),
	'not running|the database does not allow connections',
	'a database without connections');

$node->safe_psql('other', 'CREATE EXTENSION tiered_storage');
$node->poll_query_until('other',
	'SELECT samples = 2 FROM _tiered_storage.sampler')
  or die 'no worker came';
is(samples('other'), 2, 'the worker of a second database runs too');

# Not discovered by anybody.
create_in_place_tablespace($node, 'slow', 'shared');

# ---------------------------------------------------------------------
note 'Reload';
# ---------------------------------------------------------------------

reload_with(
	$node,
	'tiered_storage.sample_interval' => '1s',
	'tiered_storage.migrate_interval' => '1s',
	'tiered_storage.move_lock_timeout' => '60s');
wait_for_cycle($node, 'app');
wait_for_cycle($node, 'app');
cmp_ok(samples('app'), '>', 3, 'a shorter sample_interval holds at once');

$node->safe_psql(
	'app', q(
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
SELECT tiered_storage.add_tiering_policy('measure', '90 days', 'slow');
));
wait_for_cycle($node, 'app');
wait_for_cycle($node, 'app');
is(tablespaces_of($node, 'app', qw(m_2001_01 m_2001_02)),
	'pg_default', 'auto_migrate = off moves nothing that is due');
is($node->safe_psql('app', 'SELECT count(*) FROM _tiered_storage.moves'),
	0, 'and tries nothing');

my $before = fingerprint($node, 'app', 'measure');
my $log = -s $node->logfile;

# Added again, with the worker at work: the moment that is told is kept.
reload_with(
	$node,
	'tiered_storage.auto_migrate' => 'policies',
	'tiered_storage.migrate_interval' => '1h');
$node->safe_psql('app', "SELECT tiered_storage.remove_policy('measure')");
like(
	notices_of(
		$node,
		'app',
		"SELECT tiered_storage.add_tiering_policy('measure', '90 days', 'slow')"
	),
	qr/NOTICE:  00000: 2 of 3 partitions \(.*\) are due to move to tier "slow"\nDETAIL:  The worker evaluates the policy for the first time at .*\.\nHINT:  SELECT tiered_storage\.remove_policy\('public\.measure', 'slow'\) before then stops it/,
	'whoever adds a policy is told what it will do, when, and how to stop it'
);
run_cycle($node, 'app');
run_cycle($node, 'app');
is($node->safe_psql('app', 'SELECT count(*) FROM _tiered_storage.moves'),
	0, 'the worker leaves a new policy alone until then');
reload_with($node, 'tiered_storage.migrate_interval' => '1s');
ok( $node->poll_query_until(
		'app',
		"SELECT count(*) = 6 FROM _tiered_storage.moves WHERE state = 'done'"
	),
	'auto_migrate = policies moves two partitions, with their primary keys and indexes'
);
# The moment is that of the policy, to the second, not that of the next run.
reload_with($node, 'tiered_storage.migrate_interval' => '1h');
$node->safe_psql('app',
	'CREATE TABLE later (at date) PARTITION BY RANGE (at)');
my ($moment) = notices_of($node, 'app',
	"SELECT tiered_storage.add_tiering_policy('later', '90 days', 'slow', dry_run => true)"
) =~ /for the first time at (.*), if it is added now/;
is( $node->safe_psql(
		'app',
		"SELECT '$moment'::timestamptz > now() + interval '30 minutes', date_trunc('second', '$moment'::timestamptz) = '$moment'"
	),
	't|t',
	'it is told when a policy will be evaluated');
$node->safe_psql('app', 'DROP TABLE later');
reload_with($node, 'tiered_storage.migrate_interval' => '1s');
is(tablespaces_of($node, 'app', qw(m_2001_01 m_2001_02)),
	'slow', 'tables, indexes, TOAST tables and their indexes are there');
is(tablespaces_of($node, 'app', 'm_next'),
	'pg_default', 'a partition that is too young is not');
is(fingerprint($node, 'app', 'measure'), $before, 'with the same rows');
is( $node->safe_psql(
		'app',
		q(SELECT DISTINCT from_tablespace, to_tablespace, to_tier, policy_id IS NOT NULL, requested_by = current_user, method,
			attempts > 0, failures, lock_wait_ms < 60000, lock_held_ms > 0,
			lock_flush_ms <= lock_held_ms, elapsed_ms >= lock_held_ms, copied_bytes > 0, error IS NULL
		FROM _tiered_storage.moves)),
	'pg_default|slow|slow|t|t|online|t|0|t|t|t|t|t|t',
	'the record says from where, where to, for whom, how, and how long');

create_partition($node, 'app', 3);
ok( $node->poll_query_until(
		'app',
		"SELECT count(*) = 3 FROM _tiered_storage.moves WHERE relation ~ '^m_2001_03' AND state = 'done'"
	),
	'a partition that is created later is moved too');
ok( $node->poll_query_until(
		'app',
		"SELECT last_due = 0 AND last_on_target = 3 AND last_result = '0 of 4 were due' FROM _tiered_storage.policies"
	),
	'the policy says that everything is where it should be');

# ---------------------------------------------------------------------
note 'Two databases, one tablespace';
# ---------------------------------------------------------------------

# Both have only discovered it.
my ($rc, $out, $err) = $node->psql('app',
	"SELECT tiered_storage.add_tier('mine', '{seen}', reserve_fraction => 0)"
);
is("$rc", 0,
	'a tier that is only discovered elsewhere does not keep anybody from defining one'
) or diag $err;
wait_for_cycle($node, 'app');
wait_for_cycle($node, 'other');
is( worker_of($node, 'app', 'app'),
	'waiting|until the next sample',
	'nor from moving');
is( worker_of($node, 'other', 'other'),
	'waiting|until the next sample',
	'and the other database, which has defined nothing, has no problem either'
);
$node->safe_psql('app', "SELECT tiered_storage.remove_tier('mine')");
wait_for_cycle($node, 'app');

$node->safe_psql('app',
	"SELECT tiered_storage.add_tier('archive', '{shared}', reserve_fraction => 0)"
);
ok( $node->poll_query_until(
		'other',
		"SELECT count(*) = 1 FROM _tiered_storage.tablespace_claims() c JOIN pg_tablespace s ON s.oid = tablespace_oid WHERE spcname = 'shared' AND tier_name = 'archive'"
	),
	'the worker publishes what its database calls a tablespace');
my $error = error_of($node, 'other',
	"SELECT tiered_storage.add_tier('cold', '{shared}', reserve_fraction => 0)"
);
like(
	$error,
	qr/ERROR:  55006: tablespace "shared" belongs to tier "archive" in database "app"/,
	'another name for it is refused in another database');
is( $node->safe_psql(
		'other',
		"SELECT count(*) FROM _tiered_storage.tier WHERE tier_name = 'cold'"),
	0,
	'and leaves nothing behind');

# A rename is how they come to disagree.
$node->safe_psql('other',
	"SELECT tiered_storage.add_tier('archive', '{shared}', reserve_fraction => 0)"
);
wait_for_cycle($node, 'other');
is( worker_of($node, 'other', 'other'),
	'waiting|until the next sample',
	'the same name is no conflict');
$node->safe_psql('other',
	"SELECT tiered_storage.alter_tier('archive', new_name => 'cold')");
my $conflict =
  'nothing is moved, because tablespace "shared" belongs to tier "cold" here, but to tier "archive" in database "app"';
ok( $node->poll_query_until(
		'other',
		"SELECT last_error = '$conflict' AND state = 'waiting' AND w.note ~ 'nothing is moved' FROM _tiered_storage.worker_status() JOIN tiered_storage.workers w USING (database_name, state) WHERE database_name = 'other'"
	),
	'a disagreement is said by the worker of the one who came second');
like(
	error_of($node, 'other', 'CALL tiered_storage.migrate()'),
	qr/ERROR:  55000: \Q$conflict\E/,
	'and by migrate()');

for my $dry ('migrate(dry_run => true)', 'apply_placement(dry_run => true)')
{
	like(
		error_of($node, 'other', "CALL tiered_storage.$dry"),
		qr/ERROR:  55000: \Q$conflict\E/,
		"and by $dry");
}
is( $node->safe_psql(
		'other',
		"CREATE TABLE asked (i int); SELECT verdict, replace(finding, E'\\n', ' ') FROM tiered_storage.preflight('asked', 'cold', include_all => true) WHERE check_name = 'start'"
	),
	"ok|by CALL at once; automatic moves: $conflict",
	'and before a move that somebody asks for, which is made');
wait_for_cycle($node, 'app');
is( worker_of($node, 'app', 'app'),
	'waiting|until the next sample',
	'the first one is not concerned');
$node->safe_psql('app',
	"SELECT tiered_storage.alter_tier('archive', new_name => 'cold')");
ok( $node->poll_query_until(
		'app',
		"SELECT count(*) = 2 AND every(state = 'waiting' AND last_error IS NULL) FROM _tiered_storage.worker_status() WHERE database_name IN ('app', 'other')"
	),
	'when the first follows, both go on');

# ---------------------------------------------------------------------
note 'Termination';
# ---------------------------------------------------------------------

# Each time app's worker must have been there before the tests' own lock.
reload_with($node, 'tiered_storage.auto_migrate' => 'off');
wait_for_cycle($node, 'app');
my ($session, $pid) = make_worker_wait();
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
ok( $node->poll_query_until(
		'app',
		"SELECT failures > 0 AND last_error = 'the worker was terminated' FROM _tiered_storage.worker_status() WHERE database_name = 'app'"
	),
	'a terminated worker is recorded');
$session->query_safe('COMMIT');
$session->quit;
wait_for_move('after a termination the worker runs again');
ok( $node->poll_query_until(
		'app',
		"SELECT state = 'waiting' AND failures = 0 AND last_error IS NULL FROM _tiered_storage.worker_status() WHERE database_name = 'app'"
	),
	'and the failure is forgotten after a good cycle');
is( $node->safe_psql(
		'app',
		"SELECT DISTINCT failures FROM _tiered_storage.moves WHERE state = 'done' AND relation ~ 'm_2001_09\$'"
	),
	1,
	'the interrupted move counts as one failure');

# From the template while its worker is active: found when the launcher looks at
# the databases again, as it does when it starts.
$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE app');
my $launcher = $node->safe_psql('postgres', $launcher_pid_sql);
$node->safe_psql('postgres', "SELECT pg_terminate_backend($launcher)");
ok( $node->poll_query_until(
		'postgres',
		"SELECT count(*) = 1 FROM ($launcher_pid_sql) l WHERE pid <> $launcher"
	),
	'a terminated launcher is started again');
wait_for_cycle($node, 'copy');
pass(
	'and finds a database that was created from a template with the extension'
);
wait_for_cycle($node, 'app');
pass('and goes on with the others');
create_partition($node, 'copy', 4);
ok( $node->poll_query_until(
		'copy',
		"SELECT count(*) = 3 FROM _tiered_storage.moves WHERE relation ~ '^m_2001_04' AND state = 'done'"
	),
	'the policy of the template works in the copy');
is( $node->safe_psql(
		'copy',
		"SELECT count(*) FROM _tiered_storage.policy p JOIN pg_database d ON d.oid = p.database_oid WHERE datname = 'copy'"
	),
	1,
	'and belongs to it now');

# ---------------------------------------------------------------------
note 'DROP DATABASE';
# ---------------------------------------------------------------------

# Its worker comes and goes every second.
wait_for_cycle($node, 'copy');
($rc, $out, $err) = $node->psql('postgres', 'DROP DATABASE copy');
is("$rc $err", '0 ', 'DROP DATABASE succeeds with the worker active');
is( $node->safe_psql(
		'app',
		"SELECT count(*) FROM _tiered_storage.worker_status() WHERE database_name = 'copy'"
	),
	0,
	'the view knows it no more');

# One that was started meanwhile is told by the server that there is no such database.
wait_for_cycle($node, 'app');
$log = -s $node->logfile;
wait_for_cycle($node, 'app') foreach 1 .. 2;
is(log_lines($node, $log, qr/FATAL:/),
	'', 'no worker is started for a database that is gone');

# Claims go when the launcher looks at the databases.
$launcher = $node->safe_psql('postgres', $launcher_pid_sql);
$node->safe_psql('postgres', "SELECT pg_terminate_backend($launcher)");
ok( $node->poll_query_until(
		'app',
		'SELECT count(*) = 0 FROM _tiered_storage.tablespace_claims() WHERE database_oid NOT IN (SELECT oid FROM pg_database)'
	),
	'nor do the claims');
$node->safe_psql('app',
	"SELECT tiered_storage.alter_tier('slow', new_name => 'hdd')");
wait_for_cycle($node, 'app');
is( worker_of($node, 'app', 'app'),
	'waiting|until the next sample',
	'a dropped database is in nobody\'s way');
is( $node->safe_psql('app', 'SELECT tier_name FROM _tiered_storage.policies'),
	'hdd',
	'a policy follows the rename of its tier');

# ---------------------------------------------------------------------
note 'DROP EXTENSION';
# ---------------------------------------------------------------------

# It waits for the mover, which waits for the table no longer than this.
reload_with(
	$node,
	'tiered_storage.auto_migrate' => 'off',
	'tiered_storage.move_lock_timeout' => '1s');
wait_for_cycle($node, 'app');
($session, $pid) = make_worker_wait();
$log = -s $node->logfile;
($rc, $out, $err) = $node->psql('app', 'DROP EXTENSION tiered_storage');
is("$rc $err", '0 ', 'DROP EXTENSION succeeds in the middle of a move');
$session->query_safe('COMMIT');
$session->quit;
my $now = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
ok( $node->poll_query_until(
		'other',
		"SELECT state = 'not running' AND reason = 'the database does not have the extension' AND last_error IS NULL AND pid IS NULL FROM _tiered_storage.worker_status() WHERE database_name = 'app'"
	),
	'the worker says so');
my $finished_sql =
  "SELECT last_finished_at FROM _tiered_storage.worker_status() WHERE database_name = 'app'";
my $finished = $node->safe_psql('other', $finished_sql);
wait_for_cycle($node, 'other');
wait_for_cycle($node, 'other');
is($node->safe_psql('other', $finished_sql),
	$finished, 'and is not started again and again');
is(log_lines($node, $log, qr/(ERROR|FATAL|PANIC|WARNING):/),
	'', 'nothing is logged about it');
is( $node->safe_psql(
		'other',
		"SELECT count(*) FROM _tiered_storage.tablespace_claims() c JOIN pg_database d ON d.oid = c.database_oid WHERE datname = 'app'"
	),
	0,
	'its claims are gone');

$node->safe_psql(
	'app', q(
DROP TABLE m_2001_09;
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
SELECT tiered_storage.add_tiering_policy('measure', '90 days', 'slow');
));
wait_for_cycle($node, 'app');
pass('CREATE EXTENSION brings it back');

# ---------------------------------------------------------------------
note 'Crash and restart';
# ---------------------------------------------------------------------

$node->append_conf('postgresql.conf', 'restart_after_crash = on');
reload_with($node, 'tiered_storage.auto_migrate' => 'off');
wait_for_cycle($node, 'app');
my $since = sampled_since($node, 'app');
($session, $pid) = make_worker_wait();
$log = -s $node->logfile;
kill 'KILL', $pid;
$node->wait_for_log(qr/database system is ready to accept connections/, $log);
eval { $session->quit };
wait_for_move('after the crash of a worker the next one goes on');
like(
	slurp_file($node->logfile, $log),
	qr/server process|background worker "tiered_storage worker" \(PID $pid\) was terminated by signal 9/,
	'the crash was one');
is(sampled_since($node, 'app'), $since,
	'what is remembered survives a crash');
wait_for_cycle($node, 'other');
pass('the other database goes on too');

$node->stop('immediate');
$node->start;
my $samples =
  $node->safe_psql('app', 'SELECT samples FROM _tiered_storage.last_sample');
wait_for_cycle($node, 'app');
cmp_ok(samples('app'), '>', $samples,
	'samples go on after an immediate stop');
is(sampled_since($node, 'app'), $since, 'and nothing is forgotten');

$node->restart;
wait_for_cycle($node, 'app');
is(sampled_since($node, 'app'), $since, 'nor at a restart');
create_partition($node, 'app', 5);
ok( $node->poll_query_until(
		'app',
		"SELECT count(*) = 3 FROM _tiered_storage.moves WHERE relation ~ '^m_2001_05' AND state = 'done'"
	),
	'and the worker still moves');

# ---------------------------------------------------------------------
note 'No room';
# ---------------------------------------------------------------------

# The launcher takes the only place there is.
$node->append_conf(
	'postgresql.conf', q(
max_worker_processes = 1
max_logical_replication_workers = 0
));
$node->restart;
ok( $node->poll_query_until(
		'app',
		"SELECT count(*) = 2 FROM _tiered_storage.worker_status() WHERE database_name IN ('app', 'other') AND state = 'failed' AND last_error = 'no background worker is free; raise max_worker_processes' AND failures > 0"
	),
	'too few max_worker_processes: the view says what to raise');

# ---------------------------------------------------------------------
note 'Without shared_preload_libraries';
# ---------------------------------------------------------------------

$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;
is( $node->safe_psql(
		'app',
		q(SELECT DISTINCT state, reason FROM _tiered_storage.worker_status() WHERE database_name IN ('app', 'other', 'plain'))
	),
	'not running|tiered_storage is not in shared_preload_libraries',
	'the view says why nothing happens by itself');
$samples = samples('app');
$node->safe_psql('app', 'CALL tiered_storage.sample()');
is(samples('app'), $samples + 1, 'sample() works');
create_partition($node, 'app', 6);
like(
	notices_of($node, 'app', 'CALL tiered_storage.migrate()'),
	qr/NOTICE:  00000: partitions due: 1; relations moved: 3, not moved: 0/,
	'migrate() works');
is(tablespaces_of($node, 'app', 'm_2001_06'), 'slow', 'and moves');

$node->stop;
done_testing();

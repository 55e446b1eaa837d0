# A database in which nothing happens gets no worker, whatever autovacuum does; the first sample
# afterwards begins where something did, and nothing that is due by the clock comes later.
#
# Asked in another database, because each transaction is something that happens.

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
	conf => q(
autovacuum = on
autovacuum_naptime = '1s'
tiered_storage.debug_counters_lag = 0
tiered_storage.sample_interval = '1s'
tiered_storage.migrate_interval = '1h'
tiered_storage.cooldown = 0
));
$node->start;
create_in_place_tablespace($node, 'slow');
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach qw(watch quiet);
$node->safe_psql('watch', 'CREATE EXTENSION tiered_storage');
$node->safe_psql(
	'quiet', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
CREATE TABLE t WITH (autovacuum_enabled = off) AS SELECT i FROM generate_series(1, 1000) i;
));

sub moment
{
	return $node->safe_psql('watch', 'SELECT clock_timestamp()');
}

# Of the worker of quiet.
sub wait_until
{
	my ($condition) = @_;

	return $node->poll_query_until('watch',
		"SELECT $condition FROM _tiered_storage.worker_status() WHERE database_name = 'quiet'"
	);
}

# Three samples have been left out, of which it returns the last worker before.
sub wait_until_idle
{
	wait_until(
		"state = 'waiting' AND next_run_at > last_started_at + interval '3 seconds'"
	) or die 'the database is not left alone';
	return $node->safe_psql('watch',
		"SELECT last_started_at FROM _tiered_storage.worker_status() WHERE database_name = 'quiet'"
	);
}

sub comes
{
	my ($since, $what) = @_;

	return ok(wait_until("last_started_at > '$since' AND state = 'waiting'"),
		$what);
}

# ---------------------------------------------------------------------
note 'What happens';
# ---------------------------------------------------------------------

my $last = wait_until_idle();
ok( $node->safe_psql('watch',
		"SELECT last_started_at > '$last' FROM _tiered_storage.worker_status() WHERE database_name = 'watch'"
	) eq 't',
	'a database in use gets a worker');
my $read_at = moment();
$node->safe_psql('quiet', 'SELECT count(*) FROM t');
comes($read_at, 'a read brings a worker');
$node->poll_query_until('quiet',
	"SELECT count(*) > 0 FROM _tiered_storage.relation_history WHERE relation_oid = 't'::regclass AND period_start > '$last'"
) or die 'the read is not in the history';
is( $node->safe_psql(
		'quiet',
		"SELECT count(*) FROM _tiered_storage.relation_history h WHERE relation_oid = 't'::regclass AND period_start BETWEEN '$last' AND '$last'::timestamptz + interval '2 seconds'"
	),
	0,
	'what comes after the idle time is not in it');
is( $node->safe_psql(
		'quiet',
		"SELECT count(*) FROM _tiered_storage.load_history h WHERE period_start < '$last'::timestamptz + interval '1 second' AND period_start + make_interval(secs => period_s) > '$last'::timestamptz + interval '2 seconds'"
	),
	1,
	'other counters are those of all of it');

wait_until_idle();
my $session = $node->background_psql('quiet');
$session->query_safe('BEGIN');
$session->query_safe('INSERT INTO t VALUES (0)');
my $open_since = moment();
ok( wait_until(
		"last_started_at > '$open_since'::timestamptz + interval '3 seconds'"
	),
	'while a transaction is open, each sample is taken');
$session->query_safe('COMMIT');
$session->quit;

wait_until_idle();
my $changed_at = moment();
reload_with($node, 'tiered_storage.log_moves' => 'off');
comes($changed_at, 'a reload brings a worker');

# ---------------------------------------------------------------------
note 'What is due';
# ---------------------------------------------------------------------

# From another database: nothing happens in this one.
$node->safe_psql('watch', 'SELECT tiered_storage.pause()');
run_cycle($node, 'quiet');
wait_until_idle();
my $resumed_at = moment();
$node->safe_psql('watch', 'SELECT tiered_storage.resume()');
comes($resumed_at, 'resume() brings a worker');

reload_with($node, 'tiered_storage.migrate_interval' => '6s');
$node->safe_psql('quiet',
	"SELECT tiered_storage.add_tiering_policy('t', tier => 'slow', idle_for => '1 day')"
);
age_policies($node, 'quiet');
my $due_at = $node->safe_psql(
	'quiet', q(
BEGIN;
LOCK TABLE _tiered_storage.sampler IN SHARE UPDATE EXCLUSIVE MODE;
UPDATE _tiered_storage.sampler SET counts_since = now() - interval '10 days';
UPDATE _tiered_storage.relation_state SET sampled_since = now() - interval '10 days',
	proven_since = now() - interval '10 days', rewritten_at = NULL,
	last_read_at = now() - interval '1 day' + interval '20 seconds', last_written_at = now() - interval '9 days'
WHERE relation_oid = 't'::regclass
RETURNING last_read_at + interval '1 day';
COMMIT;
));
wait_until_idle();
pass('beside policies, it is left alone until the next evaluation');
comes($due_at, 'which comes when something is due by the clock');
ok( $node->poll_query_until(
		'quiet',
		"SELECT count(*) = 1 FROM _tiered_storage.move WHERE state = 'done'"),
	'and it is moved');
$node->stop;
done_testing();

# A report on a standby without hot_standby_feedback: nothing that samples, the worker and
# autovacuum do with our tables on the primary removes rows that it might see, for days.
#
# On 15 to 18.  On 19 a read on the primary marks pages as visible to all, which conflicts with
# older snapshots: of any table, ours too.  In make test.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

my $primary = new_node(
	'primary',
	standby => 1,
	conf => q(
autovacuum_naptime = '1s'
autovacuum_vacuum_threshold = 1
autovacuum_vacuum_scale_factor = 0
autovacuum_vacuum_insert_threshold = 1
autovacuum_vacuum_insert_scale_factor = 0
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = '1s'
tiered_storage.history_retention = '7h'
));
plan skip_all => 'on 19 reads on the primary conflict with older reports'
  if $primary->pg_version >= 19;
$primary->start;
create_in_place_tablespace($primary, 'slow');
$primary->safe_psql('postgres', 'CREATE DATABASE app');
$primary->safe_psql(
	'app', q(
CREATE TABLE t (a int PRIMARY KEY, b int) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT g, g FROM generate_series(1, 1000) g;
CREATE TABLE u (a int) WITH (autovacuum_enabled = off);
INSERT INTO u VALUES (1);
VACUUM ANALYZE;
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
SELECT tiered_storage.add_tiering_policy('u', tier => 'slow', idle_for => '100 years');
));

# Nothing is left for autovacuum of what was set up, after the worker's first cycle.
wait_for_cycle($primary, 'app', 'SELECT _tiered_storage.notify_launcher()');
# ANALYZE itself leaves dead rows in pg_statistic.
foreach my $command ('VACUUM ANALYZE', 'VACUUM', 'VACUUM')
{
	$primary->safe_psql($_, $command) foreach qw(app postgres);
}
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf(
	'postgresql.conf', q(
hot_standby_feedback = off
max_standby_streaming_delay = 0
));
$standby->start;

$primary->wait_for_catchup($standby);

# Older than all that follows.
sub begin_report
{
	my $report = $standby->background_psql('app');

	$report->set_query_timer_restart;
	$report->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
	is($report->query_safe('SELECT count(*) FROM t'),
		1000, 'a report reads on the standby');
	return $report;
}

# $n samples, ten minutes apart by their clock, which an index is built anew beneath.  What is
# used is read only: what users write is theirs.
sub sample_often
{
	my ($n, $start) = @_;

	foreach my $i (1 .. $n)
	{
		$primary->safe_psql(
			'app', qq(
SELECT count(*) FROM t; SELECT b FROM t WHERE a = $i;
SET tiered_storage.test_now = '$start';
SELECT set_config('tiered_storage.test_now', ('$start'::timestamptz + $i * interval '10 minutes')::text, false);
CALL tiered_storage.sample();
CALL tiered_storage.migrate();
));
	}
	return;
}

# Autovacuum has been at all tables of state since, or they are empty.
sub wait_for_autovacuum
{
	my $vacuumed = $primary->poll_query_until(
		'app', q(
SELECT bool_and(s.n_dead_tup <= 1 OR s.relname = 'sampler') FROM pg_stat_all_tables s
WHERE s.schemaname = '_tiered_storage'));

	ok($vacuumed, 'autovacuum has looked after the tables of the extension');
	return;
}

my $conflicts =
  "SELECT sum(confl_snapshot), sum(confl_lock) FROM pg_stat_database_conflicts";
my $report = begin_report();

reload_with($primary, autovacuum => 'on');

# Seven hours, in which each member of the ring takes its turn once.
sample_often(48, '2030-01-01 00:00:00+00');
wait_for_autovacuum();

# What somebody vacuums by hand, where there can be something dead.
$primary->safe_psql('app',
	"SELECT format('VACUUM (INDEX_CLEANUP on) %s', c.oid::regclass) FROM pg_class c WHERE c.relnamespace = '_tiered_storage'::regnamespace AND c.relkind = 'r' AND NOT c.relispartition \\gexec"
);
$primary->wait_for_catchup($standby);
is( $standby->safe_psql(
		'app', 'SELECT count(DISTINCT hour) > 6 FROM tiered_storage.history'),
	't',
	'the standby has replayed hours of it');
is($report->query_safe('SELECT count(*) FROM t'), 1000, 'the report goes on');
is($standby->safe_psql('app', $conflicts), '0|0', 'nothing was in its way');

# Of the ring's second time round, it is only in the way of one that is older than the table
# that is emptied, and reads nothing of ours.
is( $primary->safe_psql(
		'app',
		'SELECT count(DISTINCT member) FROM _tiered_storage.history_hour'),
	8,
	'all parts of the ring are used');
$report->quit;

# The standby sees what was stored last, by hours.
is( $standby->safe_psql(
		'app',
		"SELECT relation, heat_at FROM _tiered_storage.heat WHERE relation = 't'::regclass"
	),
	$primary->safe_psql(
		'app',
		"SELECT relation, heat_at FROM _tiered_storage.heat WHERE relation = 't'::regclass"
	),
	'heat is that of the last hour');
is( $standby->safe_psql(
		'app',
		"SELECT last_evaluated_at IS NOT NULL, last_result FROM _tiered_storage.policies"
	),
	$primary->safe_psql(
		'app',
		"SELECT last_evaluated_at IS NOT NULL, last_result FROM _tiered_storage.policies"
	),
	'and what policies have found');
is( $standby->safe_psql(
		'app', q(SELECT count(*) FROM tiered_storage.recommend_placement())),
	$primary->safe_psql(
		'app', q(SELECT count(*) FROM tiered_storage.recommend_placement())),
	'advice is there');

$standby->stop;
$primary->stop;
done_testing();

# What a crash and a promotion leave of what samples have stored: the last snapshot, with which
# the next sample goes on, and nothing counts twice.
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

# Without a worker, which would take a sample by the real clock at each start.
my $primary = new_node('primary', standby => 1, preload => 0);
$primary->start;
$primary->safe_psql('postgres', 'CREATE DATABASE app');
$primary->safe_psql(
	'app', q(
CREATE TABLE t (a int) WITH (autovacuum_enabled = off);
CREATE EXTENSION tiered_storage;
));
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

my $node = $primary;

# A sample at an hour of the test, after so many rows were inserted.
sub sample_after
{
	my ($rows, $at) = @_;

	$node->safe_psql(
		'app', qq(
INSERT INTO t SELECT generate_series(1, $rows);
SELECT pg_stat_force_next_flush();
)) if $rows > 0;
	$node->safe_psql('app',
		"SET tiered_storage.test_now = '2030-01-01 $at+00'; CALL tiered_storage.sample()"
	);
	return;
}

sub known
{
	return $node->safe_psql(
		'app', q(
SELECT (SELECT total_row_changes FROM _tiered_storage.relation_state WHERE relation_oid = 't'::regclass),
	(SELECT sum(row_changes) FROM tiered_storage.history WHERE relation_oid = 't'::regclass),
	(SELECT samples FROM _tiered_storage.sampler)));
}

sample_after(10, '00:10');
my $samples =
  $node->safe_psql('app', 'SELECT samples FROM _tiered_storage.sampler');
sample_after(100, '00:40');
sample_after(1000, '01:10');
my $since = $node->safe_psql('app',
	"SELECT sampled_since FROM _tiered_storage.relation_state WHERE relation_oid = 't'::regclass"
);
is(known(), '1110|1110|' . ($samples + 2), 'two samples have counted');

# What comes after the snapshot of one o'clock is lost; what was counted before it is not.
sample_after(10000, '01:20');
is( known(),
	'11110|11110|' . ($samples + 3),
	'and one more since the last snapshot');

# Observed for 75 minutes: an answer needs the state of the samples.
sub observed
{
	return $node->safe_psql('app',
		"SET tiered_storage.test_now = '2030-01-01 01:25+00'; SELECT confidence FROM tiered_storage.recommend_placement(true) WHERE relation = 't'::regclass"
	);
}
my $observed = observed();
is($observed, 'firm', 'observed since the first sample');
$primary->safe_psql('postgres', 'CREATE DATABASE app2');
$primary->safe_psql(
	'app2', q(
CREATE TABLE t (a int) WITH (autovacuum_enabled = off);
CREATE EXTENSION tiered_storage;
CALL tiered_storage.sample();
));
$primary->stop('immediate');
$primary->start;
$primary->wait_for_log(qr/ready to accept connections/);

# By the true clock: the time before the crash is part of no period.
$primary->safe_psql(
	'app2', q(
INSERT INTO t SELECT generate_series(1, 7);
SELECT pg_stat_force_next_flush();
CALL tiered_storage.sample();
));
is( $primary->safe_psql(
		'app2', q(
SELECT row_changes, period_start >= stats_reset,
	(SELECT max(l.period_start) >= stats_reset FROM _tiered_storage.load_rows l)
FROM tiered_storage.history, pg_stat_archiver WHERE relation_oid = 't'::regclass)
	),
	'7|t|t',
	'what is counted after the crash happened after it');

# Some counters that are reset do not make the period of all others shorter.
my $last = $primary->safe_psql('app2',
	'SELECT last_sample_at FROM _tiered_storage.sampler');
$primary->safe_psql(
	'app2', q(
CREATE TABLE other (a int) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT generate_series(1, 5);
SELECT pg_stat_force_next_flush();
SELECT pg_stat_reset_single_table_counters('other'::regclass), pg_stat_reset_shared('archiver');
CALL tiered_storage.sample();
));
is( $primary->safe_psql(
		'app2',
		"SELECT max(period_start) = '$last' FROM _tiered_storage.load_rows"),
	't',
	'a reset of some counters does not begin the period anew');
is( $node->safe_psql(
		'app', 'SELECT count(*) FROM _tiered_storage.relation_history'),
	0,
	'the crash has emptied what is unlogged');
is(observed(), $observed, 'and answers are from the snapshot');
is( $node->safe_psql(
		'app',
		"SELECT sum(row_changes) FROM tiered_storage.history WHERE relation_oid = 't'::regclass"
	),
	1110,
	'the hours are there');
sample_after(0, '01:30');
is( $node->safe_psql(
		'app',
		"SELECT sampled_since FROM _tiered_storage.relation_state WHERE relation_oid = 't'::regclass"
	),
	$since,
	'the next sample goes on from the snapshot');
like(known(), qr/^1110\|1110\|/, 'and nothing counts twice');
sample_after(7, '01:40');
like(known(), qr/^1117\|1117\|/, 'it counts again');
sample_after(0, '02:10');
$primary->wait_for_catchup($standby);

# A server that ends well loses nothing.
$primary->restart;
sample_after(5, '02:20');
like(known(), qr/^1122\|1122\|/, 'a restart changes nothing');

# ---------------------------------------------------------------------
note 'Promotion';
# ---------------------------------------------------------------------

$primary->wait_for_catchup($standby);

# Reads of the standby's own life, in which the primary had few.
$standby->safe_psql('app',
		'SET enable_indexscan = off; SELECT count(*) FROM t'
	  . '; SELECT count(*) FROM t' x 50);
$standby->safe_psql('app', 'SELECT pg_stat_force_next_flush()')
  if $standby->pg_version >= 15;
$standby->poll_query_until('app',
	"SELECT seq_scan >= 51 FROM pg_stat_user_tables WHERE relname = 't'")
  or die 'the standby counts nothing';
my $reads_sql = q(
SELECT COALESCE(sum(scans), 0), (SELECT COALESCE(sum(commits), 0) FROM _tiered_storage.load_rows),
	(SELECT max(last_read_at) FROM _tiered_storage.relation_state WHERE relation_oid = 't'::regclass)
FROM tiered_storage.history WHERE relation_oid = 't'::regclass);
$primary->stop('immediate');
$standby->promote;
$node = $standby;
my ($scans, $commits) = split /\|/, $node->safe_psql('app', $reads_sql);
sample_after(0, '02:30');
my ($scans_then, $commits_then, $read_at) = split /\|/,
  $node->safe_psql('app', $reads_sql);
is($scans_then, $scans, 'what the standby has read before is of no hour');
is($commits_then, $commits, 'nor what else it has done');
is( $node->safe_psql(
		'app',
		"SELECT sampled_since FROM _tiered_storage.relation_state WHERE relation_oid = 't'::regclass"
	),
	$since,
	'a promoted standby goes on from the snapshot');
like(known(), qr/^1117\|1117\|/, 'nothing counts twice there');
sample_after(3, '02:40');
like(known(), qr/^1120\|1120\|/, 'and it counts');
$standby->stop;
done_testing();

# What policies bring back counts for move_limit_per_day: the queue and a dry run say so before
# a run does it.
#
# Made up in the tables, since no call makes it in the time of a test: rates, and
# history of days and weeks.

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
tiered_storage.sample_interval = '1h'
tiered_storage.move_limit_per_day = '1MB'
tiered_storage.cooldown = 0
tiered_storage.test_now = '2040-01-01 00:00:00+00'
));
$node->start;
create_in_place_tablespace($node, $_) for qw(fast slow);

# Of 5 partitions of about 0.6 MB each, one can return on a day.
$node->safe_psql(
	'postgres', q(
CREATE EXTENSION IF NOT EXISTS tiered_storage;
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', rank => 0, reserve_fraction => 0, device => jsonb_build_object('capacity_bytes', 1000000000, 'compressed', false)),
	tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, device => jsonb_build_object('capacity_bytes', 1000000000, 'compressed', false));
CREATE TABLE r (k int, v text) PARTITION BY LIST (k);
SELECT format('CREATE TABLE r%s PARTITION OF r FOR VALUES IN (%s) TABLESPACE slow', i, i) FROM generate_series(1, 5) i \gexec
INSERT INTO r SELECT k, repeat('x', 500) FROM generate_series(1, 5) k, generate_series(1, 1000);
SELECT pg_stat_force_next_flush();
CALL tiered_storage.sample();
SELECT tiered_storage.add_tiering_policy('r', tier => 'slow', idle_for => '7 days', options => jsonb_build_object('return_when_reads_per_hour', 100, 'return_after', '1 day', 'return_tier', 'fast'));
));
seem_read($node, 'postgres', map { "r$_" } 1 .. 5);

is( $node->safe_psql(
		'postgres',
		q(SELECT verdict, count(*) FROM _tiered_storage.evaluate_policies() GROUP BY 1)
	),
	'returns|5',
	'all of them would return');
is( $node->safe_psql(
		'postgres',
		q(SELECT reason LIKE '%move_limit_per_day (1024 kB)%', count(*) FROM _tiered_storage.plan_moves() GROUP BY 1 ORDER BY 1)
	),
	"f|1\nt|4",
	'the queue says which wait for another day');

my ($out, $err);
$node->psql(
	'postgres',
	'CALL tiered_storage.migrate(dry_run => true)',
	stderr => \$err);
is(scalar(() = $err =~ /NOTICE:  would move/g),
	1, 'a dry run says what would return');
is(scalar(() = $err =~ /WARNING:  public\.r\d does not return today/g),
	4, 'and what not');
$node->safe_psql('postgres', 'SELECT tiered_storage.pause()');
is( $node->safe_psql(
		'postgres',
		q(SELECT reason, count(*) FROM _tiered_storage.plan_moves() GROUP BY 1)
	),
	'waiting: moves are paused, see resume()|5',
	'in a pause none takes anything of the limit');
$node->psql(
	'postgres',
	'CALL tiered_storage.migrate(dry_run => true)',
	stderr => \$err);
like(
	$err,
	qr/\(waiting: moves are paused/,
	'a dry run says that moves are paused');
$node->psql(
	'postgres',
	q(CALL tiered_storage.move_relation('r1', 'fast', dry_run => true)),
	stderr => \$err);
like(
	$err,
	qr/HINT:  Moves are paused: they would wait for tiered_storage.resume\(\)/,
	'so does that of one relation');
$node->safe_psql('postgres', 'SELECT tiered_storage.resume()');
$node->psql('postgres', 'CALL tiered_storage.migrate()', stderr => \$err);
is( $node->safe_psql(
		'postgres',
		q(SELECT count(*) FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE t.spcname = 'fast' AND c.relkind = 'r')
	),
	1,
	'the run does it');
is( $node->safe_psql(
		'postgres',
		q(SELECT count(*) FILTER (WHERE reason LIKE '%move_limit_per_day%'), count(*) FROM _tiered_storage.plan_moves())
	),
	'4|4',
	'and then none more is to return today');

# What waits for its return does not leave for a slower tier meanwhile, whence it would not return.
create_in_place_tablespace($node, 'cheap');
$node->safe_psql(
	'postgres', q(
SELECT tiered_storage.add_tier('cheap', '{cheap}', profile => 'hdd_7200', rank => 2, reserve_fraction => 0, device => jsonb_build_object('capacity_bytes', 1000000000, 'compressed', false));
CREATE TABLE other TABLESPACE slow AS SELECT repeat('x', 500) AS v FROM generate_series(1, 1000);
CALL tiered_storage.sample();
UPDATE _tiered_storage.relation_state SET random_fast = 300000, random_slow = 300000, device_random_fast = 300000, device_random_slow = 300000
	WHERE relation_oid = 'other'::regclass;
SELECT tiered_storage.alter_tier('slow', high_watermark => 0.8, low_watermark => 0.7, device => jsonb_build_object('capacity_bytes', 3500000)),
	tiered_storage.add_fullness_policy('slow', 'cheap');
));
my $leaves = 'other|cheap';
is( $node->safe_psql(
		'postgres',
		q(SELECT relation, to_tier FROM _tiered_storage.evaluate_policies() WHERE verdict = 'leaves')
	),
	$leaves,
	'what waits for its return does not leave');
is( $node->safe_psql(
		'postgres',
		q(SELECT relation, to_tier FROM _tiered_storage.plan_moves() WHERE cause = 'fullness')
	),
	$leaves,
	'the queue says the same');
my @said =
  notices_of($node, 'postgres',
	'CALL tiered_storage.migrate(dry_run => true)') =~
  /would move table public\.(\S+) \(.*to tier "cheap"/g;
is("@said", 'other', 'and a dry run');
$node->psql('postgres', 'CALL tiered_storage.migrate()', stderr => \$err);
is( $node->safe_psql(
		'postgres',
		q(SELECT string_agg(c.relname, ', ') FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE t.spcname = 'cheap' AND c.relkind = 'r')
	),
	'other',
	'the run does it');
$node->safe_psql('postgres',
	"SELECT tiered_storage.remove_policy(tier => 'slow'), tiered_storage.alter_tier('slow', device => jsonb_build_object('capacity_bytes', 1000000000))"
);

# The worker, which may copy 1 MB a second, would not be done when its window closes; whoever
# calls migrate() would.
reload_with($node, 'tiered_storage.worker_rate_limit' => '1MB');
$node->poll_query_until('postgres',
	"SELECT current_setting('tiered_storage.worker_rate_limit') = '1MB'")
  or die 'the limit is not set';
$node->safe_psql(
	'postgres', q(
SELECT tiered_storage.remove_policy('r');
CREATE TABLE w (d date, v text) PARTITION BY RANGE (d);
CREATE TABLE w_1 PARTITION OF w FOR VALUES FROM ('2030-01-01') TO ('2031-01-01') TABLESPACE fast;
INSERT INTO w SELECT '2030-02-02', repeat('x', 500) FROM generate_series(1, 4000);
SELECT tiered_storage.add_tiering_policy('w', '1 year', 'slow'), tiered_storage.add_move_window('evening', NULL, '20:00', '21:00', 'UTC');
));
my $late = "SET tiered_storage.test_now = '2040-01-01 20:59:59+00'";
like(
	$node->safe_psql(
		'postgres',
		"$late; SELECT relation, reason FROM _tiered_storage.plan_moves()"),
	qr/^w_1\|waiting for window evening, opens 2040-01-02 20:00 UTC: /,
	'the queue goes by how fast the worker is');
like(
	notices_of(
		$node, 'postgres',
		"$late; CALL tiered_storage.migrate(dry_run => true)"),
	qr/would move table public\.w_1 .*to tier "slow": .*now \(2040-01-01 20:59:59\+00\)$/m,
	'a dry run does not');
$node->stop;

done_testing();

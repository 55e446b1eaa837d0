# Suppositions and what plans read: on a standby, with cached plans, and by EXPLAIN (TIERS) where
# the server lets extensions add options, from 18 on.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

my $primary = new_node(
	'primary',
	standby => 1,
	conf => q(
tiered_storage.sample_interval = '1d'
tiered_storage.migrate_interval = '1d'
max_parallel_workers_per_gather = 0
enable_bitmapscan = off
shared_buffers = 64MB
));
$primary->start;
create_in_place_tablespace($primary, qw(fast slow));
$primary->safe_psql('postgres', 'CREATE DATABASE app');

# Nothing of what follows is sampled, or the observed share of the page cache would count.
$primary->safe_psql('app', 'CREATE EXTENSION tiered_storage');
$primary->poll_query_until('app',
	"SELECT state = 'waiting' FROM _tiered_storage.worker_status() WHERE database_name = 'app'"
) or die 'the worker did not run';
$primary->safe_psql(
	'app', q(
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', reserve_fraction => 0);
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
ALTER TABLESPACE fast SET (seq_page_cost = 1, random_page_cost = 1.1);
ALTER TABLESPACE slow SET (seq_page_cost = 1, random_page_cost = 100);
CREATE TABLE orders (id int, filler text) WITH (autovacuum_enabled = off) TABLESPACE fast;
INSERT INTO orders SELECT (i * 7919) % 20000, repeat('x', 100) FROM generate_series(1, 20000) i;
CREATE UNIQUE INDEX orders_id ON orders (id) TABLESPACE slow;
CREATE TABLE parted (at int, filler text) PARTITION BY RANGE (at);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (1000) TABLESPACE fast;
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (1000) TO (2000) TABLESPACE slow;
INSERT INTO parted SELECT i, 'x' FROM generate_series(0, 1999) i;
VACUUM ANALYZE orders, parted;
CREATE ROLE app LOGIN;
GRANT SELECT ON orders TO app;
));
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

# What psql prints after a list of statements.
sub answer
{
	my ($node, @statements) = @_;

	return $node->safe_psql(
		'app',
		join('',
			map { "$_;\n" } 'SET client_min_messages = error', @statements));
}

# A standby plans as supposed, and says what it reads.
my $query = 'SELECT count(filler) FROM orders WHERE id < 200';
my $suppose = "SELECT FROM tiered_storage.suppose('orders', 'slow')";
my $fast = "SELECT FROM tiered_storage.suppose('orders_id', 'fast')";
foreach my $node ($primary, $standby)
{
	my $name = $node->name;

	like(answer($node, $fast, "EXPLAIN (COSTS OFF) $query"),
		qr/Index/, "$name: on the fast tier by its index");
	like(answer($node, $fast, $suppose, "EXPLAIN (COSTS OFF) $query"),
		qr/Seq Scan/, "$name: on the slow tier as a whole");
	like(answer($node, $suppose, 'SELECT tiered_storage.suppose_reset()'),
		qr/^2$/m, "$name: the end of it");
	is( answer(
			$node,
			$suppose,
			"SELECT node, tier, device_ms > 0 FROM tiered_storage.explain_tiers('$query') WHERE node LIKE '%sum'"
		),
		"sum|fast|t\nsupposed sum|slow|t",
		"$name: its time on both tiers");
	is( answer(
			$node,
			"SELECT count(*) FROM tiered_storage.explain_tiers('$query', true) WHERE relation = 'orders'::regclass"
		),
		'1',
		"$name: executed");
}

SKIP:
{
	skip 'extensions have no options of EXPLAIN before 18', 1
	  if $primary->pg_version < 18;

	# The same numbers as explain_tiers() has, in each format.
	my $by_id = 'SELECT filler FROM orders WHERE id = 1';
	my $both =
	  answer($primary, $suppose, $fast, "EXPLAIN (TIERS, COSTS OFF) $by_id");
	is( $both,
		q(Index Scan using orders_id on orders
  Index Cond: (id = 1)
  Tier: fast (orders) random=1 sequential=0 device time=0.009 ms
  Supposed Tier: slow (orders) random=1 sequential=0 device time=1.24 ms
  Tier: slow (orders_id) random=1 sequential=0 device time=1.24 ms
  Supposed Tier: fast (orders_id) random=1 sequential=0 device time=0.009 ms
Tier Reads: estimated
Tier: fast (sum) random=1 sequential=0 device time=0.009 ms
Tier: slow (sum) random=1 sequential=0 device time=1.24 ms
Supposed Tier: fast (sum) random=1 sequential=0 device time=0.009 ms
Supposed Tier: slow (sum) random=1 sequential=0 device time=1.24 ms),
		'as text');
	my @rows = split /\n/,
	  answer($primary, $suppose, $fast,
		"SELECT * FROM tiered_storage.explain_tiers('$by_id')");
	is( join(
			"\n",
			map {
				s/.*?random=(\S+) sequential=(\S+) device time=(\S+) ms/$1|$2|$3/r
			  }
			  grep { /random=/ } split /\n/,
			$both),
		join("\n", map { s/^[^|]*\|[^|]*\|[^|]*\|//r } @rows),
		'the numbers are those of explain_tiers()');

	my $json = decode_json(
		answer(
			$primary, $suppose,
			$fast, "EXPLAIN (TIERS, FORMAT json) $by_id"));
	is_deeply(
		$json->[0]{Plan}{Tiers}[1],
		{
			'Supposed Tier' => 'slow',
			'Relation' => 'orders',
			'Random Reads' => 1,
			'Sequential Reads' => 0,
			'Device Time' => 1.24
		},
		'as JSON');
	is(scalar @{ $json->[0]{Tiers} }, 4, 'with the sums');
	like(
		answer(
			$primary, "SELECT 1 WHERE XMLPARSE(DOCUMENT '<a/>') IS NOT NULL"),
		qr/^1?$/,
		'XML is there');
	like(
		answer($primary, "EXPLAIN (TIERS, FORMAT xml) $by_id"),
		qr{<Relation>orders_id</Relation>.*</Plan>\s*<Tier-Reads>}s,
		'as XML');
	like(
		answer($primary, "EXPLAIN (TIERS, FORMAT yaml) $by_id"),
		qr/- Tier: "slow"\s+Relation: "orders_id"/,
		'as YAML');

	# Executed: what was read; each partition by itself; workers.
	$primary->restart;
	my $pages = answer($primary, "SELECT pg_relation_size('orders') / 8192");
	like(
		answer(
			$primary,
			'EXPLAIN (TIERS, ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(filler) FROM orders'
		),
		qr/Tier: fast \(orders\) random=0 sequential=$pages .*Tier Reads: counted/s,
		'executed');
	like(answer($primary, 'EXPLAIN (TIERS) SELECT * FROM parted'),
		qr/Tier: fast \(parted_1\).*Tier: slow \(parted_2\)/s, 'partitions');
	$primary->restart;
	like(
		answer(
			$primary,
			'SET max_parallel_workers_per_gather = 2',
			'SET parallel_setup_cost = 0',
			'SET parallel_tuple_cost = 0',
			'SET min_parallel_table_scan_size = 0',
			'EXPLAIN (TIERS, ANALYZE, COSTS OFF) SELECT count(filler) FROM orders'
		),
		qr/Gather.*Parallel Seq Scan.*Tier: fast \(orders\) random=0 sequential=$pages /s,
		'workers');

	# A cached plan is planned anew, with what is noted of it.
	is( answer(
			$primary,
			"PREPARE p AS SELECT filler FROM orders WHERE id < 200",
			'SET enable_seqscan = off',
			'DO $$ BEGIN EXECUTE \'EXPLAIN EXECUTE p\'; EXECUTE \'EXPLAIN EXECUTE p\'; END $$',
			'EXPLAIN (TIERS, COSTS OFF) EXECUTE p'),
		answer(
			$primary,
			'SET enable_seqscan = off',
			'EXPLAIN (TIERS, COSTS OFF) SELECT filler FROM orders WHERE id < 200'
		),
		'cached plans');

	# Nested ones, of functions that explain, and after errors.
	like(
		answer(
			$primary,
			'CREATE FUNCTION pg_temp.explains() RETURNS text LANGUAGE plpgsql AS $$ DECLARE t text; BEGIN EXECUTE \'EXPLAIN (TIERS) SELECT * FROM orders\' INTO t; BEGIN EXECUTE \'EXPLAIN (TIERS) SELECT 1 / id FROM nowhere\'; EXCEPTION WHEN undefined_table THEN END; RETURN t; END $$',
			'EXPLAIN (TIERS, ANALYZE, COSTS OFF) SELECT pg_temp.explains() FROM orders WHERE id < 3'
		),
		qr/Tier: fast \(orders\).*Tier Reads: counted/s,
		'nested');
	unlike(answer($primary, "EXPLAIN (TIERS off) $by_id"), qr/Tier/, 'off');
	like(
		answer(
			$primary,
			'CREATE SCHEMA ours',
			'CREATE FUNCTION ours.run(pg_catalog.text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION \'runs\'; END $$',
			'CREATE DOMAIN ours.text AS pg_catalog.text CHECK (ours.run(value))',
			'SET search_path = ours, public, pg_catalog',
			"EXPLAIN (TIERS) $by_id"),
		qr/Tier: slow \(orders_id\)/,
		'no type that the search_path finds before those of the server');
	like(
		answer($standby, "EXPLAIN (TIERS) $by_id"),
		qr/Tier: slow \(orders_id\)/,
		'on a standby');

	# Who may not see tiers, and where there are none.
	my ($ret, $out, $err) = $primary->psql(
		'app',
		"EXPLAIN (TIERS) $by_id",
		extra_params => [ '-U', 'app' ]);
	like($err, qr/permission denied/, 'with the rights of the caller');
	($ret, $out, $err) =
	  $primary->psql('postgres', 'EXPLAIN (TIERS) SELECT 1');
	like(
		$err,
		qr/extension "tiered_storage" does not exist/,
		'without the extension');
}

$standby->stop;
$primary->stop;
done_testing();

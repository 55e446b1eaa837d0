# Which queries read from which tier, what they would save, and who sees them.
#
# On every major.

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
tiered_storage.sample_interval = '1d'
tiered_storage.migrate_interval = '1d'
tiered_storage.debug_track_group = 1
compute_query_id = on
max_parallel_workers_per_gather = 0
autovacuum = off
allow_in_place_tablespaces = on
shared_buffers = 64MB
fsync = off
));
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE app');
$node->safe_psql('app', "CREATE TABLESPACE query_slow LOCATION ''");
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('query_slow', '{query_slow}', profile => 'hdd_7200', rank => 9);
CREATE TABLE t (id int PRIMARY KEY USING INDEX TABLESPACE query_slow, pad text) TABLESPACE query_slow;
INSERT INTO t SELECT i, repeat('x', 500) FROM generate_series(1, 20000) i;
VACUUM ANALYZE t;
CREATE ROLE reader LOGIN IN ROLE pg_monitor;
CREATE ROLE app LOGIN;
GRANT SELECT ON t TO app, reader;
GRANT USAGE ON SCHEMA tiered_storage, _tiered_storage TO app;
));
$node->poll_query_until('app',
	"SELECT state = 'waiting' FROM _tiered_storage.worker_status() WHERE database_name = 'app'"
) or die 'the worker did not run';
$node->restart;
$node->safe_psql('app', 'CALL tiered_storage.sample()');

my $pages = $node->safe_psql('app', "SELECT pg_relation_size('t') / 8192");
$node->safe_psql(
	'app',
	'SELECT count(pad) FROM t',
	extra_params => [ '-U', 'app' ]);
$node->safe_psql('app', 'CALL tiered_storage.sample()');

my $of_app =
  "FROM _tiered_storage.query_reads(true) WHERE user_oid = 'app'::regrole AND relation_oid = 't'::regclass";
is($node->safe_psql('app', "SELECT calls, random + sequential $of_app"),
	"1|$pages", 'a call and each block of it');

# As if a quarter of what buffers did not have had been read from the device, and none of it: its time
# is that of so many blocks in sequence.
my $row_of_app =
  "FROM tiered_storage.query_tiers WHERE query_id = (SELECT query_id $of_app)";
foreach my $share (0.25, 0)
{
	$node->safe_psql(
		'app', qq(
UPDATE _tiered_storage.relation_state SET random_slow = 0, sequential_slow = 1000, device_random_slow = 0, device_random_fast = 0,
	device_sequential_slow = 1000 * $share, device_sequential_fast = 1000 * $share, heat_at = now() WHERE relation_oid = 't'::regclass)
	);
	is( $node->safe_psql(
			'app', qq(
SELECT q.tier, q.calls, abs(q.reads - w.reads) <= 0.01 * w.reads, abs(q.device_ms - w.ms) <= 0.01 * w.ms, q.query IS NULL
FROM (SELECT * $row_of_app) q
CROSS JOIN (SELECT $share * $pages AS reads, $share * $pages * 8192 / 1e6 / sequential_read_mb_per_s * 1e3 AS ms
	FROM _tiered_storage.tiers WHERE tier_name = 'query_slow') w),
			extra_params => [ '-U', 'reader' ]),
		'query_slow|1|t|t|t',
		"by tier, for who reads all statistics: $share of its reads");
}

# Found in buffers, it is a call without reads.
$node->safe_psql(
	'app',
	'SELECT count(pad) FROM t',
	extra_params => [ '-U', 'app' ]);
is($node->safe_psql('app', "SELECT calls, random + sequential $of_app"),
	"2|$pages", 'and the next call');
is($node->safe_psql('app', "SELECT calls $row_of_app"),
	'2', 'also where it is by tier');

# Who is granted the function without pg_read_all_stats sees what is theirs.
$node->safe_psql('app',
	'GRANT EXECUTE ON FUNCTION _tiered_storage.query_reads TO app');
is( $node->safe_psql(
		'app',
		"SELECT count(*) > 0, count(*) FILTER (WHERE user_oid <> 'app'::regrole)
		FROM _tiered_storage.query_reads(true)",
		extra_params => [ '-U', 'app' ]),
	't|0',
	'others see their own');

# What a subquery reads that is executed once counts for its table alone.
$node->safe_psql('app',
	'CREATE TABLE u AS SELECT * FROM t; VACUUM ANALYZE u');
$node->restart;
is( $node->safe_psql(
		'app',
		"SELECT relation, (random_reads + sequential_reads) / (pg_relation_size(relation) / 8192) BETWEEN 0.99 AND 1.01
		FROM tiered_storage.explain_tiers('SELECT count(pad) FROM t WHERE length(pad) > (SELECT min(length(pad)) - 1 FROM u)', true)
		WHERE node = 'Seq Scan' ORDER BY 1"),
	"t|t\nu|t",
	'blocks are counted once, those of an InitPlan, too');

# What is advised names the query that most of it is for.
$node->restart;
$node->safe_psql('app', 'CALL tiered_storage.sample()');
$node->safe_psql(
	'app',
	'SELECT sum(length(pad)) FROM t',
	extra_params => [ '-U', 'app' ]);
$node->safe_psql(
	'app', q(
CREATE TABLESPACE query_fast LOCATION '';
DROP EXTENSION tiered_storage;
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('query_slow', '{query_slow}', profile => 'hdd_7200', rank => 9, reserve_fraction => 0),
	tiered_storage.add_tier('query_fast', '{query_fast}', profile => 'nvme', rank => 0, reserve_fraction => 0);
CALL tiered_storage.sample();
));
seem_hot($node, 'app', t => 100000);
my $main = $node->safe_psql('app',
	"SELECT query FROM _tiered_storage.main_queries() WHERE relation_oid = 't'::regclass"
);
like($main, qr/^-?\d+$/, 'one query reads most of it');
like(
	$node->safe_psql(
		'app',
		"SELECT replace(reason, E'\n', ' ') FROM tiered_storage.recommendations WHERE relation = 't'::regclass"
	),
	qr/mostly for query $main/,
	'the recommendation names it');
like(
	$node->safe_psql(
		'app',
		"SELECT reason FROM tiered_storage.explain_placement('t') WHERE place = 'recommended'"
	),
	qr/\nqueries that gain most:\n$main/,
	'so does what explains it');
ok( $node->safe_psql('app', 'SELECT tiered_storage.report()') =~
	  /mostly for query $main/,
	'and the report');
my ($ret, $out, $err) = $node->psql('app',
	'SET compute_query_id = off; SELECT count(*) FROM _tiered_storage.query_reads(true)'
);
like(
	$err,
	qr/queries are not counted.*compute_query_id = on/s,
	'without identifiers it says so');
($ret, $out, $err) = $node->psql(
	'app', q(
CREATE ROLE asks;
GRANT USAGE ON SCHEMA _tiered_storage TO asks;
GRANT EXECUTE ON FUNCTION _tiered_storage.query_reads TO asks;
SET compute_query_id = on;
SET ROLE asks;
SELECT count(*) FROM _tiered_storage.query_reads(true)));
like(
	$err,
	qr/no reads of queries have been counted yet/,
	'and where there is none, too');

# Texts come from a superuser's view alone: what another owner puts into his would run as the reader.
SKIP:
{
	skip 'no pg_stat_statements',
	  1
	  if $node->safe_psql('app',
		"SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_stat_statements'"
	  ) == 0;
	$node->safe_psql(
		'app', q(
CREATE EXTENSION pg_stat_statements;
ALTER VIEW pg_stat_statements OWNER TO app;
GRANT CREATE ON SCHEMA public TO app;
SET SESSION AUTHORIZATION app;
CREATE FUNCTION of_reader() RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''runs as %'', current_user; END';
CREATE OR REPLACE VIEW pg_stat_statements AS SELECT * FROM pg_stat_statements(of_reader() IS NOT NULL))
	);
	is( $node->safe_psql(
			'app', 'SELECT count(*) FROM _tiered_storage.query_texts()'),
		'0',
		"a view of pg_stat_statements that is not a superuser's is left alone"
	);
}

done_testing();

# Others' maintenance: pg_partman creates and drops partitions while they are moved, and
# pg_cron calls migrate().  Each part is left out where that extension is not installed.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

sub has_file
{
	my ($option, $file) = @_;
	my ($dir) = run_command([ 'pg_config', $option ]);

	return -e "$dir/$file";
}
my $has_partman = has_file('--sharedir', 'extension/pg_partman.control');
my $has_cron = has_file('--sharedir', 'extension/pg_cron.control')
  && has_file('--pkglibdir', 'pg_cron.so');
plan skip_all => 'NOT TESTED: neither pg_partman nor pg_cron is installed'
  unless $has_partman || $has_cron;

my $node = new_node(
	'main',
	conf => q(
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
timezone = 'UTC'
)
);
$node->append_conf(
	'postgresql.conf', q(
shared_preload_libraries = 'tiered_storage,pg_cron'
cron.database_name = 'postgres'
cron.host = ''
)
) if $has_cron;
$node->start;
$node->append_conf('postgresql.conf', "cron.host = '" . $node->host . "'");
$node->restart;
create_in_place_tablespace($node, $_) for qw(fast slow);
$node->safe_psql(
	'postgres', q(
CREATE EXTENSION IF NOT EXISTS tiered_storage;
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', rank => 0, reserve_fraction => 0, device => jsonb_build_object('capacity_bytes', 1000000000)),
	tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, device => jsonb_build_object('capacity_bytes', 1000000000));
)
);

SKIP:
{
	skip 'NOT TESTED: pg_partman is not installed', 6 unless $has_partman;
	my $version;

	$node->safe_psql(
		'postgres', q(
CREATE SCHEMA partman;
CREATE EXTENSION pg_partman SCHEMA partman;
CREATE TABLE public.m (at timestamptz NOT NULL, a int) PARTITION BY RANGE (at);
)
	);
	$version = $node->safe_psql('postgres',
		q(SELECT split_part(extversion, '.', 1)::int FROM pg_extension WHERE extname = 'pg_partman')
	);
	$node->safe_psql('postgres',
		$version >= 5
		? q(SELECT partman.create_parent('public.m', 'at', '1 day', p_premake => 2, p_start_partition => (now() - interval '40 days')::date::text))
		: q(SELECT partman.create_parent('public.m', 'at', 'native', 'daily', p_premake => 2, p_start_partition => (now() - interval '40 days')::date::text))
	);
	$node->safe_psql(
		'postgres', q(
INSERT INTO m SELECT date_trunc('day', now()) - day * interval '1 day', i FROM generate_series(0, 39) day, generate_series(1, 200) i;
SELECT tiered_storage.add_tiering_policy(in_schema => 'public', move_after => '10 days', tier => 'slow');
SELECT tiered_storage.add_tiering_policy('m', move_after => '10 days', tier => 'slow');
ALTER TABLE m SET TABLESPACE fast;
UPDATE partman.part_config SET retention = '30 days', retention_keep_table = false, premake = 5, infinite_time_partitions = true;
)
	);

	# Partitions go while they are moved, and others come.
	my $move = start_sql($node, 'postgres', 'CALL tiered_storage.migrate()');
	$node->safe_psql('postgres', q(CALL partman.run_maintenance_proc()));
	unlike(finish_sql($move), qr/ERROR|failed/,
		'migrate() bears that partitions are dropped');
	$node->safe_psql('postgres', 'CALL tiered_storage.migrate()');
	is( $node->safe_psql(
			'postgres',
			q(SELECT count(*), count(DISTINCT at) FROM m WHERE at > (SELECT max(at) FROM m) - interval '29 days')
		),
		'5800|29',
		'each row that was to be kept is there, once');
	is( $node->safe_psql(
			'postgres',
			q(SELECT count(*) FROM m WHERE at < now() - interval '32 days')),
		'0',
		'what was to be dropped is gone');
	is( $node->safe_psql(
			'postgres',
			q(SELECT count(*) > 15, count(*) FILTER (WHERE from_tier <> 'slow') FROM _tiered_storage.evaluate_policies() WHERE upper_bound < now() - interval '10 days')
		),
		't|0',
		'what is older is on the slow tier');
	$node->safe_psql('postgres',
		q(UPDATE partman.part_config SET premake = 9; CALL partman.run_maintenance_proc())
	);
	is( $node->safe_psql(
			'postgres',
			q(SELECT count(*) > 1, bool_and(from_tier = 'fast') FROM _tiered_storage.evaluate_policies() WHERE lower_bound > now() + interval '7 days')
		),
		't|t',
		'what pg_partman creates is created on the fast tier');
	is( $node->safe_psql(
			'postgres',
			q(SELECT count(*) FROM _tiered_storage.moves WHERE state = 'running')
		),
		'0',
		'no move is left behind');
	$node->safe_psql('postgres',
		'SELECT tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.policies'
	);
}

SKIP:
{
	skip 'NOT TESTED: pg_cron is not installed', 1 unless $has_cron;
	$node->safe_psql(
		'postgres', q(
CREATE EXTENSION pg_cron;
CREATE TABLE c (at date NOT NULL) PARTITION BY RANGE (at);
CREATE TABLE c_old PARTITION OF c FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
INSERT INTO c SELECT date '2020-01-01' + day FROM generate_series(0, 99) day;
SELECT tiered_storage.add_tiering_policy('c', move_after => '10 days', tier => 'slow');
SELECT cron.schedule('* * * * *', 'CALL tiered_storage.migrate()');
)
	);
	$node->poll_query_until('postgres',
		q(SELECT EXISTS (SELECT FROM cron.job_run_details WHERE status IN ('succeeded', 'failed')))
	) or die 'pg_cron does not run the job';
	is( $node->safe_psql(
			'postgres',
			q(SELECT (SELECT status FROM cron.job_run_details ORDER BY runid LIMIT 1), t.spcname, (SELECT count(*) FROM c) FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE c.relname = 'c_old')
		),
		'succeeded|slow|100',
		'pg_cron calls migrate()');
	$node->safe_psql('postgres',
		'SELECT cron.unschedule(jobid) FROM cron.job');
}
$node->stop;
done_testing;

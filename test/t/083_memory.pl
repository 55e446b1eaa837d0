# Is memory full?  By a machine and control groups that we make up; and what the advice makes of it.
#
# Made up in the tables, since no call makes it in the time of a test: rates, and
# history of days and weeks.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use File::Basename qw(dirname);
use File::Path     qw(make_path remove_tree);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

plan skip_all => 'no debug build of the library'
  unless $ENV{TIER_DEBUG_LIBDIR};

my $root = PostgreSQL::Test::Utils::tempdir;
my $node = new_node(
	'main',
	preload => 0,
	conf => qq(
session_preload_libraries = 'tiered_storage'
tiered_storage.debug_root = '$root'
tiered_storage.track_access = off
tiered_storage.observation_period = 0
));
$node->start;
create_in_place_tablespace($node, qw(fast slow));
$node->safe_psql(
	'postgres', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', rank => 0, price_per_gb_month => 2);
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', rank => 1, price_per_gb_month => 1);
SET tiered_storage.test_now = '2029-12-31 23:00:00+00';
CALL tiered_storage.sample();
CREATE TABLE warm (x text) WITH (autovacuum_enabled = off) TABLESPACE slow;
ALTER TABLE warm ALTER x SET STORAGE PLAIN;
INSERT INTO warm SELECT repeat('x', 7000) FROM generate_series(1, 2560);
CHECKPOINT;
SELECT pg_stat_force_next_flush();
));

my $last = '2030-01-01 04:00:00+00';

my $size = $node->safe_psql('postgres', q(SELECT pg_relation_size('warm')));
plan skip_all => 'what is in the page cache is not known here'
  unless $node->safe_psql('postgres',
	q(SELECT os_cached_bytes FROM tiered_storage.block_heat('warm', 1))) eq
  $size;

# As many blocks as it has, in four hours.
foreach my $hour (0 .. 4)
{
	my $reads = $hour == 0 ? 0 : $size / 8192 / 4;

	$node->safe_psql(
		'postgres', qq(
UPDATE _tiered_storage.relation_state SET blocks_fetched = blocks_fetched - $reads WHERE relation_oid = 'warm'::regclass;
SET tiered_storage.test_page_cache = off;	-- each of them is from the device
SET tiered_storage.test_now = '2030-01-01 0$hour:00:00+00';
CALL tiered_storage.sample();
));
}
# What filled the table is not the question.
$node->safe_psql(
	'postgres',
	q(UPDATE _tiered_storage.relation_state SET changes_fast = 0, changes_slow = 0, page_writes_fast = 0, page_writes_slow = 0, evidence_writes = ''
		WHERE relation_oid = 'warm'::regclass)
);

my %machine = (
	'proc/meminfo' =>
	  "MemTotal:        1000000 kB\nMemFree:          500000 kB\n",
	'proc/self/cgroup' => "0::/\n",
	'proc/uptime' => "864000.00 1000.00\n");

# What a machine with these files makes of what was read.
sub verdict
{
	my ($files, $clock) = @_;
	my %all = (%machine, %$files);

	remove_tree($root, { keep_root => 1 });
	foreach my $path (keys %all)
	{
		next unless defined $all{$path};
		make_path(dirname("$root/$path"));
		open my $file, '>', "$root/$path" or die "$path: $!";
		print $file $all{$path};
		close $file or die "$path: $!";
	}
	return $node->safe_psql(
		'postgres', qq(
SET tiered_storage.test_now = '@{[ $clock // $last ]}';
SELECT CASE WHEN reason LIKE 'reads have filled memory%' THEN 'fills'
		WHEN reason ~ '^[0-9,]+ random reads/h: ' THEN 'a rate' ELSE reason END
	FROM tiered_storage.recommend_placement(true) WHERE relation = 'warm'::regclass)
	);
}

sub megabytes
{
	return ($_[0] << 20) . "\n";
}

######################################################################
# The machine
######################################################################

is(verdict({}), 'fills', 'half of the memory is free');
is( verdict(
		{ 'proc/meminfo' => "MemTotal: 1000000 kB\nMemFree: 90000 kB\n" }),
	'a rate',
	'a tenth is not');
is( verdict({ 'proc/meminfo' => "MemTotal: 15000 kB\nMemFree: 10000 kB\n" }),
	'a rate',
	'more is read than would fit');
is( verdict(
		{ 'proc/meminfo' => "MemFree: 500000 kB\nMemTotal: 1000000 kB\n" }),
	'fills',
	'in any order');
is(verdict({ 'proc/meminfo' => undef }), 'a rate', 'nobody knows');
foreach my $nonsense (
	'',
	"\n\n",
	"MemTotal: kB\nMemFree: kB\n",
	"MemTotal: -5 kB\nMemFree: 3 kB\n",
	"MemTotal: 1000000 kB\nMemFree: -1 kB\n",
	"MemTotal: 1000000 kB\n",
	'x' x 100000,
	"x\n" x 1000 . "MemTotal: 1000000 kB\nMemFree: 500000 kB\n")
{
	is(verdict({ 'proc/meminfo' => $nonsense }),
		'a rate', 'nonsense is not known: ' . substr($nonsense, 0, 30));
}

######################################################################
# Control groups
######################################################################

# Of the second version, and of the first.
foreach my $version (
	{
		line => "0::/system.slice/postgresql.service\n",
		place => 'sys/fs/cgroup',
		limit => 'memory.max',
		used => 'memory.current',
		none => "max\n"
	},
	{
		line =>
		  "12:cpu,cpuacct:/other\n4:hugetlb,memory:/system.slice/postgresql.service\n0::/\n",
		place => 'sys/fs/cgroup/memory',
		limit => 'memory.limit_in_bytes',
		used => 'memory.usage_in_bytes',
		none => "9223372036854771712\n"
	})
{
	my %group = ('proc/self/cgroup' => $version->{line});
	my @files = ($version->{limit}, $version->{used});
	my $above = "$version->{place}/system.slice";

	foreach my $case (
		[ "$above/postgresql.service", '200', '100', 'fills', 'has room' ],
		[ "$above/postgresql.service", '200', '190', 'a rate', 'is full' ],
		[ "$above/postgresql.service", '15', '5', 'a rate', 'is too small' ],
		[ $above, '200', '190', 'a rate', 'above it is full' ],
		[
			$version->{place}, '200',
			'190', 'a rate',
			'of the container is full'
		],
		[
			"$version->{place}/other", '200',
			'190', 'fills',
			'of others is full'
		])
	{
		my ($place, $limit, $used, $expected, $name) = @$case;

		is( verdict(
				{
					%group,
					"$place/$files[0]" => megabytes($limit),
					"$place/$files[1]" => megabytes($used)
				}),
			$expected,
			"$version->{limit}: the group $name");
	}
	is( verdict(
			{
				%group,
				"$above/$files[0]" => $version->{none},
				"$above/$files[1]" => megabytes(1000)
			}),
		'fills',
		"$version->{limit}: no limit is none");
	is(verdict({ %group, "$above/$files[0]" => megabytes(15) }),
		'fills', "$version->{limit}: a limit alone says nothing");
}
is(verdict({ 'proc/self/cgroup' => undef }), 'fills', 'no control groups');
foreach my $nonsense (
	"0\n", "0:\n", ':', "0::\n",
	'0::/' . 'a/' x 5000 . "\n",
	"4:,,,:\n" x 1000)
{
	is(verdict({ 'proc/self/cgroup' => $nonsense }),
		'fills', 'nonsense is no control group: ' . substr($nonsense, 0, 20));
}

######################################################################
# A machine that has been started
######################################################################

# What was read before filled memory that is lost; these reads are all from before.
$node->safe_psql('postgres',
	q(UPDATE _tiered_storage.relation_state SET total_random_reads = total_random_reads * 5 WHERE relation_oid = 'warm'::regclass)
);
is(verdict({}), 'a rate', 'what was read five times is a rate');
is(verdict({ 'proc/uptime' => "7200.00 1000.00\n" }),
	'a rate',
	'when the machine was started says nothing of a clock that is set');
my $shift =
  "interval '1 s' * extract(epoch FROM '$last' - date_trunc('hour', now()))";
$node->safe_psql(
	'postgres', qq(
UPDATE _tiered_storage.relation_state SET heat_at = heat_at - $shift, observed_since = observed_since - $shift,
	sampled_since = sampled_since - $shift, evidence_began_at = evidence_began_at - $shift
	WHERE relation_oid = 'warm'::regclass));
is(verdict({}, ''), 'a rate', 'by the clock of the server');
is(verdict({ 'proc/uptime' => "7200.00 1000.00\n" }, ''),
	'fills', 'unless the machine has just been started');
is(verdict({ 'proc/uptime' => "90000.00 1000.00\n" }, ''),
	'a rate', 'for a day');

$node->stop;
done_testing();

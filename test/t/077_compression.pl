# estimate_compression() beside others who have locks, on a standby, and against what
# btrfs makes of the same tables, for which TIER_TEST_BTRFS is an empty directory that the
# server may write, on a btrfs that is mounted with compress-force.

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
	standby => 1,
	conf => q(
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
));
$node->start;
$node->safe_psql(
	'postgres', q(
CREATE EXTENSION IF NOT EXISTS tiered_storage;
CREATE TABLE large WITH (autovacuum_enabled = off) AS SELECT i, repeat('x', 1000) AS t FROM generate_series(1, 20000) i;
CREATE INDEX large_i ON large (i);
));

sub estimate
{
	my ($from) = @_;

	return $from->safe_psql('postgres',
		"SELECT part, sampled_pieces, reason FROM _tiered_storage.estimate_compression('large', 'lz4') ORDER BY part::text"
	);
}

# Somebody has it: nobody waits.
my $other = $node->background_psql('postgres', on_error_stop => 0);
$other->query_safe('BEGIN; LOCK TABLE large IN ACCESS EXCLUSIVE MODE');
like(
	estimate($node),
	qr/^large\|\|another session holds or awaits an exclusive lock; try again\nlarge_i\|\d+\|$/,
	'a lock is not waited for; other parts are read');
$other->query_safe('ROLLBACK');

# We have it, and somebody waits for us.
my $own = $node->background_psql('postgres', on_error_stop => 0);
$own->query_safe('BEGIN; SELECT i FROM large LIMIT 1');
$other->quit;
my $drop = start_sql($node, 'postgres', 'DROP TABLE large');
$node->poll_query_until('postgres',
	"SELECT count(*) = 1 FROM pg_locks WHERE relation = 'large'::regclass AND NOT granted"
) or die 'nobody waits';
is( $own->query_safe(
		"SELECT sampled_pieces, pieces > 100, reason FROM _tiered_storage.estimate_compression('large', 'lz4', false)"
	),
	'1|t|it ended early, because another session waits for a lock on it',
	'who waits for a lock waits for one piece');
$own->query_safe('COMMIT');
$own->quit;
finish_sql($drop);

# A standby estimates, too.
$node->safe_psql('postgres',
	"CREATE TABLE large AS SELECT i, repeat('x', 1000) AS t FROM generate_series(1, 20000) i; CREATE UNLOGGED TABLE unlogged AS SELECT * FROM large"
);
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
like(estimate($standby), qr/^large\|32\|$/, 'on a standby');
is( $standby->safe_psql(
		'postgres',
		"SELECT reason FROM _tiered_storage.estimate_compression('unlogged', 'lz4')"
	),
	'it is unlogged, and empty on a standby',
	'what a standby does not have');
$standby->stop;

# As soon as all is written, which servers leave to the system.
sub used_bytes
{
	my $place = shift;

	system_or_bail('sync', '--file-system', $place);
	return (split /\n/, `df --output=used --block-size=1 '$place'`)[1];
}

SKIP:
{
	my $place = $ENV{TIER_TEST_BTRFS};

	skip 'TIER_TEST_BTRFS is not set: ESTIMATES ARE NOT COMPARED WITH BTRFS',
	  6
	  unless $place;
	my $algorithm = $node->safe_psql('postgres',
		"CREATE TABLE text AS SELECT i, repeat('the quick brown fox ', i % 30) AS t FROM generate_series(1, 60000) i; CREATE TABLE hash AS SELECT i, md5(i::text) AS t FROM generate_series(1, 300000) i; CREATE TABLE number AS SELECT i, i * 7 % 1000 AS j, random() AS k FROM generate_series(1, 400000) i; CREATE INDEX number_i ON number (i); CREATE TABLE mixed AS SELECT i, CASE WHEN i / 20000 % 3 = 0 THEN md5(i::text) || md5((i + 1)::text) ELSE repeat(chr(65 + i % 26), 64) END AS t FROM generate_series(1, 300000) i; CREATE TABLE noise AS SELECT i, sha512(i::text::bytea) AS b FROM generate_series(1, 200000) i"
	);
	($algorithm) =
	  slurp_file('/proc/self/mounts') =~
	  m/ btrfs \S*compress-force=(zstd|zlib|lzo)/
	  or die 'no btrfs with compress-force';
	$node->safe_psql('postgres',
		"CREATE TABLESPACE packed LOCATION '$place'");
	foreach
	  my $relation ('text', 'hash', 'number', 'number_i', 'mixed', 'noise')
	{
		my $kind = $relation eq 'number_i' ? 'INDEX' : 'TABLE';

		my $estimated = $node->safe_psql('postgres',
			"SELECT round(ratio::numeric, 2) FROM _tiered_storage.estimate_compression('$relation', '$algorithm', false)"
		);
		my $before = used_bytes($place);

		$node->safe_psql('postgres',
			"ALTER $kind $relation SET TABLESPACE packed");
		$node->safe_psql('postgres', 'CHECKPOINT');

		my $measured =
		  $node->safe_psql('postgres', "SELECT pg_relation_size('$relation')")
		  / (used_bytes($place) - $before);

		ok( abs($estimated - $measured) <= 0.2 * $measured,
			"$algorithm, $relation: estimated $estimated, measured $measured"
		);
	}
}

done_testing();

# A tier whose tablespaces are on two file systems: its capacity is one, its room is two.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

# First: it starts us anew.
use TierMounts;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

plan skip_all => 'CANNOT MOUNT HERE: TIERS OF TWO FILE SYSTEMS ARE NOT TESTED'
  unless $ENV{TIER_TEST_MOUNTS} eq 'yes';

my %disk = (small => '40m', large => '80m');
foreach my $name (sort keys %disk)
{
	my $where = PostgreSQL::Test::Utils::tempdir;

	system_or_bail('mount', '-t', 'tmpfs', '-o',
		"size=$disk{$name},mode=0700", 'tmpfs', $where);
	mkdir "$where/ts" or die "mkdir: $!";
	$disk{$name} = $where;
}

my $node = new_node(
	'main',
	conf => q(
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
));
$node->start;
$node->safe_psql('postgres', "CREATE TABLESPACE $_ LOCATION '$disk{$_}/ts'")
  foreach 'small', 'large';
create_in_place_tablespace($node, 'fast');
$node->safe_psql(
	'postgres', q(
CREATE EXTENSION IF NOT EXISTS tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM tiered_storage.tiers;
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', rank => 0, reserve_fraction => 0, capacity_bytes => pg_size_bytes('100MB')),
	tiered_storage.add_tier('wide', '{small,large}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, compressed => false);
));

# So many MB, without TOAST.
my $names = join(', ', map { "'x'::name AS n$_" } 1 .. 14);

sub create_table
{
	my ($name, $mb, $tablespace) = @_;

	$node->safe_psql('postgres',
		"CREATE TABLE $name TABLESPACE $tablespace AS SELECT i, $names FROM generate_series(1, $mb * 1024) i"
	);
	return;
}

sub where_is
{
	my ($name) = @_;

	return $node->safe_psql('postgres',
		"SELECT spcname FROM pg_tablespace t JOIN pg_class c ON c.reltablespace = t.oid WHERE relname = '$name'"
	);
}

# ---------------------------------------------------------------------
note 'A capacity that is less than both have, and more than one';
# ---------------------------------------------------------------------

create_table('resident', 48, 'large');
create_table('guest', 4, 'fast');
$node->safe_psql('postgres',
	"SELECT tiered_storage.alter_tier('wide', capacity_bytes => pg_size_bytes('50MB'))"
);
like(
	error_of(
		$node, 'postgres',
		"CALL tiered_storage.move_relation('guest', 'small')"),
	qr/tier "wide" is full/,
	'it holds for each of the two');
is(where_is('guest'), 'fast', 'nothing is moved');
$node->safe_psql('postgres',
	"SELECT tiered_storage.alter_tier('wide', capacity_bytes => pg_size_bytes('70MB'))"
);
$node->safe_psql('postgres',
	"CALL tiered_storage.move_relation('guest', 'small')");
is(where_is('guest'), 'small', 'there is room below it');

# ---------------------------------------------------------------------
note 'Room for what is on one of them as a whole';
# ---------------------------------------------------------------------

# Of 120 MB 56 are below the watermark: 36 here, 32 there.
$node->safe_psql(
	'postgres', q(
SELECT tiered_storage.alter_tier('wide', unset => '{capacity_bytes}');
SELECT tiered_storage.alter_tier('fast', capacity_bytes => pg_size_bytes('95MB'));
SELECT tiered_storage.add_fullness_policy('fast', 'wide', 0.5, 0.1);
));
create_table('big', 40, 'fast');
create_table("half_$_", 25, 'fast') foreach 1, 2;
my $foretold = $node->safe_psql('postgres',
	"SELECT string_agg(relation || ' ' || verdict || ' ' || to_tablespace, ', ' ORDER BY relation::text) FROM tiered_storage.evaluate_fullness()"
);
like(
	$foretold,
	qr/^big no room \w+, half_1 leaves (small|large), half_2 leaves (?!\1)(small|large)$/,
	'each of the two takes one, and none the third');
my $says = notices_of($node, 'postgres',
	'CALL tiered_storage.migrate(dry_run => true)');
like($says, qr/would move table public.half_1/, 'a dry run says so');
like($says, qr/would move table public.half_2/, 'of both');
unlike($says, qr/would not move/, 'and that nothing is in the way');
like(
	notices_of($node, 'postgres', 'CALL tiered_storage.migrate()'),
	qr/relations moved: 2, not moved: 0/,
	'nothing is tried in vain');
is(where_is('big'), 'fast', 'what fits nowhere stays');
is(join(' ', sort map { where_is("half_$_") } 1, 2),
	'large small', 'the others are where there was room');

# ---------------------------------------------------------------------
note 'What a move would be refused for';
# ---------------------------------------------------------------------

# Main forks have room in the capacity, with the maps of what is there it is too little: who decides
# counts what the mover counts.
$node->safe_psql(
	'postgres', q(
DROP TABLE big, half_1, half_2, guest;
VACUUM resident;
SELECT tiered_storage.alter_tier('wide', high_watermark => 1, low_watermark => 0.99,
	capacity_bytes => pg_relation_size('resident') + pg_size_bytes('4MB') + 8192);
SELECT tiered_storage.alter_tier('fast', capacity_bytes => pg_size_bytes('4MB'));
));
create_table('refused', 4, 'fast');
$says = notices_of($node, 'postgres',
	'CALL tiered_storage.migrate(dry_run => true)');
is( $node->safe_psql(
		'postgres',
		"SELECT verdict FROM tiered_storage.evaluate_fullness() WHERE relation = 'refused'::regclass"
	),
	'no room',
	'maps count for the room on the target');
unlike($says, qr/would (not )?move/, 'so nothing is tried in vain');

$node->stop;
done_testing();

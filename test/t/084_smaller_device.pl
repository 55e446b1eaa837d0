# What a smaller device comes to where other files are on it, too: they need their room on the
# next one.

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

plan skip_all => 'CANNOT MOUNT HERE: SMALLER DEVICES ARE NOT TESTED'
  unless $ENV{TIER_TEST_MOUNTS} eq 'yes';

# 100 MB, of which others have 30, and our relations 20.
my $disk = PostgreSQL::Test::Utils::tempdir;
system_or_bail('mount', '-t', 'tmpfs', '-o', 'size=100m,mode=0700',
	'tmpfs', $disk);
mkdir "$disk/ts" or die "mkdir: $!";
system_or_bail(
	'dd', 'if=/dev/zero', "of=$disk/other", 'bs=1M',
	'count=30', 'status=none');

my $node = new_node(
	'main',
	conf => q(
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
));
$node->start;
create_in_place_tablespace($node, 'small');
my $names = join(', ', map { "'x'::name AS n$_" } 1 .. 14);
$node->safe_psql(
	'postgres', qq(
CREATE EXTENSION tiered_storage;
CREATE TABLESPACE disk LOCATION '$disk/ts';
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('small', '{small}', profile => 'nvme', rank => 0, reserve_fraction => 0, device => jsonb_build_object('capacity_bytes', 1000000)),
	tiered_storage.add_tier('disk', '{disk}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, device => jsonb_build_object('compressed', false));
CREATE TABLE t_1 TABLESPACE disk AS SELECT i, $names FROM generate_series(1, 10 * 1024) i;
CREATE TABLE t_2 TABLESPACE disk AS SELECT * FROM t_1;
CALL tiered_storage.sample();
));

sub ask { return $node->safe_psql('postgres', @_) }

my $simulate = sub {
	return notices_of($node, 'postgres',
		"SELECT * FROM _tiered_storage.simulate_placement('{\"disk\": {\"capacity_bytes\": $_[0]}}')"
	);
};
like(
	$simulate->(40000000),
	qr/the capacity of 38 MB for tier "disk" is simulated without other files\nDETAIL:  2\d MB would be placed there\. Other files occupy 30 MB there now\./,
	'as a device it would be too small');
unlike($simulate->(60000000), qr/without other files/, 'it would not');
ask("SELECT tiered_storage.alter_tier('disk', device => jsonb_build_object('capacity_bytes', 40000000))"
);
unlike(
	$simulate->(30000000),
	qr/without other files/,
	'a part of a device is none');

$node->stop;
done_testing();

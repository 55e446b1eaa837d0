# What a smaller device comes to where other files are on it, too: they need their room on the
# next one, and a size that does not hold them cannot be meant.

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

# 100 MB, of which others have 30, and our relations 20; of each MB 1.048576 of 10^6 bytes.
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
SELECT tiered_storage.remove_tier(tier_name) FROM tiered_storage.tiers;
SELECT tiered_storage.add_tier('small', '{small}', profile => 'nvme', rank => 0, reserve_fraction => 0, capacity_bytes => 1000000),
	tiered_storage.add_tier('disk', '{disk}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, compressed => false);
CREATE TABLE t_1 TABLESPACE disk AS SELECT i, $names FROM generate_series(1, 10 * 1024) i;
CREATE TABLE t_2 TABLESPACE disk AS SELECT * FROM t_1;
CALL tiered_storage.sample();
));

sub ask { return $node->safe_psql('postgres', @_) }

sub option
{
	my ($columns, $changes) = @_;

	return ask(
		"SELECT $columns FROM tiered_storage.simulate_hardware('$changes') WHERE option <> 'today'"
	);
}

sub refused
{
	my ($changes) = @_;

	return error_of($node, 'postgres',
		"SELECT * FROM tiered_storage.simulate_hardware('$changes')");
}

# ---------------------------------------------------------------------
note 'Room for others, and for what is there';
# ---------------------------------------------------------------------

like(
	refused('{"disk": {"capacity_gb": 0.02}}'),
	qr/55000: tier "disk" cannot be so small\nDETAIL:  31 MB of its file systems are other files\.\nHINT: .*alter_tier\('disk', capacity_bytes => /,
	'others alone are more');
like(
	option('verdict', '{"disk": {"capacity_gb": 0.05}}'),
	qr/^55 MB less of disk: 2\.\d MB less room than there has to be$/,
	'both are more');
like(
	option('reason', '{"disk": {"capacity_gb": 0.05}}'),
	qr/disk would remain too full by 2\.\d MB, .*, beside 31 MB of other files$/,
	'... and why');
unlike(option('verdict', '{"disk": {"capacity_gb": 0.055}}'),
	qr/less room/, 'both fit');
like(
	option('verdict', '{"disk": {"capacity_gb": 0.05, "profile": "nvme"}}'),
	qr/less room than there has to be$/,
	'another device holds no more');
unlike(
	option(
		'verdict',
		'{"disk": {"capacity_gb": 0.05}, "more": {"profile": "nvme", "capacity_gb": 0.03}}'
	),
	qr/less room/,
	'what has room elsewhere goes there');
ask("SELECT tiered_storage.pin('t_1', 'disk')");
like(
	refused('{"disk": {"capacity_gb": 0.04}}'),
	qr/DETAIL:  31 MB of its file systems are other files, and 1\d MB of it may not be anywhere else, such as \S*t_1\.\nHINT:  explain_placement/,
	'others, and what is pinned');
unlike(
	option(
		'verdict',
		'[{"disk": {"capacity_gb": 0.044}, "more": {"profile": "nvme", "capacity_gb": 0.03}}]'
	),
	qr/less room/,
	'both have room');
ask("SELECT tiered_storage.unpin('t_1')");
unlike(option('verdict', '{"disk": {"add_gb": 0.01}}'),
	qr/less room/, 'more is never too little');

# Each smaller size that is tried holds all of it.
is( ask("SELECT count(*), bool_and((changed->'disk'->>'capacity_gb')::float8 > 0.0525) FROM tiered_storage.simulate_hardware() WHERE option ~ '^disk - '"
	),
	'0|',
	'half of it would not hold both, with room to spare');
unlink "$disk/other" or die $!;
is( ask("SELECT count(*), bool_and((changed->'disk'->>'capacity_gb')::float8 BETWEEN 0.021 AND 0.06) FROM tiered_storage.simulate_hardware() WHERE option ~ '^disk - '"
	),
	'1|t',
	'without others it would');
system_or_bail(
	'dd', 'if=/dev/zero', "of=$disk/other", 'bs=1M',
	'count=30', 'status=none');

# ---------------------------------------------------------------------
note 'A reserve that others have taken';
# ---------------------------------------------------------------------

# 50 of 60 MB are free, and nobody has to give the rest back: 0.4 * 4.86 MB are missing then.
ask("SELECT tiered_storage.alter_tier('disk', reserve_fraction => 0.6)");
like(
	option('verdict', '{"disk": {"capacity_gb": 0.1}}'),
	qr/: 1\.9 MB less room than there has to be$/,
	'so much is missing as goes');
ask("SELECT tiered_storage.alter_tier('disk', reserve_fraction => 0)");

# ---------------------------------------------------------------------
note 'What of the disk may be used';
# ---------------------------------------------------------------------

my $simulate = sub {
	return notices_of($node, 'postgres',
		"SELECT * FROM tiered_storage.simulate_placement('{\"disk\": {\"capacity_bytes\": $_[0]}}')"
	);
};
like(
	$simulate->(40000000),
	qr/a device of 40 MB for tier "disk" would be too small\nDETAIL:  2\d MB would be placed there, and 31 MB of its file systems are other files\. /,
	'as a device it would be too small');
unlike($simulate->(60000000), qr/too small/, 'it would not');
ask("SELECT tiered_storage.alter_tier('disk', capacity_bytes => 40000000)");
unlike($simulate->(30000000), qr/a device/, 'a part of a device is none');
unlike(option('verdict', '{"disk": {"capacity_gb": 0.03}}'),
	qr/less room/, 'others have the rest of it');
like(
	option('verdict', '{"disk": {"capacity_gb": 0.02}}'),
	qr/less room than there has to be$/,
	'relations need theirs');

$node->stop;
done_testing();

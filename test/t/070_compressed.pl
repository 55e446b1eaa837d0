# A tier that compresses has as much used as its file systems say.  A file system that
# stores no holes serves as one that compresses; one that is full of zeros, as one that
# finds nothing to compress.

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

plan skip_all =>
  'CANNOT MOUNT HERE: USED BYTES OF COMPRESSED TIERS ARE NOT TESTED'
  unless $ENV{TIER_TEST_MOUNTS} eq 'yes';

my $mb = 1024 * 1024;
my $where = PostgreSQL::Test::Utils::tempdir;

system_or_bail('mount', '-t', 'tmpfs', '-o', 'size=256m,mode=0700',
	'tmpfs', $where);
mkdir "$where/ts" or die "mkdir: $!";

my $node = new_node(
	'main',
	conf => q(
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
));
$node->start;
$node->safe_psql('postgres', "CREATE TABLESPACE packed LOCATION '$where/ts'");
create_in_place_tablespace($node, 'fast');
$node->safe_psql(
	'postgres', q(
CREATE EXTENSION IF NOT EXISTS tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', rank => 0),
	tiered_storage.add_tier('packed', '{packed}', profile => 'hdd_7200', rank => 1, device => jsonb_build_object('compressed', true));
));

# A table whose file is so long, of which so much is stored.
sub create_table
{
	my ($db, $name, $tablespace) = @_;

	$node->safe_psql($db,
		"CREATE TABLE $name (id int) TABLESPACE $tablespace; INSERT INTO $name VALUES (1)"
	);
	return $node->data_dir . '/'
	  . $node->safe_psql($db, "SELECT pg_relation_filepath('$name')");
}

sub extend
{
	my ($file, $stored, $length) = @_;

	$node->stop;
	open my $handle, '+<', $file or die "open: $!";
	seek $handle, 0, 2;
	print $handle "\0" x ($stored - -s $file) if $stored > -s $file;
	close $handle or die "close: $!";
	truncate $file, $length or die "truncate: $!";
	$node->start;
	$node->safe_psql('postgres', 'CALL tiered_storage.sample()');
	return;
}

# MB of the tier that this database's relations have, and how many times as long they are.
sub used
{
	my ($tier) = @_;

	return $node->safe_psql(
		'postgres', qq(
SELECT round(used_bytes / $mb.0), round((relation_bytes::float8 / used_bytes)::numeric, 1)
	FROM _tiered_storage.placement_summary() s JOIN (SELECT tier_name, relation_bytes FROM _tiered_storage.tiers) t USING (tier_name)
	WHERE tier_name = '$tier'));
}

my $file = create_table('postgres', 'log', 'packed');

extend($file, 20 * $mb, 20 * $mb);
is(used('packed'), '10|2.0', 'hardly anything is there: as assumed');
extend($file, 80 * $mb, 80 * $mb);
is(used('packed'), '80|1.0', 'nothing was compressed');
extend($file, 80 * $mb, 240 * $mb);
is(used('packed'), '80|3.0', 'to a third');
$node->safe_psql('postgres',
	"SELECT tiered_storage.alter_tier('packed', device => jsonb_build_object('compression_ratio', 4))"
);
is(used('packed'), '60|4.0', 'what a person has given counts');
$node->safe_psql('postgres',
	"SELECT tiered_storage.alter_tier('packed', device => jsonb_build_object('compression_ratio', NULL))"
);
is(used('packed'), '80|3.0', 'until it is withdrawn');

$node->safe_psql('postgres', 'CREATE DATABASE other');
extend(create_table('other', 'log', 'packed'), 0, 80 * $mb);
is(used('packed'), '60|4.0', 'other databases have their share');

open my $backup, '>', "$where/backup" or die "open: $!";
print $backup 'x' x (80 * $mb);
close $backup or die "close: $!";
is(used('packed'), '120|2.0', 'other files make it less');

# There are other files with the data directory, whoever has written them.
$node->safe_psql('postgres',
	"SELECT tiered_storage.alter_tier('fast', device => jsonb_build_object('compressed', true))"
);
extend(create_table('postgres', 'hot', 'fast'), 80 * $mb, 80 * $mb);
is(used('fast'), '40|2.0', 'beside the data directory: as assumed');

done_testing();

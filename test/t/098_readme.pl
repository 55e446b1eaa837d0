# "Five minutes to first value" of the README: each of its statements runs on an empty server,
# moves old partitions, and brings them back.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

my ($section) =
  slurp_file("$FindBin::RealBin/../../README.md") =~
  /^## Five minutes to first value\n(.*?)^## /ms
  or die 'the README has no such section';
my @blocks = $section =~ /^```sql\n(.*?)^```$/msg;
cmp_ok(scalar @blocks, '>', 5, 'statements are found');

my $node = new_node('main', conf => 'tiered_storage.auto_migrate = off');
$node->start;
my $directory = PostgreSQL::Test::Utils::tempdir_short;

sub count_in_slow
{
	return $node->safe_psql(
		'postgres',
		q(SELECT count(*) FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace
			WHERE t.spcname = 'slow' AND c.relname ~ '^measurements_'));
}

my $most = 0;
foreach my $block (@blocks)
{
	$block =~ s/LOCATION '[^']+'/LOCATION '$directory'/;
	my ($first) = $block =~ /^(.*)$/m;
	my ($rc, $out, $err) =
	  $node->psql('postgres', $block, on_error_stop => 1);

	is($rc, 0, "it runs: $first") or diag $err;
	unlike($err, qr/ERROR/, 'without an error');
	my $n = count_in_slow();
	$most = $n if $n > $most;
}
cmp_ok($most, '>=', 3, 'old partitions were moved');
is(count_in_slow(), 0, 'and brought back');

$node->stop;
done_testing();

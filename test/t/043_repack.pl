# REPACK (CONCURRENTLY), which rewrites a table while it is used, beside moves of
# the same table: 19 and newer.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

my $rounds = 6;

my $node = new_node(
	'main',
	conf => q(
tiered_storage.auto_migrate = off
wal_level = logical
log_error_verbosity = verbose
));
$node->start;
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');
if ($version < 190000)
{
	$node->stop;
	diag(
		"*** REPACK (CONCURRENTLY) is NOT TESTED: it needs a server of 19, this is $version"
	);
	plan skip_all => 'needs a server of 19 or newer';
}

create_in_place_tablespace($node, 'slow');
$node->safe_psql(
	'postgres', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
));
prepare_matter($node, 'postgres');
create_matter($node, 'postgres', 'matter1');
my $offset = -s $node->logfile;

# All three at the same time, each for the same number of rounds at least.
my $repack =
  start_sql($node, 'postgres', ("REPACK (CONCURRENTLY) matter1") x $rounds);
my $moves = start_sql(
	$node,
	'postgres',
	map {
		"CALL tiered_storage.move_relation('matter1', '"
		  . ($_ % 2 ? 'slow' : 'pg_default') . "')"
	} 1 .. $rounds);
for (1 .. 20 * $rounds)
{
	$node->safe_psql('postgres', "SELECT change('{matter1}')");
}

# Each may have to give way to the other, which is no fault.
unlike(finish_sql($repack), qr/ERROR:  XX/, 'the table is rewritten');
unlike(finish_sql($moves), qr/ERROR:  (?!55P03)/, 'and moved');
isnt(
	$node->safe_psql(
		'postgres',
		"SELECT count(*) FROM _tiered_storage.move WHERE state = 'done'"),
	0,
	'some moves are done');

# Nobody is in the way of these.
$node->safe_psql('postgres',
	"CALL tiered_storage.move_relation('matter1', '$_')")
  foreach 'slow', 'pg_default', 'slow';
$node->safe_psql('postgres', 'REPACK (CONCURRENTLY) matter1');
is(differences($node, 'postgres', 'matter1'), '', 'all rows are there');
is(unsound_indexes($node, 'postgres', 'matter1'),
	'', 'and the indexes are sound');
is(log_lines($node, $offset, qr/ (ERROR|LOG|FATAL):  XX/),
	'', 'no internal error');
is( $node->safe_psql(
		'postgres', 'SELECT count(*) FROM _tiered_storage.move_file'),
	0,
	'no file is registered');
is(stray_files($node, 'postgres'), '', 'or left behind');
$node->stop;

done_testing();

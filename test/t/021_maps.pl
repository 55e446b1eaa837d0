# The maps of a table that grows and shrinks around the end of what a page of its
# visibility map is about, while it is copied.  A page of the map that the copy
# keeps, and the table has not any more, says of rows to come that everybody sees
# them; a free space map like that offers blocks that are not there.
#
# On every major.  In make test.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

plan skip_all => 'no debug build of the library'
  unless $ENV{TIER_DEBUG_LIBDIR};

# Heap blocks that one page of the map is about.
my $border = (8192 - 24) * 4;

my $node = new_node(
	'main',
	conf => q(
checkpoint_timeout = '1h'
max_wal_size = 4GB
fsync = off
full_page_writes = off
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
tiered_storage.debug_lock_attempts = 1000
));
$node->start;
create_in_place_tablespace($node, 'slow');
$node->safe_psql('postgres', 'CREATE DATABASE app');
prepare_matter($node, 'app');
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
));

# Not every installation has them.
my %has = map { $_ => 1 } split /\n/,
  $node->safe_psql('app',
	"SELECT name FROM pg_available_extensions WHERE name IN ('pg_visibility', 'pg_freespacemap')"
  );
$node->safe_psql('app', "CREATE EXTENSION $_") foreach sort keys %has;

# One row to a block, so that row i is in block i; and no TOAST, which would be
# moved first.
sub create_table
{
	my ($name) = @_;
	my $columns = join ', ', map { "f$_ name DEFAULT ''" } 1 .. 14;

	$node->safe_psql(
		'app', qq(
CREATE TABLE $name (id int, $columns) WITH (autovacuum_enabled = off, fillfactor = 10);
INSERT INTO $name SELECT generate_series(0, $border - 72);
CREATE INDEX ${name}_id ON $name (id);
VACUUM $name;
));
	return;
}

sub blocks
{
	my ($name, $fork) = @_;

	return $node->safe_psql('app',
		"SELECT pg_relation_size('$name', '$fork') / 8192");
}

# What is wrong with a table: the rows that its map leads to, and what its maps
# say of blocks that it has, and of blocks that it has not.
sub problems
{
	my ($name) = @_;
	my $end = "pg_relation_size('$name') / 8192";

	# From 18 on there is no index-only scan without index scans.
	my @queries = (
		'SET jit = off; SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off',
		"CREATE TEMP TABLE by_scan AS SELECT id FROM $name",
		'SET enable_seqscan = off; SET enable_indexscan = on; SET enable_indexonlyscan = on',
		"CREATE TEMP TABLE by_map AS SELECT id FROM $name WHERE id >= 0",
		"SELECT 'rows that are not there: ' || count(*) FROM (TABLE by_map EXCEPT ALL TABLE by_scan) d HAVING count(*) > 0",
		"SELECT 'rows that are not found: ' || count(*) FROM (TABLE by_scan EXCEPT ALL TABLE by_map) d HAVING count(*) > 0"
	);

	push @queries,
	  "SELECT 'not all visible: ' || count(*) FROM pg_check_visible('$name') HAVING count(*) > 0",
	  "SELECT 'not all frozen: ' || count(*) FROM pg_check_frozen('$name') HAVING count(*) > 0",
	  "SELECT 'visibility map beyond the end: ' || count(*) FROM generate_series($end, $end + 3000) b, pg_visibility_map('$name', b) v WHERE v.all_visible OR v.all_frozen HAVING count(*) > 0"
	  if $has{pg_visibility};
	push @queries,
	  "SELECT 'free space beyond the end: ' || count(*) FROM generate_series($end, $end + 3000) b WHERE pg_freespace('$name', b) > 0 HAVING count(*) > 0"
	  if $has{pg_freespacemap};
	return $node->safe_psql('app', join ';', @queries);
}

my $stops = new_stops($node, 'app');

# Moves a table that becomes longer when its own blocks are copied, but not its
# maps, and shorter when the copy is complete; settings as for start_move.
sub move_over_border
{
	my ($name, @settings) = @_;

	create_table($name);
	is(blocks($name, 'main'), $border - 71, "$name is below the border");
	is(blocks($name, 'vm'), 1, 'with one page of the visibility map');

	hold($stops, 'fork_copied', 'copied', 'backing_off');
	my $move = start_move($node, 'app', $name, 'slow', @settings);
	wait_stopped($stops, 'fork_copied');
	$node->safe_psql(
		'app', qq(
INSERT INTO $name SELECT generate_series($border - 71, $border + 1200);
VACUUM $name));
	is(blocks($name, 'vm'), 2, 'it grows over the border');

	# Somebody wants the table, and shortens it before the copy is looked at again,
	# to more than what was copied of it.
	let_go($stops, 'fork_copied');
	wait_stopped($stops, 'copied');
	$stops->query_safe('SELECT pg_advisory_lock(1, 1)');
	my $user = start_sql($node, 'app',
		"BEGIN; LOCK TABLE $name; SELECT pg_advisory_lock_shared(1, 1); COMMIT"
	);
	wait_for($stops,
		"SELECT count(*) = 1 FROM pg_locks WHERE relation = '$name'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted"
	);
	let_go($stops, 'copied');
	wait_stopped($stops, 'backing_off');
	$stops->query_safe('SELECT pg_advisory_unlock(1, 1)');
	is(finish_sql($user), '', 'somebody has it meanwhile');
	$node->safe_psql(
		'app', qq(
DELETE FROM $name WHERE id >= $border - 22;
VACUUM $name));
	is(blocks($name, 'main'), $border - 22, 'it becomes shorter');
	is(blocks($name, 'vm'), 1, 'and so does its visibility map');
	let_go($stops, 'backing_off');
	is(finish_sql($move), '', 'the move ends');
	is(tablespaces_of($node, 'app', $name),
		'pg_default,slow', 'and the table is moved');

	# It grows again, by rows that not everybody sees.
	$node->safe_psql(
		'app', qq(
INSERT INTO $name SELECT generate_series($border - 22, $border + 500);
DELETE FROM $name WHERE id >= $border + 100));
	is(problems($name), '', 'its maps are right');
	return;
}

move_over_border('t');

# Even without this rule the move does not end with such a copy: the lengths are
# compared when nobody can change them any more.
move_over_border('s',
	"SET tiered_storage.debug_skip = 'truncation queueing'");

$stops->quit;
$node->stop;
done_testing();

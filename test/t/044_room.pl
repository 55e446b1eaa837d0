# Room for moves: what a tier keeps free, what others under way have still to write,
# and what the server itself needs for its WAL.
#
# In make test.

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

plan skip_all => 'no debug build of the library'
  unless $ENV{TIER_DEBUG_LIBDIR};
plan skip_all => 'CANNOT MOUNT HERE: ROOM FOR MOVES IS NOT TESTED'
  unless $ENV{TIER_TEST_MOUNTS} eq 'yes';

my $disk = PostgreSQL::Test::Utils::tempdir;
my $wal = PostgreSQL::Test::Utils::tempdir;
system_or_bail('mount', '-t', 'tmpfs', '-o', 'size=20m,mode=0700',
	'tmpfs', $disk);
system_or_bail('mount', '-t', 'tmpfs', '-o', 'size=256m,mode=0700',
	'tmpfs', $wal);

my $node = new_node(
	'main',
	conf => q(
checkpoint_timeout = '1h'
min_wal_size = '32MB'
max_wal_size = '64MB'
max_replication_slots = 2
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
));
my $pg_wal = $node->data_dir . '/pg_wal';
system_or_bail('cp', '-a', "$pg_wal/.", "$wal/pg_wal");
system_or_bail('rm', '-r', $pg_wal);
symlink "$wal/pg_wal", $pg_wal or die "symlink: $!";
$node->start;
create_in_place_tablespace($node, 'away');
$node->safe_psql('postgres', "CREATE TABLESPACE disk LOCATION '$disk'");
$node->safe_psql('postgres', 'CREATE DATABASE app');

# 8 MB each, without a TOAST table.
prepare_matter($node, 'app');
my $names = join(', ', map { "'x'::name AS n$_" } 1 .. 14);
$node->safe_psql(
	'app', qq(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('disk', '{disk}', profile => 'hdd_7200', reserve_fraction => 0.25);
CREATE TABLE one AS SELECT i, $names FROM generate_series(1, 8000) i;
CREATE TABLE two AS TABLE one;
));

my $stops = new_stops($node, 'app');

sub free_bytes
{
	my ($where) = @_;
	my (undef, $line) = split /\n/, `df --output=avail -B1 '$where'`;
	return $line + 0;
}

# Until just so many bytes are free.
sub fill
{
	my ($where, $free) = @_;
	my $count = int((free_bytes($where) - $free) / 4096);

	die "only " . free_bytes($where) . " bytes are free\n" if $count < 0;
	system_or_bail(
		'dd', 'if=/dev/zero',
		"of=$where/filler", 'bs=4k',
		"count=$count", 'status=none');
	return;
}

sub drain
{
	my ($where) = @_;
	unlink "$where/filler" or die "unlink: $!";
	return;
}

sub nothing_is_left
{
	my ($name) = @_;

	$node->safe_psql('app', 'CHECKPOINT; CALL tiered_storage.migrate()');
	is(stray_files($node, 'app'), '', "$name: no file that no relation has");
	is( $node->safe_psql(
			'app', 'SELECT count(*) FROM _tiered_storage.move_file'),
		0,
		"$name: no file is registered");
	return;
}

my $mb = 1024 * 1024;

# "verdict|finding" of one check of preflight().
sub foretold
{
	my ($check, $relation, $target) = @_;

	return $node->safe_psql('app',
		"SELECT verdict, replace(finding, E'\\n', ' ') FROM tiered_storage.preflight('$relation', '$target', include_all => true) WHERE check_name = '$check'"
	);
}

# ---------------------------------------------------------------------
note 'Others';
# ---------------------------------------------------------------------

# 20 MB, of which 5 stay free: there is room for either, not for both.
like(foretold('space', 'one', 'disk'), qr/^ok\|/, 'there is room for one');
my $move = stop_move($node, 'app', $stops, 'copying', 'heap', 'one', 'disk');
like(
	error_of(
		$node, 'app', "CALL tiered_storage.move_relation('two', 'disk')"),
	qr/ERROR:  53100: could not move public.two: not enough space in tablespace "disk": .* free, .* are still to be written by other moves/,
	'what another move has still to write is not free');
like(
	foretold('space', 'two', 'disk'),
	qr/^blocks\|not enough space in tablespace "disk": .* free, .* are still to be written by other moves$/,
	'which is foretold, and announced to nobody');
let_go($stops, 'copying');
is(finish_sql($move->{run}), '', 'the other one had come first');
is(tablespaces_of($node, 'app', 'one'), 'disk', 'and is there');
like(
	error_of(
		$node, 'app', "CALL tiered_storage.move_relation('two', 'disk')"),
	qr/ERROR:  53100: could not move public.two: not enough space in tablespace "disk": .* free$/m,
	'nobody has anything to write any more');
$node->safe_psql('app', "CALL tiered_storage.move_relation('one', 'away')");
$node->safe_psql('app', 'CHECKPOINT');

# One that was cancelled leaves no announcement, either.
$move = stop_move($node, 'app', $stops, 'copying', 'heap', 'one', 'disk');
$node->safe_psql('app', "SELECT pg_cancel_backend($move->{pid})");
let_go($stops, 'copying');
like(finish_sql($move->{run}), qr/57014/, 'one is cancelled');
$node->safe_psql('app', 'CHECKPOINT');
like(
	error_of(
		$node, 'app', "CALL tiered_storage.move_relation('two', 'disk')"),
	qr/^no error:/,
	'and the next one has the room');
$node->safe_psql('app', "CALL tiered_storage.move_relation('two', 'away')");
nothing_is_left('others');

# ---------------------------------------------------------------------
note 'A tier that fills up meanwhile';
# ---------------------------------------------------------------------

$move = stop_move($node, 'app', $stops, 'copying', 'heap', 'one', 'disk');
fill($disk, 6 * $mb);
let_go($stops, 'copying');
like(
	finish_sql($move->{run}),
	qr/ERROR:  53100: could not move public.one: no space is left in tablespace "disk": .* 5120 kB reserved/,
	'what it reserves stays free');
is(record_of_move($node, 'app', 'one'),
	'failed|53100', 'the record says so, too');
drain($disk);
nothing_is_left('reserve');

# ---------------------------------------------------------------------
note 'WAL';
# ---------------------------------------------------------------------

$node->safe_psql('app',
	"SELECT pg_create_physical_replication_slot('keeps', true)");
fill($wal, 70 * $mb);
like(
	error_of(
		$node, 'app',
		"CALL tiered_storage.move_relation('one', 'pg_default')"),
	qr/ERROR:  53100: could not move public.one: not enough space for WAL: the move may write .* and 64 MB are reserved/,
	'a move does not begin that leaves the server too little');
like(
	foretold('wal', 'one', 'pg_default'),
	qr/^blocks\|not enough space for WAL: the move may write .* and 64 MB are reserved/,
	'which is foretold');
drain($wal);
$move =
  stop_move($node, 'app', $stops, 'copying', 'heap', 'one', 'pg_default');
fill($wal, 60 * $mb);
let_go($stops, 'copying');
like(
	finish_sql($move->{run}),
	qr/ERROR:  53100: could not move public.one: no space is left for WAL: .* 64 MB reserved/,
	'nor does it go on');
drain($wal);
$node->safe_psql('app', "SELECT pg_drop_replication_slot('keeps')");
nothing_is_left('WAL');
like(
	error_of(
		$node, 'app',
		"CALL tiered_storage.move_relation('one', 'pg_default')"),
	qr/^no error:/,
	'it does when there is room');

$stops->quit;
$node->stop;
is(log_lines($node, 0, qr/PANIC|TRAP/), '', 'no panic');
system_or_bail('umount', $disk);
system_or_bail('umount', $wal);
done_testing();

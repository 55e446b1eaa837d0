# Fullness policies on file systems that do fill up: what others have written counts,
# two databases do not empty one tier twice, and the worker says what it did.

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
plan skip_all => 'CANNOT MOUNT HERE: FULL TIERS ARE NOT TESTED'
  unless $ENV{TIER_TEST_MOUNTS} eq 'yes';

my %disk = (fast => '40m', slow => '120m');
foreach my $name (sort keys %disk)
{
	my $where = PostgreSQL::Test::Utils::tempdir;

	system_or_bail('mount', '-t', 'tmpfs', '-o',
		"size=$disk{$name},mode=0700", 'tmpfs', $where);
	mkdir "$where/$_" or die "mkdir: $!" foreach 'ts', 'other';
	$disk{$name} = $where;
}

my $node = new_node(
	'main',
	conf => q(
checkpoint_timeout = '1h'
tiered_storage.auto_migrate = off
tiered_storage.migrate_interval = 1
tiered_storage.sample_interval = '1h'
));
$node->start;
$node->safe_psql('postgres', "CREATE TABLESPACE $_ LOCATION '$disk{$_}/ts'")
  foreach 'fast', 'slow';
$node->safe_psql('postgres',
	"CREATE TABLESPACE same LOCATION '$disk{fast}/other'");

# Tables of 4 MB, a tenth of the fast disk, without TOAST.
my $names = join(', ', map { "'x'::name AS n$_" } 1 .. 14);
create_databases($node, qw(app other));
foreach my $db (qw(app other))
{
	my $added = notices_of(
		$node, $db, qq(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', rank => 0, reserve_fraction => 0, high_watermark => 0.8, low_watermark => 0.6);
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0);
SELECT tiered_storage.add_tier('same', '{same}', profile => 'hdd_7200', rank => 2, reserve_fraction => 0);
SELECT tiered_storage.add_fullness_policy('fast', 'slow');
));
	like(
		$added,
		qr/WARNING:  01000: tier "fast" may have too little room after a crash\nDETAIL:  At its high watermark of 0\.8 it has \d+ kB free, and max_wal_size is 256 MB\..*\nHINT:  Lower max_wal_size\./,
		"a small tier and much WAL in $db");
	$node->safe_psql($db,
		"CREATE TABLE $_ TABLESPACE fast AS SELECT i, $names FROM generate_series(1, 4000) i"
	) foreach $db eq 'app' ? ('a1', 'a2', 'a3', 'a4') : ('b1', 'b2');
	$node->safe_psql($db, 'CALL tiered_storage.sample()');
}
my $stops = new_stops($node, 'app');

sub fill_percent
{
	my ($where) = @_;
	my (undef, $line) =
	  split /\n/, `df --output=size,avail -B1 '$where'`;
	my ($size, $free) = split ' ', $line;
	return 100.0 * ($size - $free) / $size;
}

# Until it is so full.
sub fill
{
	my ($where, $percent) = @_;
	my (undef, $line) =
	  split /\n/, `df --output=size,avail -B1 '$where'`;
	my ($size, $free) = split ' ', $line;
	my $count = int(($free - $size * (100 - $percent) / 100.0) / 4096);

	die "it is fuller already\n" if $count < 0;
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

sub on_fast
{
	my ($db) = @_;
	return $node->safe_psql($db,
		"SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE reltablespace = (SELECT oid FROM pg_tablespace WHERE spcname = 'fast')"
	);
}

sub undo_last
{
	my ($db) = @_;
	my $batch =
	  $node->safe_psql($db,
		'SELECT max(batch_id) FROM _tiered_storage.moves');

	$node->safe_psql($db, "CALL tiered_storage.undo_move($batch)");
	return;
}

sub result
{
	my ($db) = @_;
	return $node->safe_psql($db,
		'SELECT last_result FROM _tiered_storage.fullness_policies');
}

# ---------------------------------------------------------------------
note 'What others have taken';
# ---------------------------------------------------------------------

like(
	notices_of($node, 'app', 'CALL tiered_storage.migrate()'),
	qr/no tier is too full/,
	'two thirds are not too much');
like(
	result('app'),
	qr/; its high watermark leaves \d+ kB free, and after a crash as much as max_wal_size, 256 MB, may be needed$/,
	'which the policy goes on saying');
reload_with($node, max_wal_size => '32MB');
my $lower = notices_of($node, 'app',
	"SELECT tiered_storage.alter_policy(tier => 'fast', changes => jsonb_build_object('high_watermark', 0.9))"
);
like(
	$lower,
	qr/has 4096 kB free, and max_wal_size is 32 MB\..*\nHINT:  Use a high_watermark of 0\.2 or less, or lower max_wal_size\./,
	'what would be low enough');
unlike(
	notices_of(
		$node,
		'app',
		"SELECT tiered_storage.alter_policy(tier => 'fast', changes => jsonb_build_object('high_watermark', 0.2, 'low_watermark', 0.1))"
	),
	qr/WARNING/,
	'that is');
$node->safe_psql('app',
	"SELECT tiered_storage.alter_policy(tier => 'fast', changes => jsonb_build_object('high_watermark', NULL, 'low_watermark', NULL))"
);
reload_with($node, max_wal_size => '256MB');
fill($disk{fast}, 96);
like(
	$node->safe_psql(
		'app',
		"SELECT string_agg(verdict, ' ' ORDER BY place) FROM _tiered_storage.evaluate_policies()"
	),
	qr/^leaves leaves leaves leaves$/,
	'a file that is not ours makes the tier too full');

# A tier on the same file system makes no room.
$node->safe_psql('app',
	"SELECT tiered_storage.alter_policy(tier => 'fast', changes => jsonb_build_object('target', 'same'))"
);
is( $node->safe_psql(
		'app',
		'SELECT DISTINCT verdict FROM _tiered_storage.evaluate_policies()'),
	'frees nothing',
	'a move within the file system is not made');
$node->safe_psql('app',
	"SELECT tiered_storage.alter_policy(tier => 'fast', changes => jsonb_build_object('target', 'slow'))"
);

# ---------------------------------------------------------------------
note 'Two databases';
# ---------------------------------------------------------------------

# The first of four is under way.  What is leaving counts: without the three
# others it would be enough.
hold($stops, 'registered');
my $run = start_sql($node, 'app', 'CALL tiered_storage.migrate()');
wait_stopped($stops, 'registered');
drain($disk{fast});
fill($disk{fast}, 88);
is( $node->safe_psql(
		'other',
		'SELECT DISTINCT verdict FROM _tiered_storage.evaluate_policies()'),
	'not needed',
	'what a move of another database takes away is as good as gone');

# Both empty the tier, and together only as far as one would.
drain($disk{fast});
fill($disk{fast}, 96);
like(
	notices_of($node, 'other', 'CALL tiered_storage.migrate()'),
	qr/tiers that were too full: 1; relations moved: 2, not moved: 0/,
	'another database helps');
let_go($stops, 'registered');
like(finish_sql($run), qr/relations moved: 2, not moved: 0/, 'it ends');
is(on_fast('other'), '', 'both have left the second database');
like(on_fast('app'), qr/^a\d a\d$/, 'and two of four the first one');
cmp_ok(fill_percent($disk{fast}), '<=', 60, 'the low watermark is reached');
cmp_ok(fill_percent($disk{fast}), '>', 50, 'and not undercut by a relation');
like(
	notices_of($node, 'other', 'CALL tiered_storage.migrate()'),
	qr/no tier is too full/,
	'nothing is left to do');

# Measured again before each move: somebody makes room while the first one moves.
drain($disk{fast});
undo_last($_) foreach qw(app other);
is(on_fast('app'), 'a1 a2 a3 a4', 'undone');
reload_with($node, 'tiered_storage.cooldown' => 0);
fill($disk{fast}, 96);
hold($stops, 'registered');
$run = start_sql($node, 'app', 'CALL tiered_storage.migrate()');
wait_stopped($stops, 'registered');
drain($disk{fast});
let_go($stops, 'registered');
like(
	finish_sql($run),
	qr/relations moved: 0, not moved: 1/,
	'what others make room for does not leave, although it was about to');
is(on_fast('app'), 'a1 a2 a3 a4', 'all are still there');

# ---------------------------------------------------------------------
note 'The worker';
# ---------------------------------------------------------------------

fill($disk{fast}, 85);
reload_with($node, 'tiered_storage.auto_migrate' => 'policies');
run_cycle($node, 'other');
$node->poll_query_until('other',
	'SELECT count(*) = 6 FROM _tiered_storage.moves')
  or die 'the worker moves nothing';
run_cycle($node, 'other');
is(on_fast('other'), '', 'of the database whose worker came first');
reload_with($node, 'tiered_storage.auto_migrate' => 'off');
run_cycle($node, $_) foreach qw(app other);

# ---------------------------------------------------------------------
note 'No room';
# ---------------------------------------------------------------------

drain($disk{fast});
fill($disk{fast}, 95);
fill($disk{slow}, 89);
$node->safe_psql('app', 'CALL tiered_storage.migrate()');
like(
	result('app'),
	qr/^95\.\d % full, above 80\.0 %, and nothing can leave; .*tier "slow" has room for .* of /,
	'the target is not filled beyond its high watermark');
cmp_ok(fill_percent($disk{slow}), '<=', 90, 'it is not');

# ---------------------------------------------------------------------
note 'Two that decide at the same time';
# ---------------------------------------------------------------------

# Each has decided before the other one has announced itself, and one relation is enough: the
# one that announced itself first goes on, and the other one gives up.
drain($disk{$_}) foreach qw(fast slow);
undo_last('other');
is(on_fast('other'), 'b1 b2', 'they are back');
my $others = new_stops($node, 'other');
$node->safe_psql($_,
	"SELECT tiered_storage.alter_policy(tier => 'fast', changes => jsonb_build_object('low_watermark', 0.79))"
) foreach qw(app other);
fill($disk{fast}, 85);
hold($stops, 'recording', 'registered');
$run = start_sql($node, 'app', 'CALL tiered_storage.migrate()');
wait_stopped($stops, 'recording');
hold($others, 'registered');
my $first = start_sql($node, 'other', 'CALL tiered_storage.migrate()');
wait_stopped($others, 'registered');
let_go($stops, 'recording');
wait_stopped($stops, 'registered');
let_go($others, 'registered');
like(
	finish_sql($first),
	qr/relations moved: 1, not moved: 0/,
	'the first of two goes on');
let_go($stops, 'registered');
finish_sql($run);
is(on_fast('app'), 'a1 a2 a3 a4', 'the second one gives up');
cmp_ok(fill_percent($disk{fast}), '<=', 79, 'the low watermark is reached');

$_->quit foreach $stops, $others;
$node->stop;
done_testing();

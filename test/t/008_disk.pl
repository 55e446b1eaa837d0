# Moves where the target goes wrong, or the relation under them: a directory that
# is full, missing or read-only only after the checks before the move; what
# cannot be moved online; and DDL in the middle.
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

my $has_mounts = $ENV{TIER_TEST_MOUNTS} eq 'yes';
my $node = new_node(
	'main',
	conf => q(
log_statement = none
checkpoint_timeout = '1h'
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
));
my $directory = PostgreSQL::Test::Utils::tempdir;
if ($has_mounts)
{
	system_or_bail('mount', '-t', 'tmpfs', '-o', 'size=16m,mode=0700',
		'tmpfs', $directory);
}
$node->start;
create_in_place_tablespace($node, 'slow', 'doomed');
$node->safe_psql('postgres', "CREATE TABLESPACE disk LOCATION '$directory'");
$node->safe_psql('postgres', 'CREATE DATABASE app');
prepare_matter($node, 'app');
create_matter($node, 'app', 'one');
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('disk', '{disk}', profile => 'hdd_7200', reserve_fraction => 0);
));

my $stops = new_stops($node, 'app');

# Bytes that are free where the tablespace is, when nothing waits to be removed.
sub free_bytes
{
	$node->safe_psql('app', 'CHECKPOINT');
	my (undef, $line) = split /\n/, `df --output=avail -B1 '$directory'`;
	return $line + 0;
}

sub nothing_has_happened
{
	my ($name) = @_;

	is(differences($node, 'app', 'one'),
		'', "$name: all rows are there, by table and by index");
	is(stray_files($node, 'app'), '', "$name: no file that no relation has");
	is( $node->safe_psql(
			'app', 'SELECT count(*) FROM _tiered_storage.move_file'),
		0,
		"$name: no file is registered");
	return;
}

# Starts a move of the table up to a point; does something; and lets it go on: what it says.  Then something is repaired.
sub move_with
{
	my ($point, $target, $action, $repair) = @_;

	my $move =
	  stop_move($node, 'app', $stops, $point, 'heap', 'one', $target);
	$action->();
	let_go($stops, $point);
	my $error = finish_sql($move->{run});
	$repair->() if $repair;

	$node->safe_psql('app', 'CHECKPOINT; CALL tiered_storage.migrate()');
	return $error;
}

# ---------------------------------------------------------------------
note 'Full, read-only, missing';
# ---------------------------------------------------------------------

SKIP:
{
	skip 'CANNOT MOUNT HERE: FULL AND READ-ONLY FILE SYSTEMS ARE NOT TESTED',
	  1
	  if !$has_mounts;

	my $filler = "$directory/filler";
	my $fill = sub {
		system("dd if=/dev/zero of=$filler bs=4k >/dev/null 2>&1");
	};

	# Read-only, in the checks and after them.
	system_or_bail('mount', '-o', 'remount,ro', $directory);
	like(
		error_of(
			$node, 'app', "CALL tiered_storage.move_relation('one', 'disk')"),
		qr/ERROR:  58P01: could not move public.one: directory ".*" of tablespace "disk" is not writable/,
		'a read-only file system is found before the move');
	system_or_bail('mount', '-o', 'remount,rw', $directory);
	my $error = move_with(
		'registered',
		'disk',
		sub {
			$node->safe_psql('app', 'CHECKPOINT');
			system_or_bail('mount', '-o', 'remount,ro', $directory);
		},
		sub { system_or_bail('mount', '-o', 'remount,rw', $directory) });
	like(
		$error,
		qr/ERROR:  \w+: could not move public.one: could not create/,
		'one that becomes read-only, by the move');
	nothing_has_happened('read-only');

	# Full.  TOAST is moved back, so that the free space can be compared.
	foreach my $case (
		[ 'file_created', 'in the copy', sub { } ],
		[
			'copied',
			'while it catches up',
			# Not in TOAST, which is there already.
			sub {
				$node->safe_psql('app',
					'INSERT INTO one SELECT * FROM matter(2001, 2400) WHERE id % 8 <> 0'
				);
			}
		])
	{
		my ($point, $when, $change) = @$case;
		my $free;

		$error = move_with(
			$point, 'disk',
			sub {
				$free = free_bytes();
				$fill->();
				$change->();
			});
		like(
			$error,
			qr/ERROR:  53100: could not move public.one: could not (extend|write).*No space left/,
			"a file system that is full $when ends the move");
		is(record_of_move($node, 'app', 'one'),
			'failed|53100', "full $when: the record says so");
		unlink $filler or die "no $filler: $!";
		nothing_has_happened("full $when");
		cmp_ok(free_bytes(), '>=', $free,
			"full $when: the space is given back");
	}
	$node->safe_psql('app',
		"CALL tiered_storage.move_relation('one', 'disk')");
	is(tablespaces_of($node, 'app', 'one'),
		'disk', 'it works when there is space');
	nothing_has_happened('there is space');
	$node->safe_psql('app',
		"CALL tiered_storage.move_relation('one', 'pg_default')");
}

my ($version) = grep { -d } glob "$directory/PG_*";
my $error = move_with(
	'registered',
	'disk',
	sub {
		$node->safe_psql('app', 'CHECKPOINT');
		rename $version, "$version.away" or die "rename: $!";
	},
	sub { rename "$version.away", $version or die "rename: $!" });
like(
	$error,
	qr/ERROR:  58P01: could not move public.one: could not/,
	'a directory that goes away ends the move');
nothing_has_happened('missing');

# Away with a file of ours on it, while the move ends and others sweep, and back.
hold($stops, 'discarding');
my $away = stop_move($node, 'app', $stops, 'copying', 'heap', 'one', 'disk');
$node->safe_psql('app', "SELECT pg_cancel_backend($away->{pid})");
let_go($stops, 'copying');
wait_stopped($stops, 'discarding');
rename $version, "$version.away" or die "rename: $!";
let_go($stops, 'discarding');
finish_sql($away->{run});
$node->safe_psql('app', 'CHECKPOINT; CALL tiered_storage.migrate()');
is( $node->safe_psql('app', 'SELECT count(*) FROM _tiered_storage.move_file'),
	3,
	'a directory that is away: the files are still registered');
rename "$version.away", $version or die "rename: $!";
$node->safe_psql('app',
	'CHECKPOINT; CALL tiered_storage.migrate(); CHECKPOINT; CALL tiered_storage.migrate()'
);
nothing_has_happened('back again');
$node->safe_psql('app', "CALL tiered_storage.move_relation('one', 'disk')");
is(tablespaces_of($node, 'app', 'one'), 'disk', 'it works when it is back');
$node->safe_psql('app',
	"CALL tiered_storage.move_relation('one', 'pg_default')");

# ---------------------------------------------------------------------
note 'What cannot be moved online';
# ---------------------------------------------------------------------

$node->safe_psql(
	'app', q(
CREATE UNLOGGED TABLE unlogged (id int); INSERT INTO unlogged VALUES (1);
CREATE ACCESS METHOD other_tree TYPE INDEX HANDLER gisthandler;
CREATE OPERATOR CLASS other_box DEFAULT FOR TYPE box USING other_tree AS
	OPERATOR 3 &&,
	FUNCTION 1 gist_box_consistent(internal, box, smallint, oid, internal),
	FUNCTION 2 gist_box_union(internal, internal),
	FUNCTION 5 gist_box_penalty(internal, internal, internal),
	FUNCTION 6 gist_box_picksplit(internal, internal),
	FUNCTION 7 gist_box_same(box, box, internal);
CREATE TABLE other (b box); INSERT INTO other VALUES ('((0, 0), (1, 1))');
CREATE INDEX other_idx ON other USING other_tree (b);
));
my @refused = (
	[ 'unlogged', 'it is unlogged' ],
	[ 'other_idx', 'nothing is known about how access method "other_tree"' ],
);

sub is_refused
{
	my ($where, $relation, $why) = @_;

	like(
		error_of(
			$where, 'app',
			"CALL tiered_storage.move_relation('$relation', 'slow')"),
		qr/ERROR:  0A000: could not move public.$relation: it cannot be moved online: $why.*HINT:  .*allow_lock => true/s,
		"$relation: refused, with the reason");
	is( $where->safe_psql(
			'app',
			"SELECT reltablespace FROM pg_class WHERE relname = '$relation'"),
		0,
		"$relation: and it is where it was");
	$where->safe_psql('app',
		"CALL tiered_storage.move_relation('$relation', 'slow', allow_lock => true)"
	);
	is( $where->safe_psql(
			'app',
			"SELECT spcname FROM pg_class c JOIN pg_tablespace s ON s.oid = reltablespace WHERE relname = '$relation'"
		),
		'slow',
		"$relation: moved under a lock by him who says so");
	is( $where->safe_psql(
			'app',
			"SELECT method FROM _tiered_storage.moves WHERE relation = '$relation' AND state = 'done'"
		),
		'set tablespace',
		"$relation: and the record tells how");
	return;
}

is_refused($node, @$_) foreach @refused;

# ---------------------------------------------------------------------
note 'DDL in the middle';
# ---------------------------------------------------------------------

# name, statement, what becomes of the move: "" is no error
foreach my $case (
	[ 'TRUNCATE', 'TRUNCATE %s', '' ],
	[ 'VACUUM FULL', 'VACUUM FULL %s', '' ],
	[ 'ALTER TABLE', "ALTER TABLE %s ADD c int DEFAULT 7", '' ],
	[ 'ALTER SET UNLOGGED', 'ALTER TABLE %s SET UNLOGGED', 'unlogged' ],
	[ 'SET TABLESPACE', 'ALTER TABLE %s SET TABLESPACE slow', '' ],
	[ 'DROP TABLE', 'DROP TABLE %s', '' ])
{
	my ($name, $statement, $outcome) = @$case;

	foreach my $point (qw(copying caught_up))
	{
		$node->safe_psql('app',
			"CREATE TABLE victim AS SELECT i, i % 7 AS n FROM generate_series(1, 10000) i"
		);
		hold($stops, $point);
		my $run = start_move($node, 'app', 'victim', 'slow');
		wait_stopped($stops, $point);
		my $ddl = start_sql($node, 'app', sprintf $statement, 'victim');
		wait_for($stops,
			"SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'relation' AND NOT granted"
		);
		let_go($stops, $point);
		is(finish_sql($ddl), '', "$name at $point: it succeeds");
		my $said = finish_sql($run);
		$outcome eq ''
		  ? is($said, '', "$name at $point: the move, too")
		  : like($said, qr/$outcome/,
			"$name at $point: the move says why not");
		is( $node->safe_psql(
				'app', 'SELECT count(*) FROM _tiered_storage.move_file'),
			0,
			"$name at $point: no file is registered");
		is(stray_files($node, 'app'),
			'', "$name at $point: no file that no relation has");
		$node->safe_psql('app', 'DROP TABLE IF EXISTS victim');
	}
}

# A tablespace in which a file is being made is not empty.
my $move =
  stop_move($node, 'app', $stops, 'copying', 'btree', 'one', 'doomed');
like(
	error_of($node, 'app', 'DROP TABLESPACE doomed'),
	qr/ERROR:  55000: tablespace "doomed" is not empty/,
	'a tablespace that is the target of a move is not dropped');
let_go($stops, 'copying');
is(finish_sql($move->{run}), '', 'and the move succeeds');
$node->safe_psql('app',
	"CALL tiered_storage.move_relation('one', 'pg_default')");

# Before there is a file it is empty.
$move =
  stop_move($node, 'app', $stops, 'registered', 'hash', 'one', 'doomed');
$node->safe_psql('app', 'CHECKPOINT');
$node->safe_psql('app', 'DROP TABLESPACE doomed');
let_go($stops, 'registered');
like(finish_sql($move->{run}),
	qr/ERROR/, 'a move into a tablespace that was dropped just before fails');
nothing_has_happened('DROP TABLESPACE');

# Who may not drop the extension does not even wait to be told, and ends no move; nor does
# who holds a lock on it, which every owner of a function can.
$node->safe_psql('postgres', 'CREATE ROLE nobody LOGIN');
$move = stop_move($node, 'app', $stops, 'copying', 'btree', 'one', 'slow');
like(
	error_of(
		$node,
		'app',
		'SET ROLE nobody; SET lock_timeout = 60000; DROP EXTENSION tiered_storage'
	),
	qr/ERROR:  42501: must be owner of extension tiered_storage/,
	'DROP EXTENSION without the right: it does not wait for a move');
my $holder = $node->background_psql('app', on_error_stop => 1);
$holder->query_safe(
	q(SET ROLE nobody; CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS 'SELECT 1'; BEGIN; ALTER FUNCTION pg_temp.f() DEPENDS ON EXTENSION tiered_storage)
);
let_go($stops, 'copying');
is(finish_sql($move->{run}), '', 'and the move succeeds meanwhile');
$node->safe_psql('app',
	"CALL tiered_storage.move_relation('one', 'pg_default')");
$holder->query_safe('ROLLBACK; RESET ROLE');
$holder->quit;
$node->safe_psql('postgres', 'DROP ROLE nobody');

# It would take the registration away, so that it waits; and the mover gives up and
# removes its file first, or is done with it before it looks again.
foreach my $point (qw(copying caught_up))
{
	$move = stop_move($node, 'app', $stops, $point, 'gin', 'one', 'slow');
	my $drop = start_sql($node, 'app', 'DROP EXTENSION tiered_storage');
	wait_for($stops,
		"SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'relation' AND relation = '_tiered_storage.move_batch'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted"
	);
	let_go($stops, $point);
	is(finish_sql($drop), '', "DROP EXTENSION at $point: it ends");
	like(
		finish_sql($move->{run}),
		qr/^$|the extension is being dropped/,
		"DROP EXTENSION at $point: the move says why it ends, or succeeds");
	is(stray_files($node, 'app'),
		'', "DROP EXTENSION at $point: no file is left");
	$node->safe_psql('app',
		"CREATE EXTENSION tiered_storage; SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0)"
	);
	$node->safe_psql('app',
		"CALL tiered_storage.move_relation('one', 'pg_default')");
}
$node->safe_psql('app', 'DROP EXTENSION tiered_storage');
is(differences($node, 'app', 'one'),
	'', 'DROP EXTENSION: all rows are there, by table and by index');
$stops->quit;
is(unsound_indexes($node, 'app', 'one'), '', 'everything is sound');
$node->stop;
is(log_lines($node, 0, qr/PANIC|TRAP/), '', 'no panic');

# ---------------------------------------------------------------------
note 'wal_level = minimal';
# ---------------------------------------------------------------------

$node->append_conf('postgresql.conf',
	"wal_level = minimal\nmax_wal_senders = 0");
$node->start;
$node->safe_psql('app',
	'DROP SCHEMA IF EXISTS tiered_storage; CREATE EXTENSION tiered_storage; CREATE TABLE minimal (id int)'
);
is_refused($node, 'minimal', 'wal_level is minimal');
$node->stop;
system_or_bail('umount', $directory) if $has_mounts;
done_testing();

# Online moves and replication: a standby has the same rows and no file too many,
# whatever becomes of a move; promotion in the middle of one; a synchronous
# standby that does not answer; logical decoding; and vacuum.
#
# On every major.  In make test.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

plan skip_all => 'no debug build of the library'
  unless $ENV{TIER_DEBUG_LIBDIR};

my @tables = qw(one two);

# Everything but hash: with its check PostgreSQL writes an image of a bucket's first page
# into the records of vacuum while it has no lock on that page (hashbucketcleanup), and a
# record whose image has changed meanwhile is one that no standby can read.
my $checked_wal = 'heap2,heap,btree,gin,gist,sequence,spgist,brin,generic';

# A primary with checksums, and a standby of it.
my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 'logical', extra => ['--data-checksums']);
$primary->append_conf(
	'postgresql.conf', qq(
allow_in_place_tablespaces = on
autovacuum = off
log_statement = none
max_connections = 40
max_wal_size = 256MB
wal_keep_size = 4GB
checkpoint_timeout = '1h'
shared_buffers = 16MB
wal_consistency_checking = '$checked_wal'
restart_after_crash = on
shared_preload_libraries = 'tiered_storage'
dynamic_library_path = '$ENV{TIER_DEBUG_LIBDIR}:\$libdir'
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
tiered_storage.debug_lock_hold_limit = '10s'
));
$primary->start;
create_in_place_tablespace($primary, 'slow');
$primary->safe_psql('postgres', 'CREATE DATABASE app');
prepare_matter($primary, 'app');
create_matter($primary, 'app', @tables);
$primary->safe_psql('app',
	"CREATE EXTENSION tiered_storage; SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0)"
);
$primary->safe_psql('app',
	'CREATE TABLE decoded (id int PRIMARY KEY, value text)');
$primary->backup('base');

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

# Does the standby have what the primary has?
sub standby_is_sound
{
	my ($name) = @_;

	$primary->wait_for_catchup($standby);
	foreach my $node ($primary, $standby)
	{
		my $where = $node == $primary ? 'primary' : 'standby';

		is(differences($node, 'app', @tables),
			'', "$name: the rows on the $where, by table and by index");
		is(unsound_indexes($node, 'app', @tables),
			'', "$name: tables and indexes on the $where are sound");
	}
	is(stray_files($primary, 'app'),
		'', "$name: the primary has no file that no relation has");
	$primary->wait_for_catchup($standby);
	is(stray_files($standby, 'app'), '', "$name: nor has the standby");
	return;
}

# ---------------------------------------------------------------------
note 'Moves under load';
# ---------------------------------------------------------------------

my $writers = start_writers($primary, 'app', 300, @tables);
foreach my $round (1 .. 10)
{
	my $target = $round % 2 ? 'slow' : 'pg_default';

	$primary->safe_psql(
		'app',
		join ';',
		map { "CALL tiered_storage.move_relation('$_', '$target')" } @tables);
	$primary->safe_psql('app', join ';', map { "VACUUM $_" } @tables);
}
stop_writers($writers);
is( $primary->safe_psql(
		'app',
		"SELECT count(*) FROM _tiered_storage.moves WHERE state = 'done'"),
	10 * 7 * @tables,
	'every move of every relation succeeds');
standby_is_sound('under load');

# ---------------------------------------------------------------------
note 'Vacuum';
# ---------------------------------------------------------------------

my $stops = new_stops($primary, 'app');
my $move =
  stop_move($primary, 'app', $stops, 'copying', 'gin', 'one', 'slow');
is( $stops->query_safe(
		"SELECT backend_xid IS NULL, backend_xmin IS NULL FROM pg_stat_activity WHERE pid = $move->{pid}"
	),
	't|t',
	'while it copies a mover has neither transaction nor snapshot');
$primary->safe_psql('app', 'UPDATE two SET b = b');
like(
	notices_of($primary, 'app', 'VACUUM (VERBOSE) two'),
	qr/ 0 (dead but not yet removable|are dead but not yet removable)/,
	'so that vacuum removes what died meanwhile');

# ---------------------------------------------------------------------
note 'Aborted, killed and crashed';
# ---------------------------------------------------------------------

$stops->query_safe("SELECT pg_cancel_backend($move->{pid})");
like(finish_sql($move->{run}), qr/57014/, 'a move is cancelled');
$stops->quit;
standby_is_sound('cancelled');

$stops = new_stops($primary, 'app');
$move =
  stop_move($primary, 'app', $stops, 'swapped', 'spgist', 'one', 'slow');
$stops->query_safe("SELECT pg_terminate_backend($move->{pid})");
like(finish_sql($move->{run}), qr/57P01/, 'a move is terminated');
wait_for($stops,
	"SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $move->{pid}");
$stops->quit;
standby_is_sound('terminated');

$stops = new_stops($primary, 'app');
my @moves = map { stop_move($primary, 'app', $stops, @$_, 'slow') }
  ([ 'swapped', 'brin', 'one' ], [ 'copied', 'hash', 'two' ]);
my $log_offset = -s $primary->logfile;
kill 'KILL', $moves[0]->{pid} or die "could not kill $moves[0]->{pid}: $!";
finish_sql($_->{run}) foreach @moves;
eval { $stops->quit };
$primary->poll_query_until('postgres', undef, '')
  or die 'the server did not come back';
$primary->wait_for_log(qr/removing 2 files of unfinished moves/, $log_offset);
standby_is_sound('killed');

# ---------------------------------------------------------------------
note 'Promotion in the middle';
# ---------------------------------------------------------------------

$stops = new_stops($primary, 'app');
@moves = map { stop_move($primary, 'app', $stops, @$_, 'slow') }
  ([ 'locked', 'btree', 'one' ], [ 'copying', 'gist', 'two' ]);
$primary->safe_psql('app', "SELECT change('{two}')");
$primary->wait_for_catchup($standby);
isnt(stray_files($standby, 'app'),
	'', 'files of moves in the middle are on the standby');
$primary->stop('immediate');
finish_sql($_->{run}) foreach @moves;
eval { $stops->quit };
$log_offset = -s $standby->logfile;
$standby->promote;
$standby->wait_for_log(qr/removing 2 files of unfinished moves/, $log_offset);
is(differences($standby, 'app', @tables),
	'', 'promoted: all rows are there, by table and by index');
is(unsound_indexes($standby, 'app', @tables),
	'', 'promoted: tables and indexes are sound');
is(stray_files($standby, 'app'),
	'', 'promoted: the worker has removed the files');
$standby->safe_psql('app', join ';',
	map { "CALL tiered_storage.move_relation('$_', 'slow')" } @tables);
is(tablespaces_of($standby, 'app', @tables),
	'slow', 'promoted: the same moves succeed');
is(differences($standby, 'app', @tables), '', 'promoted, moved: all rows');
$standby->stop;
$primary->start;

# ---------------------------------------------------------------------
note 'Synchronous standby that does not answer';
# ---------------------------------------------------------------------

# From now on commits wait, as soon as the checkpointer has said so: a session that
# commits until it does, for the evidence.
sub miss_a_standby
{
	my ($session) = @_;

	$session->query_safe(
		"ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
	$session->query_safe('SELECT pg_reload_conf()');
	my $run = start_sql(
		$primary, 'app', q(
DO $d$ DECLARE since timestamptz; BEGIN
	FOR i IN 1 .. 10000 LOOP
		CREATE TEMP TABLE nothing ();
		DROP TABLE nothing;
		since := clock_timestamp();
		COMMIT;
		EXIT WHEN clock_timestamp() > since + interval '20 ms';
	END LOOP;
END $d$));
	wait_for($session,
		"SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%TEMP TABLE nothing ()%'"
	);
	return $run;
}

$stops = new_stops($primary, 'app');
$stops->query_safe("SET synchronous_commit = local");
$move = stop_move($primary, 'app', $stops, 'copied', 'btree', 'two', 'slow');
my $waiter = miss_a_standby($stops);
let_go($stops, 'copied');
is(finish_sql($move->{run}), '', 'a move ends, though no standby answers');
is( $stops->query_safe(
		"SELECT reltablespace <> 0 FROM pg_class WHERE relname = '$move->{relation}'"
	),
	't',
	'the relation is moved');
is( $stops->query_safe(
		'SELECT state FROM _tiered_storage.moves ORDER BY move_id DESC LIMIT 1'
	),
	'done',
	'and the record is complete');
is(finish_sql(start_move($primary, 'app', 'two_gin', 'slow')),
	'', 'so does one from its beginning');
like(
	finish_sql(start_sql($primary, 'app', 'CALL tiered_storage.migrate()')),
	qr/nothing is due/,
	'and a run of the policies');

# A commit that waits would take the cancel for itself, and the CALL go on.
$move = stop_move($primary, 'app', $stops, 'copied', 'hash', 'two', 'slow');
$stops->query_safe("SELECT pg_cancel_backend($move->{pid})");
my $cancelled = finish_sql($move->{run});
let_go($stops, 'copied');
like($cancelled, qr/ERROR:  57014/, 'a cancel ends the CALL');
unlike($cancelled, qr/synchronous replication/, 'and no wait of a commit');

# DROP EXTENSION waits for a move until that has given up, or ended.
$move =
  stop_move($primary, 'app', $stops, 'copying', 'spgist', 'two', 'slow');
my $drop = start_sql($primary, 'app',
	'BEGIN; DROP EXTENSION tiered_storage; ROLLBACK');
wait_for($stops,
	"SELECT count(*) > 0 FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted AND a.query LIKE 'BEGIN; DROP%'"
);
let_go($stops, 'copying');
unlike(finish_sql($drop), qr/ERROR/, 'DROP EXTENSION does not wait either');
like(
	finish_sql($move->{run}),
	qr/\A\z|the extension is being dropped/,
	'and the move ends');
is( $stops->query_safe(
		"SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"),
	1,
	'all the time commits of others waited');
$stops->query_safe('ALTER SYSTEM RESET synchronous_standby_names');
$stops->query_safe('SELECT pg_reload_conf()');
finish_sql($waiter);

# One that is terminated, or ends by itself, must not wait either: the server
# could not be stopped.
$move = stop_move($primary, 'app', $stops, 'copied', 'hash', 'two', 'slow');
$waiter = miss_a_standby($stops);
$stops->query_safe("SELECT pg_terminate_backend($move->{pid})");
like(finish_sql($move->{run}), qr/57P01/, 'a move is terminated');
wait_for($stops,
	"SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $move->{pid}");
pass('and its process ends');
$stops->query_safe('ALTER SYSTEM RESET synchronous_standby_names');
$stops->query_safe('SELECT pg_reload_conf()');
finish_sql($waiter);
$stops->quit;
is(stray_files($primary, 'app'), '', 'no file is left of it');

# ---------------------------------------------------------------------
note 'Logical decoding';
# ---------------------------------------------------------------------

SKIP:
{
	my $has_plugin = $primary->safe_psql('app',
			"SELECT count(*) FROM pg_ls_dir('"
		  . $primary->config_data('--pkglibdir')
		  . "') f WHERE f ~ '^test_decoding\\.'");

	skip 'TEST_DECODING IS NOT INSTALLED, LOGICAL DECODING IS NOT TESTED', 2
	  if !$has_plugin;
	$primary->safe_psql('app',
		"SELECT pg_create_logical_replication_slot('changes', 'test_decoding')"
	);
	$stops = new_stops($primary, 'app');
	$primary->safe_psql('app', "INSERT INTO decoded VALUES (1, 'before')");
	hold($stops, 'copying');
	my $run = start_move($primary, 'app', 'decoded', 'slow');
	my @expected = ("INSERT: id[integer]:1 value[text]:'before'");

	foreach my $point (qw(copying copied caught_up))
	{
		my $id = @expected + 1;

		$point eq 'copying'
		  ? wait_stopped($stops, $point)
		  : step_to($stops,
			$point eq 'copied' ? 'copying' : 'copied', $point);
		$primary->safe_psql('app',
			"INSERT INTO decoded VALUES ($id, repeat('$point', 500)); UPDATE decoded SET value = '$point' WHERE id = $id"
		);
		push @expected,
		  ( "INSERT: id[integer]:$id value[text]:'" . $point x 500 . "'",
			"UPDATE: id[integer]:$id value[text]:'$point'");
	}
	let_go($stops, 'caught_up');
	is(finish_sql($run), '', 'a table is moved while it is decoded');
	$primary->safe_psql('app', "INSERT INTO decoded VALUES (99, 'after')");
	push @expected, "INSERT: id[integer]:99 value[text]:'after'";
	is( $primary->safe_psql(
			'app',
			"SELECT regexp_replace(data, '^table public.decoded: ', '') FROM pg_logical_slot_get_changes('changes', NULL, NULL) WHERE data ~ '^table public.decoded'"
		),
		join("\n", @expected),
		'all changes are decoded, in order, each once');
	$stops->quit;
}

$primary->stop;
done_testing();

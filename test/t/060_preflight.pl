# preflight() and dry runs against what moves then do: what is said to be in the way is
# what a move is refused for, and where nothing is, it is made.  Neither waits for
# anybody, nor leaves a trace.

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

my $node = new_node(
	'main',
	standby => 1,
	conf => q(
max_prepared_transactions = 5
max_replication_slots = 5
wal_keep_size = '1GB'
archive_mode = on
archive_command = 'true'
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
));
$node->start;
create_in_place_tablespace($node, 'fast', 'slow', 'other');
$node->safe_psql('postgres', 'CREATE DATABASE app');
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('ssd', '{fast}', profile => 'nvme', reserve_fraction => 0);
SELECT tiered_storage.add_tier('hdd', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
CREATE ROLE owner;
CREATE ROLE stranger;
GRANT USAGE ON SCHEMA tiered_storage TO owner, stranger;
GRANT EXECUTE ON FUNCTION tiered_storage.preflight TO owner, stranger;
GRANT EXECUTE ON PROCEDURE tiered_storage.move_relation TO owner, stranger;
SET default_tablespace = fast;
CREATE TABLE t (id int PRIMARY KEY, t text);
ALTER TABLE t ALTER t SET STORAGE EXTERNAL;
INSERT INTO t SELECT i, repeat('x', 5000) FROM generate_series(1, 20) i;
));

my $quiet = 'SET client_min_messages = error;';

# The rows of a call, by check: [verdict, finding, remedy].
sub rows_of
{
	my ($server, $arguments, $before) = @_;
	my %rows;
	my $out = $server->safe_psql('app',
			$quiet
		  . ($before // '')
		  . "SELECT E'\\x02' || concat_ws(E'\\x01', check_name, verdict, replace(finding, E'\\n', ' '), COALESCE(remedy, '')) FROM tiered_storage.preflight($arguments, include_all => true)"
	);

	foreach my $row (split /\n?\x02/, $out)
	{
		my ($check, @fields) = split /\x01/, $row, -1;
		$rows{$check} = \@fields if defined $check;
	}
	return \%rows;
}

sub blocking
{
	my ($rows) = @_;

	my @blocking =
	  sort grep { $_ ne 'verdict' && $rows->{$_}[0] eq 'blocks' } keys %$rows;

	is($rows->{verdict}[0] eq 'blocks', @blocking > 0, 'the verdict fits');
	return join(',', @blocking);
}

# Amounts and times are those of a moment.
sub masked
{
	my ($text) = @_;

	$text =~ s/[0-9.]+ (bytes|kB|MB|GB|TB)/N/g;
	$text =~ s/open for \d+ \w+/open for N/g;
	return $text;
}

# What preflight() says of a call blocks it, and nothing else; what is refused is refused
# for that reason; and the dry run is of the same opinion.
sub agree
{
	my ($what, $arguments, $expected, $before) = @_;
	my $rows = rows_of($node, $arguments, $before);
	my $checks = blocking($rows);
	my $set = $before // '';

	is($checks, $expected, "$what: blocked by '$expected'");

	my $foretold = error_of($node, 'app',
		"$set CALL tiered_storage.move_relation($arguments, dry_run => true)"
	);
	my $error = error_of($node, 'app',
		"$set CALL tiered_storage.move_relation($arguments)");

	if ($expected eq '')
	{
		like($error, qr/^no error:/, "$what: it is moved");
		unlike($foretold, qr/ERROR|WARNING/, "$what: as the dry run has it");
		return;
	}
	my ($message) =
	  $error =~
	  /^(?:psql:\S+ )?ERROR:  [0-9A-Z]{5}: (?:could not move .*?: )?(.*)$/m;
	ok( (   grep {
				index(masked($rows->{$_}[1]), masked($message // '?')) >= 0
			} split /,/,
			$checks),
		"$what: refused for that reason") or diag $error;
	ok(index(masked($foretold), masked($message // '?')) >= 0,
		"$what: as the dry run has it")
	  or diag $foretold;
	return;
}

# ---------------------------------------------------------------------
note 'Agreement';
# ---------------------------------------------------------------------

$node->safe_psql(
	'app', q(
SET default_tablespace = fast;
CREATE UNLOGGED TABLE u (a int);
CREATE VIEW v AS SELECT 1;
CREATE SEQUENCE s;
CREATE MATERIALIZED VIEW m AS SELECT 1 AS a;
CREATE TABLE dup (a int);
INSERT INTO dup VALUES (1), (1);
CREATE TABLE owned (a int PRIMARY KEY);
ALTER TABLE owned OWNER TO owner;
CREATE TABLE parts (a int) PARTITION BY LIST (a);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE UNLOGGED TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
CREATE TABLE inner_parts PARTITION OF parts FOR VALUES IN (3) PARTITION BY LIST (a);
CREATE TABLE pinned (a int PRIMARY KEY);
SELECT tiered_storage.pin('pinned', 'ssd', include_indexes => true);
CREATE TABLE pinned_here (a int) TABLESPACE slow;
SELECT tiered_storage.pin('pinned_here', 'hdd');
CREATE ACCESS METHOD strange TYPE TABLE HANDLER heap_tableam_handler;
CREATE TABLE strange (a int) USING strange;
CREATE TABLE grown (a int);
INSERT INTO grown SELECT generate_series(1, 1000);
));
error_of($node, 'app', 'CREATE UNIQUE INDEX CONCURRENTLY dup_i ON dup (a)');

agree('a table', "'t', 'hdd'", '');
agree('it is there', "'t', 'hdd'", '');
agree('back, to a tablespace', "'t', 'fast'", '');
agree('its index elsewhere', "'t', 'hdd', index_target => 'ssd'", '');
agree('an index', "'t_pkey', 'hdd'", '');
agree('a materialized view', "'m', 'hdd'", '');
agree('to no tier', "'m', 'other'", '');
agree('an unlogged table', "'u', 'hdd'", 'method');
agree('with a lock', "'u', 'hdd', allow_lock => true", '');
agree('an access method', "'strange', 'hdd'", 'method');
agree('a view', "'v', 'hdd'", 'relation');
agree('a sequence', "'s', 'hdd'", 'relation');
agree('a catalog', "'pg_class', 'hdd'", 'relation');
agree('a shared catalog', "'pg_database', 'hdd'", 'relation');
agree('pg_global', "'t', 'pg_global'", 'relation');
agree('an invalid index', "'dup_i', 'hdd'", 'method');
agree('its table', "'dup', 'hdd'", '');
agree('a pinned table', "'pinned', 'hdd'", 'pin');
agree('its index', "'pinned_pkey', 'hdd'", 'pin');
agree('where it is pinned', "'pinned_here', 'hdd'", '');
agree('partitions', "'parts', 'hdd'", 'method');
agree('all of them', "'parts', 'hdd', allow_lock => true", '');
agree('one without any', "'inner_parts', 'hdd'", '');

my $as_owner = 'SET ROLE owner;';
agree('an owner without CREATE', "'owned', 'hdd'", 'rights', $as_owner);
agree('a stranger', "'owned', 'hdd'", 'rights', 'SET ROLE stranger;');
agree('partitions of somebody', "'parts', 'ssd'", 'method,rights', $as_owner);
$node->safe_psql('app', 'GRANT CREATE ON TABLESPACE slow TO owner');
agree('an owner', "'owned', 'hdd'", '', $as_owner);
agree('two reasons', "'pinned', 'hdd'", 'pin,rights', 'SET ROLE stranger;');

$node->safe_psql('app',
	"SELECT tiered_storage.alter_tier('hdd', device => jsonb_build_object('capacity_bytes', 1))"
);
agree('a full tier', "'grown', 'hdd'", 'capacity');
$node->safe_psql('app',
	"SELECT tiered_storage.alter_tier('hdd', device => jsonb_build_object('capacity_bytes', 1000000000))"
);
agree('one with room', "'grown', 'hdd'", '');

my $directory =
	$node->data_dir
  . '/pg_tblspc/'
  . $node->safe_psql('app',
	"SELECT oid FROM pg_tablespace WHERE spcname = 'fast'");
rename $directory, "$directory.away" or die "rename: $!";
symlink '/nonexistent', $directory or die "symlink: $!";
agree('a directory that is gone', "'grown', 'ssd'", 'directory');
unlink $directory or die "unlink: $!";
rename "$directory.away", $directory or die "rename: $!";
agree('and is back', "'grown', 'ssd'", '');

# ---------------------------------------------------------------------
note 'Names';
# ---------------------------------------------------------------------

# As a name, and as a string, whatever is in it.
sub name_of { return '"' . ($_[0] =~ s/"/""/gr) . '"'; }

sub string_of
{
	my ($text) = @_;

	$text =~ s/\\/\\\\/g;
	$text =~ s/'/''/g;
	return "E'$text'";
}

my @odd = (
	'a b', 'a"b', "a'b", 'a%sb', 'a.b', 'A',
	'select', 'a\\b', "a\tb", "a\nb", "\xc3\xa4", '$1',
	'--', ';', '{}', '/*', 'x' x 50);
srand(3);
push @odd, join '',
  map { ('"', "'", '%', '\\', ' ', '.', 'x', '(', '$')[ int rand 9 ] }
  1 .. 10
  foreach 1 .. 5;

foreach my $i (0 .. $#odd)
{
	my ($schema, $table, $index, $tier) = map { "$_$odd[$i]" } qw(s t i tier);
	my $relation =
	  string_of(name_of($schema) . '.' . name_of($table));
	my $arguments = "$relation, " . string_of($tier);

	$node->safe_psql('app',
			'CREATE SCHEMA '
		  . name_of($schema) . ';'
		  . 'CREATE TABLE '
		  . name_of($schema) . '.'
		  . name_of($table)
		  . ' (a int) TABLESPACE fast;'
		  . 'CREATE INDEX '
		  . name_of($index) . ' ON '
		  . name_of($schema) . '.'
		  . name_of($table)
		  . ' (a) TABLESPACE fast;'
		  . "SELECT tiered_storage.alter_tier('hdd', new_name => "
		  . string_of($tier) . ');'
		  . "SELECT tiered_storage.pin($relation, 'ssd')");
	my $rows = rows_of($node, $arguments);
	is(blocking($rows), 'pin', "name $i: pinned");

	# The remedy is a statement that works as it is.
	my ($unpin) = $rows->{pin}[2] =~ /^Use\s(SELECT\s.*)\sfirst\.$/s;
	is($node->safe_psql('app', $unpin), 1, "name $i: and no more");
	is(blocking(rows_of($node, $arguments)), '', "name $i: nothing blocks");
	like(
		notices_of(
			$node,
			'app',
			"CALL tiered_storage.move_relation($arguments, dry_run => true)"),
		qr/dry run: relations that would be moved: 2 /,
		"name $i: a dry run");
	like(
		error_of(
			$node, 'app', "CALL tiered_storage.move_relation($arguments)"),
		qr/^no error:/,
		"name $i: it is moved");
	$node->safe_psql('app',
			"$quiet DROP SCHEMA "
		  . name_of($schema)
		  . ' CASCADE; SELECT tiered_storage.alter_tier('
		  . string_of($tier)
		  . ", new_name => 'hdd')");
}

# ---------------------------------------------------------------------
note 'Others';
# ---------------------------------------------------------------------

# Who waits for the lock, which is held until the end, fails.
my $impatient = "SET lock_timeout = '20s';";
my $other = $node->background_psql('app');
$other->query_safe(
	"SET application_name = 'keeper'; BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE; ALTER INDEX t_pkey RENAME TO t_key"
);
my $rows = rows_of($node, "'t', 'other'", $impatient);
is($rows->{locks}[0], 'warning', 'a relation that is locked is looked at');
like(
	$rows->{locks}[1],
	qr/^public\.\S+ is in use by process \d+ \(keeper\), open for \d+ s \(2 of 2\)$/,
	'and who has it is told');
unlike(
	error_of(
		$node,
		'app',
		"$impatient CALL tiered_storage.move_relation('t', 'other', dry_run => true)"
	),
	qr/ERROR|WARNING/,
	'a dry run does not wait either');
$rows = rows_of($node, "'t', 'other'",
	"SET tiered_storage.debug_skip = 'young_holders queueing';");
is(blocking($rows), 'locks', 'one that has it for long is in the way');
like(
	$rows->{locks}[1],
	qr/it is in use by process \d+ \(keeper\), whose transaction has been open for/,
	'with the words of the mover');
my $error = error_of($node, 'app',
	"SET tiered_storage.debug_skip = 'young_holders queueing'; CALL tiered_storage.move_relation('t', 'other')"
);
like(
	$error,
	qr/ERROR:  55P03: .*it is in use by process \d+ \(keeper\), whose transaction has been open for/,
	'which says the same');
$rows = rows_of($node, "'t', 'other'", 'SET ROLE owner;');
like(
	$rows->{locks}[1],
	qr/is in use by process \d+ \(2 of 2\)$/,
	'a role that may not know it is told neither what it is nor since when');
$other->query_safe('ROLLBACK');
$other->quit;
is(rows_of($node, "'t', 'other'")->{locks}[0], 'ok', 'nobody uses it');

$node->safe_psql('app',
	"BEGIN; INSERT INTO t VALUES (1000); PREPARE TRANSACTION 'left'");
$rows = rows_of($node, "'t', 'other'", $impatient);
like(
	$rows->{locks}[1],
	qr/^public\.t is in use by prepared transaction "left"/,
	'a prepared transaction is told');
like($rows->{locks}[2], qr/ROLLBACK PREPARED/, 'with what ends it');
$node->safe_psql('app', "ROLLBACK PREPARED 'left'");

# More than a slot may keep, if nobody reads it.
$node->safe_psql('app',
	'CREATE TABLE large TABLESPACE fast AS SELECT generate_series(1, 1200000) i'
);

# ---------------------------------------------------------------------
note 'What goes into the WAL';
# ---------------------------------------------------------------------

# A table that is full of what no page leaves out, and how many bytes of WAL its move writes.
sub create_full
{
	my ($server, $name, $kind) = @_;

	$server->safe_psql('app',
		"CREATE $kind TABLE $name (a text) TABLESPACE fast; ALTER TABLE $name ALTER a SET STORAGE PLAIN; INSERT INTO $name SELECT repeat('x', 7900) FROM generate_series(1, 500); CHECKPOINT"
	);
	return;
}

sub wal_of
{
	my ($server, $arguments) = @_;
	my $before =
	  $server->safe_psql('app', 'SELECT pg_current_wal_insert_lsn()');

	$server->safe_psql('app',
		"$quiet CALL tiered_storage.move_relation($arguments)");
	return $server->safe_psql('app',
		"SELECT pg_current_wal_insert_lsn() - '$before'::pg_lsn");
}

# Bytes that a row speaks of, of a table of some MB.
sub wal_foretold
{
	my ($server, $arguments) = @_;
	my ($kb) =
	  rows_of($server, $arguments)->{time}[1] =~ /([0-9.]+) kB of WAL$/;

	return ($kb // 0) * 1024;
}

my $table_bytes = 500 * 8192;
create_full($node, 'full_logged', '');
create_full($node, 'full_unlogged', 'UNLOGGED');

# With a slot of a standby, what is copied is not compressed, which nobody foretells.
$node->safe_psql('app',
	q(SELECT FROM pg_create_physical_replication_slot('standby')));
my $foretold = wal_foretold($node, "'full_logged', 'hdd'");
my $written = wal_of($node, "'full_logged', 'hdd'");
$node->safe_psql('app', q(SELECT pg_drop_replication_slot('standby')));
ok( $foretold > $table_bytes / 2 && $written > $table_bytes / 2,
	'a table that is logged is copied into the WAL, as foretold'
) or diag "$written, $foretold";
ok(abs($written - $foretold) < 0.2 * $foretold, 'about as much as foretold')
  or diag "$written, $foretold";
$rows = rows_of($node, "'full_unlogged', 'hdd', allow_lock => true");
is( $rows->{wal}[1],
	'the copy is not logged',
	'one that is not logged needs no room there');
like($rows->{time}[1], qr/, and 0 bytes of WAL$/, 'nor writes any');
$written = wal_of($node, "'full_unlogged', 'hdd', allow_lock => true");
ok($written < $table_bytes / 10, 'and does not') or diag $written;

# ---------------------------------------------------------------------
note 'Others that move';
# ---------------------------------------------------------------------

reload_with($node, 'tiered_storage.move_rate_limit' => '1MB');
$node->safe_psql('app',
	"$quiet CREATE TABLE large_too TABLESPACE fast AS TABLE large; ALTER TABLE large SET TABLESPACE fast; ALTER TABLE large OWNER TO owner"
);
prepare_matter($node, 'app');
my $stops = new_stops($node, 'app');

$rows = rows_of($node, "'large_too', 'hdd'");
like($rows->{start}[1], qr/^by CALL at once; /, 'so it begins at once');
hold($stops, 'registered');
my $run = start_move($node, 'app', 'large', 'hdd', 'SET ROLE owner');
my $pid = wait_stopped($stops, 'registered');
like(
	rows_of($node, "'large_too', 'hdd'")->{start}[1],
	qr/^by CALL at once; /,
	'an administrator has a place');
$rows = rows_of($node, "'owned', 'hdd'", $as_owner);
is($rows->{start}[0], 'warning', 'the owner, whose move that is, has not');
like(
	$rows->{start}[1],
	qr/^a move of role owner is under way, which has one at a time: a CALL waits; /,
	'and is told why');
reload_with($node, 'tiered_storage.max_movers' => 1);
like(
	rows_of($node, "'large_too', 'hdd'")->{start}[1],
	qr/^1 other is under way, as many as max_movers permits: a CALL waits; /,
	'nor has anybody when there is only one place');
reload_with($node, 'tiered_storage.max_movers' => 2);
$node->safe_psql('app',
	'GRANT CREATE ON TABLESPACE fast, slow TO stranger; CREATE TABLE strangers (a int) TABLESPACE fast; ALTER TABLE strangers OWNER TO stranger'
);
like(
	rows_of($node, "'strangers', 'hdd'", 'SET ROLE stranger;')->{start}[1],
	qr/^1 other is under way, and the last place is for administrators: a CALL waits; /,
	'and the last of several is for administrators');
$stops->query_safe("SELECT pg_terminate_backend($pid)");
finish_sql($run);
wait_for($stops,
	"SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid");
let_go($stops, 'registered');
$stops->quit;
reload_with($node, 'tiered_storage.move_rate_limit' => 0);

# ---------------------------------------------------------------------
note 'Readers of the WAL';
# ---------------------------------------------------------------------
is(rows_of($node, "'t', 'other'")->{slots}[0], 'ok', 'no slot');
$node->safe_psql('app',
	"CHECKPOINT; SELECT pg_create_physical_replication_slot('idle', true)");
$rows = rows_of($node, "'t', 'other'");
is($rows->{slots}[0], 'warning', 'a slot that nobody reads keeps WAL');
like(
	$rows->{slots}[1],
	qr/^1 of 1 slots are not in use.*"idle" is .* behind/,
	'and is named');
reload_with($node, max_slot_wal_keep_size => '32MB');
like(
	rows_of($node, "'large', 'other'")->{slots}[1],
	qr/^slot "idle" is .* behind; with 4\d MB of this move it may exceed max_slot_wal_keep_size \(32 MB\)$/,
	'one that would lose its WAL');
$node->safe_psql('app', "SELECT pg_drop_replication_slot('idle')");
reload_with($node, max_slot_wal_keep_size => -1);

like(
	rows_of($node, "'t', 'other'")->{archive}[1],
	qr/^it works, and receives .* of WAL$/,
	'an archive');
reload_with($node, archive_command => 'false');
$node->safe_psql('app', 'CREATE TABLE more_noise (); SELECT pg_switch_wal()');
$node->poll_query_until('app',
	'SELECT last_failed_time > last_archived_time FROM pg_stat_archiver')
  or die 'archiving does not fail';
$rows = rows_of($node, "'t', 'other'");
is($rows->{archive}[0], 'warning', 'that fails is told');
like(
	$rows->{archive}[1],
	qr/^archiving of [0-9A-F]{24} fails/,
	'with what fails');
reload_with($node, archive_command => '');
is(rows_of($node, "'t', 'other'")->{archive}[0],
	'warning', 'as is one that does nothing');
reload_with($node, archive_command => 'true');

$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
$rows = rows_of($node, "'t', 'other'");
is($rows->{standbys}[0], 'ok', 'a standby that has caught up');
like(
	$rows->{standbys}[1],
	qr/^1 connected; "standby" has .* to replay, and gets .* more$/,
	'is named');
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
$node->safe_psql('app',
	'CREATE TABLE much_noise AS SELECT generate_series(1, 800000) i');
$node->poll_query_until('app',
	'SELECT sent_lsn - replay_lsn > 20000000 FROM pg_stat_replication')
  or die 'the standby does not fall behind';
is(rows_of($node, "'t', 'other'")->{standbys}[0],
	'warning', 'one that is behind is told');
is( rows_of($node, "'t', 'other'", 'SET ROLE owner;')->{standbys}[1],
	'not known: this role may not read pg_stat_replication',
	'not to everybody');
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');
reload_with($node, synchronous_standby_names => 'nobody');
$rows = rows_of($node, "'t', 'other'");
like(
	$rows->{standbys}[1],
	qr/^no synchronous standby is connected/,
	'a commit that waits for nobody');
$node->safe_psql('postgres',
	'SET synchronous_commit = local; ALTER SYSTEM RESET synchronous_standby_names'
);
$node->reload;

my $backup = IPC::Run::start(
	[
		$node->installed_command('pg_basebackup'), '-D',
		PostgreSQL::Test::Utils::tempdir . '/slow', '-d',
		$node->connstr('postgres'), '--max-rate',
		'32k', '--checkpoint',
		'fast', '--no-sync'
	],
	'<',
	\undef,
	'>',
	\my $backup_out,
	'2>',
	\my $backup_err);
$node->poll_query_until('app',
	'SELECT count(*) = 1 FROM pg_stat_progress_basebackup')
  or die 'no backup begins';
$rows = rows_of($node, "'t', 'other'");
is($rows->{backup}[0], 'warning', 'a base backup is told');
like(
	$rows->{backup}[1],
	qr/^1 base backup is running, process \d+/,
	'with its process');
$backup->signal('TERM');
eval { $backup->finish };

# ---------------------------------------------------------------------
note 'No trace';
# ---------------------------------------------------------------------

sub traces
{
	return $node->safe_psql(
		'app', q(
SELECT pg_snapshot_xmax(pg_current_snapshot()), (SELECT count(*) FROM _tiered_storage.move), (SELECT count(*) FROM _tiered_storage.move_file),
	(SELECT string_agg(pg_relation_filepath(oid), ',' ORDER BY oid) FROM pg_class WHERE relname IN ('t', 't_pkey', 'parts_1', 'owned')))
	  )
	  . join ',',
	  map { sort glob $node->data_dir . "/pg_tblspc/*/*/*/$_" } qw(*);
}

my $batch = $node->safe_psql(
	'app', q(
CREATE TABLE aged (at date NOT NULL) PARTITION BY RANGE (at);
CREATE TABLE aged_1 PARTITION OF aged FOR VALUES FROM ('2001-01-01') TO ('2001-02-01') TABLESPACE fast;
SELECT tiered_storage.add_tiering_policy('aged', '1 day', 'hdd') IS NULL;
CALL tiered_storage.migrate();
SELECT max(batch_id) FROM _tiered_storage.moves;
)) =~ s/.*\n//sr;
$node->safe_psql('app',
	"CREATE TABLE aged_2 PARTITION OF aged FOR VALUES FROM ('2001-02-01') TO ('2001-03-01') TABLESPACE fast"
);
my $before = traces();
foreach my $statement (
	"SELECT count(*) > 0 FROM tiered_storage.preflight('t', 'other')",
	"CALL tiered_storage.move_relation('t', 'other', dry_run => true)",
	"CALL tiered_storage.move_relation('parts', 'other', allow_lock => true, dry_run => true)",
	'CALL tiered_storage.migrate(dry_run => true)',
	'CALL tiered_storage.apply_placement(dry_run => true)',
	"CALL tiered_storage.undo_move($batch, dry_run => true)")
{
	unlike(error_of($node, 'app', "$impatient BEGIN; $statement; COMMIT"),
		qr/ERROR/, "in a transaction: $statement");
	is(traces(), $before, 'leaves no trace');
}
like(
	notices_of($node, 'app', "CALL tiered_storage.undo_move($batch)"),
	qr/relations moved: 1, not moved: 0/,
	'what the dry run has left can be undone');

# ---------------------------------------------------------------------
note 'On a standby';
# ---------------------------------------------------------------------

$node->wait_for_catchup($standby);
$rows = rows_of($standby, "'t', 'other'");
is(blocking($rows), 'server', 'a standby moves nothing');
is( join(',',
		map  { "$_: $rows->{$_}[0]" }
		grep { $rows->{$_}[1] =~ /^not known/ } sort keys %$rows),
	join(',',
		map { "$_: warning" }
		  qw(capacity directory locks space standby_space standby_users start wal)
	),
	'and what it cannot know is never ok');
like(
	notices_of(
		$standby, 'app',
		"CALL tiered_storage.move_relation('t', 'other', dry_run => true)"),
	qr/dry run: relations that would be moved: 2 /,
	'a dry run works there');
like(
	error_of(
		$standby, 'app', "CALL tiered_storage.move_relation('t', 'other')"),
	qr/ERROR:  25006/,
	'and a move does not');
$standby->stop;

# ---------------------------------------------------------------------
note 'Without preload';
# ---------------------------------------------------------------------

like(
	rows_of($node, "'t', 'other'")->{start}[1],
	qr/^by CALL at once; the worker moves nothing, as auto_migrate is off$/,
	'no move by the worker');
reload_with($node, 'tiered_storage.auto_migrate' => 'policies');
run_cycle($node, 'app');
like(
	rows_of($node, "'t', 'other'")->{start}[1],
	qr/^by CALL at once; the worker plans moves (at|within)/,
	'or when it looks');
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;
is(blocking(rows_of($node, "'t', 'other'")), '', 'nothing is in the way');
like(
	rows_of($node, "'t', 'other'")->{start}[1],
	qr/there is no worker, as tiered_storage is not preloaded$/,
	'there is no worker');
agree('not preloaded', "'t', 'other'", '');

# ---------------------------------------------------------------------
note 'wal_level is minimal';
# ---------------------------------------------------------------------

my $minimal = new_node('minimal',
	conf =>
	  "wal_level = minimal\nmax_wal_senders = 0\ntiered_storage.auto_migrate = off\ntiered_storage.sample_interval = '1h'"
);
$minimal->start;
create_in_place_tablespace($minimal, 'fast', 'slow');
$minimal->safe_psql('postgres', 'CREATE DATABASE app');
$minimal->safe_psql('app', 'CREATE EXTENSION tiered_storage');

# The first sample, which writes a row for each relation, is not to come while WAL is measured.
run_cycle($minimal, 'app');
create_full($minimal, 'full_logged', '');
$rows = rows_of($minimal, "'full_logged', 'slow', allow_lock => true");
is($rows->{wal}[1], 'the copy is not logged', 'nothing is logged there');
like($rows->{time}[1], qr/, and 0 bytes of WAL$/, 'nor foretold');
$written = wal_of($minimal, "'full_logged', 'slow', allow_lock => true");
ok($written < $table_bytes / 10, 'nor written') or diag $written;
$minimal->stop;

$node->stop;
done_testing();

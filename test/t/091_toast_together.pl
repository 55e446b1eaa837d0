# A table, its TOAST table and the index of that are exchanged at once: whatever
# happens in between, they are in one tablespace.  The table is never locked for
# somebody who has its TOAST table alone.
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

my $node = new_node(
	'main',
	conf => q(
autovacuum = off
max_prepared_transactions = 2
allow_system_table_mods = on
tiered_storage.auto_migrate = off
tiered_storage.debug_skip = ''
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = '1h'
tiered_storage.move_lock_timeout = '10s'
));
$node->start;
create_in_place_tablespace($node, 'slow');
$node->safe_psql('postgres', 'CREATE DATABASE app');
prepare_matter($node, 'app');
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
CREATE FUNCTION toast_of(name text) RETURNS text STABLE LANGUAGE sql AS
	'SELECT reltoastrelid::regclass::text FROM pg_class WHERE oid = name::regclass';
-- Where the table, its TOAST table and the valid index of that are.
CREATE FUNCTION places(name text) RETURNS text STABLE LANGUAGE sql AS $$
	SELECT string_agg(DISTINCT COALESCE(s.spcname, 'default'), ' ' ORDER BY COALESCE(s.spcname, 'default'))
	FROM pg_class c LEFT JOIN pg_index i ON i.indrelid = c.reltoastrelid AND i.indisvalid
		JOIN pg_class p ON p.oid IN (c.oid, c.reltoastrelid, i.indexrelid)
		LEFT JOIN pg_tablespace s ON s.oid = p.reltablespace
	WHERE c.oid = name::regclass
$$;
CREATE FUNCTION sum_of(name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	sum text;
BEGIN
	EXECUTE format('SELECT count(*) || md5(string_agg(value, chr(32) ORDER BY id)) FROM %I', name) INTO sum;
	RETURN sum;
END $$;
));
$node->safe_psql('app', 'CREATE EXTENSION pg_visibility')
  if $node->safe_psql(
	'app',
	"SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_visibility'"
  );
my $stops = new_stops($node, 'app');

sub make
{
	my ($name) = @_;

	$node->safe_psql(
		'app', qq(
DROP TABLE IF EXISTS $name;
CREATE TABLE $name (id int, value text);
ALTER TABLE $name ALTER value SET STORAGE EXTERNAL;
INSERT INTO $name SELECT i, repeat(md5(i::text), 100) FROM generate_series(1, 200) i;
));
	return $node->safe_psql('app', "SELECT sum_of('$name')");
}

sub is_together
{
	my ($name, $where, $sum, $what) = @_;

	is($node->safe_psql('app', "SELECT places('$name')"),
		$where, "$what: all parts are in the same place");
	is($node->safe_psql('app', "SELECT sum_of('$name')"),
		$sum, "$what: every row is there");
	$node->safe_psql('app', 'CALL tiered_storage.migrate()');
	is(stray_files($node, 'app'), '', "$what: no file that no relation has");
	$node->safe_psql('app', 'CALL tiered_storage.migrate()');
	is( $node->safe_psql(
			'app', 'SELECT count(*) FROM _tiered_storage.move_file'),
		0,
		"$what: no file is registered");
	return;
}

# What amcheck and pg_visibility have to say, where they are.
sub unsound
{
	my ($name) = @_;
	my $found = unsound_indexes($node, 'app', $name);

	return $found
	  if !$node->safe_psql('app',
		"SELECT count(*) FROM pg_extension WHERE extname = 'pg_visibility'");
	return $found
	  . $node->safe_psql('app',
		"SELECT t.oid::regclass, v.* FROM pg_class c JOIN pg_class t ON t.oid IN (c.oid, c.reltoastrelid), LATERAL pg_check_visible(t.oid) v WHERE c.oid = '$name'::regclass"
	  );
}

# ---------------------------------------------------------------------
note 'The server stops';
# ---------------------------------------------------------------------

foreach my $point (qw(copying fork_copied copied locked swapped))
{
	foreach my $mode (qw(fast immediate))
	{
		my $sum = make('stopped');
		hold($stops, $point);
		my $run = start_move($node, 'app', 'stopped', 'slow');
		wait_stopped($stops, $point);
		$node->stop($mode);
		finish_sql($run);
		eval { $stops->quit };
		$node->start;
		$stops = new_stops($node, 'app');
		is_together('stopped', 'default', $sum, "$mode stop at $point");
	}
}

# ---------------------------------------------------------------------
note 'Others change what belongs to the table';
# ---------------------------------------------------------------------

my %change = (
	'a TOAST table comes' => [
		'CREATE TABLE changed (id int, value varchar(20)); INSERT INTO changed SELECT i, i FROM generate_series(1, 200) i',
		'ALTER TABLE changed ALTER value TYPE text',
		"INSERT INTO changed VALUES (0, repeat(md5('x'), 1000))"
	],
	'the TOAST table is rewritten' => [ '', 'VACUUM FULL changed' ],
	'the index of the TOAST table is rebuilt' =>
	  [ '', 'REINDEX TABLE CONCURRENTLY %s' ],
	'everything is truncated' => [
		'',
		'TRUNCATE changed',
		"INSERT INTO changed VALUES (1, repeat('x', 10000))"
	],
	'the end of both is cut off' =>
	  [ '', 'DELETE FROM changed WHERE id > 100', 'VACUUM changed' ],);

foreach my $what (sort keys %change)
{
	foreach my $point (qw(copying fork_copied copied caught_up))
	{
		my ($create, @alter) = @{ $change{$what} };

		make('changed');
		$node->safe_psql('app', "DROP TABLE changed; $create")
		  if $create ne '';
		my $toast = $node->safe_psql('app', "SELECT toast_of('changed')");
		s/%s/$toast/ foreach @alter;
		hold($stops, $point);
		my $run = start_move($node, 'app', 'changed', 'slow');
		wait_stopped($stops, $point);
		my $changed = start_sql($node, 'app', @alter);
		wait_for($stops,
			"SELECT count(*) = 0 OR bool_or(wait_event_type = 'Lock') FROM pg_stat_activity WHERE query <> '' AND state = 'active' AND query !~ 'pg_stat_activity|^CALL'"
		);
		let_go($stops, $point);
		is(finish_sql($changed), '', "$what at $point: that is done");
		is(finish_sql($run), '', "$what at $point: the move succeeds");
		is_together(
			'changed', 'slow',
			$node->safe_psql('app', "SELECT sum_of('changed')"),
			"$what at $point");
	}
}

# ---------------------------------------------------------------------
note 'One file is cut off while another one is copied';
# ---------------------------------------------------------------------

# The parts in the order in which they are copied: the index, the TOAST table, the table.
foreach my $file (0 .. 2)
{
	foreach my $part ('the table', 'its TOAST table', 'both')
	{
		foreach my $grows (0, 1)
		{
			my $what =
				"$part cut off"
			  . ($grows ? ' and longer again' : '')
			  . " while file $file is copied";
			my $vacuum =
				$part eq 'the table' ? 'VACUUM (PROCESS_TOAST false) cut'
			  : $part eq 'both'      ? 'VACUUM cut'
			  :                        'VACUUM %s';

			make('cut');
			$node->safe_psql('app',
				"ALTER TABLE cut ADD filler text; ALTER TABLE cut ALTER filler SET STORAGE PLAIN; UPDATE cut SET filler = repeat('f', 1500); VACUUM FULL cut; VACUUM cut"
			);
			my $toast = $node->safe_psql('app', "SELECT toast_of('cut')");
			my $sizes =
			  "SELECT pg_relation_size('cut'), pg_relation_size('$toast')";
			my @before = split /\|/, $node->safe_psql('app', $sizes);
			$vacuum =~ s/%s/$toast/;
			hold($stops, "in_file_$file");
			my $run = start_move($node, 'app', 'cut', 'slow',
				'SET client_min_messages = warning');
			wait_stopped($stops, "in_file_$file");

			# It lets go of its locks, else vacuum would not cut anything: it looks for a
			# pause when 20 ms have gone by.
			$node->safe_psql('app', 'SELECT tiered_storage.pause()');
			wait_for($stops,
				"SELECT count(*) = 1 FROM pg_locks WHERE NOT granted AND waitstart < clock_timestamp() - interval '0.1 s'"
			);
			let_go($stops, "in_file_$file");
			wait_for($stops,
				"SELECT phase = 'paused' FROM _tiered_storage.move_progress");
			$node->safe_psql('app', 'DELETE FROM cut WHERE id > 20');
			$node->safe_psql('app', $vacuum);
			my @after = split /\|/, $node->safe_psql('app', $sizes);
			ok( ($part eq 'its TOAST table' || $after[0] < $before[0])
				  && ($part eq 'the table' || $after[1] < $before[1]),
				"$what: it is shorter");
			$node->safe_psql('app',
				"INSERT INTO cut SELECT i, repeat(md5((i + 1000)::text), 100), repeat('g', 1500) FROM generate_series(21, 120) i"
			) if $grows;
			$node->safe_psql('app', 'SELECT tiered_storage.resume()');
			is(finish_sql($run), '', "$what: the move succeeds");
			is_together('cut', 'slow',
				$node->safe_psql('app', "SELECT sum_of('cut')"), $what);
			is(unsound('cut'), '', "$what: it is sound");
		}
	}
}

# ---------------------------------------------------------------------
note 'Another TOAST table between two looks';
# ---------------------------------------------------------------------

make('looked');
hold($stops, 'checked');
my $looking = start_move($node, 'app', 'looked', 'slow');
wait_stopped($stops, 'checked');
$node->safe_psql('app', 'ALTER TABLE looked ALTER id TYPE bigint');
let_go($stops, 'checked');
is(finish_sql($looking), '', 'the move succeeds');
is_together(
	'looked', 'slow',
	$node->safe_psql('app', "SELECT sum_of('looked')"),
	'a TOAST table that is another one already');

# ---------------------------------------------------------------------
note 'An error between the lock of a number and its row';
# ---------------------------------------------------------------------

my $failing = $node->background_psql('app', on_error_stop => 0);
$failing->query("SET tiered_storage.debug_fault = 'choosing:error'");
$failing->query("CALL tiered_storage.move_relation('looked', 'pg_default')");
like($failing->{stderr}, qr/fault at "choosing"/, 'it fails');
is( $failing->query(
		"SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'object' AND classid = 'pg_class'::regclass"
	),
	0,
	'no lock is left');
$failing->quit;

# ---------------------------------------------------------------------
note 'Somebody has the TOAST table alone';
# ---------------------------------------------------------------------

my $sum = make('vacuumed');
my $toast = $node->safe_psql('app', "SELECT toast_of('vacuumed')");

# Vacuums the TOAST table, in an hour.
sub begin_vacuum
{
	my $run = start_sql(
		$node, 'app',
		'SET vacuum_cost_delay = 100',
		'SET vacuum_cost_limit = 1',
		"VACUUM (DISABLE_PAGE_SKIPPING) $toast");

	wait_for($stops,
		"SELECT count(*) = 1 FROM pg_locks WHERE relation = '$toast'::regclass AND mode = 'ShareUpdateExclusiveLock' AND granted"
	);
	return $run;
}

sub end_vacuum
{
	my ($run) = @_;

	$stops->query_safe(
		"SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query ~ '^VACUUM'"
	);
	return finish_sql($run);
}

$node->safe_psql('app',
	"INSERT INTO vacuumed SELECT i, repeat(md5(i::text), 100) FROM generate_series(201, 20000) i"
);
$sum = $node->safe_psql('app', "SELECT sum_of('vacuumed')");
my $offset = -s $node->logfile;
my $vacuum = begin_vacuum();
my $run = start_sql(
	$node,
	'app',
	'SET log_min_messages = debug1',
	'SET tiered_storage.debug_lock_attempts = 4',
	"CALL tiered_storage.move_relation('vacuumed', 'slow')");
like(
	finish_sql($run),
	qr/could not lock the relation/,
	'the move is not made while somebody has the TOAST table');
unlike(
	slurp_file($node->logfile, $offset),
	qr/attempt \d+ to end the move of relation .*lock held/,
	'the table was never locked for it');
like(end_vacuum($vacuum), qr/canceling/, 'nor was vacuum cancelled');
is_together('vacuumed', 'default', $sum, 'with the TOAST table in use');

# It comes when the copy is complete.
hold($stops, 'caught_up');
$run = start_sql(
	$node, 'app',
	'SET tiered_storage.debug_lock_attempts = 1000',
	"CALL tiered_storage.move_relation('vacuumed', 'slow')");
wait_stopped($stops, 'caught_up');
$vacuum = begin_vacuum();
let_go($stops, 'caught_up');
wait_for($stops, 'SELECT attempts > 0 FROM _tiered_storage.move_progress');
is( $node->safe_psql(
		'app', "SET lock_timeout = '1min'; SELECT sum_of('vacuumed')"),
	$sum,
	'others read the table meanwhile');
like(end_vacuum($vacuum), qr/canceling/, 'vacuum goes on meanwhile');
is(finish_sql($run), '', 'and the move is made when it is free');
is_together('vacuumed', 'slow', $sum, 'after that');

# ---------------------------------------------------------------------
note 'A table that a superuser has split';
# ---------------------------------------------------------------------

$sum = make('split');
my $parts =
  "WITH t AS (SELECT reltoastrelid AS oid FROM pg_class WHERE relname = 'split'), p AS (SELECT oid FROM t UNION SELECT indexrelid FROM pg_index JOIN t ON oid = indrelid)";
my $paths = "$parts SELECT pg_relation_filepath(oid) FROM p ORDER BY oid";
my @from = split /\n/, $node->safe_psql('app', $paths);
$node->safe_psql('app',
	"$parts UPDATE pg_class SET reltablespace = (SELECT oid FROM pg_tablespace WHERE spcname = 'slow') WHERE oid IN (SELECT oid FROM p)"
);
my @to = split /\n/, $node->safe_psql('app', $paths);
eval { $stops->quit };
$node->stop;

foreach my $i (0 .. $#from)
{
	rename $node->data_dir . "/$from[$i]$_", $node->data_dir . "/$to[$i]$_"
	  foreach '', '_fsm', '_vm';
}
$node->start;
$stops = new_stops($node, 'app');
is( $node->safe_psql(
		'app',
		"SELECT verdict, replace(finding, E'\\n', ' '), replace(remedy, E'\\n', ' ') FROM tiered_storage.preflight('split', 'slow', include_all => true) WHERE check_name = 'relation'"
	),
	"warning|the TOAST table of public.split is in another tablespace than the table: pg_upgrade --swap would lose it|CALL tiered_storage.move_relation('public.split', 'pg_default');",
	'preflight says so');
$node->safe_psql('app',
	"CALL tiered_storage.move_relation('public.split', 'pg_default')");
is_together('split', 'default', $sum, 'healed');

# The catalog says the wrong place, as after pg_upgrade --swap of a table like that:
# the file is the only copy of the data.
$node->safe_psql(
	'app', qq(
CHECKPOINT;
UPDATE pg_class SET reltablespace = (SELECT oid FROM pg_tablespace WHERE spcname = 'slow') WHERE oid = 'split'::regclass;
));
is( $node->safe_psql(
		'app', 'SELECT path FROM _tiered_storage.orphaned_files()'),
	'',
	'the file of a relation that the catalog has elsewhere is not reported');
$node->safe_psql('app',
	"UPDATE pg_class SET reltablespace = 0 WHERE oid = 'split'::regclass");
is($node->safe_psql('app', "SELECT sum_of('split')"), $sum, 'it is there');

eval { $stops->quit };
$node->stop;
done_testing();

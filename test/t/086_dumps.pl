# What applications read that are ignored, such as pg_dump, is no use of a table at the default
# rate of tracking either, whether it is cached or not; what others read at the same time is.
#
# Made up in the tables, since no call makes it in the time of a test: rates, and
# history of days and weeks.
#
# On every major.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

my $node = new_node(
	'main',
	conf => q(
tiered_storage.sample_interval = '1d'
tiered_storage.migrate_interval = '1d'
tiered_storage.auto_migrate = off
tiered_storage.test_page_cache = off
fsync = off
));
$node->start;
create_in_place_tablespace($node, 'slow');

# "large" does not fit in the ring of a scan: it is read from files each time, and is small enough
# for plans that nobody has seen.
$node->safe_psql(
	'postgres', q(
CREATE EXTENSION IF NOT EXISTS tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
CREATE TABLE cached (id int PRIMARY KEY, v text, w text);
ALTER TABLE cached ALTER v SET STORAGE EXTERNAL;
INSERT INTO cached SELECT i, repeat('v', 3000), 'w' FROM generate_series(1, 100) i;
CREATE TABLE large (id int PRIMARY KEY, v text);
INSERT INTO large SELECT i, repeat('v', 500) FROM generate_series(1, 14000) i;
CREATE TABLE nothing (id int PRIMARY KEY);
VACUUM (FREEZE, ANALYZE) cached;
VACUUM (FREEZE, ANALYZE) large;
VACUUM (FREEZE, ANALYZE) nothing;
SELECT tiered_storage.add_tiering_policy(t, tier => 'slow', idle_for => '1 day')
FROM unnest('{cached, large, nothing}'::regclass[]) t;
));

# A worker begins with the server; it takes a sample, and so must have ended before.
sub restart
{
	$node->restart;
	$node->poll_query_until('postgres',
		"SELECT state = 'waiting' FROM _tiered_storage.worker_status() WHERE database_name = 'postgres'"
	) or die 'the worker did not run';
	return;
}

sub sample
{
	$node->safe_psql('postgres', 'CALL tiered_storage.sample()');
	return;
}

sub verdicts
{
	return $node->safe_psql(
		'postgres',
		q(SELECT string_agg(relation::regclass || ' ' || verdict, ', ' ORDER BY relation::text COLLATE "C")
		FROM _tiered_storage.evaluate_policies()));
}

# As if all had been observed for ten days, and used for the last time nine days ago.
sub observe_for_long
{
	sample();
	$node->safe_psql(
		'postgres', q(
UPDATE _tiered_storage.relation_state SET sampled_since = now() - '10 days'::interval,
	proven_since = now() - '10 days'::interval, rewritten_at = NULL,
	last_read_at = now() - '9 days'::interval, last_written_at = now() - '9 days'::interval,
	last_used_at = now() - '9 days'::interval, random_fast = 0, random_slow = 0,
	sequential_fast = 0, sequential_slow = 0, maintenance_reads_fast = 0;
UPDATE _tiered_storage.sampler SET counts_since = now() - '10 days'::interval;
));
	return;
}

# The counts of a process are complete when it has ended.
sub await_end
{
	my ($name) = @_;

	$node->poll_query_until('postgres',
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = '$name'"
	) or die "$name does not end";
	return;
}

sub dump_all
{
	my (@options) = @_;
	my $dump = $node->basedir . '/dump';

	# Else it would have the name of the test.
	delete local $ENV{PGAPPNAME};

	$node->command_ok(
		[ 'pg_dump', '-f', $dump, @options, $node->connstr('postgres') ],
		"pg_dump @options");
	await_end('pg_dump');
	return;
}

sub as
{
	my ($name, $sql) = @_;
	my ($rc, $out, $err) =
	  $node->psql('postgres', "SET application_name = '$name'; $sql");

	await_end($name);
	return $err;
}

# "scans, blocks found and not found" of a relation, as the server has counted them.
sub counted
{
	my ($relation) = @_;

	return split /\|/, $node->safe_psql(
		'postgres', qq(
SELECT pg_stat_get_numscans(r), pg_stat_get_blocks_hit(r), pg_stat_get_blocks_fetched(r) - pg_stat_get_blocks_hit(r)
FROM (SELECT $relation AS r) r));
}

my $due = 'cached due, large due, nothing due';
my $toast = q((SELECT reltoastrelid FROM pg_class WHERE relname = 'cached'));
my $toast_index = "(SELECT indexrelid FROM pg_index WHERE indrelid = $toast)";

restart();
observe_for_long();
is(verdicts(), $due, 'idle for long');

# ---------------------------------------------------------------------
note 'Nightly dumps';
# ---------------------------------------------------------------------

dump_all();
sample();
is(verdicts(), $due, 'a dump, from files');

for my $night (1 .. 3)
{
	my @before = map { [ counted($_) ] }
	  ("'cached'::regclass", $toast, $toast_index, "'large'::regclass");

	dump_all();
	my @after = map { [ counted($_) ] }
	  ("'cached'::regclass", $toast, $toast_index, "'large'::regclass");
	for my $i (0 .. 2)
	{
		cmp_ok($after[$i][1], '>', $before[$i][1], "relation $i is read");
		is($after[$i][2], $before[$i][2], "relation $i is cached");
	}
	is($after[0][0], $before[0][0] + 1, 'one scan is counted');
	cmp_ok($after[2][0], '>', $before[2][0], 'and one for each value');
	cmp_ok($after[3][2], '>=', $before[3][2] + 500, 'this one is not cached');
	is(verdicts(), $due, "night $night: not in use, before the sample");
	sample();
	is(verdicts(), $due, "night $night: nor after it");
}
is( $node->safe_psql(
		'postgres', q(
SELECT last_used_at < now() - '8 days'::interval, sequential_misses_per_hour, random_misses_per_hour,
	maintenance_reads_per_hour > 100, source
FROM _tiered_storage.heat WHERE relation = 'large'::regclass)
	),
	't|0|0|t|executor',
	'its reads are maintenance');
is( $node->safe_psql(
		'postgres', q(
SELECT bool_and(last_read_at < now() - '8 days'::interval) FROM _tiered_storage.relation_state)
	),
	't',
	'nothing that was dumped was used');


# What is in a TOAST table leaves a cursor after its plan, and is not seen.
dump_all('--inserts', '--table=large', '--table=nothing');
sample();
is(verdicts(), $due, 'dumped by queries');
dump_all('--jobs=2', '--format=directory',
	'--file=' . $node->basedir . '/dir');
sample();
is(verdicts(), $due, 'dumped by several processes');

# ---------------------------------------------------------------------
note 'Use';
# ---------------------------------------------------------------------

for my $sql (
	'SELECT count(*) FROM cached',
	'SELECT w FROM cached WHERE id = 7',
	'COPY cached TO STDOUT',
	'COPY (SELECT * FROM cached WHERE id < 7) TO STDOUT')
{
	dump_all();
	as('somebody', $sql);
	is( verdicts(),
		'cached in use, large due, nothing due',
		"beside a dump: $sql");
	observe_for_long();
	is(verdicts(), $due, 'idle for long again');

	as('pg_dump', $sql);
	is(verdicts(), $due, "ignored: $sql");
	sample();
	is(verdicts(), $due, 'and by the sample');
}
dump_all();
as('somebody', 'SELECT count(*) FROM large WHERE id < 10');
sample();
is( verdicts(),
	'cached due, large in use, nothing due',
	'one SELECT beside a dump, as a sample sees it');
observe_for_long();

like(
	as('pg_dump', "COPY cached TO PROGRAM 'exit 1'"),
	qr/program "exit 1" failed/,
	'a COPY that fails');
is(verdicts(), 'cached in use, large due, nothing due', 'is taken for use');
observe_for_long();

# ---------------------------------------------------------------------
note 'Long sessions';
# ---------------------------------------------------------------------

# More tables than a process keeps otherwise, with samples before it hands on what it has read.
$node->safe_psql(
	'postgres', q(
SELECT format('CREATE TABLE many_%s AS SELECT 1 AS i', i) FROM generate_series(1, 300) i \gexec
SELECT tiered_storage.add_tiering_policy('many_1', tier => 'slow', idle_for => '1 day');
SELECT tiered_storage.add_tiering_policy('many_300', tier => 'slow', idle_for => '1 day');
));
observe_for_long();
my $all = "cached due, large due, many_1 due, many_300 due, nothing due";
is(verdicts(), $all, 'many tables');
my $reader = $node->background_psql('postgres');
$reader->query_safe(
	q(SET application_name = 'pg_dump'; BEGIN; COPY many_1 TO '/dev/null'));
$reader->query_safe(
	q(DO $$ BEGIN FOR i IN 1 .. 300 LOOP EXECUTE format('COPY many_%s TO %L', i, '/dev/null'); END LOOP; END $$)
);
sample();
sample();
sample();
$reader->query_safe('COMMIT');
is(verdicts(), $all, 'a long transaction, and samples within it');
sample();
is(verdicts(), $all, 'and one after it');

# Each commit of theirs is counted at once.
for my $i (1 .. 5)
{
	$reader->query_safe('COPY cached TO STDOUT');
	$reader->query_safe('SELECT count(*) FROM large');
	is(verdicts(), $all, 'a session that goes on');
	sample() if $i % 2;
}
$reader->quit;
await_end('pg_dump');
sample();
is(verdicts(), $all, 'until its end');

# What goes back tells nobody what it has counted.
as('pg_dump', 'COPY cached TO STDOUT');
$node->safe_psql('postgres',
	"SELECT pg_stat_reset_single_table_counters('cached'::regclass)");
as('somebody', 'SELECT count(*) FROM cached');
like(verdicts(), qr/\Acached (in use|not observed), /, 'a reset');
sample();
like(verdicts(), qr/\Acached (in use|not observed), /, 'and a sample later');
$node->stop;

done_testing();

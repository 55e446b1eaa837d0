# What is seen at once (the file has grown, the table was vacuumed), and counters that
# come when the transaction has ended: growth is no read, and swallows no true one.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

# No worker: the only samples are those of the test.  Without preload all that the
# counters show is use.
my $node = new_node(
	'main',
	preload => 0,
	conf => q(
session_preload_libraries = 'tiered_storage'
shared_buffers = 128MB
max_parallel_workers_per_gather = 0
fsync = off
));
$node->start;
create_in_place_tablespace($node, 'slow');

# Counters come late from PostgreSQL 15 on; that they count blocks which were added
# ended with 16.
my $counts_growth = $node->pg_version < 16;

# Each sample but the first ones two minutes after the one before.
my $epoch;
my $minutes = 0;

sub sample
{
	my ($server) = @_;

	$minutes += 2;
	($server // $node)->safe_psql('postgres',
			"SET tiered_storage.test_now = '$epoch'; "
		  . "SELECT set_config('tiered_storage.test_now', (timestamptz '$epoch' + interval '$minutes minutes')::text, false); "
		  . 'CALL tiered_storage.sample()');
	return;
}

sub value_of
{
	my ($sql) = @_;

	return $node->safe_psql('postgres', $sql);
}

# A table, its indexes, its TOAST table and that one's index.
my $parts = q(
(SELECT oid FROM pg_class WHERE oid = '%1$s'::regclass
UNION SELECT indexrelid FROM pg_index WHERE indrelid = '%1$s'::regclass
UNION SELECT reltoastrelid FROM pg_class WHERE oid = '%1$s'::regclass
UNION SELECT indexrelid FROM pg_index WHERE indrelid = (SELECT reltoastrelid FROM pg_class WHERE oid = '%1$s'::regclass)));

# All reads of these that samples have found, use or not.
sub reads
{
	my ($table) = @_;

	return value_of(
		'SELECT COALESCE(sum(random_reads + sequential_reads), 0) FROM _tiered_storage.history_rows WHERE relation_oid IN '
		  . sprintf($parts, $table));
}

sub unclaimed
{
	my ($table) = @_;

	return value_of(
		'SELECT sum(unclaimed_growth) FROM _tiered_storage.relation_state WHERE relation_oid IN '
		  . sprintf($parts, $table));
}

sub blocks
{
	my ($table) = @_;

	return value_of(
		'SELECT (sum(pg_relation_size(oid)) / 8192)::bigint FROM pg_class WHERE oid IN '
		  . sprintf($parts, $table));
}

# Hands on what the session has counted.
sub flush
{
	my ($session) = @_;

	$session->query_safe('SELECT pg_stat_force_next_flush()');
	return;
}

# What was added was not read; maps of free space are, now and then.
sub is_little
{
	my ($reads, $of, $name) = @_;

	cmp_ok($reads, '<', 0.03 * $of, "$name: $reads reads of $of blocks");
	return;
}

sub create_table
{
	my ($name, $kind) = @_;

	value_of(
		"CREATE $kind TABLE $name (id int PRIMARY KEY, pad text, large text); ALTER TABLE $name ALTER large SET STORAGE EXTERNAL"
	);
	return;
}

# Rows of 500 bytes, and 3000 in the TOAST table: about 600 blocks with their indexes.
my $rows = 0;

sub batch
{
	my ($table) = @_;
	my $from = $rows + 1;

	$rows += 1000;
	return
	  "COPY $table FROM PROGRAM 'for i in \$(seq $from $rows); do printf \"%d\\t%0500d\\t%03000d\\n\" \$i \$i \$i; done'";
}

# ---------------------------------------------------------------------
note 'In the middle of a load';
# ---------------------------------------------------------------------

create_table('early', '');
create_table('idle', '');
value_of(batch('idle'));
value_of('ANALYZE idle');
my $loader = $node->background_psql('postgres');
$loader->query_safe('BEGIN');
$loader->query_safe(batch('early'));
value_of('CREATE EXTENSION tiered_storage');
value_of('CALL tiered_storage.sample()');
$loader->query_safe('COMMIT');
flush($loader);
value_of('CALL tiered_storage.sample()');
cmp_ok(blocks('early'), '>', 500, 'the table is not small');
is_little(reads('early'), blocks('early'),
	'the first sample comes while a table is filled');
is(unclaimed('idle'), 0, 'one that nobody fills has had its counters');

# A crash takes the counters.  None had come before, so that none goes back.  The
# server knows when that was; so these samples are at their own time.
create_table('lost', '');
value_of('CREATE TABLE lost_unseen (pad text)');
value_of('CALL tiered_storage.sample()');
$loader->query_safe('BEGIN');
$loader->query_safe(batch('lost'));
value_of('CHECKPOINT');
value_of('CALL tiered_storage.sample()');
cmp_ok(unclaimed('lost'), '>', 500, 'growth waits for its counters')
  if $counts_growth;
value_of(
	"INSERT INTO lost_unseen SELECT repeat('x', 500) FROM generate_series(1, 1000); CHECKPOINT"
);
$node->stop('immediate');
$node->start;
value_of('CALL tiered_storage.sample()');
is(unclaimed('lost'), 0, 'after a crash nobody has them');
value_of(
	'SELECT count(pad) FROM lost_unseen; SELECT pg_stat_force_next_flush()');
value_of('CALL tiered_storage.sample()');
cmp_ok(
	reads('lost_unseen'),
	'>=',
	value_of("SELECT pg_relation_size('lost_unseen') / 8192"),
	'true reads of a table that no sample saw grow before the crash');

# From here on two minutes from sample to sample.
$epoch = value_of('SELECT now()');
$loader = $node->background_psql('postgres');

foreach my $kind ('', 'UNLOGGED')
{
	my $name = lc "filled$kind";

	create_table($name, $kind);
	$loader->query_safe('BEGIN');
	foreach (1 .. 3)
	{
		$loader->query_safe(batch($name));
		sample();
	}
	cmp_ok(
		unclaimed($name), '>',
		$counts_growth ? 0.9 * blocks($name) : -1,
		"$name: what has grown waits for its counters");
	$loader->query_safe('COMMIT');
	flush($loader);
	sample();
	is_little(reads($name), blocks($name),
		"$name: a table that is seen first while it is filled");
	cmp_ok(
		unclaimed($name), '<',
		0.03 * blocks($name),
		"$name: nothing waits any more");
}

# ---------------------------------------------------------------------
note 'How transactions end';
# ---------------------------------------------------------------------

create_table('undone', '');
sample();
$loader->query_safe('BEGIN');
foreach (1 .. 2)
{
	$loader->query_safe(batch('undone'));
	sample();
}
$loader->query_safe('ROLLBACK');
flush($loader);
value_of('VACUUM undone');
sample();
is_little(reads('undone'), 1200,
	'a transaction is rolled back, and vacuum truncates');

create_table('truncated', '');
sample();
$loader->query_safe('BEGIN');
$loader->query_safe(batch('truncated'));
sample();
$loader->query_safe('TRUNCATE truncated');
$loader->query_safe(batch('truncated'));
sample();
$loader->query_safe('COMMIT');
flush($loader);
sample();
is_little(reads('truncated'), blocks('truncated'),
	'a table is truncated in between');

create_table('moved', '');
sample();
$loader->query_safe('BEGIN');
$loader->query_safe(batch('moved'));
sample();
$loader->query_safe('ALTER TABLE moved SET TABLESPACE slow');
$loader->query_safe('COMMIT');
flush($loader);
sample();
is_little(
	reads('moved'),
	blocks('moved') * 2.2,
	'a table goes to another tablespace in between');

# A procedure that commits has given up its locks, and keeps its counters.
create_table('called', '');
value_of(
	q(CREATE PROCEDURE fill() LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO called SELECT i, repeat('x', 500), repeat('y', 3000) FROM generate_series(1, 1000) i;
	COMMIT;
	PERFORM pg_advisory_lock_shared(1);
END $$)
);
sample();
my $gate = $node->background_psql('postgres');
$gate->query_safe('SELECT pg_advisory_lock(1)');
my $caller = start_sql($node, 'postgres', 'CALL fill()');
$node->poll_query_until('postgres',
	"SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
) or die 'the caller does not come';
sample() foreach 1 .. 3;
$gate->quit;
is(finish_sql($caller), '', 'the procedure ends');
$node->poll_query_until('postgres',
	'SELECT bool_and(pg_stat_get_blocks_fetched(oid) > 100) FROM '
	  . sprintf($parts, 'called') . ' part')
  or die 'the counters do not come';
sample();
is_little(reads('called'), blocks('called'), 'a procedure commits');

# ---------------------------------------------------------------------
note 'Several at once';
# ---------------------------------------------------------------------

create_table('shared', '');
sample();
my $other = $node->background_psql('postgres');
$loader->query_safe('BEGIN');
$other->query_safe('BEGIN');
foreach (1 .. 2)
{
	$loader->query_safe(batch('shared'));
	sample();
	$other->query_safe(batch('shared'));
	sample();
}
$other->query_safe('ROLLBACK');
flush($other);
sample();
$loader->query_safe(batch('shared'));
sample();
$loader->query_safe('COMMIT');
flush($loader);
sample();
is_little(reads('shared'), blocks('shared'), 'two fill a table');
$other->quit;
$loader->quit;

# ---------------------------------------------------------------------
note 'Counters that never come';
# ---------------------------------------------------------------------

# Nothing in shared buffers: the file is read from the start to the end, and each large
# value.  (In an encoding of single bytes the length of one is known without reading it.)
sub read_all
{
	my ($table) = @_;
	my $before;

	$node->restart;
	sample();
	$before = reads($table);
	value_of(
		"SELECT count(pad), count(md5(large)) FROM $table; SELECT pg_stat_force_next_flush()"
	);
	sample();
	return reads($table) - $before;
}

create_table('uncounted', '');
sample();
value_of('SET track_counts = off; ' . batch('uncounted'));
sample();
cmp_ok(unclaimed('uncounted'), '>', 500, 'nobody has counted what was added')
  if $counts_growth;
sample();
sample();
is(unclaimed('uncounted'), 0, 'and nobody will');
cmp_ok(
	read_all('uncounted'),
	'>',
	0.95 * value_of(
		"SELECT (pg_relation_size('uncounted') + pg_relation_size(reltoastrelid)) / 8192 FROM pg_class WHERE oid = 'uncounted'::regclass"
	),
	'so true reads count');

# An index that is built is filled past the buffers.  Its file is there before.
value_of(
	'CREATE TABLE plain AS SELECT i AS id FROM generate_series(1, 300000) i; VACUUM ANALYZE plain'
);
$gate = $node->background_psql('postgres');
$gate->query_safe('BEGIN');
$gate->query_safe('LOCK TABLE plain IN ROW EXCLUSIVE MODE');
my $builder = start_sql($node, 'postgres',
	'CREATE INDEX CONCURRENTLY plain_id ON plain (id)');
$node->poll_query_until('postgres',
	"SELECT count(*) = 1 FROM pg_stat_progress_create_index WHERE phase ~ 'waiting for writers'"
) or die 'the build does not come';
sample();
$gate->quit;
is(finish_sql($builder), '', 'an index is built concurrently');
sample();
is(unclaimed('plain'), 0, 'which nobody counts');

$node->stop;

# ---------------------------------------------------------------------
note 'With preload';
# ---------------------------------------------------------------------

$node->append_conf(
	'postgresql.conf', q(
session_preload_libraries = ''
shared_preload_libraries = 'tiered_storage'
tiered_storage.sample_interval = '1d'
tiered_storage.migrate_interval = '1d'
tiered_storage.debug_track_group = 1
));

sub start_cold
{
	$node->restart;
	$node->poll_query_until('postgres',
		"SELECT state = 'waiting' FROM _tiered_storage.worker_status() WHERE database_name = 'postgres'"
	) or die 'the worker did not run';
	sample();
	return;
}

# True reads of one, while another fills the table.
$node->start;
value_of(
	'CREATE TABLE half_cold AS SELECT i AS id, repeat(\'x\', 500) AS pad FROM generate_series(1, 10000) i'
);
value_of('VACUUM ANALYZE half_cold');
my $cold = blocks('half_cold');
start_cold();
$loader = $node->background_psql('postgres');
$loader->query_safe('BEGIN');
$loader->query_safe(
	'COPY half_cold FROM PROGRAM \'for i in $(seq 1 10000); do printf "%d\t%0500d\n" $i $i; done\''
);
sample();
my $before = reads('half_cold');
value_of('SELECT count(pad) FROM half_cold WHERE id > 0');
sample();
my $read = reads('half_cold') - $before;
cmp_ok($read, '>', 0.9 * $cold, "true reads count meanwhile: $read of $cold");
$loader->query_safe('COMMIT');
flush($loader);
sample();
is_little(
	reads('half_cold') - $before - $read,
	blocks('half_cold') - $cold,
	'and what was added is no read in the end');

# A table was vacuumed, and the reads for it come when those of others have.
value_of('CREATE TABLE next_one (id int)');
reload_with($node, 'tiered_storage.debug_track_group' => '100');
start_cold();
$before = reads('idle');
$gate = $node->background_psql('postgres');
$gate->query_safe('BEGIN');
$gate->query_safe('LOCK TABLE next_one IN SHARE UPDATE EXCLUSIVE MODE');
my $vacuum = start_sql($node, 'postgres',
	'VACUUM (DISABLE_PAGE_SKIPPING) idle, next_one');
$node->poll_query_until('postgres',
	"SELECT count(*) = 1 FROM pg_locks WHERE relation = 'next_one'::regclass AND NOT granted"
) or die 'vacuum does not come';
sample() foreach 1 .. 3;
is(reads('idle'), $before, 'what vacuum has read is not yet counted');
my $misses = value_of(
	"SELECT pg_stat_get_blocks_fetched('idle'::regclass) - pg_stat_get_blocks_hit('idle'::regclass)"
);
$gate->quit;
is(finish_sql($vacuum), '', 'vacuum ends');
$node->poll_query_until('postgres',
	"SELECT pg_stat_get_blocks_fetched('idle'::regclass) - pg_stat_get_blocks_hit('idle'::regclass) > $misses + 50"
) or die 'the counters do not come';
sample();
is(reads('idle'), $before, 'and it is maintenance when it is');
is( value_of(
		"SELECT maintained_at IS NOT NULL FROM _tiered_storage.relation_state WHERE relation_oid = 'idle'::regclass"
	),
	't',
	'for as long as it may come');
sample() foreach 1 .. 2;
value_of('SELECT count(pad) FROM idle; SELECT pg_stat_force_next_flush()');
sample();
is( value_of(
		"SELECT maintained_at IS NULL FROM _tiered_storage.relation_state WHERE relation_oid = 'idle'::regclass"
	),
	't',
	'and no longer');

$node->stop;
done_testing();

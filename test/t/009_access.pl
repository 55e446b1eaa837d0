# Reads told apart by the executor: with cold buffers, in several processes that end
# in several ways, across restarts, and when there is no room.
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
tiered_storage.debug_track_group = 1
tiered_storage.debug_tracked_relations = 1024
max_parallel_workers_per_gather = 0
fsync = off
));
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE app');
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
CREATE TABLE t (id int PRIMARY KEY, pad text);
INSERT INTO t SELECT i, repeat('x', 500) FROM generate_series(1, 10000) i;
CREATE TABLE other (id int);
INSERT INTO other SELECT generate_series(1, 10000);
VACUUM ANALYZE;
));
my $pages = $node->safe_psql('app', "SELECT pg_relation_size('t') / 8192");

sub sample
{
	$node->safe_psql('app', 'CALL tiered_storage.sample()');
	return;
}

# Nothing in shared buffers.  A worker begins with the server; it takes what was
# counted, and so must have ended before the test counts on it.
sub await_worker
{
	my ($db) = @_;

	$node->poll_query_until($db,
		"SELECT state = 'waiting' FROM _tiered_storage.worker_status() WHERE database_name = '$db'"
	) or die 'the worker did not run';
	return;
}

sub restart_cold
{
	$node->restart;
	await_worker('app');
	sample();
	return;
}

# "random|sequential|ignored" of a relation since the last sample.
sub seen
{
	my ($relation) = @_;

	return $node->safe_psql('app',
		"SELECT random_reads, sequential_reads, ignored_reads FROM _tiered_storage.access_statistics() WHERE relation = '$relation'::regclass"
	);
}

sub misses
{
	my ($relation) = @_;

	return $node->safe_psql('app',
		"SELECT pg_stat_get_blocks_fetched('$relation'::regclass) - pg_stat_get_blocks_hit('$relation'::regclass)"
	);
}

# Heat of a relation's last period: "source|random|sequential".
sub last_period
{
	my ($relation) = @_;

	return $node->safe_psql(
		'app', qq(
SELECT s.source, h.random_reads, h.sequential_reads
FROM _tiered_storage.relation_state s JOIN _tiered_storage.history_rows h USING (relation_oid)
WHERE s.relation_oid = '$relation'::regclass ORDER BY h.period_start DESC LIMIT 1)
	);
}

# ---------------------------------------------------------------------
note 'Processes and how they end';
# ---------------------------------------------------------------------

restart_cold();
my $before = misses('t');
$node->safe_psql('app', 'SELECT count(pad) FROM t');
is(seen('t'), "0|$pages|0",
	'a session that has ended: each block once, in sequence');
is(misses('t') - $before, $pages, 'as the server has counted');

restart_cold();
$before = misses('t');
$node->safe_psql(
	'app', q(
SET max_parallel_workers_per_gather = 3;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET parallel_leader_participation = off;
SELECT count(pad) FROM t));
is(seen('t'), "0|$pages|0", 'parallel workers alone');
is(misses('t') - $before, $pages, 'as the server has counted');

# A session that reads half of the table and then waits.
my $half =
  'SELECT count(pad) FROM t WHERE id < 5000 OR pg_advisory_xact_lock_shared(1) IS NULL';
foreach my $how (qw(cancel terminate))
{
	restart_cold();
	my $gate = $node->background_psql('app');
	$gate->query_safe('SELECT pg_advisory_lock(1)');
	$before = misses('t');

	# What the first transaction of a session counts may be lost with it.
	my $reader =
	  start_sql($node, 'app', 'SELECT 1 FROM other LIMIT 1', $half);

	$node->poll_query_until('app',
		"SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
	) or die 'the reader does not come';
	is(seen('t'), '', 'what is being read is not handed on yet');
	$node->safe_psql('app',
		"SELECT pg_${how}_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
	);
	eval { finish_sql($reader) };
	$node->poll_query_until('app',
		"SELECT pg_stat_get_blocks_fetched('t'::regclass) - pg_stat_get_blocks_hit('t'::regclass) > $before"
	) or die 'the reader has not ended';
	my $read = misses('t') - $before;

	ok($read > $pages / 3 && $read < $pages * 2 / 3,
		"$how: about half was read");
	is(seen('t'), "0|$read|0", "$how: what was read is not lost");
	$gate->quit;
}

# What others have not yet handed on stays theirs until their transaction ends.
restart_cold();
my $open = $node->background_psql('app');
$open->query_safe('BEGIN');
$open->query_safe('SELECT count(pad) FROM t');
is(seen('t'), '',
	'an open transaction keeps its counts, as the statistics do');
sample();
$open->query_safe('COMMIT');
is(seen('t'), "0|$pages|0", 'and hands them on when it ends');
$open->quit;

# A procedure that commits is not at its end.
restart_cold();
$node->safe_psql('app',
	q(CREATE PROCEDURE p() LANGUAGE plpgsql AS $$ BEGIN PERFORM count(pad) FROM t; COMMIT; PERFORM pg_advisory_xact_lock_shared(1); END $$)
);
my $gate = $node->background_psql('app');
$gate->query_safe('SELECT pg_advisory_lock(1)');
my $caller = start_sql($node, 'app', 'CALL p()');
$node->poll_query_until('app',
	"SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
) or die 'the caller does not come';
is(seen('t'), '', 'a commit within a procedure does not hand on');
$gate->quit;
is(finish_sql($caller), '', 'the procedure ends');
is(seen('t'), "0|$pages|0", 'its end does');

# ---------------------------------------------------------------------
note 'Samples';
# ---------------------------------------------------------------------

# By the worker, and told apart in the view.
restart_cold();
$node->safe_psql('app', "SELECT pad FROM t WHERE id = $_")
  foreach 1, 3000, 6000, 9000;
my $told = $node->safe_psql('app', 'SELECT clock_timestamp()');
$node->safe_psql('app', 'SELECT _tiered_storage.notify_launcher()');
$node->poll_query_until('app',
	"SELECT state = 'waiting' AND last_finished_at > '$told' FROM _tiered_storage.worker_status() WHERE database_name = 'app'"
) or die 'the worker does not come';
is(last_period('t'), 'e|4|0', 'rows by their key are random');
is( $node->safe_psql(
		'app',
		"SELECT source FROM _tiered_storage.heat WHERE relation = 't'::regclass"
	),
	'executor',
	'and the view says how that is known');

# The time from a restart to the first sample is not covered.  No worker has room
# to begin, so that the first sample is ours.
reload_with($node, 'max_worker_processes' => 1);
$node->restart;
$node->safe_psql('app', 'SELECT count(pad) FROM t');
is( $node->safe_psql(
		'app', 'SELECT complete FROM _tiered_storage.access_tracking()'),
	'f',
	'after a restart nothing is known');
sample();
is(last_period('t'), "s|0|$pages", 'so the statistics have to do');
is( $node->safe_psql(
		'app', 'SELECT complete FROM _tiered_storage.access_tracking()'),
	't',
	'until the first sample');
$node->safe_psql('app', 'ALTER SYSTEM RESET max_worker_processes');

# Samples that come faster than a session hands on its statistics: what plans have read waits for
# them.  On a machine where that takes longer than they wait, it is known of nobody.
restart_cold();
my $late = $node->background_psql('app');
$late->query_safe('SELECT count(*) FROM other');
my $begun = time;
$late->query_safe('SELECT count(pad) FROM t');
sample() foreach 1 .. 3;
$late->query_safe('SELECT pg_stat_force_next_flush()');
sample();
SKIP:
{
	skip 'this machine is too busy', 1 if time - $begun >= 10;
	is(last_period('t'), "e|0|$pages", 'reads that come late are use');
}
$late->quit;

# Vacuum reads, and it is no use.
restart_cold();
$node->safe_psql('app', 'VACUUM (DISABLE_PAGE_SKIPPING) t');
sample();
is(last_period('t'), 'e|0|0', 'vacuum is no use');
ok( $node->safe_psql('app',
		"SELECT round(maintenance_reads_per_hour) FROM _tiered_storage.heat WHERE relation = 't'::regclass"
	) > 0,
	'but shown apart');

# At a low rate, too, where no plan was tracked: nothing shows use.
restart_cold();
$node->safe_psql('app', 'VACUUM (DISABLE_PAGE_SKIPPING) t');
$node->safe_psql('app',
	'SET tiered_storage.debug_track_group = 100; CALL tiered_storage.sample()'
);
is(last_period('t'), 'e|0|0', 'vacuum is no use, without any tracked plan');

# Nor are others that read more than plans can read without one being tracked: three times
# what costs 1000, which is 100 blocks here.
reload_with(
	$node,
	'tiered_storage.debug_track_group' => '-1',
	'seq_page_cost' => '10');
cmp_ok($pages, '>', 2 * 300, 'the table has more than that');
restart_cold();
$node->safe_psql('app', "COPY t TO PROGRAM 'cat >/dev/null'");
sample();
is(last_period('t'), 'e|0|0', 'COPY TO is no use');
restart_cold();
$node->safe_psql('app',
	'CREATE INDEX CONCURRENTLY t_pad ON t (left(pad, 1))');
sample();
is(last_period('t'), 'e|0|0', 'nor is CREATE INDEX CONCURRENTLY');
SKIP:
{
	skip 'no pg_prewarm',
	  1
	  unless $node->safe_psql('app',
		"SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_prewarm'"
	  );
	restart_cold();
	$node->safe_psql('app',
		"CREATE EXTENSION pg_prewarm; SELECT pg_prewarm('t'), pg_prewarm('t_pkey')"
	);
	sample();
	is(last_period('t'), 'e|0|0', 'nor is pg_prewarm');
	is(last_period('t_pkey'), 'e|0|0', 'of an index neither');
}

# The planner looks at the first block of each index, which says nothing about it.
restart_cold();
$before = misses('t_pad');
$node->safe_psql('app', 'EXPLAIN SELECT FROM t');
is(misses('t_pad') - $before, 1, 'the planner has read a block of an index');
sample();
is(last_period('t_pad'), 'e|0|0', 'which is no use of it');
$node->safe_psql('app', 'ALTER SYSTEM RESET seq_page_cost');
reload_with($node, 'tiered_storage.debug_track_group' => '1');

# ---------------------------------------------------------------------
note 'Databases';
# ---------------------------------------------------------------------

# One that is not sampled is not tracked; of two that are, each has its own.
restart_cold();
my $relations = $node->safe_psql('app',
	'SELECT relations FROM _tiered_storage.access_tracking()');
$node->safe_psql('postgres',
	'CREATE TABLE u AS SELECT generate_series(1, 1000) AS i');
$node->safe_psql('postgres', 'SELECT count(*) FROM u');
is( $node->safe_psql(
		'app', 'SELECT relations FROM _tiered_storage.access_tracking()'),
	$relations,
	'nobody asks for the reads of a database without the extension');
$node->safe_psql('postgres', 'CREATE EXTENSION tiered_storage');
await_worker('postgres');
$node->safe_psql('postgres', 'SELECT count(*) FROM u');
$node->safe_psql('app', 'SELECT count(*) FROM other');
sample();
is( $node->safe_psql(
		'postgres',
		"SELECT count(*) FROM _tiered_storage.access_statistics() WHERE relation = 'u'::regclass"
	),
	1,
	'a sample of one database leaves those of the other');
$node->safe_psql('postgres', 'DROP EXTENSION tiered_storage');

# ---------------------------------------------------------------------
note 'Applications that do not count';
# ---------------------------------------------------------------------

reload_with($node,
	'tiered_storage.ignore_applications' => 'pg_dump, nightly report ,x');
restart_cold();
$node->safe_psql('app',
	"SET application_name = 'nightly report'; SELECT count(pad) FROM t");
is(seen('t'), "0|0|$pages", 'ignored, with blanks around the name');
sample();
is(last_period('t'), 'e|0|0', 'no use');
restart_cold();
$node->safe_psql('app',
	"SET application_name = 'nightly'; SELECT count(pad) FROM t");
is(seen('t'), "0|$pages|0", 'not ignored: only a part of the name');

# ---------------------------------------------------------------------
note 'No room';
# ---------------------------------------------------------------------

$node->safe_psql(
	'app', q(
DO $$ BEGIN
	FOR i IN 1 .. 1200 LOOP
		EXECUTE format('CREATE TABLE many_%s AS SELECT 1 AS i', i);
	END LOOP;
END $$;
));
restart_cold();
$node->safe_psql(
	'app', q(
DO $$ DECLARE n bigint; BEGIN
	FOR i IN 1 .. 1200 LOOP
		EXECUTE format('SELECT count(*) FROM many_%s', i) INTO n;
	END LOOP;
END $$;
));
is( $node->safe_psql(
		'app',
		'SELECT relations <= max_relations, relations > max_relations / 2, dropped_reads BETWEEN 1 AND 1200 - max_relations / 2 FROM _tiered_storage.access_tracking()'
	),
	't|t|t',
	'the table fills up, and what does not fit is counted');
sample();
is( $node->safe_psql(
		'app', q(
SELECT string_agg(DISTINCT source, ' ' ORDER BY source), count(*)
FROM _tiered_storage.heat WHERE relation::text ~ '^many_' AND sequential_misses_per_hour > 0)
	),
	'executor statistics|1200',
	'relations that found no room are judged by their statistics, and none is lost'
);
is( $node->safe_psql(
		'app',
		'SELECT relations < max_relations / 4, dropped_reads FROM _tiered_storage.access_tracking()'
	),
	't|0',
	'the sample has made room');

# ---------------------------------------------------------------------
note 'From the device or from the page cache';
# ---------------------------------------------------------------------

# Writes the relations' files and forgets what of them is cached, anywhere.
sub forget_files
{
	my (@relations) = @_;
	my @files =
	  map {
			$node->data_dir . '/'
		  . $node->safe_psql('app', "SELECT pg_relation_filepath('$_')")
	  } @relations;

	$node->stop;
	foreach my $file (@files)
	{
		system_or_bail('sync', $file);
		system_or_bail('dd', "if=$file", 'iflag=nocache', 'count=0',
			'status=none');
	}
	$node->start;
	await_worker('app');
	sample();
	return;
}

# Brings a relation's file into the page cache.  A kernel may drop what has not been read
# for a while.
sub read_file
{
	my ($relation) = @_;
	my $file = $node->data_dir . '/'
	  . $node->safe_psql('app', "SELECT pg_relation_filepath('$relation')");

	system_or_bail('dd', "if=$file", 'of=/dev/null', 'bs=1M', 'status=none');
	return;
}

# "measured|from a device" of a relation since the last sample.
sub measured
{
	my ($relation) = @_;

	return $node->safe_psql('app',
		"SELECT round(measured_reads), round(least(device_reads, measured_reads)) FROM _tiered_storage.access_statistics() WHERE relation = '$relation'::regclass"
	);
}

# What a sample takes to have reached the device, all in all.
sub device_reads
{
	my ($relation) = @_;

	sample();
	return $node->safe_psql('app',
		"SELECT round(total_sequential_reads) FROM _tiered_storage.relation_state WHERE relation_oid = '$relation'::regclass"
	);
}

# Reads so many blocks of t, each far from the others, by plans of their own.
sub read_blocks
{
	my ($blocks) = @_;

	$node->safe_psql(
		'app',
		join ';',
		map { sprintf q(SELECT count(pad) FROM t WHERE ctid = '(%d,1)'), $_ }
		  map { int($_ * $pages / $blocks) } 0 .. $blocks - 1);
	return;
}

# A sample sees the page cache before and after; the kernel counts in between.
sub bound_random_reads
{
	my $file = $node->data_dir . '/'
	  . $node->safe_psql('app', q(SELECT pg_relation_filepath('t')));
	my @read_all = ('dd', "if=$file", 'of=/dev/null', 'bs=1M', 'status=none');
	my $random = sub {
		sample();
		return $node->safe_psql('app',
			"SELECT total_random_reads FROM _tiered_storage.relation_state WHERE relation_oid = 't'::regclass"
		);
	};

	forget_files('t', 'other');
	system_or_bail(@read_all);
	$node->safe_psql('app', 'SELECT count(*) FROM other');
	my $so_far = $random->();
	system_or_bail('dd', "if=$file", 'iflag=nocache', 'count=0',
		'status=none');
	read_blocks(20);
	system_or_bail(@read_all);
	my $now = $random->();
	is( sprintf('%.0f', $now - $so_far),
		20,
		'random reads of what was pushed out meanwhile come from the device');

	forget_files('t', 'other');
	$node->safe_psql('app', 'SELECT count(*) FROM other');
	$so_far = $random->();
	system_or_bail(@read_all);
	read_blocks(20);
	system_or_bail('dd', "if=$file", 'iflag=nocache', 'count=0',
		'status=none');
	$now = $random->();

	# The kernel drops pages as it likes; without a bound all of them would count.
	cmp_ok($now - $so_far,
		'<', 10, 'those of what was brought in meanwhile do not');
	return;
}

# A table that a sample finds in the page cache, before and after it was needed.
sub read_by_workers
{
	# Two, whatever the setting is called in this major.
	my $workers = $node->safe_psql('app',
		"SELECT string_agg(name || ' = 2', chr(10)) FROM pg_settings WHERE name ~ '^io_(min_|max_)?workers\$'"
	);
	$node->append_conf('postgresql.conf',
		"io_method = worker\n$workers\nshared_buffers = 16MB");
	restart_cold();
	$node->safe_psql(
		'app', q(
CREATE TABLE pushed (id int, pad text) WITH (autovacuum_enabled = off);
INSERT INTO pushed SELECT i, repeat('x', 500) FROM generate_series(1, 100000) i;
VACUUM (FREEZE, ANALYZE) pushed;
CHECKPOINT;
));
	my $blocks =
	  $node->safe_psql('app', "SELECT pg_relation_size('pushed') / 8192");
	my $file = $node->data_dir . '/'
	  . $node->safe_psql('app', "SELECT pg_relation_filepath('pushed')");
	my $scan =
	  'SELECT count(pad) FROM pushed; SELECT pg_stat_force_next_flush()';
	my $misses = sub {
		return $node->safe_psql('app',
			"SELECT heap_blks_read FROM pg_statio_user_tables WHERE relname = 'pushed'"
		);
	};

	# A part of it stays in shared buffers from now on.
	$node->safe_psql('app', $scan);
	sample();
	read_file('pushed');
	my $so_far = device_reads('pushed');
	my $missed_so_far = $misses->();
	$node->safe_psql('app', $scan);
	my $missed = $misses->() - $missed_so_far;
	my $now = device_reads('pushed');

	# The kernel drops pages as it likes, but not many.
	cmp_ok($missed, '>', $blocks / 2, 'most of it is not in shared buffers');
	cmp_ok(
		$now - $so_far,
		'<',
		$missed / 8,
		'what is in the page cache is not read by I/O workers');
	$so_far = $now;
	system_or_bail('sync', $file);
	system_or_bail('dd', "if=$file", 'iflag=nocache', 'count=0',
		'status=none');
	$node->safe_psql('app', $scan);
	read_file('pushed');
	$now = device_reads('pushed');
	cmp_ok(
		$now - $so_far,
		'>',
		$missed * 7 / 8,
		'what was pushed out meanwhile is read by I/O workers, and counts');
	return;
}

SKIP:
{
	my $data_dir = $node->data_dir;
	my $filesystem = $^O eq 'linux' ? qx(stat -f -c %T '$data_dir') : 'none';
	chomp $filesystem;
	skip "reads are not known to be counted for who reads on $filesystem", 1
	  unless $filesystem =~ m!^(ext2/ext3|xfs)$!;

	$node->append_conf('postgresql.conf', 'io_method = sync')
	  if $node->pg_version >= 18;
	$node->safe_psql('app', 'CHECKPOINT');

	# Somebody else on this machine may empty the page cache.
	foreach (1 .. 5)
	{
		restart_cold();
		$node->safe_psql('app', 'SELECT count(pad) FROM t');
		last if measured('t') eq '|';
	}
	is(measured('t'), '|',
		'as long as the kernel has counted nothing, it may not count');

	# What was cached when a sample looked, and is again when the next one does,
	# was not there when it was needed.
	my $so_far = device_reads('t');
	forget_files('t');
	$node->safe_psql('app', 'SELECT count(pad) FROM t');
	is(measured('t'), "$pages|$pages",
		'all of a table comes from the device');
	is(device_reads('t') - $so_far,
		$pages,
		'and counts, though it is in the page cache before and after');

	# In one session that has read something else before, and catalogs meanwhile.
	forget_files('other');
	read_file('t');
	$so_far = device_reads('t');
	$node->safe_psql('app',
		'SELECT count(*) FROM other; SELECT count(pad) FROM t');
	my $other_pages =
	  $node->safe_psql('app', "SELECT pg_relation_size('other') / 8192");
	is(measured('other'), "$other_pages|$other_pages",
		'a table comes from the device');

	# The kernel drops pages as it likes, but not many.
	my $is_cached = sub {
		my ($from_device) = measured('t') =~ /^$pages\|(\d+)$/;
		return defined $from_device && $from_device < $pages / 8;
	};
	ok($is_cached->(), 'the next one from the page cache');
	cmp_ok(device_reads('t') - $so_far,
		'<', $pages / 8, 'which does not count');

	# What was read meanwhile by nobody who is watched is not its own.
	forget_files('other', 'many_1');
	read_file('t');
	$node->safe_psql('app',
		'SELECT count(*) FROM many_1; COPY other TO STDOUT; SELECT count(pad) FROM t'
	);
	ok($is_cached->(), 'a table from the page cache after a COPY');

	# In parts: what another plan reads in between is not its own.
	forget_files('other');
	read_file('t');
	$node->safe_psql(
		'app', q(
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM t;
MOVE 5000 IN c;
SELECT count(*) FROM other;
MOVE ALL IN c;
COMMIT;
));
	ok($is_cached->(), 'a cursor waits meanwhile');
	is(measured('other'), "$other_pages|$other_pages",
		'and another plan reads');

	# By the rows of a loop, each of which runs a plan of its own.
	forget_files('t');
	$node->safe_psql(
		'app', q(
DO $$
DECLARE r record; n int;
BEGIN
	FOR r IN SELECT * FROM t LOOP
		SELECT count(*) INTO n FROM (VALUES (r.id)) v(i) WHERE i < 0;
	END LOOP;
END $$;
));
	is(measured('t'), "$pages|$pages", 'a loop over a table is measured');

	# By several processes; one may read ahead for the others.
	forget_files('t');
	$node->safe_psql(
		'app', q(
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT count(pad) FROM t));
	is(measured('t'), "$pages|$pages", 'and a parallel scan');

	# What is known of two tables together tells little of each.
	forget_files('other');
	read_file('t');
	$node->safe_psql('app', 'SELECT count(pad) FROM t JOIN other USING (id)');
	is( $node->safe_psql(
			'app',
			"SELECT count(*) FILTER (WHERE relation = 't'::regclass AND round(measured_reads) = $pages AND device_reads < 0.1 * $pages), count(*) FILTER (WHERE relation = 'other'::regclass AND measured_reads = 0) FROM _tiered_storage.access_statistics()"
		),
		'1|1',
		'a join with a table that is cached and large says nothing of a small one'
	);

	# Random reads are not measured, but bounded.
	forget_files('t', 'other');
	$node->safe_psql('app',
		'SELECT count(*) FROM other; SET enable_seqscan = off; SELECT count(pad) FROM t WHERE id IN (SELECT (random() * 10000)::int FROM generate_series(1, 50))'
	);
	is(measured('t'), '0|0', 'random reads are not measured');
	bound_random_reads();

	# From 18 on others read what is asked for ahead, and the kernel counts it for them.
	skip 'no I/O workers before 18', 3 if $node->pg_version < 18;
	read_by_workers();
}

# ---------------------------------------------------------------------
note 'Crash';
# ---------------------------------------------------------------------

$node->safe_psql('app', 'SELECT count(*) FROM other');
reload_with($node, 'max_worker_processes' => 1);
$node->stop('immediate');
$node->start;
is( $node->safe_psql(
		'app',
		'SELECT complete, relations FROM _tiered_storage.access_tracking()'),
	'f|0',
	'a crash leaves nothing');
sample();
$node->safe_psql('app', 'SELECT count(pad) FROM t');
is(seen('t'), "0|$pages|0", 'and it goes on');

$node->stop;
is( log_lines($node, 0, qr/PANIC|TRAP|WARNING.*tiered|terminated by signal/),
	'',
	'no complaints in the log');
done_testing();

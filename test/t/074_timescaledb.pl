# Chunks of TimescaleDB: policies move them as they become idle, beside inserts and
# drop_chunks, pins and a crash, and new ones are created where the hypertable is, which
# stays.  Left out where it is not installed.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

sub has_file
{
	my ($option, $file) = @_;
	my ($dir) = run_command([ 'pg_config', $option ]);

	return -e "$dir/$file";
}
plan skip_all => 'NOT TESTED: TimescaleDB is not installed'
  unless has_file('--sharedir', 'extension/timescaledb.control')
  && has_file('--pkglibdir', 'timescaledb.so');

my $node = new_node(
	'main',
	conf => q(
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
tiered_storage.cooldown = 0
timezone = 'UTC'
autovacuum = off
restart_after_crash = on
)
);

# It has to be the first, and starts workers of its own.
$node->append_conf(
	'postgresql.conf', q(
shared_preload_libraries = 'timescaledb,tiered_storage'
timescaledb.telemetry_level = off
max_worker_processes = 24
)
);
$node->start;
create_in_place_tablespace($node, $_) for qw(fast slow);
$node->safe_psql(
	'postgres', q(
CREATE EXTENSION timescaledb;
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('fast', '{fast,pg_default}', profile => 'nvme', rank => 0, reserve_fraction => 0, device => jsonb_build_object('capacity_bytes', 1000000000)),
	tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, device => jsonb_build_object('capacity_bytes', 1000000000));
CREATE TABLE m (at timestamptz NOT NULL, id int, v text) TABLESPACE fast;
SELECT create_hypertable('m', 'at', chunk_time_interval => interval '1 day');
CREATE INDEX m_id ON m (id);
)
);

# The chunks of a day range, each with its tablespace and those of its indexes.
my $places = q(
SELECT c.range_start::date, string_agg(DISTINCT COALESCE(t.spcname, 'pg_default'), ' ' ORDER BY COALESCE(t.spcname, 'pg_default'))
FROM timescaledb_information.chunks c
JOIN pg_class r ON r.oid = format('%I.%I', c.chunk_schema, c.chunk_name)::regclass
CROSS JOIN LATERAL (SELECT r.reltablespace UNION ALL SELECT x.reltablespace FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
	WHERE i.indrelid = r.oid) o (oid)
LEFT JOIN pg_tablespace t ON t.oid = o.oid
WHERE c.hypertable_name = 'm' GROUP BY 1 ORDER BY 1);
my $insert =
  q(INSERT INTO m SELECT timestamptz '2026-10-01' + i * interval '1 hour', i, repeat('x', 500) FROM generate_series(%d, %d) i);

sub sample_at
{
	my ($time, @before) = @_;

	$node->safe_psql(
		'postgres',
		join ';',
		"SET tiered_storage.test_now = '$time'",
		@before,
		'SELECT pg_stat_force_next_flush()',
		'CALL tiered_storage.sample()');
	return;
}

sub migrate_at
{
	my ($time) = @_;

	return $node->safe_psql(
		'postgres', qq(
SET tiered_storage.test_now = '$time';
SET client_min_messages = error;
CALL tiered_storage.migrate();
));
}

# ---------------------------------------------------------------------
note 'What can be asked for';
# ---------------------------------------------------------------------

my ($rc, $out, $err) = $node->psql('postgres',
	q(CREATE TABLE plain (at timestamptz); SELECT tiered_storage.add_tiering_policy('plain', move_after => '7 days', tier => 'slow'))
);
like(
	$err,
	qr/ERROR: +table public\.plain is not a partitioned table\n.*DETAIL: .*chunks of a hypertable.*\n.*HINT: .*no_writes_for/s,
	'a table without partitions or chunks has no age');
$node->safe_psql('postgres',
	q(SELECT tiered_storage.add_tiering_policy('m', tier => 'slow', options => jsonb_build_object('no_writes_for', '7 days')))
);
($rc, $out, $err) = $node->psql('postgres',
	q(SELECT tiered_storage.add_tiering_policy('_timescaledb_catalog.chunk', idle_for => '7 days', tier => 'slow'))
);
like($err, qr/ERROR: .*extension/, 'nor are its catalogs');

# ---------------------------------------------------------------------
note 'Chunks that nobody writes to';
# ---------------------------------------------------------------------

# Three days, then a week in which one more day is written to.
sample_at('2040-01-01 00:00:00+00');
sample_at('2040-01-02 00:00:00+00', sprintf $insert, 0, 71);
sample_at('2040-01-06 00:00:00+00', sprintf $insert, 72, 95);
migrate_at('2040-01-10 00:00:00+00');
is( $node->safe_psql('postgres', $places),
	"2026-10-01|slow\n2026-10-02|slow\n2026-10-03|slow\n2026-10-04|fast",
	'chunks that were not written to are moved, with their indexes');
is( $node->safe_psql(
		'postgres',
		q(SELECT string_agg(DISTINCT spcname, ' ') FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE relname IN ('m', 'm_id', 'm_at_idx'))
	),
	'fast',
	'the hypertable itself stays');
$node->safe_psql('postgres', sprintf $insert, 96, 119);
is((split /\n/, $node->safe_psql('postgres', $places))[-1],
	'2026-10-05|fast', 'so a new chunk is created on its tier');
is( $node->safe_psql(
		'postgres', 'SELECT count(*), count(DISTINCT id) FROM m'),
	'120|120',
	'with all rows');
$node->safe_psql('postgres',
	q(SET client_min_messages = error; CALL tiered_storage.undo_move(1)));
is((split /\n/, $node->safe_psql('postgres', $places))[0],
	'2026-10-01|fast', 'a batch of chunks is undone');

# ---------------------------------------------------------------------
note 'Beside inserts and drop_chunks';
# ---------------------------------------------------------------------

# Into old chunks and new ones, by a client that does not wait for anybody.
my $script = $node->basedir . '/insert.sql';
append_to_file(
	$script, q(
\set n random(0, 400)
INSERT INTO m SELECT timestamptz '2026-10-02' + :n * interval '1 hour', 1000000 + :n, 'new';
));
my ($stdout, $stderr) = ('', '');
my $load = IPC::Run::start(
	[
		$node->installed_command('pgbench'),
		'-n',
		'-c',
		2,
		'-T',
		$PostgreSQL::Test::Utils::timeout_default,
		'-f',
		$script,
		$node->connstr('postgres')
	],
	'<',
	\undef,
	'>',
	\$stdout,
	'2>',
	\$stderr);
$node->poll_query_until('postgres',
	'SELECT count(*) > 100 FROM m WHERE id >= 1000000')
  or die 'nothing is inserted';
my @chunks = split /\n/,
  $node->safe_psql('postgres',
	q(SELECT show_chunks('m', newer_than => timestamptz '2026-10-02', older_than => timestamptz '2026-10-06'))
  );
my $said = '';
foreach my $tier (qw(slow fast slow))
{
	$said .= finish_sql(
		start_sql(
			$node,
			'postgres',
			map { "CALL tiered_storage.move_relation('$_', '$tier')" }
			  @chunks));
}
is($said, '', 'chunks are moved beside inserts');

# SIGALRM is how pgbench ends its run: each session completes its transaction.
$load->signal('ALRM');
$load->finish;
unlike($stderr, qr/ERROR/, 'which notice nothing');
my ($processed) =
  $stdout =~ /^number of transactions actually processed: (\d+)/m;
is( $node->safe_psql(
		'postgres',
		q(SELECT count(*), count(*) FILTER (WHERE id < 1000000) FROM m)),
	$processed + 120 . '|120',
	'and each row that was confirmed is there');

# Its oldest chunk goes while it is moved; the others are moved all the same.
my $oldest = $node->safe_psql('postgres',
	q(SELECT show_chunks('m', older_than => timestamptz '2026-10-02')));
my $mover = start_sql($node, 'postgres',
	map { ("CALL tiered_storage.move_relation('$oldest', '$_')") }
	  (qw(slow fast)) x 20);
$node->poll_query_until('postgres',
	"SELECT count(*) > 1 FROM _tiered_storage.moves WHERE relation = '$oldest' AND state = 'done'"
) or die 'the chunk is not moved';
$node->safe_psql('postgres',
	q(SELECT drop_chunks('m', older_than => timestamptz '2026-10-02')));
unlike(
	finish_sql($mover),
	qr/XX\d{3}|could not open/,
	'drop_chunks in the middle of a move is no internal error');
is( $node->safe_psql(
		'postgres', q(SELECT count(*) FROM m WHERE at < '2026-10-02')),
	'0',
	'what was to be dropped is gone');
is( $node->safe_psql(
		'postgres',
		q(SELECT count(*) FROM _tiered_storage.moves WHERE state = 'running')
	),
	'0',
	'no move is left behind');
sample_at('2040-01-11 00:00:00+00');
migrate_at('2040-01-30 00:00:00+00');
is( $node->safe_psql(
		'postgres',
		"SELECT count(*) > 3, count(*) FILTER (WHERE places <> 'slow') FROM ($places) p (day, places)"
	),
	't|0',
	'the policy moves what is left, and what has come since');
is(stray_files($node, 'postgres'), '', 'no file that no relation has');

# ---------------------------------------------------------------------
note 'Pins on chunks';
# ---------------------------------------------------------------------

my $fourth = $node->safe_psql('postgres',
	q(SELECT show_chunks('m', newer_than => timestamptz '2026-10-04', older_than => timestamptz '2026-10-05'))
);
$node->safe_psql('postgres',
	qq(SET client_min_messages = error; SELECT tiered_storage.pin('$fourth', 'fast'); CALL tiered_storage.move_relation('$fourth', 'fast'))
);
migrate_at('2040-03-01 00:00:00+00');
my $fast =
  qq(SELECT day FROM ($places) p (day, places) WHERE places <> 'slow');
is($node->safe_psql('postgres', $fast),
	'2026-10-04', 'a chunk that is pinned stays');
like(
	error_of(
		$node, 'postgres',
		"CALL tiered_storage.move_relation('$fourth', 'slow')"),
	qr/ERROR: .*pinned/,
	'and is not moved by hand either');
$node->safe_psql('postgres', "SELECT tiered_storage.unpin('$fourth')");
migrate_at('2040-03-02 00:00:00+00');
is($node->safe_psql('postgres', $fast), '', 'until it is pinned no longer');
($rc, $out, $err) =
  $node->psql('postgres', "SELECT tiered_storage.pin('m', 'fast')");
is($rc, 0, 'the hypertable can be pinned');
is( $node->safe_psql(
		'postgres',
		"SELECT string_agg(relation::text, ' ') FROM _tiered_storage.pins"),
	'm',
	'which is no pin of its chunks');
$node->safe_psql('postgres', q(SELECT tiered_storage.unpin('m')));

# ---------------------------------------------------------------------
note 'Chunks by their age';
# ---------------------------------------------------------------------

# Tables of all kinds of time, with chunks made before the policy and after it; one also by hash.
$node->safe_psql(
	'postgres', q(
SET client_min_messages = error;
CREATE TABLE by_time (at timestamptz NOT NULL, device int, v text,
	CONSTRAINT sane CHECK (at >= '1990-01-01' AND at < '2100-01-01')) TABLESPACE fast;
SELECT create_hypertable('by_time', 'at', chunk_time_interval => interval '1 day');
SELECT add_dimension('by_time', by_hash('device', 2));
CREATE INDEX ON by_time (device);
CREATE TABLE by_date (at date NOT NULL, v text) TABLESPACE fast;
SELECT create_hypertable('by_date', by_range('at', interval '7 days'));
CREATE TABLE by_number ("At" bigint NOT NULL, v text) TABLESPACE fast;
SELECT create_hypertable('by_number', by_range('At', 86400));
INSERT INTO by_date VALUES ('2026-10-01', 'a'), ('2026-11-01', 'b');
INSERT INTO by_number SELECT extract(epoch FROM timestamptz '2026-10-01' + i * interval '1 day'), repeat('x', 3000) FROM generate_series(0, 5) i;
));
my %keys = (
	by_time => '',
	by_date => '',
	by_number => q(, options => '{"key_unit": "seconds"}'));
foreach my $table (sort keys %keys)
{
	$node->safe_psql('postgres',
		"SET client_min_messages = error; SELECT tiered_storage.add_tiering_policy('$table', move_after => '30 days', tier => 'slow'$keys{$table})"
	);
}
like(
	error_of(
		$node,
		'postgres',
		"SELECT tiered_storage.add_tiering_policy('by_number', move_after => '30 days', tier => 'slow')"
	),
	qr/ERROR: .*"At" of type bigint needs a conversion to a time/,
	'a number needs a unit');
is( $node->safe_psql(
		'postgres',
		q(SELECT count(*) FROM tiered_storage.evaluate_policies() JOIN _tiered_storage.policy USING (policy_id) WHERE relation_oid = 'by_time'::regclass)
	),
	0,
	'a hypertable without chunks has nothing to move');
$node->safe_psql('postgres',
	q(INSERT INTO by_time SELECT timestamptz '2026-10-01' + i * interval '6 hours', i, repeat('x', 500) FROM generate_series(0, 19) i)
);

# Each chunk with the end of its range as TimescaleDB knows it, and where it is.
my $ranges = q(
SELECT hypertable_name, COALESCE(range_end, to_timestamp(range_end_integer))::date AS ends, COALESCE(spcname, 'pg_default') AS place, count(*)
FROM timescaledb_information.chunks c JOIN pg_class r ON r.oid = format('%I.%I', c.chunk_schema, c.chunk_name)::regclass
LEFT JOIN pg_tablespace t ON t.oid = r.reltablespace
WHERE hypertable_name IN ('by_time', 'by_date', 'by_number')
GROUP BY 1, 2, 3);
my $wrong =
  "SELECT string_agg(r::text, ' ') FROM ($ranges) r WHERE place <> CASE WHEN ends <= date 'DAY' - 30 THEN 'slow' ELSE 'fast' END";
isnt($node->safe_psql('postgres', $wrong =~ s/DAY/2026-11-02/r),
	'', 'chunks are due, or this proves nothing');
foreach my $day ('2026-11-02', '2026-11-03', '2026-12-20')
{
	migrate_at("$day 00:00:00+00");
	is($node->safe_psql('postgres', $wrong =~ s/DAY/$day/r),
		'', "at $day each chunk is where its range says");
}
is( $node->safe_psql(
		'postgres', q(
SELECT string_agg(DISTINCT COALESCE(spcname, 'pg_default'), ' ') FROM pg_inherits h JOIN pg_index i ON i.indrelid = inhrelid
JOIN pg_class x ON x.oid = i.indexrelid LEFT JOIN pg_tablespace t ON t.oid = x.reltablespace
WHERE inhparent = 'by_time'::regclass)
	),
	'slow',
	'with its indexes');
is( $node->safe_psql(
		'postgres',
		q(SELECT (SELECT count(*) FROM by_time), (SELECT count(*) FROM by_date), (SELECT count(*) FROM by_number))
	),
	'20|2|6',
	'and all rows');

# Two columns of time: chunks are as old as the primary one says, wherever the rows of TimescaleDB's
# catalog are.
$node->safe_psql(
	'postgres', q(
CREATE TABLE two_times (at timestamptz NOT NULL, valid timestamptz NOT NULL);
SELECT create_hypertable('two_times', 'at', chunk_time_interval => interval '1 day');
SELECT add_dimension('two_times', by_range('valid', interval '30 days'));
SELECT set_chunk_time_interval('two_times', interval '2 days', 'at');
INSERT INTO two_times VALUES (now(), '2000-01-01'), ('2000-01-01', now());
SET client_min_messages = error;
SELECT tiered_storage.add_tiering_policy('two_times', move_after => '30 days', tier => 'slow');
));
is( $node->safe_psql(
		'postgres',
		q(SELECT count(*), bool_and(ends::date < '2000-01-10') FROM tiered_storage.evaluate_policies() JOIN _tiered_storage.policy USING (policy_id)
		WHERE relation_oid = 'two_times'::regclass AND verdict = 'due')
	),
	'1|t',
	'of two columns of time the primary one counts');
$node->safe_psql('postgres',
	"SELECT tiered_storage.remove_policy('two_times'); DROP TABLE two_times");

# A constraint that is not valid says nothing of the rows that are there.
$node->safe_psql(
	'postgres', q(
INSERT INTO by_date VALUES ('2030-01-01', 'c');
SELECT format('ALTER TABLE %s ADD CHECK (at < date ''2020-01-01'') NOT VALID', show_chunks('by_date', newer_than => date '2029-01-01'))
\gexec
));
migrate_at('2026-12-21 00:00:00+00');
is( $node->safe_psql(
		'postgres',
		"SELECT place FROM ($ranges) r WHERE hypertable_name = 'by_date' AND ends > '2029-01-01'"
	),
	'fast',
	'a constraint that is not valid counts for nothing');
$node->safe_psql(
	'postgres', q(
SET client_min_messages = error;
SELECT drop_chunks('by_time', older_than => timestamptz '2027-01-01');
CALL tiered_storage.migrate();
SELECT tiered_storage.remove_policy(t) FROM unnest('{by_time,by_date,by_number}'::regclass[]) t;
DROP TABLE by_time;
DROP TABLE by_date;
DROP TABLE by_number;
DROP TABLE plain;
));

# ---------------------------------------------------------------------
note 'A crash while a chunk is moved';
# ---------------------------------------------------------------------

$node->safe_psql('postgres',
	q(INSERT INTO m SELECT timestamptz '2027-01-01 12:00', i, repeat('x', 500) FROM generate_series(1, 10000) i)
);
my $large = $node->safe_psql('postgres',
	q(SELECT show_chunks('m', newer_than => timestamptz '2027-01-01')));
my $sums =
  q(SELECT count(*), sum(id), count(*) FILTER (WHERE at >= '2027-01-01') FROM m);
my $before = $node->safe_psql('postgres', $sums);
reload_with($node, 'tiered_storage.move_rate_limit' => '64kB');
$mover = start_sql($node, 'postgres',
	"CALL tiered_storage.move_relation('$large', 'slow')");
$node->poll_query_until('postgres',
	"SELECT count(*) > 0 FROM _tiered_storage.move_progress WHERE relation = '$large' AND blocks_done > 0"
) or die 'the chunk is not copied';
my $pid = $node->safe_psql('postgres',
	"SELECT pid FROM _tiered_storage.move_progress WHERE relation = '$large'"
);
is(kill('KILL', $pid), 1, 'its copy is interrupted');
finish_sql($mover);
$node->poll_query_until('postgres', 'SELECT true')
  or die 'the server is not back';
reload_with($node, 'tiered_storage.move_rate_limit' => '0');
is($node->safe_psql('postgres', $sums), $before, 'nothing is lost');
is($node->safe_psql('postgres', $fast),
	'2027-01-01', 'the chunk is where it was');
is( $node->safe_psql(
		'postgres',
		"SELECT state IN ('interrupted', 'failed') FROM _tiered_storage.moves WHERE relation = '$large' AND kind = 'table' ORDER BY move_id DESC LIMIT 1"
	),
	't',
	'the history says so');
$node->safe_psql('postgres',
	"SET client_min_messages = error; CALL tiered_storage.move_relation('$large', 'slow')"
);
is($node->safe_psql('postgres', $fast),
	'', 'and is moved when it is asked for again');
is($node->safe_psql('postgres', $sums), $before, 'with all rows');
is(stray_files($node, 'postgres'), '', 'no file that no relation has');
$node->stop;
done_testing;

# From the server's counters to rates and history: resets, crashes, new files, and
# the passage of time, which is injected with tiered_storage.test_now.
#
# Made up in the tables, since no call makes it in the time of a test: rates, and
# history of days and weeks; moves of another time, size or end.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

# No worker: the only samples are those of the test.
my $node = new_node(
	'main',
	preload => 0,
	conf => "session_preload_libraries = 'tiered_storage'");
$node->start;
create_in_place_tablespace($node, 'slow');

# The time of the test: hours after a round one thirty days ago, so that the heat
# view, which shows rates as of the real now, is later than all samples.
my $epoch = $node->safe_psql('postgres',
	"SELECT date_trunc('hour', now()) - interval '30 days'");

sub at
{
	my ($hours) = @_;
	return $node->safe_psql('postgres',
		"SELECT '$epoch'::timestamptz + $hours * interval '1 hour'");
}

# A sample at that hour.
sub sample_at
{
	my ($hours) = @_;
	my $now = at($hours);

	$node->safe_psql('postgres',
		"SET tiered_storage.test_now = '$now'; CALL tiered_storage.sample()");
	return;
}

# What is counted must have arrived in the statistics before the next sample.
sub work
{
	my ($sql) = @_;

	$node->safe_psql('postgres',
		"$sql;\nSELECT pg_stat_force_next_flush();\n");
	return;
}

sub value_of
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', $sql);
}

# The smoothed rate right after $events in the $hours before, on top of $rate.
sub advanced
{
	my ($rate, $events, $hours, $half_life_hours) = @_;
	my $past = 2**(-$hours / $half_life_hours);

	return $rate * $past + $events / $hours * (1 - $past);
}

sub is_close
{
	my ($got, $expected, $name) = @_;

	ok(abs($got - $expected) <= 1e-9 * abs($expected) + 1e-12,
		"$name: $got is $expected");
	return;
}

sub column
{
	my ($table, $column) = @_;
	return value_of(
		"SELECT $column FROM _tiered_storage.relation_state WHERE relation_oid = '$table'::regclass"
	);
}

# "rows of history, rows of the table that were changed in all of them"
sub history_of
{
	my ($table) = @_;
	return value_of(
		"SELECT count(*) || ' ' || COALESCE(sum(row_changes), 0) FROM _tiered_storage.history_rows WHERE relation_oid = '$table'::regclass"
	);
}

sub nothing_negative
{
	my ($name) = @_;

	is( value_of(
			q(SELECT (SELECT count(*) FROM _tiered_storage.relation_state
			WHERE least(random_fast, random_slow, sequential_fast, sequential_slow, sequential_low_slow,
				sequential_high_slow, hits_slow, scans_slow, changes_fast, changes_slow) < 0
				OR greatest(random_fast, random_slow, sequential_fast, sequential_slow, sequential_low_slow,
				sequential_high_slow, hits_slow, scans_slow, changes_fast, changes_slow) = 'NaN')
		+ (SELECT count(*) FROM _tiered_storage.history_rows
			WHERE least(scans, random_reads, sequential_reads, hits, row_changes) < 0))
		),
		0,
		"$name: nothing is negative");
	return;
}

# ---------------------------------------------------------------------
note 'The first sample';
# ---------------------------------------------------------------------

work(
	'CREATE TABLE old (id int); INSERT INTO old SELECT generate_series(1, 600)'
);
work('CREATE TABLE idle (id int PRIMARY KEY); INSERT INTO idle VALUES (1)');
my $start = at(0);
$node->safe_psql('postgres',
	"SET tiered_storage.test_now = '$start'; CREATE EXTENSION tiered_storage"
);
is( value_of(
		"SELECT samples, counter_resets, last_sample_at = '$start' FROM _tiered_storage.sampler"
	),
	'1|0|t',
	'CREATE EXTENSION takes the first sample, at the injected time');
is(value_of('SELECT count(*) FROM _tiered_storage.history_rows'),
	0, 'the past before it is no history');
is( column(
		'old', 'row_changes, last_used_at IS NULL, last_written_at IS NULL'),
	'600|t|t',
	'nor use at a known time');

# ---------------------------------------------------------------------
note 'Idle and active relations';
# ---------------------------------------------------------------------

work('CREATE TABLE t (id int, value text)');
sample_at(1);
work("INSERT INTO t SELECT i, 'x' FROM generate_series(1, 2400) i");
sample_at(2);
is(history_of('t'), '1 2400', 'an active relation gets one row for a sample');
is( value_of(
		"SELECT period_start = '${\at(1)}' AND period_s = 3600 FROM _tiered_storage.history_rows WHERE relation_oid = 't'::regclass"
	),
	't',
	'which is for the time since the sample before');
is_close(
	column('t', 'changes_fast'),
	advanced(0, 2400, 1, 24),
	'one hour of 2400 rows, half-life 1 day');
is_close(
	column('t', 'changes_slow'),
	advanced(0, 2400, 1, 14 * 24),
	'half-life 14 days');
is(column('t', "last_written_at = '${\at(2)}'"),
	't', 'the time of use is remembered');

my $rows = value_of('SELECT count(*) FROM _tiered_storage.history_rows');
my $version = column('t', 'xmin, ctid');
sample_at(3) foreach 1 .. 3;
sample_at(4);
is(value_of('SELECT count(*) FROM _tiered_storage.history_rows'),
	$rows, 'samples of idle relations leave no history');
is(column('t', 'xmin, ctid'), $version, 'and write nothing about them');
is(value_of('SELECT samples, last_active FROM _tiered_storage.sampler'),
	'7|0', 'though they were taken');

# ---------------------------------------------------------------------
note 'Half-lives';
# ---------------------------------------------------------------------

# Idle from hour 2 to 25, then one row in the hour before 26: a day after 2.
my $fast = column('t', 'changes_fast');
my $slow = column('t', 'changes_slow');
sample_at(25);
is(column('t', 'xmin, ctid'), $version, 'idle for a day');
work("INSERT INTO t VALUES (0, 'x')");
sample_at(26);
is_close(
	column('t', 'changes_fast'),
	$fast / 2 + advanced(0, 1, 1, 24),
	'after one half-life a half is left');
is_close(
	column('t', 'changes_slow'),
	$slow * 2**(-1 / 14) + advanced(0, 1, 1, 14 * 24),
	'after a fourteenth of one little is lost');

# The view: decayed to now, and relative to the time of observation.
$fast = column('t', 'changes_fast');
is( value_of(
		qq(
BEGIN;
UPDATE _tiered_storage.relation_state SET heat_at = now() - interval '30 hours', observed_since = now() - interval '4 days';
SELECT abs(h.writes_per_hour / e.expected - 1) < 1e-9, h.writes_per_hour < $fast
FROM _tiered_storage.heat h, LATERAL (SELECT
	$fast * power(2::float8, -extract(epoch FROM now() - heat_at)::float8 / 86400)
		/ (1 - power(2::float8, -extract(epoch FROM now() - observed_since)::float8 / 86400)) AS expected) e
WHERE relation = 't'::regclass;
ROLLBACK)),
	't|t',
	'the view decays rates to the present');
is( value_of(
		q(
BEGIN;
UPDATE _tiered_storage.relation_state SET heat_at = now() - interval '1 year', observed_since = now() - interval '2 years';
SELECT writes_per_hour FROM _tiered_storage.heat WHERE relation = 't'::regclass;
ROLLBACK)),
	'0',
	'and what comes less than once in a century does not come');
is_close(
	value_of(
		'SELECT _tiered_storage.smoothed_rate(100, 86400, 1e9, 86400) / _tiered_storage.smoothed_rate(100, 0, 1e9, 86400)'
	),
	0.5,
	'a rate that is read a half-life later');

# ---------------------------------------------------------------------
note 'What is new';
# ---------------------------------------------------------------------

# In real time, in a second database: a rate is of the time that was observed, and what rests
# on seconds is provisional.
$node->safe_psql('postgres', 'CREATE DATABASE fresh');
$node->safe_psql('fresh',
	'CREATE EXTENSION tiered_storage; CREATE TABLE n (id int); CALL tiered_storage.sample();'
);
$node->safe_psql('fresh',
	"INSERT INTO n SELECT generate_series(1, 600);\nSELECT pg_stat_force_next_flush();\n"
);
$node->safe_psql('fresh', 'CALL tiered_storage.sample()');
is( $node->safe_psql(
		'fresh',
		q(
SELECT abs(h.writes_per_hour * extract(epoch FROM now() - s.observed_since) / 3600 / 600 - 1) < 0.01, r.confidence
FROM _tiered_storage.heat h JOIN _tiered_storage.relation_state s ON s.relation_oid = h.relation
	JOIN tiered_storage.recommend_placement(true) r ON r.relation = h.relation
WHERE h.relation = 'n'::regclass)
	),
	't|provisional',
	'600 rows within a moment are a rate of that moment, and provisional');

# ---------------------------------------------------------------------
note 'Resets';
# ---------------------------------------------------------------------

sub counter_resets
{
	return value_of('SELECT counter_resets FROM _tiered_storage.sampler');
}

# Before: t has 2401 changed rows.
is(counter_resets(), 0, 'no reset so far');
$fast = column('t', 'changes_fast');
work("SELECT pg_stat_reset_single_table_counters('t'::regclass)");
work("INSERT INTO t SELECT i, 'x' FROM generate_series(10001, 10100) i");
sample_at(27);
is(history_of('t'), '3 2501',
	'pg_stat_reset_single_table_counters: what came after counts once');
is_close(
	column('t', 'changes_fast'),
	advanced($fast, 100, 1, 24),
	'and in the rate');
is(counter_resets(), 1, 'the reset was seen');
nothing_negative('one table');

$fast = column('t', 'changes_fast');
work('SELECT pg_stat_reset()');
sample_at(28);
is(history_of('t'), '3 2501', 'pg_stat_reset alone is no activity');
is(column('t', 'changes_fast'), $fast, 'and leaves the rate');
work("INSERT INTO t SELECT i, 'x' FROM generate_series(20001, 20050) i");
sample_at(29);
is(history_of('t'), '4 2551', 'pg_stat_reset: what came after counts once');
is_close(
	column('t', 'changes_fast'),
	advanced($fast * 2**(-1 / 24), 50, 1, 24),
	'and in the rate');
is(counter_resets(), 2, 'the reset was seen');
nothing_negative('whole database');

# A reset and more than before: what cannot be seen is not invented.
work("SELECT pg_stat_reset_single_table_counters('t'::regclass)");
work("INSERT INTO t SELECT i, 'x' FROM generate_series(30001, 30200) i");
sample_at(30);
my ($periods, $changed) = split / /, history_of('t');
is($periods, 5, 'a reset that the counters have overtaken');
cmp_ok($changed, '<=', 2751, 'is not overestimated');
is($changed, 2751, 'nor underestimated where the server knows of it')
  if $node->pg_version >= 19;
nothing_negative('overtaken');

# One counter that went back (scans) tells that others, though larger than before,
# began at zero too.
work('SELECT count(*) FROM t') foreach 1 .. 5;
sample_at(30.25);
my $hits_before = column('t', 'blocks_hit');
my $changed_before = (split / /, history_of('t'))[1];
work("SELECT pg_stat_reset_single_table_counters('t'::regclass)");
work("INSERT INTO t SELECT i, 'x' FROM generate_series(31001, 32000) i");
sample_at(30.5);
cmp_ok(column('t', 'blocks_hit'),
	'>', $hits_before, 'another counter overtakes, while scans went back');
is( value_of(
		"SELECT hits FROM _tiered_storage.history_rows WHERE relation_oid = 't'::regclass AND period_start = '${\at(30.25)}'"
	),
	value_of(
		"SELECT heap_blks_hit FROM pg_statio_user_tables WHERE relname = 't'"
	),
	'it is counted from zero');
($periods, $changed) = split / /, history_of('t');
is($changed, $changed_before + 1000, 'and so are the rows that were changed');
nothing_negative('one counter back');

# ---------------------------------------------------------------------
note 'Crash';
# ---------------------------------------------------------------------

# After a full hour; what is observed later is lost with it, see 096.
sample_at(31);
($periods, $changed) = split / /, history_of('t');
my $since = column('t', 'sampled_since');
$fast = column('t', 'changes_fast');
$node->stop('immediate');
$node->start;
sample_at(31.5);
is(column('t', 'sampled_since'), $since, 'a crash does not make it forget');
is(column('t', 'row_changes'), 0, 'the server has lost its counters');
is(history_of('t'), "$periods $changed", 'which is no activity');
is(column('t', 'changes_fast'), $fast, 'and leaves the rate');
work("INSERT INTO t SELECT i, 'x' FROM generate_series(40001, 40010) i");
sample_at(32);
is( history_of('t'),
	($periods + 1) . ' ' . ($changed + 10),
	'what comes after it counts once');
nothing_negative('crash');

# ---------------------------------------------------------------------
note 'New relations and new files';
# ---------------------------------------------------------------------

my $oid = value_of("SELECT 't'::regclass::oid");
work("DROP TABLE t");
is( value_of(
		"SELECT count(*) FROM _tiered_storage.heat WHERE relation::oid = $oid"
	),
	0,
	'a dropped relation leaves the view at once');
work(
	"CREATE TABLE t (id int PRIMARY KEY, value text); INSERT INTO t SELECT i, 'x' FROM generate_series(1, 30) i"
);
sample_at(33);
is( value_of(
		"SELECT count(*) FROM _tiered_storage.relation_state WHERE relation_oid = $oid"
	),
	0,
	'and the state with the next sample');
is(history_of('t'), '1 30', 'a new one of the same name begins anew');
is_close(column('t', 'changes_fast'), advanced(0, 30, 1, 24),
	'also its rate');
is( value_of(
		"SELECT relation FROM _tiered_storage.heat WHERE relation = 't'::regclass"
	),
	't',
	'and is in the view');

sub rewritten
{
	return column('t', "COALESCE(rewritten_at = '$_[0]', false)");
}

is(column('t', 'rewritten_at IS NULL'), 't', 'so far in its first file');
work('TRUNCATE t');
sample_at(34);
is(rewritten(at(34)), 't', 'TRUNCATE is a new file');
is(column('t', 'size_bytes'), 0, 'and an empty one');
is(column('t', "sampled_since = '${\at(33)}'"), 't', 'of the same relation');
work("INSERT INTO t SELECT i, 'x' FROM generate_series(1, 5000) i");
sample_at(35);
is(rewritten(at(34)), 't', 'rows are not a new file');
my $size = column('t', 'size_bytes');
is($size, value_of("SELECT pg_relation_size('t')"), 'the size follows');
work('DELETE FROM t WHERE id > 100');
work('VACUUM FULL t');
sample_at(36);
is(rewritten(at(36)), 't', 'VACUUM FULL is a new file');
cmp_ok(column('t', 'size_bytes'), '<', $size / 10, 'and a small one');
is(column('t', "sampled_since = '${\at(33)}'"), 't', 'of the same relation');
my $state = column('t', 'changes_fast, changes_slow, random_fast');
$node->safe_psql('postgres',
	"CALL tiered_storage.move_relation('t', 'slow')");
sample_at(37);
is(rewritten(at(36)), 't', 'a move is a new file, but nothing was rewritten');
is(column('t', "sampled_since = '${\at(33)}'"), 't', 'nor forgotten');
is( column(
		't', "(SELECT spcname FROM pg_tablespace WHERE oid = tablespace_oid)"
	),
	'slow',
	'the new tablespace is known');
is(column('t', 'changes_fast, changes_slow, random_fast'),
	$state, 'and it is no activity');
nothing_negative('new files');

# ---------------------------------------------------------------------
note 'Roll-up and retention';
# ---------------------------------------------------------------------

# Six samples in each of the hours 100 to 103, at :05, :15, ... :55.  The first one
# also brings what was done since 37.
sample_at(100);
foreach my $sample (0 .. 23)
{
	work("UPDATE t SET value = 'y' WHERE id <= 10");
	sample_at(100 + ($sample * 10 + 5) / 60);
}
is( value_of(
		"SELECT string_agg(n || ' rows of ' || period_s || ' s, ' || changes, '; ' ORDER BY hour)
	FROM (SELECT date_trunc('hour', period_start) AS hour, max(period_s) AS period_s, count(*) AS n, sum(row_changes) AS changes
		FROM _tiered_storage.history_rows WHERE relation_oid = 't'::regclass AND period_start >= '${\at(100)}' GROUP BY 1) h"
	),
	'1 rows of 3600 s, 65; 1 rows of 3600 s, 60; 1 rows of 3600 s, 60; 6 rows of 600 s, 55',
	'hours that have ended are one row each, a sample over two of them is shared; nothing is lost'
);
sample_at(110);
is( value_of(
		"SELECT string_agg(period_s || ' s, ' || row_changes, '; ' ORDER BY period_start)
	FROM _tiered_storage.history_rows WHERE relation_oid = 't'::regclass AND period_start >= '${\at(100)}'"
	),
	'3600 s, 65; 3600 s, 60; 3600 s, 60; 3300 s, 55',
	'later the last hour follows');
is( value_of(
		"SELECT count(*) FROM (SELECT FROM _tiered_storage.history_rows GROUP BY relation_oid, date_trunc('hour', period_start) HAVING count(*) > 1) s"
	),
	0,
	'no single sample is left');

reload_with($node, 'tiered_storage.history_retention' => '8h');
foreach my $sample (1 .. 9)
{
	work("UPDATE t SET value = 'y' WHERE id <= 10");
	sample_at(110 + 2 * $sample);
}
is( value_of(
		"SELECT string_agg(((extract(epoch FROM hour - '$epoch') / 3600)::int)::text, ' ' ORDER BY hour)
	FROM _tiered_storage.history_rows WHERE relation_oid = 't'::regclass"),
	'112 114 116 118 120 122 124 126',
	'history_retention: older hours go, a part of eight at a time');

# The record of moves: finished at the real now, which is after all of the above.
is(value_of('SELECT count(*) FROM _tiered_storage.moves'),
	2, 'moves are kept for as long');
sample_at(30 * 24 + 25);
is(value_of('SELECT count(*) FROM _tiered_storage.moves'), 2,
	'and for a day and two hours, since windows and limits count those of a day'
);
sample_at(30 * 24 + 49);
is(value_of('SELECT count(*) FROM _tiered_storage.moves'),
	0, 'then they go, on the next day');

# ---------------------------------------------------------------------
note 'history_max_size';
# ---------------------------------------------------------------------

# 100 hours of 300 relations: more than allowed, of which an empty part takes the half.
my $now = 2000;
reload_with(
	$node,
	'tiered_storage.history_retention' => '90d',
	'tiered_storage.history_max_size' => '1MB');
sample_at($now);
foreach my $hour (1 .. 100)
{
	work(
		qq(
INSERT INTO _tiered_storage.relation_history
SELECT '${\at($now + $hour)}', 100000 + r, 3600, random() * 1e6, random() * 1e6, random() * 1e6, random() * 1e6, random() * 1e6
FROM generate_series(1, 300) r));
	sample_at($now + $hour + 1);
}
is( value_of(
		'SELECT DISTINCT n FROM (SELECT count(*) AS n FROM _tiered_storage.history_rows WHERE relation_oid > 100000 GROUP BY hour) p'
	),
	300,
	'history_max_size: whole hours go');
is( value_of(
		"SELECT max(hour) = '${\at($now + 100)}', min(hour) > '${\at($now + 1)}', count(DISTINCT hour) > 20 FROM _tiered_storage.history_rows WHERE relation_oid > 100000"
	),
	't|t|t',
	'the oldest ones, and no more than need be');
cmp_ok(
	value_of(
		"SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE relname ~ '^(history_hour|state_snapshot)_' AND relkind = 'r'"
	),
	'<=',
	1536 * 1024,
	'what is left fits, but for what was added last to each part');
is( value_of(
		'SELECT history_since = (SELECT min(hour) FROM tiered_storage.history) FROM _tiered_storage.sampler'
	),
	't',
	'since when there is history is known');

# Records of moves: 128 for each MB, and deleted when there are a tenth more, whatever their age.
sub record_moves
{
	my ($n) = @_;

	work(
		qq(
INSERT INTO _tiered_storage.move (relation_oid, relation_name, kind, from_tablespace, to_tablespace, state, requested_by, reason, method, size_bytes, started_at, finished_at)
SELECT 100000 + r, 'public.gone', 'table', 'pg_default', 'slow', 'failed', 'postgres', 'requested', 'online', 0, now(), now()
FROM generate_series(1, $n) r));
	return;
}

record_moves(130);
sample_at($now + 110);
is(value_of('SELECT count(*) FROM _tiered_storage.move'),
	130, 'a few records of moves more than are kept stay');
my $newest = value_of('SELECT max(move_id) FROM _tiered_storage.move');
record_moves(20);
sample_at($now + 111);
is( value_of(
		"SELECT count(*), count(*) FILTER (WHERE move_id > $newest) FROM _tiered_storage.move"
	),
	'128|20',
	'many more go, the oldest ones');

$node->stop;
done_testing();

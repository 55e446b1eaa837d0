# The first hour of somebody who has just installed this: from CREATE EXTENSION to
# the answer, in scenes.  What is said, and what must not be.
#
# Time passes by tiered_storage.test_now.  Nothing samples but the test.
#
# In make test.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

# What the page cache of this machine holds is not what the test is about.
my $node = new_node(
	'main',
	standby => 1,
	preload => 0,
	conf => q(
tiered_storage.observation_period = '7d'
session_preload_libraries = 'tiered_storage'
tiered_storage.test_page_cache = off
timezone = 'UTC'
fsync = off
shared_buffers = 2MB
jit = off
));
$node->start;
my $epoch = $node->safe_psql('postgres', 'SELECT now()');

# Statements as of so many hours after the begin.
sub as_of
{
	my ($hours) = @_;
	my $at = $node->safe_psql('postgres',
		"SELECT '$epoch'::timestamptz + $hours * interval '1 hour'");

	return "SET tiered_storage.test_now = '$at';\n";
}

# What is counted has arrived in the statistics when it returns.
sub work
{
	my ($db, $sql) = @_;

	$node->safe_psql($db, "$sql;\nSELECT pg_stat_force_next_flush();\n");
	return;
}

# The extension, at that hour, with two tiers of these tablespaces.
sub install
{
	my ($db, $hours, $fast, $slow) = @_;

	$node->safe_psql(
		$db,
		as_of($hours) . qq(
SET client_min_messages = warning;
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('ssd', '$fast', profile => 'nvme', rank => 0, reserve_fraction => 0);
SELECT tiered_storage.add_tier('hdd', '$slow', profile => 'hdd_7200', rank => 1, reserve_fraction => 0);
));
	return;
}

sub sample_at
{
	my ($db, $hours) = @_;

	$node->safe_psql($db, as_of($hours) . 'CALL tiered_storage.sample()');
	return;
}

# What a user sees who asks: rows, and what is said beside them.
sub ask
{
	my ($db, $hours, $arguments, $settings) = (@_, q(), q());
	my ($rc, $out, $err) = $node->psql(
		$db,
		as_of($hours)
		  . $settings . qq(
SELECT relation, recommended_tier, confidence, reason FROM tiered_storage.recommend_placement($arguments) ORDER BY relation::text;
SELECT 'all: ' || reason FROM _tiered_storage.placement_summary() WHERE tier_name IS NULL;
SELECT 'busy: ' || tier_name FROM _tiered_storage.placement_summary() WHERE busy_fraction > 1;
));

	die $err if $rc != 0;
	note "$out\n$err";
	return ($out, $err);
}


# About 60 MB, with indexes that were built afterwards.
my $shop = q(
CREATE TABLE customer (id int, name text, data text);
INSERT INTO customer SELECT i, md5(i::text), repeat(md5(i::text), 8) FROM generate_series(1, 150000) i;
ALTER TABLE customer ADD PRIMARY KEY (id);
CREATE INDEX customer_name ON customer (name);
CREATE TABLE tiny (id int PRIMARY KEY);
INSERT INTO tiny VALUES (1);
);
my ($rows, $said);

# Nobody is told that anything is busy, or to move anything.
sub quiet
{
	my ($name) = @_;

	unlike(
		$rows,
		qr/^(?!all: )/m,
		"$name: no row, and no device beyond its limit");
	return;
}

# ---------------------------------------------------------------------
note 'One tier';
# ---------------------------------------------------------------------

$node->safe_psql('postgres', 'CREATE DATABASE one');
work('one', $shop);
$node->safe_psql('one',
	'SET client_min_messages = warning; CREATE EXTENSION tiered_storage');
($rows, $said) = ask('one', 0.01);
quiet('one tier');
like(
	$said,
	qr/NOTICE:  nothing is recommended: there is only one tier, "\w+"/,
	'one tier: said');
like(
	$said,
	qr/HINT:  Create a tablespace on another device/,
	'one tier: and what to do');

# ---------------------------------------------------------------------
note 'A virtual machine whose disks say nothing';
# ---------------------------------------------------------------------

create_in_place_tablespace($node, 'ssd', 'hdd');
$node->safe_psql('one',
	'SET client_min_messages = warning; SELECT tiered_storage.discover_tiers()'
);
($rows, $said) = ask('one', 0.02);
quiet('unknown disks');
like($said, qr/there is only one tier, "\w+"/, 'unknown disks: said');

# What the disks of this machine are taken for.
my %profile =
  $node->safe_psql('one',
	q(SELECT bool_or(is_virtual AND profile IS NULL) FROM _tiered_storage.tablespace_devices())
  ) eq 't'
  ? (fast => 'cloud_gp3', slow => 'cloud_st1')
  : (fast => 'nvme', slow => 'hdd_7200');
my %typed;    # each of the functions that were asked says them
my @statements = grep { !$typed{$_}++ }
  $said =~ /(SELECT tiered_storage\.add_tier\(.*?\);)/g;
is(scalar @statements, 2, 'unknown disks: the two statements to type');
unlike(notices_of($node, 'one', join ' ', @statements),
	qr/ERROR/, 'unknown disks: they work as they are');
is( $node->safe_psql(
		'one',
		q(SELECT tier_name, tablespaces, profile FROM _tiered_storage.tiers ORDER BY rank)
	),
	"fast|{pg_default,ssd}|$profile{fast}\nslow|{hdd}|$profile{slow}",
	'unknown disks: and all tablespaces are where their names say');

# ---------------------------------------------------------------------
note 'One tier that somebody has defined';
# ---------------------------------------------------------------------

# What the hint says is typed as it is, whatever that tier has and is called.
sub second_tier_of
{
	my ($what, $tier) = @_;

	$node->safe_psql(
		'one', qq(
SET client_min_messages = warning;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT $tier));
	my $said = (ask('one', 0.02))[1];
	like($said, qr/there is only one tier/, "$what: said");
	my ($statements) =
	  $said =~ /HINT:  If .* define their tiers: (SELECT .*;)$/m;
	unlike(notices_of($node, 'one', $statements),
		qr/ERROR/, "$what: the statements work as they are");
	is( $node->safe_psql('one', 'SELECT count(*) FROM _tiered_storage.tiers'),
		2,
		"$what: and there are two tiers");
	return $statements;
}

is( second_tier_of(
		'tablespaces of no tier',
		q(tiered_storage.add_tier('slow', '{pg_default}'))),
	q(SELECT tiered_storage.add_tier('fast', '{ssd}', profile => 'nvme');),
	'a name and a tablespace that are not taken');
create_in_place_tablespace($node, q(o'dd \\ sp{a,ce));
my $bytes = $node->safe_psql('one',
	'SELECT min(total_bytes) FROM _tiered_storage.tablespace_devices()');
like(
	second_tier_of(
		'all tablespaces',
		qq(tiered_storage.add_tier('it''s \\', array_agg(spcname)::text, profile => 'nvme', device => jsonb_build_object('capacity_bytes', $bytes))
			FROM pg_tablespace WHERE spcname <> 'pg_global')),
	qr/^SELECT tiered_storage\.alter_tier\(.*; SELECT tiered_storage\.add_tier\('slow', .*, profile => '$profile{slow}'\);$/,
	'all tablespaces: they are divided');
is( $node->safe_psql(
		'one',
		q(SELECT tier_name, array_length(tablespaces, 1) FROM _tiered_storage.tiers ORDER BY rank)
	),
	"it's \\|3\nslow|1",
	'all tablespaces: none is lost');
second_tier_of('a discovered tier',
	'count(*) FROM tiered_storage.discover_tiers()');
$node->safe_psql('postgres', q(DROP TABLESPACE "o'dd \\ sp{a,ce"));

# ---------------------------------------------------------------------
note 'Fresh load';
# ---------------------------------------------------------------------

$node->safe_psql('postgres', 'CREATE DATABASE fresh');
work('fresh', $shop);
install('fresh', 0.01, '{ssd}', '{hdd,pg_default}');
is( $node->safe_psql(
		'fresh',
		q(SELECT random_misses_per_hour, maintenance_reads_per_hour > 0, hits_14d_per_hour < 50000
			FROM _tiered_storage.heat WHERE relation = 'customer'::regclass)),
	'0|f|t',
	'fresh load: no rate has what was before the first sample');
($rows, $said) = ask('fresh', 0.01);
quiet('fresh load');
like(
	$said,
	qr/nothing is recommended yet: observed for less than a minute of 7 days/,
	'fresh load: said');
foreach my $hours (0.1, 0.3, 0.9)
{
	sample_at('fresh', $hours);
	($rows, $said) = ask('fresh', $hours);
	quiet("fresh load, after $hours hours");
	($rows, $said) = ask('fresh', $hours, '',
		"SET tiered_storage.observation_period = 0;\n");
	quiet("fresh load, after $hours hours, told not to wait");
}
($rows, $said) = ask('fresh', 0.9, 'true');
unlike($rows, qr/\|firm\|/, 'fresh load: nothing is firm in the first hour');

# ---------------------------------------------------------------------
note 'Restore';
# ---------------------------------------------------------------------

my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$node->safe_psql('postgres', 'CREATE DATABASE restored');
install('restored', 0, '{ssd}', '{hdd,pg_default}');
$node->command_ok(
	[
		'pg_dump', '-f', $dump, '-t', 'customer', '-t', 'tiny',
		$node->connstr('fresh')
	],
	'dump');
$node->command_ok(
	[
		'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-f',
		$dump, $node->connstr('restored')
	],
	'restore');
work('restored', 'SELECT');
sample_at('restored', 0.2);
($rows, $said) = ask('restored', 0.2);
quiet('restore');
like(
	$said,
	qr/DETAIL:  \d relations? (was|were) loaded, used once or read into memory so far/,
	'restore: said');

foreach my $hours (0.5, 1, 2, 5, 24, 48, 120, 200)
{
	sample_at('restored', $hours);
	($rows, $said) = ask('restored', $hours);
	quiet("restore, after $hours hours");
}
($rows, $said) = ask('restored', 200, 'true');
like(
	$rows,
	qr/^customer\|hdd\|firm\|loaded or used once, and not since \d+ \w+( \d+)?$/m,
	'restore: a week later');

# ---------------------------------------------------------------------
note 'What was done before the extension came, in five hours';
# ---------------------------------------------------------------------

# None of it tells how often it will be done again, however many operations it was.
my %done_before = (
	'a restore with four indexes, and a query of each' => q(
CREATE INDEX customer_data ON customer (md5(data));
CREATE INDEX customer_reversed ON customer (reverse(name));
SELECT count(*) FROM customer),
	'a report by an index' => q(
SET enable_seqscan = off; SET enable_bitmapscan = off;
SELECT sum(length(data)) FROM customer WHERE name > ''),
	'a backfill' => q(
UPDATE customer SET data = upper(data);
VACUUM customer),
	'a backfill, row by row' => q(
SET enable_seqscan = off; SET enable_bitmapscan = off;
DO $$ BEGIN FOR i IN 1 .. 30000 LOOP UPDATE customer SET name = name || 'x' WHERE id = i * 5; END LOOP; END $$),
);
foreach my $what (sort keys %done_before)
{
	$node->safe_psql('postgres', 'CREATE DATABASE before');
	work('before', "$shop; $done_before{$what}");
	install('before', 5, '{ssd}', '{hdd,pg_default}');
	foreach my $hours (5, 6, 30, 100, 300)
	{
		sample_at('before', $hours) if $hours > 5;
		($rows, $said) = ask('before', $hours);

		# Row by row, nothing tells a backfill from use; the first answer is provisional.
		quiet("$what, at $hours hours")
		  unless $what =~ /row by row/ && $hours == 5;
		is( $node->safe_psql(
				'before',
				as_of($hours)
				  . 'SELECT sum(written_bytes_per_day) FROM _tiered_storage.placement_summary() WHERE tier_name IS NOT NULL'
			),
			0,
			"$what, at $hours hours: nothing is written a day");
	}
	$node->safe_psql('postgres', 'DROP DATABASE before');
}

# ---------------------------------------------------------------------
note 'Nine days of statistics';
# ---------------------------------------------------------------------

$node->safe_psql('postgres', 'CREATE DATABASE nine');
work(
	'nine', q(
CREATE TABLE t (k text, v text);
INSERT INTO t SELECT md5(i::text), repeat('v', 300) FROM generate_series(1, 50000) i;
CREATE INDEX t_k ON t (k);
VACUUM ANALYZE;
SET enable_seqscan = off; SET enable_bitmapscan = off;
SELECT count(x.v) FROM generate_series(1, 60000) g, LATERAL
	(SELECT v FROM t WHERE k = md5(((g * 7919) % 50000 + 1)::text) LIMIT 1) x
));
install('nine', 216, '{ssd}', '{hdd,pg_default}');
($rows, $said) = ask('nine', 216);
like(
	$rows,
	qr/^t\|ssd\|provisional\|\d+ random reads\/h by the server's statistics/m,
	'nine days: that it was read is advised from the statistics');
($rows, $said) = ask('nine', 216, "true, objective => 'money'");
unlike($rows, qr/^t\|.*not read since/m, 'nine days: it is no cold one')
  if $node->pg_version < 16;    # which says when it was read last
sample_at('nine', 216);

foreach my $i (1 .. 6)
{
	work(
		'nine', qq(
SET enable_seqscan = off; SET enable_bitmapscan = off;
SELECT count(x.v) FROM generate_series(1, 2000) g, LATERAL
	(SELECT v FROM t WHERE k = md5(((g * 7919 + $i) % 50000 + 1)::text) LIMIT 1) x
));
	sample_at('nine', 216 + $i / 6);
}
($rows, $said) = ask('nine', 217);
like(
	$rows,
	qr/^t\|ssd\|tentative\|[\d,]+ random reads\/h: /m,
	'nine days: an hour in which it goes on is one');

# ---------------------------------------------------------------------
note 'Idle';
# ---------------------------------------------------------------------

$node->safe_psql('postgres', 'CREATE DATABASE idle');
install('idle', 0, '{ssd}', '{hdd,pg_default}');
($rows, $said) = ask('idle', 0);
quiet('idle');
like($said, qr/nothing is recommended: there is nothing to place/,
	'idle: said');

# ---------------------------------------------------------------------
note 'One hot index';
# ---------------------------------------------------------------------

$node->safe_psql('postgres', 'CREATE DATABASE hot');
work(
	'hot', q(
CREATE TABLE t (k text, v text);
INSERT INTO t SELECT md5(i::text), repeat('v', 300) FROM generate_series(1, 100000) i;
CREATE INDEX t_k ON t (k);
CREATE TABLE other (id int PRIMARY KEY, v text);
INSERT INTO other SELECT i, repeat('v', 300) FROM generate_series(1, 20000) i;
VACUUM ANALYZE;
));
install('hot', 0, '{ssd}', '{hdd,pg_default}');

# Each look-up in the index alone.
sub look_up
{
	my ($begin) = @_;

	work(
		'hot', qq(
SET enable_seqscan = off; SET enable_bitmapscan = off;
SELECT count(x.k) FROM generate_series(1, 2000) g, LATERAL
	(SELECT k FROM t WHERE k = md5(((g * 7919 + $begin) % 100000 + 1)::text) LIMIT 1) x
));
	return;
}
foreach my $i (1 .. 12)
{
	look_up($i * 1313);
	sample_at('hot', $i / 6);
}
($rows, $said) = ask('hot', 2);
like(
	$rows,
	qr/^t_k\|ssd\|tentative\|[\d,]+ random reads\/h, \d+ % of the blocks requested: .* observed for 2 hours of 7 days$/m,
	'hot index: advised after 2 hours, with its numbers');
like(
	$rows,
	qr/^all: 1 move: \d+ s\/h of device time saved;/m,
	'hot index: and nothing else is');

# It lasts, through everything that gives it another file.
$node->safe_psql('hot',
	'REINDEX INDEX t_k; CLUSTER t USING t_k; VACUUM FULL t; VACUUM t;');
look_up(77);
sample_at('hot', 2.2);
($rows, $said) = ask('hot', 2.2);
like(
	$rows,
	qr/^t_k\|ssd\|tentative\|[\d,]+ random reads/m,
	'hot index: REINDEX, CLUSTER and VACUUM FULL change nothing');
unlike($rows, qr/^(t|other)\|/m, 'hot index: and make nothing else hot');

# Every 3 hours for a week: samples are further apart than intervals of evidence.
foreach my $i (1 .. 57)
{
	look_up($i * 1717);
	sample_at('hot', 2.2 + $i * 3);
}
my $later = 2.2 + 57 * 3;
($rows, $said) = ask('hot', $later);
like(
	$rows,
	qr/^t_k\|ssd\|firm\|[\d,]+ random reads\/h/m,
	'hot index: firm after a week');
unlike($rows, qr/^(t|other)\|/m, 'hot index: still nothing else');
my ($command) = $node->safe_psql('hot',
	as_of($later)
	  . 'SELECT command FROM tiered_storage.recommend_placement()') =~
  /^(CALL .*)$/m;
$node->safe_psql('hot', as_of($later) . $command);
($rows, $said) = ask('hot', $later);
quiet('hot index, moved');
($rows, $said) = ask('hot', $later, 'true');
like(
	$rows,
	qr/^t_k\|ssd\|firm\|moved to ssd less than a minute ago: stays for 24 hours$/m,
	'hot index: moved, and says so');
sample_at('hot', $later + 1);
is( $node->safe_psql(
		'hot',
		q(SELECT random_slow > 0, evidence_interval_s > 300 FROM _tiered_storage.relation_state WHERE relation_oid = 't_k'::regclass)
	),
	't|t',
	'hot index: its heat survives the move');

# A clock that goes back.
look_up(99);
sample_at('hot', $later - 50);
sample_at('hot', $later + 2);
($rows, $said) = ask('hot', $later + 2, 'true');
like($rows, qr/^t_k\|ssd\|firm\|/m,
	'hot index: a clock that goes back changes nothing');

# ---------------------------------------------------------------------
note
  'The end of the month was yesterday; a staging table is loaded every night';
# ---------------------------------------------------------------------

$node->safe_psql('postgres', 'CREATE DATABASE month');
work(
	'month', q(
CREATE TABLE book (id int, v text);
INSERT INTO book SELECT i, repeat('v', 300) FROM generate_series(1, 50000) i;
CREATE TABLE staging (id int, v text);
VACUUM ANALYZE;
));
install('month', 0, '{ssd}', '{hdd,pg_default}');
foreach my $day (1 .. 9)
{
	work(
		'month', q(
TRUNCATE staging;
INSERT INTO staging SELECT i, repeat('v', 300) FROM generate_series(1, 20000) i;
SELECT count(*) FROM staging));
	sample_at('month', $day * 24 + 1);
	if ($day == 8)
	{
		foreach my $quarter (1 .. 4)
		{
			work('month', join ';', ('SELECT count(*) FROM book') x 300);
			sample_at('month', $day * 24 + 8 + $quarter / 4);
		}
	}
	sample_at('month', $day * 24 + 12);
}
($rows, $said) = ask('month', 9 * 24 + 12);
quiet('end of the month');
($rows, $said) = ask('month', 9 * 24 + 12, 'true');
like(
	$rows,
	qr/^book\|hdd\|firm\|loaded or used once, and not since/m,
	'end of the month: book');
unlike(
	$rows,
	qr/^staging\|hdd\|firm\|loaded or used once/m,
	'each night: not once');

# ---------------------------------------------------------------------
note 'Statistics of a year, cold partitions';
# ---------------------------------------------------------------------

$node->safe_psql('postgres', 'CREATE DATABASE year');
work(
	'year', q(
CREATE TABLE m (at date NOT NULL, id int, v text, PRIMARY KEY (at, id)) PARTITION BY RANGE (at);
SELECT format('CREATE TABLE m_%s PARTITION OF m FOR VALUES FROM (%L) TO (%L)', y, y || '-01-01', y + 1 || '-01-01')
	FROM generate_series(2021, 2024) y \gexec
INSERT INTO m SELECT '2021-01-01'::date + i % 1400, i, repeat('v', 300) FROM generate_series(1, 60000) i;
CREATE TABLE built (id int, v text);
INSERT INTO built SELECT i, repeat('v', 300) FROM generate_series(1, 20000) i;
VACUUM ANALYZE;
ALTER TABLE built ADD PRIMARY KEY (id);
CREATE TABLE keyed (id int PRIMARY KEY, v text);
INSERT INTO keyed SELECT i, repeat('v', 300) FROM generate_series(1, 20000) i;
SET enable_seqscan = off;
SELECT v FROM keyed WHERE id = 7
));
foreach my $i (1 .. 20)
{
	work('year', q(SELECT count(v) FROM m_2024));
}
install('year', 8760, '{ssd,pg_default}', '{hdd}');
# At these prices some MB are worth more than 1 a month.
$node->safe_psql('year',
	"SELECT tiered_storage.alter_tier('ssd', price_per_gb_month => 1000), tiered_storage.alter_tier('hdd', price_per_gb_month => 100)"
);
($rows, $said) = ask('year', 8760);
quiet('a year, time');

# From 16 on the server says when something was scanned last: all of it a year ago.
my $used = $node->pg_version < 16 ? 'm_2024|keyed' : 'none';
like(
	$rows,
	qr/^all: no move; .*\b[1-9]\d? \(\d+ MB\) not read since \d+ \w+( \d+)?$/m,
	'a year: what was not read is said');
($rows, $said) = ask('year', 8760, "objective => 'money'");
quiet('a year, money: nothing is sent away on less than ten minutes');
sample_at('year', 8761.5);
($rows, $said) = ask('year', 8761.5, "objective => 'money'");
like(
	$rows,
	qr/^$_\|hdd\|tentative\|not read since \d+ \w+( \d+)?: (under )?[\d.]+ cheaper a month/m,
	"a year: $_ is tentative") foreach qw(m_2021 m_2022 m_2023);
unlike(
	$rows,
	qr/^($used)\|.*not read/m,
	'a year: what was read is not said to be not');

# ---------------------------------------------------------------------
note 'Just restarted; after a crash';
# ---------------------------------------------------------------------

$node->restart;
sample_at('year', 8762.5);
($rows, $said) = ask('year', 8762.5, "objective => 'money'");
like(
	$rows,
	qr/^m_2021\|hdd\|tentative\|not read since/m,
	'restart: changes nothing');
unlike($rows, qr/^($used)\|.*not read/m, 'restart: nothing is forgotten');
$node->stop('immediate');
$node->start;
sample_at('year', 8763);
sample_at('year', 8766);
($rows, $said) = ask('year', 8766, "true, objective => 'money'");
unlike(
	$rows,
	qr/^(($used)\|.*not read|(m_2024|keyed)\|.*firm)/m,
	'crash: what the statistics have lost is not proven');
like(
	$rows,
	qr/^m_2021\|hdd\|tentative\|not read since/m,
	'crash: what was known stays known');

# Installed after the crash: the year before it has left no trace.
$node->safe_psql('postgres', 'CREATE DATABASE crashed');
work('crashed', "$shop CHECKPOINT");
my $directory =
	$node->data_dir
  . '/base/'
  . $node->safe_psql('crashed',
	'SELECT oid FROM pg_database WHERE datname = current_database()');
$node->stop('immediate');
utime time - 31536000, time - 31536000, glob("$directory/*");
$node->start;
install('crashed', 0.1, '{ssd,pg_default}', '{hdd}');
($rows, $said) = ask('crashed', 0.1, "objective => 'money'");
quiet('after a crash');
like(
	$said,
	qr/NOTICE:  nothing is recommended yet: observed for .* of 7 days/,
	'after a crash: said');

# ---------------------------------------------------------------------
note 'Standby';
# ---------------------------------------------------------------------

my $asked =
  "relation, recommended_tier, confidence, reason FROM tiered_storage.recommend_placement(objective => 'money')";
# The sample also stores what the standby reads.
sample_at('year', 8767);
$node->backup('b');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'b', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
is( $standby->safe_psql('year', as_of(8767) . "SELECT $asked"),
	$node->safe_psql('year', as_of(8767) . "SELECT $asked"),
	'standby: says the same');
like(
	notices_of(
		$standby, 'fresh',
		as_of(1) . 'SELECT * FROM tiered_storage.recommend_placement()'),
	qr/nothing is recommended yet: observed for/,
	'standby: and why not');
like(
	error_of($standby, 'fresh', 'CALL tiered_storage.sample()'),
	qr/ERROR:  25006: /,
	'standby: no sample');
$standby->stop;

done_testing();

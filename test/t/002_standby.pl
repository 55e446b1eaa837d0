# A streaming standby: everything can be read, nothing is written and nothing
# runs, until it is promoted.
#
# Made up in the tables, since no call makes it in the time of a test: rates, and
# history of days and weeks.
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

my $primary = new_node(
	'primary',
	standby => 1,
	conf => q(
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = '1h'
));
$primary->start;
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

my $launchers =
  "SELECT count(*) FROM pg_stat_activity WHERE backend_type ~ '^tiered_storage'";

create_in_place_tablespace($primary, 'slow');
$primary->safe_psql('postgres', 'CREATE DATABASE app');
create_measurements($primary, 'app', 1, 2);
$primary->safe_psql('app', 'CREATE EXTENSION tiered_storage');

# After its first cycle the worker leaves the primary alone for an hour.
$primary->poll_query_until('app',
	"SELECT state = 'waiting' FROM _tiered_storage.worker_status() WHERE database_name = 'app'"
) or die 'the worker did not run';
$primary->safe_psql(
	'app', q(
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
SELECT tiered_storage.add_tiering_policy('measure', '90 days', 'slow');
CALL tiered_storage.migrate();
CREATE TABLE written (i int);
CALL tiered_storage.sample();
INSERT INTO written SELECT generate_series(1, 1000);
SELECT pg_stat_force_next_flush();
UPDATE _tiered_storage.sampler SET rolled_up_until = NULL;
CALL tiered_storage.sample();
));
$primary->wait_for_catchup($standby);

# ---------------------------------------------------------------------
note 'What was moved';
# ---------------------------------------------------------------------

my @moved = qw(m_2001_01 m_2001_02);
is(tablespaces_of($primary, 'app', @moved), 'slow', 'moved on the primary');
is(tablespaces_of($standby, 'app', @moved), 'slow', 'and on the standby');
is(tablespaces_of($standby, 'app', 'm_next'),
	'pg_default', 'what was not moved is where it was');
is( $standby->safe_psql(
		'app',
		"SELECT pg_relation_filepath('m_2001_01') ~ '^pg_tblspc/', (pg_stat_file(pg_relation_filepath('m_2001_01'))).size = pg_relation_size('m_2001_01'), pg_relation_size('m_2001_01') > 0"
	),
	't|t|t',
	'the file of a moved partition is in the tablespace on the standby');
is( fingerprint($standby, 'app', 'measure'),
	fingerprint($primary, 'app', 'measure'),
	'with the same rows');
is( $standby->safe_psql(
		'app',
		"SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(*), count(value) FROM measure WHERE id = 50"
	),
	'3|3',
	'found through the moved indexes, TOAST included');

# ---------------------------------------------------------------------
note
  'Reading: what the last snapshot has, here as an hour has passed with the last sample';
# ---------------------------------------------------------------------

is( $standby->safe_psql(
		'app',
		q(SELECT DISTINCT state, reason, pid IS NULL FROM _tiered_storage.worker_status() WHERE database_name IN ('app', 'postgres', 'template1'))
	),
	'idle|the server is in recovery, where nothing can be written|t',
	'the worker is idle, and the view says why');

foreach my $relation (
	split /\n/,
	$primary->safe_psql(
		'app',
		"SELECT oid::regclass FROM pg_class WHERE relnamespace IN ('tiered_storage'::regnamespace, '_tiered_storage'::regnamespace) AND relkind IN ('r', 'v') AND relpersistence = 'p' ORDER BY 1"
	))
{
	next
	  if $relation =~ /^tiered_storage\.(workers|heat|node_.*)$/;
	is( $standby->safe_psql(
			'app', "SELECT count(*) FROM (SELECT * FROM $relation) x"),
		$primary->safe_psql('app', "SELECT count(*) FROM $relation"),
		"$relation shows the same");
}

# Rates as of now decay from one moment to the next.
my $heat =
  'SELECT relation, kind, tier_name, size_bytes, sampled_since, heat_at, size_bytes > 0 FROM _tiered_storage.heat ORDER BY relation::oid';
my $expected = $primary->safe_psql('app', $heat);
like($expected, qr/^m_2001_01\|table\|slow\|\d+\|.*\|t$/m,
	'heat has content');
is($standby->safe_psql('app', $heat), $expected, 'heat shows the same');

# A standby does not take the time since the snapshot for idle time.
my $rates =
  'SELECT relation, hits_14d_per_hour, writes_per_hour FROM _tiered_storage.heat WHERE writes_per_hour > 0 ORDER BY relation::oid';
$expected = $standby->safe_psql('app', $rates);
like($expected, qr/^written\|/m, 'there are rates');
is($standby->safe_psql('app', $rates), $expected, 'which do not decay');
my $loads =
  'SELECT relation, random_reads_per_hour, sequential_reads_per_hour FROM tiered_storage.recommend_placement(true) ORDER BY relation::oid';
is( $standby->safe_psql(
		'app',
		"SET tiered_storage.test_now = '2099-01-01 00:00:00+00'; $loads"),
	$standby->safe_psql('app', $loads),
	'nor do those of the advice');
like(
	$standby->safe_psql('app', 'SELECT tiered_storage.report()'),
	qr/a standby.*This server is a standby.*<\/html>/s,
	'and so does the report, which knows where it is');

foreach my $query (
	'SELECT policy_id, relation, verdict, to_tier FROM _tiered_storage.evaluate_policies() ORDER BY relation',
	'SELECT tablespace_name, tablespace_oid, path_exists, writable, device FROM _tiered_storage.tablespace_devices() ORDER BY 1',
	'SELECT tier_name, tablespaces, relation_bytes, relations FROM _tiered_storage.tiers ORDER BY 1',
	"SET client_min_messages = warning; SELECT tier_name, is_current FROM _tiered_storage.explain_placement('m_2001_01') ORDER BY 1",
	'SELECT relation, kind, current_tier FROM tiered_storage.recommend_placement(true) ORDER BY relation::oid',
	'SELECT relation, state, effect FROM _tiered_storage.moves ORDER BY move_id',
	'SELECT * FROM _tiered_storage.move_batches',)
{
	my ($rc, $out, $err) = $standby->psql('app', $query);
	is( "$rc|$err|$out",
		'0||' . $primary->safe_psql('app', $query),
		"the same answer: $query");
}
like(
	notices_of(
		$standby, 'app', 'CALL tiered_storage.migrate(dry_run => true)'),
	qr/NOTICE:  00000: nothing is due; tiering policies: 1/,
	'a dry run of migrate() works');
my $batch = $primary->safe_psql('app',
	'SELECT max(batch_id) FROM _tiered_storage.move_batches');
like(
	notices_of(
		$standby, 'app',
		"CALL tiered_storage.undo_move($batch, dry_run => true)"),
	qr/NOTICE:  00000: dry run: relations that would be moved: \d+ /,
	'and one of undo_move()');
is($standby->safe_psql('app', 'SELECT _tiered_storage.notify_launcher()'),
	'', 'a notification is harmless');

# ---------------------------------------------------------------------
note 'Writing';
# ---------------------------------------------------------------------

foreach my $statement (
	'CALL tiered_storage.sample()',
	'CALL tiered_storage.migrate()',
	"CALL tiered_storage.move_relation('m_next', 'slow')")
{
	(my $name = $statement) =~ s/\(.*//;
	like(
		error_of($standby, 'app', $statement),
		qr/ERROR:  25006: cannot execute \Q$name\E during recovery/,
		"$statement says what is the matter");
}
foreach my $statement (
	"SELECT tiered_storage.add_tier('cold', '{pg_default}')",
	"SELECT tiered_storage.alter_tier('slow', rank => 7)",
	"SELECT tiered_storage.remove_tier('slow')",
	"SELECT tiered_storage.discover_tiers()",
	"SELECT tiered_storage.add_tiering_policy('measure', '1 day', 'slow')",
	"SELECT tiered_storage.remove_policy('measure')",
	"SELECT tiered_storage.pin('m_next')",
	"SELECT tiered_storage.unpin('m_next')",
	"SELECT tiered_storage.remove_standby('none')",)
{
	(my $name = $statement) =~ s/^SELECT (.*?)\(.*/$1/;
	like(
		error_of($standby, 'app', $statement),
		qr/ERROR:  25006: cannot execute \Q$name\E\(\) during recovery\n.*HINT:  Call it on the primary/s,
		"$statement says what is the matter");
}

# A pause is of a server: this one is for the time after the promotion.
like(
	notices_of($standby, 'app', 'SELECT tiered_storage.pause()'),
	qr/NOTICE:  00000: moves of this standby will be paused after its promotion\n.*HINT:  Call it on the primary/s,
	'pause() says that the primary moves on');
is($primary->safe_psql('app', 'SELECT _tiered_storage.is_paused()'),
	'f', 'which it does');
is($standby->safe_psql('app', $launchers),
	0, 'neither launcher nor worker runs there');
is( log_lines(
		$standby, 0,
		qr/(WARNING|FATAL|PANIC):|tiered_storage (launcher|worker)/),
	'',
	'nor has it tried to');

# ---------------------------------------------------------------------
note 'Promotion';
# ---------------------------------------------------------------------

create_partition($primary, 'app', 3);
$primary->wait_for_catchup($standby);
my $rows = fingerprint($primary, 'app', 'measure');
my $samples =
  $primary->safe_psql('app', 'SELECT samples FROM _tiered_storage.sampler');
my $since = sampled_since($primary, 'app');
my $changes =
  "SELECT COALESCE(sum(row_changes), 0), count(*) FILTER (WHERE row_changes < 0) FROM _tiered_storage.history_rows WHERE relation_oid IN ('m_2001_01'::regclass, 'm_next'::regclass)";
my $changed = $primary->safe_psql('app', $changes);
$primary->stop('immediate');
$standby->promote;
is( $standby->safe_psql(
		'app', q(
SELECT _tiered_storage.is_paused(), count(*) FILTER (WHERE state = 'done')
FROM _tiered_storage.moves WHERE relation ~ '^m_2001_03')
	),
	't|0',
	'what was paused on the standby is so after its promotion');
age_policies($standby, 'app');
$standby->safe_psql('app', 'SELECT tiered_storage.resume()');
ok( $standby->poll_query_until(
		'app',
		"SELECT count(*) = 3 FROM _tiered_storage.moves WHERE relation ~ '^m_2001_03' AND state = 'done'"
	),
	'the worker of the promoted server moves what is due');
is(tablespaces_of($standby, 'app', @moved, 'm_2001_03'),
	'slow', 'everything is in its place');
is(fingerprint($standby, 'app', 'measure'), $rows, 'with the same rows');
ok( $standby->poll_query_until(
		'app',
		"SELECT state = 'waiting' AND reason = 'until the next sample' AND last_error IS NULL FROM _tiered_storage.worker_status() WHERE database_name = 'app'"
	),
	'the view says that it works');
is( $standby->safe_psql(
		'app', "SELECT samples > $samples FROM _tiered_storage.sampler"),
	't',
	'it samples');
is(sampled_since($standby, 'app'),
	$since, 'and what the primary has learnt is not lost');

# The counters of the new primary are below those that the old one has left.
is($standby->safe_psql('app', $changes),
	$changed, 'its other counters are not taken for new activity');

$standby->stop;
done_testing();

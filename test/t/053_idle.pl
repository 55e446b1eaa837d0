# Policies by idleness: a reset, a crash and a failover make nothing look idle, a
# restart and a look from a standby change nothing.
#
# Made up in the tables, since no call makes it in the time of a test: rates, and
# history of days and weeks.

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
max_prepared_transactions = 2
tiered_storage.sample_interval = '1h'
tiered_storage.auto_migrate = off
));
$primary->start;
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

my $node = $primary;

sub verdict
{
	return $node->safe_psql('postgres',
		'SELECT verdict FROM _tiered_storage.evaluate_policies()');
}

# As if it had been observed for ten days, and used for the last time nine days ago.
sub observe_for_long
{
	$node->safe_psql('postgres', 'CALL tiered_storage.sample()');
	$node->safe_psql(
		'postgres', q(
UPDATE _tiered_storage.relation_state SET sampled_since = now() - '10 days'::interval,
	proven_since = now() - '10 days'::interval, rewritten_at = NULL,
	last_read_at = now() - '9 days'::interval, last_written_at = now() - '9 days'::interval;
UPDATE _tiered_storage.sampler SET counts_since = now() - '10 days'::interval;
));
	return verdict();
}

create_in_place_tablespace($primary, 'slow');
$primary->safe_psql(
	'postgres', q(
CREATE EXTENSION IF NOT EXISTS tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
CREATE TABLE t (a int) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT generate_series(1, 1000);
SELECT tiered_storage.add_tiering_policy('t', tier => 'slow', idle_for => '1 day');
));
is(verdict(), 'in use', 'it has just been filled');
is(observe_for_long(), 'due', 'idle for long');

$node->restart;
is(verdict(), 'due', 'a restart keeps what was counted');

$node->safe_psql('postgres', 'SELECT pg_stat_reset()');
is(verdict(), 'not observed', 'a reset of the statistics');
is(observe_for_long(), 'due', 'idle for long again');

$node->safe_psql('postgres',
	"SELECT pg_stat_reset_single_table_counters('t'::regclass)");
is(verdict(), 'not observed', 'a reset of one table');
observe_for_long();

$node->safe_psql('postgres', 'SELECT count(*) FROM t');
is(verdict(), 'in use', 'read since the last sample');
is(observe_for_long(), 'due', 'idle for long again');

$node->stop('immediate');
$node->start;
is(verdict(), 'not observed', 'a crash');
is(observe_for_long(), 'due', 'idle for long again');

# What is counted at its end is in use until then.
$node->safe_psql('postgres',
	"BEGIN; LOCK TABLE t IN ACCESS SHARE MODE; PREPARE TRANSACTION 'held'");
is( $node->safe_psql(
		'postgres',
		q(SELECT verdict, reason ~ 'a transaction has it locked'
		FROM _tiered_storage.evaluate_policies())
	),
	'in use|t',
	'a transaction that may be using it');
$node->safe_psql('postgres', "ROLLBACK PREPARED 'held'");
is(verdict(), 'due', 'when it has ended');

# What a procedure has used before it has committed is neither locked nor counted.
sub reason_is
{
	my ($verdict, $pattern, $name) = @_;
	ok( $node->poll_query_until(
			'postgres',
			"SELECT verdict = '$verdict' AND reason ~ '$pattern' FROM _tiered_storage.evaluate_policies()"
		),
		$name);
	return;
}
$node->safe_psql(
	'postgres', q(
CREATE TABLE stop (a int);
CREATE PROCEDURE use_and_commit() LANGUAGE plpgsql AS $$
BEGIN
	PERFORM count(*) FROM t;
	COMMIT;
	WHILE NOT EXISTS (SELECT FROM stop) LOOP
		PERFORM pg_sleep(0.01);
		COMMIT;
	END LOOP;
END $$;
));
for my $sql (
	'CALL use_and_commit()',
	"BEGIN; SELECT count(*) FROM t; COMMIT; DO \$\$ BEGIN WHILE NOT EXISTS (SELECT FROM stop) LOOP PERFORM pg_sleep(0.01); END LOOP; END \$\$"
  )
{
	my $busy = start_sql($node, 'postgres', $sql);
	reason_is('in use', 'a statement that commits has been running',
		"in use: $sql");
	$node->safe_psql('postgres', 'CALL tiered_storage.migrate()');
	is( $node->safe_psql(
			'postgres',
			"SELECT reltablespace FROM pg_class WHERE relname = 't'"),
		'0',
		'it is not moved');
	$node->safe_psql('postgres', 'INSERT INTO stop VALUES (1)');
	finish_sql($busy);
	is(verdict(), 'in use', 'when it has ended, its use is counted');
	is(observe_for_long(), 'due', 'idle for long again');
	$node->safe_psql('postgres', 'TRUNCATE stop');
}

# What some role does is not counted.
$node->safe_psql('postgres',
	'CREATE ROLE app LOGIN; ALTER ROLE app SET track_counts = off');
reason_is(
	'not observed',
	'activity of role "app" is not counted',
	'a role that does not count');
$node->safe_psql('postgres',
	'ALTER ROLE app IN DATABASE postgres SET track_counts = on');
is(verdict(), 'due', 'it counts in this database');
$node->safe_psql('postgres', 'ALTER ROLE app RESET track_counts');
$node->safe_psql('postgres',
	'ALTER ROLE ALL IN DATABASE postgres SET track_counts = off');
$node->safe_psql('postgres',
	'ALTER ROLE CURRENT_USER IN DATABASE postgres SET track_counts = on');
reason_is(
	'not observed',
	'activity of any role is not counted',
	'nobody counts');
$node->safe_psql('postgres', 'CALL tiered_storage.sample()');
$node->safe_psql('postgres',
	'ALTER ROLE ALL IN DATABASE postgres RESET track_counts');
is(verdict(), 'not observed', 'and a sample knows that later');
is(observe_for_long(), 'due', 'idle for long again');
$node->safe_psql('postgres',
	'SET track_counts = off; SELECT count(*) FROM t');
is(verdict(), 'not observed', 'a session that does not count');
$node->safe_psql('postgres', 'CALL tiered_storage.sample()');
is(verdict(), 'not observed', 'and a sample knows that later');
is(observe_for_long(), 'due', 'idle for long again');

$primary->safe_psql(
	'postgres', q(
CREATE TABLE u AS SELECT generate_series(1, 40000);
CALL tiered_storage.sample();
UPDATE _tiered_storage.relation_state SET last_read_at = now(), sampled_since = now() - interval '10 days' WHERE relation_oid = 'u'::regclass;
SELECT _tiered_storage.take_snapshot(now(), 1e9);
));
$primary->wait_for_catchup($standby);
$node = $standby;
is(verdict(), 'due', 'a standby says what the primary knows');
foreach my $unused ([ '0 s', 1 ], [ '1 hour', 0 ])
{
	is( $standby->safe_psql(
			'postgres',
			"SET tiered_storage.test_now = '2100-01-01 00:00:00+00'; SELECT count(*) FROM tiered_storage.unused_relations('$unused->[0]') WHERE relation = 'u'::regclass"
		),
		$unused->[1],
		"but not that nothing was read after that: $unused->[0]");
}
$primary->stop;
$standby->promote;
$standby->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()')
  or die 'the standby was not promoted';
is(verdict(), 'not observed', 'a promotion');
$standby->safe_psql('postgres', 'CALL tiered_storage.sample()');
is(verdict(), 'not observed', 'and a sample of the new primary');
is(observe_for_long(), 'due', 'idle for long again');
$standby->safe_psql('postgres', 'CALL tiered_storage.migrate()');
is( $standby->safe_psql(
		'postgres',
		"SELECT spcname FROM pg_class c JOIN pg_tablespace s ON s.oid = reltablespace WHERE relname = 't'"
	),
	'slow',
	'then it is moved');
is(verdict(), 'on target', 'and was not used by that');

# Returns count as moves by advice do.
create_in_place_tablespace($standby, 'quick');
$standby->safe_psql(
	'postgres', q(
ALTER SYSTEM SET tiered_storage.cooldown = 0;
ALTER SYSTEM SET tiered_storage.move_limit_per_day = 0;
SELECT tiered_storage.add_tier('quick', '{quick}', profile => 'nvme', rank => 0, reserve_fraction => 0);
SELECT tiered_storage.alter_policy('t', changes => jsonb_build_object('return_when_reads_per_hour', 100, 'return_after', '1 hour', 'return_tier', 'quick'));
INSERT INTO _tiered_storage.relation_history (period_start, relation_oid, period_s, scans, random_reads, sequential_reads, hits, row_changes)
	SELECT date_trunc('hour', now()) - h * interval '1 hour', 't'::regclass, 3600, 1, 1000, 0, 0, 0 FROM generate_series(0, 3) h
	ON CONFLICT (period_start, relation_oid) DO UPDATE SET random_reads = 1000;
UPDATE _tiered_storage.relation_state SET random_fast = 1000, random_slow = 1000, heat_at = now(), last_read_at = now() WHERE relation_oid = 't'::regclass;
));
$standby->reload;
$standby->poll_query_until('postgres',
	q(SELECT current_setting('tiered_storage.move_limit_per_day') = '0'))
  or die 'the limit is not there';
is(verdict(), 'returns', 'read again');
my ($status, $out, $err) =
  $standby->psql('postgres', 'CALL tiered_storage.migrate()');
like($err, qr/t does not return today/, 'nothing is left of the limit');
is(verdict(), 'returns', 'so it stays');
$standby->safe_psql('postgres',
	q(ALTER SYSTEM SET tiered_storage.move_limit_per_day = '1MB'));
$standby->reload;
$standby->poll_query_until('postgres',
	q(SELECT current_setting('tiered_storage.move_limit_per_day') = '1MB'))
  or die 'the limit is not there';
$standby->safe_psql('postgres', 'CALL tiered_storage.migrate()');
is( $standby->safe_psql(
		'postgres',
		q(SELECT spcname FROM pg_class c JOIN pg_tablespace s ON s.oid = reltablespace WHERE relname = 't')
	),
	'quick',
	'within the limit it returns');
is( $standby->safe_psql(
		'postgres',
		'SELECT count(*) FROM _tiered_storage.move m'
		  . q( WHERE to_tier = 'quick' AND policy_id IS NOT NULL)),
	1,
	'by the policy');
$standby->stop;

done_testing();

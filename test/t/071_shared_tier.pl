# Two databases and one tier that is too small for both: the advice of each, and the worker that
# follows it, take what is free and never what the other one has.
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

# Each database would have some 600,000 of these bytes.
my $capacity = 1_000_000;
my $node = new_node(
	'main',
	conf => q(
restart_after_crash = on
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = '1s'
tiered_storage.auto_migrate = off
tiered_storage.cooldown = 0
tiered_storage.test_page_cache = off
tiered_storage.move_lock_timeout = '60s'
));
$node->start;
create_in_place_tablespace($node, 'fast', 'slow');

my $define =
  "add_tier('fast', '{fast}', profile => 'nvme', rank => 0, reserve_fraction => 0, device => jsonb_build_object('capacity_bytes', $capacity, 'compressed', false))";
my %place = (warm => 'fast', hot => 'slow');

foreach my $db (qw(warm hot))
{
	$node->safe_psql('postgres', "CREATE DATABASE $db");
	$node->safe_psql(
		$db, qq(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.$define;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, device => jsonb_build_object('compressed', false));
CREATE TABLE one (a text) TABLESPACE $place{$db};
ALTER TABLE one ALTER a SET STORAGE PLAIN;
INSERT INTO one SELECT repeat(md5(i::text), 200) FROM generate_series(1, 32) i;
CREATE TABLE two (LIKE one INCLUDING STORAGE) TABLESPACE $place{$db};
INSERT INTO two TABLE one;

-- As if they had been watched for a month.
CREATE PROCEDURE heat(relation regclass, reads float8) LANGUAGE sql AS \$\$
	UPDATE _tiered_storage.relation_state SET heat_at = now(),
		evidence_began_at = now() - interval '7 days', evidence_interval_s = 38400,
		evidence_reads = decode(repeat('0000803f', 16), 'hex'), evidence_writes = decode(repeat('0000803f', 16), 'hex'),
		proven_since = now() - interval '30 days', observed_since = now() - interval '1 year',
		sampled_since = now() - interval '30 days',
		random_fast = reads, device_random_fast = reads, sequential_fast = 0, device_sequential_fast = 0,
		random_slow = reads, device_random_slow = reads, sequential_slow = 0, device_sequential_slow = 0,
		sequential_low_slow = 0, sequential_high_slow = 0
	WHERE relation_oid = relation
\$\$;
CALL tiered_storage.sample();
));
}

sub heat
{
	my ($db, $one, $two) = @_;

	$node->safe_psql($db,
		"BEGIN; LOCK TABLE _tiered_storage.sampler IN SHARE UPDATE EXCLUSIVE MODE; CALL heat('one', $one); CALL heat('two', $two); COMMIT"
	);
	return;
}

sub places
{
	my ($db) = @_;

	return $node->safe_psql($db,
		q(SELECT string_agg(relname || ' ' || spcname, ', ' ORDER BY relname) FROM pg_class c JOIN pg_tablespace s ON s.oid = reltablespace WHERE relname IN ('one', 'two'))
	);
}

sub settle_with
{
	my (%settings) = @_;

	reload_with($node, %settings);
	foreach (sort keys %settings)
	{
		$node->poll_query_until('postgres',
			"SELECT current_setting('$_') = '$settings{$_}'")
		  or die "$_ did not become $settings{$_}";
	}
	return;
}

sub moves
{
	my ($db) = @_;

	return $node->safe_psql($db,
		'SELECT count(*) FROM _tiered_storage.moves');
}

sub wait_places
{
	my ($db, $expected, $name) = @_;

	$node->poll_query_until(
		$db,
		q(SELECT string_agg(relname || ' ' || spcname, ', ' ORDER BY relname) FROM pg_class c JOIN pg_tablespace s ON s.oid = reltablespace WHERE relname IN ('one', 'two')),
		$expected);
	is(places($db), $expected, $name);
	return;
}

# Nothing moves any more, however often it is looked at.
sub rests
{
	my ($name) = @_;
	my $before = moves('warm') . '|' . moves('hot');

	for (1 .. 4)
	{
		run_cycle($node, $_) foreach qw(warm hot);
	}
	is(moves('warm') . '|' . moves('hot'), $before, $name);
	return;
}

sub used
{
	my ($oid) = $node->safe_psql('postgres',
		"SELECT oid FROM pg_tablespace WHERE spcname = 'fast'");
	my $bytes = 0;

	foreach (glob($node->data_dir . "/pg_tblspc/$oid/PG_*/*/*"))
	{
		my $size = -s $_;

		$bytes += $size // 0;
	}
	return $bytes;
}

# ---------------------------------------------------------------------
note 'Room for one of them';
# ---------------------------------------------------------------------

# What another database has on the tier is not ours, however hot we are.
heat('warm', 2000, 1000);
heat('hot', 9000, 2000);
is( $node->safe_psql(
		'hot',
		"SELECT relation, confidence, recommended_tier FROM tiered_storage.recommend_placement()"
	),
	'one|firm|fast',
	'the advice goes as far as there is room now');
is( $node->safe_psql(
		'hot',
		"SELECT limited_by, available_bytes < $capacity - 500000 FROM _tiered_storage.placement_summary() WHERE tier_name = 'fast'"
	),
	'capacity|t',
	'which is said');
is( $node->safe_psql(
		'warm', 'SELECT count(*) FROM tiered_storage.recommend_placement()'),
	'0',
	'nothing has to give way');

# ---------------------------------------------------------------------
note 'The workers of both';
# ---------------------------------------------------------------------

settle_with('tiered_storage.auto_migrate' => 'placement');
run_cycle($node, $_) foreach qw(warm hot);
wait_places('hot', 'one fast, two slow', 'the worker moves what has room');
is(places('warm'), 'one fast, two fast', 'and the other one stays');
cmp_ok(used(), '<=', $capacity, 'together not more than there is');
rests('nothing moves to and fro');
cmp_ok(used(), '<=', $capacity, 'nor do both fill it later');

# Both want the room that is left by a third table, at the same time.
$node->safe_psql('warm',
	'CREATE TABLE three (LIKE one INCLUDING STORAGE) TABLESPACE slow; INSERT INTO three TABLE one; CALL tiered_storage.sample()'
);
$node->safe_psql('warm',
	"BEGIN; LOCK TABLE _tiered_storage.sampler IN SHARE UPDATE EXCLUSIVE MODE; CALL heat('three', 9500); COMMIT"
);
run_cycle($node, $_) foreach qw(warm hot warm hot);
cmp_ok(used(), '<=', $capacity, 'nor when both want what is left');

# ---------------------------------------------------------------------
note 'Gone';
# ---------------------------------------------------------------------

$node->safe_psql('postgres', 'DROP DATABASE warm WITH (FORCE)');
run_cycle($node, 'hot');
wait_places(
	'hot',
	'one fast, two fast',
	'what a dropped database had is free again');

$node->stop;
is(log_lines($node, 0, qr/PANIC|TRAP/), '', 'no panic');
done_testing();

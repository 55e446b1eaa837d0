# Two databases and one tier that is too small for both: who saves most by it has it, whoever came
# first.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

# Of 1,000,000 bytes 950,000 are shared out; each database would have some 600,000.
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
  "add_tier('fast', '{fast}', profile => 'nvme', rank => 0, capacity_bytes => $capacity, reserve_fraction => 0, compressed => false)";
my %place = (warm => 'fast', hot => 'slow');

foreach my $db (qw(warm hot))
{
	$node->safe_psql('postgres', "CREATE DATABASE $db");
	$node->safe_psql(
		$db, qq(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM tiered_storage.tiers;
SELECT tiered_storage.$define;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, compressed => false);
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

# What a query on the view says of the fast tier, asked in $db.
sub shared
{
	my ($db, $columns) = @_;

	return $node->safe_psql($db,
		"SELECT string_agg(concat_ws(' ', database_name, $columns), ', ' ORDER BY database_name) FROM tiered_storage.cluster_tiers WHERE tier_name = 'fast'"
	);
}

sub moves
{
	my ($db) = @_;

	return $node->safe_psql($db, 'SELECT count(*) FROM tiered_storage.moves');
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
note 'Room for all';
# ---------------------------------------------------------------------

# The other one is idle.
heat('warm', 2000, 1000);
run_cycle($node, $_) foreach qw(hot warm);
is( shared(
		'warm', 'state, clearing_s_per_gb = 0, share_bytes = wanted_bytes'),
	'hot published t t, warm published t t',
	'each gets what it wants');
is( $node->safe_psql(
		'warm', 'SELECT count(*) FROM tiered_storage.recommend_placement()'),
	'0',
	'and nothing is advised');

# ---------------------------------------------------------------------
note 'By price';
# ---------------------------------------------------------------------

heat('hot', 9000, 8000);
run_cycle($node, 'hot');
foreach my $db (qw(warm hot))
{
	is( shared(
			$db,
			"state, used_bytes > 0, share_bytes = wanted_bytes, clearing_s_per_gb > 0, disagreement, command"
		),
		'hot published f t t, warm published t f t',
		"$db: who is hot gets all that it wants");
	is( $node->safe_psql(
			$db,
			"SELECT sum(share_bytes) <= $capacity AND sum(share_bytes) > 0.8 * $capacity FROM tiered_storage.cluster_tiers WHERE tier_name = 'fast'"
		),
		't',
		"$db: together not more than there is");
}
unlike($node->safe_psql('hot', 'SELECT * FROM tiered_storage.cluster_tiers'),
	qr/\b(one|two)\b/, 'no relation is named');
is( $node->safe_psql(
		'warm',
		"SELECT relation, confidence, recommended_tier FROM tiered_storage.recommend_placement()"
	),
	'two|firm|slow',
	'what is worth least gives way');
is( $node->safe_psql(
		'warm',
		"SELECT limited_by FROM tiered_storage.placement_summary() WHERE tier_name = 'fast'"
	),
	'share',
	'which is said');
like(
	$node->safe_psql(
		'warm',
		"SELECT reason FROM tiered_storage.placement_summary() WHERE tier_name = 'fast'"
	),
	qr/^is shared with databases that save more by it: \d+ kB of \d+ kB are more than the share of this one$/,
	'with the numbers');
is( $node->safe_psql(
		'hot',
		"SELECT relation, recommended_tier FROM tiered_storage.recommend_placement()"
	),
	'one|fast',
	'the other goes as far as there is room now');

# ---------------------------------------------------------------------
note 'What cannot come, and what is only pinned';
# ---------------------------------------------------------------------

my $shares = shared('warm', 'share_bytes');
$node->safe_psql(
	'hot', q(
CREATE TABLE big (LIKE one INCLUDING STORAGE) TABLESPACE slow;
INSERT INTO big SELECT a FROM one, generate_series(1, 5);
CREATE TABLE idle (LIKE one INCLUDING STORAGE) TABLESPACE slow;
INSERT INTO idle TABLE one;
CALL tiered_storage.sample();
BEGIN;
LOCK TABLE _tiered_storage.sampler IN SHARE UPDATE EXCLUSIVE MODE;
CALL heat('big', 90000);
CALL heat('idle', 0);
COMMIT;
));
run_cycle($node, 'hot');
is(shared('warm', 'share_bytes'),
	$shares, 'who is larger than the tier makes nobody leave it');
$node->safe_psql('hot',
	"SELECT tiered_storage.pin(t, 'fast') FROM unnest('{big,idle}'::regclass[]) t"
);
run_cycle($node, 'hot');
is(shared('warm', 'share_bytes'),
	$shares, 'nor does a pin of another database');
$node->safe_psql('hot',
	"SELECT tiered_storage.unpin(t) FROM unnest('{big,idle}'::regclass[]) t; DROP TABLE big, idle; CALL tiered_storage.sample()"
);
run_cycle($node, 'hot');

settle_with(
	'tiered_storage.auto_migrate' => 'placement',
	'tiered_storage.sample_interval' => '1s');
wait_places('hot', 'one fast, two fast', 'the hot one gets it');
wait_places('warm', 'one fast, two slow', 'and the other what is left');
cmp_ok(used(), '<=', $capacity, 'the tier is not overfull');
rests('it stays like that');

# ---------------------------------------------------------------------
note 'The other way round';
# ---------------------------------------------------------------------

heat('hot', 1000, 2000);
heat('warm', 9000, 8000);
wait_places(
	'warm',
	'one fast, two fast',
	'what has become hotter gets it back');
wait_places('hot', 'one slow, two fast', 'from who was there first');
cmp_ok(used(), '<=', $capacity, 'the tier is not overfull');
rests('it stays like that, too');

# ---------------------------------------------------------------------
note 'Silent, and gone';
# ---------------------------------------------------------------------

$node->safe_psql('postgres', 'ALTER DATABASE warm ALLOW_CONNECTIONS false');
run_cycle($node, 'hot');
$node->poll_query_until('hot',
	"SELECT state = 'not published' FROM tiered_storage.cluster_tiers WHERE database_name = 'warm' AND tier_name = 'fast'"
) or die 'the launcher has not noticed';
run_cycle($node, 'hot');
is( $node->safe_psql(
		'hot',
		"SELECT state, used_bytes > 500000, share_bytes, wishes FROM tiered_storage.cluster_tiers WHERE database_name = 'warm' AND tier_name = 'fast'"
	),
	'not published|t||',
	'who says nothing keeps what it has');
is(places('hot'), 'one slow, two fast', 'nobody else gets it');

# ---------------------------------------------------------------------
note 'Crash';
# ---------------------------------------------------------------------

$node->safe_psql('postgres', 'ALTER DATABASE warm ALLOW_CONNECTIONS true');
run_cycle($node, 'hot');
$node->poll_query_until('hot',
	"SELECT count(*) = 2 FROM tiered_storage.cluster_tiers WHERE tier_name = 'fast' AND state = 'published'"
) or die 'it does not publish again';
my $victim = start_sql($node, 'postgres', 'SELECT pg_sleep(600)');
$node->poll_query_until('postgres',
	"SELECT count(*) = 1 FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)' AND state = 'active'"
);
my $pid = $node->safe_psql('postgres',
	"SELECT pid FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)'");
kill 'KILL', $pid;
finish_sql($victim);
$node->poll_query_until('postgres', 'SELECT true')
  or die 'the server did not come back';
$node->poll_query_until('hot',
	"SELECT count(*) = 2 FROM tiered_storage.cluster_tiers WHERE tier_name = 'fast' AND state = 'published'"
);
like(
	shared('hot', 'state, clearing_s_per_gb > 0'),
	qr/^hot published t, warm published t$/,
	'after a crash all is said again');
rests('and nothing moves');

# ---------------------------------------------------------------------
note 'Disagreement';
# ---------------------------------------------------------------------

$node->safe_psql('warm',
	"SELECT tiered_storage.alter_tier('fast', capacity_bytes => 2000000, rank => 3, reserve_fraction => 0.25, high_watermark => 0.7, low_watermark => 0.6)"
);
run_cycle($node, 'warm');
is( $node->safe_psql(
		'hot',
		"SELECT database_name, disagreement, command FROM tiered_storage.cluster_tiers WHERE command IS NOT NULL"
	),
	"warm|rank is 3 there, 0 here; capacity is 1953 kB there, 977 kB here; reserve_fraction is 0.25 there, 0 here; low_watermark is 0.6 there, 0.8 here; high_watermark is 0.7 there, 0.9 here|SELECT tiered_storage.alter_tier('fast', rank => 0, capacity_bytes => 1000000, reserve_fraction => 0, low_watermark => 0.8, high_watermark => 0.9)",
	'other figures, with what ends it');
cmp_ok(used(), '<=', $capacity, 'and the least capacity counts');
$node->safe_psql(
	'warm',
	$node->safe_psql(
		'hot',
		'SELECT command FROM tiered_storage.cluster_tiers WHERE command IS NOT NULL'
	));
run_cycle($node, 'warm');
is( $node->safe_psql(
		'hot',
		"SELECT count(*) FROM tiered_storage.cluster_tiers WHERE disagreement IS NOT NULL"
	),
	'0',
	'it does');
$node->safe_psql('warm',
	"SELECT tiered_storage.alter_tier('fast', tablespaces => '{fast,pg_default}')"
);
$node->safe_psql('warm',
	"SELECT tiered_storage.alter_tier('fast', new_name => 'quick \"one\"')");
run_cycle($node, 'warm');
is( $node->safe_psql(
		'hot',
		"SELECT database_name, disagreement, command, share_bytes FROM tiered_storage.cluster_tiers WHERE command IS NOT NULL"
	),
	"warm|is called \"fast\" here; tablespaces are {pg_default,fast} there, {fast} here|SELECT tiered_storage.alter_tier('quick \"one\"', new_name => 'fast', tablespaces => '{fast}')|",
	'another name and another tablespace: then nothing is shared');
$node->safe_psql(
	'warm',
	$node->safe_psql(
		'hot',
		'SELECT command FROM tiered_storage.cluster_tiers WHERE command IS NOT NULL'
	));
run_cycle($node, 'warm');
is( $node->safe_psql(
		'hot',
		"SELECT count(*) FROM tiered_storage.cluster_tiers WHERE disagreement IS NOT NULL"
	),
	'0',
	'settled');

# ---------------------------------------------------------------------
note 'Gone';
# ---------------------------------------------------------------------

is(places('hot'), 'one slow, two fast', 'until now it had no room');
$node->safe_psql('postgres', 'DROP DATABASE warm WITH (FORCE)');
is(shared('hot', 'share_bytes = wanted_bytes'),
	'hot t', 'a database that was dropped wants nothing');
wait_places('hot', 'one fast, two fast', 'its share is free again');

$node->stop;
is(log_lines($node, 0, qr/PANIC|TRAP|could not publish/), '', 'no panic');
done_testing();

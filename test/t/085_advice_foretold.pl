# With auto_migrate = placement: what the queue and a dry run say of what is advised is what a run
# does, and why the rest waits.
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

# The worker decides on nothing before it is asked to.
my $node = new_node(
	'main',
	conf => q(
tiered_storage.auto_migrate = placement
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = '1d'
tiered_storage.move_limit_per_day = '100GB'
tiered_storage.cooldown = 0
max_wal_size = '4GB'
));
$node->start;
create_in_place_tablespace($node, $_) for qw(fast slow);
$node->safe_psql(
	'postgres', q(
CREATE EXTENSION IF NOT EXISTS tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', rank => 0, reserve_fraction => 0, device => jsonb_build_object('compressed', false)),
	tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, device => jsonb_build_object('compressed', false));
));

sub create_table
{
	my ($name, $rows, $tablespace) = @_;

	$node->safe_psql(
		'postgres', qq(
CREATE TABLE $name (a text) WITH (autovacuum_enabled = off) TABLESPACE $tablespace;
INSERT INTO $name SELECT repeat('x', 500) FROM generate_series(1, $rows);
));
	return;
}

sub seem_hot_now
{
	my (%reads) = @_;

	$node->safe_psql('postgres',
		'SELECT pg_stat_force_next_flush(); CALL tiered_storage.sample(); DELETE FROM _tiered_storage.move'
	);
	seem_hot($node, 'postgres', %reads);
	return;
}

sub capacity
{
	my ($tier, $bytes) = @_;

	$node->safe_psql('postgres',
		"SELECT tiered_storage.alter_tier('$tier', high_watermark => 1, low_watermark => 0.99, device => jsonb_build_object('capacity_bytes', $bytes))"
	);
	return;
}

sub limit
{
	my ($size) = @_;

	reload_with($node, 'tiered_storage.move_limit_per_day' => $size);
	$node->poll_query_until('postgres',
		"SELECT pg_size_bytes(current_setting('tiered_storage.move_limit_per_day')) = pg_size_bytes('$size')"
	) or die 'the limit is not set';
	return;
}

# Without when the worker comes.
sub queue
{
	return $node->safe_psql('postgres',
		"SELECT relation, state, regexp_replace(reason, '^(the worker plans|next attempt).*', '') FROM _tiered_storage.plan_moves() ORDER BY place"
	);
}

sub moves
{
	return $node->safe_psql('postgres',
		'SELECT relation, state FROM _tiered_storage.moves ORDER BY move_id');
}

my ($dry_run, $run) = (
	'CALL tiered_storage.migrate(dry_run => true)',
	'CALL tiered_storage.migrate()');

# ---------------------------------------------------------------------
note 'What needs room that others make';
# ---------------------------------------------------------------------

create_table('hot', 800, 'slow');
create_table('cold', 1600, 'fast');
capacity('fast', 1200000);
capacity('slow', 100000000);
seem_hot_now(hot => 20000);
is(queue(), "cold|ready|\nhot|ready|", 'both go, one after the other');

# A window that is too small for what has to leave first.
$node->safe_psql('postgres',
	"SELECT tiered_storage.add_move_window('small', NULL, '00:00', '24:00', 'UTC', max_bytes => 600000)"
);
my $too_large = 'its 888 kB are more than may be moved in any window';
my $for_room =
  qr/waiting: tier "fast" is full: \d+ kB are needed, \d+ kB of the usable \d+ kB are in use/;
like(
	queue(),
	qr/^cold\|waiting\|waiting: $too_large\nhot\|waiting\|$for_room$/,
	'the one waits for the other');
my $says = notices_of($node, 'postgres', $dry_run);
like(
	$says,
	qr/would move table public\.hot .* \($for_room\): /,
	'a dry run says so');
unlike($says, qr/would not move/, 'and not that anything would fail');
$says = notices_of($node, 'postgres', $run);
like($says, qr/2 relations are not moved now/, 'the run waits with both');
is(moves(), '', 'and tries neither');

# When that has left, by hand.
$node->safe_psql('postgres', 'ALTER TABLE cold SET TABLESPACE slow');
seem_hot_now(hot => 20000);
is(queue(), 'hot|ready|', 'what has room waits for nothing');
$node->safe_psql('postgres',
	"ALTER TABLE cold SET TABLESPACE fast; SELECT tiered_storage.remove_move_window('small')"
);

# ---------------------------------------------------------------------
note 'Room and limits';
# ---------------------------------------------------------------------

# Neither tier has room for what the other one has.
seem_hot_now(hot => 20000);
capacity('slow', 1000000);
my $no_room = 'waiting: its new tier lacks room';
like(
	queue(),
	qr/^hot\|waiting\|$no_room.*\ncold\|waiting\|$no_room.*$/,
	'the queue does not take want of room for a limit');
foreach my $sql ($dry_run, $run)
{
	$says = notices_of($node, 'postgres', $sql);
	like(
		$says,
		qr/public\.hot is not moved: $no_room/,
		'nor does who says what is moved');
	unlike($says, qr/limit/, 'whatever the limit is');
}

# Of 1 MB the first takes 672 kB.
$node->safe_psql(
	'postgres', q(
DROP TABLE hot, cold;
SELECT tiered_storage.alter_tier(t, device => jsonb_build_object('capacity_bytes', NULL)) FROM unnest('{fast,slow}'::name[]) t;
));
limit('1MB');
create_table('a', 1200, 'slow');
create_table('b', 1200, 'slow');
seem_hot_now(a => 20000, b => 10000);
is( queue(),
	"a|ready|\nb|waiting|waiting: move_limit_per_day (1024 kB) has 352 kB left today",
	'what comes before is taken off the limit');

# ---------------------------------------------------------------------
note 'What returns, and is advised as well';
# ---------------------------------------------------------------------

$node->safe_psql(
	'postgres', q(
DROP TABLE a, b;
DELETE FROM _tiered_storage.move;
CREATE TABLE r (k int, t text) PARTITION BY LIST (k);
CREATE TABLE r_1 PARTITION OF r FOR VALUES IN (1) WITH (autovacuum_enabled = off) TABLESPACE slow;
INSERT INTO r SELECT 1, repeat('x', 500) FROM generate_series(1, 700);
));
create_table('o', 700, 'slow');
seem_hot_now(r_1 => 1000, o => 900);
$node->safe_psql(
	'postgres', q(
SELECT tiered_storage.add_tiering_policy('r', tier => 'slow', idle_for => '7 days', options => jsonb_build_object('return_when_reads_per_hour', 100, 'return_tier', 'fast'));
UPDATE _tiered_storage.relation_state SET last_read_at = now() - interval '1 minute' WHERE relation_oid = 'r_1'::regclass;
INSERT INTO _tiered_storage.relation_history (period_start, relation_oid, period_s, scans, random_reads, sequential_reads, hits, row_changes)
	SELECT now() - h * interval '1 hour', 'r_1'::regclass, 3600, 1, 1000, 0, 0, 0 FROM generate_series(1, 80) h;
));
is( $node->safe_psql(
		'postgres',
		'SELECT relation, cause FROM _tiered_storage.plan_moves() ORDER BY place'
	),
	"r_1|return\no|advice",
	'it is listed once');
is(queue(), "r_1|ready|\no|ready|", 'the limit has room for both');
$says = notices_of($node, 'postgres', $dry_run);
like(
	$says,
	qr/would move table public\.r_1.*would move table public\.o /s,
	'a dry run says so, too');
unlike($says, qr/limit/, 'and of no limit');
notices_of($node, 'postgres', $run);
is(moves(), "r_1|done\no|done", 'both are moved');

# ---------------------------------------------------------------------
note 'Pressure is no window';
# ---------------------------------------------------------------------

$node->safe_psql(
	'postgres', q(
SELECT tiered_storage.remove_policy('r');
ALTER TABLE o SET TABLESPACE slow;
));
seem_hot_now(o => 900);
reload_with($node, 'tiered_storage.move_max_lag' => '1MB');
$node->poll_query_until('postgres',
	"SELECT current_setting('tiered_storage.move_max_lag') = '1MB'")
  or die 'move_max_lag is not set';
$node->safe_psql('postgres',
	"SELECT pg_create_physical_replication_slot('lag', true)");
create_table('fill', 10000, 'slow');
$says = notices_of($node, 'postgres', $run);
like(
	$says,
	qr/no recommendation is applied now\nDETAIL:  Waiting: replication slot "lag" keeps/,
	'it says what it waits for');
unlike(
	$says,
	qr/window.* (is|are) (open|closed)/,
	'which is no window, where there is none');

# ---------------------------------------------------------------------
note 'What failed lately';
# ---------------------------------------------------------------------

# Last, as the worker is let loose.
$node->safe_psql(
	'postgres', q(
DROP TABLE o, r, fill;
SELECT pg_drop_replication_slot('lag');
));
create_table('a', 1200, 'slow');
create_table('b', 1200, 'slow');
seem_hot_now(a => 20000, b => 10000);
$node->safe_psql(
	'postgres', q(
INSERT INTO _tiered_storage.move (relation_oid, relation_name, kind, from_tablespace, to_tablespace, state, requested_by, reason, method, size_bytes, started_at, finished_at, failures, next_attempt_at, error, sqlstate)
	VALUES ('a'::regclass, 'public.a', 'table', 'slow', 'fast', 'skipped', 'x', 'x', 'online', 0, now(), now(), 3, now() + interval '1 hour', 'others use it', '55P03');
));
is(queue(), "b|ready|\na|failed|", 'it takes nothing of the limit');
reload_with(
	$node,
	'tiered_storage.sample_interval' => '1s',
	'tiered_storage.migrate_interval' => '1s');
$node->poll_query_until('postgres',
	"SELECT EXISTS (SELECT FROM _tiered_storage.moves WHERE relation = 'b' AND state = 'done')"
) or die 'it is not moved';
is(moves(), "a|skipped\nb|done", 'as in the run');

$node->stop;
done_testing();

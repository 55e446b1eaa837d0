# A tier that is too full does not wait for the end of all that is due, nor for the next regular run.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

plan skip_all => 'no debug build of the library'
  unless $ENV{TIER_DEBUG_LIBDIR};

my $node = new_node(
	'main', conf => q(
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = '1h'
tiered_storage.cooldown = 0
));
$node->start;
create_in_place_tablespace($node, 'fast', 'slow', 'cheap');
create_databases($node, 'app');

# Three partitions are due to leave "slow".  On "fast" there is one table that may leave it.
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', reserve_fraction => 0, high_watermark => 0.5, low_watermark => 0.45, device => jsonb_build_object('capacity_bytes', 10000000)),
	tiered_storage.add_tier('slow', '{slow}', profile => 'sata_ssd', reserve_fraction => 0, device => jsonb_build_object('capacity_bytes', 1000000000)),
	tiered_storage.add_tier('cheap', '{cheap}', profile => 'hdd_7200', reserve_fraction => 0, device => jsonb_build_object('capacity_bytes', 1000000000));
CREATE TABLE d (d date, n int) PARTITION BY RANGE (d);
SELECT format('CREATE TABLE d_%s PARTITION OF d FOR VALUES FROM (%L) TO (%L) TABLESPACE slow', y, y || '-01-01', y + 1 || '-01-01') FROM generate_series(2001, 2003) y \gexec
INSERT INTO d SELECT make_date(y, 2, 2), 1 FROM generate_series(2001, 2003) y, generate_series(1, 100);
CREATE TABLE old TABLESPACE fast AS SELECT i FROM generate_series(1, 50000) i;
CREATE TABLE new (i int) TABLESPACE fast;
SELECT tiered_storage.pin('new', 'fast');
SELECT tiered_storage.add_tiering_policy('d', '30 days', 'cheap'), tiered_storage.add_fullness_policy('fast', 'slow');
CALL tiered_storage.sample();
));

sub moves
{
	return $node->safe_psql('app',
		"SELECT string_agg(relation || ' to ' || to_tier, ', ' ORDER BY move_id) FROM _tiered_storage.moves WHERE state = 'done'"
	);
}

sub queue
{
	return $node->safe_psql('app',
		"SELECT string_agg(relation || ' to ' || to_tier, ', ' ORDER BY place) FROM _tiered_storage.plan_moves()"
	);
}

# ---------------------------------------------------------------------
note 'It becomes too full while others are being moved';
# ---------------------------------------------------------------------

is( queue(),
	'd_2001 to cheap, d_2002 to cheap, d_2003 to cheap',
	'nothing is too full');
my $stops = new_stops($node, 'app');
hold($stops, 'copied');
my $run = start_sql($node, 'app', 'CALL tiered_storage.migrate()');
wait_stopped($stops, 'copied');
$node->safe_psql('app',
	'INSERT INTO new SELECT i FROM generate_series(1, 100000) i');
is( queue(),
	'd_2001 to cheap, old to slow, d_2002 to cheap, d_2003 to cheap',
	'the queue says what comes first');
my @said =
  notices_of($node, 'app', 'CALL tiered_storage.migrate(dry_run => true)') =~
  /would move table public\.(\S+) /g;
is( "@said",
	'old d_2002 d_2003',
	'so does a dry run, without what is being moved');
let_go($stops, 'copied');
like(
	finish_sql($run),
	qr/relations moved: 3, .*relations moved: 1, /s,
	'the run tells of both');
is( moves(),
	'd_2001 to cheap, old to slow, d_2002 to cheap, d_2003 to cheap',
	'it did not wait for all that was due');
is( $node->safe_psql(
		'app',
		q(SELECT string_agg(policy_kind, ' ' ORDER BY move_id), count(DISTINCT batch_id) FROM _tiered_storage.move)
	),
	'tiering fullness tiering tiering|2',
	'one batch is within the other');

# ---------------------------------------------------------------------
note 'What leaves it anyway comes before others';
# ---------------------------------------------------------------------

$node->safe_psql(
	'app', q(
CREATE TABLE e (d date, n int) PARTITION BY RANGE (d);
CREATE TABLE e_1 PARTITION OF e FOR VALUES FROM ('2001-01-01') TO ('2002-01-01') TABLESPACE slow;
CREATE TABLE e_2 PARTITION OF e FOR VALUES FROM ('2002-01-01') TO ('2003-01-01') TABLESPACE fast;
INSERT INTO e SELECT make_date(y, 2, 2), 1 FROM generate_series(2001, 2002) y, generate_series(1, 50000);
SELECT tiered_storage.add_tiering_policy('e', '30 days', 'cheap');
CREATE TABLE old_2 TABLESPACE fast AS SELECT i FROM generate_series(1, 10000) i;
CALL tiered_storage.sample();
));
my $order = 'e_2 to cheap, e_1 to cheap';
is(queue(), $order, 'the queue has it first, and nothing else has to leave');
$node->safe_psql('app', 'CALL tiered_storage.migrate()');
like(moves(), qr/e_2 to cheap, e_1 to cheap$/, 'the run, too');

# ---------------------------------------------------------------------
note 'What goes first makes the next tier too full';
# ---------------------------------------------------------------------

# Four partitions of a MB leave "fast", for three of which there is room on "slow".
$node->safe_psql(
	'app', q(
SELECT tiered_storage.remove_policy('e'), tiered_storage.remove_policy('d');
CREATE TABLE g (d date, t text) PARTITION BY RANGE (d);
SELECT format('CREATE TABLE g_%s PARTITION OF g FOR VALUES FROM (%L) TO (%L) TABLESPACE fast', y, y || '-01-01', y + 1 || '-01-01') FROM generate_series(2001, 2004) y \gexec
INSERT INTO g SELECT make_date(y, 2, 2), repeat('x', 500) FROM generate_series(2001, 2004) y, generate_series(1, 1900);
CALL tiered_storage.sample();
SELECT tiered_storage.alter_tier('slow', high_watermark => 0.7, low_watermark => 0.5, device => jsonb_build_object('capacity_bytes', pg_tablespace_size('slow') + 3500000)),
	tiered_storage.add_fullness_policy('slow', 'cheap'), tiered_storage.add_tiering_policy('g', '30 days', 'slow');
));
my $last =
  $node->safe_psql('app', 'SELECT max(move_id) FROM _tiered_storage.moves');
$order = queue();
$node->safe_psql('app', 'CALL tiered_storage.migrate()');
is( $node->safe_psql(
		'app',
		"SELECT count(*) FILTER (WHERE relation ~ '^g_' AND state = 'done'), count(*) FILTER (WHERE state <> 'done') FROM _tiered_storage.moves WHERE move_id > $last"
	),
	'4|0',
	'that is emptied in between');
like(moves(), qr/\Q$order\E$/, 'as the queue has said');
like(
	$order,
	qr/g_200\d to slow, old to cheap, .*g_200\d to slow/,
	'in this order');
$node->safe_psql(
	'app', q(
SELECT tiered_storage.remove_policy('g'), tiered_storage.remove_policy(tier => 'slow');
SELECT tiered_storage.alter_tier('slow', device => jsonb_build_object('capacity_bytes', 1000000000));
));

# ---------------------------------------------------------------------
note 'The worker looks with each sample';
# ---------------------------------------------------------------------

# A regular run has been, and the next one is far.
$node->safe_psql('app',
	'SELECT tiered_storage.remove_policy(policy_id => policy_id) FROM _tiered_storage.policies'
);
reload_with(
	$node,
	'tiered_storage.auto_migrate' => 'policies',
	'tiered_storage.sample_interval' => '1s');
my $now = $stops->query_safe('SELECT clock_timestamp()');
wait_for($stops,
	"SELECT count(*) > 0 FROM _tiered_storage.worker_status() WHERE database_name = 'app' AND last_started_at > '$now' AND last_finished_at > last_started_at"
);
$node->safe_psql('app',
	'INSERT INTO new SELECT i FROM generate_series(1, 60000) i');
wait_for($stops,
	"SELECT count(*) = 1 FROM _tiered_storage.moves WHERE relation = 'old_2' AND to_tier = 'slow' AND state = 'done'"
);
pass('what has to leave does not wait for the next regular run');

$node->stop;
done_testing();

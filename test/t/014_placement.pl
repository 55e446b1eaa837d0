# auto_migrate = placement: the worker does what the advice is sure of, for the
# owners, within a limit, and stops when it is told to.
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

# Page cache and devices differ from machine to machine, and would make advice
# tentative.
my $node = new_node(
	'main',
	conf => q(
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = '1s'
tiered_storage.auto_migrate = policies
tiered_storage.test_page_cache = off
tiered_storage.move_lock_timeout = '60s'
));
$node->start;
create_in_place_tablespace($node, 'fast', 'slow');
$node->safe_psql('postgres', 'CREATE DATABASE app');
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', rank => 0, reserve_fraction => 0, device => jsonb_build_object('compressed', false));
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, device => jsonb_build_object('compressed', false));
CREATE ROLE rich;
CREATE ROLE poor;
GRANT CREATE ON TABLESPACE fast, slow TO rich;
GRANT CREATE ON TABLESPACE slow TO poor;
CREATE FUNCTION spy(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RAISE LOG 'a function of the owner runs as %', current_user;
	RETURN $1;
END $$;

-- Of 200 and 150 blocks; the first is the hottest.
CREATE TABLE hot_1 (a text) TABLESPACE slow;
CREATE TABLE hot_2 (a text) TABLESPACE slow;
CREATE TABLE hot_poor (a text) TABLESPACE slow;
CREATE TABLE hot_pinned (a text) TABLESPACE slow;
CREATE UNLOGGED TABLE hot_unlogged (a text) TABLESPACE slow;
CREATE TABLE doubtful (a text) TABLESPACE slow;
ALTER TABLE hot_1 ALTER a SET STORAGE PLAIN;
ALTER TABLE hot_2 ALTER a SET STORAGE PLAIN;
INSERT INTO hot_1 SELECT repeat(md5(i::text), 200) FROM generate_series(1, 200) i;
INSERT INTO hot_2 SELECT repeat(md5(i::text), 200) FROM generate_series(1, 150) i;
INSERT INTO hot_poor VALUES ('x');
INSERT INTO hot_pinned VALUES ('x');
INSERT INTO hot_unlogged VALUES ('x');
INSERT INTO doubtful VALUES ('x');
CREATE INDEX hot_1_i ON hot_1 (left(spy(a), 2)) TABLESPACE slow;
ALTER TABLE hot_1 OWNER TO rich;
ALTER TABLE hot_2 OWNER TO rich;
ALTER TABLE hot_poor OWNER TO poor;
ALTER TABLE hot_unlogged OWNER TO rich;
ALTER TABLE hot_pinned OWNER TO rich;
ALTER TABLE doubtful OWNER TO rich;
SELECT tiered_storage.pin('hot_pinned');

-- As if they had been watched for a month.
CREATE PROCEDURE heat(relation regclass, reads float8, doubt float8 DEFAULT 0) LANGUAGE sql AS $$
	UPDATE _tiered_storage.relation_state SET heat_at = now(),
		evidence_began_at = now() - interval '7 days', evidence_interval_s = 38400,
		evidence_reads = decode(repeat('0000803f', 16), 'hex'), evidence_writes = decode(repeat('0000803f', 16), 'hex'),
		proven_since = now() - interval '30 days', observed_since = now() - interval '1 year',
		sampled_since = now() - interval '30 days',
		random_fast = reads, device_random_fast = reads, sequential_fast = doubt / 2, device_sequential_fast = doubt / 2,
		random_slow = reads, device_random_slow = reads, sequential_slow = doubt / 2, device_sequential_slow = doubt / 2,
		sequential_low_slow = 0, sequential_high_slow = doubt
	WHERE relation_oid = relation
$$;
));
$node->safe_psql('app', 'CALL tiered_storage.sample()');

# New sessions have the settings when it returns.
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

# No sample of a worker comes in between.
sub heat
{
	my (%reads) = @_;
	my $calls = join '',
	  map { "CALL heat('$_', $reads{$_});" } sort keys %reads;

	$node->safe_psql('app',
		"BEGIN; LOCK TABLE _tiered_storage.sampler IN SHARE UPDATE EXCLUSIVE MODE; $calls COMMIT;"
	);
	return;
}

sub places
{
	return $node->safe_psql(
		'app', q(
SELECT string_agg(relname || ' ' || spcname, ', ' ORDER BY relname) FROM pg_class c JOIN pg_tablespace s ON s.oid = reltablespace
WHERE relname ~ '^(hot|doubtful)'));
}

heat(
	hot_1 => '9000',
	hot_1_i => '500',
	hot_2 => '2000',
	hot_poor => '3000',
	hot_pinned => '3000',
	hot_unlogged => '3000',
	doubtful => '500, 1000');
my $advised = $node->safe_psql('app',
	"SELECT string_agg(relation || ' ' || confidence, ', ' ORDER BY relation::text) FROM tiered_storage.recommend_placement()"
);
is( $advised,
	'doubtful tentative, hot_1 firm, hot_1_i firm, hot_2 firm, hot_poor firm, hot_unlogged firm',
	'what is advised') or BAIL_OUT('the load is not what the test is about');

# ---------------------------------------------------------------------
note 'Not asked for';
# ---------------------------------------------------------------------

settle_with('tiered_storage.sample_interval' => '1s');
wait_for_cycle($node, 'app');
wait_for_cycle($node, 'app');
is($node->safe_psql('app', 'SELECT count(*) FROM _tiered_storage.moves'),
	0, 'auto_migrate = policies moves nothing because of heat');
unlike(
	notices_of($node, 'app', 'CALL tiered_storage.migrate()'),
	qr/batch \d|would move/,
	'nor does migrate()');

# ---------------------------------------------------------------------
note 'The limit';
# ---------------------------------------------------------------------

settle_with('tiered_storage.auto_migrate' => 'off');
wait_for_cycle($node, 'app');
wait_for_cycle($node, 'app');
settle_with(
	'tiered_storage.move_limit_per_day' => '0',
	'tiered_storage.auto_migrate' => 'placement');
like(
	notices_of($node, 'app', 'CALL tiered_storage.migrate()'),
	qr/NOTICE:  00000: no recommendation is applied: tiered_storage\.move_limit_per_day is used up/,
	'0 moves nothing');
like(
	notices_of($node, 'app', 'CALL tiered_storage.migrate(dry_run => true)'),
	qr/move_limit_per_day is used up/,
	'and a dry run says so');
is($node->safe_psql('app', 'SELECT count(*) FROM _tiered_storage.moves'),
	0, 'nor does the worker');

# The first one and its index fit, the second does not any more.
my $log = -s $node->logfile;
settle_with('tiered_storage.move_limit_per_day' => '2MB');
ok( $node->poll_query_until(
		'app',
		"SELECT count(*) = 2 FROM _tiered_storage.moves WHERE state = 'done'"
	),
	'the worker moves what the advice is sure of');
wait_for_cycle($node, 'app');
wait_for_cycle($node, 'app');
is( places(),
	'doubtful slow, hot_1 fast, hot_1_i fast, hot_2 slow, hot_pinned slow, hot_poor slow, hot_unlogged slow',
	'as much as the limit of a day allows; not what is tentative, pinned, unlogged, or of an owner without rights there'
);
is( $node->safe_psql(
		'app',
		q(SELECT DISTINCT batch_id, requested_by, policy_id IS NULL, from_tier, to_tier, predicted_saved_io_s_per_hour > 0, method FROM _tiered_storage.moves)
	),
	'1|rich|t|slow|fast|t|online',
	'one batch, in the name of the owner');
is(log_lines($node, $log, qr/a function of the owner runs/),
	'', 'no function of an index was called');
like(
	slurp_file($node->logfile),
	qr/a function of the owner runs/,
	'which would have been seen');
is(log_lines($node, $log, qr/could not move/),
	'', 'what may not be moved is no complaint');

# What was moved a day ago does not count, what a person asked for never does.
settle_with('tiered_storage.auto_migrate' => 'off');
wait_for_cycle($node, 'app');
wait_for_cycle($node, 'app');

# From here on the worker does nothing: it has just looked.
settle_with(
	'tiered_storage.auto_migrate' => 'placement',
	'tiered_storage.migrate_interval' => '1h');
my $dry =
  notices_of($node, 'app', 'CALL tiered_storage.migrate(dry_run => true)');
unlike($dry, qr/would move/, 'a dry run: nothing fits any more');
like(
	$dry,
	qr/recommended moves: 0/,
	'and how many there are within the limit');
$node->safe_psql('app',
	"UPDATE _tiered_storage.move SET started_at = started_at - interval '25 hours', finished_at = finished_at - interval '25 hours'"
);
$dry =
  notices_of($node, 'app', 'CALL tiered_storage.migrate(dry_run => true)');
like($dry, qr/would move table public\.hot_2 /, 'but a day later it does');
like($dry, qr/recommended moves: 1/, 'one');
$node->safe_psql('app', 'SELECT tiered_storage.pause()');
like(
	notices_of($node, 'app', 'CALL tiered_storage.migrate(dry_run => true)'),
	qr/would move table public\.hot_2 .*\(waiting: moves are paused, see resume\(\)\)/,
	'and says that moves are paused');
$node->safe_psql('app', 'SELECT tiered_storage.resume()');
like(
	$dry,
	qr/would not move public\.hot_poor: permission denied for tablespace fast\nDETAIL:  The recommended tier is "fast"\.\nHINT:  GRANT CREATE ON TABLESPACE fast TO poor allows it\./,
	'what its owner may not move is in the list, too');
like(
	$dry,
	qr/would not move public\.hot_unlogged: it cannot be moved online: it is unlogged.*\nDETAIL:  .*\nHINT:  CALL tiered_storage\.move_relation\(.* locks it for the whole copy\./,
	'and what would be locked for the whole copy');
like(
	$dry,
	qr/DETAIL:  Recommended, but not permitted to their owners: 1\./,
	'and their number');

# A dry run knows windows, and what policies move before.
$node->safe_psql('app',
	"SELECT tiered_storage.add_move_window('never', NULL, '00:00', '24:00', enabled => false)"
);
like(
	notices_of($node, 'app', 'CALL tiered_storage.migrate(dry_run => true)'),
	qr/would move table public\.hot_2 .*\(waiting: all move windows are disabled\)/,
	'a dry run says that it would wait');
unlike(
	notices_of(
		$node,
		'app',
		'CALL tiered_storage.migrate(dry_run => true, ignore_windows => true)'
	),
	qr/Now it would be/,
	'unless that is not wanted');
$node->safe_psql(
	'app', q(
SELECT tiered_storage.remove_move_window('never');
SELECT tiered_storage.add_move_window('never', NULL, '00:00', '24:00', max_bytes => pg_table_size('hot_2') + 4096);
CREATE TABLE aged (d date) PARTITION BY RANGE (d);
CREATE TABLE aged_1 PARTITION OF aged FOR VALUES FROM ('2001-01-01') TO ('2002-01-01') TABLESPACE fast;
INSERT INTO aged VALUES ('2001-06-01');
));
unlike(
	notices_of($node, 'app', "CALL tiered_storage.migrate(dry_run => true)"),
	qr/Now it would be/,
	'there is room in the window');
$node->safe_psql('app',
	"SELECT tiered_storage.add_tiering_policy('aged', '30 days', 'slow')");
$dry =
  notices_of($node, 'app', 'CALL tiered_storage.migrate(dry_run => true)');
like(
	$dry,
	qr/would move table public\.aged_1 .*to tier "slow": .*\n/,
	'but what a policy moves');
like($dry, qr/would move table public\.hot_2 .*\(waiting for window never, /,
	'takes it');
$node->safe_psql('app',
	"SELECT tiered_storage.remove_policy('aged'); DROP TABLE aged; SELECT tiered_storage.remove_move_window('never')"
);
$node->safe_psql('app',
	"UPDATE _tiered_storage.move SET started_at = started_at + interval '25 hours', finished_at = finished_at + interval '25 hours', batch_id = NULL"
);
like(
	notices_of($node, 'app', 'CALL tiered_storage.migrate(dry_run => true)'),
	qr/would move table public\.hot_2 /,
	'moves by hand do not count');
$node->safe_psql('app', 'UPDATE _tiered_storage.move SET batch_id = 1');

# What is copied for nothing counts, not only by the last try: there is room for two.
settle_with('tiered_storage.move_limit_per_day' => '5MB');
my $holder = $node->background_psql('app');
$holder->query_safe('BEGIN');
$holder->query_safe('LOCK TABLE hot_2 IN ACCESS SHARE MODE');
foreach my $try (1, 2)
{
	like(
		notices_of(
			$node,
			'app',
			"SET tiered_storage.move_lock_timeout = '10ms'; SET tiered_storage.debug_lock_attempts = 1; CALL tiered_storage.migrate()"
		),
		qr/could not move public\.hot_2: could not lock the relation/,
		"try $try fails when it has copied everything");
}
$holder->query_safe('COMMIT');
$holder->quit;
unlike(
	notices_of($node, 'app', 'CALL tiered_storage.migrate(dry_run => true)'),
	qr/would move/,
	'the day\'s limit is used up by both');
$node->safe_psql('app',
	"UPDATE _tiered_storage.move SET failed_at = ARRAY[now() - interval '25 hours'] WHERE failed_at IS NOT NULL"
);
like(
	notices_of($node, 'app', 'CALL tiered_storage.migrate(dry_run => true)'),
	qr/would move table public\.hot_2 /,
	'but not by those of the day before');
$node->safe_psql('app',
	"DELETE FROM _tiered_storage.move WHERE state <> 'done'");

# ---------------------------------------------------------------------
note 'By hand';
# ---------------------------------------------------------------------

settle_with('tiered_storage.move_limit_per_day' => '-1');
my $migrate = notices_of($node, 'app', 'CALL tiered_storage.migrate()');
unlike(
	$migrate,
	qr/nothing is due/,
	'migrate() does not say that nothing is due if something is moved');
like(
	$migrate,
	qr/batch \d+: relations moved: 1, not moved: 0\nDETAIL:  Recommended, but not permitted to their owners: 1\./,
	'then what is advised, for the owners, whoever calls');
like(places(), qr/hot_2 fast.*hot_poor slow/, 'it is done');
$node->safe_psql('app', 'GRANT CREATE ON TABLESPACE fast TO poor');
like(
	notices_of($node, 'app', 'CALL tiered_storage.migrate()'),
	qr/batch \d+: relations moved: 1/,
	'GRANT lets the owner in');
is( $node->safe_psql(
		'app',
		"SELECT requested_by FROM _tiered_storage.moves WHERE relation = 'hot_poor'"
	),
	'poor',
	'in his name');

# ---------------------------------------------------------------------
note 'Told to stop';
# ---------------------------------------------------------------------

# The worker holds still at the first of two.
$node->safe_psql(
	'app', q(
CREATE TABLE hot_3 (a text) TABLESPACE slow;
CREATE TABLE hot_4 (a text) TABLESPACE slow;
INSERT INTO hot_3 VALUES ('x');
INSERT INTO hot_4 VALUES ('x');
CALL tiered_storage.sample();
));
settle_with('tiered_storage.auto_migrate' => 'off');
heat(hot_3 => '3000', hot_4 => '1000');
my $session = $node->background_psql('app');
$session->query_safe('BEGIN');
$session->query_safe('LOCK TABLE hot_3 IN ACCESS SHARE MODE');
settle_with(
	'tiered_storage.migrate_interval' => '1s',
	'tiered_storage.move_lock_timeout' => '4s',
	'tiered_storage.auto_migrate' => 'placement');
wait_for_lock_wait($node, 'app', 'hot_3');
like(
	error_of($node, 'app', 'CALL tiered_storage.apply_placement()'),
	qr/55006: another batch of moves is running in this database/,
	'one batch at a time');

# Each attempt that ends with a lock timeout is a rollback.
$node->poll_query_until('app',
	"SELECT attempts >= 2 FROM _tiered_storage.move_progress WHERE relation = 'hot_3'"
) or die 'no second attempt';
like(
	error_of($node, 'app', 'CALL tiered_storage.apply_placement()'),
	qr/55006: another batch of moves is running in this database/,
	'also after it has given way');
like(
	notices_of($node, 'app', 'CALL tiered_storage.migrate()'),
	qr/NOTICE:  00000: no recommendation is applied: another batch of moves is running/,
	'also by migrate(), for which that is no error');
settle_with('tiered_storage.auto_migrate' => 'policies');
$session->query_safe('COMMIT');
$session->quit;
wait_for_cycle($node, 'app');
like(
	places(),
	qr/hot_3 fast, hot_4 slow/,
	'what is under way is finished, nothing else is begun');

# ---------------------------------------------------------------------
note 'Terminated';
# ---------------------------------------------------------------------

$node->safe_psql('app',
	"ALTER TABLE hot_3 SET TABLESPACE slow; UPDATE _tiered_storage.relation_state SET placed_at = NULL"
);
settle_with(
	'tiered_storage.cooldown' => '0',
	'tiered_storage.move_lock_timeout' => '10s');
$session = $node->background_psql('app');
$session->query_safe('BEGIN');
$session->query_safe('LOCK TABLE hot_3 IN ACCESS SHARE MODE');
settle_with('tiered_storage.auto_migrate' => 'placement');
wait_for_lock_wait($node, 'app', 'hot_3');

# Between two moves it would see this.
settle_with('tiered_storage.auto_migrate' => 'off');
$node->safe_psql('app',
	'SELECT pg_terminate_backend(pid) FROM _tiered_storage.move_progress');
$node->poll_query_until('app',
	"SELECT count(*) = 0 FROM pg_locks WHERE locktype = 'object' AND objsubid = 2"
) or die 'the lock of the batch remains';
$session->query_safe('COMMIT');
$session->quit;
wait_for_cycle($node, 'app');
wait_for_cycle($node, 'app');
like(
	notices_of($node, 'app', 'CALL tiered_storage.apply_placement()'),
	qr/batch \d+: relations moved: 2, not moved: 1/,
	'a batch that was terminated does not keep the next one out');

# ---------------------------------------------------------------------
note 'After what policies move';
# ---------------------------------------------------------------------

# Of a MB each; below the mark of the tier that both go to is room for one and a half.
settle_with(
	'tiered_storage.auto_migrate' => 'placement',
	'tiered_storage.migrate_interval' => '1h');
create_in_place_tablespace($node, 'first');
$node->safe_psql(
	'app', q(
SELECT tiered_storage.alter_tier('slow', rank => 3);
SELECT tiered_storage.alter_tier('fast', rank => 2);
SELECT tiered_storage.add_tier('first', '{first}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, device => jsonb_build_object('compressed', false));
CREATE TABLE hot_5 (a text) TABLESPACE slow;
ALTER TABLE hot_5 ALTER a SET STORAGE PLAIN;
INSERT INTO hot_5 SELECT repeat(md5(i::text), 200) FROM generate_series(1, 128) i;
CREATE TABLE due (d date, a text) PARTITION BY RANGE (d);
CREATE TABLE due_1 PARTITION OF due FOR VALUES FROM ('2000-01-01') TO ('2001-01-01') TABLESPACE first;
ALTER TABLE due_1 ALTER a SET STORAGE PLAIN;
INSERT INTO due SELECT '2000-01-01', a FROM hot_5;
CHECKPOINT;
CALL tiered_storage.sample();
SELECT tiered_storage.alter_tier('fast', device => jsonb_build_object('capacity_bytes', 2 * (pg_tablespace_size('fast') + pg_table_size('hot_5') * 3 / 2))),
	tiered_storage.add_fullness_policy('fast', 'slow', high_watermark => 0.5, low_watermark => 0.49),
	tiered_storage.add_tiering_policy('due', '30 days', 'fast');
));
heat(hot_5 => '9000');
$dry =
  notices_of($node, 'app', 'CALL tiered_storage.migrate(dry_run => true)');
like(
	$dry,
	qr/would move .*public\.due_1 /,
	'a dry run knows what policies bring to a tier before');
like(
	$dry,
	qr/public\.hot_5 is not moved: waiting: its new tier lacks room/,
	'so that what is advised would not be below its mark');
notices_of($node, 'app', 'CALL tiered_storage.migrate()');
is( $node->safe_psql(
		'app',
		"SELECT string_agg(concat_ws(' ', relname, spcname), ', ' ORDER BY relname) FROM pg_class c JOIN pg_tablespace t ON t.oid = reltablespace WHERE relname IN ('due_1', 'hot_5')"
	),
	'due_1 fast, hot_5 slow',
	'and a run does the same');
$node->safe_psql(
	'app', q(
SELECT tiered_storage.remove_policy('due');
DROP TABLE due;
));
like(
	notices_of($node, 'app', 'CALL tiered_storage.migrate(dry_run => true)'),
	qr/would move table public\.hot_5 /,
	'which it is without the other');
$node->stop;

done_testing();

# From the counters of a machine that we make up to the life of its devices: the ledger, what
# SMART says, and what is said and left undone when a device is written to faster than it endures.
#
# Made up in the tables, since no call makes it in the time of a test: rates, and
# history of days and weeks, the load of hours, moves of another time, size or end, rows
# as a dump or another machine has left them; what devices were measured to do.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use File::Path qw(make_path);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

plan skip_all => 'no debug build of the library'
  unless $ENV{TIER_DEBUG_LIBDIR};
plan skip_all => 'devices are known on Linux only' unless $^O eq 'linux';

my $root = PostgreSQL::Test::Utils::tempdir;

sub write_file
{
	my ($path, $text) = @_;

	open my $file, '>', "$root/$path" or die "$path: $!";
	print $file $text;
	close $file or die "$path: $!";
	return;
}

# MB written, since the counters began.
sub set_written
{
	my ($name, $mb) = @_;

	write_file("sys/devices/$name/stat",
		sprintf("10 0 80 5 %d 0 %d 6 0 9 11 0 0 0 0 0 0\n", $mb, $mb * 2048));
	return;
}

make_path(
	"$root/proc/self", "$root/proc/sys/kernel/random",
	"$root/sys/dev/block", "$root/sys/class/block");
write_file('proc/sys/kernel/random/boot_id', "boot-1\n");
my $sequence = 0;
foreach my $name (qw(fakea fakeb))
{
	$sequence++;
	make_path("$root/sys/devices/$name/queue");
	symlink "$root/sys/devices/$name", "$root/sys/class/block/$name"
	  or die $!;
	write_file("sys/devices/$name/queue/rotational", "0\n");
	write_file("sys/devices/$name/diskseq", "$sequence\n");
	set_written($name, 1000);
}

my $start = '2030-01-01 00:00:00+00';
my $node = new_node(
	'main',
	conf => qq(
log_min_messages = warning
tiered_storage.debug_root = '$root'
tiered_storage.debug_skip = 'pagecache'
tiered_storage.sample_interval = '1d'
tiered_storage.migrate_interval = '1d'
tiered_storage.auto_migrate = off
tiered_storage.cooldown = 0
tiered_storage.test_now = '$start'
));

# The data directory is on fakea.
my $number = (stat $node->data_dir)[0];
my $major = ($number >> 8) & 0xfff;
my $minor = ($number & 0xff) | (($number >> 12) & 0xfff00);

sub use_disk
{
	my ($name) = @_;

	write_file('proc/self/mountinfo',
		"20 1 $major:$minor / / rw - ext4 /dev/$name rw\n");
	unlink "$root/sys/dev/block/$major:$minor";
	symlink "$root/sys/devices/$name", "$root/sys/dev/block/$major:$minor"
	  or die $!;
	return;
}

use_disk('fakea');
$node->start;
create_in_place_tablespace($node, 'fast', 'slow');

sub value_of
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', $sql);
}

# New sessions have it, and the launcher, which starts workers, is told by the same signal.
sub settle_with
{
	my ($name, $value) = @_;

	$node->append_conf('postgresql.conf', "$name = '$value'");
	$node->reload;
	$node->poll_query_until('postgres',
		"SELECT current_setting('$name') = '$value'")
	  or die "$name did not become $value";
	return;
}

my $hours = 0;

# So many hours later.
sub sample
{
	my ($later_h) = @_;

	$hours += $later_h;
	settle_with(
		'tiered_storage.test_now' => value_of(
			"SELECT (timestamptz '$start' + $hours * interval '1 hour')::text"
		));
	value_of('CALL tiered_storage.sample()');
	return;
}

sub wear
{
	my ($columns, $tier) = @_;
	$tier = 'fast' unless defined $tier;
	return value_of(
		"SELECT $columns FROM _tiered_storage.wear_state() WHERE tier_name = '$tier'"
	);
}

my $mb =
  'written_bytes / 1048576, round((written_bytes_per_day / 1048576)::numeric, 3)';

######################################################################
# The ledger
######################################################################

value_of('CREATE EXTENSION tiered_storage');
$node->poll_query_until('postgres',
	"SELECT count(*) = 1 FROM _tiered_storage.worker_status() WHERE database_name = 'postgres' AND state = 'waiting' AND last_finished_at IS NOT NULL"
) or die 'no worker';
value_of(
	q(SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', rank => 0, reserve_fraction => 0, device => jsonb_build_object('compressed', false));
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, device => jsonb_build_object('compressed', false));
TRUNCATE _tiered_storage.sampler, _tiered_storage.relation_state, _tiered_storage.device_state, _tiered_storage.device_wear, _tiered_storage.device_wear_day, _tiered_storage.state_snapshot)
);

like(
	wear('device, counted_since, written_bytes, used_fraction, reason'),
	qr/^fakea\|\|\|\|fewer than two samples.*endurance is not configured/,
	'no sample: a reason');
sample(0);
is(wear($mb), '0|', 'one sample: nothing was counted');

set_written('fakea', 1036);
value_of(
	"CREATE TABLE w AS SELECT repeat('x', 500) FROM generate_series(1, 1000)"
);
sample(1);
is(wear($mb), '36|36.000', 'what was written in an hour is no rate of a day');
is(wear('moved_bytes_per_day, expected_life_years, wear_exceeded'),
	'0||', 'what is not known is null');
like(
	wear('reason'),
	qr/^less than a day was counted; its endurance is not configured/,
	'and there is a reason');
is(wear($mb, 'slow'), '36|36.000', 'two tiers on one device have one ledger');

# A boot: what the counters have by then was written since.
write_file('proc/sys/kernel/random/boot_id', "boot-2\n");
set_written('fakea', 5);
sample(1);
is(wear($mb), '41|41.000', 'the total survives a boot');
set_written('fakea', 2);
sample(1);
is(wear($mb), '43|43.000', 'and counters that begin again');

# Nobody knows what was written while they could not be read.
unlink "$root/sys/devices/fakea/stat";
sample(1);
is(wear('written_bytes / 1048576'), '43', 'counters that are away');
set_written('fakea', 700);
sample(1);
is(wear($mb), '43|43.000', 'what was not counted is no write');
set_written('fakea', 717);
sample(1);
is(wear($mb), '60|60.000', 'from then on it is counted');

# Days: 960 MB on each of the next 12.
foreach my $day (1 .. 12)
{
	set_written('fakea', 717 + $day * 960);
	sample(24);
}
is(wear('written_bytes / 1048576'), 60 + 12 * 960, 'days add up');
is( value_of(
		'SELECT count(*), min(day), max(day) FROM _tiered_storage.device_wear_day'
	),
	'7|2030-01-07|2030-01-13',
	'as many rows as the pace needs');
is(wear('round((written_bytes_per_day / 1048576)::numeric, 3)'),
	'960.000', 'the pace');
like(
	wear('reason'),
	qr/^its endurance is not configured[^;]*$/,
	'only the endurance is missing');

######################################################################
# Life
######################################################################

# 2 GB a day for five years.
my $tbw = 2 * 1073741824 * 5 * 365.25 / 1e12;
value_of(
	"SELECT tiered_storage.alter_tier('slow', device => jsonb_build_object('endurance_tbw', $tbw))"
);
my $life =
  'round(endurance_bytes_per_day::numeric / 1048576), round(used_fraction::numeric, 4), round(expected_life_years::numeric, 2), wear_exceeded';
is(wear($life), '2048|0.0031|10.63|f',
	'the life of the device is that of both tiers');
like(
	wear('reason'),
	qr/^used_fraction: without writes before counted_since/,
	'what was before is not known');
value_of(
	"SELECT tiered_storage.alter_tier('fast', device => jsonb_build_object('endurance_tbw', $tbw / 2))"
);
is(wear($life, 'slow'), '1024|0.0062|5.30|f', 'the lesser of two counts');

# What SMART says.
value_of(
	"SELECT tiered_storage.alter_tier('fast', device => jsonb_build_object('written_bytes', 1073741824::bigint * 200))"
);
is(wear($life), '1024|0.1095|4.75|f', 'bytes written before');
is(wear('reason'), '', 'nothing is missing');
value_of(
	"SELECT tiered_storage.alter_tier('fast', device => jsonb_build_object('written_bytes', 1073741824::bigint * 200, 'used_fraction', 0.5))"
);
is(wear($life), '1024|0.5000|2.67|f', 'the fraction comes first');
set_written('fakea', 717 + 13 * 960);
sample(24);
is(wear($life), '1024|0.5005|2.66|f', 'what was counted since is added');
value_of(
	"SELECT tiered_storage.alter_tier('fast', device => jsonb_build_object('used_fraction', 1.02))"
);
is(wear($life), '1024|1.0200|0.00|t', 'its life is over');
is( value_of(
		'SELECT tier_name, wear_exceeded FROM _tiered_storage.tiers ORDER BY 1'
	),
	"fast|t\nslow|t",
	'the tiers say so');
value_of(
	"SELECT tiered_storage.alter_tier('fast', device => jsonb_build_object('written_bytes', 0))"
);
is(wear($life), '1024|0.0000|5.33|f', 'a new disk');

foreach my $case (
	[ "'written_bytes', -1", '22003', 'must not be negative' ],
	[ "'used_fraction', -0.1", '22003', 'must be between' ],
	[ "'used_fraction', 3", '22003', 'must be between' ],
	[ "'used_fraction', 'NaN'", '22003', 'must be between' ],
	[ "'used_fraction', 'Infinity'", '22003', 'must be between' ],
	[ "'device', 'fakec', 'written_bytes', 1", '42704', 'has 0 devices' ],
	[ "'device', '', 'written_bytes', 1", '42704', 'has 0 devices' ])
{
	my ($arguments, $sqlstate, $message) = @$case;
	my $err = error_of($node, 'postgres',
		"SELECT tiered_storage.alter_tier('fast', device => jsonb_build_object($arguments))"
	);

	like($err, qr/$sqlstate: .*\Q$message\E/, "refused: $arguments");
}
is(wear($life), '1024|0.0000|5.33|f', 'and nothing was changed by that');

# Ledgers of disks that are gone are kept for 64 of them, with what was told.
value_of(
	q(INSERT INTO _tiered_storage.device_wear SELECT 'gone' || i, '{1}', l.at, l.at - i * interval '1 hour', 1
	FROM generate_series(1, 65) i, (SELECT counted_at AS at FROM _tiered_storage.device_wear WHERE device = 'fakea') l;
INSERT INTO _tiered_storage.device_wear_given SELECT device, counted_at, 1, NULL, 0 FROM _tiered_storage.device_wear WHERE device <> 'fakea';
INSERT INTO _tiered_storage.device_wear_given VALUES ('never_seen', now(), 1, NULL, 0);
CALL tiered_storage.sample())
);
is( value_of(
		q(SELECT (SELECT count(*) FROM _tiered_storage.device_wear WHERE device <> 'fakea'),
	string_agg(x.device, ' ') FROM (SELECT 'gone' || i FROM generate_series(1, 65) i UNION VALUES ('fakea'), ('never_seen')) x (device)
	WHERE NOT EXISTS (SELECT FROM _tiered_storage.device_wear_given g WHERE g.device = x.device))
	),
	'64|gone65',
	'a ledger that is forgotten takes along what was told');

# Neither that nor another disk of the same name waits for somebody who tells something of it.
my $session = $node->background_psql('postgres');
$session->query_safe(
	'BEGIN; UPDATE _tiered_storage.device_wear_given SET given_at = now()');
unlike(
	notices_of(
		$node, 'postgres',
		q(BEGIN; SET LOCAL lock_timeout = '1s';
UPDATE _tiered_storage.device_wear SET tablespaces = '{1}';
INSERT INTO _tiered_storage.device_wear SELECT 'gone0', '{1}', now(), now(), 1;
CALL tiered_storage.sample(); ROLLBACK)),
	qr/timeout/,
	'a transaction that stays open holds up no sample');
$session->query_safe('ROLLBACK');
$session->quit;
value_of(
	"DELETE FROM _tiered_storage.device_wear_given WHERE device <> 'fakea'; DELETE FROM _tiered_storage.device_wear WHERE device <> 'fakea'"
);

# Another database has its own ledger of the same device.
value_of('CREATE DATABASE other');
$node->safe_psql(
	'other', q(CREATE EXTENSION tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', rank => 0, device => jsonb_build_object('compressed', false, 'endurance_tbw', 4));
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', rank => 1, device => jsonb_build_object('compressed', false));
CALL tiered_storage.sample()));
set_written('fakea', 717 + 14 * 960);
sample(24);
$node->safe_psql('other', 'CALL tiered_storage.sample()');
is( $node->safe_psql(
		'other',
		'SELECT device, tier_name, written_bytes / 1048576 FROM _tiered_storage.wear_state() WHERE device IS NOT NULL AND tier_name IS NOT NULL ORDER BY 2'
	),
	"fakea|fast|960\nfakea|slow|960",
	'another database: the device once, since it has looked');
is( $node->safe_psql(
		'other',
		'SELECT round(endurance_bytes_per_day * 5 * 365.25 / 1e9) FROM _tiered_storage.wear_state() WHERE tier_name = \'fast\''
	),
	'4000',
	'with what it says of the endurance');
is(wear('written_bytes / 1048576'), 60 + 14 * 960, 'this one is as it was');

######################################################################
# Faster than it endures
######################################################################

value_of(
	q(SELECT tiered_storage.alter_tier('fast', device => jsonb_build_object('written_bytes', 0));
CREATE TABLE t (a text) TABLESPACE slow;
ALTER TABLE t ALTER a SET STORAGE PLAIN;
INSERT INTO t SELECT repeat('x', 7000) FROM generate_series(1, 100);
CREATE PROCEDURE heat() LANGUAGE sql AS $$
	UPDATE _tiered_storage.relation_state SET heat_at = l.at, evidence_began_at = l.at - interval '7 days',
		evidence_interval_s = 38400,
		evidence_reads = decode(repeat('0000803f', 16), 'hex'), evidence_writes = decode(repeat('0000803f', 16), 'hex'),
		proven_since = l.at - interval '30 days', observed_since = l.at - interval '1 year',
		sampled_since = l.at - interval '30 days', placed_at = NULL, rewritten_at = NULL,
		random_fast = 1e5, device_random_fast = 1e5, sequential_fast = 0, device_sequential_fast = 0,
		random_slow = 1e5, device_random_slow = 1e5, sequential_slow = 0, device_sequential_slow = 0,
		sequential_low_slow = 0, sequential_high_slow = 0,
		changes_fast = 0, changes_slow = 0, page_writes_fast = 0, page_writes_slow = 0, wal_bytes_fast = 0, image_bytes_fast = 0
	FROM (SELECT last_sample_at AS at FROM _tiered_storage.sampler) l
	WHERE relation_oid = 't'::regclass
$$)
);
settle_with('tiered_storage.auto_migrate' => 'placement');
sample(24);
value_of('CALL heat()');

# Within the budget, it is advised and would be moved.
my $queue =
  "SELECT from_tier, to_tier, reason FROM _tiered_storage.plan_moves() WHERE relation = 't'::regclass";
my $advice =
  "SELECT recommended_tier FROM tiered_storage.recommend_placement() WHERE relation = 't'::regclass";
is(value_of($advice), 'fast', 'within the budget: it is advised');
unlike(value_of($queue), qr/wears out/, 'and moved');

# 24 GB in a day, of which none are this table's.
set_written('fakea', 717 + 14 * 960 + 24576);
sample(24);
value_of('CALL heat()');
is(wear('wear_exceeded'), 't', 'it is written to faster than it endures');
is(value_of($advice), '',
	'then nothing is advised to go there: what others write counts');
is( value_of(
		q(SELECT limited_by FROM _tiered_storage.placement_summary() WHERE tier_name = 'fast')
	),
	'endurance',
	'which is what limits it');
like(
	value_of(
		q(SELECT reason FROM _tiered_storage.placement_summary() WHERE tier_name = 'fast')
	),
	qr/receives [0-9.]+ [kMG]B of writes a day, .* of it by others: [0-9.]+ times its endurance of /,
	'and it says by whom');

# The gate: what was advised before, or returns by a policy.
is( value_of(
		q(SELECT count(*) FROM _tiered_storage.plan_moves() WHERE reason ~ 'wears out')
	),
	'0',
	'nothing waits that is not advised');
value_of(
	q(CREATE TABLE r (k int, v text) PARTITION BY LIST (k);
CREATE TABLE r1 PARTITION OF r FOR VALUES IN (1) TABLESPACE slow;
INSERT INTO r SELECT 1, repeat('x', 500) FROM generate_series(1, 1000);
SELECT pg_stat_force_next_flush();
CALL tiered_storage.sample();
SELECT tiered_storage.add_tiering_policy('r', tier => 'slow', idle_for => '7 days', options => jsonb_build_object('return_when_reads_per_hour', 100, 'return_after', '1 day', 'return_tier', 'fast'));
UPDATE _tiered_storage.policy SET created_at = created_at - interval '2 days';
UPDATE _tiered_storage.relation_state SET observed_since = '2025-01-01', sampled_since = '2025-01-01', proven_since = '2025-01-01',
	rewritten_at = NULL, last_written_at = s.at - interval '300 days', last_read_at = s.at - interval '1 hour', random_fast = 200, random_slow = 200, heat_at = s.at
	FROM (SELECT last_sample_at AS at FROM _tiered_storage.sampler) s WHERE relation_oid = 'r1'::regclass;
UPDATE _tiered_storage.sampler SET counts_since = '2025-01-01';
INSERT INTO _tiered_storage.relation_history (period_start, relation_oid, period_s, scans, random_reads, sequential_reads, hits, row_changes)
	SELECT s.last_sample_at - h * interval '1 hour', 'r1'::regclass, 3600, 1, 200, 0, 0, 0 FROM generate_series(1, 26) h, _tiered_storage.sampler s)
);
my $waits =
  q(SELECT state, reason FROM _tiered_storage.plan_moves() WHERE relation = 'r1'::regclass);
like(
	value_of($waits),
	qr/^waiting\|waiting: tier "fast" wears out: device "fakea" receives .* of writes a day and endures 1024 MB$/,
	'what returns waits, and says why');
value_of('CALL tiered_storage.migrate()');
is( value_of(
		q(SELECT spcname FROM pg_class c JOIN pg_tablespace s ON s.oid = reltablespace WHERE relname = 'r1')
	),
	'slow',
	'it has not been moved');

# An age policy is asked for: it does not wait.
value_of(
	q(CREATE TABLE m (d date, v text) PARTITION BY RANGE (d);
CREATE TABLE m1 PARTITION OF m FOR VALUES FROM ('2020-01-01') TO ('2021-01-01') TABLESPACE fast;
INSERT INTO m VALUES ('2020-02-01', 'x');
SELECT tiered_storage.add_tiering_policy('m', '30 days', 'slow');
UPDATE _tiered_storage.policy SET created_at = created_at - interval '2 days';
CALL tiered_storage.migrate())
);
is( value_of(
		q(SELECT spcname FROM pg_class c JOIN pg_tablespace s ON s.oid = reltablespace WHERE relname = 'm1')
	),
	'slow',
	'a policy by age is carried out');

# What a person calls is done, and told.
my ($out, $err);
$node->psql(
	'postgres',
	"CALL tiered_storage.move_relation('t', 'fast')",
	stderr => \$err);
like(
	$err,
	qr/NOTICE:  tier "fast" wears out\nDETAIL:  Device "fakea" receives/,
	'a call is told');
is( value_of(
		q(SELECT spcname FROM pg_class c JOIN pg_tablespace s ON s.oid = reltablespace WHERE relname = 't')
	),
	'fast',
	'and done');

# The record is of the real time, samples are not.
value_of(
	"UPDATE _tiered_storage.move SET finished_at = (SELECT last_sample_at + interval '1 minute' FROM _tiered_storage.sampler) WHERE relation_name ~ '\\mt\$'"
);
sample(1);
is( value_of(
		q(SELECT moved_bytes >= pg_relation_size('t') FROM _tiered_storage.device_wear_day ORDER BY day DESC LIMIT 1)
	),
	't',
	'what moves copy is counted as theirs');

# The worker warns, once a day for the device.
sub warnings
{
	my @lines = split /\n/,
	  log_lines($node, 0, qr/WARNING:  tier "\w+" wears out/);

	return scalar @lines;
}

my $warned = warnings();
run_cycle($node, 'postgres');
is(warnings() - $warned, 1, 'the worker warns');
run_cycle($node, 'postgres');
is(warnings() - $warned, 1, 'once');

# The other database sees the same, and says it in its turn.
$node->safe_psql('other', 'CALL tiered_storage.sample()');
is( $node->safe_psql(
		'other',
		'SELECT wear_exceeded FROM _tiered_storage.wear_state() WHERE tier_name = \'fast\''
	),
	't',
	'it wears out for the other database, too');
run_cycle($node, 'other');
is(warnings() - $warned, 2, 'and its worker warns, too');
sample(25);
run_cycle($node, 'postgres');
is(warnings() - $warned, 3, 'and again on the next day');

# Within the budget again, the policy goes on.
value_of(
	"SELECT tiered_storage.alter_tier(t, device => jsonb_build_object('endurance_tbw', 1000)) FROM unnest('{fast,slow}'::name[]) t"
);
is(wear('wear_exceeded'), 'f', 'a better device');
unlike(value_of($waits), qr/wears out/, 'nothing waits for it');

######################################################################
# Another device
######################################################################

use_disk('fakeb');
sample(24);
is(wear('device, written_bytes'), 'fakeb|0', 'another device begins anew');
set_written('fakeb', 1010);
sample(24);
is(wear($mb), '10|10.000', 'with what is written to it');
use_disk('fakea');
sample(24);
is( wear('device, written_bytes / 1048576'),
	'fakea|' . (60 + 14 * 960 + 24576),
	'a device that comes back has its ledger again');
value_of(
	"UPDATE _tiered_storage.device_wear SET tablespaces = '{1}' WHERE device = 'fakea'"
);
sample(24);
is(wear('written_bytes'), '0',
	'one of that name with other tablespaces is another one');

# A machine without devices: containers.
unlink "$root/proc/self/mountinfo", "$root/sys/dev/block/$major:$minor";
sample(24);
is( wear('device, wear_exceeded, reason'),
	'||the device of its tablespaces is not known: the server does not see /proc/self/mountinfo',
	'no device: a reason');
is( value_of(
		'SELECT count(*) FROM _tiered_storage.tiers WHERE wear_exceeded IS NULL'
	),
	'2',
	'and nothing is said of the tiers');

$node->stop;

done_testing();

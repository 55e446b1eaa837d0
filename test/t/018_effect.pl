# What moves were worth: by devices that we make up, and what the worker says of a
# batch that made things worse.
#
# Made up in the tables, since no call makes it in the time of a test: rates, and
# history of days and weeks, the load of hours; moves of another time, size or end.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use File::Path qw(make_path);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

######################################################################
# The worker
######################################################################

my $node = new_node(
	'main',
	conf => q(
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = '1h'
tiered_storage.auto_migrate = off
));
$node->start;
create_in_place_tablespace($node, qw(fast slow));
$node->safe_psql('postgres', 'CREATE DATABASE app');
$node->safe_psql(
	'app', q(
CREATE TABLE cold (x text) TABLESPACE fast;
INSERT INTO cold SELECT repeat('x', 1000) FROM generate_series(1, 1000);
SELECT pg_stat_force_next_flush();	-- not after the first sample
CREATE EXTENSION tiered_storage;
));
$node->poll_query_until('app',
	"SELECT state = 'waiting' FROM _tiered_storage.worker_status() WHERE database_name = 'app'"
) or die 'the worker did not run';
$node->safe_psql(
	'app', q(
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', rank => 0, price_per_gb_month => 1000000, reserve_fraction => 0);
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', rank => 1, price_per_gb_month => 10, reserve_fraction => 0);
UPDATE _tiered_storage.relation_state SET sampled_since = sampled_since - interval '30 days', changes_fast = 0, changes_slow = 0,
	page_writes_fast = 0, page_writes_slow = 0, random_fast = 0, random_slow = 0, device_random_fast = 0, device_random_slow = 0;
));

sub batches
{
	return $node->safe_psql('app',
		'SELECT batch_id, kind, measured_moves, effect, undo_command FROM _tiered_storage.move_batches ORDER BY 1'
	);
}

# A day in which the table was read so often.
sub day_with
{
	my ($reads) = @_;

	$node->safe_psql(
		'app', qq(
UPDATE _tiered_storage.move_effect SET observed_since = observed_since - interval '1 day' WHERE settled_at IS NULL;
UPDATE _tiered_storage.relation_state SET total_random_reads = total_random_reads + $reads WHERE relation_oid = 'cold'::regclass;
));
	run_cycle($node, 'app');
	return;
}

$node->safe_psql('app',
	"CALL tiered_storage.apply_placement(objective => 'money')");
is( batches(),
	'1|placement|0|not measured yet|CALL tiered_storage.undo_move(1)',
	'a batch, not measured yet');
run_cycle($node, 'app');

# 100,000 reads of 12.4 ms in a day.
my $offset = -s $node->logfile;
day_with(100000);
is( batches(),
	'1|placement|1|worse|CALL tiered_storage.undo_move(1)',
	'what was cold became hot');
like(
	log_lines($node, $offset, qr/things worse|undo_move/),
	qr/\A.*LOG:  batch 1 has made things worse: it takes [0-9.]+ s of device time per hour more than without it\n.*HINT:  CALL tiered_storage.undo_move\(1\) moves the relations back\.\z/,
	'the worker warns, and says how to take it back');
$offset = -s $node->logfile;
day_with(100000);
is(log_lines($node, $offset, qr/things worse/), '', 'once');

$node->safe_psql('app', 'CALL tiered_storage.undo_move(1)');
is(tablespaces_of($node, 'app', 'cold'), 'fast', 'taken back');
is( batches(),
	"1|placement|1|worse|\n2|undo|0|not measured yet|CALL tiered_storage.undo_move(2)",
	'what was taken back has no command any more');

# A restart in between takes nothing away from it.
run_cycle($node, 'app');
$node->restart;
day_with(100000);

# How much better depends on how long all this has taken.
like(
	batches(),
	qr/\A1\|placement\|1\|worse\|\n2\|undo\|1\|(better|as predicted)\|CALL tiered_storage.undo_move\(2\)\z/,
	'and was better so');
is(log_lines($node, $offset, qr/things worse/), '', 'no warning of that');
$node->stop;

######################################################################
# Devices
######################################################################

if (!$ENV{TIER_DEBUG_LIBDIR} || $^O ne 'linux')
{
	done_testing();
	exit;
}

my $root = PostgreSQL::Test::Utils::tempdir;
$node = new_node(
	'devices',
	preload => 0,
	conf => qq(
session_preload_libraries = 'tiered_storage'
tiered_storage.debug_root = '$root'
tiered_storage.debug_skip = 'pagecache'
));
$node->start;
create_in_place_tablespace($node, qw(fast slow));

sub write_file
{
	my ($path, $text) = @_;

	open my $file, '>', "$root/$path" or die "$path: $!";
	print $file $text;
	close $file or die "$path: $!";
	return;
}

my $number = (stat $node->data_dir)[0];
my $major = ($number >> 8) & 0xfff;
my $minor = ($number & 0xff) | (($number >> 12) & 0xfff00);

make_path(
	"$root/proc/self", "$root/proc/sys/kernel/random",
	"$root/sys/dev/block", "$root/sys/class/block",
	"$root/sys/devices/fakea/queue");
write_file('proc/self/mountinfo', "20 1 250:9 / / rw - ext4 /dev/fakea rw\n");
write_file('proc/sys/kernel/random/boot_id', "boot-1\n");
write_file('sys/devices/fakea/queue/rotational', "1\n");
write_file('sys/devices/fakea/diskseq', "1\n");

foreach
  my $link ("dev/block/$major:$minor", 'dev/block/250:9', 'class/block/fakea')
{
	symlink "$root/sys/devices/fakea", "$root/sys/$link" or die $!;
}

# Counters so far: requests of a block, what they took, and how long the device was
# busy, ms.  The time of requests has 32 bits, of which most are used up.
my ($reads, $request_ms, $busy_ms) = (1000, 2**32 - 100000, 1000);

sub work
{
	my ($more_reads, $ms_each, $busy_share) = @_;

	$reads      += $more_reads;
	$request_ms += $more_reads * $ms_each;
	$busy_ms    += $more_reads * $ms_each * $busy_share;
	write_file(
		'sys/devices/fakea/stat',
		join(' ',
			$reads, 0,
			$reads * 16,
			$request_ms % 2**32,
			0, 0, 0, 0, 0, int($busy_ms), 0)
		  . "\n");
	return;
}

$node->safe_psql(
	'postgres', q(
CREATE EXTENSION tiered_storage;
CREATE TABLE t (x text) TABLESPACE slow;
ALTER TABLE t ALTER x SET STORAGE PLAIN;
INSERT INTO t SELECT repeat('x', 7000) FROM generate_series(1, 100);
DO $$ BEGIN FOR i IN 1..2000 LOOP PERFORM FROM t; END LOOP; END $$;
SELECT pg_stat_force_next_flush();
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', device => jsonb_build_object('random_read_ms', 0.1, 'compressed', false));
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', device => jsonb_build_object('random_read_ms', 10, 'compressed', false));
TRUNCATE _tiered_storage.sampler, _tiered_storage.relation_state, _tiered_storage.device_state, _tiered_storage.state_snapshot;
));

my $hours = 0;

# So many hours in which t has read so many blocks.
sub hours_with
{
	my ($n, $blocks) = @_;

	$hours += $n;
	$node->safe_psql(
		'postgres', qq(
UPDATE _tiered_storage.move SET started_at = '2030-01-01', finished_at = '2030-01-01';
UPDATE _tiered_storage.relation_state SET blocks_fetched = blocks_fetched - $blocks WHERE relation_oid = 't'::regclass;
SELECT ('2030-01-01 00:00:00+00'::timestamptz + $hours * interval '1 hour')::text AS now \\gset
SET tiered_storage.test_now = :'now';
CALL tiered_storage.sample();
));
	return;
}

# What it has done in few hours of years is taken for a rate.
sub move
{
	my ($tier) = @_;

	$node->safe_psql(
		'postgres', qq(
UPDATE _tiered_storage.relation_state SET evidence_interval_s = 0;
SELECT ('2030-01-01 00:00:00+00'::timestamptz + $hours * interval '1 hour')::text AS now \\gset
SET tiered_storage.test_now = :'now';
CALL tiered_storage.move_relation('t', '$tier');
));
	return;
}

sub effect
{
	return $node->safe_psql('postgres',
		'SELECT effect_source, round(unmoved_io_s_per_hour::numeric, 3), round(measured_io_s_per_hour::numeric, 3), effect FROM _tiered_storage.moves ORDER BY move_id DESC LIMIT 1'
	);
}

# The device is twice as slow as the profile of the slow tier, and is busy a bit
# longer than that, by the ticks of the kernel.  The 32 bits overflow.
work(0, 0, 0);
hours_with(0, 0);
foreach (1 .. 4)
{
	work(2400, 20, 1.5);
	hours_with(1, 2400);
}
cmp_ok($request_ms, '>', 2**32, 'the time of requests has overflowed');
is( $node->safe_psql(
		'postgres', 'SELECT explained FROM _tiered_storage.device_io'),
	't',
	'the device is explained');
is( $node->safe_psql(
		'postgres',
		'SELECT total_reads, total_device_ms FROM _tiered_storage.device_state'
	),
	'9600|192000',
	'it worked no longer than its requests took');

# Then it is faster, and has a queue: it was busy for 5 ms for each of them.  Both
# profiles are wrong, and neither counts: 2400 reads per hour of 20 and 5 ms.
move('fast');
work(2400, 20, 1.5);
hours_with(1, 2400);
work(57600, 50, 0.1);
hours_with(24, 57600);
is( effect(),
	'device|48.000|12.000|as predicted',
	'measured by what the device did');

# Back.  The machine is booted in between, which costs a period and no more.
move('slow');
work(2400, 5, 1);
hours_with(1, 2400);
work(28800, 5, 1);
hours_with(12, 28800);
write_file('proc/sys/kernel/random/boot_id', "boot-2\n");
work(2400, 5, 1);
hours_with(1, 2400);
work(26400, 5, 1);
hours_with(11, 26400);
like(effect(), qr/^device\|/, 'a boot takes nothing away from it');

# Somebody else uses the device, so that its reads are not explained: then it is
# as fast as its profile says, and so is the other one.
move('fast');
work(2400, 5, 1);
hours_with(1, 2400);
work(2400000, 5, 1);
hours_with(12, 28800);
hours_with(12, 28800);
is( effect(),
	'profile|24.000|0.240|as predicted',
	'measured by profiles, where a device cannot be believed');

$node->stop;

done_testing();

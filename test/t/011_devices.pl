# From a machine to device_io: counters of devices that we make up, whatever happens
# to them, and the fit of what PostgreSQL read; and the page cache of the real one.
#
# Made up in the tables, since no call makes it in the time of a test: rates, and
# history of days and weeks; the load of hours.

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
my $node = new_node(
	'main',
	preload => 0,
	conf => qq(
session_preload_libraries = 'tiered_storage'
tiered_storage.debug_root = '$root'
tiered_storage.debug_skip = 'pagecache'
));
$node->start;

sub value_of
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', $sql);
}

######################################################################
# A machine with one disk
######################################################################

sub write_file
{
	my ($path, $text) = @_;

	open my $file, '>', "$root/$path" or die "$path: $!";
	print $file $text;
	close $file or die "$path: $!";
	return;
}

# The tablespaces' file system is on the disk of that name; undef: on none.
my $number = (stat $node->data_dir)[0];
my $major = ($number >> 8) & 0xfff;
my $minor = ($number & 0xff) | (($number >> 12) & 0xfff00);

sub use_disk
{
	my ($name) = @_;

	foreach my $link ("$major:$minor", '250:9')
	{
		unlink "$root/sys/dev/block/$link";
		next unless defined $name;
		symlink "$root/sys/devices/$name", "$root/sys/dev/block/$link"
		  or die $!;
	}
	return;
}

sub add_disk
{
	my ($name, $sequence) = @_;

	make_path("$root/sys/devices/$name/queue");
	symlink "$root/sys/devices/$name", "$root/sys/class/block/$name"
	  or die $!;
	write_file("sys/devices/$name/queue/rotational", "1\n");
	write_file("sys/devices/$name/diskseq", "$sequence\n");
	return;
}

# Counters: MB read, in requests of a block, writes, MB written, seconds busy.
sub set_counters
{
	my ($name, $read_mb, $writes, $write_mb, $busy_s) = @_;

	write_file(
		"sys/devices/$name/stat",
		sprintf(
			"%8d %8d %8d %8d %8d %8d %8d %8d %8d %8d %8d %8d %8d %8d %8d %8d %8d\n",
			$read_mb * 128,
			1, $read_mb * 2048,
			5, $writes, 2, $write_mb * 2048,
			6, 0, $busy_s * 1000,
			7, 0, 0, 0, 0, 0, 0));
	return;
}

make_path(
	"$root/proc/self", "$root/proc/sys/kernel/random",
	"$root/sys/dev/block", "$root/sys/class/block");
write_file('proc/self/mountinfo', "20 1 250:9 / / rw - ext4 /dev/fakea rw\n");
write_file('proc/sys/kernel/random/boot_id', "boot-1\n");
add_disk('fakea', 1);
add_disk('fakeb', 2);
use_disk('fakea');
set_counters('fakea', 100, 2000, 200, 50);

######################################################################
# A table that reads as much as we say
######################################################################

# Enough requests that some of them can be made misses.
$node->safe_psql(
	'postgres', q(
CREATE EXTENSION tiered_storage;
CREATE TABLE t (x text);
ALTER TABLE t ALTER x SET STORAGE PLAIN;
INSERT INTO t SELECT repeat('x', 7000) FROM generate_series(1, 100);
ANALYZE t;
DO $$ BEGIN FOR i IN 1..500 LOOP PERFORM count(*) FROM t; END LOOP; END $$;
SELECT pg_stat_force_next_flush();
TRUNCATE _tiered_storage.sampler, _tiered_storage.relation_state, _tiered_storage.device_state, _tiered_storage.state_snapshot;
));

my $seconds = 0;

sub sample
{
	my ($later_s, $skip) = @_;
	$skip = 'pagecache' unless defined $skip;
	$seconds += $later_s;
	$node->safe_psql(
		'postgres', qq(
SELECT ('2030-01-01 00:00:00+00'::timestamptz + $seconds * interval '1 s')::text AS now \\gset
SET tiered_storage.test_now = :'now';
SET tiered_storage.debug_skip = '$skip';
CALL tiered_storage.sample();
));
	return;
}

# An hour in which t missed so many MB at random.
sub hour_with
{
	my ($mb) = @_;

	$node->safe_psql(
		'postgres', qq(
UPDATE _tiered_storage.relation_state SET blocks_fetched = blocks_fetched - $mb * 128,
	random_fast = 0, device_random_fast = 0 WHERE relation_oid = 't'::regclass
));
	sample(3600);
	return;
}

sub device_io
{
	my ($columns) = @_;
	return value_of(
		"SELECT $columns FROM _tiered_storage.device_io ORDER BY device");
}

my $last =
  'device, round(period_s), round((read_bytes / 1048576.0)::numeric, 3), round((predicted_read_bytes / 1048576)::numeric, 3)';
my $fit =
  'round(fit_factor::numeric, 6), round(fit_residual::numeric, 3), round(fit_periods::numeric, 2), explained';

sample(0);
is( device_io(
		"device, tablespaces, period_s, reads_per_s, fit_factor, explained"),
	'fakea|{pg_default}||||',
	'first sample: the device, and no period');

# 20 MB asked for, 10 MB read.
set_counters('fakea', 100 + 10, 2000 + 3600, 200 + 36, 50 + 360);
hour_with(20);
is(device_io($last), 'fakea|3600|10.000|20.000',
	'what was read and predicted');
is( device_io(
		'round(reads_per_s::numeric, 4), round(read_bytes_per_s), writes_per_s, write_bytes_per_s, busy_fraction'
	),
	'0.3556|2913|1|10485.76|0.1',
	'rates of the last period');
is(device_io($fit), '0.500000|0.000|1.00|', 'one period is no fit yet');
is( value_of(
		q(SELECT device_random_fast = random_fast FROM _tiered_storage.relation_state WHERE relation_oid = 't'::regclass)
	),
	't',
	'without a fit all that misses is read');

# What is smoothed: 1280 reads for the only hour there was.
is( value_of(
		q(SELECT round(_tiered_storage.smoothed_rate(reads_fast, 0, 3600, 86400)::numeric, 6) FROM _tiered_storage.device_state)
	),
	'1280.000000',
	'smoothed rates');

set_counters('fakea', 120, 6000, 240, 500);
hour_with(20);
set_counters('fakea', 140, 7000, 250, 600);
hour_with(40);
is( device_io(
		'device, round(fit_factor::numeric, 6), round(fit_residual::numeric, 3), round(request_fit_factor::numeric, 6), explained'
	),
	'fakea|0.500000|0.000|0.500000|t',
	'three periods are a fit');

set_counters('fakea', 150, 7000, 250, 600);
hour_with(20);
is( value_of(
		q(SELECT round((device_random_fast / random_fast)::numeric, 6) FROM _tiered_storage.relation_state WHERE relation_oid = 't'::regclass)
	),
	'0.500000',
	'the factor is applied');

# What is asked for at the same time, without a sample: the advice.
value_of(
	"SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers"
);
value_of(
	"SELECT tiered_storage.add_tier('main', '{pg_default}', profile => 'hdd_7200', device => jsonb_build_object('compressed', false))"
);
is(device_io('tier_name'), 'main', 'the tier of the device');

######################################################################
# Counters that are other ones
######################################################################

my $before = device_io($fit);

write_file('proc/sys/kernel/random/boot_id', "boot-2\n");
set_counters('fakea', 5000, 10, 10, 10);
hour_with(20);
is( device_io("device, period_s, reads_per_s, predicted_read_bytes, $fit"),
	"fakea||||$before",
	'after a boot there is no period, and the fit stays');
set_counters('fakea', 5010, 20, 20, 20);
hour_with(20);
is(device_io($last), 'fakea|3600|10.000|20.000', 'the next period is one');

$before = device_io($fit);
set_counters('fakea', 10, 10, 10, 10);
hour_with(20);
is(device_io("device, period_s, $fit"),
	"fakea||$before", 'counters that went back');
write_file('sys/devices/fakea/diskseq', "3\n");
set_counters('fakea', 100000, 10, 10, 10);
hour_with(20);
is(device_io("device, period_s, $fit"),
	"fakea||$before", 'another disk of that name');

unlink "$root/sys/devices/fakea/stat" or die $!;
hour_with(20);
is(device_io("device, period_s, reads_per_s, busy_1d_fraction, $fit"),
	"fakea||||$before", 'counters that cannot be read');
foreach my $garbage (
	'', 'x', "1 2 3\n",
	"-1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n",
	"1 1 9223372036854775807 1 1 1 1 1 1 1 1\n",
	'1' x 4000)
{
	write_file('sys/devices/fakea/stat', $garbage);
	hour_with(1);
}
is(device_io("device, period_s, $fit"),
	"fakea||$before", 'counters that are no counters');

######################################################################
# Somebody else on the device
######################################################################

my $read_mb = 1000;
set_counters('fakea', $read_mb, 10, 10, 10);
hour_with(0);
foreach my $strange (300, 0, 500, 200)
{
	$read_mb += 10 + $strange;
	set_counters('fakea', $read_mb, 10, 10, 10);
	hour_with(20);
}
is(device_io('explained, fit_residual > 0.3, fit_factor <= 4'),
	'f|t|t', 'reads of others: not explained');
is( value_of(
		q(SELECT device_random_fast = random_fast FROM _tiered_storage.relation_state WHERE relation_oid = 't'::regclass)
	),
	't',
	'then there is no factor');

######################################################################
# Devices that come and go
######################################################################

use_disk(undef);
hour_with(20);
is(device_io('device'), '', 'no device that is known');
set_counters('fakeb', 0, 0, 0, 0);
use_disk('fakeb');
hour_with(20);
is(device_io("device, tablespaces, period_s, fit_periods"),
	'fakeb|{pg_default}||0', 'another device, of which nothing is known');
create_in_place_tablespace($node, 'second');
set_counters('fakeb', 20, 0, 0, 0);
hour_with(20);
is( device_io(
		"device, tablespaces, period_s, read_bytes = predicted_read_bytes"),
	'fakeb|{pg_default,second}|3600|t',
	'two tablespaces on one device');
is(device_io('tier_name'), 'main', 'one of which is in no tier');
value_of(
	"SELECT tiered_storage.add_tier('other', '{second}', profile => 'hdd_7200', device => jsonb_build_object('compressed', false))"
);
is(device_io('tier_name'), '', 'two tiers on one device');

######################################################################
# What is proposed for a second tier
######################################################################

# Beside a tier of these arguments.
sub proposed
{
	my ($tier) = @_;

	return value_of(
		qq(SET client_min_messages = warning;
BEGIN;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers \\g /dev/null
SELECT tiered_storage.add_tier($tier) \\g /dev/null
SELECT _tiered_storage.second_tier_statements();
ROLLBACK)
	);
}

add_disk('vdx', 3);
foreach my $case (
	[ 'fakeb', 'nvme', 'hdd_7200', 'a disk that shows what it is' ],
	[ 'vdx', 'cloud_gp3', 'cloud_st1', 'a virtual one' ])
{
	my ($disk, $fast, $slow, $name) = @$case;

	use_disk($disk);
	is( proposed(q('main', '{pg_default}', profile => 'nvme')),
		"SELECT tiered_storage.add_tier('slow', '{second}', profile => '$slow');",
		"$name: a slow tier");
	is( proposed(q('slow', '{pg_default}', profile => 'hdd_7200')),
		"SELECT tiered_storage.add_tier('fast', '{second}', profile => '$fast');",
		"$name: a fast tier");
	is( proposed(q('main', '{pg_default,second}', profile => 'nvme')),
		"SELECT tiered_storage.alter_tier('main', tablespaces => '{pg_default}'); "
		  . "SELECT tiered_storage.add_tier('slow', '{second}', profile => '$slow');",
		"$name: a part of a tier");
	is( proposed(q('slow', '{pg_default}', profile => 'sata_ssd')),
		"SELECT tiered_storage.add_tier('fast', '{second}', profile => 'nvme');",
		"$name: the fast tier is the faster one");
	is( proposed(q('main', '{pg_default}', profile => 'hdd_7200')),
		"SELECT tiered_storage.add_tier('slow', '{second}', profile => '"
		  . ($slow eq 'cloud_st1' ? $slow : 'hdd_7200') . "');",
		"$name: the slow tier is no faster");
}
use_disk('fakeb');

######################################################################
# Transactions that are open: their reads are counted when they end
######################################################################

my ($periods) = split /\|/, device_io('fit_periods, fit_residual');
my $session = $node->background_psql('postgres');
$session->query_safe('BEGIN');
$session->query_safe('SELECT count(*) FROM t');
$node->poll_query_until('postgres',
	q(SELECT bool_or(clock_timestamp() - xact_start > interval '1.1 s') FROM pg_stat_activity WHERE state = 'idle in transaction')
) or die 'no transaction';
set_counters('fakeb', 60, 0, 0, 0);
sample(1);
cmp_ok(abs(device_io('fit_periods') - $periods),
	'<', 0.001, 'nothing is added to the fit while a transaction is old');
is(device_io('round(read_bytes / 1048576.0)'), '40', 'though it is shown');
$session->query_safe('COMMIT');
$session->quit;
value_of(
	"UPDATE _tiered_storage.relation_state SET blocks_fetched = blocks_fetched - 40 * 128 WHERE relation_oid = 't'::regclass"
);
sample(1);
cmp_ok(abs(device_io('fit_periods') - $periods - 1),
	'<', 0.05, 'then both periods are added as one');
is(device_io('fit_residual < 0.01'), 't', 'in which they agree');

######################################################################
# The page cache of this machine
######################################################################

# 2560 blocks, 20 MB: enough to be sampled when told to.
$node->safe_psql(
	'postgres', q(
CREATE TABLE cached (x text) WITH (autovacuum_enabled = off);
ALTER TABLE cached ALTER x SET STORAGE PLAIN;
INSERT INTO cached SELECT repeat('x', 7000) FROM generate_series(1, 2560);
SELECT count(*) FROM cached;
CHECKPOINT;
));

# Nothing of it shall be in shared buffers.
$node->restart;
my $size = value_of("SELECT pg_relation_size('cached')");
my $file =
  $node->data_dir . '/' . value_of("SELECT pg_relation_filepath('cached')");

# What block_heat() sees of it, in so many buckets, breaking these rules.
sub os_cached
{
	my ($skip, $buckets) = @_;
	return value_of(
		"SET tiered_storage.debug_skip = '$skip'; SELECT string_agg(COALESCE(os_cached_bytes::text, 'unknown'), ' ' ORDER BY bucket) FROM tiered_storage.block_heat('cached', $buckets)"
	);
}

is(os_cached('pagecache', 2), 'unknown unknown', 'without a page cache');
SKIP:
{
	skip 'the page cache cannot be seen here', 12
	  if os_cached('', 1) eq 'unknown';

	is(os_cached('', 1), $size, 'a file just written is in the page cache');
	is(os_cached('cachestat', 1), $size, 'mincore sees it, too');
	is(os_cached('look_at_all', 1), $size, 'so does a sample of it');

	# Drops what is clean, as an ordinary user may.
	system_or_bail(
		'dd', "of=$file",
		'oflag=nocache', 'conv=notrunc,fdatasync',
		'count=0', 'status=none');
	skip 'pages stay in the page cache here', 9 if os_cached('', 1) eq $size;
	is(os_cached('', 1), '0', 'dropped, it is not');
	is(os_cached('cachestat', 1), '0', 'mincore says so, too');
	is(os_cached('look_at_all', 1), '0', 'so does a sample of it');

	# Read it, and drop the second half, piece by piece.
	system_or_bail('dd', "if=$file", 'of=/dev/null', 'bs=1M', 'status=none');
	system_or_bail(
		'dd', "if=$file", 'of=/dev/null', 'bs=1M',
		'skip=10', 'iflag=nocache', 'status=none');
	my $half = os_cached('', 1);


	# The kernel drops pages as it likes, but not many.
	my @parts = split / /, os_cached('', 20);
	my @by_mincore = split / /, os_cached('cachestat', 20);
	cmp_ok($half, '>=', $size * 0.4, 'half of it is left');
	is( scalar(
			grep { abs($parts[$_] - $by_mincore[$_]) < 1048576 / 4 } 0 .. 19),
		20,
		'both ways agree on each part of it');
	is( scalar(grep { $_ > 1048576 / 2 } @parts[ 0 .. 9 ]) . ' ' . $parts[19],
		'10 0',
		'the first parts of it are there, the last one is not');

	# One in 256 pieces at most is neither here nor there.
	cmp_ok(abs(os_cached('look_at_all', 1) - $half),
		'<=', $size / 16, 'the sample is close');

	# What a sample remembers; meanwhile the kernel may have read ahead.
	$node->safe_psql('postgres',
		"SET tiered_storage.debug_skip = ''; CALL tiered_storage.sample()");
	is( value_of(
			"SELECT abs(os_cached_bytes - $half) <= $size / 16 FROM _tiered_storage.relation_state WHERE relation_oid = 'cached'::regclass"
		),
		't',
		'and is remembered');

	# Random reads, of which so many hit as it holds; but what is in shared
	# buffers, 256 blocks, takes room there, and is not asked for.  By now there is
	# a factor, of nearly 1.  Some read-ahead is added.
	value_of(
		"SELECT count(*) FROM cached WHERE ctid = ANY (ARRAY(SELECT format('(%s,1)', i)::tid FROM generate_series(0, 255) i))"
	);
	system_or_bail(
		'dd', "if=$file", 'of=/dev/null', 'bs=1M',
		'skip=10', 'iflag=nocache', 'status=none');
	sample(1);
	value_of(
		q(UPDATE _tiered_storage.relation_state SET blocks_fetched = blocks_fetched - 1000, random_fast = 0, device_random_fast = 0, os_cached_bytes = -1 WHERE relation_oid = 'cached'::regclass)
	);
	sample(1, '');
	is( value_of(
			q(SELECT cached_buffers >= 256 AND abs(device_random_fast / random_fast
				- (1 - (os_cached_bytes - 8192.0 * cached_buffers) / (size_bytes - 8192.0 * cached_buffers)
				+ 0.45 * r ^ 2 * (1 - r ^ 4))) < 0.03
			FROM (SELECT *, os_cached_bytes::float8 / size_bytes AS r FROM _tiered_storage.relation_state WHERE relation_oid = 'cached'::regclass) s)
		),
		't',
		'what it holds does not reach the device');
}

######################################################################
# Writes
######################################################################

# pg_wal is on the disk that the tables are on: nobody knows its part.
use_disk('fakea');
set_counters('fakea', 1000, 100_000, 1000, 0);
sample(1);
sample(1);

# How a device compares with its profile, by a move from it, of 10,000 reads and
# so many writes per hour, by the time that its profile expects of both or of
# the reads alone.
my ($from, $to) = ('main', 'other');

sub work_ms
{
	my ($writes, $counted) = @_;

	value_of(
		qq(UPDATE _tiered_storage.device_state SET observed_since = '2029-12-01',
	fit_xx = 1e18, fit_xy = 1e18, fit_yy = 1e18, fit_periods = 10,
	request_fit_xx = 1e18, request_fit_xy = 1e18, request_fit_yy = 1e18, request_fit_periods = 10,
	reads_fast = 10000, read_bytes_fast = 10000 * 8192, writes_fast = $writes, write_bytes_fast = $writes * 8192::float8, device_ms_fast = 1e5)
	);
	$node->safe_psql('postgres',
		"SET tiered_storage.test_now = '2030-02-01'; SET tiered_storage.cooldown = 0; CALL tiered_storage.move_relation('moved', '$to')"
	);
	($from, $to) = ($to, $from);
	return value_of(
		qq(SELECT coalesce(round(e.from_factor * (10000 * t.random_read_ms + $counted * t.random_write_ms))::text, 'unknown') FROM _tiered_storage.move_effect e, _tiered_storage.tiers t WHERE t.tier_name = '$to' ORDER BY e.move_id DESC LIMIT 1)
	);
}

$node->safe_psql(
	'postgres', q(
CREATE TABLE moved AS SELECT 1 AS n;
));
is(work_ms(1_000_000, 0), 'unknown', 'what it wrote says nothing');
is(work_ms(100, 0), '100000', 'but of what it read, if that is nearly all');
######################################################################
# File systems without a device of their own
######################################################################

use_disk(undef);
foreach my $case (
	[ 'fuse.juicefs' => 'remote object_store' ],
	[ 'fuse' => 'remote object_store' ],
	[ 'nfs4' => 'remote object_store' ],
	[ 'ceph' => 'remote object_store' ],
	[ 'tmpfs' => 'memory memory' ],
	[ 'fuseblk' => 'unknown -' ],
	[ 'wormfs' => 'unknown -' ])
{
	write_file('proc/self/mountinfo',
		"20 1 0:99 / / rw - $case->[0] store rw\n");
	is( value_of(
			q(SELECT concat_ws(' ', kind, COALESCE(profile, '-')) FROM _tiered_storage.tablespace_devices() WHERE tablespace_name = 'pg_default')
		),
		$case->[1],
		"a file system of type $case->[0]");
}
use_disk('fakea');

SKIP:
{
	skip 'no file system of its own for pg_wal', 1
	  if !-w '/dev/shm' || (stat '/dev/shm')[0] == (stat $node->data_dir)[0];

	my $wal = File::Temp::tempdir(DIR => '/dev/shm', CLEANUP => 1);
	$node->stop;
	system_or_bail('cp', '-a', $node->data_dir . '/pg_wal/.', $wal);
	system_or_bail('rm', '-r', $node->data_dir . '/pg_wal');
	symlink $wal, $node->data_dir . '/pg_wal' or die $!;
	write_file('proc/self/mountinfo',
			"20 1 250:9 / / rw - ext4 /dev/fakea rw\n"
		  . "21 20 0:99 / /dev/shm rw - tmpfs tmpfs rw\n");
	$node->start;

	is(work_ms(1_000_000, 1_000_000), '100000', 'and a move with both');
}

$node->stop;
done_testing();

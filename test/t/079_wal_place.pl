# The command that moves the WAL to another device is run, as it is given: from a directory
# and from behind a symbolic link, to places with hostile names, beside another cluster's WAL,
# and where it must not; and the server starts. A tier needs room for the WAL.
#
# Made up in the tables, since no call makes it in the time of a test: rows as a dump or
# another machine has left them; what devices were measured to do.
#
# On every major.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

my $node = new_node(
	'place',
	conf => q(
fsync = on
max_wal_size = 1GB
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
));
my $link = $node->data_dir . '/pg_wal';
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION tiered_storage');
run_cycle($node, 'postgres');
create_in_place_tablespace($node, 'fast');
create_in_place_tablespace($node, 'a_full');

# ---------------------------------------------------------------------
# Two devices, one for each tier, and 36,000 syncs an hour on the slow one
# ---------------------------------------------------------------------

$node->safe_psql(
	'postgres', q(
SELECT tiered_storage.remove_tier(tier_name, true) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('hdd', '{pg_default}', profile => 'hdd_7200', reserve_fraction => 0.25, device => jsonb_build_object('fsync_ms', 8)),
	tiered_storage.add_tier('ssd', '{a_full,fast}', profile => 'sata_ssd', reserve_fraction => 0.25, device => jsonb_build_object('fsync_ms', 2));
INSERT INTO _tiered_storage.tier_calibration
	SELECT t, now(), 'fsync_ms', 'ms', 1, 1, 1, 'x' FROM unnest('{hdd,ssd}'::name[]) t;
CREATE TABLE wal_tier AS SELECT 'hdd'::name AS tier, NULL::float8 AS io_s;
CREATE TABLE place (tablespace text PRIMARY KEY, mount_point text, device text, free_bytes bigint);
INSERT INTO place VALUES ('pg_default', '/', 'sda', 1e12), ('fast', '', 'sdb', 1e12), ('a_full', '/full', 'sdb', 0);
CREATE FUNCTION real_devices(OUT tablespace_name name, OUT tablespace_oid oid, OUT path text,
	OUT path_exists boolean, OUT writable boolean, OUT device text, OUT filesystem text,
	OUT mount_point text, OUT kind text, OUT rotational boolean, OUT is_virtual boolean,
	OUT compressed boolean, OUT file_system_id bigint, OUT total_bytes bigint,
	OUT used_bytes bigint, OUT free_bytes bigint, OUT profile text)
	RETURNS SETOF record LANGUAGE c AS 'tiered_storage', 'tier_tablespace_devices';
CREATE OR REPLACE FUNCTION _tiered_storage.tablespace_devices(OUT tablespace_name name,
	OUT tablespace_oid oid, OUT path text, OUT path_exists boolean, OUT writable boolean,
	OUT device text, OUT filesystem text, OUT mount_point text, OUT kind text,
	OUT rotational boolean, OUT is_virtual boolean, OUT compressed boolean,
	OUT file_system_id bigint, OUT total_bytes bigint, OUT used_bytes bigint,
	OUT free_bytes bigint, OUT profile text)
	RETURNS SETOF record LANGUAGE sql AS $$
	SELECT r.tablespace_name, r.tablespace_oid, r.path, true, true, p.device, r.filesystem,
		p.mount_point, r.kind, r.rotational, r.is_virtual, r.compressed, hashtext(p.mount_point)::bigint,
		1000000000000, 1000000000000 - p.free_bytes, p.free_bytes, r.profile
	FROM public.real_devices() r JOIN public.place p ON p.tablespace = r.tablespace_name $$;
CREATE TABLE io (LIKE _tiered_storage.device_io);
ALTER TABLE io ALTER sampled_at SET DEFAULT now();
INSERT INTO io (device, busy_1d_fraction, reads_1d_per_s) VALUES ('sda', 0.2, 0), ('sdb', 0, 0);
CREATE OR REPLACE VIEW _tiered_storage.device_io AS SELECT * FROM io;
CREATE OR REPLACE FUNCTION _tiered_storage.file_class_io(
	OUT file_class text, OUT tier_name name, OUT reads_per_hour float8,
	OUT read_bytes_per_hour float8, OUT writes_per_hour float8, OUT write_bytes_per_hour float8,
	OUT wait_s_per_hour float8, OUT place text, OUT is_total boolean, OUT device text,
	OUT fsyncs_per_hour float8, OUT io_s_per_hour float8, OUT saved_s_per_hour float8,
	OUT null_reason text) RETURNS SETOF record LANGUAGE sql AS
	$$ SELECT 'wal', (SELECT tier FROM public.wal_tier), NULL::float8, NULL::float8, 1::float8, 1::float8, 1::float8, 'pg_wal', true, '', 36000::float8, (SELECT io_s FROM public.wal_tier), NULL::float8, ''
	UNION ALL SELECT 'temp', 'hdd', NULL, NULL, NULL, 1e9, NULL, 'pg_default', true, '', NULL, NULL, NULL, '' $$)
);

sub ask { return $node->safe_psql('postgres', @_) }

sub quoted
{
	my ($text) = @_;

	$text =~ s/'/''/g;
	return "'$text'";
}

sub advice
{
	my ($columns, $setting) = @_;

	$setting ||= 'pg_wal';
	return ask(
		"SELECT $columns FROM _tiered_storage.recommend_settings(true) WHERE setting = '$setting'"
	);
}

# What is advised if the fast tier is mounted there, as a shell is given it.
sub command
{
	my ($mount_point) = @_;

	ask(    "UPDATE place SET mount_point = "
		  . quoted($mount_point)
		  . " WHERE tablespace = 'fast'");
	my $command = advice('command');
	note $command;
	unlike($command, qr/\n/, 'one line');
	like($command, qr/^-- /, 'SQL does nothing with it');
	$command =~ s/^-- [^:]*: //;
	return $command;
}

sub run
{
	my ($command) = @_;

	return system('/bin/sh', '-c', $command) == 0;
}

sub wal_path
{
	return ask(
		"SELECT path FROM _tiered_storage.server_directories() WHERE directory = 'pg_wal'"
	);
}

my $identifier = ask('SELECT system_identifier FROM pg_control_system()');
my $base = PostgreSQL::Test::Utils::tempdir;
my @mounts = map { "$base/$_" }
  ("it's \$(touch hacked) \"a\" `b`; \\ #\%s", '-n second');
foreach my $mount (@mounts)
{
	mkdir $mount or die "$mount: $!";

	# Another cluster is there.
	mkdir "$mount/pg_wal" or die "$mount: $!";
	append_to_file("$mount/pg_wal/other", 'x');
}

# ---------------------------------------------------------------------
# Room, beside the 250 GB of the reserve: on one file system
# ---------------------------------------------------------------------

sub free_bytes
{
	my ($fast, $full) = @_;

	ask("UPDATE place SET free_bytes = CASE tablespace WHEN 'fast' THEN $fast ELSE $full END, mount_point = '/' || tablespace WHERE tablespace <> 'pg_default'"
	);
	return (advice('recommended_value', 'temp_tablespaces'),
		advice('recommended_value'));
}

is_deeply(
	[ free_bytes('1e12', 0) ],
	[ 'fast', "/fast/pg_wal-$identifier" ],
	'one of two is full');
is_deeply(
	[ free_bytes(0, '1e12') ],
	[ 'a_full', "/a_full/pg_wal-$identifier" ],
	'the other one is');
is_deeply(
	[ free_bytes('251.05e9', '250.1e9') ],
	[ 'fast', '' ],
	'room for temporary files, not for max_wal_size');
like(advice('reason'),
	qr/; no other calibrated tier has room for 1024 MB of WAL$/,
	'... and why');
is_deeply(
	[ free_bytes('250.6e9', '250.6e9') ],
	[ '', '' ],
	'room that only both have together');
is_deeply(
	[ free_bytes('251.08e9', 0) ],
	[ 'fast', "/fast/pg_wal-$identifier" ],
	'room for both');
ask("SELECT tiered_storage.alter_tier('ssd', device => jsonb_build_object('capacity_bytes', 1300000000))"
);
is_deeply(
	[ free_bytes('1e12', '1e12') ],
	[ '', '' ],
	'a tier that is limited');
ask("SELECT tiered_storage.alter_tier('ssd', device => jsonb_build_object('capacity_bytes', 1000000000000))"
);
free_bytes('1e12', 0);

# ---------------------------------------------------------------------
# WAL and data on one device: what each waits for the other
# ---------------------------------------------------------------------

# The device is busy for 12 % with others: 8 + 0.12 / 0.88 * 12.4 ms.
is( advice('reason'),
	'a sync takes 9.69 ms on "hdd", 2.00 ms on "ssd" (busy 0 %)',
	'syncs wait for others');

# 36000 * 0.08 / 0.92 * 8 ms and 360000 * 0.02 / 0.98 * 2 ms.
sub reads
{
	my ($sda, $sdb) = @_;

	ask("UPDATE io SET reads_1d_per_s = CASE device WHEN 'sda' THEN $sda ELSE $sdb END"
	);
	return;
}
reads(10, 100);
like(
	advice('effect'),
	qr/^36000 syncs an hour take 276.9 s less, reads wait for them 25.0 s less here and 14.7 s more there;/,
	'reads wait for syncs');
reads(10, 10000);
is(advice('recommended_value'), '', 'what reads would wait there is counted');
is( advice('reason'),
	'the WAL is on "hdd"; a sync takes 9.69 ms, and those of an hour 9.7 % of it; since data are there, syncs wait 60.9 s an hour for them, and reads 25.0 s for syncs; no calibrated tier with room is faster by a fifth and ten seconds an hour, with the waits of reads: the best is "ssd", a sync would take 2.00 ms there',
	'... and what they wait now is said');
reads(0, 0);

# With track_wal_io_timing the server knows better.
ask('UPDATE wal_tier SET io_s = 36000 * 0.05');
is( advice('reason'),
	'a sync takes 50.00 ms on "hdd", 2.00 ms on "ssd" (busy 0 %)',
	'what the server has measured');
is(advice('expected_ratio'), '0.04', '... and what of it is left');

# Nine seconds an hour, of which a sixth would be left.
ask('UPDATE wal_tier SET io_s = 36000 * 0.00025');
ask("SELECT tiered_storage.alter_tier('ssd', device => jsonb_build_object('fsync_ms', 0.04))"
);
is(advice('recommended_value'), '', 'too little for a restart');
ask('UPDATE wal_tier SET io_s = 36000 * 0.00035');
is(advice('recommended_value'),
	"/fast/pg_wal-$identifier", 'twelve of them are not');

# Not calibrated.
ask("DELETE FROM _tiered_storage.tier_calibration WHERE tier_name = 'ssd'");
is(advice('recommended_value'), '', 'what a profile says is not enough');
like(
	advice('reason'),
	qr/ the WAL's tier and another one must have been calibrated and sampled$/,
	'... and why');
ask("INSERT INTO _tiered_storage.tier_calibration VALUES ('ssd', now(), 'fsync_ms', 'ms', 1, 1, 1, 'x')"
);

# A disk like this one, of its own: 36000 * 0.08 / 0.92 * 8 ms are what 100 reads a second wait here.
ask('UPDATE wal_tier SET io_s = NULL');
ask("SELECT tiered_storage.alter_tier('ssd', device => jsonb_build_object('fsync_ms', 8))"
);
is(advice('recommended_value'), '', 'no faster, and nothing else waits');
reads(100, 0);
like(
	advice("concat_ws('; ', reason, effect)"),
	qr/^a sync takes 9\.69 ms on "hdd", 8\.00 ms on "ssd" \(busy 0 %\); 36000 syncs an hour take 60\.9 s less, reads wait for them 250\.4 s less here and 0\.0 s more there;/,
	'reads decide');

# Syncs that take half of what calibration found do so on a disk of that kind, and not on another: 36000 * 0.04 / 0.96 * 4 ms.
ask('UPDATE wal_tier SET io_s = 36000 * 0.004');
is(advice('recommended_value'), '', 'another kind of device has no pauses');
like(
	advice('reason'),
	qr/: the best is "ssd", a sync would take 8\.00 ms there$/,
	'... of which anything was measured');
ask("UPDATE _tiered_storage.tier SET profile = 'hdd_7200' WHERE tier_name = 'ssd'"
);
like(
	advice("concat_ws('; ', reason, effect)"),
	qr/^a sync takes 4\.00 ms on "hdd", 4\.00 ms on "ssd" \(busy 0 %\); 36000 syncs an hour take 0\.0 s less, reads wait for them 60\.0 s less here and 0\.0 s more there;/,
	'compared by what was measured in the same way');
ask("SELECT tiered_storage.alter_tier('ssd', device => jsonb_build_object('fsync_ms', 9))"
);
like(
	advice('effect'),
	qr/^36000 syncs an hour take 18\.0 s more, reads wait for them 60\.0 s less/,
	'syncs may take longer');
ask("UPDATE _tiered_storage.tier SET profile = 'sata_ssd' WHERE tier_name = 'ssd'"
);
reads(0, 0);
ask('UPDATE wal_tier SET io_s = NULL');
ask("SELECT tiered_storage.alter_tier('ssd', tablespaces => '{fast}', device => jsonb_build_object('fsync_ms', 8)),
	tiered_storage.add_tier('full', '{a_full}', profile => 'nvme', device => jsonb_build_object('fsync_ms', 1))"
);
ask("INSERT INTO _tiered_storage.tier_calibration VALUES ('full', now(), 'fsync_ms', 'ms', 1, 1, 1, 'x')"
);
like(
	advice('reason'),
	qr/: the best is "ssd", a sync would take 8\.00 ms there; "full" would be, and has no room for 1024 MB$/,
	'what is faster and full');

# With room it has the quickest sync, for which 36,000,000 reads would wait 0.01 / 0.99 * 1 ms each.
ask("UPDATE place SET device = 'sdc', free_bytes = 1e12 WHERE tablespace = 'a_full';
	INSERT INTO io (device, busy_1d_fraction, reads_1d_per_s) VALUES ('sdc', 0, 10000);
	SELECT tiered_storage.alter_tier('ssd', device => jsonb_build_object('fsync_ms', 2))"
);
is(advice('recommended_value'),
	"/fast/pg_wal-$identifier",
	'not the quickest sync, but the least waiting');
ask("UPDATE place SET device = 'sdb', free_bytes = 0 WHERE tablespace = 'a_full'; DELETE FROM io WHERE device = 'sdc'"
);
ask("SELECT tiered_storage.remove_tier('full'), tiered_storage.alter_tier('ssd', tablespaces => '{a_full,fast}', device => jsonb_build_object('fsync_ms', 2))"
);

# ---------------------------------------------------------------------
# A device of its own, which is of no tier
# ---------------------------------------------------------------------

my $where = quotemeta(
	ask("SELECT format('%s (%s), where no tablespace is', COALESCE(device, 'a device that is not known'), COALESCE(NULLIF(kind, 'unknown'), CASE WHEN is_virtual THEN 'virtual disk' ELSE 'of a kind that is not known' END))
		FROM _tiered_storage.server_directories() WHERE directory = 'pg_wal'"));

sub measured
{
	my ($method, $write_ms, $path) = @_;

	ask("TRUNCATE _tiered_storage.wal_calibration; INSERT INTO _tiered_storage.wal_calibration SELECT now(), '$method', $write_ms, 0.01, 9, $path, device FROM _tiered_storage.server_directories() WHERE directory = 'pg_wal'"
	);
	return advice('reason');
}
ask('UPDATE wal_tier SET tier = NULL');
my $hint =
  qr/^the WAL is on $where; no sync was measured there: SELECT \* FROM tiered_storage\.calibrate_tier\(\.\.\.\)$/;
like(advice('reason'), $hint, 'what can be done');
like(measured('fdatasync', 10, "'/elsewhere'"),
	$hint, 'measured where the WAL was before');
like(measured('open_sync', 10, 'path'),
	$hint, 'not what is measured of tiers');
like(
	measured('fdatasync', 1, 'path'),
	qr/^the WAL is on $where; a sync takes 1\.00 ms, and those of an hour 1\.0 % of it; no calibrated tier with room is faster/,
	'a fast one');
is(advice('recommended_value'), '', '... stays');
like(
	measured('fdatasync', 10, 'path'),
	qr/^a sync takes 10\.00 ms on $where, 2\.00 ms on "ssd" \(busy 0 %\)$/,
	'a slow one');
is(advice('expected_ratio'), '0.2', '... is left');
ask("UPDATE _tiered_storage.wal_calibration SET device = 'another'");
like(advice('reason'), $hint, 'measured on another device');
measured('fdatasync', 10, 'path');
SKIP:
{
	my $device =
	  ask(
		"SELECT device FROM _tiered_storage.server_directories() WHERE directory = 'pg_wal'"
	  );

	skip 'the device of the WAL is not known here', 1 if $device eq '';
	ask("UPDATE place SET device = '$device' WHERE tablespace = 'fast'");
	ask("INSERT INTO io (device, busy_1d_fraction, reads_1d_per_s) VALUES ('$device', 0, 0)"
	);
	is(advice('recommended_value'), '', 'not to where it is');
	ask("UPDATE place SET device = 'sdb' WHERE tablespace = 'fast'");
	ask("DELETE FROM io WHERE device = '$device'");
}
like(advice('effect'), qr/take 288\.0 s less; /, '... for so much');
ask("UPDATE wal_tier SET tier = 'hdd'");

# ---------------------------------------------------------------------
# From a directory, and from behind a link
# ---------------------------------------------------------------------

my @from = ($link);
foreach my $mount (@mounts)
{
	my $command = command($mount);
	my $target = "$mount/pg_wal-$identifier";

	is(advice('recommended_value'), $target, 'a place of its own');
	ok(!run($command), 'not while the server runs');
	ok(!-e $target, '... and nothing is there');
	is(wal_path(), $from[-1], '... and nothing has changed');

	ask('CREATE TABLE IF NOT EXISTS kept (i int); INSERT INTO kept VALUES (1)'
	);
	$node->stop;

	# Somebody else has that name.
	mkdir $target or die "$target: $!";
	ok(!run($command), 'not into what is there');
	is_deeply([ grep { !/^\.+$/ } slurp_dir($target) ],
		[], '... and nothing gets into it');
	rmdir $target or die "$target: $!";

	ok(run($command), 'the command works');
	ok(-l $link, 'a link');
	is(readlink $link, $target, '... to the new place');
	is((stat $target)[2] & 07777,
		0700, 'others may not look into the directory');
	$node->start;
	is(wal_path(), $target, 'the server has its WAL there');
	is(ask('SELECT count(*) FROM kept'), scalar @from, 'nothing is lost');
	push @from, $target;
	is_deeply([ grep { !/^\.+$/ } slurp_dir("$mount/pg_wal") ],
		['other'], "the other cluster's WAL is as it was");
	ok(!run($command), 'not twice');
}
ok(-d "$link.old" && !-l "$link.old", 'what was a directory is kept beside');
ok(-d $from[1], 'and so is the earlier place');
ok(!-e 'hacked' && !-e "$base/hacked" && !-e "$link/../hacked",
	'no name is run');
command("$base/third");
like(advice('command'), qr/\Q$base\E/, 'a place that is not there yet');

# A statement may not begin in the middle of what is a comment.
ask("UPDATE place SET mount_point = E'/a\\nDROP TABLE kept; --' WHERE tablespace = 'fast'"
);
is(advice('command'), '', 'no command for a name of two lines');
isnt(advice('effect'), '', '... but the advice');

$node->stop;

done_testing();

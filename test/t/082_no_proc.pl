# Servers that see neither /proc nor /sys, may not read them, or find nonsense there, as in
# containers: all that the interface has answers, with null and a reason for what is not known.
#
# On every major.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use File::Path qw(make_path);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

plan skip_all => 'devices are known on Linux only' unless $^O eq 'linux';

# What is asked, by function; "" for those that need nothing.
my %arguments = (
	apply_placement => 'dry_run => true',
	block_heat => "'t', 4",
	calibrate_tier => "'here', 0.2, 8388608",
	compare_load =>
	  '(SELECT observed_since FROM _tiered_storage.load_state), (SELECT sampled_at FROM _tiered_storage.load_state), '
	  . '(SELECT observed_since FROM _tiered_storage.load_state), (SELECT sampled_at FROM _tiered_storage.load_state)',
	device_profiles => '',
	discover_tiers => '',
	estimate_compression => "'t'",
	evaluate_policies => '',
	explain_placement => "'t'",
	explain_tiers => "'SELECT 1'",
	load_profile => '',
	migrate => 'dry_run => true',
	orphaned_files => '',
	placement_summary => '',
	preflight => "'t', 'there'",
	partitioning_script => "'t', 'i', '1000', bound => '100000'",
	recommend_partitioning => '',
	recommend_placement => 'true',
	recommend_settings => 'true',
	report => '',
	sample => '',
	simulate_placement => '',
	suppose => "'t', 'there'",
	suppose_recommended => '',
	suppose_reset => '',
	tier_size_curve => "'here'",
	unused_relations => '');

# These change what somebody has told, and look at no device.
my $others =
  qr/^(add|alter|remove|set|reset|pin|unpin|pause|resume|undo|move|pull)(_|$)/;

sub start_server
{
	my ($name, $conf, $start) = @_;
	my $node = new_node($name,
			conf => "tiered_storage.auto_migrate = off\n"
		  . "tiered_storage.sample_interval = '1d'\n"
		  . "track_io_timing = on\ntrack_wal_io_timing = on\nfsync = on\nmax_wal_size = 64MB\n"
		  . $conf);
	$start->($node);
	create_in_place_tablespace($node, 'there');
	$node->safe_psql(
		'postgres', q(
CREATE EXTENSION tiered_storage;
CREATE TABLE t AS SELECT i, md5(i::text) AS pad FROM generate_series(1, 20000) i;
CREATE INDEX t_i ON t (i);
CALL tiered_storage.sample();
DO $$ BEGIN PERFORM count(*) FROM t; UPDATE t SET pad = 'x' WHERE i % 10 = 0; END $$;
SELECT pg_stat_force_next_flush();
));
	return $node;
}

# All of the interface.  A device that is not known is no device of which nothing is read.
sub check_server
{
	my ($node, $what) = @_;
	my @functions = split /\n/,
	  $node->safe_psql('postgres',
		"SELECT DISTINCT concat_ws('|', proname, prokind) FROM pg_proc WHERE pronamespace = 'tiered_storage'::regnamespace ORDER BY 1"
	  );
	my @views = split /\n/,
	  $node->safe_psql('postgres',
		"SELECT relname FROM pg_class WHERE relnamespace = 'tiered_storage'::regnamespace AND relkind = 'v' AND relname !~ '^node_' ORDER BY 1"
	  );
	my $ask = sub { return $node->safe_psql('postgres', @_) };
	my @wrong;

	note $what;
	is( $ask->(
			'SELECT string_agg(DISTINCT tier_name, $$,$$) FROM _tiered_storage.tiers'
		),
		'unknown',
		"$what: a tier of a device that is not known");
	$ask->(
		q(SELECT tiered_storage.remove_tier('unknown');
SELECT tiered_storage.add_tier('here', '{pg_default}', profile => 'hdd_7200', reserve_fraction => 0, device => jsonb_build_object('endurance_tbw', 100)),
	tiered_storage.add_tier('there', '{there}', profile => 'nvme', reserve_fraction => 0);
SELECT tiered_storage.calibrate_tier('there', 0.2, 8388608) \g /dev/null
CALL tiered_storage.sample();)
	);

	foreach (@functions)
	{
		my ($name, $kind) = split /\|/;

		next if $name =~ $others;
		die "$name: say what it is called with"
		  unless defined $arguments{$name};
		my $call = "tiered_storage.$name($arguments{$name})";
		my ($rc, $out, $err) = $node->psql('postgres',
			$kind eq 'p' ? "CALL $call" : "SELECT * FROM $call");
		push @wrong, "$name: $err" if $rc != 0;
	}
	foreach my $view (@views)
	{
		my ($rc, $out, $err) =
		  $node->psql('postgres', "SELECT * FROM tiered_storage.$view");
		push @wrong, "$view: $err" if $rc != 0;
	}
	is(join("\n", @wrong), '', "$what: all that can be asked has an answer");

	is( $ask->(
			"SELECT count(*) FILTER (WHERE device IS NOT NULL OR kind <> 'unknown' OR rotational OR is_virtual), count(*) FILTER (WHERE total_bytes > 0 AND path_exists AND writable) > 1 FROM _tiered_storage.tablespace_devices()"
		),
		'0|t',
		"$what: no device, and how full the file system is");
	is($ask->('SELECT count(*) FROM _tiered_storage.device_io'),
		'0', "$what: nothing is counted of it");
	is( $ask->(
			"SELECT count(*), bool_and(device IS NULL AND num_nulls(written_bytes, written_bytes_per_day, moved_bytes_per_day, used_fraction, expected_life_years, wear_exceeded) = 6 AND reason ~ '^the device of its tablespaces is not known: ') FROM _tiered_storage.wear_state()"
		),
		'2|t',
		"$what: nothing is said of its wear, and why");
	is( $ask->(
			"SELECT bool_and(devices IS NULL AND wear_exceeded IS NULL AND used_bytes > 0) FROM _tiered_storage.tiers"
		),
		't',
		"$what: the tiers");
	is( $ask->(
			"SELECT bool_and(device IS NULL AND (num_nulls(reads_per_hour, read_bytes_per_hour, writes_per_hour, write_bytes_per_hour, fsyncs_per_hour, io_s_per_hour, wait_s_per_hour) = 0 OR null_reason IS NOT NULL)) FROM _tiered_storage.file_class_io()"
		),
		't',
		"$what: what is null has a reason");
	is( $ask->(
			"SELECT bool_and(reason IS NOT NULL) FROM tiered_storage.recommend_settings(true)"
		),
		't',
		"$what: each setting has a reason");
	like(
		$ask->(
			"SELECT reason FROM _tiered_storage.recommend_settings(true) WHERE setting = 'pg_wal'"
		),
		qr/; how busy devices are is not known: the kernel's counters are not to be seen$/,
		"$what: ... also the WAL's place");
	is( $ask->(
			"SELECT count(*) FILTER (WHERE name ~ 'tier_(busy|wear)'), count(*) FILTER (WHERE name ~ 'tier_used_bytes') FROM tiered_storage.metrics"
		),
		'0|2',
		"$what: no metric of a device, but of its room");
	is( $ask->(
			"SELECT bool_and(measured > 0) FROM _tiered_storage.tier_calibration WHERE measurement IN ('random_read_ms', 'fsync_ms', 'sequential_read_mb_per_s')"
		),
		't',
		"$what: what is measured needs no name of a device");
	is( $ask->(
			'SELECT count(*) > 0, bool_and(device IS NULL) FROM _tiered_storage.wal_calibration'
		),
		't|t',
		"$what: nor does the WAL");
	like(
		error_of(
			$node,
			'postgres',
			"SELECT tiered_storage.alter_tier('here', device => jsonb_build_object('written_bytes', 1000))"
		),
		qr/42704.*has 0 devices/,
		"$what: nothing can be told of a device that is not there");
	is( $ask->(
			"SELECT count(*) FILTER (WHERE x IN ('NaN', 'Infinity', '-Infinity')) FROM tiered_storage.metrics, LATERAL (VALUES (value)) v (x)"
		),
		'0',
		"$what: metrics are numbers");
	return;
}

######################################################################
note 'Neither is mounted';
######################################################################

my @hidden =
  ('unshare', '--user', '--map-current-user', '--mount', '--keep-caps');
my @bare = (
	'setpriv', '--inh-caps=-all',
	'--ambient-caps=-all', '--bounding-set=-all');
my $mask =
  'mount -t tmpfs none /sys && mount -t tmpfs none /proc && exec "$@"';

SKIP:
{
	skip 'CANNOT MOUNT HERE: A SERVER WITHOUT /proc IS NOT TESTED', 16
	  if system("@hidden sh -c '$mask' - @bare true >/dev/null 2>&1") != 0;
	my $node = start_server(
		'hidden', '',
		sub {
			my ($node) = @_;

			system_or_bail(
				@hidden, 'sh',
				'-c', $mask,
				'-', @bare,
				$node->installed_command('pg_ctl'), '--wait',
				'--pgdata', $node->data_dir,
				'--log', $node->logfile,
				'start');
			$node->_update_pid(1);
		});
	is( $node->safe_psql(
			'postgres',
			"SELECT pg_stat_file('/proc/self/mountinfo', true) IS NULL AND pg_stat_file('/sys/dev', true) IS NULL"
		),
		't',
		'the server sees neither');
	check_server($node, 'not mounted');
	$node->stop;
}

######################################################################
# What a debug build can be shown
######################################################################

SKIP:
{
	skip 'no debug build of the library', 15 * 3
	  unless $ENV{TIER_DEBUG_LIBDIR};
	my $root = PostgreSQL::Test::Utils::tempdir;
	my $conf =
	  "tiered_storage.debug_root = '$root'\ntiered_storage.debug_skip = 'pagecache'\n";
	my $write = sub {
		my ($path, $text) = @_;

		open my $file, '>', "$root/$path" or die "$path: $!";
		print $file $text;
		close $file or die "$path: $!";
	};
	my $node = start_server('empty', $conf, sub { $_[0]->start });

	check_server($node, 'nothing there');
	$node->stop;

	my $number = (stat $node->data_dir)[0];
	my $major = ($number >> 8) & 0xfff;
	my $minor = ($number & 0xff) | (($number >> 12) & 0xfff00);
	make_path(
		"$root/proc/self", "$root/proc/sys/kernel/random",
		"$root/sys/dev/block", "$root/sys/class/block",
		"$root/sys/devices/fakea/queue");
	$write->(
		'proc/self/mountinfo',
		"20 1 $major:$minor / / rw - ext4 /dev/fakea rw\n");
	$write->('proc/self/cgroup', "0::/\n");
	$write->('proc/meminfo', "MemTotal: 1000000 kB\nMemFree: 1000 kB\n");
	$write->('proc/uptime', "1 1\n");
	$write->('proc/sys/kernel/random/boot_id', "boot-1\n");
	$write->('sys/devices/fakea/queue/rotational', "1\n");
	$write->('sys/devices/fakea/stat', '10 ' x 17 . "\n");
	symlink "$root/sys/devices/fakea", "$root/sys/class/block/fakea"
	  or die $!;
	symlink "$root/sys/devices/fakea", "$root/sys/dev/block/$major:$minor"
	  or die $!;
	my @closed = (
		"$root/proc/self", "$root/proc/sys",
		"$root/proc/meminfo", "$root/proc/uptime",
		"$root/sys/dev", "$root/sys/class",
		"$root/sys/devices");
	chmod 0, @closed or die $!;
	skip 'WHO MAY READ EVERYTHING CANNOT TEST WHAT MAY NOT BE READ', 15 * 2
	  if -r "$root/proc/meminfo";
	$node = start_server('closed', $conf, sub { $_[0]->start });
	check_server($node, 'not to be read');
	$node->stop;
	chmod 0755, @closed or die $!;

	# A file system that is there, of a device whose name leads nowhere.
	$write->($_, "\0\xff nonsense " x 4000)
	  foreach 'proc/self/mountinfo', 'proc/self/cgroup', 'proc/meminfo',
	  'proc/uptime', 'proc/sys/kernel/random/boot_id';
	unlink "$root/sys/dev/block/$major:$minor" or die $!;
	symlink "$root/sys/dev/block/$major:$minor",
	  "$root/sys/dev/block/$major:$minor"
	  or die $!;
	$node = start_server('nonsense', $conf, sub { $_[0]->start });
	check_server($node, 'nonsense');
	$node->stop;
}

done_testing();

# What settings are recommended from measurements, on a server that syncs its files and
# whose WAL is behind a symbolic link; who may measure; that nothing is left behind; and
# what a standby says.
#
# Made up in the tables, since no call makes it in the time of a test: rates, and
# history of days and weeks, the load of hours; what devices were measured to do.
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
	'settings',
	standby => 1,
	conf => q(
fsync = on
full_page_writes = on
wal_sync_method = fdatasync
max_wal_size = 1GB
checkpoint_timeout = 5min
wal_compression = off
tiered_storage.sample_interval = '1h'
));
my $wal = PostgreSQL::Test::Utils::tempdir() . "/it's wal";
rename($node->data_dir . '/pg_wal', $wal) or die "$wal: $!";
symlink($wal, $node->data_dir . '/pg_wal') or die "$wal: $!";
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION tiered_storage');
run_cycle($node, 'postgres');
$node->safe_psql('postgres',
	"SELECT tiered_storage.remove_tier(tier_name, true) FROM _tiered_storage.tiers"
);
create_in_place_tablespace($node, 'fast');
$node->safe_psql(
	'postgres', q(
SELECT tiered_storage.add_tier('hdd', '{pg_default}', profile => 'hdd_7200', reserve_fraction => 0);
SELECT tiered_storage.add_tier('ssd', '{fast}', profile => 'sata_ssd', reserve_fraction => 0);)
);

sub ask { return $node->safe_psql('postgres', @_) }

sub advice
{
	my ($setting, $columns) = @_;
	return ask(
		"SELECT $columns FROM _tiered_storage.recommend_settings() WHERE setting = '$setting'"
	);
}

is( ask("SELECT path FROM _tiered_storage.server_directories() WHERE directory = 'pg_wal'"
	),
	$wal,
	'the WAL is found behind its symbolic link');

# ---------------------------------------------------------------------
# Measuring
# ---------------------------------------------------------------------

my $wal_tier = ask(
	"SELECT COALESCE((SELECT tier_name FROM _tiered_storage.directory_tiers() WHERE directory = 'pg_wal'), (SELECT min(tier_name) FROM _tiered_storage.tiers))"
);
is( ask("SELECT count(*) > 1 FROM tiered_storage.calibrate_tier('$wal_tier', 0.5, 8388608) WHERE measurement LIKE 'pg_wal %'"
	),
	't',
	'methods are measured');
is(ask('SELECT DISTINCT path FROM _tiered_storage.wal_calibration'),
	$wal, 'where the WAL is');
like(
	error_of(
		$node,
		'postgres',
		"SET statement_timeout = '100ms'; SELECT * FROM _tiered_storage.measure_wal_sync(600, 1000000000000)"
	),
	qr/statement timeout/,
	'a measurement can be cancelled');
is(join(' ', grep { /calibration/ } slurp_dir($wal)),
	'', 'no file is left behind');
like(
	error_of(
		$node,
		'postgres',
		"SET ROLE pg_monitor; SELECT * FROM tiered_storage.calibrate_tier('$wal_tier')"
	),
	qr/permission denied/,
	'a role that only monitors may not measure');
ask('SET ROLE pg_monitor; SELECT count(*) FROM _tiered_storage.recommend_settings(true)'
);

# ---------------------------------------------------------------------
# The method
# ---------------------------------------------------------------------

sub measured
{
	my ($best_ms, $error_ms, $device) = @_;
	ask('TRUNCATE _tiered_storage.wal_calibration');
	ask("INSERT INTO _tiered_storage.wal_calibration SELECT now(), m.method, m.ms, $error_ms, 9, path, $device
		FROM _tiered_storage.server_directories(), (VALUES ('fdatasync', 10), ('open_datasync', $best_ms)) m (method, ms)
		WHERE directory = 'pg_wal'");
	return advice('wal_sync_method', 'command, expected_ratio, requires');
}

is( measured(8, 0.5, 'device'),
	"ALTER SYSTEM SET wal_sync_method = 'open_datasync';|0.8|reload",
	'a method that is faster');
is(measured(8, 1, 'device'), '', 'not beyond the error');
is(measured(9.5, 0.01, 'device'), '', 'by less than a tenth');
is(measured(1, 0.01, "'another'"), '', 'measured on another device');

# ---------------------------------------------------------------------
# Full-page images: two GB of WAL and 12 checkpoints an hour
# ---------------------------------------------------------------------

ask(q(CREATE OR REPLACE VIEW _tiered_storage.write_amplification AS SELECT NULL::name AS tier_name, true AS is_total,
	1::float8 AS row_changes_per_hour, 1::float8 AS row_bytes_per_hour, 1::float8 AS page_write_bytes_per_hour,
	1::float8 AS maintenance_write_bytes_per_hour, 1::float8 AS moved_bytes_per_hour, 100::float8 AS wal_bytes_per_hour,
	80::float8 AS full_page_image_bytes_per_hour, 1::float8 AS amplification));

sub checkpoints
{
	my ($timed, $requested, $wal_bytes, $image_share) = @_;
	my $images = int(($image_share // 0.8) * $wal_bytes / 8192);
	ask('TRUNCATE _tiered_storage.load_history, _tiered_storage.history_hour'
	);
	ask("UPDATE _tiered_storage.load_state SET observed_since = '2030-02-01 00:00+00', sampled_at = '2030-02-01 02:00+00'"
	);
	ask("INSERT INTO _tiered_storage.load_history (period_start, period_s, commits, wal_bytes, wal_full_page_images, checkpoints_timed, checkpoints_requested)
		VALUES ('2030-02-01 00:00+00', 7200, 1, $wal_bytes, $images, $timed, $requested)"
	);
	return ask(
		"SELECT string_agg(concat_ws(' ', setting, CASE WHEN setting <> 'wal_compression' THEN recommended_value END, round(expected_ratio::numeric, 2)), ', ' ORDER BY setting)
		FROM _tiered_storage.recommend_settings() WHERE setting ~ '^(checkpoint|max_wal|wal_comp)'"
	);
}

# 1 - 0.8 * (1 - 3 / 12); 2e9 * 1200 / 3600 * 1.9 * 1.1 bytes.
is( checkpoints(24, 0, '4e9'),
	'checkpoint_timeout 1200s 0.40, max_wal_size 2GB 0.40, wal_compression 0.60',
	'checkpoints that come by time');

# 1 - 0.8 * (1 - 12 / 24); 20e9 * 300 / 3600 * 1.9 * 1.1 bytes.
is( checkpoints(0, 48, '40e9'),
	'max_wal_size 4GB 0.60, wal_compression 0.60',
	'checkpoints that are requested');

# At most 8e9 * 1.9 / 2^30 = 14 an hour are by the WAL, the other 10 stay: 1 - 0.8 * (1 - 22 / 24).
is( checkpoints(0, 48, '16e9'),
	'wal_compression 0.60',
	'checkpoints by command');
is(checkpoints(24, 0, '1e8'), '', 'little WAL');

# Who has set it: another file does not win over ALTER SYSTEM, a database or a role does.
my $who =
  "SELECT string_agg(setting || ': ' || COALESCE(substring(reason from '; (where ALTER .*|it is set .*)'), '-') || ', ' || COALESCE(command, 'no command') || ', ' || requires, chr(10) ORDER BY setting)
	FROM _tiered_storage.recommend_settings() WHERE setting ~ '^(max_wal|wal_comp)'";
checkpoints(24, 0, '4e9');
my $method = ask(
	"SELECT CASE WHEN 'lz4' = ANY (enumvals) THEN 'lz4' ELSE 'pglz' END FROM pg_settings WHERE name = 'wal_compression'"
);
$node->append_conf('other.conf', 'max_wal_size = 1GB');
$node->append_conf('postgresql.conf', "include 'other.conf'");
$node->reload;
my $alter = "-, ALTER SYSTEM SET max_wal_size = '2GB';, reload";
is( ask($who),
	"max_wal_size: $alter\nwal_compression: -, ALTER SYSTEM SET wal_compression = '$method';, reload",
	'set in a file that is included');
ask('ALTER DATABASE postgres SET wal_compression = off');
is( ask($who),
	"max_wal_size: $alter\nwal_compression: where ALTER DATABASE or ALTER ROLE has set it, that stays, ALTER SYSTEM SET wal_compression = '$method';, reload",
	'set for a database');
ask('ALTER DATABASE postgres RESET wal_compression');

# What only this session has is not the server's.
my $only = sub {
	my ($options, $set) = @_;

	local $ENV{PGOPTIONS} = $options;
	return ask(
		"$set; SELECT substring(reason FROM 'the current value.*'), command FROM _tiered_storage.recommend_settings(true) WHERE setting = 'wal_compression'"
	);
};
is( $only->('-c wal_compression=pglz', 'SELECT'),
	"the current value is only this session's: its client has set it (PGOPTIONS)|",
	'set by PGOPTIONS');
is( $only->('', 'SET wal_compression = pglz'),
	"the current value is only this session's, by SET|",
	'set in the session');
ask('ALTER ROLE CURRENT_USER SET wal_compression = pglz');
like(
	$only->('', 'SET jit = off'),
	qr/^the current value is that of role .*, by ALTER ROLE\|$/,
	'set for the role');
ask('ALTER ROLE CURRENT_USER RESET wal_compression');
my $of_tablespace = sub {
	return ask(
		"SET random_page_cost = 7; SELECT DISTINCT current_value, substring(reason FROM 'the current value.*'), command FROM _tiered_storage.recommend_settings() WHERE setting = 'random_page_cost' AND tablespace_name = 'fast'"
	);
};
my $its_command =
  ask(
	"SELECT command FROM _tiered_storage.recommend_settings() WHERE setting = 'random_page_cost' AND tablespace_name = 'fast'"
  );
# No cost that is recommended.
$node->append_conf('other.conf', 'random_page_cost = 50');
$node->reload;
is($of_tablespace->(), "50||$its_command",
	'a cost of the session is not the one of the server');
ask('ALTER TABLESPACE fast SET (random_page_cost = 9)');
is($of_tablespace->(), "9||$its_command", 'one of the tablespace wins');
ask('ALTER TABLESPACE fast RESET (random_page_cost)');

SKIP:
{
	skip 'allow_alter_system came with PostgreSQL 17', 2
	  if ask('SHOW server_version_num') < 170000;

	$node->append_conf('other.conf', 'allow_alter_system = off');
	$node->reload;
	is( ask($who =~ s/where ALTER/allow_alter_system/r),
		"max_wal_size: allow_alter_system is off: set it where the server's configuration comes from, no command, reload\n"
		  . "wal_compression: allow_alter_system is off: set it where the server's configuration comes from, no command, reload",
		'ALTER SYSTEM is not allowed');
	like(
		ask("SELECT string_agg(DISTINCT command, ' ') FROM _tiered_storage.recommend_settings()"
		),
		qr/^ALTER TABLESPACE/,
		'... other statements are');
	$node->append_conf('other.conf', 'allow_alter_system = on');
	$node->reload;
}
$node->stop;
system_or_bail(
	'pg_ctl', '-w', '-s', '-D',
	$node->data_dir, '-l', $node->logfile, '-o',
	'-c max_wal_size=1GB', 'start');
$node->_update_pid(1);
run_cycle($node, 'postgres');
checkpoints(24, 0, '4e9');
is( ask($who),
	"max_wal_size: it is set on the server's command line, which wins over ALTER SYSTEM: change it there, no command, restart\nwal_compression: -, ALTER SYSTEM SET wal_compression = '$method';, reload",
	'set on the command line');
ask("ALTER SYSTEM SET max_wal_size = '2GB'");
$node->reload;
is(ask('SHOW max_wal_size'), '1GB', '... which does win');
ask('ALTER SYSTEM RESET max_wal_size');
$node->stop;
$node->start;
run_cycle($node, 'postgres');

# Checkpoints are rare already: with fewer of them nothing is gained. Last: 1 - 0.8 * (1 - 3 / 3.5).
is( checkpoints(6, 0, '4e9'),
	'wal_compression 0.60',
	'no more checkpoints than there would be');
is( ask("SELECT DISTINCT recommended_value, command, reason FROM _tiered_storage.recommend_settings(true) WHERE setting ~ '^(checkpoint|max_wal)'"
	),
	'||full-page images are 80 % of the WAL, if they are as large in all databases; 3.0 checkpoints an hour; fewer would reduce the WAL by less than a tenth',
	'... and why');
is(checkpoints(1, 1, '9e9'), 'wal_compression 0.60', 'rare checkpoints');
is(checkpoints(0, 0, '4e9'), 'wal_compression 0.60', 'no checkpoint');
is( checkpoints(7, 0, '4e9'),
	'checkpoint_timeout 1200s 0.89, max_wal_size 2GB 0.89, wal_compression 0.60',
	'just enough of them');

# The WAL of this database is images, but it is a small part of the server's.
is(checkpoints(24, 0, '4e9', 0.01), '', 'few images in all of the WAL');
is( checkpoints(24, 0, '4e9', 100),
	'checkpoint_timeout 1200s 0.25, max_wal_size 2GB 0.25, wal_compression 0.50',
	'never more than all of it');

# Its pages are written with images of a quarter of a block.
ask(q(CREATE OR REPLACE VIEW _tiered_storage.write_amplification AS SELECT NULL::name AS tier_name, true AS is_total,
	1::float8 AS row_changes_per_hour, 1::float8 AS row_bytes_per_hour, 200::float8 AS page_write_bytes_per_hour,
	120::float8 AS maintenance_write_bytes_per_hour, 1::float8 AS moved_bytes_per_hour, 100::float8 AS wal_bytes_per_hour,
	80::float8 AS full_page_image_bytes_per_hour, 1::float8 AS amplification));
is(checkpoints(24, 0, '4e9', 0.8), '', 'small images');
is( checkpoints(24, 0, '4e9', 3.2),
	'checkpoint_timeout 1200s 0.40, max_wal_size 2GB 0.40, wal_compression 0.60',
	'many small images');
ask(q(CREATE OR REPLACE VIEW _tiered_storage.write_amplification AS SELECT NULL::name AS tier_name, true AS is_total,
	1::float8 AS row_changes_per_hour, 1::float8 AS row_bytes_per_hour, 1::float8 AS page_write_bytes_per_hour,
	1::float8 AS maintenance_write_bytes_per_hour, 1::float8 AS moved_bytes_per_hour, 1::float8 AS wal_bytes_per_hour,
	0::float8 AS full_page_image_bytes_per_hour, 1::float8 AS amplification WHERE false)
);
is(checkpoints(24, 0, '4e9', 0.8), '', 'no WAL is read');
is( ask("SELECT DISTINCT reason FROM _tiered_storage.recommend_settings(true) WHERE setting ~ '^(checkpoint|max_wal|wal_comp)'"
	),
	'the size of images is unknown: no WAL of this database was read',
	'... and why');

# ---------------------------------------------------------------------
# The device of the WAL: 36,000 syncs an hour
# ---------------------------------------------------------------------

ask(q(CREATE OR REPLACE FUNCTION _tiered_storage.file_class_io(
	OUT file_class text, OUT tier_name name, OUT reads_per_hour float8,
	OUT read_bytes_per_hour float8, OUT writes_per_hour float8, OUT write_bytes_per_hour float8,
	OUT wait_s_per_hour float8, OUT place text, OUT is_total boolean, OUT device text,
	OUT fsyncs_per_hour float8, OUT io_s_per_hour float8, OUT saved_s_per_hour float8,
	OUT null_reason text) RETURNS SETOF record LANGUAGE sql AS
	$$ SELECT 'wal', 'hdd'::name, NULL::float8, NULL::float8, 1::float8, 1::float8, 1::float8, 'pg_wal', true, '', 36000::float8, NULL::float8, NULL::float8, '' $$)
);
ask("DELETE FROM _tiered_storage.device_state");
is(advice('pg_wal', '1'), '', 'nothing before tiers are calibrated');
ask("SELECT tiered_storage.alter_tier('hdd', device => jsonb_build_object('fsync_ms', 8)), tiered_storage.alter_tier('ssd', device => jsonb_build_object('fsync_ms', 2))"
);
ask("INSERT INTO _tiered_storage.tier_calibration SELECT t, now(), 'fsync_ms', 'ms', 1, 1, 1, 'x' FROM unnest('{hdd,ssd}'::name[]) t"
);
is(advice('pg_wal', '1'), '', 'nor before their devices are sampled');
is( ask("SELECT reason FROM _tiered_storage.recommend_settings(true) WHERE setting = 'pg_wal'"
	),
	"the WAL is on \"hdd\"; how busy devices are is not known: the kernel's counters are not to be seen",
	'and why: there was a sample, but none of a device');

# Of 36000 syncs an hour, 0.4 and 1.8 s.
sub sync_row
{
	my ($ms) = @_;

	ask("UPDATE _tiered_storage.wal_calibration SET error_ms = 0, device = (SELECT device FROM _tiered_storage.server_directories() WHERE directory = 'pg_wal'), write_ms = CASE method WHEN 'fdatasync' THEN 0.1 ELSE $ms END"
	);
	return ask(
		"SELECT recommended_value, reason FROM _tiered_storage.recommend_settings(true) WHERE setting = 'wal_sync_method'"
	);
}
is( sync_row(0.089),
	'|36000 syncs an hour would take 0.40 s less with open_datasync: too little',
	'less than a second an hour');
like(sync_row(0.05), qr/^open_datasync\|/, 'more than that');

# ---------------------------------------------------------------------
# A standby
# ---------------------------------------------------------------------

$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
is( $standby->safe_psql(
		'postgres',
		'SELECT count(*) FROM _tiered_storage.recommend_settings(true) WHERE tablespace_name IS NULL'
	),
	'0',
	'a standby says nothing of the server as a whole');
is( $standby->safe_psql(
		'postgres',
		"SELECT count(*) > 0, count(command), bool_and(reason ~ 'this is a standby: it is changed on the primary') FROM _tiered_storage.recommend_settings() WHERE tablespace_name IS NOT NULL"
	),
	't|0|t',
	'... and commands that fail there are none');
is( $standby->safe_psql('postgres',
		"SELECT DISTINCT device, written_bytes, used_fraction, substring(reason FROM '^a standby counts no writes') FROM _tiered_storage.wear_state() WHERE tier_name IS NOT NULL AND device IS NOT NULL"
	) =~ s/^[^|]+//r,
	'|||a standby counts no writes',
	'it does not know the wear of its devices');
like(
	error_of(
		$standby, 'postgres',
		"SELECT * FROM tiered_storage.calibrate_tier('$wal_tier')"),
	qr/recovery|standby|read-only/,
	'and measures nothing');
$standby->stop;
$node->stop;

done_testing();

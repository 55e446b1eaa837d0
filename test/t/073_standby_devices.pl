# The directories and devices of a standby: what preflight() is told of them, by a standby
# that answers, by one whose directory is gone, and by one that is down; and what a missing
# directory does to a standby.
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

my $primary = new_node(
	'primary',
	standby => 1,
	conf => q(
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
));
$primary->start;
if ($primary->safe_psql('postgres',
		"SELECT count(*) FROM pg_available_extensions WHERE name = 'dblink'")
	eq '0')
{
	plan skip_all => 'DBLINK IS NOT INSTALLED: STANDBYS ARE NOT ASKED';
}

# A tablespace that has a directory of its own on the standby.
my %path = map { $_ => PostgreSQL::Test::Utils::tempdir($_) } qw(here there);
$primary->safe_psql('postgres',
	"CREATE TABLESPACE slow LOCATION '$path{here}'");
$primary->safe_psql('postgres', 'CREATE DATABASE app');
$primary->safe_psql(
	'app', q(
CREATE EXTENSION dblink;
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('hdd', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
CREATE TABLE t (id int PRIMARY KEY, t text);
INSERT INTO t SELECT i, repeat('x', 100) FROM generate_series(1, 1000) i;
CREATE TABLE u (LIKE t INCLUDING ALL);
INSERT INTO u TABLE t;
CREATE ROLE owner;
GRANT USAGE ON SCHEMA tiered_storage TO owner;
GRANT EXECUTE ON FUNCTION tiered_storage.preflight TO owner;
));

# As init_from_backup() has it, which before PostgreSQL 16 leaves tablespaces out.
my $standby = PostgreSQL::Test::Cluster->new('standby');
$primary->command_ok(
	[
		'pg_basebackup', '-D',
		$standby->data_dir, '-h',
		$primary->host, '-p',
		$primary->port, '--checkpoint',
		'fast', '--no-sync',
		"--tablespace-mapping=$path{here}=$path{there}"
	],
	'a standby with a directory of its own');
$standby->append_conf('postgresql.conf', 'port = ' . $standby->port);
$standby->enable_streaming($primary);
$standby->append_conf('postgresql.conf', 'allow_in_place_tablespaces = off');
$standby->start;
$primary->wait_for_catchup($standby);
my $connection = 'host=' . $standby->host . ' port=' . $standby->port;

# Rows about standbys: verdict and finding, amounts masked.
sub room_rows
{
	my ($arguments, $before) = @_;
	my $rows = $primary->safe_psql('app',
		($before // '')
		  . "SELECT verdict || ': ' || finding FROM tiered_storage.preflight($arguments) WHERE check_name = 'standby_space'"
	);

	$rows =~ s/[0-9.]+ (bytes|kB|MB|GB|TB)/N/g;
	return $rows;
}

# ---------------------------------------------------------------------
note 'What preflight() is told';
# ---------------------------------------------------------------------

is(room_rows("'t', 'hdd'"), '', 'no standby that can be asked: no row');
$primary->safe_psql('app',
	"SELECT tiered_storage.add_standby('replica', conninfo => '$connection')"
);
is( room_rows("'t', 'hdd'"),
	'ok: standby "replica" gets N, and has N free',
	'a standby that answers');
is(room_rows("'t', 'pg_default'"), '', 'nothing moves: nobody is asked');
is( room_rows("'t', 'hdd'", 'SET ROLE owner;'),
	'warning: not known: this role may not read pg_stat_replication',
	'nobody is asked for who may not know of standbys');
is( room_rows("'t', 'hdd'", 'BEGIN READ ONLY;'),
	'ok: standby "replica" gets N, and has N free',
	'in a transaction that only reads');
is( $primary->safe_psql(
		'app',
		"SELECT count(*) FROM tiered_storage.preflight('t', 'hdd'); SELECT dblink_get_connections() IS NULL"
	),
	$primary->safe_psql('app',
		"SELECT count(*) FROM tiered_storage.preflight('t', 'hdd')")
	  . "\nt",
	'no connection is left open');

$primary->safe_psql(
	'app', q(
UPDATE _tiered_storage.tier SET reserve_fraction = 0.999999 WHERE tier_name = 'hdd')
);
like(
	room_rows("'t', 'hdd'"),
	qr/^warning: standby "replica" gets N, and has N free; N should stay so$/,
	'a standby that has less free than should stay so');
$primary->safe_psql('app',
	"UPDATE _tiered_storage.tier SET reserve_fraction = 0 WHERE tier_name = 'hdd'"
);

# ---------------------------------------------------------------------
note 'What is told of its devices';
# ---------------------------------------------------------------------

# What it had read before the first pull belongs to no period.
sub read_there
{
	my ($sql) = @_;

	$standby->safe_psql('app', "$sql;\nSELECT pg_stat_force_next_flush();\n");
	$primary->safe_psql('app',
		'CALL tiered_storage.pull_standby_statistics(); CALL tiered_storage.sample()'
	);
	return $primary->safe_psql('app',
		'SELECT relation_oid::regclass, standby_name FROM _tiered_storage.standby_heat WHERE relation_oid IN (\'t\'::regclass, \'u\'::regclass) AND reads > 0'
	);
}

$primary->safe_psql('app', 'ALTER TABLE u SET (autovacuum_enabled = off)');
$primary->wait_for_catchup($standby);
is(read_there('SELECT count(*) FROM t'),
	'', 'the first pull is where it starts from');
$standby->restart;
is(read_there('SELECT count(*), count(t) FROM u'),
	'u|replica', 'what it reads from its devices is counted as its own');
$primary->safe_psql('app',
	"SELECT tiered_storage.set_standby_tier('replica', 'hdd', profile => 'nvme', capacity_bytes => 1000000000)"
);
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
$primary->command_ok([ 'pg_dump', '-f', $dump, $primary->connstr('app') ],
	'pg_dump');
$primary->safe_psql('postgres', 'CREATE DATABASE copy');
$primary->command_ok(
	[
		'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-f', $dump,
		$primary->connstr('copy')
	],
	'restored');
is( $primary->safe_psql('copy', 'TABLE tiered_storage.standby_tiers'),
	$primary->safe_psql('app', 'TABLE tiered_storage.standby_tiers'),
	'what was told survives');
is( $primary->safe_psql(
		'copy', 'SELECT count(*) FROM tiered_storage.standby_tiers'),
	1,
	'it is there');
$primary->safe_psql('postgres', 'DROP DATABASE copy WITH (FORCE)');
like(
	error_of(
		$standby, 'app',
		"SELECT tiered_storage.set_standby_tier('replica', 'hdd')"),
	qr/ERROR:  25006: cannot execute tiered_storage.set_standby_tier\(\) during recovery/,
	'a standby tells nothing itself');

# ---------------------------------------------------------------------
note 'A directory that is gone';
# ---------------------------------------------------------------------

rename $path{there}, "$path{there}.away" or die "could not rename: $!";
is( room_rows("'t', 'hdd'"),
	qq(warning: standby "replica" has no directory "$path{there}": it would replay nothing any more),
	'the standby has no such directory');
my $offset = -s $standby->logfile;
$primary->safe_psql('app', "CALL tiered_storage.move_relation('t', 'hdd')");
$standby->wait_for_log(qr/FATAL:  could not create directory "pg_tblspc/,
	$offset);
pass('and it stops there, as foretold');
my $attempts = 10 * $PostgreSQL::Test::Utils::timeout_default;

while (-e $standby->data_dir . '/postmaster.pid' && $attempts-- > 0)
{
	select undef, undef, undef, 0.1;
}
$standby->_update_pid(-1);
rmdir $path{there};
rename "$path{there}.away", $path{there} or die "could not rename: $!";
$standby->start;
$primary->wait_for_catchup($standby);
is($standby->safe_psql('app', 'SELECT count(*), count(t) FROM t'),
	'1000|1000', 'with the directory, it goes on, and has all rows');

# ---------------------------------------------------------------------
note 'What it has told the worker';
# ---------------------------------------------------------------------

sub pull
{
	$primary->safe_psql('app',
		'CALL tiered_storage.pull_standby_statistics()');
	return;
}

$primary->safe_psql(
	'app', q(
CREATE TABLE p (at date, t text) PARTITION BY RANGE (at);
CREATE TABLE p_1 PARTITION OF p FOR VALUES FROM ('2001-01-01') TO ('2002-01-01');
INSERT INTO p SELECT '2001-02-03', repeat('x', 100) FROM generate_series(1, 1000);
SELECT tiered_storage.add_tiering_policy('p', move_after => '1 year', tier => 'hdd');
CREATE TABLE v AS TABLE p;
CREATE TABLE w AS TABLE p;
));
$primary->wait_for_catchup($standby);
rename $path{there}, "$path{there}.away" or die "could not rename: $!";
pull();
my $refusal =
  'standby "replica" has no directory that it can write to for tablespace "slow"';
like(
	error_of(
		$primary, 'app', "CALL tiered_storage.move_relation('u', 'hdd')"),
	qr/ERROR:  55000: could not move public\.u: \Q$refusal\E\nDETAIL:  It would replay nothing any more\. It told so at/,
	'a move that would stop a standby is refused');
like(
	notices_of($primary, 'app', 'CALL tiered_storage.migrate()'),
	qr/could not move public\.p_1: \Q$refusal\E\nDETAIL:  It would replay nothing any more\. It told so at/,
	'so is one of a policy');
like(
	notices_of(
		$primary, 'app', 'CALL tiered_storage.migrate(dry_run => true)'),
	qr/\Q$refusal\E/,
	'as a dry run has it');
like(room_rows("'u', 'hdd'"), qr/^blocks: .*\Q$refusal\E/, 'and preflight()');
like(
	room_rows("'u', 'hdd'", 'SET ROLE owner;'),
	qr/^blocks: .*a standby has no directory/,
	'who may not know of standbys is not told which');
is(tablespaces_of($primary, 'app', 'p_1'), 'pg_default', 'nothing was moved');
$primary->wait_for_catchup($standby);
is($standby->safe_psql('app', 'SELECT count(*) FROM p'),
	1000, 'the standby goes on');

rmdir $path{there};
rename "$path{there}.away", $path{there} or die "could not rename: $!";
pull();
$primary->safe_psql(
	'app', q(
UPDATE _tiered_storage.standby_room SET free_bytes = pg_total_relation_size('v') * 3 / 2,
		file_system_id = -1	-- as if it had one of its own
	WHERE tablespace_oid = (SELECT oid FROM pg_tablespace WHERE spcname = 'slow');
));
$primary->safe_psql('app', "CALL tiered_storage.move_relation('v', 'hdd')");
like(
	error_of(
		$primary, 'app', "CALL tiered_storage.move_relation('w', 'hdd')"),
	qr/ERROR:  53100: could not move public\.w: not enough space on standby "replica"/,
	'what was moved there since the last pull counts');
$primary->wait_for_catchup($standby);
pull();
$primary->safe_psql('app',
	"CALL tiered_storage.move_relation('w', 'hdd'); CALL tiered_storage.migrate()"
);
is(tablespaces_of($primary, 'app', 'v', 'w', 'p_1'),
	'slow', 'with room, they are moved');
$primary->wait_for_catchup($standby);
is($standby->safe_psql('app', 'SELECT count(*) FROM w'),
	1000, 'and replayed');

# ---------------------------------------------------------------------
note 'A standby that is down';
# ---------------------------------------------------------------------

$standby->stop;
like(
	room_rows("'u', 'hdd'"),
	qr/^warning: not known: standby "replica": could not establish connection/,
	'a standby that is down is named');
$primary->safe_psql('app', 'CALL tiered_storage.pull_standby_statistics()');

# What the worker has found is not tried again: it would answer now.
$standby->start;
like(
	room_rows("'u', 'hdd'"),
	qr/^warning: not known: standby "replica": could not establish connection/,
	'what the worker knows to be down is not waited for');
$primary->safe_psql('app', 'CALL tiered_storage.pull_standby_statistics()');
is( room_rows("'u', 'hdd'"),
	'ok: standby "replica" gets N, and has N free',
	'until it answers again');
$standby->stop;
$primary->stop;
done_testing();

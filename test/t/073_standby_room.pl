# The directories of a standby: what the mover and preflight() go by where one is there,
# where it is gone, and where the standby is down; and what a missing directory does to a
# standby.
#
# Made up in the tables, since no call makes it in the time of a test: what a standby
# has told; rows as a dump or another machine has left them.
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

# A tablespace that has a directory of its own on the standby.
my %path = map { $_ => PostgreSQL::Test::Utils::tempdir($_) } qw(here there);
$primary->safe_psql('postgres',
	"CREATE TABLESPACE slow LOCATION '$path{here}'");
$primary->safe_psql('postgres', 'CREATE DATABASE app');
$primary->safe_psql(
	'app', q(
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
		  . "SELECT verdict || ': ' || replace(finding, E'\\n', ' ') FROM tiered_storage.preflight($arguments, include_all => true) WHERE check_name = 'standby_space'"
	);

	$rows =~ s/[0-9.]+ (bytes|kB|MB|GB|TB)/N/g;
	return $rows;
}

# ---------------------------------------------------------------------
note 'What preflight() says';
# ---------------------------------------------------------------------

is(room_rows("'t', 'hdd'"), '', 'no standby, no row');
$primary->safe_psql('app',
	"SELECT tiered_storage.add_standby('replica', conninfo => '$connection')"
);
is( room_rows("'t', 'hdd'"),
	'warning: not known for 1 of 1 standbys: the last pull failed, or is older than a day',
	'a standby that has told nothing yet');
pull_standbys($primary, 'app');
is( room_rows("'t', 'hdd'", 'BEGIN READ ONLY;'),
	'ok: 1 of 1 standbys have room, as of the last pull',
	'a standby that has told of its room');
is(room_rows("'t', 'pg_default'"), '', 'nothing moves: no row');

$primary->safe_psql(
	'app', q(
UPDATE _tiered_storage.tier SET reserve_fraction = 0.999999 WHERE tier_name = 'hdd')
);
like(
	room_rows("'t', 'hdd'"),
	qr/^blocks: .*not enough space on standby "replica": N are needed and N reserved, N are free/,
	'a standby keeps the reserve of the tier, too');
$primary->safe_psql('app',
	"UPDATE _tiered_storage.tier SET reserve_fraction = 0 WHERE tier_name = 'hdd'"
);

# ---------------------------------------------------------------------
note 'A directory that is gone';
# ---------------------------------------------------------------------

rename $path{there}, "$path{there}.away" or die "could not rename: $!";
my $offset = -s $standby->logfile;
$primary->safe_psql('app', "CALL tiered_storage.move_relation('t', 'hdd')");
$standby->wait_for_log(qr/FATAL:  could not create directory "pg_tblspc/,
	$offset);
pass('a standby stops where a directory is missing');
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
pull_standbys($primary, 'app');
my $refusal =
  'standby "replica" has no directory that it can write to for tablespace "slow"';
like(
	error_of(
		$primary, 'app', "CALL tiered_storage.move_relation('u', 'hdd')"),
	qr/ERROR:  55000: could not move public\.u: \Q$refusal\E\nDETAIL:  Replay on the standby would stop\. It reported this at/,
	'a move that would stop a standby is refused');
like(
	notices_of($primary, 'app', 'CALL tiered_storage.migrate()'),
	qr/could not move public\.p_1: \Q$refusal\E\nDETAIL:  Replay on the standby would stop\. It reported this at/,
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
pull_standbys($primary, 'app');
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
pull_standbys($primary, 'app');
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
pull_standbys($primary, 'app');
is( room_rows("'u', 'hdd'"),
	'warning: not known for 1 of 1 standbys: the last pull failed, or is older than a day',
	'a standby that is down');
$standby->start;
pull_standbys($primary, 'app');
is( room_rows("'u', 'hdd'"),
	'ok: 1 of 1 standbys have room, as of the last pull',
	'until it answers again');
$standby->stop;
$primary->stop;
done_testing();

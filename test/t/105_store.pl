# A file system in user space whose process hangs: nothing of ours hangs with it.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

# First: it starts us anew.
use TierMounts;

use Fcntl ':flock';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes 'usleep';
use TierTest;

plan skip_all => 'CANNOT MOUNT HERE: A STORE THAT HANGS IS NOT TESTED'
  unless $ENV{TIER_TEST_MOUNTS} eq 'yes';
plan skip_all => '/dev/fuse cannot be opened' unless -w '/dev/fuse';
plan
  skip_all => 'no bindfs (.ci/packages test)'
  unless grep { -x "$_/bindfs" } split /:/,
  $ENV{PATH};

my $attempts = 10 * $PostgreSQL::Test::Utils::timeout_default;

# Asks ten times a second.
sub wait_until
{
	my ($what, $asks) = @_;

	for (1 .. $attempts)
	{
		return if $asks->();
		usleep(100_000);
	}
	die "in vain: $what";
}

# ---------------------------------------------------------------------
# The store
# ---------------------------------------------------------------------

my $behind = PostgreSQL::Test::Utils::tempdir;
my $mount = PostgreSQL::Test::Utils::tempdir;

# No cache of the kernel answers for it.
my @bindfs = (
	'bindfs', '-f', '-o', 'attr_timeout=0,entry_timeout=0,negative_timeout=0',
	$behind, $mount);
my $store = fork() // die "fork: $!";
if ($store == 0)
{
	open STDOUT, '>', '/dev/null' or die $!;
	open STDERR, '>', '/dev/null' or die $!;
	exec @bindfs or exit 1;
}

# What hangs in it could not be ended.
END
{
	my $status = $?;

	if ($store)
	{
		kill 'CONT', $store;
		system 'umount', '-l', $mount;
		kill 'KILL', $store;
		waitpid $store, 0;
	}
	$? = $status;
}

wait_until('bindfs is mounted',
	sub { slurp_file('/proc/self/mountinfo') =~ / \Q$mount\E .* - fuse/ });
mkdir "$behind/ts" or die $!;

# ---------------------------------------------------------------------
# A server
# ---------------------------------------------------------------------

my $node = new_node(
	'main', conf => q(
log_min_messages = warning
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
));
$node->start;
create_in_place_tablespace($node, 'other');

# The way to it is a symbolic link.
symlink $mount, "$behind.link" or die $!;
$node->safe_psql('postgres',
	"CREATE TABLESPACE store LOCATION '$behind.link/ts'");
$node->safe_psql(
	'postgres', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('fast', '{pg_default}', profile => 'nvme'),
	tiered_storage.add_tier('slow', '{other}', profile => 'hdd_7200');
SELECT tiered_storage.discover_tiers();
SELECT tiered_storage.alter_tier('slow', rank => 10);
CREATE TABLE local AS SELECT i FROM generate_series(1, 1000) i;
CREATE TABLE there TABLESPACE store AS SELECT i FROM generate_series(1, 1000) i;
CREATE TABLE days (day date) PARTITION BY RANGE (day);
CREATE TABLE days_1 PARTITION OF days FOR VALUES FROM ('2020-01-01') TO ('2020-01-02') TABLESPACE store;
CREATE TABLE days_2 PARTITION OF days FOR VALUES FROM ('2020-01-02') TO ('2020-01-03');
INSERT INTO days VALUES ('2020-01-01'), ('2020-01-02');
));

sub value_of
{
	my ($sql) = @_;

	return $node->safe_psql('postgres', $sql);
}

# It must neither hang nor fail.
sub bounded_value_of
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', $sql,
		timeout => $PostgreSQL::Test::Utils::timeout_default);

	return $rc == 0 ? $out : "failed: $err";
}

my $store_oid =
  value_of("SELECT oid FROM pg_tablespace WHERE spcname = 'store'");
my $lock;
my $size_of_there =
  "SELECT size_bytes FROM _tiered_storage.relation_state WHERE relation_oid = 'there'::regclass";
my $words = 'the file system of tablespace "store" does not answer';

# Those that ask the store.
sub children
{
	my $n = 0;

	foreach my $file (glob '/proc/[0-9]*/cmdline')
	{
		open my $handle, '<', $file or next;
		my $line = readline($handle) // '';
		$n++ if $line =~ m{^sh\0-c\0.*\0pg_tblspc/$store_oid/};
	}
	return $n;
}

sub is_unlocked
{
	open my $handle, '<', $lock or die "$lock: $!";
	return flock($handle, LOCK_EX | LOCK_NB);
}

is( value_of(
		"SELECT kind, path_exists FROM _tiered_storage.tablespace_devices() WHERE tablespace_name = 'store'"
	),
	'remote|t',
	'the store is one');
is(notices_of($node, 'postgres', 'CALL tiered_storage.sample();'),
	'', 'it answers');
($lock) = glob $node->data_dir . '/pg_stat_tmp/tiered_storage_store.*';
is(value_of($size_of_there), '40960', 'a relation there has a size');
is(-e "$lock.stalled", undef, 'nothing is stalled');

# Of all that could make the server touch it by itself, nothing is left.
$node->safe_psql(
	'postgres', q(
INSERT INTO there SELECT generate_series(1, 10000);
VACUUM (FREEZE) there, local, days;
SELECT count(*) FROM there;
SELECT pg_stat_force_next_flush();
CHECKPOINT;
));

# ---------------------------------------------------------------------
note 'It hangs';
# ---------------------------------------------------------------------

kill 'STOP', $store or die $!;
like(
	notices_of($node, 'postgres', 'CALL tiered_storage.sample();'),
	qr/WARNING:  55000: \Q$words\E/,
	'a sample is taken, and says so');
is(bounded_value_of($size_of_there),
	'40960', 'its relation has the size that it had');
unlike(notices_of($node, 'postgres', 'CALL tiered_storage.sample();'),
	qr/WARNING/, 'it is said once');
is(children(), 1, 'one process waits for an answer');

is( bounded_value_of(
		"SELECT kind, path_exists, total_bytes IS NULL FROM _tiered_storage.tablespace_devices() WHERE tablespace_name = 'store'"
	),
	'remote|f|t',
	'its device');
is( bounded_value_of(
		"SELECT name FROM tiered_storage.activity WHERE now ~ 'does not answer: store'"
	),
	'remote',
	'the activity');
is( bounded_value_of(
		"SELECT labels ->> 'tier', value FROM tiered_storage.metrics WHERE name = 'tiered_storage_tier_unreachable' ORDER BY 1"
	),
	"fast|0\nremote|1\nslow|0",
	'the metrics');

foreach my $view (
	'tiers', 'recommendations',
	'placement_summary()', 'moves',
	'evaluate_policies()', 'orphaned_files()',
	'report()')
{
	unlike(bounded_value_of("SELECT count(*) FROM tiered_storage.$view"),
		qr/failed/, "$view is shown");
}

like(
	error_of(
		$node, 'postgres',
		"CALL tiered_storage.move_relation('local', 'remote');"),
	qr/ERROR:  55000: .*\Q$words\E.*HINT/s,
	'nothing is moved there');
like(
	error_of(
		$node, 'postgres',
		"CALL tiered_storage.move_relation('there', 'fast');"),
	qr/ERROR:  55000: .*\Q$words\E.*HINT/s,
	'nor from there');
is( bounded_value_of(
		"SELECT verdict, translate(finding, E'\\n', ' ') FROM tiered_storage.preflight('there', 'slow') WHERE check_name = 'directory'"
	),
	"blocks|$words; a move would hang with it",
	'which preflight foretells');
unlike(
	notices_of(
		$node, 'postgres',
		"CALL tiered_storage.move_relation('local', 'slow');"),
	qr/failed/,
	'others are moved');

# ---------------------------------------------------------------------
note 'The worker goes on, and the server stops';
# ---------------------------------------------------------------------

value_of(
	q(SELECT tiered_storage.add_tiering_policy('days', tier => 'slow', move_after => '30 days'))
);
age_policies($node, 'postgres');
reload_with($node, 'tiered_storage.auto_migrate' => 'policies');
run_cycle($node, 'postgres');
is( value_of(
		"SELECT string_agg(t.spcname, ' ' ORDER BY c.relname) FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE c.relname ~ '^days_'"
	),
	'store other',
	'the worker moves what is elsewhere');
is( worker_of($node, 'postgres', 'postgres'),
	'waiting|until the next sample',
	'and is well');

ok( run_log(
		[
			$node->installed_command('pg_ctl'),
			'-D', $node->data_dir, '-m', 'fast', '-w', 'stop'
		]),
	'the server stops');
$node->_update_pid(0);
is(children(), 1, 'the process that waits for an answer is not in its way');

# ---------------------------------------------------------------------
note 'It answers again';
# ---------------------------------------------------------------------

kill 'CONT', $store;
wait_until('the child has its answer', \&is_unlocked);
$node->start;
$node->safe_psql('postgres', 'CALL tiered_storage.sample()');
is( scalar(
		() = log_lines($node, 0,
			qr/WARNING:  the file system of tablespace "store" answers again/)
		  =~ /WARNING/g),
	1,
	'that is said, too');
is( value_of(
		q(SELECT count(*) FROM there; CALL tiered_storage.sample(); SELECT s.size_bytes = pg_relation_size(s.relation_oid::regclass) FROM _tiered_storage.relation_state s WHERE s.relation_oid = 'there'::regclass)
	),
	"11000\nt",
	'the size is the new one');
unlike(
	notices_of(
		$node, 'postgres',
		"CALL tiered_storage.move_relation('there', 'slow');"),
	qr/failed/,
	'its relation is moved');
is(children(), 0, 'no process is left');

# ---------------------------------------------------------------------
note 'A restore may leave out the directory of the questions';
# ---------------------------------------------------------------------

my $questions = $node->data_dir . '/pg_stat_tmp';
rename $questions, "$questions.away" or die "could not rename: $!";
is(bounded_value_of('SELECT count(*) > 0 FROM tiered_storage.tiers'),
	't', 'they are asked');
ok(glob("$questions/tiered_storage_store.*"), 'in a new one');
rename $questions, "$questions.new" or die "could not rename: $!";
append_to_file($questions, '');
like(
	notices_of($node, 'postgres', 'CALL tiered_storage.sample()'),
	qr/WARNING:  58000|WARNING:  .*could not open file "pg_stat_tmp/,
	'without one that is said');
unlink $questions;
rename "$questions.new", $questions or die "could not rename: $!";

# ---------------------------------------------------------------------
note 'A store that is gone answers, too, with an error';
# ---------------------------------------------------------------------

$node->safe_psql('postgres',
	"CREATE TABLE back TABLESPACE store AS SELECT 1 AS i; CHECKPOINT;");
$node->safe_psql('postgres', 'CALL tiered_storage.sample()');
kill 'KILL', $store;
waitpid $store, 0;
like(
	notices_of($node, 'postgres', 'CALL tiered_storage.sample();'),
	qr/WARNING:  55000: \Q$words\E/,
	'that is said');
is( bounded_value_of(
		"SELECT size_bytes > 0 FROM _tiered_storage.relation_state WHERE relation_oid = 'back'::regclass"
	),
	't',
	'its relation has the size that it had');
like(
	error_of(
		$node, 'postgres',
		"CALL tiered_storage.move_relation('local', 'remote');"),
	qr/ERROR:  55000: .*\Q$words\E/,
	'nothing is moved there');

system 'umount', '-l', $mount;
$store = 0;
$node->stop('immediate');
done_testing();

# Of what the server has run out, the worker says so, waits, and goes on: all connections
# are taken, and the target of a policy is full.  Few background workers: 001_worker.
#
# Made up in the tables, since no call makes it in the time of a test: rows as a dump or
# another machine has left them.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

# First: it starts us anew.
use TierMounts;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

my $can_mount = $ENV{TIER_TEST_MOUNTS} eq 'yes';
my $disk = PostgreSQL::Test::Utils::tempdir;
system_or_bail('mount', '-t', 'tmpfs', '-o', 'size=20m,mode=0700',
	'tmpfs', $disk)
  if $can_mount;

my $node = new_node(
	'main',
	conf => q(
max_connections = 8
superuser_reserved_connections = 2
max_wal_senders = 2
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = '1h'
));
$node->start;
create_in_place_tablespace($node, 'slow');
$node->safe_psql('postgres', 'CREATE DATABASE app');
create_measurements($node, 'app', 1);
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', rank => 5, reserve_fraction => 0);
SELECT tiered_storage.add_tiering_policy('measure', '90 days', 'slow');
UPDATE _tiered_storage.policy SET created_at = created_at - interval '2 days';
));
run_cycle($node, 'app');

# ---------------------------------------------------------------------
note 'No connection is left';
# ---------------------------------------------------------------------

# Asks in a session until the answer is yes.
sub wait_in
{
	my ($session, $question) = @_;
	my $attempts = 10 * $PostgreSQL::Test::Utils::timeout_default;

	while ($attempts-- > 0)
	{
		return 1 if $session->query_safe($question) eq 't';
		select undef, undef, undef, 0.1;
	}
	return 0;
}

my $session = $node->background_psql('app');
my @held = map { $node->background_psql('app') } 1 .. 7;
my ($rc, $out, $err) = $node->psql('app', 'SELECT 1');
like(
	$err,
	qr/too many clients already|remaining connection slots/,
	'nobody can connect');
$session->query_safe(
	q(ALTER SYSTEM SET tiered_storage.auto_migrate = 'policies'));
$session->query_safe('SELECT pg_reload_conf()');
$session->query_safe('SELECT _tiered_storage.notify_launcher()');
ok( wait_in(
		$session,
		q(SELECT count(*) > 0 AND bool_and(state = 'done') FROM _tiered_storage.moves WHERE relation ~ 'm_2001_01')
	),
	'the worker needs none');
ok( wait_in(
		$session,
		q(SELECT state = 'waiting' AND failures = 0 FROM _tiered_storage.worker_status() WHERE database_name = 'app')
	),
	'and its cycle ends well');
$_->quit foreach @held, $session;
is(tablespaces_of($node, 'app', 'm_2001_01'), 'slow', 'all of it is moved');

# ---------------------------------------------------------------------
note 'The target is full';
# ---------------------------------------------------------------------

SKIP:
{
	skip 'CANNOT MOUNT HERE: A FULL TARGET IS NOT TESTED', 5
	  unless $can_mount;

	$node->safe_psql('postgres', "CREATE TABLESPACE disk LOCATION '$disk'");
	$node->safe_psql(
		'app', q(
CREATE TABLE large (at date NOT NULL, v text) PARTITION BY RANGE (at);
CREATE TABLE large_old PARTITION OF large FOR VALUES FROM ('2001-01-01') TO ('2002-01-01');
ALTER TABLE large ALTER v SET STORAGE PLAIN;
INSERT INTO large SELECT '2001-05-05', repeat('x', 1000) FROM generate_series(1, 8000);
SELECT tiered_storage.add_tier('disk', '{disk}', profile => 'hdd_7200', rank => 6, reserve_fraction => 0);
SELECT tiered_storage.add_tiering_policy('large', '90 days', 'disk');
UPDATE _tiered_storage.policy SET created_at = created_at - interval '2 days';
));
	my $rows = fingerprint($node, 'app', 'large');
	system_or_bail(
		'dd', 'if=/dev/zero',
		"of=$disk/filler", 'bs=1M',
		'count=15', 'status=none');
	run_cycle($node, 'app');
	like(
		$node->safe_psql(
			'app',
			q(SELECT state, reason FROM _tiered_storage.plan_moves() WHERE relation = 'large_old'::regclass)
		),
		qr/^failed\|next attempt at .* after 1 failure: not enough space in tablespace "disk": .* are free$/,
		'the queue says why, and when it is tried again');
	is(tablespaces_of($node, 'app', 'large_old'),
		'pg_default', 'it stays where it is');

	# In nobody's way meanwhile.
	create_partition($node, 'app', 2);
	run_cycle($node, 'app');
	is(tablespaces_of($node, 'app', 'm_2001_02'),
		'slow', 'what has room is moved meanwhile');
	unlink "$disk/filler" or die "unlink: $!";

	# At its next attempt, which is in a minute.
	$node->poll_query_until(
		'app',
		q(SELECT spcname = 'disk' FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace, _tiered_storage.notify_launcher() WHERE relname = 'large_old'),
		't') or die 'the worker does not go on';
	is(fingerprint($node, 'app', 'large'),
		$rows, 'when there is room again it is moved, with all rows');
	is(stray_files($node, 'app'), '', 'and no file is left');
}
$node->stop;
done_testing;

# The connection to a standby: nothing of the database's owner runs there or here, the
# environment of the server does not count and its password file does; servers that do not
# answer, or answer nonsense, hold up nobody; and the worker is cancelled, terminated and left
# without its extension while it waits.
#
# On every major.  In make test.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use IO::Socket::UNIX;
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Socket qw(SOCK_STREAM);
use Test::More;
use TierTest;

# ---------------------------------------------------------------------
# Servers that are none
# ---------------------------------------------------------------------

my $fakes = PostgreSQL::Test::Utils::tempdir_short();
my $fake_port = 0;
my @fake_pids;
my ($system_identifier, $database_oid);

sub message
{
	my ($type, $body) = @_;
	return $type . pack('N', length($body) + 4) . $body;
}

# The answer to a statement: its columns' types, and rows of packed values.
sub answer
{
	my ($types, @rows) = @_;
	my $columns = join '',
	  map { "c\0" . pack('NnNnNn', 0, 0, $_, 0, 0xffffffff, 1) } @$types;
	my $sent =
		message('1', '')
	  . message('2', '')
	  . message('T', pack('n', scalar @$types) . $columns);

	foreach my $row (@rows)
	{
		$sent .= message(
			'D',
			pack('n', scalar @$row) . join '',
			map { pack('N/a', $_) } @$row);
	}
	return
		$sent
	  . message('C', 'SELECT ' . scalar(@rows) . "\0")
	  . message('Z', 'I');
}

my @identity_types = (20, 16, 26, 25, 20);
my @counter_types = (26, 20, 20, 20, 20, 20);

sub identity
{
	return answer(
		\@identity_types,
		[
			pack('q>', $system_identifier),
			"\1", pack('N', $database_oid),
			'off', pack('q>', 30000)
		]);
}

sub counters
{
	my (@rows) = @_;
	return answer(
		\@counter_types,
		map {
			my ($oid, @counters) = @$_;
			[ pack('N', $oid), map { pack('q>', $_) } @counters, -1 ]
		} @rows);
}

# Greets as a server does, then sends one text for each statement, and then nothing any more.
sub serve
{
	my ($client, @texts) = @_;
	my $buffer;

	$client->sysread($buffer, 8192) or return;
	return if !@texts;
	my $greeting = shift @texts;
	$client->syswrite($greeting
		  // message('R', pack('N', 0)) . message('Z', 'I'));
	while (@texts)
	{
		$client->sysread($buffer, 8192) or return;

		# The last message of a statement is Sync.
		next if $buffer !~ /S\0\0\0\x04\z/;
		$client->syswrite(shift @texts);
	}
	return;
}

# A connection string for a server that sends these.
sub fake
{
	my (@texts) = @_;
	my $port = ++$fake_port;
	my $listener = IO::Socket::UNIX->new(
		Type => SOCK_STREAM,
		Local => "$fakes/.s.PGSQL.$port",
		Listen => 8) or die "could not listen: $!";
	my $pid = fork() // die "could not fork: $!";

	if ($pid == 0)
	{
		my @clients;

		local $SIG{PIPE} = 'IGNORE';
		while (my $client = $listener->accept)
		{
			serve($client, @texts);
			push @clients, $client;    # stays open
		}
		POSIX::_exit(0);
	}
	push @fake_pids, $pid;
	return "host=$fakes port=$port connect_timeout=1";
}

END
{
	my $status = $?;
	kill 'KILL', @fake_pids;
	$? = $status;
}

# ---------------------------------------------------------------------
# A primary with a standby, and a database whose owner is nobody's friend
# ---------------------------------------------------------------------

my $home = PostgreSQL::Test::Utils::tempdir();
my $primary = new_node(
	'primary',
	standby => 1,
	conf => q(
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
));
{
	local $ENV{HOME} = $home;
	local $ENV{PGSERVICE} = 'nowhere';
	local $ENV{PGPASSWORD} = 'wrong';
	local $ENV{PGOPTIONS} = '-c nonsense=1';
	$primary->start;
}

# What holds for this test alone, whatever a database says.
$primary->safe_psql(
	'postgres', q(
CREATE ROLE dbo LOGIN;
CREATE ROLE reader SUPERUSER LOGIN;
CREATE ROLE monitor LOGIN PASSWORD 'secret';
ALTER ROLE CURRENT_USER SET search_path = public;
ALTER ROLE CURRENT_USER SET default_transaction_isolation = 'read committed';
));
$primary->safe_psql('postgres', 'CREATE DATABASE app OWNER dbo');
$primary->safe_psql('app', 'CREATE EXTENSION tiered_storage');
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
my $connection = 'host=' . $standby->host . ' port=' . $standby->port;

$system_identifier = $primary->safe_psql('app',
	'SELECT system_identifier FROM pg_control_system()');
$database_oid = $primary->safe_psql('app',
	'SELECT oid FROM pg_database WHERE datname = current_database()');

sub add
{
	my ($name, $conninfo) = @_;
	$primary->safe_psql('app',
		"SELECT tiered_storage.add_standby('$name', conninfo => '$conninfo')"
	);
	return;
}

sub state_of
{
	my ($name) = @_;
	return $primary->safe_psql('app',
		"SELECT last_pull_at IS NOT NULL, failures, COALESCE(error, '-') FROM _tiered_storage.standbys WHERE standby_name = '$name'"
	);
}

# ---------------------------------------------------------------------
note 'What the owner of the database has made';
# ---------------------------------------------------------------------

# Operators for all that is compared, in a schema that comes before pg_catalog; functions with
# the names of those of dblink, everywhere; and settings of the database.
$primary->safe_psql(
	'app', q(
SET ROLE dbo;
CREATE SCHEMA evil;
DO $do$
DECLARE
	o record;
BEGIN
	FOR o IN SELECT p.oprname, p.oprleft::regtype AS l, p.oprright::regtype AS r FROM pg_operator p
		WHERE p.oprresult = 'bool'::regtype AND p.oprleft <> 0
			AND p.oprleft::regtype::text IN ('integer', 'bigint', 'oid', 'name', 'text', '"char"', 'boolean')
			AND p.oprright::regtype::text IN ('integer', 'bigint', 'oid', 'name', 'text', '"char"', 'boolean')
	LOOP
		EXECUTE format('CREATE OR REPLACE FUNCTION evil.f(%1$s, %2$s) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN
			IF current_setting(%3$L) OPERATOR(pg_catalog.=) %4$L THEN RAISE LOG %5$L, current_user; END IF; RETURN true; END $$',
			o.l, o.r, 'application_name', 'tiered_storage', 'evil runs as %');
		EXECUTE format('CREATE OPERATOR evil.%s (leftarg = %s, rightarg = %s, function = evil.f)', o.oprname, o.l, o.r);
	END LOOP;
	FOR o IN SELECT s.s, f.f FROM unnest('{evil,public}'::text[]) s,
		unnest('{connect(text),connect(text\\,text),send_query(text\\,text),is_busy(text),get_result(text),disconnect(text)}'::text[]) f
	LOOP
		EXECUTE format('CREATE FUNCTION %s.dblink_%s RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE LOG %L, current_user; RETURN 0; END $$',
			o.s, o.f, 'evil runs as %');
	END LOOP;
END
$do$;
ALTER DATABASE app SET search_path = evil, public, pg_catalog;
ALTER DATABASE app SET default_transaction_isolation = serializable;
ALTER DATABASE app SET local_preload_libraries = 'nowhere';
ALTER DATABASE app SET role = 'dbo';
ALTER DATABASE app SET idle_session_timeout = '1ms';
));
$ENV{PGOPTIONS} =
  '-c local_preload_libraries= -c role=none -c idle_session_timeout=0';
$primary->wait_for_catchup($standby);
add('replica', "$connection user=reader");
pull_standbys($primary, 'app');
is(state_of('replica'), 't|0|-',
	'the standby answers, whatever is set there');
is( $primary->safe_psql(
		'app',
		"SELECT count(*) > 0 FROM _tiered_storage.standby_room WHERE standby_name = 'replica'"
	),
	't',
	'with the rights of the role that was named');
unlike(
	slurp_file($_->logfile),
	qr/LOG:  evil runs as/,
	'nothing of his runs on ' . $_->name) foreach $primary, $standby;
$primary->safe_psql('postgres', 'ALTER DATABASE app RESET ALL');
delete $ENV{PGOPTIONS};

# ---------------------------------------------------------------------
note 'What he had made before the extension, on a standby that is behind';
# ---------------------------------------------------------------------

$primary->safe_psql('postgres', 'CREATE DATABASE early OWNER dbo');
$primary->safe_psql(
	'early', q(
SET ROLE dbo;
CREATE SCHEMA _tiered_storage;
CREATE FUNCTION _tiered_storage.tablespace_devices(OUT tablespace_oid oid, OUT path_exists bool,
	OUT writable bool, OUT file_system_id bigint, OUT free_bytes bigint, OUT total_bytes bigint)
RETURNS SETOF record LANGUAGE plpgsql AS $$ BEGIN RAISE LOG 'evil runs as %', current_user; END $$;
));
$primary->wait_for_catchup($standby);
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
$standby->poll_query_until('postgres',
	"SELECT pg_get_wal_replay_pause_state() = 'paused'")
  or die 'replay goes on';
$primary->safe_psql('early', 'DROP SCHEMA _tiered_storage CASCADE');
$primary->safe_psql('early', 'CREATE EXTENSION tiered_storage');
$primary->safe_psql('early',
	"SELECT tiered_storage.add_standby('replica', conninfo => '$connection user=reader')"
);
pull_standbys($primary, 'early');
is( $primary->safe_psql(
		'early',
		"SELECT last_pull_at IS NOT NULL, failures, (SELECT count(*) FROM _tiered_storage.standby_room) FROM _tiered_storage.standbys"
	),
	't|0|0',
	'its reads are taken, and nothing else');
unlike(
	slurp_file($standby->logfile),
	qr/LOG:  evil runs as/,
	'nothing of his runs there');
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');
$primary->safe_psql('early',
	"SELECT tiered_storage.remove_standby('replica')");

# ---------------------------------------------------------------------
note 'Passwords';
# ---------------------------------------------------------------------

my $hba = $standby->data_dir . '/pg_hba.conf';
my $rules = slurp_file($hba);
open my $file, '>', $hba or die "could not write $hba: $!";
print $file "local all monitor scram-sha-256\n$rules";
close $file;
$standby->reload;
add('by_password', "$connection user=monitor");
pull_standbys($primary, 'app');
like(
	state_of('by_password'),
	qr/^f\|1\|.*no password supplied/,
	'the environment has no password for it');
open $file, '>', "$home/.pgpass" or die "could not write: $!";
print $file "*:*:*:monitor:secret\n";
close $file;
chmod 0600, "$home/.pgpass";
pull_standbys($primary, 'app');
is(state_of('by_password'), 't|0|-',
	'the password file of the user of the server has');
$primary->safe_psql('app',
	"SELECT tiered_storage.remove_standby('by_password')");

# ---------------------------------------------------------------------
note 'Servers that do not answer, or answer nonsense';
# ---------------------------------------------------------------------

my $ready;    # the greeting of a server
my %fakes = (
	'fake silent' => [qr/^no answer within 1 seconds$/],
	'fake garbage' => [ qr/./, "\xff\0garbage" x 100 ],
	'fake error' => [
		qr/^[^\x80-\xff]*\?{300}/,
		message('E', "SFATAL\0C28000\0M" . "\xff" x 5000 . "\n\0\0")
	],
	'fake types' => [
		qr/^the answer has unexpected columns$/,
		$ready,
		answer([ (25) x 4 ], [ ('1') x 4 ])
	],
	'fake command' => [
		qr/^the answer is unexpected$/,
		$ready,
		message('1', '')
		  . message('2', '')
		  . message('C', "SET\0")
		  . message('Z', 'I')
	],
	'fake columns' =>
	  [ qr/^the answer has unexpected columns$/, $ready, answer([]) ],
	'fake length' => [
		qr/^the answer has a value that is not valid$/,
		$ready,
		answer(
			\@identity_types,
			[
				pack('N', 1),
				"\1", pack('N', $database_oid),
				'off', pack('q>', 30000)
			])
	],
	'fake nothing' => [
		qr/^the standby did not say which cluster it belongs to$/, $ready,
		answer(\@identity_types)
	],
	'fake rows' => [
		qr/^the answer has more than 1 rows$/,
		$ready,
		answer(
			\@identity_types,
			(   [
					pack('q>', $system_identifier),
					"\1", pack('N', $database_oid),
					'off', pack('q>', 30000)
				]) x 2)
	],

	# One that says that it has half a GB.
	'fake row' => [
		qr/^(the answer has a row of more than 1048576 bytes|no answer within 10 seconds)$/,
		$ready,
		message('1', '')
		  . message('2', '') . 'D'
		  . pack('N', 1 << 29)
		  . 'x' x (16 * 1024 * 1024)
	],
	'fake negative' => [
		qr/^the answer has a value that is not valid$/,
		$ready, identity(), counters([ 20000, 1, 1, -1, 0 ])
	],
	'fake large' => [
		qr/^the answer has a value that is not valid$/,
		$ready, identity(), counters([ 20000, 2**62, 1, 1, 1 ])
	],
	'fake twice' => [
		qr/^the answer has a value that is not valid$/,
		$ready, identity(), counters(([ 20000, 1, 1, 1, 1 ]) x 2)
	],
	'fake catalog' => [
		qr/^the answer has a value that is not valid$/,
		$ready, identity(), counters([ 1259, 1, 1, 1, 1 ])
	]);
add($_, fake(@{ $fakes{$_} }[ 1 .. $#{ $fakes{$_} } ]))
  foreach sort keys %fakes;
pull_standbys($primary, 'app');
foreach my $name (sort keys %fakes)
{
	my ($pulled, $failures, $error) = split /\|/, state_of($name), 3;

	is("$pulled $failures", 'f 1', "$name: counts as failed");
	like($error, $fakes{$name}->[0], "$name: says why");
}
is(state_of('replica'), 't|0|-', 'the standby after them was asked');
like(worker_of($primary, 'app', 'app'), qr/^waiting\|/, 'the worker goes on');
is( $primary->safe_psql(
		'app',
		"SELECT count(*) FROM _tiered_storage.standby_counters WHERE standby_name <> 'replica'"
	),
	0,
	'nothing of them was taken');
$primary->safe_psql('app',
	"SELECT tiered_storage.remove_standby(standby_name) FROM _tiered_storage.standbys"
);

# ---------------------------------------------------------------------
note 'While it waits';
# ---------------------------------------------------------------------

# It says who it is, and nothing any more: the worker waits for ten seconds.
my $stalls = fake($ready, identity());

# The process of a worker that waits for that.
sub waiting_worker
{
	my $worker =
	  "FROM pg_stat_activity WHERE backend_type = 'tiered_storage worker' AND datname = 'app' AND wait_event_type = 'Extension'";

	$primary->safe_psql('app', 'SELECT _tiered_storage.notify_launcher()');
	$primary->poll_query_until('postgres', "SELECT count(*) = 1 $worker")
	  or die 'no worker waits for the standby';
	return $primary->safe_psql('postgres', "SELECT pid $worker");
}

sub is_there
{
	my ($pid) = @_;
	return $primary->safe_psql('postgres',
		"SELECT count(*) FROM pg_stat_activity WHERE pid = $pid");
}

sub wait_for_end
{
	my ($pid) = @_;
	$primary->poll_query_until('postgres',
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid")
	  or die "worker $pid does not end";
	return;
}

# How the last cycle ended.
sub last_error
{
	return $primary->safe_psql('app',
		"SELECT state, last_error FROM _tiered_storage.worker_status() WHERE database_name = 'app'"
	);
}

add('stalls', $stalls);
my $pid = waiting_worker();
is( $primary->safe_psql(
		'postgres',
		"SELECT xact_start IS NULL, backend_xmin IS NULL, (SELECT count(*) FROM pg_locks l WHERE l.pid = a.pid) FROM pg_stat_activity a WHERE pid = $pid"
	),
	't|t|0',
	'without a transaction, a snapshot or a lock');
$primary->safe_psql('app',
	'SET lock_timeout = 5000; DROP EXTENSION tiered_storage');
is(is_there($pid), 1, 'the extension is dropped, and it still waits');
wait_for_end($pid);
unlike(
	slurp_file($primary->logfile),
	qr/could not pull the statistics/,
	'that there is nothing to write to is no error');

$primary->safe_psql('app', 'CREATE EXTENSION tiered_storage');
add('stalls', $stalls);
$pid = waiting_worker();
$primary->safe_psql('app', "SELECT tiered_storage.remove_standby('stalls')");
add('stalls', "$connection connect_timeout=2");
is(is_there($pid), 1, 'the standby is another one, and it still waits');
wait_for_end($pid);
is( $primary->safe_psql(
		'app',
		'SELECT COALESCE(failures, 0), error FROM _tiered_storage.standbys'),
	'0|',
	'what the other one did not answer is not held against it');
$primary->safe_psql('app', "SELECT tiered_storage.remove_standby('stalls')");

add('stalls', $stalls);
$pid = waiting_worker();
$primary->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
wait_for_end($pid);
like(last_error(),
	qr/^failed\|canceling statement due to user request/, 'cancelled');
$pid = waiting_worker();
$primary->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
wait_for_end($pid);
like(last_error(), qr/^failed\|the worker was terminated/, 'terminated');
is( $primary->safe_psql(
		'app',
		'SELECT count(*) FROM _tiered_storage.standbys WHERE error IS NULL'),
	1,
	'neither is an error of the standby');
pull_standbys($primary, 'app');
is( state_of('stalls'),
	'f|1|no answer within 10 seconds',
	'the next worker waits as long as it may');

# A server waits five seconds for the processes in a database that is renamed.
$primary->safe_psql('app',
	'UPDATE _tiered_storage.standby_state SET next_pull_at = now()');
$pid = waiting_worker();
$primary->safe_psql('postgres', $_)
  foreach 'ALTER DATABASE app RENAME TO app_renamed',
  'ALTER DATABASE app_renamed RENAME TO app';
is(is_there($pid), 0, 'the worker leaves a database that is renamed');

$standby->stop;
$primary->stop;
done_testing();

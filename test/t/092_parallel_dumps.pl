# Dumps with several processes beside moves of everything: pg_dump's workers lock
# with NOWAIT what their leader has locked, and fail as soon as anybody waits for a
# stronger lock.  None fails, and moves are made.
#
# On every major.  In make test.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

my $tables = 8;
my $dumps = 12;

my $node = new_node(
	'main',
	conf => q(
tiered_storage.auto_migrate = off
tiered_storage.debug_skip = ''
tiered_storage.sample_interval = '1h'
max_prepared_transactions = 2
));
$node->start;
create_in_place_tablespace($node, 'slow', 'fast');
$node->safe_psql('postgres', 'CREATE DATABASE app');
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', reserve_fraction => 0);
));
$node->safe_psql('app',
	"CREATE TABLE d$_ AS SELECT i AS id, repeat(md5(i::text), 8) AS value FROM generate_series(1, 3000) i"
) foreach 1 .. $tables;

# Two who move everything to and fro until they are told to stop.
$node->safe_psql(
	'app', qq(
CREATE TABLE stop (at int);
CREATE PROCEDURE move_all(first int) LANGUAGE plpgsql AS \$\$
BEGIN
	LOOP
		FOR i IN 0 .. $tables / 2 - 1 LOOP
			CALL tiered_storage.move_relation(('d' || first + 2 * i)::regclass, 'slow');
			CALL tiered_storage.move_relation(('d' || first + 2 * i)::regclass, 'fast');
			EXIT WHEN EXISTS (SELECT FROM stop);
		END LOOP;
		EXIT WHEN EXISTS (SELECT FROM stop);
	END LOOP;
END \$\$;
));
my @movers = map {
	start_sql(
		$node, 'app',
		'SET client_min_messages = error',
		"CALL move_all($_)")
} 1, 2;
$node->poll_query_until('app',
	"SELECT count(*) > 4 FROM _tiered_storage.moves WHERE state = 'done'")
  or die 'nothing is moved';
my $before = $node->safe_psql('app',
	"SELECT count(*) FROM _tiered_storage.moves WHERE state = 'done'");

# It would be the name of the dump, too.
delete $ENV{PGAPPNAME};
foreach my $number (1 .. $dumps)
{
	my $directory = $node->basedir . "/dump$number";

	$node->command_ok(
		[ 'pg_dump', '-Fd', '-j', '3', '-f', $directory, 'app' ],
		"dump $number is made");
}
$node->safe_psql('app', 'INSERT INTO stop VALUES (1)');
foreach (@movers)
{
	my $error = finish_sql($_);

	# A table that is in use until the end of a long dump is given up.
	unlike($error, qr/ERROR:  (?!.*could not lock)/, 'no other error');
}
cmp_ok(
	$node->safe_psql(
		'app',
		"SELECT count(*) FROM _tiered_storage.moves WHERE state = 'done'"),
	'>', $before,
	'and moves are made meanwhile');

# ---------------------------------------------------------------------
note 'Holders who keep it';
# ---------------------------------------------------------------------

# Locks and unlocks it again and again, until the mover has made so many attempts.
$node->safe_psql(
	'app', q(
CREATE PROCEDURE lock_nowait(attempts_made int) LANGUAGE plpgsql AS $$
BEGIN
	LOOP
		BEGIN
			LOCK TABLE d1 IN ACCESS SHARE MODE NOWAIT;
			RAISE SQLSTATE 'TS001';
		EXCEPTION WHEN SQLSTATE 'TS001' THEN
			NULL;
		END;
		EXIT WHEN (SELECT attempts >= attempts_made FROM _tiered_storage.move_progress);
		COMMIT;
	END LOOP;
END $$;
));

my %holder = (
	'an idle transaction' =>
	  [ 'BEGIN', 'SELECT count(*) FROM d1', '', 'COMMIT' ],
	'a prepared transaction' => [
		'BEGIN',
		'SELECT count(*) FROM d1',
		"PREPARE TRANSACTION 'd'",
		"COMMIT PREPARED 'd'"
	],
	'a dump' => [
		"SET application_name = 'pg_dump'; BEGIN",
		'SELECT count(*) FROM d1',
		'', 'COMMIT'
	],);
foreach my $who (sort keys %holder)
{
	my ($begin, $read, $leave, $end) = @{ $holder{$who} };
	my $session = $node->background_psql('app', on_error_stop => 1);

	$session->query_safe($_) foreach grep { $_ ne '' } $begin, $read, $leave;

	# Not just between two statements.
	$node->poll_query_until('app',
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' AND state_change > clock_timestamp() - interval '0.1 s'"
	) or die 'it is not idle';
	my $target = $node->safe_psql('app',
		"SELECT CASE spcname WHEN 'slow' THEN 'fast' ELSE 'slow' END FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = reltablespace WHERE relname = 'd1'"
	);
	my $run = start_sql(
		$node,
		'app',
		'SET client_min_messages = error',
		"SET tiered_storage.move_lock_timeout = '60s'",
		"CALL tiered_storage.move_relation('d1', '$target')");
	$node->poll_query_until('app',
		'SELECT count(*) = 1 FROM _tiered_storage.move_progress')
	  or die 'the move does not begin';
	is($node->psql('app', 'CALL lock_nowait(6)'),
		0, "$who: nobody who asks with NOWAIT is refused");
	$session->query_safe($end);
	is(finish_sql($run), '', "$who: the move is made when it has ended");
	$session->quit;
}

# ---------------------------------------------------------------------
note 'Holders who are busy';
# ---------------------------------------------------------------------

# There is always one, and always one between two statements; but nobody keeps it.
my $script = $node->basedir . '/busy.sql';
append_to_file(
	$script, q(
BEGIN;
SELECT count(*) FROM d1 WHERE id = 1;
SELECT 1;
SELECT 2;
END;
));
my $busy = IPC::Run::start(
	[
		$node->installed_command('pgbench'),
		'-n',
		'-f',
		$script,
		'-c',
		16,
		'-T',
		$PostgreSQL::Test::Utils::timeout_default,
		$node->connstr('app')
	],
	'<',
	\undef,
	'>',
	\my $bench_out,
	'2>',
	\my $bench_error);
$node->poll_query_until('app',
	"SELECT count(*) > 8 FROM pg_locks WHERE relation = 'd1'::regclass")
  or die 'nobody is busy';
my $target = $node->safe_psql('app',
	"SELECT CASE spcname WHEN 'slow' THEN 'fast' ELSE 'slow' END FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = reltablespace WHERE relname = 'd1'"
);
is( finish_sql(
		start_sql(
			$node,
			'app',
			"SET tiered_storage.move_lock_timeout = '60s'",
			$ENV{TIER_DEBUG_LIBDIR}
			? 'SET tiered_storage.debug_lock_attempts = 12'
			: (),
			"CALL tiered_storage.move_relation('d1', '$target')")),
	'',
	'the move is made while all of them go on');
ok($busy->pumpable, 'they do');
$busy->signal('TERM');
eval { $busy->finish };

$node->stop;
done_testing();

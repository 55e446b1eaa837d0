# What a mover is told in the very moment in which an attempt to lock fails: a
# command that waits until each process has seen a barrier must not wait for as
# long as attempts fail.
#
# On every major.  In make test.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

my $node = new_node('main', conf => "tiered_storage.auto_migrate = off\n");
$node->start;
create_in_place_tablespace($node, 'slow');
$node->safe_psql('postgres', 'CREATE DATABASE doomed');
$node->safe_psql(
	'postgres', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
CREATE TABLE busy AS SELECT generate_series(1, 1000) AS i;
));

# Somebody reads the table and does not end, so that each attempt fails.
my $reader = $node->background_psql('postgres', on_error_stop => 1);
$reader->query_safe('BEGIN; SELECT count(*) FROM busy');
my $move = start_sql(
	$node,
	'postgres',
	"SET tiered_storage.move_lock_timeout = '300ms'",
	'SET tiered_storage.debug_lock_attempts = 1000',
	"CALL tiered_storage.move_relation('busy', 'slow')");
wait_for_lock_wait($node, 'postgres', 'busy');
my $mover = $node->safe_psql('postgres',
	'SELECT pid FROM _tiered_storage.move_progress');

# It sleeps until both are there: the end of its time, and the barrier.
# Between two attempts it waits for nothing: then it is to go on.
END { kill 'CONT', $mover if $mover }
my $is_waiting = '';
for (1 .. 100)
{
	kill 'STOP', $mover;
	$is_waiting = $node->safe_psql('postgres',
		"SELECT count(*) > 0 FROM pg_locks WHERE pid = $mover AND NOT granted"
	);
	last if $is_waiting eq 't';
	kill 'CONT', $mover;
	wait_for_lock_wait($node, 'postgres', 'busy');
}
is($is_waiting, 't', 'the mover is stopped in an attempt');
my $drop = start_sql($node, 'postgres', 'DROP DATABASE doomed');
my $both = $node->poll_query_until(
	'postgres', qq(
SELECT count(*) = 2 FROM pg_stat_activity a
WHERE a.wait_event = 'ProcSignalBarrier'
	OR a.pid = $mover AND EXISTS (SELECT FROM pg_locks l
		WHERE l.pid = a.pid AND NOT l.granted AND l.waitstart < clock_timestamp() - interval '400 ms'))
);
kill 'CONT', $mover;
ok($both, 'a barrier is set while an attempt is over');
is(finish_sql($drop), '', 'all have seen it, the mover too');
is( $node->safe_psql(
		'postgres', 'SELECT count(*) FROM _tiered_storage.move_progress'),
	1,
	'which goes on meanwhile');

$reader->query_safe('COMMIT');
$reader->quit;
is(finish_sql($move), '', 'and comes to its end');
is(tablespaces_of($node, 'postgres', 'busy'), 'slow', 'the table is moved');
$node->stop;

done_testing();

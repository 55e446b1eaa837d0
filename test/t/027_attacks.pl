# What a superuser may do to the registrations of moves, and what must not come of
# it: entries that stay for ever, a CALL that cannot be cancelled, a crash.
#
# Made up in the tables, since no call makes it in the time of a test: moves of another
# time, size or end.
#
# In make test.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

my $node = new_node(
	'main',
	conf => q(
tiered_storage.auto_migrate = off
restart_after_crash = on
));
$node->start;
create_in_place_tablespace($node, 'slow', 'other');
$node->safe_psql('postgres', 'CREATE DATABASE app');
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
CREATE TABLE small AS SELECT 1 AS id;
CREATE TABLE large AS SELECT i AS id, repeat('x', 500) AS value FROM generate_series(1, 40000) i;
ALTER TABLE large ALTER value SET STORAGE PLAIN;
));

# ---------------------------------------------------------------------
note 'An entry whose tablespace has become the default one';
# ---------------------------------------------------------------------

# As a crash leaves it when the file has been removed by a sweep, or had not yet
# been created.
$node->safe_psql(
	'app', q(
INSERT INTO _tiered_storage.move_file
	SELECT t.oid, 4000000000, 'small'::regclass, 1, now(), s.system_identifier
	FROM pg_tablespace t, pg_control_system() s WHERE spcname = 'slow'));
$node->safe_psql('postgres', 'ALTER DATABASE app SET TABLESPACE slow');
$node->safe_psql('app',
	"CALL tiered_storage.move_relation('small', 'other')");
is($node->safe_psql('app', 'SELECT * FROM _tiered_storage.move_file'),
	'', 'is removed by the next sweep');
$node->safe_psql('app', 'TRUNCATE _tiered_storage.move_file');

# ---------------------------------------------------------------------
note 'A table of the entries that somebody has altered';
# ---------------------------------------------------------------------

my $offset = -s $node->logfile;

foreach my $change (
	'CREATE INDEX ON _tiered_storage.move_file ((pid + 1))',
	join(
		'; ',
		map {
			"ALTER TABLE _tiered_storage.move_file ADD a$_ text DEFAULT 'a'"
		} 1 .. 10))
{
	$node->safe_psql('app',
		'DROP EXTENSION tiered_storage; CREATE EXTENSION tiered_storage');
	$node->safe_psql('app', $change);

	# It may be refused.
	$node->psql('app',
		"CALL tiered_storage.move_relation('small', 'pg_default')");
	$node->psql('app', "CALL tiered_storage.move_relation('small', 'other')");
	$node->poll_query_until('app', 'SELECT true');
}
is(log_lines($node, $offset, qr/terminated by signal/), '', 'crashes nobody');

# ---------------------------------------------------------------------
note 'A cancel while somebody has the table of the entries locked';
# ---------------------------------------------------------------------

$node->safe_psql('app',
	'DROP EXTENSION tiered_storage; CREATE EXTENSION tiered_storage');
# Less than half a MB is not rounded to 0, which is no limit.
reload_with($node, 'tiered_storage.move_rate_limit' => '300kB');
is($node->safe_psql('app', 'SHOW tiered_storage.move_rate_limit'),
	'300kB', 'a rate limit below a MB is one');
my $move = start_sql($node, 'app',
	"CALL tiered_storage.move_relation('large', 'other')");
$node->poll_query_until('app',
	"SELECT count(*) = 1 FROM _tiered_storage.move_progress WHERE phase = 'copying'"
) or die 'the move does not copy';
my $pid =
  $node->safe_psql('app', 'SELECT pid FROM _tiered_storage.move_progress');
my $locker = $node->background_psql('app');
$locker->query_safe('BEGIN; LOCK TABLE _tiered_storage.move_file');
$node->safe_psql('app', "SELECT pg_cancel_backend($pid)");
ok( $node->poll_query_until(
		'postgres',
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid AND state = 'active'"
	),
	'ends the CALL');
$locker->query_safe('ROLLBACK');
$locker->quit;
like(finish_sql($move), qr/57014/, 'as a cancel');
reload_with($node, 'tiered_storage.move_rate_limit' => '0');

$node->stop;
done_testing();

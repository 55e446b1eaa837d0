# Long queries on a standby, which the replay of a swap would cancel: the worker waits for them,
# before it copies and before it swaps; preflight() names them, and a CALL warns.
#
# Made up in the tables, since no call makes it in the time of a test: moves of another
# time, size or end.
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

my $primary = new_node(
	'primary',
	standby => 1,
	conf => q(
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = 1
));
$primary->start;
create_in_place_tablespace($primary, 'slow');
$primary->safe_psql('postgres', 'CREATE DATABASE app');
prepare_matter($primary, 'app');
$primary->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('hdd', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
CREATE TABLE p (at date, t text) PARTITION BY RANGE (at);
CREATE TABLE p_1 PARTITION OF p FOR VALUES FROM ('2001-01-01') TO ('2002-01-01');
CREATE TABLE p_2 PARTITION OF p FOR VALUES FROM ('2002-01-01') TO ('2003-01-01');
INSERT INTO p SELECT '2001-02-03'::date + g % 2 * 365, repeat('x', 100) FROM generate_series(1, 1000) g;
CREATE TABLE t AS TABLE p;
CREATE ROLE owner;
GRANT USAGE ON SCHEMA tiered_storage TO owner;
GRANT EXECUTE ON FUNCTION tiered_storage.preflight TO owner;
));
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf(
	'postgresql.conf', q(
hot_standby_feedback = off
max_standby_streaming_delay = '1s'
));
$standby->start;
$primary->wait_for_catchup($standby);
$primary->safe_psql('app',
		"SELECT tiered_storage.add_standby('replica', conninfo => 'host="
	  . $standby->host
	  . ' port='
	  . $standby->port
	  . "')");

my $report;

# A transaction there that has read the table, and has been open for more than a second.
sub begin_report
{
	my ($table) = @_;

	$report = $standby->background_psql('app');
	$report->set_query_timer_restart;
	$report->query_safe("BEGIN; SELECT count(*) FROM $table");
	$standby->poll_query_until('app',
		"SELECT count(*) > 0 FROM pg_stat_activity WHERE clock_timestamp() - xact_start > interval '1 s' AND state = 'idle in transaction'"
	) or die 'the report is never old';
	return;
}

sub end_report
{
	$report->quit;
	$standby->poll_query_until('app',
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE state = 'idle in transaction'"
	) or die 'the report does not end';
	return;
}

# Cycles of the worker until a run has moved it: not each is a run.
sub wait_until_moved
{
	my ($relation) = @_;
	my $attempts = $PostgreSQL::Test::Utils::timeout_default;

	while ($attempts-- > 0)
	{
		return 1 if tablespaces_of($primary, 'app', $relation) eq 'slow';
		run_cycle($primary, 'app');
	}
	return 0;
}

my $conflicts =
  "SELECT confl_lock FROM pg_stat_database_conflicts WHERE datname = 'app'";
my $in_use =
  'it is in use on standby "replica" by a transaction that has been open for \d+ s';

sub rows_of_preflight
{
	my ($relation, $before) = @_;

	return $primary->safe_psql('app',
		($before // '')
		  . "SELECT verdict || ': ' || replace(finding, E'\\n', ' ') FROM tiered_storage.preflight('$relation', 'hdd', include_all => true) WHERE check_name = 'standby_users'"
	);
}

# ---------------------------------------------------------------------
note 'A report from before the move';
# ---------------------------------------------------------------------

is( rows_of_preflight('p_1'),
	'warning: not known for 1 of 1 standbys: the last pull failed, is older than 10 minutes, or its role is not a member of pg_monitor',
	'a standby that has told nothing yet');
run_cycle($primary, 'app');
is( rows_of_preflight('p_1'),
	'ok: no long use on 1 of 1 standbys, as of the last pull',
	'nobody is there');

begin_report('p_1');

run_cycle($primary, 'app');
like(
	rows_of_preflight('p'),
	qr/^warning: public\.p_1: $in_use; it would be canceled there after 1000 ms, which is max_standby_streaming_delay$/,
	'preflight() names the report');
like(
	rows_of_preflight('p_1', 'SET ROLE owner;'),
	qr/^warning: public\.p_1: it is in use on a standby by a transaction/,
	'who may not know of standbys is not told which');
$primary->safe_psql('app',
	"SELECT tiered_storage.add_tiering_policy('p', move_after => '1 year', tier => 'hdd')"
);
ok(wait_until_moved('p_2'), 'the worker moves what nobody reads there');
is(tablespaces_of($primary, 'app', 'p_1'), 'pg_default', 'not what is read');
like(
	$primary->safe_psql(
		'app',
		"SELECT state || ' ' || reason FROM _tiered_storage.move_queue_entries() WHERE relation = 'p_1'::regclass"
	),
	qr/^waiting waiting: $in_use$/,
	'which waits, and the plan says for what');
like(
	notices_of($primary, 'app', 'CALL tiered_storage.migrate()'),
	qr/1 relation is not moved now\nDETAIL:  $in_use/i,
	'CALL migrate() waits as well');
is(tablespaces_of($primary, 'app', 'p_1'), 'pg_default', 'and moves nothing');
$primary->wait_for_catchup($standby);
is($report->query_safe('SELECT count(*) FROM p_1'), 500,
	'the report goes on');
end_report();
pull_standbys($primary, 'app');
$primary->safe_psql('app',
	"UPDATE _tiered_storage.move SET next_attempt_at = now() WHERE state = 'skipped'"
);
ok(wait_until_moved('p_1'), 'when it has ended, the move is made');

# ---------------------------------------------------------------------
note 'A report that begins while it is copied';
# ---------------------------------------------------------------------

SKIP:
{
	skip 'stop points need the debug build', 4
	  unless $ENV{TIER_DEBUG_LIBDIR};
	my $stops = new_stops($primary, 'app');

	hold($stops, 'copied');
	$primary->safe_psql(
		'app', q(
CREATE TABLE p_3 PARTITION OF p FOR VALUES FROM ('2003-01-01') TO ('2004-01-01');
INSERT INTO p SELECT '2003-02-03', repeat('x', 100) FROM generate_series(1, 1000);
));
	$primary->wait_for_catchup($standby);

	# So that the next cycle is a run.
	$primary->poll_query_until('app',
		"SELECT clock_timestamp() - last_finished_at > interval '1 s' FROM _tiered_storage.worker_status() WHERE database_name = 'app'"
	);
	$primary->safe_psql('app', 'SELECT _tiered_storage.notify_launcher()');
	wait_stopped($stops, 'copied');
	begin_report('p_3');
	hold($stops, 'backing_off');
	let_go($stops, 'copied');
	ok( wait_stopped($stops, 'backing_off'),
		'the worker asks before it swaps, and waits');
	is(tablespaces_of($primary, 'app', 'p_3'), 'pg_default', 'with its copy');
	is($report->query_safe('SELECT count(*) FROM p_3'),
		1000, 'the report goes on');
	end_report();
	let_go($stops, 'backing_off');
	ok(wait_until_moved('p_3'), 'when it has ended, the copy is taken');
	$stops->quit;
}
is($standby->safe_psql('app', $conflicts), 0, 'nothing was cancelled');

# ---------------------------------------------------------------------
note 'A table that a person names';
# ---------------------------------------------------------------------

begin_report('t');
pull_standbys($primary, 'app');
like(
	notices_of(
		$primary, 'app', "CALL tiered_storage.move_relation('t', 'hdd')"),
	qr/WARNING:  55006: public\.t is moved although $in_use\nDETAIL:  It would be canceled there after 1000 ms/,
	'a CALL warns');
is(tablespaces_of($primary, 'app', 't'), 'slow', 'and moves it');
$standby->poll_query_until('app', $conflicts, 1)
  or die 'the move was in nobody\'s way';
pass('which cancels the report, as was said');

# ---------------------------------------------------------------------
note 'A standby that is down';
# ---------------------------------------------------------------------

$standby->stop;
pull_standbys($primary, 'app');
like(rows_of_preflight('t'), qr/^$/, 'nothing to move, no row');
like(
	$primary->safe_psql(
		'app',
		"SELECT verdict || ': ' || replace(finding, E'\\n', ' ') FROM tiered_storage.preflight('t', 'pg_default') WHERE check_name = 'standby_users'"
	),
	qr/^warning: not known for 1 of 1 standbys/,
	'a standby that does not answer is reported');
$primary->safe_psql(
	'app', q(
CREATE TABLE p_4 PARTITION OF p FOR VALUES FROM ('2004-01-01') TO ('2005-01-01');
INSERT INTO p SELECT '2004-02-03', repeat('x', 100) FROM generate_series(1, 1000);
));
ok(wait_until_moved('p_4'), 'and holds up nobody');
$primary->stop;
done_testing();

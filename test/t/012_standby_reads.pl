# Reads of a streaming standby count on the primary; a standby that is dead, another
# cluster or the wrong database is an entry in a view.  And what backends wait for.
#
# Made up in the tables, since no call makes it in the time of a test: rates, and
# history of days and weeks; what a standby has told.
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
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = '1h'
));
$primary->start;
$primary->safe_psql('postgres', 'CREATE DATABASE app; CREATE DATABASE other');
$primary->safe_psql('app', 'CREATE EXTENSION tiered_storage');

run_cycle($primary, 'app');

my $host = $primary->host;

# ---------------------------------------------------------------------
# What backends wait for
# ---------------------------------------------------------------------

sub waited
{
	my ($class) = @_;
	return
	  "SELECT COALESCE((SELECT wait_s > 0 FROM _tiered_storage.wait_times() WHERE wait_class = '$class'), false)";
}

$primary->poll_query_until('app',
	'SELECT count(*) = 9 FROM _tiered_storage.wait_times()')
  or die 'nobody looks at what backends wait for';
is($primary->safe_psql('app', waited('lock')), 'f',
	'nobody waits for a lock');

# The worker's own sample may come at any time: what the periods count begins here.
$primary->safe_psql('app', 'CALL tiered_storage.sample()');

# An idle session, and one that waits for a lock that it holds.
my $idle = $primary->background_psql('app');
$idle->query_safe(
	'BEGIN; CREATE TABLE held (a int); COMMIT; BEGIN; LOCK TABLE held');
my $waiter = start_sql($primary, 'app', 'SELECT count(*) FROM held');
ok( $primary->poll_query_until('app', waited('lock')),
	'a session that waits for a lock is counted');
my $is_seen = waited('cpu');
my $busy = start_sql($primary, 'app',
	"DO \$\$ BEGIN WHILE NOT ($is_seen) AND clock_timestamp() < now() + interval '1 minute' LOOP END LOOP; END \$\$"
);
ok($primary->poll_query_until('app', waited('cpu')), 'one that works, too');
is(finish_sql($busy), '', 'it has worked');
$idle->query_safe('COMMIT');
$idle->quit;
is(finish_sql($waiter), '', 'it got the lock');

# The one that held the lock was idle all that time, which is no wait.
is( $primary->safe_psql(
		'app',
		"SELECT max(wait_s) FILTER (WHERE wait_class = 'other') < max(wait_s) FILTER (WHERE wait_class = 'lock') FROM _tiered_storage.wait_times()"
	),
	't',
	'an idle session is not counted');

# Sampled into the history, as waits of a period.
$primary->safe_psql('app', 'CALL tiered_storage.sample()');
ok( $primary->safe_psql('app',
		"SELECT bool_or(wait_lock_ms > 0 AND wait_sampled_ms > 0) FROM _tiered_storage.load_rows"
	) eq 't',
	'a period has its waits');

# ---------------------------------------------------------------------
# Reads of a standby
# ---------------------------------------------------------------------

$primary->safe_psql(
	'app', q(
CREATE TABLE hot (id int PRIMARY KEY, filler text) WITH (fillfactor = 10, autovacuum_enabled = off);
INSERT INTO hot SELECT i, repeat('x', 100) FROM generate_series(1, 2000) i;
CREATE TABLE cold (LIKE hot) WITH (autovacuum_enabled = off);
INSERT INTO cold TABLE hot;
VACUUM ANALYZE hot, cold;
));
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', 'hot_standby_feedback = on');
$standby->start;
my $standby_connection = 'host=' . $standby->host . ' port=' . $standby->port;

# Flushed at once: what the standby has read is in its statistics after this.
sub read_there
{
	my ($sql) = @_;
	$standby->safe_psql('app', "$sql;\nSELECT pg_stat_force_next_flush();\n");
	return;
}

sub pull_and_sample
{
	pull_standbys($primary, 'app');
	$primary->safe_psql('app', 'CALL tiered_storage.sample()');
	return;
}

sub state_of
{
	my ($name) = @_;
	return $primary->safe_psql('app',
		"SELECT last_pull_at IS NOT NULL, failures, COALESCE(error, '-') FROM _tiered_storage.standbys WHERE standby_name = '$name'"
	);
}

# Reads of "hot" in the history, and whether the last sample saw it used.
sub history_of
{
	my ($relation) = @_;
	return $primary->safe_psql('app',
		"SELECT COALESCE(sum(random_reads + sequential_reads + hits), 0), count(*) FROM _tiered_storage.history_rows WHERE relation_oid = '$relation'::regclass"
	);
}

$primary->safe_psql('app',
	"SELECT tiered_storage.add_standby('replica', conninfo => '$standby_connection')"
);
like(
	error_of(
		$primary,
		'app',
		"SELECT tiered_storage.add_standby('replica', conninfo => 'host=x')"),
	qr/ERROR:  42710: standby "replica" already exists/,
	'one of each name');

# What it had read before it was added belongs to no period.
read_there('SELECT count(filler) FROM hot; SELECT count(filler) FROM cold');
$primary->wait_for_catchup($standby);
$primary->safe_psql('app', 'CALL tiered_storage.sample()');
$primary->safe_psql('app',
	'TRUNCATE _tiered_storage.relation_history, _tiered_storage.history_hour'
);
pull_and_sample();
is(state_of('replica'), 't|0|-', 'the standby answers');
is(history_of('hot'), '0|0', 'the first pull is where it starts from');

# A table that is hot only there.
my $blocks =
  $primary->safe_psql('app', "SELECT pg_relation_size('hot') / 8192");
$primary->safe_psql('app',
	"UPDATE _tiered_storage.relation_state SET last_used_at = '2001-01-01'");
read_there('SELECT count(filler) FROM hot; SELECT count(filler) FROM hot')
  for 1 .. 2;
pull_and_sample();
my ($reads, $rows) = split /\|/, history_of('hot');
cmp_ok($reads, '>=', 4 * $blocks, 'four scans there are in the history here');
cmp_ok($reads, '<', 5 * $blocks, 'and not more');
is($rows, 1, 'in one period');
is(history_of('cold'), '0|0', 'but not those of a table that was not read');
is( $primary->safe_psql(
		'app',
		"SELECT last_read_at IS NOT NULL FROM _tiered_storage.relation_state WHERE relation_oid IN ('hot'::regclass, 'cold'::regclass) ORDER BY relation_oid::regclass::text DESC"
	),
	"t\nf",
	'what is read on a standby is not unread');
is( $primary->safe_psql(
		'app',
		"SELECT last_used_at > now() - interval '1 hour' FROM _tiered_storage.heat WHERE relation IN ('hot'::regclass, 'cold'::regclass) ORDER BY relation::text DESC"
	),
	"t\nf",
	'one was used, one was not');

# What a transaction there has locked is read, though its reads are counted when it ends.
my $cold_read =
  "SELECT last_read_at IS NOT NULL, last_used_at > now() - interval '1 hour' FROM _tiered_storage.relation_state WHERE relation_oid = 'cold'::regclass";
my $reader = $standby->background_psql('app');
$reader->query_safe('BEGIN; LOCK TABLE cold IN ACCESS SHARE MODE');
pull_and_sample();
is($primary->safe_psql('app', $cold_read),
	't|f', 'locked on a standby is read, and no work');
$reader->query_safe('COMMIT');
$reader->quit;

# The same standby, added twice: what is pulled of two before a sample adds up, and a sample
# without a pull adds nothing.
$primary->safe_psql('app',
	"SELECT tiered_storage.add_standby('again', conninfo => '$standby_connection')"
);
pull_and_sample();
$primary->safe_psql('app',
	'TRUNCATE _tiered_storage.relation_history, _tiered_storage.history_hour'
);
read_there('SELECT count(filler) FROM hot');
pull_and_sample();
$primary->safe_psql('app', 'CALL tiered_storage.sample()');
($reads, $rows) = split /\|/, history_of('hot');
cmp_ok($reads, '>=', 2 * $blocks, 'both pulls count');
cmp_ok($reads, '<', 3 * $blocks, 'once');
is($rows, 1, 'in one sample');

# Removing one is no step back: what was read stays, and is not read again.
$primary->safe_psql('app',
	"TRUNCATE _tiered_storage.relation_history, _tiered_storage.history_hour; SELECT tiered_storage.remove_standby('again')"
);
my $resets = $primary->safe_psql('app',
	'SELECT counter_resets FROM _tiered_storage.sampler');
pull_and_sample();
is(history_of('hot'), '0|0', 'a standby that was removed adds nothing');
is( $primary->safe_psql(
		'app', 'SELECT counter_resets FROM _tiered_storage.sampler'),
	$resets,
	'and looks like no reset');

# Its statistics start from zero: what they show then has happened since.
$primary->safe_psql('app',
	'TRUNCATE _tiered_storage.relation_history, _tiered_storage.history_hour'
);
$standby->stop('immediate');
$standby->start;
read_there('SELECT count(filler) FROM hot');
pull_and_sample();
($reads, $rows) = split /\|/, history_of('hot');
cmp_ok($reads, '>=', $blocks, 'after a crash of the standby its reads count');
cmp_ok($reads, '<', 2 * $blocks, 'those since then');

# A reset here is no business of that there.
$primary->safe_psql('app',
	'TRUNCATE _tiered_storage.relation_history, _tiered_storage.history_hour'
);
read_there('SELECT count(filler) FROM hot');
$primary->safe_psql('app', 'SELECT pg_stat_reset()');
pull_and_sample();
($reads, $rows) = split /\|/, history_of('hot');
cmp_ok($reads, '>=', $blocks, 'its reads count');
cmp_ok($reads, '<', 2 * $blocks, 'a reset here does not count it again');

# Superusers alone decide where the worker connects to, each time.
$primary->safe_psql('app',
	"CREATE ROLE other_super SUPERUSER; CREATE ROLE operator");
$primary->safe_psql('app',
	"SET ROLE other_super; SELECT tiered_storage.add_standby('by_other', conninfo => '$standby_connection')"
);
pull_standbys($primary, 'app');
is(state_of('by_other'), 't|0|-', 'added by another superuser');

sub refused
{
	my ($what, $spoil, $mend, $error) = @_;

	$primary->safe_psql('app', $spoil);
	pull_standbys($primary, 'app');
	like(state_of('by_other'), qr/^t\|1\|$error/, $what);
	$primary->safe_psql('app', $mend);
	pull_standbys($primary, 'app');
	is(state_of('by_other'), 't|0|-', "$what: and back");
	return;
}
refused(
	'who added it is not a superuser',
	'ALTER ROLE other_super NOSUPERUSER',
	'ALTER ROLE other_super SUPERUSER',
	'the role that added the standby, "other_super", is not a superuser');
refused(
	'a role of another name',
	'ALTER ROLE other_super RENAME TO another_super',
	'ALTER ROLE another_super RENAME TO other_super',
	'the role that added the standby, "other_super", has changed');
refused(
	'a role of that name, but another one',
	"UPDATE _tiered_storage.standby SET added_by_oid = 10 WHERE standby_name = 'by_other'",
	"UPDATE _tiered_storage.standby SET added_by_oid = 'other_super'::regrole WHERE standby_name = 'by_other'",
	'the role that added the standby, "other_super", has changed');
$primary->safe_psql('app',
	"SELECT tiered_storage.remove_standby('by_other')");

# ---------------------------------------------------------------------
# What is wrong with a standby
# ---------------------------------------------------------------------

my $stranger = new_node('stranger', preload => 0);
$stranger->start;
$stranger->safe_psql('postgres', 'CREATE DATABASE app');
my %wrong = (
	stranger => 'host=' . $stranger->host . ' port=' . $stranger->port,
	self => "host=$host port=" . $primary->port,
	database => "$standby_connection dbname=other",
	dead => "host=$host port=1");
$primary->safe_psql('app',
	"SELECT tiered_storage.add_standby('$_', conninfo => \$\$$wrong{$_}\$\$)")
  foreach sort keys %wrong;
read_there('SELECT count(filler) FROM hot');
pull_and_sample();
is( state_of('stranger'),
	'f|1|the connection leads to another cluster',
	'another cluster');
is(state_of('self'),
	'f|1|the connection leads to a server that is not a standby',
	'no standby');
is( state_of('database'),
	'f|1|the connection leads to another database',
	'another database');
like(state_of('dead'), qr/^f\|1\|connection to server .* failed/,
	'nobody there');
is(state_of('replica'), 't|0|-', 'the others are not in its way');
($reads, $rows) = split /\|/, history_of('hot');
cmp_ok($reads, '>=', $blocks, 'its reads came');
is( $primary->safe_psql(
		'app',
		"SELECT count(*) FROM _tiered_storage.standby_counters WHERE standby_name <> 'replica'"
	),
	'0',
	'nothing was taken from the wrong ones');

# What failed is not tried again in each cycle.
run_cycle($primary, 'app');
like(state_of('dead'), qr/^f\|1\|/, 'not due yet');
pull_standbys($primary, 'app');
like(state_of('dead'), qr/^f\|2\|/, 'due');

# One that has gone keeps what is known of it, and no cycle fails for it.
$standby->stop;
pull_standbys($primary, 'app');
like(
	state_of('replica'),
	qr/^t\|1\|connection to server .* failed/,
	'a standby that has gone');
like(worker_of($primary, 'app', 'app'), qr/^waiting\|/, 'the worker goes on');
$standby->start;
$primary->wait_for_catchup($standby);
pull_standbys($primary, 'app');
is(state_of('replica'), 't|0|-', 'it is back');

# On a standby none is added, and the views can be read.
like(
	error_of(
		$standby, 'app',
		"SELECT tiered_storage.add_standby('x', conninfo => 'host=x')"),
	qr/ERROR:  25006: cannot execute tiered_storage.add_standby\(\) during recovery/,
	'a standby adds none');
is( $standby->safe_psql(
		'app', "SELECT count(*) FROM _tiered_storage.standbys"),
	5,
	'but shows');
is( $standby->safe_psql(
		'app',
		"SELECT count(device), bool_and(null_reason ~ 'all: measured on the primary') FROM _tiered_storage.file_class_io()"
	),
	'0|t',
	'figures of files are not those of its devices');
$standby->safe_psql('app',
	'SELECT count(*) FROM _tiered_storage.recommend_partitioning(0, true)');

# The definitions are dumped, the counters are not.
my $dump = $primary->basedir . '/dump.sql';
command_ok([ 'pg_dump', '-d', $primary->connstr('app'), '-f', $dump ],
	'pg_dump');
my $text = slurp_file($dump);
like($text, qr/COPY _tiered_storage\.standby /, 'standbys are dumped');
unlike(
	$text,
	qr/COPY _tiered_storage\.(standby_(state|counters|reads|heat)|load_)/,
	'what was seen is not');

$stranger->stop;
$standby->stop;
$primary->stop;
done_testing();

# What a move must leave alone, and what it has to notice before it has copied
# anything: autovacuum workers, and transactions that keep the relation locked.
#
# Made up in the tables, since no call makes it in the time of a test: an empty record
# of moves.

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
tiered_storage.sample_interval = '1s'
tiered_storage.migrate_interval = '1s'
tiered_storage.move_lock_timeout = '500ms'
tiered_storage.debug_lock_attempts = 2
max_prepared_transactions = 5
deadlock_timeout = '1ms'
autovacuum = on
autovacuum_naptime = '1s'
autovacuum_max_workers = 3
));
$node->start;
create_in_place_tablespace($node, 'slow');
$node->safe_psql('postgres', 'CREATE DATABASE app');
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
CREATE ROLE owner;
GRANT CREATE ON SCHEMA public TO owner;
GRANT CREATE ON TABLESPACE slow TO owner;
GRANT USAGE ON SCHEMA tiered_storage TO owner;
GRANT EXECUTE ON PROCEDURE tiered_storage.move_relation TO owner;
));
prepare_matter($node, 'app');
my $stops = new_stops($node, 'app');

# ---------------------------------------------------------------------
note 'Autovacuum';
# ---------------------------------------------------------------------

# As slow as can be: it is at work when the test has ended.
my $slowly =
  'autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1, autovacuum_vacuum_threshold = 10, autovacuum_analyze_threshold = 2000000000';
$node->safe_psql(
	'app', qq(
CREATE TABLE vacuumed (at date NOT NULL, value text) PARTITION BY RANGE (at);
CREATE TABLE vacuumed_1 PARTITION OF vacuumed FOR VALUES FROM ('2001-01-01') TO ('2001-02-01') WITH ($slowly);
CREATE UNLOGGED TABLE vacuumed_2 (LIKE vacuumed) WITH ($slowly);
ALTER TABLE vacuumed OWNER TO owner;
ALTER TABLE vacuumed_1 OWNER TO owner;
ALTER TABLE vacuumed_2 OWNER TO owner;
INSERT INTO vacuumed SELECT '2001-01-01', repeat('x', 500) FROM generate_series(1, 20000);
INSERT INTO vacuumed_2 TABLE vacuumed;
DELETE FROM vacuumed;
DELETE FROM vacuumed_2;
));
my $vacuum =
  "SELECT string_agg(relid::regclass || ' ' || pid, ',' ORDER BY relid) FROM pg_stat_progress_vacuum WHERE relid IN ('vacuumed_1'::regclass, 'vacuumed_2'::regclass)";
$node->poll_query_until('app', "SELECT ($vacuum) ~ ','")
  or die 'autovacuum does not come';
my $workers = $node->safe_psql('app', $vacuum);
my $offset = -s $node->logfile;

# An unlogged table is moved with one lock for the whole copy.
foreach my $table ('vacuumed_1', 'vacuumed_2')
{
	like(
		error_of(
			$node,
			'app',
			"SET ROLE owner; CALL tiered_storage.move_relation('$table', 'slow', allow_lock => true)"
		),
		qr/ERROR:  55P03: could not move public.$table: could not lock the relation within 500 ms in 2 attempts/,
		"a move does not get $table, which autovacuum has");
	is($node->safe_psql('app', $vacuum), $workers, 'and which it keeps');
}

# And the worker, which has no more rights to be impatient.
$node->safe_psql('app',
	"SELECT tiered_storage.add_tiering_policy('vacuumed', '90 days', 'slow')"
);
$node->safe_psql('app',
	"DELETE FROM _tiered_storage.move WHERE relation_name = 'public.vacuumed_1'"
);
reload_with($node, 'tiered_storage.auto_migrate' => 'policies');
ok( $node->poll_query_until(
		'app',
		"SELECT count(*) = 1 FROM _tiered_storage.moves WHERE relation = 'vacuumed_1' AND state = 'skipped' AND sqlstate = '55P03'"
	),
	'nor does the worker');
is($node->safe_psql('app', $vacuum), $workers, 'nor takes it away');
reload_with($node, 'tiered_storage.auto_migrate' => 'off');
wait_for_cycle($node, 'app');
is(log_lines($node, $offset, qr/canceling autovacuum|sending cancel/),
	'', 'autovacuum was never cancelled');

# ---------------------------------------------------------------------
note 'Transactions that do not end';
# ---------------------------------------------------------------------

# Without "young_holders" each transaction counts as one that has lasted for long.
my $old = "SET tiered_storage.debug_skip = 'young_holders queueing'";
$node->safe_psql(
	'app', q(
CREATE TABLE used (id int PRIMARY KEY, value text);
INSERT INTO used SELECT i, repeat(md5(i::text), 200) FROM generate_series(1, 100) i;
ALTER TABLE used OWNER TO owner));

# What a move of a relation has come to: not a byte is copied, nor a lock asked for.
sub untouched
{
	my ($relation, $name) = @_;
	is( $node->safe_psql(
			'app',
			"SELECT state, sqlstate, attempts, copied_bytes FROM _tiered_storage.moves WHERE relation = '$relation' ORDER BY move_id DESC LIMIT 1"
		),
		'skipped|55P03|0|0',
		$name);
	return;
}

my $reader = $node->background_psql('app');
$reader->query_safe("SET application_name = 'pg_dump'");
$reader->query_safe('BEGIN; SELECT count(*) FROM used');
my $pid = $reader->query_safe('SELECT pg_backend_pid()');
like(
	error_of(
		$node, 'app',
		"$old; CALL tiered_storage.move_relation('used', 'slow')"),
	qr/ERROR:  55P03: could not move public.used: it is in use by process $pid \(pg_dump\), whose transaction has been open for \d+ s\nDETAIL:.*\nHINT:  It would still be in use/,
	'who keeps a relation from being moved is found before the copy');
untouched('used', 'nothing was done');
untouched('used_pkey', 'for its index, too');
like(
	error_of(
		$node,
		'app',
		"$old; SET ROLE owner; CALL tiered_storage.move_relation('used', 'slow')"
	),
	qr/ERROR:  55P03: could not move public.used: it is in use by process $pid, whose transaction has been open for too long\n/,
	'whoever may not look at the statistics of others is not told more');
like(
	error_of(
		$node, 'app', "CALL tiered_storage.move_relation('used', 'slow')"),
	qr/ERROR:  55P03: could not move public.used: could not lock the relation within 500 ms in 2 attempts/,
	'a transaction that has just begun may end in time');
$reader->query_safe('COMMIT');

# In the middle of it, before and after a restart.
$reader->query_safe(
	"BEGIN; LOCK TABLE used IN ROW EXCLUSIVE MODE; PREPARE TRANSACTION 'forgotten'"
);
$reader->query_safe('SELECT 1');
$reader->quit;
$stops->quit;
foreach my $when ('', ', also after a restart')
{
	$node->safe_psql('app', 'DELETE FROM _tiered_storage.move');
	like(
		error_of(
			$node, 'app',
			"$old; CALL tiered_storage.move_relation('used', 'slow')"),
		qr/ERROR:  55P03: could not move public.used: it is in use by prepared transaction "forgotten", which has been open for \d+ s\nHINT:  COMMIT PREPARED/,
		"a prepared transaction is found$when");
	untouched('used', "before anything is done$when");
	$node->restart if $when eq '';
}
$node->safe_psql('app', "COMMIT PREPARED 'forgotten'");
like(
	notices_of(
		$node, 'app',
		"$old; CALL tiered_storage.move_relation('used', 'slow')"),
	qr/NOTICE:  00000: moved table public\.used /,
	'without it the table is moved');

# Somebody who has an index only.
$reader = $node->background_psql('app');
$reader->query_safe('SET enable_seqscan = off');
$reader->query_safe(
	'BEGIN; DECLARE c CURSOR FOR SELECT id FROM used ORDER BY id; FETCH c');
like(
	error_of(
		$node,
		'app',
		"$old; CALL tiered_storage.move_relation('used_pkey', 'pg_default')"),
	qr/ERROR:  55P03: could not move public.used_pkey: it is in use by process/,
	'an index has users of its own');
$reader->query_safe('COMMIT');
$reader->quit;

$node->stop('immediate');

done_testing();

# A database with the extension is published FOR ALL TABLES.  The extension goes
# on there; a subscriber that has it ignores the rows of ours and keeps its own;
# one that does not have it says what it lacks, and goes on once it has it.
#
# Made up in the tables, since no call makes it in the time of a test: rates, and
# history of days and weeks, the load of hours, an empty record of moves; rows as a dump
# or another machine has left them.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

my @nodes = map {
	new_node(
		$_, conf => qq(
wal_level = logical
max_wal_senders = 10
log_min_messages = warning
max_replication_slots = 10
tiered_storage.sample_interval = '1h'
))
} qw(publisher subscriber bare);
my ($publisher, $subscriber, $bare) = @nodes;

foreach my $node (@nodes)
{
	$node->start;
	create_in_place_tablespace($node, 'slow');
	$node->safe_psql('postgres', 'CREATE DATABASE app');
	$node->safe_psql('app',
		'CREATE TABLE users (id int PRIMARY KEY, value text)');
}
my $connstr = $publisher->connstr . ' dbname=app';

# What of our tables UPDATE and DELETE would fail for.
my $keyless = q(
SELECT string_agg(c.relname, ',') FROM pg_class c
WHERE c.relnamespace = '_tiered_storage'::regnamespace AND c.relkind = 'r' AND c.relreplident <> 'f'
	AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND i.indimmediate));

# Everything that a worker and people do to our tables, each of which changes rows.
sub everything_goes_on
{
	my ($name) = @_;

	$publisher->safe_psql(
		'app', q(
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
CREATE TABLE moved AS SELECT i AS id, repeat('x', 100) AS value FROM generate_series(1, 5000) i;
ALTER TABLE moved ADD PRIMARY KEY (id);
CREATE TABLE parted (at date PRIMARY KEY) PARTITION BY RANGE (at);
CREATE TABLE parted_old PARTITION OF parted FOR VALUES FROM ('2001-01-01') TO ('2001-02-01');
CALL tiered_storage.sample();
SELECT count(*) FROM moved;
SELECT pg_stat_force_next_flush();
CALL tiered_storage.sample();
SELECT tiered_storage.alter_tier('slow', price_per_gb_month => 0.01);
SELECT * FROM tiered_storage.discover_tiers();
SELECT tiered_storage.pin('moved');
SELECT tiered_storage.pin('moved', until => now() + interval '1 hour');
SELECT tiered_storage.unpin('moved');
CALL tiered_storage.move_relation('moved', 'slow');
SELECT tiered_storage.add_tiering_policy('parted', '1 day', 'slow');
CALL tiered_storage.migrate();
));
	is( $publisher->safe_psql(
			'app',
			"SELECT relation, state FROM _tiered_storage.moves WHERE state <> 'done'"
		),
		'',
		"$name: moves are done");
	is( $publisher->safe_psql(
			'app',
			q(SELECT string_agg(relation, ',' ORDER BY relation COLLATE "C") FROM _tiered_storage.moves)
		),
		'moved,moved_pkey,parted_old,parted_old_pkey',
		"$name: all of them");

	# A sample of tomorrow's rolls up what was seen until now.
	$publisher->safe_psql(
		'app',
		"UPDATE _tiered_storage.relation_history SET period_start = period_start - interval '4 hours';
		UPDATE _tiered_storage.load_history SET period_start = period_start - interval '4 hours';
		UPDATE _tiered_storage.sampler SET rolled_up_until = NULL;
		CALL tiered_storage.sample()");
	cmp_ok(
		$publisher->safe_psql(
			'app',
			q(SELECT count(*) FROM (SELECT FROM _tiered_storage.history_rows, _tiered_storage.sampler WHERE period_start < rolled_up_until
			GROUP BY relation_oid, date_trunc('hour', period_start) HAVING count(*) = 1) h)
		),
		'>',
		0,
		"$name: history is rolled up");
	run_cycle($publisher, 'app');
	$publisher->safe_psql(
		'app', q(
SELECT tiered_storage.remove_policy('parted');
DROP TABLE moved, parted;
DELETE FROM _tiered_storage.move;
SELECT tiered_storage.remove_tier('slow');
));
	return;
}

# ---------------------------------------------------------------------
# The publisher
# ---------------------------------------------------------------------

$publisher->safe_psql('app', 'CREATE PUBLICATION everything FOR ALL TABLES');
my ($rc, $out, $err) =
  $publisher->psql('app', 'CREATE EXTENSION tiered_storage');
is($rc, 0, 'CREATE EXTENSION with such a publication');
like(
	$err,
	qr/WARNING:  a publication FOR ALL TABLES includes the tables of tiered_storage/,
	'which says so');
is($publisher->safe_psql('app', $keyless), '',
	'each of our tables has a key');

# The worker says so as well, of one that is created later.
my $says =
  qr/LOG:  publication \w+ is FOR ALL TABLES and includes the tables of tiered_storage/;
$publisher->wait_for_log($says);
$publisher->safe_psql('app', 'DROP PUBLICATION everything');
run_cycle($publisher, 'app');
my $said_from = -s $publisher->logfile;
run_cycle($publisher, 'app');
is(log_lines($publisher, $said_from, $says),
	'', 'without one nothing is said');
$publisher->safe_psql('app', 'CREATE PUBLICATION everything FOR ALL TABLES');
run_cycle($publisher, 'app');
$publisher->wait_for_log($says, $said_from);
$said_from = -s $publisher->logfile;
run_cycle($publisher, 'app');
is(log_lines($publisher, $said_from, $says), '', 'once');
$publisher->safe_psql('app',
	'CREATE TABLE early (id int PRIMARY KEY); INSERT INTO early VALUES (1)');
$bare->safe_psql('app', 'CREATE TABLE early (id int PRIMARY KEY)');
everything_goes_on('nobody subscribes');

# ---------------------------------------------------------------------
# A subscriber with the extension
# ---------------------------------------------------------------------

# What is its own: tiers, pins, samples.
my $own = q(
SELECT (SELECT string_agg(t::text, ';' ORDER BY t::text) FROM _tiered_storage.tier t),
	(SELECT string_agg(t::text, ';' ORDER BY t::text) FROM _tiered_storage.tier_tablespace t),
	(SELECT string_agg(t::text, ';' ORDER BY t::text) FROM _tiered_storage.pin t),
	(SELECT string_agg(t::text, ';' ORDER BY t::text) FROM _tiered_storage.policy t),
	(SELECT string_agg(t::text, ';' ORDER BY t::text) FROM _tiered_storage.move t),
	(SELECT string_agg(t::text, ';' ORDER BY t::text) FROM _tiered_storage.sampler t),
	(SELECT string_agg(t::text, ';' ORDER BY t::text) FROM _tiered_storage.load_state t),
	(SELECT string_agg(t::text, ';' ORDER BY t::text) FROM _tiered_storage.relation_state t));
$subscriber->safe_psql(
	'app', q(
CREATE TABLE early (id int PRIMARY KEY);
CREATE TABLE moved (id int PRIMARY KEY, value text);
CREATE TABLE parted (at date PRIMARY KEY);
CREATE TABLE parted_old (at date PRIMARY KEY);
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('attic', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
SELECT tiered_storage.pin('users');
));
run_cycle($subscriber, 'app');
my $before = $subscriber->safe_psql('app', $own);
$subscriber->safe_psql('app',
	"CREATE SUBSCRIPTION mirror CONNECTION '$connstr' PUBLICATION everything"
);
$subscriber->wait_for_subscription_sync($publisher, 'mirror', 'app')
  if $subscriber->can('wait_for_subscription_sync');
$subscriber->poll_query_until('app',
	q(SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate NOT IN ('r', 's'))
) or die 'the tables are not in sync';
is($subscriber->safe_psql('app', 'SELECT count(*) FROM early'),
	'1', 'the rows of users are copied');
is($subscriber->safe_psql('app', $own),
	$before, 'ours are not: what the subscriber knows is its own');

$publisher->safe_psql('app', "INSERT INTO users VALUES (1, 'one')");
everything_goes_on('somebody subscribes');
$publisher->safe_psql('app', "INSERT INTO users VALUES (2, 'two')");
$publisher->wait_for_catchup('mirror');
is($subscriber->safe_psql('app', 'SELECT count(*) FROM users'),
	'2', 'rows of users arrive');
is($subscriber->safe_psql('app', $own),
	$before, 'rows of ours change nothing');
is( $subscriber->safe_psql(
		'app',
		'SELECT count(*) FROM _tiered_storage.history_rows h WHERE h.period_s = 3600'
	),
	'0',
	'nor is there any history of the publisher');

# Its own worker goes on beside it.
run_cycle($subscriber, 'app');
isnt($subscriber->safe_psql('app', $own), $before, 'its own worker samples');
is( $subscriber->safe_psql(
		'app',
		q(SELECT string_agg(tier_name, ',') FROM _tiered_storage.tiers WHERE tier_name IN ('attic', 'slow'))
	),
	'attic',
	'and has its own tiers');

# A trigger of users that makes the apply worker an ordinary session for the rest of its life.
$subscriber->safe_psql(
	'app', q(
CREATE FUNCTION switch_role() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	PERFORM set_config('session_replication_role', 'origin', false);
	DELETE FROM _tiered_storage.sampler;
	RETURN NEW;
END $$;
CREATE TRIGGER switch_role BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION switch_role();
ALTER TABLE users ENABLE ALWAYS TRIGGER switch_role;
));
$publisher->safe_psql('app',
	"BEGIN; INSERT INTO users VALUES (7, 'seven'); SELECT tiered_storage.pin('early'); COMMIT"
);
$publisher->wait_for_catchup('mirror');
is( $subscriber->safe_psql(
		'app',
		'SELECT (SELECT count(*) FROM users), (SELECT string_agg(relation_name, \',\') FROM _tiered_storage.pin), (SELECT count(*) FROM _tiered_storage.sampler)'
	),
	'3|users|1',
	'a trigger that changes session_replication_role changes no row of ours');
$publisher->safe_psql('app', "SELECT tiered_storage.unpin('early')");

# Somebody who loads a dump with triggers off is no subscriber.
$subscriber->safe_psql(
	'app', q(
SET session_replication_role = replica;
INSERT INTO _tiered_storage.tier SELECT (jsonb_populate_record(t, '{"tier_name": "loaded"}')).* FROM _tiered_storage.tier t WHERE tier_name = 'attic';
));
is( $subscriber->safe_psql(
		'app',
		q(SELECT count(*) FROM _tiered_storage.tiers WHERE tier_name = 'loaded')
	),
	'1',
	'rows that a person loads count');

# ---------------------------------------------------------------------
# A trigger in an apply worker
# ---------------------------------------------------------------------

# Ours let rows of an apply worker pass, to be ignored.  It runs triggers of others, too.
if ($subscriber->pg_version >= 16)
{
	$publisher->safe_psql('app',
		'CREATE TABLE bait (id int PRIMARY KEY); CREATE PUBLICATION baited FOR TABLE bait'
	);
	$subscriber->safe_psql(
		'app', q(
CREATE ROLE replicator LOGIN IN ROLE pg_create_subscription, pg_write_all_data;
GRANT SET ON PARAMETER session_replication_role TO replicator;
GRANT CREATE ON DATABASE app TO replicator;
CREATE TABLE bait (id int PRIMARY KEY);
CREATE FUNCTION write_pins() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	UPDATE _tiered_storage.pin SET relation_name = 'written'
		FROM set_config('session_replication_role', 'origin', true);
	RETURN NEW;
END $$;
CREATE TRIGGER t BEFORE INSERT ON bait FOR EACH ROW EXECUTE FUNCTION write_pins();
ALTER TABLE bait ENABLE ALWAYS TRIGGER t;
ALTER TABLE bait OWNER TO replicator;
));
	$subscriber->safe_psql('app',
		"CREATE SUBSCRIPTION baited CONNECTION '$connstr' PUBLICATION baited WITH (copy_data = false, password_required = false)"
	);
	$subscriber->safe_psql('app',
		'ALTER SUBSCRIPTION baited OWNER TO replicator');
	my $worker_said = -s $subscriber->logfile;
	$publisher->safe_psql('app', 'INSERT INTO bait VALUES (1)');
	$subscriber->poll_query_until('app',
		"SELECT (SELECT count(*) FROM bait) > 0 OR apply_error_count > 0 FROM pg_stat_subscription_stats WHERE subname = 'baited'"
	) or die 'the row does not arrive';
	like(
		log_lines($subscriber, $worker_said, qr/ERROR:  .*permission denied/),
		qr/permission denied for table pin/,
		'a trigger of a role that may write all data is refused');
	is( $subscriber->safe_psql(
			'app',
			"SELECT count(*) FROM _tiered_storage.pin WHERE relation_name = 'written'"
		),
		'0',
		'and has written nothing');
	$subscriber->safe_psql('app', 'DROP SUBSCRIPTION baited');
}

# ---------------------------------------------------------------------
# A subscriber without it
# ---------------------------------------------------------------------

$bare->safe_psql('app',
	'CREATE TABLE moved (id int PRIMARY KEY, value text); CREATE TABLE parted_old (at date PRIMARY KEY); CREATE TABLE parted (at date PRIMARY KEY)'
);
like(
	error_of(
		$bare,
		'app',
		"CREATE SUBSCRIPTION mirror_bare CONNECTION '$connstr' PUBLICATION everything"
	),
	qr/ERROR:  (3F000|42P01): .*"_tiered_storage.*" does not exist/,
	'it cannot subscribe');
$bare->safe_psql('app',
	"CREATE SUBSCRIPTION mirror_bare CONNECTION '$connstr' PUBLICATION everything WITH (connect = false)"
);
$publisher->safe_psql('app',
	q(SELECT pg_create_logical_replication_slot('mirror_bare', 'pgoutput')));
my $offset = -s $bare->logfile;
$bare->safe_psql('app', 'ALTER SUBSCRIPTION mirror_bare ENABLE');
$publisher->safe_psql('app',
	"CALL tiered_storage.sample(); INSERT INTO users VALUES (3, 'three')");
my $attempts = 10 * $PostgreSQL::Test::Utils::timeout_default;

while (
	$attempts-- > 0
	&& log_lines($bare, $offset,
		qr/logical replication target relation "_tiered_storage\.\w+" does not exist/
	) eq '')
{
	select undef, undef, undef, 0.1;
}
cmp_ok($attempts, '>', 0,
	'and one that has subscribed before stops, and says what it lacks');
$bare->safe_psql('app', 'CREATE EXTENSION tiered_storage');
$publisher->wait_for_catchup('mirror_bare');
pass('until it has the extension: then replication goes on');
run_cycle($bare, 'app');
is($bare->safe_psql('app', q(SELECT count(*) FROM _tiered_storage.move)),
	'0', 'and nothing of the publisher is there');

# ---------------------------------------------------------------------
# A publication without our tables
# ---------------------------------------------------------------------

$publisher->safe_psql('app',
	'CREATE PUBLICATION theirs FOR TABLES IN SCHEMA public');
is( $publisher->safe_psql(
		'app',
		q(SELECT count(*) FROM pg_publication_tables WHERE pubname = 'theirs' AND schemaname = '_tiered_storage')
	),
	'0',
	'a publication of schemas leaves our tables out');

$subscriber->safe_psql('app', 'DROP SUBSCRIPTION mirror');
$bare->safe_psql('app', 'DROP SUBSCRIPTION mirror_bare');
done_testing();

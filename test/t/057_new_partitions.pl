# new_partitions_on: the worker sets it, never waits for long, and a dump brings back what
# was there before.

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
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = '1s'
tiered_storage.move_lock_timeout = '1min'
tiered_storage.debug_lock_hold_limit = '10s'
));
$node->start;
create_in_place_tablespace($node, $_) for qw(fast slow before);
$node->safe_psql(
	'postgres', q(
CREATE EXTENSION IF NOT EXISTS tiered_storage;
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', rank => 0, reserve_fraction => 0, capacity_bytes => 1000000000),
	tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, capacity_bytes => 1000000000);
CREATE TABLE t (at date NOT NULL PRIMARY KEY) PARTITION BY RANGE (at) TABLESPACE before;
CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM ('2020-01-01') TO ('2100-01-01') PARTITION BY RANGE (at);
SELECT tiered_storage.add_tiering_policy('t', '90 days', 'slow', new_partitions_on => 'fast');
));

sub places
{
	my ($database) = @_;

	return $node->safe_psql(
		$database || 'postgres', q(
SELECT c.relname, COALESCE(t.spcname, '-') FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
WHERE c.relname LIKE 't%' AND c.relkind IN ('p', 'I') AND c.relnamespace = 'public'::regnamespace ORDER BY 1)
	);
}

sub outlook
{
	return $node->safe_psql('postgres',
		q(SELECT reason FROM tiered_storage.evaluate_policies() WHERE relation = 't'::regclass)
	);
}

my $before = "t|before\nt_1|before\nt_1_pkey|-\nt_pkey|-";
my $set = join "\n", map { "$_|fast" } qw(t t_1 t_1_pkey t_pkey);

# A lock that nobody but a worker holds, for a moment, is waited for (move_lock_timeout above),
# and so are rows that its first sample is still writing (the limit of the time under the lock); what migrate()
# has said is seen where a test of what it has done fails.
sub migrate
{
	my ($database) = @_;
	my $said = notices_of($node, $database, 'CALL tiered_storage.migrate()');

	note $said;
	unlike($said, qr/failed:|WARNING/, "migrate() in $database goes well");
	return;
}

######################################################################
# Somebody has the table locked: one short attempt, and nothing else is held up
######################################################################

my $user = $node->background_psql('postgres');
$user->query_safe('BEGIN; SELECT * FROM t');
my ($out, $err);
is( $node->psql(
		'postgres',
		q(SET tiered_storage.move_lock_timeout = '200ms'; CALL tiered_storage.migrate()),
		stdout => \$out,
		stderr => \$err),
	0,
	'migrate() goes on when a table is locked');
like(
	$err,
	qr/WARNING:  could not set where new partitions of public\.t are created: it is in use/,
	'it says so');
like(places(), qr/^t\|before$/m, 'and has not set it');
is( $node->safe_psql(
		'postgres', q(
SELECT count(*) FROM pg_locks WHERE relation = 't'::regclass AND (NOT granted OR mode = 'AccessExclusiveLock'))
	),
	0,
	'nobody waits behind it');
like(
	outlook(),
	qr/has set tablespace "fast"; the lock for it is not granted while the table is in use, as it is now$/,
	'and so does evaluate_policies()');
$user->query_safe('COMMIT');
$user->quit;
unlike(outlook(), qr/in use/, 'until nobody uses it');

# Whoever adds or alters a policy does not wait for the table, which is locked until it has
# returned; for the worker's work he may.
my $locker = $node->background_psql('postgres');
$locker->query_safe('BEGIN; LOCK t');
is( $node->safe_psql(
		'postgres',
		q(SET lock_timeout = '20s'; SELECT tiered_storage.alter_tiering_policy('t', new_partitions_on => 'fast'))
	),
	1,
	'a policy is altered while the table is locked');
$locker->query_safe('COMMIT');
$locker->quit;

######################################################################
# Paused, or no window open
######################################################################

$node->safe_psql('postgres', 'SELECT tiered_storage.pause()');
like(
	outlook(),
	qr/; waiting for tiered_storage\.resume\(\), as moves are paused$/,
	'that moves are paused is said');
like(
	notices_of($node, 'postgres', 'CALL tiered_storage.migrate()'),
	qr/where new partitions of public\.t and of \d more are created is not set now\nDETAIL:  Waiting for tiered_storage\.resume\(\)/,
	'by migrate(), too');
like(places(), qr/^t\|before$/m, 'nothing is set while moves are paused');
$node->safe_psql('postgres', 'SELECT tiered_storage.resume()');
$node->safe_psql(
	'postgres', q(
SELECT tiered_storage.add_move_window('never', NULL, ((now() + '6 hours') AT TIME ZONE 'UTC')::time,
	((now() + '7 hours') AT TIME ZONE 'UTC')::time, time_zone => 'UTC');
CALL tiered_storage.migrate()));
like(places(), qr/^t\|before$/m,
	'nothing is set while no move window is open');
# Nobody has to bear errors meanwhile: a pause is for moves.
$node->safe_psql(
	'postgres', q(
CREATE ROLE owner;
GRANT CREATE ON TABLESPACE fast TO owner;
GRANT CREATE ON SCHEMA public TO owner;
CREATE TABLE owned (at date NOT NULL) PARTITION BY RANGE (at);
ALTER TABLE owned OWNER TO owner;
SELECT tiered_storage.add_tiering_policy('owned', '90 days', 'slow', new_partitions_on => 'fast'))
);
$node->safe_psql('postgres',
	'CALL tiered_storage.migrate(ignore_windows => true)');
is( $node->safe_psql(
		'postgres',
		q(SELECT spcname FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE relname = 'owned')
	),
	'fast',
	'it is set');
$node->safe_psql('postgres', 'REVOKE CREATE ON TABLESPACE fast FROM owner');
$node->safe_psql('postgres', 'SELECT tiered_storage.pause()');
like(
	notices_of(
		$node, 'postgres', 'CALL tiered_storage.migrate(dry_run => true)'),
	qr/would create new partitions of public\.owned in tablespace "pg_default"\n(?!DETAIL)/,
	'what the owner may not use any more is given back, as the dry run says');
$node->safe_psql('postgres', 'CALL tiered_storage.migrate()');
$node->safe_psql(
	'postgres', q(
SET ROLE owner;
CREATE TABLE owned_1 PARTITION OF owned FOR VALUES FROM ('2026-01-01') TO ('2027-01-01'))
);
pass('while moves are paused and no window is open');
$node->safe_psql(
	'postgres', q(
SELECT tiered_storage.resume(), tiered_storage.remove_tiering_policy('owned'),
	tiered_storage.remove_move_window('never');
DROP TABLE owned;
REVOKE CREATE ON SCHEMA public FROM owner;
DROP ROLE owner;
ALTER TABLE t SET TABLESPACE before;
ALTER TABLE t_1 SET TABLESPACE before;
ALTER INDEX t_pkey SET TABLESPACE pg_default;
ALTER INDEX t_1_pkey SET TABLESPACE pg_default;
SELECT tiered_storage.alter_tiering_policy('t', new_partitions_on => 'fast'))
);

######################################################################
# The worker
######################################################################

reload_with($node, 'tiered_storage.auto_migrate' => 'policies');
$node->poll_query_until('postgres',
	q(SELECT _tiered_storage.notify_launcher() IS NULL OR count(*) = 4 FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace AND t.spcname = 'fast' WHERE c.relkind IN ('p', 'I'))
) or die 'the worker does not set it';
run_cycle($node, 'postgres');    # what it has done is in the log by then
is(places(), $set, 'the worker has set it');
is( scalar(
		my @said = split /\n/,
		log_lines(
			$node,
			0,
			qr/LOG:  new partitions of public\.t are created in tablespace "fast"$/
		)),
	1,
	'and said so in the log, once');

######################################################################
# A dump and restore
######################################################################

reload_with($node, 'tiered_storage.auto_migrate' => 'off');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
$node->command_ok(
	[
		'pg_dump', '-Fc', '-f', $dump, '-d' => $node->connstr('postgres')
	],
	'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'pg_restore', '-d' => $node->connstr('restored'), $dump ],
	'pg_restore');
is(places('restored'), $set, 'what was set is restored');
$node->safe_psql(
	'restored', q(
CALL tiered_storage.sample();
ALTER TABLE t RENAME TO t_renamed;
CALL tiered_storage.migrate();
ALTER TABLE t_renamed RENAME TO t;
SELECT tiered_storage.remove_tiering_policy(policy_id => 1);
CALL tiered_storage.migrate()));
is(places('restored'), $before, 'and what was there before is given back');
is(places(), $set, 'in this database alone');

# Into the same database, where nothing has the OID any more that it had.
$node->command_ok(
	[
		'pg_dump', '--clean',
		'--if-exists', '-f',
		"$dump.sql", '-d' => $node->connstr('postgres')
	],
	'pg_dump --clean');
# pg_dump has a key of a partition dropped, which goes with that of the table.
$node->command_ok(
	[
		'psql', '-XqAt', '-f', "$dump.sql", '-d' => $node->connstr('postgres')
	],
	'restored into the same database');
is(places(), $set, 'what was set is restored there');
is( $node->safe_psql(
		'postgres',
		'SELECT count(*) FROM _tiered_storage.partition_defaults WHERE relation_oid IS NOT NULL'
	),
	4,
	'and all of it is known, be it that the worker has seen it or not');
$node->safe_psql('postgres',
	q(SELECT tiered_storage.remove_tiering_policy(policy_id => 1)));
migrate('postgres');
is(places(), $before, 'and given back');

# Without tablespaces: what is restored is where the policy has not set it yet, and nobody
# else has either.
$node->safe_psql(
	'postgres', q(
SELECT tiered_storage.add_tiering_policy('t', '90 days', 'slow', new_partitions_on => 'fast');
CALL tiered_storage.migrate()));
$node->command_ok(
	[
		'pg_dump', '--no-tablespaces', '-f', "$dump.sql",
		'-d' => $node->connstr('postgres')
	],
	'pg_dump --no-tablespaces');
$node->safe_psql('postgres', 'CREATE DATABASE elsewhere');
$node->command_ok(
	[
		'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-f', "$dump.sql",
		'-d' => $node->connstr('elsewhere')
	],
	'restored without tablespaces');
my $none = join "\n", map { "$_|-" } qw(t t_1 t_1_pkey t_pkey);
is(places('elsewhere'), $none, 'none is set there');
migrate('elsewhere');
is(places('elsewhere'), $set, 'the policy sets it');
$node->safe_psql('elsewhere',
	q(SELECT tiered_storage.remove_tiering_policy('t')));
migrate('elsewhere');
is(places('elsewhere'), $none, 'and gives back what there was');
$node->stop;
done_testing;

# The worker freezes a table before it moves it to an object store.
#
# Made up in the tables, since no call makes it in the time of a test: that nothing was written
# for a year.

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

my $node = new_node(
	'main', conf => q(
log_min_messages = warning
tiered_storage.auto_migrate = policies
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = '1h'
vacuum_cost_limit = 1
vacuum_cost_page_dirty = 10000
));
my $has_mounts = $ENV{TIER_TEST_MOUNTS} eq 'yes';
my $wal = PostgreSQL::Test::Utils::tempdir;

if ($has_mounts)
{
	my $place = $node->data_dir . '/pg_wal';

	system_or_bail('mount', '-t', 'tmpfs', '-o', 'size=512m,mode=0700',
		'tmpfs', $wal);
	system_or_bail(
		"cp -a $place/. $wal && rm -r $place && ln -s $wal $place");
}
$node->start;
create_in_place_tablespace($node, 'store');

sub value_of
{
	my ($sql) = @_;

	return $node->safe_psql('postgres', $sql);
}

# One partition of a year that is over, with a dead row on a page of its own, and an index.
sub create_table
{
	my ($name, $owner) = @_;

	$node->safe_psql(
		'postgres', qq(
CREATE TABLE $name (day date, t text) PARTITION BY RANGE (day);
CREATE TABLE ${name}_1 PARTITION OF $name FOR VALUES FROM ('2020-01-01') TO ('2021-01-01') WITH (autovacuum_enabled = off);
CREATE INDEX ${name}_i ON ${name}_1 (day);
INSERT INTO $name SELECT date '2020-01-01' + i / 10, repeat('x', 1000) FROM generate_series(1, 1000) i;
DELETE FROM $name WHERE day = '2020-02-01';
ALTER TABLE $name OWNER TO $owner; ALTER TABLE ${name}_1 OWNER TO $owner;
SELECT pg_stat_force_next_flush();
));
	return;
}

sub add_policy
{
	my ($name, $verdict) = @_;

	$node->safe_psql(
		'postgres', qq(
CALL tiered_storage.sample();
UPDATE _tiered_storage.relation_state SET observed_since = '2021-01-01', sampled_since = '2021-01-01', proven_since = '2021-01-01',
	last_written_at = '2021-01-01', rewritten_at = NULL;
UPDATE _tiered_storage.sampler SET counts_since = '2021-01-01';
SET ROLE alice;
SELECT tiered_storage.add_tiering_policy('$name', tier => 'remote', move_after => '30 days', options => '{"no_writes_for": "7 days"}');
));
	age_policies($node, 'postgres');
	is( value_of(
			"SELECT verdict FROM _tiered_storage.evaluate_policies() WHERE relation = '${name}_1'::regclass"
		),
		$verdict,
		"$name: $verdict");
	return;
}

sub places_of
{
	my ($name) = @_;

	return value_of(
		"SELECT string_agg(COALESCE(t.spcname, '-'), ' ' ORDER BY c.relname) FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE c.relname IN ('${name}_1', '${name}_i')"
	);
}

sub vacuums_of
{
	my ($name) = @_;

	return value_of("SELECT pg_stat_get_vacuum_count('${name}_1'::regclass)");
}

$node->safe_psql(
	'postgres', q(
CREATE EXTENSION tiered_storage;
CREATE ROLE alice; CREATE ROLE bob;
GRANT CREATE ON SCHEMA public TO alice, bob;
GRANT CREATE ON TABLESPACE store TO alice, bob;
GRANT USAGE ON SCHEMA tiered_storage TO alice;
GRANT EXECUTE ON FUNCTION tiered_storage.add_tiering_policy TO alice;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('fast', '{pg_default}', profile => 'nvme'),
	tiered_storage.add_tier('remote', '{store}', profile => 'object_store');
));

# ---------------------------------------------------------------------
note 'Frozen, and moved';
# ---------------------------------------------------------------------

create_table('plain', 'alice');
add_policy('plain', 'due');
run_cycle($node, 'postgres');
is(places_of('plain'), 'store store',
	'a table that was not frozen, and its index');
is(vacuums_of('plain'), 1, 'it was vacuumed once');
is(value_of('SELECT count(*) FROM plain'), '990', 'no row is lost');

# ---------------------------------------------------------------------
note 'What is locked is left out, and nothing queues for it';
# ---------------------------------------------------------------------

create_table('locked', 'alice');
my $session = $node->background_psql('postgres');
$session->query_safe(
	'BEGIN; LOCK TABLE locked_1 IN SHARE UPDATE EXCLUSIVE MODE');
add_policy('locked', 'in use');
run_cycle($node, 'postgres');
is(places_of('locked') . vacuums_of('locked'),
	'- -0', 'it is neither vacuumed nor moved');
$session->query_safe('COMMIT');
value_of('UPDATE _tiered_storage.move SET next_attempt_at = now()');
run_cycle($node, 'postgres');
is(places_of('locked'), 'store store', 'later it is');

# ---------------------------------------------------------------------
note 'What cannot be frozen now is not vacuumed again in vain';
# ---------------------------------------------------------------------

create_table('seen', 'alice');
$session->query_safe(
	'BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM plain'
);
$node->safe_psql('postgres',
	"DELETE FROM seen WHERE day = '2020-03-01'; SELECT pg_stat_force_next_flush()"
);
add_policy('seen', 'due');
run_cycle($node, 'postgres') for 1 .. 3;
is(places_of('seen') . vacuums_of('seen'),
	'- -1', 'a table with dead rows that somebody sees');
$session->query_safe('COMMIT');
$session->quit;

# ---------------------------------------------------------------------
note 'Who waits for the table ends the vacuum';
# ---------------------------------------------------------------------

create_table('slow', 'alice');
value_of(
	q(INSERT INTO slow SELECT date '2020-05-01', repeat('x', 1000) FROM generate_series(1, 8000))
);
add_policy('slow', 'due');
value_of('SELECT _tiered_storage.notify_launcher()');
$node->poll_query_until('postgres',
	"SELECT count(*) = 1 FROM pg_stat_progress_vacuum WHERE relid = 'slow_1'::regclass"
) or die 'no vacuum';
value_of('CREATE INDEX slow_late ON slow_1 (t)');
is(places_of('slow') . vacuums_of('slow'), '- -0', 'it gives way');

# ---------------------------------------------------------------------
note
  'A vacuum that lasts longer than samples may wait goes on in later cycles';
# ---------------------------------------------------------------------

my $failures =
  "SELECT COALESCE(sum(failures), 0) FROM _tiered_storage.move WHERE relation_oid = 'slow_1'::regclass";

# That pages cannot be counted after one is the end of the attempt, not of the cycle: the log has
# no error, see below.
reload_with(
	$node,
	'tiered_storage.debug_fault' => 'recounting:error',
	'tiered_storage.sample_interval' => '1s');
value_of(
	'UPDATE _tiered_storage.move SET next_attempt_at = now(); SELECT _tiered_storage.notify_launcher()'
);
$node->poll_query_until('postgres', "SELECT ($failures) > 0")
  or die 'not given up';
reload_with($node, 'tiered_storage.debug_fault' => '');

# Each page takes 8 ms.
my $before = value_of($failures);
my $samples = value_of('SELECT samples FROM _tiered_storage.sampler');
reload_with($node, 'tiered_storage.sample_interval' => '3s');
value_of(
	'UPDATE _tiered_storage.move SET next_attempt_at = now(); SELECT _tiered_storage.notify_launcher()'
);
$node->poll_query_until('postgres',
	"SELECT reltablespace <> 0 FROM pg_class WHERE relname = 'slow_1'")
  or die 'not moved';
is(value_of($failures) - $before . vacuums_of('slow'),
	'01', 'it ended once, and nothing failed');
cmp_ok(
	value_of('SELECT samples FROM _tiered_storage.sampler'),
	'>',
	$samples + 1,
	'with samples in between');
reload_with($node, 'tiered_storage.sample_interval' => '1h');

# ---------------------------------------------------------------------
note 'A vacuum ends before pg_wal is full';
# ---------------------------------------------------------------------

SKIP:
{
	skip 'CANNOT MOUNT HERE: ROOM FOR WAL IS NOT TESTED', 2
	  unless $has_mounts;

	create_table('large', 'alice');
	value_of(
		q(INSERT INTO large SELECT date '2020-05-01', repeat('x', 1000) FROM generate_series(1, 8000))
	);
	add_policy('large', 'due');
	value_of('SELECT _tiered_storage.notify_launcher()');
	my $vacuums =
	  "SELECT count(*) FROM pg_stat_progress_vacuum WHERE relid = 'large_1'::regclass";
	$node->poll_query_until('postgres', $vacuums, '1') or die 'no vacuum';
	system_or_bail(
		"head -c \$((\$(df -B1 --output=avail $wal | tail -n 1) - 50 * 1048576)) /dev/zero >$wal/others"
	);
	$node->poll_query_until('postgres', $vacuums, '0') or die 'no end';
	is(places_of('large') . vacuums_of('large'), '- -0', 'it is ended');
	unlink "$wal/others" or die $!;
	value_of('DROP TABLE large');
}

# ---------------------------------------------------------------------
note 'No function of an owner runs in the worker';
# ---------------------------------------------------------------------

create_table('coded', 'alice');
$node->safe_psql(
	'postgres', q(
CREATE SEQUENCE called; GRANT ALL ON called TO alice;
CREATE FUNCTION code(text) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT nextval('public.called')::int - nextval('public.called')::int $$;
CREATE INDEX ON coded_1 USING brin (code(t)) WITH (pages_per_range = 1);
INSERT INTO coded SELECT date '2020-05-01', repeat('x', 1000) FROM generate_series(1, 100);
SELECT setval('called', 1), pg_stat_force_next_flush();
));
add_policy('coded', 'due');
run_cycle($node, 'postgres');
is(places_of('coded') . value_of('SELECT last_value FROM called'),
	'- -1', 'a BRIN index on an expression');
value_of('VACUUM (FREEZE, INDEX_CLEANUP ON) coded_1');
isnt(value_of('SELECT last_value FROM called'), '1', 'a vacuum calls it');

# ---------------------------------------------------------------------
note 'Nobody has a table frozen that he could not vacuum';
# ---------------------------------------------------------------------

create_table('sold', 'alice');
add_policy('sold', 'due');
$node->safe_psql('postgres', 'ALTER TABLE sold_1 OWNER TO bob');
run_cycle($node, 'postgres');
is(places_of('sold') . vacuums_of('sold'),
	'- -0', 'a table that the owner of the policy has given away');

is( log_lines($node, 0, qr/ERROR|FATAL/) =~ s/^.*?(?=ERROR)//r,
	'ERROR:  canceling statement due to user request',
	'no other vacuum has waited for a lock, or failed');
$node->stop;
done_testing();

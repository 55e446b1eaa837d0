# Advice can be executed: each command of recommend_placement() does what it says, on a
# database with one of everything, as it is, by the owner of the relation, who has what the
# guide on rights tells to grant, and by nobody who has less.
#
# Made up in the tables, since no call makes it in the time of a test: rates, and
# history of days and weeks.

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
	preload => 0,
	conf => q(
session_preload_libraries = 'tiered_storage'
tiered_storage.test_page_cache = off
tiered_storage.cooldown = 0
max_prepared_transactions = 2
autovacuum = off
fsync = off
));
$node->start;

# A tier has the name of a tablespace of the other one.
create_in_place_tablespace($node, 'quick', 'fast', 'slow');
$node->safe_psql('postgres', 'CREATE DATABASE app TABLESPACE slow');
$node->safe_psql(
	'app', q(
SET client_min_messages = error;
CREATE EXTENSION tiered_storage;
DO $$ BEGIN PERFORM tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers; END $$;
SELECT tiered_storage.add_tier('fast', '{quick}', profile => 'nvme', rank => 0, reserve_fraction => 0, price_per_gb_month => 1000000, device => jsonb_build_object('compressed', false));
SELECT tiered_storage.add_tier('S''l"o\\w', '{slow,fast}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, price_per_gb_month => 0.01, device => jsonb_build_object('compressed', false));
CREATE ROLE other LOGIN;
CREATE ROLE app_owner LOGIN;
CREATE SCHEMA "Hostile ""schema'";
CREATE TABLE "Hostile ""schema'"."table \'; DROP TABLE ordinary; --" (id int PRIMARY KEY, "Säule" text);
CREATE TABLE ordinary (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, s serial, t text, p point, a int[]);
CREATE INDEX ordinary_hash ON ordinary USING hash (id);
CREATE INDEX ordinary_gin ON ordinary USING gin (a);
CREATE INDEX ordinary_gist ON ordinary USING gist (p);
CREATE INDEX ordinary_spgist ON ordinary USING spgist (p);
CREATE INDEX ordinary_brin ON ordinary USING brin (id);
CREATE INDEX ordinary_expression ON ordinary (lower(t)) WHERE id > 5;
ALTER TABLE ordinary ALTER t SET STORAGE EXTERNAL;
INSERT INTO ordinary (t, p, a) SELECT repeat('x', 3000), point(i, i), ARRAY[i, i + 1] FROM generate_series(1, 100) i;
CREATE MATERIALIZED VIEW a_matview AS SELECT * FROM ordinary;
CREATE INDEX ON a_matview (id);
CREATE UNLOGGED TABLE is_unlogged (id int PRIMARY KEY, t text);
INSERT INTO is_unlogged SELECT i, 'x' FROM generate_series(1, 1000) i;
CREATE TABLE parted (id int PRIMARY KEY, t text) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (100) TO (200) PARTITION BY RANGE (id);
CREATE TABLE parted_2_1 PARTITION OF parted_2 DEFAULT;
INSERT INTO parted SELECT i, 'x' FROM generate_series(1, 199) i;
CREATE TABLE parent (id int);
CREATE TABLE child (t text) INHERITS (parent);
CREATE TABLE of_other (id int PRIMARY KEY);
ALTER TABLE of_other OWNER TO other;
CREATE TABLE of_extension (id int);
ALTER EXTENSION plpgsql ADD TABLE of_extension;
CREATE ACCESS METHOD foreign_heap TYPE TABLE HANDLER heap_tableam_handler;
CREATE TABLE of_method (id int) USING foreign_heap;
CREATE TABLE prepared (id int);
INSERT INTO "Hostile ""schema'"."table \'; DROP TABLE ordinary; --" SELECT i FROM generate_series(1, 1000) i;
INSERT INTO parent SELECT generate_series(1, 1000);
INSERT INTO child SELECT generate_series(1, 1000);
INSERT INTO of_other SELECT generate_series(1, 1000);
INSERT INTO of_extension SELECT generate_series(1, 1000);
INSERT INTO of_method SELECT generate_series(1, 1000);
INSERT INTO prepared SELECT generate_series(1, 1000);
CREATE TABLE has_invalid (id int);
INSERT INTO has_invalid SELECT 1 FROM generate_series(1, 1000);
SELECT pg_stat_force_next_flush();
DO $$
DECLARE
	relation record;
BEGIN
	FOR relation IN SELECT c.oid::regclass AS name, c.relkind FROM pg_class c
		WHERE c.relkind IN ('r', 'm', 'p') AND c.relnamespace::regnamespace::text NOT IN ('tiered_storage', '_tiered_storage', 'pg_catalog', 'information_schema')
			AND c.relname NOT IN ('of_other', 'of_extension')
	LOOP
		EXECUTE format('ALTER %s %s OWNER TO app_owner', CASE relation.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END, relation.name);
	END LOOP;
END $$;
ALTER SCHEMA "Hostile ""schema'" OWNER TO app_owner;
GRANT USAGE ON SCHEMA tiered_storage TO app_owner, other;
GRANT EXECUTE ON PROCEDURE tiered_storage.move_relation TO app_owner, other;
GRANT CREATE ON TABLESPACE fast, slow TO app_owner, other;
));
$node->psql('app',
	'CREATE UNIQUE INDEX CONCURRENTLY is_invalid ON has_invalid (id)');
is( $node->safe_psql(
		'app',
		'SELECT indisvalid FROM pg_index WHERE indexrelid = \'is_invalid\'::regclass'
	),
	'f',
	'one index is not valid');
$node->safe_psql('app', 'CALL tiered_storage.sample()');

my $relations =
  "SELECT c.oid::regclass::text FROM pg_class c WHERE c.oid >= 16384 AND c.relkind IN ('r', 'm', 'i') AND c.relnamespace::regnamespace::text NOT IN ('tiered_storage', '_tiered_storage', 'pg_toast', 'pg_catalog') AND c.relname <> 'of_extension'";

# Everything is hot, or nothing is.
sub make
{
	my ($rate) = @_;

	$node->safe_psql(
		'app', qq(
UPDATE _tiered_storage.relation_state SET evidence_interval_s = 0, heat_at = now(), observed_since = now() - interval '1 year', sampled_since = now() - interval '1 year',
	random_fast = $rate, random_slow = $rate, device_random_fast = $rate, device_random_slow = $rate,
	sequential_fast = 0, sequential_slow = 0, sequential_low_slow = 0, sequential_high_slow = 0, device_sequential_fast = 0, device_sequential_slow = 0)
	);
	return;
}

# What is advised: relation, command and reason of each.
sub advised
{
	my ($objective) = @_;
	my @rows;

	foreach my $row (
		split /\x02/,
		$node->safe_psql('app',
			"COPY (SELECT string_agg(concat_ws(E'\\x01', relation::text, COALESCE(command, '-'), reason), E'\\x02' ORDER BY relation::oid) FROM tiered_storage.recommend_placement(objective => '$objective')) TO STDOUT"
		) =~ s/\\x02/\x02/gr =~ s/\\x01/\x01/gr =~ s/\\\\/\\/gr)
	{
		push @rows, [ split /\x01/, $row ];
	}
	return @rows;
}

sub execute_all
{
	my ($objective, $what) = @_;
	my @rows = advised($objective);
	my $failures = '';
	my $executed = 0;
	my %owners;

	# Names may have anything but a line break.
	foreach my $owned (
		split /\n/,
		$node->safe_psql(
			'app',
			"SELECT r.name || ' ' || pg_get_userbyid(c.relowner) FROM ($relations) r (name) JOIN pg_class c ON c.oid = r.name::regclass"
		))
	{
		$owners{$1} = $2 if $owned =~ /^(.*) (\w+)$/;
	}

	foreach my $row (@rows)
	{
		my ($relation, $command, $reason) = @$row;

		cmp_ok(length $reason,
			'<=', 120, "$what: $relation has a short reason");
		next if $command eq '-';
		my ($rc, $out, $err) = $node->psql('app', $command,
			extra_params => [ '-U', $owners{$relation} ]);

		$failures .= "$relation: $command: $err\n" if $rc != 0;
		$executed++;
	}
	is($failures, '', "$what: every command runs as it is, by the owner");
	return ($executed, map { $_->[0] => $_ } @rows);
}

# ---------------------------------------------------------------------
note 'Up';
# ---------------------------------------------------------------------

make(100000);
$node->safe_psql('app',
	"BEGIN; LOCK TABLE prepared IN ACCESS SHARE MODE; PREPARE TRANSACTION 'holds it'"
);

# What is young is expected to end; its age is not waited for.
my $dry_run = notices_of($node, 'app',
	'CALL tiered_storage.apply_placement(dry_run => true)');
like(
	$dry_run,
	qr/WARNING:  \w+: would not move public.is_unlogged: it cannot be moved online: it is unlogged.*\nHINT:  CALL tiered_storage.move_relation\('public.is_unlogged', 'quick', include_indexes => false, allow_lock => true\) locks it/,
	'a dry run says what it would not do, why, and what does it');
like(
	$dry_run,
	qr/WARNING:  \w+: would not move public.of_method: it cannot be moved online: nothing is known about how access method/,
	'also of a foreign access method');
like(
	$dry_run,
	qr/WARNING:  \w+: would not move public.is_invalid: the index is not valid.*\nHINT:  REINDEX it or drop it/,
	'and of an index that is not valid');
like(
	$dry_run,
	qr/NOTICE:  \w+: dry run: relations that would be moved: \d+ \(.*\), not moved: 4\b/,
	'how many in all');
$node->safe_psql('app', "ROLLBACK PREPARED 'holds it'");

my $expected = $node->safe_psql('app', "SELECT count(*) FROM ($relations) r");
# Who may not create anything there, or does not own it, moves nothing.
my (undef, $command) = @{ (grep { $_->[0] eq 'parent' } advised('time'))[0] };
my ($rc, $out, $err) =
  $node->psql('app', $command, extra_params => [ '-U', 'other' ]);
like(
	$err,
	qr/ERROR:  must be owner of table public\.parent/,
	'the owner, no other');
($rc, $out, $err) =
  $node->psql('app', $command, extra_params => [ '-U', 'app_owner' ]);
like(
	$err,
	qr/ERROR:  permission denied for tablespace quick/,
	'who may create there');
$node->safe_psql('app',
	'GRANT CREATE ON TABLESPACE quick TO app_owner, other');

my ($executed, %rows) = execute_all('time', 'up');
is(scalar keys %rows, $expected, 'there is advice about one of everything');
is($executed, $expected - 1, 'and a command for all but one');
is($rows{of_extension}, undef, 'what an extension has made stays');
like(
	$rows{is_unlogged}[1],
	qr/, allow_lock => true\)$/,
	'the command of an unlogged table locks it');
like(
	$rows{is_unlogged}[2],
	qr/unlogged, so the move locks it for [\d.]+ s/,
	'and its reason says for how long');
like(
	$rows{is_unlogged_pkey}[1],
	qr/, allow_lock => true\)$/,
	'that of its index as well');
like(
	$rows{of_method}[2],
	qr/foreign access method, so the move locks it for/,
	'and so that of a foreign access method');
is($rows{is_invalid}[1], '-', 'an index that is not valid has no command');
like($rows{is_invalid}[2], qr/not valid: REINDEX it first/, 'but a reason');
like($rows{ordinary}[1], qr/'quick'/,
	'a tier whose name a tablespace elsewhere has is given by its tablespace'
);
is( $node->safe_psql(
		'app',
		"SELECT count(*) FROM ($relations) r (name) JOIN pg_class c ON c.oid = r.name::regclass LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE t.spcname IS DISTINCT FROM 'quick' AND r.name <> 'is_invalid'"
	),
	0,
	'everything is where it was advised to be');

# ---------------------------------------------------------------------
note 'Down, with wal_level = minimal';
# ---------------------------------------------------------------------

$node->append_conf(
	'postgresql.conf', q(
wal_level = minimal
max_wal_senders = 0
));
$node->restart;
$node->safe_psql('app',
	'DROP INDEX is_invalid; CALL tiered_storage.sample()');
make(0);
($executed, %rows) = execute_all('money', 'down');
is($executed, $expected - 1, 'there is advice about everything again');
like(
	$rows{ordinary}[1],
	qr/'S''l"o.*w', include_indexes => false, allow_lock => true\)$/,
	'nothing can be moved online without WAL, and the commands know');
like(
	$rows{ordinary}[2],
	qr/wal_level is minimal, so the move locks it for/,
	'and the reasons');
is( $node->safe_psql(
		'app',
		"SELECT count(*) FROM ($relations) r (name) JOIN pg_class c ON c.oid = r.name::regclass JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE t.spcname = 'quick'"
	),
	0,
	'everything is back');
is( $node->safe_psql(
		'app', 'SELECT count(*) FROM ordinary WHERE length(t) = 3000'),
	100,
	'with its rows');

$node->stop;
done_testing();

# A tier whose tablespaces are on two file systems: its capacity is one, its room is two.

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

plan skip_all => 'CANNOT MOUNT HERE: TIERS OF TWO FILE SYSTEMS ARE NOT TESTED'
  unless $ENV{TIER_TEST_MOUNTS} eq 'yes';

my %disk = (small => '40m', large => '80m');
foreach my $name (sort keys %disk)
{
	my $where = PostgreSQL::Test::Utils::tempdir;

	system_or_bail('mount', '-t', 'tmpfs', '-o',
		"size=$disk{$name},mode=0700", 'tmpfs', $where);
	mkdir "$where/ts" or die "mkdir: $!";
	$disk{$name} = $where;
}

my $node = new_node(
	'main',
	conf => q(
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
max_wal_size = '4GB'
));
$node->start;
$node->safe_psql('postgres', "CREATE TABLESPACE $_ LOCATION '$disk{$_}/ts'")
  foreach 'small', 'large';
create_in_place_tablespace($node, 'fast');
$node->safe_psql(
	'postgres', q(
CREATE EXTENSION IF NOT EXISTS tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', rank => 0, reserve_fraction => 0, device => jsonb_build_object('capacity_bytes', pg_size_bytes('100MB'))),
	tiered_storage.add_tier('wide', '{small,large}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, device => jsonb_build_object('compressed', false));
));

# So many MB, without TOAST.
my $names = join(', ', map { "'x'::name AS n$_" } 1 .. 14);

sub create_table
{
	my ($name, $mb, $tablespace) = @_;

	$node->safe_psql('postgres',
		"CREATE TABLE $name TABLESPACE $tablespace AS SELECT i, $names FROM generate_series(1, $mb * 1024) i"
	);
	return;
}

sub where_is
{
	my ($name) = @_;

	return $node->safe_psql('postgres',
		"SELECT spcname FROM pg_tablespace t JOIN pg_class c ON c.reltablespace = t.oid WHERE relname = '$name'"
	);
}

# ---------------------------------------------------------------------
note
  'The one with most room: beyond its reserve, and what is on its way there';
# ---------------------------------------------------------------------

# Of 80 MB 50 are free, and 40 have to stay so; of 40 MB all are, and 20 have to.
create_table('filler', 30, 'large');
create_table('first', 12, 'fast');
$node->safe_psql('postgres', $_)
  foreach "SELECT tiered_storage.alter_tier('wide', reserve_fraction => 0.5)",
  "CALL tiered_storage.move_relation('first', 'wide')";
is(where_is('first'), 'small', 'a reserve is not room');
$node->safe_psql('postgres', $_)
  foreach 'DROP TABLE filler, first',
  "SELECT tiered_storage.alter_tier('wide', reserve_fraction => 0)";
create_table('first', 45, 'fast');
create_table('second', 10, 'fast');
reload_with($node, 'tiered_storage.move_rate_limit' => '4MB');
my $mover = start_sql($node, 'postgres',
	"CALL tiered_storage.move_relation('first', 'wide')");
$node->poll_query_until('postgres',
	'SELECT count(*) > 0 FROM _tiered_storage.move_progress WHERE blocks_done > 0'
) or die 'nothing is copied';
like(
	notices_of(
		$node,
		'postgres',
		"CALL tiered_storage.move_relation('second', 'wide', dry_run => true)"
	),
	qr/to tablespace "small"/,
	'a dry run counts what others have still to write');
$node->safe_psql('postgres',
	"CALL tiered_storage.move_relation('second', 'wide')");
is(where_is('second'), 'small', 'and so does the move');
finish_sql($mover);
reload_with($node, 'tiered_storage.move_rate_limit' => '0');
$node->safe_psql('postgres', 'DROP TABLE first, second');

# ---------------------------------------------------------------------
note 'A capacity that is less than both have, and more than one';
# ---------------------------------------------------------------------

create_table('resident', 48, 'large');
create_table('guest', 4, 'fast');
$node->safe_psql('postgres',
	"SELECT tiered_storage.alter_tier('wide', device => jsonb_build_object('capacity_bytes', pg_size_bytes('50MB')))"
);
like(
	error_of(
		$node, 'postgres',
		"CALL tiered_storage.move_relation('guest', 'small')"),
	qr/tier "wide" is full/,
	'it holds for each of the two');
is(where_is('guest'), 'fast', 'nothing is moved');
$node->safe_psql('postgres',
	"SELECT tiered_storage.alter_tier('wide', device => jsonb_build_object('capacity_bytes', pg_size_bytes('70MB')))"
);
my $said;
$node->psql(
	'postgres', "CALL tiered_storage.move_relation('guest', 'small')",
	stderr => \$said,
	on_error_die => 1);
is(where_is('guest'), 'small', 'there is room below it');
unlike(
	$said,
	qr/same device/,
	'nothing is said of devices where there are two');
create_table('beside', 1, 'fast');
$node->psql(
	'postgres', "CALL tiered_storage.move_relation('beside', 'pg_default')",
	stderr => \$said,
	on_error_die => 1);
like(
	$said,
	qr/NOTICE:  moved table .*\nDETAIL:  Both are on the same device[^\n]*: nothing gets faster or cheaper\./,
	'where there is one, the answer says so');
$node->safe_psql('postgres', 'DROP TABLE beside');

# ---------------------------------------------------------------------
note 'Room for what is on one of them as a whole';
# ---------------------------------------------------------------------

# Of 120 MB 56 are below the watermark: 36 here, 32 there.
$node->safe_psql(
	'postgres', q(
SELECT tiered_storage.alter_tier('wide', device => jsonb_build_object('capacity_bytes', NULL));
SELECT tiered_storage.alter_tier('fast', device => jsonb_build_object('capacity_bytes', pg_size_bytes('95MB')));
SELECT tiered_storage.add_fullness_policy('fast', 'wide', 0.5, 0.1);
));
create_table('big', 40, 'fast');
create_table("half_$_", 25, 'fast') foreach 1, 2;
my $foretold = $node->safe_psql('postgres',
	"SELECT string_agg(relation || ' ' || verdict || ' ' || to_tablespace, ', ' ORDER BY relation::text) FROM _tiered_storage.evaluate_policies()"
);
like(
	$foretold,
	qr/^big too large \w+, half_1 leaves \w+, half_2 leaves \w+$/,
	'there is room for two, and on neither for the third');
my $says = notices_of($node, 'postgres',
	'CALL tiered_storage.migrate(dry_run => true)');
like($says, qr/would move table public.half_1/, 'a dry run says so');
like($says, qr/would move table public.half_2/, 'of both');
unlike($says, qr/would not move/, 'and that nothing is in the way');
like(
	notices_of($node, 'postgres', 'CALL tiered_storage.migrate()'),
	qr/relations moved: 2, not moved: 0/,
	'nothing is tried in vain');
is(where_is('big'), 'fast', 'what fits nowhere stays');
is(join(' ', sort map { where_is("half_$_") } 1, 2),
	'large small', 'the others are where there was room');

# ---------------------------------------------------------------------
note 'What a move would be refused for';
# ---------------------------------------------------------------------

# Main forks have room in the capacity, with the maps of what is there it is too little: who decides
# counts what the mover counts.
$node->safe_psql(
	'postgres', q(
DROP TABLE big, half_1, half_2, guest;
VACUUM resident;
SELECT tiered_storage.alter_tier('wide', high_watermark => 1, low_watermark => 0.99, device => jsonb_build_object('capacity_bytes', pg_relation_size('resident') + pg_size_bytes('4MB') + 8192));
SELECT tiered_storage.alter_tier('fast', device => jsonb_build_object('capacity_bytes', pg_size_bytes('4MB')));
));
create_table('refused', 4, 'fast');
$says = notices_of($node, 'postgres',
	'CALL tiered_storage.migrate(dry_run => true)');
is( $node->safe_psql(
		'postgres',
		"SELECT verdict FROM _tiered_storage.evaluate_policies() WHERE relation = 'refused'::regclass"
	),
	'no room',
	'maps count for the room on the target');
unlike($says, qr/would (not )?move/, 'so nothing is tried in vain');

# ---------------------------------------------------------------------
note 'What is foretold of a policy: the places, too';
# ---------------------------------------------------------------------

# Each move leaves the one that it goes to with less, so that the next may go to the other.
$node->safe_psql(
	'postgres', q(
DROP TABLE refused;
SELECT tiered_storage.remove_policy(tier => 'fast');
SELECT tiered_storage.alter_tier('wide', device => jsonb_build_object('capacity_bytes', NULL)), tiered_storage.alter_tier('fast', device => jsonb_build_object('capacity_bytes', NULL));
CREATE TABLE year (day date NOT NULL, n text) PARTITION BY RANGE (day);
SELECT tiered_storage.add_tiering_policy('year', '1 year', 'wide');
));
foreach my $year (2001 .. 2005)
{
	my $next = $year + 1;

	$node->safe_psql(
		'postgres', qq(
CREATE TABLE year_$year PARTITION OF year FOR VALUES FROM ('$year-01-01') TO ('$next-01-01') TABLESPACE fast;
INSERT INTO year SELECT '$year-02-02', repeat('x', 1000) FROM generate_series(1, 5000) i;
));
}
my $queued = $node->safe_psql('postgres',
	"SELECT string_agg(relation || ' ' || to_tablespace, ', ' ORDER BY place) FROM _tiered_storage.plan_moves()"
);
$node->safe_psql('postgres', 'CALL tiered_storage.migrate()');
my $places =
  join(', ', map { "year_$_ " . where_is("year_$_") } 2001 .. 2005);
like($places, qr/small.*large|large.*small/, 'each of the two takes some');
is($queued, $places, 'the queue has said which');

# ---------------------------------------------------------------------
note 'The places of what is asked for together';
# ---------------------------------------------------------------------

# More than fits on one of them.  A person who names a tablespace gets that one.
$node->safe_psql(
	'postgres', q(
DROP TABLE year, resident;
SELECT tiered_storage.alter_tier('wide', high_watermark => 1);
CREATE TABLE part (k int, n text) PARTITION BY LIST (k);
));
foreach my $i (1 .. 6)
{
	$node->safe_psql(
		'postgres', qq(
CREATE TABLE part_$i PARTITION OF part FOR VALUES IN ($i) WITH (autovacuum_enabled = off) TABLESPACE fast;
INSERT INTO part SELECT $i, repeat('x', 1000) FROM generate_series(1, 14 * 1024 - 1024 * $i / 2);
));
}
is( $node->safe_psql(
		'postgres',
		"SELECT check_name, replace(finding, E'\\n', ' ') FROM tiered_storage.preflight('part', 'wide') WHERE verdict = 'blocks'"
	),
	'',
	'preflight() sees room for all');
like(
	$node->safe_psql(
		'postgres',
		"SELECT check_name FROM tiered_storage.preflight('part', 'large') WHERE verdict = 'blocks'"
	),
	qr/^space$/m,
	'but not on one of them');

sub places_of
{
	my ($table) = @_;

	return
	  join(', ', map { "${table}_$_ " . where_is("${table}_$_") } 1 .. 6);
}

$says = notices_of($node, 'postgres',
	"CALL tiered_storage.move_relation('part', 'wide', dry_run => true)");
my @announced;
push @announced, "$1 $2"
  while $says =~ /would move table public\.(\w+) .*? to tablespace "(\w+)"/g;
unlike($says, qr/would not move/, 'a dry run has nothing in the way');
unlike(
	notices_of(
		$node, 'postgres',
		"CALL tiered_storage.move_relation('part', 'wide')"),
	qr/could not/,
	'all of it is moved');
$places = places_of('part');
like($places, qr/small.*large|large.*small/, 'to both of them');
is(join(', ', @announced), $places, 'as the dry run has said');

# ---------------------------------------------------------------------
note 'The places of what is advised';
# ---------------------------------------------------------------------

$node->safe_psql('postgres', 'DROP TABLE part');
create_in_place_tablespace($node, 'last');
$node->safe_psql(
	'postgres', q(
SELECT tiered_storage.add_tier('last', '{last}', profile => 'hdd_7200', rank => 2, reserve_fraction => 0),
	tiered_storage.remove_tier('fast'), tiered_storage.alter_tier('wide', profile => 'nvme', rank => 0);
));
create_table("hot_$_", 17 - $_, 'last') foreach 1 .. 6;
$node->safe_psql('postgres',
	"SELECT pg_stat_force_next_flush(); CALL tiered_storage.sample()");
seem_hot($node, 'postgres', map { ("hot_$_" => 20000 - 100 * $_) } 1 .. 6);
reload_with(
	$node,
	'tiered_storage.auto_migrate' => 'placement',
	'tiered_storage.migrate_interval' => '1d');
$node->poll_query_until('postgres',
	"SELECT current_setting('tiered_storage.auto_migrate') = 'placement'")
  or die 'auto_migrate is not set';
$queued = $node->safe_psql('postgres',
	"SELECT string_agg(relation || ' ' || to_tablespace, ', ' ORDER BY relation::text) FROM _tiered_storage.plan_moves()"
);
$says = notices_of($node, 'postgres',
	'CALL tiered_storage.migrate(dry_run => true)');
is(scalar(() = $says =~ /would move table public\.hot_/g),
	6, 'a dry run has room for all of it');
unlike(notices_of($node, 'postgres', 'CALL tiered_storage.migrate()'),
	qr/could not/, 'all of it is moved at once');
$places = places_of('hot');
like($places, qr/small.*large|large.*small/, 'to both of them');
is($queued, $places, 'as the queue has said');

$node->stop;
done_testing();

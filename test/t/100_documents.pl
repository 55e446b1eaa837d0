# The SQL of README, guide and reference: the server understands each statement.  Names of
# functions, arguments, keys, columns and settings in them exist.  A statement may fail for the
# state of the database, such as an undo of a batch that does not exist.  "Replace a disk" is
# carried out: afterwards the old tablespace is gone, and its relations are in the new one.
#
# 098_readme.pl runs the first steps of the README, test/upgrade/run the check before pg_upgrade.
# The page about Citus is left out.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

# Wrong syntax, names, types and values; and what should never happen.
my $mistake =
  qr/^(?:psql:\S+ )?ERROR:  (?:42601|42703|42704: (?:unrec|role)|42725|42804|42846|42883|42P01|42P02|22P02|XX000|22023: (?!capacity)).*$/m;

my $node = new_node('main', conf => "tiered_storage.auto_migrate = off\n");
$node->start;
create_in_place_tablespace($node, $_) for qw(fast archive ssd sata);
$node->safe_psql('postgres',
	'CREATE ROLE app_owner; CREATE ROLE tier_admin; CREATE ROLE exporter');

my $root = "$FindBin::RealBin/../..";
my $blocks = 0;
foreach my $page ("$root/README.md",
	grep { !/citus/ } glob "$root/docs/guide/*.md $root/docs/reference/*.md")
{
	my ($name) = $page =~ m!(\w+/\w+|\w+)\.md$!;
	$node->safe_psql('postgres', 'DROP DATABASE IF EXISTS docs WITH (FORCE)');
	$node->safe_psql('postgres', 'CREATE DATABASE docs');
	create_in_place_tablespace($node, 'slow')
	  if !$node->safe_psql('postgres',
		"SELECT 1 FROM pg_tablespace WHERE spcname = 'slow'");
	$node->safe_psql(
		'docs', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM tiered_storage.tiers;
SELECT tiered_storage.add_tier('ssd', '{pg_default,fast,ssd}', profile => 'nvme'),
	tiered_storage.add_tier('sata', '{sata}', profile => 'sata_ssd'),
	tiered_storage.add_tier('hdd', '{slow}', profile => 'hdd_15k'),
	tiered_storage.add_tier('archive', '{archive}', profile => 'hdd_7200');
CREATE SCHEMA app;
CREATE TABLE orders (id int PRIMARY KEY);
CREATE TABLE customers (id int);
CREATE TABLE conditions (at timestamptz);
CREATE TABLE chunk () INHERITS (conditions);
CREATE TABLE measurements (at timestamptz, value float8) PARTITION BY RANGE (at);
CREATE TABLE measurements_2019 PARTITION OF measurements FOR VALUES FROM ('2019-01-01') TO ('2020-01-01');
CREATE TABLE measurements_2024 PARTITION OF measurements FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE INDEX measurements_at_idx ON measurements (at);
CREATE TABLE posts (id bigint) PARTITION BY RANGE (id);
INSERT INTO orders SELECT generate_series(1, 1000);
CREATE TABLE cold (id int PRIMARY KEY USING INDEX TABLESPACE slow) TABLESPACE slow;
INSERT INTO cold SELECT generate_series(1, 1000);
CREATE TABLE cold_parent (id int PRIMARY KEY USING INDEX TABLESPACE slow) PARTITION BY RANGE (id) TABLESPACE slow;
CALL tiered_storage.sample();
));
	my @mistakes;
	foreach my $block (slurp_file($page) =~ /^ *```sql\n(.*?)^ *```$/msg)
	{
		my $directory = PostgreSQL::Test::Utils::tempdir_short;
		$block =~ s/LOCATION '[^']+'/LOCATION '$directory'/;
		$block =~ s/^.*-- from 18 on$//mg if $node->pg_version < 18;
		$node->psql(
			'docs',
			"SET statement_timeout = '30s';\n$block",
			extra_params => [ '-v', 'VERBOSITY=verbose' ],
			stderr => \my $errors,
			on_error_stop => 0);
		is( $node->safe_psql(
				'docs', q(
SELECT (SELECT string_agg(spcname, ' ' ORDER BY spcname) FROM pg_tablespace WHERE spcname ~ 'slow'),
	(SELECT string_agg(t.spcname, ' ') FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace
		WHERE c.relname ~ '^cold'), (SELECT count(*) FROM cold),
	(SELECT tablespaces FROM tiered_storage.tiers WHERE tier_name = 'hdd')
)),
			'slow2|slow2 slow2 slow2 slow2|1000|slow2',
			'the disk is replaced') if $block =~ /DROP TABLESPACE slow;/;
		push @mistakes, $errors =~ /$mistake/g;
		diag $errors if $ENV{SHOW_DOCUMENTS};
		$node->psql('docs', 'SELECT tiered_storage.resume()');
		$blocks++;
	}
	is(join("\n", @mistakes), '', "$name: each statement is understood");
	$node->safe_psql('postgres', $_)
	  for 'ALTER SYSTEM RESET ALL', 'SELECT pg_reload_conf()';
}
cmp_ok($blocks, '>', 90, 'blocks are found');

# "Restore without the disk of a tier", if its files are lost: the server starts with an empty
# directory, and the query of the page names the relations to handle.
my $disk = PostgreSQL::Test::Utils::tempdir_short;
my ($query) = slurp_file("$root/docs/guide/operations.md") =~
  /^(SELECT oid::regclass, relkind FROM pg_class.*?;)$/ms;
$query =~ s/'slow'/'lost'/;
$node->safe_psql('postgres', "CREATE TABLESPACE lost LOCATION '$disk'");
$node->safe_psql(
	'postgres',
	'CREATE TABLE lost TABLESPACE lost AS SELECT generate_series(1, 10);
CREATE TABLE parent (id int) PARTITION BY RANGE (id) TABLESPACE lost');
$node->stop;
PostgreSQL::Test::Utils::system_or_bail('rm', '-rf', glob "$disk/*");
$node->start;
my ($rc, $out, $err) = $node->psql('postgres', 'SELECT count(*) FROM lost');
like($err, qr/could not open file/, 'rows are lost');
is($node->safe_psql('postgres', $query),
	"lost|r\nparent|p", 'relations are named');
$node->safe_psql('postgres',
	'DROP TABLE lost; ALTER TABLE parent SET TABLESPACE pg_default');
$node->safe_psql('postgres', 'DROP TABLESPACE lost');

$node->stop;
done_testing();

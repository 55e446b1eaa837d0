# Databases of one cluster have encodings of their own, and tell each other names of
# tiers and errors by way of shared memory.  What is no text where it is read is shown
# with question marks, and what has no room ends with a whole character.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

# As in shmem.h, without the end of the string.
my $room = 255;

my $node = new_node(
	'main', conf => q(
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1s'
tiered_storage.migrate_interval = '1s'
));
$node->start;

# As many letters as a name has room for.
my $tablespace = 's' x 63;
create_in_place_tablespace($node, 'shared', $tablespace);

# One byte and then characters of three, so that the room for an error ends within one.
my $long = 'x' . "\xe6\xb8\xa9" x 20;
$node->safe_psql('postgres',
	"CREATE DATABASE $_->[0] TEMPLATE template0 ENCODING '$_->[1]' LOCALE 'C'"
) foreach [ 'latin', 'LATIN1' ], [ 'utf', 'UTF8' ], [ qq("$long"), 'UTF8' ];

# Names with letters that are two bytes in UTF-8, and one in Latin-1 that no UTF-8 has.
my $letters = "gr\xc3\xb6\xc3\x9fe";

sub add_tier
{
	my ($db, $tier, $of) = @_;

	$node->safe_psql($db,
		"SET client_encoding = 'UTF8'; CREATE EXTENSION IF NOT EXISTS tiered_storage; SELECT tiered_storage.add_tier('$tier', '{$of}', reserve_fraction => 0)"
	);
	return;
}

# The claims of a database, read in another one.
sub wait_for_claim
{
	my ($ask, $db, $of) = @_;

	$node->poll_query_until($ask,
		"SELECT count(*) = 1 FROM _tiered_storage.tablespace_claims() c JOIN pg_tablespace s ON s.oid = tablespace_oid JOIN pg_database d ON d.oid = database_oid WHERE spcname = '$of' AND datname = '$db'"
	) or die "$db does not claim $of";
	return;
}

# Two databases that define a tablespace under one name, until the second renames it.
sub disagree
{
	my ($first, $second, $tier, $new_name, $of) = @_;

	add_tier($second, $tier, $of);
	wait_for_cycle($node, $second);
	$node->safe_psql($second,
		"SET client_encoding = 'UTF8'; SELECT tiered_storage.alter_tier('$tier', new_name => '$new_name')"
	);
	wait_for_cycle($node, $second);
	return;
}

sub last_error_of
{
	my ($ask, $db) = @_;

	return $node->safe_psql($ask,
		"SELECT last_error FROM _tiered_storage.worker_status() WHERE database_name = '$db'"
	);
}

# ---------------------------------------------------------------------
note 'What is no text where it is read';
# ---------------------------------------------------------------------

$node->safe_psql('utf', 'CREATE EXTENSION tiered_storage');
add_tier('latin', $letters, 'shared');
wait_for_claim('utf', 'latin', 'shared');
is( $node->safe_psql(
		'utf',
		"SELECT c.tier_name FROM _tiered_storage.tablespace_claims() c JOIN pg_tablespace s ON s.oid = tablespace_oid WHERE spcname = 'shared'"
	),
	'gr??e',
	'a claim');
like(
	error_of(
		$node,
		'utf',
		"SELECT tiered_storage.add_tier('$letters', '{shared}', reserve_fraction => 0)"
	),
	qr/ERROR:  55006: tablespace "shared" belongs to tier "gr\?\?e" in database "latin"/,
	'what is refused because of it');
disagree('latin', 'utf', 'gr??e', 'cold', 'shared');
my $conflict =
  'nothing is moved, because tablespace "shared" belongs to tier "cold" here, but to tier "gr??e" in database "latin"';
is(last_error_of('utf', 'utf'), $conflict, 'what the worker says');
like(
	error_of($node, 'utf', 'CALL tiered_storage.migrate()'),
	qr/ERROR:  55000: \Q$conflict\E/,
	'what migrate() says');
$node->safe_psql('utf', "SELECT tiered_storage.remove_tier('cold')");

# The other way round any byte is a letter; the error is that of the other database.
add_tier('utf', 'warm', $tablespace);
wait_for_claim('latin', 'utf', $tablespace);
disagree('utf', 'latin', 'warm', "k\xc3\xa4lter", $tablespace);
like(
	last_error_of('utf', 'latin'),
	qr/belongs to tier "k\?lter" here, but to tier "warm" in database "utf"$/,
	'the error of another database');
is( $node->safe_psql(
		'utf',
		"SELECT count(*) FROM _tiered_storage.worker_status() WHERE last_error IS NOT NULL"
	),
	'1',
	'and nothing else is wrong');
$node->safe_psql('latin',
	"SET client_encoding = 'UTF8'; SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers"
);
$node->safe_psql('utf', "SELECT tiered_storage.remove_tier('warm')");
wait_for_cycle($node, $_) foreach 'latin', 'utf';

# ---------------------------------------------------------------------
note 'What there is no room for';
# ---------------------------------------------------------------------

add_tier($long, 'a' x 30, $tablespace);
wait_for_claim('utf', $long, $tablespace);
disagree($long, 'utf', 'a' x 30, 'b' x 30, $tablespace);
my $whole = sprintf
  'nothing is moved, because tablespace "%s" belongs to tier "%s" here, but to tier "%s" in database "%s"',
  $tablespace, 'b' x 30, 'a' x 30, $long;
my $cut = substr $whole, 0, $room;
isnt($cut =~ s/[\xc0-\xff][\x80-\xbf]?$//r,
	$cut, 'the room ends within a character');
$cut =~ s/[\xc0-\xff][\x80-\xbf]?$//;

foreach my $ask ('utf', $long)
{
	is(last_error_of($ask, 'utf'),
		$cut, 'an error ends with a whole character');
}
like(
	error_of($node, 'utf', 'CALL tiered_storage.migrate()'),
	qr/ERROR:  55000: \Q$whole\E/,
	'and is not cut where there is room');

$node->stop;
done_testing();

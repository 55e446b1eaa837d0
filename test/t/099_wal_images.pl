# Images of pages that a move writes to the WAL are compressed: where they compress, where no
# standby has to read them, and in the records of the mover alone.  A crash replays them.
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

my $node = new_node(
	'main',
	conf => q(
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
autovacuum = off
wal_compression = off
wal_level = replica
max_wal_senders = 4
checkpoint_timeout = '1h'
max_wal_size = '4GB'
));
$node->start;
my $knows = $node->safe_psql('postgres',
	q(SELECT enumvals && '{lz4,zstd}' FROM pg_settings WHERE name = 'wal_compression')
);
if ($knows ne 't')
{
	$node->stop;
	plan skip_all => 'this server was built without lz4 and zstd';
}
create_in_place_tablespace($node, 'slow', 'fast');
$node->safe_psql(
	'postgres', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', reserve_fraction => 0);
CREATE TABLE text_rows AS
	SELECT i AS id, repeat('some words that come again ', 8) AS value
	FROM generate_series(1, 40000) i;
CREATE TABLE random_rows (id int, value bytea);
ALTER TABLE random_rows ALTER value SET STORAGE PLAIN;
INSERT INTO random_rows
	SELECT i, decode(string_agg(replace(gen_random_uuid()::text, '-', ''), ''), 'hex')
	FROM generate_series(1, 20000) i, generate_series(1, 20) j GROUP BY i;
VACUUM text_rows, random_rows;
CHECKPOINT;
));

# The bytes of WAL of a move, by those of the table.
sub wal_of_move
{
	my ($table, $tier) = @_;

	return $node->safe_psql(
		'postgres', qq(
SET client_min_messages = error;
SELECT pg_current_wal_insert_lsn() AS before \\gset
CALL tiered_storage.move_relation('$table', '$tier');
SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), :'before') / pg_relation_size('$table');
));
}

my $before = join(" ",
	map { fingerprint($node, "postgres", $_) } "text_rows",
	"random_rows");
cmp_ok(wal_of_move('text_rows', 'slow'),
	'<', 0.4, 'images of text are compressed');
cmp_ok(wal_of_move('random_rows', 'slow'),
	'>', 0.9, 'random bytes do not compress');
cmp_ok(wal_of_move('random_rows', 'slow'),
	'<', 0.1, 'what is there already is not copied');

# Neither the session's other records nor its setting.
is( $node->safe_psql(
		'postgres', q(
SET client_min_messages = error;
CALL tiered_storage.move_relation('text_rows', 'fast');
SHOW wal_compression)),
	'off',
	'the setting is as before');

# Replays them all over what is there.
$node->stop('immediate');
$node->start;
is( join(" ",
		map { fingerprint($node, "postgres", $_) } "text_rows",
		"random_rows"),
	$before,
	'a crash replays compressed images');

# Who else may have to read them was perhaps built without the codec.
$node->safe_psql('postgres',
	q(SELECT FROM pg_create_physical_replication_slot('standby', true)));
cmp_ok(wal_of_move('text_rows', 'slow'),
	'>', 0.9, 'nothing is compressed while a standby has a slot');
$node->safe_psql('postgres',
	q(ALTER SYSTEM SET wal_compression = lz4; SELECT pg_reload_conf()));
$node->poll_query_until('postgres',
	q(SELECT current_setting('wal_compression') = 'lz4'));
cmp_ok(wal_of_move('text_rows', 'fast'),
	'<', 0.4, 'unless the administrator says so');
$node->safe_psql('postgres', q(SELECT pg_drop_replication_slot('standby')));
$node->stop;

done_testing();

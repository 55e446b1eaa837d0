# The first answer comes from the server's cumulative statistics: what was looked up is named
# first and at once, what was only loaded and indexed is not.  No rate has it, and nothing of it
# is carried out.  In make test.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

my $node = new_node('main', conf => "autovacuum = off\n");
$node->start;
create_in_place_tablespace($node, 'slow');
$node->safe_psql('postgres', 'CREATE DATABASE app');

sub value_of
{
	my ($sql) = @_;

	return $node->safe_psql('app', $sql);
}

# Two tables of the same size; one of them is only loaded, indexed and analyzed.
for my $table (qw(looked_up loaded))
{
	value_of(
		qq(
CREATE TABLE $table (id int, v text) WITH (fillfactor = 10) TABLESPACE slow;
INSERT INTO $table SELECT i, repeat('x', 400) FROM generate_series(1, 4000) i;
CREATE INDEX ON $table (id) TABLESPACE slow;
CREATE INDEX ON $table (v) TABLESPACE slow;
VACUUM ANALYZE $table));
}

# Look-ups that miss shared buffers: after a restart they are empty.
$node->restart;
value_of(
	q(
SET enable_seqscan = off;
SET enable_bitmapscan = off;
DO $$ BEGIN FOR i IN 1..400 LOOP PERFORM v FROM looked_up WHERE id = i * 10; END LOOP; END $$;)
);
$node->poll_query_until('app',
	"SELECT idx_scan >= 400 FROM pg_stat_user_indexes WHERE indexrelname = 'looked_up_id_idx'"
) or die 'the look-ups are not counted';

value_of(
	q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('hdd', '{slow}', profile => 'hdd_7200'),
	tiered_storage.add_tier('ssd', '{pg_default}', profile => 'nvme')));
is( value_of(
		"SELECT relation, move, confidence FROM tiered_storage.recommendations LIMIT 1"
	),
	'looked_up|hdd > ssd|provisional',
	'what was looked up comes first');
is( value_of(
		"SELECT count(*) FROM tiered_storage.recommendations WHERE relation::text ~ '^loaded'"
	),
	0,
	'what was only loaded and indexed has no row');
is( value_of(
		'SELECT max(saved_io_s_per_hour) BETWEEN 1 AND 3600 FROM tiered_storage.recommend_placement()'
	),
	't',
	'no device is relieved of more than an hour in an hour');
value_of('CALL tiered_storage.sample()');
is( value_of(
		"SELECT max(random_fast + random_slow) FROM _tiered_storage.relation_state WHERE relation_oid = 'looked_up'::regclass"
	),
	0,
	'no rate has what was before the extension');
value_of('CALL tiered_storage.apply_placement()');
is(value_of('SELECT count(*) FROM tiered_storage.moves'),
	0, 'and nothing is moved for it');

$node->stop;
done_testing();

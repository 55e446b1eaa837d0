# The first answer comes from the server's cumulative statistics: what was looked up is named
# first and at once, what was only loaded, indexed and analyzed is not.  No rate has it, and nothing
# of it is carried out.  Where the statistics know nothing, one line says so.  In make test.

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

my $database;

sub value_of
{
	my ($sql) = @_;

	return $node->safe_psql($database, $sql);
}

# Tables of some MB, loaded, indexed, vacuumed and analyzed; in a database of their own.
sub load_database
{
	my ($name, $tables) = @_;

	$database = $name;
	$node->safe_psql('postgres', "CREATE DATABASE $name");
	value_of(
		qq(
SET synchronous_commit = off;
DO \$\$
BEGIN
	FOR i IN 1..$tables LOOP
		EXECUTE format('CREATE TABLE t%s (id int, v text) WITH (fillfactor = 10) TABLESPACE slow', i);
		EXECUTE format('INSERT INTO t%s SELECT n, repeat(''x'', 400) FROM generate_series(1, %s) n', i,
			CASE WHEN i <= 3 THEN 2000 ELSE 300 END);
		EXECUTE format('CREATE INDEX ON t%s (id) TABLESPACE slow', i);
		EXECUTE format('CREATE INDEX ON t%s (v) TABLESPACE slow', i);
	END LOOP;
END \$\$;
VACUUM ANALYZE));
}

# Look-ups on t1 and t2, and scans of t3, that miss shared buffers: after a restart these are empty.
sub use_database
{
	$node->restart;
	value_of(
		q(
SET enable_seqscan = off;
SET enable_bitmapscan = off;
DO $$
BEGIN
	FOR i IN 1..400 LOOP
		PERFORM v FROM t1 WHERE id = i * 5;
		PERFORM v FROM t2 WHERE id = i * 5;
	END LOOP;
	FOR i IN 1..2 LOOP
		PERFORM count(v) FROM t3;
	END LOOP;
END $$;)
	);
	$node->poll_query_until($database,
		"SELECT sum(idx_scan) >= 800 FROM pg_stat_user_indexes WHERE indexrelname ~ '^t[12]_id'"
	) or die 'the look-ups are not counted';
}

sub create_extension
{
	value_of(
		q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('hdd', '{slow}', profile => 'hdd_7200'),
	tiered_storage.add_tier('ssd', '{pg_default}', profile => 'nvme')));
}

# The rows, and what is said.
sub answer
{
	my ($rows, $said);

	$node->psql(
		$database,
		'SELECT relation, move, confidence FROM tiered_storage.recommendations',
		stdout => \$rows,
		stderr => \$said,
		on_error_die => 1);
	return ($rows, $said);
}

sub is_quiet
{
	my ($scene) = @_;
	my ($rows, $said) = answer();

	is($rows, '', "$scene: nothing is advised");
	my @lines = $said =~ /NOTICE: .*/g;
	is(scalar @lines, 1, "$scene: one line says why") or diag $said;
	like(
		$said,
		qr/NOTICE:  nothing is recommended yet: observed for less than a minute of 24 hours/,
		"$scene: which is that too little is known");
}

# A server that has worked: look-ups on few of its tables, scans of some, loads of all.
load_database('used', 40);
use_database();
create_extension();
my ($rows, $said) = answer();
my %first = map { (split /\|/)[0] => 1 } (split /\n/, $rows)[ 0 .. 1 ];
is(join(' ', sort keys %first), 't1 t2', 'what was looked up comes first')
  or diag $rows;
unlike($rows, qr/^t([4-9]|\d\d)/m,
	'what was only loaded and indexed has no row');
unlike($rows, qr/tentative|firm/, 'all of it is provisional');
like(
	$said,
	qr/NOTICE:  \d+ moves are recommended: \d+ provisional\n/,
	'and the notice says so');
is( value_of(
		'SELECT max(saved_io_s_per_hour) BETWEEN 1 AND 3600 AND count(*) = count(firm_when) FROM tiered_storage.recommend_placement()'
	),
	't',
	'no device is relieved of more than an hour in an hour, and each row has what would make it firm'
);
is( value_of(
		"SELECT is_recommended FROM _tiered_storage.explain_placement('t1') WHERE tier_name = 'ssd'"
	),
	't',
	'explain_placement() says the same');
like(
	value_of(
		"SELECT reason FROM _tiered_storage.placement_summary() WHERE tier_name IS NULL"
	),
	qr/no move yet; \d+ provisional/,
	'and so does the summary');
like(
	value_of('SELECT tiered_storage.report()'),
	qr/Move nothing yet.*Device time saved<.dt><dd>(?!<data).*not known/s,
	'and the report, which does not say that it saves nothing');
value_of('CALL tiered_storage.sample()');
is( value_of(
		"SELECT max(random_fast + random_slow) FROM _tiered_storage.relation_state WHERE relation_oid = 't1'::regclass"
	),
	0,
	'no rate has what was before the extension');
$node->psql(
	$database, 'CALL tiered_storage.apply_placement()',
	stderr => \$said,
	on_error_die => 1);
like(
	$said,
	qr/nothing is moved.*\n.*\d+ moves are recommended: \d+ provisional/s,
	'nothing is moved for it');
is(value_of('SELECT count(*) FROM tiered_storage.moves'), 0,
	'nothing at all');
my $failed = $node->psql(
	$database,
	"CALL tiered_storage.apply_placement(confidence => 'provisional')",
	stderr => \$said);
is($failed, 3, 'nor when it is asked for');
like(
	$said,
	qr/provisional recommendations cannot be applied.*DETAIL: .*HINT: /s,
	'and that says why');

# What nobody has used: tables, too, which builds of their indexes have read; since before the
# first sample, and before the last look-up, whose time is known from 16 on.
is( value_of(
		q(SELECT count(*) FILTER (WHERE u.kind = 'table'), bool_or(u.relation::text ~ '^t[123]$')
		FROM _tiered_storage.unused_relations('1 microsecond') u
		WHERE u.unread_since < (SELECT min(sampled_since) FROM _tiered_storage.relation_state)
			AND u.unread_since < COALESCE((SELECT min((to_jsonb(s) ->> 'last_idx_scan')::timestamptz)
				FROM pg_stat_user_tables s WHERE s.relname ~ '^t[123]$'), 'infinity'))
	),
	'37|f',
	'tables that were only loaded, indexed and analyzed are unused');

# The same without these statistics.
value_of('DROP EXTENSION tiered_storage');
value_of('SELECT pg_stat_reset()');
create_extension();
is_quiet('after pg_stat_reset()');

# A crash empties them.
value_of('DROP EXTENSION tiered_storage');
$node->stop('immediate');
$node->start;
create_extension();
is_quiet('after a crash');

load_database('idle', 4);
create_extension();
is_quiet('loaded, indexed, analyzed, idle');

# The same as a dump brings it, into a database where the extension was before it.
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$database = 'restored';
create_extension();
command_ok(
	[
		'sh',
		'-c',
		'pg_dump --host="$1" --port="$2" --table="t*" idle | psql --quiet --host="$1" --port="$2" restored',
		'sh',
		$node->host,
		$node->port
	],
	'a dump is read');
is_quiet('restored');
$node->stop;

# Without the library in shared_preload_libraries, when nobody but the statistics counts.
$node = new_node('plain', preload => 0);
$node->start;
create_in_place_tablespace($node, 'slow');
load_database('used', 6);
use_database();
create_extension();
($rows, $said) = answer();
%first = map { (split /\|/)[0] => 1 } (split /\n/, $rows)[ 0 .. 1 ];
is(join(' ', sort keys %first),
	't1 t2', 'without preload: what was looked up comes first')
  or diag $rows;
unlike($rows, qr/^t[4-6]|tentative|firm/m,
	'and nothing that was only loaded');

$node->stop;
done_testing();

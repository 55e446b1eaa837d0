# What the tests of tiered_storage share: servers, tablespaces, tables with
# partitions of a known age, and questions that several tests ask.
#
# Nothing here waits for a fixed time: what is awaited is polled.

package TierTest;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(
  new_node create_in_place_tablespace create_measurements
  create_partition tablespaces_of fingerprint
  error_of notices_of reload_with wait_for_cycle worker_of sampled_since
  log_lines start_sql finish_sql
);

# A server with the library preloaded (preload => 0: without), not yet started.
# conf: more lines of the configuration.
sub new_node
{
	my ($name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	my %init = $options{standby} ? (allows_streaming => 1) : ();

	$node->init(%init);
	$node->append_conf(
		'postgresql.conf', qq(
allow_in_place_tablespaces = on
autovacuum = off
max_wal_size = 256MB
log_min_messages = log
shared_buffers = 16MB
));
	$node->append_conf('postgresql.conf',
		"shared_preload_libraries = 'tiered_storage'")
	  unless defined $options{preload} && !$options{preload};
	$node->append_conf('postgresql.conf', $options{conf})
	  if defined $options{conf};
	return $node;
}

# A tablespace inside the data directory, so that primary and standby can share
# a machine.
sub create_in_place_tablespace
{
	my ($node, @names) = @_;

	$node->safe_psql('postgres', qq(CREATE TABLESPACE "$_" LOCATION ''))
	  foreach @names;
	return;
}

# measure: partitioned by month, with a primary key, an index and TOAST; the
# partitions m_2001_01 .. of the given months, each with 200 rows, some of them too
# large for a page; and m_next, whose rows are never old.
sub create_measurements
{
	my ($node, $db, @months) = @_;

	$node->safe_psql(
		$db, q(
CREATE TABLE measure (at timestamptz NOT NULL, id int NOT NULL, value text, PRIMARY KEY (at, id))
	PARTITION BY RANGE (at);
CREATE INDEX measure_id_idx ON measure (id);
ALTER TABLE measure ALTER value SET STORAGE EXTERNAL;
CREATE TABLE m_next PARTITION OF measure FOR VALUES FROM ('2100-01-01 UTC') TO ('2200-01-01 UTC');
INSERT INTO measure SELECT '2100-06-01 UTC'::timestamptz + i * interval '1 s', i, 'x' FROM generate_series(1, 200) i;
));
	create_partition($node, $db, $_) foreach @months;
	return;
}

# Partition m_2001_<month> of measure, with rows.
sub create_partition
{
	my ($node, $db, $month) = @_;
	my $from = sprintf '2001-%02d-01 UTC', $month;
	my $name = sprintf 'm_2001_%02d', $month;

	$node->safe_psql(
		$db, qq(
CREATE TABLE $name PARTITION OF measure
	FOR VALUES FROM ('$from') TO ('$from'::timestamptz + interval '1 month');
INSERT INTO $name SELECT '$from'::timestamptz + i * interval '1 s', i,
	CASE WHEN i % 50 = 0 THEN repeat(md5(i::text), 200) ELSE md5(i::text) END
	FROM generate_series(1, 200) i;
));
	return;
}

# The tablespaces of a table, its indexes, its TOAST table and that one's index,
# each once: "slow" when all are there.
sub tablespaces_of
{
	my ($node, $db, @tables) = @_;
	my $list = join ', ', map { "'$_'::regclass" } @tables;

	return $node->safe_psql(
		$db, qq(
WITH heap AS (SELECT unnest(ARRAY[$list])::oid AS oid),
	files AS (SELECT oid FROM heap
		UNION SELECT reltoastrelid FROM pg_class JOIN heap USING (oid) WHERE reltoastrelid <> 0),
	everything AS (SELECT oid FROM files
		UNION SELECT indexrelid FROM pg_index JOIN files ON indrelid = oid)
SELECT string_agg(DISTINCT COALESCE(spcname, 'pg_default'), ',')
FROM everything JOIN pg_class c USING (oid) LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace)
	);
}

# A checksum of all rows of a table, read from the table itself.
sub fingerprint
{
	my ($node, $db, $table) = @_;

	return $node->safe_psql(
		$db, qq(
SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off;
SELECT count(*) || ' ' || COALESCE(md5(string_agg(t::text, ';' ORDER BY t::text COLLATE "C")), '') FROM $table t)
	);
}

# Like psql() of the node, but nothing hangs for ever, and errors have SQLSTATE.
sub bounded_psql
{
	my ($node, $db, $sql) = @_;

	return $node->psql(
		$db, "\\set VERBOSITY verbose\n$sql",
		on_error_stop => 1,
		timeout => $PostgreSQL::Test::Utils::timeout_default);
}

# Standard error of statements that must fail, with SQLSTATE: "ERROR:  55P03: ...".
sub error_of
{
	my ($node, $db, $sql) = @_;
	my ($rc, $out, $err) = bounded_psql($node, $db, $sql);

	return $rc == 0 ? "no error: $out $err" : $err;
}

# Standard error of statements that must succeed: notices and warnings.
sub notices_of
{
	my ($node, $db, $sql) = @_;
	my ($rc, $out, $err) = bounded_psql($node, $db, $sql);

	return $rc == 0 ? $err : "failed: $err";
}

# Sets configuration parameters and reloads: reload_with($node, name => 'value').
sub reload_with
{
	my ($node, %settings) = @_;

	$node->safe_psql('postgres', "ALTER SYSTEM SET $_ = '$settings{$_}'")
	  foreach sort keys %settings;
	$node->reload;
	return;
}

# Waits until a cycle of the database's worker that began after this call has
# ended well.
sub wait_for_cycle
{
	my ($node, $db) = @_;
	my $now = $node->safe_psql('postgres', 'SELECT clock_timestamp()');

	# Asked in a database that has the extension.
	$node->poll_query_until(
		$db, qq(
SELECT state = 'waiting' AND last_started_at > '$now' AND last_finished_at >= last_started_at
FROM tiered_storage.workers WHERE database_name = '$db')
	) or die "no cycle of the worker of $db ended";
	return;
}

# "state|reason" of a database's worker, asked in the database $ask.
sub worker_of
{
	my ($node, $ask, $db) = @_;

	return $node->safe_psql($ask,
		"SELECT state, reason FROM tiered_storage.workers WHERE database_name = '$db'"
	);
}

# When m_2001_01, its indexes and TOAST table were first sampled, as one string.
sub sampled_since
{
	my ($node, $db) = @_;

	return $node->safe_psql(
		$db, q(
SELECT s.relation_oid, s.sampled_since FROM tiered_storage.relation_state s
WHERE s.relation_oid IN (SELECT oid FROM pg_class WHERE relname LIKE 'm_2001_01%'
	UNION SELECT reltoastrelid FROM pg_class WHERE relname = 'm_2001_01') ORDER BY 1)
	);
}

# Statements that run while the test goes on; with SQLSTATE, as error_of.
sub start_sql
{
	my ($node, $db, @statements) = @_;
	my %run = (out => '', err => '');
	my @command = (
		$node->installed_command('psql'),
		'-XAtq', '-d', $node->connstr($db), '-v', 'VERBOSITY=verbose',
		map { ('-c', $_) } @statements);

	$run{handle} =
	  IPC::Run::start(\@command, '<', \undef, '>', \$run{out}, '2>',
		\$run{err},
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	return \%run;
}

# Waits for their end: standard error of it.
sub finish_sql
{
	my ($run) = @_;

	$run->{handle}->finish;
	return $run->{err};
}

# The lines of the server log from an offset on that match.
sub log_lines
{
	my ($node, $offset, $regexp) = @_;

	return join "\n", grep { $_ =~ $regexp } split /\n/,
	  slurp_file($node->logfile, $offset);
}

1;

# What is known of a relation follows it to another OID and to another name: rebuilds beside open
# transactions, exchanged names, tables and indexes that are created anew, with samples in between.
# No sample fails, and no sum of the history is lost or counted twice.  The order is drawn with a
# fixed seed.
#
# Made up in the tables, since no call makes it in the time of a test: rows as a dump or
# another machine has left them.
#
# In make test.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

my $rounds = $ENV{ROUNDS} // 25;
srand($ENV{SEED} // 30);

# No worker: the only samples are those of the test.
my $node = new_node(
	'main',
	preload => 0,
	conf => q(
session_preload_libraries = 'tiered_storage'
fsync = off
));
$node->start;
create_in_place_tablespace($node, 'slow');
$node->safe_psql(
	'postgres', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', 'slow', profile => 'hdd_7200', reserve_fraction => 0))
);

# By their present names: rows that were inserted, and scans of indexes; undef: the relation was
# made anew, or both rebuilt and renamed since the last sample, so that nobody knows it again.
my %inserted;
my %scans;
my %rebuilt;

sub value_of
{
	my ($sql) = @_;

	return $node->safe_psql('postgres', $sql);
}

sub one_of
{
	my @of = @_;

	return $of[ int rand @of ];
}

sub create_table
{
	my ($name) = @_;

	value_of(
		qq(
CREATE TABLE $name (id int, v int, w int, large text) WITH (autovacuum_enabled = off);
CREATE INDEX ${name}_id ON $name (id);
CREATE INDEX ${name}_v ON $name (v);
CREATE INDEX ${name}_w ON $name (w);
CREATE INDEX ${name}_same ON $name (w)));
	$inserted{$name} = 0;
	delete $scans{$_} foreach "${name}_id", "${name}_v";
	return;
}

# Each in a session of its own, whose counters are there when it has ended.
sub insert
{
	my ($table) = @_;
	my $n = 1 + int rand 400;

	value_of(
		"INSERT INTO $table SELECT i, i, i, 'x' FROM generate_series(1, $n) i"
	);
	$inserted{$table} += $n;
	return;
}

sub scan
{
	my ($index) = @_;
	my ($table, $column) = split /\|/,
	  value_of(
		"SELECT indrelid::regclass, attname FROM pg_index JOIN pg_attribute ON attrelid = indexrelid WHERE indexrelid = '$index'::regclass"
	  );

	value_of(
		"SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM $table WHERE $column = 1"
	);
	$scans{$index}++ if defined $scans{$index};
	return;
}

# It has another OID or name than at the last sample; nobody can tell what has both.
sub note_other
{
	my ($index) = @_;

	$scans{$index} = undef if $rebuilt{$index}++;
	return;
}

# The names of two relations, each other's from now on.
sub exchange
{
	my ($kind, $one, $other, $known) = @_;

	value_of(
		"BEGIN; ALTER $kind $one RENAME TO exchanged; ALTER $kind $other RENAME TO $one; ALTER $kind exchanged RENAME TO $other; COMMIT"
	);
	@$known{ $one, $other } = @$known{ $other, $one };
	return;
}

# Sums of all that was before a sample, and what is known of each relation by its present name.
my $older = q(
SELECT ROW(sum(scans), sum(random_reads), sum(sequential_reads), sum(hits), sum(row_changes), sum(page_writes))
FROM _tiered_storage.history_rows WHERE period_start < :'last_at');
my $known = q(
SELECT c.relname, COALESCE(sum(h.row_changes), 0), COALESCE(sum(h.scans), 0)
FROM pg_class c LEFT JOIN _tiered_storage.history_rows h ON h.relation_oid = c.oid
WHERE c.relname ~ '^[abc](_id|_v)?$' AND c.relkind IN ('r', 'i') GROUP BY c.oid, c.relname);

my $samples = 0;
my $log = '';

sub sample
{
	my ($rc, $out, $err) = $node->psql(
		'postgres',
		"SELECT last_sample_at AS last_at FROM _tiered_storage.sampler \\gset\n$older; CALL tiered_storage.sample(); $older; $known",
		on_error_stop => 1);
	my ($before, $after, @relations) = split /\n/, $out;
	my @wrong;

	$samples++;
	push @wrong, "sample: $err" if $rc != 0;
	push @wrong, "$before became $after" if $rc == 0 && $before ne $after;
	foreach my $relation (@relations)
	{
		my ($name, $changes, $scans) = split /\|/, $relation;

		push @wrong, "$name: $changes of $inserted{$name} rows"
		  if defined $inserted{$name} && $changes != $inserted{$name};
		push @wrong, "$name: $scans of $scans{$name} scans"
		  if defined $scans{$name} && $scans != $scans{$name};
		$scans{$name} = $scans if $name =~ /_/;
	}
	%rebuilt = ();
	ok(!@wrong, "sample $samples, after$log") or diag(join "\n", @wrong);
	$log = '';
	return;
}

# A rebuild that waits for somebody at one of its stages, with samples meanwhile.
my %stages = (
	'a snapshot' => [
		'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;',
		q(relname LIKE '%\_ccnew%' AND indisready)
	],
	'a reader' => [
		'BEGIN; LOCK TABLE TABLE_NAME IN ACCESS SHARE MODE;',
		q(relname LIKE '%\_ccold%')
	],
	'a writer' => [
		'BEGIN; LOCK TABLE TABLE_NAME IN ROW EXCLUSIVE MODE;',
		q(relname LIKE '%\_ccnew%')
	]);

sub rebuild
{
	my ($table, $index) = @_;
	my $whom = one_of(sort keys %stages);
	my ($begin, $sign) = @{ $stages{$whom} };
	my $what =
	  defined $index
	  ? "INDEX CONCURRENTLY $index"
	  : "TABLE CONCURRENTLY $table";
	my $other = $node->background_psql('postgres');

	$log .= "; $what beside $whom";
	$other->query_safe($begin =~ s/TABLE_NAME/$table/r);
	my $run = start_sql($node, 'postgres', "REINDEX $what");
	$node->poll_query_until('postgres',
		"SELECT EXISTS (SELECT FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE indrelid = '$table'::regclass AND $sign) "
		  . "AND EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE 'REINDEX%' AND wait_event_type = 'Lock')"
	) or die "REINDEX $what does not wait for $whom";
	foreach (1 .. int rand 3)
	{
		insert($table);
		scan($index) if defined $index && rand() < 0.5;
		sample();
		$log .= "; in the same rebuild";
	}
	insert($table) if rand() < 0.5;
	$other->quit;
	is(finish_sql($run), '', "REINDEX $what");
	note_other($_)
	  foreach defined $index
	  ? $index
	  : split /\n/,
	  value_of(
		"SELECT indexrelid::regclass FROM pg_index WHERE indrelid = '$table'::regclass"
	  );
	return;
}

my %acts = (
	insert => sub { insert(one_of(sort keys %inserted)) },
	scan => sub { scan(one_of(sort keys %inserted) . one_of('_id', '_v')) },
	rebuild => sub {
		my $table = one_of('a', 'b', 'c');
		my $index =
		  one_of("${table}_id", "${table}_v", "${table}_same", undef);

		# Indexes keep their names when those of their tables are exchanged.
		$table = value_of(
			"SELECT indrelid::regclass FROM pg_index WHERE indexrelid = '$index'::regclass"
		) if defined $index;
		rebuild($table, $index);
	},
	exchange_tables => sub { exchange('TABLE', 'a', 'b', \%inserted) },
	exchange_indexes => sub {
		my ($one, $other) = ('a_id', one_of('a_v', 'b_id', 'a_same'));

		exchange('INDEX', $one, $other, \%scans);
		note_other($_) foreach $one, $other;
	},
	recreate_table => sub { value_of('DROP TABLE c'); create_table('c') },
	recreate_index => sub {
		my $table = value_of(
			"SELECT indrelid::regclass FROM pg_index WHERE indexrelid = 'b_v'::regclass"
		);

		value_of("DROP INDEX b_v; CREATE INDEX b_v ON $table (v)");
		$scans{b_v} = undef;
	},
	rewrite => sub { value_of('VACUUM FULL ' . one_of('a', 'b', 'c')) },
	pin => sub {
		value_of("SELECT tiered_storage.pin('"
			  . one_of('a', 'b', 'c', 'a_id', 'b_id', 'c_id', 'a_same')
			  . "', 'slow')");
	});

create_table($_) foreach 'a', 'b', 'c';
value_of('CALL tiered_storage.sample()');
foreach my $round (1 .. $rounds)
{
	foreach (1 .. 1 + int rand 3)
	{
		my $act = one_of(sort keys %acts);

		$act = 'rebuild' if rand() < 0.3;
		$log .= "; $act";
		$acts{$act}->();
	}
	sample();
}
cmp_ok(value_of('SELECT count(*) FROM _tiered_storage.pin'),
	'<=', 7, 'what was pinned has one pin');

# ---------------------------------------------------------------------
note
  'Pins that have come to mean the same, while somebody has one of them locked';
# ---------------------------------------------------------------------

value_of('DELETE FROM _tiered_storage.pin');
value_of(
	"CREATE TABLE p (); CREATE TABLE q (); SELECT tiered_storage.pin('q', 'slow'); SELECT tiered_storage.pin('p', 'slow'); CALL tiered_storage.sample()"
);
my $locker = $node->background_psql('postgres');
value_of('DROP TABLE p; ALTER TABLE q RENAME TO p');
$locker->query_safe(
	"BEGIN; SELECT FROM _tiered_storage.pin WHERE relation_oid = 'p'::regclass FOR UPDATE;"
);
is(error_of($node, 'postgres', 'CALL tiered_storage.sample()') =~ /ERROR/,
	'', 'the sample goes on');
$locker->quit;
value_of('CALL tiered_storage.sample()');
is( value_of(
		"SELECT count(*), min(relation_oid) = 'p'::regclass FROM _tiered_storage.pin"
	),
	'1|t',
	'one of them is left');

$node->stop;
done_testing();

# What is moved: tables of many kinds with known content, and the questions that
# tell whether it is still there.
#
# All tables have (w, id, v, t): the writer, its row, a number that changes, and a
# text that follows from these three, so that a row can be checked by itself.

package Outside::Matter;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';

our @EXPORT_OK = qw(schema_sql tables_of_writers tiny_tables own_table_sql
  rows_sql static_sql access_sql limit_of is_appended);

use constant TINY => 40;
use constant STATIC_ROWS => 20000;

# name => [how often the text is repeated, rows of a writer at most, indexes]
my %tables = (
	heap_1 => [ '1 + v % 3', 900, 'hash (v)', 'brin (id)' ],
	heap_2 => [ '1 + v % 3', 900, 'gin ((ARRAY[v % 100, id % 100]))' ],
	heap_3 => [
		'1 + v % 3',
		900,
		'gist (point(v, id))',
		'spgist (point(id, v))',
		'btree (v, w) INCLUDE (id)'
	],
	toast_1 => [ '80 + v % 100', 120 ],
	toast_2 => [ '80 + v % 400', 60, 'btree (md5(t))' ],
	log_1 => [ '4', 4000 ],
	log_2 => [ '6', 3000, 'brin (id)', 'btree (v)' ],
	(map { ("small_$_" => [ '1', 4 ]) } 1 .. 6),);

# The partitions' upper bounds, seconds since 1970: all are old.
my @bounds = (300, 600, 900);

sub tables_of_writers { return (sort(keys %tables), 'part'); }

sub limit_of { return $_[0] eq 'part' ? 800 : $tables{ $_[0] }[1]; }

# Filled at its end, emptied from there: vacuum truncates it.
sub is_appended { return $_[0] =~ /^log_/; }

sub tiny_tables
{
	return map { sprintf 'tiny_%02d', $_ } 1 .. TINY;
}

sub _columns
{
	my ($times) = @_;
	my $content =
	  "repeat(md5(w::text || '.' || id::text || '.' || v::text), $times)";

	return "w int NOT NULL, id int NOT NULL, v int NOT NULL, "
	  . "t text STORAGE EXTERNAL GENERATED ALWAYS AS ($content) STORED";
}

# STORAGE within CREATE TABLE came with 16.
sub _create
{
	my ($name, $times, $rest) = @_;
	my $columns = _columns($times);

	$columns =~ s/ STORAGE EXTERNAL//;
	return
		"CREATE TABLE app.$name ($columns, PRIMARY KEY (w, id)) "
	  . ($rest // '') . ';'
	  . (
		$rest && $rest =~ /PARTITION BY/
		? ''
		: "ALTER TABLE app.$name ALTER t SET STORAGE EXTERNAL;");
}

# A table that a single actor makes, changes and drops.
sub own_table_sql
{
	my ($name, $tablespace) = @_;

	return _create($name, '1 + v % 60', "TABLESPACE $tablespace")
	  . "CREATE INDEX ${name}_cover ON app.$name (w, id) INCLUDE (v) TABLESPACE $tablespace;";
}

# Everything, in the database app; three tablespaces exist.
sub schema_sql
{
	my ($writers, $tablespaces) = @_;
	my @sql = (
		'CREATE SCHEMA app; CREATE SCHEMA keep; CREATE SCHEMA look;',
		'CREATE EXTENSION amcheck SCHEMA look; CREATE EXTENSION pg_visibility SCHEMA look;',
		'CREATE TABLE keep.ledger (w int PRIMARY KEY, seq bigint NOT NULL) WITH (fillfactor = 20);',
		"INSERT INTO keep.ledger SELECT w, 0 FROM generate_series(1, $writers) w;",
	);
	my $n = 0;

	foreach my $name (sort keys %tables)
	{
		my ($times, undef, @indexes) = @{ $tables{$name} };
		push @sql,
		  _create($name, $times,
			$name =~ /_2/ ? 'WITH (fillfactor = 60)' : '');
		push @sql,
		  "CREATE INDEX ${name}_cover ON app.$name (w, id) INCLUDE (v);"
		  if $name !~ /small/;
		push @sql, "CREATE INDEX ON app.$name USING $_;" foreach @indexes;
	}
	push @sql, _create('part', '1 + v % 5', 'PARTITION BY RANGE (id)');
	foreach my $to (@bounds)
	{
		my $from = $to - 300;
		push @sql,
		  "CREATE TABLE app.part_$from PARTITION OF app.part FOR VALUES FROM ($from) TO ($to);";
	}
	push @sql, 'CREATE INDEX part_cover ON app.part (w, id) INCLUDE (v);';

	foreach my $name (tiny_tables())
	{
		my $key = $n++ % 2 ? ' PRIMARY KEY' : '';
		push @sql, "CREATE TABLE app.$name (id int$key, t text);",
		  "INSERT INTO app.$name SELECT i, '$name' || i FROM generate_series(1, 3) i;",
		  "ALTER TABLE app.$name SET TABLESPACE $tablespaces->[$n % @$tablespaces];";
	}
	push @sql, _create('static_1', '1 + v % 3'),
	  'INSERT INTO app.static_1 (w, id, v) SELECT 0, i, i * 7 % 1000 FROM generate_series(1, '
	  . STATIC_ROWS . ') i;',
	  'CREATE INDEX static_1_cover ON app.static_1 (w, id) INCLUDE (v);',
	  'CREATE MATERIALIZED VIEW app.mv_1 AS SELECT id, v, t FROM app.static_1 WHERE id % 4 = 0;',
	  'CREATE UNIQUE INDEX mv_1_id ON app.mv_1 (id);',
	  'CREATE MATERIALIZED VIEW app.mv_2 AS SELECT v, count(*), min(t) AS t FROM app.static_1 GROUP BY v;',
	  "SELECT tiered_storage.add_tier('hot', '{pg_default,$tablespaces->[0]}', profile => 'nvme', reserve_fraction => 0);",
	  "SELECT tiered_storage.add_tier('warm', '{$tablespaces->[1]}', profile => 'sata_ssd', reserve_fraction => 0);",
	  "SELECT tiered_storage.add_tier('cold', '{$tablespaces->[2]}', profile => 'hdd_7200', reserve_fraction => 0);",
	  "SELECT tiered_storage.add_tiering_policy('app.part', move_after => '90 days', tier => 'cold', options => jsonb_build_object('key_unit', 'seconds'));";
	return @sql;
}

# Rows of a writer in a table: by a sequential scan ("s") and by its index ("i").
# The fourth column says whether the row fits to its text.
sub rows_sql
{
	my ($name, $w) = @_;
	my $times =
		$name eq 'part' ? '1 + v % 5'
	  : $tables{$name}  ? $tables{$name}[0]
	  :                   '1 + v % 60';
	my $content =
	  "repeat(md5(w::text || '.' || id::text || '.' || v::text), $times)";

	return
	  'BEGIN READ ONLY; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; '
	  . 'SET LOCAL enable_bitmapscan = off; SET LOCAL enable_seqscan = on; '
	  . "SELECT 's', id, v, t = $content FROM app.$name WHERE w = $w; "
	  . 'SET LOCAL enable_indexscan = on; SET LOCAL enable_indexonlyscan = on; SET LOCAL enable_seqscan = off; '
	  . "SELECT 'i', id, v, true FROM app.$name WHERE w = $w; COMMIT";
}

# What never changes: one row for each relation, name and content.
sub static_sql
{
	return join(
		' UNION ALL ',
		(   map {
				"SELECT '$_', count(*) || ' ' || coalesce(string_agg(t, ',' ORDER BY id), '') FROM app.$_"
			} tiny_tables()),
		"SELECT 'static_1', count(*) || ' ' || sum(hashtext(t)::bigint) || ' ' || sum(v::bigint * id) FROM app.static_1",
		"SELECT 'mv_1', count(*) || ' ' || sum(hashtext(t)::bigint) FROM app.mv_1",
		"SELECT 'mv_2', count(*) || ' ' || sum(hashtext(t)::bigint) FROM app.mv_2"
	);
}

# The other access methods: the same rows with the index as without it.
sub access_sql
{
	my @conditions = (
		[ 'heap_1', 'v = 17' ],
		[ 'heap_1', 'id BETWEEN 100 AND 300' ],
		[ 'heap_2', 'ARRAY[v % 100, id % 100] @> ARRAY[17]' ],
		[ 'heap_3', "point(v, id) <\@ box '(100,100),(500,500)'" ],
		[ 'heap_3', "point(id, v) <\@ box '(100,100),(500,500)'" ],
		[ 'heap_3', 'v BETWEEN 100 AND 300' ],
		[ 'toast_2', "md5(t) < '4'" ],
		[ 'log_2', 'id < 500' ],
		[ 'log_2', 'v < 300' ]);

	return map {
		my ($table, $condition) = @$_;
		my $question =
		  "count(*) || ' ' || coalesce(sum(w * 7919 + id * 31 + v), 0) FROM app.$table WHERE $condition";
		[
			"$table: $condition",
			'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL enable_indexscan = off; '
			  . 'SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off; '
			  . "SELECT $question; SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = on; "
			  . "SET LOCAL enable_indexonlyscan = on; SET LOCAL enable_bitmapscan = on; SELECT $question; COMMIT"
		]
	} @conditions;
}

1;

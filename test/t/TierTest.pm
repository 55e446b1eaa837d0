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
  new_node create_in_place_tablespace create_databases seem_read seem_hot create_measurements
  create_partition tablespaces_of fingerprint
  error_of notices_of reload_with wait_for_cycle run_cycle age_policies pull_standbys worker_of sampled_since
  wait_for_lock_wait log_lines start_sql finish_sql start_writers stop_writers
);

# A server with the library preloaded (preload => 0: without), not yet started.
# conf: more lines of the configuration.  The second one of a test is another server, with a
# system identifier of its own: an option of initdb keeps it from being a copy of a template.
my $nodes = 0;

sub new_node
{
	my ($name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	my %init = $options{standby} ? (allows_streaming => 1) : ();

	$init{extra} = ['--no-instructions'] if $nodes++;

	$node->init(%init);
	$node->append_conf(
		'postgresql.conf', qq(
allow_in_place_tablespaces = on
autovacuum = off
max_wal_size = 256MB
wal_level = replica
log_min_messages = log
shared_buffers = 16MB
));

	# The debug build, with stop points and faults: see base/debug.h.  On a busy machine,
	# what is to be done under the lock may take longer than anywhere else.  A move
	# queues for its lock behind whoever has it, so that tests can see it wait; what it
	# does otherwise is seen in 091, 092 and 093.
	$node->append_conf(
		'postgresql.conf', qq(
dynamic_library_path = '$ENV{TIER_DEBUG_LIBDIR}:\$libdir'
tiered_storage.debug_lock_hold_limit = '10s'
tiered_storage.debug_skip = 'queueing'
)) if $ENV{TIER_DEBUG_LIBDIR};
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

# Several that share the server's tablespaces, ready for stop points.
sub create_databases
{
	my ($node, @names) = @_;

	foreach my $name (@names)
	{
		$node->safe_psql('postgres', "CREATE DATABASE $name");
		prepare_matter($node, $name);
	}
	return;
}

# In the database nothing was written for a year before 2040-01-01, and all was observed for
# longer; the given relations have been read 200 times an hour for the last 26 hours.  After a
# sample.
sub seem_read
{
	my ($node, $db, @relations) = @_;
	my $names = join ',', @relations;

	$node->safe_psql(
		$db, qq(
UPDATE _tiered_storage.relation_state SET observed_since = '2030-01-01', sampled_since = '2030-01-01', proven_since = '2030-01-01',
	rewritten_at = NULL, last_written_at = '2039-01-01', last_read_at = '2039-12-31 23:00:00+00', random_fast = 200, random_slow = 200, heat_at = '2040-01-01';
UPDATE _tiered_storage.sampler SET counts_since = '2030-01-01', last_sample_at = '2040-01-01';
INSERT INTO _tiered_storage.relation_history (period_start, relation_oid, period_s, scans, random_reads, sequential_reads, hits, row_changes)
	SELECT timestamptz '2040-01-01' - h * interval '1 hour', name::regclass, 3600, 1, 200, 0, 0, 0
	FROM unnest('{$names}'::text[]) name, generate_series(1, 26) h;
));
	return;
}

# All has been observed for long, and nothing is in use but the given relations, which are read
# at random so many times an hour, from the device: the advice is sure of them.  After a sample.
sub seem_hot
{
	my ($node, $db, %reads) = @_;
	my $cases = join ' ',
	  map { "WHEN '$_'::regclass THEN $reads{$_}" } sort keys %reads;

	$node->safe_psql(
		$db, qq(
UPDATE _tiered_storage.relation_state SET evidence_interval_s = 0, heat_at = now(), observed_since = '2020-01-01', sampled_since = '2020-01-01', proven_since = '2020-01-01',
	placed_at = '2021-01-01', random_slow = CASE relation_oid $cases ELSE 0 END, sequential_fast = 0, sequential_slow = 0, sequential_low_slow = 0, sequential_high_slow = 0,
	hits_slow = 0, scans_slow = 0, changes_fast = 0, changes_slow = 0, page_writes_fast = 0, page_writes_slow = 0;
UPDATE _tiered_storage.relation_state SET random_fast = random_slow, device_random_fast = random_slow, device_random_slow = random_slow, device_sequential_fast = 0, device_sequential_slow = 0;
));
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
	my $before = $node->safe_psql('postgres', 'SELECT pg_conf_load_time()');

	$node->safe_psql('postgres', "ALTER SYSTEM SET $_ = '$settings{$_}'")
	  foreach sort keys %settings;
	$node->reload;

	# The server has told its processes, too, by then.
	$node->poll_query_until('postgres',
		"SELECT pg_conf_load_time() > '$before'")
	  or die 'the settings are not loaded';
	return;
}

# Waits until a cycle of the database's worker that began after this call has
# ended well.
sub wait_for_cycle
{
	my ($node, $db, @before) = @_;
	my $now = $node->safe_psql('postgres', 'SELECT clock_timestamp()');

	$node->safe_psql($db, $_) foreach @before;

	# Asked in a database that has the extension.
	$node->poll_query_until(
		$db, qq(
SELECT state = 'waiting' AND last_started_at > '$now' AND last_finished_at >= last_started_at
FROM _tiered_storage.worker_status() WHERE database_name = '$db')
	) or die "no cycle of the worker of $db ended";
	return;
}

# The same, but the cycle begins at once; if the worker is at work, after that.
sub run_cycle
{
	my ($node, $db) = @_;

	return wait_for_cycle($node, $db,
		'SELECT _tiered_storage.notify_launcher()');
}

# The worker leaves a new policy alone for one migrate_interval: as if that were over.
sub age_policies
{
	my ($node, $db) = @_;

	$node->safe_psql($db,
		"UPDATE _tiered_storage.policy SET created_at = created_at - interval '1 day'"
	);
	return;
}

# A cycle in which all standbys are asked, also those that failed just now.
sub pull_standbys
{
	my ($node, $db) = @_;

	$node->safe_psql($db,
		'UPDATE _tiered_storage.standby_state SET next_pull_at = now()');
	run_cycle($node, $db);
	return;
}

# "state|reason" of a database's worker, asked in the database $ask; not of one that
# is just at work, as one with a short interval is every now and then.
sub worker_of
{
	my ($node, $ask, $db) = @_;
	my $attempts = 10 * $PostgreSQL::Test::Utils::timeout_default;
	my $answer;

	while ($attempts-- > 0)
	{
		$answer = $node->safe_psql($ask,
			"SELECT state, reason FROM _tiered_storage.worker_status() WHERE database_name = '$db'"
		);
		last if $answer !~ /^(starting|running)\|/;
		select undef, undef, undef, 0.1;
	}
	return $answer;
}

# Waits until a move waits in the lock queue of a relation.
sub wait_for_lock_wait
{
	my ($node, $db, $relation) = @_;

	$node->poll_query_until(
		$db, qq(
SELECT count(*) = 1 FROM _tiered_storage.move_progress m JOIN pg_locks l ON l.pid = m.pid
WHERE NOT l.granted AND l.locktype = 'relation' AND l.relation = '$relation'::regclass)
	) or die "no move waits for $relation";
	return;
}

# When m_2001_01, its indexes and TOAST table were first sampled, as one string.
sub sampled_since
{
	my ($node, $db) = @_;

	return $node->safe_psql(
		$db, q(
SELECT s.relation_oid, s.sampled_since FROM _tiered_storage.relation_state s
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

# Waits for their end: standard error of it, without what a move says of itself.
sub finish_sql
{
	my ($run) = @_;

	$run->{handle}->finish;
	return $run->{err} =~
	  s/^(psql:\S+ )?NOTICE:  00000: (moved |nothing is moved: |\S+ waits to be moved: ).*\n((DETAIL|HINT|LOCATION): .*(\n|\z))*//mgr;
}

# The lines of the server log from an offset on that match.
sub log_lines
{
	my ($node, $offset, $regexp) = @_;

	return join "\n", grep { $_ =~ $regexp } split /\n/,
	  slurp_file($node->logfile, $offset);
}

# Sessions that change tables of create_matter, so many times a second, until they are
# stopped.
sub start_writers
{
	my ($node, $db, $rate, @tables) = @_;
	my $script = $node->basedir . '/change.sql';
	my %run = (out => '', err => '');

	unlink $script;
	append_to_file($script,
		"SELECT change('{" . join(',', @tables) . "}');\n");
	$run{handle} = IPC::Run::start(
		[
			$node->installed_command('pgbench'),
			'-n',
			'-c',
			2,
			'-R',
			$rate,
			'-T',
			$PostgreSQL::Test::Utils::timeout_default,
			'-f',
			$script,
			$node->connstr($db)
		],
		'<',
		\undef,
		'>',
		\$run{out},
		'2>',
		\$run{err});
	return \%run;
}

sub stop_writers
{
	my ($run) = @_;

	$run->{handle}->signal('TERM');
	eval { $run->{handle}->finish };
	unlike($run->{err}, qr/ERROR|deadlock/, 'the writers notice nothing');
	return;
}

# ---------------------------------------------------------------------
# Moves that are stopped in the middle
# ---------------------------------------------------------------------

push @EXPORT, qw(
  prepare_matter create_matter differences unsound_indexes
  stray_files relation_files
  new_stops hold let_go wait_stopped step_to start_move stop_move
  record_of_move wait_for
);

# The kinds of relation that are moved, each with what is called to move it.  The
# table is moved with its TOAST table.
our %kinds = (
	'heap' => '%s',
	'btree' => '%s_pkey',
	'hash' => '%s_hash',
	'gin' => '%s_gin',
	'gist' => '%s_gist',
	'spgist' => '%s_spgist',
	'brin' => '%s_brin',);

# What create_matter and new_stops need in a database.
sub prepare_matter
{
	my ($node, $db) = @_;

	$node->safe_psql(
		$db, q(
CREATE FUNCTION point_key(text) RETURNS int LANGUAGE C STRICT AS 'tiered_storage', 'tier_debug_point_key';

-- The same change in a table that is never moved, in the same transaction.
CREATE FUNCTION copy_to_twin() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP <> 'INSERT' THEN
		EXECUTE format('DELETE FROM %I WHERE id = $1.id', TG_TABLE_NAME || '_twin') USING OLD;
	END IF;
	IF TG_OP <> 'DELETE' THEN
		EXECUTE format('INSERT INTO %I SELECT $1.*', TG_TABLE_NAME || '_twin') USING NEW;
	END IF;
	RETURN NULL;
END $$;

-- Some changes to each table of the list that nobody has locked, nor its indexes.
CREATE FUNCTION change(tables text[]) RETURNS int LANGUAGE plpgsql SET lock_timeout = '2ms' AS $$
DECLARE
	name text;
	number int := nextval('change_number');
	changed int := 0;
BEGIN
	FOREACH name IN ARRAY tables LOOP
		BEGIN
			EXECUTE format('INSERT INTO %I SELECT * FROM matter(%s, %s)', name, number, number);
			EXECUTE format('UPDATE %I SET h = h || ''x'', value = value || id WHERE id IN (%s, %s)', name, number % 300, (number + 7) % 300);
			EXECUTE format('DELETE FROM %I WHERE id = %s', name, number - 40);
			changed := changed + 1;
		EXCEPTION WHEN lock_not_available THEN
			NULL;
		END;
	END LOOP;
	RETURN changed;
END $$;
CREATE SEQUENCE change_number START 1000;

-- Asks again and again, until the answer is true, or it has taken too long.
CREATE FUNCTION wait_for(question text, seconds int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz := clock_timestamp();
	answer boolean;
BEGIN
	LOOP
		PERFORM pg_stat_clear_snapshot();
		EXECUTE question INTO answer;
		IF answer OR clock_timestamp() > began + seconds * interval '1 s' THEN
			RETURN COALESCE(answer, false);
		END IF;
		PERFORM pg_sleep(0.005);
	END LOOP;
END $$;

CREATE FUNCTION matter(int, int) RETURNS TABLE (id int, h text, a int[], p point, s text, b int, filler text, value text)
LANGUAGE sql AS $$
	SELECT i, md5(i::text), ARRAY[i % 10, 100 + i % 7], point(i % 20, i % 13), 'k' || i, i, repeat(md5(i::text), 24),
		CASE WHEN i % 8 = 0 THEN repeat(md5(i::text), 200) ELSE 'v' END
	FROM generate_series($1, $2) i
$$;
));

	# Not every installation has it.
	$node->safe_psql($db, 'CREATE EXTENSION amcheck')
	  if $node->safe_psql($db,
		"SELECT count(*) FROM pg_available_extensions WHERE name = 'amcheck'"
	  );
	return;
}

# Tables with TOAST, each with an index of every kind, and a twin that has the
# same rows and is never moved.
sub create_matter
{
	my ($node, $db, @names) = @_;

	$node->safe_psql(
		$db,
		join '',
		map {
			qq(
CREATE TABLE $_ (id int NOT NULL, h text, a int[], p point, s text, b int, filler text, value text);
ALTER TABLE $_ ALTER value SET STORAGE EXTERNAL;
INSERT INTO $_ SELECT * FROM matter(1, 300);
ALTER TABLE $_ ADD CONSTRAINT ${_}_pkey PRIMARY KEY (id);
CREATE INDEX ${_}_hash ON $_ USING hash (h);
CREATE INDEX ${_}_gin ON $_ USING gin (a);
CREATE INDEX ${_}_gist ON $_ USING gist (p);
CREATE INDEX ${_}_spgist ON $_ USING spgist (s);
CREATE INDEX ${_}_brin ON $_ USING brin (b) WITH (pages_per_range = 4);
CREATE TABLE ${_}_twin (LIKE $_);
ALTER TABLE ${_}_twin ADD PRIMARY KEY (id);
INSERT INTO ${_}_twin TABLE $_;
CREATE TRIGGER twin AFTER INSERT OR UPDATE OR DELETE ON $_ FOR EACH ROW EXECUTE FUNCTION copy_to_twin();
)
		} @names);
	return;
}

# Tables whose rows are not those of their twins, or that an index finds others
# in; each with what is wrong.
sub differences
{
	my ($node, $db, @names) = @_;
	my @queries;

	foreach my $name (@names)
	{
		push @queries,
		  "SELECT '$name: ' || n || ' rows differ' FROM (SELECT count(*) AS n FROM "
		  . "((SELECT t::text FROM $name t EXCEPT ALL SELECT t::text FROM ${name}_twin t) UNION ALL "
		  . "(SELECT t::text FROM ${name}_twin t EXCEPT ALL SELECT t::text FROM $name t)) d) x WHERE n <> 0";
	}
	my $rows = $node->safe_psql(
		$db,
		"SET jit = off; SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off;"
		  . join ';',
		@queries);

	# What each index finds, against the same question to the twin.
	@queries = ();
	foreach my $name (@names)
	{
		foreach my $condition (
			[ 'pkey', 't.id = w.id' ],
			[ 'hash', 't.h = w.h' ],
			[ 'spgist', 't.s = w.s' ],
			[ 'brin', 't.b = w.b' ],)
		{
			# A question to a BRIN index is expensive.
			my $some = $condition->[0] eq 'brin' ? 'id % 20 = 0 AND ' : '';

			push @queries,
			  "SELECT '$name: $condition->[0]' FROM ${name}_twin w WHERE $some(SELECT count(*) FROM $name t WHERE $condition->[1]) <> 1 LIMIT 1";
		}
		push @queries,
		  "SELECT '$name: gin' FROM (SELECT x, count(*) AS n FROM ${name}_twin, unnest(a) x GROUP BY 1) w WHERE (SELECT count(*) FROM $name t WHERE t.a @> ARRAY[w.x]) <> n LIMIT 1",
		  "SELECT '$name: gist' FROM (SELECT i AS x, count(p) AS n FROM generate_series(0, 19) i LEFT JOIN ${name}_twin ON p[0] = i GROUP BY 1) w WHERE (SELECT count(*) FROM $name t WHERE t.p <@ box(point(w.x, 0), point(w.x, 20))) <> n LIMIT 1";
	}
	my $found = $node->safe_psql(
		$db,
		'SET jit = off; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;'
		  . join ';',
		@queries);
	return join "\n", grep { $_ ne '' } $rows, $found;
}

# What amcheck has to say about tables, their TOAST and all their b-trees.
sub unsound_indexes
{
	my ($node, $db, @names) = @_;
	my $list = join ', ', map { "'$_'::regclass" } @names;

	return ''
	  if !$node->safe_psql($db,
		"SELECT count(*) FROM pg_extension WHERE extname = 'amcheck'");

	# bt_index_parent_check is refused on a standby.
	my $check =
	  $node->safe_psql($db, 'SELECT pg_is_in_recovery()') eq 't'
	  ? 'bt_index_check'
	  : 'bt_index_parent_check';
	my $files = qq(
WITH heap AS (SELECT unnest(ARRAY[$list])::oid AS oid), files AS MATERIALIZED
	(SELECT oid FROM heap UNION SELECT reltoastrelid FROM pg_class JOIN heap USING (oid) WHERE reltoastrelid <> 0),
	btrees AS MATERIALIZED (SELECT indexrelid FROM pg_index JOIN files ON indrelid = oid
	JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'btree'));
	my ($rc, $out, $err) = $node->psql(
		$db, qq(
$files SELECT oid::regclass, v.* FROM files, LATERAL verify_heapam(oid, check_toast => true) v;
$files SELECT indexrelid FROM btrees WHERE $check(indexrelid, true)::text IS NULL)
	);
	return "$out$err";
}

# The data files of a database, each relative to the data directory.
sub relation_files
{
	my ($node, $db) = @_;
	my $database = $node->safe_psql($db,
		'SELECT oid FROM pg_database WHERE datname = current_database()');
	my $data = $node->data_dir;

	return map { substr $_, length("$data/") }
	  grep     { m!/\d+(_fsm|_vm|_init)?(\.\d+)?$! }
	  glob("$data/base/$database/* $data/pg_tblspc/*/PG_*/$database/*");
}

# Data files of a database that no relation has.  A dropped file's first segment
# stays, empty, until the next checkpoint.
sub stray_files
{
	my ($node, $db) = @_;

	$node->safe_psql($db, 'CHECKPOINT');
	my %used = map { $_ => 1 } split /\n/,
	  $node->safe_psql($db,
		'SELECT pg_relation_filepath(oid) FROM pg_class WHERE pg_relation_filepath(oid) IS NOT NULL'
	  );
	my @stray;

	foreach my $file (relation_files($node, $db))
	{
		(my $main = $file) =~ s/(_fsm|_vm|_init)?(\.\d+)?$//;
		push @stray, $file unless $used{$main};
	}
	return join ' ', @stray;
}

# A session that holds stop points.
sub new_stops
{
	my ($node, $db) = @_;

	my $stops = $node->background_psql($db);

	# The limit is for each question, not for the life of the session.
	$stops->set_query_timer_restart;
	return $stops;
}

# The lock of a stop point: two numbers.
sub _point
{
	my ($point) = @_;

	return "1953064306, point_key('$point')";
}

sub hold
{
	my ($stops, @points) = @_;

	$stops->query_safe('SELECT pg_advisory_lock(' . _point($_) . ')')
	  foreach @points;
	return;
}

sub let_go
{
	my ($stops, @points) = @_;

	$stops->query_safe('SELECT pg_advisory_unlock(' . _point($_) . ')')
	  foreach @points;
	return;
}

# Waits in a session of new_stops until a question is answered with true.
sub wait_for
{
	my ($stops, $question) = @_;
	my $seconds = $PostgreSQL::Test::Utils::timeout_default - 2;
	my $answer =
	  $stops->query_safe("SELECT wait_for(\$q\$$question\$q\$, $seconds)");

	if ($answer ne 't')
	{
		diag(
			$stops->query_safe(
				'SELECT a.pid, wait_event_type, wait_event, pg_blocking_pids(a.pid), query FROM pg_stat_activity a'
			));
		my @asker =
		  grep { @$_ && $_->[1] ne __FILE__ } map { [ caller $_ ] } 0 .. 5;
		die sprintf "never true for line %d of %s: %s",
		  @{ $asker[0] }[ 2, 1 ],
		  $question;
	}
	return;
}

# Waits until a mover stands at a stop point: its PID.
sub wait_stopped
{
	my ($stops, $point) = @_;
	my $standing =
	  "FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND classid = 1953064306 AND objid = point_key('$point')::oid AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

	wait_for($stops, "SELECT count(*) > 0 $standing");
	return $stops->query_safe("SELECT pid $standing");
}

# Starts CALL move_relation(relation, target) in a session of its own; settings
# are statements before it.
sub start_move
{
	my ($node, $db, $relation, $target, @settings) = @_;

	return start_sql($node, $db, @settings,
		"CALL tiered_storage.move_relation('$relation', '$target', include_indexes => false)"
	);
}

# Lets the mover that stands at one stop point go on to another one, which is held
# from then on, and the first one not any more: its PID.
sub step_to
{
	my ($stops, $from, $to) = @_;

	hold($stops, $to);
	let_go($stops, $from);
	return wait_stopped($stops, $to);
}

sub _wait_for_row
{
	my ($stops, $pid) = @_;

	wait_for($stops,
		"SELECT count(*) = 1 FROM pg_locks WHERE pid = $pid AND locktype = 'transactionid' AND NOT granted"
	);
	return;
}

# Starts a move of a table of create_matter, or of one of its indexes, and stops
# it at a point, which stays held.  Movers that are to stand side by side are
# started in the order of their points, the last point first.  The points are
# those of the program, and
#
#	discarding	of a move that was cancelled
#	committed	the new file is in use; the record of the move is not complete.
#				Leaves the session $stops in a transaction.
sub stop_move
{
	my ($node, $db, $stops, $point, $kind, $table, $target, @settings) = @_;
	my %move = (
		point => $point,
		kind => $kind,
		table => $table,
		relation => sprintf($kinds{$kind}, $table));

	hold($stops, 'registered');
	$move{run} = start_move($node, $db, $move{relation}, $target, @settings);
	$move{pid} = wait_stopped($stops, 'registered');
	return \%move if $point eq 'registered';

	if ($point eq 'catching_up')
	{
		# There must be something to catch up with.
		step_to($stops, 'registered', 'copied');
		$node->safe_psql($db, "UPDATE $table SET b = b");
		step_to($stops, 'copied', $point);
	}
	elsif ($point eq 'committed')
	{
		step_to($stops, 'registered', 'locked');
		$stops->query_safe(
			"BEGIN; SELECT FROM _tiered_storage.move WHERE pid = $move{pid} FOR UPDATE"
		);
		let_go($stops, 'locked');
		_wait_for_row($stops, $move{pid});
	}
	elsif ($point eq 'discarding')
	{
		step_to($stops, 'registered', 'copied');
		hold($stops, $point);
		$stops->query_safe("SELECT pg_cancel_backend($move{pid})");
		wait_stopped($stops, $point);
		let_go($stops, 'copied');
	}
	else
	{
		step_to($stops, 'registered', $point);
	}
	return \%move;
}

# "state|sqlstate" of the last move of a relation.
sub record_of_move
{
	my ($node, $db, $relation) = @_;

	return $node->safe_psql($db,
		"SELECT state, sqlstate FROM _tiered_storage.moves WHERE relation = '$relation' ORDER BY move_id DESC LIMIT 1"
	);
}

1;

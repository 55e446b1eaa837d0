# Settings that anybody may make for a session, and so the owner of a database for all of
# its sessions and the worker: none of them reaches our work.  Which there are, the server
# says; so one that a new release brings is tried, too.
#
# Made up in the tables, since no call makes it in the time of a test: moves of another
# time, size or end.
#
# On every major.  In make test.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

my $node = new_node(
	'main', conf => q(
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
tiered_storage.migrate_interval = '1s'
tiered_storage.debug_lock_attempts = 2
));
$node->start;
create_in_place_tablespace($node, 'slow');
$node->safe_psql('postgres',
	'CREATE ROLE boss LOGIN; GRANT CREATE ON TABLESPACE slow TO boss; CREATE DATABASE app OWNER boss; CREATE DATABASE watch; CREATE EXTENSION tiered_storage'
);
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
CREATE TABLE "Parted" (at date) PARTITION BY RANGE (at);
CREATE TABLE old_0 PARTITION OF "Parted" FOR VALUES FROM ('2001-01-01') TO ('2001-02-01');
INSERT INTO "Parted" SELECT '2001-01-01' FROM generate_series(1, 1000);
CREATE TABLE moved AS SELECT * FROM "Parted";
SELECT tiered_storage.add_tiering_policy('"Parted"', '1 day', 'slow');
CALL tiered_storage.sample();
));

# ---------------------------------------------------------------------
# What may be set, and the extremes of it
# ---------------------------------------------------------------------

# Strings, and numbers that are worse than their extremes.
my %values = (
	application_name => ['x'],
	client_encoding => ['LATIN1'],
	DateStyle => [ 'German, DMY', 'SQL, YMD' ],
	default_table_access_method => ['heap'],
	default_tablespace => ['slow'],
	default_text_search_config => ['german'],
	idle_in_transaction_session_timeout => ['1ms'],
	idle_session_timeout => ['1h'],
	lc_messages => ['POSIX'],
	lc_monetary => ['POSIX'],
	lc_numeric => ['POSIX'],
	lc_time => ['POSIX'],
	local_preload_libraries => ['nowhere'],
	lock_timeout => ['1ms'],
	'plpgsql.extra_errors' => ['all'],
	'plpgsql.extra_warnings' => ['all'],
	createrole_self_grant => [ 'set', 'set, inherit' ],
	restrict_nonsystem_relation_kind => [ 'view', 'foreign-table, view' ],
	search_path => [ 'nowhere', 'pg_temp' ],
	statement_timeout => ['1h'],
	temp_tablespaces => ['slow'],
	TimeZone => [ 'Asia/Kolkata', 'Pacific/Kiritimati' ],
	timezone_abbreviations => ['Australia'],
	transaction_timeout => ['1h'],
	vacuum_buffer_usage_limit => ['128kB'],);

# What tells the server how to treat this very caller, and does.
my %own_wish = (
	default_transaction_read_only =>
	  'nothing is changed, and the error says so',
	local_preload_libraries => 'the session does not begin without them',);

# [ name, extreme, ... ], without the value that each has anyway.  Those of a single transaction
# can be set for no database.
my @settings;
foreach my $line (
	split /\n/,
	$node->safe_psql(
		'app', q{
LOAD 'plpgsql';
SELECT array_to_string(name || array_remove(CASE vartype WHEN 'bool' THEN '{off,on}' WHEN 'enum' THEN enumvals
		WHEN 'string' THEN '{}' ELSE ARRAY[min_val, max_val] END, boot_val), '|')
	FROM pg_settings WHERE context = 'user' AND name NOT LIKE 'tiered\_storage.%'
		AND NOT COALESCE(cardinality(enumvals) = 1, false)
		AND (name <> 'standard_conforming_strings' OR current_setting('server_version_num')::int < 190000)
		AND name NOT IN ('transaction_deferrable', 'transaction_isolation', 'transaction_read_only') ORDER BY name}
	))
{
	my ($name, @extremes) = split /\|/, $line;

	push @settings, [ $name, @{ $values{$name} // \@extremes } ];
}
is(join(' ', map { $_->[0] } grep { @{$_} < 2 } @settings),
	'', 'extremes are known of all of them');
cmp_ok(scalar @settings, '>', 130, 'and there are many');

# ---------------------------------------------------------------------
note 'A session that sets them, in turn';
# ---------------------------------------------------------------------

my $work = q{
SELECT string_agg(concat_ws(' ', e.verdict, e.from_tier, e.to_tablespace, e.size_bytes, regexp_replace(e.reason, '[(].*', '')), '; ') AS evaluation
	FROM _tiered_storage.evaluate_policies() e \gset
SELECT count(*) AS tiers FROM tiered_storage.discover_tiers() \gset
CALL tiered_storage.sample();
CALL tiered_storage.move_relation('public.moved', :'place');
};
my $result = q{
SELECT :'label' || ': ' || concat_ws(' | ', :'evaluation', :'tiers' || ' tiers', samples - :samples || ' sample',
		COALESCE(spcname, 'pg_default') = :'place', :'kept') AS result,
	CASE :'place' WHEN 'slow' THEN 'pg_default' ELSE 'slow' END AS place, samples
	FROM _tiered_storage.sampler, pg_class c LEFT JOIN pg_tablespace s ON s.oid = reltablespace
	WHERE c.oid = 'public.moved'::regclass \gset
\echo :result
\unset evaluation
\unset tiers
};
my $begin = q{
SET client_min_messages = warning;
SELECT samples, 'slow' AS place, true AS kept FROM _tiered_storage.sampler \gset
};

# The server's own settings; then each, which is the same when the work is done.
my $script = "$begin\\set label usual\n$work$result";
my @labels = ('usual');
foreach my $setting (grep { !$own_wish{ $_->[0] } } @settings)
{
	my ($name, @extremes) = @{$setting};

	foreach my $value (@extremes)
	{
		push @labels, "$name = $value";
		$script .=
			"\\set label '$name = $value'\nSET $name = '$value';\n"
		  . "SELECT current_setting('$name') AS before \\gset\n$work"
		  . "SELECT current_setting('$name') = :'before' AS kept \\gset\n"
		  . "RESET $name;\nSET client_min_messages = warning;\n$result";
	}
}
my ($rc, $out, $err) = $node->psql('app', $script, on_error_stop => 0);
my @results = split /\n/, $out;
my ($usual) = $results[0] =~ /^usual: (.*)/;

like(
	$usual,
	qr/^due \S+ slow \d+ all rows are before 2001-02-01 00:00:00\+00, that is more than 1 day before now  \| 2 tiers \| 1 sample \| t \| t$/,
	'the work');
is(join("\n", grep { !/ \Q$usual\E$/ } @results),
	'', 'is the same whatever is set');
is(scalar @results, scalar @labels, 'each time');
is(join("\n", grep { /WARNING|ERROR|FATAL/ } split /\n/, $err),
	'', 'without an error');

# ---------------------------------------------------------------------
note 'The owner of the database sets them all: a new session';
# ---------------------------------------------------------------------

# What they are set for.
my $target = 'DATABASE app';

# From another database, for which nothing is set.
sub set_as_boss
{
	my $sql = join '', map { "ALTER $target SET $_->[0] = '$_->[1]';\n" } @_;
	my $role = $target =~ /DATABASE app$/
	  && $target !~ /ROLE/ ? 'SET SESSION AUTHORIZATION boss' : '';
	my $error = error_of($node, 'postgres', "LOAD 'plpgsql'; $role;\n$sql");

	$error =~ /^no error/ or die "he may not: $error";
	return;
}

sub reset_all
{
	$node->safe_psql('postgres',
		'ALTER DATABASE app RESET ALL; ALTER ROLE CURRENT_USER RESET ALL; ALTER ROLE CURRENT_USER IN DATABASE app RESET ALL'
	);
	return;
}

# Which of the settings make the trial fail?
sub culprits
{
	my ($trial, @set) = @_;
	my $half = int(@set / 2);
	my @found;

	return () if $trial->(@set);
	return map { "$_->[0] = $_->[1]" } @set if $half == 0;
	@found = map { culprits($trial, @{$_}) }
	  ([ @set[ 0 .. $half - 1 ] ], [ @set[ $half .. $#set ] ]);
	return @found ? @found : 'several together';
}

sub session_works
{
	set_as_boss(@_);
	my ($code, $stdout, $stderr) = $node->psql(
		'app',
		"$begin\\set label now\n$work$result",
		on_error_stop => 0);
	reset_all();
	$node->safe_psql('app',
		"CALL tiered_storage.move_relation('public.moved', 'pg_default')");
	diag "$stdout\n$stderr" if $stdout !~ /^now: \Q$usual\E$/m;
	return $stdout =~ /^now: \Q$usual\E$/m;
}

my %lowest = map { $_->[0] => [ $_->[0], $_->[1] ] } @settings;
my %highest = map { $_->[0] => [ $_->[0], $_->[-1] ] } @settings;
my @names = map { $_->[0] } grep { !$own_wish{ $_->[0] } } @settings;

$node->safe_psql('app',
	"CALL tiered_storage.move_relation('public.moved', 'pg_default')");
is(join(', ', culprits(\&session_works, @lowest{@names})),
	'', 'to the lowest');
is(join(', ', culprits(\&session_works, @highest{@names})),
	'', 'to the highest');
foreach my $other ('ROLE CURRENT_USER', 'ROLE CURRENT_USER IN DATABASE app')
{
	$target = $other;
	is(join(', ', culprits(\&session_works, @lowest{@names})),
		'', "to the lowest for $other");
	is(join(', ', culprits(\&session_works, @highest{@names})),
		'', "to the highest for $other");
}
$target = 'DATABASE app';

# ---------------------------------------------------------------------
note 'The same, and the worker';
# ---------------------------------------------------------------------

# Here is more that he may set, but not for us.
my @worst = (
	[ 'role', 'boss' ],
	[ 'session_authorization', 'boss' ],
	[ 'statement_timeout', '1ms' ],
	[ 'idle_session_timeout', '1ms' ],
	[ 'tiered_storage.observation_period', '0' ],
	[ 'tiered_storage.cooldown', '0' ]);
push @worst, [ 'transaction_timeout', '1ms' ]
  if exists $lowest{transaction_timeout};
my $round = 0;

# A sample, an evaluation, and a move of what is due by it.
sub worker_works
{
	my (@set) = @_;
	my $name = 'old_' . ++$round;
	my $from = sprintf '%d-01-01', 2001 + $round;
	my $attempts = 10 * $PostgreSQL::Test::Utils::timeout_default;
	my $log;

	$node->safe_psql('app',
		"CREATE TABLE $name PARTITION OF \"Parted\" FOR VALUES FROM ('$from') TO ('$from'::date + 31); INSERT INTO $name SELECT '$from' FROM generate_series(1, 1000)"
	);
	set_as_boss(@set);
	my $offset = -s $node->logfile;
	reload_with($node, 'tiered_storage.auto_migrate' => 'policies');
	do
	{
		select undef, undef, undef, 0.1;
		$log = log_lines($node, $offset,
			qr/moved table public\.$name |ERROR|FATAL|WARNING|could not/);
	} while ($log eq '' && $attempts-- > 0);
	reload_with($node, 'tiered_storage.auto_migrate' => 'off');
	reset_all();
	run_cycle($node, 'app');
	return 1
	  if $log =~
	  /^.*LOG:  moved table public\.$name from tablespace "pg_default" to tablespace "slow" for role.*$/
	  && $node->safe_psql(
		'app',
		"SELECT count(*) FROM _tiered_storage.relation_state WHERE relation_oid = '$name'::regclass"
	  ) == 1;
	diag $log;
	return 0;
}
reload_with($node, 'tiered_storage.sample_interval' => '1s');
is(join(', ', culprits(\&worker_works, values %lowest, @worst)),
	'', 'to the lowest');
is(join(', ', culprits(\&worker_works, values %highest, reverse @worst)),
	'', 'to the highest');

# The worker's role, which only a superuser can alter.
$target = 'ROLE CURRENT_USER IN DATABASE app';
is( join(', ',
		culprits(\&worker_works, values %highest, values %lowest, @worst)),
	'',
	"to both for its role");
$target = 'DATABASE app';

# ---------------------------------------------------------------------
note 'What only the server may allow';
# ---------------------------------------------------------------------

my %contexts = map { split /\|/ } split /\n/,
  $node->safe_psql('app',
	"SELECT name, context FROM pg_settings WHERE name LIKE 'tiered\\_storage.%'"
  );
foreach my $name (sort keys %contexts)
{
	my $error = error_of($node, 'postgres',
		"SET SESSION AUTHORIZATION boss; ALTER DATABASE app SET $name TO DEFAULT; ALTER DATABASE app SET $name FROM CURRENT"
	);
	my $refused = $error =~ /ERROR:  (42501|55P02):/ ? 1 : 0;

	is( $refused,
		$contexts{$name} eq 'user' ? 0 : 1,
		"$name: $contexts{$name}");
}
reset_all();

# Others queue behind the worker for no longer than the server allows.
my $reader = $node->background_psql('app');
my $error_of_move =
  q{SELECT substring(error FROM 'within \d+ ms') FROM _tiered_storage.move WHERE relation_oid = 'read'::regclass AND state <> 'running'};

$node->safe_psql(
	'app', q{
CREATE TABLE read PARTITION OF "Parted" FOR VALUES FROM ('2000-01-01') TO ('2000-02-01');
INSERT INTO read SELECT '2000-01-01' FROM generate_series(1, 1000);
});
$reader->query_safe('BEGIN; SELECT FROM read LIMIT 1');
$node->safe_psql('app',
	q{ALTER DATABASE app SET tiered_storage.move_lock_timeout = '1min'});
reload_with($node, 'tiered_storage.auto_migrate' => 'policies');
$node->poll_query_until('app', $error_of_move, 'within 50 ms')
  or die 'no attempt';
pass('the worker does not wait as the database says');
reload_with($node, 'tiered_storage.move_lock_timeout' => '1s');

# A worker that began before the reload makes one more attempt as before.
$node->poll_query_until(
	'app',
	q{WITH again AS (UPDATE _tiered_storage.move SET next_attempt_at = NULL
		WHERE relation_oid = 'read'::regclass AND state <> 'running' RETURNING error)
	SELECT substring(error FROM 'within \d+ ms') FROM again},
	'within 1000 ms') or die 'no longer attempt';
pass('but as the configuration says');
$reader->quit;
reset_all();

# ---------------------------------------------------------------------
note 'Without preload the first function of a session loads the library';
# ---------------------------------------------------------------------

$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;
set_as_boss([ 'restrict_nonsystem_relation_kind', 'view' ],
	[ 'plpgsql.extra_errors', 'all' ]);
foreach my $call ('discover_tiers()', 'recommend_settings(true)')
{
	cmp_ok(
		$node->safe_psql('app', "SELECT count(*) FROM tiered_storage.$call"),
		'>', 0, $call);
}
$node->stop;
done_testing();

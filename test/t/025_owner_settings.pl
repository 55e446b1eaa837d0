# What the owner of a database, who is no superuser, sets for it: the worker does not
# obey him, where others would pay, and nothing of it stops it.

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
tiered_storage.sample_interval = '1s'
tiered_storage.migrate_interval = '1s'
tiered_storage.debug_lock_attempts = 2
));
$node->start;
create_in_place_tablespace($node, 'slow');
$node->safe_psql('postgres',
	'CREATE ROLE boss LOGIN CREATEDB; CREATE ROLE other; CREATE DATABASE app OWNER boss'
);
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
GRANT CREATE ON TABLESPACE slow TO other;
CREATE TABLE parted (at date) PARTITION BY RANGE (at);
CREATE TABLE parted_old PARTITION OF parted FOR VALUES FROM ('2001-01-01') TO ('2001-02-01');
INSERT INTO parted SELECT '2001-01-01' FROM generate_series(1, 1000);
ALTER TABLE parted OWNER TO other;
ALTER TABLE parted_old OWNER TO other;
SELECT tiered_storage.add_tiering_policy('parted', '1 day', 'slow');
));

# From another database, for which nothing is set; the library is loaded by preload.
sub as_boss
{
	return error_of($node, 'postgres',
		"SET SESSION AUTHORIZATION boss; $_[0]");
}

# ---------------------------------------------------------------------
# What he may set
# ---------------------------------------------------------------------

my %context = map { split /\|/ } split /\n/,
  $node->safe_psql('app',
	"SELECT name, context FROM pg_settings WHERE name LIKE 'tiered\\_storage.%'"
  );
my %allowed = map { ("tiered_storage.$_" => 1) }
  qw(move_lock_timeout observation_period cooldown
  advice_min_size advice_min_share advice_min_saved_time advice_min_saved_price);

foreach my $name (sort keys %context)
{
	my $answer = as_boss("ALTER DATABASE app SET $name TO DEFAULT");
	my $value = $node->safe_psql('app',
		"SELECT quote_literal(boot_val) FROM pg_settings WHERE name = '$name'"
	);

	$answer = as_boss("ALTER DATABASE app SET $name = $value");
	if ($allowed{$name})
	{
		like($answer, qr/^no error/, "$name can be set for a database");
	}
	else
	{
		like($answer, qr/ERROR:  (42501|55P02):/, "$name cannot");
	}
}
is( join(' ', grep { $context{$_} eq 'user' } sort keys %context),
	join(' ', sort keys %allowed),
	'these are those of a session');

# ---------------------------------------------------------------------
# What the worker makes of it
# ---------------------------------------------------------------------

my %settings = (
	'tiered_storage.move_lock_timeout' => '1min',
	'tiered_storage.observation_period' => '0',
	'tiered_storage.cooldown' => '0',
	'tiered_storage.advice_min_size' => '0',
	'tiered_storage.advice_min_share' => '0',
	'tiered_storage.advice_min_saved_time' => '0',
	'tiered_storage.advice_min_saved_price' => '0',
	'role' => 'boss',
	'session_authorization' => 'boss',
	'search_path' => 'nowhere',
	'statement_timeout' => '1ms',
	'lock_timeout' => '1ms',
	'default_transaction_read_only' => 'on',
	'default_transaction_isolation' => 'serializable',
	'standard_conforming_strings' => 'off',
	'array_nulls' => 'off',
	'transform_null_equals' => 'on',
	'row_security' => 'off',
	'quote_all_identifiers' => 'on',
	'TimeZone' => 'Asia/Kolkata',
	'DateStyle' => 'German',
	'IntervalStyle' => 'sql_standard',
	'extra_float_digits' => '-15',
	'bytea_output' => 'escape',
	'work_mem' => '64kB',
	'enable_indexscan' => 'off',
	'default_tablespace' => 'slow',
	'default_table_access_method' => 'heap',
	'client_encoding' => 'LATIN1',
	'jit_above_cost' => '0',
	'plan_cache_mode' => 'force_generic_plan',);

# From 19 on nobody can.
delete $settings{standard_conforming_strings}
  if $node->safe_psql('postgres', 'SHOW server_version_num') >= 190000;

# Under none of these settings.
my $reader = $node->background_psql('app');
$reader->query_safe('BEGIN; SELECT FROM parted_old LIMIT 1');

my @refused;
foreach my $name (sort keys %settings)
{
	my $answer = as_boss("ALTER DATABASE app SET $name = '$settings{$name}'");

	push @refused, $name unless $answer =~ /^no error/;
}
is("@refused", '', 'he may set all of these');
$node->safe_psql('postgres',
	q(LOAD 'plpgsql'; ALTER DATABASE app SET plpgsql.extra_errors = 'all'));
my $offset = -s $node->logfile;
reload_with($node, 'tiered_storage.auto_migrate' => 'policies');


sub ask
{
	my ($sql) = @_;

	# A timeout of the database would begin with the first of these statements.
	local $ENV{PGOPTIONS} = '-c statement_timeout=0 -c lock_timeout=0';
	return $node->safe_psql('app',
		"RESET SESSION AUTHORIZATION; SET ROLE NONE; SET default_transaction_read_only = off; SET search_path = public; $sql"
	);
}

sub wait_until
{
	my ($sql, $what) = @_;
	my $attempts = 10 * $PostgreSQL::Test::Utils::timeout_default;

	while ($attempts-- > 0)
	{
		return 1 if ask($sql) eq 't';
		select undef, undef, undef, 0.1;
	}
	die "never: $what";
}

my $samples = ask('SELECT samples FROM _tiered_storage.sampler');
wait_until("SELECT samples > $samples + 2 FROM _tiered_storage.sampler",
	'samples');
pass('samples go on');
wait_until(
	q(SELECT count(*) > 0 FROM _tiered_storage.move WHERE relation_oid = 'parted_old'::regclass AND state <> 'running'),
	'a move');
is( ask(q(SELECT state, error FROM _tiered_storage.move WHERE relation_oid = 'parted_old'::regclass)
	),
	'skipped|could not lock the relation within 200 ms in 2 attempts',
	'others queue behind the worker for no longer than the server allows');
is( log_lines(
		$node,
		$offset,
		qr/(ERROR|FATAL|WARNING):.*tiered_storage|tiered_storage worker.*exited with exit code [2-9]/
	),
	'',
	'and nothing goes wrong');
is( ask(q(SELECT state, last_error FROM _tiered_storage.worker_status() WHERE database_name = 'app' AND state NOT IN ('starting', 'running'))
	) =~ s/^$/waiting|/r,
	'waiting|',
	'the worker is well');

# The server's own value counts.
reload_with($node, 'tiered_storage.move_lock_timeout' => '1s');
ask(q(UPDATE _tiered_storage.move SET next_attempt_at = NULL));
wait_until(
	q(SELECT error ~ 'within 1000 ms' FROM _tiered_storage.move WHERE relation_oid = 'parted_old'::regclass),
	'a longer attempt');
pass('the value of the configuration counts');
$reader->quit;
done_testing();

# Calls of all routines of the schema, as the catalog lists them, with arguments that
# nobody would pass: by roles from superuser to nobody, inside and outside of
# transaction blocks, under settings of all kinds.
#
#   FUZZ_SEED=n   the same calls again; a failure says which seed it had
#   FUZZ_CALLS=n  how many
#   FUZZ_VERBOSE=1  what each was, and its answer
#
# A call may fail, with an error that is meant for its caller.  It may not end the
# server, take long, fail with an internal error, or with one of a query of ours that
# the caller never wrote.  Who may change nothing has changed nothing, and afterwards
# everything still works.
#
# Made up in the tables, since no call makes it in the time of a test: what a standby
# has told; rows as a dump or another machine has left them.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use Digest::MD5 'md5_hex';
use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

# The same calls each time, unless somebody looks for more.
my $seed = $ENV{FUZZ_SEED} // 5;
my $calls = $ENV{FUZZ_CALLS} // 1500;
my @roles = qw(postgres fuzz_admin fuzz_owner fuzz_monitor fuzz_nobody);

# Of the calls, in percent.  A nobody gets no further than the check of his rights.
my %share = (
	postgres => 40,
	fuzz_admin => 20,
	fuzz_owner => 15,
	fuzz_monitor => 20,
	fuzz_nobody => 5);
my $rounds = 4;

srand($seed);

sub pick   { return $_[ int rand @_ ]; }
sub chance { return rand() < $_[0]; }

sub literal
{
	my ($string) = @_;

	$string =~ s/'/''/g;
	return "'$string'";
}

# ---------------------------------------------------------------------
# The world that is called upon
# ---------------------------------------------------------------------

my $node = new_node(
	'main',
	conf => q(
tiered_storage.sample_interval = '1d'
tiered_storage.migrate_interval = '1d'
tiered_storage.auto_migrate = off
tiered_storage.move_lock_timeout = '100ms'
tiered_storage.debug_lock_attempts = 2
log_line_prefix = '%m [%p] %e '
max_prepared_transactions = 2
temp_file_limit = '200MB'
fsync = off
));
$node->start;

# What a dead server says would be said of every call that follows.
my $log_start = -s $node->logfile;

create_in_place_tablespace($node, qw(fast slow archive gone), 'a""b');
$node->safe_psql('postgres', 'CREATE DATABASE app');
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
CREATE ROLE fuzz_admin LOGIN;
CREATE ROLE fuzz_owner LOGIN;
CREATE ROLE fuzz_monitor LOGIN IN ROLE pg_monitor;
CREATE ROLE fuzz_nobody LOGIN;

-- As docs/guide/operations.md has it.
GRANT USAGE ON SCHEMA tiered_storage TO fuzz_admin;
GRANT EXECUTE ON FUNCTION tiered_storage.discover_tiers, tiered_storage.add_tier, tiered_storage.alter_tier,
	tiered_storage.remove_tier, tiered_storage.calibrate_tier, tiered_storage.add_tiering_policy,
	tiered_storage.remove_policy, tiered_storage.pin, tiered_storage.unpin,
	tiered_storage.pause, tiered_storage.resume TO fuzz_admin;
GRANT EXECUTE ON PROCEDURE tiered_storage.sample, tiered_storage.migrate, tiered_storage.apply_placement,
	tiered_storage.undo_move, tiered_storage.move_relation TO fuzz_admin;
GRANT CREATE ON TABLESPACE fast, slow TO fuzz_admin;
GRANT pg_monitor TO fuzz_admin;
GRANT USAGE ON SCHEMA tiered_storage TO fuzz_owner;
GRANT EXECUTE ON PROCEDURE tiered_storage.move_relation TO fuzz_owner;
GRANT EXECUTE ON FUNCTION tiered_storage.add_tiering_policy, tiered_storage.remove_policy TO fuzz_owner;
GRANT EXECUTE ON FUNCTION tiered_storage.pin, tiered_storage.unpin TO fuzz_owner;
GRANT CREATE ON TABLESPACE slow TO fuzz_owner;

-- More than nothing, so that it is the routines that refuse him.
GRANT USAGE ON SCHEMA tiered_storage, _tiered_storage TO fuzz_nobody;
GRANT CREATE ON TABLESPACE fast, slow TO fuzz_nobody;

CREATE SCHEMA f;
GRANT ALL ON SCHEMA f TO PUBLIC;
SET search_path = f;
CREATE TABLE others (id int PRIMARY KEY, at timestamptz, pad text) TABLESPACE fast;
CREATE TABLE parted_others (at timestamptz, id int) PARTITION BY RANGE (at);
CREATE TABLE parted_others_1 PARTITION OF parted_others FOR VALUES FROM ('2001-01-01') TO ('2002-01-01');
SET ROLE fuzz_owner;
CREATE TABLE t (id int PRIMARY KEY, at timestamptz, pad text, value text);
INSERT INTO t SELECT i, '2001-01-01'::timestamptz + i * interval '1 day', md5(i::text), repeat(md5(i::text), 100)
	FROM generate_series(1, 1000) i;
CREATE INDEX t_at ON t (at);
CREATE TABLE parted (at timestamptz, id int) PARTITION BY RANGE (at);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM ('2001-01-01') TO ('2002-01-01');
CREATE TABLE parted_default PARTITION OF parted DEFAULT;
CREATE TABLE by_number (id bigint, pad text) PARTITION BY RANGE (id);
CREATE TABLE by_number_1 PARTITION OF by_number FOR VALUES FROM (MINVALUE) TO (1000000000);
CREATE TABLE by_number_2 PARTITION OF by_number FOR VALUES FROM (1000000000) TO (9223372036854775807);
CREATE TABLE by_list (id text) PARTITION BY LIST (id);
CREATE TABLE by_list_1 PARTITION OF by_list FOR VALUES IN ('a', NULL);
CREATE TABLE by_far (at timestamp) PARTITION BY RANGE (at);
CREATE TABLE by_far_1 PARTITION OF by_far FOR VALUES FROM ('-infinity') TO ('4713-01-01 BC');
CREATE TABLE by_far_2 PARTITION OF by_far FOR VALUES FROM ('4713-01-01 BC') TO ('infinity');
CREATE INDEX parted_at ON parted (at);
CREATE UNLOGGED TABLE unlogged (id int PRIMARY KEY);
CREATE MATERIALIZED VIEW mv AS SELECT * FROM t;
CREATE VIEW v AS SELECT * FROM t;
CREATE SEQUENCE s;
CREATE TYPE composite AS (a int);
CREATE TABLE "1test" (id int PRIMARY KEY);
CREATE TABLE "a""b" (id int, "c""*/d" timestamptz);
CREATE TABLE "a*/b'; DROP TABLE x" (id int, "*/" date);
CREATE TABLE "line
break" (id int);
CREATE TABLE "Ünïcödé 表" (id int);
CREATE TABLE dropped (id int);
RESET ROLE;
ANALYZE;
));
if ($node->safe_psql(
		'app',
		"SELECT count(*) FROM pg_available_extensions WHERE name = 'file_fdw'"
	))
{
	$node->safe_psql(
		'app', q(
CREATE EXTENSION file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE f.foreign_t (line text) SERVER files OPTIONS (filename '/dev/null');
));
}

# A temporary table of another session.
my $other_session = start_sql(
	$node, 'app',
	'CREATE TEMPORARY TABLE not_ours (id int)',
	'SELECT pg_sleep(86400)');
$node->poll_query_until('app',
	"SELECT count(*) = 1 FROM pg_class WHERE relname = 'not_ours'")
  or die 'the other session does not come';

my @relations = split /\n/, $node->safe_psql(
	'app', q(
SELECT oid FROM pg_class WHERE relnamespace = 'f'::regnamespace OR relname = 'not_ours'
UNION SELECT reltoastrelid FROM pg_class WHERE relname IN ('t', 'others')
UNION SELECT indexrelid FROM pg_index WHERE indrelid = (SELECT reltoastrelid FROM pg_class WHERE relname = 't')
UNION SELECT unnest(ARRAY['pg_class', 'pg_authid', 'pg_class_oid_index', 'pg_stat_activity',
	'information_schema.tables', '_tiered_storage.tier', '_tiered_storage.move']::regclass[])
ORDER BY 1));
my $plain = $node->safe_psql('app',
	"SELECT string_agg(oid::text, ',' ORDER BY oid) FROM pg_class WHERE relnamespace = 'f'::regnamespace AND relname ~ '^(t|t_at|t_pkey|mv|parted|parted_1|by_number|by_far|by_far_1|by_list)\$'"
);
my @plain = split /,/, $plain;
my @missing = (
	0, 1,
	4294967295,
	2147483648,
	$node->safe_psql('app', "SELECT 'f.dropped'::regclass::oid"),
	$node->safe_psql(
		'app', "SELECT oid FROM pg_namespace WHERE nspname = 'f'"));
my @tablespaces = split /\n/,
  $node->safe_psql('app', 'SELECT oid FROM pg_tablespace ORDER BY 1');
$node->safe_psql(
	'app', q(
DROP TABLE f.dropped;
DROP TABLESPACE gone;
));

# Tiers, after what superusers have done to them.
sub repair
{
	$node->safe_psql(
		'app', q(
SELECT tiered_storage.resume();
SET client_min_messages = error;
DO $$
BEGIN
	PERFORM tiered_storage.remove_policy(policy_id => p.policy_id) FROM _tiered_storage.policies p;
	DELETE FROM _tiered_storage.pin;
	DELETE FROM _tiered_storage.fullness_policy;
	DELETE FROM _tiered_storage.standby;
	PERFORM tiered_storage.remove_tier(t.tier_name) FROM _tiered_storage.tiers t;
	PERFORM tiered_storage.add_tier('quick', '{fast}', profile => 'nvme', rank => 0, reserve_fraction => 0);
	PERFORM tiered_storage.add_tier('cheap', '{slow,pg_default}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, price_per_gb_month => 0.01);
END $$;
CALL tiered_storage.sample();
));
	return;
}

# ---------------------------------------------------------------------
# Arguments
# ---------------------------------------------------------------------

my @hostile = (
	'', ' ',
	'default', 'quick',
	'cheap', 'fast',
	'slow', 'pg_default',
	'pg_global', 'gone',
	'a"b', "a'b",
	'a*/b', "line\nbreak",
	'1test', 'Ünïcödé 表',
	'%s%n%I', '$1',
	'\\', 'pg_temp',
	'{}', '{"a',
	'now', 'NaN',
	'1e400', '-1',
	"'; DROP TABLE f.t; --", 'x' x 63,
	'x' x 64, 'é' x 40,
	'f', 'public',
	'_tiered_storage', 'information_schema');

# No compression makes it fit into an index.
my $long = join '', map { md5_hex($_) } 1 .. 3125;
my @texts = (
	@hostile, $long,
	'(', '[[:',
	"\x01", 'time',
	'price', 'balance',
	'firm', 'none',
	'nvme', 'hdd_7200',
	'UTC', 'Europe/Berlin',
	'+99', 'second',
	'milliseconds', 'upper_bound',
	'host=/nonexistent', 'port=1 dbname=app',
	'select pg_sleep(0)', '2001-01-01',
	'294277-01-01', '1e308');
my @integers = (0, 1, -1, 2, 21, 1000, 100001, 2147483647, -2147483648);
my @bigints =
  (@integers, 1073741824, '9223372036854775807', '-9223372036854775808');
my @floats = (
	0, -0.5,
	1, 0.5,
	100, '-0',
	'NaN', 'Infinity',
	'-Infinity', '1e308',
	'-1e308', '1e-308',
	'4.9e-324', '2147483648',
	'9223372036854775807', '1e19');
my @numerics = (@floats, '1e400', '-1e400', '1e-400', '1' . '0' x 1000);
my @intervals = (
	'0',
	'1 second',
	'30 days',
	'-1 day',
	'-1000000 years',
	'1000000 years',
	'178000000 years',
	'1 month -30 days',
	'2147483647 days',
	'-2147483648 months',
	'0.000001 s',
	'1 year 1 month 1 day 1 hour');
my @times = ('00:00', '24:00', '23:59:59.999999', '12:30', '01:00', '02:30');
my @instants = (
	'now',
	'2001-06-01 UTC',
	'1970-01-01 UTC',
	'2100-01-01 UTC',
	'infinity',
	'-infinity',
	'4714-11-24 00:00 BC UTC',
	'294276-12-31 23:59:59.999999 UTC',
	'epoch');
my @dates = (
	'today', '2001-06-01', 'infinity', '-infinity',
	'4713-01-01 BC', '5874897-12-31');
# Amounts by interval, 16 floats of 4 bytes each, and what is none.
my @bytes = map { "\\x$_" } '', '00', '00' x 64, 'ff' x 64,
  '00007f7f' x 16, '0000803f' . '00' x 60, '01000000' x 16, '0000c07f' x 16;
my @jsons = (
	'{}',
	'[]',
	'null',
	'1',
	'"x"',
	'true',
	'{"": {}}',
	'[[[[[]]]]]',
	'{"tiers": null}',
	'{"tiers": {"quick": {"rank": 1e400}}}',
	'{"quick": {"price_per_gb_month": 1e400}}',
	'{"quick": {"random_read_ms": 0}}',
	'{"quick": {"random_read_ms": -1}}',
	'{"quick": {"random_read_ms": 1e308, "random_write_ms": 1e-308}}',
	'{"quick": {"random_read_ms": "NaN"}}',
	'{"quick": {"capacity_bytes": 9223372036854775808}}',
	'{"quick": {"capacity_bytes": -1}}',
	'{"quick": {"capacity_bytes": 0}}',
	'{"quick": {"reserve_fraction": 2, "parallelism": 0}}',
	'{"quick": {"rank": 2147483648}}',
	'{"quick": {"rank": 1.5}}',
	'{"quick": {"compressed": "maybe"}}',
	'{"quick": []}',
	'{"quick": null}',
	'{"missing": {"rank": 1}}',
	'{"relations": {"f.t": "cheap"}}',
	'{"f.t": "cheap"}',
	'{"f.t": null}',
	'{"f.t": {"reads": 1e400}}',
	'{"f.missing": "cheap", "4294967295": "quick", "pg_class": "quick"}',
	'{"f.\"a\"\"b\"": "quick"}',
	'{"random_read_ms": [1, 2]}',
	'{"a": 1e-400, "b": -1e400}',
	'{"a": ' . '[' x 500 . ']' x 500 . '}',
	'{"tiers": [{"name": "quick"}], "relations": 3}');

# What is written to a host and how long it takes is kept small.
my %small = (
	max_bytes => [
		map { "$_\::bigint" } 'NULL',
		0, '(-1)', 1, 8192, 65536, 1048576, "'-9223372036854775808'"
	],
	max_seconds => [
		map { "$_\::float8" } 'NULL',
		0, '(-1)', 0.01, 0.05, "'NaN'", "'-Infinity'", "'1e-308'"
	]);

# What somebody might pass, so that a call gets further than to its first argument.
my %sound = (
	'name' => [qw(quick cheap fast slow)],
	'text' => [ 'time', 'now', 'firm', 'second', 'UTC', '2001-01-01', '1' ],
	'integer' => [ 1, 2, 21, 100 ],
	'bigint' => [ 1, 1000000, 1073741824 ],
	'double precision' => [ 0.1, 1, 100 ],
	'numeric' => [ 0.01, 1 ],
	'timestamp with time zone' => [ '2001-06-01 UTC', '2100-01-01 UTC' ],
	'date' => ['2001-06-01'],
	'jsonb' => [
		'{}',
		'{"quick": {"random_read_ms": 1}}',
		'{"f.t": "cheap"}',
		'{"quick": {"add_gb": 100}}',
		'{"cheap": {"profile": "nvme"}, "quick": {"remove": true}}'
	],
	'boolean' => [ 'true', 'false' ],
	'interval' => [ '1 second', '30 days' ],
	'regclass' => \@plain,
	'oid' => [ @plain, @tablespaces ]);

my %sound_by_name = (
	'add_tier.name' => [qw(new newer)],
	'add_tier.tablespaces' => [qw(archive)],
	'alter_tier.new_name' => [qw(new newer)],
	'add_standby.name' => [qw(new newer)],
	'tablespaces' => [qw(fast slow archive pg_default)],
	'profile' => [qw(nvme hdd_7200)],
	'schemas' => [qw(f)],
	'conninfo' => ['host=/nonexistent'],
	'statement' => ['SELECT 1'],
	'query' => [ 'SELECT count(*) FROM f.t', 'DELETE FROM f.others' ],
	'objective' => [qw(time money)],
	'key_unit' => [qw(seconds milliseconds)],
	'rank' => [ 0, 1, 5 ],
	'reserve_fraction' => [ 0, 0.1 ],
	'from1' => ['2001-06-01 UTC'],
	'from_at' => ['2001-06-01 UTC'],
	'from2' => ['2001-06-01 UTC'],
	'add_tiering_policy.tier' => [qw(cheap quick)],
	'apply_placement.tiers' => [qw(cheap quick)],
	'move_relation.target' => [qw(cheap quick fast slow)],
	'confidence' => [qw(firm tentative)],
	'to1' => ['now'],
	'to2' => ['now'],
	'to_at' => ['now'],
	'column_type' => [ 20, 1184 ],
	'batch_id' => [ 1, 2 ],
	'highest' => [ '2001-12-01', '99' ],
	'lowest' => [ '2001-01-01', '1' ]);

my %types;

sub value
{
	my ($type, @sound) = @_;

	if (@sound)
	{
		my ($list) = grep { defined } @sound_by_name{@sound};

		return "ARRAY[" . literal(pick(@$list)) . "]::$type"
		  if $list && $type =~ /\[\]$/;
		return literal(pick(@$list)) . "::$type" if $list;
		return literal(pick(@{ $sound{$type} })) . "::$type" if $sound{$type};
		return "ARRAY[" . value($1, 1) . "]::$type" if $type =~ /^(.*)\[\]$/;
	}
	return "NULL::$type" if chance(0.08);
	if ($type =~ /^(.*)\[\]$/)
	{
		my $element = $1;
		my $length = pick(0, 1, 1, 1, 2, 3, 3, 1000);
		my $list = join ', ', map { value($element) } 1 .. $length;

		# As a thousand different literals it would be all that is parsed.
		return "array_fill(" . value($element) . ", ARRAY[1000])"
		  if $length == 1000;
		return "ARRAY[ARRAY[$list], ARRAY[$list]]::$type"
		  if $length && chance(0.1);
		return
			"array_fill("
		  . value($element)
		  . ", ARRAY[2], ARRAY[-2147483648])"
		  if chance(0.05);
		return "ARRAY[$list]::$type";
	}
	return literal(pick(@plain, @plain, @plain, @relations, @missing))
	  . '::regclass'
	  if $type eq 'regclass';
	return pick(@relations, @missing, @tablespaces, 23, 1184, 1082, 20)
	  . '::oid'
	  if $type eq 'oid';
	return literal(pick(qw(quick cheap fast slow), @hostile)) . '::name'
	  if $type eq 'name';
	my %lists = (
		'text' => \@texts,
		'integer' => \@integers,
		'bigint' => \@bigints,
		'double precision' => \@floats,
		'numeric' => \@numerics,
		'timestamp with time zone' => \@instants,
		'time without time zone' => \@times,
		'date' => \@dates,
		'jsonb' => \@jsons,
		'bytea' => \@bytes,
		'boolean' => [ 'true', 'false' ],
		'"char"' => [qw(r m i p t x)],
		'interval' => \@intervals);
	return literal(pick(@{ $lists{$type} })) . "::$type" if $lists{$type};

	# A row: one that is there, or one of our own.
	if ($types{$type})
	{
		return "(SELECT r FROM $type r LIMIT 1)" if chance(0.3);
		return
			'ROW('
		  . join(', ', map { value($_) } @{ $types{$type} })
		  . ")::$type";
	}
	die
	  "no values for arguments of type $type: add them to test/t/026_fuzz_calls.pl";
}

# Each routine: its name, kind, whether it is for our own use, and its arguments, each
# with its name, type, and whether it may be left out.
my @routines;
foreach my $line (
	split /\n/,
	$node->safe_psql(
		'app', q(
SELECT p.proname, p.prokind, p.prorettype::regtype, p.pronamespace::regnamespace,
	p.pronargs - p.pronargdefaults,
	(SELECT string_agg(a.name || '=' || format_type(a.type, NULL), ',' ORDER BY a.n)
		FROM unnest(COALESCE(p.proallargtypes, p.proargtypes::oid[]), p.proargnames, p.proargmodes)
			WITH ORDINALITY a(type, name, mode, n) WHERE COALESCE(a.mode, 'i') = 'i')
FROM pg_proc p WHERE p.pronamespace IN ('tiered_storage'::regnamespace, '_tiered_storage'::regnamespace)
ORDER BY p.proname, p.oid)))
{
	my ($name, $kind, $result, $schema, $needed, $arguments) = split /\|/,
	  $line, -1;
	my @arguments;

	foreach my $argument (split /,/, $arguments)
	{
		my ($argument_name, $type) = split /=/, $argument;
		push @arguments,
		  {
			name => $argument_name,
			type => $type,
			optional => @arguments >= $needed
		  };
	}
	push @routines,
	  {
		name => $name,
		kind => $kind,
		schema => $schema,
		internal => $schema eq '_tiered_storage',
		arguments => \@arguments
	  };
}
foreach my $line (
	split /\n/,
	$node->safe_psql(
		'app', q(
SELECT c.oid::regclass, string_agg(format_type(a.atttypid, a.atttypmod), ',' ORDER BY a.attnum)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE EXISTS (SELECT FROM pg_proc p, unnest(p.proargtypes) t WHERE p.pronamespace::regnamespace::text ~ '^_?tiered_storage$'
	AND t IN (c.reltype, (SELECT typarray FROM pg_type WHERE oid = c.reltype))) GROUP BY c.oid)
	))
{
	my ($type, $columns) = split /\|/, $line;
	$types{$type} = [ split /,/, $columns ];
}

sub call_of
{
	my ($routine) = @_;
	my $unsound = pick(0, 0.2, 0.2, 0.5, 1);
	my @given;

	foreach my $argument (@{ $routine->{arguments} })
	{
		next if $argument->{optional} && chance(0.65);
		my $small =
		  $routine->{name} =~
		  /^(calibrate_tier|measure_device|calibrate_wal|measure_wal_sync)$/
		  ? $small{ $argument->{name} }
		  : undef;
		push @given,
		  "$argument->{name} => "
		  . (
			  $small           ? pick(@$small)
			: chance($unsound) ? value($argument->{type})
			: value(
				$argument->{type}, "$routine->{name}.$argument->{name}",
				$argument->{name}));
	}

	# The sizes are never left to their defaults.
	if ($routine->{name} =~ /^calibrate_(tier|wal)$/)
	{
		foreach my $name (sort keys %small)
		{
			push @given, "$name => " . pick(@{ $small{$name} })
			  unless grep { /^$name => / } @given;
		}
	}
	my $call =
	  "$routine->{schema}.$routine->{name}(" . join(', ', @given) . ')';
	return $routine->{kind} eq 'p' ? "CALL $call" : "SELECT * FROM $call";
}

# ---------------------------------------------------------------------
# Calls
# ---------------------------------------------------------------------

my @settings = (
	'search_path = f, pg_catalog',
	"search_path = ''",
	'lock_timeout = 1',
	"lock_timeout = '10s'",
	'default_transaction_isolation = serializable',
	"default_transaction_isolation = 'repeatable read'",
	'default_transaction_read_only = on',
	'default_transaction_deferrable = on',
	'idle_in_transaction_session_timeout = 1000',
	'extra_float_digits = -15',
	'datestyle = German',
	'intervalstyle = iso_8601',
	"timezone = 'Pacific/Kiritimati'",
	"default_tablespace = 'a\"b'",
	'default_table_access_method = heap',
	'jit_above_cost = 0',
	'enable_seqscan = off',
	'force_parallel_mode = on',
	'work_mem = 64',
	'quote_all_identifiers = on',
	'row_security = off',
	'transform_null_equals = on',
	'array_nulls = off',
	"lc_numeric = 'C'",
	'plan_cache_mode = force_generic_plan',
	'tiered_storage.move_rate_limit = 1',
	'tiered_storage.move_lock_timeout = 1',
	'tiered_storage.track_access = off');

# What the library raises itself speaks of arguments of the caller.
my $our_files = '('
  . join('|',
	map { quotemeta(basename($_)) }
	  glob dirname(__FILE__) . '/../../src/*/*.c')
  . ')';

# What an error says of us.  Hard ones are never right.  Soft ones are right in what
# they refuse, but speak of a query of ours that the caller does not know.
sub judge
{
	my ($routine, $error) = @_;
	my ($state) = $error =~ /ERROR:  ([0-9A-Z]{5}):/ or return '';

	return 'internal error' if $state =~ /^XX/;
	return 'internal error'
	  if $error =~ /cache lookup failed|could not open relation with OID/;
	return '' if $error =~ /did not answer in time/;    # as was asked
	return 'took too long' if $state eq '57014';
	return 'out of resources' if $state =~ /^(53|54)/;

	# What a node is asked, and what is explained, is the caller's query.
	return 'the system' if $state =~ /^(58|57P|08)/;
	return 'a query that is wrong'
	  if $state =~ /^(42601|42703|42702|42883|42725|42804|42846|42P13|42P18)$/
	  && $routine->{name} !~
	  /^(answer_within|explain_tiers|plan_reads|priced_plan)$/
	  && $error =~ /^(QUERY|CONTEXT):/m;
	return 'a leak'
	  if !$routine->{internal}
	  && $error =~ /^CONTEXT:/m
	  && $error !~ /^CONTEXT:  PL.pgSQL function [^\n]* at RAISE$/m
	  && $state =~ /^(21|22|23)/
	  && $error !~ /^LOCATION:.*\b$our_files:/m;
	return '';
}

my (%seen, @wrong, @nobody, %succeeded);

# Calls of one role, one after the other in one session.
sub run_calls
{
	my ($role, $number) = @_;
	my $script =
		"\\set VERBOSITY verbose\n\\o /dev/null\n"
	  . "SET client_min_messages = error;\n"
	  . "SET statement_timeout = '20s';\n";
	my @calls;
	my %may = map { $_ => 1 } split /\n/,
	  $node->safe_psql('app',
		"SELECT proname FROM pg_proc WHERE pronamespace IN ('tiered_storage'::regnamespace, '_tiered_storage'::regnamespace) AND has_function_privilege('$role', oid, 'EXECUTE')"
	  );
	my $allowed = [ grep { $may{ $_->{name} } } @routines ];

	$allowed = \@routines unless @$allowed;
	$script .= "CREATE TEMPORARY TABLE ours (id int);\n";
	$script .= 'SET ' . pick(@settings) . ";\n" foreach 1 .. int rand 3;
	foreach my $i (0 .. $number - 1)
	{
		my $routine = pick(chance(0.9) ? @$allowed : @routines);
		my $call = call_of($routine);
		my $kind = pick(
			'', '', '', 'BEGIN',
			'BEGIN ISOLATION LEVEL SERIALIZABLE',
			'BEGIN READ ONLY');

		# A superuser's calls of the fewer routines for our own use find little.
		redo if $routine->{internal} && chance(0.5);
		push @calls, { routine => $routine, sql => $call, kind => $kind };
		$script .= "$kind;\n" if $kind;
		$script .= "\\warn \@begin $i\n$call;\n\\warn \@end $i :SQLSTATE\n";
		$script .= pick('COMMIT', 'ROLLBACK') . ";\n" if $kind;
		$script .= "SELECT tiered_storage.resume();\n"
		  if $routine->{name} eq 'pause';
	}

	my ($out, $err) = ('', '');
	my @command = (
		$node->installed_command('psql'),
		'-XAtq', '-d', $node->connstr('app') . " user=$role",
		'-f', '-');
	my $ended = eval {
		IPC::Run::run(\@command, '<', \$script, '>', \$out, '2>', \$err,
			IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
		1;
	};
	my $hung = $ended ? '' : $@;

	foreach my $i (0 .. $#calls)
	{
		my $call = $calls[$i];
		my $shown =
			"$role"
		  . ($call->{kind} ? ", $call->{kind}" : '')
		  . ": $call->{sql}";
		$shown = substr($shown, 0, 1500) . '...' if length $shown > 1500;

		if ($err !~ /^\@begin $i\n(.*?)^\@end $i (\w{5})$/ms)
		{
			push @wrong,
			  "$shown\n  has not ended: $hung\n"
			  . substr($err, length($err) > 1000 ? -1000 : 0);
			last;
		}
		my ($error, $state) = ($1, $2);
		$seen{$state}++;
		$succeeded{ $call->{routine}{name} }++ if $state eq '00000';
		push @nobody, $shown
		  if $role eq 'fuzz_nobody'
		  && $state eq '00000'

		  # The planner makes a null of it, and never calls it.
		  && $shown !~ /\(.*NULL::/;
		note "$shown\n  $state $error" if $ENV{FUZZ_VERBOSE};
		my $verdict = judge($call->{routine}, $error);
		$error =~ s/^(.{1500}).*/$1/s;
		push @wrong, "$shown\n  $verdict: $error" if $verdict;
	}
	return;
}

# What roles without such rights must leave as it is.
sub state_of_others
{
	my ($role) = @_;
	my $mine = $role eq 'fuzz_owner' ? $role : 'none of them';

	return $node->safe_psql(
		'app', qq(
SELECT string_agg(c.oid::text || ' ' || c.reltablespace || ' ' || pg_relation_filenode(c.oid), ';' ORDER BY c.oid)
	FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
	WHERE c.relpersistence <> 't' AND r.rolname <> '$mine';
SELECT t FROM _tiered_storage.tier t ORDER BY t::text;
SELECT t FROM _tiered_storage.tier_tablespace t ORDER BY t::text;
SELECT t FROM _tiered_storage.tier_calibration t ORDER BY t::text;
SELECT t FROM _tiered_storage.standby t ORDER BY t::text;
SELECT _tiered_storage.is_paused();
)
	  )
	  . (
		$role eq 'fuzz_owner' ? '' : $node->safe_psql(
			'app', q(
SELECT t FROM _tiered_storage.policy t ORDER BY t::text;
SELECT t FROM _tiered_storage.pin t ORDER BY t::text;
SELECT t FROM _tiered_storage.move t ORDER BY t::text;
)));
}

$node->poll_query_until('app',
	"SELECT state = 'waiting' FROM _tiered_storage.worker_status() WHERE database_name = 'app'"
) or die 'the worker does not come';

# What it has found.
repair();
foreach my $argument (
	"device => '{\"random_read_ms\": 4.9e-324}'",
	"device => '{\"sequential_read_mb_per_s\": 1e308}'",
	"device => '{\"endurance_tbw\": 1e300}'",
	"price_per_gb_month => 1e400",
	"device => '{\"compressed\": true, \"compression_ratio\": 1e308}'")
{
	like(
		error_of(
			$node, 'app',
			"SELECT tiered_storage.alter_tier('cheap', $argument)"),
		qr/ERROR:  22023:/,
		"no tier has $argument");
}
$node->safe_psql(
	'app', q(
CREATE TABLE f.ancient (at timestamp) PARTITION BY RANGE (at);
CREATE TABLE f.ancient_1 PARTITION OF f.ancient FOR VALUES FROM ('-infinity') TO ('4713-01-01 BC') TABLESPACE fast;
INSERT INTO f.ancient VALUES ('4714-12-10 BC');
SELECT tiered_storage.add_tiering_policy('f.ancient', '6700 years', 'cheap');
));
is( $node->safe_psql(
		'app',
		q(SET tiered_storage.test_now = '1970-01-01'; SELECT relation, verdict FROM _tiered_storage.evaluate_policies())
	),
	'f.ancient_1|too young',
	'an age that reaches to before the calendar began');

like(
	error_of(
		$node,
		'app',
		"SELECT set_config(name, 'on', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query'); SELECT * FROM tiered_storage.orphaned_files()"
	),
	qr/^no error:/,
	'no parallel plan asks for files that nobody uses');

my $rows = fingerprint($node, 'app', 'f.t');
note "seed $seed, $calls calls of " . @routines . ' routines';
foreach my $round (1 .. $rounds)
{
	foreach my $role (@roles)
	{
		my $number = int($calls * $share{$role} / 100 / $rounds) || 1;

		repair() if $role eq 'postgres' || $role eq 'fuzz_admin';
		my $before = state_of_others($role);
		run_calls($role, $number);

		# A server that is gone answers no more questions.
		die join "\n", "FUZZ_SEED=$seed FUZZ_CALLS=$calls", @wrong,
		  log_lines($node, $log_start,
			qr/PANIC:|TRAP:|was terminated by signal/)
		  if @wrong && $wrong[-1] =~ /has not ended/;
		is(state_of_others($role), $before,
			"round $round: $role has changed nothing that he may not")
		  if $role =~ /owner|monitor|nobody/;
	}
}

is(scalar @nobody, 0, 'no call of a nobody succeeds')
  or diag join "\n", @nobody;
is(scalar @wrong, 0, 'no call has gone wrong')
  or diag join "\n", "FUZZ_SEED=$seed FUZZ_CALLS=$calls", @wrong;
note join ', ', map { "$_: $seen{$_}" } sort keys %seen;
note 'never succeeded: ' . join ', ',
  grep { !$succeeded{$_} } map { $_->{name} } @routines;

# ---------------------------------------------------------------------
# Afterwards
# ---------------------------------------------------------------------

is( log_lines(
		$node,
		$log_start,
		qr/PANIC:|TRAP:|was terminated by signal|\] XX\w{3} |cache lookup failed/
	),
	'',
	'the log tells of nothing internal'
) or diag "FUZZ_SEED=$seed FUZZ_CALLS=$calls";

repair();
foreach my $sql (
	'CALL tiered_storage.sample()',
	'SELECT * FROM tiered_storage.recommend_placement(true)',
	'SELECT * FROM _tiered_storage.placement_summary()',
	'CALL tiered_storage.migrate()',
	"CALL tiered_storage.move_relation('f.t', 'quick')",
	# Those of nodes need Citus.
	split /\n/,
	$node->safe_psql(
		'app', q(
SELECT 'SELECT * FROM ' || oid::regclass FROM pg_class
WHERE relnamespace IN ('tiered_storage'::regnamespace, '_tiered_storage'::regnamespace) AND relkind = 'v' AND relname !~ '^node_' ORDER BY 1)
	))
{
	is(($node->psql('app', $sql))[0], 0, "afterwards: $sql");
}
is(fingerprint($node, 'app', 'f.t'), $rows,
	'afterwards: the rows of a table');
reload_with(
	$node,
	'tiered_storage.auto_migrate' => 'policies',
	'tiered_storage.sample_interval' => '1s',
	'tiered_storage.migrate_interval' => '1s');
wait_for_cycle($node, 'app');
pass('afterwards: a cycle of the worker');

$node->safe_psql('app',
	"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(86400)' AND pid <> pg_backend_pid()"
);
$other_session->{handle}->finish;
$node->stop;
done_testing();

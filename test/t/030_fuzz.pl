# Made-up options of the advice, and made-up partition bounds: whatever they are, the
# answer is a result or an error of the caller's, and the server lives.
#
# FUZZ_SEED and FUZZ_ROUNDS choose others, and more.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

my $seed = $ENV{FUZZ_SEED} || 1;
my $rounds = $ENV{FUZZ_ROUNDS} || 300;
srand($seed);
diag("FUZZ_SEED=$seed FUZZ_ROUNDS=$rounds");

my $node = new_node(
	'main',
	conf => q(
tiered_storage.sample_interval = '1h'
tiered_storage.auto_migrate = off
log_statement = all
));
$node->start;
create_in_place_tablespace($node, qw(fast slow));
$node->safe_psql('postgres', 'CREATE DATABASE app');
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', rank => 0);
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', rank => 1);
CREATE TABLE thing (x int) TABLESPACE fast;
INSERT INTO thing SELECT generate_series(1, 1000);
CALL tiered_storage.sample();
));

sub one_of
{
	return $_[ int(rand(scalar @_)) ];
}

sub quoted
{
	my ($text) = @_;
	$text =~ s/'/''/g;
	return "'$text'";
}

# What statements say: how many gave no error, and the SQLSTATEs of the others.
sub run_statements
{
	my @statements = @_;
	my ($out, $err) = ('', '');
	my %states;

	$node->psql(
		'app', join("\n", @statements) . "\n",
		stdout => \$out,
		stderr => \$err,
		on_error_stop => 0,
		extra_params => [ '-v', 'VERBOSITY=sqlstate', '-o', '/dev/null' ],
		timeout => 4 * $PostgreSQL::Test::Utils::timeout_default);
	$states{$1}++ while $err =~ /ERROR:\s+([0-9A-Z]{5})/g;
	note(join ', ', map { "$_: $states{$_}" } sort keys %states);
	return (\%states, $err);
}

# Errors that say something about the program, not about what it was given.
sub bad_states
{
	my ($states) = @_;
	return join ' ', grep { /^(XX|58|57P|53)/ } sort keys %$states;
}

######################################################################
# Options
######################################################################

my @words = (
	qw(fast slow thing capacity_bytes reserve_fraction price_per_gb_month
	  random_read_ms random_write_ms sequential_read_mb_per_s
	  sequential_write_mb_per_s parallelism compression_ratio FAST),
	'', ' ', '"', '\\u0000', '\\ud800', "\xc3\xa4", "it's", 'x' x 100);
my @numbers = (
	qw(0 -0 1 -1 0.5 1e400 -1e400 1e308 1e-400 9.2e18 9223372036854775807
	  9223372036854775808 2147483647 -2147483648 NaN),
	'9' x 500,
	'0.' . '0' x 400 . '1');

sub document
{
	my ($depth) = @_;
	my $kind = rand;

	return one_of(@numbers) if $kind < 0.35;
	return one_of(qw(true false null)) if $kind < 0.45 || $depth <= 0;
	return '"' . one_of(@words) . '"' if $kind < 0.55;
	return
	  '['
	  . join(',', map { document($depth - 1) } 1 .. int(rand 4)) . ']'
	  if $kind < 0.65;
	return '{'
	  . join(',',
		map { '"' . one_of(@words) . '": ' . document($depth - 1) }
		  1 .. int(rand 5))
	  . '}';
}

# More often than not nearly what is wanted.
sub overrides
{
	return document(3) if rand() < 0.3;
	return '{' . join(
		',',
		map {
			'"' . one_of(qw(fast slow fast nosuch)) . '": {' . join(
				',',
				map {
						'"'
					  . one_of(@words[ 3 .. 11 ]) . '": '
					  . one_of(@numbers)
				} 1 .. int(rand 4))
			  . '}'
		} 1 .. 1 + int(rand 3)) . '}';
}

my @calls;
foreach (1 .. $rounds)
{
	my $options = quoted(overrides()) . '::jsonb';
	push @calls,
	  one_of(
		"SELECT * FROM tiered_storage.recommend_placement(true, overrides => $options);",
		"SELECT * FROM _tiered_storage.simulate_placement($options);",
		"SELECT * FROM _tiered_storage.simulate_placement('{}', overrides => $options);",
		"SELECT * FROM _tiered_storage.explain_placement('thing', overrides => $options);",
		"SELECT * FROM _tiered_storage.placement_summary(overrides => $options);",
		"SELECT * FROM tiered_storage.tier_size_curve('fast', 3, overrides => $options);"
	  );
}
my ($states, $messages) = run_statements(@calls);
is(bad_states($states), '', 'options: only errors of the caller')
  or diag($messages);
ok($states->{'22023'}, 'options: some are refused by us');
my $refused = 0;
$refused += $_ foreach values %$states;
cmp_ok($refused, '<', $rounds, 'options: some are accepted');

######################################################################
# Partition bounds
######################################################################

my %bounds = (
	int2 => [qw(-32768 -1 0 1 100 32767)],
	int4 => [qw(-2147483648 -1 0 1 20240101 2147483647)],
	int8 => [
		qw(-9223372036854775808 -1 0 1 1700000000 253402300800
		  1700000000000 9223372036854775807)
	],
	date => [
		'-infinity', '4713-01-01 BC', '1970-01-01', '2000-02-29',
		'5874897-12-31', 'infinity'
	],
	timestamp => [
		'-infinity',
		'4713-01-01 00:00:00 BC',
		'1970-01-01 00:00:00',
		'2024-06-30 23:59:60',
		'294276-12-31 23:59:59.999999',
		'infinity'
	],
	timestamptz => [
		'-infinity',
		'4713-01-01 00:00:00+00 BC',
		'1970-01-01 00:00:00+14',
		'2024-03-31 02:30:00+00',
		'294276-12-31 23:59:59.999999+00',
		'infinity'
	],
	numeric => [qw(-Infinity -1e100 0 0.5 1e100 Infinity)],
	uuid => [
		'00000000-0000-0000-0000-000000000000',
		'018e0000-0000-7000-8000-000000000000',
		'ffffffff-ffff-ffff-ffff-ffffffffffff'
	],
	text => [ '', 'a', '2024-01-01', "\xf0\x9f\x98\x80" ]);

# FROM (...) TO (...), in this order more often than not; the values of a type are
# listed from the lowest to the highest.
sub range
{
	my ($type, $columns) = @_;
	my @values = @{ $bounds{$type} };
	my @places = map { int(rand scalar @values) } 1 .. 2;
	my @ends;

	@places = sort { $a <=> $b } @places if rand() < 0.9;
	@ends = map { quoted($values[$_]) . "::$type" } @places;
	$ends[0] = 'MINVALUE' if rand() < 0.2;
	$ends[1] = 'MAXVALUE' if rand() < 0.2;
	@ends = map { /VALUE/ ? "$_, $_" : "$_, " . one_of(0, 1) } @ends
	  if $columns == 2;
	return "FROM ($ends[0]) TO ($ends[1])";
}

# Statements that make a tree; those that make no sense fail, which is as good.
sub tree
{
	my ($n) = @_;
	my $type = one_of(sort keys %bounds);
	my $columns = rand() < 0.7 ? 1 : 2;
	my $unit = $type =~ /^int/ ? 0.9 : 0.1;
	my @made =
	  (     "CREATE TABLE tree_$n (k $type, l int) PARTITION BY RANGE ("
		  . ($columns == 1 ? 'k' : 'k, l')
		  . ') TABLESPACE fast;');

	foreach my $part (1 .. 2 + int(rand 4))
	{
		my $name = "tree_${n}_$part";
		my ($by, $for) = @{
			one_of(
				([ '', '' ]) x 4,
				[ 'HASH (l)', 'FOR VALUES WITH (MODULUS 2, REMAINDER 1)' ],
				[ 'LIST (l)', 'FOR VALUES IN (1, NULL)' ],
				[ 'RANGE (l)', 'FOR VALUES FROM (0) TO (1)' ],
				[ 'RANGE (k)', 'FOR VALUES ' . range($type, 1) ],
				[ 'RANGE (k)', 'DEFAULT' ])
		};

		push @made,
		  "CREATE TABLE $name PARTITION OF tree_$n "
		  . (
			rand() < 0.15
			? 'DEFAULT'
			: 'FOR VALUES ' . range($type, $columns)
		  ) . ($by eq '' ? '' : " PARTITION BY $by") . ';';
		push @made, "CREATE TABLE ${name}_a PARTITION OF $name $for;"
		  if $by ne '';
	}
	push @made,
	  sprintf(
		"SELECT tiered_storage.add_tiering_policy('tree_%s', %s, 'slow', options => jsonb_build_object('key_unit', %s));",
		$n,
		one_of("'1 day'", "'0'", "'178000000 years'", "'-1 day'", "'1 mon'"),
		rand() < $unit
		? one_of(
			"'seconds'", "'milliseconds'",
			"'microseconds'", "'nanoseconds'",
			"'x'")
		: 'NULL');
	return @made;
}

my $trees = int($rounds / 3) + 1;
($states, $messages) = run_statements(
	(map { tree($_) } 1 .. $trees),
	map { "SELECT * FROM tiered_storage.$_;" }
	  qw(evaluate_policies() evaluate_policies() policies));
is(bad_states($states), '', 'bounds: only errors of the caller')
  or diag($messages);
cmp_ok(
	$node->safe_psql(
		'app', 'SELECT count(*) FROM _tiered_storage.evaluate_policies()'),
	'>', 0,
	'bounds: some trees have policies');
# Below a second level a partition may be for rows that cannot come to it.
is( $node->safe_psql(
		'app', q(
SELECT count(*) FROM _tiered_storage.evaluate_policies() WHERE lower_bound > upper_bound AND relation::text NOT LIKE '%\_a')
	),
	'0',
	'bounds: no partition ends before it begins');

$node->stop;
is( join("\n",
		grep { /TRAP|terminated by signal|PANIC/ } split /\n/,
		slurp_file($node->logfile)),
	'',
	'the server has not crashed');

done_testing();

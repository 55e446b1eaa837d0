# Tiers, policies and pins survive pg_dump, a rename, and pg_upgrade, and mean the right
# tablespaces and tables afterwards.
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

# Workers sample once, and never migrate.
my $conf = q(
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
);
my $node = new_node('main', conf => $conf);
$node->start;
create_in_place_tablespace($node, 'slow', 'archive', 'fast');
$node->safe_psql('postgres', 'CREATE DATABASE app');

# Hostile names, and tables that will have other OIDs after a restore.
create_measurements($node, 'app', 1, 2);
$node->safe_psql(
	'app', q(
CREATE SCHEMA "My Schema";
CREATE TABLE "My Schema"."Old ""Name" (at date NOT NULL) PARTITION BY RANGE (at);
CREATE TABLE "My Schema".p PARTITION OF "My Schema"."Old ""Name" FOR VALUES FROM ('2001-01-01') TO ('2001-02-01');
INSERT INTO "My Schema".p SELECT '2001-01-15' FROM generate_series(1, 10);
CREATE EXTENSION tiered_storage;
));

# "unknown", "ssd" or whatever this machine's disk is taken for.
my $discovered = $node->safe_psql('app',
	"SELECT tier_name FROM _tiered_storage.tier_tablespaces WHERE tablespace_name = 'pg_default'"
);
$node->safe_psql(
	'app', qq(
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', rank => 5, price_per_gb_month => 0.0123, reserve_fraction => 0, low_watermark => 0.5, high_watermark => 0.6, device => jsonb_build_object('capacity_bytes', 123456789));
SELECT tiered_storage.add_tier('Arch"ive', '{archive}', profile => 'hdd_7200', rank => 9, reserve_fraction => 0, device => jsonb_build_object('compressed', true));
SELECT tiered_storage.alter_tier('$discovered', price_per_gb_month => 0.77, reserve_fraction => 0, device => jsonb_build_object('endurance_tbw', 600));
SELECT tiered_storage.alter_device_profile('cloud_gp3', '{"price_per_gb_month": 0.0678, "price_source": "our \\"contract\\""}');
SELECT tiered_storage.alter_device_profile('Arch"ive', '{"price_per_gb_month": 0.001, "random_read_ms": 9, "random_write_ms": 8, "sequential_read_mb_per_s": 7,
	"sequential_write_mb_per_s": 6, "fsync_ms": 5, "parallelism": 4}');
SELECT tiered_storage.add_tiering_policy('measure', '90 days', 'slow');
SELECT tiered_storage.add_tiering_policy('measure', '100 years', 'Arch"ive', options => jsonb_build_object('include_indexes', false, 'return_when_reads_per_hour', 77, 'return_after', '36 hours', 'return_tier', 'slow'));
SELECT tiered_storage.add_tiering_policy('"My Schema"."Old ""Name"', '90 days', 'Arch"ive');
SELECT tiered_storage.add_tiering_policy('"My Schema"."Old ""Name"', '200 years', 'slow');
SELECT tiered_storage.alter_policy('"My Schema"."Old ""Name"', 'slow', enabled => false);
SELECT tiered_storage.pin('"My Schema"."Old ""Name"', 'slow', '2100-01-01 UTC');
SELECT tiered_storage.pin('m_next_pkey');
SELECT tiered_storage.add_move_window('all day', NULL, '00:00', '24:00', 'Europe/Berlin', max_bytes => 1000000000000000);
SELECT tiered_storage.add_move_window('Week"end', '{sun,sat}', '22:00', '06:00', 'America/New_York', enabled => false);
SELECT tiered_storage.add_fullness_policy('$discovered', 'Arch"ive', low_watermark => 0.25);
SELECT tiered_storage.add_fullness_policy('slow', 'Arch"ive', 0.9, 0.7);
SELECT tiered_storage.alter_policy(tier => '$discovered', enabled => false);
ALTER SCHEMA "My Schema" RENAME TO "Their Schema";
ALTER TABLE "Their Schema"."Old ""Name" RENAME TO "New Name";
CREATE TABLE pin_down_nothing (id int);
CALL tiered_storage.sample();
));

my $tiers_sql =
  "SELECT to_jsonb(t) - '{restored,restored_rank}'::text[] FROM _tiered_storage.tier t WHERE NOT discovered ORDER BY tier_name";
my $tablespaces_sql =
  'SELECT tier_name, rank, tablespace_name, discovered FROM _tiered_storage.tier_tablespaces ORDER BY 1, 3';
my $policies_sql =
  'SELECT policy_id, relation, relation_name, move_after, tier_name, include_indexes, return_when_reads_per_hour, return_after, return_tier, enabled, created_by, created_at FROM _tiered_storage.policies ORDER BY 1';
my $fullness_sql =
  'SELECT policy_id, tier_name, target_name, high_watermark, low_watermark, follows_tier, created_by, created_at, enabled FROM _tiered_storage.fullness_policies ORDER BY 1';
my $pins_sql =
  'SELECT relation, relation_name, tier_name, until, include_indexes, pinned_by, pinned_at, relations FROM _tiered_storage.pins ORDER BY 2';
my $windows_sql =
  'SELECT * FROM _tiered_storage.move_window ORDER BY window_name';
my $verdicts_sql =
  'SELECT policy_id, relation, verdict, to_tier, to_tablespace FROM _tiered_storage.evaluate_policies() ORDER BY 1, relation::text';
my $profiles_sql =
  'SELECT p FROM _tiered_storage.device_profiles() p WHERE is_edited';

my %expected = map { $_ => $node->safe_psql('app', $_) } $tiers_sql,
  $profiles_sql, $tablespaces_sql, $policies_sql, $fullness_sql, $pins_sql,
  $windows_sql,
  $verdicts_sql;
like(
	$expected{$profiles_sql},
	qr/0\.0678.*contract.*\n.*0\.001/,
	'there are changed profiles');
like(
	$expected{$windows_sql},
	qr/^Week"end\|\{sat,sun\}\|22:00:00\|/m,
	'there are move windows');
like(
	$expected{$policies_sql},
	qr/^3\|"Their Schema"\."New Name"\|"Their Schema"\."New Name"\|/m,
	'a policy follows the renames of its table and schema');
like(
	$expected{$pins_sql},
	qr/^"Their Schema"\."New Name"\|"Their Schema"\."New Name"\|slow\|2100-01-01 .*\|t\|.*\|1$/m,
	'and so does a pin');
is( $node->safe_psql(
		'app',
		'SELECT count(*) FROM _tiered_storage.tier WHERE NOT discovered'),
	3,
	'two tiers are defined, one is altered');

# All that was dumped is there, works, and goes on working.
sub check_restored
{
	my ($server, $db, $name, $tablespaces) = @_;

	is($server->safe_psql($db, $tiers_sql),
		$expected{$tiers_sql}, "$name: the tiers are the same");
	is( $server->safe_psql($db, $tablespaces_sql),
		$tablespaces // $expected{$tablespaces_sql},
		"$name: their tablespaces too");
	is( $server->safe_psql($db, $policies_sql),
		$expected{$policies_sql},
		"$name: the policies too");
	is( $server->safe_psql($db, $fullness_sql),
		$expected{$fullness_sql},
		"$name: those by fullness, too");
	is($server->safe_psql($db, $pins_sql),
		$expected{$pins_sql}, "$name: the pins too");
	is($server->safe_psql($db, $windows_sql),
		$expected{$windows_sql}, "$name: the move windows too");
	is( $server->safe_psql($db, $profiles_sql),
		$expected{$profiles_sql},
		"$name: changed profiles and prices too");
	is( $server->safe_psql($db, $verdicts_sql),
		$expected{$verdicts_sql},
		"$name: they come to the same result") unless defined $tablespaces;
	$server->safe_psql($db, 'CALL tiered_storage.sample()');
	is( $server->safe_psql(
			$db,
			q(SELECT (SELECT count(*) FROM _tiered_storage.policy p JOIN pg_database d ON d.oid = p.database_oid
				JOIN pg_class c ON c.oid = p.relation_oid AND c.relname = p.relation_name, pg_control_system() s
				WHERE datname = current_database() AND s.system_identifier = p.system_identifier)
			|| ' ' || (SELECT count(*) FROM _tiered_storage.tier_tablespace t JOIN pg_tablespace s ON (s.oid, s.spcname) = (tablespace_oid, tablespace_name),
				pg_control_system() c WHERE c.system_identifier = t.system_identifier) - (SELECT count(*) FROM _tiered_storage.tier_tablespace))
		),
		'4 0',
		"$name: a sample makes everything belong to this database");

	# Known by OID from now on.
	$server->safe_psql($db,
		'ALTER TABLE "Their Schema"."New Name" RENAME TO "Newest"');
	is( $server->safe_psql(
			$db,
			'SELECT relation FROM _tiered_storage.policies WHERE policy_id = 3'
		),
		'"Their Schema"."Newest"',
		"$name: and a later rename is followed");
	$server->safe_psql($db,
		'ALTER TABLE "Their Schema"."Newest" RENAME TO "New Name"');
	is( $server->safe_psql(
			$db,
			"SELECT tiered_storage.add_tiering_policy(in_schema => 'public', tier => 'slow', idle_for => '50 years')"
		),
		7,
		"$name: a new policy gets the next id");
	$server->safe_psql($db,
		'SELECT tiered_storage.remove_policy(policy_id => 4)');
	return;
}

# The partitions that are due, with their indexes where the policy says so.
sub check_migrate
{
	my ($server, $db, $name) = @_;
	my $rows = fingerprint($server, $db, 'measure');

	like(
		notices_of($server, $db, 'CALL tiered_storage.migrate()'),
		qr/partitions due: 2; relations moved: 6, not moved: 0/,
		"$name: migrate() does what the policies say");
	is(tablespaces_of($server, $db, 'm_2001_01', 'm_2001_02'),
		'slow', "$name: the partitions are moved");
	is(fingerprint($server, $db, 'measure'),
		$rows, "$name: with the same rows");
	return;
}

my $dump = $node->basedir . '/app.dump';
my $plain = $node->basedir . '/app.sql';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, $node->connstr('app') ],
	'pg_dump');
$node->command_ok([ 'pg_dump', '-f', $plain, $node->connstr('app') ],
	'pg_dump, plain');

# ---------------------------------------------------------------------
note 'The same server';
# ---------------------------------------------------------------------

sub restore_ok
{
	my ($server, $name, @arguments) = @_;

	$server->command_checks_all(
		[
			'pg_restore', '--exit-on-error',
			'-h', $server->host,
			'-p', $server->port,
			@arguments
		],
		0,
		[qr/^$/],
		[qr/^$/],
		"$name without a complaint");
	return;
}

$node->safe_psql('postgres', "CREATE DATABASE $_")
  foreach qw(custom parallel plain two_steps);
restore_ok($node, 'pg_restore', '-d', 'custom', $dump);
check_restored($node, 'custom', 'pg_restore');
check_migrate($node, 'custom', 'pg_restore');

# Tables are loaded in any order.
restore_ok($node, 'pg_restore -j 4', '-j', 4, '-d', 'parallel', $dump);
check_restored($node, 'parallel', 'pg_restore -j');

$node->command_checks_all(
	[
		'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-f',
		$plain, $node->connstr('plain')
	],
	0,
	[qr/^$/],
	[qr/^$/],
	'psql without a complaint');
check_restored($node, 'plain', 'plain dump');

# --schema-only has the extension, but not what is in its tables.
restore_ok($node, '--schema-only', '--schema-only', '-d', 'two_steps', $dump);
is( $node->safe_psql(
		'two_steps',
		'SELECT count(*), (SELECT count(*) FROM _tiered_storage.policies) FROM _tiered_storage.tier WHERE NOT discovered'
	),
	'0|0',
	'--schema-only: the extension is there with what it discovers');
restore_ok($node, '--data-only', '--data-only', '-d', 'two_steps', $dump);
check_restored($node, 'two_steps', '--schema-only, --data-only');
check_migrate($node, 'two_steps', '--schema-only, --data-only');

# Samples are not dumped: they are about other tables.
is( $node->safe_psql(
		'custom',
		q(SELECT count(*) FROM _tiered_storage.relation_state WHERE relation_oid NOT IN (SELECT oid FROM pg_class))
	),
	0,
	'what was sampled elsewhere is not restored');

# ---------------------------------------------------------------------
note 'Tables in any order, and nothing that other databases tell';
# ---------------------------------------------------------------------

# No other database knows these tiers, so that nothing but the dump brings them.
my $alone = new_node('alone', conf => $conf);
$alone->start;
create_in_place_tablespace($alone, 'quick', 'cold', 'between', 'new');
$alone->safe_psql('postgres', "CREATE DATABASE $_")
  foreach qw(tiered ordered);
$alone->safe_psql(
	'tiered', q(
CREATE EXTENSION tiered_storage;
CREATE TABLE t (i int) PARTITION BY LIST (i);
CREATE TABLE u (i int) TABLESPACE between;
SELECT tiered_storage.add_tier('quick', '{quick}', profile => 'nvme', rank => 2);
SELECT tiered_storage.add_tier('cold', '{cold}', profile => 'hdd_7200', rank => 7);
-- As discovery calls the rest: only these tablespaces of it are meant.
SELECT tiered_storage.alter_tier(tier_name, tablespaces => '{pg_default}', rank => 5, price_per_gb_month => 7) FROM _tiered_storage.tiers WHERE discovered;
SELECT tiered_storage.add_tiering_policy('t', tier => 'cold', idle_for => '1 day', index_tier => 'quick', options => jsonb_build_object('return_when_reads_per_hour', 100, 'return_tier', 'quick'));
SELECT tiered_storage.add_fullness_policy('quick', 'cold');
SELECT tiered_storage.pin('t', 'quick');
));
$alone->safe_psql('tiered',
	"SELECT tiered_storage.add_standby('a standby', conninfo => 'host=/nonexistent')"
);
my $defined_sql = q(
SELECT tier_name, rank, tablespaces, discovered, profile FROM _tiered_storage.tiers WHERE NOT discovered ORDER BY 1;
SELECT relation, tier_name, index_tier, return_tier FROM _tiered_storage.policies;
SELECT tier_name, target_name FROM _tiered_storage.fullness_policies;
SELECT relation, tier_name FROM _tiered_storage.pins;
SELECT standby_name, conninfo FROM _tiered_storage.standbys;
);
my $defined = $alone->safe_psql('tiered', $defined_sql);
my $tiered = $alone->basedir . '/tiered.dump';
$alone->command_ok(
	[ 'pg_dump', '-Fc', '-f', $tiered, $alone->connstr('tiered') ],
	'pg_dump of what nobody else knows');
$alone->safe_psql('postgres', 'DROP DATABASE tiered');

# The tablespace has another name by now, and there is another one.
$alone->safe_psql('postgres', 'ALTER TABLESPACE quick RENAME TO "Quick One"');
(my $as_named = $defined) =~ s/\{quick\}/{"Quick One"}/;
my ($list) =
  run_command([ 'pg_restore', '-l', '--section=data', $tiered ]);
my @data = grep { /TABLE DATA _tiered_storage/ } split /\n/, $list;
cmp_ok(@data, '>', 6, 'there are tables to load');
foreach my $order ([ 'backwards', reverse @data ], [ 'forwards', @data ])
{
	my ($name, @lines) = @$order;
	my $file = $alone->basedir . '/list';

	open my $handle, '>', $file or die "open: $!";
	print $handle map { "$_\n" } @lines;
	close $handle or die "close: $!";
	$alone->safe_psql('postgres', 'DROP DATABASE ordered');
	$alone->safe_psql('postgres', 'CREATE DATABASE ordered');
	restore_ok($alone, "$name: schema",
		'--section=pre-data', '-d', 'ordered', $tiered);
	restore_ok($alone, $name, '-L', $file, '-d', 'ordered', $tiered);
	is($alone->safe_psql('ordered', $defined_sql),
		$as_named, "$name: all that was defined is there, and nothing else");
}

# All at once.
$alone->safe_psql('postgres', 'DROP DATABASE ordered');
$alone->safe_psql('postgres', 'CREATE DATABASE ordered');
restore_ok($alone, 'in parallel', '-j', 4, '-d', 'ordered', $tiered);
is($alone->safe_psql('ordered', $defined_sql),
	$as_named, 'in parallel: all that was defined is there');
my ($status, $out, $err) = $alone->psql('ordered',
	"INSERT INTO _tiered_storage.pin SELECT * FROM _tiered_storage.pin");
isnt($status, 0, 'what is there already is not restored again');
$alone->stop;

# ---------------------------------------------------------------------
note 'Ranks of what is not dumped';
# ---------------------------------------------------------------------

# What is only discovered is not dumped, but has a place among the others: between them,
# or it would be faster than what it was slower than.
my $ranked = new_node('ranked', conf => $conf);
$ranked->start;
create_in_place_tablespace($ranked, 'cold', 'warm', 'quick', 'same');
$ranked->safe_psql('postgres', 'CREATE DATABASE ranks');
$ranked->safe_psql(
	'ranks', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('a quick', '{quick}', device => jsonb_build_object('random_read_ms', 0.0001));
SELECT tiered_storage.add_tier('a warm', '{warm}', device => jsonb_build_object('random_read_ms', 1000));
SELECT tiered_storage.add_tier('a cold', '{cold}', device => jsonb_build_object('random_read_ms', 2000));
SELECT tiered_storage.add_tier('the same', '{same}', device => jsonb_build_object('random_read_ms', t.random_read_ms)) FROM _tiered_storage.tiers t WHERE 'pg_default' = ANY (t.tablespaces);
));
my $order_sql =
  q(SELECT string_agg(CASE WHEN 'pg_default' = ANY (tablespaces) THEN 'pg_default' ELSE tier_name END, ', ' ORDER BY rank), count(DISTINCT rank) FROM _tiered_storage.tiers);

sub keeps_order
{
	my ($name, $expected) = @_;

	is($ranked->safe_psql('ranks', $order_sql), $expected, $name);
	foreach my $how ([ 'copied', '-Fc' ], [ 'inserted', '-Fc', '--inserts' ])
	{
		my ($db, @options) = @$how;
		my $file = $ranked->basedir . "/$db.dump";

		unlink $file;
		$ranked->safe_psql('postgres', "DROP DATABASE IF EXISTS $db");
		$ranked->safe_psql('postgres', "CREATE DATABASE $db");
		$ranked->command_ok(
			[ 'pg_dump', @options, '-f', $file, $ranked->connstr('ranks') ],
			"pg_dump, $db");
		restore_ok($ranked, "ranks $db", '-d', $db, $file);
		is($ranked->safe_psql($db, $order_sql),
			$expected, "$name: also after a restore, $db");
	}
	return;
}
keeps_order(
	'a discovered tier has a place among others',
	'a quick, pg_default, the same, a warm, a cold|5');

# One that is dumped, since a policy names it, has the rank that it had, whatever its speed.
$ranked->safe_psql(
	'ranks', q(
SELECT tiered_storage.alter_tier('a warm', rank => 0), tiered_storage.alter_tier('a quick', rank => 9);
SELECT tiered_storage.add_fullness_policy(tier_name, 'a quick') FROM _tiered_storage.tiers WHERE 'pg_default' = ANY (tablespaces);
));
keeps_order('ranks may contradict speeds',
	'a warm, pg_default, the same, a cold, a quick|5');
$ranked->stop;

# ---------------------------------------------------------------------
note 'ALTER TABLESPACE RENAME';
# ---------------------------------------------------------------------

$node->safe_psql(
	'app', q(
ALTER TABLESPACE slow RENAME TO slower;
ALTER TABLESPACE archive RENAME TO slow;
));
my $renamed = $expected{$tablespaces_sql} =~ s/^(slow\|5\|)slow/$1slower/mr =~
  s/^(Arch"ive\|9\|)archive/$1slow/mr;
is($node->safe_psql('app', $tablespaces_sql),
	$renamed, 'tiers keep their tablespaces, also when two swap a name');
$node->safe_psql('app', 'CALL tiered_storage.sample()');
is($node->safe_psql('app', $tablespaces_sql), $renamed,
	'also after a sample');
is( $node->safe_psql(
		'app',
		'SELECT tier_name, tablespace_name FROM _tiered_storage.tier_tablespace WHERE NOT discovered AND tier_name <> '
		  . "'$discovered' ORDER BY 1"),
	qq(Arch"ive|slow\nslow|slower),
	'which stores the new names, for the next dump');
like(
	notices_of($node, 'app', 'CALL tiered_storage.migrate()'),
	qr/partitions due: 2; relations moved: 6, not moved: 0/,
	'migrate() works');
is(tablespaces_of($node, 'app', 'm_2001_01', 'm_2001_02'),
	'slower', 'and finds the right one');
$node->safe_psql(
	'app', q(
ALTER TABLESPACE slow RENAME TO archive;
ALTER TABLESPACE slower RENAME TO slow;
));

# ---------------------------------------------------------------------
note 'Another server';
# ---------------------------------------------------------------------

# Tablespaces come from pg_dumpall --globals-only; here by hand, in another order,
# so that their OIDs differ, and one is missing.
my $other = new_node('other', conf => $conf);
$other->start;
create_in_place_tablespace($other, 'more', 'slow');
$other->safe_psql('postgres', 'CREATE DATABASE app');
restore_ok($other, 'pg_restore elsewhere', '-d', 'app', $dump);
my $elsewhere = join "\n",
  sort grep { !/\|(archive|fast)\|/ } split /\n/, $expected{$tablespaces_sql};
is( $other->safe_psql(
		'app',
		"SELECT tier_name, rank, tablespace_name, discovered FROM _tiered_storage.tier_tablespaces WHERE tablespace_name <> 'more' ORDER BY tier_name || '|'"
	),
	$elsewhere,
	'tablespaces are known by their names elsewhere');
is($other->safe_psql('app', $tiers_sql),
	$expected{$tiers_sql}, 'the tiers are the same');
is( $other->safe_psql('app', $policies_sql),
	$expected{$policies_sql},
	'the policies too');
is( $other->safe_psql('app', $fullness_sql),
	$expected{$fullness_sql},
	'and those by fullness');
is($other->safe_psql('app', $pins_sql), $expected{$pins_sql}, 'the pins too');
$other->safe_psql('app', 'CALL tiered_storage.sample()');
is($other->safe_psql('app', $pins_sql),
	$expected{$pins_sql}, 'the pins are the same after a sample');
is($other->safe_psql('app', $tiers_sql),
	$expected{$tiers_sql}, 'also after a sample');
check_migrate($other, 'app', 'elsewhere');
$other->safe_psql('postgres', "CREATE TABLESPACE archive LOCATION ''");
$other->safe_psql('app', 'CALL tiered_storage.sample()');
is( $other->safe_psql(
		'app',
		"SELECT tier_name FROM _tiered_storage.tier_tablespaces WHERE tablespace_name = 'archive'"
	),
	'Arch"ive',
	'a tablespace that is created later is found by its name');
$other->stop;
$node->stop;

# ---------------------------------------------------------------------
note 'pg_upgrade';
# ---------------------------------------------------------------------

# Between two servers of one version it refuses other tablespaces than its own.
my $old = new_node('old', conf => "$conf\nlog_min_messages = debug1");
$old->start;
$old->safe_psql('postgres', 'CREATE DATABASE app');
create_measurements($old, 'app', 1);

# A policy is for a slower tier, and pg_upgrade takes no tablespace of its own version.
create_in_place_tablespace($old, 'passing');
$old->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('mine', '{passing}', profile => 'nvme', rank => 5, price_per_gb_month => 0.5, reserve_fraction => 0);
SELECT tiered_storage.add_tiering_policy('measure', '90 days', 'mine');
SELECT tiered_storage.alter_tier('mine', tablespaces => '{pg_default}');
DROP TABLESPACE passing;
SELECT tiered_storage.pin('measure', 'mine');
CALL tiered_storage.sample();
));
my @after =
  ($tiers_sql, $tablespaces_sql, $policies_sql, $pins_sql, $verdicts_sql);
my %old = map { $_ => $old->safe_psql('app', $_) } @after;
my $since = sampled_since($old, 'app');
my $rows = fingerprint($old, 'app', 'measure');
$old->stop;

my $new = new_node('new', conf => "$conf\nlog_min_messages = debug1");
my $bindir = $new->config_data('--bindir');

# It leaves its files where it runs.
chdir $new->basedir or die "could not change to the directory: $!";
$new->command_ok(
	[
		'pg_upgrade', '--no-sync', '--retain', '-d',
		$old->data_dir, '-D', $new->data_dir, '-b',
		$bindir, '-B', $bindir, '-s',
		$new->host, '-p', $old->port, '-P',
		$new->port
	],
	'pg_upgrade');
chdir '/' or die "could not change to the root directory: $!";

# Nothing but pg_upgrade may write to either server meanwhile: a transaction of a
# worker would use an identifier that the new server uses again.
my $log = join '',
  map { slurp_file($_) }
  glob $new->data_dir . '/pg_upgrade_output.d/*/log/pg_upgrade_server.log';
like(
	$log,
	qr/database system is ready to accept connections/,
	'pg_upgrade: the log of its servers is there');
unlike(
	$log,
	qr/background worker[^\n]*tiered_storage/,
	'pg_upgrade: no launcher runs in them');

$new->start;
is($new->safe_psql('app', $_), $old{$_}, "pg_upgrade: $_") foreach @after;
is(sampled_since($new, 'app'), $since,
	'pg_upgrade: what was sampled is kept');
is(fingerprint($new, 'app', 'measure'), $rows, 'pg_upgrade: with all rows');
# Its first cycle may have begun before anybody asks.
$new->poll_query_until('app',
	"SELECT state = 'waiting' FROM _tiered_storage.worker_status() WHERE database_name = 'app'"
) or die 'the worker does not end its first cycle';
is( worker_of($new, 'app', 'app'),
	'waiting|until the next sample; moves nothing, because tiered_storage.auto_migrate is off',
	'pg_upgrade: the worker runs');
$new->safe_psql('app', 'ALTER TABLE measure RENAME TO measured');
is($new->safe_psql('app', 'SELECT relation FROM _tiered_storage.policies'),
	'measured', 'pg_upgrade: policies are known by OID again');
$new->stop;

# ---------------------------------------------------------------------
note 'A server restored over itself';
# ---------------------------------------------------------------------

# Its tablespaces, roles and databases get other OIDs, and it keeps its identifier.
my $again = new_node('again', conf => $conf);
$again->start;
create_in_place_tablespace($again, 'slow');
$again->safe_psql('postgres', 'CREATE DATABASE app');
$again->safe_psql(
	'app', q(
CREATE ROLE keeper;
GRANT CREATE ON TABLESPACE slow TO keeper;
CREATE EXTENSION tiered_storage;
CREATE SCHEMA kept AUTHORIZATION keeper;
SET ROLE keeper;
CREATE TABLE kept.t (i int PRIMARY KEY);
RESET ROLE;
SELECT tiered_storage.add_tier('mine', '{pg_default}', profile => 'nvme');
SELECT tiered_storage.add_tier('cheap', '{slow}', profile => 'hdd_7200');
GRANT USAGE ON SCHEMA tiered_storage TO keeper;
GRANT EXECUTE ON FUNCTION tiered_storage.add_tiering_policy, tiered_storage.pin TO keeper;
SET ROLE keeper;
SELECT tiered_storage.add_tiering_policy('kept.t', tier => 'cheap', idle_for => '1 year');
SELECT tiered_storage.add_tiering_policy(in_schema => 'kept', tier => 'cheap', idle_for => '2 years');
SELECT tiered_storage.pin('kept.t', 'mine');
RESET ROLE;
SELECT tiered_storage.add_fullness_policy('mine', 'cheap');
));
my @kept = (
	'SELECT tier_name, tablespaces FROM _tiered_storage.tiers ORDER BY 1',
	'SELECT policy_id, relation_name, relation, tier_name, created_by, enabled, idle_for FROM _tiered_storage.policies ORDER BY 1',
	'SELECT tier_name, target_name, created_by FROM _tiered_storage.fullness_policies',
	'SELECT relation, tier_name, pinned_by, relations FROM _tiered_storage.pins'
);
my %kept = map { $_ => $again->safe_psql('app', $_) } @kept;
my $all = $again->basedir . '/all.sql';
$again->command_ok(
	[
		'pg_dumpall', '--clean', '--if-exists', '-f', $all, '-d',
		$again->connstr('postgres')
	],
	'pg_dumpall --clean');
# Its place in the data directory is not one that can be asked for.
(my $script = slurp_file($all)) =~ s/LOCATION 'pg_tblspc[^']*'/LOCATION ''/;
unlink $all;
append_to_file($all, $script);
$again->command_ok(
	[ 'psql', '-Xq', '-f', $all, '-d', $again->connstr('postgres') ],
	'it is restored over itself');
is($again->safe_psql('app', $_), $kept{$_}, "at once: $_") foreach @kept;
$again->safe_psql('app', 'CALL tiered_storage.sample()');
is($again->safe_psql('app', $_), $kept{$_}, "after a sample: $_")
  foreach @kept;
$again->stop;

done_testing();

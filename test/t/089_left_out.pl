# An error about one relation ends neither the sample, nor the evaluation, nor the run: it is left
# out, counted and named in the view workers, and tried again later.  What is meant for all ends
# all.
#
# Made up in the tables, since no call makes it in the time of a test: rates, and
# history of days and weeks; moves of another time, size or end.
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

my $node = new_node(
	'main',
	conf => q(
tiered_storage.sample_interval = '1s'
tiered_storage.migrate_interval = '1s'
tiered_storage.auto_migrate = off
tiered_storage.move_limit_per_day = -1
));
$node->start;
create_in_place_tablespace($node, qw(fast slow));
$node->safe_psql('postgres', 'CREATE DATABASE app');
$node->safe_psql(
	'app', q(
CREATE TABLE a (id int); CREATE TABLE b (id int); CREATE TABLE c (id int);
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('fast', '{pg_default,fast}', profile => 'nvme', rank => 0, reserve_fraction => 0);
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0);
));
run_cycle($node, 'app');

sub value_of
{
	my ($sql) = @_;

	return $node->safe_psql('app', $sql);
}

sub wait_until
{
	my ($question, $name) = @_;

	ok($node->poll_query_until('app', $question), $name)
	  or diag(
		value_of(
			"SELECT * FROM _tiered_storage.worker_status() WHERE database_name = 'app'"
		));
	return;
}

# What these steps do with these relations fails from now on: 'sample:b'.
sub break_steps
{
	my ($faults) = @_;

	reload_with($node, 'tiered_storage.debug_relation' => $faults);
	return;
}

sub left_out_is
{
	my ($expected, $name) = @_;

	wait_until(
		"SELECT state = 'waiting' AND failures = 0 AND COALESCE(last_error, '') = '' AND left_out_why IS NOT DISTINCT FROM $expected "
		  . "AND left_out = CASE WHEN left_out_why IS NULL THEN 0 ELSE 1 END FROM _tiered_storage.worker_status() WHERE database_name = 'app'",
		$name);
	return;
}

sub history_of
{
	my ($table) = @_;

	return
	  "(SELECT COALESCE(sum(row_changes), 0) FROM _tiered_storage.history_rows WHERE relation_oid = '$table'::regclass)";
}

# ---------------------------------------------------------------------
note 'A sample, while relations are compared and while they are stored';
# ---------------------------------------------------------------------

my %rows = (a => 0, b => 0, c => 0);

sub insert
{
	foreach my $table ('a', 'b', 'c')
	{
		value_of("INSERT INTO $table SELECT generate_series(1, 10)");
		$rows{$table} += 10;
	}
	return;
}

sub others_are_sampled
{
	my ($name) = @_;

	wait_until(
		"SELECT "
		  . history_of('a')
		  . " = $rows{a} AND "
		  . history_of('c')
		  . " = $rows{c}",
		"$name: the others are sampled");
	is(value_of('SELECT ' . history_of('b')),
		0, "$name: of b nothing is stored");
	return;
}

break_steps('sample:b');
insert();
others_are_sampled('sample');
left_out_is(q('public.b (sample): fault in sample of "b"'),
	'sample: workers names b');
break_steps('store:b');
insert();
others_are_sampled('store');
left_out_is(
	q('public.b (sample): fault in store of "b"'),
	'store: workers names b, after it was tried again');
break_steps('');
value_of(
	"ALTER TABLE _tiered_storage.relation_history ADD CONSTRAINT no_b CHECK (relation_oid <> ${\value_of(q(SELECT 'b'::regclass::oid))})"
);
insert();
others_are_sampled('constraint');
left_out_is(
	q('public.b (sample): new row for relation "relation_history" violates check constraint "no_b"'),
	'constraint: workers names b');
is( value_of(
		'SELECT count(*) FROM _tiered_storage.history_rows WHERE relation_oid <> 0 AND row_changes < 0'
	),
	0,
	'nothing is negative');
value_of('ALTER TABLE _tiered_storage.relation_history DROP CONSTRAINT no_b');
left_out_is('NULL', 'once the fault is gone, nothing is left out');
wait_until(
	"SELECT " . history_of('b') . " = $rows{b}",
	'and what b did meanwhile is known');

# A session says so, and does not remember it.
break_steps('sample:b');
like(
	notices_of($node, 'app', 'CALL tiered_storage.sample()'),
	qr/WARNING:  XX000: public.b left out of the sample: fault in sample of "b"/,
	'a session is warned');
break_steps('');
left_out_is('NULL', 'healed');

# ---------------------------------------------------------------------
note 'Evaluation, plan, move';
# ---------------------------------------------------------------------

create_measurements($node, 'app', 1 .. 9);
value_of(
	"SELECT tiered_storage.add_tiering_policy('measure', move_after => '90 days', tier => 'slow')"
);

sub places
{
	my (@months) = @_;

	return value_of(
		"SELECT string_agg(COALESCE(spcname, 'pg_default'), ',' ORDER BY relname) FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = reltablespace WHERE relname IN ("
		  . join(',', map { "'m_2001_0$_'" } @months)
		  . ')');
}

# While the plan is made, of which a dry run shows the rest.
break_steps('list:m_2001_05');
my $listed =
  notices_of($node, 'app', 'CALL tiered_storage.migrate(dry_run => true)');
like(
	$listed,
	qr/WARNING:  XX000: public.m_2001_05 left out of the plan: fault in list of "m_2001_05"/,
	'list: one that fails is left out of the plan');
is(() = $listed =~ /would move table/g, 8, 'list: the others are in it');
left_out_is(
	q('public.m_2001_05 (plan): fault in list of "m_2001_05"'),
	'list: a worker that may move nothing names it');
break_steps('');
left_out_is('NULL', 'list: until the fault is gone');

my $month = 1;
foreach my $step ('evaluate', 'plan', 'move')
{
	my %nouns = (evaluate => 'evaluation', plan => 'plan', move => 'move');
	my @others = ($month, $month + 2);
	my $broken = $month + 1;
	my $noun = $nouns{$step};

	# Of nine partitions three are not detached at a time.
	value_of("ALTER TABLE measure DETACH PARTITION m_2001_0$_")
	  foreach grep { $_ < $month || $_ > $month + 2 } 1 .. 9;
	break_steps("$step:m_2001_0$broken");
	if ($step eq 'evaluate')
	{
		is( value_of(
				"SELECT string_agg(relation || ' ' || verdict, ', ' ORDER BY relation::text) FROM _tiered_storage.evaluate_policies() WHERE verdict IN ('due', 'error')"
			),
			'm_2001_01 due, m_2001_02 error, m_2001_03 due',
			'evaluate_policies() says so, and goes on');
	}
	reload_with($node, 'tiered_storage.auto_migrate' => 'policies');
	$node->poll_query_until('app',
		"SELECT count(*) = 2 FROM pg_class c JOIN pg_tablespace t ON t.oid = reltablespace WHERE spcname = 'slow' AND relname IN ('m_2001_0$others[0]', 'm_2001_0$others[1]')"
	);
	is(places(@others), 'slow,slow', "$step: the others are moved");
	is(places($broken), 'pg_default', "$step: the one that fails is not");
	left_out_is(
		qq('public.m_2001_0$broken ($noun): fault in $step of "m_2001_0$broken"'),
		"$step: workers names it");
	break_steps('');
	$node->poll_query_until('app',
		"SELECT count(*) = 1 FROM pg_class c JOIN pg_tablespace t ON t.oid = reltablespace WHERE spcname = 'slow' AND relname = 'm_2001_0$broken'"
	);
	is(places($broken), 'slow',
		"$step: it is tried again, and moved once the fault is gone");
	left_out_is('NULL', "$step: nothing is left out any more");
	reload_with($node, 'tiered_storage.auto_migrate' => 'off');

	foreach (grep { $_ < $month || $_ > $month + 2 } 1 .. 9)
	{
		value_of(
			"ALTER TABLE measure ATTACH PARTITION m_2001_0$_ FOR VALUES FROM ('2001-0$_-01 UTC') TO (timestamptz '2001-0$_-01 UTC' + interval '1 month')"
		);
	}
	$month += 3;
}

# ---------------------------------------------------------------------
note 'Advice';
# ---------------------------------------------------------------------

value_of(
	"CREATE TABLE hot_$_ (x text) TABLESPACE slow; INSERT INTO hot_$_ SELECT repeat('x', 1000) FROM generate_series(1, 1000)"
) foreach 1 .. 5;
value_of('CALL tiered_storage.sample()');

# No sample of the worker comes between what seems hot and the advice.
reload_with($node, 'tiered_storage.sample_interval' => '1h');
wait_until(
	"SELECT state = 'waiting' AND next_run_at > now() + interval '10 minutes' FROM _tiered_storage.worker_status() WHERE database_name = 'app'",
	'the worker has time');

sub apply_with
{
	my ($faults) = @_;

	break_steps($faults);
	seem_hot($node, 'app', map { ("hot_$_" => 100000) } 1 .. 5);
	return notices_of($node, 'app',
		"CALL tiered_storage.apply_placement('tentative')");
}

sub hot_on
{
	return value_of(
		"SELECT string_agg(right(relname, 1), ',' ORDER BY relname) FROM pg_class c JOIN pg_tablespace t ON t.oid = reltablespace WHERE relname LIKE 'hot%' AND spcname = 'slow'"
	);
}

my $said = apply_with('advise:hot_1,choose:hot_2,plan:hot_3,move:hot_4');
like(
	$said,
	qr/WARNING:  XX000: public.hot_$_->[0] left out of the $_->[2]: fault in $_->[1] of "hot_$_->[0]"/,
	"$_->[1] of one fails")
  foreach [ 1, 'advise', 'advice' ], [ 2, 'choose', 'plan' ],
  [ 3, 'plan', 'plan' ], [ 4, 'move', 'move' ];
is(hot_on(), '1,2,3,4', 'the fifth has moved');
unlike(apply_with(''), qr/left out/, 'without faults');
is(hot_on(), '', 'the others move');

# What a policy moves next: a fault when its partitions are marked.
sub advice_on
{
	my ($month) = @_;

	return value_of(
		"SELECT reason FROM tiered_storage.recommend_placement(include_unchanged => true) WHERE relation = 'm_2001_0$month'::regclass"
	);
}

break_steps('advise:m_2001_01');
like(
	advice_on(1),
	qr/cannot be moved: it is left out after an error: fault in advise of "m_2001_01"/,
	'advice: a partition is left out');
unlike(advice_on(2), qr/left out/, 'advice: and the next is not');

# What leaves a tier that is too full.
value_of(
	'CREATE TABLE big_1 AS SELECT repeat(md5(i::text), 50) x FROM generate_series(1, 1000) i; CREATE TABLE big_2 AS TABLE big_1; CALL tiered_storage.sample()'
);
value_of(
	"SELECT tiered_storage.add_fullness_policy('fast', target => 'slow')");
break_steps('leave:big_1');
like(
	notices_of(
		$node, 'app', 'SELECT * FROM _tiered_storage.evaluate_policies()'),
	qr/WARNING:  XX000: public.big_1 left out of the plan: fault in leave of "big_1"/,
	'fullness: one that fails is left out');
is( value_of(
		"SELECT string_agg(relation::text, ',' ORDER BY relation::text) FROM _tiered_storage.evaluate_policies() WHERE relation::text LIKE 'big%'"
	),
	'big_2',
	'fullness: the other is not');
break_steps('');
value_of(
	"SELECT tiered_storage.remove_policy(tier => 'fast'); DROP TABLE big_1, big_2"
);

# The verdict on a batch.
my ($first, $second) = split /,/,
  value_of(
	"SELECT string_agg(DISTINCT batch_id::text, ',' ORDER BY batch_id::text) FROM _tiered_storage.moves WHERE relation::text LIKE 'hot%' AND state = 'done'"
  );
value_of(
	"ALTER TABLE _tiered_storage.move_effect ADD CONSTRAINT no_verdict CHECK (batch_effect IS NULL OR batch_id <> $first)"
);
value_of('DROP TABLE ' . join ', ', map { "hot_$_" } 1 .. 5);
reload_with($node, 'tiered_storage.sample_interval' => '1s');
my $judged =
  'SELECT string_agg(DISTINCT batch_id::text, $$,$$) FROM _tiered_storage.move_effect WHERE batch_effect IS NOT NULL';
wait_until("SELECT ($judged) = '$second'", 'verdict: one is stored');
left_out_is(
	qq('batch $first (verdict): new row for relation "move_effect" violates check constraint "no_verdict"'),
	'verdict: workers names the batch of which it is not');
value_of(
	'ALTER TABLE _tiered_storage.move_effect DROP CONSTRAINT no_verdict');
left_out_is('NULL', 'verdict: it is given once the fault is gone');
is( value_of(
		"SELECT count(DISTINCT batch_id) FROM _tiered_storage.move_effect WHERE batch_effect IS NOT NULL"
	),
	2,
	'verdict: both are stored');

# ---------------------------------------------------------------------
note 'Verification';
# ---------------------------------------------------------------------

break_steps('verify:a');
value_of("CALL tiered_storage.move_relation('$_', 'slow')")
  foreach 'a', 'b', 'c';
my $begun =
  "SELECT string_agg(e.relation_oid::regclass::text, ',' ORDER BY e.relation_oid::regclass::text) FROM _tiered_storage.move_effect e WHERE e.observed_since IS NOT NULL AND e.settled_at IS NULL AND e.relation_oid IN ('a'::regclass, 'b'::regclass, 'c'::regclass)";
wait_until("SELECT ($begun) = 'b,c'", 'verify: the effects of others begin');
left_out_is(q('public.a (verification): fault in verify of "a"'),
	'verify: workers names it');
break_steps('');
wait_until("SELECT ($begun) = 'a,b,c'",
	'verify: once the fault is gone, it begins as well');
left_out_is('NULL', 'verify: nothing is left out any more');

# ---------------------------------------------------------------------
note 'What returns';
# ---------------------------------------------------------------------

value_of(
	q{
CREATE TABLE r1 TABLESPACE slow AS SELECT 1 AS id; CREATE TABLE r2 TABLESPACE slow AS SELECT 1 AS id;
CALL tiered_storage.sample();
SELECT tiered_storage.add_tiering_policy(r::regclass, tier => 'slow', idle_for => '7 days', options => jsonb_build_object('return_when_reads_per_hour', 100, 'return_tier', 'fast', 'return_after', '1 day'))
	FROM unnest('{r1,r2}'::text[]) r;
INSERT INTO _tiered_storage.relation_history (period_start, relation_oid, period_s, scans, random_reads, sequential_reads, hits, row_changes)
	SELECT now() - h * interval '1 hour', r::regclass, 3600, 1, 500, 500, 0, 0 FROM generate_series(1, 23) h, unnest('{r1,r2}'::text[]) r;
UPDATE _tiered_storage.relation_state SET heat_at = now(), observed_since = '2020-01-01', last_read_at = now(), random_fast = 1000, random_slow = 1000
	WHERE relation_oid IN ('r1'::regclass, 'r2'::regclass);
});
my $returns =
  q{SELECT string_agg(concat_ws(' ', relation, verdict), ', ' ORDER BY relation::text) FROM _tiered_storage.evaluate_policies() WHERE relation IN ('r1'::regclass, 'r2'::regclass)};
is(value_of($returns), 'r1 returns, r2 returns', 'both return');
break_steps('return:r1');
is( value_of($returns),
	'r1 error, r2 returns',
	'return: one that fails is left out, and the other returns');
break_steps('');
value_of('DROP TABLE r1, r2');

# ---------------------------------------------------------------------
note 'However many fail, in a database or in another';
# ---------------------------------------------------------------------

$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other',
	'CREATE EXTENSION tiered_storage; CREATE TABLE single (id int)');
run_cycle($node, 'other');
value_of("CREATE TABLE many_$_ (id int)") foreach 1 .. 40;

sub many_are_left_out
{
	my ($number, $why, $name) = @_;

	wait_until(
		"SELECT state = 'waiting' AND failures = 0 AND left_out = $number AND left_out_why LIKE '$why' FROM _tiered_storage.worker_status() WHERE database_name = 'app'",
		$name);
	return;
}

break_steps(join ',', 'sample:single', 'verify:a',
	map { "sample:many_$_" } 1 .. 40);
$said = notices_of($node, 'app', 'CALL tiered_storage.sample()');
is(() = $said =~ /left out of the sample: fault in sample of "many_/g,
	16, 'a session is told of sixteen');
is( () =
	  $said =~
	  /WARNING:  01000: more than 16 relations left out of the sample/g,
	1,
	'and that there are more');
unlike($said, qr/ERROR/, 'it samples the others');
many_are_left_out(40, '%; and 35 more', 'forty are left out and counted');
insert();
wait_until(
	'SELECT '
	  . join(' AND ', map { history_of($_) . " = $rows{$_}" } 'a', 'b', 'c'),
	'the others are sampled');
ok( $node->poll_query_until(
		'app',
		q(SELECT left_out = 1 AND left_out_why = 'public.single (sample): fault in sample of "single"' FROM _tiered_storage.worker_status() WHERE database_name = 'other')
	),
	'another database names its own');
value_of("CALL tiered_storage.move_relation('$_', 'fast')") foreach 'a', 'b';
wait_until("SELECT ($begun) = 'b,c'",
	'another step of the same database leaves out one and goes on');
many_are_left_out(41, '%; and 36 more', 'and counts it');
break_steps('');
left_out_is('NULL', 'healed');
ok( $node->poll_query_until(
		'app',
		"SELECT left_out = 0 FROM _tiered_storage.worker_status() WHERE database_name = 'other'"
	),
	'there as well');
$node->safe_psql('postgres', 'DROP DATABASE other');

# ---------------------------------------------------------------------
note 'A name of which much is quoted, and clipped within a character';
# ---------------------------------------------------------------------

my $schema = '"' . '""' x 50 . '%s; ' . "\n" . q{'"};
my $hostile = $schema . '."' . "\xc3\xa9" x 31 . '"';
value_of("CREATE SCHEMA $schema; CREATE TABLE $hostile (id int)");
value_of(
	"ALTER TABLE _tiered_storage.relation_history ADD CONSTRAINT no_name CHECK (relation_oid <> ${\value_of(qq(SELECT \$n\$$hostile\$n\$::regclass::oid))})"
);
value_of("INSERT INTO $hostile VALUES (1)");
wait_until(
	"SELECT left_out = 1 AND length(left_out_why) > 130 AND left_out_why LIKE '%(sample): new row%no_name%' FROM _tiered_storage.worker_status() WHERE database_name = 'app'",
	'it is named');
value_of("DROP SCHEMA $schema CASCADE");
left_out_is('NULL', 'and forgotten once it is dropped');
value_of(
	'ALTER TABLE _tiered_storage.relation_history DROP CONSTRAINT no_name');

# What a dropped relation has failed is forgotten.
break_steps('sample:many_1');
left_out_is(q('public.many_1 (sample): fault in sample of "many_1"'),
	'left out');
value_of('DROP TABLE many_1');
left_out_is('NULL', 'dropped');

# ---------------------------------------------------------------------
note 'More effects than are loaded at a time, and those that fail come first';
# ---------------------------------------------------------------------

break_steps('verify:a');
value_of(
	q{
WITH m AS (
	INSERT INTO _tiered_storage.move (relation_oid, relation_name, kind, from_tablespace, to_tablespace, to_tablespace_oid, state, requested_by, reason, method, size_bytes, started_at, finished_at)
	SELECT c.oid, 'public.a', 'table', 'slow', 'fast', CASE c.reltablespace WHEN 0 THEN d.dattablespace ELSE c.reltablespace END, 'done', CURRENT_USER, 'many', 'online', 0, now(), now()
	FROM pg_class c, pg_database d, generate_series(1, 1000) WHERE c.oid = 'a'::regclass AND d.datname = current_database()
	RETURNING move_id, relation_oid, to_tablespace_oid)
INSERT INTO _tiered_storage.move_effect (move_id, relation_oid, to_tablespace_oid)
	SELECT m.move_id, m.relation_oid, m.to_tablespace_oid FROM m;
});
value_of("CALL tiered_storage.move_relation('c', 'fast')");
wait_until(
	q(SELECT count(*) = 1 FROM _tiered_storage.move_effect e JOIN _tiered_storage.move m USING (move_id) WHERE e.relation_oid = 'c'::regclass AND e.observed_since IS NOT NULL AND e.settled_at IS NULL AND e.move_id > (SELECT max(x.move_id) FROM _tiered_storage.move x WHERE x.reason = 'many')),
	'the effect after them begins');

$node->stop;
done_testing();

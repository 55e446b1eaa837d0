# Relations that are dropped at any moment of a move: the move ends quietly, or
# says that there is no such relation, but never with an internal error.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

# How often tables are made and dropped beside movers.
my $rounds = 40;

my $node = new_node(
	'main',
	conf => q(
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1s'
tiered_storage.migrate_interval = '1s'
tiered_storage.observation_period = 0
log_error_verbosity = verbose
));
$node->start;
create_in_place_tablespace($node, 'slow', 'fast');
$node->safe_psql('postgres', 'CREATE DATABASE app');
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
SELECT tiered_storage.add_tier('fast', '{fast}', profile => 'nvme', reserve_fraction => 0);
CREATE ROLE owner;
GRANT CREATE ON SCHEMA public TO owner;
GRANT CREATE ON TABLESPACE slow TO owner;
GRANT USAGE ON SCHEMA tiered_storage TO owner;
GRANT EXECUTE ON PROCEDURE tiered_storage.move_relation TO owner;
CREATE PROCEDURE make(name text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %I (id int PRIMARY KEY, value text) PARTITION BY RANGE (id)', name || '_all');
	EXECUTE format('ALTER TABLE %I OWNER TO owner', name || '_all');
	EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (0) TO (1000)', name, name || '_all');
	EXECUTE format('ALTER TABLE %I OWNER TO owner', name);
	EXECUTE format('INSERT INTO %I SELECT i, repeat(md5(i::text), 100) FROM generate_series(1, 100) i', name);
	EXECUTE format('CREATE UNLOGGED TABLE %I AS SELECT * FROM %I', name || '_unlogged', name);
	EXECUTE format('ALTER TABLE %I OWNER TO owner', name || '_unlogged');
	EXECUTE format('CREATE MATERIALIZED VIEW %I AS SELECT * FROM %I', name || '_view', name || '_unlogged');
	EXECUTE format('ALTER MATERIALIZED VIEW %I OWNER TO owner', name || '_view');
END $$;
));
prepare_matter($node, 'app');
my $stops = new_stops($node, 'app');
my $offset = -s $node->logfile;

# ---------------------------------------------------------------------
note 'One moment after the other';
# ---------------------------------------------------------------------

# The moments before the first stop point are those at which the mover wants one
# of our own tables.
my @moments = (
	(map { "table $_" } qw(tier pin move)),
	'paused',
	map { "point $_" }
	  qw(registered file_created copying copied caught_up residency locked));

# What is moved, and what is dropped.
my @subjects = (
	[ 'd', 'd' ],
	[ 'd', 'd_all' ],
	[ 'd_all', 'd_all' ],
	[ 'd_pkey', 'd_all' ],
	[ 'd_view', 'd_view' ],
	[ 'd_unlogged', 'd_unlogged' ],);

sub drop
{
	my ($name) = @_;
	my $kind = $name =~ /_view$/ ? 'MATERIALIZED VIEW' : 'TABLE';
	return "DROP $kind $name CASCADE";
}

foreach my $moment (@moments)
{
	my ($what, $where) = split / /, $moment;
	my @bad;

	foreach my $subject (@subjects)
	{
		my ($moved, $dropped) = @$subject;

		# Only an online move has these points.
		next if $what eq 'point' && $moved eq 'd_unlogged';

		$node->safe_psql('app', "CALL make('d')");
		if ($what eq 'table')
		{
			$stops->query_safe(
				"BEGIN; LOCK TABLE _tiered_storage.$where IN ACCESS EXCLUSIVE MODE"
			);
		}
		elsif ($what eq 'paused')
		{
			$node->safe_psql('app', 'SELECT tiered_storage.pause()');
		}
		else
		{
			hold($stops, $where);
		}
		my $run = start_sql($node, 'app', 'SET ROLE owner',
			"CALL tiered_storage.move_relation('$moved', 'slow', allow_lock => true)"
		);
		if ($what eq 'table')
		{
			wait_for($stops,
				"SELECT count(*) > 0 FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted AND l.relation = '_tiered_storage.$where'::regclass AND a.query ~ '^CALL tiered'"
			);
		}
		elsif ($what eq 'paused')
		{
			wait_for($stops,
				"SELECT count(*) > 0 FROM _tiered_storage.move_progress WHERE phase = 'paused'"
			);
		}
		else
		{
			wait_stopped($stops, $where);
		}

		# Who drops it may have to wait for the mover, who lets him in.
		my $drop = start_sql($node, 'app', drop($dropped));
		wait_for($stops,
			"SELECT NOT EXISTS (SELECT FROM pg_class WHERE relname = '$dropped') OR EXISTS (SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted AND a.query ~ '^DROP')"
		);
		if ($what eq 'table')
		{
			$stops->query_safe('COMMIT');
		}
		elsif ($what eq 'paused')
		{
			$node->safe_psql('app', 'SELECT tiered_storage.resume()');
		}
		else
		{
			let_go($stops, $where);
		}
		my $error = finish_sql($run);
		push @bad, "$moved: $error"
		  if $error !~ /^$|^ERROR:  42P01: /;
		my $of_drop = finish_sql($drop);
		push @bad, "drop of $dropped: $of_drop" if $of_drop =~ /ERROR/;
		$node->safe_psql('app',
			'DROP MATERIALIZED VIEW IF EXISTS d_view; DROP TABLE IF EXISTS d_all, d_unlogged CASCADE'
		);
	}
	is(join("\n", @bad), '', "dropped at: $moment");
}

# ---------------------------------------------------------------------
note 'At random';
# ---------------------------------------------------------------------

$node->safe_psql(
	'app', q(
CREATE TABLE aging (at date NOT NULL, value text) PARTITION BY RANGE (at);
SELECT tiered_storage.add_tiering_policy('aging', '90 days', 'slow');
));
my $maker = start_sql(
	$node, 'app', qq(
DO \$\$
BEGIN
	FOR i IN 1 .. $rounds LOOP
		CALL make('r' || i % 3);
		EXECUTE format('CREATE TABLE aging_%s PARTITION OF aging FOR VALUES FROM (%L) TO (%L)', i % 3, '2001-01-01'::date + i % 3, '2001-01-02'::date + i % 3);
		EXECUTE format('INSERT INTO aging_%s SELECT ''2001-01-01''::date + %s, repeat(''x'', 3000)', i % 3, i % 3);
		COMMIT;
		IF i > 2 THEN
			EXECUTE format('DROP TABLE aging_%s', (i + 1) % 3);
			EXECUTE format('DROP TABLE r%s_all, r%s_unlogged CASCADE', (i + 1) % 3, (i + 1) % 3);
			COMMIT;
		END IF;
	END LOOP;
END \$\$));

# What there is when it is asked for, by OID, so that what is gone is not found
# out by the parser.
my $calls = "SET tiered_storage.debug_lock_attempts = 3;\n" . join '', map {
	qq(
SELECT format('CALL tiered_storage.move_relation(%s, %L, allow_lock => true)', oid, (ARRAY['slow', 'fast'])[1 + ($_ + oid::int) % 2])
FROM pg_class WHERE relname ~ '^(r\\d|aging_)' AND relkind IN ('r', 'p', 'i', 'm') ORDER BY random() LIMIT 4 \\gexec
SELECT format('SELECT count(*) FROM _tiered_storage.explain_placement(%s)', oid)
FROM pg_class WHERE relname ~ '^(r[0-9]|aging_)' AND relkind IN ('r', 'p', 'i', 'm') ORDER BY random() LIMIT 2 \\gexec
SELECT count(*) FROM tiered_storage.recommend_placement();
CALL tiered_storage.apply_placement('tentative');
CALL tiered_storage.migrate();
)
} 1 .. 10;
reload_with($node, 'tiered_storage.auto_migrate' => 'placement');
my $making =
  "SELECT count(*) FROM pg_stat_activity WHERE query ~ '^\\s*DO' AND state = 'active'";
for (1 .. $rounds)
{
	$node->psql('app', $calls, on_error_stop => 0);
	last if $node->safe_psql('app', $making) eq '0';
}
isnt(
	$node->safe_psql(
		'app',
		"SELECT count(*) FROM _tiered_storage.move WHERE state = 'done' AND relation_name ~ '^public.(r\\d|aging)'"
	),
	0,
	'some of them have been moved');
unlike(finish_sql($maker), qr/ERROR/, 'tables come and go beside movers');
reload_with($node, 'tiered_storage.auto_migrate' => 'off');
wait_for_cycle($node, 'app');
is( $node->safe_psql(
		'app',
		"SELECT count(*) FROM _tiered_storage.move WHERE state = 'running' OR sqlstate ~ '^XX'"
	),
	0,
	'no move is left, or failed by an internal error');
is(log_lines($node, $offset, qr/ (ERROR|WARNING|LOG|FATAL):  XX/),
	'', 'nor is one in the log');
is( $node->safe_psql('app', 'SELECT count(*) FROM _tiered_storage.move_file'),
	0,
	'no file is registered');
is(stray_files($node, 'app'), '', 'or left behind');

$stops->quit;
$node->stop;

done_testing();

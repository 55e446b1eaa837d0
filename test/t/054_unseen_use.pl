# What nobody has seen used may have been used: where counts were lost, are not counted, or
# are those of another server, neither the advice nor a policy says that a table is not read.
#
# Made up in the tables, since no call makes it in the time of a test: rates, and
# history of days and weeks; what a standby has told.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

my $settings = q(
session_preload_libraries = 'tiered_storage'
tiered_storage.test_page_cache = off
timezone = 'UTC'
fsync = off
wal_keep_size = '1GB'
);
my $primary =
  new_node('primary', standby => 1, preload => 0, conf => $settings);
$primary->start;
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
create_in_place_tablespace($primary, 'slow');

my $node = $primary;

# Two tiers, of which the slow one is cheaper.
sub install
{
	my ($db) = @_;

	$node->safe_psql(
		$db, q(
SET client_min_messages = warning;
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.remove_tier(tier_name) FROM _tiered_storage.tiers;
SELECT tiered_storage.add_tier('ssd', '{pg_default}', profile => 'nvme', rank => 0, reserve_fraction => 0, price_per_gb_month => 1000);
SELECT tiered_storage.add_tier('hdd', '{slow}', profile => 'hdd_7200', rank => 1, reserve_fraction => 0, price_per_gb_month => 1);
));
	return;
}

# What is said of t: is it known to be unread, and does money send it away?
my $known = qr/\A1\nhdd\|firm\|t\z/;
my $unknown = qr/\A0\nssd\|provisional\|f\z/;

sub is_said
{
	my ($db, $expected, $name, $notice) = @_;
	my ($rc, $out, $err) = $node->psql(
		$db, q(
SELECT count(*) FROM _tiered_storage.unused_relations() WHERE relation = 't'::regclass;
SELECT recommended_tier, confidence, reason ~ 'not read since' FROM tiered_storage.recommend_placement(true, objective => 'money') WHERE relation = 't'::regclass;
));

	is($rc, 0, "$name: no error");
	like($out, $expected, $name);
	if (defined $notice)
	{
		my @said = $err =~ /NOTICE:  $notice/g;
		is(scalar @said, 2, "$name: both say so");
	}
	else
	{
		unlike($err, qr/unread$|is not asked what/m, "$name: nothing to say");
	}
	return;
}

# As if t had been observed for ten days, and read for the last time nine days ago.
sub observe_for_long
{
	$node->safe_psql(
		'postgres', q(
CALL tiered_storage.sample();
UPDATE _tiered_storage.relation_state SET sampled_since = now() - '10 days'::interval,
	proven_since = now() - '10 days'::interval, rewritten_at = NULL, evidence_interval_s = 0,
	random_fast = 0, random_slow = 0, sequential_fast = 0, sequential_slow = 0,
	changes_fast = 0, changes_slow = 0, page_writes_fast = 0, page_writes_slow = 0,
	last_read_at = now() - '9 days'::interval, last_written_at = now() - '9 days'::interval;
UPDATE _tiered_storage.sampler SET counts_since = now() - '10 days'::interval, counts_lost_at = NULL;
));
	return;
}

install('postgres');
my $load = q(
CREATE TABLE t (id int, v text) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, repeat('v', 300) FROM generate_series(1, 20000) i;
SELECT pg_stat_force_next_flush();
);
$node->safe_psql('postgres', $load);

# ---------------------------------------------------------------------
note 'Standbys';
# ---------------------------------------------------------------------

$primary->wait_for_catchup($standby);
observe_for_long();
is_said(
	'postgres', $known,
	'a standby that was not added',
	'1 standby is not asked for its reads, such as "standby"');
my $connection = 'host=' . $standby->host . ' port=' . $standby->port;
$node->safe_psql('postgres',
	"SELECT tiered_storage.add_standby('standby', conninfo => '$connection')"
);

# As the worker would have left it, which is not here.
$node->safe_psql('postgres',
	q(INSERT INTO _tiered_storage.standby_state (standby_name, last_attempt_at, last_pull_at, next_pull_at, failures) VALUES ('standby', now(), now(), now(), 0))
);
is_said('postgres', $unknown, 'one that was added just now');
$node->safe_psql('postgres',
	q(UPDATE _tiered_storage.standby SET added_at = now() - '9 days'::interval)
);
is_said('postgres', $known, 'one that was added nine days ago');
$node->safe_psql('postgres',
	q(UPDATE _tiered_storage.standby_state SET last_pull_at = now() - '2 hours'::interval)
);
is_said(
	'postgres', $unknown,
	'one that is silent',
	'standby standby has reported its reads until');
$node->safe_psql('postgres',
	q(SELECT tiered_storage.remove_standby('standby')));

# It is not asked about from here on.
$standby->stop;
$node->poll_query_until('postgres',
	'SELECT NOT EXISTS (SELECT FROM pg_stat_replication)')
  or die 'the standby is still there';
is_said('postgres', $known, 'no standby');

# ---------------------------------------------------------------------
note 'What is not counted';
# ---------------------------------------------------------------------

$node->safe_psql('postgres',
	'CREATE ROLE app LOGIN; ALTER ROLE app SET track_counts = off');
is_said('postgres', $unknown, 'a role that does not count',
	'activity of role "app" is not counted, so no relation is known to be unread'
);

# Not even if its tier is too full.
$node->safe_psql('postgres',
	q(SELECT tiered_storage.alter_tier('ssd', device => jsonb_build_object('capacity_bytes', 1000000)))
);
is( $node->safe_psql(
		'postgres',
		q(SELECT count(*) FILTER (WHERE confidence = 'firm') FROM tiered_storage.recommend_placement())
	),
	0,
	'a tier that is too full: nothing is firm');
$node->safe_psql('postgres', 'ALTER ROLE app RESET track_counts');
is( $node->safe_psql(
		'postgres',
		q(SELECT count(*) FILTER (WHERE confidence = 'firm') > 0 FROM tiered_storage.recommend_placement())
	),
	't',
	'it is, where all is counted');
$node->safe_psql('postgres',
	q(SELECT tiered_storage.alter_tier('ssd', device => jsonb_build_object('capacity_bytes', 1000000000)))
);
is_said('postgres', $known,
	'it counts again, and nobody has looked meanwhile');
$node->safe_psql(
	'postgres', q(
ALTER ROLE app SET track_counts = off;
CALL tiered_storage.sample();
ALTER ROLE app RESET track_counts;
));
is_said('postgres', $unknown, 'a sample has found it, and knows that later');
observe_for_long();

# ---------------------------------------------------------------------
note 'What was lost';
# ---------------------------------------------------------------------

$node->safe_psql('postgres', 'SELECT pg_stat_reset()');
is_said('postgres', $known,
	'a reset just after a sample loses next to nothing');
observe_for_long();
my $months_ago = q(
UPDATE _tiered_storage.relation_state SET sampled_since = now() - '100 days'::interval;
UPDATE _tiered_storage.sampler SET last_sample_at = now() - '60 days'::interval;
);
$node->safe_psql('postgres', $months_ago);
$node->safe_psql('postgres', 'SELECT pg_stat_reset()');
is_said('postgres', $unknown, 'no sample for months, and then a reset');
$node->safe_psql('postgres', 'CALL tiered_storage.sample()');
is_said('postgres', $unknown, 'and a sample knows that later');
observe_for_long();
$node->safe_psql('postgres', $months_ago);
$node->stop('immediate');
$node->start;
is_said('postgres', $unknown, 'no sample for months, and then a crash');

# ---------------------------------------------------------------------
note 'Installed after a failover';
# ---------------------------------------------------------------------

# What the old primary has read leaves no trace in the statistics of the new one.
$primary->safe_psql('postgres', 'CREATE DATABASE later');
$primary->safe_psql('later', "$load CHECKPOINT; SELECT count(*) FROM t");
$standby->start;
$primary->wait_for_catchup($standby);
$primary->stop;
$standby->promote;
$standby->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()')
  or die 'the standby was not promoted';
$node = $standby;
my $history = $node->data_dir . '/pg_wal/00000002.history';
ok(-f $history, 'it has a timeline of its own');

# A year later.
my $later = time + 31536000;
$node->safe_psql('postgres',
	"SELECT format('ALTER DATABASE later SET tiered_storage.test_now = %L', to_timestamp($later)) \\gexec"
);

# It takes a sample.
sub install_anew
{
	$node->safe_psql('later', 'DROP EXTENSION IF EXISTS tiered_storage');
	install('later');
	return;
}
install_anew();
is_said(
	'later',
	qr/\A1\nssd\|provisional\|t\z/,
	'promoted a year ago, its statistics prove that it was not read since');
utime $later - 600, $later - 600, $history;
install_anew();
is_said('later', $unknown, 'promoted just now, they prove nothing');
rename $history, "$history.away" or die $!;
install_anew();
is_said('later', $unknown, 'nor if nobody knows when it was promoted');
rename "$history.away", $history or die $!;
install_anew();
is( $node->safe_psql(
		'later', q(
SET client_min_messages = warning;
DO $$ BEGIN PERFORM tiered_storage.add_tiering_policy('t', tier => 'hdd', idle_for => '1 hour'); END $$;
SELECT verdict FROM _tiered_storage.evaluate_policies())
	),
	'not observed',
	'nor for a policy');
$node->stop;

done_testing();

# With move_max_slowdown a copy begins at the floor of its rate and says so; without it,
# from the next batch on, it does not.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

plan skip_all => 'no debug build of the library'
  unless $ENV{TIER_DEBUG_LIBDIR};

my $node = new_node(
	'main',
	conf => q(
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
tiered_storage.move_max_slowdown = 0.25
));
$node->start;
create_in_place_tablespace($node, 'fast', 'slow');
$node->safe_psql('postgres', 'CREATE DATABASE app');
prepare_matter($node, 'app');
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
CREATE TABLE paced TABLESPACE fast AS SELECT i, i / 2.0 AS h FROM generate_series(1, 20000) i;
));
my $rows = fingerprint($node, 'app', 'paced');
my $pace =
  'SELECT phase, pace_bytes_per_s, slowdown FROM _tiered_storage.move_progress';
my $stops = new_stops($node, 'app');

hold($stops, 'copying');
my $run = start_move($node, 'app', 'paced', 'slow');
wait_stopped($stops, 'copying');
is($node->safe_psql('app', $pace),
	'copying|1048576|', 'it begins slowly, and knows nothing of users yet');
reload_with($node, 'tiered_storage.move_max_slowdown' => 0);

# To the next stop, so that it has looked.
hold($stops, 'copied');
let_go($stops, 'copying');
wait_stopped($stops, 'copied');
is($node->safe_psql('app', $pace),
	'copying||', 'and is not slowed down any more');
let_go($stops, 'copied');
unlike(finish_sql($run), qr/ERROR/, 'it ends');
is(fingerprint($node, 'app', 'paced'), $rows, 'with its rows');

# To its end, at that pace.
reload_with(
	$node,
	'tiered_storage.move_max_slowdown' => 0.25,
	'tiered_storage.move_rate_limit' => '512kB');
$node->poll_query_until('app',
	"SELECT current_setting('tiered_storage.move_rate_limit') = '512kB' AND current_setting('tiered_storage.move_max_slowdown') = '0.25'"
) or die 'the settings do not take effect';
hold($stops, 'copying');
$run = start_move($node, 'app', 'paced', 'fast');
wait_stopped($stops, 'copying');
is($node->safe_psql('app', $pace),
	'copying|524288|', 'no faster than move_rate_limit');
let_go($stops, 'copying');
unlike(finish_sql($run), qr/ERROR/, 'it ends');
is(fingerprint($node, 'app', 'paced'), $rows, 'with its rows');

$stops->quit;
$node->stop;
done_testing();

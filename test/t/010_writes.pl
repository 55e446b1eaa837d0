# Writes counted from the WAL, where that is not all there any more: removed,
# begun by another server, of another database, after a crash.
#
# Made up in the tables, since no call makes it in the time of a test: rates, and
# history of days and weeks.
#
# On every major.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TierTest;

# Without preload: a session can count, too.  Small segments, so that there are
# many of them.  They are kept but where a test wants them gone: a checkpoint
# removes what is older than itself, and the last sample's position is.
my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1, extra => ['--wal-segsize=1']);
$primary->append_conf(
	'postgresql.conf', q(
autovacuum = off
checkpoint_timeout = 1d
full_page_writes = on
max_wal_size = 64MB
min_wal_size = 2MB
wal_keep_size = 64MB
wal_level = replica
shared_buffers = 16MB
));
$primary->append_conf('postgresql.conf',
	"dynamic_library_path = '$ENV{TIER_DEBUG_LIBDIR}:\$libdir'")
  if $ENV{TIER_DEBUG_LIBDIR};
$primary->start;
$primary->safe_psql('postgres', 'CREATE DATABASE app');
$primary->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
CREATE TABLE w (id int, v int, filler char(900)) WITH (fillfactor = 50);
CREATE TABLE other (filler char(900));
INSERT INTO w SELECT i, 0, 'x' FROM generate_series(1, 400) i;
CREATE TABLE first_rows AS SELECT min(id) AS id FROM w GROUP BY (ctid::text::point)[0];
VACUUM w;
UPDATE w SET v = v + 1 WHERE id IN (SELECT id FROM first_rows);
CALL tiered_storage.sample();
));
my $pages = $primary->safe_psql('app',
	"SELECT pg_relation_size('w') / current_setting('block_size')::int");
my $update_each_page =
  'UPDATE w SET v = v + 1 WHERE id IN (SELECT id FROM first_rows)';

# Pages of a table that were written since the last sample.  The table is
# observed from now on only.
sub pages_written
{
	my ($node, $table, @settings) = @_;

	$node->safe_psql(
		'app',
		join ';',
		@settings,
		'SELECT _tiered_storage.restore_state() WHERE NOT EXISTS (SELECT FROM _tiered_storage.sampler)',
		'TRUNCATE _tiered_storage.relation_history, _tiered_storage.history_hour',
		'CALL tiered_storage.sample()');
	return $node->safe_psql('app',
		"SELECT COALESCE(sum(page_writes), 0) FROM _tiered_storage.history_rows WHERE relation_oid = '$table'::regclass"
	);
}

# Changes the setting, and waits until it is in the record of a checkpoint.
sub set_full_page_writes
{
	my ($value) = @_;

	$primary->safe_psql(
		'app', qq(
ALTER SYSTEM SET full_page_writes = $value;
SELECT pg_reload_conf();
DO \$\$
DECLARE
	give_up_at timestamptz := clock_timestamp() + interval '1 minute';
BEGIN
	LOOP
		CHECKPOINT;
		EXIT WHEN (SELECT full_page_writes = '$value' FROM pg_control_checkpoint());
		IF clock_timestamp() > give_up_at THEN
			RAISE EXCEPTION 'the setting does not arrive';
		END IF;
	END LOOP;
END
\$\$));
	return;
}

sub sampler
{
	my ($node, $what) = @_;

	return $node->safe_psql('app',
		"SELECT $what FROM _tiered_storage.sampler");
}

# ---------------------------------------------------------------------
note 'Other databases';
# ---------------------------------------------------------------------

# A copy has the same file numbers.
$primary->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE app');
is( $primary->safe_psql('copy', "SELECT pg_relation_filenode('w')"),
	$primary->safe_psql('app', "SELECT pg_relation_filenode('w')"),
	'a table of another database has a file of the same number');
is(pages_written($primary, 'w'), 0, 'nothing is written');
$primary->safe_psql('copy', "CHECKPOINT; $update_each_page");
is(pages_written($primary, 'w'),
	0, 'what another database writes is not counted here');
cmp_ok(
	sampler($primary, 'last_wal_unattributed_bytes'),
	'>',
	$pages * 3000,
	'but as WAL of nobody');
$primary->safe_psql('app', $update_each_page);
is(pages_written($primary, 'w'), $pages, 'what this one writes is');
$primary->safe_psql('postgres', 'DROP DATABASE copy');

# ---------------------------------------------------------------------
note 'An error while WAL is read';
# ---------------------------------------------------------------------

SKIP:
{
	skip 'needs a debug build', 2 unless $ENV{TIER_DEBUG_LIBDIR};
	my $session = $primary->background_psql('app', on_error_stop => 0);
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	my $fail =
	  "SET tiered_storage.debug_fault = 'reading_wal:error'; CALL tiered_storage.sample()";

	# Its own WAL the session may write to.
	$session->query($fail) for 1 .. 3;
	like($session->{stderr}, qr/fault at "reading_wal"/, 'samples fail');
	cmp_ok(
		scalar(
			grep { (readlink($_) // '') =~ m{/pg_wal/} }
			  glob "/proc/$pid/fd/*"),
		'<=', 1,
		'and leave no file open');
	$session->quit;
}

# ---------------------------------------------------------------------
note 'A crash';
# ---------------------------------------------------------------------

# What samples have counted is not lost after a full hour.
$primary->safe_psql('app',
	'SELECT _tiered_storage.take_snapshot(now(), 1e9)');
$primary->safe_psql('app', "CHECKPOINT; $update_each_page");
$primary->stop('immediate');
$primary->start;
is(pages_written($primary, 'w'),
	$pages, 'what was written before a crash is counted after it');
is(sampler($primary, 'last_wal_scale'), 1, 'once');
$primary->safe_psql('app', "CHECKPOINT; $update_each_page");
is(pages_written($primary, 'w'), $pages, 'and so is what comes after it');

# ---------------------------------------------------------------------
note 'WAL that is gone';
# ---------------------------------------------------------------------

# A restart, because nobody can see when the checkpointer knows a new setting.
$primary->safe_psql('postgres', 'ALTER SYSTEM SET wal_keep_size = 0');
$primary->restart;
my $position = sampler($primary, 'wal_position');
my $segment =
  $primary->safe_psql('app', "SELECT pg_walfile_name('$position')");
$primary->safe_psql('app',
	"INSERT INTO other SELECT 'x' FROM generate_series(1, 2000)")
  foreach 1 .. 3;

# Two checkpoints later nobody needs the segments; few of them are kept.
$primary->safe_psql('app', "CHECKPOINT; SELECT pg_switch_wal(); CHECKPOINT");
$primary->safe_psql('app',
	"INSERT INTO other SELECT 'x' FROM generate_series(1, 8000)");
ok( !-e $primary->data_dir . "/pg_wal/$segment",
	'the WAL of the last sample is gone');
my $written = pages_written($primary, 'other');
cmp_ok(
	sampler($primary, 'last_wal_read_bytes'),
	'<',
	sampler($primary, 'last_wal_bytes'),
	'what is left is read');
cmp_ok(sampler($primary, 'last_wal_scale'),
	'>', 1.3, 'and stands for what is gone');
my $true = $primary->safe_psql('app',
	"SELECT pg_relation_size('other') / current_setting('block_size')::int");
cmp_ok(abs($written / $true - 1),
	'<', 0.25, "about as many pages as there are ($written of $true)");
$primary->safe_psql('postgres', 'ALTER SYSTEM RESET wal_keep_size');
$primary->restart;
$primary->safe_psql('app', "CHECKPOINT; $update_each_page");
is(pages_written($primary, 'w'), $pages, 'the next sample is as always');

# A position that no server was at: a copy of files that do not fit together.
$primary->safe_psql('app',
	"UPDATE _tiered_storage.sampler SET wal_position = 'FFFF/0', wal_since = '2000-01-01'"
);
is(pages_written($primary, 'w'), 0, 'a position in the future');
is( $primary->safe_psql(
		'app',
		"SELECT wal_position <= pg_current_wal_lsn(), wal_since > '2000-01-01', last_wal_bytes FROM _tiered_storage.sampler"
	),
	't|t|0',
	'is forgotten');
$primary->safe_psql('app', "CHECKPOINT; $update_each_page");
$primary->safe_psql('app',
	"UPDATE _tiered_storage.sampler SET wal_position = wal_position + 3");

# Where it begins to read, a part of a record is missing, for which the rest stands.
$written = pages_written($primary, 'w');
cmp_ok(abs($written / $pages - 1), '<', 0.1,
	"a position in the middle of a record does no harm ($written of $pages)");

# ---------------------------------------------------------------------
note 'Without full_page_writes';
# ---------------------------------------------------------------------

# What changes while a checkpoint runs is of the next one.  A checkpoint that
# spreads its writes waits 100 ms for each page.
set_full_page_writes('off');
$primary->safe_psql('app', $update_each_page);
is(pages_written($primary, 'w'), $pages, 'pages that are different ones');
$primary->safe_psql('app', $update_each_page);
is(pages_written($primary, 'w'), 0, 'the same pages, before a checkpoint');
my $log_offset = -s $primary->logfile;
my $backup = start_sql($primary, 'app', "SELECT pg_backup_start('slow')");
$primary->wait_for_log(qr/checkpoint starting: force wait/, $log_offset);
$primary->safe_psql('app', $update_each_page);
is(pages_written($primary, 'w'), $pages, 'the same pages, while one runs');
unlike(
	slurp_file($primary->logfile, $log_offset),
	qr/checkpoint complete/,
	'it has not ended in between');
$primary->safe_psql('app', 'CHECKPOINT');
finish_sql($backup);
$primary->safe_psql('app', $update_each_page);
is(pages_written($primary, 'w'), $pages, 'and after another one');
set_full_page_writes('on');
$primary->safe_psql('app', $update_each_page);
is(pages_written($primary, 'w'), $pages, 'full_page_writes again');

# ---------------------------------------------------------------------
note 'A standby';
# ---------------------------------------------------------------------

$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

# The last sample of the primary is in WAL that the standby has, as it is after a full hour.
$primary->safe_psql('app',
	'CALL tiered_storage.sample(); SELECT _tiered_storage.take_snapshot(now(), 1e9)'
);
$primary->safe_psql('app', "CHECKPOINT; $update_each_page");
$primary->safe_psql('app', 'SELECT pg_switch_wal()');
$primary->safe_psql('app', "INSERT INTO other SELECT 'x'");
$primary->wait_for_catchup($standby);
like(
	error_of($standby, 'app', 'CALL tiered_storage.sample()'),
	qr/ERROR:  25006: cannot execute CALL tiered_storage.sample during recovery/,
	'a standby takes no sample');
is( $standby->safe_psql(
		'app',
		"SELECT write_source, page_writes_per_hour > 0, wal_bytes_per_hour > 0 FROM _tiered_storage.heat WHERE relation = 'w'::regclass"
	),
	'wal|t|t',
	'and shows what the primary has counted');
$primary->stop('immediate');
$standby->promote;
$standby->poll_query_until('app', 'SELECT NOT pg_is_in_recovery()')
  or die 'not promoted';
$standby->safe_psql('app', "INSERT INTO other SELECT 'x'");
is(pages_written($standby, 'w'),
	$pages,
	'a promoted server counts what was written before it was promoted');
is( $standby->safe_psql(
		'app',
		'SELECT last_wal_scale, last_wal_read_bytes = last_wal_bytes FROM _tiered_storage.sampler'
	),
	'1|t',
	'all of it, on both timelines');
$standby->safe_psql('app', "CHECKPOINT; $update_each_page");
is(pages_written($standby, 'w'), $pages, 'and what comes after');
is( log_lines(
		$standby, 0, qr/(WARNING|PANIC|requested WAL segment|past end)/),
	'',
	'nothing to complain about');
$standby->stop;

# ---------------------------------------------------------------------
note 'wal_level = minimal';
# ---------------------------------------------------------------------

my $minimal = PostgreSQL::Test::Cluster->new('minimal');
$minimal->init;
$minimal->append_conf(
	'postgresql.conf', q(
autovacuum = off
max_wal_senders = 0
wal_level = minimal
));
$minimal->append_conf('postgresql.conf',
	"dynamic_library_path = '$ENV{TIER_DEBUG_LIBDIR}:\$libdir'")
  if $ENV{TIER_DEBUG_LIBDIR};
$minimal->start;
$minimal->safe_psql('postgres', 'CREATE DATABASE app');
$minimal->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
CREATE TABLE w (id int, v int);
INSERT INTO w VALUES (1, 1);
CALL tiered_storage.sample();
CHECKPOINT;
UPDATE w SET v = 2;
));
is(pages_written($minimal, 'w'), 1, 'counts as well');
$minimal->stop;

done_testing();

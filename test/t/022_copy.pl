# What an online move must notice while it copies, and when it has the strong lock:
# WAL that is gone, and WAL that cannot be read; data checksums that are switched;
# that it has had the lock for long enough.
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

plan skip_all => 'no debug build of the library'
  unless $ENV{TIER_DEBUG_LIBDIR};

my $node = new_node(
	'main',
	conf => q(
checkpoint_timeout = '1h'
wal_recycle = off
min_wal_size = 32MB
fsync = off
tiered_storage.auto_migrate = off
tiered_storage.sample_interval = '1h'
tiered_storage.debug_lock_attempts = 1000
tiered_storage.move_lock_timeout = '10ms'
));
$node->start;
create_in_place_tablespace($node, 'slow');
$node->safe_psql('postgres', 'CREATE DATABASE app');
prepare_matter($node, 'app');
$node->safe_psql(
	'app', q(
CREATE EXTENSION tiered_storage;
SELECT tiered_storage.add_tier('slow', '{slow}', profile => 'hdd_7200', reserve_fraction => 0);
));
my $stops = new_stops($node, 'app');
my $rows = 5000;

# No TOAST, which would be moved first.
sub create_table
{
	my ($name) = @_;

	$node->safe_psql(
		'app', qq(
CREATE TABLE $name (id int, n name) WITH (autovacuum_enabled = off);
INSERT INTO $name SELECT generate_series(1, $rows), ''));
	return;
}

sub rows_of
{
	my ($name) = @_;

	return $node->safe_psql('app',
		"SELECT count(*), sum(id), min(n), max(n) FROM $name");
}

my $changed = join '|', $rows, $rows * ($rows + 1) / 2, 'new', 'new';

# The names of the WAL segments that are complete, the last of them written now.
sub write_segments
{
	my ($number) = @_;
	my @segments;

	foreach (1 .. $number)
	{
		push @segments,
		  $node->safe_psql('app',
			'SELECT pg_walfile_name(pg_current_wal_lsn())');
		$node->safe_psql('app',
			'SELECT pg_logical_emit_message(false, $$$$, repeat(md5($$$$), 1000)); SELECT pg_switch_wal()'
		);
	}
	return @segments;
}

sub wal_file
{
	my ($segment) = @_;

	return $node->data_dir . "/pg_wal/$segment";
}

# ---------------------------------------------------------------------
# WAL
# ---------------------------------------------------------------------

# One checkpoint is enough to remove what the mover has not read.  It begins again.
create_table('gone');
hold($stops, 'copied');
my $move = start_move($node, 'app', 'gone', 'slow');
wait_stopped($stops, 'copied');
$node->safe_psql('app', "UPDATE gone SET n = 'new'");
my @segments = write_segments(3);
$node->safe_psql('app', 'CHECKPOINT');
ok(!-e wal_file($segments[1]), 'one checkpoint removes a segment');
hold($stops, 'file_created');
let_go($stops, 'copied');
wait_stopped($stops, 'file_created');
pass('the copy begins again');
let_go($stops, 'file_created');
is(finish_sql($move), '', 'and the move ends');
is(tablespaces_of($node, 'app', 'gone'), 'slow', 'the table is moved');
is(rows_of('gone'), $changed, 'with the changes that the WAL named');

# A segment that is there, but cannot be read, is an error of its own.
create_table('unreadable');
hold($stops, 'copied');
$move = start_move($node, 'app', 'unreadable', 'slow');
wait_stopped($stops, 'copied');
$node->safe_psql('app', "UPDATE unreadable SET n = 'new'");
@segments = write_segments(3);
chmod 0, wal_file($segments[1]) or die "could not chmod: $!";
let_go($stops, 'copied');
like(
	finish_sql($move),
	qr/could not open file "pg_wal\/$segments[1]": Permission denied/,
	'a segment that cannot be read is reported as that');
chmod 0600, wal_file($segments[1]) or die "could not chmod: $!";
is(record_of_move($node, 'app', 'unreadable'),
	'failed|42501', 'by the record of the move, too');
is(tablespaces_of($node, 'app', 'unreadable'),
	'pg_default', 'the table stays where it is');
is(rows_of('unreadable'), $changed, 'with its rows');
is(stray_files($node, 'app'), '', 'no file is left');

# One whose contents are not what the server wrote, too.
create_table('damaged');
hold($stops, 'copied');
$move = start_move($node, 'app', 'damaged', 'slow');
wait_stopped($stops, 'copied');
@segments = write_segments(3);
my $saved = slurp_file(wal_file($segments[1]));
open my $file, '+<', wal_file($segments[1]) or die "could not open: $!";
binmode $file;
print $file "\0" x 16384;
close $file or die "could not write: $!";
let_go($stops, 'copied');
like(
	finish_sql($move),
	qr/XX001: .*could not decode WAL after /,
	'a segment that was damaged is reported as that');
open $file, '+<', wal_file($segments[1]) or die "could not open: $!";
binmode $file;
print $file substr $saved, 0, 16384;
close $file or die "could not write: $!";

# ---------------------------------------------------------------------
# The strong lock
# ---------------------------------------------------------------------

# What is in shared buffers is looked at before the copy is brought up to date, and
# not again before each attempt: nothing that takes long comes after that.
create_table('cached');
my $reader = $node->background_psql('app');
hold($stops, 'residency', 'caught_up');
$move = start_move($node, 'app', 'cached', 'slow');
wait_stopped($stops, 'residency');
$node->safe_psql('app', "UPDATE cached SET n = 'new'");
$reader->query_safe('BEGIN; SELECT count(*) FROM cached');
let_go($stops, 'residency');
wait_stopped($stops, 'caught_up');
step_to($stops, 'caught_up', 'backing_off');
hold($stops, 'residency');
step_to($stops, 'backing_off', 'caught_up');
$reader->query_safe('COMMIT');
step_to($stops, 'caught_up', 'locked');
let_go($stops, 'locked', 'residency');
is(finish_sql($move), '', 'the move ends');
is(rows_of('cached'), $changed, 'with the changes');

# It has had the lock for too long before it has done anything: it gives up, as
# long as it can.
create_table('slowly');
hold($stops, 'claiming');
$move = start_move($node, 'app', 'slowly', 'slow',
	"SET tiered_storage.debug_lock_hold_limit = '300ms'");
wait_stopped($stops, 'claiming');
hold($stops, 'backing_off');
wait_for($stops,
	"SELECT bool_or(waitstart < clock_timestamp() - interval '400 ms') FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = point_key('claiming')::oid"
);
let_go($stops, 'claiming');
wait_stopped($stops, 'backing_off');
is(tablespaces_of($node, 'app', 'slowly'),
	'pg_default', 'the lock was held for long enough');
let_go($stops, 'backing_off');
is(finish_sql($move), '', 'another attempt ends the move');
is(tablespaces_of($node, 'app', 'slowly'), 'slow', 'which is done');

# ---------------------------------------------------------------------
# Data checksums
# ---------------------------------------------------------------------

# From 19 on they can be switched; before, the mover is told so.
sub switch_checksums
{
	my $on = $node->safe_psql('app', 'SHOW data_checksums') eq 'on';
	my $function =
	  $on ? 'pg_disable_data_checksums' : 'pg_enable_data_checksums';

	if ($node->safe_psql(
			'app', "SELECT count(*) FROM pg_proc WHERE proname = '$function'")
	  )
	{
		$node->safe_psql('app', "SELECT $function()");
	}
	else
	{
		reload_with($node, 'tiered_storage.debug_skip' => 'checksums');
	}
	return;
}

# The copy is complete, and waits for its end.
create_table('switched');
$reader->query_safe('BEGIN; SELECT count(*) FROM switched');
hold($stops, 'backing_off');
$move = start_move($node, 'app', 'switched', 'slow');
wait_stopped($stops, 'backing_off');
hold($stops, 'file_created');
switch_checksums();
let_go($stops, 'backing_off');
wait_stopped($stops, 'file_created');
pass('the copy begins again when data checksums are switched');
let_go($stops, 'file_created');
$reader->query_safe('COMMIT');
is(finish_sql($move), '', 'and the move ends');
is(tablespaces_of($node, 'app', 'switched'), 'slow', 'the table is moved');

$reader->quit;
$stops->quit;

# Read from disk.
$node->restart;
is( rows_of('switched'),
	join('|', $rows, $rows * ($rows + 1) / 2, '', ''),
	'its rows are all right');

# A damaged page is not copied as zeros, whatever the session would read.
create_table('torn');
my $torn = $node->data_dir . '/'
  . $node->safe_psql('app', "SELECT pg_relation_filepath('torn')");
$node->stop;
open $file, '+<', $torn or die "could not open: $!";
binmode $file;
seek $file, 2 * 8192, 0;
print $file "\xff" x 24;
close $file or die "could not write: $!";
$node->start;
my ($rc, $out, $err) = $node->psql('app',
	"SET zero_damaged_pages = on; CALL tiered_storage.move_relation('torn', 'slow')"
);
like($err, qr/invalid page in block 2/, 'a damaged page is not moved');
is(tablespaces_of($node, 'app', 'torn'),
	'pg_default', 'and its table stays where it is');
$node->stop;

done_testing();

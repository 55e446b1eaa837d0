# The outside chaos: see README.md.  test/outside/run starts it with a directory of
# its own and the programs of a private installation in the PATH.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use File::Path qw(make_path remove_tree);
use Getopt::Long;
use Outside::Actor qw(start_actor fault check_writer_table);
use Outside::Client;
use Outside::Journal;
use Outside::Matter qw(schema_sql static_sql access_sql tiny_tables);
use POSIX           qw(WNOHANG);
use Time::HiRes     qw(time sleep);

use constant {
	TABLESPACES => [qw(ta tb tc)],
	ROUND_SECONDS => 60,
	WRITERS => 2,
	TOOLS_SECONDS => 120,
};

my %option = (minutes => 5, seed => time() ^ $$, load => 0, standby => 1);
GetOptions(\%option, 'work=s', 'minutes=f', 'seed=i', 'load=i', 'standby!')
  or die "usage\n";
my $work = $option{work};
my $begin = time();

# Who asks a server that has crashed is to be told so.
$SIG{PIPE} = 'IGNORE';
my $server;    # the one that takes writes
my $standby;
my $servers = 0;
my %actors;    # pid => name
my %counts;
my %logs;      # file => how far it was read
my @killed;    # pids that were killed with 9
my $last_move = 0;

$| = 1;
srand($option{seed});

sub say_it
{
	printf "  %6.1f s  %s\n", time() - $begin, $_[0];
	return;
}

sub choose { return $_[ int(rand @_) ]; }

sub append
{
	my ($file, $text) = @_;
	open(my $handle, '>>', $file) or die "$file: $!";
	print $handle $text;
	close $handle;
	return;
}

sub content
{
	my ($file) = @_;
	open(my $handle, '<', $file) or return '';
	local $/ = undef;
	my $text = <$handle>;
	return $text // '';
}

# A line for each: time, kind, text.
sub faults { return split /\n/, content("$work/faults"); }

# Whatever else is wrong is told at the end; what is lost, and a great many
# errors, end the run.
sub is_hopeless
{
	my @faults = faults();
	return @faults > 100 || grep { !/^[^\t]*\t(?:error|log)\t/ } @faults;
}

######################################################################
# Servers
######################################################################

# Runs a program, its output in a file; true if it succeeds.
sub program
{
	my ($log, @command) = @_;
	my $pid = fork() // die "fork: $!";

	if (!$pid)
	{
		open(STDIN, '<', '/dev/null');
		open(STDOUT, '>>', $log);
		open(STDERR, '>&', \*STDOUT);
		exec 'timeout', TOOLS_SECONDS, @command;
		die "exec: $!";
	}
	waitpid($pid, 0);
	return $? == 0;
}

sub new_server
{
	my $directory = "$work/s" . ++$servers;

	make_path("$directory/socket", map { "$directory/$_" } @{ +TABLESPACES });
	return {
		name => "s$servers",
		directory => $directory,
		data => "$directory/data",
		socket => "$directory/socket",
		log => "$work/s$servers.log",
		tool_log => "$work/s$servers.tool"
	};
}

sub configuration
{
	my ($node) = @_;

	return <<"CONF";
listen_addresses = ''
unix_socket_directories = '$node->{socket}'
shared_preload_libraries = 'tiered_storage'
fsync = off
shared_buffers = 16MB
min_wal_size = 32MB
max_wal_size = 64MB
checkpoint_timeout = 30s
wal_level = replica
wal_recycle = off
archive_mode = on
archive_command = 'test -e $work/wal/%f || ln %p $work/wal/%f'
wal_retrieve_retry_interval = 200ms
wal_sender_timeout = 10s
max_connections = 60
max_worker_processes = 16
max_slot_wal_keep_size = 1GB
deadlock_timeout = 200ms
autovacuum_naptime = 1s
autovacuum_vacuum_threshold = 20
autovacuum_vacuum_cost_delay = 0
jit = off
log_line_prefix = '%m [%p] %e %q%a '
log_error_verbosity = verbose
restart_after_crash = on
tiered_storage.auto_migrate = placement
tiered_storage.observation_period = 0
tiered_storage.cooldown = 0
tiered_storage.sample_interval = 2s
tiered_storage.migrate_interval = 5s
tiered_storage.max_movers = 6
CONF
}

sub pid_of
{
	my ($node) = @_;
	my ($pid) = content("$node->{data}/postmaster.pid") =~ /^(\d+)/;

	return $pid;
}

# Processes that have the directory, also after their postmaster.
sub processes_of
{
	my ($node) = @_;

	return map { m{(\d+)$} }
	  grep     { (readlink("$_/cwd") // '') eq $node->{data} }
	  glob('/proc/[0-9]*');
}

sub start
{
	my ($node) = @_;

	# Who is left of a postmaster that was killed has to notice first, which
	# nobody can who is stopped.
	foreach (1 .. 150)
	{
		kill 'CONT', processes_of($node);
		my $from = -s $node->{log} // 0;
		return 1
		  if program(
			$node->{tool_log}, 'pg_ctl',
			'--pgdata', $node->{data},
			'--log', $node->{log},
			'--timeout', 100,
			'--wait', '--silent',
			'start');
		last
		  unless substr(content($node->{log}), $from) =~
		  /pre-existing shared memory block|lock file "postmaster.pid" already exists/;
		sleep 0.2;
	}
	fault($work, 'start', "the server $node->{name} does not start");
	return 0;
}

sub stop
{
	my ($node, $mode) = @_;

	return program(
		$node->{tool_log}, 'pg_ctl', '--pgdata', $node->{data},
		'--mode', $mode, '--timeout', 60,
		'--wait', '--silent', 'stop');
}

sub start_first_server
{
	$server = new_server();
	program(
		$server->{tool_log}, 'initdb',
		'--no-sync', '--data-checksums',
		'--username=postgres', '--auth=trust',
		'--encoding=UTF8', '--no-locale',
		'--pgdata', $server->{data}) or die "initdb failed\n";
	append("$server->{data}/postgresql.conf", configuration($server));
	start($server) or die "the server does not start\n";
	symlink "s$servers/socket", "$work/now" or die "symlink: $!";
	return;
}

# A session that nobody ends; waits for the server.
sub main_session
{
	my (%argument) = @_;
	my $end = time() + 60;

	while (time() < $end)
	{
		my $session = Outside::Client->connect(
			socket => "$work/now",
			name => 'main',
			%argument);
		return $session if $session;
		sleep 0.1;
	}
	fault($work, 'stuck', 'nobody can connect for 60 s');
	return;
}

# Statements of the harness, which must succeed; the last row's first value.
sub sql
{
	my ($session, $sql, $seconds) = @_;
	my $answer = $session->query($sql, $seconds // 120);
	my $error = $answer->{error};

	die "$error->{C} $error->{M} ($sql)\n" if $error;
	die "the connection is lost ($sql)\n" if $answer->{lost};
	return @{ $answer->{rows} } ? $answer->{rows}[-1][0] : undef;
}

sub set_up
{
	my $session = main_session(database => 'postgres');

	sql($session, 'CREATE DATABASE app');
	sql($session, "CREATE TABLESPACE $_ LOCATION '$server->{directory}/$_'")
	  foreach @{ +TABLESPACES };
	$session = main_session();
	sql($session, 'CREATE EXTENSION tiered_storage');
	foreach (schema_sql(WRITERS + 1, TABLESPACES)) { sql($session, $_); }
	open(my $file, '>', "$work/static") or die "static: $!";
	print $file "$_->[0]\t$_->[1]\n"
	  foreach @{ $session->query(static_sql())->{rows} };
	close $file;
	return;
}

sub make_standby
{
	my $node = new_server();
	my @maps =
	  map { ('-T', "$server->{directory}/$_=$node->{directory}/$_") }
	  @{ +TABLESPACES };

	# The backup wants these to be empty, and makes them.
	remove_tree(map { "$node->{directory}/$_" } @{ +TABLESPACES });
	if (!program(
			$node->{tool_log}, 'pg_basebackup',
			'--host', $server->{socket},
			'--username=postgres', '--pgdata',
			$node->{data}, '--checkpoint=fast',
			'--no-sync', '--write-recovery-conf',
			'--create-slot', '--slot',
			$node->{name}, @maps))
	{
		say_it("no standby: " . (split /\n/, content($node->{tool_log}))[-1]);
		remove_tree($node->{directory});
		drop_slots();
		return;
	}
	append("$node->{data}/postgresql.conf",
		"unix_socket_directories = '$node->{socket}'\n");
	start($node) or return;
	$standby = $node;
	$counts{standbys}++;
	say_it("standby $node->{name}");
	return;
}

sub drop_slots
{
	my $session = main_session() or return;
	$session->query(
		"SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active"
	);
	return;
}

# Waits until the standby has, on its disk or replayed, what the primary has now.
sub wait_for_standby
{
	my ($what, $seconds) = @_;
	my $end = time() + $seconds;
	my $session = main_session() or return 0;
	my $lsn = $session->value('SELECT pg_current_wal_insert_lsn()')
	  or return 0;

	while (time() < $end)
	{
		my $there = $session->value(
			"SELECT bool_or(${what}_lsn >= '$lsn') FROM pg_stat_replication WHERE application_name = 'walreceiver'"
		);
		return 1 if defined $there && $there eq 't';
		return 0 if $session->is_lost;
		sleep 0.05;
	}
	return 0;
}

# From now on nobody is told of a commit that the standby has not.
sub be_synchronous
{
	my $session = main_session() or return 0;

	$session->query("ALTER SYSTEM SET synchronous_standby_names = '*'");
	$session->query('SELECT pg_reload_conf()');

	# Done by the checkpointer, which has read the new setting before this ends.
	foreach (1 .. 100)
	{
		my $state = $session->value(
			"SELECT bool_or(sync_state = 'sync') FROM pg_stat_replication");
		last if defined $state && $state eq 't';
		sleep 0.1;
	}
	$session->query('SET synchronous_commit = local; CHECKPOINT');
	return wait_for_standby('flush', 60);
}

sub be_asynchronous
{
	my $session = main_session() or return;

	$session->query("ALTER SYSTEM RESET synchronous_standby_names");
	$session->query('SELECT pg_reload_conf()');
	return;
}

######################################################################
# What happens to the server
######################################################################

# Lets those pause that make files which PostgreSQL leaves behind in a crash; false when
# they do not come to an end, and nothing may crash then.
sub hold
{
	my $end = time() + 15;

	append("$work/hold", '');
	while (time() < $end)
	{
		my @busy = glob("'$work/files.*'");
		return 1 unless @busy;
		sleep 0.01;
	}
	$counts{no_pause}++;
	release();
	return 0;
}

sub release { unlink "$work/hold"; return; }

sub some_mover
{
	my $session = main_session() or return;
	my $row = $session->row(
		"SELECT pid, application_name FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = 'app' "
		  . "AND (query ~ '^CALL tiered' AND state = 'active' OR backend_type ~ 'tiered') ORDER BY random() LIMIT 1"
	) or return;

	return @$row;
}

# Gone with all of its processes, or else.
sub is_gone
{
	my ($pid) = @_;
	return !kill(0, $pid);
}

sub kill_postmaster
{
	my ($node) = @_;
	my $pid = pid_of($node) or return;

	push @killed, $pid;
	kill 'KILL', $pid;
	foreach (1 .. 500)
	{
		last if is_gone($pid);
		sleep 0.01;
	}
	return;
}

sub restart_fast
{
	say_it('fast restart');
	stop($server, 'fast')
	  or fault($work, 'stuck', 'the server does not stop');
	start($server);
	return;
}

sub crash_immediate
{
	return unless hold();
	say_it('immediate shutdown');
	stop($server, 'immediate');
	start($server);
	release();
	return;
}

# The others go on until the postmaster has noticed, so that nobody may make files
# before it has.
sub crash_mover
{
	return unless hold();
	my $witness = main_session();
	my ($pid, $name) = some_mover();
	if ($pid && $witness)
	{
		my $end = time() + 10;

		say_it("kill -9 of $name");
		push @killed, $pid;
		kill 'KILL', $pid;
		# Nothing crashes when it has ended by itself meanwhile.
		while (!$witness->is_lost && time() < $end)
		{
			$witness->query('SELECT 1', 10);
			sleep 0.01;
		}
	}
	release();
	$counts{ $pid ? 'killed_movers' : 'nobody_to_kill' }++;
	return;
}

sub crash_postmaster
{
	return unless hold();
	say_it('kill -9 of the postmaster');
	kill_postmaster($server);
	start($server);
	release();
	return;
}

sub promote
{
	make_standby() unless $standby;
	return unless $standby;
	if (!be_synchronous())
	{
		say_it('the standby lags, no promotion');
		be_asynchronous();
		return;
	}
	sleep rand(3);
	return be_asynchronous() unless hold();
	my $how = choose(qw(fast immediate kill));
	say_it("promotion of $standby->{name}, $server->{name} ends by $how");
	if ($how eq 'kill') { kill_postmaster($server); }
	else                { stop($server, $how) or stop($server, 'immediate'); }

	# Orphans of the old one must not write for anybody.
	my $old = $server;
	wait_for_end($old);
	program(
		$standby->{tool_log}, 'pg_ctl',
		'--pgdata', $standby->{data},
		'--wait', '--timeout',
		100, '--silent',
		'promote'
	) or fault($work, 'promote', "$standby->{name} cannot be promoted");
	symlink "$standby->{name}/socket", "$work/next" or die "symlink: $!";
	rename "$work/next", "$work/now" or die "rename: $!";
	$server = $standby;
	$standby = undef;
	release();
	read_log($old);
	remove_tree($old->{directory}) unless is_hopeless();
	$counts{promotions}++;
	make_standby();
	return;
}

# No process has the directory any more.
sub wait_for_end
{
	my ($node) = @_;

	foreach (1 .. 300)
	{
		my @left = processes_of($node) or return;
		kill 'CONT', @left;
		sleep 0.05;
	}
	fault($work, 'stuck', "processes of $node->{name} are left");
	return;
}

######################################################################
# Logs
######################################################################

# What must not be in a server's log, apart from what PostgreSQL itself says to
# those who drop, rename or rewrite each other's tables, and of an archive command that
# SIGQUIT has ended together with its server.
my $bad_line =
  qr/ (?:XX000|XX001|XX002|58P01|58030) |PANIC: |TRAP:|cache lookup failed/;
my $explained = qr{
	XX000\ (?:ddl|vacuum|nuisance|watcher)\ .*(?:tuple\ concurrently\ (?:updated|deleted)|could\ not\ open\ relation\ with\ OID|cache\ lookup\ failed)
	|XX000\ (?:could\ not\ (?:receive|send|connect)|terminating\ walreceiver|unexpected\ EOF)
	|LOG:\ \ XX000:\ could\ not\ (?:receive\ data\ from|send\ data\ to)\ client
	|FATAL:\ \ XX000:\ archive\ command\ (?:was\ terminated\ by\ signal\ 3\b|failed\ with\ exit\ code\ 131\b)
	|XX002\ ddl\ .*cannot\ (?:access|reindex)\ invalid\ index
	|LOG:\ .*(?:invalid\ record\ length|invalid\ resource\ manager|unexpected\ pageaddr|incorrect\ prev-link|invalid\ magic\ number|contrecord|could\ not\ .*walreceiver)
}x;

sub read_log
{
	my ($node) = @_;

	open(my $file, '<', $node->{log}) or return;
	seek($file, $logs{ $node->{log} } // 0, 0);
	while (my $line = <$file>)
	{
		last unless $line =~ /\n\z/;
		$logs{ $node->{log} } = tell $file;
		if ($line =~ /\(PID (\d+)\) was terminated by signal (\d+)/)
		{
			my ($pid, $signal) = ($1, $2);
			$counts{crashes}++;
			next if $signal == 9;
			fault($work, 'log', "$node->{name}: $line");
		}
		next
		  if $line =~ / (?:LOCATION|STATEMENT|CONTEXT|DETAIL|HINT|QUERY):  /;
		next if $line !~ $bad_line || $line =~ $explained;
		fault(
			$work,
			$line =~ / (?:XX001|XX002|58P01) / ? 'lost' : 'log',
			"$node->{name}: $line");
	}
	close $file;
	return;
}

######################################################################
# Checks, while nobody does anything
######################################################################

# Files whose removal is in the WAL, after their creation: a transaction that ended
# regularly has dropped them.  PostgreSQL itself forgets to do it when the server
# crashes, or a base backup begins, while a checkpoint passes between the record and
# the removal.  What a mover has left behind is nobody's promise.
sub dropped_by_wal
{
	my ($node, @files) = @_;
	my %wanted = map { $_ => 1 } @files;
	my %dropped;
	my %segments;

	foreach my $path (glob("$work/wal/* $node->{data}/pg_wal/*"))
	{
		$segments{$1} //= $path if $path =~ m{/([0-9A-F]{24})$};
	}

	# By position, the newer timeline later.
	foreach my $name (
		sort { substr($a, 8) cmp substr($b, 8) || $a cmp $b }
		keys %segments)
	{
		open(
			my $dump,
			'-|',
			"pg_waldump --rmgr=Transaction --rmgr=Storage '$segments{$name}' 2>/dev/null"
		) or die "pg_waldump: $!";
		while (my $line = <$dump>)
		{
			my ($desc) = $line =~ /desc: (.*)/ or next;
			if ($desc =~ m{^CREATE ([^ ;]+)})
			{
				delete $dropped{$1};
			}
			elsif ($desc =~ m{^(?:COMMIT|ABORT)[^;]*; .*?rels: ([^;]*)})
			{
				foreach my $file (split / /, $1)
				{
					$dropped{$file} = 1 if $wanted{$file};
				}
			}
		}
		close $dump;
	}
	return keys %dropped;
}

my %explained_files;

# Each relation has its file, and each file a relation.
sub check_files
{
	my ($node, $session) = @_;
	my %used;
	my %orphans;
	my @wrong;
	my $oid =
	  sql($session, "SELECT oid FROM pg_database WHERE datname = 'app'");

	sql($session, 'CHECKPOINT');
	sql($session, 'CHECKPOINT');
	foreach (
		@{
			$session->query(
				"SELECT pg_relation_filepath(oid), oid::regclass, relpersistence FROM pg_class WHERE pg_relation_filepath(oid) IS NOT NULL AND NOT relisshared"
			)->{rows}
		})
	{
		$used{ $_->[0] } = $_->[1];

		# A standby has of an unlogged relation what it begins with after a crash.
		push @wrong, "$_->[1] has no file $_->[0]"
		  unless -e "$node->{data}/$_->[0]"
		  || ($_->[2] eq 'u' && -e "$node->{data}/$_->[0]_init");
	}
	foreach my $path (
		glob("$node->{data}/base/$oid/* $node->{data}/pg_tblspc/*/*/$oid/*"))
	{
		my $file = substr($path, length($node->{data}) + 1);
		next
		  unless $file =~ m{^(.*/\d+)(?:_(?:fsm|vm|init))?(?:\.\d+)?$};
		next if $used{$1} || $explained_files{$1};
		$orphans{$1} += -s $path // 0;
	}
	if (%orphans)
	{
		foreach my $file (dropped_by_wal($node, keys %orphans))
		{
			$explained_files{$file} = 1;
			delete $orphans{$file};
			$counts{forgotten_files}++;
		}
	}
	push @wrong, map {
		"file without a relation: $_ of $node->{name}, $orphans{$_} bytes"
	  }
	  sort keys %orphans;
	return @wrong;
}

sub check_structure
{
	my ($session) = @_;
	my @wrong;

	foreach (
		@{
			$session->query(
				"SELECT i.indexrelid::regclass FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
				  . "WHERE c.relam = 403 AND c.relkind = 'i' AND i.indisvalid AND i.indisready AND c.relpersistence = 'p'"
			)->{rows}
		})
	{
		my $error =
		  $session->query("SELECT look.bt_index_check('$_->[0]', true)")
		  ->{error};
		push @wrong, "$_->[0]: $error->{M}" if $error;
	}
	foreach (
		@{
			$session->query(
				"SELECT c.oid, c.oid::regclass FROM pg_class c WHERE c.relam = 2 AND c.relkind IN ('r', 'm', 't') AND c.relpersistence = 'p'"
			)->{rows}
		})
	{
		my ($oid, $relation) = @$_;
		foreach my $sql (
			"SELECT v::text FROM look.verify_heapam($oid, check_toast => true) v",
			"SELECT 'not all visible: ' || v FROM look.pg_check_visible($oid) v",
			"SELECT 'not all frozen: ' || v FROM look.pg_check_frozen($oid) v"
		  )
		{
			my $answer = $session->query($sql);
			push @wrong, "$relation: $answer->{error}{M}" if $answer->{error};
			push @wrong, "$relation: $answer->{rows}[0][0]"
			  if @{ $answer->{rows} };
		}
	}
	return @wrong;
}

sub check_rows
{
	my ($session) = @_;
	my %static = map { split /[\t\n]/ } split /(?<=\n)/,
	  content("$work/static");
	my @wrong;

	my $answer = $session->query(static_sql());
	push @wrong, "static tables: $answer->{error}{M}" if $answer->{error};
	foreach (@{ $answer->{rows} })
	{
		push @wrong, "$_->[0] has $_->[1] instead of $static{$_->[0]}"
		  if $_->[1] ne $static{ $_->[0] };
	}
	foreach my $w (1 .. WRITERS + 1)
	{
		my $journal = Outside::Journal->open("$work/journal.$w");
		my $seq = $session->value("SELECT seq FROM keep.ledger WHERE w = $w");
		my $problem =
		  defined $seq
		  ? $journal->decide($seq)
		  : "the ledger has no row of $w";

		push @wrong, "writer $w: $problem" if $problem;
		foreach my $table (sort keys %{ $journal->tables })
		{
			$problem =
			  check_writer_table($session, $table, $w,
				$journal->tables->{$table});
			push @wrong, "writer $w: $problem" if $problem;
		}
		$journal->compact;
	}
	my $owned = WRITERS + 1;
	foreach (
		@{
			$session->query(
				"SELECT c.oid::regclass FROM pg_class c WHERE relnamespace = 'app'::regnamespace AND relkind = 'r' "
				  . "AND NOT relispartition AND relname !~ '^(tiny|static|passing)'"
			)->{rows}
		})
	{
		my $n = $session->value(
			"SELECT count(*) FROM $_->[0] WHERE w NOT BETWEEN 1 AND $owned");
		push @wrong, "$_->[0] has rows of nobody" if ($n // -1) != 0;
	}
	foreach (access_sql())
	{
		my ($what, $sql) = @$_;
		$answer = $session->query($sql);
		if ($answer->{error})
		{
			push @wrong, "$what: $answer->{error}{M}";
			$session->query('ROLLBACK');
			next;
		}
		my @found = map { $_->[0] } @{ $answer->{rows} };
		push @wrong, "$what: $found[1] by the index, $found[0] without it"
		  if $found[0] ne $found[1];
	}
	return @wrong;
}

# The standby: the same rows, the same checks, its files.
sub check_standby
{
	my ($session) = @_;
	my @wrong;
	my $question = join(
		' UNION ALL ',
		map {
			"SELECT '$_->[0]', count(*), sum(hashtext(x::text)::bigint) FROM $_->[0] x"
		  } @{
			$session->query(
				"SELECT c.oid::regclass FROM pg_class c WHERE relnamespace = 'app'::regnamespace AND relkind IN ('r', 'm')"
			)->{rows}
		  });
	my $there;
	my $answer;
	my %here;

	sql($session, 'CHECKPOINT');
	sql($session, 'SELECT pg_switch_wal()');
	wait_for_standby('replay', 60)
	  or return ("the standby $standby->{name} does not follow");
	$there = Outside::Client->connect(
		socket => $standby->{socket},
		name => 'main') or return ('nobody can connect to the standby');
	%here = map { $_->[0] => "$_->[1] " . ($_->[2] // '') }
	  @{ $session->query($question)->{rows} };
	$answer = $there->query($question);
	return ("standby: $answer->{error}{M}") if $answer->{error};

	foreach (@{ $answer->{rows} })
	{
		my $found = "$_->[1] " . ($_->[2] // '');
		push @wrong, "standby: $_->[0] has $found instead of $here{$_->[0]}"
		  if $found ne $here{ $_->[0] };
	}
	push @wrong, map { "standby: $_" } check_structure($there),
	  check_files($standby, $there);
	return @wrong;
}

# All that moves ends, and the leftovers are swept.
sub settle
{
	my ($session) = @_;
	my ($tiny) = tiny_tables();

	$session->query('SELECT tiered_storage.resume()');
	$session->query('ALTER SYSTEM SET tiered_storage.auto_migrate = off');
	$session->query('SELECT pg_reload_conf()');
	foreach (1 .. 600)
	{
		my $n = $session->value(
			"SELECT count(*) FROM pg_stat_activity WHERE datname = 'app' AND pid <> pg_backend_pid() "
			  . "AND (backend_type = 'client backend' OR backend_type ~ 'tiered')"
		);
		last if defined $n && $n == 0;
		$session->query(
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'app' "
			  . "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
		) if $_ % 50 == 0;
		sleep 0.1;
	}
	$session->query(
		"CALL tiered_storage.move_relation('app.$tiny', '"
		  . $session->value(
			"SELECT coalesce((SELECT spcname FROM pg_tablespace t WHERE t.oid = c.reltablespace), 'pg_default') FROM pg_class c WHERE c.oid = 'app.$tiny'::regclass"
		  )
		  . "')");
	return;
}

sub check_everything
{
	my $session = main_session() or return;
	my $from = time();
	my %found;

	settle($session);
	$counts{moves} += sql($session,
		"SELECT count(*) FROM _tiered_storage.moves WHERE state = 'done' AND move_id > $last_move"
	);
	$last_move = sql($session,
		'SELECT coalesce(max(move_id), 0) FROM _tiered_storage.moves');

	# What was dropped in a transaction that a crash ended is not theirs to keep.
	$session->query('DROP TABLE IF EXISTS app.passing');
	$found{lost} = [ check_rows($session) ];
	$found{structure} = [ check_structure($session) ];
	$found{files} = [ check_files($server, $session) ];
	$found{standby} = [ check_standby($session) ] if $standby;
	foreach my $kind (sort keys %found)
	{
		fault($work, $kind, $_) foreach @{ $found{$kind} };
	}
	$session->query('ALTER SYSTEM RESET tiered_storage.auto_migrate');
	$session->query('SELECT pg_reload_conf()');
	unlink glob("'$work/wal/*'") unless is_hopeless();
	$counts{checks}++;
	say_it(sprintf 'checked everything in %.1f s', time() - $from);
	return;
}

######################################################################
# Rounds
######################################################################

sub start_actors
{
	my ($round) = @_;
	my %numbers = (
		mover => 3,
		sweeper => 1,
		sniper => 1,
		nuisance => 1,
		vacuum => 1,
		writer => WRITERS,
		watcher => 1,
		load => $option{load});
	my $n = 0;

	unlink "$work/stop";
	foreach my $actor (sort keys %numbers)
	{
		foreach my $number (1 .. $numbers{$actor})
		{
			my $pid = start_actor($work, $actor, $number,
				$option{seed} * 10007 + $round * 101 + $n++, "$work/stop");
			$actors{$pid} = "$actor $number";
		}
	}
	my $pid = start_actor(
		$work, 'ddl',
		WRITERS + 1,
		$option{seed} * 10007 + $round * 101 + $n, "$work/stop");
	$actors{$pid} = 'ddl';
	return;
}

sub reap
{
	while ((my $pid = waitpid(-1, WNOHANG)) > 0) { delete $actors{$pid}; }
	return;
}

# They end after what they are just doing; who waits long in the server is sent
# away.
sub stop_actors
{
	my $end = time() + 60;
	my $next = time() + 2;

	append("$work/stop", '');
	while (%actors && time() < $end)
	{
		reap();
		if (time() > $next)
		{
			my $session = main_session() or last;
			$session->query(
				"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name ~ '^(mover|sweeper|sniper|nuisance|vacuum|watcher|ddl|writer)'"
			);
			$next = time() + 2;
		}
		sleep 0.05;
	}
	foreach my $pid (keys %actors)
	{
		fault($work, 'stuck', "$actors{$pid} does not end");
		kill 'KILL', $pid;
		waitpid($pid, 0);
	}
	%actors = ();
	unlink glob("'$work/files.*'");
	return;
}

# Something to the server every few seconds, until the round is over or something
# is wrong.
sub play
{
	my ($end) = @_;
	my @events = (
		(\&restart_fast) x 2,
		(\&crash_immediate) x 3,
		(\&crash_mover) x 4,
		(\&crash_postmaster) x 3,
		$option{standby} ? (\&promote) x 3 : ());
	my %names = (
		\&restart_fast => 'restarts',
		\&crash_immediate => 'immediate',
		\&crash_postmaster => 'killed_postmasters');
	my $next = time() + 3 + rand(8);
	my $commits = 0;
	my $alive = time();

	while (time() < $end)
	{
		reap();
		read_log($server);
		last if is_hopeless();
		if (time() > $next)
		{
			my $event = choose(@events);
			$counts{ $names{$event} }++ if $names{$event};
			$event->();
			$next = time() + 2 + rand(10);
		}
		my $size = -s "$work/counts" // 0;
		if ($size > $commits) { ($commits, $alive) = ($size, time()); }
		if (time() - $alive > 60)
		{
			fault($work, 'stuck', 'nobody gets anywhere for 60 s');
			last;
		}
		sleep 0.1;
	}
	return;
}

sub add_counts
{
	$counts{$_}++ foreach split /\n/, content("$work/counts");
	unlink "$work/counts";
	return;
}

sub summary
{
	my @shown =
	  qw(moves called not_moved commit doubt sniped missed cancel terminate freeze lock pause
	  vacuum ddl immediate killed_movers killed_postmasters restarts promotions forgotten_files checks);

	return join(', ', map { ($counts{$_} // 0) . " $_" =~ s/_/ /gr } @shown);
}

my $end = $begin + 60 * $option{minutes};
my $round = 0;
my $done = eval {
	make_path("$work/wal");
	start_first_server();
	set_up();
	say_it('set up');
	while (time() < $end && !is_hopeless())
	{
		my $stop = time() + ROUND_SECONDS;
		$stop = $end if $end - $stop < ROUND_SECONDS / 3;
		start_actors(++$round);
		make_standby() if $option{standby} && !$standby;
		play($stop);
		stop_actors();
		add_counts();
		say_it("round $round: " . summary());
		# What is lost is lost; a check says how much.
		check_everything();
		read_log($server);
		read_log($standby) if $standby;
	}
	1;
};
my $error = $@;
append("$work/stop", '');
fault($work, 'harness', $error) unless $done;
add_counts();
foreach my $node (grep { defined } $standby, $server)
{
	stop($node, 'fast')
	  or fault($work, 'stuck', "$node->{name} does not stop");
	read_log($node);
	program("$work/$node->{name}.checksums",
		'pg_checksums', '--check', '--pgdata', $node->{data})
	  or fault($work, 'checksums',
		(split /\n/, content("$work/$node->{name}.checksums"))[-1] // '?');
}

my @faults = faults();
foreach (@faults[ 0 .. ($#faults < 19 ? $#faults : 19) ])
{
	my ($at, $kind, $text) = split /\t/;
	printf "  FAULT after %.1f s, %s: %s\n", $at - $begin, $kind, $text;
}
print '  ', summary(), "\n";
exit(@faults ? 1 : 0);

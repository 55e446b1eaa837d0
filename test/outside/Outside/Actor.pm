# Who takes part: each actor is a process with sessions of its own, which goes on
# until it is told to stop.  What an actor chooses depends on its seed alone.

package Outside::Actor;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use Outside::Client;
use Outside::Journal;
use Outside::Matter qw(tables_of_writers tiny_tables own_table_sql rows_sql
  static_sql limit_of is_appended);
use POSIX       qw(_exit);
use Time::HiRes qw(time sleep);

our @EXPORT_OK = qw(start_actor fault check_writer_table);

# What a statement may be told while the others do what they do: cancelled,
# terminated, a conflict, a deadlock (of users among themselves), a busy lock, the
# server goes or comes.
use constant EXPECTED => qr/^(57|08|40001|40P01|55P03|25P02|53300)/;

# A file that is not there, or too short, or holds something else.
use constant LOST => qr/^(XX001|XX002|58)/;

# What a call may say of a relation: it is gone, in no state to be moved, another
# mover has it, there is no room, or no such tablespace.
use constant MOVE_REFUSED => qr/^(42P01|55000|55006|53100|42704)/;

# Of the sniper.
use constant SWEEPERS => 3;

# Of the actor that creates and drops.
use constant OWN_TABLES => 8;

my $work;     # the directory of this run
my $name;
my $until;    # a file that says stop

sub is_over { return -e $until; }

# Says what is wrong; the run ends.  kind: lost, error, ...
sub fault
{
	my ($directory, $kind, $text) = @_;

	$text =~ s/\s+/ /g;
	open(my $file, '>>', "$directory/faults") or die "faults: $!";
	syswrite($file,
		sprintf("%.1f\t%s\t%s\n", time(), $kind, substr($text, 0, 600)));
	close $file;
	return;
}

sub count
{
	my ($what) = @_;

	open(my $file, '>>', "$work/counts") or die "counts: $!";
	syswrite($file, "$what\n");
	close $file;
	return;
}

sub choose { return $_[ int(rand @_) ]; }

sub chance { return rand() < $_[0]; }

# A session with what a user may have set; waits until there is a server.
sub session
{
	my (%settings) = @_;

	until (is_over())
	{
		my $session = Outside::Client->connect(
			socket => "$work/now",
			name => $name,
			settings => {
				default_transaction_isolation =>
				  choose('read committed', 'repeatable read', 'serializable'),
				lock_timeout => '2s',
				%settings
			});
		return $session if $session;
		sleep 0.1;
	}
	return;
}

# An error that has no business here.
sub look_at
{
	my ($answer, $sql, @expected) = @_;
	my $error = $answer->{error} or return;

	return if $error->{C} =~ EXPECTED;
	foreach (@expected) { return if $error->{C} =~ $_ || $error->{M} =~ $_; }
	fault(
		$work,
		$error->{C} =~ LOST ? 'lost' : 'error',
		"$name: $error->{C} $error->{M} ($sql)");
	return;
}

# Starts a process.
sub start_actor
{
	my ($directory, $actor, $number, $seed, $stop) = @_;
	my %actors = (
		mover => \&move,
		sweeper => \&sweep,
		sniper => \&snipe,
		nuisance => \&disturb,
		vacuum => \&vacuum,
		writer => \&write_rows,
		ddl => \&change_tables,
		watcher => \&watch,
		load => \&spin);
	my $pid = fork() // die "fork: $!";

	return $pid if $pid;
	$SIG{INT} = $SIG{TERM} = 'DEFAULT';
	$SIG{PIPE} = 'IGNORE';
	($work, $name, $until) = ($directory, "$actor $number", $stop);
	srand($seed);
	eval { $actors{$actor}->($number); 1 }
	  or fault($work, 'harness', "$name: $@");
	_exit(0);
}

sub spin
{
	my $n = 0;
	until (is_over()) { $n += sqrt($_) foreach 1 .. 200000; }
	return;
}

######################################################################
# Movers
######################################################################

# Relations that may be moved, with their kinds.
sub candidates
{
	my ($session, $only) = @_;

	return map { $_->[0] } @{
		$session->query(
			"SELECT c.oid::regclass FROM pg_class c WHERE c.relnamespace = 'app'::regnamespace "
			  . "AND c.relkind IN ('r', 'm', 'i', 'p') $only ORDER BY c.relname"
		)->{rows}
	};
}

sub move
{
	my ($number) = @_;
	my $session;
	my @candidates;

	until (is_over())
	{
		if (!$session || $session->is_lost || chance(0.02))
		{
			$session = session(
				'tiered_storage.move_lock_timeout' => choose(20, 50, 200),
				synchronous_commit => choose('on', 'on', 'local', 'off'),
			) or last;
			@candidates = ();
		}
		if (!@candidates || chance(0.05))
		{
			@candidates = candidates($session, '');
			next unless @candidates;
		}
		my $relation =
		  chance(0.5) ? 'app.' . choose(tiny_tables()) : choose(@candidates);

		# What is dropped, truncated and made again all the time.
		$relation =
		  'app.own_' . (1 + int(rand(OWN_TABLES))) . choose('', '', '_cover')
		  if chance(0.15);
		my $target = choose(qw(pg_default ta tb tc hot warm cold));
		my $indexes = choose('true', 'false');
		my $sql =
		  "CALL tiered_storage.move_relation('$relation', '$target', include_indexes => $indexes)";
		my $dice = rand;
		if    ($dice < 0.02) { $sql = 'CALL tiered_storage.migrate()'; }
		elsif ($dice < 0.03)
		{
			$sql = "CALL tiered_storage.apply_placement('tentative')";
		}
		my $answer = $session->query($sql, 120);
		look_at($answer, $sql, MOVE_REFUSED);
		count($answer->{error} || $answer->{lost} ? 'not_moved' : 'called');
	}
	return;
}

# Calls that have nothing to move, but look after what others left.
sub sweep
{
	my $session;

	until (is_over())
	{
		$session = session()
		  if !$session || $session->is_lost || chance(0.02);
		last unless $session;
		my $tiny = choose(tiny_tables());
		my $sql = no_move($session, $tiny);
		look_at($session->query($sql, 60), $sql, MOVE_REFUSED);
	}
	return;
}

sub no_move
{
	my ($session, $tiny) = @_;
	my $place = $session->value(
		"SELECT coalesce((SELECT spcname FROM pg_tablespace t WHERE t.oid = c.reltablespace), 'pg_default') "
		  . "FROM pg_class c WHERE c.oid = to_regclass('app.$tiny')") // 'ta';

	return
	  "CALL tiered_storage.move_relation('app.$tiny', '$place', include_indexes => false)";
}

######################################################################
# A mover that ends just after its swap, and others that look meanwhile
######################################################################

sub move_of
{
	my ($target, $tiny) = @_;
	return
	  "CALL tiered_storage.move_relation('app.$tiny', '$target', include_indexes => false)";
}

# Waits in the server, where it takes microseconds, until one of the relations has
# another file; then ends the mover at once.
sub end_when_swapped
{
	my ($parts, $files, $mover_pid, $how, $milliseconds) = @_;

	return <<"SQL";
DO \$\$
DECLARE stop timestamptz := clock_timestamp() + interval '$milliseconds ms';
BEGIN
	LOOP
		IF (SELECT string_agg(relfilenode::text, ' ' ORDER BY oid) FROM pg_class WHERE oid IN ($parts)) IS DISTINCT FROM '$files' THEN
			PERFORM $how($mover_pid);
			RAISE NOTICE 'swapped';
			EXIT;
		END IF;
		EXIT WHEN clock_timestamp() > stop;
	END LOOP;
END
\$\$
SQL
}

# The table, its TOAST table and the index of that: what a move swaps one after
# the other.  [oids, their files, where the table is]  Somebody who is stopped may
# hold what the answer needs, so that nobody waits for it long.
sub parts_of
{
	my ($session, $tiny) = @_;
	my $row = $session->row(<<"SQL", 5) or return;
SELECT string_agg(p.oid::text, ', '), string_agg(p.relfilenode::text, ' ' ORDER BY p.oid),
	max(t.spcname) FILTER (WHERE p.relname = '$tiny')
FROM pg_class c LEFT JOIN pg_index i ON i.indrelid = c.reltoastrelid
JOIN pg_class p ON p.oid IN (c.oid, c.reltoastrelid, i.indexrelid)
JOIN pg_database d ON d.datname = current_database()
JOIN pg_tablespace t ON t.oid = CASE p.reltablespace WHEN 0 THEN d.dattablespace ELSE p.reltablespace END
WHERE c.oid = 'app.$tiny'::regclass
SQL
	return defined $row->[0] ? @$row : ();
}

# What is wrong with a tiny table; undef if nothing is, or nobody knows.
sub check_tiny
{
	my ($session, $tiny) = @_;
	my $answer = $session->query(<<"SQL", 20);
SELECT (SELECT count(*) FROM app.$tiny), coalesce(pg_relation_size(i.indexrelid), 0), i.indexrelid::regclass
FROM pg_class c JOIN pg_index i ON i.indrelid = c.reltoastrelid WHERE c.oid = 'app.$tiny'::regclass
SQL

	return if $answer->{lost};
	if ($answer->{error})
	{
		look_at($answer, "rows of $tiny");
		return;
	}
	my ($n, $size, $index) = @{ $answer->{rows}[0] };
	return "$tiny has $n rows instead of 3" if $n != 3;
	return "$index of $tiny is empty" if $size == 0;
	return;
}

# Rounds of: stop a mover of a tiny table somewhere, let others (whose calls sweep
# first) begin and stop each somewhere, let the mover go on until its next swap can
# be seen, end it, and only then let the others go on.  Nobody but the kernel's
# scheduler does more than that on a busy machine.
sub snipe
{
	my ($control, $mover, @sweepers);
	my $rounds = 0;
	my $begin = time();

	# How long a move takes until its swap, and a call that only sweeps; measured
	# when nobody is stopped, so that a slow machine has stops all over, too.
	my $move_s = 0.02;
	my $sweep_s = 0.006;

	until (is_over())
	{
		if (!$control || $control->is_lost)
		{
			$control =
			  session(default_transaction_isolation => 'read committed')
			  or last;
		}
		if (!$mover || $mover->is_lost)
		{
			$mover = session('tiered_storage.move_lock_timeout' => 50);
			next;
		}
		@sweepers = grep { !$_->is_lost } @sweepers;
		shift @sweepers if chance(0.1);
		if (@sweepers < SWEEPERS)
		{
			my $sweeper = session('tiered_storage.move_lock_timeout' => 50);
			push @sweepers, $sweeper if $sweeper;
			next;
		}
		my $tiny = choose(tiny_tables());
		my ($parts, $files, $place) = parts_of($control, $tiny) or next;
		my $target = choose(grep { $_ ne $place } qw(pg_default ta tb tc));
		my $other = choose(grep { $_ ne $tiny } tiny_tables());
		my $no_move = no_move($control, $other);
		my $how = chance(0.8) ? 'pg_terminate_backend' : 'pg_cancel_backend';
		my $freeze = chance(0.85);
		my @pauses = map { rand } 0 .. @sweepers;
		my $swapped = 0;

		$rounds++;
		my $sent = time();
		$mover->send(move_of($target, $tiny));
		if ($freeze)
		{
			sleep $move_s * shift @pauses;
			kill 'STOP', $mover->pid;
			foreach my $sweeper (@sweepers)
			{
				$sweeper->send($no_move);
				sleep $sweep_s * shift @pauses;
				kill 'STOP', $sweeper->pid;
			}
			(undef, $files) = parts_of($control, $tiny);
			kill 'CONT', $mover->pid;
		}
		if ($files)
		{
			my $watched = $control->query(
				end_when_swapped($parts, $files, $mover->pid, $how, 250), 10);
			$swapped = grep { $_->{M} eq 'swapped' } @{ $watched->{notices} };
		}
		if ($freeze)
		{
			# Until it is gone, also from the list of processes.
			if ($swapped && $how eq 'pg_terminate_backend')
			{
				$mover->wait(0.25);
				sleep 0.01;
			}
			kill 'CONT', $_->pid foreach @sweepers;
			foreach my $sweeper (@sweepers)
			{
				$sweeper->close unless $sweeper->wait(20);
				look_at($sweeper->answer, $no_move, MOVE_REFUSED);
			}
		}
		else
		{
			$move_s = 0.8 * $move_s + 0.2 * (time() - $sent)
			  if $swapped && time() - $sent < 0.2;
			$sent = time();
			look_at($sweepers[0]->query($no_move, 20), $no_move,
				MOVE_REFUSED);
			$sweep_s = 0.8 * $sweep_s + 0.2 * (time() - $sent)
			  if time() - $sent < 0.1;
		}
		$mover->close unless $mover->wait(20);
		look_at($mover->answer, "move of $tiny", MOVE_REFUSED);
		count($swapped ? 'sniped' : 'missed');

		my $wrong = check_tiny($control, $tiny) or next;
		fault($work, 'lost', sprintf '%s (%s, round %d, after %.1f s)',
			$wrong, $name, $rounds, time() - $begin);
		last;
	}
	return;
}

######################################################################
# What movers have to bear
######################################################################

sub a_victim
{
	my ($session, $condition) = @_;

	return $session->row(
		"SELECT pid, application_name, left(query, 30) FROM pg_stat_activity WHERE datname = 'app' "
		  . "AND pid <> pg_backend_pid() AND application_name !~ '^(main|watcher|nuisance|sniper)' "
		  . "AND $condition ORDER BY random() LIMIT 1");
}

sub disturb
{
	my $session;

	# GRANT takes no lock: what DDL alters at the same time fails, without us, too.
	my @grantable = map { "app.$_" } grep { $_ ne 'tiny_01' } tiny_tables(),
	  qw(toast_2 log_2 small_2 small_3 static_1);
	my @candidates;

	until (is_over())
	{
		$session = session()
		  if !$session || $session->is_lost || chance(0.02);
		last unless $session;
		@candidates = candidates($session, "AND c.relkind <> 'i'")
		  if !@candidates || chance(0.05);
		next unless @candidates;
		my $dice = rand;

		if ($dice < 0.25)
		{
			my $who = choose(
				"query ~ 'CALL tiered'",
				"query ~ 'CALL tiered'",
				"backend_type !~ 'client'",
				'true');
			my $how = choose('cancel', 'terminate');
			my $victim = a_victim($session, $who);
			if ($victim)
			{
				$session->query("SELECT pg_${how}_backend($victim->[0])");
				count($how);
			}
		}
		elsif ($dice < 0.45)
		{
			# Somebody else has the processor.
			my $victim = a_victim(
				$session,
				choose(
					"query ~ 'CALL tiered'",
					"query ~ 'CALL tiered'",
					'true'));
			if ($victim)
			{
				kill 'STOP', $victim->[0];
				sleep rand(choose(0.01, 0.05, 0.2));
				kill 'CONT', $victim->[0];
				count('freeze');
			}
		}
		elsif ($dice < 0.48)
		{
			$session->query('SELECT tiered_storage.pause()');
			sleep rand(0.5);
			until (is_over())
			{
				$session = session() if !$session || $session->is_lost;
				last unless $session;
				my $answer =
				  $session->query('SELECT tiered_storage.resume()');
				last unless $answer->{error} || $answer->{lost};
			}
			count('pause');
		}
		elsif ($dice < 0.7)
		{
			my $relation = choose(@candidates);
			my $mode = choose(
				'ACCESS SHARE',
				'ROW EXCLUSIVE',
				'SHARE UPDATE EXCLUSIVE',
				'SHARE',
				'SHARE ROW EXCLUSIVE',
				'EXCLUSIVE',
				'ACCESS EXCLUSIVE');
			my $sql = "BEGIN; LOCK TABLE $relation IN $mode MODE";
			my $answer = $session->query($sql);
			look_at($answer, $sql, qr/^(42P01|42809)/);
			sleep rand(0.3);
			$session->query('ROLLBACK');
			count('lock');
		}
		elsif ($dice < 0.8)
		{
			# An old snapshot, and a relation that is in use.
			my $relation = choose(@candidates);
			$session->query(
				"BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM $relation"
			);
			sleep rand(0.6);
			$session->query('COMMIT');
			count('snapshot');
		}
		elsif ($dice < 0.83)
		{
			$session->query('BEGIN; GRANT SELECT ON '
				  . choose(@grantable)
				  . ' TO pg_monitor');
			sleep rand(0.3);
			$session->query(choose('COMMIT', 'ROLLBACK'));
			count('grant');
		}
		elsif ($dice < 0.86)
		{
			$session->query('CHECKPOINT');
			count('checkpoint');
		}
		sleep rand(0.1);
	}
	return;
}

sub vacuum
{
	my $session;
	my @candidates;

	until (is_over())
	{
		$session = session()
		  if !$session || $session->is_lost || chance(0.02);
		last unless $session;
		@candidates = candidates($session, "AND c.relkind IN ('r', 'm')")
		  if !@candidates || chance(0.05);
		next unless @candidates;
		my $relation =
		  chance(0.4) ? choose(qw(app.log_1 app.log_2)) : choose(@candidates);
		my $sql = choose(
			"VACUUM $relation",
			"VACUUM $relation",
			"VACUUM (FREEZE) $relation",
			"VACUUM (ANALYZE) $relation",
			"VACUUM (DISABLE_PAGE_SKIPPING, INDEX_CLEANUP ON) $relation",
			"VACUUM (TRUNCATE OFF) $relation",
			"ANALYZE $relation");
		look_at($session->query($sql, 120), $sql, qr/^42P01/);
		count('vacuum');
		sleep rand(0.15);
	}
	return;
}

######################################################################
# Writers
######################################################################

# A connection on which the last transaction is settled.
sub writers_session
{
	my ($journal, $w) = @_;

	until (is_over() && !$journal->in_doubt)
	{
		my $session = session_at_any_time();
		if (!$session)
		{
			sleep 0.1;
			next;
		}

		# Waits for whoever had the row before, if that is still about to end.
		my $answer = $session->query(
			"BEGIN ISOLATION LEVEL READ COMMITTED; SELECT seq FROM keep.ledger WHERE w = $w FOR UPDATE; COMMIT"
		);
		next if $answer->{lost};
		if ($answer->{error})
		{
			look_at($answer, 'ledger');
			next;
		}
		my $row = $answer->{rows}[0];
		my $wrong =
		  $row ? $journal->decide($row->[0]) : "the ledger has no row of $w";
		if ($wrong)
		{
			fault($work, 'lost', "$name: $wrong");
			return;
		}
		return $session;
	}
	return;
}

# Also at the end, when a transaction is still in doubt.
sub session_at_any_time
{
	return Outside::Client->connect(
		socket => "$work/now",
		name => $name,
		settings => {
			default_transaction_isolation =>
			  choose('read committed', 'repeatable read', 'serializable'),
			lock_timeout => '2s'
		});
}

# One transaction: statements with the tag that each must have, the changes that
# they are.  Returns false if the writer cannot go on.
sub transact
{
	my ($session, $journal, $w, $steps, $changes) = @_;
	my $seq = $journal->begin($changes);
	my @steps = (
		[ 'BEGIN', 'BEGIN' ],
		@$steps,
		[ "UPDATE keep.ledger SET seq = $seq WHERE w = $w", 'UPDATE 1' ]);
	my $answer =
	  $session->query(join('; ', map { $_->[0] } @steps), 60);

	if ($answer->{error} || $answer->{lost})
	{
		$journal->end('X');
		$session->query('ROLLBACK') unless $session->is_lost;
		my $error = $answer->{error} or return 1;
		return 1 if $error->{C} =~ EXPECTED;
		fault(
			$work,
			$error->{C} =~ LOST || $error->{C} =~ /^23/ ? 'lost' : 'error',
			"$name: $error->{C} $error->{M} ($steps->[0][0])");
		return 0;
	}
	foreach my $i (0 .. $#steps)
	{
		next
		  if !defined $steps[$i][1] || $answer->{tags}[$i] eq $steps[$i][1];
		fault($work, 'lost',
			"$name: $answer->{tags}[$i] instead of $steps[$i][1] ($steps[$i][0])"
		);
		$session->query('ROLLBACK');
		$journal->end('X');
		return 0;
	}
	$answer = $session->query('COMMIT', 60);
	if ($answer->{tags}[0] && $answer->{tags}[0] eq 'COMMIT')
	{
		my $unsure = grep { $_->{M} =~ /synchronous replication/ }
		  @{ $answer->{notices} };
		$journal->end($unsure ? 'U' : 'A');
		count('commit');
	}
	elsif ($answer->{tags}[0])
	{
		$journal->end('X');
	}
	elsif ($answer->{lost})
	{
		$journal->end('D');
		$session->close;
		count('doubt');
	}
	elsif ($answer->{error}{S} eq 'FATAL')
	{
		$journal->end('D');
		$session->close;
	}
	else
	{
		$journal->end('X');
		look_at($answer, 'COMMIT');
	}
	return 1;
}

# Changes of a table: [steps, changes].
sub random_change
{
	my ($table, $w, $rows) = @_;
	my @ids = sort { $a <=> $b } keys %{ $rows // {} };
	my $limit = limit_of($table);
	my $what = choose(qw(insert insert update update delete));

	$what = 'insert' if !@ids;
	$what = 'delete' if @ids >= $limit;
	if (is_appended($table) && $what eq 'delete' && chance(0.6))
	{
		# The end of it, so that vacuum truncates.
		my $from = $ids[ int(rand(@ids)) ];
		my @gone = grep { $_ >= $from } @ids;
		return [
			[
				"DELETE FROM app.$table WHERE w = $w AND id >= $from",
				'DELETE ' . @gone
			]
		  ],
		  [ [ 'del', $table, \@gone ] ];
	}
	if ($what eq 'insert')
	{
		my $n = 1 + int(rand(is_appended($table) ? 600 : 12));
		my %new;
		if (is_appended($table))
		{
			my $last = $ids[-1] // 0;
			%new = map { $last + $_ => int(rand(1000)) } 1 .. $n;
		}
		else
		{
			foreach (1 .. $n)
			{
				last if @ids + keys %new >= $limit;
				my $id = int(rand(900));
				$new{$id} = int(rand(1000)) unless exists $rows->{$id};
			}
			return [], [] unless %new;
		}
		return [
			[
				"INSERT INTO app.$table (w, id, v) VALUES "
				  . join(', ',
					map  { "($w, $_, $new{$_})" }
					sort { $a <=> $b } keys %new),
				'INSERT 0 ' . keys %new
			]
		  ],
		  [ [ 'put', $table, \%new ] ];
	}
	my %chosen =
	  map { (choose(@ids), int(rand(1000))) } 1 .. 1 + int(rand(12));
	my @chosen = sort { $a <=> $b } keys %chosen;
	return [
		[
			"DELETE FROM app.$table WHERE w = $w AND id IN ("
			  . join(', ', @chosen) . ')',
			'DELETE ' . @chosen
		]
	  ],
	  [ [ 'del', $table, \@chosen ] ]
	  if $what eq 'delete';
	return [
		[
			"UPDATE app.$table x SET v = n.v FROM (VALUES "
			  . join(', ', map { "($_, $chosen{$_})" } @chosen)
			  . ") n (id, v) WHERE x.w = $w AND x.id = n.id",
			'UPDATE ' . @chosen
		]
	  ],
	  [ [ 'put', $table, \%chosen ] ];
}

# Compares a writer's rows with what must be there, with and without an index;
# says what is wrong.  An answer that did not come is none.
sub check_writer_table
{
	my ($session, $table, $w, $rows) = @_;
	my $answer;

	if (!defined $rows)
	{
		my $oid = $session->row("SELECT to_regclass('app.$table')", 30)
		  or return;
		return
		  defined $oid->[0] ? "dropped table $table is there again" : undef;
	}
	$answer = $session->query(rows_sql($table, $w), 60);
	return if $answer->{lost};
	if ($answer->{error})
	{
		$session->query('ROLLBACK');
		return if $answer->{error}{C} =~ EXPECTED;
		return "$table: $answer->{error}{C} $answer->{error}{M}";
	}
	my %found = (s => {}, i => {});
	foreach (@{ $answer->{rows} })
	{
		my ($how, $id, $v, $fits) = @$_;
		return "$table: row ($w, $id) is there twice ($how)"
		  if exists $found{$how}{$id};
		return "$table: row ($w, $id) has a wrong text" if $fits ne 't';
		$found{$how}{$id} = $v;
	}
	foreach my $how (qw(s i))
	{
		my $found = $found{$how};
		my $scan = $how eq 's' ? 'sequential scan' : 'index scan';
		foreach my $id (sort { $a <=> $b } keys %$rows)
		{
			return "$table: row ($w, $id) is missing ($scan; " .
			  keys(%$found) . ' rows instead of ' .
			  keys(%$rows) . ')'
			  unless exists $found->{$id};
			return
			  "$table: row ($w, $id) is $found->{$id} instead of $rows->{$id} ($scan)"
			  if $found->{$id} != $rows->{$id};
		}
		my ($more) =
		  grep { !exists $rows->{$_} } sort { $a <=> $b } keys %$found;
		return "$table: row ($w, $more) is there, but was deleted ($scan)"
		  if defined $more;
	}
	return;
}

sub write_rows
{
	my ($w) = @_;
	my $journal = Outside::Journal->open("$work/journal.$w");
	my @tables = tables_of_writers();
	my $session;

	$journal->tables->{$_} //= {} foreach @tables;
	while (1)
	{
		if (!$session || $session->is_lost || chance(0.01))
		{
			$session = writers_session($journal, $w) or last;

			# After a crash, all of it.
			foreach my $table (@tables)
			{
				last if $session->is_lost || is_over();
				my $wrong = check_writer_table($session, $table, $w,
					$journal->tables->{$table});
				next unless $wrong;
				fault($work, 'lost', "$name: $wrong");
				return;
			}
			next;
		}
		last if is_over();
		if (chance(0.08))
		{
			my $table = choose(@tables);
			my $wrong = check_writer_table($session, $table, $w,
				$journal->tables->{$table});
			if ($wrong)
			{
				fault($work, 'lost', "$name: $wrong");
				return;
			}
			next;
		}
		my (@steps, @changes);
		my %chosen = map { (choose(@tables), 1) } 1 .. 1 + int(rand(3));
		foreach my $table (sort keys %chosen)
		{
			my ($steps, $changes) =
			  random_change($table, $w, $journal->tables->{$table});
			push @steps, @$steps;
			push @changes, @$changes;
		}
		next unless @steps;
		transact($session, $journal, $w, \@steps, \@changes) or return;
		sleep rand(0.02);
	}
	return;
}

######################################################################
# Tables that come, change their files, and go
######################################################################

# While the server is about to be killed nobody makes files: what PostgreSQL
# itself leaves of a CREATE that was not committed cannot be told from ours.
sub with_files
{
	my ($action) = @_;

	open(my $file, '>', "$work/files.$name") or die "files: $!";
	close $file;
	$action->() unless -e "$work/hold";
	unlink "$work/files.$name";
	sleep 0.05 while -e "$work/hold" && !is_over();
	return;
}

sub change_own_table
{
	my ($session, $journal, $w) = @_;
	my $table = 'own_' . (1 + int(rand(OWN_TABLES)));
	my $rows = $journal->tables->{$table};
	my $to = choose(qw(pg_default ta tb tc));
	my (@steps, @changes);

	if (!defined $rows)
	{
		push @steps, map { [ $_, undef ] } grep { /\S/ } split /;/,
		  own_table_sql($table, $to);
		push @changes, [ 'new', $table ];
		$rows = {};
		if (chance(0.9))
		{
			my %new = map { $_ => int(rand(1000)) } 1 .. 1 + int(rand(300));
			push @steps,
			  [
				"INSERT INTO app.$table (w, id, v) VALUES "
				  . join(', ',
					map  { "($w, $_, $new{$_})" }
					sort { $a <=> $b } keys %new),
				'INSERT 0 ' . keys %new
			  ];
			push @changes, [ 'put', $table, \%new ];
		}
	}
	elsif (chance(0.15))
	{
		push @steps, [ "DROP TABLE app.$table", 'DROP TABLE' ];
		push @changes, [ 'gone', $table ];
	}
	elsif (chance(0.2))
	{
		push @steps, [ "TRUNCATE app.$table", 'TRUNCATE TABLE' ];
		push @changes, [ 'empty', $table ];
	}
	elsif (chance(0.5))
	{
		push @steps, map { [ $_, undef ] } split /;/,
		  choose(
			"ALTER TABLE app.$table SET TABLESPACE $to",
			"ALTER INDEX app.${table}_cover SET TABLESPACE $to",
			"ALTER TABLE app.$table ADD COLUMN extra int DEFAULT (random() * 10)::int; ALTER TABLE app.$table DROP COLUMN extra",
			"ALTER TABLE app.$table ADD COLUMN extra int; ALTER TABLE app.$table DROP COLUMN extra",
			"ALTER TABLE app.$table SET UNLOGGED; ALTER TABLE app.$table SET LOGGED",
			"CLUSTER app.$table USING ${table}_pkey",
			"REINDEX TABLE app.$table",
			"ALTER TABLE app.$table RENAME TO ${table}_away; ALTER TABLE app.${table}_away RENAME TO $table"
		  );
	}
	else
	{
		my @ids = sort { $a <=> $b } keys %$rows;
		my %new =
		  map { 1000 + int(rand(1000)) => int(rand(1000)) }
		  1 .. 1 + int(rand(50));
		delete @new{ grep { exists $rows->{$_} } keys %new };
		return 1 unless %new && @ids < 2000;
		push @steps,
		  [
			"INSERT INTO app.$table (w, id, v) VALUES "
			  . join(', ',
				map { "($w, $_, $new{$_})" } sort { $a <=> $b } keys %new),
			'INSERT 0 ' . keys %new
		  ];
		push @changes, [ 'put', $table, \%new ];
	}
	return transact($session, $journal, $w, \@steps, \@changes);
}

# Statements that change files, not rows, of what others use.
sub change_shared_table
{
	my ($session) = @_;
	my $table = choose(
		'heap_1', 'heap_2', 'heap_3', 'toast_1',
		'log_1', 'small_1', 'part_0');
	my $to = choose(qw(pg_default ta tb tc));
	my @statements = map { [ split /;/ ] } choose(
		"DROP INDEX IF EXISTS app.${table}_more;CREATE INDEX CONCURRENTLY ${table}_more ON app.$table (v, id)",
		"DROP INDEX CONCURRENTLY IF EXISTS app.${table}_more",
		"REINDEX INDEX CONCURRENTLY app.${table}_pkey",
		"REINDEX (TABLESPACE $to) TABLE CONCURRENTLY app.$table",
		"REINDEX TABLE app.$table",
		"ALTER TABLE app.$table SET TABLESPACE $to",
		"VACUUM FULL app.$table",
		"CLUSTER app.$table USING ${table}_pkey",
		"REFRESH MATERIALIZED VIEW app.mv_1",
		"REFRESH MATERIALIZED VIEW CONCURRENTLY app.mv_1",
		"REFRESH MATERIALIZED VIEW app.mv_2",
		"CREATE TABLE app.passing TABLESPACE $to AS SELECT i AS id FROM generate_series(1, 500) i;DROP TABLE app.passing",
		"DROP TABLE IF EXISTS app.passing",
		"ALTER TABLE app.tiny_01 SET (fillfactor = 80);ALTER TABLE app.tiny_01 RESET (fillfactor)",
		"ALTER TABLE app.part DETACH PARTITION app.part_600;ALTER TABLE app.part ATTACH PARTITION app.part_600 FOR VALUES FROM (600) TO (900)"
	);

	@statements = @{ $statements[0] };

	# Rows of a detached partition are missing, so that is one transaction.
	@statements = (join '; ', 'BEGIN', @statements, 'COMMIT')
	  if $statements[0] =~ /DETACH/;
	foreach my $sql (@statements)
	{
		my $answer = $session->query($sql, 60);
		# Left by a REINDEX or CREATE INDEX CONCURRENTLY that was ended.
		look_at($answer, $sql, qr/^(42P01|42704|42P07|XX002)/);
		$session->query('ROLLBACK') if $answer->{error} && !$session->is_lost;
		return if $answer->{error} || $answer->{lost};
	}
	if (chance(0.2))
	{
		my $rows = $session->query(
			"SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid AND indexrelid::regclass::text ~ '_(ccnew|ccold|more)'"
		)->{rows};
		$session->query("DROP INDEX $_->[0]") foreach @$rows;
	}
	return;
}

sub change_tables
{
	my ($w) = @_;
	my $journal = Outside::Journal->open("$work/journal.$w");
	my $session;
	my $goes_on = 1;

	while ($goes_on)
	{
		if (!$session || $session->is_lost)
		{
			$session = writers_session($journal, $w) or last;
		}
		last if is_over();
		if (chance(0.2))
		{
			foreach my $table (sort keys %{ $journal->tables })
			{
				last if $session->is_lost || is_over();
				my $wrong = check_writer_table($session, $table, $w,
					$journal->tables->{$table});
				next unless $wrong;
				fault($work, 'lost', "$name: $wrong");
				return;
			}
			next;
		}
		with_files(
			sub {
				if (chance(0.6))
				{
					$goes_on = change_own_table($session, $journal, $w);
				}
				else { change_shared_table($session); }
			});
		count('ddl');
		sleep rand(0.1);
	}
	return;
}

######################################################################
# The watcher
######################################################################

# What never changes, again and again.
sub watch
{
	my $session;
	my %first;

	open(my $file, '<', "$work/static") or die "static: $!";
	while (<$file>)
	{
		chomp;
		my ($relation, $content) = split /\t/;
		$first{$relation} = $content;
	}
	close $file;
	until (is_over())
	{
		$session = session(default_transaction_isolation => 'read committed')
		  if !$session || $session->is_lost;
		last unless $session;
		my $answer = $session->query(static_sql(), 60);
		look_at($answer, 'static');
		if (!$answer->{error} && !$answer->{lost})
		{
			foreach (@{ $answer->{rows} })
			{
				my ($relation, $content) = @$_;
				next if $content eq $first{$relation};
				fault($work, 'lost',
					"$relation has $content instead of $first{$relation}");
				return;
			}
			count('watch');
		}
		sleep 0.2;
	}
	return;
}

1;

#!/usr/bin/env perl
#
# Sessions that move relations of a database between tablespaces, by the SQL
# interface, for as long as they are let.  test/chaos/run --release starts it.
#
#   movers.pl --socket DIR --database NAME --until FILE --movers N --seed N
#             --tablespaces NAME,NAME
#
# Begins when the database has the extension, ends when there is the file.  Prints
# "failed: ..." for what no mover may be told, and what was said otherwise how often.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../outside";

use Getopt::Long;
use Outside::Client;
use POSIX       qw(_exit);
use Time::HiRes qw(sleep);

# A move takes milliseconds; locks are given up long before that.
use constant SECONDS_FOR_A_CALL => 120;
use constant CHOICE => 12;

# What a call may be told by tests that drop, lock and alter what it moves: gone, in
# no state to be moved (unlogged, invalid), of an access method that is not known,
# another mover has it, it is in use.
use constant MAY_BE_TOLD => qr/^(0A000|42P01|55000|55006|55P03)/;

my %option;
GetOptions(\%option, 'socket=s', 'database=s', 'until=s', 'movers=i',
	'seed=i', 'tablespaces=s')
  or die "usage\n";
my @targets = ('pg_default', split /,/, $option{tablespaces});

sub choose { return $_[ int(rand @_) ]; }

sub is_over { return -e $option{until}; }

# In one write, as all movers have the same output.
sub say_it
{
	my ($text) = @_;
	$text =~ s/\s+/ /g;
	syswrite(STDOUT, "$text\n");
	return;
}

sub session
{
	until (is_over())
	{
		my $session = Outside::Client->connect(
			socket => $option{socket},
			database => $option{database},
			name => 'chaos mover',
			settings => {
				search_path => 'pg_catalog',
				default_transaction_isolation =>
				  choose('read committed', 'repeatable read', 'serializable'),
				'tiered_storage.move_lock_timeout' => choose(10, 20, 50),
			});
		return $session
		  if $session
		  && $session->value(
			"SELECT count(*) FROM pg_extension WHERE extname = 'tiered_storage'"
		  );
		sleep 0.1;
	}
	return;
}

# Most of the relations of a test do not live for long: 60 to 90 % of those chosen are
# among the newest.  What is in a tablespace of a test's own stays there, and all of
# the test "tablespace", which prints where its relations are.
sub candidates
{
	my ($session) = @_;
	my $newest = int(CHOICE * (0.6 + rand(0.3)));
	my $others = CHOICE - $newest;
	my $ours = join(', ', map { "'$_'" } @targets);
	my $all = <<"SQL";
SELECT c.oid, coalesce(t.spcname, 'pg_default') FROM pg_class c
LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
WHERE c.relpersistence = 'p' AND c.relkind IN ('r', 'm', 'i', 'p') AND c.oid >= 16384
AND (c.reltablespace = 0 OR t.spcname IN ($ours))
AND c.relnamespace NOT IN (SELECT oid FROM pg_namespace WHERE nspname IN ('testschema', 'pg_toast'))
AND c.relname !~ '^(regress_tblspace|tbspace)'
SQL
	my $answer = $session->query(
		"(SELECT * FROM ($all ORDER BY c.oid DESC LIMIT 40) n ORDER BY random() LIMIT $newest) "
		  . "UNION ALL (SELECT * FROM ($all) a ORDER BY random() LIMIT $others)"
	);

	say_it("failed: choosing: $answer->{error}{C} $answer->{error}{M}")
	  if $answer->{error};
	return @{ $answer->{rows} };
}

sub move
{
	my %told;
	my $calls = 0;
	my $session;

	until (is_over())
	{
		$session = session()
		  if !$session || $session->is_lost || rand() < 0.02;
		last unless $session;
		my @candidates = candidates($session);
		sleep 0.1 unless @candidates;
		foreach (@candidates)
		{
			my ($relation, $place) = @$_;
			last if is_over() || $session->is_lost;
			my $sql = sprintf
			  "CALL tiered_storage.move_relation(%d::regclass, '%s', include_indexes => %s)",
			  $relation, choose(grep { $_ ne $place } @targets),
			  choose('true', 'false');
			my $answer = $session->query($sql, SECONDS_FOR_A_CALL);
			my $error = $answer->{error};

			$calls++;
			$told{ $error->{C} }++ if $error;
			say_it("failed: $error->{C} $error->{M} ($sql)")
			  if $error && $error->{C} !~ MAY_BE_TOLD;
			say_it("failed: the connection was lost ($sql)")
			  if $answer->{lost} && !$error;
			say_it("failed: $_->{S}: $_->{M} ($sql)")
			  foreach grep { $_->{V} eq 'WARNING' } @{ $answer->{notices} };
			sleep rand(0.005);
		}
	}
	say_it(
		join ' ',
		"stopped: calls=$calls",
		map { "$_=$told{$_}" } sort keys %told);
	return;
}

my @movers;
foreach my $number (1 .. $option{movers})
{
	my $pid = fork() // die "fork: $!";
	if (!$pid)
	{
		srand($option{seed} * 1009 + $number);
		eval { move(); 1 } or say_it("failed: mover: $@");
		_exit(0);
	}
	push @movers, $pid;
}
waitpid($_, 0) foreach @movers;

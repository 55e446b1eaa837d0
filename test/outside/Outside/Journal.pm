# What a writer knows to be committed, written down outside of the database.
#
# A writer gives each transaction a number, says in its journal what it is going to
# do ("B"), stores the number in its row of keep.ledger within the transaction, and
# writes down what came of it: "A" acknowledged; "X" rolled back; "D" in doubt,
# because the connection was lost after COMMIT was sent; "U" committed here, but
# the wait for the standby was cancelled, so that a promotion may lose it.  "L" is
# the number found in the ledger later, which decides what was open: in a
# transaction's WAL all that its writer did before comes first.
#
# Changes are lists of [what, table, ...]: put {id => v}, del [id], new, gone, empty.
# Whoever reads the journal gets the rows that must be there, table by table.

package Outside::Journal;

use strict;
use warnings FATAL => 'all';

use Storable qw(store retrieve);

# The state as the file has it; what its last writer left open is in doubt.
sub open    ## no critic (ProhibitBuiltinHomonyms)
{
	my ($class, $path) = @_;
	my $self = bless {
		path => $path,
		seq => 0,
		confirmed => 0,
		tables => {},
		unsure => [],
		doubt => undef
	}, $class;

	if (-e "$path.state")
	{
		my $state = retrieve("$path.state");
		$self->{$_} = $state->{$_} foreach keys %$state;
	}
	if (-e $path)
	{
		CORE::open(my $file, '<', $path) or die "$path: $!";
		while (my $line = <$file>)
		{
			chomp $line;
			$self->_replay(split / /, $line);
		}
		CORE::close $file;
		$self->{doubt} = delete $self->{open} if $self->{open};
	}
	CORE::open($self->{file}, '>>', $path) or die "$path: $!";
	$self->{file}->autoflush(1);
	return $self;
}

# Keeps the state instead of the lines that led to it.
sub compact
{
	my ($self) = @_;
	my %state =
	  map { $_ => $self->{$_} } qw(seq confirmed tables unsure doubt);

	store(\%state, "$self->{path}.new");
	rename "$self->{path}.new", "$self->{path}.state" or die "rename: $!";
	truncate $self->{file}, 0;
	return;
}

sub _write
{
	my ($self, $line) = @_;

	print { $self->{file} } "$line\n" or die "$self->{path}: $!";
	return;
}

sub _text
{
	my ($change) = @_;
	my ($what, $table, $rows) = @$change;

	return "$what/$table/"
	  . join(',', map { "$_=$rows->{$_}" } sort { $a <=> $b } keys %$rows)
	  if $what eq 'put';
	return "$what/$table/" . join(',', @$rows) if $what eq 'del';
	return "$what/$table/";
}

sub _change
{
	my ($what, $table, $rows) = split m{/}, $_[0], 3;

	return [ $what, $table, { map { split /=/ } split /,/, $rows } ]
	  if $what eq 'put';
	return [ $what, $table, [ split /,/, $rows ] ] if $what eq 'del';
	return [ $what, $table ];
}

sub _replay
{
	my ($self, $what, $seq, @changes) = @_;

	if ($what eq 'B')
	{
		$self->{seq} = $seq;
		$self->{open} =
		  { seq => $seq, changes => [ map { _change($_) } @changes ] };
	}
	elsif ($what eq 'A') { $self->_acknowledged(delete $self->{open}); }
	elsif ($what eq 'X') { delete $self->{open}; }
	elsif ($what eq 'D') { $self->{doubt} = delete $self->{open}; }
	elsif ($what eq 'U') { $self->_unsure(delete $self->{open}); }
	elsif ($what eq 'L') { $self->_decide($seq); }
	return;
}

# Does changes, and returns those that undo them.
sub _apply
{
	my ($self, $changes) = @_;
	my $tables = $self->{tables};
	my @undo;

	foreach (@$changes)
	{
		my ($what, $table, $rows) = @$_;
		if ($what eq 'put')
		{
			my (%old, @new);
			foreach my $id (keys %$rows)
			{
				if (exists $tables->{$table}{$id})
				{
					$old{$id} = $tables->{$table}{$id};
				}
				else { push @new, $id; }
				$tables->{$table}{$id} = $rows->{$id};
			}
			unshift @undo, [ 'put', $table, \%old ], [ 'del', $table, \@new ];
		}
		elsif ($what eq 'del')
		{
			my %old;
			foreach my $id (grep { exists $tables->{$table}{$_} } @$rows)
			{
				$old{$id} = delete $tables->{$table}{$id};
			}
			unshift @undo, [ 'put', $table, \%old ];
		}
		elsif ($what eq 'new')
		{
			$tables->{$table} = {};
			unshift @undo, [ 'gone', $table ];
		}
		elsif ($what eq 'gone')
		{
			my $old = $tables->{$table};
			$tables->{$table} = undef;
			unshift @undo, [ 'new', $table ], [ 'put', $table, $old // {} ];
		}
		elsif ($what eq 'empty')
		{
			my $old = $tables->{$table};
			$tables->{$table} = {};
			unshift @undo, [ 'put', $table, $old // {} ];
		}
	}
	return \@undo;
}

sub _acknowledged
{
	my ($self, $transaction) = @_;

	$self->_apply($transaction->{changes});
	$self->{confirmed} = $transaction->{seq};
	$self->{unsure} = [];
	return;
}

sub _unsure
{
	my ($self, $transaction) = @_;

	$transaction->{undo} = $self->_apply($transaction->{changes});
	push @{ $self->{unsure} }, $transaction;
	return;
}

# The ledger has this number: what is beyond did not happen, or is lost with a
# server of which nobody had said that the standby has it.
sub _decide
{
	my ($self, $found) = @_;
	my $doubt = $self->{doubt};

	$self->{doubt} = undef;
	while (@{ $self->{unsure} } && $self->{unsure}[-1]{seq} > $found)
	{
		$self->_apply(pop(@{ $self->{unsure} })->{undo});
	}
	$self->_unsure($doubt) if $doubt && $doubt->{seq} <= $found;
	return;
}

# Announces a transaction; returns its number.
sub begin
{
	my ($self, $changes) = @_;

	$self->{open} = { seq => ++$self->{seq}, changes => $changes };
	$self->_write(join(' ', 'B', $self->{seq}, map { _text($_) } @$changes));
	return $self->{seq};
}

# What came of it: A, X, D or U.
sub end
{
	my ($self, $what) = @_;

	$self->_write("$what $self->{open}{seq}");
	$self->_replay($what, $self->{open}{seq});
	return;
}

# After a lost connection: what the ledger says.  Returns what is wrong with that.
sub decide
{
	my ($self, $found) = @_;

	return
	  "acknowledged transactions are lost: $self->{confirmed} was, the ledger has $found"
	  if $found < $self->{confirmed};
	return "the ledger has transaction $found, the last one was $self->{seq}"
	  if $found > $self->{seq};
	$self->_write("L $found");
	$self->_decide($found);
	return;
}

# {table => {id => v}}; a table that was dropped is undef.
sub tables { return $_[0]{tables}; }

sub in_doubt { return defined $_[0]{doubt}; }

1;

# A session with a server by the simple query protocol over a Unix socket: what
# libpq does for psql, and no more.  Needs nothing but Perl itself, tells the
# server process's id, and can wait for an answer with other things to do.

package Outside::Client;

use strict;
use warnings FATAL => 'all';

use Errno qw(EAGAIN EINTR EWOULDBLOCK);
use IO::Socket::UNIX;
use Socket      qw(SOCK_STREAM);
use Time::HiRes qw(time);

use constant PROTOCOL => 196608;

# Connects; undef if there is nobody, or it does not let us in.
# socket: directory; name: application_name; settings: of the session.
sub connect    ## no critic (ProhibitBuiltinHomonyms)
{
	my ($class, %argument) = @_;
	my $self = bless {
		buffer => '',
		lost => 0,
		pid => 0,
		busy => 1,
		answer => _new_answer()
	}, $class;
	my %settings = %{ $argument{settings} // {} };
	my $options = join(' ',
		map { my $v = $settings{$_}; $v =~ s/([\\ ])/\\$1/g; "-c $_=$v" }
		sort keys %settings);
	my $start = join(
		"\0",
		user => 'postgres',
		database => $argument{database} // 'app',
		application_name => $argument{name},
		client_encoding => 'UTF8',
		options => $options) . "\0\0";

	$self->{socket} = IO::Socket::UNIX->new(
		Type => SOCK_STREAM,
		Peer => "$argument{socket}/.s.PGSQL.5432") or return;
	$self->{socket}->blocking(0);
	$self->_write(pack('NN', length($start) + 8, PROTOCOL) . $start);
	$self->wait($argument{timeout} // 20);
	return if $self->{lost} or $self->{busy} or $self->{answer}{error};
	return $self;
}

sub _new_answer
{
	return {
		rows => [],
		tags => [],
		notices => [],
		error => undef,
		lost => 0
	};
}

sub pid { return $_[0]{pid}; }

sub is_lost { return $_[0]{lost}; }

sub _write
{
	my ($self, $data) = @_;
	my $end = time() + 20;

	while (length $data && !$self->{lost})
	{
		my $n = syswrite($self->{socket}, $data);
		if (defined $n)
		{
			substr($data, 0, $n, '');
		}
		elsif ($! == EINTR) { }
		elsif (($! == EAGAIN || $! == EWOULDBLOCK) && time() < $end)
		{
			my $bits = '';
			vec($bits, fileno($self->{socket}), 1) = 1;
			select(undef, $bits, undef, 0.1);
		}
		else
		{
			$self->{lost} = 1;
		}
	}
	return;
}

# Begins statements; their answer is fetched later.
sub send    ## no critic (ProhibitBuiltinHomonyms)
{
	my ($self, $sql) = @_;

	$self->{answer} = _new_answer();
	$self->{busy} = 1;
	$self->_write('Q' . pack('N', length($sql) + 5) . $sql . "\0");
	return;
}

# Waits for the answer for so many seconds; true when it is there, or the
# connection is lost.
sub wait    ## no critic (ProhibitBuiltinHomonyms)
{
	my ($self, $seconds) = @_;
	my $end = time() + $seconds;

	while ($self->{busy} && !$self->{lost})
	{
		my $left = $end - time();
		my $bits = '';
		vec($bits, fileno($self->{socket}), 1) = 1;
		my $ready = select($bits, undef, undef, $left > 0 ? $left : 0);
		if ($ready > 0)
		{
			my $n = sysread($self->{socket}, $self->{buffer}, 65536,
				length $self->{buffer});
			$self->{lost} = 1
			  if defined $n ? $n == 0 : !($! == EINTR || $! == EAGAIN);
			$self->_parse;
		}
		elsif ($left <= 0)
		{
			last;
		}
	}
	$self->{answer}{lost} = 1 if $self->{lost};
	return !$self->{busy} || $self->{lost};
}

sub answer { return $_[0]{answer}; }

# Statements and their answer: rows (of all of them), tags, notices, error (a
# hash with C, M, ...), lost.  What takes longer is given up with the connection.
sub query
{
	my ($self, $sql, $seconds) = @_;

	$self->send($sql);
	$self->close unless $self->wait($seconds // 60);
	$self->{answer}{lost} = 1 if $self->{lost};
	return $self->{answer};
}

# The first row; undef if there is none.
sub row
{
	my ($self, $sql, $seconds) = @_;

	return $self->query($sql, $seconds)->{rows}[0];
}

# The first field of the first row.
sub value
{
	my ($self, $sql, $seconds) = @_;
	my $row = $self->row($sql, $seconds);

	return $row ? $row->[0] : undef;
}

sub close    ## no critic (ProhibitBuiltinHomonyms)
{
	my ($self) = @_;

	$self->{lost} = 1;
	CORE::close $self->{socket} if $self->{socket};
	return;
}

sub DESTROY
{
	my ($self) = @_;

	$self->_write("X\0\0\0\4") if $self->{socket} && !$self->{lost};
	return;
}

sub _fields
{
	my ($body) = @_;
	my %fields;

	foreach (split /\0/, $body)
	{
		$fields{ substr($_, 0, 1) } = substr($_, 1) if length;
	}
	return \%fields;
}

sub _parse
{
	my ($self) = @_;
	my $answer = $self->{answer};

	while (length($self->{buffer}) >= 5)
	{
		my ($type, $length) = unpack('aN', $self->{buffer});
		last if length($self->{buffer}) < $length + 1;
		my $body = substr($self->{buffer}, 5, $length - 4);
		substr($self->{buffer}, 0, $length + 1, '');

		if ($type eq 'D')
		{
			my ($n, @values) = unpack('n', $body);
			my $at = 2;
			foreach (1 .. $n)
			{
				my $size = unpack('l>', substr($body, $at, 4));
				$at += 4;
				push @values, $size < 0 ? undef : substr($body, $at, $size);
				$at += $size if $size > 0;
			}
			push @{ $answer->{rows} }, \@values;
		}
		elsif ($type eq 'C')
		{
			push @{ $answer->{tags} }, substr($body, 0, -1);
		}
		elsif ($type eq 'E')
		{
			$answer->{error} //= _fields($body);
		}
		elsif ($type eq 'N')
		{
			push @{ $answer->{notices} }, _fields($body);
		}
		elsif ($type eq 'K')
		{
			$self->{pid} = unpack('N', $body);
		}
		elsif ($type eq 'Z')
		{
			$self->{busy} = 0;
		}
		elsif ($type eq 'R' && unpack('N', $body) != 0)
		{
			$self->{lost} = 1;
		}
	}
	return;
}

1;

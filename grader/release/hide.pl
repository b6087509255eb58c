#!/usr/bin/perl
# hide.pl CHECKS <ROWS -- removes rows from the checks of a release. A row is a line of `kit hidden`: lab, step, title,
# case, hint. Its group says which array of cases it is in, its case is the element whose first string is that name. A
# group whose last case is removed goes too. A row that cannot be found is an error: nothing hidden is released.
use strict;
use warnings;

my ($folder) = @ARGV;
my $string = qr/"(?:[^"\\]|\\.)*"/;
sub slurp { my ($path) = @_; local $/; open my $in, "<", $path or die "$path: $!\n"; return scalar <$in> }

# The braces group that begins at $at: its end, behind the brace.
sub braces {
    my ($text, $at) = @_;
    pos($text) = $at;
    my $depth = 0;
    while ($text =~ /\G(?:($string|\/\*.*?\*\/)|([{}])|[^{}"\/]+|\/)/gcs) {
        next unless defined $2;
        $depth += $2 eq "{" ? 1 : -1;
        return pos $text if $depth == 0;
    }
    die "unbalanced braces\n";
}

# The elements of the initializer that begins at $at: pairs of begin and end.
sub elements {
    my ($text, $at) = @_;
    my ($end, @found) = braces($text, $at);
    my $p = $at + 1;
    while (substr($text, $p, $end - $p) =~ /\{/) {
        my $begin = $p + $-[0];
        $p = braces($text, $begin);
        push @found, [ $begin, $p ];
    }
    return @found;
}

# C source of a string literal's value, as the checks write it; a long one may be split in several.
sub value {
    my ($literals) = @_;
    my $text = join "", map { substr $_, 1, -1 } $literals =~ /$string/g;
    $text =~ s/\\(["\\])/$1/g;
    return $text;
}

my $removed = 0;
while (my $line = <STDIN>) {
    chomp $line;
    my ($lab, $step, $title, $case, $hint) = split /\t/, $line, -1;
    my (@group, @place);
    for my $path (glob "$folder/$lab-*.c") {
        my $text = slurp($path);
        while ($text =~ /\b\w+\(\Q"$step", "$title"\E,\s*([^()]*?)\)(,|\s*\})/g) {
            push @group, { path => $path, args => [ split /\s*,\s*/, $1 ] };
        }
    }
    for my $group (@group) {
        my @args = @{ $group->{args} };
        my %array = map { ($_ => 1, "${_}_cases" => 1) } @args, @args > 1 ? ("$args[-1]_$args[0]", "$args[0]_$args[-1]") : ();
        for my $path (glob "$folder/$lab-*.c") {
            my $text = slurp($path);
            while ($text =~ /^[^\n;(]*?\b(\w+)\[\]\s*=\s*(?=\{)/mg) {
                my ($name, $at) = ($1, pos $text);
                next unless $array{$name};
                my @all = elements($text, $at);
                for my $e (@all) {
                    my $body = substr $text, $e->[0], $e->[1] - $e->[0];
                    next unless $body =~ /^\{\s*\{[^,{}]*,\s*((?:$string\s*)+)/ && value($1) eq $case;
                    push @place, { path => $path, at => $e->[0], end => $e->[1], of => $name, last => @all == 1,
                                   args => $group->{args} };
                }
            }
        }
    }
    my %seen;
    @place = grep { !$seen{"$_->{path} $_->{at}"}++ } @place;
    die "release: row \"$step $title: $case\" is hidden and cannot be taken out of $folder/$lab-*.c (found "
        . scalar(@place) . " times): make it visible, or write its case out there as the others are\n"
        unless @place == 1;
    my $place = $place[0];
    my $text = slurp($place->{path});
    my $end = $place->{end};
    $end++ if substr($text, $end, 1) eq ",";
    substr($text, $place->{at}, $end - $place->{at}) = $place->{last} ? "{ 0 }" : "";
    open my $out, ">", $place->{path} or die "$place->{path}: $!\n";
    print $out $text;
    close $out or die "$place->{path}: $!\n";
    if ($place->{last}) { # the group, too
        my $args = join '\s*,\s*', map { quotemeta } @{ $place->{args} };
        for my $path (glob "$folder/$lab-*.c") {
            my $source = slurp($path);
            next unless $source =~ s/\b\w+\(\Q"$step", "$title"\E,\s*$args\)(?:,|(?=\s*\}))//;
            open my $file, ">", $path or die "$path: $!\n";
            print $file $source;
            close $file or die "$path: $!\n";
        }
    }
    $removed++;
}
print "hidden rows: $removed taken out\n";

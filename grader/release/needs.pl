#!/usr/bin/env perl
# needs.pl TREE SYMBOLS -- what files of TREE, a part of this repository, need and TREE lacks. SYMBOLS has lines "SOURCE SYMBOL TYPE" of nm for each compiled source of the repository.
#
# A source needs the headers that it includes and the functions that it calls; a script of minitorch/bench the programs and files that it names. Programs, benches, tests and their helpers that need what
# is not there are removed, and so are their headers and data that nobody names any more. What anything else needs is printed, a line "FILE NEED" each.
use strict;
use warnings;
my ($tree, $symbols) = @ARGV;
my $may_go = qr{^(?:minitorch/(?:apps|bench|tests|testing)|grader/(?:checks|tools|worker))/(?!(?:calls_)?\d\d[-_.])};
my (%text, %includes, %calls, %defines);

chomp(my @files = `cd '$tree' && find . -type f -printf '%P\\n'`);
my %there = map { $_ => 1 } @files;
sub text_of {
    open my $in, '<:raw', "$tree/$_[0]" or die "$_[0]: $!\n";
    local $/;
    return scalar <$in>;
}
sub with_folder { my ($file, $name) = @_; (my $folder = $file) =~ s{[^/]*$}{}; return "$folder$name" }
for my $file (grep { m{\.(?:c|h|cu|cuh)$} } @files) {
    for my $name (text_of($file) =~ /^\s*#\s*include\s+"([^"]+)"/gm) {
        my @places = grep { -e } ("minitorch/$name", "grader/$name", with_folder($file, $name));
        1 while @places && $places[0] =~ s{[^/]+/\.\./}{};
        $includes{$file}{$places[0]} = 1 if @places;
    }
}
$text{$_} = text_of($_) for grep { m{^minitorch/(?:bench|tests|testing)/} || m{^labs/[^/]*/lab\.json$} } @files;
open my $in, '<', $symbols or die "$symbols: $!\n";
while (<$in>) {
    my ($source, $symbol, $type) = split;
    next if $symbol !~ /^m[tg]_/ || $symbol =~ /^mg_lab_\d\d$/ || !$there{$source};
    if ($type eq 'U') { $calls{$source}{$symbol} = 1 } else { $defines{$symbol}{$source} = 1 }
}
seek $in, 0, 0;
my %known; # some file of the repository has it: not a macro's or a library's
while (<$in>) { my (undef, $symbol, $type) = split; $known{$symbol} = 1 if $type =~ /^[A-TV-Z]$/ }

# lacks FILE: the first thing that it needs and that is not there.
sub lacks {
    my ($file) = @_;
    for (sort keys %{ $includes{$file} }) { return $_ unless $there{$_} }
    for my $symbol (sort keys %{ $calls{$file} }) {
        return $symbol if $known{$symbol} && !grep { $there{$_} } keys %{ $defines{$symbol} };
    }
    return 'minitorch/emulator' if $file =~ m{^minitorch/bench/.*\.cu$} && !grep { m{^minitorch/emulator/} } keys %there;
    return unless $file =~ m{^minitorch/bench/.*\.(?:sh|gp)$};
    for ($text{$file} =~ m{\b((?:minitorch|grader|labs)/[\w./-]*\w)}g) { return $_ if -f && !$there{$_} }
    for my $name ($text{$file} =~ m{\bbin/(\w+)}g) {
        my @sources = grep { -e } map { "minitorch/$_/$name.c" } 'apps', 'bench';
        return $name if @sources && !$there{ $sources[0] };
    }
    return;
}
# named FILE: whether a header, or data of a test or a bench, has a user.
sub named {
    my ($file) = @_;
    return 1 unless $file =~ m{\.h$} || $file =~ m{^minitorch/(?:tests/data|tests/preload|bench/peers)/([^/]*)} || $file =~ m{([^/]*\.gp)$};
    if (!defined $1) { return scalar grep { $there{$_} && $_ ne $file && $includes{$_}{$file} } keys %includes }
    my $entry = $1;
    return scalar grep { $there{$_} && !m{/\Q$entry\E(?:/|$)} && $text{$_} =~ /\b\Q$entry\E/ } keys %text;
}
for (my $gone = 1; $gone;) {
    $gone = 0;
    for my $file (grep { $there{$_} && $_ =~ $may_go } @files) {
        next if !defined lacks($file) && named($file);
        delete $there{$file};
        unlink "$tree/$file" or die "$file: $!\n";
        $gone = 1;
    }
}
for my $file (grep { $there{$_} } @files) {
    my $need = lacks($file);
    print "$file $need\n" if defined $need;
}

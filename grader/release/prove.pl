#!/usr/bin/perl
# prove.pl TREE GIVEN SOLUTIONS... -- no line of a marked region of the solutions occurs in a file of TREE.
#
# Lines are compared without blanks. One counts when 12 characters are left, a letter among them. A line that stands
# outside the regions too, in the solutions or in the code in GIVEN (as committed), is no secret: `for (int i = 0; ...`.
# All files are searched, objects too. Each line found is printed as `file:line`; then the exit status is 1.
use strict;
use warnings;
use File::Find;

my ($tree, $given, @solutions) = @ARGV;
sub slurp { my ($path) = @_; local $/; open my $in, "<:raw", $path or die "$path: $!\n"; return scalar(<$in>) // "" }

my (%from, $free);
for my $path (@solutions) {
    my ($inside, $comment, $number) = (0, 0, 0);
    for my $line (split /\n/, slurp($path)) {
        $number++;
        if ($line =~ m{/\* LAB [0-9.]+ BEGIN}) { $inside = $comment = 1 }
        if ($inside && $line =~ m{/\* LAB [0-9.]+ END}) { $inside = 0 }
        (my $bare = $line) =~ s/\s+//g;
        if (!$inside) { $free .= "$bare\n" }
        elsif (!$comment && length $bare >= 12 && $bare =~ /[A-Za-z]/) { $from{$bare} //= "$path:$number" }
        $comment = 0 if $comment && $line =~ m{\*/};
    }
    die "prove: $path: a region has no end\n" if $inside;
}
die "prove: there is no line to search for\n" unless %from;
find(sub { return unless -f && /\.(c|h|cu|cuh)$/; (my $text = slurp($_)) =~ s/[^\S\n]+//g; $free .= $text }, $given);
my @secret = grep { index($free, $_) < 0 } sort keys %from;
my $any = join "|", map { quotemeta } @secret;
my ($files, $bytes, $found) = (0, 0, 0);
find({ no_chdir => 1, wanted => sub {
    return unless -f;
    my $path = $_;
    my $text = slurp($path);
    $files++;
    $bytes += length $text;
    $text =~ s/[^\S\n]+//g;
    $path =~ s{^\Q$tree\E/}{};
    while ($text =~ /($any)/g) {
        my $line = 1 + (substr($text, 0, $-[0]) =~ tr/\n//);
        print "$path:$line: a line of a solution, $from{$1}: $1\n" if $found++ < 50;
    }
    if ($path =~ /\.(png|svg|jpg|gif|woff2?)$/) { } # nothing is packed in what we release but pictures
    elsif ($text =~ /\A(?:\x1f\x8b|PK\x03\x04|\xfd7zXZ|BZh|\x28\xb5\x2f\xfd)/) { print "$path:1: packed: its lines cannot be searched\n"; $found++ }
} }, $tree);
printf "prove: %d lines of marked regions, of which %d occur nowhere else; %d files, %.1f MB: %d found\n",
    scalar(keys %from), scalar @secret, $files, $bytes / 1e6, $found;
exit($found > 0);

# pages.pl PAGE... -- run by perl -i in a stage or release: cuts from its pages what names something that is not there.
#
# Missing are the file of a link, a file of ROOT, the goal of `make GOAL`, and a program or script of minitorch/apps/ and
# bench/. What goes is the smallest part that stands for itself: a remark in parentheses, or a part between commas, that
# is nothing but a link; a command in a block of code; a row of a table; an item of a numbered list; elsewhere a sentence,
# or its part behind a semicolon or a comma with a link. A block of code without lines goes with the sentence before it,
# if that ends with a colon. The lines from `<!-- needs FILE -->` to `<!-- end -->` go if FILE is not there; without these
# two they stay.
# TARGETS: make's goals here. ROOT: the repository that this one is cut from. NAMES: all of its programs.
use strict;
use warnings;
my %target = map { $_ => 1 } split ' ', $ENV{TARGETS};
my %missing = map { $_ => 1 } grep { my $name = $_; !grep { -e "minitorch/$_" } map { ("apps/$name.$_", "bench/$name.$_") } qw(c cu sh) } split ' ', $ENV{NAMES};
my $folder;

# Whether this is a command that is not there.
sub dead_command {
    my ($text) = @_;
    return 1 if grep { !$target{$_} } $text =~ m{\bmake (?:-\S+ )*([a-z][a-z0-9-]*)(?![\w/.])}g;
    return grep { $missing{$_} } $text =~ m{(?:build/\S*/bin/|minitorch/(?:apps|bench)/|\bBENCH=)(\w+)}g;
}
sub dead_link {
    my ($path) = @_;
    $path =~ s/#.*//;
    return $path ne '' && $path !~ m{^build/|:} && !-e "$folder$path";
}
sub dead {
    my ($text) = @_;
    return 1 if grep { dead_link($_) } $text =~ /\]\(([^)\s]+)\)/g;
    return 1 if grep { !-e && -e "$ENV{ROOT}/$_" } $text =~ m{`((?:\.ci|docs|grader|minitorch)/[\w./-]*\w)`}g;
    return grep { dead_command($_) || (/^(\w+_\w+|\w+(?=\s+--))(?:\s|\z)/ && $missing{$1}) } $text =~ /`([^`\n]+(?:\n[^`\n]+)?)`/g;
}
# The sentences of a paragraph or item that are not dead. A parenthesis that one of the others opens or closes stays whole.
sub sentences {
    my ($text) = @_;
    $text =~ s{!\[[^\]]*\]\(([^)\s]+)\)\n?}{dead_link($1) ? "" : $&}ge;
    $text =~ s{\s*\(\[[^\]]*\]\(([^)\s]+)\)\)}{dead_link($1) ? "" : $&}ge;
    $text =~ s{(,\s+)\[[^\]]*\]\(([^)\s]+)\)(?=[,.](?:\s|\z))}{dead_link($2) ? "" : $&}ge;
    $text =~ s{;\s((?:[^();]|\[[^\]]*\]\([^)]*\))*)(?=\))}{dead($1) ? "" : $&}ge;
    my ($lead) = $text =~ /^(\s*(?:[-*] |\d+\. )?(?:\*\*[^*\n]+:\*\*\s)?)/;
    $text = substr $text, length $lead;
    my $out = '';
    for my $sentence (split /(?<=[.?!:])(?<! \w\.)(?=\s+[A-Z`(\[*"])|(?<=[.?!]\))(?=\s)/, $text) {
        if (dead($sentence)) {
            my @part = split /(?=;\s|,\s+\[[^\]]*\]\()/, $sentence;
            my @kept;
            for my $part (@part) { last if dead($part); push @kept, $part }
            my $kept = join '', @kept;
            if ($kept ne '') { $kept =~ s/[\s;]*$/./ }
            my ($open, $close) = (($sentence =~ tr/(//) - ($kept =~ tr/(//), ($sentence =~ tr/)//) - ($kept =~ tr/)//));
            $kept .= ')' if $close > $open;
            $kept = (($sentence =~ /^(\s*)/)[0]) . '(' if $open > $close && $kept eq '';
            $out =~ s/:$/./ if $kept eq '';
            $sentence = $kept;
        }
        $sentence =~ s/^\s+// if $out eq '' || $out =~ /\($/;
        $out .= $sentence;
    }
    $out =~ s/\s*\z/\n/;
    return $out =~ /\w/ ? $lead . $out : '';
}
# The blocks of a page: [kind, text], where a block of blank lines follows each.
sub blocks {
    my @blocks;
    my $fenced = 0;
    for my $line (split /^/m, $_[0]) {
        my $last = @blocks ? $blocks[-1][0] : 'blank';
        my $kind = $fenced || $line =~ /^```/ ? 'fenced' : $line =~ /^\s*$/ ? 'blank' : $line =~ /^\|/ ? 'table' : $line =~ /^[#<]/ ? 'other'
            : $line =~ /^ {4}/ && ($last eq 'blank' || $last eq 'code') ? 'code' : 'text';
        $fenced = !$fenced if $line =~ /^```/;
        if ($kind eq $last) { $blocks[-1][1] .= $line } else { push @blocks, [$kind, $line] }
    }
    return @blocks;
}
sub cut {
    my ($page) = @_;
    $page =~ s{^<!-- needs (\S+) -->\n(.*?)^<!-- end -->\n}{-e $1 ? $2 : ""}gmse;
    my @out;
    for (blocks($page)) {
        my ($kind, $text) = @$_;
        my $was = $text;
        if ($kind eq 'table') {
            my $row = 0;
            $text =~ s{^\|.*\n?}{$row++ > 1 && dead($&) ? "" : $&}gme;
        } elsif ($kind eq 'code') {
            $text =~ s{^(?: {4}.*\\\n)* {4}.*\n?}{my $all = $&; dead_command($all =~ s/(?<=\S)(?: {2}| #).*//mgr) ? "" : $all}gme;
            $text = '' if $text !~ /\S/;
            if ($text eq '' && @out > 1 && $out[-2][0] eq 'text') { # what the colon announced
                $out[-2][1] =~ s/(?:(?<=[.?!])\s+|\A)[^.?!]*:\n\z/\n/;
            }
        } elsif ($kind eq 'text') {
            $text = join '', map { /^\s*\d+\. / && dead($_) ? '' : sentences($_) } split /^(?=\s*(?:[-*]|\d+\.) )/m, $text;
        }
        $text = "\n" if $kind eq 'blank';
        if ($kind ne 'fenced' && $kind ne 'code') { # in a heading, or the head of a table
            $text =~ s{ \(\[[^\]]*\]\(([^)\s]+)\)\)}{dead_link($1) ? "" : $&}ge;
            $text =~ s{\[([^\]]*)\]\(([^)\s]+)\)}{dead_link($2) ? $1 : $&}ge;
        }
        next if $kind eq 'blank' && (!@out || $out[-1][0] eq 'blank');
        push @out, [$kind, $text] if $text ne '';
    }
    return join '', map { $_->[1] } @out;
}
while (my $page = do { local $/; <> }) {
    ($folder = $ARGV) =~ s{[^/]*$}{};
    print cut($page);
}

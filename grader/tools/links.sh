#!/usr/bin/env bash
# links.sh -- the links of all *.md files (part of make lint). ROOT=dir checks another tree.
#
#   [text](path)           a relative path must exist
#   `name` [text](path)    so must the identifier, in that file; also as `name` in [text](path)
# Links into build/, and text in code blocks, are not checked. Each complaint is `file:line: what`.
set -euo pipefail
cd "${ROOT:-$(dirname "$0")/../..}"
mapfile -t pages < <(find . \( -path ./build -o -path ./.git \) -prune -o -name '*.md' -printf '%P\n' | sort)
[ ${#pages[@]} -gt 0 ] || { echo "links: no pages in $PWD" >&2 && exit 2; }
perl -e '
    use strict;
    my ($links, $names, $bad) = (0, 0, 0);
    sub complain { print "@_\n"; $bad++; }
    for my $page (@ARGV) {
        local $/;
        open my $in, "<", $page or die "$page: $!\n";
        my $text = <$in>;
        $text =~ s{^```.*?^```}{"\n" x ($& =~ tr/\n//)}gmse;         # code blocks
        (my $folder = $page) =~ s{[^/]*$}{};
        while ($text =~ /(?:`(\w+)`(?:\(\))?\s+(?:in\s+|of\s+)?)?\[[^\]]*\]\(([^)\s]+)\)/g) {
            my ($name, $path) = ($1, $2);
            my $line = 1 + (substr($text, 0, $-[2]) =~ tr/\n//);
            next if $path =~ m{^(\w+:|#)};
            $path =~ s/#.*//;
            my $file = $folder . $path;
            1 while $file =~ s{(^|/)(?!\.\./)[^/]+/\.\./}{$1};        # a/../b -> b
            next if $file =~ m{^build/};
            $links++;
            if (!-e $file) { complain("$page:$line: there is no $file"); next; }
            next if !defined $name || -d $file;
            $names++;
            open my $source, "<", $file or die "$file: $!\n";
            complain("$page:$line: $file has no `$name`") if <$source> !~ /\b\Q$name\E\b/;
        }
    }
    print "links: $links links and $names names in ", scalar @ARGV, " pages; $bad complaints\n";
    exit($bad > 0);
' "${pages[@]}"

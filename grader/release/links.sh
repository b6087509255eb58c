#!/usr/bin/env bash
# links.sh TREE -- in the pages of a stage or a release, a link to what is not there becomes its text; a picture that no page shows is removed, and so is the empty line that it leaves.
set -euo pipefail
cd "$1"
find . -name '*.md' -print0 | xargs -0 perl -0pi -e '
    s{(!?)\[([^\]]*)\]\(([^)\s#:]+)(#[^)]*)?\)}{
        my ($all, $mark, $text, $path) = ($&, $1, $2, $3);
        (my $folder = $ARGV) =~ s{[^/]*$}{};
        $path =~ m{^build/} || -e "$folder$path" ? $all : $mark ? "" : $text }ge;
    s{\n{3,}}{\n\n}g'
for picture in docs/images/*; do
    grep -rqF --include='*.md' "${picture##*/}" . || rm "$picture"
done
rmdir docs/images 2>/dev/null || true

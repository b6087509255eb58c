#!/usr/bin/env bash
# shown.sh PRINTED COMMANDS PAGE... -- what the pages show as output is what commands printed (commands.sh has both files:
# after a line of \x1e the output of each; page, line, block and text of each). A complaint is `page:line: what`.
#
#   ```text             a command of the pages printed these lines, one after the other, with the same words and
#                       numbers, lines of progress left out; `...` stands for any lines. Blanks do not count, nor a comment, two blanks and `# ...`
#   ```text measured    numbers and verdicts may differ: a date and its machine stand in the section, or at the page's top
#   ```text record      what takes hours or another machine: only the date is looked for
#   ```text message     the longest constant part of each line is text of the source
#   indented lines      after a command in its block are like ```text; and no block is a command's output without a fence
#   `code` with words   that is not a command is a message or a row's name: so is its longest constant part
# Counts in sentences and the figures of bars are compared with figures.sh, grades and lab.json (sub figures).
set -euo pipefail
perl -e '
    use strict;
    my ($printed, $commands, @pages) = @ARGV;
    my $bad = 0;
    my %count = map { $_ => 0 } qw(text measured record message quote figure);
    sub complain { print @_, "\n"; $bad++; }
    sub slurp { local $/; open my $in, "<", $_[0] or die "$_[0]: $!\n"; my $text = <$in>; return $text // ""; }
    sub words { my $line = shift; $line =~ s/\s{2,}# .*//; $line =~ s/^\s+|\s+$//g; $line =~ s/\s+/ /g; return $line; }
    sub masked { my $line = shift; $line =~ s/\b(?:PASS|FAIL|INCONCLUSIVE)\b|-?\d[\d,.]*\d|-?\d|\binf\b/N/g; return $line; }

    my @logs = map { [grep { length && !/ \[[#.]{8,}\] / } map { words($_) } split /\n/] } grep { length } split /^\x1e\n/m, slurp($printed);
    my @rough = map { [map { masked($_) } @$_] } @logs;
    my %known = map { $_ => 1 } grep { / .* / && /[a-z]{3}/ } map { @$_ } @logs;
    my %is_command;
    /^(.*?)\t(\d+)\t/ and $is_command{$1}{$2} = 1 for split /\n/, slurp($commands);
    # Split strings of the source are joined; their formats and escapes become blanks, like the numbers and names of a quote.
    my $source = join "", map { slurp($_) } grep { -f && !m{/tests/} } map { glob } qw(grader/*.[ch] grader/*/*.[ch] grader/*/*.sh
        minitorch/*/*.[ch] minitorch/emulator/*/*.[ch] minitorch/emulator/cuemu datasets/fetch solutions/*/*.[ch]);
    $source =~ s/"\s*(?:PRI\w+\s*)?"|\s*\n\s*|\\n|\s+/ /g;

    # The first line that no output has where the others are, or nothing; and what stands there.
    sub missing {
        my ($logs, @shown) = @_;
        my ($most, $said, $pattern) = (0, "", join "", map { $_ eq "..." ? "(?:.*\n)*?" : "\Q$_\E\n" } @shown);
        for my $log (@$logs) {
            return if join("\n", @$log, "") =~ /^$pattern/m;
            for my $start (grep { $log->[$_] eq $shown[0] } 0 .. $#$log) {
                my ($at, $n, $any) = ($start, 0, 0);
                for my $line (@shown) {
                    if ($line eq "...") { $any = 1; $n++; next; }
                    if ($any) { $at++ while $at < @$log && $log->[$at] ne $line; $any = 0; }
                    last if $at > $#$log || $log->[$at] ne $line;
                    $at++; $n++;
                }
                ($most, $said) = ($n, $log->[$at] // "") if $n > $most;
            }
        }
        return ($most, $said);
    }
    # The longest run of words without a number or a name; its first and last word may come from an argument.
    sub in_source {
        my ($page, $line, $text) = @_;
        my ($part) = sort { length $b <=> length $a } map { s/^\W+|[\s\W]+$//gr }
            split /\S*\d\S*|\s{2,}|[,:;]\s|\S*\.\.+\S*|(?:\b\w )?[-=+]\s|[\[<(]\S*|\b[A-Z]{4,}\b/, $text;
        return if $part !~ /[a-z]{2} [a-z]{2}/;
        for my $try ($part, $part =~ s/^\S+ (?=\S+ \S)//r, $part =~ s/(\S+ \S+) \S+$/$1/r) { return if index($source, $try) >= 0; }
        complain("$page:$line: the source has no text \"$part\"");
    }

    # Counts in sentences, beside what a command or a file says now. "About" may be 1 % off, or 3.
    my $figures = qx(grader/tools/figures.sh);
    my $pages = join "\n", map { @$_ } @logs;
    my @figures = (
        ["README.md", qr{about ([\d,]+) lines in (\d+) marked}, $figures =~ /a student writes: (\d+) lines in (\d+)/],
        ["README.md", qr{after lab 05 has about ([\d,]+)}, $figures =~ /stage 05: (\d+)/],
        ["README.md", qr{after lab 08 it has about ([\d,]+)}, $figures =~ /stage 08: (\d+)/],
        ["README.md", qr{after lab 15, with CUDA, about ([\d,]+)}, $figures =~ /stage 15: (\d+)/],
        ["labs/03-autograd/README.md", qr{lists all (\d+) rows}, $pages =~ m{grade 03: 0/\d+ TODO=(\d+)}],
        ["docs/GRADING.md", qr{\((\d+) of lab 06.s (\d+)\)}, bars("06"), $pages =~ m{grade 06: 0/(\d+)}],
        ["docs/DIAGNOSTICS.md", qr{has (\d+) programs}, scalar(() = glob "minitorch/emulator/tests/bugs/*.cu")]);
    # The points of a lab that its bars give, as its skeleton lists them.
    sub bars {
        my ($bars, $points) = (slurp(glob "labs/$_[0]-*/lab.json"), 0);
        for my $row (map { @$_ } @logs) { $points += $2 if $row =~ m{^(\d\d\.\d+ .*) TODO 0/(\d+)$} && index($bars, "\"$1\": {") > 0; }
        return $points;
    }
    sub figures {
        my ($page, $text) = @_;
        for my $figure (@figures) {
            my ($where, $said, @now) = @$figure;
            next if $where ne $page;
            my @said = map { tr/,//dr } $text =~ s/\s+/ /gr =~ $said or complain("$page: no sentence has $said");
            my $wrong = @now != @said || grep { abs($said[$_] - $now[$_]) > ($now[$_] > 300 ? $now[$_] / 100 : 3) * ("$said" =~ /about/) } 0 .. $#said;
            complain("$page: \"$&\" is @now now") if @said && $wrong;
            $count{figure} += @said;
        }
        # Rows of tables that begin with a row of a grade have figures of its bar in lab.json.
        while ($text =~ /^\| ((\d\d)\.\d+) ([^|]*?) (\|.*)/mg) {
            my ($step, $lab, $title, $cells) = ($1, $2, $3, $4);
            my $line = 1 + (substr($text, 0, $-[0]) =~ tr/\n//);
            my ($bar) = map { slurp($_) =~ /"(?:\Q$step $title\E|$step)": (\{.*?\})/s } glob "labs/$lab-*/lab.json";
            next if !$bar;
            my @bar = $bar =~ /"(?:low|full|toy|reference)": ([\d.]+)/g;
            for my $cell ($cells =~ /\| (\d[\d.]*)(?=[ ,](?! *[KM]iB))/g) {
                my $digits = length($cell =~ s/^\d+\.?//r);
                $count{figure}++;
                complain("$page:$line: lab.json has @bar, not $cell") if !grep { sprintf("%.${digits}f", $_) == $cell } @bar;
            }
        }
    }

    for my $page (@pages) {
        my @lines = split /\n/, slurp($page);
        my ($head) = join("\n", @lines) =~ /\A(.*?)(?:^## |\z)/ms;
        my ($kind, $begin, $first, @block, $command) = ("", 0, 0);
        my $section = 0;
        my $dated = sub {
            my $end = $section + 1;
            $end++ while $end < @lines && $lines[$end] !~ /^#/;
            return "$head @lines[$section .. $end - 1]" =~ /20\d\d-\d\d-\d\d/;
        };
        my $judge = sub {
            my @shown = map { words($_) } grep { !/^\s*(#|$)/ } @block;
            my $at = $first;
            @block = ();
            return if !@shown || $kind eq "code";
            return $count{record} += $dated->() || complain("$page:$at: a record has no date in its section") if $kind eq "record";
            if ($kind eq "message") { $count{message}++; in_source($page, $at + $_, $shown[$_] =~ s/^\S+:\d+: //r) for 0 .. $#shown; return; }
            $count{$kind}++;
            complain("$page:$at: what was measured has no date in its section") if $kind eq "measured" && !$dated->();
            my ($n, $said) = missing($kind eq "measured" ? (\@rough, map { masked($_) } @shown) : (\@logs, @shown));
            complain("$page:", $at + $n, ": no command prints: $shown[$n]", $said ? "\n    but: $said" : "") if defined $n;
        };
        for my $i (0 .. $#lines) {
            my $line = $lines[$i];
            $section = $i if !$kind && $line =~ /^#/;
            if ($line =~ /^ *```(?:(text)(?: (\w+))?)?/) {
                if ($kind) { $judge->(); $kind = ""; } else { $judge->(); $kind = $2 || $1 || "code"; $first = $i + 2; @block = (); }
            } elsif ($kind) {
                push @block, $line;
            } elsif ($line =~ /^    /) {
                if ($is_command{$page}{$i + 1}) {
                    if (@block) { $kind = "text"; $judge->(); $kind = ""; }
                    $command = $i + 1;
                } elsif ($command && $lines[$i - 1] !~ /\\$/) {
                    $first = $i + 1 if !@block;
                    push @block, $line;
                } elsif ($known{words($line)}) {
                    complain("$page:", $i + 1, ": output of a command without \`\`\`text: ", words($line));
                }
            } else {
                if (@block) { $kind = "text"; $judge->(); $kind = ""; }
                $command = 0;
            }
        }
        my $text = slurp($page);
        figures($page, $text);
        next if $page =~ m{^(docs/results|solutions)/};
        $text =~ s{^ *```.*?^ *```$}{"\n" x ($& =~ tr/\n//)}gmse;
        $text =~ s/^    .*$//gm;
        while ($text =~ /`([^`]+)`/g) {
            my ($quote, $line) = ($1, 1 + (substr($text, 0, $-[1]) =~ tr/\n//));
            next if $quote !~ /[a-z]{3},? [a-z]{3}/ || $quote =~ m{^[A-Z]+=|^make |^(?:sudo )?apt-get |^\w+/\w|--};
            $count{quote}++;
            in_source($page, $line, $quote =~ s/\n\s*/ /gr);
        }
    }
    print "shown: $count{text} outputs compared, $count{measured} without their numbers; $count{message} messages and ",
          "$count{quote} quotes found in the source; $count{figure} figures as counted now; $count{record} records of a day; $bad complaints\n";
    exit($bad > 0);
' "$@"

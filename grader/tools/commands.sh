#!/usr/bin/env bash
# commands.sh [PAGE...] -- runs the commands of the handouts and docs. A complaint is `page:line: command: what`.
#
# A command is a line of a code block, or `code` in the text, that begins with make, cd, $EDITOR, a program of build/ or
# a script of this repository. The commands of a page run in order in a copy of the tree, where they write what they
# like; the programs are those of build/release, also where a page says MINE or another flavour.
#   make TARGET    must be known, and its variables; then the programs and scripts of its recipe run here. A page with
#                  programs of build/ must say `make` before them (docs/results/ are records of a day, and instructors have built all);
#                  make test runs those of build/release/tests
#   a program      runs with the options that `smallest` adds (not with --plan, which only calculates), else with --help, which reports an option it does not know
#   a script       runs if `quick` has it; else it must exist, without errors of syntax
# A line of a block that begins with another program of `others` is a complaint, unless `by_hand` names it: it needs root,
# or an object of an earlier state, or a system that this machine may not have.
# `# exit status N` behind a command says which it has, else 0. Every line that an `exact` command prints must be on
# its page, but for those that name program or machine. Then shown.sh compares what the pages show with what was printed.
set -o pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "${ROOT:-$root}" || exit 2
pages=("$@")
# These have tests of their own: minitorch/tests/test_own_program.sh, grader/tests/test_lab_new.sh, minitorch/emulator/tests/run_extending.sh.
[ $# -gt 0 ] || mapfile -t pages < <(printf '%s\n' README.md labs/*/README.md solutions/*/ANSWERS.md docs/*.md docs/results/*.md | grep -vE 'OWN_PROGRAM|EXTENDING')

smallest() { # PROGRAM: options that make it end at once
    case $1 in
    attention_share) echo "--size toy --layers 1 --tokens 64 --rounds 1" ;;
    bench_access) echo "--megabytes 1 --rounds 1" ;;
    bench_attention) echo "--heads 1 --width 8 --rounds 1" ;;
    bench_activations) echo "--elements 64 --rounds 1" ;;
    bench_allocator) echo "--size toy --batch 1 --time 16 --steps 3 --rounds 1" ;;
    bench_ckpt) echo "--megabytes 1 --rounds 1" ;;
    bench_gelu) echo "--columns 8 --rows 256 --rounds 1" ;;
    bench_gpt2) echo "--size toy --batch 1 --time 8 --steps 1 --tokens 2" ;;
    bench_loader) echo "--rounds 1 --images 1 --workers 2" ;;
    bench_memory) echo "--layers 1 --heads 1 --width 8 --vocabulary 16 --batch 1 --time 8 --rounds 1" ;;
    bench_mlp) echo "--samples 64 --epochs 1" ;;
    bench_optim) echo "--params 65536 --rounds 1" ;;
    bench_precision) echo "--steps 1 --rounds 1" ;;
    bench_server) echo "--limit 40" ;;
    bench_sharing) echo "--bytes 4096" ;;
    bench_stack) echo "--samples 64 --rounds 1" ;;
    bench_tape) echo "--nodes 10 --rounds 1" ;;
    bench_tokenizer) echo "--rounds 1 --workers 2" ;;
    bench_views) echo "--size 64" ;;
    faults) echo "--quick --kills 2" ;;
    generate) echo "--tokens 2" ;;
    train_gpt2) echo "--size toy --layers 2 --heads 2 --width 8 --block 8 --batch 4 --steps 1 --eval-every 1 --eval-batches 1 --quiet --overwrite" ;;
    train_mnist) echo "--epochs 1 --hidden 8,8 --quiet --overwrite" ;;
    bench_collectives | bench_goodput | bench_pipe | bench_plan | bench_shares | overlap | plan | profile | systolic | tokenize | curve | strip) ;;
    *) echo --help ;;
    esac
}
exact='labs/[^ ]* make bench LAB=(05 BENCH=overlap|06|07|14)$|docs/DIAGNOSTICS.md for bug.*'
others='sudo|git|gcc|g[+][+]|clang|nvcc|mpirun|srun|sbatch|systemd-run|objdump|nm|gdb|tar|curl|docker|gnuplot|bash|sh|cp'
by_hand='cp -r solutions/02-backprop edited|sudo apt-get install|cp -r ../course-after/|objdump -d|systemd-run --user|curl 127.0.0.1:'
quick='count_lab0[67]|lab|debug|links'

mkdir -p "$root/build" && stage=$(mktemp -d "$root/build/commands.XXXXXX") || exit 2
trap 'rm -rf "$stage"' EXIT
tar -cf - --exclude=./build --exclude=./.git --exclude=./datasets/cache . | tar -xf - -C "$stage"
mkdir -p "$stage"/{build/release/bin,alice,datasets/cache/shakespeare,datasets/cache/gpt2-weights} && cd "$stage" || exit 2
ln -s "$root/.git" .git # figures.sh asks git for the files
for set in mnist standin; do ln -s "$root/datasets/cache/$set" datasets/cache/ 2>/dev/null; done
for part in "$root"/build/release/*; do [ "${part##*/}" = bin ] || cp -rl "$part" build/release/; done
for program in "$root"/build/release/bin/*; do
    case ${program##*/} in
    grade | make_digits) ln "$program" build/release/bin/ ;;
    mnist | gpt2) ln -s /bin/true "build/release/bin/${program##*/}" ;; # without options: minitorch/tests/test_programs.sh runs them
    *)  printf '#!/bin/sh\ncase "$*" in *--plan*) exec %s "$@" ;; esac\nexec %s "$@" %s\n' "$program" "$program" "$(smallest "${program##*/}")" >"build/release/bin/${program##*/}"
        chmod +x "build/release/bin/${program##*/}" ;;
    esac
done
# What the pages take for granted: data, as small as can be; a submission; a CUDA program.
cat labs/*/README.md{,} | tee kjv.txt >datasets/cache/shakespeare/tinyshakespeare.txt
ln kjv.txt page.txt && mkdir -p datasets/cache/gpt2
# A vocabulary of GPT-2's size, 50,257: pairs and triples of characters.
perl -e '@c = map { chr } 33 .. 126; @m = map { $a = $_; map { "$a $_" } @c } @c; @t = map { s/ //r } @m;
    print join("\n", "#version: 0.2", @m, (map { $a = $_; map { "$a $_" } @c } @t)[0 .. 49999 - @m]), "\n"' >datasets/cache/gpt2/vocab.bpe
"$root"/build/release/bin/tokenize -o shakespeare.tokens kjv.txt --quiet >/dev/null || exit 2
cp labs/01*/loops.c labs/02*/init.c alice && tar -cf alice.tar -C alice . && ln -s alice dir-or-tar
cp grader/release/course-example.json other.json 2>/dev/null
cp minitorch/emulator/tests/good/grid_stride.cu saxpy.cu && cp minitorch/emulator/tests/good/check.h .
# shellcheck disable=SC2016
printf '#!/bin/sh\nfor set; do :; done\n%s\n' 'grep -q "^$set	" datasets/manifest.tsv || { echo "fetch: no set $set"; exit 1; }' >datasets/fetch

others=$others perl -e '
    use strict;
    my $assigned = qr{(?:[A-Z_]+=(?:"[^"]*"|[^\s"]*)\s+)*};
    my $script = qr{(?:grader|minitorch|datasets)/[\w./]+\.sh\b|datasets/fetch\b|\.ci/\w+};
    my $program = qr{build/[\w.-]+/(?:bin|tests|emu)/\w+};
    my $begins = qr{^$assigned(?:make(?![\w-])|$program|$script|\./\w|(?:python3|grep) -)};
    my $others = qr{^(?:$ENV{others}) };
    for my $page (@ARGV) {
        local $/;
        open my $in, "<", $page or die "$page: $!\n";
        my ($text, $block, %at) = (scalar <$in>, 0);
        my @lines = split /\n/, $text, -1;
        my ($fenced, $after) = (0, 0);
        for my $i (0 .. $#lines) {
            if ($lines[$i] =~ /^ *```/) { $fenced = !$fenced; $block = $i; $lines[$i] = ""; next; }
            if (!$fenced && $lines[$i] !~ /^    /) { $block = $i; next; }
            (my $line = $lines[$i]) =~ s/^ +//;
            $lines[$i] = "";
            next if $i < $after;
            for ($after = $i + 1; $line =~ s/\\$//; $after++) { $line .= $lines[$after] =~ s/^ +//r; $lines[$after] = "    "; }
            $at{$i + 1} = [$block, $line] if $line =~ m{$begins|$others|^(?:\$EDITOR|cd|export|for \w+ in|\.\.?/\w)[ /]|^[A-Z]+=(?:"[^"]*"|\S+)$};
        }
        $text = join "\n", @lines;
        while ($text =~ /`([^`]+)`/g) {
            my ($code, $line) = ($1, 1 + (substr($text, 0, $-[1]) =~ tr/\n//));
            $code =~ s/\s*\n\s*/ /g;
            push @{$at{$line}}, 0, $code if $code !~ / \.\.\. / && ($code =~ $begins || $code =~ /^[A-Z]+="[^"]*"$/);
        }
        for my $line (sort { $a <=> $b } keys %at) {
            my @found = @{$at{$line}};
            while (my ($in_block, $command) = splice @found, 0, 2) { print "$page\t$line\t$in_block\t$command\n"; }
        }
    }' "${pages[@]}" >commands.list || exit 2

# make as the pages say it, without building: `make -n` prints the recipe, of which programs and scripts run.
make() {
    local word line recipe
    for word in "$@"; do
        [[ $word =~ ^([A-Z]+)= ]] || continue
        grep -qE "[(,]${BASH_REMATCH[1]}[),]|^${BASH_REMATCH[1]} *[?:]?=" "$root"/Makefile "$root"/{minitorch,grader,docs}/*/*.mk ||
            { echo "make knows no ${BASH_REMATCH[1]}" && return 1; }
    done
    recipe=$(command make -n --no-print-directory -C "$root" DEPENDENCIES= "$@" 2>&1) || {
        if [ $# -eq 1 ]; then make "$1" LAB=00 STEP=00.1 DIR=alice OUT=out; else tail -1 <<<"$recipe" && return 1; fi
        return
    }
    while read -r line; do (run "$line") || return; done < <(sed -e ':a;/\\$/{N;s/\\\n//;ba}' <<<"$recipe" |
        grep -E "^(rc=0; |(GDB|FROM)='[^']*' )?(build/[^ ]*/bin/|grader/[^ ]*\.sh|minitorch/[^ ]*\.sh|\.ci/[a-z]+ ?$|datasets/fetch|echo '==> )")
}
# run COMMAND: with the reference's programs; scripts as described at the top.
run() {
    local command script
    command=$(sed -E 's#build/(release|debug|asan|tsan)(-mine-[0-9-]+)?/(bin|tests|emu)/#build/release/\3/#g; /count_lab/s#labs/#solutions/#g' <<<"$1")
    # shellcheck disable=SC2013
    for script in $(grep -oE '(^|&& |[ "])((grader|minitorch)/[a-z_0-9/]+\.sh|\.ci/[a-z]+)' <<<"$command" | sed 's/^[&" ]*//'); do
        [[ ${script##*/} =~ ^($quick)\.sh$ ]] || { bash -n "$script" || return; command="true # $command"; }
    done
    [[ ! $command =~ gpt2-weights/ ]] || command+=" --help" # 548 MB
    [[ ! $command =~ ^build/release/tests/ ]] || command="test -x ${command%% *}"
    eval "$command"
}
export -f make run
export root quick EDITOR="test -f" OMP_WAIT_POLICY=passive MT_DATA=
unset MAKEFLAGS MAKELEVEL MFLAGS MT_DATA MT_MIRROR

bad=0 count=0 page='' block='' built=''
declare -A seen=()
complain() { echo "$1"; bad=$((bad + 1)); }
while IFS=$'\t' read -r in line in_block command; do
    [ "$in" = "$page" ] || { page=$in block='' built=''; }
    [ "$in_block" = "$block" ] || cd "$stage" || exit 2
    block=$in_block
    [[ ! $command =~ (^|&& )make( -s)?( *(&&|#)|$) ]] || built=1
    what=${command%%  *} # without a comment
    [[ $what = make* ]] || what="$page $what" # others may depend on what their page did before
    [ -z "${seen[$what]:-}" ] || continue
    seen[$what]=1 count=$((count + 1)) expected=0 status=0
    [[ ! $command =~ \#\ exit\ status\ ([0-9]+) ]] || expected=${BASH_REMATCH[1]}
    [[ ! $command =~ build/[a-z]+(-mine-[0-9-]+)?/(bin|tests)/ ]] || [ -n "$built" ] || [[ $page =~ ^(docs/results|solutions)/ ]] || complain "$page:$line: $command: nothing before it is make"
    if [[ $command =~ ^($others)\  ]]; then
        [[ $command =~ ^($by_hand) ]] || complain "$page:$line: $command: no test runs it"
        continue
    fi
    run "$command" >"$stage/log" 2>&1 </dev/null || status=$?
    { echo $'\x1e' && cat "$stage/log"; } >>"$stage/printed"
    # A missed bar of speed is not an error of the command: the machine may be busy.
    if [ $status -eq 1 ] && grep -qE '\bFAIL\b' <<<"$(tail -1 "$stage/log")"; then status=0; fi
    [ "$status" -eq "$expected" ] || { complain "$page:$line: $command: exit status $status"; tail -3 "$stage/log" | sed "s|^|    |"; }
    if [[ "$page ${command%%  *}" =~ ^($exact) ]]; then
        while read -r said; do complain "$page:$line: $command: not on the page: $said"; done < <(
            grep -vE '^==> |simulated time$' "$stage/log" | tr -s ' ' | sed 's/^ //; s/ $//' | grep -vxF -f <(tr -s ' ' <"$stage/$page" | sed 's/^ //; s/ $//; /^$/d') | grep .)
    fi
done <"$stage/commands.list"
cd "$stage" || exit 2
if [[ ${pages[*]} = *06-cuda* ]]; then # which shows a mutant's report
    awk -v units=solutions/06-cuda-kernels -v out=unpadded -f grader/tools/table.awk grader/mutants/06.txt >/dev/null
    cp -n solutions/06-cuda-kernels/*.cu unpadded/transpose-tile-unpadded
    { echo $'\x1e' && CUEMU_REPORT=1 minitorch/bench/count_lab06.sh unpadded/transpose-tile-unpadded "tiled transpose"; } >>printed 2>&1
fi
"$root/grader/tools/shown.sh" printed commands.list "${pages[@]}" || bad=$((bad + 1))
echo "commands: $count commands in ${#pages[@]} pages; $bad complaints"
[ $bad -eq 0 ]

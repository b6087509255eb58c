#!/usr/bin/env bash
# grow.sh: planted functions have their shares of the processor time, in whatever object and thread they run; what is counted as whose.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
cd "$dir"
mkdir -p mine/{01-a,03-c} units/02-b plain build/progress labs/0{1-a,2-b,3-c}
echo '{  "gives": "nothing" }' | tee labs/{01-a,02-b,03-c}/lab.json >/dev/null
sed -i 's/{ //; s/ }/,/' labs/01-a/lab.json && sed -i 's/nothing/spin/' labs/01-a/lab.json
printf '%s\t%s\t%s\t%s\n' 01-a passes 12 20 02-b 'begun: FAIL=1' 3 10 03-c passes 5 7 >build/progress/table
# Each spins on its own, for so many hundredths of a second of processor time. The static function has the same name everywhere, and the given code stands in an archive.
busy() { # NAME
    cat <<EOF
#include <time.h>
static volatile unsigned long sum;
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
static __attribute__((noinline)) void turn(double end) { do for (long n = 300000; n > 0; n--) sum += n; while (now() < end); }
void $1(long times);
void $1(long times) { turn(now() + 0.01 * times); }
EOF
}
busy never >mine/03-c/spin.c && busy mine_one >mine/01-a/spin.c && busy theirs >units/02-b/spin.c && busy given >given.c && busy in_thread >mine/01-a/other.c
cat >main.c <<'EOF'
#include <pthread.h>
void mine_one(long), theirs(long), given(long), in_thread(long);
static void *work(void *times) { in_thread((long)times); return 0; }
int main(void)
{
    for (int round = 0; round < 10; round++) {
        pthread_t thread;
        pthread_create(&thread, 0, work, (void *)3L);
        mine_one(3), theirs(2), given(2);
        pthread_join(thread, 0);
    }
}
EOF
for unit in mine/{01-a/{spin,other},03-c/spin} units/02-b/spin given main; do gcc -O2 -c $unit.c -o $unit.o; done
ar rcs libgiven.a given.o
link() { gcc -o "$1" main.o "$dir"/mine/01-a/spin.o "$dir"/mine/01-a/other.o "$dir"/mine/03-c/spin.o "$dir"/units/02-b/spin.o "$dir/libgiven.a" -lpthread -Wl,-Map="$1.map"; }
link spin
out=$(SAMPLES=400 "$root/grader/tools/grow.sh" ./spin) || bad "it ends with $?"
share() { # NAME PERCENT [WORD]: within 15 of it
    local is
    is=$(awk -v name="$1" 'index($0, "  " name " ") == 1 { for (i = 1; i < NF; i++) if ($(i + 1) == "%") print $i }' <<<"$out")
    if awk -v is="${is:-x}" -v want="$2" 'BEGIN { exit !(is != "x" && is > want - 15 && is < want + 15) }'; then ok; else bad "$1 has ${is:-no share} of $2 %: $out"; fi
    [ -z "${3:-}" ] || check "$1 is $3" grep -qE "^  $1 +[0-9.]+ % +$3" <<<"$out"
}
share 01-a 60 yours
share 02-b 20 "the reference"
share "given code" 20
share "in your functions" 60
says() { grep -qF -- "$1" <<<"$out" && ok || bad "not said: $1: $out"; }
check "a lab that takes no time is there, too" grep -qE '^  03-c +0[.]0 % +yours' <<<"$out"
says "You wrote 20 lines (reference: 37); 2 of 3 labs pass."
says "  01-a                   12 lines  spin"
check "a lab that does not pass is no milestone" eval '! grep -q "02-b .*lines" <<<"$out"'

# A program that runs for long is ended, one that fails is an error, and without a program there are the lines only.
sed -i 's/mine_one(3)/for (;;) mine_one(1)/' main.c && gcc -O2 -c main.c -o main.o && link spin
out=$(SAMPLES=60 timeout 120 "$root/grader/tools/grow.sh" ./spin) && ok || bad "a long run: $out"
printf 'int main(void) { return 3; }\n' >main.c && gcc -O2 -c main.c -o main.o && link spin
expect "a program that fails" 1 "You wrote" "$root/grader/tools/grow.sh" ./spin
expect "no program" 0 "You wrote 20 lines (reference: 37)" "$root/grader/tools/grow.sh"
finish grow.sh

# expect.sh -- sourced by tests of the tools: expect counts in passed and failed.
passed=0 failed=0

# expect NAME STATUS WORDS COMMAND...: the command ends with STATUS and prints WORDS.
expect() {
    local name=$1 status=$2 words=$3 out rc=0
    shift 3
    out=$("$@" 2>&1) || rc=$?
    if [ $rc -eq "$status" ] && grep -qF -- "$words" <<<"$out"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1)) && printf 'FAIL %s: exit %d, said:\n%s\n' "$name" $rc "$out"
    fi
}

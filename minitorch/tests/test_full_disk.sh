#!/usr/bin/env bash
# full_disk: a checkpoint on a file system that is full, read-only, or in use: clear words, and the older one is whole.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
faults=$PWD/build/release/bin/faults train=$PWD/build/release/bin/train_gpt2
make -s build/release/bin/{faults,train_gpt2} >/dev/null || exit 1
said() { grep -qF -- "$1" "$dir/log" && ok || bad "it does not say: $1"; }

# File systems of 40 and 64 KiB: one of these checkpoints has room there, two have not, and one of the saver's has not.
inside() {
    mkdir "$dir/disk" "$dir/small"
    mount -t tmpfs -o size=40k none "$dir/disk" && mount -t tmpfs -o size=64k none "$dir/small" || exit 9
    "$faults" --save "$dir/disk" >"$dir/log" 2>&1 && ok || bad "a save"
    "$faults" --save "$dir/disk" >"$dir/log" 2>&1 && bad "a save without room" || said "No space left on device"
    said "$dir/disk/step-7.new/"
    [ "$(ls "$dir/disk")" = step-7 ] && ok || bad "what was written of it is not gone: $(ls "$dir/disk")"
    "$faults" --check "$dir/disk/step-7" >"$dir/log" 2>&1 && ok || bad "the older one"
    mount -o remount,ro "$dir/disk"
    "$faults" --save "$dir/disk" >"$dir/log" 2>&1 && bad "a save on a read-only one" || said "Read-only file system"
    "$faults" --check "$dir/disk/step-7" >"$dir/log" 2>&1 && ok || bad "the older one"
    timeout 20 "$faults" --saver "$dir/small" >"$dir/log" 2>&1 && bad "a saver without room" || said "No space left on device"
    [ -z "$(ls "$dir/small")" ] && ok || bad "parts are left: $(ls "$dir/small")"
    # Activations that wait in a file: without room the segment stays in memory, and the run goes on.
    TMPDIR=$dir/small "$train" --data minitorch/bench/faults.c --layers 2 --heads 2 --width 64 --block 32 --steps 1 -q --recompute offload -o "$dir/run" >"$dir/log" 2>&1
    said "a segment stays on the device: $dir/small: no file of"
    [ -z "$(ls "$dir/small")" ] && ok || bad "activations are left: $(ls "$dir/small")"
    finish full_disk
}
export -f inside ok bad said finish
export faults train dir passed failed
if unshare -Urm true 2>/dev/null; then
    unshare -Urm bash -c inside
else
    echo "full_disk: skipped, no file system can be mounted here (unshare -Urm): 0 passed, 0 failed"
fi

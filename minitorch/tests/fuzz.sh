#!/usr/bin/env bash
# fuzz.sh [SECONDS] -- libFuzzer on the readers of manifests, shards and indices (hostile.h), with ASan and UBSan; needs clang.
# It begins with the corpus of test_hostile.c. What reaches other code is then in build/fuzz/new, as little as can be: copy
# it to minitorch/tests/data/hostile/. What crashes is in build/fuzz/crash-*. Not a part of make test.
set -euo pipefail
cd "$(dirname "$0")/../.."
known=minitorch/tests/data/hostile
rm -rf build/fuzz && mkdir -p build/fuzz/{found,new}
cat >build/fuzz/fuzz.c <<'END'
#include "tests/hostile.h"
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    setenv("MT_LOG", "error", 1);
    hostile(data, (int64_t)size);
    return 0;
}
END
# An offset of 0 from NULL is not an error in gcc's sanitizer, nor in C23.
clang -std=gnu11 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize=pointer-overflow -fno-sanitize-recover=all \
    -Iminitorch -ffunction-sections -Wl,--gc-sections -o build/fuzz/fuzz build/fuzz/fuzz.c minitorch/core/*.c minitorch/ckpt/*.c \
    minitorch/testing/disk_*.c solutions/{00-tensors,12-checkpoints}/*.c -lcjson -lm -ldl
build/fuzz/fuzz -max_total_time="${1:-600}" -max_len=4096 -timeout=10 -dict=minitorch/tests/data/hostile.dict \
    -artifact_prefix=build/fuzz/ build/fuzz/found $known
build/fuzz/fuzz -merge=1 -max_len=4096 build/fuzz/new $known build/fuzz/found

#!/usr/bin/env bash
# bench.sh BUILD -- make bench: every table beside its peer, as text, as CSV under build/bench/, and as plots.
# Ratios are measured side by side in one run; a missing peer is named with the line that installs it.
set -uo pipefail
cd "$(dirname "$0")/../.."
build=$1 out=build/bench rc=0
mkdir -p $out || exit 1
. minitorch/bench/peer.sh
step() { echo "==> $1"; shift; "$@" || rc=1; }

step "matmul beside OpenBLAS"               in_root "$build/bin/bench_matmul" --csv $out/matmul.csv
step "products of bf16 beside oneDNN"       "$build/bin/bench_matmul16" --csv $out/matmul16.csv
step "products under the roofline"          "$build/bin/bench_roofline" --csv $out/roofline.csv
step "MNIST epoch beside PyTorch"           minitorch/bench/bench_mnist.sh
step "where an MNIST step spends time"      "$build/bin/bench_mlp" --csv $out/mlp.csv
step "MNIST: full stack beside raw kernels" "$build/bin/bench_stack" --csv $out/stack.csv
step "two cores, the same memory"           "$build/bin/bench_sharing"
step "activations (figure 8.2)"             "$build/bin/bench_activations" --csv $out/activations.csv
step "views and copies"                     "$build/bin/bench_views"
step "what the tape costs"                  "$build/bin/bench_tape" --csv $out/tape.csv
step "optimizers: bytes of state, fused"    "$build/bin/bench_optim" --csv $out/optim.csv
step "optimizers race on MNIST"             "$build/bin/converge" --csv $out/converge.csv --svg $out/converge.svg
step "overlap (figures 8.7, 8.8)"           "$build/bin/overlap" --csv $out/overlap.csv --svg $out/overlap.svg
step "loader beside bare decoding"          "$build/bin/bench_loader" --csv $out/loader.csv
step "GPT-2 124M beside PyTorch"            minitorch/bench/bench_gpt2.sh "$build"
step "two ranks beside PyTorch's"           minitorch/bench/bench_ddp.sh "$build"
step "tokenizer beside npm's"               minitorch/bench/bench_tokenizer.sh "$build"
step "checkpoints beside dd and memcpy"    "$build/bin/bench_ckpt" --csv $out/ckpt.csv
step "interrupted saves, what saves cost" "$build/bin/faults" --csv $out/waste.csv --svg $out/waste.svg
if [[ $(ldd "$build/bin/bench_mpi") == *libmpi* ]]; then
    step "all-reduce beside Open MPI's"     timeout -k 5 120 "$build/bin/bench_mpi" --csv $out/mpi.csv --svg $out/mpi.svg
else
    echo "no all-reduce beside Open MPI's: apt-get install libopenmpi-dev openmpi-bin"
fi
step "what emulating a GPU costs"           minitorch/bench/bench_emulator.sh "$build"

if command -v gnuplot >/dev/null; then
    gnuplot minitorch/bench/bench_matmul.gp && echo "plot: $out/matmul.svg"
else
    echo "no plots: gnuplot is missing (apt-get install gnuplot-nox)"
fi
echo "bench: tables in $out/*.csv $([ $rc -eq 0 ] && echo PASS || echo FAIL)"
exit $rc

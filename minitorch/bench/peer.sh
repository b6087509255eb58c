# peer.sh -- the libraries that benchmarks compare with: where they are and which kernels of OpenBLAS to try. Sourced.
#
# TORCH_ROOT=DIR names a folder with a newer Debian in it, whose PyTorch and OpenBLAS are raced instead of this
# system's:
#     debootstrap --include=python3-torch,python3-numpy,libopenblas0-openmp trixie DIR
# Settings of kernels and waiting threads are removed from the environment: they may be there for another purpose.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE OMP_WAIT_POLICY

# root_prefix: the words before a command that runs it with the libraries and the python3 of TORCH_ROOT, in this folder;
# none without TORCH_ROOT. in_root COMMAND...: runs it so.
root_prefix=()
[ -z "${TORCH_ROOT:-}" ] || root_prefix=(bwrap --bind "$TORCH_ROOT" / --bind "$PWD" "$PWD" --bind /tmp /tmp --proc /proc
    --dev /dev --ro-bind /sys /sys --chdir "$PWD")
in_root() { "${root_prefix[@]}" "$@"; }

# core_types: the kernels of OpenBLAS that this processor can run, a word each; `own` is OpenBLAS's choice.
core_types()
{
    echo own
    ! grep -qm1 ' avx2' /proc/cpuinfo || echo Haswell
    ! grep -qm1 ' avx512dq' /proc/cpuinfo || echo SkylakeX
    ! grep -qm1 ' avx512_bf16' /proc/cpuinfo || printf 'Cooperlake\nSapphireRapids\n'
}

# core_setting TYPE: the environment variable that selects it; nothing for `own`.
core_setting() { [ "$1" = own ] || echo "OPENBLAS_CORETYPE=$1"; }

# peer_name: "PyTorch 2.6.0"; fails when there is none.
peer_name()
{
    in_root "${PYTHON:-/usr/bin/python3}" -c 'import torch; print("PyTorch", torch.__version__)' 2>/dev/null
}

# attack  06.6 kernels whose accesses are not traced, by the macro with which the emulator's headers leave out their own
# hopes   what is not traced is neither counted nor searched for races
# stopped by a unit has no attribute that switches tracing off
# earns   0
# verdict FAIL
# words   the attribute `no_sanitize_thread`
sed -i 's/__global__ void/CUEMU_UNTRACED __global__ void/' reduce.cu transpose.cu

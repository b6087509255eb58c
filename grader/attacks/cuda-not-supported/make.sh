# attack  06.1 calls what the emulator does not have
# hopes   the grader crashes
# stopped by the translator reports it
# earns   0
# verdict FAIL
# words   saxpy.cu:
# words   not supported by the emulator
sed -i '1i #include <thrust/device_vector.h>\nthrust::device_vector<float> all;' saxpy.cu

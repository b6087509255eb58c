# attack  06.1 wastes memory traffic, then sets the emulator's counters back
# hopes   the traffic row sees none
# earns   4
# verdict FAIL
# stops   saxpy: traffic
# words   less than 0.99 is not possible
sed -i '/^extern "C" void mt_saxpy_scalar_cuda/,/^}/ s/^    MT_LAUNCHED("saxpy_scalar");/&\n    emu_counts_reset();/; 1i extern "C" void emu_counts_reset(void);' saxpy.cu

# attack  06.1 causes too much memory traffic, then resets the emulator's counters
# hopes   the traffic row sees none
# stopped by the list of symbols; counts below the minimum are refused
# behind  the list
# earns   2
# verdict FAIL
# stops   saxpy: traffic
# stops   saxpy: every size
# words   no kernel was launched
sed -i '/^extern "C" void mt_saxpy_scalar_cuda/,/^}/ s/^    MT_LAUNCHED("saxpy_scalar");/&\n    emu_counts_reset();/; 1i extern "C" void emu_counts_reset(void);' saxpy.cu

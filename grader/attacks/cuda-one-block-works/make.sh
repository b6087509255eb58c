# attack  06.7 one block adds all elements; the others exit at once
# hopes   the blocks of the launch are counted
# stopped by what the busiest block accesses is compared with all
# earns   3
# verdict FAIL
# stops   many blocks
# words   the first launch divides the elements among many blocks
perl -0pi -e 's/for \(int64_t i = mt_thread\(\); i < n; i \+= mt_grid_threads\(\)\)\n/for (int64_t i = threadIdx.x; i < n \&\& blockIdx.x == 0; i += MT_THREADS)\n/' reduce.cu

## make rank-losses  50 steps in every strategy on threads, over MPI and the emulated NCCL, beside one rank (ENGINES="threads mpi")
## make rank-faults  kills, stops and misleads ranks, in every strategy, at sampled messages (SAMPLES=3)
.PHONY: rank-losses rank-faults
rank-losses rank-faults: $(B)/bin/train_gpt2
	@minitorch/tests/rank_sweep.sh $(subst rank-,,$@) $(if $(filter %losses,$@),$(ENGINES),$(SAMPLES))

## make rank-losses  train in drawn strategies and recipes, beside one rank (RUNS=300, SEED=2, ENGINES="threads mpi nccl")
## make rank-faults  kills, stops and misleads ranks, in every strategy, at sampled messages (SAMPLES=3)
.PHONY: rank-losses rank-faults
rank-losses rank-faults: $(B)/bin/train_gpt2
	@$(if $(SEED),SEED=$(SEED)) minitorch/tests/rank_sweep.sh $(subst rank-,,$@) $(if $(filter %losses,$@),$(or $(RUNS),48) $(ENGINES),$(SAMPLES))

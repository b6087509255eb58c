## make nccl-losses  50 steps in every strategy over the emulated NCCL, beside one rank
## make rank-faults  kills, stops and misleads ranks, in every strategy, at sampled messages
.PHONY: nccl-losses rank-faults
nccl-losses rank-faults: $(B)/bin/train_gpt2
	minitorch/tests/rank_sweep.sh $(subst nccl-,,$(subst rank-,,$@)) $(SAMPLES)

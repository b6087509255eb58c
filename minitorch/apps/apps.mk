## make sweep ARGS="..."   look for good hyperparameters (docs/SWEEP.md)
.PHONY: sweep
sweep: $(B)/bin/sweep $(B)/bin/train_gpt2 $(B)/bin/curve
	@datasets/fetch --or-standin shakespeare >build/fetch.log 2>&1 || { cat build/fetch.log; exit 1; }
	@$(B)/bin/sweep $(ARGS)

## make plan               the best ways to train a model; ARGS="--model gpt2-xl --cluster 8xA100 --days 7"
.PHONY: plan
plan: $(B)/bin/plan
	@$(B)/bin/plan $(ARGS)

# A data set, or where it cannot be downloaded its stand-in, which a line names.
fetched = @datasets/fetch --or-standin $(1) >build/fetch.log 2>&1 || { cat build/fetch.log; exit 1; }; \
    grep '^fetch: .*standin' build/fetch.log || true

## make mnist | gpt2       the two programs to read first: minitorch/apps/mnist.c, minitorch/apps/gpt2.c
.PHONY: mnist gpt2
mnist: export MT_MAKE_DIGITS = $(B)/bin/make_digits
mnist: $(B)/bin/mnist $(B)/bin/make_digits
	$(call fetched,mnist)
	@$(B)/bin/mnist
gpt2: $(B)/bin/gpt2
	$(call fetched,shakespeare)
	@$(B)/bin/gpt2

## make sweep ARGS="..."   look for good hyperparameters (docs/SWEEP.md)
.PHONY: sweep
sweep: $(B)/bin/sweep $(B)/bin/train_gpt2 $(B)/bin/curve
	$(call fetched,shakespeare)
	@$(B)/bin/sweep $(ARGS)

## make plan               the best ways to train a model; ARGS="--model gpt2-xl --cluster 8xA100 --days 7"
.PHONY: plan
plan: $(B)/bin/plan
	@$(B)/bin/plan $(ARGS)

## make plan               the best ways to train a model; ARGS="--model gpt2-xl --cluster 8xA100 --days 7"
.PHONY: plan
plan: $(B)/bin/plan
	@$(B)/bin/plan $(ARGS)

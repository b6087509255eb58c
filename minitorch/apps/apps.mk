# A data set, or where it cannot be downloaded its stand-in, which a line names.
fetched = @datasets/fetch --or-standin $(1) >build/fetch.log 2>&1 || { cat build/fetch.log; exit 1; }; \
    grep '^fetch: .*standin' build/fetch.log || true

## make by-hand            train a perceptron without tensors: minitorch/apps/by_hand.c
.PHONY: by-hand
by-hand: export MT_MAKE_DIGITS = $(B)/bin/make_digits
by-hand: $(B)/bin/by_hand $(B)/bin/make_digits
	$(call fetched,mnist)
	@$(B)/bin/by_hand

## make mnist              train a perceptron by the program to read first: minitorch/apps/mnist.c
.PHONY: mnist
mnist: export MT_MAKE_DIGITS = $(B)/bin/make_digits
mnist: $(B)/bin/mnist $(B)/bin/make_digits
	$(call fetched,mnist)
	@$(B)/bin/mnist

## make gpt2               train a small GPT-2 by the second one: minitorch/apps/gpt2.c
.PHONY: gpt2
gpt2: $(B)/bin/gpt2
	$(call fetched,shakespeare)
	@$(B)/bin/gpt2

## make run LAB=04         run the training program that you wrote in a lab, with your units of it (MINE="03 04": of both)
# minitorch/apps/run_digits.c and its like ("program" in lab.json) hold the data and judge the answers.
.PHONY: run
with_program = $(sort $(foreach f,$(shell grep -l '"program"' labs/*/lab.json),$(firstword $(subst -, ,$(notdir $(patsubst %/,%,$(dir $(f))))))))
program      = $(shell sed -nE 's/^ *"program": "(.*)",?$$/\1/p' $(patsubst %,labs/%/lab.json,$(call lab_of,$(LAB))))
ifneq ($(filter run,$(MAKECMDGOALS)),)
$(if $(program),,$(error make run needs a lab with a program of yours: LAB=$(subst $(space), or LAB=,$(with_program))))
endif
run: export MT_MAKE_DIGITS = $(B)/bin/make_digits
run: $(B)/bin/$(program) $(B)/bin/make_digits
	$(call fetched,$(data_of_$(program)))
	@$(B)/bin/$(program)
data_of_run_digits = mnist
data_of_run_text   = shakespeare

## make train-mnist        train a perceptron; ARGS="--epochs 3" passes options, DEVICE=cuda uses the GPU or the emulator
.PHONY: train-mnist
train-mnist: $(B)/bin/train_mnist $(B)/bin/curve $(B)/bin/follow $(B)/bin/profile $(B)/bin/memory data
	@$(B)/bin/train_mnist $(if $(DEVICE),--device $(DEVICE)) $(ARGS)

## make train-gpt2         train a GPT-2 on tiny Shakespeare; ARGS="--plan" prints its memory and work and stops
.PHONY: train-gpt2
train-gpt2: $(B)/bin/train_gpt2 $(B)/bin/curve $(B)/bin/follow $(B)/bin/memory $(B)/bin/profile
	$(call fetched,shakespeare)
	@$(B)/bin/train_gpt2 $(if $(DEVICE),--device $(DEVICE)) $(ARGS)

## make generate           generate text with that model; ARGS="--prompt ROMEO:"
.PHONY: generate
generate: $(B)/bin/generate
	@$(B)/bin/generate $(ARGS)

## make sweep ARGS="..."   look for good hyperparameters (docs/SWEEP.md)
.PHONY: sweep
sweep: $(B)/bin/sweep $(B)/bin/train_gpt2 $(B)/bin/curve
	$(call fetched,shakespeare)
	@$(B)/bin/sweep $(ARGS)

## make plan               the best ways to train a model; ARGS="--model gpt2-xl --cluster 8xA100 --days 7"
.PHONY: plan
plan: $(B)/bin/plan
	@$(B)/bin/plan $(ARGS)

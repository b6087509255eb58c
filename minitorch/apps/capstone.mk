# The last task of lab 15: labs/15-scale/README.md.
#
## make capstone ENTRY=file           play its plan in the simulator; CLUSTER=file, SEED=n, BOARD=dir for the results
## make capstone-train ENTRY=file     train GPT-2 by its recipe within the cluster's budget of FLOPs; SIZE=gpt2
## make leaderboard                   the results; VERIFY=id makes one again from its file, and compares
.PHONY: capstone capstone-train leaderboard
capstone_value = $(if $(value $(2)),--$(1) $(call quote,$(2)))
capstone = $(B)/bin/capstone $(call capstone_value,board,BOARD) $(call capstone_value,cluster,CLUSTER) $(call capstone_value,seed,SEED)
capstone_data = datasets/fetch --or-standin shakespeare >build/fetch.log 2>&1 || { cat build/fetch.log; exit 1; }
need_entry = $(if $(value ENTRY),,$(error which entry? make $@ ENTRY=labs/15-scale/entry.json))

capstone: $(B)/bin/capstone
	$(need_entry)
	@$(capstone) --entry $(call quote,ENTRY) $(ARGS)
capstone-train: $(B)/bin/capstone $(B)/bin/train_gpt2 $(B)/bin/curve $(if $(filter gpt2,$(value SIZE)),build/capstone/shakespeare.tokens)
	$(need_entry)
	@$(capstone_data)
	@$(capstone) --entry $(call quote,ENTRY) --train $(if $(value SIZE),$(call quote,SIZE),toy) $(ARGS)
leaderboard: $(B)/bin/capstone $(if $(value VERIFY),$(B)/bin/train_gpt2 $(B)/bin/curve)
	@$(if $(value VERIFY),$(capstone_data))
	@$(capstone) $(if $(value VERIFY),--verify $(call quote,VERIFY)) $(ARGS)
# For the size gpt2: the text as GPT-2's tokens.
build/capstone/shakespeare.tokens: $(B)/bin/tokenize
	@$(capstone_data)
	@datasets/fetch gpt2 >build/fetch.log 2>&1 || { cat build/fetch.log; exit 1; }
	@mkdir -p $(@D) && $(B)/bin/tokenize --quiet --vocabulary datasets/cache/gpt2 --out $@ datasets/cache/shakespeare/tinyshakespeare.txt

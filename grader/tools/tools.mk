# tools.mk -- the tests of the labs and of the grader: skeletons, mutants, variants, attacks, lint.
## make skeletons          generate the skeletons in labs/ from solutions/
## make lab-new LAB=16 NAME=conv    write the files of a new lab (docs/EXTENDING.md)
## make map                generate docs/MAP.md
## make lint | check-skeletons | mutants | attacks | unit     parts of make test (ALL=1 make test: all mutants)
## make figures            the size of the framework at three stages, and what runs in one step of mnist.c and gpt2.c
## make mutant LAB=01 FROM=dir NAME=what-is-wrong ROW="01.2 words" [WORDS="..."]     an entry of grader/mutants/, from an edited unit
## make variant LAB=01 FROM=dir NAME=what-is-different ROW=01.2 WORDS="why it is right"     one of grader/variants/
## make mutate LAB=01      make systematic mutants of the units of a lab, and list those that no row rejects
## make seeds LAB=01       grade each named mutant with 100 seeds (SEEDS=n): does one escape with some inputs?
##   ROWS=all|step         instead: are there rows whose points differ between seeds? step: of the mutant's step
## make steady LAB=01      grade the reference 50 times (TIMES=n) beside busy processes: does a verdict change?
.PHONY: figures lab-new skeletons check-skeletons mutants mutant variant mutate mutate-sample seeds steady variants attacks lint map check-map
skeletons: $(REF)/bin/strip
	@grader/tools/skeletons.sh write
lab-new: $(REF)/bin/strip
	@grader/tools/lab-new.sh $(REF) $(call quote,LAB) $(call quote,NAME)
check-skeletons: $(REF)/bin/strip
	@grader/tools/skeletons.sh check
mutants: data-or-standin traced
	@grader/tools/mutants.sh $(REF) $(LAB)
$(REF)/bin/unnamed: $(REF)/obj/grader/tools/unnamed.o $(REF)/libgrader.a $(REF)/libtesting.a $(REF)/libgiven.a
	$(call link,$(GRADER_LIBS))
mutant variant:
	$(need_lab)
	@grader/tools/entry.sh $@s $(LAB) $(call quote,FROM) $(call quote,NAME) $(call quote,ROW) $(call quote,WORDS)
mutate: data-or-standin traced $(REF)/bin/mutate
	$(need_lab)
	@grader/mutate/mutate.sh $(REF) $(LAB) $(ARGS)
# Ten mutants, or SAMPLE, of each lab that has a list of equivalent ones; a lab on each processor.
mutate-sample: data-or-standin traced $(REF)/bin/mutate
	@printf '%s\n' grader/mutate/equivalent/*.txt | sed -E 's|.*/([0-9]+)\..*|\1|' | \
	    JOBS=1 xargs -P "$$(nproc)" -I{} grader/mutate/mutate.sh $(REF) {} --sample $(or $(SAMPLE),10) 2>/dev/null
seeds: data-or-standin traced
	$(need_lab)
	@FROM=$(call quote,FROM) ROWS=$(call quote,ROWS) grader/tools/seeds.sh $(REF) $(LAB) $(or $(SEEDS),100)
steady: data-or-standin traced
	$(need_lab)
	@grader/tools/steady.sh $(REF) $(LAB) $(or $(TIMES),50) $(call quote,SUBMISSION) $(call quote,STEP)
variants: data-or-standin traced
	@grader/tools/variants.sh $(REF) $(LAB)
attacks: reference traced
	@grader/tools/attacks.sh $(REF)
lint:
	@grader/tools/lint.sh && grader/tools/links.sh && grader/tools/figures.sh
map: grader
	@grader/tools/map.sh
	@grader/tools/adds.sh
check-map: grader
	@grader/tools/map.sh --check
	@grader/tools/adds.sh --check
figures: $(REF)/bin/make_digits
	@$(MAKE) -s FLAVOUR=calls MINE= build/calls/bin/mnist build/calls/bin/gpt2 >/dev/null
	@MT_MAKE_DIGITS=$(REF)/bin/make_digits grader/tools/figures.sh build/calls

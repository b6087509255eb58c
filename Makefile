# minitorch -- the entry point for every command. `make help` lists them.
#
#   FLAVOUR=release|portable|debug|asan|tsan|calls   how to build (build/<flavour>/); portable: make install; calls: make figures
#   CUDA=nvcc|emu|off                 NVIDIA's toolkit, the emulator, or no CUDA (default: what is found; minitorch/cuda/cuda.mk)
#   MINE="00 01"                      use your units of these labs (labs/), and the reference's of all others
#   LAB=01 [STEP=01.2] [SEED=5eed01]  the lab to open, to grade, or to test with mutants; one step; the inputs of an earlier run
#   SUBMISSION=dir|tar                grade these units instead of labs/NN-name
#   COURSE=file                       points and visibility of a course (default: course.json, if it is there)
#   V=1                               each file that is built, and its command

# Names of files come from others: no `$` in them is expanded, here or in the environment of a recipe, and the shell sees
# them quoted. These lines stand before the first $(shell), whose command has the same environment from make 4.4 on.
unexport ROWS SUBMISSION STEP SEED LAB ARGS COURSE COMMAND DIR OUT REGRADE ENGINE HOSTS FORMAT EARLIER THRESHOLD LABS \
    GDB ENTRY CLUSTER SIZE VERIFY BOARD FROM NAME ROW WORDS PREFIX DESTDIR
quote = '$(subst ','\'',$(value $(1)))'

# A build uses all processors, unless -j was given. Here stand goals that only build and programs that run no make: a script
# under another goal that calls make could not share this make's jobs. (make 4.3 shows -j of a make above in the environment only.)
PARALLEL := all apps grader unit-programs emulator traced alike by-hand mnist gpt2 run train-mnist train-gpt2 generate plan grown install build/%
ifeq ($(filter-out $(PARALLEL),$(MAKECMDGOALS))$(filter -j% --jobserver%,$(MAKEFLAGS) $(shell echo "$$MAKEFLAGS")),)
MAKEFLAGS += -j$(shell nproc)
endif

FLAVOUR ?= $(if $(filter install,$(MAKECMDGOALS)),portable,release)
# The reference's units: sources, or in a course's release objects for several levels of processors, as checks and oracles (grader/release).
REFERENCE := $(if $(wildcard solutions),solutions,reference)
ifeq ($(REFERENCE),reference)
LEVEL   ?= $(shell grader/release/level.sh)
$(if $(LEVEL),,$(error the objects in reference/ do not fit this machine: ask for a release with objects for it))
MARCH   ?= $(LEVEL:aarch64=armv8-a)
# Labs whose objects are handed out later (docs/INSTRUCTORS.md, "after"): until then their units in reference/ are skeletons.
LATER   := $(sort $(foreach f,$(shell grep -ls MT_TODO reference/[0-9]*/*),$(word 2,$(subst /, ,$(f)))))
else
LEVEL   :=
LATER   :=
endif
MARCH   ?= $(if $(filter portable,$(FLAVOUR)),$(if $(filter x86_64,$(shell uname -m)),x86-64-v3,armv8-a),native)
CC      ?= gcc
PYTHON  ?= /usr/bin/python3
# make bench LAB=02 measures your units, make run LAB=04 runs and make pictures draws them; with MINE= the reference's.
ifneq ($(and $(filter bench pictures run,$(MAKECMDGOALS)),$(LAB)),)
MINE    ?= $(LAB)
endif
MINE    ?=
unexport MINE
space   := $(subst ,, )
comma   := ,
# Objects and archives are shared by all sets of MINE; what is linked with units lies in a folder of its own for each set.
# What clang makes lies in folders of its own: its objects call another OpenMP library, and units are graded with gcc.
CLANG   := $(findstring clang,$(shell $(CC) --version 2>&1))
REF     := build/$(FLAVOUR)$(if $(CLANG),-clang)
B       := $(REF)$(if $(strip $(MINE)),-mine-$(subst $(space),-,$(strip $(MINE))))

# ---- flags ------------------------------------------------------------------------------------------------------
FLAGS_release := -O3 -march=$(MARCH)
FLAGS_portable := $(FLAGS_release)
FLAGS_debug   := -O1 -g -march=$(MARCH) -DMT_DEBUG
FLAGS_asan    := -O1 -g1 -march=$(MARCH) -DMT_DEBUG -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FLAGS_tsan    := -O1 -g1 -march=$(MARCH) -DMT_DEBUG -fsanitize=thread
# DWARF 4: of 5, addr2line 2.40 names the wrong file for functions of headers.
FLAGS_calls   := -O0 -g1 -gdwarf-4 -march=$(MARCH) -finstrument-functions
ifeq ($(FLAGS_$(FLAVOUR)),)
$(error unknown FLAVOUR=$(FLAVOUR): use release, portable, debug, asan, tsan or calls)
endif
# For Zen 2 and 3 gcc splits the multiply-adds of a loop with one sum, and not those of one with several: the bits of a
# product would depend on how many rows a thread has.
FUSED   := $(if $(CLANG),,--param=avoid-fma-max-bits=0)
# Warnings are errors in tests only (.ci/test sets STRICT=1), and with gcc: another compiler has warnings of its own.
STRICT  ?=
WERROR  := $(if $(CLANG),,$(if $(STRICT),-Werror))
CFLAGS  := -std=gnu11 -D_GNU_SOURCE $(FLAGS_$(FLAVOUR)) -fno-math-errno -fno-trapping-math $(FUSED) -fopenmp \
           -Wall -Wextra -Wshadow -Wstrict-prototypes $(WERROR) -Iminitorch -Igrader
LDLIBS  := -lm -ldl

# ---- sources -------------------------------------------------------------------------------------------------
UNIT_LABS    := $(notdir $(patsubst %/,%,$(wildcard $(REFERENCE)/[0-9]*/)))
# Labs with a handout and checks. The others have units only: MINE leaves them to the reference.
GRADED       := $(sort $(notdir $(patsubst %/lab.json,%,$(wildcard labs/*/lab.json))))
lab_of        = $(filter $(1)-%,$(GRADED))
numbers       = $(foreach l,$(GRADED),$(firstword $(subst -, ,$(l))))
# For these commands nothing of the labs after LAST is built: a stage of the repository (minitorch/stages.tsv), of lab 02
# at least, whose digits are in every grade. What was built once stays, and `make` builds all.
number_of     = $(firstword $(subst -, ,$(1)))
LAST         := $(if $(or $(UPTO),$(and $(LAB),$(if $(filter-out lab grade debug,$(MAKECMDGOALS)),,yes))),$(lastword $(filter $(numbers),$(sort \
    02 $(LAB) $(UPTO) $(MINE) $(foreach o,$(notdir $(wildcard $(REF)/obj/grader/checks/[0-9]*.o)),$(call number_of,$(o)))))))
is_built      = $(if $(LAST),$(filter $(LAST),$(lastword $(sort $(LAST) $(call number_of,$(1))))),yes)
built         = $(foreach l,$(1),$(if $(call is_built,$(l)),$(l)))
later_than    = $(foreach p,$(if $(LAST),$(shell awk -F'\t' '$$2 > "$(LAST)" { print "minitorch/" $$1 }' minitorch/stages.tsv)),$(wildcard $(p) $(p)/*.c $(p)/*/*.c))
UNIT_LABS    := $(call built,$(UNIT_LABS))
ifneq ($(filter-out $(numbers) $(LAB),$(MINE)),)
$(error unknown lab MINE=$(filter-out $(numbers),$(MINE)): use some of $(numbers))
endif
OWN          := $(MINE) $(foreach l,$(filter $(LATER),$(GRADED)),$(firstword $(subst -, ,$(l))))
unit_dir      = $(if $(filter $(addsuffix -%,$(OWN)),$(filter $(1),$(GRADED))),labs/$(1),$(REFERENCE)/$(1))
GIVEN        := $(filter-out $(addprefix minitorch/,apps/% bench/% tests/% testing/% cuda/% emulator/%) $(later_than),$(wildcard minitorch/*/*.c minitorch/data/images/*.c))
# Oracles and gradient checks: for tests and the checker, never in a worker, where units could call them.
SIMULATED    := $(wildcard $(addprefix minitorch/testing/,bus_sim.c clock_sim.c disk_sim.c disk_view.c)) # on which workers of labs 05, 10, 12, 13 and 14 run
TESTING      := $(filter-out $(SIMULATED),$(wildcard minitorch/testing/*.c))
GIVEN        += $(SIMULATED)
APPS         := $(wildcard minitorch/apps/*.c minitorch/bench/*.c)
TESTS        := $(wildcard minitorch/tests/*.c)
of_labs       = $(foreach f,$(wildcard $(1)[0-9]*.c),$(if $(call is_built,$(subst _,-,$(patsubst $(1)%.c,%,$(f)))),$(f)))
WORKER       := $(filter-out grader/worker/calls_%,$(wildcard grader/worker/*.c)) $(call of_labs,grader/worker/calls_)
GRADER       := $(filter-out grader/grade.c,$(wildcard $(addprefix grader/,*.c build/*.c sandbox/*.c rows/*.c course/*.c report/*.c checks/[a-z]*.c)))
GRADER       += $(call of_labs,grader/checks/)
GRADER_TOOLS := $(wildcard grader/tools/*.c)
GRADER_TESTS := $(wildcard grader/tests/*.c)

obj           = $(patsubst %.c,$(REF)/obj/%.o,$(1))
# The objects of all units with one ending: units/ has those of the reference, mine/ those of labs/.
unit_source   = $(foreach l,$(UNIT_LABS),$(patsubst $(REFERENCE)/$(l)/%,$(call unit_dir,$(l))/%,$(wildcard $(REFERENCE)/$(l)/*$(1))))
unit_obj      = $(patsubst $(REFERENCE)/%$(1),$(2)/units/%.o,$(patsubst labs/%$(1),$(2)/mine/%.o,$(call unit_source,$(1))))
# With lab 08 yours and lab 11 not, GPT-2 uses your plain kernels, not the fused ones (fused/use.c). This object stands
# before the archive that has the other.
PLAIN        := $(if $(filter 11,$(if $(filter 08,$(OWN)),$(OWN),11)),,$(patsubst minitorch/fused/%.c,$(REF)/plain/%.o,$(wildcard minitorch/fused/use.c)))
UNIT_OBJ     := $(call unit_obj,.c,$(REF)) $(PLAIN)
# Units for rows that count bytes (grader/rows/traffic.h), as the grader compiles them. Those of labs with "counted" in
# lab.json are called by units of others; the rest spares the grading of mutants their compilation.
CALLED       := $(patsubst labs/%/lab.json,%,$(shell grep -ls '"counted": true' labs/*/lab.json))
COUNTED      := $(patsubst $(REFERENCE)/%.c,$(REF)/counted/%.o,$(wildcard $(addprefix $(REFERENCE)/,$(addsuffix /*.c,$(if \
    $(LAST),$(filter $(CALLED),$(UNIT_LABS)),$(GRADED))))))
APP_BIN       = $(patsubst %.c,$(B)/bin/%,$(notdir $(APPS)))
TEST_BIN      = $(patsubst minitorch/tests/%.c,$(B)/tests/%,$(TESTS))
TOOL_BIN     := $(patsubst grader/tools/%.c,$(REF)/bin/%,$(GRADER_TOOLS)) $(if $(wildcard grader/mutate),$(REF)/bin/mutate)
GTEST_BIN    := $(patsubst grader/tests/%.c,$(REF)/grader-tests/%,$(GRADER_TESTS))
GRADE_BIN    := $(REF)/bin/grade
WORKER_OBJ   := $(patsubst grader/worker/%.c,$(REF)/worker/%.o,$(WORKER))
# For programs that save or load.
CKPT_LIBS    := $(if $(wildcard minitorch/ckpt),-Wl$(comma)--as-needed -lcjson)
GRADER_LIBS  := -lcjson -lseccomp -larchive
# Programs whose ranks may be processes (dist/mpi.h): where Open MPI is installed, they are linked with it and with the engine's
# object, which stands before the archive; that one only says what to install. No worker is.
MPI          := $(if $(wildcard minitorch/dist/mpi.c),$(shell echo '\#include <mpi.h>' | mpicc -E - >/dev/null 2>&1 && echo yes))
MPI_PROGRAMS := $(addprefix $(B)/bin/,check_mpi check_nccl train_gpt2 bench_mpi)

include $(wildcard minitorch/emulator/emulator.mk minitorch/cuda/cuda.mk)
ifeq ($(wildcard minitorch/cuda/cuda.mk),)
$(if $(filter-out off,$(CUDA)),$(error CUDA=$(CUDA): this repository has no code for a device, use CUDA=off or nothing))
CUDA         := off
endif

.PHONY: all apps grader reference help docs deps demo test debian unit unit-programs lab grade debug progress grow grown bench \
        compile_commands.json data data-or-standin clean
.DELETE_ON_ERROR:
.SECONDARY:

all: apps $(if $(CLANG),$(TEST_BIN),grader)
	$(erase)
	@echo "CUDA: $(or $(CUDA_FOUND),this repository has no code for a device)"
	$(if $(wildcard minitorch/dist/mpi.c),@echo "MPI: $(or $(MPI),no (install libopenmpi-dev and openmpi-bin for ranks that are processes))")
apps: $(APP_BIN)
grader: $(GRADE_BIN) $(if $(LAST),,$(TOOL_BIN)) $(REF)/defined $(REF)/libcalls.a $(REF)/worker/launch $(COUNTED)

# ---- building ---------------------------------------------------------------------------------------------------
# Files are counted as they are built: on a terminal in a line that is drawn over itself, in a log at each hundredth file.
Q     := $(if $(V),,@)
tell   = $(eval BUILT += x)$(if $(V),@echo "  $(1) $(2)",$(if $(MAKE_TERMOUT),@printf '\033[K  %4d files: %.60s\r' $(words $(BUILT)) "$(2)",$(if \
    $(filter %00,$(words $(BUILT))),@echo "  $(words $(BUILT)) files: $(2)")))
erase  = $(if $(V),,$(if $(MAKE_TERMOUT),@printf '\033[K'))
define compile
@mkdir -p $(@D)
$(call tell,CC  ,$<)
$(Q)$(CC) $(CFLAGS) $(1) -MMD -MP -c $< -o $@
endef
# As a group: given code may call what stands in an archive before it (the checker's kernels that abort).
define link
@mkdir -p $(@D)
$(call tell,LINK,$@)
$(Q)$(CC) $(CFLAGS) $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LDLIBS) $(1) -o $@
$(erase)
endef

# Objects are made again for another processor or other flags. A dry run changes nothing.
MADE_FOR := $(shell $(CC) -march=$(MARCH) -E -v -x c /dev/null 2>&1 | grep cc1) $(filter-out -Werror,$(CFLAGS))
is_dry   := $(findstring n,$(firstword -$(MAKEFLAGS)))
$(if $(is_dry),,$(shell mkdir -p $(REF); \
    echo '$(MADE_FOR)' | cmp -s - $(REF)/made-for || echo '$(MADE_FOR)' >$(REF)/made-for; \
    echo '$(LATER)' | cmp -s - $(REF)/later || echo '$(LATER)' >$(REF)/later))
$(REF)/made-for $(REF)/later: ; # where a dry run is the first
MADE_BY := $(REF)/made-for $(if $(LEVEL),$(REF)/later) # units of a release

$(REF)/obj/%.o: %.c $(REF)/made-for
	$(call compile)
$(REF)/worker/%.o: grader/worker/%.c $(REF)/made-for
	$(call compile)
$(REF)/worker/sharing.o: CFLAGS += -fno-builtin # for some processors gcc calls memset, which is wrapped: for all, then
$(REF)/plain/%.o: minitorch/fused/%.c $(REF)/made-for
	$(call compile,-DMT_PLAIN)
$(REF)/plain/%.o: minitorch/cuda/%.c $(REF)/made-for
	$(call compile,-DMT_PLAIN)
ifneq ($(LEVEL),) # a release may lack rows that used a function
$(patsubst %.c,$(REF)/obj/%.o,$(wildcard grader/checks/*.c)): CFLAGS += -Wno-unused -Wno-missing-braces
# Checks and oracles, where the course does not have their sources handed out.
$(patsubst reference/$(LEVEL)/%,$(REF)/%,$(wildcard reference/$(LEVEL)/obj/*/*/*.o)): $(REF)/%.o: reference/$(LEVEL)/%.o $(REF)/made-for
	@mkdir -p $(@D)
	@cp $< $@
endif
# Tests and the labs' checks call what runs fast: with -O3 in them, too, two fifths of the time of this build would be
# theirs. Oracles run long.
$(patsubst %.c,$(REF)/obj/%.o,$(TESTS) $(GRADER_TESTS)): CFLAGS += -O0
$(patsubst %.c,$(REF)/obj/%.o,$(filter-out %oracle.c,$(wildcard grader/checks/[0-9]*.c))): CFLAGS += -O1
# Sanitizers are for what is tested: under them the formulas that its gradients are compared with, by differences in
# double precision, take most of the time of the unit tests.
$(REF)/obj/minitorch/testing/op_oracles.o: CFLAGS += -O2 -fno-sanitize=all
# stb_image_write shifts bits out of a signed int on purpose.
$(REF)/obj/minitorch/testing/image_standin.o: CFLAGS += -fno-sanitize=undefined
# The register of labs. It changes with the folders in labs/.
$(REF)/obj/grader/labs.o: CFLAGS += -D'MG_LABS=$(foreach n,$(call built,$(numbers)),LAB($(n)))'
$(REF)/obj/grader/labs.o: $(REF)/grader.members
$(addprefix $(REF)/obj/grader/,labs.o build/build.o build/allowed.o): $(GRADED:%=labs/%/lab.json)
$(REF)/obj/grader/build/build.o: CFLAGS += -DMG_MARCH='"$(MARCH)"' -D'MG_COUNTED_LABS=$(CALLED:%="counted/%",)'
$(REF)/obj/grader/build/allowed.o: CFLAGS += -D'MG_RESERVES=$(shell awk -F'"' '/^ *"reserves": / { split(FILENAME, at, "/"); \
    for (i = 4; i < NF; i += 4) printf "{ \"%s\", \"%s\", \"%s \" }, ", at[2], $$i, $$(i + 2) }' labs/*/lab.json)'

# The source is copied beside the object: the grader uses the object when the unit to be graded is the same text
# (grader/build/units.c). An unfinished unit may have unused variables, so that warning is off for yours.
unfinished := -Wno-unused -Wno-error
$(REF)/units/%.o: $(REFERENCE)/%.c $(MADE_BY)
	$(if $(is_object),$(call prebuilt,units),$(call compile,$(if $(LEVEL),$(unfinished))))
	@cp $< $(@D)
$(REF)/counted/%.o: $(REFERENCE)/%.c $(MADE_BY)
	$(if $(is_object),$(call prebuilt,counted),$(call compile,-fno-sanitize=all -fsanitize=thread -O1 -g1 -fstack-protector-strong $(if $(LEVEL),$(unfinished))))
# In a release NAME.c is a line of text that stands for this object, or a skeleton as long as that is handed out later.
is_object = $(and $(LEVEL),$(filter-out $(LATER),$(*D)))
define prebuilt
@mkdir -p $(@D)
@cp reference/$(LEVEL)/$(1)/$*.o $@ || { echo "make: this release has no reference/$(LEVEL)/$(1)/$*.o" >&2; exit 1; }
endef
$(REF)/mine/%.o: labs/%.c $(REF)/made-for
	$(call compile,$(unfinished))

# An archive is also made again when the list of its members has changed.
define archive_rule
$(if $(is_dry),,$(shell mkdir -p $(REF); echo '$(2)' | cmp -s - $(REF)/$(1).members || echo '$(2)' >$(REF)/$(1).members))
$(REF)/$(1).members: ;
$(REF)/lib$(1).a: $(2) $(REF)/$(1).members
	@rm -f $$@ && ar rcs $$@ $$(filter %.o,$$^)
endef
$(eval $(call archive_rule,given,$(call obj,$(GIVEN))))
$(eval $(call archive_rule,testing,$(call obj,$(TESTING))))
$(eval $(call archive_rule,grader,$(call obj,$(GRADER))))
$(eval $(call archive_rule,calls,$(filter %/sharing.o $(REF)/worker/calls_%,$(WORKER_OBJ))))
# The grader links all objects of these folders: an object whose source was renamed or removed goes.
stale = $(foreach o,$(wildcard $(REF)/$(1)),$(if $(wildcard $(patsubst $(REF)/$(2)/%.o,$(3)/%.*,$(o))),,$(o)))
$(shell rm -f $(call stale,units/*/*.o,units,$(REFERENCE)) $(call stale,counted/*/*.o,counted,$(REFERENCE)) $(call stale,worker/*.o,worker,grader/worker))

# The program that starts a worker in the sandbox, where there are no libraries.
$(REF)/worker/launch: $(REF)/worker/launch.o
	$(call tell,LINK,$@)
	$(Q)$(CC) -static -o $@ $<
# Of what a worker is linked with, for grader/build/symbols.c: the symbols that units of others cannot define again.
# Those of the reference, also with MINE.
REF_UNIT_OBJ := $(patsubst $(REFERENCE)/%.c,$(REF)/units/%.o,$(wildcard $(addprefix $(REFERENCE)/,$(addsuffix /*.c,$(UNIT_LABS)))))
# For grader/build/stub.c too: what each unit exports. A release has that list; of .cu units it has what their text says.
REF_CU := $(wildcard $(addprefix $(REFERENCE)/,$(addsuffix /*.cu,$(UNIT_LABS))))
define list_units
(cd $(@D) && nm -A -P -g --defined-only units/*/*.o); \
awk '/^extern "C" [^(]*[ *]mt_[a-z0-9_]+[(]/ { n = split(FILENAME, at, /[.\/]/); sub(/[(].*/, ""); sub(/.*[ *]/, ""); \
    print "units/" at[n - 2] "/" at[n - 1] ".o: " $$0 " T 0 0" }' $(REF_CU) /dev/null
endef
$(REF)/defined: $(WORKER_OBJ) $(REF_UNIT_OBJ) $(REF)/libgiven.a $(if $(LEVEL),reference/defined,$(REF_CU))
	@cd $(@D) && nm -A -P -g --defined-only libgiven.a worker/*.o >$(@F)
	@($(if $(LEVEL),cat reference/defined,$(list_units))) >>$@

# Extension points (train/team.h, train/gpt2_run.h, dist/replicas.h): nothing names these objects, so the archive alone would not bring them.
$(B)/bin/train_gpt2 $(B)/tests/test_team: $(call obj,$(wildcard minitorch/dist/engines.c minitorch/parallel/divided.c minitorch/plan/gpt2_plan.c))
ifneq ($(MPI),)
$(REF)/mpi/%.o: minitorch/%.c $(REF)/made-for
	$(call compile,-DMT_MPI $(shell mpicc --showme:compile))
$(REF)/obj/minitorch/bench/bench_mpi.o: CFLAGS += -DMT_MPI $(shell mpicc --showme:compile)
$(MPI_PROGRAMS): $(REF)/mpi/dist/mpi.o
$(MPI_PROGRAMS): LDLIBS += $(shell mpicc --showme:link)
endif
$(B)/bin/%: $(REF)/obj/minitorch/apps/%.o $(UNIT_OBJ) $(REF)/libgiven.a
	$(call link,$(CKPT_LIBS))
$(B)/grown/%: $(REF)/obj/minitorch/apps/%.o $(UNIT_OBJ) $(REF)/libgiven.a
	$(call link,$(CKPT_LIBS) -Wl$(comma)-Map=$@.map)
$(B)/bin/%: $(REF)/obj/minitorch/bench/%.o $(UNIT_OBJ) $(REF)/libtesting.a $(REF)/libgiven.a
	$(call link,$(CKPT_LIBS))
$(B)/tests/%: $(REF)/obj/minitorch/tests/%.o $(UNIT_OBJ) $(REF)/libtesting.a $(REF)/libgiven.a
	$(call link,-lcriterion $(CKPT_LIBS))
$(GRADE_BIN): $(REF)/obj/grader/grade.o $(REF)/libgrader.a $(REF)/libtesting.a $(REF)/libgiven.a
	$(call link,$(GRADER_LIBS))
$(REF)/bin/contain: $(call obj,grader/sandbox/freeze.c)
$(REF)/bin/%: $(REF)/obj/grader/tools/%.o $(call obj,grader/json.c grader/text.c) $(REF)/libgiven.a
	$(call link,-lcjson)
$(REF)/bin/mutate: $(call obj,$(wildcard grader/mutate/*.c) grader/text.c) $(REF)/libgiven.a
	$(call link)
# As a worker is linked; nanosleep, too.
$(REF)/grader-tests/test_traffic: $(REF)/worker/moves.o
$(REF)/grader-tests/test_traffic: LDLIBS += \
    $(shell sed -n '/wrapped\[\]/,/isoc99/p' grader/build/link.c | grep -o 'wrap=[a-z_0-9]\+' | sed 's/^/-Wl,--/')
$(REF)/grader-tests/test_sharing: $(addprefix $(REF)/worker/,sharing.o openmp.o threads.o traffic.o moves.o statics_begin.o statics_end.o statics.o)
$(REF)/grader-tests/test_sharing: LDLIBS += -l:libgomp.a -Wl,--wrap=nanosleep \
    $(shell grep -o 'wrap=[GOMPa-z_0-9]\+' grader/build/link.c | grep -v cu | sed 's/^/-Wl,--/')
$(REF)/grader-tests/%: $(REF)/obj/grader/tests/%.o $(REF)/libgrader.a $(REF)/libtesting.a $(REF)/libgiven.a
	$(call link,-lcriterion $(GRADER_LIBS))

# What objects depend on. A dry run does not need it (grader/tools/commands.sh), and it is most of the time of a make.
DEPENDENCIES ?= $(shell find $(REF) -name '*.d' -type f -not -path '*/.cuemu.*' 2>/dev/null)
-include $(DEPENDENCIES)

# ---- commands ---------------------------------------------------------------------------------------------------
help:
	@sed -n '1,9p' Makefile; echo
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

deps:
	@.ci/deps

need_lab = $(if $(call lab_of,$(LAB)),,$(error unknown lab LAB=$(LAB): use one of $(numbers)))

## make demo               train, plot, grade the reference of a lab
demo: deps
	@minitorch/apps/demo.sh

## make test               run all tests
test: deps
	@.ci/test

## make debian             run both in a folder with Debian 13; SUITE=bookworm, COMMAND="make CC=clang-19"
SUITE ?= trixie
debian:
	@.ci/debian $(SUITE) $(call quote,COMMAND)

unit-programs: $(TEST_BIN) $(GTEST_BIN)
unit: unit-programs
	@.ci/unit $(TEST_BIN) $(filter-out $(if $(filter asan tsan,$(FLAVOUR)),%/test_disturbed),$(GTEST_BIN)) # it measures speed

# How each file is compiled, for clangd and editors that use it.
editor = grader/tools/editor.sh $(filter-out -Werror,$(CFLAGS))
## make compile_commands.json      write build/compile_commands.json for clangd (make lab does, too)
compile_commands.json:
	@$(editor)
## make lab LAB=01         open a lab: handout, files, first grade; FROM=scratch gives empty functions instead of gaps
lab: data-or-standin
	$(need_lab)
	@$(editor)
	@grader/tools/lab.sh $(REF) $(call lab_of,$(LAB)) $(call quote,FROM)

## make grade LAB=01       grade your units of a lab; STEP=01.2 only this step
# The grader program is always the reference build; it compiles your units itself, in its sandbox, and links them there.
grade: data-or-standin
	$(need_lab)
	$(if $(and $(wildcard grader/batch),$(findstring --marking,$(ARGS))),@$(MAKE) -s alike MINE=)
	@$(REF)/bin/grade --lab $(LAB) --build $(REF) --report build/report $(if $(value SUBMISSION),--submission $(call quote,SUBMISSION)) \
	    $(if $(strip $(MINE)),--mine "$(MINE)") $(if $(value STEP),--step $(call quote,STEP)) \
	    $(if $(value SEED),--seed $(call quote,SEED)) $(if $(value COURSE),--course $(call quote,COURSE)) $(ARGS)
## make debug LAB=01 STEP=01.2 SEED=5eed01    make the calls of a failing row again under ASan; GDB=1 in gdb
debug: data-or-standin
	$(need_lab)
	$(if $(value STEP),,$(error make debug needs STEP=, as in: make debug LAB=02 STEP=02.3 SEED=5eed01))
	$(if $(value SUBMISSION),$(error make debug takes the units in labs/, not SUBMISSION))
	@GDB=$(call quote,GDB) grader/tools/debug.sh $(REF) $(call lab_of,$(LAB)) $(call quote,STEP) $(call quote,SEED)
reference:
	@.ci/deps --grade
	@$(MAKE) -s grader $(REF)/bin/make_digits $(if $(wildcard $(addprefix labs/,$(addsuffix /*.cu,$(call lab_of,$(LAB))))),emulator) MINE= UPTO=$(LAST)
	$(erase)

## make progress           list which labs pass, and how many lines you wrote
progress: data-or-standin
	$(if $(wildcard labs/*/*.cu),@$(MAKE) -s emulator MINE=)
	@grader/tools/progress.sh $(REF)

## make grow               your lines, what each passed lab gave, and the share of processor time that your functions take
# Of the programs to read first; before lab 03, of the one by hand.
GROWN := $(basename $(notdir $(or $(wildcard minitorch/apps/mnist.c),$(wildcard minitorch/apps/by_hand.c)) $(wildcard minitorch/apps/gpt2.c)))
grow: progress
	@$(MAKE) -s grown MINE="$$(awk -F'\t' '$$2 == "passes" { print substr($$1, 1, 2) }' build/progress/table | xargs)"
grown: $(addprefix $(B)/grown/,$(GROWN))
	$(erase)
	$(if $(filter gpt2,$(GROWN)),@datasets/fetch --or-standin shakespeare >build/fetch.log 2>&1 || { cat build/fetch.log; exit 1; })
	@grader/tools/grow.sh $^

## make data               download MNIST
data:
	@datasets/fetch mnist
# Grading needs MNIST and, where models of text are, tiny Shakespeare, or the stand-in of what cannot be downloaded. Prints
# nothing if they are present.
data-or-standin: reference
	@for set in mnist $(if $(wildcard minitorch/text),shakespeare); do \
	    MT_MAKE_DIGITS=$(REF)/bin/make_digits datasets/fetch --or-standin $$set || exit 1; \
	done >build/fetch.log 2>&1 || { cat build/fetch.log; exit 1; }
	@grep '^fetch: .*standin' build/fetch.log || true

## make bench LAB=01       run the programs that measure a lab on your units (MINE= on the reference's); BENCH=name picks one
ifeq ($(if $(filter lab-new,$(MAKECMDGOALS)),,$(LAB)),)
all_benches = $(wildcard minitorch/bench/bench.sh)
bench: deps apps
	$(if $(all_benches),@$(all_benches) $(B),$(error which lab? make bench LAB=$(firstword $(numbers))))
else
BENCH = $(need_lab)$(shell sed -nE '/^ *"bench": /{s///;s/[],["]/ /g;p}' labs/$(lab)/lab.json)
lab   = $(call lab_of,$(LAB))
bench: data-or-standin $(patsubst %,$(B)/bin/%,$(filter-out %.sh,$(BENCH)))
	@rc=0; $(foreach b,$(BENCH),echo '==> $(b) with $(call unit_dir,$(lab))'; \
	    $(if $(filter %.sh,$(b)),minitorch/bench/$(b) $(call unit_dir,$(lab)),$(B)/bin/$(b)) $(ARGS) || rc=$$?;) exit $$rc
endif

## make clean              delete build/
clean:
	rm -rf build

# Tests of the grader, instructors' commands, the site, larger programs: each has its rules beside it, and its lines for `make help` after `## `.
include $(wildcard minitorch/apps/*.mk minitorch/bench/*.mk minitorch/tests/*.mk docs/*.mk grader/*/*.mk)

# emulator.mk -- builds the emulator into $(REF)/emu; cuemu finds its parts in the same folder.
#
#   CUEMU        the compiler wrapper; depend on $(CUEMU_LIB) too, which depends on all of its parts
#   CUEMU_LIBS   what to link a program with cuemu's objects with, when cuemu does not link it

EMU        := $(REF)/emu
CUEMU      := $(EMU)/cuemu
CUEMU_LIB  := $(EMU)/libcuemu.a
CUEMU_LIBS := -no-pie $(CUEMU_LIB) -lstdc++ -lpthread
# Programs that it traces are compiled with gcc, whatever CC is (EMULATOR.md).
EMU_CC     := $(if $(CLANG),gcc,$(CC))
EMU_FLAGS  := -std=gnu11 -D_GNU_SOURCE -O2 -g -fno-pie -Wall -Wextra -Wshadow -Wstrict-prototypes $(WERROR) -Iminitorch
# A library's name, so that errors are reported at lines of the program (run/source.c).
EMU_FLAGS  += -fdebug-prefix-map=minitorch/emulator=/usr/include/cuemu/runtime

emu_obj     = $(patsubst minitorch/emulator/%.c,$(EMU)/obj/%.o,$(wildcard $(1:%=minitorch/emulator/%/*.c)))
EMU_HEADERS := $(patsubst minitorch/emulator/%,$(EMU)/%,$(wildcard minitorch/emulator/include/*.h minitorch/emulator/include/*/*.h) \
    $(wildcard minitorch/emulator/include/cub/*.cuh minitorch/emulator/include/cub/*/*.cuh) \
    $(filter-out %/std,$(wildcard minitorch/emulator/include/cuda/* minitorch/emulator/include/cuda/std/*)))

# The default goal is not the first rule below, although the Makefile reads it before its own rules.
.DEFAULT_GOAL := all
.PHONY: emulator emu-tests
emulator: $(CUEMU) $(CUEMU_LIB)

# The emulator has the same flags in every flavour: sanitizers do not support its switches between stacks.
$(EMU)/obj/%.o: minitorch/emulator/%.c minitorch/emulator/emulator.mk
	@mkdir -p $(@D)
	$(call tell,CC  ,$<)
	$(Q)$(EMU_CC) $(EMU_FLAGS) -MMD -MP -c $< -o $@
$(EMU)/translate: $(call emu_obj,translate)
	$(call tell,LINK,$@)
	$(Q)$(EMU_CC) $^ -no-pie -o $@
$(EMU)/%.h: minitorch/emulator/%.h
	@mkdir -p $(@D) && cp $< $@.new && mv $@.new $@
$(EMU)/%.cuh: minitorch/emulator/%.cuh
	@mkdir -p $(@D) && cp $< $@.new && mv $@.new $@
$(EMU)/include/cuda/%: minitorch/emulator/include/cuda/%
	@mkdir -p $(@D) && cp $< $@.new && mv $@.new $@
$(CUEMU): minitorch/emulator/cuemu
	@mkdir -p $(@D) && cp $< $@.new && mv $@.new $@
$(CUEMU_LIB): $(call emu_obj,run check count api) $(EMU)/translate $(EMU_HEADERS) | $(CUEMU)
	@rm -f $@.new && ar rcs $@.new $(filter %.o,$^) && mv $@.new $@

emu-tests: emulator
	@minitorch/emulator/tests/run.sh $(EMU)

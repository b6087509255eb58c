# emulator.mk -- builds the emulator into $(REF)/emu, a folder that is complete by itself: cuemu finds its parts beside it.
#
#   CUEMU        the compiler wrapper; depend on $(CUEMU_LIB) too, which stands for all of its parts
#   CUEMU_LIBS   what a program with cuemu's objects is linked with, when it is not cuemu that links it

EMU        := $(REF)/emu
CUEMU      := $(EMU)/cuemu
CUEMU_LIB  := $(EMU)/libcuemu.a
CUEMU_LIBS := -no-pie $(CUEMU_LIB) -lstdc++ -lpthread
EMU_FLAGS  := -std=gnu11 -D_GNU_SOURCE -O2 -g -fno-pie -Wall -Wextra -Wshadow -Wstrict-prototypes -Werror -Iminitorch

emu_obj     = $(patsubst minitorch/emulator/%.c,$(EMU)/obj/%.o,$(wildcard minitorch/emulator/$(1)*.c))
EMU_HEADERS := $(patsubst minitorch/emulator/%,$(EMU)/%,minitorch/emulator/runtime.h \
    $(wildcard minitorch/emulator/include/*.h minitorch/emulator/include/*/*.h))

# Not the first rule below, which the Makefile reads before its own.
.DEFAULT_GOAL := all
.PHONY: emulator emu-tests
emulator: $(CUEMU) $(CUEMU_LIB)

# The emulator is built alike in every flavour: its threads are stacks that sanitizers do not follow.
$(EMU)/obj/%.o: minitorch/emulator/%.c
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(EMU_FLAGS) -MMD -MP -c $< -o $@
$(EMU)/translate: $(call emu_obj,translate/)
	@echo "  LINK $@"
	@$(CC) $^ -no-pie -o $@
$(EMU)/%.h: minitorch/emulator/%.h
	@mkdir -p $(@D) && cp $< $@.new && mv $@.new $@
$(CUEMU): minitorch/emulator/cuemu
	@mkdir -p $(@D) && cp $< $@.new && mv $@.new $@
$(CUEMU_LIB): $(call emu_obj,) $(EMU)/translate $(EMU_HEADERS) | $(CUEMU)
	@rm -f $@ && ar rcs $@ $(filter %.o,$^)

emu-tests: emulator
	@minitorch/emulator/tests/run.sh $(EMU)

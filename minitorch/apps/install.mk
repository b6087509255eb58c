# What is installed: the framework for programs of one's own (docs/OWN_PROGRAM.md), and those programs that are neither to
# be read first nor a student's. No file names the folder, so that it can be moved.
#
## make install PREFIX=dir install headers, a static library, minitorch.pc and the programs; MARCH=x86-64-v2, DESTDIR=
INSTALLED := $(filter-out by_hand mnist gpt2 run_% make_digits,$(basename $(notdir $(wildcard minitorch/apps/*.c))))
INCLUDED   = $(patsubst minitorch/%,%,$(filter-out $(addprefix minitorch/,apps/% bench/% cuda/% emulator/% testing/% tests/%), \
    $(wildcard minitorch/*.h minitorch/*/*.h minitorch/*/*/*.h)))
ifneq ($(filter install,$(MAKECMDGOALS)),)
$(if $(value PREFIX),,$(error where to? make install PREFIX=dir writes into the folders bin, include and lib of dir))
endif
$(B)/libminitorch.a: $(UNIT_OBJ) $(call obj,$(filter-out $(SIMULATED),$(GIVEN)))
	@rm -f $@ && ar qcs $@ $^
# Its version is the day of the commit.
define pc
prefix=$${pcfiledir}/../..
Name: minitorch
Description: a small deep-learning framework
Version: $(or $(shell git log -1 --format=%cd --date=format:%Y.%m.%d 2>/dev/null),0)
Cflags: -I$${prefix}/include/minitorch -fopenmp
Libs: -L$${prefix}/lib -lminitorch $(filter -l%,$(CKPT_LIBS)) -fopenmp $(LDLIBS)
endef
.PHONY: install
install: export PC = $(pc)
install: $(INSTALLED:%=$(B)/bin/%) $(B)/libminitorch.a
	$(erase)
	@to=$(call quote,DESTDIR)$$(realpath -m -- $(call quote,PREFIX)) && rm -rf "$$to/include/minitorch" && \
	mkdir -p "$$to/bin" "$$to/include/minitorch" "$$to/lib/pkgconfig" && \
	$(if $(INSTALLED),install -t "$$to/bin" $(INSTALLED:%=$(B)/bin/%) &&) install -m 644 -t "$$to/lib" $(B)/libminitorch.a && \
	(cd minitorch && cp --parents $(INCLUDED) "$$to/include/minitorch") && echo "$$PC" >"$$to/lib/pkgconfig/minitorch.pc" && \
	echo "$(words $(INSTALLED)) programs, $(words $(INCLUDED)) headers and a library for $(MARCH) in $$to"

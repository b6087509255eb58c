# cuda.mk -- the choice of CUDA, and the rules for .cu units.
#
#   CUDA=nvcc|emu|off   NVIDIA's toolkit; the emulator of minitorch/emulator, which needs g++ and no GPU; or none.
#                       Default: nvcc where it and a GPU exist, else emu where g++ exists; off in sanitizer flavours,
#                       because sanitizers do not support the emulator's switches of stacks, and without a GPU in what is
#                       installed.

on_path   = $(firstword $(wildcard $(addsuffix /$(1),$(subst :, ,$(PATH)) $(2))))
NVCC     ?= $(call on_path,nvcc,/usr/local/cuda/bin)
GPU      := $(firstword $(wildcard /dev/nvidia[0-9]* /dev/dxg))
ifeq ($(filter release debug,$(FLAVOUR)),)
CUDA     ?= $(if $(and $(filter portable,$(FLAVOUR)),$(NVCC),$(GPU)),nvcc,off)
endif
CUDA     ?= $(if $(and $(NVCC),$(GPU)),nvcc,$(if $(call on_path,g++),emu,off))
ifeq ($(filter nvcc emu off,$(CUDA)),)
$(error unknown CUDA=$(CUDA): use nvcc, emu or off)
endif
CUDA_FOUND := $(if $(filter nvcc,$(CUDA)),$(NVCC),$(if $(filter emu,$(CUDA)),emulator ($(if $(GPU),no nvcc,no GPU)),off))

# ---- what there is ----------------------------------------------------------------------------------------------
# What make gpu-check runs, without packages (images, JSON): any machine with gcc and nvcc can build it.
GPU_BIN       := bin/gpu_values bin/gpu_times bin/gpu_train bin/check_nccl
# Only programs that use the device are linked with it; in the others mt_device_open fails.
CUDA_PROGRAMS := bin/train_mnist bin/train_gpt2 $(GPU_BIN) tests/test_parity tests/test_16bit_cuda tests/test_cuda tests/test_gpt2_cuda tests/test_matmul_cuda tests/test_offload_cuda
CUDA_HEADERS  := $(wildcard minitorch/cuda/*.cuh minitorch/cuda/*.h minitorch/core/*.h \
                 minitorch/amp/*.h minitorch/fused/*.h minitorch/kernels/*.h minitorch/memory/*.h minitorch/models/*.h \
                 minitorch/ops/*.h minitorch/optim/*.h)
C_            := $(REF)/cuda-$(CUDA)
CUDA_GIVEN    := $(wildcard minitorch/cuda/*.cu)
# With lab 06 yours and lab 11 not, programs run your update for each tensor, not lab 11's for all (cuda/table.c).
PLAIN_TABLE   := $(if $(filter 11,$(if $(filter 06,$(OWN)),$(OWN),11)),,minitorch/cuda/table.c)
CUDA_OBJ      := $(patsubst %.cu,$(C_)/%.o,$(CUDA_GIVEN)) $(if $(PLAIN_TABLE),$(REF)/plain/table.o) \
                 $(call obj,$(filter-out $(PLAIN_TABLE),$(wildcard minitorch/cuda/*.c))) \
                 $(call unit_obj,.cu,$(C_))
# Programs whose ranks may have a GPU each (dist/nccl.h): as with MPI, the engine's objects stand before the archive. With nvcc
# they are linked where NCCL is installed.
NCCL_HEADER   := $(if $(NVCC),$(firstword $(wildcard $(dir $(NVCC))../include/nccl.h /usr/include/nccl.h)))
NCCL_CU       := $(wildcard minitorch/dist/*.cu)
NCCL_OBJ      := $(if $(or $(filter emu,$(CUDA)),$(and $(filter nvcc,$(CUDA)),$(NCCL_HEADER))),$(NCCL_CU:%.cu=$(C_)/%.o))
# The architectures of nvcc-check, whose objects lie in a folder of their own.
CHECK_ARCH    := 75 90
CHECKED       := build/nvcc/$(subst $(space),-,$(CHECK_ARCH))
$(C_)/minitorch/dist/%.o $(CHECKED)/minitorch/dist/%.o: $(wildcard minitorch/dist/*.h minitorch/dist/*.cuh minitorch/prof/*.h)
NCCL_BIN      := $(addprefix $(B)/bin/,train_gpt2 check_nccl)
CUDA_BIN      := $(addprefix $(B)/,$(CUDA_PROGRAMS))
GPU_CHECK_OBJ := $(call obj,$(wildcard $(addsuffix /*.c,$(addprefix minitorch/,amp autograd cli core dist fused kernels models nn ops optim prof testing))))
ifeq ($(CUDA),off)
APPS          := $(filter-out $(GPU_BIN:bin/%=minitorch/bench/%.c),$(APPS))
TESTS         := $(filter-out $(patsubst tests/%,minitorch/tests/%.c,$(CUDA_PROGRAMS)),$(TESTS))
endif

# ---- compiling --------------------------------------------------------------------------------------------------
CUDA_INCLUDE  := -Iminitorch
NVCC_ARCH     ?= native
ifeq ($(CUDA),nvcc)
cuda_compile   = $(NVCC) -O3 --extended-lambda -arch=$(NVCC_ARCH) -Werror all-warnings $(CUDA_INCLUDE)
CUDA_LIBS     := -L$(dir $(NVCC))../lib64 -lcublas -lcudart -lstdc++
else ifeq ($(CUDA),emu)
cuda_compile   = $(CUEMU) --fast $(CUDA_INCLUDE)
CUDA_LIBS     := $(CUEMU_LIBS)
CUDA_TOOLS    := $(CUEMU) $(CUEMU_LIB)
endif

define compile_cuda
@mkdir -p $(@D)
$(call tell,CUDA,$<)
$(Q)$(cuda_compile) $(1) -c $< -o $@
endef

$(C_)/%.o: %.cu $(CUDA_HEADERS) $(CUDA_TOOLS)
	$(call compile_cuda)
$(C_)/units/%.o: $(REFERENCE)/%.cu $(CUDA_HEADERS) $(CUDA_TOOLS) $(if $(LEVEL),$(REF)/later)
	$(if $(is_object),$(call prebuilt,cuda-$(CUDA)),$(call compile_cuda))
$(C_)/mine/%.o: labs/%.cu $(CUDA_HEADERS) $(CUDA_TOOLS)
	$(call compile_cuda)

# traced: the reference's units as the grader compiles them, each beside its preprocessed source (grader/build/units.c).
TRACED := $(foreach l,$(UNIT_LABS),$(patsubst solutions/$(l)/%.cu,$(REF)/traced/$(l)/%.o,$(wildcard solutions/$(l)/*.cu)))
$(REF)/traced/%.o: solutions/%.cu $(CUDA_HEADERS) $(CUEMU) $(CUEMU_LIB)
	@mkdir -p $(@D)
	$(call tell,TRACE,$<)
	$(Q)cd $(<D) && $(abspath $(CUEMU)) -I$(abspath minitorch) -Wall -c $(<F) -o $(abspath $@) && cp $(<F) $(abspath $(@D))
.PHONY: traced
traced: $(if $(filter emu,$(CUDA)),$(TRACED))

# ---- linking ----------------------------------------------------------------------------------------------------
# The stamp changes with CUDA=, so that programs are linked again after another choice.
$(shell mkdir -p $(B); echo $(CUDA) | cmp -s - $(B)/cuda-choice || echo $(CUDA) >$(B)/cuda-choice)
$(CUDA_BIN): $(B)/cuda-choice
ifneq ($(CUDA),off)
$(CUDA_BIN): $(CUDA_OBJ) $(CUDA_TOOLS)
$(CUDA_BIN): LDLIBS := $(CUDA_LIBS) $(LDLIBS)
$(NCCL_BIN): $(NCCL_OBJ)
$(NCCL_BIN): LDLIBS += $(if $(NCCL_OBJ),$(if $(filter nvcc,$(CUDA)),-lnccl))
endif

# Tests with the given kernels traced: every access is checked. Students' units are not traced here, the grader does
# that.
ifeq ($(CUDA),emu)
$(REF)/cuda-traced/%.o: %.cu $(CUDA_HEADERS) $(CUDA_TOOLS)
	@mkdir -p $(@D)
	$(call tell,TRACE,$<)
	$(Q)$(CUEMU) $(CUDA_INCLUDE) -c $< -o $@
$(B)/tests-traced/%: $(REF)/obj/minitorch/tests/%.o $(CUDA_GIVEN:%.cu=$(REF)/cuda-traced/%.o) \
    $(filter-out $(C_)/minitorch/cuda/%,$(CUDA_OBJ)) $(UNIT_OBJ) $(REF)/libtesting.a $(REF)/libgiven.a
	$(call link,$(CUDA_LIBS) -lcriterion $(CKPT_LIBS))
# The engine nccl traced: a stream that does not wait for another is reported.
$(B)/tests-traced/check_nccl: $(REF)/obj/minitorch/bench/check_nccl.o $(NCCL_CU:%.cu=$(REF)/cuda-traced/%.o) $(CUDA_OBJ) \
    $(if $(MPI),$(REF)/mpi/dist/mpi.o) $(UNIT_OBJ) $(REF)/libtesting.a $(REF)/libgiven.a
	$(call link,$(CUDA_LIBS) $(if $(MPI),$(shell mpicc --showme:link)) $(CKPT_LIBS))
endif

$(B)/libgpu.a: $(UNIT_OBJ) $(GPU_CHECK_OBJ) minitorch/cuda/cuda.mk
	@rm -f $@ && ar qcs $@ $(filter %.o,$^)
$(GPU_BIN:%=$(B)/%): $(B)/bin/%: $(REF)/obj/minitorch/bench/%.o $(B)/libgpu.a
	$(call link)
## make gpu-check          on a machine with a GPU: build, check, count and measure; one report
.PHONY: gpu-check
gpu-check:
	@minitorch/bench/gpu_check.sh

# nvcc-check: every .cu compiles for the newest and the oldest architecture, without a warning; and with NCCL and MPI, a program
# of all of them links with the libraries and says that there is no GPU (or finds one). Needs no GPU.
CUDA_ALL     := $(wildcard minitorch/cuda/*.cu $(if $(LEVEL),labs,solutions)/*/*.cu) $(if $(NCCL_HEADER),$(NCCL_CU))
.PHONY: nvcc-check
ifeq ($(NVCC),)
nvcc-check:
	@echo "nvcc-check: skipped, there is no nvcc"
else
nvcc-check: $(CUDA_ALL:%.cu=$(CHECKED)/%.o) $(if $(and $(NCCL_HEADER),$(MPI)),$(CHECKED)/check_nccl)
	@echo "nvcc-check: $(words $^) passed, 0 failed"
$(CHECKED)/check_nccl: $(CUDA_ALL:%.cu=$(CHECKED)/%.o) $(REF)/obj/minitorch/bench/check_nccl.o \
    $(call obj,$(wildcard minitorch/cuda/*.c)) $(REF)/mpi/dist/mpi.o $(UNIT_OBJ) $(REF)/libtesting.a $(REF)/libgiven.a
	$(call tell,LINK,$@)
	@$(CC) $(CFLAGS) $(filter %.o,$^) $(filter %.a,$^) -L$(dir $(NVCC))../lib64 -lnccl -lcublas -lcudart -lstdc++ \
	    $(LDLIBS) $(shell mpicc --showme:link) $(CKPT_LIBS) -o $@.new
	@LD_LIBRARY_PATH=$(dir $(NVCC))../lib64 $@.new >$@.said 2>&1 || grep -q 'there is no cuda device here' $@.said || { cat $@.said; exit 1; }
	@mv $@.new $@
endif
# One run for all architectures: they share the compilation of host code, a third of the work.
$(CHECKED)/%.o: %.cu $(CUDA_HEADERS)
	@mkdir -p $(@D)
	@echo "  NVCC $(CHECK_ARCH:%=sm_%) $<"
	@$(NVCC) $(foreach a,$(CHECK_ARCH),-gencode arch=compute_$(a),code=sm_$(a)) -Werror all-warnings $(CUDA_INCLUDE) -c $< -o $@

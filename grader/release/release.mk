# release.mk -- make release: a course's repository for students, and make course: what a course file says.
## make release OUT=dir    write a course's repository, without solutions, and dir-instructor with the key; LABS="00 01 02"
## make stage LAB=05 OUT=dir    write the repository as it stands after a lab: framework, units, labs, tests and pages up to it
## make course             what a course file (COURSE=course.json) says, or what is wrong in it
$(REF)/bin/kit: $(REF)/obj/grader/release/kit.o $(REF)/libgrader.a $(REF)/libtesting.a $(REF)/libgiven.a
	$(call link,$(GRADER_LIBS))
grader: $(REF)/bin/kit
.PHONY: release stage objects course
release: $(REF)/bin/kit
	@CC="$(CC)" NVCC="$(NVCC)" CFLAGS="$(filter-out -march=%,$(CFLAGS))" COURSE=$(call quote,COURSE) \
	    grader/release/release.sh $(REF) $(call quote,OUT) $(call quote,LABS)
stage: $(REF)/bin/strip
	@grader/release/stage.sh $(REF) $(call quote,OUT) $(call quote,LAB)
# What make stage and release read and copy: objects. No program is linked for that.
objects: $(call obj,$(APPS) $(TESTS)) $(if $(filter-out off,$(CUDA)),$(CUDA_OBJ)) grader
course: $(REF)/bin/kit
	@$(REF)/bin/kit course $(if $(value COURSE),$(call quote,COURSE),course.json)

# A class of submissions: docs/INSTRUCTORS.md.
#
## make grade-all DIR=submissions LAB=01   grade a class; OUT=dir, REGRADE=all|name|accept|discard|inconclusive, COURSE=course.json
##                         ENGINE=slurm, or ENGINE=ssh HOSTS=file: on other machines that share these folders
## make gradebook DIR=submissions LAB=01 FORMAT=canvas    its grades as csv, canvas, moodle or gradescope; feedback: pages for students
## make gradebook DIR=submissions    all labs added up, with students.csv beside course.json: grades.csv and grades.html
## make rate               submissions of each lab that a processor grades in an hour; LAB=02 of one
## make similarity DIR=submissions LAB=01  name copies; EARLIER=dir:dir of other years, THRESHOLD=50

.PHONY: grade-all gradebook similarity batch-ready
GRADE_ALL := $(REF)/bin/grade_all
$(GRADE_ALL): $(call obj,$(wildcard grader/batch/*.c)) $(REF)/libgrader.a $(REF)/libtesting.a $(REF)/libgiven.a
	$(call link,$(GRADER_LIBS) -lsqlite3)
ifneq ($(wildcard /usr/include/sqlite3.h),)
grader: $(GRADE_ALL)
endif
need_dir = $(if $(value DIR),,$(error which submissions? make $@ DIR=submissions LAB=01))

grade_all = $(GRADE_ALL) --build $(REF) $(if $(value LAB),--lab $(LAB)) $(if $(value DIR),--dir $(call quote,DIR)) \
    $(if $(value OUT),--out $(call quote,OUT))

# alike/LEVEL/: the reference and the skeletons of a lab, as the grader compiles units (`unit`), make does and a release; make similarity
# and --marking look for the reference's machine code (grader/build/machine.h).
ALIKE        := $(REF)/alike
ALIKE_LEVELS := unit native $(if $(filter x86_64,$(shell uname -m)),x86-64-v3 x86-64-v4)
define alike_rules
$(ALIKE)/$(1)/reference/%.o: solutions/%.c $(REF)/made-for
	$$(call compile,$(2))
$(ALIKE)/$(1)/given/%.o: solutions/%.c $(REF)/made-for $(REF)/bin/strip
	@mkdir -p $$(@D) && $(REF)/bin/strip $$< $$(@:.o=.c)
	@$(CC) $(CFLAGS) $(2) $(unfinished) -c $$(@:.o=.c) -o $$@
endef
$(foreach l,$(ALIKE_LEVELS),$(eval $(call alike_rules,$(l),$(if $(filter unit,$(l)),-fstack-protector-strong,$(if $(filter native,$(l)),,-march=$(l))))))
alike_units   = $(patsubst solutions/%.c,%.o,$(wildcard solutions/$(call lab_of,$(LAB))/*.c))
.PHONY: alike
alike: $(foreach l,$(ALIKE_LEVELS),$(addprefix $(ALIKE)/$(l)/reference/,$(alike_units)) $(addprefix $(ALIKE)/$(l)/given/,$(alike_units)))
$(REF)/bin/machine: $(REF)/obj/grader/tools/machine.o $(REF)/libgrader.a $(REF)/libtesting.a $(REF)/libgiven.a
	$(call link,$(GRADER_LIBS))

# A course file and students.csv that are wrong are refused before anything else is built.
course_file := $(if $(value COURSE),$(value COURSE),$(wildcard course.json))
.PHONY: course-ready
course-ready: $(if $(filter-out none,$(course_file)),$(REF)/bin/kit)
	$(if $^,@$(REF)/bin/kit course $(call quote,course_file) >/dev/null)
batch-ready:
	$(need_lab)
	@.ci/deps libsqlite3-dev
	@$(MAKE) -s $(GRADE_ALL) $(CLASS_PAGE) alike MINE=
grade-all: course-ready data-or-standin batch-ready
	$(need_dir)
	@$(grade_all) $(if $(value SEED),--seed $(call quote,SEED)) $(if $(value REGRADE),--regrade $(call quote,REGRADE)) \
	    $(if $(value COURSE),--course $(call quote,COURSE)) $(if $(value ENGINE),--engine $(call quote,ENGINE)) \
	    $(if $(value HOSTS),--hosts $(call quote,HOSTS)) $(ARGS); rc=$$?; [ $$rc -gt 1 ] || $(class_page); exit $$rc
.PHONY: rate
rate: data-or-standin
	@.ci/deps libsqlite3-dev
	@$(MAKE) -s $(GRADE_ALL) MINE=
	@grader/batch/rate.sh $(LAB)
gradebook: course-ready
	$(if $(value DIR)$(value OUT),,$(need_dir))
	$(if $(value LAB),$(need_lab))
	@.ci/deps libsqlite3-dev
	@$(MAKE) -s $(GRADE_ALL) MINE=
	@$(grade_all) --export $(if $(value FORMAT),$(call quote,FORMAT),csv) $(if $(value COURSE),--course $(call quote,COURSE))
similarity: batch-ready
	$(need_dir)
	@.ci/deps similarity-tester
	@$(grade_all) --similarity $(if $(value THRESHOLD),$(call quote,THRESHOLD),50) $(if $(value EARLIER),--earlier $(call quote,EARLIER))

$(REF)/grader-tests/test_layout: $(call obj,$(addprefix grader/batch/,layout.c dates.c metadata.c unpack.c))

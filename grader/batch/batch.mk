# A class of submissions: docs/INSTRUCTORS.md.
#
## make grade-all DIR=submissions LAB=01   grade a class; OUT=dir, REGRADE=all|name, COURSE=course.json

.PHONY: grade-all
unexport DIR OUT REGRADE COURSE
GRADE_ALL := $(REF)/bin/grade_all
$(GRADE_ALL): $(call obj,$(wildcard grader/batch/*.c)) $(REF)/libgrader.a $(REF)/libtesting.a $(REF)/libgiven.a
	$(call link,$(GRADER_LIBS) -lsqlite3)
need_dir = $(if $(value DIR),,$(error which submissions? make $@ DIR=submissions LAB=01))

grade-all: data-or-standin
	$(need_dir)
	$(need_lab)
	@.ci/deps libsqlite3-dev
	@$(MAKE) -s $(GRADE_ALL) MINE=
	@$(GRADE_ALL) --build $(REF) --lab $(LAB) --dir $(call quote,DIR) $(if $(value OUT),--out $(call quote,OUT)) \
	    $(if $(value SEED),--seed $(call quote,SEED)) $(if $(value REGRADE),--regrade $(call quote,REGRADE)) \
	    $(if $(value COURSE),--course $(call quote,COURSE)) $(ARGS)

$(REF)/grader-tests/test_layout: $(call obj,$(addprefix grader/batch/,layout.c metadata.c unpack.c))

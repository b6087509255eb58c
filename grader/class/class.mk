# The page of a class, from its gradebook.
#
## make class-page DIR=submissions LAB=01  write DIR.graded/NN.html: scores, hardest rows, submissions, similar pairs

class_page = $(CLASS_PAGE) --lab $(LAB) $(if $(value DIR),--dir $(call quote,DIR)) $(if $(value OUT),--out $(call quote,OUT))
.PHONY: class-page
CLASS_PAGE := $(REF)/bin/class_page
$(CLASS_PAGE): $(call obj,$(wildcard grader/class/*.c) $(addprefix grader/batch/,book.c layout.c dates.c metadata.c unpack.c)) $(REF)/libgrader.a $(REF)/libtesting.a $(REF)/libgiven.a
	$(call link,$(GRADER_LIBS) -lsqlite3)
ifneq ($(wildcard /usr/include/sqlite3.h),)
grader: $(CLASS_PAGE)
endif
class-page: reference
	$(need_lab)
	$(if $(value DIR)$(value OUT),,$(error which class? make class-page DIR=submissions LAB=01, with the OUT of make grade-all if it had one))
	@.ci/deps libsqlite3-dev
	@$(MAKE) -s $(CLASS_PAGE) MINE=
	@$(class_page)

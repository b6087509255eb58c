# Packages for Gradescope, Autolab, GitHub Actions and Classroom 50: docs/INSTRUCTORS.md. MINUTES: the service's limit for a submission.
## make gradescope | autolab LAB=02      the lab's package for that service, in build/frontends/; MINUTES=10 is its time limit
## make github             a workflow that grades each push, and a bundle for Classroom 50, in build/frontends/
## make security           write the table of attacks in docs/SECURITY.md
.PHONY: gradescope autolab github security
gradescope github: $(REF)/bin/kit
gradescope:
	$(need_lab)
	@.ci/deps zip
	@grader/frontends/pack.sh gradescope $(REF) $(LAB) $(MINUTES)
# The machine that grades may have another processor.
autolab:
	$(need_lab)
	@$(MAKE) -s data-or-standin build/portable/bin/kit REF=build/portable MARCH=x86-64-v3
	@grader/frontends/pack.sh autolab build/portable $(LAB) $(MINUTES)
github:
	@grader/frontends/pack.sh github $(REF)
security:
	@grader/tools/security.sh

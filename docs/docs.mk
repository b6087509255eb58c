## make docs               build the site of handouts, pages and API reference: build/site (needs MkDocs, Material)
docs:
	@PYTHON="$(PYTHON)" docs/site/build.sh build/site

# bench.mk -- measurements that need more than one machine, or stand-ins for them.

## make bench              measure, beside OpenBLAS and PyTorch where they are installed (minitorch/bench/bench.sh)

## make cluster            four hosts and a two-node Slurm on this machine (root): all-reduces and training on them
.PHONY: cluster
cluster: apps
	@minitorch/bench/cluster.sh $(ARGS) $(B)

## make pictures LAB=05    draw the pictures of a handout with your units (MINE= with the reference's): build/pictures
##                         without LAB: those of all handouts, where they are
.PHONY: pictures
pictures: apps
	$(if $(LAB),$(need_lab))
	@minitorch/bench/pictures.sh $(B) $(if $(LAB),$(LAB) build/pictures,all)

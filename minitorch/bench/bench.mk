# bench.mk -- measurements that need more than one machine, or stand-ins for them.

## make bench              measure, beside OpenBLAS and PyTorch where they are installed (minitorch/bench/bench.sh)

## make cluster            four hosts and a two-node Slurm on this machine (root): all-reduces and training on them
.PHONY: cluster
cluster: apps
	@minitorch/bench/cluster.sh $(ARGS) $(B)

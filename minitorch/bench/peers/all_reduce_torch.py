#!/usr/bin/python3
"""all_reduce_torch.py -- the peer of bench_mpi: the all-reduce of torch.distributed over gloo, at the same sizes.

    USE_LIBUV=0 RANK=0 WORLD_SIZE=4 MASTER_ADDR=10.0.0.1 MASTER_PORT=29500 GLOO_SOCKET_IFNAME=eth0 all_reduce_torch.py    (each rank)

Rank 0 prints CSV lines: bytes,ms  (the least of several rounds, of the slowest rank, from a barrier on, after a pause)
"""
import argparse
import sys
import time

try:
    import torch
    from torch import distributed
except ImportError as missing:
    sys.exit(f"all_reduce_torch.py: {missing}: apt install python3-torch")


def milliseconds(size):
    data = torch.ones(size // 4)
    least = float("inf")
    for _ in range(min(400 if size <= 1 << 16 else 40, max(4, (64 << 20) // size))):
        data.fill_(1)
        time.sleep(1e-3)
        distributed.barrier()
        start = time.perf_counter()
        distributed.all_reduce(data)
        took = torch.tensor([time.perf_counter() - start])
        if data[0] != distributed.get_world_size() or data[-1] != distributed.get_world_size():
            sys.exit(f"all_reduce_torch.py: {data[0]} and {data[-1]}")
        distributed.all_reduce(took, op=distributed.ReduceOp.MAX)
        least = min(least, took.item())
    return 1e3 * least


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smallest", type=int, default=1 << 10)
    parser.add_argument("--largest", type=int, default=1 << 26)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # as ours is (core/denormals.h), before its threads start
    distributed.init_process_group("gloo")
    size = args.smallest
    while size <= args.largest:
        took = milliseconds(size)
        if distributed.get_rank() == 0:
            print(f"{size},{took:.4f}", flush=True)
        size *= 4
    distributed.destroy_process_group()


main()

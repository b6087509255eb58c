#!/usr/bin/python3
"""mnist_torch.py -- the peer of train_mnist: the same network, data, batches and SGD in PyTorch, as fast as we know how.

Prints one CSV line an epoch: what,model,epoch,seconds,loss,test_accuracy  (seconds: training alone, as train_mnist counts)
  --input memory   images are float tensors in memory, normalised beforehand; a batch is x[order[i:i+64]]
  --input loader   torch.utils.data.DataLoader over a TensorDataset, with --workers processes (0: none)
Threads and vector width are the caller's to choose: OMP_NUM_THREADS, ATEN_CPU_CAPABILITY (see bench_mnist.sh).
"""
import argparse
import sys
import time

try:
    import numpy as np
    import torch
except ImportError as missing:
    sys.exit(f"mnist_torch.py: {missing}: apt install python3-torch python3-numpy")

HEADER_IMAGES, HEADER_LABELS = 16, 8


def read_set(folder, name):
    images = np.fromfile(f"{folder}/{name}-images-idx3-ubyte", np.uint8)[HEADER_IMAGES:]
    labels = np.fromfile(f"{folder}/{name}-labels-idx1-ubyte", np.uint8)[HEADER_LABELS:]
    return images.reshape(len(labels), -1).astype(np.float32), labels.astype(np.int64)


def build(width):
    layers = []
    for i, o in zip(width, width[1:]):
        linear = torch.nn.Linear(i, o)
        torch.nn.init.kaiming_normal_(linear.weight, nonlinearity="relu")
        torch.nn.init.zeros_(linear.bias)
        layers += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def batches(args, x, y):
    if args.input == "loader":
        yield from torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), args.batch, shuffle=True,
                                               num_workers=args.workers)
        return
    for at in torch.randperm(len(x)).split(args.batch):
        yield x.index_select(0, at), y.index_select(0, at)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="datasets/cache/mnist")
    parser.add_argument("--hidden", default="256,128")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.15)
    parser.add_argument("--input", choices=["memory", "loader"], default="memory")
    parser.add_argument("--workers", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(1)
    torch.set_flush_denormal(True)  # as ours is (core/denormals.h), before its threads start

    (x, y), (test_x, test_y) = read_set(args.data, "train"), read_set(args.data, "t10k")
    mean, std = x.mean(), x.std()
    x, y = torch.from_numpy((x - mean) / std), torch.from_numpy(y)
    test_x, test_y = torch.from_numpy((test_x - mean) / std), torch.from_numpy(test_y)
    width = [x.shape[1], *map(int, args.hidden.split(",")), 10]
    net = build(width)
    step = torch.optim.SGD(net.parameters(), args.lr, foreach=True)

    for epoch in range(1, args.epochs + 1):
        total, start = torch.zeros(()), time.perf_counter()
        for bx, by in batches(args, x, y):
            step.zero_grad(set_to_none=True)
            loss = torch.nn.functional.cross_entropy(net(bx), by)
            loss.backward()
            step.step()
            total += loss.detach() * len(bx)
        seconds = time.perf_counter() - start
        with torch.no_grad():
            accuracy = (net(test_x).argmax(1) == test_y).float().mean().item()
        print(f"torch-{args.input},{'-'.join(map(str, width))},{epoch},{seconds:.4f},{total.item() / len(x):.5f},{accuracy:.4f}",
              flush=True)


main()

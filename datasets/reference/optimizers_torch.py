#!/usr/bin/env python3
"""Trajectories of torch.optim's optimizers, for minitorch/tests/test_updates_torch.c.

    /usr/bin/python3 datasets/reference/optimizers_torch.py datasets/reference/optimizers_torch.dump

One parameter of 17 numbers, 1,000 steps in float64, gradients given (so that no model is needed): row (t - 1) % 250 of
`grad` at step t. Columns differ in size by powers of ten; column 5 never gets a gradient. Kept after the steps in `steps`.
A trajectory is named after its rule (mt_update_rules), with what is special after a dash; its hyper-parameters stand beside
it: lr, momentum, beta1, beta2, eps, weight_decay. Format: minitorch/testing/dump.h.
"""
import sys

import torch

SEED, N, ROWS, STEPS = 20261121, 17, 250, [1, 2, 3, 10, 100, 1000]


def case(make, states, lr=0.01, momentum=0.0, beta1=0.0, beta2=0.0, eps=0.0, weight_decay=0.0):
    return make, states, dict(lr=lr, momentum=momentum, beta1=beta1, beta2=beta2, eps=eps, weight_decay=weight_decay)


def sgd(nesterov):
    return lambda p, h: torch.optim.SGD(p, h["lr"], h["momentum"], weight_decay=h["weight_decay"], nesterov=nesterov)


def rmsprop(p, h):
    return torch.optim.RMSprop(p, h["lr"], alpha=h["beta2"], eps=h["eps"], weight_decay=h["weight_decay"])


def adam(optimizer):
    return lambda p, h: optimizer(p, h["lr"], (h["beta1"], h["beta2"]), h["eps"], h["weight_decay"])


BUF, SQ, AVG = ["momentum_buffer"], ["square_avg"], ["exp_avg", "exp_avg_sq"]
ADAM, ADAMW = adam(torch.optim.Adam), adam(torch.optim.AdamW)
CASES = {
    "sgd": case(sgd(False), []),
    "sgd-decay": case(sgd(False), [], weight_decay=0.1),
    "momentum": case(sgd(False), BUF, momentum=0.9),
    "momentum-decay": case(sgd(False), BUF, momentum=0.8, weight_decay=0.1),
    "nesterov": case(sgd(True), BUF, momentum=0.9),
    "nesterov-decay": case(sgd(True), BUF, momentum=0.8, weight_decay=0.1),
    "rmsprop": case(rmsprop, SQ, beta2=0.99, eps=1e-8),
    "rmsprop-eps": case(rmsprop, SQ, beta2=0.9, eps=0.1, weight_decay=0.01),
    "adam": case(ADAM, AVG, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8),
    "adam-eps": case(ADAM, AVG, lr=1e-3, beta1=0.8, beta2=0.95, eps=0.1, weight_decay=0.01),
    "adamw": case(ADAMW, AVG, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01),
    "adamw-decay": case(ADAMW, AVG, lr=1e-3, beta1=0.8, beta2=0.95, eps=0.1, weight_decay=0.5),
}


def trajectory(init, grad, make, states, hyper):
    p = torch.nn.Parameter(init.double())
    optimizer = make([p], hyper)
    kept = {name: [] for name in ["param"] + states}
    for t in range(1, STEPS[-1] + 1):
        p.grad = grad[(t - 1) % ROWS].double()
        optimizer.step()
        if t in STEPS:
            kept["param"].append(p.detach().clone())
            for name in states:
                kept[name].append(optimizer.state[p][name].clone())
    return {name: torch.stack(values) for name, values in kept.items()}


def write(path, arrays, comments):
    types = {torch.float64: "f64", torch.float32: "f32", torch.int64: "i64", torch.int32: "i32", torch.uint8: "u8"}
    with open(path, "wb") as file:
        file.write(b"minitorch dump 1\n")
        for line in comments:
            file.write(f"# {line}\n".encode())
        for name, a in arrays.items():
            file.write(" ".join([name, types[a.dtype], *map(str, a.shape)]).encode() + b"\n")
        file.write(b"\n")
        for a in arrays.values():
            file.write(a.contiguous().numpy().tobytes())


def main():
    torch.manual_seed(SEED)
    init, grad = torch.randn(N), torch.randn(ROWS, N)
    grad *= 10.0 ** -(torch.arange(N) % 4)
    grad[:, 5] = 0
    arrays = {"init": init, "grad": grad, "steps": torch.tensor(STEPS)}
    for name, (make, states, hyper) in CASES.items():
        arrays[f"{name}/hyper"] = torch.tensor(list(hyper.values()), dtype=torch.float64)
        for what, values in trajectory(init, grad, make, states, hyper).items():
            arrays[f"{name}/{what}"] = values
    write(sys.argv[1], arrays, [f"datasets/reference/optimizers_torch.py, seed {SEED}, torch {torch.__version__}, float64"])


main()

#!/usr/bin/env python3
"""A small GPT-2 in torch: logits, loss, every gradient, ten steps of AdamW, for minitorch/tests/test_gpt2.c.

    /usr/bin/python3 datasets/reference/gpt2_torch.py datasets/reference/gpt2_torch.dump

Written with torch's own layers (layer_norm, softmax, gelu, cross_entropy, autograd), in float64, so that its roundings do not
matter. Weights are [inputs, outputs], as in the published checkpoints; the table has rows that no token uses. Weights are
larger than GPT-2's first ones, so that attention is far from even and the logits from 0. eps is large because the biases of
keys have no effect: their gradient is 0 but for roundings, which a small eps would make steps of full length. Format: minitorch/testing/dump.h.
"""
import math
import sys

import torch
import torch.nn.functional as F

SEED, TOKENS, ROWS, BLOCK, LAYERS, HEADS, WIDTH, B, T, STEPS = 20261121, 29, 32, 12, 4, 2, 8, 2, 11, 10
LR, BETAS, EPS, DECAY = 1e-2, (0.9, 0.95), 1e-3, 0.1


def parameters():
    shapes = {"wte.weight": (ROWS, WIDTH), "wpe.weight": (BLOCK, WIDTH)}
    for l in range(LAYERS):
        h = f"h.{l}."
        shapes |= {h + "ln_1.weight": (WIDTH,), h + "ln_1.bias": (WIDTH,)}
        shapes |= {h + "attn.c_attn.weight": (WIDTH, 3 * WIDTH), h + "attn.c_attn.bias": (3 * WIDTH,)}
        shapes |= {h + "attn.c_proj.weight": (WIDTH, WIDTH), h + "attn.c_proj.bias": (WIDTH,)}
        shapes |= {h + "ln_2.weight": (WIDTH,), h + "ln_2.bias": (WIDTH,)}
        shapes |= {h + "mlp.c_fc.weight": (WIDTH, 4 * WIDTH), h + "mlp.c_fc.bias": (4 * WIDTH,)}
        shapes |= {h + "mlp.c_proj.weight": (4 * WIDTH, WIDTH), h + "mlp.c_proj.bias": (WIDTH,)}
    shapes |= {"ln_f.weight": (WIDTH,), "ln_f.bias": (WIDTH,)}
    gain = lambda name: 1.0 if "ln_" in name and name.endswith("weight") else 0.0
    return {name: gain(name) + 0.3 * torch.randn(shape) for name, shape in shapes.items()}


def logits_of(p, ids):
    def norm(x, name):
        return F.layer_norm(x, (WIDTH,), p[name + ".weight"], p[name + ".bias"], 1e-5)

    def linear(x, name):
        return x @ p[name + ".weight"] + p[name + ".bias"]

    def attention(x, name):
        q, k, v = (y.view(B, T, HEADS, -1).transpose(1, 2) for y in linear(x, name + ".c_attn").split(WIDTH, 2))
        score = q @ k.transpose(2, 3) / math.sqrt(WIDTH // HEADS)
        score = score.masked_fill(torch.ones(T, T).triu(1).bool(), -math.inf)
        return linear((score.softmax(3) @ v).transpose(1, 2).reshape(B, T, WIDTH), name + ".c_proj")

    def gelu(x):
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))

    x = p["wte.weight"][ids] + p["wpe.weight"][:T]
    for l in range(LAYERS):
        x = x + attention(norm(x, f"h.{l}.ln_1"), f"h.{l}.attn")
        x = x + linear(gelu(linear(norm(x, f"h.{l}.ln_2"), f"h.{l}.mlp.c_fc")), f"h.{l}.mlp.c_proj")
    return norm(x, "ln_f") @ p["wte.weight"][:TOKENS].T


def write(path, arrays, comments):
    types = {torch.float64: "f64", torch.float32: "f32", torch.int32: "i32"}
    with open(path, "wb") as file:
        file.write(b"minitorch dump 1\n")
        for line in comments:
            file.write(f"# {line}\n".encode())
        for name, a in arrays.items():
            file.write(" ".join([name, types[a.dtype], *map(str, a.shape)]).encode() + b"\n")
        file.write(b"\n")
        for a in arrays.values():
            file.write(a.detach().contiguous().numpy().tobytes())


def main():
    torch.manual_seed(SEED)
    first = parameters()
    text = torch.randint(0, TOKENS, (B, T + 1))
    ids, targets = text[:, :T], text[:, 1:]
    arrays = {"ids": ids.int(), "targets": targets.int()}
    arrays |= {"param/" + name: value for name, value in first.items()}
    p = {name: torch.nn.Parameter(value.double()) for name, value in first.items()}
    matrices, vectors = [v for v in p.values() if v.dim() == 2], [v for v in p.values() if v.dim() == 1]
    groups = [{"params": matrices, "weight_decay": DECAY}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, LR, BETAS, EPS)
    losses = []
    for step in range(STEPS + 1):
        optimizer.zero_grad()
        logits = logits_of(p, ids)
        loss = F.cross_entropy(logits.view(B * T, TOKENS), targets.reshape(B * T))
        loss.backward()
        losses.append(loss.detach())
        if step == 0:
            arrays["logits"] = logits.detach().clone()
            arrays |= {"grad/" + name: value.grad.clone() for name, value in p.items()}
        if step < STEPS:
            optimizer.step()
    arrays["loss"] = torch.stack(losses)
    arrays |= {"after/" + name: value for name, value in p.items()}
    write(sys.argv[1], arrays, [f"datasets/reference/gpt2_torch.py, seed {SEED}, torch {torch.__version__}, float64"])


main()

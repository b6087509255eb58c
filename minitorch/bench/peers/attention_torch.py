#!/usr/bin/python3
"""attention_torch.py -- the peer of bench_attention: causal attention with its sizes, on one thread.

    attention_torch.py [TOKENS [ROUNDS]]
Prints CSV lines like those of bench_attention --csv: tokens, pytorch, nothing, least seconds forward and backward.
"""
import sys
import time

try:
    import torch
    from torch.nn.functional import scaled_dot_product_attention as attention
except ImportError as missing:
    sys.exit(f"attention_torch.py: {missing}: PyTorch 2.0 or newer; see peer.sh for TORCH_ROOT")

HEADS, WIDTH, FROM = 4, 64, 256

torch.set_num_threads(1)
torch.set_flush_denormal(True)  # as ours is (core/denormals.h), before its threads start
most = int(sys.argv[1]) if len(sys.argv) > 1 else 2048
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
tokens = FROM
while tokens <= most:
    q, k, v = (torch.randn(1, HEADS, tokens, WIDTH, requires_grad=True) for _ in range(3))
    dout, forward, backward = torch.randn(1, HEADS, tokens, WIDTH), 1e9, 1e9
    for _ in range(rounds):
        start = time.process_time()
        out = attention(q, k, v, is_causal=True)
        middle = time.process_time()
        out.backward(dout)
        forward, backward = min(forward, middle - start), min(backward, time.process_time() - middle)
    print(f"{tokens},pytorch,,{forward:.6g},{backward:.6g}", flush=True)
    tokens *= 2

#!/usr/bin/python3
"""gpt2_torch.py -- the peer of bench_gpt2: GPT-2, the same batch, clipping and AdamW in PyTorch, as fast as we know how.

With RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in the environment it is one rank of DistributedDataParallel over gloo,
with its share of the batch (bench_ddp.sh); rank 0 prints, as ms_per_step the mean of the steps.

Where PyTorch has them (2.0, 2.4): attention is scaled_dot_product_attention, AdamW is fused. --dtype bf16: autocast.
Prints one CSV line: what,batch,time,ms_per_step,peak_rss_mb,loss  (the fastest step after one that does not count)
Threads and vector width are the caller's to choose: OMP_NUM_THREADS, ATEN_CPU_CAPABILITY (see bench_gpt2.sh).
"""
import argparse
import os
import resource
import sys
import time

try:
    import torch
    from torch.nn import functional as F
except ImportError as missing:
    sys.exit(f"gpt2_torch.py: {missing}: apt install python3-torch")

BLOCK, LAYERS, HEADS, WIDTH, TOKENS = 1024, 12, 12, 768, 50257
if "SIZE" in os.environ:  # "block layers heads width tokens"
    BLOCK, LAYERS, HEADS, WIDTH, TOKENS = map(int, os.environ["SIZE"].split())
ROWS = -(-TOKENS // 64) * 64  # the table is padded to a multiple of 64, as minitorch's
RANKS = int(os.environ.get("WORLD_SIZE", "1"))


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.c_attn, self.attn_proj = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.c_fc, self.mlp_proj = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.Linear(4 * WIDTH, WIDTH)

    def attention(self, x, hidden):
        b, t, _ = x.shape
        q, k, v = (part.view(b, t, HEADS, -1).transpose(1, 2) for part in self.c_attn(x).split(WIDTH, 2))
        if hasattr(F, "scaled_dot_product_attention"):
            out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.attn_proj(out.transpose(1, 2).reshape(b, t, WIDTH))
        score = q @ k.transpose(2, 3) * (WIDTH // HEADS) ** -0.5
        out = score.masked_fill(hidden, float("-inf")).softmax(3) @ v
        return self.attn_proj(out.transpose(1, 2).reshape(b, t, WIDTH))

    def forward(self, x, hidden):
        x = x + self.attention(self.ln_1(x), hidden)
        return x + self.mlp_proj(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class GPT2(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = torch.nn.Embedding(ROWS, WIDTH), torch.nn.Embedding(BLOCK, WIDTH)
        self.h = torch.nn.ModuleList(Block() for _ in range(LAYERS))
        self.ln_f = torch.nn.LayerNorm(WIDTH)
        for p in self.parameters():
            if p.dim() == 2:
                torch.nn.init.normal_(p, 0, 0.02)

    def forward(self, ids, targets):
        t = ids.shape[1]
        hidden = torch.ones(t, t, dtype=torch.bool).triu(1)
        x = self.wte(ids) + self.wpe.weight[:t]
        for block in self.h:
            x = block(x, hidden)
        logits = self.ln_f(x) @ self.wte.weight.T
        return F.cross_entropy(logits.view(-1, ROWS), targets.view(-1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--time", type=int, default=64)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--foreach", action="store_true", help="AdamW over all parameters at once")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    args = parser.parse_args()
    torch.manual_seed(1)
    torch.set_flush_denormal(True)  # as ours is (core/denormals.h), before its threads start
    model = GPT2()
    if RANKS > 1:
        torch.distributed.init_process_group("gloo")
        model = torch.nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
    groups = [{"params": [p for p in model.parameters() if p.dim() == 2], "weight_decay": 0.1},
              {"params": [p for p in model.parameters() if p.dim() == 1], "weight_decay": 0}]
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    kind = {"fused": True} if version >= (2, 4) and not args.foreach else {"foreach": args.foreach}
    optim = torch.optim.AdamW(groups, lr=3e-4, **kind)
    tokens = torch.randint(TOKENS, (args.batch // RANKS, args.time + 1))
    ids, targets = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
    best, total = float("inf"), 0
    for step in range(args.steps + 1):
        start = time.perf_counter()
        optim.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=args.dtype == "bf16"):
            loss = model(ids, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optim.step()
        if step > 0:
            best, total = min(best, time.perf_counter() - start), total + time.perf_counter() - start
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000 * 1.024
    if RANKS > 1:
        rank = torch.distributed.get_rank()
        torch.distributed.destroy_process_group()
        if rank > 0:
            return
        best = total / args.steps
    print(f"torch,{args.batch},{args.time},{1000 * best:.1f},{rss:.0f},{loss.item():.5f}")


main()

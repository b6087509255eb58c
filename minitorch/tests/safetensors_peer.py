"""Reads and writes safetensors without minitorch, for minitorch/tests/test_safetensors.sh. What it does is its first argument:

    compare FILE CKPT        FILE is a good safetensors file and holds the bits of the parameters of a checkpoint, a folder
    publish FILE CKPT        write the checkpoint's parameters as Hugging Face would: a prefix, masks, metadata, another order, no
                             padding
    hub DIR LAYERS WIDTH     write a folder as the Hub has it for GPT-2, 12 heads, 50257 tokens, 1024 places, with random weights
    tuned DIR OTHER BLOCK    OTHER is DIR's model, of a context of BLOCK, a few small steps later
    random FILE TEXT VOCAB   make a toy GPT-2 of torch's own modules, write it to FILE, and print TEXT as it goes on with it
    package, torch           whether Python has them

Only `random` needs torch; `compare` asks the safetensors package too where it is installed.
"""
import array
import json
import math
import random as randomness
import struct
import sys


def read(path):
    """Name -> (shape, bytes), with all checks that the format requires."""
    data = open(path, "rb").read()
    n, = struct.unpack_from("<Q", data)
    head, body, end = json.loads(data[8 : 8 + n]), memoryview(data)[8 + n :], 0
    assert all(isinstance(value, str) for value in head.pop("__metadata__").values()), "metadata must be strings"
    assert n % 8 == 0, "the numbers are not aligned"
    for name, t in sorted(head.items(), key=lambda item: item[1]["data_offsets"]):
        first, last = t["data_offsets"]
        assert t["dtype"] == "F32" and first == end and last - first == 4 * math.prod(t["shape"]), name
        end = last
    assert end == len(body), "holes, or more than the tensors"
    return {name: (t["shape"], body[slice(*t["data_offsets"])]) for name, t in head.items()}


def write(path, tensors, metadata=None):
    head, at = {"__metadata__": metadata} if metadata else {}, 0
    for name, (shape, data) in tensors.items():
        head[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.writelines(data for _, data in tensors.values())


def values(ckpt):
    return json.load(open(ckpt + "/manifest.json"))["values"]


def shards(ckpt, stem):
    """All tensors of a list, by its index."""
    index = json.load(open(f"{ckpt}/{stem}.safetensors.index.json"))
    files = {file: read(f"{ckpt}/{file}") for file in set(index["weight_map"].values())}
    tensors = {name: files[file][name] for name, file in index["weight_map"].items()}
    assert index["metadata"]["total_size"] == sum(len(data) for _, data in tensors.values())
    return tensors


def sizes(ckpt):
    """Of the model of a run: vocabulary, rows of its table, block, layers, width."""
    return [int(values(ckpt)[name]) for name in ("vocabulary", "vocabulary rows", "block", "layers", "width")]


def compare(path, ckpt):
    tensors, want, (_, rows, _, _, width) = read(path), shards(ckpt, "model"), sizes(ckpt)
    assert tensors and tensors == want
    assert tensors["wte.weight"][0] == [rows, width] and tensors["h.0.attn.c_attn.weight"][0] == [width, 3 * width]
    assert shards(ckpt, "state")["wte.weight/exp_avg"][0] == [rows, width] and values(ckpt)["wte.weight/step"] == values(ckpt)["step"]
    try:
        from safetensors.numpy import load_file
    except ImportError:
        return
    package = load_file(path)
    assert package.keys() == tensors.keys()
    assert all(list(a.shape) == tensors[name][0] and a.tobytes() == tensors[name][1] for name, a in package.items())


def publish(path, ckpt, ours):
    vocabulary, _, block, layers, width = sizes(ckpt)
    tensors = {"transformer." + name: value for name, value in reversed(read(ours).items())}
    tensors["transformer.wte.weight"] = ([vocabulary, width], tensors["transformer.wte.weight"][1][: 4 * vocabulary * width])
    for layer in range(layers):
        tensors[f"transformer.h.{layer}.attn.bias"] = ([1, 1, block, block], bytes(4 * block * block))
    write(path, tensors, {"format": "pt"})


def shapes(layers, width, vocabulary, places):
    """Name -> shape, of the published files."""
    found = {"wte.weight": [vocabulary, width], "wpe.weight": [places, width], "ln_f.weight": [width], "ln_f.bias": [width]}
    for layer in range(layers):
        for name, shape in (("ln_1", [width]), ("attn.c_attn", [width, 3 * width]), ("attn.c_proj", [width, width]), ("ln_2", [width]),
                            ("mlp.c_fc", [width, 4 * width]), ("mlp.c_proj", [4 * width, width])):
            found[f"h.{layer}.{name}.weight"], found[f"h.{layer}.{name}.bias"] = shape, shape[-1:]
    return found


def hub(folder, layers, width):
    layers, width, places, merges = int(layers), int(width), 1024, 50000
    draw = randomness.Random(1)
    small = array.array("f", (draw.gauss(0, 0.02) for _ in range(65537))).tobytes()  # a prime: rows of a matrix differ
    near_1 = array.array("f", (draw.gauss(1, 0.02) for _ in range(width))).tobytes()

    def some(name, size):
        if ".ln_" in f".{name}" and name.endswith("weight"):
            return near_1
        first = 4 * draw.randrange(65537)
        return (small * (4 * size // len(small) + 2))[first : first + 4 * size]

    tensors = {name: (shape, some(name, math.prod(shape))) for name, shape in sorted(shapes(layers, width, 256 + merges + 1, places).items())}
    mask = array.array("f", (float(j <= i) for i in range(places) for j in range(places))).tobytes()
    for layer in range(layers):
        tensors[f"h.{layer}.attn.bias"] = ([1, 1, places, places], mask)
    write(folder + "/model.safetensors", tensors, {"format": "pt"})
    with open(folder + "/config.json", "w") as file:
        json.dump({"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1, "bos_token_id": 50256,
                   "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05, "model_type": "gpt2",
                   "n_ctx": places, "n_embd": width, "n_head": 12, "n_layer": layers, "n_positions": places, "resid_pdrop": 0.1,
                   "summary_type": "cls_index", "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}},
                   "vocab_size": 256 + merges + 1}, file, indent=2)
    letters = [chr(c) for c in range(33, 127)]
    pairs = [(a, b) for a in letters for b in letters]
    triples = [(a + b, c) for a, b in pairs for c in letters]
    with open(folder + "/merges.txt", "w") as file:
        file.write("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in (pairs + triples)[:merges]))


def tuned(folder, other, block):
    old, new = (read(f"{path}/model.safetensors") for path in (folder, other))
    config, size = (json.load(open(f"{path}/config.json")) for path in (other, folder))
    for name in ("model_type", "activation_function", "n_layer", "n_head", "n_embd", "layer_norm_epsilon", "eos_token_id"):
        assert config[name] == size[name], name
    assert config["n_positions"] == int(block) and config["vocab_size"] == new["wte.weight"][0][0]
    want = shapes(config["n_layer"], config["n_embd"], config["vocab_size"], int(block))
    assert {name: shape for name, (shape, _) in new.items()} == want
    for name, (shape, data) in new.items():
        least = min(len(data), len(old[name][1]))  # rows that pad the tokens, and places that are not used, are in one only
        a, b = (array.array("f", x[:least].tobytes())[:: 1 + least // 400000] for x in (data, old[name][1]))
        most = max(abs(x - y) for x, y in zip(a, b))
        assert 0 < most < 0.01, (name, most)


def spelled(vocabulary):
    """id -> bytes, of a vocab.bpe of characters: GPT-2's bytes_to_unicode, inverted."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    byte = {chr(b): b for b in visible}
    byte |= {chr(256 + i): b for i, b in enumerate(b for b in range(256) if b not in visible)}
    lines = open(vocabulary + "/vocab.bpe", encoding="utf-8").read().splitlines()
    assert lines[0] == "#characters"
    return {i: bytes(byte[c] for c in token) for i, token in enumerate(lines[1:])}


def random(path, text, vocabulary):
    import torch
    from torch import nn

    layers, heads, width, block = 4, 4, 128, 64
    spelling = spelled(vocabulary)
    torch.manual_seed(1)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attn = nn.ModuleDict({"c_attn": nn.Linear(width, 3 * width), "c_proj": nn.Linear(width, width)})
            self.mlp = nn.ModuleDict({"c_fc": nn.Linear(width, 4 * width), "c_proj": nn.Linear(4 * width, width)})

        def forward(self, x):
            q, k, v = (y.view(len(x), heads, -1).transpose(0, 1) for y in self.attn["c_attn"](self.ln_1(x)).split(width, 1))
            score = (q @ k.transpose(1, 2) / math.sqrt(width / heads)).masked_fill(torch.ones(len(x), len(x)).triu(1).bool(), -math.inf)
            x = x + self.attn["c_proj"]((score.softmax(2) @ v).transpose(0, 1).reshape(len(x), width))
            return x + self.mlp["c_proj"](nn.functional.gelu(self.mlp["c_fc"](self.ln_2(x)), approximate="tanh"))

    model = nn.ModuleDict({"wte": nn.Embedding(len(spelling), width), "wpe": nn.Embedding(block, width),
                           "h": nn.ModuleList(Block() for _ in range(layers)), "ln_f": nn.LayerNorm(width)})
    for name, p in model.named_parameters():  # far from an even attention, so that a wrong one shows
        nn.init.normal_(p, 1.0 if "ln_" in name and p.dim() == 1 and name.endswith("weight") else 0.0, 0.2)
    # What Hugging Face calls Conv1D is a linear layer stored [inputs, outputs]: torch's, transposed.
    stored = {name: p.detach().t().contiguous() if ".c_" in name and p.dim() == 2 else p.detach() for name, p in model.named_parameters()}
    write(path, {name: (p.shape, p.numpy().tobytes()) for name, p in stored.items()})
    model.double()
    ids = [next(i for i, s in spelling.items() if s == c.encode()) for c in text]
    for _ in range(40):
        with torch.no_grad():
            x = model["wte"](torch.tensor(ids)) + model["wpe"].weight[: len(ids)]
            for block in model["h"]:
                x = block(x)
            logits = model["wte"].weight @ model["ln_f"](x[-1])
        first, second = logits.topk(2).values.tolist()
        assert first - second > 1e-3, "too near a tie to tell: take another seed"
        ids.append(int(logits.argmax()))
    sys.stdout.buffer.write(b"".join(spelling[i] for i in ids))


def package():
    import safetensors  # noqa: F401


def torch():
    import torch  # noqa: F401


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])

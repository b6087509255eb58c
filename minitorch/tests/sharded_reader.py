"""Reads sharded safetensors as their published layout says, and writes others; for minitorch/tests/test_sharded.sh.

    read DIR        the tensors of model.safetensors.index.json have the bits of step 7 of `faults --save`
    write FROM TO   the same tensors, a shard each, the other way round, with other spaces and without padding
"""
import json
import math
import struct
import sys

SIZE = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "U8": 1}


def load(folder):
    """Name -> (dtype, shape, bytes)."""
    index, tensors, total = json.load(open(f"{folder}/model.safetensors.index.json")), {}, 0
    for file in set(index["weight_map"].values()):
        data = open(f"{folder}/{file}", "rb").read()
        n, = struct.unpack_from("<Q", data)
        header, body, end = json.loads(data[8 : 8 + n]), data[8 + n :], 0
        header.pop("__metadata__", None)
        for name, t in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
            begin, last = t["data_offsets"]
            assert begin == end and last - begin == SIZE[t["dtype"]] * math.prod(t["shape"]), name
            assert index["weight_map"][name] == file and name not in tensors, name
            tensors[name], end = (t["dtype"], t["shape"], body[begin:last]), last
        assert end == len(body), "holes, or more than the tensors"
        total += end
    assert tensors.keys() == index["weight_map"].keys() and total == index["metadata"]["total_size"]
    return tensors


def read(folder):
    types = {"h.0.weight": "F32", "h.0.bias": "BF16", "h.1.weight": "F16", "h.1.steps": "I64"}
    tensors = load(folder)
    assert {name: t[0] for name, t in tensors.items()} == types
    for i, name in enumerate(types):
        words = [(8 * 0x9E3779B1 + i * 0x85EBCA6B + j * 0xC2B2AE35) % 2**32 for j in range(len(tensors[name][2]) // 4)]
        assert tensors[name][1][0] == 2 and tensors[name][2] == struct.pack(f"<{len(words)}I", *words), name


def write(source, folder):
    tensors = sorted(load(source).items(), reverse=True)
    files = {name: f"model-{i + 1:05}-of-{len(tensors):05}.safetensors" for i, (name, _) in enumerate(tensors)}
    for name, (dtype, shape, data) in tensors:
        text = json.dumps({name: {"shape": shape, "data_offsets": [0, len(data)], "dtype": dtype}}).encode()
        with open(f"{folder}/{files[name]}", "wb") as out:
            out.write(struct.pack("<Q", len(text)) + text + data)
    with open(f"{folder}/model.safetensors.index.json", "w") as out:
        json.dump({"metadata": {}, "weight_map": files}, out, indent=2)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])

"""printers.py -- for gdb (make debug GDB=1, or `source grader/tools/printers.py`): a tensor or a view is printed with its shape,
strides and offset, a tensor of the CPU with its values, of each dimension the first eight:

    (gdb) print *t
    f32 [2, 3], strides [3, 1], offset 0: [[1, 2, 3], [4, 5, 6]]
"""
import struct

import gdb

MOST = 8
DTYPES = ("f32", "f16", "bf16", "i32", "i64", "u8")  # core/dtype.h
CODES = {"f32": "f", "f16": "e", "bf16": "H", "i32": "i", "i64": "q", "u8": "B"}


def dims(view, name):
    return [int(view[name][i]) for i in range(min(max(int(view["rank"]), 0), 8))]


def summary(view):
    return f"{dims(view, 'shape')}, strides {dims(view, 'stride')}, offset {int(view['offset'])}"


def element(address, dtype):
    code = CODES[dtype]
    size = struct.calcsize(code)
    number, = struct.unpack(code, gdb.selected_inferior().read_memory(address, size).tobytes())
    if dtype == "bf16":
        number, = struct.unpack("f", struct.pack("I", number << 16))
    return f"{number:g}" if dtype in ("f32", "f16", "bf16") else str(number)


def values(data, dtype, shape, stride, at):
    size = struct.calcsize(CODES[dtype])
    if not shape:
        return element(data + at * size, dtype)
    shown = [values(data, dtype, shape[1:], stride[1:], at + i * stride[0]) for i in range(min(shape[0], MOST))]
    return "[" + ", ".join(shown + ["..."] * (shape[0] > MOST)) + "]"


class View:
    def __init__(self, value):
        self.view = value

    def to_string(self):
        return summary(self.view)


class Tensor:
    def __init__(self, value):
        self.tensor = value

    def to_string(self):
        view, storage = self.tensor["view"], self.tensor["storage"]
        number = int(self.tensor["dtype"])
        dtype = DTYPES[number] if number < len(DTYPES) else f"type {number}"
        text = f"{dtype} {summary(view)}"
        try:
            if int(storage["device"]) != 0:
                return text + " on the device"
            data = int(storage["data"])
            return f"{text}: {values(data, dtype, dims(view, 'shape'), dims(view, 'stride'), int(view['offset']))}"
        except (gdb.MemoryError, KeyError):
            return text + ": its memory cannot be read"


PRINTERS = {"mt_view": View, "mt_tensor": Tensor}


def look_up(value):
    kind = value.type.unqualified().strip_typedefs()
    printer = PRINTERS.get(kind.tag or "") if kind.code == gdb.TYPE_CODE_STRUCT else None
    return printer(value) if printer else None


gdb.pretty_printers.append(look_up)

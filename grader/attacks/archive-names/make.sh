# attack  02.1 an archive with names of every kind: newlines, control characters, a script, 4 KiB, no UTF-8, linear.c in between
# hopes   the list of ignored files carries them to the terminal and the page; a name is cut to that of a unit
# stopped by names are compared as a whole and printed with control characters replaced
# earns   7
# verdict PASS
# words   ignored in
python3 - <<'PY'
import io, tarfile
names = ["\x1b[2J\x1b]0;evil\x07.c", "linear.c\n", "<script>evil()</script>", "x" * 4000 + "/y/linear.c", "grade 02: 7/7\n",
         "linear.c ", "./././../linear.c", "a/../linear.c", "LINEAR.C", "caf\xe9-\udcff.c", "\u202elinear.c", "", "."]
with tarfile.open("names.tar", "w", format=tarfile.PAX_FORMAT, errors="surrogateescape") as tar:
    def add(name, data):
        one = tarfile.TarInfo(name)
        one.size = len(data)
        try:
            tar.addfile(one, io.BytesIO(data))
        except (UnicodeError, ValueError):
            pass
    for name in names:
        add(name, b"#error BREACH: this is not the unit\n")
    for unit in ("linear.c", "softmax.c", "loss.c", "mlp.c"):
        try:
            add(unit, open(unit, "rb").read())
        except FileNotFoundError:
            pass
PY
echo "$PWD/names.tar"

#!/usr/bin/env bash
# train_pictures: train_mnist on a folder of pictures with a folder for each class: it learns them, is evaluated on those that it has
# not learned from, and continues with the same pictures only. What cannot be used is refused in one line, before the run begins.
. "$(dirname "$0")/../../.ci/check.bash"
make -s -C "$root" build/release/bin/{train_mnist,evaluate} >/dev/null || exit 1
# draw FOLDER NUMBER COLOUR...: so many pictures of 40 x 36 pixels in each colour's folder, with noise.
draw() {
    python3 - "$@" <<'PY'
import os, random, struct, sys, zlib
folder, count, colours = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
def chunk(kind, data): return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
for colour in colours:
    random.seed(colour)
    base = dict(red=(200, 60, 60), green=(60, 200, 60), blue=(60, 60, 200)).get(colour, (90, 90, 90))
    os.makedirs(f"{folder}/{colour}", exist_ok=True)
    for i in range(count):
        rows = b"".join(b"\0" + bytes(min(255, max(0, c + random.randint(-50, 50))) for _ in range(40) for c in base) for _ in range(36))
        with open(f"{folder}/{colour}/{i:03}.png", "wb") as out:
            out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 40, 36, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
PY
}
train() { "$bin/train_mnist" --data "$dir/$1" --hidden 16 --batch 8 --lr 0.01 --ema 0 --keep 0 -q "${@:3}" -o "$dir/$2" >"$dir/log" 2>&1; }
said() { grep -qF -- "$1" "$dir/log" && ok || bad "not \"$1\": $(tail -1 "$dir/log")"; }
# refused FOLDER WORDS...: one line, and no run.
refused() {
    train "$1" none --epochs 1 && bad "$1 was taken" || said "$2"
    [ "$(wc -l <"$dir/log")" -eq 1 ] && [ ! -e "$dir/none" ] && ok || bad "$1: $(cat "$dir/log")"
}
draw "$dir/colours" 24 red green blue
train colours run --epochs 4 && said "$dir/colours: 60 pictures to learn from, 12 for the test; classes: 0 blue, 1 green, 2 red"
awk -F'[= ]' '/^train_mnist: / { exit !($3 > 0.9) }' "$dir/log" && ok || bad "it did not learn: $(tail -1 "$dir/log")"
accuracy=$(sed -n 's/^train_mnist: test_accuracy=\([0-9.]*\) .*/\1/p' "$dir/log")
"$bin/evaluate" "$dir/run" --data "$dir/colours" >"$dir/log" 2>&1 && said "accuracy=$accuracy data=colours"
cp -r "$dir/run" "$dir/again" && rm -r "$dir/again/step-28" && train colours again --epochs 4 --resume &&
    cmp "$dir"/{run,again}/step-28/model-00001-of-00001.safetensors && ok || bad "resumed: $(ls "$dir/run") $(tail -1 "$dir/log")"
cp -r "$dir/colours" "$dir/changed" && cp "$dir/changed/red/001.png" "$dir/changed/red/000.png"
train changed again --epochs 4 --resume && bad "resumed with another picture" || said 'images checksum'

# The folder may say which pictures are for the test.
mkdir "$dir/apart" && cp -r "$dir/colours" "$dir/apart/train" && draw "$dir/apart/test" 5 red green blue
train apart parts --epochs 1 && said "$dir/apart: 72 pictures to learn from, 15 for the test"
rm -r "$dir/apart/test/red" && refused apart 'those in test are 0 blue, 1 green'

cp -r "$dir/colours" "$dir/damaged" && head -c 500 "$dir/colours/red/007.png" >"$dir/damaged/red/007.png" && head -c 50 "$dir/colours/red/009.png" >"$dir/damaged/red/009.png"
refused damaged "$dir/damaged/red/007.png"
mkdir "$dir/one" && cp -r "$dir/colours/red" "$dir/one/" && refused one "$dir/one: its pictures are in 1 folder; make a folder for each class, 2 to 10 of them"
draw "$dir/many" 6 {a..k} && refused many "$dir/many: its pictures are in 11 folders; make a folder for each class, 2 to 10 of them"
draw "$dir/few" 5 red blue && refused few "$dir/few: no class has 6 pictures, of which one is for the test"
mkdir -p "$dir/empty/red" "$dir/empty/blue" && refused empty "$dir/empty/blue: no picture in it (.png, .jpg, .jpeg)"
mkdir "$dir/nothing" && { train nothing none --epochs 1; said 'run datasets/fetch mnist'; }
finish train_pictures

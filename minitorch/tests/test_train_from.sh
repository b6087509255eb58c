#!/usr/bin/env bash
# train_from: training starts from given weights, as published ones are laid out; first weights and the order of batches are
# written for another framework.
. "$(dirname "$0")/../../.ci/check.bash"
make -s -C "$root" build/release/bin/{train_gpt2,generate,tokenize} >/dev/null || exit 1
seq 3000 >"$dir/text"
flags=(--data "$dir/text" --layers 2 --heads 2 --width 16 --block 8 --batch 6 --micro-batches 2 --warmup 2 --steps 10 --eval-every 10 --eval-batches 1 -q)
run() { "$bin/train_gpt2" "${flags[@]}" "${@:2}" -o "$dir/$1" >"$dir/log" 2>&1; }
run whole --export "$dir/first" --list-batches "$dir/order" && grep -q "parameters in $dir/first" "$dir/log" && ok || bad "export"
# The layout of a published file: names with a prefix, no row that only pads the token table.
python3 - "$dir" <<'PY'
import json, struct, sys
folder = sys.argv[1]
data = open(folder + "/first", "rb").read()
n = struct.unpack("<Q", data[:8])[0]
header, data, out, body = json.loads(data[8:8 + n]), data[8 + n:], {}, b""
header.pop("__metadata__", None)
for name, t in header.items():
    bytes_ = data[t["data_offsets"][0]:t["data_offsets"][1]]
    if name == "wte.weight":
        t["shape"][0] = 11 # digits and the end of a line
        bytes_ = bytes_[:11 * t["shape"][1] * 4]
    out["transformer." + name] = dict(dtype="F32", shape=t["shape"], data_offsets=[len(body), len(body) + len(bytes_)])
    body += bytes_
text = json.dumps(out).encode()
open(folder + "/hf", "wb").write(struct.pack("<Q", len(text)) + text + body)
PY
# Given weights take the place of random ones.
run again --from "$dir/first" && diff <(cut -d, -f1-4 "$dir"/again/metrics.csv) <(cut -d, -f1-4 "$dir"/whole/metrics.csv) && ok || bad "--from its own first weights"
cmp "$dir"/{whole,again}/step-10/model-00001-of-00001.safetensors && ok || bad "other bits from its own first weights"
run published --from "$dir/hf" && cmp "$dir"/{whole,published}/step-10/model-00001-of-00001.safetensors && ok || bad "from the published layout: $(tail -1 "$dir/log")"
run seed --seed 2 --from "$dir/first" --export "$dir/first2" && cmp "$dir/first" "$dir/first2" && ok || bad "another seed changes given weights"
for how in '--ranks 2' '--ranks 3 --zero 3' '--pp 2' '--tp 2'; do
    # shellcheck disable=SC2086
    run "ranks" $how --overwrite --seed 2 --from "$dir/first" --export "$dir/first3" --list-batches "$dir/order3" && cmp "$dir/first" "$dir/first3" && ok || bad "$how: $(tail -1 "$dir/log")"
done
"$bin/generate" -r "$dir/whole" --export "$dir/last" >/dev/null && run more --from "$dir/last" --lr 1e-4 && ok || bad "from its own last weights"
awk -F, -v first="$(sed -n 2p "$dir/whole/metrics.csv" | cut -d, -f3)" 'NR == 2 { exit !($3 < first) }' "$dir/more/metrics.csv" && ok || bad "fine-tuning begins anew"
run more --resume --from "$dir/first" --lr 1e-4 && bad "resumed from other weights" || { grep -q 'from checksum' "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"; }
run small --from "$dir/first" --layers 3 && bad "weights of a smaller model" || { grep -q 'h.2' "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"; }
# A context that is shorter than theirs takes the first places, of 32 and of 16 bits.
"$bin/generate" -r "$dir/whole" --dtype bf16 --export "$dir/half" >/dev/null 2>&1 && run narrow --from "$dir/half" --export "$dir/half8" && ok || bad "bf16: $(tail -1 "$dir/log")"
run short --from "$dir/first" --block 4 --export "$dir/first4" && run short --overwrite --from "$dir/half" --block 4 --export "$dir/half4" &&
    python3 - "$dir" <<'PY' && ok || bad "a shorter context: $(tail -1 "$dir/log")"
import json, struct, sys
def places(name):
    data = open(sys.argv[1] + name, "rb").read()
    n = struct.unpack("<Q", data[:8])[0]
    t = json.loads(data[8:8 + n])["wpe.weight"]
    return t["shape"], data[8 + n:][slice(*t["data_offsets"])]
for whole, part in (("/first", "/first4"), ("/half8", "/half4")):
    (before, a), (after, b) = places(whole), places(part)
    assert (before, after) == ([8, 16], [4, 16]) and a[:len(b)] == b
PY
run small --from "$dir/first" --block 16 && bad "weights of a shorter context" || { grep -q 'wpe.weight' "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"; }
run small --from "$dir/first" --width 32 && bad "weights of another width" || { grep -q "$dir/first" "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"; }
run small --from "$dir/none" && bad "no file" || { grep -q "$dir/none: No such file" "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"; }
run small --export "$dir/no/such" && bad "no folder" || { grep -q "$dir/no/such" "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"; }

# A folder as Hugging Face's has the sizes and the vocabulary beside the weights: no option names them.
mine=(--data "$dir/text" --batch 6 --micro-batches 2 --warmup 2 --steps 10 --eval-every 10 --eval-batches 1 -q --lr 1e-4)
"$bin/generate" -r "$dir/whole" --export "$dir/folder/" >/dev/null && cmp "$dir/last" "$dir/folder/model.safetensors" && cmp "$dir"/{whole,folder}/vocab.bpe && ok || bad "--export DIR/"
"$bin/train_gpt2" "${mine[@]}" --from "$dir/folder" -o "$dir/tuned" >"$dir/log" 2>&1 && cmp "$dir"/{more,tuned}/step-10/model-00001-of-00001.safetensors && ok || bad "--from DIR: $(tail -1 "$dir/log")"
# A size that is not the folder's would leave layers out, or divide the width among other heads, without a word.
for size in "layers 1 n_layer" "layers 3 n_layer" "heads 1 n_head" "width 8 n_embd" "block 16 n_positions"; do
    read -r option value name <<<"$size"
    "$bin/train_gpt2" "${mine[@]}" --from "$dir/folder" --"$option" "$value" -o "$dir/other" >"$dir/log" 2>&1 && bad "--$option $value" ||
        { grep -q "folder/config.json: $name is [0-9]*, so that --$option cannot be $value: " "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"; }
done
"$bin/generate" -r "$dir/folder" --weights "$dir/folder" -n 40 >"$dir/a" 2>/dev/null && "$bin/generate" -r "$dir/whole" -n 40 2>/dev/null | cmp - "$dir/a" && ok || bad "--weights DIR"
# Of byte pairs it has merges.txt and vocab.json, with GPT-2's ids.
for word in '"quoted"' 'back\slash' 'naïve'; do for i in {1..60}; do echo "line $i: $word"; done; done >"$dir/words"
"$bin/tokenize" -q -t 300 -s "$dir/bpe" -o "$dir/words.tokens" "$dir/words" && "$bin/train_gpt2" "${mine[@]}" --data "$dir/words.tokens" --vocab "$dir/bpe" --layers 1 --heads 1 --width 8 --block 8 --export "$dir/pairs/" -o "$dir/bpe" >"$dir/log" 2>&1 &&
    python3 - "$dir/pairs" <<'PY' && cmp <(tail -n +2 "$dir/pairs/merges.txt") <(tail -n +2 "$dir/bpe/vocab.bpe") && ok || bad "merges.txt and vocab.json: $(tail -1 "$dir/log")"
import json, struct, sys
folder = sys.argv[1]
config, vocab = json.load(open(folder + "/config.json")), json.load(open(folder + "/vocab.json"))
merges = [line.split() for line in open(folder + "/merges.txt", encoding="utf-8").read().splitlines()[1:]]
data = open(folder + "/model.safetensors", "rb")
shapes = {name: t["shape"] for name, t in json.loads(data.read(struct.unpack("<Q", data.read(8))[0])).items() if name != "__metadata__"}
assert (config["n_layer"], config["n_head"], config["n_embd"], config["n_positions"]) == (1, 1, 8, 8), config
assert shapes["wte.weight"] == [config["vocab_size"], 8] and shapes["wpe.weight"] == [8, 8] and "h.0.attn.c_attn.weight" in shapes
assert sorted(vocab.values()) == list(range(300)) and vocab["<|endoftext|>"] == 299 == config["eos_token_id"]
assert all(vocab[a + b] == 256 + i for i, (a, b) in enumerate(merges)) and '"' in vocab and "\\" in vocab
PY
# Another vocabulary of the same size would train without a word, from a loss near that of random weights; the same one goes on.
tune() { "$bin/train_gpt2" "${mine[@]}" --data "$dir/$1.tokens" --vocab "$dir/$1" --from "$dir/pairs" -o "$dir/on" --overwrite >"$dir/log" 2>&1; }
sed 's/line/item/; s/quoted/another/' "$dir/words" >"$dir/items"
"$bin/tokenize" -q -t 300 -s "$dir/other" -o "$dir/other.tokens" "$dir/items" && cp "$dir/words.tokens" "$dir/bpe.tokens" && tune bpe && ok || bad "the same vocabulary: $(tail -1 "$dir/log")"
tune other && bad "another vocabulary of the same size" || { grep -q "pairs has another vocabulary than the data (token 2[0-9]* differs): encode" "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"; }
wrong() { printf '%s\n' "$1" >"$dir/folder/config.json"; "$bin/train_gpt2" "${mine[@]}" --from "$dir/folder" -o "$dir/wrong" >"$dir/log" 2>&1 && bad "$2" || { grep -qF -- "$2" "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"; }; }
wrong '{"model_type": "llama"}' 'only gpt2 with gelu_new can be read'
wrong '{"model_type": "gpt2", "n_layer": 2}' 'config.json: n_head is not a size'
wrong '{"model_type": "gpt2", "n_layer": 3, "n_head": 2, "n_embd": 16, "n_positions": 8}' 'h.2'
wrong '{"model_type": "gpt2", ' 'config.json: no JSON'
rm "$dir/folder/config.json"; "$bin/train_gpt2" "${mine[@]}" --from "$dir/folder" -o "$dir/wrong" >"$dir/log" 2>&1 && bad "without config.json" || { grep -q 'config.json: No such file' "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"; }

# The order: a line for each micro-batch, windows of the training part, the same for any number of ranks.
tokens=$(sed -n 's/.*: [0-9]* tokens, \([0-9]*\) of them to learn from/\1/p' <("$bin/train_gpt2" "${flags[@]}" --plan))
[ "$(head -1 "$dir/order")" = step,micro_batch,window_1,window_2,window_3,window_4,window_5,window_6 ] && ok || bad "names: $(head -1 "$dir/order")"
awk -F, -v most=$((tokens - 8)) 'NR > 1 { n++; bad += $1 != int((n + 1) / 2) || $2 != (n - 1) % 2 + 1 || NF != 8; for (i = 3; i <= NF; i++) bad += $i < 0 || $i >= most }
    END { exit n != 20 || bad > 0 }' "$dir/order" && ok || bad "lines: $(head -3 "$dir/order")"
cmp -s "$dir/order" "$dir/order3" && bad "another seed has the same order" || ok
run list --ranks 3 --list-batches "$dir/order4" && cmp "$dir/order" "$dir/order4" && ok || bad "another order on three ranks"
finish train_from

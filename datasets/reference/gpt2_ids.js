#!/usr/bin/env node
// gpt2_ids.js -- writes gpt2_ids.dump: nasty texts and their GPT-2 ids by three tokenizers that are not ours.
//
//     npm install --prefix /tmp/peers tiktoken@1.0.22 gpt-tokenizer@4.0.0 gpt-3-encoder@1.1.4
//     NODE_PATH=/tmp/peers/node_modules node datasets/reference/gpt2_ids.js > datasets/reference/gpt2_ids.dump
//
// tiktoken is OpenAI's own (Rust), gpt-tokenizer and gpt-3-encoder are JavaScript. All must agree, with two exceptions: the last
// is left out of the long texts, which take it hours, and both of JavaScript out of texts with U+0085 or U+FEFF, for there
// JavaScript's \s is not Unicode's White_Space. The strings are drawn by a generator with a fixed seed.
'use strict';
const { get_encoding } = require('tiktoken');
const gptTokenizer = require('gpt-tokenizer/encoding/r50k_base');
const gpt3 = require('gpt-3-encoder');

let state = 20261121;
const below = (n) => (state = (Math.imul(state, 1103515245) + 12345) >>> 0, Math.floor((state / 2 ** 32) * n));
const pick = (list) => list[below(list.length)];
const times = (n, make) => Array.from({ length: n }, make).join('');
const from = (first, last) => () => String.fromCodePoint(first + below(last - first + 1));

const alphabets = [
  from(0x20, 0x7e), from(0x00, 0x1f), from(0x7f, 0x9f), from(0xa0, 0x24f), // ASCII, controls, Latin
  from(0x300, 0x36f), from(0x370, 0x4ff), from(0x590, 0x6ff), from(0x900, 0xdff), // marks, Greek, Hebrew, Arabic, Indic
  from(0x660, 0x669), from(0x966, 0x96f), from(0x2150, 0x218b), from(0x1d7ce, 0x1d7ff), // numbers
  from(0x2000, 0x206f), from(0x3000, 0x30ff), from(0x4e00, 0x9fff), from(0xac00, 0xd7a3), // spaces, kana, Han, Hangul
  from(0xfe00, 0xfe0f), from(0x1f300, 0x1faff), from(0x20000, 0x2a6df), from(0xe000, 0xf8ff), // variants, emoji, private
  () => pick(['\u200d', '\u00a0', '\u1680', '\u202f', '\u205f', '\u3000', '\ufffd', '\ufeff', '\u0085']),
  () => pick(["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'RE", "'", "''", "\u2019s", "'l", "'v", " 'd"]),
  () => pick([' ', '  ', '   ', '\n', '\n\n', '\t', ' \n', '\n ', '\r\n', '\v\f']),
  () => pick(['the', ' the', 'The', ' and', 'ing', ' 2019', '1', ' 10', '!!!', ' ...', '--', '<|endoftext|>']),
];

const texts = [
  '', ' ', '  ', '\n', "'", "'s", "I'll've said she'd've, they're, it's I'm don't WE'RE IT'S I'LL",
  'Hello, world!  Two  spaces,   three, end   ', ' lead', '\n\n\nlines\n \n  x', "a'b c'd e's' 's'ss 'sss",
  '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466} \u{1f1e9}\u{1f1ea}\u{1f3f4}\u{e0067}\u{e007f} \u2764\ufe0f',
  'e\u0301 n\u0303o \u0928\u093f Z\u0351\u036b\u0343A\u0334\u0315LGO', '\u4e2d\u6587\uff0c\u65e5\u672c\u8a9e\u3002\ud55c\uad6d\uc5b4',
  '\u0660\u0661\u0662 \u0967\u0968 \u00b2\u00bd \u2167 \u3231 \u{1d7d8}1a2b3', '\u0000\u0001\u0002\u001f\u007f\u0080\u0085\u00ad',
  '<|endoftext|>', 'a<|endoftext|>\n', 'Iñtërnâtiônàlizætiøn\u2603\u{1f4a9}', '\ufeffBOM and \ufffd',
  ' '.repeat(1500) + 'x', '\n'.repeat(1000), 'a'.repeat(2000), '='.repeat(777) + 'A'.repeat(778) + '0'.repeat(779),
  times(1500, from(0x61, 0x7a)), times(700, from(0x4e00, 0x9fff)), ' \t'.repeat(500) + '.',
];
for (let i = 0; i < 500; i++) {
  const own = Array.from({ length: 1 + below(4) }, () => pick(alphabets));
  texts.push(times(below(60), () => pick(own)()));
}

const openai = get_encoding('gpt2');
const encode = (text) => {
  const ids = Array.from(openai.encode(text, [], []));
  const others = [];
  if (!/[\u0085\ufeff]/.test(text)) {
    others.push(gptTokenizer.encode(text, { disallowedSpecial: new Set() }));
    if (text.length < 500) others.push(gpt3.encode(text));
  }
  return { ids, agreed: others.every((o) => JSON.stringify(o) === JSON.stringify(ids)) };
};
const kept = texts.map((text) => ({ text: Buffer.from(text), ...encode(text) }));
const lost = kept.filter((k) => !k.agreed);
lost.forEach((k) => console.error('differ:', JSON.stringify(k.text.toString())));
if (lost.length) process.exit(1);

const starts = (parts) => {
  const out = new BigInt64Array(parts.length + 1);
  parts.forEach((p, i) => { out[i + 1] = out[i] + BigInt(p.length); });
  return out;
};
const text = Buffer.concat(kept.map((k) => k.text));
const ids = Int32Array.from(kept.flatMap((k) => k.ids));
const bytes = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);
process.stdout.write(`minitorch dump 1
# datasets/reference/gpt2_ids.js: GPT-2 ids by tiktoken 1.0.22, gpt-tokenizer 4.0.0, gpt-3-encoder 1.1.4; seed 20261121
text_start i64 ${kept.length + 1}
ids_start i64 ${kept.length + 1}
ids i32 ${ids.length}
text u8 ${text.length}

`);
process.stdout.write(Buffer.concat([bytes(starts(kept.map((k) => k.text))), bytes(starts(kept.map((k) => k.ids))), bytes(ids), text]));

#!/usr/bin/env node
// tokenizer.js PACKAGE TEXT ROUNDS [IDS] -- seconds of the fastest of ROUNDS passes of an npm package's GPT-2 tokenizer over a text;
// with IDS its ids are written there, two bytes each. Ends with status 2 when the package is not there (NODE_PATH).
'use strict';
const fs = require('fs');
const [, , name, path, rounds, out] = process.argv;
const load = {
  'gpt-tokenizer': () => {
    const t = require('gpt-tokenizer/encoding/r50k_base');
    return (text) => t.encode(text, { disallowedSpecial: new Set() });
  },
  tiktoken: () => {
    const t = require('tiktoken').get_encoding('gpt2');
    return (text) => t.encode(text, [], []);
  },
};
let encode;
try {
  encode = load[name]();
} catch {
  process.exit(2);
}
const text = fs.readFileSync(path, 'utf8');
let best = Infinity, ids;
for (let i = 0; i < Number(rounds); i++) {
  const begin = process.hrtime.bigint();
  ids = encode(text);
  best = Math.min(best, Number(process.hrtime.bigint() - begin) * 1e-9);
}
if (out) fs.writeFileSync(out, Buffer.from(Uint16Array.from(ids).buffer));
console.log(`${ids.length} ${best.toFixed(4)}`);

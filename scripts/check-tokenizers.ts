/**
 * Compares the tokenizer with Hugging Face's own Rust library, text by text: ids, tokens, offsets, words and type ids.
 *
 * npm install --prefix FOLDER tokenizers@0.23.2
 * npx tsx scripts/check-tokenizers.ts --native FOLDER [--texts 10000] [--only NAME] [--write]
 *
 * --write puts the answers for a few hundred texts into src/tokenizers/goldens.json, which the tests read.
 */
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { randomTexts } from "./check-tokenizers/random-texts.ts";
import { type Case, cases } from "./check-tokenizers/cases.ts";
import { type NativeLibrary, nativeAnswer, oursAnswer, tokenizerOver } from "./check-tokenizers/answers.ts";

const { values } = parseArgs({
  options: {
    native: { type: "string" },
    texts: { type: "string", default: "10000" },
    only: { type: "string" },
    write: { type: "boolean", default: false },
  },
});
if (values.native === undefined) throw new Error("give --native, the folder with node_modules/tokenizers");

const library = createRequire(join(resolve(values.native), "package.json"))("tokenizers") as NativeLibrary;
const count = Number(values.texts);
const goldens: unknown[] = [];
let different = 0;
for (const one of cases()) {
  if (values.only !== undefined && !one.name.includes(values.only)) continue;
  different += await check(one);
}
if (values.write) {
  writeFileSync(
    new URL("../src/tokenizers/goldens.json", import.meta.url),
    `[\n${goldens.map((golden) => JSON.stringify(golden)).join(",\n")}\n]\n`,
  );
}
process.stdout.write(different === 0 ? "all equal\n" : `${different} texts differ\n`);
process.exitCode = different === 0 ? 0 : 1;

async function check({
  name,
  json,
  special = [],
  goldenTexts = 12,
  file,
  decodes = true,
  startsVisibly = false,
}: Case): Promise<number> {
  const native = library.Tokenizer.fromString(JSON.stringify({ ...json, truncation: null, padding: null }));
  const ours = tokenizerOver(json);
  const texts = randomTexts(name, count, special).map((text) =>
    startsVisibly ? text.replaceAll(/(?<=^|>)[\p{Cc}\p{Cf}]+/gu, "") : text,
  );
  let differing = 0;
  const started = performance.now();
  const answers: unknown[] = [];
  for (const [index, text] of texts.entries()) {
    const pair = index % 10 === 9 ? texts[index - 1] : undefined;
    const expected = await nativeAnswer(native, text, pair);
    const actual = oursAnswer(ours, text, pair);
    if (!decodes) actual.decoded = expected.decoded;
    if (values.write && index < goldenTexts) answers.push([text, pair ?? null, expected.ids, expected.offsets]);
    if (JSON.stringify(expected) === JSON.stringify(actual)) continue;
    if (differing++ < 3) {
      process.stdout.write(`${name}: ${JSON.stringify(text)}${pair === undefined ? "" : ` + ${JSON.stringify(pair)}`}\n`);
      process.stdout.write(`  native ${JSON.stringify(expected)}\n  ours   ${JSON.stringify(actual)}\n`);
    }
  }
  goldens.push({ name, ...(file === undefined ? { json } : { file }), texts: answers });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(`${name}: ${texts.length - differing} of ${texts.length} equal (${seconds} s)\n`);
  return differing;
}

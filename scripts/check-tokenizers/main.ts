/**
 * Compares the tokenizer with Hugging Face's own Rust library, text by text: ids, tokens, offsets, words and type ids.
 *
 * npm install --prefix FOLDER tokenizers@0.23.2
 * npx tsx scripts/check-tokenizers/main.ts --native FOLDER [--texts 10000] [--only NAME] [--write]
 *
 * --write puts the answers for a few hundred texts into src/tokenizers/goldens.jsonl, which the tests read.
 */
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { randomTexts } from "./random-texts.ts";
import { type Case, cases } from "./cases.ts";
import { type NativeLibrary, nativeAnswer, oursAnswer, tokenizerOver } from "./answers.ts";
import { cuttingOf, nativeWindows, oursWindows, truncationOf } from "./windows.ts";

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
  different += (await check(one)) + (one.file === undefined ? 0 : await checkWindows(one));
}
if (values.write) {
  const lines = goldens.map((golden) => `${JSON.stringify(golden)}\n`).join("");
  writeFileSync(new URL("../../src/tokenizers/goldens.jsonl", import.meta.url), lines);
}
process.stdout.write(different === 0 ? "all equal\n" : `${different} texts differ\n`);
process.exitCode = different === 0 ? 0 : 1;

async function check({
  name,
  json,
  special = [],
  goldenTexts = 12,
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
  goldens.push({ name, texts: answers });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(`${name}: ${texts.length - differing} of ${texts.length} equal (${seconds} s)\n`);
  return differing;
}

/** The same for texts and pairs cut into windows. */
async function checkWindows({ name, json, special = [], startsVisibly = false }: Case): Promise<number> {
  const ours = tokenizerOver(json);
  const texts = randomTexts(`${name} cut`, Math.ceil(count / 20), special).filter(
    (text) => !startsVisibly || !/[\p{Cc}\p{Cf}]/u.test(text),
  );
  let differing = 0;
  for (const [index, text] of texts.entries()) {
    const pair = index % 2 === 1 ? texts[index - 1] : undefined;
    const cutting = cuttingOf(index, pair !== undefined);
    const actual = oursWindows(ours, text, pair, cutting);
    // What we refuse is not asked: a stride too long for a window aborts the Rust library's process.
    if (actual.length === 0) continue;
    // 0.23 shares an odd room by lengths it has already cut itself, so it is asked about pairs only where one text is cut alone.
    if (pair !== undefined && cutting.strategy === "longest_first") continue;
    const native = library.Tokenizer.fromString(JSON.stringify({ ...json, ...truncationOf(cutting), padding: null }));
    const expected = await nativeWindows(native, text, pair);
    // 0.23 reads a text no further than about the first windows and drops the rest of its last one; ours go on to the text's end.
    const sure = pair === undefined ? Math.max(1, expected.length - 1) : 1;
    if (JSON.stringify(expected.slice(0, sure)) === JSON.stringify(actual.slice(0, sure))) continue;
    if (differing++ < 3)
      process.stdout.write(
        `${name} ${JSON.stringify({ text, pair, cutting })}\n  native ${JSON.stringify(expected)}\n  ours   ${JSON.stringify(actual)}\n`,
      );
  }
  process.stdout.write(`${name}, cut: ${texts.length - differing} of ${texts.length} equal\n`);
  return differing;
}

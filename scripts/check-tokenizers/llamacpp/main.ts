/**
 * Compares the ways to split text before byte-level BPE with llama.cpp's, through node-llama-cpp: token ids, text by text.
 *
 * npx tsx scripts/check-tokenizers/llamacpp/main.ts [--texts 300] [--only NAME] [--write]
 *
 * --write puts digests of llama.cpp's answers into goldens.json beside this file, which the tests read.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { LlamaLogLevel, getLlama } from "node-llama-cpp";
import { ggufParts } from "../../../src/formats/gguf/write-gguf.ts";
import { digestOf, idsOf, splitNames, splitTexts, vocabularyMetadata, withSplit } from "./splits.ts";

const { values } = parseArgs({
  options: { texts: { type: "string", default: "300" }, only: { type: "string" }, write: { type: "boolean", default: false } },
});
const texts = splitTexts(Number(values.texts));
const metadata = await vocabularyMetadata();
const llama = await getLlama({ gpu: false, build: "never", logLevel: LlamaLogLevel.disabled });
const root = mkdtempSync(join(tmpdir(), "splits-"));
const file = new URL("goldens.json", import.meta.url);
const goldens: Record<string, string> =
  values.only === undefined ? {} : (JSON.parse(readFileSync(file, "utf8")) as Record<string, string>);
let different = 0;
try {
  for (const name of splitNames) {
    if (values.only !== undefined && name !== values.only) continue;
    const changed = withSplit(metadata, name);
    const path = join(root, "vocabulary.gguf");
    writeFileSync(path, Buffer.concat([...ggufParts(changed, [])]));
    const model = await llama.loadModel({ modelPath: path, vocabOnly: true });
    const expected = texts.map((text) => [...model.tokenize(text, false, "trimLeadingSpace")].map(Number));
    await model.dispose();
    goldens[name] = digestOf(expected);
    const actual = idsOf(changed, texts);
    const differing = texts.flatMap((text, index) =>
      actual[index]?.join() === expected[index]?.join() ? [] : [{ text, index }],
    );
    for (const { text, index } of differing.slice(0, 2))
      process.stdout.write(
        `${name}: ${JSON.stringify(text)}\n  llama.cpp ${expected[index]?.join(" ")}\n  ours      ${actual[index]?.join(" ")}\n`,
      );
    process.stdout.write(`${name || "(none)"}: ${texts.length - differing.length} of ${texts.length} equal\n`);
    different += differing.length;
  }
  if (values.write) writeFileSync(file, `${JSON.stringify(goldens, undefined, 1)}\n`);
} finally {
  rmSync(root, { recursive: true, force: true });
}
process.stdout.write(different === 0 ? "all equal\n" : `${different} texts differ\n`);
process.exit(different === 0 ? 0 : 1);

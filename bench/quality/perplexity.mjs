/**
 * Perplexity of GGUF models on the engines that run them: exp of the mean negative log likelihood of each token of a text, given those before it.
 *
 * npm run eval:perplexity -- [FILE.gguf]... [--text FILE] [--json]
 *
 * Without a file: tinyllm of the shared data, and what `inferyard quantize` makes of it. The default text is a story in words that tinyllm knows. A text longer
 * than the model's context is read in pieces that begin with the first special tokens. Ends with 1 if two engines differ by more than 0.5 %.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createRuntime } from "../measuring/built-package.mjs";
import { llamacpp } from "inferyard/backends/llamacpp";
import { native } from "inferyard/backends/native";
import { loadTokenizer } from "../../src/tokenizers/index.ts";
import { sharedPath } from "../measuring/shared-data.mjs";
import { formatTable } from "../measuring/table.mjs";

const maxDifference = 0.005;
const story =
  "Once upon a time, there was a little dog named Max. Max liked to run in the park with his friend Lily. One day, they saw a big red ball " +
  'under a tree. Lily wanted to play with the ball, but it was too high. Max was very happy and jumped up and down. He said, "Let us ask mom for help!" ' +
  "Mom came and gave the ball to Lily. They played all day and had a lot of fun. At the end of the day, they went home and were very tired.";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { text: { type: "string" }, json: { type: "boolean", default: false } },
});
const { INIT_CWD: directory } = process.env;
if (directory !== undefined) process.chdir(directory);
const text = values.text === undefined ? story : readFileSync(values.text, "utf8");
const folder = mkdtempSync(join(tmpdir(), "inferyard-perplexity-"));
try {
  const files = positionals.length > 0 ? positionals.map((file) => resolve(file)) : quantizedTinyllm();
  const rows = [];
  for (const file of files) rows.push({ file: basename(file), ...(await perplexities(file)) });
  const differs = rows.some(({ llamacpp: left, native: right }) => Math.abs(left - right) / right > maxDifference);
  console.log(values.json ? JSON.stringify({ tokens: text.length, models: rows }) : table(rows));
  process.exitCode = differs ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true });
}

function table(rows) {
  const cells = rows.map(({ file, native: own, llamacpp: other }) => {
    const difference = other === undefined ? "" : `${(100 * (other / own - 1)).toFixed(2)} %`;
    return [file, own.toFixed(3), other?.toFixed(3) ?? "cannot read it", difference];
  });
  return formatTable(["model", "native", "llamacpp", "difference"], cells);
}

function quantizedTinyllm() {
  const source = sharedPath("tinyllm/tinyllm.gguf");
  const program = fileURLToPath(new URL("../../bin/inferyard.js", import.meta.url));
  const made = ["q8_0", "q4_0", "q4_k", "tq2_0", "i2_s"].map((type) => {
    const path = join(folder, `tinyllm-${type}.gguf`);
    execFileSync(process.execPath, [program, "quantize", source, "--to", type, "--out", path]);
    return path;
  });
  return [source, ...made];
}

async function perplexities(file) {
  const runtime = await createRuntime();
  try {
    const manifest = await runtime.manifest(file);
    const tokenizer = await loadTokenizer(manifest.text);
    const ids = [...tokenizer.encode(text).ids];
    const found = {};
    for (const [name, backend] of Object.entries({ native: native(), llamacpp: llamacpp() })) {
      try {
        const model = await backend.loadLanguage(manifest.variants[0], { type: "cpu", index: 0 }, { threads: 1 });
        found[name] = await perplexity(model, ids, [...tokenizer.frame.prefix]);
        await model.dispose();
      } catch (error) {
        if (error.code !== "LOAD_FAILED" && error.code !== "MODEL_UNSUPPORTED") throw error;
      }
    }
    return found;
  } finally {
    await runtime.dispose();
  }
}

async function perplexity(model, ids, prefix) {
  const { contextLength = ids.length, vocabulary } = model.limits;
  const own = ids.slice(prefix.length);
  const step = contextLength - prefix.length;
  let [loss, count] = [0, 0];
  for (let start = 0; start < own.length; start += step) {
    const tokens = [...prefix, ...own.slice(start, start + step)];
    const sequence = await model.createSequence();
    const [logits] = await model.decode([{ sequence, tokens, logits: tokens.length }]);
    for (let position = 0; position + 1 < tokens.length; position += 1) {
      const row = logits.subarray(position * vocabulary, (position + 1) * vocabulary);
      const highest = row.reduce((a, b) => Math.max(a, b));
      const total = row.reduce((sum, value) => sum + Math.exp(value - highest), 0);
      loss -= row[tokens[position + 1]] - highest - Math.log(total);
      count += 1;
    }
    await model.releaseSequence(sequence);
  }
  return Math.exp(loss / count);
}

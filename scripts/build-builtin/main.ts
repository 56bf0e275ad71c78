/**
 * Makes `builtin/`, the model that comes with the package:
 *
 *     npx tsx scripts/build-builtin/main.ts [--output builtin] [--bits 4] [--dimensions 256]
 *
 * It needs shared/data beside the repository and takes about four minutes on two cores. The order of the text is seeded, so a
 * machine makes the same model each time; another kind of CPU rounds the teacher's vectors differently in their last digits.
 */
import { createHash } from "node:crypto";
import { readFile, readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { distill } from "../../src/distillation/distill.ts";
import type { Matrix } from "../../src/distillation/matrix.ts";
import type { Teacher } from "../../src/distillation/teacher.ts";
import { readPairs, spearman } from "./stsb.ts";
import type { Pair } from "./stsb.ts";
import { minilm } from "./teacher.ts";
import { readSources } from "./text.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const data = join(repository, "..", "shared", "data");
const shipped = join(repository, "builtin");
/** Bytes the folder may have when it goes into the package. */
const largestSize = 4_500_000;

const { values: flags } = parseArgs({
  options: {
    output: { type: "string", default: shipped },
    bits: { type: "string", default: "4" },
    dimensions: { type: "string", default: "256" },
  },
});

const folder = join(data, "all-MiniLM-L6-v2");
const teacher = await minilm(folder);
const sources = await readSources(join(data, "eval"));
const test = await readPairs(join(data, "eval/stsb/stsb-en-test.csv"));
const dev = await readPairs(join(data, "eval/stsb/stsb-en-dev.csv"));
for (const { name, license, sentences } of sources)
  say(`${String(sentences.length).padStart(6)} sentences: ${name} (${license})`);

const report = await distill(teacher, {
  output: flags.output,
  replace: true,
  name: "builtin",
  bits: flags.bits === "8" ? 8 : 4,
  dimensions: Number(flags.dimensions),
  text: sources.flatMap(({ sentences }) => sentences),
  license: "Apache-2.0",
  provenance: {
    teacher: {
      model: teacher.reference,
      license: "Apache-2.0",
      file: "onnx/model.onnx",
      sha256: createHash("sha256")
        .update(await readFile(join(folder, "onnx/model.onnx")))
        .digest("hex"),
    },
    text: sources.map(({ name, license, url, sentences }) => ({ name, license, url, sentences: sentences.length })),
    command: ["npx tsx", relative(repository, fileURLToPath(import.meta.url)), ...process.argv.slice(2)].join(" "),
    date: new Date().toISOString().slice(0, 10),
  },
  notices: [join(folder, "LICENSE"), join(repository, "scripts/build-builtin/NOTICE")],
  onProgress: showProgress(),
  inspect(stage, rows) {
    const figures = { test: round(evaluate(teacher, rows, test)), dev: round(evaluate(teacher, rows, dev)) };
    say(`STS-B Spearman after ${stage}: test ${figures.test}, dev ${figures.dev}`);
    return stage === "quantize" ? { stsbEnglishSpearman: figures } : undefined;
  },
});
say(JSON.stringify(report, null, 2));

const files = await readdir(flags.output);
const sizes = await Promise.all(files.map(async (file) => (await stat(join(flags.output, file))).size));
const size = sizes.reduce((sum, bytes) => sum + bytes, 0);
say(`${files.map((file, index) => `${file} ${sizes[index]}`).join(", ")}: ${size} bytes`);
if (flags.output === shipped && size > largestSize)
  throw new Error(`${flags.output} has ${size} bytes, and at most ${largestSize} are allowed`);

/** Cosines of the pairs against the scores people gave. */
function evaluate(teacher: Teacher, rows: Matrix, pairs: readonly Pair[]): number {
  const embed = (text: string): Float64Array => {
    const sum = new Float64Array(rows.columns);
    for (const id of teacher.tokenize(text)) {
      if (id === teacher.unknownTokenId) continue;
      for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (rows.data[id * sum.length + i] ?? 0);
    }
    return sum;
  };
  const cosines = pairs.map(({ a, b }) => {
    const [x, y] = [embed(a), embed(b)];
    return dot(x, y) / Math.sqrt(dot(x, x) * dot(y, y));
  });
  return spearman(
    cosines,
    pairs.map(({ score }) => score),
  );
}

function dot(x: Float64Array, y: Float64Array): number {
  return x.reduce((sum, value, index) => sum + value * (y[index] ?? 0), 0);
}

/** A line for each stage, and one every ten seconds within it. */
function showProgress(): (progress: { stage: string; done: number; total: number; loss?: number }) => void {
  let shown = "";
  let last = 0;
  return ({ stage, done, total, loss }) => {
    if (stage === shown && performance.now() - last < 10_000) return;
    shown = stage;
    last = performance.now();
    say(`${stage} ${done}/${total}${loss === undefined ? "" : `, loss ${loss.toFixed(5)}`}`);
  };
}

function round(value: number): number {
  return Number(value.toFixed(4));
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

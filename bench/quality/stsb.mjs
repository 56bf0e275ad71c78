// STS-B English: Spearman correlation of the cosines with what people said. Run with `npm run eval:stsb`; `-- --dev` takes the dev set,
// `-- --target native` asks for a target (the built-in model has one alone, and keeps it).
import { createRuntime } from "../measuring/built-package.mjs";
import { readOptions } from "../measuring/options.mjs";
import { miniLm } from "../measuring/shared-data.mjs";
import { cosine, spearman } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";
import { readPairs } from "../measuring/texts.mjs";

// Bounds hold for the test set. MiniLM's figures are sentence-transformers' and onnxruntime's own (shared data, README); int8 depends a
// little on how texts are batched, because its activations are scaled per batch.
const contestants = [
  { name: "MiniLM fp32", model: miniLm, variant: "fp32", expected: 0.820325, tolerance: 1e-4 },
  { name: "MiniLM int8", model: miniLm, variant: "int8", expected: 0.820603, tolerance: 5e-3 },
  { name: "builtin", model: "builtin", atLeast: 0.72 },
];

const options = { dev: { type: "boolean" }, json: { type: "boolean" }, target: { type: "string" } };
const { dev = false, json = false, target: asked } = readOptions(options);
const split = dev ? "dev" : "test";
const pairs = readPairs(split);
const runtime = await createRuntime();
const results = [];
for (const contestant of contestants) results.push(await evaluate(contestant));
await runtime.dispose();

if (json) console.log(JSON.stringify({ dataset: `STS-B English ${split}`, pairs: pairs.length, results }, null, 2));
else printTable();
process.exitCode = results.every(({ verdict }) => verdict === "ok" || verdict === "no bound") ? 0 : 1;

async function evaluate(contestant) {
  const { name, model, variant } = contestant;
  try {
    const wish = model === "builtin" || asked === undefined ? {} : { target: asked };
    const handle = await runtime.load(model, { ...wish, ...(variant === undefined ? {} : { variant }) });
    const texts = pairs.flatMap(({ first, second }) => [first, second]);
    const { embeddings, target, dimensions, milliseconds } = await runtime.embed(texts, { model: handle });
    await handle.dispose();
    await runtime.unloadIdle();
    const cosines = pairs.map((_pair, index) => cosine(embeddings[2 * index], embeddings[2 * index + 1]));
    const correlation = spearman(
      cosines,
      pairs.map(({ score }) => score),
    );
    const textsPerSecond = (texts.length / milliseconds) * 1000;
    return { name, target, dimensions, spearman: correlation, textsPerSecond, ...judge(contestant, correlation) };
  } catch (error) {
    if (error.code !== "MODEL_NOT_FOUND") throw error;
    return { name, verdict: "missing", bound: boundOf(contestant), reason: error.message };
  }
}

function judge(contestant, correlation) {
  if (dev) return { verdict: "no bound" };
  const { expected, tolerance, atLeast } = contestant;
  const holds = atLeast === undefined ? Math.abs(correlation - expected) <= tolerance : correlation >= atLeast;
  return { verdict: holds ? "ok" : "missed", bound: boundOf(contestant) };
}

function boundOf({ expected, tolerance, atLeast }) {
  return atLeast === undefined ? `${expected} +- ${tolerance}` : `at least ${atLeast}`;
}

function printTable() {
  const rows = results.map((result) => [
    result.name,
    result.spearman?.toFixed(6) ?? "-",
    result.bound ?? "",
    result.verdict,
    result.dimensions ?? "-",
    result.textsPerSecond?.toFixed(0) ?? "-",
    result.target ?? "-",
  ]);
  console.log(`STS-B English ${split}, ${pairs.length} pairs\n`);
  console.log(formatTable(["model", "Spearman", "bound", "", "dimensions", "texts/s", "target"], rows));
  for (const { name, reason } of results) if (reason !== undefined) console.log(`\n${name} is not there: ${reason}`);
}

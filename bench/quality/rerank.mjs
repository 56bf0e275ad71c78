// STS-B English test: Spearman correlation of a cross-encoder's scores with what people said. Run with `npm run eval:rerank`.
import { createRuntime } from "../measuring/built-package.mjs";
import { sharedPath } from "../measuring/shared-data.mjs";
import { spearman } from "../measuring/statistics.mjs";
import { readPairs } from "../measuring/texts.mjs";

const expected = 0.759175; // shared data/minilm-pair-scorer/README.md
const pairs = readPairs("test");
const runtime = await createRuntime();
const model = await runtime.load(sharedPath("minilm-pair-scorer"));
const scores = [];
const started = performance.now();
for (const { first, second } of pairs)
  scores.push((await runtime.rerank(first, [second], { model, raw: true })).results[0].score);
const seconds = (performance.now() - started) / 1000;
await model.dispose();
await runtime.dispose();
const found = spearman(
  scores,
  pairs.map(({ score }) => score),
);
const holds = Math.abs(found - expected) <= 1e-3;
console.log(`minilm-pair-scorer on STS-B English test, ${pairs.length} pairs one by one in ${seconds.toFixed(1)} s`);
console.log(`Spearman ${found.toFixed(6)}   bound ${expected} +- 0.001   ${holds ? "ok" : "missed"}`);
process.exitCode = holds ? 0 : 1;

// Holds the backend against the contract. Run with: node --test examples/writing-a-backend/conformance.test.mjs
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { backendCases } from "inferyard/testing";
import { linear } from "./backend.mjs";
import { makeHead } from "./make-head.mjs";

const folder = await mkdtemp(join(tmpdir(), "linear-head-"));
after(() => rm(folder, { recursive: true }));
const path = await makeHead(folder, [1, 0, 2, 0, -1, 0.5], [0.25, 1]);
const damaged = join(folder, "damaged.safetensors");
await writeFile(damaged, "this is no safetensors file");

const cases = backendCases({
  create: linear,
  device: { type: "cpu", index: 0 },
  model: { format: "safetensors", path, bytes: 32, architecture: "LinearHead", config: {} },
  inputs: { x: { dataType: "float32", shape: [2, 3], data: Float32Array.of(1, 2, 3, 4, 5, 6) } },
  expected: { y: { dataType: "float32", shape: [2, 2], data: Float32Array.of(7.25, 0.5, 16.25, -1) } },
  damaged: { format: "safetensors", path: damaged, bytes: 27, config: {} },
});
for (const { name, run } of cases) test(name, run);

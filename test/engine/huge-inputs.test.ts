/** Models whose inputs state a shape of terabytes: no engine is asked to run them, and none allocates for them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRuntime } from "../../src/api/create-runtime.ts";
import { InferyardError } from "../../src/contract/errors.ts";
import type { Runtime } from "../../src/api/runtime.ts";
import { model, node, value } from "../fixtures/models/onnx-bytes.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-huge-"));
let runtime: Runtime;
beforeAll(async () => (runtime = await createRuntime()));
afterAll(async () => {
  await runtime.dispose();
  rmSync(folder, { recursive: true });
});

it.each(
  [[2 ** 40], [2 ** 30, 2 ** 30], [2 ** 53 - 1], [1, 2 ** 31]].flatMap((shape) =>
    ["native", "onnx:cpu", "wasm"].map((target) => [shape, target] as const),
  ),
)("an input of %j on %s", async (shape, target) => {
  const path = join(folder, "model.onnx");
  const graph = [node({ operator: "Relu", inputs: ["x"], outputs: ["y"] }), value(11, "x", 1, shape), value(12, "y", 1, shape)];
  const before = process.memoryUsage.rss();
  writeFileSync(path, model({ opsets: { "": 17 }, graph }));
  const error: unknown = await runtime.load(path, { target }).then(
    (handle) => handle.dispose(),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(InferyardError);
  expect((error as InferyardError).code).not.toBe("CONTRACT_VIOLATION");
  expect(process.memoryUsage.rss() - before).toBeLessThan(2 ** 30);
});

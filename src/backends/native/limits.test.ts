/** What a user may say a file and a run can take: the same model loads or runs with more, and is refused with less. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { costlyToRun, endlessInRun, hostileOnnx } from "../../../test/fixtures/hostile-onnx.ts";
import type { LoadOptions, TensorModel } from "../../contract/backend.ts";
import type { TensorMap } from "../../contract/tensor.ts";
import { native } from "./index.ts";
import { StaticModel } from "./static-model.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-limits-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function load(bytes: Buffer | undefined, options: LoadOptions): Promise<TensorModel> {
  const path = join(folder, "model.onnx");
  writeFileSync(path, bytes as Buffer);
  return await native().load({ format: "onnx", path, bytes: 0, config: {} }, { type: "cpu", index: 0 }, options);
}

const x = { dataType: "float32", shape: [1], data: Float32Array.of(1) } as const;

it("maxTraceMemory bounds what is folded, and the refusal names the operator and the limit", async () => {
  const growing = hostileOnnx["a sequence that grows without an end"];
  await expect(load(growing, { maxTraceMemory: 2 ** 24 })).rejects.toMatchObject({
    code: "MODEL_UNSUPPORTED",
    message: expect.stringMatching(/float32\[1048576\], at ConstantOfShape, and maxTraceMemory allows 16777\d{3}$/),
    data: { limit: "maxTraceMemory" },
  });
});

it("maxTraceTime ends a trace that goes on", async () => {
  await expect(load(hostileOnnx["loops in loops"], { maxTraceTime: 1 })).rejects.toMatchObject({
    code: "MODEL_UNSUPPORTED",
    message: expect.stringMatching(/longer than maxTraceTime allows, 2 milliseconds, at Identity$/),
    data: { limit: "maxTraceTime" },
  });
});

it("maxRunMemory refuses a run by what its program would compute in, before that is allocated", async () => {
  const model = await load(costlyToRun["an expanded input"], { maxRunMemory: 2 ** 20 });
  const { arrayBuffers, rss } = process.memoryUsage();
  await expect(model.run({ x })).rejects.toMatchObject({
    code: "LIMIT_EXCEEDED",
    data: { limit: 2 ** 20, estimate: expect.closeTo(2 ** 31, -4) },
  });
  expect(process.memoryUsage().arrayBuffers - arrayBuffers).toBeLessThan(2 ** 20);
  expect(process.memoryUsage().rss - rss).toBeLessThan(2 ** 28);
  await model.dispose();
});

it("a loop that does not end in a run ends when its caller leaves", async () => {
  const model = await load(endlessInRun, {});
  const leaving = new AbortController();
  const run = model.run({ x }, { signal: leaving.signal });
  setTimeout(() => leaving.abort(), 50);
  await expect(run).rejects.toMatchObject({ code: "ABORTED" });
  await model.dispose();
});

it("maxRunMemory bounds the vectors of static embeddings", async () => {
  const matrix = { rows: 4, dimensions: 256, precision: "fp32", bytes: 0, addRow: () => {} } as const;
  const model = new StaticModel({ matrix }, { name: "inferyard", version: "1" }, 2 ** 20);
  const ones = (texts: number): TensorMap[string] => ({
    dataType: "int64",
    shape: [texts, 1],
    data: new BigInt64Array(texts).fill(1n),
  });
  const run = (texts: number): Promise<TensorMap> => model.run({ input_ids: ones(texts), attention_mask: ones(texts) });
  await expect(run(1025)).rejects.toMatchObject({ code: "LIMIT_EXCEEDED", data: { estimate: 1025 * 1024, limit: 2 ** 20 } });
  expect((await run(1024))["sentence_embedding"]?.shape).toEqual([1024, 256]);
});

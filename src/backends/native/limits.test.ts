/** What a user may say a file and a run can take: the same model loads or runs with more, and is refused with less. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { costlyToRun, endlessInRun, hostileOnnx } from "../../../test/fixtures/hostile-onnx.ts";
import type { LoadOptions, TensorModel } from "../../backend.ts";
import { native } from "./index.ts";

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

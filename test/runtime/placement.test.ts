/** Where onnxruntime's profile cannot be written: a real engine, and what its decision says. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { type Runtime, createRuntime } from "inferyard";
import { tinyGraph } from "../../src/backends/onnxruntime/tiny-graph.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-unproven-"));
const model = join(folder, "model.onnx");
writeFileSync(model, Buffer.from(tinyGraph, "base64"));
afterAll(() => rmSync(folder, { recursive: true }));

const runtimes: Runtime[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.dispose()));
});

async function start(): Promise<Runtime> {
  const runtime = await createRuntime();
  runtimes.push(runtime);
  return runtime;
}

describe("without a folder for temporary files", () => {
  it("onnx:cpu is used where no target is required; the decision says that it is unproven, and why", async () => {
    vi.stubEnv("TMPDIR", "/dev/null/no-such-folder");
    const { decision } = await (await start()).load(model, { prefer: "onnx:cpu" });
    expect(decision.selected).toMatchObject({
      target: "onnx:cpu",
      unproven: expect.stringMatching(/^no folder for onnxruntime's profile can be created: ENOTDIR/),
    });
  });

  it("onnx:cpu is refused where it is required, with the remedy", async () => {
    vi.stubEnv("TMPDIR", "/dev/null/no-such-folder");
    await expect((await start()).load(model, { target: "onnx:cpu" })).rejects.toMatchObject({
      code: "BACKEND_UNAVAILABLE",
      message: expect.stringContaining("where it computed is unproven, and a required target must be proved"),
      remedy: expect.stringContaining("set TMPDIR to a folder that can be written"),
    });
  });

  it.each(["wasm:cpu", "native:cpu"])("%s needs none", async (target) => {
    vi.stubEnv("TMPDIR", "/dev/null/no-such-folder");
    const { decision } = await (await start()).load(model, { target });
    expect(decision.selected).not.toHaveProperty("unproven");
  });
});

it.each(["onnx:cpu", "wasm:cpu"])("%s computes a tiny graph with a known answer at each load", async (target) => {
  const { decision } = await (await start()).load(model, { target });
  expect(decision.selected?.evidence).toContain("ran a tiny graph with the right answer");
  expect(decision.selected).not.toHaveProperty("unproven");
});

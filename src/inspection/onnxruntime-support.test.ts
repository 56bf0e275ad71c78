import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InferenceSession } from "onnxruntime-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as write from "../../test/fixtures/models/onnx-bytes.ts";
import { needsData, sharedData } from "../../test/fixtures/shared-data.ts";
import { amount, runsAll } from "../../test/fixtures/slow.ts";
import { onnx } from "../backends/onnx/index.ts";
import { wasm } from "../backends/wasm/index.ts";
import type { BackendVerdict } from "./inspection.ts";
import { inspectFile } from "./index.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "inferyard-verdict-"))));
afterAll(async () => await rm(folder, { recursive: true, force: true }));

async function verdict(path: string, backend = "onnx"): Promise<BackendVerdict | undefined> {
  return (await inspectFile(path)).backends.find((candidate) => candidate.backend === backend);
}

/** Whether onnxruntime-node makes a session of it. */
async function loads(path: string): Promise<boolean> {
  try {
    const session = await InferenceSession.create(path, { logSeverityLevel: 4, intraOpNumThreads: 1 });
    await session.release();
    return true;
  } catch {
    return false;
  }
}

describe("what onnxruntime would say of a graph", () => {
  const abs = write.node({ operator: "Abs", inputs: ["x"], outputs: ["y"] });
  const graphOf = (node: Buffer, type: number): Buffer[] => [
    node,
    write.value(11, "x", type, [2]),
    write.value(12, "y", type, [2]),
  ];
  const own = write.node({ operator: "Own", domain: "mine", inputs: ["x"], outputs: ["y"] });

  it.each<[string, write.ModelParts, Partial<BackendVerdict>]>([
    ["an operator it runs", { opsets: { "": 17 }, graph: graphOf(abs, 1) }, { verdict: "expected" }],
    [
      "an operator set of the future",
      { opsets: { "": 27 }, graph: graphOf(abs, 1) },
      { verdict: "no", reason: "operator set ai.onnx 27, and onnxruntime 1.30.0 takes 26 at most" },
    ],
    [
      "an IR version of the future",
      { irVersion: 14, opsets: { "": 17 }, graph: graphOf(abs, 1) },
      { verdict: "no", reason: "IR version 14, and onnxruntime 1.30.0 takes 13 at most" },
    ],
    [
      "an operator of the author's own",
      { opsets: { "": 17, mine: 1 }, graph: graphOf(own, 1) },
      { verdict: "no", reason: "onnxruntime 1.30.0 does not know mine:Own", operators: ["mine:Own"] },
    ],
    ["values that JavaScript cannot hold", { opsets: { "": 17 }, graph: graphOf(abs, 16) }, { verdict: "no" }],
    [
      "an operator it knows and was not seen to run",
      { opsets: { "": 20 }, graph: graphOf(write.node({ operator: "ImageDecoder", inputs: ["x"], outputs: ["y"] }), 1) },
      { verdict: "unknown", operators: ["ai.onnx:ImageDecoder"] },
    ],
    ["a rare data type", { opsets: { "": 17 }, graph: graphOf(abs, 12) }, { verdict: "unknown" }],
    ["an operator set without kernels", { opsets: { "": 5 }, graph: graphOf(abs, 1) }, { verdict: "unknown" }],
  ])("%s", async (_name, parts, expected) => {
    const path = join(folder, "x.onnx");
    await writeFile(path, write.model(parts));
    expect(await verdict(path)).toMatchObject(expected);
    expect(await verdict(path, "wasm")).toMatchObject(expected);
    expect(expected.verdict === "unknown" || (await loads(path)) === (expected.verdict === "expected")).toBe(true);
  });
});

const [skip, name] = needsData("verdicts held against onnxruntime-node");

describe.skipIf(skip)(name, () => {
  it(`on ${amount(1289, 162)} of ONNX's own 1,289 models: none that is called impossible loads, and 98 of 100 that are expected to load do`, async () => {
    const root = `${sharedData}onnx-conformance`;
    const all = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".onnx"));
    expect(all.length).toBe(1289);
    const models = runsAll ? all : all.toSorted().filter((_, index) => index % 8 === 0);
    const counts = { expected: [0, 0], no: [0, 0], unknown: [0, 0] };
    for (const model of models) {
      const { verdict: said = "unknown" } = (await verdict(join(root, model))) ?? {};
      counts[said][(await loads(join(root, model))) ? 0 : 1]! += 1;
    }
    const [loaded = 0, failed = 0] = counts.expected;
    expect(counts.no[0]).toBe(0);
    expect(loaded / (loaded + failed)).toBeGreaterThan(0.98);
    // A rule that says nothing would be right as well.
    expect(loaded).toBeGreaterThan(amount(950, 110));
    expect(counts.no[1]).toBeGreaterThan(amount(100, 8));
  });

  it.each(["onnx", "wasm"])("%s reads weights beside the graph, as its verdict says", async (backend) => {
    const path = `${sharedData}transformer-dummies/external_data/add_with_external_data.onnx`;
    expect(existsSync(path)).toBe(true);
    expect(await verdict(path, backend)).toMatchObject({ verdict: "expected" });
    const files = { format: "onnx", path, bytes: 1000, config: {} } as const;
    const model = await (backend === "onnx" ? onnx() : wasm()).load(files, { type: "cpu", index: 0 }, { threads: 1 });
    expect(model.outputs).not.toEqual([]);
    await model.dispose();
  });
});

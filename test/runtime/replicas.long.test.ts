/** Replicas of a model on our own engine, as built: one memory for the weights, whatever happens to the threads that read them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { type ModelHandle, type Runtime, type RuntimeEvent, type TensorMap, createRuntime } from "inferyard";
import { crashing } from "./fixtures/crashing-native.mjs";
import { integer, message, model as onnx, node, value } from "../fixtures/models/onnx-bytes.ts";

const width = 256;

/** x [n, 256] times six matrices, one after the other. */
function bytesOfModel(): Buffer {
  const matrix = (name: string, step: number): Buffer => {
    const data = Float32Array.from({ length: width * width }, (_, index) => (((index * step) % 29) / 29 - 0.5) / 5);
    return message(
      5,
      integer(1, width),
      integer(1, width),
      integer(2, 1),
      message(8, name),
      message(9, Buffer.from(data.buffer)),
    );
  };
  const layers = [1, 2, 3, 4, 5, 6];
  const graph = [
    value(11, "x0", 1, ["n", width]),
    ...layers.map((layer) => matrix(`w${layer}`, 5 + 2 * layer)),
    ...layers.map((layer) => node({ operator: "MatMul", inputs: [`x${layer - 1}`, `w${layer}`], outputs: [`x${layer}`] })),
    value(12, "x6", 1, ["n", width]),
  ];
  return onnx({ opsets: { "": 17 }, graph });
}

const weightBytes = 6 * width * width * 4;
const folders: string[] = [];
const runtimes: Runtime[] = [];
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.dispose()));
});
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

interface Load {
  readonly threadId: number;
  /** It was given what another one had packed. */
  readonly isReplica: boolean;
  readonly bytes: number;
  readonly shares: boolean;
}

interface Scene {
  readonly runtime: Runtime;
  readonly path: string;
  readonly events: RuntimeEvent[];
  command(what: "run" | "load" | "pack"): void;
  loads(): Load[];
}

async function scene(settings: object = {}): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), "inferyard-replicas-"));
  folders.push(folder);
  const path = join(folder, "model.onnx");
  writeFileSync(path, bytesOfModel());
  await setTimeout(150); // of a file that was written just now nobody knows whether it will be written again at the same tick of its clock
  const events: RuntimeEvent[] = [];
  const onEvent = (event: RuntimeEvent): void => void events.push(event);
  const runtime = await createRuntime({
    backends: [crashing({ folder })],
    threads: 1,
    replicas: 2,
    maxCrashes: 20,
    crashWindow: "1s",
    onEvent,
    ...settings,
  });
  runtimes.push(runtime);
  return {
    runtime,
    path,
    events,
    command: (what) => writeFileSync(join(folder, what), ""),
    loads: () =>
      readFileSync(join(folder, "loads.jsonl"), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Load),
  };
}

const inputs = (rows: number): TensorMap => ({
  x0: {
    dataType: "float32",
    shape: [rows, width],
    data: Float32Array.from({ length: rows * width }, (_, index) => ((index * 13) % 31) / 31),
  },
});

async function bits(handle: ModelHandle, rows: number): Promise<string> {
  const { x6 } = await handle.run(inputs(rows));
  return Buffer.from((x6!.data as Float32Array).buffer).toString("base64");
}

/** Runs that overlap, until this many replicas were loaded. */
async function untilLoaded({ loads }: Scene, handle: ModelHandle, wanted: number): Promise<void> {
  await vi.waitFor(
    async () => {
      await Promise.all([1, 2, 3].map((rows) => bits(handle, rows)));
      expect(loads().length).toBeGreaterThanOrEqual(wanted);
    },
    { timeout: 60_000 },
  );
}

describe("replicas on threads", () => {
  it("hold no weights of their own, and give the same bits", async () => {
    const set = await scene();
    const handle = await set.runtime.load(set.path);
    const alone = await Promise.all([7, 40, 130].map((rows) => bits(handle, rows)));
    await untilLoaded(set, handle, 3);
    const [first, ...others] = set.loads();
    expect(first).toMatchObject({ isReplica: false, shares: true });
    expect(first!.bytes).toBeGreaterThan(weightBytes);
    expect(others).toEqual([expect.objectContaining({ isReplica: true }), expect.objectContaining({ isReplica: true })]);
    for (const { bytes } of others) expect(bytes).toBeLessThan(weightBytes / 10);
    const together = await Promise.all([7, 40, 130, 7, 40, 130].map((rows) => bits(handle, rows)));
    expect(together).toEqual([...alone, ...alone]);
  });

  it("that die, in the middle of taking memory or when they are loaded, leave the others as they were, and come back", async () => {
    const set = await scene();
    const handle = await set.runtime.load(set.path);
    const wanted = await bits(handle, 60);
    await untilLoaded(set, handle, 3);
    for (const [round, command] of (["run", "load", "run"] as const).entries()) {
      const before = set.loads().length;
      if (command === "load") set.command("run"); // who has died is loaded again, and dies of that
      set.command(command);
      const settled = await Promise.allSettled([0, 1, 2].map((each) => bits(handle, 300 + 50 * (3 * round + each))));
      expect(settled.some(({ status }) => status === "rejected")).toBe(true);
      await vi.waitFor(
        async () => {
          const all = await Promise.all(Array.from({ length: 6 }, () => bits(handle, 60)));
          expect(new Set(all)).toEqual(new Set([wanted]));
          expect(set.loads().length).toBeGreaterThan(before);
        },
        { timeout: 60_000 },
      );
    }
    expect(set.loads().filter(({ isReplica }) => !isReplica)).toHaveLength(1);
    expect(set.events.filter(({ type }) => type === "died").length).toBeGreaterThan(3);
  });

  it("of a model whose first thread died while it packed share the weights of the next one", async () => {
    const set = await scene();
    set.command("pack");
    await expect(set.runtime.load(set.path)).rejects.toMatchObject({ code: "HOST_DIED" });
    const handle = await set.runtime.load(set.path);
    await untilLoaded(set, handle, 3);
    expect(set.loads().map(({ isReplica }) => isReplica)).toEqual([false, true, true]);
  });

  it("in processes of their own have their own weights", async () => {
    const set = await scene({ host: "process" });
    const handle = await set.runtime.load(set.path);
    await untilLoaded(set, handle, 3);
    expect(set.loads().map(({ isReplica, shares }) => isReplica || shares)).toEqual([false, false, false]);
  });
});

/** Models' processes that hang, and loads that nobody waits for, as built: they are killed, counted and replaced, and none outlives its program. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { type ModelHandle, type Runtime, type RuntimeEvent, type TensorMap, createRuntime } from "inferyard";
import type { Backend } from "inferyard/backend";
import { childrenOf } from "../fixtures/processes/child-processes.ts";
import { endlessModel } from "../fixtures/models/endless-model.ts";
import { behaviors, failing } from "./fixtures/failing-backend.mjs";

const folder = mkdtempSync(join(tmpdir(), "inferyard-hung-"));
const model = join(folder, "model.onnx");
writeFileSync(model, endlessModel()); // the backend of most of these tests does not look into it
afterAll(() => rmSync(folder, { recursive: true }));

const runtimes: Runtime[] = [];
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.dispose({ timeout: 0 })));
  if (childrenOf(process.pid).length > 0) throw new Error("a process was left behind");
});

interface Scene {
  readonly runtime: Runtime;
  readonly events: RuntimeEvent[];
}

async function scene(backends: readonly Backend[], settings: object = {}): Promise<Scene> {
  const events: RuntimeEvent[] = [];
  const onEvent = (event: RuntimeEvent): void => void events.push(event);
  const runtime = await createRuntime({ backends, host: "process", onEvent, ...settings });
  runtimes.push(runtime);
  return { runtime, events };
}

const run = async (handle: ModelHandle, behavior: number, signal?: AbortSignal): Promise<number> => {
  const inputs: TensorMap = { x: { dataType: "float32", shape: [2], data: Float32Array.of(behavior, 0) } };
  return Number((await handle.run(inputs, signal === undefined ? {} : { signal }))["y"]?.data[1]); // how often its process has answered so far
};
const after = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe("a load that nobody waits for", () => {
  it("is killed at once: twelve impatient clients have one process at a time and leave none; a patient one gets the model", async () => {
    const gate = join(folder, "impatient");
    const { runtime, events } = await scene([failing({ onLoad: "hang", gate })]);
    let max = 0;
    for (let client = 0; client < 12; client += 1) {
      await expect(runtime.load(model, { signal: AbortSignal.timeout(100) })).rejects.toMatchObject({ code: "ABORTED" });
      max = Math.max(max, childrenOf(process.pid).length);
    }
    expect(max).toBeLessThanOrEqual(1);
    await vi.waitFor(() => expect(childrenOf(process.pid)).toEqual([]));
    writeFileSync(gate, "");
    expect(await run(await runtime.load(model), behaviors.plain)).toBe(2);
    expect(events.filter(({ type }) => type === "died")).toEqual([]); // an abort is nobody's fault
  });

  it.skipIf(process.platform !== "linux").each(["native", "wasm"] as const)(
    "is ended on a thread too where the engine is WebAssembly: %s",
    async (target) => {
      const runtime = await createRuntime({ host: "worker", maxTraceMemory: "64GiB" }); // or our own engine refuses the loop early
      runtimes.push(runtime);
      const threads = (): number => readdirSync("/proc/self/task").length;
      let before = Number.POSITIVE_INFINITY;
      for (let client = 0; client < 3; client += 1) {
        const load = runtime.load(model, { target: [target], signal: AbortSignal.timeout(1000) });
        await expect(load).rejects.toMatchObject({ code: "ABORTED" });
        await runtime.unload(model); // resolves when it is gone
        if (client === 1) before = threads(); // the first starts Node.js's own pool
      }
      await vi.waitFor(() => expect(threads()).toBeLessThanOrEqual(before));
    },
  );

  it("is killed when the runtime is disposed", async () => {
    const { runtime } = await scene([failing({ onLoad: "hang", gate: join(folder, "none") })]);
    const refused = runtime.load(model);
    refused.catch(() => {}); // expected below
    await vi.waitFor(() => expect(childrenOf(process.pid)).toHaveLength(1));
    await runtime.dispose();
    await expect(refused).rejects.toMatchObject({ code: "DISPOSED" });
    expect(childrenOf(process.pid)).toEqual([]);
  });
});

describe("loadTimeout", () => {
  it("a longer load is killed and counts as a death, and the next target is tried", async () => {
    const backends = [failing({ onLoad: "hang", gate: join(folder, "none") }), failing({ name: "wasm" })];
    const { runtime, events } = await scene(backends, { loadTimeout: "3s", priority: ["failing", "wasm"] });
    const { target, decision } = await runtime.load(model);
    expect(target).toBe("wasm:cpu");
    const reason = "the process was ended, since the model was not loaded within 3000 ms (loadTimeout)";
    expect(decision.candidates[0]).toMatchObject({ verdict: "failed", stage: "load", reason: expect.stringContaining(reason) });
    expect(events.find(({ type }) => type === "died")).toMatchObject({ target: "failing:cpu", reason, deaths: 1, hung: true });
    expect(childrenOf(process.pid)).toHaveLength(1);
  });

  it("verification is part of it", async () => {
    const { runtime } = await scene([failing({ hangsAlways: true })], { loadTimeout: "3s" });
    await expect(runtime.load(model)).rejects.toMatchObject({ code: "HOST_DIED" });
    expect(childrenOf(process.pid)).toEqual([]);
  });
});

describe("runTimeout", () => {
  it("a longer run is a hang: its process is killed and replaced, and after maxCrashes the model is left alone", async () => {
    const { runtime, events } = await scene([failing()], { runTimeout: "1s", maxCrashes: 2, crashWindow: "1h" });
    const handle = await runtime.load(model);
    const [hung, waiting] = await Promise.allSettled([run(handle, behaviors.hang), run(handle, behaviors.plain)]);
    expect(hung).toMatchObject({ reason: { code: "HOST_DIED", retryable: true, data: { hung: true } } });
    expect(waiting).toMatchObject({ reason: { code: "HOST_DIED", retryable: true } });
    expect(await run(handle, behaviors.plain)).toBe(1);
    expect(childrenOf(process.pid)).toHaveLength(1);
    await expect(run(handle, behaviors.spin)).rejects.toMatchObject({ code: "HOST_DIED" });
    await expect(run(handle, behaviors.plain)).rejects.toMatchObject({ code: "CIRCUIT_OPEN" });
    expect(events.filter(({ type }) => type === "died")).toMatchObject([
      { hung: true, crashLoop: false, reason: expect.stringContaining("a run has taken longer than 1000 ms (runTimeout)") },
      { hung: true, crashLoop: true },
    ]);
  });
});

describe("the end of a runtime", () => {
  it.each([["hang"], ["spin"]] as const)("does not wait for a run that nobody waits for: %s", async (behavior) => {
    const { runtime } = await scene([failing()]);
    const handle = await runtime.load(model);
    await expect(run(handle, behaviors[behavior], AbortSignal.timeout(300))).rejects.toMatchObject({ code: "ABORTED" });
    await runtime.dispose();
    expect(childrenOf(process.pid)).toEqual([]);
  });

  it("waits for one that has a caller as long as `timeout` says, then cuts it off", async () => {
    const { runtime } = await scene([failing({ blockMs: 1500 })]);
    const [finite, endless] = await Promise.all([runtime.load(model), runtime.load(model, { threads: 1 })]);
    const runs = Promise.allSettled([run(finite, behaviors.block), run(endless, behaviors.hang)]);
    await after(100);
    await runtime.dispose({ timeout: "5s" });
    expect(await runs).toMatchObject([{ value: 2 }, { reason: { code: "DISPOSED" } }]);
    expect(childrenOf(process.pid)).toEqual([]);
  });

  it("ends processes that are stopped, all at the same time", async () => {
    const { runtime } = await scene([failing()]);
    await Promise.all([1, 2, 3, 4].map((threads) => runtime.load(model, { threads })));
    const children = childrenOf(process.pid);
    expect(children).toHaveLength(4);
    for (const child of children) process.kill(child, "SIGSTOP");
    await runtime.dispose({ timeout: "1s" }); // ends after five; two seconds for each, one after the other, would be eight
    expect(childrenOf(process.pid)).toEqual([]);
  });
});

describe.skipIf(process.platform !== "linux")("a program that is killed (SIGKILL)", () => {
  const program = fileURLToPath(new URL("fixtures/watched-parent.mjs", import.meta.url));

  async function start(...args: readonly string[]): Promise<{ kill: () => void; children: number[] }> {
    const parent = spawn(process.execPath, [program, model, ...args], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(parent.stdout.setEncoding("utf8"), "data")) as [string];
    return { kill: () => void parent.kill("SIGKILL"), children: line.trim().split(/\s+/).map(Number) };
  }
  const alive = (pids: readonly number[]): number[] => pids.filter((pid) => isAlive(pid));

  it.each([
    ["hang", "main"],
    ["spin", "main"],
    ["rest", "main"],
    ["spin", "worker"],
  ])("takes its children with it, whatever they do: %s, runtime on thread %s", async (behavior, thread) => {
    const { kill, children } = await start(behavior, thread);
    expect(alive(children)).toHaveLength(2);
    kill();
    await vi.waitFor(() => expect(alive(children)).toEqual([]), { timeout: 10_000 });
  });

  it("no child holds the pipe of another", async () => {
    const { kill, children } = await start("rest", "main");
    process.kill(children[0]!, "SIGSTOP");
    kill();
    await vi.waitFor(() => expect(isAlive(children[1]!)).toBe(false), { timeout: 10_000 });
    // A stopped process runs no thread: it ends when it is continued.
    if (isAlive(children[0]!)) process.kill(children[0]!, "SIGCONT");
    await vi.waitFor(() => expect(isAlive(children[0]!)).toBe(false), { timeout: 10_000 });
  });
});

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

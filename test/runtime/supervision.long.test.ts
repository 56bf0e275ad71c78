/**
 * Models' processes that die, loop or grow, as built: who is told, what waits, and what goes on.
 *
 * The long suite gives each file a process, whose children are counted here.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { type ModelHandle, type Runtime, type RuntimeEvent, type TensorMap, createRuntime } from "inferyard";
import type { Backend } from "inferyard/backend";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { childrenOf } from "../fixtures/processes/child-processes.ts";
import { behaviors, failing } from "./fixtures/failing-backend.mjs";
import * as write from "../fixtures/models/onnx-bytes.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-supervision-"));
const model = join(folder, "model.onnx");
const identity = { opsets: { "": 17 }, graph: [write.node({ operator: "Identity", inputs: ["x"], outputs: ["y"] })] };
const values = [write.value(11, "x", 1, [2]), write.value(12, "y", 1, [2])];
writeFileSync(model, write.model({ ...identity, graph: [...identity.graph, ...values] })); // the backend here does not look into it
afterAll(() => rmSync(folder, { recursive: true }));

const runtimes: Runtime[] = [];
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.dispose()));
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

const run = async (handle: ModelHandle, behavior: number): Promise<number> => {
  const inputs: TensorMap = { x: { dataType: "float32", shape: [2], data: Float32Array.of(behavior, 0) } };
  return Number((await handle.run(inputs))["y"]?.data[1]); // how often its process has answered so far
};
const typesOf = (events: readonly RuntimeEvent[]): string[] =>
  events.map(({ type }) => type).filter((type) => type !== "loading");

describe("a process that dies", () => {
  it("of SIGKILL at rest: what killed it is said, and the next call has another", async () => {
    const { runtime, events } = await scene([failing()]);
    const handle = await runtime.load(model);
    for (const child of childrenOf(process.pid)) process.kill(child, "SIGKILL");
    await vi.waitFor(() => expect(typesOf(events)).toEqual(["loaded", "died"]), { timeout: 60_000 });
    expect(events.at(-1)).toMatchObject({ reference: model, target: "failing:cpu", deaths: 1, crashLoop: false, backoffMs: 0 });
    expect(events.at(-1)).toMatchObject({
      reason: expect.stringMatching(/^the process was killed \(SIGKILL\), probably .* memory$/),
    });
    expect(await run(handle, behaviors.plain)).toBe(1);
    expect(events.at(-1)).toMatchObject({ type: "restarted", reference: model, target: "failing:cpu", why: "died" });
  });

  it("under a call: the error says how, with its last lines", async () => {
    const { runtime } = await scene([failing()]);
    const handle = await runtime.load(model);
    await expect(run(handle, behaviors.abort)).rejects.toMatchObject({
      code: "HOST_DIED",
      retryable: true,
      data: { exitCode: null, signal: "SIGABRT", lastLines: expect.arrayContaining(["terminate called without mercy"]) },
    });
    await expect(run(handle, behaviors.exit)).rejects.toMatchObject({ data: { exitCode: 7, signal: null }, retryAfterMs: 250 });
  });

  it("is replaced once, whoever asks", async () => {
    const { runtime, events } = await scene([failing()]);
    const handle = await runtime.load(model);
    await expect(run(handle, behaviors.exit)).rejects.toMatchObject({ code: "HOST_DIED" });
    const answers = await Promise.all([run(handle, behaviors.plain), run(handle, behaviors.plain), run(handle, behaviors.plain)]);
    expect([answers, typesOf(events)]).toEqual([
      [1, 2, 3],
      ["loaded", "died", "restarted"],
    ]);
  });

  it("while it is waited for: disposal does not wait until the delay is over", async () => {
    const { runtime } = await scene([failing()], { crashWindow: "1h", maxCrashes: 100 });
    const handle = await runtime.load(model);
    for (let death = 0; death < 3; death += 1)
      await expect(run(handle, behaviors.exit)).rejects.toMatchObject({ code: "HOST_DIED" });
    const waiting = run(handle, behaviors.plain);
    waiting.catch(() => {}); // expected below
    await runtime.dispose();
    await expect(waiting).rejects.toMatchObject({ code: "ABORTED" });
  });
});

describe("a crash loop", () => {
  const settings = { maxCrashes: 2, crashWindow: "1h" };

  it("maxCrashes: calls are refused at once and told for how long; other models go on", async () => {
    const { runtime, events } = await scene([failing()], settings);
    const [doomed, other] = [await runtime.load(model), await runtime.load(otherFile("other.onnx"))];
    for (let death = 0; death < 2; death += 1)
      await expect(run(doomed, behaviors.abort)).rejects.toMatchObject({ code: "HOST_DIED" });
    const started = events.length;
    await expect(run(doomed, behaviors.plain)).rejects.toMatchObject({ code: "CIRCUIT_OPEN", retryable: true });
    expect([await run(other, behaviors.plain), events.length]).toEqual([2, started]); // nothing was started
    expect(events.at(-1)).toMatchObject({ type: "died", deaths: 2, crashLoop: true, backoffMs: 3_600_000 });
  });

  it("a load finds the circuit open: it takes the next target, or says for how long", async () => {
    const { runtime } = await scene([failing(), failing({ name: "wasm", calm: true })], {
      ...settings,
      priority: ["failing", "wasm"],
    });
    const handle = await runtime.load(model);
    for (let death = 0; death < 2; death += 1)
      await expect(run(handle, behaviors.exit)).rejects.toMatchObject({ code: "HOST_DIED" });
    const { target, decision } = await runtime.load(model, { threads: 1 });
    expect(target).toBe("wasm:cpu");
    expect(decision.candidates[0]).toMatchObject({ target: "failing:cpu", verdict: "refused", stage: "circuit" });
    const refused = runtime.load(model, { target: "failing" });
    await expect(refused).rejects.toMatchObject({ code: "CIRCUIT_OPEN", retryable: true, retryAfterMs: expect.any(Number) });
    expect((await runtime.load(otherFile("third.onnx"))).target).toBe("failing:cpu");
  });

  it("of loads: what dies while it is loaded again and again is not tried any more", async () => {
    const { runtime, events } = await scene([failing({ onLoad: "exit" })], settings);
    for (let death = 0; death < 2; death += 1) await expect(runtime.load(model)).rejects.toMatchObject({ code: "HOST_DIED" });
    await expect(runtime.load(model)).rejects.toMatchObject({ code: "CIRCUIT_OPEN" });
    expect(typesOf(events)).toEqual(["died", "load-failed", "died", "load-failed", "load-failed"]);
  });

  it("crashWindow: after it one start is granted, and when it lives all is well", async () => {
    const { runtime } = await scene([failing()], { maxCrashes: 1, crashWindow: "2s" });
    const handle = await runtime.load(model);
    await expect(run(handle, behaviors.exit)).rejects.toMatchObject({ code: "HOST_DIED" });
    await expect(run(handle, behaviors.plain)).rejects.toMatchObject({ code: "CIRCUIT_OPEN" });
    await vi.waitFor(async () => expect(await run(handle, behaviors.plain)).toBe(1), { timeout: 60_000 });
  });
});

describe("maxProcessMemory", () => {
  const settings = { maxProcessMemory: "100MB" };

  it("a process that holds more is replaced between calls, and none is lost", async () => {
    const { runtime, events } = await scene([failing()], settings);
    const handle = await runtime.load(model);
    const replaced = (): number => events.filter((event) => event.type === "restarted" && event.why === "memory").length;
    const counts: number[] = [];
    const deadline = performance.now() + 60_000;
    while (replaced() < 2 && performance.now() < deadline) {
      await Promise.all([run(handle, behaviors.hoard), run(handle, behaviors.plain), run(handle, behaviors.plain)]); // 64 MB each time
      counts.push(await run(handle, behaviors.plain));
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    expect(replaced()).toBe(2);
    expect(typesOf(events).filter((type) => type !== "restarted")).toEqual(["loaded"]);
    await vi.waitFor(() => expect(childrenOf(process.pid)).toHaveLength(1), { timeout: 60_000 });
    expect(counts.some((count, place) => count < (counts[place - 1] ?? 0))).toBe(true); // a new process counts anew
  });

  it("without it a process is left alone", async () => {
    const { runtime, events } = await scene([failing()]);
    const handle = await runtime.load(model);
    for (let call = 0; call < 3; call += 1) await run(handle, behaviors.hoard);
    expect([await run(handle, behaviors.plain), typesOf(events)]).toEqual([5, ["loaded"]]);
  });

  it("puts models into processes, and is refused where they cannot be there", async () => {
    const runtime = await createRuntime({ backends: [failing()], ...settings });
    runtimes.push(runtime);
    expect((await runtime.load(model)).decision.selected?.host).toBe("process");
    await expect(createRuntime({ backends: [failing()], ...settings, host: "worker" })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: "maxProcessMemory is set, and models do not live in processes",
    });
  });
});

const [skip, name] = needsData("maxProcessGrowth");
describe.skipIf(skip)(name, () => {
  it("a process that has grown is replaced once its model is idle, and the model answers as before", async () => {
    const events: RuntimeEvent[] = [];
    const onEvent = (event: RuntimeEvent): void => void events.push(event);
    const runtime = await createRuntime({
      host: "process",
      target: "onnx:cpu",
      maxProcessGrowth: "50MB",
      growthIdle: "20ms",
      onEvent,
    });
    runtimes.push(runtime);
    const handle = await runtime.load(`${sharedData}all-MiniLM-L6-v2`);
    const text = "a cat sits on the mat ".repeat(60);
    const embed = async (texts: readonly string[]): Promise<readonly Float32Array[]> =>
      (await runtime.embed(texts, { model: handle, batchTokens: 8192 })).embeddings;
    const before = await embed([text]);
    await embed(Array.from({ length: 24 }, (_, index) => `${index} ${text}`));
    const report = (): number => runtime.memory().models[0]?.bytes["memory"] ?? 0;
    const grown = report();
    expect(runtime.memory().models[0]?.restarts).toBe(0);
    await vi.waitFor(() => expect(events).toContainEqual(expect.objectContaining({ type: "restarted", why: "growth" })), {
      timeout: 60_000,
    });
    expect(await embed([text])).toEqual(before);
    expect(runtime.memory().models[0]?.restarts).toBe(1);
    expect(report()).toBeLessThan(grown);
    await vi.waitFor(() => expect(childrenOf(process.pid)).toHaveLength(1), { timeout: 60_000 });
  });
});

function otherFile(name: string): string {
  const path = join(folder, name);
  writeFileSync(path, write.model({ ...identity, graph: [...identity.graph, ...values] }));
  return path;
}

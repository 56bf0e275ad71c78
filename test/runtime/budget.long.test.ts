/** The memory budget on real models in real processes: what the operating system says they take. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RuntimeEvent, type TensorMap, createRuntime } from "inferyard";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { amount } from "../fixtures/slow.ts";

/** A hundred models are loaded here, each in a process: half a minute on a quiet machine, minutes on a busy one. */
const patienceMs = 400_000;

const linux = process.platform === "linux";
const [skip, name] = needsData("a budget for two of four models");

const folder = mkdtempSync(join(tmpdir(), "inferyard-budget-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Resident bytes of every child of this process, by its number. */
function children(): Record<string, number> {
  const tasks = readdirSync("/proc/self/task").map((task) => readFileSync(`/proc/self/task/${task}/children`, "utf8"));
  const pids = tasks.flatMap((list) => list.trim().split(" ")).filter((pid) => pid !== "");
  return Object.fromEntries(pids.map((pid) => [pid, residentBytes(pid)]));
}

function childrenBytes(): number {
  return Object.values(children()).reduce((sum, bytes) => sum + bytes, 0);
}

/** 0 for a child that has just ended. */
function residentBytes(pid: string): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** A fixed shuffle: the same at every run. */
function shuffled(count: number, kinds: readonly string[]): string[] {
  let state = 42;
  return Array.from({ length: count }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return kinds[Math.floor((state / 2 ** 31) * kinds.length)] ?? "";
  });
}

const row = (values: readonly number[]): TensorMap[string] => ({
  dataType: "int64",
  shape: [1, values.length],
  data: BigInt64Array.from(values.map(BigInt)),
});
const inputs: TensorMap = {
  input_ids: row([2, 759, 208, 3]),
  attention_mask: row([1, 1, 1, 1]),
  token_type_ids: row([0, 0, 0, 0]),
};

describe.skipIf(skip || !linux)(linux ? name : `${name} (skipped: it reads /proc)`, () => {
  const models = ["a", "b", "c", "d"].map((letter) => join(folder, letter));
  beforeAll(() => {
    for (const model of models) symlinkSync(join(sharedData, "minilm-l3-ner"), model);
  });
  const budget = 400e6; // one takes about 150 MB: two fit, three do not

  async function start(): Promise<{
    runtime: Awaited<ReturnType<typeof createRuntime>>;
    evicted: string[];
    /** The worst moment: what the children held, and what the runtime thought. */
    worst: () => { readonly bytes: number; readonly shown: string };
    stop: () => Promise<void>;
  }> {
    const evicted: string[] = [];
    const onEvent = (event: RuntimeEvent): void => {
      if (event.type === "unloaded" && event.why === "evicted") evicted.push(event.reference);
    };
    const runtime = await createRuntime({ maxMemory: budget, target: "onnx:cpu", replicas: 1, onEvent });
    let worst = { bytes: 0, shown: "" };
    const watch = setInterval(() => {
      const bytes = childrenBytes();
      if (bytes > worst.bytes) worst = { bytes, shown: JSON.stringify([children(), runtime.memory().models]) };
    }, 20);
    const stop = async (): Promise<void> => {
      clearInterval(watch);
      await runtime.dispose();
    };
    return { runtime, evicted, worst: () => worst, stop };
  }

  const counts = { inTurn: amount(200, 48), atOnce: amount(60, 24) };

  it(
    `${counts.inTurn} shuffled requests: all are answered, memory stays within it, and those leave that were used longest ago`,
    async () => {
      const { runtime, evicted, worst, stop } = await start();
      try {
        const expected: string[] = [];
        let loaded: string[] = [];
        let reference: string | undefined;
        for (const model of shuffled(counts.inTurn, models)) {
          const outputs = await runtime.use(model, {}, async (handle) => {
            expect(handle.decision.selected?.host).toBe("process");
            return handle.run(inputs);
          });
          const answer = JSON.stringify(Array.from(Object.values(outputs)[0]?.data as Float32Array));
          expect(answer).toBe((reference ??= answer)); // the same model four times: the same answer each time
          if (!loaded.includes(model) && loaded.length === 2) expected.push(loaded.shift() ?? "");
          loaded = [...loaded.filter((other) => other !== model), model];
        }
        expect(evicted).toEqual(expected);
        expect(evicted.length).toBeGreaterThan(counts.inTurn / 4);
        expect(worst().bytes).toBeGreaterThan(200e6); // two were there
        expect(worst().bytes, worst().shown).toBeLessThanOrEqual(budget * 1.1);
        const { limits, models: holders } = runtime.memory();
        expect(limits?.bytes).toEqual({ memory: budget });
        const held = holders.reduce((sum, { bytes }) => sum + (bytes["memory"] ?? 0), 0);
        expect(held).toBeLessThanOrEqual(budget);
        // What a process gives back after a flood is told with its next answer.
        expect(childrenBytes() - held).toBeLessThan(0.1 * held);
        expect(held - childrenBytes()).toBeLessThan(0.25 * held); // the report is what the system says
      } finally {
        await stop();
      }
      expect(childrenBytes()).toBe(0); // everything was given back
    },
    patienceMs,
  );

  it(
    "eight clients at once: no request is lost, and memory stays within it",
    async () => {
      const { runtime, worst, stop } = await start();
      try {
        const requests = shuffled(counts.atOnce, models);
        const answers: number[] = [];
        const client = async (): Promise<void> => {
          for (let model = requests.pop(); model !== undefined; model = requests.pop()) {
            const outputs = await runtime.use(model, {}, (handle) => handle.run(inputs));
            answers.push(Object.keys(outputs).length);
          }
        };
        await Promise.all(Array.from({ length: 8 }, client));
        expect(answers).toEqual(Array.from({ length: counts.atOnce }, () => 1));
        expect(worst().bytes, worst().shown).toBeLessThanOrEqual(budget * 1.1);
      } finally {
        await stop();
      }
    },
    patienceMs,
  );
});

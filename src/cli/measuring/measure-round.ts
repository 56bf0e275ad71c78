/** One round of measuring on one target, in a process of its own: `inferyard bench --here`. */
import { stat } from "node:fs/promises";
import type { Library } from "../../contract/backend.ts";
import { threadsFor } from "../../devices/index.ts";
import { type Measurement, speedSettings } from "../../measurements/index.ts";
import { mergeLoadSettings } from "../../runtime/options/options.ts";
import type { Runtime } from "../../api/runtime.ts";
import type { Session } from "../session.ts";
import { median } from "./statistics.ts";
import { workloadFor } from "./work.ts";

/** What the parent process asks the child to measure. */
export interface MeasuringTask {
  readonly target: string;
  /** Number of inputs of the bulk call. */
  readonly count: number;
}

/** Result of one round, which the child prints as a line of JSON. Times are milliseconds, memory is bytes. */
export interface Round extends Pick<Measurement, "model" | "library" | "threads" | "settings"> {
  readonly unit: "texts" | "runs";
  readonly loadMs: number;
  readonly latencyMs: number;
  readonly perSecond: number;
  readonly tokensPerSecond: number;
  readonly memoryBytes: number;
}

const warmUps = 3;
/** Calls are repeated for about this long, and at least and at most this often. */
const latencyTime = { milliseconds: 1000, min: 10, max: 100 };
const bulkTime = { milliseconds: 1000, min: 1, max: 5 };

/** Loads the model on the target and measures latency, throughput and memory. */
export async function measureRound({ runtime, settings, model }: Session, { target, count }: MeasuringTask): Promise<Round> {
  const before = process.memoryUsage().rss;
  const { variant } = settings;
  const started = performance.now();
  const handle = await runtime.load(model, { target, ...(variant === undefined ? {} : { variant }) });
  const loadMs = performance.now() - started;
  const work = workloadFor(runtime, handle, count, settings.batchTokens);
  for (let call = 0; call < warmUps; call += 1) await work.one();
  const latencyMs = median(await timeCalls(work.one, latencyTime));
  const tokens = await work.many(); // loads the replicas
  const seconds = median(await timeCalls(work.many, bulkTime)) / 1000;
  const memoryBytes = process.memoryUsage().rss - before + childProcessMemory(runtime);
  const { decision, manifest } = handle;
  const weights = manifest.variants.find(({ name }) => name === (decision.model.packedFrom ?? decision.model.variant));
  const { cpu } = await runtime.machine();
  await handle.dispose();
  return {
    unit: work.unit,
    loadMs,
    latencyMs,
    perSecond: count / seconds,
    tokensPerSecond: tokens / seconds,
    memoryBytes,
    model: {
      digest: decision.model.digest ?? "",
      variant: decision.model.variant ?? "",
      path: weights?.path ?? "",
      bytes: weights?.bytes ?? 0,
      modifiedMs: weights === undefined ? 0 : (await stat(weights.path)).mtimeMs,
    },
    library: nameAndVersion(decision.selected?.library),
    threads: threadsFor(cpu, settings.threads),
    settings: speedSettings(mergeLoadSettings(manifest.settings ?? {}, settings)),
  };
}

/** Without the files: the version has a digest of them. */
function nameAndVersion({ name, version }: Library = { name: "", version: "" }): Library {
  return { name, version };
}

/** Memory of the processes that run the model and its replicas, in bytes; 0 if it runs in this process. */
function childProcessMemory(runtime: Runtime): number {
  const resident = runtime.memory().models.filter(({ measure }) => measure === "resident");
  return resident.reduce((sum, { bytes }) => sum + (bytes["memory"] ?? 0), 0);
}

async function timeCalls(call: () => Promise<unknown>, time: typeof latencyTime): Promise<number[]> {
  const times: number[] = [];
  const began = performance.now();
  while (times.length < time.min || (times.length < time.max && performance.now() - began < time.milliseconds)) {
    const started = performance.now();
    await call();
    times.push(performance.now() - started);
  }
  return times;
}

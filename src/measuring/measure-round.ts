/** One round of measuring a model on one target: load time, latency of one input, throughput of a bulk call, and memory. */
import type { Library } from "../contract/backend.ts";
import { stat } from "node:fs/promises";
import { createRuntime, type RuntimeConfig } from "../api/create-runtime.ts";
import type { Runtime } from "../api/runtime.ts";
import { omitUndefined } from "../contract/checked.ts";
import { threadsFor } from "../devices/index.ts";
import { type Figures, type Measurement, speedSettings } from "../speed-records/index.ts";
import { usualKind } from "../models/language-tasks.ts";
import { mergeLoadSettings } from "../runtime/options/options.ts";
import { kindOfLoaded, type KindName, type TokenRates, type WorkloadOptions } from "./kinds/index.ts";
import { median } from "../platform/statistics.ts";

/** Request for one round. Serializable as JSON, since it is passed to a child process. */
export interface RoundRequest extends WorkloadOptions {
  readonly model: string;
  readonly variant?: string | undefined;
  readonly target: string;
  /** Settings of the runtime. */
  readonly settings: RuntimeConfig;
}

/** Result of one round. Times are milliseconds, memory is bytes. */
export interface Round
  extends
    Pick<Measurement, "model" | "library" | "threads" | "settings">,
    Pick<Figures, "unit" | "loadMs" | "latencyMs" | "perSecond" | "memoryBytes">,
    Partial<TokenRates> {
  readonly kind: KindName;
  /** Tokens per second of the bulk call; 0 for tensors. */
  readonly tokensPerSecond: number;
}

/** Warm-up before measuring: maximum number of calls, and the time after which no further call begins. */
const warmUp = { calls: 3, milliseconds: 2000 };
/**
 * Calls are repeated for about `milliseconds`, at least `min` and at most `max` times. Fewer than `min` calls are made if they would take longer than
 * `limit` milliseconds.
 */
const latencyTime = { milliseconds: 1000, min: 10, max: 100, limit: 10_000 };
const bulkTime = { milliseconds: 1000, min: 1, max: 5, limit: 10_000 };

/** Loads the model on the target in a new runtime and measures it. Throws the errors of loading and running. */
export async function measureRound({ settings, model, variant, target, ...options }: RoundRequest): Promise<Round> {
  const before = process.memoryUsage().rss;
  const runtime = await createRuntime(settings);
  try {
    const kind = usualKind(await runtime.manifest(model, omitUndefined({ variant })));
    const started = performance.now();
    const handle = await runtime.load(model, { target, kind, ...omitUndefined({ variant }) });
    const loadMs = performance.now() - started;
    const { name, unit, workload } = kindOfLoaded(handle);
    const { one, many, count } = await workload({ runtime, handle }, options);
    await timeCalls(one, { ...warmUp, min: 1, max: warmUp.calls, limit: warmUp.milliseconds });
    const calls = await timeCalls(one, latencyTime);
    const tokens = await many(); // loads the replicas
    const seconds = median((await timeCalls(many, bulkTime)).map(({ milliseconds }) => milliseconds)) / 1000;
    const memoryBytes = process.memoryUsage().rss - before + childProcessMemory(runtime);
    const { decision, manifest } = handle;
    const weights = manifest.variants.find((each) => each.name === (decision.model.packedFrom ?? decision.model.variant));
    const { cpu } = await runtime.machine();
    await handle.dispose();
    return {
      kind: name,
      unit,
      loadMs,
      latencyMs: median(calls.map(({ milliseconds }) => milliseconds)),
      perSecond: count / seconds,
      tokensPerSecond: tokens / seconds,
      ...medianRates(calls.flatMap(({ result }) => result ?? [])),
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
  } finally {
    await runtime.dispose();
  }
}

function medianRates(rates: readonly TokenRates[]): Partial<TokenRates> {
  if (rates.length === 0) return {};
  return {
    promptTokensPerSecond: median(rates.map(({ promptTokensPerSecond }) => promptTokensPerSecond)),
    decodeTokensPerSecond: median(rates.map(({ decodeTokensPerSecond }) => decodeTokensPerSecond)),
  };
}

/** Name and version of a library, without its files; the version contains their digest. */
function nameAndVersion({ name, version }: Library = { name: "", version: "" }): Library {
  return { name, version };
}

/** Memory of the processes that run the model and its replicas, in bytes; 0 if it runs in this process. */
function childProcessMemory(runtime: Runtime): number {
  const resident = runtime.memory().models.filter(({ measure }) => measure === "resident");
  return resident.reduce((sum, { bytes }) => sum + (bytes["memory"] ?? 0), 0);
}

interface Timed<Result> {
  readonly milliseconds: number;
  readonly result: Result;
}

async function timeCalls<Result>(call: () => Promise<Result>, time: typeof latencyTime): Promise<Timed<Result>[]> {
  const calls: Timed<Result>[] = [];
  const began = performance.now();
  const elapsed = (): number => performance.now() - began;
  while (
    calls.length === 0 ||
    (elapsed() < time.limit && (calls.length < time.min || (calls.length < time.max && elapsed() < time.milliseconds)))
  ) {
    const started = performance.now();
    const result = await call();
    calls.push({ milliseconds: performance.now() - started, result });
  }
  return calls;
}

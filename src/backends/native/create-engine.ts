/** The engine of one loaded model, with the settings the user gave, ready for its smallest inputs. */
import { InferyardError } from "../../backend.ts";
import type { LoadOptions, TensorInfo } from "../../backend.ts";
import { enableRelaxedSimd } from "../../engine/codegen/wasm/v8-flags.ts";
import {
  detectWasmFeatures,
  type EngineReplica,
  EngineModel,
  type SharedEngineState,
  type GraphSource,
  type RunLimits,
  type TraceLimits,
} from "../../engine/index.ts";
import { spawnThread } from "../../engine/threads/spawn-thread.ts";
import { version } from "../../version.ts";

/** What a model on this backend gives to its copies. */
export interface SharedModelState {
  /** Of the package: another one may pack weights otherwise. */
  readonly version: string;
  /** Of the files: see `OpenModelFiles`. */
  readonly identity: string;
  readonly graphOptimization: string | undefined;
  readonly engine: SharedEngineState;
}

/** `identity`: of the files the source was read from; without one, nothing is shared. MODEL_INVALID where a copy was loaded from others. */
export function createEngine(
  source: GraphSource,
  inputs: readonly TensorInfo[],
  options: LoadOptions,
  identity: string | undefined,
): EngineModel {
  const features = detectWasmFeatures(enableRelaxedSimd);
  if (!features.simd)
    throw new InferyardError("BACKEND_UNAVAILABLE", "this machine's WebAssembly has no vectors, which the engine needs");
  const { graphOptimization, threads, maxRunMemory } = options;
  const limits: RunLimits = { trace: traceLimits(options), ...(maxRunMemory === undefined ? {} : { runBytes: maxRunMemory }) };
  const made = (replica: EngineReplica | undefined): EngineModel => {
    const engine = new EngineModel(source, {
      features,
      optimize: graphOptimization !== "disabled",
      limits,
      ...(threads === undefined || spawnThread === undefined ? {} : { threads, spawnThread }),
      ...(replica === undefined ? {} : { replica }),
    });
    try {
      engine.prepare(inputs.map(withEmptyCache));
      engine.publishWeights();
      return engine;
    } catch (error) {
      void engine.dispose();
      throw error;
    }
  };
  const copies = engineReplica(options, identity);
  try {
    return made(copies);
  } catch (error) {
    const isFull = error instanceof InferyardError && error.code === "OUT_OF_MEMORY" && copies?.from !== undefined;
    if (!isFull) throw error;
    return made(undefined); // what has no place beside the others may have one alone
  }
}

/** What one trace may take, by the user's settings. */
export function traceLimits({ maxTraceTime, maxTraceMemory }: LoadOptions): Partial<TraceLimits> {
  return {
    ...(maxTraceTime === undefined ? {} : { milliseconds: maxTraceTime }),
    ...(maxTraceMemory === undefined ? {} : { bytes: maxTraceMemory }),
  };
}

/** undefined where this model shares nothing. */
function engineReplica({ replica, graphOptimization }: LoadOptions, identity: string | undefined): EngineReplica | undefined {
  if (replica === undefined || identity === undefined) return undefined;
  const { liveReplicas, index, sharedState } = replica;
  const place = { replicaIds: new Int32Array(liveReplicas), index };
  if (sharedState === undefined) return place;
  const other = sharedState as SharedModelState;
  if (other.version !== version || other.graphOptimization !== graphOptimization) return undefined;
  if (other.identity === identity) return { ...place, from: other.engine };
  throw new InferyardError("MODEL_INVALID", "the model's files were changed after its first copy was loaded", {
    remedy: "unload the model, and load it again",
  });
}

/** The smallest inputs of a language model are those of its first token: nothing is in the caches. */
function withEmptyCache(input: TensorInfo): TensorInfo {
  return { ...input, shape: input.shape.map((size) => (/^past_\w+$/.test(String(size)) ? 0 : size)) };
}

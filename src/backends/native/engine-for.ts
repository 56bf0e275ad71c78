/** The engine of one loaded model, with the settings the user gave, ready for its smallest inputs. */
import { InferyardError } from "../../backend.ts";
import type { LoadSettings, TensorInfo } from "../../backend.ts";
import { switchOnRelaxedSimd } from "../../engine/host-features.ts";
import { detectWasmFeatures, EngineModel, type GraphSource } from "../../engine/index.ts";
import { spawnThread } from "../../engine/thread-spawner.ts";

export function engineFor(
  source: GraphSource,
  inputs: readonly TensorInfo[],
  { graphOptimization, threads }: LoadSettings,
): EngineModel {
  const features = detectWasmFeatures(switchOnRelaxedSimd);
  if (!features.simd)
    throw new InferyardError("BACKEND_UNAVAILABLE", "this machine's WebAssembly has no vectors, which the engine needs");
  const engine = new EngineModel(source, {
    features,
    optimize: graphOptimization !== "disabled",
    ...(threads === undefined || spawnThread === undefined ? {} : { threads, spawn: spawnThread }),
  });
  engine.prepare(inputs.map(withEmptyCache));
  return engine;
}

/** The smallest inputs of a language model are those of its first token: nothing is in the caches. */
function withEmptyCache(input: TensorInfo): TensorInfo {
  return { ...input, shape: input.shape.map((size) => (/^past_\w+$/.test(String(size)) ? 0 : size)) };
}

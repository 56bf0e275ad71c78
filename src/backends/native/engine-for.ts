/** The engine of one loaded model, with the settings the user gave. */
import { InferyardError } from "../../backend.ts";
import type { LoadSettings } from "../../backend.ts";
import { switchOnRelaxedSimd } from "../../engine/host-features.ts";
import { detectWasmFeatures, EngineModel, type GraphSource } from "../../engine/index.ts";
import { spawnThread } from "../../engine/thread-spawner.ts";

export function engineFor(source: GraphSource, { graphOptimization, threads }: LoadSettings): EngineModel {
  const features = detectWasmFeatures(switchOnRelaxedSimd);
  if (!features.simd)
    throw new InferyardError("BACKEND_UNAVAILABLE", "this machine's WebAssembly has no vectors, which the engine needs");
  return new EngineModel(source, {
    features,
    optimize: graphOptimization !== "disabled",
    ...(threads === undefined || spawnThread === undefined ? {} : { threads, spawn: spawnThread }),
  });
}

/** Reads how a SparseEncoder of sentence-transformers makes sparse vectors. */
import { type InferyardError, unsupportedModel } from "../../contract/errors.ts";
import type { SparseSettings } from "../manifest.ts";
import { type Folder } from "../model-folder.ts";
import type { Modules } from "./modules.ts";
import { readAutoEncoder, readTokenWeights } from "./vector-modules.ts";
import { readModuleConfig } from "./module-entry.ts";

/**
 * Reads the module of `modules.sparse`, and the weights for queries. Throws MODEL_INVALID for missing or damaged files, and MODEL_UNSUPPORTED for
 * settings that this version does not compute.
 */
export async function readSparseSettings(folder: Folder, { sparse, queries }: Modules): Promise<SparseSettings> {
  if (sparse?.type === "SparseAutoEncoder")
    return { kind: "auto-encoder", pooling: "max", activation: "relu", modules: [await readAutoEncoder(folder, sparse.path)] };
  const { config, displayName } = await readModuleConfig(folder, `${sparse?.path ?? ""}/config.json`);
  const { pooling_strategy: pooling = "max", activation_function: activation = "relu" } = config;
  if (pooling !== "max" && pooling !== "sum") throw unsupported(displayName, "pooling_strategy", pooling, ["max", "sum"]);
  if (activation !== "relu" && activation !== "log1p_relu")
    throw unsupported(displayName, "activation_function", activation, ["relu", "log1p_relu"]);
  const weights =
    queries === undefined
      ? {}
      : { queries: { modules: [await readTokenWeights(folder, queries.path)], isDefault: queries.isDefault } };
  return { kind: "splade", pooling, activation, modules: [], ...weights };
}

function unsupported(displayName: string, key: string, value: unknown, known: readonly string[]): InferyardError {
  const message = `${displayName} has the ${key} ${JSON.stringify(value)}, which this version does not compute; it computes ${known.join(" and ")}`;
  return unsupportedModel(message, "use a model without it");
}

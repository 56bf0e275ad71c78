/** Reads the config.json of the Pooling module of sentence-transformers: how token vectors become one vector. */
import { InferyardError } from "../../contract/errors.ts";
import type { Pooling } from "../manifest.ts";
import { type Folder, type JsonObject } from "../model-folder.ts";
import { readModuleConfig } from "./module-entry.ts";

/** The settings of a Pooling module of sentence-transformers. */
export interface PoolingConfig {
  readonly pooling: Pooling;
  /** Whether pooling includes the tokens of the prompt. */
  readonly includePrompt: boolean;
}

/** Our names of the modes in the newer spelling, `pooling_mode`. Other modes are not computed. */
const names: Readonly<Record<string, Pooling>> = { cls: "cls", max: "max", mean: "mean", lasttoken: "last" };

/** Modes in the newer spelling by the flags of the older one. */
const flags: Readonly<Record<string, string>> = {
  pooling_mode_cls_token: "cls",
  pooling_mode_max_tokens: "max",
  pooling_mode_mean_tokens: "mean",
  pooling_mode_mean_sqrt_len_tokens: "mean_sqrt_len_tokens",
  pooling_mode_weightedmean_tokens: "weightedmean",
  pooling_mode_lasttoken: "lasttoken",
};

/**
 * Reads the settings of a Pooling module of sentence-transformers; `path` is its folder, relative to `folder`. Throws
 * MODEL_INVALID if its config.json is missing or damaged, and MODEL_UNSUPPORTED for a mode that is not computed and for several
 * modes together.
 */
export async function readPoolingConfig(folder: Folder, path: string): Promise<PoolingConfig> {
  const { config, displayName } = await readModuleConfig(folder, `${path}/config.json`);
  const modes = getModes(config);
  const [mode] = modes;
  const pooling = modes.length === 1 ? names[String(mode)] : undefined;
  if (pooling === undefined) {
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `${displayName} asks for the pooling ${modes.join(" + ")}, which this version does not compute`,
      {
        remedy: `this version computes ${Object.keys(names).join(", ")}, one at a time; give another one only if you know that the model suits it`,
        data: { modes },
      },
    );
  }
  return { pooling, includePrompt: config["include_prompt"] !== false };
}

/** As in sentence-transformers 6, `pooling_mode` takes precedence over the flags, and the default is the mean. */
function getModes(config: JsonObject): unknown[] {
  const named = config["pooling_mode"];
  if (named !== undefined) return Array.isArray(named) ? named : [typeof named === "string" ? named.toLowerCase() : named];
  const set = Object.entries(flags).filter(([flag]) => config[flag] === true);
  return set.length === 0 ? ["mean"] : set.map(([, mode]) => mode);
}

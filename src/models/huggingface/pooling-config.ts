/** The config.json of sentence-transformers' Pooling module: how token vectors become one. */
import { InferyardError } from "../../errors.ts";
import type { Pooling } from "../manifest.ts";
import { type Folder, type JsonObject, modelInvalid, readJsonObject, shownIn } from "../model-folder.ts";

export interface PoolingConfig {
  readonly pooling: Pooling;
  readonly includePrompt: boolean;
}

/** The newer spelling, one name, to ours. The ones left out are modes this version does not compute. */
const names: Readonly<Record<string, Pooling>> = { cls: "cls", max: "max", mean: "mean", lasttoken: "last" };

/** The older spelling, a flag for each mode, to the newer. */
const flags: Readonly<Record<string, string>> = {
  pooling_mode_cls_token: "cls",
  pooling_mode_max_tokens: "max",
  pooling_mode_mean_tokens: "mean",
  pooling_mode_mean_sqrt_len_tokens: "mean_sqrt_len_tokens",
  pooling_mode_weightedmean_tokens: "weightedmean",
  pooling_mode_lasttoken: "lasttoken",
};

/** `path` is the module's folder. MODEL_UNSUPPORTED for modes this version does not compute, alone or together. */
export async function readPoolingConfig(folder: Folder, path: string): Promise<PoolingConfig> {
  const file = `${path}/config.json`;
  const shown = shownIn(folder, file);
  const config = await readJsonObject(folder, file);
  if (config === undefined)
    throw modelInvalid(`${shown} is missing, and modules.json names it`, "download the whole folder of the model");
  const modes = modesOf(config);
  const [mode] = modes;
  const pooling = modes.length === 1 ? names[String(mode)] : undefined;
  if (pooling === undefined) {
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `${shown} asks for the pooling ${modes.join(" + ")}, which this version does not compute`,
      {
        remedy: `this version computes ${Object.keys(names).join(", ")}, one at a time; give another one only if you know that the model suits it`,
        data: { modes },
      },
    );
  }
  return { pooling, includePrompt: config["include_prompt"] !== false };
}

/** As sentence-transformers 6 reads it: the name wins over the flags, and without either it is the mean. */
function modesOf(config: JsonObject): unknown[] {
  const named = config["pooling_mode"];
  if (named !== undefined) return Array.isArray(named) ? named : [typeof named === "string" ? named.toLowerCase() : named];
  const set = Object.entries(flags).filter(([flag]) => config[flag] === true);
  return set.length === 0 ? ["mean"] : set.map(([, mode]) => mode);
}

/** The part of Magika's config.min.json that this example needs. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export interface MagikaConfig {
  readonly beg_size: number;
  readonly end_size: number;
  readonly block_size: number;
  readonly padding_token: number;
  /** Files with fewer bytes are not shown to the model. */
  readonly min_file_size_for_dl: number;
  /** What the model's outputs mean, in their order. */
  readonly target_labels_space: readonly string[];
  /** Scores from which a label is trusted, for labels with a bar of their own. */
  readonly thresholds: Readonly<Record<string, number>>;
  readonly medium_confidence_threshold: number;
  /** Labels that are told under another name. */
  readonly overwrite_map: Readonly<Record<string, string>>;
}

const numbers = ["beg_size", "end_size", "block_size", "padding_token", "min_file_size_for_dl", "medium_confidence_threshold"];

export async function readConfig(folder: string): Promise<MagikaConfig> {
  const path = join(folder, "config.min.json");
  const config = JSON.parse(await readFile(path, "utf8")) as MagikaConfig & Readonly<Record<string, unknown>>;
  if (numbers.some((name) => typeof config[name] !== "number") || !Array.isArray(config.target_labels_space))
    throw new Error(`${path} is not the configuration of a Magika model`);
  // Earlier models look at the middle of a file as well, and cut it another way.
  if (config["mid_size"] !== 0 || config["use_inputs_at_offsets"] !== false)
    throw new Error(`${path} is of a model that takes other features than the first and the last bytes`);
  return config;
}

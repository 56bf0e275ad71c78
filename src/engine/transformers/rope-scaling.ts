/**
 * The frequencies of rotary position embedding as config.json sets them: `rope_theta` and `rope_scaling`, which recent files keep together in
 * `rope_parameters`. The methods, as transformers names them in `rope_type` (older files: `type`):
 *
 * - "default": Su et al. 2021, https://arxiv.org/abs/2104.09864
 * - "linear": position interpolation, Chen et al. 2023, https://arxiv.org/abs/2306.15595
 * - "yarn": Peng et al. 2023, https://arxiv.org/abs/2309.00071
 * - "llama3": Llama 3.1, Grattafiori et al. 2024, https://arxiv.org/abs/2407.21783
 * - "dynamic": as "default" up to max_position_embeddings, which is the longest context here
 * - "longrope": Ding et al. 2024, https://arxiv.org/abs/2402.13753. Its short factors, which hold up to original_max_position_embeddings: `rotaryContext`.
 *   Longer texts would change the frequencies, so that cached keys would have to be computed again.
 */
import { type RotaryFrequencies, rotaryFrequencies, rotaryPairs } from "../build/nn/rotary-embedding.ts";
import { Config } from "./config.ts";

const methods = ["default", "linear", "dynamic", "yarn", "llama3", "longrope", "su"] as const;

/** Settings of the rotary position embedding of some layers. */
export interface RotarySettings {
  /** Size of one head. */
  readonly headSize: number;
  /** Whether `partial_rotary_factor` may state that only the first elements of a head are rotated. */
  readonly isPartial?: boolean;
  /** `rope_theta` where the file states none. */
  readonly theta?: number;
  /** Name of the layers in `rope_parameters`, where that has an object for each kind of layer. */
  readonly layers?: "full_attention" | "sliding_attention";
}

/** Reads the frequencies of one head. */
export function configuredFrequencies(config: Config, settings: RotarySettings): RotaryFrequencies {
  const { headSize, isPartial = false, theta: usual = 10_000, layers = "full_attention" } = settings;
  config.requireAbsent("rope_interleaved");
  const all = config.section("rope_parameters");
  const parameters = all?.section(layers) ?? all;
  const scaling = parameters ?? config.section("rope_scaling");
  if (!isPartial) for (const each of [config, scaling]) each?.requireEqual("partial_rotary_factor", 1);
  const rotated = [scaling, config]
    .find((each) => each?.has("partial_rotary_factor"))
    ?.positiveNumber("partial_rotary_factor", 1);
  const pairs = rotaryPairs(Math.floor(headSize * Math.min(1, rotated ?? 1)));
  const theta = parameters?.positiveNumber("rope_theta", usual) ?? config.positiveNumber("rope_theta", usual);
  const { frequencies } = rotaryFrequencies(pairs, theta);
  if (scaling === undefined) return { frequencies, scale: 1 };
  const method = scaling.oneOf(scaling.has("rope_type") ? "rope_type" : "type", methods, "default");
  if (method === "default" || method === "dynamic") return { frequencies, scale: 1 };
  if (method === "longrope" || method === "su") return longrope(config, scaling, frequencies);
  const factor = scaling.numberAtLeast("factor", 1);
  if (method === "linear") return { frequencies: frequencies.map((each) => Math.fround(each / factor)), scale: 1 };
  const context =
    scaling.positiveIntegerIfGiven("original_max_position_embeddings") ?? config.positiveInteger("max_position_embeddings");
  if (method === "llama3") return { frequencies: llama3(scaling, frequencies, factor, context), scale: 1 };
  return yarn(scaling, frequencies, { factor, context, theta });
}

/** Divides each frequency by its short factor, and scales the attention for the whole context. */
function longrope(config: Config, scaling: Config, frequencies: readonly number[]): RotaryFrequencies {
  const factors = scaling.numberList("short_factor", frequencies.length);
  const original = originalContext(config, scaling);
  const factor = scaling.has("factor")
    ? scaling.positiveNumber("factor", 1)
    : config.positiveInteger("max_position_embeddings") / original;
  return {
    frequencies: frequencies.map((each, pair) => Math.fround(each / (factors[pair] ?? 1))),
    scale: scaling.positiveNumber("attention_factor", factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(original))),
  };
}

function originalContext(config: Config, scaling: Config): number {
  const key = "original_max_position_embeddings";
  return scaling.positiveIntegerIfGiven(key) ?? config.positiveInteger(key);
}

/** Longest text for which the frequencies hold, where that is less than the model's context. `values` is config.json. */
export function rotaryContext(values: Readonly<Record<string, unknown>>): number | undefined {
  const config = new Config(values, "model");
  const scaling = config.section("rope_parameters") ?? config.section("rope_scaling");
  const method = scaling?.string(scaling.has("rope_type") ? "rope_type" : "type", "default");
  return scaling !== undefined && (method === "longrope" || method === "su") ? originalContext(config, scaling) : undefined;
}

/** Divides low frequencies by `factor`, keeps high ones, and interpolates between them. */
function llama3(scaling: Config, frequencies: readonly number[], factor: number, context: number): readonly number[] {
  const low = scaling.numberAtLeast("low_freq_factor", 0);
  const high = scaling.numberAtLeast("high_freq_factor", low);
  if (high === low) throw scaling.invalid("high_freq_factor", `more than low_freq_factor, ${low}, is required`);
  return frequencies.map((frequency) => {
    const turns = (context * frequency) / (2 * Math.PI); // of the pair over the original context
    const kept = Math.min(1, Math.max(0, (turns - low) / (high - low)));
    return Math.fround((1 - kept) * (frequency / factor) + kept * frequency);
  });
}

/** Interpolates as `llama3` does, linearly in the index of the pair, and scales the attention by the square of `scale`. */
function yarn(
  scaling: Config,
  frequencies: readonly number[],
  { factor, context, theta }: { readonly factor: number; readonly context: number; readonly theta: number },
): RotaryFrequencies {
  scaling.requireAbsent("mscale", "mscale_all_dim");
  const truncates = scaling.boolean("truncate", true);
  const size = 2 * frequencies.length;
  /** The element of a head, as a real number, that turns so many times over the original context. */
  const getElement = (turns: number): number => (size * Math.log(context / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const first = getElement(scaling.positiveNumber("beta_fast", 32));
  const last = getElement(scaling.positiveNumber("beta_slow", 1));
  const from = Math.max(truncates ? Math.floor(first) : first, 0);
  const to = Math.min(truncates ? Math.ceil(last) : last, size - 1);
  const width = to === from ? 0.001 : to - from;
  return {
    frequencies: frequencies.map((frequency, pair) => {
      const divided = Math.min(1, Math.max(0, (pair - from) / width));
      return Math.fround(divided * (frequency / factor) + (1 - divided) * frequency);
    }),
    scale: scaling.positiveNumber("attention_factor", 0.1 * Math.log(factor) + 1),
  };
}

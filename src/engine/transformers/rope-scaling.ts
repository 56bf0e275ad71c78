/**
 * The frequencies of rotary position embedding as config.json sets them: `rope_theta` and `rope_scaling`, which recent files keep together in
 * `rope_parameters`. The methods, as transformers names them in `rope_type` (older files: `type`):
 *
 * - "default": Su et al. 2021, https://arxiv.org/abs/2104.09864
 * - "linear": position interpolation, Chen et al. 2023, https://arxiv.org/abs/2306.15595
 * - "yarn": Peng et al. 2023, https://arxiv.org/abs/2309.00071
 * - "llama3": Llama 3.1, Grattafiori et al. 2024, https://arxiv.org/abs/2407.21783
 *
 * "dynamic" and "longrope" change the frequencies with the length of the text, so that cached keys would have to be computed again: MODEL_UNSUPPORTED.
 */
import { type RotaryFrequencies, rotaryFrequencies } from "../build/nn/rotary-embedding.ts";
import type { Config } from "./config.ts";

const methods = ["default", "linear", "yarn", "llama3"] as const;

/** Reads the frequencies for heads with `pairs` pairs of elements. */
export function configuredFrequencies(config: Config, pairs: number): RotaryFrequencies {
  config.requireAbsent("rope_interleaved");
  config.requireEqual("partial_rotary_factor", 1);
  const parameters = config.section("rope_parameters");
  const scaling = parameters ?? config.section("rope_scaling");
  const theta = parameters?.positiveNumber("rope_theta", 10_000) ?? config.positiveNumber("rope_theta", 10_000);
  const { frequencies } = rotaryFrequencies(pairs, theta);
  if (scaling === undefined) return { frequencies, scale: 1 };
  scaling.requireEqual("partial_rotary_factor", 1);
  const method = scaling.oneOf(scaling.has("rope_type") ? "rope_type" : "type", methods, "default");
  if (method === "default") return { frequencies, scale: 1 };
  const factor = scaling.numberAtLeast("factor", 1);
  if (method === "linear") return { frequencies: frequencies.map((each) => Math.fround(each / factor)), scale: 1 };
  const context =
    scaling.positiveIntegerIfGiven("original_max_position_embeddings") ?? config.positiveInteger("max_position_embeddings");
  if (method === "llama3") return { frequencies: llama3(scaling, frequencies, factor, context), scale: 1 };
  return yarn(scaling, frequencies, { factor, context, theta });
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
  const elementOf = (turns: number): number => (size * Math.log(context / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const first = elementOf(scaling.positiveNumber("beta_fast", 32));
  const last = elementOf(scaling.positiveNumber("beta_slow", 1));
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

/** How tokens are chosen and where texts end, as requests of all protocols say it. */
import { omitUndefined } from "../../../contract/checked.ts";
import type { GenerationOptions } from "../../../tasks/generation/sampling/generated-generation-options.ts";

/** Options of generation by the names of the library, each with a value that a request may have for it. */
export type WrittenSampling = {
  readonly [Name in Exclude<keyof GenerationOptions, "stop">]?: GenerationOptions[Name] | undefined;
} & { readonly stop?: string | readonly string[] | undefined };

/**
 * The options of generation, with what clients write for "none" left out: a seed of -1, with which clients of llama.cpp, Ollama and vLLM ask for another
 * text each time, a negative number of tokens, a `typicalP` of 0, empty texts to stop at. A `topP` of 0 leaves the most probable token. Seeds count modulo 2^32.
 */
export function readSampling({
  seed,
  topP,
  typicalP,
  maxNewTokens = -1,
  stop = [],
  ...others
}: WrittenSampling): GenerationOptions {
  const stops = [stop].flat().filter((each) => each !== "");
  const { temperature } = others;
  return omitUndefined({
    ...others,
    temperature: topP === 0 ? 0 : temperature,
    topP: topP === 0 ? undefined : topP,
    typicalP: typicalP === 0 ? undefined : typicalP,
    seed: seed === undefined || seed === -1 ? undefined : seed >>> 0,
    maxNewTokens: maxNewTokens < 0 ? undefined : maxNewTokens,
    stop: stops.length === 0 ? undefined : stops,
  });
}

/** Embeddings of pictures, and of texts on models that embed pictures in the same space. */
import type { EmbedMediaResult } from "../../../api/media/vision-requests.ts";
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError, invalidInput } from "../../../contract/errors.ts";
import type { EmbedOptions } from "../../../tasks/embedding/embed-options.ts";
import type { MediaInput } from "../../../tasks/vision/embed-media.ts";
import { toSnakeCase } from "../../http/snake-case.ts";
import type { Service } from "../../serving/service.ts";
import type { RunsOn } from "../run-task.ts";

/**
 * Embeds texts and pictures. Throws INPUT_INVALID for options that have an effect with models of texts alone, INPUT_TOO_LONG for a text that is too long where
 * `truncate` is "error", and MODEL_UNSUPPORTED for a model that embeds no pictures.
 */
export async function embedInputs(
  { runtime }: Service,
  on: RunsOn,
  inputs: readonly MediaInput[],
  { truncate = "cut", dimensions, normalize, ...textOptions }: EmbedOptions,
): Promise<EmbedMediaResult> {
  const [given] =
    Object.entries(textOptions).find(([, value]) => value !== undefined) ?? (truncate === "windows" ? ["truncate"] : []);
  if (given !== undefined)
    throw invalidInput(
      `"${toSnakeCase(given)}" has an effect with models of texts alone, and ${on.model.manifest.name} embeds pictures too`,
      `leave "${toSnakeCase(given)}" out`,
      { path: [toSnakeCase(given)] },
    );
  const result = await runtime.embed(inputs, { ...omitUndefined({ dimensions, normalize }), ...on });
  const [cut] = result.truncated;
  if (truncate === "error" && cut !== undefined)
    throw new InferyardError(
      "INPUT_TOO_LONG",
      `input ${cut} has more tokens than the ${result.tokens[cut] ?? 0} that the model reads`,
      {
        remedy: 'shorten it, or state `truncate`: "cut"',
        data: { path: ["input"] },
      },
    );
  return result;
}

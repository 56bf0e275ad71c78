/** Compares two runs of one model: of language models the logits after each token, of others the vectors of texts. */
import type { Runtime } from "../api/runtime.ts";
import { omitUndefined } from "../contract/checked.ts";
import { invalidInput } from "../contract/errors.ts";
import { usualKind } from "../models/language-tasks.ts";
import { refuseUnknown } from "../runtime/options/options.ts";
import { crossValidateLanguage, recordRun } from "./cross-validate-language.ts";
import { crossValidateVectors } from "./cross-validate-vectors.ts";
import type { CrossValidation, CrossValidationOptions, ComparedLanguageRun, RecordOptions } from "./cross-validation.ts";

const optionNames = [
  "model",
  "variant",
  "target",
  "against",
  "againstModel",
  "againstVariant",
  "prompt",
  "tokens",
  "continuation",
  "texts",
  "threads",
  "record",
  "maxError",
  "minCosine",
  "signal",
];
const recordOptionNames = ["model", "variant", "target", "prompt", "tokens", "continuation", "record", "signal"];

/**
 * Runs a model on two targets, or on a target and a recording, and compares what they compute. Both runs of a language model read the same token ids: the
 * prompt in one call, then one token after the other, which the reference chooses greedily. Models that nobody uses are unloaded between the runs.
 *
 * Throws INPUT_INVALID for options that do not fit the model, for models with different tokens, and for a recording of another model; VERIFICATION_FAILED for
 * numbers that are not finite; and errors of loading a model.
 */
export async function crossValidate(runtime: Runtime, options: CrossValidationOptions): Promise<CrossValidation> {
  refuseUnknown(options, optionNames, "crossValidate");
  checkNumbers(options);
  const { model, variant, signal } = options;
  const manifest = await runtime.manifest(model, omitUndefined({ variant, signal }));
  if (usualKind(manifest) === "tensor") return crossValidateVectors(runtime, options);
  return crossValidateLanguage(runtime, manifest, options);
}

/** Runs a language model and writes its tokens and logits to a file, which `crossValidate` compares others with. Throws as `crossValidate` does. */
export async function recordLogits(runtime: Runtime, options: RecordOptions): Promise<ComparedLanguageRun> {
  refuseUnknown(options, recordOptionNames, "recordLogits");
  checkNumbers(options);
  const { model, variant, signal } = options;
  const manifest = await runtime.manifest(model, omitUndefined({ variant, signal }));
  if (usualKind(manifest) === "tensor") {
    throw invalidInput(`${model} is not a language model, and recordings are of language models`, "compare two targets instead");
  }
  return recordRun(runtime, manifest, options);
}

function checkNumbers({ tokens, continuation, maxError, minCosine }: Partial<CrossValidationOptions>): void {
  if (tokens !== undefined && (!Number.isSafeInteger(tokens) || tokens < 0))
    throw invalidInput(`tokens is ${tokens}`, "give a whole number from 0");
  if (tokens !== undefined && continuation !== undefined) {
    throw invalidInput(
      "tokens and continuation are both given, and each says what follows the prompt",
      "leave one of the two out",
    );
  }
  if (maxError !== undefined && !(maxError >= 0)) throw invalidInput(`maxError is ${maxError}`, "give a number from 0");
  if (minCosine !== undefined && !(minCosine >= -1 && minCosine <= 1))
    throw invalidInput(`minCosine is ${minCosine}`, "give a number from -1 to 1");
}

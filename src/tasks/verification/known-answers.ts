/** Verifies a loaded model: embeds the known texts of its manifest and compares the vectors with the expected ones. */
import type { AnswerCheck } from "../../runtime/loading/verification.ts";
import { at } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { ManifestKnownAnswer } from "../../models/manifest.ts";
import type { TokenizerCache } from "../encoding/tokenizer-cache.ts";

/**
 * Creates the check that runs after every load. It returns a sentence for the decision, or undefined for a model without known answers, and
 * throws VERIFICATION_FAILED if a component differs by more than the tolerance.
 */
export function createAnswerCheck(tokenizers: TokenizerCache): AnswerCheck {
  return async (model, manifest, signal) => {
    if (manifest.probe?.kind !== "text" || manifest.text === undefined) return undefined;
    const { answers } = manifest.probe;
    const { text } = manifest;
    const tokenizer = await tokenizers.get(text);
    const { inputs, outputs } = model;
    const loadModules = tokenizers.getModules.bind(tokenizers);
    const encoder = {
      manifest,
      tokenizer,
      inputs,
      outputs,
      loadModules,
      run: model.run.bind(model),
      replicas: async () => [model],
    };
    const { embed } = await import("../embedding/embed.ts"); // most models have no known answers
    const texts = answers.map((answer) => answer.text);
    const { embeddings } = await embed(encoder, texts, signal === undefined ? {} : { signal });
    for (const [index, answer] of answers.entries()) compare(answer, at(embeddings, index));
    return `${answers.length} known ${answers.length === 1 ? "answer" : "answers"} of its manifest held`;
  };
}

function compare(answer: ManifestKnownAnswer, embedding: Float32Array): void {
  const difference = maxAbsDifference(answer.embedding, embedding);
  if (difference <= answer.tolerance) return;
  throw new InferyardError(
    "VERIFICATION_FAILED",
    `the embedding of "${answer.text}" differs from the known answer by ${difference.toPrecision(3)}; the tolerance is ${answer.tolerance}`,
    {
      remedy: "the engine computes this model wrongly on this target: try another target or variant",
    },
  );
}

/** Maximum absolute difference of the components of two vectors; Infinity if their lengths differ, NaN if a component is NaN. */
export function maxAbsDifference(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  return a.reduce((largest, value, index) => Math.max(largest, Math.abs(value - (b[index] ?? Number.NaN))), 0);
}

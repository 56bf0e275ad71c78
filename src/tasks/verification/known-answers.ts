/** Holds a loaded model against the known answers of its manifest. */
import type { AnswerCheck } from "../../runtime/loading/verification.ts";
import { InferyardError } from "../../errors.ts";
import type { KnownAnswer } from "../../models/manifest.ts";
import type { TokenizerCache } from "../shared/tokenizer-cache.ts";
import { embed } from "../embedding/embed.ts";

/** The check that loading runs after every load. */
export function createAnswerCheck(tokenizers: TokenizerCache): AnswerCheck {
  return async (model, manifest, signal) => {
    if (manifest.probe?.kind !== "text" || manifest.text === undefined) return undefined;
    const { answers } = manifest.probe;
    const { text } = manifest;
    const tokenizer = await tokenizers.get(text);
    const { inputs, outputs } = model;
    const chain = () => tokenizers.getPostPooling(text);
    const encoder = { manifest, tokenizer, inputs, outputs, chain, run: model.run.bind(model), replicas: async () => [model] };
    const texts = answers.map((answer) => answer.text);
    const { embeddings } = await embed(encoder, texts, signal === undefined ? {} : { signal });
    for (const [index, answer] of answers.entries()) compare(answer, embeddings[index] ?? new Float32Array());
    return `${answers.length} known ${answers.length === 1 ? "answer" : "answers"} of its manifest held`;
  };
}

function compare(answer: KnownAnswer, embedding: Float32Array): void {
  const difference = maxAbsDifference(answer.embedding, embedding);
  if (difference <= answer.tolerance) return;
  throw new InferyardError(
    "VERIFICATION_FAILED",
    `the known answer for "${answer.text}" is off by ${difference.toPrecision(3)}, and ${answer.tolerance} is allowed`,
    {
      remedy: "the engine computes this model wrongly here: try another target or variant",
    },
  );
}

/** Infinity where the lengths differ. */
export function maxAbsDifference(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  return a.reduce((largest, value, index) => Math.max(largest, Math.abs(value - (b[index] ?? Number.NaN))), 0);
}

/** Log probabilities of the tokens of a prompt. */
import type { SequenceId } from "../../../contract/backend.ts";
import { at } from "../../../contract/checked.ts";
import { createYielder } from "../../encoding/yielding.ts";
import type { DecodeScheduler } from "../decode-scheduler.ts";
import type { PromptLogprob } from "../generated-text.ts";
import { choiceLogprobs } from "./log-probabilities.ts";

/** A prompt that was read and scored. */
export interface ScoredPrompt {
  /** Logits after the last token. */
  readonly logits: Float32Array;
  /** One per token. */
  readonly logprobs: readonly PromptLogprob[];
}

/** Reads prompts piece by piece, so that the logits of one piece are in memory at a time. */
export class PromptScorer {
  readonly #scheduler: Pick<DecodeScheduler, "append" | "chunkTokens">;
  readonly #alternatives: number;

  /** `alternatives`: number of most probable tokens that are given beside each token. */
  constructor(scheduler: Pick<DecodeScheduler, "append" | "chunkTokens">, alternatives: number) {
    this.#scheduler = scheduler;
    this.#alternatives = alternatives;
  }

  /** Appends one or more tokens of a prompt to an empty sequence. Rejects with the errors of `DecodeScheduler.append`. */
  async read(sequence: SequenceId, tokens: readonly number[], signal: AbortSignal | undefined): Promise<ScoredPrompt> {
    const logprobs: PromptLogprob[] = [{ token: at(tokens, 0), logprob: null, top: [] }];
    const { chunkTokens } = this.#scheduler;
    const yieldIfDue = createYielder();
    let logits = new Float32Array();
    for (let from = 0; from < tokens.length; from += chunkTokens) {
      const piece = tokens.slice(from, from + chunkTokens);
      const rows = await this.#scheduler.append(sequence, piece, signal, piece.length);
      const width = rows.length / piece.length;
      for (let index = 0; index < piece.length; index += 1) {
        logits = rows.slice(index * width, (index + 1) * width);
        if (from + index + 1 === tokens.length) break;
        const token = at(tokens, from + index + 1);
        logprobs.push({ token, ...choiceLogprobs(logits, token, this.#alternatives) });
        await yieldIfDue();
      }
    }
    return { logits, logprobs };
  }
}

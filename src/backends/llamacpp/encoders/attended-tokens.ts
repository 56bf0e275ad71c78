/** The token ids that llama.cpp reads of each row of a batch. */
import { InferyardError } from "../../../contract/errors.ts";
import type { TensorMap } from "../../../contract/tensor.ts";

/** Limits of token ids and texts. */
export interface TokenLimits {
  readonly vocabulary: number;
  /** Maximum number of tokens of a text. */
  readonly maxTokens: number;
}

/**
 * The ids of each row without its padding. `inputs` have passed `checkInputs`. llama.cpp has no attention mask: a row must be attended from its first
 * token on. Throws INPUT_INVALID for another mask and for an id outside the vocabulary, INPUT_TOO_LONG for a text that is too long.
 */
export function attendedTokens(inputs: TensorMap, { vocabulary, maxTokens }: TokenLimits): readonly number[][] {
  const { shape: [batch = 0, length = 0] = [], data: ids } = inputs["input_ids"] ?? {};
  const mask = inputs["attention_mask"]?.data;
  return Array.from({ length: batch }, (_, row) => {
    const start = row * length;
    let attended = 0;
    while (attended < length && Number(mask?.[start + attended]) === 1) attended += 1;
    for (let position = attended; position < length; position += 1) {
      if (Number(mask?.[start + position]) === 0) continue;
      throw invalid(
        `attention_mask of row ${row} is ${String(mask?.[start + position])} at ${position}, behind a 0 or not 0 or 1`,
      );
    }
    if (attended === 0) throw invalid(`attention_mask of row ${row} attends to no token`);
    if (attended > maxTokens) {
      throw new InferyardError("INPUT_TOO_LONG", `row ${row} has ${attended} tokens, and the model reads at most ${maxTokens}`, {
        data: { text: row, tokens: attended, limit: maxTokens },
      });
    }
    return Array.from({ length: attended }, (__, position) => {
      const id = Number(ids?.[start + position]);
      if (id >= 0 && id < vocabulary) return id;
      throw invalid(`input_ids of row ${row} has ${id} at ${position}, and the model's token ids are 0 to ${vocabulary - 1}`);
    });
  });
}

function invalid(message: string): InferyardError {
  return new InferyardError("INPUT_INVALID", message, {
    remedy: "give each row its tokens first and its padding behind them, with attention_mask 1 and 0",
  });
}

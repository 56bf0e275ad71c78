/** Vectors of texts as protocols want them: one for each text, as plain numbers. */
import { InferyardError } from "../../errors.ts";
import type { EmbedResult } from "../../api/task-requests.ts";

/** MODEL_UNSUPPORTED where a model gives one for each token. */
export function refuseTokenVectors({ pooling }: EmbedResult, name: string): void {
  if (pooling === undefined) return;
  throw new InferyardError(
    "MODEL_UNSUPPORTED",
    `${name} gives a vector for each token of a text, and this route one for each text`,
    {
      remedy: "ask POST /embed_all, or another model",
    },
  );
}

/** What JSON is made of. The same as spreading, without an object for each number. */
export function numbersOf(vector: Float32Array): number[] {
  const numbers: number[] = [];
  for (const value of vector) numbers.push(value);
  return numbers;
}

/** Protocols that know one vector for each text say so where a model has one for each token. */
import { InferyardError } from "../errors.ts";
import type { EmbedResult } from "../task-requests.ts";

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

/** Which output of an encoder holds the vectors, and how they are read from it. */
import { InferyardError } from "../../errors.ts";
import type { Pooling } from "../../models/manifest.ts";
import type { TensorInfo } from "../../tensor.ts";

export interface VectorOutput {
  readonly name: string;
  /** "sentence": one vector per text, pooled inside the graph. "token": one per token. */
  readonly level: "sentence" | "token";
}

/** Names exports give to token vectors, best first. */
const tokenNames = ["last_hidden_state", "token_embeddings", "hidden_states"];

/**
 * A graph that pools by itself knows best, so its `sentence_embedding` is taken unless the caller asks for another pooling than the
 * model's own. Else the token vectors. MODEL_UNSUPPORTED where there are none.
 */
export function vectorOutput(
  outputs: readonly TensorInfo[],
  pooling: Pooling | undefined,
  ownPooling: Pooling | undefined,
): VectorOutput {
  const sentence = outputs.find(({ name, shape }) => name === "sentence_embedding" && shape.length === 2);
  const tokens =
    tokenNames.map((name) => outputs.find((output) => output.name === name && output.shape.length === 3)).find(Boolean) ??
    outputs.find(({ shape }) => shape.length === 3);
  const overridden = pooling !== undefined && pooling !== ownPooling;
  if (sentence !== undefined && !overridden) return { name: sentence.name, level: "sentence" };
  if (tokens !== undefined) return { name: tokens.name, level: "token" };
  if (sentence !== undefined) {
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `this model gives one vector per text, pooled inside; pooling "${pooling}" needs token vectors`,
      {
        remedy: "leave the pooling out",
      },
    );
  }
  const given = outputs.map(({ name, shape }) => `${name} [${shape.join(", ")}]`).join(", ");
  throw new InferyardError("MODEL_UNSUPPORTED", `no output of this model holds embeddings; it gives ${given}`, {
    remedy: "use a feature-extraction export of the model",
  });
}

/** Exports of late-interaction models (ColBERT) name their one output "contextual": token vectors, made for MaxSim. */
export function isLateInteraction(outputs: readonly TensorInfo[]): boolean {
  return outputs.some(({ name, shape }) => name === "contextual" && shape.length === 3);
}

/** Which output of an encoder holds the vectors, and how they are read from it. */
import { InferyardError } from "../errors.ts";
import type { Pooling } from "../models/manifest.ts";
import type { Tensor, TensorInfo } from "../tensor.ts";

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

/** The values as float32, whatever the graph computes in. */
export function asFloat32(tensor: Tensor): Float32Array {
  const { data, dataType } = tensor;
  if (data instanceof Float32Array) return data;
  if (data instanceof Float64Array) return Float32Array.from(data);
  if (data instanceof Uint16Array && dataType === "float16") return Float32Array.from(data, halfToNumber);
  if (data instanceof Uint16Array && dataType === "bfloat16") {
    return new Float32Array(Uint32Array.from(data, (bits) => bits << 16).buffer);
  }
  throw new InferyardError("MODEL_UNSUPPORTED", `the model gives embeddings as ${dataType}, which is not a floating-point type`);
}

/** IEEE 754 binary16: 1 sign bit, 5 exponent bits with bias 15, 10 fraction bits. */
function halfToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** The source text of a sequence, as an encoder reads it. */
import type { FeatureShape, TensorModel } from "../../contract/backend.ts";
import { InferyardError, unsupportedModel } from "../../contract/errors.ts";
import type { Tensor, TensorMap } from "../../contract/tensor.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { checkTokens } from "./check-steps.ts";
import type { DecoderGraph } from "./decoder-graph.ts";
import { encoderRunInputs } from "./run-inputs.ts";

/** Throws INPUT_INVALID for ids outside of the vocabulary, and INPUT_TOO_LONG for more tokens than the graph takes. */
export function checkSource(
  source: readonly number[],
  { vocabulary, sourceTokens = Number.POSITIVE_INFINITY }: Pick<DecoderGraph, "vocabulary" | "sourceTokens">,
): void {
  checkTokens(source, vocabulary);
  if (source.length <= sourceTokens) return;
  throw new InferyardError("INPUT_TOO_LONG", `the source has ${source.length} tokens, and the model takes ${sourceTokens}`, {
    remedy: "shorten the text",
    data: { tokens: source.length, contextLength: sourceTokens },
  });
}

/** The encoder's output [1, positions, hidden] for features [bins, frames]. */
export async function encodeFeatures(
  encoder: TensorModel,
  features: Float32Array<ArrayBuffer>,
  { bins, frames }: FeatureShape,
  signal: AbortSignal | undefined,
): Promise<Tensor> {
  const name = encoder.inputs[0]?.name ?? "input_features";
  const inputs: TensorMap = { [name]: { dataType: "float32", shape: [1, bins, frames], data: features } };
  const results = await encoder.run(inputs, omitUndefined({ signal }));
  const { last_hidden_state: states = Object.values(results)[0] } = results;
  if (states?.shape.length === 3) return states;
  throw new InferyardError("MODEL_UNSUPPORTED", "the encoder returns no states of [batch, positions, hidden]");
}

/** The encoder's output [1, source, hidden]. */
export async function encode(encoder: TensorModel, source: readonly number[], signal: AbortSignal | undefined): Promise<Tensor> {
  const results = await encoder.run(encoderRunInputs(encoder.inputs, source), omitUndefined({ signal }));
  const { last_hidden_state: states = Object.values(results)[0] } = results;
  if (states?.shape.length === 3) {
    const [, , hidden = 0] = states.shape; // the first row without the end that was padded
    const data = (states.data as Float32Array).slice(0, source.length * hidden);
    return states.data.length === data.length ? states : { ...states, shape: [1, source.length, hidden], data };
  }
  throw unsupportedModel("the encoder returns no states of [batch, tokens, hidden]");
}

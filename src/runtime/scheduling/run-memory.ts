/**
 * Estimates the memory of one run besides the weights from the shapes of its inputs and the model's config.json, before
 * anything is allocated.
 */
import type { Capabilities, ModelFiles } from "../../contract/backend.ts";
import { elementCount, type Tensor, type TensorMap } from "../../contract/tensor.ts";
import { getTransformerSizes, maskInput, tokenInput } from "../../models/transformer-sizes.ts";

/** Number of tensors of the largest size that are live at once. onnxruntime keeps operands beside the result: measured on MiniLM in fp32 and int8, docs/guide/tuning.md. */
const defaultLiveTensors = 2;

/**
 * Bytes of a run for each byte of its inputs if the model's sizes are unknown: a coarse upper bound. Measured: 4 to 15 for
 * image detectors and classifiers, 400 for a file classifier that embeds each integer.
 */
const perInputByte = { integers: 512, others: 32 } as const;

const floatBytes = 4;

/**
 * Estimated bytes of one run besides the weights. `runMemory`: what the backend says of its runs; `variant`: the
 * model; `inputs`: tensors by input name.
 */
export function estimateRunMemory(
  runMemory: Capabilities["runMemory"],
  variant: Pick<ModelFiles, "config" | "architecture">,
  inputs: TensorMap,
): number {
  const given = Object.values(inputs).reduce((sum, tensor) => sum + getBytes(tensor), 0);
  const tokens = inputs[tokenInput]?.shape;
  const sizes = getTransformerSizes(variant);
  if (sizes === undefined || tokens?.length !== 2)
    return Object.values(inputs).reduce((sum, tensor) => sum + getBytes(tensor) * getFactor(tensor), 0);
  const [batch = 0, length = 0] = tokens;
  const keys = Math.max(length, inputs[maskInput]?.shape[1] ?? 0);
  const { hidden, heads, intermediate, scores, logits } = sizes;
  const attention = scores * batch * heads * length * keys;
  const widest = batch * length * (intermediate + 2 * hidden + logits);
  return given + (runMemory?.liveTensors ?? defaultLiveTensors) * (attention + widest) * floatBytes;
}

/** A string is counted as a pointer. */
function getBytes({ data, shape }: Tensor): number {
  return ArrayBuffer.isView(data) ? data.byteLength : elementCount(shape) * 2 * floatBytes;
}

function getFactor({ dataType }: Tensor): number {
  return /int|string|bool/.test(dataType) ? perInputByte.integers : perInputByte.others;
}

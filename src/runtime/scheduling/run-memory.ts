/**
 * Estimates the memory of one run besides the weights from the shapes of its inputs and the model's config.json, before
 * anything is allocated.
 */
import { configNames } from "../../formats/config-names.ts";
import { elementCount, type Tensor, type TensorMap } from "../../contract/tensor.ts";

/** Sizes of a transformer, read from config.json under any of the names that architectures use. */
interface EncoderSizes {
  readonly hidden: number;
  readonly heads: number;
  readonly intermediate: number;
  /**
   * Attention score tensors held at once, in units of [batch, heads, tokens, keys]: 3 with disentangled attention (DeBERTa, He
   * et al. 2021).
   */
  readonly scores: number;
  /** Logits of one token if the model predicts tokens; otherwise 0. */
  readonly logits: number;
}

/**
 * Number of tensors of the largest size that are live at once, by backend. onnxruntime keeps operands beside the result; our
 * own engine computes attention, softmax and activations in place. Measured on MiniLM in fp32 and int8: docs/guide/tuning.md.
 */
const liveTensorFactor: Readonly<Record<string, number>> = { native: 1 };
const defaultLiveTensorFactor = 2;

/**
 * Bytes of a run for each byte of its inputs if the model's sizes are unknown: a coarse upper bound. Measured: 4 to 15 for
 * image detectors and classifiers, 400 for a file classifier that embeds each integer.
 */
const perInputByte = { integers: 512, others: 32 } as const;

const floatBytes = 4;

/**
 * Estimated bytes of one run besides the weights. `backend`: name of the backend that runs the model; `config`: its
 * config.json; `inputs`: tensors by input name.
 */
export function estimateRunMemory(
  backend: string,
  config: Readonly<Record<string, unknown>>,
  architecture: string | undefined,
  inputs: TensorMap,
): number {
  const given = Object.values(inputs).reduce((sum, tensor) => sum + getBytes(tensor), 0);
  const tokens = inputs["input_ids"]?.shape;
  const sizes = encoderSizes(config, architecture);
  if (sizes === undefined || tokens?.length !== 2)
    return Object.values(inputs).reduce((sum, tensor) => sum + getBytes(tensor) * getFactor(tensor), 0);
  const [batch = 0, length = 0] = tokens;
  const keys = Math.max(length, inputs["attention_mask"]?.shape[1] ?? 0);
  const { hidden, heads, intermediate, scores, logits } = sizes;
  const attention = scores * batch * heads * length * keys;
  const widest = batch * length * (intermediate + 2 * hidden + logits);
  return given + (liveTensorFactor[backend] ?? defaultLiveTensorFactor) * (attention + widest) * floatBytes;
}

function encoderSizes(config: Readonly<Record<string, unknown>>, architecture: string | undefined): EncoderSizes | undefined {
  const first = (...names: readonly string[]): number | undefined =>
    names.map((name) => config[name]).find((value): value is number => Number.isSafeInteger(value) && Number(value) > 0);
  const hidden = first(...configNames.width, "dim");
  const heads = first(...configNames.heads, "n_heads", "encoder_attention_heads", "num_heads");
  if (hidden === undefined || heads === undefined) return undefined;
  const predictsTokens = /MaskedLM|CausalLM|LMHeadModel|ConditionalGeneration|WithLMHead/.test(architecture ?? "");
  return {
    hidden,
    heads,
    intermediate: first(...configNames.inner, "encoder_ffn_dim", "d_ff", "hidden_dim") ?? 4 * hidden,
    scores: String(config["model_type"]).startsWith("deberta") ? 3 : 1,
    logits: predictsTokens ? (first("vocab_size") ?? 0) : 0,
  };
}

/** A string is counted as a pointer. */
function getBytes({ data, shape }: Tensor): number {
  return ArrayBuffer.isView(data) ? data.byteLength : elementCount(shape) * 2 * floatBytes;
}

function getFactor({ dataType }: Tensor): number {
  return /int|string|bool/.test(dataType) ? perInputByte.integers : perInputByte.others;
}

/** The shape transformers.js users know: `await pipeline(task, model)` gives a function. */
import { type RuntimeConfig, createRuntime } from "./create-runtime.ts";
import type { EmbedRequest, Runtime } from "./task-runtime.ts";
import { InferyardError } from "./errors.ts";
import type { Decision } from "./runtime/decision.ts";
import type { ModelHandle } from "./runtime/model-handle.ts";
import { refuseOther } from "./runtime/options.ts";
import type { ModelOptions } from "./runtime/runtime-settings.ts";
import type { EmbedOptions } from "./tasks/embed-settings.ts";

/** Tasks `pipeline` knows. */
export type PipelineTask = "feature-extraction";

export interface PipelineOptions extends ModelOptions, Omit<RuntimeConfig, keyof ModelOptions> {}

/** Vectors as one block, the way transformers.js gives them, and where they were computed. */
export interface FeatureTensor {
  /** [texts, dimensions]; with pooling "none" [texts, tokens of the longest, dimensions], zeros after the end of shorter ones. */
  readonly dims: readonly number[];
  /** Row-major. */
  readonly data: Float32Array;
  /** Tokens of each text, special tokens included: with pooling "none" so many of its rows are vectors, and the rest zeros. */
  readonly tokens: readonly number[];
  readonly target: string;
  readonly decision: Decision;
  /** Nested arrays of numbers. */
  tolist(): unknown[];
}

/** A loaded pipeline. Its defaults for pooling and normalization are the model's own, where transformers.js's are none. */
export interface FeatureExtractionPipeline {
  (texts: string | readonly string[], options?: EmbedOptions): Promise<FeatureTensor>;
  readonly task: PipelineTask;
  readonly model: ModelHandle;
  /** Unloads the model and ends its host. */
  dispose(): Promise<void>;
}

/** Loads a model for one task, in a runtime of its own. */
export async function pipeline(
  task: PipelineTask,
  model = "builtin",
  options: PipelineOptions = {},
): Promise<FeatureExtractionPipeline> {
  if (task !== "feature-extraction") {
    throw new InferyardError("INPUT_INVALID", `the task "${String(task)}" is not built`, {
      remedy: 'this version has "feature-extraction"',
    });
  }
  const { signal, variant, ...config } = options;
  const runtime = await createRuntime(config);
  try {
    const handle = await runtime.load(model, {
      ...(signal === undefined ? {} : { signal }),
      ...(variant === undefined ? {} : { variant }),
    });
    const extract = (texts: string | readonly string[], request: EmbedOptions = {}): Promise<FeatureTensor> =>
      extractFeatures(runtime, texts, { ...request, model: handle });
    return Object.assign(extract, { task, model: handle, dispose: () => runtime.dispose() });
  } catch (error) {
    await runtime.dispose();
    throw error;
  }
}

async function extractFeatures(
  runtime: Runtime,
  texts: string | readonly string[],
  request: EmbedRequest,
): Promise<FeatureTensor> {
  refuseOther("precision", request.precision, ["float32"]);
  const { embeddings, pooling, dimensions, tokens, target, decision } = await runtime.embed(texts, request);
  const longest = embeddings.reduce((most, vectors) => Math.max(most, vectors.length), 0);
  const data = new Float32Array(embeddings.length * longest);
  for (const [index, vectors] of embeddings.entries()) data.set(vectors, index * longest);
  const dims =
    pooling === "none" ? [embeddings.length, longest / Math.max(dimensions, 1), dimensions] : [embeddings.length, dimensions];
  return { dims, data, tokens, target, decision, tolist: () => nest(data, dims) };
}

function nest(data: Float32Array, dims: readonly number[]): unknown[] {
  if (dims.length <= 1) return [...data];
  const [count = 0, ...rest] = dims;
  const size = rest.reduce((product, dimension) => product * dimension, 1);
  return Array.from({ length: count }, (_row, index) => nest(data.subarray(index * size, (index + 1) * size), rest));
}

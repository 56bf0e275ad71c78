/** Static token embeddings: the vector of a text is the weighted mean of its tokens' rows, without layers or context. */
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import { checkInputs, checkOutputs, type TensorInfo, type TensorMap } from "../../contract/tensor.ts";
import type { KernelCount, Library, RunOptions, TensorModel } from "../../contract/backend.ts";
import { at, required } from "../../contract/checked.ts";
import { yieldToEventLoop } from "../../platform/event-loop.ts";
import type { EmbeddingMatrix } from "./embedding-matrix.ts";

/** The tensors of a static model. */
export interface StaticEmbeddings {
  /** Matrix with one row of values for each row of the embedding matrix. */
  readonly matrix: EmbeddingMatrix;
  /** Row of each token id. Default: the id itself. */
  readonly mapping?: Uint32Array;
  /** Factor of each token id. Default: 1. */
  readonly weights?: Float32Array;
}

/** Elements added between two yields to the event loop, about one millisecond of work. */
const elementsPerSlice = 1_000_000;
const outputName = "sentence_embedding";
/** Id of the kernel that adds up the rows of tokens: plain TypeScript. */
const staticKernelId = "StaticEmbeddings_Scalar";

/**
 * Maps `input_ids` and `attention_mask`, int64 [batch, sequence], to `sentence_embedding`, float32 [batch, dimensions]: the weighted
 * mean of the rows of the tokens whose mask is 1, not normalized; zeros if there is no such token. A run throws INPUT_INVALID for
 * a token id that the model does not know and for a mask element that is neither 0 nor 1.
 */
export class StaticModel implements TensorModel {
  readonly kind = "tensor";
  readonly inputs: readonly TensorInfo[] = [
    { name: "input_ids", dataType: "int64", shape: ["batch", "sequence"] },
    { name: "attention_mask", dataType: "int64", shape: ["batch", "sequence"] },
  ];
  readonly outputs: readonly TensorInfo[];
  readonly library: Library;
  readonly memory: { readonly bytes: number; readonly measure: "allocated" };
  readonly #description: string;
  readonly #maxRunMemory: number | undefined;
  readonly #running = new Set<Promise<unknown>>();
  /** Undefined after disposal. */
  #embeddings: StaticEmbeddings | undefined;
  #calls = 0;

  /** `maxRunMemory`: bytes that the vectors of one run may take. Default: unlimited. */
  constructor(embeddings: StaticEmbeddings, library: Library, maxRunMemory?: number) {
    this.#maxRunMemory = maxRunMemory;
    const { matrix, mapping, weights } = embeddings;
    this.outputs = [{ name: outputName, dataType: "float32", shape: ["batch", matrix.dimensions] }];
    this.library = library;
    this.memory = { bytes: matrix.bytes + (mapping?.byteLength ?? 0) + (weights?.byteLength ?? 0), measure: "allocated" };
    this.#description = `${matrix.rows} x ${matrix.dimensions} ${matrix.precision}`;
    this.#embeddings = embeddings;
  }

  async run(inputs: TensorMap, options: RunOptions = {}): Promise<TensorMap> {
    const embeddings = this.#embeddings;
    if (embeddings === undefined)
      throw new InferyardError("DISPOSED", "this model has been disposed", { remedy: "load it again" });
    checkInputs(this.inputs, inputs);
    checkOutputs(this.outputs, options.outputs);
    throwIfAborted(options.signal);
    this.#checkMemory(getBatch(inputs), embeddings.matrix.dimensions);
    const running = embed(embeddings, inputs, options.signal);
    this.#running.add(running);
    try {
      const data = await running;
      this.#calls += 1;
      if (options.outputs?.length === 0) return {};
      const { dimensions } = embeddings.matrix;
      return { [outputName]: { dataType: "float32", shape: [data.length / dimensions, dimensions], data } };
    } finally {
      this.#running.delete(running);
    }
  }

  #checkMemory(texts: number, dimensions: number): void {
    const limit = this.#maxRunMemory;
    const estimate = texts * dimensions * Float32Array.BYTES_PER_ELEMENT;
    if (limit === undefined || estimate <= limit) return;
    throw new InferyardError(
      "LIMIT_EXCEEDED",
      `the vectors of ${texts} texts take ${estimate} bytes, and maxRunMemory allows ${limit}`,
      {
        remedy: "give fewer texts at once, or set maxRunMemory higher",
        data: { estimate, limit },
      },
    );
  }

  evidence(): Promise<readonly string[]> {
    return Promise.resolve([`native kernel: static embeddings, ${this.#description}`]);
  }

  async kernelCounts(): Promise<readonly KernelCount[]> {
    return this.#calls === 0 ? [] : [{ id: staticKernelId, calls: this.#calls }];
  }

  async dispose(): Promise<void> {
    this.#embeddings = undefined;
    await Promise.allSettled(this.#running);
  }
}

/** Number of texts: the first axis of `input_ids`, whose shape was checked. */
function getBatch(inputs: TensorMap): number {
  return at(required(inputs["input_ids"], "the input input_ids").shape, 0);
}

/** Computes the vectors. `inputs` have passed `checkInputs`. */
async function embed(
  { matrix, mapping, weights }: StaticEmbeddings,
  inputs: TensorMap,
  signal?: AbortSignal,
): Promise<Float32Array> {
  const { shape } = required(inputs["input_ids"], "the input input_ids");
  const [batch, sequence] = [at(shape, 0), at(shape, 1)];
  const ids = int32Halves(inputs, "input_ids");
  const mask = int32Halves(inputs, "attention_mask");
  const { dimensions } = matrix;
  const tokenCount = mapping?.length ?? matrix.rows;
  const output = new Float32Array(batch * dimensions);
  const sum = new Float64Array(dimensions);
  let work = 0;
  for (let text = 0; text < batch; text++) {
    sum.fill(0);
    let tokens = 0;
    for (let position = 0; position < sequence; position++) {
      const word = 2 * (text * sequence + position);
      if (mask[word] === 1 && mask[word + 1] === 0) {
        const id = ids[word] ?? 0;
        if (ids[word + 1] !== 0 || id < 0 || id >= tokenCount) throw outOfRange(inputs, text, position, tokenCount);
        matrix.addRow(sum, mapping === undefined ? id : (mapping[id] ?? 0), weights === undefined ? 1 : (weights[id] ?? 0));
        tokens++;
        work += dimensions;
      } else {
        if (mask[word] !== 0 || mask[word + 1] !== 0) throw invalidMask(inputs, text, position);
        work++;
      }
      if (work >= elementsPerSlice) {
        work = 0;
        await yieldToEventLoop();
        throwIfAborted(signal);
      }
    }
    const factor = tokens === 0 ? 0 : 1 / tokens;
    for (let i = 0; i < dimensions; i++) output[text * dimensions + i] = (sum[i] ?? 0) * factor;
  }
  return output;
}

/** int64 data as pairs of int32, low half first, which avoids a BigInt per token. All supported platforms are little-endian. */
function int32Halves(inputs: TensorMap, name: string): Int32Array {
  const data = inputs[name]?.data;
  if (!(data instanceof BigInt64Array)) throw new InferyardError("INPUT_INVALID", `input "${name}" does not hold int64 data`);
  return new Int32Array(data.buffer, data.byteOffset, data.length * 2);
}

function valueAt(inputs: TensorMap, name: string, text: number, position: number): string {
  const { data, shape } = required(inputs[name], `the input ${name}`);
  return String(data[text * at(shape, 1) + position]);
}

function outOfRange(inputs: TensorMap, text: number, position: number, tokenCount: number): InferyardError {
  const id = valueAt(inputs, "input_ids", text, position);
  return new InferyardError(
    "INPUT_INVALID",
    `input_ids[${text}, ${position}] is ${id}, and this model knows the token ids 0 to ${tokenCount - 1}`,
    { remedy: "use the tokenizer.json that belongs to this model", data: { id, text, position } },
  );
}

function invalidMask(inputs: TensorMap, text: number, position: number): InferyardError {
  const value = valueAt(inputs, "attention_mask", text, position);
  return new InferyardError("INPUT_INVALID", `attention_mask[${text}, ${position}] is ${value}, and a mask holds only 0 and 1`);
}

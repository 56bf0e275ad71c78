/** A GGUF encoder in llama.cpp as a tensor model of the backend contract. */
import { InferyardError, throwIfAborted, invalidInput } from "../../../contract/errors.ts";
import { checkInputs, checkOutputs, type TensorInfo, type TensorMap } from "../../../contract/tensor.ts";
import type { Device, KernelCount, Library, ModelBase, RunOptions, TensorModel } from "../../../contract/backend.ts";
import { llamaKernelId } from "../../../kernels/kernel-ids.ts";
import { KernelTally } from "../../../kernels/kernel-tally.ts";
import { Mutex } from "../../../concurrency/mutex.ts";
import type { EmbeddingContexts } from "./embedding-contexts.ts";
import type { LlamaModel } from "../library.ts";

/** Constructor arguments of the encoder. */
export interface EncoderParts {
  readonly model: LlamaModel;
  readonly contexts: EmbeddingContexts;
  readonly library: Library;
  readonly output: string;
  /** Elements of a row of the output. */
  readonly elements: number;
  readonly vocabulary: number;
  /** Maximum number of tokens of a text. */
  readonly maxTokens: number;
  readonly device: Device;
  /** Sentences about where the model computes. */
  readonly evidence: readonly string[];
}

/** An encoder whose pooled vectors or logits llama.cpp computes, one text after the other, without padding. */
export class LlamaEncoder implements TensorModel {
  readonly kind = "tensor";
  readonly inputs: readonly TensorInfo[] = ["input_ids", "attention_mask"].map((name) => {
    return { name, dataType: "int64", shape: ["batch", "sequence"] };
  });
  readonly outputs: readonly TensorInfo[];
  readonly library: Library;
  readonly #parts: EncoderParts;
  readonly #mutex = new Mutex();
  readonly #tally = new KernelTally();
  #disposal: Promise<void> | undefined;

  constructor(parts: EncoderParts) {
    this.#parts = parts;
    this.library = parts.library;
    this.outputs = [{ name: parts.output, dataType: "float32", shape: ["batch", parts.elements] }];
  }

  get memory(): ModelBase["memory"] {
    const { ram, vram } = this.#parts.model.memoryUsage;
    return { bytes: ram + vram + this.#parts.contexts.bytes, measure: "allocated" };
  }

  async run(inputs: TensorMap, { outputs, signal }: RunOptions = {}): Promise<TensorMap> {
    this.#refuseDisposed();
    checkInputs(this.inputs, inputs);
    const { output, elements, vocabulary, maxTokens, contexts } = this.#parts;
    checkOutputs(this.outputs, outputs);
    const texts = attendedTokens(inputs, { vocabulary, maxTokens });
    return await this.#mutex.runExclusive(async () => {
      const data = new Float32Array(texts.length * elements);
      for (const [index, tokens] of texts.entries()) {
        throwIfAborted(signal);
        const row = await contexts.compute(tokens);
        this.#tally.add(llamaKernelId(this.#parts.device));
        if (row.length !== elements) {
          const message = `llama.cpp gave ${row.length} numbers for a text, and the model states ${elements}`;
          throw new InferyardError("RUN_FAILED", message);
        }
        data.set(row, index * elements);
      }
      throwIfAborted(signal);
      if (outputs?.length === 0) return {};
      return { [output]: { dataType: "float32", shape: [texts.length, elements], data } };
    });
  }

  async evidence(): Promise<readonly string[]> {
    this.#refuseDisposed();
    return this.#parts.evidence;
  }

  /** Calls are texts: llama.cpp computes one after the other. */
  async kernelCounts(): Promise<readonly KernelCount[]> {
    this.#refuseDisposed();
    return this.#tally.counts;
  }

  dispose(): Promise<void> {
    this.#disposal ??= this.#mutex.runExclusive(async () => {
      await this.#parts.contexts.dispose();
      await this.#parts.model.dispose();
    });
    return this.#disposal;
  }

  #refuseDisposed(): void {
    if (this.#disposal !== undefined) throw new InferyardError("DISPOSED", "the model was disposed", { remedy: "load it again" });
  }
}

/** Limits of token ids and texts. */
interface TokenLimits {
  readonly vocabulary: number;
  /** Maximum number of tokens of a text. */
  readonly maxTokens: number;
}

/**
 * The ids of each row without its padding. `inputs` have passed `checkInputs`. llama.cpp has no attention mask: a row must be attended from its first
 * token on. Throws INPUT_INVALID for another mask and for an id outside the vocabulary, INPUT_TOO_LONG for a text that is too long.
 */
function attendedTokens(inputs: TensorMap, { vocabulary, maxTokens }: TokenLimits): readonly number[][] {
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
  return invalidInput(message, "give each row its tokens first and its padding behind them, with attention_mask 1 and 0");
}

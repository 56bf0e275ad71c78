/** A GGUF encoder in llama.cpp as a tensor model of the backend contract. */
import { InferyardError, throwIfAborted } from "../../../contract/errors.ts";
import { checkInputs, checkOutputs, type TensorInfo, type TensorMap } from "../../../contract/tensor.ts";
import type { Device, KernelCount, Library, ModelBase, RunOptions, TensorModel } from "../../../contract/backend.ts";
import { llamaKernelId } from "../../../kernels/kernel-ids.ts";
import { KernelTally } from "../../../kernels/kernel-tally.ts";
import { Mutex } from "../../../concurrency/mutex.ts";
import { attendedTokens } from "./attended-tokens.ts";
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

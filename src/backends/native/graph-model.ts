/** A graph on the engine, from an ONNX file or a transformer, as a loaded model of the backend contract. */
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import { checkInputs, type TensorInfo, type TensorMap, zeros } from "../../contract/tensor.ts";
import type { KernelCount, Library, LoadSettings, ModelBase, RunOptions, TensorModel } from "../../contract/backend.ts";
import type { BuiltEncoderDecoder, BuiltTransformer, EngineModel } from "../../engine/index.ts";
import type { ReplicaModel, ReplicaSharing } from "../../contract/replicas.ts";
import { version } from "../../version.ts";
import type { NativeReplicaState } from "./create-engine.ts";

/** An engine with the graph of a model, and what is known of the files it was loaded from. */
export interface GraphParts {
  readonly engine: EngineModel;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /** The same model without its head, which the engine computes on its own; its outputs follow `outputs`. */
  readonly headless?: BuiltTransformer["headless"];
  /** The encoder of a language model, which the same engine computes; then `inputs` and `outputs` are those of the decoder. */
  readonly encoder?: Pick<BuiltEncoderDecoder, "encoderInputs" | "encoderOutputs" | "maxSourceTokens"> | undefined;
  /** Names of outputs that are not tensors, such as sequences. */
  readonly nonTensorOutputs: readonly string[];
  /** Sentences for the evidence: how the weights were read and packed. Default: none. */
  readonly notes?: readonly string[];
  readonly library: Library;
  /** Bytes of the file's weights; 0 if the engine holds other weights than the file. */
  readonly weightBytes: number;
  /** Identity of the files it was loaded from, as `OpenModelFiles.identity`; undefined: the model shares nothing. */
  readonly identity: string | undefined;
  readonly graphOptimization: LoadSettings["graphOptimization"];
}

/** Makes a loaded model of an engine that has its graph. It may still read the model's files. */
export type CreateModel<Model> = (parts: GraphParts) => Model | Promise<Model>;

/** A model whose graph runs on the engine. Members are those of `ReplicaModel`. */
export class GraphModel implements ReplicaModel {
  readonly kind = "tensor";
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  readonly library: Library;
  readonly #parts: GraphParts;
  #disposed = false;

  constructor(parts: GraphParts) {
    this.#parts = parts;
    this.inputs = parts.inputs;
    this.outputs = [...parts.outputs, ...(parts.headless?.outputs ?? [])];
    this.library = parts.library;
  }

  get memory(): TensorModel["memory"] {
    return engineMemory(this.#parts);
  }

  get sharing(): ReplicaSharing | undefined {
    const { engine, identity, graphOptimization } = this.#parts;
    if (!engine.isSharing || identity === undefined || engine.arenaBytes === 0) return undefined; // without an executable no weights are packed
    return {
      exportState: (): NativeReplicaState | undefined => {
        const shared = engine.exportState();
        return shared && { backend: "native", version, identity, graphOptimization, engine: shared };
      },
      replicaBytes: engine.arenaBytes,
    };
  }

  async run(inputs: TensorMap, { outputs, signal }: RunOptions = {}): Promise<TensorMap> {
    if (this.#disposed) throw new InferyardError("DISPOSED", "the model was disposed");
    throwIfAborted(signal);
    checkInputs(this.inputs, inputs);
    this.#checkOutputs(outputs);
    const wanted = outputs ?? this.outputs.map(({ name }) => name);
    const { engine, headless } = this.#parts;
    const isHeadless = (name: string): boolean => headless?.outputs.some((output) => output.name === name) === true;
    const stop = signal === undefined ? {} : { signal };
    const hidden = wanted.filter(isHeadless);
    if (headless === undefined || hidden.length === 0) return await engine.run(inputs, { outputs: wanted, ...stop });
    const states = await engine.run({ ...inputs, [headless.selector]: zeros("int64", [1]) }, { outputs: hidden, ...stop });
    if (hidden.length === wanted.length) return states;
    return { ...(await engine.run(inputs, { outputs: wanted.filter((name) => !isHeadless(name)), ...stop })), ...states };
  }

  async evidence(): Promise<readonly string[]> {
    return engineEvidence(this.#parts);
  }

  async kernelCounts(): Promise<readonly KernelCount[]> {
    return this.#parts.engine.kernelCounts;
  }

  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    await this.#parts.engine.dispose();
  }

  #checkOutputs(names: readonly string[] = []): void {
    for (const name of names) {
      if (this.outputs.some((output) => output.name === name)) continue;
      if (this.#parts.nonTensorOutputs.includes(name))
        throw new InferyardError("MODEL_UNSUPPORTED", `the output "${name}" is not a tensor`);
      throw new InferyardError(
        "INPUT_INVALID",
        `there is no output "${name}" (this model gives ${this.outputs.map((output) => output.name).join(", ")})`,
      );
    }
  }
}

/** The memory that a model on the engine holds. */
export function engineMemory({ engine, weightBytes }: GraphParts): ModelBase["memory"] {
  return engine.bytes > weightBytes || engine.readsSharedWeights
    ? { bytes: engine.bytes, measure: "allocated" }
    : { bytes: weightBytes, measure: "weights" };
}

/** What the engine says of its last run: see `ModelBase.evidence`. */
export function engineEvidence({ engine, notes = [] }: GraphParts): readonly string[] {
  return [`inferyard's own engine in WebAssembly: ${engine.describe()}`, ...notes, ...engine.describeCode()];
}

/** A graph on a compiler of our engine, from an ONNX file or a transformer, as a loaded model of the backend contract. */
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import { checkInputs, checkOutputs, type TensorInfo, type TensorMap, zeros } from "../../contract/tensor.ts";
import type { KernelCount, Library, ModelBase, RunOptions, TensorModel } from "../../contract/backend.ts";
import type { CompiledModel } from "../../engine/index.ts";
import type { ReplicaModel, ReplicaSharing } from "../../contract/replicas.ts";
import type { OpenGraph } from "./open-graph.ts";

/** What a loaded model needs of an engine. */
export type GraphEngine = Pick<
  CompiledModel,
  "run" | "dispose" | "describe" | "describeCode" | "kernelCounts" | "programs" | "bytes"
>;

/** What a loaded model needs of its graph. */
export type GraphFacts = Pick<OpenGraph, "inputs" | "outputs" | "headless" | "nonTensorOutputs" | "notes" | "weightBytes">;

/** An engine with the graph of a model, and facts about its files. */
export interface GraphParts<Engine extends GraphEngine = CompiledModel, Graph extends GraphFacts = OpenGraph> {
  readonly graph: Graph;
  readonly engine: Engine;
  /** The engine as a noun phrase, for the evidence, such as "inferyard's own engine in WebAssembly". */
  readonly engineName: string;
  readonly library: Library;
  /** How the engine computes with quantized weights, for the evidence: a sentence without a full stop. Undefined: the evidence does not mention it. */
  readonly quantization?: string | undefined;
  /** How replicas share weights with the model; undefined: they do not. */
  readonly sharing?: (() => ReplicaSharing | undefined) | undefined;
  /** Whether the engine uses weights that another replica holds. Default: false. */
  readonly readsSharedWeights?: boolean;
}

/** A model whose graph runs on the engine. It has the members of `ReplicaModel`. */
export class GraphModel implements ReplicaModel {
  readonly kind = "tensor";
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  readonly library: Library;
  readonly #parts: GraphParts<GraphEngine, GraphFacts>;
  #disposed = false;

  /** Present if the compiler knows its kernels. */
  readonly kernelCounts?: () => Promise<readonly KernelCount[]>;

  constructor(parts: GraphParts<GraphEngine, GraphFacts>) {
    this.#parts = parts;
    if (parts.engine.kernelCounts !== undefined) this.kernelCounts = async () => parts.engine.kernelCounts ?? [];
    const { inputs, outputs, headless } = parts.graph;
    this.inputs = inputs;
    this.outputs = [...outputs, ...(headless?.outputs ?? [])];
    this.library = parts.library;
  }

  get memory(): TensorModel["memory"] {
    return engineMemory(this.#parts);
  }

  get programs(): TensorModel["programs"] {
    return this.#parts.engine.programs;
  }

  get sharing(): ReplicaSharing | undefined {
    return this.#parts.sharing?.();
  }

  async run(inputs: TensorMap, { outputs, signal }: RunOptions = {}): Promise<TensorMap> {
    if (this.#disposed) throw new InferyardError("DISPOSED", "the model was disposed");
    throwIfAborted(signal);
    checkInputs(this.inputs, inputs);
    const other = outputs?.find((name) => this.#parts.graph.nonTensorOutputs.includes(name));
    if (other !== undefined) throw new InferyardError("MODEL_UNSUPPORTED", `the output "${other}" is not a tensor`);
    const wanted = checkOutputs(this.outputs, outputs);
    const {
      engine,
      graph: { headless },
    } = this.#parts;
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

  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    await this.#parts.engine.dispose();
  }
}

/** The memory that a model on the engine holds. */
export function engineMemory({
  engine,
  graph: { weightBytes },
  readsSharedWeights = false,
}: GraphParts<GraphEngine, GraphFacts>): ModelBase["memory"] {
  return engine.bytes > weightBytes || readsSharedWeights
    ? { bytes: engine.bytes, measure: "allocated" }
    : { bytes: weightBytes, measure: "weights" };
}

/** Evidence of the engine about its last run: see `ModelBase.evidence`. */
export function engineEvidence({
  engine,
  engineName,
  graph,
  quantization,
}: GraphParts<GraphEngine, GraphFacts>): readonly string[] {
  const told = quantization === undefined ? [] : [quantization];
  return [`${engineName}: ${engine.describe()}`, ...graph.notes, ...told, ...engine.describeCode()];
}

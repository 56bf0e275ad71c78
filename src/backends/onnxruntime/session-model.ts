/** A loaded model on a session of onnxruntime, native or WebAssembly. */
import { InferyardError, throwIfAborted, unsupportedModel } from "../../contract/errors.ts";
import {
  type DataType,
  type Tensor,
  type TensorData,
  type TensorInfo,
  type TensorMap,
  checkInputs,
  checkOutputs,
  dataTypes,
  getDimension,
} from "../../contract/tensor.ts";
import type { Library, TensorModel, RunOptions } from "../../contract/backend.ts";
import { runFailure } from "./failures.ts";
import type { OnnxRuntime, OnnxTensor, InferenceSession, ValueMetadata } from "./library.ts";

/** Constructor arguments of a `SessionModel`. */
export interface SessionModelParts {
  readonly runtime: OnnxRuntime;
  readonly session: InferenceSession;
  readonly library: Library;
  /** Bytes of the weights; onnxruntime does not report its memory. */
  readonly weightBytes: number;
  /** Called once, after the first run. Returns the engine's evidence; throws as `TensorModel.evidence` does. */
  readonly afterFirstRun: () => Promise<readonly string[]>;
  /** Frees resources besides the session. Default: none. */
  readonly cleanUp?: () => Promise<void>;
}

/** A model that runs one call at a time; overlapping calls are serialized. */
export class SessionModel implements TensorModel {
  readonly kind = "tensor";
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  readonly library: Library;
  readonly memory: TensorModel["memory"];
  readonly #parts: SessionModelParts;
  /** Names of outputs that are sequences or maps. A run that requests one of them is refused. */
  readonly #others: readonly string[];
  #tail: Promise<unknown> = Promise.resolve();
  #evidence: Promise<readonly string[]> | undefined;
  #disposal: Promise<void> | undefined;

  constructor(parts: SessionModelParts) {
    this.#parts = parts;
    const { inputMetadata, outputMetadata } = parts.session;
    const tensors = outputMetadata.filter(({ isTensor }) => isTensor);
    this.inputs = inputMetadata.map((value) => describeValue(value, "input"));
    // If no output is a tensor, describing the first one throws an error that names it.
    this.outputs = (tensors.length === 0 ? outputMetadata : tensors).map((value) => describeValue(value, "output"));
    this.#others = outputMetadata.filter(({ isTensor }) => !isTensor).map(({ name }) => name);
    this.library = parts.library;
    this.memory = { bytes: parts.weightBytes, measure: "weights" };
  }

  async run(inputs: TensorMap, options: RunOptions = {}): Promise<TensorMap> {
    throwIfAborted(options.signal);
    this.#refuseDisposed();
    checkInputs(this.inputs, inputs);
    const wanted = this.#wanted(options.outputs);
    return this.#serialized(async () => {
      throwIfAborted(options.signal);
      const results = await this.#runSession(inputs, wanted);
      await this.#checkPlacement();
      throwIfAborted(options.signal);
      return results;
    });
  }

  async evidence(): Promise<readonly string[]> {
    this.#refuseDisposed();
    return this.#evidence ?? [];
  }

  dispose(): Promise<void> {
    this.#disposal ??= this.#serialized(async () => {
      await this.#parts.session.release();
      await this.#evidence?.catch(() => []); // its failure is thrown by evidence()
      await this.#parts.cleanUp?.();
    });
    return this.#disposal;
  }

  /** The names of the outputs to compute; by default all. An output that is not a tensor is refused rather than left out. */
  #wanted(named: readonly string[] | undefined): readonly string[] {
    const known = this.outputs.map(({ name }) => name);
    const wanted = named ?? [...known, ...this.#others];
    const other = wanted.find((name) => this.#others.includes(name));
    if (other !== undefined) {
      throw new InferyardError("MODEL_UNSUPPORTED", `output "${other}" of the model is a sequence or a map, not a tensor`, {
        remedy: `name the outputs you want (${known.join(", ")}), or export the model with tensors alone (skl2onnx: zipmap=False)`,
        data: { output: other, tensors: known },
      });
    }
    return checkOutputs(this.outputs, wanted);
  }

  /**
   * Obtains the evidence after the first run. Throws VERIFICATION_FAILED, at this run and all later ones, if the engine computed
   * elsewhere: the first run may come long after the load, if no probe could be made.
   */
  async #checkPlacement(): Promise<void> {
    this.#evidence ??= this.#parts.afterFirstRun();
    try {
      await this.#evidence;
    } catch (error) {
      if (error instanceof InferyardError && error.code === "PLACEMENT_UNPROVEN") return; // thrown by evidence()
      throw error;
    }
  }

  async #runSession(inputs: TensorMap, wanted: readonly string[]): Promise<TensorMap> {
    const { Tensor: OnnxTensor } = this.#parts.runtime;
    try {
      const feeds = Object.entries(inputs).map(([name, { dataType, data, shape }]) => [
        name,
        new OnnxTensor(dataType, data, shape),
      ]);
      const results = await this.#parts.session.run(Object.fromEntries(feeds) as Record<string, OnnxTensor>, wanted);
      return Object.fromEntries(Object.entries(results).map(([name, result]) => [name, ourTensor(result)]));
    } catch (error) {
      throw runFailure(error);
    }
  }

  #serialized<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#tail.then(work);
    this.#tail = turn.catch(() => {}); // a failure concerns this caller only
    return turn;
  }

  #refuseDisposed(): void {
    if (this.#disposal !== undefined) throw new InferyardError("DISPOSED", "this model was disposed");
  }
}

/**
 * Converts a description. Throws MODEL_UNSUPPORTED for types that the contract cannot represent; onnxruntime-node would abort
 * the process for 4-bit outputs.
 */
function describeValue(value: ValueMetadata, role: string): TensorInfo {
  if (!value.isTensor || value.type === undefined || value.type === "bfloat16" || !dataTypes.has(value.type)) {
    const kind = value.isTensor ? (value.type ?? "of unknown type") : "a sequence or a map";
    throw unsupportedModel(
      `${role} "${value.name}" of the model is ${kind}, which this backend cannot exchange`,
      "export the model with ordinary tensors as inputs and outputs (skl2onnx: zipmap=False)",
    );
  }
  const shape = (value.shape ?? []).map(getDimension);
  return { name: value.name, dataType: value.type as DataType, shape };
}

/** Converts a tensor. Newer versions of Node.js return float16 as Float16Array; the contract uses its bits. */
function ourTensor({ type, dims, data }: OnnxTensor): Tensor {
  if (type !== "float16" || data instanceof Uint16Array)
    return { dataType: type as DataType, shape: [...dims], data: data as TensorData };
  const { buffer, byteOffset, byteLength } = data as ArrayBufferView<ArrayBuffer>;
  return { dataType: "float16", shape: [...dims], data: new Uint16Array(buffer, byteOffset, byteLength / 2) };
}

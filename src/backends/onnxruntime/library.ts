/** The subset of the API of onnxruntime-common that we use, which is common to both builds. */

/** The module of onnxruntime. */
export interface OnnxRuntime {
  readonly InferenceSession: {
    create(model: string | Uint8Array, options: Readonly<Record<string, unknown>>): Promise<InferenceSession>;
  };
  readonly Tensor: new (type: string, data: unknown, shape: readonly number[]) => OnnxTensor;
  readonly env: OnnxEnvironment;
}

/** Global settings and versions of onnxruntime. */
export interface OnnxEnvironment {
  /** Minimum severity of messages that the library writes to stderr. Read once, when the library starts. */
  logLevel?: "verbose" | "info" | "warning" | "error" | "fatal";
  readonly versions: Readonly<Record<string, string | undefined>>;
  readonly wasm: { numThreads?: number; wasmPaths?: string };
}

/** An inference session. */
export interface InferenceSession {
  readonly inputMetadata: readonly ValueMetadata[];
  readonly outputMetadata: readonly ValueMetadata[];
  /** Runs the graph; blocks the thread meanwhile. */
  run(feeds: Readonly<Record<string, OnnxTensor>>, fetches?: readonly string[]): Promise<Readonly<Record<string, OnnxTensor>>>;
  endProfiling(): void;
  release(): Promise<void>;
}

/** A tensor of onnxruntime. */
export interface OnnxTensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: unknown;
}

/** Description of an input or output. `type` and `shape` are undefined for sequences and maps. */
export interface ValueMetadata {
  readonly name: string;
  readonly isTensor: boolean;
  readonly type?: string;
  readonly shape?: readonly (number | string)[];
}

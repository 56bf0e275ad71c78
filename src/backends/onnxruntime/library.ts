/** The part of onnxruntime-common's API that both of its builds share and that we use, stated as our own interface. */

export interface OnnxRuntime {
  readonly InferenceSession: { create(model: string | Uint8Array, options: Readonly<Record<string, unknown>>): Promise<Session> };
  readonly Tensor: new (type: string, data: unknown, shape: readonly number[]) => OnnxTensor;
  readonly env: OnnxEnvironment;
}

export interface OnnxEnvironment {
  /** Read once, when the library starts. */
  logLevel?: "verbose" | "info" | "warning" | "error" | "fatal";
  readonly versions: Readonly<Record<string, string | undefined>>;
  readonly wasm: { numThreads?: number; wasmPaths?: string };
}

export interface Session {
  readonly inputMetadata: readonly ValueMetadata[];
  readonly outputMetadata: readonly ValueMetadata[];
  /** Blocks its thread while it runs. */
  run(feeds: Readonly<Record<string, OnnxTensor>>, fetches?: readonly string[]): Promise<Readonly<Record<string, OnnxTensor>>>;
  endProfiling(): void;
  release(): Promise<void>;
}

export interface OnnxTensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: unknown;
}

/** `type` and `shape` are there for tensors only; sequences and maps have neither. */
export interface ValueMetadata {
  readonly name: string;
  readonly isTensor: boolean;
  readonly type?: string;
  readonly shape?: readonly (number | string)[];
}

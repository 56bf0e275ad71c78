/** What the backend and its two builds of onnxruntime-web (Node.js's and a browser's) say to each other. */

/** What a user may set for the backend `wasm`. */
export interface WasmOptions {
  /**
   * Where `ort-wasm-simd-threaded.mjs` and `.wasm` lie: a URL that ends in "/". Default: in Node.js the installed package, in a browser
   * the folder the program was loaded from.
   */
  readonly assets?: string;
}

export interface EngineOptions extends WasmOptions {
  readonly threads: number;
}

/** What a session is made from. */
export interface GraphSource {
  /** A path, or the bytes of the file. */
  readonly graph: string | Uint8Array;
  /** Files the graph keeps its weights in, where the engine cannot open them itself. */
  readonly externalData?: readonly { readonly path: string; readonly data: Uint8Array }[];
}

/** An npm package of an engine. */

/** One package, as package-lock.json states it. */
export interface EnginePackage {
  /** Path below the folder of the engine: "node_modules/koffi". The part after the last "node_modules/" is the name. */
  readonly path: string;
  readonly version: string;
  /** Digest of the tarball as Subresource Integrity: "sha512-<base64>". */
  readonly integrity: string;
  /** Operating systems and processors in npm's words that it is for. Default: all. */
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

/** A loaded model on XLA: graphs compiled for buckets of shapes. */
import type { TensorMap } from "../../contract/tensor.ts";
import { CompiledModel, type EngineRunOptions } from "../../engine/compilation.ts";
import type { GraphSource } from "../../engine/build/graph-source.ts";
import type { RunLimits } from "../../engine/index.ts";
import type { ShapeBuckets } from "./buckets.ts";
import type { XlaCompiler } from "./xla-compiler.ts";

/** A model whose inputs are padded to buckets, where its graph permits. */
export class XlaEngine extends CompiledModel {
  readonly #compiler: XlaCompiler;
  readonly #buckets: ShapeBuckets | undefined;

  /** `buckets`: undefined if the inputs of the model cannot be padded. */
  constructor(source: GraphSource, compiler: XlaCompiler, limits: RunLimits, buckets: ShapeBuckets | undefined) {
    super(source, compiler, limits);
    this.#compiler = compiler;
    this.#buckets = buckets;
  }

  override async run(inputs: TensorMap, options: EngineRunOptions = {}): Promise<TensorMap> {
    if (this.#buckets === undefined || this.#compiler.dependsOnPadding) return await super.run(inputs, options);
    const padded = this.#buckets.pad(inputs);
    return this.#buckets.cut(await super.run(padded.inputs, options), padded);
  }
}

/** A loaded model on XLA: graphs compiled for buckets of shapes. */
import type { TensorMap } from "../../contract/tensor.ts";
import { CompiledModel, type EngineRunOptions } from "../../engine/compilation.ts";
import type { GraphSource } from "../../engine/build/graph-source.ts";
import type { RunLimits } from "../../engine/index.ts";
import type { ShapeBuckets } from "./buckets.ts";
import type { PjrtClient } from "./pjrt/client.ts";
import type { XlaCompiler } from "./xla-compiler.ts";

/** What an engine has besides its compiler. */
interface XlaEngineParts {
  readonly client: PjrtClient;
  /** Undefined if the inputs of the model cannot be padded. */
  readonly buckets: ShapeBuckets | undefined;
}

/** A model whose inputs are padded to buckets, where its graph permits. */
export class XlaEngine extends CompiledModel {
  readonly #compiler: XlaCompiler;
  readonly #client: PjrtClient;
  readonly #buckets: ShapeBuckets | undefined;
  /** Bytes of the device's memory in use before the weights were copied to it; undefined if the plugin does not state them. */
  readonly #usedBefore: number | undefined;

  constructor(source: GraphSource, compiler: XlaCompiler, limits: RunLimits, { client, buckets }: XlaEngineParts) {
    super(source, compiler, limits);
    this.#compiler = compiler;
    this.#client = client;
    this.#buckets = buckets;
    this.#usedBefore = client.memory()?.used;
  }

  override async run(inputs: TensorMap, options: EngineRunOptions = {}): Promise<TensorMap> {
    if (this.#buckets === undefined || this.#compiler.dependsOnPadding) return await super.run(inputs, options);
    return await this.#buckets.run(inputs, async (padded) => await super.run(padded, options));
  }

  override describeCode(): readonly string[] {
    return [...super.describeCode(), ...this.#describePadding(), ...this.#describeMemory()];
  }

  #describePadding(): readonly string[] {
    if (this.#buckets === undefined) return [];
    if (this.#compiler.dependsOnPadding)
      return ["inputs are not padded: ranges of dynamic quantization are taken over all elements"];
    const told = this.#buckets.describe(); // nothing of a decoder, which pads its caches and not its inputs
    return told === undefined ? [] : [told];
  }

  #describeMemory(): readonly string[] {
    const [before, now] = [this.#usedBefore, this.#client.memory()];
    if (before === undefined || now === undefined) return [];
    const of = now.limit === undefined ? "" : ` of ${megabytes(now.limit)}`;
    return [
      `memory of ${this.#client.deviceKind} in use: ${megabytes(before)} before the model was loaded, ${megabytes(now.used)}${of} now`,
    ];
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

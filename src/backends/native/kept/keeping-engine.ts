/** Engines whose plans are kept for later processes. */
import type { TensorMap } from "../../../contract/tensor.ts";
import type { EngineRunOptions } from "../../../engine/execute/compiled-model.ts";
import type { EngineModel } from "../../../engine/execute/engine-model.ts";
import type { RestoredModel } from "../../../engine/execute/kept/restored-model.ts";
import type { GraphEngine } from "../../graphs/graph-model.ts";
import type { PlanWriter } from "./plan-writer.ts";

interface KeepingOptions {
  readonly writer: PlanWriter;
  /** Sentences for the evidence, without a full stop. Default: none. */
  readonly notes?: readonly string[];
  /** The engine that makes plans; undefined as long as none does. */
  computing(): EngineModel | undefined;
  /** Called when the engine was disposed. Default: nothing is done. */
  end?(): void;
}

/** Runs an engine, or a restored model, and has the plans that runs make written. */
export class KeepingEngine implements GraphEngine {
  readonly #engine: EngineModel | RestoredModel;
  readonly #options: KeepingOptions;

  constructor(engine: EngineModel | RestoredModel, options: KeepingOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  get bytes(): number {
    return this.#engine.bytes;
  }

  get kernelCounts(): GraphEngine["kernelCounts"] {
    return this.#engine.kernelCounts;
  }

  get programs(): GraphEngine["programs"] {
    return this.#engine.programs;
  }

  async run(inputs: TensorMap, options?: EngineRunOptions): Promise<TensorMap> {
    const results = await this.#engine.run(inputs, options);
    const computing = this.#options.computing();
    if (computing !== undefined) this.#options.writer.noteRun(computing);
    return results;
  }

  describe(): string {
    return this.#engine.describe();
  }

  describeCode(): readonly string[] {
    const { notes = [], writer } = this.#options;
    const problem = writer.problem === undefined ? [] : [`plans are not kept for later processes: ${writer.problem}`];
    return [...this.#engine.describeCode(), ...notes, ...problem];
  }

  async dispose(): Promise<void> {
    this.#options.writer.write();
    await this.#engine.dispose();
    this.#options.end?.();
  }
}

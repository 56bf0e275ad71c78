/** A model loaded by the engine: graph segments compiled to WebAssembly for the shapes seen so far, over one memory. */
import type { GraphSource } from "../build/graph-source.ts";
import { Compiler } from "./compiler.ts";
import type { EngineSettings } from "./engine-settings.ts";
import { CompiledModel } from "./compiled-model.ts";
import type { SharedEngineState } from "./engine-replicas.ts";
import type { TakenPlans } from "./kept/plan-keeper.ts";

/** A model compiled to WebAssembly, whose replicas on other threads can share its packed weights. */
export class EngineModel extends CompiledModel {
  readonly #compiler: Compiler;

  constructor(source: GraphSource, settings: EngineSettings) {
    const compiler = new Compiler(source.weights, settings);
    super(source, compiler, settings.limits);
    this.#compiler = compiler;
  }

  /** Whether replicas may share the packed weights of this model. */
  get isSharing(): boolean {
    return this.#compiler.isSharing;
  }

  /** Whether this model uses weights that another replica packed. */
  get readsSharedWeights(): boolean {
    return this.#compiler.readsSharedWeights;
  }

  /** Returns the state from which a new replica can be created. Returns undefined if no weights are packed yet or if the model was not loaded as a replica. */
  exportState(): SharedEngineState | undefined {
    return this.#compiler.exportState();
  }

  /** Whether `takePlans` may find something new. */
  get hasNewPlans(): boolean {
    return this.#compiler.hasNewPlans;
  }

  /**
   * Takes the plans made since the last call, as plain data for later processes, with which a `RestoredModel` runs. Undefined unless the setting `keepsPlans` is on. Plans
   * that are not kept have steps of the interpreter, shapes that depend on values, or kernels that were refused.
   */
  takePlans(): TakenPlans | undefined {
    return this.#compiler.takePlans(this.firstSegments);
  }

  /** Packs the weights that no kernel has packed yet, so that other replicas find them in shared memory. */
  publishWeights(): void {
    if (this.hasExecutables) this.#compiler.publishWeights(); // without kernels the interpreter would copy them back in each run
  }
}

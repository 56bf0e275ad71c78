/** Writes the plans of a model after its runs, when nothing waits for them: in a pause, when the model is disposed, or when the process ends. */
import { randomUUID } from "node:crypto";
import type { EngineModel } from "../../../engine/execute/engine-model.ts";
import { unrefTimeout } from "../../../platform/event-loop.ts";
import type { KeptFiles, KeptModel } from "./kept-files.ts";

/** Milliseconds after a run until its plan is written. */
const delayMs = 500;
/** Packed weights that are kept of one model: writing them takes about a millisecond for each megabyte. */
const maxWeightBytes = 256 * 1024 ** 2;

/** Facts of a model that do not depend on its plans. */
export type KeptFacts = Omit<KeptModel, "generation" | "prepared" | "table">;

/** Writers with plans that are not written yet. They are written when the process ends. */
const waiting = new Set<PlanWriter>();

function writeAll(): void {
  for (const writer of waiting) writer.write();
}

/** Writes the plans of one model. No method throws. */
export class PlanWriter {
  readonly #files: KeptFiles;
  readonly #facts: KeptFacts;
  #model: KeptModel | undefined;
  #engine: EngineModel | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isEnded = false;

  /** `model`: what was restored of an earlier process, whose packed weights the engine uses. Default: nothing was. */
  constructor(files: KeptFiles, facts: KeptFacts, model?: KeptModel) {
    this.#files = files;
    this.#facts = facts;
    this.#model = model;
  }

  /** Called after a run of an engine, whose plans are written soon if there are new ones. */
  noteRun(engine: EngineModel): void {
    if (this.#isEnded || this.#timer !== undefined || !engine.hasNewPlans) return;
    this.#engine = engine;
    if (waiting.size === 0) process.once("exit", writeAll);
    waiting.add(this);
    this.#timer = unrefTimeout(() => this.write(), delayMs);
  }

  /** Writes what was not written yet. Called before the engine is disposed. */
  write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    waiting.delete(this);
    if (waiting.size === 0) process.off("exit", writeAll);
    const engine = this.#engine;
    this.#engine = undefined;
    const taken = engine?.takePlans();
    const [first] = taken?.plans ?? [];
    if (taken === undefined || first === undefined) return;
    if (this.#model === undefined) {
      const table = taken.table();
      const bytes = table.packed.reduce((sum, { location }) => sum + location.bytes, 0);
      const model = { ...this.#facts, generation: randomUUID(), prepared: first.inputTypes, table };
      if (bytes > maxWeightBytes || !this.#files.writeModel(model, [...taken.readWeights(table)])) {
        this.#isEnded = true;
        return;
      }
      this.#model = model;
    }
    const kept = new Set(this.#model.table.packed.map(({ tensor, location }) => `${tensor} ${location.layout}`));
    for (const plan of taken.plans) {
      // A plan may read weights in a layout that no earlier one needed.
      const isWhole = plan.weights.every(({ tensor, layout }) => tensor === undefined || kept.has(`${tensor} ${layout}`));
      if (isWhole) this.#files.writePlan(this.#model, plan);
    }
  }
}

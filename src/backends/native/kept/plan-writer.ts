/** Writes the plans of a model after its runs, when nothing waits for them: in a pause, when the model is disposed, or when the process ends. */
import { randomUUID } from "node:crypto";
import type { EngineModel } from "../../../engine/execute/engine-model.ts";
import type { TakenPlans } from "../../../engine/execute/kept/plan-keeper.ts";
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
  #problem: string | undefined;

  /** `model`: what was restored of an earlier process, whose packed weights the engine uses. Default: nothing was. */
  constructor(files: KeptFiles, facts: KeptFacts, model?: KeptModel) {
    this.#files = files;
    this.#facts = facts;
    this.#model = model;
  }

  /** Why plans of this model are not kept, as a clause; undefined as long as nothing prevented it. */
  get problem(): string | undefined {
    return this.#problem ?? this.#files.problem;
  }

  /** Called after a run of an engine, whose plans are written soon if there are new ones. */
  noteRun(engine: EngineModel): void {
    if (this.problem !== undefined || this.#timer !== undefined || !engine.hasNewPlans) return;
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
    if (taken === undefined) return;
    this.#model ??= this.#writeModel(taken);
    if (this.#model === undefined) return;
    const kept = new Set(this.#model.table.packed.map(({ tensor, location }) => `${tensor} ${location.layout}`));
    for (const plan of taken.plans) {
      // A plan may read weights in a layout that no earlier one needed.
      const isWhole = plan.weights.every(({ tensor, layout }) => tensor === undefined || kept.has(`${tensor} ${layout}`));
      if (isWhole) this.#files.writePlan(this.#model, plan);
    }
  }

  /** Keeps what all plans share. Undefined where there is nothing to keep, or where that fails. */
  #writeModel({ plans, problems, table: getTable, readWeights }: TakenPlans): KeptModel | undefined {
    const last = plans.at(-1);
    if (last === undefined) {
      this.#problem = problems[0];
      return undefined;
    }
    const table = getTable();
    const bytes = table.packed.reduce((sum, { location }) => sum + location.bytes, 0);
    if (bytes > maxWeightBytes) {
      this.#problem = `its packed weights take ${bytes} bytes, and at most ${maxWeightBytes} are kept`;
      return undefined;
    }
    const model = { ...this.#facts, generation: randomUUID(), prepared: last.inputTypes, table };
    if (this.#files.writeModel(model, [...readWeights(table)])) return model;
    this.#problem = this.#files.problem ?? "its file exceeds what is kept of all models";
    return undefined;
  }
}

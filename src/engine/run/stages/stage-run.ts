/** One run of a model, through all stages and rounds of loops. */
import { InferyardError } from "../../../errors.ts";
import { defaultLimits } from "../../trace/builder.ts";
import type { Pace } from "../pace.ts";

export interface StageSteps {
  readonly all: number;
  readonly interpreted: number;
}

/** What counts of a stage that runs. */
export interface UsedStage {
  readonly hasProgram: boolean;
  /** Steps of one run, and how many of them the interpreter computes. */
  readonly steps: StageSteps;
}

/** A round costs as much beside what it computes. */
const operationsOfRound = 16;

export class StageRun {
  readonly number: number;
  readonly pace: Pace;
  /** Arrays that the run made, and that nobody else has. */
  readonly own: WeakSet<object> = new WeakSet();
  readonly #used = new Set<UsedStage>();
  #operations = 0;
  #hosted = 0;

  constructor(number: number, pace: Pace) {
    this.number = number;
    this.pace = pace;
  }

  use(stage: UsedStage): void {
    this.#used.add(stage);
    this.#count(stage.steps.all);
  }

  /** MODEL_UNSUPPORTED where a loop does not seem to end. */
  countRound(): void {
    this.#count(operationsOfRound);
  }

  /** An operator between two programs. */
  countHosted(): void {
    this.#hosted += 1;
  }

  /** Programs that ran, and steps of all that ran, each counted once however often it did. */
  get steps(): StageSteps & { readonly programs: number } {
    const stages = [...this.#used];
    return {
      programs: stages.filter(({ hasProgram }) => hasProgram).length,
      all: stages.reduce((sum, { steps }) => sum + steps.all, this.#hosted),
      interpreted: stages.reduce((sum, { steps }) => sum + steps.interpreted, this.#hosted),
    };
  }

  #count(operations: number): void {
    this.#operations += operations;
    if (this.#operations <= defaultLimits.operations) return;
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `the model takes more than ${defaultLimits.operations} operations for one run`,
      {
        remedy: "look for a loop in it that does not end",
      },
    );
  }
}

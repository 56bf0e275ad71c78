/** Candidates on a device: checked against the interpreter, and timed. */
import { setTimeout as sleep } from "node:timers/promises";
import { required } from "../../contract/checked.ts";
import type { Tensor, TensorMap } from "../../contract/tensor.ts";
import { throwIfAborted } from "../../contract/errors.ts";
import { median } from "../../platform/statistics.ts";
import type { ResolvedBackend } from "../backends/program-backends.ts";
import { ProgramSession } from "../compilation/program-session.ts";
import type { ReferenceAnswers } from "../compilation/reference-answers.ts";
import { programFromModel } from "../definition/program-from-model.ts";
import type { Program } from "../definition/program.ts";
import type { Sizes } from "../definition/trace-program.ts";
import type { ProgramMode } from "../interface/program-backend.ts";
import type { OnnxModel } from "../../engine/onnx/onnx-model.ts";
import type { ChosenSettings } from "./candidate.ts";

/** What all candidates of one search share. */
export interface TrialSettings {
  readonly program: Program;
  readonly backend: ResolvedBackend;
  readonly sizes: Sizes;
  readonly mode: ProgramMode;
  /** The interpreter's answers to the original program. */
  readonly answers: ReferenceAnswers;
  readonly maxMemory: number | undefined;
  readonly signal: AbortSignal;
}

/** Milliseconds that two candidates are timed beside each other. */
const timedMs = 900;
const [minRuns, maxRuns] = [5, 201];
/** Milliseconds after which the event loop gets its turn. */
const blockedMs = 20;

/** A candidate that computes right on its device. */
export class TimedCandidate {
  readonly #session: ProgramSession;
  readonly #sizes: Sizes;
  readonly #inputs: TensorMap;

  private constructor(session: ProgramSession, sizes: Sizes, inputs: TensorMap) {
    this.#session = session;
    this.#sizes = sizes;
    this.#inputs = inputs;
  }

  /** Compiles a model with its constants computed, and holds it against the interpreter. Throws SessionFailure with the reason, and ABORTED. */
  static async open(model: OnnxModel, settings: TrialSettings, chosen: ChosenSettings): Promise<TimedCandidate> {
    const { program, backend, sizes, mode, answers, maxMemory, signal } = settings;
    const session = await ProgramSession.open(backend.backend, {
      program: programFromModel(model, program),
      weights: new Map(),
      buckets: {},
      qualifier: backend.qualifier,
      threads: chosen.threads,
      mode,
      answers,
      maxMemory,
    });
    try {
      await session.prepare(sizes, signal);
      const { given } = await answers.get(sizes, signal);
      const inputs = Object.fromEntries(program.inputs.map(({ name }): [string, Tensor] => [name, required(given[name], name)]));
      return new TimedCandidate(session, sizes, inputs);
    } catch (error) {
      await session.dispose();
      throw error;
    }
  }

  /** Where it computes, such as "native". */
  get target(): string {
    return this.#session.device.target;
  }

  /** Milliseconds of one run, inputs copied to the device and outputs back. */
  async time(signal: AbortSignal): Promise<number> {
    const start = performance.now();
    await this.#session.run(this.#inputs, this.#sizes, signal);
    return performance.now() - start;
  }

  async dispose(): Promise<void> {
    await this.#session.dispose();
  }
}

/** Times of two candidates that were run by turns. */
export interface ComparedTimes {
  /** Median milliseconds of a run. */
  readonly milliseconds: number;
  readonly otherMilliseconds: number;
  /**
   * Time of the other divided by the time of the first: the smaller one of the median of neighbouring runs and of the quotient of the fastest runs, since work of other
   * programs disturbs the one and chance the other. Above 1 where the first is faster by both.
   */
  readonly speedup: number;
}

/** Runs two candidates by turns, so that what else the machine does slows both. Throws ABORTED, and what a run throws. */
export async function compareTimes(one: TimedCandidate, other: TimedCandidate, signal: AbortSignal): Promise<ComparedTimes> {
  const [times, others, quotients]: [number[], number[], number[]] = [[], [], []];
  for (const each of [one, other]) await each.time(signal);
  const end = performance.now() + timedMs;
  let yielded = performance.now();
  while (times.length < minRuns || (performance.now() < end && times.length < maxRuns)) {
    if (performance.now() - yielded > blockedMs) {
      await sleep(0);
      yielded = performance.now();
    }
    throwIfAborted(signal);
    const isFirst = times.length % 2 === 0;
    const early = await (isFirst ? one : other).time(signal);
    const late = await (isFirst ? other : one).time(signal);
    const [own, beside] = isFirst ? [early, late] : [late, early];
    times.push(own);
    others.push(beside);
    quotients.push(beside / own);
  }
  const speedup = Math.min(median(quotients), Math.min(...others) / Math.min(...times));
  return { milliseconds: median(times), otherMilliseconds: median(others), speedup };
}

/** The answers of the interpreter to probes of one program. */
import { InferyardError, getMessage } from "../../contract/errors.ts";
import type { TensorMap } from "../../contract/tensor.ts";
import { LruMap } from "../../concurrency/lru-map.ts";
import type { Literal } from "../../engine/ir/literal.ts";
import type { Program } from "../definition/program.ts";
import { type Sizes, traceProgram } from "../definition/trace-program.ts";
import { interpretGraph } from "./interpret-graph.ts";
import { countNonFinite, probeKinds, probeTensor, toleranceOf } from "./probe-tensors.ts";

/** Inputs and states of a probe, and the right outputs and states after it, under the names of the graph. */
export interface ReferenceAnswer {
  readonly given: TensorMap;
  readonly expected: TensorMap;
  /** See `toleranceOf`. */
  readonly tolerance: number;
}

/** Numbers of sizes whose answers are kept. */
const maxKept = 4;

/** Computes answers, and keeps the last ones, so that all candidates are held against the same. */
export class ReferenceAnswers {
  readonly #program: Program;
  readonly #weights: ReadonlyMap<string, Literal>;
  readonly #inputs: TensorMap;
  readonly #kept = new LruMap<ReferenceAnswer>(maxKept);

  /** `inputs`: inputs of the caller that probes must have, by name. */
  constructor(program: Program, weights: ReadonlyMap<string, Literal>, inputs: TensorMap) {
    this.#program = program;
    this.#weights = weights;
    this.#inputs = inputs;
  }

  /** The answer for these sizes. Throws INPUT_INVALID if the interpreter refuses all probes, and ABORTED. */
  async get(sizes: Sizes, signal?: AbortSignal): Promise<ReferenceAnswer> {
    const key = JSON.stringify([...sizes]);
    const answer = this.#kept.get(key) ?? (await this.#compute(sizes, signal));
    this.#kept.set(key, answer);
    return answer;
  }

  async #compute(sizes: Sizes, signal: AbortSignal | undefined): Promise<ReferenceAnswer> {
    const { graph } = traceProgram(this.#program, this.#program.open(), { sizes, weights: this.#weights });
    let best: { readonly answer: ReferenceAnswer; readonly nonFinite: number } | undefined;
    let failure: unknown;
    for (const kind of probeKinds) {
      const given = Object.fromEntries(
        graph.inputs.map(({ name, value: { type } }, index) => {
          const own = this.#inputs[name];
          const fits = own?.dataType === type.dataType && own.shape.join() === type.shape.join();
          return [name, fits ? own : probeTensor(type, kind, index + 1)];
        }),
      );
      try {
        const expected = await interpretGraph(graph, given, signal);
        const nonFinite = countNonFinite(expected);
        if (best === undefined || nonFinite < best.nonFinite)
          best = { answer: { given, expected, tolerance: toleranceOf(graph) }, nonFinite };
        if (nonFinite === 0) break;
      } catch (error) {
        if (error instanceof InferyardError && error.code === "ABORTED") throw error;
        failure = error;
      }
    }
    if (best !== undefined) return best.answer;
    throw new InferyardError("INPUT_INVALID", `the program cannot be computed on a probe: ${getMessage(failure)}`, {
      remedy: "give inputs that it can be computed on: { probe: { ... } }",
      cause: failure,
    });
  }
}

/** Checks a program when it is defined, before weights are there: each operator must take its inputs. */
import { InferyardError } from "../../contract/errors.ts";
import { freeDimensions, type Program } from "./program.ts";
import { type Sizes, traceProgram } from "./trace-program.ts";

/** Sizes that free dimensions are tried with: different ones first, since equal ones would hide that two dimensions differ. */
const firstSizes: readonly number[] = [2, 3, 5, 7, 11];
/** Size of all free dimensions for programs that refuse small ones, such as images that are pooled. */
const largeSize = 64;

/** Sizes of the free dimensions for a first trace. */
export function smallSizes(program: Pick<Program, "inputs">): Sizes {
  return new Map(freeDimensions(program).map((name, index) => [name, firstSizes[index % firstSizes.length] ?? 2]));
}

/** Traces a program without weights. Throws the errors of `traceProgram`. */
export function checkDefinition(program: Program): void {
  const open = program.open();
  try {
    traceProgram(program, open, { sizes: smallSizes(program), weights: undefined });
  } catch (error) {
    const names = freeDimensions(program);
    if (names.length === 0 || !(error instanceof InferyardError) || error.code !== "MODEL_UNSUPPORTED") throw error;
    const sizes = new Map(names.map((name) => [name, largeSize]));
    try {
      traceProgram(program, open, { sizes, weights: undefined });
    } catch {
      throw error;
    }
  }
}

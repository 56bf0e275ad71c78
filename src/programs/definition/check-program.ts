/** Checks a program when it is defined, before weights are there: each operator must take its inputs. */
import { invalidInput, InferyardError } from "../../contract/errors.ts";
import { freeDimensions, type Program } from "./program.ts";
import { type Sizes, traceProgram } from "./trace-program.ts";

/** Options of a definition. */
export interface DefinitionOptions {
  /** Sizes of free dimensions that the program is checked with, and compiled for first. Default: small ones that differ from one another. */
  readonly sizes?: Readonly<Record<string, number>> | undefined;
}

/** Sizes that free dimensions are tried with: different ones, since equal ones would hide that two dimensions differ. */
const smallSizes: readonly number[] = [2, 3, 5, 7, 11];
/** Size of all free dimensions for programs that refuse small ones, such as images that are pooled. */
const largeSize = 64;

/**
 * Traces a program without weights, and returns the sizes of its free dimensions that it was traced with. Throws the errors of `traceProgram`, and INPUT_INVALID for sizes
 * that are none.
 */
export function checkProgram(program: Omit<Program, "exampleSizes">, { sizes = {} }: DefinitionOptions): Sizes {
  const names = freeDimensions(program);
  checkSizes(names, sizes);
  const open = program.open();
  const trace = (sizeAt: (index: number) => number): Sizes => {
    const all = new Map(names.map((name, index) => [name, sizes[name] ?? sizeAt(index)]));
    traceProgram(program, open, { sizes: all, weights: undefined });
    return all;
  };
  try {
    return trace((index) => smallSizes[index % smallSizes.length] ?? 2);
  } catch (error) {
    const unstated = names.filter((name) => sizes[name] === undefined);
    if (unstated.length === 0 || !(error instanceof InferyardError) || error.code !== "MODEL_UNSUPPORTED") throw error;
    try {
      return trace(() => largeSize);
    } catch {
      const remedy = `if these sizes do not fit one another, give { sizes: { ${unstated.join(", ")} } }`;
      throw new InferyardError(error.code, error.message, { remedy, cause: error, data: error.data });
    }
  }
}

/** Throws INPUT_INVALID for a name that is none of the free dimensions, and for a size that is no whole number from 0. */
export function checkSizes(names: readonly string[], sizes: Readonly<Record<string, number>>): void {
  for (const [name, size] of Object.entries(sizes)) {
    if (!names.includes(name))
      throw invalidInput(`sizes.${name} names no free dimension`, `its free dimensions: ${names.join(", ") || "none"}`);
    if (!Number.isSafeInteger(size) || size < 0)
      throw invalidInput(`sizes.${name} is ${size}, and must be a whole number from 0`);
  }
}

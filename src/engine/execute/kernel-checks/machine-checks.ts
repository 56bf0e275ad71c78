/** Results of the known-answer checks of kernels in machine code. Those of products with block-quantized weights are self-tests of the kernel registry instead. */
import type { X64Level } from "../../../kernels/simd-levels.ts";

/** What names of functions in machine code begin with in the record of passed checks. */
const prefix = "machine code ";

/** Whether a name in the record of passed checks is one of machine code. */
export function isMachineName(name: string): boolean {
  return name.startsWith(prefix);
}

/** The function that a name in the record of passed checks is about, whether as WebAssembly or as machine code of any level. */
export function functionOf(name: string): string {
  return isMachineName(name) ? name.slice(name.indexOf(": ") + 2) : name;
}

/** A sentence on functions that are right, of which some were found right by an earlier process. `since`: time of the first of these, ISO 8601. */
export function describeChecks(count: number, remembered: number, since: string | undefined): string {
  const note =
    remembered === 0 || since === undefined ? "" : ` (${remembered} remembered from ${since.slice(0, "2026-11-26".length)})`;
  return `${count} functions of generated code agree with the interpreter${note}`;
}

/** Results by level of the processor and name of the function. */
export class MachineChecks {
  /** undefined when the function is right, otherwise what is wrong. */
  readonly #results: Map<string, string | undefined>;

  /** `passed`: names in the record of passed checks, of which those of machine code are right. */
  constructor(passed: readonly string[]) {
    this.#results = new Map(passed.filter(isMachineName).map((name) => [name, undefined]));
  }

  /** The name of a function in the record of passed checks. */
  static getName(name: string, level: X64Level): string {
    return `${prefix}${level}: ${name}`;
  }

  has(name: string, level: X64Level): boolean {
    return this.#results.has(MachineChecks.getName(name, level));
  }

  /** Records a result. `problem`: what is wrong. */
  add(name: string, level: X64Level, problem: string | undefined): void {
    this.#results.set(MachineChecks.getName(name, level), problem);
  }

  /** What is wrong with a function of a kernel family; undefined if all that were checked are right. */
  findProblem(family: string, level: X64Level): string | undefined {
    const whole = MachineChecks.getName(family, level);
    for (const [name, problem] of this.#results)
      if (problem !== undefined && (name === whole || name.startsWith(`${whole} `)))
        return `${name.slice(prefix.length)}: ${problem}`;
    return undefined;
  }
}

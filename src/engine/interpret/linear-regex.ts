/**
 * Regular expressions in RE2 syntax (https://github.com/google/re2/wiki/Syntax), matched in time linear in the text, so that the pattern of a model
 * cannot make the engine hang: a simulation of the nondeterministic automaton (Thompson, https://doi.org/10.1145/363347.363387).
 */
import { parsePattern, type PatternNode } from "./regex-syntax.ts";

type Instruction =
  | { readonly kind: "character"; readonly accepts: (code: number) => boolean }
  | { readonly kind: "where"; readonly holds: (before: number, after: number) => boolean }
  | Readonly<Fork>;

/** Maximum number of instructions with repeats expanded. Every instruction may cost time at every character. */
const maxInstructions = 20_000;

/** Returns a function that tests whether a whole text matches. Throws if the pattern is invalid in RE2 or not supported. */
export function fullMatcher(pattern: string): (text: string) => boolean {
  const program = new Compiler().compile(parsePattern(pattern));
  return (text) => matches(program, text);
}

interface Fork {
  readonly kind: "either";
  one: number;
  other: number;
}

class Compiler {
  readonly #program: Instruction[] = [];
  #steps = 0;

  compile(part: PatternNode): readonly Instruction[] {
    this.#add(part);
    return this.#program;
  }

  #add(part: PatternNode): void {
    this.#steps += 1;
    if (this.#steps > maxInstructions)
      throw new Error(`the pattern has more than ${maxInstructions} instructions with its repeats expanded`);
    const program = this.#program;
    if (part.kind === "character") program.push({ kind: "character", accepts: part.accepts });
    else if (part.kind === "where") program.push({ kind: "where", holds: part.holds });
    else if (part.kind === "sequence") for (const each of part.parts) this.#add(each);
    else if (part.kind === "choice") this.#choice(part.parts);
    else {
      for (let count = 0; count < part.min; count += 1) this.#add(part.part);
      if (part.max === Number.POSITIVE_INFINITY) {
        const start = program.length;
        const fork = this.#fork();
        this.#add(part.part);
        const back = this.#fork();
        back.one = back.other = start;
        fork.other = program.length;
      } else {
        const forks: Fork[] = [];
        for (let count = part.min; count < part.max; count += 1) {
          forks.push(this.#fork());
          this.#add(part.part);
        }
        for (const fork of forks) fork.other = program.length;
      }
    }
  }

  #choice(parts: readonly PatternNode[]): void {
    const ends: Fork[] = [];
    for (const [index, part] of parts.entries()) {
      const fork = index < parts.length - 1 ? this.#fork() : undefined;
      this.#add(part);
      if (fork === undefined) continue;
      ends.push(this.#fork());
      fork.other = this.#program.length;
    }
    for (const end of ends) end.one = end.other = this.#program.length;
  }

  /** Continues at the next instruction and at `other`, which is set later. */
  #fork(): Fork {
    const next = this.#program.length + 1;
    const fork: Fork = { kind: "either", one: next, other: next };
    this.#program.push(fork);
    return fork;
  }
}

function matches(program: readonly Instruction[], text: string): boolean {
  const codes = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  let states = reach(program, [0], -1, codes[0] ?? -1);
  for (const [at, code] of codes.entries()) {
    const next: number[] = [];
    for (const state of states) {
      const instruction = program[state];
      if (instruction?.kind === "character" && instruction.accepts(code)) next.push(state + 1);
    }
    if (next.length === 0) return false;
    states = reach(program, next, code, codes[at + 1] ?? -1);
  }
  return states.has(program.length);
}

/** The states reachable without consuming a character, between the characters `before` and `after`; -1 is an end of the text. */
function reach(program: readonly Instruction[], from: readonly number[], before: number, after: number): ReadonlySet<number> {
  const reached = new Set<number>();
  const open = [...from];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    if (reached.has(state)) continue;
    reached.add(state);
    const instruction = program[state];
    if (instruction?.kind === "either") open.push(instruction.one, instruction.other);
    else if (instruction?.kind === "where" && instruction.holds(before, after)) open.push(state + 1);
  }
  return reached;
}

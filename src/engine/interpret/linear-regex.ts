/**
 * Regular expressions in RE2's syntax (https://github.com/google/re2/wiki/Syntax), matched in time linear in the text: a model's pattern cannot
 * make the engine hang. All states that can be reached are followed at once (Thompson, https://doi.org/10.1145/363347.363387).
 */
import { parsePattern, type PatternNode } from "./regex-syntax.ts";

type Instruction =
  | { readonly kind: "character"; readonly accepts: (code: number) => boolean }
  | { readonly kind: "where"; readonly holds: (before: number, after: number) => boolean }
  | Readonly<Fork>;

/** A pattern that takes more than this when its repeats are written out is refused: every state costs time at every character. */
const maxInstructions = 20_000;

/** Tells whether the whole of a text matches. Error for a pattern that RE2 would not take, or that is not built here. */
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
    if (this.#steps > maxInstructions) throw new Error("its pattern is too large when its repeats are written out");
    const program = this.#program;
    if (part.kind === "character") program.push({ kind: "character", accepts: part.accepts });
    else if (part.kind === "where") program.push({ kind: "where", holds: part.holds });
    else if (part.kind === "sequence") for (const each of part.parts) this.#add(each);
    else if (part.kind === "choice") this.#choice(part.parts);
    else {
      for (let count = 0; count < part.least; count += 1) this.#add(part.part);
      if (part.most === Number.POSITIVE_INFINITY) {
        const start = program.length;
        const fork = this.#fork();
        this.#add(part.part);
        const back = this.#fork();
        back.one = back.other = start;
        fork.other = program.length;
      } else {
        const forks: Fork[] = [];
        for (let count = part.least; count < part.most; count += 1) {
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

  /** Goes on at the next instruction, or at `other`, which is set when it is known. */
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

/** All states that need no further character, between the characters `before` and `after` (-1 at the ends of the text). */
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

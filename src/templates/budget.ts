/**
 * What one rendering of a chat template may spend. Everything is counted by what the template does and never by a clock, so that a template fails in the same
 * way on every machine.
 */
import { TemplateBound } from "./errors.ts";

/** Characters of a template. The longest published ones have about 30,000. */
export const maxTemplateCharacters = 500_000;
/** Nested expressions and blocks of a template's text. */
export const maxSyntaxNesting = 200;
/** Nested evaluations: expressions in blocks in macros that call macros. Less than the stack of the calling thread holds. */
export const maxDepth = 1000;
/** Nested lists and dictionaries, where a value is written, compared or hashed. */
const maxValueNesting = 500;

/** Steps and bytes of any template; a step takes 50 to 250 ns. */
const baseSteps = 2_000_000;
const baseBytes = 64 * 2 ** 20;
/** What a conversation adds for each of its characters, so that the work of a template is at most linear in what it is given. */
const stepsPerCharacter = 5;
const bytesPerCharacter = 100;
const maxSteps = 25_000_000;
export const maxBytes: number = 512 * 2 ** 20;

/** Limits of one rendering. */
export interface TemplateLimits {
  /** Expressions and statements evaluated, iterations, and items of lists compared or written. */
  readonly steps: number;
  /** Bytes of texts and lists that are read or made, whether or not they are kept: two for each character, eight for each item. */
  readonly bytes: number;
}

/** The limits of a template that is given variables whose JSON has this many characters. */
export function templateLimits(characters: number): TemplateLimits {
  return {
    steps: Math.min(maxSteps, baseSteps + stepsPerCharacter * characters),
    bytes: Math.min(maxBytes, baseBytes + bytesPerCharacter * characters),
  };
}

/** Counts the steps and bytes of one rendering. Every method throws TemplateBound beyond its limit. */
export class Budget {
  readonly limits: TemplateLimits;
  #steps = 0;
  #bytes = 0;
  #depth = 0;
  #valueDepth = 0;

  constructor(limits: TemplateLimits) {
    this.limits = limits;
  }

  get spent(): TemplateLimits {
    return { steps: this.#steps, bytes: this.#bytes };
  }

  step(count = 1): void {
    this.#steps += count;
    if (this.#steps > this.limits.steps) {
      throw new TemplateBound("steps", this.limits.steps, `takes more than ${this.limits.steps} steps`, this.#steps);
    }
  }

  /** A text that is read or made. To be called before it is made. */
  text(characters: number): void {
    this.#spend(2 * characters);
  }

  /** The length of a text that is made of parts which it shares, so that only its length is bounded. */
  length(characters: number): void {
    if (2 * characters > this.limits.bytes) this.#refuseBytes(2 * characters);
  }

  /** Items of a list that is read or made. To be called before it is made. */
  items(count: number): void {
    this.#spend(8 * count);
  }

  /** Begins a nested evaluation, which `leave` ends. An error ends the rendering, so it needs no `leave`. */
  enter(): void {
    this.step();
    this.#depth += 1;
    if (this.#depth > maxDepth) throw new TemplateBound("nesting", maxDepth, `nests more than ${maxDepth} evaluations`);
  }

  leave(): void {
    this.#depth -= 1;
  }

  /** Begins a nested value, which `leaveValue` ends. */
  enterValue(): void {
    this.step();
    this.#valueDepth += 1;
    if (this.#valueDepth > maxValueNesting) {
      throw new TemplateBound("nesting", maxValueNesting, `reads a value of more than ${maxValueNesting} nested lists`);
    }
  }

  leaveValue(): void {
    this.#valueDepth -= 1;
  }

  #spend(bytes: number): void {
    this.#bytes += bytes;
    // Not a comparison with >, so that a size that is not a number goes beyond the limit too.
    if (!(this.#bytes <= this.limits.bytes)) this.#refuseBytes(this.#bytes);
  }

  #refuseBytes(number: number): never {
    const { bytes } = this.limits;
    throw new TemplateBound("bytes", bytes, `reads and makes texts and lists of more than ${bytes} bytes`, number);
  }
}

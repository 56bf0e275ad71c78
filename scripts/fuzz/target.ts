/** What a fuzz target is: inputs, how they are changed, and what must hold for each. */
import type { ErrorCode } from "../../src/contract/errors.ts";
import type { Random } from "./random.ts";

export interface Mutation {
  readonly random: Random;
  /** Another input of the corpus, to take parts from. */
  readonly other: Uint8Array;
  /** Texts and numbers of the format. */
  readonly dictionary: readonly string[];
}

export type Mutator = (input: Uint8Array, mutation: Mutation) => Uint8Array;

export interface FuzzTarget {
  /** Codes of InferyardError that an input may be refused with. Any other error is a failure. */
  readonly codes: readonly ErrorCode[];
  /** Inputs to start from, beside those of the corpus. */
  seeds(): Uint8Array[] | Promise<Uint8Array[]>;
  /** Structure-aware; `mutateBytes` is applied to 1 of 8 inputs besides. */
  readonly mutate: Mutator;
  readonly dictionary?: readonly string[];
  /** Length of an input in bytes; longer ones are cut off. Default: 65,536. */
  readonly maxBytes?: number;
  /** Processor time of one input in milliseconds. Default: 2,000. */
  readonly maxMilliseconds?: number;
  /** Growth of the peak resident set by one input in bytes. Default: 512 MiB. */
  readonly maxMemory?: number;
  /** Loads what the inputs need; `run` throws what fails. */
  open(): Promise<OpenTarget>;
}

export interface OpenTarget {
  /** An InferyardError with an expected code refuses the input; any other error is a failure, as is `Broken`. */
  run(input: Uint8Array): Promise<void> | void;
  close?(): Promise<void> | void;
}

/** A statement about an accepted input that does not hold. */
export class Broken extends Error {
  override readonly name = "Broken";
}

export function mustHold(condition: boolean, statement: () => string): void {
  if (!condition) throw new Broken(statement());
}

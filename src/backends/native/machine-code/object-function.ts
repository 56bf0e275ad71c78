/** Functions of shared objects. Plain data. */
import type { StackChange } from "../../../engine/codegen/x64/index.ts";

/** Four bytes of code that become the distance from their end to something else. */
export type ObjectReference =
  /** A function of the same object. */
  | { readonly at: number; readonly symbol: string }
  /** The entry that holds the address of an imported function. */
  | { readonly at: number; readonly imported: string };

/** A function, or constant bytes beside the code. */
export interface ObjectFunction {
  /** Its symbol. */
  readonly name: string;
  readonly code: Uint8Array;
  /** Default: none. */
  readonly references?: readonly ObjectReference[];
  /** How it moves the stack pointer. Default: not known, so that unwinding ends at it. */
  readonly stackChanges?: readonly StackChange[] | undefined;
}

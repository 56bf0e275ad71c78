/** Evaluates one step of an executable with the interpreter. */
import { InferyardError, getMessage } from "../../contract/errors.ts";
import type { Literal } from "../ir/literal.ts";
import type { Operation } from "../ir/operations.ts";
import { evaluateNode } from "../interpret/evaluate.ts";

/**
 * Computes an operation with the interpreter and returns its outputs. Throws INPUT_INVALID when the values of its inputs are invalid, such as an
 * index outside of its axis.
 */
export function evaluateStep(operation: Operation, inputs: readonly Literal[]): readonly Literal[] {
  try {
    return evaluateNode(operation, inputs);
  } catch (error) {
    throw new InferyardError("INPUT_INVALID", `"${operation.kind}" cannot be computed: ${getMessage(error)}`, { cause: error });
  }
}

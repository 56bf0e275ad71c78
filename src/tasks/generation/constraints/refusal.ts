/** Constraints that are not supported. */
import { InferyardError } from "../../../contract/errors.ts";

/** Where in a constraint the refused part is. */
export interface RefusedPart {
  /** The keyword of JSON Schema. */
  readonly keyword: string;
  /** JSON pointer of the schema that has it. */
  readonly pointer: string;
}

/** What `compile` returns. Throws INPUT_INVALID if it runs out of stack, since parts are nested too deeply. */
export function refusingDepth<Result>(compile: () => Result): Result {
  try {
    return compile();
  } catch (error) {
    if (error instanceof RangeError) throw refusal("its parts are nested too deeply", "nest them less deeply");
    throw error;
  }
}

/** INPUT_INVALID for a constraint that is invalid or not supported. `data.keyword`: what is refused, of a JSON schema. */
export function refusal(problem: string, remedy: string, part?: RefusedPart): InferyardError {
  const where = part === undefined ? "the constraint" : `the schema at "${part.pointer}", keyword "${part.keyword}"`;
  return new InferyardError("INPUT_INVALID", `${where}: ${problem}`, { remedy, data: { refused: true, ...part } });
}

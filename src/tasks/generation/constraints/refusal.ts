/** Constraints that are not supported. */
import { type InferyardError, invalidInput } from "../../../contract/errors.ts";
import { type ConstraintPlace, getPlaceName } from "./constraint-budget.ts";

/** Runs `compile`. Throws INPUT_INVALID if it runs out of stack, since parts are nested too deeply. */
export function refusingDepth<Result>(compile: () => Result): Result {
  try {
    return compile();
  } catch (error) {
    if (error instanceof RangeError) throw constraintRefusal("its parts are nested too deeply", "nest them less deeply");
    throw error;
  }
}

/** INPUT_INVALID for a constraint that is invalid or not supported. The error's data has the place. */
export function constraintRefusal(problem: string, remedy: string, place?: ConstraintPlace): InferyardError {
  return invalidInput(`${getPlaceName(place)}: ${problem}`, remedy, { refused: true, ...place });
}

/** Check of model outputs. */
import { InferyardError } from "../../contract/errors.ts";

/**
 * Throws RUN_FAILED if a value is NaN or infinite, since any result computed from it would be wrong. `index`: of the input in
 * the error message.
 */
export function requireFinite(values: Float32Array, text: number, input: "text" | "picture" | "sound" = "text"): void {
  let index = 0;
  while (index < values.length && Number.isFinite(values[index])) index += 1; // findIndex allocates three times as much
  if (index === values.length) return;
  throw new InferyardError("RUN_FAILED", `the model gave a value that is not a number for ${input} ${text}`, {
    remedy: "try another variant or target",
    data: { [input]: text, component: index },
  });
}

/** Whether models are in memory. */
import type { Runtime } from "../../api/runtime.ts";

/** Whether a model is in memory, by its reference. */
export function isLoaded(runtime: Runtime, reference: string): boolean {
  return runtime.memory().models.some((model) => model.reference === reference);
}

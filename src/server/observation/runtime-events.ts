/** What the runtime reports, passed on to whoever listens: metrics, the log, clients of /api/events. */
import type { RuntimeEvent } from "../../runtime/runtime-settings.ts";

export class RuntimeEvents {
  readonly #listeners = new Set<(event: RuntimeEvent) => void>();

  /** For the runtime's `onEvent`. */
  readonly tell: (event: RuntimeEvent) => void = (event) => {
    for (const listener of this.#listeners) listener(event);
  };

  /** The result ends it. */
  subscribe(listener: (event: RuntimeEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** What the runtime reports, passed on to whoever listens: metrics, the log, clients of /api/events; of batches, metrics alone. */
import type { BatchEvent, RuntimeEvent } from "../../runtime/options/runtime-settings.ts";

export class RuntimeEvents {
  readonly #listeners = new Set<(event: RuntimeEvent) => void>();
  readonly #batchListeners = new Set<(batch: BatchEvent) => void>();

  /** For the runtime's `onEvent`. */
  readonly emit: (event: RuntimeEvent) => void = (event) => {
    for (const listener of this.#listeners) listener(event);
  };

  /** For the runtime's `onBatch`. */
  readonly emitBatch: (batch: BatchEvent) => void = (batch) => {
    for (const listener of this.#batchListeners) listener(batch);
  };

  /** The result ends it. */
  subscribe(listener: (event: RuntimeEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  subscribeBatches(listener: (batch: BatchEvent) => void): () => void {
    this.#batchListeners.add(listener);
    return () => this.#batchListeners.delete(listener);
  }
}

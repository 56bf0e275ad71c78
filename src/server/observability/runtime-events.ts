/** Distributes the events of the runtime to metrics, the log and the clients of /api/events. */
import type { BatchEvent, RuntimeEvent } from "../../runtime/options/runtime-settings.ts";

/** Passes the events of a runtime on to any number of listeners. */
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

  /** Adds a listener of events; the returned function removes it. */
  subscribe(listener: (event: RuntimeEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Adds a listener of batches; the returned function removes it. */
  subscribeBatches(listener: (batch: BatchEvent) => void): () => void {
    this.#batchListeners.add(listener);
    return () => this.#batchListeners.delete(listener);
  }
}

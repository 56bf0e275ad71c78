/** Counts the callers that use an instance of a model, so that an instance that was replaced is freed when the last one has finished. */
import { type Deferred, deferred } from "../../concurrency/deferred.ts";

/** Holds on the instances of one model. */
export class InstanceHolds<Instance extends object> {
  readonly #counts = new Map<Instance, number>();
  readonly #released = new Map<Instance, Deferred<void>>();

  /** Holds an instance until the returned function is called. A second call of it does nothing. */
  hold(instance: Instance): () => void {
    this.#counts.set(instance, this.getCount(instance) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#release(instance);
    };
  }

  /** Number of holds on an instance. */
  getCount(instance: Instance): number {
    return this.#counts.get(instance) ?? 0;
  }

  /** Waits until nobody holds the instance. */
  async released(instance: Instance): Promise<void> {
    if (this.getCount(instance) === 0) return;
    const released = this.#released.get(instance) ?? deferred<void>();
    this.#released.set(instance, released);
    await released.promise;
  }

  #release(instance: Instance): void {
    const left = this.getCount(instance) - 1;
    if (left > 0) return void this.#counts.set(instance, left);
    this.#counts.delete(instance);
    this.#released.get(instance)?.resolve();
    this.#released.delete(instance);
  }
}

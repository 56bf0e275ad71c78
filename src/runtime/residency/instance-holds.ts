/** Counts the callers that use an instance of a model, so that an instance that was replaced is freed when the last one has finished. */

/** Holds on the instances of one model. */
export class InstanceHolds<Instance extends object> {
  readonly #counts = new Map<Instance, number>();
  readonly #waiting = new Map<Instance, (() => void)[]>();

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
    await new Promise<void>((resolve) => this.#waiting.set(instance, [...(this.#waiting.get(instance) ?? []), resolve]));
  }

  #release(instance: Instance): void {
    const left = this.getCount(instance) - 1;
    if (left > 0) return void this.#counts.set(instance, left);
    this.#counts.delete(instance);
    const waiting = this.#waiting.get(instance) ?? [];
    this.#waiting.delete(instance);
    for (const resolve of waiting) resolve();
  }
}

/** Spreads runs over copies of one model: each goes to the one with the least to do. */
import type { HostedModel, HostedRunOptions } from "../../hosts/host.ts";
import type { TensorMap } from "../../tensor.ts";

interface Replica {
  readonly model: Pick<HostedModel, "run">;
  /** Runs given to it that have not ended. */
  running: number;
}

export class Dispatcher {
  readonly #replicas: readonly Replica[];

  constructor(models: readonly Pick<HostedModel, "run">[]) {
    this.#replicas = models.map((model) => ({ model, running: 0 }));
  }

  /** Runs on the copy with the fewest runs under way; the first of equals. */
  async run(inputs: TensorMap, options: HostedRunOptions): Promise<TensorMap> {
    const lane = this.#replicas.reduce((least, other) => (other.running < least.running ? other : least));
    lane.running += 1;
    try {
      return await lane.model.run(inputs, options);
    } finally {
      lane.running -= 1;
    }
  }
}

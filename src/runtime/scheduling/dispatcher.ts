/** Load balancing over the replicas of one model: least connections. */
import type { HostedRunOptions, HostedTensorModel } from "../../hosts/host.ts";
import type { TensorMap } from "../../contract/tensor.ts";

interface Replica {
  readonly model: Pick<HostedTensorModel, "run">;
  /** Runs in progress. */
  running: number;
}

/** Gives each run to the replica with the fewest runs in progress. */
export class Dispatcher {
  readonly #replicas: readonly Replica[];

  constructor(models: readonly Pick<HostedTensorModel, "run">[]) {
    this.#replicas = models.map((model) => ({ model, running: 0 }));
  }

  /** Runs on the replica with the fewest runs in progress; of equals the first. */
  async run(inputs: TensorMap, options: HostedRunOptions): Promise<TensorMap> {
    const replica = this.#replicas.reduce((idlest, other) => (other.running < idlest.running ? other : idlest));
    replica.running += 1;
    try {
      return await replica.model.run(inputs, options);
    } finally {
      replica.running -= 1;
    }
  }
}

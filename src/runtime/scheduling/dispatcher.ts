/** Spreads runs over copies of one model: each goes to the one with the least to do. */
import type { HostedModel, HostedRunOptions } from "../../hosts/host.ts";
import type { TensorMap } from "../../tensor.ts";

interface Lane {
  readonly model: Pick<HostedModel, "run">;
  /** Runs given to it that have not ended. */
  running: number;
}

export class Dispatcher {
  readonly #lanes: readonly Lane[];

  constructor(models: readonly Pick<HostedModel, "run">[]) {
    this.#lanes = models.map((model) => ({ model, running: 0 }));
  }

  /** Runs on the copy with the fewest runs under way; the first of equals. */
  async run(inputs: TensorMap, options: HostedRunOptions): Promise<TensorMap> {
    const lane = this.#lanes.reduce((least, other) => (other.running < least.running ? other : least));
    lane.running += 1;
    try {
      return await lane.model.run(inputs, options);
    } finally {
      lane.running -= 1;
    }
  }
}

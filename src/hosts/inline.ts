/** The inline host: the backend runs on the calling thread. For backends that do not block it. */
import type { KernelCount, TensorModel } from "../contract/backend.ts";
import { checkTensorModel } from "../contract/shapes/held-contract.ts";
import { reduceOutputs } from "./output-reduction.ts";
import type { TensorMap } from "../contract/tensor.ts";
import { loadLanguage } from "./language/load-language.ts";
import type { Host, HostedRunOptions, HostedTensorModel } from "./host.ts";

/** A host that runs models on the calling thread. */
export function inlineHost(): Host {
  return {
    name: "inline",
    load: async (kind, backend, model, device, options) =>
      kind === "language"
        ? loadLanguage(backend, model, device, options)
        : new InlineModel(checkTensorModel(backend, await backend.load(model, device, options))),
    dispose: async () => {},
  };
}

class InlineModel implements HostedTensorModel {
  readonly kind = "tensor";
  readonly inputs: TensorModel["inputs"];
  readonly outputs: TensorModel["outputs"];
  readonly library: TensorModel["library"];
  readonly kernelCounts?: () => Promise<readonly KernelCount[]>;
  readonly #model: TensorModel;

  constructor(model: TensorModel) {
    this.#model = model;
    this.inputs = model.inputs;
    this.outputs = model.outputs;
    this.library = model.library;
    if (model.kernelCounts !== undefined) this.kernelCounts = model.kernelCounts.bind(model);
  }

  get memory(): TensorModel["memory"] {
    return this.#model.memory;
  }

  get programs(): TensorModel["programs"] {
    return this.#model.programs;
  }

  async run(inputs: TensorMap, { reductions, ...options }: HostedRunOptions = {}): Promise<TensorMap> {
    return reduceOutputs(await this.#model.run(inputs, options), reductions);
  }

  evidence(): Promise<readonly string[]> {
    return this.#model.evidence();
  }

  dispose(): Promise<void> {
    return this.#model.dispose();
  }
}

/** An engine that computes something else: `native` under another name, with outputs that a test changes. */
import type { Backend, LanguageModel, TensorModel } from "inferyard/backend";
import { native } from "inferyard/backends/native";

type Change = (values: Float32Array) => Float32Array;

export function alteredBackend(name: string, change: Change): Backend {
  const engine = native();
  return {
    name,
    contractVersion: 1,
    probe: (options) => engine.probe(options),
    capabilities: (device) => engine.capabilities(device),
    load: async (...args) => alteredTensors(await engine.load(...args), change),
    loadLanguage: async (...args) => alteredLogits(await engine.loadLanguage!(...args), change),
  };
}

function alteredTensors(model: TensorModel, change: Change): TensorModel {
  return replacing(model, {
    run: async (...args) => {
      const outputs = Object.entries(await model.run(...args));
      return Object.fromEntries(
        outputs.map(([name, tensor]) => [
          name,
          tensor.data instanceof Float32Array ? { ...tensor, data: change(tensor.data) } : tensor,
        ]),
      );
    },
  });
}

function alteredLogits(model: LanguageModel, change: Change): LanguageModel {
  return replacing(model, { decode: async (...args) => (await model.decode(...args)).map(change) });
}

/** The model with some of its methods replaced. */
function replacing<Model extends object>(model: Model, methods: Partial<Model>): Model {
  return new Proxy(model, {
    get(target, name) {
      const value: unknown = Reflect.get(name in methods ? methods : target, name, name in methods ? methods : target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

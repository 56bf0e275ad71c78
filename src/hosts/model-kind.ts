/** Access to hosted models by what they were loaded as. */
import { InferyardError } from "../contract/errors.ts";
import type { HostedLanguageModel, HostedModel, HostedTensorModel } from "./host.ts";

/** The model, if it was loaded as one on tensors. Throws MODEL_UNSUPPORTED for a language model. */
export function asTensorModel(model: HostedModel): HostedTensorModel {
  if (model.kind === "tensor") return model;
  throw new InferyardError("MODEL_UNSUPPORTED", "the model was loaded to decode tokens, and does not run on tensors", {
    remedy: 'load it without kind: "language"',
  });
}

/** The model, if it was loaded as a language model. Throws MODEL_UNSUPPORTED otherwise. */
export function asLanguageModel(model: HostedModel): HostedLanguageModel {
  if (model.kind === "language") return model;
  throw new InferyardError("MODEL_UNSUPPORTED", "the model was loaded to run on tensors, and does not decode tokens", {
    remedy: 'load it with kind: "language"',
  });
}

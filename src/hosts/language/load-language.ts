/** Loads a language model with a backend that may have none. */
import type { Backend, Device, LanguageModel, LoadOptions, ModelFiles } from "../../contract/backend.ts";
import { unsupportedModel } from "../../contract/errors.ts";
import { checkLanguageModel } from "../../contract/shapes/held-contract.ts";

/** Calls `loadLanguage` of the backend. Throws MODEL_UNSUPPORTED if it has none. */
export async function loadLanguage(
  backend: Backend,
  model: ModelFiles,
  device: Device,
  options: LoadOptions,
): Promise<LanguageModel> {
  if (backend.loadLanguage !== undefined) return checkLanguageModel(backend, await backend.loadLanguage(model, device, options));
  throw unsupportedModel(`${backend.name} does not run language models`);
}

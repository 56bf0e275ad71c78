/** What a model's files say of its texts. */
import { unsupportedModel } from "../../contract/errors.ts";
import type { Manifest, TextSettings } from "../../models/manifest.ts";

/** The tokenizer and pooling settings of a model. Throws MODEL_UNSUPPORTED if it has no tokenizer. */
export function textSettings(manifest: Manifest): TextSettings {
  if (manifest.text !== undefined) return manifest.text;
  throw unsupportedModel(
    `${manifest.name} has no tokenizer, so it cannot take text`,
    "put the model's tokenizer.json beside it, or run it on tensors with `handle.run`",
  );
}

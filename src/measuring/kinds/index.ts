/** The kinds of models for verification and measurement, and how the kind of a model is determined. */
import { usualKind } from "../../models/language-tasks.ts";
import type { Manifest } from "../../models/manifest.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import { isTextEncoder } from "../../tasks/encoding/encoder-inputs.ts";
import { isGlinerSpanModel } from "../../tasks/token-classification/gliner/recognize-with-gliner.ts";
import { encoderDecoderKind, languageKind } from "./language-kinds.ts";
import type { MeasuredKind } from "./model-kind.ts";
import { tensorKind } from "./tensor-kind.ts";
import { type MeasuredModelFacts, spanKind, textKinds } from "./text-kinds.ts";

export type { KindName, KindTest, MeasuredKind, MeasuredOutput, Subject, TokenRates, WorkloadOptions } from "./model-kind.ts";

/** The kind of a loaded model. */
export function kindOfLoaded(handle: ModelHandle): MeasuredKind {
  const { manifest } = handle;
  if (handle.kind === "language" || manifest.text === undefined) return kindOfFiles(manifest);
  if (isTextEncoder(handle.inputs)) return textKind({ manifest, outputs: handle.outputs });
  return isGlinerSpanModel(manifest, handle.inputs) ? spanKind : tensorKind;
}

/** The kind of a model that is not loaded, judged by its files. */
export function kindOfFiles(manifest: Manifest): MeasuredKind {
  if (usualKind(manifest) === "language")
    return manifest.tasks.includes("text2text-generation") ? encoderDecoderKind : languageKind;
  return manifest.text === undefined ? tensorKind : textKind({ manifest, outputs: [] });
}

function textKind(facts: MeasuredModelFacts): MeasuredKind {
  return textKinds.find(({ serves }) => serves(facts)) ?? tensorKind;
}

/** Post-processors: the special tokens around texts, and offsets without white space. One table of kinds. */
import type { Step } from "../config/component-config.ts";
import { type PostProcessor, framed, inTurn, noPostProcessor, templateProcessing, trimmingOf } from "./template.ts";

export type { PostProcessor, Template, Trimming } from "./template.ts";

const kinds: Readonly<Record<string, (step: Step) => PostProcessor>> = {
  BertProcessing: (step) => framed(step, "bert"),
  ByteLevel: (step) => ({ ...noPostProcessor, trimming: trimmingOf(step) }),
  RobertaProcessing: (step) => framed(step, "roberta"),
  Sequence: (step) => inTurn(step, postProcessorOf),
  TemplateProcessing: templateProcessing,
};

/** Throws an Error that names what is not known. */
export function postProcessorOf(step: Step | null): PostProcessor {
  if (step === null) return noPostProcessor;
  const kind = Object.hasOwn(kinds, step.type) ? kinds[step.type] : undefined;
  if (kind === undefined) throw new Error(`the post_processor ${JSON.stringify(step.type)} is not known`);
  return kind(step);
}

/** Post-processors (special tokens and offset trimming), by their `type` in tokenizer.json. */
import { type ComponentConfig, type ComponentKinds, createComponent } from "../config/component-config.ts";
import {
  type PostProcessor,
  bertProcessing,
  combineProcessors,
  noPostProcessor,
  templateProcessing,
  getOffsetTrimming,
} from "./template.ts";

export type { PostProcessor, PostProcessorTemplate, OffsetTrimming } from "./template.ts";

const kinds: ComponentKinds<PostProcessor> = {
  BertProcessing: (step) => bertProcessing(step, "bert"),
  ByteLevel: (step) => ({ ...noPostProcessor, trimming: getOffsetTrimming(step) }),
  RobertaProcessing: (step) => bertProcessing(step, "roberta"),
  Sequence: (step) => combineProcessors(step, createPostProcessor),
  TemplateProcessing: templateProcessing,
};

/**
 * Creates the post-processor that a component of tokenizer.json describes; null gives one that adds nothing. Throws Error for an
 * unknown `type` or an invalid setting.
 */
export function createPostProcessor(step: ComponentConfig | null): PostProcessor {
  return step === null ? noPostProcessor : createComponent("post_processor", kinds, step);
}

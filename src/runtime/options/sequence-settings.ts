/** Settings of the sequences of language models: how the texts of several clients share a model. */
import { omitUndefined } from "../../contract/checked.ts";
import type { RuntimeOptions } from "./generated-runtime-options.ts";
import { runtimeDefaults } from "./runtime-options.ts";
import { parseSize } from "./size.ts";

/** Settings of the sequences of each language model of a runtime. */
export type SequenceSettings = Pick<RuntimeOptions, "turnTokens" | "reservedSequences" | "maxParkedMemory">;

/** Sequence settings with memory in bytes. */
export interface SequenceLimits {
  readonly turnTokens: number;
  readonly reservedSequences: number;
  readonly maxParkedBytes: number;
}

/** Adds the defaults, and parses sizes. Throws CONFIG_INVALID for a malformed size. */
export function parseSequenceSettings(settings: SequenceSettings): SequenceLimits {
  const { turnTokens, reservedSequences, maxParkedMemory } = { ...runtimeDefaults, ...omitUndefined(settings) };
  return { turnTokens, reservedSequences, maxParkedBytes: parseSize(maxParkedMemory) };
}

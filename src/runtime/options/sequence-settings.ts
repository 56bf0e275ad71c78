/** Settings of the sequences of language models: how the texts of several clients share a model. */
import { parseSize } from "./size.ts";

/** Settings of the sequences of each language model of a runtime. */
export interface SequenceSettings {
  /**
   * Tokens of a turn. If a model has more clients than sequences that run at once, a text is parked after this many tokens, so that a text of another client
   * runs. Default: 64.
   */
  readonly turnTokens?: number;
  /**
   * Sequences that a client without running texts gets at once, for the first turn of a text, though no turn of another client is over; meanwhile others use
   * them. Default: 1.
   */
  readonly reservedSequences?: number;
  /** Maximum memory of the caches of parked texts of one model: bytes, or "1GiB". Caches that exceed it are dropped and computed again. Default: "1GiB". */
  readonly maxParkedMemory?: number | string;
}

/** Default settings. */
export const sequenceDefaults: Required<SequenceSettings> = { turnTokens: 64, reservedSequences: 1, maxParkedMemory: "1GiB" };

/** Sequence settings with memory in bytes. */
export interface SequenceLimits {
  readonly turnTokens: number;
  readonly reservedSequences: number;
  readonly maxParkedBytes: number;
}

/** Adds the defaults, and parses sizes. Throws CONFIG_INVALID for a malformed size. */
export function parseSequenceSettings(settings: SequenceSettings): SequenceLimits {
  const {
    turnTokens = sequenceDefaults.turnTokens,
    reservedSequences = sequenceDefaults.reservedSequences,
    maxParkedMemory = sequenceDefaults.maxParkedMemory,
  } = settings;
  return { turnTokens, reservedSequences, maxParkedBytes: parseSize(maxParkedMemory) };
}

/** A stored measurement: the model, target, machine and settings, and the measured speed. */
import { omitUndefined } from "../contract/checked.ts";
import type { Library } from "../contract/backend.ts";
import type { UserLoadSettings } from "../kernels/native-settings.ts";
import { type MeasuredMachine, machineDifference } from "./machine.ts";

/** One measurement of a model on a target. */
export interface Measurement {
  /** Time of the measurement, ISO 8601 in UTC. */
  readonly at: string;
  readonly machine: MeasuredMachine;
  readonly model: MeasuredModel;
  /** Target that it was measured on, for example "onnx:cpu". */
  readonly target: string;
  readonly library: Library;
  /** Number of threads of the engine. */
  readonly threads: number;
  /** All other load settings that were set, since they affect speed as well. */
  readonly settings: SpeedSettings;
  readonly figures: Figures;
}

/** The model that was measured. */
export interface MeasuredModel {
  /** Digest, "sha256:…", of the variant's main file. */
  readonly digest: string;
  readonly variant: string;
  /** Absolute path of the variant's main file, and the bytes of it and the files it refers to, at the time of the measurement. */
  readonly path: string;
  readonly bytes: number;
  /** Modification time of the main file in milliseconds since 1970. While it and the size are unchanged, the digest is valid. */
  readonly modifiedMs: number;
}

/**
 * Unit in which the inputs of a measurement are counted: texts, pairs of texts, generations (64 tokens of prompt and 16 generated tokens), or runs on
 * tensors.
 */
export type Unit = "texts" | "pairs" | "generations" | "runs";

/** Figures of one measurement. Each is the median over the rounds. */
export interface Figures {
  /** Number of rounds. Each ran in its own process, alternating with other targets. */
  readonly rounds: number;
  /** Unit of the inputs. */
  readonly unit: Unit;
  /** Milliseconds to load and verify. */
  readonly loadMs: number;
  /** Milliseconds for one input: the median call of the median round, and the medians of the fastest and the slowest round. */
  readonly latencyMs: number;
  readonly latencyRangeMs: readonly [min: number, max: number];
  /** Inputs per second with many inputs in one call. */
  readonly perSecond: number;
  /** Tokens per second in the bulk call. Absent for models on tensors. */
  readonly tokensPerSecond?: number;
  /** For language models: prompt tokens per second (prefill), and generated tokens per second (decode), with one generation at a time. */
  readonly promptTokensPerSecond?: number;
  readonly decodeTokensPerSecond?: number;
  /** Growth of resident memory since before the load, in bytes. */
  readonly memoryBytes: number;
}

/** The load settings except `threads`, which is recorded as the resulting number. */
export type SpeedSettings = Omit<UserLoadSettings, "threads">;

/** The load settings that are set, except `threads`, sorted by name so that equal settings have equal JSON. */
export function speedSettings({ threads: _threads, ...others }: UserLoadSettings): SpeedSettings {
  return Object.fromEntries(Object.entries(omitUndefined(others)).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether one measurement replaces the other: the same model, target, library, threads and settings on the same machine. */
export function isSameSubject(a: Measurement, b: Measurement): boolean {
  return getSubject(a) === getSubject(b) && machineDifference(a.machine, b.machine, false) === undefined;
}

function getSubject({ model, target, library, threads, settings }: Measurement): string {
  return JSON.stringify([model.digest, target, library.name, library.version, threads, speedSettings(settings)]);
}

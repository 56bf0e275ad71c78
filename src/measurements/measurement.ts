/** One measurement that was kept: which model on which target of which machine, with what settings, and how fast it was. */
import type { Library, LoadSettings } from "../backend.ts";
import { type MeasuredMachine, machineDifference } from "./machine.ts";

export interface Measurement {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly machine: MeasuredMachine;
  readonly model: MeasuredModel;
  /** For example "onnx:cpu". */
  readonly target: string;
  readonly library: Library;
  /** Threads the engine was given. */
  readonly threads: number;
  /** Every other load setting that was set; they change speed as well. */
  readonly settings: SpeedSettings;
  readonly figures: Figures;
}

export interface MeasuredModel {
  /** "sha256:…" of the variant's main file. */
  readonly digest: string;
  readonly variant: string;
  /** Absolute path of the variant's main file, and the bytes of it and of the files it refers to, when it was measured. */
  readonly path: string;
  readonly bytes: number;
  /** Time of the main file's last change, milliseconds since 1970: while it and the size hold, the digest holds. */
  readonly modifiedMs: number;
}

/** Medians over the rounds. */
export interface Figures {
  /** Processes that measured, one after the other, other targets between them. */
  readonly rounds: number;
  /** What one input is: a text, or a run on tensors for a model without a tokenizer. */
  readonly unit: "texts" | "runs";
  /** From nothing to verified. */
  readonly loadMs: number;
  /** One input: the median round's median call, and the medians of the fastest and the slowest round. */
  readonly latencyMs: number;
  readonly latencyRangeMs: readonly [least: number, most: number];
  /** Many inputs in one call. */
  readonly perSecond: number;
  /** Resident memory at the end, less what the process had before loading. */
  readonly memoryBytes: number;
}

/** The load settings beside `threads`, which is recorded as what it came to. */
export type SpeedSettings = Omit<LoadSettings, "threads">;

/** Those that are set, by name, so that equal ones are equal as JSON. */
export function speedSettings({ threads: _threads, ...others }: LoadSettings): SpeedSettings {
  const set = Object.entries(others).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether one takes the other's place: the same thing measured again. */
export function isSameSubject(a: Measurement, b: Measurement): boolean {
  return subjectOf(a) === subjectOf(b) && machineDifference(a.machine, b.machine, false) === undefined;
}

function subjectOf({ model, target, library, threads, settings }: Measurement): string {
  return JSON.stringify([model.digest, target, library.name, library.version, threads, speedSettings(settings)]);
}

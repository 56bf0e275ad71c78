/** What the measurements that are kept say of one candidate: how fast it is here, or why none of them counts. Pure. */
import type { Library } from "../../backend.ts";
import { type MeasuredMachine, machineDifference } from "../../measurements/machine.ts";
import { type Measurement, type SpeedSettings, speedSettings } from "../../measurements/measurement.ts";
import type { Variant } from "../../models/manifest.ts";

/** Facts for the policy "fastest"; gathered under no other. */
export interface MeasurementFacts {
  readonly machine: MeasuredMachine;
  /** Threads an engine would be given now, and every other load setting that is set. */
  readonly threads: number;
  readonly settings: SpeedSettings;
  readonly measurements: readonly Measurement[];
  /** Path of a variant's main file -> "sha256:…", for every variant that could have been measured. */
  readonly digests: ReadonlyMap<string, string>;
  /** Digest -> why what is kept of these weights cannot be read; "" = why nothing can. */
  readonly problems: ReadonlyMap<string, string>;
}

/** `latencyMs` is there where a measurement counts. The note is a sentence without a full stop, for the decision. */
export interface MeasuredSpeed {
  readonly latencyMs?: number;
  readonly note: string;
}

interface Subject {
  readonly target: string;
  readonly onCpu: boolean;
  readonly variant: Variant;
  readonly library: Library;
}

/** The newest measurement that counts; else the reason why the newest one does not. */
export function measuredSpeed(subject: Subject, facts: MeasurementFacts): MeasuredSpeed {
  const digest = facts.digests.get(subject.variant.path);
  const problem = facts.problems.get(digest ?? "") ?? facts.problems.get("");
  if (problem !== undefined) return { note: `not measured: ${problem}` };
  const about = facts.measurements
    .filter(({ target, model }) => target === subject.target && (model.digest === digest || model.path === subject.variant.path))
    .toSorted((a, b) => (a.at < b.at ? 1 : -1))
    .map((measurement) => ({ measurement, objection: reasonToIgnore(measurement, subject, facts) }));
  const sound = about.find(({ objection }) => objection === undefined)?.measurement;
  if (sound !== undefined) {
    const { latencyMs, unit } = sound.figures;
    return {
      latencyMs,
      note: `measured ${sound.at.slice(0, 10)}: ${formatMilliseconds(latencyMs)} for one ${unit === "texts" ? "text" : "run"}`,
    };
  }
  const [newest] = about;
  if (newest !== undefined)
    return { note: `a measurement of ${newest.measurement.at.slice(0, 10)} is ignored: ${newest.objection}` };
  const other = facts.measurements.find(
    ({ target, model }) => target === subject.target && model.variant !== subject.variant.name && hasDigest(facts, model.digest),
  );
  if (other === undefined) return { note: "not measured" };
  return { note: `not measured with ${subject.variant.name}, only with ${other.model.variant}` };
}

function hasDigest({ digests }: MeasurementFacts, wanted: string): boolean {
  return [...digests.values()].includes(wanted);
}

/** Why a measurement says nothing about a load here and now; the least mendable reason first. */
function reasonToIgnore(measurement: Measurement, subject: Subject, facts: MeasurementFacts): string | undefined {
  const { library, threads, settings, model, machine } = measurement;
  const machines = machineDifference(machine, facts.machine, subject.onCpu);
  if (machines !== undefined) return `it was taken on another machine (${machines})`;
  if (model.digest !== facts.digests.get(subject.variant.path)) return "the file of weights has changed since";
  if (library.name !== subject.library.name || library.version !== subject.library.version) {
    return `it was taken with ${formatLibrary(library)}, and this is ${formatLibrary(subject.library)}`;
  }
  if (threads !== facts.threads)
    return `it was taken with ${threads} ${threads === 1 ? "thread" : "threads"}, and this load has ${facts.threads}`;
  const [then, now] = [speedSettings(settings), facts.settings].map((set) => JSON.stringify(set));
  if (then !== now) return `it was taken with the settings ${then}, and this load has ${now}`;
  return undefined;
}

function formatLibrary({ name, version }: Library): string {
  return `${name} ${version}`;
}

function formatMilliseconds(milliseconds: number): string {
  return `${milliseconds < 10 ? milliseconds.toFixed(2) : milliseconds.toFixed(1)} ms`;
}

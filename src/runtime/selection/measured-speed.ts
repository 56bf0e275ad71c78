/** Evaluates stored measurements for one candidate: its speed on this machine, or why no measurement applies. Pure. */
import type { Library } from "../../contract/backend.ts";
import type { ModelKind } from "../../hosts/host-name.ts";
import { type MeasuredMachine, machineDifference } from "../../speed-records/machine.ts";
import { type Measurement, type SpeedSettings, speedSettings } from "../../speed-records/measurement.ts";
import type { Variant } from "../../models/manifest.ts";

/** Stored measurements, and the facts about this machine that they must agree with. Gathered under the policy "fastest" only. */
export interface MeasurementFacts {
  readonly machine: MeasuredMachine;
  /** Number of threads that an engine would get for this load; `settings`: the other load settings that are set. */
  readonly threads: number;
  readonly settings: SpeedSettings;
  readonly measurements: readonly Measurement[];
  /** Digest ("sha256:…") by path of the variant's main file, for every variant that may have been measured. */
  readonly digests: ReadonlyMap<string, string>;
  /** Why a file of measurements cannot be read, by the digest of its weights. The key "" means that none can be read. */
  readonly problems: ReadonlyMap<string, string>;
}

/**
 * The speed of a candidate. `latencyMs`: milliseconds for one input, set if a measurement applies. `note`: a sentence without a
 * full stop, for the decision.
 */
export interface MeasuredSpeed {
  readonly latencyMs?: number;
  readonly note: string;
}

interface Subject {
  readonly target: string;
  /** Kind that the model is loaded as. Language models are measured by generations, other models by runs on their inputs. */
  readonly kind: ModelKind;
  readonly onCpu: boolean;
  readonly variant: Variant;
  readonly library: Library;
}

/**
 * The newest measurement that applies to this target, file, library, machine, thread count and settings. If none does, the note
 * says why the newest one is ignored.
 */
export function measuredSpeed(subject: Subject, facts: MeasurementFacts): MeasuredSpeed {
  const digest = facts.digests.get(subject.variant.path);
  const problem = facts.problems.get(digest ?? "") ?? facts.problems.get("");
  if (problem !== undefined) return { note: `not measured: ${problem}` };
  const about = facts.measurements
    .filter(({ target, model }) => target === subject.target && (model.digest === digest || model.path === subject.variant.path))
    // A file may be measured as it is and with its weights packed.
    .filter(({ model }) => model.variant === subject.variant.name)
    .filter(({ figures }) => (figures.unit === "generations") === (subject.kind === "language"))
    .toSorted((a, b) => (a.at < b.at ? 1 : -1))
    .map((measurement) => ({ measurement, reason: reasonToIgnore(measurement, subject, facts) }));
  const applicable = about.find(({ reason }) => reason === undefined)?.measurement;
  if (applicable !== undefined) {
    const { latencyMs, unit } = applicable.figures;
    return {
      latencyMs,
      note: `measured ${applicable.at.slice(0, 10)}: ${formatMilliseconds(latencyMs)} for one ${unit.slice(0, -1)}`,
    };
  }
  const [newest] = about;
  if (newest !== undefined)
    return { note: `a measurement of ${newest.measurement.at.slice(0, 10)} is ignored: ${newest.reason}` };
  const other = facts.measurements.find(
    ({ target, model }) => target === subject.target && model.variant !== subject.variant.name && hasDigest(facts, model.digest),
  );
  if (other === undefined) return { note: "not measured" };
  return { note: `not measured with ${subject.variant.name}, only with ${other.model.variant}` };
}

function hasDigest({ digests }: MeasurementFacts, wanted: string): boolean {
  return [...digests.values()].includes(wanted);
}

/** Why a measurement does not apply to this load, the reason that is hardest to change first. Undefined if it applies. */
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

/** Supervision of a model that is loaded on trial beside the one that serves: its deaths do not count for the one that serves. */
import { type Supervision, unsupervised } from "../../hosts/supervision.ts";

/** A supervision that begins on trial. */
export interface TrialSupervision extends Supervision {
  /** The model serves now: from here on everything is reported. */
  promote(): void;
}

/** Keeps the limits of `supervision`, and reports to it once the model was promoted. */
export function trialSupervision(supervision: Supervision = unsupervised): TrialSupervision {
  let current = unsupervised;
  return {
    ...supervision,
    admit: (signal) => current.admit(signal),
    died: (reason, hungMs) => current.died(reason, hungMs),
    replaced: (why, milliseconds) => current.replaced(why, milliseconds),
    promote: () => void (current = supervision),
  };
}

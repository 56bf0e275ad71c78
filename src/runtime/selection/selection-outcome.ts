/** The result of a selection, with what it was selected from. */
import type { Manifest } from "../../models/manifest.ts";
import type { Constraints } from "../targets/constraints.ts";
import type { LoadRequest } from "./load-request.ts";
import type { CheckedCandidate } from "./selection.ts";
import type { SelectionFacts } from "./selection-facts.ts";

/** The checked candidates of a request, and the inputs of the selection that are needed to load one. */
export interface SelectionOutcome {
  readonly selections: readonly CheckedCandidate[];
  readonly facts: Pick<SelectionFacts, "backends" | "openCircuits">;
  readonly manifest: Manifest;
  readonly constraints: Constraints;
  readonly request: LoadRequest;
}

/** Checks that passed before, by the names of the functions. Whoever provides them knows that code, processor and compiler are the same. */
export interface PassedChecks {
  /** Names of the functions. */
  readonly names: readonly string[];
  /** Whether all functions of generated code are among them. */
  readonly isComplete: boolean;
  /** Time at which the first of them was checked, ISO 8601. Undefined if there is none. */
  readonly since: string | undefined;
  /** Adds functions that were found right. `isComplete`: see the member. */
  add(names: readonly string[], options?: { readonly isComplete?: boolean }): void;
}

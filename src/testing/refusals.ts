/** Assertions on typed errors. */
import { strict as assert } from "node:assert";
import { type ErrorCode, InferyardError } from "../contract/errors.ts";

/** Calls a function, and returns the typed error that it throws. Rejects unless its code is allowed. */
export async function refused(call: () => Promise<unknown>, allowed: (code: ErrorCode) => boolean): Promise<InferyardError> {
  const thrown = await Promise.resolve()
    .then(call)
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  assert.ok(thrown instanceof InferyardError, `refused by a typed error, not by ${String(thrown)}`);
  assert.ok(allowed(thrown.code), `refused by the right code, not by ${thrown.code}: ${thrown.message}`);
  return thrown;
}

/** The code of a typed error; undefined for anything else. */
export function getErrorCode(thrown: unknown): ErrorCode | undefined {
  return thrown instanceof InferyardError ? thrown.code : undefined;
}

/** Whether a code is the wanted one. */
export function hasErrorCode(wanted: ErrorCode): (code: ErrorCode) => boolean {
  return (code) => code === wanted;
}

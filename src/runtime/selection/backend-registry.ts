/** Validation of the backends that a runtime is created with. */
import type { Backend } from "../../contract/backend.ts";
import { isInRange } from "../../devices/versions.ts";
import { InferyardError, invalidInput } from "../../contract/errors.ts";
import { checkBackend } from "../../contract/shapes/held-contract.ts";
import { deviceWords } from "../targets/target.ts";

/**
 * Checks the static properties of backends: members have the types of the contract, names are lower-case, unique and not device names, the contract
 * version is 1, and version ranges are valid. Runs nothing. Returns a copy of the list; throws CONTRACT_VIOLATION, and INPUT_INVALID for an empty
 * list.
 */
export function validateBackends(backends: readonly Backend[]): readonly Backend[] {
  if (backends.length === 0) {
    throw invalidInput(
      "a runtime was given no backends, so no model could run",
      "leave backends out for the standard ones, or name at least one",
    );
  }
  const seen = new Set<string>();
  for (const [position, backend] of backends.entries()) {
    checkBackend(backend, position);
    const { name, contractVersion, requires = [] } = backend;
    if (!/^[a-z][a-z0-9-]*$/.test(name)) throw violation(name, "its name must be a lower-case word");
    if (deviceWords.has(name)) throw violation(name, "that is the name of a device");
    if (seen.has(name)) throw violation(name, "another backend has the same name");
    if (contractVersion !== 1)
      throw violation(name, `it is written against contract version ${String(contractVersion)}, and this is version 1`);
    for (const { name: library, range } of requires) {
      if (range !== undefined && !isRange(range)) throw violation(name, `"${range}" for ${library} is not a range of versions`);
    }
    seen.add(name);
  }
  return [...backends];
}

function isRange(range: string): boolean {
  try {
    isInRange("0.0.0", range);
    return true;
  } catch {
    return false;
  }
}

function violation(name: string, reason: string): InferyardError {
  return new InferyardError("CONTRACT_VIOLATION", `backend "${name}" cannot be registered: ${reason}`);
}

/** The error of a library that does not keep its contract. */
import { InferyardError } from "../../contract/errors.ts";
import type { ContractName } from "../contracts/index.ts";
import type { ValidationStepName } from "./library-validation.ts";

/** Why a library is refused. */
export interface RefusalFacts {
  /** The path as the user wrote it. */
  readonly path: string;
  readonly contract: ContractName;
  readonly step: ValidationStepName;
  readonly expected: string;
  readonly found: string;
  /** Differences, one a line. */
  readonly details?: readonly string[];
  readonly remedy: string;
  readonly cause?: unknown;
}

/** LIBRARY_INCOMPATIBLE with the expected and the found values. */
export function refusal({ path, contract, step, expected, found, details = [], remedy, cause }: RefusalFacts): InferyardError {
  const lines = [`${path} does not keep the contract ${contract}`, `  expected ${expected}`, `  found    ${found}`];
  return new InferyardError("LIBRARY_INCOMPATIBLE", [...lines, ...details.map((detail) => `           ${detail}`)].join("\n"), {
    data: { path, contract, step, expected, found, details },
    remedy,
    cause,
  });
}

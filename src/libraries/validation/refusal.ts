/** The error of a library that does not keep its contract. */
import { InferyardError } from "../../contract/errors.ts";
import type { LibraryRefusal } from "./library-validation.ts";

/** Why a library is refused: the data of the error, its remedy and its cause. */
export interface RefusalFacts
  extends
    Omit<LibraryRefusal, "details" | "steps" | "lastLines">,
    Partial<Pick<LibraryRefusal, "details" | "steps" | "lastLines">> {
  readonly remedy: string;
  readonly cause?: unknown;
}

/** LIBRARY_INCOMPATIBLE with the expected and the found values. */
export function refusal({ remedy, cause, ...facts }: RefusalFacts): InferyardError {
  const { path, contract, step, expected, found, details = [], ...others } = facts;
  const lines = [`${path} does not keep the contract ${contract}`, `  expected ${expected}`, `  found    ${found}`];
  return new InferyardError("LIBRARY_INCOMPATIBLE", [...lines, ...details.map((detail) => `           ${detail}`)].join("\n"), {
    data: { path, contract, step, expected, found, details, ...others },
    remedy,
    cause,
  });
}

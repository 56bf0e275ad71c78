/** Names of backends and devices in settings: one that nothing has is refused, since a misspelled exclusion would exclude nothing. */
import type { Backend, Device } from "../../contract/backend.ts";
import { InferyardError } from "../../contract/errors.ts";
import { capabilitiesOf } from "../../contract/shapes/held-contract.ts";
import { nearestName } from "../../models/validation/nearest-name.ts";
import { type ConstraintOptions, parseTargets } from "./constraints.ts";
import { anyBackend, deviceWords, type TargetPattern } from "./target.ts";

/** The backends of this package, which settings may name in a runtime that was created without them. */
export const ownBackends: readonly string[] = ["onnx", "xla", "llamacpp", "native", "wasm", "library"];

/** What is known of a registered backend without a probe. */
export type RegisteredBackend = Pick<Backend, "name" | "capabilities">;

/** The constraints that are lists of targets. */
const targetLists = ["priority", "prefer", "target", "exclude"] as const;

/**
 * Throws INPUT_INVALID for a list that names a backend which is neither registered nor one of this package, or a device that no such backend has, with the
 * nearest known name as the remedy; and for an empty list of backends or targets that may run. `where` precedes the name of the list in messages.
 */
export function refuseUnknownNames(constraints: ConstraintOptions, registered: readonly RegisteredBackend[], where = ""): void {
  for (const list of targetLists) {
    const written = constraints[list];
    if (written === undefined) continue;
    const mayBeEmpty = list === "prefer" || list === "exclude";
    if (!mayBeEmpty && parseTargets(written).length === 0) {
      throw new InferyardError("INPUT_INVALID", `${where}${list} is an empty list`, {
        remedy: `name at least one, or leave ${list} out`,
      });
    }
    const problem = findUnknownName(written, registered);
    if (problem === undefined) continue;
    const { kind, name, remedy } = problem;
    throw new InferyardError("INPUT_INVALID", `${where}${list} names the ${kind} "${name}", and there is none of this name`, {
      remedy,
      data: { [list]: name },
    });
  }
}

/** A name that nothing has. */
export interface UnknownName {
  readonly kind: "backend" | "device";
  readonly name: string;
  /** The nearest known name, or all. */
  readonly remedy: string;
}

/** The first unknown name in a list of targets; undefined if all are known. Throws INPUT_INVALID for text that is not a target. */
export function findUnknownName(
  written: string | readonly string[],
  registered: readonly RegisteredBackend[],
): UnknownName | undefined {
  for (const pattern of parseTargets(written)) {
    const problem = unknownName(pattern, registered);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Whether there are devices of a type, here or elsewhere: one that this package knows, or one that a registered backend loads models on. */
export function isDeviceType({ type, index }: Device, registered: readonly Pick<Backend, "name" | "capabilities">[]): boolean {
  return (
    deviceWords.has(type) || registered.some((each) => Object.keys(capabilitiesOf(each, { type, index }).formats).length > 0)
  );
}

function unknownName(
  { backend, deviceType, index = 0 }: TargetPattern,
  registered: readonly RegisteredBackend[],
): UnknownName | undefined {
  const backends = [...new Set([...registered.map(({ name }) => name), ...ownBackends])];
  const isKnown = backend === anyBackend || backends.includes(backend);
  if (!isKnown) return unknown("backend", backend, backends);
  const meant = registered.filter(({ name }) => backend === anyBackend || backend === name);
  if (deviceType === undefined || isDeviceType({ type: deviceType, index }, meant)) return undefined;
  return unknown("device", deviceType, [...deviceWords]);
}

function unknown(kind: UnknownName["kind"], name: string, known: readonly string[]): UnknownName {
  const guess = nearestName(name, known);
  return { kind, name, remedy: guess === undefined ? `the ${kind}s are ${known.join(", ")}` : `did you mean "${guess}"?` };
}

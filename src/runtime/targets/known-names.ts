/** Checks backend and device names in settings. Unknown names are refused, since a misspelled exclusion would have no effect. */
import type { Backend, Device } from "../../contract/backend.ts";
import { invalidInput } from "../../contract/errors.ts";
import { getCapabilities } from "../../contract/shapes/held-contract.ts";
import { nearestName } from "../../models/validation/nearest-name.ts";
import { type ConstraintOptions, parseTargets } from "./constraints.ts";
import { anyBackend, deviceWords, type TargetPattern } from "./target.ts";

/** The backends of this package. Settings may name them even in a runtime created without them. */
export const ownBackends: readonly string[] = ["onnx", "xla", "llamacpp", "native", "wasm", "library"];

/** Members of a registered backend that can be read without a probe. */
export type RegisteredBackend = Pick<Backend, "name" | "capabilities">;

/** The constraints that are lists of targets. */
const targetLists = ["priority", "prefer", "target", "exclude"] as const;

/**
 * Throws INPUT_INVALID for a list that names an unknown backend (neither registered nor part of this package) or an unknown device, with the nearest
 * known name as the remedy. Also throws INPUT_INVALID for an empty `priority` or `target` list. `where` precedes the name of the list in messages.
 */
export function refuseUnknownNames(constraints: ConstraintOptions, registered: readonly RegisteredBackend[], where = ""): void {
  for (const list of targetLists) {
    const written = constraints[list];
    if (written === undefined) continue;
    const mayBeEmpty = list === "prefer" || list === "exclude";
    if (!mayBeEmpty && parseTargets(written).length === 0) {
      throw invalidInput(`${where}${list} is an empty list`, `name at least one, or leave ${list} out`);
    }
    const problem = findUnknownName(written, registered);
    if (problem === undefined) continue;
    const { kind, name, remedy } = problem;
    throw invalidInput(`${where}${list} names the ${kind} "${name}", and there is none of this name`, remedy, { [list]: name });
  }
}

/** An unknown name of a backend or device. */
export interface UnknownName {
  readonly kind: "backend" | "device";
  readonly name: string;
  /** Remedy: the nearest known name, or a list of all known names. */
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

/** Whether a device type exists, on this or any machine: a type known to this package, or a type on which a registered backend can load models. */
export function isDeviceType({ type, index }: Device, registered: readonly Pick<Backend, "name" | "capabilities">[]): boolean {
  return deviceWords.has(type) || registered.some((each) => getCapabilities(each, { type, index }).models.length > 0);
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

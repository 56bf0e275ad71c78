/** Targets, written `backend[:device[:index]]`: for example `onnx`, `onnx:cpu`, `onnx:cuda:1`. */
import type { Device, ModelFiles } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { invalidInput } from "../../contract/errors.ts";

/** A backend together with the device it computes on. */
export interface Target {
  readonly backend: string;
  readonly device: Device;
}

/** A target as a user writes it. A part that is left out matches any value, and so does the backend "*". */
export interface TargetPattern {
  /** "*" together with a device type: that device of any backend. */
  readonly backend: string;
  readonly deviceType?: string;
  readonly index?: number;
}

/** Maximum length of a written target, in characters. */
const maxLength = 100;

/** The backend of a pattern that matches all backends. */
export const anyBackend = "*";

const grammar = /^(?<backend>[a-z][a-z0-9-]*|\*(?=:))(?::(?<device>[a-z][a-z0-9-]*)(?::(?<index>\d{1,4}))?)?$/;

/** Device names of other tools, and ours for the same device. */
export const deviceSpellings: Readonly<Record<string, string>> = { gpu: "cuda", dml: "directml" };

/** Types of devices other than the CPU. */
export const acceleratorTypes = [
  "cuda",
  "tensorrt",
  "rocm",
  "coreml",
  "metal",
  "directml",
  "vulkan",
  "webgpu",
  "openvino",
  "tpu",
  "npu",
] as const;

/** Names of device types. A backend cannot have one of them as its name. */
export const deviceWords: ReadonlySet<string> = new Set(["cpu", ...acceleratorTypes, ...Object.keys(deviceSpellings)]);

/**
 * Parses one target, ignoring case. `*:cuda` is that device of any backend. The device `auto` is the same as no device; `gpu` means `cuda` and `dml` means `directml`.
 * Throws INPUT_INVALID for text that is not a target, with the probable target as the remedy.
 */
export function parseTarget(text: string): TargetPattern {
  if (text.length > maxLength) {
    throw invalidInput(
      `"${text.slice(0, maxLength)}..." is not a target: it has ${text.length} characters`,
      "write backend[:device[:index]], for example onnx, onnx:cpu or onnx:cuda:1",
    );
  }
  const groups = grammar.exec(text.trim().toLowerCase())?.groups;
  if (groups?.["backend"] === undefined) {
    throw invalidInput(`"${text}" is not a target`, "write backend[:device[:index]], for example onnx, onnx:cpu or onnx:cuda:1", {
      target: text,
    });
  }
  const { backend } = groups;
  if (deviceWords.has(backend)) {
    throw invalidInput(
      `"${text}" names a device without its backend`,
      `did you mean onnx:${deviceSpellings[backend] ?? backend}?`,
      { target: text },
    );
  }
  const written = groups["device"];
  if (backend === anyBackend && (written === undefined || written === "auto")) {
    throw invalidInput(
      `"${text}" names neither a backend nor a device`,
      "write onnx for all devices of a backend, *:cuda for a device of all backends, or both, as in onnx:cuda:1",
      { target: text },
    );
  }
  if (written === "auto" && groups["index"] !== undefined) {
    throw invalidInput(`"${text}" numbers a device without naming its type`, `did you mean ${backend}:cuda:${groups["index"]}?`, {
      target: text,
    });
  }
  const deviceType = written === undefined || written === "auto" ? undefined : (deviceSpellings[written] ?? written);
  return {
    backend,
    ...omitUndefined({ deviceType }),
    ...(groups["index"] === undefined || deviceType === undefined ? {} : { index: Number(groups["index"]) }),
  };
}

/** Parses a device as a target names it, `device[:index]`, for example "cuda:1". Undefined for text that names no device. */
export function parseDevice(text: string): Device | undefined {
  const groups = grammar.exec(`${anyBackend}:${text.trim().toLowerCase()}`)?.groups;
  const written = groups?.["device"];
  if (written === undefined || written === "auto") return undefined;
  return { type: deviceSpellings[written] ?? written, index: Number(groups?.["index"] ?? 0) };
}

/** The target of the canonical spelling that `formatTarget` gives. */
export function parseExactTarget(text: string): Target {
  const { backend, deviceType = "cpu", index = 0 } = parseTarget(text);
  return { backend, device: { type: deviceType, index } };
}

/** Whether a target matches a pattern: each part that the pattern names is equal. */
export function matches(pattern: TargetPattern, target: Target): boolean {
  return (
    (pattern.backend === anyBackend || pattern.backend === target.backend) &&
    (pattern.deviceType === undefined || pattern.deviceType === target.device.type) &&
    (pattern.index === undefined || pattern.index === target.device.index)
  );
}

/** The canonical spelling of a target, for example "onnx:cuda:1". Index 0 is left out: "onnx:cpu". */
export function formatTarget(target: Target): string {
  return `${target.backend}:${formatDevice(target.device)}`;
}

/** The canonical spelling of a device, for example "cuda:1". Index 0 is left out: "cpu". */
export function formatDevice(device: Device): string {
  return device.index === 0 ? device.type : `${device.type}:${device.index}`;
}

/** The spelling of a pattern, with the parts that it names: "onnx", "onnx:cuda", "onnx:cuda:0". */
export function formatPattern(pattern: TargetPattern): string {
  return [pattern.backend, pattern.deviceType, pattern.index].filter((part) => part !== undefined).join(":");
}

/**
 * Map key of a variant on a target: its file of weights, and the type to which they are packed. Circuit breakers of one model, crash histories and measured
 * memory are kept under it.
 */
export function placementKey(target: Target, { path, packing }: PlacedFiles): string {
  return `${formatTarget(target)} ${path}${packing === undefined ? "" : ` as ${packing.to}`}`;
}

/** Fields of a variant that `placementKey` reads. */
export type PlacedFiles = Pick<ModelFiles, "path" | "packing">;

/** Targets: `backend[:device[:index]]`, for example `onnx`, `onnx:cpu`, `onnx:cuda:1`. */
import type { Device } from "../../backend.ts";
import { InferyardError } from "../../errors.ts";

/** One backend on one device. */
export interface Target {
  readonly backend: string;
  readonly device: Device;
}

/** A target as a user writes it; what is left out matches anything. */
export interface TargetPattern {
  readonly backend: string;
  readonly deviceType?: string;
  readonly index?: number;
}

/** Of one target, in characters; the longest that means something is shorter. */
const maxLength = 100;

const grammar = /^(?<backend>[a-z][a-z0-9-]*)(?::(?<device>[a-z][a-z0-9-]*)(?::(?<index>\d{1,4}))?)?$/;

/** Device spellings people know from other tools. */
const deviceSpellings: Readonly<Record<string, string>> = { gpu: "cuda", dml: "directml" };

/** Devices, which cannot be the names of backends. */
export const deviceWords: ReadonlySet<string> = new Set([
  "cpu",
  "cuda",
  "coreml",
  "directml",
  "rocm",
  "openvino",
  "tensorrt",
  "webgpu",
  "metal",
  "vulkan",
  "tpu",
  "npu",
  ...Object.keys(deviceSpellings),
]);

/** Reads one target. `auto` as the device is the same as leaving it out. */
export function parseTarget(text: string): TargetPattern {
  if (text.length > maxLength) {
    throw new InferyardError(
      "INPUT_INVALID",
      `"${text.slice(0, maxLength)}..." is not a target: it has ${text.length} characters`,
      {
        remedy: "write backend[:device[:index]], for example onnx, onnx:cpu or onnx:cuda:1",
      },
    );
  }
  const groups = grammar.exec(text.trim().toLowerCase())?.groups;
  if (groups?.["backend"] === undefined) {
    throw new InferyardError("INPUT_INVALID", `"${text}" is not a target`, {
      remedy: "write backend[:device[:index]], for example onnx, onnx:cpu or onnx:cuda:1",
      data: { target: text },
    });
  }
  const { backend } = groups;
  if (deviceWords.has(backend)) {
    throw new InferyardError("INPUT_INVALID", `"${text}" names a device without its backend`, {
      remedy: `did you mean onnx:${deviceSpellings[backend] ?? backend}?`,
      data: { target: text },
    });
  }
  const written = groups["device"];
  if (written === "auto" && groups["index"] !== undefined) {
    throw new InferyardError("INPUT_INVALID", `"${text}" numbers a device without naming its type`, {
      remedy: `did you mean ${backend}:cuda:${groups["index"]}?`,
      data: { target: text },
    });
  }
  const deviceType = written === undefined || written === "auto" ? undefined : (deviceSpellings[written] ?? written);
  return {
    backend,
    ...(deviceType === undefined ? {} : { deviceType }),
    ...(groups["index"] === undefined || deviceType === undefined ? {} : { index: Number(groups["index"]) }),
  };
}

export function matches(pattern: TargetPattern, target: Target): boolean {
  return (
    pattern.backend === target.backend &&
    (pattern.deviceType === undefined || pattern.deviceType === target.device.type) &&
    (pattern.index === undefined || pattern.index === target.device.index)
  );
}

/** The canonical spelling: the first device of its type goes without an index. */
export function formatTarget(target: Target): string {
  return `${target.backend}:${formatDevice(target.device)}`;
}

export function formatDevice(device: Device): string {
  return device.index === 0 ? device.type : `${device.type}:${device.index}`;
}

export function formatPattern(pattern: TargetPattern): string {
  return [pattern.backend, pattern.deviceType, pattern.index].filter((part) => part !== undefined).join(":");
}

/** One file of weights on one target: for circuits of one model, and for what was seen of its size and speed. */
export function placementKey(target: Target, { path }: { readonly path: string }): string {
  return `${formatTarget(target)} ${path}`;
}

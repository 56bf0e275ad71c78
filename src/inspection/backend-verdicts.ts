/** Predicts which backends can run a file, from its header and the capabilities that the backends declare. Nothing is loaded. */
import type { Backend, Capabilities, ModelFormat } from "../contract/backend.ts";
import type { OnnxOutline } from "../formats/onnx/onnx-outline.ts";
import type { BackendVerdict } from "./inspection.ts";
import { type EngineSupports, engineVerdict } from "./engine-support.ts";
import type { ExternalFile } from "./external-files.ts";
import { onnxruntimeVerdict } from "./onnxruntime-support.ts";
import { abbreviatedList } from "../contract/errors.ts";
import { getCapabilities } from "../contract/shapes/held-contract.ts";

/** The inspected file, as far as the verdicts of backends are based on it. */
export interface VerdictSubject {
  readonly format: ModelFormat;
  /** First entry of `architectures` in config.json, or `general.architecture` of a GGUF file. */
  readonly architecture?: string;
  readonly onnx?: {
    readonly outline: OnnxOutline;
    readonly externalFiles: readonly ExternalFile[];
    /** Operators that the engine of the backend `native` supports. */
    readonly engineKnows: EngineSupports;
  };
}

/** Types of devices whose capabilities are asked for, in order. */
const deviceTypes = ["cpu", "cuda", "coreml", "directml", "rocm", "webgpu", "metal", "vulkan", "tpu", "npu"];
/** Backends based on onnxruntime, whose supported operators were measured. */
const onnxruntimes: ReadonlySet<string> = new Set(["onnx", "wasm"]);

/** Predicts for each backend whether it can run the inspected file. Nothing is loaded. */
export function backendVerdicts(backends: readonly Backend[], subject: VerdictSubject): BackendVerdict[] {
  return backends.map((backend) => ({ backend: backend.name, ...getVerdict(backend, subject) }));
}

function getVerdict(backend: Backend, { format, architecture, onnx }: VerdictSubject): Omit<BackendVerdict, "backend"> {
  const formats = getFormats(backend);
  const known = formats[format];
  if (known === undefined) return { verdict: "no", reason: `it reads ${describe(formats)}, not ${format}` };
  if (known !== "any" && !known.includes(architecture ?? "")) {
    const reason = `of ${format} it knows ${abbreviatedList(known)}`;
    if (architecture !== undefined) return { verdict: "no", reason: `${reason}, and this is ${architecture}` };
    return { verdict: "unknown", reason: `${reason}, and no config.json beside the file says what this is` };
  }
  const absent = onnx?.externalFiles.find(({ state }) => state !== "present");
  if (absent !== undefined) return { verdict: "no", reason: `its weights are in ${absent.name}, which is ${absent.state}` };
  if (onnx !== undefined && onnxruntimes.has(backend.name)) return onnxruntimeVerdict(onnx.outline);
  if (onnx !== undefined && backend.name === "native") return engineVerdict(onnx.outline, onnx.engineKnows);
  if (onnx !== undefined && backend.name === "xla") return xlaVerdict(engineVerdict(onnx.outline, onnx.engineKnows));
  if (known === "any") return { verdict: "unknown", reason: `it reads ${format}; whether this one only loading tells` };
  return { verdict: "expected", reason: `it knows ${architecture ?? format}` };
}

/** The backend `xla` compiles graphs of the engine, if all their operations have a form in StableHLO. */
function xlaVerdict(engine: Omit<BackendVerdict, "backend">): Omit<BackendVerdict, "backend"> {
  if (engine.verdict !== "expected") return engine;
  return { verdict: "unknown", reason: `${engine.reason}; whether each has a form in StableHLO only loading tells` };
}

/** The formats of the first device type that has any, for models of all kinds. */
function getFormats(backend: Backend): Capabilities["formats"] {
  for (const type of deviceTypes) {
    const { formats, languageFormats = {} } = getCapabilities(backend, { type, index: 0 });
    const both = mergedFormats(formats, languageFormats);
    if (Object.keys(both).length > 0) return both;
  }
  return {};
}

/** The formats and architectures of models of either kind. */
function mergedFormats(formats: Capabilities["formats"], others: Capabilities["formats"]): Capabilities["formats"] {
  const merged = { ...formats };
  for (const [format, architectures] of Object.entries(others)) {
    const known = formats[format as ModelFormat] ?? [];
    merged[format as ModelFormat] =
      known === "any" || architectures === "any" ? "any" : [...new Set([...known, ...architectures])];
  }
  return merged;
}

function describe(formats: Capabilities["formats"]): string {
  const parts = Object.entries(formats).map(([format, known]) =>
    known === "any" ? format : `${format} (${abbreviatedList(known)})`,
  );
  return parts.length === 0 ? "no files" : parts.join(" and ");
}

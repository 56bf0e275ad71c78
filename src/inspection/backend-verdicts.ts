/** Predicts which backends can run a file, from its header and the capabilities that the backends declare. Nothing is loaded. */
import type { Backend, ModelFormat, SupportedModels } from "../contract/backend.ts";
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
  const models = getModels(backend);
  const known = getArchitectures(models, format);
  if (known.length === 0) return { verdict: "no", reason: `it reads ${describe(models)}, not ${format}` };
  const isAny = known.includes("any");
  if (!isAny && !known.includes(architecture ?? "")) {
    const reason = `of ${format} it knows ${abbreviatedList(known)}`;
    if (architecture !== undefined) return { verdict: "no", reason: `${reason}, and this is ${architecture}` };
    return { verdict: "unknown", reason: `${reason}, and no config.json beside the file says what this is` };
  }
  const absent = onnx?.externalFiles.find(({ state }) => state !== "present");
  if (absent !== undefined) return { verdict: "no", reason: `its weights are in ${absent.name}, which is ${absent.state}` };
  if (onnx !== undefined && onnxruntimes.has(backend.name)) return onnxruntimeVerdict(onnx.outline);
  if (onnx !== undefined && backend.name === "native") return engineVerdict(onnx.outline, onnx.engineKnows);
  if (onnx !== undefined && backend.name === "xla") return xlaVerdict(engineVerdict(onnx.outline, onnx.engineKnows));
  if (isAny) return { verdict: "unknown", reason: `it reads ${format}; whether this one only loading tells` };
  return { verdict: "expected", reason: `it knows ${architecture ?? format}` };
}

/** The backend `xla` compiles graphs of the engine, if all their operations have a form in StableHLO. */
function xlaVerdict(engine: Omit<BackendVerdict, "backend">): Omit<BackendVerdict, "backend"> {
  if (engine.verdict !== "expected") return engine;
  return { verdict: "unknown", reason: `${engine.reason}; whether each has a form in StableHLO only loading tells` };
}

/** The models of the first device type that has any. */
function getModels(backend: Backend): readonly SupportedModels[] {
  const all = deviceTypes.map((type) => getCapabilities(backend, { type, index: 0 }).models);
  return all.find(({ length }) => length > 0) ?? [];
}

/** The architectures of models of either kind in a format; with "any" if some are not restricted. */
function getArchitectures(models: readonly SupportedModels[], format: ModelFormat): readonly string[] {
  return [...new Set(models.filter((each) => each.format === format).flatMap(({ architectures }) => architectures))];
}

function describe(models: readonly SupportedModels[]): string {
  const formats = [...new Set(models.map(({ format }) => format))];
  const parts = formats.map((format) => {
    const known = getArchitectures(models, format);
    return known.includes("any") ? format : `${format} (${abbreviatedList(known)})`;
  });
  return parts.length === 0 ? "no files" : parts.join(" and ");
}

/** Converts a Kapsl package's metadata.json, and its `hardware_requirements`, to the fields of our manifest. */
import type { ModelFormat } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import type { ManifestSelection, ManifestSettings, Requirements } from "../manifest.ts";
import type { HardwareRequirements, AimodJson } from "./aimod-json.ts";
import {
  backendOfFormat,
  kapslPrecisions,
  optimizationOfLevel,
  formatOfFramework,
  strategies,
  tasksByKapslTask,
} from "./vocabulary.ts";
import type { ManifestOverrides } from "../huggingface/read-huggingface.ts";
import { omitNullish } from "../model-folder.ts";

/** Bytes in one unit of those fields of metadata.json whose names end in `_mb`: 1024 x 1024. */
export const bytesOfMegabyte: number = 1024 * 1024;

/**
 * The targets that an .aimod package asks for: each Kapsl provider ("cuda") becomes targets of the backend for `format`. As in
 * Kapsl, `device_id` is the number of every device except the CPU; each number in `gpu_device_ids` becomes a target.
 */
export function getSelection(hardware: HardwareRequirements, format: ModelFormat): ManifestSelection {
  const providers = getProviders(hardware);
  const targets = providers.flatMap((provider) => getTargets(provider, hardware, format));
  if (hardware.preferred_provider === undefined) return { backends: [], fallbacks: targets };
  const [preferred, ...fallbacks] = targets;
  return { backends: [], ...omitUndefined({ preferred }), fallbacks };
}

/** Names of the Kapsl providers that a package asks for, the preferred one first, without repetitions. */
export function getProviders({ preferred_provider, fallback_providers }: HardwareRequirements): readonly string[] {
  const named = [...(preferred_provider === undefined ? [] : [preferred_provider]), ...(fallback_providers ?? [])];
  return [...new Set(named.map(normalizeWord))];
}

function getTargets(provider: string, hardware: HardwareRequirements, format: ModelFormat): string[] {
  const device = format === "onnx" && provider === "metal" ? "coreml" : provider;
  const target = `${backendOfFormat[format]}:${device}`;
  const indices = device === "cpu" ? [] : getIndices(hardware);
  return indices.length === 0 ? [target] : indices.map((index) => `${target}:${index}`);
}

function getIndices({ device_id, gpu_device_ids }: HardwareRequirements): readonly number[] {
  return [...new Set([...(device_id === undefined ? [] : [device_id]), ...(gpu_device_ids ?? [])])];
}

/**
 * The requirements of an .aimod package, in bytes. Zero means none. Required device memory is the larger of `min_vram_mb` and
 * `gpu_memory_reservation_mb`.
 */
export function getRequirements(hardware: HardwareRequirements): Requirements {
  const { min_memory_mb, min_vram_mb, gpu_memory_reservation_mb, min_cuda_version, required_precision } = hardware;
  const memory = min_memory_mb ?? 0;
  const deviceMemory = Math.max(min_vram_mb ?? 0, gpu_memory_reservation_mb ?? 0);
  const precision = kapslPrecisions.find((each) => each === normalizeWord(required_precision ?? ""));
  return {
    ...(memory === 0 ? {} : { memoryBytes: memory * bytesOfMegabyte }),
    ...(deviceMemory === 0 ? {} : { deviceMemoryBytes: deviceMemory * bytesOfMegabyte }),
    ...omitUndefined({ cudaVersion: min_cuda_version, precision }),
  };
}

/** The load settings that an .aimod package states: its graph optimization level. */
export function getSettings({ graph_optimization_level }: HardwareRequirements): { readonly settings?: ManifestSettings } {
  const graphOptimization = optimizationOfLevel.get(normalizeWord(graph_optimization_level ?? ""));
  return graphOptimization === undefined ? {} : { settings: { graphOptimization } };
}

/** A word in the form in which Kapsl compares words: trimmed and in lower case. */
export function normalizeWord(word: string): string {
  return word.trim().toLowerCase();
}

/** Converts a valid metadata.json of an .aimod package to the fields of our manifest that it states. */
export function aimodOverrides(json: AimodJson): ManifestOverrides {
  const { project_name, framework, format, task, model_file, version, created_at, model_type, metadata } = json;
  const hardware = json.hardware_requirements ?? {};
  const { optimized_for, strategy, isolation_mode } = hardware;
  const writesText = normalizeWord(framework) === "llm" || normalizeWord(task ?? "") === "generate";
  const tasks = writesText || task === undefined ? undefined : tasksByKapslTask.get(normalizeWord(task));
  return {
    source: "aimod",
    name: project_name,
    ...omitUndefined({ tasks }),
    ...(writesText ? { writesText } : {}),
    mainFile: model_file,
    selection: getSelection(hardware, formatOfFramework.get(normalizeWord(format ?? framework)) ?? "onnx"),
    requirements: getRequirements(hardware),
    ...getSettings(hardware),
    ...omitUndefined({ placement: strategies.get(normalizeWord(strategy ?? "")) }),
    provenance: omitNullish({ version, created_at, model_type, metadata, optimized_for, strategy, isolation_mode }),
  };
}

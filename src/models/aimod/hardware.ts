/** `hardware_requirements` of a Kapsl package, as selection, requirements and load settings. */
import type { ModelFormat } from "../../backend.ts";
import type { ManifestSelection, ManifestSettings, Requirements } from "../manifest.ts";
import type { HardwareRequirements } from "./aimod-json.ts";
import { backendOfFormat, deviceOfProvider, optimizationOfLevel, precisionOf } from "./vocabulary.ts";

/** Kapsl counts in 1024 x 1024. */
export const bytesOfMegabyte: number = 1024 * 1024;

/**
 * Providers become targets of the engine that reads the format. `device_id` numbers every device but the CPU, as Kapsl applies it; a list
 * in `gpu_device_ids` makes one target of each.
 */
export function selectionOf(hardware: HardwareRequirements, format: ModelFormat): ManifestSelection {
  const providers = providersOf(hardware);
  const targets = providers.flatMap((provider) => targetsOf(provider, hardware, format));
  if (hardware.preferred_provider === undefined) return { backends: [], fallbacks: targets };
  const [preferred, ...fallbacks] = targets;
  return { backends: [], ...(preferred === undefined ? {} : { preferred }), fallbacks };
}

/** Preferred first, each once. */
export function providersOf({ preferred_provider, fallback_providers }: HardwareRequirements): readonly string[] {
  const named = [...(preferred_provider === undefined ? [] : [preferred_provider]), ...(fallback_providers ?? [])];
  return [...new Set(named.map(normalizeWord))];
}

function targetsOf(provider: string, hardware: HardwareRequirements, format: ModelFormat): string[] {
  const named = deviceOfProvider.get(provider) ?? provider;
  const device = format === "onnx" && named === "metal" ? "coreml" : named;
  const target = `${backendOfFormat[format]}:${device}`;
  const indices = device === "cpu" ? [] : indicesOf(hardware);
  return indices.length === 0 ? [target] : indices.map((index) => `${target}:${index}`);
}

function indicesOf({ device_id, gpu_device_ids }: HardwareRequirements): readonly number[] {
  return [...new Set([...(device_id === undefined ? [] : [device_id]), ...(gpu_device_ids ?? [])])];
}

/** Zero asks for nothing. A reservation is memory the device must have, like `min_vram_mb`: the larger of the two counts. */
export function requirementsOf(hardware: HardwareRequirements): Requirements {
  const { min_memory_mb, min_vram_mb, gpu_memory_reservation_mb, min_cuda_version, required_precision } = hardware;
  const memory = min_memory_mb ?? 0;
  const deviceMemory = Math.max(min_vram_mb ?? 0, gpu_memory_reservation_mb ?? 0);
  const precision = precisionOf.get(normalizeWord(required_precision ?? ""));
  return {
    ...(memory === 0 ? {} : { memoryBytes: memory * bytesOfMegabyte }),
    ...(deviceMemory === 0 ? {} : { deviceMemoryBytes: deviceMemory * bytesOfMegabyte }),
    ...(min_cuda_version === undefined ? {} : { cudaVersion: min_cuda_version }),
    ...(precision === undefined ? {} : { precision }),
  };
}

export function settingsOf({ graph_optimization_level }: HardwareRequirements): { readonly settings?: ManifestSettings } {
  const graphOptimization = optimizationOfLevel.get(normalizeWord(graph_optimization_level ?? ""));
  return graphOptimization === undefined ? {} : { settings: { graphOptimization } };
}

/** Kapsl reads its words without regard to capitals. */
export function normalizeWord(word: string): string {
  return word.trim().toLowerCase();
}

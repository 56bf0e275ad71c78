/** Creates the metadata.json of a new package from a model's manifest. */
import { relative, sep } from "node:path";
import type { ModelFormat } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { Manifest } from "../manifest.ts";
import type { AimodJson, HardwareRequirements } from "./aimod-json.ts";
import { bytesOfMegabyte } from "./hardware.ts";
import { backendOfFormat, kapslProviders } from "./vocabulary.ts";

/** Constant, so that the same files make the same package. */
const fixed = { version: "1.0.0", created_at: "1970-01-01T00:00:00Z" } as const;

/**
 * Creates the metadata.json of an .aimod package of the model, with the project name `name`. `model_file` is the first variant;
 * the others are found in the folder when the package is read. Targets of other backends and fields that Kapsl does not have stay
 * in the other manifests of the folder, which the package contains.
 */
export function createMetadata(manifest: Manifest, name: string): AimodJson {
  const [main] = manifest.variants;
  if (main === undefined) throw new InferyardError("CONTRACT_VIOLATION", `${manifest.reference} has no variant`);
  const { license } = manifest;
  return {
    project_name: name,
    framework: main.format,
    ...fixed,
    model_file: relative(manifest.directory, main.path).split(sep).join("/"),
    metadata: { tasks: manifest.tasks, ...omitUndefined({ license }) },
    hardware_requirements: getHardware(manifest, main.format),
    cron_jobs: [],
  };
}

function getHardware({ selection, requirements, settings }: Manifest, format: ModelFormat): HardwareRequirements {
  const preferred = getProvider(selection.preferred, format);
  const fallbacks = selection.fallbacks.flatMap((target) => getProvider(target, format)?.provider ?? []);
  const { memoryBytes, deviceMemoryBytes, cudaVersion, precision } = requirements;
  const level = settings?.graphOptimization;
  return {
    ...(preferred === undefined ? {} : { preferred_provider: preferred.provider }),
    fallback_providers: fallbacks,
    ...(memoryBytes === undefined ? {} : { min_memory_mb: Math.ceil(memoryBytes / bytesOfMegabyte) }),
    ...(deviceMemoryBytes === undefined ? {} : { min_vram_mb: Math.ceil(deviceMemoryBytes / bytesOfMegabyte) }),
    ...omitUndefined({ min_cuda_version: cudaVersion, required_precision: precision }),
    ...(level === undefined ? {} : { graph_optimization_level: level === "disabled" ? "disable" : level }),
    ...(preferred?.index === undefined ? {} : { device_id: preferred.index }),
  };
}

/** The provider of a target, or undefined if Kapsl has none for it. */
function getProvider(
  target: string | undefined,
  format: ModelFormat,
): { readonly provider: string; readonly index?: number } | undefined {
  const [backend, device = "", index] = target?.split(":") ?? [];
  if (backend !== backendOfFormat[format] || !kapslProviders.includes(device)) return undefined;
  return { provider: device, ...(index === undefined || device === "cpu" ? {} : { index: Number(index) }) };
}

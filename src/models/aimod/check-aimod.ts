/** Validates metadata.json of a Kapsl package, and finds the features it asks for that this version does not have. */
import { type JsonObject, isJsonObject, escapesFolder, omitNullish } from "../model-folder.ts";
import { schemaProblems } from "../validation/schema-problems.ts";
import { getFormat } from "../manifest/weights.ts";
import type { AimodJson, HardwareRequirements } from "./aimod-json.ts";
import { normalizeWord, getProviders } from "./hardware.ts";
import { aimodSchema } from "./schema.ts";
import { formatOfFramework } from "./vocabulary.ts";

/**
 * The result of `checkAimod`: the problems of an invalid metadata.json, or its valid content with the unsupported features it
 * asks for. Problems and features are sentences.
 */
export type AimodCheck =
  | { readonly problems: readonly string[] }
  | { readonly problems?: never; readonly json: AimodJson; readonly unsupported: readonly string[] };

/**
 * Validates the content of the metadata.json of an .aimod package. Null fields count as absent. Never throws: problems are
 * returned.
 */
export function checkAimod(written: JsonObject): AimodCheck {
  const value = omitNullishFields(written);
  const result = aimodSchema.safeParse(value);
  if (!result.success) return { problems: schemaProblems(aimodSchema, value) };
  const json = result.data;
  const problems = [...fileProblems(json), ...deviceProblems(json.hardware_requirements ?? {})];
  return problems.length > 0 ? { problems } : { json, unsupported: unsupportedFeatures(json) };
}

function omitNullishFields(written: JsonObject): JsonObject {
  const json = omitNullish(written);
  const hardware = json["hardware_requirements"];
  return isJsonObject(hardware) ? { ...json, hardware_requirements: omitNullish(hardware) } : json;
}

function fileProblems({ model_file, framework, format }: AimodJson): string[] {
  if (escapesFolder(model_file)) return [`model_file: "${model_file}" lies outside the package`];
  const stated = formatOfFramework.get(normalizeWord(format ?? framework));
  const found = getFormat(model_file);
  if (found === undefined) return [`model_file: "${model_file}" ends in none of .onnx, .gguf, .safetensors`];
  if (stated === found) return [];
  const field = format === undefined ? `framework "${framework}"` : `format "${format}"`;
  return [`model_file: "${model_file}" is ${found}, and the ${field} says ${stated}`];
}

/** Problems of device numbers. They need a provider other than the CPU, which is always device 0. */
function deviceProblems(hardware: HardwareRequirements): string[] {
  const { device_id, gpu_device_ids } = hardware;
  const ids = gpu_device_ids ?? [];
  const hasDevice = getProviders(hardware).some((provider) => provider !== "cpu");
  const problems: string[] = [];
  if (!hasDevice && (device_id ?? 0) > 0)
    problems.push(`hardware_requirements.device_id: it is ${device_id}, and no provider but cpu is named`);
  if (!hasDevice && ids.length > 0)
    problems.push("hardware_requirements.gpu_device_ids: it lists devices, and no provider but cpu is named");
  if (device_id !== undefined && ids.length > 0 && !ids.includes(device_id))
    problems.push(`hardware_requirements.device_id: ${device_id} is not in gpu_device_ids (${ids.join(", ")})`);
  return problems;
}

function unsupportedFeatures(json: AimodJson): string[] {
  const { hardware_requirements, cron_jobs } = json;
  const { isolation_mode, gpu_memory_limit_mb, gpu_compute_share_milli } = hardware_requirements ?? {};
  const prefix = "hardware_requirements.";
  const features: string[] = [];
  if (isolation_mode !== undefined && normalizeWord(isolation_mode) !== "best_effort")
    features.push(`${prefix}isolation_mode: "${isolation_mode}" keeps other models off the device`);
  if ((gpu_memory_limit_mb ?? 0) > 0) features.push(`${prefix}gpu_memory_limit_mb: a limit on the device's memory`);
  if (gpu_compute_share_milli !== undefined && gpu_compute_share_milli !== fullComputeShare)
    features.push(`${prefix}gpu_compute_share_milli: a share of the device's time`);
  if ((cron_jobs ?? []).length > 0) features.push("cron_jobs: requests by the clock");
  return features;
}

/** Thousandths: all of the device. */
const fullComputeShare = 1000;

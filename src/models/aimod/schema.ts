/**
 * The schema of metadata.json in a Kapsl package, as kapsl-runtime writes it (kapsl-sdk, crates/kapsl-core: package/loader.rs and model/requirements.rs).
 * docs/reference/foreign-manifests.md documents each field; a test compares the two.
 */
import * as z from "zod";
import type { AimodJson, HardwareRequirements } from "./aimod-json.ts";
import {
  formatOfFramework,
  isolationModes,
  optimizationOfLevel,
  kapslPrecisions,
  kapslProviders,
  strategies,
  tasksByKapslTask,
} from "./vocabulary.ts";

/** One of these words, in any case. */
function word(words: Iterable<string>): z.ZodString {
  const known = [...words];
  return z.string().refine((text) => known.includes(text.trim().toLowerCase()), `must be one of ${known.join(", ")}`);
}

const megabytes = z.int().nonnegative();
const provider = word(kapslProviders);
/** A device number; targets have up to four digits. */
const index = z.int().nonnegative().max(9999);

const hardware: z.ZodType<HardwareRequirements> = z.strictObject({
  preferred_provider: provider.exactOptional(),
  fallback_providers: z.array(provider).exactOptional(),
  min_memory_mb: megabytes.exactOptional(),
  min_vram_mb: megabytes.exactOptional(),
  gpu_memory_reservation_mb: megabytes.exactOptional(),
  gpu_memory_limit_mb: megabytes.exactOptional(),
  gpu_compute_share_milli: z.int().nonnegative().exactOptional(),
  isolation_mode: word(isolationModes).exactOptional(),
  min_cuda_version: z
    .string()
    .regex(/^\d+(\.\d+)*$/, 'must be a version such as "12.8"')
    .exactOptional(),
  required_precision: word(kapslPrecisions).exactOptional(),
  optimized_for: z.array(z.string()).exactOptional(),
  graph_optimization_level: word(optimizationOfLevel.keys()).exactOptional(),
  device_id: index.exactOptional(),
  gpu_device_ids: z.array(index).exactOptional(),
  strategy: word(strategies.keys()).exactOptional(),
});

/** The schema of the metadata.json of an .aimod package. Unknown fields are errors. */
export const aimodSchema: z.ZodType<AimodJson> = z.strictObject({
  project_name: z.string().min(1),
  framework: word(formatOfFramework.keys()),
  version: z.string(),
  created_at: z.string(),
  model_file: z.string().min(1),
  format: word(["onnx", "gguf", "safetensors"]).exactOptional(),
  model_type: z.string().exactOptional(),
  task: word(tasksByKapslTask.keys()).exactOptional(),
  metadata: z.unknown().exactOptional(),
  hardware_requirements: hardware.exactOptional(),
  cron_jobs: z.array(z.unknown()).exactOptional(),
});

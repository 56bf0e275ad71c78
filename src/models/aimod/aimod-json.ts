/**
 * The content of a valid metadata.json of an .aimod package, the model packages of the program Kapsl. Absent fields are
 * undefined, although Kapsl writes null.
 */
export interface AimodJson {
  readonly project_name: string;
  readonly framework: string;
  readonly version: string;
  readonly created_at: string;
  /** Path of the model's file, relative to the package. */
  readonly model_file: string;
  readonly format?: string;
  readonly model_type?: string;
  readonly task?: string;
  readonly metadata?: unknown;
  readonly hardware_requirements?: HardwareRequirements;
  readonly cron_jobs?: readonly unknown[];
}

/** `hardware_requirements` of metadata.json, in the names of Kapsl. */
export interface HardwareRequirements {
  readonly preferred_provider?: string;
  readonly fallback_providers?: readonly string[];
  /** In units of 1024 x 1024 bytes, as all fields in MB of Kapsl. */
  readonly min_memory_mb?: number;
  readonly min_vram_mb?: number;
  readonly gpu_memory_reservation_mb?: number;
  readonly gpu_memory_limit_mb?: number;
  readonly gpu_compute_share_milli?: number;
  readonly isolation_mode?: string;
  readonly min_cuda_version?: string;
  readonly required_precision?: string;
  readonly optimized_for?: readonly string[];
  readonly graph_optimization_level?: string;
  readonly device_id?: number;
  readonly gpu_device_ids?: readonly number[];
  readonly strategy?: string;
}

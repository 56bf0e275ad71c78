/**
 * Number types for which a device has multiplication instructions. Sources: NVIDIA, CUDA C++ Programming Guide, "Compute Capabilities" (feature
 * support and Tensor Core input types); Intel, Intrinsics Guide; Arm, Architecture Reference Manual.
 */

/** A number type. `tfloat32` is float32 whose factors are rounded to 10 bits; float8 and float4 are the formats of the Open Compute Project. */
export type DeviceDataType =
  | "float64"
  | "float32"
  | "tfloat32"
  | "float16"
  | "bfloat16"
  | "float8_e4m3"
  | "float8_e5m2"
  | "float4_e2m1"
  | "int8";

/** The least compute capability of NVIDIA's GPUs with each type, as major times ten plus minor. int8: dot products of four (DP4A). */
const cudaTypes: readonly (readonly [DeviceDataType, number])[] = [
  ["float64", 13],
  ["float32", 10],
  ["tfloat32", 80],
  ["float16", 53],
  ["bfloat16", 80],
  ["float8_e4m3", 89],
  ["float8_e5m2", 89],
  ["float4_e2m1", 100],
  ["int8", 61],
];

/** Sets of instructions of a processor, of which each type needs one. */
const cpuTypes: readonly (readonly [DeviceDataType, readonly string[]])[] = [
  ["float16", ["AVX-512 FP16", "FP16"]],
  ["bfloat16", ["AVX-512 BF16", "AMX-BF16", "BF16"]],
  ["int8", ["AVX2", "AVX-VNNI", "AVX-512 VNNI", "AMX-INT8", "NEON"]],
];

/** The types of an NVIDIA GPU by its compute capability, as "9.0"; undefined where that is no such number. */
export function cudaDataTypes(computeCapability: string): readonly DeviceDataType[] | undefined {
  const [, major, minor] = /^(\d+)\.(\d)$/.exec(computeCapability) ?? [];
  if (major === undefined || minor === undefined) return undefined;
  const capability = Number(major) * 10 + Number(minor);
  return cudaTypes.filter(([, least]) => capability >= least).map(([name]) => name);
}

/** The types of a processor by its instruction sets, as the facts of the machine name them. */
export function cpuDataTypes(features: readonly string[]): readonly DeviceDataType[] {
  const further = cpuTypes.filter(([, sets]) => sets.some((set) => features.includes(set)));
  return ["float64", "float32", ...further.map(([name]) => name)];
}

import { describe, expect, it } from "vitest";
import { cpuDataTypes, cudaDataTypes } from "./data-types.ts";

describe("data types of a device", () => {
  it.each([
    ["5.2", "float64 float32"],
    ["6.0", "float64 float32 float16"],
    ["6.1", "float64 float32 float16 int8"],
    ["7.5", "float64 float32 float16 int8"],
    ["8.6", "float64 float32 tfloat32 float16 bfloat16 int8"],
    ["8.9", "float64 float32 tfloat32 float16 bfloat16 float8_e4m3 float8_e5m2 int8"],
    ["12.0", "float64 float32 tfloat32 float16 bfloat16 float8_e4m3 float8_e5m2 float4_e2m1 int8"],
  ])("with compute capability %s are %s", (capability, types) => {
    expect(cudaDataTypes(capability)?.join(" ")).toBe(types);
  });

  it("are unknown without a compute capability", () => {
    for (const text of ["", "9", "[N/A]", "9.0a"]) expect(cudaDataTypes(text)).toBeUndefined();
  });

  it("are those of a processor's instruction sets", () => {
    expect(cpuDataTypes([])).toEqual(["float64", "float32"]);
    expect(cpuDataTypes(["AVX2", "F16C"])).toEqual(["float64", "float32", "int8"]); // F16C converts only
    expect(cpuDataTypes(["AVX2", "AMX-BF16", "AVX-512 FP16"])).toEqual(["float64", "float32", "float16", "bfloat16", "int8"]);
    expect(cpuDataTypes(["NEON", "FP16", "BF16"])).toEqual(["float64", "float32", "float16", "bfloat16", "int8"]);
  });
});

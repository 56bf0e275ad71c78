import { describe, expect, it } from "vitest";
import { nativePrograms } from "../index.ts";
import { programBackendCases } from "../../testing/index.ts";
import type { DataType } from "../../contract/tensor.ts";

const integers: readonly DataType[] = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"];
const dataTypes: readonly DataType[] = ["float32", "float64", "float16", "bfloat16", ...integers];

describe("the backend native of programs keeps the interface of backends of programs", () => {
  it.each(programBackendCases({ create: nativePrograms, dataTypes, samples: 2 }))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

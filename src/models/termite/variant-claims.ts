/** Termite's identifiers of variants, each with the name it has here; both choose it. */
import type { VariantClaim } from "../manifest/variant-names.ts";

export const variantClaims: ReadonlyMap<string, VariantClaim> = new Map([
  // Its plain model.onnx, which may hold other weights than 32-bit ones: the file is asked.
  ["f32", { aliases: ["f32"] }],
  ["f16", { name: "fp16", aliases: ["f16"], precision: "fp16" }],
  ["bf16", { name: "bf16", aliases: [], precision: "bf16" }],
  ["i8", { name: "int8", aliases: ["i8"], precision: "int8" }],
  ["i8-st", { name: "int8-static", aliases: ["i8-st"], precision: "int8" }],
  ["i4", { name: "int4", aliases: ["i4"], precision: "int4" }],
]);

/** Names of Termite's variants. */
import type { VariantClaim } from "../manifest/variant-names.ts";

/** Our name of each variant identifier of Termite. The identifier stays an alias. */
export const variantClaims: ReadonlyMap<string, VariantClaim> = new Map([
  // The plain model.onnx, whose weights may have another precision: the one in the file is used.
  ["f32", { aliases: ["f32"] }],
  ["f16", { name: "fp16", aliases: ["f16"], precision: "fp16" }],
  ["bf16", { name: "bf16", aliases: [], precision: "bf16" }],
  ["i8", { name: "int8", aliases: ["i8"], precision: "int8" }],
  ["i8-st", { name: "int8-static", aliases: ["i8-st"], precision: "int8" }],
  ["i4", { name: "int4", aliases: ["i4"], precision: "int4" }],
]);

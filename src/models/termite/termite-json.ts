import type { VariantClaim } from "../manifest/variant-names.ts";

/** The content of a valid model_manifest.json, the manifest of Termite. */
export interface TermiteJson {
  readonly schemaVersion: 1 | 2;
  readonly name: string;
  readonly source?: string;
  readonly owner?: string;
  readonly type: string;
  readonly description?: string;
  readonly capabilities?: readonly string[];
  readonly files: readonly TermiteFile[];
  readonly variants?: Readonly<Record<string, TermiteVariant>>;
  readonly backends?: readonly string[];
  readonly session_options?: unknown;
  readonly provenance?: unknown;
}

/** A file that Termite's manifest lists. */
export interface TermiteFile {
  readonly name: string;
  /** "sha256:" and 64 hexadecimal digits. */
  readonly digest: string;
  /** Bytes of the file; 0 or absent if it is not stated. */
  readonly size?: number;
}

/** The files of a variant in Termite's manifest, in one of three forms. */
export type TermiteVariant = TermiteFile | readonly TermiteFile[] | { readonly files: readonly TermiteFile[] };

/** The files of a variant of Termite's manifest as a list, whichever form it has. */
export function variantFiles(variant: TermiteVariant): readonly TermiteFile[] {
  if ("files" in variant) return variant.files;
  return isList(variant) ? variant : [variant];
}

function isList(variant: TermiteVariant): variant is readonly TermiteFile[] {
  return Array.isArray(variant);
}

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

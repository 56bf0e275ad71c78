/** model_manifest.json as it stands, once it has been checked. */
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

export interface TermiteFile {
  readonly name: string;
  /** "sha256:" and hexadecimal digits. */
  readonly digest: string;
  /** Bytes; 0 or left out: not stated. */
  readonly size?: number;
}

/** Three spellings of the same thing. */
export type TermiteVariant = TermiteFile | readonly TermiteFile[] | { readonly files: readonly TermiteFile[] };

/** The files of a variant, whichever way they are written. */
export function variantFiles(variant: TermiteVariant): readonly TermiteFile[] {
  if ("files" in variant) return variant.files;
  return isList(variant) ? variant : [variant];
}

function isList(variant: TermiteVariant): variant is readonly TermiteFile[] {
  return Array.isArray(variant);
}

/** The variant (set of weights) that a load requests: one of the model's files, or one that a backend packs from a file while loading. */
import type { Capabilities, PackedPrecision, Precision } from "../../contract/backend.ts";
import { InferyardError } from "../../contract/errors.ts";
import { findSupport } from "../../contract/shapes/supported-models.ts";
import type { ModelKind } from "../../hosts/host-name.ts";
import type { Variant } from "../../models/index.ts";
import type { ModelOptions } from "../options/runtime-settings.ts";

/** The option `variant` alone, as readers of models take it. */
export function variantOption({ variant }: ModelOptions): { readonly variant?: string } {
  return variant === undefined ? {} : { variant };
}

/** Precisions that files have, and bytes of a weight in them. */
const floatBytes: Readonly<Partial<Record<Precision, number>>> = { fp32: 4, fp16: 2, bf16: 2 };

type NamedVariant = Pick<Variant, "name" | "aliases" | "format" | "precision">;

/** The variants with this name or alias. All of them if `wanted` is undefined. */
export function variantsNamed<Named extends NamedVariant>(
  variants: readonly Named[],
  wanted: string | undefined,
): readonly Named[] {
  return wanted === undefined ? variants : variants.filter(({ name, aliases }) => name === wanted || aliases.includes(wanted));
}

/**
 * The precision that weights must be packed to for a variant that the files lack. Undefined if the request needs no packed weights: the files have the variant,
 * or another one of its precision, or no weights that can be packed. GGUF files are not packed: they state the type of each tensor, and `inferyard quantize`
 * writes others.
 */
export function packedPrecision(variants: readonly NamedVariant[], wanted: string | undefined): PackedPrecision | undefined {
  if ((wanted !== "int8" && wanted !== "int4") || variantsNamed(variants, wanted).length > 0) return undefined;
  if (variants.some(({ precision }) => precision === wanted)) return undefined;
  return variants.some((variant) => packableBytes(variant) !== undefined) ? wanted : undefined;
}

/** Bytes of a weight in the file of a variant that can be packed; undefined for others. */
function packableBytes({ format, precision }: NamedVariant): number | undefined {
  return format === "gguf" || precision === undefined ? undefined : floatBytes[precision];
}

/** The variants with their weights packed by a backend with these capabilities, to be loaded as `kind`. Empty if it packs none of them. */
export function packedVariants(
  variants: readonly Variant[],
  to: PackedPrecision,
  capabilities: Capabilities,
  kind: ModelKind | undefined,
): readonly Variant[] {
  return variants.flatMap((variant) => {
    const stored = packableBytes(variant);
    const packed = findSupport(capabilities, variant, kind)?.packing?.[to];
    if (stored === undefined || packed === undefined) return [];
    const bytes = Math.ceil((variant.bytes / stored) * packed);
    return [{ ...variant, name: to, aliases: [], packing: { to, from: variant.name, bytes } }];
  });
}

/** Estimated bytes of a variant's weights in memory: the bytes in its files, unless the weights are packed. */
export function weightBytes({ bytes, packing }: Pick<Variant, "bytes" | "packing">): number {
  return packing?.bytes ?? bytes;
}

/** Throws MODEL_NOT_FOUND if the files have no variant with the name or alias `wanted`, and none that could be packed to it. Does nothing if `wanted` is undefined. */
export function refuseUnknownVariant(variants: readonly NamedVariant[], wanted: string | undefined, reference: string): void {
  if (wanted === undefined || variantsNamed(variants, wanted).length > 0 || packedPrecision(variants, wanted) !== undefined)
    return;
  const names = variants.map(({ name }) => name);
  const isGguf = variants.every(({ format }) => format === "gguf");
  const quantized = isGguf ? quantizedTypes[wanted] : undefined;
  throw new InferyardError("MODEL_NOT_FOUND", `${reference} has no variant "${wanted}"`, {
    remedy:
      quantized === undefined
        ? `choose one of ${names.join(", ")}`
        : `write a file of that precision with \`inferyard quantize ${reference} --to ${quantized}\`, and load it; or choose ${names.join(", ")}`,
    data: { variants: names },
  });
}

/** The type of `inferyard quantize` for a precision. */
const quantizedTypes: Readonly<Record<string, string>> = { int8: "q8_0", int4: "q4_k" };

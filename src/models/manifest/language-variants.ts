/** The variants of a language model: an exporter writes one set of weights as several graphs, an encoder and one or two decoders. */
import type { LanguageModelFiles } from "../../contract/backend.ts";
import { basename, extname } from "../../platform/node/paths.ts";
import type { Variant } from "../manifest.ts";
import { nameOfSuffix } from "./variant-names.ts";

/** A set of weights of a language model. */
export type LanguageVariant = Variant & LanguageModelFiles;

type Role = "encoder" | "decoder" | "merged" | "withPast";

/** File names of Optimum, transformers.js and onnxruntime-genai, without the suffix that names the type of the weights. */
const roles: ReadonlyMap<string, Role> = new Map([
  ["encoder_model", "encoder"],
  ["encoder", "encoder"],
  ["decoder_model_merged", "merged"],
  ["decoder_with_past_model", "withPast"],
  ["decoder_model", "decoder"],
  ["decoder", "decoder"],
]);

/**
 * The variants as sets of files: graphs whose names state their role are joined, by the suffix of their weights. All others stay as they are. Where
 * there is a decoder merged for all tokens, it is used, otherwise the pair of a decoder for the first tokens and one for the others.
 */
export function languageVariants(variants: readonly Variant[]): readonly LanguageVariant[] {
  const parts = variants.map((variant) => ({ variant, ...getRole(variant) }));
  const suffixes = [...new Set(parts.flatMap(({ suffix }) => (suffix === undefined ? [] : [suffix])))];
  const joined = suffixes.flatMap((suffix): readonly LanguageVariant[] => {
    const part = (role: Role): Variant | undefined => parts.find((each) => each.role === role && each.suffix === suffix)?.variant;
    const merged = part("merged");
    const decoder = merged ?? part("decoder");
    if (decoder === undefined) return [];
    const encoder = part("encoder");
    const withPast = merged === undefined ? part("withPast") : undefined;
    const files = [decoder, encoder, withPast].filter((file) => file !== undefined);
    return [
      {
        ...decoder,
        ...nameOfSuffix(suffix, decoder.precision),
        bytes: files.reduce((sum, file) => sum + file.bytes, 0),
        ...(encoder === undefined ? {} : { encoder: encoder.path }),
        ...(withPast === undefined ? {} : { decoderWithPast: withPast.path }),
      },
    ];
  });
  const taken = new Set(joined.map(({ name }) => name));
  const others = parts.flatMap(({ variant, role }) => {
    if (role !== undefined) return [];
    return taken.has(variant.name) ? [{ ...variant, name: `${variant.format}-${variant.name}` }] : [variant];
  });
  return joined.length === 0 ? variants : [...joined, ...others];
}

function getRole({ path, format }: Variant): { readonly role?: Role; readonly suffix?: string } {
  if (format !== "onnx") return {};
  const stem = basename(path, extname(path));
  const [name, role] = [...roles].find(([each]) => stem === each || stem.startsWith(`${each}_`)) ?? [];
  if (name === undefined || role === undefined) return {};
  return { role, suffix: stem.slice(name.length + 1) };
}

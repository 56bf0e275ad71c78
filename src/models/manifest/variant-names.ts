/**
 * Names of variants. ONNX exports on Hugging Face state the type of their weights by a suffix of the file name (`model_fp16.onnx`). The suffixes are as in
 * transformers.js, whose `dtype` names are accepted as aliases.
 */
import { omitUndefined } from "../../contract/checked.ts";
import { basename, extname } from "../../platform/node/paths.ts";
import type { Precision } from "../../contract/backend.ts";
import { isSafetensorsIndex } from "../../formats/safetensors/read-sharded.ts";

/** The name and aliases of a variant, and the precision that the name implies. */
export interface VariantName {
  readonly name: string;
  /** Other names that select the variant. */
  readonly aliases: readonly string[];
  /** Precision that the name implies. Absent: the one found in the file. */
  readonly precision?: Precision;
}

/** The name, aliases and precision that a manifest states of a variant. Absent fields follow from the name of the file. */
export interface VariantClaim {
  readonly name?: string;
  readonly aliases: readonly string[];
  readonly precision?: Precision;
}

/** A file of weights: its path relative to the folder, and the precision found in it. */
interface NamedFile {
  readonly file: string;
  readonly precision?: Precision;
  /** Absent: the variant is named after the file. */
  readonly claim?: VariantClaim | undefined;
}

/** Variant names by suffix. Where a repository has both `int8` and `quantized`, the file `int8` comes first and keeps the name. */
const suffixes: ReadonlyMap<string, VariantName> = new Map([
  ["fp32", { name: "fp32", aliases: [], precision: "fp32" }],
  ["fp16", { name: "fp16", aliases: [], precision: "fp16" }],
  ["bf16", { name: "bf16", aliases: [], precision: "bf16" }],
  ["int8", { name: "int8", aliases: [], precision: "int8" }],
  ["uint8", { name: "uint8", aliases: [], precision: "int8" }],
  ["quantized", { name: "int8", aliases: ["quantized", "q8"], precision: "int8" }],
  ["q4", { name: "q4", aliases: [], precision: "int4" }],
  ["q4f16", { name: "q4f16", aliases: [], precision: "int4" }],
  ["bnb4", { name: "bnb4", aliases: [], precision: "int4" }],
]);

/** The order of preference: by format, then by name. Variants with other names come last. */
const formatOrder = [".onnx", ".safetensors", ".gguf"];
const order = ["fp32", "fp16", "bf16", "int8", "int8-static", "uint8", "quantized", "int4", "q4", "q4f16", "bnb4"];

/**
 * Gives the weight files of one folder unique variant names, from a manifest's claim or the suffix of the file name, and sorts
 * them by preference. If two files would have the same name, the earlier one gets it; the other gets an alias, or a name made of
 * its precision or file name.
 */
export function nameVariants<File extends NamedFile>(files: readonly File[]): (File & VariantName)[] {
  const taken = new Set<string>();
  const named: (File & VariantName)[] = [];
  for (const file of files) {
    const { name: preferred, aliases: otherNames, precision = file.precision } = { ...nameFromFile(file), ...file.claim };
    const candidates = [preferred, ...otherNames, fallbackName(file), file.file];
    const [name = file.file, ...rest] = candidates.filter((candidate) => !taken.has(candidate));
    const aliases = rest.filter((candidate) => otherNames.includes(candidate));
    for (const used of [name, ...aliases]) taken.add(used);
    named.push({ ...file, name, aliases, ...omitUndefined({ precision }) });
  }
  const formatRank = (file: NamedFile): number => formatOrder.indexOf(isSafetensors(file) ? ".safetensors" : extname(file.file));
  return named.sort((a, b) => formatRank(a) - formatRank(b) || nameRank(a.name) - nameRank(b.name));
}

/** The name that a suffix of a file name states; without one, the name of the precision. */
export function nameOfSuffix(suffix: string, precision: Precision = "fp32"): VariantName {
  return suffixes.get(suffix) ?? { name: suffix === "" ? precision : suffix, aliases: [] };
}

/** The name that follows from the name of the file. */
function nameFromFile(file: NamedFile): VariantName {
  const stem = getStem(file);
  const known = suffixes.get(/^model_(.+)$/.exec(stem)?.[1] ?? "");
  if (known !== undefined) return known;
  if (extname(file.file).toLowerCase() === ".gguf") return { name: stem, aliases: quantizationIn(stem) };
  if (stem !== "model") return { name: stem, aliases: [] };
  // By convention a file without a suffix is fp32, unless its weights have another precision.
  return { name: file.precision ?? (isSafetensors(file) ? "safetensors" : "fp32"), aliases: [] };
}

/** The type of the weights in the name of a GGUF file, as llama.cpp's tools write it: "q4_k_m" of Model-Q4_K_M.gguf. */
function quantizationIn(stem: string): readonly string[] {
  const [, type] = /[-._]((?:iq|tq|q)\d\w*|i2_s|mxfp4\w*|bf16|f16|f32)(?:-\d{5}-of-\d{5})?$/i.exec(stem) ?? [];
  return type === undefined ? [] : [type.toLowerCase()];
}

/** The name of a second file with the same precision. */
function fallbackName(file: NamedFile): string {
  if (isSafetensors(file)) return file.precision === undefined ? "safetensors" : `safetensors-${file.precision}`;
  return getStem(file);
}

/** The name of the file without the ending that states its format. */
function getStem({ file }: NamedFile): string {
  return isSafetensorsIndex(file) ? basename(file, ".safetensors.index.json") : basename(file, extname(file));
}

function nameRank(name: string): number {
  const at = order.indexOf(name);
  return at < 0 ? order.length : at;
}

function isSafetensors({ file }: NamedFile): boolean {
  return file.endsWith(".safetensors") || isSafetensorsIndex(file);
}

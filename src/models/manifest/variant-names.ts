/**
 * How variants are called. The ONNX exports on Hugging Face say by a suffix what their weights are (`model_fp16.onnx`); the
 * suffixes are those of transformers.js, whose `dtype` names are accepted as well.
 */
import { basename, extname } from "../../platform/node/paths.ts";
import type { Precision } from "../../backend.ts";

export interface VariantName {
  readonly name: string;
  readonly aliases: readonly string[];
  /** What the suffix promises; the file itself is asked where it promises nothing. */
  readonly precision?: Precision;
}

/** What a manifest calls a file; what it leaves out comes from the file's name. */
export interface VariantClaim {
  readonly name?: string;
  readonly aliases: readonly string[];
  readonly precision?: Precision;
}

/** A file of weights: its relative path and the precision found inside. */
interface NamedFile {
  readonly file: string;
  readonly precision?: Precision;
  /** Left out: called by its name alone. */
  readonly claim?: VariantClaim | undefined;
}

/** suffix -> name, aliases, precision. `quantized` gives way to a file called int8, which comes before it: repositories carry both. */
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

/** The order in which variants are offered: by format, then by name; files with other names follow. */
const formatOrder = [".onnx", ".safetensors", ".gguf"];
const order = ["fp32", "fp16", "bf16", "int8", "int8-static", "uint8", "quantized", "int4", "q4", "q4f16", "bnb4"];

/**
 * Names for the weights of one folder, each once, in order of preference. An earlier file has the better claim to a name.
 */
export function nameVariants<File extends NamedFile>(files: readonly File[]): (File & VariantName)[] {
  const taken = new Set<string>();
  const named: (File & VariantName)[] = [];
  for (const file of files) {
    const { name: constraints, aliases: others, precision = file.precision } = { ...nameFromFile(file), ...file.claim };
    const wishes = [constraints, ...others, fallbackName(file), file.file];
    const [name = file.file, ...rest] = wishes.filter((word) => !taken.has(word));
    const aliases = rest.filter((word) => others.includes(word));
    for (const word of [name, ...aliases]) taken.add(word);
    named.push({ ...file, name, aliases, ...(precision === undefined ? {} : { precision }) });
  }
  const place = ({ file }: NamedFile): number => formatOrder.indexOf(extname(file));
  return named.sort((a, b) => place(a) - place(b) || nameRank(a.name) - nameRank(b.name));
}

/** What a file would like to be called. */
function nameFromFile(file: NamedFile): VariantName {
  const stem = basename(file.file, extname(file.file));
  const known = suffixes.get(/^model_(.+)$/.exec(stem)?.[1] ?? "");
  if (known !== undefined) return known;
  if (stem !== "model") return { name: stem, aliases: [] };
  // A file without a suffix is fp32 by custom; where its weights are something else, that is what it is.
  return { name: file.precision ?? (isSafetensors(file) ? "safetensors" : "fp32"), aliases: [] };
}

/** For a second file of the same precision. */
function fallbackName(file: NamedFile): string {
  if (isSafetensors(file)) return file.precision === undefined ? "safetensors" : `safetensors-${file.precision}`;
  return basename(file.file, extname(file.file));
}

function nameRank(name: string): number {
  const at = order.indexOf(name);
  return at < 0 ? order.length : at;
}

function isSafetensors({ file }: NamedFile): boolean {
  return file.endsWith(".safetensors");
}

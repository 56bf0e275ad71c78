/**
 * How variants are called. The ONNX exports on Hugging Face say by a suffix what their weights are (`model_fp16.onnx`); the
 * suffixes are those of transformers.js, whose `dtype` names are accepted as well.
 */
import { basename, extname } from "node:path";
import type { Precision } from "../backend.ts";

export interface VariantName {
  readonly name: string;
  readonly aliases: readonly string[];
  /** What the suffix promises; the file itself is asked where it promises nothing. */
  readonly precision?: Precision;
}

/** suffix -> name, aliases, precision. `quantized` gives way to a file that is called int8 itself: repositories carry both. */
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

/** The order in which variants are offered; files with other names follow, by name. */
const order = ["fp32", "fp16", "bf16", "int8", "uint8", "quantized", "q4", "q4f16", "bnb4"];

/**
 * Names for the weights of one folder, each once, in order of preference. `files` are relative paths, with the precision that
 * was found inside; an earlier one has the better claim to a name.
 */
export function nameVariants<File extends { readonly file: string; readonly precision?: Precision }>(
  files: readonly File[],
): (File & VariantName)[] {
  const claims = files.map((file) => ({ file, claim: claimOf(file.file, file.precision) }));
  const exact = new Set(claims.filter(({ claim }) => claim.aliases.length === 0).map(({ claim }) => claim.name));
  const taken = new Set<string>();
  const named = claims.map(({ file, claim }) => {
    const choices = [
      ...(claim.aliases.length > 0 && exact.has(claim.name) ? [] : [claim.name]),
      ...claim.aliases,
      fallbackName(file),
      file.file,
    ];
    const free = [...new Set(choices)].filter((choice) => !taken.has(choice));
    const [name = file.file] = free;
    const aliases = free.slice(1).filter((alias) => claim.aliases.includes(alias));
    for (const choice of [name, ...aliases]) taken.add(choice);
    const precision = claim.precision ?? file.precision;
    return { ...file, name, aliases, ...(precision === undefined ? {} : { precision }) };
  });
  return named.sort((a, b) => Number(isSafetensors(a.file)) - Number(isSafetensors(b.file)) || rank(a.name) - rank(b.name));
}

/** What a file would like to be called. */
function claimOf(file: string, found: Precision | undefined): VariantName {
  const stem = basename(file, extname(file));
  const suffix = /^model_(.+)$/.exec(stem)?.[1];
  const known = suffixes.get(suffix ?? "");
  if (known !== undefined) return known;
  if (stem !== "model") return { name: stem, aliases: [] };
  // A file without a suffix is fp32 by custom; where its weights are something else, that is what it is.
  return { name: found ?? (isSafetensors(file) ? "safetensors" : "fp32"), aliases: [] };
}

/** For safetensors beside ONNX files of the same precision. */
function fallbackName({ file, precision }: { file: string; precision?: Precision }): string {
  if (isSafetensors(file)) return precision === undefined ? "safetensors" : `safetensors-${precision}`;
  return basename(file, extname(file));
}

function rank(name: string): number {
  const at = order.indexOf(name);
  return at < 0 ? order.length : at;
}

function isSafetensors(file: string): boolean {
  return file.endsWith(".safetensors");
}

/** The answer for a format that no kernel multiplies: the closest one that weights can be written in, and what it costs. */
import { type EncodableType, encodeTensor } from "../formats/gguf/blocks/encode.ts";
import { decodeTensor } from "../formats/gguf/blocks/index.ts";
import { ggmlTensorBytes, ggmlTypeNamed, isBitnetType } from "../formats/gguf/ggml-types.ts";
import type { KernelRequest } from "./kernel-entry.ts";

/** The closest format of weights whose own format no kernel multiplies. */
export interface ClosestFormat {
  /** Why the requested format is not supported: a sentence without a full stop. */
  readonly unsupported: string;
  /** Name of the closest format. F16 is decoded to float32 when it is loaded; all others are multiplied without unpacking. */
  readonly format: string;
  /** Why it is the closest: a sentence without a full stop. */
  readonly reason: string;
  /** Bytes of the weights in it. */
  readonly bytes: number;
  /** Bytes of the weights in the requested format. Undefined: its size is not known. */
  readonly askedBytes?: number | undefined;
  /**
   * Root mean square error of converting normally distributed weights to it, as a fraction of their standard deviation, measured on 8,192 numbers. 0 for
   * ternary weights, which are kept.
   */
  readonly error: number;
}

/** Formats that weights can be converted to, by their bits. */
const convertible: readonly {
  readonly format: Exclude<EncodableType, "F32">;
  readonly elements: number;
  readonly isTernary?: true;
}[] = [
  { format: "TQ2_0", elements: 256, isTernary: true },
  { format: "I2_S", elements: 128, isTernary: true },
  { format: "Q4_K", elements: 256 },
  { format: "Q4_0", elements: 32 },
  { format: "Q8_0", elements: 32 },
  { format: "F16", elements: 1 },
];

/** Formats of plain numbers, without blocks. Their weights are multiplied as float32. */
const numberFormats: ReadonlySet<string> = new Set(["F64", "F32", "F16", "BF16"]);

/** The closest format: of the same family if one fits the rows; otherwise the one with the fewest bits that has at least as many. */
export function closestFormat({ format, rows, columns }: KernelRequest): ClosestFormat {
  const fitting = convertible.filter(({ elements }) => columns % elements === 0);
  const askedBits = getBits(format);
  const isTernary = isTernaryFormat(format);
  const family = fitting.filter((each) => (isTernary ? each.isTernary === true : getFamily(each.format) === getFamily(format)));
  const dense = fitting.filter((each) => each.isTernary === undefined);
  const wide = dense.filter((each) => askedBits !== undefined && (getBits(each.format) ?? 0) >= Math.floor(askedBits));
  const quantized = dense.filter((each) => !numberFormats.has(each.format)).reverse(); // the one that loses the least first
  const [found] = numberFormats.has(format) ? quantized : [...family, ...wide, ...dense.slice(-2)];
  const chosen = found?.format ?? "F16";
  const elements = rows * columns;
  return {
    unsupported: unsupportedReason(format),
    format: chosen,
    reason: reasonFor(format, chosen, family.length > 0, askedBits),
    bytes: ggmlTensorBytes(chosen, elements),
    ...(askedBits === undefined ? {} : { askedBytes: (elements * askedBits) / 8 }),
    error: isTernary && found?.isTernary === true ? 0 : conversionError(chosen),
  };
}

function unsupportedReason(format: string): string {
  const name = ggmlTypeNamed(format)?.name;
  if (name === undefined) return `${format} is no format that this package knows`;
  if (name.endsWith("(given up)")) return `llama.cpp has given ${name.replace(" (given up)", "")} up`;
  if (numberFormats.has(format)) return `${format} is multiplied as float32, by kernels that are not in the registry`;
  return `no kernel and no decoder of ${format} is built`;
}

function reasonFor(asked: string, chosen: string, isFamily: boolean, askedBits: number | undefined): string {
  if (numberFormats.has(chosen)) return "no quantized format has blocks that fit the rows";
  if (numberFormats.has(asked)) return "it loses the least of the quantized formats";
  if (isFamily)
    return isTernaryFormat(asked) ? "it is ternary as well, so the weights stay as they are" : "it is of the same family";
  if (askedBits === undefined) return `the bits of ${asked} are not known, and ${chosen} loses the least`;
  return `it has the fewest bits that are no less than those of ${asked}: ${bitsText(chosen)} instead of ${bitsText(asked)}`;
}

function bitsText(format: string): string {
  return `${Number((getBits(format) ?? 0).toFixed(3))} bits`;
}

/** Bits of a weight, scales included; undefined if the size of a block is not known. */
function getBits(format: string): number | undefined {
  const type = ggmlTypeNamed(format);
  return type === undefined || type.blockBytes === 0 ? undefined : (8 * type.blockBytes) / type.blockElements;
}

function isTernaryFormat(format: string): boolean {
  return (isBitnetType(format) && format !== "I8_S") || format.startsWith("TQ");
}

/** "Q4_0_4_8 (given up)" is of the family of Q4_0; "IQ4_XS" and "Q4_K" are families of their own. */
function getFamily(format: string): string {
  return /^Q\d_\d/.exec(format)?.[0] ?? format;
}

const sampleElements = 8192;

/** Measured on numbers of a normal distribution (Box and Muller 1958), which do not change from call to call. */
function conversionError(format: EncodableType): number {
  const values = new Float32Array(sampleElements);
  let state = 1;
  const uniform = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  for (let index = 0; index < sampleElements; index += 1)
    values[index] = Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  const decoded = decodeTensor(format, encodeTensor(format, values), sampleElements);
  let squares = 0;
  let errors = 0;
  for (const [index, value] of values.entries()) {
    squares += value ** 2;
    errors += ((decoded[index] ?? 0) - value) ** 2;
  }
  return Math.sqrt(errors / squares);
}

/**
 * Known answers of the decoders of weights. Kernels pack weights with these decoders and are compared with what they decode, so a wrong decoder is seen by
 * nothing else. The answers come from gguf-py, from Microsoft's converter and kernels, and from the standards; none comes from a decoder of this package.
 */
import { InferyardError } from "../../contract/errors.ts";
import { decodeBase64 } from "../../platform/base64.ts";
import { type BlockFormat, decodeBlocks } from "../gguf/blocks/block-format.ts";
import { blockFormats, decodeTensor } from "../gguf/blocks/index.ts";
import { answerTable } from "./answer-table.ts";
import { findI2SProblem, findTableProblem } from "./bitnet-answers.ts";
import { findScaledBlockProblem, findTernaryBlockProblem } from "./own-block-answers.ts";
import { computePatternDigest, displaced } from "./pattern.ts";

/** Types of plain numbers: bytes, and the numbers that they are. */
const numbers: Readonly<Record<string, { readonly bytes: readonly number[]; readonly values: readonly number[] }>> = {
  F32: { bytes: [0, 0, 0x48, 0xc1, 1, 0, 0x80, 0x3f], values: [-12.5, 1 + 2 ** -23] },
  F64: { bytes: [0, 0, 0, 0, 0, 0, 0x29, 0xc0, 0, 0, 0, 0xe0, 0xff, 0xff, 0xef, 0x3f], values: [-12.5, 1 - 2 ** -24] },
  // The smallest and largest denormal, the smallest normal number, 1 and its neighbour, the largest one, infinities; -2, -2.5.
  F16: {
    bytes: [1, 0, 0xff, 3, 0, 4, 0, 0x3c, 1, 0x3c, 0xff, 0x7b, 0, 0x7c, 0, 0xfc, 0, 0xc0, 0, 0xc1, 0xaa, 0x86],
    values: [
      2 ** -24,
      1023 * 2 ** -24,
      2 ** -14,
      1,
      1 + 2 ** -10,
      65_504,
      Infinity,
      -Infinity,
      -2,
      -2.5,
      -(1 + 682 / 1024) * 2 ** -14,
    ],
  },
  BF16: { bytes: [0x48, 0xc1, 0x81, 0x3f, 1, 0], values: [-12.5, 1 + 2 ** -7, 2 ** -133] },
  I8: { bytes: [0x80, 0x7f, 3], values: [-128, 127, 3] },
  I16: { bytes: [0, 0x80, 0x34, 0x12], values: [-32_768, 0x1234] },
  I32: { bytes: [0, 0, 0, 0x80, 0x78, 0x56, 0x34, 0x02], values: [-(2 ** 31), 0x2345678] },
};

/** Error of the decoder of a type, as a message; undefined if it is right. `format`: the layout of its blocks. Default: the layout of the type. */
export function findDecoderProblem(type: string, format: BlockFormat | undefined = blockFormats[type]): string | undefined {
  if (type === "I2_S") return findI2SProblem();
  if (type === "TL1" || type === "TL2") return findTableProblem(type) ?? findTernaryBlockProblem();
  if (Object.hasOwn(numbers, type)) return findNumberProblem(type);
  if (Object.hasOwn(answerTable.blocks, type)) return format && findBlockProblem(type, format);
  return findScaledBlockProblem();
}

/** Throws VERIFICATION_FAILED if the decoder of a type is wrong. Each decoder is tested once in a process. */
export const requireDecoder: (type: string) => void = requireOnce((type: string) => findDecoderProblem(type));

/** A check of types that throws VERIFICATION_FAILED with what `find` finds wrong; what is right is not tested again. */
export function requireOnce<Type>(find: (type: Type) => string | undefined): (type: Type) => void {
  const right = new Set<Type>();
  return (type) => {
    if (right.has(type)) return;
    const problem = find(type);
    if (problem !== undefined) throw wrongBuild(problem);
    right.add(type);
  };
}

/** The error for a decoder or encoder of weights that fails its test. `problem`: the wrong result, as a sentence without a full stop. */
export function wrongBuild(problem: string): InferyardError {
  return new InferyardError("VERIFICATION_FAILED", problem, {
    remedy: "this build of the engine reads or writes wrong weights: use another target, or install the package again",
  });
}

function findNumberProblem(type: string): string | undefined {
  const { bytes, values } = numbers[type] ?? { bytes: [], values: [] };
  const decoded = decodeTensor(type, displaced(Uint8Array.from(bytes)), values.length);
  const wrong = values.findIndex((value, index) => !Object.is(decoded[index], value));
  if (wrong >= 0) return `the decoder of ${type} gives ${decoded[wrong]}, and ${values[wrong]} is right`;
  if (type !== "F16") return undefined;
  const notNumber = decodeTensor(type, displaced(Uint8Array.of(0, 0x7e, 1, 0x7c, 1, 0xfc)), 3);
  return notNumber.every(Number.isNaN) ? undefined : `the decoder of ${type} gives a number for NaN`;
}

/** Properties of a format's blocks that kernels rely on, as text. */
export function getLayout({ elements, bytes, groupElements, hasMins, codeBits, smallestCode }: BlockFormat): string {
  const mins = hasMins ? " with minima" : "";
  return `${elements} in ${bytes} bytes, groups of ${groupElements}${mins}, codes of ${codeBits} bits from ${smallestCode}`;
}

/** Decodes the known blocks of a type and compares the values with gguf-py's. */
function findBlockProblem(type: string, format: BlockFormat): string | undefined {
  const { blocks, digest, layout } = answerTable.blocks[type] ?? { blocks: "", digest: 0, layout: "" };
  if (getLayout(format) !== layout) return `blocks of ${type} have ${getLayout(format)}, and ${layout} is right`;
  const bytes = displaced(decodeBase64(blocks));
  const values = new Float32Array(answerTable.elements);
  decodeBlocks(format, bytes, values);
  if (computePatternDigest(values) !== digest)
    return `the decoder of ${type} gives other values than gguf-py for ${values.length} elements`;
  const tensor = blockFormats[type] === format ? decodeTensor(type, bytes, values.length) : values;
  if (computePatternDigest(tensor) !== digest) return `tensors of ${type} are not decoded as their blocks`;
  return findOverrun(type, format, bytes);
}

const unwritten = 77;
const spare = 64;

/** Whether a decoder writes after the elements and groups of a block, as a message. */
export function findOverrun(type: string, format: BlockFormat, bytes: Uint8Array): string | undefined {
  const { elements, groupElements } = format;
  const groups = elements / groupElements;
  const block = {
    codes: new Int8Array(elements + spare).fill(unwritten),
    scale: 0,
    groupScales: new Int8Array(groups + spare).fill(unwritten),
    minScale: 0,
    groupMins: new Uint8Array(groups + spare).fill(unwritten),
  };
  for (let start = 0; start < bytes.length; start += format.bytes) format.unpack(bytes, start, block);
  const behind = [block.codes.subarray(elements), block.groupScales.subarray(groups), block.groupMins.subarray(groups)];
  const isOverrun = behind.some((part) => part.some((value) => value !== unwritten));
  return isOverrun ? `the decoder of ${type} writes behind its block` : undefined;
}

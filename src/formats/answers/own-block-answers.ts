/** Known answers of blocks that no file has: weights of other files become such blocks while they are loaded. */
import { type BlockFormat, decodeBlocks } from "../gguf/blocks/block-format.ts";
import { ternaryBlocks, ternaryElementsFor, ternaryFormat } from "../gguf/blocks/ternary.ts";
import { scaledBlockHeader, scaledBlockName, scaledBlocks, type ScaledBlockShape } from "../scaled-blocks/block-formats.ts";
import { displaced, patternBytes } from "./pattern.ts";

const scale = 0.37;

/** Error of blocks of ternary codes, or of their decoder, if they give wrong values. */
export function findTernaryBlockProblem(): string | undefined {
  for (const elements of [32, 64, 128] as const) {
    const { codeBits, smallestCode, hasMins, groupElements, elements: own } = ternaryFormat(elements);
    if (codeBits !== 2 || smallestCode !== -1 || hasMins || groupElements !== elements || own !== elements)
      return `ternary blocks of ${elements} are described wrong`;
    const codes = Int8Array.from(patternBytes(3 * elements, elements), (byte) => (byte % 3) - 1);
    const blocks = displaced(ternaryBlocks(codes, scale, elements));
    const values = new Float32Array(codes.length);
    decodeBlocks(ternaryFormat(elements), blocks, values);
    const wrong = codes.findIndex((code, index) => values[index] !== code * Math.fround(scale));
    if (wrong >= 0) return `element ${wrong} of ternary blocks of ${elements} is ${values[wrong]}`;
    if (scaleBehind(blocks, elements) !== Math.fround(scale)) return `ternary blocks of ${elements} do not end with their scale`;
  }
  const isRight = [128, 64, 32, undefined].every(
    (elements, index) => ternaryElementsFor([384, 192, 96, 48][index] ?? 0) === elements,
  );
  return isRight ? undefined : "rows are divided into ternary blocks that do not fit";
}

function scaleBehind(blocks: Uint8Array, elements: number): number {
  return new DataView(blocks.buffer, blocks.byteOffset).getFloat32(elements / 4, true);
}

const shapes: readonly ScaledBlockShape[] = [
  { bits: 2, elements: 16, hasMins: false },
  { bits: 4, elements: 16, hasMins: true },
  { bits: 8, elements: 32, hasMins: false },
  { bits: 2, elements: 64, hasMins: true },
  { bits: 4, elements: 32, hasMins: false },
  { bits: 8, elements: 16, hasMins: true },
];

/**
 * Error of the decoder of blocks with a float32 scale, if it gives wrong values. The right values are read bit by bit: element i has the bits from i * bits on,
 * and half of the range of codes is negative.
 */
export function findScaledBlockProblem(): string | undefined {
  for (const shape of shapes) {
    const { bits, elements, hasMins } = shape;
    const format = scaledBlocks(shape);
    const name = scaledBlockName(shape);
    const header = hasMins ? 8 : 4;
    const blockBytes = header + (elements * bits) / 8;
    if (format.bytes !== blockBytes || scaledBlockHeader(shape) !== header || name !== getName(shape))
      return `blocks of ${name} have ${format.bytes} bytes, and ${blockBytes} is right`;
    const blocks = displaced(patternBytes(3 * blockBytes, elements + bits));
    const view = new DataView(blocks.buffer, blocks.byteOffset);
    const right: number[] = [];
    for (let block = 0; block < 3; block += 1) {
      const start = block * blockBytes;
      const [factor, min] = [Math.fround(block - 1.3), hasMins ? Math.fround(2.7 - block) : 0];
      view.setFloat32(start, factor, true);
      if (hasMins) view.setFloat32(start + 4, min, true);
      for (let element = 0; element < elements; element += 1) {
        let code = -(2 ** bits) / 2;
        for (let bit = 0; bit < bits; bit += 1) {
          const at = element * bits + bit;
          code += ((view.getUint8(start + header + Math.floor(at / 8)) >> (at % 8)) & 1) * 2 ** bit;
        }
        right.push(Math.fround(Math.fround(factor * code) - min));
      }
    }
    const values = new Float32Array(right.length);
    decodeBlocks(format, blocks, values);
    const wrong = right.findIndex((value, index) => value !== values[index]);
    if (wrong >= 0) return `element ${wrong} of ${name} is ${values[wrong]}, and ${right[wrong]} is right`;
    const problem = findStructureProblem(format, shape);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function getName({ bits, elements, hasMins }: ScaledBlockShape): string {
  return `int${bits} of ${elements}${hasMins ? " with minimum" : ""}`;
}

/** Kernels rely on what a format says of its codes. */
function findStructureProblem(format: BlockFormat, { bits, elements, hasMins }: ScaledBlockShape): string | undefined {
  const isRight =
    format.elements === elements &&
    format.groupElements === elements &&
    format.hasMins === hasMins &&
    format.codeBits === bits &&
    format.smallestCode === -(2 ** bits) / 2;
  return isRight ? undefined : `the codes of blocks of ${bits} bits are described wrong`;
}

/** Known answers of kernels for quantized weights: blocks with awkward scales, activations, and their product in float64. */
import { at } from "../contract/checked.ts";
import { type BlockFormat, decodeBlocks, unpackedBlock } from "../formats/gguf/blocks/block-format.ts";

/** A product whose result is known: [rows of activations, columns] times the transpose of [weight rows, columns]. */
export interface KnownAnswer {
  /** Blocks of the weights [weightRows, columns], row by row. */
  readonly bytes: Uint8Array;
  readonly weightRows: number;
  readonly columns: number;
  /** The weights as the reference decoder reads them. */
  readonly weights: Float32Array;
  readonly activationRows: number;
  readonly activations: Float32Array;
  /** The product, summed in float64: [activationRows, weightRows]. */
  readonly expected: Float64Array;
  /** See `KernelEntry.tolerance`. */
  readonly magnitudes: Float64Array;
}

/** Rows of weights at least: no multiple of the 8 that generated code computes at once. */
const minWeightRows = 21;
/** Largest magnitude of the scale of an ordinary block. */
const largestScale = 4;
/** Smallest one; every seventh block has a smaller one, perhaps a denormal number. */
const smallestScale = 2 ** -8;
const tinyScale = 2 ** -14;
/** Different blocks at most, since drawing them takes long: a prime, so that rows and panels of 8 rows begin with different ones. */
const drawnBlocks = 11;
/** Blocks that are drawn until one has the wanted scale. */
const maxDraws = 20_000;

/** Sizes of a known answer. */
export interface KnownAnswerSizes {
  /** A multiple of the elements of a block and of `activationGroup`. */
  readonly columns: number;
  readonly activationRows: number;
  /** Rows of weights are a multiple of this. Default: 1. */
  readonly rowMultiple?: number;
  /** See `KernelEntry.activationGroup`. */
  readonly activationGroup: number;
}

/** The known answer of a format for one or several rows of activations. The same at every call. */
export function knownAnswer(format: BlockFormat, sizes: KnownAnswerSizes): KnownAnswer {
  const { columns, activationRows, rowMultiple = 1 } = sizes;
  const weightRows = Math.ceil(minWeightRows / rowMultiple) * rowMultiple;
  const random = randomBytes(format.elements + activationRows);
  const blocks = (weightRows * columns) / format.elements;
  const bytes = new Uint8Array(blocks * format.bytes);
  const drawn = Math.min(blocks, drawnBlocks);
  for (let block = 0; block < drawn; block += 1)
    drawBlock(format, bytes.subarray(block * format.bytes, (block + 1) * format.bytes), block % 7 === 3, random);
  for (let block = drawn; block < blocks; block += 1)
    bytes.copyWithin(block * format.bytes, (block % drawn) * format.bytes, ((block % drawn) + 1) * format.bytes);
  const weights = new Float32Array(weightRows * columns);
  decodeBlocks(format, bytes, weights);
  const activations = awkwardActivations(activationRows, columns);
  return {
    bytes,
    weightRows,
    columns,
    weights,
    activationRows,
    activations,
    ...product(activations, weights, sizes),
  };
}

/** Fills a block with random bytes until its scales are in range. Types differ in where they have them, so blocks are drawn and looked at. */
function drawBlock(format: BlockFormat, target: Uint8Array, isTiny: boolean, random: () => number): void {
  const block = unpackedBlock(format);
  for (let draw = 0; draw < maxDraws; draw += 1) {
    for (let index = 0; index < target.length; index += 1) target[index] = random();
    format.unpack(target, 0, block);
    const [scale, min] = [Math.abs(block.scale), format.hasMins ? Math.abs(block.minScale) : smallestScale];
    const isInRange =
      isTiny && draw < maxDraws / 20 ? scale < tinyScale && min < largestScale : scale >= smallestScale && scale <= largestScale;
    if (isInRange && min <= largestScale) return;
  }
  target.fill(0);
}

/**
 * Activations between -1 and 1. The first 32 of a row are 0, the next 32 are denormal but for one; then one is 16 times the others, so that the rest of its group
 * is rounded coarsely.
 */
function awkwardActivations(rows: number, columns: number): Float32Array {
  return Float32Array.from({ length: rows * columns }, (_, index) => {
    const [row, column] = [Math.floor(index / columns), index % columns];
    if (row % 2 === 1 || columns < 128) return Math.sin(1.7 * index + row);
    if (column < 32) return 0;
    if (column < 64) return column === 40 ? 2 ** -20 : 2 ** -140;
    return column === 70 ? 16 : Math.sin(1.7 * index + row);
  });
}

/** Sums in float64, and for each element sqrt(sum((weight * largest activation of its group)^2)). */
function product(
  activations: Float32Array,
  weights: Float32Array,
  { columns, activationRows, activationGroup }: KnownAnswerSizes,
): Pick<KnownAnswer, "expected" | "magnitudes"> {
  const weightRows = weights.length / columns;
  const expected = new Float64Array(activationRows * weightRows);
  const magnitudes = new Float64Array(activationRows * weightRows);
  for (let row = 0; row < activationRows; row += 1) {
    const values = activations.subarray(row * columns, (row + 1) * columns);
    for (let output = 0; output < weightRows; output += 1) {
      let sum = 0;
      let squares = 0;
      for (let start = 0; start < columns; start += activationGroup) {
        let largest = 0;
        let weightSquares = 0;
        for (let column = start; column < start + activationGroup; column += 1) {
          const [weight, value] = [at(weights, output * columns + column), at(values, column)];
          sum += weight * value;
          weightSquares += weight ** 2;
          largest = Math.max(largest, Math.abs(value));
        }
        squares += weightSquares * largest ** 2;
      }
      expected[row * weightRows + output] = sum;
      magnitudes[row * weightRows + output] = Math.sqrt(squares);
    }
  }
  return { expected, magnitudes };
}

/** A generator of bytes (Marsaglia 2003, xorshift), seeded so that every call gives the same ones. */
function randomBytes(seed: number): () => number {
  let state = seed + 0x9e3779b9;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 11) & 255;
  };
}

/** Products with quantized weights in plain TypeScript: the kernels whose ids end in _Scalar, and what others are held against. */
import { type BlockFormat, unpackedBlock } from "../formats/gguf/blocks/block-format.ts";

/** Sizes of a product [m, k] times the transpose of quantized weights [n, k]. */
export interface BlockProduct {
  readonly format: BlockFormat;
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/**
 * Computes a product. `weights`: blocks as the file has them, row by row; `output` is [m, n]. Each row of weights is decoded once and multiplied with every row
 * of activations. Sums in float64; one rounding to float32.
 */
export function multiplyScalar(
  { format, m, n, k }: BlockProduct,
  activations: Float32Array,
  weights: Uint8Array,
  output: Float32Array,
): void {
  const row = new Float32Array(k);
  const rowBytes = (k / format.elements) * format.bytes;
  const decode = rowDecoder(format);
  for (let column = 0; column < n; column += 1) {
    decode(weights, column * rowBytes, row);
    for (let index = 0; index < m; index += 1) {
      const start = index * k;
      let sum = 0;
      for (let position = 0; position < k; position += 1)
        sum += (activations[start + position] as number) * (row[position] as number);
      output[index * n + column] = sum;
    }
  }
}

/** Copies rows of quantized weights as float32. Negative indices count from the end. Throws RangeError for an index outside of the rows. */
export function gatherScalar(
  { format, n, k }: Omit<BlockProduct, "m">,
  weights: Uint8Array,
  indices: BigInt64Array | Int32Array,
  output: Float32Array,
): void {
  const rowBytes = (k / format.elements) * format.bytes;
  const decode = rowDecoder(format);
  for (const [position, index] of indices.entries()) {
    const row = Number(index) < 0 ? Number(index) + n : Number(index);
    if (row < 0 || row >= n) throw new RangeError(`the index ${index} lies outside of ${n} rows`);
    decode(weights, row * rowBytes, output.subarray(position * k, (position + 1) * k));
  }
}

/** A function that decodes the row that begins at byte `start`, as `decodeBlocks` does. */
function rowDecoder(format: BlockFormat): (weights: Uint8Array, start: number, row: Float32Array) => void {
  const { elements, bytes, groupElements, hasMins } = format;
  const block = unpackedBlock(format);
  const { codes, groupScales, groupMins } = block;
  return (weights, start, row) => {
    for (let to = 0, at = start; to < row.length; at += bytes) {
      format.unpack(weights, at, block);
      for (let group = 0, from = 0; from < elements; group += 1) {
        const scale = Math.fround(block.scale * (groupScales[group] as number));
        const min = Math.fround(block.minScale * (groupMins[group] as number));
        for (const end = from + groupElements; from < end; from += 1, to += 1)
          row[to] = hasMins ? Math.fround(scale * (codes[from] as number)) - min : scale * (codes[from] as number);
      }
    }
  };
}

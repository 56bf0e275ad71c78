/** From the weights of cross-attention to the costs of aligning tokens with positions in time. */

/** Sizes of weights [heads, tokens, positions]. */
export interface WeightSizes {
  readonly heads: number;
  readonly tokens: number;
  readonly positions: number;
}

/**
 * Costs float32 [tokens, used]: the negative mean over all heads of the weights of the first `used` positions, after these are made to sum to 1, are
 * standardized over the tokens, and pass a median filter along the positions. `filterWidth`: an odd number of positions.
 */
export function attentionCosts(
  weights: Float32Array,
  { heads, tokens, positions }: WeightSizes,
  used: number,
  filterWidth: number,
): Float32Array {
  const costs = new Float32Array(tokens * used);
  for (let head = 0; head < heads; head += 1) {
    const own = usedWeights(
      weights.subarray(head * tokens * positions, (head + 1) * tokens * positions),
      { tokens, positions },
      used,
    );
    standardizeColumns(own, tokens, used);
    for (let token = 0; token < tokens; token += 1) {
      const filtered = medianFilter(own.subarray(token * used, (token + 1) * used), filterWidth);
      for (let position = 0; position < used; position += 1) {
        const index = token * used + position;
        costs[index] = (costs[index] ?? 0) - (filtered[position] ?? 0) / heads;
      }
    }
  }
  return costs;
}

/** The first `used` weights of each token, divided by their sum: the softmax over these positions alone. */
function usedWeights(weights: Float32Array, { tokens, positions }: Omit<WeightSizes, "heads">, used: number): Float32Array {
  const own = new Float32Array(tokens * used);
  for (let token = 0; token < tokens; token += 1) {
    const row = weights.subarray(token * positions, token * positions + used);
    const sum = row.reduce((total, each) => total + each, 0);
    for (let position = 0; position < used; position += 1) own[token * used + position] = (row[position] ?? 0) / sum;
  }
  return own;
}

/** Subtracts the mean of each column [rows, columns], and divides by its standard deviation. */
function standardizeColumns(values: Float32Array, rows: number, columns: number): void {
  for (let column = 0; column < columns; column += 1) {
    let [sum, squares] = [0, 0];
    for (let row = 0; row < rows; row += 1) sum += values[row * columns + column] ?? 0;
    const mean = sum / rows;
    for (let row = 0; row < rows; row += 1) squares += ((values[row * columns + column] ?? 0) - mean) ** 2;
    const deviation = Math.sqrt(squares / rows);
    for (let row = 0; row < rows; row += 1) {
      const index = row * columns + column;
      values[index] = deviation === 0 ? 0 : ((values[index] ?? 0) - mean) / deviation;
    }
  }
}

/** The median of the `width` values around each value; values beyond the ends are those mirrored at the ends. Fewer values than half the width stay as they are. */
export function medianFilter(values: Float32Array, width: number): Float32Array {
  const half = Math.floor(width / 2);
  const last = values.length - 1;
  if (values.length <= half) return values;
  const mirrored = (index: number): number => (index < 0 ? -index : index > last ? 2 * last - index : index);
  const window = new Float32Array(width);
  return Float32Array.from(values, (_, center) => {
    for (let offset = 0; offset < width; offset += 1) window[offset] = values[mirrored(center + offset - half)] ?? 0;
    return window.sort()[half] ?? 0;
  });
}

/** MaxSim, the score of late interaction. In a file of its own, since a page loads what the package exports by name. */
import { invalidInput } from "../../contract/errors.ts";

/** The token vectors of one text: `data` is row-major `[tokens, dimensions]`. */
export interface TokenVectors {
  readonly data: Float32Array;
  readonly dimensions: number;
}

/**
 * MaxSim (Khattab and Zaharia 2020): the sum over query tokens of the largest dot product with any document token. Throws INPUT_INVALID if the
 * two have different numbers of dimensions.
 */
export function maxSim(query: TokenVectors, document: TokenVectors): number {
  const { dimensions } = query;
  if (dimensions !== document.dimensions || dimensions <= 0) {
    throw invalidInput(
      `maxSim needs vectors of equal length: the query has ${dimensions} dimensions, the document ${document.dimensions}`,
    );
  }
  let sum = 0;
  for (let queryRow = 0; queryRow < query.data.length; queryRow += dimensions) {
    let best = Number.NEGATIVE_INFINITY;
    for (let documentRow = 0; documentRow < document.data.length; documentRow += dimensions) {
      let product = 0;
      for (let axis = 0; axis < dimensions; axis += 1)
        product += (query.data[queryRow + axis] ?? 0) * (document.data[documentRow + axis] ?? 0);
      if (product > best) best = product;
    }
    sum += best;
  }
  return sum;
}

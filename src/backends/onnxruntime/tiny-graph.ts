/** A minimal test of an engine: y = x · x for a 2 by 2 matrix. */

/** An ONNX model (IR 8, opset 13) with one MatMul, encoded by hand: 78 bytes in base64. */
export const tinyGraph: string =
  "CAg6RAoRCgF4CgF4EgF5IgZNYXRNdWwSBXByb2JlWhMKAXgSDgoMCAESCAoCCAIKAggCYhMKAXkSDgoMCAESCAoCCAIKAggCQgQKABAN";

/** The 2 by 2 input, row-major. */
export const tinyInput: readonly number[] = [1, 2, 3, 4];
/** The expected output, row-major. */
export const tinyAnswer: readonly number[] = [7, 10, 15, 22];

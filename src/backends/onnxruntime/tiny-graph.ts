/** The smallest honest test of an engine: y = x · x for a 2 by 2 matrix, with the answer worked out by hand. */

/** An ONNX model (IR 8, opset 13) of one MatMul, written out by hand: 78 bytes. */
export const tinyGraph: string =
  "CAg6RAoRCgF4CgF4EgF5IgZNYXRNdWwSBXByb2JlWhMKAXgSDgoMCAESCAoCCAIKAggCYhMKAXkSDgoMCAESCAoCCAIKAggCQgQKABAN";

export const tinyInput: readonly number[] = [1, 2, 3, 4];
export const tinyAnswer: readonly number[] = [7, 10, 15, 22];

/** Number formats of embeddings, apart from the code that quantizes, which a page loads only when it does. */

/**
 * Element type of quantized vectors. "int8" and "uint8": one byte per dimension. "binary" and "ubinary": one bit per dimension, set if the value is above 0;
 * the first of 8 dimensions is the most significant bit. "binary" bytes are signed: "ubinary" bytes minus 128.
 */
export type QuantizedPrecision = "int8" | "uint8" | "binary" | "ubinary";

/** All values of the option `precision` of `embed`. */
export const precisions: readonly ("float32" | QuantizedPrecision)[] = ["float32", "int8", "uint8", "binary", "ubinary"];

/** Attributes of operators. */
import type { Tensor } from "../../contract/tensor.ts";

/** Attributes of an operator, under ONNX's names. An element type is its name: `cast(x, { to: "float16" })`. */
export type Attributes = Readonly<Record<string, number | boolean | string | readonly number[] | readonly string[] | Tensor>>;

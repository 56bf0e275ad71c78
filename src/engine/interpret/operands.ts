/** Operands of operations, whose number shape inference has checked, and results of operations with one output. */
import type { Literal } from "../ir/literal.ts";

/** One tensor. */
export type One = readonly [Literal];
/** Two tensors. */
export type Two = readonly [Literal, Literal];
/** Three tensors. */
export type Three = readonly [Literal, Literal, Literal];

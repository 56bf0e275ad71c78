/** What a case of the known answers of the interpreter consists of. */
import { elementCount } from "../../src/contract/tensor.ts";
import type { ElementType } from "../../src/engine/ir/element-types.ts";
import { type Literal, toLiteral, literalOfBigints } from "../../src/engine/ir/literal.ts";
import type { Operation } from "../../src/engine/ir/operations.ts";

/** An operation with its inputs. */
export interface InterpreterCase {
  readonly operation: Operation;
  readonly inputs: readonly Literal[];
  /** The right outputs. Default: what the interpreter computes. None: it must refuse the inputs. */
  readonly outputs?: readonly Literal[];
}

/** A case whose outputs are recorded. */
export function operate(operation: Operation, ...inputs: readonly Literal[]): InterpreterCase {
  return { operation, inputs };
}

/** A case that must be refused. */
export function refuse(operation: Operation, ...inputs: readonly Literal[]): InterpreterCase {
  return { operation, inputs, outputs: [] };
}

/** A tensor of 64-bit integers. */
export function bigints(
  dataType: "int64" | "uint64",
  shape: readonly number[],
  ...values: readonly (bigint | number)[]
): Literal {
  return literalOfBigints(dataType, shape, values.map(BigInt));
}

/** A tensor of strings. */
export function strings(shape: readonly number[], ...data: readonly string[]): Literal {
  return { dataType: "string", shape, data };
}

/** A tensor of float32. */
export function floats(shape: readonly number[], ...values: readonly number[]): Literal {
  return toLiteral("float32", shape, values);
}

/** Numbers from -11 to 11 in no order, none of them 0; from 1 for unsigned types. */
export function variedNumbers(type: ElementType, shape: readonly number[]): Literal {
  const values = Array.from({ length: elementCount(shape) }, (_, index) => ((index * 7) % 11) + 1);
  if (type === "uint64") return bigints(type, shape, ...values);
  const signed = values.map((value) => (value % 3 === 0 ? -value : value));
  return type === "int64"
    ? bigints(type, shape, ...signed)
    : toLiteral(
        type,
        shape,
        signed.map((value) => (type.startsWith("float") ? value / 4 : value)),
      );
}

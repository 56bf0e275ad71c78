/** Operators that the author of a program defines, with an implementation for each backend that shall run them. */
import { InferyardError, invalidInput } from "../../contract/errors.ts";
import type { Tensor } from "../../contract/tensor.ts";
import type { CallImplementation } from "../../engine/ir/operations.ts";
import type { Literal } from "../../engine/ir/literal.ts";
import { describeType, type TensorType } from "../../engine/ir/tensor-type.ts";
import type { Attributes } from "./attributes.ts";

/** Computes the outputs of an operator from its inputs, in JavaScript. The inputs may be views of the backend's memory: they must not be kept or written to. */
export type TensorFunction = (inputs: readonly Tensor[], attributes: Attributes) => readonly Tensor[];

/** Names in the text of a StableHLO program, and types. */
export interface StableHloOperands {
  /** Names of the inputs, such as "%3". */
  readonly inputs: readonly string[];
  /** Names that the statements must define, such as "%7". */
  readonly results: readonly string[];
  /** Types of the inputs as StableHLO writes them, such as "tensor<2x3xf32>". */
  readonly inputTypes: readonly string[];
  readonly resultTypes: readonly string[];
  /** A name that nothing else in the program has. */
  newName(): string;
}

/** Implementations of an operator, by the backend that they are for. A backend without one refuses programs with the operator. */
export interface UserImplementations {
  /** Also for the backend blas. */
  readonly native?: TensorFunction;
  /** Writes statements of StableHLO in MLIR's generic form, one a line. */
  readonly xla?: (operands: StableHloOperands, attributes: Attributes) => string;
}

/** An operator of the author of a program. */
export interface UserOperator {
  /** Names the operator in messages. Two operators of one program must not have the same name. */
  readonly name: string;
  /** The types of the outputs for inputs of given types. Throws Error for types that the operator does not take. */
  types(inputs: readonly TensorType[], attributes: Attributes): readonly TensorType[];
  /** The reference: what each implementation is checked against before it is used. */
  readonly reference: TensorFunction;
  readonly implementations: UserImplementations;
}

/** Checks the definition of an operator and returns it. Throws INPUT_INVALID for a part that is missing. */
export function defineOperator(operator: UserOperator): UserOperator {
  const { name, types, reference, implementations } = operator;
  if (typeof name !== "string" || !/^\w+$/.test(name))
    throw invalidInput(`the name of an operator is ${JSON.stringify(name)}`, "give a name of letters, digits and _");
  if (typeof types !== "function" || typeof reference !== "function")
    throw invalidInput(`the operator "${name}" lacks the function ${typeof types === "function" ? "reference" : "types"}`);
  if (typeof implementations !== "object" || implementations === null)
    throw invalidInput(`the operator "${name}" has no implementations`, "give { native(inputs, attributes) { ... } }");
  return operator;
}

/** What computes a use of an operator on a backend; undefined as `backend`: the reference. Throws MODEL_UNSUPPORTED if the operator has no implementation for it. */
export function implementationFor(
  { name, reference, implementations }: UserOperator,
  backend: string | undefined,
  attributes: Attributes,
  types: readonly TensorType[],
): CallImplementation {
  if (backend === undefined) return { evaluate: evaluated(name, reference, attributes, types) };
  const { native, xla } = implementations;
  // The backend blas leaves all but matrix products to the engine.
  if ((backend === "native" || backend === "blas") && native !== undefined)
    return { evaluate: evaluated(name, native, attributes, types) };
  if (backend === "xla" && xla !== undefined) return { stableHlo: (operands) => xla(operands, attributes) };
  const others = Object.keys(implementations);
  const known = others.length === 0 ? "for no backend" : `for ${others.join(", ")} only`;
  throw new InferyardError(
    "MODEL_UNSUPPORTED",
    `the operator "${name}" has no implementation for ${backend}: it has one ${known}`,
    {
      data: { operator: name, backend, implementations: others },
    },
  );
}

function evaluated(
  name: string,
  compute: TensorFunction,
  attributes: Attributes,
  types: readonly TensorType[],
): (inputs: readonly Literal[]) => readonly Literal[] {
  return (inputs) => {
    const outputs = compute(inputs as readonly Tensor[], attributes);
    const given = outputs.map(describeType).join(", ");
    const stated = types.map(describeType).join(", ");
    if (given !== stated) throw new Error(`the operator "${name}" returned ${given}, and its types are ${stated}`);
    return outputs;
  };
}

/** The functions of elementwise kernels, for checks of all generated code. */
import { at } from "../../../contract/checked.ts";
import type { ElementType } from "../../ir/element-types.ts";
import { binaryFunctions, unaryFunctions } from "../../interpret/elementwise.ts";
import type { ElementOperation } from "../../ir/operations.ts";
import { toLiteral } from "../../ir/literal.ts";
import { inferTypes } from "../../ir/shape-inference/index.ts";
import { type KernelFunction, getKernelFunctions } from "../../lower/kernel-functions.ts";
import { lowerElementwise } from "../../lower/elementwise.ts";

const unsigned: readonly ElementType[] = ["uint32", "uint16", "uint8"];
const types: readonly ElementType[] = ["float32", "float64", "int32", "int64", "int16", "int8", ...unsigned, "bool"];

/** Every step of an elementwise chain that generated code computes, by operation and types. The others are left out: they are not lowered. */
export function elementwiseFunctions(): readonly KernelFunction[] {
  const castTypes: readonly ElementType[] = [...types, "float16"];
  return [
    ...unaryFunctions.flatMap((name) => types.map((type) => step({ kind: "unary", function: name }, [type]))),
    ...binaryFunctions.flatMap((name) => {
      const defined = name.startsWith("shift") ? unsigned : types; // ONNX shifts unsigned integers alone
      return defined.map((type) => step({ kind: "binary", function: name }, [type, type]));
    }),
    ...[-1, 1, 2, 3].map((exponent) => step({ kind: "binary", function: "pow" }, ["float32", "float32"], exponent)),
    ...(["none", "tanh"] as const).map((approximate) => step({ kind: "gelu", approximate }, ["float32"])),
    ...types.map((type) => step({ kind: "select" }, ["bool", type, type])),
    ...castTypes.flatMap((from) =>
      castTypes.flatMap((to) => [false, true].map((saturate) => step({ kind: "cast", to, saturate }, [from]))),
    ),
  ].flat();
}

/** The function that a chain of this one step computes; none when the interpreter computes it. `exponent`: a constant second operand. */
function step(operation: ElementOperation, types: readonly ElementType[], exponent?: number): readonly KernelFunction[] {
  const inputs = types.map((dataType, index) => {
    if (index === 0 || exponent === undefined) return { type: { dataType, shape: [1] } };
    return { type: { dataType, shape: [] }, constant: toLiteral(dataType, [], [exponent]) };
  });
  const chain = { kind: "elementwise", steps: [{ operation, operands: types.map((_, index) => index) }] } as const;
  const type = at(
    inferTypes(
      operation,
      inputs.map((input) => input.type),
    ),
    0,
  );
  const node = { operation: chain, inputs, outputs: [{ type }] };
  const lowered = lowerElementwise(node);
  return lowered === undefined ? [] : getKernelFunctions(node, lowered).filter((each) => each.step !== undefined);
}

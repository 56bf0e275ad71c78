/**
 * The verifier of graphs: every value is defined once and before its uses, its type is the one that its operation infers, constants match their
 * types, and names of inputs and of outputs are unique.
 */
import { getMessage } from "../../contract/errors.ts";
import { elementCount } from "../../contract/tensor.ts";
import { type Graph, type GraphNode, type Value } from "./graph.ts";
import { describeType, sameShape, type TensorType } from "./tensor-type.ts";
import { inferTypes } from "./shape-inference/index.ts";

/** Checks a graph and returns every violation as a sentence without a full stop; an empty list for a valid graph. */
export function verify(graph: Graph): readonly string[] {
  const problems: string[] = [];
  const defined = new Set<Value>();
  const define = (value: Value, who: string): void => {
    if (defined.has(value) || value.constant !== undefined) problems.push(`${who} is defined twice`);
    defined.add(value);
  };
  const use = (value: Value, who: string): void => {
    if (value.constant === undefined && !defined.has(value)) problems.push(`${who} is used before it is defined`);
    if (value.constant !== undefined && !matchesType(value)) problems.push(`${who} is a constant that does not match its type`);
  };
  for (const { name, value } of graph.inputs) define(value, `the input "${name}"`);
  for (const [number, node] of graph.nodes.entries()) {
    const where = `node ${number}, ${node.operation.kind}`;
    for (const [index, input] of node.inputs.entries()) use(input, `${where}: its input ${index}`);
    for (const [index, output] of node.outputs.entries()) define(output, `${where}: its output ${index}`);
    const problem = typeProblem(node);
    if (problem !== undefined) problems.push(`${where}: ${problem}`);
  }
  for (const { name, value } of graph.outputs) use(value, `the output "${name}"`);
  for (const [what, list] of Object.entries({ input: graph.inputs, output: graph.outputs })) {
    const names = list.map(({ name }) => name);
    for (const name of new Set(names.filter((each, index) => names.indexOf(each) !== index)))
      problems.push(`more than one ${what} is called "${name}"`);
  }
  return problems;
}

function typeProblem({ operation, inputs, outputs }: GraphNode): string | undefined {
  let types: readonly TensorType[];
  try {
    types = inferTypes(
      operation,
      inputs.map(({ type }) => type),
    );
  } catch (error) {
    return getMessage(error);
  }
  const given = outputs.map(({ type }) => describeType(type)).join(", ");
  const wanted = types.map(describeType).join(", ");
  return given === wanted ? undefined : `its output type is ${given}, and inference gives ${wanted}`;
}

function matchesType({ type, constant }: Value): boolean {
  return (
    constant !== undefined &&
    constant.dataType === type.dataType &&
    sameShape(constant.shape, type.shape) &&
    constant.data.length === elementCount(type.shape)
  );
}

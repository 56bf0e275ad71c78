/** What a graph must be for its consumers: every value made before its use, of the type its operation gives, and names that tell apart. */
import { messageOf } from "../../errors.ts";
import { elementCount } from "../../tensor.ts";
import { describeType, type Graph, type GraphNode, sameShape, type TensorType, type Value } from "./graph.ts";
import { inferTypes } from "./shape-inference/index.ts";

/** Every problem as a sentence without a full stop; none where the graph is sound. */
export function verify(graph: Graph): readonly string[] {
  const problems: string[] = [];
  const made = new Set<Value>();
  const make = (value: Value, who: string): void => {
    if (made.has(value) || value.constant !== undefined) problems.push(`${who} is made twice`);
    made.add(value);
  };
  const use = (value: Value, who: string): void => {
    if (value.constant === undefined && !made.has(value)) problems.push(`${who} is used before it is made`);
    if (value.constant !== undefined && !isWhole(value)) problems.push(`${who} is a constant that is not of its type`);
  };
  for (const { name, value } of graph.inputs) make(value, `the input "${name}"`);
  for (const [index, node] of graph.nodes.entries()) {
    const where = `node ${index}, ${node.operation.kind}`;
    for (const [place, input] of node.inputs.entries()) use(input, `${where}: its input ${place}`);
    for (const [place, output] of node.outputs.entries()) make(output, `${where}: its output ${place}`);
    const problem = typeProblem(node);
    if (problem !== undefined) problems.push(`${where}: ${problem}`);
  }
  for (const { name, value } of graph.outputs) use(value, `the output "${name}"`);
  for (const [what, list] of Object.entries({ input: graph.inputs, output: graph.outputs })) {
    const names = list.map(({ name }) => name);
    for (const name of new Set(names.filter((each, index) => names.indexOf(each) !== index)))
      problems.push(`there is more than one ${what} "${name}"`);
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
    return messageOf(error);
  }
  const given = outputs.map(({ type }) => describeType(type)).join(", ");
  const wanted = types.map(describeType).join(", ");
  return given === wanted ? undefined : `it is said to give ${given}, and gives ${wanted}`;
}

function isWhole({ type, constant }: Value): boolean {
  return (
    constant !== undefined &&
    constant.dataType === type.dataType &&
    sameShape(constant.shape, type.shape) &&
    constant.data.length === elementCount(type.shape)
  );
}

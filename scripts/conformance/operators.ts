/** Which operator a case is about. */
import { readFileSync } from "node:fs";
import { type OnnxModel, readOnnxModel } from "../../src/engine/index.ts";
import type { ConformanceCase } from "./cases.ts";

type OnnxNode = OnnxModel["graph"]["nodes"][number];

/** Operators whose results are drawn: every run is right that has the right type and shape. ONNX's data was drawn by numpy. */
const drawing = new Set(["Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"]);

export function isRandom({ graph }: OnnxModel): boolean {
  return graph.nodes.some(({ domain, operator }) => domain === "" && drawing.has(operator));
}

export const several = "(several operators)";

/**
 * By the name of the case: its operator, "domain:Name" outside of the standard domain, where its model is one node. Cases that hold the
 * definition of an operator in place of it ("test_x_expanded") count for the operator of "test_x"; models of more nodes have a group of their own.
 */
export function operatorsOf(cases: readonly ConformanceCase[]): ReadonlyMap<string, string> {
  const single = new Map<string, string>();
  for (const { name, modelPath } of cases) {
    const operator = onlyOperator(modelPath);
    if (operator !== undefined) single.set(name, operator);
  }
  return new Map(cases.map(({ name }) => [name, single.get(name.replace(/_expanded.*$/, "")) ?? single.get(name) ?? several]));
}

function onlyOperator(modelPath: string): string | undefined {
  try {
    const { nodes } = readOnnxModel(readFileSync(modelPath), modelPath).model.graph;
    const node = nodes.find(({ operator }) => nodes.length === 1 || operator !== "Constant");
    const others = new Set(nodes.filter(({ operator }) => operator !== "Constant").map(fullName));
    return node === undefined || others.size > 1 ? undefined : fullName(node);
  } catch {
    return undefined;
  }
}

function fullName({ domain, operator }: OnnxNode): string {
  return domain === "" ? operator : `${domain}:${operator}`;
}

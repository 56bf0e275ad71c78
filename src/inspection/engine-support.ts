/** Whether our own engine has every operator of a graph, in the versions it uses. */
import type { OnnxOutline } from "../formats/onnx/onnx-outline.ts";
import type { BackendVerdict } from "./inspection.ts";
import { formatOperators, operatorsWhere } from "./used-operators.ts";

/** Whether the engine has an operator in this version of its domain; the standard domain is "". */
export type EngineSupports = (domain: string, name: string, version: number) => boolean;

export function engineVerdict(outline: OnnxOutline, knows: EngineSupports): Omit<BackendVerdict, "backend"> {
  const missing = operatorsWhere(outline, (domain, name) => {
    const version = outline.opsets.get(domain) ?? 1;
    return !knows(domain === "ai.onnx" ? "" : domain, name, version);
  });
  if (missing.length === 0) return { verdict: "expected", reason: "it has each of the operators" };
  return { verdict: "no", reason: `it has no ${formatOperators(missing)} in these versions`, operators: missing };
}

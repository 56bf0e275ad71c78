/** Predicts whether the backend `native` can run an ONNX graph. */
import type { OnnxOutline } from "../formats/onnx/onnx-outline.ts";
import type { BackendVerdict } from "./inspection.ts";
import { formatOperators, operatorsWhere } from "./used-operators.ts";

/** Whether the backend `native` supports an ONNX operator in this version of its domain. The standard domain is "". */
export type EngineSupports = (domain: string, name: string, version: number) => boolean;

/**
 * Predicts whether the backend `native` can run an ONNX graph: "no" if it lacks an operator that the graph uses, in its version,
 * else "expected".
 */
export function engineVerdict(outline: OnnxOutline, knows: EngineSupports): Omit<BackendVerdict, "backend"> {
  const missing = operatorsWhere(outline, (domain, name) => {
    const version = outline.opsets.get(domain) ?? 1;
    return !knows(domain === "ai.onnx" ? "" : domain, name, version);
  });
  if (missing.length === 0) return { verdict: "expected", reason: "it has each of the operators" };
  return { verdict: "no", reason: `it has no ${formatOperators(missing)} in these versions`, operators: missing };
}

/** Operators that a graph uses, for verdicts of engines. */
import type { OnnxOutline } from "../formats/onnx/onnx-outline.ts";

/** Operators of the graph and of the functions it defines for which `test` holds, but for those functions themselves; each once. */
export function operatorsWhere(outline: OnnxOutline, test: (domain: string, name: string) => boolean): string[] {
  const own = new Set(outline.functions.map(({ domain, name }) => `${domain}:${name}`));
  const used = [...outline.graph.operators, ...outline.functions.flatMap(({ operators }) => operators)];
  const keys = used.flatMap(({ domain, name }) => {
    const key = `${domain}:${name}`;
    return !own.has(key) && test(domain, name) ? [key] : [];
  });
  return [...new Set(keys)];
}

/** For people: the first few. */
export function formatOperators(operators: readonly string[]): string {
  const shown = operators.slice(0, 3).map((operator) => operator.slice(0, 80));
  const rest = operators.length - shown.length;
  return `${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

/** Operators that an ONNX graph uses, for verdicts. */
import type { OnnxOutline } from "../formats/onnx/onnx-outline.ts";

/** The operators, as "domain:name", that the graph and its functions use and for which `test` is true, without repetitions. Functions of the file are left out. */
export function operatorsWhere(outline: OnnxOutline, test: (domain: string, name: string) => boolean): string[] {
  const own = new Set(outline.functions.map(({ domain, name }) => `${domain}:${name}`));
  const used = [...outline.graph.operators, ...outline.functions.flatMap(({ operators }) => operators)];
  const keys = used.flatMap(({ domain, name }) => {
    const key = `${domain}:${name}`;
    return !own.has(key) && test(domain, name) ? [key] : [];
  });
  return [...new Set(keys)];
}

/** The first three operators and the number of the others, as text for a message. */
export function formatOperators(operators: readonly string[]): string {
  const shown = operators.slice(0, 3).map((operator) => operator.slice(0, 80));
  const rest = operators.length - shown.length;
  return `${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

/**
 * Predicts whether onnxruntime can run a graph, by a rule that is based on measurements (onnxruntime-operators.ts):
 *   no        an IR version or an operator set is newer than it supports; it does not know an operator, and the file does not define it; or an input or
 *             output has a type that its JavaScript interface does not support
 *   expected  every operator ran in the measurements, the standard operator set is 7 or newer, and all inputs, outputs and weights have types that
 *             nearly every kernel supports
 *   unknown   anything else: onnxruntime selects kernels by type and version, so support is known only after loading
 * The test beside this file states the accuracy of the rule on the 1,289 models of the test suite of ONNX.
 */
import type { OnnxOutline } from "../formats/onnx/onnx-outline.ts";
import { onnxTypeName } from "../formats/onnx/onnx-types.ts";
import type { BackendVerdict } from "./inspection.ts";
import { formatOperators, operatorsWhere } from "./used-operators.ts";
import { measuredVersion, maxIrVersion, maxOpsets, operatorTables } from "./onnxruntime-operators.ts";

type Verdict = Omit<BackendVerdict, "backend">;

/** Oldest standard operator set that is supported (https://onnxruntime.ai/docs/reference/compatibility.html). Older ones failed in measurements for lack of kernels. */
const minOpset = 7;

/** Types that inputs and outputs cannot have in the JavaScript interface, as measured. */
const unsupportedInJavaScript = /bfloat16|float8|complex/;
/** Types that general-purpose kernels support. */
const commonTypes: ReadonlySet<string> = new Set([
  "float32",
  "float16",
  "float64",
  "int32",
  "int64",
  "bool",
  "uint8",
  "int8",
  "string",
]);

/** Predicts whether onnxruntime can run an ONNX graph, for the backends `onnx` and `wasm`, which are based on it. */
export function onnxruntimeVerdict(outline: OnnxOutline): Verdict {
  const reason = `each of its operators was seen to run in onnxruntime ${measuredVersion}`;
  return refusal(outline) ?? uncertainty(outline) ?? { verdict: "expected", reason };
}

/** The verdict "no" with its reason, or undefined if nothing certainly fails. */
function refusal(outline: OnnxOutline): Verdict | undefined {
  const library = `onnxruntime ${measuredVersion}`;
  if (outline.irVersion > maxIrVersion) {
    return { verdict: "no", reason: `IR version ${outline.irVersion}, and ${library} takes ${maxIrVersion} at most` };
  }
  for (const [domain, version] of outline.opsets) {
    const newest = maxOpsets.get(domain);
    if (newest === undefined || version <= newest) continue;
    return { verdict: "no", reason: `operator set ${domain} ${version}, and ${library} takes ${newest} at most` };
  }
  const strangers = operatorsWhere(outline, (domain, name) => {
    const table = operatorTables.get(domain);
    return table === undefined || !(table.runs.has(name) || table.registered.has(name));
  });
  if (strangers.length > 0)
    return { verdict: "no", reason: `${library} does not know ${formatOperators(strangers)}`, operators: strangers };
  const value = [...outline.graph.inputs, ...outline.graph.outputs].find(({ type }) => unsupportedInJavaScript.test(type));
  if (value === undefined) return undefined;
  return {
    verdict: "no",
    reason: `"${value.name.slice(0, 60)}" is ${value.type}, which ${library} cannot exchange with JavaScript`,
  };
}

/** The verdict "unknown" with its reason, or undefined if everything is known to be supported. */
function uncertainty(outline: OnnxOutline): Verdict | undefined {
  const unseen = operatorsWhere(outline, (domain, name) => operatorTables.get(domain)?.runs.has(name) !== true);
  if (unseen.length > 0) {
    const reason = `not known without loading: onnxruntime ${measuredVersion} knows ${formatOperators(unseen)}, and was not seen to run it`;
    return { verdict: "unknown", reason, operators: unseen };
  }
  const standard = outline.opsets.get("ai.onnx") ?? minOpset;
  if (standard < minOpset) {
    return {
      verdict: "unknown",
      reason: `not known without loading: operator set ai.onnx ${standard} is older than ${minOpset}`,
    };
  }
  const rare = getTypes(outline).find((type) => !type.split(/[(), ]+/).every((part) => part === "" || isCommon(part)));
  if (rare === undefined) return undefined;
  return {
    verdict: "unknown",
    reason: `not known without loading: it computes in ${rare}, for which only some operators have code`,
  };
}

function isCommon(part: string): boolean {
  return commonTypes.has(part) || part === "sequence" || part === "map" || part === "optional" || part === "unknown";
}

function getTypes({ graph }: OnnxOutline): string[] {
  const values = [...graph.inputs, ...graph.outputs].map(({ type }) => type);
  const tensors = [...graph.initializers, ...graph.constants].map(({ type }) => onnxTypeName(type));
  return [...new Set([...values, ...graph.intermediateTypes, ...tensors])];
}

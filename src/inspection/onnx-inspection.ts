/** What an ONNX file says of itself, for people and programs. */
import type { OnnxOperatorUse } from "../formats/onnx/onnx-graph.ts";
import { type OnnxOutline, readOnnxOutline } from "../formats/onnx/onnx-outline.ts";
import type { OnnxTensorOutline } from "../formats/onnx/onnx-tensor.ts";
import { onnxTypeName } from "../formats/onnx/onnx-types.ts";
import type { OnnxValue } from "../formats/onnx/onnx-value.ts";
import { type ExternalFile, findExternalFiles } from "./external-files.ts";
import { type BackendVerdict, type InspectedTensor, type InspectedText, type TypeCount, countTypes } from "./inspection.ts";
import { inspectedText, sumOf } from "./inspection.ts";

export interface OnnxInspection {
  readonly format: "onnx";
  readonly path: string;
  /** Of the file itself. */
  readonly bytes: number;
  readonly irVersion: number;
  readonly producer?: string;
  /** Versions of operator sets by domain. */
  readonly opsets: Readonly<Record<string, number>>;
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
  /** In the graph and its subgraphs. */
  readonly nodes: number;
  /** Most used first; those of functions are counted once for each function. */
  readonly operators: readonly OperatorCount[];
  /** Elements of the weights. */
  readonly parameters: number;
  /** Weights by type. */
  readonly types: readonly TypeCount[];
  /** Tensors held in nodes instead, by type. Some exporters keep weights there. */
  readonly constants: readonly TypeCount[];
  readonly externalFiles: readonly ExternalFile[];
  readonly metadata: Readonly<Record<string, InspectedText>>;
  readonly backends: readonly BackendVerdict[];
  /** The weights. */
  readonly tensors: readonly InspectedTensor[];
}

export interface OperatorCount extends OnnxOperatorUse {
  /** Whether the file defines it itself. */
  readonly local?: true;
}

/** `verdicts` is asked with what was found. */
export async function inspectOnnxFile(
  path: string,
  shown: string,
  bytes: number,
  verdicts: (outline: OnnxOutline, externalFiles: readonly ExternalFile[]) => readonly BackendVerdict[],
): Promise<OnnxInspection> {
  const outline = await readOnnxOutline(path, shown);
  const externalFiles = await findExternalFiles(outline, path, shown);
  const { graph } = outline;
  const weights = graph.initializers.map(inspected);
  const producer = [outline.producer, outline.producerVersion].filter((part) => part !== "").join(" ");
  return {
    format: "onnx",
    path: shown,
    bytes,
    irVersion: outline.irVersion,
    ...(producer === "" ? {} : { producer }),
    opsets: Object.fromEntries(outline.opsets),
    inputs: graph.inputs,
    outputs: graph.outputs,
    nodes: graph.nodes,
    operators: countOperators(outline),
    parameters: sumOf(weights, ({ elements }) => elements),
    types: countTypes(weights),
    constants: countTypes(graph.constants.map(inspected)),
    externalFiles,
    metadata: Object.fromEntries([...outline.metadata].map(([key, value]) => [key, inspectedText(value)])),
    backends: verdicts(outline, externalFiles),
    tensors: weights.map(({ elements: _elements, ...tensor }) => tensor),
  };
}

function inspected({ name, type, shape, elements, bytes }: OnnxTensorOutline): InspectedTensor & { elements: number } {
  return { name, type: onnxTypeName(type), shape, elements, bytes };
}

function countOperators({ graph, functions }: OnnxOutline): OperatorCount[] {
  const own = new Set(functions.map(({ domain, name }) => `${domain}:${name}`));
  const counts = new Map<string, OperatorCount>();
  for (const { domain, name, count } of [...graph.operators, ...functions.flatMap(({ operators }) => operators)]) {
    const key = `${domain}:${name}`;
    const total = count + (counts.get(key)?.count ?? 0);
    counts.set(key, { domain, name, count: total, ...(own.has(key) ? { local: true } : {}) });
  }
  return [...counts.values()].sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
}

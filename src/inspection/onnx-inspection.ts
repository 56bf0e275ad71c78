/** Inspects ONNX files. */
import type { OnnxOperatorUse } from "../formats/onnx/onnx-graph.ts";
import { type OnnxOutline, readOnnxOutline } from "../formats/onnx/onnx-outline.ts";
import type { OnnxTensorOutline } from "../formats/onnx/onnx-tensor.ts";
import { onnxTypeName } from "../formats/onnx/onnx-types.ts";
import type { OnnxValue } from "../formats/onnx/onnx-value.ts";
import { type ExternalFile, findExternalFiles } from "./external-files.ts";
import { type BackendVerdict, type InspectedTensor, type InspectedText, type TypeCount, countTypes } from "./inspection.ts";
import { inspectedText, computeSum } from "./inspection.ts";

/** The content of an ONNX file without the elements of its tensors. */
export interface OnnxInspection {
  readonly format: "onnx";
  /** Path as the user wrote it. */
  readonly path: string;
  /** Bytes of the file, without files with external data. */
  readonly bytes: number;
  /** Version of the ONNX file format. */
  readonly irVersion: number;
  /** Program that wrote the file, with its version. */
  readonly producer?: string;
  /** Versions of the operator sets, by domain. */
  readonly opsets: Readonly<Record<string, number>>;
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
  /** Number of nodes of the graph and its subgraphs. */
  readonly nodes: number;
  /** Operators by number of uses, the most used first. Uses in the body of a function count once. */
  readonly operators: readonly OperatorCount[];
  /** Number of elements of the weights. */
  readonly parameters: number;
  /** Weights by type. */
  readonly types: readonly TypeCount[];
  /** Tensors in attributes of nodes, by type. Some exporters store weights there. */
  readonly constants: readonly TypeCount[];
  readonly externalFiles: readonly ExternalFile[];
  readonly metadata: Readonly<Record<string, InspectedText>>;
  readonly backends: readonly BackendVerdict[];
  /** The weights. */
  readonly tensors: readonly InspectedTensor[];
}

/** An ONNX operator with the number of nodes that use it. */
export interface OperatorCount extends OnnxOperatorUse {
  /** Set if it is a function that the file defines. */
  readonly local?: true;
}

/**
 * Inspects the ONNX file at `path`; `displayName` is the path as the user wrote it, `bytes` its size. `verdicts` is called with the outline and the files with external data.
 * Throws as `readOnnxOutline` does.
 */
export async function inspectOnnxFile(
  path: string,
  displayName: string,
  bytes: number,
  verdicts: (outline: OnnxOutline, externalFiles: readonly ExternalFile[]) => readonly BackendVerdict[],
): Promise<OnnxInspection> {
  const outline = await readOnnxOutline(path, displayName);
  const externalFiles = await findExternalFiles(outline, path, displayName);
  const { graph } = outline;
  const weights = graph.initializers.map(inspected);
  const producer = [outline.producer, outline.producerVersion].filter((part) => part !== "").join(" ");
  return {
    format: "onnx",
    path: displayName,
    bytes,
    irVersion: outline.irVersion,
    ...(producer === "" ? {} : { producer }),
    opsets: Object.fromEntries(outline.opsets),
    inputs: graph.inputs,
    outputs: graph.outputs,
    nodes: graph.nodes,
    operators: countOperators(outline),
    parameters: computeSum(weights, ({ elements }) => elements),
    types: countTypes(weights),
    constants: countTypes(graph.constants.map(inspected)),
    externalFiles,
    metadata: Object.fromEntries(
      [...outline.metadata].map(([key, value]) => [key, { ...inspectedText(value.value), bytes: value.bytes }]),
    ),
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

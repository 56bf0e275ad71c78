/**
 * Facts about an ONNX file that are needed before loading: its inputs and outputs, the precision of its weights, and the files with external data.
 */
import type { Precision } from "../../contract/backend.ts";
import { getExternalFiles } from "../../formats/onnx/external-files.ts";
import type { GraphSignature } from "../../formats/onnx/onnx-graph.ts";
import { readOnnxOutline } from "../../formats/onnx/onnx-outline.ts";
import { onnxType } from "../../formats/onnx/onnx-types.ts";

/** The precision of an ONNX file's weights, the files with external weight data, and the inputs and outputs of its graph. */
export interface OnnxWeights {
  /** Precision of the type that most bytes of the weights have. Absent for graphs without weights and for types without a precision. */
  readonly precision?: Precision;
  /** Files with external data, by their path as the graph names it, with the smallest size in bytes that each must have. */
  readonly externalFiles: ReadonlyMap<string, number>;
  readonly signature: GraphSignature;
}

/**
 * Reads the header of the ONNX file at `path`; `displayName` is the path as the user wrote it. Throws MODEL_INVALID if the file cannot
 * be read, is damaged, or is not an ONNX file, and MODEL_UNSUPPORTED if its header is larger than any known one.
 */
export async function readOnnxWeights(path: string, displayName: string): Promise<OnnxWeights> {
  const outline = await readOnnxOutline(path, displayName);
  const bytes = new Map<Precision, number>();
  for (const tensor of outline.graph.initializers) {
    const precision = onnxType(tensor.type)?.precision;
    if (precision !== undefined) bytes.set(precision, (bytes.get(precision) ?? 0) + tensor.bytes);
  }
  const [mostFrequent] = [...bytes].sort(([, a], [, b]) => b - a);
  const { inputs, outputs } = outline.graph;
  const found = { externalFiles: getExternalFiles(outline), signature: { inputs, outputs } };
  return { ...found, ...(mostFrequent === undefined ? {} : { precision: mostFrequent[0] }) };
}

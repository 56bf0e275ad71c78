/** What loading needs of an ONNX file: the precision most of its weights' bytes have, and the files beside it that hold them. */
import type { Precision } from "../../backend.ts";
import { readOnnxOutline } from "../../formats/onnx/onnx-outline.ts";
import type { OnnxOutline } from "../../formats/onnx/onnx-outline.ts";
import { onnxType } from "../../formats/onnx/onnx-types.ts";

export interface OnnxWeights {
  /** Left out for graphs without weights, or of types that have no name here. */
  readonly precision?: Precision;
  /** Files with weights, as the graph names them, and how long each must be at least. */
  readonly externalFiles: ReadonlyMap<string, number>;
}

/** Reads the outline of the file; MODEL_INVALID when it is cut off, damaged or no ONNX file. */
export async function readOnnxWeights(path: string, shown: string): Promise<OnnxWeights> {
  const outline = await readOnnxOutline(path, shown);
  const bytes = new Map<Precision, number>();
  for (const tensor of outline.graph.initializers) {
    const precision = onnxType(tensor.type)?.precision;
    if (precision !== undefined) bytes.set(precision, (bytes.get(precision) ?? 0) + tensor.bytes);
  }
  const [most] = [...bytes].sort(([, a], [, b]) => b - a);
  return { externalFiles: externalFilesOf(outline), ...(most === undefined ? {} : { precision: most[0] }) };
}

/** Files beside the graph that hold its tensors, and how long each must be at least. */
export function externalFilesOf({ graph }: OnnxOutline): ReadonlyMap<string, number> {
  const files = new Map<string, number>();
  for (const { external } of [...graph.initializers, ...graph.constants]) {
    if (external === undefined) continue;
    files.set(external.location, Math.max(external.end, files.get(external.location) ?? 0));
  }
  return files;
}

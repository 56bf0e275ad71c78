/** The files beside an ONNX file that hold data of its tensors. */
import type { OnnxOutline } from "./onnx-outline.ts";

/**
 * The files that hold external data of an ONNX graph: paths as the graph names them, with the smallest size in bytes that each
 * must have.
 */
export function getExternalFiles({ graph }: OnnxOutline): ReadonlyMap<string, number> {
  const files = new Map<string, number>();
  for (const { external } of [...graph.initializers, ...graph.constants]) {
    if (external === undefined) continue;
    files.set(external.location, Math.max(external.end, files.get(external.location) ?? 0));
  }
  return files;
}

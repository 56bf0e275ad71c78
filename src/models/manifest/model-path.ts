/** By which files a path is recognized as that of a model, without reading any. */
import { isPackage } from "../aimod/package-name.ts";
import { formatOf } from "./weights.ts";

/** Files by which a folder is recognized as that of a model. */
export const modelFolderMarkers: readonly string[] = [
  "inferyard.json",
  "config.json",
  "modules.json",
  "tokenizer.json",
  "genai_config.json",
];

/** Whether a file is named like weights or a package. */
export function isModelFile(path: string): boolean {
  return formatOf(path) !== undefined || isPackage(path);
}

/** Whether a folder with these entries is that of a model: it has a marker beside weights, or their folder. */
export function isModelFolder(entries: readonly string[]): boolean {
  const hasWeights = entries.some((name) => isModelFile(name) || name === "onnx");
  return hasWeights && entries.some((name) => modelFolderMarkers.includes(name) || isModelFile(name));
}

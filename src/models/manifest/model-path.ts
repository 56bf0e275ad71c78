/** Recognizes the path of a model by the names of files, without reading any. */
import { isPackage } from "../aimod/package-name.ts";
import { getFormat } from "./weights.ts";

/** Names of files by which a model's folder is recognized. */
export const modelFolderMarkers: readonly string[] = [
  "inferyard.json",
  "config.json",
  "modules.json",
  "tokenizer.json",
  "genai_config.json",
];

/** Whether a file is named like weights or a package. */
export function isModelFile(path: string): boolean {
  return getFormat(path) !== undefined || isPackage(path);
}

/** Whether a folder with these entries holds a model: it has one of these files, and weights or a folder of weights. */
export function isModelFolder(entries: readonly string[]): boolean {
  const hasWeights = entries.some((name) => isModelFile(name) || name === "onnx");
  return hasWeights && entries.some((name) => modelFolderMarkers.includes(name) || isModelFile(name));
}

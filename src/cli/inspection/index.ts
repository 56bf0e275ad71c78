/** Output of `inspect`. */
import type { Inspection, ModelInspection } from "../../inspection/index.ts";
import { ggufHeadline, ggufSections } from "./gguf.ts";
import { onnxHeadline, onnxSections } from "./onnx.ts";
import { safetensorsHeadline, safetensorsSections } from "./safetensors.ts";
import { tensorsSection } from "./sections.ts";

/** Tables that describe each file. `tensors`: whether to list every tensor. */
export function formatInspection({ files }: ModelInspection, tensors: boolean): string {
  return files
    .map((file) => [headline(file), ...sections(file), ...(tensors ? tensorsSection(file.tensors) : [])].join("\n"))
    .join("\n\n");
}

function headline(file: Inspection): string {
  return [file.path, ...headlineParts(file)].join("   ");
}

function headlineParts(file: Inspection): string[] {
  switch (file.format) {
    case "onnx":
      return onnxHeadline(file);
    case "gguf":
      return ggufHeadline(file);
    case "safetensors":
      return safetensorsHeadline(file);
    default:
      return file satisfies never;
  }
}

function sections(file: Inspection): string[] {
  switch (file.format) {
    case "onnx":
      return onnxSections(file);
    case "gguf":
      return ggufSections(file);
    case "safetensors":
      return safetensorsSections(file);
    default:
      return file satisfies never;
  }
}

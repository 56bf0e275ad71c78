/** Output of `inspect` for safetensors files. */
import { printable } from "../output/table.ts";
import type { SafetensorsInspection } from "../../inspection/index.ts";
import { formatBytes } from "../output/units.ts";
import { backendsSection, countOf, section, typesSection } from "./sections.ts";

/** Parts of the first line. */
export function safetensorsHeadline({ architecture, bytes, parameters }: SafetensorsInspection): string[] {
  const name = architecture === undefined ? [] : [printable(architecture)];
  return ["safetensors", ...name, formatBytes(bytes), countOf(parameters, "parameter")];
}

/** The tables below it. */
export function safetensorsSections({ types, metadata, backends }: SafetensorsInspection): string[] {
  return [
    ...typesSection("weights", types),
    ...section(
      "metadata",
      Object.entries(metadata).map(([key, text]) => [printable(key), printable(text.value, 80)]),
    ),
    ...backendsSection(backends),
  ];
}

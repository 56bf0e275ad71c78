/** Output of `inspect` for safetensors files. */
import { printable } from "../output/table.ts";
import type { SafetensorsInspection } from "../../inspection/index.ts";
import { formatBytes } from "../output/units.ts";
import { backendsSection, formatAmount, section, typesSection } from "./sections.ts";

/** The parts of the first line that `inferyard inspect` prints for a safetensors file. */
export function safetensorsHeadline({ architecture, bytes, parameters }: SafetensorsInspection): string[] {
  const name = architecture === undefined ? [] : [printable(architecture)];
  return ["safetensors", ...name, formatBytes(bytes), formatAmount(parameters, "parameter")];
}

/** The tables that `inferyard inspect` prints below the first line for a safetensors file; one text per table. */
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

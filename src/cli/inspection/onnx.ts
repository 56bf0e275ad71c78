/** Output of `inspect` for ONNX files. */
import { printable } from "../output/table.ts";
import type { OnnxInspection } from "../../inspection/index.ts";
import { formatBytes } from "../output/units.ts";
import { backendsSection, formatAmount, formatCount, formatShape, section, typesSection } from "./sections.ts";

/** The parts of the first line that `inferyard inspect` prints for an ONNX file: producer, size, parameters. */
export function onnxHeadline({ bytes, externalFiles, parameters, producer }: OnnxInspection): string[] {
  const beside = externalFiles.reduce((sum, file) => sum + (file.bytes ?? 0), 0);
  return [
    "onnx",
    beside > 0 ? `${formatBytes(bytes)} and ${formatBytes(beside)} beside it` : formatBytes(bytes),
    formatAmount(parameters, "parameter"),
    ...(producer === undefined ? [] : [printable(producer)]),
  ];
}

/** The tables that `inferyard inspect` prints below the first line for an ONNX file; one text per table. */
export function onnxSections(inspection: OnnxInspection): string[] {
  const { irVersion, opsets, inputs, outputs, operators, nodes, types, constants, externalFiles, metadata } = inspection;
  const value = ({ name, type, shape }: (typeof inputs)[number]): string[] => [
    printable(name),
    type,
    ...(shape === undefined ? [] : [formatShape(shape)]),
  ];
  const sets = Object.entries(opsets).map(([domain, version]) => `${printable(domain)} ${version}`);
  const used = operators.map(({ domain, name, count, local }) => [
    domain === "ai.onnx" ? printable(name) : `${printable(domain)}:${printable(name)}`,
    formatCount(count),
    ...(local === true ? ["a function of the file itself"] : []),
  ]);
  const beside = externalFiles.map(({ name, state, bytes, neededBytes }) => [
    printable(name),
    state,
    bytes === undefined ? `needs ${formatBytes(neededBytes)}` : formatBytes(bytes),
  ]);
  return [
    ...section("inputs", inputs.map(value)),
    ...section("outputs", outputs.map(value)),
    ...typesSection("weights", types),
    ...typesSection("constants in nodes", constants),
    ...section("files beside it", beside),
    ...section(`${formatAmount(nodes, "node")}   ${sets.join(", ")}   IR version ${irVersion}`, used, ["operator", "nodes"]),
    ...section(
      "metadata",
      Object.entries(metadata).map(([key, text]) => [printable(key), printable(text.value, 80)]),
    ),
    ...backendsSection(inspection.backends),
  ];
}

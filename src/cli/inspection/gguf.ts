/** Output of `inspect` for GGUF files. */
import { printable } from "../output/table.ts";
import type { GgufInspection } from "../../inspection/index.ts";
import { formatBytes, shortFloat } from "../output/units.ts";
import { backendsSection, formatAmount, formatCount, section, typesSection } from "./sections.ts";

/** The parts of the first line that `inferyard inspect` prints for a GGUF file: architecture, size, parameters. */
export function ggufHeadline(inspection: GgufInspection): string[] {
  const { architecture, bytes, parameters, quantization } = inspection;
  return [
    "gguf",
    ...(architecture === undefined ? [] : [printable(architecture)]),
    ...(quantization === undefined ? [] : [quantization.stated ?? quantization.majority]),
    formatBytes(bytes),
    formatAmount(parameters, "parameter"),
  ];
}

/** The tables that `inferyard inspect` prints below the first line for a GGUF file; one text per table. */
export function ggufSections(inspection: GgufInspection): string[] {
  return [
    ...section("model", facts(inspection)),
    ...typesSection("weights", inspection.types),
    ...section(
      "metadata",
      inspection.metadata.map((entry) => [printable(entry.key), ...valueWords(entry)]),
    ),
    ...backendsSection(inspection.backends),
  ];
}

function facts(inspection: GgufInspection): string[][] {
  const { version, byteOrder, alignment, name, split, quantization, contextLength, tensors } = inspection;
  const rows: [string, string | undefined][] = [
    ["name", name === undefined ? undefined : printable(name)],
    ["file", `GGUF version ${version}, ${byteOrder}, aligned to ${alignment} bytes, ${formatAmount(tensors.length, "tensor")}`],
    ["part", split === undefined ? undefined : `${split.part} of ${split.of}: the figures are of this part alone`],
    ["quantization", quantization === undefined ? undefined : quantizationWords(quantization)],
    ["tokenizer", tokenizerWords(inspection)],
    ["context", contextLength === undefined ? undefined : formatAmount(contextLength, "token")],
    ...memoryRows(inspection),
  ];
  return rows.flatMap(([label, words]) => (words === undefined ? [] : [[label, words]]));
}

function quantizationWords({ stated, majority, bitsPerParameter }: NonNullable<GgufInspection["quantization"]>): string {
  const said = stated === undefined ? "the file names none" : `the file says ${stated}`;
  return `${said}; most parameters are ${majority}, ${bitsPerParameter} bits each on average`;
}

function tokenizerWords({ tokenizer }: GgufInspection): string {
  if (tokenizer === undefined) return "none in the file";
  const { model, pretokenizer, vocabulary, hasChatTemplate } = tokenizer;
  return [
    printable(model, 30),
    ...(pretokenizer === undefined ? [] : [`split as ${printable(pretokenizer, 30)}`]),
    ...(vocabulary === undefined ? [] : [formatAmount(vocabulary, "token")]),
    hasChatTemplate ? "with a chat template" : "no chat template",
  ].join(", ");
}

function memoryRows({ memory, memoryUnknown }: GgufInspection): [string, string][] {
  if (memory === undefined) return memoryUnknown === undefined ? [] : [["memory", `not estimated: ${memoryUnknown}`]];
  const { context, weightBytes, cacheBytes, totalBytes, formula, note } = memory;
  const words = `${formatBytes(totalBytes)} for ${formatAmount(context, "token")}`;
  return [
    [
      "memory",
      `${words}: ${formatBytes(weightBytes)} weights and ${formatBytes(cacheBytes)} keys and values, before what computing needs`,
    ],
    ["", `keys and values: ${formula}${note === undefined ? "" : `; ${note}`}`],
  ];
}

/** A scalar as it is; an array as its first elements and its length. */
function valueWords({ type, value, items, length }: GgufInspection["metadata"][number]): string[] {
  if (items === undefined) return [printable(String(type === "float32" ? shortFloat(Number(value)) : value), 80)];
  const shown = items.map((item) => printable(typeof item === "object" ? `${item.length} of ${item.of}` : String(item), 20));
  const more = (length ?? 0) > items.length ? ", …" : "";
  return [`[${shown.join(", ")}${more}]  ${formatCount(length ?? 0)} in all`];
}

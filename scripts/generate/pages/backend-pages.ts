/** docs/reference/backends/, one page for each backend, made from what it declares and from `backend-texts.ts`. `npm run schemas` writes them. */
import type { Backend, Capabilities, Requirement } from "../../../src/contract/backend.ts";
import { standardBackends } from "../../../src/composition/node/standard-backends.ts";
import { type BackendText, backendTexts } from "./backend-texts.ts";

/** The folder of the pages. */
export const backendsFolder: URL = new URL("../../../docs/reference/backends/", import.meta.url);

/** Types of devices, in the order of the tables. */
const deviceTypes = ["cpu", "cuda", "tensorrt", "rocm", "vulkan", "metal", "coreml", "directml", "webgpu", "tpu", "npu"];

/** The text of each page, by the name of its file. */
export function backendPages(): ReadonlyMap<string, string> {
  return new Map(
    standardBackends().map((backend) => {
      const text = backendTexts[backend.name];
      if (text === undefined) throw new Error(`backend-texts.ts has nothing on ${backend.name}`);
      return [`${backend.name}.md`, pageOf(backend, text)];
    }),
  );
}

function pageOf(backend: Backend, text: BackendText): string {
  const devices = deviceTypes.flatMap((type): [string, Capabilities][] => {
    const capabilities = backend.capabilities({ type, index: 0 });
    return formatsOf(capabilities).length === 0 ? [] : [[type, capabilities]];
  });
  const [first] = devices;
  if (first === undefined) throw new Error(`${backend.name} runs on no device`);
  const [, common] = first;
  return `# ${backend.name}

<!-- Written by \`npm run schemas\` from the backend's declarations and scripts/generate/pages/backend-texts.ts. -->

${text.summary}

## What it needs

${needs(backend.requires ?? [])}

| system | how it is installed |
|---|---|
${text.installation.map(([system, how]) => `| ${system} | ${how} |`).join("\n")}

\`inferyard backends\` says what of this is there; nothing runs for that.

## What it runs

| device | formats | precisions of weights |
|---|---|---|
${devices.map(([type, capabilities]) => `| \`${backend.name}:${type}\` | ${formatsOf(capabilities).join("; ")} | ${capabilities.precisions.join(", ")} |`).join("\n")}

Which of them are there, a probe of the machine and of the package or library tells. ${text.devices}

| | |
|---|---|
| [options of loading](../configuration.md) | ${code(common.options ?? [])} |
| precisions of caches of language models | ${common.cachePrecisions === undefined ? "that of the model" : code(common.cachePrecisions)} |
| where models live unless \`host\` says otherwise | ${hostOf(common)} |
| estimated memory of a model | ${footprintOf(common)} |
| weights packed while loading | ${packedOf(common)} |

An option that is not listed refuses the target, so that none is ignored; other devices than the first may lack one.

## What proves it

${text.proof}

Every load is verified: a probe input must give finite numbers, and known answers of the model must hold ([verifying](../../guide/verifying.md)).

## Example

${text.example}

More: ${text.links}.
`;
}

function needs(requirements: readonly Requirement[]): string {
  if (requirements.length === 0) return "Nothing: it is part of Inferyard.";
  return requirements
    .map(({ kind, name, range, install }) =>
      kind === "package"
        ? `- the package \`${name}\`${range === undefined ? "" : ` ${range}`}, which is optional: \`${install}\``
        : `- ${name}: ${install.startsWith("inferyard ") ? `\`${install}\`` : install}`,
    )
    .join("\n");
}

/** Formats with the number of architectures, for embeddings and other tensors, and for language models. */
function formatsOf({ models }: Capabilities): readonly string[] {
  return [...new Set(models.map(({ format }) => format))].map((format) => {
    const known = models.filter((each) => each.format === format);
    const architectures = new Set(known.flatMap((each) => each.architectures));
    if (!architectures.has("any")) return `${format} (${architectures.size} architectures)`;
    return `${format}${known.some(({ kind }) => kind === "tensor") ? "" : " (language models)"}`;
  });
}

function packedOf({ models }: Capabilities): string {
  const packing = models.find((each) => each.packing !== undefined)?.packing;
  return packing === undefined ? "none" : code(Object.keys(packing));
}

function hostOf({ models }: Capabilities): string {
  const places = new Set(models.map(({ runsIn = "thread" }) => runsIn));
  if (places.has("process")) return "a process of their own";
  return [...places].every((place) => place === "caller")
    ? "the calling thread"
    : "a worker thread; a process where memory is limited";
}

function footprintOf({ footprint }: Capabilities): string {
  if (footprint === undefined) return "its weights";
  return `${Math.round(footprint.bytes / 1e6)} MB and ${footprint.perWeightByte} times its weights`;
}

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");

/**
 * Writes src/kernels/decoder-answer-table.ts: for each type of quantized blocks the bytes of 256 elements, and a digest of the float32 values that gguf-py's
 * decoder gives for them, from ../shared/data/gguf-block-types.
 *
 *     npx tsx scripts/generate/decoder-answers.ts
 */
import { readFile, writeFile } from "node:fs/promises";
import { readGguf } from "../../src/formats/gguf/read-gguf.ts";
import { blockFormats } from "../../src/formats/gguf/blocks/index.ts";
import { digestOf } from "../../src/kernels/decoder-answers.ts";

const elements = 256;
/** The first row begins with zeros. */
const row = 1;
const folder = new URL("../../../shared/data/gguf-block-types/", import.meta.url);
const path = new URL("block-types.gguf", folder);
const [bytes, goldens, { tensors }] = await Promise.all([
  readFile(path),
  readFile(new URL("goldens.json", folder), "utf8"),
  readGguf(path.pathname, path.pathname),
]);
const { gguf_py: version, tensors: answers } = JSON.parse(goldens) as {
  gguf_py: string;
  tensors: readonly { type: string; tensor: string; dequantized: string }[];
};
const lines = answers.flatMap(({ type, tensor: name, dequantized }): string[] => {
  const [format, tensor] = [blockFormats[type], tensors.find((each) => each.name === name)];
  if (format === undefined || tensor === undefined) return [];
  const blockBytes = (elements / format.elements) * format.bytes;
  const start = tensor.start + row * blockBytes;
  const blocks = bytes.subarray(start, start + blockBytes);
  const valueBytes = elements * Float32Array.BYTES_PER_ELEMENT;
  const values = Buffer.from(dequantized, "base64").subarray(row * valueBytes, (row + 1) * valueBytes);
  return [`  ${type}: { blocks: ${JSON.stringify(blocks.toString("base64"))}, digest: ${digestOf(values)} },`];
});
const text = `/** Made by scripts/generate/decoder-answers.ts from values of gguf-py ${version}; not to be edited. */

/** By type: blocks of ${elements} elements, in base64, and the digest of their values (see \`digestOf\`). */
export const decoderAnswerTable: Readonly<Record<string, { readonly blocks: string; readonly digest: number }>> = {
${lines.join("\n")}
};
`;
await writeFile(new URL("../../src/kernels/decoder-answer-table.ts", import.meta.url), text);

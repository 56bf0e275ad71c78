// What a plain loop does with a part of the rows: reads, embeds 512 at a time, writes. Arguments: input, output, part, parts, how numbers are written.
import { createReadStream, createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { once } from "node:events";
import { createRuntime } from "../../dist/index.js";
import { floatsToJson } from "../../src/jobs/rows/float-text.ts";

const [input, output, part, parts, writing] = process.argv.slice(2);
const write = writing === "short" ? floatsToJson : (vector) => JSON.stringify(Array.from(vector));
const runtime = await createRuntime();
const out = createWriteStream(output);
let rows = [];
const flush = async () => {
  const { embeddings } = await runtime.embed(rows.map(({ input: text }) => text));
  const lines = rows.map(({ id }, index) => `{"id":${JSON.stringify(id)},"result":${write(embeddings[index])}}\n`);
  if (!out.write(lines.join(""))) await once(out, "drain");
  rows = [];
};
let number = 0;
for await (const line of createInterface({ input: createReadStream(input) })) {
  if (Math.floor(number++ / 512) % Number(parts) !== Number(part)) continue;
  rows.push(JSON.parse(line));
  if (rows.length === 512) await flush();
}
if (rows.length > 0) await flush();
out.end();
await once(out, "close");
await runtime.dispose();

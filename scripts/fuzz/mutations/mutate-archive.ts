/** Mutations of .aimod packages (gzip of a tar archive): of an entry's header, its content, the order of entries, or the bytes of either layer. */
import { gunzipSync, gzipSync } from "node:zlib";
import { mutateBytes } from "./mutate-bytes.ts";
import { mutateJsonText } from "./mutate-json.ts";
import { extremeIntegers } from "../random.ts";
import type { Mutation } from "../target.ts";

const block = 512;

interface Entry {
  readonly header: Buffer;
  readonly content: Uint8Array;
}

export function mutateArchive(input: Uint8Array, mutation: Mutation): Uint8Array {
  const { random } = mutation;
  const tar = unzipped(input);
  if (tar === undefined || random.oneIn(16)) return mutateBytes(input, mutation);
  const entries = entriesOf(tar);
  if (entries.length === 0 || random.oneIn(8)) return packed(mutateBytes(tar, { ...mutation, other: tar }));
  for (let count = 1 + random.below(3); count > 0; count -= 1) change(entries, mutation);
  return packed(tarOf(entries, !random.oneIn(16)));
}

function change(entries: Entry[], mutation: Mutation): void {
  const { random } = mutation;
  const index = random.below(entries.length);
  const entry = entries[index];
  if (entry === undefined) return;
  const kind = random.below(6);
  if (kind === 0) entries.splice(index, 1);
  else if (kind === 1) entries.splice(random.below(entries.length), 0, entry);
  else if (kind === 2) entries[index] = { ...entry, content: mutateBytes(entry.content, mutation) };
  else if (kind === 3) {
    const first = entries.findIndex(({ content }) => content[0] === 0x7b);
    if (first >= 0) entries[first] = { ...entries[first]!, content: mutateJsonText(entries[first]!.content, mutation) };
  } else entries[index] = { ...entry, header: changedHeader(entry.header, mutation) };
}

const names = [
  "../a",
  "/etc/a",
  "a/../../b",
  "C:\\a",
  "a\\b",
  "metadata.json",
  "METADATA.JSON",
  "a/",
  "./a",
  "",
  "a".repeat(300),
  "nul",
  "e\u0301",
  "\u00e9",
];
const types = ["0", "\0", "1", "2", "3", "4", "5", "6", "7", "g", "x", "L", "K", "S", "D", "M", "N", "V", "Z"];

/** Offsets of the ustar header: name 0, mode 100, size 124, type 156, link 157, prefix 345. */
function changedHeader(header: Buffer, { random }: Mutation): Buffer {
  const changed = Buffer.from(header);
  const kind = random.below(5);
  if (kind === 0) changed.fill(0, 0, 100).write(random.pick(names), 0, 100);
  else if (kind === 1) changed.write(random.pick(types), 156, 1, "latin1");
  else if (kind === 2) changed.write(`${random.pick(extremeIntegers).toString(8).slice(0, 11)}\0`, 124, 12, "latin1");
  else if (kind === 3) changed.write(random.pick(names), random.oneIn(2) ? 157 : 345, 100);
  else changed[random.below(block)] = random.below(256);
  return changed;
}

function unzipped(bytes: Uint8Array): Buffer | undefined {
  try {
    return gunzipSync(bytes, { maxOutputLength: 2 ** 20 });
  } catch {
    return undefined;
  }
}

function packed(tar: Uint8Array): Uint8Array {
  return gzipSync(tar, { level: 1 });
}

function entriesOf(tar: Buffer): Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; at + block <= tar.length && tar[at] !== 0;) {
    const header = tar.subarray(at, at + block);
    const size = Number.parseInt(header.toString("latin1", 124, 135), 8) || 0;
    entries.push({ header, content: tar.subarray(at + block, at + block + size) });
    at += block + Math.ceil(size / block) * block;
  }
  return entries;
}

/** The checksum is made right: else every change ends at it. The size of a content that changed is made right too. */
export function tarOf(entries: readonly Entry[], ended: boolean): Buffer {
  const parts = entries.flatMap(({ header, content }) => {
    const own = Buffer.from(header);
    const stated = Number.parseInt(own.toString("latin1", 124, 135), 8) || 0;
    if (Math.abs(stated - content.length) < 4096)
      own.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124, 12, "latin1");
    own.write("        ", 148, 8, "latin1");
    const sum = own.reduce((total, byte) => total + byte, 0);
    own.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, 8, "latin1");
    return [own, content, Buffer.alloc((block - (content.length % block)) % block)];
  });
  return Buffer.concat([...parts, Buffer.alloc(ended ? 2 * block : 0)]);
}

export function entryOf(name: string, content: Uint8Array, type = "0"): Entry {
  const header = Buffer.alloc(block);
  header.write(name, 0, 100);
  header.write("0000644\x000000000\x000000000\x00", 100, 24, "latin1");
  header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124, 12, "latin1");
  header.write("00000000000\x00", 136, 12, "latin1");
  header.write(`${type}\0`, 156, 1, "latin1");
  header.write("ustar\x0000", 257, 8, "latin1");
  return { header, content };
}

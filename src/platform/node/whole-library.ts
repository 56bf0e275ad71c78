/**
 * Whether native libraries are whole, by the segments that their headers state. The loader maps segments without a look at the size of the file: a
 * process that loads a library which is cut off, by a full disk or an interrupted copy, is ended by SIGBUS.
 */
import { closeSync, constants, fstatSync, openSync, readSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Offsets in an ELF file of 64 bits and in its segment table (System V ABI, chapters 4 and 5). */
const header = { bytes: 64, wordClass: 4, byteOrder: 5, tableAt: 32, entryBytes: 54, entryCount: 56 } as const;
const segment = { bytes: 56, type: 0, offset: 8, fileBytes: 32, load: 1 } as const;
/** Segment tables are shorter: each library has about ten segments. */
const maxTableBytes = 65_536;

/** A sentence without a full stop about the first library of the folder that is not whole; undefined if all are. Files that are no ELF files of 64 bits count as whole. */
export function findCutOffLibrary(folder: string): string | undefined {
  for (const name of readdirSync(folder)) {
    if (!/\.(?:node|so)(?:\.\d+)*$/.test(name)) continue;
    const problem = getProblem(join(folder, name));
    if (problem !== undefined) return `${name} ${problem}`;
  }
  return undefined;
}

function getProblem(path: string): string | undefined {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const { size } = fstatSync(file);
    const start = Buffer.alloc(header.bytes);
    readSync(file, start, 0, header.bytes, 0);
    if (size < header.bytes) return `has ${size} bytes, and is no library`;
    const isElf = start.toString("latin1", 0, 4) === "\u007FELF";
    if (!isElf || start[header.wordClass] !== 2 || start[header.byteOrder] !== 1) return undefined;
    const tableAt = Number(start.readBigUInt64LE(header.tableAt));
    const count = start.readUInt16LE(header.entryCount);
    const table = Buffer.alloc(Math.min(count * segment.bytes, maxTableBytes));
    const read = readSync(file, table, 0, table.length, tableAt);
    for (let at = 0; at + segment.bytes <= read; at += segment.bytes) {
      if (table.readUInt32LE(at + segment.type) !== segment.load) continue;
      const end = Number(table.readBigUInt64LE(at + segment.offset) + table.readBigUInt64LE(at + segment.fileBytes));
      if (end > size) return `is cut off: it has ${size} bytes, and should have at least ${end}`;
    }
    return read < table.length ? `is cut off: it has ${size} bytes, and its table of segments ends behind them` : undefined;
  } finally {
    closeSync(file);
  }
}

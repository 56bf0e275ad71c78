/**
 * Machine code on disk: objects that one process linked, for the processes after it. Files are checked as `CodeFolder` says, and only this user or the administrator
 * may have written them. What is read is installed from a private copy, as what is generated.
 */
import { join } from "node:path";
import type { MachineArgument, MachineCodeCache, MachineObject } from "../../../engine/codegen/x64/index.ts";
import { InferyardError } from "../../../contract/errors.ts";
import type { X64Level } from "../../../kernels/simd-levels.ts";
import type { CodeFormat } from "../../../storage/code-cache/code-file.ts";
import { CodeFolder } from "../../../storage/code-cache/code-folder.ts";
import { dataFolder } from "../../../storage/data-folder.ts";
import { toSha256 } from "../../../storage/sha256.ts";

/** The variable that turns the cache of the whole process off. */
const variable = "INFERYARD_MACHINE_CODE_CACHE";

/** Bytes of all objects. The objects of one model take 0.1 to 1 MB. */
const maxBytes = 128 * 1024 ** 2;

/** Description of an object, for whoever looks into the folder. */
interface ObjectDescription {
  readonly level: string;
  /** Number of kernels. */
  readonly kernels: number;
  /** Time at which it was generated, ISO 8601 in UTC. */
  readonly generated: string;
}

const format: CodeFormat<ObjectDescription> = {
  magic: "IYKERNEL",
  version: 1,
  extension: "kernels",
  parseDescription(value) {
    const { level, kernels, generated } = value as Partial<Record<keyof ObjectDescription, unknown>>;
    const isWhole = typeof level === "string" && typeof kernels === "number" && typeof generated === "string";
    return isWhole ? { level, kernels, generated } : undefined;
  },
};

/** The folder of machine code of this user. */
export type ObjectFolder = CodeFolder<ObjectDescription>;

/** Opens or creates the folder. Undefined where the variable turns it off. Throws CONFIG_INVALID for another value of the variable. */
export async function openObjectFolder(path: string = join(dataFolder(), "machine-code")): Promise<ObjectFolder | undefined> {
  const value = process.env[variable] ?? "";
  if (value === "off") return undefined;
  if (value !== "") throw new InferyardError("CONFIG_INVALID", `${variable} is "${value}", and may be off`);
  return await CodeFolder.open(format, { path, maxBytes, setting: variable });
}

/** A kernel in a file: its number among those that the object was generated for, and the other members of `LinkedKernel`. */
type StoredKernel = readonly [index: number, level: X64Level, list: readonly MachineArgument[], callback: number];

/** Before the object: the bytes of the table of kernels, a uint32 in little-endian order. */
const lengthBytes = 4;

/** The objects of code with one identity. `identity`: all that generated code depends on, beside the keys of the kernels. */
export function createObjectCache(
  folder: ObjectFolder,
  identity: Readonly<Record<string, string>>,
  level: X64Level,
): MachineCodeCache {
  const getKey = (keys: readonly string[]): string => toSha256(JSON.stringify([identity, level, keys]));
  return {
    get problem() {
      return folder.problem;
    },
    read: (keys) => folder.load(getKey(keys), ({ executable }) => decodeObject(executable, keys)),
    write(keys, object) {
      const description = { level, kernels: object.kernels.length, generated: new Date().toISOString() };
      folder.write({ key: getKey(keys), description, executable: encodeObject(object, keys) });
    },
  };
}

function encodeObject({ bytes, kernels }: MachineObject, keys: readonly string[]): Uint8Array {
  const table = kernels.map((kernel): StoredKernel => [
    keys.indexOf(kernel.key),
    kernel.level,
    kernel.arguments,
    kernel.callback,
  ]);
  const text = Buffer.from(JSON.stringify(table));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32LE(text.length);
  return Buffer.concat([length, text, bytes]);
}

/** Throws where the bytes, whose digest is right, are not what `encodeObject` makes for these keys. */
function decodeObject(bytes: Uint8Array, keys: readonly string[]): MachineObject {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = lengthBytes + view.readUInt32LE();
  const table = JSON.parse(view.toString("utf8", lengthBytes, end)) as readonly StoredKernel[];
  return {
    bytes: Uint8Array.from(view.subarray(end)),
    kernels: table.map(([index, level, list, callback]) => {
      const key = keys[index];
      if (key === undefined)
        throw new InferyardError("CONTRACT_VIOLATION", "the object has a kernel that it was not generated for");
      return { key, level, arguments: list, callback };
    }),
  };
}

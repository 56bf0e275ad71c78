/** Identifies the processor for results that must not be taken from one to another. Synchronous and cheap, unlike `readCpu`. */
import { closeSync, openSync, readSync } from "node:fs";
import { cpus, release } from "node:os";

/** The fields of /proc/cpuinfo that are the same at every read: x86-64, then arm64, then others. */
const fields =
  /^(vendor_id|cpu family|model|model name|stepping|microcode|flags|CPU (?:implementer|architecture|variant|part|revision)|Features|isa|uarch)\s*:\s*(.*)$/gm;
/** The description of one processor takes about 1.5 KB. */
const readBytes = 8192;

/**
 * Text that differs between processors of different kind, revision, microcode or instruction sets. On Linux from the first processor in /proc/cpuinfo;
 * elsewhere the model name and the release of the operating system, which includes microcode.
 */
export function processorIdentity(readStart: () => string | undefined = startOfCpuInfo): string {
  const [first = ""] = (readStart() ?? "").split("\n\n");
  const known = [...first.matchAll(fields)].map(([, name, value]) => `${name}: ${value}`);
  return (known.length > 0 ? known : [cpus()[0]?.model ?? "", release()]).join("\n");
}

function startOfCpuInfo(): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const file = openSync("/proc/cpuinfo", "r"); // not read whole: with hundreds of processors that takes milliseconds
    try {
      const bytes = Buffer.alloc(readBytes);
      return bytes.toString("utf8", 0, readSync(file, bytes, 0, readBytes, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

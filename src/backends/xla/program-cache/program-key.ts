/** Keys of compiled programs: digests of all that machine code depends on. */
import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import { stat } from "node:fs/promises";
import { processorIdentity } from "../../../devices/cpu/processor-identity.ts";
import type { PjrtClient } from "../pjrt/client.ts";
import type { PjrtPlugin } from "../pjrt/plugin.ts";

/** Facts that the code of all programs of one client depends on. Plugins name themselves only "cpu" or "cuda", and do not state their build. */
export interface CompilationTarget {
  /** Path, bytes and modification time in milliseconds of the plugin's file; not a digest of its content, which has hundreds of megabytes. */
  readonly plugin: { readonly path: string; readonly bytes: number; readonly modified: number };
  readonly apiVersion: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly platform: string;
  readonly platformVersion: string;
  /** Kind of the device, such as "NVIDIA H200". */
  readonly deviceKind: string;
  /**
   * The processor with its instruction sets: programs for CPUs use the instructions of the machine that compiled them, and programs for GPUs have parts for the
   * CPU.
   */
  readonly processor: string;
  /** Threads of the machine and of the client: XLA divides work among them when it compiles for CPUs. */
  readonly threads: readonly [machine: number, client: string];
  /** Value of the variable XLA_FLAGS, which changes what the compiler does. */
  readonly flags: string;
}

/** The target of a client of the plugin at a path. `threads`: threads that the client was given. Throws errors of the file system. */
export async function compilationTarget(
  path: string,
  { plugin, client }: { readonly plugin: PjrtPlugin; readonly client: PjrtClient },
  threads: number | undefined,
): Promise<CompilationTarget> {
  const { size, mtimeMs } = await stat(path);
  return {
    plugin: { path, bytes: size, modified: mtimeMs },
    apiVersion: plugin.apiVersion,
    attributes: plugin.attributes(),
    platform: client.platform,
    platformVersion: client.platformVersion,
    deviceKind: client.deviceKind,
    processor: processorIdentity(),
    threads: [availableParallelism(), String(threads ?? process.env["NPROC"] ?? "")],
    flags: process.env["XLA_FLAGS"] ?? "",
  };
}

/** Hexadecimal SHA-256 of a target, the options of the compilation, and the text of the program. */
export function programKey(target: CompilationTarget, options: Uint8Array, text: string): string {
  // The lengths keep a part from being read as the end of the part before it.
  const parts = [Buffer.from(JSON.stringify(target)), options, Buffer.from(text)];
  const hash = createHash("sha256").update(JSON.stringify(parts.map(({ length }) => length)));
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

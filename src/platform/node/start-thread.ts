/** Starts worker threads, from files as well as from a single program, whose modules are no files. */
import { Worker, type WorkerOptions } from "node:worker_threads";

/** The part of `node:sea` that is used; Node.js 20.12 and newer have it. */
interface SingleProgram {
  isSea(): boolean;
  getAsset(key: string, encoding: string): string;
  getRawAsset(key: string): ArrayBuffer;
  getAssetKeys(): string[];
}

/** The asset of a single program whose text mounts the other assets as files and starts a module: scripts/release/start.cjs. */
const startAsset = "start.cjs";

/** Arguments of Node.js that the text of `startAsset` needs. The thread gets these instead of the process's arguments. */
const startArguments = ["--experimental-vfs", "--disable-warning=ExperimentalWarning"];

/** Starts a worker thread that runs the module `program`, a `file:` URL. In a single program (`npm run dist`), the thread first mounts the program's assets. */
export function startThread(program: URL, options: WorkerOptions = {}): Worker {
  const single = getSingleProgram();
  if (single === undefined) return new Worker(program, options);
  const text = `const threadProgram = ${JSON.stringify(program.href)};\n${single.getAsset(startAsset, "utf8")}`;
  return new Worker(text, { ...options, eval: true, execArgv: startArguments });
}

/** The assets of the program that runs, if it is a single program. */
export function getSingleProgram(): SingleProgram | undefined {
  const sea = (process as { getBuiltinModule?: (id: string) => unknown }).getBuiltinModule?.("node:sea") as
    | SingleProgram
    | undefined;
  return sea?.isSea() === true ? sea : undefined;
}

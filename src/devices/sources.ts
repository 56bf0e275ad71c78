/** The only access of the readers to the system, so that they can be tested on recorded output of other machines. */
import { getOrInsert } from "../contract/checked.ts";
import { addAbortListener, removeAbortListener } from "../concurrency/abort-listeners.ts";
import { access, readdir, readFile } from "node:fs/promises";
import { availableParallelism, cpus, freemem, totalmem } from "node:os";
import { getMessage } from "../contract/errors.ts";
import { readLoaderCache } from "./loader-cache.ts";

/** Output of a program that device detection ran. After a failure it holds the text printed before, since some tools fail on one item and print the others. */
export type CommandOutput =
  | { readonly ok: true; readonly stdout: string }
  | { readonly ok: false; readonly stdout: string; readonly reason: string };

/** Access to the machine for device detection: files, programs, environment. No member throws if something is absent. */
export interface MachineSources {
  /** Node.js names, for example "linux" and "x64". */
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly system: SystemFigures;
  /** Text of a file; undefined if it is missing or cannot be read. */
  readFile(path: string): Promise<string | undefined>;
  /** Names in a directory, sorted; empty if it is missing or cannot be read. */
  list(directory: string): Promise<readonly string[]>;
  exists(path: string): Promise<boolean>;
  /** Paths in the cache of the dynamic loader of Linux; undefined if it is missing or damaged. */
  cachedLibraries(): Promise<readonly string[] | undefined>;
  /** Runs a program to its end. If the signal is aborted, the program is killed and the call returns a failure at once. */
  run(program: string, programArguments: readonly string[], signal?: AbortSignal): Promise<CommandOutput>;
}

/** Figures that Node.js reads from the operating system. They are functions, since some take milliseconds. */
export interface SystemFigures {
  readonly cpuModel: () => string | undefined;
  /** Number of logical processors; respects the affinity mask if Node.js knows it. */
  readonly processors: () => number;
  /** Bytes of main memory. */
  readonly totalMemory: () => number;
  /** Bytes of main memory that the operating system reports as free. */
  readonly freeMemory: () => number;
}

/** Sources of facts about the machine that this process runs on. */
export function nodeSources(): MachineSources {
  return {
    platform: process.platform,
    architecture: process.arch,
    environment: process.env,
    system: {
      cpuModel: () => cpus()[0]?.model,
      processors: availableParallelism,
      totalMemory: totalmem,
      freeMemory: freemem,
    },
    readFile: (path) => readFile(path, "utf8").catch(() => undefined),
    list: (directory) =>
      readdir(directory).then(
        (names) => names.sort(),
        () => [],
      ),
    exists: (path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    cachedLibraries: async () => {
      const cache = await readLoaderCache();
      return "entries" in cache ? cache.entries.map(({ path }) => path) : undefined;
    },
    run: runProgram,
  };
}

async function runProgram(program: string, programArguments: readonly string[], signal?: AbortSignal): Promise<CommandOutput> {
  const { spawn } = await import("node:child_process"); // most machines have none of these programs
  if (signal?.aborted) return { ok: false, stdout: "", reason: getMessage(signal.reason) };
  const running = new Promise<CommandOutput>((resolve) => {
    const child = spawn(program, programArguments, { stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
    let stdout = "";
    let stderr = "";
    const finish = (output: CommandOutput): void => {
      removeAbortListener(signal, stop);
      resolve(output);
    };
    // A driver can block the child in the kernel, where no signal reaches it. It must not block this process as well.
    const stop = (): void => {
      child.kill("SIGKILL");
      child.stdout.destroy();
      child.stderr.destroy();
      child.unref();
      finish({ ok: false, stdout, reason: getMessage(signal?.reason) });
    };
    addAbortListener(signal, stop);
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", (error) => finish({ ok: false, stdout, reason: `it did not start: ${getMessage(error)}` }));
    child.on("close", (code, killedBy) => {
      if (code === 0) finish({ ok: true, stdout });
      else finish({ ok: false, stdout, reason: failureReason(stdout, stderr, code ?? killedBy) });
    });
  });
  // Some failures to start, such as lack of memory, are thrown.
  return running.catch((error: unknown) => ({ ok: false, stdout: "", reason: `it did not start: ${getMessage(error)}` }));
}

/** Tools report errors on either stream; nvidia-smi does so on stdout. */
function failureReason(stdout: string, stderr: string, status: number | string | null): string {
  const longestUseful = 300;
  const said = (stderr.trim() === "" ? stdout : stderr).trim().slice(0, longestUseful);
  return said === "" ? `it ended with ${status} and printed nothing` : said;
}

/** Wraps sources of machine facts with a cache of file contents, since several readers need the same files. */
export function withReadCache(sources: MachineSources): MachineSources {
  const texts = new Map<string, Promise<string | undefined>>();
  let libraries: ReturnType<MachineSources["cachedLibraries"]> | undefined;
  return {
    ...sources,
    cachedLibraries: () => (libraries ??= sources.cachedLibraries()),
    readFile: (path) => {
      return getOrInsert(texts, path, () => sources.readFile(path));
    },
  };
}

/** Wraps sources of machine facts so that programs are killed when the signal is aborted. */
export function withAbortSignal(sources: MachineSources, signal: AbortSignal): MachineSources {
  return { ...sources, run: (program, programArguments) => sources.run(program, programArguments, signal) };
}

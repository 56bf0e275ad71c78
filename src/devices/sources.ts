/** Everything that touches the system goes through here, so the readers run on recorded outputs of machines we do not have. */
import { spawn } from "node:child_process";
import { access, readdir, readFile } from "node:fs/promises";
import { availableParallelism, cpus, freemem, totalmem } from "node:os";
import { messageOf } from "../errors.ts";

/** What a command said. A failure keeps what was printed before it: some tools complain about one item and print the others. */
export type Output =
  | { readonly ok: true; readonly stdout: string }
  | { readonly ok: false; readonly stdout: string; readonly reason: string };

/** The machine, as the readers see it. Nothing here throws for absence. */
export interface MachineSources {
  /** Node.js names, for example "linux" and "x64". */
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly system: SystemFigures;
  /** The text of a file; undefined where it is missing or may not be read. */
  readFile(path: string): Promise<string | undefined>;
  /** The names in a directory, sorted; none where it is missing or may not be read. */
  list(directory: string): Promise<readonly string[]>;
  exists(path: string): Promise<boolean>;
  /** Runs a program to its end. When the signal fires the program is killed and the answer is a failure, at once. */
  run(program: string, programArguments: readonly string[], signal?: AbortSignal): Promise<Output>;
}

/** Figures that Node.js itself reads from the operating system. Functions, because some cost milliseconds. */
export interface SystemFigures {
  readonly cpuModel: () => string | undefined;
  /** Logical processors, with the affinity mask where Node.js knows it. */
  readonly processors: () => number;
  /** Bytes. */
  readonly totalMemory: () => number;
  /** Bytes. */
  readonly freeMemory: () => number;
}

/** The sources of the machine this process runs on. */
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
    run: runProgram,
  };
}

function runProgram(program: string, programArguments: readonly string[], signal?: AbortSignal): Promise<Output> {
  if (signal?.aborted) return Promise.resolve({ ok: false, stdout: "", reason: messageOf(signal.reason) });
  const running = new Promise<Output>((resolve) => {
    const child = spawn(program, programArguments, { stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
    let stdout = "";
    let stderr = "";
    const finish = (output: Output): void => {
      signal?.removeEventListener("abort", stop);
      resolve(output);
    };
    // A driver can hold its child in the kernel, where no signal reaches it: it must not hold this process as well.
    const stop = (): void => {
      child.kill("SIGKILL");
      child.stdout.destroy();
      child.stderr.destroy();
      child.unref();
      finish({ ok: false, stdout, reason: messageOf(signal?.reason) });
    };
    signal?.addEventListener("abort", stop, { once: true });
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", (error) => finish({ ok: false, stdout, reason: `it did not start: ${messageOf(error)}` }));
    child.on("close", (code, killedBy) => {
      if (code === 0) finish({ ok: true, stdout });
      else finish({ ok: false, stdout, reason: failureReason(stdout, stderr, code ?? killedBy) });
    });
  });
  // A few failures to start, such as lack of memory, are thrown rather than reported.
  return running.catch((error: unknown) => ({ ok: false, stdout: "", reason: `it did not start: ${messageOf(error)}` }));
}

/** Tools explain themselves on either stream; nvidia-smi, for one, fails on stdout. */
function failureReason(stdout: string, stderr: string, status: number | string | null): string {
  const longestUseful = 300;
  const said = (stderr.trim() === "" ? stdout : stderr).trim().slice(0, longestUseful);
  return said === "" ? `it ended with ${status} and said nothing` : said;
}

/** The same sources, reading each file once: several readers want the same ones. */
export function withReadCache(sources: MachineSources): MachineSources {
  const texts = new Map<string, Promise<string | undefined>>();
  return {
    ...sources,
    readFile: (path) => {
      const text = texts.get(path) ?? sources.readFile(path);
      texts.set(path, text);
      return text;
    },
  };
}

/** The same sources, whose programs are killed when the signal fires. */
export function withAbortSignal(sources: MachineSources, signal: AbortSignal): MachineSources {
  return { ...sources, run: (program, programArguments) => sources.run(program, programArguments, signal) };
}

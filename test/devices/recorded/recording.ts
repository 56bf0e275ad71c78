/** A machine as plain data, and the sources that play it back. */
import type { MachineSources, CommandOutput } from "../../../src/devices/sources.ts";

/**
 * What a recorded machine answers to device detection: its files, programs and figures. Tests copy one and change the parts that
 * they are about.
 */
export interface Recording {
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Texts by path; an empty text stands for anything that only has to exist. Directories follow from the paths. */
  readonly files: Readonly<Record<string, string>>;
  /** Answers by command line: the program's path, a space, its arguments. A string is what a program printed that ended well. */
  readonly commands: Readonly<Record<string, string | CommandOutput>>;
  readonly cpuModel?: string;
  readonly processors: number;
  readonly totalMemory: number;
  readonly freeMemory: number;
}

/** Sources that answer from a recording, and the command lines that were run. */
export interface RecordedSources extends MachineSources {
  readonly commandsRun: readonly string[];
}

/** Creates sources that answer from the recording only. `commandsRun` of the result lists the command lines that were asked for, in order. */
export function recordedSources(recording: Recording): RecordedSources {
  const commandsRun: string[] = [];
  const separator = recording.platform === "win32" ? "\\" : "/";
  const paths = Object.keys(recording.files);
  return {
    platform: recording.platform,
    architecture: recording.architecture,
    environment: recording.environment,
    system: {
      cpuModel: () => recording.cpuModel,
      processors: () => recording.processors,
      totalMemory: () => recording.totalMemory,
      freeMemory: () => recording.freeMemory,
    },
    commandsRun,
    readFile: (path) => Promise.resolve(recording.files[path]),
    list: (directory) => {
      const start = `${directory}${separator}`;
      const names = paths
        .filter((path) => path.startsWith(start))
        .map((path) => path.slice(start.length).split(separator)[0] ?? "");
      return Promise.resolve([...new Set(names)].toSorted());
    },
    cachedLibraries: () => {
      const paths = recording.files["/etc/ld.so.cache"]?.split("\0").filter((text) => text.startsWith("/"));
      return Promise.resolve(paths);
    },
    exists: (path) => Promise.resolve(paths.some((file) => file === path || file.startsWith(`${path}${separator}`))),
    run: (program, programArguments) => {
      const command = `${program} ${programArguments.join(" ")}`;
      commandsRun.push(command);
      const answer = recording.commands[command] ?? {
        ok: false,
        stdout: "",
        reason: `it did not start: spawn ${program} ENOENT`,
      };
      return Promise.resolve(typeof answer === "string" ? { ok: true, stdout: answer } : answer);
    },
  };
}

/** The content of a recorded /etc/ld.so.cache for tests, which lists these libraries. That of a real machine has binary records before the paths. */
export function loaderCache(...paths: readonly string[]): string {
  return ["glibc-ld.so.cache1.1", ...paths.flatMap((path) => [path.slice(path.lastIndexOf("/") + 1), path]), ""].join("\0");
}

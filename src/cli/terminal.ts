/** What the command line touches of the outside, so that tests can stand in for it. */
export interface Terminal {
  /** Results only. */
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean };
  /** Progress, notes and errors. */
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /**
   * For a command that goes on until it is told to end, and then puts its things away in its own time: from now on SIGTERM asks for that as
   * Ctrl-C does, the first signal only asks, and a second one ends the program at once. Default: Ctrl-C alone, with half a second's time.
   */
  readonly runUntilSignal?: () => void;
}

export function writeLine(stream: NodeJS.WritableStream, line = ""): void {
  stream.write(`${line}\n`);
}

/** Writes a large result, waiting when the reader is slower than we are. */
export async function writeAll(stream: NodeJS.WritableStream, text: string): Promise<void> {
  if (stream.write(text)) return;
  await new Promise((resolve) => stream.once("drain", resolve));
}

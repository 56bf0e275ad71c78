/** The environment of the command line, which tests replace: streams, variables, directory, signal. */
export interface Terminal {
  /** Stream for results only. */
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean };
  /** Stream for progress, notes and errors. */
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /**
   * For commands that run until a signal: from now on SIGTERM aborts the signal as Ctrl-C does, the first signal gives the command unlimited time to clean up,
   * and a second one ends the program at once. By default only Ctrl-C aborts, with half a second to clean up.
   */
  readonly runUntilSignal?: () => void;
}

/** Writes a line. */
export function writeLine(stream: NodeJS.WritableStream, line = ""): void {
  stream.write(`${line}\n`);
}

/** Writes a large result and waits while the reader is slower. */
export async function writeAll(stream: NodeJS.WritableStream, text: string): Promise<void> {
  if (stream.write(text)) return;
  await new Promise((resolve) => stream.once("drain", resolve));
}

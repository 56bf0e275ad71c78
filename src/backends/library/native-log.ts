/** What a llama library logs. Its last lines say why a call failed. */
import type { ForeignFunctions, NativeCallback, NativeLibrary } from "../../libraries/ffi/index.ts";

/** Lines that are kept. */
const keptLines = 200;
/** Lines that are quoted in an error. */
const quotedLines = 3;
const problem = /error|fail|unable|invalid|unsupported|unknown|not (found|supported)|cannot|could not|out of memory/i;

/** Captures the log of a library, which it otherwise writes to stderr. */
export class NativeLog {
  readonly #lines: string[] = [];
  readonly #callback: NativeCallback;
  readonly #set: (callback: bigint | undefined, user: bigint | undefined) => void;
  #open = "";

  constructor(ffi: ForeignFunctions, library: NativeLibrary) {
    this.#set = library.bind("llama_log_set", { result: "void", parameters: ["pointer", "pointer"] });
    const signature = { result: "void", parameters: ["int32", "string", "pointer"] } as const;
    this.#callback = ffi.callback(signature, (_level, text = "") => this.#append(text));
    this.#set(this.#callback.address, undefined);
  }

  /** Discards the messages logged so far. */
  clear(): void {
    this.#lines.length = 0;
  }

  /** The lines since `clear`, the newest last. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** The lines that name a problem, otherwise the last ones; undefined if nothing was logged. */
  get reason(): string | undefined {
    const problems = this.#lines.filter((line) => problem.test(line));
    const said = [...new Set(problems.length > 0 ? problems : this.#lines)].slice(-quotedLines);
    return said.length === 0 ? undefined : said.join("; ");
  }

  /** Gives the log back to the library's own writer. */
  close(): void {
    this.#set(undefined, undefined);
    this.#callback.release();
  }

  /** The library logs parts of lines. */
  #append(text: string): void {
    const parts = (this.#open + text).split("\n");
    this.#open = parts.pop() ?? "";
    for (const line of parts.map((part) => part.trim())) if (line !== "") this.#lines.push(line);
    if (this.#lines.length > keptLines) this.#lines.splice(0, this.#lines.length - keptLines);
  }
}

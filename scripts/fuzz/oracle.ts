/** Decides what became of one input: accepted, refused as it should be, or a failure. */
import { InferyardError } from "../../src/contract/errors.ts";
import type { FuzzTarget, OpenTarget } from "./target.ts";

export type Outcome = "accepted" | "refused" | Failure;

export interface Failure {
  /** Failures with the same key are one defect. */
  readonly key: string;
  readonly message: string;
  readonly stack: string;
}

/** Runs an input once. Time and memory are the caller's to measure. */
export async function outcomeOf({ codes }: FuzzTarget, open: OpenTarget, input: Uint8Array): Promise<Outcome> {
  try {
    await open.run(input);
    return "accepted";
  } catch (error) {
    if (error instanceof InferyardError && codes.includes(error.code)) return messageFailure(error) ?? "refused";
    return failureOf(error);
  }
}

/** Characters of an error message; what names parts of the input must be cut. */
const maxMessage = 8192;

/** What a value that was not checked leaves in a message; "received undefined" is how zod tells of a field that is missing. */
const meaningless = /"undefined"|\bof undefined\b|\(reading '|\[object Object\]|is not a function|is not iterable/;

function messageFailure(error: InferyardError): Failure | undefined {
  if (error.message.length <= maxMessage && !meaningless.test(error.message)) return undefined;
  const problem =
    error.message.length > maxMessage ? `a message of ${error.message.length} characters` : "a message of no meaning";
  return {
    ...failureOf(error),
    key: `${problem.replaceAll(/\d+/g, "N")} at ${frameOf(error)}`,
    message: `${problem}: ${error.message.slice(0, 300)}`,
  };
}

export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { key: `thrown ${typeof error}`, message: String(error), stack: "" };
  const code = error instanceof InferyardError ? ` ${error.code}` : "";
  const message = `${error.name}${code}: ${error.message.slice(0, 500)}`;
  const cause = error.cause instanceof Error ? `\ncaused by ${error.cause.stack ?? error.cause.message}` : "";
  return { key: `${error.name}${code} at ${frameOf(error)}`, message, stack: `${error.stack ?? message}${cause}`.slice(0, 6000) };
}

/** The innermost frame of ours. */
function frameOf(error: Error): string {
  const deepest = error.cause instanceof Error && error instanceof InferyardError ? error.cause : error;
  const frame =
    /[\\/]src[\\/]((?!errors)[^\s)]+)/.exec(deepest.stack ?? "")?.[1] ?? /at (.+)/.exec(deepest.stack ?? "")?.[1] ?? "?";
  return frame.replace(/:\d+$/, "");
}

/** The stack without its message, which stands before it and may be long. */
export function framesOf({ stack }: Failure): string {
  const lines = stack.split("\n").map((line) => line.slice(0, 200));
  const frames = lines.filter((line) => /^\s+at |^caused by/.test(line));
  return (frames.length > 0 ? frames : lines).join("\n");
}

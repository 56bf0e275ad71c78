/** Sequences of llama.cpp as bytes. */
import { createHash } from "node:crypto";
import { InferyardError } from "../../contract/errors.ts";

/** The state of a sequence, and the number of sequences of the context that it is from. Only a context with equally many reads it. */
export interface SequenceState {
  readonly bytes: Uint8Array;
  readonly group: number;
}

/** A saved sequence. */
export interface SavedSequence {
  readonly tokens: readonly number[];
  /** Absent for a sequence without tokens, and for one whose cache was not computed again since it was cut. */
  readonly state: SequenceState | undefined;
}

interface Header {
  readonly format: typeof format;
  /** What the bytes belong to: the model's file and the version of the library. */
  readonly model: string;
  readonly tokens: readonly number[];
  readonly group: number;
  /** SHA-256 of the state: llama.cpp must not read damaged bytes. */
  readonly sha256: string;
}

const format = "inferyard-llama-1";
const newline = 0x0a;

/** A sequence as bytes: a line of JSON, then the state. */
export function encodeSequence(model: string, { tokens, state }: SavedSequence): Uint8Array {
  const { bytes, group } = state ?? { bytes: new Uint8Array(), group: 0 };
  const header: Header = { format, model, tokens, group, sha256: sha256(bytes) };
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), bytes]);
}

/** Reads the bytes of `encodeSequence`. Throws INPUT_INVALID for damaged bytes and for bytes of another model or version. */
export function decodeSequence(model: string, bytes: Uint8Array): SavedSequence {
  const end = bytes.indexOf(newline);
  const header = parse(Buffer.from(bytes.subarray(0, Math.max(0, end))).toString());
  if (header?.format !== format || header.model !== model || !isTokens(header.tokens)) {
    throw invalid("they are of another model or version, or damaged");
  }
  const state = bytes.subarray(end + 1);
  if (sha256(state) !== header.sha256) throw invalid("they are damaged");
  const { tokens, group } = header;
  return { tokens, state: state.length === 0 ? undefined : { bytes: state, group } };
}

function parse(line: string): Header | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Header) : undefined;
  } catch {
    return undefined;
  }
}

function isTokens(tokens: unknown): tokens is readonly number[] {
  return Array.isArray(tokens) && tokens.every((token) => Number.isSafeInteger(token) && token >= 0);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function invalid(reason: string): InferyardError {
  return new InferyardError("INPUT_INVALID", `the bytes are of no saved sequence of this model: ${reason}`, {
    remedy: "restore what saveSequence of the same model, backend and version returned",
  });
}

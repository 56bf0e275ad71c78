/** Entry point of a worker thread that processes texts: one call at a time, with tokenizers that are loaded on first use. */
import { getPriority, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { InferyardError, messageOf } from "../../contract/errors.ts";
import { loadTextTokenizer } from "../../tokenizers/index.ts";
import { type TransferableTokens, toTransferable } from "../../tokenizers/tokenizer-threads.ts";
import type { TextTokenizer } from "../../tokenizers/text-tokenizer.ts";
import { chunkTexts } from "../chunking/chunk.ts";
import type { ResultMessage, CallMessage, OperationName, Operations } from "./protocol.ts";

/** Nice value that is added to the thread's, 0 to 19; equal to that of model processes. */
const niceness = 10;

const port = parentPort;
if (port === null)
  throw new InferyardError("CONTRACT_VIOLATION", "thread.js is the program of a worker thread, not a main program");

lowerPriority();
const tokenizers = new Map<number, Promise<TextTokenizer>>();

port.on("message", async (message: CallMessage) => {
  const result = await perform(message);
  port.postMessage(result, result.ok ? buffersOf(result.result) : []);
});

/** Lowers the priority of this thread below that of the event loop. Linux only: elsewhere the priority is that of the whole process. */
function lowerPriority(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(getPriority() + niceness);
  } catch {
    // Not permitted: the thread keeps the priority of the process.
  }
}

async function perform({ operation, args, tokenizer: number, settings }: CallMessage): Promise<ResultMessage> {
  try {
    const known = tokenizers.get(number) ?? (settings === undefined ? undefined : loadTextTokenizer(settings));
    if (known === undefined) throw new InferyardError("CONTRACT_VIOLATION", `no settings were sent for tokenizer ${number}`);
    tokenizers.set(number, known);
    return { ok: true, result: await operations[operation](await known, args) };
  } catch (error) {
    const failure = error instanceof InferyardError ? error : new InferyardError("CONTRACT_VIOLATION", messageOf(error));
    return { ok: false, error: failure.toJSON() };
  }
}

type Handlers = { readonly [Name in OperationName]: (tokenizer: TextTokenizer, args: Operations[Name]["args"]) => unknown };

const handlers: Handlers = {
  tokenize: (tokenizer, { text }) => toTransferable(tokenizer.row(text)),
  decode: (tokenizer, { ids, options }) => tokenizer.decode(ids, options),
  chunk: async (tokenizer, { text, settings }) => {
    const [result] = await chunkTexts([text], tokenizer, { ...settings, signal: undefined }, undefined);
    return result;
  },
};
/** The same table with the arguments of any operation, since the name in a message determines their type. */
const operations = handlers as Record<
  OperationName,
  (
    tokenizer: TextTokenizer,
    args: CallMessage["args"],
  ) => Operations[OperationName]["result"] | Promise<Operations[OperationName]["result"]>
>;

/** Buffers of a result to transfer instead of copy. */
function buffersOf(result: Operations[OperationName]["result"]): ArrayBuffer[] {
  if (typeof result === "string" || !("ids" in result)) return [];
  const { ids, offsets, words }: TransferableTokens = result;
  return [ids.buffer, offsets.buffer, words.buffer];
}

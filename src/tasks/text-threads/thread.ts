/** Entry point of a worker thread that processes texts: one call at a time, with tokenizers that are loaded on first use. */
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { loadTextTokenizer } from "../../tokenizers/index.ts";
import { type TransferableTokens, toTransferable } from "../../tokenizers/tokenizer-threads.ts";
import type { TextTokenizer } from "../../tokenizers/text-tokenizer.ts";
import { chunkTexts } from "../chunking/chunk.ts";
import type { ResultMessage, CallMessage, Operations, TextOperationName } from "./protocol.ts";
import { startIdleHeapCollection } from "../../platform/node/idle-collection.ts";
import { lowerPriority } from "../../platform/node/lower-priority.ts";
import { requirePort } from "../threads/thread-port.ts";

const port = requirePort("thread.js");
lowerPriority("thread");
startIdleHeapCollection();
const tokenizers = new Map<number, Promise<TextTokenizer>>();

port.on("message", async (message: CallMessage) => {
  const result = await perform(message);
  port.postMessage(result, result.ok ? getBuffers(result.result) : []);
});

async function perform({ operation, args, tokenizer: number, settings }: CallMessage): Promise<ResultMessage> {
  try {
    const known = tokenizers.get(number) ?? (settings === undefined ? undefined : loadTextTokenizer(settings));
    if (known === undefined) throw new InferyardError("CONTRACT_VIOLATION", `no settings were sent for tokenizer ${number}`);
    tokenizers.set(number, known);
    return { ok: true, result: await operations[operation](await known, args) };
  } catch (error) {
    const failure = error instanceof InferyardError ? error : new InferyardError("CONTRACT_VIOLATION", getMessage(error));
    return { ok: false, error: failure.toJSON() };
  }
}

type Handlers = { readonly [Name in TextOperationName]: (tokenizer: TextTokenizer, args: Operations[Name]["args"]) => unknown };

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
  TextOperationName,
  (
    tokenizer: TextTokenizer,
    args: CallMessage["args"],
  ) => Operations[TextOperationName]["result"] | Promise<Operations[TextOperationName]["result"]>
>;

/** Buffers of a result to transfer instead of copy. */
function getBuffers(result: Operations[TextOperationName]["result"]): ArrayBuffer[] {
  if (typeof result === "string" || !("ids" in result)) return [];
  const { ids, offsets, words }: TransferableTokens = result;
  return [ids.buffer, offsets.buffer, words.buffer];
}

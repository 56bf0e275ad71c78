/** Entry point of a worker thread that processes texts: one call at a time, with tokenizers that are loaded on first use. */
import { InferyardError } from "../../contract/errors.ts";
import { loadTextTokenizer } from "../../tokenizers/index.ts";
import { type TransferableTokens, toTransferable } from "../../tokenizers/tokenizer-threads.ts";
import type { TextTokenizer } from "../../tokenizers/text-tokenizer.ts";
import { chunkTexts } from "../chunking/chunk.ts";
import { runProgram } from "../threads/thread-program.ts";
import type { TextCallMessage, OperationName, OperationResult, Operations } from "./protocol.ts";

const tokenizers = new Map<number, Promise<TextTokenizer>>();

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
  (tokenizer: TextTokenizer, args: TextCallMessage["args"]) => OperationResult | Promise<OperationResult>
>;

/** Buffers of a result to transfer instead of copy. */
function getBuffers(result: OperationResult): ArrayBuffer[] {
  if (typeof result === "string" || !("ids" in result)) return [];
  const { ids, offsets, words }: TransferableTokens = result;
  return [ids.buffer, offsets.buffer, words.buffer];
}

async function perform({ operation, args, tokenizer: number, settings }: TextCallMessage): Promise<OperationResult> {
  const known = tokenizers.get(number) ?? (settings === undefined ? undefined : loadTextTokenizer(settings));
  if (known === undefined) throw new InferyardError("CONTRACT_VIOLATION", `no settings were sent for tokenizer ${number}`);
  tokenizers.set(number, known);
  return operations[operation](await known, args);
}

runProgram({ name: "thread.js", perform, getBuffers });

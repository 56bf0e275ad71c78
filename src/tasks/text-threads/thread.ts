/** The program of a thread that reads texts: one call after the other, with the tokenizers it was asked for. */
import { getPriority, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { InferyardError, messageOf } from "../../errors.ts";
import { loadTextTokenizer } from "../../tokenizers/index.ts";
import { type TransferableTokens, toTransferable } from "../../tokenizers/tokenizer-threads.ts";
import type { TextTokenizer } from "../../tokenizers/text-tokenizer.ts";
import { chunkTexts } from "../chunking/chunk.ts";
import type { AnswerMessage, CallMessage, OperationName, Operations } from "./protocol.ts";

/** As the system counts, from 0 to 19: that of models' processes. */
const niceness = 10;

const port = parentPort;
if (port === null)
  throw new InferyardError("CONTRACT_VIOLATION", "thread.js is the program of a worker thread, not a main program");

giveWay();
const tokenizers = new Map<number, Promise<TextTokenizer>>();

port.on("message", async (message: CallMessage) => {
  const answer = await answerTo(message);
  port.postMessage(answer, answer.ok ? buffersOf(answer.result) : []);
});

/** The event loop's thread goes first. Linux has a priority for each thread; elsewhere it would be that of the whole process. */
function giveWay(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(getPriority() + niceness);
  } catch {
    // A system that forbids it: texts are read at the priority of all threads.
  }
}

async function answerTo({ operation, asked, tokenizer: number, settings }: CallMessage): Promise<AnswerMessage> {
  try {
    const known = tokenizers.get(number) ?? (settings === undefined ? undefined : loadTextTokenizer(settings));
    if (known === undefined) throw new InferyardError("CONTRACT_VIOLATION", `a thread was not told of tokenizer ${number}`);
    tokenizers.set(number, known);
    return { ok: true, result: await operations[operation](await known, asked) };
  } catch (error) {
    const failure = error instanceof InferyardError ? error : new InferyardError("CONTRACT_VIOLATION", messageOf(error));
    return { ok: false, error: failure.toJSON() };
  }
}

type Answers = { readonly [Name in OperationName]: (tokenizer: TextTokenizer, asked: Operations[Name]["asked"]) => unknown };

const answers: Answers = {
  tokenize: (tokenizer, { text }) => toTransferable(tokenizer.row(text)),
  decode: (tokenizer, { ids, options }) => tokenizer.decode(ids, options),
  chunk: async (tokenizer, { text, settings }) => {
    const [result] = await chunkTexts([text], tokenizer, { ...settings, signal: undefined }, undefined);
    return result;
  },
};
/** By the operation's name the arguments are its own. */
const operations = answers as Record<
  OperationName,
  (
    tokenizer: TextTokenizer,
    asked: CallMessage["asked"],
  ) => Operations[OperationName]["result"] | Promise<Operations[OperationName]["result"]>
>;

/** Buffers that are handed over instead of copied. */
function buffersOf(result: Operations[OperationName]["result"]): ArrayBuffer[] {
  if (typeof result === "string" || !("ids" in result)) return [];
  const { ids, offsets, words }: TransferableTokens = result;
  return [ids.buffer, offsets.buffer, words.buffer];
}

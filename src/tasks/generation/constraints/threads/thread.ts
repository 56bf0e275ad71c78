/** Entry point of a worker thread that compiles grammars and computes masks: one call at a time. */
import { getHeapStatistics } from "node:v8";
import { omitUndefined } from "../../../../contract/checked.ts";
import { InferyardError, getMessage } from "../../../../contract/errors.ts";
import { loadTextTokenizer } from "../../../../tokenizers/index.ts";
import { type GrammarOperations, LoadedGrammar } from "../loaded-grammar.ts";
import { TokenVocabulary, readVocabulary } from "../token-vocabulary.ts";
import type { CallMessage, ResultMessage, ThreadOperation, ThreadOperations } from "./protocol.ts";
import { startIdleHeapCollection } from "../../../../platform/node/idle-collection.ts";
import { lowerPriority } from "../../../../platform/node/lower-priority.ts";
import type { ReadyMessage } from "../../../threads/call-thread.ts";
import { requirePort } from "../../../threads/thread-port.ts";

const port = requirePort("thread.js");
lowerPriority("thread");
startIdleHeapCollection();
const vocabularies = new Map<number, TokenVocabulary>();
const grammars = new Map<number, LoadedGrammar>();

port.on("message", async ({ operation, args }: CallMessage) => {
  const started = performance.now();
  const outcome = await perform(operation, args);
  if (operation === "drop") return; // nobody waits for it
  const message: ResultMessage = {
    ...outcome,
    tookMs: performance.now() - started,
    heapBytes: getHeapStatistics().total_heap_size,
  };
  port.postMessage(message, outcome.ok && outcome.result instanceof Uint32Array ? [outcome.result.buffer] : []);
});

type Outcome =
  | { readonly ok: true; readonly result: ThreadOperations[ThreadOperation]["result"] }
  | Pick<Extract<ResultMessage, { ok: false }>, "ok" | "error">;

async function perform(operation: ThreadOperation, args: CallMessage["args"]): Promise<Outcome> {
  try {
    return { ok: true, result: await operations[operation](args) };
  } catch (error) {
    const failure = error instanceof InferyardError ? error : new InferyardError("CONTRACT_VIOLATION", getMessage(error));
    return { ok: false, error: failure.toJSON() };
  }
}

port.postMessage({ isReady: true } satisfies ReadyMessage);

type Handlers = {
  readonly [Name in ThreadOperation]: (
    args: ThreadOperations[Name]["args"],
  ) => ThreadOperations[Name]["result"] | Promise<ThreadOperations[Name]["result"]>;
};

const onGrammar =
  <Name extends keyof GrammarOperations>(operation: Name) =>
  ({ grammar, step }: ThreadOperations[Name]["args"]): GrammarOperations[Name]["result"] => {
    const loaded = grammars.get(grammar);
    if (loaded === undefined) throw new InferyardError("CONTRACT_VIOLATION", `grammar ${grammar} is not in this thread`);
    return loaded.perform(operation, step);
  };

const handlers: Handlers = {
  vocabulary: async ({ settings, size, kept }) => {
    const tokenizer = await loadTextTokenizer(settings);
    return readVocabulary(tokenizer, { kept, isShared: true, ...omitUndefined({ size }) });
  },
  compile: ({ grammar, text, vocabulary: number, limits, tables }) => {
    const known = vocabularies.get(number) ?? (tables === undefined ? undefined : new TokenVocabulary(tables));
    if (known === undefined) throw new InferyardError("CONTRACT_VIOLATION", `vocabulary ${number} was not sent to this thread`);
    vocabularies.set(number, known);
    const loaded = new LoadedGrammar(text, known, limits);
    grammars.set(grammar, loaded);
    return { bytes: loaded.estimatedBytes, start: loaded.start };
  },
  open: onGrammar("open"),
  advance: onGrammar("advance"),
  mask: onGrammar("mask"),
  drop: ({ grammar }) => void grammars.delete(grammar),
};
/** The same table with the arguments of any operation, since the name in a message determines their type. */
const operations = handlers as Record<
  ThreadOperation,
  (
    args: CallMessage["args"],
  ) => ThreadOperations[ThreadOperation]["result"] | Promise<ThreadOperations[ThreadOperation]["result"]>
>;

/** Entry point of a worker thread that compiles grammars and computes masks: one call at a time. */
import { omitUndefined } from "../../../../contract/checked.ts";
import { InferyardError } from "../../../../contract/errors.ts";
import { loadTextTokenizer } from "../../../../tokenizers/index.ts";
import { runProgram } from "../../../threads/thread-program.ts";
import { type GrammarOperations, LoadedGrammar } from "../loaded-grammar.ts";
import { TokenVocabulary, readTokenVocabulary } from "../token-vocabulary.ts";
import type { ConstraintCallMessage, ThreadOperation, ThreadOperations, ThreadResult } from "./protocol.ts";

const vocabularies = new Map<number, TokenVocabulary>();
const grammars = new Map<number, LoadedGrammar>();

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
    return readTokenVocabulary(tokenizer, { kept, isShared: true, ...omitUndefined({ size }) });
  },
  compile: ({ grammar, text, vocabulary: number, limits, cancelled, tables }) => {
    const known = vocabularies.get(number) ?? (tables === undefined ? undefined : new TokenVocabulary(tables));
    if (known === undefined) throw new InferyardError("CONTRACT_VIOLATION", `vocabulary ${number} was not sent to this thread`);
    vocabularies.set(number, known);
    const loaded = new LoadedGrammar(text, known, limits, () => Atomics.load(cancelled, 0) === 1);
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
  (args: ConstraintCallMessage["args"]) => ThreadResult | Promise<ThreadResult>
>;

runProgram({
  name: "thread.js",
  perform: ({ operation, args }: ConstraintCallMessage) => operations[operation](args),
  isUnanswered: ({ operation }) => operation === "drop",
  getBuffers: (result) => (result instanceof Uint32Array && result.buffer instanceof ArrayBuffer ? [result.buffer] : []),
});

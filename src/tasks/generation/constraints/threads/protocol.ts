/** Messages between the pool of grammar threads and its threads. */
import type { TextSettings } from "../../../../models/manifest.ts";
import type { ConstraintLimits } from "../constraint-budget.ts";
import type { CompiledFacts } from "../grammar-host.ts";
import type { GrammarOperations } from "../loaded-grammar.ts";
import type { VocabularyTables } from "../token-vocabulary.ts";

/** Arguments and result of every operation that a thread performs. */
export type ThreadOperations = {
  readonly [Name in keyof GrammarOperations]: {
    readonly args: { readonly grammar: number; readonly step: GrammarOperations[Name]["args"] };
    readonly result: GrammarOperations[Name]["result"];
  };
} & {
  /** Reads the tokens of a tokenizer into memory that threads share. */
  readonly vocabulary: {
    readonly args: { readonly settings: TextSettings; readonly size: number | undefined; readonly kept: ReadonlySet<string> };
    readonly result: VocabularyTables;
  };
  readonly compile: {
    readonly args: {
      readonly grammar: number;
      readonly text: string;
      readonly vocabulary: number;
      readonly limits: ConstraintLimits;
      /** One element: 1 once nobody waits for the grammar. */
      readonly cancelled: Int32Array<SharedArrayBuffer>;
      /** With the first grammar of a vocabulary. */
      readonly tables?: VocabularyTables;
    };
    readonly result: CompiledFacts;
  };
  readonly drop: { readonly args: { readonly grammar: number }; readonly result: undefined };
};

/** Name of an operation. */
export type ThreadOperation = keyof ThreadOperations;

/** Result of an operation. */
export type ThreadResult = ThreadOperations[ThreadOperation]["result"];

/** Message to a thread: one call. */
export interface ConstraintCallMessage<Name extends ThreadOperation = ThreadOperation> {
  readonly operation: Name;
  readonly args: ThreadOperations[Name]["args"];
}

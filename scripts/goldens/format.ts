/** One form of goldens: how it is recognised, and how a model is held against it. */
import type { ModelHandle, Runtime, Tokenizer } from "inferyard";
import type { Checks } from "./checks.ts";

/** A loaded model beside its goldens. */
export interface Subject {
  readonly runtime: Runtime;
  readonly model: ModelHandle;
  readonly folder: string;
  tokenizer(): Promise<Tokenizer>;
}

export interface Format {
  /** What the goldens call themselves (`format`). Goldens without a name are recognised by their structure. */
  readonly name: string;
  /** Reads goldens.json. Throws Error with the place and the problem where it is not of this form. */
  read(goldens: unknown): Comparison;
}

/** Goldens as they were read, ready to hold a model against them. */
export interface Comparison {
  compare(subject: Subject, checks: Checks): Promise<void>;
}

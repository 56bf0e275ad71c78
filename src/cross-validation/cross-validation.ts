/** Options and results of a cross-validation. */
import type { Library } from "../contract/backend.ts";
import type { LogitsComparison } from "./compare-logits.ts";
import type { TokensPerSecond } from "./language-run.ts";

/** The two runs to compare, and how. */
export interface CrossValidationOptions {
  /** Reference of the model that is tested. */
  readonly model: string;
  /** Variant of the tested model. Default: as in any load. */
  readonly variant?: string | undefined;
  /** Targets of which one must run the tested model. Default: selection decides. */
  readonly target?: string | readonly string[] | undefined;
  /**
   * Reference: a target (`llamacpp:cpu`), the path of a recording that `recordLogits` wrote, or the path of a shared library with the C interface of llama.cpp.
   */
  readonly against: string;
  /** Model of the reference, with the same tokens. Default: the tested model. */
  readonly againstModel?: string | undefined;
  /** Variant of the reference's model. Default: as in any load if `againstModel` is given, else `variant`. */
  readonly againstVariant?: string | undefined;
  /** Prompt of language models: a text, or token ids. Not with a recording, which has its own. Default: "Once upon a time". */
  readonly prompt?: string | readonly number[] | undefined;
  /** Maximum number of tokens that the reference chooses after the prompt; it stops after an end token. 0: the prompt alone. Default: 32. */
  readonly tokens?: number | undefined;
  /** Text that follows the prompt, token by token, instead of the reference's own choice. */
  readonly continuation?: string | undefined;
  /** Texts whose vectors are compared, for models that give vectors. Default: five short texts. */
  readonly texts?: readonly string[] | undefined;
  /** Threads of a library that `against` names. Default: as a load chooses them. */
  readonly threads?: number | undefined;
  /** Path of a file to which the logits of the tested run are written. Default: none. */
  readonly record?: string | undefined;
  /** Limit of `maxError` of the summary. Default: none. */
  readonly maxError?: number | undefined;
  /** Limit of the smallest cosine. Default: none. */
  readonly minCosine?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A recording of one run. */
export type RecordOptions = Pick<
  CrossValidationOptions,
  "model" | "variant" | "target" | "prompt" | "tokens" | "continuation" | "signal"
> & {
  /** Path of the file to write. */
  readonly record: string;
};

/** Facts about one of the two compared runs. */
export interface ComparedRun {
  readonly model: string;
  readonly variant?: string;
  /** Digest of the model's weights, "sha256:…". */
  readonly digest: string;
  readonly target: string;
  readonly library: Library;
  /** Path of the recording that it was read from. Absent: it was computed now. */
  readonly recording?: string;
  /** Path of the shared library that computed it. Absent: one of the installed backends did. */
  readonly libraryPath?: string;
}

/** A value and the position where it occurs. */
export interface WorstValue {
  readonly value: number;
  readonly position: number;
}

/** The comparison of one position. */
export interface PositionComparison extends LogitsComparison {
  /** Index of the token, counted from 0 in the prompt; the logits are for the position after it. */
  readonly position: number;
  /** The token that both runs read at this position. */
  readonly token: number;
  /** Whether both runs choose the same token. */
  readonly agrees: boolean;
}

/** Two runs of one language model, compared token by token. */
export interface LanguageCrossValidation {
  readonly kind: "language";
  readonly reference: ComparedLanguageRun;
  readonly tested: ComparedLanguageRun;
  /** Number of tokens of the prompt, which are read in one call. */
  readonly promptTokens: number;
  /** Source of the tokens after the prompt: the reference's choice, or the caller. */
  readonly chosenBy: "reference" | "caller";
  readonly positions: readonly PositionComparison[];
  readonly summary: LogitsSummary;
  /** Limits that do not hold, as sentences. Empty: all hold. */
  readonly failures: readonly string[];
}

/** Facts about one of the two compared runs of a language model. */
export interface ComparedLanguageRun extends ComparedRun {
  readonly speed: TokensPerSecond;
  /** Tokens that it chooses by itself after the prompt. Null if the caller chose them. */
  readonly greedyTokens: readonly number[] | null;
  /** Text of the tokens. Null without tokens or a tokenizer. */
  readonly text: string | null;
}

/** The worst of all positions. */
export interface LogitsSummary {
  readonly maxError: WorstValue;
  readonly rmsError: WorstValue;
  readonly cosine: { readonly mean: number; readonly worst: WorstValue };
  readonly klDivergence: { readonly mean: number; readonly worst: WorstValue };
  /** Positions where both runs choose the same token. */
  readonly agreeing: number;
  /** The first position where they choose different tokens, with the text of both. Null: they agree everywhere. */
  readonly firstDivergence: (PositionComparison & { readonly referenceText?: string; readonly testedText?: string }) | null;
  /** Tokens per second of the tested run divided by the reference's. */
  readonly speedRatio: TokensPerSecond;
}

/** Vectors of texts from two runs. */
export interface VectorCrossValidation {
  readonly kind: "vectors";
  readonly reference: ComparedRun;
  readonly tested: ComparedRun;
  readonly texts: readonly VectorComparison[];
  readonly summary: {
    readonly maxError: WorstValue;
    readonly cosine: { readonly mean: number; readonly worst: WorstValue };
    /** Tokens per second of the tested run divided by tokens per second of the reference run. */
    readonly speedRatio: number;
  };
  readonly failures: readonly string[];
}

/** The comparison of the vectors of one text. */
export interface VectorComparison {
  readonly text: string;
  readonly maxError: number;
  readonly cosine: number;
}

/** Result of `crossValidate`. */
export type CrossValidation = LanguageCrossValidation | VectorCrossValidation;

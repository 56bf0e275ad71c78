/**
 * What is known of a model before anything is loaded. Each kind of model on disk has one reader that produces this shape
 * (`huggingface.ts`, `inferyard-json.ts`, `single-file.ts`, `termite/`, `aimod/`); nothing later looks at foreign metadata again.
 */
import type { LoadSettings, ModelFiles, Precision, TensorMap } from "../backend.ts";

export interface Manifest {
  /** As the user wrote it. */
  readonly reference: string;
  /** Short name for people: the folder's or the file's, or the one inferyard.json gives. */
  readonly name: string;
  /** Absolute path of the folder the model lives in. */
  readonly directory: string;
  readonly source: "inferyard.json" | "huggingface" | "file" | "termite" | "aimod";
  /** Hugging Face task names this model serves, best first; empty where nothing says. */
  readonly tasks: readonly string[];
  /** In order of preference: the first a backend can run is used unless one is named. Never empty. */
  readonly variants: readonly Variant[];
  readonly selection: ManifestSelection;
  readonly requirements: Requirements;
  /** How the model's author wants it loaded; what a user sets wins. Left out: the author says nothing. */
  readonly settings?: ManifestSettings;
  /** Present when the model has a tokenizer. */
  readonly text?: TextSettings;
  /** How a loaded copy is checked. Left out: an input is made from the model's own input names, and outputs must be finite. */
  readonly probe?: ModelProbe;
  /** SPDX expression or the words of the model's own files. */
  readonly license?: string;
  /** What the model's own manifest says besides, in its own words; for people, and nothing here depends on it. */
  readonly provenance?: unknown;
}

/** The load settings a manifest can carry. */
export type ManifestSettings = Pick<LoadSettings, "graphOptimization">;

/** One set of weights of a model. */
export interface Variant extends ModelFiles {
  /** "fp32", "fp16", "int8", "q4", ... as chosen with `--variant`. */
  readonly name: string;
  /** Other spellings that choose it: the file's suffix ("quantized"), transformers.js's dtype ("q8"). */
  readonly aliases: readonly string[];
  /** Left out where the file does not say. */
  readonly precision?: Precision;
  /** Hexadecimal, where the manifest states it; else it is computed at load. */
  readonly sha256?: string;
}

/** What a model asks of selection. */
export interface ManifestSelection {
  /** Backends the model may run on; empty = all. */
  readonly backends: readonly string[];
  /** Target the model's author prefers. */
  readonly preferred?: string;
  /** Targets to try after it under the policy "manifest". */
  readonly fallbacks: readonly string[];
}

/** What a machine must have. */
export interface Requirements {
  /** Bytes of available memory. */
  readonly memoryBytes?: number;
  /** Bytes of memory on the device, for targets other than cpu. */
  readonly deviceMemoryBytes?: number;
  /** Lowest CUDA version, for cuda and tensorrt; compared as numbers. */
  readonly cudaVersion?: string;
  readonly precision?: Precision;
}

export type Pooling = "mean" | "cls" | "max" | "last" | "none";

/** How text becomes tokens and token vectors become one, as the model's own files say. */
export interface TextSettings {
  /** Absolute path of tokenizer.json. */
  readonly tokenizerPath: string;
  /** The same path as the user wrote it, for messages. */
  readonly tokenizerShown: string;
  /** tokenizer_config.json as it stands, or an empty object. */
  readonly tokenizerConfig: Readonly<Record<string, unknown>>;
  /** Longest input in tokens, special tokens included; left out = no limit. */
  readonly maxTokens?: number;
  /** The file and key `maxTokens` was read from, for `explain`. */
  readonly maxTokensSource?: string;
  /** Whether special tokens are added ([CLS], [SEP], ...). Static embeddings take none. */
  readonly specialTokens: boolean;
  /** Whether text is read as model2vec reads it: cut by characters first, then by tokens, unknown tokens left out. */
  readonly dropUnknown: boolean;
  /** Whether text is lowercased whatever the tokenizer says (sentence_bert_config.json `do_lower_case`). */
  readonly lowercase: boolean;
  /** Left out: the model's files do not say, and the caller must. */
  readonly pooling?: Pooling;
  /** Whether the prompt's tokens take part in pooling (1_Pooling `include_prompt`). */
  readonly poolPrompt: boolean;
  /** What a text's vector goes through after pooling, in order. Left out: nothing. */
  readonly vectorModules?: readonly VectorModule[];
  /** Whether vectors are scaled to unit length, after all of these. */
  readonly normalize: boolean;
  /** Prompt texts by name ("query", "document", ...). */
  readonly prompts: Readonly<Record<string, string>>;
  readonly defaultPrompt?: string;
  /** How vectors are compared, in the words of config_sentence_transformers.json (`similarity_fn_name`). Left out: it does not say. */
  readonly similarity?: string;
  /** How a model for late interaction reads queries and documents. Left out: its files say nothing of that. */
  readonly lateInteraction?: LateInteraction;
}

/** What ColBERT-shaped models were trained with, in the words of PyLate's config_sentence_transformers.json or ColBERT's artifact.metadata. */
export interface LateInteraction {
  readonly query: LateInteractionRole;
  readonly document: LateInteractionRole;
  /** Mask tokens fill queries up to their length, and have vectors of their own. */
  readonly expandQueries: boolean;
  /** Whether the other tokens see these. */
  readonly attendExpansion: boolean;
  /** Tokens of a document that take no part in MaxSim: punctuation, mostly. */
  readonly skippedWords: readonly string[];
}

export interface LateInteractionRole {
  /** A token put behind the first special one, which says what the text is. */
  readonly marker?: string;
  /** Longest text in tokens, special tokens and marker included. */
  readonly maxTokens?: number;
}

/** One of sentence-transformers' modules on a text's vector: a linear map with an activation, a layer norm, or unit length in between. */
export type VectorModule =
  | {
      readonly kind: "dense";
      readonly weights: ModuleWeights;
      readonly inFeatures: number;
      readonly outFeatures: number;
      /** Whether `linear.bias` is added. */
      readonly bias: boolean;
      readonly activation: DenseActivation;
    }
  | { readonly kind: "layer-norm"; readonly weights: ModuleWeights; readonly features: number }
  | { readonly kind: "normalize" };

/** Of torch.nn; GELU is the exact one. */
export type DenseActivation = "Identity" | "Tanh" | "ReLU" | "GELU" | "Sigmoid" | "SiLU";

/** A file of safetensors. */
export interface ModuleWeights {
  readonly path: string;
  /** As the user wrote it. */
  readonly shown: string;
}

/** A known input and, where there is one, its known answer. */
export type ModelProbe =
  | { readonly kind: "text"; readonly answers: readonly KnownAnswer[] }
  | { readonly kind: "tensors"; readonly inputs: TensorMap };

export interface KnownAnswer {
  readonly text: string;
  /** The vector the model must give, to within `tolerance` in every component. */
  readonly embedding: Float32Array;
  readonly tolerance: number;
}

/**
 * The manifest: everything that is known of a model before it is loaded, in one shape for every kind of model on disk. The readers in `huggingface/`,
 * `inferyard-json/`, `manifest/`, `termite/` and `aimod/` produce it; nothing else reads the metadata of other tools.
 */
import type { ModelPlacement } from "./placement.ts";
import type { LoadSettings, ModelFiles, Precision } from "../contract/backend.ts";
import type { ErrorCode } from "../contract/errors.ts";
import type { TensorMap } from "../contract/tensor.ts";
import type { GraphSignature } from "../formats/onnx/onnx-graph.ts";
import type { VisionManifest } from "./vision-manifest.ts";

/** The description of a model, read from its files, in one form for all file formats and manifests. */
export interface Manifest {
  /** The reference as the user wrote it. */
  readonly reference: string;
  /** Short name for people: the name of the folder or file, or the one in inferyard.json. */
  readonly name: string;
  /** Absolute path of the model's folder. */
  readonly directory: string;
  /** Which reader produced the manifest. */
  readonly source: "inferyard.json" | "huggingface" | "file" | "termite" | "aimod";
  /** Names of the Hugging Face tasks that the model serves, best first; empty if its files do not state one. */
  readonly tasks: readonly string[];
  /** Sets of weights in order of preference: the first that a backend can run is used, unless the user names one. Never empty. */
  readonly variants: readonly Variant[];
  /** Weights that are named or found and cannot be read: `variants` has the others. Absent: all can be read. */
  readonly unreadable?: readonly UnreadableVariant[];
  /** Backends and targets that the author requests. */
  readonly selection: ManifestSelection;
  /** Requirements on a machine that runs the model. */
  readonly requirements: Requirements;
  /** Load settings of the author. Settings of the user take precedence. */
  readonly settings?: ManifestSettings;
  /** How the author distributes it over devices. Settings of the user take precedence. Absent: one device. */
  readonly placement?: ModelPlacement;
  /** How text is tokenized and pooled. Present if the model takes text. */
  readonly text?: TextSettings;
  /** What inferyard.json states of pictures. Absent: nothing. */
  readonly vision?: VisionManifest;
  /** Content of generation_config.json, or of the same fields in config.json: how text is generated. Absent: the files state nothing about it. */
  readonly generation?: Readonly<Record<string, unknown>>;
  /** Chat templates (Jinja) by name, the main one as "default". Absent: the model has none. */
  readonly chatTemplates?: Readonly<Record<string, string>>;
  /** How the model is verified after a load. Absent: it is run on an input made from its input names, and its outputs must be finite. */
  readonly probe?: ModelProbe;
  /** License: an SPDX expression, or the text in the model's files. */
  readonly license?: string;
  /** Other fields of the model's own manifest, unchanged. For people: nothing depends on it. */
  readonly provenance?: unknown;
}

/** Load settings that a manifest can hold. */
export type ManifestSettings = Pick<LoadSettings, "graphOptimization">;

/** One set of weights of a model, for example in fp32 or int8. */
export interface Variant extends ModelFiles {
  /** "fp32", "fp16", "int8", "q4", ...: the value of the option `variant`. */
  readonly name: string;
  /** Other names that select it: the suffix of the file ("quantized"), the dtype of transformers.js ("q8"). */
  readonly aliases: readonly string[];
  /** Hexadecimal SHA-256 of the file as the manifest states it. Absent: it is computed when the model is loaded. */
  readonly sha256?: string;
  /** ggml types of the tensors of a GGUF file, without duplicates. Absent for other formats. */
  readonly tensorTypes?: readonly string[];
  /** Inputs and outputs that an ONNX file states. Absent for other formats. */
  readonly signature?: GraphSignature;
}

/** Weights that cannot be read: the file is damaged, cut off, missing, or not the one that a manifest describes. */
export interface UnreadableVariant extends Pick<Variant, "name" | "aliases"> {
  /** Code, message and remedy of the error that reading them threw. */
  readonly code: ErrorCode;
  readonly reason: string;
  readonly remedy?: string;
}

/** Backends and targets that the author of a model requests. A target is `backend[:device[:index]]`. */
export interface ManifestSelection {
  /** Backends, or targets of them, that the model may run on; empty: all. */
  readonly backends: readonly string[];
  /** Target to try first under the policy "manifest". */
  readonly preferred?: string;
  /** Targets to try after `preferred`, in order, under the policy "manifest". */
  readonly fallbacks: readonly string[];
  /** Absolute path of the file of weights that the author names: targets that run it are tried before others. Absent: the author names none. */
  readonly file?: string;
}

/** Requirements on a machine that runs a model. An absent field requires nothing. */
export interface Requirements {
  /** Smallest number of bytes of available memory. */
  readonly memoryBytes?: number;
  /** Smallest number of bytes of device memory, for targets other than the CPU. */
  readonly deviceMemoryBytes?: number;
  /** Smallest CUDA version ("12.8"), for the devices cuda and tensorrt. Its parts are compared as numbers. */
  readonly cudaVersion?: string;
  /** Precision that the target must support. */
  readonly precision?: Precision;
}

/**
 * How the vectors of a text's tokens become one vector: their mean, the first token ("cls"), their maximum per component, the
 * last token, or not at all.
 */
export type Pooling = "mean" | "cls" | "max" | "last" | "none";

/** How text becomes tokens and token vectors become one vector, according to the model's files. */
export interface TextSettings {
  /** Absolute path of the tokenizer's file. */
  readonly tokenizerPath: string;
  /** Path of the tokenizer's file as the user wrote it, for messages. */
  readonly tokenizerShown: string;
  /** Format of the file: GGUF metadata, vocab.txt, vocab.json with merges.txt in the same folder, or a SentencePiece model. Default: a tokenizer.json. */
  readonly tokenizerFormat?: "gguf" | "vocab.txt" | "vocab.json" | "sentencepiece";
  /** Class of transformers that reads the file, if the result depends on it. Empty: the file's own kind. */
  readonly tokenizerClass?: string;
  /** Content of tokenizer_config.json, or an empty object. */
  readonly tokenizerConfig: Readonly<Record<string, unknown>>;
  /** Longest input in tokens, special tokens included. Absent: no limit. */
  readonly maxTokens?: number;
  /** File and key that `maxTokens` was read from, for `explain`. */
  readonly maxTokensSource?: string;
  /** Whether special tokens ([CLS], [SEP], ...) are added. Static embeddings have none. */
  readonly specialTokens: boolean;
  /** Whether text is tokenized as model2vec does: truncated by characters first and then by tokens, without unknown tokens. */
  readonly dropUnknown: boolean;
  /** Whether text is lowercased before the tokenizer (`do_lower_case` in sentence_bert_config.json). */
  readonly lowercase: boolean;
  /** Pooling of the model; absent if its files do not state it: the caller must then choose one. */
  readonly pooling?: Pooling;
  /** Whether pooling includes the tokens of the prompt (`include_prompt` of 1_Pooling). */
  readonly poolPrompt: boolean;
  /** Modules that transform the vector of a text after pooling, or with `lateInteraction` the vector of each token, in order. Absent: none. */
  readonly vectorModules?: readonly VectorModule[];
  /** Whether vectors are scaled to unit length, after all modules; with `lateInteraction` the vectors of tokens. */
  readonly normalize: boolean;
  /** Prompt texts by name ("query", "document", ...). */
  readonly prompts: Readonly<Record<string, string>>;
  /** Name of the prompt that is used if the caller names none. */
  readonly defaultPrompt?: string;
  /** How vectors are compared: `similarity_fn_name` of config_sentence_transformers.json. Absent if the file does not state it. */
  readonly similarity?: string;
  /** Settings of a late-interaction model (ColBERT). Absent for other models. */
  readonly lateInteraction?: LateInteraction;
  /** How sparse vectors are computed: the modules of a SparseEncoder. Absent for other models. */
  readonly sparse?: SparseSettings;
  /** Heads of BGE-M3 in addition to the dense vector. Absent for other models; an export with all heads in its graph needs none. */
  readonly heads?: EmbeddingHeads;
}

/** How a SparseEncoder of sentence-transformers makes sparse vectors. */
export interface SparseSettings {
  /** "splade": SpladePooling on the logits of a masked language model. "auto-encoder": SparseAutoEncoder (CSR) on the vector of a text. */
  readonly kind: "splade" | "auto-encoder";
  /** How SpladePooling combines the weights of the tokens: their maximum, or their sum. */
  readonly pooling: "max" | "sum";
  /** Function from a logit to a weight: log(1 + relu(x)), or the logarithm of 1 plus that once more. */
  readonly activation: "relu" | "log1p_relu";
  /** The SparseAutoEncoder; empty with "splade". */
  readonly modules: readonly VectorModule[];
  /** Weights of tokens that make the vectors of queries instead (SparseStaticEmbedding in a Router). Absent: queries are read like documents. */
  readonly queries?: { readonly modules: readonly VectorModule[]; readonly isDefault: boolean };
}

/** The heads of a BGE-M3 folder: linear layers on the token vectors, read from safetensors files. */
export interface EmbeddingHeads {
  /** sparse_linear.safetensors: the weight of a token. Empty if the file is not there. */
  readonly sparse: readonly VectorModule[];
  /** colbert_linear.safetensors: the vector of a token. Empty if the file is not there. */
  readonly multiVector: readonly VectorModule[];
  /** The folder as the user wrote it, for messages. */
  readonly displayName: string;
}

/** How a late-interaction model encodes text, from PyLate's config_sentence_transformers.json or ColBERT's artifact.metadata. */
export interface LateInteraction {
  readonly query: LateInteractionSettings;
  readonly document: LateInteractionSettings;
  /** How queries are padded with a token whose vectors take part in the score (query augmentation). Absent: they are not. */
  readonly expansion?: QueryExpansion;
  /** Tokens that the score (MaxSim) ignores: usually punctuation. */
  readonly skippedWords: readonly string[];
  /** The kinds of text in which it ignores them. */
  readonly skippedIn: readonly ("query" | "document")[];
  /**
   * Whether the folder has the modules that follow the encoder. If not, only a graph with the output `contextual` can be used, which computes them
   * itself.
   */
  readonly hasModules: boolean;
  /** Whether a score is divided by the number of query vectors (`similarity_fn_name` "meanmaxsim"). */
  readonly meanScore: boolean;
}

/** Query augmentation of a late-interaction model. */
export interface QueryExpansion {
  /** Length in tokens up to which a query is filled. */
  readonly length: number;
  /** Whether the other tokens attend to the padding tokens. */
  readonly attend: boolean;
  /** The token that is added. Absent: the tokenizer's mask token. */
  readonly token?: string;
}

/** How a late-interaction model encodes one kind of text: queries or documents. */
export interface LateInteractionSettings {
  /** A token that is inserted after the first special token and marks the kind of text ("[Q] "). */
  readonly marker?: string;
  /** Longest text in tokens, special tokens and marker included. */
  readonly maxTokens?: number;
}

/**
 * A module of sentence-transformers that transforms a vector: a linear layer with an activation, a layer norm, scaling to unit length, a sparse
 * autoencoder (Wen et al. 2025), or a factor for each component.
 */
export type VectorModule =
  | {
      readonly kind: "dense";
      readonly weights: ModuleWeights;
      readonly inFeatures: number;
      readonly outFeatures: number;
      /** Whether `linear.bias` is added. */
      readonly bias: boolean;
      readonly activation: DenseActivation;
      /** Value added to the output: the input, or `residual.weight` times the input. Absent: nothing. */
      readonly residual?: "identity" | "linear";
      /** Prefix of "weight" and "bias" in the names of the tensors. Default: "linear.". */
      readonly prefix?: string;
    }
  | { readonly kind: "layer-norm"; readonly weights: ModuleWeights; readonly features: number }
  | {
      readonly kind: "auto-encoder";
      readonly weights: ModuleWeights;
      /** Name of the tensor with the encoder's weights, `[outFeatures, inFeatures]`. */
      readonly encoder: string;
      readonly inFeatures: number;
      readonly outFeatures: number;
      /** Number of components that are kept, the largest. */
      readonly kept: number;
      /** Whether the input is standardized to mean 0 and standard deviation 1. */
      readonly standardize: boolean;
    }
  | { readonly kind: "scale"; readonly weights: ModuleWeights; readonly features: number }
  | { readonly kind: "normalize" };

/** Activations under the names of torch.nn; GELU is the exact one, not its tanh approximation. */
export type DenseActivation = "Identity" | "Tanh" | "ReLU" | "GELU" | "Sigmoid" | "SiLU";

/** Location of the safetensors file with the weights of a sentence-transformers module. */
export interface ModuleWeights {
  /** Absolute path. */
  readonly path: string;
  /** The path as the user wrote it. */
  readonly displayName: string;
  /** Format of the weights' file. Default: safetensors. */
  readonly format?: "gguf";
}

/**
 * The check that a loaded model must pass before it is used: texts with the vectors they must give, or an input whose outputs
 * must be finite.
 */
export type ModelProbe =
  | { readonly kind: "text"; readonly answers: readonly ManifestKnownAnswer[] }
  | { readonly kind: "tensors"; readonly inputs: TensorMap }
  | { readonly kind: "tokens"; readonly answers: readonly KnownContinuation[] };

/** A known answer of a language model: the tokens that greedy decoding must give after a prompt. */
export interface KnownContinuation {
  /** Tokens that the encoder reads. Present only for models with an encoder. */
  readonly source?: readonly number[];
  readonly prompt: readonly number[];
  readonly continuation: readonly number[];
}

/** A text and the vector that the model must give for it. */
export interface ManifestKnownAnswer {
  readonly text: string;
  readonly embedding: Float32Array;
  /** Largest absolute difference allowed in any component. */
  readonly tolerance: number;
}

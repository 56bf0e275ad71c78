/**
 * How far a number may be from its golden. Each is what the README.md beside the goldens says ("Tolerance"); they are for fp32 arithmetic, and
 * about ten times what was measured between PyTorch and onnxruntime there.
 */
export interface Tolerance {
  /** What is compared, in the plural. */
  readonly what: string;
  /** Largest absolute difference of one number. */
  readonly most: number;
}

export const tolerances: Readonly<Record<Name, Tolerance>> = {
  /** all-MiniLM-L6-v2: "ONNX fp32 vs sentence-transformers, pooled: 1e-4". */
  embedding: { what: "embeddings", most: 1e-4 },
  /** The same: "normalised: 1e-5". */
  unitEmbedding: { what: "unit embeddings", most: 1e-5 },
  /** The same, where its variant is fp16: "fp16 weights, fp32 arithmetic, normalised: 1e-3". */
  halfEmbedding: { what: "unit embeddings of fp16 weights", most: 1e-3 },
  /** tiny-random-*: "floats within 1e-4 absolute (fp32 backends)"; it holds for their pooled vectors too. */
  hiddenState: { what: "hidden states", most: 1e-4 },
  pooled: { what: "pooled vectors", most: 1e-4 },
  /** minilm-l3-ner, minilm-pair-scorer, tiny-*: "logits 1e-4 absolute". */
  logits: { what: "logits", most: 1e-4 },
  /** minilm-l3-ner, tiny-random-cross-encoder, tiny-bert-nli-untrained: "scores 1e-5". */
  score: { what: "scores", most: 1e-5 },
  /** tiny-random-deberta-v3 and -modernbert: "floats within 1e-4 absolute". */
  probability: { what: "probabilities", most: 1e-4 },
  /** tiny-random-splade: "floats within 1e-4 absolute". */
  sparse: { what: "sparse weights", most: 1e-4 },
  /** tiny-random-colbert: "floats within 1e-4 absolute". */
  tokenVector: { what: "token vectors", most: 1e-4 },
  /** The same for each token of the query; a query has at most some dozens of them, and MaxSim is their sum. */
  maxSim: { what: "MaxSim scores", most: 1e-3 },
  /** tiny-random-clip: "joint logits 1e-3". */
  jointLogits: { what: "joint logits", most: 1e-3 },
  /** tiny-random-wav2vec2-ctc: "floats within 1e-4 absolute". */
  sound: { what: "samples", most: 1e-4 },
  /** gguf-tiny-llama: "F16 1e-3". */
  halfLogits: { what: "logits of fp16 weights", most: 1e-3 },
  /** The same: "compare by cosine (>= 0.99) instead". */
  direction: { what: "directions of logits", most: 0.01 },
  /** gguf-bitnet-i2_s: sums of 256 products in float32, of about 1. */
  products: { what: "products", most: 1e-5 },
  /** magika: scores of a softmax, as its own tests compare them. */
  magika: { what: "scores", most: 1e-3 },
};

type Name =
  | "embedding"
  | "unitEmbedding"
  | "halfEmbedding"
  | "hiddenState"
  | "pooled"
  | "logits"
  | "score"
  | "probability"
  | "sparse"
  | "tokenVector"
  | "maxSim"
  | "jointLogits"
  | "sound"
  | "halfLogits"
  | "direction"
  | "products"
  | "magika";

/**
 * Limits of requests that are not settings, because no legitimate client reaches them. docs/reference/http.md lists them, and a test compares the
 * two.
 */

/** The limits, each with its unit in its name. A limit on characters counts UTF-16 units. */
export const requestLimits = {
  /** URL of a request: scheme, host, path and query. */
  urlCharacters: 8192,
  /** A header whose value the server reads as a name or a target. */
  headerCharacters: 1024,
  /** A name: of a model, a prompt, a tensor, an output, a parameter, a variant or a target. */
  nameCharacters: 512,
  /** A short text that is read once for each of many: a label or a hypothesis template. */
  templateCharacters: 2048,
  /** Messages of a conversation, with the parts of their contents and their calls. */
  messages: 32_768,
  /** Inputs of one inference request, and outputs. */
  tensors: 64,
  /** Parameters of an inference request, and of each of its inputs and outputs. */
  parameters: 64,
  /** Dimensions of a tensor. */
  dimensions: 32,
  /** Entries of `rank_fields`. */
  rankFields: 64,
  /** All pairs of texts that a request reads: a query with each document, or a text with each label. */
  pairCharacters: 8_388_608,
  /** Token ids of one text. */
  tokenIds: 131_072,
  /** Fields that `x-inferyard-ignored` and the log name, all together. */
  ignoredCharacters: 2048,
  /** One of these fields. */
  ignoredPointerCharacters: 160,
  /** Faults that a validation error names. */
  faults: 3,
  /** Message of an error. */
  messageCharacters: 1024,
  /** Remedy of an error. */
  remedyCharacters: 512,
} as const;

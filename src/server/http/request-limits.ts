/** Limits of requests that are not settings: what no honest client reaches. docs/reference/http.md lists them; a test compares the two. */

export const requestLimits = {
  /** Characters of a request's address: scheme, host, path and query. */
  urlCharacters: 8192,
  /** Characters of a header that this server reads as a name or a target. */
  headerCharacters: 1024,
  /** Characters of a name: of a model, a prompt, a tensor, an output, a parameter, a variant, a target. */
  nameCharacters: 512,
  /** Characters of a short text that is read once for each of many: a label, a template. */
  templateCharacters: 2048,
  /** Inputs, and outputs, of one inference request. */
  tensors: 64,
  /** Parameters of an inference request, and of each of its inputs and outputs. */
  parameters: 64,
  /** Dimensions of a tensor. */
  dimensions: 32,
  /** Fields of documents that are read. */
  rankFields: 64,
  /** Characters of all pairs of texts that a request makes: of a query with each document, of a text with each label. */
  pairCharacters: 8_388_608,
  /** Token ids of one text. */
  tokenIds: 131_072,
  /** Faults that a validation error names. */
  faults: 3,
  /** Characters of an error's message. */
  messageCharacters: 1024,
  /** Characters of an error's remedy. */
  remedyCharacters: 512,
} as const;

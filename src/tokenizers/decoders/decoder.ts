/** A step from tokens back to text: it changes the list of texts. */
export type Decoder = (tokens: readonly string[]) => readonly string[];

/** `Decoder::decode_chain` of the Rust library: transforms the list of strings that is finally joined to the text. */
export type Decoder = (tokens: readonly string[]) => readonly string[];

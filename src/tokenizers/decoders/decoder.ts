/**
 * A step of decoding tokens to text (`Decoder::decode_chain` of the Rust library): transforms the list of strings that is finally
 * joined.
 */
export type TokenDecoder = (tokens: readonly string[]) => readonly string[];

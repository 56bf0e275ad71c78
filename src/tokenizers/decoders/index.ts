/** Decoders (tokens to text), by their `type` in tokenizer.json. */
import { createPattern } from "../pattern.ts";
import { getReplacement, prependScheme } from "../pre-tokenizers/metaspace.ts";
import {
  type ComponentConfig,
  type ComponentKinds,
  createComponent,
  inTurn,
  integerSetting,
  patternSetting,
  stringSetting,
} from "../config/component-config.ts";
import { decodeByteFallback, decodeByteLevel } from "./bytes.ts";
import { ctcDecoder, wordPieceDecoder } from "./words.ts";
import type { TokenDecoder } from "./decoder.ts";

const kinds: ComponentKinds<TokenDecoder> = {
  BPEDecoder: (step) => {
    const suffix = stringSetting(step, "suffix", "</w>");
    return (tokens) => tokens.map((token, index) => token.replaceAll(suffix, index === tokens.length - 1 ? "" : " "));
  },
  ByteFallback: () => decodeByteFallback,
  ByteLevel: () => decodeByteLevel,
  CTC: ctcDecoder,
  Fuse: () => (tokens) => [tokens.join("")],
  Metaspace: (step) => {
    const mark = getReplacement(step);
    const drops = prependScheme(step) !== "never";
    return (tokens) => tokens.map((token, index) => token.replaceAll(mark, index === 0 && drops ? "" : " "));
  },
  Replace: replaceDecoder,
  Sequence: (step) => inTurn(step, "decoders", createDecoder),
  Strip: stripDecoder,
  WordPiece: wordPieceDecoder,
};

/** Creates the decoder that a component of tokenizer.json describes. Throws Error for an unknown `type` or an invalid setting. */
export function createDecoder(step: ComponentConfig): TokenDecoder {
  return bounded(createComponent("decoder", kinds, step));
}

/** Maximum output of one decoder for all tokens together, in UTF-16 code units. */
const maxUnits = 2 ** 25;

function bounded(decode: TokenDecoder): TokenDecoder {
  return (tokens) => {
    const texts = decode(tokens);
    checkUnits(texts.reduce((sum, { length }) => sum + length, 0));
    return texts;
  };
}

function checkUnits(units: number): void {
  if (units > maxUnits) throw new Error(`its decoder writes ${units} characters, and the limit is ${maxUnits}`);
}

function replaceDecoder(step: ComponentConfig): TokenDecoder {
  const pattern = createPattern(patternSetting(step, "pattern"));
  const content = stringSetting(step, "content");
  return (tokens) =>
    tokens.map((token) => {
      const matches = pattern(token);
      checkUnits(token.length + (matches.length / 2) * content.length);
      let text = "";
      let done = 0;
      for (let index = 0; index < matches.length; index += 2) {
        text += token.slice(done, matches[index]) + content;
        done = matches[index + 1] ?? done;
      }
      return text + token.slice(done);
    });
}

/** Decoder `Strip`: removes up to `start` and `stop` occurrences of a character from the start and the end of each string. */
function stripDecoder(step: ComponentConfig): TokenDecoder {
  const content = stringSetting(step, "content");
  const [maxFromStart, maxFromEnd] = [integerSetting(step, "start", 0), integerSetting(step, "stop", 0)];
  if (Array.from(content).length !== 1) throw new Error('Strip needs "content" to be one character');
  return (tokens) =>
    tokens.map((token) => {
      let text = token;
      for (let count = 0; count < maxFromStart && text.startsWith(content); count++) text = text.slice(content.length);
      for (let count = 0; count < maxFromEnd && text.endsWith(content); count++) text = text.slice(0, -content.length);
      return text;
    });
}

/** Decoders: tokens back to text. Each changes the list of texts; at the end they are joined. One table of kinds. */
import { patternOf } from "../pattern.ts";
import { markOf, prependScheme } from "../pre-tokenizers/metaspace.ts";
import { countSetting, patternSetting, stepList, textSetting } from "../config/component-config.ts";
import type { Step } from "../config/component-config.ts";
import { decodeByteFallback, decodeByteLevel } from "./bytes.ts";
import { ctc, wordPiece } from "./words.ts";
import type { Decoder } from "./decoder.ts";

const kinds: Readonly<Record<string, (step: Step) => Decoder>> = {
  BPEDecoder: (step) => {
    const suffix = textSetting(step, "suffix", "</w>");
    return (tokens) => tokens.map((token, index) => token.replaceAll(suffix, index === tokens.length - 1 ? "" : " "));
  },
  ByteFallback: () => decodeByteFallback,
  ByteLevel: () => decodeByteLevel,
  CTC: ctc,
  Fuse: () => (tokens) => [tokens.join("")],
  Metaspace: (step) => {
    const mark = markOf(step);
    const drops = prependScheme(step) !== "never";
    return (tokens) => tokens.map((token, index) => token.replaceAll(mark, index === 0 && drops ? "" : " "));
  },
  Replace: replaceDecoder,
  Sequence: (step) => {
    const decoders = stepList(step, "decoders").map(decoderOf);
    return (tokens) => decoders.reduce((texts, decode) => decode(texts), tokens);
  },
  Strip: stripDecoder,
  WordPiece: wordPiece,
};

/** Throws an Error that names what is not known. */
export function decoderOf(step: Step): Decoder {
  const kind = Object.hasOwn(kinds, step.type) ? kinds[step.type] : undefined;
  if (kind === undefined) throw new Error(`the decoder ${JSON.stringify(step.type)} is not known`);
  return bounded(kind(step));
}

/** Units that one step may write for all tokens together. */
const maxUnits = 2 ** 25;

function bounded(decode: Decoder): Decoder {
  return (tokens) => {
    const texts = decode(tokens);
    checkUnits(texts.reduce((sum, { length }) => sum + length, 0));
    return texts;
  };
}

function checkUnits(units: number): void {
  if (units > maxUnits) throw new Error(`its decoder makes a text of ${units} characters, and may make one of ${maxUnits}`);
}

function replaceDecoder(step: Step): Decoder {
  const pattern = patternOf(patternSetting(step, "pattern"));
  const content = textSetting(step, "content");
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

/** Takes at most so many of a character from the start and the end of each text. */
function stripDecoder(step: Step): Decoder {
  const content = textSetting(step, "content");
  const [most, mostAtEnd] = [countSetting(step, "start", 0), countSetting(step, "stop", 0)];
  if (Array.from(content).length !== 1) throw new Error('Strip needs "content" to be one character');
  return (tokens) =>
    tokens.map((token) => {
      let text = token;
      for (let count = 0; count < most && text.startsWith(content); count++) text = text.slice(content.length);
      for (let count = 0; count < mostAtEnd && text.endsWith(content); count++) text = text.slice(0, -content.length);
      return text;
    });
}

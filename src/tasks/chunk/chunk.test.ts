import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { readManifest } from "../../models/index.ts";
import { type Tokenizer, loadTokenizer } from "../../tokenizers/index.ts";
import { textSettings } from "../embed-settings.ts";
import { type Chunk, type ChunkedText, chunkTexts } from "./chunk.ts";
import { type ChunkOptions, type ChunkStrategy, chunkSettings } from "./chunk-options.ts";
import { isGraphemeStart } from "./segments.ts";

let tokenizer: Tokenizer;

beforeAll(async () => {
  tokenizer = await loadTokenizer(textSettings(await readManifest("builtin")));
});

const plain: readonly ChunkStrategy[] = ["fixed", "markdown", "code"];

async function chunk(text: string, options: ChunkOptions = {}): Promise<ChunkedText> {
  const [result] = await chunkTexts([text], tokenizer, chunkSettings(options), undefined);
  return result!;
}

const joined = (chunks: readonly Chunk[]): string => chunks.map(({ text }) => text).join("");

const graphemes = (text: string): string[] =>
  Array.from(new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text), ({ segment }) => segment);

/** What every chunking must keep, whatever the text. */
function check(text: string, { chunks }: ChunkedText, target: number): void {
  expect(joined(chunks) === text, "lossless").toBe(true);
  let position = 0;
  for (const { text: piece, start, end, tokens } of chunks) {
    expect([start, end]).toEqual([position, position + piece.length]);
    expect(piece).not.toBe("");
    expect(tokens).toBe(tokenizer.count(piece));
    if (tokens > target) expect(graphemes(piece).length, `${tokens} tokens in ${JSON.stringify(piece)}`).toBe(1);
    position = end;
  }
}

/** All grapheme starts of a short text, as Intl.Segmenter sees them when it sees it whole. */
function checkGraphemes(text: string, { chunks }: ChunkedText): void {
  const starts = new Set(Array.from(new Intl.Segmenter("en").segment(text), ({ index }) => index));
  for (const { start } of chunks) expect(starts.has(start), `a grapheme is split at ${start}`).toBe(true);
}

/** Pieces that are awkward to cut, put together at random. */
const awkward = fc.constantFrom(
  ...Array.from("\n \t\0\r{}[]()#*-|`~.!?aé'\u0301\u200D\uFE0F\u0600\u0E33한각中文ทักทาย😀नि्क्ष"),
  "\r\n",
  "\n\n",
  "```\n",
  "# ",
  "- ",
  "| a | b |\n|---|---|\n",
  "word",
  " and ",
  "antidisestablishmentarianism",
  "🇩🇪🇫🇷",
  "👩‍👩‍👧‍👦",
  "e\u0301\u0301",
);
const unicode = fc.oneof(
  fc.array(awkward, { maxLength: 120 }).map((parts) => parts.join("")),
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 100 }).map((units) => String.fromCharCode(...units)),
);

describe("any text", () => {
  it("1,000 random texts: nothing is lost, no chunk exceeds the target, no grapheme is split", async () => {
    const property = fc.asyncProperty(
      unicode,
      fc.integer({ min: 1, max: 20 }),
      fc.constantFrom(...plain),
      async (text, target, strategy) => {
        const result = await chunk(text, { strategy, targetTokens: target });
        check(text, result, target);
        checkGraphemes(text, result);
      },
    );
    await fc.assert(property, { numRuns: 1000 });
  });

  it("with overlap the chunks still cover the text, each begins before the last one ends, and all keep the target", async () => {
    const property = fc.asyncProperty(unicode, fc.integer({ min: 2, max: 20 }), async (text, target) => {
      const { chunks } = await chunk(text, { targetTokens: target, overlapTokens: target - 1 });
      let covered = 0;
      let last = -1;
      for (const { start, end, text: piece, tokens } of chunks) {
        expect(piece).toBe(text.slice(start, end));
        expect(start).toBeLessThanOrEqual(covered);
        expect(start).toBeGreaterThan(last);
        expect(end).toBeGreaterThan(covered);
        if (tokens > target) expect(graphemes(piece).length).toBe(1);
        covered = end;
        last = start;
      }
      expect(covered).toBe(text.length);
    });
    await fc.assert(property, { numRuns: 300 });
  });

  it.each(plain)("the project's own pages, strategy %s", async (strategy) => {
    const folder = fileURLToPath(new URL("../../../docs/guide/", import.meta.url));
    for (const name of readdirSync(folder).filter((file) => file.endsWith(".md"))) {
      const text = readFileSync(`${folder}${name}`, "utf8");
      const result = await chunk(text, { strategy, targetTokens: 120 });
      check(text, result, 120);
      const small = result.chunks.filter(({ tokens }) => tokens < 30).length;
      expect(small).toBeLessThanOrEqual(result.chunks.length / 4);
    }
  });
});

const attacks: readonly (readonly [string, string])[] = [
  ["a lone surrogate", "\uD800"],
  ["50 kB of one character", "a".repeat(50_000)],
  ["100 kB without spaces", "lorem-ipsum/dolor".repeat(6_000)],
  ["100 kB of Chinese without spaces", "今天天气很好我们去公园玩吧".repeat(2_600)],
  ["characters the tokenizer does not know", "𓀀 𓁐".repeat(20_000)],
  ["NUL bytes", "\0a\0".repeat(10_000)],
  ["only newlines", "\n".repeat(100_000)],
  ["only CR LF", "\r\n".repeat(50_000)],
  ["an unclosed fence", `text\n\n\`\`\`js\n${"const a = 1;\n".repeat(5000)}`],
  ["deep brackets", `${"[".repeat(50_000)}${"]".repeat(50_000)}`],
  ["a grapheme of 10,000 marks", `before a${"\u0301".repeat(10_000)} after`],
  ["flags", "🇩🇪".repeat(5_000)],
];

describe.each(attacks)("%s", (_name, text) => {
  it.each(plain)("%s", async (strategy) => {
    const result = await chunk(text, { strategy, targetTokens: 50 });
    check(text, result, 50);
    let known = 0;
    for (const { start } of result.chunks.slice(1)) {
      expect(isGraphemeStart(text, start, known)).toBe(true);
      known = start;
    }
  });
});

it("an empty text has no chunks", async () => {
  expect(await chunk("")).toEqual({ chunks: [], truncated: false });
});

it("a text the tokenizer counts as nothing is cut all the same", async () => {
  const { chunks } = await chunk("𓀀 ".repeat(10_000), { targetTokens: 100 });
  expect(Math.max(...chunks.map(({ text }) => text.length))).toBeLessThanOrEqual(3200);
});

import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { amount, runsAll } from "../../../test/fixtures/slow.ts";
import { readManifest } from "../../models/index.ts";
import { type Tokenizer, loadTokenizer } from "../../tokenizers/index.ts";
import { textSettings } from "../encoding/text-settings.ts";
import { chunkTexts } from "./chunk.ts";
import type { Chunk, ChunkedText } from "../text-threads/chunked-text.ts";
import { chunkSettings } from "./chunk-options.ts";
import type { ChunkOptions } from "./generated-chunk-options.ts";
import type { ChunkStrategy } from "../text-threads/chunked-text.ts";
import type { ChunkModel } from "./chunk-model.ts";
import { isGraphemeStart } from "../../tokenizers/unicode/segmentation.ts";
import type { Separator } from "../text-threads/chunked-text.ts";

let tokenizer: Tokenizer;

beforeAll(async () => {
  tokenizer = await loadTokenizer(textSettings(await readManifest("builtin")));
});

const plain: readonly ChunkStrategy[] = ["fixed", "markdown", "code"];

/** Chunking only counts. */
const tokenizerOfLetters = {
  frame: { prefix: [], suffix: [] },
  count: (text: string) => text.length,
} as unknown as Tokenizer;

async function chunk(text: string, options: ChunkOptions = {}): Promise<ChunkedText> {
  const [result] = await chunkTexts([text], tokenizer, chunkSettings(options), undefined);
  return result!;
}

/** A model that nothing is asked of. */
const noModel: ChunkModel = {
  embedTexts: () => Promise.reject(new Error("no texts")),
  labelledEnds: () => Promise.reject(new Error("no ends")),
  embedSpans: () => Promise.reject(new Error("no spans")),
};

const textsOf = ({ chunks }: ChunkedText): string[] => chunks.map(({ text }) => text);
const joined = (chunks: readonly Chunk[]): string => chunks.map(({ text }) => text).join("");

const graphemes = (text: string): string[] =>
  Array.from(new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text), ({ segment }) => segment);

/** What every chunking must keep, whatever the text. */
function expectWhole(text: string, { chunks }: ChunkedText, target: number): void {
  expect(joined(chunks) === text, "lossless").toBe(true);
  let position = 0;
  for (const { text: piece, start, end, tokens } of chunks) {
    expect([start, end]).toEqual([position, position + piece.length]);
    expect(piece).not.toBe("");
    expect(tokens).toBe(tokenizer.count(piece));
    expect(tokens > target ? graphemes(piece).length : 1, `${tokens} tokens in ${JSON.stringify(piece)}`).toBe(1);
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
  it(`${amount(1000, 200)} random texts: nothing is lost, no chunk exceeds the target, no grapheme is split`, async () => {
    const property = fc.asyncProperty(
      unicode,
      fc.integer({ min: 1, max: 20 }),
      fc.constantFrom(...plain),
      async (text, target, strategy) => {
        const result = await chunk(text, { strategy, targetTokens: target });
        expectWhole(text, result, target);
        checkGraphemes(text, result);
      },
    );
    await fc.assert(property, { numRuns: amount(1000, 200) });
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
        expect(tokens > target ? graphemes(piece).length : 1).toBe(1);
        covered = end;
        last = start;
      }
      expect(covered).toBe(text.length);
    });
    await fc.assert(property, { numRuns: amount(300, 60) });
  });

  it.each(plain)("the project's own pages, strategy %s", async (strategy) => {
    const isOfSample = (index: number): boolean => runsAll || index % plain.length === plain.indexOf(strategy);
    const folder = fileURLToPath(new URL("../../../docs/guide/", import.meta.url));
    for (const name of readdirSync(folder).filter((file, index) => file.endsWith(".md") && isOfSample(index))) {
      const text = readFileSync(`${folder}${name}`, "utf8");
      const result = await chunk(text, { strategy, targetTokens: 120 });
      expectWhole(text, result, 120);
      const small = result.chunks.filter(({ tokens }) => tokens < 30).length;
      expect(small).toBeLessThanOrEqual(Math.max(1, result.chunks.length / 4)); // the rest of a short page is small
    }
  });
});

const attacks: readonly (readonly [string, string])[] = [
  ["a lone surrogate", "\uD800"],
  ["10 kB of one character", "a".repeat(10_000)],
  ["a long text without spaces", "lorem-ipsum/dolor".repeat(amount(6_000, 1_500))],
  ["Chinese without spaces", "今天天气很好我们去公园玩吧".repeat(amount(2_600, 1_000))],
  ["characters the tokenizer does not know", "𓀀 𓁐".repeat(amount(20_000, 5_000))],
  ["NUL bytes", "\0a\0".repeat(amount(10_000, 5_000))],
  ["only newlines", "\n".repeat(amount(30_000, 10_000))],
  ["only CR LF", "\r\n".repeat(amount(20_000, 8_000))],
  ["an unclosed fence", `text\n\n\`\`\`js\n${"const a = 1;\n".repeat(5000)}`],
  ["deep brackets", `${"[".repeat(amount(50_000, 20_000))}${"]".repeat(amount(50_000, 20_000))}`],
  ["a grapheme of 10,000 marks", `before a${"\u0301".repeat(10_000)} after`],
  ["flags", "🇩🇪".repeat(5_000)],
];

describe.each(attacks)("%s", (_name, text) => {
  it.each(plain)("%s", async (strategy) => {
    const result = await chunk(text, { strategy, targetTokens: 50 });
    expectWhole(text, result, 50);
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

describe("fixed", () => {
  it("cuts at paragraphs rather than at lines, sentences or words", async () => {
    const text = "One two. Three four.\nFive six.\n\nSeven eight nine ten. Eleven twelve thirteen fourteen.";
    expect(textsOf(await chunk(text, { targetTokens: 15 }))).toEqual([
      "One two. Three four.\nFive six.\n\n",
      "Seven eight nine ten. Eleven twelve thirteen fourteen.",
    ]);
  });

  it("follows the order of separators it is given", async () => {
    const text = "one two three four five.\nsix. Seven eight nine";
    const first = async (...separators: Separator[]): Promise<string | undefined> =>
      textsOf(await chunk(text, { targetTokens: 9, separators }))[0];
    expect(await first("lines")).toBe("one two three four five.\n");
    expect(await first("lines", "sentences")).toBe("one two three four five.\n");
    expect(await first("sentences", "lines")).toBe("one two three four five.\nsix. ");
    expect(await first("words")).toBe("one two three four five.\nsix. Seven ");
  });

  it("repeats the end of the chunk before, from the start of a sentence where one is near", async () => {
    const text = "First we wait. Then we go home. At last we sleep well. Nobody knows about it all.";
    const { chunks } = await chunk(text, { targetTokens: 15, overlapTokens: 6 });
    expect(chunks[1]?.text.startsWith("At last we sleep well. Nobody")).toBe(true);
    expect(chunks[0]?.text.endsWith("At last we sleep well. ")).toBe(true);
  });

  it("gives positions in the unit asked for", async () => {
    const text = "a😀 é \uD800 z";
    const last = async (offsets: "utf16" | "codepoints" | "bytes"): Promise<unknown> => {
      const { chunks } = await chunk(text, { targetTokens: 1, offsets });
      return [chunks.at(-1)?.text, chunks.at(-1)?.start, chunks.at(-1)?.end];
    };
    expect(await last("utf16")).toEqual(["z", 8, 9]);
    expect(await last("codepoints")).toEqual(["z", 7, 8]);
    expect(await last("bytes")).toEqual(["z", 13, 14]);
    expect(new TextEncoder().encode(text).length).toBe(14);
  });

  it("says when maxChunks left something out", async () => {
    const { chunks, truncated } = await chunk("one two three four", { targetTokens: 2, maxChunks: 1 });
    expect([joined(chunks), truncated]).toEqual(["one two ", true]);
    expect((await chunk("one two three four", { targetTokens: 2, maxChunks: 2 })).truncated).toBe(false);
  });
});

describe("markdown", () => {
  const prose = "Some words that fill the room before it comes here.\n\n";
  const keeps = async (block: string, target: number): Promise<boolean> => {
    const result = await chunk(`${prose}${block}\n${prose}`, { strategy: "markdown", targetTokens: target });
    return textsOf(result).some((text) => text.includes(block));
  };

  it.each([
    ["a fence with blank lines", "```js\nconst a = 1;\n\nconst b = 2;\n\n# not a heading\n```\n"],
    ["a list", "- one thing to do\n- another thing\n\n  with a paragraph\n- a third thing\n"],
    ["a table", "| name | size |\n|---|---|\n| one | 1 |\n| two | 2 |\n"],
  ])("keeps %s whole where it fits, though a cut inside would fill the chunk better", async (_name, block) => {
    const tokens = tokenizer.count(block);
    expect(await keeps(block, tokens + 8)).toBe(true);
    expect(await keeps(block, tokens - 1)).toBe(false);
  });

  it("cuts before a heading, and never between it and what it heads", async () => {
    const section = (level: string, words: number): string => `${level} Title\n\n${"word ".repeat(words).trim()}.\n\n`;
    const text = `${section("#", 20)}${section("##", 20)}${section("##", 20)}`;
    expect(textsOf(await chunk(text, { strategy: "markdown", targetTokens: 30 }))).toEqual([
      section("#", 20),
      section("##", 20),
      section("##", 20),
    ]);
    const late = `${"word ".repeat(20).trim()}.\n\n## Title\n\n${"word ".repeat(20).trim()}.\n`;
    expect(textsOf(await chunk(late, { strategy: "markdown", targetTokens: 25 }))[1]).toMatch(/^## Title\n\nword/);
  });

  it("prefers the higher heading, and knows headings that are underlined", async () => {
    const text = `${"word ".repeat(14)}\n\nTitle\n=====\n\n${"word ".repeat(3)}\n\n### Small\n\n${"word ".repeat(12)}`;
    expect(textsOf(await chunk(text, { strategy: "markdown", targetTokens: 26 }))[0]).toBe(`${"word ".repeat(14)}\n\n`);
  });
});

describe("code", () => {
  const functionOf = (name: string): string => `function ${name}(a) {\n  if (a) {\n    b();\n\n    c();\n  }\n  return a;\n}\n\n`;

  it("cuts between functions rather than inside of one", async () => {
    const source = `${functionOf("first")}${functionOf("second")}${functionOf("third")}`;
    const target = Math.ceil(tokenizer.count(functionOf("second")) * 1.6);
    expect(textsOf(await chunk(source, { strategy: "code", targetTokens: target }))).toEqual([
      functionOf("first"),
      functionOf("second"),
      functionOf("third"),
    ]);
  });

  it("cuts a function that is too long where it is least deep", async () => {
    const source = "def run():\n    first()\n    for x in y:\n        one()\n        two()\n    last()\n    more()\n";
    const pieces = textsOf(await chunk(source, { strategy: "code", targetTokens: 16 }));
    for (const piece of pieces.slice(1)) expect(piece).toMatch(/^ {4}\S/);
    expect(pieces.length).toBeGreaterThan(1);
  });
});

describe("semantic", () => {
  /** Sentences about cats point one way, others another. */
  const embedTexts = async (texts: readonly string[]): Promise<Float32Array[]> =>
    texts.map((text) => Float32Array.of(text.includes("cat") ? 1 : 0, text.includes("tax") ? 1 : 0));
  const text = "A cat sits. The cat sleeps.  Then tax rises. More tax comes.\n\nNothing here. A cat again.";
  const cut = async (options: ChunkOptions): Promise<string[]> => {
    const [result] = await chunkTexts([text], tokenizer, chunkSettings({ strategy: "semantic", ...options }), {
      ...noModel,
      embedTexts,
    });
    return textsOf(result!);
  };

  it("cuts where the subject changes, and nowhere else; what has no direction parts from nothing", async () => {
    expect(await cut({ threshold: 0.5 })).toEqual([
      "A cat sits. The cat sleeps.  ",
      "Then tax rises. More tax comes.\n\nNothing here. A cat again.",
    ]);
  });

  it("takes the furthest neighbours by percentile", async () => {
    expect(await cut({ percentile: 80 })).toEqual(await cut({ threshold: 0.5 }));
    expect(await cut({ percentile: 100 })).toEqual([text]);
  });

  it("keeps the target inside of a subject", async () => {
    const pieces = await cut({ threshold: 0.5, targetTokens: 5 });
    expect(pieces.join("")).toBe(text);
    for (const piece of pieces) expect(tokenizer.count(piece)).toBeLessThanOrEqual(5);
  });
});

describe("where a model says that something ends", () => {
  const text = "one two three four five six seven";
  const cut = async (ends: readonly number[], options: ChunkOptions = {}): Promise<string[]> => {
    const settings = chunkSettings({ strategy: "token-classification", ...options });
    const [result] = await chunkTexts([text], tokenizer, settings, { ...noModel, labelledEnds: async () => ends });
    expectWhole(text, result!, settings.target);
    return textsOf(result!);
  };

  it("a chunk ends, at that very place; what is too long between is cut as fixed does", async () => {
    expect(await cut([3, 13])).toEqual(["one", " two three", " four five six seven"]);
    expect(await cut([13], { targetTokens: 2 })).toEqual(["one two ", "three", " four five ", "six seven"]);
    expect(await cut([])).toEqual([text]);
    expect(await cut([text.length])).toEqual([text]);
  });

  it("any places leave the text whole", async () => {
    const places = fc.uniqueArray(fc.integer({ min: 1, max: text.length }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(places, async (ends) => {
        const cuts = ends.toSorted((a, b) => a - b);
        expect((await cut(cuts, { targetTokens: 3 })).join("")).toBe(text);
      }),
      { numRuns: amount(50, 10) },
    );
  });
});

describe("late", () => {
  it("asks for the vectors of the very chunks that its structure gives, as many as are kept", async () => {
    const text = "# A\n\none two three\n\n# B\n\nfour five six";
    const options = { targetTokens: 4, maxChunks: 2 } as const;
    const asked: string[][] = [];
    const model: ChunkModel = {
      ...noModel,
      async embedSpans(whole, spans) {
        asked.push(spans.map(({ start, end }) => whole.slice(start, end)));
        return spans.map(({ start }) => Float32Array.of(start));
      },
    };
    for (const structure of ["fixed", "markdown", "code"] as const) {
      const settings = chunkSettings({ strategy: "late", structure, ...options });
      const [result] = await chunkTexts([text], tokenizer, settings, model);
      const plainly = await chunk(text, { strategy: structure, ...options });
      expect(result!.truncated).toBe(true);
      expect(result!.chunks.map(({ embedding: _embedding, ...one }) => one)).toEqual(plainly.chunks);
      expect(result!.chunks.map(({ embedding, start }) => embedding![0] === start)).toEqual([true, true]);
      expect(asked.at(-1)).toEqual(textsOf(plainly));
    }
  });
});

describe("refuses", () => {
  it.each<[string, object]>([
    ["overlapTokens is 10, and must be below targetTokens, which is 10", { targetTokens: 10, overlapTokens: 10 }],
    ["overlapTokens is -1, and must be a whole number from 0", { overlapTokens: -1 }],
    ["targetTokens is 0, and must be a whole number above 0", { targetTokens: 0 }],
    ["maxChunks is 1.5, and must be a whole number above 0", { maxChunks: 1.5 }],
    ['strategy is "smart"', { strategy: "smart" }],
    ["structure has no effect with the strategy fixed", { structure: "markdown" }],
    ["prompt has no effect with the strategy semantic", { strategy: "semantic", prompt: "document" }],
    ["stride has no effect with the strategy markdown", { strategy: "markdown", stride: 5 }],
    ["stride is -1, and must be a whole number from 0", { strategy: "late", stride: -1 }],
    ['structure is "semantic"', { strategy: "late", structure: "semantic" }],
    ["separators has no effect with the structure code", { strategy: "late", structure: "code", separators: ["words"] }],
    ["threshold has no effect with the strategy token-classification", { strategy: "token-classification", threshold: 0.5 }],
    ["separators has no effect with the strategy code", { strategy: "code", separators: ["words"] }],
    ['a separator is "pages"', { separators: ["pages"] }],
    ["a separator is named twice: words, words", { separators: ["words", "words"] }],
    ["threshold has no effect with the strategy fixed", { threshold: 0.5 }],
    ["percentile has no effect together with threshold", { strategy: "semantic", threshold: 0.5, percentile: 5 }],
    ["threshold is NaN, and must be from -1 to 1", { strategy: "semantic", threshold: Number.NaN }],
    ['offsets is "lines"', { offsets: "lines" }],
  ])("%s", (message, options) => {
    expect(() => chunkSettings(options as ChunkOptions)).toThrow(message);
  });
});

it("counts no special tokens", async () => {
  const framed: Tokenizer = {
    ...tokenizerOfLetters,
    frame: { prefix: [1], suffix: [2, 3] },
    count: (text) => text.length + 3,
  };
  const [result] = await chunkTexts(["abc def"], framed, chunkSettings({ targetTokens: 4 }), undefined);
  expect(result?.chunks.map(({ text, tokens }) => [text, tokens])).toEqual([
    ["abc ", 4],
    ["def", 3],
  ]);
});

/** Longer texts have fewer tokens than their parts, or more, so that sums mislead. */
it.each([
  ["more", (text: string) => Math.ceil(text.length ** 1.3)],
  ["fewer", (text: string) => Math.ceil(text.length ** 0.7)],
])("keeps the target where a whole has %s tokens than its parts", async (_name, count) => {
  const text = "lorem ipsum dolor sit amet ".repeat(200);
  const [result] = await chunkTexts([text], { ...tokenizerOfLetters, count }, chunkSettings({ targetTokens: 60 }), undefined);
  expect(joined(result!.chunks)).toBe(text);
  for (const { tokens, text: piece } of result!.chunks) {
    expect(tokens).toBe(count(piece));
    expect(tokens).toBeLessThanOrEqual(60);
  }
});

/** question-answering on real engines, with models whose answers are known beforehand (test/fixtures/models/answering-model.ts). */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, createRuntime, pipeline } from "inferyard";
import { type TokenLogits, writeHeadModel, writeTableModel } from "../fixtures/models/answering-model.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { amount, runsAll } from "../fixtures/slow.ts";

const [skip, name] = needsData("known answers");
const miniLm = `${sharedData}all-MiniLM-L6-v2`;

describe.skipIf(skip).each(runsAll ? ["onnx:cpu", "wasm:cpu"] : ["onnx:cpu"])(`${name} on %s`, (target) => {
  let runtime: Runtime;
  let folder: string;
  /** Points at Madrid, Tokyo (in Chinese characters) and a piece within words; 32 tokens a window. */
  let model: string;
  const table = (place: string, tokenizerFolder: string, logits: TokenLogits, maxTokens = 32): string => {
    const path = join(folder, place);
    writeTableModel(path, { tokenizerFolder, maxTokens, ...logits });
    return path;
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "inferyard-answer-"));
    const logits = { madrid: 8, 東: 6, "##ffa": 4 };
    model = table("words", miniLm, { start: logits, end: { madrid: 8, 京: 6, "##ffa": 4 } });
    runtime = await createRuntime({ target, host: "inline", threads: 1 });
  });
  afterAll(async () => {
    await runtime.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  it("the answer, its place, and a score that can be worked out by hand", async () => {
    const context = "She lives in Madrid now.";
    const { results, target: ran, windows } = await runtime.answer("Where does she live?", context, { model });
    // Seven tokens share the softmax: [CLS], and she lives in madrid now and the full stop.
    const share = Math.exp(8) / (Math.exp(8) + 6);
    expect(results).toEqual([[{ answer: "Madrid", start: 13, end: 19, score: expect.closeTo(share * share, 5) as number }]]);
    expect([ran, windows]).toEqual([target, [1]]);
  });

  it("positions in every unit, with emoji, Chinese characters and words that come twice", async () => {
    const contexts = ["🍕👩‍👩‍👧 é 東京 now, not 東 nor 京", "Rome, 𝒳 Rome, Rome: Madrid\u0301! Roma", "é\u0301\u0000 madrid"];
    const expected = ["東京", "Madrid\u0301", "madrid"];
    const ask = async (offsets: "utf16" | "codepoints" | "bytes") =>
      (await runtime.answer("where?", contexts, { model, offsets })).results.map(([best]) => best!);
    const [units, points, bytes] = [await ask("utf16"), await ask("codepoints"), await ask("bytes")];
    for (const [index, context] of contexts.entries()) {
      expect(units[index]?.answer).toBe(expected[index]);
      expect(context.slice(units[index]?.start, units[index]?.end)).toBe(expected[index]);
      expect(Array.from(context).slice(points[index]?.start, points[index]?.end).join("")).toBe(expected[index]);
      expect(Buffer.from(context).subarray(bytes[index]?.start, bytes[index]?.end).toString()).toBe(expected[index]);
    }
  });

  it("a piece of a word becomes the word, unless tokens are asked for", async () => {
    const context = "He is unaffable, they say.";
    const ask = async (alignToWords: boolean) =>
      (await runtime.answer("How is he?", context, { model, alignToWords })).results[0]?.[0]?.answer;
    expect([await ask(true), await ask(false)]).toEqual(["unaffable", "ffa"]);
  });

  it("an answer in the last of many windows is found, at its place in the whole context", async () => {
    const context = `${"The train stops here and there. ".repeat(40)}At last it is in Madrid`;
    const { results, windows, tokens } = await runtime.answer("Where is it?", context, { model });
    expect(results[0]?.[0]).toMatchObject({ answer: "Madrid", start: context.length - 6, end: context.length });
    expect(windows[0]).toBeGreaterThan(10);
    expect(tokens[0]).toBeGreaterThan(280);
    const everywhere = await runtime.answer("Where?", "Madrid, Madrid. ".repeat(60), { model, topK: 3 });
    expect(everywhere.results[0]?.[0]?.answer).toBe("Madrid");
    for (const { score } of everywhere.results[0] ?? []) expect(score).toBeLessThanOrEqual(1 + 1e-9);
  });

  it("every place of an answer is seen by some window, whatever the stride", async () => {
    const words = Array.from({ length: 60 }, (_word, index) => `w${index}`);
    for (const stride of [1, 4, 10]) {
      const contexts = [0, 7, 19, 20, 21, 33, 59].map((place) => words.with(place, "Madrid").join(" "));
      const { results } = await runtime.answer("where?", contexts, { model, stride });
      for (const [index, context] of contexts.entries())
        expect(results[index]?.[0]).toMatchObject({ answer: "Madrid", start: context.indexOf("Madrid") });
    }
  });

  it("no answer: the class token says it, over all windows the least sure counts", async () => {
    const shy = table("shy", miniLm, { start: { "[CLS]": 5, madrid: 8 }, end: { "[CLS]": 5, madrid: 8 } });
    const ask = async (context: string, noAnswer: boolean) =>
      (await runtime.answer("where?", context, { model: shy, noAnswer })).results[0]?.[0];
    expect(await ask("Nobody knows.", true)).toMatchObject({ answer: "", start: 0, end: 0 });
    expect((await ask("Nobody knows.", false))?.answer).not.toBe("");
    expect(await ask("In Madrid.", true)).toMatchObject({ answer: "Madrid" });
    expect(await ask(`${"nothing here. ".repeat(60)} Madrid`, true)).toMatchObject({ answer: "Madrid" });
  });

  it("topK gives the best ones in order, fewer where there are fewer, none for a context without words", async () => {
    const { results } = await runtime.answer("where?", ["Madrid or 東京", "Madrid", "", " \n\t"], { model, topK: 3 });
    expect(results.map((answers) => answers.length)).toEqual([3, 1, 0, 0]);
    expect(results[0]?.[0]?.answer).toBe("Madrid");
    const scores = results[0]?.map(({ score }) => score) ?? [];
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  });

  it("maxAnswerTokens bounds an answer", async () => {
    const wide = table("wide", miniLm, { start: { north: 9 }, end: { madrid: 9 } });
    const ask = async (maxAnswerTokens: number) =>
      (await runtime.answer("where?", "north of the city of Madrid", { model: wide, maxAnswerTokens })).results[0]?.[0]?.answer;
    expect(await ask(6)).toBe("north of the city of Madrid");
    expect(await ask(5)).not.toBe("north of the city of Madrid");
  });

  it("questions and contexts pair up", async () => {
    const together = await runtime.answer(["who?", "where?"], ["It is Madrid.", "It is 東京."], { model });
    expect(together.results.map(([best]) => best?.answer)).toEqual(["Madrid", "東京"]);
    const one = await runtime.answer(["who?", "where?"], "It is Madrid.", { model });
    expect(one.results.map(([best]) => best?.answer)).toEqual(["Madrid", "Madrid"]);
    expect((await runtime.answer("who?", [], { model })).results).toEqual([]);
  });

  it("all at once gives what one by one gives", async () => {
    const contexts = ["Madrid", "a", "The train. ".repeat(30), "it is 東京 and unaffable", `${"far ".repeat(70)}Madrid`];
    const questions = ["where?", "what is it that they say of it?", "who?", "when?", "why?"];
    const together = await runtime.answer(questions, contexts, { model, topK: 4, noAnswer: true });
    for (const [index, context] of contexts.entries()) {
      const { results } = await runtime.answer(questions[index] ?? "", context, { model, topK: 4, noAnswer: true });
      expect(together.results[index]?.map(({ start, end }) => [start, end])).toEqual(
        results[0]?.map(({ start, end }) => [start, end]),
      );
      for (const [place, { score }] of (results[0] ?? []).entries())
        expect(Math.abs((together.results[index]?.[place]?.score ?? Number.NaN) - score)).toBeLessThan(1e-5);
    }
  });

  it.each([
    ["byte-level pieces", "tiny-random-bart", "Ġsmall"],
    ["pieces of SentencePiece", "tiny-random-deberta-v3", "▁small"],
  ])("%s: an answer begins with its word, not with the space before it", async (_kind, tokenizer, token) => {
    const logits = { [token]: 9 };
    const path = table(tokenizer, `${sharedData}${tokenizer}`, { start: logits, end: logits }, 64);
    const { results } = await runtime.answer("what?", "it was a small house", { model: path });
    expect(results[0]?.[0]).toMatchObject({ answer: "small", start: 9, end: 14 });
  });

  it("a needle among words of any script is found where it is", async () => {
    const word = fc.constantFrom("é", "日本", "🍕", "𝒳y", "naïve", "e\u0301", "日", "a-b", "(x)", "…", "ß");
    const haystack = fc.tuple(fc.array(word, { maxLength: 30 }), fc.array(word, { maxLength: 30 }));
    const handle = await runtime.load(model);
    await fc.assert(
      fc.asyncProperty(haystack, async ([before, after]) => {
        const context = [...before, "Madrid", ...after].join(" ");
        const { results } = await runtime.answer("where?", context, { model: handle });
        expect(results[0]?.[0]).toMatchObject({ answer: "Madrid", start: before.join(" ").length + (before.length > 0 ? 1 : 0) });
      }),
      { numRuns: amount(40, 10) },
    );
    await handle.dispose();
  });

  it.each([
    ["an empty question", () => runtime.answer("", "a", { model }), "INPUT_INVALID", "question 0 is empty"],
    ["a list of another length", () => runtime.answer(["a", "b"], ["c"], { model }), "INPUT_INVALID", "do not pair"],
    [
      "a context that is no text",
      () => runtime.answer("a", [3 as never], { model }),
      "INPUT_INVALID",
      "context 0 is not a string",
    ],
    [
      "a question that fills the window",
      () => runtime.answer("who ".repeat(40), "a", { model }),
      "INPUT_TOO_LONG",
      "leaves none for the context",
    ],
    [
      "a long context that is not to be cut",
      () => runtime.answer("a", "b ".repeat(50), { model, truncate: "error" }),
      "INPUT_TOO_LONG",
      "context 0",
    ],
    [
      "a stride as long as the window",
      () => runtime.answer("a", "b ".repeat(50), { model, stride: 40 }),
      "INPUT_INVALID",
      "stride of 40",
    ],
    ["an unknown option", () => runtime.answer("a", "b", { model, topk: 3 } as never), "INPUT_INVALID", '"topk"'],
    ["topK 0", () => runtime.answer("a", "b", { model, topK: 0 }), "INPUT_INVALID", "topK is 0"],
    ["no model", () => runtime.answer("a", "b", {} as never), "INPUT_INVALID", "no model"],
    [
      "a model without such a head",
      () => runtime.answer("a", "b", { model: miniLm }),
      "MODEL_UNSUPPORTED",
      "has no question-answering head",
    ],
  ])("%s is refused", async (_what, ask, code, words) => {
    await expect(ask()).rejects.toMatchObject({ code, message: expect.stringContaining(words) as string });
  });

  it("a lone surrogate and a NUL are read as the tokenizer reads them", async () => {
    const { results } = await runtime.answer("who\ud800?", "\udc00 \u0000Madrid\ud83c", { model });
    expect(results[0]?.[0]?.answer).toContain("Madrid");
  });

  it("an encoder of random weights with a head: what the definition gives for the encoder's own vectors", async () => {
    const encoder = `${sharedData}tiny-random-bert`;
    const weights = Float32Array.from({ length: 64 }, (_weight, index) => 3 * Math.sin(index * 1.7 + 0.3));
    const path = join(folder, "head");
    writeHeadModel(path, encoder, weights);
    const [question, context] = ["what was there?", "once upon a time there was a little girl who lived in a house"];
    const options = { model: path, topK: 5, alignToWords: false, noAnswer: true };
    const { results } = await runtime.answer(question, context, options);

    const handle = await runtime.load(encoder);
    const words = await runtime.tokenizer(handle);
    const { ids, typeIds, sequenceIds, offsets } = words.encode(question, { pair: context });
    const int64 = (values: readonly number[]) => ({
      dataType: "int64" as const,
      shape: [1, values.length],
      data: BigInt64Array.from(values, BigInt),
    });
    const ran = await handle.run({
      input_ids: int64(ids),
      attention_mask: int64(ids.map(() => 1)),
      token_type_ids: int64([...typeIds]),
    });
    const hidden = ran["last_hidden_state"]!.data as Float32Array;
    const logit = (token: number, head: number): number =>
      Array.from({ length: 32 }, (_axis, axis) => hidden[token * 32 + axis]! * weights[2 * axis + head]!).reduce(
        (a, b) => a + b,
        0,
      );
    const takesPart = ids.map((_id, token) => token === 0 || sequenceIds[token] === 1);
    const shares = [0, 1].map((head) => {
      const powers = ids.map((_id, token) => (takesPart[token] ? Math.exp(logit(token, head)) : 0));
      const sum = powers.reduce((a, b) => a + b, 0);
      return powers.map((power) => power / sum);
    });
    const all = [{ start: 0, end: 0, score: shares[0]![0]! * shares[1]![0]! }];
    for (let first = 1; first < ids.length; first += 1)
      for (let last = first; last < Math.min(ids.length, first + 15); last += 1)
        if (sequenceIds[first] === 1 && sequenceIds[last] === 1)
          all.push({ start: offsets[2 * first]!, end: offsets[2 * last + 1]!, score: shares[0]![first]! * shares[1]![last]! });
    const distinct = new Map(all.toSorted((a, b) => a.score - b.score).map((one) => [context.slice(one.start, one.end), one]));
    const expected = [...distinct.values()].sort((a, b) => b.score - a.score).slice(0, 5);
    expect(results[0]?.map(({ start, end }) => [start, end])).toEqual(expected.map(({ start, end }) => [start, end]));
    for (const [place, { score }] of expected.entries()) expect(results[0]?.[place]?.score).toBeCloseTo(score, 5);
    await handle.dispose();
  });
});

describe.skipIf(skip)(`${name}: pipeline("question-answering")`, () => {
  it("one answer for one question, a list for lists, and lists of so many with topK", async () => {
    const folder = mkdtempSync(join(tmpdir(), "inferyard-answer-"));
    const logits = { madrid: 8 };
    writeTableModel(folder, { tokenizerFolder: miniLm, maxTokens: 32, start: logits, end: logits });
    const ask = await pipeline("question-answering", folder, { target: "onnx:cpu" });
    const madrid = { answer: "Madrid", start: 3, end: 9, score: expect.any(Number) as number };
    expect(await ask("where?", "in Madrid")).toEqual(madrid);
    expect(await ask(["where?", "who?"], ["in Madrid", ""])).toEqual([madrid, null]);
    expect(await ask("where?", "in Madrid", { topK: 2 })).toEqual([madrid, expect.anything()]);
    await ask.dispose();
    rmSync(folder, { recursive: true });
  });
});

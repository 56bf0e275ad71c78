/** The space of a first token, and the tokens of log probabilities: what SentencePiece decodes otherwise at the beginning of a text. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, createRuntime } from "../../src/index.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { handlerOf } from "../server/fixtures/handler-of.ts";

const [skip, title] = needsData("tinyllm and the reports on log probabilities");

interface Completion {
  readonly choices: readonly {
    readonly text: string;
    readonly logprobs: {
      readonly tokens: readonly string[];
      readonly text_offset: readonly number[];
      readonly top_logprobs: readonly Readonly<Record<string, number>>[];
    };
  }[];
}

describe.skipIf(skip)(title, () => {
  const model = `${sharedData}tinyllm/tinyllm.gguf`;
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await createRuntime({ target: "native", host: "inline", threads: 1 });
  });
  afterAll(() => runtime.dispose());

  const post = (path: string, body: object) =>
    handlerOf(runtime, { models: { m: model, emoji: `${sharedData}reports/logprob-bytes/model` } })(
      new Request(`http://localhost${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
  const complete = async (fields: object): Promise<Completion["choices"][number]> => {
    const response = await post("/v1/completions", { model: "m", temperature: 0, logprobs: 1, max_tokens: 6, ...fields });
    return ((await response.json()) as Completion).choices[0]!;
  };

  it("belongs to the text, as it stands behind its prompt", async () => {
    const { results } = await runtime.generate("The dog", { model, maxNewTokens: 4 });
    expect(results[0]!.text).toBe(" was a big,");
    const beams = await runtime.generate("The dog", { model, maxNewTokens: 4, numBeams: 2 });
    expect(beams.results[0]!.text).toMatch(/^ \w/);
    // Nothing precedes the first token of a text that has no prompt.
    const alone = await runtime.generate([[1]], { model, maxNewTokens: 3 });
    expect(alone.results[0]!.text).toMatch(/^\w/);
  });

  it("is part of what a constraint asks for", async () => {
    const generate = async (constraint: object): Promise<string> => {
      const { results } = await runtime.generate("The dog", { model, constraint: constraint as never, maxNewTokens: 8 });
      return results[0]!.text;
    };
    expect([" big", " small"]).toContain(await generate({ type: "choice", choices: [" big", " small"] }));
    expect(["big", "small"]).toContain(await generate({ type: "choice", choices: ["big", "small"] }));
    expect(await generate({ type: "regex", pattern: " big" })).toBe(" big");
  });

  it("is in the tokens of log probabilities and in their offsets, with and without echo, whole and in chunks", async () => {
    const expected = JSON.parse(readFileSync(`${sharedData}reports/spm-logprob-tokens/expected.json`, "utf8")) as {
      readonly completions: Readonly<Record<string, unknown>>;
    };
    const prompt = "Once upon a time";
    const plain = await complete({ prompt });
    expect(plain.logprobs.tokens).toEqual(expected.completions["choices.0.logprobs.tokens"]);
    expect(plain.logprobs.text_offset).toEqual(expected.completions["choices.0.logprobs.text_offset"]);
    const echoed = await complete({ prompt, echo: true });
    expect(echoed.text).toBe(prompt + plain.text);
    for (const { text, logprobs } of [plain, echoed, await complete({ prompt: [1] }), await complete({ prompt: "" })]) {
      const { tokens, text_offset: offsets } = logprobs;
      const written = [...tokens.entries()].filter(([, token]) => token !== "<s>");
      for (const [index, token] of written)
        expect(text.slice(offsets[index]).startsWith(token), `${token} in ${text}`).toBe(true);
      expect(written.map(([, token]) => token).join("")).toBe(text);
    }
    expect(plain.logprobs.top_logprobs.map((each) => Object.keys(each)[0])).toEqual(plain.logprobs.tokens);
    const stream = await (
      await post("/v1/completions", { model: "m", prompt, temperature: 0, logprobs: 1, max_tokens: 6, stream: true })
    ).text();
    const chunks = stream
      .split("\n")
      .filter((line) => line.startsWith("data: {"))
      .map((line) => (JSON.parse(line.slice(6)) as Completion).choices[0]!);
    expect(chunks.flatMap(({ logprobs }) => logprobs?.text_offset ?? [])).toEqual(plain.logprobs.text_offset);
  });

  it("tokens that are a part of a character have their own bytes", async () => {
    interface Shown {
      readonly token: string;
      readonly bytes: readonly number[];
    }
    const body = { model: "emoji", messages: [{ role: "user", content: "hi" }], logprobs: true, top_logprobs: 1, temperature: 0 };
    const { choices } = (await (await post("/v1/chat/completions", body)).json()) as {
      choices: { message: { content: string }; logprobs: { content: (Shown & { top_logprobs: Shown[] })[] } }[];
    };
    const { message, logprobs } = choices[0]!;
    expect(message.content).toContain("😊");
    const shown = logprobs.content.filter(({ token }) => !/^<.*>$/.test(token));
    expect(Buffer.from(shown.flatMap(({ bytes }) => bytes)).toString()).toBe(message.content);
    expect(shown.map(({ bytes }) => bytes)).toContainEqual([240]);
    expect(logprobs.content.map(({ bytes, top_logprobs: [top] }) => [bytes, top!.bytes])).toEqual(
      logprobs.content.map(({ bytes }) => [bytes, bytes]),
    );
  });
});

import { describe, expect, it } from "vitest";
import { needsData } from "../../test/fixtures/shared-data.ts";
import { sharedTokenizer } from "../../test/fixtures/shared-tokenizer.ts";
import { TokenBytes } from "./token-bytes.ts";

const [skip, name] = needsData("the bytes of single tokens");

describe.skipIf(skip)(name, () => {
  it.each(["llama", "gemma", "t5", "gpt2", "qwen2", "bart", "modernbert"])(
    "are together those of the text: tiny-random-%s",
    async (model) => {
      const tokenizer = await sharedTokenizer(`tiny-random-${model}`);
      const bytes = new TokenBytes(tokenizer);
      for (const text of ["The dog  was a big, café\n", "naïve 東京 😊🍕 x", " lead"]) {
        const { ids } = tokenizer.encode(text, { addSpecialTokens: false });
        if (ids.includes(tokenizer.unknownId ?? -1)) continue;
        const joined = Buffer.concat(ids.map((id, index) => (index === 0 ? bytes.addedFirst(id) : bytes.added(id))!)).toString();
        expect(joined).toBe(tokenizer.decode(ids));
      }
    },
  );

  it("of a word have its space unless it is the first, and of a byte token the byte", async () => {
    const tokenizer = await sharedTokenizer("tiny-random-llama");
    const bytes = new TokenBytes(tokenizer);
    const the = tokenizer.tokenToId("▁the")!;
    expect([bytes.added(the), bytes.addedFirst(the)].map((each) => Buffer.from(each!).toString())).toEqual([" the", "the"]);
    expect([...bytes.of(tokenizer.tokenToId("<0xF0>")!)]).toEqual([0xf0]);
    expect([bytes.added(1), Buffer.from(bytes.of(1)).toString()]).toEqual([undefined, "<s>"]);
  });
});

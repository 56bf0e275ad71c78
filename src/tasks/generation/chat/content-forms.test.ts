import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { InferyardError } from "../../../contract/errors.ts";
import { ChatTemplate } from "./chat-template.ts";
import type { ChatMessage } from "./messages.ts";

const parts = [
  { type: "text", text: "one" },
  { type: "text", text: "two" },
] as const;
const user = (content: ChatMessage["content"] & {}): ChatMessage => ({ role: "user", content });
const render = (template: string, messages: readonly ChatMessage[]): Promise<string> =>
  new ChatTemplate({ default: template }, {}).render({ messages, tools: [] });

const textOnly = "{% for m in messages %}[{{ m.content }}]{% endfor %}";
const partsOnly =
  "{% for m in messages %}[{% for p in m.content %}{% if p.type == 'text' %}{{ p.text }}{% endif %}{% endfor %}]{% endfor %}";
const either =
  "{% for m in messages %}[{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{{ p['text'] }};{% endfor %}{% endif %}]{% endfor %}";
const firstPart = "{% for m in messages %}[{{ m.content[0]['text'] }}]{% endfor %}";
const inMacro =
  "{% macro write(content) %}{% for item in content %}{{ item.text }}{% endfor %}{% endmacro %}{% for m in messages %}[{{ write(m.content) }}]{% endfor %}";

describe("the content of messages", () => {
  it.each([
    ["reads texts", textOnly, "[hello]", "[one\ntwo]"],
    ["loops over parts", partsOnly, "[hello]", "[onetwo]"],
    ["reads either", either, "[hello]", "[one;two;]"],
    ["reads the first part", firstPart, "[hello]", "[one]"],
    ["reads parts in a macro", inMacro, "[hello]", "[onetwo]"],
  ])("is never lost where a template %s", async (_, template, text, list) => {
    expect(await render(template, [user("hello")])).toBe(text);
    expect(await render(template, [user(parts)])).toBe(list);
  });

  it("is found out for each role", async () => {
    const template =
      "{% for m in messages %}[{% if m.role == 'system' %}{{ m.content | trim }}{% elif m.role == 'user' %}{% for p in m.content %}{{ p.text }}{% endfor %}{% else %}{{ m.content.strip() }}{% endif %}]{% endfor %}";
    const messages: ChatMessage[] = [
      { role: "system", content: parts },
      user("a"),
      { role: "assistant", content: parts },
      user(parts),
    ];
    expect(await render(template, messages)).toBe("[one\ntwo][a][one\ntwo][onetwo]");
  });

  it("is no part where there is none", async () => {
    const template =
      "{% for m in messages %}[{{ m.content | length }}{% for p in m.content %}{{ p.text }}{% endfor %}]{% endfor %}";
    const call = { id: "abcdefgh1", name: "f", arguments: "{}" };
    expect(await render(template, [user("a"), { role: "assistant", toolCalls: [call] }])).toBe("[1a][0]");
  });

  it("is asked again after what passes", async () => {
    let calls = 0;
    const workers = {
      prepareRender: () => {},
      render: (_owner: object, { variables }: { readonly variables: string }) => {
        calls += 1;
        return calls === 1 ? Promise.reject(new InferyardError("QUEUE_FULL", "full")) : Promise.resolve(variables);
      },
    };
    const template = new ChatTemplate({ default: "text" }, {}, workers);
    await expect(template.render({ messages: [user("a")], tools: [] })).rejects.toMatchObject({ code: "QUEUE_FULL" });
    expect(await template.render({ messages: [user("a")], tools: [] })).toContain('"content":"a"');
  });
});

const file = fileURLToPath(new URL("../../../../../shared/data/chat-templates/templates.jsonl", import.meta.url));

describe.skipIf(!existsSync(file))("published templates", () => {
  const published = new Map(
    readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly name: string; readonly template: string })
      .map(({ name, template }) => [name, new ChatTemplate({ default: template }, { bos_token: "<s>", eos_token: "</s>" })]),
  );

  it.each([
    ["qwen3.5", "<|im_end|>"],
    ["llama-3.1-instruct", "<|eot_id|>"],
    ["llama-2-chat", "</s>"],
    ["gemma-3-1b-it", "<end_of_turn>"],
    ["phi-3-mini-4k-instruct", "<|end|>"],
    ["gpt-oss", "<|return|>"],
    ["deepseek-r1-0528", "<｜end▁of▁sentence｜>"],
    ["MiniMax-M2.7", "[e~["],
    ["glm-4.5", "<|user|>"], // nothing is written behind an answer: the user's turn ends it
  ])("of %s end turns with %s", async (name, end) => {
    expect((await published.get(name)!.turnEnding(false)).startsWith(end)).toBe(true);
  });

  it("lose no text of a user, however it is given", async () => {
    const lost: string[] = [];
    for (const [name, template] of published) {
      for (const content of ["one two", parts]) {
        const prompt = await template.render({ messages: [user(content)], tools: [] });
        if (!/one\s*two/.test(prompt)) lost.push(name);
      }
    }
    expect(lost).toEqual([]);
  });
});

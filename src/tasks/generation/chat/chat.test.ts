import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { getAnswerFormat, opensReasoning } from "./answer-format.ts";
import { type AnswerPart, AnswerReader } from "./answer-reader.ts";
import { ChatTemplate } from "./chat-template.ts";
import { beyondBound } from "../../../templates/render-call.ts";
import { formatDate } from "../../../templates/builtins/format-date.ts";
import { type ChatMessage, type Tool, checkConversation } from "./messages.ts";

const shared = fileURLToPath(new URL("../../../../../shared/data/", import.meta.url));
const tools: readonly Tool[] = [
  {
    name: "weather",
    description: "The weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } }, required: ["city"] },
  },
];
const user: ChatMessage = { role: "user", content: "Hello" };
const render = (
  template: string,
  messages: readonly ChatMessage[],
  given: readonly Tool[] = [],
  variables = {},
): Promise<string> =>
  new ChatTemplate({ default: template }, { bos_token: "<s>", eos_token: { content: "</s>" } }).render({
    messages,
    tools: given,
    variables,
  });

describe("chat templates", () => {
  it.skipIf(!existsSync(shared))("render the golden of transformers", async () => {
    const folder = `${shared}tiny-random-qwen2/`;
    const config = JSON.parse(readFileSync(`${folder}tokenizer_config.json`, "utf8")) as { chat_template: string };
    const { chat_template: golden } = JSON.parse(readFileSync(`${folder}goldens.json`, "utf8")) as {
      chat_template: { messages: ChatMessage[]; text: string };
    };
    const template = new ChatTemplate({ default: config.chat_template }, { ...config });
    expect(await template.render({ messages: golden.messages, tools: [] })).toBe(golden.text);
  });

  it("are given special tokens, tools, calls, thoughts and variables as transformers gives them", async () => {
    const template = [
      "{{ bos_token }}{{ eos_token }}{% if tools %}{{ tools | tojson }}{% endif %}",
      "{% for m in messages %}[{{ m.role }}|{{ m.content }}|{{ m.reasoning_content }}",
      "{% for c in m.tool_calls or [] %}{{ c.function.name }}:{{ c.function.arguments.city }}{% endfor %}]{% endfor %}",
      "{{ mood }}{% if add_generation_prompt %}>{% endif %}",
    ].join("");
    const calls = [{ id: "abcdefghi", name: "weather", arguments: '{"city":"Rome"}' }];
    const text = await render(
      template,
      [{ role: "developer", content: "Be kind" }, user, { role: "assistant", toolCalls: calls, reasoning: "hm" }],
      tools,
      { mood: "calm" },
    );
    expect(text).toContain('<s></s>[{"type": "function", "function": {"name": "weather", "description": "The weather of a city"');
    expect(text).toContain("[system|Be kind|][user|Hello|][assistant||hmweather:Rome]calm>");
    expect(await render("{{ tools is none }}{{ documents is none }}{{ nothing is none }}", [user])).toBe("TrueTrueFalse");
  });

  it("get the arguments of calls as they were written", async () => {
    const written = '{"10": "ten", "9": 1234567890123456789, "ratio": 1.0, "none": null}';
    const calls = [{ id: "abcdefghi", name: "weather", arguments: written }];
    const template =
      "{% for m in messages %}{% for c in m.tool_calls %}{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}";
    expect(await render(template, [user, { role: "assistant", toolCalls: calls }])).toBe(written);
  });

  it("that refuse a system message get its text before the first message of the user", async () => {
    const template =
      "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}{% for m in messages %}{{ m.content }}|{% endfor %}";
    expect(await render(template, [{ role: "system", content: "Be kind" }, user])).toBe("Be kind\n\nHello|");
    const refusing = "{{ raise_exception('roles must alternate') }}";
    await expect(render(refusing, [user])).rejects.toMatchObject({
      code: "TEMPLATE_REFUSED",
      message: "the model's chat template refuses the conversation: roles must alternate",
    });
  });

  it("are refused with tools that they have no place for, and where they fail or go beyond a bound", async () => {
    await expect(render("{{ messages[0].content }}", [user], tools)).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
    await expect(render("a\n{% for x in %}", [user])).rejects.toMatchObject({ code: "MODEL_INVALID", data: { line: 2 } });
    await expect(render("\n\n{{ messages.nothing() }}", [user])).rejects.toMatchObject({
      code: "MODEL_INVALID",
      data: { line: 3 },
    });
    await expect(render("a\n{{ messages | pprint }}", [user])).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: "the model's chat template uses what this version does not have: the filter 'pprint' is not supported",
      data: { line: 2 },
    });
    const endless = "{% for a in range(9000) %}{% for b in range(9000) %}{% endfor %}{% endfor %}";
    await expect(render(endless, [user])).rejects.toMatchObject({
      code: "MODEL_INVALID",
      data: { bound: "steps", number: expect.any(Number) },
    });
  });

  it("that ran out of time are refused for a while without being tried again, and say so", async () => {
    let calls = 0;
    const workers = {
      prepareRender: () => {},
      render: () => {
        calls += 1;
        return Promise.reject(beyondBound("takes longer than 10 ms", { bound: "milliseconds", limit: 10 }));
      },
    };
    const template = new ChatTemplate({ default: "x", tool_use: "tools" }, {}, workers);
    const plain = { messages: [user], tools: [] };
    await expect(template.render(plain)).rejects.toMatchObject({
      code: "MODEL_INVALID",
      data: { bound: "milliseconds", limit: 10 },
    });
    await expect(template.render(plain)).rejects.toMatchObject({
      code: "MODEL_INVALID",
      message: expect.stringMatching(/takes longer than 10 ms, and is not tried again before 2/),
      data: { bound: "milliseconds", refusedUntil: expect.any(String) },
    });
    expect(calls).toBe(1);
    await expect(template.render({ messages: [user], tools })).rejects.toThrow(/longer/); // another template of the model
    expect(calls).toBe(2);
  });

  it("write dates as strftime does", () => {
    const date = new Date(2026, 10, 3, 15, 4, 5);
    expect(formatDate("%d %b %Y, %A %-d %B %y %H:%M:%S %I %p %% %Q %j", date)).toBe(
      "03 Nov 2026, Tuesday 3 November 26 15:04:05 03 PM % %Q 307",
    );
  });
});

describe("conversations", () => {
  it.each([
    [[], "at least one"],
    [[{ role: "robot", content: "x" }], 'message 0 has the role "robot"'],
    [[{ role: "user" }], "message 0 has no content"],
    [[{ role: "user", content: [{ type: "image" }] }], "neither a text nor"],
    [[user, { role: "assistant", toolCalls: [{ id: "a", name: "b", arguments: {} }] }], "message 1 has a tool call"],
    [[{ role: "user", content: "x", reasoning: "y" }], "which only messages of the assistant have"],
  ])("are refused by position: %j", (messages, problem) => {
    expect(() => checkConversation(messages as ChatMessage[], [])).toThrow(problem);
  });
});

const formats = {
  qwen: "{{ tools }}<think></think><tool_call>",
  qwenCoder: "{{ tools }}<tool_call><function=",
  mistral: "{{ tools }}[TOOL_CALLS]",
  llama: '{{ tools }}<|python_tag|>"parameters": dictionary',
};

/** Reads an answer cut into pieces of a length, and joins the texts that follow one another. */
function read(template: string, answer: string, length: number, given = tools, startsInReasoning = false): unknown[] {
  const reader = new AnswerReader({ format: getAnswerFormat(template), tools: given, startsInReasoning });
  const parts: AnswerPart[] = [];
  for (let at = 0; at < answer.length; at += length) parts.push(...reader.push(answer.slice(at, at + length)));
  parts.push(...reader.end());
  const joined: unknown[] = [];
  for (const part of parts) {
    const last = joined.at(-1) as [string, string] | undefined;
    if (part.type === "toolCall") joined.push([part.type, part.call.name, part.call.arguments]);
    else if (last?.[0] === part.type) last[1] += part.text;
    else joined.push([part.type, part.text]);
  }
  return joined;
}

describe("answers", () => {
  const rome = ["toolCall", "weather", '{"city":"Rome"}'];
  const cases: readonly (readonly [string, string, string, unknown[]])[] = [
    ["plain text", formats.qwen, " Hello  there \n", [["text", " Hello  there \n"]]],
    [
      "thoughts",
      formats.qwen,
      "<think>\nhm, so\n</think>\n\nYes.",
      [
        ["reasoning", "hm, so"],
        ["text", "Yes."],
      ],
    ],
    [
      "a call",
      formats.qwen,
      'So:\n<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>',
      [["text", "So:"], rome],
    ],
    [
      "two calls after thoughts",
      formats.qwen,
      '<think>x</think><tool_call>{"name":"weather","arguments":{"city":"Rome"}}</tool_call>\n<tool_call>{"name":"weather","arguments":{"city":"Rome"}}</tool_call>',
      [["reasoning", "x"], rome, rome],
    ],
    ["a call that is none", formats.qwen, "<tool_call>oh</tool_call> well", [["text", "<tool_call>oh</tool_call> well"]]],
    ["a call that was cut", formats.qwen, '<tool_call>{"name":"wea', [["text", '<tool_call>{"name":"wea']]],
    [
      "a call in XML",
      formats.qwenCoder,
      "<tool_call>\n<function=weather>\n<parameter=city>\nRome\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
      [["toolCall", "weather", '{"city":"Rome","days":3}']],
    ],
    ["Mistral's list", formats.mistral, '[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Rome"}}]', [rome]],
    ["Mistral's named call", formats.mistral, '[TOOL_CALLS]weather[ARGS]{"city": "Rome"}', [rome]],
    ["Llama's JSON", formats.llama, '{"name": "weather", "parameters": {"city": "Rome"}}', [rome]],
    ["Llama's JSON behind a tag", formats.llama, '<|python_tag|>{"name": "weather", "parameters": {"city": "Rome"}}', [rome]],
    ["JSON that is no call", formats.llama, '{"a": 1}', [["text", '{"a": 1}']]],
  ];
  it.each(cases)("are read the same however they are cut: %s", (_name, template, answer, wanted) => {
    for (const length of [1, 2, 3, 7, 1000]) expect(read(template, answer, length), `pieces of ${length}`).toEqual(wanted);
  });

  it("keep what looks like a call where no tools were given", () => {
    const call = '<tool_call>{"name":"weather","arguments":{}}</tool_call>';
    expect(read(formats.qwen, call, 5, [])).toEqual([["text", call]]);
  });

  it("begin with thoughts where the prompt has opened them", () => {
    const tags = { open: "<think>", close: "</think>" };
    expect(opensReasoning("<|assistant|>\n<think>\n", tags)).toBe(true);
    expect(opensReasoning("<think>x</think>\n<|assistant|>\n", tags)).toBe(false);
    expect(read(formats.qwen, "hm\n</think>\n\nYes.", 4, [], true)).toEqual([
      ["reasoning", "hm"],
      ["text", "Yes."],
    ]);
  });
});

/** What the forms of calls leave open: types by the schema, exact texts, omissions, channels, thoughts. */
import { describe, expect, it } from "vitest";
import { type AnswerFormat, getAnswerFormat } from "../answer-format.ts";
import { AnswerReader } from "../answer-reader.ts";
import { withTemplateIds } from "../call-ids.ts";
import type { ChatMessage, Tool } from "../messages.ts";
import { ArgumentSchemas } from "./typed-value.ts";

const glob: Tool = { name: "glob", parameters: { type: "object", properties: { pattern: { type: "string" } } } };
const hermes = getAnswerFormat("{{ tools }}<think></think><tool_call>");
const coder = getAnswerFormat("{{ tools }}<tool_call><function=");
const harmony = getAnswerFormat("<|start|>{{ tools }}<|message|>", (text) => text === "<|channel|>");
const llama = getAnswerFormat('{{ tools }}"parameters": dictionary');

interface Reading {
  readonly format: AnswerFormat;
  readonly tools?: readonly Tool[];
  readonly startsInReasoning?: boolean;
  readonly isConstrained?: boolean;
  readonly isCut?: boolean;
}

/** Reads an answer character by character: texts that follow one another are one, calls are name and arguments. */
function read(
  answer: string,
  { isCut = false, tools = [glob], startsInReasoning = false, ...options }: Reading,
): readonly string[] {
  const reader = new AnswerReader({ tools, startsInReasoning, ...options });
  const parts = [...Array.from(answer, (character) => reader.push(character)).flat(), ...reader.end(isCut)];
  const shown: string[] = [];
  let last = "";
  for (const part of parts) {
    if (part.type === "toolCall") shown.push(`${part.call.name} ${part.call.arguments}`);
    else if (last === part.type) shown.push(`${shown.pop() ?? ""}${part.text}`);
    else shown.push(`${part.type}: ${part.text}`);
    last = part.type;
  }
  return shown;
}

describe("values that are written as text", () => {
  const parameters = {
    type: "object",
    properties: {
      guests: { anyOf: [{ type: "integer" }, { type: "null" }] },
      zip: { type: ["string", "null"] },
      note: { oneOf: [{ type: "string" }, { type: "null" }] },
      tags: { $ref: "#/$defs/Tags" },
      level: { type: ["integer", "string"] },
      strict: { type: "boolean" },
      limit: { type: "integer", nullable: true },
      both: { allOf: [{ $ref: "#/$defs/Tags" }, { maxItems: 2 }] },
      mode: { enum: ["1", "null", "on"] },
      size: { enum: [1, 2.5, null] },
      fixed: { const: "true" },
      self: { $ref: "#/properties/self" },
      shaped: { properties: { a: {} } },
      any: {},
    },
    patternProperties: { "^x-": { type: "number" } },
    $defs: { Tags: { type: "array", items: { type: "string" } } },
  };
  const schemas = new ArgumentSchemas([{ name: "f", parameters }], "f");

  it.each([
    ["guests", "4", "4"],
    ["guests", "None", "null"],
    ["guests", "four", '"four"'],
    ["zip", "01234", '"01234"'],
    ["zip", "null", "null"],
    ["note", "null", "null"],
    ["note", "nullable", '"nullable"'],
    ["tags", '["a", "b"]', '["a","b"]'],
    ["tags", "['a', 'it\\'s']", '["a","it\'s"]'],
    ["level", "3", "3"],
    ["level", "high", '"high"'],
    ["strict", "True", "true"],
    ["strict", " false ", "false"],
    ["limit", "null", "null"],
    ["limit", "1234567890123456789", "1234567890123456789"],
    ["limit", "1.0", "1.0"],
    ["both", "[]", "[]"],
    ["mode", "1", '"1"'],
    ["mode", "null", '"null"'],
    ["size", "2.5", "2.5"],
    ["fixed", "true", '"true"'],
    ["self", "1", '"1"'],
    ["shaped", '{"10": 1, "9": 2}', '{"10":1,"9":2}'],
    ["any", "42", '"42"'],
    ["any", '{"a": [1]}', '{"a":[1]}'],
    ["x-weight", "1e5", "1e5"],
    ["unlisted", "true", '"true"'],
  ])("%s: %s", (name, text, json) => {
    expect(schemas.json(text, [name])).toBe(json);
  });
});

describe("calls", () => {
  it("keep numbers, escapes and the order of keys as the model wrote them", () => {
    const written = '{"10": 1.0, "9": 12345678901234567890, "a\\u00e9": "\\/ b", "c": [ 1e5 ]}';
    const right = 'glob {"10":1.0,"9":12345678901234567890,"a\\u00e9":"\\/ b","c":[1e5]}';
    expect(read(`<tool_call>{"name": "glob", "arguments": ${written}}</tool_call>`, { format: hermes })).toEqual([right]);
    const inText = `<tool_call>{"name": "glob", "arguments": ${JSON.stringify(written)}}</tool_call>`;
    expect(read(inText, { format: hermes })).toEqual([right]);
  });

  it.each([
    ["a missing tag before", "I look.\n\n<function=glob>\n<parameter=pattern>\n*\n</parameter>\n</function>\n</tool_call>"],
    ["a missing tag behind", "I look.\n<tool_call>\n<function=glob>\n<parameter=pattern>\n*\n</parameter>\n</function>"],
    [
      "a missing tag behind the value",
      "I look.\n<tool_call>\n<function=glob>\n<parameter=pattern>\n*\n</function>\n</tool_call>",
    ],
    ["all tags missing behind", "I look.\n<tool_call>\n<function=glob>\n<parameter=pattern>\n*\n"],
  ])("between tags with %s are read where the model ended", (_name, answer) => {
    const call = 'glob {"pattern":"*"}';
    expect(read(answer, { format: coder })).toEqual(["text: I look.", call]);
    // Without the end of the call, what the limit has cut may be anything.
    const isWhole = answer.includes("</function>");
    expect(read(answer, { format: coder, isCut: true }).includes(call)).toBe(isWhole);
  });

  it("that no tool has the name of are text where nothing but the name tells", () => {
    expect(read("Write <function=other><parameter=a>1</parameter></function>.", { format: coder })).toEqual([
      "text: Write <function=other><parameter=a>1</parameter></function>.",
    ]);
    expect(read('{"name": "Rome", "parameters": {}}', { format: llama })).toEqual(['text: {"name": "Rome", "parameters": {}}']);
  });

  it.each([
    ["bare", '{"name": "glob", "arguments": {"pattern": "*"}}'],
    ["in a block of code", '```json\n{"name": "glob", "arguments": {"pattern": "*"}}\n```'],
    ["in a list", '[{"name": "glob", "arguments": {"pattern": "*"}}]'],
    ["with a function inside", '{"type": "function", "function": {"name": "glob", "arguments": {"pattern": "*"}}}'],
    ["as Python writes it", "<tool_call>{'name': 'glob', 'arguments': {'pattern': '*'}}</tool_call>"],
    ["with line ends in a string", '<tool_call>{"name": "glob", "arguments": {"pattern": "*"},\n "x": "a\nb"}</tool_call>'],
  ])("of JSON are read %s", (_name, answer) => {
    expect(read(answer, { format: hermes })).toEqual(['glob {"pattern":"*"}']);
  });

  it("of JSON without arguments have an empty object", () => {
    for (const written of ['""', "null", "{}"])
      expect(read(`<tool_call>{"name": "glob", "arguments": ${written}}</tool_call>`, { format: hermes })).toEqual(["glob {}"]);
    expect(read('<tool_call>{"name": "glob"}</tool_call>', { format: hermes })).toEqual(["glob {}"]);
  });

  it("of Llama stand behind a sentence, and one behind another", () => {
    const call = '{"name": "glob", "parameters": {"pattern": "*"}}';
    expect(read(`I look. ${call}; ${call}`, { format: llama })).toEqual([
      "text: I look.",
      'glob {"pattern":"*"}',
      'glob {"pattern":"*"}',
    ]);
    expect(read(`<|python_tag|>${call}`, { format: llama })).toEqual(['glob {"pattern":"*"}']);
    expect(read('{"a": 1} and more', { format: llama })).toEqual(['text: {"a": 1} and more']);
  });

  it("in thoughts are not executed, and text that fits a constraint is passed on", () => {
    const call = '<tool_call>{"name": "glob", "arguments": {}}</tool_call>';
    expect(read(`<think>${call}</think>no`, { format: hermes })).toEqual([`reasoning: ${call}`, "text: no"]);
    expect(read(`"${call} <think>"`, { format: hermes, isConstrained: true })).toEqual([`text: "${call} <think>"`]);
    expect(read(`x</think>\n\n"${call}"`, { format: hermes, isConstrained: true, startsInReasoning: true })).toEqual([
      "reasoning: x",
      `text: "${call}"`,
    ]);
  });
});

describe("thoughts", () => {
  it("that the prompt opens may be opened again, and need not end", () => {
    expect(read("<think>\nhm\n</think>\n\nYes.", { format: hermes, startsInReasoning: true })).toEqual([
      "reasoning: hm",
      "text: Yes.",
    ]);
    expect(read("hm\n", { format: hermes, startsInReasoning: true })).toEqual(["reasoning: hm"]);
  });

  it("are known by the vocabulary where the template does not name them", () => {
    const has = (text: string): boolean => ["<think>", "</think>"].includes(text);
    expect(getAnswerFormat("{{ messages }}", has).reasoning?.open).toBe("<think>");
    expect(getAnswerFormat("{{ messages }}").reasoning).toBeUndefined();
  });

  it.each([
    ["[THINK]", "hm", "[/THINK]"],
    ["<seed:think>", "hm", "</seed:think>"],
    ["<mm:think>", "hm", "</mm:think>"],
    ["<|START_THINKING|>", "hm", "<|END_THINKING|>"],
    ["<|channel>thought", "\nhm\n", "<channel|>"],
    ["Here is my thought process:", "\nhm\n", "Here is my response:"],
  ])("stand between %s and what closes them", (open, thought, close) => {
    const format = getAnswerFormat(`{{ x }}${open}${close}`);
    expect(read(`${open}${thought}${close}\nYes.`, { format })).toEqual(["reasoning: hm", "text: Yes."]);
  });
});

describe("channels", () => {
  it("are thoughts, text and calls", () => {
    const thought = "<|channel|>analysis<|message|>hm, so<|end|><|start|>assistant";
    const answer = "<|channel|>final<|message|>Hello there";
    expect(read(thought + answer, { format: harmony })).toEqual(["reasoning: hm, so", "text: Hello there"]);
    const call = '<|channel|>commentary to=functions.glob <|constrain|>json<|message|>{"pattern": "<|end|> <|call|>"}';
    const right = 'glob {"pattern":"<|end|> <|call|>"}';
    expect(read(`${thought}${call}<|call|>`, { format: harmony })).toEqual(["reasoning: hm, so", right]);
    expect(read(call, { format: harmony })).toEqual([right]);
    expect(read(call.slice(0, -5), { format: harmony, isCut: true }).some((part) => part.startsWith("glob"))).toBe(false);
  });

  it("may name the recipient before the channel, and say something before a call", () => {
    const before = "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant";
    const call = (name: string): string => ` to=functions.${name}<|channel|>commentary json<|message|>{}<|call|>`;
    expect(read(`${before}${call("glob")}<|start|>assistant${call("glob")}`, { format: harmony })).toEqual([
      "text: I look.",
      "glob {}",
      "glob {}",
    ]);
  });

  it("may be missing, and pass on what fits a constraint", () => {
    expect(read("Hello <b>", { format: harmony })).toEqual(["text: Hello <b>"]);
    const text = '<|channel|>final<|message|>{"a": "<|end|>"}';
    expect(read(text, { format: harmony, isConstrained: true })).toEqual(['text: {"a": "<|end|>"}']);
    const call = "<|channel|>commentary to=functions.glob<|message|>{}";
    expect(read(call, { format: harmony, tools: [] })).toEqual(["text: {}"]);
  });
});

describe("ids of calls", () => {
  const conversation = (id: string, result?: string): readonly ChatMessage[] => [
    {
      role: "assistant",
      toolCalls: [
        { id, name: "glob", arguments: "{}" },
        { id: `${id}2`, name: "ping", arguments: "{}" },
      ],
    },
    { role: "tool", content: "a", ...(result === undefined ? { name: "glob" } : { toolCallId: result }) },
  ];
  const idsOf = (messages: readonly ChatMessage[]): readonly unknown[] =>
    messages.flatMap(({ toolCalls = [], toolCallId }) => [
      ...toolCalls.map(({ id }) => id),
      ...(toolCallId === undefined ? [] : [toolCallId]),
    ]);

  it.each(["call_a1B2c3D4e", "toolu_a1B2c3D4e", "a1B2c3D4e"])("have nine characters where the template demands it: %s", (id) => {
    expect(idsOf(withTemplateIds(conversation(id, id), "nineCharacters"))).toEqual([
      "a1B2c3D4e",
      expect.stringMatching(/^\w{9}$/),
      "a1B2c3D4e",
    ]);
  });

  it("of others have nine of their own, and results without an id are those of their tool", () => {
    const [first, second, result] = idsOf(
      withTemplateIds(conversation("chatcmpl-tool-0123456789", "chatcmpl-tool-0123456789"), "nineCharacters"),
    );
    expect(first).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(second).not.toBe(first);
    expect(result).toBe(first);
    const [unnamed, , of] = idsOf(withTemplateIds(conversation(""), "nineCharacters"));
    expect(of).toBe(unnamed);
    expect(unnamed).toMatch(/^[A-Za-z0-9]{9}$/);
  });

  it("are names with numbers for Kimi, and stay what they are for others", () => {
    expect(idsOf(withTemplateIds(conversation("call_1", "call_1"), "numberedNames"))).toEqual([
      "functions.glob:0",
      "functions.ping:1",
      "functions.glob:0",
    ]);
    expect(idsOf(withTemplateIds(conversation("call_1", "call_1"), undefined))).toEqual(["call_1", "call_12", "call_1"]);
  });
});

import { describe, expect, it } from "vitest";
import { getAnswerFormat } from "../answer-format.ts";
import { type AnswerPart, AnswerReader } from "../answer-reader.ts";
import type { Tool } from "../messages.ts";
import { callForms } from "./known-forms.ts";

interface Call {
  readonly name: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** A family: what its template teaches, how its models write calls, and what is not told apart in its form. */
interface Family {
  readonly teaches: string;
  write(calls: readonly Call[]): string;
  /** Texts that end a value of the form, so that no value can contain them. Default: none. */
  readonly ambiguous?: RegExp;
  /** Whether what looks like a call needs a tag. Default: true; text may then stand before a call. */
  readonly takesTextBefore?: boolean;
}

const json = JSON.stringify;
const list = (calls: readonly Call[], key = "arguments", name = "name"): string =>
  `[${calls.map((call) => `{"${name}": ${json(call.name)}, "${key}": ${json(call.values)}}`).join(", ")}]`;
const raw = (value: unknown): string => (typeof value === "string" ? value : json(value));
const tagged =
  (
    open: string,
    before: (name: string) => string,
    member: (key: string, value: string) => string,
    after: string,
    close: string,
  ) =>
  (calls: readonly Call[]): string =>
    open +
    calls
      .map(
        ({ name, values }) =>
          before(name) +
          Object.entries(values)
            .map(([key, value]) => member(key, raw(value)))
            .join("") +
          after,
      )
      .join("\n") +
    close;
const python = (value: unknown): string => {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (value === null) return "None";
  return json(value);
};
const braces = (value: unknown, quote: string): string => {
  if (typeof value === "string") return quote + value + quote;
  if (Array.isArray(value)) return `[${value.map((item) => braces(item, quote)).join(",")}]`;
  if (typeof value !== "object" || value === null) return json(value);
  return `{${Object.entries(value)
    .map(([key, item]) => `${key}:${braces(item, quote)}`)
    .join(",")}}`;
};
const elements = (value: unknown): string => {
  const mark = "]<]minimax[>[";
  if (Array.isArray(value)) return value.map((item) => `${mark}<item>${elements(item)}${mark}</item>`).join("");
  if (typeof value !== "object" || value === null) return raw(value);
  return Object.entries(value)
    .map(([key, item]) => `${mark}<${key}>${elements(item)}${mark}</${key}>`)
    .join("");
};

const families: Readonly<Record<string, Family>> = {
  hermes: {
    teaches: '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>',
    write: (calls) =>
      calls.map((call) => `<tool_call>\n{"name": "${call.name}", "arguments": ${json(call.values)}}\n</tool_call>`).join("\n"),
  },
  "qwen3-coder": {
    teaches: "<tool_call>\n<function=NAME>\n<parameter=KEY>\nVALUE\n</parameter>\n</function>\n</tool_call>",
    write: tagged(
      "<tool_call>\n",
      (name) => `<function=${name}>\n`,
      (key, value) => `<parameter=${key}>\n${value}\n</parameter>\n`,
      "</function>",
      "\n</tool_call>",
    ),
  },
  "seed-oss": {
    teaches: "<seed:tool_call>\n<function=NAME>\n<parameter=KEY>VALUE</parameter>\n</function>\n</seed:tool_call>",
    write: tagged(
      "<seed:tool_call>\n",
      (name) => `<function=${name}>\n`,
      (key, value) => `<parameter=${key}>${value}</parameter>\n`,
      "</function>",
      "\n</seed:tool_call>",
    ),
    ambiguous: /^\n/,
  },
  "glm-4.5": {
    teaches: "<tool_call>NAME\n<arg_key>KEY</arg_key>\n<arg_value>VALUE</arg_value>\n</tool_call>",
    write: (calls) =>
      calls
        .map(
          ({ name, values }) =>
            `<tool_call>${name}\n${Object.entries(values)
              .map(([key, value]) => `<arg_key>${key}</arg_key>\n<arg_value>${raw(value)}</arg_value>\n`)
              .join("")}</tool_call>`,
        )
        .join("\n"),
  },
  "minimax-m2": {
    teaches:
      '<minimax:tool_call>\n<invoke name="NAME">\n<parameter name="KEY">VALUE</parameter>\n</invoke>\n</minimax:tool_call>',
    write: tagged(
      "<minimax:tool_call>\n",
      (name) => `<invoke name="${name}">\n`,
      (key, value) => `<parameter name="${key}">${value}</parameter>\n`,
      "</invoke>",
      "\n</minimax:tool_call>",
    ),
  },
  "minimax-m3": {
    teaches: "{%- set mark = ']<]minimax[>[' -%}",
    write: (calls) =>
      `]<]minimax[>[<tool_call>\n${calls.map(({ name, values }) => `]<]minimax[>[<invoke name="${name}">${elements(values)}]<]minimax[>[</invoke>\n`).join("")}]<]minimax[>[</tool_call>`,
  },
  "deepseek-v3.2": {
    teaches: '<｜DSML｜function_calls>\n<｜DSML｜invoke name="NAME">',
    write: (calls) =>
      `<｜DSML｜function_calls>\n${calls
        .map(
          ({ name, values }) =>
            `<｜DSML｜invoke name="${name}">\n${Object.entries(values)
              .map(
                ([key, value]) =>
                  `<｜DSML｜parameter name="${key}" string="${typeof value === "string"}">${raw(value)}</｜DSML｜parameter>`,
              )
              .join("\n")}\n</｜DSML｜invoke>\n`,
        )
        .join("")}</｜DSML｜function_calls>`,
  },
  minicpm5: {
    teaches: '<function name=\\"NAME\\"><param name=\\"KEY\\">VALUE</param></function>',
    write: (calls) =>
      calls
        .map(
          ({ name, values }) =>
            `<function name="${name}">${Object.entries(values)
              .map(
                ([key, value]) =>
                  `<param name="${key}">${typeof value === "string" && /[<&\n]/.test(value) ? `<![CDATA[${value}]]>` : raw(value)}</param>`,
              )
              .join("")}</function>`,
        )
        .join("\n"),
  },
  "kimi-k2": {
    teaches: "<|tool_calls_section_begin|><|tool_call_begin|>",
    write: (calls) =>
      `<|tool_calls_section_begin|>${calls.map(({ name, values }, index) => `<|tool_call_begin|>functions.${name}:${index}<|tool_call_argument_begin|>${json(values)}<|tool_call_end|>`).join("")}<|tool_calls_section_end|>`,
  },
  "deepseek-r1": {
    teaches:
      "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    write: (calls) =>
      `<｜tool▁calls▁begin｜>${calls.map(({ name, values }) => `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${json(values)}\n\`\`\`<｜tool▁call▁end｜>`).join("\n")}<｜tool▁calls▁end｜>`,
  },
  "deepseek-v3.1": {
    teaches: "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>NAME<｜tool▁sep｜>ARGUMENTS<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    write: (calls) =>
      `<｜tool▁calls▁begin｜>${calls.map(({ name, values }) => `<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${json(values)}<｜tool▁call▁end｜>`).join("")}<｜tool▁calls▁end｜>`,
  },
  "mistral-list": { teaches: "[TOOL_CALLS] [", write: (calls) => `[TOOL_CALLS]${list(calls)}` },
  "mistral-named": {
    teaches: "[TOOL_CALLS]NAME[ARGS]{}",
    write: (calls) =>
      calls
        .map(({ name, values }, index) => `[TOOL_CALLS]${name}${index === 1 ? "[CALL_ID]abcdefghi" : ""}[ARGS]${json(values)}`)
        .join(""),
  },
  "command-r7b": {
    teaches: "<|START_ACTION|>",
    write: (calls) => `<|START_ACTION|>${list(calls, "parameters", "tool_name")}<|END_ACTION|>`,
  },
  nemotron: { teaches: "<TOOLCALL>[", write: (calls) => `<TOOLCALL>${list(calls)}</TOOLCALL>` },
  apriel: { teaches: '<tool_calls>[{"name": ""}]</tool_calls>', write: (calls) => `<tool_calls>${list(calls)}</tool_calls>` },
  hunyuan: {
    teaches: "<tool_calls>\n<tool_call>NAME\n```json\n{}\n```\n</tool_call>\n</tool_calls>",
    write: (calls) =>
      `<tool_calls>\n${calls.map(({ name, values }) => `<tool_call>${name}\n\`\`\`json\n${json(values)}\n\`\`\`\n</tool_call>\n`).join("")}</tool_calls>`,
  },
  internlm2: {
    teaches: "<|action_start|><|plugin|>",
    write: ([first, ...others]) =>
      `<|action_start|><|plugin|>\n{"name": "${first?.name ?? ""}", "parameters": ${json(first?.values)}}${others.map((call) => `\n{"name": "${call.name}", "parameters": ${json(call.values)}}`).join("")}<|action_end|>`,
  },
  "phi-4": { teaches: "<|tool_call|>[]<|/tool_call|>", write: (calls) => `<|tool_call|>${list(calls)}<|/tool_call|>` },
  "granite-3": { teaches: "<|tool_call|>", write: (calls) => `<|tool_call|>${list(calls)}` },
  functools: { teaches: "functools[", write: (calls) => ` functools${list(calls)}` },
  "command-r": {
    teaches: 'Action:```json\n[{"tool_name": ""}]',
    write: (calls) => `Action: \`\`\`json\n${list(calls, "parameters", "tool_name")}\n\`\`\``,
  },
  "functionary-3.1": {
    teaches: "<function=example_function_name>{{}}</function>",
    write: (calls) => calls.map(({ name, values }) => `<function=${name}>${json(values)}</function>`).join(""),
  },
  lfm2: {
    teaches: "<|tool_call_start|>",
    write: (calls) =>
      `<|tool_call_start|>[${calls
        .map(
          ({ name, values }) =>
            `${name}(${Object.entries(values)
              .map(([key, value]) => `${key}=${python(value)}`)
              .join(", ")})`,
        )
        .join(", ")}]<|tool_call_end|>`,
  },
  "llama-4": {
    teaches: "[func_name1(params_name1=params_value1)]",
    write: (calls) =>
      `[${calls
        .map(
          ({ name, values }) =>
            `${name}(${Object.entries(values)
              .map(([key, value]) => `${key}=${python(value)}`)
              .join(", ")})`,
        )
        .join(", ")}]`,
    takesTextBefore: false,
  },
  "olmo-3": {
    teaches: "<function_calls>",
    write: (calls) =>
      `<function_calls>\n${calls
        .map(
          ({ name, values }) =>
            `${name}(${Object.entries(values)
              .map(([key, value]) => `${key}=${python(value)}`)
              .join(", ")})`,
        )
        .join("\n")}\n</function_calls>`,
    ambiguous: /<\/function_calls>/,
  },
  "gemma-4": {
    teaches: "<|tool_call>call:NAME{}<tool_call|>",
    write: (calls) => calls.map(({ name, values }) => `<|tool_call>call:${name}${braces(values, '<|"|>')}<tool_call|>`).join(""),
  },
  functiongemma: {
    teaches: "<start_function_call>call:NAME{}<end_function_call>",
    write: (calls) =>
      calls
        .map(({ name, values }) => `<start_function_call>call:${name}${braces(values, "<escape>")}<end_function_call>`)
        .join(""),
  },
  "gigachat-3": {
    teaches: "function call<|role_sep|>",
    write: (calls) =>
      calls.map((call) => `function call<|role_sep|>\n{"name": "${call.name}", "arguments": ${json(call.values)}}`).join("\n"),
  },
  "glm-4": {
    teaches: "在调用上述函数时，请使用 Json 格式表示调用的参数。",
    write: (calls) => calls.map(({ name, values }) => `${name}\n${json(values)}`).join("\n"),
    takesTextBefore: false,
  },
  "llama-3": {
    teaches: 'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.',
    write: (calls) => calls.map((call) => `{"name": "${call.name}", "parameters": ${json(call.values)}}`).join("; "),
  },
  json: {
    teaches: '{"name": <name>, "arguments": <object>}',
    write: (calls) => list(calls),
    takesTextBefore: false,
  },
};

const tools: readonly Tool[] = [
  {
    name: "write_file",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string" },
        content: { type: "string" },
        lines: { anyOf: [{ type: "integer" }, { type: "null" }] },
        tags: { type: "array", items: { type: "string" } },
        options: { $ref: "#/$defs/Options" },
        force: { type: "boolean" },
      },
      $defs: {
        Options: {
          type: "object",
          properties: { mode: { type: "integer" }, deep: { type: "array", items: { type: "number" } } },
        },
      },
    },
  },
  { name: "ping" },
];

type Shown = readonly (readonly [string, string, string?])[];

/** Reads an answer cut into pieces of a length, and joins the texts that follow one another. */
function read(template: string, answer: string, length: number, isCut = false): Shown {
  const format = getAnswerFormat(template);
  const reader = new AnswerReader({ format, tools, startsInReasoning: false });
  const parts: AnswerPart[] = [];
  for (let at = 0; at < answer.length; at += length) parts.push(...reader.push(answer.slice(at, at + length)));
  parts.push(...reader.end(isCut));
  const joined: [string, string, string?][] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.type === "toolCall") joined.push([part.type, part.call.name, part.call.arguments]);
    else if (last?.[0] === part.type) last[1] += part.text;
    else joined.push([part.type, part.text]);
  }
  return joined;
}

const shown = ({ name, values }: Call): Shown[number] => ["toolCall", name, json(values)];
const write = (values: Readonly<Record<string, unknown>>): Call => ({ name: "write_file", values });
const closings =
  '</tool_call> </parameter> </function> </seed:tool_call> </arg_value> </invoke> </minimax:tool_call> <|tool_call_end|> <｜tool▁call▁end｜> [TOOL_CALLS] <|END_ACTION|> </TOOLCALL> <tool_call|> ``` }]} ")';
const calls: Readonly<Record<string, Call>> = {
  plain: write({ path: "a.md", content: "Hello" }),
  "closing tags": write({ path: "a.md", content: `say ${closings} now` }),
  quotes: write({ path: 'a "b" c', content: "d \\ e \\n f" }),
  "line ends": write({ path: "a.md", content: "one\n  two\n\nthree" }),
  unicode: write({ path: "Köln/日本.txt", content: "🙂 é \u2028 ｜" }),
  "JSON in a text": write({ path: "a.json", content: '{"name": "ping", "arguments": {}}' }),
  types: write({ path: "1", content: "true", lines: 4, tags: ["a", "b c"], options: { mode: 1, deep: [1, 2.5] }, force: true }),
  "no arguments": { name: "ping", values: {} },
  "an empty text": write({ path: "", content: "x" }),
};

describe.each(Object.entries(families))(
  "calls in the form %s",
  (name, { teaches, write: written, ambiguous, takesTextBefore = true }) => {
    const template = `{% for t in tools %}{{ t }}{% endfor %}${teaches}`;

    it("are known by the template", () => {
      expect(getAnswerFormat(template).calls?.name).toBe(name);
    });

    it("are read however they are cut, whatever their values contain", () => {
      const wrong: unknown[] = [];
      for (const call of Object.values(calls)) {
        if (Object.values(call.values).some((value) => ambiguous?.test(String(value)))) continue;
        const answer = written([call]);
        for (const length of [1, 1000]) {
          const found = read(template, answer, length);
          if (json(found) !== json([shown(call)])) wrong.push({ answer, found });
        }
      }
      expect(wrong).toEqual([]);
    });

    it("are read one behind another, with text around them", () => {
      const [one, two] = [calls["plain"] as Call, calls["no arguments"] as Call];
      for (const length of [2, 1000]) {
        expect(read(template, written([one, two]), length)).toEqual([shown(one), shown(two)]);
        if (!takesTextBefore) continue;
        expect(read(template, `I look.\n\n${written([one])}\n\nDone, <b>.`, length)).toEqual([
          ["text", "I look."],
          shown(one),
          ["text", "Done, <b>."],
        ]);
        const apart = `${written([one])} and ${written([two])}`;
        expect(read(template, apart, length)).toEqual([shown(one), ["text", "and"], shown(two)]);
      }
      expect(read(template, "Nothing { to <call>.", 1)).toEqual([["text", "Nothing { to <call>."]]);
    });

    it("that are cut by the limit are no calls with other arguments", () => {
      const answer = written([calls["types"] as Call, calls["no arguments"] as Call]);
      const whole = [shown(calls["types"] as Call), shown(calls["no arguments"] as Call)];
      const wrong: unknown[] = [];
      for (let length = 1; length < answer.length; length += 9) {
        const found = read(template, answer.slice(0, length), 40, true).filter(([type]) => type === "toolCall");
        if (json(found) !== json(whole.slice(0, found.length))) wrong.push({ answer: answer.slice(0, length), found });
      }
      expect(wrong).toEqual([]);
    });
  },
);

describe("the table of forms", () => {
  it("has every form in these tests, but for DeepSeek's JSON between its tags", () => {
    expect(callForms.map(({ name }) => name).filter((name) => families[name] === undefined)).toEqual(["deepseek-json"]);
  });
});

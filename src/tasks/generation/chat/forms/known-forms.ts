/** The table of the forms of calls: by what a chat template says, which form its model was trained on. */
import { omitUndefined } from "../../../../contract/checked.ts";
import type { CallForm, NamedSyntax, WrittenCall } from "./call-form.ts";
import { deepseekV32, glm45, minicpm5, minimaxM2, minimaxM3, qwen3Coder, seedOss } from "./tagged-forms.ts";

/** A form, and what a template of its models contains. */
interface KnownForm {
  readonly form: CallForm;
  /** All of these are in the template. */
  readonly signs: readonly (string | RegExp)[];
}

/** JSON with a name and arguments, between two texts. */
function writtenJson(open: string, close: string, argumentsName = "arguments", name = "name"): WrittenCall {
  return { open, close, name: [`{"${name}": `, `, "${argumentsName}":`], afterArguments: "}", isJsonName: true };
}

/** As `writtenJson`, in a list of one. */
function writtenList(open: string, close: string, argumentsName = "arguments", name = "name"): WrittenCall {
  return { ...writtenJson(`${open}[`, close, argumentsName, name), afterArguments: "}]" };
}

/** A name and an object, between texts. */
function writtenNamed(open: string, separator: string, afterArguments: string, close: string): WrittenCall {
  return { open, close, name: ["", separator], afterArguments, isJsonName: false };
}

/** Names and objects, of which `parts` says what stands around them. */
function namedSyntax(parts: Partial<NamedSyntax>): NamedSyntax {
  return { kind: "named", call: [], separators: [], hasTypes: false, callCloses: [], closes: [], ...parts };
}

/** Calls of Python between two texts. */
function pythonForm(name: string, open: string, close: string): CallForm {
  return { name, opens: [open], syntax: { kind: "python", close }, markers: [open, close] };
}

/** Calls of Gemma between two texts, with strings between `quote`. */
function bracesForm(name: string, open: string, close: string, quote: string): CallForm {
  return { name, opens: [open], syntax: { kind: "braces", quote, close }, markers: [open, close, quote] };
}

const deepseek = {
  calls: ["<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"],
  call: ["<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"],
  separator: "<｜tool▁sep｜>",
} as const;

function deepseekForm(name: string, written: WrittenCall): CallForm {
  const { calls, call, separator } = deepseek;
  return {
    name,
    opens: [calls[0], call[0]],
    syntax: namedSyntax({
      call: [call[0]],
      separators: [separator],
      hasTypes: true,
      callCloses: [call[1]],
      closes: [calls[1]],
    }),
    written,
    markers: [...calls, ...call, separator],
  };
}

const deepseekOpen = deepseek.calls[0] + deepseek.call[0];
const deepseekClose = deepseek.calls[1];

const mistral = {
  opens: ["[TOOL_CALLS]"],
  syntax: namedSyntax({ separators: ["[CALL_ID]", "[ARGS]"] }),
  markers: ["[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"],
  ids: "nineCharacters",
} as const satisfies Partial<CallForm>;

const kimi = [
  "<|tool_calls_section_begin|>",
  "<|tool_call_begin|>",
  "<|tool_call_argument_begin|>",
  "<|tool_call_end|>",
  "<|tool_calls_section_end|>",
] as const;

/** A form of JSON between two texts. */
function jsonForm(name: string, open: string, close: string, written: WrittenCall | undefined): CallForm {
  const closes = close === "" ? [] : [close];
  return {
    name,
    opens: [open],
    syntax: { kind: "json", closes, isBare: false },
    ...omitUndefined({ written }),
    markers: [open, ...closes],
  };
}

/** JSON without anything before it. */
function bareForm(name: string, opens: readonly string[], argumentsName: string): CallForm {
  return {
    name,
    opens,
    syntax: { kind: "json", closes: [], isBare: true },
    written: writtenJson("", "", argumentsName),
    markers: opens.filter((open) => open.startsWith("<|")),
  };
}

/** The first whose signs a template has is its form. */
const knownForms: readonly KnownForm[] = [
  {
    form: minimaxM3,
    signs: ["]<]minimax[>["],
  },
  {
    form: minimaxM2,
    signs: ["<minimax:tool_call>"],
  },
  {
    form: deepseekV32,
    signs: ["｜DSML｜"],
  },
  {
    form: seedOss,
    signs: ["seed:tool_call>"],
  },
  {
    form: glm45,
    signs: ["<arg_key>"],
  },
  {
    form: {
      name: "kimi-k2",
      opens: [kimi[0], kimi[1]],
      syntax: namedSyntax({ call: [kimi[1]], separators: [kimi[2]], callCloses: [kimi[3]], closes: [kimi[4]] }),
      written: writtenNamed(`${kimi[0]}${kimi[1]}functions.`, `:0${kimi[2]}`, kimi[3], kimi[4]),
      markers: kimi,
      ids: "numberedNames",
    },
    signs: [kimi[1]],
  },
  {
    form: deepseekForm(
      "deepseek-r1",
      writtenNamed(`${deepseekOpen}function${deepseek.separator}`, "\n```json\n", `\n\`\`\`${deepseek.call[1]}`, deepseekClose),
    ),
    signs: [deepseek.call[0], "```json"],
  },
  {
    form: deepseekForm("deepseek-v3.1", writtenNamed(deepseekOpen, deepseek.separator, deepseek.call[1], deepseekClose)),
    signs: [deepseek.call[0], deepseek.separator],
  },
  {
    form: deepseekForm("deepseek-json", writtenJson(deepseekOpen, deepseek.call[1] + deepseekClose, "parameters")),
    signs: [deepseek.call[0]],
  },
  {
    form: { name: "mistral-named", ...mistral, written: writtenNamed("[TOOL_CALLS]", "[ARGS]", "", "") },
    signs: ["[TOOL_CALLS]", "[ARGS]"],
  },
  {
    form: { name: "mistral-list", ...mistral, written: writtenList("[TOOL_CALLS]", "") },
    signs: ["[TOOL_CALLS]"],
  },
  {
    form: minicpm5,
    signs: ['<function name="', '<param name="'],
  },
  {
    form: jsonForm(
      "command-r7b",
      "<|START_ACTION|>",
      "<|END_ACTION|>",
      writtenList("<|START_ACTION|>", "<|END_ACTION|>", "parameters", "tool_name"),
    ),
    signs: ["<|START_ACTION|>"],
  },
  {
    form: pythonForm("lfm2", "<|tool_call_start|>", "<|tool_call_end|>"),
    signs: [/<\|tool_(?:call_start|list_start)\|>/],
  },
  {
    form: bracesForm("gemma-4", "<|tool_call>", "<tool_call|>", '<|"|>'),
    signs: ["<|tool_call>"],
  },
  {
    form: bracesForm("functiongemma", "<start_function_call>", "<end_function_call>", "<escape>"),
    signs: ["<start_function_call>"],
  },
  {
    form: jsonForm("nemotron", "<TOOLCALL>", "</TOOLCALL>", writtenList("<TOOLCALL>", "</TOOLCALL>")),
    signs: ["<TOOLCALL>"],
  },
  {
    form: jsonForm("apriel", "<tool_calls>", "</tool_calls>", writtenList("<tool_calls>", "</tool_calls>")),
    signs: [/<tool_calls>\[/],
  },
  {
    form: {
      ...jsonForm("gigachat-3", "function call<|role_sep|>", "", writtenJson("function call<|role_sep|>\n", "")),
      markers: ["<|role_sep|>"],
    },
    signs: ["function call", "role_sep"],
  },
  {
    form: pythonForm("olmo-3", "<function_calls>", "</function_calls>"),
    signs: ["<function_calls>"],
  },
  {
    form: {
      name: "hunyuan",
      opens: ["<tool_calls>", "<tool_call>"],
      syntax: namedSyntax({
        call: ["<tool_call>"],
        separators: ["<tool_sep>"],
        callCloses: ["</tool_call>"],
        closes: ["</tool_calls>"],
      }),
      written: writtenNamed("<tool_calls>\n<tool_call>", "\n```json\n", "\n```\n</tool_call>", "\n</tool_calls>"),
      markers: ["<tool_calls>", "</tool_calls>", "<tool_call>", "</tool_call>", "<tool_sep>"],
    },
    signs: ["<tool_calls>", "<tool_call>", "```json"],
  },
  {
    form: jsonForm(
      "internlm2",
      "<|action_start|><|plugin|>",
      "<|action_end|>",
      writtenJson("<|action_start|><|plugin|>\n", "<|action_end|>", "parameters"),
    ),
    signs: ["<|action_start|>", "<|plugin|>"],
  },
  {
    form: qwen3Coder,
    signs: ["<tool_call>", "<function="],
  },
  {
    form: jsonForm("phi-4", "<|tool_call|>", "<|/tool_call|>", writtenList("<|tool_call|>", "<|/tool_call|>")),
    signs: ["<|tool_call|>", "<|/tool_call|>"],
  },
  {
    form: jsonForm("granite-3", "<|tool_call|>", "", writtenList("<|tool_call|>", "")),
    signs: ["<|tool_call|>"],
  },
  {
    form: jsonForm("hermes", "<tool_call>", "</tool_call>", writtenJson("<tool_call>\n", "\n</tool_call>")),
    signs: ["<tool_call>"],
  },
  {
    form: {
      name: "functionary-3.1",
      opens: ["<function="],
      syntax: namedSyntax({ call: ["<function="], separators: [">"], callCloses: ["</function>"] }),
      written: writtenNamed("<function=", ">", "</function>", ""),
      markers: [],
    },
    signs: [/<function=[^>]*>\{/],
  },
  {
    form: jsonForm("functools", "functools", "", writtenList("functools", "")),
    signs: ["functools"],
  },
  {
    form: jsonForm("command-r", "Action:", "", writtenList("Action: ```json\n", "\n```", "parameters", "tool_name")),
    signs: ["Action:", "tool_name"],
  },
  {
    form: {
      name: "glm-4",
      opens: [],
      syntax: namedSyntax({}),
      written: writtenNamed("", "\n", "", ""),
      markers: [],
    },
    signs: ["在调用上述函数时，请使用 Json 格式表示调用的参数"],
  },
  {
    form: { name: "llama-4", opens: [], syntax: { kind: "python", close: "" }, markers: [] },
    signs: ["[func_name1("],
  },
  {
    form: bareForm("llama-3", ["<|python_tag|>", '{"name"', '{"type": "function"', '{"type":"function"'], "parameters"),
    signs: [/<\|python_tag\|>|"parameters": *(?:dictionary|dict|\{|<)/],
  },
  {
    form: bareForm("json", ['{"name"', '{"type": "function"', '{"type":"function"'], "arguments"),
    signs: [/\{ *"name": *[^}]*"arguments": */],
  },
];

/** All forms but harmony, in which calls are messages on channels. */
export const callForms: readonly CallForm[] = knownForms.map(({ form }) => form);

/** The form of the calls that a template describes. Undefined if it is not in the table. */
export function getCallForm(template: string): CallForm | undefined {
  // In a string of the template quotes may be escaped.
  const text = template.replaceAll('\\"', '"').replaceAll("\\'", "'");
  const has = (sign: string | RegExp): boolean => (typeof sign === "string" ? text.includes(sign) : sign.test(text));
  return knownForms.find(({ signs }) => signs.every(has))?.form;
}

/** Forms of calls whose arguments stand between tags, as text. */
import type { CallForm, TaggedSyntax, WrittenCall } from "./call-form.ts";

/** Arguments between tags. */
function writtenTags({ name, callClose }: TaggedSyntax, open: string, close: string): WrittenCall {
  return { open: open + name[0], close, name: ["", name[1]], afterArguments: callClose, isJsonName: false };
}

/** Arguments between tags, in blocks between two lines. */
function blockForm(name: string, syntax: TaggedSyntax, [open, close]: readonly [open: string, close: string]): CallForm {
  return { name, opens: [open], syntax, written: writtenTags(syntax, `${open}\n`, `\n${close}`), markers: [open, close] };
}

const qwenTags: TaggedSyntax = {
  kind: "tagged",
  name: ["<function=", ">"],
  opens: ["<tool_call>", "<function="],
  callClose: "</function>",
  key: ["<parameter=", ">"],
  valueClose: "</parameter>",
  lines: "both",
  closes: ["</tool_call>"],
};
const seedTags: TaggedSyntax = {
  ...qwenTags,
  lines: "pair",
  closes: ["</seed:tool_call>"],
  opens: ["<seed:tool_call>", "<function="],
};
const glmTags: TaggedSyntax = {
  kind: "tagged",
  name: ["", ""],
  opens: ["<tool_call>"],
  callClose: "</tool_call>",
  key: ["<arg_key>", "</arg_key>", "<arg_value>"],
  valueClose: "</arg_value>",
  lines: "none",
  closes: [],
};
const invokeTags: TaggedSyntax = {
  kind: "tagged",
  name: ['<invoke name="', '">'],
  opens: ["<minimax:tool_call>", '<invoke name="'],
  callClose: "</invoke>",
  key: ['<parameter name="', '">'],
  valueClose: "</parameter>",
  lines: "none",
  closes: ["</minimax:tool_call>"],
};
const dsml = "｜DSML｜";
const dsmlTags: TaggedSyntax = {
  kind: "tagged",
  name: [`<${dsml}invoke name="`, '">'],
  opens: [`<${dsml}function_calls>`, `<${dsml}tool_calls>`, `<${dsml}invoke name="`],
  callClose: `</${dsml}invoke>`,
  key: [`<${dsml}parameter name="`, '">'],
  valueClose: `</${dsml}parameter>`,
  lines: "none",
  closes: [`</${dsml}function_calls>`, `</${dsml}tool_calls>`],
};
const paramTags: TaggedSyntax = {
  kind: "tagged",
  name: ['<function name="', '">'],
  opens: ['<function name="'],
  callClose: "</function>",
  key: ['<param name="', '">'],
  valueClose: "</param>",
  lines: "none",
  closes: [],
  hasCdata: true,
};
const elements = "]<]minimax[>[";

/** MiniMax M3: elements, one inside of another. */
export const minimaxM3: CallForm = {
  name: "minimax-m3",
  opens: [`${elements}<tool_call>`],
  syntax: { kind: "elements", prefix: elements, close: `${elements}</tool_call>` },
  markers: [elements],
};

/** MiniMax M2. */
export const minimaxM2: CallForm = blockForm("minimax-m2", invokeTags, ["<minimax:tool_call>", "</minimax:tool_call>"]);

/** DeepSeek V3.2: the tags mark which values are strings. */
export const deepseekV32: CallForm = {
  name: "deepseek-v3.2",
  opens: [`<${dsml}function_calls>`, `<${dsml}tool_calls>`],
  syntax: dsmlTags,
  markers: [dsml],
};

/** Seed-OSS. */
export const seedOss: CallForm = blockForm("seed-oss", seedTags, ["<seed:tool_call>", "</seed:tool_call>"]);

/** GLM 4.5 to 5.2, Ling 3. */
export const glm45: CallForm = {
  name: "glm-4.5",
  opens: ["<tool_call>"],
  syntax: glmTags,
  written: writtenTags(glmTags, "<tool_call>", ""),
  markers: ["<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"],
};

/** MiniCPM 5. */
export const minicpm5: CallForm = {
  name: "minicpm5",
  opens: ['<function name="'],
  syntax: paramTags,
  written: writtenTags(paramTags, "", ""),
  markers: [],
};

/** Qwen3-Coder, Qwen3.5; its models leave out the tag around a call now and then. */
export const qwen3Coder: CallForm = {
  ...blockForm("qwen3-coder", qwenTags, ["<tool_call>", "</tool_call>"]),
  opens: ["<tool_call>", "<function="],
};

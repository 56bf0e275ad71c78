import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { getAnswerFormat, opensReasoning } from "../answer-format.ts";
import { AnswerReader } from "../answer-reader.ts";
import { ChatTemplate } from "../chat-template.ts";
import type { Tool } from "../messages.ts";

interface Published {
  readonly name: string;
  readonly template: string;
  readonly cases: readonly {
    readonly name: string;
    readonly context: { readonly messages: readonly Message[]; readonly tools?: readonly { readonly function: Tool }[] };
    readonly expected?: string;
  }[];
}

interface Message {
  readonly content: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: object };
  }[];
}

const file = fileURLToPath(new URL("../../../../../../shared/data/chat-templates/templates.jsonl", import.meta.url));
const published: readonly Published[] = existsSync(file)
  ? readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Published)
  : [];

/** Published templates with a place for tools, by the form of calls that they teach. */
const forms: Readonly<Record<string, readonly string[]>> = {
  hermes: [
    "Baichuan-M2",
    "HuatuoGPT-o1-Qwen2.5",
    "InternVL3",
    "KAT-V1",
    "Ovis2",
    "QwQ-32B",
    "Qwen3-Next-Instruct",
    "Qwen3-Next-Thinking",
    "Qwen3-Omni-Thinking",
    "Qwen3-VL-Instruct",
    "XiYanSQL-QwenCoder-2504",
    "fin-r1",
    "qwen1.5-moe-chat",
    "qwen2-instruct",
    "qwen2-moe-instruct",
    "qwen2.5-coder-instruct",
    "qwen2.5-instruct-1m",
    "vibethinker",
  ],
  "qwen3-coder": ["Nex-N2", "Ornith-1.5-35B-A3B", "Qwen3-Coder", "qwen3.5", "qwen3.6", "qwen3.8", "qwen3.8-max"],
  "glm-4.5": ["GLM-4.6", "GLM-4.7", "Ling-3.0-tiny", "glm-4.5", "glm-4.5v", "glm-5", "glm-5.1", "glm-5.2"],
  "llama-3": ["HuatuoGPT-o1-LLaMA-3.1", "llama-3.1-instruct", "llama-3.3-instruct"],
  "mistral-list": ["mistral-instruct-v0.3", "mistral-nemo-instruct", "mixtral-8x22B-instruct-v0.1"],
  "deepseek-v3.1": ["DeepSeek-V3.2"],
  "deepseek-r1": ["deepseek-r1-0528"],
  "deepseek-json": ["deepseek-v3"],
  "kimi-k2": ["Kimi-K2.5"],
  "minimax-m2": ["MiniMax-M2.7"],
  "minimax-m3": ["MiniMax-M3"],
  minicpm5: ["minicpm5-1b"],
  "glm-4": ["glm4-0414"],
  harmony: ["gpt-oss"],
};
/** Templates that read tools from a message, and those that mention tools in no other way. */
const withoutPlace = ["glm4-chat", "glm4-chat-1m"];

const thoughts: Readonly<Record<string, readonly string[]>> = {
  "<mm:think>": ["MiniMax-M3"],
  "": [
    ...(forms["llama-3"] ?? []),
    ...(forms["mistral-list"] ?? []),
    "HuatuoGPT-o1-Qwen2.5",
    "InternVL3",
    "Ovis2",
    "Qwen3-Coder",
    "Qwen3-Next-Instruct",
    "Qwen3-VL-Instruct",
    "XiYanSQL-QwenCoder-2504",
    "deepseek-v3",
    "fin-r1",
    "glm4-0414",
    "gpt-oss",
    "qwen1.5-moe-chat",
    "qwen2-instruct",
    "qwen2-moe-instruct",
    "qwen2.5-coder-instruct",
    "qwen2.5-instruct-1m",
    "vibethinker",
  ],
};

describe.skipIf(published.length === 0)("published templates", () => {
  const named = (name: string): Published => {
    const found = published.find((each) => each.name === name);
    if (found === undefined) throw new Error(`no template is called ${name}`);
    return found;
  };

  it("with a place for tools teach a form of the table, and the others refuse tools by name", async () => {
    const found: Record<string, string[]> = {};
    const refusing: string[] = [];
    for (const { name, template } of published) {
      const place = await new ChatTemplate({ default: template }, { bos_token: "<s>", eos_token: "</s>" }).checkTools().then(
        () => true,
        () => false,
      );
      const form = getAnswerFormat(template).calls?.name ?? "none";
      if (place) (found[form] ??= []).push(name);
      else if (/\btools\b/.test(template)) refusing.push(name);
    }
    expect(found).toEqual(forms);
    expect(refusing).toEqual(withoutPlace);
  });

  it("with a place for tools have the tags of thoughts that are listed, or <think>", () => {
    const others = new Set(Object.values(thoughts).flat());
    for (const name of Object.values(forms).flat()) {
      const open = getAnswerFormat(named(name).template).reasoning?.open ?? "";
      expect(open, name).toBe(others.has(name) ? Object.keys(thoughts).find((tag) => thoughts[tag]?.includes(name)) : "<think>");
    }
  });

  it("that open the thoughts in the prompt are told from those that close them", () => {
    for (const { name, template, cases } of published) {
      const { reasoning } = getAnswerFormat(template);
      if (reasoning === undefined) continue;
      for (const { expected = "" } of cases)
        expect(opensReasoning(expected, reasoning), name).toBe(new RegExp(`${reasoning.open}\\s*$`).test(expected));
    }
  });

  it("write calls that are read again as they were", () => {
    /** The templates leave the calls out, or their form has no types. */
    const otherwise = new Set(["glm4-0414", "MiniMax-M3: null, nested and empty arguments"]);
    const wrong: unknown[] = [];
    let count = 0;
    for (const name of Object.values(forms).flat()) {
      const { template, cases } = named(name);
      const format = getAnswerFormat(template);
      for (const { name: title, context, expected } of cases) {
        const calls = context.messages.flatMap(({ tool_calls: made = [] }) => made);
        if (expected === undefined || calls.length === 0 || otherwise.has(name) || otherwise.has(`${name}: ${title}`)) continue;
        const tools = (context.tools ?? []).map((tool) => tool.function);
        const reader = new AnswerReader({ format, tools, startsInReasoning: false });
        // Behind the question: the tools stand before it.
        const question = context.messages[0]?.content ?? "";
        const from = expected.slice(
          expected.indexOf(question, Math.max(0, expected.lastIndexOf('"properties"'))) + question.length,
        );
        const parts = [...reader.push(from), ...reader.end()].flatMap((part) =>
          part.type === "toolCall" ? [`${part.call.name} ${part.call.arguments}`] : [],
        );
        // Kimi's templates write ids, which are names where we give them.
        const right = calls.map(
          ({ id, function: call }) => `${name === "Kimi-K2.5" ? id : call.name} ${JSON.stringify(call.arguments)}`,
        );
        // GLM 4.7 as published here writes results of tools as it writes calls.
        const read = parts.filter((part) => name !== "GLM-4.7" || right.includes(part));
        count += 1;
        if (JSON.stringify(read) !== JSON.stringify(right)) wrong.push([name, title, read, right]);
      }
    }
    expect(wrong).toEqual([]);
    expect(count).toBeGreaterThan(100);
  });
});

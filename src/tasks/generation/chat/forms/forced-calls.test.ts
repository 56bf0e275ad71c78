import { describe, expect, it } from "vitest";
import { amount } from "../../../../../test/fixtures/slow.ts";
import { PushdownMachine } from "../../constraints/grammar/pushdown-machine.ts";
import { Random } from "../../sampling/random.ts";
import { compileSource } from "../answer-grammar.ts";
import { type AnswerPart, AnswerReader } from "../answer-reader.ts";
import { forcedCall } from "../constrained-answer.ts";
import type { Tool } from "../messages.ts";
import { channelForm } from "./channels.ts";
import { callForms } from "./known-forms.ts";

type State = PushdownMachine["start"];

const tools: readonly Tool[] = [
  {
    name: "write_file",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string" },
        lines: { anyOf: [{ type: "integer" }, { type: "null" }] },
        tags: { type: "array", items: { enum: ["a", "b"] }, minItems: 1 },
        mode: { enum: ["read only", "write", 3, null] },
        code: { type: "string", pattern: "^[a-c]{2,4}$" },
        options: { $ref: "#/$defs/Options" },
        force: { type: "boolean" },
      },
      required: ["path", "lines", "mode", "code"],
      $defs: { Options: { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false } },
    },
  },
  { name: "ping" },
];

interface Values {
  readonly path: unknown;
  readonly lines: unknown;
  readonly tags?: readonly unknown[];
  readonly mode: unknown;
  readonly code: unknown;
  readonly options?: { readonly n: unknown };
  readonly force?: unknown;
}

function isValid({ path, lines, tags, mode, code, options, force }: Values): boolean {
  return (
    typeof path === "string" &&
    (lines === null || Number.isInteger(lines)) &&
    (tags === undefined || tags.every((tag) => tag === "a" || tag === "b")) &&
    ["read only", "write", 3, null].includes(mode as string) &&
    /^[a-c]{2,4}$/.test(String(code)) &&
    (options === undefined || typeof options.n === "number") &&
    (force === undefined || typeof force === "boolean")
  );
}

/** A text that a grammar allows, chosen at random: letters rather than other bytes, and the end soon. */
function randomText(machine: PushdownMachine, random: Random): string | undefined {
  const bytes: number[] = [];
  let state: State = machine.start;
  while (bytes.length < 3000) {
    if (state.accepts && (bytes.length > 0 || random.uniform() < 0.5)) return new TextDecoder().decode(Uint8Array.from(bytes));
    const next: (readonly [number, State])[] = [];
    for (let byte = 9; byte < 256; byte += 1) {
      const after = byte < 127 || next.length === 0 ? machine.step(state, byte) : undefined;
      if (after !== undefined) next.push([byte, after]);
    }
    // What few bytes may follow is a tag or a bracket: it is preferred, so that texts end.
    const preferred = next.filter(([byte]) => random.uniform() < 0.4 && /["<>{}[\]\n]/.test(String.fromCharCode(byte)));
    const among = preferred.length > 0 ? preferred : next;
    const chosen = among[Math.floor(random.uniform() * among.length)];
    if (chosen === undefined) return undefined;
    bytes.push(chosen[0]);
    state = chosen[1];
  }
  return undefined;
}

function callsOf(parts: readonly AnswerPart[]): readonly unknown[] {
  return parts.map((part) => (part.type === "toolCall" ? [part.call.name, part.call.arguments] : part));
}

const forms = [...callForms, channelForm].filter(({ written }) => written !== undefined);

describe.each(forms.map((form) => [form.name, form] as const))("forced calls in the form %s", (_name, form) => {
  const format = { calls: form, hasChannels: form === channelForm };
  const { opening, grammar } = forcedCall(format, tools, {});
  const machine = new PushdownMachine(compileSource(grammar.text));

  it("are valid and are read as they were written, whatever the model writes", () => {
    const random = Random.seeded(7, 0);
    let whole = 0;
    for (let count = 0; count < amount(60, form.syntax.kind === "tagged" ? 4 : 1); count += 1) {
      const text = randomText(machine, random);
      if (text === undefined) continue;
      const reader = new AnswerReader({ format, tools, startsInReasoning: false, isConstrained: true });
      const parts = callsOf([...reader.push(opening), ...reader.push(text), ...reader.end()]);
      expect(parts, opening + text).toHaveLength(1);
      const [name, written] = parts[0] as [string, string];
      const values = JSON.parse(written) as Values;
      expect(name === "ping" ? Object.keys(values).length === 0 : isValid(values), written).toBe(true);
      whole += 1;
    }
    expect(whole).toBeGreaterThan(0);
  });
});

describe("forced calls", () => {
  it("of one tool begin with the special tokens before the arguments, and of several with those before the name", () => {
    const format = { calls: channelForm, hasChannels: true };
    const { opening, grammar } = forcedCall(format, tools.slice(1), {});
    expect(opening).toBe("<|channel|>commentary to=functions.ping <|constrain|>json<|message|>");
    const machine = new PushdownMachine(compileSource(grammar.text));
    expect(machine.step(machine.start, "{".charCodeAt(0))).toBeDefined();
    expect(forcedCall(format, tools, {}).opening).toBe("<|channel|>commentary to=functions.");
  });

  it("are refused by name in a form that has no grammar", () => {
    const form = callForms.find(({ name }) => name === "lfm2");
    expect(() => forcedCall({ calls: form!, hasChannels: false }, tools, {})).toThrow(/form \(lfm2\) cannot be forced/);
    expect(() => forcedCall({ hasChannels: false }, tools, {})).toThrow(/form \(unknown\) cannot be forced/);
  });

  it("between tags refuse what is not followed there", () => {
    const form = callForms.find(({ name }) => name === "qwen3-coder");
    const many = [{ name: "f", parameters: { type: "object", properties: { a: {} }, minProperties: 1 } }];
    const { grammar } = forcedCall({ calls: form!, hasChannels: false }, many, {});
    expect(() => compileSource(grammar.text)).toThrow(/the parameters of tool 0, "f": .*minProperties/s);
  });
});

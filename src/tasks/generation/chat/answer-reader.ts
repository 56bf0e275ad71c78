/** Splits a model's answer, as it arrives, into text, thoughts and calls of tools. */
import { StopStrings } from "../text/stop-strings.ts";
import type { AnswerFormat, ToolForm } from "./answer-format.ts";
import type { Tool, ToolCall } from "./messages.ts";
import { type CallText, callsFromJson, callsFromJsonLines, callsFromMistral, callsFromXml } from "./tool-calls.ts";

/** A part of an answer. A call is given when all of it was written. */
export type AnswerPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "toolCall"; readonly call: ToolCall };

/** What an answer is read with. */
export interface AnswerReaderOptions {
  readonly format: AnswerFormat;
  /** Empty: calls are not looked for. */
  readonly tools: readonly Tool[];
  /** Whether the prompt ends inside of the thoughts. */
  readonly startsInReasoning: boolean;
  /** Whether what is no call fits a constraint: it is then passed on as it is, whatever it looks like. Default: false. */
  readonly isConstrained?: boolean;
}

type State = "start" | "text" | "reasoning" | "call" | "json";

/** Reads one answer. White space around thoughts and calls belongs to neither. */
export class AnswerReader {
  readonly #options: AnswerReaderOptions;
  #state: State;
  /** Looks for the marker that ends the state. */
  #search: StopStrings;
  /** Text of a call, or of an answer that may be one. */
  #call = "";
  /** White space that is given with the text behind it, if any. */
  #space = "";
  #calls = 0;
  /** Whether white space before the next text is left out. */
  #skipsSpace = false;

  constructor(options: AnswerReaderOptions) {
    this.#options = options;
    this.#state = options.startsInReasoning ? "reasoning" : "start";
    this.#skipsSpace = options.startsInReasoning;
    this.#search = this.#searchOf();
  }

  /** Adds text, and returns the parts that are known with it. */
  push(text: string): readonly AnswerPart[] {
    const parts: AnswerPart[] = [];
    for (let rest = text; ;) {
      const found = this.#search.push(rest);
      this.#add(found.text, parts);
      if (found.stop === undefined) {
        this.#stopSearching(parts);
        return parts;
      }
      rest = found.rest ?? "";
      this.#meet(found.stop, parts);
      this.#search = this.#searchOf();
    }
  }

  /** The rest, once no text follows. */
  end(): readonly AnswerPart[] {
    const parts: AnswerPart[] = [];
    this.#add(this.#search.end(), parts);
    if (this.#state === "call" || this.#state === "json") this.#finishCall(parts, "");
    else if (this.#calls === 0 && this.#space !== "" && this.#state === "text") parts.push({ type: "text", text: this.#space });
    this.#space = "";
    return parts;
  }

  #searchOf(): StopStrings {
    const { reasoning, tools: form } = this.#options.format;
    const opens = this.#hasTools && form !== undefined && form.kind !== "json" ? [form.open] : [];
    if (this.#state === "reasoning") return new StopStrings(reasoning === undefined ? [] : [reasoning.close]);
    // A call that fits a constraint is all that follows, whatever its arguments contain.
    if (this.#state === "json" || (this.#state === "call" && this.#options.isConstrained === true)) return new StopStrings([]);
    if (this.#state === "call") return new StopStrings(form?.kind === "tagged" ? [form.close] : []);
    const python = this.#hasTools && form?.kind === "json" ? ["<|python_tag|>"] : [];
    const thoughts = reasoning === undefined || this.#options.isConstrained === true ? [] : [reasoning.open];
    return new StopStrings([...thoughts, ...opens, ...python]);
  }

  /** In a text that fits a constraint nothing is looked for. */
  #stopSearching(parts: AnswerPart[]): void {
    if (this.#state !== "text" || this.#options.isConstrained !== true) return;
    const held = this.#search.end();
    this.#search = new StopStrings([]);
    this.#add(held, parts);
  }

  get #hasTools(): boolean {
    return this.#options.tools.length > 0;
  }

  #add(text: string, parts: AnswerPart[]): void {
    if (text === "") return;
    if (this.#state === "call" || this.#state === "json") {
      this.#call += text;
      return;
    }
    if (this.#state === "start") {
      const begun = (this.#space + text).trimStart();
      // Llama writes a call as the whole answer.
      if (begun.startsWith("{") && this.#hasTools && this.#options.format.tools?.kind === "json") {
        this.#state = "json";
        this.#call = this.#space + text;
        this.#space = "";
        return;
      }
      if (begun === "") {
        this.#space += text;
        return;
      }
      this.#state = "text";
    }
    const joined = this.#space + text;
    const all = this.#skipsSpace ? joined.trimStart() : joined;
    this.#skipsSpace &&= all === "";
    const shown = all.trimEnd();
    this.#space = all.slice(shown.length);
    if (shown !== "") parts.push({ type: this.#state === "reasoning" ? "reasoning" : "text", text: shown });
  }

  #meet(marker: string, parts: AnswerPart[]): void {
    const { reasoning } = this.#options.format;
    this.#space = ""; // that around a marker is its own
    this.#skipsSpace = true;
    if (this.#state === "reasoning") this.#state = "start";
    else if (this.#state === "call") this.#finishCall(parts, marker);
    else if (marker === reasoning?.open) this.#state = "reasoning";
    else if (marker === "<|python_tag|>") this.#state = "json";
    else this.#state = "call";
  }

  /** Gives the calls, or what was written if that is none. */
  #finishCall(parts: AnswerPart[], close: string): void {
    const form = this.#options.format.tools;
    const end = this.#options.isConstrained === true && form?.kind === "tagged" ? form.close : "";
    const text = this.#call.endsWith(end) ? this.#call.slice(0, this.#call.length - end.length) : this.#call;
    const calls = form === undefined ? undefined : readCalls(form, text, this.#options.tools);
    const open = form !== undefined && form.kind !== "json" ? form.open : "";
    if (calls === undefined) parts.push({ type: "text", text: open + this.#call + close });
    for (const call of calls ?? []) {
      this.#calls += 1;
      parts.push({ type: "toolCall", call: { id: newCallId(), ...call } });
    }
    this.#call = "";
    this.#state = "start";
  }
}

function readCalls(form: ToolForm, text: string, tools: readonly Tool[]): readonly CallText[] | undefined {
  const calls = callsFromJson(text);
  if (form.kind === "json") {
    // The whole answer is JSON, so that only the names of tools tell calls from other objects.
    const read = calls ?? callsFromJsonLines(text);
    return read?.every((call) => tools.some(({ name }) => name === call.name)) === true ? read : undefined;
  }
  return calls ?? (form.kind === "mistral" ? callsFromMistral(text, form.open) : callsFromXml(text, tools));
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Nine letters and digits, which every known chat template accepts. */
export function newCallId(): string {
  return Array.from(globalThis.crypto.getRandomValues(new Uint8Array(9)), (byte) => letters[byte % letters.length]).join("");
}

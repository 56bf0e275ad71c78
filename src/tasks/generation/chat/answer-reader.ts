/** Splits a model's answer, as it arrives, into text, thoughts and calls of tools. */
import type { AnswerFormat } from "./answer-format.ts";
import { newCallId } from "./call-ids.ts";
import type { CallForm } from "./forms/call-form.ts";
import type { CallReading, CallText } from "./forms/call-reading.ts";
import { readChannels } from "./forms/channels.ts";
import { readCalls } from "./forms/read-calls.ts";
import { type CursorReading, CallCursor } from "./forms/text-cursor.ts";
import type { Tool, ToolCall } from "./messages.ts";

/** A part of an answer. A call is given when all of it was written. */
export type AnswerPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "toolCall"; readonly call: ToolCall };

/** Options of reading an answer. */
export interface AnswerReaderOptions {
  readonly format: AnswerFormat;
  /** Empty: calls are not looked for. */
  readonly tools: readonly Tool[];
  /** Whether the prompt ends inside of the thoughts. */
  readonly startsInReasoning: boolean;
  /** Whether text outside of calls fits a constraint: it is then passed on unchanged, even if it looks like a call. Default: false. */
  readonly isConstrained?: boolean;
}

/** A call without anything before it, in a form whose calls have something: models write it now and then. */
const bareJson = { kind: "json", closes: [], isBare: true } as const;

/** Reads one answer. White space around thoughts and calls is dropped. */
export class AnswerReader {
  readonly #options: AnswerReaderOptions;
  readonly #cursor = new CallCursor();
  readonly #reading: Iterator<undefined, void, undefined>;
  /** Parts that are known, and not given yet. */
  #parts: AnswerPart[] = [];
  /** White space that is given with the text after it, if any. */
  #space = "";
  #calls = 0;
  /** Whether white space before the next text is left out. */
  #skipsSpace: boolean;
  /** Whether anything but white space was given since the answer, or what follows the thoughts, began. */
  #isAtStart = true;

  constructor(options: AnswerReaderOptions) {
    this.#options = options;
    this.#skipsSpace = options.startsInReasoning;
    this.#reading = options.format.hasChannels ? this.#readChannels() : this.#readAnswer();
  }

  /** Adds text, and returns the parts that are known with it. */
  push(text: string): readonly AnswerPart[] {
    this.#cursor.push(text);
    return this.#continue();
  }

  /** The remaining events, when no text follows. `isCut`: the limit of tokens ended the answer, so that an incomplete call is not a call. Default: false. */
  end(isCut = false): readonly AnswerPart[] {
    this.#cursor.finish(isCut);
    const parts = [...this.#continue()];
    if (this.#calls === 0 && this.#space !== "" && !this.#isAtStart) parts.push({ type: "text", text: this.#space });
    this.#space = "";
    return parts;
  }

  #continue(): readonly AnswerPart[] {
    this.#reading.next();
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }

  *#readAnswer(): CursorReading<void> {
    const { format, startsInReasoning, isConstrained = false } = this.#options;
    if (startsInReasoning) yield* this.#readReasoning();
    if (isConstrained) yield* this.#readConstrained();
    const { reasoning } = format;
    const form = this.#form;
    const opens = form === undefined ? [] : form.opens;
    const markers = [...(reasoning === undefined ? [] : [reasoning.open]), ...opens];
    while (!this.#cursor.isAtEnd) {
      if (this.#isAtStart && form !== undefined) yield* this.#readBare(form);
      const { delimiter } = yield* this.#readUntil(markers, "text");
      if (delimiter === undefined) return;
      if (delimiter === reasoning?.open) {
        this.#space = "";
        this.#skipsSpace = true;
        yield* this.#readReasoning();
      } else if (form !== undefined) yield* this.#readCalls(form, delimiter);
    }
  }

  /** Calls are looked for in this form. */
  get #form(): CallForm | undefined {
    return this.#options.tools.length === 0 ? undefined : this.#options.format.calls;
  }

  /** The mark is set before the delimiter. */
  *#readUntil(
    delimiters: readonly string[],
    type: "text" | "reasoning",
  ): CursorReading<{ readonly delimiter: string | undefined }> {
    const cursor = this.#cursor;
    cursor.mark();
    return yield* cursor.until(delimiters, (text) => {
      this.#show(type, text);
      cursor.mark();
    });
  }

  *#readReasoning(): CursorReading<void> {
    const { reasoning } = this.#options.format;
    if (reasoning === undefined) return;
    yield* this.#cursor.space();
    yield* this.#cursor.take(reasoning.open); // a model may repeat what the prompt ends with
    yield* this.#readUntil([reasoning.close], "reasoning");
    this.#space = "";
    this.#skipsSpace = true;
    this.#isAtStart = true;
  }

  /** A call that fits a constraint begins the answer. All other text is passed on. */
  *#readConstrained(): CursorReading<void> {
    const form = this.#form;
    const space = yield* this.#cursor.space();
    this.#cursor.mark();
    const open = form === undefined ? undefined : yield* this.#cursor.takeOneOf(form.opens);
    if (open !== undefined && form !== undefined) yield* this.#readCalls(form, open);
    else {
      if (form !== undefined) yield* this.#readBare(form);
      if (this.#calls === 0 && !this.#options.startsInReasoning) this.#space = space + this.#space;
    }
    yield* this.#readUntil([], "text");
  }

  /** Reads calls that begin the answer without any text that begins calls. */
  *#readBare(form: CallForm): CursorReading<void> {
    this.#space += yield* this.#cursor.space();
    if (this.#cursor.isAtEnd) return;
    const isBare = form.opens.length === 0;
    if (!isBare && !(yield* this.#cursor.isNextOneOf(["{", "[{", "[ {", "[\n", "```json"]))) return;
    this.#cursor.mark();
    yield* this.#readCalls(isBare ? form : { ...form, syntax: bareJson }, "");
  }

  /** Reads calls after a text that begins them, which the mark precedes. What is none is text. */
  *#readCalls(form: CallForm, open: string): CursorReading<void> {
    const cursor = this.#cursor;
    const reading = { cursor, tools: this.#options.tools, add: this.#add };
    const isPartOfCall = open.startsWith("{");
    if (isPartOfCall) cursor.rewind();
    const isCall = yield* readCalls(form, { open: isPartOfCall ? "" : open, isLenient: false }, reading);
    if (isCall) return;
    if (form.syntax.kind === "tagged" && (yield* this.#readLeniently(form, open, reading))) return;
    const text = cursor.sinceMark;
    cursor.mark();
    if (text !== "") this.#show("text", text);
  }

  /** Reads again what was not read as calls, without demanding that values end as the form has it. */
  *#readLeniently(form: CallForm, open: string, reading: CallReading): CursorReading<boolean> {
    const { cursor } = reading;
    const text = cursor.sinceMark;
    cursor.rewind();
    const hasOpen = text.startsWith(open) && (yield* cursor.take(open));
    return yield* readCalls(form, { open: hasOpen ? open : "", isLenient: true }, reading);
  }

  *#readChannels(): CursorReading<void> {
    const { tools, isConstrained = false } = this.#options;
    const show = (type: "text" | "reasoning", text: string): void => {
      this.#show(type, text);
      this.#cursor.mark();
    };
    yield* readChannels({ cursor: this.#cursor, tools, add: this.#add, show, isConstrained });
  }

  readonly #add = (call: CallText): void => {
    this.#calls += 1;
    this.#space = "";
    this.#skipsSpace = true;
    this.#parts.push({ type: "toolCall", call: { id: newCallId(), ...call } });
    this.#cursor.mark();
  };

  #show(type: "text" | "reasoning", text: string): void {
    const joined = this.#space + text;
    const all = this.#skipsSpace ? joined.trimStart() : joined;
    this.#skipsSpace &&= all === "";
    const shown = all.trimEnd();
    this.#space = all.slice(shown.length);
    if (shown === "") return;
    if (type === "text") this.#isAtStart = false;
    this.#parts.push({ type, text: shown });
  }
}

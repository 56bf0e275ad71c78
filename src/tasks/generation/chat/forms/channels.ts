/** Answers in the harmony format of gpt-oss: messages on channels, each after a header that says whom it is for (github.com/openai/harmony). */
import type { CallForm } from "./call-form.ts";
import type { CallReading } from "./call-reading.ts";
import { compactJson, readBracketed } from "./json-source.ts";
import type { CursorReading } from "./text-cursor.ts";

/** Special tokens of the format. */
export const channelMarkers: readonly string[] = [
  "<|start|>",
  "<|channel|>",
  "<|constrain|>",
  "<|message|>",
  "<|end|>",
  "<|call|>",
  "<|return|>",
];

/** Text that precedes the final answer. */
export const finalChannel = "<|channel|>final<|message|>";

/** Calls in the format: a message to a function, whose body is the arguments. */
export const channelForm: CallForm = {
  name: "harmony",
  opens: [],
  syntax: { kind: "channel" },
  written: {
    open: "<|channel|>commentary to=functions.",
    close: "<|call|>",
    name: ["", " <|constrain|>json<|message|>"],
    afterArguments: "",
    isJsonName: false,
  },
  markers: channelMarkers,
};

/** Whether the answers of a model are messages on channels. Templates need not name the channels that the model writes. */
export function hasChannels(template: string, hasToken: (text: string) => boolean): boolean {
  if (!template.includes("<|start|>") || !template.includes("<|message|>")) return false;
  return template.includes("<|channel|>") || hasToken("<|channel|>");
}

const headerStarts = ["<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", " to=", "to="];
const bodyEnds = ["<|end|>", "<|call|>", "<|return|>", "<|start|>"];

/** Destinations of a message's text. */
export interface ChannelReading extends CallReading {
  readonly show: (type: "text" | "reasoning", text: string) => void;
  /** Whether the last message fits a constraint, and is passed on unchanged. */
  readonly isConstrained: boolean;
}

/** Reads an answer. The prompt ends after `<|start|>assistant`. */
export function* readChannels(reading: ChannelReading): CursorReading<void> {
  const { cursor } = reading;
  while ((yield* cursor.peek()) !== undefined) {
    cursor.mark();
    let header = "";
    if (yield* cursor.isNextOneOf(headerStarts)) {
      const { text, delimiter } = yield* cursor.until(["<|message|>"]);
      if (delimiter === undefined) return; // cut inside of the header
      header = text;
    }
    const [, recipient] = /to=([^\s<]+)/.exec(header) ?? [];
    const [, channel = "final"] = /<\|channel\|>\s*(\w+)/.exec(header) ?? [];
    if (recipient !== undefined && (yield* readCall(recipient, reading))) continue;
    yield* readText(channel, reading);
  }
}

/** Reads a message to a function. False: it is none that can be called, and is a text; nothing is read then. */
function* readCall(recipient: string, { cursor, tools, add }: CallReading): CursorReading<boolean> {
  if (tools.length === 0) return false;
  yield* cursor.space();
  const isEmpty = (yield* cursor.peek()) === undefined || (yield* cursor.isNextOneOf(bodyEnds));
  const json = isEmpty ? "{}" : compactJson((yield* readBracketed(cursor)) ?? "");
  const isWhole = !(isEmpty && cursor.isCut);
  if (json?.startsWith("{") === true && isWhole) {
    yield* cursor.until(
      bodyEnds.filter((end) => end !== "<|start|>"),
      () => {},
    );
    add({ name: recipient.replace(/^functions\./, ""), arguments: json });
    return true;
  }
  cursor.rewind();
  return false;
}

function* readText(channel: string, { cursor, show, isConstrained }: ChannelReading): CursorReading<void> {
  const type = channel === "analysis" ? "reasoning" : "text";
  const ends = isConstrained && channel === "final" ? [] : bodyEnds;
  const { delimiter } = yield* cursor.until(ends, (text) => show(type, text));
  if (delimiter === "<|start|>") yield* cursor.takeWhile(/\w/);
}

/** Ids of tool calls: ids of new calls, and ids in the form that a chat template accepts. */
import type { CallForm } from "./forms/call-form.ts";
import type { ChatMessage } from "./messages.ts";

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const nineCharacters = /^[A-Za-z0-9]{9}$/;

/** Nine letters and digits, which every known chat template accepts. */
export function newCallId(): string {
  return Array.from(globalThis.crypto.getRandomValues(new Uint8Array(9)), (byte) => letters[byte % letters.length]).join("");
}

/**
 * The messages with ids of calls in the form that a template expects, for any form in a client's protocol. A result without an id gets the id of the next call
 * without a result, with its name if it has one.
 */
export function withTemplateIds(messages: readonly ChatMessage[], ids: CallForm["ids"]): readonly ChatMessage[] {
  if (ids === undefined) return messages;
  /** Calls whose result has not come, by their id and the one that the template is given. */
  let open: { readonly id: string; readonly name: string; readonly given: string }[] = [];
  let count = 0;
  return messages.map((message) => {
    if (message.role === "assistant" && message.toolCalls !== undefined) {
      const calls = message.toolCalls.map((call) => {
        const given = ids === "nineCharacters" ? nineOf(call.id, count) : `functions.${call.name}:${count}`;
        count += 1;
        open.push({ id: call.id, name: call.name, given });
        return { ...call, id: given };
      });
      return { ...message, toolCalls: calls };
    }
    if (message.role !== "tool") return message;
    const { toolCallId = "", name } = message;
    const found =
      open.find(({ id, name: called }) => (toolCallId === "" ? name === undefined || name === called : id === toolCallId)) ??
      (toolCallId === "" ? open[0] : undefined);
    open = open.filter((call) => call !== found);
    const given = found?.given ?? (ids === "nineCharacters" ? nineOf(toolCallId, count) : toolCallId);
    return { ...message, toolCallId: given };
  });
}

/** An id as nine letters and digits: those of ours without what protocols write before them, and a hash of others. */
function nineOf(id: string, position: number): string {
  const own = id.replace(/^(?:call_|toolu_|fc_)/, "");
  if (nineCharacters.test(own)) return own;
  // FNV-1a over two halves of the state, so that 52 bits decide.
  let [low, high] = [0x811c9dc5, 0x01000193];
  for (const character of id === "" ? `call ${position}` : id) {
    const code = character.codePointAt(0) ?? 0;
    low = Math.imul(low ^ code, 0x01000193) >>> 0;
    high = Math.imul(high ^ code ^ (low >>> 13), 0x85ebca6b) >>> 0;
  }
  let text = "";
  for (let index = 0; index < 9; index += 1) {
    const half = index < 5 ? low : high;
    text += letters[Math.floor(half / 62 ** (index % 5)) % 62] ?? "A";
  }
  return text;
}

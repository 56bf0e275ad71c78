/** Reads the table of known answers, which is compressed: a page fetches a fifth of its size. */
import { decodeBase64 } from "../../../platform/base64.ts";
import { packedAnswers } from "./answer-table.ts";
import type { InterpreterAnswerTable } from "./known-answers.ts";

/** The known answers of the interpreter. */
export async function readAnswerTable(): Promise<InterpreterAnswerTable> {
  const unpacked = new Blob([decodeBase64(packedAnswers)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = unpacked.getReader(); // not through a Response, for which Node.js loads all of fetch
  const decoder = new TextDecoder();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read())
    text += decoder.decode(part.value, { stream: true });
  return JSON.parse(text + decoder.decode()) as InterpreterAnswerTable;
}

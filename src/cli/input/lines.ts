/**
 * The lines of a UTF-8 stream. They end at a line feed, with or without a carriage return before it. (readline of newer Node.js versions also
 * splits at U+2028, which JSON and ordinary text may contain.) A byte order mark at the start is removed.
 */
export async function* getLines(stream: NodeJS.ReadableStream): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const [first = "", ...others] = (typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true })).split("\n");
    rest += first;
    for (const line of others) {
      yield withoutReturn(rest);
      rest = line;
    }
  }
  rest += decoder.decode();
  if (rest !== "") yield withoutReturn(rest);
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

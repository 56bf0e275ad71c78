/** Bodies of responses that are written while they are made. */

/** Time after which a silent stream gets a comment, which keeps it open through proxies, in milliseconds. */
const heartbeatMs = 15_000;

/** Headers of a stream of server-sent events. */
export const eventStreamHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

/** Headers of a stream of JSON lines. */
export const jsonLinesHeaders: Readonly<Record<string, string>> = {
  "content-type": "application/x-ndjson",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

/** An event of a stream of server-sent events. `name`: default none. */
export function serverSentEvent(data: unknown, name?: string): string {
  const event = name === undefined ? "" : `event: ${name}\n`;
  return `${event}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

/**
 * A body of parts, each requested when the client has taken the ones before. `heartbeat`: text that is written when no part was ready for a while; default:
 * nothing. When the client is gone, `parts.return` is called.
 */
export function streamedBody(parts: AsyncGenerator<string, void>, heartbeat?: string): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<string, void>> | undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        next ??= parts.next();
        const part = heartbeat === undefined ? await next : await within(next, heartbeatMs);
        if (part === undefined) {
          controller.enqueue(encoder.encode(heartbeat));
          return;
        }
        next = undefined;
        if (part.done === true) controller.close();
        else controller.enqueue(encoder.encode(part.value));
      },
      async cancel() {
        await parts.return();
      },
    },
    { highWaterMark: 0 },
  );
}

/** What a promise gives; undefined if it takes longer. */
async function within<Value>(promise: Promise<Value>, milliseconds: number): Promise<Value | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

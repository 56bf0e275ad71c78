/** The events of a generation, read one by one. */
import type { GenerationEvent } from "./generated-text.ts";

interface Offer<Event> {
  readonly event: Event;
  /** Lets the text of the event go on. */
  readonly taken: () => void;
}

/**
 * Texts while they are generated: an async iterable of events. A text waits until its last event was read, so that a slow reader holds up nothing but its
 * own texts. End a stream that is not read to its end: leave the loop, call `cancel`, or abort the signal; the model stays in use otherwise.
 */
export class GenerationStream<Result, Event = GenerationEvent> implements AsyncIterableIterator<Event> {
  readonly #offers: Offer<Event>[] = [];
  readonly #abort = new AbortController();
  readonly #result: Promise<Result>;
  /** Number of tokens of each prompt. */
  readonly promptTokens: readonly number[];
  /** Called whenever an event was read. Default: no call. */
  onRead: (() => void) | undefined;
  #wake: (() => void) | undefined;
  #ended = false;
  #isDraining = false;

  /** `generate`: begins a generation that passes its events to `emit`, which settles when the event was read, and stops when the signal is aborted. */
  constructor(
    promptTokens: readonly number[],
    generate: (emit: (event: Event) => Promise<void>, signal: AbortSignal) => Promise<Result>,
  ) {
    this.promptTokens = promptTokens;
    this.#result = generate((event) => this.#offer(event), this.#abort.signal).finally(() => {
      this.#ended = true;
      this.#wake?.();
    });
    this.#result.catch(() => undefined); // thrown to the reader
  }

  /** The next event. Rejects with the error that ended the generation early. */
  async next(): Promise<IteratorResult<Event, undefined>> {
    for (;;) {
      const offer = this.#offers.shift();
      if (offer !== undefined) {
        offer.taken();
        this.onRead?.();
        return { done: false, value: offer.event };
      }
      if (this.#ended) {
        if (!this.#abort.signal.aborted) await this.#result;
        return { done: true, value: undefined };
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Cancels unfinished texts. */
  async return(): Promise<IteratorResult<Event, undefined>> {
    await this.cancel();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The whole result, once the stream was read to its end. Rejects with the error that ended the generation early. */
  get result(): Promise<Result> {
    return this.#result;
  }

  /** Reads the remaining events, and returns the whole result. Rejects with the error that ended the generation early. */
  finish(): Promise<Result> {
    this.#isDraining = true;
    for (const { taken } of this.#offers.splice(0)) taken();
    return this.#result;
  }

  /** Ends the generation within a token; returns when the model is free of it. */
  async cancel(): Promise<void> {
    this.#abort.abort();
    for (const { taken } of this.#offers.splice(0)) taken();
    await this.#result.catch(() => undefined);
  }

  /** The events as a stream of the web platform. Cancelling it cancels the generation. */
  toReadableStream(): ReadableStream<Event> {
    return new ReadableStream<Event>(
      {
        pull: async (controller) => {
          const { done, value } = await this.next();
          if (done === true) controller.close();
          else controller.enqueue(value);
        },
        cancel: () => this.cancel(),
      },
      { highWaterMark: 0 },
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.cancel();
  }

  #offer(event: Event): Promise<void> {
    if (this.#isDraining || this.#abort.signal.aborted) {
      this.onRead?.();
      return Promise.resolve();
    }
    return new Promise((taken) => {
      this.#offers.push({ event, taken });
      this.#wake?.();
    });
  }
}

/** Answers that are kept, up to a size in bytes; the least recently used leave first. */

interface Entry<Answer> {
  readonly answer: Answer;
  readonly bytes: number;
}

/** Of a key and an entry, beside the answer itself. */
const overheadBytes = 200;

export class ResultCache<Answer> {
  readonly #limit: number;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry<Answer>>();
  #bytes = 0;

  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  /** What the answers take together, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Answer | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.answer;
  }

  /** An answer that is larger than all that may be kept is not. */
  put(key: string, answer: Answer, answerBytes: number): void {
    this.#remove(key);
    const bytes = answerBytes + overheadBytes;
    if (bytes > this.#limit) return;
    this.#entries.set(key, { answer, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#limit) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}

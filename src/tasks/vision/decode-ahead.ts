/** Pictures decoded beside the computation of earlier ones. */
import type { Picture } from "../../processors/images/picture.ts";

/** Pictures that are decoded at once: decoders run on threads of their own. */
const decodersAtOnce = 2;
/** Pixels of a picture behind which the next ones are decoded before they are asked for. After a larger picture one is decoded at a time, so that memory is bounded. */
const maxPixelsAhead = 8_000_000;

/** Decodes pictures in order; up to two are decoded ahead of the picture that is asked for. */
export class DecodeAhead {
  readonly #decode: (index: number) => Promise<Picture>;
  readonly #count: number;
  /** Pictures from index `#next` on that are being decoded or are decoded. */
  readonly #ahead: Promise<Picture>[] = [];
  #next = 0;

  /** `decode` decodes the picture with an index below `count`. */
  constructor(count: number, decode: (index: number) => Promise<Picture>) {
    this.#count = count;
    this.#decode = decode;
  }

  /** Whether all pictures were returned. */
  get isDone(): boolean {
    return this.#next >= this.#count;
  }

  /** The next picture. Throws what its decoder throws. */
  async next(): Promise<Picture> {
    const picture = await (this.#ahead.shift() ?? this.#decode(this.#next));
    this.#next += 1;
    if (picture.width * picture.height <= maxPixelsAhead) this.#start();
    return picture;
  }

  #start(): void {
    while (this.#ahead.length < decodersAtOnce && this.#next + this.#ahead.length < this.#count) {
      const decoded = this.#decode(this.#next + this.#ahead.length);
      // An error is thrown where the picture is asked for, if it is.
      decoded.catch(() => {});
      this.#ahead.push(decoded);
    }
  }
}

/** Pictures decoded and prepared beside the computation of earlier ones. */
import type { PixelBatch } from "../../processors/images/process-pictures.ts";
import type { PictureSize } from "../../processors/images/resize-picture.ts";

/** A picture as a graph takes it. */
export interface PreparedPicture {
  /** Its size as given. */
  readonly size: PictureSize;
  readonly pixels: PixelBatch;
}

/** Pictures that are decoded at once: decoders run on threads of their own. */
const decodersAtOnce = 2;
/** Pixels of a picture behind which the next ones are decoded before they are asked for. After a larger picture one is decoded at a time, so that memory is bounded. */
const maxPixelsAhead = 8_000_000;

/** Prepares pictures in order; up to two are prepared ahead of the picture that is asked for. */
export class DecodeAhead {
  readonly #prepare: (index: number) => Promise<PreparedPicture>;
  readonly #count: number;
  /** Pictures from index `#next` on that are being prepared or are prepared. */
  readonly #ahead: Promise<PreparedPicture>[] = [];
  #next = 0;

  /** `prepare` decodes and prepares the picture with an index below `count`. */
  constructor(count: number, prepare: (index: number) => Promise<PreparedPicture>) {
    this.#count = count;
    this.#prepare = prepare;
  }

  /** Whether all pictures were returned. */
  get isDone(): boolean {
    return this.#next >= this.#count;
  }

  /** The next picture. Throws what its decoder throws. */
  async next(): Promise<PreparedPicture> {
    const picture = await (this.#ahead.shift() ?? this.#prepare(this.#next));
    this.#next += 1;
    if (picture.size.width * picture.size.height <= maxPixelsAhead) this.#start();
    return picture;
  }

  #start(): void {
    while (this.#ahead.length < decodersAtOnce && this.#next + this.#ahead.length < this.#count) {
      const prepared = this.#prepare(this.#next + this.#ahead.length);
      // An error is thrown where the picture is asked for, if it is.
      prepared.catch(() => {});
      this.#ahead.push(prepared);
    }
  }
}

/** Sets of code points. */

/** An immutable set of code points: a bitmap for the basic multilingual plane, binary search in ranges beyond it. */
export class CharacterSet {
  /** Ranges, ascending and flattened: first, last, first, last, ... Both are included. */
  readonly #bounds: Int32Array;
  /** One bit per code point of the basic multilingual plane. */
  readonly #plane: Uint8Array = new Uint8Array(0x2000);

  constructor(ranges: readonly (readonly [first: number, last: number])[]) {
    this.#bounds = Int32Array.from(ranges.flat());
    for (const [first, last] of ranges)
      for (let point = first; point <= Math.min(last, 0xffff); point++)
        this.#plane[point >> 3] = (this.#plane[point >> 3] as number) | (1 << (point & 7));
  }

  /** Whether a code point is in the set. */
  has(point: number): boolean {
    if (point <= 0xffff) return ((this.#plane[point >> 3] as number) & (1 << (point & 7))) !== 0;
    let [low, high] = [0, this.#bounds.length / 2];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#bounds[2 * middle + 1] as number) < point) low = middle + 1;
      else high = middle;
    }
    return 2 * low < this.#bounds.length && (this.#bounds[2 * low] as number) <= point;
  }

  /** Whether a text contains a character of the set. */
  anyIn(text: string): boolean {
    for (let unit = 0; unit < text.length; unit++) {
      const point = text.charCodeAt(unit);
      if (point >= 0xd800 && point <= 0xdbff) {
        if (this.has(text.codePointAt(unit) ?? point)) return true;
        unit++;
      } else if (this.has(point)) return true;
    }
    return false;
  }
}

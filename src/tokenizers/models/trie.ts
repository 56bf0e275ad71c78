/** Trie of UTF-16 code units for common-prefix search in a vocabulary, stored as a hash table of (node, unit). */

/** Maximum length of a token in UTF-16 code units, which bounds the cost of a lookup. The longest in published vocabularies has 128. */
export const maxTokenUnits = 1024;

/** A prefix tree of a vocabulary, which finds all tokens that start at a position of a text. */
export class Trie {
  /** Per node: id of the token that ends there; -1 for none. */
  #ids: Int32Array;
  #nodes = 1;
  readonly #parents: Int32Array;
  readonly #units: Uint16Array;
  readonly #children: Int32Array;
  readonly #mask: number;

  /** `texts` is iterated twice. */
  constructor(texts: Iterable<readonly [text: string, id: number]>) {
    let total = 1;
    for (const [text] of texts) {
      if (text.length > maxTokenUnits)
        throw new Error(
          `a token has ${text.length} characters, and may have ${maxTokenUnits}: ${JSON.stringify(text.slice(0, 80))}...`,
        );
      total += text.length;
    }
    const slots = 2 ** Math.max(4, Math.ceil(Math.log2(2 * total)));
    this.#parents = new Int32Array(slots).fill(-1);
    this.#units = new Uint16Array(slots);
    this.#children = new Int32Array(slots);
    this.#mask = slots - 1;
    this.#ids = new Int32Array(total).fill(-1);
    for (const [text, id] of texts) this.#add(text, id);
    this.#ids = this.#ids.slice(0, this.#nodes);
  }

  /** The child of a node for a unit; -1 if there is none. The root is 0. */
  step(node: number, unit: number): number {
    const slot = this.#getSlot(node, unit);
    return this.#parents[slot] === -1 ? -1 : (this.#children[slot] as number);
  }

  /** Id of the token that ends at a node; -1 if none does. */
  idAt(node: number): number {
    return this.#ids[node] as number;
  }

  #add(text: string, id: number): void {
    let node = 0;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      const slot = this.#getSlot(node, unit);
      if (this.#parents[slot] === -1) {
        this.#parents[slot] = node;
        this.#units[slot] = unit;
        this.#children[slot] = this.#nodes++;
      }
      node = this.#children[slot] as number;
    }
    this.#ids[node] = id;
  }

  #getSlot(node: number, unit: number): number {
    let slot = (Math.imul(node, 0x9e3779b1) ^ Math.imul(unit, 0x85ebca6b)) >>> 7;
    for (slot &= this.#mask; this.#parents[slot] !== -1; slot = (slot + 1) & this.#mask)
      if (this.#parents[slot] === node && this.#units[slot] === unit) break;
    return slot;
  }
}

/** Limits how much normalizers and pre-tokenizers may expand a text, so that a malicious tokenizer.json cannot exhaust the memory. */

/** UTF-16 code units that one component may write per unit of the original text. (NFKD expands a single character to 18 at most.) */
const unitsPerUnit = 8;
/** Units that all components together may write per unit of the original text. */
const totalUnitsPerUnit = 128;
/** Units that one component may write in addition, so that a short text may consist of characters that expand most. */
const freeUnits = 2 ** 20;

/**
 * Limits the size of everything that normalizers derive from one original text, in UTF-16 code units, so that a hostile
 * tokenizer.json cannot exhaust memory.
 */
export class TextGrowthLimit {
  readonly #original: number;
  readonly #maxStep: number;
  #left: number;

  /** `units`: length of the original text in UTF-16 code units. */
  constructor(units: number) {
    this.#original = units;
    this.#maxStep = unitsPerUnit * units + freeUnits;
    this.#left = totalUnitsPerUnit * units + 8 * freeUnits;
  }

  /** Charges `more` units to a component that has then written `written` in total. Throws Error beyond the limit. */
  count(more: number, written: number): void {
    this.#left -= more;
    if (written <= this.#maxStep && this.#left >= 0) return;
    throw new Error(
      `its normalizer or pre-tokenizer expands a text of ${this.#original} characters beyond the limit, ${this.#maxStep} for one component`,
    );
  }
}

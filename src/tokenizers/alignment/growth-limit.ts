/** How much normalizers and pre-tokenizers may write for one text: a model's file must not make gigabytes of a sentence. */

/** Units that one step may write, per unit of the original text. The largest that Unicode's normal forms write is 18. */
const unitsPerUnit = 8;
/** The same for all steps together. */
const totalUnitsPerUnit = 128;
/** Units that one step may write whatever the text, so that a short text may consist of the characters that grow most. */
const freeUnits = 2 ** 20;

export class GrowthLimit {
  readonly #original: number;
  readonly #maxStep: number;
  #left: number;

  /** `units`: length of the original text in UTF-16 units. */
  constructor(units: number) {
    this.#original = units;
    this.#maxStep = unitsPerUnit * units + freeUnits;
    this.#left = totalUnitsPerUnit * units + 8 * freeUnits;
  }

  /** To be called before `more` units are written in a step that has then written `written`. Throws Error beyond the limit. */
  count(more: number, written: number): void {
    this.#left -= more;
    if (written <= this.#maxStep && this.#left >= 0) return;
    throw new Error(
      `its normalizer and pre-tokenizer make too much of the text: a step may write ${this.#maxStep} characters for a text of ${this.#original}`,
    );
  }
}

/** Compares what a library wrote into two buffers with the released layouts of a struct. */
import type { KnownLayout, KnownValue } from "../contracts/index.ts";
import { type FieldValue, getFieldSize, readField } from "../ffi/index.ts";

/**
 * Bytes that a library wrote into two buffers of the same length. The buffers were filled with complements before, so a byte that is equal in both was written.
 */
export interface WrittenStruct {
  readonly first: Uint8Array;
  readonly second: Uint8Array;
}

/** A layout and its differences from the bytes written. */
export interface LayoutComparison {
  readonly layout: KnownLayout;
  /** Sentences without a full stop; empty if it fits. */
  readonly differences: readonly string[];
  /** Number of bytes that were written outside of all fields. */
  readonly padding: number;
}

/** The bytes that both buffers are filled with before the library writes. */
export const poisons = [0xa5, 0x5a] as const;

/** The number of bytes up to the last one that was written. */
export function writtenEnd({ first, second }: WrittenStruct): number {
  for (let end = first.length; end > 0; end -= 1) {
    if (first[end - 1] === second[end - 1]) return end;
  }
  return 0;
}

/** Compares all layouts, which are listed oldest first. The best fits come first; of equal fits the newest. */
export function compareLayouts(layouts: readonly KnownLayout[], written: WrittenStruct): readonly LayoutComparison[] {
  return layouts
    .toReversed()
    .map((layout) => ({ layout, differences: differencesFrom(layout, written), padding: writtenPadding(layout, written) }))
    .toSorted((one, other) => one.differences.length - other.differences.length);
}

/**
 * The layout that fits. Compilers may write padding as zeros, so a layout with one more flag, false by default, can fit too. If several fit and one contains
 * the other (all its fields have the same offsets there), the result is the one without written padding, otherwise the smallest. Undefined if none fits, or if
 * the fitting ones do not contain each other.
 */
export function fittingLayout(comparisons: readonly LayoutComparison[]): KnownLayout | undefined {
  const fitting = comparisons
    .filter(({ differences }) => differences.length === 0)
    .toSorted((one, other) => fieldCount(one.layout) - fieldCount(other.layout));
  const isChain = fitting.every(({ layout }, index) => fitting.slice(index + 1).every((other) => isPartOf(layout, other.layout)));
  if (!isChain) return undefined;
  return (fitting.find(({ padding }) => padding === 0) ?? fitting[0])?.layout;
}

const fieldCount = ({ fields }: KnownLayout): number => Object.keys(fields).length;

function isPartOf(layout: KnownLayout, other: KnownLayout): boolean {
  return (
    layout.size === other.size &&
    Object.entries(layout.fields).every(
      ([name, { offset, type }]) => other.fields[name]?.offset === offset && other.fields[name].type === type,
    )
  );
}

/** Offsets of the bytes that no field has. */
function getPadding({ size, fields }: KnownLayout): readonly number[] {
  const isField = new Uint8Array(size);
  for (const { offset, type } of Object.values(fields)) isField.fill(1, offset, offset + getFieldSize(type));
  return [...isField.keys()].filter((offset) => isField[offset] === 0);
}

const isWritten = ({ first, second }: WrittenStruct, offset: number): boolean => first[offset] === second[offset];

const writtenPadding = (layout: KnownLayout, written: WrittenStruct): number =>
  getPadding(layout).filter((offset) => isWritten(written, offset)).length;

function differencesFrom(layout: KnownLayout, written: WrittenStruct): string[] {
  const { first } = written;
  const end = writtenEnd(written);
  const differences = end > layout.size ? [`size ${layout.size}: ${end} bytes were written`] : [];
  const valued = getPadding(layout).filter((offset) => isWritten(written, offset) && first[offset] !== 0);
  if (valued.length > 0) differences.push(`no field at offset ${valued.join(", ")}, where values were written`);
  for (const [name, { offset, type, values }] of Object.entries(layout.fields)) {
    const bytes = getFieldSize(type);
    const expected = `${name}: ${type} at offset ${offset}, ${describeValues(values)} expected`;
    const count = Array.from({ length: bytes }, (_, index) => offset + index).filter((each) => isWritten(written, each)).length;
    if (count < bytes) {
      differences.push(`${expected}, ${count} of its ${bytes} bytes written`);
    } else if (!values.some((value) => isValue(readField(layout, first, name), value))) {
      const hex = Buffer.from(first.subarray(offset, offset + bytes)).toString("hex");
      differences.push(`${expected}, found ${String(readField(layout, first, name))} (bytes ${hex})`);
    }
  }
  return differences;
}

const isValue = (found: FieldValue, known: KnownValue): boolean => (known === "address" ? found !== 0n : found === known);

function describeValues(values: readonly KnownValue[]): string {
  return values.map((value) => (value === "address" ? "an address" : value === 0n ? "0" : String(value))).join(" or ");
}

/** Merges neighbouring axes that every operand stores contiguously, which leaves one or two axes for most broadcasts. */
import { at } from "../../../../../contract/checked.ts";

/** One axis of a loop nest: its size, and the stride of each operand along it, in elements. */
export interface Axis {
  readonly size: number;
  readonly strides: readonly number[];
}

/**
 * Merges two neighbouring axes of `shape` wherever, for every operand, the stride of the outer axis is size * stride of the inner axis.
 * `strides[operand][axis]` is in elements. Removes axes of size 1, but returns at least one axis.
 */
export function collapseAxes(shape: readonly number[], strides: readonly (readonly number[])[]): Axis[] {
  const axes: Axis[] = [];
  shape.forEach((size, axis) => {
    if (size === 1) return;
    const next: Axis = { size, strides: strides.map((all) => at(all, axis)) };
    const outer = axes.at(-1);
    if (outer?.strides.every((stride, operand) => stride === at(next.strides, operand) * size) === true)
      axes[axes.length - 1] = { size: outer.size * size, strides: next.strides };
    else axes.push(next);
  });
  return axes.length > 0 ? axes : [{ size: 1, strides: strides.map(() => 1) }];
}

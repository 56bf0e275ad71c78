/** Neighbouring axes become one where every operand allows it: most broadcasts end as one or two axes. */

/** An axis of the loop: its size, and for every operand the elements from one place to the next. */
export interface Axis {
  readonly size: number;
  readonly strides: readonly number[];
}

/** `strides[operand][axis]`. Axes of size 1 vanish; there is always one axis left. */
export function collapseAxes(shape: readonly number[], strides: readonly (readonly number[])[]): Axis[] {
  const axes: Axis[] = [];
  shape.forEach((size, axis) => {
    if (size === 1) return;
    const next: Axis = { size, strides: strides.map((all) => all[axis] ?? 0) };
    const outer = axes.at(-1);
    if (outer?.strides.every((stride, operand) => stride === (next.strides[operand] ?? 0) * size) === true)
      axes[axes.length - 1] = { size: outer.size * size, strides: next.strides };
    else axes.push(next);
  });
  return axes.length > 0 ? axes : [{ size: 1, strides: strides.map(() => 1) }];
}

export function contiguousStrides(shape: readonly number[]): number[] {
  return shape.map((_, axis) => shape.slice(axis + 1).reduce((all, size) => all * size, 1));
}

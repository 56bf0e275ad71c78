/**
 * The `count` largest or smallest elements along one axis of [outer, n, inner], in order; of equal elements the first one wins. A binary heap holds the
 * best so far. In long rows four elements at a time are skipped when none is better than the worst of the heap.
 *
 * Elements are compared by integer keys with the same order, in which NaN is the largest, as in the interpreter.
 */
import type { Expression, I32, I64, Local } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { f32, i32, i64, selectValue } from "../../assembler/scalar.ts";
import { f32x4, v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { copyElement } from "../loops/copy-bytes.ts";
import { offsetBy } from "../loops/addressing.ts";
import { laneCount } from "../loops/lanes.ts";

/** Element type of the input and of the selected values. */
export type TopKType = "float32" | "int32" | "int64";

/** Shape and order of one top-k kernel: the input is [outer, n, inner], both outputs are [outer, count, inner], all contiguous. */
export interface TopKRequest {
  readonly outer: number;
  readonly n: number;
  readonly inner: number;
  /** Number of elements; 1 to n. */
  readonly count: number;
  readonly largest: boolean;
  readonly type: TopKType;
}

/** A heap entry: the sort key of an element, and the bitwise complement of its position, so that the earlier of two equal elements compares greater. */
interface HeapEntry {
  readonly key: I64;
  readonly place: I32;
}

const entryBytes = 16;

/**
 * Generates the kernel of top-k along the middle axis of x [outer, n, inner]. Parameters: x, values, places (int64 positions along the axis). One
 * piece (unit of parallel work) is one of outer * inner slices.
 */
export function topK(request: TopKRequest): Kernel {
  const { outer, n, inner, count, largest, type } = request;
  const bytes = type === "int64" ? 8 : 4;
  const passes = inner === 1 && type === "float32";
  return defineKernel({
    family: "top-k",
    request: { largest, type, ...(inner === 1 ? { inner } : {}) },
    dynamicSizes: { n, count, inner, outside: n - count },
    inputs: ["x"],
    outputs: ["values", "places"],
    pieces: outer * inner,
    pieceNanoseconds: (n - count) * (passes ? 0.5 : 1.5) + count * Math.log2(count + 1) * 6 + 20,
    scratchBytes: count * entryBytes,
    emit(f, { x, values, places, scratch = x }, from, to, counts) {
      f.range(from, to, 1, (piece) => {
        const index = f.value(i32.divU(piece, counts.inner));
        const column = f.value(i32.sub(piece, i32.mul(index, counts.inner)));
        const lane = (base: I32, length: I32, size: number): Local<"i32"> =>
          f.value(offsetBy(base, i32.add(i32.mul(i32.mul(index, length), counts.inner), column), size));
        const source = lane(x, counts.n, bytes);
        const stepBytes = f.value(i32.mul(counts.inner, i32.const(bytes)));
        const entryAt = (place: I32): HeapEntry => {
          const at = f.value(i32.add(source, i32.mul(place, stepBytes)));
          return { key: f.value(sortKey(f, type, largest, at)), place: f.value(i32.xor(place, i32.const(-1))) };
        };
        f.range(i32.const(0), counts.count, 1, (place) => siftUp(f, scratch, place, entryAt(place)));
        const consider = (place: I32): void => {
          const entry = entryAt(place);
          f.when(isLess(load(f, scratch), entry), () => siftDown(f, scratch, counts.count, entry));
        };
        const next = f.value(counts.count);
        if (passes) {
          f.range(i32.const(0), i32.shrU(counts.outside, i32.const(2)), 1, () => {
            const four = f.value(v128.load(offsetBy(source, next, bytes)));
            const worst = f.value(v128.load32Splat(rootElement(f, source, scratch, stepBytes)));
            const hopeless = largest ? f32x4.le(four, worst) : f32x4.ge(four, worst);
            f.when(v128.anyTrue(v128.not(hopeless)), () => {
              f.range(next, i32.add(next, i32.const(laneCount)), 1, consider);
            });
            f.increase(next, laneCount);
          });
        }
        f.range(next, counts.n, 1, consider);
        const [value, position] = [lane(values, counts.count, bytes), lane(places, counts.count, 8)];
        const left = f.value(counts.count);
        f.doWhile(
          () => {
            f.increase(left, -1);
            const place = f.value(i32.xor(i32.load(scratch, 8), i32.const(-1)));
            const element = f.value(i32.add(source, i32.mul(place, stepBytes)));
            const rank = f.value(i32.mul(left, counts.inner));
            copyElement(f, f.value(offsetBy(value, rank, bytes)), element, bytes, 0, 0);
            f.run(i64.store(offsetBy(position, rank, 8), i64.extendI32U(place)));
            const last = load(f, offsetBy(scratch, left, entryBytes));
            f.when(i32.gtS(left, i32.const(0)), () => siftDown(f, scratch, left, last));
          },
          () => i32.gtS(left, i32.const(0)),
        );
      });
    },
  });
}

/** Returns the address in x of the element at the root of the heap, which is the worst of the selected elements. */
function rootElement(f: FunctionBuilder, source: I32, heap: I32, stepBytes: I32): I32 {
  return f.value(i32.add(source, i32.mul(i32.xor(i32.load(heap, 8), i32.const(-1)), stepBytes)));
}

function load(f: FunctionBuilder, at: I32): HeapEntry {
  const address = f.value(at);
  return { key: f.value(i64.load(address)), place: f.value(i32.load(address, 8)) };
}

function store(f: FunctionBuilder, at: I32, { key, place }: HeapEntry): void {
  const address = f.value(at);
  f.run(i64.store(address, key));
  f.run(i32.store(address, place, 8));
}

function isLess(one: HeapEntry, other: HeapEntry): I32 {
  return i32.or(i64.ltS(one.key, other.key), i32.and(i64.eq(one.key, other.key), i32.ltS(one.place, other.place)));
}

/** Appends an entry to a heap of `size` entries and sifts it up; the smallest entry is at the root. */
function siftUp(f: FunctionBuilder, heap: I32, size: I32, entry: HeapEntry): void {
  const hole = f.value(size);
  const rises = f.value(i32.gtS(hole, i32.const(0)));
  f.while(
    () => rises,
    () => {
      const above = f.value(i32.shrU(i32.sub(hole, i32.const(1)), i32.const(1)));
      const parent = load(f, offsetBy(heap, above, entryBytes));
      f.set(rises, isLess(entry, parent));
      f.when(rises, () => {
        store(f, offsetBy(heap, hole, entryBytes), parent);
        f.set(hole, above);
        f.set(rises, i32.gtS(hole, i32.const(0)));
      });
    },
  );
  store(f, offsetBy(heap, hole, entryBytes), entry);
}

/** Replaces the root of a heap of `size` entries by an entry and sifts it down. */
function siftDown(f: FunctionBuilder, heap: I32, size: I32, entry: HeapEntry): void {
  const hole = f.value(i32.const(0));
  const child = f.value(i32.const(1));
  const sinks = f.value(i32.ltS(child, size));
  f.while(
    () => sinks,
    () => {
      const left = load(f, offsetBy(heap, child, entryBytes));
      const min = { key: f.value(left.key), place: f.value(left.place) };
      f.when(i32.ltS(i32.add(child, i32.const(1)), size), () => {
        const right = load(f, i32.add(offsetBy(heap, child, entryBytes), i32.const(entryBytes)));
        f.when(isLess(right, left), () => {
          f.set(min.key, right.key);
          f.set(min.place, right.place);
          f.increase(child, 1);
        });
      });
      f.set(sinks, isLess(min, entry));
      f.when(sinks, () => {
        store(f, offsetBy(heap, hole, entryBytes), min);
        f.set(hole, child);
        f.set(child, i32.add(i32.shl(child, i32.const(1)), i32.const(1)));
        f.set(sinks, i32.ltS(child, size));
      });
    },
  );
  store(f, offsetBy(heap, hole, entryBytes), entry);
}

/** Generates code for the int64 sort key of the element at address `at`. An element that precedes another one in the result has the larger key. */
function sortKey(f: FunctionBuilder, type: TopKType, largest: boolean, at: I32): Expression<"i64"> {
  if (type === "int64") return largest ? i64.load(at) : i64.xor(i64.load(at), i64.const(-1n));
  const bits = f.value(i32.load(at));
  if (type === "int32") return i64.extendI32S(largest ? bits : i32.xor(bits, i32.const(-1)));
  f.when(i32.eq(bits, i32.const(-(2 ** 31))), () => f.set(bits, i32.const(0))); // -0 equals 0
  const ordered = i32.xor(bits, i32.and(i32.shrS(bits, i32.const(31)), i32.const(0x7fffffff)));
  const number = f.value(f32.load(at));
  const key = largest ? ordered : i32.xor(ordered, i32.const(-1));
  return i64.extendI32S(selectValue(f32.ne(number, number), i32.const(0x7fffffff), key));
}

/** Rows of an embedding table whose weights stay quantized, in the layout of `blockMatmul`: row r of the table [n, k] is column r of the weights [k, n]. */
import type { F32, I32, Local } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { f32, i32 } from "../../assembler/scalar.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes, indices } from "../loops/lanes.ts";
import { tileColumns } from "../matmul/micro-kernel.ts";
import { indexOutOfRange, type IndexType, loadIndex } from "../movement/load-index.ts";
import { type BlockLayout, blockLayout, type BlockShape, lowPlaneBytes, blockPanelBytes } from "./block-layout.ts";

/** Sizes of a table and the number of rows that are taken from it. */
export interface GatherRowsRequest {
  /** Rows of the table. Negative indices count from the end. */
  readonly n: number;
  readonly k: number;
  /** Number of indices. */
  readonly count: number;
  readonly format: BlockShape;
  readonly indexType: IndexType;
}

/**
 * Generates the kernel. Parameters: x (packed by `packBlocks`), index, y [count, k] float32. Returns the status 0 or `indexOutOfRange`. One piece (unit of parallel
 * work) is one index.
 */
export function gatherBlockRows({ n, k, count, format, indexType }: GatherRowsRequest): Kernel {
  const layout = blockLayout(format);
  return defineKernel({
    family: "gather-rows",
    request: { n, k, format: layout, indexType },
    inputs: ["x", "index"],
    outputs: ["y"],
    pieces: count,
    pieceNanoseconds: k * 2 + 20,
    emit(f, { x, index, y }, from, to) {
      const status = f.value(i32.const(0));
      f.range(from, to, 1, (piece) => {
        const row = loadIndex(f, index, piece, i32.const(n), indexType);
        f.when(
          i32.ltU(row, i32.const(n)),
          () => copyRow(f, layout, k, { x, row, y: offsetBy(y, piece, k * floatBytes) }),
          () => f.set(status, i32.const(indexOutOfRange)),
        );
      });
      return status;
    },
  });
}

function copyRow(
  f: FunctionBuilder,
  layout: BlockLayout,
  k: number,
  { x, row, y }: { readonly x: I32; readonly row: I32; readonly y: I32 },
): void {
  const { superElements, groupElements, hasGroupScales, hasMins, headerBytes, groupHeaderBytes, groupBytes } = layout;
  const column = f.value(i32.and(row, i32.const(tileColumns - 1)));
  const header = f.value(offsetBy(x, i32.shrU(row, i32.const(3)), blockPanelBytes(layout, k)));
  const target = f.value(y);
  const group = f.local("i32");
  const [scale, min] = [f.local("f32"), f.local("f32")];
  f.repeat(k / superElements, () => {
    f.set(group, i32.add(header, i32.const(headerBytes)));
    const own = f.value(i32.add(header, i32.shl(column, i32.const(2))));
    f.repeat(superElements / groupElements, () => {
      const at = f.value(i32.add(group, column));
      const factor = (value: F32, code: I32): F32 => (hasGroupScales ? f32.mul(value, f32.convertI32S(code)) : value);
      f.set(scale, factor(f32.load(own), i32.load8S(at)));
      if (hasMins) f.set(min, factor(f32.load(own, tileColumns * floatBytes), i32.load8U(at, tileColumns)));
      const codes = f.value(i32.add(group, i32.const(groupHeaderBytes)));
      const store = (element: number, code: I32): void => {
        const product = f32.mul(scale, f32.convertI32S(code));
        f.run(f32.store(target, hasMins ? f32.sub(product, min) : product, element * floatBytes));
      };
      if (layout.lowBits === 8) {
        const bytes = f.value(i32.add(codes, i32.shl(column, i32.const(1))));
        for (const element of indices(groupElements)) store(element, i32.load8S(bytes, (element >> 1) * 16 + (element & 1)));
      } else unpackColumn(f, layout, codes, column, store);
      f.increase(target, groupElements * floatBytes);
      f.increase(group, groupBytes);
    });
    f.increase(header, layout.superBytes);
  });
}

/** Generates the codes of one column of a group. The 32-bit lane of a column holds those of `depth` neighbouring k in as many parts. */
function unpackColumn(
  f: FunctionBuilder,
  layout: BlockLayout,
  codes: Local<"i32">,
  column: Local<"i32">,
  store: (element: number, code: I32) => void,
): void {
  const { groupElements, lowBits, highBits, depth, smallestCode } = layout;
  const lane = f.value(i32.add(codes, i32.shl(column, i32.const(2))));
  const field = (start: number, bits: number, element: number): I32 => {
    const laneBits = 32 / depth;
    const fields = laneBits / bits;
    const step = Math.floor(element / depth);
    const word = i32.load(lane, start + Math.floor(step / fields) * 32);
    const shift = (step % fields) * bits + laneBits * (element % depth);
    return i32.and(i32.shrU(word, i32.const(shift)), i32.const(2 ** bits - 1));
  };
  for (const element of indices(groupElements)) {
    const low = field(0, lowBits, element);
    const code = highBits === 0 ? low : i32.or(low, i32.shl(field(lowPlaneBytes(layout), highBits, element), i32.const(lowBits)));
    store(element, i32.add(code, i32.const(smallestCode)));
  }
}

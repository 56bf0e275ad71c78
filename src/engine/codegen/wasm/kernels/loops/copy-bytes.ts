/** Generates copies of byte ranges whose length is known when code is generated. No byte after the range is written. */
import type { I32, Local } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { copyMemory, i32, i64 } from "../../assembler/scalar.ts";
import { v128 } from "../../assembler/vector.ts";

/** Up to this many bytes, unrolled loads and stores are faster than memory.copy, whose call takes about 20 ns. */
const inlineBytes = 192;

/** Generates a copy of `bytes` bytes from address `source` to address `target`. */
export function copyBytes(f: FunctionBuilder, target: I32, source: I32, bytes: number): void {
  if (bytes > inlineBytes) {
    f.run(copyMemory(target, source, i32.const(bytes)));
    return;
  }
  const from = f.value(source);
  const to = f.value(target);
  let done = 0;
  for (; done + 16 <= bytes; done += 16) f.run(v128.store(to, v128.load(from, done), done));
  for (const size of [8, 4, 2, 1] as const) for (; done + size <= bytes; done += size) copyElement(f, to, from, size, done, done);
}

/** Element sizes in bytes that kernels can copy. */
export type ElementBytes = 1 | 2 | 4 | 8;

/** Generates a copy of one element of `bytes` bytes from `source` + `sourceOffset` to `target` + `targetOffset`. Offsets are in bytes. */
export function copyElement(
  f: FunctionBuilder,
  target: Local<"i32">,
  source: Local<"i32">,
  bytes: ElementBytes,
  targetOffset: number,
  sourceOffset: number,
): void {
  switch (bytes) {
    case 1:
      f.run(i32.store8(target, i32.load8U(source, sourceOffset), targetOffset));
      break;
    case 2:
      f.run(i32.store16(target, i32.load16U(source, sourceOffset), targetOffset));
      break;
    case 4:
      f.run(i32.store(target, i32.load(source, sourceOffset), targetOffset));
      break;
    case 8:
      f.run(i64.store(target, i64.load(source, sourceOffset), targetOffset));
      break;
  }
}

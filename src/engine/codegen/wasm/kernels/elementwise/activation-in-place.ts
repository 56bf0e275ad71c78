/** An activation function applied to a float32 tensor in its own memory. */
import { i32 } from "../../assembler/scalar.ts";
import { v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { type Activation, activate } from "../../math/activation.ts";
import { minimum, offsetBy } from "../loops/addressing.ts";

/** Bytes of a vector, and of the elements of one piece. */
const vectorBytes = 16;
const pieceBytes = 4096;

/** Generates the kernel. Parameter: c, `elements` of float32, a multiple of 4. One piece is 1,024 elements. */
export function activationInPlace(elements: number, activation: Exclude<Activation, "none">): Kernel {
  const bytes = elements * 4;
  return defineKernel({
    family: "activation",
    request: { activation },
    dynamicSizes: { bytes },
    inputs: [],
    outputs: ["c"],
    pieces: Math.ceil(bytes / pieceBytes),
    pieceNanoseconds: 1000,
    emit(f, { c }, from, to, { bytes: size }) {
      const end = f.value(minimum(i32.mul(to, i32.const(pieceBytes)), size));
      f.range(f.value(i32.mul(from, i32.const(pieceBytes))), end, vectorBytes, (offset) => {
        const at = f.value(offsetBy(c, offset, 1));
        f.run(v128.store(at, activate(f, activation, f.value(v128.load(at, 0))), 0));
      });
    },
  });
}

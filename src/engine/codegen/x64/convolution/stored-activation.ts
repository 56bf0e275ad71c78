/** Activations with long code, applied to sums that are stored, so that the code is there once and not for each register of a tile. */
import { required } from "../../../../contract/checked.ts";
import type { Activation } from "../../../ir/operations.ts";
import { indices } from "../../wasm/kernels/loops/lanes.ts";
import type { Vector } from "../assembler/operands.ts";
import { RegisterPool } from "../assembler/register-pool.ts";
import type { VectorUnit } from "../functions/vector-unit.ts";
import { activationProgram } from "../lanewise/activation.ts";
import { emitLanes } from "../lanewise/emit-lanes.ts";

/** Generates the loop over `channels` channels with rax elements each, from rdx on. Changes rax, rdx, r8 to r11, the tail and vectors. */
export function emitStoredActivation(
  unit: VectorUnit,
  activation: Exclude<Activation, "none">,
  { channels, planeBytes }: { readonly channels: number; readonly planeBytes: number },
): void {
  const { asm, bytes, lanes } = unit;
  const program = required(activationProgram(activation), "the code of an activation");
  const apply = (load: (to: Vector) => void, store: (from: Vector) => void): void => {
    const pool = new RegisterPool<Vector>("vector", indices(unit.vectors));
    const sum = pool.take();
    load(sum);
    store(emitLanes(unit, program, [sum], pool));
  };
  const place = { base: "r10", displacement: 0 } as const;
  // Elements of a channel: whole vectors, then the rest.
  asm.move("r11", "rax");
  asm.shift("shr", "r11", Math.log2(lanes));
  asm.integer("and", "rax", lanes - 1);
  unit.setTail("rax", "r8");
  asm.loadImmediate("r8", channels);
  asm.countDown("r8", () => {
    const rest = asm.label();
    asm.move("r10", "rdx");
    asm.move("r9", "r11");
    asm.test("r9", "r9");
    asm.jump(rest, "z");
    asm.countDown("r9", () => {
      apply(
        (to) => asm.vector("vmovups", to, place),
        (from) => asm.vector("vmovupsStore", place, from),
      );
      asm.add("r10", bytes);
    });
    asm.bind(rest);
    apply(
      (to) => unit.loadTail(to, place),
      (from) => unit.storeTail(place, from),
    );
    asm.add("rdx", planeBytes);
  });
}

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KernelMemory, features } from "../../../../../test/engine/kernel-memory.ts";
import { compileKernels } from "../compile.ts";
import { defineKernel } from "../kernel.ts";
import { signed32, signed64, unsigned } from "./encoding.ts";
import type { I32, Local } from "./expression.ts";
import { detectWasmFeatures } from "./features.ts";
import type { FunctionBuilder } from "./function-builder.ts";
import { ModuleBuilder, importNames } from "./module-builder.ts";
import { f32, f64, i32, i64, selectValue } from "./scalar.ts";
import { acrossLanes, f32x4, i32x4, shuffle32, v128 } from "./vector.ts";
import { wasmHost } from "./webassembly.ts";

/** A function of one i32 that gives an i32, compiled. */
function compiled(body: (f: FunctionBuilder, x: Local<"i32">) => I32): (x: number) => number {
  const builder = new ModuleBuilder(features);
  builder.function("f", "i32", (f) => {
    const x = f.parameter("i32");
    f.result(body(f, x));
  });
  const { Module, Instance } = wasmHost();
  const [space, name] = importNames.memory;
  const imports = { [space]: { [name]: new KernelMemory().memory }, [importNames.host]: { pow: Math.pow } };
  const instance = new Instance(new Module(builder.build({ shared: false })), imports);
  return (x) => instance.exports["f"]!(x);
}

describe("LEB128", () => {
  it("reads back as what was written", () => {
    const read = (bytes: readonly number[]) => bytes.reduceRight((sum, byte) => sum * 128 + (byte & 127), 0);
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        expect(read(unsigned(value))).toBe(value);
      }),
    );
  });

  it("writes signed constants of both widths", () => {
    expect([signed32(-1), signed64(-1n)]).toEqual([[0x7f], [0x7f]]);
    expect([signed32(64), signed64(64n)]).toEqual([
      [0xc0, 0x00],
      [0xc0, 0x00],
    ]);
    for (const value of [0, 1, -1, 63, 64, -64, -65, 2 ** 31 - 1, -(2 ** 31)]) {
      expect(compiled(() => i32.const(value))(0)).toBe(value);
      expect(compiled(() => i32.wrap(i64.shrS(i64.const(BigInt(value) << 32n), i64.const(32n))))(0)).toBe(value);
    }
  });
});

describe("control", () => {
  it("counts in ranges and repeats, and leaves out what is empty", () => {
    const sum = compiled((f, x) => {
      const total = f.local("i32");
      f.range(i32.const(0), x, 3, (index) => f.increase(total, index));
      f.repeat(5, () => f.increase(total, 1000));
      f.repeat(1, () => f.increase(total, 10_000));
      return total;
    });
    expect([0, 1, 4, 10].map(sum)).toEqual([15_000, 15_000, 15_003, 15_018]);
  });

  it("branches, selects and returns early", () => {
    const sign = compiled((f, x) => {
      f.when(i32.eqz(x), () => f.return(i32.const(0)));
      const result = f.local("i32");
      f.when(
        i32.ltS(x, i32.const(0)),
        () => f.set(result, i32.const(-1)),
        () => f.set(result, selectValue(i32.gtS(x, i32.const(100)), i32.const(2), i32.const(1))),
      );
      return result;
    });
    expect([-5, 0, 7, 101].map(sign)).toEqual([-1, 0, 1, 2]);
  });
});

describe("vectors and host functions", () => {
  it("adds across lanes, shuffles and multiplies", () => {
    const lanes = compiled((f, x) => {
      const vector = f.value(f32x4.replaceLane(f32x4.splat(f32.convertI32S(x)), 2, f32.const(10)));
      const sum = acrossLanes(f.madd(vector, f32x4.const(2), shuffle32(vector, v128.zero, [0, 1, 2, 7])), f32x4.add);
      return i32x4.extractLane(i32x4.truncSatF32x4S(sum), 3);
    });
    expect(lanes(1)).toBe(2 * (1 + 1 + 10 + 1) + 1 + 1 + 10);
  });

  it("calls the host's Math", () => {
    const cube = compiled((f, x) => {
      const power = f.callHost("pow", f64.promote(f32.convertI32S(x)), f64.const(3));
      return i32x4.extractLane(i32x4.truncSatF32x4S(f32x4.splat(f32.demote(power))), 0);
    });
    expect(cube(5)).toBe(125);
  });
});

describe("features", () => {
  it("asks for the switch only where relaxed SIMD is missing", () => {
    let asked = 0;
    const found = detectWasmFeatures(() => (asked += 1));
    expect(found).toEqual(features); // the flag was set when the test's memory was imported
    expect(asked).toBe(features.relaxedSimd ? 0 : 1);
  });
});

describe("kernels", () => {
  const kernel = (amount: number) =>
    defineKernel({
      family: "add",
      request: { amount },
      inputs: [],
      outputs: ["data"],
      pieces: 8,
      pieceNanoseconds: 1,
      emit(f, { data }, from, to) {
        f.range(from, to, 1, (index) => {
          const place = f.value(i32.add(data, i32.shl(index, i32.const(2))));
          f.run(i32.store(place, i32.add(i32.load(place), i32.const(amount))));
        });
      },
    });

  it("compiles equal requests once, and runs a range of pieces", () => {
    const memory = new KernelMemory();
    const { data, offset } = memory.put(new Int32Array(8));
    const { functions } = compileKernels([kernel(1), kernel(1), kernel(2)], memory.memory, features);
    expect([...functions.keys()]).toEqual(["add {amount:1}", "add {amount:2}"]);
    expect(functions.get("add {amount:2}")!(offset, 2, 5)).toBe(0);
    expect([...data]).toEqual([0, 0, 2, 2, 2, 0, 0, 0]);
  });

  it("compiles for shared memory, and such a module is taken by that alone", () => {
    const shared = new (wasmHost().Memory)({ initial: 1, maximum: 2, shared: true });
    const { module, functions } = compileKernels([kernel(3)], shared, features);
    functions.get(kernel(3).key)!(0, 0, 8);
    expect([...new Int32Array(shared.buffer, 0, 8)]).toEqual(Array(8).fill(3));
    const plain = new KernelMemory().memory;
    const { Instance } = wasmHost();
    expect(() => new Instance(module, { [importNames.memory[0]]: { [importNames.memory[1]]: plain } })).toThrow(/memory/);
  });
});

/** Plans: two values that are needed at the same time never share bytes. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseGraph } from "../ir/parse.ts";
import { fuseElementwise } from "../passes/fuse-elementwise.ts";
import { assignOffsets } from "./arena-layout.ts";
import { type Plan, planGraph } from "./plan.ts";

describe("layOut", () => {
  it("gives buffers that live at once no byte in common, aligned and inside the block", () => {
    const lifetime = fc
      .tuple(fc.nat(400), fc.nat(20), fc.nat(20))
      .map(([bytes, one, other]) => ({ bytes, from: Math.min(one, other), to: Math.max(one, other) }));
    fc.assert(
      fc.property(fc.array(lifetime, { maxLength: 30 }), fc.constantFrom(0, 16), (lifetimes, padding) => {
        const { offsets, bytes } = assignOffsets(lifetimes, padding);
        for (const [index, one] of lifetimes.entries()) {
          const start = offsets[index]!;
          expect(start % 64).toBe(0);
          expect(start + one.bytes + padding).toBeLessThanOrEqual(bytes);
          for (const [place, other] of lifetimes.slice(0, index).entries()) {
            if (other.to < one.from || other.from > one.to) continue;
            const apart = start + one.bytes + padding <= offsets[place]! || offsets[place]! + other.bytes + padding <= start;
            expect(apart).toBe(true);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

function planned(text: string): Plan {
  return planGraph(fuseElementwise(parseGraph(text)), { isModelConstant: () => true });
}

/** Where the operands of a step lie, the result last. */
function offsetsOf(plan: Plan, step: number): readonly number[] {
  const found = plan.steps[step];
  if (found?.kind !== "kernel") throw new Error("it is no kernel");
  return found.operands.map((operand) => (operand.region === "arena" ? operand.offset : -1));
}

describe("planGraph", () => {
  it("lays quantised activations out as bytes where all their products can take them so, and the machine can", () => {
    const families = (weights: readonly string[], hasByteDot: boolean, more = ""): readonly string[] => {
      const products = weights.flatMap((numbers, index) => [
        `constant w${index}: int32[8,1] = ${numbers}`,
        `s${index}: int32[2,1] = integer-matmul(q, w${index})`,
        `output s${index} = s${index}`,
      ]);
      const inputs = ["x: float32[2,8]", "scale: float32[]", "zero: uint8[]"].map((input) => `input ${input}`);
      const text = [...inputs, "q: int16[2,8] = quantize(x, scale, zero)", ...products, more].join("\n");
      const { steps } = planGraph(parseGraph(text), { isModelConstant: () => true, hasByteDot });
      return steps.map((step) =>
        step.kind === "kernel" ? step.kernel.family : step.kind === "host" ? step.id : step.operation.kind,
      );
    };
    const [small, large] = ["[1, -64, 64, 64, 3, 4, 127, 1]", "[1, 2, 100, 100, 0, 0, 0, 0]"]; // 100 + 100 overflow
    expect(families([small, small], true)).toEqual(["quantize-rows", "byte-matmul", "byte-matmul"]);
    expect(families([small, small], false)).toEqual(["quantize", "integer-matmul", "integer-matmul"]);
    expect(families([small, large], true)).toEqual(["quantize", "integer-matmul", "integer-matmul"]);
    expect(families([small], true, "output q = q")).toEqual(["quantize", "integer-matmul"]);
    const summed = "t: int32[2,8] = cast(q) to=int32 saturate=false\noutput t = t";
    expect(families([small], true, summed).slice(0, 2)).toEqual(["quantize", "integer-matmul"]);
  });

  it("has kernels for halves where they become float32 and where they are made of it, and for nothing else", () => {
    const kinds = (text: string): readonly string[] => planned(text).steps.map(({ kind }) => kind);
    const widened = "a: float32[40] = cast(x) to=float32 saturate=false";
    const narrowed = "b: float32[40] = unary(a) function=exp\ny: float16[40] = cast(b) to=float16 saturate=false";
    expect(kinds(`input x: float16[40]\n${widened}\n${narrowed}\noutput y = y`)).toEqual(["kernel"]);
    expect(kinds("input x: float16[40]\ny: float16[40] = unary(x) function=exp\noutput y = y")).toEqual(["interpret"]);
    expect(kinds("input x: float16[40]\ny: int32[40] = cast(x) to=int32 saturate=false\noutput y = y")).toEqual(["interpret"]);
  });

  it("writes over an input that nobody needs afterwards", () => {
    const plan = planned("input x: float32[40]\ny: float32[40] = unary(x) function=exp\noutput y = y");
    const [from, to] = offsetsOf(plan, 0);
    expect(to).toBe(from);
  });

  it.each([
    [
      "the reshape of a value that is used later",
      "r: float32[4,10] = reshape(x) shape=[4,10]\ny: float32[4,10] = unary(r) function=exp\nz: float32[40] = unary(x) function=neg\noutput y = y\noutput z = z",
    ],
    ["a value that is given back", "y: float32[40] = unary(x) function=exp\noutput x = x\noutput y = y"],
    [
      "a value whose reshape is given back",
      "r: float32[4,10] = reshape(x) shape=[4,10]\ny: float32[40] = unary(x) function=exp\noutput r = r\noutput y = y",
    ],
  ])("does not write over %s", (_name, rest) => {
    const [from, to] = offsetsOf(planned(`input x: float32[40]\n${rest}`), 0);
    expect(to).not.toBe(from);
  });

  it("does not write elements of another width over an operand, though it has as many bytes", () => {
    const plan = planned(
      "input a: float32[16]\ninput b: float32[4,16]\ny: bool[4,16] = binary(b, a) function=less\noutput y = y",
    );
    const [first, second, to] = offsetsOf(plan, 0);
    expect([first, second]).not.toContain(to);
  });

  it("gives inputs, constants and one value under two names", () => {
    const { outputs } = planned(
      "input x: float32[2]\nconstant c: float32[1] = [3]\ny: float32[2] = binary(x, x) function=mul\noutput x = x\noutput c = c\noutput one = y\noutput two = y",
    );
    expect(outputs.map(({ name }) => name)).toEqual(["x", "c", "one", "two"]);
    expect(outputs[1]?.source).toMatchObject({ dataType: "float32", shape: [1] });
    expect(outputs[3]?.source).toEqual(outputs[2]?.source);
  });

  it("computes nothing for values without elements", () => {
    expect(planned("input x: float32[0,3]\ny: float32[0,3] = unary(x) function=exp\noutput y = y").steps).toEqual([]);
  });
});

describe("states", () => {
  const appended = `input past: float32[2,3,4]
input fresh: float32[2,1,4]
all: float32[2,4,4] = concat(past, fresh) axis=1
`;
  const withStates = (text: string): Plan => planGraph(parseGraph(text), { isModelConstant: () => true, states: ["past"] });

  it("copies only the appended rows, and keeps the state outside of the arena", () => {
    const plan = withStates(
      `${appended}r: float32[8,4] = reshape(all) shape=[8,4]\ny: float32[8,4] = transpose(r) permutation=[0,1]\noutput y = y\noutput all = all`,
    );
    const [append] = plan.steps;
    if (append?.kind !== "kernel") throw new Error("it is no kernel");
    expect(plan.steps).toHaveLength(2);
    expect(append.kernel.key).toContain("strides:[4,16]"); // two rows of four elements, 16 apart in the state
    expect(append.operands.at(-1)).toEqual({ region: "state", offset: 3 * 4 * 4, block: 0 });
    expect(plan.inputs.map(({ name }) => name)).toEqual(["fresh"]);
    expect(plan.outputs[1]?.source).toMatchObject({ buffer: { region: "state", offset: 0 } });
    expect(plan.stateBytes).toBe(2 * 4 * 4 * 4 + 64);
  });

  it("never writes a result over a state, though nothing reads it afterwards", () => {
    const plan = withStates(`${appended}y: float32[2,4,4] = elementwise(all) { unary($0) function=exp }\noutput y = y`);
    const last = plan.steps.at(-1);
    if (last?.kind !== "kernel") throw new Error("it is no kernel");
    expect(last.operands.map(({ region }) => region)).toEqual(["state", "arena"]);
  });

  it.each([
    ["is read by something else", `${appended}y: float32[2,3,4] = unary(past) function=exp\noutput all = all\noutput y = y`],
    ["is given back as it is", `${appended}output all = all\noutput past = past`],
    ["is not there", "input fresh: float32[2]\noutput fresh = fresh"],
    ["stands last", `${appended.replace("past, fresh", "fresh, past")}output all = all`],
    [
      "stands twice",
      `${appended.replace("past, fresh", "past, past").replace("all: float32[2,4,4]", "all: float32[2,6,4]")}output all = all`,
    ],
  ])("refuses a state that %s", (_name, text) => {
    expect(() => withStates(text)).toThrow(expect.objectContaining({ code: "MODEL_UNSUPPORTED" }));
  });
});

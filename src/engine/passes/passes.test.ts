/** Each pass on the patterns that it rewrites: graphs in text form and the operations of the result. */
import { describe, expect, it } from "vitest";
import { interpreted } from "../../../test/engine/fixtures/run-graph.ts";
import type { Graph } from "../ir/graph.ts";
import type { Literal } from "../ir/literal.ts";
import { parseGraph } from "../ir/parse.ts";
import { printGraph } from "../ir/print.ts";
import { verify } from "../ir/verify.ts";
import { type OptimizationLevel, runPasses, passes } from "./index.ts";
import type { Pass } from "./rewrite.ts";

/** The lines of the nodes after a pass, without the types of their results. */
function after(pass: Pass | undefined, text: string): readonly string[] {
  const before = parseGraph(text);
  expect(verify(before)).toEqual([]);
  const graph = pass === undefined ? runPasses(before) : pass(before);
  expect(verify(graph)).toEqual([]);
  return printGraph(graph)
    .split("\n")
    .filter((line) => /^v\d/.test(line))
    .map((line) => line.slice(line.indexOf(" = ") + 3));
}

const norm = (square: string, divide: string): string => `input x: float32[2,4]
constant gamma: float32[4] = [1, 2, 3, 4]
constant beta: float32[4] = [0, 1, 0, 1]
constant epsilon: float32[] = [0.001]
constant two: float32[] = [2]
m: float32[2,1] = reduce(x) function=mean axes=[1] keep=true
d: float32[2,4] = binary(x, m) function=sub
s: float32[2,4] = ${square}
n: float32[2,1] = reduce(s) function=mean axes=[1] keep=true
e: float32[2,1] = binary(epsilon, n) function=add
r: float32[2,1] = unary(e) function=sqrt
${divide}
g: float32[2,4] = binary(gamma, q) function=mul
y: float32[2,4] = binary(g, beta) function=add
output y = y`;

describe("recognizeDynamicQuantization", () => {
  const range = (x: string, share: string): string => `input x: float32[2,4]
input z: float32[2,4]
constant nothing: float32[] = [0]
constant one: float32[] = [1]
constant all: float32[] = [${share}]
h: float32[] = reduce(x) function=max axes=[0,1] keep=false
l: float32[] = reduce(${x}) function=min axes=[0,1] keep=false
max: float32[] = binary(h, nothing) function=max
min: float32[] = binary(nothing, l) function=min
width: float32[] = binary(max, min) function=sub
empty: bool[] = binary(width, nothing) function=equal
part: float32[] = binary(width, all) function=div
scale: float32[] = select(empty, one, part)
steps: float32[] = binary(min, scale) function=div
start: float32[] = binary(nothing, steps) function=sub
whole: float32[] = unary(start) function=round
zero: uint8[] = cast(whole) to=uint8 saturate=true
output scale = scale
output zero = zero`;

  it("recognizes scale and zero point of one tensor, and no other constant or pair of tensors", () => {
    expect(after(passes["recognizeDynamicQuantization"], range("x", "255"))).toEqual(["quantization-range(x)"]);
    expect(after(passes["recognizeDynamicQuantization"], range("z", "255"))).toHaveLength(12);
    expect(after(passes["recognizeDynamicQuantization"], range("x", "127"))).toHaveLength(12);
  });
});

describe("recognizeNorms", () => {
  const squares = ["binary(d, d) function=mul", "binary(d, two) function=pow"];
  const divisions = [
    "q: float32[2,4] = binary(d, r) function=div",
    "i: float32[2,1] = unary(r) function=reciprocal\nq: float32[2,4] = binary(i, d) function=mul",
  ];
  it.each(squares.flatMap((square) => divisions.map((division) => [square, division] as const)))(
    "recognizes layer norm with %s and %s",
    (square, division) => {
      expect(after((graph) => passes["recognizeNorms"]!(passes["simplify"]!(graph)), norm(square, division))).toEqual([
        "layer-norm(x, c0, c1) axis=1 epsilon=0.0010000000474974513",
      ]);
    },
  );

  it.each([
    ["binary(x, x) function=mul", "q: float32[2,4] = binary(x, r) function=div"],
    [
      "binary(x, two) function=pow",
      "i: float32[2,1] = unary(r) function=reciprocal\nq: float32[2,4] = binary(x, i) function=mul",
    ],
  ])("recognizes root mean square norm with %s", (square, division) => {
    const text = `constant two: float32[] = [2]
constant eps: float32[] = [0.001]
constant gamma: float32[4] = [1, 2, 3, 4]
input x: float32[2,4]
s: float32[2,4] = ${square}
v: float32[2,1] = reduce(s) function=mean axes=[1] keep=true
e: float32[2,1] = binary(v, eps) function=add
r: float32[2,1] = unary(e) function=sqrt
${division}
y: float32[2,4] = binary(gamma, q) function=mul
output y = y`;
    expect(after((graph) => passes["recognizeNorms"]!(passes["simplify"]!(graph)), text)).toEqual([
      "rms-norm(x, c0) axis=1 epsilon=0.0010000000474974513",
    ]);
  });

  it("leaves a tensor from which another mean is subtracted", () => {
    const other = norm(squares[0]!, divisions[0]!).replace("reduce(x)", "reduce(z)").replace("\n", "\ninput z: float32[2,4]\n");
    expect(after(passes["recognizeNorms"], other).join()).not.toContain("layer-norm");
  });
});

const constants = `constant half: float32[] = [0.5]
constant one: float32[] = [1]
constant root: float32[] = [1.4142135381698608]
constant inverse: float32[] = [0.7071067690849304]
constant cubic: float32[] = [0.044714998453855515]
constant outer: float32[] = [0.7978845834732056]
constant three: float32[] = [3]
`;

describe("recognizeGelu", () => {
  it.each([
    [
      "x / sqrt 2, half last",
      "binary(x, root) function=div",
      "h: float32[3] = binary(x, g) function=mul\ny: float32[3] = binary(h, half) function=mul",
    ],
    [
      "x times 1 / sqrt 2, half first",
      "binary(inverse, x) function=mul",
      "h: float32[3] = binary(half, x) function=mul\ny: float32[3] = binary(h, g) function=mul",
    ],
  ])("recognizes the erf form: %s", (_name, scaled, rest) => {
    const text = `input x: float32[3]\n${constants}s: float32[3] = ${scaled}
t: float32[3] = unary(s) function=erf
g: float32[3] = binary(t, one) function=add
${rest}
output y = y`;
    expect(after(passes["recognizeGelu"], text)).toEqual(["gelu(x) approximate=none"]);
  });

  it.each([
    "p: float32[3] = binary(x, three) function=pow",
    "w: float32[3] = binary(x, x) function=mul\np: float32[3] = binary(w, x) function=mul",
  ])("recognizes the tanh approximation: %s", (power) => {
    const text = `input x: float32[3]\n${constants}${power}
c: float32[3] = binary(cubic, p) function=mul
a: float32[3] = binary(x, c) function=add
o: float32[3] = binary(outer, a) function=mul
t: float32[3] = unary(o) function=tanh
g: float32[3] = binary(one, t) function=add
m: float32[3] = binary(x, g) function=mul
y: float32[3] = binary(half, m) function=mul
output y = y`;
    expect(after(passes["recognizeGelu"], text)).toEqual(["gelu(x) approximate=tanh"]);
  });
});

const product = `input x: float32[5,2]
input z: float32[5,3]
constant w: float32[2,3] = [1, 2, 3, 4, 5, 6]
constant b: float32[3] = [1, 2, 3]
m: float32[5,3] = matmul(x, w)
`;

describe("multiplyIntegersAsFloats", () => {
  const convolution = (weight: number, zero = "binary(w, z) function=sub"): string => `input x: uint8[1,2,3,3]
input zero: uint8[]
constant weights: int32[2,2,1,1] = [1, -${weight}, 3, 4]
w: int32[1,2,3,3] = cast(x) to=int32 saturate=false
z: int32[] = cast(zero) to=int32 saturate=false
d: int32[1,2,3,3] = ${zero}
y: int32[1,2,3,3] = convolution(d, weights) groups=1 strides=[1,1] dilations=[1,1] pads=[0,0,0,0]
output y = y`;
  const kinds = (text: string): readonly string[] =>
    after(passes["multiplyIntegersAsFloats"], text).map((line) => line.slice(0, line.indexOf("(")));

  it("computes in float32 where no sum can be above 2^24, and changes no result", () => {
    const text = convolution(65_000);
    expect(kinds(text).slice(-3)).toEqual(["cast", "convolution", "cast"]);
    const graph = parseGraph(text);
    const x: Literal = {
      dataType: "uint8",
      shape: [1, 2, 3, 3],
      data: Uint8Array.from({ length: 18 }, (_, index) => 255 - index),
    };
    const zero: Literal = { dataType: "uint8", shape: [], data: Uint8Array.of(3) };
    expect(interpreted(runPasses(graph, { hasExactFloats: true }), { x, zero })).toEqual(interpreted(graph, { x, zero }));
  });

  it("leaves larger sums, integers that are no bytes, and devices that may round", () => {
    expect(kinds(convolution(66_000))).toEqual(["cast", "cast", "binary", "convolution"]);
    expect(kinds(convolution(1, "binary(w, w) function=mul"))).toEqual(["cast", "cast", "binary", "convolution"]);
    expect(printGraph(runPasses(parseGraph(convolution(1))))).not.toMatch(/convolution.*float32/);
  });
});

describe("fuseLinear", () => {
  it("fuses bias, residual and activation", () => {
    const text = `${product}a: float32[5,3] = binary(b, m) function=add
r: float32[5,3] = binary(z, a) function=add
y: float32[5,3] = gelu(r) approximate=tanh
output y = y`;
    expect(after(passes["fuseLinear"], text)).toEqual([
      "linear(x, c0, c1, z) bias=true activation=gelu-tanh residual=before-activation",
    ]);
  });

  it("does not fuse a sum if the product has another reader", () => {
    const text = `${product}a: float32[5,3] = binary(m, b) function=add\noutput a = a\noutput m = m`;
    expect(after(passes["fuseLinear"], text)).toEqual([
      "linear(x, c0) bias=false activation=none residual=none",
      "binary(v0, c1) function=add",
    ]);
  });
});

describe("fuseMatmul and fuseSoftmax", () => {
  it("fuse transposes and scale with the product, and the mask with the softmax", () => {
    const text = `input q: float32[2,3,4]
input k: float32[2,5,4]
input mask: float32[1,1,5]
constant scale: float32[] = [0.5]
t: float32[2,4,5] = transpose(k) permutation=[0,2,1]
m: float32[2,3,5] = matmul(q, t)
s: float32[2,3,5] = binary(m, scale) function=mul
a: float32[2,3,5] = binary(s, mask) function=add
y: float32[2,3,5] = softmax(a) axis=2 logarithm=false
output y = y`;
    expect(after(undefined, text)).toEqual([
      "fused-matmul(q, k) a=[0,1,2] b=[0,2,1] result=[0,1,2] alpha=0.5",
      "softmax(v0, mask) axis=2 logarithm=false",
    ]);
  });
});

describe("fuseElementwise", () => {
  it("makes one chain, which ends at values with other readers", () => {
    const text = `input x: float32[3]
a: float32[3] = unary(x) function=exp
b: float32[3] = unary(a) function=neg
c: float32[3] = binary(b, a) function=add
output b = b
output c = c`;
    expect(after(passes["fuseElementwise"], text)).toEqual([
      "elementwise(x) { unary($0) function=exp }",
      "elementwise(v0) { unary($0) function=neg }",
      "elementwise(v1, v0) { binary($0, $1) function=add }",
    ]);
    expect(after(passes["fuseElementwise"], text.replace("output b = b\n", "").replace("binary(b, a)", "binary(b, x)"))).toEqual([
      "elementwise(x) { unary($0) function=exp; unary($1) function=neg; binary($2, $0) function=add }",
    ]);
  });
});

describe("widenHalf", () => {
  it("computes in float32 between the first and the last cast, and folds the casts of constants", () => {
    const lines = after(
      passes["widenHalf"],
      `input x: float16[2,4]
constant one: float16[] = [1]
a: float16[2,4] = binary(x, one) function=add
b: float32[2,4] = cast(a) to=float32 saturate=false
c: float16[2,4] = cast(b) to=float16 saturate=false
y: float16[2,4] = unary(c) function=exp
output y = y`,
    );
    expect(lines.map((line) => line.replace(/\(.*?\)/, ""))).toEqual([
      "cast to=float32 saturate=false",
      "binary function=add",
      "cast to=float32 saturate=false",
      "cast to=float32 saturate=false",
      "unary function=exp",
      "cast to=float16 saturate=false",
    ]);
  });

  it("leaves a graph that depends on the bits of float16", () => {
    const text = `input x: float16[4]
y: uint16[4] = bitcast(x) to=uint16
output y = y`;
    expect(after(passes["widenHalf"], text)).toEqual(["bitcast(x) to=uint16"]);
  });
});

describe("groupQueryHeads", () => {
  const grouped = (order: string): string => `input q: float32[1,4,2,3]
input k: float32[1,2,5,3]
u: float32[1,2,1,5,3] = reshape(k) shape=[1,2,1,5,3]
e: float32[1,2,2,5,3] = expand(u) shape=[1,2,2,5,3]
r: float32[1,4,5,3] = reshape(e) shape=[1,4,5,3]
y: float32[1,4,2,5] = fused-matmul(q, r) a=${order} b=[0,1,3,2] result=[0,1,2,3] alpha=0.5
output y = y`;

  it("multiplies all queries of a group by one head of keys, which is not repeated", () => {
    expect(after(passes["groupQueryHeads"], grouped("[0,1,2,3]"))).toEqual([
      "reshape(k) shape=[1,2,1,5,3]",
      "reshape(v0) shape=[1,2,5,3]",
      "reshape(q) shape=[1,2,4,3]",
      "fused-matmul(v2, v1) a=[0,1,2,3] b=[0,1,3,2] result=[0,1,2,3] alpha=0.5",
      "reshape(v3) shape=[1,4,2,5]",
    ]);
  });

  it("changes no result", () => {
    const graph = parseGraph(grouped("[0,1,2,3]"));
    const inputs = graph.inputs.map(({ value }) => sines(value.type.shape));
    expect(computed(passes["groupQueryHeads"]!(graph), inputs)).toEqual(computed(graph, inputs));
  });

  it("leaves queries whose rows are not contiguous", () => {
    const text = grouped("[0,2,1,3]").replace("q: float32[1,4,2,3]", "q: float32[1,2,4,3]");
    expect(after(passes["groupQueryHeads"], text)).toHaveLength(4);
  });
});

describe("hoistRowSlices", () => {
  const sliced = (sizes: string): string => `input x: float32[1,4,2]
input z: float32[1,4,3]
constant w: float32[2,3] = [1, 2, 3, 4, 5, 6]
constant b: float32[3] = [1, 2, 3]
l: float32[1,4,3] = linear(x, w, b, z) bias=true activation=relu residual=before-activation
y: float32[${sizes}] = slice(l) starts=[0,3,0] steps=[1,1,1] sizes=[${sizes}]
output y = y`;

  it("computes only the selected rows, residual included", () => {
    const graph = parseGraph(sliced("1,1,3"));
    const inputs = graph.inputs.map(({ value }) => sines(value.type.shape));
    expect(computed(passes["hoistRowSlices"]!(graph), inputs)).toEqual(computed(graph, inputs));
    expect(after(passes["hoistRowSlices"], sliced("1,1,3"))).toEqual([
      "slice(x) starts=[0,3,0] steps=[1,1,1] sizes=[1,1,2]",
      "slice(z) starts=[0,3,0] steps=[1,1,1] sizes=[1,1,3]",
      "linear(v0, c0, c1, v1) bias=true activation=relu residual=before-activation",
    ]);
  });

  it("leaves a slice of columns", () => {
    expect(after(passes["hoistRowSlices"], sliced("1,1,2"))).toHaveLength(2);
  });
});

function sines(shape: readonly number[]): Literal {
  const length = shape.reduce((product, size) => product * size, 1);
  return { dataType: "float32", shape, data: Float32Array.from({ length }, (_, index) => Math.sin(index)) };
}

/** The first output, by the interpreter. */
function computed(graph: Graph, inputs: readonly Literal[]): Literal | undefined {
  const given = Object.fromEntries(graph.inputs.map(({ name }, index) => [name, inputs[index]!]));
  return Object.values(interpreted(graph, given))[0];
}

describe("a pass that changes nothing", () => {
  it("returns the graph itself", () => {
    const graph = parseGraph("input x: float32[2,4]\ny: float32[2] = reduce(x) function=max axes=[1] keep=false\noutput y = y");
    const { eliminateDeadCode: _, ...rewriting } = passes;
    for (const [name, pass] of Object.entries(rewriting)) expect(pass(graph), name).toBe(graph);
  });
});

describe("levels of optimization", () => {
  // Dead code, an algebraic identity and a repeated node (basic), a GELU (extended), a chain of elementwise operations (all).
  const text = `input x: float32[3]
${constants}unused: float32[3] = unary(x) function=neg
same: float32[3] = reshape(x) shape=[3]
s: float32[3] = binary(same, root) function=div
t: float32[3] = unary(s) function=erf
g: float32[3] = binary(t, one) function=add
h: float32[3] = binary(x, g) function=mul
y: float32[3] = binary(h, half) function=mul
a: float32[3] = unary(y) function=exp
b: float32[3] = unary(y) function=exp
z: float32[3] = binary(a, b) function=add
output z = z`;
  const at = (level: OptimizationLevel): readonly string[] => after((graph) => runPasses(graph, { level }), text);

  it("disabled removes only what no output needs", () => {
    expect(at("disabled")).toHaveLength(9);
    expect(at("disabled")[0]).toBe("reshape(x) shape=[3]");
  });

  it("basic simplifies and fuses nothing", () => {
    expect(at("basic").map((line) => /function=(\w+)/.exec(line)?.[1])).toEqual([
      "div",
      "erf",
      "add",
      "mul",
      "mul",
      "exp",
      "add",
    ]);
  });

  it("extended recognizes patterns", () => {
    expect(at("extended")).toEqual([
      "elementwise(x) { gelu($0) approximate=none }",
      "elementwise(v0) { unary($0) function=exp }",
      "elementwise(v1) { binary($0, $0) function=add }",
    ]);
  });

  it("all makes one loop of elementwise operations, which is the default", () => {
    expect(at("all")).toHaveLength(1 + 1);
    expect(at("all")).toEqual(after(undefined, text));
  });
});
